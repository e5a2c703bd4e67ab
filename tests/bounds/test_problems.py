"""Properties of the bounds of all problems: order, monotonicity, rates, units, published constants."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldpfast import bounds

from ..support.cases import each
from ..support.problems import LOCAL, PROBLEMS

# Order and monotonicity -----------------------------------------------------------------------------------------------

PEOPLE = np.unique(np.concatenate([np.arange(1, 20), np.geomspace(1, 1e12, 50).round()]))
EPSILONS = np.sort(np.concatenate([np.geomspace(1e-6, 50, 50), [0.5, 1.0, 2.0]]))


@each("problem", PROBLEMS)
def test_lower_is_below_upper_and_both_decrease(problem):
    """The grid has n from 1 to 1e12 and epsilon from 1e-6 to 50."""
    found = PROBLEMS[problem](PEOPLE[:, None], EPSILONS)
    assert np.isfinite(found.upper).all()
    assert (found.lower >= 0).all()
    assert (found.lower <= found.upper * (1 + 1e-12)).all()
    for numbers in (found.lower, found.upper):
        for axis in (0, 1):
            later = np.take(numbers, range(1, numbers.shape[axis]), axis=axis)
            earlier = np.take(numbers, range(numbers.shape[axis] - 1), axis=axis)
            assert (later <= earlier * (1 + 1e-9)).all()
    assert (found.rate >= 0).all()
    assert (found.nonprivate <= found.nonprivate[0] * (1 + 1e-9)).all()
    assert (found.nonprivate <= found.upper * (1 + 1e-9)).all()
    if problem != "central range":
        assert (found.lower > 0).all()


@given(
    st.sampled_from(sorted(PROBLEMS)),
    st.one_of(st.integers(1, 50), st.floats(0, 12).map(lambda x: round(10**x))),
    st.floats(-6, math.log10(50)),
    st.floats(1, 3),
    st.floats(1, 3),
)
def test_order_and_monotonicity_between_grid_points(problem, n, power, more_people, more_epsilon):
    epsilon = 10**power
    here = PROBLEMS[problem](n, epsilon)
    assert isinstance(here.lower, float)
    assert 0 <= here.lower <= here.upper * (1 + 1e-12)
    for there in (
        PROBLEMS[problem](math.ceil(n * more_people), epsilon),
        PROBLEMS[problem](n, min(50.0, epsilon * more_epsilon)),
    ):
        assert there.lower <= here.lower * (1 + 1e-9)
        assert there.upper <= here.upper * (1 + 1e-9)


@given(
    st.floats(1.01, 50),
    st.integers(1, 10**6),
    st.floats(0.1, 10),
    st.floats(0.51, 20),
    st.floats(0, 9).map(lambda x: 10**x),
    st.floats(-4, 1.5).map(lambda x: 10**x),
)
def test_lower_is_below_upper_for_all_moments_dimensions_and_smoothness(moment, dim, radius, smoothness, n, epsilon):
    for found in (
        bounds.mean_1d(n, epsilon, moment=moment, radius=radius),
        bounds.mean_l2(n, dim, epsilon, radius=radius),
        bounds.sparse_mean(n, dim, epsilon, radius=radius),
        bounds.multinomial(n, dim + 1, epsilon),
        bounds.logistic(n, dim, epsilon, radius=radius),
        bounds.density(n, epsilon, smoothness=smoothness, radius=radius),
        bounds.density(n, epsilon, smoothness=1, radius=radius, family="lipschitz"),
        bounds.central_mean(n, dim, moment=moment, radius=radius, privacy="pure", epsilon=epsilon),
        bounds.central_mean(
            n, dim, moment=moment, radius=radius, privacy="approximate", epsilon=epsilon, delta=1 / (n + 1) ** 1.5
        ),
        bounds.central_density(n, 1 + dim % 6, epsilon),
    ):
        assert 0 < found.lower <= found.upper * (1 + 1e-12)


# The result -----------------------------------------------------------------------------------------------------------


@each("problem", PROBLEMS)
def test_numbers_give_floats_and_arrays_broadcast(problem):
    single, several = PROBLEMS[problem](50, 0.7), PROBLEMS[problem]([[50], [60]], [0.5, 0.7, 0.9])
    for name in ("lower", "upper", "rate", "nonprivate"):
        value = getattr(single, name)
        assert type(value) is float
        assert getattr(several, name).shape == (2, 3)
        assert getattr(several, name)[0, 1] == pytest.approx(value, rel=1e-12)
    assert single.loss in repr(single)
    assert single.source in repr(single)
    assert "shape (2, 3)" in repr(several)
    assert single.to_dict()["lower"] == single.lower
    assert several.to_dict()["upper"] == several.upper.tolist()
    assert single.gap == pytest.approx(single.upper / single.lower)


@pytest.mark.parametrize(
    "one, three",
    [
        (lambda: bounds.mean_1d(100, 1.0, moment=3), lambda: bounds.mean_1d(100, 1.0, moment=3, radius=3.0)),
        (lambda: bounds.mean_l2(100, 4, 1.0), lambda: bounds.mean_l2(100, 4, 1.0, radius=3.0)),
        (lambda: bounds.sparse_mean(100, 4, 1.0), lambda: bounds.sparse_mean(100, 4, 1.0, radius=3.0)),
        (lambda: bounds.logistic(100, 4, 1.0, radius=3.0), lambda: bounds.logistic(100, 4, 1.0)),
    ],
    ids=["mean_1d", "mean_l2", "sparse_mean", "logistic"],
)
def test_the_squared_error_scales_with_the_square_of_the_radius(one, three):
    """For coefficients, it scales with the inverse of the square."""
    assert three().lower == pytest.approx(9 * one().lower)
    assert three().upper == pytest.approx(9 * one().upper)


# Rates and constants --------------------------------------------------------------------------------------------------


@each(
    "problem, exponent",
    [
        ("local mean_1d 2", 0.5),
        ("local mean_1d 1.2", 1 / 6),
        ("local mean_1d 7", 6 / 7),
        ("local mean_1d inf", 1.0),
        ("local median", 0.5),
        ("local mean_l2 6", 1.0),
        ("local mean_l2 5000", 1.0),
        ("local multinomial 7", 1.0),
        ("local logistic 25", 0.99),
        ("local density 2", 2 / 3),
        ("local density Lipschitz", 0.5),
        ("central density 1", 2 / 3),
        ("central density 4", 1 / 3),
    ],
)
def test_both_bounds_have_the_rate_in_n(problem, exponent):
    """The rates are for large n and epsilon 1. The two central densities have the rate without privacy."""
    n = np.array([1e10, 1e12])
    found = PROBLEMS[problem](n, 1.0)
    for numbers in (found.lower, found.upper):
        assert math.log(numbers[0] / numbers[1]) / math.log(100) == pytest.approx(exponent, abs=0.02)


@each(
    "problem, most",
    [
        ("mean_1d inf", 5.5),
        ("mean_1d 2", 2.8),
        ("median", 5.5),
        ("mean_l2 1", 5.5),
        ("mean_l2 6", 25),
        ("multinomial 2", 8),
    ],
)
def test_the_gap_is_small(problem, most):
    """Upper bound over lower bound for 10,000 people and epsilon from 0.1 to 1."""
    assert (LOCAL[problem](10_000, np.array([0.1, 0.5, 1.0])).gap < most).all()


@each(
    "function, fixed",
    [
        (bounds.mean_1d, {"moment": 3}),
        (bounds.median, {"radius": 1}),
        (bounds.mean_l2, {"dim": 5}),
        (bounds.sparse_mean, {"dim": 50}),
        (bounds.multinomial, {"k": 9}),
        (bounds.logistic, {"dim": 5}),
        (bounds.density, {"smoothness": 2}),
        (bounds.gaussian_mean, {"sigma": 1}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_published_lower_bounds_are_weaker(function, fixed):
    for n in (10, 1000, 10**6):
        for a in (0.1, 0.5, 0.6):
            sharp, paper = function(n=n, epsilon=a, **fixed), function(n=n, epsilon=a, method="paper", **fixed)
            assert 0 <= paper.lower <= sharp.lower * (1 + 1e-9)
            assert paper.upper == sharp.upper
