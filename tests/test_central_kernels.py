"""Kernels of the central model against their twins: clipped sums, discrete Gaussian noise, choice by rank, smooth spread."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import special, stats

from ldpfast._core import noise, order, sums
from ldpfast._core.stream import Stream
from ldpfast.central import _quantile

from .support import reference
from .support.statistics import ALPHA, hoeffding_radius

KEY = bytes(range(32))
FINE = 1 << 40
DIMS = [1, 2, 3, 31, 32, 33, 100, 1000]


def clipped(x, radius, state=None):
    """The state after the rows of x, and how many were not finite."""
    dim = 1 if x.ndim == 1 else x.shape[1]
    state = np.zeros((dim, 2), np.uint64) if state is None else state
    return state, sums.add_clipped(np.ascontiguousarray(x), dim, radius, np.empty(2 * dim), state)


def rows(n, dim, dtype, seed=0):
    """Rows inside, on and outside of the unit ball."""
    rng = np.random.default_rng([seed, dim])
    x = rng.standard_normal((n, dim)) / math.sqrt(dim) * rng.choice([0.1, 0.9, 1.0, 3.0, 1e6], (n, 1))
    x[::5] /= np.linalg.norm(x[::5], axis=1, keepdims=True)
    return x.astype(dtype)


# Clipped sums ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("radius", [1.0, 0.37])
def test_clipped_sums(isa, radius, dim, dtype):
    """Bit by bit, row by row: what one instruction set fuses or reorders would be seen."""
    x = rows(70 if dim < 1000 else 10, dim, dtype)
    expected = [reference.clipped_row(row, radius) for row in x]
    for row, twin in zip(x[:10], expected[:10], strict=True):
        state, bad = clipped(row[np.newaxis], radius)
        assert (reference.wide(state), bad) == (twin, 0)
    state, bad = clipped(x, radius)
    assert (reference.wide(state), bad) == ([sum(column) for column in zip(*expected, strict=True)], 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dim", DIMS)
def test_clipped_rows_are_those_of_exact_arithmetic(dim, dtype):
    """Against the projection in fractions and long doubles: half a step, and a little for the doubles of the norm."""
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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n, dim", [(300_001, 1), (9001, 2), (5000, 33), (4097, 3)])
def test_no_order_or_splitting_of_the_rows_changes_a_sum(isa, n, dim, dtype):
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


def test_instruction_sets_agree_on_many_rows(isa):
    for dtype in (np.float32, np.float64):
        for dim in DIMS:
            x = rows(600, dim, dtype, 3)
            exact = np.sum([reference.clipped_row(row, 1.0) for row in x[:: max(1, dim // 20)]], axis=0, dtype=object)
            assert reference.wide(clipped(x[:: max(1, dim // 20)], 1.0)[0]) == exact.tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dim", [1, 2, 31, 32, 33, 65])
def test_rows_that_are_not_finite_count_as_zero_and_are_counted(isa, dim, dtype):
    x = rows(130, dim, dtype, 2)
    good = x.copy()
    for k, (i, bad) in enumerate([(0, np.nan), (1, np.inf), (31, -np.inf), (32, np.nan), (63, np.inf), (129, -np.nan)]):
        x[i, (7 * k) % dim] = bad
        good[i] = 0
    x[64, :], good[64] = np.nan, 0
    assert clipped(x, 1.0)[1] == 7
    assert clipped(x, 1.0)[0].tobytes() == clipped(good, 1.0)[0].tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dim", [1, 2, 33, 100])
def test_extreme_rows(isa, dim, dtype):
    """Huge, subnormal, exactly on the ball, negative zeros: each as its twin says."""
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


def test_finite_rows_whose_norm_overflows_are_finite():
    state, bad = clipped(np.full((1, 2), 1.7e308), 1.0)
    assert bad == 0
    assert reference.wide(state) == [round(FINE / math.sqrt(2))] * 2


@pytest.mark.parametrize("dim", [1, 3])
def test_negative_sums_wrap_through_both_words(dim):
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


def test_state_and_records_must_fit():
    x, state = np.zeros((3, 2)), np.zeros((2, 2), np.uint64)
    for arguments in (
        (x, 2, 1.0, np.empty(3), state),
        (x, 2, 1.0, np.empty(4), state[:1].copy()),
        (np.zeros(5), 2, 1.0, np.empty(4), state),
    ):
        with pytest.raises(ValueError, match="do not fit together"):
            sums.add_clipped(*arguments)


# Discrete Gaussian noise ----------------------------------------------------------------------------------------------


def gaussian(variance, n, block=0, key=KEY):
    out = np.empty(n, np.int64)
    noise.gaussian(Stream(key), block, variance, out)
    return out


@pytest.mark.parametrize("variance", [1, 2, 4, 100, 1025**2, 10**9 + 7, 1 << 40, (1 << 48) - 1, 1 << 48])
def test_gaussian_noise_is_its_twin(isa, variance):
    """Every coin by exact fractions of the same words. Not reached: digits beyond the first word (chance 2^-43 a coin)."""
    for block in (0, 5):
        words = reference.Words(KEY, "discrete Gaussian", block)
        assert gaussian(variance, 60, block).tolist() == reference.discrete_gaussian(words, variance, 60)


def test_gaussian_noise_of_all_sizes(isa):
    whole = gaussian(9, 500)
    for n in (0, 1, 2, 63, 64, 65, 499):
        assert gaussian(9, n).tolist() == whole[:n].tolist()


@pytest.mark.parametrize("variance", [1, 4, 100])
def test_gaussian_noise_by_cell(variance):
    """Chi-square over all values with at least 25 expected: sees a relative error of 2 percent of a chance near the middle."""
    n, reach = 400_000, 20 * math.isqrt(variance)
    x = gaussian(variance, n)
    values = np.arange(-reach, reach + 1)
    chances = np.exp(-(values**2) / (2 * variance))
    expected = n * chances / chances.sum()
    seen = np.bincount(x + reach, minlength=len(values))
    common = expected >= 25
    statistic = np.sum((seen - expected)[common] ** 2 / expected[common])
    rest, room = seen[~common].sum(), expected[~common].sum()
    statistic += (rest - room) ** 2 / room if room > 5 else 0.0
    assert stats.chi2.sf(statistic, common.sum()) > ALPHA


@pytest.mark.parametrize("variance", [1025**2, 1 << 40, 1 << 48])
def test_gaussian_noise_by_distribution(variance):
    """The empirical distribution function (Dvoretzky, Kiefer, Wolfowitz, Massart), and the last six bits. Sees a deviation of
    0.7 percentage points; the exact law's function is that of the normal law at half integers within 1e-7."""
    n = 250_000
    x = np.sort(gaussian(variance, n))
    exact = special.ndtr((x + 0.5) / math.sqrt(variance))
    up_to = np.searchsorted(x, x, side="right") / n
    assert np.abs(up_to - exact).max() <= hoeffding_radius(n, ALPHA) + 1e-6
    low = np.bincount(x & 63, minlength=64)
    assert stats.chi2.sf(np.sum((low - n / 64) ** 2) / (n / 64), 63) > ALPHA
    assert np.var(x) == pytest.approx(variance, rel=8 * math.sqrt(2 / n))


@pytest.mark.parametrize("variance", [0, (1 << 48) + 1, (1 << 64) - 1])
def test_variance_of_gaussian_noise_out_of_bounds(variance):
    with pytest.raises(ValueError, match=r"variance must be in \[1, 2\^48\]"):
        gaussian(variance, 1)


# Choice by rank -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [1e-4, 0.01, 0.3, 1.0, 7.0, 40.0, 170.0])
@pytest.mark.parametrize("room", [1, 2, 17, 5000])
def test_weights(epsilon, room):
    ratio = _quantile._ratio(epsilon)
    expected = [1 << 62]
    while len(expected) < room and (after := -(-expected[-1] * ratio >> 64)) < expected[-1]:
        expected.append(after)
    table = np.empty(room, np.uint64)
    assert order.weights(ratio, table) == len(expected)
    assert table[: len(expected)].tolist() == expected


@pytest.mark.parametrize(
    "points",
    [
        [],
        [0],
        [6],
        [3],
        [0, 6],
        [0, 0, 0],
        [6, 6],
        [2, 2, 3, 3, 3],
        [0, 1, 2, 3, 4, 5, 6],
        [0, 0, 3, 6, 6, 6],
        [1, 1, 1, 4, 5, 5, 5, 5],
    ],
    ids=str,
)
@pytest.mark.parametrize("epsilon", [0.2, 3.0, 60.0])
def test_choice_is_its_twin(points, epsilon):
    """The total, and the point for many random integers, by weights point by point."""
    table, size = _quantile.weights(epsilon, max(1, len(points))), 7
    z = np.array(points, np.uint64)
    for target in range(2 * len(points) + 1):
        expected = reference.rank_weights(points, size, target, table)
        assert order.masses(z, 0, size, target, table) == sum(expected)
        for block in range(30):
            words = reference.Words(KEY, "selection", block)
            chosen = order.choose(Stream(KEY), block, z, 0, size, target, table)
            assert chosen == reference.select(words, expected)


@pytest.mark.parametrize("epsilon", [5.0, 60.0, 300.0])
@pytest.mark.parametrize("size", [5, 60])
def test_ranks_far_from_the_target_may_be_left_out(epsilon, size):
    """A table that stops falling within the data: the slice of `choose` has the same law as all of them, ties across the cut
    included."""
    n = 60
    x = np.random.default_rng(size).integers(0, size, n).astype(np.uint32)
    table = _quantile.weights(epsilon, n)
    cut = 0
    for target in (0, 1, 7, 60, 61, 119, 120):
        expected = reference.rank_weights(x.tolist(), size, target, table)
        low, high = max(0, (target - len(table)) // 2), min(n, (target + len(table)) // 2 + 1)
        cut += high - low < n
        near = np.sort(x)[low:high].astype(np.uint64)
        assert order.masses(near, low, size, target, table) == sum(expected)
        for block in range(20):
            words = reference.Words(KEY, "selection", block)
            assert order.choose(Stream(KEY), block, near, low, size, target, table) == reference.select(words, expected)
    assert cut or len(table) > 2 * n


def test_choice_by_cell():
    """Chi-square over a law of seven points, with a grid's two ends and ties: sees 3 percent of a chance of 1/7."""
    points, table, n = [0, 2, 2, 5], _quantile.weights(1.0, 4), 60_000
    expected = np.array(reference.rank_weights(points, 7, 4, table), float)
    expected *= n / expected.sum()
    z, key = np.array(points, np.uint64), Stream(KEY)
    seen = np.bincount([order.choose(key, block, z, 0, 7, 4, table) for block in range(n)], minlength=7)
    assert stats.chi2.sf(np.sum((seen - expected) ** 2 / expected), 6) > ALPHA


def test_totals_of_the_whole_grid():
    """2^32 points of weight 2^62: 94 bits."""
    table = _quantile.weights(1e-3, 1)
    z = np.zeros(0, np.uint64)
    assert order.masses(z, 0, 1 << 32, 0, table) == 1 << 94
    ends = np.array([0, (1 << 32) - 1], np.uint64)
    w = [int(v) for v in table]
    assert order.masses(ends, 0, 1 << 32, 2, table) == (1 << 32) * w[0]
    assert order.masses(ends, 0, 1 << 32, 4, table) == w[0] + ((1 << 32) - 1) * w[2]


# Smooth spread --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_spread_by_brute_force(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 30))
    z = np.sort(rng.choice([rng.uniform(0, 1, size), rng.integers(0, 4, size) / 3, rng.lognormal(0, 3, size)]))
    i_low, i_high = np.sort(rng.integers(0, size, 2)).tolist()
    j_low, j_high = np.sort(rng.integers(0, size, 2)).tolist()
    least = int(rng.integers(0, 4))
    i_high = max(i_low, min(i_high, j_high - least))  # every i has some j, as in all uses
    beta = float(rng.choice([0.0, 1e-3, 0.3, 5.0]))
    scratch = np.empty(2 * size + 5)
    if i_low + least > j_high:
        with pytest.raises(ValueError, match="ranks do not fit"):
            order.spread(z, beta, i_low, i_high, j_low, j_high, least, scratch)
        return
    found = order.spread(z, beta, i_low, i_high, j_low, j_high, least, scratch)
    assert found == pytest.approx(reference.spread(z, beta, i_low, i_high, j_low, j_high, least), rel=1e-14, abs=0)
