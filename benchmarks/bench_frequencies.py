"""From records to shares, on client and server: ldpfast, NumPy and pure-ldp, with one thread."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast._typing import AnyArray
from ldpfast.bench._case import Case, Task
from ldpfast.bench._cases import CASES
from ldpfast.bench._checks import check_frequencies

from . import rivals
from .measure import measure
from .rivals.numpy_cases import numpy_case
from .rivals.numpy_mechanisms import numpy_count

SCALES = {"response-128": 1 / 16, "unary-128": 1.0}  # of the cases; a million people each
FEW = 10_000  # people of the library that processes single records


def with_ldpfast(name: str, case: Case) -> Task:
    """Return a call that privatizes and estimates, with stored reports."""
    return lambda: case.mechanism.estimate(case.mechanism.privatize(case.x)).value


def with_numpy(name: str, case: Case) -> Task:
    """Return the same call with the NumPy code of the case."""
    privatize = numpy_case(name, case).call

    def estimate() -> AnyArray:
        reports = privatize()
        is_packed = reports.ndim == 2
        counts = numpy_count(reports)() if is_packed else np.bincount(reports, minlength=case.mechanism.k)
        shares: AnyArray = case.mechanism.debiasing(counts / len(case.x))
        return shares

    return estimate


def with_pure_ldp(name: str, case: Case) -> Task:
    """Return the same call with pure-ldp, for the first `FEW` people."""
    return rivals.pure_ldp.frequencies(case.mechanism, case.x[:FEW])


LIBRARIES = {"ldpfast": with_ldpfast, "numpy": with_numpy, "pure-ldp": with_pure_ldp}


@pytest.mark.benchmark(timer=time.thread_time)
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", SCALES)
def bench_frequencies(benchmark: Any, threads: None, name: str, library: str) -> None:
    is_slow = library == "pure-ldp"
    if is_slow and library not in rivals.installed(name):
        pytest.skip("pure-ldp is not installed")
    case = CASES[name](SCALES[name])
    x = case.x[:FEW] if is_slow else case.x
    ldp.set_num_threads(1)
    call = LIBRARIES[library](name, case)
    measure(
        benchmark, call, group=f"records to shares, {type(case.mechanism).__name__}, k = {case.mechanism.k}, per person",
        name=f"frequencies-{name}", library=library, unit="person", units=len(x),
        correct=check_frequencies(case.mechanism, x, call()), rounds=3 if is_slow else 7,
    )  # fmt: skip
