"""Formulas, categories and contrasts of regressions: columns by patsy, maxima by SciPy, derivatives by finite differences."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import patsy
import polars as pl
import pytest
from scipy.optimize import minimize
from scipy.special import expit

import ldpfast as ldp
from ldpfast import analysis

from ..support.cases import each
from ..support.errors import raises
from ..support.extras import remove_extras
from .populations import FORCED, PLAIN, THREE


def study(n=3000, seed=1, design=FORCED):
    """Return people with covariates of all kinds, and their randomized answer as a text."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"age": rng.normal(45, 15, n).round(1), "female": rng.random(n) < 0.5})
    data["region"] = pd.Categorical(rng.choice(["N", "S", "W"], n), categories=["W", "nowhere", "N", "S"])
    data["income"], data["party"] = rng.lognormal(8, 1, n), rng.integers(1, 4, n)
    data["home town"] = rng.choice(["a", "b"], n)
    z = -0.6 + 0.03 * (data["age"] - 45) + 0.7 * (data["region"] == "N") - 0.5 * data["female"]
    data["answer"] = np.array(["no", "yes"])[design.channel.privatize((rng.random(n) < expit(z)).to_numpy(int), rng=1)]
    data["weight"], data["village"] = rng.uniform(0.5, 2, n), np.arange(n) // 20
    data["trust"] = 5 + 0.02 * data["age"] - 1.0 * (rng.random(n) < expit(z)) + rng.normal(size=n)
    return data


DATA = study()
FORMULAS = {
    "age": "age",
    "age + C(region) * female": "age + C(region, levels=['W', 'N', 'S']) * female.astype(int)",
    "I(age**2) + age:female + C(party)": "I(age**2) + age:female.astype(int) + C(party)",
    "0 + region + np.log(income)": "0 + C(region, levels=['W', 'N', 'S']) + np.log(income)",
    "poly(age, 2) + center(income)": "age + I(age**2) + center(income)",
    "`home town`:age + C(party, contr.treatment(base=2))": "Q('home town'):age + C(party, Treatment(2))",
    "female - 1": "female.astype(int) - 1",
}


def own_maximum(x, hits, weights=None):
    """Return the coefficients with the largest likelihood of forced response, by SciPy, and minus twice its logarithm."""
    p, q = map(float, FORCED.probabilities)
    x, w = np.asarray(x), np.ones(len(x)) if weights is None else np.asarray(weights)
    scale = np.abs(x).max(axis=0)

    def loss(beta):
        share = expit(x / scale @ beta)
        seen = q + (p - q) * share
        slope = (np.where(hits, 1 / seen, -1 / (1 - seen)) * (p - q) * share * (1 - share) * w) @ (x / scale)
        return -w @ np.log(np.where(hits, seen, 1 - seen)), -slope

    found = minimize(loss, np.zeros(x.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-7, "maxiter": 5000})
    return found.x / scale, -found.fun


# Columns --------------------------------------------------------------------------------------------------------------


@each("formula", FORMULAS)
def test_a_formula_is_fitted_as_by_patsy_and_scipy(formula):
    columns = patsy.dmatrix(FORMULAS[formula], DATA)
    model = analysis.RandomizedLogit(FORCED).fit(f"answer ~ {formula}", DATA)
    params, llf = own_maximum(columns, DATA["answer"] == "yes")
    assert model.llf == pytest.approx(llf, rel=1e-9)
    assert len(model.names) == len(params)
    shares = expit(np.asarray(columns) @ params)
    np.testing.assert_allclose(model.predict(DATA).value, shares, atol=2e-5)
    if "poly" not in formula and "center" not in formula:
        np.testing.assert_allclose(np.sort(model.params), np.sort(params), rtol=2e-3, atol=2e-5)
    assert model.left_out == 0


def test_names_are_those_of_statsmodels():
    model = analysis.RandomizedLogit(FORCED).fit("answer ~ age + C(region) * female", data=DATA)
    expected = ["age", "C(region)[T.N]", "C(region)[T.S]", "female", "C(region)[T.N]:female", "C(region)[T.S]:female"]
    assert model.names == ("const", *expected)
    assert "`home town`[T.b]" in analysis.RandomizedLogit(FORCED).fit("answer ~ `home town`", DATA).names


def test_categories_of_a_data_frame_need_no_formula(monkeypatch):
    frame = DATA[["age", "female", "region", "home town"]]
    by_formula = analysis.RandomizedLogit(FORCED).fit("answer ~ age + female + region + `home town`", DATA)
    effects = by_formula.marginal_effects()
    remove_extras(monkeypatch)  # numbers and categories need no extra
    model = analysis.RandomizedLogit(FORCED).fit(frame, DATA["answer"])
    assert model.names == ("const", "age", "female", "region[T.N]", "region[T.S]", "home town[T.b]")
    np.testing.assert_allclose(model.params, by_formula.params, rtol=1e-6)
    assert effects.labels == model.marginal_effects().labels
    np.testing.assert_allclose(effects.value, model.marginal_effects().value, rtol=1e-7)
    np.testing.assert_allclose(effects.stderr, model.marginal_effects().stderr, rtol=1e-7)
    as_text = frame.assign(region=frame["region"].astype(str))  # sorted: N is the first
    assert analysis.RandomizedLogit(FORCED).fit(as_text, DATA["answer"]).names[3] == "region[T.S]"
    numbers = frame.assign(region=frame["region"].astype(str).map({"W": 1, "N": 2, "S": 3}).astype("category"))
    same = analysis.RandomizedLogit(FORCED).fit(numbers, DATA["answer"])
    assert same.names[3:5] == ("region[T.2]", "region[T.3]")
    np.testing.assert_allclose(same.params, model.params)
    assert same.predict(numbers.astype({"region": int}).iloc[:5]) == model.predict(frame.iloc[:5])
    assert model.predict(frame[["home town", "region", "age", "female"]].iloc[:5]) == model.predict(frame.iloc[:5])


def test_tables_of_other_packages_are_read():
    whole = analysis.RandomizedLogit(FORCED).fit("answer ~ age + region", DATA.astype({"region": str}))
    plain = DATA.astype({"region": str})
    for table in (pl.from_pandas(plain), {name: column.to_numpy() for name, column in plain.items()}):
        model = analysis.RandomizedLogit(FORCED).fit("answer ~ age + region", table)
        np.testing.assert_array_equal(model.params, whole.params)
        assert model.predict(table, average=True) == whole.predict(plain, average=True)
    frame = analysis.RandomizedLogit(FORCED).fit(pl.from_pandas(plain[["age", "region"]]), plain["answer"].to_numpy())
    np.testing.assert_allclose(frame.params, whole.params, rtol=1e-9)
    ordered = pl.from_pandas(plain).with_columns(pl.col("region").cast(pl.Enum(["S", "W", "N"])))
    by_formula = analysis.RandomizedLogit(FORCED).fit("answer ~ age + region", ordered)
    by_frame = analysis.RandomizedLogit(FORCED).fit(ordered.select("age", "region"), plain["answer"].to_numpy())
    assert by_formula.names == by_frame.names == ("const", "age", "region[T.W]", "region[T.N]")


def test_a_model_can_have_no_covariates_and_one_person_predicted():
    alone = analysis.RandomizedLogit(FORCED).fit("answer ~ 1", DATA)
    assert alone.names == ("const",)
    assert alone.marginal_effects().labels == ()
    assert alone.predict(DATA, average=True).value == pytest.approx(expit(alone.params[0]))
    model = analysis.RandomizedLogit(FORCED).fit("answer ~ age + female + region", DATA)
    whole = pd.DataFrame({"age": [40, 50], "female": True, "region": "N"})
    assert model.predict({"age": [40, 50], "female": True, "region": "N"}) == model.predict(whole)
    assert model.predict({"age": 40, "female": True, "region": "N"}) == model.predict(whole[:1])


def test_rows_with_missing_values_are_dropped_once_and_counted():
    """Centers and polynomials are those of the rows that are used; weights and clusters count, other columns do not."""
    data = study(2000).astype({"region": str, "female": object})
    data.loc[3, "age"] = data.loc[5, "weight"] = data.loc[7, "income"] = np.nan
    data.loc[9, "answer"] = data.loc[11, "region"] = data.loc[13, "female"] = None
    data["village"] = data["village"].astype("Int64")
    data.loc[15, "village"] = pd.NA
    formula = "answer ~ poly(age, 2) + center(age) : female + region"
    model = analysis.RandomizedLogit(FORCED).fit(formula, data, weights="weight", clusters="village")
    kept = data.drop(index=[3, 5, 9, 11, 13, 15])
    again = analysis.RandomizedLogit(FORCED).fit(formula, kept, weights="weight", clusters="village")
    assert (model.n, model.left_out, again.left_out) == (1994, 6, 0)
    np.testing.assert_array_equal(model.params, again.params)
    np.testing.assert_array_equal(model.cov, again.cov)
    assert "n = 1,994, 6 rows with missing values are left out, 95 % intervals" in repr(model.summary())
    arrays = {"weights": data["weight"], "clusters": data["village"].to_numpy()}
    np.testing.assert_array_equal(analysis.RandomizedLogit(FORCED).fit(formula, data, **arrays).params, model.params)
    with raises(ValueError, "X must have no missing values, column 'age' has some: leave these rows out"):
        model.predict(data)


def test_people_of_weight_zero_are_not_in_the_sample():
    data = DATA.assign(weight=np.where(DATA["region"] == "S", 0.0, DATA["weight"]))
    model = analysis.RandomizedLogit(FORCED).fit("answer ~ center(age) + region", data, weights="weight")
    inside = data[data["weight"] > 0]
    part = analysis.RandomizedLogit(FORCED).fit("answer ~ center(age) + region", inside, weights="weight")
    assert model.names == ("const", "center(age)", "region[T.N]")
    np.testing.assert_array_equal(model.params, part.params)
    assert (model.n, model.left_out) == (len(inside), 0)
    params, _ = own_maximum(
        patsy.dmatrix("center(age) + I(region == 'N').astype(int)", inside.astype({"region": str})),
        inside["answer"] == "yes",
        inside["weight"],
    )
    np.testing.assert_allclose(model.params, params, rtol=1e-4)


def test_the_other_models_have_formulas():
    mechanism = ldp.SignBit(0, 10, 2.0)
    data = DATA.assign(bit=mechanism.privatize(DATA["trust"].to_numpy(), rng=1, clip=True))
    x = np.asarray(patsy.dmatrix("age + C(party)", data))[:, [3, 1, 2]]  # age is the last column of patsy
    formula = analysis.RandomizedLinear(mechanism).fit("bit ~ age + C(party)", data, clusters="village")
    arrays = analysis.RandomizedLinear(mechanism).fit(x, data["bit"], clusters=data["village"])
    np.testing.assert_allclose(formula.params, arrays.params, rtol=1e-12)
    np.testing.assert_allclose(formula.cov, arrays.cov, rtol=1e-9, atol=1e-15)
    assert formula.predict(data, average=True).value == pytest.approx(arrays.predict(x, average=True).value)
    assert formula.marginal_effects().labels == ("age", "party: 2 - 1", "party: 3 - 1")
    np.testing.assert_allclose(formula.marginal_effects().value, formula.params[1:], rtol=1e-9)
    np.testing.assert_allclose(formula.marginal_effects().stderr, formula.coefficients.stderr[1:], rtol=1e-7)
    for family, outcome in (("linear", "np.log(trust + 3)"), ("normal", "trust"), ("logit", "I(trust > 5)")):
        y = {"linear": np.log(data["trust"] + 3), "normal": data["trust"], "logit": data["trust"] > 5}[family]
        formula = analysis.RandomizedPredictor(FORCED, family).fit(f"{outcome} ~ age + C(party)", data, answer="answer")
        arrays = analysis.RandomizedPredictor(FORCED, family).fit(x, data["answer"], y)
        np.testing.assert_allclose(formula.params, arrays.params, rtol=1e-9)
        assert formula.names == ("const", "age", "C(party)[T.2]", "C(party)[T.3]", "answer: yes")
        effect = formula.contrast(data, data, answer=("yes", "no"))
        assert effect.value == pytest.approx(
            formula.predict(data, "yes", average=True).value - formula.predict(data, "no", average=True).value
        )
        if family != "logit":
            assert effect.value == pytest.approx(formula.params[-1])
            assert effect.stderr == pytest.approx(formula.coefficients.stderr[-1])


def test_three_categories_have_formulas():
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"age": rng.normal(size=2000), "region": rng.choice(["N", "S"], 2000)})
    truth = (rng.random(2000)[:, np.newaxis] > [0.3, 0.7]).sum(axis=1)
    data["answer"] = ldp.FiniteChannel(THREE).privatize(truth, rng=1)
    model = analysis.RandomizedLogit(THREE).fit("answer ~ age + region", data)
    assert model.names == ("1: const", "1: age", "1: region[T.S]", "2: const", "2: age", "2: region[T.S]")
    effects = model.marginal_effects()
    assert effects.labels[:3] == ("0: age", "0: region: S - N", "1: age")
    np.testing.assert_allclose(effects.value.reshape(3, 2).sum(axis=0), 0, atol=1e-12)  # shares add up to 1
    contrast = model.contrast({"region": "S"}, {"region": "N"})
    np.testing.assert_allclose(contrast.value, effects.value[1::2], rtol=1e-10)
    np.testing.assert_allclose(contrast.stderr, effects.stderr[1::2], rtol=1e-10)


# Marginal effects and contrasts ---------------------------------------------------------------------------------------


def moved(model, function, step=1e-6):
    """Return the derivatives of a function of the coefficients by the standardized ones, and their covariance."""
    params, cov = model._standard
    slopes = []
    for move in step * np.eye(params.size):
        pair = []
        for sign in (1, -1):
            model._standard = (params + sign * move.reshape(params.shape), cov)
            pair.append(np.asarray(function()))
        slopes.append((pair[0] - pair[1]) / (2 * step))
    model._standard = (params, cov)
    return np.array(slopes).T, cov


EFFECTS = "answer ~ age + I(age**2) + age:female + C(region) * female + np.log(income) + C(party)"


@pytest.mark.long
@pytest.mark.parametrize("weighted", [False, True])
def test_marginal_effects_of_a_formula_are_finite_differences(weighted, monkeypatch):
    """Averages of the predictions for people whose age is a little larger, who all live in one region, and so on."""
    data = DATA[:1200]
    weights = data["weight"].to_numpy() if weighted else np.ones(len(data))
    model = analysis.RandomizedLogit(FORCED).fit(EFFECTS, data, weights="weight" if weighted else None)

    def average(**values):
        return np.average(model.predict(data.assign(**values)).value, weights=weights)

    step = 1e-4
    expected = {
        "age": (average(age=data["age"] + step) - average(age=data["age"] - step)) / (2 * step),
        "female": average(female=True) - average(female=False),
        "region: N - W": average(region="N") - average(region="W"),
        "region: S - W": average(region="S") - average(region="W"),
        "income": (average(income=data["income"] + step) - average(income=data["income"] - step)) / (2 * step),
        "party: 2 - 1": average(party=2) - average(party=1),
        "party: 3 - 1": average(party=3) - average(party=1),
    }
    effects = model.marginal_effects()
    assert set(effects.labels) == set(expected)
    np.testing.assert_allclose(effects.value, [expected[label] for label in effects.labels], rtol=1e-5, atol=1e-10)
    changes = list(model._columns.changes(model._data))  # they do not depend on the coefficients
    monkeypatch.setattr(type(model._columns), "changes", lambda columns, data: iter(changes))
    slopes, cov = moved(model, lambda: model.marginal_effects().value)
    np.testing.assert_allclose(effects.stderr, np.sqrt(np.diag(slopes @ cov @ slopes.T)), rtol=1e-5)
    frame = effects.to_frame()
    assert list(frame["name"]) == list(effects.labels)
    np.testing.assert_allclose(frame["stderr"], effects.stderr)


def test_the_effect_of_a_spline_is_a_finite_difference():
    """Also of one that has no value outside of the ages of the data."""
    wide = "answer ~ bs(age, df=4, lower_bound=-50, upper_bound=150) + female"
    model, narrow = (
        analysis.RandomizedLogit(FORCED).fit(formula, DATA) for formula in (wide, "answer ~ bs(age, df=4) + female")
    )
    up, down = (model.predict(DATA.assign(age=DATA["age"] + move)).value for move in (1e-4, -1e-4))
    assert model.marginal_effects().value[0] == pytest.approx(np.mean((up - down) / 2e-4), rel=1e-5)
    ends = DATA["age"].min(), DATA["age"].max()
    ages = [(DATA["age"] + move).clip(*ends) for move in (1e-4, -1e-4)]
    up, down = (narrow.predict(DATA.assign(age=age)).value for age in ages)
    assert narrow.marginal_effects().value[0] == pytest.approx(np.mean((up - down) / (ages[0] - ages[1])), rel=1e-5)


def test_effects_of_plain_columns_are_those_without_a_formula():
    data = DATA.assign(female=DATA["female"].astype(float))
    formula = analysis.RandomizedLogit(FORCED).fit("answer ~ age + female", data).marginal_effects()
    frame = analysis.RandomizedLogit(FORCED).fit(data[["age", "female"]], data["answer"]).marginal_effects()
    array = analysis.RandomizedLogit(FORCED).fit(data[["age", "female"]].to_numpy(), data["answer"]).marginal_effects()
    for other in (frame, array):
        np.testing.assert_allclose(formula.value, other.value, rtol=1e-8)
        np.testing.assert_allclose(formula.covariance, other.covariance, rtol=1e-6)


@pytest.mark.parametrize("ratio", [False, True])
def test_contrasts_are_differences_and_ratios_of_predictions(ratio):
    model = analysis.RandomizedLogit(FORCED).fit("answer ~ age * region + female", DATA, weights="weight")
    a, b = DATA.assign(region="N"), DATA.assign(region="W")
    given = {"average": True, "weights": DATA["weight"]}
    first, second = (model.predict(rows, **given) for rows in (a, b))
    expected = first / second if ratio else first - second
    for found in (
        model.contrast(a, b, ratio=ratio, weights=DATA["weight"]),
        model.contrast({"region": "N"}, {"region": "W"}, ratio=ratio),
    ):
        assert found == expected
        np.testing.assert_allclose(found.interval(), expected.interval())

    def function():
        top, bottom = (model.predict(rows, **given).value for rows in (a, b))
        return [top / bottom if ratio else top - bottom]

    slopes, cov = moved(model, function)
    assert found.stderr == pytest.approx(np.sqrt((slopes @ cov @ slopes.T).item()), rel=1e-5)
    rows = model.contrast(a[:5], b[:5], average=False, ratio=ratio)
    for place in range(5):
        one = model.contrast(a[place : place + 1], b[place : place + 1], ratio=ratio)
        assert (rows.value[place], rows.stderr[place]) == pytest.approx((one.value, one.stderr), rel=1e-9)


def test_contrasts_of_arrays_and_frames_replace_their_columns():
    x = np.random.default_rng(4).normal(size=(2000, 2))
    reports = FORCED.channel.privatize((np.random.default_rng(5).random(2000) < expit(x[:, 0])).astype(int), rng=1)
    model = analysis.RandomizedLogit(FORCED).fit(x, reports)
    assert model.contrast({"x1": 1}, {"x1": 0}) == model.contrast(
        np.column_stack([np.ones(2000), x[:, 1]]), np.column_stack([np.zeros(2000), x[:, 1]])
    )
    frame = pd.DataFrame(x, columns=["a", "b"])
    named = analysis.RandomizedLogit(FORCED).fit(frame, reports)
    assert named.contrast({"a": 1}, {"a": 0}).value == pytest.approx(model.contrast({"x1": 1}, {"x1": 0}).value)
    with raises(ValueError, "X must have the columns c; got none named 'c'"):
        named.contrast({"c": 1}, {"c": 0})


def test_a_fitted_model_can_be_saved():
    model = analysis.RandomizedLogit(FORCED).fit("answer ~ poly(age, 2) + C(region)", DATA)
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(DATA[:9]) == model.predict(DATA[:9])
    assert again.marginal_effects() == model.marginal_effects()


def test_a_new_fit_replaces_the_old_one():
    model = analysis.RandomizedLogit(FORCED).fit("answer ~ age + region", DATA)
    model.fit(DATA[["age"]], DATA["answer"])
    assert model.names == ("const", "age")
    assert model.marginal_effects().labels == ("age",)
    assert model.left_out == 0


# Mistakes -------------------------------------------------------------------------------------------------------------

LOGIT = analysis.RandomizedLogit(FORCED)
FITTED = analysis.RandomizedLogit(FORCED).fit("answer ~ age + region", DATA)
JUMP = analysis.RandomizedLogit(FORCED).fit("answer ~ age + I(age > 40)", DATA)
BOTH = analysis.RandomizedLogit(FORCED).fit("answer ~ party + I(party == 2) + C(region)", DATA)
PREDICTOR = analysis.RandomizedPredictor(FORCED)


@each(
    "call, error, message",
    [
        (lambda: LOGIT.fit("answer ~ age"), TypeError, "data must be a data frame for a formula, given once"),
        (lambda: LOGIT.fit("answer ~ age", DATA, data=DATA), TypeError, "data must be a data frame for a formula"),
        (lambda: LOGIT.fit("answer ~ age", [1, 2]), TypeError, "data must be a data frame or a mapping of columns"),
        (lambda: LOGIT.fit("age + region", DATA), ValueError, "formula must have an outcome, such as answer ~ age"),
        (lambda: LOGIT.fit("answer ~ age ~ region", DATA), ValueError, "formula must have one outcome"),
        (lambda: LOGIT.fit("answer ~ age + zz", DATA), ValueError, "formula must name columns of data, which are age"),
        (lambda: LOGIT.fit("reply ~ age", DATA), ValueError, "formula must name columns of data, .* got 'reply'"),
        (lambda: LOGIT.fit("answer ~ age +", DATA), ValueError, r"formula must be covariates joined by \+"),
        (lambda: LOGIT.fit("answer ~ age + answer", DATA), ValueError, "'answer' on one side of ~"),
        (lambda: LOGIT.fit("I(answer) ~ age", DATA), ValueError, "formula must have the name of a column before ~"),
        (lambda: LOGIT.fit("answer ~ age", DATA, weights="w"), ValueError, "weights must be an array or the name of a"),
        (
            lambda: LOGIT.fit("answer ~ age", DATA, weights=[1, 2]),
            ValueError,
            "weights must have one value for each of",
        ),
        (
            lambda: LOGIT.fit(DATA[["age"]], DATA["answer"], weights="weight"),
            TypeError,
            "weights must be an array: the",
        ),
        (lambda: LOGIT.fit(DATA[["age"]], data=DATA), TypeError, "data must be None unless the first argument is a"),
        (lambda: LOGIT.fit(DATA[["age"]]), TypeError, "reports must be given, unless the first argument is a formula"),
        (
            lambda: LOGIT.fit("answer ~ age", DATA, weights=DATA["weight"][::-1]),
            ValueError,
            "data and weights must have the same pandas index",
        ),
        (
            lambda: analysis.RandomizedLogit(FORCED, intercept=False).fit("answer ~ age", DATA),
            ValueError,
            r"formula must begin with 0 \+ if intercept=False",
        ),
        (
            lambda: LOGIT.fit("answer ~ age + region", DATA.assign(region="N")),
            ValueError,
            "data must have columns that are not constant, got 'region'",
        ),
        (lambda: LOGIT.fit("answer ~ np.log(age - 45)", DATA), ValueError, "formula must be computable|finite numbers"),
        (
            lambda: LOGIT.fit("answer ~ age", DATA.assign(age=np.nan)),
            ValueError,
            "rows without missing values, got none",
        ),
        (
            lambda: LOGIT.fit("answer ~ age", DATA.assign(age=DATA["age"].astype(str))),
            TypeError,
            "column 'age' has texts of numbers: convert it to numbers, or to categories of pandas",
        ),
        (
            lambda: LOGIT.fit(DATA[["age"]].astype(str), DATA["answer"]),
            TypeError,
            "X must hold numbers or categories, column 'age' has texts of numbers",
        ),
        (
            lambda: FITTED.predict(DATA.assign(region="E")),
            ValueError,
            "X must have the categories of the fit in column 'region', which are 'W', 'N', 'S'; got 'E'",
        ),
        (lambda: FITTED.predict(DATA.assign(age="old")), TypeError, "X must hold numbers as in the fit, column 'age'"),
        (lambda: FITTED.predict(DATA.drop(columns="age")), ValueError, "X must have the columns age, region; got none"),
        (lambda: FITTED.predict(DATA[["age"]].to_numpy()), TypeError, "X must be a data frame or a mapping of columns"),
        (lambda: FITTED.contrast({"region": "E"}, {"region": "N"}), ValueError, "the categories of the fit in column"),
        (lambda: FITTED.contrast({"town": 1}, {"town": 0}), ValueError, "contrast must have the columns"),
        (
            lambda: FITTED.contrast({"age": 1}, {"age": 0}, average=False, weights=[1]),
            ValueError,
            "weights must be None",
        ),
        (lambda: FITTED.contrast(DATA[:3], DATA[:2], average=False), ValueError, "estimates must"),
        (lambda: JUMP.marginal_effects(), ValueError, r"formula must be smooth in 'age' .* got 'I\(age > 40\)'"),
        (lambda: BOTH.marginal_effects(), ValueError, "formula must be smooth in 'party' for marginal effects"),
        (
            lambda: LOGIT.fit("answer ~ age", pd.concat([DATA[["answer", "age"]], DATA[["age"]]], axis=1)),
            ValueError,
            "data must have columns with different names, got 'age' twice",
        ),
        (
            lambda: LOGIT.fit(pd.concat([DATA[["age"]], DATA[["age"]]], axis=1), DATA["answer"]),
            ValueError,
            "X must have columns with different names, got 'age' twice",
        ),
        (
            lambda: PREDICTOR.fit("trust ~ age", DATA),
            TypeError,
            "answer must name the column of the randomized answers",
        ),
        (
            lambda: PREDICTOR.fit("trust ~ age + answer", DATA, answer="answer"),
            ValueError,
            "formula must hold columns that are known, got the randomized answers 'answer'",
        ),
        (lambda: PREDICTOR.fit("trust + age ~ female", DATA, answer="answer"), ValueError, "one number before ~"),
        (
            lambda: PREDICTOR.fit(DATA[["age"]], DATA["answer"], DATA["trust"], answer="answer"),
            TypeError,
            "answer must",
        ),
    ],
)
def test_mistakes_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_formula_without_its_packages_names_the_command(monkeypatch):
    remove_extras(monkeypatch)
    with pytest.raises(ImportError, match="formulaic is not installed: run pip install formulaic pandas"):
        analysis.RandomizedLogit(PLAIN).fit("answer ~ age", DATA)
