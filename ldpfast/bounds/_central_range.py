"""Bounds for a functional with a known range in the central model."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from ._bound import Bound, bound, check_epsilon, check_n, is_paper
from ._central_privacy import CHAUDHURI
from ._registered_problem import RegisteredProblem, register


def central_range(n: ArrayLike, epsilon: ArrayLike, *, low: ArrayLike, high: ArrayLike, method: str = "sharp") -> Bound:
    """Bound the absolute error of a functional that takes every value in [low, high], under pure central privacy.

    Parameters
    ----------
    n : array_like
        Number of people, >= 1.
    epsilon : array_like
        Privacy parameter, > 0.
    low, high : array_like
        Ends of the range, low < high.
    method : {"sharp", "paper"}
        "sharp": (high - low) / (1 + e^(epsilon n)). "paper": (high - low) / (4 (2 + e^(epsilon n))).

    Returns
    -------
    bound : Bound
        Upper bound: the middle of the range, the best answer known for every functional.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range; the message names the theorem and its condition.

    References
    ----------
    .. [1] K. Chaudhuri, D. Hsu, "Convergence rates for differentially private statistical estimation", ICML 2012,
       Theorem 2.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> bound = bounds.central_range(10_000, 1.0, low=0, high=10)
    >>> bound.lower <= bound.upper
    True
    """
    theorem = f"{CHAUDHURI}, Theorem 2,"
    number, a = check_n(theorem, n), check_epsilon(theorem, epsilon)
    bottom, top = _check.numbers("low", low), _check.numbers("high", high)
    _check.condition(theorem, "low < high", bottom < top, low=bottom, high=top)
    small = np.exp(-a * number)
    lower = small / (4 * (1 + 2 * small)) if is_paper(method) else small / (1 + small)
    width = top - bottom
    return bound(
        width * lower,
        width / 2,
        width * small,
        width * 0.0,
        loss="absolute error",
        below=f"{theorem} two datasets without a common record",
        above="the middle of the range",
        vacuous="e^(-epsilon n) is below the smallest double",
    )


register(RegisteredProblem(central_range, "a functional with a known range, with a trusted curator", central=True))
