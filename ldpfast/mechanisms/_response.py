"""The law of the k-ary responses, where one random word per record determines the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _coins
from .._typing import AnyArray, Floats
from ..privacy import ReportLaw, TwoLevel
from ..reports import Decoding
from ..results import Debiasing
from ._draws import PeopleCounts, bincount, heads, uniform
from ._law import CHANNEL_ENTRIES, Law

if TYPE_CHECKING:
    from numpy.random import Generator


@lru_cache(maxsize=256)
def debiasing_of(coin: _coins.ResponseCoin | _coins.UnaryCoins) -> Debiasing:
    """Return the debiasing of a category that is reported with probability p if it is true, else with q."""
    return Debiasing.of(coin.p, coin.q)


def one_hot(categories: AnyArray, k: int) -> NDArray[np.bool_]:
    """Return the one-hot rows of categories, shape (n, k)."""
    columns: NDArray[np.bool_] = categories[:, np.newaxis] == np.arange(k)
    return columns


def response_counts(coin: _coins.ResponseCoin, people: PeopleCounts, generator: Generator) -> PeopleCounts:
    """Return the numbers of reports of each symbol, from the numbers of people with each symbol."""
    anything = coin.k * coin.words_per_symbol
    kept = heads(generator, people, (1 << coin.bits) - anything, anything)
    return kept + uniform(generator, np.asarray((people - kept).sum()), coin.k)


@dataclass(frozen=True)
class ResponseLaw(Law):
    """The law of k-ary randomized response to a symbol of the record.

    Attributes
    ----------
    coin : ResponseCoin
    symbols : callable or None
        Function from records to their symbols; None if records are symbols.
    onehot : bool
        Whether a report decodes to one number per symbol, not to one number.
    """

    coin: _coins.ResponseCoin
    symbols: Callable[[AnyArray], AnyArray] | None = None
    onehot: bool = True

    def symbols_of(self, records: AnyArray) -> AnyArray:
        """Return the symbol of each record, before the response."""
        return records if self.symbols is None else self.symbols(records)

    def rows(self) -> list[list[int]] | None:
        coin = self.coin
        if coin.k**2 > CHANNEL_ENTRIES:
            return None
        return [[coin.keep if i == j else coin.words_per_symbol for j in range(coin.k)] for i in range(coin.k)]

    def variance(self, decoding: Decoding, records: AnyArray) -> Floats:
        symbols = self.symbols_of(records)
        truth = one_hot(symbols, self.coin.k) if self.onehot else symbols
        return np.asarray(debiasing_of(self.coin).variance(truth.astype(np.float64)))

    def draw(self, records: AnyArray, people: PeopleCounts, generator: Generator) -> AnyArray:
        return response_counts(self.coin, bincount(self.symbols_of(records), people, self.coin.k), generator)

    def two_level(self) -> TwoLevel:
        coin = self.coin  # S(x) is the symbol of the record, one of k
        return TwoLevel.of_sets(Fraction(coin.keep, coin.words_per_symbol), 1, coin.k, 1)

    def largest_probability(self) -> float:
        return float(max(self.coin.p, self.coin.q))

    def report_laws(self) -> Sequence[ReportLaw] | None:
        if self.coin.k == 2:
            return [ReportLaw.of_outcomes(self.coin.p, self.coin.q)]
        # all others have the symbol of one of the two records, or a third one
        none, symbol = Fraction(0), Fraction(1, self.coin.k)
        others = [(none, symbol, none, none), (none, none, symbol, none), (none, none, none, symbol)]
        return [ReportLaw.of_two_level(self.two_level(), others)]


def parts_of(
    coin: _coins.ResponseCoin, symbols: Callable[[AnyArray], AnyArray] | None = None, *, onehot: bool = True
) -> dict[str, Any]:
    """Return what follows from the integers of the coin, as arguments of `Mechanism.define`."""
    law = ResponseLaw(coin, symbols, onehot)
    return {"epsilon_realized": coin.epsilon_realized, "debiasing": debiasing_of(coin), "coin": coin, "law": law}
