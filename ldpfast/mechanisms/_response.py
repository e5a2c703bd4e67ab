"""Base class of the k-ary responses, where one random word per record determines the report."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import _coins
from .._typing import AnyArray, Floats
from ..domains import Domain
from ..privacy._two_level import TwoLevel
from ..reports import Codes
from ..results import Debiasing
from ._base import CHANNEL_ENTRIES, Mechanism
from ._draws import Counts, bincount, heads, uniform
from ._pipeline import Kernel

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


def response_counts(coin: _coins.ResponseCoin, people: Counts, generator: Generator) -> Counts:
    """Return the numbers of reports of each symbol, from the numbers of people with each symbol."""
    anything = coin.k * coin.words_per_symbol
    kept = heads(generator, people, (1 << coin.bits) - anything, anything)
    return kept + uniform(generator, np.asarray((people - kept).sum()), coin.k)


class ResponseMechanism(Mechanism):
    """A mechanism that applies k-ary randomized response to a symbol of the record."""

    report: Codes
    debiasing: Debiasing
    _coin: _coins.ResponseCoin

    def define_response(self, coin: _coins.ResponseCoin, domain: Domain, report: Codes, kernel: Kernel) -> None:
        """Set the attributes that follow from the integers of the coin."""
        self.define(
            epsilon_realized=coin.epsilon_realized,
            domain=domain,
            report=report,
            debiasing=debiasing_of(coin),
            kernel=kernel,
            coin=coin,
        )

    @abstractmethod
    def symbols(self, records: AnyArray) -> AnyArray:
        """Return the symbol of each record, before the response."""

    def report_variance(self, records: AnyArray) -> Floats:
        symbols = self.symbols(records)
        truth = one_hot(symbols, self._coin.k) if self.report.onehot else symbols
        return np.asarray(self.debiasing.variance(truth.astype(np.float64)))

    def report_state(self, records: AnyArray, people: Counts, generator: Generator) -> AnyArray:
        return response_counts(self._coin, bincount(self.symbols(records), people, self._coin.k), generator)

    @property
    def two_level(self) -> TwoLevel:
        """Parameters for `privacy.shuffled`: S(x) is the symbol of the record, one of k."""
        coin = self._coin
        return TwoLevel.of_sets(Fraction(coin.keep, coin.words_per_symbol), 1, coin.k, 1)

    def channel_rows(self) -> list[list[int]] | None:
        coin = self._coin
        if coin.k**2 > CHANNEL_ENTRIES:
            return None
        return [[coin.keep if i == j else coin.words_per_symbol for j in range(coin.k)] for i in range(coin.k)]
