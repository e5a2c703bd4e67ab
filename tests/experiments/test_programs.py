"""The programs that make tables and figures of the documentation, with few simulations."""

from __future__ import annotations

import json

import numpy as np
import pytest

from ..support.checkout import import_from_checkout

coverage_table = import_from_checkout("experiments.coverage_table")
level_table = import_from_checkout("experiments.level_table")
window_designs = import_from_checkout("experiments.window_designs")


def test_a_row_of_the_table_of_levels():
    cells = [cell.strip() for cell in level_table.levels((5, 2000, 1.0, 8)).strip("|").split("|")]
    assert cells[:4] == ["5", "2,000", "1", "8"]
    assert all((8 * float(cell)).is_integer() and float(cell) <= 0.75 for cell in cells[4:])
    assert len(cells) == 7


def test_the_power_grows_with_the_difference():
    assert level_table.powers((4.0, 0.0, 10)) <= 0.5
    assert level_table.powers((4.0, 0.1, 10)) == 1.0
    assert level_table.powers((np.inf, 0.1, 10)) == 1.0


@pytest.mark.long
def test_rows_of_the_table_of_coverage():
    cases = [str(case) for case, _ in coverage_table.test_coverage.checks()]
    (row, *_) = coverage_table.rows(0, 2)
    name, _, runs, coverage = (cell.strip() for cell in row.strip("|").split(" | "))
    assert name == cases[0]
    assert runs == "2"
    assert float(coverage) in (0.0, 0.5, 1.0)


@pytest.mark.long
def test_the_accuracy_figure_is_a_picture(tmp_path):
    pytest.importorskip("statsmodels")
    pytest.importorskip("matplotlib")
    import_from_checkout("experiments.accuracy_figure").main(str(tmp_path / "accuracy.png"))
    assert (tmp_path / "accuracy.png").read_bytes().startswith(b"\x89PNG")


def test_values_of_a_window_are_those_of_the_table():
    """They are found again for the first row, up to 2 % of the largest."""
    stored = json.loads(window_designs.FILE.read_text())[0]
    codes, width, epsilon = 2 * len(stored["values"]), stored["width"], stored["epsilon"]
    found = window_designs.best_values(epsilon, codes, width)
    assert found is not None
    np.testing.assert_allclose(found[::-1] / found[0], np.array(stored["values"]) / stored["values"][-1], atol=0.02)
