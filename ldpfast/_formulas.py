"""Formulas that several subpackages use."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from ._typing import Floats

ROOT_2PI = math.sqrt(2 * math.pi)
_TABLE_SIZE = 200


def normal_density(z: Any) -> Floats:
    """Return the density of the standard normal distribution."""
    return np.asarray(np.exp(-0.5 * np.square(z)) / ROOT_2PI)


def clipping_constant(moment: float) -> float:
    """Return the sharp constant of the bias of clipping, (k - 1)^(k - 1) / k^k for k = `moment` > 1.

    If E|X|^k <= r^k, clipping to [-T, T] biases the mean by at most this constant times r^k T^(1 - k).
    """
    return math.exp((moment - 1) * math.log(moment - 1) - moment * math.log(moment))


@cache
def _table() -> Floats:
    """Return c(d) for d below 200, by the recurrence c(d + 2) = c(d) (d + 1) / d."""
    table = np.empty(_TABLE_SIZE)
    table[:3] = 0.0, 1.0, math.pi / 2
    for d in range(1, _TABLE_SIZE - 2):
        table[d + 2] = table[d] * (d + 1) / d
    return table


def half_space_constants(dim: Any) -> Floats:
    """Return c(d) = 1 / E|U_1| for U uniform on the unit sphere of R^d, for an array of integers d >= 1.

    c(d) = sqrt(pi) Gamma((d + 1) / 2) / Gamma(d / 2), to full double accuracy. It is computed by a recurrence for
    d below 200 and by an asymptotic series above. The difference of two log-gammas would lose nine digits at d = 1e7.
    """
    d = np.asarray(dim, np.float64)
    z = 2 / np.maximum(d, _TABLE_SIZE)
    tail = np.zeros_like(z)
    for coefficient in (869 / 4194304, -399 / 262144, -21 / 32768, 5 / 1024, 1 / 128, -1 / 8):
        tail = (tail + coefficient) * z
    series = np.sqrt(math.pi / z) * (1 + tail)
    return np.where(d < _TABLE_SIZE, _table()[np.minimum(d, _TABLE_SIZE - 1).astype(np.intp)], series)
