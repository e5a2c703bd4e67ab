"""Guides and their pages: examples run, public names are explained, and the tests that a page names exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ldpfast import analysis, central, designs, estimation, privacy, survey

from .support.cases import each
from .support.documentation import printed_blocks
from .support.public import names_with_results

TESTS = Path(__file__).parent
ROOT = TESTS.parent
DOCS = ROOT / "docs"
GUIDES = {
    estimation: ["guide", "regression", "collecting"],
    privacy: ["privacy", "audit"],
    central: ["central"],
    designs: ["designs"],
    analysis: ["designs"],
    survey: ["survey", "collecting", "panels"],
}
BY_SECTION = ["guide", "privacy", "central", "designs", "survey", "collecting"]
# Run by test_documentation.py in tests/bounds, tests/clients and tests/server, mechanisms/test_custom.py,
# engines/test_scale_out.py and federated/test_federated_page.py.
ELSEWHERE = ["bounds", "clients", "custom_mechanism", "federated", "scale_out", "server"]
SECTIONS = {
    f"{page}: {section.partition(chr(10))[0]}": printed_blocks(section)
    for page in BY_SECTION
    for section in re.split(r"^## ", (DOCS / f"{page}.md").read_text(), flags=re.M)[1:]
}
WHOLE = {
    path.stem: printed_blocks(path.read_text())
    for path in sorted(DOCS.glob("*.md"))
    if path.stem not in BY_SECTION + ELSEWHERE
}


def run_in_order(name, blocks, capsys):
    """Run blocks that share variables; each prints something, or what the page says. Warnings are errors."""
    variables: dict[str, object] = {}
    for block, printed in blocks:
        exec(compile(block, name, "exec", dont_inherit=True), variables)
        found = capsys.readouterr().out
        assert found == printed if printed else found


@pytest.mark.long
@pytest.mark.parametrize("title", [title for title, blocks in SECTIONS.items() if blocks])
def test_examples_of_a_section_run_in_order(title, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # examples save pictures
    run_in_order(title, SECTIONS[title], capsys)


@pytest.mark.long
@pytest.mark.parametrize("page", [page for page, blocks in WHOLE.items() if blocks])
def test_examples_of_a_page_run_in_order(page, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_in_order(page, WHOLE[page], capsys)


def test_the_pages_with_examples_are_found():
    assert {"gaussian", "ten_minutes", "planning", "choosing", "audit", "regression"} <= {
        page for page, blocks in WHOLE.items() if blocks
    }


@each("package", GUIDES, ids=lambda package: package.__name__)
def test_every_public_name_is_explained(package):
    guide = "".join((DOCS / f"{page}.md").read_text() for page in GUIDES[package])
    missing = [name for name in names_with_results(package) if not re.search(rf"\b{name}\b", guide)]
    assert not missing


def test_the_tests_that_pages_name_exist():
    defined = {name for path in TESTS.rglob("test_*.py") for name in re.findall(r"def (test_\w+)", path.read_text())}
    for page in sorted(DOCS.glob("**/*.md")):
        assert sorted(set(re.findall(r"`(test_\w+)`", page.read_text())) - defined) == [], page.name
