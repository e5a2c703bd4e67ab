"""Subgroups of people by the values of a public column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._extras import optional
from ._pieces import Coded

MAX_GROUPS = 10_000


class Groups:
    """The values of a column, numbered in the order in which they are first seen.

    Attributes
    ----------
    values : list
        The values; None stands for missing ones.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.values: list[Any] = []
        self._numbers: dict[Any, int] = {}

    def numbers(self, column: Any) -> NDArray[np.uint32]:
        """Return the number of the group of each row of a column of a `Piece`.

        Raises
        ------
        TypeError, ValueError
            If values cannot be compared, or there are too many groups.
        """
        codes, values = self._codes(column)
        found, first = np.unique(codes, return_index=True)
        table = np.zeros(len(values), np.uint32)
        for code in found[np.argsort(first)].tolist():
            value = None if values[code] is None or values[code] != values[code] else values[code]
            try:
                number = self._numbers.setdefault(value, len(self.values))
            except TypeError:
                raise TypeError(
                    f"column {self.name!r} must hold values that can be compared to divide people"
                ) from None
            if number == len(self.values):
                if number == MAX_GROUPS:
                    raise ValueError(f"column {self.name!r} must have at most {MAX_GROUPS} different values")
                self.values.append(value)
            table[code] = number
        return np.ascontiguousarray(table[codes])

    def _codes(self, column: Any) -> tuple[NDArray[np.intp], list[Any]]:
        """Return a code for each row, and the values of the codes."""
        if isinstance(column, np.ndarray):
            different, codes = np.unique(column, return_inverse=True)
            return codes, different.tolist()
        if isinstance(column, Coded):  # with code -1 for missing values, too
            labels = range(column.codes.max(initial=-1) + 1) if column.labels is None else column.labels
            if not np.isin(column.codes, np.arange(-1, len(labels))).all():
                raise ValueError(f"column {self.name!r} must have codes in [-1, {len(labels)})")
            return np.asarray(column.codes, np.intp) + 1, [None, *labels]
        if hasattr(column, "codes"):  # a pandas categorical, with code -1 for missing values
            return np.asarray(column.codes, np.intp) + 1, [None, *column.categories.tolist()]
        pa = optional("pyarrow", "files")
        try:
            encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        except pa.ArrowException:
            raise TypeError(f"column {self.name!r} must hold values that can be compared to divide people") from None
        size = len(encoded.dictionary)
        codes = encoded.indices.cast(pa.int64()).fill_null(size).to_numpy(zero_copy_only=False).astype(np.intp)
        if len(codes) and not 0 <= codes.min() <= codes.max() <= size:
            raise ValueError(f"column {self.name!r} must have indices within its dictionary")
        try:
            return codes, [*encoded.dictionary.to_pylist(), None]
        except (pa.ArrowException, OverflowError, UnicodeError, ValueError):
            raise TypeError(f"column {self.name!r} must hold values that Python has to divide people") from None
