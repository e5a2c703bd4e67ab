"""Range checks: the index of the first invalid number, row or code."""

from __future__ import annotations

import numpy as np
import pytest

from ..support.cases import each
from ..support.internals.kernels import ranges
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


@each("dtype", [np.float32, np.float64])
@each("dim", [1, 2, 5, 8, 40])
def test_a_norm_just_above_the_limit_is_invalid(dim, dtype):
    row = np.zeros((1, dim), dtype)
    row[0, dim - 1] = 1
    assert ranges.first_invalid_row(row, dim, 0.0, 1.0) == -1
    row[0, dim - 1] = np.nextafter(dtype(1), dtype(2))
    assert ranges.first_invalid_row(row, dim, 0.0, 1.0) == 0


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


def sets(n, k, size):
    """Return n packed rows of k bits with `size` ones each."""
    members = np.argsort(np.random.default_rng(n + k).random((n, k)), axis=1)[:, :size]
    bits = np.zeros((n, k), np.uint8)
    np.put_along_axis(bits, members, 1, axis=1)
    return np.packbits(bits, axis=1, bitorder="little")


@each("k", [*range(1, 140), 200, 255, 256, 257, 500, 511, 512, 513, 1000, 4096, 16_001, 65_535, 65_536])
def test_the_first_set_of_another_size_is_found(k):
    """Rows with one bit more, one less, all bits or none, at the places of whole vectors and of the rest."""
    most = 200 if k < 1000 else 40
    rows = sets(most, k, max(1, k // 3))
    for n in (1, 2, 3, 4, 5, 15, 16, 17, 33, 64, 65, most):
        n = min(n, most)
        assert ranges.first_invalid_set(rows[:n], max(1, k // 3)) == -1
        assert ranges.first_invalid_set(rows[:n], max(1, k // 3) + 1) == 0
        for position in {0, n // 2, n - 1}:
            for byte in (0, rows.shape[1] // 2, rows.shape[1] - 1):
                for change in (1, 0xFF):
                    other = rows[:n].copy()
                    other[position, byte] ^= change
                    ones = np.bitwise_count(other).sum(axis=1, dtype=int)
                    wrong = np.flatnonzero(ones != max(1, k // 3))
                    assert ranges.first_invalid_set(other, max(1, k // 3)) == (wrong[0] if len(wrong) else -1)
        for value in (0, 0xFF):
            other = rows[:n].copy()
            other[n - 1] = value
            assert ranges.first_invalid_set(other, max(1, k // 3)) == n - 1


def test_sizes_of_65536_ones_do_not_overflow():
    rows = np.full((5, 8192), 0xFF, np.uint8)
    assert ranges.first_invalid_set(rows, 65_536) == -1
    assert ranges.first_invalid_set(rows, 0) == 0
    rows[3, 7] = 0
    assert ranges.first_invalid_set(rows, 65_536) == 3
