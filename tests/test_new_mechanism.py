"""A mechanism in Python is added to a copy of the library, from the empty files of `tools/new_mechanism.py`."""

from __future__ import annotations

import ast
import difflib
import os
import re
import runpy
import shutil
import subprocess
import sys
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import pytest

import ldpfast

ROOT = Path(__file__).parent.parent
COPIED = (
    "ldpfast",
    "tests",
    "docs",
    "tools",
    "benchmarks",
    "src",
    "pyproject.toml",
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
)
LINES = 120

# What replaces each TODO of a file, in their order: a mechanism for categories on a circle.
MODULE = [
    "Randomized response for categories on a circle",
    "Report the true category most often, each neighbor on a circle less often, and every other category least often",
    "4",
    "k",
    """>>> import numpy as np, ldpfast as ldp
    >>> estimate = ldp.CircleResponse(8, 2.0).run(np.arange(40_000) % 8, rng=1)
    >>> bool(abs(estimate.value[0] - 1 / 8) < 0.05)
    True""",
    "4",
    "self.k",
    "_coins.response(self.k, self.epsilon)",
    """coin = _coins.response(self.k, self.epsilon)
        truth, other = coin.keep // 4, -(-coin.words_per_symbol // 4)  # rounded toward more privacy
        neighbor = other + (truth - other) // 3
        weights = [truth, neighbor, *[other] * (self.k - 3), neighbor]
        return [[weights[(code - x) % self.k] for code in range(self.k)] for x in range(self.k)]""",
]
CARD = [
    "TEN = ldp.CircleResponse(10, 1.0)",
    """examples=(Example(ldp.CircleResponse(4, 3.0)), Example(TEN)),
    kinds=(Example(TEN),),
    decoded_shape=per_category,
    enumerated_up_to=10,
    makers={"CircleResponse": lambda e: ldp.CircleResponse(10, e)},
    bad_records=(ldp.CircleResponse(4, 1.0),),
    frequencies=(ChannelRow(TEN, 2, 2),),
    simulated=(Simulated(ldp.CircleResponse(4, 1.0)),),
    finite=(lambda e: ldp.CircleResponse(10, e),),
    audited=((TEN, 0.8),),
    keyed=(Keyed(TEN, CATEGORIES, integer),),
    recorded=(Sample(TEN, recorded_labels(3000, 10)),),
    choosing=(
        Decision("category", 45, "on a circle", "`CircleResponse`", "errors are to neighbors", not_chosen="more variance"),
        Precision("category", 45, "a category on a circle", "`CircleResponse(k, epsilon)`", "1 to 8 bytes", "from the table"),
    ),""",
]
PROOF = [
    "Categories on a circle: errors to neighbors are more probable than others.",
    "Code $z$ has $t$ of the words of category $z$, $s$ of those of its two neighbors, and $o$ of those of the others.",
    "`epsilon_realized` is the logarithm of the largest ratio of two of these integers, $t / o$, rounded up.",
    "The integers of one code differ by a factor of at most $t / o$. It is at most the ratio of the coin: "
    "$\\lfloor m/4 \\rfloor / \\lceil w/4 \\rceil \\le m / w$. QED",
    "The inverse of the channel, as for [FiniteChannel](finite_channel.md).",
    "That of [FiniteChannel](finite_channel.md).",
    "`test_the_integers_are_those_of_the_page`",
]
TEST = [
    "Randomized response for categories on a circle",
    """def test_the_integers_are_those_of_the_page():
    rows = np.array(ldp.CircleResponse(5, 1.0).channel_rows(), object)
    assert all((np.roll(row, -x) == rows[0]).all() for x, row in enumerate(rows))
    truth, neighbor, other = rows[0][:3]
    assert 3 * (neighbor - other) <= truth - other
    assert float(truth / other) <= np.exp(1.0) < float((truth + 4) / other)""",
]
FILLED = {
    "ldpfast/mechanisms/_circle_response.py": MODULE,
    "tests/cards/circle_response.py": CARD,
    "docs/proofs/circle_response.md": PROOF,
    "tests/mechanisms/test_circle_response.py": TEST,
}
ENTRY = "- `CircleResponse`: randomized response for categories on a circle.\n"
REFERENCE = "   ~ldpfast.mechanisms.RandomizedResponse\n"

# Tests that run with all cards; and with the new one nearly alone, because they loop over the examples of all cards.
PYTEST = ("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider")
WHOLE = ["test_cards.py", "test_card_tools.py", "test_package.py", "test_reference.py", "test_recorded_outputs.py"]
WHOLE += ["mechanisms/test_circle_response.py"]
LIMIT = "--deselect=tests/test_reference.py::test_there_are_at_most_230_public_objects"  # a decision of the maintainers
ALONE = ["mechanisms/test_contract.py", "mechanisms/test_errors.py", "mechanisms/test_statistics.py"]
ALONE += [
    "privacy/test_channel.py",
    "privacy/test_audit.py",
    "test_person_keys.py",
    "test_schema.py",
    "test_docstrings.py",
]
EXCEPTIONS = ("priv_unit", "window")  # which tests/mechanisms/test_errors.py names
ABOUT_OTHERS = ["test_schema.py::test_load_opens_the_descriptions_of_everything"]


def run(folder, *command):
    """Run a command of Python in the copy; return what it prints."""
    environment = os.environ | {"PYTHONPATH": str(folder), "OPENBLAS_NUM_THREADS": "1"}
    environment.pop("PYTHONSAFEPATH", None)
    done = subprocess.run([sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


@contextmanager
def only_cards(folder, *stems):
    """Leave few cards in the folder of cards."""
    others = [path for path in (folder / "tests" / "cards").glob("[!_]*.py") if path.stem not in stems]
    kept = {path: path.read_text() for path in others}
    for path in others:
        path.unlink()
    try:
        yield
    finally:
        for path, text in kept.items():
            path.write_text(text)


def texts(folder):
    """Return the texts of the files that people write: not the tables of pages, which a tool writes."""
    found = {}
    for path in [
        p for name in COPIED for p in ([folder / name] if (folder / name).is_file() else (folder / name).rglob("*"))
    ]:
        if path.suffix in (".py", ".md", ".json", ".pyi") and "__pycache__" not in path.parts:
            text = re.sub(
                r"(<!-- cards: .*? -->).*?(<!-- end of cards -->)", r"\1\2", path.read_text(), flags=re.DOTALL
            )
            if path.suffix == ".json":  # entries in any order
                text = "\n".join(sorted(line.rstrip(",") for line in text.splitlines()))
            found[str(path.relative_to(folder))] = text
    return found


def filled(text, answers):
    """Return the text of a file with an answer for each TODO."""
    parts = re.split(r"TODO(?:: [^\n\"`]*?(?=\.?\"\"\"|\.\n|\n))?", text)
    assert len(parts) == len(answers) + 1
    return "".join(part + answer for part, answer in zip(parts, [*answers, ""], strict=True))


@pytest.fixture(scope="module")
def added(tmp_path_factory):
    """A copy of the checkout with the new mechanism, and the lines that are new in it."""
    folder = tmp_path_factory.mktemp("checkout")
    ignored = shutil.ignore_patterns("__pycache__", "generated", "*.png")
    for name in COPIED:
        source = Path(ldpfast.__file__).parent if name == "ldpfast" else ROOT / name  # with the compiled modules
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=ignored)
        else:
            shutil.copy(source, folder / name)
    before = texts(folder)
    run(folder, "tools/new_mechanism.py", "CircleResponse")
    for name, answers in FILLED.items():
        (folder / name).write_text(filled((folder / name).read_text(), answers))
    changes = (folder / "CHANGELOG.md").read_text()
    (folder / "CHANGELOG.md").write_text(re.sub(r"^- ", ENTRY + "- ", changes, count=1, flags=re.MULTILINE))
    page = folder / "docs" / "reference" / "privatize.md"
    page.write_text(page.read_text().replace(REFERENCE, REFERENCE + "   ~ldpfast.mechanisms.CircleResponse\n"))
    run(folder, "tools/card_tables.py")
    run(folder, "-m", "tests.test_recorded_outputs")
    after = texts(folder)
    changed = [
        line
        for name in sorted(after.keys() | before.keys())
        for line in difflib.ndiff(before.get(name, "").splitlines(), after.get(name, "").splitlines())
        if line.startswith(("+ ", "- ")) and line[2:].strip()
    ]
    return folder, changed


@pytest.mark.parametrize(
    "template, package", [("MODULE", "ldpfast.mechanisms"), ("CARD", "tests.cards"), ("TEST", "tests.mechanisms")]
)
def test_what_the_empty_files_import_exists(template, package):
    text = runpy.run_path(str(ROOT / "tools" / "new_mechanism.py"))[template]
    for node in ast.walk(ast.parse(re.sub(r"^ *TODO.*\n", "", text, flags=re.MULTILINE))):
        if isinstance(node, ast.ImportFrom) and node.level:
            module = import_module("." * node.level + (node.module or ""), package)
            for name in node.names:
                assert hasattr(module, name.name) or import_module(f"{module.__name__}.{name.name}")


@pytest.mark.long
def test_a_mechanism_with_all_its_parts_has_few_lines(added):
    """Lines that are not empty; the tables of the pages are written by a tool."""
    folder, changed = added
    assert not [line for line in changed if "TODO" in line or line.startswith("- ")]
    assert 80 < len(changed) < LINES
    for page in ("choosing.md", "threat_model.md", "proofs/README.md"):
        assert "CircleResponse" in (folder / "docs" / page).read_text()


@pytest.mark.long
def test_it_passes_the_shared_tests(added):
    folder, _ = added
    run(folder, *PYTEST, LIMIT, *(f"tests/{name}" for name in WHOLE))
    with only_cards(folder, "circle_response", *EXCEPTIONS):
        left_out = [f"--deselect=tests/{name}" for name in ABOUT_OTHERS]
        run(folder, *PYTEST, *left_out, *(f"tests/{name}" for name in ALONE))


@pytest.mark.long
def test_without_its_card_a_test_fails(added):
    folder, _ = added
    card = folder / "tests" / "cards" / "circle_response.py"
    text = card.read_text()
    card.unlink()
    try:
        with pytest.raises(AssertionError, match="CircleResponse"):
            run(folder, *PYTEST, "tests/test_cards.py", "tests/test_card_tools.py")
    finally:
        card.write_text(text)
