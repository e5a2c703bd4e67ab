"""Bounds of the mean of a number with a bounded moment."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import bounds, estimation

from ..support.cases import each
from ..support.simulation import assert_mean_error_between


def test_the_lower_bound_is_that_of_le_cam():
    """The closed form equals `le_cam` on two points at +-1 with masses (1 + d) / 2 and (1 - d) / 2."""
    for n in (1, 10, 1000):
        for a in (0.1, 1.0, 5.0):
            lower = bounds.mean_1d(n, a, moment=math.inf).lower
            pairs = [
                bounds.methods.le_cam(
                    n, a, p=[(1 + d) / 2, (1 - d) / 2], q=[(1 - d) / 2, (1 + d) / 2], separation=2 * d
                )
                for d in np.geomspace(1e-4, 1, 400)
            ]
            assert lower <= max(pairs) * (1 + 1e-3)
            assert lower >= 0.95 * max(pairs)


def test_the_truncated_mean_errs_between_the_bounds():
    """With mass only at 0 and beyond the truncation radius, and E|X|^k = 1, the bias is nearly the largest."""
    n, a, k, runs, rng = 2000, 1.0, 3.0, 300, np.random.default_rng(11)
    plan = estimation.TruncatedMean(a, moment=k, radius=1.0, n=n, method="optimal", noise="sign-bit")
    far = plan.level * k / (k - 1)
    share = far**-k
    values = [plan.run(far * (rng.random(n) < share), rng=rng).value for _ in range(runs)]
    assert_mean_error_between(bounds.mean_1d(n, a, moment=k), (np.array(values) - far * share) ** 2, near=0.3)


@each("epsilon", [0.01, 0.3, 1.0, 3.0, 10.0])
def test_the_upper_bound_is_the_error_of_the_better_mechanism(epsilon):
    """Relative difference of at most 1e-4 between ideal coins and the coins in use."""
    n = 10**12
    bit = ldp.SignBit(-1, 1, epsilon)
    least = min(float(bit.variance(0.0)), 1 + float(ldp.Laplace(-1, 1, epsilon).report.noise_variance))
    assert bounds.mean_1d(n, epsilon, moment=math.inf).upper * n == pytest.approx(least, rel=1e-4)


@each(
    "call, message",
    [
        (lambda: bounds.mean_1d(0, 1, moment=2), r"Corollary 1, needs n >= 1, got n=0$"),
        (lambda: bounds.mean_1d(10, 0, moment=2), r"Corollary 1, needs epsilon > 0, got epsilon=0$"),
        (lambda: bounds.mean_1d(10, 1, moment=1), r"Corollary 1, needs a moment > 1, got moment=1$"),
        (
            lambda: bounds.mean_1d(10, 1, moment=1e7),
            r"Corollary 1, needs a moment of at most 1e6, or infinite, got moment=1e\+07$",
        ),
        (lambda: bounds.mean_1d(10, 1, moment=2, radius=-1), r"Corollary 1, needs radius > 0, got radius=-1$"),
        (
            lambda: bounds.mean_1d(10, 0.7, moment=2, method="paper"),
            r"Corollary 1, needs epsilon <= 0.628571, got epsilon=0.7$",
        ),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
