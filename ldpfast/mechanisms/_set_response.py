"""Base class of the mechanisms whose report is a code in a set that depends on the category."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import _coins
from .._typing import AnyArray, Floats
from ..domains import Categories
from ..privacy._two_level import TwoLevel
from ..reports import Codes
from ..results import Debiasing, SupportDebiasing
from ._base import CHANNEL_ENTRIES, Mechanism
from ._draws import Counts, bincount, heads
from ._pipeline import Kernel
from ._response import one_hot

if TYPE_CHECKING:
    from numpy.random import Generator


class SetResponse(Mechanism):
    """A mechanism that reports a uniform code of a set S(x) with a given probability, else a uniform code outside of it.

    All sets have the same size, and two of them have the same number of common codes. A report supports all categories
    whose sets hold it.
    """

    domain: Categories
    report: Codes
    _common: int
    debiasing: SupportDebiasing
    _coin: _coins.SetCoin

    def define_sets(self, k: int, coin: _coins.SetCoin, common: int, kernel: Kernel) -> None:
        """Set the attributes that follow from the coin and from the number of common codes of two sets."""
        p = coin.inside * coin.size
        q = coin.inside * common + coin.outside * (coin.size - common)
        self.define(
            epsilon_realized=coin.epsilon_realized,
            domain=Categories(k),
            report=Codes(coin.outputs),
            debiasing=SupportDebiasing(self.supported, self._hits, Debiasing.of(p, q)),
            kernel=kernel,
            coin=coin,
            _common=common,
        )

    @property
    def two_level(self) -> TwoLevel:
        """Parameters for `privacy.shuffled`."""
        coin = self._coin
        return TwoLevel.of_sets(coin.inside / coin.outside, coin.size, coin.outputs, coin.size - self._common)

    @abstractmethod
    def supported(self, codes: AnyArray) -> NDArray[np.bool_]:
        """Return which categories the codes support.

        Parameters
        ----------
        codes : ndarray of int, shape (n,)

        Returns
        -------
        supported : ndarray of bool, shape (n, k)
        """

    @abstractmethod
    def _hits(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of reports that support each category, from the counts of the codes."""

    def report_variance(self, records: AnyArray) -> Floats:
        return np.asarray(self.debiasing.line.variance(one_hot(records, self.domain.k).astype(np.float64)))

    def report_state(self, records: AnyArray, people: Counts, generator: Generator) -> AnyArray:
        owners, coin = bincount(records, people, self.domain.k), self._coin
        inside = heads(generator, owners, coin.heads, (1 << coin.bits) - coin.heads)
        return self._draw_codes(inside, owners - inside, generator)

    @abstractmethod
    def _draw_codes(self, inside: Counts, outside: Counts, generator: Generator) -> Counts:
        """Return the numbers of codes for the numbers of people of each category with codes in and outside of S(x)."""

    def channel_rows(self) -> list[list[int]] | None:
        coin, k = self._coin, self.domain.k
        if k * coin.outputs > CHANNEL_ENTRIES:
            return None
        inside = coin.heads * (coin.outputs - coin.size)
        outside = ((1 << coin.bits) - coin.heads) * coin.size
        return [[inside if hit else outside for hit in row] for row in self.supported(np.arange(coin.outputs)).T]
