"""Reports of public random directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core import tally
from .._typing import AnyArray, Floats
from ..results import AnyDebiasing
from ._vectors import VectorFormat


@dataclass(frozen=True)
class Directions(VectorFormat):
    """A public seed and the index of one of `candidates` directions that follow from it, as one word of 64 bits per person.

    A report stands for a vector of `dim` numbers with Euclidean norm `bound`, in single precision. `moment` is the largest
    second moment of a coordinate, over all records.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> mechanism = ldp.RankCodebook(100, 1.0)
    >>> mechanism.report.nbytes, mechanism.decode(mechanism.privatize([0.0] * 100, rng=1)).shape
    (8, (100,))
    """

    dim: int
    candidates: int
    bound: float
    moment: float
    seeded = True

    @property
    def second_moment(self) -> float:
        return self.moment

    @property
    def index_bits(self) -> int:
        """Number of the low bits of a report that hold the index."""
        return (self.candidates - 1).bit_length()

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def dtype(self, records: np.dtype[Any]) -> np.dtype[Any]:
        return np.dtype(np.uint64)

    @property
    def bits(self) -> int:
        return 64

    def tally(self, reports: AnyArray, state: AnyArray) -> None:
        tally.add_directions(reports, self.dim, self.bound, self.index_bits, state)

    def decode(self, reports: AnyArray, debiasing: AnyDebiasing | None) -> Floats:
        rows = np.empty((len(reports), self.dim), np.float32)
        tally.directions(reports, self.dim, self.bound, self.index_bits, rows)
        return rows.astype(np.float64)

    def invalidity(self, reports: AnyArray) -> str | None:
        index = reports & np.uint64((1 << self.index_bits) - 1)
        bad = np.flatnonzero(index >= self.candidates)
        return f"hold an index below {self.candidates}; row {int(bad[0])} does not" if len(bad) else None
