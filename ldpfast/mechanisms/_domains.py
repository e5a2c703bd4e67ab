"""What a record may be. A domain turns input into an array that the kernels take, and finds the first offender.

`records` looks at shape and dtype only and costs nothing; `convert` makes a slice contiguous in the kernel's dtype;
`offender` reads the values. Kernels clamp all the same: privacy never rests on these checks.
"""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._core import domains

AnyArray = NDArray[Any]
MAX = sys.float_info.max
FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)


class Domain(ABC):
    """The set of valid records."""

    clips = True

    @property
    def width(self) -> int | None:
        """Records are rows of so many numbers; None: they are numbers."""
        return None

    @property
    @abstractmethod
    def range(self) -> tuple[float, float]:
        """Least and largest mean of a decoded coordinate."""

    @abstractmethod
    def describe(self) -> str:
        """The set in words, for messages: "x must be ..."."""

    def _dtype(self, x: AnyArray) -> AnyArray:
        return _check.floats("x", x)

    def records(self, x: ArrayLike) -> tuple[AnyArray, bool]:
        """Records with one axis in front, and whether `x` was a single one. No value is read, nothing is copied."""
        array = self._dtype(_check.array("x", x))
        single = _check.dimensions("x", array, self.width)
        return (array[np.newaxis] if single else array), single

    def convert(self, records: AnyArray) -> AnyArray:
        """Contiguous, in a dtype that the kernels take: float32 for up to single precision, else float64."""
        small = records.dtype.kind == "f" and records.dtype.itemsize <= 4
        return _check.laid_out(records, FLOAT32 if small else FLOAT64)

    @abstractmethod
    def offender(self, records: AnyArray) -> int:
        """Index of the first record outside, or -1; `records` as `convert` makes them."""

    @abstractmethod
    def outside(self, records: AnyArray) -> NDArray[np.bool_]:
        """Which records are outside: for the message only, `offender` is the fast question. Agrees with it."""

    def refuse(self, records: AnyArray) -> ValueError:
        """The error for records, as `records` gives them, of which some are outside."""
        first, count, rows = -1, 0, 1 << 16
        for start in range(0, len(records), rows):
            bad = np.flatnonzero(self.outside(self.convert(records[start : start + rows])))
            if len(bad) and first < 0:
                first = start + int(bad[0])
            count += len(bad)
        return _check.outside("x", self.describe(), first, count, len(records))


@dataclass(frozen=True)
class Categories(Domain):
    """Integers in [0, k)."""

    k: int
    booleans: bool = False
    dtype: np.dtype[Any] = field(init=False, repr=False, compare=False)
    clips = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", np.min_scalar_type(self.k - 1))

    @property
    def range(self) -> tuple[float, float]:
        return 0.0, 1.0

    def describe(self) -> str:
        return f"integers in [0, k) with k={self.k}"

    def _dtype(self, x: AnyArray) -> AnyArray:
        return _check.integers("x", x, self.booleans)

    def convert(self, records: AnyArray) -> AnyArray:
        """In the smallest dtype that holds k - 1. Records that are outside are left as they are, for `offender` to find: a
        cast would wrap around and make valid codes of them."""
        native = _check.laid_out(records)
        if native.dtype == self.dtype or self.offender(native) >= 0:
            return native
        return native.astype(self.dtype)

    def offender(self, records: AnyArray) -> int:
        return domains.codes_outside(records, records.dtype.kind == "i", self.k)

    def outside(self, records: AnyArray) -> NDArray[np.bool_]:
        return np.asarray((records < 0) | (records >= self.k))


@dataclass(frozen=True)
class Reals(Domain):
    """Any finite number; what is estimated are shares of symbols."""

    @property
    def range(self) -> tuple[float, float]:
        return 0.0, 1.0

    def describe(self) -> str:
        return "finite numbers"

    def offender(self, records: AnyArray) -> int:
        return domains.outside(records, -MAX, MAX)

    def outside(self, records: AnyArray) -> NDArray[np.bool_]:
        return ~np.isfinite(records)


@dataclass(frozen=True)
class Interval(Domain):
    """Numbers in [lower, upper]."""

    lower: float
    upper: float

    @property
    def range(self) -> tuple[float, float]:
        return self.lower, self.upper

    def describe(self) -> str:
        return f"numbers in [lower, upper] = [{self.lower!r}, {self.upper!r}]"

    def offender(self, records: AnyArray) -> int:
        return domains.outside(records, self.lower, self.upper)

    def outside(self, records: AnyArray) -> NDArray[np.bool_]:
        lower, upper = records.dtype.type(self.lower), records.dtype.type(self.upper)
        return np.asarray(~((records >= lower) & (records <= upper)))


@dataclass(frozen=True)
class Ball(Domain):
    """Vectors of `dim` numbers of norm at most `radius` ("l2" or "linf"); norms of rounded rows have a tolerance."""

    dim: int
    radius: float
    norm: str

    @property
    def width(self) -> int:
        return self.dim

    @property
    def range(self) -> tuple[float, float]:
        return -self.radius, self.radius

    def describe(self) -> str:
        return f"rows of {self.norm} norm at most radius = {self.radius!r}"

    def offender(self, records: AnyArray) -> int:
        if self.norm == "linf":
            position = domains.outside(records, -self.radius, self.radius)
            return position // self.dim if position >= 0 else -1
        return domains.norm_outside(records, self.dim, 0.0, self._longest(records))

    def outside(self, records: AnyArray) -> NDArray[np.bool_]:
        if self.norm == "linf":
            return np.asarray(~(np.abs(records) <= records.dtype.type(self.radius)).all(axis=1))
        bad, longest = np.zeros(len(records), np.bool_), self._longest(records)
        at = domains.norm_outside(records, self.dim, 0.0, longest)
        while at >= 0:  # the same norm as `offender`: rows on the edge are rounded alike
            bad[at] = True
            later = domains.norm_outside(records[at + 1 :], self.dim, 0.0, longest)
            at = at + 1 + later if later >= 0 else -1
        return bad

    def _longest(self, records: AnyArray) -> float:
        """The norm up to which a rounded row counts as inside: relative tolerance 8 u sqrt(dim), u the unit roundoff."""
        return self.radius * (1 + 4 * float(np.finfo(records.dtype).eps) * math.sqrt(self.dim))
