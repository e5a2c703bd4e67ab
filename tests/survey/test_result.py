"""Answers, their intervals, and the result of a survey."""

from __future__ import annotations

import json
import tracemalloc
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import ldpfast as ldp
from ldpfast.reports import aggregator_with
from ldpfast.results import Binomial, Fieller
from ldpfast.survey import Answer, Choice, Cross, CrossAnswer, Histogram, HistogramAnswer, Mean, Survey, YesNo
from ldpfast.survey._pooled import pooled
from ldpfast.survey._weighted_sums import Cells

from ..support.cases import each
from ..support.internals.survey import Shares, column_of, mechanisms
from ..support.surveys import REGIONS, SURVEYS, people, questions, shares_of

N = 60_000
PEOPLE = people(N)
RESULT = Survey(questions(), 6.0, answers=2).run(PEOPLE, rng=1)
MISSING = people(N, missing=0.3)
OPTIONAL = Survey(questions(True), 6.0, answers=2).run(MISSING, rng=1)


def near(answer, truth, errors=5.0):
    return bool((np.abs(np.asarray(answer.value) - truth) <= errors * np.asarray(answer.stderr)).all())


@pytest.mark.long
@pytest.mark.parametrize("n", [20, 60])
@pytest.mark.parametrize("epsilon", [2.0, 8.0])
def test_ratios_cover_where_few_people_answer_yes(n, epsilon):
    """Exact coverage of each limit of an optional question, over all counts of no, yes and no answer."""
    question, mechanism = YesNo(optional=True), mechanisms.for_symbols(3, epsilon)
    assert isinstance(mechanism, ldp.RandomizedResponse)
    counts = np.array([(a, b, n - a - b) for a in range(n + 1) for b in range(n + 1 - a)])
    limits = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ldp.DoubtfulWarning)
        for seen in counts:
            shares = shares_of(aggregator_with(mechanism, [seen], n))
            limits.append(column_of(question).answer(shares, 1).interval())
    low, high = np.array(limits).T
    for share in ([0.9, 0.005, 0.095], [0.6, 0.02, 0.38], [0.45, 0.45, 0.1], [0.05, 0.05, 0.9], [0.99, 0.005, 0.005]):
        weight = stats.multinomial.pmf(counts, n, np.array(share) @ mechanism.channel().matrix)
        truth = share[1] / (share[0] + share[1])
        assert weight @ (low > truth) <= 0.026
        assert weight @ (high < truth) <= 0.026


def test_few_pooled_answers_are_a_warning():
    """As for `Estimate.interval`; texts do not warn."""
    survey = Survey({"a": YesNo(), "b": Choice(3), "x": Cross("a", "b")}, 4.0, answers="all")
    reports = survey.privatize({"a": [True] * 29, "b": [0] * 29}, rng=1)
    few = survey.aggregator().update(reports).estimate(pooled=True)
    assert "a" in repr(few)
    for call in (few["a"].interval, few.table, few.plot):
        with pytest.warns(ldp.SmallSampleWarning, match="n = 29 is too small for normal limits to be reliable"):
            call()


def test_shapes_and_labels():
    assert [np.shape(RESULT[name].value) for name in RESULT] == [(), (), (3,), (5,), (10,), (200,), (2, 2), (3, 5)]
    assert RESULT["age"].labels is None
    assert RESULT["region"].labels == REGIONS
    assert RESULT["income"].labels[0] == "0 to 10"
    assert RESULT["age and smoking"].labels == ("low", "high")
    assert RESULT["age and smoking"].columns == ("no", "yes")
    assert np.shape(OPTIONAL["region and income"].value) == (4, 6)
    assert OPTIONAL["region and income"].columns[-1] == "no answer"
    assert isinstance(RESULT["income"], HistogramAnswer)
    assert isinstance(RESULT["region and income"], CrossAnswer)
    assert RESULT.n == N
    assert RESULT["age"].n < N


def test_answers_are_near_the_truth():
    smoker, age, region = PEOPLE["smoker"], PEOPLE["age"], PEOPLE["region"]
    assert near(RESULT["age"], age.mean())
    assert near(RESULT["smoker"], smoker.mean())
    assert near(RESULT["region"], [(region == r).mean() for r in REGIONS])
    assert near(RESULT["code"], np.bincount(PEOPLE["code"], minlength=200) / N)
    bins = np.histogram(PEOPLE["income"], RESULT["income"].edges)[0] / N
    assert near(RESULT["income"], bins)
    assert near(RESULT["income"].cdf(), np.cumsum(bins)[:-1])
    joint = np.array([np.histogram(PEOPLE["income"][region == r], RESULT["income"].edges)[0] for r in REGIONS]) / N
    both = RESULT["region and income"]
    assert near(both, joint)
    assert near(both.margin("region"), joint.sum(axis=1))
    assert near(both.margin("income"), joint.sum(axis=0))
    assert near(both.given("region"), joint / joint.sum(axis=1, keepdims=True))
    assert near(both.given("income"), (joint / joint.sum(axis=0)).T)
    assert both.given("income").columns == REGIONS
    ages = RESULT["age and smoking"]
    assert near(ages.given("smoker"), [age[~smoker].mean(), age[smoker].mean()])
    assert near(ages.margin("age"), age.mean())
    assert near(ages.margin("smoker"), smoker.mean())
    assert ages.given("smoker").range == (0.0, 100.0)


def test_tables_of_three_questions_are_near_the_truth():
    """Their margins and subgroups have the form of tables of two."""
    asked = {"age": Mean(0, 100), "smoker": YesNo(), "region": Choice(REGIONS)}
    result = Survey({**asked, "all": Cross("region", "smoker", "age")}, 6.0, weights=dict.fromkeys(asked, 0)).run(
        PEOPLE, rng=2
    )
    table, smoker, age, region = result["all"], PEOPLE["smoker"], PEOPLE["age"], PEOPLE["region"]
    assert table.axes == (REGIONS, ("no", "yes"), ("low", "high"))
    assert (table.labels, table.columns) == (REGIONS, None)
    low = 1 - age / 100
    expected = [
        [[low[m].sum(), (1 - low)[m].sum()] for m in ((region == r) & (smoker == s) for s in (False, True))]
        for r in REGIONS
    ]
    assert near(table, np.array(expected) / N)
    assert near(table.margin("region"), [(region == r).mean() for r in REGIONS])
    assert near(table.margin("age"), age.mean())
    two = table.margin("smoker", "region")
    assert two.names == ("smoker", "region")
    assert near(two, [[((region == r) & (smoker == s)).mean() for r in REGIONS] for s in (False, True)])
    assert near(two.given("region"), [smoker[region == r].mean() for r in REGIONS])
    means = [[age[(region == r) & (smoker == s)].mean() for r in REGIONS] for s in (False, True)]
    assert near(table.given("smoker", "region"), means)
    shares = table.given("smoker", "age")
    assert (shares.value.shape, len(shares.entries)) == ((2, 2, 3), 12)
    assert np.allclose(shares.value.sum(axis=-1), 1)
    assert two.independence().df == 2
    assert len(table.table) == 12
    assert list(table.table.columns) == ["region", "smoker", "age", "share"]
    assert np.allclose(np.diag(two.covariance), np.ravel(two.stderr) ** 2)
    for names, message in (((), "fewer than all"), (table.names, "fewer than all"), (("age", "age"), "different")):
        with pytest.raises(ValueError, match=message):
            table.margin(*names)
    with pytest.raises(ValueError, match="names must be 2 of"):
        table.given("age")
    with pytest.raises(ValueError, match="one of two questions"):
        table.independence()


def test_optional_answers_are_those_of_people_who_answered():
    answered = {name: [v for v in values if v is not None] for name, values in MISSING.items()}
    assert near(OPTIONAL["age"], np.mean(np.array(answered["age"], float)))
    assert near(OPTIONAL["age"].missing, 1 - len(answered["age"]) / N)
    assert near(OPTIONAL["smoker"], np.mean(np.array(answered["smoker"], float)))
    assert near(OPTIONAL["region"], [answered["region"].count(r) / len(answered["region"]) for r in REGIONS])
    smoker, age = MISSING["smoker"], MISSING["age"]
    among = [
        np.mean([a for a, s in zip(age, smoker, strict=True) if a is not None and s is not None and bool(s) == yes])
        for yes in (False, True)
    ]
    assert near(OPTIONAL["age and smoking"].given("smoker"), among)
    assert RESULT["age"].missing is None
    margin = OPTIONAL["age and smoking"].margin("age")
    assert near(margin, np.mean(np.array(answered["age"], float)))
    assert near(margin.missing, 1 - len(answered["age"]) / N)


# Quantiles ------------------------------------------------------------------------------------------------------------


def test_quantiles_interpolate_the_distribution_function():
    values = np.random.default_rng(1).uniform(0, 100, N)
    survey = Survey({"x": Histogram(np.linspace(0, 100, 21).tolist())}, 6.0)
    answer = survey.run({"x": values}, rng=1)["x"]
    for q in (0.01, 0.25, 0.5, 0.9, 0.999):
        quantile = answer.quantile(q)
        low, high = quantile.interval()
        assert low <= 100 * q <= high
        assert low in answer.edges
        assert high in answer.edges
        assert abs(quantile.value - 100 * q) < 1.5
    assert answer.quantile().value == answer.quantile(0.5).value
    for bad in (0.0, 1.0, 2):
        with pytest.raises(ValueError, match="q must be"):
            answer.quantile(bad)


def test_a_quantile_in_an_empty_bin_has_limits_around_it():
    survey = Survey({"x": Histogram([0, 1, 2, 3, 4])}, 6.0)
    answer = survey.run({"x": np.repeat([0.5, 3.5], N // 2)}, rng=2)["x"]
    low, high = answer.quantile(0.5).interval()
    assert (low, high) == (0.0, 4.0)


# Intervals ------------------------------------------------------------------------------------------------------------


def fieller_set(n, d, vn, vd, c, z2, grid):
    return [r for r in grid if (n - r * d) ** 2 <= z2 * (vn - 2 * r * c + r * r * vd)]


@pytest.mark.parametrize(
    "n, d, vn, vd, c", [(0.3, 0.5, 1e-3, 1e-3, 2e-4), (0.01, 0.03, 1e-5, 2e-5, -1e-6), (-0.01, 0.3, 1e-3, 1e-3, 0)]
)
def test_fieller_limits_are_the_ends_of_the_set(n, d, vn, vd, c):
    from scipy.special import ndtri

    grid = np.linspace(-5, 5, 200_001)
    inside = fieller_set(n, d, vn, vd, c, float(ndtri(0.025)) ** 2, grid)
    rule = Fieller(*map(np.array, (n, d, vn, vd, c)))
    low, high = rule.bounds(np.array(n / d), np.array(1.0), 0.025)
    assert low == pytest.approx(min(inside), abs=1e-4)
    assert high == pytest.approx(max(inside), abs=1e-4)


def test_fieller_limits_are_infinite_where_the_denominator_may_be_zero():
    rule = Fieller(*map(np.array, (0.3, 0.001, 1e-3, 1e-3, 0.0)))
    assert [float(x) for x in rule.bounds(np.array(300.0), np.array(1.0), 0.025)] == [-np.inf, np.inf]
    result = Survey(questions(), 0.5).run(people(2000), rng=3)
    low, high = result["age and smoking"].given("smoker").interval()
    assert (low[1], high[1]) == (0.0, 100.0)


def test_shares_alone_have_binomial_limits():
    survey = SURVEYS["single"]
    aggregator = survey.aggregator().update(survey.privatize({"smoker": PEOPLE["smoker"]}, rng=1))
    plain = aggregator_with(survey.mechanisms["smoker"], aggregator._counts.group().states[2:], aggregator.n)
    low, high = plain.estimate().interval(0.9)
    assert aggregator.estimate()["smoker"].interval(0.9) == pytest.approx((low[1], high[1]), abs=1e-12)


def test_limits_are_clipped_to_the_range():
    survey = Survey({"a": YesNo(), "b": Mean(5, 6)}, 0.1)
    result = survey.run({"a": np.zeros(300, bool), "b": np.full(300, 5.0)}, rng=7)
    for name, (least, most) in {"a": (0, 1), "b": (5, 6)}.items():
        low, high = result[name].interval(0.5)
        assert least <= low <= high <= most


def test_simultaneous_limits_divide_the_tail_by_all_reported_numbers():
    survey = Survey({"a": YesNo(), "c": Choice(3), "x": Cross("a", "c"), "h": Histogram([0, 1, 2, 3], column="c")}, 3.0)
    result = survey.run({"a": PEOPLE["smoker"], "c": np.arange(N) % 3}, rng=1)
    numbers = 1 + 2 * 3 + (3 * 6 + 5) + 2 * 3
    tail = 0.05 / numbers
    assert result["a"].interval(0.95, simultaneous=True) == pytest.approx(result["a"].interval(1 - tail))
    assert np.allclose(result["x"].interval(0.95, simultaneous=True), result["x"].interval(1 - tail))
    assert np.allclose(result["x"].given("a").interval(0.95, True), result["x"].given("a").interval(1 - tail))


# Covariance -----------------------------------------------------------------------------------------------------------


SHARES = np.array([4, 2, 1, 1]) / 8
MECHANISMS = [
    ldp.RandomizedResponse(4, 1.0),
    ldp.UnaryEncoding(4, 1.0),
    ldp.UnaryEncoding(4, 1.0, method="optimized"),
    *(ldp.SubsetSelection(4, 1.0, size=size) for size in (1, 2, 3)),
]


def enumerated(mechanism, shares, rows=None):
    """Return the covariance of one decoded report of a person who is drawn from a population, times weights in rows."""
    rho = shares @ mechanism.channel().matrix
    codes = np.flatnonzero(rho)
    decoded = mechanism.decode(mechanism.report.unpack(codes.astype(np.uint8).reshape(-1, 1)))
    decoded = decoded if rows is None else decoded @ np.transpose(rows)
    mean = rho[codes] @ decoded
    return (decoded.T * rho[codes]) @ decoded - np.outer(mean, mean)


@each("mechanism", MECHANISMS)
@each("shares", [SHARES, [0.25] * 4, [1, 0, 0, 0], [0, 0.9, 0, 0.1]])
def test_the_expected_covariance_is_exact(mechanism, shares):
    shares = np.array(shares, float)
    found = Shares.expected(mechanism, shares)
    assert np.allclose(found.covariance.matrix, enumerated(mechanism, shares), rtol=1e-12, atol=1e-12)
    rows = np.kron(np.eye(2), np.ones(2))
    for axis, sums in ((0, rows), (1, np.kron(np.ones(2), np.eye(2)))):
        margin = found.margin((2, 2), [axis])
        exact = enumerated(mechanism, shares, sums)
        assert np.allclose(margin.covariance.matrix, exact, rtol=1e-12, atol=1e-12)
        assert np.allclose(margin.response.covariance(sums @ shares, 1).matrix, exact, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("mechanism", MECHANISMS[:2])
def test_margins_of_margins_are_margins(mechanism):
    """The response of a margin knows how many cells are behind it."""
    mechanism = type(mechanism)(12, mechanism.epsilon)
    cells = shares_of(mechanism.aggregator().update(mechanism.privatize(np.arange(9000) % 12, rng=1)))
    direct, twice = cells.margin((2, 3, 2), [1]), cells.margin((2, 3, 2), [2, 1]).margin((2, 3), [1])
    assert np.allclose(direct.value, twice.value)
    assert np.allclose(direct.covariance.matrix, twice.covariance.matrix)
    assert direct.response.cells == twice.response.cells == 4
    assert np.allclose(direct.value, cells.value.reshape(2, 3, 2).sum(axis=(0, 2)))


@each("mechanism", MECHANISMS)
def test_the_estimated_covariance_is_that_of_the_mechanism(mechanism):
    records = np.repeat(np.arange(4), (SHARES * (200 << 12)).astype(int))
    found = shares_of(mechanism.aggregator().update(mechanism.privatize(records, rng=1)))
    exact = enumerated(mechanism, SHARES)
    assert np.allclose(found.covariance.matrix * len(records), exact, atol=0.03 * np.abs(exact).max())


@each("mechanism", MECHANISMS)
def test_the_standard_errors_of_sums_and_ratios_are_those_of_the_covariance(mechanism):
    """The covariance is multiplied out, with all its entries."""
    shares = shares_of(mechanism.aggregator().update(mechanism.privatize(np.arange(9000) % 4, rng=1)))
    matrix, eye, value = shares.covariance.matrix, np.eye(4), shares.value
    table = Cells.of_table((2, 2), [1], (2, 2))
    columns = np.kron(np.ones(2), eye[:2, :2])
    for sums, rows in (
        (Cells.first(3).each(), eye[:3]),
        (Cells.one(-1).total(), eye[3]),
        (Cells.first(4).cumulative(), np.tri(3, 4)),
        (table.total(), columns),
        (table.total(np.array([-2.0, 5.0])), np.kron([-2.0, 5.0], eye[:2, :2])),
        (Cells.first(4).total(np.array([1.0, 3.0, -1.0, 2.0])), np.array([1.0, 3.0, -1.0, 2.0])),
    ):
        found = shares.linear(sums)
        assert np.allclose(found.value, rows @ value)
        assert np.allclose(found.stderr**2, np.einsum("...i,ij,...j", rows, matrix, rows), rtol=1e-9, atol=1e-18)
    cells = np.eye(4).reshape(2, 2, 4).swapaxes(0, 1)  # of column g and row i
    for sums, rows, given, below in (
        (table.each(), cells, table.total(keep=True), columns[:, np.newaxis]),
        (table.total(np.array([-2.0, 5.0])), np.kron([-2.0, 5.0], eye[:2, :2]), table.total(), columns),
        (Cells.first(3).each(), eye[:3], Cells.first(3).total(keep=True), np.array([[1.0, 1, 1, 0]])),
    ):
        found = shares.ratio(sums, given)
        difference = rows - found.value[..., np.newaxis] * below
        expected = np.einsum("...i,ij,...j", difference, matrix, difference) / (below @ value) ** 2
        assert np.allclose(found.value, (rows @ value) / (below @ value))
        assert np.allclose(found.stderr**2, expected, rtol=1e-9)


def dense_pooled(sources, together):
    """Return shares and covariance by generalized least squares for all but the last share, with full matrices."""
    k, n = len(sources[0].value), [source.n for source in sources]
    share = sum(source.covariance.vectors[1] * source.n for source in sources) / sum(n)
    share = np.maximum(share, 0.5 / sum(n))
    share /= share.sum()
    free, constant = np.vstack([np.eye(k - 1), -np.ones(k - 1)]), np.eye(k)[-1]
    plain = np.diag(share) - np.outer(share, share)
    whole = np.block(
        [
            [
                a.response.covariance(share, n[i]).matrix if i == j else plain * together(i, j) / (n[i] * n[j])
                for j in range(len(sources))
            ]
            for i, a in enumerate(sources)
        ]
    )
    design = np.vstack([free] * len(sources))
    seen = np.concatenate([source.value - constant for source in sources])
    inverse = np.linalg.pinv(whole, rcond=1e-10, hermitian=True)
    covariance = np.linalg.inv(design.T @ inverse @ design)
    return constant + free @ covariance @ design.T @ inverse @ seen, free @ covariance @ free.T


@each("names", [(0, 0), (0, 3), (2, 4), (4, 4, 1), (5, 0, 4, 2)])
def test_pooled_shares_are_those_of_full_matrices(names):
    x = np.arange(30_000) % 8 // 2
    sources = [
        shares_of(m.aggregator().update(m.privatize(x[: 9000 + 5000 * i], rng=i)))
        for i, m in enumerate(MECHANISMS[name] for name in names)
    ]
    table = ldp.SubsetSelection(12, 1.0)
    cells = shares_of(table.aggregator().update(table.privatize(4 * (np.arange(20_000) % 3) + x[:20_000], rng=9)))
    sources.append(cells.margin((3, 4), [1]))

    def together(i, j):
        return 1000 * (i + j)

    found, (value, covariance) = pooled(sources, together), dense_pooled(sources, together)
    assert np.allclose(found.value, value, rtol=1e-8, atol=1e-10)
    assert np.allclose(found.covariance.matrix, covariance, rtol=1e-7, atol=1e-12)
    assert found.value.sum() == pytest.approx(1)


@pytest.mark.parametrize("epsilon", [8, 16, 24, 44])
def test_pooled_answers_at_any_epsilon(epsilon):
    """With little noise they are the shares of all answers, and rare shares have standard errors above 0."""
    questions = {"a": Choice(list("vwxyz")), "c": Choice(list("pq")), "ac": Cross("a", "c")}
    frame = {"a": np.array(list("vw"))[np.arange(300) % 10 // 9], "c": ["p"] * 300}
    counted = Survey(questions, float(epsilon)).collect(frame, rng=1)
    found, alone = counted.estimate(pooled=True)["a"], counted.estimate()["a"]
    assert np.abs(found.value - [0.9, 0.1, 0, 0, 0]).max() < 0.1
    assert found.value.sum() == pytest.approx(1)
    assert (0.3 / found.n < found.stderr).all()
    assert (found.stderr < alone.stderr).all()


def test_the_overlap_of_large_samples_does_not_overflow():
    x = np.arange(30_000) % 4
    small = [shares_of(m.aggregator().update(m.privatize(x, rng=1))) for m in (MECHANISMS[0], MECHANISMS[4])]
    large = [replace(source, n=source.n * 10**6) for source in small]
    expected = pooled(small, lambda i, j: 10_000).value
    assert np.allclose(pooled(large, lambda i, j: 10_000 * 10**6).value, expected, atol=1e-6)


@pytest.mark.parametrize("start", [0, 1990, 1.7e9])
def test_the_mean_of_a_table_does_not_depend_on_where_zero_is(start):
    """The table is answered by subset selection, where the limits of a sum depend on the size of a step."""
    months = Choice(12)
    survey = Survey({"day": Mean(start, start + 365), "month": months, "both": Cross("day", "month")}, 1.0)
    plain = Survey({"day": Mean(0, 365), "month": months, "both": Cross("day", "month")}, 1.0)
    days, month = np.arange(2000) % 366.0, np.arange(2000) % 12
    for name in ("margin", "given"):
        found, expected = (
            getattr(s.run({"day": at + days, "month": month}, rng=1)["both"], name)(
                "day" if name == "margin" else "month"
            )
            for s, at in ((survey, start), (plain, 0.0))
        )
        assert np.allclose(found.value - start, expected.value, rtol=1e-6, atol=1e-4)
        assert np.allclose(found.stderr, expected.stderr, rtol=1e-6)
        assert np.allclose(np.array(found.interval()) - start, expected.interval(), rtol=1e-6, atol=1e-4)


def test_few_reports_of_sets_have_standard_errors_above_zero():
    survey = Survey({"h": Histogram(range(51))}, 0.1)
    for seed in range(290, 300):
        cdf = survey.run({"h": [10.0, 10.0, 10.0]}, rng=seed)["h"].cdf()
        assert (cdf.stderr > 0.5 * cdf.stderr.max()).sum() > 20
        assert cdf.stderr.min() > 0
        low, high = cdf.interval()
        assert ((low == 0) & (high == 1)).mean() > 0.9


@pytest.mark.long
def test_many_categories_need_little_memory():
    """No array has k^2 entries: with k = 60,000 it would have 29 GB."""
    k, n = 60_000, 4000
    survey = Survey({"a": Choice(k), "n": Histogram(range(2001)), "s": YesNo(), "x": Cross("a", "s")}, 8.0, answers=2)
    frame = {"a": np.arange(n), "n": np.arange(n) % 2000, "s": np.arange(n) % 5 == 0}
    tracemalloc.start()
    result = survey.run(frame, rng=1)
    pooled_result = survey.aggregator().update(survey.privatize(frame, rng=1)).estimate(pooled=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * k**2 / 50
    assert result["x"].given("s").value.shape == (2, k)
    assert result["n"].cdf().value.shape == (1999,)
    assert pooled_result["a"].value.sum() == pytest.approx(1)
    assert (pooled_result["a"].stderr < result["a"].stderr.max()).all()


def test_pooling_independent_estimates_weights_them_by_precision():
    mechanism = ldp.RandomizedResponse(3, 1.0)
    x = np.arange(N) % 3
    one = shares_of(mechanism.aggregator().update(mechanism.privatize(x[:9000], rng=1)))
    two = shares_of(mechanism.aggregator().update(mechanism.privatize(x, rng=2)))
    both = pooled([one, two], lambda i, j: 0)
    assert np.allclose(both.value, (9000 * one.value + N * two.value) / (9000 + N), atol=2e-3)
    assert both.value.sum() == pytest.approx(1)
    assert (np.diag(both.covariance.matrix) < np.diag(two.covariance.matrix)).all()


def test_pooled_margins_use_all_answers():
    survey = Survey({"a": YesNo(), "c": Choice(30), "x": Cross("a", "c")}, 6.0, answers=2)
    aggregator = survey.aggregator().update(survey.privatize({"a": PEOPLE["smoker"], "c": np.arange(N) % 30}, rng=1))
    alone, together = aggregator.estimate(), aggregator.estimate(pooled=True)
    assert together["a"].stderr < alone["a"].stderr
    assert (together["c"].stderr < alone["c"].stderr).all()
    assert near(together["a"], PEOPLE["smoker"].mean())
    assert near(together["c"], 1 / 30)
    assert np.array_equal(together["x"].value, alone["x"].value)
    with pytest.raises(TypeError, match="pooled must be a bool"):
        aggregator.estimate(pooled=1)


# The result -----------------------------------------------------------------------------------------------------------


def test_the_result_is_a_mapping():
    assert list(RESULT) == list(questions())
    assert len(RESULT) == 8
    assert isinstance(RESULT["age"], Answer)
    with pytest.raises(KeyError, match="'height' is not a question"):
        RESULT["height"]
    with pytest.raises(ValueError, match="names must be some of 'age', 'smoker', got 'region'"):
        RESULT["age and smoking"].margin("region")


def test_tables_have_one_row_per_number():
    frame = OPTIONAL.to_frame()
    assert list(frame.columns) == ["question", "answer", "estimate", "stderr", "low", "high", "n"]
    assert (frame.low <= frame.high).all()
    rows = frame[frame.question == "region"]
    assert list(rows.answer) == [*REGIONS, "no answer"]
    assert OPTIONAL.to_arrow().to_pandas().equals(frame)
    low, high = OPTIONAL["region"].interval(0.5)
    wide = OPTIONAL.to_frame(confidence=0.5)
    assert np.allclose(wide[wide.question == "region"].low[:3], low)
    assert np.allclose(wide[wide.question == "region"].high[:3], high)
    assert RESULT["age and smoking"].table.to_frame().shape == (2, 3)
    assert isinstance(RESULT["age and smoking"].table["no"], list)


def test_dictionaries_can_be_written_as_json():
    text = json.loads(json.dumps(OPTIONAL.to_dict(), allow_nan=False))
    assert text["answers"]["region"]["labels"] == list(REGIONS)
    assert 0.2 < text["answers"]["age"]["missing"]["value"] < 0.4
    assert text["guarantee"]["epsilon"] <= 6


def test_text_and_html_show_every_question():
    for text in (repr(RESULT), RESULT._repr_html_()):
        assert all(name in text for name in RESULT)
        assert "total epsilon = 6 per person" in text
    survey = Survey({"a": Choice(["<b>", "&"])}, 1.0)
    html = survey.run({"a": ["<b>", "&"] * 50}, rng=1)._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;" in html


def test_the_plot_has_a_panel_per_question(tmp_path):
    small = Survey({"age": Mean(0, 100, optional=True), "region": Choice(REGIONS)}, 4.0).run(
        {"age": MISSING["age"], "region": PEOPLE["region"]}, rng=1
    )
    figure = small.plot(tmp_path / "survey.png")
    assert (tmp_path / "survey.png").stat().st_size > 1000
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["age: mean (unit of the records)", "region: share"]
    assert "95 % interval" in figure.axes[-1].get_xlabel()


def test_groups_are_surveys_of_their_own():
    survey = Survey({"smoker": YesNo(), "age": Mean(0, 100), "both": Cross("age", "smoker")}, 6.0, answers=2)
    for by in (PEOPLE["region"], pd.Categorical(PEOPLE["region"]), PEOPLE["decade"], PEOPLE["smoker"]):
        frame = {**PEOPLE, "group": by}
        results = survey.run(frame, by="group", rng=1)
        assert list(results) == sorted(set(np.asarray(by).tolist()))
        assert sum(result.n for result in results.values()) == N
        for value, result in results.items():
            inside = np.asarray(by) == value
            assert result.n == inside.sum()
            assert near(result["age"], PEOPLE["age"][inside].mean())
            assert near(result["smoker"], PEOPLE["smoker"][inside].mean())


def test_groups_with_missing_values():
    survey = SURVEYS["single"]
    by = np.array(["a", None, "b", None] * 500, object)
    results = survey.run({"smoker": np.ones(2000, bool), "by": by}, by="by", rng=1)
    assert list(results) == ["a", "b", None]
    assert results[None].n == 1000
    with pytest.raises(TypeError, match="by must be the name of a column"):
        survey.run({"smoker": np.ones(3, bool)}, by=3)
    with pytest.raises(ValueError, match="at most 10000 different values"):
        survey.run({"smoker": np.ones(20_000, bool), "by": np.arange(20_000)}, by="by")


def test_one_group_equals_no_groups():
    survey, frame = SURVEYS["three"], people(20_000)
    alone = survey.run({**frame, "by": np.zeros(20_000, int)}, by="by", rng=4)[0]
    assert alone.to_dict() == survey.run(frame, rng=4).to_dict()


def test_labels_that_look_alike_keep_their_columns():
    survey = Survey({"a": Choice([1, "1"]), "b": YesNo(), "x": Cross("b", "a")}, 6.0)
    table = survey.run({"a": pd.Categorical.from_codes([0, 1] * 500, [1, "1"]), "b": np.ones(1000, bool)}, rng=1)[
        "x"
    ].table
    assert list(table.columns) == ["b \\ a", "a = 1", "a = '1'"]
    years = Histogram([2020000, 2020001, 2020002, 2020003])
    assert len(set(years.labels)) == 3
    assert years.labels[0] == "2020000.0 to 2020001.0"


@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
def test_questions_that_nobody_was_asked_have_no_answers():
    questions = {
        "yes": YesNo(optional=True),
        "way": Choice(["foot", "car"]),
        "far": Mean(0, 10),
        "age": Histogram([0, 10, 20, 30]),
        "both": Cross("yes", "way"),
    }
    for epsilon in (1.0, 12.0):
        survey = Survey(questions, epsilon)
        frame = {"yes": [True] * 901, "way": ["foot"] * 901, "far": [5.0] * 901, "age": [15.0] * 901}
        results = survey.run({**frame, "by": [2] * 900 + [1]}, by="by", rng=1)
        assert list(results) == [1, 2]
        assert all(answer.n > 100 for answer in results[2].values())
        empty = [name for name, answer in results[1].items() if not answer.n]
        assert len(empty) == 4
        assert repr(results[1]).count("no answers") == results[1]._repr_html_().count("no answers") >= 4
        for name in empty:
            answer = results[1][name]
            low, high = answer.interval()
            assert np.isnan(answer.value).all()
            assert np.isinf(answer.stderr).all()
            assert (np.asarray(low) == answer.range[0]).all()
            assert (np.asarray(high) == answer.range[1]).all()
            assert repr(answer) == f"no answers (total epsilon = {survey.guarantee.epsilon:.6g} per person)"
            assert answer.to_dict()["interval"][0] is not None
            with pytest.raises(ValueError, match=r"must have at least 1 answer|must have shares"):
                answer.goodness_of_fit(np.full(np.size(answer.value) + (name == "yes"), 1.0))
        table = results.table()
        at_1 = [i for i, group in enumerate(table["group"]) if group == 1 and table["question"][i] in empty]
        assert np.isnan([table["estimate"][i] for i in at_1]).all()
        assert not np.isnan([x for i, x in enumerate(table["estimate"]) if i not in at_1]).any()
        if "both" in empty:
            assert not results[1]["both"].given("way").n + results[1]["both"].margin("yes").n
            assert np.isnan(results[1]["both"].margin("way").value).all()
        if "age" in empty:
            with pytest.raises(ValueError, match="quantile must have at least 1 answer"):
                results[1]["age"].quantile()
        results[1].plot()


def test_pooled_answers_use_what_was_answered():
    survey = Survey({"a": YesNo(), "b": YesNo(), "x": Cross("a", "b")}, 3.0)
    frame = {"a": [True] * 40, "b": [False] * 40}
    for seed in range(200):
        aggregator = survey.collect({name: column[:2] for name, column in frame.items()}, rng=seed)
        result, pooled = aggregator.estimate(), aggregator.estimate(pooled=True)
        if not result["a"].n and result["x"].n and not result["b"].n:
            assert pooled["a"].n == result["x"].n
            np.testing.assert_allclose(pooled["a"].value, result["x"].margin("a").value)
            break
    else:
        raise AssertionError("no sample had answers to the table only")


def test_groups_are_in_ascending_order():
    survey = Survey({"a": YesNo()}, 2.0)
    column = {"a": np.ones(6, bool)}
    for values in (["c", "a", "b"] * 2, [3, None, 1] * 2, [2.5, 0.5, 1.5] * 2):
        results = survey.run({**column, "by": pd.Series(values, dtype=object)}, by="by", rng=1)
        expected = sorted({value for value in values if value is not None}) + [None] * (None in values)
        assert list(results) == expected
        assert list(dict.fromkeys(results.table()["group"])) == expected


def test_answers_show_the_total_epsilon_of_a_person():
    survey = Survey({"a": YesNo(), "b": YesNo(optional=True), "x": Cross("a", "b")}, 3.0, answers=3)
    result = survey.run({"a": [True] * 500, "b": [False] * 500}, rng=1)
    text = f"total epsilon = {survey.guarantee.epsilon:.6g} per person"
    parts = [*result.values(), result["b"].missing, result["x"].margin("a"), result["x"].given("b")]
    for answer in parts:
        assert text in repr(answer)
        assert text in answer._repr_html_()
        assert answer.guarantee.epsilon < 1.0001
    by = survey.run({"a": [True] * 500, "b": [False] * 500, "by": [1, 2] * 250}, by="by", rng=1)
    assert (by[1]["a"] - by[2]["a"]).guarantee == survey.guarantee


def test_counts_that_add_up_have_binomial_limits():
    """Two labels, margins and distribution functions of k-ary response are functions of one count each."""
    assert all(
        isinstance(answer.rule, Binomial)
        for answer in (
            RESULT["income"].cdf(),
            RESULT["region and income"].margin("region"),
            RESULT["region and income"].margin("income").cdf(),
            RESULT["age and smoking"].margin("age"),
        )
    )
    survey = Survey({"a": Choice(["x", "y"])}, 1.0)
    low, high = survey.run({"a": ["x"] * 700 + ["y"] * 300}, rng=1)["a"].interval()
    assert low[0] == pytest.approx(1 - high[1])
    assert high[0] == pytest.approx(1 - low[1])


def test_linear_functions_with_binomial_limits_have_the_normal_standard_error():
    answer = RESULT["income"].cdf()
    low, high = answer.interval()
    assert np.allclose((high - low) / 2, 1.96 * answer.stderr, rtol=0.02)
    assert np.allclose((low + high) / 2, answer.value, atol=0.05 * answer.stderr.max())


@pytest.mark.parametrize("optional", [False, True])
def test_quantiles_of_integers_are_the_first_at_which_the_distribution_function_reaches_them(optional):
    """Equal shares of the integers of a bin, so that the quantiles of the bins and of the numbers are equal."""
    question = Histogram([0, 1, 2, 6, 10, 20], integers=True, optional=optional)
    survey, n = Survey({"visits": question}, 18.0), 110_000
    visits = np.concatenate([np.full(n // 2, 1), np.repeat([2, 3, 4, 5], n // 10), np.repeat([6, 7, 8, 9], n // 40)])
    answer = survey.run({"visits": visits}, rng=1)["visits"]
    for q in (0.1, 0.3, 0.49, 0.62, 0.7, 0.8, 0.96):
        found = answer.quantile(q)
        low, high = found.interval()
        expected = np.quantile(visits, q, method="inverted_cdf")
        assert found.value == expected
        assert low <= expected <= high
        assert {low, high} <= {*column_of(question).starts, *column_of(question).ends}
    assert answer.labels == ("0", "1", "2 to 5", "6 to 9", "10 to 20")
    assert answer.cdf().labels == ("up to 0", "up to 1", "up to 5", "up to 9")
    real = Survey({"visits": Histogram([0, 1, 2, 6, 10, 20], optional=optional)}, 18.0)
    assert real.run({"visits": visits}, rng=1)["visits"].quantile(0.3).value > 1  # between real numbers


def test_a_histogram_of_integers_has_the_reports_of_its_bins():
    plain, integers = Histogram([0, 1, 20]), Histogram([0, 1, 20], integers=True)
    assert plain.labels == ("0 to 1", "1 to 20")
    assert Histogram([-(2**53), 1234567, 1234568], integers=True).labels == (
        "-9007199254740992 to 1234566",
        "1234567 to 1234568",
    )
    table = {"x": np.arange(500) % 21}
    reports = [Survey({"x": question}, 1.0).privatize(table, rng=1)["x"].to_pylist() for question in (plain, integers)]
    assert reports[0] == reports[1]
    survey = Survey({"x": integers}, 1.0)
    assert Survey.from_dict(survey.to_dict()) == Survey.from_toml(survey.to_toml()) == survey
    assert survey.fingerprint != Survey({"x": plain}, 1.0).fingerprint
    for edges in ([0, 1.5, 3], [0, 1, 2**54], [-0.5, 0.5, 1.5]):
        with pytest.raises(ValueError, match=r"^edges must be whole numbers within 2\^53 of zero with integers=True$"):
            Histogram(edges, integers=True)
    with pytest.raises(TypeError, match=r"^integers must be a bool, got int$"):
        Histogram([0, 1, 2], integers=1)


@pytest.mark.parametrize("answers", [1, 2, "all"])
def test_pooled_answers_count_every_person_once(answers):
    """Everyone who is asked about smoking alone and in a table is one person."""
    asked = {"age": Mean(0, 100), "smoker": YesNo(), "both": Cross("age", "smoker")}
    survey, n = Survey(asked, 6.0, answers=answers), 3000
    table = survey.privatize({"age": np.full(n, 40.0), "smoker": np.arange(n) % 4 == 0}, rng=1)
    people = sum(map(bool, np.asarray(table["smoker"].is_valid()) | np.asarray(table["both"].is_valid())))
    pooled = survey.aggregator().update(table).estimate(pooled=True)["smoker"]
    assert pooled.n == people
    assert pooled.n <= n


# Groups ---------------------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("name", SURVEYS)
@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
def test_the_table_of_groups_is_that_of_each_group(name):
    """The table is computed for all groups at once, and a result for one."""
    survey, n = SURVEYS[name], 6000
    groups = np.random.default_rng(1).integers(0, 5, n)
    results = survey.run({**people(n), "clinic": groups}, by="clinic", rng=1)
    for confidence, simultaneous in ((0.95, False), (0.8, True)):
        found = results.table(confidence, simultaneous).columns
        expected: dict[str, list] = {"group": []}
        for value, result in results.items():
            part = result.table(confidence, simultaneous)
            expected["group"] += [value] * len(part)
            for column, numbers in part.columns.items():
                expected.setdefault(column, []).extend(numbers)
        assert list(found) == list(expected)
        for column in ("group", "question", "answer", "n"):
            assert found[column] == expected[column]
        for column in ("estimate", "stderr", "low", "high"):
            np.testing.assert_allclose(found[column], expected[column], rtol=1e-9, atol=1e-12)


def test_groups_with_few_reports_are_warned_about_once():
    survey = SURVEYS["large epsilon"]
    results = survey.run({**people(2000), "clinic": np.arange(2000) // 100}, by="clinic", rng=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert len(set(results.table()["group"])) == len(results)
    assert len([w for w in caught if issubclass(w.category, ldp.SmallSampleWarning)]) <= 1


def test_many_categories_and_few_people_have_limits():
    """The shares of unary bits add up to much more than 1 then, and the variance of their sum must not become negative."""
    survey = Survey({"word": Choice(70_000, optional=True)}, 2.0)
    asked = {"word": np.arange(300) % 50}
    answer = survey.run(asked, rng=1)["word"]
    low, high = answer.interval()
    assert np.isfinite([answer.stderr, low, high]).all()
    assert (low <= high).all()
