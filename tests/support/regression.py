"""Records of generalized linear models."""

from __future__ import annotations

import math

import numpy as np

FEATURES = 54


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


def sparse_and_dense(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, float]:
    """Return rows of ten numbers and two categories of 4 and 40 values, log-odds, and the largest norm of a row."""
    x = np.zeros((n, FEATURES))
    x[:, :10] = rng.uniform(-1, 1, (n, 10))
    x[np.arange(n), 10 + rng.choice(4, n, p=[0.45, 0.05, 0.43, 0.07])] = 1
    x[np.arange(n), 14 + rng.choice(40, n, p=rng.dirichlet(np.full(40, 0.5)))] = 1
    odds = x @ rng.normal(0, np.r_[np.full(10, 5.0), np.full(44, 3.0)])
    return x, odds - np.median(odds), 12**0.5


def normal_features(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, float]:
    """Return rows of independent normal features, log-odds of standard deviation 5, and a usual norm of a row."""
    x, slope = rng.normal(size=(n, FEATURES)), rng.normal(size=FEATURES)
    return x, 5 * x @ slope / np.linalg.norm(slope), FEATURES**0.5
