"""Bounds for a sparse mean of vectors in a box."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ._bound import Bound, bound, check_epsilon, check_integer, check_n, check_scale, is_paper
from ._contraction import tanh_half
from ._registered_problem import RegisteredProblem, Solution, Solutions, register
from ._testing_methods import forward_factor, information_factor
from ._tools import (
    DJW,
    SQUARED,
    allow_overflow,
    coth_half,
    half_space,
    number_mean,
)


@allow_overflow
def sparse_mean(
    n: ArrayLike, dim: ArrayLike, epsilon: ArrayLike, *, radius: ArrayLike = 1.0, method: str = "sharp"
) -> Bound:
    """Bound the squared Euclidean error of a mean with at most one coordinate that is not zero, for vectors in a box.

    Parameters
    ----------
    n, dim, epsilon
        As for `mean_l2`.
    radius : array_like, default 1.0
        Half-width r > 0 of the box: records are in [-r, r]^d.
    method : {"sharp", "paper"}
        "paper": the lower bound with (e^epsilon - 1)^2 / (4 d), which has the published form.

    Returns
    -------
    bound : Bound
        Lower bound: for reports that do not depend on each other. Upper bound: `SparseMean`, or the mean of `LinfBall`
        reports, or 0.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range; the message names the theorem and its condition.

    Notes
    -----
    For reports that depend on earlier ones, only the bound for a single number, without the dimension, is proved here. The
    proof with the dimension adds up the information of single reports about which coordinate is not zero, for channels that
    are fixed in advance. If a channel may depend on earlier reports, it may concentrate on the coordinates that they left
    possible, and the terms are no longer bounded by 1 / d. Bounds of the same order exist for this case [2]_, but without
    explicit constants.

    The upper bound (B / sqrt n + penalty)^2 + 2 B^2 / n^2 is derived here. The estimate of a coordinate that is zero
    exceeds a penalty of B sqrt(2 log(2 d n) / n) with a mean square of at most 2 B^2 / (d n^2).

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       JASA 113 (2018), Corollary 5.
    .. [2] J. Duchi, R. Rogers, "Lower bounds for locally private estimation via communication complexity", COLT 2019.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> bound = bounds.sparse_mean(10_000, 100, 1.0)
    >>> 0 < bound.lower < bound.upper
    True
    """
    theorem = f"{DJW}, Corollary 5,"
    number = check_n(theorem, n)
    d = check_integer(theorem, "dim", dim)
    a = check_epsilon(theorem, epsilon)
    r2 = check_scale(theorem, "radius", radius) ** 2
    factor = information_factor(a) / d
    if not is_paper(method):
        factor = np.minimum(factor, forward_factor(a) * np.sinh(a / 2) ** 2 / d)
        factor = np.minimum(factor, tanh_half(a) ** 2 * np.log(2))
    # sup over t in [0, 1] of (t / 2) (1 - (n factor t + log 2) / log(2 d))
    room = np.log(d)
    far = np.minimum(1.0, room / (2 * number * factor))
    lower = np.where(np.isinf(factor), 0.0, far / 2 * (room - np.minimum(number * factor, 1e300) * far) / np.log(2 * d))
    if not is_paper(method):
        lower = np.maximum(lower, number_mean(number, a))
    b = half_space(d) * coth_half(a)
    b2, plain = b**2, d * (b - (d % 2 == 0)) ** 2  # plain: without a penalty, with ties="thin"
    logarithm = 2 * np.log(2 * d * number)
    thresholded = b2 / number * (1 + np.sqrt(logarithm)) ** 2 + 2 * b2 / number**2
    return bound(
        r2 * lower,
        r2 * np.minimum(1.0, np.minimum(thresholded, plain / number)),
        r2 * np.minimum(1.0, d * np.log(2 * d) / (number * a**2)),
        r2 * np.minimum(1.0, np.minimum((1 + np.sqrt(logarithm)) ** 2 / number + 2 / number**2, d / number)),
        loss=SQUARED,
        below=f"{theorem} Fano over the coordinates, without interaction",
        above="SparseMean, or LinfBall(ties='thin') without penalty, or 0",
        vacuous="dim = 1, so the coordinate is known",
    )


def solutions(n: int, dim: int, epsilon: float, radius: float = 1.0) -> Solutions:
    """Return the procedures of the library that solve the problem, with their errors."""
    from ..mechanisms import LinfBall

    def solve(ties: str, penalized: bool) -> Solution:
        b2, log = LinfBall(dim, epsilon, radius=radius, ties=ties).scale ** 2, 2 * math.log(2 * dim * n)
        if penalized:
            return Solution("SparseMean", b2 / n * (1 + math.sqrt(log)) ** 2 + 2 * b2 / n**2, "bound", dim)
        return Solution(f"LinfBall(ties={ties!r}), no penalty", dim * b2 / n, "exact", dim)

    return [lambda: solve("keep", True), lambda: solve("keep", False), lambda: solve("thin", False)]


register(RegisteredProblem(sparse_mean, "a sparse mean of vectors in a box", solutions))
