"""Reports of signs of public random frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core import tally
from .._typing import AnyArray, Floats
from ..results import NORMAL_FROM, AnyDebiasing, Estimate, Normal
from ._format import Statistic
from ._sums import SumFormat, sums_and_squares


@dataclass(frozen=True)
class FrameSigns(SumFormat):
    """A public seed and the signs of the vectors of its random frame, as words of 64 bits, one row per person.

    A report stands for `unit` times the sum of the `signs` vectors, each with its sign, in `dim` dimensions and single
    precision. No number of it is larger than `bound`, and the second moment of a number is at most `moment`, for all records.
    The state has the sums of these numbers and of their squares.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> mechanism = ldp.RankedSigns(100, 8.0)
    >>> mechanism.report.nbytes, mechanism.decode(mechanism.privatize([0.0] * 100, rng=1)).shape
    (24, (100,))
    """

    dim: int
    signs: int
    unit: float
    bound: float
    moment: float
    seeded = True

    @property
    def shape(self) -> tuple[int, ...]:
        return (1 + (self.signs + 63) // 64,)

    def dtype(self, records: np.dtype[Any]) -> np.dtype[Any]:
        return np.dtype(np.uint64)

    @property
    def bits(self) -> int:
        return 64 + self.signs

    @property
    def state_layout(self) -> tuple[tuple[int, ...], type[np.integer[Any]]]:
        return (2 * self.dim, 2), np.uint64

    def tally(self, reports: AnyArray, state: AnyArray) -> None:
        tally.add_frames(reports, self.dim, self.signs, self.unit, self.bound, state)

    def is_possible(self, state: AnyArray, n: int) -> bool:
        total, square = (sums * 2.0**-40 for sums in sums_and_squares(state))
        # Numbers of single precision can be a little above the bound, and are rounded to steps, as are their squares.
        most = n * (1 + 1e-3)
        possible = (square >= 0) & (square <= most) & (np.abs(total) <= most)
        return bool((possible & (total**2 <= n * (square * (1 + 1e-6) + n * 2.0**-28))).all())

    def mean(self, statistic: Statistic, state: AnyArray, n: int) -> Estimate[Any]:
        mean, square = (sums * (2.0**-40 / n) for sums in sums_and_squares(state))
        # The sample variance. For few reports, it is set to its largest possible value.
        sample = np.maximum(square - mean**2, 0) * self.bound**2 * (n / max(n - 1, 1))
        variance = np.maximum(sample, self.moment if n < NORMAL_FROM else 0.0)
        return Estimate(mean * self.bound, np.sqrt(variance / n), n, statistic.guarantee, None, Normal.of_sum(n))

    def decode(self, reports: AnyArray, debiasing: AnyDebiasing | None) -> Floats:
        rows = np.empty((len(reports), self.dim), np.float32)
        tally.frames(reports, self.dim, self.signs, self.unit, self.bound, rows)
        return rows.astype(np.float64)

    def invalidity(self, reports: AnyArray) -> str | None:
        if self.signs % 64 == 0:
            return None
        bad = np.flatnonzero(reports[:, -1] >> np.uint64(self.signs % 64))
        return f"have no ones after the {self.signs} signs; row {int(bad[0])} has" if len(bad) else None
