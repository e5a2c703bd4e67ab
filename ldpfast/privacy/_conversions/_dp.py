"""Conversions between (epsilon, delta)-privacy and total variation. Arguments are checked arrays."""

from __future__ import annotations

import math

import numpy as np

from .._directed_rounding import Floats, lower_until, up


def delta_from_dp(epsilon: Floats, *, at: Floats, delta: Floats | float = 0.0) -> Floats:
    """Return the delta at another epsilon.

    It is delta + (1 - delta) (e^epsilon - e^at) / (1 + e^epsilon) if `at` is below `epsilon`, else `delta`. Attained by
    randomized response that with probability delta reports the true answer, marked as true.
    """
    gap = np.minimum(at - epsilon, 0.0)
    more = up((1 - delta) * -np.expm1(gap) / (1 + np.exp(-epsilon)))
    return np.where(gap < 0, up(delta + more, 1.0), delta)  # delta is exact from epsilon on


def tv_from_dp(epsilon: Floats, *, delta: Floats | float = 0.0, method: str = "sharp") -> Floats:
    """Return the total variation, (e^epsilon - 1 + 2 delta) / (e^epsilon + 1), or the published epsilon / 2 + delta."""
    if method == "paper":
        return up(epsilon / 2 + delta, 1.0, zero=(epsilon == 0) & (delta == 0))
    return np.where(epsilon > 0, up(delta + (1 - delta) * np.tanh(epsilon / 2), 1.0), delta)


def epsilon_for_tv(tv: Floats, *, delta: Floats | float = 0.0) -> Floats:
    """Return the largest epsilon, log((1 + tv - 2 delta) / (1 - tv)). No epsilon is small enough for a delta above tv."""
    tv, delta = np.broadcast_arrays(tv, delta)
    if (delta > tv).any():
        raise ValueError(f"delta must be at most level, got {float(delta[delta > tv].flat[0])!r}")
    with np.errstate(divide="ignore"):
        epsilon = 2 * np.arctanh((tv - delta) / (1 - delta))
    exact = lower_until(lambda e: tv_from_dp(e, delta=delta) <= tv, np.where(tv < 1, epsilon, 0.0))
    return np.where(tv < 1, exact, math.inf)


def delta_from_tv(tv: Floats, *, at: Floats) -> Floats:
    """Return the delta at every epsilon, which is the total variation: `release_one_at_random` attains it."""
    return np.broadcast_arrays(tv, at)[0].copy()
