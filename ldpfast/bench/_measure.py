"""Measurement of a case, and of the costs that its limit is made of."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from .. import _threads
from .._core import stream as _stream
from .._info import info
from .._typing import AnyArray
from ._case import Case, Rival, Task

SPEEDUP_TARGET, BANDWIDTH_TARGET = 1.8, 0.8


def _timed(clock: Callable[[], float], task: Task) -> float:
    start = clock()
    task()
    return clock() - start


@dataclass
class Machine:
    """Costs of random bytes and of memory traffic, in ns per byte: the smallest of all samples in this run.

    A case that only reads is a sample of reading, so no such case takes less time than its limit.
    """

    stream: float = math.inf  # key stream into a buffer that stays in cache, as in the kernels; one thread
    copy: float = math.inf  # a byte read and a byte written, large arrays, one thread
    read: float = math.inf  # a byte read, one thread
    read_two: float = math.inf  # wall time, two threads
    _buffer: AnyArray = field(default_factory=lambda: np.zeros(1 << 16, np.uint8), repr=False)
    _source: AnyArray = field(default_factory=lambda: np.ones(8 << 20, np.uint64), repr=False)
    _copied: AnyArray = field(default_factory=lambda: np.ones(8 << 20, np.uint64), repr=False)
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(2), repr=False)

    def sample(self) -> None:
        """Measure each cost once."""

        def produce() -> None:
            for block in range(32):
                _stream.raw(bytes(32), _stream.StreamId.RAW, block, self._buffer)

        def read_both() -> None:
            halves = np.split(self._source, 2)
            for done in [self._pool.submit(np.max, half) for half in halves]:
                done.result()

        cpu = time.thread_time
        wall = time.perf_counter
        size = self._source.nbytes
        self.stream = min(self.stream, _timed(cpu, produce) * 1e9 / (32 * self._buffer.nbytes))
        self.copy = min(self.copy, _timed(cpu, lambda: np.copyto(self._copied, self._source)) * 1e9 / size)
        self.read = min(self.read, _timed(cpu, lambda: np.max(self._source)) * 1e9 / size)
        self.read_two = min(self.read_two, _timed(wall, read_both) * 1e9 / size)

    def limit(self, case: Case) -> float:
        """Return the limit in ns per unit: time of the random bytes or of the memory traffic, whichever is longer.

        Both are at the fastest speed that was measured, and overlap at best. A byte read and a byte written together cost a
        copy.
        """
        both = min(case.read_bytes, case.write_bytes)
        write = max(self.copy - self.read, 0.0)
        moved = both * self.copy + (case.read_bytes - both) * self.read + (case.write_bytes - both) * write
        return max(case.random_bytes * self.stream, moved)


@dataclass
class Row:
    """Measurements of one task, in ns per unit."""

    name: str
    task: str
    unit: str
    units: int
    ldpfast: float
    numpy: float | None
    ratio: float | None  # NumPy / ldpfast
    limit: float
    of_limit: float
    two_threads: float | None  # speedup, wall time
    two_threads_ns: float | None  # wall time per unit
    of_read_bandwidth: float | None  # fraction reached with two threads, for tasks that only read
    target: float | None
    met: bool | None
    target_two: float | None
    met_two_threads: bool | None
    correct: bool
    numpy_correct: bool | None
    rounds: int
    note: str


def measure(name: str, case: Case, machine: Machine, seconds: float, rival: Rival | None = None, least: int = 3) -> Row:
    """Measure a case: the best of the rounds that fit into `seconds`, with at least `least` rounds.

    Each round runs ldpfast and then NumPy, which is `rival`.
    """
    deadline, before = time.perf_counter() + seconds, _threads.get_num_threads()
    best = {"ours": math.inf, "numpy": math.inf, "one": math.inf, "two": math.inf}
    rounds = 0
    try:
        _threads.set_num_threads(1)
        correct = case.check(case.ours())
        numpy_correct = None if rival is None else case.check(rival.call())
        while rounds < least or (time.perf_counter() < deadline and rounds < 50):
            machine.sample()
            _threads.set_num_threads(1)
            for _ in range(2):
                wall = time.perf_counter()
                best["ours"] = min(best["ours"], _timed(time.thread_time, case.ours))
                best["one"] = min(best["one"], time.perf_counter() - wall)
            if rival is not None:
                best["numpy"] = min(best["numpy"], _timed(time.thread_time, rival.call))
            if case.threads:
                _threads.set_num_threads(2)
                for _ in range(3):  # the first call creates the pool
                    best["two"] = min(best["two"], _timed(time.perf_counter, case.ours))
            rounds += 1
        if case.threads:
            correct = correct and case.check(case.ours())
    finally:
        _threads.set_num_threads(before)
    ours = best["ours"] * 1e9 / case.units
    numpy = None if rival is None else best["numpy"] * 1e9 / rival.units
    notes = (case.note, "" if rival is None else rival.note)
    if case.read_bytes and not (case.random_bytes or case.write_bytes):
        machine.read = min(machine.read, ours / case.read_bytes)
    limit, wide = machine.limit(case), info()["isa"] == "avx512"
    speedup = best["one"] / best["two"] if case.threads else None
    two = best["two"] * 1e9 / case.units if case.threads else None
    bandwidth = None
    if two is not None and not (case.random_bytes or case.write_bytes):
        bandwidth = machine.read_two * case.read_bytes / two
    met_two = None if speedup is None else speedup >= SPEEDUP_TARGET or (bandwidth or 0.0) >= BANDWIDTH_TARGET
    if two is not None and case.target_two is not None:
        met_two = two <= case.target_two if wide else None
    return Row(
        name, case.task, case.unit, case.units, ours, numpy, None if numpy is None else numpy / ours, limit, limit / ours,
        speedup, two, bandwidth,
        case.target, None if case.target is None or not wide else ours <= case.target, case.target_two, met_two,
        correct, numpy_correct, rounds, "; ".join(filter(None, notes)),
    )  # fmt: skip
