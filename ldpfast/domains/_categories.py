"""Domains of categories, as integers or as labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._core import ranges
from .._extras import optional
from .._typing import AnyArray
from ._domain import Domain


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
    reads_columns = True

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
            try:
                plain = _comparable(values)
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


def _comparable(values: Any) -> Any:
    """Return an Arrow array without a dictionary, of a type whose values Arrow finds among others."""
    pa = optional("pyarrow", "files")
    if isinstance(values, pa.ChunkedArray):
        return pa.chunked_array([_comparable(part) for part in values.chunks or [pa.array([], values.type)]])
    kind, is_ = values.type, pa.types
    if is_.is_dictionary(kind):
        encoded = pa.DictionaryArray.from_arrays(values.indices, _comparable(values.dictionary))
        return encoded.cast(encoded.type.value_type)
    if is_.is_string_view(kind):
        return values.cast(pa.large_string())
    if is_.is_binary_view(kind):
        return values.cast(pa.large_binary())
    if is_.is_float16(kind):
        return values.cast(pa.float32())
    if is_.is_decimal(kind):  # so wide that it holds integers
        widest = pa.decimal128(38, kind.scale) if is_.is_decimal128(kind) else pa.decimal256(76, kind.scale)
        return values.cast(widest)
    return values


def _wrong_shape(shape: tuple[int, ...]) -> ValueError:
    return ValueError(f"x must have shape (n,), or () for one record, got shape {shape}")


def domain_of_categories(k: Any, booleans: bool = False) -> tuple[Categories, tuple[Any, ...] | None]:
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
    >>> from ldpfast.domains import domain_of_categories
    >>> domain, labels = domain_of_categories(["foot", "car"])
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
    _check.labels(name, labels)
    if len(labels) < 2:
        raise ValueError(f"{name} must be at least 2 categories, got {len(labels)}")
    return Labels(len(labels), False, labels), labels
