"""Weighted sums of the shares of symbols: everything that a survey reports, apart from ratios and quantiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import AnyArray, Floats


@dataclass(frozen=True, eq=False)
class Cells:
    """Sets of symbols that are counted together.

    Attributes
    ----------
    pick : callable
        Function of numbers with one entry per symbol, shape (..., k). It returns those of the symbols of every set, shape
        (..., *sets, symbols), or (..., symbols) for one set.
    axes : int
        Number of axes of the sets; 0 for one set.
    """

    pick: Callable[[AnyArray], AnyArray]
    axes: int = 0

    @classmethod
    def first(cls, count: int) -> Cells:
        """Return the set of the first symbols."""
        return cls(lambda numbers: numbers[..., :count])

    @classmethod
    def one(cls, symbol: int) -> Cells:
        """Return the set of one symbol."""
        return cls(lambda numbers: numbers[..., symbol, np.newaxis])

    @classmethod
    def of_table(cls, shape: Sequence[int], axes: Sequence[int], counts: Sequence[int]) -> Cells:
        """Return the cells of a table in sets with the same place along some axes, where the symbols are the cells.

        Parameters
        ----------
        shape : sequence of int
            Shape of the table.
        axes : sequence of int
            The axes of the sets, in the order of the result.
        counts : sequence of int
            How many of the first places of each axis of the table are used.
        """
        others = [axis for axis in range(len(shape)) if axis not in axes]
        used: tuple[Any, ...] = (..., *(slice(counts[axis]) for axis in range(len(shape))))

        def pick(numbers: AnyArray) -> AnyArray:
            before = numbers.shape[:-1]
            table = numbers.reshape(*before, *shape)[used]
            table = table.transpose(*range(len(before)), *(len(before) + axis for axis in (*axes, *others)))
            return np.asarray(table.reshape(*table.shape[: len(before) + len(axes)], -1))

        return cls(pick, len(axes))

    def each(self) -> WeightedSums:
        """Return the shares of all symbols."""
        return WeightedSums(self.pick, lambda numbers: numbers, self.axes + 1)

    def total(self, weights: Floats | None = None, start: float = 0.0, *, keep: bool = False) -> WeightedSums:
        """Return one sum per set, with a weight for each symbol of a set; with `keep`, the last axis has length 1."""
        return WeightedSums(
            self.pick, lambda numbers: numbers.sum(axis=-1, keepdims=keep), self.axes + keep, weights, start
        )

    def cumulative(self) -> WeightedSums:
        """Return the sums of the first, the first two, ... symbols, without that of all."""
        return WeightedSums(self.pick, lambda numbers: np.cumsum(numbers, axis=-1)[..., :-1], self.axes + 1)


@dataclass(frozen=True, eq=False)
class WeightedSums:
    """Sums of numbers with one entry per symbol, times weights.

    Attributes
    ----------
    pick, reduce : callable
        The numbers of the symbols that are summed, and their sums.
    ndim : int
        Number of axes of the sums.
    weights : ndarray or None
        Weights of the symbols that `pick` returns, along its last axis; None for ones.
    start : float
        A number that estimates add to the sums. The mean of numbers far from zero is not a sum of shares with large weights,
        whose errors would cancel.
    """

    pick: Callable[[AnyArray], AnyArray]
    reduce: Callable[[AnyArray], AnyArray]
    ndim: int
    weights: Floats | None = None
    start: float = 0.0

    def of(self, numbers: AnyArray) -> Any:
        """Return the sums of numbers, shape (..., k)."""
        return self.reduce(self._weighted(numbers))

    def of_squares(self, numbers: AnyArray) -> Any:
        """Return the sums with squared weights."""
        return self.reduce(self._weighted(numbers) if self.weights is None else self._weighted(numbers) * self.weights)

    def of_highest(self, numbers: AnyArray) -> Any:
        """Return the sums of the numbers of the symbols with the largest weight."""
        picked = self.pick(numbers)
        return self.reduce(picked if self.weights is None else picked * (self.weights == self.highest))

    def _weighted(self, numbers: AnyArray) -> AnyArray:
        picked = self.pick(numbers)
        return picked if self.weights is None else picked * self.weights

    @property
    def lowest(self) -> float:
        """Smallest weight of a symbol; 0 for those that are not summed."""
        return 0.0 if self.weights is None else float(self.weights.min())

    @property
    def highest(self) -> float:
        """Largest weight of a symbol."""
        return 1.0 if self.weights is None else float(self.weights.max())


@dataclass(frozen=True, eq=False)
class SymbolChange:
    """Largest change of sums if a report is replaced by any other one of the format.

    A report supports `ones` of the symbols, or any of them if `ones` is None. For a weighted sum N and a number D of symbols it
    is the range of N a - D b over reports. A report with the largest one supports symbols in the order of their weights.

    Attributes
    ----------
    weights : ndarray, shape (m,)
        Weights of the symbols that are counted, in descending order.
    counts : ndarray, shape (..., m)
        Numbers of symbols with these weights.
    k : int
        Number of all symbols. The others add nothing.
    ones : int or None
    step : float or ndarray
        Change of a share when one more report supports its symbol.
    """

    weights: Floats
    counts: Floats
    k: int
    ones: int | None
    step: Any

    @classmethod
    def of(
        cls, sums: WeightedSums, given: WeightedSums | None, k: int, cells: int, ones: int | None, step: Any
    ) -> SymbolChange:
        """Return the change of sums, and of the numbers in `given` of the symbols that they are divided by, if it is not None.

        Each of the k symbols stands for so many cells.
        """
        every = np.full(k, float(cells))
        if sums.weights is None:
            counted = np.asarray(sums.of(every))
            rest = np.zeros(counted.shape) if given is None else given.of(every) - counted
            return cls(np.array([1.0, 0.0]), np.stack([counted, rest], axis=-1), k * cells, ones, step)
        order = np.argsort(-sums.weights, kind="stable")
        return cls(sums.weights[order], np.full(len(order), float(cells)), k * cells, ones, step)

    def __call__(self, a: Any, b: Any) -> Floats:
        values = np.asarray(a)[..., np.newaxis] * self.weights - np.asarray(b)[..., np.newaxis]
        if self.ones is None:
            spread = (self.counts * np.abs(values)).sum(axis=-1)
        else:
            counts = np.broadcast_to(self.counts, values.shape) if self.counts.ndim < values.ndim else self.counts
            spread = self._largest(values, counts) + self._largest(-values[..., ::-1], counts[..., ::-1])
        return np.asarray(self.step * spread)

    def _largest(self, values: Floats, counts: Floats) -> Floats:
        """Return the largest sum of the values that a report can support, which are in descending order."""
        assert self.ones is not None
        before = np.cumsum(counts, axis=-1) - counts
        positive = np.clip(self.ones - before, 0, counts) * (values > 0)
        # Then symbols that add nothing, and negative values only if these are not enough.
        others = self.k - counts.sum(axis=-1, keepdims=True)
        negative = np.clip(self.ones - before - others, 0, counts) * (values <= 0)
        return np.asarray(((positive + negative) * values).sum(axis=-1))
