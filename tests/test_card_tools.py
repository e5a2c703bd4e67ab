"""What tools and pages know about mechanisms: kernels, faults, tests of kernels, and tables, all from the cards."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

from ldpfast.reports import recipe_of

from .cards import CARDS
from .cards._fault import INSTRUCTION_SETS
from .cards._pages import Decision
from .fuzz.targets import QUESTIONS
from .support.cases import each
from .support.kernel_functions import HEADERS, KERNELS, functions_of_card, stems_of_card

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
TAINT = (ROOT / "tests" / "native" / "secret_taint.c").read_text()
HASHES = (ROOT / "tests" / "native" / "kernel_hashes.c").read_text()
NOT_CLAIMED = "\n".join(line for line in TAINT.splitlines() if "not claimed" in line)
CLAIMED = "\n".join(line for line in TAINT.splitlines() if "not claimed" not in line)

BY_NAME = {card.mechanism.__name__: card for card in CARDS.values()}
COMPILED = {stem: card for stem, card in CARDS.items() if card.kernel is not None}
each_card = each("stem, card", list(CARDS.items()), ids=str)
each_compiled = each("stem, card", list(COMPILED.items()), ids=str)

# The kernel of `SeriesDensity`, a problem.
OF_PROBLEMS = {"privatize_series_terms_f32", "privatize_series_terms_f64"}

# Tests of a mechanism that are in another folder.
TESTED_IN = {"sketch_response": "strings/test_sketch.py"}

# Compiled mechanisms without a row in docs/benchmarks.md.
WITHOUT_ROW = {
    "Bins": "the response of RandomizedResponse, after a few comparisons",
    "DistributionResponse": "measured by benchmarks/distribution.py only",
    "LaplaceOneHot": "the kernel of Laplace",
    "LaplaceResidue": "the kernel of Laplace",
    "LaplaceVector": "the kernel of Laplace",
    "ProjectiveGeometryResponse": "measured with whole estimates by benchmarks/rivals and bench_simulate.py only",
    "RankedSigns": "not measured",
    "SetCube": "not measured",
    "SetSelection": "not measured",
    "SketchResponse": "not measured",
    "TreeResponse": "measured with whole estimates by benchmarks/distribution.py only",
    "ViewResponse": "not measured",
    "Warner": "the kernel of RandomizedResponse",
    "WholeSets": "not measured",
}


@pytest.fixture
def tools(monkeypatch):
    """Let the modules of tools/ be imported."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    before = set(sys.modules)
    yield
    for name in {"mutate", "mutants", "mechanism_cards", "secret_taint", "card_tables"} & (set(sys.modules) - before):
        del sys.modules[name]


def own_tests_of(stem: str) -> Path:
    """Return the file of the tests of one mechanism."""
    return ROOT / "tests" / TESTED_IN.get(stem, f"mechanisms/test_{stem}.py")


# Kernels --------------------------------------------------------------------------------------------------------------


def test_every_kernel_is_that_of_a_card_or_a_problem():
    assert {function for card in CARDS.values() for function in functions_of_card(card)} == HEADERS.keys() - OF_PROBLEMS
    assert all(functions_of_card(card) for card in COMPILED.values())


@each_compiled
def test_every_kernel_is_called_by_the_programs_in_c(stem, card):
    """For equal bits on all platforms, and for the time."""
    functions = functions_of_card(card)
    assert functions - set(re.findall(r"\bprivatize_\w+", HASHES)) == set()
    assert functions - set(re.findall(r"\bprivatize_\w+", TAINT)) == set()


@each_card
def test_the_claim_about_the_time_is_that_of_the_page_of_threats(stem, card):
    functions = functions_of_card(card)
    claimed, not_claimed = (set(re.findall(r"\bprivatize_\w+", text)) for text in (CLAIMED, NOT_CLAIMED))
    if card.timing:
        assert not functions or functions & not_claimed
    else:
        assert functions, f"{card.mechanism.__name__} must have `timing` in its card: it has no kernel that claims it"
        assert functions <= claimed - not_claimed


@each_compiled
def test_a_fault_is_planted_in_every_kernel_with_a_claim(stem, card):
    same_kernel = [other for other in CARDS.values() if functions_of_card(other) & functions_of_card(card)]
    assert card.timing or any(other.faults for other in same_kernel)


def test_every_fault_has_its_place_and_its_case(tools):
    from secret_taint import FAULTS, SHARED_FAULTS

    assert [fault for card in CARDS.values() for fault in card.faults] == list(FAULTS[: -len(SHARED_FAULTS)])
    for fault in FAULTS:
        assert (KERNELS / fault.path).read_text().count(fault.old) == 1, fault
        assert (KERNELS / fault.source).suffix == ".c", fault
        assert fault.old.count("\n") <= fault.new.count("\n") + 1, fault
        assert f'"{fault.case}"' in TAINT, fault
        assert set() < set(fault.instruction_sets) <= INSTRUCTION_SETS.keys(), fault


@each_card
def test_the_faults_of_a_card_are_in_its_kernel(stem, card):
    for fault in card.faults:
        assert str(Path(fault.source).with_suffix("")) in stems_of_card(card)


# Tests of kernels -----------------------------------------------------------------------------------------------------


def test_every_kernel_names_its_tests(tools):
    from mutate import SHARED, TESTS, tests_of

    anything = tests_of("src/kernels/privatize/without_tests.c")
    for stem, card in COMPILED.items():
        for kernel in stems_of_card(card):
            if kernel.startswith("privatize/"):
                tests = tests_of(f"src/kernels/{kernel}.c")
                assert tests != anything, stem
                assert any(f"test_{stem}.py" in test for test in tests), stem
    assert [test for tests in TESTS.values() for test in tests if not (ROOT / test).exists()] == []
    assert set(SHARED) < set(anything)


def test_every_mutated_file_exists_and_has_tests(tools):
    from mutants import PATTERNS, files
    from mutate import tests_of

    assert [pattern for pattern in PATTERNS if not list(ROOT.glob(pattern))] == []
    assert all(map(tests_of, files()))


@pytest.mark.long
def test_every_change_that_is_listed_as_equivalent_exists(tools):
    from mutants import files, mutants
    from mutate import equivalents

    assert (
        equivalents().keys() - {(mutant.file, mutant.changed) for file in files() for mutant in mutants(file)} == set()
    )


def test_annotations_of_cython_are_not_mutated(tools, monkeypatch, tmp_path):
    import mutants

    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    monkeypatch.setattr(mutants, "stream_ids", list)
    text = "def f(key: int | None, int n,\n      x: str | None = None) -> int | None:\n    return n | 4\n"
    (tmp_path / "one.pyx").write_text(text)
    assert {mutant.line for mutant in mutants.mutants("one.pyx")} == {3}


# Pages ----------------------------------------------------------------------------------------------------------------


def test_the_tables_of_the_pages_are_those_of_the_cards(tools):
    from card_tables import PAGES, written

    for page in PAGES:
        assert written(DOCS / page) == (DOCS / page).read_text(), f"run tools/card_tables.py: {page}"


def test_a_page_without_a_table_is_refused(tools, monkeypatch, tmp_path):
    import card_tables

    monkeypatch.setattr(card_tables, "DOCS", tmp_path)
    page = tmp_path / "threat_model.md"
    page.write_text("# Page\n\n<!-- cards: timing -->\nold rows\n<!-- end of cards -->\n")
    assert "- `Laplace`: " in card_tables.written(page)
    assert "old rows" not in card_tables.written(page)
    page.write_text("# Page\n")
    with pytest.raises(ValueError, match=r"threat_model\.md must have 1 tables of cards, got 0"):
        card_tables.written(page)


def test_every_page_of_a_proof_is_listed():
    listed = set(re.findall(r"^\| \[(\w+)\.md\]", (DOCS / "proofs" / "README.md").read_text(), re.MULTILINE))
    pages = {path.stem for path in (DOCS / "proofs").glob("*.md")} - {"README", "index"}
    assert listed == pages, "run tools/card_tables.py, or write the page in docs/proofs"
    assert {card.proof or stem for stem, card in CARDS.items()} <= listed


@each_card
def test_every_public_mechanism_is_on_the_page_of_choices(stem, card):
    page, name = (DOCS / "choosing.md").read_text(), card.mechanism.__name__
    message = f"{name} must have a row of docs/choosing.md: `choosing` of its card, then tools/card_tables.py"
    assert card.inner or re.search(rf"`(?:\w+\.)*{name}\b", page), message


def test_every_mechanism_that_a_function_chooses_is_on_the_page_of_choices():
    text = (ROOT / "ldpfast" / "mechanisms" / "_best_mechanism.py").read_text()
    code = re.sub(r'""".*?"""', "", text, flags=re.DOTALL)
    chosen = {name for name in BY_NAME if re.search(rf"\bpartial\({name}\b|\b{name}\(", code)}
    rows = {name: [row for row in card.choosing if isinstance(row, Decision)] for name, card in BY_NAME.items()}
    assert chosen - {name for name, found in rows.items() if found} == {"PrivUnit"}  # the measure of the others
    for name, found in rows.items():
        message = f"{name} must have `not_chosen` in the decisions of its card if and only if no function chooses it"
        assert all(bool(row.not_chosen) == (name not in chosen) for row in found), message


@each_card
def test_every_public_mechanism_is_in_the_changelog(stem, card):
    named = f"`{card.mechanism.__name__}`" in (ROOT / "CHANGELOG.md").read_text()
    assert card.inner or named, f"{card.mechanism.__name__} must be in CHANGELOG.md"


@each_card
def test_every_mechanism_has_tests_of_its_own(stem, card):
    file = own_tests_of(stem)
    has_tests = file.is_file() and "\ndef test_" in file.read_text()
    assert has_tests, f"{card.mechanism.__name__} must have tests of its own in {file.relative_to(ROOT)}"


@each_card
def test_no_file_of_a_mechanism_has_anything_left_to_do(stem, card):
    """`tools/new_mechanism.py` writes TODO where a mechanism differs from others."""
    files = [
        ROOT / "tests" / "cards" / f"{stem}.py",
        DOCS / "proofs" / f"{card.proof or stem}.md",
        own_tests_of(stem),
        Path(sys.modules[card.mechanism.__module__].__file__),
    ]
    left = [file.name for file in files if file.is_file() and "TODO" in file.read_text()]
    assert not left, f"{card.mechanism.__name__} must have no TODO in {', '.join(left)}"


def test_every_format_of_reports_is_fuzzed():
    formats = {type(example.mechanism.report) for card in CARDS.values() for example in card.examples}
    assert {type(recipe_of(question).report) for question in QUESTIONS.values()} == formats


def test_every_compiled_mechanism_has_its_time():
    rows = [line for line in (DOCS / "benchmarks.md").read_text().splitlines() if line.startswith("| `")]
    named = {match[1] for row in rows if (match := re.match(r"\| `(\w+)`", row))}
    compiled = {card.mechanism.__name__ for card in COMPILED.values()}
    assert compiled - named == WITHOUT_ROW.keys()


def test_kinds_of_records_have_names():
    tables = runpy.run_path(str(ROOT / "tests" / "cards" / "_pages.py"))
    assert {row.kind for card in CARDS.values() for row in card.choosing} <= tables["KINDS"].keys()
