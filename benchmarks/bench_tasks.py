"""One group per task: ldpfast, NumPy, numba and the libraries that answer the same question.

One thread is measured by its CPU time, two threads by wall time. Every row records whether its answer was correct.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import bench

from . import peers

ROUNDS = 7
ONE_THREAD = (
    "tally",
    "median",
    "logistic",
    "series",
    "gaussian-simulated",
    "central-median",
    "central-smooth",
    "central-gaussian",
)  # tasks that are not dealt out
THREADED = ("ldpfast", "numba")


@pytest.fixture
def threads() -> Iterator[None]:
    before = ldp.get_num_threads()
    yield
    ldp.set_num_threads(before)


@lru_cache(maxsize=1)
def case_of(name: str) -> bench.Case:
    """The data of one task stay for its group."""
    return bench.CASES[name](1.0)


@lru_cache(maxsize=1)
def machine() -> bench.Machine:
    """The speed of key stream and memory, once per run."""
    speeds = bench.Machine()
    for _ in range(7):
        speeds.sample()
    return speeds


def libraries(name: str) -> list[Any]:
    """What can do the task here: one thread on the CPU clock, two threads on the clock on the wall."""
    found = ["ldpfast", "numpy", *peers.peers(name)]
    if peers.numba is not None and not name.startswith(("tally", "gaussian-simulated", "central")):
        found = [*found, "numba"]
    two = [] if name.startswith(ONE_THREAD) else [f"{library}, 2 threads" for library in found if library in THREADED]
    one_clock = pytest.mark.benchmark(timer=time.thread_time)
    wall_clock = pytest.mark.benchmark(timer=time.perf_counter)
    return [pytest.param(name, library, marks=one_clock, id=f"{name}-{library}") for library in found] + [
        pytest.param(name, library, marks=wall_clock, id=f"{name}-{library}") for library in two
    ]


def make(library: str, name: str) -> tuple[bench.Case, bench.Task]:
    """The case, smaller for libraries that go record by record, and one call of the library."""
    case = case_of(name)
    if library in peers.peers(name):
        _, _, people, build = peers.peers(name)[library]
        case = peers.fewer(case, people)
        try:
            return case, build(case)
        except ImportError as error:
            pytest.skip(f"{library} is installed but cannot be imported: {error}")
    if library == "numpy":
        return replace(case, units=case.numpy_units or case.units), case.numpy
    if library.startswith("numba"):
        call = peers.numba_case(name, case, 2 if library.endswith("2 threads") else 1)
        assert call is not None
        return case, call
    return case, case.ours


@pytest.mark.parametrize("name, library", [row for name in bench.CASES for row in libraries(name)])
def bench_task(benchmark: Any, threads: None, name: str, library: str) -> None:
    case, call = make(library, name)
    count = 2 if library.endswith("2 threads") else 1
    ldp.set_num_threads(count)
    answer = call()  # compiles, makes the pool, touches the pages
    benchmark.group = f"{case.task}, per {case.unit}"
    benchmark.extra_info.update(
        name=name, library=library, unit=case.unit, units=case.units, threads=count, target=case.target,
        limit_ns=machine().limit(case), correct=bool(case.check(answer)),
    )  # fmt: skip
    benchmark.pedantic(call, rounds=3 if library in peers.peers(name) else ROUNDS, iterations=1)
    benchmark.extra_info["ns_per_unit"] = benchmark.stats.stats.min * 1e9 / case.units
    assert benchmark.extra_info["correct"]


FREQUENCIES: dict[str, tuple[Any, int]] = {
    "response-128": (ldp.RandomizedResponse(128, bench.EPSILON), 1 << 20),
    "unary-128": (ldp.UnaryEncoding(128, bench.EPSILON), 1 << 20),
}
ESTIMATES = {
    "ldpfast": (peers.estimate_ldpfast, 1 << 20),
    "numpy": (peers.estimate_numpy, 1 << 20),
    "pure-ldp": (peers.estimate_pure_ldp, 10_000),
}


@pytest.mark.benchmark(timer=time.thread_time)
@pytest.mark.parametrize("library", ESTIMATES)
@pytest.mark.parametrize("name", FREQUENCIES)
def bench_frequencies(benchmark: Any, threads: None, name: str, library: str) -> None:
    """Records to estimate: client and server."""
    if library == "pure-ldp" and "pure-ldp" not in peers.peers(name):
        pytest.skip("pure-ldp is not installed")
    mechanism, n = FREQUENCIES[name][0], ESTIMATES[library][1]
    x = np.random.default_rng(1).integers(0, 128, n).astype(np.uint8)
    ldp.set_num_threads(1)
    call = ESTIMATES[library][0](mechanism, x)
    correct = bench.check_frequencies(mechanism, x, call())
    benchmark.group = f"records to shares, {type(mechanism).__name__}, k = 128, per person"
    benchmark.extra_info.update(
        name=f"frequencies-{name}", library=library, unit="person", units=n, threads=1, target=None, correct=correct
    )
    benchmark.pedantic(call, rounds=3 if library == "pure-ldp" else ROUNDS, iterations=1)
    benchmark.extra_info["ns_per_unit"] = benchmark.stats.stats.min * 1e9 / n
    assert correct


@pytest.mark.benchmark(timer=time.thread_time)
@pytest.mark.parametrize("name", bench.singles())
def bench_single(benchmark: Any, name: str) -> None:
    """One record with a fresh key."""
    mechanism, record = bench.singles()[name]
    benchmark.group = "one single record, per call"
    benchmark.extra_info.update(
        name=f"single-{name}", library="ldpfast", unit="call", units=1, threads=1, target=bench.SINGLE_TARGET * 1e3,
        correct=np.shape(mechanism.privatize(record)) == mechanism.report.shape,
    )  # fmt: skip
    benchmark.pedantic(mechanism.privatize, (record,), rounds=20, iterations=500)
    benchmark.extra_info["ns_per_unit"] = benchmark.stats.stats.min * 1e9
