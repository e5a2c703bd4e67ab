"""Post-stratification and raking: values, covariances, coverage, and mistakes."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import ldpfast as ldp
from ldpfast.survey import Choice, Cross, Histogram, Mean, Survey, YesNo, calibrate, poststratify, rake

from ..support.cases import each
from ..support.errors import raises
from ..support.internals.shared import conduct, job_counts
from ..support.internals.survey import calibration
from ..support.statistics import assert_coverage

AGES, REGIONS = ("young", "middle", "old"), ("N", "S")
MARGINS = {"age": {"young": 0.5, "middle": 0.3, "old": 0.2}, "region": {"N": 0.4, "S": 0.6}}
POPULATION = {
    (age, region): 100 * a * r for age, a in MARGINS["age"].items() for region, r in MARGINS["region"].items()
}
RATES = {"young": 0.2, "middle": 0.5, "old": 0.7}
QUESTIONS = {
    "smokes": YesNo(),
    "way": Choice(["foot", "bus", "car"], optional=True),
    "hours": Mean(0, 10),
    "weight": Mean(0, 10, optional=True),
    "size": Histogram([0, 2, 4, 8]),
    "both": Cross("smokes", "way"),
}


def people(n, seed=1):
    """Return a sample in which the old and the south take part more often than their shares, in proportion."""
    rng = np.random.default_rng(seed)
    age, region = rng.choice(AGES, n, p=[0.2, 0.3, 0.5]), rng.choice(REGIONS, n, p=[0.3, 0.7])
    rate = np.array([RATES[value] for value in age]) + 0.2 * (region == "S")
    way = np.array(["foot", "bus", "car", None], object)[rng.integers(0, 4, n)]
    return {
        "age": age,
        "region": region,
        "smokes": rng.random(n) < rate,
        "way": way,
        "hours": 10 * rate,
        "weight": np.where(rng.random(n) < 0.8, 10 * rate, np.nan),
        "size": 8 * rng.random(n),
    }


TRUTH = sum(share / 100 * (RATES[age] + 0.2 * (region == "S")) for (age, region), share in POPULATION.items())


@pytest.fixture(scope="module")
def results():
    return Survey(QUESTIONS, 8.0, answers="all").run(people(6000), by=["age", "region"], rng=1)


def parts(result):
    """Yield every estimate of a result."""
    for name, answer in result.items():
        yield name, answer
        if answer.missing is not None:
            yield f"{name}: missing", answer.missing


# Several columns ------------------------------------------------------------------------------------------------------


def test_groups_of_several_columns_are_those_of_one_joined_column():
    mechanism, frame = Survey({"smokes": YesNo()}, 2.0), people(500)
    joined = [*map("/".join, zip(frame["age"], frame["region"], strict=True))]
    one = mechanism.collect({**frame, "joined": joined}, by="joined", rng=1)
    for table in (
        frame,
        pd.DataFrame(frame),
        pa.table({k: v for k, v in frame.items() if k in ("age", "region", "smokes")}),
    ):
        several = mechanism.collect(table, by=["age", "region"], rng=1)
        assert several.by == ("age", "region")
        assert ["/".join(group) for group in several] == list(one)
        assert all(several[group] == one["/".join(group)] for group in several)


def test_groups_of_several_columns_are_saved_and_merged():
    mechanism = Survey({"smokes": YesNo()}, 2.0)
    parts = [mechanism.collect(people(300, seed), by=("age", "region"), rng=seed) for seed in (1, 2)]
    again = ldp.load(parts[0].to_bytes())
    assert again == parts[0]
    assert again.merge(parts[1]).by == ("age", "region")
    with raises(ValueError, "other must divide people by the same columns, ('age', 'region'), got 'age'"):
        again.merge(mechanism.collect(people(300), by="age", rng=1))
    unnamed = ldp.Warner(1.0).collect([0, 1], by=["N", "S"], rng=1)
    named = ldp.Warner(1.0).collect([0, 1], by=["N", "S"], rng=1)
    named.by = "region"
    assert unnamed.merge(named).by == "region"


def test_engines_divide_people_by_several_columns():
    survey, frame = Survey({"smokes": YesNo()}, 2.0), {**people(300), "id": np.arange(300)}
    keys = ldp.PersonKeys(bytes(32), "id")
    job = conduct.new_job(survey, column=None, by=["age", "region"], person="id", key=bytes(32), clip=False)
    tables = [{name: column[part] for name, column in frame.items()} for part in (slice(0, 90), slice(90, None))]
    counts = job_counts.merge([job.collect(table, number) for number, table in enumerate(tables)])
    assert job.finish(counts).to_bytes() == survey.collect(frame, by=["age", "region"], rng=keys).to_bytes()


def test_saved_groups_have_a_value_for_every_column():
    mechanism = Survey({"smokes": YesNo()}, 2.0)
    counted = mechanism.collect(people(300), by=["age", "region"], rng=1)
    counted.by = ("age", "region", "other")
    with raises(
        ValueError, "data must be the bytes of the aggregators of groups: groups without a value for every column"
    ):
        ldp.load(counted.to_bytes())


def test_the_table_has_a_column_for_each_column_that_divides_people(results):
    table = results.table()
    assert list(table.columns)[:4] == ["age", "region", "question", "answer"]
    assert set(zip(table["age"], table["region"], strict=True)) == set(POPULATION)
    frame = {"smokes": [True] * 9, "question": ["a"] * 9, "n": [1] * 9}
    grouped = Survey({"smokes": YesNo()}, 2.0).run(frame, by=["question", "n"], rng=1)
    assert list(grouped.table().columns)[:3] == ["group question", "group n", "question"]


def test_a_missing_value_is_a_group_of_its_own():
    frame = pd.DataFrame({"smokes": [True] * 4, "a": ["x", None, "x", None], "b": [1.0, 1.0, np.nan, np.nan]})
    counted = Survey({"smokes": YesNo()}, 2.0).collect(frame, by=["a", "b"], rng=1)
    assert list(counted) == [("x", 1.0), (None, 1.0), ("x", None), (None, None)]


def test_a_question_about_a_dividing_column_is_a_warning():
    frame = {"smokes": [True, False], "region": ["N", "S"]}
    with pytest.warns(UserWarning, match="got 'smokes': question 'smokes' asks for it"):
        Survey({"smokes": YesNo()}, 2.0).collect(frame, by=["region", "smokes"], rng=1)


# Values and covariances -----------------------------------------------------------------------------------------------


def test_values_are_weighted_means_and_variances_add_up(results):
    """For every sum of shares; quotients among the people who answered have limits of their own."""
    whole, total = poststratify(results, POPULATION), sum(POPULATION.values())
    assert whole.n == 6000
    for name in ("smokes", "hours", "size", "both"):
        groups = [(share / total, results[group][name]) for group, share in POPULATION.items()]
        np.testing.assert_allclose(whole[name].value, sum(w * part.value for w, part in groups), rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(
            np.square(whole[name].stderr), sum(w**2 * np.square(part.stderr) for w, part in groups), rtol=1e-10
        )
        if whole[name].covariance is not None:
            np.testing.assert_allclose(
                np.diag(whole[name].covariance), np.square(whole[name].stderr).ravel(), rtol=1e-10
            )
    np.testing.assert_allclose(whole["both"].margin("smokes").value, whole["both"].value[1].sum())


def test_one_group_is_the_unweighted_result():
    frame = {**people(2000), "all": ["x"] * 2000}
    survey = Survey(QUESTIONS, 8.0, answers="all")
    plain, weighted = survey.run(frame, rng=1), poststratify(survey.run(frame, by="all", rng=1), {"x": 7})
    for (name, a), (_, b) in zip(parts(plain), parts(weighted), strict=True):
        np.testing.assert_allclose(a.value, b.value, rtol=1e-9, atol=1e-12, err_msg=name)
        np.testing.assert_allclose(a.stderr, b.stderr, rtol=1e-9, err_msg=name)
        assert a.n == b.n


@pytest.mark.parametrize("labels", [3, 60])
def test_covariances_are_the_same_with_vectors_and_as_a_matrix(labels):
    """With few groups and many labels the covariance is kept as products of vectors, else as a matrix."""
    survey = Survey({"x": Choice(labels)}, 3.0)
    frame = {"x": np.arange(4000) % labels, "g": np.arange(4000) % 7 % 5}
    groups = survey.run(frame, by="g", rng=1)
    shares = np.array([0.1, 0.2, 0.3, 0.25, 0.15])
    whole = poststratify(groups, dict(enumerate(shares)))["x"]
    expected = sum(w**2 * groups[g]["x"].covariance for g, w in enumerate(shares))
    np.testing.assert_allclose(whole.covariance, expected, atol=1e-12)


def test_shares_of_unary_encoding_add_up_to_one():
    survey = Survey({"x": Choice(300)}, 0.5)
    assert type(survey.mechanisms["x"]).__name__ in ("UnaryEncoding", "SubsetSelection")
    groups = survey.run({"x": np.arange(30_000) % 300, "g": np.arange(30_000) % 2}, by="g", rng=1)
    whole = poststratify(groups, {0: 1, 1: 3})["x"]
    assert abs(whole.value.sum() - 1) < 1e-9
    assert whole.goodness_of_fit(np.full(300, 1 / 300)).pvalue > 1e-4


def test_raked_weights_agree_with_the_margins_and_keep_odds_ratios():
    """The weighted sample has the margins of the population; with two margins, all odds ratios stay."""
    n = np.array([[30, 5, 12], [8, 40, 5.0]])
    rows, columns = (np.eye(k)[place.ravel()] for k, place in zip(n.shape, np.indices(n.shape), strict=True))
    targets = [np.array([0.7, 0.3]), np.array([0.2, 0.5, 0.3])]
    margins = calibration.Calibration(np.hstack([rows, columns]), np.concatenate(targets))
    weights = margins.shares(n.ravel()).reshape(n.shape)
    np.testing.assert_allclose(weights.sum(axis=1), targets[0])
    np.testing.assert_allclose(weights.sum(axis=0), targets[1])
    ratio = [m[0, 1:] * m[1, :-1] / (m[0, :-1] * m[1, 1:]) for m in (n, weights)]
    np.testing.assert_allclose(*ratio)


def test_one_margin_is_post_stratification(results):
    one = Survey(QUESTIONS, 8.0, answers="all").run(people(6000), by="age", rng=1)
    raked, known = rake(one, {"age": MARGINS["age"]}), poststratify(one, MARGINS["age"])
    for (name, a), (_, b) in zip(parts(raked), parts(known), strict=True):
        np.testing.assert_allclose(a.value, b.value, rtol=1e-9, err_msg=name)
        np.testing.assert_allclose(a.stderr, b.stderr, rtol=1e-6, err_msg=name)


@pytest.mark.long
@pytest.mark.parametrize("weigh", ["poststratify", "rake"])
def test_weighted_answers_are_unbiased_and_their_errors_right(weigh):
    """600 surveys of 2,000 people: means and variances against the truth, at a level of 1e-5; 90 % limits cover."""
    survey = Survey({"smokes": YesNo(), "hours": Mean(0, 10)}, 6.0, answers="all")
    runs, errors, variances, covered = 600, [], [], 0
    for seed in range(runs):
        groups = survey.run(people(2000, seed), by=["age", "region"], rng=seed)
        result = poststratify(groups, POPULATION) if weigh == "poststratify" else rake(groups, MARGINS)
        errors.append([result["smokes"].value - TRUTH, result["hours"].value / 10 - TRUTH])
        variances.append([result["smokes"].stderr ** 2, (result["hours"].stderr / 10) ** 2])
        low, high = result["smokes"].interval(0.9)
        covered += low < TRUTH < high
    mean = np.mean(variances, axis=0)
    assert (np.abs(np.mean(errors, axis=0)) < 4.42 * np.sqrt(mean / runs)).all()
    ratio = np.mean(np.square(errors), axis=0) / mean
    assert ((ratio > 0.77) & (ratio < 1.27)).all()  # chi-square quantiles of 1e-5 with 600 degrees of freedom
    assert covered >= 0.85 * runs


@pytest.mark.long
@pytest.mark.parametrize("each_group", [3, 12])
@pytest.mark.parametrize("spread", ["alike", "unlike"])
def test_errors_of_means_of_many_small_groups_are_right(each_group, spread):
    """1,500 surveys of 20 groups that are sent as numbers: the report that widens a variance counts once, not in each group.

    It made the variance 1.4 times too large with three people in a group. Groups can have quite different variances.
    """
    survey, groups, runs = Survey({"hours": Mean(0, 10)}, 6.0), 20, 1500
    assert type(survey.mechanisms["hours"]).__name__ == "Window"
    rng = np.random.default_rng(each_group)
    place = np.repeat(np.arange(groups), each_group)
    half = np.where(place % 2, 1.0, 5.0) if spread == "unlike" else np.full(len(place), 3.0)
    values, variances, covered = np.zeros(runs), np.zeros(runs), 0
    shares = dict(enumerate(np.linspace(1, 2, groups) / np.linspace(1, 2, groups).sum()))
    for run in range(runs):
        hours = 5 + half * rng.choice([-1.0, 1.0], len(place))
        found = poststratify(survey.run({"hours": hours, "g": place}, by="g", rng=rng), shares)["hours"]
        values[run], variances[run] = found.value, found.stderr**2
        low, high = found.interval()
        covered += low <= 5 <= high
    assert abs(values.mean() - 5) < 4.5 * values.std() / np.sqrt(runs)
    assert 0.85 < variances.mean() / values.var() < 1.25  # the sample variance has a relative error of 0.037
    assert_coverage(covered, runs, 0.93, detects=0.88)


@pytest.mark.long
@each("few, least", [(1, 0.6), (3, 0.8), (10, 0.85)])
def test_errors_of_a_mean_count_few_people_who_stand_for_many(few, least):
    """A group of few people at the ends of the range has half of the weight; nothing in a single report shows its variance."""
    survey, rng, values, variances = Survey({"hours": Mean(0, 10)}, 6.0), np.random.default_rng(few), [], []
    place = np.repeat(["x", "y"], [2000, few])
    for _ in range(300):
        hours = np.concatenate([np.full(2000, 5.0), rng.choice([0.0, 10.0], few)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = poststratify(survey.run({"hours": hours, "g": place}, by="g", rng=rng), {"x": 0.5, "y": 0.5})[
                "hours"
            ]
        values.append(found.value)
        variances.append(found.stderr**2)
    assert least < np.sqrt(np.mean(variances)) / np.std(values) < 1.2


def test_weighted_means_of_billions_of_people():
    """Numbers of people whose squares exceed 64 bits."""
    survey = Survey({"hours": Mean(0, 10)}, 6.0)
    table, sizes = {"hours": [2.0, 8.0, 4.0], "g": ["x", "x", "y"]}, {"x": 10**12, "y": 3 * 10**12}
    groups = ldp.simulate(survey, table, sizes, by="g", rng=1).estimate()
    found = poststratify(groups, {"x": 0.5, "y": 0.5})["hours"]
    expected = np.hypot(*(groups[g]["hours"].stderr for g in "xy")) / 2
    assert found.stderr == pytest.approx(expected, rel=1e-6)
    assert abs(found.value - 4.5) < 5 * found.stderr


def test_a_question_needs_no_answers_of_groups_that_nobody_belongs_to():
    """A group with the share 0 has no weight, so that a question without its answers is left in, without a warning."""
    survey = Survey({"a": YesNo(), "b": YesNo()}, 8.0)
    frame = {"a": [True] * 901, "b": [False] * 901, "g": ["x"] * 500 + ["y"] * 400 + ["z"]}
    groups = survey.run(frame, by="g", rng=1)
    assert 0 in (groups["z"]["a"].n, groups["z"]["b"].n)
    found = poststratify(groups, {"x": 0.25, "y": 0.75, "z": 0})
    for name in ("a", "b"):
        assert found[name].value == pytest.approx(0.25 * groups["x"][name].value + 0.75 * groups["y"][name].value)
    raked = calibrate(groups, {"g": {"x": 0.25, "y": 0.75, "z": 0}})
    assert raked["a"].value == pytest.approx(found["a"].value)
    with pytest.warns(ldp.DoubtfulWarning, match=r"left out"):
        assert len(poststratify(groups, {"x": 0.25, "y": 0.7, "z": 0.05})) == 1


# Mistakes -------------------------------------------------------------------------------------------------------------


@each(
    "population, message",
    [
        ({"young": 0.5, "old": 0.5}, "population must have every group of the results, got none for 'middle'"),
        (dict.fromkeys([*AGES, "x"], 1), "population must have groups of which people took part, got 'x'"),
        (dict.fromkeys(AGES, 0.2), "population must be numbers of people, or shares that add up to 1, got the sum 0.6"),
        (dict.fromkeys(AGES, -1), "population must be numbers >= 0 with a positive sum, got -1"),
        (dict.fromkeys(AGES, 0), "population must be numbers >= 0 with a positive sum, got 0"),
        (dict.fromkeys(AGES, np.nan), "population must be finite numbers, got nan"),
        (dict.fromkeys(AGES, np.ones(2)), "population must have one number for each group, got an array"),
        (dict.fromkeys(AGES, 1e308), "population must be numbers of people of at most 1e.15, got 1e.308"),
    ],
)
def test_populations_that_do_not_fit_are_refused(population, message):
    groups = Survey({"smokes": YesNo()}, 8.0).run(people(600), by="age", rng=1)
    with pytest.raises(ValueError, match=f"^{message}"):
        poststratify(groups, population)


def test_a_combination_of_which_nobody_took_part_is_doubtful():
    frame = {"smokes": [True, False] * 150, "a": np.repeat([0, 0, 1], 100), "b": np.repeat([0, 1, 0], 100)}
    groups = Survey({"smokes": YesNo()}, 8.0).run(frame, by=["a", "b"], rng=1)
    with pytest.warns(ldp.DoubtfulWarning, match=r"nobody of some groups took part, .*: \(1, 1\)\."):
        result = rake(groups, {"a": {0: 0.6, 1: 0.4}, "b": {0: 0.5, 1: 0.5}})
    expected = sum(w * groups[g]["smokes"].value for g, w in (((0, 0), 0.1), ((0, 1), 0.5), ((1, 0), 0.4)))
    assert result["smokes"].value == pytest.approx(expected)


def test_few_people_behind_the_weights_are_a_warning_in_tests_of_distributions():
    """900 of 1,000 people have a weight that is nearly 0."""
    groups = Survey({"x": Choice(20)}, 6.0).run({"x": np.arange(1000) % 20, "g": np.arange(1000) % 10}, by="g", rng=1)
    weights = {0: 0.91, **dict.fromkeys(range(1, 10), 0.01)}
    with pytest.warns(ldp.SmallSampleWarning, match="too small for a chi-square distribution"):
        poststratify(groups, weights)["x"].goodness_of_fit(np.full(20, 0.05))


@pytest.mark.long
def test_margins_that_do_not_fit_are_refused(results):
    with raises(ValueError, "margins must be of the columns that divide the people, 'age', 'region', got 'age'"):
        rake(results, {"age": MARGINS["age"]})
    with raises(ValueError, "margins must have the same total, got 1 and 100"):
        rake(results, {**MARGINS, "region": {"N": 40, "S": 60}})
    frame = {"smokes": [True] * 40, "a": [0, 1] * 20, "b": [0, 1] * 20}
    diagonal = Survey({"smokes": YesNo()}, 8.0).run(frame, by=["a", "b"], rng=1)
    with pytest.warns(ldp.DoubtfulWarning), pytest.raises(ValueError, match="got some that no weights agree with"):
        rake(diagonal, {"a": {0: 0.5, 1: 0.5}, "b": {0: 0.2, 1: 0.8}})


def test_only_unpooled_results_of_surveys_with_answers_are_weighted():
    mechanism = ldp.Warner(2.0)
    with raises(TypeError, "results must be those of a survey, got those of a Warner"):
        poststratify(mechanism.run([0, 1] * 50, by=["N", "S"] * 50, rng=1), {"N": 1, "S": 1})
    with raises(TypeError, "results must be the result of run(by=) of a survey, got dict"):
        rake({}, {})
    questions = {"smokes": YesNo(), "way": Choice(["foot", "bus"]), "both": Cross("smokes", "way")}
    survey, frame = Survey(questions, 8.0), {"smokes": [True] * 900, "way": ["foot"] * 900, "g": [0, 1, 2] * 300}
    with raises(ValueError, "results must not be pooled, got pooled=True"):
        poststratify(survey.collect(frame, by="g", rng=1).estimate(pooled=True), {0: 1, 1: 1, 2: 1})
    few = {"smokes": [True] * 31, "way": ["foot"] * 31, "g": ["x"] * 30 + ["y"]}
    with pytest.warns(
        ldp.DoubtfulWarning, match=r"no answers to questions, .*: 'smokes' \(left out\), 'both' \(left out\)$"
    ):
        assert list(poststratify(survey.run(few, by="g", rng=1), {"x": 1, "y": 1})) == ["way"]


def test_weighted_results_of_the_same_people_have_no_difference():
    survey = Survey({"q": YesNo()}, 2.0)
    people = {"q": [True, False] * 500, "g": ["a", "b"] * 500}
    once, twice = (poststratify(survey.run(people, by="g", rng=i), {"a": 1, "b": 1}) for i in (1, 2))
    with pytest.raises(ValueError, match="people in common"):
        once["q"] - twice["q"]
