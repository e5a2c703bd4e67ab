"""Normal noise: what it guarantees, exactly, and how much of it is needed.

Of real numbers and ideal normal noise: a calibration for integer noise on a grid is another one.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from ._numbers import Floats, plain


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
