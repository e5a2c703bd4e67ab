"""Estimates: values, standard errors, and the exact coverage of intervals."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import pickle
import warnings

import numpy as np
import pytest
from scipy import stats

import ldpfast as ldp
from ldpfast.estimation import frequencies
from ldpfast.privacy import Guarantee
from ldpfast.reports import aggregator_with, recipe_of
from ldpfast.results import Binomial, BoundedSum, Debiasing, Estimate, MatrixDebiasing, Normal, StudentT, t_quantile
from ldpfast.survey import Choice, Mean, Survey, YesNo

from .support.cases import each, each_kind
from .support.examples import assert_same, assert_same_estimate
from .support.statistics import assert_coverage

WARNER = ldp.Warner(1.0)
IDENTITY = Debiasing(0.0, 1.0)


def binomial_estimate(hits, n, debiasing=IDENTITY):
    hits = np.asarray(hits, np.int64)
    value = debiasing(hits / n)
    return Estimate(value, np.zeros(hits.shape), n, Guarantee("local", 1.0), None, Binomial(hits, n, debiasing))


# Clopper-Pearson ------------------------------------------------------------------------------------------------------


@each("confidence", [0.5, 0.9, 0.95, 0.999999])
@each("hits, n", [(0, 1), (1, 1), (0, 7), (7, 7), (3, 7), (1, 1000), (480, 1000), (1000, 1000), (2, 10**6)])
def test_limits_of_a_share_are_those_of_clopper_and_pearson(hits, n, confidence):
    low, high = binomial_estimate(hits, n).interval(confidence)
    tail = (1 - confidence) / 2
    exact = stats.binomtest(hits, n).proportion_ci(confidence, method="exact")
    np.testing.assert_allclose((low, high), exact, rtol=0, atol=2e-8)  # SciPy computes its limits to about 1e-9
    assert low == pytest.approx(stats.beta.ppf(tail, hits, n - hits + 1) if hits else 0, rel=1e-9)
    assert high == pytest.approx(stats.beta.isf(tail, hits + 1, n - hits) if hits < n else 1, rel=1e-9)


@pytest.mark.parametrize("mechanism", [WARNER, ldp.SignBit(-1, 3, 0.5), ldp.RandomizedResponse(3, 2.0)], ids=repr)
def test_limits_of_an_estimate_are_debiased(mechanism):
    reports = np.array([0, 1, 1, 0, 1, 1, 1, 0, 1, 1], np.uint8)
    estimate = mechanism.estimate(reports)
    zero, one = mechanism.debiasing.zero, mechanism.debiasing.one
    low, high = (np.atleast_1d(limit) for limit in estimate.interval(0.9))
    hits = [7] if low.shape == (1,) else np.bincount(reports, minlength=3)
    for i, h in enumerate(hits):
        exact = stats.binomtest(int(h), 10).proportion_ci(0.9, method="exact")
        np.testing.assert_allclose((low[i], high[i]), zero + (one - zero) * np.array(exact), atol=1e-6)


def test_limits_without_hits_and_with_hits_only_are_exact():
    """Without hits the lower limit is exactly the decoded report 0."""
    low, high = WARNER.estimate(np.zeros(5, np.uint8)).interval()
    assert low == WARNER.debiasing.zero
    assert high < WARNER.debiasing.one
    low, high = WARNER.estimate(np.ones(5, np.uint8)).interval()
    assert low > WARNER.debiasing.zero
    assert high == pytest.approx(WARNER.debiasing.one, rel=1e-15)


@pytest.mark.claim(
    "Intervals of a share contain it with at least the stated confidence for every number of people.", "Estimates"
)
@each("n", [1, 2, 5, 20, 61])
@each("confidence", [0.5, 0.8, 0.95, 0.99])
def test_intervals_cover_every_share_with_at_least_the_confidence(n, confidence):
    """The coverage is a sum over all counts with their exact probabilities; 1e-9 allows for rounding of the sum."""
    estimates = [WARNER.estimate((np.arange(n) < hits).astype(np.uint8)) for hits in range(n + 1)]
    limits = np.array([e.interval(confidence) for e in estimates])
    p, q = float(recipe_of(WARNER).coin.p), float(recipe_of(WARNER).coin.q)
    for truth in np.linspace(0, 1, 41):
        weights = stats.binom.pmf(np.arange(n + 1), n, q + (p - q) * truth)
        covered = (limits[:, 0] <= truth) & (truth <= limits[:, 1])
        assert weights[covered].sum() >= confidence - 1e-9


def test_intervals_are_wider_for_larger_confidence():
    for estimate in (WARNER.run(np.ones(50, int), rng=1), ldp.Laplace(0, 1, 1.0).run(np.ones(50), rng=1)):
        widths = [np.subtract(*estimate.interval(c)[::-1]) for c in (0.01, 0.5, 0.9, 0.999999)]
        assert widths == sorted(widths)
        assert widths[0] > 0


# Simultaneous intervals -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mechanism, x", [(ldp.RandomizedResponse(7, 1.0), np.arange(70) % 7), (ldp.L2Ball(7, 1.0), np.zeros((70, 7)))]
)
def test_simultaneous_limits_are_those_of_bonferroni(mechanism, x):
    estimate = mechanism.run(x, rng=1)
    low, high = estimate.interval(0.9, simultaneous=True)
    each = estimate.interval(1 - 0.1 / 7)
    np.testing.assert_allclose((low, high), each, rtol=1e-9)
    alone = estimate.interval(0.9)
    assert (low < alone[0]).all()
    assert (high > alone[1]).all()


def test_simultaneous_limits_of_one_number_are_the_ordinary_limits():
    estimate = WARNER.run([0, 1, 1], rng=1)
    assert estimate.interval(simultaneous=True) == estimate.interval()


@pytest.mark.claim("Simultaneous intervals contain all shares with at least the stated confidence.", "Estimates")
@pytest.mark.parametrize("n", [1, 3, 6])
def test_simultaneous_intervals_cover_all_shares_with_at_least_the_confidence(n):
    """The coverage is a sum over all tables of counts of three categories, with their exact probabilities."""
    mechanism = ldp.RandomizedResponse(3, 2.0)
    p, q = float(recipe_of(mechanism).coin.p), float(recipe_of(mechanism).coin.q)
    tables = [(a, b, n - a - b) for a in range(n + 1) for b in range(n + 1 - a)]
    limits = [
        mechanism.estimate(np.repeat([0, 1, 2], t).astype(np.uint8)).interval(0.9, simultaneous=True) for t in tables
    ]
    for truth in ([1, 0, 0], [0.5, 0.5, 0], [0.2, 0.3, 0.5], [1 / 3] * 3):
        distribution = stats.multinomial(n, q + (p - q) * np.array(truth))
        covered = [((low <= truth) & (truth <= high)).all() for low, high in limits]
        assert sum(distribution.pmf(t) for t, inside in zip(tables, covered, strict=True) if inside) >= 0.9 - 1e-9


# Normal limits and standard errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize("confidence", [0.5, 0.95, 1 - 1e-9])
def test_normal_limits_are_quantiles_of_a_normal_distribution(confidence):
    estimate = ldp.L2Ball(4, 1.0).run(np.zeros((100, 4)), rng=1)
    expected = stats.norm.interval(confidence, estimate.value, estimate.stderr)
    np.testing.assert_allclose(estimate.interval(confidence), expected, rtol=1e-6)


def test_standard_errors_of_vectors_follow_from_their_norm():
    mechanism = ldp.L2Ball(4, 1.0, radius=3.0)
    estimate = mechanism.run(np.zeros((100, 4)), rng=1)
    np.testing.assert_allclose(estimate.stderr, mechanism.scale / math.sqrt(4 * 100), rtol=1e-12)


def test_standard_errors_of_grid_reports_are_the_sample_ones_but_not_below_the_noise():
    mechanism = ldp.Laplace(-1.0, 3.0, 1.0)
    reports = mechanism.privatize(np.repeat([-1.0, 3.0], 400), rng=1)
    noise = mechanism.report.noise_variance
    expected = math.sqrt(max(reports.var(ddof=1), noise) / 800)
    assert mechanism.estimate(reports).stderr == pytest.approx(expected, rel=1e-9)
    same = np.full(50, mechanism.domain.lower + 0.5 * mechanism.grid)
    assert mechanism.estimate(same).stderr == pytest.approx(math.sqrt(noise / 50), rel=1e-12)
    square_of_half_the_range = 4
    assert mechanism.estimate(same[:1]).stderr == pytest.approx(math.sqrt(noise + square_of_half_the_range), rel=1e-12)


@pytest.mark.parametrize("truth", [0.0, 0.3, 1.0])
def test_standard_errors_of_counts_are_those_of_a_decoded_bit(truth):
    """The variance is p (1 - p) / (2 p - 1)^2 + theta (1 - theta), at the theta in [0, 1] nearest to the estimate."""
    estimate = WARNER.run((np.arange(1000) < 1000 * truth).astype(int), rng=1)
    theta, p = min(1.0, max(0.0, estimate.value)), float(recipe_of(WARNER).coin.p)
    variance = p * (1 - p) / (2 * p - 1) ** 2 + theta * (1 - theta)
    assert estimate.stderr == pytest.approx(math.sqrt(variance / 1000), rel=1e-12)


def test_the_covariance_of_shares_is_that_of_a_multinomial():
    mechanism = ldp.RandomizedResponse(4, 1.0)
    reports = mechanism.privatize(np.arange(300) % 4, rng=1)
    expected = np.cov(mechanism.decode(reports).T, bias=True) / 300
    np.testing.assert_allclose(mechanism.estimate(reports).covariance, expected, atol=1e-15, rtol=1e-9)
    assert ldp.RandomizedResponse(300, 1.0).run(np.zeros(3, int), rng=1).covariance is None
    assert WARNER.estimate(np.array([1], np.uint8)).covariance is None


# Representation, JSON, equality ---------------------------------------------------------------------------------------


@each(
    "value, stderr, n, epsilon, expected",
    [
        (0.312, 0.0056, 20190, 1.0, "0.312 +- 0.011 (95 %: 0.301 to 0.323, n = 20190, epsilon = 1)"),
        (0.312, 0.0056, 20190, 0.9999999999, "0.312 +- 0.011 (95 %: 0.301 to 0.323, n = 20190, epsilon = 1)"),
        (1234.5, 100.0, 3, 0.5, "1234 +- 196 (95 %: 1039 to 1430, n = 3, epsilon = 0.5)"),
        (-2.0, 0.5, 1, 2.25, "-2.00 +- 0.98 (95 %: -2.98 to -1.02, n = 1, epsilon = 2.25)"),
        (0.0, 0.0, 1, 1.0, "0.000 +- 0.000 (95 %: 0.000 to 0.000, n = 1, epsilon = 1)"),
    ],
)
def test_the_repr_shows_value_margin_and_guarantee(value, stderr, n, epsilon, expected):
    assert repr(Estimate(value, stderr, n, Guarantee("local", epsilon))) == expected


def test_the_repr_of_many_numbers_is_short():
    estimate = ldp.RandomizedResponse(300, 1.0).run(np.arange(300), rng=1)
    assert repr(estimate).endswith(", n = 300, epsilon = 1)")
    assert len(repr(estimate)) < 300


@each_kind
def test_the_guarantee_is_that_of_the_mechanism(kind):
    estimate = kind.mechanism.run(kind.records(10), rng=1)
    assert estimate.n == 10
    assert estimate.epsilon == kind.mechanism.epsilon_realized
    assert estimate.guarantee == kind.mechanism.guarantee
    assert estimate.guarantee.definition == "local"


@each_kind
def test_value_stderr_and_limits_have_the_same_shape(kind):
    estimate = kind.mechanism.run(kind.records(500), rng=1)
    assert np.shape(estimate.value) == np.shape(estimate.stderr)
    for limit in estimate.interval():
        assert np.shape(limit) == np.shape(estimate.value)
    if np.ndim(estimate.value) == 0:
        assert {type(v) for v in (estimate.value, estimate.stderr, *estimate.interval())} == {float}


@each_kind
def test_a_dict_survives_json(kind):
    estimate = kind.mechanism.run(kind.records(500), rng=1)
    data = json.loads(json.dumps(estimate.to_dict(), allow_nan=False))
    assert set(data) == {"value", "stderr", "interval", "confidence", "n", "guarantee"}
    assert_same(np.array(data["value"], float), estimate.value)
    assert_same(np.array(data["interval"][0], float), estimate.interval(0.95)[0])
    assert data["n"] == 500
    assert data["guarantee"] == {
        "definition": "local",
        "epsilon": estimate.epsilon,
        "delta": 0.0,
        "ideal": kind.mechanism.guarantee.ideal,
    }


@pytest.mark.claim("Normal limits of fewer than 30 reports give a `SmallSampleWarning`.", "Estimates")
@pytest.mark.parametrize(
    "mechanism", [ldp.Laplace(0, 1, 1.0), ldp.L2Ball(2, 1.0), ldp.Residue(0.7, -0.1, 4, 1.0)], ids=repr
)
def test_normal_limits_of_few_reports_are_a_warning(mechanism):
    """Clopper-Pearson limits hold for every n."""
    x = np.zeros((30, 2)) if isinstance(mechanism, ldp.L2Ball) else np.zeros(30)
    few, enough = mechanism.run(x[:29], rng=1), mechanism.run(x, rng=1)
    enough.interval()
    assert "95 %" in repr(few)
    assert few.to_dict()["interval"][0] is not None
    if isinstance(few.rule, ldp.results.Binomial):
        few.interval()
    else:
        with pytest.warns(
            ldp.SmallSampleWarning, match="n = 29 is too small for normal limits to be reliable: at least 30"
        ):
            few.interval()


def test_printed_limits_of_shares_are_cut_at_their_range():
    """The value, the margin and the limits of `interval` stay as they are."""
    few = ldp.Warner(1.0).run(np.zeros(50, int), rng=1)
    low, high = few.interval()
    assert low < 0 < high < 1
    assert f"{few.value:.2f} +- {(high - low) / 2:.2f} (95 %: 0.00 to {high:.2f}, n = 50" in repr(few)
    assert few.to_dict()["interval"] == [low, high]
    shares = frequencies(np.zeros(100, int), 3, 1.0, rng=1)
    low, high = shares.interval()
    assert low.min() < 0
    assert high.max() > 1
    table = shares._repr_html_().split("<tr>")[2:]
    cells = np.array([row.replace("</td>", "").split("<td")[4:6] for row in table])
    shown = np.array([[float(cell.partition(">")[2].partition("<")[0]) for cell in row] for row in cells])
    np.testing.assert_allclose(shown.T, np.clip([low, high], 0, 1), atol=0.006)


def test_limits_far_outside_of_the_range_are_printed_as_they_are():
    """Cut at 0, both would be 0, as if the share were certain. The warning says what is wrong."""
    reports = ldp.Warner(4.0).privatize(np.zeros(20_000, int), rng=1)
    with pytest.warns(ldp.DoubtfulWarning):
        doubtful = ldp.Warner(1.0).estimate(reports)
    low, high = doubtful.interval()
    assert f"(95 %: {low:.4f} to {high:.4f}, n = 20000" in repr(doubtful)
    assert f">{low:.4f}<" in doubtful._repr_html_()
    nobody = ldp.Warner(1.0).estimate(np.repeat(np.array([0, 1], np.uint8), [765, 235]))  # noise explains it
    assert nobody.interval()[1] < 0
    assert "(95 %: 0.000 to 0.000, n = 1000" in repr(nobody)


def test_null_values_outside_of_the_range_are_refused():
    """A 30 in the place of 0.3 would have a p-value of 0."""
    zeros = np.zeros(1000, int)
    share, other = (ldp.Warner(1.0).run(zeros, rng=seed) for seed in (1, 2))
    mean = ldp.SignBit(18.0, 60.0, 1.0).run(np.full(1000, 30.0), rng=1)
    shares = frequencies(zeros, 3, 1.0, rng=1)
    survey = Survey({"smokes": YesNo(), "age": Mean(18, 60), "work": Choice(["yes", "no"])}, 3.0)
    frame = {"smokes": zeros == 1, "age": zeros + 30.0, "work": ["yes", "no"] * 500}
    by = survey.run({**frame, "city": ["A", "B"] * 500}, by="city", rng=1)
    first, second = by["A"], by["B"]
    for estimate, wrong, got, low, high in (
        (share, 30, 30, 0, 1),
        (shares, [0.5, 0.3, -0.2], -0.2, 0, 1),
        (share - other, 1.5, 1.5, -1, 1),
        (mean, 17, 17, 18, 60),
        (mean, 0, 0, 18, 60),
        (first["smokes"], 30, 30, 0, 1),
        (first["work"], {"yes": 70, "no": 30}, 70, 0, 1),
        (first["age"], 61, 61, 18, 60),
        (first["age"] - second["age"], -43, -43, -42, 42),
        (first["smokes"] - second["smokes"], 30, 30, -1, 1),
    ):
        with pytest.raises(
            ValueError, match=rf"^null must be in \[{low}, {high}\], the range of the value, got {got:g}$"
        ):
            estimate.test(wrong)
    assert share.test(0.1 + 0.2 + 0.7 + 1e-12).n == 1000  # a sum with an error of rounding
    assert (first["age"] / second["age"]).test(50).pvalue < 1e-9  # a ratio has no range
    with pytest.raises(ValueError, match=r"^shares must be >= 0 with the sum 1, got the sum 100\.0$"):
        first["work"].goodness_of_fit([70, 30])


@each_kind
def test_an_estimate_is_frozen(kind):
    estimate = kind.mechanism.run(kind.records(10), rng=1)
    for name in ("value", "stderr", "n", "guarantee", "epsilon", "other"):
        with pytest.raises(AttributeError):
            setattr(estimate, name, 1)


@each_kind
def test_equal_estimates_are_equal(kind):
    """Comparison of vector estimates returns a bool and raises no error."""
    a, b = (kind.mechanism.run(kind.records(10), rng=1) for _ in range(2))
    assert a == b
    assert a != dataclasses.replace(a, n=11)
    assert a != dataclasses.replace(a, value=np.add(a.value, 1))


@each_kind
def test_an_estimate_can_be_pickled(kind):
    estimate = kind.mechanism.run(kind.records(10), rng=1)
    assert_same_estimate(pickle.loads(pickle.dumps(estimate)), estimate)


@each_kind
def test_more_reports_do_not_change_an_earlier_estimate(kind):
    aggregator = kind.mechanism.aggregator().update(kind.mechanism.privatize(kind.records(10), rng=1))
    estimate = aggregator.estimate()
    before = json.dumps(estimate.to_dict())
    aggregator.update(kind.mechanism.privatize(kind.records(10), rng=2))
    assert json.dumps(estimate.to_dict()) == before


def outcomes(n, k):
    """All counts of k codes in n reports, shape (outcomes, k)."""
    bars = np.array(list(itertools.combinations(range(n + k - 1), k - 1)))
    ends = np.column_stack([np.full(len(bars), -1), bars, np.full(len(bars), n + k - 1)])
    return np.diff(ends, axis=1) - 1


def coverage(mechanism, n, populations, truth, confidence):
    """Exact coverage of the two limits, shape (2, populations) + shape of the value, by enumeration of all counts."""
    counts = outcomes(n, mechanism.report.k)
    limits = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ldp.DoubtfulWarning)
        for seen in counts:
            aggregator = mechanism.aggregator()
            limits.append(aggregator_with(aggregator.question, [seen], n).estimate().interval(confidence))
    low, high = np.moveaxis(np.array(limits), 1, 0)
    result = []
    for codes, true in zip(populations, truth, strict=True):
        weight = np.exp(stats.multinomial.logpmf(counts, n, codes))
        result.append([weight @ (low <= true), weight @ (true <= high)])
    return np.moveaxis(np.array(result), 1, 0)


TABLES = [
    [[2980, 1], [1, 2980]],
    [[2980, 1], [1490, 1491]],
    [[5, 1, 1], [1, 5, 1], [1, 1, 5]],
    [[2980, 1, 1], [1, 2980, 1], [1, 1, 2980]],
    [[2980, 1, 1], [1, 2980, 1], [1490, 1, 1491]],
    [[2980, 1, 1], [1, 1, 2980]],
]


@pytest.mark.claim("Intervals also cover if few hits are expected.", "Estimates")
@pytest.mark.long
@each("rows", TABLES, ids=str)
@each("n", [1, 2, 30, 60])
def test_intervals_of_any_table_cover_for_every_n(rows, n):
    """Exact, for populations with rare categories. Each limit has its own probability; they are not compensated."""
    mechanism = ldp.FiniteChannel(rows)
    k, rng = len(rows), np.random.default_rng(7)
    shares = [rng.dirichlet(np.full(k, a)) for a in (0.05, 0.2, 1.0) for _ in range(15)]
    for rare in (0.001, 0.005, 0.02, 0.1):
        for j in range(k):
            shares.append(np.where(np.arange(k) == j, rare, (1 - rare) / (k - 1)))
    populations = [share @ mechanism.channel().matrix for share in shares]
    for confidence, slack in ((0.95, 1.0), (0.999, 1.0), (0.5, 1.1)):
        found = coverage(mechanism, n, populations, shares, confidence)
        assert (1 - found).max() <= (1 - confidence) / 2 * slack + 1e-12


def test_two_codes_have_clopper_pearson_limits():
    """The share of a category is an increasing function of the number of one of the codes."""
    for rows in ([[3, 1], [1, 3]], [[1, 3], [3, 1]], [[9, 1], [5, 5]]):
        mechanism = ldp.FiniteChannel(rows)
        matrix, n = mechanism.debiasing.matrix, 40
        for hits in range(n + 1):
            estimate = mechanism.report.mean(recipe_of(mechanism).decoding, np.array([n - hits, hits]), n)
            low, high = binomial_estimate(hits, n).interval()
            ends = [matrix[0] + (matrix[1] - matrix[0]) * end for end in (low, high)]
            np.testing.assert_allclose(estimate.interval(), np.sort(ends, axis=0), atol=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [1.0, 4.0, 8.0, 12.0])
@pytest.mark.parametrize("start", [0.0, 0.5])
def test_means_of_windows_cover_where_few_people_are_at_the_end(epsilon, start):
    """0.5 % of 200 people; with normal limits the coverage was 0.855 at epsilon 8.

    Detects a coverage of 0.9.
    """
    mechanism, n, runs = ldp.Window(0, 1, epsilon), 200, 1500
    rows = np.array(
        [recipe_of(mechanism).draw(np.array([x]), np.array([10**9]), np.random.default_rng(1)) for x in (start, 1.0)]
    )
    codes = np.array([0.995, 0.005]) @ (rows / rows.sum(axis=1, keepdims=True))
    truth, hits = codes @ mechanism.debiasing.values, 0
    for seen in np.random.default_rng(20261123).multinomial(n, codes, size=runs):
        low, high = aggregator_with(mechanism, [seen], n).estimate().interval()  # warnings are errors
        hits += low <= truth <= high
    assert_coverage(hits, runs, 0.95, detects=0.9)


@pytest.mark.claim("For many reports, limits that allow for few hits are as wide as normal ones.", "Estimates")
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0, 8.0])
def test_intervals_of_many_reports_are_nearly_normal(epsilon):
    """Width over that of normal limits, for numbers that are uniform and for a rare value."""
    mechanism = ldp.Window(0, 1, epsilon)
    uniform, rare = np.linspace(0, 1, 1000), (np.arange(1000) >= 995) * 1.0
    for records, wide in ((uniform, [1.02, 1.01]), (rare, [1.08, 1.025])):
        for n, most in zip((10_000, 100_000), wide, strict=True):
            estimate = mechanism.run(np.tile(records, n // 1000), rng=1)
            low, high = estimate.interval()
            assert 1 <= (high - low) / (2 * stats.norm.isf(0.025) * estimate.stderr) < most


def test_bounded_sums_are_poisson_limits_of_hits():
    """No hits: the rule of three. Hits of one size: the limits of Garwood. Many hits: normal, and without a jump."""
    value, tail = np.array(0.0), 0.025
    assert BoundedSum(1.0, 0.0).bounds(value, value, tail)[1] == pytest.approx(-math.log(tail), rel=1e-12)
    for hits in range(1, 50):
        low, high = BoundedSum(2.0, 2.0).bounds(value, np.array(2 * math.sqrt(hits)), tail)
        garwood = stats.chi2.isf(tail, 2 * hits + 2) / 2
        assert high == pytest.approx(2 * (garwood - hits), rel=1e-9)
        assert low == pytest.approx(-high, rel=1e-12)
    for tail in (0.25, 0.025, 1e-6, 1e-13):
        margins = [BoundedSum(1.0, 1.0).bounds(value, np.sqrt(np.array(h)), tail)[1] for h in (99_999_999, 100_000_001)]
        assert margins[0] == pytest.approx(margins[1], rel=1e-7)
        assert margins[1] == pytest.approx(stats.norm.isf(tail) * 1e4, rel=1e-2)
    np.testing.assert_array_equal(
        BoundedSum(0.0, 0.0).bounds(value, np.array(1.0), 0.025), Normal().bounds(value, 1.0, 0.025)
    )


def test_normal_bounds_and_debiasing_follow_their_formulas():
    value, stderr = np.array([1.0]), np.array([2.0])
    np.testing.assert_allclose(Normal().bounds(value, stderr, 0.025), [[1 - 3.919927969], [1 + 3.919927969]], rtol=1e-9)
    assert Debiasing(-1.0, 3.0)(0.5) == 1.0
    assert Debiasing(-1.0, 3.0).variance(1.0) == 4.0


def test_matrix_debiasing_is_unbiased_with_the_covariance_of_a_decoded_report():
    channel = np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3]])
    debiasing = MatrixDebiasing(np.linalg.pinv(channel))
    for value, probabilities in zip(np.eye(2), channel, strict=True):
        np.testing.assert_allclose(debiasing(probabilities), value, atol=1e-12)
        expected = np.cov(debiasing.matrix.T, aweights=probabilities, bias=True)
        np.testing.assert_allclose(debiasing.covariance(probabilities), expected, atol=1e-12)


@pytest.mark.parametrize(
    "guarantee, text",
    [
        (Guarantee("local", 0.5), "epsilon = 0.5)"),
        (Guarantee("kl", 0.5), "kl = 0.5)"),
        (Guarantee("tv", 0.5), "tv = 0.5)"),
        (Guarantee("approximate", 0.5, 1e-6), "epsilon = 0.5, delta = 1e-06)"),
    ],
)
def test_the_repr_ends_with_the_guarantee(guarantee, text):
    assert repr(Estimate(1.0, 0.1, 10, guarantee)).endswith(text)


def test_infinities_become_none_in_a_dict():
    found = Estimate(np.array([1.0, 2.0]), np.array([np.inf, 0.5]), 10, Guarantee("pure", 0.5)).to_dict()
    assert found["stderr"] == [None, 0.5]
    assert found["interval"][0][0] is None
    assert json.loads(json.dumps(found, allow_nan=False)) == found


@each("n", [1 << 53, 10**17, 10**18, (1 << 62) - 1])
@each("share", [0.0, 1e-17, 0.009, 0.1, 0.5, 0.99, 1.0])
def test_limits_of_very_many_trials_contain_the_share(n, share):
    """SciPy has no limits of some shares beyond 10^17 trials."""
    hits = round(share * n)
    low, high = binomial_estimate(hits, n).interval()
    assert 0 <= low <= hits / n <= high <= 1
    assert high - low < 1e-7


def test_t_quantiles_have_the_right_sign_for_every_tail():
    for freedom in (1.0, 2.5, 3.54, 57.3, 1e6):
        quantiles = t_quantile(freedom, np.array([0.0, 1e-300, 1e-90, 1e-10, 0.025, 0.5, 0.975, 1.0]))
        assert (np.diff(quantiles) <= 0).all()
        assert np.isfinite(quantiles).all()
        assert quantiles[4] == pytest.approx(stats.t.isf(0.025, freedom))
        assert quantiles[6] == pytest.approx(-quantiles[4])


def test_p_values_of_t_limits_agree_with_intervals():
    estimate = Estimate(3.0, 1.0, 10, Guarantee("local", 1.0), rule=StudentT(4.5))
    for null in (0.5, 2.9, 4.0):
        for alternative, side in (("less", 1), ("greater", 0)):
            p = float(estimate.test(null, alternative=alternative).pvalue)
            if p < 0.5:
                assert estimate.interval(1 - 2 * p)[side] == pytest.approx(null)
    assert estimate.test(3.0).pvalue == 1
    other = Estimate(1.0, 1e-9, 10, Guarantee("local", 1.0))
    assert (estimate - other).test().pvalue == pytest.approx(2 * stats.t.sf(2.0, 4.5), rel=1e-9)
