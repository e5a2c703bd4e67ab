"""Records of the statistical tests."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..support.machine_records import labels, numbers, rows

N = 200_000  # records of a test of frequencies or of means

Records = Callable[[], np.ndarray]


def recorded_labels(n: int, k: int) -> Records:
    return lambda: labels(n, k)


def recorded_numbers(n: int) -> Records:
    return lambda: numbers(n)


def recorded_rows(n: int, dim: int, reach: float = 2.0) -> Records:
    return lambda: rows(n, dim, reach)


def in_interval(lower: float, upper: float, dtype: str = "float64") -> Records:
    return lambda: np.random.default_rng(1).uniform(lower, upper, N).astype(dtype)


def in_cube(n: int, dim: int, radius: float = 1.0, dtype: str = "float64") -> Records:
    return lambda: np.random.default_rng(dim).uniform(-radius, radius, (n, dim)).astype(dtype)


def in_ball(n: int, dim: int, radius: float = 1.0, dtype: str = "float64") -> Records:
    def make() -> np.ndarray:
        x = np.random.default_rng(dim).uniform(-radius, radius, (n, dim))
        return (x * (radius / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), radius))).astype(dtype)

    return make


def spread_rows(reach: float) -> Records:
    """Return 200 rows of four coordinates from -reach to reach, whose intervals are computed often."""
    return lambda: np.linspace(-reach, reach, 800).reshape(200, 4)


def vectors(dim: int) -> dict[tuple[float, ...], float]:
    """Return a population of two vectors whose coordinates take many values."""
    return {tuple(np.linspace(-a, a, dim).tolist()): 0.5 for a in (0.5, 1.0)}


NUMBERS = {0.0: 0.5, 0.25: 0.2, 1.0: 0.3}  # a population in [0, 1]


def shares(k: int) -> list[float]:
    """Return unequal shares of k categories."""
    weights = 1 / np.arange(1, k + 1)
    return (weights / weights.sum()).tolist()
