"""Conversions from and to Kullback-Leibler privacy, in both orders. Arguments are checked arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .._directed_rounding import Floats, down, lower_until, raise_until, up


def kl_from_dp(epsilon: Floats, *, method: str = "sharp") -> Floats:
    """Return the divergence, epsilon tanh(epsilon / 2), or the published epsilon (e^epsilon - 1).

    (epsilon, delta)-privacy with delta > 0 guarantees no finite divergence.
    """
    if method == "paper":
        with np.errstate(over="ignore"):
            return up(epsilon * np.expm1(epsilon), zero=epsilon == 0)
    return up(epsilon * np.tanh(epsilon / 2), zero=epsilon == 0)


def epsilon_for_kl(kl: Floats) -> Floats:
    """Return the largest epsilon with epsilon tanh(epsilon / 2) <= kl."""
    low = np.maximum(kl, math.sqrt(2) * np.sqrt(kl)) * (1 - 1e-15)  # a tanh(a / 2) is at most a and a^2 / 2
    low, _ = _bisect(lambda a: a * np.tanh(a / 2) <= kl, low, kl + 2 * np.sqrt(kl) + 2)
    return lower_until(lambda a: kl_from_dp(a) <= kl, low)


def kl_binary(x: Floats, y: Floats) -> Floats:
    """Return the Kullback-Leibler divergence of coins with heads probabilities x and y."""
    with np.errstate(divide="ignore", invalid="ignore"):
        heads = np.where(x > 0, x * (np.log(x) - np.log(y)), 0.0)
        tails = np.where(x < 1, (1 - x) * (np.log1p(-x) - np.log1p(-y)), 0.0)
    return heads + tails


def delta_from_kl(kl: Floats, *, at: Floats) -> Floats:
    """Return the delta at an epsilon, rounded up by at most 1e-12.

    It is the largest x - e^epsilon y over coins with heads probabilities x and y and divergence at most `kl` in both orders.
    These coins attain it.
    """
    kl, epsilon = np.broadcast_arrays(kl, at)

    def within(x: Floats, y: Floats) -> Any:
        return np.maximum(kl_binary(x, y), kl_binary(y, x)) <= kl

    def gain(x: Floats) -> Floats:
        """Return x - e^epsilon y for the smallest y. It is concave in x because the set of allowed (x, y) is convex."""
        # y = x e^-s, where KL >= x s - log 2 bounds s.
        s, _ = _bisect(lambda s: within(x, x * np.exp(-s)), np.zeros(x.shape), (kl + math.log(2)) / x)
        return x * -np.expm1(np.minimum(epsilon - s, 0.0))

    with np.errstate(over="ignore"):
        delta = _concave_maximum(gain, np.full(kl.shape, 1e-300), np.ones(kl.shape))
    largest = np.minimum(tv_from_kl(kl), tv_from_kl(kl, method="paper"))  # the delta at 0 is the largest
    return np.where(kl > 0, np.minimum(delta + 1e-12, largest), 0.0)


def tv_from_kl(kl: Floats, *, method: str = "sharp") -> Floats:
    """Return the total variation, the t with t log((1 + t) / (1 - t)) = kl, as of randomized response.

    "paper" is the smaller of sqrt(kl / 2) (Pinsker) and sqrt(1 - e^-kl) (Bretagnolle and Huber).
    """
    if method == "paper":
        return up(np.minimum(np.sqrt(kl) / math.sqrt(2), np.sqrt(-np.expm1(-kl))), 1.0, zero=kl == 0)
    bound = np.tanh(epsilon_for_kl(kl) / 2)
    return raise_until(lambda tv: kl_for_tv(tv) >= kl, np.where(kl > 0, bound, 0.0), 1.0)


def kl_for_tv(tv: Floats) -> Floats:
    """Return the largest divergence, tv log((1 + tv) / (1 - tv)), that of randomized response; infinite for tv = 1."""
    with np.errstate(divide="ignore"):
        return down(2 * tv * np.arctanh(tv))


# Search ---------------------------------------------------------------------------------------------------------------


def _bisect(holds: Callable[[Floats], Any], low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return the last interval of 64 halvings, for a condition that holds up to some point of the first one."""
    for _ in range(64):
        middle = low / 2 + high / 2
        true = holds(middle)
        low, high = np.where(true, middle, low), np.where(true, high, middle)
    return low, high


def _concave_maximum(function: Callable[[Floats], Floats], low: Floats, high: Floats) -> Floats:
    """Return the maximum of a concave function on [low, high], by 14 nested grids of 33 points."""
    steps = np.linspace(0, 1, 33).reshape(-1, *(1,) * low.ndim)
    best = np.full(low.shape, -math.inf)
    for _ in range(14):
        points = low + (high - low) * steps
        values = function(points)
        best = np.maximum(best, values.max(axis=0))
        k = values.argmax(axis=0)[np.newaxis]
        low = np.take_along_axis(points, np.maximum(k - 1, 0), axis=0)[0]
        high = np.take_along_axis(points, np.minimum(k + 1, 32), axis=0)[0]
    return best
