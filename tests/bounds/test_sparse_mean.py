"""Bounds of the mean of sparse vectors in a box."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ldpfast import bounds, estimation

from ..support.simulation import assert_mean_error_between


def test_the_sparse_mean_errs_between_the_bounds():
    n, d, a, runs, rng = 20_000, 30, 1.0, 60, np.random.default_rng(11)
    truth = np.zeros(d)
    truth[3] = 0.5
    errors = []
    for _ in range(runs):
        rows = np.where(rng.random((n, d)) < (1 + truth) / 2, 1.0, -1.0).astype(np.float32)
        errors.append(((estimation.sparse_mean(rows, a, radius=1.0, rng=rng).value - truth) ** 2).sum())
    assert_mean_error_between(bounds.sparse_mean(n, d, a), errors, near=0.01)


def test_the_published_bound_of_one_coordinate_is_zero_with_a_reason():
    found = bounds.sparse_mean(100, 1, 0.5, method="paper")
    assert found.lower == 0
    assert found.source.endswith("dim = 1, so the coordinate is known")


def test_bad_epsilon():
    with pytest.raises(ValueError, match=r"^epsilon must be finite numbers, got inf$"):
        bounds.sparse_mean(10, 3, math.inf)
