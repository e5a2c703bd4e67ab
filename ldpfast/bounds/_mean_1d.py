"""Bounds for the mean of a number with a bounded moment."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from ._bound import Bound, bound, check_epsilon, check_n, check_scale, is_paper
from ._contraction import check_small_epsilon
from ._registered_problem import RegisteredProblem, Solution, Solutions, register, require_domain
from ._tools import (
    DJW,
    SQUARED,
    allow_overflow,
    best_clipping,
    coth_half,
    two_points,
    without_privacy,
)


@allow_overflow
def mean_1d(
    n: ArrayLike, epsilon: ArrayLike, *, moment: ArrayLike, radius: ArrayLike = 1.0, method: str = "sharp"
) -> Bound:
    """Bound the squared error of the mean of a number with a bounded moment.

    Parameters
    ----------
    n : array_like
        Number of people, >= 1, with one report each. The formulas are continuous in n, so it need not be an integer.
    epsilon : array_like
        Privacy parameter of a report, > 0.
    moment : array_like
        Order k > 1, or infinity for a number in [-radius, radius].
    radius : array_like, default 1.0
        Bound r > 0 on the moment, with E|X|^k <= r^k.
    method : {"sharp", "paper"}
        "paper": lower bound with the published constants, for epsilon up to 22/35.

    Returns
    -------
    bound : Bound
        Lower bound: for channels that may depend on earlier reports. Upper bound: `TruncatedMean` at the best
        truncation radius with the better of its two kinds of noise, or the answer 0.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range; the message names the theorem and its condition.

    Notes
    -----
    Arguments broadcast; about half a microsecond per element.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       JASA 113 (2018), Corollary 1.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> bound = bounds.mean_1d(10_000, 1.0, moment=3)
    >>> 0 < bound.lower < bound.upper
    True
    """
    theorem = f"{DJW}, Corollary 1,"
    number, k = check_n(theorem, n), _check.numbers("moment", moment, infinite=True)
    _check.condition(theorem, "a moment > 1", k > 1, moment=k)
    _check.condition(theorem, "a moment of at most 1e6, or infinite", (k <= 1e6) | np.isinf(k), moment=k)
    r2 = check_scale(theorem, "radius", radius) ** 2
    power = np.where(np.isinf(k), 2.0, 2 - 2 / k)
    if is_paper(method):
        a = check_small_epsilon(theorem, epsilon)
        cost = np.sqrt(2 * number) * a
        far = np.minimum(1.0, power / (1 + power) / cost)
        lower = far**power / 2 * (1 - cost * far)
    else:
        a = check_epsilon(theorem, epsilon)
        lower = two_points(number, a, power, sparse=True)
    heavy = k < 2
    laplace = best_clipping(8 / (number * a**2), np.where(heavy, 1 / number, 0.0), k)
    laplace = laplace + np.where(heavy, 0.0, 1 / number)
    one_bit = best_clipping(coth_half(a) ** 2 / number, np.zeros(()), k)
    upper = np.minimum(1.0, np.minimum(laplace, one_bit))
    return bound(
        r2 * lower,
        r2 * upper,
        r2 * np.minimum(1.0, (number * a**2) ** (-power / 2)),
        r2 * np.minimum(1.0, without_privacy(number, k)),
        loss=SQUARED,
        below=f"{theorem} mass at two far points" + ("" if is_paper(method) else ", sharp contraction"),
        above="TruncatedMean at the best truncation radius, or 0",
        vacuous="the published bound is negative",
    )


def solutions(n: int, epsilon: float, moment: float, radius: float = 1.0) -> Solutions:
    """Return the procedures of the library that solve the problem, with their errors."""
    from ..estimation import TruncatedMean
    from ..mechanisms import Laplace, SignBit, Window

    if math.isinf(moment):

        def plain(kind: Any, **options: int) -> Solution:
            mechanism = kind(-radius, radius, epsilon, **options)
            return Solution(kind.__name__, mechanism.worst_variance / n, "exact", mechanism.report_bits)

        return [lambda: plain(SignBit), lambda: plain(Window, outputs=256), lambda: plain(Laplace)]

    def truncated(noise: str, method: str) -> Solution:
        problem = TruncatedMean(epsilon, moment=moment, radius=radius, n=n, method=method, noise=noise)
        name = f"TruncatedMean(method={method!r}, noise={noise!r})"
        return Solution(name, problem.mean_squared_error().total, "exact", problem.mechanism.report_bits)

    kinds = [(noise, method) for noise in ("laplace", "sign-bit") for method in ("optimal", "paper")]
    return [lambda noise=noise, method=method: truncated(noise, method) for noise, method in kinds]  # type: ignore[misc]


def error_of(mechanism: Any, n: int, *, moment: float, radius: float = 1.0) -> float:
    """Return the largest squared error of the mean of n reports of a mechanism for numbers in [-radius, radius]."""
    if not math.isinf(moment):
        raise ValueError("moment must be infinite to compare a mechanism for bounded numbers")
    from ..domains import Interval

    require_domain(mechanism, Interval(-radius, radius))
    return float(mechanism.worst_variance / n)


register(RegisteredProblem(mean_1d, "the mean of a number with a bounded moment", solutions, error_of))
