"""Synthetic records of the cases."""

from __future__ import annotations

import math

import numpy as np

from .._typing import AnyArray


def people(n: int, scale: float, least: int = 1024) -> int:
    """Return the number of people at a scale, at least `least`."""
    return max(least, int(n * scale))


def direction(dim: int) -> AnyArray:
    """Return random signs, the same in every run."""
    signs: AnyArray = np.random.default_rng(5).choice(np.array([-1, 1], np.float32), dim)
    return signs


def ball(n: int, dim: int) -> AnyArray:
    """Return rows of Euclidean norm near 0.9 with almost the same direction."""
    axis = direction(dim) / np.float32(math.sqrt(dim))
    x = np.random.default_rng(1).random((n, dim), np.float32)
    x -= np.float32(0.5)
    x *= np.float32(0.3 / math.sqrt(dim))
    x += np.float32(0.9) * axis
    return x


def cube(n: int, dim: int) -> AnyArray:
    """Return rows with coordinates of absolute value 1/2 to 1 and the same signs in every row."""
    x = np.random.default_rng(2).random((n, dim), np.float32)
    x *= np.float32(0.5)
    x += np.float32(0.5)
    x *= direction(dim)
    return x


def categories(n: int, k: int) -> AnyArray:
    """Return categories: about half of the people are in category 0, the others uniform in all categories."""
    generator = np.random.default_rng(3)
    x = generator.integers(0, k, n).astype(np.min_scalar_type(k - 1))
    x[generator.random(n) < 0.5] = 0
    return x
