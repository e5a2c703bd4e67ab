"""Bytes of counts in saved states: this module alone decides how they are written.

A plain layout has the arrays as they are in memory. A packed one, for large states, has each array with its narrowest integers,
without the zeros if that is shorter. The bytes are the same on every platform, which no library for compression promises.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._envelope import seal, unseal
from .._typing import AnyArray

PACKED_FROM = 1 << 16  # bytes of a plain state that is tried to be packed
# What packed bytes may become in memory, so that a few forged bytes cannot use it up.
FREE_BYTES = 1 << 26
MAX_GROWTH = 64
WIDTHS = tuple(map(np.dtype, ("<u1", "<u2", "<u4", "<u8", "<i1", "<i2", "<i4", "<i8")))
GAPS = np.dtype(np.uint32)  # the widest gaps
DENSE = 255  # in the place of the width of gaps: all values are there, also zeros
_ARRAY = struct.Struct("<BBQ")  # width of the values, width of the gaps between them, number of values


class Magic(NamedTuple):
    """The first eight bytes of both layouts of an object; the last of them is the version."""

    plain: bytes
    packed: bytes


class SavedCounts(NamedTuple):
    """The counts of a saved state, which are not read yet."""

    payload: bytes
    is_packed: bool


def seal_counts(magic: Magic, header: Mapping[str, Any], states: Sequence[AnyArray]) -> bytes:
    """Return the bytes of a saved state. Equal states give equal bytes."""
    size = sum(state.nbytes for state in states)
    if size >= PACKED_FROM:
        payload = _packed(states, True)
        if size > _largest(payload):
            payload = _packed(states, False)
        if len(payload) < size:
            return seal(magic.packed, dict(header), payload)
    return seal(magic.plain, dict(header), b"".join(map(_little, states)))


def unseal_counts(magic: Magic, what: str, data: bytes) -> tuple[dict[str, Any], SavedCounts]:
    """Return the header and the counts of bytes that `seal_counts` returned; errors as for `unseal`."""
    header, payload = unseal(magic.plain, what, data, magic.packed)
    return header, SavedCounts(payload, bytes(data[:8]) == magic.packed)


def read_counts(saved: SavedCounts, layouts: Sequence[tuple[tuple[int, ...], np.dtype[Any]]]) -> list[AnyArray]:
    """Return the arrays of a saved state, whose shapes and dtypes the question knows.

    Raises
    ------
    ValueError
        If the payload has another size, or is too small for arrays of this size, before memory is allocated; if it is damaged.
    """
    sizes = [math.prod(shape) * dtype.itemsize for shape, dtype in layouts]
    if not saved.is_packed:
        if len(saved.payload) != sum(sizes):
            raise ValueError(f"data must hold a state of {sum(sizes)} bytes, got {len(saved.payload)}")
        states, start = [], 0
        for (shape, dtype), size in zip(layouts, sizes, strict=True):
            state = np.frombuffer(saved.payload[start : start + size], dtype.newbyteorder("<")).astype(dtype)
            states.append(state.reshape(shape))
            start += size
        return states
    most = _largest(saved.payload)
    if sum(sizes) > most:
        raise ValueError(f"data must hold a packed state of at most {most} bytes, got one of {sum(sizes)}")
    found, start = [], 0
    for shape, dtype in layouts:
        state, start = _unpacked(saved.payload, start, math.prod(shape), dtype)
        found.append(state.reshape(shape))
    if start != len(saved.payload):
        raise ValueError(f"data must hold a packed state of {start} bytes, got {len(saved.payload)}")
    return found


def _largest(payload: bytes) -> int:
    """Return the largest size of arrays that packed bytes may have."""
    return max(FREE_BYTES, MAX_GROWTH * len(payload))


def _packed(states: Sequence[AnyArray], without_zeros: bool) -> bytes:
    parts = []
    for state in states:
        flat = np.ascontiguousarray(state).reshape(-1)
        width = _narrowest(flat)
        places = np.flatnonzero(flat)
        gaps = np.diff(places, prepend=-1) - 1  # zeros before each value
        gap_width = _narrowest(gaps)
        is_shorter = len(places) * (width.itemsize + gap_width.itemsize) < flat.size * width.itemsize
        if without_zeros and is_shorter and np.can_cast(gap_width, GAPS):
            head = _ARRAY.pack(WIDTHS.index(width), WIDTHS.index(gap_width), len(places))
            parts += [head, gaps.astype(gap_width).tobytes(), flat[places].astype(width).tobytes()]
        else:
            parts += [_ARRAY.pack(WIDTHS.index(width), DENSE, flat.size), flat.astype(width).tobytes()]
    return b"".join(parts)


def _unpacked(payload: bytes, start: int, size: int, dtype: np.dtype[Any]) -> tuple[AnyArray, int]:
    """Return an array of a packed state, and where it ends."""
    if start + _ARRAY.size > len(payload):
        raise ValueError("data must hold a packed state, got one that is cut off")
    width, gap_width, count = _ARRAY.unpack_from(payload, start)
    start += _ARRAY.size
    if gap_width == DENSE:
        values, end = _integers(payload, start, width, count, dtype)
        if count != size:
            raise ValueError(f"data must hold a packed state with {size} values of an array, got {count}")
        return values.astype(dtype), end
    gaps, start = _integers(payload, start, gap_width, count, GAPS)
    values, end = _integers(payload, start, width, count, dtype)
    places = np.cumsum(gaps.astype(np.int64) + 1) - 1  # no overflow, because each gap has at most 32 bits
    if count and places[-1] >= size:
        raise ValueError(f"data must hold a packed state with values at places below {size}, got {places[-1]}")
    state: AnyArray = np.zeros(size, dtype)
    state[places] = values
    return state, end


def _integers(payload: bytes, start: int, width: int, count: int, dtype: np.dtype[Any]) -> tuple[AnyArray, int]:
    """Return integers of a packed state that a dtype can hold, and where they end."""
    narrow = WIDTHS[width] if width < len(WIDTHS) else None
    if narrow is None or not np.can_cast(narrow, dtype):
        raise ValueError(f"data must hold a packed state of integers that fit into {dtype}")
    end = start + count * narrow.itemsize
    if end > len(payload):
        raise ValueError("data must hold a packed state, got one that is cut off")
    return np.frombuffer(payload, narrow, count, start), end


def _narrowest(values: AnyArray) -> np.dtype[Any]:
    """Return the narrowest integers that hold values; little-endian."""
    if not values.size:
        return WIDTHS[0]
    low, high = np.min_scalar_type(values.min()), np.min_scalar_type(values.max())
    found = np.promote_types(low, high)
    return (found if np.can_cast(found, values.dtype) else values.dtype).newbyteorder("<")


def _little(state: AnyArray) -> bytes:
    return np.ascontiguousarray(state).astype(state.dtype.newbyteorder("<"), copy=False).tobytes()
