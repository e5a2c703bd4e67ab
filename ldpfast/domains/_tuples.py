"""Domain of rows of categories."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._typing import AnyArray
from ._domain import Domain

UINT16 = np.dtype(np.uint16)


@dataclass(frozen=True)
class Tuples(Domain):
    """Rows of categories: entry i is an integer in [0, sizes[i]).

    Examples
    --------
    >>> from ldpfast.domains import Tuples
    >>> domain = Tuples((2, 2, 3))
    >>> domain.describe()
    'rows of 3 integers, each at least 0 and below its entry of sizes=(2, 2, 3)'
    >>> domain.first_invalid(domain.convert(domain.records([[1, 0, 2], [0, 2, 1]])[0]))
    1
    """

    sizes: tuple[int, ...]
    limits: NDArray[np.int64] = field(init=False, repr=False, compare=False)
    clips = False
    unclipped = "rows of categories"

    def __post_init__(self) -> None:
        object.__setattr__(self, "limits", np.array(self.sizes, np.int64))

    @property
    def width(self) -> int:
        return len(self.sizes)

    @property
    def range(self) -> tuple[float, float]:
        return 0.0, 1.0

    def describe(self) -> str:
        shown = repr(self.sizes) if len(self.sizes) <= 8 else f"({self.sizes[0]}, ..., {self.sizes[-1]})"
        return f"rows of {len(self.sizes)} integers, each at least 0 and below its entry of sizes={shown}"

    def _check_dtype(self, x: AnyArray) -> AnyArray:
        return _check.integers("x", x, True)

    def kernel_dtype(self, records: AnyArray) -> np.dtype[Any]:
        return UINT16

    def convert(self, records: AnyArray) -> AnyArray:
        """Return contiguous records in the dtype of the kernel. Arrays with invalid records keep theirs, as `Categories`."""
        native = _check.laid_out(records)
        if native.dtype == UINT16 or self.first_invalid(native) >= 0:
            return native
        return native.astype(UINT16)

    def clip(self, records: AnyArray) -> AnyArray:
        """Return the records unchanged: categories have no nearest one, and ``clip=True`` is refused."""
        return records

    def first_invalid(self, records: AnyArray) -> int:
        bad = np.flatnonzero(self.invalid(records))
        return int(bad[0]) if len(bad) else -1

    def invalid(self, records: AnyArray) -> NDArray[np.bool_]:
        return np.asarray(((records < 0) | (records >= self.limits)).any(axis=1))
