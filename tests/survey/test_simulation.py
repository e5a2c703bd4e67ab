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
