"""Bounds for a functional with a known gross error sensitivity in the central model."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from ._bound import Bound, bound, check_epsilon, check_n, check_scale, is_paper
from ._central_privacy import CHAUDHURI, CentralPrivacy
from ._registered_problem import RegisteredProblem, register
from ._tools import (
    DISTANCES,
)


def central_ges(n: ArrayLike, epsilon: ArrayLike, delta: ArrayLike, *, ges: ArrayLike, method: str = "sharp") -> Bound:
    """Bound the absolute error near a distribution, in the central model, given the gross error sensitivity.

    Parameters
    ----------
    n : array_like
        Number of people, >= 1.
    epsilon, delta : array_like
        Privacy parameters, epsilon > 0 and 0 <= delta < 1.
    ges : array_like
        Largest influence of a contamination, > 0, which is the same for every share of contamination, as for a mean.
    method : {"sharp", "paper"}
        "paper": rho ges / 16 with rho = ceil(log 2 / (2 epsilon)) / n, for epsilon < log(2) / 2, delta <= (1 -
        e^-epsilon) / 16 and rho <= 1.

    Returns
    -------
    bound : Bound
        Lower bound: for the worse of a distribution and its best contamination. Upper bound: for a mean, with Laplace
        noise (`central.mean`), or an answer without data.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range or a condition of the published form does not hold; the message names the theorem
        and its condition.

    References
    ----------
    .. [1] K. Chaudhuri, D. Hsu, "Convergence rates for differentially private statistical estimation", ICML 2012,
       Theorem 1.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> bound = bounds.central_ges(10_000, 1.0, 0.0, ges=0.5)
    >>> 0 < bound.lower
    True
    """
    theorem = f"{CHAUDHURI}, Theorem 1,"
    number = check_n(theorem, n)
    a = check_epsilon(theorem, epsilon)
    d = _check.numbers("delta", delta)
    _check.condition(theorem, "0 <= delta < 1", (d >= 0) & (d < 1), delta=d)
    influence = check_scale(theorem, "ges", ges)
    if is_paper(method):
        _check.condition(theorem, "epsilon < log(2) / 2", a < np.log(2) / 2, epsilon=a)
        _check.condition(theorem, "delta <= (1 - e^-epsilon) / 16", d <= -np.expm1(-a) / 16, delta=d, epsilon=a)
        rho = np.ceil(np.log(2) / (2 * a)) / number
        _check.condition(theorem, "n >= ceil(log 2 / (2 epsilon))", rho <= 1, n=number, epsilon=a)
        lower = rho / 16
    else:
        definition = CentralPrivacy(theorem, "pure", a, 0.0)
        definition.slack = 1.0 + 2 * d / np.expm1(a)
        lower = np.zeros(np.broadcast_shapes(number.shape, a.shape, d.shape))
        for s in DISTANCES:
            lower = np.maximum(lower, np.minimum(definition.reach(number, s), 1.0) / 2 * (1 - s))
    return bound(
        influence * lower,
        influence * np.minimum(1.0, 1 / np.sqrt(number) + 2 / (number * a)),
        influence * np.minimum(1.0, 1 / (number * a)),
        influence * np.minimum(1.0, 1 / np.sqrt(number)),
        loss="absolute error",
        below=f"{theorem} a distribution and its contamination",
        above="central.mean (for a mean), or an answer without data",
    )


register(
    RegisteredProblem(
        central_ges, "a functional with a known gross error sensitivity, with a trusted curator", central=True
    )
)
