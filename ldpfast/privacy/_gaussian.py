"""Normal noise: what it guarantees, exactly, and how much of it is needed; and what its concentrated privacy does.

Of real numbers and ideal normal noise: a calibration for integer noise on a grid is another one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from ._numbers import Floats, plain

LEAST_ORDER, MOST_ORDER = 1e-12, 1e20  # of Renyi divergences, less 1


@cache
def _quadrature() -> tuple[Floats, Floats]:
    """Of Gauss and Legendre on [-1, 1]: nodes and weights."""
    return np.polynomial.legendre.leggauss(16)


def _positive(name: str, values: ArrayLike) -> Floats:
    return _check.within(name, values, 0, math.inf, "()")


def _log_delta(s: Floats, epsilon: Floats) -> Floats:
    """log delta for s standard deviations per unit of sensitivity.

    delta = Phi(h - t) - e^epsilon Phi(-h - t), h = 1 / (2 s), t = epsilon s, from the difference of the logarithms. Of two that
    are close it is the integral of z + phi(z) / Phi(z) over z from -h - t to h - t: nothing cancels.
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


def gaussian_delta(epsilon: ArrayLike, sigma: ArrayLike, sensitivity: ArrayLike = 1.0) -> Any:
    """The delta of a number or vector that is released with normal noise.

    Parameters
    ----------
    epsilon : array_like
        At least 0.
    sigma : array_like
        Standard deviation of the noise, > 0, the same for all coordinates.
    sensitivity : array_like, default 1.0
        Largest Euclidean change by one record, > 0.

    Returns
    -------
    delta : float or ndarray
        The exact hockey-stick divergence, to about 12 digits, far into the tail.

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
    >>> round(gaussian_delta(1.0, 3.730632), 9)
    1e-05
    """
    epsilon = _check.within("epsilon", epsilon, 0, math.inf, "[)")
    s = _positive("sigma", sigma) / _positive("sensitivity", sensitivity)
    return plain(np.exp(_log_delta(*np.broadcast_arrays(s, epsilon))))


def gaussian_sigma(epsilon: ArrayLike, delta: ArrayLike, sensitivity: ArrayLike = 1.0) -> Any:
    """The least standard deviation of normal noise for (epsilon, delta)-privacy.

    Parameters
    ----------
    epsilon : array_like
        At least 0.
    delta : array_like
        In (0, 1).
    sensitivity : array_like, default 1.0
        Largest Euclidean change by one record, > 0.

    Returns
    -------
    sigma : float or ndarray
        The upper end of the last interval of a bisection of `gaussian_delta`.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range: with delta = 0 no normal noise is enough.

    Notes
    -----
    The published standard deviation sqrt(log(1 / delta) / 2) / epsilon, for sensitivity 1, is too small by far: with epsilon
    = 1 and delta = 1e-6 its true delta is 8.3e-4.

    Examples
    --------
    >>> round(gaussian_sigma(1.0, 1e-5), 6)
    3.730632
    """
    epsilon = _check.within("epsilon", epsilon, 0, math.inf, "[)")
    delta, unit = _check.within("delta", delta, 0, 1, "()"), _positive("sensitivity", sensitivity)
    epsilon, delta, unit = np.broadcast_arrays(epsilon, delta, unit)
    target = np.log(delta)
    low, high = np.ones(delta.shape), np.ones(delta.shape)
    while (short := _log_delta(high, epsilon) > target).any():
        high = np.where(short, 2 * high, high)
    while (enough := _log_delta(low, epsilon) <= target).any():
        low = np.where(enough, low / 2, low)
    for _ in range(64):  # geometric: the quotient of the ends starts at a power of two and ends at 1 + 2^-52
        middle = np.sqrt(low) * np.sqrt(high)
        enough = _log_delta(middle, epsilon) <= target
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return plain(high * unit)


def _best_rho(epsilon: Floats, more: Floats) -> Floats:
    """The rho for which the order 1 + more is the best: where the derivative of `_log_bound` by the order vanishes."""
    return np.asarray((epsilon + np.log1p(1 / more)) / (1 + 2 * more))


def _log_bound(epsilon: Floats, rho: Floats, more: Floats) -> Floats:
    """log of exp((a - 1)(a rho - epsilon)) (1 - 1/a)^a / (a - 1) for the order a = 1 + more."""
    order = 1 + more
    return np.asarray(more * (order * rho - epsilon) - order * np.log1p(1 / more) - np.log(more))


def _orders(shape: tuple[int, ...], holds: Callable[[Floats], Any]) -> tuple[Floats, Floats]:
    """The ends, as orders less 1, of where `holds`, which does so up to some order."""
    low, high = np.full(shape, LEAST_ORDER), np.full(shape, MOST_ORDER)
    for _ in range(70):
        middle = np.sqrt(low) * np.sqrt(high)
        inside = holds(middle)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return low, high


def concentrated_delta(epsilon: ArrayLike, rho: ArrayLike) -> Any:
    """The delta at a given epsilon of zero-concentrated privacy: what integer normal noise has in several dimensions.

    Parameters
    ----------
    epsilon : array_like
        > 0.
    rho : array_like
        > 0: the divergence of Renyi of every order a is at most a rho. Normal noise has sensitivity^2 / (2 sigma^2).

    Returns
    -------
    delta : float or ndarray
        The least of exp((a - 1)(a rho - epsilon)) (1 - 1/a)^a / (a - 1) over a > 1, rounded up, and at most 1.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range.

    References
    ----------
    .. [1] C. Canonne, G. Kamath, T. Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020, corollary 13.
    """
    epsilon, rho = np.broadcast_arrays(_positive("epsilon", epsilon), _positive("rho", rho))
    low, _ = _orders(epsilon.shape, lambda more: _best_rho(epsilon, more) >= rho)
    return plain(np.minimum(1.0, np.exp(_log_bound(epsilon, rho, low)) * (1 + 1e-9)))


def concentrated_rho(epsilon: ArrayLike, delta: ArrayLike) -> Any:
    """The largest rho of zero-concentrated privacy that gives (epsilon, delta)-privacy.

    Parameters
    ----------
    epsilon : array_like
        > 0.
    delta : array_like
        In (0, 1).

    Returns
    -------
    rho : float or ndarray
        Rounded down: ``concentrated_delta(epsilon, rho) <= delta``.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range.
    """
    epsilon, delta = np.broadcast_arrays(_positive("epsilon", epsilon), _check.within("delta", delta, 0, 1, "()"))
    goal = np.log(delta) - 2e-9
    _, high = _orders(epsilon.shape, lambda more: _log_bound(epsilon, _best_rho(epsilon, more), more) > goal)
    return plain(_best_rho(epsilon, high) * (1 - 1e-12))


def gaussian_kl(sigma: ArrayLike, sensitivity: ArrayLike = 1.0) -> Any:
    """The Kullback-Leibler divergence of a release with normal noise.

    Parameters
    ----------
    sigma : array_like
        Standard deviation of the noise, > 0.
    sensitivity : array_like, default 1.0
        Largest Euclidean change by one record, > 0.

    Returns
    -------
    kl : float or ndarray
        ``(sensitivity / sigma)**2 / 2``. For a level b: sigma = sensitivity / sqrt(2 b).

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range.
    """
    with np.errstate(over="ignore"):
        return plain((_positive("sensitivity", sensitivity) / _positive("sigma", sigma)) ** 2 / 2)


def gaussian_tv(sigma: ArrayLike, sensitivity: ArrayLike = 1.0) -> Any:
    """The total variation of a release with normal noise.

    Parameters
    ----------
    sigma : array_like
        Standard deviation of the noise, > 0.
    sensitivity : array_like, default 1.0
        Largest Euclidean change by one record, > 0.

    Returns
    -------
    tv : float or ndarray
        ``2 Phi(sensitivity / (2 sigma)) - 1``; `gaussian_sigma` with epsilon = 0 is the inverse.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range.
    """
    from scipy.special import erf

    return plain(erf(_positive("sensitivity", sensitivity) / _positive("sigma", sigma) / math.sqrt(8)))
