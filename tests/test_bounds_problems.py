"""Bounds of the problems: order, monotony, constants of the papers, what is wrong with some, and simulations in between."""

from __future__ import annotations

import math
import warnings
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

import ldpfast as ldp
from ldpfast import bounds, central, estimation
from ldpfast.bounds import _central, _local, _methods, _planning
from ldpfast.mechanisms import half_space_constant

from .support.statistics import ALPHA

INF = math.inf
LOCAL = {
    "mean 1.2": lambda n, a: bounds.mean_1d(n, a, 1.2, 3.0),
    "mean 2": lambda n, a: bounds.mean_1d(n, a, 2.0),
    "mean 7": lambda n, a: bounds.mean_1d(n, a, 7.0),
    "mean inf": lambda n, a: bounds.mean_1d(n, a, INF, 0.1),
    "median": lambda n, a: bounds.median(n, a, 2.0),
    "ball 1": lambda n, a: bounds.mean_l2(n, 1, a),
    "ball 6": lambda n, a: bounds.mean_l2(n, 6, a, 2.0),
    "ball 5000": lambda n, a: bounds.mean_l2(n, 5000, a),
    "sparse 1": lambda n, a: bounds.sparse_mean(n, 1, a),
    "sparse 40": lambda n, a: bounds.sparse_mean(n, 40, a),
    "shares 2": lambda n, a: bounds.multinomial(n, 2, a),
    "shares 7": lambda n, a: bounds.multinomial(n, 7, a),
    "shares 10**6": lambda n, a: bounds.multinomial(n, 10**6, a),
    "logistic 1": lambda n, a: bounds.logistic(n, 1, a, 3.0),
    "logistic 25": lambda n, a: bounds.logistic(n, 25, a),
    "density 0.6": lambda n, a: bounds.density(n, a, 0.6, 4.0),
    "density 2": lambda n, a: bounds.density(n, a, 2.0),
    "density 9": lambda n, a: bounds.density(n, a, 9.0, 100.0),
    "Lipschitz": lambda n, a: bounds.density(n, a, 1, 2.5, family="lipschitz"),
    "normal": lambda n, a: bounds.gaussian_mean(n, a, 2.0),
    "normal, far": lambda n, a: bounds.gaussian_mean(n, a, 1.0, 0.3, mu_bound=1e6),
}


def definition(privacy, epsilon):
    return {
        "privacy": privacy,
        "epsilon": np.minimum(epsilon, 1.0) if privacy == "tv" else epsilon,
        "delta": 1e-5 if privacy == "approximate" else 0.0,
    }


CENTRAL = {
    **{
        f"{privacy} mean {dim} {moment}": lambda n, a, p=privacy, d=dim, k=moment: bounds.central_mean(
            n, d, k, 2.0, **definition(p, a)
        )
        for privacy in _central.DEFINITIONS
        for dim, moment in ((1, 1.3), (1, 2.0), (20, 2.0), (20, INF))
    },
    **{
        f"{privacy} support": lambda n, a, p=privacy: bounds.central_support(n, t=3.0, **definition(p, a))
        for privacy in _central.DEFINITIONS
    },
    "density 1": lambda n, a: bounds.central_density(n, a, 1),
    "density 4": lambda n, a: bounds.central_density(n, a, 4),
    "range": lambda n, a: bounds.central_range(n, a, -1, 2),
    "sensitivity": lambda n, a: bounds.central_ges(n, a, 0.0, 2.0),
    "sensitivity, delta": lambda n, a: bounds.central_ges(n, a, 1e-4, 2.0),
}
ALL = {**{f"local {k}": v for k, v in LOCAL.items()}, **{f"central {k}": v for k, v in CENTRAL.items()}}

# Order and monotony ---------------------------------------------------------------------------------------------------

PEOPLE = np.unique(np.concatenate([np.arange(1, 20), np.geomspace(1, 1e12, 50).round()]))
LEVELS = np.sort(np.concatenate([np.geomspace(1e-6, 50, 50), [0.5, 1.0, 2.0]]))


@pytest.mark.parametrize("problem", ALL)
def test_lower_below_upper_and_both_fall(problem):
    """On a grid from one person to 1e12, epsilon from 1e-6 to 50."""
    found = ALL[problem](PEOPLE[:, None], LEVELS)
    assert np.isfinite(found.upper).all()
    assert (found.lower >= 0).all()
    assert (found.lower <= found.upper * (1 + 1e-12)).all()
    for numbers in (found.lower, found.upper):
        for axis in (0, 1):
            ahead = np.take(numbers, range(1, numbers.shape[axis]), axis=axis)
            behind = np.take(numbers, range(numbers.shape[axis] - 1), axis=axis)
            assert (ahead <= behind * (1 + 1e-9)).all()
    assert (found.rate >= 0).all()
    assert (found.nonprivate <= found.nonprivate[0] * (1 + 1e-9)).all()
    if problem != "central range":
        assert (found.lower > 0).all()


@given(
    st.sampled_from(sorted(ALL)),
    st.one_of(st.integers(1, 50), st.floats(0, 12).map(lambda x: round(10**x))),
    st.floats(-6, math.log10(50)),
    st.floats(1, 3),
    st.floats(1, 3),
)
def test_order_and_monotony_between_the_points_of_a_grid(problem, n, power, more_people, more_epsilon):
    epsilon = 10**power
    here = ALL[problem](n, epsilon)
    assert isinstance(here.lower, float)
    assert 0 <= here.lower <= here.upper * (1 + 1e-12)
    for there in (
        ALL[problem](math.ceil(n * more_people), epsilon),
        ALL[problem](n, min(50.0, epsilon * more_epsilon)),
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
def test_lower_below_upper_for_every_moment_dimension_and_smoothness(moment, dim, radius, smoothness, n, epsilon):
    for found in (
        bounds.mean_1d(n, epsilon, moment, radius),
        bounds.mean_l2(n, dim, epsilon, radius),
        bounds.sparse_mean(n, dim, epsilon, radius),
        bounds.multinomial(n, dim + 1, epsilon),
        bounds.logistic(n, dim, epsilon, radius),
        bounds.density(n, epsilon, smoothness, radius),
        bounds.density(n, epsilon, 1, radius, family="lipschitz"),
        bounds.central_mean(n, dim, moment, radius, privacy="pure", epsilon=epsilon),
        bounds.central_mean(n, dim, moment, radius, privacy="approximate", epsilon=epsilon, delta=1 / (n + 1) ** 1.5),
        bounds.central_density(n, epsilon, 1 + dim % 6),
    ):
        assert 0 < found.lower <= found.upper * (1 + 1e-12)


@pytest.mark.parametrize("problem", ALL)
def test_radii_are_units_and_numbers_are_floats(problem):
    single, several = ALL[problem](50, 0.7), ALL[problem]([[50], [60]], [0.5, 0.7, 0.9])
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


def test_a_radius_scales_the_squared_error():
    for one, three in (
        (bounds.mean_1d(100, 1.0, 3), bounds.mean_1d(100, 1.0, 3, 3.0)),
        (bounds.mean_l2(100, 4, 1.0), bounds.mean_l2(100, 4, 1.0, 3.0)),
        (bounds.sparse_mean(100, 4, 1.0), bounds.sparse_mean(100, 4, 1.0, 3.0)),
        (bounds.logistic(100, 4, 1.0, 3.0), bounds.logistic(100, 4, 1.0)),
    ):
        assert three.lower == pytest.approx(9 * one.lower)
        assert three.upper == pytest.approx(9 * one.upper)


# Rates ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "problem, exponent",
    [
        ("local mean 2", 0.5),
        ("local mean 1.2", 1 / 6),
        ("local mean 7", 6 / 7),
        ("local mean inf", 1.0),
        ("local median", 0.5),
        ("local ball 6", 1.0),
        ("local ball 5000", 1.0),
        ("local shares 7", 1.0),
        ("local logistic 25", 0.99),
        ("local density 2", 2 / 3),
        ("local Lipschitz", 0.5),
        ("central density 1", 2 / 3),
        ("central density 4", 1 / 3),
    ],
)
def test_both_bounds_have_the_rate(problem, exponent):
    """In n, where it is large; epsilon 1. The last two: as without privacy."""
    n = np.array([1e10, 1e12])
    found = ALL[problem](n, 1.0)
    for numbers in (found.lower, found.upper):
        assert math.log(numbers[0] / numbers[1]) / math.log(100) == pytest.approx(exponent, abs=0.02)


@pytest.mark.parametrize(
    "problem, most",
    [("mean inf", 5.5), ("mean 2", 2.8), ("median", 5.5), ("ball 1", 5.5), ("ball 6", 25), ("shares 2", 8)],
)
def test_how_much_is_unknown(problem, most):
    """Upper over lower for ten thousand people and epsilon from 0.1 to 1: the bounds are worth something."""
    assert (LOCAL[problem](10_000, np.array([0.1, 0.5, 1.0])).gap < most).all()


def test_published_constants_are_weaker():
    for n in (10, 1000, 10**6):
        for a in (0.1, 0.5, 0.6):
            for function, fixed in (
                (bounds.mean_1d, {"moment": 3}),
                (bounds.median, {"radius": 1}),
                (bounds.mean_l2, {"dim": 5}),
                (bounds.sparse_mean, {"dim": 50}),
                (bounds.multinomial, {"k": 9}),
                (bounds.logistic, {"dim": 5}),
                (bounds.density, {"smoothness": 2}),
                (bounds.gaussian_mean, {"sigma": 1}),
            ):
                sharp, paper = function(n=n, epsilon=a, **fixed), function(n=n, epsilon=a, mode="paper", **fixed)
                assert 0 <= paper.lower <= sharp.lower * (1 + 1e-9)
                assert paper.upper == sharp.upper


# Parts of the formulas ------------------------------------------------------------------------------------------------


def test_the_half_space_constant_of_arrays():
    dims = np.array([1, 2, 3, 4, 10, 199, 200, 399, 400, 401, 402, 403, 1000, 1001, 10**7, 10**7 + 1])
    np.testing.assert_allclose(
        _local.ball_constant(dims.astype(float)), [half_space_constant(int(d)) for d in dims], rtol=1e-12
    )
    odd = [half_space_constant(int(d) + (d % 2 == 0)) for d in dims]
    np.testing.assert_allclose(_local.half_space(dims.astype(float)), odd, rtol=1e-12)


@pytest.mark.parametrize("moment", [1.05, 1.5, 2.0, 3.5, 60.0])
@pytest.mark.parametrize("noise, spread", [(1e-6, 0.0), (1e-2, 1e-3), (3.0, 0.1), (1e-9, 1e-5)])
def test_the_best_level_of_clipping(moment, noise, spread):
    """Against a search over levels."""
    spread = spread if moment < 2 else 0.0
    constant = float(_local.clipping(np.array(moment)))

    def error(log_level):
        level = math.exp(log_level)
        return noise * level**2 + spread * level ** (2 - moment) + constant**2 * level ** (2 - 2 * moment)

    found = optimize.minimize_scalar(error, bounds=(-6, 300), method="bounded", options={"xatol": 1e-10}).fun
    grid = min(error(t) for t in np.linspace(-6, 60, 20_001))
    told = float(_local.best_clipping(np.array(noise), np.array(spread), np.array(moment)))
    assert told <= min(found, grid) * (1 + 1e-9)
    assert told >= grid * (1 - 1e-3)


@given(st.floats(1.0, 1e9), st.floats(1e-3, 40), st.floats(0.51, 12), st.floats(0.01, 100))
def test_the_best_numbers_of_terms_and_bins(n, a, beta, c):
    """Against all numbers up to four times the best."""
    noise = 2 / math.tanh(a / 2) ** 2 / n
    middle = (2 * beta * c**2 / (math.pi * noise)) ** (1 / (2 * beta + 2))
    k = np.arange(1.0, min(4 * middle + 12, 60_000), 2)
    risks = noise * k * _local.half_space(k) ** 2 + c**2 * (k + 1) ** (-2 * beta)
    told = float(_local._series(np.array(n), np.array(a), np.array(beta), np.array(c)))
    assert told == pytest.approx(min(c**2, risks.min()), rel=1e-9)
    bins = np.arange(2.0, min(65_536, 4 * (c**2 * n) ** (1 / 3) + 10))
    v = 1 / (4 * math.sinh(a / 4) ** 2)
    best = min(c**2 / 12, (c**2 / (12 * bins**2) + (bins - 1 + bins**2 * v) / n).min())
    assert float(_local._histogram(np.array(n), np.array(a), np.array(c))) == pytest.approx(best, rel=1e-9)
    for d in (1, 3):
        m = np.arange(2.0, n ** (1 / (d + 2)) * 2 + 5)
        risk = (m**d - 1) / n + 8 * m ** (2 * d) / (n * a) ** 2 + d / (12 * m**2)
        told = float(_central._cells(np.array(n), np.array(a), np.array(float(d))))
        assert told == pytest.approx(min(d / 12, risk.min()), rel=1e-9)


def test_the_chain_of_corners_is_what_assouad_says():
    """`corners` of two categories and of a number, against `assouad` and `le_cam` on the very families."""
    for n in (1, 10, 1000):
        for a in (0.1, 1.0, 5.0):
            told = bounds.mean_1d(n, a, INF).lower
            pairs = [
                bounds.le_cam([(1 + d) / 2, (1 - d) / 2], [(1 - d) / 2, (1 + d) / 2], n, a, 2 * d)
                for d in np.geomspace(1e-4, 1, 400)
            ]
            assert told <= max(pairs) * (1 + 1e-3)
            assert told >= 0.95 * max(pairs)
            shares = bounds.multinomial(n, 2, a).lower
            steps = np.geomspace(1e-4, 0.999, 400)
            two = [
                bounds.assouad([[(1 + c) / 2, (1 - c) / 2], [(1 - c) / 2, (1 + c) / 2]], n, a, math.sqrt(2) * c)
                for c in steps
            ]
            assert shares <= max(two) * (1 + 1e-3)


def test_the_families_of_shares_and_vectors_are_bounded_by_assouad_itself():
    """m pairs of categories, and independent signs: the closed forms are not above the method on the explicit family."""
    for n, a in ((5, 0.5), (50, 1.0), (500, 0.2)):
        best_shares, best_vectors = 0.0, 0.0
        for c in np.geomspace(0.01, 0.95, 40):
            v = 2 * ((np.arange(8)[:, None] >> np.arange(3)) & 1) - 1
            family = np.concatenate([1 + c * v, 1 - c * v], axis=1) / 6
            best_shares = max(best_shares, bounds.assouad(family, n, a, c / 3 * math.sqrt(2)))
            signs = v
            laws = np.array([np.prod(1 + c * corner * signs, axis=1) / 8 for corner in v])
            best_vectors = max(best_vectors, bounds.assouad(laws, n, a, 2 * c / math.sqrt(3)))
        single = bounds.mean_l2(n, 1, a).lower
        assert bounds.mean_l2(n, 3, a).lower <= max(best_vectors, single) * 1.6
        assert best_vectors <= bounds.mean_l2(n, 3, a).upper
        assert best_shares <= bounds.multinomial(n, 6, a).upper


def test_tilted_rows_have_the_divergence_that_is_used():
    """Rows of signs with x_j | y proportional to exp(y t x_j / 2): scores have the variance 4 sinh(t / 2)^2 and are
    orthogonal, and the divergence across an edge is t tanh(t / 2), at most half of that."""
    for t in (0.1, 0.5, 1.0):
        grid = np.array([(y, x1, x2) for y in (-1, 1) for x1 in (-1, 1) for x2 in (-1, 1)], float)

        def law(v, grid=grid, t=t):
            weight = np.exp(grid[:, 0] * t * (grid[:, 1:] * v).sum(axis=1) / 2)
            return weight / weight.sum()

        p = law(np.array([1, 1]))
        scores = [law(np.array(v)) / p - 1 for v in ([-1, 1], [1, -1])]
        assert p @ scores[0] ** 2 == pytest.approx(4 * math.sinh(t / 2) ** 2)
        assert p @ (scores[0] * scores[1]) == pytest.approx(0, abs=1e-15)
        kl = p @ -np.log1p(scores[0])
        assert kl == pytest.approx(t * math.tanh(t / 2))
        assert kl <= 2 * math.sinh(t / 2) ** 2
        odds = np.log(p[grid[:, 0] == 1] / p[grid[:, 0] == -1])
        np.testing.assert_allclose(odds, t * grid[grid[:, 0] == 1, 1:].sum(axis=1))
        second = (p[:, None, None] * grid[:, 1:, None] * grid[:, None, 1:]).sum(axis=0)
        assert np.linalg.eigvalsh(second).min() == pytest.approx(1 - math.tanh(t / 2) ** 2)
    assert 1 - math.tanh(0.5) ** 2 > 3 / 4  # so these rows are among those of the problem
    np.testing.assert_allclose(_local.CURVATURE, 0.75 * math.exp(1) / (1 + math.exp(1)) ** 2)


def test_tents_and_terms_are_densities_of_their_class():
    x = (np.arange(20_000) + 0.5) / 20_000
    for m in (2, 4, 8):
        width = 1 / m
        tent = np.minimum(x % width, width - x % width) * np.where((x // width) % 2 == 0, 1, -1)
        assert np.mean(tent[x < 2 * width] ** 2) * 2 * width == pytest.approx(width**3 / 6, rel=1e-3)
        assert 1 - tent.max() * m >= 1 / 2 - 1e-9
        # Hellinger of one sign, of slope 1, with the bound of the central density.
        first, second = 1 + tent, 1 - np.where(x < 2 * width, tent, -tent)
        hellinger = np.mean((np.sqrt(first) - np.sqrt(second)) ** 2)
        assert hellinger <= 0.2541 * 4 * m**-3 / 6 * (1 + 1e-6)
        assert np.mean(np.abs(first - second)) / 2 == pytest.approx(m**-2 / 2, rel=1e-3)
    for m in (1, 3):
        heights = sum(abs(np.sqrt(2) * np.cos(0 * x)) for _ in range(m)) / (2 * math.sqrt(2) * m)
        assert heights.max() <= 1 / 2 + 1e-12


# Central --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 4.0])
@pytest.mark.parametrize("n, t", [(1, 0.3), (7, 0.05), (60, 0.02), (500, 1e-4)])
def test_releases_are_not_farther_apart_than_by_the_exact_expectation(n, t, epsilon):
    """Of g(B), B binomial: the closed form is above it, by Jensen, and not by much."""
    j = np.arange(min(n, 150) + 1)
    mass = stats.binom.pmf(j, n, t)
    pure = mass @ np.tanh(j * epsilon / 2)
    assert pure <= bounds.tv_of_releases(n, t, epsilon=epsilon) * (1 + 1e-12) <= 1.3 * pure
    delta = 1e-3
    groups = delta * np.expm1(j * epsilon) / math.expm1(epsilon)
    approximate = mass @ np.minimum(1, np.tanh(j * epsilon / 2) + 2 * groups / (1 + np.exp(j * epsilon)))
    assert approximate <= bounds.tv_of_releases(n, t, privacy="approximate", epsilon=epsilon, delta=delta) * (1 + 1e-12)
    if epsilon <= 1:
        tv = mass @ np.minimum(1, j * epsilon)
        assert tv <= bounds.tv_of_releases(n, t, privacy="tv", epsilon=epsilon) * (1 + 1e-12)


def test_constants_of_central_lower_bounds():
    """Times the right power of n epsilon, where privacy is what costs."""
    n, a = 1000.0, 1e-2
    assert bounds.central_mean(n, 1, INF, privacy="tv", epsilon=a).lower * (n * a) ** 2 == pytest.approx(
        0.148, abs=2e-3
    )
    assert bounds.central_mean(n, 1, INF, privacy="pure", epsilon=a).lower * (n * a) ** 2 == pytest.approx(
        0.965, abs=1e-2
    )
    assert bounds.central_support(n, a, 1.0).lower * n * a == pytest.approx(0.125, abs=1e-3)
    assert bounds.central_ges(n, a, 0, 1.0).lower * n * a == pytest.approx(0.279, abs=3e-3)
    assert bounds.central_ges(n, a, 0, 1.0, mode="paper").lower * n * a == pytest.approx(0.0219, abs=5e-4)
    big = 1e9
    assert bounds.central_mean(big, 1, INF, privacy="pure", epsilon=50).lower * big == pytest.approx(0.207, abs=1e-3)
    assert bounds.central_density(1e8, 1e-5, 1).lower * 1e3 == pytest.approx(0.09, abs=0.01)
    assert bounds.central_density(1e9, 20, 1).lower * big ** (2 / 3) == pytest.approx(0.064, abs=0.01)
    assert bounds.central_range(10, 0.1, 0, 1).lower == pytest.approx(1 / (1 + math.e))
    assert bounds.central_range(10, 0.1, 0, 1, mode="paper").lower == pytest.approx(1 / (4 * (2 + math.e)))


@pytest.mark.parametrize("epsilon, delta", [(1e-3, 1e-2), (1e-4, 1e-3), (0.5, 1e-5)])
@pytest.mark.parametrize("dim", [1, 3])
def test_the_upper_bound_of_a_curator_is_near_the_risk_that_is_stated(epsilon, delta, dim):
    """For delta far above epsilon too: bounded rows, whose bound has no other terms than noise and sampling."""
    n = 10_000
    told = bounds.central_mean(n, dim, INF, privacy="approximate", epsilon=epsilon, delta=delta).upper
    x = np.zeros(n) if dim == 1 else np.zeros((n, dim))
    risk = central.mean(x, privacy="approximate", epsilon=epsilon, delta=delta, moment=INF, radius=1.0, rng=1).risk
    assert min(risk, 1.0) <= told * (1 + 1e-9) <= 1.01 * risk


def test_published_central_bounds_that_are_wrong():
    """Without a minimum with 1, Proposition 2 exceeds the risk of the answer 0; Proposition 3, that of t / 2."""
    published = bounds.central_mean(100, 1, INF, privacy="tv", epsilon=1e-3, mode="paper")
    assert published.lower == pytest.approx(1.5625)
    assert published.lower > published.upper == 1.0
    assert bounds.central_mean(100, 1, INF, privacy="tv", epsilon=1e-3).lower <= 1
    with pytest.raises(ValueError, match=r"Proposition 3, needs n epsilon >= 1/4, got n=1, epsilon=0.001$"):
        bounds.central_support(1, 1e-3, 1.0, mode="paper")
    assert 1 / (32 * 1e-3) > 0.5  # what it would have said, and the risk of the middle


def test_the_density_by_packing():
    """The constants behind the closed form, and how much weaker it is."""
    n, a = 1e6, 0.1
    for d in (1, 2, 3):
        sharp, packed = bounds.central_density(n, a, d), bounds.central_density(n, a, d, mode="packing")
        assert packed.lower < sharp.lower / 20
        assert packed.lower == bounds.central_density(n, a, d, mode="paper").lower
        m = 1 / math.sqrt(48 * (d + 1) * (d + 2) * packed.lower)
        assert m == pytest.approx(2 * round(m / 2))
        signs = m**d / 2
        points = int(Decimal(signs / 8).exp())  # too large for a double
        error = bounds.packing(max(2, points), int(n), 1 / (2 * m), epsilon=a)
        assert error >= 1 / 6
        separation = 4 * m ** -(d + 2) / ((d + 1) * (d + 2)) * signs / 4  # squared
        assert packed.lower <= separation / 4 * error


def test_released_records_refute_the_missing_dimension():
    """floor(n epsilon) records at random are tv private with a risk of r^2 / floor(n epsilon): above the lower bound for every
    dimension, of which it has the right power at k = 2."""
    for dim in (1, 10, 1000):
        lower = bounds.central_mean(10_000, dim, 2.0, privacy="tv", epsilon=0.01).lower
        assert lower <= 1 / 100
        assert lower >= 0.04 / 100


def test_clipped_records_of_a_low_moment_vary_more_than_the_radius():
    """With E|X|^k = 1 and k < 2 the sampling error is not at most 1 / n: p^(-1/k) with probability p."""
    k, p = 1.2, 0.01
    law = np.array([0.0, p ** (-1 / k)])
    assert p * law[1] ** k == pytest.approx(1)
    variance = p * law[1] ** 2 - (p * law[1]) ** 2
    assert variance > 15
    assert variance <= law[1] ** (2 - k)  # what the upper bounds take, at the level that just keeps it


def test_table_1():
    table = bounds.table1([100, 10_000], 5, 3, 2.0, epsilon=0.3, delta=1e-6)
    assert list(table) == ["pure", "smooth", "approximate", "kl", "tv"]
    for row in table.values():
        assert (row.lower < row.upper).all()
    np.testing.assert_array_equal(table["pure"].upper, table["smooth"].upper)
    u = {
        "pure": (5 / 3000) ** 2,
        "approximate": 5 * math.log(1e6) / 3000**2,
        "kl": 5 / 1e8 / 0.3,
        "tv": 5 / 3000**2,
    }
    for name, value in u.items():
        assert table[name].rate[1] == pytest.approx(4 * (value ** (2 / 3) + 1e-4))
    paper = bounds.table1(10_000, 5, 3, epsilon=0.3, mode="paper")
    assert paper["pure"].lower == pytest.approx((2.2 / 3000) ** (4 / 3) / 32)


def test_approximate_privacy_is_weaker_than_pure():
    for dim in (1, 30):
        pure = bounds.central_mean(1000, dim, 4, privacy="pure", epsilon=0.5).lower
        weaker = [
            bounds.central_mean(1000, dim, 4, privacy="approximate", epsilon=0.5, delta=delta).lower
            for delta in (1e-12, 1e-6, 1e-3, 0.5)
        ]
        assert weaker == sorted(weaker, reverse=True)
        assert weaker[0] <= pure * (1 + 1e-9)


@pytest.mark.parametrize("dim", [1, 3])
@pytest.mark.parametrize("privacy", ["pure", "smooth", "kl", "tv", "approximate"])
def test_the_mean_of_a_curator_errs_between_the_bounds(privacy, dim):
    """Mean squared error of 1500 private means of 50 people at -1 or 1 on one axis. The relative standard deviation of the mean
    of squares is below 0.07: seven of them."""
    rng, n, runs = np.random.default_rng(10), 50, 1500
    fixed = definition(privacy, 0.8)
    told = bounds.central_mean(n, dim, INF, **fixed)
    records = rng.choice([-1.0, 1.0], (runs, n, 1)) * np.eye(dim)[0]
    errors = [np.sum(central.mean(x, **fixed, moment=INF, radius=1.0, rng=rng).value ** 2) for x in records]
    assert told.lower < np.mean(errors) < told.upper * 1.5
    assert np.mean(errors) > told.upper / 2


# Local procedures, between the bounds ---------------------------------------------------------------------------------


class Simulation(NamedTuple):
    """Errors of a procedure on the hardest law that is at hand, whose mean (or quantile) is between the bounds."""

    bound: bounds.Bound
    errors: np.ndarray


def mean_of_clipped(rng):
    n, a, k, runs = 2000, 1.0, 3.0, 300
    plan = estimation.TruncatedMean(a, k, 1.0, n, "opt", "sign-bit")
    far = plan.level * k / (k - 1)
    share = far**-k  # E|X|^k = 1, mass beyond the level: about the largest bias
    values = [plan.run(far * (rng.random(n) < share), rng=rng).value for _ in range(runs)]
    return Simulation(bounds.mean_1d(n, a, k), (np.array(values) - far * share) ** 2)


def median_of_ends(rng):
    n, a, runs, d = 4000, 1.0, 300, 0.02
    errors = []
    for _ in range(runs):
        x = np.where(rng.random(n) < (1 + d) / 2, 1.0, -1.0)
        server = estimation.MedianSGD(a, -1.0, 1.0, n=n)
        position = float(value_of(server, x, rng))
        errors.append(d * (1 - position))
    return Simulation(bounds.median(n, a, 1.0), np.array(errors))


def value_of(server, *records):
    """The answer of a protocol, whatever its interval is worth for such a law."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ldp.SmallSampleWarning)
        return server.run(*records).value


def vectors(rng):
    n, d, a, runs = 1000, 8, 1.0, 400
    rows = rng.choice([-1.0, 1.0], (n, d)) / math.sqrt(d)
    errors = [(estimation.vector_mean(rows, a, rng=rng).value ** 2).sum() for _ in range(runs)]
    return Simulation(bounds.mean_l2(n, d, a), np.array(errors))


def sparse(rng):
    n, d, a, runs = 20_000, 30, 1.0, 60
    truth = np.zeros(d)
    truth[3] = 0.5
    errors = []
    for _ in range(runs):
        rows = np.where(rng.random((n, d)) < (1 + truth) / 2, 1.0, -1.0).astype(np.float32)
        errors.append(((estimation.sparse_mean(rows, a, radius=1.0, rng=rng).value - truth) ** 2).sum())
    return Simulation(bounds.sparse_mean(n, d, a), np.array(errors))


def shares(rng):
    n, k, a, runs = 3000, 9, 1.0, 400
    errors = []
    for _ in range(runs):
        x = rng.integers(0, k, n)
        errors.append(((estimation.frequencies(x, k, a, rng=rng).value - 1 / k) ** 2).sum())
    return Simulation(bounds.multinomial(n, k, a), np.array(errors))


def coefficients(rng):
    n, d, a, runs = 20_000, 2, 2.0, 60
    truth = np.array([0.4, -0.4])
    errors = []
    for _ in range(runs):
        rows = rng.choice([-1.0, 1.0], (n, d))
        y = rng.random(n) < 1 / (1 + np.exp(-rows @ truth))
        protocol = _planning.least_curvature_descent(d, a)
        errors.append(((value_of(protocol, rows, y.astype(float), rng) - truth) ** 2).sum())
    return Simulation(bounds.logistic(n, d, a), np.array(errors))


def series(rng):
    n, a, beta, runs = 5000, 1.0, 2.0, 60
    errors, points = [], (np.arange(512) + 0.5) / 512
    first = 0.5  # of the cosine: theta_1^2 <= 1
    inverse = np.interp(np.linspace(0, 1, 4001), *cumulative(first))
    for _ in range(runs):
        x = inverse[rng.integers(0, 4001, n)]
        estimate = estimation.series_density(x, a, smoothness=beta, rng=rng)
        truth = 1 + math.sqrt(2) * first * np.cos(2 * np.pi * points)
        errors.append(np.mean((estimate(points) - truth) ** 2))
    return Simulation(bounds.density(n, a, beta), np.array(errors))


def cumulative(first):
    edges = np.linspace(0, 1, 5001)
    below = edges + math.sqrt(2) * first * np.sin(2 * np.pi * edges) / (2 * np.pi)
    return below, edges


def histogram(rng):
    n, a, runs = 5000, 1.0, 100
    errors, points = [], (np.arange(1000) + 0.5) / 1000
    bins = estimation.HistogramDensity(a, n=n, lipschitz=2.0)
    for _ in range(runs):
        estimate = bins.run(np.sqrt(rng.random(n)), rng=rng)  # density 2 x
        errors.append(np.mean((estimate(points) - 2 * points) ** 2))
    return Simulation(bounds.density(n, a, 1, 2.0, family="lipschitz"), np.array(errors))


@pytest.mark.parametrize(
    "simulate, near",
    [
        (mean_of_clipped, 0.3),
        (median_of_ends, 0.02),
        (vectors, 0.9),
        (sparse, 0.01),
        (shares, 0.9),
        (coefficients, 0.001),
        (series, 0.3),
        (histogram, 0.3),
    ],
)
def test_procedures_err_between_the_bounds(simulate, near):
    """The mean error, give or take six of its own standard errors: wrong in less than 1e-8 of the builds. At least `near` of
    the upper bound, so that this one is worth something."""
    bound, errors = simulate(np.random.default_rng(11))
    slack = 6 * errors.std(ddof=1) / math.sqrt(len(errors))
    assert errors.mean() + slack > bound.lower
    assert errors.mean() - slack < bound.upper
    assert errors.mean() > near * bound.upper


def test_normal_means_err_between_the_bounds():
    """The published protocol where it is proved, and the robust one: the 95 % quantile of 300 errors. A share of errors within
    the upper bound below 0.95 would be seen; binomial quantiles at ALPHA."""
    n, a, sigma, runs = 4_000_000, 1.0, 2.0, 300
    told, rng = bounds.gaussian_mean(n, a, sigma, mu_bound=100.0), np.random.default_rng(12)
    assert told.upper < 1
    for variant in ("paper", "robust"):
        errors = []
        for _ in range(runs if variant == "paper" else 40):
            protocol = estimation.GaussianMean(a, sigma=sigma, mu_bound=100.0, variant=variant)
            errors.append(abs(float(protocol.simulate(n, 17.3, sigma, rng).value) - 17.3))
        inside = np.sum(np.array(errors) <= told.upper)
        assert inside >= stats.binom.ppf(ALPHA, len(errors), 0.95)
        # No procedure has all means within less than the lower bound with probability 0.95.
        assert np.quantile(errors, 0.95) > told.lower / 1.5


def test_upper_bounds_are_those_of_the_mechanisms_in_use():
    """Ideal coins against the library's: relative difference at most 1e-4, and never more privacy than promised."""
    for a in (0.01, 0.3, 1.0, 3.0, 10.0):
        n = 10**9
        ball = ldp.L2Ball(7, a)
        mine = min(ball.scale**2, 1 + 8 * (7 / a) ** 2)
        assert bounds.mean_l2(n, 7, a).upper * n == pytest.approx(mine, rel=1e-4)
        bit = ldp.SignBit(-1, 1, a)
        least = min(float(bit.variance(0.0)), 1 + float(ldp.Laplace(-1, 1, a).report.noise_variance))
        assert bounds.mean_1d(n * 10**3, a, INF).upper * n * 10**3 == pytest.approx(least, rel=1e-4)
        methods = [estimation.Frequencies(6, a, method).mechanism for method in ("k-ary", "symmetric", "optimized")]
        least = min(6 * float(m.debiasing.variance(1 / 6)) for m in methods)
        assert bounds.multinomial(n, 6, a).upper * n == pytest.approx(least, rel=1e-3)
        k = estimation.SeriesDensity(a, n=10**5, smoothness=2.0)
        own = k.terms * k.mechanism.scale**2 / 1e5 + (k.terms + 1.0) ** -4
        assert bounds.density(10**5, a, 2.0).upper <= own * (1 + 1e-4)


# Refusals -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: bounds.mean_1d(0, 1, 2), r"Corollary 1, needs n >= 1, got n=0$"),
        (lambda: bounds.mean_1d(10, 0, 2), r"Corollary 1, needs epsilon > 0, got epsilon=0$"),
        (lambda: bounds.mean_1d(10, 1, 1), r"Corollary 1, needs a moment > 1, got moment=1$"),
        (
            lambda: bounds.mean_1d(10, 1, 1e7),
            r"Corollary 1, needs a moment of at most 1e6, or infinite, got moment=1e\+07$",
        ),
        (lambda: bounds.mean_1d(10, 1, 2, -1), r"Corollary 1, needs radius > 0, got radius=-1$"),
        (lambda: bounds.mean_1d(10, 0.7, 2, mode="paper"), r"Corollary 1, needs epsilon <= 0.628571, got epsilon=0.7$"),
        (lambda: bounds.median(10, 1, 0), r"Corollary 2, needs radius > 0, got radius=0$"),
        (lambda: bounds.mean_l2(10, 0, 1), r"Corollary 4, needs dim >= 1, got dim=0$"),
        (lambda: bounds.mean_l2(10, 1.5, 1), r"Corollary 4, needs a whole dim, got dim=1.5$"),
        (lambda: bounds.sparse_mean(10, 3, INF), r"^epsilon must be finite numbers, got inf$"),
        (lambda: bounds.multinomial(10, 1, 1), r"Theorem 1, needs k >= 2, got k=1$"),
        (lambda: bounds.logistic(10, 1, 701), r"Corollary 6, needs epsilon <= 700, got epsilon=701$"),
        (lambda: bounds.density(10, 1, 0.5), r"Corollary 7, needs smoothness > 1/2, got smoothness=0.5$"),
        (
            lambda: bounds.density(10, 1, 2, family="lipschitz"),
            r"needs smoothness 1 for a Lipschitz density, got smoothness=2$",
        ),
        (
            lambda: bounds.density(10, 1, 2, family="hoelder"),
            r"^family must be one of 'sobolev', 'lipschitz', got 'hoelder'$",
        ),
        (lambda: bounds.gaussian_mean(10, 1, 1, 0.3, mode="paper"), r"needs beta in \(0, 0.25\), got beta=0.3$"),
        (lambda: bounds.gaussian_mean(10, 1, 1, 0.5), r"needs beta in \(0, 0.5\), got beta=0.5$"),
        (lambda: bounds.central_mean(9, 1, 2, privacy="local", epsilon=1), r"^privacy must be one of 'pure', 'smooth'"),
        (
            lambda: bounds.central_mean(9, 1, 2, privacy="tv", epsilon=2),
            r"needs epsilon <= 1 for tv privacy, got epsilon=2$",
        ),
        (
            lambda: bounds.central_mean(9, 1, 2, privacy="approximate", epsilon=1),
            r"needs 0 < delta < 1 for approximate privacy",
        ),
        (
            lambda: bounds.central_mean(9, 1, 2, privacy="pure", epsilon=1, delta=0.1),
            r"needs delta = 0 for pure privacy",
        ),
        (lambda: bounds.central_mean(9, 1, 1, privacy="pure", epsilon=1), r"Propositions 2 and 4, needs a moment > 1"),
        (
            lambda: bounds.central_support(9, 1, 1, privacy="pure", mode="paper"),
            r"needs privacy='tv' or 'kl', got 'pure'$",
        ),
        (
            lambda: bounds.central_density(9, 1, 2, mode="best"),
            r"^mode must be one of 'sharp', 'packing', 'paper', got 'best'$",
        ),
        (lambda: bounds.central_density(9, 1, 51), r"Proposition 5, needs dim <= 50, got dim=51$"),
        (lambda: bounds.central_range(9, 1, 2, 2), r"Theorem 2, needs low < high, got low=2, high=2$"),
        (
            lambda: bounds.central_ges(9, 0.4, 0, 1, mode="paper"),
            r"Theorem 1, needs epsilon < log\(2\) / 2, got epsilon=0.4$",
        ),
        (
            lambda: bounds.central_ges(9, 0.1, 0.1, 1, mode="paper"),
            r"needs delta <= \(1 - e\^-epsilon\) / 16, got delta=0.1",
        ),
        (lambda: bounds.central_ges(2, 0.1, 0, 1, mode="paper"), r"needs n >= ceil\(log 2 / \(2 epsilon\)\), got n=2"),
        (lambda: bounds.tv_of_releases(2, 1.1, epsilon=1), r"Theorem 2, needs tv in \[0, 1\], got tv=1.1$"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_vacuous_bound_says_why():
    told = bounds.central_range(10_000, 1.0, 0, 1)
    assert told.lower == 0
    assert told.source.endswith("lower = 0 where e^(-epsilon n) is below the least double")
    assert "lower = 0" not in bounds.central_range(10, 1.0, 0, 1).source
    assert bounds.sparse_mean(100, 1, 0.5, mode="paper").lower == 0
    assert bounds.sparse_mean(100, 1, 0.5, mode="paper").source.endswith("which nothing has to find")
    assert bounds.central_mean(100, 1, 2, privacy="pure", epsilon=0.1, mode="paper").source.endswith("epsilon < d / 2")


def test_small_factors_of_the_divergence():
    """Series and closed form meet; both grow."""
    a = np.array([1e-9, 9.99e-4, 1.001e-3, 1e-2, 1.0, 50.0])
    for factor in (_methods.chi_factor, _methods.forward_factor):
        values = factor(a)
        assert values[0] == pytest.approx(0.5, abs=1e-8)
        assert (np.diff(values) > 0).all()
        assert values[2] - values[1] < 2e-6
