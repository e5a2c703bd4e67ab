"""Bounds for the mean of vectors in a Euclidean ball."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._formulas import half_space_constants
from .._typing import Floats
from ._bound import Bound, bound, check_epsilon, check_integer, check_n, check_scale, is_paper
from ._contraction import excess
from ._registered_problem import RegisteredProblem, Solution, Solutions, register, require_domain
from ._tools import (
    DJW,
    SQUARED,
    allow_overflow,
    coth_half,
    vectors,
)

MAX_EPSILON = (
    40.0  # at which the coins of `RankedSigns` are surely possible; its error there is one for all larger epsilon
)


@allow_overflow
def mean_l2(
    n: ArrayLike, dim: ArrayLike, epsilon: ArrayLike, *, radius: ArrayLike = 1.0, method: str = "sharp"
) -> Bound:
    """Bound the squared Euclidean error of the mean of vectors in a Euclidean ball.

    Parameters
    ----------
    n : array_like
        Number of people, >= 1.
    dim : array_like of int
        Dimension d >= 1.
    epsilon : array_like
        Privacy parameter of a report, > 0.
    radius : array_like, default 1.0
        Radius r > 0 of the ball.
    method : {"sharp", "paper"}
        "paper": the lower bound r^2 max over k <= d of min(1 / (4 k), k / (8 n (e^epsilon - 1)^2)), which has the
        published form.

    Returns
    -------
    bound : Bound
        Lower bound: for channels that may depend on earlier reports. It has no branch 1 / sqrt(n epsilon^2), which is
        not sharp. Upper bound: `VectorMean` with `L2Ball` or with `RankedSigns`, whose error is (B^2 - |mean|^2) / n for the
        scale B of the mechanism, or the mean of `LaplaceVector`, or the answer 0. `compare` also has `RankCodebook`, whose
        error is smaller in few dimensions. Each pair of `dim` and `epsilon` takes about a millisecond.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range; the message names the theorem and its condition.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       JASA 113 (2018), Corollary 4. The construction with independent coordinates is derived here.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> bound = bounds.mean_l2([1_000, 10_000], 10, 1.0)
    >>> (bound.lower < bound.upper).tolist()
    [True, True]
    """
    theorem = f"{DJW}, Corollary 4,"
    number = check_n(theorem, n)
    d = check_integer(theorem, "dim", dim)
    a = check_epsilon(theorem, epsilon)
    r2 = check_scale(theorem, "radius", radius) ** 2
    if is_paper(method):
        effective = number * excess(a) ** 2
        k = np.clip(np.sqrt(2 * effective), 1.0, d)
        lower = np.maximum(
            _single_coordinate(np.floor(k), effective), _single_coordinate(np.minimum(np.ceil(k), d), effective)
        )
    else:
        lower = vectors(number, a, d)
    report = np.minimum((half_space_constants(d) * coth_half(a)) ** 2, 1 + 8 * (d / a) ** 2)
    report = np.minimum(report, _error_of_signs(*np.broadcast_arrays(d, a)))
    return bound(
        r2 * lower,
        r2 * np.minimum(1.0, report / number),
        r2 * np.minimum(1.0, d / (number * a**2)),
        r2 / number,
        loss=SQUARED,
        below=f"{theorem} "
        + ("one coordinate each" if is_paper(method) else "independent coordinates, pairwise Assouad"),
        above="VectorMean (L2Ball or RankedSigns) or LaplaceVector, or 0",
    )


def _error_of_signs(dim: Floats, epsilon: Floats) -> Floats:
    """Return the mean square of a decoded report of `RankedSigns` in the unit ball; infinity for other `dim`."""
    from ..mechanisms._ranked_signs import MAX_DIM, MAX_SIGNS, RankedSigns

    def error(d: float, a: float) -> float:
        if not 2 <= d <= MAX_DIM:
            return math.inf
        return RankedSigns(int(d), min(a, MAX_EPSILON), signs=min(int(d), MAX_SIGNS)).scale ** 2

    pairs, places = np.unique(np.stack([dim.ravel(), epsilon.ravel()]), axis=1, return_inverse=True)
    return np.array([error(d, a) for d, a in pairs.T.tolist()])[places.ravel()].reshape(dim.shape)


def _single_coordinate(k: Floats, effective: Floats) -> Floats:
    """Return min(1 / (4 k), k / (8 n (e^epsilon - 1)^2))."""
    return np.asarray(np.minimum(1 / (4 * k), k / (8 * effective)))


def solutions(n: int, dim: int, epsilon: float, radius: float = 1.0) -> Solutions:
    """Return the procedures of the library that solve the problem, with their errors."""
    from ..mechanisms import L2Ball, LaplaceVector, PrivUnit, RankCodebook, RankedSigns, for_ball

    def ball(name: str, mechanism: Any) -> Solution:
        kind = "ideal" if mechanism.guarantee.ideal else "exact"
        return Solution(name, mechanism.scale**2 / n, kind, mechanism.report_bits)

    def chosen() -> Solution:
        mechanism: Any = for_ball(dim, epsilon, radius=radius)
        if isinstance(mechanism, L2Ball):  # has a row of its own
            mechanism = RankCodebook(dim, epsilon, radius=radius)
        name = type(mechanism).__name__
        if isinstance(mechanism, RankCodebook):
            name = f"{name}(vectors={mechanism.vectors})"
        elif isinstance(mechanism, RankedSigns):
            name = f"{name}(signs={mechanism.signs})"
        return ball(name, mechanism)

    def laplace() -> Solution:
        mechanism = LaplaceVector(dim, epsilon, radius=radius)
        noise = mechanism.report.noise_variance + mechanism.grid**2 / 4
        return Solution("LaplaceVector", (dim * noise + radius**2) / n, "exact", mechanism.report_bits)

    return [
        lambda: ball("L2Ball", L2Ball(dim, epsilon, radius=radius)),
        chosen,
        lambda: ball("PrivUnit", PrivUnit(dim, epsilon, radius=radius)),
        laplace,
    ]


def error_of(mechanism: Any, n: int, *, dim: int, radius: float = 1.0) -> float:
    """Return the largest squared error of the mean of n reports.

    It is exact for reports of a fixed norm, and for a variance that is equal in all coordinates.
    """
    from ..domains import Ball
    from ..mechanisms import RankedSigns
    from ..reports import Directions, Vectors

    if mechanism.domain != Ball(dim, radius, "linf"):  # the box contains the ball
        require_domain(mechanism, Ball(dim, radius, "l2"))
    if isinstance(mechanism.report, Directions | Vectors):
        return float(mechanism.report.bound**2 / n)
    if isinstance(mechanism, RankedSigns):
        return float(mechanism.scale**2 / n)
    return float(dim * mechanism.worst_variance / n)


register(RegisteredProblem(mean_l2, "the mean of vectors in a Euclidean ball", solutions, error_of))
