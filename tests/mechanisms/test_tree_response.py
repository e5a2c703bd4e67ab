"""Reports of one level of a tree: exact channel and guarantee, decoding, and the draw from random words."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.linalg import hadamard

import ldpfast as ldp
from ldpfast.mechanisms import DistributionResponse, TreeResponse

from ..support.cases import each
from ..support.exact import exact_log, least_double_not_below
from ..support.internals.estimation import range_tree
from ..support.internals.kernels import StreamId, privatize, raw
from ..support.internals.mechanisms import tree_level, tree_sets
from ..support.internals.shared import coin_integers
from ..support.modules import module_of
from ..support.statistics import ALPHA, assert_counts
from ..support.tree_levels import coded_reports, decoded_codes

KEY = 5
SPACE = privatize.ProjectiveResponse(13, 3, 3, 1 << 63)  # 13 points, 4 of which are orthogonal to each
TREES = [
    TreeResponse(2, 1.0),
    TreeResponse(5, 1.0, branching=2),
    TreeResponse(13, 0.5, branching=3),
    TreeResponse(16, 1.0, branching=16),
    TreeResponse(27, 3.0, branching=3),
    TreeResponse(40, 1.0, branching=4),
    TreeResponse(64, 2.0, branching=8),
    TreeResponse(65, 1.0, branching=65),
    TreeResponse(130, 3.0, branching=130),
    TreeResponse(2, 1.0, branching=2, method="haar"),
    TreeResponse(13, 1.0, branching=2, method="haar"),
    TreeResponse(24, 0.5, branching=2, method="haar"),
    TreeResponse(33, 4.0, branching=2, method="haar"),
]


def ratio_of(coin):
    """Odds of the integers of a coin."""
    if isinstance(coin, coin_integers.BinaryCoin):
        return Fraction(coin.heads, coin.tails)
    if isinstance(coin, coin_integers.SetCoin):
        return coin.inside / coin.outside
    return Fraction(coin.keep, coin.words_per_symbol)


def target(level, x):
    """Expectation of the decoded numbers of one record."""
    found = np.zeros(level.nodes)
    symbol = x // level.span
    found[symbol // 2 if level.signed else symbol] = 1 - 2 * (symbol % 2) if level.signed else 1
    return found


@each("mechanism", TREES, ids=repr)
def test_the_guarantee_is_that_of_the_largest_odds_of_the_integers(mechanism):
    """Largest ratio in a column of the exact channel; a coin that is off by one unit has another ratio."""
    rows = mechanism._recipe.law.rows()
    assert {sum(row) for row in rows} == {Fraction(1)}
    columns = list(zip(*rows, strict=True))
    largest = max(max(column) / min(column) for column in columns)
    assert largest == max(ratio_of(level.coin) for level in mechanism.levels)
    assert mechanism.epsilon_realized == least_double_not_below(exact_log(largest)) <= mechanism.epsilon
    for level in mechanism.levels:
        coin = level.coin
        if isinstance(coin, coin_integers.BinaryCoin):
            more = Fraction(coin.heads + 1, coin.tails - 1)
        elif isinstance(coin, coin_integers.SetCoin):
            tails = (1 << coin.bits) - coin.heads - 1
            more = Fraction((coin.heads + 1) * (coin.outputs - coin.size), tails * coin.size)
        else:  # one word less for each of the other symbols
            more = Fraction(coin.keep + coin.k - 1, coin.words_per_symbol - 1)
        assert exact_log(more) > Fraction(mechanism.epsilon)


@each("mechanism", TREES, ids=repr)
def test_levels_are_uniform_and_independent_of_the_record(mechanism):
    rows = mechanism._recipe.law.rows()
    bounds = [*mechanism.first_codes, mechanism.report.k]
    for row in rows:
        for first, last in itertools.pairwise(bounds):
            assert sum(row[first:last]) == Fraction(1, len(mechanism.levels))


@each("mechanism", TREES, ids=repr)
def test_decoding_is_exact_by_enumeration(mechanism):
    """Expectation and second moments of the decoded numbers, over all codes of each record."""
    for level in mechanism.levels:
        decoded = decoded_codes(level)
        matches = level.matches(np.arange(mechanism.k) // level.span)
        hit, miss = map(float, level.probabilities)
        for x in range(mechanism.k):
            probability = np.where(matches[x], hit, miss)
            assert math.isclose(probability.sum(), 1)
            wanted = target(level, x)
            np.testing.assert_allclose(probability @ decoded, wanted, atol=1e-12)
            second = (decoded.T * probability) @ decoded
            if isinstance(level, tree_level.HadamardLevel):  # no correlation, whatever the record
                np.testing.assert_allclose(second, np.eye(level.nodes) * level.base, rtol=1e-12, atol=1e-12)
            elif isinstance(level, tree_sets.ProjectiveLevel):
                pass  # the moments depend on which points are on a line
            elif isinstance(level, tree_sets.SubsetLevel):
                # Products of two nodes are the same for all nodes after a constant and slopes are subtracted.
                centered = decoded @ (np.eye(level.nodes) - 1 / level.nodes)
                second = (centered.T * probability) @ centered
                flat = np.eye(level.nodes) - 1 / level.nodes
                expected = flat @ np.diag(level.base + level.slope * wanted) @ flat
                np.testing.assert_allclose(second, expected, rtol=1e-9, atol=1e-12)
            elif not level.signed:
                # Counts divided by p - q differ from the decoded numbers by a constant.
                shifted = decoded + float(level.coin.q / level.gap)
                second = (shifted.T * probability) @ shifted
                expected = np.diag(level.base + level.slope * wanted)
                np.testing.assert_allclose(second, expected, rtol=1e-12, atol=1e-12)
            elif level.symbols == 2 * level.nodes:
                expected = np.diag(level.base + level.slope * np.abs(wanted))
                np.testing.assert_allclose(second, expected, rtol=1e-12, atol=1e-12)


@each("mechanism", [*TREES, TreeResponse(300, 2.0, branching=300), TreeResponse(5000, 1.0, branching=8)], ids=repr)
def test_reports_follow_from_the_words(mechanism):
    """Twin in Python integers, of two blocks."""
    n = 2048 + 200
    x = np.random.default_rng(1).integers(0, mechanism.k, n)
    key = np.random.SeedSequence(KEY).generate_state(8, np.uint32).astype("<u4").tobytes()
    expected = [coded_reports(mechanism, "TREE", key, block, x[2048 * block :][:200]) for block in range(2)]
    reports = mechanism.privatize(x, rng=KEY)
    assert [reports[:200].tolist(), reports[2048:].tolist()] == expected


@pytest.mark.parametrize("mechanism", [TREES[2], TREES[5], TREES[7]], ids=repr)
def test_reports_have_the_probabilities_of_the_channel(mechanism):
    """Detects errors of a cell above 0.9 percentage points."""
    n, rows = 200_000, mechanism.channel().matrix
    for x in (0, mechanism.k // 2, mechanism.k - 1):
        counts = np.bincount(mechanism.privatize(np.full(n, x), rng=x), minlength=mechanism.report.k)
        assert_counts(counts, n, rows[x], detects=0.009, alpha=ALPHA / 3)


@pytest.mark.parametrize("nodes, epsilon", [(256, 4.0), (256, 3.0), (1000, 4.0)])
def test_hits_of_nodes_are_the_sums_over_their_hyperplanes(nodes, epsilon):
    """By a table for large fields and few nodes, else by sums over the hyperplanes of all points."""
    (level,) = TreeResponse(nodes, epsilon, branching=nodes).levels
    counts = np.random.default_rng(1).integers(0, 1 << 40, level.codes)
    expected = level.space.hits(counts, level.space.points)[level.points]
    np.testing.assert_array_equal(level.hits(counts), expected)
    assert level.hits(counts).dtype == np.int64


def test_each_level_has_the_response_with_the_smallest_variance():
    """Projective geometry response for large levels with shares of nodes, except where another one is within 1 %."""
    for k, epsilon, branching, method in (
        (4096, 1.0, 2, "hierarchy"),
        (4096, 3.0, 4, "hierarchy"),
        (4096, 9.0, 4, "hierarchy"),
        (999, 2.0, 2, "haar"),
    ):
        for level in TreeResponse(k, epsilon, branching=branching, method=method).levels:
            binary, response = coin_integers.binary(epsilon), coin_integers.response(level.symbols, epsilon, wide=True)
            c = float((2 * binary.p - 1) ** -2)
            gap, q = float(response.p - response.q), float(response.q)
            other = (1 + level.signed) * q / gap**2 + 1 / (gap * level.nodes)
            if isinstance(level, tree_sets.SubsetLevel):
                assert level.variance < min(c, other)
            elif isinstance(level, tree_sets.ProjectiveLevel):
                assert level.variance < 0.99 * min(c, other)
            else:
                assert level.variance == pytest.approx(min(c, other), rel=1e-9)
                assert isinstance(
                    level, tree_level.HadamardLevel if c < other * (1 - 1e-9) else tree_level.ResponseLevel
                )
                assert method == "haar" or level.nodes <= 32 * math.exp(epsilon)


def test_a_level_has_about_the_variance_of_subset_selection():
    """At most 4 % above it for 64 nodes, 10 % for 256, 2 % from 1024 nodes on."""
    for nodes, limit in ((64, 1.04), (256, 1.1), (1024, 1.02), (4096, 1.02)):
        for epsilon in (0.25, 1.0, 2.0, 3.0, 4.0):
            (level,) = TreeResponse(nodes, epsilon, branching=nodes).levels
            subsets = ldp.SubsetSelection(nodes, epsilon)
            line = subsets.debiasing
            pairs = subsets.size * (subsets.size - 1) / (nodes * (nodes - 1))
            mean = subsets.size / nodes
            assert level.variance <= limit * (mean - pairs) * (line.one - line.zero) ** 2, (nodes, epsilon)


@pytest.mark.parametrize("nodes, epsilon", [(73, 2.0), (85, 1.0), (341, 1.0)])
def test_moments_of_a_level_are_exact_for_uniform_shares_if_all_points_are_nodes(nodes, epsilon):
    """For linear functions whose coefficients have the sum 0."""
    (level,) = TreeResponse(nodes, epsilon, branching=nodes).levels
    assert isinstance(level, tree_sets.ProjectiveLevel)
    assert level.codes == nodes
    hit, miss = map(float, level.probabilities)
    probability = np.where(level.matches(np.arange(nodes)), hit, miss).mean(axis=0)
    decoded = decoded_codes(level)
    second = (decoded.T * probability) @ decoded
    a = np.random.default_rng(1).normal(size=(30, nodes))
    a -= a.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(np.einsum("ij,jk,ik->i", a, second, a), level.variance * (a**2).sum(axis=1), rtol=1e-9)


@each("nodes, epsilon", [(40, 1.0), (64, 2.0), (256, 1.0), (256, 3.0), (300, 4.5), (1000, 2.0)])
def test_the_variance_of_ranges_is_close_to_the_formula_for_any_shares(nodes, epsilon):
    """The mean over ranges is within 10 %; of a single one within 50 %, for shares at one or two nodes."""
    (level,) = TreeResponse(nodes, epsilon, branching=nodes).levels
    assert isinstance(level, tree_sets.ProjectiveLevel)
    hit, miss = map(float, level.probabilities)
    rng = np.random.default_rng(nodes)
    matches, decoded = level.matches(np.arange(nodes)), decoded_codes(level)
    ends = np.sort(rng.integers(0, nodes + 1, (60, 2)), axis=1)
    a = ((np.arange(nodes) >= ends[:, :1]) & (np.arange(nodes) < ends[:, 1:])).astype(float)
    a = a[a.any(axis=1) & ~a.all(axis=1)]
    a -= a.mean(axis=1, keepdims=True)
    scored = decoded @ a.T
    decaying = 0.9 ** np.arange(nodes)
    two = np.eye(nodes)[nodes // 3] + np.eye(nodes)[nodes // 3 + 1]
    for shares, single in ((np.ones(nodes), 0.1), (decaying, 0.2), (np.eye(nodes)[nodes // 2], 0.5), (two, 0.5)):
        shares = shares / shares.sum()
        probability = shares @ np.where(matches, hit, miss)
        exact = probability @ scored**2
        formula = (a**2) @ (level.base + level.slope * shares)
        assert abs((exact / formula).mean() - 1) < 0.1
        assert np.abs(exact / formula - 1).max() < single


def test_sizes_of_levels():
    assert range_tree.tree_sizes(64, 4) == [1, 4, 16, 64]
    assert range_tree.tree_sizes(65, 4) == [1, 2, 5, 17, 65]
    assert range_tree.tree_sizes(5, 8) == [1, 5]
    assert [level.span for level in TreeResponse(65, 1.0, branching=4).levels] == [64, 16, 4, 1]


@pytest.mark.parametrize("size", [1, 2, 8, 64])
def test_walsh_transform(size):
    counts = np.random.default_rng(size).integers(-9, 99, size)
    before = counts.copy()
    np.testing.assert_array_equal(module_of(ldp.HadamardResponse).walsh(counts), hadamard(size) @ counts)
    np.testing.assert_array_equal(counts, before)


@each("mechanism", TREES, ids=repr)
def test_variance_and_range_of_a_report(mechanism):
    rows = mechanism.channel().matrix
    np.testing.assert_allclose(mechanism.variance(np.arange(mechanism.k)), rows * (1 - rows), rtol=1e-9)
    low, high = mechanism._recipe.decoding.value_range
    assert (low, high) == (pytest.approx(rows.min()), pytest.approx(rows.max()))
    top = min(0.5, rows.max())
    assert mechanism.worst_variance == pytest.approx(top * (1 - top))


def test_invalid_parameters():
    with pytest.raises(ValueError, match=r"^branching must be 2 for the method 'haar', got 4$"):
        TreeResponse(8, 1.0, method="haar")
    with pytest.raises(ValueError, match=r"^method must be one of 'hierarchy', 'haar', got 'wavelet'$"):
        TreeResponse(8, 1.0, method="wavelet")
    with pytest.raises(ValueError, match=r"^k must be an integer in \[2, 1048576\], got 1$"):
        TreeResponse(1, 1.0)
    with pytest.raises(ValueError, match=r"^x must be integers in \[0, k\) with k=8; index 1 is outside"):
        TreeResponse(8, 1.0).privatize([0, 8])


def test_a_record_out_of_range_has_the_report_of_the_last_bin():
    """If the memory changes after the check."""
    mechanism, last = TreeResponse(13, 1.0, branching=3), np.full(50, 12, np.uint8)
    kernel, out, expected = mechanism._recipe.kernel, *np.empty((2, 50), mechanism.report.code)
    stream = ldp._random.open_stream(1)
    kernel.privatize(stream, 0, last, expected)
    kernel.privatize(stream, 0, np.full(50, 200, np.uint8), out)
    np.testing.assert_array_equal(out, expected)


@each("mechanism", [*TREES, DistributionResponse(64, 1.0), DistributionResponse(200, 4.0)], ids=repr)
def test_the_kernel_has_the_integers_of_the_coins(mechanism):
    """Reports cannot show a coin that is off by one word."""
    for level in mechanism.levels:
        compiled, (hit, miss) = level.compiled, level.probabilities
        assert hit == Fraction(compiled.heads, compiled.size << 64)
        assert miss == Fraction((1 << 64) - compiled.heads, compiled.others << 64)
        assert compiled.size + compiled.others == level.codes


# Of a stream, a block and a word for the code whose lowest bits decide that it is drawn again (or just not).
RARE = [(183_743, 222, True), (237_175, 1441, True), (656_770, 1909, False)]


@each("block, place, is_drawn_again", RARE)
def test_codes_are_exact_where_a_word_is_drawn_again(block, place, is_drawn_again):
    """Of 2^59 words for 3 * 2^30 codes, one of 2^28 is drawn again. The first that is not has the low half 2^31."""
    n = 3 << 30
    kernel = privatize.TreeResponse(2, [0] * 32, False, [tree_level.KernelLevel(1, heads=0, size=1, others=n)])
    key, words = (
        np.random.SeedSequence(KEY).generate_state(8, np.uint32).astype("<u4").tobytes(),
        np.empty(4104, np.uint64),
    )
    raw(key, StreamId.TREE, block, words)
    products = [(word >> 5) * n for word in words.tolist()]
    assert (products[2 * place + 1] % (1 << 59) < 1 << 31) == is_drawn_again
    chosen = [2 * i + 1 + (is_drawn_again and i >= place) for i in range(place + 3)]
    reports = np.empty(place + 3, np.uint32)
    kernel.privatize(ldp._random.open_stream(KEY), block, np.zeros(place + 3, np.uint8), reports)
    assert reports.tolist() == [(products[i] >> 59) + 1 for i in chosen]  # code 0 is that of the set


@each(
    "change",
    [
        {"size": (1 << 64) - 1},  # the sum of two is small without a carry
        {"size": 0},
        {"others": 3},
        {"others": 1 << 32},
        {"heads": 1 << 64},
        {"span": 0},
        {"size": 4, "others": 4, "parity": True},
        {"size": 5, "others": 5, "parity": True},
        {"table": np.zeros((4, 5), np.uint32)},
        {"table": np.zeros((5, 4), np.uint32)},
        {"table": np.full((5, 5), 5, np.uint32)},
        {"size": 4, "others": 9, "table": np.full(5, 13, np.uint32), "space": SPACE},
        {"size": 4, "others": 9, "table": np.zeros(4, np.uint32), "space": SPACE},
        {"table": np.zeros(5, np.uint32), "space": SPACE},
    ],
)
def test_levels_that_do_not_fit_the_kernel_are_refused(change):
    """No code, table or point is outside of the memory of the kernel."""
    level = tree_level.KernelLevel(span=1, heads=1 << 63, size=1, others=4)
    assert privatize.TreeResponse(5, [0], False, [level])
    with pytest.raises((ValueError, OverflowError, ZeroDivisionError)):
        privatize.TreeResponse(5, [0], False, [replace(level, **change)])


@each("epsilon", [1e-100, 1e-17, 2e-16, 1e-15, 1e-12, 1.1e-12, 1e-9])
def test_a_tiny_epsilon_has_a_mechanism_or_an_error(epsilon):
    for k, branching in ((65_536, 709), (64, 4), (5, 5)):
        if epsilon < 1e-18:
            with pytest.raises(ValueError, match="epsilon must be within what exact coins can certify"):
                TreeResponse(k, epsilon, branching=branching)
        else:
            assert 0 < TreeResponse(k, epsilon, branching=branching).epsilon_realized <= epsilon
