"""Tables of linked questions that agree with each other, have no negative cells, and know their errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from .._typing import Floats
from ._columns import QuestionColumn
from ._joint_shares import JointShares
from ._pair_tables import as_covariance
from ._projection import TableFit
from ._shares import Shares
from ._weighted_sums import Cells

# Simulated surveys: at most, and at least with large tables, whose numbers are at most so many.
MOST_DRAWS = 400
FEWEST_DRAWS = 50
MAX_NUMBERS = 150_000
SEED = 20_030  # of the simulation: equal counts have equal tables


@dataclass(frozen=True)
class TableNumbers:
    """Numbers of a table with their errors, shape (groups, numbers).

    Attributes
    ----------
    value, stderr, low, high : ndarray
    coverage : ndarray or None
        Probability that the limits contain the number, in simulated surveys of a population with the published numbers.
    """

    value: Floats
    stderr: Floats
    low: Floats
    high: Floats
    coverage: Floats | None = None


@dataclass(frozen=True, eq=False)
class AgreeingTables:
    """The cells of tables, before and after the projection, and the cells of simulated surveys.

    Attributes
    ----------
    joint : JointShares
    fit : TableFit
        Consistent tables with negative cells, by least squares.
    coordinates : ndarray, shape (groups, coordinates, 1)
        The nearest tables without negative cells.
    free, drawn : ndarray, shape (groups, coordinates, draws)
        Coordinates of simulated surveys, before and after the projection.
    exact : Shares or None
        Shares of the cells where they are the answers of one question, whose limits are better than normal ones.
    """

    joint: JointShares
    fit: TableFit
    coordinates: Floats
    free: Floats
    drawn: Floats
    exact: Shares | None = None

    @classmethod
    def of(cls, joint: JointShares, value: Floats, covariance: Floats, exact: Shares | None = None) -> AgreeingTables:
        """Return the tables that agree best with the shares of all asked questions.

        Parameters
        ----------
        joint : JointShares
        value : ndarray, shape (1, sums)
        covariance : ndarray, shape (1, sums, sums)
        exact : Shares, optional
        """
        linked = joint.linked
        fit = linked.tables().fit(value, covariance, joint.weighed(covariance), linked.design())
        found = fit.nearest(fit.coordinates)
        free = fit.drawn(found, np.random.default_rng(SEED), draws_of(linked.cells))
        return cls(joint, fit, found, free, fit.nearest(free, tolerance=fit.quick), exact)

    def of_groups(self, shares: Floats, exact: Shares | None) -> AgreeingTables:
        """Return the tables of groups with the given shares of people, whose sum is the table of all.

        Without this condition every small group would have too large numbers for what is rare, and so would their sum.
        """
        joint = self.joint
        linked = joint.linked
        fit = linked.tables().fit(joint.value, joint.covariance, joint.weighed(joint.covariance), linked.design())
        found = fit.nearest(fit.coordinates, shares, self.coordinates[0])
        free = fit.drawn(found, np.random.default_rng(SEED), draws_of(linked.cells * len(shares)))
        totals = self.fit.nearest(np.tensordot(shares, free, 1)[np.newaxis], tolerance=fit.quick / 10)[0]
        drawn = fit.nearest(free, shares, totals, fit.quick)
        return AgreeingTables(joint, fit, found, free, drawn, exact)

    @cached_property
    def cells(self) -> Floats:
        """Cells of all tables, shape (groups, cells)."""
        return np.maximum(self.fit.tables.cells(self.coordinates)[..., 0], 0.0)

    def shares(self, parts: Sequence[str], confidence: float) -> TableNumbers:
        """Return the shares of the cells of a table of some questions.

        The standard error is the root of the mean squared error in simulated surveys: that of the known variance before the
        projection, times the factor by which the projection changes it. The limits come from the consistent estimates before
        the projection, which have no bias and a known covariance. They are cut at 0 and 1, and contain the published number.
        """
        design = self.joint.linked.sums(parts)
        value = self.cells @ design.T
        basis = design @ self.fit.tables.basis
        variance = ((basis @ self.fit.covariance) * basis).sum(axis=-1)
        free, drawn = basis @ (self.free - self.coordinates), basis @ (self.drawn - self.coordinates)
        with np.errstate(divide="ignore", invalid="ignore"):
            change = np.mean(np.square(drawn), axis=-1) / np.mean(np.square(free), axis=-1)
        if self.exact is not None and self.joint.linked.parts == [tuple(parts)]:
            own = self.exact.linear(Cells.first(value.shape[1]).each())
            low, high = (np.reshape(limit, value.shape) for limit in own.interval(confidence))
        else:
            center = self.fit.cells @ design.T
            margin = ndtri(0.5 + confidence / 2) * np.sqrt(np.maximum(variance, 0.0))
            low, high = center - margin, center + margin
        # The limits of simulated surveys are as far from their estimates.
        half = ndtri(0.5 + confidence / 2) * np.sqrt(np.maximum(variance, 0.0))[..., np.newaxis]
        below = np.minimum(np.clip(value[..., np.newaxis] + free - half, 0, 1), value[..., np.newaxis] + drawn)
        above = np.maximum(np.clip(value[..., np.newaxis] + free + half, 0, 1), value[..., np.newaxis] + drawn)
        inside = (below <= value[..., np.newaxis] + 1e-9) & (value[..., np.newaxis] <= above + 1e-9)
        error = np.sqrt(np.maximum(variance, 0.0) * np.nan_to_num(change, nan=1.0))
        low, high = np.minimum(np.clip(low, 0, 1), value), np.maximum(np.clip(high, 0, 1), value)
        return TableNumbers(value, error, low, high, inside.mean(axis=-1))

    def means(self, parts: Sequence[str], axis: int, column: QuestionColumn, confidence: float) -> TableNumbers:
        """Return the mean of one of the questions of a table, among those who answered it, in each cell of the others.

        Limits are computed as by `CrossAnswer.given`, from the consistent estimates before the projection.
        """
        linked = self.joint.linked
        design, sizes = linked.sums(parts), [linked.sizes[part] for part in parts]
        others = [place for place in range(len(parts)) if place != axis]
        counts = [len(column.labels) if place == axis else size for place, size in enumerate(sizes)]
        cells = Cells.of_table(sizes, others, counts)
        sums, given = column.sums(cells), cells.total()

        def of_cells(numbers: Floats) -> Floats:
            top, bottom = sums.of(numbers), given.of(numbers)
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.asarray(np.clip(sums.start + top / bottom, *column.range)).reshape(*numbers.shape[:-1], -1)

        basis = design @ self.fit.tables.basis
        value = of_cells(self.cells @ design.T)
        center, guarantee = self.fit.cells @ design.T, self.joint.shares[0].guarantee
        people = max(1, int(self.joint.n.sum()))
        errors, lows = [], []
        highs = []
        for shares, covariance in zip(center, basis @ self.fit.covariance @ basis.T, strict=True):
            found = Shares(shares, people, as_covariance(covariance), guarantee).ratio(sums, given)
            low, high = found.interval(confidence)
            errors.append(np.ravel(found.stderr))
            lows.append(np.ravel(np.clip(low, *column.range)))
            highs.append(np.ravel(np.clip(high, *column.range)))
        drawn = of_cells(np.maximum(self.fit.tables.cells(self.drawn), 0.0).swapaxes(-1, -2) @ design.T)
        moved = np.nan_to_num(drawn - value[:, np.newaxis])
        is_moved = not np.array_equal(self.drawn, self.free)
        error = np.sqrt(np.mean(np.square(moved), axis=1)) if is_moved else np.array(errors)
        return TableNumbers(value, error, np.fmin(lows, value), np.fmax(highs, value))


def draws_of(cells: int) -> int:
    """Return the number of simulated surveys for tables of so many cells."""
    return max(FEWEST_DRAWS, min(MOST_DRAWS, math.floor(MAX_NUMBERS / cells)))
