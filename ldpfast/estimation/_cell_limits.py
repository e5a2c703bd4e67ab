"""Limits for linear functions of the shares of ordered cells, for their distribution function and for its quantiles."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ..results import BoundedSum
from ._cell_likelihood import CellLikelihood

DRAWS = 2000  # of the noise of the distribution function, always the same ones
FEWEST_TAIL = 0.01  # probabilities below have too few draws
RIDGE = 1e-12  # of the information, times n k, so that it can be inverted where a level has no report
NUGGET = 1e-6  # of correlations
FAR = 6.0  # standard errors beyond which ends of cells are excluded without a look
ROUNDING = 1e-12  # of sums of shares


@dataclass(frozen=True, eq=False)
class LinearValues:
    """Unbiased estimates of linear functions of the shares, with standard errors and the largest step of one report."""

    value: Floats
    stderr: Floats
    step: Floats

    def limit(self, side: int, tail: Any) -> Floats:
        """Return the lower (side -1) or upper limits (1)."""
        return BoundedSum(self.step, self.step).bounds(self.value, self.stderr, tail)[side > 0]


@dataclass(frozen=True, eq=False)
class EndLimits:
    """Limits of functions that are between two others which are linear: lower ones of `below`, upper ones of `above`.

    They are widened so that they contain the estimate that is shown.
    """

    below: LinearValues
    above: LinearValues
    by_coordinate: ClassVar[bool] = True

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        low, high = self.below.limit(-1, tail), self.above.limit(1, tail)
        return np.minimum(low, value), np.maximum(high, value)


class LinearEstimate:
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
        """Return the estimates of linear functions, shape (functions, k)."""
        return self._of_weights(rows @ self.raw, rows @ self.covariance)

    def of_ends(self, weights: Floats) -> LinearValues:
        """Return the estimates of linear functions of the distribution function at the ends of the first k - 1 cells."""
        return self._of_weights(weights @ self.cumulative, weights @ self._from_gradient)

    def _of_weights(self, value: Floats, weights: Floats) -> LinearValues:
        variance, step = self.likelihood.variance_and_step(weights, self.p, self.shares)
        return LinearValues(value, np.sqrt(variance), step)

    @cached_property
    def of_cells(self) -> LinearValues:
        """Estimates of the shares."""
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
        """Estimates of the distribution function at these ends."""
        return self._of_weights(self.cumulative, self._from_gradient)

    @cached_property
    def noise(self) -> Floats:
        """Draws of the noise at these ends, in units of its standard errors, shape (k - 1, draws)."""
        covariance = np.cumsum(self._from_gradient, axis=1)[:, :-1]
        scale = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
        covariance /= scale[:, np.newaxis] * scale
        covariance[np.diag_indices_from(covariance)] += NUGGET
        draws = np.random.default_rng(0).standard_normal((self.k - 1, DRAWS))
        return np.asarray(np.linalg.cholesky(covariance) @ draws)

    def band(self, confidence: float) -> tuple[Floats, Floats]:
        """Return limits of the distribution function at the ends of the first k - 1 cells that hold for all at once.

        The quantile of the largest noise is that of the draws, and for tails that have too few of them Bonferroni's.
        """
        from scipy.special import ndtr, ndtri

        tail = (1 - confidence) / 2
        z = -float(ndtri(tail / max(1, self.k - 1)))
        if 2 * tail >= FEWEST_TAIL:
            z = min(z, float(np.quantile(np.abs(self.noise).max(axis=0), confidence)))
        ends, single = self.of_all_ends, float(ndtr(-z))
        shown = np.cumsum(self.shares)[:-1]
        low, high = EndLimits(ends, ends).bounds(shown, shown, single)
        low, high = np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1]
        return np.clip(low, 0, 1), np.clip(high, 0, 1)


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
    linear : LinearEstimate
    q : ndarray
        Probabilities.
    unit : callable
        Returns the limits in the unit of the records for the first and last cell that may contain a quantile.
    """

    linear: LinearEstimate
    q: Floats
    unit: Callable[[NDArray[np.int64], NDArray[np.int64]], tuple[Floats, Floats]]

    def bounds(self, value: Floats, stderr: Floats, tail: float) -> tuple[Floats, Floats]:
        found = np.array([self._cells(q, tail) for q in np.ravel(self.q)], np.int64).reshape(*np.shape(self.q), 2)
        low, high = self.unit(found[..., 0], found[..., 1])
        return np.minimum(low, value), np.maximum(high, value)

    def _cells(self, q: float, tail: float) -> tuple[int, int]:
        """Return the first and the last cell that may contain the quantile."""
        linear, k = self.linear, self.linear.k
        shown, errors = np.minimum(np.cumsum(linear.shares)[:-1], 1.0), linear.of_all_ends.stderr
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
        weights = np.zeros((len(start), k - 1))
        weights[np.arange(len(start))[:, np.newaxis], start[:, np.newaxis] + np.arange(size)] = 1 / size
        means = linear.of_ends(weights)
        scale = np.maximum(means.stderr, 1e-300)
        drawn = (weights @ (linear.noise * errors[:, np.newaxis]) + (weights @ shown)[:, np.newaxis]) / scale[
            :, np.newaxis
        ]
        critical = [0.0, 0.0]
        for quantile in {
            first,
            cell,
            last,
        }:  # where the function just reaches q at the end of this cell, or just before it
            if quantile < k - 1:
                before = start <= quantile
                excess = shown[quantile] / scale[before, np.newaxis] - drawn[before]
                critical[0] = max(critical[0], _critical(excess, tail))
            if quantile > 0:
                behind = start >= quantile - size
                excess = drawn[behind] - shown[quantile - 1] / scale[behind, np.newaxis]
                critical[1] = max(critical[1], _critical(excess, tail))
        low = np.flatnonzero(means.value + critical[0] * scale >= q)
        high = np.flatnonzero(means.value - critical[1] * scale < q)
        lowest = int(start[low[0]]) if len(low) else k - 1
        highest = int(start[high[-1]]) + size if len(high) else 0
        return min(lowest, cell), min(max(highest, cell), k - 1)


def _critical(excess: Floats, tail: float) -> float:
    """Return the critical value for which all tests of the rows reject in a column with about the given probability."""
    from scipy.special import ndtri

    z = -float(ndtri(tail))
    if not len(excess) or tail >= 0.5:
        return z
    level = max(tail, FEWEST_TAIL / 2)
    found = float(np.quantile(excess.min(axis=0), 1 - level))
    return max(0.0, min(z, found * z / -float(ndtri(level))))


def mean_margin(lower: float, upper: float, k: int, is_exact: bool) -> float:
    """Return the largest distance between a number and the middle of its cell."""
    return 0.0 if is_exact else math.ldexp((upper - lower) / k, -1)
