"""Exact risks of estimators, and the rates at which they fall with the number of records.

The risk of an estimate is the risk of one decoded report over n, because an estimate is a mean of n independent ones.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from ldpfast import RankedSigns, SampledCube
from ldpfast.estimation import Frequencies, HistogramDensity, SeriesDensity, TruncatedMean, VectorMean
from ldpfast.mechanisms import for_ball

from ..support.cases import each
from ..support.noise_scales import l2_scale, linf_scale, sign_bit_factor
from ..support.statistics import ALPHA, bernstein_radius

SEED = 20240611
N = 100_000

pytestmark = pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")


# Exact risks ----------------------------------------------------------------------------------------------------------


def linear_density(x):
    """The density 0.5 + x on [0, 1]."""
    return 0.5 + x


def draw_linear(rng, n):
    return (np.sqrt(1 + 8 * rng.random(n)) - 1) / 2


def linear_coefficients(k):
    """Fourier coefficients of 0.5 + x.

    The integral of x sqrt2 cos(2 pi m x) is 0, the integral of x sqrt2 sin(2 pi m x) is -sqrt2 / (2 pi m).
    """
    j = np.arange(1, k + 1)
    return np.where(j % 2, 0.0, -math.sqrt(2) / (2 * math.pi * np.maximum(j // 2, 1)))


THETA = np.array([0.5, 0.3, 0.15, 0.05])


def unary_risk(k, theta, epsilon):
    e = math.exp(epsilon / 2)
    return 1 - theta @ theta + k * e / (e - 1) ** 2


def kary_risk(k, theta, epsilon):
    e = math.exp(epsilon)
    p, q = e / (e + k - 1), 1 / (e + k - 1)
    return k * q * (1 - q) / (p - q) ** 2 + (1 - 2 * q) / (p - q) - theta @ theta


def two_points(rng, n, dim, length):
    """Rows +-v of the given length, + with probability 3/4, and their mean v / 2."""
    row = np.full(dim, length / math.sqrt(dim))
    return np.where(rng.random((n, 1)) < 0.75, row, -row), row / 2


def vectors(dim, length):
    return lambda rng, n: two_points(rng, n, dim, length)


def categories(rng, n):
    return rng.choice(4, n, p=THETA), THETA


def clipped_uniform(rng, n):
    """Uniform on [-3, 3], clipped at 2.

    The distribution is symmetric, so clipping has no bias. E clip(X)^2 = (2/3) (4/3) + (1/3) 4.
    """
    return rng.uniform(-3, 3, n), 0.0


RISKS = {
    # problem; draw of records and the target; n times the risk, by the formula of the paper
    "l2": (VectorMean(3, 1.0, radius=2.0, mechanism="half-space"), vectors(3, 2.0), l2_scale(3, 1, 2.0) ** 2 - 1),
    "l2 wide": (VectorMean(40, 2.0, mechanism="half-space"), vectors(40, 1.0), l2_scale(40, 2) ** 2 - 0.25),
    "l2, best": (VectorMean(8, 6.0, radius=2.0), vectors(8, 2.0), for_ball(8, 6.0, radius=2.0).scale ** 2 - 1),
    "l2, signs": (
        VectorMean(64, 8.0, mechanism=RankedSigns(64, 8.0)),
        vectors(64, 1.0),
        RankedSigns(64, 8.0).scale ** 2 - 0.25,
    ),
    "linf odd": (
        VectorMean(5, 1.0, norm="linf", mechanism="half-space"),
        vectors(5, 5**0.5),
        5 * linf_scale(5, 1.0) ** 2 - 5 / 4,
    ),
    "linf even": (
        VectorMean(4, 0.5, norm="linf", radius=3.0, mechanism="half-space"),
        vectors(4, 6.0),
        4 * linf_scale(4, 0.5, 3.0) ** 2 - 9.0,
    ),
    "linf, best": (VectorMean(5, 4.0, norm="linf"), vectors(5, 5**0.5), 5 * SampledCube(5, 4.0).worst_variance - 5 / 4),
    "box": (
        VectorMean(2, 1.0, norm="linf", lower=0.0, upper=1.0, mechanism="half-space"),
        lambda rng, n: ((rng.random((n, 2)) < 0.5).astype(float), np.full(2, 0.5)),
        2 * linf_scale(2, 1.0, 0.5) ** 2,
    ),
    "symmetric": (Frequencies(4, 1.0, mechanism="symmetric"), categories, unary_risk(4, THETA, 1.0)),
    "k-ary": (Frequencies(4, 1.0, mechanism="k-ary"), categories, kary_risk(4, THETA, 1.0)),
    "series": (
        SeriesDensity(1.0, n_terms=6),
        lambda rng, n: (draw_linear(rng, n), linear_coefficients(6)),
        6 * linf_scale(6, 1.0, math.sqrt(2)) ** 2 - linear_coefficients(6) @ linear_coefficients(6),
    ),
    "histogram": (
        HistogramDensity(1.0, bins=2),
        lambda rng, n: (draw_linear(rng, n), np.array([0.375, 0.625])),
        unary_risk(2, np.array([0.375, 0.625]), 1.0),
    ),
    "sign-bit": (
        TruncatedMean(1.0, moment=2, radius=1.0, n=16, method=2.0, noise="sign-bit"),
        clipped_uniform,
        (2 * sign_bit_factor(1)) ** 2,
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("problem, draw, risk", RISKS.values(), ids=RISKS)
def test_risks_follow_the_formulas(problem, draw, risk):
    """E|Z - target|^2 of a decoded report Z is n times the risk of the mean.

    Bernstein's inequality: squared errors are in [0, M], so their variance is at most M times their mean. Detects
    errors of 2 to 4 percent.
    """
    x, target = draw(np.random.default_rng(SEED), N)
    reports = problem.privatize(x, rng=SEED)
    decoded = problem.mechanism.decode(reports).astype(np.float64)
    if isinstance(problem, VectorMean):
        decoded = problem._center + problem._half * decoded
    np.testing.assert_allclose(problem.estimate(reports).value, decoded.mean(0), rtol=1e-9, atol=1e-9)
    decoded = decoded.reshape(N, -1)
    lengths = np.linalg.norm(decoded, axis=1)  # all equal, or each coordinate has two values
    largest_norm = lengths.max() if np.ptp(lengths) < 1e-6 * lengths.max() else np.linalg.norm(np.abs(decoded).max(0))
    largest, squares = (largest_norm + np.linalg.norm(target)) ** 2, ((decoded - target) ** 2).sum(1)
    assert abs(squares.mean() - risk) <= bernstein_radius(largest * risk, largest, N, ALPHA)
    bias = np.abs(decoded.mean(0) - target).max()
    assert bias <= bernstein_radius(risk, math.sqrt(largest), N, ALPHA / np.size(target))


def test_series_density_loss_is_the_loss_of_the_terms_plus_the_tail():
    """The integral of (f_hat - f)^2 by the midpoint rule."""
    estimate = SeriesDensity(4.0, n_terms=4).run(draw_linear(np.random.default_rng(1), 500), rng=1)
    grid, theta = (np.arange(10**5) + 0.5) / 10**5, linear_coefficients(4)
    tail = 1 / 12 - theta @ theta  # 1 / 12 is the integral of (x - 1/2)^2
    loss = np.mean((estimate(grid) - linear_density(grid)) ** 2)
    assert loss == pytest.approx(np.sum((estimate.value - theta) ** 2) + tail, rel=1e-6)


# Rates ----------------------------------------------------------------------------------------------------------------


def slope(n, risk):
    return np.polyfit(np.log(n), np.log(risk), 1)[0]


def series_bound(n, beta, epsilon=1.0, radius=1.0, terms=None):
    problem = SeriesDensity(epsilon, n=n, smoothness=beta, radius=radius)
    k = problem.terms if terms is None else terms
    return k * linf_scale(k, epsilon, math.sqrt(2)) ** 2 / n + radius**2 * (k + 1) ** (-2 * beta)


def histogram_bound(n, noise, epsilon=1.0, slope=1.0, bins=None):
    bins = HistogramDensity(epsilon, n=n, noise=noise, lipschitz=slope).n_bins if bins is None else bins
    e = math.exp(epsilon / 2)
    variance = e / (e - 1) ** 2 if noise == "unary" else 8 / epsilon**2
    return slope**2 / (12 * bins**2) + bins**2 * variance / n


RATES = {
    "truncated 2": (
        -1 / 2,
        lambda n: TruncatedMean(0.5, moment=2, radius=1.0, n=n, method="optimal").mean_squared_error().total,
    ),
    "truncated 4": (
        -3 / 4,
        lambda n: TruncatedMean(0.5, moment=4, radius=1.0, n=n, method="optimal").mean_squared_error().total,
    ),
    "truncated 1.5": (-1 / 3, lambda n: TruncatedMean(0.5, moment=1.5, radius=1.0, n=n).mean_squared_error().total),
    "series 1": (-2 / 4, lambda n: series_bound(n, 1.0)),
    "series 2": (-4 / 6, lambda n: series_bound(n, 2.0)),
    "histogram": (-1 / 2, lambda n: histogram_bound(n, "unary")),
    "histogram laplace": (-1 / 2, lambda n: histogram_bound(n, "laplace")),
}


@each("rate, risk", RATES.values(), ids=RATES)
def test_risk_bounds_fall_at_the_optimal_rates(rate, risk):
    """Slopes of the exact bounds over four decades. Rounding the number of terms moves single points."""
    sizes = np.geomspace(1e7, 1e11, 25).astype(int)
    assert slope(sizes, [risk(int(n)) for n in sizes]) == pytest.approx(rate, abs=0.05)


@pytest.mark.long
@pytest.mark.parametrize("n", [100, 10_000, 10**6, 10**9])
@pytest.mark.parametrize("epsilon, beta, radius", [(1.0, 2.0, 1.0), (0.3, 1.0, 5.0), (4.0, 0.6, 0.5), (2.0, 6.0, 20.0)])
def test_numbers_of_terms_and_bins_minimize_the_bound(n, epsilon, beta, radius):
    terms = SeriesDensity(epsilon, n=n, smoothness=beta, radius=radius).terms
    assert terms == min(range(1, 3 * terms + 50), key=lambda k: series_bound(n, beta, epsilon, radius, k))
    for noise in ("unary", "laplace"):
        bins = HistogramDensity(epsilon, n=n, noise=noise, lipschitz=radius).n_bins
        for other in (bins - 1, bins + 1):
            if other >= 2:  # the package rounds the best real number of bins
                assert histogram_bound(n, noise, epsilon, radius) <= 1.2 * histogram_bound(
                    n, noise, epsilon, radius, other
                )
