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
    from scipy.special import betaincinv

    hits, limit = np.asarray(hits, np.float64), 2.0**53
    if np.any(n > limit):  # beyond double precision: the limits of 2^53 trials with the same share are wider
        hits, n = hits * np.minimum(limit / n, 1), np.minimum(n, limit)
    misses = n - hits
    low = np.where(hits < 1, 0.0, betaincinv(np.maximum(hits, 1), misses + 1, tail))
    high = np.where(misses < 1, 1.0, betaincinv(hits + 1, np.maximum(misses, 1), 1 - tail))
    return low, high
