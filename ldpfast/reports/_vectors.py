"""Reports of real vectors of a known length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core import ranges, tally
from .._typing import AnyArray, Floats
from ..results import AnyDebiasing, Estimate, Normal
from ._format import Decoding
from ._sum_format import SumFormat, sums_of


@dataclass(frozen=True)
class Vectors(SumFormat):
    """`dim` floats per person with Euclidean norm `bound` up to rounding, of the dtype (float32 or float64) of the records.

    `moment` is the largest second moment of a coordinate, over all records. None is for reports whose second moments are the
    same in all coordinates for every record, so that they are bound^2 / dim. The state is sums, in steps of bound 2^-40.
    Standard errors do not depend on the records: they are for the largest second moment.

    Examples
    --------
    >>> from ldpfast.reports import Vectors
    >>> format = Vectors(3, bound=2.0)
    >>> format.shape, format.nbytes
    ((3,), 24)
    """

    dim: int
    bound: float
    moment: float | None = None

    @property
    def second_moment(self) -> float:
        """Largest second moment of a coordinate, over all records."""
        return self.bound**2 / self.dim if self.moment is None else self.moment

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.dim,)

    def dtype(self, records: np.dtype[Any]) -> np.dtype[Any]:
        return np.dtype(np.float32 if records == np.float32 else np.float64)

    @property
    def bits(self) -> int:
        return 64 * self.dim

    @property
    def state_layout(self) -> tuple[tuple[int, ...], type[np.integer[Any]]]:
        return (self.dim, 2), np.uint64

    def is_possible(self, state: AnyArray, n: int) -> bool:
        return bool(np.linalg.norm(sums_of(state)) <= n * 2.0**40 * (1 + 1e-3))

    def mean(self, decoding: Decoding, state: AnyArray, n: int) -> Estimate[Any]:
        value = sums_of(state) * (self.bound * 2.0**-40 / n)
        stderr = np.full(self.dim, np.sqrt(self.second_moment / n))
        change = 2 * self.bound * (1 + self._tolerance(np.dtype(np.float32))) / n
        return Estimate(value, stderr, n, decoding.guarantee, None, Normal.of_sum(n, change=change))

    def tally(self, reports: AnyArray, state: AnyArray) -> None:
        tally.add_vectors(reports, self.dim, self.bound, state)

    def decode(self, reports: AnyArray, debiasing: AnyDebiasing | None) -> Floats:
        return reports.copy()

    def invalidity(self, reports: AnyArray) -> str | None:
        tolerance = self._tolerance(reports.dtype)
        row = ranges.first_invalid_row(reports, self.dim, self.bound * (1 - tolerance), self.bound * (1 + tolerance))
        return None if row < 0 else f"have Euclidean norm {self.bound!r}; row {row} does not"

    def _tolerance(self, dtype: np.dtype[Any]) -> float:
        """Return by how much the norm of a valid report can differ from `bound`, relatively."""
        return float(8 * float(np.finfo(dtype).eps) * (1 + self.dim**0.5))
