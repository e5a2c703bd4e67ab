"""Probit and complementary log-log models of randomized answers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize
from scipy.special import ndtr
from scipy.stats import chi2

from ldpfast import analysis, designs

from ..support.cases import each
from ..support.survey_samples import AGE, ANSWER, SAMPLES, SEX
from .populations import FORCED, THREE

DIRECT = designs.forced_response(0, 0)
MODELS = (analysis.RandomizedProbit, analysis.RandomizedCloglog)
LINKS = {analysis.RandomizedProbit: sm.families.links.Probit(), analysis.RandomizedCloglog: sm.families.links.CLogLog()}
MEANS = {analysis.RandomizedProbit: ndtr, analysis.RandomizedCloglog: lambda eta: -np.expm1(-np.exp(eta))}
PARAMS = np.array([-0.4, 0.6, -0.3])


def people(n, model, design=DIRECT, seed=1):
    """Return covariates and reports of people whose truths have a link."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    truth = rng.random(n) < MEANS[model](PARAMS[0] + x @ PARAMS[1:])
    reports = truth if design is DIRECT else design.channel.privatize(truth.astype(int), rng=seed)
    return x, reports.astype(int)


def likelihood(model, x, reports, design):
    """Return the log-likelihood as a function of the coefficients, from its definition."""
    p, q = map(float, design.probabilities)
    rows = sm.add_constant(x)

    def value(params):
        seen = q + (p - q) * MEANS[model](rows @ params)
        return float(np.sum(np.log(np.where(reports, seen, 1 - seen))))

    return value


def hessian(value, at, step=1e-3):
    """Return the second derivatives by central differences with one Richardson step."""
    size = len(at)
    found = np.zeros((2, size, size))
    for place, h in enumerate((step, step / 2)):
        for i, j in np.ndindex(size, size):
            ends = [(a * b, at + h * (a * np.eye(size)[i] + b * np.eye(size)[j])) for a in (1, -1) for b in (1, -1)]
            found[place, i, j] = sum(sign * value(point) for sign, point in ends) / (4 * h * h)
    return (4 * found[1] - found[0]) / 3


# Against statsmodels and the definition -------------------------------------------------------------------------------


@pytest.mark.claim(
    "Probit and complementary log-log models of direct answers equal statsmodels to eight digits.", "Estimates"
)
@each("model", MODELS)
def test_direct_answers_have_the_coefficients_of_statsmodels(model):
    x, reports = people(600, model)
    weights = np.linspace(0.5, 1.5, 600)
    for options in ({}, {"weights": weights}):
        ours = model(DIRECT).fit(x, reports, **options)
        family = sm.families.Binomial(LINKS[model])
        theirs = sm.GLM(reports, sm.add_constant(x), family=family, freq_weights=options.get("weights")).fit(tol=1e-14)
        np.testing.assert_allclose(ours.params, theirs.params, rtol=1e-8)
        if not options:
            assert ours.llf == pytest.approx(theirs.llf, rel=1e-12)
            assert ours.aic == pytest.approx(theirs.aic, rel=1e-12)
            observed = -theirs.model.hessian(ours.params, observed=True)
            np.testing.assert_allclose(ours.cov, np.linalg.inv(observed), rtol=1e-8)
            np.testing.assert_allclose(ours.predict(x).value, theirs.predict(), rtol=1e-8)
    if model is analysis.RandomizedProbit:
        plain, theirs = model(DIRECT).fit(x, reports), sm.Probit(reports, sm.add_constant(x)).fit(disp=0, tol=1e-14)
        np.testing.assert_allclose(plain.bse, theirs.bse, rtol=1e-8)
        effects = theirs.get_margeff()
        found = plain.marginal_effects()
        np.testing.assert_allclose(found.value, effects.margeff, rtol=1e-8)
        np.testing.assert_allclose(found.stderr, effects.margeff_se, rtol=1e-8)


@each("model", MODELS)
def test_randomized_answers_have_the_largest_likelihood_and_its_curvature(model):
    for design in (FORCED, designs.crosswise(0.2)):
        x, reports = people(900, model, design)
        ours = model(design).fit(x, reports)
        value = likelihood(model, x, reports, design)
        assert ours.llf == pytest.approx(value(ours.params), rel=1e-12)
        best = minimize(lambda params, value=value: -value(params), np.zeros(3), method="BFGS", options={"gtol": 1e-9})
        np.testing.assert_allclose(ours.params, best.x, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(ours.cov, np.linalg.inv(-hessian(value, ours.params)), rtol=1e-6)


@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
def test_samples_have_nearly_the_errors_of_the_package_survey():
    """svyglm(y~x+sex, fpc, quasibinomial(link)) of the sample in survey_samples.py, which has the expected information."""
    figures = {
        analysis.RandomizedProbit: (0.21597997619, 0.02477737315, -0.28120700035, 0.06580772777, 0.07425198220, 0.10784829850),
        analysis.RandomizedCloglog: (
            -0.12622386792, 0.02412594798, -0.31427529313, 0.07056867216, 0.08098078618, 0.12386711351,
        ),
    }  # fmt: skip
    for model, expected in figures.items():
        found = model(DIRECT).fit(np.column_stack([AGE, SEX]), ANSWER, **SAMPLES["fpc"])
        np.testing.assert_allclose(found.params, expected[:3], rtol=1e-5)
        np.testing.assert_allclose(found.bse, expected[3:], rtol=0.03)


# Functions of the coefficients ----------------------------------------------------------------------------------------


@each("model", MODELS)
def test_predictions_effects_and_contrasts_have_the_errors_of_numerical_derivatives(model):
    x, reports = people(900, model, FORCED)
    frame = pd.DataFrame({"age": x[:, 0], "wave": np.where(x[:, 1] > 0, "b", "a"), "said": reports})
    fit = model(FORCED).fit("said ~ age + I(age**2) + wave", frame)
    rows = np.column_stack([np.ones(900), frame["age"], frame["wave"] == "b", frame["age"] ** 2])[:, [0, 1, 3, 2]]
    columns = [fit.names.index(name) for name in ("const", "age", "I(age ** 2)", "wave[T.b]")]
    mean = MEANS[model]
    params, cov = fit.params[columns], fit.cov[np.ix_(columns, columns)]

    def moved(age=0.0, wave=None):
        changed = rows.copy()
        changed[:, 1] += age
        changed[:, 2] = changed[:, 1] ** 2
        if wave is not None:
            changed[:, 3] = wave
        return changed

    def checked(found, stderr, function):
        slopes = np.array([(function(params + h) - function(params - h)) / 2e-5 for h in 1e-5 * np.eye(4)])
        assert found == pytest.approx(function(params), rel=1e-6)
        assert stderr == pytest.approx(np.sqrt(slopes @ cov @ slopes), rel=1e-5)

    effects = fit.marginal_effects()
    assert effects.labels == ("age", "wave: b - a")
    step = 1e-4
    checked(
        effects.value[0],
        effects.stderr[0],
        lambda b: np.mean(mean(moved(step) @ b) - mean(moved(-step) @ b)) / (2 * step),
    )
    checked(effects.value[1], effects.stderr[1], lambda b: np.mean(mean(moved(wave=1) @ b) - mean(moved(wave=0) @ b)))
    ratio = fit.contrast({"wave": "b"}, {"wave": "a"}, ratio=True)
    checked(ratio.value, ratio.stderr, lambda b: np.mean(mean(moved(wave=1) @ b)) / np.mean(mean(moved(wave=0) @ b)))
    one = fit.predict(frame.iloc[[7]])
    checked(one.value[0], one.stderr[0], lambda b: mean(rows[7] @ b))
    np.testing.assert_allclose(fit.predict_proba(frame).sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(fit.predict_proba(frame)[:, 1], fit.predict(frame).value)


@each("model", MODELS)
def test_covariances_profiles_and_tests_of_likelihoods_are_those_of_the_link(model):
    x, reports = people(500, model, FORCED)
    fit, smaller = model(FORCED).fit(x, reports), model(FORCED).fit(x[:, :1], reports)
    frame = pd.DataFrame(x, columns=["x1", "x2"])
    nested = fit.likelihood_ratio(model(FORCED).fit(frame[["x1"]], reports))
    assert nested.pvalue == pytest.approx(chi2.sf(2 * (fit.llf - smaller.llf), 1), rel=1e-9)
    low, high = fit.interval(method="profile")
    value = likelihood(model, x, reports, FORCED)
    for place, limit in ((1, low[1]), (1, high[1])):
        rest = [other for other in range(3) if other != place]

        def profile(free, place=place, limit=limit, rest=rest):
            params = np.zeros(3)
            params[place], params[rest] = limit, free
            return -value(params)

        best = -minimize(profile, fit.params[rest], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10}).fun
        assert 2 * (fit.llf - best) == pytest.approx(chi2.ppf(0.95, 1), abs=1e-4)
    # HC3: fits without one person move by these scores; HC1 has the factor n / (n - columns)
    robust = model(FORCED).fit(x, reports, cov_type="HC3")
    plain = model(FORCED).fit(x, reports, cov_type="linearized")
    hc1 = model(FORCED).fit(x, reports, cov_type="HC1")
    np.testing.assert_allclose(hc1.cov * (497 / 500), plain.cov * (499 / 500), rtol=1e-6)
    assert (robust.bse > plain.bse).all()
    steps = []
    for person in range(0, 500, 25):
        inside = np.arange(500) != person
        steps.append(fit.params - model(FORCED).fit(x[inside], reports[inside]).params)
    assert np.sqrt(np.mean(np.square(steps), axis=0)) == pytest.approx(robust.bse / np.sqrt(500), rel=0.5)


def test_several_designs_are_one_likelihood():
    """A die for some people and a direct question for the others: the maximum of the sum of both likelihoods."""
    model = analysis.RandomizedCloglog
    x, reports = people(800, model, FORCED)
    direct = people(800, model)[1]
    mode = np.where(np.arange(800) % 3 == 0, "direct", "die")
    reports = np.where(mode == "direct", direct, reports)
    fit = model({"die": FORCED, "direct": None}).fit(x, reports, design=mode)
    parts = [(mode == "die", FORCED), (mode == "direct", DIRECT)]
    values = [likelihood(model, x[inside], reports[inside], design) for inside, design in parts]
    total = lambda params: sum(value(params) for value in values)  # noqa: E731
    assert fit.llf == pytest.approx(total(fit.params), rel=1e-10)
    slopes = [(total(fit.params + h) - total(fit.params - h)) / 2e-5 for h in 1e-5 * np.eye(3)]
    np.testing.assert_allclose(slopes, 0, atol=1e-4)
    np.testing.assert_allclose(fit.cov, np.linalg.inv(-hessian(total, fit.params)), rtol=1e-5)


# Extremes and mistakes ------------------------------------------------------------------------------------------------


@each("model", MODELS)
def test_large_linear_predictors_and_single_precision_have_numbers(model):
    x, reports = people(2000, model, FORCED)
    far = x.copy()
    far[0] = 40.0
    fit = model(FORCED).fit(far, reports)
    assert np.isfinite(fit.cov).all()
    shares = fit.predict_proba([[1e4, 0.0], [-1e4, 0.0]])
    np.testing.assert_array_equal(np.sort(shares, axis=1), [[0, 1], [0, 1]])
    single = model(FORCED).fit(x.astype(np.float32), reports)
    np.testing.assert_allclose(single.params, model(FORCED).fit(x, reports).params, rtol=1e-5)
    without = model(FORCED, intercept=False).fit(x, reports)
    assert without.names == ("x1", "x2")


@each("model", MODELS)
def test_mistakes_are_named(model):
    with pytest.raises(ValueError, match=f"design must have two categories for {model.__name__}, got 3"):
        model(THREE)
    x, reports = people(200, model, FORCED)
    with pytest.raises(AttributeError, match=f"{model.__name__} is not fitted yet"):
        model(FORCED).params  # noqa: B018
    with pytest.raises(ValueError, match="got reports without one"):
        model(DIRECT).fit(x[:, :1], x[:, 0] > 0)
    logit = analysis.RandomizedLogit(FORCED).fit(x[:, :1], reports)
    with pytest.raises(TypeError, match=f"restricted must be a {model.__name__}, got RandomizedLogit"):
        model(FORCED).fit(x, reports).likelihood_ratio(logit)
    fit = model(FORCED).fit(x, reports)
    scale = "normal quantile" if model is analysis.RandomizedProbit else "complementary log-log"
    assert fit.summary().notes[-1] == f"{scale} of yes against no"
    assert repr(fit) == f"<{model.__name__} of no, yes, n = 200>"


@pytest.mark.long
@each("model", MODELS)
def test_intervals_cover(model):
    """400 studies of 800 people with a die: Bernoulli 0.95 within 3.5 standard errors."""
    hits = np.zeros(3)
    for seed in range(400):
        low, high = model(FORCED).fit(*people(800, model, FORCED, seed)).interval()
        hits += (low < PARAMS) & (high > PARAMS)
    assert (np.abs(hits / 400 - 0.95) < 3.5 * np.sqrt(0.95 * 0.05 / 400)).all(), hits
