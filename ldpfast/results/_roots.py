"""Roots of many monotone functions at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._typing import Floats

DOUBLINGS = 64  # of a bracket
NEAR = 1e-13  # values of functions that are as good as 0; they are quantiles of a normal distribution
STEPS = 120  # of a search; about ten are enough for smooth functions

Function = Callable[[Floats], Floats]


def bracket(function: Function, start: Floats, step: Floats) -> tuple[Floats, Floats]:
    """Return points between which increasing functions change their signs, as far as they do.

    Parameters
    ----------
    function : callable
        The values of all functions at one point each.
    start : ndarray
        First points.
    step : ndarray
        First steps, > 0; each is twice the one before.

    Returns
    -------
    low, high : ndarray
        Of functions that are negative and not negative, unless a function has one sign everywhere.
    """
    sign = np.where(function(start) < 0, 1.0, -1.0)
    near = start
    far = start + sign * step
    step = np.asarray(step)
    for _ in range(DOUBLINGS):
        same = (function(far) < 0) == (sign > 0)
        if not same.any():
            break
        step = np.where(same, 2 * step, step)
        near, far = np.where(same, far, near), np.where(same, far + sign * step, far)
    return np.where(sign > 0, near, far), np.where(sign > 0, far, near)


def roots(function: Function, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return neighboring points between which increasing functions change their signs.

    Steps are by inverse quadratic interpolation where it is safe, else by bisection (T. R. Chandrupatla, "A new hybrid
    quadratic/bisection algorithm for finding the zero of a nonlinear function without using derivatives", 1997).

    Parameters
    ----------
    function : callable
        The values of all functions at one point each. They may jump and be infinite.
    low, high : ndarray
        Points where the functions are negative and not negative.

    Returns
    -------
    low, high : ndarray
        Points of the same kind, as near as double precision allows; equal where a function is nearly 0.
    """
    x1, x2 = np.asarray(low, np.float64), np.asarray(high, np.float64)
    f1, f2 = function(x1), function(x2)
    part: Floats = np.full(np.shape(x1), 0.5)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for _ in range(STEPS):
            x = x1 + part * (x2 - x1)
            f = function(x)
            same = (f < 0) == (f1 < 0)
            x3, f3 = np.where(same, x1, x2), np.where(same, f1, f2)
            x2, f2 = np.where(same, x2, x1), np.where(same, f2, f1)
            x1, f1 = x, f
            width = np.abs(x2 - x1)
            least = 2 * np.finfo(float).eps * np.maximum(np.abs(x1), np.abs(x2)) / width
            done = ~(least < 0.5) | (np.abs(f1) <= NEAR)
            if done.all():
                break
            xi, phi = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
            smooth = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi)
            inverse = f1 / (f2 - f1) * f3 / (f2 - f3) + (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
            part = np.clip(np.where(smooth, inverse, 0.5), np.minimum(least, 0.5), np.maximum(1 - least, 0.5))
            part = np.where(done, 0.0, part)  # stay
    first = f1 < 0
    exact = np.abs(f1) <= NEAR
    return np.where(first | exact, x1, x2), np.where(first & ~exact, x2, x1)
