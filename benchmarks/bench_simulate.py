"""Time of `simulate` for a billion people: the counts of all reports, drawn at once. The target is one second each."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.mechanisms import LaplaceOneHot

from .measure import measure

N = 10**9
SIGMAS = 7  # standard errors by which a correct estimate may miss the truth


def shares(k: int) -> list[float]:
    """Return unequal shares of k categories."""
    weights = 1 / np.arange(1, k + 1)
    return (weights / weights.sum()).tolist()


NUMBERS = {0.0: 0.5, 0.25: 0.2, 1.0: 0.3}
VECTORS = {tuple(np.linspace(-a, a, 100).tolist()): 0.5 for a in (0.5, 1.0)}
WIDE = {tuple(np.linspace(-a, a, 1000).tolist()): 0.5 for a in (0.5, 1.0)}
CASES: dict[str, tuple[Callable[[], Any], Any]] = {
    "Warner": (partial(ldp.Warner, 1.0), [0.3, 0.7]),
    "RandomizedResponse, k = 65536": (partial(ldp.RandomizedResponse, 65_536, 1.0), shares(65_536)),
    "UnaryEncoding, k = 65536": (partial(ldp.UnaryEncoding, 65_536, 1.0), shares(65_536)),
    "SubsetSelection, k = 4096": (partial(ldp.SubsetSelection, 4096, 1.0), shares(4096)),
    "HadamardResponse, k = 65536": (partial(ldp.HadamardResponse, 65_536, 1.0), shares(65_536)),
    "ProjectiveGeometryResponse, k = 65536": (partial(ldp.ProjectiveGeometryResponse, 65_536, 1.0), shares(65_536)),
    "LaplaceOneHot, k = 10": (partial(LaplaceOneHot, 10, 1.0), shares(10)),
    "SignBit": (partial(ldp.SignBit, 0, 1, 1.0), NUMBERS),
    "Window": (partial(ldp.Window, 0, 1, 1.0), NUMBERS),
    "Laplace": (partial(ldp.Laplace, 0, 1, 1.0), NUMBERS),
    "LinfBall, dim 100": (partial(ldp.LinfBall, 100, 1.0), VECTORS),
    "SampledCube, dim 1000": (partial(ldp.SampledCube, 1000, 1.0), WIDE),
}


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
