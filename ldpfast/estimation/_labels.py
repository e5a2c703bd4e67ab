"""Categories that are words: declared labels to codes, whatever container the answers come in."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._extras import optional
from ..mechanisms._domains import AnyArray, Categories


@dataclass(frozen=True)
class Labels(Categories):
    """Answers that are among declared categories, in that order. `k` is their number."""

    labels: tuple[Any, ...] = ()

    def describe(self) -> str:
        return f"among the k={self.k} declared categories"

    def records(self, x: ArrayLike) -> tuple[AnyArray, bool]:
        """Codes, k for an answer that was not declared."""
        values: Any = x.item() if isinstance(x, np.ndarray) and x.ndim == 0 else x
        if self._is_one(values):
            return np.array([self._code().get(values, self.k)]), True
        if isinstance(values, Mapping | Set):
            raise TypeError(f"x must be labels in a list or an array, got {type(values).__name__}")
        if len(getattr(values, "shape", (0,))) != 1:
            raise _misshapen(np.shape(values))
        return self._codes(values), False

    def _is_one(self, values: Any) -> bool:
        """Whether it is a label, not a container of labels: a tuple is one if it was declared."""
        if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
            return True
        return isinstance(values, tuple) and values in self.labels

    def _code(self) -> dict[Any, int]:
        return {label: number for number, label in enumerate(self.labels)}

    def _codes(self, values: Any) -> NDArray[np.int64]:
        own = getattr(values, "cat", values)  # of a pandas series, or a categorical itself
        if hasattr(own, "codes") and hasattr(own, "categories"):
            table = [*(self._code().get(label, self.k) for label in own.categories), self.k]  # the last: missing
            return np.asarray(np.asarray(table)[np.asarray(own.codes)])
        if type(values).__module__.partition(".")[0] == "pyarrow":
            pa, pc = optional("pyarrow", "files"), optional("pyarrow.compute", "files")
            plain = values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values
            try:
                declared = pa.array(self.labels).cast(plain.type)
            except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
                raise TypeError(f"x must hold labels like the declared categories, got type {values.type}") from None
            found = pc.index_in(plain, value_set=declared).fill_null(self.k)
            return np.asarray(found.to_numpy(), np.int64)
        code, k = self._code(), self.k
        labels = values.tolist() if hasattr(values, "tolist") else list(values)
        try:
            return np.fromiter((code.get(label, k) for label in labels), np.int64, len(labels))
        except TypeError:  # a label that cannot be hashed
            if all(isinstance(label, list) for label in labels):
                raise _misshapen((len(labels), len(labels[0]))) from None
            raise TypeError("x must hold labels like the declared categories") from None


def _misshapen(shape: tuple[int, ...]) -> ValueError:
    return ValueError(f"x must have shape (n,), or () for one record, got shape {shape}")


def categories(k: Any, booleans: bool = False) -> tuple[Categories, tuple[Any, ...] | None]:
    """The domain for a number of categories, or for a declared list of them; and the list."""
    k = getattr(k, "categories", k)  # of a pandas dtype
    if not hasattr(k, "__len__") or isinstance(k, str | bytes | Set | Mapping):
        return Categories(_check.integer("k", k, 2), booleans), None
    labels = tuple(k.tolist() if hasattr(k, "tolist") else k)
    try:
        different = len(set(labels))
    except TypeError:
        raise TypeError("k must be a number of categories, or a list of labels that can be hashed") from None
    if len(labels) < 2 or different < len(labels):
        raise ValueError(f"k must be at least 2 different categories, got {len(labels)}, {different} of them different")
    return Labels(len(labels), False, labels), labels
