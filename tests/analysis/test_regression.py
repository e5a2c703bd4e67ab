"""Regressions with randomized answers, against statsmodels, an EM algorithm, numeric derivatives and simulations."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import ldpfast as ldp
from ldpfast import analysis, designs
from ldpfast.analysis._likelihood import Likelihood
from ldpfast.analysis._rows import Rows

from ..support.cases import each
from ..support.statistics import assert_coverage
from .populations import FORCED, PLAIN, PLAIN_THREE, THREE, binary, logistic


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
    kind = {"cov_type": "cluster", "cov_kwds": {"groups": villages}} if clusters else {"cov_type": "HC1"}
    theirs = sm.OLS(mechanism.decode(reports), sm.add_constant(x)).fit(**kind)
    np.testing.assert_allclose(ours.params, theirs.params, rtol=1e-9)
    np.testing.assert_allclose(np.sqrt(np.diag(ours.cov)), theirs.bse, rtol=1e-9)
    predicted = ours.predict([[0.5, 0.5]])
    exact = theirs.get_prediction([[1, 0.5, 0.5]])
    np.testing.assert_allclose(predicted.value, exact.predicted_mean)
    np.testing.assert_allclose(predicted.stderr, exact.se_mean)


# Statistics -----------------------------------------------------------------------------------------------------------


@pytest.mark.claim(
    "Intervals of a logit of randomized answers cover, and its likelihood-ratio test has its level.", "Estimates"
)
@pytest.mark.long
def test_intervals_cover_and_the_test_of_likelihoods_has_its_level():
    """500 people, five covariates, one of them without effect: as in studies with forced response by a die."""
    truth, rejected = np.array([-0.3, 0.5, -0.5, 0.3, 0.0, 0.8]), 0
    runs, hits, estimates = 1200, np.zeros(6, int), []
    for seed in range(runs):
        x, reports = binary(500, truth[1:], FORCED, seed)
        model = analysis.RandomizedLogit(FORCED).fit(x, reports)
        low, high = model.interval()
        hits += (low < truth) & (truth < high)
        estimates.append(model.params)
        smaller = analysis.RandomizedLogit(FORCED).fit(
            pd.DataFrame(x, columns=model.names[1:]).drop(columns="x4"), reports
        )
        rejected += model.likelihood_ratio(smaller).pvalue < 0.05
    assert_coverage(hits, runs, 0.95, detects=0.89)
    assert rejected / runs < 0.05 + 4 * np.sqrt(0.05 * 0.95 / runs)
    assert rejected / runs > 0.02
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
    with pytest.raises(ValueError, match="X must have the columns const, age, female, got const, female, age"):
        model.predict(frame[["female", "age"]])
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
    for wrong in (frame.assign(region="N"), missing):
        with pytest.raises((TypeError, ValueError), match=r"without missing values, column '(region|year)'"):
            analysis.RandomizedLogit(FORCED).fit(wrong, reports)
    twice = frame.assign(male=~frame["female"])
    with pytest.raises(ValueError, match="X must have linearly independent columns, got 'female', 'male'"):
        analysis.RandomizedLogit(FORCED).fit(twice, reports)


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
