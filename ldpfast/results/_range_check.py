"""Check of an estimate against the range of its parameter."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._warnings import warn
from ._estimate import Estimate
from ._report_warnings import DoubtfulWarning

FALSE_ALARM = 1e-12  # probability of a warning without reason that reports contradict their mechanism


def warn_outside(estimate: Estimate[Any], span: tuple[float, float]) -> None:
    """Warn if a number is farther outside its range than noise explains, with a probability of at most 1e-12.

    Parameters
    ----------
    estimate : Estimate
        Unbiased numbers.
    span : tuple of float
        Smallest and largest possible value of what each of them estimates.
    """
    value, stderr = np.asarray(estimate.value), np.asarray(estimate.stderr)
    tail = FALSE_ALARM / (2 * max(1, value.size))
    # No count is as few standard deviations from its mean with this probability: limits are needed for the others only.
    excess = np.maximum(value - span[1], span[0] - value)
    if not (excess > math.sqrt(-math.log(tail)) * stderr).any() or estimate._needed:
        return
    low, high = estimate.rule.bounds(value, stderr, tail)
    outside = np.flatnonzero((low > span[1]) | (high < span[0]))
    if len(outside):
        i = int(outside[np.argmax(np.ravel(excess)[outside])])
        number = "the estimate" if value.ndim == 0 else f"entry {', '.join(map(str, np.unravel_index(i, value.shape)))}"
        others = f", and {len(outside) - 1} more of {value.size} are outside as well" * (len(outside) > 1)
        warn(
            f"{number} is {value.flat[i]:.3g}, outside of [{span[0]:g}, {span[1]:g}] by more than noise explains{others}: the "
            "reports are probably those of another mechanism or another epsilon",
            DoubtfulWarning,
        )
