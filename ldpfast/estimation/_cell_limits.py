"""Limits for linear functions of the shares of ordered cells, for their distribution function and for its quantiles."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ..results import BoundedSum
from ._cell_likelihood import CellLikelihood

DRAWS = 2000  # of the noise of the distribution function, always the same ones
FEWEST_TAIL = 0.01  # probabilities below have too few draws
RIDGE = 1e-12  # of the information, times n k, so that it can be inverted where a level has no report
NUGGET = 1e-6  # of correlations
FAR = 6.0  # standard errors within which ends of cells are tested; no limits are found for larger critical values
ROUNDING = 1e-12  # of sums of shares


class Values(Protocol):
    """Estimates of functions of the shares, with standard errors and the largest step of one report."""

    @property
    def value(self) -> Floats: ...

    @property
    def stderr(self) -> Floats: ...

    @property
    def step(self) -> Floats: ...

    def limit(self, side: int, tail: Any) -> Floats:
        """Return the lower (side -1) or upper limits (1)."""

    def reshaped(self, shape: tuple[int, ...]) -> Values:
        """Return the same numbers in another shape."""


@dataclass(frozen=True, eq=False)
class LinearValues:
    """Unbiased estimates of linear functions of the shares, with standard errors and the largest step of one report."""

    value: Floats
    stderr: Floats
    step: Floats

    def limit(self, side: int, tail: Any) -> Floats:
        """Return the lower (side -1) or upper limits (1)."""
        return BoundedSum(self.step, self.step).bounds(self.value, self.stderr, tail)[side > 0]

    def reshaped(self, shape: tuple[int, ...]) -> LinearValues:
        """Return the same numbers in another shape."""
        return LinearValues(*(x.reshape(shape) for x in (self.value, self.stderr, self.step)))


@dataclass(frozen=True, eq=False)
class EndLimits:
    """Limits of functions that are between two others which are linear: lower ones of `below`, upper ones of `above`.

    They are widened so that they contain the estimate that is shown.
    """

    below: Values
    above: Values
    by_coordinate: ClassVar[bool] = True

    @property
    def rounding(self) -> Floats:
        """Share of the cells that contain an end, whose records may be on either side of it."""
        return np.maximum(self.above.value - self.below.value, 0.0)

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        low, high = self.below.limit(-1, tail), self.above.limit(1, tail)
        return np.minimum(low, value), np.maximum(high, value)


@dataclass(frozen=True, eq=False)
class MeanLimits:
    """Limits of a mean: those of another rule, widened by a bound on the bias.

    Attributes
    ----------
    found : Values
        Its single estimate.
    bias : float
    """

    found: Values
    bias: float
    by_coordinate: ClassVar[bool] = True

    @property
    def rounding(self) -> float:
        """The bound on the bias."""
        return self.bias

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        return self.found.limit(-1, tail) - self.bias, self.found.limit(1, tail) + self.bias


class CellsEstimate(ABC):
    """Unbiased or nearly unbiased linear estimate of the shares of k cells, for limits.

    Attributes
    ----------
    k : int
        Number of cells.
    shares : ndarray, shape (k,)
        Estimate of the shares that is shown, none of which is negative.
    raw : ndarray, shape (k,)
        The linear estimate, some of whose numbers may be negative.
    """

    k: int
    shares: Floats
    raw: Floats

    @abstractmethod
    def of(self, rows: Floats) -> Values:
        """Return the estimates of linear functions of the shares, shape (functions, k)."""

    @abstractmethod
    def of_ends(self, weights: Floats) -> Values:
        """Return the estimates of linear functions of the distribution function at the ends of the k cells."""

    @property
    @abstractmethod
    def of_cells(self) -> Values:
        """Estimates of the shares."""

    @property
    @abstractmethod
    def of_all_ends(self) -> Values:
        """Estimates of the distribution function at the ends of the first k - 1 cells."""

    @abstractmethod
    def draws(self, seed: int) -> Floats:
        """Return draws of the noise at these ends, in units of its standard errors, shape (k - 1, draws)."""

    @cached_property
    def noise(self) -> Floats:
        """The draws of the limits of this estimate alone."""
        return self.draws(0)

    @abstractmethod
    def is_known(self, tail: float) -> bool:
        """Return whether reports say anything about the shares: not if the people who answer can all be noise."""

    @property
    def missing(self) -> LinearValues | None:
        """Share of the people without an answer; None if everybody answers."""
        return None

    def critical_value(self, confidence: float) -> float:
        """Return the standard errors within which the noise is at all ends at once, with the given probability.

        The quantile of the largest noise is that of the draws, and for tails that have too few of them Bonferroni's.
        """
        return largest_noise(np.abs(self.noise).max(axis=0), max(1, self.k - 1), confidence)

    def band(self, confidence: float) -> tuple[Floats, Floats]:
        """Return limits of the distribution function at the ends of the first k - 1 cells that hold for all at once."""
        from scipy.special import ndtr

        ends, single = self.of_all_ends, float(ndtr(-self.critical_value(confidence)))
        shown = np.cumsum(self.shares)[:-1]
        low, high = EndLimits(ends, ends).bounds(shown, shown, single)
        low, high = np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1]
        return np.clip(low, 0, 1), np.clip(high, 0, 1)


def largest_noise(drawn: Floats, numbers: int, confidence: float) -> float:
    """Return the value which the largest of some standardized numbers exceeds with probability 1 - confidence, from draws."""
    from scipy.special import ndtri

    tail = (1 - confidence) / 2
    z = -float(ndtri(tail / numbers))
    return z if 2 * tail < FEWEST_TAIL else min(z, float(np.quantile(drawn, confidence)))


class LinearEstimate(CellsEstimate):
    """The unbiased linear estimate of the shares of k cells with fixed weights, one step of scoring from p.

    The expectation of p + V gradient(p) is that of the shares, whatever they are: V is the inverse of the information on
    vectors with the sum 0, and the expectation of the gradient is the information times their difference from p. So
    estimates of the shares choose the weights only.

    Parameters
    ----------
    likelihood : CellLikelihood
        Its weights are those at p afterwards.
    shares : ndarray, shape (k,)
        Estimate of the shares, none of which is negative.
    """

    def __init__(self, likelihood: CellLikelihood, shares: Floats) -> None:
        k = self.k = likelihood.k
        self.likelihood, self.shares = likelihood, shares
        self.p = 0.95 * shares + 0.05 / k
        likelihood.weigh(self.p)
        information = likelihood.information(self.p)
        information[np.diag_indices(k)] += RIDGE * likelihood.n * k
        self.covariance = _inverse(information)
        ones = self.covariance.sum(axis=1)
        self.covariance -= np.outer(ones, ones / ones.sum())
        gradient = likelihood.gradient(self.p)
        self.raw = self.p + self.covariance @ (gradient - gradient.mean())

    def of(self, rows: Floats) -> LinearValues:
        return self._of_weights(rows @ self.raw, rows @ self.covariance)

    def of_ends(self, weights: Floats) -> LinearValues:
        inner = weights[:, :-1]
        return self._of_weights(inner @ self.cumulative + weights[:, -1], inner @ self._from_gradient)

    def _of_weights(self, value: Floats, weights: Floats) -> LinearValues:
        variance, step = self.likelihood.variance_and_step(weights, self.p, self.shares)
        return LinearValues(value, np.sqrt(variance), step)

    @cached_property
    def of_cells(self) -> LinearValues:
        return self._of_weights(self.raw, self.covariance)

    @cached_property
    def cumulative(self) -> Floats:
        """Unbiased distribution function at the ends of the first k - 1 cells."""
        return np.cumsum(self.raw)[:-1]

    @cached_property
    def _from_gradient(self) -> Floats:
        """Weights of the gradient in the distribution function at these ends."""
        return np.cumsum(self.covariance, axis=0)[:-1]

    @cached_property
    def of_all_ends(self) -> LinearValues:
        return self._of_weights(self.cumulative, self._from_gradient)

    @property
    def end_covariance(self) -> Floats:
        """Covariance matrix of the distribution function at these ends, if the shares were those of the weights."""
        return np.cumsum(self._from_gradient, axis=1)[:, :-1]

    def draws(self, seed: int) -> Floats:
        return drawn_noise(self.end_covariance, seed)

    def is_known(self, tail: float) -> bool:
        return True


def drawn_noise(covariance: Floats, seed: int) -> Floats:
    """Return draws of normal numbers with the correlations of a covariance matrix, which is overwritten."""
    scale = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    covariance /= scale[:, np.newaxis] * scale
    covariance[np.diag_indices_from(covariance)] += NUGGET
    draws = np.random.default_rng(seed).standard_normal((len(covariance), DRAWS))
    return np.asarray(np.linalg.cholesky(covariance) @ draws)


def _inverse(matrix: Floats) -> Floats:
    """Return the inverse of a positive definite matrix, which is overwritten."""
    from scipy.linalg.lapack import dpotrf, dpotri

    factor, failed = dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
    if failed:
        raise ArithmeticError("the information of the reports is not positive definite")
    inverse = dpotri(factor, lower=1, overwrite_c=1)[0]
    upper = np.triu(inverse.T)
    return np.asarray(upper + np.triu(upper, 1).T)


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
    rounding : float
        Width of a cell, within which a quantile can be anywhere.
    """

    linear: CellsEstimate
    q: Floats
    low: Floats
    high: Floats
    rounding: float
    by_coordinate: ClassVar[bool] = True

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        tails = np.broadcast_to(tail, np.shape(self.q)).ravel().tolist()
        found = np.array([test.cells(own) for test, own in zip(self._tests, tails, strict=True)], np.int64)
        found = found.reshape(*np.shape(self.q), 2)
        return np.minimum(self.low[found[..., 0]], value), np.maximum(self.high[found[..., 1]], value)

    @cached_property
    def _tests(self) -> list[QuantileTests]:
        return [QuantileTests.of(self.linear, q) for q in np.ravel(self.q).tolist()]


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
    below, above : list of ndarray
        Draws of the critical value at which a limit fails, for some places of the quantile.
    """

    linear: CellsEstimate
    q: float
    cell: int
    start: NDArray[np.intp]
    size: int
    value: Floats
    stderr: Floats
    below: list[Floats]
    above: list[Floats]

    @classmethod
    def of(cls, linear: CellsEstimate, q: float) -> QuantileTests:
        """Return the tests of the quantile for the probability q."""
        k, errors = linear.k, linear.of_all_ends.stderr
        shown = np.minimum(np.cumsum(linear.shares)[:-1], 1.0)
        cell = int(np.searchsorted(shown, q))  # that of the quantile of the estimate; the last one has no end
        error = errors[min(cell, k - 2)]
        first, last = (int(np.searchsorted(shown, q + side * error)) for side in (-1, 1))
        size = int(np.clip((last - first) // 4, 1, max(1, k // 8)))
        # Means over `size` ends, which begin at these: those before and behind are rejected without a look.
        near = np.flatnonzero(np.abs(shown - q) <= FAR * errors + 2 * linear.of_all_ends.step)
        begin = max(0, min([cell, first, *near[:1]]) - size)
        end = min(k - size, max([cell, last, *near[-1:]]) + 1)
        begin = min(begin, end - 1)
        start = np.arange(begin, end)
        weights = np.zeros((len(start), k))
        weights[np.arange(len(start))[:, np.newaxis], start[:, np.newaxis] + np.arange(size)] = 1 / size
        means = linear.of_ends(weights)
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
        return cls(linear, q, cell, start, size, means.value, scale, below, above)

    def cells(self, tail: float) -> tuple[int, int]:
        """Return the first and the last cell that may contain the quantile, with a probability of an error on each side."""
        critical = self.critical(tail)
        if max(critical) > FAR or not self.linear.is_known(tail):
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
        low = np.flatnonzero(value + below * self.stderr >= self.q)
        high = np.flatnonzero(value - above * self.stderr < self.q)
        lowest = int(self.start[low[0]]) if len(low) else last
        highest = int(self.start[high[-1]]) + self.size if len(high) else 0
        return min(lowest, self.cell), min(max(highest, self.cell), last)

    def draws(self, number: int) -> Floats:
        """Return draws of the means if the shares that are shown were the true ones, shape (means, number)."""
        linear, shown = self.linear, np.minimum(np.cumsum(self.linear.shares)[:-1], 1.0)
        ends = shown[:, np.newaxis] + linear.noise[:, :number] * linear.of_all_ends.stderr[:, np.newaxis]
        total = np.concatenate([np.zeros((1, number)), np.cumsum(ends, axis=0)])
        return np.asarray((total[self.start + self.size] - total[self.start]) / self.size)


def _critical(failing: Floats, tail: float) -> float:
    """Return the critical value for which a limit fails in about the given part of the draws."""
    from scipy.special import ndtri

    z = -float(ndtri(tail))
    if tail >= 0.5:
        return z
    level = max(tail, FEWEST_TAIL / 2)
    found = float(np.quantile(failing, 1 - level))
    return max(0.0, min(z, found * z / -float(ndtri(level))))


def mean_margin(lower: float, upper: float, k: int, is_exact: bool) -> float:
    """Return the largest distance between a number and the middle of its cell."""
    return 0.0 if is_exact else math.ldexp((upper - lower) / k, -1)
