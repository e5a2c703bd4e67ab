"""Bounds for the coefficients of a logistic regression."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._bound import Bound, bound, check_epsilon, check_integer, check_n, check_scale, is_paper
from ._contraction import tanh_half
from ._registered_problem import RegisteredProblem, Solution, Solutions, register
from ._testing_methods import information_factor, tv_from_kl
from ._tools import (
    DISTANCES,
    DJW,
    SQUARED,
    allow_overflow,
    capacity,
    coth_half,
    divergence_of,
    half_space,
)

STEP_EXPONENT = 0.99
# Least curvature of the likelihood, in units of radius^2, for a least eigenvalue of 3/4 and log odds of at most 1.
CURVATURE = 0.75 / (4 * np.cosh(0.5) ** 2)


@allow_overflow
def logistic(
    n: ArrayLike, dim: ArrayLike, epsilon: ArrayLike, *, radius: ArrayLike = 1.0, method: str = "sharp"
) -> Bound:
    """Bound the squared Euclidean error of the coefficients of a logistic regression.

    Parameters
    ----------
    n, dim, epsilon
        As for `mean_l2`.
    radius : array_like, default 1.0
        Bound r > 0 on the entries: rows are in [-r, r]^d. The eigenvalues of E x x^T are at least 3 r^2 / 4, and the
        coefficients have a norm of at most 1 / (r sqrt d), so no log odds exceed 1. Without such conditions there is no
        bound.
    method : {"sharp", "paper"}
        "paper": the lower bound with (e^epsilon - 1)^2 / 4 instead of the sharp capacity, without the factor 2.

    Returns
    -------
    bound : Bound
        Lower bound: for channels that may depend on earlier reports. Upper bound: `GradientDescent` with norm "linf",
        projection 1 / (r sqrt d), exponent 0.99 and eta0 0.99 / (0.1475 r^2), or coefficients of zero.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range; the message names the theorem and its condition.

    Notes
    -----
    The upper bound is derived here. Steps are eta0 i^-b with eta0 = b / l, where l is the least curvature. The squared
    error of a position is at most (b G^2 / l^2) i^-b by induction, with G^2 = d B^2. The mean over all positions but
    the first eighth has at most 2.4 times the error of the last.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       JASA 113 (2018), Corollary 6.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> bounds.logistic(100_000, 3, 1.0).loss
    'squared error'
    """
    theorem = f"{DJW}, Corollary 6,"
    number = check_n(theorem, n)
    d = check_integer(theorem, "dim", dim)
    a = check_epsilon(theorem, epsilon)
    r2, paper = check_scale(theorem, "radius", radius) ** 2, is_paper(method)
    # Corners are +-t in each coordinate, t <= 1 / d. The scores have variance 4 sinh(t / 2)^2, and the divergences are
    # t tanh(t / 2).
    factor = information_factor(a) if paper else np.minimum(capacity(a), d * tanh_half(a) ** 2 / 2)
    lower = np.zeros_like(number)
    for s in DISTANCES:
        reach = np.sqrt(d * divergence_of(s) / (4 * number * factor))
        lower = np.maximum(lower, d * np.minimum(2 * np.arcsinh(reach), 1 / d) ** 2 * (1 - s))
    kl = number / d * factor * 4 * np.sinh(0.5 / d) ** 2  # divergence of the farthest corners
    lower = np.maximum(lower, (1 - tv_from_kl(kl)) / d) / (2 if paper else 1)
    b = STEP_EXPONENT
    later = (1 - 8.0 ** (b - 1)) / (1 - b) * 8 / 7 * b / CURVATURE**2 * number**-b
    return bound(
        lower / r2,
        np.minimum(1 / d, d * (half_space(d) * coth_half(a)) ** 2 * later) / r2,
        np.minimum(1 / d, d**2 / (number * a**2)) / r2,
        np.minimum(1 / d, d * later) / r2,
        loss=SQUARED,
        below=f"{theorem} tilted independent rows, pairwise Assouad",
        above="GradientDescent with steps for the least curvature, or 0",
    )


def solutions(n: int, dim: int, epsilon: float, radius: float = 1.0) -> Solutions:
    """Return the procedures of the library that solve the problem, with their errors."""

    def descent() -> Solution:
        mechanism = least_curvature_descent(dim, epsilon, radius)
        b = STEP_EXPONENT
        later = (1 - 8.0 ** (b - 1)) / (1 - b) * 8 / 7 * b / CURVATURE**2 * n**-b
        return Solution("GradientDescent (linf)", dim * mechanism.variance * later / radius**4, "bound", dim)

    return [descent]


def least_curvature_descent(dim: int, epsilon: float, radius: float = 1.0) -> Any:
    """Return the protocol of the upper bound of `logistic`."""
    from ..estimation import GradientDescent

    return GradientDescent(
        "logistic",
        dim,
        epsilon,
        norm="linf",
        radius=radius,
        eta0=STEP_EXPONENT / (CURVATURE * radius**2),
        exponent=STEP_EXPONENT,
        projection=1 / (radius * math.sqrt(dim)),
    )


register(RegisteredProblem(logistic, "the coefficients of a logistic regression", solutions))
