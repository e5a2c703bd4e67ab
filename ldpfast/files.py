"""Tables in files of any length, read in chunks, for surveys.

CSV, JSON Lines, Parquet and Feather files and .npy arrays. Parquet, Feather and CSV files are read by pyarrow. The memory use
does not depend on the length of a file. Error messages name the column and the position of a record, never its value.
"""

from __future__ import annotations

import csv
import filecmp
import gzip
import hashlib
import io
import json
import os
import sys
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tokenize import TokenError
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from . import _check
from ._extras import optional
from ._frames import arrow_array
from .survey import Coded, ColumnQuestion, Piece, Source

__all__ = ["FileTable"]

BLOCK_BYTES = 1 << 22  # bytes of a CSV file that are parsed at a time; a longer record raises
CHUNK_ROWS = 1 << 17
MISSING = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "None")  # texts of missing values, unless they are labels
BLANKS = " \t"  # ignored around a text; line ends are kept, because they indicate a truncated quotation
STDIN = "-"
SAMPLE_BYTES = 1 << 12  # at each end of a file, compared before all bytes are
MAX_CODE = 0x10FFFF  # of Unicode
DAMAGED = (EOFError, OSError, zlib.error)  # errors of compressed files


# Files ----------------------------------------------------------------------------------------------------------------


class TableFile(ABC):
    """Some columns of a file, read in chunks and converted to numbers or to symbols of declared categories."""

    def __init__(self, path: Path, names: Sequence[str]) -> None:
        self.path = path
        self.names = list(names)

    @abstractmethod
    def chunks(self) -> Iterator[tuple[list[Any], int, float]]:
        """Yield the columns of each chunk, its number of records, and the fraction of the file that has been read."""

    @abstractmethod
    def numbers(self, name: str, values: Any, start: int) -> NDArray[Any]:
        """Convert a column of a chunk to real numbers, NaN for missing ones. `start` is the index of its first record."""

    @abstractmethod
    def texts(self, name: str, values: Any, start: int) -> Any:
        """Convert a column of a chunk to an Arrow array of texts as they are in the file, null for values that are no text."""

    def codes(self, name: str, values: Any, categories: Sequence[Sequence[str]], start: int) -> NDArray[np.int32]:
        """Convert a column of a chunk to positions in `categories`, -1 for missing values.

        Every category has one or more spellings. A text is compared with them as it is, then without `BLANKS` around it. Only
        a text that is not a spelling can be missing.
        """
        pa, pc = optional("pyarrow", "files"), optional("pyarrow.compute", "files")
        spellings = [(text, code) for code, texts in enumerate(categories) for text in texts]
        declared = pa.array([text for text, _ in spellings], pa.string())
        table = np.array([code for _, code in spellings], np.int32)

        def positions(texts: Any) -> NDArray[np.int32]:
            places = pc.index_in(texts, value_set=declared).fill_null(-1).to_numpy(zero_copy_only=False)
            return np.where(places >= 0, table[places], -1).astype(np.int32)

        texts = self.texts(name, values, start)
        codes = positions(texts)
        others = np.flatnonzero(codes < 0)
        if len(others):
            texts = trimmed(texts.take(pa.array(others)))
            codes[others] = positions(texts)
            wrong = np.flatnonzero((codes[others] < 0) & ~missing(texts))
            if len(wrong):
                index = start + int(others[wrong[0]])
                raise self.invalid_error(name, index, "hold the declared categories only", "holds another")
        return codes

    @abstractmethod
    def plain(self, name: str, values: Any) -> Any:
        """Convert a column of a chunk that no question asks for to an Arrow array of its values."""

    def place(self, index: int) -> str:
        """Return the position of a record, for error messages."""
        return f"record {index + 1} of {self.path}"

    def invalid_error(self, name: str, index: int, rule: str, fault: str) -> ValueError:
        """Return the error for a record that violates a rule."""
        return ValueError(f"{self.subject(name)} must {rule}; {self.place(index)} {fault}")

    def unreadable(self, kind: str, fault: str = "it is damaged, truncated or of another format") -> ValueError:
        """Return the error for a file that cannot be read."""
        return ValueError(f"{self.path} must be a readable {kind} file: {fault}")

    def strings(self, kind: str, texts: list[str | None]) -> Any:
        """Return texts as an Arrow array; the message of Arrow would quote the record."""
        pa = optional("pyarrow", "files")
        try:
            return pa.array(texts, pa.string())
        except UnicodeEncodeError:
            raise self.unreadable(kind, "it has text that is not Unicode") from None

    def subject(self, name: str) -> str:
        """Return how error messages call a column."""
        return f"column {name!r}"

    def _require(self, existing: Sequence[str], header: bool = True) -> None:
        """Raise ValueError unless every name occurs exactly once.

        The columns are listed only if they are names for certain: in a CSV file without a header they are a record.
        """
        for name in self.names:
            if list(existing).count(name) != 1:
                fault = "not found" if name not in existing else "found more than once"
                listed = f"; its columns are {', '.join(map(repr, list(existing)[:50]))}" if header else ""
                raise ValueError(f"column must name one column of {self.path}, got {name!r}: {fault}{listed}")


def trimmed(texts: Any) -> Any:
    """Return texts without `BLANKS` around them."""
    return optional("pyarrow.compute", "files").utf8_trim(texts, characters=BLANKS)


def missing(texts: Any) -> NDArray[np.bool_]:
    """Return which trimmed texts stand for a missing value, in every format: null and those of `MISSING`."""
    pa, pc = optional("pyarrow", "files"), optional("pyarrow.compute", "files")
    found = pc.is_in(texts.fill_null(""), value_set=pa.array(MISSING, pa.string()))
    return np.asarray(found.to_numpy(zero_copy_only=False), np.bool_)


class ArrowFile(TableFile):
    """Columns that are Arrow arrays."""

    def numbers(self, name: str, values: Any, start: int) -> NDArray[Any]:
        pa = optional("pyarrow", "files")
        kind = values.type
        if pa.types.is_null(kind):
            return np.full(len(values), np.nan)
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
            raise TypeError(f"{self.subject(name)} must hold numbers, got type {kind}")
        floats = values if pa.types.is_floating(kind) else values.cast(pa.float64(), safe=False)
        numbers: NDArray[Any] = floats.to_numpy(zero_copy_only=False)
        return numbers

    def texts(self, name: str, values: Any, start: int) -> Any:
        pa, pc = optional("pyarrow", "files"), optional("pyarrow.compute", "files")
        try:
            if pa.types.is_floating(values.type):  # NaN is no text
                values = pc.if_else(pc.is_nan(values), None, values)
            return values.cast(pa.string())
        except pa.ArrowNotImplementedError:
            raise TypeError(f"{self.subject(name)} must hold categories, got type {values.type}") from None

    def plain(self, name: str, values: Any) -> Any:
        pa = optional("pyarrow", "files")
        try:
            return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
        except pa.ArrowException:  # an index outside of the dictionary; the message may quote a value
            raise TypeError(f"{self.subject(name)} must hold valid values, got type {values.type}") from None


class CsvFile(ArrowFile):
    """Columns of a CSV file, read as text and converted here so that error messages can name the line.

    The file can be compressed (.gz), or the standard input.
    """

    def chunks(self) -> Iterator[tuple[list[Any], int, float]]:
        pa, reader = optional("pyarrow", "files"), optional("pyarrow.csv", "files")
        with ExitStack() as stack:
            raw, stream = self._open(stack)
            size = self.path.stat().st_size if raw is not None else 0
            file = QuoteCount(stream)
            header = self._header(file)
            self._require(header, header=False)
            try:
                batches = reader.open_csv(
                    pa.PythonFile(file, mode="r"),
                    read_options=reader.ReadOptions(block_size=BLOCK_BYTES, use_threads=False),
                    parse_options=reader.ParseOptions(newlines_in_values=True),
                    convert_options=reader.ConvertOptions(
                        include_columns=self.names, column_types=dict.fromkeys(self.names, pa.string())
                    ),
                )
                for batch in batches:
                    yield batch.columns, batch.num_rows, raw.tell() / size if raw is not None else 0.0
            except (pa.ArrowInvalid, *DAMAGED):  # a message may quote the record
                raise self.unreadable("CSV", self._fault(header)) from None
            if file.quotes % 2:  # an open quotation may hide the records after it
                for _ in self._records():
                    pass

    def _open(self, stack: ExitStack) -> tuple[BinaryIO | None, Any]:
        """Return the file on disk, None for the standard input, and the stream of its text."""
        if str(self.path) == STDIN:
            if sys.stdin is None:
                raise self.unreadable("CSV", "the standard input is closed")
            return None, sys.stdin.buffer
        raw = stack.enter_context(self.path.open("rb"))
        return raw, (stack.enter_context(gzip.GzipFile(fileobj=raw)) if self.path.suffix.lower() == ".gz" else raw)

    def _header(self, file: QuoteCount) -> list[str]:
        """Return the names in the first record, which stays to be read."""
        try:
            start = file.peek(BLOCK_BYTES).decode("utf-8-sig", errors="replace")
        except DAMAGED:
            raise self.unreadable("CSV") from None
        lines = csv.reader(io.StringIO(start, newline=""))
        return next((row for row in lines if row), [])

    def numbers(self, name: str, values: Any, start: int) -> NDArray[Any]:
        pa = optional("pyarrow", "files")
        texts = trimmed(values)
        numbers = self._cast(texts)
        if numbers is not None and not np.isnan(numbers).any():
            return numbers
        texts = texts.filter(pa.array(given := ~missing(texts)))
        others = self._cast(texts)
        if others is None or np.isnan(others).any():
            casts = (self._cast(texts[i : i + 1]) for i in range(len(texts)))
            position = next(i for i, cast in enumerate(casts) if cast is None or np.isnan(cast[0]))
            index = start + int(np.flatnonzero(given)[position])
            raise self.invalid_error(name, index, "hold numbers", "holds text")
        numbers = np.full(len(given), np.nan)
        numbers[given] = others
        return numbers

    def _cast(self, texts: Any) -> NDArray[np.float64] | None:
        """Return texts as numbers; None if one is no number. Arrow reads every spelling of "nan" as NaN."""
        pa = optional("pyarrow", "files")
        try:
            numbers: NDArray[np.float64] = texts.cast(pa.float64()).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:  # its message quotes the record
            return None
        return numbers

    def plain(self, name: str, values: Any) -> Any:
        """Return the texts of a column, null for empty cells only."""
        pc = optional("pyarrow.compute", "files")
        texts = trimmed(values)
        return pc.if_else(pc.equal(texts, ""), None, texts)

    def place(self, index: int) -> str:
        """Return the line on which a record starts. The file is read again, only for an error message."""
        if str(self.path) != STDIN:
            for count, (line, _) in enumerate(self._records()):
                if count == index + 1:  # after the header
                    return f"line {line} of {self.path}"
        return super().place(index)

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the first line and the fields of each record, including the header. Blank lines are skipped."""
        if str(self.path) == STDIN:
            raise self.unreadable("CSV", "it is damaged, or ends in an open quotation")
        line = 1
        with ExitStack() as stack:
            stream = self._open(stack)[1]
            file = stack.enter_context(io.TextIOWrapper(stream, "utf-8-sig", errors="replace", newline=""))
            reader = csv.reader(file, strict=True)
            try:
                for row in reader:
                    if row:
                        yield line, row
                    line = reader.line_num + 1
            except csv.Error as error:  # an open quotation, or a very long field
                raise self.unreadable("CSV", f"{error}, in the record on line {line}") from None
            except DAMAGED:
                raise self.unreadable("CSV", "the compressed data are damaged or truncated") from None

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

    def __init__(self, file: Any) -> None:
        self._file = file
        self._ahead = b""
        self.quotes = 0
        self.closed = False

    def peek(self, n: int) -> bytes:
        """Return the next n bytes, which stay to be read."""
        while len(self._ahead) < n:
            more = self._file.read(n - len(self._ahead))
            if not more:
                break
            self._ahead += more
        return self._ahead

    def read(self, n: int = -1) -> bytes:
        if self._ahead:
            size = len(self._ahead) if n < 0 else n
            data, self._ahead = self._ahead[:size], self._ahead[size:]
        else:
            data = self._file.read(n)
        self.quotes += data.count(b'"')
        return bytes(data)

    def close(self) -> None:
        self.closed = True


# Numbers that Python writes, but JSON does not have.
CONSTANTS = {"NaN": None, "Infinity": float("inf"), "-Infinity": -float("inf")}


class JsonLinesFile(TableFile):
    """Keys of a file with one JSON object per line."""

    def chunks(self) -> Iterator[tuple[list[Any], int, float]]:
        size, seen = max(1, self.path.stat().st_size), False
        with self.path.open("rb") as file:
            rows: list[Any] = []
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    row = json.loads(line, parse_constant=CONSTANTS.__getitem__)
                except (RecursionError, ValueError):
                    row = None
                if not isinstance(row, dict):
                    raise self.unreadable("JSON Lines", f"line {number} is not a JSON object")
                if not seen:
                    self._require(list(row))
                    seen = True
                rows.append([row.get(name) for name in self.names])
                if len(rows) == CHUNK_ROWS:
                    yield self._columns(rows), len(rows), file.tell() / size
                    rows = []
            if rows:
                yield self._columns(rows), len(rows), 1.0

    def _columns(self, rows: list[Any]) -> list[Any]:
        return [list(column) for column in zip(*rows, strict=True)] if self.names else []

    def numbers(self, name: str, values: Any, start: int) -> NDArray[Any]:
        found, wrong = np.full(len(values), np.nan), np.zeros(len(values), np.bool_)
        others = []
        for i, value in enumerate(values):
            if isinstance(value, int | float) and not isinstance(value, bool):
                found[i] = float(value) if abs(value) < 1e300 else np.inf * (1 if value > 0 else -1)
            elif isinstance(value, str):
                others.append(i)
            elif value is not None:
                wrong[i] = True
        if others:
            wrong[others] = ~missing(trimmed(self.strings("JSON Lines", [values[i] for i in others])))
        if wrong.any():
            raise self.invalid_error(name, start + int(wrong.argmax()), "hold numbers", "holds another value")
        return found

    def texts(self, name: str, values: Any, start: int) -> Any:
        texts: list[str | None] = []
        for i, value in enumerate(values):
            if isinstance(value, list | dict):
                raise self.invalid_error(name, start + i, "hold categories", "holds another value")
            plain = value is None or isinstance(value, str)
            texts.append(value if plain else json.dumps(value) if isinstance(value, bool) else str(value))
        return self.strings("JSON Lines", texts)

    def plain(self, name: str, values: Any) -> Any:
        return arrow_array(name, values)


class ParquetFile(ArrowFile):
    """Columns of a Parquet file."""

    def chunks(self) -> Iterator[tuple[list[Any], int, float]]:
        pa, parquet = optional("pyarrow", "files"), optional("pyarrow.parquet", "files")
        with self.path.open("rb") as raw:
            try:
                with parquet.ParquetFile(raw, buffer_size=BLOCK_BYTES, pre_buffer=False) as file:
                    self._require(file.schema_arrow.names)
                    read = 0
                    for batch in file.iter_batches(CHUNK_ROWS, columns=self.names, use_threads=False):
                        read += batch.num_rows
                        columns = [batch.column(name) for name in self.names]
                        yield columns, batch.num_rows, read / file.metadata.num_rows
            except (pa.ArrowException, OSError):
                raise self.unreadable("Parquet") from None


class FeatherFile(ArrowFile):
    """Columns of a Feather file, which is an Arrow file."""

    def chunks(self) -> Iterator[tuple[list[Any], int, float]]:
        pa, ipc = optional("pyarrow", "files"), optional("pyarrow.ipc", "files")
        with self.path.open("rb") as raw:
            try:
                with ipc.open_file(raw) as file:
                    self._require(file.schema.names)
                    for i in range(file.num_record_batches):
                        batch = file.get_batch(i)
                        columns = [batch.column(name) for name in self.names]
                        for column in columns:  # Arrow trusts the positions in a file and would read beyond its buffers
                            column.validate(full=True)
                        yield columns, batch.num_rows, (i + 1) / file.num_record_batches
            except (pa.ArrowException, OSError):
                raise self.unreadable("Feather") from None


class NpyFile(TableFile):
    """1-D array, fields of a structured array, or columns of a 2-D array selected by their numbers."""

    def chunks(self) -> Iterator[tuple[list[Any], int, float]]:
        try:
            array = np.load(self.path, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError, SyntaxError, TokenError):  # the last two from its header
            raise self.unreadable(".npy") from None
        if not isinstance(array, np.ndarray):  # an archive of several arrays
            array.close()
            raise self.unreadable(".npy")
        columns = self._columns(array)
        for start in range(0, len(array), CHUNK_ROWS):
            chunk = [column[start : start + CHUNK_ROWS] for column in columns]
            rows = min(CHUNK_ROWS, len(array) - start)
            yield chunk, rows, (start + rows) / len(array)

    def _columns(self, array: NDArray[Any]) -> list[NDArray[Any]]:
        if array.dtype.names is not None and array.ndim == 1:
            self._require(array.dtype.names)
            return [array[name] for name in self.names]
        if array.ndim == 2:
            self._require([str(number) for number in range(array.shape[1])])
            return [array[:, int(name)] for name in self.names]
        if array.ndim != 1:
            raise ValueError(f"{self.path} must hold one record per row, got shape {array.shape}")
        if self.names != [self.path.name]:
            names = ", ".join(map(repr, self.names))
            raise ValueError(f"column must be left out for an array of shape {array.shape}, got {names}")
        return [array]

    def subject(self, name: str) -> str:
        return "the array" if name == self.path.name else super().subject(name)

    def numbers(self, name: str, values: Any, start: int) -> NDArray[Any]:
        if values.dtype.kind not in "iuf" or values.dtype.itemsize > 8:
            raise TypeError(f"{self.subject(name)} must hold numbers, got dtype {values.dtype}")
        numbers: NDArray[Any] = values
        return numbers

    def texts(self, name: str, values: Any, start: int) -> Any:
        if values.dtype.kind not in "iufbU":
            raise TypeError(f"{self.subject(name)} must hold categories, got dtype {values.dtype}")
        pa = optional("pyarrow", "files")
        if values.dtype.kind == "U" and (_code_points(values) > MAX_CODE).any():
            raise self.unreadable(".npy", "it has text that is not Unicode")
        different, inverse = np.unique(values, return_inverse=True)
        texts = [None if value != value else str(value) for value in different.tolist()]
        return self.strings(".npy", texts).take(pa.array(inverse))

    def plain(self, name: str, values: Any) -> Any:
        if values.dtype.kind == "U":
            return self.texts(name, values, 0)
        if values.dtype.kind not in "iufb":
            raise TypeError(f"{self.subject(name)} must hold numbers or texts, got dtype {values.dtype}")
        return arrow_array(name, _check.laid_out(values, values.dtype.newbyteorder("=")))


def _code_points(texts: NDArray[Any]) -> NDArray[Any]:
    """Return the code points of texts of a fixed length."""
    words = np.dtype(np.uint32).newbyteorder(texts.dtype.byteorder)
    return np.ascontiguousarray(texts).view(words)


KINDS: dict[str, type[TableFile]] = {
    ".csv": CsvFile,
    ".csv.gz": CsvFile,
    ".jsonl": JsonLinesFile,
    ".ndjson": JsonLinesFile,
    ".parquet": ParquetFile,
    ".feather": FeatherFile,
    ".arrow": FeatherFile,
    ".npy": NpyFile,
}


def open_table(path: str | Path, names: Sequence[str]) -> TableFile:
    """Return some columns of a file; its suffix determines the format, and "-" is a CSV file on the standard input.

    Raises
    ------
    ValueError
        If the suffix is not known, or the path is that of a directory.
    """
    if str(path) == STDIN:
        return CsvFile(Path(STDIN), names)
    path = Path(path)
    kind = next((suffix for suffix in KINDS if path.name.lower().endswith(suffix)), None)
    if kind is None:
        raise ValueError(f"path must end in one of {', '.join(KINDS)}, or be -, got {str(path)!r}")
    require_regular(path)
    return KINDS[kind](path, names)


def require_regular(path: Path) -> None:
    """Raise ValueError if a path names a directory, a device or a pipe, which may wait forever for a writer."""
    if path.exists() and not path.is_file():
        raise ValueError(f"path must be a regular file, got {str(path)!r}")


def status_of(path: str | Path) -> os.stat_result | None:
    """Return the status of a file, or of the standard input for "-"; None if there is no such file."""
    try:
        return os.fstat(sys.stdin.fileno()) if str(path) == STDIN else os.stat(path)
    except (AttributeError, FileNotFoundError, io.UnsupportedOperation):  # the standard input may be closed, or no file
        return None


def duplicates(paths: Sequence[str | Path]) -> Iterator[tuple[str | Path, str | Path, bool]]:
    """Yield each file that is there before, the name that it had, and whether it is the same file and not a copy.

    Files of one size whose ends are equal are compared byte by byte.
    """
    names: dict[tuple[int, int], str | Path] = {}
    alike: dict[tuple[int, bytes], list[str | Path]] = {}
    for path in paths:
        status = status_of(path)
        if status is None:
            continue
        identity = status.st_dev, status.st_ino
        if identity in names:
            yield path, names[identity], True
            continue
        names[identity] = path
        if str(path) == STDIN:
            continue
        others = alike.setdefault((status.st_size, _ends(Path(path), status.st_size)), [])
        for other in others:
            if filecmp.cmp(path, other, shallow=False):
                yield path, other, False
                break
        others.append(path)


def _ends(path: Path, size: int) -> bytes:
    """Return the hash of the first and last bytes of a file."""
    with path.open("rb") as file:
        first = file.read(SAMPLE_BYTES)
        file.seek(max(0, size - SAMPLE_BYTES))
        return hashlib.sha256(first + file.read(SAMPLE_BYTES)).digest()


# Surveys of files -----------------------------------------------------------------------------------------------------


class FileTable(Source):
    """The rows of one or more files, as a table for `Survey.run` and `Survey.privatize`.

    Texts are compared with the labels of a question as they are printed; for yes-or-no questions "yes" and "no", "true" and
    "false", 1 and 0 are accepted. Blanks around a text are ignored, unless a label has them. In every format, a value is
    missing if it is null, NaN, or one of the texts "", "NA", "N/A", "NaN", "nan", "NULL", "null" and "None" in exactly this
    spelling. A declared label is never missing.

    Columns that no question asks for, but that `by` or `PersonKeys` name, are read as they are stored. From CSV files they are
    texts, so that the person 17 is "17" there.

    Parameters
    ----------
    paths : sequence of str or Path
        Files with a suffix of `KINDS`, or "-" for a CSV file on the standard input.
    questions : mapping of str to ColumnQuestion
        The questions that the columns answer. A survey whose questions have other labels refuses the table.
    progress : callable, optional
        Function called after each chunk with the fraction of the files that has been read.

    Raises
    ------
    TypeError
        If `paths` is a single path.
    ValueError
        If there is no file; if a file is given twice, by a link, or as a copy of the same bytes that has records; if the suffix
        of one is not known, or it is no regular file; if a column answers questions of two kinds; if the labels of a question
        are equal when they are printed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ldpfast.files import FileTable
    >>> from ldpfast.survey import Choice, Survey, YesNo
    >>> survey = Survey({"region": Choice(["north", "south"]), "smoker": YesNo()}, epsilon=2.0)
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.csv")
    ...     _ = path.write_text("region,smoker\\nnorth,yes\\nsouth,no\\nsouth,no\\n")
    ...     aggregator = survey.collect(FileTable([path], survey.column_questions))
    >>> aggregator.n
    3
    """

    def __init__(
        self,
        paths: Sequence[str | Path],
        questions: Mapping[str, ColumnQuestion],
        *,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        if isinstance(paths, str | Path):
            raise TypeError(f"paths must be a sequence of paths, got {type(paths).__name__}")
        if not paths:
            raise ValueError("paths must be at least one file, got none")
        self._paths = list(paths)
        counts = Counter(str(path) if path == STDIN else os.path.realpath(path) for path in self._paths)
        for path in self._paths:
            if counts[str(path) if path == STDIN else os.path.realpath(path)] > 1:
                raise ValueError(f"paths must be different files, got {str(path)!r} twice")
            open_table(path, [])
        self._cells: dict[str, tuple[Any, ...] | None] = {}
        self._spellings: dict[str, list[tuple[str, ...]] | None] = {}
        for name, question in questions.items():
            column, spellings = question.column or name, question.spellings()
            cells = None if spellings is None else question.cells
            if (
                self._spellings.setdefault(column, spellings) != spellings
                or self._cells.setdefault(column, cells) != cells
            ):
                raise ValueError(f"column {column!r} must answer questions of one kind, with the same categories")
        for path, earlier, is_same in duplicates(self._paths):
            if is_same or any(rows for _, rows, _ in open_table(path, list(self._spellings)).chunks()):
                fault = "is the same file as" if is_same else "has the same contents as"
                raise ValueError(f"paths must be different files, got {str(path)!r}, which {fault} {str(earlier)!r}")
        self._progress = progress or (lambda _: None)
        self._starts: list[tuple[int, TableFile]] = []

    def pieces(self, names: Sequence[str]) -> Iterator[Piece]:
        kept: dict[str, list[Any]] = {name: [] for name in names}
        start, waiting = 0, 0
        self._starts = []
        for number, path in enumerate(self._paths):
            file = open_table(path, names)
            self._starts.append((start + waiting, file))
            read = 0
            for values, rows, fraction in file.chunks():
                for name, column in zip(names, values, strict=True):
                    kept[name].append(self._converted(file, name, column, read))
                read, waiting = read + rows, waiting + rows
                if waiting >= Piece.ROWS:
                    whole = waiting // Piece.ROWS * Piece.ROWS
                    joined = {name: _joined(name, parts) for name, parts in kept.items()}
                    yield self._piece(start, whole, joined)
                    kept = {name: [column[whole:]] for name, column in joined.items()}
                    start, waiting = start + whole, waiting - whole
                self._progress((number + fraction) / len(self._paths))
        if waiting:
            yield self._piece(start, waiting, {name: _joined(name, parts) for name, parts in kept.items()})

    def _piece(self, start: int, n: int, columns: dict[str, Any]) -> Piece:
        found = {
            name: column[:n] if self._cells.get(name) is None else Coded(column[:n], self._cells[name])
            for name, column in columns.items()
        }
        return Piece(start, n, found, self._place)

    def _converted(self, file: TableFile, name: str, values: Any, start: int) -> Any:
        if name not in self._spellings:
            return file.plain(name, values)
        spellings = self._spellings[name]
        if spellings is not None:
            return file.codes(name, values, spellings, start)
        numbers = file.numbers(name, values, start)
        return numbers.astype(np.float32) if numbers.dtype == np.float16 else numbers

    def _place(self, row: int) -> str:
        """Return the file and the position of a row."""
        start, file = next((start, file) for start, file in reversed(self._starts) if start <= row)
        return file.place(row - start)


def _joined(name: str, parts: list[Any]) -> Any:
    """Return the parts of a column as one array. Arrow arrays, of columns that no question asks for, must have one type."""
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    pa = optional("pyarrow", "files")
    texts = (pa.large_string(), pa.string())
    parts = [part.cast(pa.string()) if part.type in texts else part for part in parts]
    kinds = list(dict.fromkeys(part.type for part in parts if not pa.types.is_null(part.type))) or [pa.null()]
    if len(kinds) > 1:
        raise TypeError(f"column {name!r} must have one type in all files, got {', '.join(map(str, kinds))}")
    return pa.concat_arrays([part.cast(kinds[0]) for part in parts])
