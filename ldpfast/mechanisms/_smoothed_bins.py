"""Randomized response to the bin of a number with a random offset."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .. import _check, _coins
from .._random import Words
from .._typing import AnyArray, Floats
from ..domains import Reals
from ..reports import Codes, Decoding
from ..results import Debiasing
from ._draws import PeopleCounts, multinomial
from ._mechanism import Mechanism
from ._python import invert
from ._response import ResponseLaw, debiasing_of, response_counts

if TYPE_CHECKING:
    from numpy.random import Generator


@dataclass(frozen=True)
class SmoothedBins(Mechanism):
    """`Bins` for numbers with few different values: each person first adds a uniform offset of width `spacing`.

    The shares of the symbols are shares of the smoothed distribution, which has no jumps.

    Parameters
    ----------
    cuts : float or sequence of float
        1 to 255 strictly ascending numbers, which define len(cuts) + 1 symbols.
    epsilon : float
        Privacy parameter, > 0.
    spacing : float
        Distance between neighboring values, > 0. The offset is between -spacing / 2 and spacing / 2.

    Raises
    ------
    TypeError, ValueError
        If `cuts` are not 1 to 255 strictly ascending finite numbers; if `epsilon` or `spacing` is not a finite number > 0.

    Notes
    -----
    Records: finite floats, shape (n,). Reports: uint8 codes. O(n len(cuts)) time, without a compiled kernel.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP, as `Bins`: the offset is added before the coin. No resistance to timing attacks is claimed.
    docs/proofs/bins.md.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.mechanisms._smoothed_bins import SmoothedBins
    >>> half = SmoothedBins(3.0, epsilon=2.0, spacing=1.0).run(np.full(40_000, 3), rng=1)
    >>> bool(abs(half.value[0] - 0.5) < 0.05)
    True
    """

    cuts: tuple[float, ...]
    epsilon: float
    _: KW_ONLY
    spacing: float
    debiasing: Debiasing = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._set(
            cuts=_check.ascending("cuts", self.cuts, 255),
            epsilon=_check.positive("epsilon", self.epsilon),
            spacing=_check.positive("spacing", self.spacing),
        )
        coin = _coins.response(len(self.cuts) + 1, self.epsilon)
        self.define(
            epsilon_realized=coin.epsilon_realized,
            domain=Reals(),
            report=Codes(coin.k),
            debiasing=debiasing_of(coin),
            law=SmoothedLaw(coin, cuts=self.cuts, spacing=self.spacing),
            coin=coin,
        )

    def privatize_block(self, records: AnyArray, words: Words) -> AnyArray:
        smoothed = add_offsets(records, self.spacing, words.uint64(len(records)))
        rows = self._recipe.law.rows()
        assert rows is not None
        symbols = np.searchsorted(np.asarray(self.cuts), smoothed.astype(np.float64), side="right")
        return invert(rows)(symbols, words)


@dataclass(frozen=True)
class SmoothedLaw(ResponseLaw):
    """The distribution of the response to the symbol of a number with a random offset.

    Attributes
    ----------
    cuts : tuple of float
    spacing : float
        Length of the interval of the offset.
    """

    cuts: tuple[float, ...] = ()
    spacing: float = 1.0

    def symbol_probabilities(self, records: AnyArray) -> Floats:
        """Return the probability of each symbol for each record, over the offsets."""
        edges = np.concatenate([[-np.inf], self.cuts, [np.inf]])
        low = (records.astype(np.float64)[:, np.newaxis] - self.spacing / 2 - edges) / self.spacing
        below = np.clip(-low, 0, 1)  # probability of being below an edge
        return np.diff(below, axis=1)

    def variance(self, decoding: Decoding, records: AnyArray) -> AnyArray:
        """Return the variance of one decoded report of each record, per symbol, with that of the offset."""
        return np.asarray(decoding.line.variance(self.symbol_probabilities(records)))

    def draw(self, records: AnyArray, people: PeopleCounts, generator: Generator) -> AnyArray:
        symbols = multinomial(generator, people, self.symbol_probabilities(records)).sum(axis=0)
        return response_counts(self.coin, symbols, generator)


def add_offsets(records: AnyArray, spacing: float, words: AnyArray) -> AnyArray:
    """Return numbers plus uniform offsets between -spacing / 2 and spacing / 2, from one random word each."""
    uniform = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
    with np.errstate(over="ignore", invalid="ignore"):  # numbers that are not finite; callers check the records
        return np.asarray(records.astype(np.float64) + spacing * (uniform - 0.5))
