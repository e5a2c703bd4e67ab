"""Regressions of people with a design each: a published table, the package GLMMRR of R, SciPy, direct answers, and mistakes."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit

import ldpfast as ldp
from ldpfast import analysis, designs

from ..support.cases import each
from .populations import THREE

ASKED = {
    0: None,
    1: designs.crosswise(0.25),
    2: designs.forced_response("1/6", "1/6"),
    3: designs.unrelated_question(0.7, 0.4),
}


def people_of_r():
    """Return people who are made of integers, as in the R script whose digits are below."""
    i = np.arange(2400)
    data = pd.DataFrame({"age": (i * 37 % 101) / 20 - 2.5, "female": (i % 3 == 0).astype(float), "mode": i % 4})
    data["direct"] = (data["mode"] == 0).astype(float)
    u, v = (i * 7919 % 10007) / 10007, (i * 5279 + 13) % 9973 / 9973
    has = u < expit(-0.9 + 0.5 * data["age"] - 0.4 * data["female"] + 0.3 * data["direct"])
    yes = np.array([1, 0.25, 5 / 6, 0.7 + 0.3 * 0.4])[data["mode"]]
    no = np.array([0, 0.75, 1 / 6, 0.3 * 0.4])[data["mode"]]
    data["said"] = (v < np.where(has, yes, no)).astype(int)
    return data


DATA = people_of_r()
FORMULA = "said ~ age + female + direct"


def test_coefficients_are_those_of_the_package_glmmrr_of_r():
    """Digits of RRglm of R 4.2.2, which stops slightly before the maximum, for four designs in one logit."""
    assert DATA["said"] @ (1 + np.arange(2400) % 7) == 3935
    model = analysis.RandomizedLogit(ASKED).fit(FORMULA, DATA, design="mode")
    expected = [-0.814775736421, 0.514177371820, -0.475690609454, 0.221039296378]
    np.testing.assert_allclose(model.params, expected, atol=1e-4)
    assert model.llf == pytest.approx(-1491.41790669, abs=1e-8)
    errors = [0.1042699585011, 0.0492085416786, 0.1433126647908, 0.1308641999693]  # by the expected information
    np.testing.assert_allclose(model.bse, errors, rtol=0.02)
    assert model.guarantee.epsilon == math.inf


def own_maximum(data, x, weights, asked=ASKED):
    """Return the maximum of the likelihood from the probabilities of each person's design."""
    tables = [(1.0, 0.0) if design is None else tuple(map(float, design.probabilities)) for design in asked.values()]
    p, q = np.array(tables)[data["mode"]].T
    hits, w = data["said"] == 1, weights / weights.mean()

    def loss(beta):
        share = expit(x @ beta)
        seen = q + (p - q) * share
        slope = (w * np.where(hits, 1 / seen, -1 / (1 - seen)) * (p - q) * share * (1 - share)) @ x
        return -w @ np.log(np.where(hits, seen, 1 - seen)), -slope

    found = minimize(loss, np.zeros(x.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-9})
    return found.x, -found.fun


# Answers no and yes of honest players, then of cheaters, to questions about not voting, shoplifting and tax evasion, for each
# design: M. Hoeglinger, B. Jann, "More is not always better", PLOS ONE, 2018, roll-a-six game, as in the package GLMMRR of R.
DICE_GAME = {
    designs.crosswise(0.1594625): [(224, 315, 14, 22), (260, 288, 22, 14), (156, 371, 7, 24)],
    designs.crosswise(0.1971293): [(117, 155, 6, 8), (245, 283, 19, 14), (172, 375, 8, 30)],
    designs.crosswise(0.1974625): [(113, 149, 10, 9), (0, 0, 0, 0), (0, 0, 0, 0)],
    designs.forced_response("1/6", "1/12"): [(429, 299, 19, 21), (353, 376, 14, 26), (538, 193, 29, 11)],
    designs.unrelated_question(0.778, 0.49): [(118, 71, 6, 4), (83, 99, 4, 7), (133, 51, 8, 1)],
    designs.unrelated_question(0.778, 0.493): [(112, 73, 7, 4), (80, 107, 3, 5), (128, 55, 8, 3)],
    designs.unrelated_question(0.778, 0.495): [(107, 68, 6, 5), (91, 94, 4, 4), (139, 53, 9, 0)],
    designs.unrelated_question(0.778, 0.521): [(125, 63, 4, 3), (82, 103, 5, 7), (138, 39, 9, 1)],
    None: [(251, 111, 12, 5), (204, 160, 8, 9), (323, 41, 14, 3)],
}
QUESTIONS = ("non voting", "shoplifting", "tax evasion")
KINDS = ("crosswise", "crosswise", "crosswise", "forced", *("unrelated",) * 4, "direct")


def players():
    """Return one row for each answer of the dice game."""
    cells = [
        {
            "mode": mode,
            "asked": kind,
            "question": question,
            "cheater": cheater,
            "said": said,
            "people": row[2 * cheater + said],
        }
        for mode, (kind, rows) in enumerate(zip(KINDS, DICE_GAME.values(), strict=True))
        for question, row in zip(QUESTIONS, rows, strict=True)
        for cheater in (0, 1)
        for said in (0, 1)
    ]
    frame = pd.DataFrame(cells)
    return frame.loc[frame.index.repeat(frame["people"])].reset_index(drop=True)


def test_the_published_table_of_four_ways_to_ask_is_reproduced():
    """R Journal 2021-104: crosswise, forced response, unrelated and direct questions in one logit.

    The printed coefficients are those of software that stops slightly before the maximum.
    """
    data, asked = players(), dict(enumerate(DICE_GAME))
    formula = 'said ~ C(asked, contr.treatment("direct")) * cheater + question'
    model = analysis.RandomizedLogit(asked).fit(formula, data, design="mode")
    assert model.n == 9208
    assert [name.partition("[")[2][:7] or name for name in model.names[:7]] == [
        *("const", "T.cross", "T.force", "T.unrel", "cheater", "T.shopl", "T.tax e")
    ]
    printed = [-0.87793, 0.26976, 0.11554, 0.39283, 0.23951, 0.61299, -1.01421, -0.04895, 0.32900, -0.30170]
    np.testing.assert_allclose(model.params, printed, atol=1e-4)
    assert round(-2 * model.llf) == 11797  # the printed deviance
    main = [data["asked"] == kind for kind in ("crosswise", "forced", "unrelated")]
    columns = [*main, data["cheater"], data["question"] == "shoplifting", data["question"] == "tax evasion"]
    x = np.column_stack([np.ones(9208), *columns, *(column * data["cheater"] for column in main)]).astype(float)
    params, llf = own_maximum(data, x, np.ones(9208), asked)
    np.testing.assert_allclose(model.params, params, atol=1e-6)
    assert model.llf == pytest.approx(llf, abs=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
def test_coefficients_are_those_of_scipy(weighted):
    weights = np.random.default_rng(1).uniform(0.5, 2, 2400) if weighted else np.ones(2400)
    x = np.column_stack([np.ones(2400), DATA["age"], DATA["female"], DATA["direct"]])
    params, llf = own_maximum(DATA, x, weights)
    given = {"weights": weights} if weighted else {}
    model = analysis.RandomizedLogit(ASKED).fit(FORMULA, DATA, design="mode", **given)
    np.testing.assert_allclose(model.params, params, rtol=1e-6, atol=1e-7)
    assert model.llf == pytest.approx(llf, abs=1e-7)
    arrays = analysis.RandomizedLogit(ASKED).fit(
        DATA[["age", "female", "direct"]], DATA["said"], design=DATA["mode"], **given
    )
    np.testing.assert_allclose(arrays.params, model.params, rtol=1e-12)
    np.testing.assert_allclose(arrays.cov, model.cov, rtol=1e-11, atol=1e-15)


def test_a_single_design_of_a_mapping_is_that_design():
    part = DATA[DATA["mode"] == 2]
    plain = analysis.RandomizedLogit(ASKED[2]).fit("said ~ age", part)
    for asked in (ASKED, {2: ASKED[2]}):
        for kind in ("nonrobust", "HC1", "HC3"):
            mapped = analysis.RandomizedLogit(asked).fit("said ~ age", part, design="mode", cov_type=kind)
            same = analysis.RandomizedLogit(ASKED[2]).fit("said ~ age", part, cov_type=kind)
            np.testing.assert_allclose(mapped.cov, same.cov, rtol=1e-6)
        np.testing.assert_allclose(mapped.params, plain.params, rtol=1e-7)
        assert mapped.llf == pytest.approx(plain.llf, abs=1e-8)
        assert mapped.categories == ("no", "yes")


def test_leverages_are_those_of_the_own_design():
    """HC3 of direct answers and a die: the hat values by the expected information of each person's design."""
    data = DATA[DATA["mode"].isin([0, 2])][:300]
    model = analysis.RandomizedLogit(ASKED).fit("said ~ age", data, design="mode", cov_type="HC3")
    x = np.column_stack([np.ones(300), data["age"]])
    p, q = np.where(data["mode"] == 0, 1.0, 5 / 6), np.where(data["mode"] == 0, 0.0, 1 / 6)
    share = expit(x @ model.params)
    seen, slope = q + (p - q) * share, (p - q) * share * (1 - share)
    bread = analysis.RandomizedLogit(ASKED).fit("said ~ age", data, design="mode").cov
    leverage = np.einsum("ij,jk,ik->i", x, bread, x) * slope**2 / (seen * (1 - seen))
    scores = x * (slope * (data["said"] - seen) / (seen * (1 - seen)) / (1 - leverage)).to_numpy()[:, np.newaxis]
    np.testing.assert_allclose(model.cov, bread @ scores.T @ scores @ bread, rtol=1e-5)


def test_texts_of_several_designs_and_missing_modes():
    texts = {0: ("no", "yes")} | {mode: ASKED[mode].answers for mode in (1, 2, 3)}
    data = DATA.assign(said=[texts[mode][said] for mode, said in zip(DATA["mode"], DATA["said"], strict=True)])
    model = analysis.RandomizedLogit(ASKED).fit(FORMULA, data, design="mode")
    np.testing.assert_array_equal(
        model.params, analysis.RandomizedLogit(ASKED).fit(FORMULA, DATA, design="mode").params
    )
    missing = data.astype({"mode": object})
    missing.loc[5, "mode"] = None
    assert analysis.RandomizedLogit(ASKED).fit(FORMULA, missing, design="mode").left_out == 1


def test_a_predictor_can_have_several_designs():
    rng = np.random.default_rng(3)
    n = 6000
    age, has, mode = rng.normal(size=n), rng.random(n) < 0.3, rng.integers(0, 2, n)
    die = ASKED[2].channel.privatize(has.astype(int), rng=1)
    data = pd.DataFrame({"age": age, "said": np.where(mode == 0, has, die), "mode": np.where(mode == 0, 0, 2)})
    data["trust"] = 1 + 0.5 * age - 2.0 * has + rng.normal(size=n)
    for family in ("linear", "normal"):
        model = analysis.RandomizedPredictor(ASKED, family).fit("trust ~ age", data, answer="said", design="mode")
        low, high = model.interval()
        assert (low < [1, 0.5, -2]).all()
        assert (high > [1, 0.5, -2]).all()
        alone = analysis.RandomizedPredictor(ASKED[2], family)
        alone.fit("trust ~ age", data[data["mode"] == 2], answer="said")
        assert model.bse[2] < alone.bse[2]
    part = data[data["mode"] == 2]
    one = analysis.RandomizedPredictor(ASKED, "normal").fit("trust ~ age", part, answer="said", design="mode")
    assert one.llf == pytest.approx(alone.llf, abs=1e-6)


def test_mechanisms_of_three_categories_and_direct_answers():
    rng = np.random.default_rng(4)
    truth = rng.choice(3, 4000, p=[0.5, 0.3, 0.2])
    mode = rng.choice(["direct", "table"], 4000)
    reports = np.where(mode == "direct", truth, ldp.FiniteChannel(THREE).privatize(truth, rng=1))
    model = analysis.RandomizedLogit({"table": THREE, "direct": None})
    model.fit(np.empty((4000, 0)), reports, design=mode)
    assert model.categories == (0, 1, 2)
    found = model.predict(np.empty((1, 0)), average=True)
    assert (np.abs(found.value - [0.5, 0.3, 0.2]) < 4 * found.stderr).all()


MODEL = analysis.RandomizedLogit(ASKED)


@each(
    "call, error, message",
    [
        (lambda: MODEL.fit(FORMULA, DATA), TypeError, "design must be given: the key of the design of each person"),
        (lambda: MODEL.fit(FORMULA, DATA, design="m"), ValueError, "design must be an array or the name of a column"),
        (
            lambda: MODEL.fit(FORMULA, DATA, design=DATA["mode"] + 1),
            ValueError,
            "design must be one of 0, 1, 2, 3, got 4",
        ),
        (
            lambda: analysis.RandomizedLogit(ASKED[2]).fit(FORMULA, DATA, design="mode"),
            TypeError,
            "design must be None unless the model has a mapping of designs",
        ),
        (lambda: analysis.RandomizedLogit({"a": None}), ValueError, "design must have designs for one number of"),
        (lambda: analysis.RandomizedLogit({"a": ASKED[1], "b": THREE}), ValueError, r"categories, got \[2, 3\]"),
        (lambda: analysis.RandomizedLogit({"a": "die"}), TypeError, "design must be a design of ldpfast.designs"),
    ],
)
def test_mistakes_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
