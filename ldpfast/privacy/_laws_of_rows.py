"""Laws of one report of a finite channel, from its rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import permutations
from typing import Any, Self

import numpy as np

from .. import _coins
from ._dataset_law import DatasetLaw
from ._directed_rounding import UNIT, Floats
from ._report_law import ReportLaw
from ._two_level import TwoLevel

MAX_PAIRS = 64  # pairs of rows with different ratios that are compared; for more, one law is above all of them
MAX_OTHERS = 6  # records of the others for which the divergence is computed
MAX_VALUES = 1 << 20  # of all pairs of rows; for more, the law of any channel is used
POINTS = 72  # quantiles of the values of all pairs
CLOSE = 1e-6  # distance of points, relative to the range, below which one is left out
SUM_ERROR = 2.0**-44  # more than the relative error of a mean over a few thousand columns


@dataclass(frozen=True, eq=False)
class LawOfPairs(ReportLaw):
    """The law of any channel with the epsilon of a finite one, and at each epsilon a smaller one above all pairs of its rows.

    The mean of (X - t)^+ as a function of t is convex for each pair, and so is the largest one over all pairs. Its chords
    between a few points are those of a law on these points (docs/proofs/shuffling.md, section "The law of one report").

    Attributes
    ----------
    base : ndarray of float64, shape (columns,)
        Smallest entries of the columns, rounded up.
    ratios : ndarray of float64, shape (rows, columns)
        Rows relative to the base measure.
    """

    base: Floats = field(kw_only=True)
    ratios: Floats = field(kw_only=True)

    @classmethod
    def of_columns(cls, columns: Mapping[tuple[Fraction, ...], Fraction]) -> Self:
        """Return the law of a channel with these ratios to the base measure, and base measures."""
        law = ReportLaw.of_two_level(TwoLevel.binary(max(max(ratios) for ratios in columns)))
        return cls(
            law.masses,
            law.first,
            law.second,
            law.rest,
            above_all_pairs=True,
            base=np.array([_coins.round_up(mass) for mass in columns.values()]),
            ratios=np.array([[float(ratio) for ratio in ratios] for ratios in columns]).T,
        )

    @property
    def widest(self) -> tuple[int, int]:
        """The pair of rows with the largest mean squared difference of their ratios."""
        means = [np.square(self.ratios - row) @ self.base for row in self.ratios]
        i, j = np.unravel_index(int(np.argmax(means)), (len(means), len(means)))
        return int(i), int(j)

    def at(self, epsilon: float) -> Sequence[ReportLaw]:
        if len(self.ratios) ** 2 * len(self.base) > MAX_VALUES:
            return (self,)
        order = math.exp(epsilon)
        i, j = np.nonzero(~np.eye(len(self.ratios), dtype=bool))
        first, second = self.ratios[i], order * self.ratios[j]
        values = first - second + 16 * UNIT * (first + second)
        rest = max(0.0, 1 - math.fsum(self.base) * (1 - SUM_ERROR)) + SUM_ERROR
        points = _points(values, self.base)
        means = np.array([float((np.maximum(values - t, 0) @ self.base).max()) + rest * max(-t, 0.0) for t in points])
        means *= 1 + SUM_ERROR
        # second differences of the means are the masses; left of all values, the slope is minus the total mass
        slopes = np.concatenate([[-1.0], np.diff(means) / np.diff(points), [0.0]])
        masses = np.maximum(np.diff(slopes), 0.0)
        # By rounding, the means of this law can be too small by a small factor, by which all masses are increased.
        own = np.maximum(points - points[:, np.newaxis], 0) @ masses
        some = means[:-1] > 0
        factor = float((means[:-1][some] / own[:-1][some]).max(initial=1.0))
        masses *= max(factor, 1 / math.fsum(masses)) * (1 + SUM_ERROR)
        apart = points != 0
        positive, negative = np.maximum(points[apart], 0), np.maximum(-points[apart], 0) / order
        law = ReportLaw(
            masses[apart], positive * (1 + 8 * UNIT), negative * (1 - 16 * UNIT), float(masses[~apart].sum())
        )
        return law, self


def _points(values: Floats, base: Floats) -> Floats:
    """Return some points in ascending order, with 0 and the ends of all values: those of the widest pair, and quantiles."""
    widest = values[int(np.argmax(values**2 @ base))]
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    quantiles = np.quantile(values, np.linspace(0, 1, POINTS))
    found = np.unique(np.concatenate([widest[:: 1 + len(widest) // (2 * POINTS)], quantiles]))
    near = CLOSE * (high - low)
    found = found[(found > low + near) & (found < high - near) & (np.abs(found) > near)]
    found = found[np.diff(found, prepend=-np.inf) > near]
    return np.unique(np.concatenate([found, [low, 0.0, high]]))


def laws_of_rows(rows: Sequence[Sequence[Any]]) -> list[ReportLaw] | None:
    """Return the laws of a finite channel: of each ordered pair of rows with different ratios, or one of all of them.

    None if the ratios are not bounded. The base measure is the smallest entry of each column.
    """
    table = [[Fraction(entry) for entry in row] for row in rows]
    totals = [sum(row) for row in table]
    columns: dict[tuple[Fraction, ...], Fraction] = {}  # ratios to the base measure, and base measure
    for column in zip(
        *([entry / total for entry in row] for row, total in zip(table, totals, strict=True)), strict=True
    ):
        least = min(column)
        if max(column) == 0:
            continue
        if least == 0:
            return None
        ratios = tuple(entry / least for entry in column)
        columns[ratios] = columns.get(ratios, Fraction(0)) + least
    if len(columns) == 2:
        return [_of_two_columns(columns)]
    pairs: dict[frozenset[tuple[Fraction, Fraction, Fraction]], tuple[int, int]] = {}
    for i, j in permutations(range(len(table)), 2):
        atoms: dict[tuple[Fraction, Fraction], Fraction] = {}
        for ratios, mass in columns.items():
            atoms[ratios[i], ratios[j]] = atoms.get((ratios[i], ratios[j]), Fraction(0)) + mass
        if any(a != b for a, b in atoms):
            pairs.setdefault(frozenset((mass, *ratios) for ratios, mass in atoms.items()), (i, j))
        if len(pairs) > MAX_PAIRS:
            break
    shares = [[entry / total for entry in row] for row, total in zip(table, totals, strict=True)]
    if len(pairs) > MAX_PAIRS:
        found = LawOfPairs.of_columns(columns)
        return [found.with_datasets(_datasets(shares, *found.widest))]
    laws = [ReportLaw.of_atoms(sorted(atoms)) for atoms in pairs]
    if laws:  # lower bounds are those of the widest law
        widest = max(range(len(laws)), key=lambda number: laws[number].spread)
        laws[widest] = laws[widest].with_datasets(_datasets(shares, *list(pairs.values())[widest]))
    return laws


def _datasets(shares: Sequence[Sequence[Fraction]], first: int, second: int) -> list[DatasetLaw]:
    """Return the laws of datasets for a pair of rows, in which all others have one of a few records."""
    others = list(dict.fromkeys([second, first, *range(len(shares))]))[:MAX_OTHERS]
    return [_dataset_of(shares[x], shares[first], shares[second]) for x in others]


def _dataset_of(row: Sequence[Fraction], first: Sequence[Fraction], second: Sequence[Fraction]) -> DatasetLaw:
    """Return the law of the dataset whose other people have the record of a row, from the probabilities of all reports."""
    return DatasetLaw.of_atoms((p, a / p, b / p) for p, a, b in zip(row, first, second, strict=True) if p > 0)


def _of_two_columns(columns: dict[tuple[Fraction, ...], Fraction]) -> ReportLaw:
    """Return the law of a channel of two reports. All of its rows are mixtures of those with the largest and smallest entry."""
    (ratios, mass), _ = columns.items()
    entries = [ratio * mass for ratio in ratios]
    return ReportLaw.of_outcomes(max(entries), min(entries))
