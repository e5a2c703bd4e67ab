"""Discrete Laplace noise for vectors: the limit of the l1 norm. test_pieces.py tests how the kernel keeps it."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.mechanisms._laplace_vector import _ball_steps

from ..support.cases import each


@each("dim", [1, 2, 100, 10_000])
@each("epsilon", [1e-3, 1.0, 20.0])
def test_the_limit_of_the_l1_norm_is_that_of_the_ball(dim, epsilon):
    """The limit in steps is at least the largest l1 norm in the ball, and costs less than 1e-5 of the variance."""
    span, diameter, limit = _ball_steps(dim, epsilon)
    assert diameter == 2 * limit
    assert limit >= span / 2 * math.sqrt(dim)
    assert (limit / (span / 2 * math.sqrt(dim))) ** 2 <= 1 + (2e-5 if epsilon > 0.1 else 5e-2)
    laplace = ldp.LaplaceVector(dim, epsilon)
    ideal = 2 * (2 * math.sqrt(dim) / epsilon) ** 2
    assert laplace.variance(np.zeros(dim)).max() == pytest.approx(ideal, rel=3e-5 if epsilon > 0.1 else 5e-2)


@pytest.mark.parametrize("norm", ["l2", "linf"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_clipping_leaves_every_bit_of_valid_records(norm, dtype):
    """Numbers with many digits: the last bit of a float decides where one record in a few hundred is rounded to."""
    mechanism = ldp.LaplaceVector(3, 1.0, norm=norm)
    x = np.random.default_rng(5).uniform(-0.5, 0.5, (30_000, 3)).astype(dtype)
    assert mechanism.privatize(x, rng=1).tobytes() == mechanism.privatize(x, rng=1, clip=True).tobytes()
