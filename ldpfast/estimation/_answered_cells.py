"""Shares of ordered cells among the people who answered, where one more cell is that of people without an answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._typing import Floats
from ..results import BoundedSum, Fieller
from ._cell_limits import CellsEstimate, LinearEstimate, LinearValues, drawn_noise

LEAST_ANSWERED = 1e-12  # share of people who answered, for quotients that are not used


@dataclass(frozen=True, eq=False)
class ChangeAround:
    """Largest change of N a - D b if a report is replaced by another one: exact for the quotient R = b / a that is observed.

    N a - D b is a (N - R D) - (b - a R) D, so its change is at most that of both parts.

    Attributes
    ----------
    ratio : ndarray
        The quotients R.
    change : ndarray
        Largest changes of N - R D.
    base : float
        Largest change of D.
    """

    ratio: Floats
    change: Floats
    base: float

    def __call__(self, a: Floats, b: Floats) -> Floats:
        return np.asarray(np.abs(a) * self.change + np.abs(b - a * self.ratio) * self.base)


@dataclass(frozen=True, eq=False)
class QuotientChanges:
    """Largest changes of N - R D and of D if a report is replaced by another one.

    Attributes
    ----------
    find : callable
        Returns the estimates for rows.
    rows : ndarray, shape (functions, k)
        Those of N, divided by `scale`.
    bottom : ndarray, shape (k,)
        That of D.
    scale : float
    """

    find: Callable[[Floats], LinearValues]
    rows: Floats
    bottom: Floats
    scale: float

    def around(self, ratio: Floats) -> tuple[Floats, float]:
        """Return the changes of N - R D for quotients R, shape (functions,), and that of D."""
        rows = self.rows - ratio[:, np.newaxis] / self.scale * self.bottom
        change = self.find(np.concatenate([rows, self.bottom[np.newaxis]])).change
        return self.scale * change[:-1], float(change[-1])


@dataclass(frozen=True, eq=False)
class RatioValues:
    """Quotients N / D of linear functions, with Fieller's limits.

    Attributes
    ----------
    numerator : ndarray
    denominator : float
    vn, vd, c : ndarray
        Variances of N and D, and their covariance.
    steps : ndarray
        Largest amounts by which one report moves N.
    base_step : float
        Largest amount by which one report moves D.
    changes : QuotientChanges
        What a report can change.
    liars : float
        Largest number of forged reports.
    """

    numerator: Floats
    denominator: float
    vn: Floats
    vd: float
    c: Floats
    steps: Floats
    base_step: float
    changes: QuotientChanges
    liars: float = 0.0

    @property
    def _bottom(self) -> float:
        return max(self.denominator, LEAST_ANSWERED)

    @property
    def value(self) -> Floats:
        """The quotients."""
        return self.numerator / self._bottom

    @property
    def stderr(self) -> Floats:
        """Standard errors by the delta method."""
        value = self.value
        variance = self.vn - 2 * value * self.c + value**2 * self.vd
        return np.sqrt(np.maximum(variance, 0.0)) / self._bottom

    @property
    def step(self) -> Floats:
        """Largest amounts by which one report moves the quotients."""
        return (self.steps + np.abs(self.value) * self.base_step) / self._bottom

    def limit(self, side: int, tail: Any) -> Floats:
        """Return the lower (side -1) or upper limits (1): the whole line if people who answer can all be noise."""
        from scipy.special import ndtr

        value, stderr = self.value, self.stderr
        margin = np.abs(BoundedSum(self.step, self.step).bounds(value, stderr, tail)[side > 0] - value)
        known = stderr > 0
        z = np.divide(margin, stderr, out=np.zeros_like(margin), where=known)  # with the steps of single reports
        found = self._ratio.bounds(value, stderr, np.maximum(ndtr(-z), 1e-300))[side > 0]
        return np.where(known, found, value)

    @property
    def _ratio(self) -> Fieller:
        """The rule with the variances of both parts, and with what forged reports change."""
        like = np.ones_like(self.numerator)
        ratio = Fieller(self.numerator, like * self.denominator, self.vn, like * self.vd, self.c)
        return replace(ratio, change=self._change, liars=self.liars) if self.liars else ratio

    @cached_property
    def _change(self) -> ChangeAround:
        value = self.value
        change, base = self.changes.around(value.ravel())
        return ChangeAround(value, change.reshape(value.shape), base)

    @property
    def shift(self) -> Floats:
        """How far the forged reports can move each quotient."""
        if not self.liars:
            return np.zeros(self.numerator.shape)
        return np.where(self.stderr > 0, self._ratio.largest_shift(1.0, self.liars), 0.0)

    def with_liars(self, liars: float) -> RatioValues:
        """Return the same numbers, of whose reports so many can be forged."""
        return replace(self, liars=liars)

    def reshaped(self, shape: tuple[int, ...]) -> RatioValues:
        """Return the same numbers in another shape."""
        arrays = {name: getattr(self, name).reshape(shape) for name in ("numerator", "vn", "c", "steps")}
        return replace(self, **arrays)


class AnsweredEstimate(CellsEstimate):
    """Estimate of the shares of k cells among the people who answered.

    Parameters
    ----------
    whole : LinearEstimate
        That of k + 1 cells, of which the last is that of people without an answer.
    """

    def __init__(self, whole: LinearEstimate) -> None:
        self.whole, self.k = whole, whole.k - 1
        inner = whole.shares[:-1]
        self.shares = inner / max(inner.sum(), LEAST_ANSWERED)
        self._answered = np.append(np.ones(self.k), 0.0)
        self.raw = whole.raw[:-1] / max(float(whole.cumulative[-1]), LEAST_ANSWERED)

    @property
    def missing(self) -> LinearValues:
        """Share of the people without an answer."""
        return self.whole.of(1.0 - self._answered[np.newaxis])

    def _ratios(self, find: Callable[[Floats], LinearValues], rows: Floats, bottom: Floats) -> RatioValues:
        """Return quotients of the functions that `find` has for rows, by that for the row `bottom`."""
        scale, m = max(float(np.abs(rows).max(initial=0.0)), 1e-300), len(rows)
        top = rows / scale
        found = find(np.concatenate([top, bottom[np.newaxis], top - bottom]))
        variance = np.square(found.stderr)
        c = (variance[:m] + variance[m] - variance[m + 1 :]) / 2  # of N, D and N - D
        denominator, vd, step = (float(x[m]) for x in (found.value, variance, found.step))
        return RatioValues(
            scale * found.value[:m],
            denominator,
            scale**2 * variance[:m],
            vd,
            scale * c,
            scale * found.step[:m],
            step,
            QuotientChanges(find, top, bottom, scale),
        )

    def of(self, rows: Floats) -> RatioValues:
        return self._ratios(self.whole.of, np.pad(rows, ((0, 0), (0, 1))), self._answered)

    def of_ends(self, weights: Floats) -> RatioValues:
        last = np.zeros(self.k + 1)
        last[-2] = 1.0  # the share of people who answered is that up to the end of the last cell
        return self._ratios(self.whole.of_ends, np.pad(weights, ((0, 0), (0, 1))), last)

    @cached_property
    def of_cells(self) -> RatioValues:
        return self.of(np.eye(self.k))

    @cached_property
    def of_all_ends(self) -> RatioValues:
        return self.of_ends(np.eye(self.k)[:-1])

    def draws(self, seed: int) -> Floats:
        covariance = self.whole.end_covariance
        shown = np.cumsum(self.shares)[:-1]
        both = np.outer(shown, covariance[-1, :-1])
        found = covariance[:-1, :-1] - both - both.T + covariance[-1, -1] * np.outer(shown, shown)
        return drawn_noise(found, seed)

    def is_known(self, tail: float, liars: float = 0.0) -> bool:
        answered = self.whole.of(self._answered[np.newaxis]).with_liars(liars)
        return bool(answered.limit(-1, min(tail, 0.5))[0] > 0)
