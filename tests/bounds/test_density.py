"""Bounds of a density on an interval."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldpfast import bounds, estimation

from ..support.cases import each
from ..support.internals.bounds import chi_factor, tools, tv_from_kl
from ..support.modules import module_of
from ..support.simulation import assert_mean_error_between

inside = module_of(bounds.density)

PEOPLE, EPSILONS, RADII = st.floats(1.0, 1e9), st.floats(1e-3, 40), st.floats(0.01, 100)


@given(PEOPLE, EPSILONS, st.floats(0.51, 12), RADII)
def test_best_number_of_terms(n, a, beta, c):
    """Comparison with all odd numbers up to four times the best."""
    noise = 2 / math.tanh(a / 2) ** 2 / n
    middle = (2 * beta * c**2 / (math.pi * noise)) ** (1 / (2 * beta + 2))
    k = np.arange(1.0, min(4 * middle + 12, 60_000), 2)
    risks = noise * k * tools.half_space(k) ** 2 + c**2 * (k + 1) ** (-2 * beta)
    best = float(inside._series_risk(np.array(n), np.array(a), np.array(beta), np.array(c)))
    assert best == pytest.approx(min(c**2, risks.min()), rel=1e-9)


@given(PEOPLE, EPSILONS, RADII)
def test_best_number_of_bins(n, a, c):
    """Comparison with all numbers up to four times the best."""
    bins = np.arange(2.0, min(65_536, 4 * (c**2 * n) ** (1 / 3) + 10))
    v = 1 / (4 * math.sinh(a / 4) ** 2)
    best = min(c**2 / 12, (c**2 / (12 * bins**2) + (bins - 1 + bins**2 * v) / n).min())
    assert float(inside._histogram_risk(np.array(n), np.array(a), np.array(c))) == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("n, epsilon, slope", [(30.0, 1.0, 1.0), (1e3, 0.3, 5.0), (1e4, 1.0, 2.0), (3e3, 3.0, 2.0)])
def test_tents_give_the_lower_bound(n, epsilon, slope):
    """Search over pairs of tents whose norms and heights are integrated numerically, for densities of at least 1/2."""
    x, best = (np.arange(20_160) + 0.5) / 20_160, 0.0
    capacity = min(math.expm1(epsilon) ** 2 / 4, 2 * float(chi_factor(np.array(epsilon))) * math.sinh(epsilon / 2) ** 2)
    for m in range(2, 72, 2):
        width = 1 / m
        tent = np.minimum(x % width, width - x % width) * np.where((x // width) % 2 == 0, 1, -1)
        square = np.mean(np.where(x < 2 * width, tent, 0) ** 2)  # of one pair with slope 1
        for s in inside.FEW_DISTANCES:
            divergence = max(2 * s**2, -math.log(1 - s**2))  # at which the total variation is s
            few = (
                divergence / (n * capacity * 8 * square / m),
                divergence / (n * 8 * square * math.tanh(epsilon / 2) ** 2),
            )
            g = min(slope, 0.5 / tent.max(), math.sqrt(max(few)))
            best = max(best, m / 2 * square * g**2 * (1 - s))
    assert bounds.density(n, epsilon, smoothness=1, radius=slope, family="lipschitz").lower == pytest.approx(
        best, rel=2e-3
    )


@pytest.mark.parametrize("n, epsilon, beta, c", [(30.0, 1.0, 2.0, 1.0), (1e4, 0.3, 1.0, 3.0), (3e3, 2.0, 0.7, 2.0)])
def test_terms_give_the_lower_bound(n, epsilon, beta, c):
    """Search over blocks of terms with equal coefficients in the ellipsoid, for densities of at least 1/2.

    The bound has one total variation distance for each route, which costs up to 15 %.
    """
    x, best = np.arange(4096) / 4096, 0.0
    capacity = min(math.expm1(epsilon) ** 2 / 4, 2 * float(chi_factor(np.array(epsilon))) * math.sinh(epsilon / 2) ** 2)
    for m in range(1, 65):
        block = np.arange(m + 1, 2 * m + 1)
        height = (
            math.sqrt(2) * np.abs(np.cos(2 * np.pi * np.outer(x[:1], block))).sum(axis=1)
        ).max()  # all aligned at 0
        g2 = min(c**2 / (m * (2.0 * m) ** (2 * beta)), (0.5 / height) ** 2) * np.geomspace(1e-4, 1, 2000)
        kl = n * np.minimum(4 * g2 * capacity / m, 8 * g2 * math.tanh(epsilon / 2) ** 2)
        best = max(best, float((m * g2 * (1 - tv_from_kl(kl))).max()))
    lower = float(bounds.density(n, epsilon, smoothness=beta, radius=c).lower)
    assert 0.85 * best <= lower <= best * (1 + 1e-3)


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
    assert_mean_error_between(bounds.density(n, a, smoothness=beta), errors, near=0.3)


def test_the_histogram_density_errs_between_the_bounds():
    n, a, runs, rng = 5000, 1.0, 100, np.random.default_rng(11)
    errors, points = [], (np.arange(1000) + 0.5) / 1000
    bins = estimation.HistogramDensity(a, n=n, lipschitz=2.0)
    for _ in range(runs):
        estimate = bins.run(np.sqrt(rng.random(n)), rng=rng)  # density 2 x
        errors.append(np.mean((estimate(points) - 2 * points) ** 2))
    assert_mean_error_between(bounds.density(n, a, smoothness=1, radius=2.0, family="lipschitz"), errors, near=0.3)


@each("epsilon", [0.01, 0.3, 1.0, 3.0, 10.0])
def test_the_upper_bound_is_at_most_the_error_of_the_series_density(epsilon):
    n = 10**5
    series = estimation.SeriesDensity(epsilon, n=n, smoothness=2.0)
    risk = series.terms * series.mechanism.scale**2 / n + (series.terms + 1.0) ** -4
    assert bounds.density(n, epsilon, smoothness=2.0).upper <= risk * (1 + 1e-4)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: bounds.density(10, 1, smoothness=0.5), r"Corollary 7, needs smoothness > 1/2, got smoothness=0.5$"),
        (
            lambda: bounds.density(10, 1, smoothness=2, family="lipschitz"),
            r"needs smoothness 1 for a Lipschitz density, got smoothness=2$",
        ),
        (
            lambda: bounds.density(10, 1, smoothness=2, family="hoelder"),
            r"^family must be one of 'sobolev', 'lipschitz', got 'hoelder'$",
        ),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
