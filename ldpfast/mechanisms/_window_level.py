"""A window over ordered cells: the level that tells roughly where a record is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import _coins
from .._typing import AnyArray
from ._draws import PeopleCounts, uniform
from ._tree_sets import SetCodes

if TYPE_CHECKING:
    from numpy.random import Generator

WIDTH = 3 / 8  # of the window, as a share of the cells for epsilon 0; the factor of epsilon in its exponent, too


@dataclass(frozen=True)
class WindowLevel(SetCodes):
    """A level whose code is probably within a window of codes that begins at the record.

    The codes of cell i are i, ..., i + w - 1 with the probability of the coin, else all others. There are w - 1 more codes
    than cells, so that all windows have w codes.

    Attributes
    ----------
    symbols : int
        Number of cells.
    coin : SetCoin
        Its `size` is the width w.
    span : int
        Number of cells per symbol, 1.
    """

    symbols: int
    coin: _coins.SetCoin
    span: int = 1

    @classmethod
    def of(cls, k: int, epsilon: float) -> WindowLevel:
        """Return the level of k cells with the width for `epsilon`.

        The width minimizes, within a few percent, the mean variance of the distribution function in models of 4 to 255
        cosines, together with the shares of the levels.
        """
        width = max(1, round(k * WIDTH * math.exp(-WIDTH * epsilon)))
        return cls(k, _coins.of_set(epsilon, width, k + width - 1))

    @property
    def width(self) -> int:
        """Number of codes of a window."""
        return self.coin.size

    @property
    def integers(self) -> tuple[int, ...]:
        return self.symbols, self.coin.heads, self.coin.size, self.coin.outputs

    def matches(self, symbols: AnyArray) -> NDArray[np.bool_]:
        place = np.arange(self.codes) - symbols[:, np.newaxis].astype(np.int64)
        return np.asarray((place >= 0) & (place < self.width))

    def _draw_sets(self, inside: PeopleCounts, outside: PeopleCounts, generator: Generator) -> PeopleCounts:
        counts = np.zeros(self.codes, np.int64)
        own = uniform(generator, inside, self.width)
        other = uniform(generator, outside, self.symbols - 1)
        for i in range(self.symbols):
            counts[i : i + self.width] += own[i]
            counts[:i] += other[i, :i]
            counts[i + self.width :] += other[i, i:]
        return counts
