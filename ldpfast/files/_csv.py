"""CSV files, which may be compressed, and the standard input."""

from __future__ import annotations

import csv
import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .._extras import optional
from ._arrow import ArrowFile
from ._column_reader import missing, trimmed
from ._status import STDIN

DAMAGED = (EOFError, OSError, zlib.error)  # errors of compressed files


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
                    read_options=reader.ReadOptions(block_size=self.BLOCK_BYTES, use_threads=False),
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
            start = file.peek(self.BLOCK_BYTES).decode("utf-8-sig", errors="replace")
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
        return f"it has a record of more than {self.BLOCK_BYTES} bytes" if records > 1 else "it has no records"


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
