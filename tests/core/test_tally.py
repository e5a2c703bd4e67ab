"""Tallies of reports against NumPy and Python integers."""

from __future__ import annotations

import numpy as np
import pytest

from ..support import reference
from ..support.cases import each
from ..support.internals.kernels import tally
from ..support.sizes import SIZES

pytestmark = pytest.mark.usefixtures("isa")


@each("n", [0, *SIZES, 4095, 4097, 70_000])
@each("k", [1, 2, 8, 13, 64, 100, 128, 511, 512, 513, 1024, 1031])
def test_add_bits_counts_the_ones_of_each_column(k, n):
    if n * k > 10_000_000:
        n //= 16
    rows = np.random.default_rng(k).integers(0, 256, (n, (k + 7) // 8), dtype=np.uint8)
    counts = np.full(k, 5, np.int64)
    tally.add_bits(rows, counts)
    np.testing.assert_array_equal(counts - 5, np.unpackbits(rows, axis=1, count=k, bitorder="little").sum(0))


@each("k", [1, 5, 8, 9, 16, 20, 32, 40, 64, 65, 100, 128, 129, 200, 256, 511, 512, 520, 1000, 4096])
@each("n", [0, 1, 2, 4, 15, 16, 17, 63, 64, 65, 300, 2500])
def test_add_sets_counts_and_finds_a_row_of_another_size(k, n):
    size = max(1, k // 4)
    bits = np.zeros((n, k), np.uint8)
    np.put_along_axis(bits, np.argsort(np.random.default_rng(k).random((n, k)), axis=1)[:, :size], 1, axis=1)
    rows = np.packbits(bits, axis=1, bitorder="little")
    counts = np.full(k, 5, np.int64)
    assert tally.add_sets(rows, size, counts)
    np.testing.assert_array_equal(counts - 5, bits.sum(0))
    for position in {0, n // 3, n // 2, n - 1} if n else ():
        for byte in (0, rows.shape[1] - 1):
            other = rows.copy()
            other[position, byte] ^= 1
            assert not tally.add_sets(other, size, counts)
    if n > 1 and size < k:  # the total number of ones is right
        other = rows.copy()
        first, last = bits[0], bits[-1]
        first[np.flatnonzero(first == 0)[0]] = 1
        last[np.flatnonzero(last)[0]] = 0
        other[[0, -1]] = np.packbits([first, last], axis=1, bitorder="little")
        assert not tally.add_sets(other, size, counts)


@each("n", [0, *SIZES, 64 * 255, 64 * 256 + 3, 100_000])
@each("k, dtype", [(2, "u1"), (16, "u1"), (17, "u1"), (256, "u1"), (300, "u2"), (70_000, "u4")])
def test_add_codes_is_a_histogram(k, dtype, n):
    codes = np.random.default_rng(n + k).integers(0, k, n).astype(dtype)
    counts = np.zeros(k, np.int64)
    tally.add_codes(codes, counts)
    np.testing.assert_array_equal(counts, np.bincount(codes, minlength=k))


@each("n", [1, 3, 64, 255, 256, 257, 258, 259, 64 * 255 + 67])
@each("k, dtype", [(2, "u1"), (16, "u1"), (17, "u1"), (256, "u1"), (300, "u2"), (70_000, "u4")])
def test_equal_codes_are_counted_in_every_place(k, dtype, n):
    for code in (0, 1, k - 2, k - 1):
        counts = np.zeros(k, np.int64)
        tally.add_codes(np.full(n, code, dtype), counts)
        assert counts[code] == counts.sum() == n


@each("n", [1, 63, 64, 255, 256, 259, 20_000])
@each("k, dtype", [(2, "u1"), (16, "u1"), (17, "u1"), (255, "u1"), (300, "u2"), (70_000, "u4"), (3, "u8")])
def test_codes_out_of_range_are_not_counted_outside_of_the_state(k, dtype, n):
    for code in {k, np.iinfo(dtype).max}:
        memory = np.zeros(k + 300, np.int64)
        tally.add_codes(np.full(n, code, dtype), memory[:k])
        assert not memory[k:].any()
        assert not memory[: k - 1].any()


@each("dtype, steps, weight", [(np.float32, 2.0**30, 1 << 10), (np.float64, 2.0**40, 1)])
@each("dim, n", [(1, 1), (3, 5000), (8, 9), (65, 64), (100, 9), (300, 10)])
def test_add_vectors_sums_multiples_of_a_step(dim, n, dtype, steps, weight):
    bound = 3.7
    y = np.random.default_rng(n).uniform(-bound, bound, (n, dim)).astype(dtype)
    state = np.zeros((dim, 2), np.uint64)
    tally.add_vectors(y, dim, bound, state)
    expected = [sum(int(np.rint(float(v) * (steps / bound))) for v in y[:, j]) * weight for j in range(dim)]
    assert reference.wide(state) == expected


@each("sign", [-1, 1])
@each("dim", [1, 2, 9, 70, 257])
def test_sums_of_many_equal_vectors_are_exact(dim, sign):
    """Odd integers just below 2^40: their sum is rounded if more than 2^13 rows are added as doubles."""
    n, steps = 40_001, 2**40 - 1
    state = np.zeros((dim, 2), np.uint64)
    tally.add_vectors(np.full((n, dim), sign * steps / 2.0**40), dim, 1.0, state)
    assert reference.wide(state) == [sign * steps * n] * dim


@pytest.mark.parametrize("dim, n", [(1, 1), (1, 1000), (3, 64), (10, 9)])
def test_add_grid_sums_integers_and_their_squares(dim, n):
    lower, grid = -2.5, 0.001
    j = np.random.default_rng(n).integers(-(2**47), 2**47, (n, dim))
    j[0, 0] = 0
    state = np.zeros((2 * dim, 2), np.uint64)
    y = lower + grid * (j + 0.5)
    assert tally.off_grid(y, lower, grid) == -1
    tally.add_grid(y, dim, lower, grid, state)
    expected = [sum(map(int, j[:, c])) for c in range(dim)] + [sum(int(v) ** 2 for v in j[:, c]) for c in range(dim)]
    assert reference.wide(state) == expected


def test_off_grid_returns_the_first_number_off_the_grid():
    y = -2.5 + 0.001 * (np.arange(100) + 0.5)
    y[77] = np.nextafter(y[77], 1)
    assert tally.off_grid(y, -2.5, 0.001) == 77
    y[5] = np.nan
    assert tally.off_grid(y, -2.5, 0.001) == 5


@pytest.mark.parametrize("sign", [-1, 1])
def test_integers_beyond_the_limit_are_off_the_grid(sign):
    limit = sign * 2.0**47
    y = np.array([0, limit - sign, limit, limit + sign, 2 * limit]) + 0.5
    assert [tally.off_grid(np.array([number]), 0.0, 1.0) for number in y] == [-1, -1, -1, 0, 0]
