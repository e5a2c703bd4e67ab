"""Privacy of Gaussian noise: exact guarantees, calibration, and zero-concentrated privacy.

`gaussian_delta` and `gaussian_sigma` are for real numbers with ideal normal noise. Integer noise on a grid needs a different
calibration.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from ._directed_rounding import LEAST, Floats, float_or_array, up

LOG_ERROR = 1e-11  # more than the error of the log of a delta

MIN_ORDER, MAX_ORDER = 1e-12, 1e150  # range of the orders of Renyi divergences, minus 1


@cache
def _quadrature() -> tuple[Floats, Floats]:
    """Return nodes and weights of Gauss-Legendre quadrature on [-1, 1]."""
    return np.polynomial.legendre.leggauss(16)


def _positive(name: str, values: ArrayLike) -> Floats:
    return _check.within(name, values, 0, math.inf, "()")


def _quotient(first: str, x: ArrayLike, second: str, y: ArrayLike) -> Floats:
    """Return the quotient of two positive arguments with their names, the largest double if it is larger."""
    with np.errstate(over="ignore"):
        return np.asarray(np.minimum(_positive(first, x) / _positive(second, y), sys.float_info.max))


def _log_delta(s: Floats, epsilon: Floats) -> Floats:
    """Return log delta for s standard deviations per unit of sensitivity.

    delta = Phi(h - t) - e^epsilon Phi(-h - t) with h = 1 / (2 s) and t = epsilon s is computed from the difference of the
    logarithms of both terms. If they are close, the difference is computed without cancellation, as the integral of
    z + phi(z) / Phi(z) over z from -h - t to h - t.
    """
    from scipy.special import erfcx, log_ndtr

    nodes, weights = _quadrature()
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        h, t = 0.5 / s, epsilon * s
        first = log_ndtr(h - t)
        z = h[..., np.newaxis] * nodes - t[..., np.newaxis]
        near = h * ((z + math.sqrt(2 / math.pi) / erfcx(-z / math.sqrt(2))) @ weights)
        gap = np.where(h < 0.5, near, first - log_ndtr(-h - t) - epsilon)
        return np.where(np.isneginf(first), -math.inf, first + np.log(-np.expm1(-np.maximum(gap, 0.0))))


def _log_goal(delta: Floats) -> Floats:
    """Return the log of a delta that is rounded up to at most the given one; -inf if there is none."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.maximum(delta - 2 * LEAST, 0.0)))


def gaussian_delta(epsilon: ArrayLike, *, sigma: ArrayLike, sensitivity: ArrayLike = 1.0) -> Any:
    """Return the delta of a release of a number or vector with normal noise.

    Parameters
    ----------
    epsilon : array_like
        At least 0.
    sigma : array_like
        Standard deviation of the noise, > 0, the same for all coordinates.
    sensitivity : array_like, default 1.0
        Largest Euclidean norm of the change by one record, > 0.

    Returns
    -------
    delta : float or ndarray
        The exact hockey-stick divergence, rounded up in the eleventh digit, also for very small values. Never 0: a value
        without a double is the smallest positive one.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range.

    References
    ----------
    .. [1] B. Balle, Y.-X. Wang, "Improving the Gaussian Mechanism for Differential Privacy: Analytical Calibration and Optimal
       Denoising", ICML 2018.

    Examples
    --------
    >>> round(gaussian_delta(1.0, sigma=3.730632), 9)
    1e-05
    """
    epsilon = _check.within("epsilon", epsilon, 0, math.inf, "[)")
    s = _quotient("sigma", sigma, "sensitivity", sensitivity)
    return float_or_array(up(np.exp(_log_delta(*np.broadcast_arrays(s, epsilon))), 1.0, LOG_ERROR))


def gaussian_sigma(epsilon: ArrayLike, delta: ArrayLike, *, sensitivity: ArrayLike = 1.0) -> Any:
    """Return the smallest standard deviation of normal noise for (epsilon, delta)-privacy.

    Parameters
    ----------
    epsilon : array_like
        At least 0.
    delta : array_like
        In (0, 1).
    sensitivity : array_like, default 1.0
        Largest Euclidean norm of the change by one record, > 0.

    Returns
    -------
    sigma : float or ndarray
        Rounded up: ``gaussian_delta(epsilon, sigma, sensitivity)`` is at most `delta`. Infinite if no double is enough.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range; `delta` = 0 is, because no normal noise is enough for it.

    Notes
    -----
    The published standard deviation sqrt(log(1 / delta) / 2) / epsilon, for sensitivity 1, is too small. For epsilon = 1 and
    delta = 1e-6, the actual delta is 8.3e-4.

    Examples
    --------
    >>> round(gaussian_sigma(1.0, 1e-5), 6)
    3.730632
    """
    epsilon = _check.within("epsilon", epsilon, 0, math.inf, "[)")
    delta, unit = _check.within("delta", delta, 0, 1, "()"), _positive("sensitivity", sensitivity)
    epsilon, delta, unit = np.broadcast_arrays(epsilon, delta, unit)
    target = _log_goal(delta) - 4 * LOG_ERROR
    low, high = np.ones(delta.shape), np.ones(delta.shape)
    with np.errstate(over="ignore"):
        while (short := _log_delta(high, epsilon) > target).any():
            high = np.where(short, 2 * high, high)
    while (enough := _log_delta(low, epsilon) <= target).any():
        low = np.where(enough, low / 2, low)
    for _ in range(64):  # geometric means: the quotient of the ends falls from a power of two to 1 + 2^-52
        middle = np.sqrt(low) * np.sqrt(high)
        enough = _log_delta(middle, epsilon) <= target
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    with np.errstate(over="ignore"):
        return float_or_array(up(high * unit))


def _best_rho(epsilon: Floats, excess: Floats) -> Floats:
    """Return the rho for which the order 1 + excess minimizes `_log_bound`: the root of its derivative by the order."""
    return np.asarray((epsilon + np.log1p(1 / excess)) / (1 + 2 * excess))


def _log_bound(epsilon: Floats, rho: Floats, excess: Floats) -> Floats:
    """Return the log of exp((a - 1)(a rho - epsilon)) (1 - 1/a)^a / (a - 1) for the order a = 1 + excess."""
    order = 1 + excess
    return np.asarray(excess * (order * rho - epsilon) - order * np.log1p(1 / excess) - np.log(excess))


def _orders(shape: tuple[int, ...], holds: Callable[[Floats], Any]) -> tuple[Floats, Floats]:
    """Return an interval of orders, minus 1, around the largest order for which `holds` is true."""
    low, high = np.full(shape, MIN_ORDER), np.full(shape, MAX_ORDER)
    for _ in range(70):
        middle = np.sqrt(low) * np.sqrt(high)
        inside = holds(middle)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return low, high


def concentrated_delta(rho: Floats, *, at: Floats) -> Floats:
    """Return the delta at an epsilon > 0 that zero-concentrated privacy guarantees, rounded up, and at most 1.

    The Renyi divergence of every order a is at most a rho. The delta is the minimum of exp((a - 1)(a rho - epsilon)) (1 -
    1/a)^a / (a - 1) over a > 1 (Canonne, Kamath and Steinke 2020, corollary 13).
    """
    epsilon, rho = np.broadcast_arrays(_positive("at", at), rho)
    low, _ = _orders(epsilon.shape, lambda excess: _best_rho(epsilon, excess) >= rho)
    return up(np.exp(np.minimum(_log_bound(epsilon, rho, low), 0.0)), 1.0, 1e-9)


def concentrated_rho(delta: Floats, *, at: Floats) -> Floats:
    """Return the largest rho for which `concentrated_delta` is at most a delta.

    0 where doubles do not suffice: for a delta below 1e-318, or both parameters below 1e-147.
    """
    epsilon, delta = np.broadcast_arrays(_positive("at", at), delta)
    goal = _log_goal(delta) - 2e-9

    def above(excess: Floats) -> Any:
        return _log_bound(epsilon, _best_rho(epsilon, excess), excess) > goal

    _, high = _orders(epsilon.shape, above)
    return np.where(above(high), 0.0, _best_rho(epsilon, high) * (1 - 1e-12))


def gaussian_kl(sigma: Floats, *, sensitivity: Floats) -> Floats:
    """Return the Kullback-Leibler divergence of a release with normal noise, (sensitivity / sigma)^2 / 2."""
    with np.errstate(over="ignore"):
        return up(_quotient("sensitivity", sensitivity, "sigma", sigma) ** 2 / 2)


def gaussian_tv(sigma: Floats, *, sensitivity: Floats) -> Floats:
    """Return the total variation of a release with normal noise, 2 Phi(sensitivity / (2 sigma)) - 1."""
    from scipy.special import erf

    return up(erf(_quotient("sensitivity", sensitivity, "sigma", sigma) / math.sqrt(8)), 1.0)
