"""The report of one record, which clients ask for, without the cost of the general case."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._typing import AnyArray
from ..domains import FLOAT32, FLOAT64, Categories, Domain, Strings
from ..reports import Format
from ._kernel import Kernel

EXACT = 1 << 53  # integers up to this size are exact in doubles
BOOLEANS, DOUBLES = frozenset([bool, np.bool_]), frozenset([float, np.float64])
INTEGERS = frozenset([int, *(np.dtype(code).type for code in "bBhHiIlLqQ")])  # not numpy.timedelta64, an np.integer
FRESH: Any = None  # key of a single record: the kernel takes one from the operating system
# Forms of a single record.
NUMBER = "number"
CATEGORY = "category"
VECTOR = "vector"
TEXT = "text"


@dataclass(frozen=True, eq=False)
class SingleRecord:
    """How a kernel makes the report of one record under a fresh key.

    Attributes
    ----------
    domain : Domain
    report : Format
    kernel : Kernel
    first_block : int
    checks : bool
        As for `RecordRecipe`: whether the kernel checks records while it reads them.
    """

    domain: Domain
    report: Format
    kernel: Kernel
    first_block: int
    checks: bool

    def privatize(self, x: Any, clip: bool) -> AnyArray | None:
        """Return the report of one record under a fresh key, without the cost of the general case.

        Return None if `x` is not a number, a text or an array that the kernel reads, or if it may be invalid.
        """
        form = self.form
        kind = type(x)
        report = self.report
        record: Any
        number: Any = None
        dtype: np.dtype[Any]
        if form is NUMBER:
            if kind in DOUBLES or (kind in INTEGERS and -EXACT <= int(x) <= EXACT):
                number, dtype = x, FLOAT64
            elif kind is np.float32:
                number, dtype = x, FLOAT32
            elif kind is np.ndarray and not x.shape and self._can_read(x):
                record = x
            else:
                return None
        elif form is CATEGORY:
            kinds, k, dtype = self.codes
            if kind not in kinds:
                return None
            number = int(x)  # comparisons of NumPy's scalars are slow
            if not 0 <= number < k:
                return None
        elif form is VECTOR:
            if kind is not np.ndarray or x.shape != (self.domain.width,) or not self._can_read(x):
                return None
            record = x
        elif form is TEXT and kind is str:
            strings: Any = self.domain
            row = strings.row_of(x)
            if row is None:
                return None
            record = np.frombuffer(row, np.uint8)
        else:
            return None
        kernel: Any = self.kernel  # a compiled one, because it checks records
        if number is not None:
            if report.number is not None:
                to, to_code = report.number
                made = kernel.privatize_number(
                    FRESH, self.first_block, number, dtype.itemsize, form is CATEGORY, to_code, clip
                )
                return None if made is None else to(made)
            record = dtype.type(number)
        out = np.empty(report.shape, report.dtype(record.dtype))
        valid = kernel.privatize(FRESH, self.first_block, record, out, clip)
        return (out if out.ndim else out[()]) if valid else None  # with clip: there is a warning

    @cached_property
    def form(self) -> str | None:
        """Form of a single record that the kernel reads, or None. The code of a label is not a label."""
        domain = self.domain
        if not self.checks or (domain.reads_columns and not isinstance(domain, Strings)):
            return None
        if isinstance(domain, Strings):
            return TEXT
        if isinstance(domain, Categories):
            return CATEGORY
        if domain.kernel_dtype(np.zeros(0)) != FLOAT64:  # rows of categories and sets, which are no real numbers
            return None
        return NUMBER if domain.width is None else VECTOR

    @cached_property
    def codes(self) -> tuple[frozenset[type], int, np.dtype[Any]]:
        """Types of a single code, number of codes, and the dtype that the kernel reads."""
        domain = self.domain
        assert isinstance(domain, Categories)
        return INTEGERS | BOOLEANS if domain.booleans else INTEGERS, domain.k, domain.dtype

    @staticmethod
    def _can_read(x: AnyArray) -> bool:
        """Return whether a kernel reads the numbers of an array where they are."""
        return (x.dtype is FLOAT64 or x.dtype is FLOAT32) and x.flags.c_contiguous and x.flags.aligned
