"""What a report looks like. A format recognises its own reports and chooses their aggregator."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._core import domains, sums
from ..aggregation import Aggregator, BitCounts, CodeCounts, GridSums, VectorSums

AnyArray = NDArray[Any]


class Format(ABC):
    """The report format of a mechanism."""

    aggregator: type[Aggregator]

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Of one report."""

    @abstractmethod
    def dtype(self, records: np.dtype[Any]) -> np.dtype[Any]:
        """Of the reports of records of a dtype."""

    @abstractmethod
    def accepts(self, reports: AnyArray) -> str | None:
        """What is wrong with the values, or None."""

    @property
    def nbytes(self) -> int:
        """Bytes of one report (of double precision records)."""
        size: int = self.dtype(np.dtype(np.float64)).itemsize
        return int(np.prod(self.shape, dtype=np.int64)) * size

    def validate(self, reports: ArrayLike) -> AnyArray:
        """Reports with one axis in front, contiguous, all of them possible."""
        array = _check.array("reports", reports)
        wanted = self.dtype(array.dtype.newbyteorder("="))
        if array.dtype.newbyteorder("=") != wanted:
            raise TypeError(f"reports must have dtype {wanted}, got dtype {array.dtype}")
        if array.ndim == len(self.shape):
            array = array[np.newaxis]
        if array.shape[1:] != self.shape:
            expected = ", ".join(["n", *map(str, self.shape)]) + ("," if not self.shape else "")
            raise ValueError(f"reports must have shape ({expected}), got shape {np.shape(reports)}")
        array = _check.laid_out(array)
        wrong = self.accepts(array) if array.size else None
        if wrong is not None:
            raise ValueError(f"reports must {wrong}")
        return array


@dataclass(frozen=True)
class Codes(Format):
    """One code in [0, k) per person. `onehot`: it stands for a vector of k shares; otherwise it is a single flag."""

    k: int
    onehot: bool = True
    code: np.dtype[Any] = field(init=False, repr=False, compare=False)
    aggregator = CodeCounts

    def __post_init__(self) -> None:
        object.__setattr__(self, "code", np.min_scalar_type(self.k - 1))

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def dtype(self, records: np.dtype[Any]) -> np.dtype[Any]:
        return self.code

    def accepts(self, reports: AnyArray) -> str | None:
        position = domains.codes_outside(reports, False, self.k)
        return None if position < 0 else f"be codes in [0, {self.k}); index {position} is outside"

    def hits(self, reports: AnyArray) -> NDArray[np.float64]:
        """Zeros and ones: shape (n, k), or (n,) for flags."""
        if not self.onehot:
            return reports.astype(np.float64)
        return np.asarray(reports[:, np.newaxis] == np.arange(self.k, dtype=reports.dtype), np.float64)


@dataclass(frozen=True)
class Bits(Format):
    """k bits per person, packed, little bit order, padded with zeros to whole bytes."""

    k: int
    aggregator = BitCounts

    @property
    def shape(self) -> tuple[int, ...]:
        return ((self.k + 7) // 8,)

    def dtype(self, records: np.dtype[Any]) -> np.dtype[Any]:
        return np.dtype(np.uint8)

    def accepts(self, reports: AnyArray) -> str | None:
        if self.k % 8 == 0:
            return None
        bad = np.flatnonzero(reports[:, -1] >> self.k % 8)
        return f"have zeros in the padding after {self.k} bits; row {int(bad[0])} has not" if len(bad) else None

    def hits(self, reports: AnyArray) -> NDArray[np.float64]:
        """Zeros and ones, shape (n, k)."""
        return np.unpackbits(reports, axis=1, count=self.k, bitorder="little").astype(np.float64)


@dataclass(frozen=True)
class Grid(Format):
    """Doubles lower + grid (j + 1/2) with an integer |j| <= 2^47: one number per person (`scalar`), or `dim`."""

    dim: int
    scalar: bool
    lower: float
    grid: float
    noise_variance: float
    aggregator = GridSums

    @property
    def sums(self) -> int:
        """Quantities that the aggregator adds up."""
        return 2 * self.dim

    @property
    def shape(self) -> tuple[int, ...]:
        return () if self.scalar else (self.dim,)

    def dtype(self, records: np.dtype[Any]) -> np.dtype[Any]:
        return np.dtype(np.float64)

    def accepts(self, reports: AnyArray) -> str | None:
        position = sums.off_grid(reports, self.lower, self.grid)
        return None if position < 0 else f"lie on the mechanism's grid; row {position // self.dim} does not"


@dataclass(frozen=True)
class Vectors(Format):
    """`dim` floats per person, of Euclidean norm `bound` up to rounding, float32 or float64 as the records."""

    dim: int
    bound: float
    aggregator = VectorSums

    @property
    def sums(self) -> int:
        """Quantities that the aggregator adds up."""
        return self.dim

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.dim,)

    def dtype(self, records: np.dtype[Any]) -> np.dtype[Any]:
        return np.dtype(np.float32 if records == np.float32 else np.float64)

    def accepts(self, reports: AnyArray) -> str | None:
        tolerance = 8 * float(np.finfo(reports.dtype).eps) * (1 + self.dim**0.5)
        row = domains.norm_outside(reports, self.dim, self.bound * (1 - tolerance), self.bound * (1 + tolerance))
        return None if row < 0 else f"have Euclidean norm {self.bound!r}; row {row} has not"
