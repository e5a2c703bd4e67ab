"""Transforms of counts: the Walsh-Hadamard transform and sums over lines, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from ..support.cases import each
from ..support.internals.kernels import transform

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


@each("n", [CACHED // 2, CACHED, 2 * CACHED, 4 * CACHED, 8 * CACHED, 32 * CACHED])
def test_selected_values_of_long_transforms(n):
    """Around the size from which parts are transformed one after another."""
    rng = np.random.default_rng(n)
    values = rng.integers(-(10**6), 10**6, n)
    result = transformed(values)
    for row in [0, 1, n // 2, n - 1, CACHED // 4, *rng.integers(0, n, 8).tolist()]:
        sign = 1 - 2 * (np.bitwise_count(np.arange(n) & row) % 2).astype(np.int64)
        assert result[row] == sign @ values
    np.testing.assert_array_equal(transformed(result), n * values)


@each("n", [2, 4, 64, 1024, 2 * CACHED])
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


# Sums over lines ------------------------------------------------------------------------------------------------------


@each("prime", [2, 3, 7, 61, 67, 131])
def test_sums_over_lines_are_those_of_the_definition(prime):
    """Two coordinates: the sums of counts[y][x] over w x + y = v for the points (w, 1), and over x = v for (1, 0)."""
    counts = np.random.default_rng(prime).integers(0, 1 << 32, (prime, prime), np.uint32)
    wider = np.empty((1, prime + 1, prime), np.uint32)
    transform.add_coordinate(counts.reshape(1, prime, 1, prime), wider, 1)
    np.testing.assert_array_equal(wider[0, 0], counts.sum(axis=0, dtype=np.uint32))
    y, x = np.mgrid[:prime, :prime]
    for w in {0, 1, prime // 2, prime - 1}:
        expected = np.zeros(prime, np.uint32)
        np.add.at(expected, (w * x + y) % prime, counts)
        np.testing.assert_array_equal(wider[0, 1 + w], expected)


@each(
    "shape, wider, length",
    [
        ((1, 1, 1, 1), (1, 2, 1), 1),  # no field
        ((1, 8209, 1, 8209), (1, 8210, 8209), 1),  # too large a field
        ((1, 3, 2, 3), (1, 7, 3), 1),  # two points of one coordinate
        ((1, 3, 1, 3), (1, 4, 3), 2),  # one point of two coordinates
        ((1, 3, 1, 3), (1, 4, 3), 0),
        ((1, 3, 1, 5), (1, 4, 3), 1),
        ((1, 3, 1, 3), (2, 4, 3), 1),
        ((1, 3, 1, 3), (1, 5, 3), 1),
    ],
)
def test_arrays_of_wrong_shapes_are_refused(shape, wider, length):
    with pytest.raises(ValueError, match=r"too large|each point|the same field"):
        transform.add_coordinate(np.zeros(shape, np.uint32), np.zeros(wider, np.uint32), length)


def test_arrays_of_hyperplanes_of_wrong_shapes_are_refused():
    sums, below, hits = np.zeros((1, 3), np.uint32), np.zeros(1, np.uint32), np.zeros(3, np.uint32)
    transform.hyperplane_sums(sums, below, 0, hits, 1)
    for wrong in ((sums, below[:0], hits), (sums, below, hits[:2]), (np.zeros((2, 3), np.uint32), below, hits)):
        with pytest.raises(ValueError, match=r"each point|the same points"):
            transform.hyperplane_sums(*wrong[:2], 0, wrong[2], 1)
    codes, people = np.zeros(1, np.int64), np.ones(1, np.int64)
    for wrong in (
        (codes - 1, people, 3),
        (codes + (1 << 31), people, 3),
        (codes, people[:0], 3),
        (codes, people, 8209),
        (codes, people, 1),
    ):
        with pytest.raises(ValueError, match="a code"):
            transform.add_hyperplanes(wrong[0], wrong[1], np.zeros(4, np.int64), wrong[2])
