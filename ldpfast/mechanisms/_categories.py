"""Mechanisms for categories: Warner's bit, k-ary response, unary encoding."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check, _coins
from .._core import bits, codes
from ..results import Debiasing
from ._base import CHANNEL_ENTRIES, AnyArray, Mechanism
from ._domains import Categories
from ._reports import Bits, Codes

MOST_CATEGORIES = 1 << 40  # more than memory holds; a bound for the integers


def debiasing(coin: _coins.ResponseCoin | _coins.UnaryCoins) -> Debiasing:
    """A category is hit with probability p where it is the true one, else q; both from the integers."""
    return Debiasing(float(-coin.q / (coin.p - coin.q)), float((1 - coin.q) / (coin.p - coin.q)))


class ResponseMechanism(Mechanism):
    """What the k-ary responses share: one word per record, whose integers give channel, debiasing and guarantee."""

    _coin: _coins.ResponseCoin

    def _respond(self, coin: _coins.ResponseCoin) -> None:
        self._set(
            _coin=coin,
            epsilon_realized=coin.epsilon_realized,
            debiasing=debiasing(coin),
        )

    def _channel(self) -> list[list[int]] | None:
        coin = self._coin
        if coin.k**2 > CHANNEL_ENTRIES:
            return None
        return [[coin.keep if i == j else coin.share for j in range(coin.k)] for i in range(coin.k)]


def one_hot(categories: AnyArray, k: int) -> NDArray[np.bool_]:
    """Which of the k columns is the category."""
    columns: NDArray[np.bool_] = categories[:, np.newaxis] == np.arange(k)
    return columns


@dataclass(frozen=True)
class Warner(ResponseMechanism):
    """Randomised response to a yes-or-no question: the truth with probability p, else the opposite.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, > 0 and at most about 44.3.

    Raises
    ------
    TypeError, ValueError
        If `epsilon` is not a finite number > 0, or too small or large for a coin of 64 bits.

    Notes
    -----
    Records: 0 or 1, bool or integer, shape (n,). Reports: uint8, 0 or 1. Variance of a decoded report:
    p (1 - p) / (2 p - 1)^2 with p about e^epsilon / (1 + e^epsilon). O(n) time, 8 random bytes per person.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP: p = m / 2^64, m rounded down, one coin per report, compared without a branch, so that
    time tells nothing. docs/proofs/randomized_response.md.

    References
    ----------
    .. [1] S. L. Warner, "Randomized response: a survey technique for eliminating evasive answer bias", JASA 60 (1965).

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> estimate = ldp.Warner(1.0).run(np.arange(10_000) % 4 == 0, rng=1)
    """

    epsilon: float

    def __post_init__(self) -> None:
        self._set(epsilon=_check.positive("epsilon", self.epsilon))
        coin = _coins.response(2, self.epsilon, wide=True)
        self._respond(coin)
        self._set(
            domain=Categories(2, booleans=True),
            report=Codes(2, onehot=False),
            _kernel=codes.Response(coin, True),
        )

    def _variance(self, records: AnyArray) -> NDArray[np.float64]:
        return np.asarray(self.debiasing.variance(records.astype(np.float64)))


@dataclass(frozen=True)
class RandomizedResponse(ResponseMechanism):
    """k-ary randomised response: the true category with probability p, else one of the others, uniformly.

    Parameters
    ----------
    k : int
        Number of categories, >= 2.
    epsilon : float
        Privacy parameter, > 0 and at most about 44.

    Raises
    ------
    TypeError, ValueError
        If `k` is not an integer >= 2; if `epsilon` is not a finite number > 0 or too small or large for exact coins.

    Notes
    -----
    Records: integers in [0, k), shape (n,). Reports: codes of the smallest unsigned dtype that holds k - 1. Best for few
    categories, k <= 3 e^epsilon + 2; variance of a share near zero: (e^epsilon + k - 2) / (e^epsilon - 1)^2. O(n) time, 4
    random bytes per person (8 where k > 256, or where 32 bits would lose more than 1e-5 of epsilon).

    Privacy
    -------
    Exactly `epsilon_realized`-LDP: one word decides each report, truth below the integer m and otherwise the same number of
    words for each of the other categories; no branch. docs/proofs/randomized_response.md.

    References
    ----------
    .. [1] P. Kairouz, K. Bonawitz, D. Ramage, "Discrete distribution estimation under local privacy", ICML 2016.
    """

    k: int
    epsilon: float

    def __post_init__(self) -> None:
        self._set(k=_check.integer("k", self.k, 2, MOST_CATEGORIES), epsilon=_check.positive("epsilon", self.epsilon))
        coin = _coins.response(self.k, self.epsilon)
        self._respond(coin)
        self._set(
            domain=Categories(self.k),
            report=Codes(self.k),
            _kernel=codes.Response(coin),
        )

    def _variance(self, records: AnyArray) -> NDArray[np.float64]:
        return np.asarray(self.debiasing.variance(one_hot(records, self.k).astype(np.float64)))


@dataclass(frozen=True)
class UnaryEncoding(Mechanism):
    """One bit per category, each of them randomised: for more categories than k-ary response is good for.

    Parameters
    ----------
    k : int
        Number of categories, >= 2.
    epsilon : float
        Privacy parameter, > 0; at most about 88 (symmetric) or 44 (optimized).
    variant : {"symmetric", "optimized"}
        "symmetric" flips every bit with the same probability, 1 / (1 + e^(epsilon / 2)). "optimized" keeps the true bit with
        probability 1/2 and sets the others with probability 1 / (1 + e^epsilon), which is the smaller variance for rare
        categories.

    Raises
    ------
    TypeError, ValueError
        If `k` is not an integer >= 2, `variant` is another word, or `epsilon` is not a finite number > 0 that exact coins can
        certify.

    Notes
    -----
    Records: integers in [0, k), shape (n,). Reports: packed bits, uint8, shape (n, ceil(k / 8)), little bit order, padded
    with zeros. Variance of a share near zero: e^(epsilon / 2) / (e^(epsilon / 2) - 1)^2 (symmetric),
    4 e^epsilon / (e^epsilon - 1)^2 (optimized). O(n k) time, about k / 3 random bytes per person.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP from the integers of the 64-bit coins. A single record compares all 64 bits of every
    coin and takes the same time for every outcome; for arrays, where settled bits drop out of the comparison, nothing is
    claimed about time. docs/proofs/unary_encoding.md.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Local privacy and minimax bounds: sharp rates for probability
       estimation", NIPS 2013 (symmetric).
    .. [2] T. Wang, J. Blocki, N. Li, S. Jha, "Locally differentially private protocols for frequency estimation", USENIX
       Security 2017 (optimized).
    """

    k: int
    epsilon: float
    variant: str = "symmetric"
    _own: int = field(init=False, repr=False, compare=False)
    _other: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._set(
            k=_check.integer("k", self.k, 2, MOST_CATEGORIES),
            epsilon=_check.positive("epsilon", self.epsilon),
            variant=_check.choice("variant", self.variant, ("symmetric", "optimized")),
        )
        optimized = self.variant == "optimized"
        coin = _coins.unary(self.epsilon, optimized)
        self._set(
            _own=coin.own,
            _other=coin.other,
            epsilon_realized=coin.epsilon_realized,
            domain=Categories(self.k),
            report=Bits(self.k),
            debiasing=debiasing(coin),
            _kernel=bits.Unary(self.k, coin.other, optimized),
        )

    def _variance(self, records: AnyArray) -> NDArray[np.float64]:
        return np.asarray(self.debiasing.variance(one_hot(records, self.k).astype(np.float64)))

    def _channel(self) -> Any:
        if self.k << self.k > CHANNEL_ENTRIES:
            return None
        rows = []
        for category in range(self.k):
            row = []
            for report in range(1 << self.k):
                weight = 1
                for place in range(self.k):
                    ones = self._own if place == category else self._other
                    weight *= ones if report >> place & 1 else _coins.WORD - ones
                row.append(weight)
            rows.append(row)
        return rows
