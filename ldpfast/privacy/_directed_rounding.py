"""Rounding of parameters toward more privacy, and conversion of results to numbers or arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

UNIT = 2.0**-53  # relative error of an operation on doubles
ROUNDING = 2.0**-48  # more than the relative rounding error of a short formula, without cancellation
LEAST = 2.0**-1060  # more than the rounding error of subnormal numbers
SMALLEST = 5e-324  # the smallest positive double


def float_or_array(values: Any) -> Any:
    """Return a float if `values` has no dimension, else an array."""
    return float(values) if np.ndim(values) == 0 else np.asarray(values)


def up(values: Any, largest: float = np.inf, rounding: float = ROUNDING, *, zero: Any = False) -> Floats:
    """Return upper bounds of nonnegative numbers that were computed with a relative error of at most `rounding`.

    `zero` says which of the exact numbers are 0. Another number that was computed as 0 is at most the smallest positive double.
    """
    with np.errstate(over="ignore"):
        more = np.where(values > 0, values * (1 + rounding) + LEAST, SMALLEST)
    return np.asarray(np.where(zero, 0.0, np.minimum(largest, more)))


def down(values: Any, rounding: float = ROUNDING) -> Floats:
    """Return lower bounds of nonnegative numbers that were computed with a relative error of at most `rounding`."""
    return np.asarray(np.maximum(0.0, np.where(np.isinf(values), values, values * (1 - rounding) - LEAST)))


def raise_until(holds: Callable[[Floats], Any], values: Any, largest: float) -> Floats:
    """Return nonnegative numbers, raised until a condition holds that is true for `largest`."""
    numbers = np.asarray(values, float)
    step = np.maximum(numbers * ROUNDING, LEAST)
    while not (done := np.asarray(holds(numbers)) | (numbers == largest)).all():
        numbers, step = np.where(done, numbers, np.minimum(largest, numbers + step)), 2 * step
    return numbers


def lower_until(holds: Callable[[Floats], Any], values: Any) -> Floats:
    """Return nonnegative numbers, lowered until a condition holds that is true for 0."""
    numbers = np.asarray(values, float)
    step = np.maximum(numbers * ROUNDING, LEAST)
    while not (done := np.asarray(holds(numbers)) | (numbers == 0)).all():
        numbers, step = np.where(done, numbers, np.maximum(0.0, numbers - step)), 2 * step
    return numbers
