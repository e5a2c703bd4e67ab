"""Subset selection: the kernel against the reference, the exact channel, and the choice of the size."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpfast as ldp

from ..support import set_responses as reference
from ..support.cases import each
from ..support.internals.kernels import privatize, stream
from ..support.internals.mechanisms import best_mechanism, subset_selection
from ..support.internals.shared import coin_integers
from ..support.keys import FIXED_KEY, KEY, SEED, STATISTICS_SEED
from ..support.reference import Words
from ..support.statistics import ALPHA, assert_counts

# Reports --------------------------------------------------------------------------------------------------------------


def members(reports, k):
    """Return the sets of packed reports."""
    return [set(np.flatnonzero(row).tolist()) for row in np.unpackbits(reports, axis=1, count=k, bitorder="little")]


@each(
    "k, size, n",
    [
        (2, 1, 1025),
        (3, 1, 1023),
        (3, 2, 64),
        (8, None, 2),
        (9, 8, 65),
        (63, None, 8),
        (64, None, 1),
        (64, 63, 9),
        (65, None, 65),
        (66, 40, 64),
        (128, None, 513),
        (129, 100, 7),
        (256, 1, 257),
        (257, 2, 205),
        (1000, None, 65),
        (4097, 3000, 16),
        (65_535, None, 2),
        (65_536, 5, 3),
    ],
)
def test_reports_equal_the_reference(isa, k, size, n):
    mechanism = ldp.SubsetSelection(k, 1.0, size=size)
    x = np.random.default_rng(n).integers(0, k, n).astype(np.min_scalar_type(k - 1))
    x[0], x[-1] = 0, k - 1
    rows, expected = 1024 // -(-k // 64), []
    for block in range(-(-n // rows)):
        part = x[rows * block : rows * (block + 1)]
        expected += reference.subset_reports(
            mechanism, subset_selection.first_density(k - 1, mechanism.size), KEY, block, part
        )
    reports = mechanism.privatize(x, rng=SEED)
    assert members(reports, k) == expected
    assert mechanism.report.invalidity(reports) is None


def test_indices_of_the_incomplete_interval_are_rejected(isa):
    """In these two record blocks, one of the first indices below n = 65175 is rejected: 2^32 mod n is nearly n."""
    k, n = 65_176, 65_175
    mechanism, x = ldp.SubsetSelection(k, 1.0, size=700), np.arange(54, dtype=np.uint16)
    reports, density = mechanism.privatize(x, rng=SEED), subset_selection.first_density(n, 700)
    assert density == 0  # so about 700 indices are drawn
    for block, place in ((49, 12), (53, 318)):
        halves = Words(KEY, "SUBSET_INDICES", block).take(400, "<u4").astype(np.uint64)
        assert (halves[place] * np.uint64(n)) % (1 << 32) < (1 << 32) % n
        expected = reference.subset_reports(mechanism, density, KEY, block, x[block : block + 1])
        assert members(reports[block : block + 1], k) == expected


@each("density", [0, 1, 2, 32, 40, 63])
def test_the_first_draw_may_have_any_density(isa, density):
    """The size is right, even if all bits of the first draw are wrong."""
    mechanism, x = ldp.SubsetSelection(70, 1.0, size=20), np.arange(70, dtype=np.uint8)
    out = np.empty((70, 9), np.uint8)
    kernel = privatize.SubsetSelection(70, 20, mechanism._coin.heads, density)
    kernel.privatize(stream.Stream(FIXED_KEY), 0, x, out)
    assert members(out, 70) == reference.subset_reports(mechanism, density, FIXED_KEY, 0, x)


@each("k, size", [(2, 1), (9, 3), (70, 20)])
def test_the_set_holds_the_category_exactly_below_the_threshold(isa, k, size):
    """The first word of a block is a coin. heads = word gives other categories, heads = word + 1 the person's own."""
    word = Words(FIXED_KEY, "SUBSET_COINS", 0).word()
    for x in range(k):
        for heads, own in ((word, False), (word + 1, True)):
            out = np.empty((1, -(-k // 8)), np.uint8)
            kernel = privatize.SubsetSelection(k, size, heads, 10)
            kernel.privatize(stream.Stream(FIXED_KEY), 0, np.array([x], np.uint8), out)
            assert (x in members(out, k)[0]) == own
            assert len(members(out, k)[0]) == size


def test_sets_of_all_categories_but_one():
    """The largest size, and the only one for two categories."""
    for k in (2, 3, 64, 65, 300):
        mechanism = ldp.SubsetSelection(k, 1.0, size=k - 1)
        reports = mechanism.privatize(np.arange(k), rng=SEED)
        assert set(np.bitwise_count(reports).sum(axis=1).tolist()) == {k - 1}
    assert ldp.SubsetSelection(2, 1.0).size == 1


@pytest.mark.long
@pytest.mark.parametrize("density", [0, 13, 32, 63])
@pytest.mark.parametrize("others, size", [(1, 1), (3, 1), (4, 2), (5, 3), (5, 5)])
def test_the_set_of_others_is_uniform(others, size, density):
    """The exact distribution of the twin: independent bits, then uniform members are added or removed until the size is right.

    The sets of the kernel have its frequencies: detects an error of a probability of 0.035.
    """
    law = {}
    for count in range(others + 1):
        for drawn in combinations(range(others), count):
            law[frozenset(drawn)] = Fraction(density, 64) ** count * Fraction(64 - density, 64) ** (others - count)
    while any(len(drawn) != size for drawn in law):
        after = Counter()
        for drawn, weight in law.items():
            if len(drawn) == size:
                after[drawn] += weight
                continue
            # Indices that change nothing are drawn again, so those that change something are uniform.
            changing = [i for i in range(others) if (i in drawn) == (len(drawn) > size)]
            for i in changing:
                step = reference.adjusted(set(drawn), len(drawn) + (1 if len(drawn) < size else -1), iter([i]))
                after[frozenset(step)] += weight / len(changing)
        law = after
    assert sum(law.values()) == 1
    assert set(law.values()) == ({Fraction(1, math.comb(others, size))})
    assert len(law) == math.comb(others, size)
    n, out = 20_000, np.empty((20_000, 1), np.uint8)
    kernel = privatize.SubsetSelection(others + 1, size, 0, density)  # heads never: a set of others
    kernel.privatize(stream.Stream(FIXED_KEY), 0, np.zeros(n, np.uint8), out)
    found = Counter(frozenset(member - 1 for member in row) for row in members(out, others + 1))
    assert found.keys() <= law.keys()
    assert_counts([found[drawn] for drawn in law], n, 1 / len(law), detects=0.035)


@pytest.mark.parametrize("k, size", [(2, 1), (3, 2), (5, 2), (6, 4)])
def test_all_draws_give_each_set_its_probability(k, size):
    """Every set of others and every rank: heads give the sets that hold the category, tails the others, uniformly."""
    for truth in range(k):
        for heads in (True, False):
            found = Counter()
            for others in combinations(range(k - 1), size):
                for rank in range(size):
                    found[frozenset(reference.subset_report(set(others), truth, heads, rank))] += 1
            expected = [set(report) for report in combinations(range(k), size) if (truth in report) == heads]
            assert set(found) == {frozenset(report) for report in expected}
            assert len(set(found.values())) == 1


# The exact channel ----------------------------------------------------------------------------------------------------


@each("epsilon", [1e-6, 0.1, 1.0, 4.0, 30.0, 43.0])
@each("k, size", [(2, None), (3, 2), (6, None), (8, 3)])
def test_the_guarantee_is_that_of_the_integers(k, size, epsilon):
    mechanism = ldp.SubsetSelection(k, epsilon, size=size)
    heads, s = mechanism._coin.heads, mechanism.size
    rows = mechanism._recipe.law.rows()
    assert {sum(row) for row in rows} == {(1 << 64) * math.comb(k - 1, s) * math.comb(k - 1, s - 1)}
    worst = Fraction(heads * (k - s), ((1 << 64) - heads) * s)
    assert max(Fraction(a[z], b[z]) for a in rows for b in rows for z in range(1 << k) if b[z]) == worst
    assert mechanism.channel().epsilon() == coin_integers.log_up(worst) == mechanism.epsilon_realized <= epsilon


@pytest.mark.parametrize("k, size, epsilon", [(2, 1, 0.1), (3, 2, 1.0), (5, 2, 3.0), (7, 3, 0.5)])
def test_decoded_reports_are_unbiased_with_the_stated_variance(k, size, epsilon):
    """Fractions, summed over all sets."""
    mechanism = ldp.SubsetSelection(k, epsilon, size=size)
    p = Fraction(mechanism._coin.heads, 1 << 64)
    q = (size - p) / (k - 1)
    line = mechanism.debiasing
    assert (line.zero, line.one) == (float(-q / (p - q)), float((1 - q) / (p - q)))
    codes = np.arange(1 << k)[:, np.newaxis] >> np.arange(k) & 1
    for x, row in enumerate(mechanism._recipe.law.rows()):
        mean = [Fraction(int(weight), sum(row)) for weight in codes.T.astype(object) @ np.array(row, dtype=object)]
        assert mean == [p if j == x else q for j in range(k)]
        variance = [float(m * (1 - m) / (p - q) ** 2) for m in mean]
        np.testing.assert_allclose(mechanism.variance(np.array([x]))[0], variance, rtol=1e-12)
        assert sum(variance) == pytest.approx(best_mechanism.total_variance(mechanism), rel=1e-12)


def test_sets_of_one_category_are_randomized_response():
    for k, epsilon in ((2, 0.5), (5, 2.0), (20, 4.0)):
        sets, response = ldp.SubsetSelection(k, epsilon, size=1), ldp.RandomizedResponse(k, epsilon)
        x = np.arange(k)
        np.testing.assert_allclose(sets.variance(x), response.variance(x), rtol=1e-6)
        if k < 10:
            matrix = sets.channel().matrix
            np.testing.assert_allclose(matrix[:, 1 << x], response.channel().matrix, rtol=1e-6)
            assert np.count_nonzero(matrix) == k * k


# The choice of the size -----------------------------------------------------------------------------------------------


def exact_total(k, size, epsilon):
    """Return the total variance, from the closed form of docs/proofs/subset_selection.md."""
    odds = Fraction(math.exp(epsilon))
    ratio = (size * odds + k - size) ** 2 / (size * (k - size) * (odds - 1) ** 2)
    return Fraction((k - 1) ** 2, k) * ratio - Fraction(k - 1, k)


@given(st.integers(2, 400), st.floats(0.01, 12.0))
def test_the_size_has_the_smallest_total_variance_of_all(k, epsilon):
    size = subset_selection.best_size(k, epsilon)
    best = min(exact_total(k, s, epsilon) for s in range(1, k))
    assert exact_total(k, size, epsilon) <= best * (1 + Fraction(1, 10**12))
    assert best_mechanism.total_variance(ldp.SubsetSelection(k, epsilon)) == pytest.approx(float(best), rel=1e-9)


@each("epsilon", [0.1, 0.5, 1.0, 2.0, 4.0, 6.0, 8.0, 20.0])
def test_one_category_is_best_for_few_categories(epsilon):
    """Exactly if (k - 1) (k - 2) <= 2 e^(2 epsilon)."""
    edge = math.floor(1.5 + math.sqrt(0.25 + 2 * math.exp(2 * epsilon)))
    for k in (edge - 1, edge, edge + 1, edge + 2):
        if 2 <= k < 10**9:
            assert (subset_selection.best_size(k, epsilon) == 1) == ((k - 1) * (k - 2) <= 2 * math.exp(2 * epsilon))


@given(st.integers(2, 1 << 16), st.floats(0.01, 40.0), st.data())
def test_the_total_variance_is_the_closed_form(k, epsilon, data):
    size = data.draw(st.integers(1, k - 1))
    try:
        mechanism = ldp.SubsetSelection(k, epsilon, size=size)
    except ValueError:  # the coin cannot certify this epsilon
        return
    # For large epsilon and k the variances are differences of nearly equal numbers.
    assert best_mechanism.total_variance(mechanism) == pytest.approx(
        float(exact_total(k, size, epsilon)), rel=1e-6, abs=1e-9
    )


# Sampling -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k, size", [(5, 2), (7, 4)])
def test_reports_follow_the_channel(k, size):
    """Detects errors of a cell above 0.9 percentage points, for the first and the last category."""
    mechanism, n = ldp.SubsetSelection(k, 1.0, size=size), 200_000
    for x in (0, k - 1):
        reports = mechanism.privatize(np.full(n, x), rng=STATISTICS_SEED)[:, 0]
        counts = np.bincount(reports, minlength=1 << k)
        assert_counts(counts, n, mechanism.channel().matrix[x], detects=0.009, alpha=ALPHA / 2)


@pytest.mark.parametrize("k, size", [(130, 40), (130, 129), (1000, 3)])
def test_all_other_categories_are_equally_frequent(k, size):
    """Detects errors of the probability of a category above 1.3 percentage points, in all words of a report."""
    mechanism, n, x = ldp.SubsetSelection(k, 1.0, size=size), 100_000, 64
    ones = mechanism.aggregator().update(mechanism.privatize(np.full(n, x), rng=STATISTICS_SEED)).counts
    p = mechanism._coin.heads / 2**64
    assert_counts(ones, n, np.where(np.arange(k) == x, p, (size - p) / (k - 1)), detects=0.013)


# Input ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, (1 << 16) + 1, 2.5, True])
def test_a_wrong_number_of_categories_is_refused(k):
    with pytest.raises((TypeError, ValueError), match=r"^k must be an integer"):
        ldp.SubsetSelection(k, 1.0)


@pytest.mark.parametrize("size", [0, 5, -1, 1.5])
def test_a_wrong_size_is_refused(size):
    with pytest.raises((TypeError, ValueError), match=r"^size must be an integer"):
        ldp.SubsetSelection(5, 1.0, size=size)


@each("epsilon", [5e-324, 1e-200, 1e-20, 50.0, 150.0, 1e300])
def test_an_epsilon_that_no_coin_certifies_is_refused(epsilon):
    with pytest.raises(ValueError, match="epsilon must be within what exact coins can certify"):
        ldp.SubsetSelection(10, epsilon)


@each("k, record", [(5, "u1"), (200, "u1"), (300, "u2")])
def test_the_report_of_an_invalid_record_is_that_of_the_last_category(isa, k, record):
    mechanism = ldp.SubsetSelection(k, 1.0)
    kernel, outputs = mechanism._recipe.kernel, []
    for value in (k - 1, k, np.iinfo(record).max):
        out = np.empty((200, -(-k // 8)), np.uint8)
        kernel.privatize(stream.Stream(FIXED_KEY), 0, np.full(200, value, record), out)
        outputs.append(out.tolist())
    assert outputs[0] == outputs[1] == outputs[2]


@pytest.mark.parametrize("k, dtype", [(5, "u1"), (300, "u2")])
def test_a_record_outside_of_the_domain_is_refused(k, dtype):
    mechanism, x = ldp.SubsetSelection(k, 1.0), np.zeros(2100, dtype)
    mechanism.privatize(x)
    for value in (k, np.iinfo(dtype).max):
        x[2060] = value
        with pytest.raises(ValueError, match=rf"^x must be integers in \[0, k\) with k={k}; index 2060 is outside"):
            mechanism.privatize(x)
