"""How far forged reports can move the tables of two of many questions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._typing import Floats
from ..results import Normal, WithLiars, forged_reports
from ._pair_tables import SIGNS, PairTables


@dataclass(frozen=True, eq=False)
class PairShifts:
    """Bounds of what forged reports change in cells of tables, which are sums of three quotients N / D of sums over reports.

    The quotients are the effects of both questions and their interaction. Replacing a report changes N - v D, for the estimated
    quotient v, by the difference of two numbers psi = n - v d, and D by at most the largest d. So the quotient changes by at
    most the sum of the differences over D less the lost part. To first order, it is the difference of two values of the sum
    over the three quotients, which no report has at its extremes all at once.

    Attributes
    ----------
    first : ndarray
        Largest change by one report to first order, shape (..., cells).
    ranges, totals, largest : ndarray
        Largest difference of psi, D, and the largest d of one report, for the three quotients, shape (3, ..., cells).
    """

    first: Floats
    ranges: Floats
    totals: Floats
    largest: Floats

    @classmethod
    def of(cls, tables: PairTables, i: int, j: int) -> PairShifts:
        """Return the bounds of one table."""
        rows, columns = tables.sizes[i], tables.sizes[j]
        shape = (*np.shape(tables.plain[..., i, j]), rows, columns)
        effects, both = tables.all_effects, tables.interaction(i, j)
        quotients = [effects[i][..., :, np.newaxis] / columns, effects[j][..., np.newaxis, :] / rows, both]
        parts = [tables.informative(i), tables.informative(j), tables.weight(i, j)]
        totals = np.stack([np.broadcast_to(np.asarray(x)[..., np.newaxis, np.newaxis], shape) for x in parts])
        found: list[tuple[Floats, Floats]] = []  # n and d of the three quotients, for each kind of reports
        for n, d in _kinds(tables, i, j):
            scaled = [n[0] / columns, n[1] / rows, n[2]]
            found.append(
                (
                    np.stack([np.broadcast_to(x, shape) for x in scaled]),
                    np.broadcast_to(np.array(d).reshape(3, *[1] * len(shape)), totals.shape),
                )
            )
        values = np.stack([np.broadcast_to(x, shape) for x in quotients])
        psi = np.stack([n - values * d for n, d in found])
        with np.errstate(divide="ignore", invalid="ignore"):
            sums = (psi / totals).sum(axis=1)
        largest = np.max([d for _, d in found], axis=0)
        lead = shape[:-2]
        return cls(
            np.ptp(sums, axis=0).reshape(*lead, -1),
            *(x.reshape(3, *lead, -1) for x in (np.ptp(psi, axis=0), totals, largest)),
        )

    @classmethod
    def joined(cls, parts: Sequence[PairShifts]) -> PairShifts:
        """Return the bounds of several tables, one after the other."""
        return cls(
            *(
                np.concatenate([getattr(part, name) for part in parts], axis=-1)
                for name in ("first", "ranges", "totals", "largest")
            )
        )

    def shift(self, liars: Any) -> Floats:
        """Return how far so many forged reports can move the cells; infinite where they can be all that says something."""
        with np.errstate(divide="ignore", invalid="ignore"):
            left = self.totals - liars * self.largest
            more = liars * self.ranges * (1 / left - 1 / self.totals)
            found = liars * self.first + more.sum(axis=0)
        return np.asarray(np.where(np.any(left <= 0, axis=0), np.inf, found))


def _kinds(tables: PairTables, i: int, j: int) -> list[tuple[list[Any], list[float]]]:
    """Return what a report adds to N and D of the effects of two questions and of their interaction, for all kinds of reports.

    A plain view has both questions or one of them with another question; its symbol has the answer of the row of a cell or not,
    and that of the column or not.
    """
    rows, columns = tables.sizes[i], tables.sizes[j]
    kinds: list[tuple[list[Any], list[float]]] = [([0.0, 0.0, 0.0], [0.0, 0.0, 0.0])]
    hits_of_row, hits_of_column = ([1 - 1 / size, -1 / size] for size in (rows, columns))
    if tables.format.plain > 1:
        c = float(tables.kept[i, j])
        for a, b in itertools.product(hits_of_row, hits_of_column):
            kinds.append(([c * a, c * b, c * a * b], [c * c] * 3))
    for place, (one, excluded) in enumerate(((i, j), (j, i))):
        others = [m for m in range(len(tables.sizes)) if m not in (one, excluded)]
        alone = {float(tables.kept[one, m]) for m in others} if tables.format.plain == 2 else {tables.kept[one].max()}
        for c, hit in itertools.product(alone, hits_of_column if place else hits_of_row):
            n, d = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
            n[place] = c * hit
            d[place] = c * c
            kinds.append((n, d))
    if tables.flip_kept and rows == columns == 2:
        c = tables.flip_kept
        kinds += [([0.0, 0.0, sign * c / 4 * SIGNS], [0.0, 0.0, c * c]) for sign in (1, -1)]
    return kinds


@dataclass(frozen=True)
class TableLimits(Normal):
    """Normal limits of the cells of tables of two questions, which allow for forged reports.

    Attributes
    ----------
    shifts : PairShifts
    """

    shifts: PairShifts = field(kw_only=True)

    def with_liars(self, share: float, n: Any) -> WithLiars:
        """Return the rule where some reports are forged."""
        liars, shift = forged_reports(share, n), self.largest_shift(share, n)
        with np.errstate(divide="ignore", invalid="ignore"):
            return WithLiars(self, shift, np.where(shift == 0, 0.0, shift**2 / liars))

    def largest_shift(self, share: float, n: Any) -> Floats:
        """Return how far forged reports can move each cell."""
        liars = forged_reports(share, n)
        return np.where(liars == 0, 0.0, self.shifts.shift(liars))
