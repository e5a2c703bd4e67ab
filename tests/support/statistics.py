"""Bounds of statistical tests, each from a named inequality."""

from __future__ import annotations

import math

import numpy as np

ALPHA = 1e-9  # probability that a correct build fails one statistical test


def hoeffding_radius(n: int, alpha: float) -> float:
    """Return the radius with P(|mean of n numbers in [0, 1] - expectation| > radius) <= alpha (Hoeffding 1963)."""
    return math.sqrt(math.log(2 / alpha) / (2 * n))


def bernstein_radius(variance, bound: float, n: int, alpha: float):
    """Return the radius with P(|mean - expectation| > radius) <= alpha, by Bernstein's inequality.

    The numbers have the given variance, and |number - expectation| <= bound.
    """
    log = math.log(2 / alpha)
    return np.sqrt(2 * np.asarray(variance) * log / n) + 2 * bound * log / (3 * n)
