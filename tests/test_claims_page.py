"""The page of claims, docs/claims.md, which is made from the mark `claim` of the tests."""

from __future__ import annotations

import re
import runpy
from collections import Counter
from functools import cache
from pathlib import Path

from .support.cases import each

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "claims.md").read_text()
READER = runpy.run_path(str(ROOT / "docs" / "_extensions" / "marked_tests.py"))
GROUPS = [
    "Privacy of reports",
    "Randomness",
    "Composition and audits",
    "Surveys and ledgers",
    "Reproducibility",
    "Bad input",
    "Estimates",
    "Saved states",
    "Strings",
    "Trusted curator",
    "Clients",
    "Server",
    "Engines",
    "Federated learning",
    "Files and commands",
]
# Beginnings of claims of the README and of the pages on threats, clients and servers. Each must have a test.
PROMISED = [
    "`epsilon_realized` of a mechanism is never above `epsilon`",
    "Probabilities are integers over a power of two, rounded toward more privacy",
    "Random words come from AES-256 in counter mode",
    "Keys come from the operating system",
    "Every call has a fresh key",
    "Forked workers never share a stream",
    "Keys are wiped from memory",
    "Reports are the same, bit for bit, with any number of threads",
    "Reports are the same, bit for bit, on every instruction set",
    "`run(x)` equals `estimate(privatize(x))`",
    "Aggregators that are merged in any order have the same bytes",
    "Errors are raised before the first random number",
    "Error messages never name the value of a record",
    "`Survey` has one epsilon for all answers of a person",
    "A ledger refuses whatever would exceed epsilon",
    "The server counts each report once",
    "A report is on the disk before the answer is sent",
    "The server stores no addresses and no times",
    "No branch and no address of the C client depends on a declared answer",
    "The client in C gives the same messages as Python",
    "Each interval has the coverage that its page states",
    "At every epsilon, each interval of the demonstration is shorter than the one with Laplace noise",
    "A word that nobody has is reported with probability at most 0.05",
    "With personal keys, Dask gives the bytes of one process",
    "The released quantile loses at most epsilon",
]


@cache
def claims():
    return READER["read_claims"](ROOT / "tests")


def named(test: str) -> tuple[str, ...]:
    """Return the targets that run a marked test."""
    (targets,) = {claim.targets for claim in claims() if claim.test == test}
    return targets


def test_claims_are_different_sentences():
    assert len(claims()) >= 100
    wrong = [claim for claim in claims() if not re.fullmatch(r"[A-Z`0-9].{15,115}\.", claim.sentence)]
    assert wrong == []
    assert [claim for claim in claims() if "|" in claim.sentence or claim.sentence.count("`") % 2] == []
    assert [sentence for sentence, times in Counter(claim.sentence for claim in claims()).items() if times > 1] == []


def test_the_page_has_the_table_of_every_group():
    """As a reader of the repository sees it; a claim of another group would be on no page."""
    headings = re.findall(r"^## (.*)$", PAGE, re.M)
    assert headings == [*GROUPS, "Checks that are not tests"]
    assert {claim.group for claim in claims()} == set(GROUPS)
    sections = dict(zip(headings, re.split(r"^## .*$", PAGE, flags=re.M)[1:], strict=True))
    for claim in claims():
        assert f"| {claim.sentence} | [`{claim.path}::{claim.test}`](" in sections[claim.group]
    assert PAGE.count("::test_") == len(claims())


def test_the_page_is_that_of_the_tool():
    """Otherwise run tools/claims_page.py."""
    tool = runpy.run_path(str(ROOT / "tools" / "claims_page.py"))
    assert tool["written"](PAGE) == PAGE
    assert "{claims}" not in PAGE


@each("beginning", PROMISED)
def test_what_is_promised_most_has_a_test(beginning):
    assert sum(claim.sentence.startswith(beginning) for claim in claims()) == 1


def test_every_mark_is_on_the_page():
    """Marks of methods, of nested functions and by another name would be left out."""
    texts = {path.relative_to(ROOT / "tests").as_posix(): path.read_text() for path in (ROOT / "tests").rglob("*.py")}
    marks = {name: len(re.findall(r"^@pytest\.mark\.claim\(", text, re.M)) for name, text in texts.items()}
    assert {name: n for name, n in marks.items() if n} == Counter(claim.path for claim in claims())
    written = sum(
        len(re.findall(r"mark\.claim\b", text)) for name, text in texts.items() if name != Path(__file__).name
    )
    assert written == len(claims())


def test_commands_follow_from_marks_and_folders():
    assert named("test_the_guarantee_is_the_realized_epsilon") == ("test",)
    assert named("test_no_mechanism_exceeds_its_guarantee") == ("test-long",)  # marked
    assert named("test_coverage_is_near_95_percent") == ("slow",)
    assert named("test_paths_seldom_leave_the_limits_but_leave_those_of_one_time") == (
        "test",
        "test-long",
    )  # some cases
    killed = "test_reports_are_counted_once_although_the_server_is_killed_again_and_again"
    assert named(killed) == ("test-long", "slow")  # its cases are a list of the module
    assert named("test_messages_equal_those_of_python") == ("test", "clients")
    assert named("test_messages_in_node_equal_those_of_python") == ("test-long", "clients")  # the whole file is marked
    assert named("test_workers_give_the_bytes_of_one_process") == ("engines",)
    assert named("test_killed_workers_do_not_change_the_result") == ("failures",)
    assert named("test_composition_agrees_with_dp_accounting") == ("accountants",)


def test_commands_and_tools_of_the_page_exist():
    targets = set(re.findall(r"^([\w-]+):.*##", (ROOT / "Makefile").read_text(), re.M))
    assert {target for claim in claims() for target in claim.targets} <= targets
    assert set(re.findall(r"`make ([\w-]+)`", PAGE)) <= targets
    assert [path for path in re.findall(r"`(tools/\w+\.py)`", PAGE) if not (ROOT / path).exists()] == []
