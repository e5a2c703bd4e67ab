"""Regressions in complex samples: strata, clusters, finite populations and replicate weights."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import ldpfast as ldp
from ldpfast import analysis, designs

from ..support.cases import each
from ..support.survey_samples import (
    AGE,
    ANSWER,
    DIRECT,
    FIGURES,
    REPLICATED,
    REPLICATES,
    SAMPLES,
    SEX,
    STRATUM,
    TOWN,
    TOWNS,
    WEIGHT,
)

pytestmark = pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
X = np.column_stack([AGE, SEX])
WARNER = designs.warner(0.9)
STRATA = SAMPLES["strata"]
MECHANISM = ldp.SignBit(-3, 3, 4.0)
BITS = MECHANISM.privatize(AGE + ANSWER, rng=1)
TREATED = np.arange(360) % 2 == 0
COUNTS = np.random.default_rng(4).binomial(3, 0.4, 360) + (TREATED & (ANSWER == 1))
PUBLIC = np.sin(np.arange(360)) + ANSWER + AGE


def fitted(name, **sample):
    """Return a model by the name of its class, or of a family of `RandomizedPredictor`, fitted to the data of a sample."""
    if name == "linear":
        return analysis.RandomizedLinear(MECHANISM).fit(X, BITS, **sample)
    if name == "list":
        return analysis.ListExperiment(3, constrained=True).fit(AGE[:, np.newaxis], COUNTS, treated=TREATED, **sample)
    if name in ("moments", "normal", "outcome"):
        family = {"moments": "linear", "outcome": "logit"}.get(name, name)
        outcome = TREATED if family == "logit" else PUBLIC
        return analysis.RandomizedPredictor(WARNER, family).fit(AGE[:, np.newaxis], ANSWER, outcome, **sample)
    models = {
        "logit": analysis.RandomizedLogit,
        "probit": analysis.RandomizedProbit,
        "cloglog": analysis.RandomizedCloglog,
    }
    return models[name](WARNER).fit(X, ANSWER, **sample)


NAMES = ("logit", "probit", "cloglog", "linear", "list", "moments", "normal", "outcome")


# The package survey ---------------------------------------------------------------------------------------------------


@each("name", SAMPLES)
def test_logits_have_the_errors_of_the_package_survey(name):
    model = analysis.RandomizedLogit(DIRECT).fit(X, ANSWER, **SAMPLES[name])
    np.testing.assert_allclose([*model.params, *model.bse], FIGURES[name]["logit"], rtol=2e-6)
    assert model.cov_type == ("replicates" if name in REPLICATED else "linearized")
    if name in REPLICATED or name == "towns":  # where weights are equal or do not matter
        low, high = model.interval()
        freedom = FIGURES[name]["freedom"][0] - 2
        assert model.summary().notes[0].endswith(f"t with {freedom:.4g} degrees of freedom")
        assert (high - low)[0] > 3.9 * model.bse[0]


@each("name", [name for name in SAMPLES if name not in ("fpc", "people", "towns")])
def test_regressions_on_a_direct_predictor_have_the_errors_of_the_package_survey(name):
    """Sex is the answer of a direct design: least squares, and a logit of the outcome."""
    for family, figures in (("linear", "linear"), ("logit", "logit")):
        model = analysis.RandomizedPredictor(DIRECT, family).fit(AGE[:, np.newaxis], SEX, ANSWER, **SAMPLES[name])
        np.testing.assert_allclose([*model.params, *model.bse], FIGURES[name][figures], rtol=5e-6)


# Linearization and replicates -----------------------------------------------------------------------------------------


@each("name", NAMES)
def test_one_stratum_has_the_errors_of_clusters(name):
    """But for the factor of statsmodels for least squares."""
    one = fitted(name, weights=WEIGHT, clusters=TOWN, strata=np.zeros(360))
    other = fitted(name, weights=WEIGHT, clusters=TOWN)
    size = len(one.params)
    factor = (360 - 1) / (360 - size) if name in ("linear", "moments") else 1.0
    np.testing.assert_allclose(one.cov * factor, other.cov, rtol=1e-6, atol=1e-9 * np.abs(other.cov).max())
    assert (one.cov_type, other.cov_type) == ("linearized", "cluster")


@each("name", NAMES)
def test_strata_have_the_errors_of_a_jackknife_of_their_clusters(name):
    """Within some percent: the jackknife is linear in the scores but for terms of the order of a cluster's weight."""
    linear = fitted(name, **STRATA)
    replicated = fitted(name, **SAMPLES["jkn"])
    np.testing.assert_allclose(linear.bse, replicated.bse, rtol=0.12)
    np.testing.assert_allclose(linear.params, replicated.params, rtol=1e-9)
    clusters = fitted(name, weights=WEIGHT, clusters=TOWN)
    assert np.abs(linear.bse / clusters.bse - 1).max() > 0.01  # strata matter


@each("name", NAMES)
def test_replicates_are_fits_with_other_weights(name):
    weights = designs.ReplicateWeights(REPLICATES[:, :12], "bootstrap")
    found = fitted(name, weights=WEIGHT, replicate_weights=weights)
    fits = [fitted(name, weights=column).params for column in REPLICATES[:, :12].T]
    np.testing.assert_allclose(found.cov, np.cov(np.transpose(fits)), rtol=1e-4, atol=1e-7 * np.abs(found.cov).max())
    assert found.coefficients.rule.freedom == 11 - len(found.params) + 1


def test_more_categories_have_strata():
    """Replicates of a multinomial logit are fits with other weights, and its linearization is near to them."""
    reports = np.where(SEX, 2, ANSWER)
    table = [[10, 1, 1], [1, 10, 1], [1, 1, 10]]
    linear, replicated = (
        analysis.RandomizedLogit(table).fit(AGE[:, np.newaxis], reports, **SAMPLES[name]) for name in ("strata", "jkn")
    )
    np.testing.assert_allclose(linear.bse, replicated.bse, rtol=0.1)


def test_design_effects_compare_with_people_drawn_one_by_one():
    """Kish's: weights that tell nothing make variances larger by n times the sum of w^2 over the squared sum."""
    n = 40_000
    rng = np.random.default_rng(1)
    x, weights = rng.normal(size=(n, 1)), rng.choice([1.0, 4.0], n)
    reports = (rng.random(n) < 0.4).astype(int)
    kish = n * np.square(weights).sum() / weights.sum() ** 2
    numbers = MECHANISM.privatize(x[:, 0] / 3, rng=2, clip=True)
    for model in (
        analysis.RandomizedLogit(WARNER).fit(x, reports, weights=weights),
        analysis.RandomizedLinear(MECHANISM).fit(x, numbers, weights=weights),
        analysis.RandomizedPredictor(WARNER).fit(x, reports, x[:, 0] + rng.normal(size=n), weights=weights),
    ):
        np.testing.assert_allclose(model.design_effect, kish, rtol=0.03)
    plain = fitted("logit")
    np.testing.assert_allclose(plain.design_effect, 1)
    assert fitted("list").design_effect.shape == (2,)
    towns = analysis.RandomizedLogit(DIRECT).fit(np.empty((360, 0)), ANSWER, clusters=TOWN)
    prevalence = DIRECT.prevalence(ANSWER, clusters=TOWN)
    assert towns.design_effect[0] == pytest.approx(prevalence.design_effect, rel=0.2)


# Finite populations ---------------------------------------------------------------------------------------------------


@each("name", ["fpc", "people", "towns"])
def test_a_model_without_covariates_has_the_error_of_the_prevalence(name):
    """With the part of the variance that is the randomness of the answers, also for several designs."""
    nobody, sample = np.empty((360, 0)), SAMPLES[name]
    expected = designs.warner(0.9).prevalence(ANSWER, **sample)
    for model in (analysis.RandomizedLogit, analysis.RandomizedProbit, analysis.RandomizedCloglog):
        share = model(WARNER).fit(nobody, ANSWER, **sample).predict(np.empty((1, 0)))
        np.testing.assert_allclose([share.value[0], share.stderr[0]], [expected.value, expected.stderr], rtol=1e-6)
    mode = np.where(TREATED, "die", "direct")
    asked = {"die": designs.forced_response("1/6", "1/6"), "direct": None}
    data = {"said": ANSWER, "mode": mode}
    joint = designs.prevalence(data, outcome="said", designs=asked, design="mode", **sample)
    for model in (analysis.RandomizedLogit, analysis.RandomizedProbit):
        share = model(asked).fit(nobody, ANSWER, design=mode, **sample).predict(np.empty((1, 0)))
        np.testing.assert_allclose([share.value[0], share.stderr[0]], [joint.value, joint.stderr], rtol=1e-5)


def test_a_census_of_randomized_answers_has_their_randomness_only():
    """The delta method for the mean of reports: p (1 - p) of Warner's design, over the squared slope."""
    sample = {"clusters": TOWN, "strata": STRATUM, "fpc": np.ones(360)}
    share = fitted_share(sample)
    assert share.stderr[0] == pytest.approx(np.sqrt(0.09 / 360) / 0.8, rel=1e-6)
    three = analysis.RandomizedLogit([[8, 1, 1], [1, 8, 1], [1, 1, 8]])
    reports = np.where(SEX, 2, ANSWER)
    found = three.fit(np.empty((360, 0)), reports, **sample).predict(np.empty((1, 0)), average=True)
    # reports have shares 0.1 + 0.7 pi; the variance of a share, given the truths, is the mean of those of the rows
    exact = [(value * 0.8 * 0.2 + (1 - value) * 0.09) / 360 / 0.49 for value in found.value]
    np.testing.assert_allclose(found.stderr, np.sqrt(exact), rtol=1e-6)


def fitted_share(sample):
    return analysis.RandomizedLogit(WARNER).fit(np.empty((360, 0)), ANSWER, **sample).predict(np.empty((1, 0)))


# Formulas -------------------------------------------------------------------------------------------------------------


def frame():
    data = pd.DataFrame({"said": ANSWER, "age": AGE, "sex": SEX, "w": WEIGHT, "town": TOWN, "region": STRATUM})
    return data.assign(size=TOWNS).join(pd.DataFrame(REPLICATES, columns=[f"r{place}" for place in range(36)]))


def test_formulas_name_the_columns_of_a_sample():
    names = {"weights": "w", "clusters": "town", "strata": "region", "fpc": "size"}
    by_name = analysis.RandomizedLogit(WARNER).fit("said ~ age + sex", frame(), **names)
    by_array = analysis.RandomizedLogit(WARNER).fit(X, ANSWER, **SAMPLES["fpc"])
    np.testing.assert_allclose(by_name.cov, by_array.cov, rtol=1e-9)
    columns = designs.ReplicateWeights([f"r{place}" for place in range(36)], "brr")
    replicated = analysis.RandomizedProbit(WARNER).fit(
        "said ~ age + sex", frame(), weights="w", replicate_weights=columns
    )
    expected = analysis.RandomizedProbit(WARNER).fit(X, ANSWER, **SAMPLES["brr"])
    np.testing.assert_allclose(replicated.cov, expected.cov, rtol=1e-9)


@each("column", ["age", "w", "town", "region", "size", "r7"])
def test_rows_with_missing_values_are_dropped_once(column):
    """A value that is missing in any column of the sample drops the row, from all columns alike."""
    data = frame()
    data[column] = data[column].astype(object if column == "region" else float)
    data.loc[[3, 90, 200], column] = np.nan
    kept = data.drop(index=[3, 90, 200])
    replicates = designs.ReplicateWeights([f"r{place}" for place in range(36)], "bootstrap")
    names = {"weights": "w", "clusters": "town", "strata": "region", "fpc": "size"}
    names = {"weights": "w", "replicate_weights": replicates} if column in ("r7", "w") else names
    found, expected = (analysis.RandomizedLogit(WARNER).fit("said ~ age + sex", rows, **names) for rows in (data, kept))
    assert (found.n, found.left_out, expected.left_out) == (357, 3, 0)
    np.testing.assert_allclose(found.cov, expected.cov, rtol=1e-9)


# Mistakes -------------------------------------------------------------------------------------------------------------

ALIKE = designs.ReplicateWeights(WEIGHT[:, np.newaxis] * (ANSWER[:, np.newaxis] == [0, 1]), "brr")


@each(
    "call, error, message",
    [
        (
            lambda: fitted("logit", **STRATA, cov_type="cluster"),
            ValueError,
            'cov_type must be "linearized" if there are strata',
        ),
        (
            lambda: fitted("logit", **STRATA, cov_type="HC1"),
            ValueError,
            'cov_type must be "linearized" if there are strata',
        ),
        (
            lambda: fitted("linear", **SAMPLES["jk1"], cov_type="HC3"),
            ValueError,
            'cov_type must be "replicates" if there are replicate weights',
        ),
        (lambda: fitted("logit", cov_type="replicates"), ValueError, "if there are replicate weights, and only then"),
        (lambda: fitted("linear", fpc=TOWNS), TypeError, "fpc"),
        (lambda: fitted("list", fpc=TOWNS), TypeError, "fpc"),
        (lambda: fitted("logit", strata=np.arange(360)), ValueError, "strata must have two or more people each"),
        (
            lambda: fitted("logit", **STRATA).aic,
            ValueError,
            "information criteria must be those of a fit without weights",
        ),
        (lambda: fitted("logit", strata=STRATUM).interval(method="profile"), ValueError, 'method must be "normal"'),
        (
            lambda: fitted("logit", strata=STRATUM).likelihood_ratio(fitted("logit")),
            ValueError,
            "restricted must be fitted to the same reports by the same design",
        ),
        (lambda: fitted("list", strata=STRATUM).liars("floor"), ValueError, "liars must be tested in a fit without"),
        (
            lambda: fitted("logit", weights=WEIGHT, replicate_weights=ALIKE),
            ValueError,
            "replicate_weights must leave enough people, got a replicate whose likelihood has no maximum",
        ),
        (
            lambda: analysis.RandomizedLogit(WARNER).fit(
                "said ~ age", frame(), weights="w", replicate_weights=designs.ReplicateWeights(["r1", "x"], "brr")
            ),
            ValueError,
            "replicate_weights must name columns of data, got 'x'",
        ),
        (
            lambda: analysis.RandomizedLogit(WARNER).fit("said ~ age", frame(), strata="county"),
            ValueError,
            "strata must be an array or the name of a column of data, got 'county'",
        ),
    ],
)
def test_mistakes_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


# Coverage -------------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_intervals_of_a_logit_cover_in_a_finite_population():
    """The coefficients of the whole population, by the logit of its truths; half of its villages are drawn by strata."""
    design = designs.forced_response("1/6", "1/6")
    rng = np.random.default_rng(5)
    sizes = np.array([20, 30, 50])
    home = np.repeat(np.arange(3), sizes)
    village = np.repeat(np.arange(100), 25)
    x = rng.normal(size=2500) + rng.normal(size=100)[village]
    odds = 0.7 * x - 0.8 + 0.4 * home[village] + rng.normal(0, 0.5, 100)[village]
    truth = (rng.random(2500) < 1 / (1 + np.exp(-odds))).astype(int)
    whole = analysis.RandomizedLogit(DIRECT).fit(x[:, np.newaxis], truth).params
    hits = {"with": np.zeros(2), "without": np.zeros(2)}
    for seed in range(400):
        rng = np.random.default_rng(seed)
        drawn = [rng.choice(np.flatnonzero(home == h), n // 2, replace=False) for h, n in enumerate(sizes)]
        inside = np.isin(village, np.concatenate(drawn))
        reports = design.channel.privatize(truth[inside], rng=seed)
        sample = {"clusters": village[inside], "strata": home[village[inside]]}
        rows = x[inside, np.newaxis]
        for name, fpc in (("with", {"fpc": sizes[sample["strata"]]}), ("without", {})):
            low, high = analysis.RandomizedLogit(design).fit(rows, reports, **sample, **fpc).interval()
            hits[name] += (low < whole) & (whole < high)
    assert ((hits["with"] / 400 > 0.92) & (hits["with"] / 400 < 0.98)).all(), hits
    assert (hits["without"] >= hits["with"]).all(), hits
