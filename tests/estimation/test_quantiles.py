"""Quantiles in one call, compared with the median of noisy numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ldpfast import estimation

from ..support.statistics import ALPHA

pytestmark = pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")


def test_naive_median_is_biased_for_a_skewed_distribution_and_median_is_not():
    x = np.exp(np.random.default_rng(1).normal(size=200_000))
    naive, sgd = (
        estimation.naive_median(x, 1.0, lower=0, upper=16, rng=1),
        estimation.median(x, 1.0, lower=0, upper=16, rng=1),
    )
    limit = np.median(x + np.random.default_rng(2).laplace(0, 16, len(x)))
    assert naive.interval(1 - ALPHA)[0] > 1.05
    assert abs(naive.value - limit) < 8 * math.hypot(naive.stderr, naive.stderr)
    low, high = sgd.interval(1 - ALPHA)
    assert low < 1 < high
    assert high - low < 0.3
