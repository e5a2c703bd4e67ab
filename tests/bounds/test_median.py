"""Bounds of the median."""

from __future__ import annotations

import numpy as np
import pytest

from ldpfast import bounds, estimation

from ..support.simulation import assert_mean_error_between, run_ignoring_small_samples


def test_the_median_sgd_errs_between_the_bounds():
    """Records at both ends, one end slightly more probable."""
    n, a, runs, d, rng = 4000, 1.0, 300, 0.02, np.random.default_rng(11)
    errors = []
    for _ in range(runs):
        x = np.where(rng.random(n) < (1 + d) / 2, 1.0, -1.0)
        server = estimation.MedianSGD(a, lower=-1.0, upper=1.0, n=n)
        position = float(run_ignoring_small_samples(server, x, rng=rng))
        errors.append(d * (1 - position))
    assert_mean_error_between(bounds.median(n, a, radius=1.0), errors, near=0.02)


def test_bad_radius():
    with pytest.raises(ValueError, match=r"Corollary 2, needs radius > 0, got radius=0$"):
        bounds.median(10, 1, radius=0)
