"""Limits for linear functions of the shares of ordered cells, and for their distribution function."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from .._typing import Floats
from ..results import BoundedSum, Normal, WithLiars, forged_reports, rule_with_liars
from ._cell_likelihood import CellLikelihood

DRAWS = 2000  # of the noise of the distribution function, always the same ones
FEWEST_TAIL = 0.01  # probabilities below have too few draws
RIDGE = 1e-12  # of the information, times n k, so that it can be inverted where a level has no report
NUGGET = 1e-6  # of correlations
ROUNDING = 1e-12  # of sums of shares


class Values(Protocol):
    """Estimates of functions of the shares, with standard errors and the largest step of one report."""

    @property
    def value(self) -> Floats: ...

    @property
    def stderr(self) -> Floats: ...

    @property
    def step(self) -> Floats: ...

    @property
    def shift(self) -> Floats:
        """How far the forged reports can move each number."""

    def limit(self, side: int, tail: Any) -> Floats:
        """Return the lower (side -1) or upper limits (1)."""

    def with_liars(self, liars: float) -> Self:
        """Return the same numbers, of whose reports so many can be forged."""

    def reshaped(self, shape: tuple[int, ...]) -> Self:
        """Return the same numbers in another shape."""


@dataclass(frozen=True, eq=False)
class ReportChanges:
    """Largest changes of linear functions of the gradient if a report is replaced by another one, computed when needed.

    Attributes
    ----------
    likelihood : CellLikelihood
    p : ndarray, shape (k,)
        Shares at which the gradient is taken.
    rows : ndarray, shape (functions, k)
    """

    likelihood: CellLikelihood
    p: Floats
    rows: Floats

    @cached_property
    def values(self) -> Floats:
        """The changes, shape (functions,)."""
        return self.likelihood.largest_change(self.rows, self.p)


@dataclass(frozen=True, eq=False)
class LinearValues:
    """Unbiased estimates of linear functions of the shares, with standard errors and the largest step of one report.

    Attributes
    ----------
    value, stderr, step : ndarray
    changes : ReportChanges or None
        What a report can change; None if there are no reports, as in planning.
    liars : float
        Largest number of forged reports.
    """

    value: Floats
    stderr: Floats
    step: Floats
    changes: ReportChanges | None = None
    liars: float = 0.0

    @cached_property
    def change(self) -> Floats:
        """Largest change of each number if a report is replaced by another one."""
        assert self.changes is not None
        return self.changes.values.reshape(self.value.shape)

    @property
    def shift(self) -> Floats:
        """How far the forged reports can move each number."""
        return self.liars * self.change if self.liars else np.zeros(self.value.shape)

    def limit(self, side: int, tail: Any) -> Floats:
        """Return the lower (side -1) or upper limits (1)."""
        rule: Any = BoundedSum(self.step, self.step)
        if self.liars:
            rule = rule_with_liars(replace(rule, change=self.change), 1.0, self.liars)
        limits: tuple[Floats, Floats] = rule.bounds(self.value, self.stderr, tail)
        return limits[side > 0]

    def with_liars(self, liars: float) -> LinearValues:
        """Return the same numbers, of whose reports so many can be forged."""
        return replace(self, liars=liars)

    def reshaped(self, shape: tuple[int, ...]) -> LinearValues:
        """Return the same numbers in another shape."""
        arrays = {name: getattr(self, name).reshape(shape) for name in ("value", "stderr", "step")}
        return replace(self, **arrays)


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
        """Share of the cells that contain an end, whose records may be on either side of it, and what lies can change."""
        return np.maximum(self.above.value - self.below.value, 0.0) + self._shift

    @property
    def _shift(self) -> Floats:
        return np.maximum(self.below.shift, self.above.shift)

    def with_liars(self, share: float, n: Any) -> EndLimits:
        """Return the rule where some reports are forged."""
        liars = float(forged_reports(share, n))
        return EndLimits(self.below.with_liars(liars), self.above.with_liars(liars))

    def largest_shift(self, share: float, n: Any) -> Floats:
        """Return how far forged reports can move each number."""
        return self.with_liars(share, n)._shift

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        low, high = self.below.limit(-1, tail), self.above.limit(1, tail)
        return np.minimum(low, value), np.maximum(high, value)


@dataclass(frozen=True, eq=False)
class ShareLimits(BoundedSum):
    """Limits of a share, for which it is computed only if it is needed what a report can change.

    Attributes
    ----------
    found : LinearValues
        Its single estimate.
    """

    found: LinearValues = field(kw_only=True)

    def with_liars(self, share: float, n: Any) -> WithLiars:
        """Return the rule where some reports are forged."""
        return BoundedSum.with_liars(replace(self, change=self.found.change), share, n)

    def largest_shift(self, share: float, n: Any) -> Any:
        """Return how far forged reports can move the share."""
        return BoundedSum.largest_shift(replace(self, change=self.found.change), share, n)


@dataclass(frozen=True, eq=False)
class NormalMean(Normal):
    """Normal limits of a mean, widened for a bias.

    Attributes
    ----------
    found : LinearValues
        Its single estimate.
    """

    found: LinearValues = field(kw_only=True)

    @property
    def rounding(self) -> float:
        """The bound on the bias."""
        return float(self.bias)

    def with_liars(self, share: float, n: Any) -> WithLiars:
        """Return the rule where some reports are forged."""
        shift = self.largest_shift(share, n)
        return WithLiars(self, shift, shift * self.found.change)

    def largest_shift(self, share: float, n: Any) -> Floats:
        """Return how far forged reports can move the mean."""
        return self.found.with_liars(float(forged_reports(share, n))).shift


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
    def rounding(self) -> Floats:
        """The bound on the bias, and what forged reports can change."""
        return self.bias + self.found.shift

    def with_liars(self, share: float, n: Any) -> MeanLimits:
        """Return the rule where some reports are forged."""
        return MeanLimits(self.found.with_liars(float(forged_reports(share, n))), self.bias)

    def largest_shift(self, share: float, n: Any) -> Floats:
        """Return how far forged reports can move the mean."""
        return self.with_liars(share, n).found.shift

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

    @property
    def shown(self) -> Floats:
        """The distribution function that is shown, at the ends of the first k - 1 cells."""
        return np.minimum(np.cumsum(self.shares)[:-1], 1.0)

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
    def is_known(self, tail: float, liars: float = 0.0) -> bool:
        """Return whether reports say anything about the shares: not if the people who answer can all be noise, or lies."""

    @property
    def missing(self) -> LinearValues | None:
        """Share of the people without an answer; None if everybody answers."""
        return None

    def critical_value(self, confidence: float) -> float:
        """Return the standard errors within which the noise is at all ends at once, with the given probability.

        The quantile of the largest noise is that of the draws, and for tails that have too few of them Bonferroni's.
        """
        return largest_noise(np.abs(self.noise).max(axis=0), max(1, self.k - 1), confidence)

    def band(self, confidence: float, liars: float = 0.0) -> tuple[Floats, Floats]:
        """Return limits of the distribution function at the ends of the first k - 1 cells that hold for all at once."""
        from scipy.special import ndtr

        ends, single = self.of_all_ends.with_liars(liars), float(ndtr(-self.critical_value(confidence)))
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
        return LinearValues(value, np.sqrt(variance), step, ReportChanges(self.likelihood, self.p, weights))

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

    def is_known(self, tail: float, liars: float = 0.0) -> bool:
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


def mean_margin(lower: float, upper: float, k: int, is_exact: bool) -> float:
    """Return the largest distance between a number and the middle of its cell."""
    return 0.0 if is_exact else math.ldexp((upper - lower) / k, -1)
