"""Bounds of a density on an interval."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldpfast import bounds, estimation
from ldpfast.bounds import _density, _tools

from ..support.simulation import assert_mean_error_between

PEOPLE, EPSILONS, RADII = st.floats(1.0, 1e9), st.floats(1e-3, 40), st.floats(0.01, 100)


@given(PEOPLE, EPSILONS, st.floats(0.51, 12), RADII)
def test_best_number_of_terms(n, a, beta, c):
    """Comparison with all odd numbers up to four times the best."""
    noise = 2 / math.tanh(a / 2) ** 2 / n
    middle = (2 * beta * c**2 / (math.pi * noise)) ** (1 / (2 * beta + 2))
    k = np.arange(1.0, min(4 * middle + 12, 60_000), 2)
    risks = noise * k * _tools.half_space(k) ** 2 + c**2 * (k + 1) ** (-2 * beta)
    best = float(_density._series(np.array(n), np.array(a), np.array(beta), np.array(c)))
    assert best == pytest.approx(min(c**2, risks.min()), rel=1e-9)


@given(PEOPLE, EPSILONS, RADII)
def test_best_number_of_bins(n, a, c):
    """Comparison with all numbers up to four times the best."""
    bins = np.arange(2.0, min(65_536, 4 * (c**2 * n) ** (1 / 3) + 10))
    v = 1 / (4 * math.sinh(a / 4) ** 2)
    best = min(c**2 / 12, (c**2 / (12 * bins**2) + (bins - 1 + bins**2 * v) / n).min())
    assert float(_density._histogram(np.array(n), np.array(a), np.array(c))) == pytest.approx(best, rel=1e-9)


def test_tents_and_terms_are_densities_of_their_class():
    x = (np.arange(20_000) + 0.5) / 20_000
    for m in (2, 4, 8):
        width = 1 / m
        tent = np.minimum(x % width, width - x % width) * np.where((x // width) % 2 == 0, 1, -1)
        assert np.mean(tent[x < 2 * width] ** 2) * 2 * width == pytest.approx(width**3 / 6, rel=1e-3)
        assert 1 - tent.max() * m >= 1 / 2 - 1e-9
    for m in (1, 3):
        heights = sum(abs(np.sqrt(2) * np.cos(0 * x)) for _ in range(m)) / (2 * math.sqrt(2) * m)
        assert heights.max() <= 1 / 2 + 1e-12


def test_the_series_density_errs_between_the_bounds():
    n, a, beta, runs, rng = 5000, 1.0, 2.0, 60, np.random.default_rng(11)
    errors, points = [], (np.arange(512) + 0.5) / 512
    coefficient = 0.5  # coefficient of the cosine: theta_1^2 <= 1
    edges = np.linspace(0, 1, 5001)
    below = edges + math.sqrt(2) * coefficient * np.sin(2 * np.pi * edges) / (2 * np.pi)
    inverse = np.interp(np.linspace(0, 1, 4001), below, edges)
    for _ in range(runs):
        x = inverse[rng.integers(0, 4001, n)]
        estimate = estimation.series_density(x, a, smoothness=beta, rng=rng)
        truth = 1 + math.sqrt(2) * coefficient * np.cos(2 * np.pi * points)
        errors.append(np.mean((estimate(points) - truth) ** 2))
    assert_mean_error_between(bounds.density(n, a, beta), errors, near=0.3)


def test_the_histogram_density_errs_between_the_bounds():
    n, a, runs, rng = 5000, 1.0, 100, np.random.default_rng(11)
    errors, points = [], (np.arange(1000) + 0.5) / 1000
    bins = estimation.HistogramDensity(a, n=n, lipschitz=2.0)
    for _ in range(runs):
        estimate = bins.run(np.sqrt(rng.random(n)), rng=rng)  # density 2 x
        errors.append(np.mean((estimate(points) - 2 * points) ** 2))
    assert_mean_error_between(bounds.density(n, a, 1, 2.0, family="lipschitz"), errors, near=0.3)


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 3.0, 10.0])
def test_the_upper_bound_is_at_most_the_error_of_the_series_density(epsilon):
    n = 10**5
    series = estimation.SeriesDensity(epsilon, n=n, smoothness=2.0)
    risk = series.terms * series.mechanism.scale**2 / n + (series.terms + 1.0) ** -4
    assert bounds.density(n, epsilon, 2.0).upper <= risk * (1 + 1e-4)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: bounds.density(10, 1, 0.5), r"Corollary 7, needs smoothness > 1/2, got smoothness=0.5$"),
        (
            lambda: bounds.density(10, 1, 2, family="lipschitz"),
            r"needs smoothness 1 for a Lipschitz density, got smoothness=2$",
        ),
        (
            lambda: bounds.density(10, 1, 2, family="hoelder"),
            r"^family must be one of 'sobolev', 'lipschitz', got 'hoelder'$",
        ),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
