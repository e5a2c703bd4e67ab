"""Bounds of the mean of normal records."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ldpfast import bounds, estimation

from ..support.statistics import ALPHA


@pytest.mark.parametrize("variant, runs", [("paper", 300), ("robust", 40)])
def test_the_gaussian_mean_errs_between_the_bounds(variant, runs):
    """The 95 % quantile of the errors of the published protocol, under its conditions, and of the robust protocol.

    The number of errors within the upper bound is compared with a binomial quantile at ALPHA. No procedure has an error
    below the lower bound with probability 0.95 for all means.
    """
    n, a, sigma = 4_000_000, 1.0, 2.0
    bound, rng = bounds.gaussian_mean(n, a, sigma, mu_bound=100.0), np.random.default_rng(12)
    assert bound.upper < 1
    errors = []
    for _ in range(runs):
        protocol = estimation.GaussianMean(a, sigma=sigma, mu_bound=100.0, variant=variant)
        errors.append(abs(float(protocol.simulate(n, 17.3, sigma, rng).value) - 17.3))
    inside = np.sum(np.array(errors) <= bound.upper)
    assert inside >= stats.binom.ppf(ALPHA, len(errors), 0.95)
    assert np.quantile(errors, 0.95) > bound.lower / 1.5


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: bounds.gaussian_mean(10, 1, 1, 0.3, mode="paper"), r"needs beta in \(0, 0.25\), got beta=0.3$"),
        (lambda: bounds.gaussian_mean(10, 1, 1, 0.5), r"needs beta in \(0, 0.5\), got beta=0.5$"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
