"""The hypercube mechanism for vectors in a box."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from .. import _check, _coins
from .._core import privatize
from .._typing import AnyArray, Floats
from ..domains import Ball
from ..privacy import TwoLevel
from ..reports import Bits, Decoding
from ..results import Debiasing
from ._draws import PeopleCounts, multinomial
from ._half_space import check_ball, check_scale, half_space_constant
from ._law import Law, NoExactFormError
from ._mechanism import CHANNEL_ENTRIES, Mechanism
from ._vertices import MAX_GROUPED, draw_sign_counts

if TYPE_CHECKING:
    from numpy.random import Generator

MAX_EXACT_DIM = 4096  # for the integers of `LinfBall.two_level` and of simulated counts
SHARED = 1 << 23  # values of the random bits that the coordinates of a record share when they are rounded to signs


def rounding(steps: Floats) -> tuple[PeopleCounts, Floats]:
    """Return how the kernel rounds a vector in [-2^30, 2^30]^d to signs: a mixture of roundings with independent coordinates.

    A coordinate is plus if 2^23 b + l is below an integer c 2^23 + f, with a random byte b of its own and 23 random bits l
    that it shares with the other coordinates. Given l it is plus with probability c / 256, or (c + 1) / 256 if l < f. So the
    probabilities are constant for l between two neighboring values of f.

    Returns
    -------
    sizes : ndarray of int64, shape (g,)
        Numbers of values of l. Their sum is 2^23.
    plus : ndarray of float64, shape (g, d)
        Probabilities of plus signs.
    """
    byte, part = np.divmod((np.trunc(steps).clip(-(2.0**30), 2.0**30) + 2.0**30).astype(np.int64), SHARED)
    ends = np.unique(np.concatenate([[0, SHARED], part]))
    return np.diff(ends), (byte + (ends[:-1, np.newaxis] < part)) / 256


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
    _: KW_ONLY
    radius: float = 1.0
    ties: str = "keep"
    scale: float = field(init=False, repr=False, compare=False)
    debiasing: Debiasing = field(init=False, repr=False, compare=False)

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
            law=LinfBallLaw(dim, radius, coin.heads, ties == "thin"),
            scale=scale,
            coin=coin,
        )


@dataclass(frozen=True)
class LinfBallLaw(Law):
    """The distribution of a vertex of the cube, by the number of its signs that agree with the record.

    Attributes
    ----------
    dim : int
    radius : float
    heads : int
        Integer of the coin for the half-space of the record.
    thin : bool
        Whether ties are less probable.
    """

    dim: int
    radius: float
    heads: int
    thin: bool

    def variance(self, decoding: Decoding, records: AnyArray) -> Floats:
        return np.asarray(decoding.line.variance(records.astype(np.float64)))

    def draw(self, records: AnyArray, people: PeopleCounts, generator: Generator) -> AnyArray:
        """Return the number of plus signs of each coordinate. People are counted by the interval of the shared random bits."""
        dim = self.dim
        if dim > MAX_EXACT_DIM:
            raise NoExactFormError(f"dim must be at most {MAX_EXACT_DIM}")
        rounded = [rounding(record) for record in records.astype(np.float64) * (2.0**30 / self.radius)]
        if sum(plus.size for _, plus in rounded) > MAX_GROUPED:
            raise NoExactFormError(
                "the coordinates of the records have too many different values. Multiples of radius / 128 are always possible",
            )
        groups = [multinomial(generator, count, sizes) for count, (sizes, _) in zip(people, rounded, strict=True)]
        weights = [math.comb(dim, a) * weight for a, weight in enumerate(self._weights)]
        return draw_sign_counts(
            generator, np.concatenate(groups), np.concatenate([plus for _, plus in rounded]), weights
        )

    @property
    def _weights(self) -> list[int]:
        """Weight of a vertex by the number of signs that agree with the record, times 2^64."""
        dim, tails = self.dim, _coins.WORD - self.heads
        tie = tails if self.thin else _coins.WORD // 2
        return [tie if 2 * a == dim else self.heads if 2 * a > dim else tails for a in range(dim + 1)]

    def two_level(self) -> TwoLevel | None:
        # That of one random bit about a public direction, the drawn signs. The worst pair are opposite vertices. Ties that are
        # kept are as if a public fair coin, which is then dropped from the report, put them into S(x) or not. Thin ties are
        # never in S(x).
        odds = Fraction(self.heads, _coins.WORD - self.heads)
        if not self.thin or self.dim % 2:
            return TwoLevel.binary(odds)
        if self.dim > MAX_EXACT_DIM:
            return None
        size = (1 << self.dim) - math.comb(self.dim, self.dim // 2)
        return TwoLevel.of_sets(odds, size, 2 << self.dim, size)

    def largest_probability(self) -> float:
        """Return 4 / 2^d: a report is uniform among at least a quarter of all vertices, on one side of the record."""
        return min(1.0, 2.0 ** (2 - min(self.dim, 1000)))

    def rows(self) -> list[list[int]] | None:
        """Return the channel from vertices to vertices. A weight depends on the number of signs that agree."""
        dim = self.dim
        if dim > 20 or 1 << 2 * dim > CHANNEL_ENTRIES:
            return None
        weight = self._weights
        return [[weight[dim - (v ^ z).bit_count()] for z in range(1 << dim)] for v in range(1 << dim)]
