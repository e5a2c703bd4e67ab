"""Regression of list experiments, against the package list of R, SciPy, numeric derivatives and simulations."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import binom

from ldpfast import analysis

from ..designs.test_list_experiment import DATA
from ..support.cases import each
from ..support.errors import raises
from ..support.internals.analysis import Rows
from ..support.modules import module_of
from ..support.statistics import assert_coverage

ListLikelihood = module_of(analysis.ListExperiment).ListLikelihood


def simulated(n, seed, slopes=(-0.8, 0.7), liars=None, share=0.0):
    """Return a covariate, counts and lists; a share of those who would reveal themselves may lie."""
    rng = np.random.default_rng(seed)
    x, treated = rng.normal(size=(n, 1)), rng.random(n) < 0.5
    has = rng.random(n) < expit(slopes[0] + slopes[1] * x[:, 0])
    others = rng.binomial(3, expit(0.2 - 0.3 * x[:, 0] + 0.6 * has))
    lies = (others == {"ceiling": 3, "floor": 0, None: -1}[liars]) & (rng.random(n) < share)
    return x, others + (treated & has & ~lies), treated


def test_coefficients_are_those_of_the_package_list_of_r():
    """Digits of ictreg(method = "ml", maxIter = 200000), whose EM algorithm stops slightly before the maximum."""
    expected = {
        True: (
            [-0.526968116795, 0.460978974639, -0.378750597214],
            [0.219103196659, 0.131537507421, 0.400901029338],
            [0.330896476382, -0.129915782744, -0.051152722791],
            -1613.384708733,
        ),
        False: (
            [-0.907332429040, 0.694429000247, -0.422892472188],
            [0.332692261219, 0.166014663934, 0.456060932843],
            [0.16436140288930, -0.21264072490904, 0.00480927845483, 0.933527156382, -0.319585423811, -0.042159545062],
            -1605.0547146575,
        ),
    }
    for constrained, (params, stderr, others, llf) in expected.items():
        model = analysis.ListExperiment(3, constrained=constrained)
        model.fit("count ~ age + female", DATA, treated="treated")
        np.testing.assert_allclose(model.params, params, atol=2e-4)
        np.testing.assert_allclose(model.bse, stderr, atol=2e-4)
        np.testing.assert_allclose(model.controls.value, others, atol=2e-4)
        assert llf <= model.llf < llf + 1e-6
        assert model.aic == pytest.approx(2 * (6 if constrained else 9) - 2 * model.llf)


@pytest.mark.parametrize("constrained", [True, False])
def test_coefficients_are_those_of_scipy(constrained):
    x, counts, treated = simulated(3000, 3)
    weights = np.random.default_rng(4).uniform(0.5, 2, 3000)
    rows = np.column_stack([np.ones(3000), x])

    def loss(params):
        share = expit(rows @ params[:2])
        rates = [expit(rows @ part) for part in (params[2:4], params[-2:])]
        seen = (1 - share) * binom.pmf(counts, 3, rates[0]) + share * binom.pmf(counts - treated, 3, rates[1])
        return -(weights / weights.mean()) @ np.log(seen)

    model = analysis.ListExperiment(3, constrained=constrained).fit(x, counts, treated=treated, weights=weights)
    found = minimize(loss, np.r_[model.params + 0.1, model.controls.value - 0.1], method="BFGS", tol=1e-9)
    np.testing.assert_allclose(np.r_[model.params, model.controls.value], found.x, atol=2e-5)
    assert model.llf == pytest.approx(-found.fun, abs=1e-7)


@pytest.mark.parametrize("constrained", [True, False])
def test_gradient_and_information_are_derivatives(constrained):
    rng = np.random.default_rng(5)
    x, counts, treated = simulated(60, 5)
    rows = Rows.of(np.column_stack([x, rng.normal(size=60)]), True)
    likelihood = ListLikelihood(rows, counts, treated, 3, constrained, rng.random(60))
    params, step = rng.normal(size=likelihood.size), 1e-5
    found = likelihood.sums(params, observed=True)
    (_, scores), *_ = likelihood.scores(params)
    np.testing.assert_allclose(scores.sum(axis=0), found.score, rtol=1e-10)
    for place, move in enumerate(step * np.eye(params.size)):
        up, down = (likelihood.sums(params + sign * move, observed=True) for sign in (1, -1))
        assert found.score[place] == pytest.approx((up.value - down.value) / (2 * step), abs=1e-6)
        np.testing.assert_allclose(found.information[place], (down.score - up.score) / (2 * step), atol=1e-6)
    replaced = likelihood.sums(params, observed=False).information
    assert np.linalg.eigvalsh(replaced - found.information)[0] > -1e-9  # for a known attribute there is more


@pytest.mark.long
def test_predictions_effects_and_contrasts_have_the_errors_of_the_delta_method():
    x, counts, treated = simulated(1500, 6)
    data = pd.DataFrame({"x": x[:, 0], "count": counts, "long": treated})
    data["region"] = np.where(np.arange(1500) % 3 == 0, "N", "S")
    model = analysis.ListExperiment(3).fit("count ~ x + I(x**2) + region", data, treated="long")
    shares = expit(np.column_stack([np.ones(1500), x, x**2, data["region"] == "S"]) @ model.params)
    assert model.names == ("const", "x", "I(x ** 2)", "region[T.S]")
    np.testing.assert_allclose(model.predict(data).value, shares, rtol=1e-9)
    functions = {
        "average": lambda: model.predict(data, average=True),
        "contrast": lambda: model.contrast({"x": 1}, {"x": 0}),
        "ratio": lambda: model.contrast({"region": "N"}, {"region": "S"}, ratio=True),
        "effects": model.marginal_effects,
    }
    params, cov = model._standard
    for name, function in functions.items():
        estimate, slopes = function(), []
        for move in 1e-6 * np.eye(len(params)):
            pair = []
            for sign in (1, -1):
                model._standard = (params + sign * move, cov)
                pair.append(np.asarray(function().value))
            slopes.append((pair[0] - pair[1]) / 2e-6)
        model._standard = (params, cov)
        jacobian = np.atleast_2d(np.array(slopes).T)
        stderr = np.sqrt(np.diag(jacobian @ cov @ jacobian.T))
        np.testing.assert_allclose(np.ravel(estimate.stderr), stderr, rtol=1e-5, err_msg=name)
    up, down = (model.predict(data.assign(x=data["x"] + move), average=True).value for move in (1e-4, -1e-4))
    assert model.marginal_effects().value[0] == pytest.approx((up - down) / 2e-4, rel=1e-6)


def test_clusters_and_weights_are_those_of_repeated_people():
    x, counts, treated = simulated(2000, 7)
    plain = analysis.ListExperiment(3).fit(x, counts, treated=treated, cov_type="linearized")
    twice = analysis.ListExperiment(3).fit(
        np.vstack([x, x]), np.tile(counts, 2), treated=np.tile(treated, 2), clusters=np.tile(np.arange(2000), 2)
    )
    np.testing.assert_allclose(twice.params, plain.params, rtol=1e-5)
    np.testing.assert_allclose(twice.cov, plain.cov, rtol=1e-3)
    whole = np.arange(2000) % 3
    weighted = analysis.ListExperiment(3).fit(x, counts, treated=treated, weights=whole)
    repeated = analysis.ListExperiment(3).fit(
        np.repeat(x, whole, axis=0), np.repeat(counts, whole), treated=np.repeat(treated, whole)
    )
    np.testing.assert_allclose(weighted.params, repeated.params, rtol=1e-5)
    assert (weighted.cov_type, weighted.n) == ("linearized", np.count_nonzero(whole))


def test_rows_with_missing_values_are_left_out_and_arrays_give_the_same():
    data = DATA.astype({"count": float, "treated": float})
    data.loc[3, "count"] = data.loc[5, "treated"] = data.loc[9, "age"] = np.nan
    model = analysis.ListExperiment(3).fit("count ~ age", data, treated="treated")
    kept = data.drop(index=[3, 5, 9])
    arrays = analysis.ListExperiment(3).fit(kept[["age"]], kept["count"], treated=kept["treated"])
    np.testing.assert_array_equal(model.params, arrays.params)
    assert (model.left_out, model.n) == (3, 1197)
    assert "3 rows with missing values are left out" in repr(model.summary())
    assert "list experiment with 3 other statements" in repr(model.summary())


@pytest.mark.parametrize("at", ["ceiling", "floor"])
def test_liars_are_detected_where_they_are(at):
    x, counts, treated = simulated(2000, 8)
    honest = analysis.ListExperiment(3).fit(x, counts, treated=treated)
    assert honest.liars(at).pvalue > 0.05
    slopes = (0.5, 0.7)
    x, counts, treated = simulated(8000, 9, slopes, at, 1.0)
    model = analysis.ListExperiment(3).fit(x, counts, treated=treated)
    assert model.liars(at).pvalue < 0.01
    assert model.liars(at).statistic > 2


def test_the_score_of_liars_is_a_derivative():
    """Of the log-likelihood by a share of liars, from the probabilities of the counts."""
    x, counts, treated = simulated(500, 10)
    model = analysis.ListExperiment(3).fit(x, counts, treated=treated)
    params = model._whole[0]
    block = model._likelihood.block(params, slice(0, 500))
    for at, true in (("ceiling", 3), ("floor", 0)):
        honest = block.share * binom.pmf(true, 3, block.others[1])

        def seen(share, true=true, honest=honest):
            moved = np.where(counts == true, 1, np.where(counts == true + 1, -1, 0)) * treated
            return np.log(block.total + share * moved * honest)

        step = 1e-7
        expected = (seen(step) - seen(0.0)) / step
        np.testing.assert_allclose(model._liar_scores(params, slice(0, 500), at), expected, atol=1e-5)


@pytest.mark.long
def test_intervals_cover_and_the_test_of_liars_has_its_level():
    truth, runs = np.array([-0.8, 0.7]), 300
    hits, rejected = np.zeros(2, int), {"ceiling": 0, "floor": 0}
    for seed in range(runs):
        x, counts, treated = simulated(2000, seed)
        model = analysis.ListExperiment(3).fit(x, counts, treated=treated)
        low, high = model.interval()
        hits += (low < truth) & (truth < high)
        for at in rejected:
            rejected[at] += model.liars(at).pvalue < 0.05
    assert_coverage(hits, runs, 0.95, detects=0.83)
    assert all(count / runs < 0.05 + 4 * np.sqrt(0.05 * 0.95 / runs) for count in rejected.values()), rejected


X, Y, T = simulated(1000, 1)
MODEL = analysis.ListExperiment(3)


@each(
    "call, error, message",
    [
        (lambda: analysis.ListExperiment(0), ValueError, "items must be"),
        (lambda: MODEL.fit(X, Y), TypeError, "treated must be given"),
        (lambda: MODEL.fit(X, treated=T), TypeError, "counts must be given, unless the first argument is a formula"),
        (lambda: MODEL.fit(X[:9], Y, treated=T), ValueError, "counts must have one entry for each row of X"),
        (lambda: MODEL.fit(X, Y, treated=~T), ValueError, "counts must be integers from 0 to 3 for this list"),
        (lambda: MODEL.fit(X, Y, treated=T, cov_type="HC3"), ValueError, "cov_type must be one of"),
        (
            lambda: MODEL.fit("count ~ age", DATA, treated="long"),
            ValueError,
            "treated must be an array or the name of a",
        ),
        (
            lambda: MODEL.fit(X, np.minimum(Y, 1) * 0 + T * 0, treated=T),
            ValueError,
            "the likelihood must have a maximum",
        ),
        (lambda: analysis.ListExperiment(3).fit(X, Y, treated=T).liars("top"), ValueError, "at must be one of"),
        (
            lambda: analysis.ListExperiment(3).fit(X, Y, treated=T, weights=np.linspace(1, 2, 1000)).liars("floor"),
            ValueError,
            "liars must be tested in a fit without weights and clusters",
        ),
    ],
)
def test_mistakes_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_an_unfitted_model_says_so():
    for name in ("params", "controls", "llf"):
        with raises(AttributeError, "ListExperiment is not fitted yet: call fit first"):
            getattr(analysis.ListExperiment(3), name)
