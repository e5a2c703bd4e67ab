"""The half-space mechanism for vectors in a Euclidean ball."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction

import numpy as np

from .. import _coins
from .._core import privatize
from .._typing import AnyArray, Floats
from ..domains import Ball
from ..privacy import TwoLevel
from ..reports import Decoding, Vectors
from ._half_space import check_ball, check_scale, half_space_constant
from ._law import Law
from ._mechanism import Mechanism


@dataclass(frozen=True)
class L2Ball(Mechanism):
    """The half-space mechanism of Duchi, Jordan and Wainwright for a vector in a Euclidean ball.

    Parameters
    ----------
    dim : int
        Dimension d >= 1.
    epsilon : float
        Privacy parameter of the whole vector, > 0 and at most about 44.3.
    radius : float, default 1.0
        Radius r > 0 of the ball.

    Attributes
    ----------
    scale : float
        The constant B, which is the Euclidean norm of every report.

    Raises
    ------
    TypeError, ValueError
        If `dim` is not an integer >= 1, `radius` not in [1e-18, 1e18], or `epsilon` not a finite number > 0 that a coin
        of 64 bits can certify.

    Notes
    -----
    Records: floats, shape (n, dim), with Euclidean norm at most `radius`, up to a relative tolerance of 8 u sqrt(dim)
    for rounding, u the unit roundoff. Reports: unbiased floats of the same shape and dtype. Their covariance is
    (B^2 / d) I - x x^T, with B^2 about (pi / 2) d r^2 coth(epsilon / 2)^2. O(n dim) time, 3 random bytes per coordinate
    in single precision, 8 in double precision.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP in floating point. The direction is drawn independently of the record. Only one
    private sign depends on the record. Its probability is m / 2^64 or 1 - m / 2^64 for every rounding. The time does
    not depend on the record or the coin. The dtype of the records is public. docs/proofs/l2_ball.md.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       JASA 113 (2018), eq. 25.

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> mechanism = ldp.L2Ball(3, epsilon=1.0)
    >>> report = mechanism.privatize(np.array([0.6, 0.0, -0.8]), rng=1)
    >>> bool(np.isclose(np.linalg.norm(report), mechanism.scale))
    True
    """

    dim: int
    epsilon: float
    _: KW_ONLY
    radius: float = 1.0
    scale: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        dim, epsilon, radius = check_ball(self.dim, self.epsilon, self.radius)
        self._set(dim=dim, epsilon=epsilon, radius=radius)
        coin = _coins.binary(epsilon)
        scale = check_scale(radius * half_space_constant(dim) / float(2 * coin.p - 1))
        self.define(
            epsilon_realized=coin.epsilon_realized,
            domain=Ball(dim, radius, "l2"),
            report=Vectors(dim, scale),
            kernel=privatize.L2Ball(dim, radius, scale, coin.heads),
            law=L2BallLaw(dim, scale, coin.heads),
            scale=scale,
            coin=coin,
        )


@dataclass(frozen=True)
class L2BallLaw(Law):
    """The distribution of a direction in one of two half-spaces, of length `scale`."""

    dim: int
    scale: float
    heads: int

    def variance(self, decoding: Decoding, records: AnyArray) -> Floats:
        return np.asarray(self.scale**2 / self.dim - records.astype(np.float64) ** 2)

    def two_level(self) -> TwoLevel:
        # That of one random bit about a public direction, which is part of the report. The worst pair are opposite records. A
        # record inside the ball is a mixture of two opposite ones. The sign of the rounded inner product with a direction may
        # be any function of the record and the direction.
        return TwoLevel.binary(Fraction(self.heads, _coins.WORD - self.heads))

    def largest_probability(self) -> float:
        """Return 2 / 2^d: every sign of a direction is fair, and the direction is reversed or not."""
        return 2.0 ** (1 - min(self.dim, 1000))

    def worst_variance(self, decoding: Decoding) -> float:
        return self.scale**2 / self.dim
