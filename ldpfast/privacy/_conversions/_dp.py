"""Conversions between (epsilon, delta)-privacy and total variation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import _check
from .._directed_rounding import Floats, float_or_array, lower_until, up
from ._arguments import METHODS, check_delta, nonnegative


def delta_from_dp(epsilon: ArrayLike, delta: ArrayLike = 0.0, *, at: ArrayLike) -> Any:
    """Return the delta at another epsilon that (epsilon, delta)-privacy guarantees.

    Parameters
    ----------
    epsilon : array_like
        At least 0.
    delta : array_like, default 0.0
        In [0, 1).
    at : array_like
        The epsilon of the result, >= 0.

    Returns
    -------
    delta : float or ndarray
        ``delta + (1 - delta) (e^epsilon - e^at) / (1 + e^epsilon)`` if `at` is below `epsilon`, else `delta`. Attained by
        randomized response that with probability delta reports the true answer, marked as true.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> from ldpfast.privacy import delta_from_dp
    >>> delta_from_dp(at=1.0, epsilon=1.0), round(delta_from_dp(at=0.5, epsilon=1.0), 4)
    (0.0, 0.2876)
    """
    at = nonnegative("at", at)
    epsilon = nonnegative("epsilon", epsilon)
    delta = check_delta(delta)
    gap = np.minimum(at - epsilon, 0.0)
    more = up((1 - delta) * -np.expm1(gap) / (1 + np.exp(-epsilon)))
    return float_or_array(np.where(gap < 0, up(delta + more, 1.0), delta))  # delta is exact from epsilon on


def tv_from_dp(epsilon: ArrayLike, delta: ArrayLike = 0.0, *, method: str = "sharp") -> Any:
    """Return the total variation that (epsilon, delta)-privacy guarantees.

    Parameters
    ----------
    epsilon : array_like
        At least 0.
    delta : array_like, default 0.0
        In [0, 1).
    method : {"sharp", "paper"}
        "paper": the smaller of 1 and epsilon / 2 + delta.

    Returns
    -------
    tv : float or ndarray
        ``(e^epsilon - 1 + 2 delta) / (e^epsilon + 1)``; tanh(epsilon / 2) for delta = 0.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> from ldpfast.privacy import tv_from_dp
    >>> round(tv_from_dp(1.0), 4)
    0.4621
    """
    epsilon, delta = nonnegative("epsilon", epsilon), check_delta(delta)
    if _check.choice("method", method, METHODS) == "paper":
        return float_or_array(up(epsilon / 2 + delta, 1.0, zero=(epsilon == 0) & (delta == 0)))
    return float_or_array(_tv(epsilon, delta))


def _tv(epsilon: Floats, delta: Floats) -> Floats:
    """Return the total variation of (epsilon, delta)-privacy, rounded up."""
    return np.where(epsilon > 0, up(delta + (1 - delta) * np.tanh(epsilon / 2), 1.0), delta)


def epsilon_for_tv(tv: ArrayLike, delta: ArrayLike = 0.0) -> Any:
    """Return the largest epsilon at which (epsilon, delta)-privacy guarantees a total variation.

    Parameters
    ----------
    tv : array_like
        In [0, 1].
    delta : array_like, default 0.0
        In [0, 1), at most `tv`.

    Returns
    -------
    epsilon : float or ndarray
        ``log((1 + tv - 2 delta) / (1 - tv))``.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range; if `delta` is above `tv`, where no epsilon is small enough.

    Examples
    --------
    >>> from ldpfast.privacy import epsilon_for_tv, tv_from_dp
    >>> epsilon = epsilon_for_tv(0.5)
    >>> round(epsilon, 4), round(tv_from_dp(epsilon), 4)
    (1.0986, 0.5)
    """
    tv, delta = np.broadcast_arrays(_check.within("tv", tv, 0, 1), check_delta(delta))
    if (delta > tv).any():
        raise ValueError(f"delta must be at most tv, got {float(delta[delta > tv].flat[0])!r}")
    with np.errstate(divide="ignore"):
        epsilon = 2 * np.arctanh((tv - delta) / (1 - delta))
    return float_or_array(
        np.where(tv < 1, lower_until(lambda e: _tv(e, delta) <= tv, np.where(tv < 1, epsilon, 0.0)), math.inf)
    )


def delta_from_tv(epsilon: ArrayLike, *, tv: ArrayLike) -> Any:
    """Return the delta at a given epsilon that a total variation guarantees, which is the total variation.

    Parameters
    ----------
    epsilon : array_like
        At least 0.
    tv : array_like
        In [0, 1].

    Returns
    -------
    delta : float or ndarray
        `tv`, for every epsilon. No smaller delta is true: see `release_one_at_random`.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> from ldpfast.privacy import delta_from_tv
    >>> round(delta_from_tv(0.0, tv=0.25), 4)
    0.25
    """
    epsilon, tv = np.broadcast_arrays(nonnegative("epsilon", epsilon), _check.within("tv", tv, 0, 1))
    return float_or_array(tv.copy())
