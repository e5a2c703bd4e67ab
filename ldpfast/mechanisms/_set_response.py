"""Base class of the mechanisms whose report is a code in a set that depends on the category."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check, _coins
from .._typing import AnyArray, Floats
from ..domains import Categories
from ..privacy import ReportLaw, TwoLevel
from ..reports import Codes, Counted, Decoding
from ..results import Debiasing, Estimate, SupportDebiasing
from ._draws import PeopleCounts, bincount, heads
from ._kernel import Kernel
from ._law import CHANNEL_ENTRIES, Law
from ._mechanism import Mechanism
from ._response import one_hot

if TYPE_CHECKING:
    from numpy.random import Generator

CODES_AT_A_TIME = 1 << 20  # times categories
HIT_COST = 4  # time to decide whether a code supports a category, in units of the time of all hits per code


def scaled_variance(k: int, epsilon: float, size: int, outputs: int, common: float) -> float:
    """Return the total variance of k categories without rounding of the coin, times (e^epsilon - 1)^2 and the number of people.

    Parameters
    ----------
    k : int
    epsilon : float
    size, outputs : int
        The report is one of `outputs` equally probable codes; `size` of them support the record with e^epsilon times the
        probability of the others.
    common : float
        How many of these codes support another category, too.
    """
    odds = math.exp(min(epsilon, 300.0))
    whole = size * odds + outputs - size
    q = (common * odds + size - common) / whole
    variance = size * odds * (outputs - size) / whole**2
    return (variance + (k - 1) * q * (1 - q)) / ((size - common) / whole) ** 2


def decoding_of(mechanism: SetResponse, items: ArrayLike) -> Decoding:
    """Return what the decoded reports of some categories are."""
    domain = mechanism.domain
    given = _check.array("items", items)
    if given.ndim != 1 or not len(given):
        raise ValueError(f"items must be at least one category in an array of one dimension, got shape {given.shape}")
    if given.dtype.kind not in "iu":
        raise TypeError(f"items must be {domain.describe()}, got dtype {given.dtype}")
    if given.min() < 0 or given.max() >= domain.k:
        raise ValueError(f"items must be {domain.describe()}, got items from {given.min()} to {given.max()}")
    chosen = given.astype(np.int64)
    debiasing = SupportDebiasing(
        len(chosen),
        lambda codes: mechanism.supported(codes, chosen),
        lambda counts: mechanism._hits_of(chosen, counts),
        mechanism.debiasing.line,
    )
    return Decoding(debiasing, mechanism.domain.range, mechanism.guarantee)


class SetResponse(Mechanism):
    """A mechanism that reports a uniform code of a set S(x) with a given probability, else a uniform code outside of it.

    All sets have the same size, and two of them have the same number of common codes. A report supports all categories
    whose sets hold it.
    """

    domain: Categories
    report: Codes
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
            debiasing=SupportDebiasing(k, self.supported, self._hits, Debiasing.of(p, q)),
            kernel=kernel,
            law=SetLaw(k, coin, common, self.supported, self._draw_codes),
            coin=coin,
        )

    def supported(self, codes: AnyArray, items: AnyArray | None = None) -> NDArray[np.bool_]:
        """Return which categories the codes support.

        Parameters
        ----------
        codes : ndarray of int, shape (n,)
        items : ndarray of int, shape (m,), optional
            Categories. The default is all of them, in their order.

        Returns
        -------
        supported : ndarray of bool, shape (n, m)
        """
        return self._supports(codes, np.arange(self.domain.k) if items is None else items)

    @abstractmethod
    def _supports(self, codes: AnyArray, items: AnyArray) -> NDArray[np.bool_]:
        """Return which of the categories `items` the codes support."""

    @abstractmethod
    def _hits(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of reports that support each category, from the counts of the codes."""

    def _hits_of(self, items: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of reports that support each of some categories, one code after another if that is less work."""
        codes = np.flatnonzero(counts)
        if len(codes) * len(items) * HIT_COST > len(counts):
            return self._hits(counts)[items]
        rows = max(1, CODES_AT_A_TIME // len(items))
        parts = (codes[i : i + rows] for i in range(0, len(codes), rows))
        return np.asarray(sum(counts[part] @ self._supports(part, items) for part in parts), np.int64)

    def _conclude(self, counted: Counted, *, items: ArrayLike | None = None) -> Estimate[Any]:
        """Return the shares of the categories, or of some `items`, which saves time if they and the different codes are few."""
        return self._recipe.mean(counted, None if items is None else decoding_of(self, items))

    @abstractmethod
    def _draw_codes(self, inside: PeopleCounts, outside: PeopleCounts, generator: Generator) -> PeopleCounts:
        """Return the numbers of codes for the numbers of people of each category with codes in and outside of S(x)."""


@dataclass(frozen=True)
class SetLaw(Law):
    """The distribution of a uniform code of a set S(x) with a given probability, else of a uniform code outside of it.

    Attributes
    ----------
    k : int
        Number of categories.
    coin : SetCoin
    common : int
        Number of codes that two sets have in common.
    supported : callable
        Function that returns which categories codes support.
    draw_codes : callable
        As `SetResponse._draw_codes`.
    """

    k: int
    coin: _coins.SetCoin
    common: int
    supported: Callable[[AnyArray], NDArray[np.bool_]]
    draw_codes: Callable[[PeopleCounts, PeopleCounts, Generator], PeopleCounts]

    def rows(self) -> list[list[int]] | None:
        coin = self.coin
        if self.k * coin.outputs > CHANNEL_ENTRIES:
            return None
        inside = coin.heads * (coin.outputs - coin.size)
        outside = ((1 << coin.bits) - coin.heads) * coin.size
        return [[inside if hit else outside for hit in row] for row in self.supported(np.arange(coin.outputs)).T]

    def variance(self, decoding: Decoding, records: AnyArray) -> Floats:
        return np.asarray(decoding.line.variance(one_hot(records, self.k).astype(np.float64)))

    def draw(self, records: AnyArray, people: PeopleCounts, generator: Generator) -> AnyArray:
        owners, coin = bincount(records, people, self.k), self.coin
        inside = heads(generator, owners, coin.heads, (1 << coin.bits) - coin.heads)
        return self.draw_codes(inside, owners - inside, generator)

    def two_level(self) -> TwoLevel:
        coin = self.coin
        return TwoLevel.of_sets(coin.inside / coin.outside, coin.size, coin.outputs, coin.size - self.common)

    def largest_probability(self) -> float:
        return float(max(self.coin.inside, self.coin.outside))

    def report_laws(self) -> Sequence[ReportLaw]:
        # all others have one of the two categories
        both, one = Fraction(self.common, self.coin.outputs), Fraction(self.coin.size - self.common, self.coin.outputs)
        others = [(both, one, Fraction(0), Fraction(0)), (both, Fraction(0), one, Fraction(0))]
        return [ReportLaw.of_two_level(self.two_level(), others)]
