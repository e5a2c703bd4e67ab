"""Domain of sets of options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._core import ranges
from .._typing import AnyArray
from ._domain import Domain

MISSING, INVALID = ranges.NO_SET, ranges.INVALID_SET  # last positions of converted records that are not valid


@dataclass(frozen=True)
class Sets(Domain):
    """Sets of at most `most` of k options; if `optional`, a set may be missing.

    A converted record is a row of `most` numbers in ascending order: the options of the set, then so many of the positions
    k, k + 1, ... that the row is full. A missing set has the position k + `most` in the place of one of them.

    Parameters
    ----------
    k : int
        Number of options, >= 2.
    most : int
        Largest number of options of a set, in [1, k]; k + `most` is at most 65534.
    optional : bool, default False

    Examples
    --------
    >>> from ldpfast.domains import Sets
    >>> records, _ = Sets(5, 3).records([{4, 0}, set()])
    >>> records.tolist()
    [[0, 4, 5], [5, 6, 7]]
    """

    k: int
    most: int
    optional: bool = False
    clips = False
    unclipped = "sets"
    reads_columns = True

    @property
    def width(self) -> int:
        return self.most

    @property
    def positions(self) -> int:
        """Number of positions of a converted record: options, fillers, and one for missing sets."""
        return self.k + self.most + self.optional

    @property
    def range(self) -> tuple[float, float]:
        return 0.0, 1.0

    def describe(self) -> str:
        return f"sets of at most {self.most} different options, integers in [0, k) with k={self.k}"

    def kernel_dtype(self, records: AnyArray) -> np.dtype[Any]:
        return np.dtype(np.uint16)

    def records(self, x: ArrayLike) -> tuple[AnyArray, bool]:
        """Return sets as rows of bytes or of positions, and whether `x` was a single set.

        Parameters
        ----------
        x : ndarray, set, list, pandas series or Arrow array
            An array of zeros and ones (bool or integers, shape (n, k) or (k,)); packed bits (uint8, shape (n, ceil(k / 8)),
            little bit order); or sets of options: a set of integers, or many sets, lists or arrays of different integers.
            Lists of k zeros and ones are rows if k is above 2. None is a missing set. What is not valid is marked.
        """
        values: Any = x
        if isinstance(values, np.ndarray) and values.dtype != object:
            return self._of_bits(values)
        if isinstance(values, Mapping):
            raise TypeError(f"x must be sets in a list, or an array of zeros and ones, got {type(values).__name__}")
        if isinstance(values, Set):
            return self._of_lists([values]), True
        if hasattr(values, "to_pylist"):
            values = values.to_pylist()
        elif hasattr(values, "tolist"):
            values = values.tolist()
        if not isinstance(values, Sequence) or isinstance(values, str | bytes):
            raise TypeError(f"x must be sets in a list, or an array of zeros and ones, got {type(values).__name__}")
        if self._are_bits(values):
            return self._of_bits(np.array(values))
        return self._of_lists(values), False

    def _are_bits(self, values: Sequence[Any]) -> bool:
        """Return whether a list is one row, or many rows, of k zeros and ones. As options, they would repeat themselves."""
        rows = values if len(values) and isinstance(values[0], list | tuple) else [values]
        numbers = all(isinstance(row, list | tuple) and len(row) == self.k for row in rows)
        return numbers and (self.k > 2 or rows[0] is values) and all(bit in (0, 1) for row in rows for bit in row)

    def _of_bits(self, x: AnyArray) -> tuple[AnyArray, bool]:
        """Return zeros and ones, or packed bits, as rows of bytes."""
        array, packed = _check.integers("x", _check.array("x", x), True), (self.k + 7) // 8
        if array.ndim not in (1, 2) or array.shape[-1] not in (self.k, packed):
            raise ValueError(
                f"x must have shape (n, k) or (n, ceil(k / 8)) with k={self.k}, without n for one record, got shape {x.shape}"
            )
        if array.dtype not in (np.bool_, np.uint8):
            if array.shape[-1] != self.k:
                raise TypeError(f"packed bits must have dtype uint8, got dtype {x.dtype}")
            array = np.where((array == 0) | (array == 1), array, 2).astype(np.uint8)
        return array.view(np.uint8).reshape(-1, array.shape[-1]), array.ndim == 1

    def _of_lists(self, values: Sequence[Any]) -> AnyArray:
        """Return the positions of sets and lists of integers, and of None."""
        missing = np.array([value is None for value in values], np.bool_)
        parts = [() if value is None else self._options(value) for value in values]
        sizes = np.fromiter(map(len, parts), np.int64, len(parts))
        people = np.repeat(np.arange(len(parts)), sizes)
        options = np.fromiter((option for part in parts for option in part), np.int64, len(people))
        valid = np.full(len(parts), True)
        inside = (options >= 0) & (options < self.k)
        valid[people[~inside]] = False
        people, options = people[inside], options[inside]
        order = np.lexsort((options, people))
        people, options = people[order], options[order]
        repeated = np.flatnonzero((np.diff(people) == 0) & (np.diff(options) == 0))
        valid[people[repeated]] = False
        return self.rows(people, options, missing, valid)

    def _options(self, value: Any) -> Sequence[int]:
        """Return the options of one set."""
        if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__iter__"):
            raise TypeError(f"x must hold sets of integers, got one of type {type(value).__name__}")
        options = list(value)
        if any(isinstance(option, bool | np.bool_) or not isinstance(option, int | np.integer) for option in options):
            raise TypeError(
                "x must hold sets of integers, got one with other values; zeros and ones must be in an array"
            )
        if self.k == 2 and len(options) == 2 and not isinstance(value, Set):
            raise TypeError(
                "x must hold sets or be an array of zeros and ones if k = 2, got lists, which may be either"
            )
        return [int(option) if -1 <= option <= self.k else -1 for option in options]

    def rows(
        self, people: NDArray[np.intp], options: AnyArray, missing: NDArray[np.bool_], valid: NDArray[np.bool_]
    ) -> NDArray[np.uint16]:
        """Return rows of positions from different pairs of a person and an option, in ascending order.

        Parameters
        ----------
        people, options : ndarray of int
            Numbers of the people who chose an option, and of the options.
        missing, valid : ndarray of bool, shape (n,)
            Whose sets are missing, and whose are valid. More than `most` options are never valid.

        Returns
        -------
        rows : ndarray of uint16, shape (n, most)
            The last position of a row is `INVALID` if it is not valid, and `MISSING` if a set is missing and needed.
        """
        options = options.astype(np.uint16)
        sizes = np.bincount(people, minlength=len(valid))
        place = np.arange(len(people)) - (np.cumsum(sizes) - sizes)[people]
        out: NDArray[np.uint16] = np.maximum(self.k + np.arange(self.most) - sizes[:, np.newaxis], 0).astype(np.uint16)
        fits = place < self.most
        out[people[fits], place[fits]] = options[fits]
        out[missing, -1] = self.k + self.most if self.optional else MISSING
        out[(sizes > self.most) | ~valid, -1] = INVALID
        return out

    def convert(self, records: AnyArray) -> AnyArray:
        if records.dtype == np.uint16:
            return np.ascontiguousarray(records)
        positions = np.empty((len(records), self.most), np.uint16)
        ranges.fill_positions(np.ascontiguousarray(records), self.k, positions)
        return positions

    def first_invalid(self, records: AnyArray) -> int:
        bad = np.flatnonzero(self.invalid(records))
        return int(bad[0]) if len(bad) else -1

    def invalid(self, records: AnyArray) -> NDArray[np.bool_]:
        return np.asarray(records[:, -1] >= MISSING)

    def clip(self, records: AnyArray) -> AnyArray:
        """Return the records unchanged: ``clip=True`` is refused, because sets have no nearest one."""
        return records

    def ticks(self, records: AnyArray) -> NDArray[np.bool_]:
        """Return which options are in the sets, shape (n, k), from converted records."""
        found = np.zeros((len(records), self.positions), np.bool_)
        np.put_along_axis(found, records.astype(np.intp), True, axis=1)
        return found[:, : self.k]
