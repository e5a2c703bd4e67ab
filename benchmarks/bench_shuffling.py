"""Time of `privacy.shuffled`. The target is 50 ms for up to a million people, and half a second for a billion."""

from __future__ import annotations

import time
from typing import Any

import pytest

import ldpfast as ldp
from ldpfast.privacy import shuffled

from .measure import measure

MECHANISMS = {
    "any": 4.0,
    "Warner": ldp.Warner(4.0),
    "Laplace": ldp.Laplace(0.0, 1.0, 4.0),
    "unary": ldp.UnaryEncoding(100, 4.0),
    "k-ary": ldp.RandomizedResponse(10, 4.0),
}


@pytest.mark.benchmark(timer=time.thread_time)
@pytest.mark.parametrize("n", [10**3, 10**6, 10**9])
@pytest.mark.parametrize("name", MECHANISMS)
def bench_shuffled(benchmark: Any, name: str, n: int) -> None:
    mechanism = MECHANISMS[name]
    measure(
        benchmark, shuffled, (mechanism, n, 1e-6), group=f"shuffled, n = {n}", name=f"shuffled-{name}-{n}",
        library="ldpfast", unit="call", units=1, target=50e6 if n <= 10**6 else 500e6, rounds=3,
        correct=0 < shuffled(mechanism, n, 1e-6).epsilon < 4.0,
    )  # fmt: skip
