"""Mechanisms in numba, chunk by chunk: ``chunk(x, out, seed, parameters)``.

Optimized for numba: loops that LLVM vectorizes, polynomial logarithms and sines, bit planes. Coins have 16 to 53 bits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ldpfast._coins import ResponseCoin

from .numba_tools import fill, njit, stream


@njit(nogil=True)
def respond(x: Any, word: Any, out: Any, keep: Any, words_per_symbol: Any, reciprocal: Any) -> None:
    """Privatize symbols by randomized response, with one random word each."""
    for i in range(x.size):
        symbol = np.uint32(x[i])
        past = np.uint32(word[i] - keep)
        other = np.uint32((np.uint64(past) * np.uint64(reciprocal)) >> np.uint64(32))
        rest = np.uint32(past - np.uint32(other * words_per_symbol))
        other = np.uint32(other + np.uint32(rest >= words_per_symbol))
        other = np.uint32(other + np.uint32(other >= symbol))
        out[i] = np.uint8(other if word[i] >= keep else symbol)


def response_parameters(coin: ResponseCoin) -> tuple[int, int, int]:
    """Return the integers of a coin as `respond` takes them."""
    return coin.keep, coin.words_per_symbol, (1 << 32) // coin.words_per_symbol


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
    """Privatize categories by unary encoding.

    Coins have 16 bits and are drawn by bit planes, from the last digit of the threshold to the first: `or` if the digit is
    one, else `and`.
    """
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
    if optimized:  # the bit of the record's category is a fair coin
        fair = np.empty(x.size, np.uint64)
        fill(fair, stream(seed, 16))
        for i in range(x.size):
            byte, bit = x[i] >> 3, np.uint8(1) << np.uint8(x[i] & 7)
            out[i, byte] = (out[i, byte] & ~bit) | (np.uint8(fair[i]) & bit)
    else:
        for i in range(x.size):
            out[i, x[i] >> 3] ^= np.uint8(1) << np.uint8(x[i] & 7)


@njit(nogil=True)
def hadamard_chunk(x: Any, out: Any, seed: Any, p: Any) -> None:
    """Privatize categories by Hadamard response: one word of 64 bits for the code and a coin of 32 bits."""
    mask, heads = np.uint32(p[0]), np.uint32(p[1])
    words = np.empty(x.size, np.uint64)
    fill(words, seed)
    half = words.view(np.uint32)
    for i in range(x.size):
        row = np.uint32(x[i]) + np.uint32(1)
        code = half[2 * i] & mask
        parity = code & row
        parity ^= parity >> np.uint32(16)
        parity ^= parity >> np.uint32(8)
        parity ^= parity >> np.uint32(4)
        parity ^= parity >> np.uint32(2)
        parity ^= parity >> np.uint32(1)
        wrong = (parity & np.uint32(1)) ^ np.uint32(half[2 * i + 1] >= heads)
        out[i] = np.uint16(code ^ ((row & (np.uint32(0) - row)) & (np.uint32(0) - wrong)))


@njit(nogil=True)
def subset_chunk(x: Any, out: Any, seed: Any, p: Any) -> None:
    """Privatize categories by subset selection (R. W. Floyd's algorithm), with words of 16 bits; 8 k is a multiple of 64."""
    k, size, heads = np.int64(p[0]), np.int64(p[1]), np.uint64(p[2])
    words = np.empty(x.size * (1 + size // 4 + 1), np.uint64)
    fill(words, seed)
    row_words = words.size // x.size
    sets = out.reshape(-1).view(np.uint64)
    per_row = sets.size // x.size
    for i in range(x.size):
        own = np.int64(words[i * row_words] >> np.uint64(11) < heads)
        half = words[i * row_words + 1 : (i + 1) * row_words].view(np.uint16)
        row = sets[i * per_row : (i + 1) * per_row]
        row[:] = 0
        truth = np.int64(x[i])
        others = size - own
        for j in range(others):
            last = k - 1 - others + j  # of the k - 1 other categories, numbered without the record's
            t = (np.int64(half[j]) * (last + 1)) >> 16
            t += t >= truth
            if (row[t >> 6] >> np.uint64(t & 63)) & np.uint64(1):
                t = last + (last >= truth)
            row[t >> 6] |= np.uint64(1) << np.uint64(t & 63)
        row[truth >> 6] |= np.uint64(own) << np.uint64(truth & 63)


@njit(nogil=True)
def window_chunk(x: Any, out: Any, seed: Any, p: Any) -> None:
    """Privatize numbers by the window mechanism, with one word of 32 bits each."""
    lower, per_unit, last, per, direct, each, bit_words, low_bit, slope, first = p
    words = np.empty((x.size + 1) // 2, np.uint64)
    fill(words, seed)
    half = words.view(np.uint32)
    for i in range(x.size):
        position = (x[i] - lower) * per_unit
        low = min(math.floor(position), last)
        rest = np.float64(half[i]) - bit_words
        inside = low + math.floor((rest + (position - low) * per) / per)
        code = inside if rest < direct else math.floor((rest - direct) / each)
        bit = first + np.float64(np.float64(half[i]) < low_bit + slope * position)
        out[i] = np.uint8(bit if rest < 0 else code)


@njit(nogil=True)
def popcount(w: Any) -> Any:
    """Count the ones of a word. LLVM compiles this to the popcount instruction."""
    w = w - ((w >> np.uint64(1)) & np.uint64(0x5555555555555555))
    w = (w & np.uint64(0x3333333333333333)) + ((w >> np.uint64(2)) & np.uint64(0x3333333333333333))
    w = (w + (w >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (w * np.uint64(0x0101010101010101)) >> np.uint64(56)


@njit(nogil=True)
def vertices(x: Any, seed: Any, scale: Any) -> Any:
    """Draw a random vertex of the cube for each row, packed: 16 random bits per coordinate; dim is a multiple of 8."""
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
    """Move each direction to the side of its vertex for heads, and to the opposite side for tails.

    Both arrays have words of the same dtype, and each row consists of whole words.
    """
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
    """Privatize rows by the mechanism of the l-infinity ball; dim is a multiple of 64."""
    vertex, direction = vertices(x, seed, np.float32(p[0])).view(np.uint64), out.reshape(-1).view(np.uint64)
    fill(direction, stream(seed, 1))
    choose_sides(vertex, direction, stream(seed, 2), x.shape[1], p[1])


@njit(nogil=True, fastmath=True)
def normals(out: Any, seed: Any) -> None:
    """Draw normal numbers by Box-Muller, with polynomials because LLVM has no vector logarithm, sine or cosine."""
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
    """Add Laplace noise in double precision, which is unsafe."""
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
