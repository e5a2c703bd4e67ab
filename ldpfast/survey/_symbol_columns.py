"""Questions whose cells are declared values: each is one symbol by a table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.survey import MISSING, UNDECLARED, Column
from .._extras import optional
from .._frames import Coded, arrow_buffers, package_of, python_values
from ._columns import QuestionColumn

MAX_ENTRIES = 1 << 16  # of a table of symbols for integers


class SymbolColumn(QuestionColumn):
    """Base class of questions whose cells are declared values."""

    def read(self, name: str, values: Any, *, clip: bool = False) -> Column:
        if isinstance(values, Coded) and values.labels is not None and tuple(values.labels) != self.cells:
            shown = ", ".join(map(repr, values.labels[:20])) + (", ..." if len(values.labels) > 20 else "")
            raise ValueError(
                f"column {name!r} must hold {self.describe()}, got symbols of the labels {shown}: a table is made for the "
                "questions of one survey"
            )
        return _symbols(name, Symbols(self, clip), values)

    def read_cell(self, value: Any) -> Column:
        symbols = self._symbols_of_cells
        return Column("uint32", np.array([symbols.of(value)], np.uint32), None, 0, 1, 0, symbols.identity)

    @cached_property
    def _symbols_of_cells(self) -> Symbols:
        return Symbols(self, clip=True)

    def faults(
        self, column: Column, first: int, n: int, *, clip: bool = False
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        symbols = column.symbols(first, n)
        return symbols == MISSING, symbols == UNDECLARED

    def canonical(self, column: Column, rows: NDArray[np.intp], *, clip: bool = False) -> Any:
        first, stop = (int(rows[0]), int(rows[-1]) + 1) if len(rows) else (0, 0)
        symbols = column.symbols(first, stop - first)[rows - first]
        return None if len(symbols) and symbols.max() >= self.k else symbols

    def number_clipped(self, name: str, values: Any, column: Column, chosen: NDArray[np.intp] | None = None) -> int:
        if not self.optional:  # an undeclared category has raised an error
            return 0
        return super().number_clipped(name, values, self.read(name, values, clip=False), chosen)

    def spellings(self) -> list[tuple[str, ...]]:
        """Return the texts in files that stand for each cell.

        Raises
        ------
        ValueError
            If two cells have the same text.
        """
        texts = [str(cell) for cell in self.cells]
        if len(set(texts)) < len(texts):
            raise ValueError(f"categories must be different when they are printed to be read from files, got {self!r}")
        return [(text,) for text in texts]


class Symbols:
    """The symbols of values: of declared labels, of missing values, and of others."""

    def __init__(self, question: SymbolColumn, clip: bool) -> None:
        self.cells = question.cells
        self.codes = {cell: code for code, cell in enumerate(question.cells)}
        self.missing = len(question.cells) if question.optional else MISSING
        self.other = self.missing if clip and question.optional else UNDECLARED
        self.describe = question.describe

    @cached_property
    def identity(self) -> NDArray[np.uint32]:
        """Table in which every symbol of a valid cell is its own."""
        return np.array([*range(len(self.cells) + 1), self.missing], np.uint32)

    @property
    def positions(self) -> NDArray[np.uint32]:
        """Table for the positions of cells: position -1 is a missing value, the one after the last another value."""
        return np.array([self.missing, *range(len(self.cells)), self.other, self.missing], np.uint32)

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
    # Every container becomes integers and a table from integers to symbols; texts and other values become a dictionary first.
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
        return Column("bits", *arrow_buffers(array), array.offset, len(array), 0, symbols.table([False, True]))
    if pa.types.is_integer(kind) and integers is not None:
        width = kind.to_pandas_dtype().__name__
        return Column(width, *arrow_buffers(array), array.offset, len(array), *_unsigned(width, *integers))
    if pa.types.is_null(kind):
        table = np.array([symbols.missing] * 2, np.uint32)
        return Column("uint8", np.zeros(len(array), np.uint8), None, 0, len(array), 0, table)
    if not pa.types.is_dictionary(kind):
        try:
            array = array.dictionary_encode()
        except pa.ArrowException:
            raise TypeError(f"column {name!r} must hold {symbols.describe()}, got type {kind}") from None
    codes = array.indices
    different = python_values(array.dictionary)
    if different is None:
        raise TypeError(f"column {name!r} must hold {symbols.describe()}, got other values of type {kind}")
    table = symbols.table(different)
    if len(table) == 1:  # an empty dictionary, where every value is missing
        table = np.array([symbols.missing] * 2, np.uint32)
    return Column(codes.type.to_pandas_dtype().__name__, *arrow_buffers(codes), codes.offset, len(codes), 0, table)


def _unsigned(width: str, base: int, table: NDArray[np.uint32]) -> tuple[int, NDArray[np.uint32]]:
    """Return base and table without negative values for unsigned integers, whose differences would wrap around."""
    if base >= 0 or not width.startswith("uint"):
        return base, table
    return 0, (table[-base:] if -base < len(table) - 1 else np.array([UNDECLARED, table[-1]], np.uint32))
