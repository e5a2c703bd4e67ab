"""States that are exact sums."""

from __future__ import annotations

import numpy as np

from .._typing import AnyArray, Floats
from ._format import Format


class SumFormat(Format):
    """Format whose state is 128-bit integer sums, one row (low word, high word) per quantity."""

    def merge(self, state: AnyArray, other: AnyArray) -> None:
        low = state[..., 0] + other[..., 0]
        state[..., 1] += other[..., 1] + (low < other[..., 0])
        state[..., 0] = low


def sums_and_squares(state: AnyArray) -> tuple[Floats, Floats]:
    """Return the two halves of states with sums of numbers, then sums of their squares; leading axes are kept."""
    dim = state.shape[-2] // 2
    return sums_of(state[..., :dim, :]), sums_of(state[..., dim:, :])


def sums_of(rows: AnyArray) -> Floats:
    """Return 128-bit sums as doubles.

    Sign and magnitude are separated first, because the low word of a small negative number is large.
    """
    low, high = rows[..., 0], rows[..., 1]
    negative = high >> np.uint64(63) == 1
    low, high = np.where(negative, ~low + np.uint64(1), low), np.where(negative, ~high + (low == 0), high)
    return np.asarray(np.where(negative, -1.0, 1.0) * (high.astype(np.float64) * 2.0**64 + low.astype(np.float64)))
