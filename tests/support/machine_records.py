"""Records that are the same on every machine: they depend on no elementary function."""

from __future__ import annotations

import numpy as np


def numbers(n: int, seed: int = 1) -> np.ndarray:
    """Return multiples of 2^-20 in [-4, 4]."""
    return np.random.default_rng(seed).integers(-(1 << 22), 1 << 22, n) / 2.0**20


def rows(n: int, dim: int, reach: float = 1.0) -> np.ndarray:
    """Return rows in the ball of radius `reach` for both norms."""
    return numbers(n * dim, dim).reshape(n, dim) * (reach / 4 / dim**0.5)


def labels(n: int, k: int) -> np.ndarray:
    return np.random.default_rng(k).integers(0, k, n)


def ticks(n: int, k: int, most: int) -> np.ndarray:
    """Return rows of zeros and ones, with at most `most` ones each."""
    rng = np.random.default_rng([k, most])
    order, size = np.argsort(rng.integers(0, 1 << 40, (n, k)), axis=1), rng.integers(0, most + 1, n)
    return (order < size[:, np.newaxis]).astype(np.uint8)


def sets_of(k: int, most: int, n: int, seed: int = 0) -> list[frozenset[int]]:
    """Return n sets of 0 to `most` of k options, the first one empty and the second one as large as possible."""
    rng = np.random.default_rng([seed, k, most])
    found = [frozenset(rng.choice(k, rng.integers(0, most + 1), replace=False).tolist()) for _ in range(n)]
    return [frozenset(), frozenset(range(k - most, k)), *found][:n]


def category_rows(n: int, sizes: tuple[int, ...]) -> np.ndarray:
    """Return rows of categories, entry i below ``sizes[i]``."""
    return np.random.default_rng(len(sizes)).integers(0, sizes, (n, len(sizes))).astype(np.uint16)
