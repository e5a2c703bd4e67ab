"""Confidence limits that are valid for every n."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def along(n: Any, axes: int) -> Any:
    """Return numbers of groups in a shape that broadcasts with arrays of further axes, and a single number unchanged."""
    return n if np.ndim(n) == 0 else np.reshape(n, (-1, *(1,) * axes))


def clopper_pearson(hits: Any, n: Any, tail: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the Clopper-Pearson limits of the success probability, from the successes in n independent trials.

    Each limit fails with probability at most `tail`.
    """
    from scipy.special import betainccinv, betaincinv

    hits, misses = _hits_and_misses(hits, n)
    low = np.where(hits < 1, 0.0, betaincinv(np.maximum(hits, 1), misses + 1, tail))
    high = np.where(misses < 1, 1.0, betainccinv(hits + 1, np.maximum(misses, 1), tail))
    return low, high


def clopper_pearson_tail(hits: Any, n: Any, limit: Any, side: int) -> NDArray[np.float64]:
    """Return the tails of given Clopper-Pearson limits: lower ones (side -1) or upper ones (1)."""
    from scipy.special import betainc, betaincc

    hits, misses = _hits_and_misses(hits, n)
    limit = np.asarray(limit, np.float64)
    inside = np.clip(limit, 0.0, 1.0)
    if side < 0:
        tail = betainc(np.maximum(hits, 1), misses + 1, inside)
        return np.where(limit < 0, 0.0, np.where(hits < 1, 1.0, tail))
    tail = betaincc(hits + 1, np.maximum(misses, 1), inside)
    return np.where(limit > 1, 0.0, np.where(misses < 1, 1.0, tail))


def _hits_and_misses(hits: Any, n: Any) -> tuple[Any, Any]:
    """Return hits and misses, at most 2^53 of them."""
    hits, limit = np.asarray(hits, np.float64), 2.0**53
    if np.any(n > limit):  # beyond double precision: the limits of 2^53 trials with the same share are wider
        hits, n = hits * np.minimum(limit / n, 1), np.minimum(n, limit)
    return hits, n - hits
