"""Arrays in .npy files."""

from __future__ import annotations

from collections.abc import Iterator
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._extras import optional
from .._frames import arrow_array
from ._column_reader import TableFile

MAX_CODE = 0x10FFFF  # of Unicode


class NpyFile(TableFile):
    """1-D array, fields of a structured array, or columns of a 2-D array selected by their numbers."""

    def chunks(self) -> Iterator[tuple[list[Any], int, float]]:
        try:
            array = np.load(self.path, mmap_mode="r", allow_pickle=False)
        except (ValueError, OverflowError, EOFError, SyntaxError, TokenError):  # the last two from its header
            raise self.unreadable(".npy") from None
        if not isinstance(array, np.ndarray):  # an archive of several arrays
            array.close()
            raise self.unreadable(".npy")
        columns = self._columns(array)
        for start in range(0, len(array), self.CHUNK_ROWS):
            chunk = [column[start : start + self.CHUNK_ROWS] for column in columns]
            rows = min(self.CHUNK_ROWS, len(array) - start)
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
        texts, places = self.distinct(name, values, start)
        return texts.take(optional("pyarrow", "files").array(places))

    def distinct(self, name: str, values: Any, start: int) -> tuple[Any, NDArray[Any]]:
        if values.dtype.kind not in "iufbU":
            raise TypeError(f"{self.subject(name)} must hold categories, got dtype {values.dtype}")
        if values.dtype.kind == "U" and (_code_points(values) > MAX_CODE).any():
            raise self.unreadable(".npy", "it has text that is not Unicode")
        different, inverse = np.unique(values, return_inverse=True)
        return self.strings(".npy", [None if value != value else str(value) for value in different.tolist()]), inverse

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
