"""Base class of domains, and how many records one has clipped."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._typing import AnyArray
from .._warnings import warn
from ..results import ClippedWarning

FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
PIECE_ROWS = 1 << 16  # records that are checked together for an error message


class Clipped(NamedTuple):
    """How many records had NaN, which counts as the center, and how many others were outside of the domain."""

    missing: int = 0
    outside: int = 0

    def plus(self, other: Clipped) -> Clipped:
        """Return the sums of both numbers."""
        return Clipped(self.missing + other.missing, self.outside + other.outside)

    def warn(self, n: int, what: str = "the estimate is") -> None:
        """Warn if some of n records were clipped; `what` was made from them."""
        parts = [
            f"{count} of {n} records ({count / n:.2g} of all) {what}"
            for count, what in (
                (self.missing, "had NaN, which counts as the center"),
                (self.outside, "were clipped to the domain"),
            )
            if count
        ]
        if parts:
            warn(", and ".join(parts) + f": {what} for the changed records", ClippedWarning)


class Domain(ABC):
    """The set of valid records of a mechanism or a problem."""

    clips = True  # whether ``clip=True`` is allowed: every record has a nearest valid record
    unclipped = "categories"  # what records are, if they have no nearest valid one
    clip_hint = "moves records to the nearest valid one, and NaN to the center"
    reads_columns = (
        False  # whether `records` takes Arrow arrays, series and categoricals, because records are no numbers
    )

    @property
    def width(self) -> int | None:
        """Number of coordinates of a record; None if a record is a single number."""
        return None

    @property
    @abstractmethod
    def range(self) -> tuple[float, float]:
        """Smallest and largest possible mean of a decoded coordinate."""

    @abstractmethod
    def describe(self) -> str:
        """Return a description of the set, for messages of the form "x must be ..."."""

    def _check_dtype(self, x: AnyArray) -> AnyArray:
        return _check.floats("x", x)

    def records(self, x: ArrayLike) -> tuple[AnyArray, bool]:
        """Return records along the first axis, and whether `x` was a single record. Values are neither read nor copied.

        Parameters
        ----------
        x : array_like

        Returns
        -------
        records : ndarray
        single : bool

        Raises
        ------
        TypeError, ValueError
            If `x` has a wrong dtype or shape.
        """
        array = self._check_dtype(_check.array("x", x))
        single = _check.dimensions("x", array, self.width)
        return (array[np.newaxis] if single else array), single

    def kernel_dtype(self, records: AnyArray) -> np.dtype[Any]:
        """Return the dtype of the records for kernels: float32 up to single precision, else float64."""
        return FLOAT32 if records.dtype.kind == "f" and records.dtype.itemsize <= 4 else FLOAT64

    def convert(self, records: AnyArray) -> AnyArray:
        """Return contiguous records in the dtype for kernels, copied only if necessary."""
        return _check.laid_out(records, self.kernel_dtype(records))

    @abstractmethod
    def first_invalid(self, records: AnyArray) -> int:
        """Return the index of the first invalid record, or -1; `records` is a result of `convert`."""

    @abstractmethod
    def invalid(self, records: AnyArray) -> NDArray[np.bool_]:
        """Return which records are invalid, in agreement with `first_invalid`. It is slower and used for messages."""

    def invalid_error(self, records: AnyArray, *, can_clip: bool = False) -> ValueError:
        """Return the error for a result of `records` with invalid records; with `can_clip` it mentions ``clip=True``."""
        first = -1
        count = 0
        missing = 0
        first_missing = False
        for start in range(0, len(records), PIECE_ROWS):
            piece = self.convert(records[start : start + PIECE_ROWS])
            bad = np.flatnonzero(self.invalid(piece))
            nan = _has_nan(piece[bad])
            if len(bad) and first < 0:
                first, first_missing = start + int(bad[0]), bool(nan[0])
            count, missing = count + len(bad), missing + int(nan.sum())
        hint = self.clip_hint if can_clip and self.clips else ""
        return _check.invalid("x", self.describe(), first, count, len(records), missing, first_missing, hint)

    def clipped(self, records: AnyArray) -> Clipped:
        """Return how many results of `convert` have NaN, and how many others are outside of the domain."""
        if self.first_invalid(records) < 0:
            return Clipped()
        missing = _has_nan(records)
        return Clipped(int(missing.sum()), int((self.invalid(records) & ~missing).sum()))

    def missing_vectors(self, records: AnyArray) -> int:
        """Return how many vectors among results of `records` have NaN; 0 if they are no vectors of numbers."""
        if self.width is None or records.dtype.kind != "f":
            return 0
        with np.errstate(invalid="ignore"):  # signaling NaN
            if not np.isnan(records.max(initial=-np.inf)):  # NaN is the largest of all; no other check is as fast
                return 0
        return int(_has_nan(records).sum())

    @abstractmethod
    def clip(self, records: AnyArray) -> AnyArray:
        """Return the nearest valid records of a result of `convert`. NaN becomes the center, and valid records stay."""

    def check_clip(self, clip: bool) -> bool:
        """Return the argument `clip`, which must be False for categories."""
        if _check.flag("clip", clip) and not self.clips:
            raise ValueError(f"clip must be False for {self.unclipped}, got True")
        return clip


def _has_nan(records: AnyArray) -> NDArray[np.bool_]:
    """Return which records have NaN."""
    nan = np.asarray(records != records)
    return nan if nan.ndim == 1 else np.asarray(nan.any(axis=1))
