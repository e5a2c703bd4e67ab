"""Private estimate from one column of a file of any length, read in chunks.

CSV and Parquet files are read by pyarrow, .npy files through a memory map. The memory use does not depend on the length
of the file. Error messages name the column and the position of the first invalid record, never its value.
"""

from __future__ import annotations

import csv
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from ._extras import optional
from .mechanisms import Mechanism
from .results import Estimate

if TYPE_CHECKING:
    from ._typing import RNGLike

BLOCK_BYTES = 1 << 22  # bytes of a CSV file that are parsed at a time; a longer record raises
CHUNK_ROWS = 1 << 17


# Columns of files -----------------------------------------------------------------------------------------------------


class Column(ABC):
    """One column of a file, read in chunks and converted to numbers or to codes of declared categories."""

    def __init__(self, path: Path, name: str | None) -> None:
        self.path = path
        self.name = name

    @abstractmethod
    def chunks(self) -> Iterator[tuple[Any, float]]:
        """Yield the values of each chunk and the fraction of the file that has been read."""

    @abstractmethod
    def numbers(self, values: Any, start: int) -> NDArray[Any]:
        """Convert a chunk to real numbers. `start` is the index of its first record."""

    @abstractmethod
    def codes(self, values: Any, categories: Sequence[str], start: int) -> NDArray[Any]:
        """Convert a chunk to indices of the categories. `start` is the index of its first record."""

    def place(self, index: int) -> str:
        """Return the position of a record, for error messages."""
        return f"index {index}"

    def invalid_error(self, index: int, rule: str, fault: str) -> ValueError:
        """Return the error for a record that violates a rule."""
        return ValueError(f"{self.subject} must {rule}; {self.place(index)} of {self.path} {fault}")

    def undeclared(self, index: int) -> ValueError:
        """Return the error for a record outside of the declared categories."""
        return self.invalid_error(index, "hold the declared categories only", "holds another")

    def unreadable(self, kind: str, fault: str = "it is damaged, truncated or of another format") -> ValueError:
        """Return the error for a file that cannot be read."""
        return ValueError(f"{self.path} must be a readable {kind} file: {fault}")

    @property
    def subject(self) -> str:
        """Name of the column, for error messages."""
        return "the array" if self.name is None else f"column {self.name!r}"

    def _require(self, names: Sequence[str]) -> None:
        """Raise ValueError unless the name occurs exactly once.

        The message does not list the other names: in a file without a header they are a record.
        """
        if self.name is None:
            raise ValueError(f"column must name a column of {self.path}, got none")
        if names.count(self.name) != 1:
            fault = "not found" if self.name not in names else "found more than once"
            raise ValueError(f"column must name one column of {self.path}, got {self.name!r}: {fault}")


class ArrowColumn(Column):
    """Column of a CSV or Parquet file; its chunks are Arrow arrays."""

    def codes(self, values: Any, categories: Sequence[str], start: int) -> NDArray[Any]:
        pa, pc = optional("pyarrow", "files"), optional("pyarrow.compute", "files")
        self._require_values(values, start)
        try:
            texts = self._trim(values.cast(pa.string()))
        except pa.ArrowNotImplementedError:
            raise TypeError(f"{self.subject} must hold categories, got type {values.type}") from None
        codes = pc.index_in(texts, value_set=pa.array(categories, pa.string()))
        if codes.null_count:
            position = pc.index(codes.is_null(), True).as_py()
            raise self.undeclared(start + position) if texts[position].as_py() else self._missing(start + position)
        found: NDArray[Any] = codes.to_numpy()
        return found

    def _require_values(self, values: Any, start: int) -> None:
        """Raise ValueError if a value is missing."""
        if values.null_count:
            position = optional("pyarrow.compute", "files").index(values.is_null(), True).as_py()
            raise self._missing(start + position)

    def _missing(self, index: int) -> ValueError:
        """Return the error for a record without a value."""
        return self.invalid_error(index, "have a value in every record", "has none")

    def _trim(self, texts: Any) -> Any:
        """Strip blanks around texts. Line ends are kept, because they indicate a truncated quotation."""
        return optional("pyarrow.compute", "files").utf8_trim(texts, characters=" \t")


class CsvColumn(ArrowColumn):
    """Column of a CSV file, read as text and converted here so that error messages can name the line."""

    def chunks(self) -> Iterator[tuple[Any, float]]:
        pa, reader = optional("pyarrow", "files"), optional("pyarrow.csv", "files")
        _, header = next(self._records(), (1, []))
        self._require(header)
        size = self.path.stat().st_size
        with QuoteCount(self.path.open("rb")) as file:
            try:
                batches = reader.open_csv(
                    pa.PythonFile(file, mode="r"),
                    read_options=reader.ReadOptions(block_size=BLOCK_BYTES, use_threads=False),
                    parse_options=reader.ParseOptions(newlines_in_values=True),
                    convert_options=reader.ConvertOptions(
                        include_columns=[self.name], column_types={self.name: pa.string()}
                    ),
                )
                for batch in batches:
                    yield batch.column(0), file.tell() / size
            except pa.ArrowInvalid:  # its message may quote the record
                raise self.unreadable("CSV", self._fault(header)) from None
            if file.quotes % 2:  # an open quotation may hide the records after it
                for _ in self._records():
                    pass

    def numbers(self, values: Any, start: int) -> NDArray[Any]:
        pa = optional("pyarrow", "files")
        texts = self._trim(values)
        try:
            numbers: NDArray[Any] = texts.cast(pa.float64()).to_numpy()
        except pa.ArrowInvalid:  # its message quotes the record
            position = next(i for i, text in enumerate(texts) if not self._numeric(text))
        else:
            return numbers
        if not texts[position].as_py():
            raise self._missing(start + position)
        raise self.invalid_error(start + position, "hold numbers", "holds text")

    def _numeric(self, text: Any) -> bool:
        pa = optional("pyarrow", "files")
        try:
            text.cast(pa.float64())
        except pa.ArrowInvalid:
            return False
        return True

    def place(self, index: int) -> str:
        """Return the line on which a record starts.

        The file is read again, only for an error message.
        """
        for count, (line, _) in enumerate(self._records()):
            if count == index + 1:  # after the header
                return f"line {line}"
        return super().place(index)

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the first line and the fields of each record, including the header. Blank lines are skipped."""
        line = 1
        with self.path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
            reader = csv.reader(file, strict=True)
            try:
                for row in reader:
                    if row:
                        yield line, row
                    line = reader.line_num + 1
            except csv.Error as error:  # an open quotation, or a very long field
                raise self.unreadable("CSV", f"{error}, in the record on line {line}") from None

    def _fault(self, header: list[str]) -> str:
        """Return the reason why pyarrow could not read the file."""
        records = 0
        for line, row in self._records():
            if len(row) != len(header):
                return f"line {line} has {len(row)} fields, the header has {len(header)}"
            if any("\N{REPLACEMENT CHARACTER}" in field for field in row):
                return f"line {line} is not UTF-8"
            records += 1
        return f"it has a record of more than {BLOCK_BYTES} bytes" if records > 1 else "it has no records"


class QuoteCount:
    """File that counts the quotation marks read; an odd number indicates a truncated file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.quotes = 0
        self.closed = False

    def read(self, n: int = -1) -> bytes:
        data = self._file.read(n)
        self.quotes += data.count(b'"')
        return data

    def tell(self) -> int:
        return self._file.tell()

    def close(self) -> None:
        self._file.close()
        self.closed = True

    def __enter__(self) -> QuoteCount:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class ParquetColumn(ArrowColumn):
    """Column of a Parquet file."""

    def chunks(self) -> Iterator[tuple[Any, float]]:
        pa, parquet = optional("pyarrow", "files"), optional("pyarrow.parquet", "files")
        with self.path.open("rb"):  # raises the error of the operating system if the file cannot be opened
            pass
        try:
            with parquet.ParquetFile(self.path, buffer_size=BLOCK_BYTES, pre_buffer=False) as file:
                self._require(file.schema_arrow.names)
                read = 0
                for batch in file.iter_batches(CHUNK_ROWS, columns=[self.name], use_threads=False):
                    read += batch.num_rows
                    yield batch.column(0), read / file.metadata.num_rows
        except (pa.ArrowException, OSError):
            raise self.unreadable("Parquet") from None

    def numbers(self, values: Any, start: int) -> NDArray[Any]:
        pa = optional("pyarrow", "files")
        kind = values.type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
            raise TypeError(f"{self.subject} must hold numbers, got type {kind}")
        self._require_values(values, start)
        floats = values if pa.types.is_floating(kind) else values.cast(pa.float64(), safe=False)
        numbers: NDArray[Any] = floats.to_numpy()
        return numbers


class NpyColumn(Column):
    """1-D array, field of a structured array, or column of a 2-D array selected by its number."""

    def chunks(self) -> Iterator[tuple[Any, float]]:
        try:
            array = np.load(self.path, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError):
            raise self.unreadable(".npy") from None
        if not isinstance(array, np.ndarray):  # an archive of several arrays
            array.close()
            raise self.unreadable(".npy")
        values = self._column(array)
        for start in range(0, len(values), CHUNK_ROWS):
            chunk = values[start : start + CHUNK_ROWS]
            yield chunk, (start + len(chunk)) / len(values)

    def _column(self, array: NDArray[Any]) -> NDArray[Any]:
        if array.dtype.names is not None:
            self._require(array.dtype.names)
            array = array[self.name]
        elif array.ndim == 2:
            self._require([str(number) for number in range(array.shape[1])])
            array = array[:, int(self.name or 0)]
        elif self.name is not None:
            raise ValueError(f"column must be left out for an array of shape {array.shape}, got {self.name!r}")
        if array.ndim != 1:
            raise ValueError(f"{self.path} must hold one number per record, got shape {array.shape}")
        return array

    def numbers(self, values: Any, start: int) -> NDArray[Any]:
        if values.dtype.kind not in "iuf":
            raise TypeError(f"{self.subject} must hold numbers, got dtype {values.dtype}")
        numbers: NDArray[Any] = values
        return numbers

    def codes(self, values: Any, categories: Sequence[str], start: int) -> NDArray[Any]:
        if values.dtype.kind not in "iufbU":
            raise TypeError(f"{self.subject} must hold categories, got dtype {values.dtype}")
        code = {category: number for number, category in enumerate(categories)}
        different, inverse = np.unique(values, return_inverse=True)
        found = np.array([code.get(str(value).strip(), -1) for value in different.tolist()], np.int64)[inverse]
        if (found < 0).any():
            raise self.undeclared(start + int(np.argmax(found < 0)))
        return found


KINDS: dict[str, type[Column]] = {".csv": CsvColumn, ".parquet": ParquetColumn, ".npy": NpyColumn}


def estimate_column(
    path: str | Path,
    column: str | None,
    mechanism: Mechanism,
    *,
    categories: Sequence[str] | None = None,
    clip: bool = False,
    rng: RNGLike = None,
    progress: Callable[[float], None] | None = None,
) -> Estimate[Any]:
    """Privatize every record of a column and estimate from the reports.

    Parameters
    ----------
    path : str or Path
        A .csv, .parquet or .npy file; the suffix determines the format. A CSV file has a header, commas as separators,
        and UTF-8 encoding; blank lines and blanks around a value are ignored.
    column : str or None
        Name of the column; for a 2-D .npy array its number, from 0; for a 1-D array ``None``.
    mechanism : Mechanism
        Mechanism for numbers in an interval, or for as many categories as are declared.
    categories : sequence of str, optional
        The declared categories, spelled as in the file. Without them, the column is numeric.
    clip : bool, default False
        As in `Mechanism.privatize`, for numeric columns only.
    rng : None, int, SeedSequence, Generator or BitGenerator
        ``None`` draws fresh keys from the operating system. Anything else makes the reports reproducible, hence not
        private: for simulation and tests only.
    progress : callable, optional
        Function called after each chunk with the fraction of the file that has been read.

    Returns
    -------
    estimate : Estimate

    Raises
    ------
    TypeError, ValueError
        If the file is damaged or of another format; if the column is missing or of a wrong type; if a value is missing,
        is text in a numeric column, or is outside of the domain; if there are no records. The message names the line
        (CSV) or the index, never the value.
    OSError, ImportError
        If the file cannot be opened; if pyarrow is not installed (extra "files").

    Privacy
    -------
    The estimate is a function of reports that are epsilon-LDP each. An error caused by the data is outside that
    guarantee. `clip` avoids it for numbers that are out of range or NaN, but not for text or missing values.

    Notes
    -----
    The file is read once, in constant memory. After an error, a CSV file is read again to find the line.
    """
    path = Path(path)
    if path.suffix.lower() not in KINDS:
        raise ValueError(f"path must end in one of {', '.join(KINDS)}, got {str(path)!r}")
    if path.exists() and not path.is_file():
        raise ValueError(f"path must be a regular file, got {str(path)!r}")
    mechanism.domain.check_clip(clip)
    source = KINDS[path.suffix.lower()](path, column)
    generator = (
        None if rng is None else np.random.default_rng(cast(Any, rng))
    )  # an int would give each chunk the same key
    aggregator = mechanism.aggregator()
    for values, done in source.chunks():
        start = aggregator.n
        records = source.numbers(values, start) if categories is None else source.codes(values, categories, start)
        try:
            reports = mechanism.privatize(records, rng=generator, clip=clip)
        except ValueError:
            outside = np.flatnonzero(mechanism.domain.invalid(records))
            if not len(outside):
                raise
            raise source.invalid_error(
                start + int(outside[0]), f"hold {mechanism.domain.describe()}", "is outside"
            ) from None
        aggregator.update(reports)
        if progress is not None:
            progress(done)
    return aggregator.estimate()
