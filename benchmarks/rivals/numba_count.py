"""Counting in numba: carry-save adders, and privatization with counting in one pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from .numba_privatize import choose_sides, linf_chunk, unary_chunk, vertices
from .numba_tools import ROWS, fill, njit, stream

SLAB = 128  # words that are counted in parallel


@njit(nogil=True)
def add_planes(planes: Any, s: Any, power: Any) -> None:
    """Add a slab of weight 2^power."""
    for p in range(power, planes.shape[0]):
        for i in range(SLAB):
            carry = planes[p, i] & s[i]
            planes[p, i] ^= s[i]
            s[i] = carry


@njit(nogil=True)
def count_words(words: Any, counts: Any) -> None:
    """Count bits by carry-save adders, eight slabs at a time; `counts` has 64 entries for each word of a row."""
    width, slabs = counts.size // 64, words.size // SLAB
    powers = 1
    while (1 << powers) <= slabs:
        powers += 1
    planes = np.zeros((max(powers, 4), SLAB), np.uint64)
    one, two, four = planes[0], planes[1], planes[2]
    rest = np.empty(SLAB, np.uint64)
    done = 0
    while done + 8 <= slabs:
        x = words[done * SLAB : (done + 8) * SLAB]
        for i in range(SLAB):
            o, t, f = one[i], two[i], four[i]
            a, b = x[i], x[SLAB + i]
            d = o ^ a
            t0, o = (o & a) | (d & b), d ^ b
            a, b = x[2 * SLAB + i], x[3 * SLAB + i]
            d = o ^ a
            t1, o = (o & a) | (d & b), d ^ b
            d = t ^ t0
            f0, t = (t & t0) | (d & t1), d ^ t1
            a, b = x[4 * SLAB + i], x[5 * SLAB + i]
            d = o ^ a
            t0, o = (o & a) | (d & b), d ^ b
            a, b = x[6 * SLAB + i], x[7 * SLAB + i]
            d = o ^ a
            t1, o = (o & a) | (d & b), d ^ b
            d = t ^ t0
            f1, t = (t & t0) | (d & t1), d ^ t1
            d = f ^ f0
            rest[i], f = (f & f0) | (d & f1), d ^ f1
            one[i], two[i], four[i] = o, t, f
        add_planes(planes, rest, 3)
        done += 8
    while done < slabs:
        rest[:] = words[done * SLAB : (done + 1) * SLAB]
        add_planes(planes, rest, 0)
        done += 1
    for p in range(planes.shape[0]):
        for i in range(SLAB):
            for bit in range(64):
                counts[i % width * 64 + bit] += np.int64((planes[p, i] >> np.uint64(bit)) & np.uint64(1)) << p
    for i in range(slabs * SLAB, words.size):
        for bit in range(64):
            counts[i % width * 64 + bit] += np.int64((words[i] >> np.uint64(bit)) & np.uint64(1))


@njit(nogil=True)
def count_chunk(x: Any, out: Any, seed: Any, p: Any) -> None:
    count_words(x.reshape(-1).view(np.uint64), out)


@njit(nogil=True)
def run_linf_chunk(x: Any, out: Any, seed: Any, p: Any) -> None:
    n, rows = x.shape[0], ROWS // x.shape[1]
    packed = np.empty((n, x.shape[1] // 8), np.uint8)
    for i in range((n + rows - 1) // rows):
        stop = min(n, (i + 1) * rows)
        linf_chunk(x[i * rows : stop], packed[i * rows : stop], stream(seed, 100 + i), p)
    count_words(packed.reshape(-1).view(np.uint64), out)


@njit(nogil=True)
def run_unary_chunk(x: Any, out: Any, seed: Any, p: Any) -> None:
    n, k = x.size, out.size
    rows = 32 * ROWS // k
    packed = np.empty((n, k // 8), np.uint8)
    for i in range((n + rows - 1) // rows):
        stop = min(n, (i + 1) * rows)
        unary_chunk(x[i * rows : stop], packed[i * rows : stop], stream(seed, 100 + i), p)
    count_words(packed.reshape(-1).view(np.uint64), out)


@njit(nogil=True, fastmath=True)
def cosines(x: Any, harmonic: Any, phase: Any, lower: Any, per_range: Any) -> Any:
    """Return cos 2 pi (u h - s) for all harmonics h with phases s, by a Chebyshev fit after reduction to one period."""
    f = np.float32
    out = np.empty((x.size, harmonic.size), np.float32)
    for i in range(x.size):
        u = f((x[i] - lower) * per_range)
        for j in range(harmonic.size):
            t = u * harmonic[j] - phase[j]
            s = f(2) * (t - np.floor(t + f(0.5)))
            z = s * s
            tail = f(0.235029808) + z * (f(-0.0253589836) + z * f(0.00159391068))
            out[i, j] = f(1) + z * (f(-4.93480112) + z * (f(4.05869484) + z * (f(-1.33515843) + z * tail)))
    return out


@njit(nogil=True)
def series_chunk(x: Any, out: Any, seed: Any, p: Any) -> None:
    """Privatize 32 terms of a series per person, and count the bits of two people per word."""
    n, rows = x.size, ROWS // 32
    harmonic, phase = np.empty(32, np.float32), np.empty(32, np.float32)
    for j in range(32):
        harmonic[j], phase[j] = j // 2 + 1, np.float32(0.25) * np.float32(j % 2)
    packed = np.zeros((n + 1) // 2, np.uint64)
    for i in range((n + rows - 1) // rows):
        start, stop, part = i * rows, min(n, (i + 1) * rows), stream(seed, 100 + i)
        terms = cosines(x[start:stop], harmonic, phase, p[2], p[3])
        fill(packed[start // 2 : (stop + 1) // 2], stream(part, 1))
        vertex = vertices(terms, part, np.float32(p[0])).view(np.uint32)
        choose_sides(vertex, packed.view(np.uint32)[start:stop], stream(part, 2), 32, p[1])
    if n % 2:
        packed.view(np.uint32)[n] = 0
    count_words(packed, out)
