"""Bounds for the median."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ._bound import Bound, bound, check_epsilon, check_n, check_scale, is_paper
from ._contraction import check_small_epsilon
from ._registered_problem import RegisteredProblem, Solution, Solutions, register
from ._tools import (
    DJW,
    allow_overflow,
    coth_half,
    two_points,
)


@allow_overflow
def median(n: ArrayLike, epsilon: ArrayLike, *, radius: ArrayLike, method: str = "sharp") -> Bound:
    """Bound the excess of E|X - answer| over its minimum, for a median in [-radius, radius].

    Parameters
    ----------
    n, epsilon
        As for `mean_1d`.
    radius : array_like
        Bound r > 0 on the median.
    method : {"sharp", "paper"}
        "paper": lower bound with the published constants, for epsilon up to 22/35.

    Returns
    -------
    bound : Bound
        Lower bound: for channels that may depend on earlier reports. Upper bound: `MedianSGD` with known n, or the
        answer 0.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range; the message names the theorem and its condition.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       JASA 113 (2018), Corollary 2.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> bound = bounds.median(10_000, 1.0, radius=1)
    >>> 0 < bound.lower < bound.upper
    True
    """
    theorem = f"{DJW}, Corollary 2,"
    number, r = check_n(theorem, n), check_scale(theorem, "radius", radius)
    if is_paper(method):
        a = check_small_epsilon(theorem, epsilon)
        cost = np.sqrt(2 * number) * a
        far = np.minimum(1.0, 0.5 / cost)
        lower = far / 2 * (1 - cost * far)
    else:
        a = check_epsilon(theorem, epsilon)
        lower = two_points(number, a, np.asarray(1.0), sparse=False)
    return bound(
        r * lower,
        r * np.minimum(1.0, 4 / 3 * coth_half(a) / np.sqrt(number)),
        r * np.minimum(1.0, 1 / (np.sqrt(number) * a)),
        r / np.sqrt(number),
        loss="excess absolute error",
        below=f"{theorem} two distributions on the ends" + ("" if is_paper(method) else ", sharp contraction"),
        above="MedianSGD with known n, or 0",
        vacuous="the published bound is negative",
    )


def solutions(n: int, epsilon: float, radius: float) -> Solutions:
    """Return the procedures of the library that solve the problem, with their errors."""
    error = radius * 4 / 3 / math.tanh(epsilon / 2) / math.sqrt(n)
    return [lambda: Solution("MedianSGD", error, "bound", 1)]


register(RegisteredProblem(median, "the median of a number", solutions))
