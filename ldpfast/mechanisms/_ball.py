"""Mechanisms for vectors in a ball: the half-space mechanisms, and the Laplace baseline."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .. import _check, _coins
from .._core import halfspace, noise
from ..results import Debiasing
from ._base import CHANNEL_ENTRIES, AnyArray, Mechanism
from ._domains import Ball
from ._interval import check_grid, grid_steps, grid_variance
from ._reports import Bits, Grid, Vectors

MOST_DIM = 1 << 34  # the packed signs of one row stay far below the end of a stream


def half_space_constant(dim: int) -> float:
    """c(d) = 1 / E|U_1| for U uniform on the unit sphere of R^d.

    Parameters
    ----------
    dim : int
        d >= 1.

    Returns
    -------
    c : float
        sqrt(pi) Gamma((d + 1) / 2) / Gamma(d / 2), about sqrt(pi d / 2), to full double accuracy for every d.

    Notes
    -----
    c(1) = 1, c(2) = pi / 2, c(d + 2) = c(d) (d + 1) / d below 200; an asymptotic series from there. The difference of two
    log-gammas loses nine digits at d = 1e7.
    """
    dim = _check.integer("dim", dim, 1)
    if dim < 200:
        c, d = (1.0, 1) if dim % 2 else (math.pi / 2, 2)
        while d < dim:
            c, d = c * (d + 1) / d, d + 2
        return c
    z = 1 / (dim / 2)
    series = (-1 / 8, 1 / 128, 5 / 1024, -21 / 32768, -399 / 262144, 869 / 4194304)
    tail = 0.0
    for coefficient in reversed(series):
        tail = (tail + coefficient) * z
    return math.sqrt(math.pi * dim / 2) * (1 + tail)


def _parameters(mechanism: L2Ball | LinfBall | LaplaceVector) -> tuple[int, float, float]:
    return (
        _check.integer("dim", mechanism.dim, 1, MOST_DIM),
        _check.positive("epsilon", mechanism.epsilon),
        _check_radius(mechanism.radius),
    )


def _check_radius(radius: float) -> float:
    radius = _check.positive("radius", radius)
    if not 1e-18 <= radius <= 1e18:
        raise ValueError(f"radius must be in [1e-18, 1e18], where single precision holds the reports, got {radius!r}")
    return radius


def _check_scale(scale: float) -> float:
    if not scale <= 1e37:
        raise ValueError(
            f"radius / epsilon must leave the reports within single precision, at most 1e37, got {scale:.3g}"
        )
    return scale


@dataclass(frozen=True)
class LinfBall(Mechanism):
    """The hypercube mechanism of Duchi, Jordan and Wainwright: one sign per coordinate of a vector in a box [-r, r]^d.

    Parameters
    ----------
    dim : int
        d >= 1.
    epsilon : float
        Privacy parameter of the whole vector, > 0 and at most about 44.3.
    radius : float, default 1.0
        r > 0. Data in [lower, upper]^d: subtract the centre first, radius is the half width.
    ties : {"keep", "thin"}
        What happens where exactly half of the drawn signs agree with the record (even `dim` only). "keep" takes them.
        "thin" keeps some and draws the others again, which makes the variance smaller and the time depend on the record.

    Attributes
    ----------
    scale : float
        The constant B: a report decodes to +-B in each coordinate.

    Raises
    ------
    TypeError, ValueError
        If `dim` is not an integer >= 1, `radius` not in [1e-18, 1e18], `ties` another word, or `epsilon` not a finite number
        > 0 that a coin of 64 bits can certify.

    Notes
    -----
    Records: floats, shape (n, dim), max-norm at most `radius`. Reports: packed signs, uint8, shape (n, ceil(dim / 8)), little
    bit order, bit 1 is plus. The covariance of a decoded report is B^2 I - x x^T, B^2 about
    (pi / 2) d r^2 coth(epsilon / 2)^2. O(n dim) time, 9/8 random bytes per coordinate.

    The published rule puts ties into both half-spaces; in even dimension that is only log(1 + e^epsilon)-private. See
    docs/proofs/linf_ball.md, where all tie rules are compared.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP in floating point: the signs are drawn without looking at the record and multiplied by one
    private sign. "keep" takes the same time for every record and coin; "thin" does not.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation", JASA
       113 (2018), eq. 26.
    """

    dim: int
    epsilon: float
    radius: float = 1.0
    ties: str = "keep"
    scale: float = field(init=False, repr=False, compare=False)
    _heads: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        dim, epsilon, radius = _parameters(self)
        ties = _check.choice("ties", self.ties, ("keep", "thin"))
        self._set(dim=dim, epsilon=epsilon, radius=radius, ties=ties)
        coin = _coins.binary(epsilon)
        constant = half_space_constant(dim if dim % 2 else dim + 1) / float(2 * coin.p - 1)
        thin = ties == "thin" and dim % 2 == 0
        scale = _check_scale(radius * (constant - 1 if thin else constant))
        self._set(
            scale=scale,
            _heads=coin.heads,
            epsilon_realized=coin.epsilon_realized,
            domain=Ball(dim, radius, "linf"),
            report=Bits(dim),
            debiasing=Debiasing(-scale, scale),
            _kernel=halfspace.LinfBall(dim, radius, coin.heads, 2 * (_coins.WORD - coin.heads) if thin else 0),
        )

    def _variance(self, records: AnyArray) -> NDArray[np.float64]:
        return np.asarray(self.debiasing.variance(records.astype(np.float64)))

    def _channel(self) -> list[list[int]] | None:
        """Rows and columns are vertices; weights of a report by how many of its signs agree with the record's."""
        dim, heads = self.dim, self._heads
        if dim > 20 or 1 << 2 * dim > CHANNEL_ENTRIES:
            return None
        tails = _coins.WORD - heads
        tie = tails if self.ties == "thin" else _coins.WORD // 2
        weight = [tie if 2 * a == dim else heads if 2 * a > dim else tails for a in range(dim + 1)]
        return [[weight[dim - (v ^ z).bit_count()] for z in range(1 << dim)] for v in range(1 << dim)]


@dataclass(frozen=True)
class L2Ball(Mechanism):
    """The half-space mechanism of Duchi, Jordan and Wainwright for a vector in a Euclidean ball.

    Parameters
    ----------
    dim : int
        d >= 1.
    epsilon : float
        Privacy parameter of the whole vector, > 0 and at most about 44.3.
    radius : float, default 1.0
        r > 0.

    Attributes
    ----------
    scale : float
        The constant B, the Euclidean norm of every report.

    Raises
    ------
    TypeError, ValueError
        If `dim` is not an integer >= 1, `radius` not in [1e-18, 1e18], or `epsilon` not a finite number > 0 that a coin of
        64 bits can certify.

    Notes
    -----
    Records: floats, shape (n, dim), Euclidean norm at most `radius` (rounded rows have a relative tolerance of
    8 u sqrt(dim), u the unit roundoff). Reports: floats of the same shape and dtype, unbiased as they are. Their covariance
    is (B^2 / d) I - x x^T, B^2 about (pi / 2) d r^2 coth(epsilon / 2)^2. O(n dim) time, 3 random bytes per coordinate in
    single precision, 8 in double.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP in floating point: the direction is drawn without looking at the record, and all that
    depends on the record is one private sign, in {m, 2^64 - m} / 2^64 whatever the rounding did before. Time does not
    depend on record or coin. The dtype of the records is public. docs/proofs/l2_ball.md.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation", JASA
       113 (2018), eq. 25.
    """

    dim: int
    epsilon: float
    radius: float = 1.0
    scale: float = field(init=False, repr=False, compare=False)
    _heads: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        dim, epsilon, radius = _parameters(self)
        self._set(dim=dim, epsilon=epsilon, radius=radius)
        coin = _coins.binary(epsilon)
        scale = _check_scale(radius * half_space_constant(dim) / float(2 * coin.p - 1))
        self._set(
            scale=scale,
            _heads=coin.heads,
            epsilon_realized=coin.epsilon_realized,
            domain=Ball(dim, radius, "l2"),
            report=Vectors(dim, scale),
            _kernel=halfspace.L2Ball(dim, radius, scale, coin.heads),
        )

    def _variance(self, records: AnyArray) -> NDArray[np.float64]:
        return np.asarray(self.scale**2 / self.dim - records.astype(np.float64) ** 2)


@dataclass(frozen=True)
class LaplaceVector(Mechanism):
    """Discrete Laplace noise in every coordinate of a vector: the baseline, better than the half-space mechanisms only for
    epsilon above about 2.26 sqrt(dim).

    Parameters
    ----------
    dim : int
        d >= 1.
    epsilon : float
        Privacy parameter of the whole vector, > 0.
    radius : float, default 1.0
        r > 0.
    norm : {"l2", "linf"}
        Which ball of radius r the records are in.

    Attributes
    ----------
    grid : float
        Step of the grid.

    Raises
    ------
    TypeError, ValueError
        If `dim` is not an integer >= 1, `radius` not in [1e-18, 1e18], `norm` another word, or `epsilon` not a finite number
        > 0 that the coins can certify.

    Notes
    -----
    Records: floats, shape (n, dim). Reports: float64 of that shape on a grid. Variance per coordinate about 2 (D / epsilon)^2
    with D the l1 diameter of the ball: 2 r sqrt(d) ("l2"), 2 r d ("linf"). O(n dim) time.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP, as `Laplace`, with the diameter counted in integers after rounding: of a row whose
    integers have a larger l1 norm than the l2 ball allows, the last ones are cut. Nothing is claimed about time.
    docs/proofs/laplace.md.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation", JASA
       113 (2018), eq. 24.
    """

    dim: int
    epsilon: float
    radius: float = 1.0
    norm: str = "l2"
    grid: float = field(init=False, repr=False, compare=False)
    report: Grid = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        dim, epsilon, radius = _parameters(self)
        norm = _check.choice("norm", self.norm, ("l2", "linf"))
        self._set(dim=dim, epsilon=epsilon, radius=radius, norm=norm)
        span, diameter, limit = _box_steps(dim, epsilon) if norm == "linf" else _ball_steps(dim, epsilon)
        grid = 2 * radius / span
        coins = _coins.geometric(epsilon, diameter, span, dim)
        self._set(
            grid=grid,
            epsilon_realized=coins.epsilon_realized,
            domain=Ball(dim, radius, norm),
            report=Grid(dim, False, -radius, grid, grid**2 * coins.noise_variance),
            _kernel=noise.Laplace(dim, -radius, grid, span, limit, radius, coins.digits, coins.carry, "vector"),
        )
        check_grid(grid, -radius, radius)

    def _variance(self, records: AnyArray) -> NDArray[np.float64]:
        return grid_variance(records, -self.radius, self.grid, self.report.noise_variance)


def _box_steps(dim: int, epsilon: float) -> tuple[int, int, int]:
    """Steps across [-r, r], l1 diameter of the cube in steps, no l1 limit."""
    span = grid_steps(epsilon, dim)
    return span, dim * span, 0


def _ball_steps(dim: int, epsilon: float) -> tuple[int, int, int]:
    """Steps across [-r, r], l1 diameter of the l2 ball in steps, limit of the l1 norm of a rounded row.

    With 2^h steps to the radius, a rounded row has an l1 norm of 2^h sqrt(d) on average, and exceeds that by 4 sqrt(d)
    (eight standard deviations of the random rounding) with a chance below e^-32: its last numbers are cut then. With h = 20
    the excess costs 8e-6 of the variance; less where the noise would not fit the reports.
    """
    for h in range(20, 9, -1):
        limit = math.isqrt(dim << 2 * h) + 1 + 4 * (math.isqrt(dim) + 1)
        if 24 * 2 * limit / epsilon <= 2.0**_coins.MOST_DIGITS:
            break
    return 2 << h, 2 * limit, limit
