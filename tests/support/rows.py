"""Rows of random vectors."""

from __future__ import annotations

from typing import Any

import numpy as np


def ball(n: int, dim: int, dtype: Any = np.float64, radius: float = 2.0) -> np.ndarray:
    """Return n vectors in a Euclidean ball, with random directions and norms below the radius."""
    x = np.random.default_rng([n, dim]).normal(size=(n, dim))
    x *= radius * np.random.default_rng(dim).uniform(0, 0.999, (n, 1)) / np.linalg.norm(x, axis=1, keepdims=True)
    return x.astype(dtype)
