"""Reports on a grid of numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core import tally
from .._limits import along
from .._typing import AnyArray, Floats
from ..results import NORMAL_FROM, AnyDebiasing, BoundedSum, Estimate, Normal
from ._format import Decoding
from ._sum_format import SumFormat, sums_and_squares


@dataclass(frozen=True)
class Grid(SumFormat):
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

    def is_possible(self, state: AnyArray, n: int) -> bool:
        total, square = sums_and_squares(state)
        # Integers are at most 2^47 in size. By the Cauchy-Schwarz inequality, sum^2 <= n sum of squares.
        possible = (square >= 0) & (square <= n * 2.0**94) & (total**2 <= n * square * (1 + 1e-9))
        return bool(possible.all())

    def mean(self, decoding: Decoding, state: AnyArray, n: Any) -> Estimate[Any]:
        people, n = n, along(n, 1)
        mean, square = (sums / n for sums in sums_and_squares(state))
        value = self.lower + self.grid * (mean + 0.5)
        # The sample variance, but at least that of the noise. For few reports, the variance of the records is set to its
        # largest possible value.
        sample = np.maximum(square - mean * mean, 0) * (n / np.maximum(n - 1, 1))
        span = lower, upper = decoding.value_range
        widest = np.where(n < NORMAL_FROM, (upper - lower) ** 2 / 4, 0.0)
        variance = np.maximum(self.grid**2 * sample, self.noise_variance + widest)
        stderr = np.sqrt(variance / n)
        # The largest step comes from a record at one end, or about the scale of the noise, whose tails are exponential.
        noise = math.sqrt(self.noise_variance / 2)
        up, down = np.maximum(upper - value, noise) / n, np.maximum(value - lower, noise) / n
        needed, guarantee = Normal.of_sum(n).needed, decoding.guarantee
        if self.scalar:
            rule = BoundedSum(up[..., 0], down[..., 0], needed, math.inf)
            value, stderr = value[..., 0], stderr[..., 0]
            if value.ndim == 0:
                value, stderr = float(value), float(stderr)
            return Estimate(value, stderr, people, guarantee, None, rule, _span=span)
        return Estimate(value, stderr, people, guarantee, None, BoundedSum(up, down, needed, math.inf), _span=span)

    def decode(self, reports: AnyArray, debiasing: AnyDebiasing | None) -> Floats:
        return reports.astype(np.float64)

    def invalidity(self, reports: AnyArray) -> str | None:
        index = tally.off_grid(reports, self.lower, self.grid)
        return None if index < 0 else f"lie on the mechanism's grid; row {index // self.dim} does not"
