"""Problems of `ldpfast.estimation` with matching random records."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ldpfast.estimation import (
    Distribution,
    Frequencies,
    HistogramDensity,
    RangeQueries,
    SeriesDensity,
    SparseMean,
    TruncatedMean,
    VectorMean,
)

Draw = Callable[[np.random.Generator, int], np.ndarray]
WORDS = ("never", "sometimes", "often")


def numbers(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.normal(size=n)


def uniform(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.random(n)


def words(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.array(WORDS)[rng.integers(0, 3, n)]


def rows(dim: int, norm: str = "l2") -> Draw:
    """Return a function that draws rows in the unit ball."""

    def draw(rng: np.random.Generator, n: int) -> np.ndarray:
        x = rng.normal(size=(n, dim))
        return x / np.maximum(1, np.linalg.norm(x, np.inf if norm == "linf" else 2, axis=1, keepdims=True)) * 0.999

    return draw


PROBLEMS = {
    "truncated": (TruncatedMean(1.0, moment=2, radius=1.0, n=900), numbers),
    "truncated sign-bit": (
        TruncatedMean(1.0, moment=2, radius=1.0, n=900, method="optimal", noise="sign-bit", lower=-0.5),
        numbers,
    ),
    "l2": (VectorMean(3, 1.0), rows(3)),
    "linf": (VectorMean(9, 1.0, norm="linf"), rows(9, "linf")),
    "box": (VectorMean(2, 1.0, norm="linf", lower=[-1, -2], upper=[1, 3]), rows(2, "linf")),
    "sparse": (SparseMean(20, 1.0, radius=1.0), rows(20, "linf")),
    "k-ary": (Frequencies(5, 1.0, mechanism="k-ary"), lambda rng, n: rng.integers(0, 5, n)),
    "unary": (Frequencies(40, 1.0), lambda rng, n: rng.integers(0, 40, n)),
    "labels": (Frequencies(WORDS, 1.0), words),
    "series": (SeriesDensity(1.0, n_terms=5, lower=-1.0, upper=3.0), lambda rng, n: rng.uniform(-1, 3, n)),
    "histogram": (HistogramDensity(1.0, bins=12), uniform),
    "histogram laplace": (HistogramDensity(1.0, bins=5, noise="laplace"), uniform),
    "distribution": (Distribution(-1.0, 3.0, 1.0, cells=64), lambda rng, n: rng.uniform(-1, 3, n)),
    "integers": (Distribution(5, 24, 1.0, integers=True), lambda rng, n: rng.integers(5, 25, n).astype(float)),
    "ranges": (RangeQueries(100, 1.0), lambda rng, n: rng.integers(0, 100, n)),
    "haar": (RangeQueries(20, 1.0, method="haar"), lambda rng, n: rng.integers(0, 20, n)),
}
