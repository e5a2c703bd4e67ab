"""Columns of a table as the records of a mechanism or a problem."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._extras import optional
from .._frames import By, group_columns, package_of, pieces, read_by, values_of
from .._person_keys import is_personal

if TYPE_CHECKING:
    from .._random import RNGLike


@dataclass(frozen=True)
class RecordPiece:
    """Records of consecutive people.

    Attributes
    ----------
    x : array_like
        The records.
    by : ndarray, categorical, Arrow array, list of these or None
        Public values that divide the people into groups; a list for several columns.
    rng : RNGLike
        Source of randomness for these people.
    start : int
        Number of the first row in the table.
    """

    x: Any
    by: Any
    rng: RNGLike
    start: int

    def place(self) -> AbstractContextManager[None]:
        """Add the number of the first row to messages of errors, which count from there."""
        return _counted_from(self.start) if self.start else nullcontext()


@contextmanager
def _counted_from(start: int) -> Iterator[None]:
    try:
        yield
    except (TypeError, ValueError) as error:
        raise (TypeError if isinstance(error, TypeError) else ValueError)(
            f"{error}, counted from row {start}"
        ) from None


@dataclass(frozen=True)
class Records:
    """Columns of a table, each row of which is one record.

    Attributes
    ----------
    table : table
        Anything that `ldpfast._frames.pieces` reads.
    column : str or tuple of str
        Column of the records, or columns of their coordinates.
    """

    table: Any
    column: str | tuple[str, ...]

    @property
    def name(self) -> str:
        """Name of the question in personal keys: the column of the records."""
        return name_of(self.column)

    def pieces(self, reads_columns: bool, by: By | None, rng: RNGLike) -> Iterator[RecordPiece]:
        """Yield the records in pieces.

        Parameters
        ----------
        reads_columns : bool
            Whether the domain reads Arrow arrays and categoricals itself.
        by : str, list of str or None
            Columns of public values.
        rng : RNGLike
            Source of randomness. `PersonKeys` name the column of the persons.
        """
        columns = [self.column] if isinstance(self.column, str) else list(self.column)
        person = rng.column if is_personal(rng) else None
        by = read_by(by)
        others = [*group_columns(by), *([] if person is None else [person])]
        for piece in pieces(self.table, list(dict.fromkeys([*columns, *others]))):
            if not piece.n:  # the columns of an empty table may have no type
                continue
            read = [records_of(name, piece.columns[name], reads_columns and len(columns) == 1) for name in columns]
            x = read[0] if isinstance(self.column, str) else np.column_stack(read)
            source = rng.of_persons(piece.columns[person]) if is_personal(rng) and person is not None else rng
            yield RecordPiece(x, values_of(by, piece.columns), source, piece.start)


def name_of(column: str | tuple[str, ...]) -> str:
    """Return the name in personal keys of the question about a column, or about several columns."""
    return column if isinstance(column, str) else ", ".join(column)


def records_of(name: str, values: Any, reads_columns: bool) -> Any:
    """Return a column of a table as records of a mechanism or a problem.

    Parameters
    ----------
    name : str
        Name of the column, for error messages.
    values : ndarray, categorical or Arrow array
        A column of a `Piece`. An Arrow array of lists of one length gives one row per list.
    reads_columns : bool
        Whether the domain reads Arrow arrays and categoricals itself.

    Raises
    ------
    TypeError, ValueError
        If a value is missing, or lists have different lengths.
    """
    if isinstance(values, np.ndarray) or reads_columns:
        return values
    if package_of(values) == "pandas":
        return np.asarray(values)
    pa = optional("pyarrow", "files")
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    kind, is_ = values.type, pa.types
    if values.null_count:
        raise ValueError(f"column {name!r} must have no missing value, got {values.null_count}")
    if is_.is_list(kind) or is_.is_large_list(kind) or is_.is_fixed_size_list(kind):
        flat = values.flatten()
        lengths = np.diff(np.asarray(values.offsets)) if hasattr(values, "offsets") else [kind.list_size]
        if len(values) and len(np.unique(lengths)) > 1:
            raise ValueError(f"column {name!r} must hold lists of one length, got several")
        return records_of(name, flat, False).reshape(len(values), lengths[0] if len(values) else 0)
    if is_.is_decimal(kind):
        values = values.cast(pa.float64(), safe=False)
    elif not (is_.is_integer(kind) or is_.is_floating(kind) or is_.is_boolean(kind)):
        raise TypeError(f"column {name!r} must hold numbers, got type {kind}")
    return values.to_numpy(zero_copy_only=False)
