"""Tools of the numba implementations: the compiler, random words, and loops over chunks.

Random words come from a counter-based splitmix64, which LLVM vectorizes. It is not cryptographic. numba's own Mersenne
Twister is several times slower.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar, cast

import numpy as np

from ldpfast._typing import AnyArray
from ldpfast.bench._case import Case, Task

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # idle numba threads would disturb the next measurement
numba: Any = import_module("numba") if find_spec("numba") is not None else None
prange: Any = numba.prange if numba else range

Function = TypeVar("Function", bound=Callable[..., Any])
ROWS = 1 << 14  # numbers per chunk, so that buffers fit in cache


def njit(**options: bool) -> Callable[[Function], Function]:
    """Return numba.njit without the check for division by zero, which prevents vectorization by LLVM.

    If numba is not installed, the decorator returns the function unchanged, and the function is not called.
    """
    if not numba:
        return lambda function: function
    return cast(Callable[[Function], Function], numba.njit(error_model="numpy", **options))


@njit(nogil=True)
def fill(words: Any, seed: Any) -> None:
    """Fill an array with words of splitmix64 in counter mode, which LLVM vectorizes."""
    for i in range(words.size):
        z = seed + np.uint64(i) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        words[i] = z ^ (z >> np.uint64(31))


@njit(nogil=True)
def stream(seed: Any, number: Any) -> Any:
    """Return the seed of stream `number` of a call, mixed differently from the words of `fill`."""
    z = seed ^ (np.uint64(number) * np.uint64(0xD1342543DE82EF95) + np.uint64(0x2545F4914F6CDD1D))
    z = (z ^ (z >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    z = (z ^ (z >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return z ^ (z >> np.uint64(32))


def fresh_seed() -> np.uint64:
    """Return a seed from the entropy of the operating system."""
    return np.uint64(np.random.SeedSequence().generate_state(1, np.uint64)[0])


def drivers(chunk: Any) -> tuple[Any, Any]:
    """Compile two loops over chunks: one for a single thread, and one for all threads of numba."""

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
    """Compile two loops like those of `drivers`, in which each chunk adds to a separate row of counts."""

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


def looping(make: Any, chunk: Any, case: Case, out: AnyArray, rows: int, p: tuple[float, ...], threads: int) -> Task:
    """Return a call that applies a chunk function to all records. Each chunk function is compiled once."""
    if chunk not in _drivers:
        _drivers[chunk] = make(chunk)
    loop = _drivers[chunk][threads > 1]

    def call() -> AnyArray:
        if threads > 1:
            numba.set_num_threads(threads)
        loop(case.x, out, rows, fresh_seed(), p)
        return out

    return call


def privatizer(chunk: Any, case: Case, shape: tuple[int, ...], dtype: Any, p: tuple[float, ...], threads: int) -> Task:
    """Return a call that privatizes all records into an array of the given shape and dtype."""
    rows = max(1, ROWS * len(case.x) // case.x.size)
    return looping(drivers, chunk, case, np.zeros(shape, dtype), rows, p, threads)


def counter(chunk: Any, case: Case, rows: int, k: int, p: tuple[float, ...], threads: int) -> Task:
    """Return a call that computes k counts over all records."""
    chunks = -(-len(case.x) // rows)

    def call() -> AnyArray:
        counts = looping(counting_drivers, chunk, case, np.zeros((chunks, k), np.int64), rows, p, threads)()
        total: AnyArray = counts.sum(axis=0)
        return total

    return call
