"""Calibration: weights of another program, margins of several columns, questions without some groups, and mistakes."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import ldpfast as ldp
from ldpfast.reports import GroupedAggregator
from ldpfast.survey import Choice, Mean, Several, Survey, YesNo, calibrate, poststratify, rake

from ..support.cases import each
from ..support.errors import raises
from ..support.internals.survey import calibration

GROUPS = [(a, s, r) for a in range(3) for s in range(2) for r in range(4) if (a, s, r) != (2, 1, 3)]
SIZES = [20 + 10 * ((7 * a + 5 * s + 3 * r) % 11) for a, s, r in GROUPS]
AGE_SEX = dict(zip([(a, s) for a in range(3) for s in range(2)], [0.12, 0.18, 0.2, 0.15, 0.15, 0.2], strict=True))
REGION = dict(enumerate([0.3, 0.3, 0.25, 0.15]))
MARGINS = {("age", "sex"): AGE_SEX, "region": REGION}
EMPTY = "ignore:nobody of some groups took part"  # of the oldest men in the last region

# Shares of the groups by survey::calibrate of R (survey 4.1.1, epsilon = 1e-12) with a row and the weight SIZES for each group,
# the totals of sum(SIZES) people, and the functions cal.raking, cal.linear and cal.logit.
KNOWN = {
    ("raking", None): [
        0.011352526,
        0.028156958,
        0.041950354,
        0.038540162,
        0.057653236,
        0.081710686,
        0.015217341,
        0.025418738,
        0.062238286,
        0.082328380,
        0.025553961,
        0.029879373,
        0.018237954,
        0.036187561,
        0.050545266,
        0.045029220,
        0.030059616,
        0.047715187,
        0.061092689,
        0.011132508,
        0.120458382,
        0.023901229,
        0.055640389,
    ],
    ("linear", None): [
        0.011823749,
        0.029061343,
        0.042259008,
        0.036855899,
        0.056893011,
        0.080279668,
        0.014996149,
        0.027831173,
        0.062336992,
        0.081920715,
        0.025187335,
        0.030554958,
        0.018699919,
        0.036802200,
        0.050434268,
        0.044063613,
        0.030630620,
        0.048212143,
        0.060462879,
        0.010694357,
        0.119615709,
        0.023723930,
        0.056660361,
    ],
    ("linear", (0.55, 2.0)): [
        0.011541424,
        0.028376866,
        0.041299659,
        0.038782051,
        0.057015036,
        0.080496664,
        0.015073501,
        0.027414798,
        0.062496957,
        0.082185211,
        0.025343407,
        0.029974425,
        0.018799087,
        0.037026142,
        0.050922969,
        0.043251802,
        0.030599289,
        0.048196153,
        0.060627635,
        0.010576923,
        0.119548206,
        0.023718964,
        0.056732830,
    ],
    ("logit", (0.4, 2.5)): [
        0.011258978,
        0.027815645,
        0.041374209,
        0.039551167,
        0.058131510,
        0.082116905,
        0.015284955,
        0.024466630,
        0.062662243,
        0.082550786,
        0.025515018,
        0.029271954,
        0.018261782,
        0.036085676,
        0.050229275,
        0.045423267,
        0.030166610,
        0.047688609,
        0.060857800,
        0.011286982,
        0.119518877,
        0.023742379,
        0.056738743,
    ],
}


def people(**columns):
    """Return a table with the groups of the given sizes, and more columns of rows."""
    rows = np.repeat(np.arange(len(GROUPS)), SIZES)
    age, sex, region = np.array(GROUPS)[rows].T
    return {"age": age, "sex": sex, "region": region, **columns}


@pytest.fixture(scope="module")
def results():
    rng = np.random.default_rng(1)
    n = sum(SIZES)
    survey = Survey(
        {"smokes": YesNo(), "way": Choice(["foot", "bus", "car"]), "hours": Mean(0, 10)}, 8.0, answers="all"
    )
    frame = people(smokes=rng.random(n) < 0.4, way=rng.choice(["foot", "bus", "car"], n), hours=rng.random(n) * 10)
    return survey.run(frame, by=["age", "sex", "region"], rng=1)


@pytest.mark.filterwarnings(EMPTY)
@each("method, bounds", list(KNOWN))
def test_estimates_are_those_of_the_weights_of_r(results, method, bounds):
    """To six digits, in the order of the groups of R, which is that of GROUPS."""
    found = calibrate(results, MARGINS, method=method, bounds=bounds)
    weights = dict(zip(GROUPS, KNOWN[method, bounds], strict=True))
    for name in ("smokes", "hours"):
        expected = sum(weights[group] * results[group][name].value for group in GROUPS)
        assert found[name].value == pytest.approx(expected, rel=1e-7)
    shares = np.sum([weights[group] * np.asarray(results[group]["way"].value) for group in GROUPS], axis=0)
    np.testing.assert_allclose(found["way"].value, shares, rtol=1e-6)


@pytest.mark.filterwarnings(EMPTY)
def test_margins_may_be_tables_of_pandas_and_pairs(results):
    series = pd.Series(AGE_SEX.values(), pd.MultiIndex.from_tuples(AGE_SEX))
    given = calibrate(results, [(("age", "sex"), series), ("region", pd.Series(REGION))])
    np.testing.assert_array_equal(given["smokes"].value, calibrate(results, MARGINS)["smokes"].value)
    turned = {
        ("sex", "age"): {(s, a): share for (a, s), share in AGE_SEX.items()},
        ("region",): {(r,): v for r, v in REGION.items()},
    }
    assert calibrate(results, turned)["smokes"].value == pytest.approx(given["smokes"].value, rel=1e-9)


@pytest.mark.filterwarnings(EMPTY)
def test_raking_and_poststratification_are_cases(results):
    by_age = {a: sum(v for (b, _), v in AGE_SEX.items() if a == b) for a in range(3)}
    by_sex = {s: sum(v for (_, t), v in AGE_SEX.items() if s == t) for s in range(2)}
    margins = {"age": by_age, "sex": by_sex, "region": REGION}
    raked, found = rake(results, margins), calibrate(results, margins)
    assert (raked["hours"].value, raked["hours"].stderr) == (found["hours"].value, found["hours"].stderr)
    population = {group: 1 + i for i, group in enumerate(GROUPS)}
    known, found = poststratify(results, population), calibrate(results, {("age", "sex", "region"): population})
    assert found["smokes"].value == pytest.approx(known["smokes"].value, rel=1e-9)
    assert found["smokes"].stderr == pytest.approx(known["smokes"].stderr, rel=1e-6)


@pytest.mark.filterwarnings(EMPTY)
def test_columns_without_a_margin_have_the_weights_of_the_others(results):
    found, by_sex = calibrate(results, {"sex": {0: 0.5, 1: 0.5}}), [0.0, 0.0]
    for (_, sex, _), size in zip(GROUPS, SIZES, strict=True):
        by_sex[sex] += size
    expected = sum(size / 2 / by_sex[g[1]] * results[g]["smokes"].value for g, size in zip(GROUPS, SIZES, strict=True))
    assert found["smokes"].value == pytest.approx(expected, rel=1e-9)


@pytest.mark.filterwarnings(EMPTY)
def test_a_group_without_answers_stops_no_other_question():
    """One answer per person: a small group lacks some of them. Others stand for it where the margins can be met."""
    n = 3000
    rng = np.random.default_rng(1)
    survey = Survey({"a": YesNo(), "b": Choice(4), "c": Several(["x", "y"])}, 4.0)
    age, region = rng.integers(0, 3, n), rng.integers(0, 3, n)
    frame = {"a": rng.random(n) < 0.5, "b": rng.integers(0, 4, n), "c": ["x"] * n, "age": age, "region": region}
    few = (age == 2) & (region == 2)
    frame = {name: np.concatenate([np.asarray(v)[~few], np.asarray(v)[few][:2]]) for name, v in frame.items()}
    groups = survey.run(frame, by=["age", "region"], rng=3)
    empty = [name for name in survey.questions if groups[2, 2][name].n == 0]
    assert empty
    thirds = {0: 1, 1: 1, 2: 1}
    with pytest.warns(ldp.DoubtfulWarning, match=f"have no answers to questions, .*: {empty[0]!r}"):
        found = calibrate(groups, {"age": thirds, "region": thirds})
    assert list(found) == list(survey.questions)
    with pytest.warns(ldp.DoubtfulWarning, match=f"{empty[0]!r} .left out."):
        known = poststratify(groups, {(i, j): 1 for i in range(3) for j in range(3)})
    assert [*known] == [name for name in survey.questions if name not in empty]


@pytest.mark.long
@each("method, bounds", [("raking", None), ("linear", None), ("logit", (0.2, 4.0))])
def test_calibrated_answers_are_unbiased_and_their_errors_right(method, bounds):
    """400 surveys of 2,000 people who take part by a function of both margins: means and variances, at a level of 1e-5."""
    survey, runs = Survey({"smokes": YesNo()}, 6.0), 400
    truth, found = 0.35, []
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        a, s, r = rng.choice(3, 2000, p=[0.2, 0.3, 0.5]), rng.integers(0, 2, 2000), rng.choice(2, 2000, p=[0.3, 0.7])
        frame = {"smokes": rng.random(2000) < 0.1 + 0.2 * a + 0.1 * s, "a": a, "s": s, "r": r}
        groups = survey.run(frame, by=["a", "s", "r"], rng=seed)
        margins = {("a", "s"): {(i, j): 1 / 6 for i in range(3) for j in range(2)}, "r": {0: 0.5, 1: 0.5}}
        answer = calibrate(groups, margins, method=method, bounds=bounds)["smokes"]
        found.append([answer.value - truth, answer.stderr])
    errors, stderrs = np.array(found).T
    variance = np.mean(stderrs**2)
    assert abs(errors.mean()) < 4.42 * np.sqrt(variance / runs)
    assert 0.72 < np.mean(errors**2) / variance < 1.35


@pytest.mark.filterwarnings(EMPTY)
def test_margins_and_bounds_that_do_not_fit_are_refused(results):
    with raises(
        ValueError, "margins must be of the columns that divide the people, 'age', 'sex', 'region', got 'town'"
    ):
        calibrate(results, {"town": {0: 1}})
    with raises(
        ValueError, "margins must be of the columns that divide the people, 'age', 'sex', 'region', got ('age', 'age')"
    ):
        calibrate(results, {("age", "age"): AGE_SEX})
    with raises(ValueError, "margins[('age', 'sex')] must have every group of the results, got none for (0, 0)"):
        calibrate(results, {("age", "sex"): {(0, 1): 1.0}})
    with raises(ValueError, "margins must have the same total, got 1 and 100"):
        calibrate(results, {**MARGINS, "region": {r: 100 * share for r, share in REGION.items()}})
    with raises(
        ValueError, "margins must be of the columns that divide the people, 'age', 'sex', 'region', got ['age', 'sex']"
    ):
        calibrate(results, [(["age", "sex"], AGE_SEX)])
    with raises(ValueError, "margins['region'] must be finite numbers, got nan"):
        calibrate(results, {"region": {**REGION, 4: np.nan}})
    with raises(ValueError, "margins must hold at least one margin, got none"):
        calibrate(results, {})
    with raises(TypeError, "margins must be a mapping, or a list of pairs of columns and numbers, got int"):
        calibrate(results, 3)
    with raises(ValueError, "method must be one of 'raking', 'linear', 'logit', got 'greg'"):
        calibrate(results, MARGINS, method="greg")
    with raises(ValueError, "bounds must be two numbers around 1 with method='logit', got None"):
        calibrate(results, MARGINS, method="logit")
    with raises(
        ValueError, "bounds must be None, or the method 'linear' or 'logit' with method='raking', got (0.5, 2)"
    ):
        calibrate(results, MARGINS, bounds=(0.5, 2))
    with pytest.raises(
        ValueError, match=r"^bounds must be two numbers, of which the first is in \[0, 1\) and the second above 1"
    ):
        calibrate(results, MARGINS, method="logit", bounds=(1.2, 2))
    with pytest.raises(ValueError, match=r"got some that no weights agree with: .* or use wider bounds"):
        calibrate(results, MARGINS, method="logit", bounds=(0.9, 1.1))


def test_margins_that_share_a_column_miss_only_groups_that_can_be(results):
    """Nobody is of two ages: the only group without people is the one of which nobody took part."""
    by_age = {age: AGE_SEX[age, 0] + AGE_SEX[age, 1] for age in range(3)}
    with pytest.warns(ldp.DoubtfulWarning, match=r"other groups then stand for: \(2, 1, 3\)\. If these"):
        calibrate(results, [("age", by_age), (("age", "sex"), AGE_SEX), ("region", REGION)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = calibrate(results, {("age", "sex"): AGE_SEX, "age": by_age})
        assert found["smokes"].value == pytest.approx(calibrate(results, {("age", "sex"): AGE_SEX})["smokes"].value)


def test_values_without_people_in_the_population_are_left_out_of_the_error():
    """The groups of a share of 0 change neither the answer nor its error, whatever they answer."""
    n = 4000
    rng = np.random.default_rng(1)
    age, region = rng.integers(0, 3, n), rng.integers(0, 2, n)
    smokes = np.where(age == 0, region == 1, rng.random(n) < 0.3 + 0.2 * region)
    frame = pd.DataFrame({"smokes": smokes, "age": age, "region": region})
    survey, margins = Survey({"smokes": YesNo()}, 20.0), {"age": {1: 0.3, 2: 0.7}, "region": {0: 0.6, 1: 0.4}}
    some = calibrate(survey.run(frame[age > 0], by=["age", "region"], rng=1), margins)["smokes"]
    groups = survey.run(frame, by=["age", "region"], rng=1)
    for method, bounds in (("raking", None), ("linear", (0, 4))):
        shares = {**margins, "age": {0: 0, **margins["age"]}}
        found = calibrate(groups, shares, method=method, bounds=bounds)["smokes"]
        assert found.value == pytest.approx(some.value, rel=0.01)
        assert found.stderr == pytest.approx(some.stderr, rel=0.01)


PLATEAUS = [  # sizes of groups by row and column, and shares of rows and of columns
    ("linear", [[0, 4444, 69194], [29018, 0, 79344], [30687, 47079, 0]], [875, 813, 8312], [8113, 547, 1340]),
    ("logit", [[56427, 18257, 0, 27890], [27714, 42230, 71, 83695]], [1626, 8374], [5262, 2330, 122, 2286]),
]


@each("method, sizes, rows, columns", PLATEAUS)
def test_margins_that_can_be_met_within_bounds_are_met(method, sizes, rows, columns):
    """On the way to the weights, all groups of a value are at a bound, where a ratio does not depend on the terms."""
    row, column = np.nonzero(sizes)
    design = np.concatenate([np.eye(len(rows))[row], np.eye(len(columns))[column]], axis=1)
    targets, n = np.array([*rows, *columns]) / 10_000, np.array(sizes)[row, column]
    found = calibration.Calibration(design, targets, method, (0.0, 50.0)).shares(n)
    np.testing.assert_allclose(design.T @ found, targets, atol=1e-10)
    assert (found >= 0).all()
    assert (found * n.sum() < 50 * n).all()


def test_groups_without_names_of_columns_have_no_margins():
    survey = Survey({"smokes": YesNo()}, 4.0)
    parts = {
        value: survey.aggregator().update(survey.privatize({"smokes": [True] * 50}, rng=value)) for value in (0, 1)
    }
    groups = GroupedAggregator.of(parts).estimate()
    for weigh in (rake, calibrate):
        with raises(ValueError, "results must be of groups by named columns, got by=None: poststratify needs no names"):
            weigh(groups, {"age": {0: 0.5, 1: 0.5}})
    assert poststratify(groups, {0: 0.5, 1: 0.5}).n == 100


@pytest.mark.filterwarnings(EMPTY)
def test_negative_weights_are_doubtful(results):
    uneven = {0: 0.9, 1: 0.04, 2: 0.03, 3: 0.03}
    with pytest.warns(ldp.DoubtfulWarning, match="some groups have a negative weight"):
        found = calibrate(results, {("age", "sex"): AGE_SEX, "region": uneven}, method="linear")
    low, high = found["smokes"].interval()
    assert low <= found["smokes"].value <= high
