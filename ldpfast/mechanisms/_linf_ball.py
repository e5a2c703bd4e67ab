"""The hypercube mechanism for vectors in a box."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from .. import _check, _coins
from .._core import privatize
from .._typing import AnyArray, Floats
from ..domains import Ball
from ..privacy import TwoLevel
from ..reports import Bits
from ..results import Debiasing
from ._base import CHANNEL_ENTRIES, Mechanism
from ._half_space import check_ball, check_scale, half_space_constant

MOST_EXACT_DIM = 4096  # for the integers of `LinfBall.two_level`


@dataclass(frozen=True)
class LinfBall(Mechanism):
    """The hypercube mechanism of Duchi, Jordan and Wainwright: one sign per coordinate of a vector in a box [-r, r]^d.

    Parameters
    ----------
    dim : int
        Dimension d >= 1.
    epsilon : float
        Privacy parameter of the whole vector, > 0 and at most about 44.3.
    radius : float, default 1.0
        Half-width r > 0 of the box. For data in [lower, upper]^d, subtract the center first.
    ties : {"keep", "thin"}
        Rule for ties, where exactly half of the drawn signs agree with the record (even `dim` only). "keep" accepts
        ties. "thin" accepts some and redraws the others, which reduces the variance but makes the time depend on the
        record. It takes longer where ties are frequent: up to three times as long for dim 2.

    Attributes
    ----------
    scale : float
        The constant B: a report decodes to +-B in each coordinate.

    Raises
    ------
    TypeError, ValueError
        If `dim` is not an integer >= 1, `radius` not in [1e-18, 1e18], `ties` not as above, or `epsilon` not a finite
        number > 0 that a coin of 64 bits can certify.

    Notes
    -----
    Records: floats, shape (n, dim), with max-norm at most `radius`. Reports: packed signs, uint8, shape
    (n, ceil(dim / 8)), little bit order, bit 1 is plus. The covariance of a decoded report is B^2 I - x x^T, with B^2
    about (pi / 2) d r^2 coth(epsilon / 2)^2. O(n dim) time, 9/8 random bytes per coordinate.

    The published rule assigns ties to both half-spaces, which is only log(1 + e^epsilon)-private in even dimensions.
    docs/proofs/linf_ball.md compares the tie rules.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP in floating point. The signs are drawn independently of the record and multiplied by
    one private sign. With "keep" the time does not depend on the record or the coins; with "thin" it does.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       JASA 113 (2018), eq. 26.

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> x = np.random.default_rng(1).integers(0, 2, (50_000, 20)) - 0.5  # centered, in [-0.5, 0.5]^20
    >>> estimate = ldp.LinfBall(20, epsilon=2.0, radius=0.5).run(x, rng=1)
    >>> estimate.value.shape, bool(abs(estimate.value).max() < 0.1)
    ((20,), True)
    """

    dim: int
    epsilon: float
    radius: float = 1.0
    ties: str = "keep"
    scale: float = field(init=False, repr=False, compare=False)
    debiasing: Debiasing = field(init=False, repr=False, compare=False)
    _heads: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        dim, epsilon, radius = check_ball(self.dim, self.epsilon, self.radius)
        ties = _check.choice("ties", self.ties, ("keep", "thin"))
        self._set(dim=dim, epsilon=epsilon, radius=radius, ties=ties)
        coin = _coins.binary(epsilon)
        constant = half_space_constant(dim if dim % 2 else dim + 1) / float(2 * coin.p - 1)
        thin = ties == "thin" and dim % 2 == 0
        scale = check_scale(radius * (constant - 1 if thin else constant))
        self.define(
            epsilon_realized=coin.epsilon_realized,
            domain=Ball(dim, radius, "linf"),
            report=Bits(dim),
            debiasing=Debiasing(-scale, scale),
            kernel=privatize.LinfBall(dim, radius, coin.heads, 2 * (_coins.WORD - coin.heads) if thin else 0),
            scale=scale,
            coin=coin,
            _heads=coin.heads,
        )

    def report_variance(self, records: AnyArray) -> Floats:
        return np.asarray(self.debiasing.variance(records.astype(np.float64)))

    @property
    def two_level(self) -> TwoLevel | None:
        """Parameters for `privacy.shuffled`: those of one random bit about a public direction, the drawn signs.

        The worst pair are opposite vertices. Ties that are kept are as if a public fair coin, which is then dropped from the
        report, put them into S(x) or not. Thin ties are never in S(x). None for these in more than 4096 dimensions.
        """
        odds = Fraction(self._heads, _coins.WORD - self._heads)
        if self.ties == "keep" or self.dim % 2:
            return TwoLevel.binary(odds)
        if self.dim > MOST_EXACT_DIM:
            return None
        size = (1 << self.dim) - math.comb(self.dim, self.dim // 2)
        return TwoLevel.of_sets(odds, size, 2 << self.dim, size)

    def channel_rows(self) -> list[list[int]] | None:
        """Return the channel from vertices to vertices. A weight depends on the number of signs that agree."""
        dim, heads = self.dim, self._heads
        if dim > 20 or 1 << 2 * dim > CHANNEL_ENTRIES:
            return None
        tails = _coins.WORD - heads
        tie = tails if self.ties == "thin" else _coins.WORD // 2
        weight = [tie if 2 * a == dim else heads if 2 * a > dim else tails for a in range(dim + 1)]
        return [[weight[dim - (v ^ z).bit_count()] for z in range(1 << dim)] for v in range(1 << dim)]
