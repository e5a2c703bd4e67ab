"""Bounds of the mean of normal records."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ldpfast import bounds, estimation

from ..support.statistics import ALPHA


@pytest.mark.long
@pytest.mark.parametrize("method, runs, beta", [("paper", 300, 0.0009), ("robust", 200, 0.05), ("robust", 200, 0.3)])
def test_the_gaussian_mean_errs_between_the_bounds(method, runs, beta):
    """The errors of the published protocol within its proved bound, and of the robust protocol within the asymptotic one.

    Their number is compared with a binomial quantile at ALPHA. No procedure has an error below the lower bound with
    probability 1 - beta for all means. The asymptotic bound is at most 1.25 times the quantile of the errors.
    """
    n, a, sigma = 4_000_000, 1.0, 2.0
    bound, rng = bounds.gaussian_mean(n, a, sigma=sigma, beta=beta, mu_bound=100.0), np.random.default_rng(12)
    assert bound.upper < 1
    errors = []
    for _ in range(runs):
        protocol = estimation.GaussianMean(a, sigma=sigma, mu_bound=100.0, method=method)
        errors.append(abs(float(protocol.simulate(n, 17.3, sigma, rng=rng).value) - 17.3))
    inside = np.sum(np.array(errors) <= bound.upper)
    assert inside >= stats.binom.ppf(ALPHA, len(errors), 1 - beta)
    assert np.quantile(errors, 1 - beta) > bound.lower / 1.5
    if method == "robust":
        assert bound.upper <= 1.25 * np.quantile(errors, 1 - beta)


@pytest.mark.long
def test_planning_gives_about_the_people_that_the_protocol_needs():
    """The planned number is safe for the search, and within a factor of 1.3 of the least one with the wanted error."""
    n = bounds.sample_size(bounds.gaussian_mean, 0.1, epsilon=1.0, sigma=1.0)
    protocol = estimation.GaussianMean(1.0, sigma=1.0, mu_bound=1024.0)
    plan = protocol.plan(n)
    assert plan.kappa >= plan.safe_kappa
    errors = [abs(float(protocol.simulate(n, 17.3, 1.0, rng=i).value) - 17.3) for i in range(200)]
    assert 0.1 / 1.3**0.5 <= np.quantile(errors, 0.95) <= 0.1 * 1.15


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: bounds.gaussian_mean(10, 1, sigma=1, beta=0.3, method="paper"),
            r"needs beta in \(0, 0.25\), got beta=0.3$",
        ),
        (lambda: bounds.gaussian_mean(10, 1, sigma=1, beta=0.5), r"needs beta in \(0, 0.5\), got beta=0.5$"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
