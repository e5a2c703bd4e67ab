"""Reports of public random directions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._core import tally
from .._typing import AnyArray
from ._seeded_vectors import SeededVectors


@dataclass(frozen=True)
class Directions(SeededVectors):
    """A public seed and the index of one of `candidates` directions that follow from it, as one word of 64 bits per person.

    A report stands for a vector of `dim` numbers with Euclidean norm `bound`, in single precision. Its second moments are
    `along` in the direction of a record in the ball of the given `radius`, and `across` in each other direction.

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
    along: float
    across: float
    radius: float

    @property
    def index_bits(self) -> int:
        """Number of the low bits of a report that hold the index."""
        return (self.candidates - 1).bit_length()

    @property
    def seed_bits(self) -> int:
        return 64 - self.index_bits

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    @property
    def bits(self) -> int:
        return 64

    def tally(self, reports: AnyArray, state: AnyArray) -> None:
        tally.add_directions(reports, self.dim, self.bound, self.index_bits, state)

    @property
    def moment(self) -> float:  # type: ignore[override]
        """Largest second moment of a number, over all records."""
        return max(self.along, self.across)

    @property
    def second_moments(self) -> tuple[float, float]:
        return self.along, self.across

    def _expand(self, reports: AnyArray, rows: NDArray[np.float32]) -> None:
        tally.directions(reports, self.dim, self.bound, self.index_bits, rows)

    def invalidity(self, reports: AnyArray) -> str | None:
        index = reports & np.uint64((1 << self.index_bits) - 1)
        bad = np.flatnonzero(index >= self.candidates)
        return f"hold an index below {self.candidates}; row {int(bad[0])} does not" if len(bad) else None
