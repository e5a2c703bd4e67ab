"""Maximum likelihood: estimates, covariances and goodness of fit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, stats

import ldpfast as ldp

from ...support.cases import each
from ...support.internals.gaussian import ReportDistribution, gaussian_fit, gaussian_levels
from ...support.statistics import ALPHA

SEED = 20261123


def two_rounds(center, scale):
    """The distribution for the questions of a search and of four thresholds."""
    levels = gaussian_levels.Levels(1.0, 0.5, 64.0).questions
    return ReportDistribution([*levels, *(ldp.Bins(center + cut * scale, 1.0) for cut in (-1, 0, 0, 1))])


def random_counts(distribution, mu, sigma, people, rng):
    p = distribution.reports(mu, sigma).value[0]
    return np.concatenate([rng.multinomial(people, p[piece] / p[piece].sum()) for piece in distribution.slices])


def covariance_of(distribution, sizes, mu, sigma, known):
    """Inverse of the expected information, from finite differences of the probabilities."""
    h = 1e-5 * sigma
    moves = ((h, 0.0),) if known else ((h, 0.0), (0.0, h))
    slopes = [
        (distribution.reports(mu + a, sigma + b).value[0] - distribution.reports(mu - a, sigma - b).value[0]) / (2 * h)
        for a, b in moves
    ]
    return np.linalg.inv((np.array(slopes) * sizes / distribution.reports(mu, sigma).value[0]) @ np.array(slopes).T)


@each("seed", range(8))
@each("known", [True, False])
def test_fit_maximizes_the_likelihood(seed, known):
    """SciPy maximizes the likelihood from the true values; the fit starts 0.7 sigma away."""
    rng = np.random.default_rng([SEED, seed])
    mu, sigma = rng.uniform(-60, 60), rng.uniform(0.8, 6.0)
    distribution = two_rounds(mu + 0.5 * sigma, 1.2 * sigma)
    counts = random_counts(distribution, mu, sigma, 4000, rng)
    bounds = None if known else (0.5, 8.0)
    start = sigma if known else 0.8 * sigma
    fit = gaussian_fit.maximize(distribution, counts, mu + 0.7 * sigma, start, bounds, 4.0)

    def loss(at):
        return -float(distribution.log_likelihood(counts.astype(float), at[0], sigma if known else abs(at[1]))[0])

    best = optimize.minimize(
        loss, [mu] if known else [mu, sigma], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}
    )
    sizes = distribution.sizes(counts.astype(float))
    expected = covariance_of(distribution, sizes, fit.mu, fit.sigma, known)
    errors = np.sqrt(np.diag(expected))
    assert abs(fit.mu - best.x[0]) < 1e-3 * errors[0]
    assert -loss([fit.mu, fit.sigma]) >= -best.fun - 1e-6
    np.testing.assert_allclose(fit.covariance, expected, rtol=1e-5)
    if known:
        assert fit.sigma == sigma
    else:
        assert abs(fit.sigma - best.x[1]) < 1e-3 * errors[1]


@pytest.mark.parametrize("bounds, truth, end", [((0.5, 2.0), 3.0, 2.0), ((2.0, 8.0), 1.3, 2.0)])
def test_scale_beyond_its_bounds_is_set_to_their_end(bounds, truth, end):
    """mu is the best for that sigma, with the variance for a known sigma. The variance of sigma is infinite."""
    rng, mu = np.random.default_rng(SEED), 7.7
    distribution = two_rounds(mu + 0.3, 1.2)
    counts = random_counts(distribution, mu, truth, 10_000, rng)
    fit = gaussian_fit.maximize(distribution, counts, mu + 0.5, 2.0, bounds, 4.0)
    assert fit.sigma == end

    def loss(at):
        return -float(distribution.log_likelihood(counts.astype(float), at, end)[0])

    best = optimize.minimize_scalar(loss, bounds=(mu - 2, mu + 2), method="bounded", options={"xatol": 1e-9})
    ((variance,),) = covariance_of(distribution, distribution.sizes(counts.astype(float)), fit.mu, end, True)
    assert abs(fit.mu - best.x) < 1e-3 * math.sqrt(variance)
    assert fit.covariance[0, 0] == pytest.approx(variance, rel=1e-5)
    assert np.isinf(fit.covariance[1, 1])
    assert fit.covariance[0, 1] == fit.covariance[1, 0] == 0


def test_fit_stays_within_its_reach():
    distribution = two_rounds(0.0, 1.0)
    counts = random_counts(distribution, 30.0, 1.0, 4000, np.random.default_rng(SEED))
    assert abs(gaussian_fit.maximize(distribution, counts, 0.0, 1.0, None, 4.0).mu) <= 4.0


@pytest.mark.long
def test_goodness_is_uniform_under_the_model():
    """Pearson's test: degrees of freedom are the free counts minus the parameters.

    Kolmogorov-Smirnov test of 300 p-values: detects a distance of 0.19.
    """
    distribution, rng = two_rounds(3.0, 2.0), np.random.default_rng(SEED)
    for bounds in (None, (0.5, 8.0)):
        counts = (random_counts(distribution, 3.0, 2.0, 3000, rng) for _ in range(300))
        fits = (gaussian_fit.maximize(distribution, own, 3.0, 2.0, bounds, 4.0) for own in counts)
        p = [fit.goodness(distribution.slices) for fit in fits]
        assert stats.kstest(p, "uniform").pvalue > ALPHA
