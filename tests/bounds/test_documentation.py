"""docs/bounds.md and the docstrings: examples run, tables hold the numbers of the functions, named tests exist."""

from __future__ import annotations

import doctest
import math
import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

from ldpfast import SignBit, bounds
from ldpfast.bounds._central_privacy import DEFINITIONS

from ..support.cases import each
from ..support.public import names_of, names_with_results

NAMES = [*names_with_results(bounds), *names_of(bounds.methods)]

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/bounds.md").read_text()
CORRECTIONS = (ROOT / "docs/corrections.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.S)


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the table below a heading."""
    section = PAGE.split(f"## {heading}")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def test_examples_run_in_order(capsys):
    session: dict[str, object] = {}
    for block in BLOCKS:
        exec(compile(block, "bounds.md", "exec"), session)
        assert capsys.readouterr().out


def test_numbers_in_comments_are_right():
    """Whole numbers are exact; other numbers are rounded as on the page."""
    assert bounds.sample_size(bounds.mean_l2, 0.01, dim=10, epsilon=1.0) == 6998
    assert bounds.sample_size(bounds.mean_l2, 0.01, side="lower", dim=10, epsilon=1.0) == 288
    assert bounds.plan_test(SignBit(0, 1, epsilon=1.0), 0.02) == 92_404
    found = bounds.mean_l2(n=10_000, dim=10, epsilon=1.0)
    rounded = [float(f"{x:.1g}") for x in (found.lower, found.upper, found.nonprivate, found.rate)]
    assert rounded == [3e-4, 7e-3, 1e-4, 1e-3]
    assert bounds.epsilon_for(bounds.mean_l2, 0.01, n=20_000, dim=10) == pytest.approx(0.56, abs=0.005)
    assert round(bounds.effective_sample_size(1000, 1.0)) == 214


PROBLEMS = [
    lambda n, a: bounds.mean_1d(n, a, moment=3),
    lambda n, a: bounds.mean_1d(n, a, moment=math.inf),
    lambda n, a: bounds.median(n, a, radius=1),
    lambda n, a: bounds.mean_l2(n, 20, a),
    lambda n, a: bounds.sparse_mean(n, 20, a),
    lambda n, a: bounds.multinomial(n, 10, a),
    lambda n, a: bounds.logistic(n, 3, a),
    lambda n, a: bounds.density(n, a, smoothness=2),
    lambda n, a: bounds.density(n, a, smoothness=1, radius=2, family="lipschitz"),
    lambda n, a: bounds.gaussian_mean(n, a, sigma=1, mu_bound=100),
]


def test_the_table_of_rates_holds_the_numbers_of_the_functions():
    for row, problem in zip(rows("The rates of the local papers, as numbers"), PROBLEMS, strict=True):
        found = problem(1_000_000, 1.0)
        assert row[4:] == [f"{found.lower:.2g}", f"{found.upper:.2g}", f"{found.nonprivate:.2g}"]


def test_table_1_holds_the_numbers_of_the_function():
    for row, privacy in zip(rows("Table 1 of Barber and Duchi, as numbers"), DEFINITIONS, strict=True):
        delta = 1e-6 if privacy == "approximate" else 0.0
        found = bounds.central_mean(10_000, 5, moment=4, privacy=privacy, epsilon=0.01, delta=delta)
        assert row[0] == privacy
        assert row[4:] == [f"{found.lower:.2g}", f"{found.upper:.2g}"]


def test_the_example_of_theorem_1_is_right():
    assert f"{bounds.methods.kl_contraction(1, tv=0.1, method='paper'):.3f}" in CORRECTIONS
    assert f"{2 * bounds.methods.kl_contraction(1, tv=0.1):.4f}" in CORRECTIONS


def test_costs_of_privacy_in_people_are_right():
    """At epsilon 1, the cost is the upper bound over the bound without privacy."""
    costs = [PROBLEMS[at](10**6, 1.0) for at in (3, 1, 5)]
    assert [round(found.upper / found.nonprivate) for found in costs] == pytest.approx([140, 5, 33], abs=4)


def test_every_public_name_is_explained():
    missing = [name for name in NAMES if not re.search(rf"\b{name}\b", PAGE)]
    assert not missing


@each("name", sorted(module.name for module in iter_modules(bounds.__path__)))
def test_examples_of_docstrings_are_right(name):
    assert doctest.testmod(import_module(f"ldpfast.bounds.{name}")).failed == 0


def test_docstrings_have_examples():
    """Doctest finds examples."""
    finder = doctest.DocTestFinder()
    modules = [import_module(f"ldpfast.bounds.{module.name}") for module in iter_modules(bounds.__path__)]
    assert sum(len(found.examples) for module in modules for found in finder.find(module)) > 10


def test_docstrings_of_functions_have_their_sections():
    for name in NAMES:
        thing = getattr(bounds, name, None) or getattr(bounds.methods, name)
        if callable(thing) and not isinstance(thing, type):
            for section in ("Parameters", "Returns", "Raises"):
                assert f"{section}\n    ---" in thing.__doc__, (name, section)


def test_tests_named_on_the_page_exist():
    defined = {
        name for path in (ROOT / "tests").rglob("test_*.py") for name in re.findall(r"def (test_\w+)", path.read_text())
    }
    named = set(re.findall(r"`(test_\w+)`", PAGE + CORRECTIONS))
    assert named
    assert named <= defined
