"""Sample-size planning: the number of people, or the epsilon, that an error requires."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from .. import _check
from ._registered_problem import MAX_EPSILON, PROBLEMS

MIN_EPSILON = 1e-9
FINE_FROM = 0.1  # epsilon from which on the search takes small steps
COARSE_STEP, FINE_STEP = 1.5, 1.04
PARTS = 16  # of a step with an error near the goal
MARGIN = 1.02  # for errors that decrease faster than in proportion to 1 / epsilon and exp(-epsilon / 2)


def _goal(target: Any, error: float, confidence: float | None, fixed: dict[str, Any]) -> tuple[Any, float]:
    """Return the error of a target as a function of its arguments, and the largest accepted value."""
    from ..mechanisms import Mechanism
    from ..reports import recipe_of

    goal = _check.positive("error", error)
    confidence = None if confidence is None else _check.probability("confidence", confidence)
    # A mechanism has a standard error, times the normal quantile of the confidence. A bound has an expected error, which
    # becomes one with a confidence by its parameter beta, if it has one, or by Markov's inequality.
    if isinstance(target, Mechanism):
        _check.keywords("sample_size of a mechanism", fixed, ())
        low, high = recipe_of(target).value_range
        if goal >= high - low:
            raise ValueError(
                f"error must be below {high - low:g}, the length of the range [{low:g}, {high:g}] of the value, got {goal:g}"
            )
        z = 1.0
        if confidence is not None:
            from scipy.special import ndtri

            z = float(ndtri((1 + confidence) / 2))

        def standard(n: Any, epsilon: float | None = None) -> Any:
            if epsilon is not None and "epsilon" not in target._parameter_names():
                raise TypeError(f"target must have a parameter epsilon, got {target!r}")
            chosen = target if epsilon is None else replace(target, epsilon=epsilon)
            return z * np.sqrt(chosen.worst_variance / n)

        return standard, goal
    if isinstance(target, str):
        target = PROBLEMS[_check.choice("target", target, PROBLEMS)].bound
    if isinstance(target, type):
        raise TypeError(
            f"target must be a function of bounds, its name, or a mechanism, got the class {target.__name__}"
        )
    if not callable(target):
        raise TypeError(f"target must be a function of bounds, its name, or a mechanism, got {type(target).__name__}")
    if confidence is not None:
        if "beta" in inspect.signature(target).parameters:
            fixed = {**fixed, "beta": 1 - confidence}
        else:
            goal *= 1 - confidence  # Markov's inequality
    side = fixed.pop("side", "upper")
    _check.choice("side", side, ("upper", "lower"))

    def worst(n: Any, **more: Any) -> Any:
        return getattr(target(n=n, **more, **fixed), side)

    return worst, goal


def sample_size(target: Any, error: float, *, confidence: float | None = None, **fixed: Any) -> int:
    """Return the smallest number of people that a study needs.

    Parameters
    ----------
    target : callable, str or Mechanism
        A function of this module such as `median`, or its name, or a mechanism such as ``SignBit(0, 1, 1.0)``.
    error : float
        Accepted error, > 0. For a function: its loss (squared error, half-width, ...). For a mechanism: the standard
        error of a coordinate, for the worst population, below the length of the range of a coordinate. An error of 2
        percentage points of a share is 0.02.
    confidence : float, optional
        Probability in (0, 1) with which the error is not exceeded; by default the error is one on average. For a
        mechanism, the error is then the half-width of a normal interval. For `gaussian_mean`, it is 1 - beta. For
        another function, Markov's inequality is used.
    **fixed
        The other arguments of the function, as numbers. With ``side="lower"``, the result is the number of people that
        any procedure needs.

    Returns
    -------
    n : int
        Least n for which the upper bound (or lower, according to `side`) is at most `error`.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range, or 2^53 people are not enough.

    Notes
    -----
    A few hundred evaluations.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> bounds.sample_size(bounds.mean_l2, 0.01, dim=10, epsilon=1.0)
    6998
    """
    worst, goal = _goal(target, error, confidence, dict(fixed))
    return _least_n(worst, goal)


def _least_n(worst: Callable[..., Any], goal: float) -> int:
    """Return the least n with an error of at most `goal`."""
    powers = 2.0 ** np.arange(54)
    values = np.asarray(worst(powers))
    if values.ndim != 1:
        raise ValueError(f"arguments other than n must be numbers, got arrays that give shape {values.shape}")
    enough = values <= goal
    if not enough.any():
        raise ValueError(
            f"error must be reachable with at most {_check.MAX_PEOPLE} people, got {goal:g}, below the minimum {values[-1]:g}"
        )
    index = int(np.argmax(enough))
    low, high = (0, 1) if index == 0 else (int(powers[index - 1]), int(powers[index]))
    while high - low > 1:
        step = max(1, (high - low) // 64)
        tried = np.arange(low + step, high, step)
        if len(tried) == 0:
            break
        good = np.asarray(worst(tried.astype(np.float64))) <= goal
        first = int(np.argmax(good)) if good.any() else len(tried)
        high = int(tried[first]) if first < len(tried) else high
        low = int(tried[first - 1]) if first > 0 else low
    return high


def epsilon_for(target: Any, error: float, *, n: int, confidence: float | None = None, **fixed: Any) -> float:
    """Return the smallest epsilon for which a number of people suffices.

    Parameters
    ----------
    target : callable, str or Mechanism
        As for `sample_size`; the epsilon of a mechanism is ignored. A design that the mechanism chose itself, such as the size
        of the sets of `SubsetSelection`, is chosen anew for each epsilon; one that was given is kept.
    error : float
        Accepted error, as for `sample_size`.
    n : int
        Number of people.
    confidence : float, optional
        As for `sample_size`.
    **fixed
        As for `sample_size`.

    Returns
    -------
    epsilon : float
        Privacy parameter between 1e-9 and 44, to nine digits, rounded up.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range, or no epsilon up to 44, or up to the largest one of the mechanism, suffices.

    Notes
    -----
    For a mechanism, a search in steps of 4 %, and of 0.25 % where the error is near `error`, then bisection: a smaller
    epsilon is missed only if it suffices in a part of a step.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> round(bounds.epsilon_for(bounds.mean_l2, 0.01, n=6998, dim=10), 3)
    1.0
    """
    from ..mechanisms import Mechanism

    worst, goal = _goal(target, error, confidence, dict(fixed))
    people = _check.people("n", n)

    def error_at(epsilon: float) -> float:
        try:
            return float(worst(n=float(people), epsilon=epsilon))
        except ValueError:
            if not isinstance(target, Mechanism):
                raise
            return math.nan  # the mechanism has no coins for this epsilon

    def is_enough(epsilon: float) -> bool:
        return error_at(epsilon) <= goal

    # The error of a mechanism may jump upward where another design is chosen for it, so that bisection alone could miss a
    # smaller epsilon. The steps of a grid are looked at from below, in fine steps where the error at an end is near the goal.
    tried, most = MIN_EPSILON, _max_epsilon(target, fixed)
    if (found := error_at(tried)) <= goal:
        return tried
    if not isinstance(target, Mechanism) and is_enough(most):  # a bound decreases in epsilon
        return _bisected(tried, most, is_enough)[1]
    while isinstance(target, Mechanism) and tried < most:
        before, earlier = tried, found
        tried = min(most, tried * (COARSE_STEP if tried < FINE_FROM else FINE_STEP))
        found = error_at(tried)
        if math.isnan(found) and not math.isnan(earlier):  # the largest epsilon of the mechanism is in this step
            most = tried = _bisected(before, tried, lambda epsilon: math.isnan(error_at(epsilon)))[0]
            found = error_at(tried)
        steepest = MARGIN * max(tried / before, math.exp((tried - before) / 2))
        if np.fmin(earlier, found) <= goal * steepest:
            for low, high in pairwise(np.geomspace(before, tried, PARTS + 1).tolist()):
                if is_enough(high):
                    return _bisected(low, high, is_enough)[1]
    raise ValueError(f"error must be reachable with epsilon <= {most:g} and n = {people}, got {goal:g}")


def _bisected(low: float, high: float, is_beyond: Callable[[float], bool]) -> tuple[float, float]:
    """Return the ends of a narrow interval, of which the upper one and not the lower one is beyond a limit."""
    while high > low * (1 + 1e-9):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if is_beyond(middle) else (middle, high)
    return low, high


def _max_epsilon(target: Any, fixed: dict[str, Any]) -> float:
    """Return the largest epsilon of the search for a target."""
    name = target if isinstance(target, str) else getattr(target, "__name__", "")
    return PROBLEMS[name].max_epsilon(fixed) if name in PROBLEMS else MAX_EPSILON
