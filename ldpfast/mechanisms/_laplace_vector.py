"""Discrete Laplace noise for a vector in a ball or a box."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field

from .. import _check, _coins
from ..domains import Ball
from ..reports import Grid
from ._discrete_laplace import grid_noise, grid_steps
from ._half_space import check_ball
from ._mechanism import Mechanism


@dataclass(frozen=True)
class LaplaceVector(Mechanism):
    """Discrete Laplace noise in every coordinate of a vector, a baseline for the half-space mechanisms.

    Its variance is smaller than theirs only for epsilon above about 2.26 sqrt(dim).

    Parameters
    ----------
    dim : int
        Dimension d >= 1.
    epsilon : float
        Privacy parameter of the whole vector, > 0.
    radius : float, default 1.0
        Radius r > 0 of the ball.
    norm : {"l2", "linf"}
        Norm of the ball.

    Attributes
    ----------
    grid : float
        Step of the grid.

    Raises
    ------
    TypeError, ValueError
        If `dim` is not an integer >= 1, `radius` not in [1e-18, 1e18], `norm` not as above, or `epsilon` not a finite
        number > 0 that the coins can certify.

    Notes
    -----
    Records: floats, shape (n, dim). Reports: float64 of the same shape, on a grid. The variance per coordinate is about
    2 (D / epsilon)^2 with D the l1 diameter of the ball: 2 r sqrt(d) ("l2") or 2 r d ("linf"). O(n dim) time.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP, as `Laplace`, with the diameter counted in integers after rounding. If the l1 norm
    of the integers of a row exceeds the limit for the l2 ball, the last ones are truncated. Resistance to timing
    attacks is not claimed. docs/proofs/laplace_vector.md.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       JASA 113 (2018), eq. 24.

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> ldp.LaplaceVector(3, epsilon=10.0).privatize(np.zeros((5, 3)), rng=1).shape
    (5, 3)
    """

    dim: int
    epsilon: float
    _: KW_ONLY
    radius: float = 1.0
    norm: str = "l2"
    grid: float = field(init=False, repr=False, compare=False)
    report: Grid = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        dim, epsilon, radius = check_ball(self.dim, self.epsilon, self.radius)
        norm = _check.choice("norm", self.norm, ("l2", "linf"))
        self._set(dim=dim, epsilon=epsilon, radius=radius, norm=norm)
        span, diameter, limit = _box_steps(dim, epsilon) if norm == "linf" else _ball_steps(dim, epsilon)
        parts = grid_noise(
            epsilon,
            "vector",
            dim=dim,
            scalar=False,
            lower=-radius,
            upper=radius,
            span=span,
            diameter=diameter,
            changes=dim,
            l1_limit=limit,
            radius=radius,
            dependence='the coordinates are independent for norm="linf" only' if norm == "l2" else "",
        )
        self.define(domain=Ball(dim, radius, norm), **parts)


def _box_steps(dim: int, epsilon: float) -> tuple[int, int, int]:
    """Return the steps across [-r, r], the l1 diameter of the cube in steps, and 0 for no limit of the l1 norm."""
    span = grid_steps(epsilon, dim)
    return span, dim * span, 0


def _ball_steps(dim: int, epsilon: float) -> tuple[int, int, int]:
    """Return the steps across [-r, r], the l1 diameter of the l2 ball in steps, and the limit of the l1 norm of a row.

    With 2^h steps to the radius, a rounded row has an l1 norm of at most 2^h sqrt(d) on average. It exceeds that by
    4 sqrt(d) (eight standard deviations of the random rounding) with a probability below e^-32. Its last numbers are
    truncated then. With h = 20 the excess costs 8e-6 of the variance. h is smaller if the noise would not fit the
    reports.
    """
    for h in range(20, 9, -1):
        limit = math.isqrt(dim << 2 * h) + 1 + 4 * (math.isqrt(dim) + 1)
        if 24 * 2 * limit / epsilon <= 2.0**_coins.MAX_DIGITS:
            break
    return 2 << h, 2 * limit, limit
