"""Limits for quantiles of the shares of ordered cells."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ..results import forged_reports
from ._cell_limits import FEWEST_TAIL, CellsEstimate

FAR = 6.0  # standard errors within which ends of cells are tested; no limits are found for larger critical values


@dataclass(frozen=True, eq=False)
class CellQuantileLimits:
    """Limits of quantiles by inversion of tests about the mean of the distribution function over neighboring ends of cells.

    If the quantile is at most the end of a cell, the function is at least q there and at all later ends, so also in the mean
    over several of them. The limit below is the first end for which this is not rejected; the limit above is the mirror
    image. A test with the critical value of a normal number would be valid for every population. But the first of many ends
    that are not rejected is earlier than the noise of a single one explains. So the critical values are smaller: those
    for which the limits would fail with the given probability, from draws of the noise, for quantiles of the estimated
    distribution within a standard error, if the function reached q exactly at the end of their cell, or at its start.

    Attributes
    ----------
    linear : CellsEstimate
    q : ndarray
        Probabilities.
    low, high : ndarray, shape (k,)
        Limits in the unit of the records, where a cell is the first or the last that may contain a quantile.
    width : float
        Width of a cell, within which a quantile can be anywhere.
    liars : float
        Largest number of forged reports.
    """

    linear: CellsEstimate
    q: Floats
    low: Floats
    high: Floats
    width: float
    liars: float = 0.0
    by_coordinate: ClassVar[bool] = True

    @property
    def rounding(self) -> Any:
        """How much of a margin is not random: the width of a cell, and what forged reports can change."""
        return self.width + self._shift if self.liars else self.width

    def with_liars(self, share: float, n: Any) -> CellQuantileLimits:
        """Return the rule where some reports are forged."""
        return replace(self, liars=float(forged_reports(share, n)))

    def largest_shift(self, share: float, n: Any) -> Floats:
        """Return how far forged reports can move each quantile, rounded up to whole cells."""
        return self.with_liars(share, n)._shift

    @cached_property
    def _shift(self) -> Floats:
        """Largest shift of each quantile, if forged reports move the whole distribution function by its largest shifts."""
        if not self.liars:
            return np.zeros(np.shape(self.q))
        last, shift = self.linear.k - 1, self.linear.of_all_ends.with_liars(self.liars).shift
        shown = self.linear.shown
        raised, lowered = np.maximum.accumulate(shown + shift), np.minimum.accumulate((shown - shift)[::-1])[::-1]
        first, own, final = (np.minimum(np.searchsorted(ends, self.q), last) for ends in (raised, shown, lowered))
        return np.maximum(self.high[own] - self.low[first], self.high[final] - self.low[own])

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        tails = np.broadcast_to(tail, np.shape(self.q)).ravel().tolist()
        found = np.array([test.cells(own) for test, own in zip(self._tests, tails, strict=True)], np.int64)
        found = found.reshape(*np.shape(self.q), 2)
        return np.minimum(self.low[found[..., 0]], value), np.maximum(self.high[found[..., 1]], value)

    @cached_property
    def _tests(self) -> list[QuantileTests]:
        return [QuantileTests.of(self.linear, q, self.liars) for q in np.ravel(self.q).tolist()]


@dataclass(frozen=True, eq=False)
class QuantileTests:
    """The tests of one quantile, which have limits for every probability of an error.

    Attributes
    ----------
    linear : CellsEstimate
    q : float
    cell : int
        Cell of the quantile of the estimate that is shown.
    start : ndarray of int
        First end of each mean over neighboring ends.
    size : int
        Number of ends in a mean.
    value, stderr : ndarray
        The means and their standard errors.
    shift : ndarray
        How far forged reports can move the means.
    below, above : list of ndarray
        Draws of the critical value at which a limit fails, for some places of the quantile.
    liars : float
        Largest number of forged reports.
    """

    linear: CellsEstimate
    q: float
    cell: int
    start: NDArray[np.intp]
    size: int
    value: Floats
    stderr: Floats
    shift: Floats
    below: list[Floats]
    above: list[Floats]
    liars: float

    @classmethod
    def of(cls, linear: CellsEstimate, q: float, liars: float = 0.0) -> QuantileTests:
        """Return the tests of the quantile for the probability q, where a number of reports can be forged."""
        k, errors = linear.k, linear.of_all_ends.stderr
        shifts = linear.of_all_ends.with_liars(liars).shift
        shown = linear.shown
        cell = int(np.searchsorted(shown, q))  # of the quantile of the estimate; the last one has no end
        error = errors[min(cell, k - 2)]
        first, last = (int(np.searchsorted(shown, q + side * error)) for side in (-1, 1))
        size = int(np.clip((last - first) // 4, 1, max(1, k // 8)))
        # Means over `size` ends, which begin at these: those before and behind are rejected without a look.
        far = FAR * np.hypot(errors, shift_in_errors(shifts, liars)) + 2 * linear.of_all_ends.step + shifts
        near = np.flatnonzero(np.abs(shown - q) <= far)
        begin = max(0, min([cell, first, *near[:1]]) - size)
        end = min(k - size, max([cell, last, *near[-1:]]) + 1)
        begin = min(begin, end - 1)
        start = np.arange(begin, end)
        weights = np.zeros((len(start), k))
        weights[np.arange(len(start))[:, np.newaxis], start[:, np.newaxis] + np.arange(size)] = 1 / size
        means = linear.of_ends(weights).with_liars(liars)
        scale = np.maximum(means.stderr, 1e-300)
        inner = weights[:, :-1]
        drawn = (inner @ (linear.noise * errors[:, np.newaxis]) + (inner @ shown)[:, np.newaxis]) / scale[:, np.newaxis]
        below = []
        above = []
        for place in {
            first,
            cell,
            last,
        }:  # where the function just reaches q at the end of this cell, or just before it
            before, behind = start <= place, start >= place - size
            if place < k - 1:
                failing = shown[place] / scale[before, np.newaxis] - drawn[before]
                below.append(failing.min(axis=0, initial=np.inf))
            if place > 0:
                failing = drawn[behind] - shown[place - 1] / scale[behind, np.newaxis]
                above.append(failing.min(axis=0, initial=np.inf))
        # Forged reports can also have made the standard errors too small.
        stderr = np.hypot(scale, shift_in_errors(means.shift, liars))
        return cls(linear, q, cell, start, size, means.value, stderr, means.shift, below, above, liars)

    def cells(self, tail: float) -> tuple[int, int]:
        """Return the first and the last cell that may contain the quantile, with a probability of an error on each side."""
        critical = self.critical(tail)
        if max(critical) > FAR or not self.linear.is_known(tail, self.liars):
            return 0, self.linear.k - 1
        return self.cells_for(self.value, critical)

    def critical(self, tail: float) -> tuple[float, float]:
        """Return the critical values of the tests below and above, for a probability of an error."""
        below, above = (
            max([0.0, *(_critical(failing, tail) for failing in side)]) for side in (self.below, self.above)
        )
        return below, above

    def cells_for(self, value: Floats, critical: tuple[float, float]) -> tuple[int, int]:
        """Return the first and the last cell that may contain the quantile, for some means and critical values."""
        below, above = critical
        last = self.linear.k - 1
        low = np.flatnonzero(value + self.shift + below * self.stderr >= self.q)
        high = np.flatnonzero(value - self.shift - above * self.stderr < self.q)
        lowest = int(self.start[low[0]]) if len(low) else last
        highest = int(self.start[high[-1]]) + self.size if len(high) else 0
        return min(lowest, self.cell), min(max(highest, self.cell), last)

    def draws(self, number: int) -> Floats:
        """Return draws of the means if the shares that are shown were the true ones, shape (means, number)."""
        linear, shown = self.linear, self.linear.shown
        ends = shown[:, np.newaxis] + linear.noise[:, :number] * linear.of_all_ends.stderr[:, np.newaxis]
        total = np.concatenate([np.zeros((1, number)), np.cumsum(ends, axis=0)])
        return np.asarray((total[self.start + self.size] - total[self.start]) / self.size)


def shift_in_errors(shift: Floats, liars: float) -> Floats:
    """Return by how much forged reports can make a standard error too small, in squares: as for `WithLiars`."""
    return shift / math.sqrt(max(liars, 1.0))


def _critical(failing: Floats, tail: float) -> float:
    """Return the critical value for which a limit fails in about the given part of the draws."""
    from scipy.special import ndtri

    z = -float(ndtri(tail))
    if tail >= 0.5:
        return z
    level = max(tail, FEWEST_TAIL / 2)
    found = float(np.quantile(failing, 1 - level))
    return max(0.0, min(z, found * z / -float(ndtri(level))))
