"""Domains of numbers and of vectors of numbers."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core import ranges
from .._typing import AnyArray
from ._domain import Domain

MAX = sys.float_info.max
FAR = 2.0**40  # radii to which coordinates of rows are limited before their norm is computed


def _nearest(records: AnyArray, lower: Any, upper: Any, center: Any) -> AnyArray:
    """Return the nearest numbers in [lower, upper]. NaN becomes `center`."""
    dtype = records.dtype
    with np.errstate(invalid="ignore"):  # signaling NaN
        inside = np.clip(records, _ends(lower, dtype), _ends(upper, dtype))
    return np.asarray(np.where(np.isnan(records), _ends(center, dtype), inside))


def _ends(ends: ArrayLike, dtype: np.dtype[Any]) -> AnyArray:
    """Return ends of intervals in the dtype of records: at most its largest number, as kernels compare them."""
    largest = float(np.finfo(dtype).max)
    return np.clip(np.asarray(ends, np.float64), -largest, largest).astype(dtype)


@dataclass(frozen=True)
class Reals(Domain):
    """Any finite number. Estimates are shares of the symbols that numbers are mapped to.

    `center` is the number that NaN becomes with ``clip=True``.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> ldp.Bins([0.5], 1.0).domain
    Reals()
    """

    center: float = field(default=0.0, repr=False)

    @property
    def range(self) -> tuple[float, float]:
        return 0.0, 1.0

    def describe(self) -> str:
        return "finite numbers"

    def clip(self, records: AnyArray) -> AnyArray:
        return _nearest(records, -MAX, MAX, self.center)

    def first_invalid(self, records: AnyArray) -> int:
        return ranges.first_invalid_number(records, -MAX, MAX)

    def invalid(self, records: AnyArray) -> NDArray[np.bool_]:
        return ~np.isfinite(records)


@dataclass(frozen=True)
class Interval(Domain):
    """Numbers in [lower, upper].

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.domains import Interval
    >>> Interval(0.0, 1.0).invalid(np.array([0.5, 2.0, np.nan])).tolist()
    [False, True, True]
    """

    lower: float
    upper: float

    @property
    def range(self) -> tuple[float, float]:
        return self.lower, self.upper

    def describe(self) -> str:
        return f"numbers in [lower, upper] = [{self.lower!r}, {self.upper!r}]"

    def clip(self, records: AnyArray) -> AnyArray:
        return _nearest(records, self.lower, self.upper, self.lower + (self.upper - self.lower) / 2)

    def first_invalid(self, records: AnyArray) -> int:
        return ranges.first_invalid_number(records, self.lower, self.upper)

    def invalid(self, records: AnyArray) -> NDArray[np.bool_]:
        lower, upper = _ends(self.lower, records.dtype), _ends(self.upper, records.dtype)
        return np.asarray(~((records >= lower) & (records <= upper)))


@dataclass(frozen=True)
class Integers(Interval):
    """Integers in [lower, upper], in arrays of integers or of floats.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.domains import Integers
    >>> Integers(0.0, 9.0).invalid(np.array([3.0, 3.5, 10.0, np.nan])).tolist()
    [False, True, True, True]
    """

    def describe(self) -> str:
        return f"integers in [lower, upper] = [{self.lower:.0f}, {self.upper:.0f}]"

    def clip(self, records: AnyArray) -> AnyArray:
        return np.asarray(np.rint(super().clip(records)))

    def first_invalid(self, records: AnyArray) -> int:
        outside = super().first_invalid(records)
        fractions = np.flatnonzero(records[: None if outside < 0 else outside] % 1)
        return int(fractions[0]) if len(fractions) else outside

    def invalid(self, records: AnyArray) -> NDArray[np.bool_]:
        with np.errstate(invalid="ignore"):
            return np.asarray(super().invalid(records) | (records % 1 != 0))


@dataclass(frozen=True)
class Ball(Domain):
    """Vectors of `dim` numbers with a norm ("l2" or "linf") of at most `radius`; the l2 norm has a rounding tolerance.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.domains import Ball
    >>> Ball(2, 1.0, "l2").invalid(np.array([[0.6, 0.6], [1.0, 1.0]])).tolist()
    [False, True]
    """

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

    def clip(self, records: AnyArray) -> AnyArray:
        if self.norm == "linf":
            return _nearest(records, -self.radius, self.radius, 0.0)
        # Rows with NaN become the center. Far coordinates are limited, so that no square overflows.
        with np.errstate(invalid="ignore"):  # signaling NaN
            far = FAR * self.radius
            rows = np.clip(records.astype(np.float64, order="C"), -far, far)
        rows[np.isnan(rows).any(axis=1)] = 0.0
        norms = np.empty(len(rows))
        ranges.row_norms(rows / self.radius, norms)
        rows /= np.maximum(norms, 1.0)[:, np.newaxis]
        return rows.astype(records.dtype, copy=False)

    def first_invalid(self, records: AnyArray) -> int:
        if self.norm == "linf":
            position = ranges.first_invalid_number(records, -self.radius, self.radius)
            return position // self.dim if position >= 0 else -1
        return ranges.first_invalid_row(records, self.dim, 0.0, self._longest(records))

    def invalid(self, records: AnyArray) -> NDArray[np.bool_]:
        if self.norm == "linf":
            return np.asarray(~(np.abs(records) <= records.dtype.type(self.radius)).all(axis=1))
        bad, longest = np.zeros(len(records), np.bool_), self._longest(records)
        index = ranges.first_invalid_row(records, self.dim, 0.0, longest)
        while index >= 0:  # same rounding of the norm as in `first_invalid`
            bad[index] = True
            later = ranges.first_invalid_row(records[index + 1 :], self.dim, 0.0, longest)
            index = index + 1 + later if later >= 0 else -1
        return bad

    def _longest(self, records: AnyArray) -> float:
        """Return the largest norm of a valid row. The relative tolerance is 8 u sqrt(dim), u the unit roundoff."""
        return self.radius * (1 + 4 * float(np.finfo(records.dtype).eps) * math.sqrt(self.dim))


@dataclass(frozen=True)
class Box(Domain):
    """Rows of numbers, the j-th in [lower[j], upper[j]].

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.domains import Box
    >>> Box((0.0, 0.0), (1.0, 10.0)).invalid(np.array([[0.5, 5.0], [5.0, 0.5]])).tolist()
    [False, True]
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]

    @property
    def width(self) -> int:
        return len(self.lower)

    @property
    def range(self) -> tuple[float, float]:
        return min(self.lower), max(self.upper)

    def describe(self) -> str:
        return "rows of numbers in [lower, upper], coordinate by coordinate"

    def clip(self, records: AnyArray) -> AnyArray:
        lower, upper = np.asarray(self.lower), np.asarray(self.upper)
        return _nearest(records, lower, upper, lower + (upper - lower) / 2)

    def first_invalid(self, records: AnyArray) -> int:
        bad = self.invalid(records)
        return int(np.argmax(bad)) if bad.any() else -1

    def invalid(self, records: AnyArray) -> NDArray[np.bool_]:
        lower, upper = _ends(self.lower, records.dtype), _ends(self.upper, records.dtype)
        return np.asarray(~((records >= lower) & (records <= upper)).all(axis=1))
