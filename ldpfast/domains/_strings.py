"""Domain of strings of bounded length."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._core import strings
from .._frames import arrow_array, package_of
from .._typing import AnyArray
from ._domain import Domain

MAX_BYTES = 255
MAX_ALPHABET = 253
# Symbols of a character that the alphabet lacks: of its later bytes, and of the first one.
CONTINUATION_BYTE = 254
UNKNOWN_BYTE = 255


@dataclass(frozen=True)
class Strings(Domain):
    """Strings of at most `max_bytes` bytes.

    A converted record is a row of symbols, which are bytes or numbers of characters from 1 on, padded with zeros. Its last
    number is not 0 if the record is invalid.

    Parameters
    ----------
    max_bytes : int
        Largest number of bytes of a string in UTF-8, in [1, 255]; with an alphabet, of characters.
    alphabet : str, optional
        At most 253 different characters. The default is all bytes but 0.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as above.

    Examples
    --------
    >>> from ldpfast.domains import Strings
    >>> domain = Strings(4)
    >>> records, _ = domain.records(["a", "b\u00e9"])
    >>> records.tolist()
    [[97, 0, 0, 0, 0], [98, 195, 169, 0, 0]]
    >>> domain.strings(records)
    ['a', 'b\u00e9']
    """

    max_bytes: int
    alphabet: str | None = None
    # Characters of the alphabet in ascending order, and their numbers.
    _codes: tuple[NDArray[np.uint32], NDArray[np.uint8]] | None = field(init=False, repr=False, compare=False)
    reads_columns = True
    clip_hint = "cuts strings that are too long, and replaces characters that the alphabet lacks by its first"

    def __post_init__(self) -> None:
        length = _check.integer("max_bytes", self.max_bytes, 1, MAX_BYTES)
        object.__setattr__(self, "max_bytes", length)
        object.__setattr__(self, "_codes", None)
        if self.alphabet is None:
            return
        if not isinstance(self.alphabet, str):
            raise TypeError(f"alphabet must be a text of different characters, got {type(self.alphabet).__name__}")
        points = np.array([ord(character) for character in self.alphabet], np.uint32)
        is_valid = 1 <= len(points) <= MAX_ALPHABET and len(np.unique(points)) == len(points) and points.min() > 0
        if not is_valid or any(0xD800 <= point < 0xE000 for point in points.tolist()):
            raise ValueError(
                f"alphabet must have 1 to {MAX_ALPHABET} different characters that are valid Unicode, and not the zero "
                f"character, got {self.alphabet!r}"
            )
        order = np.argsort(points)
        object.__setattr__(self, "_codes", (points[order], (order + 1).astype(np.uint8)))

    @property
    def symbols(self) -> int:
        """Number of different symbols of a string."""
        return 255 if self.alphabet is None else len(self.alphabet)

    @property
    def width(self) -> int:
        return self.max_bytes + 1

    @property
    def range(self) -> tuple[float, float]:
        return 0.0, 1.0

    def describe(self) -> str:
        if self.alphabet is None:
            return f"strings of at most {self.max_bytes} bytes without zero bytes"
        return f"strings of at most {self.max_bytes} characters of the alphabet"

    def kernel_dtype(self, records: AnyArray) -> np.dtype[Any]:
        return np.dtype(np.uint8)

    def records(self, x: ArrayLike) -> tuple[AnyArray, bool]:
        """Return strings as rows of symbols, shape (n, max_bytes + 1), and whether `x` was a single string.

        Parameters
        ----------
        x : str, bytes, list, ndarray, pandas series or Arrow array
            Text counts as its UTF-8. NumPy arrays of bytes or text drop zeros at the end. What is missing, too long, or has
            other characters than those of the alphabet is invalid, and marked; then the start of the string is kept, and other
            characters become the first of the alphabet.
        """
        values: Any = x
        if isinstance(values, str | bytes):
            return self._of_list([values]), True
        if isinstance(values, Mapping | Set):
            raise TypeError(f"x must be strings in a list or an array, got {type(values).__name__}")
        if package_of(values) == "pandas" and hasattr(values, "to_numpy"):
            values = values.to_numpy(dtype=object)
        if (
            package_of(values) == "pyarrow"
            or hasattr(values, "__arrow_c_array__")
            or hasattr(values, "__arrow_c_stream__")
        ):
            return self._of_arrow(values), False
        if isinstance(values, np.ndarray):
            values = _check.array("x", values)  # refuses masked arrays
            if values.ndim == 0 and isinstance(values.item(), str | bytes):
                return self._of_list([values.item()]), True
            if values.ndim != 1:
                raise ValueError(f"x must have shape (n,), or () for one record, got shape {values.shape}")
            if values.dtype.kind == "S" and self._is_bytewise:
                return self._of_padded(values), False
            values = values.tolist()
        if not isinstance(values, list | tuple):
            raise TypeError(f"x must be strings in a list or an array, got {type(values).__name__}")
        return self._of_list(list(values)), False

    def row_of(self, text: str) -> bytes | None:
        """Return a text as a row of symbols, without arrays; None if it is invalid, or the alphabet is not ASCII."""
        if not self._is_bytewise:
            return None
        try:
            data = text.encode()
        except UnicodeEncodeError:
            return None
        if self.alphabet is not None:
            data = data.translate(self._byte_codes)
        return None if len(data) > self.max_bytes or 0 in data else data.ljust(self.width, b"\0")

    @cached_property
    def _byte_codes(self) -> bytes:
        """Numbers of the characters of an ASCII alphabet, 0 for other bytes."""
        assert self._codes is not None
        table = np.zeros(256, np.uint8)
        table[self._codes[0]] = self._codes[1]
        return table.tobytes()

    def _of_padded(self, values: AnyArray) -> NDArray[np.uint8]:
        """Return rows of a NumPy array of bytes."""
        n, size = len(values), values.dtype.itemsize
        data = np.ascontiguousarray(values).view(np.uint8).reshape(-1) if n else np.empty(0, np.uint8)
        return self._rows(data, np.arange(n + 1, dtype=np.int64) * size, padded=True)

    def _of_arrow(self, values: Any) -> NDArray[np.uint8]:
        """Return rows of an Arrow array of text or bytes."""
        array = arrow_array("x", values)
        kind = str(array.type)
        if kind.startswith("dictionary"):
            array = array.dictionary_decode()
            kind = str(array.type)
        if not kind.startswith(("string", "large_string", "binary", "large_binary", "fixed_size_binary", "null")):
            raise TypeError(f"x must hold text or bytes, got type {kind}")
        if not self._is_bytewise or "view" in kind or kind == "null" or not len(array):
            is_text = kind.startswith(("string", "large_string"))
            return self._of_list((array.cast("binary") if is_text else array).to_pylist())  # it may be no valid UTF-8
        array = array.cast("large_binary" if "binary" in kind else "large_string")
        _, ends, data = array.buffers()
        bounds = np.frombuffer(ends, np.int64)[array.offset : array.offset + len(array) + 1]
        out = self._rows(np.frombuffer(data or b"", np.uint8), bounds)
        if array.null_count:
            missing = np.asarray(array.is_null())
            out[missing] = 0
            out[missing, -1] = 1
        return out

    def _of_list(self, values: list[Any]) -> NDArray[np.uint8]:
        """Return rows of texts and bytes in a list."""
        try:
            text = "".join(values)
            if not self._is_bytewise or text.isascii():
                return self._of_parts(
                    map(str.__len__, values), text.encode("ascii" if self._is_bytewise else "utf-32-le")
                )
            return self._of_parts(map(len, map(str.encode, values)), text.encode())
        except (TypeError, UnicodeEncodeError):
            pass  # not all are valid text
        bad = np.array([not isinstance(value, str | bytes) for value in values], np.bool_)
        known = [value if isinstance(value, str | bytes) else "" for value in values]
        if self._is_bytewise:
            parts = [value.encode(errors="replace") if isinstance(value, str) else value for value in known]
            bad |= np.array([isinstance(value, str) and not _is_unicode(value) for value in known], np.bool_)
            out = self._of_parts(map(len, parts), b"".join(parts))
        else:
            texts = [value if isinstance(value, str) else value.decode(errors="replace") for value in known]
            out = self._of_parts(map(len, texts), "".join(texts).encode("utf-32-le", "surrogatepass"))
        out[bad, -1] = 1
        return out

    def _of_parts(self, lengths: Iterable[int], data: bytes) -> NDArray[np.uint8]:
        """Return rows of texts or bytes that are one after another in `data`."""
        ends = np.append(0, np.cumsum(np.fromiter(lengths, np.int64)))
        return self._rows(np.frombuffer(data, np.uint8 if self._is_bytewise else np.uint32), ends)

    @property
    def _is_bytewise(self) -> bool:
        """Whether each symbol is a byte of UTF-8."""
        return self.alphabet is None or self.alphabet.isascii()

    def _rows(self, data: AnyArray, ends: NDArray[np.int64], padded: bool = False) -> NDArray[np.uint8]:
        """Return rows of strings that are one after another, from bytes, or from characters as numbers of 32 bits."""
        n = len(ends) - 1
        out = np.empty((n, self.width), np.uint8)
        table = None
        if self._codes is not None:
            known, codes = self._codes
            table = np.arange(256, dtype=np.uint8)
            if data.dtype == np.uint8:
                table[:] = UNKNOWN_BYTE
                table[0x80:0xC0] = CONTINUATION_BYTE
                table[known], table[0] = codes, 0 if padded else UNKNOWN_BYTE
            else:
                at = np.minimum(np.searchsorted(known, data), len(known) - 1)
                data = np.where(known[at] == data, codes[at], np.uint8(UNKNOWN_BYTE))
        strings.fill_rows(data, ends, table, padded, out)
        return out

    def convert(self, records: AnyArray) -> AnyArray:
        return np.ascontiguousarray(records)

    def first_invalid(self, records: AnyArray) -> int:
        bad = records[:, -1] != 0
        return int(np.argmax(bad)) if bad.any() else -1

    def invalid(self, records: AnyArray) -> NDArray[np.bool_]:
        return np.asarray(records[:, -1] != 0)

    def clip(self, records: AnyArray) -> AnyArray:
        """Return the records without marks. What is missing is the empty string."""
        found = records.copy()
        found[:, -1] = 0
        return found

    def strings(self, records: AnyArray) -> list[Any]:
        """Return the strings of valid records: text, or bytes that are no valid UTF-8."""
        found: list[Any] = []
        for row in records[:, : self.max_bytes]:
            symbols = row[row != 0]
            if self.alphabet is not None:
                found.append("".join(self.alphabet[symbol - 1] for symbol in symbols.tolist()))
                continue
            try:
                found.append(symbols.tobytes().decode())
            except UnicodeDecodeError:
                found.append(symbols.tobytes())
        return found


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
