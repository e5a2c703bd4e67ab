"""Differences, ratios, tests of hypotheses, and comparisons of surveys."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import stats
from scipy.stats import chi2
from statsmodels.stats.multitest import multipletests

import ldpfast as ldp
from ldpfast import central, estimation
from ldpfast.reports import aggregator_with
from ldpfast.results import Binomial, Normal, TestResult
from ldpfast.survey import (
    Choice,
    Cross,
    CrossAnswer,
    Histogram,
    Mean,
    Repeated,
    Survey,
    YesNo,
    compare,
    k_sample,
    two_sample,
)

from ..support.cases import each
from ..support.errors import raises
from ..support.internals.survey import column_of, compared_shares
from ..support.surveys import people, questions, shares_of

N = 20_000
RNG = np.random.default_rng(5)


def answer_of(question, epsilon, counts, n):
    """Return the answer to a question from counted reports."""
    mechanism = Survey({"q": question}, epsilon).mechanisms["q"]
    return column_of(question).answer(shares_of(aggregator_with(mechanism, [np.asarray(counts)], n)), 1)


def drawn(question, epsilon, shares, n, seed):
    """Return the answer of n simulated people."""
    mechanism = Survey({"q": question}, epsilon).mechanisms["q"]
    return column_of(question).answer(shares_of(ldp.simulate(mechanism, shares, n, rng=seed)), 1)


# Tests of single numbers ----------------------------------------------------------------------------------------------


@each("hits", [0, 3, 20, 37, 40])
@each("null", [0.2, 0.5, 0.8])
def test_the_test_of_a_share_is_the_exact_binomial_test(hits, null):
    mechanism, n = ldp.Warner(2.0), 40
    estimate = aggregator_with(mechanism, [np.array([hits])], n).estimate()
    p, q = mechanism.debiasing.probabilities
    for alternative in ("less", "greater"):
        exact = stats.binomtest(hits, n, q + (p - q) * null, alternative=alternative).pvalue
        assert estimate.test(null, alternative=alternative).pvalue == pytest.approx(exact, rel=1e-6, abs=1e-12)


ESTIMATES = {
    "share": lambda: ldp.Warner(1.0).run(RNG.random(N) < 0.3, rng=1),
    "shares": lambda: estimation.frequencies(RNG.integers(0, 3, N), 3, 1.0, rng=1),
    "projected": lambda: estimation.Frequencies(3, 1.0, project=True).run(RNG.integers(0, 2, N), rng=1),
    "mean": lambda: ldp.mechanisms.Window(0, 1, 4.0).run(RNG.random(N), rng=1),
    "clipped mean": lambda: estimation.truncated_mean(RNG.normal(0, 1, N), 1.0, moment=2, radius=1.0, rng=1),
    "vector": lambda: estimation.vector_mean(RNG.uniform(-0.5, 0.5, (N, 3)), 2.0, rng=1),
    "sparse": lambda: estimation.sparse_mean(RNG.uniform(-1, 1, (N, 3)), 2.0, radius=1, rng=1),
    "median": lambda: estimation.median(RNG.uniform(0, 1, N), 2.0, lower=0, upper=1, rng=1),
    "range quantile": lambda: estimation.range_queries(RNG.integers(0, 64, N), 64, 2.0, rng=1).quantile(0.5),
    "ratio": lambda: Survey({"x": Mean(0, 10, optional=True)}, 2.0).run({"x": RNG.uniform(0, 10, N)}, rng=1)["x"],
    "histogram quantile": lambda: (
        Survey({"x": Histogram(range(11))}, 2.0).run({"x": RNG.uniform(0, 10, N)}, rng=1)["x"].quantile(0.3)
    ),
    "trimmed mean": lambda: central.trimmed_mean(RNG.uniform(0, 1, N), 0.1, epsilon=1.0, lower=0, upper=1, rng=1),
}


@pytest.mark.long
@pytest.mark.parametrize("name", ESTIMATES)
def test_a_test_rejects_where_the_interval_excludes_the_null(name):
    """For every rule of limits that an estimator uses."""
    estimate = ESTIMATES[name]()
    low, high = estimate.rule.bounds(np.asarray(estimate.value), np.asarray(estimate.stderr), 0.025)
    width = np.maximum(high - low, 1e-9)
    cases = [(low - 0.02 * width, True), (low + 0.02 * width, False), (high - 0.02 * width, False)]
    inside = lambda null: np.clip(null, *estimate._possible_range)  # noqa: E731  # others are refused
    for null, excluded in [*cases, (high + 0.02 * width, True)]:
        tested = inside(null)
        pvalue = estimate.test(tested if np.ndim(null) else float(tested)).pvalue
        assert ((np.asarray(pvalue) < 0.05) == excluded)[tested == null].all()
    value = inside(estimate._unbiased().value)
    one_sided = [estimate.test(value, alternative=side).pvalue for side in ("less", "greater")]
    assert np.all(np.add(*one_sided) >= 0.99)


def test_tests_refuse_what_they_cannot_mean():
    estimate = ldp.Warner(1.0).run([True] * 100, rng=1)
    with pytest.raises(ValueError, match="alternative must be"):
        estimate.test(0.5, alternative="larger")
    with pytest.raises(ValueError, match="null must be a number or have shape"):
        estimate.test([0.5, 0.5])
    with pytest.raises(ValueError, match="null must be finite"):
        estimate.test(float("nan"))
    with pytest.raises(TypeError):
        estimate.test("half")
    assert "pvalue" in repr(estimate.test(0.5))
    assert isinstance(estimate.test(), TestResult)
    with pytest.warns(ldp.SmallSampleWarning):
        ldp.mechanisms.L2Ball(2, 1.0).run(np.zeros((3, 2)), rng=1).test()


# Differences and ratios -----------------------------------------------------------------------------------------------


def test_a_difference_adds_variances_and_covariances():
    mechanism = ldp.RandomizedResponse(3, 2.0)
    a, b = (mechanism.run(RNG.integers(0, 2, n), rng=n) for n in (5000, 8000))
    d = a - b
    assert np.allclose(d.value, a.value - b.value)
    assert np.allclose(d.stderr**2, a.stderr**2 + b.stderr**2)
    assert (d.n, d.epsilon) == (13_000, a.epsilon)
    low, high = d.interval()
    parts = [x.interval() for x in (a, b)]
    assert np.allclose(d.value - low, np.hypot(a.value - parts[0][0], parts[1][1] - b.value))
    assert np.allclose(high - d.value, np.hypot(parts[0][1] - a.value, b.value - parts[1][0]))
    assert isinstance(a.rule, Binomial)


def test_a_difference_of_quantiles_adds_the_errors_within_bins():
    """Where a number is in its bin is no matter of chance: two such errors can both be as large as they are."""
    survey = Survey({"x": Histogram([0, 10, 20, 30])}, 8.0)
    a, b = (survey.run({"x": np.full(N, x)}, rng=1)["x"].quantile(0.5) for x in (29.0, 1.0))
    assert (a.interval(), b.interval()) == ((20.0, 30.0), (0.0, 10.0))
    assert a._minus(b).interval() == (10.0, 30.0)
    halves = [np.repeat([value, value + 1], N // 2) for value in (10, 40)]
    found = [estimation.range_queries(x, 64, 8.0, rng=2).quantile(0.5) for x in halves]
    (low_a, high_a), (low_b, high_b) = (part.interval() for part in found)
    assert found[1]._minus(found[0]).interval() == (low_b - high_a, high_b - low_a)
    assert high_a - low_a == high_b - low_b == 1


def test_normal_limits_of_a_difference_add_their_biases():
    guarantee = ldp.privacy.Guarantee("local", 1.0)
    parts = [ldp.Estimate(mean, 0.1, N, guarantee, None, Normal(bias)) for mean, bias in ((0.5, 0.02), (0.2, 0.03))]
    d = parts[0] - parts[1]
    assert isinstance(d.rule, Normal)
    assert d.rule.bias == sum(part.rule.bias for part in parts) > 0


def test_a_ratio_has_fiellers_limits():
    a, b = (ldp.SignBit(0, 1, 2.0).run(np.full(n, mean), rng=n) for n, mean in ((20_000, 0.8), (30_000, 0.4)))
    r = a / b
    low, high = r.interval()
    z = stats.norm.isf(0.025)
    for limit in (low, high):  # the ends solve (a - R b)^2 = z^2 Var(a - R b)
        assert (a.value - limit * b.value) ** 2 == pytest.approx(z**2 * (a.stderr**2 + limit**2 * b.stderr**2))
    assert low < 2 < high
    flat = ldp.SignBit(0, 1, 0.5).run(np.zeros(100), rng=1)
    assert (a / flat).interval() == (-np.inf, np.inf)


@pytest.mark.claim("A difference of results whose people may be the same is refused.", "Estimates")
def test_differences_need_different_people():
    survey = Survey(questions(), 6.0)
    frame = {**people(N), "group": np.arange(N) % 2}
    by_group = survey.run(frame, by="group", rng=1)
    name = next(iter(by_group[0]))
    assert (by_group[0][name] - by_group[1][name]).n > 0
    with pytest.raises(ValueError, match="different people"):
        by_group[0][name] - by_group[0][name]
    whole, again = survey.run(frame, rng=1), survey.run(frame, rng=2)
    with pytest.raises(ValueError, match=r"say so by survey\.compare"):
        whole[name] - again[name]  # the same people may have answered both
    other = Survey(questions(), 6.0, series="students").run(frame, rng=3)
    assert (whole[name] - other[name]).n > 0


def test_merged_and_grouped_counts_know_their_people():
    mechanism = ldp.Warner(2.0)
    a, b = (mechanism.aggregator().update(mechanism.privatize([True] * 100, rng=m)) for m in (1, 2))
    first, second = a.estimate(), b.estimate()
    assert (first - second).n == 200
    both = a.merge(b).estimate()
    for part in (first, second):
        with pytest.raises(ValueError, match="different people"):
            both - part
    groups = mechanism.collect([True, False] * 50, by=["x", "y"] * 50, rng=1).estimate()
    assert (groups["x"] / groups["y"]).n == 100
    with pytest.raises(ValueError, match="different people"):
        groups["x"] - groups["x"]


def test_one_question_per_person_means_different_people():
    """Each person answers one question: answers to different questions are of different people."""
    frame = {"a": np.arange(N) % 2 == 0, "b": np.arange(N) % 4 == 0}
    asked = {"a": YesNo(), "b": YesNo()}
    one = Survey(asked, 2.0).run(frame, rng=1)
    assert (one["a"] - one["b"]).interval()[0] > 0
    both = Survey(asked, 2.0, answers="all").run(frame, rng=1)
    with pytest.raises(ValueError, match="ask a Cross"):
        both["a"] - both["b"]
    survey = Survey({**asked, "x": Cross("a", "b")}, 2.0)
    pooled = survey.collect(frame, rng=1).estimate(pooled=True)
    with pytest.raises(ValueError, match="ask a Cross"):
        pooled["a"] - pooled["b"]  # people who answered the Cross are in both


def test_differences_need_the_same_labels():
    a = Survey({"q": Choice(["foot", "car"])}, 2.0, series="a").run({"q": ["foot", "car"] * 50}, rng=1)["q"]
    b = Survey({"q": Choice(["car", "foot"])}, 2.0, series="b").run({"q": ["foot", "car"] * 50}, rng=1)["q"]
    with pytest.raises(ValueError, match="same question"):
        a - b
    with pytest.raises(ValueError, match="same question"):
        (
            Survey({"q": Mean(0, 1)}, 2.0).run({"q": [0.5] * 50}, rng=1)["q"]
            - Survey({"q": Mean(0, 2)}, 2.0, series="b").run({"q": [0.5] * 50}, rng=1)["q"]
        )
    with pytest.raises(TypeError):
        a - 1.0


def test_rounds_of_a_repeated_question_are_of_the_same_people():
    asked = Repeated(YesNo(), permanent=3.0, round=1.0, rounds=3)
    keys = ldp.PersonKeys(bytes(32), np.arange(200), question="q")
    first, second = (asked.in_round(m).run([True, False] * 100, rng=keys) for m in (0, 1))
    with pytest.raises(ValueError, match="different people"):
        first - second
    with pytest.raises(ValueError, match="different people"):
        first / second


@pytest.mark.long
@pytest.mark.parametrize("n", [40, 400, 10_000])
def test_intervals_of_differences_cover(n):
    hits, repetitions = 0, 1000
    for seed in range(repetitions):
        a, b = (
            ldp.simulate(ldp.Warner(2.0), [1 - s, s], n, rng=2 * seed + i).estimate() for i, s in enumerate((0.1, 0.3))
        )
        low, high = (a - b).interval()
        hits += low <= -0.2 <= high
    assert 0.93 <= hits / repetitions <= 0.985 if n < 1000 else 0.93 <= hits / repetitions <= 0.97


# Covariances ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("optional", [False, True])
def test_every_answer_with_several_numbers_has_its_covariance(optional):
    result = Survey(questions(optional), 6.0).run(people(N, missing=0.2 * optional), rng=1)
    for name, answer in result.items():
        if np.ndim(answer.value) == 0:
            assert answer.covariance is None
            continue
        assert answer.covariance.shape == (np.size(answer.value),) * 2, name
        assert np.allclose(answer.covariance, answer.covariance.T)
        assert np.allclose(np.diag(answer.covariance), np.ravel(answer.stderr) ** 2, rtol=1e-6)
    table = result["age and smoking"]
    for part in (table.margin("smoker"), table.given("smoker")):
        if np.ndim(part.value):
            assert np.allclose(np.diag(part.covariance), np.ravel(part.stderr) ** 2, rtol=1e-6)


# Tests of distributions -----------------------------------------------------------------------------------------------

KINDS = {"k-ary": (Choice(4), 3.0), "subset": (Choice(30), 1.0), "optional": (Choice(4, optional=True), 3.0)}


def dense(found, share):
    """Return the covariance of the shares of a distribution as a matrix, and its pseudo-inverse."""
    matrix = found.covariance(share).matrix
    return matrix, np.linalg.pinv(matrix, rcond=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_statistics_equal_those_of_matrices(kind):
    question, epsilon = KINDS[kind]
    k = question.k
    a, b = (drawn(question, epsilon, np.full(k, 1 / k), n, n) for n in (20_000, 30_000))
    symbols = len(question.labels)
    null = np.full(symbols, 1 / symbols)
    part = compared_shares.distribution(a)
    d = part.values(part.shares.value, null) - null
    matrix, inverse = dense(part, null)
    assert np.allclose(matrix.sum(axis=0), 0, atol=1e-12)
    result = a.goodness_of_fit(null)
    assert result.statistic == pytest.approx(d @ inverse @ d, rel=1e-6)
    assert result.df == symbols - 1
    assert result.pvalue == pytest.approx(chi2.sf(result.statistic, symbols - 1))
    both = two_sample(a, b)
    parts = [compared_shares.distribution(x) for x in (a, b)]
    d = np.subtract(*(x.values(x.shares.value, both.null) for x in parts))
    total = sum(dense(x, both.null)[0] for x in parts)
    assert both.statistic == pytest.approx(d @ np.linalg.pinv(total, rcond=1e-9) @ d, rel=1e-6)


def test_unary_encoding_is_constrained():
    """Its estimates do not add up to 1; the part that the sum explains is taken away."""
    mechanism = ldp.UnaryEncoding(10, 1.0)
    shares = shares_of(ldp.simulate(mechanism, np.full(10, 0.1), 50_000, rng=1))
    answer = column_of(Choice(10)).answer(shares, 1)
    null = np.full(10, 0.1)
    sigma = shares.response.covariance(null, 50_000).matrix
    d, one = shares.value - null, np.ones(10)
    inverse = np.linalg.inv(sigma)
    expected = d @ inverse @ d - d.sum() ** 2 / (one @ sigma @ one)
    assert answer.goodness_of_fit(null).statistic == pytest.approx(expected, rel=1e-8)


def level(pvalues, claim=0.05):
    """Return whether the share of rejections is at most the claim, up to 4 standard errors."""
    return np.mean(np.asarray(pvalues) < claim) <= claim + 4 * np.sqrt(claim * (1 - claim) / len(pvalues))


SLOW = pytest.mark.long
GRID = [
    (2, 20, 0.5),
    (6, 500, 8.0),
    *(pytest.param(*case, marks=SLOW) for case in ((4, 12, 2.0), (2, 2000, 2.0), (4, 3000, 0.25), (30, 3000, 2.0))),
]


@pytest.mark.claim("Tests of fit and of two samples reject true hypotheses at most as often as they say.", "Estimates")
@pytest.mark.parametrize("k, n, epsilon", GRID)
@pytest.mark.long
def test_levels_of_goodness_of_fit_and_two_samples(k, n, epsilon):
    shares = np.arange(1, k + 1) / (k * (k + 1) / 2)
    fits, pairs = [], []
    for seed in range(200):
        a, b = (drawn(Choice(k), epsilon, shares, size, 2 * seed + size % 2) for size in (n, n + 1))
        fits.append(a.goodness_of_fit(shares, rng=seed).pvalue)
        pairs.append(two_sample(a, b, rng=seed).pvalue)
    assert level(fits)
    assert level(pairs)


def test_small_samples_have_exact_methods():
    a, b = (drawn(Choice(4), 4.0, [0.7, 0.1, 0.1, 0.1], 20, seed) for seed in (1, 2))
    assert a.goodness_of_fit([0.7, 0.1, 0.1, 0.1], rng=1).method == "simulation"
    assert two_sample(a, b, rng=1).method == "permutation"
    other = drawn(Choice(4), 3.0, [0.7, 0.1, 0.1, 0.1], 20, 3)  # another mechanism
    assert two_sample(a, other, rng=1).method == "bootstrap"
    assert two_sample(a, b, rng=1).pvalue == two_sample(a, b, rng=1).pvalue


def test_permutation_is_fishers_test_for_two_labels():
    """For two labels the statistic orders tables as the distance of the counts does, so the p-value is hypergeometric."""
    a, b = answer_of(YesNo(), 4.0, [3, 5], 8), answer_of(YesNo(), 4.0, [7, 1], 8)
    result = two_sample(a, b, rng=1)
    assert result.method == "permutation"
    exact = stats.fisher_exact([[3, 5], [7, 1]]).pvalue
    assert result.pvalue == pytest.approx(exact, abs=0.02)


def test_power_does_not_suffer_from_other_epsilons():
    shares = np.array([[0.5, 0.3, 0.2], [0.4, 0.3, 0.3]])
    a, b = (drawn(Choice(3), epsilon, row, 20_000, 7) for epsilon, row in zip((2.0, 4.0), shares, strict=True))
    assert two_sample(a, b).pvalue < 1e-4
    assert k_sample([a, b, drawn(Choice(3), 1.0, shares[0], 20_000, 8)]).df == 4


@pytest.mark.claim(
    "The test of independence keeps its level, which the usual test on noisy counts does not.", "Estimates"
)
@pytest.mark.long
def test_independence_has_its_level_where_the_usual_test_has_not():
    survey = Survey({"a": Choice(3), "b": Choice(3), "x": Cross("a", "b")}, 2.0, weights={"a": 0, "b": 0})
    shares = np.outer([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]).ravel()
    ours, usual, n = [], [], 20_000
    for seed in range(200):
        counts = ldp.simulate(survey.mechanisms["x"], shares, n, rng=seed)
        table = CrossAnswer.of(("a", "b"), [column_of(Choice(3))] * 2, shares_of(counts), 1)
        ours.append(table.independence().pvalue)
        usual.append(stats.chi2_contingency(np.maximum(table.value * n, 1)).pvalue)
    assert level(ours)
    assert np.mean(np.array(ours) < 0.5) > 0.35
    assert np.mean(np.array(usual) < 0.05) > 0.3
    dependent = np.array([[0.4, 0.1, 0.0], [0.0, 0.2, 0.1], [0.0, 0.0, 0.2]]).ravel()
    table = CrossAnswer.of(
        ("a", "b"), [column_of(Choice(3))] * 2, shares_of(ldp.simulate(survey.mechanisms["x"], dependent, n, rng=1)), 1
    )
    assert table.independence().pvalue < 1e-6


@pytest.mark.parametrize("k, epsilon, n", [((3, 3), 2.0, 20_000), ((5, 6), 8.0, 100_000), ((5, 6), 1.0, 1_000_000)])
def test_the_table_without_dependence_fits_best(k, epsilon, n):
    """At the fitted margins, no change of them that keeps their sum makes the squared distance smaller."""
    margins = [np.arange(1, size + 1) / (size * (size + 1) / 2) for size in k]
    mechanism = ldp.mechanisms.for_categories(k[0] * k[1], epsilon)
    for seed in range(5):
        shares = shares_of(ldp.simulate(mechanism, np.outer(*margins).ravel(), n, rng=seed))
        table = CrossAnswer.of(("a", "b"), [column_of(Choice(size)) for size in k], shares, 1)
        null = np.reshape(table.independence().null, k)
        a, b = null.sum(axis=1), null.sum(axis=0)
        np.testing.assert_allclose(null, np.outer(a, b), atol=1e-12)
        found = compared_shares.distribution(table)
        slope = compared_shares.Precision.of(found.covariance(null.ravel())).times(
            found.values(shares.value, null.ravel()) - null.ravel()
        )
        by_cell = slope.reshape(k)
        for change in (
            by_cell @ b,
            a @ by_cell,
        ):  # derivatives with respect to the margins, equal where none can be moved
            assert np.ptp(change) < 1e-5 * np.abs(slope).max()


@pytest.mark.claim("The test of independence gives a `SmallSampleWarning` where it rejects too often.", "Estimates")
def test_margins_that_are_all_noise_are_a_warning():
    """At epsilon 0.25, with 196 cells and 20,000 people, the test rejects too often."""
    shares = shares_of(ldp.simulate(ldp.mechanisms.for_categories(196, 0.25), np.full(196, 1 / 196), 20_000, rng=1))
    table = CrossAnswer.of(("a", "b"), [column_of(Choice(14))] * 2, shares, 1)
    with pytest.warns(ldp.SmallSampleWarning, match=r"a standard error is [23]\.\d times the mean share"):
        table.independence()


def test_independence_of_a_mean_and_of_optional_questions():
    survey = Survey({"hours": Mean(0, 10, optional=True), "way": Choice(3), "x": Cross("way", "hours")}, 4.0)
    n = 60_000
    way, hours = RNG.integers(0, 3, n), RNG.uniform(0, 10, n)
    hours = np.where(RNG.random(n) < 0.1 * way, np.nan, hours)  # who answers depends, the hours do not
    assert survey.run({"hours": hours, "way": way}, rng=1)["x"].independence().pvalue > 0.001
    assert survey.run({"hours": hours / (1 + way), "way": way}, rng=1)["x"].independence().pvalue < 1e-6


def test_many_categories_are_fast_and_small_tables_are_drawn():
    big = [drawn(Choice(1000), 1.0, np.full(1000, 1e-3), 100_000, seed) for seed in (1, 2)]
    assert two_sample(*big).df == 999
    few = [drawn(Choice(30), 1.0, np.full(30, 1 / 30), 60, seed) for seed in (1, 2)]
    assert two_sample(*few, rng=1).method == "bootstrap"


def test_hypotheses_refuse_bad_input():
    a, b = (drawn(Choice(3), 2.0, np.full(3, 1 / 3), 500, seed) for seed in (1, 2))
    for shares, message in (([0.5, 0.5], "shape"), ([0.5, 0.6, 0.2], "sum 1"), ([1.5, -0.5, 0], ">= 0")):
        with pytest.raises(ValueError, match=message):
            a.goodness_of_fit(shares)
    with pytest.raises(ValueError, match="different people"):
        two_sample(a, a)
    with pytest.raises(ValueError, match="at least 2"):
        k_sample([a])
    with pytest.raises(TypeError, match="answers of a survey"):
        two_sample(a, ldp.Warner(1.0).run([True] * 50, rng=1))
    with pytest.raises(ValueError, match="same question"):
        two_sample(a, drawn(Choice(4), 2.0, np.full(4, 0.25), 500, 1))
    silent = Survey({"x": Choice(3, optional=True)}, 1.0).run({"x": [None] * 500}, rng=1)["x"]
    with pytest.raises(ValueError, match="cannot be told from 0"):
        silent.goodness_of_fit([0.2, 0.3, 0.5])
    window = Survey({"x": Mean(0, 1)}, 6.0)
    numbers = [window.run({"x": RNG.random(5000) * m}, rng=m)["x"] for m in (1, 1)]
    with pytest.raises(ValueError, match="test of a difference"):
        numbers[0].goodness_of_fit([0.5, 0.5])
    assert two_sample(*numbers).method == "limits"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert two_sample(a, b).pvalue > 0


# Comparisons ----------------------------------------------------------------------------------------------------------


def test_compare_shows_every_difference():
    frame = {**people(N), "group": np.array(["N", "S", "W"])[np.arange(N) % 3]}
    results = Survey(questions(), 6.0).run(frame, by="group", rng=1)
    comparison = compare(results)
    table = comparison.table
    size = sum(np.size(answer.value) for answer in results["N"].values())
    assert len(table) == 2 * size
    assert set(zip(table["group"], table["reference"], strict=True)) == {("S", "N"), ("W", "S")}
    name = next(iter(results["N"]))
    row = table["question"].index(name)
    assert table["difference"][row] == pytest.approx(np.ravel(results["S"][name].value - results["N"][name].value)[0])
    expected = multipletests(table["pvalue"], method="holm")[1]
    assert np.allclose(table["adjusted"], expected)
    assert comparison.to_frame().shape == (2 * size, 11)
    wide = compare(results, confidence=0.99).table
    assert all(a < b for a, b in zip(wide["low"], table["low"], strict=True) if b > -1)
    against = compare(results, reference="N").table
    assert set(against["reference"]) == {"N"}
    assert "Holm" in repr(comparison)
    assert "<table>" in comparison._repr_html_()


def test_compare_is_a_declaration_that_people_differ(tmp_path):
    survey = Survey({"smokes": YesNo(), "hours": Mean(0, 10)}, 2.0)
    weeks = {
        f"week {m}": survey.run({"smokes": [True, False] * 5000, "hours": [1.0 * m] * 10_000}, rng=m) for m in (1, 2)
    }
    comparison = compare(weeks)
    assert comparison.table["adjusted"][1] < 0.01
    comparison.plot(tmp_path / "weeks.svg")
    assert (tmp_path / "weeks.svg").stat().st_size > 1000
    page = comparison.plot_trends(tmp_path / "trends.svg")
    assert (tmp_path / "trends.svg").stat().st_size > 1000
    for ax, question in zip(page.axes, ("smokes", "hours"), strict=True):
        values = [result[question].value for result in weeks.values()]
        np.testing.assert_array_equal(ax.get_lines()[0].get_ydata(), values)
        assert [text.get_text() for text in ax.get_xticklabels()] == list(weeks)
        limits = [segment[:, 1] for segment in ax.collections[0].get_segments()]
        np.testing.assert_allclose(limits, [result[question].interval() for result in weeks.values()])
    assert len(comparison.plot_trends(questions=["hours"]).axes) == 1
    with pytest.raises(ValueError, match="questions must be compared and have at most 12 numbers, got 'age'"):
        comparison.plot_trends(questions=["age"])
    with pytest.raises(TypeError, match="questions must be a list of names, got 'hours'"):
        comparison.plot_trends(questions="hours")
    answers = compare({name: result["hours"] for name, result in weeks.items()})
    assert answers.table["difference"] == comparison.table["difference"][1:]
    with pytest.raises(ValueError, match="computed from the same reports"):
        compare({"a": weeks["week 1"], "b": weeks["week 1"]})
    with pytest.raises(ValueError, match="at least 2"):
        compare({"a": weeks["week 1"]})
    with pytest.raises(ValueError, match="reference must be one of"):
        compare(weeks, reference="week 3")
    with pytest.raises(TypeError, match="mapping"):
        compare([weeks["week 1"]])
    with pytest.raises(TypeError, match="results of surveys"):
        compare({"a": 1, "b": 2})
    other = Survey({"drinks": YesNo()}, 2.0).run({"drinks": [True] * 100}, rng=1)
    with pytest.raises(ValueError, match="question in common"):
        compare({"a": weeks["week 1"], "b": other})


@pytest.mark.claim("Adjusted p-values hold for all comparisons of a table together.", "Estimates")
@pytest.mark.long
def test_the_family_of_a_comparison_has_its_level():
    """12 questions, two groups, nothing differs: some adjusted p-value is below .05 in at most 5 % of surveys."""
    asked = {f"q{i}": YesNo() for i in range(12)}
    survey, n, false = Survey(asked, 2.0, answers="all"), 3000, 0
    frame = {f"q{i}": np.arange(n) % (i + 2) == 0 for i in range(12)} | {
        "group": np.random.default_rng(1).random(n) < 0.5
    }
    for seed in range(150):
        false += min(compare(survey.run(frame, by="group", rng=seed)).table["adjusted"]) < 0.05
    assert false <= 150 * 0.05 + 4 * np.sqrt(150 * 0.05)


def test_primary_questions_are_corrected_for_among_themselves():
    frame = {**people(N), "group": np.array(["N", "S", "W"])[np.arange(N) % 3]}
    results = Survey(questions(), 6.0).run(frame, by="group", rng=1)
    names = list(results["N"])
    plain, chosen = compare(results).table, compare(results, primary=[names[-1], names[1]])
    table = chosen.table
    assert chosen.primary == (names[-1], names[1])
    assert list(dict.fromkeys(table["question"]))[:3] == [names[-1], names[1], names[0]]
    are_primary = np.array(table["primary"])
    assert are_primary.tolist() == [question in chosen.primary for question in table["question"]]
    assert 0 < are_primary.sum() < len(table)
    adjusted, pvalues = np.array(table["adjusted"]), np.array(table["pvalue"])
    np.testing.assert_allclose(adjusted[are_primary], multipletests(pvalues[are_primary], method="holm")[1])
    np.testing.assert_allclose(adjusted[~are_primary], multipletests(pvalues, method="holm")[1][~are_primary])
    keys = ("question", "answer", "group")
    before = {row[:3]: row[3:] for row in zip(*(plain[name] for name in (*keys, "low", "high")), strict=True)}
    for *key, low, high, is_primary in zip(*(table[name] for name in (*keys, "low", "high", "primary")), strict=True):
        width, old = high - low, np.subtract(*before[tuple(key)][::-1])
        assert width < old or (width == old and (low, high) == (-1, 1)) if is_primary else width == old
    alone = compare({name: {names[1]: result[names[1]]} for name, result in results.items()}).table
    single = compare(results, primary=[names[1]]).table
    assert [low for low, kind in zip(single["low"], single["primary"], strict=True) if kind] == alone["low"]
    assert "primary questions" in repr(chosen)


@each(
    "primary, error, message",
    [
        ("a", TypeError, "primary must be a sequence of names of questions, got str"),
        (3, TypeError, "primary must be a sequence of names of questions, got int"),
        (["a", "x"], ValueError, "primary must be of the questions that are compared, ['a', 'b'], got 'x'"),
    ],
)
def test_primary_questions_must_be_compared(primary, error, message):
    survey = Survey({"a": YesNo(), "b": YesNo()}, 2.0)
    results = {seed: survey.run({"a": [True] * 50, "b": [True] * 50}, rng=seed) for seed in (1, 2)}
    with raises(error, message):
        compare(results, primary=primary)


def test_answers_to_a_revised_question_are_compared_by_the_labels_that_both_have(tmp_path):
    first = Survey({"work": Choice(["office", "home", "both"], optional=True), "sick": YesNo()}, 3.0)
    second = first.revise(change={"work": Choice(["none", "home", "office"], optional=True)})
    frames = [
        {"work": RNG.choice(labels, N), "sick": RNG.random(N) < 0.1}
        for labels in (["office", "home", "both"], ["office", "home", "both"], ["office", "home", "none"])
    ]
    results = {
        f"week {week}": survey.run(frame, rng=week)
        for week, (survey, frame) in enumerate(zip((first, first, second), frames, strict=True), 1)
    }
    comparison = compare(results)
    assert comparison.differences["work", "week 2", "week 1"].labels == ("office", "home", "both")
    found = comparison.differences["work", "week 3", "week 2"]
    assert found.labels == ("home", "office")
    before, after = (results[week]["work"] for week in ("week 2", "week 3"))
    np.testing.assert_array_equal(found.value, [after.value[1] - before.value[1], after.value[2] - before.value[0]])
    np.testing.assert_array_equal(found.stderr, np.hypot(after.stderr[[1, 2]], before.stderr[[1, 0]]))
    assert comparison.apart == {"work": ("none", "both")}
    assert "work: not in all results, so not compared everywhere: 'none', 'both'" in repr(comparison)
    assert "not compared everywhere" in comparison._repr_html_()
    # Limits and p-values are those of the numbers by themselves.
    np.testing.assert_allclose(found.interval(), limits_by_hand(after, before))
    rows = [i for i, group in enumerate(comparison.table["group"]) if group == "week 3"]
    assert [comparison.table["answer"][i] for i in rows] == ["home", "office", ""]
    assert comparison.table["pvalue"][rows[0]] == pytest.approx(found.test().pvalue[0], rel=1e-9)
    comparison.plot(tmp_path / "differences.svg")
    curves = comparison.plot_trends().axes[0].get_lines()
    assert [curve.get_label() for curve in curves] == ["office", "home", "both", "none"]
    assert [np.isnan(curve.get_ydata()).tolist() for curve in curves[2:]] == [[False, False, True], [True, True, False]]
    np.testing.assert_array_equal(
        curves[0].get_ydata(), [results[week]["work"].value[i] for week, i in zip(results, (0, 0, 2), strict=True)]
    )
    other = first.revise(change={"work": Mean(0, 1, optional=True)}).run({"work": [0.5] * N, "sick": [True] * N}, rng=9)
    with pytest.raises(
        ValueError, match="'week 4' and 'week 3', question 'work': estimates must answer the same question"
    ):
        compare({**results, "week 4": other})
    nothing = first.revise(change={"work": Choice(["yes", "no", "?"], optional=True)})
    with pytest.raises(ValueError, match="question 'work': estimates must answer the same question"):
        compare({"a": results["week 1"], "b": nothing.run({"work": ["yes"] * N, "sick": [True] * N}, rng=9)})


def limits_by_hand(after, before):
    """Return the limits of the differences of two shares from those of both answers."""
    (a, low_a, high_a), (b, low_b, high_b) = (
        [np.asarray(x)[places] for x in (answer.value, *answer.rule.bounds(answer.value, answer.stderr, 0.025))]
        for answer, places in ((after, [1, 2]), (before, [1, 0]))
    )
    return a - b - np.hypot(a - low_a, high_b - b), a - b + np.hypot(high_a - a, b - low_b)
