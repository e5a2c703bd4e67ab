"""Questions whose cells are numbers in a declared interval."""

from __future__ import annotations

import struct
from abc import abstractmethod
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._core.survey import Column
from .._extras import optional
from .._frames import Coded, arrow_array, arrow_buffers, package_of
from .._typing import Floats
from ._columns import QuestionColumn

EPOCH = date(1970, 1, 1)


def number_of(value: Any) -> Any:
    """Return a date or time as the number of days since 1970-01-01, rounded down, and anything else unchanged."""
    if isinstance(value, np.datetime64):
        value = value.astype("M8[D]").item()
    if isinstance(value, datetime):
        value = value.date()
    return float((value - EPOCH).days) if isinstance(value, date) else value


def texts_of(numbers: Sequence[float]) -> list[str]:
    """Return numbers as different texts with few digits."""
    short = [f"{number:g}" for number in numbers]
    return short if len(set(short)) == len(numbers) else [repr(number) for number in numbers]


class NumberColumn(QuestionColumn):
    """Base class of questions whose cells are numbers in a declared interval."""

    outside: ClassVar[str] = "is outside. clip=True moves numbers to the nearest end"
    clipped: ClassVar[str] = "numbers were moved to the nearest end"

    def answer_text(self) -> str:
        low, high = self.valid_range()
        return f"a number from {low:,.15g} to {high:,.15g}"

    def read(self, name: str, values: Any, *, clip: bool = False) -> Column:
        if isinstance(values, Coded):
            raise TypeError(f"column {name!r} must hold {self.describe()}, got symbols of labels")
        return _numbers(name, self, values)

    def read_cell(self, value: Any) -> Column:
        return Column("float64", np.array([_number(value, self.valid_range())]), None, 0, 1)

    def faults(
        self, column: Column, first: int, n: int, *, clip: bool = False
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        numbers = column.numbers(first, n)
        lower, upper = self.valid_range()
        missing = np.isnan(numbers) & (not self.optional)
        return missing, ((numbers < lower) | (numbers > upper)) & (not clip)

    def canonical(self, column: Column, rows: NDArray[np.intp], *, clip: bool = False) -> Any:
        first, stop = (int(rows[0]), int(rows[-1]) + 1) if len(rows) else (0, 0)
        numbers = column.numbers(first, stop - first)[rows - first]
        lower, upper = self.valid_range()
        outside = (numbers < lower) | (numbers > upper)
        if (not self.optional and np.isnan(numbers).any()) or (not clip and outside.any()):
            return None
        return self._rounded(numbers)

    def _rounded(self, numbers: Floats) -> Any:
        """Return the canonical values of numbers."""
        return np.clip(numbers, *self.valid_range())


class BinColumn(NumberColumn):
    """Base class of questions whose symbol is the bin of a number: the number of limits that are at most the number."""

    encoding: ClassVar[str] = "bin"

    @abstractmethod
    def limits(self) -> Floats:
        """Return the numbers at which a new bin starts."""

    def _rounded(self, numbers: Floats) -> Any:
        bins = np.searchsorted(self.limits(), super()._rounded(numbers), side="right")
        return np.where(np.isnan(numbers), self.k - 1, bins).astype(np.uint32)

    def client_part(self, start: int) -> tuple[int, bytes, bytes]:
        return 2, struct.pack("<I12x", start), self.limits().astype("<f8").tobytes()


def _number(value: Any, valid: tuple[float, float]) -> float:
    """Return a value as a number, NaN if it is none."""
    try:
        return float(number_of(value)) if not isinstance(value, str | bytes) else float("nan")
    except OverflowError:
        lower, upper = valid
        return upper if isinstance(value, int) and value > 0 else lower
    except Exception:  # of the methods of the value
        return float("nan")


def _numbers(name: str, question: NumberColumn, values: Any) -> Column:
    if isinstance(values, np.ndarray):
        plain = values.view(np.uint8) if values.dtype == np.bool_ else values
        return Column(plain.dtype.name, plain, None, 0, len(plain))
    if package_of(values) == "pandas":
        return _numbers(name, question, arrow_array(name, values))
    # Columns of pandas have become Arrow arrays, and all types of these become one that the kernel reads, without a copy where
    # its width is the same.
    pa = optional("pyarrow", "files")
    kind, is_ = values.type, pa.types
    wrong = TypeError(f"column {name!r} must hold {question.describe()}, got type {kind}")
    if is_.is_dictionary(kind):
        try:
            return _numbers(name, question, values.dictionary_decode())
        except pa.ArrowException:  # an index outside of the dictionary
            raise wrong from None
    if is_.is_null(kind):
        return Column("float64", np.full(len(values), np.nan), None, 0, len(values))
    if is_.is_boolean(kind):
        return Column("bits", *arrow_buffers(values), values.offset, len(values))
    try:
        if is_.is_decimal(kind):
            values = values.cast(pa.float64(), safe=False)
        elif is_.is_float16(kind):
            values = values.cast(pa.float32())
        elif is_.is_timestamp(kind) or is_.is_date64(kind):
            values = _days(values)
    except pa.ArrowException:
        raise wrong from None
    kind = values.type
    if is_.is_date32(kind):
        width = "int32"
    elif is_.is_integer(kind) or is_.is_floating(kind):
        width = kind.to_pandas_dtype().__name__
    else:
        raise wrong
    return Column(width, *arrow_buffers(values), values.offset, len(values))


def _days(values: Any) -> Any:
    """Return times as days since 1970-01-01, rounded down. Days that 32 bits cannot hold raise an error."""
    pa, pc = optional("pyarrow", "files"), optional("pyarrow.compute", "files")
    days = values.cast(pa.date32(), safe=False)
    unit = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[getattr(values.type, "unit", "ms")]
    ends = pc.min_max(values.cast(pa.int64(), safe=False)).as_py()
    if any(end is not None and abs(end) // (86_400 * unit) >= 1 << 31 for end in ends.values()):
        raise pa.ArrowInvalid("a time is out of range")
    return days
