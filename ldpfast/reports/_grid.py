"""Reports on a grid of numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core import tally
from .._typing import AnyArray, Floats
from ..results import NORMAL_FROM, AnyDebiasing, BoundedSum, Estimate, Normal
from ._base import Format
from ._sums import ExactSums


class GridSums(ExactSums):
    """Sums of j and j^2 of reports lower + grid (j + 1/2).

    Examples
    --------
    >>> import ldpfast as ldp
    >>> mechanism = ldp.Laplace(0, 10, 1.0)
    >>> sums = mechanism.aggregator().update(mechanism.privatize([4.0] * 10_000, rng=1))
    >>> bool(abs(sums.estimate().value - 4) < 1)
    True
    """

    report: Grid

    def _is_possible(self) -> bool:
        dim = self.report.dim
        total, square = self._sums(slice(0, dim)), self._sums(slice(dim, None))
        # Integers are at most 2^47 in size. By the Cauchy-Schwarz inequality, sum^2 <= n sum of squares.
        possible = (square >= 0) & (square <= self.n * 2.0**94) & (total**2 <= self.n * square * (1 + 1e-9))
        return bool(possible.all())

    def _estimate(self) -> Estimate[Any]:
        n, report = self.n, self.report
        mean, square = self._sums(slice(0, report.dim)) / n, self._sums(slice(report.dim, None)) / n
        value = report.lower + report.grid * (mean + 0.5)
        # The sample variance, but at least that of the noise. For few reports, the variance of the records is set to its
        # largest possible value.
        sample = np.maximum(square - mean * mean, 0) * (n / max(n - 1, 1))
        lower, upper = self.span
        widest = (upper - lower) ** 2 / 4 if n < NORMAL_FROM else 0.0
        variance = np.maximum(report.grid**2 * sample, report.noise_variance + widest)
        stderr = np.sqrt(variance / n)
        # The largest step comes from a record at one end, or about the scale of the noise, whose tails are exponential.
        noise = math.sqrt(report.noise_variance / 2)
        up, down = np.maximum(upper - value, noise) / n, np.maximum(value - lower, noise) / n
        needed = Normal.of_sum(n).needed
        found: Estimate[Any]
        if report.scalar:
            rule = BoundedSum(up[0], down[0], needed)
            found = Estimate(float(value[0]), float(stderr[0]), n, self.guarantee, None, rule, _span=self.span)
        else:
            rule = BoundedSum(up, down, needed)
            found = Estimate(value, stderr, n, self.guarantee, None, rule, _span=self.span)
        return found


@dataclass(frozen=True)
class Grid(Format):
    """Doubles lower + grid (j + 1/2) with an integer |j| <= 2^47: one number per person if `scalar`, else `dim`.

    Attributes
    ----------
    noise_variance : float
        Variance of the noise in one number.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> format = ldp.Laplace(0, 10, 1.0).report
    >>> type(format).__name__, format.nbytes
    ('Grid', 8)
    """

    dim: int
    scalar: bool
    lower: float
    grid: float
    noise_variance: float
    aggregator = GridSums

    @property
    def shape(self) -> tuple[int, ...]:
        return () if self.scalar else (self.dim,)

    def dtype(self, records: np.dtype[Any]) -> np.dtype[Any]:
        return np.dtype(np.float64)

    @property
    def bits(self) -> int:
        return 64 * self.dim

    @property
    def state_layout(self) -> tuple[tuple[int, ...], type[np.integer[Any]]]:
        return (2 * self.dim, 2), np.uint64

    def tally(self, reports: AnyArray, state: AnyArray) -> None:
        tally.add_grid(reports, self.dim, self.lower, self.grid, state)

    def decode(self, reports: AnyArray, debiasing: AnyDebiasing | None) -> Floats:
        return reports.astype(np.float64)

    def invalidity(self, reports: AnyArray) -> str | None:
        index = tally.off_grid(reports, self.lower, self.grid)
        return None if index < 0 else f"lie on the mechanism's grid; row {index // self.dim} does not"
