"""Regressions with randomized answers, against statsmodels, an EM algorithm, numeric derivatives and simulations."""

from __future__ import annotations

import operator
import pickle
import tracemalloc
import unittest.mock
import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import ldpfast as ldp
from ldpfast import analysis, designs

from ..support.cases import each
from ..support.errors import raises
from ..support.internals.analysis import Rows
from ..support.modules import module_of
from ..support.statistics import assert_coverage
from .populations import FORCED, PLAIN, PLAIN_THREE, THREE, binary, logistic

Likelihood = module_of(analysis.RandomizedPredictor).Likelihood


def three(n, rows, seed=1):
    """Return covariates and randomized answers of a multinomial logit model with three categories."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    odds = np.exp(np.column_stack([np.zeros(n), x @ [0.5, -0.5] - 0.2, x @ [-1.0, 0.3] + 0.1]))
    truth = (rng.random(n)[:, np.newaxis] > np.cumsum(odds / odds.sum(axis=1, keepdims=True), axis=1)).sum(axis=1)
    return x, ldp.FiniteChannel(rows).privatize(truth, rng=seed).astype(int)


# Oracles --------------------------------------------------------------------------------------------------------------


def test_direct_answers_give_the_logit_of_statsmodels():
    x, reports = binary(3000, [0.3, -0.8, 0.5], PLAIN)
    ours, theirs = analysis.RandomizedLogit(PLAIN).fit(x, reports), sm.Logit(reports, sm.add_constant(x)).fit(disp=0)
    np.testing.assert_allclose(ours.params, theirs.params, rtol=1e-6)
    np.testing.assert_allclose(np.sqrt(np.diag(ours.cov)), theirs.bse, rtol=1e-6)
    assert ours.llf == pytest.approx(theirs.llf, rel=1e-7)
    np.testing.assert_allclose(ours.marginal_effects().value, theirs.get_margeff().margeff, rtol=1e-6)
    np.testing.assert_allclose(ours.marginal_effects().stderr, theirs.get_margeff().margeff_se, rtol=1e-5)
    np.testing.assert_allclose(np.transpose(ours.interval(0.9)), theirs.conf_int(0.1), rtol=1e-5, atol=1e-6)
    table = ours.summary().table
    np.testing.assert_allclose(table["pvalue"], theirs.pvalues, rtol=1e-4)
    np.testing.assert_allclose(ours.predict_proba(x)[:, 1], theirs.predict(sm.add_constant(x)), rtol=1e-6)


def test_direct_answers_of_three_categories_give_the_multinomial_logit_of_statsmodels():
    x, reports = three(3000, PLAIN_THREE)
    ours, theirs = (
        analysis.RandomizedLogit(PLAIN_THREE).fit(x, reports),
        sm.MNLogit(reports, sm.add_constant(x)).fit(disp=0),
    )
    np.testing.assert_allclose(ours.params, theirs.params.T, rtol=1e-5)
    np.testing.assert_allclose(np.sqrt(np.diag(ours.cov)), theirs.bse.T.ravel(), rtol=1e-5)
    effects = theirs.get_margeff()
    np.testing.assert_allclose(ours.marginal_effects().value, effects.margeff.T.ravel(), rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(ours.marginal_effects().stderr, effects.margeff_se.T.ravel(), rtol=1e-4)


def em(x, reports, design, steps=3000):
    """Return the coefficients by expectation maximization: logits of the expected truth (Blair, Imai and Zhou 2015)."""
    p, q = map(float, design.probabilities)
    rows, beta = sm.add_constant(x), np.zeros(x.shape[1] + 1)
    chance = np.where(reports == 1, [[p], [q]], [[1 - p], [1 - q]])
    for _ in range(steps):
        share = 1 / (1 + np.exp(-rows @ beta))
        expected = share * chance[0] / (share * chance[0] + (1 - share) * chance[1])
        for _ in range(2):  # Newton steps of the logit for the expected truth
            share = 1 / (1 + np.exp(-rows @ beta))
            beta = beta + np.linalg.solve((rows * (share * (1 - share))[:, None]).T @ rows, rows.T @ (expected - share))
    return beta


@pytest.mark.parametrize("design", [FORCED, designs.crosswise(0.25), designs.mangat(0.7)], ids=lambda d: d.name)
def test_coefficients_are_those_of_expectation_maximization(design):
    if np.isfinite(design.epsilon):
        x, reports = binary(2000, [0.7, -0.4], design)
    else:
        rng = np.random.default_rng(1)
        x, hidden = binary(2000, [0.7, -0.4], PLAIN)
        reports = np.where(hidden == 1, 1, rng.random(2000) < 0.3).astype(int)
    found = analysis.RandomizedLogit(design).fit(x, reports)
    np.testing.assert_allclose(found.params, em(x, reports, design), atol=1e-6)
    assert found.guarantee == design.guarantee


@pytest.mark.parametrize("categories", [2, 3])
def test_gradient_and_information_are_derivatives(categories):
    rng = np.random.default_rng(3)
    table = np.array([[0.6, 0.3, 0.1], [0.2, 0.2, 0.6], [0.1, 0.7, 0.2]])[:categories]
    x, weights = rng.normal(size=(40, 2)), rng.random(40)
    params, step = rng.normal(size=(categories - 1, 3)), 1e-5
    likelihood = Likelihood(Rows.of(x, True), rng.integers(0, 3, 40), table, weights)
    found = likelihood.sums(params, observed=True)
    for place in range(params.size):
        move = np.zeros(params.size)
        move[place] = step
        up, down = (likelihood.sums(params + sign * move.reshape(params.shape), observed=True) for sign in (1, -1))
        assert found.score[place] == pytest.approx((up.value - down.value) / (2 * step), abs=1e-7)
        np.testing.assert_allclose(found.information[place], (down.score - up.score) / (2 * step), atol=1e-7)


def test_the_expected_information_is_the_mean_over_all_reports():
    rng = np.random.default_rng(4)
    table, params = np.array([[0.6, 0.3, 0.1], [0.2, 0.2, 0.6], [0.1, 0.7, 0.2]]), rng.normal(size=(2, 3))
    rows = Rows.of(rng.normal(size=(1, 2)), True)
    likelihoods = [Likelihood(rows, np.array([code]), table, None) for code in range(3)]
    chance = likelihoods[0].shares(rows.block(slice(0, 1)), params)[0] @ table
    observed = sum(
        p * part.sums(params, observed=True).information for p, part in zip(chance, likelihoods, strict=True)
    )
    np.testing.assert_allclose(likelihoods[0].sums(params, observed=False).information, observed, atol=1e-12)


@pytest.mark.parametrize("clusters", [False, True])
def test_decoded_least_squares_are_those_of_statsmodels(clusters):
    rng, mechanism = np.random.default_rng(5), ldp.SignBit(0, 10, 2.0)
    x = rng.uniform(0, 1, (800, 2))
    reports = mechanism.privatize(2 + 3 * x[:, 0] + rng.uniform(-1, 1, 800), rng=1)
    villages = np.arange(800) // 20
    ours = analysis.RandomizedLinear(mechanism).fit(x, reports, clusters=villages if clusters else None)
    kind = {"cov_type": "cluster", "cov_kwds": {"groups": villages}} if clusters else {"cov_type": "HC3"}
    theirs = sm.OLS(mechanism.decode(reports), sm.add_constant(x)).fit(**kind)
    np.testing.assert_allclose(ours.params, theirs.params, rtol=1e-9)
    np.testing.assert_allclose(np.sqrt(np.diag(ours.cov)), theirs.bse, rtol=1e-9)
    predicted = ours.predict([[0.5, 0.5]])
    exact = theirs.get_prediction([[1, 0.5, 0.5]])
    np.testing.assert_allclose(predicted.value, exact.predicted_mean)
    np.testing.assert_allclose(predicted.stderr, exact.se_mean)


def direct_linear(x, y, **options):
    """Fit least squares to numbers that nobody has randomized."""
    model = analysis.RandomizedLinear(ldp.SignBit(0, 1, 1.0))
    with unittest.mock.patch.object(ldp.SignBit, "decode", lambda mechanism, reports: np.asarray(reports)):
        return model.fit(x, y, **options)


@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
def test_jackknife_errors_and_degrees_of_freedom_are_those_of_r():
    """Digits of R 4.2.2: vcovCR(type = "CR3") and coef_test(test = "Satterthwaite") of clubSandwich for clusters of one row."""
    i = np.arange(40)
    x = np.column_stack([i * i % 17 / 8 - 1, i % 13 == 0])
    y = i * 7 / 5 + i**3 % 23 / 4
    model = direct_linear(x, y)
    np.testing.assert_allclose(model.params, [30.118128856505, 0.774740711566, -1.814182092687], rtol=1e-11)
    np.testing.assert_allclose(model.coefficients.stderr, [2.80827423936, 4.38677849264, 14.71173435720], rtol=1e-11)
    low, high = model.interval()
    np.testing.assert_allclose(low, [24.4079913769, -8.3295843771, -44.8336418843], rtol=1e-10)
    np.testing.assert_allclose(high, [35.82826633615, 9.87906580023, 41.20527769890], rtol=1e-10)
    table = model.summary().table
    np.testing.assert_allclose(table["pvalue"], [2.25262333935e-12, 0.86145232706, 0.90853268187], rtol=1e-9)
    assert "t" in table.columns
    assert "(HC3), t with 3.541 to 33.52 degrees of freedom" in repr(model.summary())


@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
@pytest.mark.parametrize("weighted", [False, True])
def test_degrees_of_freedom_are_those_of_whole_matrices(weighted):
    rng = np.random.default_rng(3)
    x, y = rng.lognormal(size=(50, 2)), rng.normal(size=50)
    weights = np.where(np.arange(50) % 7 == 0, 0.0, rng.lognormal(size=50)) if weighted else np.ones(50)
    model = direct_linear(x, y, weights=weights if weighted else None)
    rows, w = np.column_stack([np.ones(50), x]), weights
    bread = np.linalg.inv(rows.T @ (w[:, np.newaxis] * rows))
    rest = np.eye(50) - rows @ bread @ rows.T * w
    influence = bread @ rows.T * w / np.diag(rest)
    np.testing.assert_allclose(model.cov, (influence * (rest @ y) ** 2) @ influence.T, rtol=1e-9)
    for row, found in zip(influence, model._freedom, strict=True):
        product = np.square(row)[:, np.newaxis] * (rest @ rest.T)
        assert found == pytest.approx(np.trace(product) ** 2 / np.trace(product @ product), rel=1e-9)
    assert model.n == np.count_nonzero(weights)


@pytest.mark.long
def test_intervals_of_few_people_with_skewed_covariates_cover():
    """60 people: 0.87 to 0.88 for the slopes with HC1 and normal quantiles."""
    mechanism, truth, runs, hits = ldp.SignBit(0, 10, 4.0), np.array([3.0, 0.8, -0.3]), 1200, np.zeros(3, int)
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        x = np.minimum(rng.lognormal(size=(60, 2)) / 2, 6)
        numbers = np.clip(truth[0] + x @ truth[1:] + rng.uniform(-1, 1, 60), 0, 10)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ldp.SmallSampleWarning)
            model = analysis.RandomizedLinear(mechanism).fit(x, mechanism.privatize(numbers, rng=seed))
        low, high = model.interval()
        hits += (low < truth) & (truth < high)
    assert_coverage(hits, runs, 0.95, detects=0.89)


def test_rows_of_high_leverage_are_a_warning_and_a_row_that_decides_alone_an_error():
    rng, mechanism = np.random.default_rng(1), ldp.SignBit(0, 1, 1.0)
    x, reports = rng.random(60), mechanism.privatize(rng.random(60), rng=1)
    model = analysis.RandomizedLinear(mechanism)
    with pytest.warns(
        ldp.SmallSampleWarning, match=r"few rows decide the coefficient of 'x2': .* leverage is 0\.[45]\d, of row"
    ):
        model.fit(np.column_stack([x, np.arange(60) < 2]), reports)
    params = model.params
    with raises(
        ValueError,
        "X must have no row that decides a coefficient alone, got row 0 for column 'x2': leave out the column or the row",
    ):
        model.fit(np.column_stack([x, np.arange(60) < 1]), reports)
    assert model.params is params


# Statistics -----------------------------------------------------------------------------------------------------------


@pytest.mark.claim(
    "Intervals of a logit of randomized answers cover, and its likelihood-ratio test has its level.", "Estimates"
)
@pytest.mark.long
def test_intervals_cover_and_the_test_of_likelihoods_has_its_level():
    """500 people, five covariates, one of them without effect: as in studies with forced response by a die."""
    truth, rejected = np.array([-0.3, 0.5, -0.5, 0.3, 0.0, 0.8]), 0
    runs, tested, hits, estimates = 1000, 500, np.zeros(6, int), []
    for seed in range(runs):
        x, reports = binary(500, truth[1:], FORCED, seed)
        model = analysis.RandomizedLogit(FORCED).fit(x, reports)
        low, high = model.interval()
        hits += (low < truth) & (truth < high)
        estimates.append(model.params)
        if seed < tested:
            frame = pd.DataFrame(x, columns=model.names[1:]).drop(columns="x4")
            rejected += model.likelihood_ratio(analysis.RandomizedLogit(FORCED).fit(frame, reports)).pvalue < 0.05
    assert_coverage(hits, runs, 0.95, detects=0.89)
    assert rejected / tested < 0.05 + 4 * np.sqrt(0.05 * 0.95 / tested)
    assert rejected / tested > 0.02
    bias = np.mean(estimates, axis=0) - truth
    assert (np.abs(bias) < 0.1 * np.abs(truth) + 0.06).all()


def test_an_ordinary_logit_of_the_reports_is_wrong():
    x, reports = binary(20_000, [1.0], FORCED)
    naive = sm.Logit(reports, sm.add_constant(x)).fit(disp=0).params[1]
    assert naive < 0.7
    assert analysis.RandomizedLogit(FORCED).fit(x, reports).params[1] == pytest.approx(1.0, abs=0.15)


def test_weights_correct_a_sample_and_clusters_widen_intervals():
    x, reports = binary(4000, [0.5], FORCED)
    plain = analysis.RandomizedLogit(FORCED).fit(x, reports)
    same = analysis.RandomizedLogit(FORCED).fit(x, reports, weights=np.full(4000, 2.0))
    np.testing.assert_allclose(same.params, plain.params, rtol=1e-7)
    np.testing.assert_allclose(np.diag(same.cov), np.diag(plain.cov), rtol=0.15)
    whole = np.arange(4000) % 3
    weighted = analysis.RandomizedLogit(FORCED).fit(x, reports, weights=whole)
    repeated = analysis.RandomizedLogit(FORCED).fit(np.repeat(x, whole, axis=0), np.repeat(reports, whole))
    np.testing.assert_allclose(weighted.params, repeated.params, rtol=1e-6)
    twice = analysis.RandomizedLogit(FORCED).fit(
        np.vstack([x, x]), np.concatenate([reports, reports]), clusters=np.tile(np.arange(4000), 2)
    )
    np.testing.assert_allclose(np.diag(twice.cov), np.diag(same.cov), rtol=1e-3)
    assert "sandwich of clusters" in repr(twice.summary())
    with pytest.raises(ValueError, match="restricted and the model must have no weights"):
        weighted.likelihood_ratio(analysis.RandomizedLogit(FORCED, intercept=False).fit(x, reports))


def test_the_clusters_of_a_logit_are_those_of_statsmodels():
    x, reports = binary(2000, [0.5, 0.2], PLAIN)
    villages = np.arange(2000) // 25
    ours = analysis.RandomizedLogit(PLAIN).fit(x, reports, clusters=villages)
    kind = {"cov_type": "cluster", "cov_kwds": {"groups": villages, "use_correction": False}}
    theirs = sm.Logit(reports, sm.add_constant(x)).fit(disp=0, **kind)
    np.testing.assert_allclose(np.diag(ours.cov) * 79 / 80, theirs.bse**2, rtol=1e-5)


@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
def test_tests_of_likelihoods_compare_the_same_people():
    x, reports = binary(1000, [0.5, 0.2], FORCED)
    model, one = analysis.RandomizedLogit(FORCED).fit(x, reports), analysis.RandomizedLogit(FORCED)
    assert model.likelihood_ratio(one.fit(x[:, :1], reports)).df == 1
    with pytest.raises(ValueError, match="restricted must be fitted to the same columns, got other values"):
        model.likelihood_ratio(one.fit(x[:, 1:], reports))  # named x1, too
    with pytest.raises(ValueError, match="restricted must be fitted to the same reports by the same design"):
        model.likelihood_ratio(analysis.RandomizedLogit(designs.forced_response("1/4", "1/6")).fit(x[:, :1], reports))
    with pytest.raises(ValueError, match="no weights and no clusters"):
        model.likelihood_ratio(one.fit(x[:, :1], reports, clusters=np.arange(1000) % 20))


def test_a_fit_reads_files_in_parts(tmp_path):
    """Memory-mapped arrays of 200,000 and 800,000 rows: one byte more for each row, and no copy."""
    rng, peaks = np.random.default_rng(3), []
    for n in (200_000, 800_000):
        np.save(tmp_path / "x.npy", rng.normal(size=(n, 5)).astype(np.float32))
        np.save(tmp_path / "reports.npy", (rng.random(n) < 0.4).astype(np.uint8))
        x, reports = (np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("x", "reports"))
        tracemalloc.start()
        model = analysis.RandomizedLogit(FORCED).fit(x, reports)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert model.n == n
    assert peaks[1] - peaks[0] < 2 * 600_000


def test_few_clusters_are_a_warning_and_missing_ones_an_error():
    x, reports = binary(400, [0.5], FORCED)
    with pytest.warns(ldp.SmallSampleWarning, match="10 clusters are too few for standard errors of clusters"):
        analysis.RandomizedLogit(FORCED).fit(x, reports, clusters=np.arange(400) % 10)
    missing = np.where(np.arange(400) % 40 == 0, None, "a")
    with pytest.raises(ValueError, match="clusters must have one value for each of 400 rows, got missing ones"):
        analysis.RandomizedLogit(FORCED).fit(x, reports, clusters=missing)


def test_weights_have_no_unit_and_weigh_predictions():
    x, reports = binary(3000, [0.7], FORCED)
    weights = np.where(x[:, 0] > 0, 5.0, 0.1)
    model, tiny = (analysis.RandomizedLogit(FORCED).fit(x, reports, weights=w) for w in (weights, weights * 1e-9))
    np.testing.assert_allclose(model.cov, tiny.cov, rtol=1e-6)
    shares = model.predict_proba(x)[:, 1]
    assert model.predict(x, average=True, weights=weights).value == pytest.approx(np.average(shares, weights=weights))
    effect = np.average(shares * (1 - shares), weights=weights) * model.params[1]
    assert model.marginal_effects().value[0] == pytest.approx(effect)
    whole = np.arange(3000) % 3
    repeated = analysis.RandomizedLogit(FORCED).fit(np.repeat(x, whole, axis=0), np.repeat(reports, whole))
    weighted = analysis.RandomizedLogit(FORCED).fit(x, reports, weights=whole).marginal_effects()
    np.testing.assert_allclose(weighted.value, repeated.marginal_effects().value, rtol=1e-6)


def test_separation_with_an_infinite_epsilon_is_named():
    rng, design = np.random.default_rng(8), designs.triangular(0.25)
    group = rng.integers(0, 2, 400)
    reports = np.where(group == 1, (rng.random(400) < 0.6).astype(int), 0)
    with pytest.raises(ValueError, match="the likelihood must have a maximum"):
        analysis.RandomizedLogit(design).fit(group[:, np.newaxis], reports)


# Predictions ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [FORCED, THREE], ids=["two", "three"])
def test_predictions_and_effects_have_the_errors_of_the_delta_method(rows):
    """Numeric derivatives of the predictions with respect to the coefficients."""
    x, reports = binary(3000, [0.7, -0.4], FORCED) if rows is FORCED else three(3000, THREE)
    model = analysis.RandomizedLogit(rows).fit(x, reports)
    single, whole, effects = model.predict(x[:5]), model.predict(x, average=True), model.marginal_effects()
    (params, cov), step = model._standard, 1e-6

    def at(moved):
        model._standard = (moved, cov)
        found = [model.predict_proba(x[:5])[:, -1], model.predict_proba(x).mean(axis=0), model.marginal_effects().value]
        model._standard = (params, cov)
        return found

    slopes = [[], [], []]
    for place in range(params.size):
        move = np.zeros(params.size)
        move[place] = step
        pairs = zip(at(params + move.reshape(params.shape)), at(params - move.reshape(params.shape)), strict=True)
        for kind, (up, down) in zip(slopes, pairs, strict=True):
            kind.append((up - down) / (2 * step))
    for found, kind in zip((single, whole, effects), slopes, strict=True):
        jacobian = np.array(kind).T
        stderr = np.sqrt(np.diag(jacobian @ cov @ jacobian.T))
        np.testing.assert_allclose(np.ravel(found.stderr), stderr[-np.size(found.value) :], rtol=1e-4)
    assert np.sum(model.predict_proba(x), axis=1) == pytest.approx(1)
    np.testing.assert_allclose(single.value, model.predict_proba(x[:5])[:, -1])


def test_data_frames_name_the_coefficients():
    x, reports = binary(2000, [0.7, -0.4], FORCED)
    frame = pd.DataFrame(x, columns=["age", "female"])
    model = analysis.RandomizedLogit(FORCED).fit(frame, np.where(reports == 1, "yes", "no"))
    assert model.names == ("const", "age", "female")
    assert list(model.coefficients.labels) == ["const", "age", "female"]
    assert model.marginal_effects().labels == ("age", "female")
    assert "age" in repr(model.summary())
    assert "<table>" in model.summary()._repr_html_()
    assert model.summary().to_frame().shape == (3, 7)
    np.testing.assert_array_equal(model.params, analysis.RandomizedLogit(FORCED).fit(x, reports).params)
    single = analysis.RandomizedLogit(FORCED).fit(x.astype(np.float32), reports)
    np.testing.assert_allclose(single.params, model.params, atol=1e-5)
    assert model.predict(frame[["female", "age"]], average=True) == model.predict(frame, average=True)
    with pytest.raises(ValueError, match="X must have the columns age, female; got none named 'female'"):
        model.predict(frame[["age"]])
    three_names = analysis.RandomizedLogit(THREE).fit(*three(2000, THREE)).names
    assert three_names == ("1: const", "1: x1", "1: x2", "2: const", "2: x1", "2: x2")


@pytest.mark.parametrize("origin, unit", [(2010.0, 1.0), (0.0, 1e6), (1e6, 1e-3), (-5e9, 1e3)])
def test_coefficients_do_not_depend_on_the_origin_and_the_unit_of_a_column(origin, unit):
    """Years since 0 are an ordinary column: the intercept is far outside of the data, and has a large standard error."""
    x, reports = binary(1500, [0.7, -0.4], FORCED)
    plain = analysis.RandomizedLogit(FORCED).fit(x, reports)
    moved = analysis.RandomizedLogit(FORCED).fit(origin + unit * x, reports)
    np.testing.assert_allclose(moved.params[1:] * unit, plain.params[1:], rtol=1e-5)
    np.testing.assert_allclose(np.sqrt(np.diag(moved.cov))[1:] * unit, np.sqrt(np.diag(plain.cov))[1:], rtol=1e-5)
    assert moved.llf == pytest.approx(plain.llf)
    chosen = [0.5, -0.5]
    there = moved.predict([origin + unit * np.array(chosen)])
    np.testing.assert_allclose(there.stderr, plain.predict([chosen]).stderr, rtol=1e-5)
    np.testing.assert_allclose(moved.marginal_effects().stderr * unit, plain.marginal_effects().stderr, rtol=1e-5)
    mechanism = ldp.SignBit(-9, 9, 2.0)
    bits = mechanism.privatize(x[:, 0], rng=1, clip=True)
    line, other = (analysis.RandomizedLinear(mechanism).fit(rows, bits) for rows in (x, origin + unit * x))
    np.testing.assert_allclose(other.params[1:] * unit, line.params[1:], rtol=1e-5)
    np.testing.assert_allclose(np.sqrt(np.diag(other.cov))[1:] * unit, np.sqrt(np.diag(line.cov))[1:], rtol=1e-5)


def test_columns_of_a_data_frame_are_numbers():
    x, reports = binary(900, [0.7], FORCED)
    frame = pd.DataFrame({"age": x[:, 0], "female": x[:, 0] > 0.3, "year": 2000 + np.arange(900) % 20})
    plain = analysis.RandomizedLogit(FORCED).fit(frame.astype(float), reports)
    for same in (frame, frame.astype({"year": "Int64"}), frame.astype({"female": object})):
        np.testing.assert_array_equal(analysis.RandomizedLogit(FORCED).fit(same, reports).params, plain.params)
    alone = analysis.RandomizedLogit(FORCED).fit(frame[["female"]].to_numpy(), reports)
    np.testing.assert_array_equal(alone.params, analysis.RandomizedLogit(FORCED).fit(frame[["female"]], reports).params)
    missing = frame.astype({"year": "Int64"})
    missing.loc[3, "year"] = pd.NA
    for wrong in (missing, frame.assign(year=missing["year"])):
        with pytest.raises(ValueError, match=r"without missing values, column 'year'"):
            analysis.RandomizedLogit(FORCED).fit(wrong, reports)
    with pytest.raises(ValueError, match="X must have columns that are not constant, got 'region'"):
        analysis.RandomizedLogit(FORCED).fit(frame.assign(region="N"), reports)
    twice = frame.assign(male=~frame["female"])
    with pytest.raises(ValueError, match="X must have linearly independent columns, got 'female', 'male'"):
        analysis.RandomizedLogit(FORCED).fit(twice, reports)


def test_differences_of_predictions_of_a_fit_have_the_error_of_the_delta_method():
    """Everybody with one more year of age against everybody as they are: nearly the same people with nearly the same answer."""
    x, reports = binary(3000, [0.7, -0.4], FORCED)
    model = analysis.RandomizedLogit(FORCED).fit(x, reports)
    more = x + np.array([0.05, 0.0])
    a, b = (model.predict(rows, average=True) for rows in (more, x))
    difference, ratio = a - b, a / b
    slopes = a.slopes - b.slopes
    stderr = float(np.sqrt(slopes @ model._standard[1] @ slopes.T).item())
    assert difference.stderr == pytest.approx(stderr, rel=1e-12)
    assert difference.stderr < 0.2 * np.hypot(a.stderr, b.stderr)
    assert (difference.value, difference.n, difference.guarantee) == (a.value - b.value, 3000, FORCED.guarantee)
    low, high = difference.interval()
    assert (high - low) / 2 == pytest.approx(1.959963984540054 * stderr)
    # numeric derivatives of the ratio, in the coefficients of standardized columns
    (params, cov), step, slopes = model._standard, 1e-6, []
    for move in step * np.eye(params.size):
        pair = []
        for sign in (1, -1):
            model._standard = (params + sign * move, cov)
            top, bottom = (model.predict_proba(rows)[:, 1].mean() for rows in (more, x))
            pair.append(top / bottom)
        slopes.append((pair[0] - pair[1]) / (2 * step))
    model._standard = (params, cov)
    assert ratio.stderr == pytest.approx(np.sqrt(slopes @ cov @ slopes), rel=1e-5)
    low, high = ratio.interval()
    assert (high - low) / 2 == pytest.approx(1.96 * ratio.stderr, rel=0.02)
    assert (low - 1) * difference.interval()[0] > 0  # both or none are significant
    rows = model.predict(more[:5]) - model.predict(x[:5])
    each = [model.predict(more[[i]]) - model.predict(x[[i]]) for i in range(5)]
    np.testing.assert_allclose(rows.stderr, [one.stderr[0] for one in each], rtol=1e-12)
    again = pickle.loads(pickle.dumps(a)) - b
    assert again == difference


def test_differences_of_other_predictions_have_the_error_of_the_delta_method():
    x, reports = three(3000, THREE)
    model = analysis.RandomizedLogit(THREE).fit(x, reports, clusters=np.arange(3000) // 50)
    a, b = (model.predict(rows, average=True) for rows in (x + 0.1, x))
    difference = a - b
    assert np.sqrt(np.diag(difference.covariance)) == pytest.approx(difference.stderr)
    assert difference.covariance.sum() == pytest.approx(0, abs=1e-12)  # shares add up to 1
    low, high = difference.interval()
    np.testing.assert_allclose((high - low) / 2, 2.0024654592910065 * difference.stderr)  # t with 57 degrees of freedom
    twice = analysis.RandomizedLogit(THREE).fit(*three(1500, THREE, seed=2), clusters=np.arange(1500) // 25)
    independent = a - twice.predict(x, average=True)
    low, high = independent.interval(1 - independent.test().pvalue[1])
    assert min(abs(low[1]), abs(high[1])) == pytest.approx(0, abs=1e-9)
    low, high = (a / b).interval()
    assert ((high - low) / 2 > 1.99 * (a / b).stderr).all()
    y = np.random.default_rng(1).normal(size=3000)
    linear = analysis.RandomizedPredictor(THREE).fit(x, reports, y)
    effect = linear.predict(x[:1], 2) - linear.predict(x[:1], 0)
    assert effect.value[0] == pytest.approx(linear.params[-1])
    assert effect.stderr[0] == pytest.approx(linear.coefficients.stderr[-1])
    bits = ldp.SignBit(0, 1, 1.0)
    line = analysis.RandomizedLinear(bits).fit(x, bits.privatize(np.random.default_rng(2).random(3000), rng=1))
    slope = line.predict([[1.0, 0.0]]) - line.predict([[0.0, 0.0]])
    assert slope.stderr[0] == pytest.approx(line.coefficients.stderr[1])


def test_results_that_share_people_have_no_difference_unless_it_is_known():
    x, reports = binary(2000, [0.7, -0.4], FORCED)
    frame = pd.DataFrame(x, columns=["age", "female"])
    model = analysis.RandomizedLogit(FORCED).fit(frame, reports)
    smaller, other = analysis.RandomizedLogit(FORCED), analysis.RandomizedLogit(FORCED)
    smaller.fit(frame[["age"]], reports)
    other.fit(*binary(2000, [0.7, -0.4], FORCED, seed=2))
    a, b, c = model.predict(x, average=True), smaller.predict(x[:, :1], average=True), other.predict(x, average=True)
    outcome = np.random.default_rng(3).random(2000) < 0.4
    related = analysis.RandomizedPredictor(FORCED, "logit").fit(frame, reports, outcome)
    again = analysis.RandomizedLogit(FORCED).fit(frame, reports)
    pairs = [
        (a, b),
        (model.predict(x[:2]), related.predict(x[:2], "yes")),
        (model.coefficients, again.coefficients),
        (model.marginal_effects(), again.marginal_effects()),
    ]
    for first, second in pairs:
        for operation in (operator.sub, operator.truediv):
            with pytest.raises(
                ValueError, match="estimates must be of different people, got two that can have people in"
            ):
                operation(first, second)
    assert (a - c).stderr == pytest.approx(np.hypot(a.stderr, c.stderr))
    assert (a - c).n == 4000
    with pytest.raises(ValueError, match="estimates must answer the same question"):
        a - model.predict(x)


# Weights of zero, and of very different sizes ----------------------------------------------------------------------


def digits_of_r():
    """Return the weights, a covariate and two columns of clusters of 200 people, as in the script below."""
    j = np.arange(200)
    return 1.0 + j % 4, j * 37 / 50 - 1, np.r_[np.repeat(np.arange(10), 5), np.repeat(np.arange(10, 20), 15)], j


@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
def test_errors_with_weights_and_clusters_are_those_of_the_package_survey():
    """Digits of R 4.2.2, survey 4.1.1: svyglm(family = quasibinomial()) with svydesign(ids = ..., weights = ...)."""
    weights, x, unequal, j = digits_of_r()
    y, other = (j * 11 % 9 < 4).astype(int), ((j * 11 + unequal**2) % 9 < 4).astype(int)
    logit = analysis.RandomizedLogit(PLAIN)
    cases = (
        (y, {"weights": weights}, [-0.225147472872803, 0.000556160648583], [0.30898202253523, 0.00366171381971]),
        (
            other,
            {"weights": weights, "clusters": unequal},
            [-0.206574704097281, 0.000522697874234],
            [0.26320754361621, 0.00293339706162],
        ),
        (y, {"clusters": j // 5}, [-0.213760588128566, 0.000180186288499], [0.11564947001811, 0.00140986305269]),
    )
    for reports, options, params, errors in cases:
        model = logit.fit(x[:, np.newaxis], reports, **options)
        np.testing.assert_allclose(model.params, params, rtol=1e-6)
        np.testing.assert_allclose(model.coefficients.stderr, errors, rtol=1e-7)
    low, high = model.interval()  # 40 equal clusters: t with 38 degrees of freedom
    np.testing.assert_allclose(low, [-0.44788070029274, -0.00267393224728], rtol=1e-6)
    np.testing.assert_allclose(high, [0.02035952403561, 0.00303430482427], rtol=1e-6)
    assert "sandwich of clusters, t with 38 degrees of freedom" in repr(model.summary())


def predictor(family):
    """Return a function that fits a regression on an answer."""
    return lambda x, reports, y, **options: analysis.RandomizedPredictor(FORCED, family).fit(x, reports, y, **options)


def least_squares(x, reports, y, **options):
    """Fit least squares to reports of one bit."""
    return analysis.RandomizedLinear(ldp.SignBit(0, 1, 2.0)).fit(x, reports.astype(np.uint8), **options)


FITS = {
    "logit": lambda x, reports, y, **options: analysis.RandomizedLogit(FORCED).fit(x, reports, **options),
    "least squares": least_squares,
    **{f"predictor, {family}": predictor(family) for family in ("linear", "normal", "logit")},
}


@pytest.mark.filterwarnings("ignore:few rows decide the coefficient")
@each("name", FITS)
def test_rows_and_clusters_of_weight_zero_are_not_in_the_sample(name):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(900, 1))
    truth = rng.random(900) < logistic(x[:, 0])
    reports = FORCED.channel.privatize(truth.astype(int), rng=5).astype(int)
    y = 0.5 * x[:, 0] - 1.5 * truth + rng.normal(size=900)
    y = (y > 0).astype(float) if name.endswith("logit") else y
    clusters, weights = np.arange(900) % 90, rng.uniform(0.5, 1.5, 900)
    weights[clusters >= 40] = 0
    inside = weights > 0
    for options in ({}, {"clusters": clusters}):
        whole = FITS[name](x, reports, y, weights=weights, **options)
        part = FITS[name](
            x[inside], reports[inside], y[inside], weights=weights[inside], **{k: v[inside] for k, v in options.items()}
        )
        assert whole.n == part.n == 400
        np.testing.assert_allclose(whole.params, part.params, rtol=1e-5)
        np.testing.assert_allclose(whole.cov, part.cov, rtol=1e-4, atol=1e-12)
        np.testing.assert_allclose(whole.interval(), part.interval(), rtol=1e-4)
        assert np.max(whole._freedom) < 400
    with pytest.raises(ValueError, match=r"different values among the rows with positive weights, got 2$"):
        FITS[name](x, reports, y, weights=(clusters < 2).astype(float), clusters=clusters)
    skewed = np.where(np.arange(900) % 100 == 0, 150.0, 1.0)
    with pytest.warns(
        ldp.SmallSampleWarning, match="the weights of 900 people are so unequal that they tell as much as"
    ):
        FITS[name](x, reports, y, weights=skewed)


@pytest.mark.long
def test_intervals_of_a_logit_with_skewed_weights_cover():
    """Normal quantiles cover 0.88 for 50 people, and 0.80 with weights of three times the variance of the logarithm."""
    runs, hits = 1200, np.zeros(2, int)
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        for place, size in enumerate((1.0, 1.5)):
            weights, reports = np.exp(size * rng.normal(size=60)), rng.random(60) < 0.5
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ldp.SmallSampleWarning)
                model = analysis.RandomizedLogit(PLAIN).fit(np.empty((60, 0)), reports.astype(int), weights=weights)
            low, high = model.interval()
            hits[place] += low[0] < 0 < high[0]
    assert_coverage(hits, runs, 0.95, detects=0.89)


# Mistakes -------------------------------------------------------------------------------------------------------------


def test_reports_without_a_maximum_are_named():
    x = np.random.default_rng(6).normal(size=(400, 1))
    with pytest.raises(ValueError, match="the likelihood must have a maximum, got reports without one: "):
        analysis.RandomizedLogit(FORCED).fit(x, np.arange(400) % 20 == 0)  # fewer yes than forced
    split = (x[:, 0] > 0).astype(int)
    rng = np.random.default_rng(7)
    reports = np.where(split == 1, rng.random(400) < 0.999, rng.random(400) < 0.001).astype(int)
    with pytest.raises(ValueError, match="the likelihood must have a maximum"):
        analysis.RandomizedLogit(FORCED).fit(split[:, np.newaxis], reports)


X, REPORTS = binary(200, [0.5], FORCED)
BITS = np.array([0, 1], np.uint8)


@each(
    "call, error, message",
    [
        (lambda: analysis.RandomizedLogit("warner"), TypeError, "design must be a design"),
        (
            lambda: analysis.RandomizedLogit(FORCED).fit(X[:, 0], REPORTS),
            ValueError,
            r"X must have shape \(n, columns\)",
        ),
        (
            lambda: analysis.RandomizedLogit(FORCED).fit(X, REPORTS[:9]),
            ValueError,
            "reports must have one entry for each row",
        ),
        (lambda: analysis.RandomizedLogit(FORCED).fit(X, REPORTS + 1), ValueError, "reports must be 'no' and 'yes'"),
        (
            lambda: analysis.RandomizedLogit(THREE).fit(X, REPORTS + 2),
            ValueError,
            r"reports must be codes in \[0, 2\], got 3",
        ),
        (lambda: analysis.RandomizedLogit(FORCED).fit(X * np.nan, REPORTS), ValueError, "column 'x1' is not"),
        (
            lambda: analysis.RandomizedLogit(FORCED).fit(X * 0 + 1, REPORTS),
            ValueError,
            "not constant, got 'x1': const is there already",
        ),
        (
            lambda: analysis.RandomizedLogit(FORCED).fit(X * 0, REPORTS),
            ValueError,
            "columns that are not constant, got 'x1'",
        ),
        (
            lambda: analysis.RandomizedLogit(FORCED).fit(X, REPORTS, weights=-X[:, 0]),
            ValueError,
            "weights must be >= 0",
        ),
        (
            lambda: analysis.RandomizedLogit(FORCED).fit(X, REPORTS, weights=[1]),
            ValueError,
            "weights must have shape",
        ),
        (
            lambda: analysis.RandomizedLogit(FORCED).fit(X, REPORTS, clusters=[1] * 200),
            ValueError,
            "clusters must have at least 3 different values, got",
        ),
        (lambda: analysis.RandomizedLogit(FORCED).params, AttributeError, "is not fitted yet: call fit first"),
        (lambda: analysis.RandomizedLogit(FORCED).shape, AttributeError, "no attribute 'shape'"),
        (
            lambda: analysis.RandomizedLogit(FORCED).fit(X, REPORTS).likelihood_ratio(3),
            TypeError,
            "restricted must be a",
        ),
        (
            lambda: analysis.RandomizedLogit(FORCED).fit(X, REPORTS).predict(X, weights=X[:, 0]),
            ValueError,
            "weights must be None",
        ),
        (lambda: analysis.RandomizedLinear(3), TypeError, "mechanism must be a mechanism of numbers"),
        (lambda: analysis.RandomizedLinear(ldp.L2Ball(3, 1.0)), TypeError, "mechanism must be a mechanism of numbers"),
        (
            lambda: analysis.RandomizedLinear(ldp.SignBit(0, 1, 1.0)).fit(X[:2], BITS),
            ValueError,
            "X must have more rows",
        ),
        (
            lambda: analysis.RandomizedLinear(ldp.SignBit(0, 1, 1.0)).fit(X, BITS),
            ValueError,
            "reports must have one number",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.long
def test_a_study_of_the_size_of_a_published_one_covers():
    """2,457 respondents, forced response with two sixths, age and its square: as in Blair, Imai and Zhou (2015), section 4.

    The coefficients are ours: the published data are not part of this project.
    """
    params, runs = np.array([-1.5, 0.15, 0.3, 0.4, -0.06, -0.08, -0.3]), 400
    hits, sums = np.zeros(7, int), np.zeros(7)
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        age = rng.uniform(1.8, 7, 2457)
        columns = [
            rng.normal(size=2457),
            rng.random(2457) < 0.6,
            age,
            age**2,
            rng.integers(0, 9, 2457),
            rng.random(2457) < 0.5,
        ]
        x = np.column_stack(columns)
        truth = rng.random(2457) < logistic(params[0] + x @ params[1:])
        model = analysis.RandomizedLogit(FORCED).fit(
            x, FORCED.channel.privatize(truth.astype(int), rng=seed).astype(int)
        )
        low, high = model.interval()
        hits += (low <= params) & (params <= high)
        sums += model.params
    assert_coverage(hits, runs, 0.95, detects=0.85)
    error = np.sqrt(np.diag(model.cov) / runs)
    assert (abs(sums / runs - params) < 5 * error + 0.05 * abs(params)).all()
