"""Histogram densities: noise variance and bins."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ldpfast.estimation import HistogramDensity

from ..support.cases import each


@each("epsilon", [0.1, 1.0, 4.0])
@each("k", [2, 30])
def test_unary_reports_have_half_the_variance_of_laplace_noise(epsilon, k):
    """Ratio of the variances 8 / a^2 and e^{a/2} / (e^{a/2} - 1)^2 = 1 / (4 sinh^2(a / 4)).

    It is 2 (sinh(a / 4) / (a / 4))^2, which tends to 2 for small a.
    """
    laplace, unary = (HistogramDensity(epsilon, bins=k, noise=noise).mechanism for noise in ("laplace", "unary"))
    assert laplace.report.noise_variance == pytest.approx(8 / epsilon**2, rel=1e-6)
    ratio = laplace.report.noise_variance / unary.debiasing.variance(0.0)
    assert ratio == pytest.approx(2 * (math.sinh(epsilon / 4) / (epsilon / 4)) ** 2, rel=1e-6)


@pytest.mark.parametrize("noise", ["unary", "laplace"])
def test_bins_agree_with_numpy(noise):
    problem = HistogramDensity(1.0, bins=8, lower=-1.0, upper=3.0, noise=noise)
    x = np.concatenate([np.random.default_rng(1).uniform(-1, 3, 1000), np.linspace(-1, 3, 9)])
    for dtype in (np.float32, np.float64):
        numbers = x.astype(dtype)
        counts = np.bincount(problem._encode(numbers), minlength=8)
        np.testing.assert_array_equal(counts, np.histogram(numbers, 8, (-1, 3))[0])
