"""Records of generalized linear models."""

from __future__ import annotations

import math

import numpy as np


def random_examples(family: str, n: int, features: int, dtype=np.float32) -> tuple[np.ndarray, np.ndarray]:
    """Return rows, some outside the unit ball and the unit cube, and responses that are exact in single precision."""
    generator = np.random.default_rng(n + features)
    x = generator.normal(0, 1.2 / math.sqrt(features), (n, features)).astype(dtype)
    y = {
        "logistic": generator.integers(0, 2, n),
        "linear": generator.normal(size=n),
        "poisson": generator.poisson(1, n),
    }
    return x, y[family].astype(np.float32).astype(np.float64)
