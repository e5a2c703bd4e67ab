"""Reports of signs of public random frames."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import tally
from .._typing import AnyArray
from ._format import Format
from ._seeded_vectors import SeededVectors


class SeedAndSigns(Format):
    """Layout of a public seed and `signs` signs, as words of 64 bits, one row per person."""

    signs: int
    seeded = True

    def dtype(self, records: np.dtype[Any]) -> np.dtype[Any]:
        return np.dtype(np.uint64)

    @property
    def shape(self) -> tuple[int, ...]:
        return (1 + (self.signs + 63) // 64,)

    @property
    def bits(self) -> int:
        return 64 + self.signs

    def invalidity(self, reports: AnyArray) -> str | None:
        if self.signs % 64 == 0:
            return None
        bad = np.flatnonzero(reports[:, -1] >> np.uint64(self.signs % 64))
        return f"have no ones after the {self.signs} signs; row {int(bad[0])} has" if len(bad) else None


@dataclass(frozen=True)
class FrameSigns(SeedAndSigns, SeededVectors):
    """A public seed and the signs of the vectors of its random frame, as words of 64 bits, one row per person.

    A report stands for `unit` times the sum of the `signs` vectors, each with its sign, in `dim` dimensions and single
    precision. `moments` returns its second moments along a record on the sphere of `radius` and across it; they take time for
    many signs, so they are computed for estimates only.

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
    radius: float
    moments: Callable[[], tuple[float, float]] = field(repr=False, compare=False)

    def tally(self, reports: AnyArray, state: AnyArray) -> None:
        tally.add_frames(reports, self.dim, self.signs, self.unit, self.bound, state)

    @property
    def second_moments(self) -> tuple[float, float]:
        return self.moments()

    def _expand(self, reports: AnyArray, rows: NDArray[np.float32]) -> None:
        tally.frames(reports, self.dim, self.signs, self.unit, self.bound, rows)
