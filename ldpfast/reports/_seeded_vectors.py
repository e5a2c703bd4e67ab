"""Reports of real vectors that follow from a public seed and a few bits."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import AnyArray, Floats
from ..results import NORMAL_FROM, AnyDebiasing, Estimate, Normal
from ._format import Decoding
from ._sums import SumFormat, sums_and_squares


class SeededVectors(SumFormat):
    """Format of words of 64 bits that stand for vectors of `dim` numbers in single precision.

    No number is larger than `bound`, and the second moment of a number is at most `moment`, for all records. The state has the
    sums of the numbers in steps of bound 2^-40, then those of their squares in steps of bound^2 2^-40.
    """

    dim: int
    bound: float
    moment: float
    seeded = True

    def dtype(self, records: np.dtype[Any]) -> np.dtype[Any]:
        return np.dtype(np.uint64)

    @property
    def state_layout(self) -> tuple[tuple[int, ...], type[np.integer[Any]]]:
        return (2 * self.dim, 2), np.uint64

    def is_possible(self, state: AnyArray, n: int) -> bool:
        total, square = (sums * 2.0**-40 for sums in sums_and_squares(state))
        # Numbers of single precision can be a little above the bound, and are rounded to steps, as are their squares.
        most = n * (1 + 1e-3)
        possible = (square >= 0) & (square <= most) & (np.abs(total) <= most)
        return bool((possible & (total**2 <= n * (square * (1 + 1e-6) + n * 2.0**-28))).all())

    def mean(self, decoding: Decoding, state: AnyArray, n: int) -> Estimate[Any]:
        mean, square = (sums * (2.0**-40 / n) for sums in sums_and_squares(state))
        value, sample = mean * self.bound, np.maximum(square - mean**2, 0) * self.bound**2 * (n / max(n - 1, 1))
        # The sample variance. For few reports, it is set to its largest possible value.
        variance = np.maximum(sample, self.moment if n < NORMAL_FROM else self._least_variance(value))
        return Estimate(value, np.sqrt(variance / n), n, decoding.guarantee, None, Normal.of_sum(n))

    def decode(self, reports: AnyArray, debiasing: AnyDebiasing | None) -> Floats:
        rows = np.empty((len(reports), self.dim), np.float32)
        self._expand(reports, rows)
        return rows.astype(np.float64)

    def _least_variance(self, mean: Floats) -> Any:
        """Return a lower bound of the variance of the numbers of a report, for people whose vectors have this mean."""
        return 0.0

    @abstractmethod
    def _expand(self, reports: AnyArray, rows: NDArray[np.float32]) -> None:
        """Write the vectors of reports to the rows of an array."""
