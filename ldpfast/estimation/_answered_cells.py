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
    """

    numerator: Floats
    denominator: float
    vn: Floats
    vd: float
    c: Floats
    steps: Floats
    base_step: float

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
        ratio = Fieller(
            self.numerator, np.full_like(value, self.denominator), self.vn, np.full_like(value, self.vd), self.c
        )
        found = ratio.bounds(value, stderr, np.maximum(ndtr(-z), 1e-300))[side > 0]
        return np.where(known, found, value)

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

    def is_known(self, tail: float) -> bool:
        answered = self.whole.of(self._answered[np.newaxis])
        return bool(answered.limit(-1, min(tail, 0.5))[0] > 0)
