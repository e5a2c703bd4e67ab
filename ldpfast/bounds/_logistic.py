"""The coefficients of a logistic regression."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._bound import Bound, bound, is_paper, level, people, scale, size
from ._contraction import tanh_half
from ._methods import information_factor, tv_from_kl
from ._problem import Problem, Solution, Solutions, register
from ._tools import (
    DISTANCES,
    DJW,
    SQUARED,
    capacity,
    coth_half,
    divergence_of,
    half_space,
)

STEP_EXPONENT = 0.99
CURVATURE = 0.75 / (
    4 * np.cosh(0.5) ** 2
)  # of the likelihood, in units of radius^2: least eigenvalue 3/4, log odds up to 1


def logistic(
    n: ArrayLike, dim: ArrayLike, epsilon: ArrayLike, radius: ArrayLike = 1.0, *, mode: str = "sharp"
) -> Bound:
    """The coefficients of a logistic regression: squared Euclidean error.

    Parameters
    ----------
    n, dim, epsilon
        As for `mean_l2`.
    radius : array_like, default 1.0
        r > 0: rows are in [-r, r]^d. The matrix E x x^T has no eigenvalue below 3 r^2 / 4, and the coefficients have a
        norm of at most 1 / (r sqrt d), so that no log odds exceed 1: without conditions of this kind nothing can be
        said.
    mode : {"sharp", "paper"}
        "paper": the lower bound with (e^epsilon - 1)^2 / 4 in the place of the sharp capacity, without the factor 2.

    Returns
    -------
    bound : Bound
        Lower: for channels that may depend on earlier reports. Upper: `GradientDescent` with norm "linf", projection
        1 / (r sqrt d), exponent 0.99 and eta0 0.99 / (0.1475 r^2), or coefficients of zero.

    Raises
    ------
    TypeError, ValueError
        As `mean_1d`.

    Notes
    -----
    Upper bound, derived here: with steps eta0 i^-b, eta0 = b / l, l the least curvature, a position's squared error is
    at most (b G^2 / l^2) i^-b by induction, G^2 = d B^2; the mean over all but the first eighth has at most 2.4 times
    the last.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
    JASA
       113 (2018), Corollary 6.
    """
    theorem = f"{DJW}, Corollary 6,"
    number, d, a = people(theorem, n), size(theorem, "dim", dim), level(theorem, epsilon)
    r2, paper = scale(theorem, "radius", radius) ** 2, is_paper(mode)
    # Corners +-t in each coordinate, t <= 1 / d. Scores have the variance 4 sinh(t / 2)^2, divergences are t tanh(t /
    # 2).
    most = information_factor(a) if paper else np.minimum(capacity(a), d * tanh_half(a) ** 2 / 2)
    lower = np.zeros_like(number)
    for s in DISTANCES:
        reach = np.sqrt(d * divergence_of(s) / (4 * number * most))
        lower = np.maximum(lower, d * np.minimum(2 * np.arcsinh(reach), 1 / d) ** 2 * (1 - s))
    kl = number / d * most * 4 * np.sinh(0.5 / d) ** 2  # of the farthest corners
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
    """The procedures of the library that solve the problem, each with its error."""

    def descent() -> Solution:
        mechanism = least_curvature_descent(dim, epsilon, radius)
        b = STEP_EXPONENT
        later = (1 - 8.0 ** (b - 1)) / (1 - b) * 8 / 7 * b / CURVATURE**2 * n**-b
        return Solution("GradientDescent (linf)", dim * mechanism.variance * later / radius**4, "bound", dim)

    return [descent]


def least_curvature_descent(dim: int, epsilon: float, radius: float = 1.0) -> Any:
    """The protocol of the upper bound of `logistic`."""
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


register(Problem(logistic, "the coefficients of a logistic regression", solutions))
