"""Sums of rows clipped to a ball, against the reference and exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from ..support import reference
from ..support.cases import each
from ..support.internals.kernels import tally

FINE = 1 << 40
DIMS = [1, 2, 3, 31, 32, 33, 100, 1000]


def clipped(x, radius, state=None):
    """Return the state after the rows of x, and the number of rows that are not finite."""
    dim = 1 if x.ndim == 1 else x.shape[1]
    state = np.zeros((dim, 2), np.uint64) if state is None else state
    return state, tally.add_clipped(np.ascontiguousarray(x), dim, radius, np.empty(2 * dim), state)


def rows(n, dim, dtype, seed=0):
    """Return rows inside, on and outside of the unit ball."""
    rng = np.random.default_rng([seed, dim])
    x = rng.standard_normal((n, dim)) / math.sqrt(dim) * rng.choice([0.1, 0.9, 1.0, 3.0, 1e6], (n, 1))
    x[::5] /= np.linalg.norm(x[::5], axis=1, keepdims=True)
    return x.astype(dtype)


@each("dtype", [np.float32, np.float64])
@each("dim", DIMS)
@each("radius", [1.0, 0.37])
def test_clipped_sums_equal_the_reference(isa, radius, dim, dtype):
    """Equality of every bit of every row detects an instruction set with fused or reordered operations."""
    x = rows(70 if dim < 1000 else 10, dim, dtype)
    expected = [reference.clipped_row(row, radius) for row in x]
    for row, slow in zip(x[:10], expected[:10], strict=True):
        state, bad = clipped(row[np.newaxis], radius)
        assert (reference.wide(state), bad) == (slow, 0)
    state, bad = clipped(x, radius)
    assert (reference.wide(state), bad) == ([sum(column) for column in zip(*expected, strict=True)], 0)


@each("dtype", [np.float32, np.float64])
@each("dim", DIMS)
def test_clipped_rows_agree_with_exact_arithmetic(dim, dtype):
    """The projection in fractions agrees within half a step, and a little more for the rounding of the norm."""
    radius = Fraction(37, 100)
    for row in rows(12, dim, dtype, 1):
        state, _ = clipped(row[np.newaxis], float(radius))
        exact = [Fraction(float(v)) for v in row]
        square = sum(v * v for v in exact)
        scale = Fraction(math.isqrt(int(square * (1 << 400))), 1 << 200)  # the norm, rounded down by 2^-200
        factor = FINE / max(scale, Fraction(float(radius)))
        found = reference.wide(state)
        assert all(
            abs(k - v * factor) <= Fraction(1, 2) + Fraction(1, 1 << 11) for k, v in zip(found, exact, strict=True)
        )
        assert math.sqrt(sum(k * k for k in found)) <= FINE * (1 + 1e-12) + math.sqrt(dim) / 2


@each("dtype", [np.float32, np.float64])
@each("n, dim", [(300_001, 1), (9001, 2), (5000, 33), (4097, 3)])
def test_sums_do_not_depend_on_order_or_splitting_of_the_rows(isa, n, dim, dtype):
    x, rng = rows(n, dim, dtype), np.random.default_rng(n)
    x[::97] = np.nan
    whole, bad = clipped(x, 1.0)
    assert bad == len(x[::97])
    shuffled, again = clipped(rng.permutation(x), 1.0)
    assert (shuffled.tobytes(), again) == (whole.tobytes(), bad)
    state, found = np.zeros((dim, 2), np.uint64), 0
    for piece in np.split(x, np.sort(rng.integers(0, n, 7))):
        found += clipped(piece, 1.0, state)[1]
    assert (state.tobytes(), found) == (whole.tobytes(), bad)


@pytest.mark.parametrize("n, dim", [(1_200_001, 1), (200_001, 2), (100_001, 3), (40_001, 33)])
def test_sums_of_many_equal_rows_are_exact(isa, n, dim):
    """Odd integers of up to 2^40: their sum is rounded if too many rows are added as doubles."""
    number = (2 ** math.floor(40 - math.log2(dim) / 2) - 1) / FINE  # the norm is below 1
    row = np.full(dim, -number)
    assert reference.clipped_row(row, 1.0) == [-int(number * FINE)] * dim
    state, bad = clipped(np.broadcast_to(row, (n, dim)), 1.0)
    assert (reference.wide(state), bad) == ([-int(number * FINE) * n] * dim, 0)


def test_instruction_sets_agree_on_many_rows(isa):
    for dtype in (np.float32, np.float64):
        for dim in DIMS:
            x = rows(600, dim, dtype, 3)
            exact = np.sum([reference.clipped_row(row, 1.0) for row in x[:: max(1, dim // 20)]], axis=0, dtype=object)
            assert reference.wide(clipped(x[:: max(1, dim // 20)], 1.0)[0]) == exact.tolist()


@each("dtype", [np.float32, np.float64])
@each("dim", [1, 2, 31, 32, 33, 65])
def test_rows_that_are_not_finite_count_as_zero_and_are_counted(isa, dim, dtype):
    x = rows(130, dim, dtype, 2)
    good = x.copy()
    for k, (i, bad) in enumerate([(0, np.nan), (1, np.inf), (31, -np.inf), (32, np.nan), (63, np.inf), (129, -np.nan)]):
        x[i, (7 * k) % dim] = bad
        good[i] = 0
    x[64, :], good[64] = np.nan, 0
    assert clipped(x, 1.0)[1] == 7
    assert clipped(x, 1.0)[0].tobytes() == clipped(good, 1.0)[0].tobytes()


@each("dtype", [np.float32, np.float64])
@each("dim", [1, 2, 33, 100])
def test_extreme_rows_equal_the_reference(isa, dim, dtype):
    """Huge, subnormal and zero rows, and rows exactly on the ball."""
    info = np.finfo(dtype)
    huge = 1e300 if dtype == np.float64 else 3e38
    cases = [
        np.full(dim, huge / (1 if dim == 1 else dim)),
        np.full(dim, -huge / (1 if dim == 1 else dim)),
        np.eye(dim)[dim - 1] * info.max,
        -np.eye(dim)[0] * info.max,
        np.full(dim, info.smallest_subnormal),
        np.full(dim, -info.tiny),
        np.zeros(dim),
        -np.zeros(dim),
        np.eye(dim)[0],
        -np.eye(dim)[0],
        np.full(dim, 1 / math.sqrt(dim)),
        np.nextafter(np.eye(dim)[0].astype(dtype), dtype(2)) * (np.arange(dim) == 0),
    ]
    for case in cases:
        x = case.astype(dtype)[np.newaxis]
        state, bad = clipped(x, 1.0)
        assert bad == 0
        assert reference.wide(state) == reference.clipped_row(x[0], 1.0)
        assert math.sqrt(sum(k * k for k in reference.wide(state))) <= FINE * (1 + 1e-12) + math.sqrt(dim) / 2
    assert clipped(np.full((1, 1), info.max, dtype), 1.0)[0].tolist() == [[FINE, 0]]
    assert clipped(np.full((1, 1), -info.max, dtype), 1.0)[0].tolist() == [[2**64 - FINE, 2**64 - 1]]


def test_finite_rows_with_an_overflowing_norm_are_clipped():
    state, bad = clipped(np.full((1, 2), 1.7e308), 1.0)
    assert bad == 0
    assert reference.wide(state) == [round(FINE / math.sqrt(2))] * 2


@pytest.mark.parametrize("dim", [1, 3])
def test_negative_sums_use_both_words(dim):
    state = np.zeros((dim, 2), np.uint64)
    down, up = np.full((1, dim), -1.0), np.full((1, dim), 1.0)
    one = reference.clipped_row(up[0], 1.0)
    clipped(down, 1.0, state)
    assert reference.wide(state) == [-k for k in one]
    clipped(np.concatenate([up, up]), 1.0, state)
    assert reference.wide(state) == one
    state[:] = [2**64 - 1, 0]  # the low word overflows
    clipped(up, 1.0, state)
    assert reference.wide(state) == [2**64 - 1 + k for k in one]
    clipped(down, 1.0, state)
    assert state.tolist() == [[2**64 - 1, 0]] * dim


def test_state_and_records_must_fit_together():
    x, state = np.zeros((3, 2)), np.zeros((2, 2), np.uint64)
    for arguments in (
        (x, 2, 1.0, np.empty(3), state),
        (x, 2, 1.0, np.empty(4), state[:1].copy()),
        (np.zeros(5), 2, 1.0, np.empty(4), state),
    ):
        with pytest.raises(ValueError, match="do not fit together"):
            tally.add_clipped(*arguments)
