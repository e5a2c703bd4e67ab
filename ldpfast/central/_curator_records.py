"""Checks of the records of a curator: numbers or rows, clipped to public bounds."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._typing import AnyArray, Floats

PIECE_NUMBERS = 1 << 17  # numbers processed together, which fit in the cache
NAN = ("raise", "center")


def require_ideal(allow_ideal: bool, what: str) -> None:
    """Raise unless the caller accepts a release that is private for noise of real numbers only."""
    if not _check.flag("allow_ideal", allow_ideal):
        raise ValueError(
            f"allow_ideal must be True for {what}, got False: its guarantee is for noise of real numbers, and the rounding of "
            "doubles can reveal more"
        )


def array(x: ArrayLike, nan: str, rows: bool = False) -> AnyArray:
    """Return `x` as an array of at least one number, or of rows if `rows` is true. No value is read."""
    _check.choice("nan", nan, NAN)
    records = _check.floats("x", _check.array("x", x))
    if records.ndim != 1 and not (rows and records.ndim == 2):
        raise ValueError(f"x must have shape (n,), got shape {records.shape}")
    if records.shape[1:] == (0,):
        raise ValueError(f"x must have at least 1 column, got shape {records.shape}")
    if len(records) == 0:
        raise ValueError("x must hold at least 1 record, got none")
    return records


def numbers(x: ArrayLike, lower: float, upper: float, nan: str) -> Floats:
    """Return a copy of `x` clipped to [lower, upper].

    Numbers that are not finite raise ValueError or count as the center, according to `nan`.
    """
    records = array(x, nan)
    clipped = records.astype(np.float64)
    bad = ~np.isfinite(clipped)
    if bad.any():
        if nan == "raise":
            raise invalid_error(records)
        clipped[bad] = lower + (upper - lower) / 2
    return np.clip(clipped, lower, upper, out=clipped)


def invalid_error(records: AnyArray) -> ValueError:
    """Return the error for records that are not finite. It depends on the records, which is outside every guarantee."""
    first, count = -1, 0
    for start in range(0, len(records), PIECE_NUMBERS):
        piece = records[start : start + PIECE_NUMBERS]
        bad = np.flatnonzero(~np.isfinite(piece).reshape(len(piece), -1).all(axis=1))
        first = start + int(bad[0]) if first < 0 and len(bad) else first
        count += len(bad)
    return _check.invalid("x", "finite numbers (or nan='center')", first, count, len(records))
