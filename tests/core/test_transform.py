"""The Walsh-Hadamard transform: against the definition, and as its own inverse."""

from __future__ import annotations

import numpy as np
import pytest

from ldpfast._core import transform

from ..support.cases import each

pytestmark = pytest.mark.usefixtures("isa")
CACHED = 1 << 15  # numbers of the parts that stay in the cache


def transformed(values):
    out = np.array(values, np.int64)
    transform.walsh(out)
    return out


def signs(n):
    """Return the matrix (-1)^(number of common ones of row and column)."""
    rows = np.arange(n)
    return 1 - 2 * (np.bitwise_count(rows[:, None] & rows) % 2).astype(np.int64)


@each("n", [1 << j for j in range(11)])
def test_the_transform_is_the_product_with_the_signs(n):
    values = np.random.default_rng(n).integers(-(10**6), 10**6, n)
    np.testing.assert_array_equal(transformed(values), signs(n) @ values)


@pytest.mark.parametrize("n", [CACHED // 2, CACHED, 2 * CACHED, 4 * CACHED, 8 * CACHED, 32 * CACHED])
def test_selected_values_of_long_transforms(n):
    """Around the size from which parts are transformed one after another."""
    rng = np.random.default_rng(n)
    values = rng.integers(-(10**6), 10**6, n)
    result = transformed(values)
    for row in [0, 1, n // 2, n - 1, CACHED // 4, *rng.integers(0, n, 8).tolist()]:
        sign = 1 - 2 * (np.bitwise_count(np.arange(n) & row) % 2).astype(np.int64)
        assert result[row] == sign @ values
    np.testing.assert_array_equal(transformed(result), n * values)


@pytest.mark.parametrize("n", [2, 4, 64, 1024, 2 * CACHED])
def test_sums_are_exact_up_to_2_to_the_63(n):
    values = np.zeros(n, np.int64)
    values[0], values[-1] = (1 << 62) - 1, 1 << 62
    result = transformed(values)
    assert result[0] == (1 << 63) - 1
    assert result[1] == -1


def test_the_values_are_replaced_in_place():
    values = np.array([1, 2, 3, 4], np.int64)
    assert transform.walsh(values) is None
    assert values.tolist() == [10, -2, -4, 0]


@pytest.mark.parametrize("n", [0, 3, 6, 100])
def test_lengths_that_are_no_power_of_two_are_refused(n):
    with pytest.raises(ValueError, match="the length must be a power of two"):
        transform.walsh(np.zeros(n, np.int64))
