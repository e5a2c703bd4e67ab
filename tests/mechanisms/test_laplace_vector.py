"""Discrete Laplace noise for vectors: the limit of the l1 norm of a rounded row."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import _coins
from ldpfast._core import privatize, stream
from ldpfast.mechanisms._laplace_vector import _ball_steps

from ..support.keys import KEY


@pytest.mark.parametrize("dim", [1, 2, 100, 10_000])
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 20.0])
def test_the_limit_of_the_l1_norm_is_that_of_the_ball(dim, epsilon):
    """The limit in steps is at least the largest l1 norm in the ball, and costs less than 1e-5 of the variance."""
    span, diameter, limit = _ball_steps(dim, epsilon)
    assert diameter == 2 * limit
    assert limit >= span / 2 * math.sqrt(dim)
    assert (limit / (span / 2 * math.sqrt(dim))) ** 2 <= 1 + (2e-5 if epsilon > 0.1 else 5e-2)
    laplace = ldp.LaplaceVector(dim, epsilon)
    ideal = 2 * (2 * math.sqrt(dim) / epsilon) ** 2
    assert laplace.variance(np.zeros(dim)).max() == pytest.approx(ideal, rel=3e-5 if epsilon > 0.1 else 5e-2)


@pytest.mark.parametrize("dim", [1, 9, 300, 9000])
def test_the_kernel_limits_the_l1_norm_of_rounded_rows_in_integers(isa, dim):
    """With digits that are always zero the noise is 0 or -1, and the reports show the integers.

    The radius is far too large for the limit, so the projection does not change the rows, but the limit still holds.
    """
    limit, zero = 1000, _coins.GeometricCoins(2, ((1 << 128, 0, 0, 0),), 0, 0.0)
    kernel = privatize.Laplace(dim, -1.0, 1.0, 2.0**-10, 1 << 11, limit, 1e9, zero, "vector")
    for row in (np.ones(dim), -np.ones(dim), np.linspace(-1, 1, dim), np.full(dim, np.inf)):
        out = np.empty((1, dim))
        kernel.privatize(stream.Stream(KEY), 0, row[np.newaxis], out)
        steps = (out[0] + 1) * 2.0**10 - 0.5 - 2**10  # distance from the center, plus 0 or -1
        assert np.abs(steps).sum() <= limit + dim
        assert np.abs(steps).sum() >= min(limit, np.abs(np.clip(row, -1, 1)).sum() * 2**10) - 2 * dim
