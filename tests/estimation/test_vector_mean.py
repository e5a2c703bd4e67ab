"""Mean vectors: shrinkage, and confidence regions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from ldpfast.estimation import VectorMean

from ..support.examples import assert_same
from ..support.noise_scales import l2_scale, linf_scale

pytestmark = pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")


def test_shrunken_mean_is_the_james_stein_estimate():
    """The factor for the ball is max(0, 1 - B^2 / (n |m|^2))."""
    dim, epsilon = 30, 1.0
    for n in (200, 20_000):
        estimate = VectorMean(dim, epsilon).run(np.tile(np.eye(dim)[0], (n, 1)), rng=1)
        noise = l2_scale(dim, epsilon) ** 2 / n
        factor = max(0.0, 1 - noise / (estimate.value @ estimate.value))
        np.testing.assert_allclose(estimate.shrunken, factor * estimate.value, rtol=1e-6, atol=1e-12)
    box = VectorMean(2, 0.01, norm="linf", lower=[0, 10], upper=[1, 30]).run(np.full((100, 2), [0.5, 20.0]), rng=3)
    away = (box.value - [0.5, 20]) / [0.5, 10]
    factor = max(0.0, 1 - 2 * linf_scale(2, 0.01) ** 2 / 100 / (away @ away))
    np.testing.assert_allclose(box.shrunken, [0.5, 20] + factor * away * [0.5, 10], rtol=1e-6)


def test_region_is_an_ellipsoid_around_the_value():
    estimate = VectorMean(3, 1.0).run(np.zeros((1000, 3)), rng=1)
    region = estimate.region()
    assert region.contains(estimate.value)
    assert_same(region.contains(np.stack([estimate.value, estimate.value + 100])), [True, False])
    np.testing.assert_allclose(region.radii, math.sqrt(stats.chi2.isf(0.05, 3)) * estimate.stderr, rtol=1e-6)
    assert not region.contains(estimate.value + 1.001 * region.radii * [1, 0, 0])
    smaller = estimate.region(0.5)
    assert (smaller.radii < region.radii).all()
