"""Error probabilities of hypothesis tests between neighbors, and conditional hypothesis testing privacy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import _check
from .._directed_rounding import Floats, down, float_or_array, up
from .._testing import inherited
from ._arguments import check_delta, nonnegative
from ._dp import delta_from_dp

SEARCH = 1e-10  # more than the relative error of a search over the masses of reports
SHARES = 1e-14  # more than the error of a difference of two shares of masses
MIN_MASS = (
    1e-290  # smaller masses count as 0, for which the parameter is larger: they are lost among the errors of doubles
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
    epsilon, delta = nonnegative("epsilon", epsilon), check_delta(delta)
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
    epsilon, delta = nonnegative("epsilon", epsilon), check_delta(delta)
    with np.errstate(over="ignore"):
        steep = _difference(delta, up(np.where(alarms > 0, np.exp(epsilon), 1.0) * alarms, zero=alarms == 0))
    flat = down(np.exp(-epsilon)) * _difference(delta, alarms)
    return float_or_array(np.maximum(0.0, np.maximum(steep, np.nextafter(flat, -1.0))))


def _difference(first: Floats, second: Floats) -> Floats:
    """Return a lower bound of 1 - first - second, exactly 1 if both are 0."""
    return np.where((first == 0) & (second == 0), 1.0, 1 - first - second - 2.0**-51)


# Conditional hypothesis testing ---------------------------------------------------------------------------------------


def conditional_testing_from_dp(
    epsilon: Floats, *, mass: Floats, delta: Floats | float = 0.0, method: str = "sharp"
) -> Floats:
    """Return the parameter of conditional hypothesis testing privacy, inherited; 1 where nothing is guaranteed; rounded up.

    "sharp" is the parameter of randomized response that with probability delta reports the true answer, marked as true. Every
    (epsilon, delta)-private pair is a post-processing of it. "paper" is ``(1 + e^-epsilon) (1 - e^(-2 epsilon))`` where the
    mass is at least ``delta / (e^(2 epsilon) - e^epsilon)``.
    """
    a, d, m = np.broadcast_arrays(epsilon, delta, mass)
    if method == "paper":
        enough = down(m * -np.expm1(-a)) >= up(d * np.exp(-2 * a), zero=d == 0)  # m (e^2a - e^a) >= d
        return np.where(enough, up((1 + np.exp(-a)) * -np.expm1(-2 * a), 1.0, zero=a == 0), 1.0)
    parameters = [_marked_response(*map(float, values)) for values in zip(a.flat, d.flat, m.flat, strict=True)]
    return np.array(parameters).reshape(a.shape)


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


def epsilon_from_conditional_testing(level: Floats) -> Floats:
    """Return the epsilon, 2 log((1 + level) / (1 - level)), the smallest possible."""
    return up(4 * np.arctanh(level), zero=level == 0)


def delta_from_conditional_testing(level: Floats, *, mass: Floats, at: Floats) -> Floats:
    """Return the delta at an epsilon: mass (1 + level) / (1 - level), at most 1, from the guaranteed epsilon on."""
    c, m, at = np.broadcast_arrays(level, mass, at)
    delta = up(m * (1 + c) / (1 - c), 1.0, zero=m == 0)
    return np.where(delta < 1, delta_from_dp(epsilon_from_conditional_testing(c), delta=delta, at=at), 1.0)
