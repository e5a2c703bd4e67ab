"""One private bit of a number in an interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from .. import _check, _coins
from .._core import privatize
from .._typing import AnyArray, Floats
from ..domains import Interval
from ..privacy import ReportLaw, TwoLevel
from ..reports import Codes, Decoding
from ..results import Debiasing
from ._draws import PeopleCounts
from ._law import Law
from ._mechanism import Mechanism

if TYPE_CHECKING:
    from numpy.random import Generator


@dataclass(frozen=True)
class SignBitLaw(Law):
    """The law of one bit, whose probability is linear in the number."""

    lower: float
    upper: float
    coin: _coins.BinaryCoin

    def rows(self) -> list[list[int]]:
        heads, tails = self.coin.heads, self.coin.tails
        return [[heads, tails], [tails, heads]]

    def variance(self, decoding: Decoding, records: AnyArray) -> Floats:
        return np.asarray(decoding.line.variance(records.astype(np.float64)))

    def draw(self, records: AnyArray, people: PeopleCounts, generator: Generator) -> AnyArray:
        position = np.clip((records.astype(np.float64) - self.lower) / (self.upper - self.lower), 0, 1)
        low = float(1 - self.coin.p)
        ones = int(generator.binomial(people, low + (1 - 2 * low) * position).sum())
        return np.array([int(people.sum()) - ones, ones])

    def two_level(self) -> TwoLevel:
        # That of the two ends: any other number is a mixture of the two rows. A mixture contains the common part of its
        # rows, so it hides others as well as they do. The divergence is convex: that of two mixtures is at most the largest
        # of two rows.
        return TwoLevel.binary(Fraction(self.coin.heads, self.coin.tails))

    def report_laws(self) -> Sequence[ReportLaw]:
        truthful = Fraction(self.coin.heads, self.coin.heads + self.coin.tails)
        return [ReportLaw.of_outcomes(truthful, 1 - truthful)]


@dataclass(frozen=True)
class SignBit(Mechanism):
    """One bit per number, which is 1 with a probability that is linear in the number.

    Parameters
    ----------
    lower, upper : float
        Ends of the interval, finite, lower < upper.
    epsilon : float
        Privacy parameter, > 0 and at most about 44.3.

    Raises
    ------
    TypeError, ValueError
        If `lower` and `upper` are not finite with lower < upper; if `epsilon` is not a finite number > 0 that a coin of
        64 bits can certify.

    Notes
    -----
    Records: floats in [lower, upper], shape (n,). Reports: uint8, 0 or 1. With r the half-width, c the center and
    h = coth(epsilon / 2), the reports 1 and 0 decode to c + r h and c - r h, with variance r^2 h^2 - (x - c)^2. The
    worst-case variance is smaller than that of `Laplace` for epsilon below about 2.3. O(n) time, 4 random bytes per
    number, or 8 if 32 bits would cost more than 1e-5 of epsilon.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP. The threshold of the one coin is an integer between 2^b - m and m, with b the bits of
    the coin, for every record and rounding, and it is compared without a branch. docs/proofs/sign_bit.md.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       JASA 113 (2018), the case d = 1 of the mechanism for the ball.

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> visits = np.random.default_rng(1).poisson(3, 20_000).clip(0, 20)
    >>> estimate = ldp.SignBit(0, 20, epsilon=1.0).run(visits, rng=1)
    >>> bool(abs(estimate.value - 3) < 0.5)
    True
    """

    lower: float
    upper: float
    epsilon: float
    debiasing: Debiasing = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        lower, upper = _check.interval(self.lower, self.upper)
        self._set(lower=lower, upper=upper, epsilon=_check.positive("epsilon", self.epsilon))
        coin = _coins.binary(self.epsilon, short=True)
        center, reach = (lower + upper) / 2, (upper - lower) / 2 / float(2 * coin.p - 1)
        self.define(
            epsilon_realized=coin.epsilon_realized,
            domain=Interval(lower, upper),
            report=Codes(2, onehot=False),
            debiasing=Debiasing(center - reach, center + reach),
            law=SignBitLaw(lower, upper, coin),
            kernel=privatize.SignBit(lower, upper, coin.heads, coin.bits),
            coin=coin,
        )
