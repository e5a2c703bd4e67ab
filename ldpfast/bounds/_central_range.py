"""A functional with a known range, from a private release."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from ._bound import Bound, bound, is_paper, level, people
from ._central_privacy import CHAUDHURI
from ._problem import Problem, register


def central_range(n: ArrayLike, epsilon: ArrayLike, low: ArrayLike, high: ArrayLike, *, mode: str = "sharp") -> Bound:
    """A functional that takes every value in [low, high], from a pure private release: absolute error.

    Parameters
    ----------
    n : array_like
        People, >= 1.
    epsilon : array_like
        > 0.
    low, high : array_like
        low < high.
    mode : {"sharp", "paper"}
        "sharp": (high - low) / (1 + e^(epsilon n)). "paper": (high - low) / (4 (2 + e^(epsilon n))).

    Returns
    -------
    bound : Bound
        Upper: the answer in the middle, the best that is known for every functional.

    Raises
    ------
    TypeError, ValueError
        As `central_mean`; if not low < high.

    References
    ----------
    .. [1] K. Chaudhuri, D. Hsu, "Convergence rates for differentially private statistical estimation", ICML 2012,
    Theorem 2.
    """
    theorem = f"{CHAUDHURI}, Theorem 2,"
    number, a = people(theorem, n), level(theorem, epsilon)
    bottom, top = _check.numbers("low", low), _check.numbers("high", high)
    _check.condition(theorem, "low < high", bottom < top, low=bottom, high=top)
    small = np.exp(-a * number)
    lower = small / (4 * (1 + 2 * small)) if is_paper(mode) else small / (1 + small)
    width = top - bottom
    return bound(
        width * lower,
        width / 2,
        width * small,
        width * 0.0,
        loss="absolute error",
        below=f"{theorem} two datasets without a common record",
        above="the middle",
        vacuous="e^(-epsilon n) is below the least double",
    )


register(Problem(central_range, "a functional with a known range, with a trusted curator"))
