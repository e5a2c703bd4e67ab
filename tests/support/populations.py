"""Populations of numbers in [0, 1]: smooth ones, and such with spikes or few values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Draw = Callable[[np.random.Generator, int], np.ndarray]


def bimodal(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.where(rng.random(n) < 0.6, rng.normal(0.3, 0.05, n), rng.normal(0.7, 0.08, n)).clip(0, 1)


def incomes(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.lognormal(-1.6, 0.6, n).clip(0, 1)


def rounded_incomes(rng: np.random.Generator, n: int) -> np.ndarray:
    """Incomes, 30 % of which are rounded to multiples of 1/20."""
    x = incomes(rng, n)
    return np.where(rng.random(n) < 0.3, np.round(x * 20) / 20, x)


SMOOTH: dict[str, Draw] = {
    "beta": lambda rng, n: rng.beta(5, 2, n),
    "normal": lambda rng, n: rng.normal(0.4, 0.1, n).clip(0, 1),
    "bimodal": bimodal,
    "gamma": lambda rng, n: rng.gamma(2, 0.1, n).clip(0, 1),
}
SPIKY: dict[str, Draw] = {
    "rounded incomes": rounded_incomes,
    "zeros": lambda rng, n: np.where(rng.random(n) < 0.3, 0.0, rng.beta(2, 4, n)),
    "five values": lambda rng, n: rng.choice([0.1, 0.25, 0.33, 0.5, 0.77], n, p=[0.1, 0.3, 0.2, 0.25, 0.15]),
}
POPULATIONS = SMOOTH | SPIKY


def distances(cumulative: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the Wasserstein-1 and the Kolmogorov distance of a distribution function at equidistant ends from records."""
    ends = np.linspace(0, 1, len(cumulative))
    error = np.abs(cumulative - np.searchsorted(np.sort(x), ends, side="right") / len(x))
    return np.array([(error[1:] + error[:-1]).mean() / 2, error[1:].max()])
