"""Shuffled reports: a table, enumeration of small instances, exact sums, and rounding."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, special, stats

import ldpfast as ldp
from ldpfast import privacy
from ldpfast.mechanisms import Gradient, TreeResponse
from ldpfast.privacy import Channel, Guarantee, ReportLaw, TwoLevel, shuffled, shuffled_delta
from ldpfast.privacy._exact import power_down
from ldpfast.reports import recipe_of

from ..cards import MECHANISMS
from ..support.cases import each
from ..support.errors import raises
from ..support.internals.privacy import ERROR, ShuffledCounts, binomial

# Parameters of channels that are not mechanisms of the library --------------------------------------------------------


def subset_selection(k: int, size: int, odds: float) -> TwoLevel:
    """Return the parameters if S(x) are the subsets of this size that contain x."""
    return TwoLevel.of_sets(
        odds,
        math.comb(k - 1, size - 1),
        math.comb(k, size),
        Fraction(size * (k - size), k * (k - 1)) * math.comb(k, size),
    )


def hadamard(k: int, odds: float) -> TwoLevel:
    outputs = 1 << k.bit_length()
    return TwoLevel.of_sets(odds, outputs // 2, outputs, outputs // 4)


def spherical_cap(dim: int, odds: float) -> TwoLevel:
    """Return the parameters if S(x) is the cap of the largest mean: its height is the mean of the report along x."""

    def cap(height: float) -> float:
        return special.betainc((dim - 1) / 2, 0.5, 1 - height**2) / 2

    def excess(height: float) -> float:
        constant = math.exp(special.gammaln(dim / 2) - special.gammaln((dim - 1) / 2)) / math.sqrt(math.pi)
        moment = constant * (1 - height**2) ** ((dim - 1) / 2) / (dim - 1)
        return height - (odds - 1) * moment / (1 + (odds - 1) * cap(height))

    size = cap(optimize.brentq(excess, 0, 1, xtol=1e-14))
    return TwoLevel.of_sets(odds, size, 1, size)


TABLE = [
    (10_000, 1.0, 27, (0.06888, 0.05645, 0.00995, 0.03924, 0.04045, 0.03947, 0.05044)),
    (10_000, 4.0, 2, (0.75463, 0.51449, 0.29268, 0.34839, 0.44917, 0.36012, 0.45499)),
    (1_000_000, 1.0, 27, (0.00613, 0.00501, 0.00086, 0.00347, 0.00358, 0.00349, 0.00448)),
    (1_000_000, 4.0, 2, (0.06420, 0.04507, 0.02645, 0.03134, 0.03983, 0.03235, 0.04031)),
]


@pytest.mark.long
@pytest.mark.parametrize("n, epsilon, size, expected", TABLE)
def test_shuffled_epsilons_equal_the_table(n, epsilon, size, expected):
    """delta = 1e-8; 100 categories for k-ary response and subset selection, 100 dimensions for the cap.

    The table is of the shorter sum, which is no bound for channels whose report can be outside both sets. The correct results
    are a little larger.
    """
    odds = math.exp(epsilon)
    _, binary, k_ary, optimized, symmetric, subsets, cap = expected
    for channel in (epsilon, ldp.L2Ball(20, epsilon), ldp.LinfBall(20, epsilon), TwoLevel.binary(odds)):
        assert shuffled(channel, n, 1e-8).epsilon == pytest.approx(binary, abs=1.1e-5)
    for channel in (ldp.Laplace(0, 1, epsilon), ldp.Warner(epsilon), ldp.SignBit(0, 1, epsilon)):
        assert shuffled(channel, n, 1e-8).epsilon < 0.95 * binary
    for channel, value in (
        (ldp.RandomizedResponse(100, epsilon), k_ary),
        (ldp.Bins(np.arange(99.0), epsilon), k_ary),
        (ldp.UnaryEncoding(7, epsilon, method="optimized"), optimized),
        (hadamard(100, odds), optimized),
        (ldp.UnaryEncoding(7, epsilon), symmetric),
        (subset_selection(100, size, odds), subsets),
        (spherical_cap(100, odds), cap),
    ):
        parameters = channel if isinstance(channel, TwoLevel) else channel.two_level
        shorter = optimize.brentq(
            lambda e, p=parameters: shorter_delta(p, n, e) * 1e8 - 1, value * 0.9, value * 1.1, rtol=1e-9
        )
        assert round(shorter, 5) == value
        assert shuffled(channel, n, 1e-8).epsilon < shorter * 1.04
        if parameters.shared_rates[0] == 0:  # otherwise the divergence of the numbers is not the smallest bound
            assert shorter * 0.9999 < shuffled(channel, n, 1e-8).epsilon


# Enumeration ----------------------------------------------------------------------------------------------------------


def multisets(rows):
    """Return the weights of all multisets of reports, one report from each row of integers."""
    found = Counter({(0,) * len(rows[0]): 1})
    for row in rows:
        after = Counter()
        for counts, weight in found.items():
            for report, w in enumerate(row):
                after[(*counts[:report], counts[report] + 1, *counts[report + 1 :])] += weight * w
        found = after
    return [found[key] for key in sorted(found)]


def shuffled_channel(own, other, common):
    """Return the exact channel of the shuffled reports of one person with either of two rows, and of other people."""
    return Channel([multisets([row, *common]) for row in (own, other)])


def rows_of(mechanism):
    return [[int(entry) for entry in row] for row in recipe_of(mechanism).law.rows()]


def raised(sets, outputs, odds):
    return [[odds if y in own else 1 for y in range(outputs)] for own in sets]


PAIRS = list(itertools.combinations(range(4), 2))
SUBSETS = raised([[i for i, pair in enumerate(PAIRS) if x in pair] for x in range(4)], 6, 5)
HADAMARD = raised([[z for z in range(4) if (z & x).bit_count() % 2 == 0] for x in (1, 2, 3)], 4, 5)


@dataclass(frozen=True)
class Mixtures:
    """Sign bits of records between the ends, which are mixtures of the two rows of `SignBit`."""

    mechanism = ldp.SignBit(0.0, 1.0, 1.5)

    def rows(self):
        (a, b), _ = rows_of(self.mechanism)
        return [[a * (4 - x) + b * x, b * (4 - x) + a * x] for x in range(5)]


CASES = [
    *((rows_of(m), m, n) for m, n in ((ldp.Warner(1.0), 6), (ldp.Warner(3.0), 5), (ldp.Warner(0.01), 4))),
    *((rows_of(m), m, 4) for m in (ldp.RandomizedResponse(3, 1.5), ldp.RandomizedResponse(4, 3.0))),
    (rows_of(ldp.Residue(1.0, 0.0, 3, 0.5)), ldp.Residue(1.0, 0.0, 3, 0.5), 5),
    *((rows_of(m), m, 3) for m in (ldp.UnaryEncoding(3, 2.0, method=v) for v in ("symmetric", "optimized"))),
    *((rows_of(m), m, 6) for m in (ldp.UnaryEncoding(2, 1.0, method=v) for v in ("symmetric", "optimized"))),
    *(
        (rows_of(ldp.LinfBall(2, 2.0, radius=1.0, ties=ties)), ldp.LinfBall(2, 2.0, radius=1.0, ties=ties), 4)
        for ties in ("keep", "thin")
    ),
    (rows_of(ldp.LinfBall(3, 1.0)), ldp.LinfBall(3, 1.0), 2),
    (SUBSETS, subset_selection(4, 2, 5), 3),
    (HADAMARD, hadamard(3, 5), 4),
    (Mixtures().rows(), Mixtures.mechanism, 4),
    (rows_of(ldp.Window(0.0, 1.0, 2.0)), ldp.Window(0.0, 1.0, 2.0), 2),
]


@pytest.mark.claim("`shuffled` never states less than the loss of the shuffled reports.", "Composition and audits")
@pytest.mark.long
@pytest.mark.parametrize("rows, channel, n", CASES)
def test_the_bound_is_not_below_the_exact_divergence(rows, channel, n):
    """For all pairs of records and all values of the other people."""
    epsilon = channel.epsilon if isinstance(channel, TwoLevel) else channel.epsilon_realized
    at = np.array([0.0, 0.05, 0.2, 0.4, 0.7, 0.9, 0.99]) * epsilon
    bound, weaker = shuffled_delta(channel, n, at), shuffled_delta(epsilon, n, at)
    worst = np.zeros(len(at))
    for own, other in itertools.combinations(rows, 2):
        for common in itertools.combinations_with_replacement(rows, n - 1):
            worst = np.maximum(worst, shuffled_channel(own, other, common).delta(at))
    assert (worst <= bound).all()
    assert (worst <= weaker).all()
    assert (bound <= weaker * (1 + 1e-7)).all()
    assert bound[0] < 3 * worst[0]


def test_the_bound_for_two_answers_is_within_a_factor_of_two():
    """The other person says no."""
    mechanism = ldp.Warner(1.0)
    no, yes = rows_of(mechanism)
    exact = shuffled_channel(no, yes, [no]).delta(0.9)
    assert exact <= shuffled_delta(mechanism, 2, 0.9) <= 2 * exact


@pytest.mark.parametrize("k, epsilon, n, at, others", [(3, 1.5, 4, 1.05, (1, 1, 2)), (10, 1.0, 2, 0.7, (2,))])
def test_the_shorter_sum_is_no_bound_for_k_ary_response(k, epsilon, n, at, others):
    """It is below the exact divergence for some values of the other people, because the reports outside both sets reveal
    whether the person's own report is among them.
    """
    mechanism = ldp.RandomizedResponse(k, epsilon)
    rows = rows_of(mechanism)
    exact = shuffled_channel(rows[0], rows[1], [rows[x] for x in others]).delta(at)
    shorter = float(exact_delta(mechanism.two_level, n, at, hiding=1 - mechanism.two_level.common_rate))
    assert 1.2 * shorter < exact <= shuffled_delta(mechanism, n, at)


@pytest.mark.parametrize("n", [1, 2, 4, 6])
def test_the_shorter_sum_is_exact_for_three_categories_if_all_others_have_the_third(n):
    mechanism = ldp.RandomizedResponse(3, 1.5)
    rows = rows_of(mechanism)
    channel = shuffled_channel(rows[0], rows[1], [rows[2]] * (n - 1))
    for at in (0.0, 0.5, 1.2):
        shorter = exact_delta(mechanism.two_level, n, at, hiding=1 - mechanism.two_level.common_rate)
        assert float(shorter) == pytest.approx(channel.delta(at), rel=1e-12)
        assert channel.delta(at) <= shuffled_delta(mechanism, n, at)


# Parameters -----------------------------------------------------------------------------------------------------------


@each(
    "mechanism",
    [
        ldp.Warner(1.0),
        ldp.RandomizedResponse(2, 0.3),
        ldp.RandomizedResponse(5, 2.0),
        ldp.Bins([0.0, 1.0], 1.0),
        ldp.Residue(1.0, 0.0, 4, 1.0),
        ldp.SignBit(0.0, 1.0, 1.0),
        *(ldp.UnaryEncoding(k, 2.0, method=method) for k in (2, 5) for method in ("symmetric", "optimized")),
    ],
    ids=repr,
)
def test_parameters_follow_from_the_integers_of_the_channel(mechanism):
    rows = [[Fraction(w, sum(row)) for w in row] for row in rows_of(mechanism)]
    found = mechanism.two_level
    assert found.odds == max(max(p) / min(p) for p in zip(*rows, strict=True))
    assert found.epsilon == mechanism.epsilon_realized
    affected, common = [], []
    for own, other in itertools.combinations(rows, 2):
        differ = [y for y in range(len(own)) if own[y] != other[y]]
        assert {max(own[y], other[y]) / min(own[y], other[y]) for y in differ} == {found.odds}
        affected.append(sum(own[y] for y in differ))
        # what every record has in common on each side
        common.append(2 * sum(min(row[y] for row in rows) for y in differ if own[y] > other[y]))
    assert found.affected == max(affected)
    assert found.common_rate == max(common) == min(common)


def test_parameters_of_vectors_are_those_of_their_sign():
    for mechanism in (
        ldp.L2Ball(7, 1.0),
        ldp.LinfBall(4, 1.0),
        ldp.LinfBall(3, 1.0),
        ldp.LinfBall(3, 1.0, radius=1.0, ties="thin"),
    ):
        assert mechanism.two_level == TwoLevel.binary(mechanism.two_level.odds) == ldp.Warner(1.0).two_level
        assert mechanism.two_level.epsilon == mechanism.epsilon_realized
    thin = ldp.LinfBall(2, 1.0, radius=1.0, ties="thin")  # S(x) is one of four vertices
    assert thin.two_level == TwoLevel.of_sets(thin.two_level.odds, 1, 4, 1)
    assert ldp.LinfBall(10_000, 1.0, radius=1.0, ties="thin").two_level is None
    assert Gradient("logistic", (0.5,), 1.0).two_level == ldp.L2Ball(1, 1.0).two_level
    assert Gradient("logistic", (0.5,), 1.0, noise="laplace").two_level is None


@pytest.mark.long
def test_kinds_and_rows_of_finite_channels():
    """Windows with a bit, trees and tables: their rows are mixtures of rows with two levels and the same odds."""
    forced = ldp.FiniteChannel([[9, 1, 1, 1], [1, 9, 1, 1], [1, 1, 9, 1]])
    assert forced.two_level == TwoLevel.of_sets(9, 1, 4, 1)
    assert ldp.FiniteChannel([[3, 1], [1, 3]]).two_level == TwoLevel.binary(3)
    assert ldp.FiniteChannel([[30, 6], [3, 33]]).two_level is None  # two quotients
    assert ldp.FiniteChannel([[4, 2, 1], [1, 4, 2], [2, 1, 4]]).two_level is None  # three values
    for mechanism in (
        ldp.Window(0.0, 1.0, 1.0),
        ldp.Window(0.0, 1.0, 4.0),
        TreeResponse(9, 1.0, branching=3),
        TreeResponse(8, 1.5, branching=2, method="haar"),
        TreeResponse(30, 0.4),
    ):
        found, rows = mechanism.two_level, rows_of_fractions(mechanism)
        assert found.epsilon == mechanism.epsilon_realized
        for own, other in itertools.permutations(rows, 2):
            # the rows of the pair are not further apart than those of the channel with these parameters
            for share in (0.0, 0.3, 0.8):
                power = Fraction(math.exp(share * found.epsilon))
                exact = sum(max(Fraction(0), p - power * q) for p, q in zip(own, other, strict=True))
                assert exact <= found.affected * max(0, found.odds - power) / (found.odds + 1) * (
                    1 + Fraction(1, 10**9)
                )
        # the common part of all rows holds the fair part of each pair
        common = sum(min(column) for column in zip(*rows, strict=True))
        assert found.common_rate <= common
    assert shuffled(ldp.Window(0.0, 1.0, 4.0), 10_000, 1e-8).epsilon == pytest.approx(0.505, abs=1e-3)
    assert shuffled(TreeResponse(64, 2.0), 10_000, 1e-8).epsilon < 0.115


def rows_of_fractions(mechanism):
    return [[Fraction(w) / sum(map(Fraction, row)) for w in row] for row in recipe_of(mechanism).law.rows()]


def test_the_rate_of_hiding_follows_from_the_sets():
    assert TwoLevel.of_sets(3, 1, 10, 1).hiding_rate == Fraction(2, 3)
    assert TwoLevel.of_sets(3, 2, 4, 1).hiding_rate == Fraction(1, 6)
    assert TwoLevel(Fraction(1, 4), Fraction(1, 2), 3).hiding_rate == Fraction(1, 6)
    assert TwoLevel.binary(3).hiding_rate == 0
    found = TwoLevel(Fraction(1, 4), Fraction(1, 2), 3, Fraction(1, 3))
    assert eval(repr(found)) == found


@pytest.mark.long
@each("mechanism", MECHANISMS, ids=repr)
def test_every_mechanism_can_be_shuffled(mechanism):
    found, weaker = shuffled(mechanism, 1000, 1e-6), shuffled(mechanism.guarantee, 1000, 1e-6)
    assert (found.definition, found.delta, found.ideal) == ("approximate", 1e-6, mechanism.guarantee.ideal)
    # Each is an upper bound by itself, with an excess below 0.1 %.
    assert found.epsilon <= 1.001 * weaker.epsilon
    assert weaker.epsilon <= mechanism.epsilon_realized
    assert mechanism.report_laws is not None or found == weaker


def blanket_delta(odds, size, difference, n, epsilon):
    """Return the divergence if the server is told which of the others' reports are not drawn from the base distribution.

    It is the mean of the positive part of an average of independent variables f_x - e^epsilon f_x', with the densities f_x and
    f_x' of a report from the base distribution.
    """
    power, scale = math.exp(epsilon), 1 + (odds - 1) * size
    values = np.array([odds - power, 1 - power * odds, odds * (1 - power), 1 - power]) / scale
    probability = (difference, difference, size - difference, 1 - size - difference)
    total = 0.0
    for m in range(1, n + 1):
        for counts in itertools.product(range(m + 1), repeat=4):
            if sum(counts) == m:
                p = stats.multinomial.pmf(counts, m, probability) * stats.binom.pmf(m - 1, n - 1, 1 / scale)
                total += p * max(0.0, float(np.dot(counts, values))) / m
    return total


@each("odds, size", [(2.0, 0.5), (20.0, 0.5), (3.0, 0.2), (10.0, 0.8), (5.0, 0.01)])
@each("share", [0.0, 0.4, 0.9])
def test_the_largest_difference_of_the_sets_is_the_worst(odds, size, share):
    """Also below the result: all differences of sets of this size, which the parameters of the largest one cover."""
    n, largest, epsilon = 4, min(size, 1 - size), share * math.log(odds)
    found = [blanket_delta(odds, size, part * largest, n, epsilon) for part in (0.05, 0.3, 0.7, 1.0)]
    assert all(a <= b * (1 + 1e-12) for a, b in itertools.pairwise(found))
    bound = shuffled_delta(TwoLevel.of_sets(odds, size, 1, largest), n, epsilon)
    assert found[-1] <= bound
    if size <= 0.5:  # disjoint sets
        assert bound <= found[-1] * (1 + 1e-6)


@given(st.floats(1e-6, 40), st.floats(0.01, 0.99), st.floats(0.01, 1), st.sampled_from([2, 5, 100]))
def test_parameters_are_never_worse_than_those_of_all_channels(epsilon, size, share, n):
    odds = Fraction(math.exp(epsilon))
    channel = TwoLevel.of_sets(odds, size, 1, share * min(size, 1 - size))
    at = epsilon * np.array([0.0, 0.1, 0.5, 0.9])
    weaker = shuffled_delta(TwoLevel.binary(odds), n, at)
    assert (shuffled_delta(channel, n, at) <= weaker * (1 + 1e-3) + 1e-240).all()


# Sums --------------------------------------------------------------------------------------------------------------------


def exact_delta(channel, n, epsilon, hiding=None):
    """Return the hockey-stick divergence of the numbers of reports on both sides and outside, in fractions."""
    rate, s, w = channel.common_rate, channel.affected, channel.odds / (channel.odds + 1)
    hiding = channel.hiding_rate if hiding is None else hiding
    power, total = power_down(epsilon), Fraction(0)

    def mass(t, r):
        rest = n - 1 - t - r
        if min(t, r, rest) < 0:
            return Fraction(0)
        ways = math.comb(n - 1, t) * math.comb(n - 1 - t, r)
        return ways * rate**t * hiding**r * (1 - rate - hiding) ** rest

    for t, r in itertools.product(range(1, n + 1), range(n + 1)):
        inside, outside = s * mass(t - 1, r), (1 - s) * mass(t, r - 1)
        if inside + outside == 0:
            continue
        for j in range(t + 1):
            right = Fraction(math.comb(t - 1, j - 1) if j else 0, 2 ** (t - 1)) * inside
            wrong = Fraction(math.comb(t - 1, j), 2 ** (t - 1)) * inside
            none = Fraction(math.comb(t, j), 2**t) * outside
            p, q = w * right + (1 - w) * wrong + none, (1 - w) * right + w * wrong + none
            total += max(p - power * q, 0)
    return total


@pytest.mark.long
@each("epsilon", [1e-9, 0.01, 1.0, 6.0, 25.0, 44.0])
@each("n", [1, 2, 3, 12])
def test_deltas_equal_exact_sums_and_are_rounded_up(epsilon, n):
    coin = ldp.Warner(epsilon).two_level
    for channel in (
        coin,
        TwoLevel.arbitrary(epsilon),
        TwoLevel.of_sets(coin.odds, 1, 50, 1),
        TwoLevel.of_sets(coin.odds, 1, 10**9, 1),
        ldp.UnaryEncoding(9, epsilon, method="optimized").two_level,
        hadamard(5, coin.odds),
    ):
        for share in (0.0, 0.3, 0.9):
            exact = exact_delta(channel, n, share * epsilon)
            found = Fraction(ShuffledCounts.of(channel, n).delta(share * epsilon))
            assert exact <= found <= exact * (1 + Fraction(1, 10**5)) + Fraction(2e-250)
            disjoint = channel.shared_rates[0] == 0
            smaller = Fraction(shuffled_delta(channel, n, share * epsilon))
            assert (exact if disjoint else 0) <= smaller <= found * (1 + Fraction(1, 1000))


def shorter_delta(channel, n, epsilon):
    """Return the sum over all T within 9 standard deviations, each with the threshold a_T, without the reports outside."""
    rate, s = float(channel.common_rate), float(channel.affected)
    w, power = float(channel.odds / (channel.odds + 1)), math.exp(epsilon)
    reach = 9 * math.sqrt((n - 1) * rate * (1 - rate))
    t = np.arange(max(1, math.floor((n - 1) * rate - reach)), min(n, math.ceil((n - 1) * rate + reach)) + 1.0)
    u = (1 - s) / (2 * s) * (n - t) * rate / (1 - rate)
    a = np.ceil((t * (power * w - 1 + w) + u * (power - 1)) / ((2 * w - 1) * (1 + power)))
    before, at = (stats.binom.pmf(k, n - 1, rate) for k in (t - 1, t))

    def tail(count, least):
        return stats.binom.sf(least - 1, count, 0.5)

    own = (w - power * (1 - w)) * tail(t - 1, a - 1) + ((1 - w) - power * w) * tail(t - 1, a)
    return float(np.sum(np.maximum(s * before * own + (1 - s) * at * (1 - power) * tail(t, a), 0)))


@pytest.mark.long
@pytest.mark.parametrize("n, increase", [(1_000, 1e-6), (10_000, 1e-6), (1_000_000, 3e-3), (100_000_000, 3e-4)])
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_deltas_of_many_people_agree_with_the_shorter_sum(n, increase, epsilon):
    """For channels without reports outside both sets. Intervals of T increase the result a little."""
    for channel in (TwoLevel.arbitrary(epsilon), ldp.Warner(epsilon).two_level):
        at = shuffled(channel, n, 1e-6).epsilon
        expected = shorter_delta(channel, n, at)
        assert expected * (1 - 1e-7) <= shuffled_delta(channel, n, at) <= expected * (1 + increase)


def numbers_delta(channel, n, epsilon):
    """Return the divergence of the numbers of reports on both sides and outside, without intervals and without tails."""
    rate, s, hiding = float(channel.common_rate), float(channel.affected), float(channel.hiding_rate)
    others, miss, power = n - 1, float(1 / (channel.odds + 1)), math.exp(epsilon)
    reach, total = 8 * math.sqrt(others * rate), 0.0
    for t in range(max(1, int(others * rate - reach)), min(n, int(others * rate + reach)) + 1):
        share = hiding / (1 - rate)
        width, middle = 8 * math.sqrt(n * share * (1 - share)) + 20, (n - t) * share
        r = np.arange(max(0, int(middle - width)), min(n - t + 1, int(middle + width)) + 1.0)
        inside = s * stats.binom.pmf(t - 1, others, rate) * stats.binom.pmf(r, n - t, share)
        outside = (
            (1 - s) * stats.binom.pmf(t, others, rate) * (stats.binom.pmf(r - 1, n - t - 1, share) if t < n else 0)
        )
        both = inside + outside
        some = both > 0
        wrong = (miss * inside[some] + outside[some] / 2) / both[some]
        gap = 1 / (1 + power) - wrong
        c = np.floor(t * np.maximum(gap, 0) / (1 - 2 * wrong))
        value = (1 + power) * gap * stats.binom.pmf(c, t - 1, 0.5) - (power - 1) * stats.binom.cdf(c - 1, t - 1, 0.5)
        total += float(both[some] @ np.where(gap > 0, value, 0))
    return total


@pytest.mark.long
@pytest.mark.parametrize("n, increase", [(300, 1e-5), (2_000, 0.05), (15_000, 0.05)])
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_deltas_with_intervals_of_two_numbers_are_a_little_larger(n, increase, epsilon):
    for channel in (
        ldp.RandomizedResponse(20, epsilon).two_level,
        ldp.UnaryEncoding(9, epsilon).two_level,
        hadamard(100, math.exp(epsilon)),
    ):
        at = shuffled(channel, n, 1e-6).epsilon
        expected = numbers_delta(channel, n, at)
        assert expected * (1 - 1e-7) <= ShuffledCounts.of(channel, n).delta(at) <= expected * (1 + increase)


# Errors of the arithmetic ---------------------------------------------------------------------------------------------


@each("n", [0, 1, 2, 15, 16, 17, 40, 300])
@each("p", [0.5, 1e-9, 0.3, 1 - 2**-40])
def test_binomial_probabilities_equal_fractions(n, p):
    k = np.arange(n + 1.0)
    exact = [math.comb(n, j) * Fraction(p) ** j * (1 - Fraction(p)) ** (n - j) for j in range(n + 1)]
    for found, expected in zip(binomial(k, np.float64(n), p), exact, strict=True):
        if expected > Fraction(1e-290):
            assert float(Fraction(float(found)) / expected) == pytest.approx(1, abs=1e-11)


@pytest.mark.long
@each("n", [10**3, 10**5, 10**7, 10**9, 10**10])
@each("deviations", [0.0, 1.0, 5.0, 9.0, 25.0])
def test_errors_of_binomials_are_a_tenth_of_their_allowance(n, deviations):
    """The sum of the probabilities of fewer than c successes, against products of the ratios of successive ones."""
    c = math.floor(n / 2 - deviations * math.sqrt(n) / 2)
    if n == 10**3:
        exact = float(Fraction(math.comb(n, c), 2**n))
        assert float(binomial(np.float64(c), np.float64(n), 0.5)) == pytest.approx(exact, rel=ERROR / 10)
    below = np.arange(c - 1.0, max(c - 45 * math.isqrt(n) - 50, 0), -1)
    sum_of_ratios = math.fsum(np.cumprod(np.append(1.0, below / (n - below + 1))))
    probability = float(binomial(np.float64(c - 1), np.float64(n), 0.5))
    assert special.betainc(n - c + 1.0, float(c), 0.5) == pytest.approx(probability * sum_of_ratios, rel=ERROR / 10)


@pytest.mark.long
@each("epsilon", [1e-9, 1.0, 8.0, 40.0])
@each("n", [1, 2, 50, 10_000, 10**6, 10**10])
def test_all_counts_are_in_a_cell(epsilon, n):
    odds = Fraction(math.exp(epsilon))
    for channel in (TwoLevel.arbitrary(epsilon), TwoLevel.of_sets(odds, 1, 50, 1), hadamard(5, odds)):
        counts = ShuffledCounts.of(channel, n)
        none = float(1 - channel.affected) * math.exp((n - 1) * math.log1p(-float(channel.common_rate)))
        assert math.fsum(counts.mass) == pytest.approx(1 - none, rel=1e-8)
        assert (counts.wrong >= float(1 / (channel.odds + 1)) * (1 - 1e-12)).all()
        assert (counts.wrong <= 0.5).all()


# Properties -----------------------------------------------------------------------------------------------------------

CHANNELS = [
    0.3,
    3.0,
    ldp.Warner(1.0),
    ldp.RandomizedResponse(20, 3.0),
    ldp.UnaryEncoding(5, 2.0),
    ldp.UnaryEncoding(5, 6.0, method="optimized"),
]


@pytest.mark.long
@pytest.mark.parametrize("channel", CHANNELS, ids=repr)
def test_more_people_are_more_private(channel):
    found = [shuffled(channel, n, 1e-8).epsilon for n in (1, 2, 5, 30, 1000, 30_000, 10**6, 10**8)]
    assert all(b <= a * (1 + 1e-3) for a, b in itertools.pairwise(found))
    assert found[-1] < found[0] / 50


def test_more_than_the_most_people_have_the_privacy_of_the_most():
    assert shuffled(ldp.Warner(6.0), 10**12, 1e-8) == shuffled(ldp.Warner(6.0), 10**10, 1e-8)
    assert shuffled(ldp.Warner(6.0), 10**10, 1e-8).epsilon < shuffled(ldp.Warner(6.0), 10**9, 1e-8).epsilon


@pytest.mark.long
@given(
    st.floats(1e-6, 40),
    st.integers(1, 10**6),
    st.floats(-240, -0.01),
    st.sampled_from(["any", "binary", "k-ary", "unary"]),
)
def test_inverses(epsilon, n, exponent, kind):
    delta, odds = 10.0**exponent, math.exp(epsilon)
    channel = {
        "any": lambda: epsilon,
        "binary": lambda: TwoLevel.binary(odds),
        "k-ary": lambda: TwoLevel.of_sets(odds, 1, 30, 1),
        "unary": lambda: ldp.UnaryEncoding(5, epsilon).two_level,
    }[kind]()
    most = channel if kind == "any" else channel.epsilon
    found = shuffled(channel, n, delta)
    assert found.epsilon <= most
    assert shuffled_delta(channel, n, found.epsilon) <= delta
    smaller = found.epsilon * (1 - 1e-6)
    assert found.epsilon in (0.0, most) or shuffled_delta(channel, n, smaller) > delta


@pytest.mark.parametrize("channel", CHANNELS[2:], ids=repr)
def test_one_person_has_the_curve_of_a_single_report(channel):
    at = channel.epsilon_realized * np.array([0.0, 0.3, 0.9])
    expected = channel.channel().delta(at)
    found = shuffled_delta(channel, 1, at)
    assert (found >= expected).all()
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert shuffled_delta(channel, 1, channel.epsilon_realized) == 0
    assert shuffled(channel, 1, 0.0).epsilon == channel.epsilon_realized
    assert shuffled(channel, 1, 1e-8).epsilon == pytest.approx(channel.epsilon_realized, rel=1e-6)


@each("epsilon", [0.1, 1.0, 3.0])
@each("n", [10_000, 10**6, 10**8])
def test_the_closed_form_is_larger(epsilon, n):
    """Feldman, McMillan and Talwar (2021), for all channels with epsilon at most ln(n / (16 ln(2 / delta)))."""
    delta = 1e-8
    assert epsilon <= math.log(n / (16 * math.log(2 / delta)))
    odds = math.exp(epsilon)
    term = 8 * math.sqrt(odds * math.log(4 / delta) / n) + 8 * odds / n
    assert shuffled(epsilon, n, delta).epsilon < math.log1p(math.tanh(epsilon / 2) * term)


@pytest.mark.claim(
    "The rate of shuffling that an erratum corrected is not used for all channels.", "Composition and audits"
)
def test_the_rate_of_the_corrected_paper_is_refused_for_all_channels():
    """As a decomposition of rows it fails; the divergence of all people by one channel has the bound of randomized response.

    A pair of rows whose common part with a third row, of the same epsilon, is below 2 / (E + 1).
    """
    odds = 4
    rows = [[4, 1, 1], [1, 4, 1], [1, 1, 4]]  # one column is the same for the pair
    common = sum(min(column) for column in zip(*rows, strict=True)) / 6
    assert 1 / odds <= common
    assert min(sum(map(min, rows[0], rows[1])), 6) / 6 < 1
    found = TwoLevel.arbitrary(2.0)
    assert found == TwoLevel.binary(found.odds)
    assert shuffled(2.0, 1000, 1e-6).epsilon == shuffled(found, 1000, 1e-6).epsilon


def test_nothing_to_hide_and_no_privacy():
    assert shuffled(Guarantee("local", 0.0), 5, 0.0).epsilon == 0
    assert shuffled_delta(Guarantee("local", 0.0), 5, 0.0) == 0
    assert shuffled(590.0, 10, 1e-9).epsilon <= 590
    assert shuffled(1e-300, 10, 0.0).epsilon <= 1e-300
    assert shuffled(1.0, 10**6, 0.0).epsilon == 1
    assert shuffled_delta(30.0, 100, [[0.0, 30.0]]).shape == (1, 2)
    assert 1 - 1e-9 < shuffled_delta(30.0, 100, 0.0) <= 1


@dataclass(frozen=True)
class Ideal:
    """A mechanism of real numbers."""

    two_level = TwoLevel.binary(Fraction(math.exp(2.0)))
    report_laws = (ReportLaw.of_two_level(two_level),)
    guarantee = Guarantee("local", 2.0, ideal=True)


def test_ideal_guarantees_stay_ideal():
    assert shuffled(Ideal(), 1000, 1e-6).ideal
    assert shuffled(Ideal(), 1000, 1e-6).epsilon == shuffled(Ideal.two_level, 1000, 1e-6).epsilon
    assert shuffled(Ideal.guarantee, 1000, 1e-6) == Guarantee(
        "approximate", shuffled(2.0, 1000, 1e-6).epsilon, 1e-6, ideal=True
    )


def test_rounds_can_be_composed():
    one = shuffled(ldp.RandomizedResponse(10, 1.0), 100_000, 1e-9)
    both = privacy.compose(one, one)
    assert both == Guarantee("approximate", 2 * one.epsilon, 2e-9)
    mixed = privacy.compose(one, Guarantee("local", 0.5))
    assert (mixed.definition, mixed.delta) == ("approximate", 1e-9)
    many = privacy.composition_epsilon([one.epsilon] * 100, 1e-6, deltas=one.delta)
    assert many < 0.8 * privacy.compose(*[one] * 100).epsilon


# Bad input ------------------------------------------------------------------------------------------------------------

WARNER = ldp.Warner(1.0)


@each(
    "call, kind, message",
    [
        (lambda: shuffled(0.0, 10, 1e-6), ValueError, "mechanism_or_epsilon must be a finite number > 0, got 0.0"),
        (lambda: shuffled("krr", 10, 1e-6), TypeError, "mechanism_or_epsilon must be a number, got str"),
        (
            lambda: shuffled(Guarantee("pure", 1.0), 10, 1e-6),
            ValueError,
            "mechanism_or_epsilon must be a 'local' guarantee, got 'pure'",
        ),
        (lambda: shuffled(700.0, 10, 1e-6), ValueError, "epsilon must be in [0, 598], got 700.0"),
        (lambda: shuffled(WARNER, 0, 1e-6), ValueError, "n must be an integer >= 1, got 0"),
        (lambda: shuffled(WARNER, 1e3, 1e-6), TypeError, "n must be an integer, got float"),
        (lambda: shuffled(WARNER, 10, 1.0), ValueError, "delta must be in [0, 1), got 1.0"),
        (lambda: shuffled(WARNER, 10, -1e-9), ValueError, "delta must be in [0, 1), got -1e-09"),
        (lambda: shuffled_delta(WARNER, 10, -1.0), ValueError, "epsilon must be in [0, inf), got -1.0"),
        (lambda: shuffled_delta(WARNER, True, 1.0), TypeError, "n must be an integer, got bool"),
        (lambda: TwoLevel(0, 1, 2), ValueError, "common_rate must be in (0, 1], got 0"),
        (lambda: TwoLevel(0.5, 1.5, 2), ValueError, "affected must be in (0, 1], got 1.5"),
        (lambda: TwoLevel(0.5, 1, 0.5), ValueError, "odds must be in [1, 1e260], got 0.5"),
        (lambda: TwoLevel(0.7, 1, 2), ValueError, "common_rate must be at most 2 affected / (odds + 1), got 0.7"),
        (lambda: TwoLevel(math.nan, 1, 2), ValueError, "common_rate must be a finite number, got nan"),
        (lambda: TwoLevel(0.5, 1, True), TypeError, "odds must be an integer, got bool"),
        (
            lambda: TwoLevel(0.25, 0.5, 3, 0.6),
            ValueError,
            "hiding_rate must be in [0, 1 - affected], got 0.6",
        ),
        (lambda: TwoLevel.of_sets(3, 4, 4, 1), ValueError, "size must be in (0, outputs) with outputs=4, got 4"),
        (
            lambda: TwoLevel.of_sets(3, 1, 4, 2),
            ValueError,
            "difference must be > 0 and at most size and outputs - size, got 2",
        ),
        (lambda: TwoLevel.of_sets(0.9, 1, 4, 1), ValueError, "odds must be in [1, 1e260], got 0.9"),
        (lambda: TwoLevel.arbitrary(-1.0), ValueError, "epsilon must be in [0, 598], got -1.0"),
    ],
)
def test_bad_values(call, kind, message):
    with raises(kind, message):
        call()
