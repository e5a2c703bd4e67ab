"""Reports of real vectors that follow from a public seed and a few bits."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import AnyArray, Floats
from ..results import NORMAL_FROM, AnyDebiasing, BoundedSum, Estimate, Normal
from ._format import Decoding
from ._sum_format import SumFormat, sums_and_squares

FRAME_WORK = 16  # least work for a number of a vector: about 10 ns
ALLOWED = 3.0  # standard deviations of the variance of a sample of normal numbers


class SeededVectors(SumFormat):
    """Format of words of 64 bits that stand for vectors of `dim` numbers in single precision.

    No number is larger than `bound`, and the second moment of a number is at most `moment`, for all records, which are in the
    ball of `radius`. The state has the sums of the numbers in steps of bound 2^-40, then those of their squares in steps of
    bound^2 2^-40.
    """

    dim: int
    bound: float
    moment: float
    radius: float
    seeded = True

    def dtype(self, records: np.dtype[Any]) -> np.dtype[Any]:
        return np.dtype(np.uint64)

    @property
    def state_layout(self) -> tuple[tuple[int, ...], type[np.integer[Any]]]:
        return (2 * self.dim, 2), np.uint64

    def work_of(self, reports: AnyArray) -> int:
        return len(reports) * self.dim * FRAME_WORK

    def is_possible(self, state: AnyArray, n: int) -> bool:
        total, square = (sums * 2.0**-40 for sums in sums_and_squares(state))
        # Numbers of single precision can be a little above the bound, and are rounded to steps, as are their squares.
        most = n * (1 + 1e-3)
        possible = (square >= 0) & (square <= most) & (np.abs(total) <= most)
        return bool((possible & (total**2 <= n * (square * (1 + 1e-6) + n * 2.0**-28))).all())

    def mean(self, decoding: Decoding, state: AnyArray, n: int) -> Estimate[Any]:
        mean, square = (sums * (2.0**-40 / n) for sums in sums_and_squares(state))
        value, sample = mean * self.bound, np.maximum(square - mean**2, 0) * self.bound**2 * (n / max(n - 1, 1))
        inside = np.clip(value, -self.radius, self.radius)
        # The sample variance. For few reports, it is set to its largest possible value.
        variance = np.maximum(sample, self.moment) if n < NORMAL_FROM else self._corrected(sample, inside, n)
        return Estimate(value, np.sqrt(variance / n), n, decoding.guarantee, None, self._rule(inside, n))

    def _rule(self, mean: Floats, n: int) -> BoundedSum:
        """Return limits for numbers that are near their record in most reports, and near 0 in others, which may be rare.

        The third central moment of the numbers of equal people, over their variance, is the size of a jump with the same
        skewness: measured, it is the distance from their mean to 0.
        """
        up, down = np.maximum(-mean, 0.0) / n, np.maximum(mean, 0.0) / n
        return BoundedSum(up, down, Normal.of_sum(n).needed, 2 * self.bound / n)

    def decode(self, reports: AnyArray, debiasing: AnyDebiasing | None) -> Floats:
        rows = np.empty((len(reports), self.dim), np.float32)
        self._expand(reports, rows)
        return rows.astype(np.float64)

    def _corrected(self, sample: Floats, mean: Floats, n: int) -> Floats:
        """Return the variance of a sample, or the least variance of people whose vectors have this mean where it is too small.

        The mean of v^2, for the directions v of the records, is at least mean^2 / radius^2, which bounds the variance. That of
        a sample can be smaller if no report is far from its record, as one in hundreds or thousands may be for a large epsilon.
        In the direction of a mean on the sphere the larger of both is taken. Elsewhere a sample that varies as those of normal
        numbers is not corrected, because the larger of both would be too large in the mean.
        """
        along, across = self.second_moments
        share = (mean / self.radius) ** 2
        least = across + max(0.0, along - across) * share - mean**2
        allowed = 1 - (1 - share) * ALLOWED * math.sqrt(2 / n)
        return np.where(sample < allowed * least, least, sample)

    @property
    @abstractmethod
    def second_moments(self) -> tuple[float, float]:
        """Second moments of a report in the direction of a record on the sphere, and in each other direction."""

    @abstractmethod
    def _expand(self, reports: AnyArray, rows: NDArray[np.float32]) -> None:
        """Write the vectors of reports to the rows of an array."""
