"""Base class of the readers whose columns are Arrow arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._extras import optional
from ._column_reader import TableFile, places_in_dictionary


def damage_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions that pyarrow raises for a damaged file. Column names that are not valid text raise the last one."""
    return optional("pyarrow", "files").ArrowException, OSError, UnicodeDecodeError


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
            texts = values.cast(pa.string())
            texts.validate(full=True)  # a file of strings may have bytes that are no text
            return texts
        except pa.ArrowNotImplementedError:
            raise TypeError(f"{self.subject(name)} must hold categories, got type {values.type}") from None
        except pa.ArrowException:  # bytes that are no text, or an index outside of the dictionary
            raise TypeError(
                f"{self.subject(name)} must hold categories, got other values of type {values.type}"
            ) from None

    def distinct(self, name: str, values: Any, start: int) -> tuple[Any, NDArray[np.int32]]:
        pa = optional("pyarrow", "files")
        if pa.types.is_dictionary(values.type):
            return super().distinct(name, values, start)
        try:
            encoded = values.dictionary_encode()
        except pa.ArrowNotImplementedError:  # of a type that Arrow may still convert to texts
            return super().distinct(name, values, start)
        return self.texts(name, encoded.dictionary, start), places_in_dictionary(encoded)

    def plain(self, name: str, values: Any) -> Any:
        pa = optional("pyarrow", "files")
        try:
            plain = values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
            plain.validate(full=True)
            return plain
        except pa.ArrowException:  # an index outside of the dictionary, or bytes that are no text
            # without the message, which may quote a value
            raise TypeError(f"{self.subject(name)} must hold valid values, got type {values.type}") from None
