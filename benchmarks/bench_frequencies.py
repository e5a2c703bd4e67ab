"""From records to shares, on client and server: ldpfast, NumPy and pure-ldp, with one thread."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ldpfast as ldp
from ldpfast import _coins, bench
from ldpfast.bench import EPSILON, Task

from . import rivals

K = 128
MECHANISMS: dict[str, Any] = {
    "response-128": ldp.RandomizedResponse(K, EPSILON),
    "unary-128": ldp.UnaryEncoding(K, EPSILON),
}


def with_ldpfast(mechanism: Any, x: NDArray[Any]) -> Task:
    """Return a call that privatizes and estimates, with stored reports."""
    return lambda: mechanism.estimate(mechanism.privatize(x)).value


def with_numpy(mechanism: Any, x: NDArray[Any]) -> Task:
    """Return the same call with the NumPy code of `ldpfast.bench`."""
    n = len(x)
    if isinstance(mechanism, ldp.UnaryEncoding):
        coins = _coins.unary(EPSILON, False)
        out = np.zeros((n, K // 8), np.uint8)
        privatize, tally = bench.numpy_unary(mechanism, x, out), bench.numpy_count(out)
        p, q = float(coins.p), float(coins.q)
    else:
        coin = _coins.response(K, EPSILON)
        out = np.zeros_like(x)
        privatize, tally = bench.numpy_response(coin, x, out), lambda: np.bincount(out, minlength=K)
        p, q = float(coin.p), float(coin.q)

    def estimate() -> NDArray[Any]:
        privatize()
        shares: NDArray[Any] = (tally() / n - q) / (p - q)
        return shares

    return estimate


LIBRARIES = {
    "ldpfast": (with_ldpfast, 1 << 20, 7),
    "numpy": (with_numpy, 1 << 20, 7),
    "pure-ldp": (rivals.pure_ldp.frequencies, 10_000, 3),
}


@pytest.mark.benchmark(timer=time.thread_time)
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", MECHANISMS)
def bench_frequencies(benchmark: Any, threads: None, name: str, library: str) -> None:
    if library == "pure-ldp" and library not in rivals.installed(name):
        pytest.skip("pure-ldp is not installed")
    mechanism, (make, n, rounds) = MECHANISMS[name], LIBRARIES[library]
    x = np.random.default_rng(1).integers(0, K, n).astype(np.uint8)
    ldp.set_num_threads(1)
    call = make(mechanism, x)
    correct = bench.check_frequencies(mechanism, x, call())
    benchmark.group = f"records to shares, {type(mechanism).__name__}, k = {K}, per person"
    benchmark.extra_info.update(
        name=f"frequencies-{name}", library=library, unit="person", units=n, threads=1, target=None, correct=correct
    )
    benchmark.pedantic(call, rounds=rounds, iterations=1)
    benchmark.extra_info["ns_per_unit"] = benchmark.stats.stats.min * 1e9 / n
    assert correct
