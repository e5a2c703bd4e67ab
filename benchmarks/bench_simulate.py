"""Time of `simulate` for a billion people: the counts of all reports, drawn at once. The target is one second each."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ldpfast as ldp
from tests.cards import CARDS

from .measure import measure

N = 10**9
SIGMAS = 7  # standard errors by which a correct estimate may miss the truth


CASES: dict[str, tuple[Callable[[], Any], Any]] = {}
for card in CARDS.values():
    CASES |= card.billion


def is_near(estimate: Any, population: Any) -> bool:
    """Return whether an estimate of shares or of a mean is near the truth."""
    if isinstance(population, dict):
        truth = sum(share * np.array(record) for record, share in population.items())
    else:
        truth = population if np.ndim(estimate.value) else population[1]  # all shares, or that of yes
    return bool(np.all(np.abs(estimate.value - np.array(truth)) <= SIGMAS * np.array(estimate.stderr)))


@pytest.mark.benchmark(timer=time.thread_time)
@pytest.mark.parametrize("name", CASES)
def bench_simulate(benchmark: Any, name: str) -> None:
    make, population = CASES[name]
    mechanism = make()
    aggregator = ldp.simulate(mechanism, population, N)
    measure(
        benchmark, ldp.simulate, (mechanism, population, N), group="simulate, n = 10^9", name=f"simulate-{name}",
        library="ldpfast", unit="call", units=1, target=1e9, rounds=3,
        correct=aggregator.n == N and is_near(aggregator.estimate(), population),
    )  # fmt: skip
