"""Sums of independent values under a tilted law: the tilt at which the mean is 0, and Chernoff's bounds on both tails."""

from __future__ import annotations

import math

import numpy as np

from ._directed_rounding import UNIT, Floats

EXPONENT = 60.0  # everything outside of the ends of a sum has probability about e^-60
LARGEST_LOG = 690.0
LARGEST_EXPONENT = 300.0
LEAST = 1e-300  # added for underflow


def tilt_of(masses: Floats, values: Floats, n: int) -> float:
    """Return a tilt at which the mean is about 0, or the smallest useful one."""
    from scipy.optimize import brentq

    largest = float(values.max())

    def slope(tilt: float) -> float:
        return float((masses * values) @ np.exp(tilt * (values - largest)))

    least = 0.5 / math.sqrt(n * float(masses @ values**2))
    if slope(0.0) >= 0:
        return least
    high = 1 / largest
    while slope(high) < 0:
        high *= 2
    return max(least, float(brentq(slope, 0.0, high, xtol=1e-300, rtol=1e-6, maxiter=2000)))


def _moments(tilted: Floats, rest: float, values: Floats, count: int) -> tuple[Floats, Floats] | None:
    """Return numbers x > 0 and the logarithms of the moments E e^(x S) of a sum of values; None if no value is positive."""
    top = float(values.max())
    if top <= 0:
        return None
    mean = float(tilted @ values)
    square = float(tilted @ (values - mean) ** 2) + rest * mean**2
    typical = math.sqrt(2 * EXPONENT / count) / max(math.sqrt(square), 1e-12 * top)
    least = min(typical, EXPONENT / top) / 20
    x = np.geomspace(least, min(600 / top, 20 * typical + 20 * EXPONENT / top), 48)
    exponents = np.multiply.outer(x, values)
    excess = np.expm1(exponents) @ tilted
    logs = np.where(
        excess > -0.5, np.log1p(np.maximum(excess, -0.5)), np.log(np.exp(exponents) @ tilted + rest + LEAST)
    )
    return x, count * (logs + 4 * UNIT * len(values))


def end(tilted: Floats, rest: float, values: Floats, count: int) -> float:
    """Return a number that a sum of values exceeds with a probability of at most about e^-60."""
    found = _moments(tilted, rest, values, count)
    if found is None:
        return 0.0
    return min(float(((found[1] + EXPONENT) / found[0]).min()), count * float(values.max()))


def tail(
    tilted: Floats, rest: float, values: Floats, count: int, edge: float, tilt: float = 0.0, split_by: float = 0.0
) -> float:
    """Return a bound on the probability that a sum of values is above an edge, after splits in the tilted law."""
    found = _moments(tilted, rest, values, count)
    if found is None or (split_by == 0 and edge >= count * float(values.max())):
        return 0.0
    x, moments = found
    return math.exp(min(0.0, float((moments + split_by * (x + tilt) ** 2 - x * edge).min()) + 1e-6))
