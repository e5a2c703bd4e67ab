"""Conversions from and to Kullback-Leibler privacy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import _check
from .._directed_rounding import Floats, down, float_or_array, lower_until, raise_until, up
from ._arguments import METHODS, nonnegative


def kl_from_dp(epsilon: ArrayLike, *, method: str = "sharp") -> Any:
    """Return the Kullback-Leibler divergence that epsilon-privacy guarantees.

    (epsilon, delta)-privacy with delta > 0 guarantees no finite divergence.

    Parameters
    ----------
    epsilon : array_like
        At least 0.
    method : {"sharp", "paper"}
        "paper": epsilon (e^epsilon - 1).

    Returns
    -------
    kl : float or ndarray
        ``epsilon tanh(epsilon / 2)``, rounded up.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> from ldpfast.privacy import kl_from_dp
    >>> round(kl_from_dp(1.0), 4)  # epsilon tanh(epsilon / 2)
    0.4621
    """
    epsilon = nonnegative("epsilon", epsilon)
    if _check.choice("method", method, METHODS) == "paper":
        with np.errstate(over="ignore"):
            return float_or_array(up(epsilon * np.expm1(epsilon), zero=epsilon == 0))
    return float_or_array(_kl(epsilon))


def _kl(epsilon: Floats) -> Floats:
    """Return the Kullback-Leibler divergence of pure privacy, rounded up."""
    return up(epsilon * np.tanh(epsilon / 2), zero=epsilon == 0)


def epsilon_for_kl(kl: ArrayLike) -> Any:
    """Return the largest epsilon that guarantees a Kullback-Leibler divergence.

    Parameters
    ----------
    kl : array_like
        At least 0.

    Returns
    -------
    epsilon : float or ndarray
        The largest epsilon with epsilon tanh(epsilon / 2) <= `kl`.

    Raises
    ------
    TypeError, ValueError
        If `kl` is not a finite number >= 0.

    Examples
    --------
    >>> from ldpfast.privacy import epsilon_for_kl, kl_from_dp
    >>> epsilon = epsilon_for_kl(0.5)
    >>> kl_from_dp(epsilon) <= 0.5
    True
    """
    kl = nonnegative("kl", kl)
    low = np.maximum(kl, math.sqrt(2) * np.sqrt(kl)) * (1 - 1e-15)  # a tanh(a / 2) is at most a and a^2 / 2
    low, _ = _bisect(lambda a: a * np.tanh(a / 2) <= kl, low, kl + 2 * np.sqrt(kl) + 2)
    return float_or_array(lower_until(lambda a: _kl(a) <= kl, low))


def kl_binary(x: Floats, y: Floats) -> Floats:
    """Return the Kullback-Leibler divergence of coins with heads probabilities x and y."""
    with np.errstate(divide="ignore", invalid="ignore"):
        heads = np.where(x > 0, x * (np.log(x) - np.log(y)), 0.0)
        tails = np.where(x < 1, (1 - x) * (np.log1p(-x) - np.log1p(-y)), 0.0)
    return heads + tails


def delta_from_kl(epsilon: ArrayLike, *, kl: ArrayLike) -> Any:
    """Return the delta at a given epsilon that a Kullback-Leibler divergence guarantees.

    Parameters
    ----------
    epsilon : array_like
        At least 0.
    kl : array_like
        Bound on the divergence in both orders, >= 0.

    Returns
    -------
    delta : float or ndarray
        The largest x - e^epsilon y over coins with heads probabilities x and y and divergence at most `kl` in both orders.
        These coins attain it. It is rounded up, by at most 1e-12.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> from ldpfast.privacy import delta_from_kl
    >>> round(delta_from_kl(1.0, kl=0.1), 4)
    0.055
    """
    epsilon, kl = np.broadcast_arrays(nonnegative("epsilon", epsilon), nonnegative("kl", kl))

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
    return float_or_array(np.where(kl > 0, np.minimum(delta + 1e-12, largest), 0.0))


def tv_from_kl(kl: ArrayLike, *, method: str = "sharp") -> Any:
    """Return the total variation that a Kullback-Leibler divergence guarantees.

    Parameters
    ----------
    kl : array_like
        Bound on the divergence in both orders, >= 0.
    method : {"sharp", "paper"}
        "paper": the smaller of sqrt(kl / 2) (Pinsker) and sqrt(1 - e^-kl) (Bretagnolle and Huber).

    Returns
    -------
    tv : float or ndarray
        The t with t log((1 + t) / (1 - t)) = `kl`, the total variation of randomized response with the same divergence.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> from ldpfast.privacy import tv_from_kl
    >>> round(tv_from_kl(0.1), 4)
    0.2217
    """
    kl = nonnegative("kl", kl)
    if _check.choice("method", method, METHODS) == "paper":
        return float_or_array(up(np.minimum(np.sqrt(kl) / math.sqrt(2), np.sqrt(-np.expm1(-kl))), 1.0, zero=kl == 0))
    bound = np.tanh(np.asarray(epsilon_for_kl(kl)) / 2)
    return float_or_array(raise_until(lambda tv: np.asarray(kl_for_tv(tv)) >= kl, np.where(kl > 0, bound, 0.0), 1.0))


def kl_for_tv(tv: ArrayLike) -> Any:
    """Return the largest Kullback-Leibler divergence, in both orders, that guarantees a total variation.

    Parameters
    ----------
    tv : array_like
        In [0, 1].

    Returns
    -------
    kl : float or ndarray
        ``tv log((1 + tv) / (1 - tv))``, the divergence of randomized response with the same total variation; infinite for
        `tv` = 1.

    Raises
    ------
    TypeError, ValueError
        If `tv` is out of its range.

    Examples
    --------
    >>> from ldpfast.privacy import kl_for_tv
    >>> round(kl_for_tv(0.5), 4)
    0.5493
    """
    tv = _check.within("tv", tv, 0, 1)
    with np.errstate(divide="ignore"):
        return float_or_array(down(2 * tv * np.arctanh(tv)))


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
