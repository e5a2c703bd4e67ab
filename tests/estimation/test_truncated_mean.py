"""Means with a bounded moment: bias, error bounds and truncation levels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldpfast.estimation import TruncatedMean
from ldpfast.results import Normal

from ..support.cases import each
from ..support.noise_scales import sign_bit_factor
from ..support.statistics import least_count

NOISES = ["laplace", "sign-bit"]


@each("noise", NOISES)
@each("epsilon", [0.5, 1.0, 3.0])
def test_mean_squared_error_is_the_sum_of_its_parts(noise, epsilon):
    values, level, n = np.array([-5.0, -1.0, 0.0, 0.5, 1.5, 9.0]), 2.0, 50
    problem = TruncatedMean(epsilon, moment=2, radius=10.0, n=n, method=level, noise=noise)
    error, clipped = problem.mean_squared_error(values), np.clip(values, -level, level)
    assert error.sampling == pytest.approx(clipped.var() / n, rel=1e-12)
    exact = {
        "laplace": 8 * level**2 / epsilon**2,
        "sign-bit": (level * sign_bit_factor(epsilon)) ** 2 - np.mean(clipped**2),
    }[noise]
    assert error.noise == pytest.approx(exact / n, rel=1e-5)  # the grid adds some noise
    assert error.squared_bias == pytest.approx((values.mean() - clipped.mean()) ** 2, rel=1e-12)
    assert error.total == error.sampling + error.noise + error.squared_bias


@each(
    "moment, level, values",
    [
        (2, 1.0, [2, 0, 0, 0]),  # mass (r / x0)^k at x0 = k T / (k - 1)
        (2, 2.0, [4] + [0] * 15),
        (3, 1.0, [1.5] * 8 + [0] * 19),
        (1.5, 1 / 3 * 4, [4] + [0] * 7),
        (2, 1.0, [-2, 0, 0, 0]),
    ],
)
def test_bias_bound_is_attained(moment, level, values):
    problem = TruncatedMean(1.0, moment=moment, radius=1.0, n=100, method=level)
    assert np.mean(np.abs(values) ** moment) == pytest.approx(1, rel=1e-12)
    k = moment
    assert problem.bias_bound == pytest.approx((k - 1) ** (k - 1) / k**k * level ** (1 - k), rel=1e-12)
    assert problem.mean_squared_error(values).squared_bias == pytest.approx(problem.bias_bound**2, rel=1e-12)


@given(
    st.lists(st.floats(-100, 100), min_size=1, max_size=20).filter(lambda v: max(map(abs, v)) > 1e-3),
    st.floats(1.01, 12),
    st.floats(0.01, 100),
    st.sampled_from(["paper", "optimal", 0.5, 30.0]),
    st.sampled_from(NOISES),
    st.integers(1, 10**6),
)
def test_no_distribution_with_the_moment_exceeds_the_bounds(values, moment, radius, method, noise, n):
    """Any population, scaled to E|X|^k = r^k."""
    x = np.array(values)
    x *= radius / np.mean(np.abs(x / np.abs(x).max()) ** moment) ** (1 / moment) / np.abs(x).max()
    problem = TruncatedMean(1.0, moment=moment, radius=radius, n=n, method=method, noise=noise)
    error, bound = problem.mean_squared_error(x), problem.mean_squared_error()
    assert math.sqrt(error.squared_bias) <= problem.bias_bound * (1 + 1e-9) + 1e-12 * radius
    assert error.total <= bound.total * (1 + 1e-6)  # noise on a grid depends on the value in this digit


@each("noise", NOISES)
@each("moment", [1.2, 2, 3, 10])
def test_levels_of_the_methods(moment, noise):
    """ "paper": r (n epsilon^2)^(1/(2k)). "optimal": the smallest sum of noise and squared bias."""
    n, epsilon, radius = 10_000, 0.5, 3.0
    assert TruncatedMean(
        epsilon, moment=moment, radius=radius, n=n, method="paper", noise=noise
    ).level == pytest.approx(radius * (n * epsilon**2) ** (1 / (2 * moment)))

    def cost(method):
        problem = TruncatedMean(epsilon, moment=moment, radius=radius, n=n, method=method, noise=noise)
        return float(problem.mechanism.variance(0.0)) / n + problem.bias_bound**2

    level = TruncatedMean(epsilon, moment=moment, radius=radius, n=n, method="optimal", noise=noise).level
    assert all(cost("optimal") <= cost(level * factor) * (1 + 1e-6) for factor in (0.5, 0.9, 0.97, 1.03, 1.1, 2.0))
    assert cost("optimal") <= cost("paper")


def test_known_ends_shorten_the_interval():
    both = TruncatedMean(1.0, moment=2, radius=10.0, n=100, method=5.0, lower=0.0, upper=3.0)
    assert both.mechanism.domain.range == (0.0, 3.0)
    assert both.bias_bound == 0
    one = TruncatedMean(1.0, moment=2, radius=10.0, n=100, method=5.0, lower=0.0)
    assert one.mechanism.domain.range == (0.0, 5.0)
    assert one.bias_bound > 0


@pytest.mark.claim("The interval of a truncated mean covers where large records are rare.", "Estimates")
@pytest.mark.parametrize("noise, epsilon", [("laplace", 20.0), ("sign-bit", 20.0), ("laplace", 1.0)])
def test_intervals_cover_where_large_records_are_rare(noise, epsilon):
    """600 runs of the worst distribution with 1.4 large records of 100; with normal limits 0.915 at epsilon 20."""
    problem, runs = TruncatedMean(epsilon, moment=2, radius=1.0, n=100, method="optimal", noise=noise), 600
    place, rng, covering = 2 * problem.level, np.random.default_rng(1), 0
    for _ in range(runs):
        low, high = problem.run(place * (rng.random(100) < place**-2), rng=rng).interval()
        covering += bool(low <= 1 / place <= high)
    assert covering >= least_count(runs, 0.94 if epsilon == 1 else 0.97)


def test_limits_approach_normal_ones_with_a_bias():
    """For many records, also those of a test: the largest level at which the interval excludes a value."""
    n = 10**6
    problem = TruncatedMean(2.0, moment=4, radius=3.0, n=n, method=10.0)
    estimate = problem.run(np.random.default_rng(2).exponential(size=n), rng=1)
    low, high = estimate.interval()
    expected = Normal(problem.bias_bound).bounds(np.array(estimate.value), np.array(estimate.stderr), 0.025)
    np.testing.assert_allclose([low, high], expected, atol=0.02 * estimate.stderr)
    assert estimate.test(low, alternative="greater").pvalue == pytest.approx(0.025, rel=1e-6)
    assert estimate.test(high, alternative="greater").pvalue > 0.9
