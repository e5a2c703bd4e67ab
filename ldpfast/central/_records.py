"""What the curator has: numbers or rows, clipped to public bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check

PIECE = 1 << 17  # numbers looked at together
NAN = ("raise", "centre")


def array(x: ArrayLike, nan: str, rows: bool = False) -> NDArray[Any]:
    """Numbers, shape (n,), or where they may be rows, shape (n, dim), too, of at least one record; no value is read."""
    _check.choice("nan", nan, NAN)
    records = _check.floats("x", _check.array("x", x))
    if records.ndim != 1 and not (rows and records.ndim == 2):
        raise ValueError(f"x must have shape (n,), got shape {records.shape}")
    if records.shape[1:] == (0,):
        raise ValueError(f"x must have at least 1 column, got shape {records.shape}")
    if len(records) == 0:
        raise ValueError("x must hold at least 1 record, got none")
    return records


def numbers(x: ArrayLike, lower: float, upper: float, nan: str) -> NDArray[np.float64]:
    """Numbers clipped to [lower, upper], a copy; those that are not finite are refused, or count as the centre."""
    records = array(x, nan)
    clipped = records.astype(np.float64)
    bad = ~np.isfinite(clipped)
    if bad.any():
        if nan == "raise":
            raise refuse(records)
        clipped[bad] = lower + (upper - lower) / 2
    return np.clip(clipped, lower, upper, out=clipped)


def refuse(records: NDArray[Any]) -> ValueError:
    """The error for numbers or rows of which some are not finite: that is outside of every guarantee."""
    first, bad = -1, 0
    for at in range(0, len(records), PIECE):
        piece = records[at : at + PIECE]
        wrong = np.flatnonzero(~np.isfinite(piece).reshape(len(piece), -1).all(axis=1))
        first = at + int(wrong[0]) if first < 0 and len(wrong) else first
        bad += len(wrong)
    return _check.outside("x", "finite numbers (or nan='centre')", first, bad, len(records))
