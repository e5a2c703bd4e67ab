"""Base class of the readers of files, and texts of missing values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._extras import optional

MISSING = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "None")  # texts of missing values, unless they are labels
BLANKS = " \t"  # ignored around a text; line ends are kept, because they indicate a truncated quotation


class TableFile(ABC):
    """Some columns of a file, read in chunks and converted to numbers or to symbols of declared categories."""

    BLOCK_BYTES = 1 << 22  # bytes of a file that are parsed at a time; a longer record of a CSV file raises
    CHUNK_ROWS = 1 << 17

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

    def codes(
        self, name: str, values: Any, categories: Sequence[Sequence[str]], start: int, *, keep_others: bool = False
    ) -> NDArray[np.int32]:
        """Convert a column of a chunk to positions in `categories`, -1 for missing values.

        Every category has one or more spellings. A text is compared with them as it is, then without `BLANKS` around it. Only
        a text that is not a spelling can be missing. Another text raises an error; with `keep_others` it has the position after
        the last, for the survey to refuse or to clip.
        """
        pa, pc = optional("pyarrow", "files"), optional("pyarrow.compute", "files")
        spellings = [(text, code) for code, texts in enumerate(categories) for text in texts]
        declared = pa.array([text for text, _ in spellings], pa.string())
        table = np.array([code for _, code in spellings], np.int32)

        def positions(texts: Any) -> NDArray[np.int32]:
            places = pc.index_in(texts, value_set=declared).fill_null(-1).to_numpy(zero_copy_only=False)
            return np.where(places >= 0, table[places], -1).astype(np.int32)

        texts, rows = self.distinct(name, values, start)
        codes = positions(texts)
        others = np.flatnonzero(codes < 0)
        texts = trimmed(texts.take(pa.array(others)))
        codes[others] = positions(texts)
        wrong = others[(codes[others] < 0) & ~missing(texts)]
        if keep_others:
            codes[wrong] = len(categories)
        elif len(wrong):
            index = start + int(np.flatnonzero(np.isin(rows, wrong))[0])
            raise self.invalid_error(name, index, "hold the declared categories only", "holds another")
        return np.asarray(np.append(codes, np.int32(-1))[rows])

    def distinct(self, name: str, values: Any, start: int) -> tuple[Any, NDArray[Any]]:
        """Return the distinct texts of a column of a chunk, and the index of the text of each record, -1 for null."""
        encoded = self.texts(name, values, start).dictionary_encode()
        return encoded.dictionary, places_in_dictionary(encoded)

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
        """Return a name for the column in error messages."""
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


def places_in_dictionary(encoded: Any) -> NDArray[np.int32]:
    """Return the indices of an array that is encoded by a dictionary; -1 for null."""
    places: NDArray[np.int32] = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return places


def trimmed(texts: Any) -> Any:
    """Return texts without `BLANKS` around them."""
    return optional("pyarrow.compute", "files").utf8_trim(texts, characters=BLANKS)


def missing(texts: Any) -> NDArray[np.bool_]:
    """Return which trimmed texts stand for a missing value, in every format: null and those of `MISSING`."""
    pa, pc = optional("pyarrow", "files"), optional("pyarrow.compute", "files")
    is_missing = pc.is_in(texts.fill_null(""), value_set=pa.array(MISSING, pa.string()))
    return np.asarray(is_missing.to_numpy(zero_copy_only=False), np.bool_)
