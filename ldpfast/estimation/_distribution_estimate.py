"""Estimated distribution of numbers, with its quantiles, its mean, its density and limits for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check, _plots
from .._typing import AnyArray, Floats
from ..results import ONE_SIGMA, SHARES, Estimate, forged_reports
from ._answered_cells import AnsweredEstimate
from ._cell_likelihood import CellLikelihood
from ._cell_limits import (
    CellsEstimate,
    EndLimits,
    LinearEstimate,
    LinearValues,
    MeanLimits,
    NormalMean,
    Values,
    mean_margin,
)
from ._cell_quantiles import CellQuantileLimits
from ._cell_shares import estimated_shares


@dataclass(frozen=True)
class NumberCells:
    """Cells of equal width from `lower` to `upper`, which contain their right end; or one cell for each integer.

    Attributes
    ----------
    lower, upper : float
        Ends of the interval; the smallest and the largest integer.
    count : int
        Number of cells.
    integers : bool
        Whether there is a cell for each integer.
    """

    lower: float
    upper: float
    count: int
    integers: bool

    @property
    def ends(self) -> Floats:
        """Ends of the cells, ascending, shape (count + 1,); for integers half a unit before and behind each."""
        if self.integers:
            return np.asarray(self.lower - 0.5 + np.arange(self.count + 1), np.float64)
        return np.linspace(self.lower, self.upper, self.count + 1)

    @property
    def starts(self) -> Floats:
        """Smallest numbers of all cells but the first, as doubles: a cell is that of the numbers from its start on."""
        if self.integers:
            return self.middles[1:]
        return np.nextafter(self.ends[1:-1] + ON_END * self.width, np.inf)

    @property
    def width(self) -> float:
        """Width of a cell."""
        return 1.0 if self.integers else (self.upper - self.lower) / self.count

    @property
    def middles(self) -> Floats:
        """Middles of the cells: the integers themselves."""
        if self.integers:
            return np.asarray(self.lower + np.arange(self.count), np.float64)
        return np.asarray(self.lower + (np.arange(self.count) + 0.5) * self.width, np.float64)

    def position(self, points: Floats) -> Floats:
        """Return the number of cells that are up to points, with the part of the cell in which a point is, in [0, count]."""
        if self.integers:
            return np.clip(np.floor(points) - self.lower + 1, 0, self.count)
        with np.errstate(over="ignore"):
            place = np.clip((points - self.lower) * (self.count / (self.upper - self.lower)), 0, self.count)
        nearest = np.rint(place)
        return np.asarray(np.where(np.abs(place - nearest) <= ON_END, nearest, place))

    def position_of_share(self, points: Floats) -> Floats:
        """Return `position`, but for the lower end of all cells one within the first cell, which contains this end."""
        place = self.position(points)
        if self.integers:
            return place
        is_first = (place == 0) & (points >= self.lower - ON_END * self.width)
        return np.asarray(np.where(is_first, np.nextafter(0.0, 1.0), place))

    def cell_of(self, points: Floats) -> AnyArray:
        """Return the cell of each point, as records of a mechanism: the middle one of NaN, the nearest of numbers outside."""
        with np.errstate(over="ignore", invalid="ignore"):  # of NaN that signals
            place = np.asarray(np.subtract(points, self.lower, dtype=np.float64))
            if not self.integers:  # a number on the end of a cell belongs to the cell before it
                place *= self.count / (self.upper - self.lower)
                place -= ON_END
        np.copyto(place, (self.count - 1) // 2 + 0.5, where=np.isnan(place))
        np.clip(place, 0, self.count - 1, out=place)
        return place.astype(np.min_scalar_type(self.count - 1))


ON_END = 1e-6  # of the width of a cell: numbers so near to its end are on it, whatever rounding did to them


@dataclass(frozen=True, eq=False, repr=False)
class DistributionValue(Estimate[Any]):
    """A number that follows from an estimated distribution.

    Attributes
    ----------
    raw : float or ndarray
        The unbiased linear estimate, to which the standard error and the interval refer. `value` is that of the estimated
        distribution, which is smoother.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import distribution
    >>> share = distribution(np.linspace(0, 1, 100_000), 0, 1, 1.0, rng=1).cdf(0.5)
    >>> bool(abs(share.value - 0.5) < 0.02), bool(abs(share.raw - 0.5) < 0.1)
    (True, True)
    """

    raw: Any = 0.0
    _quantity: str = "share"
    _unit_text: str = ""
    _labels: tuple[str, ...] = ("",)
    _all_reports: int | None = None  # of a survey, any of which can be about the number

    def _unbiased(self) -> DistributionValue:
        return replace(self, value=self.raw)

    @property
    def _senders(self) -> int:
        return self.n if self._all_reports is None else self._all_reports

    def _names(self) -> tuple[str, str]:
        return self._quantity, "entry"

    def _unit(self) -> str:
        return self._unit_text

    def _entries(self, places: Sequence[int]) -> list[str]:
        return [self._labels[at] for at in places]


@dataclass(frozen=True, eq=False, repr=False)
class DistributionEstimate(Estimate[Floats]):
    """Estimated distribution of numbers.

    `value` are the shares of the cells: none is negative, and they add up to 1. So the distribution function ascends. Values of
    all methods are those of this distribution. Standard errors and intervals refer to the unbiased linear estimate from
    the same reports (`raw`); intervals contain the value, too. They are valid for smooth, spiky and discrete populations:
    that the estimate is smooth where the reports allow it makes it more precise than the intervals say.

    Attributes
    ----------
    raw : ndarray, shape (k,)
        Unbiased shares of the cells, some of which may be negative.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import distribution
    >>> x = np.random.default_rng(1).gamma(2, 10, 100_000).clip(0, 120)
    >>> estimate = distribution(x, 0, 120, 1.0, rng=1)
    >>> low, high = estimate.cdf(30).interval()
    >>> bool(low < np.mean(x <= 30) < high)
    True
    >>> bool(abs(estimate.quantile(0.5).value - np.median(x)) < 1)
    True
    """

    raw: Floats = field(default_factory=lambda: np.zeros(0), repr=False)
    _cells: NumberCells = field(default=None, repr=False, compare=False)  # type: ignore[assignment]
    _linear: CellsEstimate = field(default=None, repr=False, compare=False)  # type: ignore[assignment]

    @property
    def ends(self) -> Floats:
        """Ends of the cells, ascending, shape (k + 1,); for integers half a unit before and behind each."""
        return self._cells.ends

    @cached_property
    def _cumulative(self) -> Floats:
        """Distribution function at all ends, from 0 to 1."""
        total = np.append(0.0, np.minimum(np.cumsum(self.value), 1.0))
        total[-1] = 1.0
        return total

    @property
    def contains_start(self) -> bool:
        """Whether the first cell contains its lower end, too, where records can then be."""
        return not self._cells.integers

    def cdf(self, points: ArrayLike | None = None) -> DistributionValue:
        """Return the distribution function: the share of records that are at most a number.

        Parameters
        ----------
        points : float or array_like of float, optional
            Numbers. The default are the upper ends of the cells, or all integers.

        Returns
        -------
        cdf : Estimate
            In the shape of `points`. Within a cell the function is linear, and the limits are those of the ends of the cell,
            so that they are valid wherever the records of the cell are.

        Raises
        ------
        TypeError, ValueError
            If `points` are not real numbers, or some are NaN.

        Notes
        -----
        Cells contain their upper end. So a spike at the end of a cell is in the function from there on, and only from there.
        The first cell contains both ends: how many records are the lower end itself is known up to the share of that cell.
        """
        if points is None:
            points = self._cells.middles if self._cells.integers else self.ends[1:]
        place = self._cells.position_of_share(self._points("points", points))
        labels = [f"up to {x:.15g}" for x in np.ravel(points)]
        return self._between(np.zeros_like(place), place, labels)

    def probability(self, low: ArrayLike, high: ArrayLike) -> DistributionValue:
        """Return the share of records in (low, high], or of integers in [low, high].

        Parameters
        ----------
        low, high : float or array_like of float
            Ends, low <= high. Arrays are broadcast. A low end below all cells, or at their lower end, counts all records up to
            `high`.

        Returns
        -------
        shares : Estimate
            In the shape of the ends. Limits are valid wherever the records of a cell are that contains an end.

        Raises
        ------
        TypeError, ValueError
            If the ends are not real numbers, or `low` is above `high`.
        """
        first, last = (
            _check.floats(name, _check.array(name, x)).astype(np.float64) for name, x in (("low", low), ("high", high))
        )
        try:
            first, last = np.broadcast_arrays(first, last)
        except ValueError:
            raise ValueError(
                f"low and high must have shapes that broadcast, got {first.shape} and {last.shape}"
            ) from None
        if not (first <= last).all():
            index = int(np.argmin(first <= last))
            raise ValueError(f"low must be at most high, got {first.flat[index]:g} and {last.flat[index]:g}")
        start = np.ceil(first) - 1 if self._cells.integers else first
        labels = [f"{a:.15g} to {b:.15g}" for a, b in zip(first.flat, last.flat, strict=True)]
        return self._between(self._position("low", start), self._position("high", last), labels)

    def quantile(self, q: ArrayLike = 0.5) -> DistributionValue:
        """Return quantiles of the records; the default is the median.

        Parameters
        ----------
        q : float or array_like of float, default 0.5
            Probabilities, in (0, 1).

        Returns
        -------
        quantile : Estimate
            In the shape of `q` and the unit of the records: the number at which the distribution function reaches `q`. Its
            limits invert tests of the distribution function. The standard error is half the width of a 68 % interval; for
            integers at least 0.29, that of a uniform number between two of them.

        Raises
        ------
        TypeError, ValueError
            If `q` are not numbers in (0, 1).
        """
        probabilities, cells = _check.within("q", q, 0, 1, "()"), self._cells
        total = self._cumulative
        cell = np.clip(np.searchsorted(total, probabilities) - 1, 0, cells.count - 1)
        inside = (probabilities - total[cell]) / (total[cell + 1] - total[cell])
        value = cells.middles[cell] if cells.integers else cells.ends[cell] + inside * cells.width
        span = (cells.middles, cells.middles) if cells.integers else (cells.ends[:-1], cells.ends[1:])
        rule = CellQuantileLimits(self._linear, probabilities, *span, cells.width)
        low, high = rule.bounds(value, value, ONE_SIGMA)
        labels = [f"{100 * q:.6g} %" for q in probabilities.flat]
        stderr = np.maximum((high - low) / 2, cells.width / np.sqrt(12) if cells.integers else 0.0)
        return self._derived(value, stderr, value, rule, "quantile", (cells.lower, cells.upper), labels)

    @property
    def mean(self) -> DistributionValue:
        """Mean of the records: the unbiased linear estimate, whose limits include half the width of a cell."""
        cells = self._cells
        found = self._linear.of(cells.middles[np.newaxis])
        value, stderr = found.value[0], found.stderr[0]
        margin = mean_margin(cells.lower, cells.upper, cells.count, cells.integers)
        single = found.reshaped(())
        rule = NormalMean(margin, found=single) if isinstance(single, LinearValues) else MeanLimits(single, margin)
        return self._derived(value, stderr, value, rule, "mean", (cells.lower, cells.upper))

    def density(self, points: ArrayLike | None = None) -> Floats:
        """Return the estimated density at some numbers, or the share of integers.

        Parameters
        ----------
        points : float or array_like of float, optional
            Numbers; integers for a distribution of integers. The default are the middles of the cells.

        Returns
        -------
        density : ndarray
            In the shape of `points`: share of the cell divided by its width, and 0 outside of all cells.

        Raises
        ------
        TypeError, ValueError
            If `points` are not real numbers, or some are NaN.
        """
        cells = self._cells
        x = cells.middles if points is None else self._points("points", points)
        inside = (x >= cells.lower) & (x <= cells.upper)
        if cells.integers:
            inside &= x == np.floor(x)
        return np.asarray(np.where(inside, self.value[cells.cell_of(x)] / cells.width, 0.0))

    def band(self, confidence: float = 0.95, *, liars: float = 0.0) -> tuple[Floats, Floats, Floats]:
        """Return limits of the distribution function that hold at all ends of cells at once.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level, in (0, 1).
        liars : float, default 0.0
            Largest share of the reports that can be forged, in [0, 1), as for `interval`.

        Returns
        -------
        ends, low, high : ndarray
            Ends of cells, ascending, and the limits there, which ascend, too, shape (k + 1,). For integers the ends are
            between them.

        Raises
        ------
        TypeError, ValueError
            If `confidence` is not a number in (0, 1) or `liars` not one in [0, 1).
        """
        return self._band(confidence, forged_reports(self._share_of_liars(liars), self.n))

    def _band(self, confidence: float, liars: float) -> tuple[Floats, Floats, Floats]:
        """Return the limits of `band`, where a number of reports can be forged."""
        low, high = self._linear.band(_check.probability("confidence", confidence), float(liars))
        high = np.append(high, 1.0)
        first = 0.0 if self._cells.integers else high[0]  # of records that are equal to the lower end
        return self.ends, np.concatenate([[0.0], low, [1.0]]), np.concatenate([[first], high])

    def plot(self, ax: Any = None, *, confidence: float = 0.95, simultaneous: bool = True) -> Any:
        """Draw the distribution function with its band, and the density below it.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; those of a new figure by default. The density has an axis of its own at the right.
        confidence : float, default 0.95
            Confidence level of the band.
        simultaneous : bool, default True
            Whether the band holds for all numbers at once.

        Returns
        -------
        ax : matplotlib.axes.Axes

        Raises
        ------
        ImportError
            If matplotlib is not installed (extra "plot").
        TypeError, ValueError
            If `confidence` is not a number in (0, 1).
        """
        if _check.flag("simultaneous", simultaneous):
            ends, low, high = self.band(confidence)
        else:
            found = self.cdf()
            low, high = (np.append(0.0, x) for x in found._bounds(found.interval(confidence)))
            ends = self.ends
        ax = _plots.axes(ax)
        label, band = f"estimate, {self._source_text()}", self._band_text(confidence, simultaneous)
        right = ax.twinx()
        right.stairs(self.value / self._cells.width, self.ends, fill=True, color=_plots.GRAY, alpha=0.4)
        right.set_ylabel("share of the integer" if self._cells.integers else "density (per unit of the records)")
        right.set_ylim(0, 2.5 * max(self.value) / self._cells.width)
        ax.set_zorder(right.get_zorder() + 1)
        ax.patch.set_visible(False)
        _plots.draw_band(ax, ends, self._cumulative, low, high, label=label, band=band)
        ax.set_ylim(0, 1)
        for each in (ax, right):  # that of the density is not shown
            each.set_xlabel("value of the record (unit of the records)")
        ax.set_ylabel("share of records up to this value")
        return ax

    def _unbiased(self) -> DistributionEstimate:
        return replace(self, value=self.raw)

    def _unit(self) -> str:
        return ""

    def _names(self) -> tuple[str, str]:
        return "share", "integer" if self._cells.integers else "cell"

    def _entries(self, places: Sequence[int]) -> list[str]:
        cells = self._cells
        if cells.integers:
            return [f"{cells.middles[place]:.15g}" for place in places]
        return [f"{cells.ends[place]:.6g} to {cells.ends[place + 1]:.6g}" for place in places]

    def _points(self, name: str, points: ArrayLike) -> Floats:
        x = _check.floats(name, _check.array(name, points)).astype(np.float64)
        if np.isnan(x).any():
            raise ValueError(f"{name} must be numbers, got NaN")
        return x

    def _position(self, name: str, points: ArrayLike) -> Floats:
        return self._cells.position(self._points(name, points))

    def _between(self, first: Floats, last: Floats, labels: Sequence[str]) -> DistributionValue:
        """Return the share of the records between two positions."""
        places = np.arange(self._cells.count + 1)
        value = np.interp(last, places, self._cumulative) - np.interp(first, places, self._cumulative)
        exact = self._ends(first, last)
        inner = self._ends(np.minimum(np.ceil(first), np.floor(last)), np.floor(last))
        outer = self._ends(np.floor(first), np.ceil(last))
        return self._derived(value, exact.stderr, exact.value, EndLimits(inner, outer), "share", SHARES, labels)

    def _ends(self, first: Floats, last: Floats) -> Values:
        """Return the unbiased shares between two positions."""
        count = self._cells.count
        weights = np.zeros((first.size, count + 1))
        for position, sign in ((np.ravel(first), -1.0), (np.ravel(last), 1.0)):
            below = np.minimum(position.astype(np.intp), count - 1)
            rows, part = np.arange(len(position)), position - below
            np.add.at(weights, (rows, below), sign * (1 - part))
            np.add.at(weights, (rows, below + 1), sign * part)
        return self._linear.of_ends(weights[:, 1:]).reshaped(first.shape)

    def _derived(
        self,
        value: Any,
        stderr: Any,
        raw: Any,
        rule: Any,
        quantity: str,
        span: tuple[float, float],
        labels: Sequence[str] = ("",),
    ) -> DistributionValue:
        unit = "" if quantity == "share" else " (unit of the records)"
        value, stderr, raw = (float(x) if np.ndim(x) == 0 else np.array(x) for x in (value, stderr, raw))
        return DistributionValue(
            value,
            stderr,
            self.n,
            self.guarantee,
            None,
            rule,
            raw,
            quantity,
            unit,
            tuple(labels),
            _span=span,
            _people=self._people,
        )


def distribution_of(
    likelihood: CellLikelihood, cells: NumberCells, counted: Estimate[Any], *, has_missing: bool = False
) -> DistributionEstimate:
    """Return the distribution with the largest likelihood, smooth where the reports allow it.

    With `has_missing`, the reports are about one more cell, that of people without an answer, and the distribution is that of
    the others.
    """
    whole = LinearEstimate(likelihood, estimated_shares(likelihood, has_missing=has_missing))
    linear: CellsEstimate = AnsweredEstimate(whole) if has_missing else whole
    single = linear.of_cells
    return DistributionEstimate(
        linear.shares,
        single.stderr,
        counted.n,
        counted.guarantee,
        None,
        EndLimits(single, single),
        single.value,
        cells,
        linear,
        _span=SHARES,
        _people=counted._people,
    )
