"""Domains: sets of valid records.

A domain converts input to arrays for kernels and finds invalid records. `records` checks dtype and shape only;
`convert` makes a slice contiguous in the dtype of the kernel; `first_invalid` reads the values. Privacy does not depend
on these checks, because the report of an invalid record has the distribution of that of a valid one.
"""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _check
from ._core import ranges
from ._extras import optional
from ._typing import AnyArray

__all__ = [
    "Ball",
    "Box",
    "Categories",
    "Domain",
    "Interval",
    "Labels",
    "Reals",
    "categories",
]

MAX = sys.float_info.max
FAR = 2.0**40  # radii to which coordinates of rows are limited before their norm is computed
FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
PIECE_ROWS = 1 << 16  # records that are checked together for an error message


class Domain(ABC):
    """The set of valid records of a mechanism or a problem."""

    clips = True  # whether ``clip=True`` is allowed: every record has a nearest valid record

    @property
    def width(self) -> int | None:
        """Number of coordinates of a record; None if a record is a single number."""
        return None

    @property
    @abstractmethod
    def range(self) -> tuple[float, float]:
        """Smallest and largest possible mean of a decoded coordinate."""

    @abstractmethod
    def describe(self) -> str:
        """Return a description of the set, for messages of the form "x must be ..."."""

    def _check_dtype(self, x: AnyArray) -> AnyArray:
        return _check.floats("x", x)

    def records(self, x: ArrayLike) -> tuple[AnyArray, bool]:
        """Return records along the first axis, and whether `x` was a single record. Values are neither read nor copied.

        Parameters
        ----------
        x : array_like

        Returns
        -------
        records : ndarray
        single : bool

        Raises
        ------
        TypeError, ValueError
            If `x` has a wrong dtype or shape.
        """
        array = self._check_dtype(_check.array("x", x))
        single = _check.dimensions("x", array, self.width)
        return (array[np.newaxis] if single else array), single

    def kernel_dtype(self, records: AnyArray) -> np.dtype[Any]:
        """Return the dtype of the records for kernels: float32 up to single precision, else float64."""
        return FLOAT32 if records.dtype.kind == "f" and records.dtype.itemsize <= 4 else FLOAT64

    def convert(self, records: AnyArray) -> AnyArray:
        """Return contiguous records in the dtype for kernels, copied only if necessary."""
        return _check.laid_out(records, self.kernel_dtype(records))

    @abstractmethod
    def first_invalid(self, records: AnyArray) -> int:
        """Return the index of the first invalid record, or -1; `records` is a result of `convert`."""

    @abstractmethod
    def invalid(self, records: AnyArray) -> NDArray[np.bool_]:
        """Return which records are invalid, in agreement with `first_invalid`. It is slower and used for messages."""

    def invalid_error(self, records: AnyArray, *, can_clip: bool = False) -> ValueError:
        """Return the error for a result of `records` with invalid records; with `can_clip` it mentions ``clip=True``."""
        first, count, missing, first_missing = -1, 0, 0, False
        for start in range(0, len(records), PIECE_ROWS):
            piece = self.convert(records[start : start + PIECE_ROWS])
            bad = np.flatnonzero(self.invalid(piece))
            nan = _has_nan(piece[bad])
            if len(bad) and first < 0:
                first, first_missing = start + int(bad[0]), bool(nan[0])
            count, missing = count + len(bad), missing + int(nan.sum())
        return _check.invalid(
            "x", self.describe(), first, count, len(records), missing, first_missing, can_clip and self.clips
        )

    def clipped(self, records: AnyArray) -> tuple[int, int]:
        """Return how many results of `convert` have NaN, and how many others are outside of the domain."""
        if self.first_invalid(records) < 0:
            return 0, 0
        missing = _has_nan(records)
        return int(missing.sum()), int((self.invalid(records) & ~missing).sum())

    @abstractmethod
    def clip(self, records: AnyArray) -> AnyArray:
        """Return the nearest valid records of a result of `convert`. NaN becomes the center, and valid records stay."""

    def check_clip(self, clip: bool) -> bool:
        """Return the argument `clip`, which must be False for categories."""
        if _check.flag("clip", clip) and not self.clips:
            raise ValueError("clip must be False for categories, got True")
        return clip


def _has_nan(records: AnyArray) -> NDArray[np.bool_]:
    """Return which records have NaN."""
    nan = np.asarray(records != records)
    return nan if nan.ndim == 1 else np.asarray(nan.any(axis=1))


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
class Categories(Domain):
    """Integers in [0, k).

    Examples
    --------
    >>> from ldpfast.domains import Categories
    >>> domain = Categories(5)
    >>> domain.describe(), domain.dtype
    ('integers in [0, k) with k=5', dtype('uint8'))
    """

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

    def _check_dtype(self, x: AnyArray) -> AnyArray:
        return _check.integers("x", x, self.booleans)

    def kernel_dtype(self, records: AnyArray) -> np.dtype[Any]:
        return self.dtype

    def convert(self, records: AnyArray) -> AnyArray:
        """Return contiguous records in the smallest dtype that holds k - 1.

        Arrays with invalid records keep their dtype, so that `first_invalid` finds them: a cast would wrap around and
        turn them into valid codes.
        """
        native = _check.laid_out(records)
        if native.dtype == self.dtype or self.first_invalid(native) >= 0:
            return native
        return native.astype(self.dtype)

    def clip(self, records: AnyArray) -> AnyArray:
        """Return the records unchanged: categories have no nearest one, and ``clip=True`` is refused."""
        return records

    def first_invalid(self, records: AnyArray) -> int:
        return ranges.first_invalid_code(records, records.dtype.kind == "i", self.k)

    def invalid(self, records: AnyArray) -> NDArray[np.bool_]:
        return np.asarray((records < 0) | (records >= self.k))


@dataclass(frozen=True)
class Labels(Categories):
    """The declared categories `labels`, with their positions as codes. `k` is their number.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> domain = ldp.estimation.Frequencies(["foot", "car"], 1.0).domain
    >>> records, _ = domain.records(["car", "foot"])
    >>> records.tolist()
    [1, 0]
    """

    labels: tuple[Any, ...] = ()

    def describe(self) -> str:
        return f"among the k={self.k} declared categories"

    def records(self, x: ArrayLike) -> tuple[AnyArray, bool]:
        """Return the codes of labels, where an undeclared label has code k, and whether `x` was a single label.

        Parameters
        ----------
        x : array_like
            Labels in a list, a NumPy or Arrow array, a pandas series or categorical; or a single label.
        """
        values: Any = x.item() if isinstance(x, np.ndarray) and x.ndim == 0 else x
        if self._is_label(values):
            return np.array([self._codes_by_label().get(values, self.k)]), True
        if isinstance(values, Mapping | Set):
            raise TypeError(f"x must be labels in a list or an array, got {type(values).__name__}")
        if len(getattr(values, "shape", (0,))) != 1:
            raise _wrong_shape(np.shape(values))
        return self._codes(values), False

    def _is_label(self, values: Any) -> bool:
        """Return whether `values` is one label, not a container of labels. A tuple is a label if it was declared."""
        if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
            return True
        return isinstance(values, tuple) and values in self.labels

    def _codes_by_label(self) -> dict[Any, int]:
        return {label: code for code, label in enumerate(self.labels)}

    def _codes(self, values: Any) -> NDArray[np.int64]:
        categorical = getattr(values, "cat", values)  # accessor of a pandas series, or a categorical itself
        code, k = self._codes_by_label(), self.k
        if hasattr(categorical, "codes") and hasattr(categorical, "categories"):
            table = [
                *(code.get(label, k) for label in categorical.categories),
                k,
            ]  # the last entry is for missing values
            return np.asarray(np.asarray(table)[np.asarray(categorical.codes)])
        if type(values).__module__.partition(".")[0] == "pyarrow":
            pa, pc = optional("pyarrow", "files"), optional("pyarrow.compute", "files")
            plain = values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values
            try:
                labels = pa.array(self.labels)
                declared = labels.cast(plain.type)
                zones = [getattr(kind, "tz", None) is None for kind in (labels.type, plain.type)]
                if not declared.cast(labels.type).equals(labels) or zones[0] != zones[1]:
                    raise pa.ArrowTypeError("the cast changes labels")
            except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
                raise TypeError(f"x must hold labels like the declared categories, got type {values.type}") from None
            indices = pc.index_in(plain, value_set=declared).fill_null(k)
            return np.asarray(indices.to_numpy(), np.int64)
        labels = values.tolist() if hasattr(values, "tolist") else list(values)
        try:
            return np.fromiter((code.get(label, k) for label in labels), np.int64, len(labels))
        except TypeError:  # a label that cannot be hashed
            if all(isinstance(label, list) for label in labels):
                raise _wrong_shape((len(labels), len(labels[0]))) from None
            raise TypeError("x must hold labels like the declared categories") from None


def _wrong_shape(shape: tuple[int, ...]) -> ValueError:
    return ValueError(f"x must have shape (n,), or () for one record, got shape {shape}")


def categories(k: Any, booleans: bool = False) -> tuple[Categories, tuple[Any, ...] | None]:
    """Return the domain for a number of categories or a declared list of categories.

    Parameters
    ----------
    k : int, sequence or pandas dtype
        Number of categories, or the categories.
    booleans : bool, default False
        Whether booleans are accepted as categories.

    Returns
    -------
    domain : Categories
    labels : tuple or None
        The declared list; None if `k` is a number.

    Raises
    ------
    TypeError, ValueError
        If `k` is neither an integer >= 2 nor at least two different labels.

    Examples
    --------
    >>> from ldpfast.domains import categories
    >>> domain, labels = categories(["foot", "car"])
    >>> domain.k, labels
    (2, ('foot', 'car'))
    """
    return declared_categories("k", k, booleans)


def declared_categories(name: str, k: Any, booleans: bool = False) -> tuple[Categories, tuple[Any, ...] | None]:
    """Return what `categories` returns; `name` is the name of the argument, for messages."""
    k = getattr(k, "categories", k)  # categories of a pandas dtype
    if isinstance(k, Set | Mapping):
        raise TypeError(
            f"{name} must list the categories in the order of the estimates, got {type(k).__name__}, which has none"
        )
    if not hasattr(k, "__len__") or isinstance(k, str | bytes):
        try:
            return Categories(_check.integer(name, k, 2), booleans), None
        except TypeError:
            raise TypeError(f"{name} must be an integer, or a list of labels, got {type(k).__name__}") from None
    if any(isinstance(label, np.datetime64 | np.timedelta64) for label in k):
        raise TypeError(f"{name} must list dates as datetime.date or datetime.datetime, got NumPy dates")
    labels = tuple(k.tolist() if hasattr(k, "tolist") else k)
    try:
        repeated = [label for label, count in Counter(labels).items() if count > 1]
    except TypeError:
        raise TypeError(f"{name} must be a number of categories, or a list of labels that can be hashed") from None
    if repeated:
        raise ValueError(f"{name} must list each category once, got {repeated[0]!r} more than once")
    if len(labels) < 2:
        raise ValueError(f"{name} must be at least 2 categories, got {len(labels)}")
    return Labels(len(labels), False, labels), labels


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
