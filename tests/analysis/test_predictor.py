"""Regressions on a randomized answer, against statsmodels, an EM algorithm, numeric derivatives and simulations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import ldpfast as ldp
from ldpfast import analysis, designs
from ldpfast.analysis._answer_design import AnswerDesign
from ldpfast.analysis._mixture import Mixture

from ..support.cases import each
from ..support.internals.analysis import Rows
from ..support.statistics import assert_coverage
from .populations import FORCED, PLAIN, PLAIN_THREE, THREE, logistic

EFFECT = -1.5


def study(n, family, table, seed=1, slopes=(0.5, -0.3)):
    """Return covariates, true answers, reports and outcomes; the effect of category z is z times `EFFECT`."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, len(slopes)))
    two = (rng.random(n) < logistic(0.6 * x[:, 0] - 0.4)).astype(int)
    truth = two if len(table) == 2 else rng.integers(0, len(table), n)
    reports = ldp.FiniteChannel(table).privatize(truth, rng=seed).astype(int)
    eta = 0.4 + x @ slopes + EFFECT * truth
    y = eta + 0.8 * rng.normal(size=n) if family != "logit" else (rng.random(n) < logistic(eta)).astype(float)
    return x, truth, reports, y


def rows_of(design):
    return [list(row) for row in design.channel.rows]


# Oracles --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("design, table", [(PLAIN, rows_of(PLAIN)), (PLAIN_THREE, PLAIN_THREE)], ids=["two", "three"])
def test_direct_answers_give_least_squares_and_the_logit_of_statsmodels(design, table):
    for family in ("normal", "logit"):
        x, truth, reports, y = study(2000, family, table)
        ours = analysis.RandomizedPredictor(design, family).fit(x, reports, y)
        inside = np.column_stack([sm.add_constant(x), np.eye(len(table))[truth, 1:]])
        theirs = sm.OLS(y, inside).fit() if family == "normal" else sm.Logit(y, inside).fit(disp=0)
        np.testing.assert_allclose(ours.params, theirs.params, rtol=1e-5, atol=1e-7)
        shrink = np.sqrt(theirs.df_resid / 2000) if family == "normal" else 1.0  # the likelihood divides by n
        np.testing.assert_allclose(np.sqrt(np.diag(ours.cov)), theirs.bse * shrink, rtol=1e-5)
        if family == "normal":
            assert ours.sigma == pytest.approx(np.sqrt(theirs.ssr / 2000), rel=1e-6)
        answer = sm.MNLogit(truth, sm.add_constant(x)).fit(disp=0)
        np.testing.assert_allclose(ours.answers.value, np.asarray(answer.params).T.ravel(), rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(ours.answers.stderr, np.asarray(answer.bse).T.ravel(), rtol=1e-4)
        assert ours.llf == pytest.approx(theirs.llf + answer.llf, rel=1e-6)
        place = ours.categories[1]
        category = np.broadcast_to(np.eye(len(table))[1, 1:], (3, len(table) - 1))
        predicted = theirs.get_prediction(np.column_stack([sm.add_constant(x)[:3], category]))
        mean = predicted.predicted_mean if family == "normal" else predicted.predicted
        stderr = (predicted.se_mean if family == "normal" else predicted.se) * shrink
        np.testing.assert_allclose(ours.predict(x[:3], place).value, mean, rtol=1e-5)
        np.testing.assert_allclose(ours.predict(x[:3], place).stderr, stderr, rtol=1e-5)


def em(x, reports, y, design, family, steps=1500):
    """Return the coefficients by expectation maximization: weighted regressions with both answers of each person."""
    p, q = map(float, design.probabilities)
    rows, n = sm.add_constant(x), len(x)
    chance = np.where(reports == 1, [[q], [p]], [[1 - q], [1 - p]])
    both = np.vstack([np.column_stack([rows, np.full(n, z)]) for z in (0.0, 1.0)])
    beta, gamma, sigma = np.zeros(rows.shape[1] + 1), np.zeros(rows.shape[1]), np.std(y)
    beta[-1] = 0.1
    for _ in range(steps):
        eta = (both @ beta).reshape(2, n)
        if family == "normal":
            density = np.exp(-((y - eta) ** 2) / (2 * sigma**2)) / sigma
        else:
            density = np.where(y > 0, logistic(eta), logistic(-eta))
        share = logistic(rows @ gamma)
        joint = density * np.stack([1 - share, share]) * chance
        tau = (joint / joint.sum(axis=0)).ravel()
        if family == "normal":
            beta = np.linalg.solve((both * tau[:, None]).T @ both, both.T @ (tau * np.tile(y, 2)))
            sigma = np.sqrt(tau @ (np.tile(y, 2) - both @ beta) ** 2 / n)
        else:
            mean = logistic(both @ beta)
            hessian = (both * (tau * mean * (1 - mean))[:, None]).T @ both
            beta = beta + np.linalg.solve(hessian, both.T @ (tau * (np.tile(y, 2) - mean)))
        hessian = (rows * (share * (1 - share))[:, None]).T @ rows
        gamma = gamma + np.linalg.solve(hessian, rows.T @ (tau[n:] - share))
    return beta, gamma


@pytest.mark.parametrize("family", ["normal", "logit"])
def test_coefficients_are_those_of_expectation_maximization(family):
    x, _, reports, y = study(1500, family, rows_of(FORCED))
    found = analysis.RandomizedPredictor(FORCED, family).fit(x, reports, y)
    beta, gamma = em(x, reports, y, FORCED, family)
    np.testing.assert_allclose(found.params, beta, atol=1e-6)
    np.testing.assert_allclose(found.answers.value, gamma, atol=1e-6)


@pytest.mark.parametrize("linear", [True, False])
@pytest.mark.parametrize("table", [rows_of(FORCED), THREE], ids=["two", "three"])
def test_gradient_and_information_are_derivatives(table, linear):
    rng, step = np.random.default_rng(3), 1e-5
    likelihood = AnswerDesign(table).likelihood(Rows.of(rng.normal(size=(40, 2)), True), rng.integers(0, 2, 40), None)
    likelihood = replace(likelihood, weights=rng.random(40))
    mixture = Mixture(likelihood, rng.normal(size=40) if linear else rng.integers(0, 2, 40).astype(float), linear)
    params = rng.normal(size=mixture.size) / 2
    found = mixture.sums(params, observed=True)
    np.testing.assert_allclose(sum(part.sum(axis=0) for _, part in mixture.scores(params)), found.score, atol=1e-9)
    for place in range(params.size):
        move = step * np.eye(params.size)[place]
        up, down = (mixture.sums(params + sign * move, observed=True) for sign in (1, -1))
        assert found.score[place] == pytest.approx((up.value - down.value) / (2 * step), abs=1e-6)
        np.testing.assert_allclose(found.information[place], (down.score - up.score) / (2 * step), atol=1e-6)
    # with known answers the information is never smaller
    complete = mixture.sums(params, observed=False).information
    assert np.linalg.eigvalsh(complete)[0] > 0


def test_a_regression_on_the_reports_finds_too_small_an_effect():
    x, _, reports, y = study(20_000, "normal", rows_of(FORCED))
    assert sm.OLS(y, sm.add_constant(np.column_stack([x, reports]))).fit().params[-1] > 0.8 * EFFECT
    found = analysis.RandomizedPredictor(FORCED).fit(x, reports, y)
    assert found.params[-1] == pytest.approx(EFFECT, abs=5 * np.sqrt(found.cov[-1, -1]))


@pytest.mark.long
@pytest.mark.parametrize("family", ["linear", "normal", "logit"])
def test_intervals_cover(family):
    runs, truth, hits, estimates = 800, np.array([0.4, 0.5, -0.3, EFFECT]), np.zeros(4, int), []
    for seed in range(runs):
        x, _, reports, y = study(1500, family, rows_of(FORCED), seed)
        model = analysis.RandomizedPredictor(FORCED, family).fit(x, reports, y)
        low, high = model.interval()
        hits += (low < truth) & (truth < high)
        estimates.append(model.params)
    assert_coverage(hits, runs, 0.94, detects=0.87)
    assert (np.abs(np.mean(estimates, axis=0) - truth) < 0.08).all()


@pytest.mark.parametrize("clusters", [False, True])
def test_direct_answers_give_robust_least_squares_of_statsmodels(clusters):
    x, truth, reports, y = study(900, "normal", PLAIN_THREE)
    villages = np.arange(900) // 20
    options = {"cov_type": "cluster", "cov_kwds": {"groups": villages}} if clusters else {"cov_type": "HC1"}
    inside = np.column_stack([sm.add_constant(x), np.eye(3)[truth, 1:]])
    theirs = sm.OLS(y, inside).fit(**options)
    frame = pd.DataFrame({"a": 2000 + x[:, 0], "b": x[:, 1]})
    ours = analysis.RandomizedPredictor(PLAIN_THREE).fit(frame, reports, y, clusters=villages if clusters else None)
    np.testing.assert_allclose(ours.params[1:], theirs.params[1:], rtol=1e-6)
    np.testing.assert_allclose(np.sqrt(np.diag(ours.cov))[1:], theirs.bse[1:], rtol=1e-6)
    predicted = theirs.get_prediction(np.column_stack([sm.add_constant(x)[:4], np.tile([0, 1], (4, 1))]))
    np.testing.assert_allclose(ours.predict(frame[:4], 2).value, predicted.predicted_mean, rtol=1e-6)
    np.testing.assert_allclose(ours.predict(frame[:4], 2).stderr, predicted.se_mean, rtol=1e-6)


@pytest.mark.parametrize("runs", [pytest.param(1200, marks=pytest.mark.long), 200])
def test_least_squares_need_no_distribution_of_errors(runs):
    """Errors of another spread in each category and skewed ones, where maximum likelihood of a normal model is far off."""
    truth, hits, wrong = np.array([2.0, 0.5, -1.0]), np.zeros(3, int), 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        x, has = rng.normal(size=(1500, 1)), rng.random(1500) < 0.3
        errors = (rng.exponential(size=1500) - 1) * np.where(has, 1.5, 0.8)
        y, reports = 2 + 0.5 * x[:, 0] - has + errors, FORCED.channel.privatize(has.astype(int), rng=seed).astype(int)
        low, high = analysis.RandomizedPredictor(FORCED).fit(x, reports, y).interval()
        hits += (low < truth) & (truth < high)
        if seed < 20:
            low, high = analysis.RandomizedPredictor(FORCED, "normal").fit(x, reports, y).interval()
            wrong += not low[-1] < -1 < high[-1]
    assert wrong > 5
    assert_coverage(hits, runs, 0.94, detects=0.88 if runs > 1000 else 0.78)


def test_weights_clusters_units_and_names():
    x, _, reports, y = study(1200, "normal", THREE)
    whole = np.arange(1200) % 3

    def fit(*args, **options):
        return analysis.RandomizedPredictor(THREE, "normal").fit(*args, **options)

    weighted, repeated = (
        fit(x, reports, y, weights=whole),
        fit(np.repeat(x, whole, axis=0), np.repeat(reports, whole), np.repeat(y, whole)),
    )
    np.testing.assert_allclose(weighted.params, repeated.params, rtol=1e-6)
    assert weighted.llf == pytest.approx(repeated.llf, rel=1e-9)
    single, twice = (
        fit(x, reports, y, weights=np.ones(1200)),
        fit(np.vstack([x, x]), np.tile(reports, 2), np.tile(y, 2), clusters=np.tile(np.arange(1200), 2)),
    )
    np.testing.assert_allclose(np.diag(twice.cov), np.diag(single.cov), rtol=2e-3)
    assert "sandwich of clusters" in repr(twice.summary())
    plain = fit(x, reports, y)
    other = fit(pd.DataFrame({"year": 2000 + x[:, 0], "kilometers": x[:, 1] / 1000}), reports, 5 - 100 * y)
    assert other.names == ("const", "year", "kilometers", "answer: 1", "answer: 2")
    np.testing.assert_allclose(other.params[1:] / [-100, -100_000, -100, -100], plain.params[1:], rtol=1e-5)
    np.testing.assert_allclose(other.sigma, 100 * plain.sigma, rtol=1e-6)
    assert other.llf == pytest.approx(plain.llf - 1200 * np.log(100), rel=1e-9)
    scaled = np.sqrt(np.diag(other.cov))[1:] / [100, 100_000, 100, 100]
    np.testing.assert_allclose(scaled, np.sqrt(np.diag(plain.cov))[1:], rtol=1e-5)


def test_an_answer_alone_can_be_the_predictor():
    _, truth, reports, y = study(3000, "normal", rows_of(PLAIN))
    model = analysis.RandomizedPredictor(PLAIN, "normal").fit(np.empty((3000, 0)), reports, y)
    squares = analysis.RandomizedPredictor(PLAIN).fit(np.empty((3000, 0)), reports, y, weights=np.full(3000, 3.0))
    np.testing.assert_allclose(squares.params, model.params, rtol=1e-5)
    assert model.names == ("const", "answer: yes")
    np.testing.assert_allclose(model.params.sum(), y[truth == 1].mean(), rtol=1e-6)
    infinite = analysis.RandomizedPredictor(designs.mangat(0.7)).fit(np.empty((3000, 0)), reports, y)
    assert infinite.guarantee.epsilon == np.inf


def test_a_failed_fit_changes_nothing():
    x, _, reports, y = study(600, "normal", rows_of(FORCED))
    for family in ("linear", "normal"):
        model = analysis.RandomizedPredictor(FORCED, family).fit(x, reports, y)
        before = model.names, model.params.copy(), model.n
        with pytest.raises(ValueError, match="must"):
            model.fit(x[:3, :1], reports[:3], y[:3])
        assert (model.names, model.n) == (before[0], before[2])
        np.testing.assert_array_equal(model.params, before[1])


# Mistakes -------------------------------------------------------------------------------------------------------------

X, _, REPORTS, Y = study(300, "normal", rows_of(FORCED))
MODEL = analysis.RandomizedPredictor(FORCED)


@each(
    "call, error, message",
    [
        (lambda: analysis.RandomizedPredictor("warner"), TypeError, "design must be a design"),
        (lambda: MODEL.fit(X[:5], REPORTS[:5], Y[:5]), ValueError, "must be of enough people"),
        (
            lambda: analysis.RandomizedPredictor(FORCED, "normal").fit(X, REPORTS, REPORTS),
            ValueError,
            "the likelihood must have a maximum",
        ),
        (lambda: analysis.RandomizedPredictor(FORCED, "poisson"), ValueError, "family must be"),
        (lambda: MODEL.fit(X, REPORTS, Y[:9]), ValueError, "outcome must have one number for each of 300 rows"),
        (lambda: MODEL.fit(X, REPORTS, Y * 0 + 7), ValueError, "outcome must not be the same for all people, got 7"),
        (lambda: MODEL.fit(X, REPORTS, Y * np.nan), ValueError, "outcome must"),
        (lambda: MODEL.fit(X, REPORTS[:5], Y), ValueError, "reports must have one entry"),
        (lambda: analysis.RandomizedPredictor(FORCED, "logit").fit(X, REPORTS, Y), ValueError, "must be 0 and 1"),
        (lambda: analysis.RandomizedPredictor(FORCED).params, AttributeError, "is not fitted yet: call fit first"),
        (lambda: MODEL.fit(X, REPORTS, Y).predict(X, "maybe"), ValueError, "answer must be one of 'no', 'yes'"),
        (
            lambda: analysis.RandomizedPredictor(FORCED, "logit").fit(X, REPORTS, X[:, 0] > 0),
            ValueError,
            "the likelihood must have a maximum",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
