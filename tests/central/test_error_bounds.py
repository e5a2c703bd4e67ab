"""Bounds on the error of central releases: the formulas, and coverage in simulations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from ldpfast import central

from ..support.cases import each
from ..support.statistics import ALPHA


def test_the_noise_of_smooth_sensitivity_is_within_the_bound():
    """Medians and trimmed means of uniform records, 300 each; the number within the bound against a binomial quantile.

    A distribution function within r of the uniform one on [-1, 1] can be constant on an interval of length 4 r. Moving 1 / n
    of the mass over it moves the median by this length and 2 / n more.
    """
    rng, n, runs = np.random.default_rng(4), 2000, 300
    eta = 0.05
    r = math.sqrt(2 * math.log(2 / eta) / n)
    options = {"epsilon": 1.0, "delta": 1e-4, "lower": -1.0, "upper": 1.0}
    bound = central.smooth_sensitivity_error(n, sensitivity=n * (4 * r + 2 / n), confidence=1 - 2 * eta, **options)
    assert 0.05 < bound < 4
    trimmed = central.smooth_sensitivity_error(n, sensitivity=2 / (1 - 2 * 0.1), confidence=1 - 2 * eta, **options)
    inside = np.zeros(2)
    for i in range(runs):
        x = rng.uniform(-1, 1, n)
        median = central.median(x, method="smooth-sensitivity", rng=i, **options).value
        inside[0] += abs(median - np.quantile(x, 0.5, method="inverted_cdf")) <= bound
        mean = central.trimmed_mean(x, 0.1, rng=i, **options).value
        inside[1] += abs(mean - stats.trim_mean(x, 0.1)) <= trimmed
    assert (inside >= stats.binom.ppf(ALPHA, runs, 1 - 2 * eta)).all()


def test_the_formula_of_the_noise():
    scale, beta = central.calibrate(0.5, delta=1e-3)
    for n, sensitivity, confidence in ((100, 1.0, 0.9), (10_000, 0.0, 0.99), (1, 3.0, 0.5)):
        eta = (1 - confidence) / 2
        found = central.smooth_sensitivity_error(
            n, epsilon=0.5, delta=1e-3, sensitivity=sensitivity, lower=2, upper=5, confidence=confidence
        )
        far = 3 * math.exp(-beta * max(0, math.sqrt(n * math.log(2 / eta) / 2) - 1))
        assert found == pytest.approx(scale * math.log(1 / eta) * max(2 * sensitivity / n, far), rel=1e-12)


@pytest.mark.parametrize("share", [0.5, 0.02])
def test_the_error_of_a_mean_is_within_the_bound(share):
    """Means of 0 and 1, with much or little variance. The bound is at most six times the quantile of the errors."""
    rng, n, runs = np.random.default_rng(5), 1000, 400
    deviation, sensitivity = math.sqrt(share * (1 - share)), max(share, 1 - share)
    bound = central.mean_error(n, epsilon=0.5, deviation=deviation, sensitivity=sensitivity, confidence=0.9)
    errors = [
        abs(
            central.trimmed_mean((rng.random(n) < share) + 0.0, 0.0, epsilon=0.5, lower=0, upper=1, rng=i).value - share
        )
        for i in range(runs)
    ]
    assert np.sum(np.array(errors) <= bound) >= stats.binom.ppf(ALPHA, runs, 0.9)
    assert bound <= 6 * np.quantile(errors, 0.9)


@each(
    "call, message",
    [
        (lambda **more: central.mean_error(**{**MEAN, **more}), name)
        for name in ("n", "epsilon", "deviation", "sensitivity", "confidence")
    ]
    + [
        (lambda **more: central.smooth_sensitivity_error(**{**SMOOTH, **more}), name)
        for name in ("n", "epsilon", "delta", "sensitivity", "lower", "confidence")
    ],
)
@each("bad", [-1.0, math.nan, "1", None])
def test_bad_arguments(call, message, bad):
    if (message, bad) == ("lower", -1.0):
        bad = 7.0
    with pytest.raises((TypeError, ValueError), match=message):
        call(**{message: bad})


MEAN = {"n": 10, "epsilon": 1.0, "deviation": 1.0, "sensitivity": 1.0}
SMOOTH = {"n": 10, "epsilon": 1.0, "delta": 1e-3, "sensitivity": 1.0, "lower": 0.0, "upper": 1.0}
