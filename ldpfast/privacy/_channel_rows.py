"""Rows of a finite channel, and the tightest parameters over pairs of neighboring rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check, _coins
from . import _divergence, _testing
from ._directed_rounding import Floats
from ._exact import ExactPair


class ChannelRows:
    """Rows of report probabilities, as doubles and, if they are rational, as integers with the same sum.

    Numbers that are computed from integers are rounded up, and only at the end.
    """

    def __init__(self, matrix: ArrayLike, neighbors: Iterable[tuple[int, int]] | None) -> None:
        # dtype=object: NumPy would convert integers beyond 63 bits to doubles.
        rows = matrix if isinstance(matrix, np.ndarray) else np.array(matrix, dtype=object)
        if rows.ndim != 2 or 0 in rows.shape:
            raise ValueError(f"matrix must have shape (inputs, reports), got shape {rows.shape}")
        self.exact: NDArray[np.object_] | None = None
        entries = rows.ravel().tolist()
        if all(isinstance(v, Rational) for v in entries):
            self.exact = _common_integers(entries, rows.shape)
            total = int(self.exact[0].sum())
            self.matrix = np.array([[v / total for v in row] for row in self.exact.tolist()])
        elif all(isinstance(v, float | np.floating | Decimal | Rational) for v in entries):
            self.matrix = rows.astype(np.float64)
            if not (np.isfinite(self.matrix).all() and (self.matrix >= 0).all()):
                raise ValueError("matrix must have finite entries >= 0")
            off = np.abs(self.matrix.sum(axis=1) - 1)
            if off.max() > 1e-9:
                raise ValueError(f"matrix must have rows that sum to 1, row {int(off.argmax())} does not")
        else:
            raise TypeError("matrix must hold real numbers: integers, fractions, decimals or floats")
        self.matrix.flags.writeable = False
        self.neighbors = None if neighbors is None else _pairs(neighbors, len(self.matrix))

    # Pairs of rows ----------------------------------------------------------------------------------------------------

    def _indices(self) -> Iterable[tuple[int, int]]:
        return combinations(range(len(self.matrix)), 2) if self.neighbors is None else self.neighbors

    def neighbor_set(self) -> set[frozenset[int]]:
        """Return the pairs of neighbors without an order."""
        return {frozenset(pair) for pair in self._indices()}

    @cached_property
    def _exact_pairs(self) -> list[ExactPair]:
        """Pairs of neighbors in both orders.

        Pairs with the same columns, in any order, are merged: a channel with symmetries has few distinct ones.
        """
        assert self.exact is not None
        entries: list[list[int]] = self.exact.tolist()
        values = sorted({value for row in entries for value in row})
        places = {value: place for place, value in enumerate(values)}
        rows, size = np.array([[places[value] for value in row] for row in entries], np.int64), len(values)
        columns = {}  # different columns of two rows, with their numbers
        for i, j in self._indices():
            kinds, counts = np.unique(rows[i] * size + rows[j], return_counts=True)
            columns[kinds.tobytes() + counts.tobytes()] = kinds, counts
        pairs = set()
        for kinds, counts in columns.values():
            both = [(values[kind // size], values[kind % size]) for kind in kinds.tolist()]
            pairs.add(ExactPair.of(zip(both, counts.tolist(), strict=True), sum(entries[0])))
        return list(pairs | {pair.reversed() for pair in pairs})

    def _real_pairs(self) -> Iterator[tuple[Floats, Floats]]:
        """Yield each row with all of its neighbors."""
        if self.neighbors is None:
            for i in range(len(self.matrix)):
                yield self.matrix[i], np.delete(self.matrix, i, axis=0)
        else:
            ordered = np.array([*self.neighbors, *((j, i) for i, j in self.neighbors)]).reshape(-1, 2)
            for i in np.unique(ordered[:, 0]):
                yield self.matrix[i], self.matrix[ordered[ordered[:, 0] == i, 1]]

    def worst(self, function: Callable[[Floats, Floats], Floats]) -> float:
        """Return the largest value of a function of a row and its neighbors, in doubles."""
        return max((float(function(p, q).max(initial=0.0)) for p, q in self._real_pairs()), default=0.0)

    # Parameters -------------------------------------------------------------------------------------------------------

    def epsilon(self, delta: float) -> float:
        """Return the tightest epsilon at a given delta."""
        if delta == 0 and self.neighbors is None:
            return self._pure()
        if self.exact is None:
            return self.worst(lambda p, q: _divergence.largest_loss(p, q, delta))
        return max((pair.largest_loss(delta) for pair in self._exact_pairs), default=0.0)

    def _pure(self) -> float:
        """Return epsilon at delta = 0 if all rows are neighbors, from the extreme entries of each column."""
        if self.exact is None:
            reachable = self.matrix[:, self.matrix.max(axis=0) > 0]
            least, largest = reachable.min(axis=0), reachable.max(axis=0)
            if (least == 0).any():
                return math.inf
            return float((np.log(largest) - np.log(least)).max())
        worst = Fraction(1)
        for column in self.exact.T:
            largest = max(column)
            if largest > 0:
                least = min(column)
                if least == 0:
                    return math.inf
                worst = max(worst, Fraction(largest, least))
        return _coins.log_up(worst)

    def epsilon_between(self, i: int, j: int) -> float:
        """Return epsilon of two inputs, in both orders."""
        rows: Any = self.matrix[[i, j]] if self.exact is None else self.exact[[i, j]]
        return ChannelRows(rows, None)._pure()

    def delta(self, epsilon: float) -> float:
        """Return the tightest delta at a given epsilon."""
        if self.exact is None:
            return min(self.worst(lambda p, q: _divergence.hockey_stick(p, q, epsilon)), 1.0)
        return _coins.round_up(self._hockey_stick(epsilon))

    def _hockey_stick(self, epsilon: float) -> Fraction:
        return max((pair.hockey_stick(epsilon) for pair in self._exact_pairs), default=Fraction(0))

    def kullback_leibler(self) -> float:
        """Return the largest Kullback-Leibler divergence."""
        if self.exact is None:
            return self.worst(_divergence.kullback_leibler)
        return max((pair.kullback_leibler() for pair in self._exact_pairs), default=0.0)

    def disclosure_risk(self) -> float:
        """Return (1 - total variation) / 2, rounded down if it is computed from integers."""
        if self.exact is None:
            return (1 - self.delta(0.0)) / 2
        return -_coins.round_up((self._hockey_stick(0.0) - 1) / 2)

    def trade_off(self, false_alarms: Floats) -> Floats:
        """Return the smallest miss probabilities at given false-alarm probabilities, in doubles."""
        least: Floats = 1 - false_alarms
        if self.exact is None:
            pairs = ((p, q) for p, rows in self._real_pairs() for q in rows)
        else:
            pairs = (pair.rows for pair in self._exact_pairs)
        for p, q in pairs:
            least = np.minimum(least, _divergence.trade_off(p, q, false_alarms))
        return least

    def inherited(self, mass: float) -> float:
        """Return the parameter of conditional hypothesis testing over sets of post-processed reports."""
        if self.exact is not None:
            if mass == 0:
                return max((pair.conditional() for pair in self._exact_pairs), default=0.0)
            return max((_testing.inherited(*pair.rows, mass) for pair in self._exact_pairs), default=0.0)
        rows = self.matrix
        return max((_testing.inherited(rows[i], rows[j], mass) for i, j in self._indices()), default=0.0)

    def over_sets(self, mass: float) -> float:
        """Return the parameter of conditional hypothesis testing over sets of reports."""
        rows: Any = self.matrix if self.exact is None else self.exact
        rows = rows[:, [any(column) for column in rows.T]]
        if rows.shape[1] > _testing.MAX_REPORTS:
            raise ValueError(
                f"inherited must be True for a channel of more than {_testing.MAX_REPORTS} reports, this one has "
                f"{rows.shape[1]}"
            )
        total = None if self.exact is None else sum(rows[0].tolist())
        values = (_testing.over_sets(rows[i], rows[j], total, mass) for i, j in self._indices())
        worst = max(values, default=Fraction(0))
        return _coins.round_up(worst) if isinstance(worst, Fraction) else worst


def _common_integers(entries: list[Any], shape: tuple[int, ...]) -> NDArray[np.object_]:
    """Return rational entries times their common denominator, for rows with one positive sum."""
    if any(v < 0 for v in entries):
        raise ValueError("matrix must have entries >= 0")
    common = math.lcm(*{int(v.denominator) for v in entries})
    exact = np.empty(len(entries), dtype=object)
    exact[:] = [int(v.numerator) * (common // int(v.denominator)) for v in entries]
    exact = exact.reshape(shape)
    sums = exact.sum(axis=1).tolist()
    if sums[0] <= 0 or any(s != sums[0] for s in sums):
        raise ValueError("matrix must have rows with the same positive sum")
    return exact


def _pairs(neighbors: Iterable[tuple[int, int]], inputs: int) -> tuple[tuple[int, int], ...]:
    pairs = []
    for pair in neighbors:
        if np.shape(pair) != (2,):
            raise ValueError(f"neighbors must be pairs of inputs, got {pair!r}")
        i, j = (_check.integer("neighbors", v, 0, inputs - 1) for v in pair)
        if i == j:
            raise ValueError(f"neighbors must be pairs of different inputs, got {pair!r}")
        pairs.append((i, j))
    return tuple(pairs)
