"""Conversions between definitions of privacy.

``x_from_y`` is the best x that y guarantees, ``y_for_x`` the weakest y that guarantees x. With ``method="sharp"``, the default,
some channel attains the result. ``method="paper"`` is a weaker published form, and exists only if that form is true. Arguments
broadcast. All computations are in doubles, and results are rounded toward more privacy. An upper bound that is not 0 is at
least the smallest positive double.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from ._numbers import Floats, down, float_or_array, lower_until, raise_until, up
from ._testing import inherited

METHODS = ("sharp", "paper")
SEARCH = 1e-10  # more than the relative error of a search over the masses of reports
SHARES = 1e-14  # more than the error of a difference of two shares of masses
MIN_MASS = (
    1e-290  # smaller masses count as 0, for which the parameter is larger: they are lost among the errors of doubles
)


def _nonnegative(name: str, values: ArrayLike) -> Floats:
    return _check.within(name, values, 0, math.inf, "[)")


def _delta(values: ArrayLike) -> Floats:
    return _check.within("delta", values, 0, 1, "[)")


# Differential privacy -------------------------------------------------------------------------------------------------


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
    at, epsilon, delta = _nonnegative("at", at), _nonnegative("epsilon", epsilon), _delta(delta)
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
    epsilon, delta = _nonnegative("epsilon", epsilon), _delta(delta)
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
    tv, delta = np.broadcast_arrays(_check.within("tv", tv, 0, 1), _delta(delta))
    if (delta > tv).any():
        raise ValueError(f"delta must be at most tv, got {float(delta[delta > tv].flat[0])!r}")
    with np.errstate(divide="ignore"):
        epsilon = 2 * np.arctanh((tv - delta) / (1 - delta))
    return float_or_array(
        np.where(tv < 1, lower_until(lambda e: _tv(e, delta) <= tv, np.where(tv < 1, epsilon, 0.0)), math.inf)
    )


def least_error(epsilon: ArrayLike, delta: ArrayLike = 0.0) -> Any:
    """Return the smallest sum of the false-alarm and miss probabilities that (epsilon, delta)-privacy allows.

    Parameters
    ----------
    epsilon : array_like
        At least 0.
    delta : array_like, default 0.0
        In [0, 1).

    Returns
    -------
    error : float or ndarray
        ``2 (1 - delta) / (1 + e^epsilon)``, for the best test between two neighbors. It is at least
        ``1 - epsilon / 2 - delta``.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range.

    Notes
    -----
    The bound printed in Barber and Duchi, equation (3), has 2 - delta instead of 2 - 2 delta and is false.

    Examples
    --------
    >>> from ldpfast.privacy._conversions import least_error
    >>> round(least_error(1.0), 4)  # a test without any errors has 0, a guess 1
    0.5379
    """
    epsilon, delta = _nonnegative("epsilon", epsilon), _delta(delta)
    return float_or_array(down(2 * (1 - delta) * np.exp(-epsilon) / (1 + np.exp(-epsilon))))


def disclosure_risk(epsilon: ArrayLike, delta: ArrayLike = 0.0) -> Any:
    """Return the smallest error probability of guessing which of two equally likely records made a report.

    Parameters
    ----------
    epsilon : array_like
        At least 0.
    delta : array_like, default 0.0
        In [0, 1).

    Returns
    -------
    risk : float or ndarray
        ``(1 - delta) / (1 + e^epsilon)``: half of the smallest sum of both errors of a test.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> round(disclosure_risk(1.0), 9)
    0.268941421
    """
    return float_or_array(np.asarray(least_error(epsilon, delta)) / 2)


def misses(false_alarms: ArrayLike, epsilon: ArrayLike, delta: ArrayLike = 0.0) -> Any:
    """Return the smallest miss probability at a given false-alarm probability that (epsilon, delta)-privacy allows.

    Parameters
    ----------
    false_alarms : array_like
        Probabilities of a false alarm, in [0, 1].
    epsilon : array_like
        At least 0.
    delta : array_like, default 0.0
        In [0, 1).

    Returns
    -------
    misses : float or ndarray
        The largest of 0, ``1 - delta - e^epsilon false_alarms`` and ``e^-epsilon (1 - delta - false_alarms)``, rounded down. A
        channel is (epsilon, delta)-private if and only if its trade-off function is nowhere smaller.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> from ldpfast.privacy._conversions import misses
    >>> round(misses(0.05, epsilon=1.0), 4)  # of the best test with 5 % of false alarms
    0.8641
    """
    alarms = _check.within("false_alarms", false_alarms, 0, 1)
    epsilon, delta = _nonnegative("epsilon", epsilon), _delta(delta)
    with np.errstate(over="ignore"):
        steep = _difference(delta, up(np.where(alarms > 0, np.exp(epsilon), 1.0) * alarms, zero=alarms == 0))
    flat = down(np.exp(-epsilon)) * _difference(delta, alarms)
    return float_or_array(np.maximum(0.0, np.maximum(steep, np.nextafter(flat, -1.0))))


def _difference(first: Floats, second: Floats) -> Floats:
    """Return a lower bound of 1 - first - second, exactly 1 if both are 0."""
    return np.where((first == 0) & (second == 0), 1.0, 1 - first - second - 2.0**-51)


# Kullback-Leibler privacy ---------------------------------------------------------------------------------------------


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
    epsilon = _nonnegative("epsilon", epsilon)
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
    kl = _nonnegative("kl", kl)
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
    epsilon, kl = np.broadcast_arrays(_nonnegative("epsilon", epsilon), _nonnegative("kl", kl))

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
    kl = _nonnegative("kl", kl)
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


# Total variation privacy ----------------------------------------------------------------------------------------------


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
    epsilon, tv = np.broadcast_arrays(_nonnegative("epsilon", epsilon), _check.within("tv", tv, 0, 1))
    return float_or_array(tv.copy())


# Conditional hypothesis testing ---------------------------------------------------------------------------------------


def conditional_testing_from_dp(
    epsilon: ArrayLike, delta: ArrayLike = 0.0, *, mass: ArrayLike = 0.0, method: str = "sharp"
) -> Any:
    """Return the parameter of conditional hypothesis testing privacy, inherited, that (epsilon, delta)-privacy guarantees.

    Parameters
    ----------
    epsilon : array_like
        At least 0.
    delta : array_like, default 0.0
        In [0, 1).
    mass : array_like, default 0.0
        Smallest probability of a set that counts, in [0, 1).
    method : {"sharp", "paper"}
        "paper": ``(1 + e^-epsilon) (1 - e^(-2 epsilon))`` where `mass` is at least ``delta / (e^(2 epsilon) - e^epsilon)``.

    Returns
    -------
    parameter : float or ndarray
        tanh(epsilon / 2) for `delta` = `mass` = 0; 1 where nothing is guaranteed; rounded up. "sharp" is the parameter of
        randomized response that with probability delta reports the true answer, marked as true. Every (epsilon,
        delta)-private pair is a post-processing of it.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> from ldpfast.privacy import conditional_testing_from_dp
    >>> round(conditional_testing_from_dp(1.0), 4)  # tanh(1 / 2)
    0.4621
    """
    a, d, m = np.broadcast_arrays(
        _nonnegative("epsilon", epsilon), _delta(delta), _check.within("mass", mass, 0, 1, "[)")
    )
    if _check.choice("method", method, METHODS) == "paper":
        enough = down(m * -np.expm1(-a)) >= up(d * np.exp(-2 * a), zero=d == 0)  # m (e^2a - e^a) >= d
        return float_or_array(np.where(enough, up((1 + np.exp(-a)) * -np.expm1(-2 * a), 1.0, zero=a == 0), 1.0))
    parameters = [_marked_response(*map(float, values)) for values in zip(a.flat, d.flat, m.flat, strict=True)]
    return float_or_array(np.array(parameters).reshape(a.shape))


def _marked_response(epsilon: float, delta: float, mass: float) -> float:
    """Return the parameter of randomized response with marked true answers."""
    mass = mass if mass > MIN_MASS else 0.0
    if delta == 0 and mass == 0:
        return float(up(math.tanh(epsilon / 2), 1.0, zero=epsilon == 0))
    if epsilon == delta == 0:
        return 0.0
    unmarked = (1 - delta) / (1 + math.exp(-epsilon))
    p = np.array([delta, unmarked, math.exp(-epsilon) * unmarked, 0.0])
    bound = float(up(inherited(p, p[::-1], mass) + SHARES, 1.0, SEARCH))
    return bound if delta > 0 else min(bound, float(up(math.tanh(epsilon / 2), 1.0)))  # the parameter for mass 0


def dp_from_conditional_testing(level: ArrayLike, *, mass: ArrayLike = 0.0) -> tuple[Any, Any]:
    """Return the epsilon and delta that conditional hypothesis testing privacy, inherited, guarantees.

    Parameters
    ----------
    level : array_like
        Parameter of conditional hypothesis testing privacy, in [0, 1).
    mass : array_like, default 0.0
        Smallest probability of a set that counts, in [0, 1).

    Returns
    -------
    epsilon, delta : float or ndarray
        ``2 log((1 + level) / (1 - level))``, the smallest possible, and ``mass (1 + level) / (1 - level)``, at most 1.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> from ldpfast.privacy import dp_from_conditional_testing
    >>> epsilon, delta = dp_from_conditional_testing(0.5)
    >>> round(epsilon, 4), delta
    (2.1972, 0.0)
    """
    c, m = np.broadcast_arrays(_check.within("level", level, 0, 1, "[)"), _check.within("mass", mass, 0, 1, "[)"))
    return float_or_array(up(4 * np.arctanh(c), zero=c == 0)), float_or_array(
        up(m * (1 + c) / (1 - c), 1.0, zero=m == 0)
    )


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
