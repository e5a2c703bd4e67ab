"""Columns of a table in the form that the kernel of a survey reads.

Error messages name a column and a row, never the value of a cell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.survey import MISSING, UNDECLARED, Column
from .._extras import optional
from .._frames import Coded, arrow_array, package_of
from ._questions import ColumnQuestion

MAX_ENTRIES = 1 << 16  # of a table of symbols for integers


def column_for(name: str, question: ColumnQuestion, values: Any, clip: bool) -> Column:
    """Return a column in the form that the kernel reads.

    Parameters
    ----------
    name : str
        Name of the column, for error messages.
    question : ColumnQuestion
        The question that it answers.
    values : ndarray, categorical or Arrow array
        A column of a `Piece`.
    clip : bool
        Whether undeclared categories count as "no answer" where the question is optional.

    Raises
    ------
    TypeError
        If the values have a type that the question cannot have.
    ValueError
        If they are symbols of other labels.
    """
    if isinstance(values, Coded):
        _check_labels(name, question, values)
    if question.encoding == "symbol":
        return _symbols(name, Symbols(question, clip), values)
    return _numbers(name, question, values)


def _check_labels(name: str, question: ColumnQuestion, values: Coded) -> None:
    """Raise unless symbols, which are positions of labels, refer to the labels of a question."""
    if question.encoding != "symbol":
        raise TypeError(f"column {name!r} must hold {question.describe()}, got symbols of labels")
    if values.labels is not None and tuple(values.labels) != question.cells:
        shown = ", ".join(map(repr, values.labels[:20])) + (", ..." if len(values.labels) > 20 else "")
        raise ValueError(
            f"column {name!r} must hold {question.describe()}, got symbols of the labels {shown}: a table is made for the "
            "questions of one survey"
        )


def _buffers(values: Any) -> tuple[Any, Any]:
    """Return the buffers of values and of validity of an Arrow array; the second is None if no value is missing."""
    buffers = values.buffers()
    data = buffers[1] if buffers[1] is not None else b""
    return data, buffers[0] if values.null_count else None


def _numbers(name: str, question: ColumnQuestion, values: Any) -> Column:
    if isinstance(values, np.ndarray):
        plain = values.view(np.uint8) if values.dtype == np.bool_ else values
        return Column(plain.dtype.name, plain, None, 0, len(plain))
    if package_of(values) == "pandas":
        return _numbers(name, question, arrow_array(name, values))
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
        return Column("bits", *_buffers(values), values.offset, len(values))
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
    return Column(width, *_buffers(values), values.offset, len(values))


def _days(values: Any) -> Any:
    """Return times as days since 1970-01-01, rounded down. Days that 32 bits cannot hold raise an error."""
    pa, pc = optional("pyarrow", "files"), optional("pyarrow.compute", "files")
    days = values.cast(pa.date32(), safe=False)
    unit = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[getattr(values.type, "unit", "ms")]
    ends = pc.min_max(values.cast(pa.int64(), safe=False)).as_py()
    if any(end is not None and abs(end) // (86_400 * unit) >= 1 << 31 for end in ends.values()):
        raise pa.ArrowInvalid("a time is out of range")
    return days


class Symbols:
    """The symbols of values: of declared labels, of missing values, and of others."""

    def __init__(self, question: ColumnQuestion, clip: bool) -> None:
        self.cells = question.cells
        self.codes = {cell: code for code, cell in enumerate(question.cells)}
        self.missing = len(question.cells) if question.optional else MISSING
        self.other = self.missing if clip and question.optional else UNDECLARED
        self.describe = question.describe

    @property
    def identity(self) -> NDArray[np.uint32]:
        """Table in which every symbol of a valid cell is its own."""
        return np.array([*range(len(self.cells) + 1), self.missing], np.uint32)

    @property
    def positions(self) -> NDArray[np.uint32]:
        """Table for the positions of cells from -1 on, which is that of a missing value."""
        return np.array([self.missing, *range(len(self.cells)), self.missing], np.uint32)

    def of(self, value: Any) -> int:
        try:
            if value is None or value != value:
                return int(self.missing)
            return self.codes.get(value, int(self.other))
        except Exception:  # of the methods of the value
            return int(self.other)

    def table(self, values: Sequence[Any]) -> NDArray[np.uint32]:
        """Return the symbols of values, then that of a missing value."""
        return np.array([*map(self.of, values), self.missing], np.uint32)

    def integers(self) -> tuple[int, NDArray[np.uint32]] | None:
        """Return the least cell and the symbols of the integers from it on; None if they are not close integers."""
        if not all(isinstance(cell, int) for cell in self.cells):
            return None
        least, most = min(self.cells), max(self.cells)
        if most - least >= MAX_ENTRIES or least < -(1 << 62) or most > 1 << 62:
            return None
        return least, self.table(range(least, most + 1))


def _symbols(name: str, symbols: Symbols, values: Any) -> Column:
    integers = symbols.integers()
    if isinstance(values, Coded):
        return Column("int32", values.codes, None, 0, len(values.codes), -1, symbols.positions)
    if isinstance(values, np.ndarray):
        if values.dtype == np.bool_:
            return Column("uint8", values.view(np.uint8), None, 0, len(values), 0, symbols.table([False, True]))
        if values.dtype.kind in "iu" and integers is not None:
            return Column(values.dtype.name, values, None, 0, len(values), *_unsigned(values.dtype.name, *integers))
    if package_of(values) == "pandas":  # a categorical, with code -1 for missing values
        codes, categories = np.ascontiguousarray(values.codes), values.categories.tolist()
        table = np.concatenate([[symbols.missing], symbols.table(categories)]).astype(np.uint32)
        return Column(codes.dtype.name, codes, None, 0, len(codes), -1, table)
    pa = optional("pyarrow", "files")
    array = values if isinstance(values, pa.Array) else pa.array(values, from_pandas=True)
    kind = array.type
    if pa.types.is_boolean(kind):
        return Column("bits", *_buffers(array), array.offset, len(array), 0, symbols.table([False, True]))
    if pa.types.is_integer(kind) and integers is not None:
        width = kind.to_pandas_dtype().__name__
        return Column(width, *_buffers(array), array.offset, len(array), *_unsigned(width, *integers))
    if pa.types.is_null(kind):
        table = np.array([symbols.missing] * 2, np.uint32)
        return Column("uint8", np.zeros(len(array), np.uint8), None, 0, len(array), 0, table)
    if not pa.types.is_dictionary(kind):
        try:
            array = array.dictionary_encode()
        except pa.ArrowException:
            raise TypeError(f"column {name!r} must hold {symbols.describe()}, got type {kind}") from None
    codes = array.indices
    try:
        table = symbols.table(array.dictionary.to_pylist())
    except (pa.ArrowException, OverflowError, UnicodeError, ValueError):  # dates and texts that Python does not have
        raise TypeError(f"column {name!r} must hold {symbols.describe()}, got other values of type {kind}") from None
    if len(table) == 1:  # an empty dictionary, where every value is missing
        table = np.array([symbols.missing] * 2, np.uint32)
    return Column(codes.type.to_pandas_dtype().__name__, *_buffers(codes), codes.offset, len(codes), 0, table)


def _unsigned(width: str, base: int, table: NDArray[np.uint32]) -> tuple[int, NDArray[np.uint32]]:
    """Return base and table without negative values for unsigned integers, whose differences would wrap around."""
    if base >= 0 or not width.startswith("uint"):
        return base, table
    return 0, (table[-base:] if -base < len(table) - 1 else np.array([UNDECLARED, table[-1]], np.uint32))


def number_outside(question: ColumnQuestion, column: Column, first: int, n: int) -> int:
    """Return the number of cells that are out of range or hold an undeclared category, in n rows of a column."""
    if question.encoding == "symbol":
        return int((column.symbols(first, n) == UNDECLARED).sum())
    numbers, (lower, upper) = column.numbers(first, n), question.valid_range()
    return int(((numbers < lower) | (numbers > upper)).sum())


def first_fault(
    name: str, question: ColumnQuestion, column: Column, first: int, n: int, clip: bool, place: Callable[[int], str]
) -> Exception:
    """Return the error for a column with an invalid cell among n rows.

    Parameters
    ----------
    name, question, column, clip
        As for `column_for`.
    first, n : int
        Rows of the column that hold the invalid cell.
    place : callable
        Function that returns the position of a row of the column.
    """
    rule = f"column {name!r} must hold {question.describe()}"
    if question.encoding == "symbol":
        symbols = column.symbols(first, n)
        missing, outside = symbols == MISSING, symbols == UNDECLARED
    else:
        numbers, (lower, upper) = column.numbers(first, n), question.valid_range()
        missing = np.isnan(numbers) & (not question.optional)
        outside = ((numbers < lower) | (numbers > upper)) & (not clip)
    bad = np.flatnonzero(missing | outside)
    if not len(bad):
        return ValueError(f"{rule}; it changed while it was read")
    row = int(bad[0])
    if missing[row]:
        return ValueError(f"{rule}; {place(first + row)} has no value, which needs optional=True")
    if question.encoding == "symbol":
        return ValueError(f"{rule}; {place(first + row)} holds another value")
    return ValueError(f"{rule}; {place(first + row)} is outside. clip=True moves numbers to the nearest end")
