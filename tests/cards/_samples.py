"""Records of statistical tests, and makers of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..support.machine_records import labels, numbers, rows

N = 200_000  # records of a test of frequencies or of means
EPSILONS = (0.1, 0.5, 1.0, 3.0)  # of `channels`

Records = Callable[[], np.ndarray]


# Seeded reports -------------------------------------------------------------------------------------------------------


def recorded_labels(n: int, k: int) -> Records:
    return lambda: labels(n, k)


def recorded_numbers(n: int) -> Records:
    return lambda: numbers(n)


def recorded_rows(n: int, dim: int) -> Records:
    return lambda: rows(n, dim, 2.0)


def integer(x: Any) -> tuple[int]:
    return (int(x),)


def number(x: Any) -> tuple[float]:
    return (float(x) + 0.0,)  # there is one zero


def row(x: Any) -> tuple[tuple[float, ...]]:
    return (tuple(x),)


CATEGORIES = np.arange(40) % 9  # of 40 persons
NUMBERS = np.linspace(-1, 3, 40)
CUBE = np.linspace(-1, 1, 120).reshape(40, 3)
DISK = np.linspace(-0.5, 0.5, 80).reshape(40, 2)


# Statistics -----------------------------------------------------------------------------------------------------------


def in_interval(lower: float, upper: float, dtype: str = "float64") -> Records:
    return lambda: np.random.default_rng(1).uniform(lower, upper, N).astype(dtype)


def in_cube(n: int, dim: int, radius: float = 1.0, dtype: str = "float64") -> Records:
    return lambda: np.random.default_rng(dim).uniform(-radius, radius, (n, dim)).astype(dtype)


def in_ball(n: int, dim: int, radius: float = 1.0, dtype: str = "float64") -> Records:
    def make() -> np.ndarray:
        x = np.random.default_rng(dim).uniform(-radius, radius, (n, dim))
        return (x * (radius / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), radius))).astype(dtype)

    return make


def few_categories(k: int) -> Records:
    return lambda: np.arange(200) % k


def few_numbers() -> np.ndarray:
    return np.linspace(0, 1, 200)


def few_rows(reach: float) -> Records:
    """Return rows of four coordinates from -reach to reach."""
    return lambda: np.linspace(-reach, reach, 800).reshape(200, 4)


def ends(radius: float, dim: int = 3) -> np.ndarray:
    """Return two opposite corners of a cube."""
    return np.array([[-radius] * dim, [radius] * dim])


def poles() -> np.ndarray:
    """Return two opposite points of the sphere of radius 2."""
    return np.array([[-2.0, 0, 0], [2.0, 0, 0]])


# A billion people -----------------------------------------------------------------------------------------------------

SHARES_OF_NUMBERS = {0.0: 0.5, 0.25: 0.2, 1.0: 0.3}


def shares(k: int) -> list[float]:
    """Return unequal shares of k categories."""
    weights = 1 / np.arange(1, k + 1)
    return (weights / weights.sum()).tolist()


def shares_of_vectors(dim: int) -> dict[tuple[float, ...], float]:
    """Return a population of two vectors whose coordinates take many values."""
    return {tuple(np.linspace(-a, a, dim).tolist()): 0.5 for a in (0.5, 1.0)}
