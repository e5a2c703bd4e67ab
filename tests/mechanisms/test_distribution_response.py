"""Reports of a window or of a level of a tree: exact channel and guarantee, and the draw from random words."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.mechanisms import DistributionResponse, TreeResponse

from ..support.cases import each
from ..support.exact import exact_log, least_double_not_below
from ..support.internals.mechanisms import tree_level
from ..support.statistics import ALPHA, assert_counts
from ..support.tree_levels import coded_reports

KEY = 5
MECHANISMS = [
    DistributionResponse(2, 1.0),
    DistributionResponse(5, 0.5),
    DistributionResponse(16, 4.0),
    DistributionResponse(20, 2.0),
    DistributionResponse(40, 8.0),
    DistributionResponse(64, 2.0),
    DistributionResponse(100, 0.2),
]


@each("mechanism", MECHANISMS, ids=repr)
def test_the_guarantee_is_that_of_the_largest_odds_of_the_integers(mechanism):
    """Largest ratio in a column of the exact channel; a window with a coin that is off by one unit has another one."""
    rows = mechanism._recipe.law.rows()
    assert {sum(row) for row in rows} == {Fraction(1)}
    largest = max(max(column) / min(column) for column in zip(*rows, strict=True))
    assert mechanism.epsilon_realized == least_double_not_below(exact_log(largest)) <= mechanism.epsilon
    window = mechanism.levels[0]
    coin, k, w = window.coin, mechanism.k, window.width
    assert (coin.size, coin.outputs, coin.bits) == (w, k + w - 1, 64)
    ratio = Fraction(coin.heads * (k - 1), ((1 << 64) - coin.heads) * w)
    part = [row[: window.codes] for row in rows]
    assert max(max(column) / min(column) for column in zip(*part, strict=True)) == ratio <= largest
    more = Fraction((coin.heads + 1) * (k - 1), ((1 << 64) - coin.heads - 1) * w)
    assert exact_log(ratio) <= Fraction(mechanism.epsilon) < exact_log(more)


@each("mechanism", MECHANISMS, ids=repr)
def test_the_channel_is_that_of_the_definition(mechanism):
    """Each level of the tree with probability 1/8, the window with the rest, and in the window the codes i to i + w - 1."""
    rows = mechanism._recipe.law.rows()
    bounds = [*mechanism.first_codes, mechanism.report.k]
    window = mechanism.levels[0]
    tree = TreeResponse(mechanism.k, mechanism.epsilon, branching=4)
    fine = [level for level in tree.levels if level.nodes >= 16 or level.span == 1]
    assert list(mechanism.levels[1:]) == fine
    share = Fraction(8 - len(fine), 8)
    inside = Fraction(window.coin.heads, window.width << 64)
    outside = (1 - inside * window.width) / (mechanism.k - 1)
    for i, row in enumerate(rows):
        wanted = [inside if i <= y < i + window.width else outside for y in range(window.codes)]
        assert [p / share for p in row[: window.codes]] == wanted
        for first, last in itertools.pairwise(bounds[1:]):
            assert sum(row[first:last]) == Fraction(1, 8)


@each("k, epsilon, width", [(256, 1.0, 66), (256, 4.0, 21), (1024, 0.5, 318), (64, 8.0, 1), (16, 1.0, 4)])
def test_the_width_of_the_window(k, epsilon, width):
    assert DistributionResponse(k, epsilon).levels[0].width == width == round(k * 0.375 * math.exp(-0.375 * epsilon))


@each("mechanism", [*MECHANISMS, DistributionResponse(256, 4.0), DistributionResponse(256, 6.0)], ids=repr)
def test_reports_follow_from_the_words(mechanism):
    """Twin in Python integers. With 256 cells and epsilon 4 the kernel computes in a field of 64 elements."""
    x = np.random.default_rng(1).integers(0, mechanism.k, 300)
    key = np.random.SeedSequence(KEY).generate_state(8, np.uint32).astype("<u4").tobytes()
    assert mechanism.privatize(x, rng=KEY).tolist() == coded_reports(mechanism, "DISTRIBUTION", key, 0, x)


@pytest.mark.parametrize("mechanism", [MECHANISMS[1], MECHANISMS[3], MECHANISMS[4]], ids=repr)
def test_reports_have_the_probabilities_of_the_channel(mechanism):
    """Detects errors of a cell above 0.9 percentage points."""
    n, rows = 200_000, mechanism.channel().matrix
    for x in (0, mechanism.k // 2, mechanism.k - 1):
        counts = np.bincount(mechanism.privatize(np.full(n, x), rng=x), minlength=mechanism.report.k)
        assert_counts(counts, n, rows[x], detects=0.009, alpha=ALPHA / 3)


@each("mechanism", MECHANISMS, ids=repr)
def test_variance_and_range_of_a_report(mechanism):
    rows = mechanism.channel().matrix
    np.testing.assert_allclose(mechanism.variance(np.arange(mechanism.k)), rows * (1 - rows), rtol=1e-9)
    low, high = mechanism._recipe.decoding.value_range
    assert (low, high) == (pytest.approx(rows.min()), pytest.approx(rows.max()))


def test_levels_of_a_number_of_cells_that_is_no_power_of_four():
    mechanism = DistributionResponse(100, 1.0)
    assert [level.symbols for level in mechanism.levels] == [100, 25, 100]
    assert [level.span for level in mechanism.levels] == [1, 4, 1]
    assert isinstance(DistributionResponse(64, 6.0).levels[-1], tree_level.ResponseLevel)


def test_invalid_parameters():
    with pytest.raises(ValueError, match=r"^k must be an integer in \[2, 4096\], got 1$"):
        DistributionResponse(1, 1.0)
    with pytest.raises(ValueError, match=r"^k must be an integer in \[2, 4096\], got 4097$"):
        DistributionResponse(4097, 1.0)
    with pytest.raises(ValueError, match=r"^x must be integers in \[0, k\) with k=8; index 1 is outside"):
        DistributionResponse(8, 1.0).privatize([0, 8])


def test_a_record_out_of_range_has_the_report_of_the_last_cell():
    """If the memory changes after the check."""
    mechanism, last = DistributionResponse(13, 1.0), np.full(50, 12, np.uint8)
    kernel, out, expected = mechanism._recipe.kernel, *np.empty((2, 50), mechanism.report.code)
    stream = ldp._random.open_stream(1)
    kernel.privatize(stream, 0, last, expected)
    kernel.privatize(stream, 0, np.full(50, 200, np.uint8), out)
    np.testing.assert_array_equal(out, expected)
