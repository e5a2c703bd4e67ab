"""Distances, coverage and times of `Distribution`, as tables in Markdown: ``python -m benchmarks.distribution [RUNS]``.

Wasserstein-1 and Kolmogorov distances from the records of a run, on 256 cells, as means over runs. The rivals are Square Wave
with EM and smoothing, and `RangeQueries` with 256 bins. Times are process times after the reports are counted.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator

import numpy as np

from ldpfast.estimation import Distribution, range_queries
from tests.support import square_wave
from tests.support.populations import POPULATIONS, SMOOTH, distances

CELLS = 256
PEOPLE = (1000, 10_000, 100_000)
EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
LIMITS = {256: 0.1, 1024: 1.0}  # seconds


def functions_of(name: str, n: int, epsilon: float, seed: int) -> Iterator[np.ndarray]:
    """Yield the distances of the three estimates in one run."""
    x = POPULATIONS[name](np.random.default_rng(seed), n)
    found = [Distribution(0, 1, epsilon, cells=CELLS).run(x, rng=seed).cdf().value]
    found.append(np.cumsum(square_wave.shares(x, epsilon, np.random.default_rng(seed), CELLS)))
    cells = np.maximum(np.ceil(CELLS * x).astype(np.int64) - 1, 0)
    found.append(range_queries(cells, CELLS, epsilon, rng=seed).cdf().value)
    for cumulative in found:
        yield distances(np.append(0, cumulative), x)


def accuracy(runs: int) -> None:
    """Print the distances, and the ratios to Square Wave for smooth populations."""
    print(
        "| n | epsilon | population | `Distribution` | Square Wave | `RangeQueries` |\n| --- | --- | --- | --- | --- | --- |"
    )
    ratios = []
    for n in PEOPLE:
        for epsilon in EPSILONS:
            for name in POPULATIONS:
                runs_of = [list(functions_of(name, n, epsilon, seed)) for seed in range(runs)]
                means = np.mean(runs_of, axis=0)
                if name in SMOOTH:
                    ratios.append(means[0] / means[1])
                texts = " | ".join(f"{w:.4f}, {k:.4f}" for w, k in means)
                print(f"| {n} | {epsilon:g} | {name} | {texts} |", flush=True)
    print(f"\nratio to Square Wave, smooth populations: mean {np.mean(ratios):.3f}, largest {np.max(ratios):.3f}")


COVERED = (
    (1000, 1.0, "beta"),
    (1000, 1.0, "rounded incomes"),
    (1000, 8.0, "beta"),
    (10_000, 4.0, "bimodal"),
    (10_000, 4.0, "rounded incomes"),
    (100_000, 0.25, "zeros"),
    (100_000, 1.0, "beta"),
    (100_000, 1.0, "rounded incomes"),
    (100_000, 1.0, "five values"),
)
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def coverage(runs: int) -> None:
    """Print shares of 95 % limits that contain the truth: of points, bands, quantiles and means."""
    print(
        "| n | epsilon | population | points | band | quantiles | mean |\n| --- | --- | --- | --- | --- | --- | --- |"
    )
    ends = np.linspace(0, 1, CELLS + 1)
    for n, epsilon, name in COVERED:
        draw, problem = POPULATIONS[name], Distribution(0, 1, epsilon, cells=CELLS)
        whole = np.sort(draw(np.random.default_rng(0), 2_000_000))
        cdf = np.searchsorted(whole, ends[1:-1], side="right") / len(whole)
        quantiles = np.quantile(whole, QUANTILES, method="inverted_cdf")
        hits = np.zeros(4)
        for seed in range(1, runs + 1):
            estimate = problem.run(draw(np.random.default_rng(seed), n), rng=seed)
            low, high = estimate.cdf(ends[1:-1]).interval()
            hits[0] += np.mean((low <= cdf) & (cdf <= high))
            _, low, high = estimate.band()
            hits[1] += ((low[1:-1] <= cdf + 1e-9) & (cdf <= high[1:-1] + 1e-9)).all()
            low, high = estimate.quantile(QUANTILES).interval()
            hits[2] += np.mean((low <= quantiles + 1e-9) & (quantiles <= high + 1e-9))
            low, high = estimate.mean.interval()
            hits[3] += low <= whole.mean() <= high
        print(f"| {n} | {epsilon:g} | {name} | {' | '.join(f'{share:.3f}' for share in hits / runs)} |", flush=True)


def times() -> None:
    """Print the time of one estimate, the largest over populations and epsilons, beside its limit."""
    for cells, limit in LIMITS.items():
        worst = 0.0
        for epsilon in EPSILONS:
            problem = Distribution(0, 1, epsilon, cells=cells)
            for name, draw in POPULATIONS.items():
                counted = problem.collect(draw(np.random.default_rng(1), 100_000), rng=1)
                counted.estimate()  # the basis of smooth functions is computed once
                start = time.process_time()
                counted.estimate()
                seconds = time.process_time() - start
                print(f"{cells} cells, epsilon {epsilon:g}, {name}: {seconds:.3f} s", flush=True)
                worst = max(worst, seconds)
        print(f"{cells} cells: largest {worst:.3f} s, limit {limit:g} s\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    times()
    accuracy(number)
    coverage(20 * number)
