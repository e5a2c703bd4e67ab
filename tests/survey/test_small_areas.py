"""Estimates of small areas: closed forms, mean squared errors, covariates by label, areas without answers, and mistakes."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import ldpfast as ldp
from ldpfast.results import predicted_areas
from ldpfast.survey import Choice, Survey, YesNo

from ..support.errors import raises


def test_equal_errors_without_covariates_have_a_closed_form():
    """The variance of the areas is the sample variance minus that of the errors; the error has three parts."""
    m, error = 20, 0.3
    y = np.random.default_rng(1).normal(2, 1, m)
    found = predicted_areas(y, np.full(m, error), np.ones((m, 1)))
    total, own = np.var(y, ddof=1), error**2
    assert found.variance == pytest.approx(total - own, rel=1e-6)
    trust = 1 - own / total
    np.testing.assert_allclose(found.estimate, y.mean() + trust * (y - y.mean()), rtol=1e-6)
    square = trust * own + (1 - trust) ** 2 * total / m + 2 * own**2 / total**3 * 2 * total**2 / m
    np.testing.assert_allclose(found.stderr, math.sqrt(square), rtol=1e-5)


def test_areas_that_vary_less_than_their_errors_are_the_model():
    """The likelihood is largest without a variance of the areas."""
    y, errors = np.array([0.9, 1.1, 1.0, 1.05, 0.95]), np.full(5, 0.5)
    found = predicted_areas(y, errors, np.ones((5, 1)))
    assert found.variance == 0
    np.testing.assert_allclose(found.estimate, 1.0)


def test_an_area_without_an_estimate_is_predicted_by_the_model():
    rng = np.random.default_rng(2)
    x = rng.normal(size=30)
    y = 1 + 2 * x + rng.normal(0, 0.2, 30) + rng.normal(0, 0.1, 30)
    y[4] = np.nan
    found = predicted_areas(y, np.where(np.isnan(y), np.nan, 0.1), np.stack([np.ones(30), x], axis=1))
    assert abs(found.estimate[4] - (1 + 2 * x[4])) < 3 * found.stderr[4]
    assert found.stderr[4] > 1.5 * np.nanmax(np.delete(found.stderr, 4))


@pytest.mark.parametrize("start, unit", [(1e6, 1.0), (1e8, 1.0), (0.0, 1e-9), (0.0, 1e200)])
def test_the_units_of_covariates_do_not_matter(start, unit):
    """Such as seconds of an epoch: numbers that are large and differ little."""
    rng = np.random.default_rng(5)
    y, x, errors = rng.normal(size=40), rng.integers(-50, 50, 40) / 16, np.full(40, 0.5)
    expected = predicted_areas(y, errors, np.stack([np.ones(40), x], axis=1))
    found = predicted_areas(y, errors, np.stack([np.ones(40), start + unit * x], axis=1))
    np.testing.assert_allclose(found.estimate, expected.estimate, rtol=1e-5)
    np.testing.assert_allclose(found.stderr, expected.stderr, rtol=1e-5)


@pytest.mark.long
def test_standard_errors_are_those_of_the_predictions():
    """500 studies of 40 areas: the mean squared error is the mean of the squared standard errors within 4 %."""
    rng = np.random.default_rng(3)
    squares, stated = [], []
    for _ in range(500):
        x, errors = rng.normal(size=40), rng.uniform(0.05, 0.2, 40)
        truth = 0.3 + 0.1 * x + rng.normal(0, 0.1, 40)
        found = predicted_areas(truth + rng.normal(size=40) * errors, errors, np.stack([np.ones(40), x], axis=1))
        squares.append(np.mean((found.estimate - truth) ** 2))
        stated.append(np.mean(found.stderr**2))
    assert np.mean(squares) == pytest.approx(np.mean(stated), rel=0.04)


@pytest.fixture(scope="module")
def study():
    """Return the results of 50 towns and their rates, of which a covariate explains a part."""
    rng = np.random.default_rng(4)
    known = rng.uniform(0, 1, 50)
    rate = 0.2 + 0.2 * known + rng.normal(0, 0.03, 50)
    town = rng.integers(0, 50, 30_000)
    people = {"smokes": rng.random(30_000) < rate[town], "way": rng.integers(0, 3, 30_000), "town": town}
    return Survey({"smokes": YesNo(), "way": Choice(3)}, 1.5).run(people, by="town", rng=5), rate, known


def test_areas_have_about_half_the_error(study):
    results, rate, known = study
    table = results.small_areas("smokes", dict(enumerate(known)))
    assert list(table.columns) == ["area", "direct", "direct_stderr", "estimate", "stderr"]
    assert table["area"] == list(results)
    assert table["direct"] == [results[town]["smokes"].value for town in results]
    direct, found = (np.sqrt(np.mean((np.array(table[name]) - rate) ** 2)) for name in ("direct", "estimate"))
    assert found < 0.62 * direct
    assert np.sqrt(np.mean(np.square(table["stderr"]))) == pytest.approx(found, rel=0.35)


def test_covariates_are_found_by_their_labels(study):
    results, _, known = study
    order = np.random.default_rng(1).permutation(50)
    frame = pd.DataFrame({"known": known[order]}, index=order)
    expected = results.small_areas("smokes", dict(enumerate(known)))["estimate"]
    for covariates in (frame, frame["known"], {i: [known[i]] for i in range(50)}):
        np.testing.assert_allclose(results.small_areas("smokes", covariates)["estimate"], expected, rtol=1e-12)


def test_answers_with_several_shares_and_columns_have_rows_for_each(study):
    results, _, _ = study
    table = results.small_areas("way")
    assert list(table.columns)[:2] == ["area", "answer"]
    assert len(table) == 150
    frame = {"x": [0, 1] * 300, "a": [0, 1, 2] * 200, "b": [0, 0, 0, 1, 1, 1] * 100}
    names = [f"{a}{b}" for a, b in zip(frame["a"], frame["b"], strict=True)]
    both = ldp.Warner(2.0).run(frame["x"], by=names, rng=1)
    assert both.small_areas()["area"] == list(both)
    pairs = Survey({"x": YesNo()}, 2.0).run(frame, by=["a", "b"], rng=1).small_areas("x")
    assert list(pairs.columns)[:2] == ["a", "b"]


def test_mistakes_are_refused(study):
    results, _, known = study
    with raises(ValueError, "question must be one of 'smokes', 'way', got 'age'"):
        results.small_areas("age")
    with raises(ValueError, "question must be one of 'smokes', 'way', got None"):
        results.small_areas()
    with raises(ValueError, "covariates must have every area, got none for 0"):
        results.small_areas("smokes", {1: 0.5})
    with raises(ValueError, "covariates must be finite numbers, got nan"):
        results.small_areas("smokes", dict.fromkeys(range(50), np.nan))
    with raises(ValueError, "covariates must not determine each other, nor be the same for all areas"):
        results.small_areas("smokes", dict.fromkeys(range(50), 1.0))
    with raises(TypeError, "covariates must be a mapping, or a series or frame of pandas, got ndarray"):
        results.small_areas("smokes", known)
    few = ldp.Warner(2.0).run([0, 1] * 50, by=[0, 1] * 50, rng=1)
    with raises(ValueError, "question must be left out, got 'x'"):
        few.small_areas("x")
    with raises(ValueError, "results must have answers of at least 4 areas for 1 coefficients, got 2"):
        few.small_areas()
