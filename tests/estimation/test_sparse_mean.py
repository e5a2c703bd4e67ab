"""Sparse mean vectors: soft thresholding."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ldpfast.estimation import SparseMean

from ..support.noise_scales import linf_scale
from ..support.statistics import ALPHA

pytestmark = pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")


def test_sparse_mean_is_thresholded():
    """Two of 60 coordinates are nonzero.

    With probability 1 - ALPHA (Hoeffding's inequality) the support is within the true one and the squared error is at
    most 4 s penalty^2.
    """
    dim, n = 60, 20_000
    x = np.zeros((n, dim))
    x[:, [3, 40]] = 2, -1.5
    bound = linf_scale(dim, 2.0, 2.0)
    penalty = bound * math.sqrt(2 * math.log(2 * dim / ALPHA) / n)
    estimate = SparseMean(dim, 2.0, radius=2.0, penalty=penalty).run(x, rng=1)
    np.testing.assert_allclose(estimate.value, np.sign(estimate.raw) * np.maximum(np.abs(estimate.raw) - penalty, 0))
    assert set(estimate.support) <= {3, 40}
    assert np.sum((estimate.value - x[0]) ** 2) <= 4 * 2 * penalty**2
    default = SparseMean(dim, 2.0, radius=2.0).run(x, rng=1)
    assert default.penalty == pytest.approx(bound * math.sqrt(2 * math.log(2 * dim * n) / n), rel=1e-6)
    np.testing.assert_array_equal(default.raw, estimate.raw)
    assert estimate.interval()[0].shape == (dim,)
