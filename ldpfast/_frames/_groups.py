"""Subgroups of people by the values of public columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._extras import optional
from ._group_values import group_value, preferred
from ._pieces import Coded, python_values

MAX_GROUPS = 10_000


By = str | tuple[str, ...]  # the name of the column that divides people, or the names of several


def group_columns(by: By | None) -> list[str]:
    """Return the names of the columns that divide people."""
    return [] if by is None else [by] if isinstance(by, str) else list(by)


def read_by(by: Any) -> By | None:
    """Return an argument `by` that names columns of a table.

    Raises
    ------
    TypeError
        If it is neither None, nor the name of a column, nor a list of different names.
    """
    if by is None or isinstance(by, str):
        return by
    names = by if isinstance(by, list | tuple) else []
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise TypeError(f"by must be the name of a column, or a list of different names, got {type(by).__name__}")
    return tuple(names)


def values_of(by: By | None, columns: Mapping[str, Any]) -> Any:
    """Return what `Groups.numbers` takes, from the columns of a `Piece`; None for one group of all."""
    return None if by is None else columns[by] if isinstance(by, str) else [columns[name] for name in by]


class Groups:
    """The values of a column, or of several, numbered in the order in which they are first seen.

    Attributes
    ----------
    by : str, tuple of str or None
        The columns; None for an array without a name.
    values : list
        The values, as `group_value` returns them, which are tuples for several columns; None stands for missing ones.
    """

    def __init__(self, by: By | None) -> None:
        self.by, self.name = by, "by" if by is None else ", ".join(group_columns(by))
        self.values: list[Any] = []
        self._numbers: dict[Any, int] = {}
        self._parts = [Groups(name) for name in by] if isinstance(by, tuple) else []

    def numbers(self, columns: Any) -> NDArray[np.uint32]:
        """Return the number of the group of each row.

        Parameters
        ----------
        columns : ndarray, categorical, Arrow array, or list of these
            A column of a `Piece`, or several if `by` is a tuple.

        Raises
        ------
        TypeError, ValueError
            If values cannot be compared, or there are too many groups.
        """
        codes, values = self._joint_codes(columns) if self._parts else self.codes(columns)
        table = np.zeros(len(values), np.uint32)
        for code in _in_order(codes, len(values)):
            value = group_value(values[code])
            try:
                number = self._numbers.setdefault(value, len(self.values))
            except TypeError:
                raise TypeError(
                    f"column {self.name!r} must hold values that can be compared to divide people"
                ) from None
            if number == len(self.values):
                if number == MAX_GROUPS:
                    raise ValueError(f"column {self.name!r} must have at most {MAX_GROUPS} different values")
                _check.labels(f"column {self.name!r}", [value])
                self.values.append(value)
            else:
                self.values[number] = preferred(self.values[number], value)
            table[code] = number
        return np.ascontiguousarray(table[codes])

    def _joint_codes(self, columns: Sequence[Any]) -> tuple[NDArray[np.intp], list[Any]]:
        """Return a code for each row of several columns, and the tuples of values of the codes."""
        codes, values = np.zeros(1, np.intp), [()]
        for part, column in zip(self._parts, columns, strict=True):
            numbers = part.numbers(column)
            k = max(len(part.values), 1)
            joint, codes = np.unique(codes * k + numbers, return_inverse=True)
            values = [(*values[place // k], part.values[place % k]) for place in joint.tolist()]
        return codes, values

    def codes(self, column: Any) -> tuple[NDArray[np.intp], list[Any]]:
        """Return a code for each row, and the values of the codes."""
        if isinstance(column, np.ndarray):
            return _codes_of_array(column)
        if isinstance(column, Coded):  # with code -1 for missing values, too
            labels = range(column.codes.max(initial=-1) + 1) if column.labels is None else column.labels
            if column.labels is not None and (column.codes == len(labels)).any():
                raise ValueError(f"column {self.name!r} must hold the declared categories to divide people")
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
        values = python_values(encoded.dictionary)
        if values is None:
            raise TypeError(f"column {self.name!r} must hold values that Python has to divide people")
        return codes, [*values, None]


def _codes_of_array(column: NDArray[Any]) -> tuple[NDArray[np.intp], list[Any]]:
    """Return a code for each value of an array, and the different values in ascending order.

    Integers that are close together are counted; everything else is sorted.
    """
    if column.dtype.kind in "iu" and column.size:
        least, most = int(column.min()), int(column.max())
        if most - least < column.size and most <= np.iinfo(np.int64).max:
            places = column.astype(np.intp) - least
            present = np.bincount(places) > 0
            different = np.flatnonzero(present)
            return (np.cumsum(present) - 1)[places], (different + least).tolist()
    different, codes = np.unique(column, return_inverse=True)
    return codes, different.tolist()


def _in_order(codes: NDArray[np.intp], k: int) -> list[int]:
    """Return the codes below k that occur, in the order in which they are first seen."""
    first = np.full(k, len(codes), np.intp)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # of several numbers for a code, the last one stays
    found = np.flatnonzero(first < len(codes))
    found = found[np.argsort(first[found])]
    return found.tolist()
