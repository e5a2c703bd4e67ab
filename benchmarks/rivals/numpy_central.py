"""Releases of the central model in NumPy, with noise in double precision, which is unsafe."""

from __future__ import annotations

import math

import numpy as np

from ldpfast._typing import AnyArray
from ldpfast.bench._case import EPSILON, Task

from .numpy_mechanisms import CHUNK


def numpy_mean(x: AnyArray, radius: float) -> Task:
    """Return a call that releases a clipped mean, summed in chunks that fit in cache."""
    generator, buffer = np.random.default_rng(12), np.empty(CHUNK)

    def run() -> float:
        total = 0.0
        for start in range(0, len(x), CHUNK):
            piece = x[start : start + CHUNK]
            total += float(np.clip(piece, -radius, radius, out=buffer[: len(piece)]).sum())
        return (total + generator.laplace(0, 2 * radius / EPSILON)) / len(x)

    return run


def numpy_mean_rows(x: AnyArray, radius: float) -> Task:
    """Return a call that releases the mean of clipped rows, with Laplace noise scaled to the l1 diameter."""
    generator, (n, dim) = np.random.default_rng(13), x.shape
    rows = max(1, CHUNK // dim)

    def run() -> AnyArray:
        total = np.zeros(dim)
        for start in range(0, n, rows):
            piece = x[start : start + rows]
            norms = np.sqrt(np.vecdot(piece, piece))
            factors = np.minimum(1, np.float32(radius) / np.maximum(norms, np.float32(1e-30)))
            total += np.einsum("i,ij->j", factors, piece)
        mean: AnyArray = (total + generator.laplace(0, 2 * radius * math.sqrt(dim) / EPSILON, dim)) / n
        return mean

    return run


def numpy_median(x: AnyArray, lower: float, upper: float) -> Task:
    """Return a call of the exponential mechanism for the median, by sorting and Gumbel noise."""
    generator, n = np.random.default_rng(14), len(x)

    def run() -> float:
        ends = np.concatenate([[lower], np.sort(np.clip(x, lower, upper)), [upper]])
        gaps = np.diff(ends)
        with np.errstate(divide="ignore"):
            scores = np.log(gaps) - EPSILON / 2 * np.abs(np.arange(n + 1) - n / 2)
        i = int(np.argmax(scores + generator.gumbel(size=n + 1)))
        return float(ends[i] + generator.random() * gaps[i])

    return run


def numpy_gaussian_integers(sigma: float, n: int) -> Task:
    """Return a call that draws rounded normal numbers, which are not exact discrete Gaussian noise and not private."""
    generator = np.random.default_rng(15)
    return lambda: np.rint(generator.normal(0, sigma, n))
