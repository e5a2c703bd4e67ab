"""Unary encoding of categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from .. import _check, _coins
from .._core import privatize
from .._typing import AnyArray, Floats
from ..domains import Categories
from ..privacy import ReportLaw, TwoLevel
from ..reports import Bits, Decoding
from ..results import Debiasing, Kinds
from ._draws import PeopleCounts, bincount, heads
from ._law import CHANNEL_ENTRIES, Law
from ._mechanism import Mechanism
from ._randomized_response import MAX_CATEGORIES
from ._response import debiasing_of, one_hot

if TYPE_CHECKING:
    from numpy.random import Generator


@dataclass(frozen=True)
class UnaryEncoding(Mechanism):
    """One randomized bit per category, for more categories than `RandomizedResponse` suits.

    Parameters
    ----------
    k : int
        Number of categories, >= 2.
    epsilon : float
        Privacy parameter, > 0; at most about 88 (symmetric) or 44 (optimized).
    method : {"symmetric", "optimized"}
        "symmetric" flips every bit with the same probability, 1 / (1 + e^(epsilon / 2)). "optimized" keeps the bit of
        the true category with probability 1/2 and sets the others with probability 1 / (1 + e^epsilon), which has the
        smaller variance for rare categories.

    Raises
    ------
    TypeError, ValueError
        If `k` is not an integer >= 2, `method` is not as above, or `epsilon` is not a finite number > 0 that exact
        coins can certify.

    Notes
    -----
    Records: integers in [0, k), shape (n,). Reports: packed bits, uint8, shape (n, ceil(k / 8)), little bit order,
    padded with zeros. The variance of a share near zero is e^(epsilon / 2) / (e^(epsilon / 2) - 1)^2 (symmetric) or
    4 e^epsilon / (e^epsilon - 1)^2 (optimized). O(n k) time, about k / 3 random bytes per person.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP, from the integers of the 64-bit coins. For a single record all 64 bits of every coin
    are compared, and the time is the same for every outcome. For arrays, decided coins drop out of the comparison, and
    resistance to timing attacks is not claimed. docs/proofs/unary_encoding.md.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Local privacy and minimax bounds: sharp rates for probability
       estimation", NIPS 2013 (symmetric).
    .. [2] T. Wang, J. Blocki, N. Li, S. Jha, "Locally differentially private protocols for frequency estimation",
       USENIX Security 2017 (optimized).

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> mechanism = ldp.UnaryEncoding(100, epsilon=1.0, method="optimized")
    >>> mechanism.privatize(np.array([3, 99]), rng=1).shape  # 100 bits in 13 bytes
    (2, 13)
    """

    k: int
    epsilon: float
    _: KW_ONLY
    method: str = "symmetric"
    debiasing: Debiasing = field(init=False, repr=False, compare=False)
    _coin: _coins.UnaryCoins = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._set(
            k=_check.integer("k", self.k, 2, MAX_CATEGORIES),
            epsilon=_check.positive("epsilon", self.epsilon),
            method=_check.choice("method", self.method, ("symmetric", "optimized")),
        )
        optimized = self.method == "optimized"
        coins = _coins.unary(self.epsilon, optimized)
        self.define(
            epsilon_realized=coins.epsilon_realized,
            domain=Categories(self.k),
            report=Bits(self.k, onehot=True),
            debiasing=debiasing_of(coins),
            kernel=privatize.UnaryEncoding(self.k, coins.other, optimized),
            law=UnaryLaw(self.k, coins),
            coin=coins,
        )

    @property
    def bit_probabilities(self) -> tuple[Fraction, Fraction]:
        """Probabilities of a one for the true and for another category, for `privacy.summed`."""
        return self._coin.p, self._coin.q


@dataclass(frozen=True)
class UnaryLaw(Law):
    """The distribution of independent bits, one per category."""

    k: int
    coin: _coins.UnaryCoins

    def variance(self, decoding: Decoding, records: AnyArray) -> Floats:
        return np.asarray(decoding.line.variance(one_hot(records, self.k).astype(np.float64)))

    def draw(self, records: AnyArray, people: PeopleCounts, generator: Generator) -> AnyArray:
        """Return the number of ones of each category: all bits of all people are independent."""
        owners, coin = bincount(records, people, self.k), self.coin
        truthful = heads(generator, owners, coin.own, _coins.WORD - coin.own)
        return truthful + heads(generator, people.sum() - owners, coin.other, _coins.WORD - coin.other)

    def two_level(self) -> TwoLevel:
        # In the base distribution all bits are drawn as for other categories. S(x) are the reports with a one for the true
        # category. With p and q the probabilities of a one for the true and for another category, the base probability of
        # S(x) is q, and that of S(x) without S(x') is q (1 - q).
        p, q = self.coin.p, self.coin.q
        return TwoLevel.of_sets(p * (1 - q) / ((1 - p) * q), q, 1, q * (1 - q))

    def largest_probability(self) -> float:
        own, other = (float(max(bit, 1 - bit)) for bit in (self.coin.p, self.coin.q))
        return own * other ** (self.k - 1)

    def kinds_of(self, reports: AnyArray) -> Kinds:
        """Return the numbers of reports with each number of ones, of k - 1 equal coins and that of the true category."""
        from scipy.stats import binom

        ones = np.bitwise_count(reports).sum(axis=1, dtype=np.intp)
        own = float(self.coin.p)
        others = binom.pmf(np.arange(-1, self.k + 1), self.k - 1, float(self.coin.q))
        probabilities = own * others[:-1] + (1 - own) * others[1:]
        return Kinds(np.bincount(ones, minlength=self.k + 1), probabilities, are_ordered=True)

    def report_laws(self) -> Sequence[ReportLaw]:
        # all others have one of the two categories, or a third one
        none, q = Fraction(0), self.coin.q
        both, one = q * q, q * (1 - q)
        others = [(both, one, none, none), (both, none, one, none)]
        if self.k > 2:
            others.append((both * q, both * (1 - q), both * (1 - q), one * (1 - q)))
        return [ReportLaw.of_two_level(self.two_level(), others)]

    def rows(self) -> list[list[int]] | None:
        if self.k << self.k > CHANNEL_ENTRIES:
            return None
        rows = []
        for category in range(self.k):
            row = []
            for report in range(1 << self.k):
                weight = 1
                for place in range(self.k):
                    ones = self.coin.own if place == category else self.coin.other
                    weight *= ones if report >> place & 1 else _coins.WORD - ones
                row.append(weight)
            rows.append(row)
        return rows
