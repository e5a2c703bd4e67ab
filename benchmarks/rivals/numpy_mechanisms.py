"""Optimized NumPy implementations of mechanisms, counting, shares and densities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldpfast import _coins
from ldpfast._typing import AnyArray
from ldpfast.bench._case import Task
from ldpfast.estimation import SeriesDensity
from ldpfast.mechanisms import L2Ball, Laplace, LinfBall, Residue, SignBit, UnaryEncoding

CHUNK = 1 << 16  # numbers processed at a time: they fit in the second-level cache, and the overhead of calls is small
HALF_RANGE = 32767.5  # of the thresholds of coins with 16 bits


class Words:
    """Random words of SFC64, the fastest generator of NumPy, with a fixed seed."""

    def __init__(self) -> None:
        self.generator = np.random.Generator(np.random.SFC64(12345))

    def __call__(self, n: int, dtype: Any = np.uint64) -> AnyArray:
        """Return n random integers of a dtype, cut from 64-bit words: four times as fast as drawing them one by one."""
        size = np.dtype(dtype).itemsize
        words = self.generator.integers(0, 2**64 - 1, (n * size + 7) // 8, np.uint64, endpoint=True)
        cut: AnyArray = words.view(dtype)[:n]
        return cut


class NumpyNormals:
    """Box-Muller in single precision: a third of the time of `Generator.standard_normal`."""

    def __init__(self, words: Words, size: int) -> None:
        self.words, self.half = words, (size + 1) // 2
        self.radius, self.angle, self.wave = (np.empty(self.half, np.float32) for _ in range(3))
        self.normal = np.empty(2 * self.half, np.float32)

    def __call__(self) -> AnyArray:
        """Return at least `size` standard normal numbers, which the next call overwrites."""
        half, radius, angle, wave, normal = self.half, self.radius, self.angle, self.wave, self.normal
        word = self.words(2 * half, np.int32)
        np.copyto(radius, word[:half], casting="unsafe")
        np.multiply(radius, np.float32(2.0**-32), out=radius)
        np.add(radius, np.float32(0.5), out=radius)
        np.maximum(radius, np.float32(2.0**-32), out=radius)
        np.log(radius, out=radius)
        np.multiply(radius, np.float32(-2), out=radius)
        np.sqrt(radius, out=radius)
        np.copyto(angle, word[half:], casting="unsafe")
        np.multiply(angle, np.float32(math.pi * 2.0**-31), out=angle)
        np.multiply(radius, np.sin(angle, out=wave), out=normal[:half])
        np.multiply(radius, np.cos(angle, out=wave), out=normal[half:])
        return normal


def numpy_l2(mechanism: L2Ball, x: AnyArray, out: AnyArray) -> Task:
    """Return a call that privatizes rows by the mechanism of the l2 ball."""
    words, (n, dim) = Words(), x.shape
    rows = max(1, CHUNK // dim)
    normals, p = NumpyNormals(words, rows * dim), float(_coins.binary(mechanism.epsilon).p)

    def privatize() -> AnyArray:
        for start in range(0, n, rows):
            now = min(rows, n - start)
            u, v = normals()[: now * dim].reshape(now, dim), x[start : start + now]
            inner, norm, length = np.vecdot(u, v), np.sqrt(np.vecdot(v, v)), np.sqrt(np.vecdot(u, u))
            coin = words.generator.random((2, now))
            minus = (inner < 0) ^ (coin[0] >= (1 + norm / mechanism.radius) / 2) ^ (coin[1] >= p)
            factor = (np.where(minus, -mechanism.scale, mechanism.scale) / length).astype(np.float32)
            np.multiply(u, factor[:, None], out=out[start : start + now])
        return out

    return privatize


class NumpyLinf:
    """Mechanism of the l-infinity ball, with 16 random bits per vertex coordinate (bias below 2^-16) and popcounts."""

    def __init__(self, mechanism: LinfBall) -> None:
        self.words, self.dim = Words(), mechanism.dim
        self.packed = np.uint32 if self.dim % 64 else np.uint64
        self.rows = CHUNK // self.dim
        self.scale = np.float32(HALF_RANGE / mechanism.radius)
        self.heads = float(_coins.binary(mechanism.epsilon).p)
        self.scaled = np.empty((self.rows, self.dim), np.float32)
        self.threshold = np.empty((self.rows, self.dim), np.uint16)
        self.plus = np.empty((self.rows, self.dim), bool)

    def __call__(self, x: AnyArray, out: AnyArray) -> None:
        """Privatize at most `rows` records; dim is a multiple of 32."""
        n = len(x)
        scaled, threshold, plus = self.scaled[:n], self.threshold[:n], self.plus[:n]
        np.multiply(x, self.scale, out=scaled)
        np.add(scaled, np.float32(32768), out=scaled)
        np.copyto(threshold, scaled, casting="unsafe")
        np.less(self.words(n * self.dim, np.uint16).reshape(n, self.dim), threshold, out=plus)
        vertex = np.packbits(plus.reshape(-1), bitorder="little").view(self.packed).reshape(n, -1)
        direction = self.words(vertex.size, self.packed).reshape(vertex.shape)
        differ = np.bitwise_count(vertex ^ direction).sum(axis=1, dtype=np.uint16)
        flip = (2 * differ > self.dim) ^ (self.words.generator.random(n) >= self.heads)
        np.bitwise_xor(direction, -flip.astype(self.packed)[:, None], out=out.view(self.packed))


def numpy_linf(mechanism: LinfBall, x: AnyArray, out: AnyArray) -> Task:
    """Return a call that privatizes rows by the mechanism of the l-infinity ball."""
    kernel = NumpyLinf(mechanism)

    def privatize() -> AnyArray:
        for start in range(0, len(x), kernel.rows):
            kernel(x[start : start + kernel.rows], out[start : start + kernel.rows])
        return out

    return privatize


class NumpyCounter:
    """Carry-save adders for slabs of packed rows; three slabs of weight 2^power are added with five operations."""

    SLAB_BYTES = 1 << 16

    def __init__(self, row_bytes: int) -> None:
        self.row_words = row_bytes // 8
        self.planes: list[AnyArray] = []  # one slab per weight
        self.waiting: list[AnyArray | None] = []
        self.spare: list[AnyArray] = []
        self.difference = np.empty(0, np.uint64)

    def add(self, slab: AnyArray) -> None:
        """Add a slab of words of whole rows. All slabs have the same size.

        The caller may overwrite a slab after the next call.
        """
        if not self.planes:
            self.difference = np.empty_like(slab)
        difference, power = self.difference, 0
        while True:
            if power == len(self.planes):
                self.planes.append(slab.copy())
                self.waiting.append(None)
                return
            other = self.waiting[power]
            if other is None:
                self.waiting[power] = slab
                return
            plane = self.planes[power]
            carry = self.spare.pop() if self.spare else np.empty_like(slab)
            np.bitwise_xor(plane, other, out=difference)
            np.bitwise_and(plane, other, out=carry)
            np.bitwise_xor(difference, slab, out=plane)
            np.bitwise_and(difference, slab, out=difference)
            np.bitwise_or(carry, difference, out=carry)
            self.waiting[power] = None
            if power:
                self.spare += [other, slab]
            slab, power = carry, power + 1

    def counts(self) -> NDArray[np.int64]:
        """Return the counts of all slabs added so far."""
        total = np.zeros(64 * self.row_words, np.int64)
        for power, slabs in enumerate(zip(self.planes, self.waiting, strict=True)):
            for slab in slabs:
                if slab is not None:
                    total += self.positions(slab) << power
        return total

    def positions(self, slab: AnyArray) -> NDArray[np.int64]:
        """Count the ones of a slab, by position.

        Each bit of a byte is counted separately. Words of eight counters are added in halves, at most seven times, so
        that no byte overflows.
        """
        result = np.empty((self.row_words * 8, 8), np.int64)
        for bit in range(8):
            part = slab >> np.uint64(bit)
            np.bitwise_and(part, np.uint64(0x0101010101010101), out=part)
            for _ in range(7):
                half = part.size // 2
                if half % self.row_words or part.size % 2:
                    break
                part = np.add(part[:half], part[half:], out=part[:half])
            result[:, bit] = part.view(np.uint8).reshape(-1, self.row_words * 8).sum(axis=0, dtype=np.int64)
        return result.reshape(-1)


def numpy_count(reports: AnyArray) -> Task:
    """Return a call that counts the ones of packed reports, by position."""
    row_bytes = reports.shape[1]
    words = reports.view(np.uint64).reshape(-1)
    slab = NumpyCounter.SLAB_BYTES // row_bytes * row_bytes // 8

    def count() -> AnyArray:
        counter, whole = NumpyCounter(row_bytes), words.size // slab * slab
        for start in range(0, whole, slab):
            counter.add(words[start : start + slab])
        return counter.counts() + counter.positions(words[whole:])

    return count


def count_in_cache(kernel: NumpyLinf | NumpyUnary | NumpySeries, x: AnyArray, row_bytes: int) -> NDArray[np.int64]:
    """Privatize all records and count the ones of the reports by position, slab by slab in cache."""
    counter = NumpyCounter(max(row_bytes, 8))
    rows = NumpyCounter.SLAB_BYTES // row_bytes
    slabs = [np.empty((rows, row_bytes), np.uint8) for _ in range(2)]
    for i, start in enumerate(range(0, len(x), rows)):
        stop, slab = min(start + rows, len(x)), slabs[i % 2]
        for row in range(start, stop, kernel.rows):
            end = min(row + kernel.rows, stop)
            kernel(x[row:end], slab[row - start : end - start])
        slab[stop - start :] = 0
        counter.add(slab.reshape(-1).view(np.uint64))
    counts: NDArray[np.int64] = counter.counts().reshape(-1, 8 * row_bytes).sum(axis=0)
    return counts


def numpy_run_linf(mechanism: LinfBall, x: AnyArray) -> Task:
    """Return a call that estimates the mean of rows by the mechanism of the l-infinity ball."""
    kernel = NumpyLinf(mechanism)

    def run() -> AnyArray:
        mean: AnyArray = mechanism.debiasing(count_in_cache(kernel, x, mechanism.dim // 8) / len(x))
        return mean

    return run


class NumpySeries:
    """Cosines, then sines, in single precision, privatized by the mechanism of the l-infinity ball."""

    def __init__(self, problem: SeriesDensity) -> None:
        n_terms, (self.lower, upper) = problem.terms, problem.domain.range
        self.cube, self.half = NumpyLinf(LinfBall(n_terms, problem.epsilon)), n_terms // 2
        self.rows = self.cube.rows
        self.turns = np.arange(1, self.half + 1, dtype=np.float32) * np.float32(2 * math.pi / (upper - self.lower))
        self.angle = np.empty((self.rows, self.half), np.float32)
        self.terms = np.empty((self.rows, n_terms), np.float32)

    def __call__(self, x: AnyArray, out: AnyArray) -> None:
        """Privatize at most `rows` records."""
        n = len(x)
        angle, terms = self.angle[:n], self.terms[:n]
        np.multiply.outer((x - self.lower).astype(np.float32), self.turns, out=angle)
        np.cos(angle, out=terms[:, : self.half])
        np.sin(angle, out=terms[:, self.half :])
        self.cube(terms, out)


def numpy_series(problem: SeriesDensity, x: AnyArray) -> Task:
    """Return a call that estimates the coefficients of a density."""
    kernel = NumpySeries(problem)

    def run() -> AnyArray:
        plus = count_in_cache(kernel, x, problem.terms // 8).reshape(2, -1).T.reshape(-1)
        coefficients: AnyArray = problem.mechanism.debiasing(plus / len(x))
        return coefficients

    return run


class NumpyUnary:
    """Unary encoding with 8 random bits per coin, and 53 more for the coins that they do not decide, one in 256."""

    def __init__(self, mechanism: UnaryEncoding) -> None:
        self.words, self.k, self.optimized = Words(), mechanism.k, mechanism.method == "optimized"
        self.rows, self.threshold = 4 * CHUNK // self.k, 256 * float(_coins.unary(mechanism.epsilon, self.optimized).q)
        self.first = np.arange(self.rows) * (self.k // 8)
        self.one, self.tie = np.empty(self.rows * self.k, bool), np.empty(self.rows * self.k, bool)

    def __call__(self, x: AnyArray, out: AnyArray) -> None:
        """Privatize at most `rows` records; k is a multiple of 8."""
        n, coins = len(x), len(x) * self.k
        high, one, tie = np.uint8(int(self.threshold)), self.one[:coins], self.tie[:coins]
        byte = self.words(coins, np.uint8)
        np.less(byte, high, out=one)
        np.equal(byte, high, out=tie)
        undecided = np.flatnonzero(tie)
        one[undecided] = self.words.generator.random(len(undecided)) < self.threshold - high
        packed = out.reshape(-1)
        packed[:] = np.packbits(one, bitorder="little")
        place, bit = self.first[:n] + (x >> 3), np.uint8(1) << (x & 7).astype(np.uint8)
        if self.optimized:  # the bit of the record's category is a fair coin
            packed[place] = (packed[place] & ~bit) | (self.words(n, np.uint8) & bit)
        else:
            packed[place] ^= bit


def numpy_unary(mechanism: UnaryEncoding, x: AnyArray, out: AnyArray) -> Task:
    """Return a call that privatizes categories by unary encoding."""
    encode = NumpyUnary(mechanism)

    def privatize() -> AnyArray:
        for start in range(0, len(x), encode.rows):
            encode(x[start : start + encode.rows], out[start : start + encode.rows])
        return out

    return privatize


def numpy_frequencies(mechanism: UnaryEncoding, x: AnyArray) -> Task:
    """Return a call that estimates the shares of categories by unary encoding."""
    encode = NumpyUnary(mechanism)

    def estimate() -> AnyArray:
        shares: AnyArray = mechanism.debiasing(count_in_cache(encode, x, mechanism.k // 8) / len(x))
        return shares

    return estimate


class NumpyResponse:
    """Randomized response with the same word and the same integer thresholds as the library.

    NumPy computes the division by a constant with multiplications.
    """

    def __init__(self, coin: _coins.ResponseCoin) -> None:
        self.words = Words()
        self.keep, self.words_per_symbol = np.uint32(coin.keep), np.uint32(coin.words_per_symbol)
        self.replaced, self.skip = np.empty(CHUNK, bool), np.empty(CHUNK, bool)
        self.other, self.mask = np.empty(CHUNK, np.uint8), np.empty(CHUNK, np.uint8)

    def __call__(self, symbol: AnyArray, out: AnyArray) -> None:
        """Privatize at most `CHUNK` symbols."""
        n = len(symbol)
        word, replaced, skip, other = self.words(n, np.uint32), self.replaced[:n], self.skip[:n], self.other[:n]
        np.greater_equal(word, self.keep, out=replaced)
        np.subtract(word, self.keep, out=word)
        np.floor_divide(word, self.words_per_symbol, out=word)
        np.copyto(other, word, casting="unsafe")
        np.greater_equal(other, symbol, out=skip)
        np.add(other, skip.view(np.uint8), out=other)
        np.bitwise_xor(other, symbol, out=other)  # branch-free choice by masks
        np.bitwise_and(other, np.negative(replaced.view(np.uint8), out=self.mask[:n]), out=other)
        np.bitwise_xor(symbol, other, out=out)


def numpy_response(coin: _coins.ResponseCoin, x: AnyArray, out: AnyArray) -> Task:
    """Return a call that privatizes symbols by randomized response."""
    respond = NumpyResponse(coin)

    def privatize() -> AnyArray:
        for start in range(0, len(x), CHUNK):
            respond(x[start : start + CHUNK], out[start : start + CHUNK])
        return out

    return privatize


def numpy_residue(mechanism: Residue, coin: _coins.ResponseCoin, x: AnyArray, out: AnyArray) -> Task:
    """Return a call that privatizes residues of cells; the modulus is a power of two.

    Cells are 32-bit integers, whose low bits are the residues.
    """
    respond, rows = NumpyResponse(coin), CHUNK // 2
    cell, whole, symbol = np.empty(rows), np.empty(rows, np.int32), np.empty(rows, np.uint8)

    def privatize() -> AnyArray:
        for start in range(0, len(x), rows):
            record = x[start : start + rows]
            n = len(record)
            np.subtract(record, mechanism.offset, out=cell[:n])
            np.multiply(cell[:n], 1 / mechanism.width, out=cell[:n])
            np.floor(cell[:n], out=cell[:n])
            np.copyto(whole[:n], cell[:n], casting="unsafe")
            np.copyto(symbol[:n], whole[:n], casting="unsafe")
            np.bitwise_and(symbol[:n], np.uint8(mechanism.modulus - 1), out=symbol[:n])
            respond(symbol[:n], out[start : start + rows])
        return out

    return privatize


def sign_threshold(mechanism: SignBit) -> tuple[float, float]:
    """Return start and slope of the threshold, linear in the record, below which a signed word of 32 bits gives a 1."""
    slope = 2.0**32 / (mechanism.debiasing.one - mechanism.debiasing.zero)
    return -slope * mechanism.debiasing.zero - 2.0**31, slope


def numpy_sign_bit(mechanism: SignBit, x: AnyArray, out: AnyArray) -> Task:
    """Return a call that draws sign bits: a random word of 32 bits below a threshold."""
    words, rows, (start, slope) = Words(), CHUNK // 2, sign_threshold(mechanism)
    scaled, threshold = np.empty(rows), np.empty(rows, np.int32)

    def privatize() -> AnyArray:
        for row in range(0, len(x), rows):
            n = len(x[row : row + rows])
            np.multiply(x[row : row + rows], slope, out=scaled[:n])
            np.add(scaled[:n], start, out=scaled[:n])
            np.copyto(threshold[:n], scaled[:n], casting="unsafe")
            np.less(words(n, np.int32), threshold[:n], out=out[row : row + rows].view(bool))
        return out

    return privatize


def numpy_laplace(mechanism: Laplace, x: AnyArray, out: AnyArray) -> Task:
    """Return a call that adds Laplace noise, by the inverse of the distribution function in double precision.

    This is common practice, and it leaks information (Mironov 2012).
    """
    generator, rows = Words().generator, CHUNK // 2
    b = (mechanism.upper - mechanism.lower) / mechanism.epsilon
    u, size = np.empty(rows), np.empty(rows)

    def privatize() -> AnyArray:
        for start in range(0, len(x), rows):
            v, s = u[: len(x[start : start + rows])], size[: len(x[start : start + rows])]
            generator.random(out=v)
            np.subtract(0.5, v, out=v)  # in (-1/2, 1/2]
            np.abs(v, out=s)
            np.multiply(s, -2.0, out=s)
            np.add(s, 1.0 + 2.0**-53, out=s)
            np.log(s, out=s)
            np.multiply(s, b, out=s)
            np.copysign(s, v, out=s)
            np.add(x[start : start + rows], s, out=out[start : start + rows])
        return out

    return privatize
