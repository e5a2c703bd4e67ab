"""What others make of the cases of `ldpfast.bench`: numba, and the libraries that answer the same question.

Each function takes a `Case` and returns a call whose answer `case.check` judges. numba is written as well as it can be:
loops that LLVM vectorises, polynomial logarithms and sines, carry-save adders, and a counter-based splitmix64 in place of
numba's own Mersenne Twister, which is several times slower. It is not cryptographic, and its coins have 16 bits or more.

The libraries take one record at a time (OpenDP's Laplace takes an array), so they get fewer people. What is not here
answers another question: the estimates of multi-freq-ldpy are clipped and normalised, the Laplace mechanism of others is a
central one, OpenDP's randomised response for bits is Warner's.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

import ldpfast as ldp
from ldpfast import _coins, bench
from ldpfast.bench import EPSILON, Case, Task

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # idle threads of numba shall not take part in what comes next
numba: Any = import_module("numba") if find_spec("numba") is not None else None
prange: Any = numba.prange if numba else range

AnyArray = NDArray[Any]
Function = TypeVar("Function", bound=Callable[..., Any])
ROWS = 1 << 14  # numbers per chunk: buffers stay in cache


def njit(**options: bool) -> Callable[[Function], Function]:
    """numba's, with NumPy's rule for division: a check for zero would keep LLVM from vectorising. Nothing without numba: the
    functions are never called then."""
    if not numba:
        return lambda function: function
    return cast(Callable[[Function], Function], numba.njit(error_model="numpy", **options))


# Random words -------------------------------------------------------------------------------------------------------


@njit(nogil=True)
def fill(words: Any, seed: Any) -> None:
    """splitmix64 in counter mode: eight words at a time in a vector register."""
    for i in range(words.size):
        z = seed + np.uint64(i) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        words[i] = z ^ (z >> np.uint64(31))


@njit(nogil=True)
def stream(seed: Any, number: Any) -> Any:
    """The seed of stream `number` of a call: a word of splitmix64 itself, mixed once more than those of `fill`."""
    z = seed ^ (np.uint64(number) * np.uint64(0xD1342543DE82EF95) + np.uint64(0x2545F4914F6CDD1D))
    z = (z ^ (z >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    z = (z ^ (z >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return z ^ (z >> np.uint64(32))


def fresh_seed() -> np.uint64:
    return np.uint64(np.random.SeedSequence().generate_state(1, np.uint64)[0])


# Chunks: chunk(x, out, seed, parameters) ----------------------------------------------------------------------------


@njit(nogil=True)
def respond(x: Any, word: Any, out: Any, keep: Any, share: Any, reciprocal: Any) -> None:
    for i in range(x.size):
        truth = np.uint32(x[i])
        past = np.uint32(word[i] - keep)
        other = np.uint32((np.uint64(past) * np.uint64(reciprocal)) >> np.uint64(32))
        rest = np.uint32(past - np.uint32(other * share))
        other = np.uint32(other + np.uint32(rest >= share))
        lie = np.uint32(other + np.uint32(other >= truth))
        out[i] = np.uint8(lie if word[i] >= keep else truth)


@njit(nogil=True)
def response_chunk(x: Any, out: Any, seed: Any, p: Any) -> None:
    words = np.empty((x.size + 1) // 2, np.uint64)
    fill(words, seed)
    respond(x, words.view(np.uint32), out, np.uint32(p[0]), np.uint32(p[1]), np.uint32(p[2]))


@njit(nogil=True)
def residue_chunk(x: Any, out: Any, seed: Any, p: Any) -> None:
    per_width, offset, last = p[3], p[4], np.int32(p[5])
    symbol = np.empty(x.size, np.uint8)
    for i in range(x.size):
        symbol[i] = np.uint8(np.int32(math.floor((x[i] - offset) * per_width)) & last)
    response_chunk(symbol, out, seed, p)


@njit(nogil=True)
def sign_bit_chunk(x: Any, out: Any, seed: Any, p: Any) -> None:
    start, slope = p
    words = np.empty((x.size + 1) // 2, np.uint64)
    fill(words, seed)
    coin = words.view(np.int32)
    for i in range(x.size):
        out[i] = np.uint8(coin[i] < np.int32(start + slope * x[i]))


@njit(nogil=True)
def unary_chunk(x: Any, out: Any, seed: Any, p: Any) -> None:
    """Coins of 16 bits by bit planes, from the last digit to the first: `or` where the digit is one, else `and`."""
    threshold, optimized = np.uint64(p[0]), p[1] != 0
    n = out.size // 8
    plane = np.empty(n, np.uint64)
    words = out.reshape(-1).view(np.uint64)
    for digit in range(16):
        fill(plane, stream(seed, digit))
        if digit == 0:
            words[:] = 0
        if (threshold >> np.uint64(digit)) & np.uint64(1):
            for i in range(n):
                words[i] |= plane[i]
        else:
            for i in range(n):
                words[i] &= plane[i]
    if optimized:  # a fair coin in place of the own bit
        fair = np.empty(x.size, np.uint64)
        fill(fair, stream(seed, 16))
        for i in range(x.size):
            byte, bit = x[i] >> 3, np.uint8(1) << np.uint8(x[i] & 7)
            out[i, byte] = (out[i, byte] & ~bit) | (np.uint8(fair[i]) & bit)
    else:
        for i in range(x.size):
            out[i, x[i] >> 3] ^= np.uint8(1) << np.uint8(x[i] & 7)


@njit(nogil=True)
def popcount(w: Any) -> Any:
    """LLVM knows this for the instruction."""
    w = w - ((w >> np.uint64(1)) & np.uint64(0x5555555555555555))
    w = (w & np.uint64(0x3333333333333333)) + ((w >> np.uint64(2)) & np.uint64(0x3333333333333333))
    w = (w + (w >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (w * np.uint64(0x0101010101010101)) >> np.uint64(56)


@njit(nogil=True)
def vertices(x: Any, seed: Any, scale: Any) -> Any:
    """A random vertex of the cube for each row: 16 random bits per coordinate, packed; dim a multiple of 8."""
    n, dim = x.shape
    words = np.empty((n * dim + 3) // 4, np.uint64)
    fill(words, seed)
    coin, flat = words.view(np.uint16), x.reshape(-1)
    plus = np.empty(n * dim, np.uint8)
    for i in range(n * dim):
        plus[i] = np.uint8(np.int32(coin[i]) < np.int32(flat[i] * scale + np.float32(32768)))
    eights = plus.view(np.uint64)
    vertex = np.empty(n * dim // 8, np.uint8)
    for i in range(vertex.size):
        vertex[i] = np.uint8((eights[i] * np.uint64(0x0102040810204080)) >> np.uint64(56))
    return vertex


@njit(nogil=True)
def choose_sides(vertex: Any, direction: Any, seed: Any, dim: Any, heads: Any) -> None:
    """Negate directions where the coin and the vertex say so; words of one dtype, whole ones per row."""
    width = dim // (8 * direction.itemsize)
    signs = np.empty(direction.size // width, np.uint64)
    fill(signs, seed)
    for row in range(signs.size):
        differ = np.uint64(0)
        for j in range(row * width, (row + 1) * width):
            differ += popcount(np.uint64(vertex[j] ^ direction[j]))
        tails = (signs[row] >> np.uint64(11)) * 2.0**-53 >= heads
        flip = np.uint64(0) - np.uint64((np.uint64(2) * differ > np.uint64(dim)) ^ tails)
        for j in range(row * width, (row + 1) * width):
            direction[j] ^= flip


@njit(nogil=True)
def linf_chunk(x: Any, out: Any, seed: Any, p: Any) -> None:
    """dim a multiple of 64."""
    vertex, direction = vertices(x, seed, np.float32(p[0])).view(np.uint64), out.reshape(-1).view(np.uint64)
    fill(direction, stream(seed, 1))
    choose_sides(vertex, direction, stream(seed, 2), x.shape[1], p[1])


@njit(nogil=True, fastmath=True)
def cosines(x: Any, harmonic: Any, phase: Any, lower: Any, per_range: Any) -> Any:
    """cos 2 pi (u h - s) for all harmonics h with their phases s; a Chebyshev fit after whole turns are taken away."""
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
    """Terms, vertices, directions of 32 bits per person; counted two people at a time."""
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


@njit(nogil=True, fastmath=True)
def normals(out: Any, seed: Any) -> None:
    """Box-Muller with the polynomials of the library: LLVM has no vector logarithm, sine or cosine of its own."""
    f = np.float32
    half = out.size // 2
    words = np.empty((half + 1) // 2, np.uint64)
    fill(words, stream(seed, 1))
    word = words.view(np.uint32)
    u = np.empty(half, np.float32)
    for i in range(half):
        u[i] = (f(np.int32(word[i] >> np.uint32(8))) + f(0.5)) * f(2.0**-24)
    bits = u.view(np.int32)
    radius = np.empty(half, np.float32)
    for i in range(half):
        exponent = np.int32(bits[i] - np.int32(0x3F3504F3)) >> np.int32(23)
        bits[i] = np.int32(bits[i] - np.int32(exponent << np.int32(23)))
        radius[i] = f(exponent)
    for i in range(half):
        s = (u[i] - f(1)) / (u[i] + f(1))
        z = s * s
        atanh = s * (f(1) + z * (f(0.33333408) + z * (f(0.19987426) + z * f(0.14962195))))
        radius[i] = np.sqrt(max(radius[i] * f(-1.38629436112) - f(4) * atanh, f(0)))
    fill(words, stream(seed, 2))
    for i in range(half):
        w = word[i]
        t = (f(np.int32(w >> np.uint32(8))) + f(0.5)) * f(2.0**-24)
        z = t * t
        sine = t * (f(0.78539816) + z * (f(-0.08074543) + z * (f(0.002490007) - z * f(0.000035954290))))
        cosine = f(1) + z * (f(-0.30842513) + z * (f(0.015854325) + z * (f(-0.00032593858) + z * f(3.529797e-6))))
        first, second = f(1) - f(np.int32(w & np.uint32(2))), f(1) - f(np.int32(w & np.uint32(1))) * f(2)
        swap = (w & np.uint32(4)) != np.uint32(0)
        out[i] = radius[i] * (sine if swap else cosine) * first
        out[half + i] = radius[i] * (cosine if swap else sine) * second


@njit(nogil=True, fastmath=True)
def l2_chunk(x: Any, out: Any, seed: Any, p: Any) -> None:
    per_radius, scale, heads = np.float32(p[0]), p[1], p[2]
    n, dim = x.shape
    normal = np.empty((n * dim + 1) // 2 * 2, np.float32)
    normals(normal, seed)
    coins = np.empty(2 * n, np.uint64)
    fill(coins, stream(seed, 3))
    for row in range(n):
        u, v, y = normal[row * dim : (row + 1) * dim], x[row], out[row]
        uu, uv, vv = np.float32(0), np.float32(0), np.float32(0)
        for j in range(dim):
            uu += u[j] * u[j]
            uv += u[j] * v[j]
            vv += v[j] * v[j]
        minus = uv < 0
        minus ^= (coins[2 * row] >> np.uint64(11)) * 2.0**-53 >= (1 + math.sqrt(vv) * per_radius) / 2
        minus ^= (coins[2 * row + 1] >> np.uint64(11)) * 2.0**-53 >= heads
        factor = np.float32((-scale if minus else scale) / math.sqrt(uu))
        for j in range(dim):
            y[j] = u[j] * factor


@njit(nogil=True, fastmath=True)
def laplace_chunk(x: Any, out: Any, seed: Any, p: Any) -> None:
    """In doubles: unsafe."""
    b = p[0]
    words = np.empty(x.size, np.uint64)
    fill(words, seed)
    u = np.empty(x.size, np.float64)
    for i in range(x.size):
        u[i] = (np.float64(np.int64(words[i] >> np.uint64(12))) + 0.5) * 2.0**-52
    bits = u.view(np.int64)
    exponents = np.empty(x.size, np.float64)
    for i in range(x.size):
        exponent = (bits[i] - np.int64(0x3FE6A09E667F3BCD)) >> np.int64(52)
        bits[i] -= exponent << np.int64(52)
        exponents[i] = np.float64(exponent)
    for i in range(x.size):
        s = (u[i] - 1.0) / (u[i] + 1.0)
        z = s * s
        series = 0.0769358046306704 + z * (0.0662438154173 + z * 0.0663105184)
        series = 0.14285714284409564 + z * (0.111111113384648 + z * (0.090908868690081529 + z * series))
        atanh = s * (1.0 + z * (0.3333333333333333 + z * (0.20000000000003747 + z * series)))
        size = -(exponents[i] * 0.6931471805599453 + 2.0 * atanh) * b
        out[i] = x[i] + (size if words[i] & np.uint64(1) else -size)


# Counting -----------------------------------------------------------------------------------------------------------

SLAB = 128  # words that are counted side by side


@njit(nogil=True)
def add_planes(planes: Any, s: Any, level: Any) -> None:
    """One more slab of weight 2^level."""
    for p in range(level, planes.shape[0]):
        for i in range(SLAB):
            carry = planes[p, i] & s[i]
            planes[p, i] ^= s[i]
            s[i] = carry


@njit(nogil=True)
def count_words(words: Any, counts: Any) -> None:
    """Carry-save adders, eight slabs at a time; counts has 64 entries for each word of a row."""
    width, slabs = counts.size // 64, words.size // SLAB
    levels = 1
    while (1 << levels) <= slabs:
        levels += 1
    planes = np.zeros((max(levels, 4), SLAB), np.uint64)
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


# Descent: one person after the other --------------------------------------------------------------------------------

PEOPLE = 1 << 11  # whose coins are drawn together


@njit(nogil=True)
def median_walk(x: Any, seed: Any, keep: Any, lower: Any, upper: Any, most: Any, any_time: Any, start: Any) -> Any:
    """Sums over the positions but the first `start`: of their distances u to the middle, u^2, u^3, u^4, and over the
    answers 1 of 1, u, u^2. Steps of size `most`, or most / sqrt(i)."""
    words, lie, step = np.empty(PEOPLE // 2, np.uint64), np.empty(PEOPLE, np.uint8), np.full(PEOPLE, most)
    word = words.view(np.uint32)
    origin = (lower + upper) / 2
    at = origin
    u1, u2, u3, u4, y0, y1, y2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    done = 0
    while done < x.size:
        if done == start:
            u1, u2, u3, u4, y0, y1, y2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        now = min(PEOPLE, x.size - done, start - done if done < start else PEOPLE)
        fill(words, stream(seed, done))
        for i in range(now):
            lie[i] = np.uint8(word[i] >= keep)
        if any_time:
            for i in range(now):
                step[i] = most / np.sqrt(np.float64(done + i + 1))
        for i in range(now):
            above, below = min(at + step[i], upper), max(at - step[i], lower)
            bit = (x[done + i] >= at) ^ (lie[i] != 0)
            u = at - origin
            square, yes = u * u, 1.0 if bit else 0.0
            u1 += u
            u2 += square
            u3 += u * square
            u4 += square * square
            y0 += yes
            y1 += yes * u
            y2 += yes * square
            at = above if bit else below
        done += now
    return np.array([u1, u2, u3, u4, y0, y1, y2])


def median_case(case: Case) -> Task:
    model, n, start = case.mechanism, len(case.x), bench.left_out(len(case.x))
    keep, any_time = np.uint32(_coins.response(2, EPSILON).keep), model.horizon is None
    most = (model.upper - model.lower) / (math.sqrt(2) if any_time else 2 * math.sqrt(n))

    def call() -> tuple[float, int]:
        sums = median_walk(case.x, fresh_seed(), keep, model.lower, model.upper, most, any_time, start)
        return (model.lower + model.upper) / 2 + sums[0] / (n - start), n

    return call


@njit(nogil=True, fastmath=True)
def logistic_walk(x: Any, y: Any, rates: Any, seed: Any, p: Any, start: Any) -> Any:
    """Sums over the positions but the first `start`: S of them so far, then of S, S^2 and s S over all s."""
    scale, heads, projection = p
    n, dim = x.shape
    rows = PEOPLE // 8
    normal, coins = np.empty((rows * dim + 1) // 2 * 2, np.float32), np.empty(2 * rows, np.uint64)
    row, position, sums = np.empty((rows, dim), np.float32), np.zeros(dim), np.zeros((4, dim))
    done, counted = 0, 0
    while done < n:
        if done == start:
            sums[:] = 0
            counted = 0
        now = min(rows, n - done, start - done if done < start else rows)
        part = stream(seed, done)
        normals(normal, part)
        fill(coins, stream(part, 3))
        for i in range(now):
            for j in range(dim):
                row[i, j] = np.float32(x[done + i, j])
        for i in range(now):
            u, v = normal[i * dim : (i + 1) * dim], row[i]
            uu, uv, vv = np.float32(0), np.float32(0), np.float32(0)
            for j in range(dim):
                uu += u[j] * u[j]
                uv += u[j] * v[j]
                vv += v[j] * v[j]
            z = 0.0
            for j in range(dim):
                z += position[j] * np.float64(v[j])
            norm = math.sqrt(vv)
            slope = (1 / (1 + math.exp(-z / max(norm, 1.0))) - y[done + i]) * min(norm, 1.0)
            minus = slope * uv < 0
            minus ^= (coins[2 * i] >> np.uint64(11)) * 2.0**-53 >= (1 + abs(slope)) / 2
            minus ^= (coins[2 * i + 1] >> np.uint64(11)) * 2.0**-53 >= heads
            factor = rates[done + i] * (-scale if minus else scale) / math.sqrt(uu)
            square = 0.0
            for j in range(dim):
                position[j] -= factor * np.float64(u[j])
                square += position[j] * position[j]
            if square > projection * projection:
                for j in range(dim):
                    position[j] *= projection / math.sqrt(square)
            counted += 1
            for j in range(dim):
                s = sums[0, j] + position[j]
                sums[0, j] = s
                sums[1, j] += s
                sums[2, j] += s * s
                sums[3, j] += counted * s
        done += now
    return sums


def logistic_case(case: Case) -> Task:
    model, n, start = case.mechanism, len(case.x), bench.left_out(len(case.x))
    p = math.sqrt(model.variance * model.dim), float(_coins.binary(EPSILON).p), model.projection

    def call() -> tuple[AnyArray, int]:
        rates = model.eta0 * np.arange(1, n + 1) ** -model.exponent
        return logistic_walk(case.x, case.y, rates, fresh_seed(), p, start)[0] / (n - start), n

    return call


# Drivers ------------------------------------------------------------------------------------------------------------


def drivers(chunk: Any) -> tuple[Any, Any]:
    """Loops over chunks: on this thread, and on all threads of numba."""

    @njit(nogil=True)
    def serial(x: Any, out: Any, rows: Any, seed: Any, p: Any) -> None:
        for c in range((len(x) + rows - 1) // rows):
            chunk(x[c * rows : (c + 1) * rows], out[c * rows : (c + 1) * rows], stream(seed, c), p)

    @njit(parallel=True, nogil=True)
    def parallel(x: Any, out: Any, rows: Any, seed: Any, p: Any) -> None:
        for c in prange((len(x) + rows - 1) // rows):
            chunk(x[c * rows : (c + 1) * rows], out[c * rows : (c + 1) * rows], stream(seed, c), p)

    return serial, parallel


def counting_drivers(chunk: Any) -> tuple[Any, Any]:
    """The same where a chunk adds to a row of counts of its own."""

    @njit(nogil=True)
    def serial(x: Any, out: Any, rows: Any, seed: Any, p: Any) -> None:
        for c in range((len(x) + rows - 1) // rows):
            chunk(x[c * rows : (c + 1) * rows], out[c], stream(seed, c), p)

    @njit(parallel=True, nogil=True)
    def parallel(x: Any, out: Any, rows: Any, seed: Any, p: Any) -> None:
        for c in prange((len(x) + rows - 1) // rows):
            chunk(x[c * rows : (c + 1) * rows], out[c], stream(seed, c), p)

    return serial, parallel


_drivers: dict[Any, tuple[Any, Any]] = {}


def _numba(make: Any, chunk: Any, case: Case, out: AnyArray, rows: int, p: tuple[float, ...], threads: int) -> Task:
    if chunk not in _drivers:
        _drivers[chunk] = make(chunk)
    loop = _drivers[chunk][threads > 1]

    def call() -> AnyArray:
        if threads > 1:
            numba.set_num_threads(threads)
        loop(case.x, out, rows, fresh_seed(), p)
        return out

    return call


def _privatizer(chunk: Any, case: Case, shape: tuple[int, ...], dtype: Any, p: tuple[float, ...], threads: int) -> Task:
    rows = max(1, ROWS * len(case.x) // case.x.size)
    return _numba(drivers, chunk, case, np.zeros(shape, dtype), rows, p, threads)


def _counter(chunk: Any, case: Case, rows: int, k: int, p: tuple[float, ...], threads: int) -> Task:
    chunks = -(-len(case.x) // rows)

    def call() -> AnyArray:
        counts = _numba(counting_drivers, chunk, case, np.zeros((chunks, k), np.int64), rows, p, threads)()
        total: AnyArray = counts.sum(axis=0)
        return total

    return call


@njit(nogil=True)
def levels_chunk(x: Any, out: Any, seed: Any, p: Any) -> None:
    """Whole periods of people; the first `slots` of each group of the search answer it. out: 4 counts per group."""
    keep, share, reciprocal = np.uint32(p[0]), np.uint32(p[1]), np.uint32(p[2])
    period, slots, groups, per_width = int(p[3]), int(p[4]), int(p[5]), p[6]
    m = x.size // period
    words, symbol, report = np.empty(m // 2 + 1, np.uint64), np.empty(m, np.uint8), np.empty(m, np.uint8)
    for slot in range(slots * groups):
        group = slot // slots
        scale = per_width * 0.5**group
        for i in range(m):
            symbol[i] = np.uint8(np.int32(math.floor(x[i * period + slot] * scale)) & 3)
        fill(words, stream(seed, 200 + slot))
        respond(symbol, words.view(np.uint32), report, keep, share, reciprocal)
        one, two, three = 0, 0, 0
        for i in range(m):
            one += report[i] == 1
            two += report[i] == 2
            three += report[i] == 3
        out[4 * group] += m - one - two - three
        out[4 * group + 1] += one
        out[4 * group + 2] += two
        out[4 * group + 3] += three


@njit(nogil=True)
def bits_chunk(x: Any, out: Any, seed: Any, p: Any) -> None:
    """Whole periods of people; those from `first` on say whether they are at least `edge`. out: ones, people."""
    keep, period, first, edge = np.uint32(p[0]), int(p[1]), int(p[2]), p[3]
    m, width = x.size // period, period - first
    words = np.empty((m * width + 1) // 2, np.uint64)
    fill(words, seed)
    word, ones = words.view(np.uint32), 0
    for i in range(m):
        for j in range(width):
            ones += (x[i * period + first + j] >= edge) ^ (word[i * width + j] >= keep)
    out[0] += ones
    out[1] += m * width


def gaussian_case(case: Case, threads: int) -> Task:
    model, plan = case.mechanism, case.mechanism.plan(len(case.x))
    levels, period = model._design.levels, plan.second.stop
    four, two = levels.questions[0]._coin, _coins.response(2, EPSILON)
    shape = (float(period), float(plan.search.slots), float(plan.search.groups), 1 / float(levels.widths[0]))
    rows = 2048 * period
    search = _counter(
        levels_chunk, case, rows, 4 * len(levels), (four.keep, four.share, four.reciprocal, *shape), threads
    )

    def call() -> float:
        edge = bench.search_edge(model, search())
        p = (float(two.keep), float(period), float(plan.search.stop), edge)
        ones, people = _counter(bits_chunk, case, rows, 2, p, threads)()
        return bench.inverted(model, edge, ones, people)

    return call


def numba_case(name: str, case: Case, threads: int) -> Task | None:
    """The case in numba, or None where there is nothing to compare."""
    mechanism: Any = case.mechanism
    n = len(case.x)
    heads = float(_coins.binary(EPSILON).p)
    if name.startswith("l2"):
        p: tuple[float, ...] = (1 / mechanism.radius, mechanism.scale, heads)
        return _privatizer(l2_chunk, case, case.x.shape, np.float32, p, threads)
    if name.startswith("linf"):
        p = (32767.5 / mechanism.radius, heads)
        return _privatizer(linf_chunk, case, (n, mechanism.dim // 8), np.uint8, p, threads)
    if name.startswith("run-linf"):
        counts = _counter(run_linf_chunk, case, 8192, mechanism.dim, (32767.5 / mechanism.radius, heads), threads)
        return lambda: mechanism.scale * (2 * counts() / n - 1)
    if name.startswith("median"):
        return median_case(case)
    if name == "gaussian":
        return gaussian_case(case, threads)
    if name.startswith("logistic"):
        return logistic_case(case)
    if name.startswith("frequencies"):
        coins = _coins.unary(EPSILON, True)
        counts = _counter(run_unary_chunk, case, 4096, mechanism.k, (round(float(coins.q) * 65536), 1), threads)
        return lambda: (counts() / n - float(coins.q)) / float(coins.p - coins.q)
    if name.startswith("series"):
        lower, upper = mechanism.domain.range
        counts = _counter(series_chunk, case, 1 << 17, 64, (32767.5, heads, lower, 1 / (upper - lower)), threads)
        return lambda: mechanism.mechanism.scale * (2 * counts().reshape(2, 32).sum(axis=0) / n - 1)
    if name.startswith("unary"):
        p = (round(float(_coins.unary(EPSILON, False).q) * 65536), 0)
        rows = 32 * ROWS // mechanism.k
        return _numba(drivers, unary_chunk, case, np.zeros((n, mechanism.k // 8), np.uint8), rows, p, threads)
    if name.startswith("count"):
        return _counter(count_chunk, case, (8 << 20) // case.x.shape[1], 8 * case.x.shape[1], (0.0,), threads)
    if name.startswith("response"):
        coin = _coins.response(mechanism.k, EPSILON)
        return _privatizer(response_chunk, case, (n,), np.uint8, (coin.keep, coin.share, coin.reciprocal), threads)
    if name.startswith("residue"):
        coin = _coins.response(mechanism.modulus, EPSILON)
        p = (coin.keep, coin.share, coin.reciprocal, 1 / mechanism.width, mechanism.offset, mechanism.modulus - 1)
        return _privatizer(residue_chunk, case, (n,), np.uint8, p, threads)
    if name.startswith("sign-bit"):
        slope = 2.0**32 / (mechanism.debiasing.one - mechanism.debiasing.zero)
        p = (-slope * mechanism.debiasing.zero - 2.0**31, slope)
        return _privatizer(sign_bit_chunk, case, (n,), np.uint8, p, threads)
    if name.startswith("laplace"):
        p = ((mechanism.upper - mechanism.lower) / mechanism.epsilon,)
        return _privatizer(laplace_chunk, case, (n,), np.float64, p, threads)
    return None


# Libraries ----------------------------------------------------------------------------------------------------------


def fewer(case: Case, n: int) -> Case:
    """The same question for the first n records; answers are judged by the same rule."""
    if n >= len(case.x):
        return case
    check = case.check
    if not isinstance(check, partial):
        raise TypeError("the check of this case is not for part of it")
    arguments = [a[:n] if isinstance(a, np.ndarray) and len(a) == len(case.x) else a for a in check.args]
    return replace(case, units=n, x=case.x[:n], check=partial(check.func, *arguments))


def categories(case: Case) -> int:
    mechanism: Any = case.mechanism
    return int(mechanism.k)


def pure_ldp_response(case: Case) -> Task:
    library = import_module("pure_ldp.frequency_oracles.direct_encoding")
    client, people = library.DEClient(EPSILON, categories(case), index_mapper=lambda x: x), case.x.tolist()
    return lambda: np.array([client.privatise(x) for x in people], np.uint8)


def multi_freq_response(case: Case) -> Task:
    library = import_module("multi_freq_ldpy.pure_frequency_oracles.GRR")
    k, people = categories(case), case.x.tolist()
    return lambda: np.array([library.GRR_Client(x, k, EPSILON) for x in people], np.uint8)


def opendp_response(case: Case) -> Task:
    dp = import_module("opendp.prelude")
    dp.enable_features("contrib")
    k, people = categories(case), case.x.tolist()
    measurement = dp.m.make_randomized_response(list(range(k)), math.exp(EPSILON) / (math.exp(EPSILON) + k - 1))
    return lambda: np.array([measurement(x) for x in people], np.uint8)


def pure_ldp_unary(case: Case) -> Task:
    library = import_module("pure_ldp.frequency_oracles.unary_encoding")
    client, people = library.UEClient(EPSILON, categories(case), index_mapper=lambda x: x), case.x.tolist()
    return lambda: np.packbits(np.array([client.privatise(x) for x in people], np.uint8), axis=1, bitorder="little")


def multi_freq_unary(case: Case) -> Task:
    library = import_module("multi_freq_ldpy.pure_frequency_oracles.UE")
    k, people = categories(case), case.x.tolist()
    return lambda: np.packbits(
        np.array([library.UE_Client(x, k, EPSILON, False) for x in people]) != 0, axis=1, bitorder="little"
    )


def opendp_unary(case: Case) -> Task:
    """RAPPOR's bit vector: each bit is flipped with probability f / 2."""
    dp = import_module("opendp.prelude")
    dp.enable_features("contrib")
    k = categories(case)
    space = dp.bitvector_domain(max_weight=1), dp.discrete_distance()
    measurement = dp.m.make_randomized_response_bitvec(*space, f=2 / (math.exp(EPSILON / 2) + 1))
    people = [np.packbits(row, bitorder="little").tobytes() for row in np.eye(k, dtype=np.uint8)[case.x]]
    return lambda: np.frombuffer(b"".join([bytes(measurement(x)) for x in people]), np.uint8).reshape(-1, k // 8)


def opendp_laplace(case: Case) -> Task:
    """Discrete Laplace noise by exact rational sampling, the whole array in one call."""
    dp = import_module("opendp.prelude")
    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    measurement, values = dp.m.make_laplace(domain, dp.l1_distance(T=float), scale=1 / EPSILON), case.x.tolist()
    return lambda: np.array(measurement(values))


def diffprivlib_laplace(case: Case) -> Task:
    library = import_module("diffprivlib.mechanisms")
    mechanism, values = library.Laplace(epsilon=EPSILON, sensitivity=1.0), case.x.tolist()
    return lambda: np.array([mechanism.randomise(x) for x in values])


def diffprivlib_mean(case: Case) -> Task:
    library = import_module("diffprivlib.tools")
    return lambda: library.mean(case.x, epsilon=EPSILON, bounds=(-3.0, 3.0))


def diffprivlib_median(case: Case) -> Task:
    library = import_module("diffprivlib.tools")
    return lambda: library.quantile(case.x, 0.5, epsilon=EPSILON, bounds=(0.0, 100.0))


def opendp_gaussian(case: Case) -> Task:
    """Exact rational sampling, the whole array in one call."""
    dp = import_module("opendp.prelude")
    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T=int))
    measurement, zeros = dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=1000.0), [0] * len(case.x)
    return lambda: np.array(measurement(zeros))


PEERS: dict[str, dict[str, tuple[str, str, int, Callable[[Case], Task]]]] = {
    "response-128": {
        "pure-ldp": ("pure_ldp", "pure-ldp", 20_000, pure_ldp_response),
        "multi-freq-ldpy": ("multi_freq_ldpy", "multi-freq-ldpy", 20_000, multi_freq_response),
        "opendp": ("opendp", "OpenDP", 20_000, opendp_response),
    },
    "unary-128": {
        "pure-ldp": ("pure_ldp", "pure-ldp", 10_000, pure_ldp_unary),
        "multi-freq-ldpy": ("multi_freq_ldpy", "multi-freq-ldpy", 10_000, multi_freq_unary),
        "opendp": ("opendp", "OpenDP", 10_000, opendp_unary),
    },
    "central-mean": {"diffprivlib": ("diffprivlib", "diffprivlib", 10_000_000, diffprivlib_mean)},
    "central-median": {"diffprivlib": ("diffprivlib", "diffprivlib", 100_000, diffprivlib_median)},
    "central-gaussian": {"opendp": ("opendp", "OpenDP", 10_000, opendp_gaussian)},
    "laplace": {
        "opendp": ("opendp", "OpenDP", 20_000, opendp_laplace),
        "diffprivlib": ("diffprivlib", "diffprivlib", 20_000, diffprivlib_laplace),
    },
}
"""Task -> package -> (module, name, people, how to make the call)."""


def peers(name: str) -> dict[str, tuple[str, str, int, Callable[[Case], Task]]]:
    """The libraries for a task that are installed."""
    return {peer: entry for peer, entry in PEERS.get(name, {}).items() if find_spec(entry[0]) is not None}


# Frequencies: records to estimate -----------------------------------------------------------------------------------


def estimate_ldpfast(mechanism: ldp.Mechanism, x: AnyArray) -> Task:
    """Client and server apart: reports are stored."""
    return lambda: mechanism.estimate(mechanism.privatize(x)).value


def estimate_numpy(mechanism: Any, x: AnyArray) -> Task:
    """The same with the NumPy of the cases."""
    n, k = len(x), mechanism.k
    if isinstance(mechanism, ldp.UnaryEncoding):
        coins = _coins.unary(EPSILON, False)
        out = np.zeros((n, k // 8), np.uint8)
        privatize, tally = bench.numpy_unary(mechanism, x, out), bench.numpy_count(out)
        p, q = float(coins.p), float(coins.q)
    else:
        coin = _coins.response(k, EPSILON)
        out = np.zeros_like(x)
        privatize, tally = bench.numpy_response(coin, x, out), lambda: np.bincount(out, minlength=k)
        p, q = float(coin.p), float(coin.q)

    def estimate() -> AnyArray:
        privatize()
        shares: AnyArray = (tally() / n - q) / (p - q)
        return shares

    return estimate


def estimate_pure_ldp(mechanism: Any, x: AnyArray) -> Task:
    """One `privatise` and one `aggregate` per person."""
    unary = isinstance(mechanism, ldp.UnaryEncoding)
    library = import_module(f"pure_ldp.frequency_oracles.{'unary' if unary else 'direct'}_encoding")
    kinds = (library.UEClient, library.UEServer) if unary else (library.DEClient, library.DEServer)
    people = x.tolist()

    def estimate() -> AnyArray:
        client, server = (kind(EPSILON, mechanism.k, index_mapper=lambda x: x) for kind in kinds)
        for person in people:
            server.aggregate(client.privatise(person))
        return np.array([server.estimate(j, suppress_warnings=True) for j in range(mechanism.k)]) / len(people)

    return estimate
