"""Designs of randomized response: tables, estimates, infinite epsilon, and mistakes."""

from __future__ import annotations

import json
import math
import time
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import ldpfast as ldp
from ldpfast import bounds, designs, estimation
from ldpfast.analysis import RandomizedLogit
from ldpfast.estimation import conditional_means, from_reports
from ldpfast.privacy import Channel, compose, group
from ldpfast.reports import aggregator_with
from ldpfast.results import DoubtfulWarning, SmallSampleWarning

from ..support.cases import each
from ..support.errors import raises
from ..support.statistics import assert_coverage

# Design, probabilities of the second answer for yes and no, and exp(epsilon).
CASES = {
    "warner": (designs.warner(0.7), "7/10", "3/10", Fraction(7, 3)),
    "warner below a half": (designs.warner("1/4"), "1/4", "3/4", 3),
    "forced": (designs.forced_response("1/6", "1/6"), "5/6", "1/6", 5),
    "forced, only yes": (designs.forced_response(0.2, 0), "1", "1/5", None),
    "unrelated": (designs.unrelated_question(0.5, 0.25), "5/8", "1/8", 5),
    "unrelated, none": (designs.unrelated_question(0.5, 0), "1/2", "0", None),
    "mangat": (designs.mangat(0.7), "1", "3/10", None),
    "kuk": (designs.kuk(0.8, 0.1), "4/5", "1/10", 8),
    "crosswise": (designs.crosswise(0.25), "1/4", "3/4", 3),
    "triangular": (designs.triangular(Fraction(1, 4)), "1", "1/4", None),
}
FINITE = [name for name, case in CASES.items() if case[3] is not None]
INFINITE = [name for name, case in CASES.items() if case[3] is None]


@each("name", CASES)
def test_tables_are_those_of_the_literature(name):
    design, p, q, ratio = CASES[name]
    assert design.probabilities == (Fraction(p), Fraction(q))
    table = design.table.columns
    assert [Fraction(value) for value in table[design.answers[1]]] == [Fraction(q), Fraction(p)]
    assert [Fraction(value) for value in table[design.answers[0]]] == [1 - Fraction(q), 1 - Fraction(p)]
    assert design.epsilon == pytest.approx(math.inf if ratio is None else math.log(ratio), rel=1e-15)
    assert design.guarantee.definition == "local"
    assert design.name in repr(design)


@pytest.mark.claim(
    "The prevalence of a questionnaire design is unbiased, with the variance that is planned.", "Estimates"
)
@pytest.mark.filterwarnings("ignore::ldpfast.DoubtfulWarning")
@each("name", CASES)
def test_prevalence_is_unbiased_with_the_variance_that_is_planned(name):
    """By enumeration of the counts of 30 people who are drawn at random."""
    design, p, q, _ = CASES[name]
    n, share = 30, 0.3
    seen = float(Fraction(q) + (Fraction(p) - Fraction(q)) * Fraction(share))
    hits = np.arange(n + 1)
    weights = binom.pmf(hits, n, seen)
    found = [design.prevalence([1] * k + [0] * (n - k)) for k in hits]
    values = np.array([estimate.value for estimate in found])
    assert weights @ values == pytest.approx(share, abs=1e-12)
    assert weights @ (values - share) ** 2 == pytest.approx(design.variance(share, n), rel=1e-9)
    errors = np.array([estimate.stderr for estimate in found])
    assert weights @ errors**2 == pytest.approx(design.variance(share, n), rel=0.1)
    inside = [low <= share <= high for low, high in (estimate.interval() for estimate in found)]
    assert 0.95 <= weights @ inside <= 0.99
    assert all(low <= value <= high for value, (low, high) in zip(values, (e.interval() for e in found), strict=True))


@each("name", CASES)
def test_prevalence_is_the_second_share_of_the_channel(name):
    design = CASES[name][0]
    counts = [620, 380]
    shares = from_reports(counts, design)
    alone = design.prevalence([0] * counts[0] + [1] * counts[1])
    assert shares.value[1] == pytest.approx(alone.value, rel=1e-12)
    assert shares.guarantee == alone.guarantee
    texts = [design.answers[0]] * counts[0] + [design.answers[1]] * counts[1]
    for reports in (texts, np.array(texts), pd.Series(texts), pd.Series(texts) == design.answers[1]):
        assert design.prevalence(reports) == alone


def test_floats_are_read_as_decimals():
    assert designs.warner(0.1).probabilities[0] == Fraction(1, 10) == designs.warner("0.1").probabilities[0]
    assert designs.warner(np.float64(0.3)).probabilities[0] == Fraction(3, 10)
    assert designs.warner(np.float32(0.7)).probabilities[0] == Fraction(7, 10)
    assert designs.unrelated_question(2 / 3, 90 / 365).probabilities[0] == Fraction(2, 3) + Fraction(1, 3) * Fraction(
        90, 365
    )
    assert from_reports([3, 7], [[0.9, 0.1], [0.3, 0.7]]) == from_reports([3, 7], [[9, 1], [3, 7]])


def nominal_epsilon(rows):
    """Return the epsilon of doubles as they are, from exact ratios."""
    columns = list(zip(*[[Fraction(float(entry)) for entry in row] for row in rows], strict=True))
    return max(math.log(max(column) / min(column)) for column in columns)


@pytest.mark.parametrize("k", [2, 3, 10, 40])
def test_k_ary_tables_of_floats_have_the_epsilon_of_their_formula(k):
    for epsilon, tolerance in ((1, 4e-15), (9, 1e-14), (20, 1e-9), (30, 1e-6)):
        p, q = math.exp(epsilon) / (math.exp(epsilon) + k - 1), 1 / (math.exp(epsilon) + k - 1)
        found = from_reports([100] * k, [[p if i == j else q for j in range(k)] for i in range(k)])
        assert epsilon <= found.epsilon <= epsilon + tolerance
        np.testing.assert_allclose(found.value, 1 / k, rtol=1e-9)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_rows_of_a_softmax_are_read_with_the_larger_epsilon(kind):
    for seed in range(40):
        x = 3 * np.random.default_rng(seed).normal(size=(3, 4))
        rows = (np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)).astype(kind)
        counts = np.rint(1e6 * rows.mean(axis=0)).astype(int)
        found = from_reports(counts, rows)
        assert 0 <= found.epsilon - nominal_epsilon(rows) < (1e-12 if kind is np.float64 else 1e-2)
        np.testing.assert_allclose(found.value, 1 / 3, atol=1e-3)
        if kind is np.float64:
            assert from_reports(counts, Channel(rows)) == found


def test_decimals_of_fifteen_digits_are_the_quotients_that_they_stand_for():
    thirds = [[0.666666666666667, 0.333333333333333], [0.166666666666667, 0.833333333333333]]
    assert from_reports([3, 7], thirds) == from_reports([3, 7], [[4, 2], [1, 5]])
    design = designs.unrelated_question(0.666666666666667, 0.0833333333333333)
    assert design.probabilities == (Fraction(25, 36), Fraction(1, 36))
    coprime = [[a, b, round(1 - a - b, 9)] for a, b in ((0.123456789, 0.2), (0.3, 0.246913571))]
    table = [*coprime, [1 / 7, 1 / 999983, 1 - 1 / 7 - 1 / 999983]]  # integers of more than 2^64
    assert from_reports([30, 30, 40], table).epsilon == pytest.approx(nominal_epsilon(table), rel=1e-12)
    assert designs.warner(0.12345678901234).probabilities[0] == Fraction(12345678901234, 10**14)  # no quotient


def test_designs_of_probabilities_with_many_digits_are_rounded_toward_a_larger_epsilon():
    design = designs.unrelated_question(0.6931471805599453, 0.3678794411714423)
    p, q = Fraction("0.6931471805599453"), Fraction("0.3678794411714423")
    exact = math.log((p + (1 - p) * q) / ((1 - p) * q)), math.log((1 - (1 - p) * q) / ((1 - p) * (1 - q)))
    assert max(exact) <= design.epsilon <= max(exact) + 1e-15
    assert float(design.probabilities[1]) == pytest.approx(float((1 - p) * q), rel=1e-15)
    assert designs.kuk(0.00012345678901234567, 0.5).epsilon == pytest.approx(math.log(0.5 / 0.00012345678901234567))
    rng = np.random.default_rng(1)
    for p1, p2 in rng.uniform(0.1, 0.9, (60, 2)):
        first, second = (rng.random(90) < share for share in (0.3, 0.5))
        found = designs.unrelated_question_two_samples(first, second, p=(p1, p2))
        assert math.isfinite(found.epsilon)


def test_rounded_tables_state_the_loss_that_their_digits_allow():
    """The entries of the first row were rounded to ten digits; the true ones can be half a unit away."""
    loose = from_reports([9, 9], [[0.9999999990, 0.0000000011], [0.5, 0.5]])
    assert loose.epsilon == pytest.approx(math.log(0.5 / (1.1e-9 - 0.5e-10)), abs=1e-9)


@each(
    "rows, message",
    [
        (np.full((969, 969), 1 / 969), "design must have at most 131072 entries, got 938961"),
        ([[0.5, 0.5]], "design must be at least 2 rows of the same length, which is at least 2"),
        ([[0.5, 0.5], [0.5]], "design must be at least 2 rows of the same length, which is at least 2"),
        ([[0.5, 0.4999], [0.25, 0.75]], "design must have rows that sum to 1, row 0 sums to 0.9999"),
        ([[0.5, 0.5], [-0.25, 1.25]], "design must have probabilities in [0, 1], got -0.25"),
        ([[0.5, math.nan], [0.25, 0.75]], "design must have probabilities in [0, 1], got nan"),
        (
            [[0.75, 0.25], [1.0, 1e-30]],
            "design must have probabilities that are 0 or at least 1e-18, got 1e-30",
        ),
    ],
)
def test_tables_that_are_none_are_refused_before_they_are_read(rows, message):
    start = time.process_time()
    with raises(ValueError, message):
        from_reports([1] * len(rows[0]), rows)
    assert time.process_time() - start < 1
    with raises(ValueError, "design must have probabilities in [0, 1], got 1.5"):
        from_reports([1, 1], np.array([[1.5, -0.5], [0.5, 0.5]]))
    with pytest.raises(TypeError, match="design must be a sequence of rows, got a row of type float"):
        from_reports([1, 1], [0.5, 0.5])
    with pytest.raises(TypeError, match="rows must hold integers or fractions, got bool"):
        from_reports([1, 1], [[1, 0], [True, False]])


# Weights and groups ---------------------------------------------------------------------------------------------------


def test_equal_weights_change_nothing_and_whole_weights_repeat_people():
    design, reports = designs.crosswise(0.2), np.array([0, 1, 1, 0, 1, 0, 0, 0] * 20)
    plain = design.prevalence(reports)
    same = design.prevalence(reports, weights=np.full(160, 2.5))
    assert same.value == pytest.approx(plain.value)
    assert same.stderr == pytest.approx(plain.stderr, rel=0.01)
    weights = np.arange(160) % 3
    assert design.prevalence(reports, weights=weights).value == pytest.approx(
        design.prevalence(np.repeat(reports, weights)).value
    )


def test_weighted_prevalence_covers():
    """People of one half of the population are asked three times as often."""
    design, rng, hits, runs = designs.forced_response(0.1, 0.1), np.random.default_rng(1), np.zeros(1, int), 1200
    for _ in range(runs):
        many = rng.random(800) < 0.75
        truth = rng.random(800) < np.where(many, 0.5, 0.2)
        seen = rng.random(800) < np.where(truth, 0.9, 0.1)
        low, high = design.prevalence(seen, weights=np.where(many, 1.0, 3.0)).interval()
        hits += low < 0.35 < high
    assert_coverage(hits, runs, 0.95, detects=0.89)


@pytest.mark.parametrize(
    "design", [designs.forced_response(0, 0.1), designs.unrelated_question(0.7, 0.05)], ids=lambda d: d.name
)
def test_weighted_intervals_of_rare_attributes_cover(design):
    rng, hits, runs, share = np.random.default_rng(2), np.zeros(1, int), 1200, 0.03
    p, q = map(float, design.probabilities)
    for _ in range(runs):
        seen = rng.random(60) < q + (p - q) * share
        estimate = design.prevalence(seen, weights=rng.uniform(0.5, 1.5, 60))
        low, high = estimate.interval()
        hits += low <= share <= high
        assert estimate.stderr > 0
        assert high > low
    assert_coverage(hits, runs, 0.95, detects=0.89)


@pytest.mark.long
def test_prevalences_of_clusters_cover():
    """Half of the villages have a share of 0.5, the others one of 0.1: without their names, intervals are too short."""
    design, rng, runs = designs.crosswise(0.1), np.random.default_rng(4), 1000
    villages, hits = np.repeat(np.arange(40), 25), np.zeros(2, int)
    for _ in range(runs):
        shares = rng.choice([0.5, 0.1], 40)[villages]
        codes = design.channel.privatize((rng.random(1000) < shares).astype(int), rng=rng)
        for place, clusters in enumerate((villages, None)):
            low, high = design.prevalence(codes, clusters=clusters).interval()
            hits[place] += low <= 0.3 <= high
    assert_coverage(hits[:1], runs, 0.95, detects=0.89)
    assert hits[1] < 0.8 * runs


@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
def test_clusters_and_weights_are_those_of_the_package_survey():
    """Digits of R 4.2.2, survey 4.1.1: svymean, and svyciprop(method = "beta") for 40 equal clusters."""
    direct, i = designs.forced_response(0, 0), np.arange(400)
    villages = i // 10
    reports = (i * 7 + 3 * villages) % 10 < 4 + 3 * (villages % 3 == 0) - 2 * (villages % 5 == 1)
    found = direct.prevalence(reports, clusters=villages)
    assert found.value == pytest.approx(0.465, rel=1e-12)
    for level, limits in ((0.95, (0.411716859458, 0.518882230596)), (0.99, (0.394485215155, 0.536523423755))):
        assert found.interval(level) == pytest.approx(limits, rel=1e-9)
    weights, j = 1.0 + np.arange(200) % 4, np.arange(200)
    unequal = np.r_[np.repeat(np.arange(10), 5), np.repeat(np.arange(10, 20), 15)]
    for seen, options, value, stderr in (
        (j * 11 % 9 < 4, {}, 0.454, 0.0386623575257),
        ((j * 11 + unequal**2) % 9 < 4, {"clusters": unequal}, 0.458, 0.0289716376733),
    ):
        estimate = direct.prevalence(seen, weights=weights, **options)
        assert estimate.value == pytest.approx(value, rel=1e-12)
        kish = weights.sum() ** 2 / np.square(weights).sum()
        bound = math.sqrt(value * (1 - value) / kish)  # R has a smaller error than that of independent people
        assert estimate.stderr == pytest.approx(max(stderr, bound), rel=1e-3)


def test_clusters_of_weight_zero_do_not_count():
    """60 clusters, three of which have weights: two degrees of freedom, and 30 people."""
    design, clusters = designs.forced_response("1/6", "1/6"), np.arange(600) // 10
    weights, reports = np.isin(clusters, (3, 20, 41)).astype(float), (np.arange(600) * 13 + clusters) % 7 < 3
    inside = weights > 0
    with pytest.warns(SmallSampleWarning, match=r"^3 clusters are too few"):
        whole = design.prevalence(reports, weights=weights, clusters=clusters)
    with pytest.warns(SmallSampleWarning, match=r"^3 clusters are too few"):
        part = design.prevalence(reports[inside], clusters=clusters[inside])
    assert whole.n == part.n == 30
    assert whole.interval() == part.interval()
    low, high = whole.interval()
    # svymean has 0.4232 to 0.7101 with the same two degrees of freedom
    assert low * 2 / 3 + 1 / 6 < 0.4232
    assert high * 2 / 3 + 1 / 6 > 0.7101
    with raises(
        ValueError, "clusters must have at least 2 different values among the rows with positive weights, got 1"
    ):
        design.prevalence(reports, weights=(clusters == 3).astype(float), clusters=clusters)
    few = np.arange(600) // 5
    by = design.prevalence_by(reports, few >= 60, weights=np.where(few % 2, 0.0, 1.0), clusters=few)
    assert [estimate.n for estimate in by.values()] == [150, 150]
    assert (by[False] - by[True]).n == 300  # no cluster is in both, and those of weight 0 are in none


@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
@pytest.mark.parametrize("size, n", [(1.0, 60), (1.5, 60), (1.5, 300)])
def test_prevalences_with_skewed_weights_cover(size, n):
    """Weights that depend on the answers: 0.87 to 0.94 with the estimated variance alone."""
    design, rng, hits, runs = designs.forced_response("1/6", "1/6"), np.random.default_rng(7), np.zeros(1, int), 500
    population = np.exp(size * rng.normal(size=1_000_000))
    truth = np.average(1 / (1 + population * math.e), weights=population)
    for _ in range(runs):
        weights = np.exp(size * rng.normal(size=n))
        has = rng.random(n) < 1 / (1 + weights * math.e)
        seen = rng.random(n) < np.where(has, 5 / 6, 1 / 6)
        low, high = design.prevalence(seen, weights=weights).interval()
        hits += low <= truth <= high
    assert_coverage(hits, runs, 0.95, detects=0.85)


@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
@pytest.mark.parametrize("size, clusters", [(1.0, 10), (1.0, 30), (1.5, 30)])
def test_prevalences_of_clusters_of_very_different_sizes_cover(size, clusters):
    """0.80 to 0.91 with as many degrees of freedom as clusters less one."""
    design, rng, hits, runs = designs.forced_response(0, 0), np.random.default_rng(8), np.zeros(1, int), 500
    for _ in range(runs):
        sizes = np.maximum(1, 10 * np.exp(size * rng.normal(size=clusters))).astype(int)
        villages = np.repeat(np.arange(clusters), sizes)
        shares = 0.3 * (rng.random(clusters) < 0.4) + 0.28
        low, high = design.prevalence(rng.random(len(villages)) < shares[villages], clusters=villages).interval()
        hits += low <= 0.4 <= high
    assert_coverage(hits, runs, 0.95, detects=0.85)


def test_skewed_weights_are_a_warning():
    design, reports = designs.warner(0.7), np.arange(400) % 2
    with pytest.warns(
        SmallSampleWarning,
        match=r"^the weights of 400 people are so unequal that they tell as much as 4\.\d with equal weights: at least 30 are",
    ):
        found = design.prevalence(reports, weights=np.where(np.arange(400) < 4, 1000.0, 1.0))
    assert found.interval(0.99)[1] - found.interval(0.99)[0] > found.interval(0.95)[1] - found.interval(0.95)[0]
    with pytest.raises(ValueError, match="anytime limits exist for shares of binomial counts"):
        found.anytime_interval()
    assert found.test(found.value).pvalue == pytest.approx(1, abs=1e-3)
    low, _ = found.interval(0.2)
    assert found.test(low).pvalue == pytest.approx(0.8, abs=1e-6)
    sizes = np.r_[np.repeat(np.arange(3), 100), np.arange(3, 103)]
    with pytest.warns(SmallSampleWarning, match=r"^the weights of 103 clusters are so unequal"):
        design.prevalence(reports, clusters=sizes)


def test_the_variance_of_clusters_is_that_of_a_logit_with_an_intercept():
    """The same sandwich, by the delta method; people in clusters of one are drawn one by one."""
    design, rng = designs.forced_response("1/6", "1/6"), np.random.default_rng(5)
    codes, villages = rng.integers(0, 2, 4000), rng.integers(0, 400, 4000)
    weights = rng.uniform(0.5, 2, 4000)
    found = design.prevalence(codes, weights=weights, clusters=villages)
    model = RandomizedLogit(design).fit(np.empty((4000, 0)), codes, weights=weights, clusters=villages)
    share = model.predict(np.empty((1, 0)))
    assert found.value == pytest.approx(share.value[0], rel=1e-6)
    assert found.stderr == pytest.approx(share.stderr[0], rel=0.01)
    alone = design.prevalence(codes, clusters=np.arange(4000))
    assert alone.stderr == pytest.approx(design.prevalence(codes).stderr, rel=1e-3)


def test_subgroups_of_the_same_clusters_have_a_covariance():
    design, villages = designs.warner(0.8), np.arange(2000) % 80
    codes = np.random.default_rng(6).integers(0, 2, 2000)
    by_village = design.prevalence_by(codes, villages % 2, clusters=villages)
    assert (by_village[0] - by_village[1]).stderr > 0
    within = design.prevalence_by(codes, np.arange(2000) // 1000, clusters=villages)
    hit = [(np.arange(2000) // 1000 == group) for group in (0, 1)]
    sums = [np.bincount(villages, (codes - codes[own].mean()) * own / own.sum()) for own in hit]
    variance = np.square(sums[0] - sums[1]).sum() * 80 / 79 / 0.6**2
    assert (within[0] - within[1]).stderr == pytest.approx(np.sqrt(variance), rel=1e-9)
    with pytest.raises(ValueError, match="clusters must have at least 2 different values in each subgroup, got 1"):
        design.prevalence_by(codes, villages, clusters=villages)
    for wrong, match in (
        ([1, 2], "one value for each of 2000 rows, got 2 values"),
        ([None, *villages[1:]], "got missing ones"),
    ):
        with pytest.raises(ValueError, match=match):
            design.prevalence(codes, clusters=wrong)
    households = np.arange(30_000) // 2
    assert design.prevalence(np.arange(30_000) % 2, clusters=households).n == 30_000
    with pytest.raises(ValueError, match="clusters must have at least 2 different values, got 1"):
        design.prevalence(codes, clusters=[1] * 2000)


def test_answers_that_no_prevalence_explains_are_doubtful():
    with pytest.warns(DoubtfulWarning, match=r"^the prevalence is -0.25, beyond what chance explains"):
        designs.forced_response("1/6", "1/6").prevalence([0] * 200)
    with pytest.warns(DoubtfulWarning, match=r"^the prevalence is -0.5, beyond what chance explains"):
        designs.crosswise(0.25).prevalence(["same"] * 50)
    designs.forced_response("1/6", "1/6").prevalence([0] * 10)  # a small sample explains it


def test_one_heavy_person_is_one_person():
    low, high = (
        designs.forced_response("1/6", "1/6").prevalence([1] * 60 + [0] * 140, weights=[1] + [0] * 199).interval()
    )
    assert low < 0
    assert high > 1
    assert designs.warner(0.7).prevalence([1, 0] * 9, weights=np.full(18, 1e-200)).n == 18


def test_groups_can_be_compared():
    design = designs.warner(0.8)
    reports, region = np.arange(4000) % 4 == 0, np.where(np.arange(4000) % 8 < 4, "N", "S")
    found = design.prevalence_by(reports, region)
    assert found["N"] == design.prevalence(reports[region == "N"])
    difference = found["N"] - found["S"]
    assert difference.value == 0
    assert difference.test().pvalue == pytest.approx(1)
    weighted = design.prevalence_by(reports, region, weights=np.ones(4000))
    assert weighted["S"].value == pytest.approx(found["S"].value)
    with raises(ValueError, "by must have one value per person, got 3 for 4000 reports"):
        design.prevalence_by(reports, ["a", "b", "c"])


# Infinite epsilon -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", INFINITE)
def test_a_design_without_privacy_makes_no_reports(name):
    channel = CASES[name][0].channel
    keys = ldp.PersonKeys(bytes(32), ["a", "b"], question="q")
    calls = [
        lambda: channel.privatize(1),
        lambda: channel.privatize([0, 1], rng=1),
        lambda: channel.privatize([0, 1], rng=keys),
        lambda: channel.run([0, 1], rng=1),
        lambda: channel.collect([0, 1], by=["N", "S"], rng=1),
        lambda: estimation.Frequencies(2, mechanism=channel, epsilon=99.0).run([0, 1], rng=1),
    ]
    for call in calls[:-1]:
        with pytest.raises(ValueError, match="rows must give a finite epsilon to make reports"):
            call()
    with pytest.raises((TypeError, ValueError)):
        calls[-1]()
    assert ldp.load(aggregator_with(channel, [np.array([5, 5])], 10).to_bytes()).question == channel


def test_the_guarantee_says_that_there_is_none():
    estimate = designs.mangat(0.7).prevalence([1, 0, 1, 1])
    assert estimate.epsilon == math.inf
    assert "epsilon = inf" in repr(estimate)
    text = json.dumps(estimate.to_dict(), allow_nan=False)
    assert json.loads(text)["guarantee"]["epsilon"] is None
    total = compose(designs.mangat(0.7).guarantee, designs.warner(0.7).guarantee)
    assert total.epsilon == math.inf
    assert group(total, 3).definition == "local"
    with raises(ValueError, "epsilon must be finite for 'pure', got inf"):
        ldp.privacy.Guarantee("pure", math.inf)


# Reports of mechanisms and channels -----------------------------------------------------------------------------------


def test_counts_are_read_by_mechanisms_and_channels():
    x = np.random.default_rng(1).integers(0, 3, 2000)
    mechanism = ldp.RandomizedResponse(3, 1.0)
    reports = mechanism.privatize(x, rng=1)
    counts = np.bincount(reports, minlength=3)
    assert from_reports(counts, mechanism) == mechanism.estimate(reports)
    exact = from_reports(counts, mechanism.channel())
    np.testing.assert_allclose(exact.value, mechanism.estimate(reports).value, rtol=1e-9)
    assert exact.guarantee.epsilon == mechanism.epsilon_realized
    floats = from_reports([52, 48], Channel([[0.75, 0.25], [0.25, 0.75]]))
    assert floats == from_reports([52, 48], [[3, 1], [1, 3]])
    values = np.random.default_rng(2).normal(size=2000)
    by_mechanism, by_channel = (conditional_means(values, reports, m) for m in (mechanism, mechanism.channel()))
    np.testing.assert_allclose(by_mechanism.value, by_channel.value, rtol=1e-9)
    for wrong, given in ((ldp.UnaryEncoding(3, 1.0), "UnaryEncoding"), (ldp.SignBit(0, 1, 1.0), "SignBit")):
        with pytest.raises(TypeError, match=f"design must be a mechanism from categories to codes, got a {given}"):
            from_reports([1, 2], wrong)
    with pytest.raises(TypeError, match=r"design must be a design of ldpfast\.designs, .* got str"):
        from_reports([1, 2], "warner")


def test_mechanisms_of_one_share_and_codes_that_nobody_reports_are_read_by_every_function():
    """`Warner` estimates one number, and the middle code of the rows below has probability 0."""
    rng = np.random.default_rng(4)
    x = rng.integers(0, 2, 4000)
    values = x + rng.normal(size=4000)
    warner, gap, plain = ldp.Warner(2.0), ldp.FiniteChannel([[3, 0, 1], [1, 0, 3]]), ldp.FiniteChannel([[3, 1], [1, 3]])
    first, second = warner.privatize(x, rng=1).astype(int), gap.privatize(x, rng=2).astype(int)
    for design, codes, same, packed in ((warner, first, warner.channel(), first), (gap, second, plain, second // 2)):
        for function in (
            lambda r, m: conditional_means(values, r, m),
            lambda r, m: estimation.conditional_quantiles(values, r, [0.5], m),
            lambda r, m: estimation.joint([r, r[::-1]], [m, m]),
        ):
            found, expected = function(codes, design), function(packed, same)
            np.testing.assert_allclose(found.value, expected.value, rtol=1e-9)
            np.testing.assert_allclose(found.stderr, expected.stderr, rtol=1e-9)
        models = [RandomizedLogit(m).fit(values[:, None], r) for r, m in ((codes, design), (packed, same))]
        np.testing.assert_allclose(models[0].params, models[1].params, rtol=1e-7)
    pair = ([0.9, 0.1], [0.8, 0.2])
    assert bounds.plan_test(gap, pair) == bounds.plan_test(plain, pair)


def test_plan_test_finds_the_people_for_a_difference():
    design = designs.crosswise(0.25)
    n = bounds.plan_test(design.channel, ([0.9, 0.1], [0.8, 0.2]))
    stderr = math.sqrt(2 * (design.variance(0.1, n) + design.variance(0.2, n)))
    assert 0.1 / stderr == pytest.approx(1.96 + 0.84, rel=0.02)
    assert design.sample_size(0.1, 0.02) == math.ceil(design.variance(0.1) / 0.02**2)


# Two questions --------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_attention_questions_remove_the_bias_of_random_answers():
    """A fifth of the people answers at random."""
    rng, hits, runs, plain = np.random.default_rng(3), np.zeros(1, int), 1200, []
    for _ in range(runs):
        attentive, truth = rng.random(2000) < 0.8, rng.random(2000) < 0.15
        innocuous, other = rng.random((2, 2000)) < np.array([[0.15], [0.2]])
        guesses = rng.random((2, 2000)) < 0.5
        same = np.where(attentive, truth == innocuous, guesses[0])
        known = np.where(attentive, ~other, guesses[1])
        estimate = designs.crosswise_with_attention(same, known, p=0.15, p_attention=0.2)
        low, high = estimate.interval()
        hits += low < 0.15 < high
        plain.append(designs.crosswise(0.15).prevalence(same).value)
    assert_coverage(hits, runs, 0.95, detects=0.89)
    assert np.mean(plain) > 0.2
    with pytest.warns(DoubtfulWarning, match="the share of attentive people, 0.0333, is not clearly above 0"):
        designs.crosswise_with_attention([1, 0] * 50, [1] * 51 + [0] * 49, p=0.2, p_attention=0.2)
    estimate = designs.crosswise_with_attention(["same"] * 12, ["same"] * 12, p=0.1, p_attention=0.1)
    assert estimate.stderr > 0.02
    with pytest.warns(DoubtfulWarning, match="the share of attentive people is 1.67, more than chance explains"):
        designs.crosswise_with_attention([1] * 60 + [0] * 40, [1] * 100, p=0.2, p_attention=0.2)
    with raises(ValueError, "attention must show that people read the questions, got the attentive share -0.0333"):
        designs.crosswise_with_attention([1, 0] * 50, [1] * 49 + [0] * 51, p=0.2, p_attention=0.2)
    with raises(ValueError, "attention must have one answer per person, got 2 for 1 reports"):
        designs.crosswise_with_attention([1], [1, 0], p=0.2, p_attention=0.2)


@pytest.mark.long
def test_two_samples_find_both_prevalences():
    rng, hits, runs = np.random.default_rng(4), np.zeros(2, int), 1200
    truth = np.array([0.2, 0.6])
    for _ in range(runs):
        samples = [rng.random(900) < p * truth[0] + (1 - p) * truth[1] for p in (0.7, 0.2)]
        low, high = designs.unrelated_question_two_samples(*samples, p=(0.7, 0.2)).interval()
        hits += (low < truth) & (truth < high)
    assert_coverage(hits, runs, 0.95, detects=0.89)
    with raises(ValueError, "p must be two different probabilities, got 1/2 twice"):
        designs.unrelated_question_two_samples([1], [0], p=(0.5, "1/2"))
    with pytest.raises(TypeError, match="p must be a pair of probabilities"):
        designs.unrelated_question_two_samples([1], [0], p=0.5)


# Mistakes -------------------------------------------------------------------------------------------------------------


@each(
    "call, error, message",
    [
        (lambda: designs.warner(0.5), ValueError, r"warner\(p=1/2\) must have answers that depend on the truth"),
        (lambda: designs.warner(1.5), ValueError, r"p must be in \[0, 1\], got 1.5"),
        (lambda: designs.warner("half"), ValueError, "p must be a probability such as 0.25 or '1/4', got 'half'"),
        (lambda: designs.warner(None), TypeError, "p must be a number, got NoneType"),
        (lambda: designs.crosswise(0.5), ValueError, "must have answers that depend on the truth"),
        (lambda: designs.kuk(0.3, 0.3), ValueError, "must have answers that depend on the truth"),
        (lambda: designs.unrelated_question(0, 0.3), ValueError, "must have answers that depend on the truth"),
        (lambda: designs.forced_response(0.5, 0.5), ValueError, r"yes and no must have a sum below 1, got 1/2 \+ 1/2"),
        (lambda: designs.warner(0.7).prevalence([]), ValueError, r"reports must have shape \(n,\) with n >= 1"),
        (lambda: designs.warner(0.7).prevalence([0, 2]), ValueError, "reports must be 'no' and 'yes', or 0 and 1"),
        (lambda: designs.warner(0.7).prevalence([0, math.nan]), ValueError, "without missing values, got nan"),
        (lambda: designs.warner(0.7).prevalence(["yes", None]), ValueError, "without missing values, got None"),
        (lambda: designs.warner(0.7).prevalence(["yes", "same"]), ValueError, "got 'same'"),
        (lambda: designs.warner(0.7).prevalence([None, 1]), ValueError, "without missing values, got nan"),
        (lambda: designs.warner(0.7).prevalence([None, "yes"]), ValueError, "without missing values, got None"),
        (lambda: designs.warner(0.7).prevalence([b"a"] * 2), TypeError, "reports must be 'no' and 'yes'"),
        (lambda: designs.warner(0.7).prevalence([0, 1], weights=[1]), ValueError, r"weights must have shape \(2,\)"),
        (lambda: designs.warner(0.7).prevalence([0, 1], weights=[1, -1]), ValueError, "weights must be >= 0 .* got -1"),
        (lambda: designs.warner(0.7).variance(1.2), ValueError, "prevalence must be"),
        (lambda: designs.warner(0.7).sample_size(0.2, 0), ValueError, "stderr must be"),
        (lambda: designs.warner(0.7).sample_size(0.2, 2), ValueError, r"^stderr must be in \(0, 1\), got 2$"),
        (lambda: designs.warner(0.7).report("?", prevalence=0.2, stderr=2), ValueError, r"^stderr must be in \(0, 1\)"),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
