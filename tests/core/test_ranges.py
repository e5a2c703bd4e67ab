"""Range checks: the index of the first invalid number, row or code."""

from __future__ import annotations

import numpy as np
import pytest

from ldpfast._core import ranges

from ..support.cases import each
from ..support.sizes import SIZES

pytestmark = pytest.mark.usefixtures("isa")


@each("dtype", [np.float32, np.float64])
@each("n", [*SIZES, 4096, 9000])
@each("bad", [np.nan, np.inf, -np.inf, 1.5, -1.5])
def test_the_first_invalid_number_and_row_are_found(n, bad, dtype):
    x = np.random.default_rng(n).uniform(-1, 1, n).astype(dtype)
    assert ranges.first_invalid_number(x, -1.0, 1.0) == -1
    assert ranges.first_invalid_row(x.reshape(n, 1), 1, 0.0, 1.0) == -1
    for position in {0, n // 2, n - 1}:
        y = x.copy()
        y[position:] = bad
        assert ranges.first_invalid_number(y, -1.0, 1.0) == position
        assert ranges.first_invalid_row(y.reshape(n, 1), 1, 0.0, 1.0) == position


@each("dtype, unit", [(np.float32, 1e-6), (np.float64, 1e-14)])
@each("dim", [1, 2, 3, 7, 16, 33, 64, 65, 200])
def test_rows_are_valid_exactly_between_two_norms(dim, dtype, unit):
    """Rows with one number or with equal numbers, whose norms are near the ends 1 and 2 and far from them."""
    norms = np.array([0, 1e-30, 0.5, 1 - unit, 1 + unit, 1.5, 2 - unit, 2 + unit, 3, 1e30])
    valid = (norms >= 1) & (norms <= 2)
    for place in {0, dim // 2, dim - 1}:
        rows = np.zeros((len(norms), dim), dtype)
        rows[:, place] = norms * np.where(np.arange(len(norms)) % 2, -1, 1)
        assert [ranges.first_invalid_row(row, dim, 1.0, 2.0) == -1 for row in rows] == valid.tolist()
    equal = np.repeat([[0.9], [1.1], [1.9], [2.1]], dim, axis=1) / np.sqrt(dim)
    found = [ranges.first_invalid_row(row, dim, 1.0, 2.0) for row in equal.astype(dtype)]
    assert found == [0, -1, -1, 0]


@each("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
@each("n", [1, 64, 5000])
def test_the_first_invalid_code_is_found(n, dtype):
    x = np.random.default_rng(n).integers(0, 100, n).astype(dtype)
    signed = dtype[0] == "i"
    assert ranges.first_invalid_code(x, signed, 100) == -1
    for bad in [100, -1] if signed else [100, 255]:
        y = x.copy()
        y[n // 2 :] = bad
        assert ranges.first_invalid_code(y, signed, 100) == n // 2
