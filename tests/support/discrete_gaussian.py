"""The discrete Gaussian distribution by summation."""

from __future__ import annotations

import math

import numpy as np


def weights(variance, reach):
    """Return the integers from -reach to reach and their unnormalized weights."""
    y = np.arange(-reach, reach + 1, dtype=float)
    return y, np.exp(-(y**2) / (2 * variance))


def hockey_stick(epsilon, shift, variance):
    """Return the hockey-stick divergence from a shift by an integer, an exact sum from differences of logarithms."""
    reach = int(shift + 16 * math.sqrt(variance) + 50)
    y, weight = weights(variance, reach)
    log_ratio = (shift**2 - 2 * shift * y) / (2 * variance)  # log of p(y) / p(y - shift)
    where = log_ratio > epsilon
    return float(np.sum(weight[where] * -np.expm1(epsilon - log_ratio[where])) / np.sum(weight))
