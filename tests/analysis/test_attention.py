"""Regressions of the crosswise model with attention questions: the package cWise of R, SciPy, weights and mistakes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit, ndtri
from scipy.stats import norm

from ldpfast import analysis, designs

from ..support.cases import each
from ..support.statistics import assert_coverage

P, ANCHOR = 0.2, 0.15
CROSSWISE = designs.crosswise(P)


def people_of_r():
    """Return people who are made of integers, as in the R script whose digits are below."""
    i = np.arange(2400)
    data = pd.DataFrame({"x": (i * 37 % 101) / 20 - 2.5, "female": (i % 3 == 0).astype(float)})
    keys = ((7919, 0, 10007), (5279, 13, 9973), (6101, 7, 9967), (4409, 5, 9949), (3571, 11, 9941))
    u, v, t, a, e = ((i * factor + start) % modulus / modulus for factor, start, modulus in keys)
    has = u < expit(-0.9 + 0.5 * data["x"] - 0.4 * data["female"])
    attentive = t < expit(1.2 + 0.3 * data["x"])
    data["same"] = (v < np.where(attentive, np.where(has, P, 1 - P), 0.5)).astype(int)
    data["known"] = (a < np.where(attentive, 1 - ANCHOR, 0.5)).astype(int)
    data["trust"] = 1 + 0.4 * data["x"] - 1.5 * has + ndtri((e * 9941 + 0.5) / 9942)
    return data


DATA = people_of_r()
ROWS = np.column_stack([np.ones(2400), DATA["x"], DATA["female"]])
SAME, KNOWN, TRUST = (DATA[name].to_numpy() for name in ("same", "known", "trust"))


def logit(data=DATA, formula="same ~ x + female", **more):
    return analysis.RandomizedLogit(CROSSWISE, p_attention=ANCHOR).fit(formula, data, attention="known", **more)


def predictor(data=DATA, formula="trust ~ x + female", family="normal", **more):
    model = analysis.RandomizedPredictor(CROSSWISE, family, p_attention=ANCHOR)
    return model.fit(formula, data, answer="same", attention="known", **more)


def test_coefficients_are_those_of_the_package_cwise_of_r():
    """Digits of cmreg and cmreg.p under R 4.2.2, with the relative tolerance of their search at 1e-16."""
    assert (SAME.sum(), KNOWN.sum(), round(TRUST.sum(), 3)) == (1388, 1835, 1375.261)
    model = logit()
    np.testing.assert_allclose(model.params, [-0.8593, 0.5668, -0.2931], atol=1e-4)
    np.testing.assert_allclose(model.attention.value, [1.2248, 0.3400, -0.1337], atol=1e-4)
    model = predictor()
    np.testing.assert_allclose(model.params, [1.0382, 0.4040, 0.0019, -1.4714], atol=1e-4)
    np.testing.assert_allclose(model.bse, [0.0422, 0.0213, 0.0619, 0.0764], atol=1e-4)
    np.testing.assert_allclose(model.answers.value, [-0.7343, 0.4407, -0.3422], atol=1e-4)
    np.testing.assert_allclose(model.answers.stderr, [0.1076, 0.0650, 0.1862], atol=1e-4)
    np.testing.assert_allclose(model.attention.value, [1.2932, 0.2962, -0.1361], atol=1e-4)
    assert model.names == ("const", "x", "female", "answer: yes")
    assert model.attention.labels == ("const", "x", "female")


def composite(params, same=SAME, known=KNOWN):
    """Return the log-likelihoods of both answers of each person, added."""
    has, attentive = expit(ROWS @ params[:3]), expit(ROWS @ params[3:])
    first = attentive * ((1 - P) + (2 * P - 1) * has) + (1 - attentive) / 2
    second = attentive * (1 - ANCHOR) + (1 - attentive) / 2
    return np.log(np.where(same, first, 1 - first)) + np.log(np.where(known, second, 1 - second))


def joint(params, outcome, family):
    """Return the log-likelihood of each person: the sum over the four kinds of people."""
    has, attentive = expit(ROWS @ params[4:7]), expit(ROWS @ params[7:10])
    total = 0.0
    for z in (0, 1):
        mean = ROWS @ params[:3] + z * params[3]
        density = norm.pdf(outcome, mean, np.exp(params[10])) if family == "normal" else expit(mean * (2 * outcome - 1))
        told = np.where(SAME, *((P, 1 - P) if z else (1 - P, P)))
        known = np.where(KNOWN, 1 - ANCHOR, ANCHOR)
        share = has if z else 1 - has
        total = total + share * density * (attentive * told * known + (1 - attentive) / 4)
    return np.log(total)


def maximum(likelihood, start):
    return minimize(lambda params: -likelihood(params).sum(), start, method="BFGS", options={"gtol": 1e-6}).x


def test_an_outcome_has_the_largest_composite_likelihood_and_the_sandwich_of_people():
    model = logit()
    found = np.concatenate([model.params, model.attention.value])
    np.testing.assert_allclose(found, maximum(composite, np.zeros(6)), atol=2e-6)
    steps = 1e-4 * np.eye(6)
    scores = np.stack([(composite(found + step) - composite(found - step)) / 2e-4 for step in steps])
    curved = [
        [
            sum(a * b * composite(found + a * one + b * two).sum() for a in (1, -1) for b in (1, -1)) / 4e-8
            for two in steps
        ]
        for one in steps
    ]
    bread = np.linalg.inv(-np.array(curved))
    expected = bread @ (scores @ scores.T * 2400 / 2399) @ bread
    np.testing.assert_allclose(model.cov, expected[:3, :3], rtol=1e-4)
    np.testing.assert_allclose(model.attention.stderr, np.sqrt(np.diag(expected)[3:]), rtol=1e-4)
    assert model.cov_type == "linearized"
    assert not hasattr(model, "llf")


@pytest.mark.parametrize("family", ["normal", "logit"])
def test_a_predictor_has_the_largest_likelihood_of_both_answers_and_the_outcome(family):
    outcome = TRUST if family == "normal" else (TRUST > 0.5).astype(float)
    model = predictor(DATA.assign(trust=outcome), family=family)
    found = np.concatenate([model.params, model.answers.value, model.attention.value])
    if family == "normal":
        found = np.append(found, np.log(model.sigma))
    start = found + 0.1
    expected = maximum(lambda params: joint(params, outcome, family), start)
    np.testing.assert_allclose(found, expected, atol=5e-6)
    assert model.llf == pytest.approx(joint(expected, outcome, family).sum(), abs=1e-7)
    assert model.aic == pytest.approx(2 * len(found) - 2 * model.llf)
    ahead, behind = (model.predict(DATA[["x", "female"]], answer, average=True) for answer in ("yes", "no"))
    assert (ahead - behind).test().pvalue < 1e-6


def test_without_covariates_it_is_the_estimate_of_the_design():
    model = analysis.RandomizedLogit(CROSSWISE, p_attention=ANCHOR).fit(np.empty((2400, 0)), SAME, attention=KNOWN)
    found = model.predict(np.empty((1, 0)), average=True)
    expected = designs.crosswise_with_attention(SAME, KNOWN, p=P, p_attention=ANCHOR)
    assert found.value == pytest.approx(expected.value, abs=1e-9)
    assert found.stderr == pytest.approx(expected.stderr, rel=0.002)


def test_weights_and_clusters_are_those_of_repeated_people():
    plain = {kind: kind() for kind in (logit, predictor)}
    twice = pd.concat([DATA, DATA], ignore_index=True).assign(person=np.tile(np.arange(2400), 2))
    times = np.arange(2400) % 3 + 1
    repeated = DATA.loc[DATA.index.repeat(times)]
    for kind, one in plain.items():
        clustered = kind(twice, clusters="person")
        np.testing.assert_allclose(clustered.params, one.params, rtol=1e-7, atol=1e-9)
        robust = one if kind is logit else kind(weights=np.ones(2400))
        np.testing.assert_allclose(clustered.bse, robust.bse, rtol=1e-6)
        weighted, rows = kind(DATA.assign(w=times), weights="w"), kind(repeated)
        np.testing.assert_allclose(weighted.params, rows.params, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(weighted.attention.value, rows.attention.value, rtol=1e-6)


def test_formulas_arrays_texts_and_missing_answers_are_the_same_people():
    expected = logit()
    texts = DATA.assign(same=np.array(["different", "same"])[SAME], known=np.array(["different", "same"])[KNOWN])
    np.testing.assert_array_equal(logit(texts).params, expected.params)
    arrays = analysis.RandomizedLogit(CROSSWISE, p_attention=ANCHOR)
    arrays.fit(DATA[["x", "female"]], SAME, attention=KNOWN)
    np.testing.assert_allclose(arrays.cov, expected.cov, rtol=1e-9)
    missing = DATA.astype({"known": float})
    missing.loc[4, "known"] = np.nan
    assert logit(missing).left_out == 1
    np.testing.assert_allclose(logit(missing).params, logit(DATA.drop(index=4)).params, rtol=1e-9)


def test_effects_contrasts_and_summaries_are_those_of_the_attribute():
    model = logit()
    share = expit(ROWS @ model.params)
    np.testing.assert_allclose(model.predict(DATA).value, share, rtol=1e-9)
    assert model.marginal_effects().labels == ("x", "female")
    np.testing.assert_allclose(model.marginal_effects().value[0], np.mean(share * (1 - share)) * model.params[1])
    difference = model.contrast({"x": 1.0}, {"x": -1.0})
    assert difference.test(alternative="greater").pvalue < 1e-4
    assert "attention question with p_attention = 0.15" in repr(model.summary())


@pytest.mark.long
def test_intervals_cover_where_some_people_guess():
    """Also where people who are not attentive give the same answer to both questions, for an outcome."""
    runs, hits, covered = 300, np.zeros((2, 2), int), np.zeros(2, int)
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=3000)
        has, attentive = rng.random(3000) < expit(-1 + 0.6 * x), rng.random(3000) < expit(1.5 + 0.4 * x)
        first, second = rng.random(3000) < P, rng.random(3000) < ANCHOR
        guess, other = rng.random((2, 3000)) < 0.5
        trust = 1 + 0.5 * x - 1.0 * has + rng.normal(size=3000)
        for place, guesses in enumerate(((guess, other), (guess, guess))):
            same, known = np.where(attentive, has == first, guesses[0]), np.where(attentive, ~second, guesses[1])
            model = analysis.RandomizedLogit(CROSSWISE, p_attention=ANCHOR).fit(x[:, None], same, attention=known)
            low, high = model.interval()
            hits[place] += (low < [-1, 0.6]) & (high > [-1, 0.6])
            if not place:
                outcome = analysis.RandomizedPredictor(CROSSWISE, "normal", p_attention=ANCHOR)
                low, high = outcome.fit(x[:, None], same, trust, attention=known).interval()
                covered += (low[1:] < [0.5, -1.0]) & (high[1:] > [0.5, -1.0])
    for found in (hits, covered):
        assert_coverage(found.ravel(), runs, 0.95, detects=0.82)


MODEL = analysis.RandomizedLogit(CROSSWISE, p_attention=ANCHOR)


@each(
    "call, error, message",
    [
        (
            lambda: MODEL.fit("same ~ x", DATA),
            TypeError,
            "attention must be given: the answers to the attention question",
        ),
        (
            lambda: analysis.RandomizedLogit(CROSSWISE).fit("same ~ x", DATA, attention="known"),
            TypeError,
            "attention must be None unless the model has p_attention",
        ),
        (
            lambda: analysis.RandomizedLogit(designs.warner(0.7), p_attention=ANCHOR),
            ValueError,
            "design must be designs.crosswise(p) for an attention question, got <Design warner",
        ),
        (
            lambda: analysis.RandomizedPredictor(CROSSWISE, p_attention=ANCHOR),
            ValueError,
            'family must be "normal" or "logit" with an attention question, got "linear"',
        ),
        (
            lambda: MODEL.fit("same ~ female", DATA, attention="x"),
            ValueError,
            "attention must be 'different' and 'same', or 0 and 1",
        ),
        (
            lambda: MODEL.fit(ROWS[:, 1:], SAME, attention=KNOWN[:9]),
            ValueError,
            "attention must have one entry for each row of X, got 9 for 2400 rows",
        ),
        (
            lambda: MODEL.fit(ROWS[:, 1:], SAME, attention=SAME),
            ValueError,
            "attention must be answers to a question of its own, got the same answers as in reports",
        ),
        (
            lambda: MODEL.fit("same ~ x", DATA.assign(known=1), attention="known"),
            ValueError,
            "the share of attentive people is estimated as 0 or 1. If it is 1, leave out p_attention",
        ),
        (
            lambda: logit().likelihood_ratio(logit(formula="same ~ x")),
            ValueError,
            "restricted and the model must have no attention question",
        ),
        (
            lambda: logit(formula="same ~ x + known"),
            ValueError,
            "formula must hold columns that are known, got the randomized answers 'known'",
        ),
        (
            lambda: predictor(DATA.assign(known=1)),
            ValueError,
            "If all people are attentive, leave out p_attention",
        ),
        (lambda: logit().interval(method="profile"), ValueError, 'method must be "normal"'),
        (lambda: logit(cov_type="nonrobust"), ValueError, "cov_type must be one of"),
    ],
)
def test_mistakes_are_named(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)
