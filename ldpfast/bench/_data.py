"""Records of the cases."""

from __future__ import annotations

import math

import numpy as np

from ._case import AnyArray


def people(n: int, scale: float, least: int = 1024) -> int:
    """How many there are at a scale."""
    return max(least, int(n * scale))


def direction(dim: int) -> AnyArray:
    """Signs."""
    signs: AnyArray = np.random.default_rng(5).choice(np.array([-1, 1], np.float32), dim)
    return signs


def ball(n: int, dim: int) -> AnyArray:
    """Rows of Euclidean norm near 0.9 that point about the same way."""
    towards = direction(dim) / np.float32(math.sqrt(dim))
    x = np.random.default_rng(1).random((n, dim), np.float32)
    x -= np.float32(0.5)
    x *= np.float32(0.3 / math.sqrt(dim))
    x += np.float32(0.9) * towards
    return x


def cube(n: int, dim: int) -> AnyArray:
    """Coordinates of size 1/2 to 1 with the same signs in every row."""
    x = np.random.default_rng(2).random((n, dim), np.float32)
    x *= np.float32(0.5)
    x += np.float32(0.5)
    x *= direction(dim)
    return x


def categories(n: int, k: int) -> AnyArray:
    """Half of the people in category 0, the others in all."""
    generator = np.random.default_rng(3)
    x = generator.integers(0, k, n).astype(np.min_scalar_type(k - 1))
    x[generator.random(n) < 0.5] = 0
    return x
