"""Throughput, one group per task: ldpfast, NumPy, numba, and the libraries that perform the same task.

One thread is measured by its CPU time, two threads by wall time. Each row records whether its answer is correct.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.bench._case import Case, Task
from ldpfast.bench._cases import CASES
from ldpfast.bench._measure import Machine
from ldpfast.bench._singles import SINGLE_TARGET, singles

from . import rivals
from .measure import measure
from .rivals import numba_cases, numba_tools
from .rivals.numpy_cases import numpy_case

THREADED = ("ldpfast", "numba")
SMALL = 1e-3  # scale of the cases that are built to find out which libraries and threads they have


@lru_cache(maxsize=1)
def case_of(name: str) -> Case:
    """Return the case of one task, cached for all libraries of its group."""
    return CASES[name](1.0)


@lru_cache(maxsize=1)
def machine() -> Machine:
    """Return the speeds of key stream and memory, measured once per run."""
    speeds = Machine()
    for _ in range(7):
        speeds.sample()
    return speeds


def libraries(name: str) -> list[Any]:
    """Return the installed libraries of a task, with one thread and CPU time, and with two threads and wall time."""
    case = CASES[name](SMALL)
    one = ["ldpfast", "numpy", *rivals.installed(name)]
    if numba_tools.numba is not None and numba_cases.numba_case(name, case, 1) is not None:
        one = [*one, "numba"]
    two = [f"{library}, 2 threads" for library in one if case.threads and library in THREADED]
    one_clock = pytest.mark.benchmark(timer=time.thread_time)
    wall_clock = pytest.mark.benchmark(timer=time.perf_counter)
    return [pytest.param(name, library, marks=one_clock, id=f"{name}-{library}") for library in one] + [
        pytest.param(name, library, marks=wall_clock, id=f"{name}-{library}") for library in two
    ]


def make(library: str, name: str) -> tuple[Case, Task]:
    """Return the case and one call of the library, with fewer people if the library processes single records."""
    case = case_of(name)
    published = rivals.installed(name).get(library)
    if published is not None:
        case = rivals.fewer_people(case, published.people)
        try:
            return case, published.rival(case)
        except ImportError as error:
            pytest.skip(f"{library} is installed but cannot be imported: {error}")
    if library == "numpy":
        rival = numpy_case(name, case)
        return replace(case, units=rival.units), rival.call
    if library.startswith("numba"):
        call = numba_cases.numba_case(name, case, 2 if library.endswith("2 threads") else 1)
        assert call is not None
        return case, call
    return case, case.ours


@pytest.mark.parametrize("name, library", [row for name in CASES for row in libraries(name)])
def bench_task(benchmark: Any, threads: None, name: str, library: str) -> None:
    case, call = make(library, name)
    count = 2 if library.endswith("2 threads") else 1
    ldp.set_num_threads(count)
    answer = call()  # compiles, creates the pool, and touches the memory pages
    measure(
        benchmark, call, group=f"{case.task}, per {case.unit}", name=name, library=library, unit=case.unit, units=case.units,
        threads=count, target=case.target, limit=machine().limit(case), correct=bool(case.check(answer)),
        rounds=3 if library in rivals.installed(name) else 7,
    )  # fmt: skip


@pytest.mark.benchmark(timer=time.thread_time)
@pytest.mark.parametrize("name", singles())
def bench_single(benchmark: Any, name: str) -> None:
    """Privatize a single record with a fresh key."""
    mechanism, record = singles()[name]
    measure(
        benchmark, mechanism.privatize, (record,), group="single record, per call", name=f"single-{name}", library="ldpfast",
        unit="call", units=1, target=SINGLE_TARGET * 1e3, rounds=20, iterations=500,
        correct=np.shape(mechanism.privatize(record)) == mechanism.report.shape,
    )  # fmt: skip


@pytest.mark.benchmark(timer=time.thread_time)
def bench_random_number(benchmark: Any) -> None:
    """Draw a double with NumPy: what a call of a compiled function from Python takes on this machine."""
    draw = np.random.default_rng().random
    measure(
        benchmark, draw, (), group="single record, per call", name="single-numpy-random", library="numpy", unit="call", units=1,
        target=None, rounds=20, iterations=500, correct=0 <= draw() < 1,
    )  # fmt: skip
