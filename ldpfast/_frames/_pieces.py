"""Tables of people: any container of columns, read in pieces and without a copy where types allow.

Error messages name a column and a row, never the value of a cell.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _check, _exchange
from .._core.survey import ROWS
from .._extras import optional
from .._labels import package_of, require_one_index
from .._objects import typed
from .._typing import AnyArray

PIECE_ROWS = 64 * ROWS  # rows of a stream that are put together


@dataclass(frozen=True)
class Piece:
    """Consecutive rows of a table.

    Attributes
    ----------
    start, n : int
        Number of the first row, a multiple of `ROWS`, and number of rows.
    columns : dict
        Arrays of n values by the names of the columns.

    Examples
    --------
    >>> from ldpfast.survey import Piece
    >>> piece = Piece(0, 2, {"age": [31.0, 64.0]})
    >>> piece.place(1)
    'row 1'
    """

    start: int
    n: int
    columns: Mapping[str, Any]
    place: Callable[[int], str] = "row {}".format  # position of a row of the table, for error messages
    ROWS: ClassVar[int] = ROWS


class Source(ABC):
    """A table that is read in pieces."""

    @abstractmethod
    def pieces(self, names: Sequence[str]) -> Iterator[Piece]:
        """Yield the columns with the given names, in pieces whose lengths are multiples of `Piece.ROWS` but for the last."""


@dataclass(frozen=True)
class Coded:
    """A column of symbols.

    Attributes
    ----------
    codes : ndarray of int32
        The symbols; -1 where the value is missing, and the number of the labels where it is none of them.
    labels : tuple, optional
        Values that the symbols 0, 1, ... stand for. A survey refuses the column for a question with others. Without them, the
        symbols are the positions of the labels of whatever question is asked.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.survey import Coded, Survey, YesNo
    >>> frame = {"smoker": Coded(np.array([0, 1, 1, 0], np.int32))}
    >>> Survey({"smoker": YesNo()}, 1.0).privatize(frame, rng=1).num_rows
    4
    """

    codes: NDArray[np.int32]
    labels: tuple[Any, ...] | None = None

    def __len__(self) -> int:
        return len(self.codes)


# Pieces of a table ----------------------------------------------------------------------------------------------------


def pieces(frame: Any, names: Sequence[str]) -> Iterator[Piece]:
    """Yield the columns of a table in pieces, whose lengths are multiples of `ROWS` except for the last.

    Parameters
    ----------
    frame : mapping of arrays, data frame, or object that exports an Arrow stream or array
        A stream is read once, in constant memory.
    names : sequence of str
        Names of the columns.

    Raises
    ------
    TypeError, ValueError
        If `frame` is no table; if it lacks a column or has two of that name; if columns have different lengths.
    """
    if isinstance(frame, Source):
        yield from frame.pieces(names)
    elif isinstance(frame, Mapping):
        yield _mapping(frame, names, list(frame))
    elif package_of(frame) == "pandas" and hasattr(frame, "columns"):
        yield _mapping(frame, names, list(frame.columns))
    elif hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__arrow_c_array__"):
        yield from _stream(frame, names)
    else:
        raise TypeError(
            "frame must be a mapping of arrays, a data frame, or export an Arrow stream or array, "
            f"got {type(frame).__name__}"
        )


def require_columns(names: Sequence[str], existing: list[Any]) -> None:
    """Raise ValueError unless a table has one column of each name."""
    for name in names:
        if existing.count(name) != 1:
            fault = "lacks it" if name not in existing else "has it more than once"
            listed = ", ".join(map(repr, existing[:50])) + (", ..." if len(existing) > 50 else "")
            raise ValueError(f"frame must have one column {name!r}: it {fault}; its columns are {listed}")


def _mapping(frame: Any, names: Sequence[str], existing: list[Any]) -> Piece:
    require_columns(names, existing)
    given = {name: frame[name] for name in names}
    require_one_index(given, are_columns=True)
    columns = {name: whole_column(name, _as_lists(values)) for name, values in given.items()}
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name!r} has {length}" for name, length in lengths.items())
        raise ValueError(f"frame must have columns of one length, got: {listed}")
    return Piece(0, next(iter(lengths.values()), 0), columns)


def whole_column(name: str, values: Any) -> Any:
    """Return a column as a NumPy array of numbers or booleans, a pandas categorical, or an Arrow array."""
    # Containers of other libraries become arrays first; then dtypes decide.
    if isinstance(values, Coded):
        return values
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"column {name!r} must not be a masked array")
    if package_of(values) == "pandas":
        if not hasattr(values, "dtype"):
            raise TypeError(f"column {name!r} must be an array, got a {type(values).__name__}")
        if type(values.dtype).__name__ == "CategoricalDtype":
            return getattr(values, "array", values)  # the categorical of a series
        if isinstance(values.dtype, np.dtype) and values.dtype.kind in "iufb":
            values = values.to_numpy()
    if _exchange.is_foreign(values) and not hasattr(values, "__arrow_c_array__"):
        values = _exchange.as_numpy(f"column {name!r}", values)
    if isinstance(values, Mapping | Set):
        raise TypeError(f"column {name!r} must be in the order of the rows, got {type(values).__name__}")
    if isinstance(values, str | bytes) or not (hasattr(values, "__len__") or hasattr(values, "__arrow_c_stream__")):
        raise TypeError(f"column {name!r} must be an array, got {type(values).__name__}")
    if isinstance(values, np.ndarray) and values.ndim != 1:
        rows = (
            "; rows of zeros and ones must be integers or booleans"
            if values.ndim == 2 and values.dtype.kind == "f"
            else ""
        )
        raise ValueError(f"column {name!r} must have shape (n,), got shape {values.shape}{rows}")
    if isinstance(values, np.ndarray) and values.dtype.kind in "iufb" and values.dtype.itemsize <= 8:
        kind = np.dtype(np.float32) if values.dtype == np.float16 else values.dtype.newbyteorder("=")
        return _check.laid_out(values, kind)
    if isinstance(values, np.ndarray) and values.dtype.kind in "UT":
        return _texts(name, values)
    return arrow_array(name, values)


def _as_lists(values: Any) -> Any:
    """Return rows of integers or booleans, and sets in a list, as lists of Arrow; anything else unchanged."""
    if isinstance(values, np.ndarray) and values.ndim == 2 and values.dtype.kind in "biu" and values.shape[1]:
        pa = optional("pyarrow", "files")
        native = values.astype(values.dtype.newbyteorder("="), copy=False)
        return pa.FixedSizeListArray.from_arrays(pa.array(native.reshape(-1)), values.shape[1])
    is_list = isinstance(values, list) or getattr(getattr(values, "dtype", None), "kind", "") == "O"
    if is_list and isinstance(next((value for value in values if value is not None), None), Set):
        return [list(value) if isinstance(value, Set) else value for value in values]
    return values


def _texts(name: str, values: AnyArray) -> Any:
    """Return texts of NumPy as a dictionary of the different ones, which alone become objects of Python."""
    if values.dtype.kind == "T" or not values.dtype.itemsize or not len(values):  # of variable length
        return arrow_array(name, values.astype(object))
    pa = optional("pyarrow", "files")
    native = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
    fixed = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(native.dtype.itemsize), len(native), [None, pa.py_buffer(native)]
    )
    encoded = fixed.dictionary_encode()
    different = np.frombuffer(encoded.dictionary.buffers()[1], native.dtype, len(encoded.dictionary))
    return pa.DictionaryArray.from_arrays(encoded.indices, arrow_array(name, different.astype(object)))


def arrow_array(name: str, values: Any) -> Any:
    pa = optional("pyarrow", "files")
    if isinstance(values, pa.Array):
        return values
    try:
        if hasattr(values, "__arrow_c_array__"):
            return pa.array(values)
        if isinstance(values, pa.ChunkedArray) or hasattr(values, "__arrow_c_stream__"):
            return _joined(pa.chunked_array(values))
        try:
            return pa.array(values, from_pandas=True)
        except (pa.ArrowException, TypeError):  # of numbers of several types, such as 1 and Decimal("1.5")
            return pa.array(typed(name, np.asarray(values, object)), from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):  # the messages hold values
        raise TypeError(f"column {name!r} must hold values of one type that Arrow has") from None


def python_values(values: Any) -> list[Any] | None:
    """Return the values of an Arrow array as Python objects, or None if Python cannot represent one of them.

    Such values are bytes that are not valid text, dates out of range, and invalid dictionary indices. The error messages of
    Arrow and of codecs would quote them.
    """
    try:
        converted: list[Any] = values.to_pylist()
    except (
        ArithmeticError,
        LookupError,
        NotImplementedError,
        TypeError,
        ValueError,
    ):  # also those of Arrow and of codecs
        return None
    return converted


def arrow_buffers(values: Any) -> tuple[Any, Any]:
    """Return the buffers of values and of validity of an Arrow array; the second is None if no value is missing."""
    buffers = values.buffers()
    data = buffers[1] if buffers[1] is not None else b""
    return data, buffers[0] if values.null_count else None


def _joined(column: Any) -> Any:
    """Return a chunked Arrow array as one array."""
    pa = optional("pyarrow", "files")
    if column.num_chunks == 1:
        return column.chunk(0)
    joined = column.unify_dictionaries().combine_chunks()
    return pa.concat_arrays(joined.chunks) if isinstance(joined, pa.ChunkedArray) else joined


def _stream(frame: Any, names: Sequence[str]) -> Iterator[Piece]:
    pa = optional("pyarrow", "files")
    try:
        if isinstance(frame, pa.Table):
            schema, batches = frame.schema, None
        elif hasattr(frame, "__arrow_c_stream__"):
            is_reader = isinstance(frame, pa.RecordBatchReader)
            batches = frame if is_reader else pa.RecordBatchReader.from_stream(frame)
            schema = batches.schema
        else:
            batches = iter([pa.record_batch(frame)])
            schema = pa.record_batch(frame).schema
    except (pa.ArrowException, TypeError, ValueError):
        raise TypeError(f"frame must export a table with named columns, got {type(frame).__name__}") from None
    require_columns(names, schema.names)
    if batches is None:
        batches = frame.select(names).to_batches()
    start = 0
    waiting = 0
    kept = []

    def piece(table: Any, first: int) -> Piece:
        return Piece(first, table.num_rows, {name: _joined(table.column(name)) for name in names})

    for batch in batches:
        kept.append(batch.select(names))
        waiting += batch.num_rows
        if waiting < PIECE_ROWS:
            continue
        # A block that two batches share is put together; the rest of a batch is not copied.
        table = pa.Table.from_batches(kept)
        at, whole = 0, waiting // ROWS * ROWS
        for stop in _cuts([part.num_rows for part in kept], whole):
            yield piece(table.slice(at, stop - at), start + at)
            at = stop
        kept = table.slice(whole).to_batches()
        start = start + whole
        waiting = waiting - whole
    if waiting:
        yield piece(pa.Table.from_batches(kept), start)


def _cuts(lengths: list[int], whole: int) -> list[int]:
    """Return where to cut batches: at the multiples of `ROWS` around their borders, or only at the end of small ones."""
    if sum(lengths) < 4 * ROWS * len(lengths):
        return [whole]
    borders = np.cumsum(lengths)
    cuts = {int(border) // ROWS * ROWS for border in borders} | {-(-int(border) // ROWS) * ROWS for border in borders}
    return sorted({cut for cut in cuts if 0 < cut < whole} | {whole})
