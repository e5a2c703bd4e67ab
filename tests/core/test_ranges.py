"""Range checks: the index of the first invalid number, row or code."""

from __future__ import annotations

import numpy as np
import pytest

from ldpfast._core import ranges

from ..support.sizes import SIZES

pytestmark = pytest.mark.usefixtures("isa")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [*SIZES, 4096, 9000])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1.5, -1.5])
def test_the_first_invalid_number_and_row_are_found(n, bad, dtype):
    x = np.random.default_rng(n).uniform(-1, 1, n).astype(dtype)
    assert ranges.first_invalid_number(x, -1.0, 1.0) == -1
    assert ranges.first_invalid_row(x.reshape(n, 1), 1, 0.0, 1.0) == -1
    for position in {0, n // 2, n - 1}:
        y = x.copy()
        y[position:] = bad
        assert ranges.first_invalid_number(y, -1.0, 1.0) == position
        assert ranges.first_invalid_row(y.reshape(n, 1), 1, 0.0, 1.0) == position


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
@pytest.mark.parametrize("n", [1, 64, 5000])
def test_the_first_invalid_code_is_found(n, dtype):
    x = np.random.default_rng(n).integers(0, 100, n).astype(dtype)
    signed = dtype[0] == "i"
    assert ranges.first_invalid_code(x, signed, 100) == -1
    for bad in [100, -1] if signed else [100, 255]:
        y = x.copy()
        y[n // 2 :] = bad
        assert ranges.first_invalid_code(y, signed, 100) == n // 2
