"""Simulated answers of many people have the distribution of real ones."""

from __future__ import annotations

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.survey import Choice, Cross, Histogram, Mean, Survey, YesNo

from ..support.cases import each
from ..support.surveys import SURVEYS, people

ROWS = {"a": [True, False, None], "b": [2.5, 10.0, 0.0], "c": ["x", None, "y"]}
MANY = Survey({f"q{i}": YesNo(column="a", optional=True) for i in range(30)}, 9.0, answers=9)
QUESTIONS = {"a": YesNo(optional=True), "b": Mean(0, 10), "c": Choice(["x", "y"], optional=True)}


@each("name", ["optional", "three", "all", "optional tables", "optional steps"])
def test_simulated_counts_are_possible_and_merge_with_real_ones(name):
    survey = SURVEYS[name]
    table = people(30, missing=0.1 if name != "all" else 0.0)
    found = ldp.simulate(survey, table, 5000, rng=1)
    assert found.n == 5000
    assert survey._recipe.is_possible(found._counts.group().states, found.n)
    real = survey.collect(table, rng=1)
    assert found.merge(real).n == 5030
    assert ldp.load(found.to_bytes()).to_bytes() == found.to_bytes()
    found.estimate()


@pytest.mark.parametrize(
    "survey",
    [
        pytest.param(Survey(QUESTIONS, 1.5, weights={"a": 3}), marks=pytest.mark.long),
        Survey(QUESTIONS | {"both": Cross("a", "b")}, 2.0, answers=2),
        pytest.param(
            Survey({"b": Mean(0, 10), "h": Histogram([0, 3, 6, 12], column="b")}, 12.0, answers="all"),
            marks=pytest.mark.long,
        ),
    ],
    ids=["one", "two", "numbers"],
)
def test_simulated_counts_have_the_moments_of_real_ones(survey):
    """Means and covariances of all counts over many runs, with 400 people each who are drawn from three rows."""
    runs, n = 400, 400
    rng, found = np.random.default_rng(3), np.zeros((2, runs), object)
    rows = {name: np.array(values, object) for name, values in ROWS.items()}
    for run in range(runs):
        drawn = rng.integers(0, 3, n)
        sample = {name: values[drawn].tolist() for name, values in rows.items()}
        found[0, run] = survey.collect(sample, rng=rng)
        found[1, run] = ldp.simulate(survey, ROWS, n, rng=rng)
    real, ours = (
        np.array(
            [np.concatenate([np.ravel(state) for state in one._counts.group().states]).astype(float) for one in row]
        )
        for row in found
    )
    error = np.sqrt((real.var(axis=0) + ours.var(axis=0)) / runs) + 1e-9
    assert (np.abs(real.mean(axis=0) - ours.mean(axis=0)) < 5 * error).all()
    scale = np.sqrt(np.outer(real.var(axis=0), real.var(axis=0))) + 1e-9
    difference = np.abs(np.cov(real.T) - np.cov(ours.T)) / scale
    assert difference.max() < 5.5 * np.sqrt(4 / runs)


def test_a_billion_people_are_estimated_in_no_more_time():
    survey = Survey(QUESTIONS | {"both": Cross("a", "c")}, 1.0)
    result = ldp.simulate(survey, ROWS, 10**9, rng=2).estimate()
    expected = {"a": 0.5, "b": 12.5 / 3}
    for name, truth in expected.items():
        low, high = result[name].interval(0.9999)
        assert low < truth < high
        assert high - low < 0.01
    assert result["c"].value == pytest.approx([0.5, 0.5], abs=0.002)


# Groups ---------------------------------------------------------------------------------------------------------------

REGIONS = {"a": [True, False, True, True, None], "region": ["N", "N", "S", "S", "W"], "year": [1, 2, 1, 2, 1]}
ASKED = Survey({"a": YesNo(optional=True)}, 3.0, answers="all")


def test_groups_have_the_people_of_their_rows():
    """Numbers by group, from the rows of the group alone: the share of yes is that of the rows, and nobody else is counted."""
    sizes = {"S": 10**8, "N": 4 * 10**8, "W": 10**6}
    found = ldp.simulate(ASKED, REGIONS, sizes, by="region", rng=1)
    assert {group: one.n for group, one in found.items()} == sizes
    assert (list(found), found.by) == (["N", "S", "W"], "region")
    results = found.estimate()
    assert results["N"]["a"].value == pytest.approx(0.5, abs=0.001)
    assert results["S"]["a"].value == pytest.approx(1.0, abs=0.001)
    assert results["W"]["a"].missing.value == pytest.approx(1.0, abs=0.01)
    difference = results["S"]["a"] - results["N"]["a"]
    assert difference.value == pytest.approx(0.5, abs=0.002)


def test_everybody_is_in_one_group_and_loses_epsilon_once():
    found = ldp.simulate(ASKED, REGIONS, 10_000, by=["region", "year"], rng=1)
    assert found.n == sum(one.n for one in found.values()) == 10_000
    results = found.estimate()
    assert {result.guarantee for result in results.values()} == {ASKED.guarantee}
    assert ASKED.guarantee.epsilon <= 3.0


def test_sizes_of_groups_vary_as_in_a_sample():
    """1,000 studies of 50 people: the numbers by group have the means and variances of a multinomial distribution."""
    rng, runs, n = np.random.default_rng(1), 1000, 50
    sizes = np.zeros((runs, 3))
    for run in range(runs):
        found = ldp.simulate(ASKED, REGIONS, n, by="region", rng=rng)
        sizes[run] = [found[group].n if group in found else 0 for group in "NSW"]
    assert (sizes.sum(axis=1) == n).all()
    share = np.array([0.4, 0.4, 0.2])
    variance = n * share * (1 - share)
    assert (np.abs(sizes.mean(axis=0) - n * share) < 4.5 * np.sqrt(variance / runs)).all()
    assert (np.abs(sizes.var(axis=0) / variance - 1) < 5 * np.sqrt(2.2 / runs)).all()
    assert abs(np.cov(sizes.T)[0, 1] + n * 0.16) < 5 * n * 0.4 / np.sqrt(runs)


def test_simulated_groups_are_those_of_the_rows_alone_and_merge_with_real_ones():
    found = ldp.simulate(ASKED, REGIONS, {"N": 900, "S": 80, "W": 7}, by="region", rng=5)
    one = ldp.simulate(ASKED, {name: values[:2] for name, values in REGIONS.items()}, 900, rng=5)
    assert found["N"].to_bytes() == one.to_bytes()
    real = ASKED.collect(REGIONS | {"region": ["N", "S", "X", "X", "X"]}, by="region", rng=1)
    assert {group: part.n for group, part in found.merge(real).items()} == {"N": 901, "S": 81, "W": 7, "X": 3}
    assert ldp.load(found.to_bytes()).to_bytes() == found.to_bytes()
    alone = {name: values[:2] for name, values in REGIONS.items()}
    assert ldp.simulate(ASKED, alone, 9, by="region", rng=1)["N"].n == 9


def test_labels_of_groups_decide():
    """Numbers as a series in another order, and groups of a frame with categories, or of several columns."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(REGIONS)
    frame["region"] = pd.Categorical(frame["region"], ["W", "S", "N", "E"])
    sizes = pd.Series({"W": 3, "S": 20, "N": 100})
    found = ldp.simulate(ASKED, frame, sizes, by="region", rng=1)
    assert {group: one.n for group, one in found.items()} == {"N": 100, "S": 20, "W": 3}
    pairs = {("N", 1): 1, ("N", 2): 2, ("S", 1): 3, ("S", 2): 4, ("W", 1): 5}
    found = ldp.simulate(ASKED, frame, pairs, by=["region", "year"], rng=1)
    assert {group: one.n for group, one in found.items()} == pairs


@each(
    "n, by, error, message",
    [
        (
            {"N": 1, "S": 2},
            "region",
            ValueError,
            "n must have a number for each group .*; the first that differs is 'W'",
        ),
        ({"N": 1, "S": 2, "W": 3, "X": 1}, "region", ValueError, "n must have a number .* differs is 'X'"),
        ({"N": 1.5, "S": 2, "W": 3}, "region", TypeError, "n of 'N' must be an integer, got float"),
        ({"N": 0, "S": 2, "W": 3}, "region", ValueError, "n of 'N' must be an integer >= 1, got 0"),
        ({"N": 1 << 61, "S": 1 << 61, "W": 3}, "region", ValueError, "n must be fewer than 2.62 people"),
        ({"N": 1, "S": 2, "W": 3}, None, TypeError, "n must be an integer, got dict"),
        ([1, 2, 3], "region", TypeError, "n must be an integer, got list"),
        (0, "region", ValueError, "n must be an integer"),
        (9, "place", ValueError, "frame must have one column 'place'"),
        (9, 3, TypeError, "by must be the name of a column"),
    ],
)
def test_groups_that_do_not_fit_are_refused(n, by, error, message):
    with pytest.raises(error, match=f"^{message}"):
        ldp.simulate(ASKED, REGIONS, n, by=by, rng=1)


def test_groups_of_a_mechanism_are_refused_and_private_ones_doubtful():
    with pytest.raises(ValueError, match=r"^by must be None but for a survey, got 'region'"):
        ldp.simulate(ldp.Warner(1.0), [0.5, 0.5], 10, by="region")
    with pytest.warns(UserWarning, match="by must be a public column"):
        ldp.simulate(ASKED, REGIONS, 10, by="a", rng=1)


@each(
    "call, error, message",
    [
        (
            lambda: ldp.simulate(Survey(QUESTIONS, 1.0), {**ROWS, "b": [1.0, 2.0, 11.0]}, 10),
            ValueError,
            "row 2 is outside",
        ),
        (lambda: ldp.simulate(Survey(QUESTIONS, 1.0), {"a": []}, 10), ValueError, "frame must have one column 'b'"),
        (
            lambda: ldp.simulate(Survey(QUESTIONS, 1.0), {n: [] for n in "abc"}, 10),
            ValueError,
            "at least one row, got none",
        ),
        (lambda: ldp.simulate(Survey(QUESTIONS, 1.0), ROWS, 0), ValueError, "n must be an integer"),
        (
            lambda: ldp.simulate(MANY, ROWS, 9),
            ValueError,
            "at most 16384 different sets of questions",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
