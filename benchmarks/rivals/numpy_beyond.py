"""Optimized NumPy implementations of the mechanisms for large domains, of the window mechanism, and of sampled signs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldpfast import _coins
from ldpfast._typing import AnyArray
from ldpfast.bench._case import Task
from ldpfast.mechanisms import HadamardResponse, RankCodebook, RotatedSigns, SampledCube, SubsetSelection, Window
from ldpfast.reports import recipe_of, signs_of_rotation

from .numpy_mechanisms import CHUNK, NumpyNormals, Words


def numpy_hadamard(mechanism: HadamardResponse, x: AnyArray, out: AnyArray) -> Task:
    """Return a call that draws a code and flips the lowest bit of the record + 1 if the parity is not that of a coin."""
    words, rows = Words(), CHUNK // 2
    coin = recipe_of(mechanism).coin
    mask, heads = mechanism.report.k - 1, np.uint32(int(coin.inside * coin.size * 2**32))

    def privatize() -> AnyArray:
        for start in range(0, len(x), rows):
            row = x[start : start + rows].astype(out.dtype) + out.dtype.type(1)
            code = words(len(row), out.dtype) & out.dtype.type(mask)
            odd = np.bitwise_count(code & row) & np.uint8(1)
            odd ^= words(len(row), np.uint32) >= heads
            np.bitwise_xor(
                code, (row & (~row + out.dtype.type(1))) * odd.astype(out.dtype), out=out[start : start + rows]
            )
        return out

    return privatize


def numpy_subset(mechanism: SubsetSelection, x: AnyArray, out: AnyArray) -> Task:
    """Return a call that takes the smallest of random keys, among which that of the record is moved to one end."""
    words, rows, size = Words(), max(1, CHUNK // mechanism.k), recipe_of(mechanism).coin.size
    p = recipe_of(mechanism).coin.heads / 2.0**64

    def privatize() -> AnyArray:
        for start in range(0, len(x), rows):
            record = x[start : start + rows]
            key = words.generator.random((len(record), mechanism.k), np.float32)
            included = words.generator.random(len(record)) < p
            key[np.arange(len(record)), record] = np.where(included, np.float32(-1), np.float32(2))
            chosen = np.zeros(key.shape, bool)
            np.put_along_axis(chosen, np.argpartition(key, size - 1, axis=1)[:, :size], True, axis=1)
            out[start : start + rows] = np.packbits(chosen, axis=1, bitorder="little")
        return out

    return privatize


def numpy_window(mechanism: Window, x: AnyArray, out: AnyArray) -> Task:
    """Return a call that chooses between bit, window and uniform code by one word of 32 bits."""
    words, rows, coin = Words(), CHUNK // 4, recipe_of(mechanism).coin
    per_unit, bit_words = coin.steps / (mechanism.upper - mechanism.lower), float(coin.bit_words)

    def privatize() -> AnyArray:
        for start in range(0, len(x), rows):
            position = (x[start : start + rows] - mechanism.lower) * per_unit
            word = words(len(position), np.uint32).astype(np.float64)
            low = np.minimum(np.floor(position), coin.steps - 1)
            rest = word - bit_words
            inside = low + np.floor((rest + np.rint((position - low) * coin.per)) / coin.per)
            code = np.where(rest < coin.width * coin.per, inside, (rest - coin.width * coin.per) // coin.each)
            one = word < coin.tails + (coin.heads - coin.tails) / coin.steps * position
            np.copyto(out[start : start + rows], np.where(rest < 0, coin.outputs + one, code), casting="unsafe")
        return out

    return privatize


def numpy_cube(mechanism: SampledCube, x: AnyArray, out: AnyArray) -> Task:
    """Return a call that samples coordinates, and replaces the pattern of their signs by another one with tails."""
    words, rows = Words(), 1 << 13
    k, dim = out.shape[1], mechanism.dim
    p = recipe_of(mechanism).coin.heads / 2.0**64
    bits = np.arange(k)

    def privatize() -> AnyArray:
        generator = words.generator
        for start in range(0, len(x), rows):
            record = x[start : start + rows]
            n = len(record)
            sampled = generator.integers(0, dim, (n, k))
            repeated = np.ones(n, bool)
            while repeated.any():
                order = np.sort(sampled, axis=1)
                repeated = (order[:, 1:] == order[:, :-1]).any(axis=1)
                sampled[repeated] = generator.integers(0, dim, (int(repeated.sum()), k))
            value = np.take_along_axis(record, sampled, axis=1)
            plus = generator.random((n, k), np.float32) * np.float32(2) - np.float32(1) < value
            changed = np.where(generator.random(n) < p, 0, generator.integers(1, 1 << k, n))
            plus ^= (changed[:, np.newaxis] >> bits & 1).astype(bool)
            out[start : start + rows] = 2 * sampled + plus
        return out

    return privatize


def numpy_codebook(mechanism: RankCodebook, x: AnyArray, out: AnyArray) -> Task:
    """Return a call that writes the chosen directions, of the length of reports, for records on the unit sphere."""
    words, rows, dim, vectors = Words(), 64, mechanism.dim, mechanism.vectors
    normals = NumpyNormals(words, rows * vectors * dim)
    p, top = recipe_of(mechanism).coin.heads / 2.0**64, mechanism.top

    def privatize() -> AnyArray:
        generator = words.generator
        for start in range(0, len(x), rows):
            record = x[start : start + rows]
            n = len(record)
            u = normals()[: n * vectors * dim].reshape(n, vectors, dim)
            length = np.sqrt(np.einsum("ijk,ijk->ij", u, u))
            cosine = np.matmul(u, record[:, :, np.newaxis])[:, :, 0] / length
            norm = np.sqrt(np.einsum("ij,ij->i", record, record))
            cosine *= np.where(generator.random(n) < (1 + norm) / 2, 1, -1).astype(np.float32)[:, np.newaxis]
            candidates = np.concatenate([cosine, -cosine], axis=1)
            order = np.argsort(-candidates, axis=1)
            inside = generator.random(n) < p
            place = np.where(inside, generator.integers(0, top, n), generator.integers(top, 2 * vectors, n))
            chosen = order[np.arange(n), place]
            sign = np.where(chosen < vectors, 1, -1) * mechanism.scale / length[np.arange(n), chosen % vectors]
            out[start : start + rows] = u[np.arange(n), chosen % vectors] * sign[:, np.newaxis].astype(np.float32)
        return out

    return privatize


def transform(v: AnyArray) -> None:
    """Replace each row by its Walsh-Hadamard transform."""
    stride, size = 1, v.shape[-1]
    while stride < size:
        pairs = v.reshape(-1, 2, stride)
        difference = pairs[:, 0] - pairs[:, 1]
        pairs[:, 0] += pairs[:, 1]
        pairs[:, 1] = difference
        stride *= 2


class NumpyPatterns:
    """Patterns of ranked signs, as 1 and -1 in the order of the weights, one row per person."""

    def __init__(self, mechanism: RotatedSigns) -> None:
        coin = recipe_of(mechanism).coin
        sampler = _coins.sampler_of(coin.weights)
        weights = np.array(coin.weights)
        self.generator = Words().generator
        self.heads, self.sizes = coin.heads / 2.0**64, np.array(sampler.sizes)
        self.limits = np.array([coin.least, sum(sampler.sizes) + 1 - coin.least])
        self.members = [np.array([heads / 2.0**64 for heads in row]) for row in sampler.words]
        self.order = np.argsort(np.abs(weights), kind="stable")
        self.agree = np.where(weights < 0, -1, 1).astype(np.int8)

    def __call__(self, n: int) -> AnyArray:
        inside = self.generator.random(n) < self.heads
        left, signs = self.limits[np.where(inside, 0, 1)], np.empty((n, len(self.sizes)), np.int8)
        for i in reversed(range(len(self.sizes))):
            member = self.generator.random(n) < self.members[i][np.minimum(left, len(self.members[i]) - 1)]
            left = np.where(member, np.maximum(left - self.sizes[i], 0), left)
            signs[:, self.order[i]] = np.where(member == inside, 1, -1) * self.agree[self.order[i]]
        return signs


def numpy_rotated(mechanism: RotatedSigns, x: AnyArray) -> Task:
    """Return a call that privatizes the records of a round, adds the signs of rows, and inverts the rotation."""
    report: Any = mechanism.report
    size, block, signs = report.size, 4096, mechanism.signs
    words = signs_of_rotation(mechanism.rotation, size).view(np.uint8)
    first, second = 1 - 2 * np.unpackbits(words, bitorder="little").reshape(2, size).astype(np.float32)
    patterns, steps = NumpyPatterns(mechanism), np.arange(signs) * (block // signs)
    generator = patterns.generator
    numbers = np.arange(size // block, dtype=np.uint32)

    def run() -> AnyArray:
        state, drawn = np.zeros(size), patterns(len(x))
        u = np.empty(size, np.float32)
        for record, pattern in zip(x, drawn, strict=True):
            u[: len(record)] = record
            u[len(record) :] = 0
            u *= first
            transform(u)
            u *= second
            chosen = int(generator.integers(size // block))
            side = (1 - 2 * (np.bitwise_count(numbers & np.uint32(chosen)) % 2)).astype(np.float32)
            products = side @ u.reshape(-1, block)
            transform(products)
            rows = steps + generator.integers(0, block // signs, signs)
            norm = min(float(np.linalg.norm(record)) / mechanism.radius, 1.0)
            order = np.argsort(products[rows] * (1 if generator.random() < (1 + norm) / 2 else -1))
            state[chosen * block + rows[order]] += pattern
        transform(state)
        state *= second
        transform(state)
        return np.asarray((state * first)[: mechanism.dim] * (report.unit / size / len(x)))

    return run
