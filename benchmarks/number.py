"""Coverage of the limits of `survey.Number`, as tables in Markdown: ``python -m benchmarks.number [RUNS]``.

Of answers that a fifth of the people leave out, and of comparisons of two groups.
"""

from __future__ import annotations

import sys
import warnings
from functools import cache

import numpy as np

from ldpfast.survey import Number, NumberAnswer, Survey, two_sample
from tests.support.populations import POPULATIONS

MISSING = 0.2
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
ENDS = np.linspace(0, 1, 257)
SETTINGS = ((1000, 4.0), (10_000, 1.0), (100_000, 1.0))
OPTIONAL = ("beta", "rounded incomes", "zeros")
PAIRS = (("beta", "beta"), ("gamma", "normal"), ("zeros", "five values"))


@cache
def truth(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean with the quantiles, and the distribution function at the inner ends of cells."""
    whole = np.sort(POPULATIONS[name](np.random.default_rng(0), 2_000_000))
    listed = np.append(whole.mean(), np.quantile(whole, QUANTILES, method="inverted_cdf"))
    return listed, np.searchsorted(whole, ENDS[1:-1] + 1e-9, side="right") / len(whole)


def answer(name: str, n: int, epsilon: float, seed: int, missing: float = 0.0) -> NumberAnswer:
    """Return the answer of n people."""
    rng = np.random.default_rng(seed)
    x = POPULATIONS[name](rng, n)
    x[rng.random(n) < missing] = np.nan
    found = Survey({"x": Number(0, 1, optional=missing > 0)}, epsilon).run({"x": x}, rng=seed)["x"]
    assert isinstance(found, NumberAnswer)
    return found


def covered(limits: tuple[np.ndarray, np.ndarray], value: np.ndarray) -> np.ndarray:
    low, high = limits
    return np.asarray((low <= value + 1e-9) & (value <= high + 1e-9))


def _head(*names: str) -> None:
    print(f"| {' | '.join(names)} |\n|{' --- |' * len(names)}")


def answered(runs: int) -> None:
    """Print shares of 95 % limits that contain the truth about the people who answered."""
    _head("n", "epsilon", "population", "points", "band", "quantiles", "mean", "missing")
    for n, epsilon in SETTINGS:
        for name in OPTIONAL:
            listed, function = truth(name)
            hits = np.zeros(5)
            for seed in range(1, runs + 1):
                found = answer(name, n, epsilon, seed, MISSING)
                inside = covered(found.interval(), listed)
                _, low, high = found.band()
                hits += [
                    covered(found.cdf(ENDS[1:-1]).interval(), function).mean(),
                    covered((low[1:-1], high[1:-1]), function).all(),
                    inside[1:].mean(),
                    inside[0],
                    covered(found.missing.interval(), np.array(MISSING)),
                ]
            print(f"| {n:,} | {epsilon:g} | {name} | {' | '.join(f'{hit:.3f}' for hit in hits / runs)} |", flush=True)


def compared(runs: int) -> None:
    """Print the coverage of 95 % limits of differences and of their band, and how often a test at level 0.05 rejects."""
    _head("n per group", "epsilon", "populations", "quantiles", "mean", "band", "rejected")
    for n, epsilon in SETTINGS:
        for names in PAIRS:
            (listed, function), (others, other) = map(truth, names)
            hits = np.zeros(4)
            for seed in range(1, runs + 1):
                a, b = (answer(name, n, epsilon, 2 * seed + place) for place, name in enumerate(names))
                inside = covered(a._minus(b).interval(), listed - others)
                _, low, high = a.difference_band(b)
                band = covered((low[1:-1], high[1:-1]), function - other).all()
                hits += [inside[1:].mean(), inside[0], band, two_sample(a, b).pvalue <= 0.05]
            texts = " | ".join(f"{hit:.3f}" for hit in hits / runs)
            print(f"| {n:,} | {epsilon:g} | {', '.join(names)} | {texts} |", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    answered(number)
    print()
    compared(number)
