"""Choice by rank and smooth spread, against the reference and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ldpfast.central import quantile

from ..support import reference
from ..support.cases import each
from ..support.internals.kernels import order, stream
from ..support.keys import FIXED_KEY
from ..support.modules import module_of
from ..support.statistics import ALPHA

inside = module_of(quantile)

# Choice by rank -------------------------------------------------------------------------------------------------------


@each("epsilon", [1e-4, 0.01, 0.3, 1.0, 7.0, 40.0, 170.0])
@each("room", [1, 2, 17, 5000])
def test_weights_equal_the_recurrence(epsilon, room):
    ratio = inside._ratio(epsilon)
    expected = [1 << 62]
    while len(expected) < room and (after := -(-expected[-1] * ratio >> 64)) < expected[-1]:
        expected.append(after)
    table = np.empty(room, np.uint64)
    assert order.weights(ratio, table) == len(expected)
    assert table[: len(expected)].tolist() == expected


@each(
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
@each("epsilon", [0.2, 3.0, 60.0])
def test_choice_equals_the_reference(points, epsilon):
    """The total weight, and the chosen point for many random integers, from the weight of every point."""
    table, size = inside.weights(epsilon, max(1, len(points))), 7
    z = np.array(points, np.uint64)
    for target in range(2 * len(points) + 1):
        expected = reference.rank_weights(points, size, target, table)
        assert order.masses(z, 0, size, target, table) == sum(expected)
        for block in range(30):
            words = reference.Words(FIXED_KEY, "SELECTION", block)
            chosen = order.choose(stream.Stream(FIXED_KEY), block, z, 0, size, target, table)
            assert chosen == reference.select(words, expected)


@each("epsilon", [5.0, 60.0, 300.0])
@each("size", [5, 60])
def test_ranks_far_from_the_target_can_be_left_out(epsilon, size):
    """If the table becomes constant within the data, a slice has the distribution of all ranks, with ties across its ends."""
    n = 60
    x = np.random.default_rng(size).integers(0, size, n).astype(np.uint32)
    table = inside.weights(epsilon, n)
    cut = 0
    for target in (0, 1, 7, 60, 61, 119, 120):
        expected = reference.rank_weights(x.tolist(), size, target, table)
        low, high = max(0, (target - len(table)) // 2), min(n, (target + len(table)) // 2 + 1)
        cut += high - low < n
        near = np.sort(x)[low:high].astype(np.uint64)
        assert order.masses(near, low, size, target, table) == sum(expected)
        for block in range(20):
            words = reference.Words(FIXED_KEY, "SELECTION", block)
            assert order.choose(stream.Stream(FIXED_KEY), block, near, low, size, target, table) == reference.select(
                words, expected
            )
    assert cut or len(table) > 2 * n


def test_choice_follows_the_distribution():
    """Chi-square over seven points, with both ends of the grid and ties. Detects 3 % of a probability of 1/7."""
    points, table, n = [0, 2, 2, 5], inside.weights(1.0, 4), 60_000
    expected = np.array(reference.rank_weights(points, 7, 4, table), float)
    expected *= n / expected.sum()
    z, key = np.array(points, np.uint64), stream.Stream(FIXED_KEY)
    seen = np.bincount([order.choose(key, block, z, 0, 7, 4, table) for block in range(n)], minlength=7)
    assert stats.chi2.sf(np.sum((seen - expected) ** 2 / expected), 6) > ALPHA


def test_totals_of_the_whole_grid_are_exact():
    """2^32 points of weight 2^62: 94 bits."""
    table = inside.weights(1e-3, 1)
    z = np.zeros(0, np.uint64)
    assert order.masses(z, 0, 1 << 32, 0, table) == 1 << 94
    ends = np.array([0, (1 << 32) - 1], np.uint64)
    w = [int(v) for v in table]
    assert order.masses(ends, 0, 1 << 32, 2, table) == (1 << 32) * w[0]
    assert order.masses(ends, 0, 1 << 32, 4, table) == w[0] + ((1 << 32) - 1) * w[2]


# Smooth spread --------------------------------------------------------------------------------------------------------


@each("seed", range(40))
def test_spread_equals_brute_force(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 30))
    z = np.sort(rng.choice([rng.uniform(0, 1, size), rng.integers(0, 4, size) / 3, rng.lognormal(0, 3, size)]))
    i_low, i_high = np.sort(rng.integers(0, size, 2)).tolist()
    j_low, j_high = np.sort(rng.integers(0, size, 2)).tolist()
    least = int(rng.integers(0, 4))
    i_high = max(i_low, min(i_high, j_high - least))  # every i has a valid j, as in all uses
    beta = float(rng.choice([0.0, 1e-3, 0.3, 5.0]))
    scratch = np.empty(2 * size + 5)
    if i_low + least > j_high:
        with pytest.raises(ValueError, match="ranks do not fit"):
            order.spread(z, beta, i_low, i_high, j_low, j_high, least, scratch)
        return
    found = order.spread(z, beta, i_low, i_high, j_low, j_high, least, scratch)
    assert found == pytest.approx(reference.spread(z, beta, i_low, i_high, j_low, j_high, least), rel=1e-14, abs=0)
