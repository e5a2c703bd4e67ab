"""Throughput on this machine: against NumPy, and against the limit of the random bytes and of memory.

A case is one task with its data: ldpfast and NumPy read the same array and write reports of the same format to memory
that is there already, and one check judges both. NumPy is written as well as it can be: vectorised, in chunks that
stay in cache, single precision where that is fair, and SFC64, its fastest generator, which is not cryptographic.

``benchmarks/`` takes its cases from here; ``python -m ldpfast bench`` calls `report`.
"""

from __future__ import annotations

import json as json_format
import math
import os
import platform
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _coins, _threads
from ._core import bits as _bits
from ._core import stream as _stream
from ._info import info
from .mechanisms import (
    Bins,
    L2Ball,
    Laplace,
    LaplaceVector,
    LinfBall,
    Mechanism,
    RandomizedResponse,
    Residue,
    SignBit,
    UnaryEncoding,
    Warner,
)

AnyArray = NDArray[Any]
Answer = Any
Task = Callable[[], Answer]

EPSILON = 1.0
ALPHA = 1e-9  # chance that one check fails a correct answer
CHUNK = 1 << 16  # numbers that NumPy works on at a time: they stay in the second-level cache, and calls cost little
DIGIT_BYTES = 1 / 3  # random bytes of one exact coin by bit planes: two digits a round, a quarter goes on; 8/3 bits
SINGLE_TARGET = 5.0  # us per call
SPEEDUP_TARGET, BANDWIDTH_TARGET = 1.8, 0.8


@dataclass(frozen=True)
class Case:
    """One task with its data.

    Attributes
    ----------
    task, unit : str
        What is done, and what it is counted in.
    units : int
        How many of them one call does.
    random_bytes, read_bytes, write_bytes : float
        What a unit needs at least: random bytes of the algorithm, bytes of the record (read once), of the report.
    ours, numpy : callable
        One call each; the answer is what `check` judges.
    check : callable
        Whether an answer is correct; fails a correct answer with a chance of at most 1e-9 per statistic.
    mechanism, x : Mechanism, ndarray
        For other libraries that shall do the same.
    target : float or None
        Nanoseconds per unit to reach with one thread on an AVX-512 machine.
    threads : bool
        Whether `ours` deals its work out to several threads.
    note : str
        What the NumPy side does not do.
    """

    task: str
    unit: str
    units: int
    random_bytes: float
    read_bytes: float
    write_bytes: float
    ours: Task
    numpy: Task
    check: Callable[[Answer], bool]
    mechanism: Mechanism
    x: AnyArray
    target: float | None = None
    threads: bool = True
    note: str = ""


# Checks -------------------------------------------------------------------------------------------------------------


def bernstein(variance: float, largest: float, n: int) -> float:
    """How far the mean of n independent numbers is from its expectation, but for a chance of ALPHA.

    Bernstein: P(|mean - E| > t) <= 2 exp(-n t^2 / (2 variance + 2 largest t / 3)) where no number is further than
    `largest` from its expectation; solved for t, rounded up.
    """
    weight = math.log(2 / ALPHA) / n
    return math.sqrt(2 * variance * weight) + 2 * largest * weight / 3


def shares_agree(hits: AnyArray, expected: AnyArray, n: int) -> bool:
    """Each of several means of n independent zeros and ones is where it should be."""
    margins = [bernstein(float(p * (1 - p)), 1.0, n) for p in expected]
    return bool(np.all(np.abs(hits / n - expected) <= margins))


def count_bits(reports: AnyArray) -> NDArray[np.int64]:
    """How many packed rows have each bit: the obvious way."""
    total = np.zeros(8 * reports.shape[1], np.int64)
    for at in range(0, len(reports), CHUNK):
        total += np.unpackbits(reports[at : at + CHUNK], axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
    return total


def check_linf(mechanism: LinfBall, x: AnyArray, towards: AnyArray, reports: AnyArray) -> bool:
    """Width of the reports, every coordinate by itself, and the projection on the direction of all records."""
    return reports.shape == (len(x), (mechanism.dim + 7) // 8) and check_linf_mean(
        mechanism, x, towards, mechanism.scale * (2 * count_bits(reports)[: mechanism.dim] / len(x) - 1)
    )


def check_linf_mean(mechanism: LinfBall, x: AnyArray, towards: AnyArray, mean: AnyArray) -> bool:
    """A projection on signs s has the variance (|s|^2 B^2 - <s, x>^2) / dim^2 <= B^2 / dim and is at most B."""
    n, dim, scale = len(x), mechanism.dim, mechanism.scale
    truth = x.mean(axis=0, dtype=np.float64)
    each = bernstein(scale**2, 2 * scale, n) + 1e-4  # NumPy's vertices have 16 bits
    return bool(np.all(np.abs(mean - truth) <= each)) and bool(
        abs(float((mean - truth) @ towards) / dim) <= bernstein(scale**2 / dim, 2 * scale, n) + 1e-4
    )


def check_l2(mechanism: L2Ball, x: AnyArray, towards: AnyArray, reports: AnyArray) -> bool:
    """Every norm, and the projection on the direction of all records: variance at most B^2 / dim, at most B."""
    n, scale = len(x), mechanism.scale
    if reports.shape != x.shape or reports.dtype != x.dtype:
        return False
    norms = np.sqrt(np.einsum("ij,ij->i", reports, reports, dtype=np.float64))
    # Not by BLAS: its threads go on spinning, and their time would be counted with what is measured next.
    found, truth = (float(np.einsum("ij,j->", rows, towards, dtype=np.float64)) / n for rows in (reports, x))
    return bool(np.all(np.abs(norms / scale - 1) <= 1e-4)) and abs(found - truth) <= bernstein(
        scale**2 / mechanism.dim, 2 * scale, n
    ) + 1e-4 * scale / math.sqrt(mechanism.dim)


def check_unary(mechanism: UnaryEncoding, x: AnyArray, reports: AnyArray) -> bool:
    """The share of ones in every place, and of own ones."""
    coin, n = _coins.unary(mechanism.epsilon, False), len(x)
    if reports.shape != (n, (mechanism.k + 7) // 8):
        return False
    p, q = float(coin.p), float(coin.q)
    own = reports[np.arange(n), x >> 3] >> (x & 7) & 1
    expected = q + (p - q) * np.bincount(x, minlength=mechanism.k) / n
    return shares_agree(count_bits(reports)[: mechanism.k], expected, n) and shares_agree(
        np.array([int(own.sum(dtype=np.int64))]), np.array([p]), n
    )


def check_response(coin: _coins.ResponseCoin, symbols: AnyArray, reports: AnyArray) -> bool:
    """The share of every code, and of truths."""
    n, p, q = len(symbols), float(coin.p), float(coin.q)
    if reports.shape != symbols.shape or reports.max() >= coin.k:
        return False
    expected = q + (p - q) * np.bincount(symbols, minlength=coin.k) / n
    return shares_agree(np.bincount(reports, minlength=coin.k), expected, n) and shares_agree(
        np.array([np.count_nonzero(reports == symbols)]), np.array([p]), n
    )


def check_sign_bit(mechanism: SignBit, x: AnyArray, reports: AnyArray) -> bool:
    """Zeros and ones; their share among the upper and among the lower half of the records."""
    if reports.shape != x.shape or reports.max() > 1:
        return False
    lowest, highest = (value / (mechanism.debiasing.one - mechanism.debiasing.zero) for value in (0.0, 1.0))
    for half in (x > (mechanism.lower + mechanism.upper) / 2, x <= (mechanism.lower + mechanism.upper) / 2):
        n = int(np.count_nonzero(half))
        mean = float(x[half].mean()) - mechanism.debiasing.zero
        expected = mean * (highest - lowest)
        if not shares_agree(np.array([int(reports[half].sum(dtype=np.int64))]), np.array([expected]), n):
            return False
    return True


def check_laplace(mechanism: Laplace, x: AnyArray, reports: AnyArray) -> bool:
    """Mean of the noise (0) and of its size (b).

    A Laplace variable meets Bernstein's moment condition with variance 2 b^2 and largest b, so that
    t = b w + sqrt(b^2 w^2 + 4 b^2 w), w = log(2 / ALPHA) / n. The grid moves the size by less than a step.
    """
    if reports.shape != x.shape or reports.dtype != np.float64:
        return False
    noise, b = reports - x, (mechanism.upper - mechanism.lower) / mechanism.epsilon
    weight = math.log(2 / ALPHA) / len(x)
    margin = b * (weight + math.sqrt(weight**2 + 4 * weight)) + mechanism.grid
    return bool(abs(noise.mean()) <= margin and abs(np.abs(noise).mean() - b) <= margin)


# NumPy, as well as it can be ----------------------------------------------------------------------------------------


class Words:
    """Random words of SFC64, the fastest generator of NumPy."""

    def __init__(self) -> None:
        self.generator = np.random.Generator(np.random.SFC64(12345))

    def __call__(self, n: int, dtype: Any = np.uint64) -> AnyArray:
        """n random integers of a dtype, cut out of words of 64 bits: four times as fast as to ask for each."""
        size = np.dtype(dtype).itemsize
        words = self.generator.integers(0, 2**64 - 1, (n * size + 7) // 8, np.uint64, endpoint=True)
        cut: AnyArray = words.view(dtype)[:n]
        return cut


def numpy_l2(mechanism: L2Ball, x: AnyArray, out: AnyArray) -> Task:
    """Box-Muller in single precision: a third of the time of `Generator.standard_normal`."""
    words, (n, dim) = Words(), x.shape
    rows = max(1, CHUNK // dim)
    half = (rows * dim + 1) // 2
    radius, angle, wave = (np.empty(half, np.float32) for _ in range(3))
    normal = np.empty(2 * half, np.float32)
    p = float(_coins.binary(mechanism.epsilon).p)

    def privatize() -> AnyArray:
        for at in range(0, n, rows):
            now = min(rows, n - at)
            word = words(2 * half, np.int32)
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
            u, v = normal[: now * dim].reshape(now, dim), x[at : at + now]
            inner, norm, length = np.vecdot(u, v), np.sqrt(np.vecdot(v, v)), np.sqrt(np.vecdot(u, u))
            coin = words.generator.random((2, now))
            minus = (inner < 0) ^ (coin[0] >= (1 + norm / mechanism.radius) / 2) ^ (coin[1] >= p)
            factor = (np.where(minus, -mechanism.scale, mechanism.scale) / length).astype(np.float32)
            np.multiply(u, factor[:, None], out=out[at : at + now])
        return out

    return privatize


class NumpyLinf:
    """16 random bits per vertex coordinate (a bias below 2^-16), packed comparisons, popcounts of words."""

    def __init__(self, mechanism: LinfBall) -> None:
        self.words, self.dim = Words(), mechanism.dim
        self.rows = CHUNK // self.dim
        self.scale = np.float32(32767.5 / mechanism.radius)
        self.heads = float(_coins.binary(mechanism.epsilon).p)
        self.level = np.empty((self.rows, self.dim), np.float32)
        self.threshold = np.empty((self.rows, self.dim), np.uint16)
        self.plus = np.empty((self.rows, self.dim), bool)

    def __call__(self, x: AnyArray, out: AnyArray) -> None:
        """At most `rows` records; dim a multiple of 64."""
        n = len(x)
        level, threshold, plus = self.level[:n], self.threshold[:n], self.plus[:n]
        np.multiply(x, self.scale, out=level)
        np.add(level, np.float32(32768), out=level)
        np.copyto(threshold, level, casting="unsafe")
        np.less(self.words(n * self.dim, np.uint16).reshape(n, self.dim), threshold, out=plus)
        vertex = np.packbits(plus.reshape(-1), bitorder="little").view(np.uint64).reshape(n, -1)
        direction = self.words(vertex.size).reshape(vertex.shape)
        differ = np.bitwise_count(vertex ^ direction).sum(axis=1, dtype=np.uint16)
        flip = (2 * differ > self.dim) ^ (self.words.generator.random(n) >= self.heads)
        np.bitwise_xor(direction, -flip.astype(np.uint64)[:, None], out=out.view(np.uint64))


def numpy_linf(mechanism: LinfBall, x: AnyArray, out: AnyArray) -> Task:
    kernel = NumpyLinf(mechanism)

    def privatize() -> AnyArray:
        for at in range(0, len(x), kernel.rows):
            kernel(x[at : at + kernel.rows], out[at : at + kernel.rows])
        return out

    return privatize


class NumpyCounter:
    """Carry-save adders over slabs of packed rows: those of weight 2^l are added three at a time, five operations."""

    SLAB_BYTES = 1 << 16

    def __init__(self, row_bytes: int) -> None:
        self.row_words = row_bytes // 8
        self.planes: list[AnyArray] = []  # one slab per weight
        self.waiting: list[AnyArray | None] = []
        self.spare: list[AnyArray] = []
        self.difference = np.empty(0, np.uint64)

    def add(self, slab: AnyArray) -> None:
        """Words of whole rows, all slabs of one size; the caller may overwrite a slab after the next call."""
        if not self.planes:
            self.difference = np.empty_like(slab)
        difference, level = self.difference, 0
        while True:
            if level == len(self.planes):
                self.planes.append(slab.copy())
                self.waiting.append(None)
                return
            other = self.waiting[level]
            if other is None:
                self.waiting[level] = slab
                return
            plane = self.planes[level]
            carry = self.spare.pop() if self.spare else np.empty_like(slab)
            np.bitwise_xor(plane, other, out=difference)
            np.bitwise_and(plane, other, out=carry)
            np.bitwise_xor(difference, slab, out=plane)
            np.bitwise_and(difference, slab, out=difference)
            np.bitwise_or(carry, difference, out=carry)
            self.waiting[level] = None
            if level:
                self.spare += [other, slab]
            slab, level = carry, level + 1

    def counts(self) -> NDArray[np.int64]:
        total = np.zeros(64 * self.row_words, np.int64)
        for level, slabs in enumerate(zip(self.planes, self.waiting, strict=True)):
            for slab in slabs:
                if slab is not None:
                    total += self.positions(slab) << level
        return total

    def positions(self, slab: AnyArray) -> NDArray[np.int64]:
        """Each bit of a byte by itself; bytes are added eight at a time, halves on halves, while they can hold it."""
        found = np.empty((self.row_words * 8, 8), np.int64)
        for bit in range(8):
            part = slab >> np.uint64(bit)
            np.bitwise_and(part, np.uint64(0x0101010101010101), out=part)
            for _ in range(7):
                half = part.size // 2
                if half % self.row_words or part.size % 2:
                    break
                part = np.add(part[:half], part[half:], out=part[:half])
            found[:, bit] = part.view(np.uint8).reshape(-1, self.row_words * 8).sum(axis=0, dtype=np.int64)
        return found.reshape(-1)


def numpy_count(reports: AnyArray) -> Task:
    row_bytes = reports.shape[1]
    words = reports.view(np.uint64).reshape(-1)
    slab = NumpyCounter.SLAB_BYTES // row_bytes * row_bytes // 8

    def count() -> AnyArray:
        counter, whole = NumpyCounter(row_bytes), words.size // slab * slab
        for at in range(0, whole, slab):
            counter.add(words[at : at + slab])
        return counter.counts() + counter.positions(words[whole:])

    return count


def numpy_run_linf(mechanism: LinfBall, x: AnyArray) -> Task:
    kernel = NumpyLinf(mechanism)
    row_bytes = mechanism.dim // 8
    rows = NumpyCounter.SLAB_BYTES // row_bytes

    def run() -> AnyArray:
        counter = NumpyCounter(row_bytes)
        slabs = [np.empty((rows, row_bytes), np.uint8) for _ in range(2)]
        counts = np.zeros(mechanism.dim, np.int64)
        for i, start in enumerate(range(0, len(x), rows)):
            stop, slab = min(start + rows, len(x)), slabs[i % 2]
            for at in range(start, stop, kernel.rows):
                end = min(at + kernel.rows, stop)
                kernel(x[at:end], slab[at - start : end - start])
            if stop - start == rows:
                counter.add(slab.view(np.uint64).reshape(-1))
            else:
                counts += counter.positions(slab[: stop - start].view(np.uint64).reshape(-1))
        mean: AnyArray = mechanism.scale * (2 * (counts + counter.counts()) / len(x) - 1)
        return mean

    return run


def numpy_unary(mechanism: UnaryEncoding, x: AnyArray, out: AnyArray) -> Task:
    """8 random bits per coin; the 256th part that they do not decide gets 53 more."""
    words, k = Words(), mechanism.k
    rows, bytes_per_row = 4 * CHUNK // k, (k + 7) // 8
    threshold = 256 * float(_coins.unary(mechanism.epsilon, False).q)
    high = np.uint8(int(threshold))
    first = np.arange(rows) * bytes_per_row
    one, tie = np.empty(rows * k, bool), np.empty(rows * k, bool)

    def privatize() -> AnyArray:
        for at in range(0, len(x), rows):
            record = x[at : at + rows]
            n = len(record)
            byte = words(n * k, np.uint8)
            np.less(byte, high, out=one[: n * k])
            np.equal(byte, high, out=tie[: n * k])
            undecided = np.flatnonzero(tie[: n * k])
            one[undecided] = words.generator.random(len(undecided)) < threshold - high
            chunk = out[at : at + rows].reshape(-1)
            chunk[:] = np.packbits(one[: n * k], bitorder="little")
            own = first[:n] + (record >> 3)
            chunk[own] ^= np.uint8(1) << (record & 7)
        return out

    return privatize


class NumpyResponse:
    """The same word and the same integers as the library: NumPy divides by a constant with multiplications."""

    def __init__(self, coin: _coins.ResponseCoin) -> None:
        self.words = Words()
        self.keep, self.share = np.uint32(coin.keep), np.uint32(coin.share)
        self.lies, self.skip = np.empty(CHUNK, bool), np.empty(CHUNK, bool)
        self.other, self.mask = np.empty(CHUNK, np.uint8), np.empty(CHUNK, np.uint8)

    def __call__(self, symbol: AnyArray, out: AnyArray) -> None:
        n = len(symbol)
        word, lies, skip, other = self.words(n, np.uint32), self.lies[:n], self.skip[:n], self.other[:n]
        np.greater_equal(word, self.keep, out=lies)
        np.subtract(word, self.keep, out=word)
        np.floor_divide(word, self.share, out=word)
        np.copyto(other, word, casting="unsafe")
        np.greater_equal(other, symbol, out=skip)
        np.add(other, skip.view(np.uint8), out=other)
        np.bitwise_xor(other, symbol, out=other)  # a choice by masks: no branch to mispredict
        np.bitwise_and(other, np.negative(lies.view(np.uint8), out=self.mask[:n]), out=other)
        np.bitwise_xor(symbol, other, out=out)


def numpy_response(coin: _coins.ResponseCoin, x: AnyArray, out: AnyArray) -> Task:
    respond = NumpyResponse(coin)

    def privatize() -> AnyArray:
        for at in range(0, len(x), CHUNK):
            respond(x[at : at + CHUNK], out[at : at + CHUNK])
        return out

    return privatize


def numpy_residue(mechanism: Residue, coin: _coins.ResponseCoin, x: AnyArray, out: AnyArray) -> Task:
    """The modulus is a power of two: cells as 32-bit integers, low bits."""
    respond, rows = NumpyResponse(coin), CHUNK // 2
    cell, whole, symbol = np.empty(rows), np.empty(rows, np.int32), np.empty(rows, np.uint8)

    def privatize() -> AnyArray:
        for at in range(0, len(x), rows):
            record = x[at : at + rows]
            n = len(record)
            np.subtract(record, mechanism.offset, out=cell[:n])
            np.multiply(cell[:n], 1 / mechanism.width, out=cell[:n])
            np.floor(cell[:n], out=cell[:n])
            np.copyto(whole[:n], cell[:n], casting="unsafe")
            np.copyto(symbol[:n], whole[:n], casting="unsafe")
            np.bitwise_and(symbol[:n], np.uint8(mechanism.modulus - 1), out=symbol[:n])
            respond(symbol[:n], out[at : at + rows])
        return out

    return privatize


def numpy_sign_bit(mechanism: SignBit, x: AnyArray, out: AnyArray) -> Task:
    """A coin of 32 bits against a threshold that is linear in the record."""
    words, rows = Words(), CHUNK // 2
    slope = 2.0**32 / (mechanism.debiasing.one - mechanism.debiasing.zero)
    start = -slope * mechanism.debiasing.zero - 2.0**31
    level, threshold = np.empty(rows), np.empty(rows, np.int32)

    def privatize() -> AnyArray:
        for at in range(0, len(x), rows):
            n = len(x[at : at + rows])
            np.multiply(x[at : at + rows], slope, out=level[:n])
            np.add(level[:n], start, out=level[:n])
            np.copyto(threshold[:n], level[:n], casting="unsafe")
            np.less(words(n, np.int32), threshold[:n], out=out[at : at + rows].view(bool))
        return out

    return privatize


def numpy_laplace(mechanism: Laplace, x: AnyArray, out: AnyArray) -> Task:
    """Inverse of the distribution function, in doubles: what people do, and what leaks (Mironov 2012)."""
    generator, rows = Words().generator, CHUNK // 2
    b = (mechanism.upper - mechanism.lower) / mechanism.epsilon
    u, size = np.empty(rows), np.empty(rows)

    def privatize() -> AnyArray:
        for at in range(0, len(x), rows):
            v, s = u[: len(x[at : at + rows])], size[: len(x[at : at + rows])]
            generator.random(out=v)
            np.subtract(0.5, v, out=v)  # in (-1/2, 1/2]
            np.abs(v, out=s)
            np.multiply(s, -2.0, out=s)
            np.add(s, 1.0 + 2.0**-53, out=s)
            np.log(s, out=s)
            np.multiply(s, b, out=s)
            np.copysign(s, v, out=s)
            np.add(x[at : at + rows], s, out=out[at : at + rows])
        return out

    return privatize


# Cases --------------------------------------------------------------------------------------------------------------


def _rows(n: int, scale: float, least: int = 1024) -> int:
    return max(least, int(n * scale))


def _privatize(mechanism: Mechanism, x: AnyArray, out: AnyArray) -> Task:
    return partial(mechanism.privatize, x, out=out)


def _towards(dim: int) -> AnyArray:
    signs: AnyArray = np.random.default_rng(5).choice(np.array([-1, 1], np.float32), dim)
    return signs


def _ball(n: int, dim: int) -> AnyArray:
    """Rows of Euclidean norm near 0.9 that point about the same way."""
    towards = _towards(dim) / np.float32(math.sqrt(dim))
    x = np.random.default_rng(1).random((n, dim), np.float32)
    x -= np.float32(0.5)
    x *= np.float32(0.3 / math.sqrt(dim))
    x += np.float32(0.9) * towards
    return x


def _cube(n: int, dim: int) -> AnyArray:
    """Coordinates of size 1/2 to 1 with the same signs in every row."""
    x = np.random.default_rng(2).random((n, dim), np.float32)
    x *= np.float32(0.5)
    x += np.float32(0.5)
    x *= _towards(dim)
    return x


def _categories(n: int, k: int) -> AnyArray:
    """Half of the people in category 0, the others in all."""
    generator = np.random.default_rng(3)
    x = generator.integers(0, k, n).astype(np.uint8)
    x[generator.random(n) < 0.5] = 0
    return x


def l2_ball(dim: int, scale: float = 1.0) -> Case:
    """float32 in, float32 out."""
    mechanism, x = L2Ball(dim, EPSILON), _ball(_rows(8_000_000 // dim, scale, 256), dim)
    out = np.zeros_like(x)
    return Case(
        f"l2 ball, float32, dim {dim}", "element", x.size, 3 + 16 / dim, 4, 4,
        _privatize(mechanism, x, out), numpy_l2(mechanism, x, np.zeros_like(x)),
        partial(check_l2, mechanism, x, _towards(dim) / np.float32(math.sqrt(dim))), mechanism, x, 1.6,
    )  # fmt: skip


def linf_ball(dim: int, scale: float = 1.0) -> Case:
    """float32 in, packed signs out."""
    mechanism, x = LinfBall(dim, EPSILON), _cube(_rows(16_777_216 // dim, scale, 256), dim)
    out = np.zeros((len(x), dim // 8), np.uint8)
    return Case(
        f"l-infinity ball, float32, packed, dim {dim}", "element", x.size, 9 / 8 + 8 / dim, 4, 1 / 8,
        _privatize(mechanism, x, out), numpy_linf(mechanism, x, np.zeros_like(out)),
        partial(check_linf, mechanism, x, _towards(dim)), mechanism, x, 0.55,
    )  # fmt: skip


def run_linf(scale: float = 1.0) -> Case:
    """Records to mean; nothing stored."""
    dim = 128
    mechanism, x = LinfBall(dim, EPSILON), _cube(_rows(16_777_216 // dim, scale, 256), dim)
    return Case(
        f"run(x), l-infinity ball, float32, dim {dim}", "element", x.size, 9 / 8 + 8 / dim, 4, 0,
        lambda: mechanism.run(x).value, numpy_run_linf(mechanism, x),
        partial(check_linf_mean, mechanism, x, _towards(dim)), mechanism, x, 0.6,
    )  # fmt: skip


def unary(scale: float = 1.0) -> Case:
    """uint8 in, packed bits out."""
    k = 128
    mechanism, x = UnaryEncoding(k, EPSILON), _categories(_rows(1 << 20, scale), k)
    out = np.zeros((len(x), k // 8), np.uint8)
    return Case(
        f"unary encoding, packed, k = {k}", "person", len(x), k * DIGIT_BYTES, 1, k / 8,
        _privatize(mechanism, x, out), numpy_unary(mechanism, x, np.zeros_like(out)),
        partial(check_unary, mechanism, x), mechanism, x, 17.0,
    )  # fmt: skip


def _reports(k: int, scale: float) -> tuple[UnaryEncoding, AnyArray, Callable[[Answer], bool]]:
    reports = Words()(_rows((64 << 20) // (k // 8), scale, 512) * (k // 64)).view(np.uint8).reshape(-1, k // 8)
    expected = count_bits(reports)
    return UnaryEncoding(k, EPSILON), reports, lambda counts: bool(np.array_equal(counts, expected))


def count(k: int, scale: float = 1.0) -> Case:
    """Packed reports to counts: checks, counts and adds."""
    mechanism, reports, check = _reports(k, scale)
    return Case(
        f"counting packed reports of {k} bits", "report", len(reports), 0, k / 8, 0,
        lambda: mechanism.aggregator().update(reports)._state, numpy_count(reports), check, mechanism, reports,
        0.8 if k == 128 else 7.0,
    )  # fmt: skip


def tally(k: int, scale: float = 1.0) -> Case:
    """The kernel of `count` alone."""
    mechanism, reports, check = _reports(k, scale)

    def ours() -> AnyArray:
        counts = np.zeros(k, np.int64)
        _bits.tally(reports, counts)
        return counts

    return Case(
        f"the same, kernel alone, {k} bits", "report", len(reports), 0, k / 8, 0, ours, numpy_count(reports), check,
        mechanism, reports, 0.8 if k == 128 else 7.0, threads=False,
    )  # fmt: skip


def response(scale: float = 1.0) -> Case:
    """uint8 in, uint8 out."""
    k = 128
    mechanism, x = RandomizedResponse(k, EPSILON), _categories(_rows(16 << 20, scale), k)
    coin, out = _coins.response(k, EPSILON), np.zeros_like(x)
    return Case(
        f"k-ary randomised response, k = {k}", "person", len(x), coin.bits / 8, 1, 1,
        _privatize(mechanism, x, out), numpy_response(coin, x, np.zeros_like(out)),
        partial(check_response, coin, x), mechanism, x, 1.6,
    )  # fmt: skip


def laplace(scale: float = 1.0) -> Case:
    """float64 in, float64 out."""
    mechanism = Laplace(0.0, 1.0, EPSILON)
    x = np.random.default_rng(4).random(_rows(4 << 20, scale))
    out = np.zeros_like(x)
    span = round((mechanism.upper - mechanism.lower) / mechanism.grid)
    digits = len(_coins.geometric(EPSILON, span, span, 1).digits)
    return Case(
        "Laplace, exact on a grid", "value", len(x), (digits + 1) * DIGIT_BYTES + 1 / 8 + 4, 8, 8,
        _privatize(mechanism, x, out), numpy_laplace(mechanism, x, np.zeros_like(out)),
        partial(check_laplace, mechanism, x), mechanism, x, 6.0, note="NumPy: unsafe, noise in floating point",
    )  # fmt: skip


def residue(scale: float = 1.0) -> Case:
    """float64 in, uint8 out."""
    mechanism = Residue(0.5, 0.1, 4, EPSILON)
    x = np.random.default_rng(6).normal(0.6, 0.4, _rows(8 << 20, scale))
    coin, out = _coins.response(4, EPSILON), np.zeros(len(x), np.uint8)
    symbols = (np.floor((x - mechanism.offset) / mechanism.width).astype(np.int64) & 3).astype(np.uint8)
    return Case(
        "residue, modulus 4, float64", "person", len(x), coin.bits / 8, 8, 1,
        _privatize(mechanism, x, out), numpy_residue(mechanism, coin, x, np.zeros_like(out)),
        partial(check_response, coin, symbols), mechanism, x,
    )  # fmt: skip


def sign_bit(scale: float = 1.0) -> Case:
    """float64 in, uint8 out."""
    mechanism = SignBit(0.0, 1.0, EPSILON)
    x = np.random.default_rng(7).random(_rows(8 << 20, scale))
    out = np.zeros(len(x), np.uint8)
    return Case(
        "sign bit, float64", "value", len(x), 8, 8, 1,
        _privatize(mechanism, x, out), numpy_sign_bit(mechanism, x, np.zeros_like(out)),
        partial(check_sign_bit, mechanism, x), mechanism, x, note="NumPy: a coin of 32 bits",
    )  # fmt: skip


CASES: dict[str, Callable[[float], Case]] = {
    "l2-100": partial(l2_ball, 100),
    "l2-1000": partial(l2_ball, 1000),
    "linf-128": partial(linf_ball, 128),
    "linf-1024": partial(linf_ball, 1024),
    "unary-128": unary,
    "count-128": partial(count, 128),
    "tally-128": partial(tally, 128),
    "count-1024": partial(count, 1024),
    "tally-1024": partial(tally, 1024),
    "response-128": response,
    "laplace": laplace,
    "run-linf-128": run_linf,
    "residue-4": residue,
    "sign-bit": sign_bit,
}


def singles() -> dict[str, tuple[Mechanism, Any]]:
    """Every mechanism with one record, as a client has it."""
    vector = np.full(128, 0.01, np.float32)
    return {
        "Warner": (Warner(EPSILON), 1),
        "RandomizedResponse, k = 128": (RandomizedResponse(128, EPSILON), 5),
        "UnaryEncoding, k = 128": (UnaryEncoding(128, EPSILON), 5),
        "Residue, modulus 4": (Residue(0.5, 0.1, 4, EPSILON), 3.7),
        "Bins, 3 cuts": (Bins((0.0, 1.0, 2.0), EPSILON), 0.5),
        "SignBit": (SignBit(0.0, 1.0, EPSILON), 0.5),
        "Laplace": (Laplace(0.0, 1.0, EPSILON), 0.5),
        "LinfBall, dim 128": (LinfBall(128, EPSILON), vector),
        "LinfBall, dim 128, thin": (LinfBall(128, EPSILON, ties="thin"), vector),
        "L2Ball, dim 128": (L2Ball(128, EPSILON), vector),
        "LaplaceVector, dim 128": (LaplaceVector(128, EPSILON), vector),
    }


# Measuring ----------------------------------------------------------------------------------------------------------


def _timed(clock: Callable[[], float], task: Task) -> float:
    start = clock()
    task()
    return clock() - start


@dataclass
class Machine:
    """The two currencies, in ns per byte, the best seen in this run; sampled again beside every task."""

    stream: float = math.inf  # key stream, one thread, into a buffer that stays in cache: as the kernels use it
    copy: float = math.inf  # a byte read and a byte written, large arrays, one thread
    read: float = math.inf  # a byte read, one thread
    read_two: float = math.inf  # wall time, two threads
    _buffer: AnyArray = field(default_factory=lambda: np.zeros(1 << 16, np.uint8), repr=False)
    _source: AnyArray = field(default_factory=lambda: np.ones(8 << 20, np.uint64), repr=False)
    _copied: AnyArray = field(default_factory=lambda: np.ones(8 << 20, np.uint64), repr=False)
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(2), repr=False)

    def sample(self) -> None:
        """One measurement of each."""

        def produce() -> None:
            for block in range(32):
                _stream.raw(bytes(32), 0, block, self._buffer)

        def read_both() -> None:
            halves = np.split(self._source, 2)
            for done in [self._pool.submit(np.max, half) for half in halves]:
                done.result()

        cpu, wall, size = time.thread_time, time.perf_counter, self._source.nbytes
        self.stream = min(self.stream, _timed(cpu, produce) * 1e9 / (32 * self._buffer.nbytes))
        self.copy = min(self.copy, _timed(cpu, lambda: np.copyto(self._copied, self._source)) * 1e9 / size)
        self.read = min(self.read, _timed(cpu, lambda: np.max(self._source)) * 1e9 / size)
        self.read_two = min(self.read_two, _timed(wall, read_both) * 1e9 / size)

    def limit(self, case: Case) -> float:
        """ns per unit: random bytes, then bytes in and out; what is both read and written costs as a copy."""
        both = min(case.read_bytes, case.write_bytes)
        write = max(self.copy - self.read, 0.0)
        moved = both * self.copy + (case.read_bytes - both) * self.read + (case.write_bytes - both) * write
        return case.random_bytes * self.stream + moved


@dataclass
class Row:
    """One task, measured; ns per unit."""

    name: str
    task: str
    unit: str
    units: int
    ldpfast: float
    numpy: float
    ratio: float  # NumPy / ldpfast
    limit: float
    of_limit: float
    two_threads: float | None  # speed-up, wall time
    of_read_bandwidth: float | None  # with two threads, of what two threads read; where nothing else is needed
    target: float | None
    met: bool | None
    met_two_threads: bool | None
    correct: bool
    numpy_correct: bool
    rounds: int
    note: str


def measure(name: str, case: Case, machine: Machine, seconds: float, least: int = 3) -> Row:
    """Best of the rounds that fit into `seconds`, at least `least`; in each, both sides one after the other."""
    deadline, before = time.perf_counter() + seconds, _threads.get_num_threads()
    best = {"ours": math.inf, "numpy": math.inf, "one": math.inf, "two": math.inf}
    rounds = 0
    try:
        _threads.set_num_threads(1)
        correct, numpy_correct = case.check(case.ours()), case.check(case.numpy())
        while rounds < least or (time.perf_counter() < deadline and rounds < 50):
            machine.sample()
            _threads.set_num_threads(1)
            for _ in range(2):
                wall = time.perf_counter()
                best["ours"] = min(best["ours"], _timed(time.thread_time, case.ours))
                best["one"] = min(best["one"], time.perf_counter() - wall)
            best["numpy"] = min(best["numpy"], _timed(time.thread_time, case.numpy))
            if case.threads:
                _threads.set_num_threads(2)
                for _ in range(3):  # the first one makes the pool
                    best["two"] = min(best["two"], _timed(time.perf_counter, case.ours))
            rounds += 1
        if case.threads:
            correct = correct and case.check(case.ours())
    finally:
        _threads.set_num_threads(before)
    ours, numpy = best["ours"] * 1e9 / case.units, best["numpy"] * 1e9 / case.units
    limit, wide = machine.limit(case), info()["isa"] == "avx512"
    speedup = best["one"] / best["two"] if case.threads else None
    bandwidth = machine.read_two * case.read_bytes * case.units / best["two"] / 1e9 if case.threads else None
    if case.random_bytes or case.write_bytes:
        bandwidth = None
    return Row(
        name, case.task, case.unit, case.units, ours, numpy, numpy / ours, limit, limit / ours, speedup, bandwidth,
        case.target, None if case.target is None or not wide else ours <= case.target,
        None if speedup is None else speedup >= SPEEDUP_TARGET or (bandwidth or 0.0) >= BANDWIDTH_TARGET,
        correct, numpy_correct, rounds, case.note,
    )  # fmt: skip


def measure_singles(calls: int = 200, rounds: int = 25) -> dict[str, float]:
    """us per call for a single record of every mechanism: fresh key, checks, report."""
    cases = singles()
    found = dict.fromkeys(cases, math.inf)
    for _ in range(rounds):
        for name, (mechanism, record) in cases.items():
            start = time.thread_time()
            for _ in range(calls):
                mechanism.privatize(record)
            found[name] = min(found[name], (time.thread_time() - start) * 1e6 / calls)
    return found


def cpu_name() -> str:
    """As the operating system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


# Reporting ----------------------------------------------------------------------------------------------------------

_COLUMNS = (
    f"{'task':<43} {'ns per':<8} {'ldpfast':>8} {'NumPy':>8} {'ratio':>6} {'limit':>7} {'of limit':>8} {'2 threads':>9}"
    f" {'correct':>8}"
)


def _mark(value: bool | None) -> str:
    return "-" if value is None else "yes" if value else "NO"


def _line(row: Row, targets: bool) -> str:
    target = f"  target {row.target:.3g}: {_mark(row.met)}" if targets and row.target is not None else ""
    two = "-" if row.two_threads is None else f"{row.two_threads:.2f} x"
    return (
        f"{row.task:<43} {row.unit:<8} {row.ldpfast:8.2f} {row.numpy:8.2f} {row.ratio:6.1f} {row.limit:7.2f}"
        f" {row.of_limit:8.0%} {two:>9} {_mark(row.correct and row.numpy_correct):>8}{target}"
    )


def _print_thread_targets(rows: list[Row]) -> None:
    print(f"Two threads, at least {SPEEDUP_TARGET} times as fast or {BANDWIDTH_TARGET:.0%} of what two threads read:")
    for row in rows:
        if row.met_two_threads is not None:
            part = "" if row.of_read_bandwidth is None else f", {row.of_read_bandwidth:.0%} of the read bandwidth"
            print(f"  {row.task:<43} {row.two_threads:5.2f} x{part}: {_mark(row.met_two_threads)}")


def report(seconds: float = 50.0, json: str | None = None, targets: bool = False) -> int:
    """Measure every case, print tables, and perhaps write all numbers to a file.

    Parameters
    ----------
    seconds : float
        About how long it may take; below 20, arrays become smaller too, and may then stay in cache.
    json : str, optional
        File for all numbers.
    targets : bool, default False
        Whether to print what an AVX-512 machine should reach, too.

    Returns
    -------
    status : int
        0, or 1 if some answer was wrong. Slow is not wrong.
    """
    start, scale = time.perf_counter(), min(1.0, seconds / 20)
    about = {
        "cpu": cpu_name(),
        "cpus": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "ldpfast": info()["version"],
        "isa": info()["isa"],
        "epsilon": EPSILON,
    }
    print(
        f"ldpfast {about['ldpfast']} ({about['isa']}), NumPy {about['numpy']}, Python {about['python']}; "
        f"{about['cpu']}, {about['cpus']} CPUs\n"
        "One thread, its CPU time, best of several; arrays in memory; epsilon = 1. NumPy draws from SFC64,\n"
        "which is not cryptographic. ratio: NumPy / ldpfast. limit: random bytes at the speed of the key stream,\n"
        "plus reading the records and writing the reports once at the speed of a memory copy.\n"
    )
    print(_COLUMNS)
    print("-" * len(_COLUMNS))
    machine, rows = Machine(), []
    machine.sample()
    single = measure_singles(max(20, int(200 * scale)))
    for i, (name, build) in enumerate(CASES.items()):
        case = build(scale)
        left = seconds - (time.perf_counter() - start)
        share = left / (len(CASES) - i) - 0.4 * scale  # the checks, and the data of the next case
        rows.append(measure(name, case, machine, share))
        print(_line(rows[-1], targets), flush=True)
    for row in rows:
        if row.note:
            print(f"  {row.task}: {row.note}")
    speeds = {name: getattr(machine, name) for name in ("stream", "copy", "read", "read_two")}
    print("\nGB/s: " + ", ".join(f"{name.replace('_', ' by ')} {1 / cost:.1f}" for name, cost in speeds.items()))
    if targets:
        _print_thread_targets(rows)
    print("\nOne single record with a fresh key, us per call" + (f"; target {SINGLE_TARGET:g}:" if targets else ":"))
    for name, cost in single.items():
        print(f"  {name:<30} {cost:6.2f}" + (f"  {_mark(cost <= SINGLE_TARGET)}" if targets else ""))
    took = time.perf_counter() - start
    wrong = [row.task for row in rows if not (row.correct and row.numpy_correct)]
    print(f"\n{took:.0f} seconds; " + ("all answers correct" if not wrong else "WRONG: " + "; ".join(wrong)))
    if json is not None:
        data = {"machine": about, "ns_per_byte": speeds, "tasks": [asdict(row) for row in rows], "single_us": single}
        Path(json).write_text(json_format.dumps(data, indent=1) + "\n")
    return 1 if wrong else 0
