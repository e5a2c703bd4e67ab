"""Interval rules of estimates, and the warnings for small samples."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ldpfast.estimation import (
    Frequencies,
    HistogramDensity,
    MedianSGD,
    SeriesDensity,
    SparseMean,
    TruncatedMean,
    VectorMean,
)
from ldpfast.mechanisms import SignBit
from ldpfast.results import Estimate, Normal, RandomScaling, SmallSampleWarning, random_scaling, random_scaling_quantile

from ..support.cases import each
from ..support.statistics import ALPHA, bernstein_radius

SEED = 20240611


@given(st.floats(0, 50), st.floats(1e-3, 100), st.floats(0.01, 0.999999))
def test_known_bias_widens_the_interval_to_exact_coverage(bias, stderr, confidence):
    """Coverage equals the confidence if the bias is as large as its bound, and exceeds it for a smaller bias."""
    value = np.zeros(3)
    low, high = Normal(bias * stderr).bounds(value, np.full(3, stderr), (1 - confidence) / 2)
    np.testing.assert_array_equal(low, -high)
    margin = high[0] / stderr

    def covers(b):
        return stats.norm.sf(margin - b) + stats.norm.sf(margin + b)

    assert covers(bias) == pytest.approx(1 - confidence, rel=1e-6)
    assert all(covers(bias * fraction) <= (1 - confidence) * (1 + 1e-6) for fraction in (0, 0.3, 0.9))


@pytest.mark.parametrize("confidence, quantile", [(0.9, 5.323), (0.95, 6.747), (0.99, 10.017)])
@pytest.mark.long
def test_random_scaling_quantiles_agree_with_tables_and_simulation(confidence, quantile):
    """Tables have three decimals. Simulated Brownian motion is discrete: 2 / steps beside Bernstein's bound."""
    exact = random_scaling_quantile((1 - confidence) / 2)
    assert exact == pytest.approx(quantile, abs=1e-3)
    low, high = RandomScaling().bounds(np.array(3.0), np.array(2.0), (1 - confidence) / 2)
    assert (low + high) / 2 == pytest.approx(3.0)
    assert (high - low) / 2 == pytest.approx(2.0 * exact / math.sqrt(6))
    steps, runs = 300, 50_000
    rng, outside = np.random.default_rng(SEED), 0
    for _ in range(10):
        walk = np.cumsum(rng.standard_normal((runs // 10, steps), np.float32), axis=1)
        bridge = walk - np.outer(walk[:, -1], np.arange(1, steps + 1) / steps)
        outside += np.sum(np.abs(walk[:, -1]) > exact * np.sqrt(np.mean(bridge**2, axis=1)))
    assert abs(outside / runs - (1 - confidence)) <= bernstein_radius(0.1, 1, runs, ALPHA) + 2 / steps


def test_random_scaling_standard_error_follows_the_definition():
    """6 V / n with V = n^-2 sum of s^2 (mean of the first s - mean)^2."""
    n = 37
    x = np.random.default_rng(1).normal(5, 1, (n, 2))
    sums, s = np.cumsum(x, axis=0), np.arange(1, n + 1)[:, np.newaxis]
    direct = np.sum(s**2 * (sums / s - sums[-1] / n) ** 2, axis=0) / n**2
    given_sums = random_scaling(n, sums[-1], (sums**2).sum(0), (s * sums).sum(0))
    np.testing.assert_allclose(given_sums**2, 6 * direct / n, rtol=1e-9)


def test_tests_of_averages_invert_their_intervals():
    """Also of numbers that are far from the hypothesis, and of those without a standard error, which have no p-value."""
    value, stderr = np.array([1.0, -2.0, 0.5, 1e5, 1.0]), np.array([0.5, 0.7, 1.0, 1.0, np.nan])
    estimate = Estimate(value, stderr, 1000, SignBit(0, 1, 1.0).guarantee, None, RandomScaling())
    pvalue = np.asarray(estimate.test(0.0).pvalue)
    for j in range(3):
        low, high = estimate.interval(1 - pvalue[j])
        assert min(abs(low[j]), abs(high[j])) < 1e-6
    assert 0 < pvalue[3] < 1e-200
    assert np.isnan(pvalue[4])


SUFFICIENT = {
    "truncated": (TruncatedMean(1.0, moment=2, radius=1.0, n=100).run, 100),
    "l2": (lambda x: VectorMean(1, 1.0).run(x[:, np.newaxis]), 100),
    "series": (SeriesDensity(1.0, n_terms=1).run, 100),
    "histogram laplace": (HistogramDensity(1.0, bins=2, noise="laplace").run, 100),
    "median": (lambda x: MedianSGD(3.0, lower=0, upper=1).run(x), MedianSGD(3.0, lower=0, upper=1).sufficient_n),
    "histogram": (HistogramDensity(1.0, bins=2).run, 1),
    "sparse": (lambda x: SparseMean(1, 1.0, radius=1.0).run(x[:, np.newaxis]), 1),
    "frequencies": (lambda x: Frequencies(2, 1.0).run(x.astype(int)), 1),
}


@pytest.mark.filterwarnings("error", "ignore::ldpfast.DoubtfulWarning")
@each("run, least", SUFFICIENT.values(), ids=SUFFICIENT)
def test_too_few_reports_for_an_interval_are_a_warning(run, least):
    assert run(np.zeros(least)).n == least
    if least > 1:
        with pytest.warns(SmallSampleWarning, match=rf"^n = {least - 1} is too small .* at least {least}$"):
            run(np.zeros(least - 1))
