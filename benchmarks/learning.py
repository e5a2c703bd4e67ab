"""Accuracy and time of classifiers with few rows and many features, as tables in Markdown: ``python -m benchmarks.learning``.

Process times with one thread, for 50,000 rows of 54 features. The accuracy is that for 10,000 new rows, the mean of three data
sets. "ten lines" is averaged descent in Python, with the mechanism of `for_ball` and nothing else of the library.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np

import ldpfast as ldp
from ldpfast._typing import AnyArray, Floats
from ldpfast.analysis import LabelClassifier
from ldpfast.estimation import LogisticRegression
from ldpfast.mechanisms import for_ball
from ldpfast.results import DoubtfulWarning, SmallSampleWarning
from tests.support.regression import FEATURES, normal_features, sparse_and_dense

ROWS, NEW, SETS = 50_000, 10_000, 3
# Seconds for 7 and 12 classes: a third of the time of Newton's method from the start, on a machine with 5 GFlop/s for its sums.
TARGETS = {7: 1.3, 12: 9.0}

Fit = Callable[[AnyArray, AnyArray, float, float], Floats]


def fitted(**options: object) -> Fit:
    """Return the fit of `LogisticRegression`."""

    def fit(x: AnyArray, y: AnyArray, epsilon: float, radius: float) -> Floats:
        model = LogisticRegression(epsilon, radius=radius, **options).fit(x, y)  # type: ignore[arg-type]
        return np.r_[model.coef_[0], model.intercept_]

    return fit


def ten_lines(x: AnyArray, y: AnyArray, epsilon: float, radius: float) -> Floats:
    """Return coefficients after averaged descent in batches of 50 rows; the last 7/8 of the positions count."""
    rows = np.column_stack([x, np.ones(len(x))])
    rows *= np.minimum(1, radius / np.linalg.norm(rows, axis=1, keepdims=True)) * (1 - 1e-6)
    mechanism = for_ball(rows.shape[1], epsilon, radius=radius)
    position, total, batches = np.zeros(rows.shape[1]), np.zeros(rows.shape[1]), len(x) // 50
    for batch in range(batches):
        part = slice(50 * batch, 50 * batch + 50)
        slope = 1 / (1 + np.exp(-rows[part] @ position)) - y[part]
        reports = mechanism.privatize(slope[:, np.newaxis] * rows[part])
        position -= 20 / radius / mechanism.scale * (batch + 1) ** -0.6 * mechanism.decode(reports).mean(axis=0)
        total += position * (batch >= batches // 8)
    return np.asarray(total)


def accuracies() -> None:
    """Print the accuracy and time of each procedure."""
    procedures = {
        "`LogisticRegression`": fitted(),
        "with half-spaces": fitted(noise="half-space"),
        "ten lines": ten_lines,
    }
    print("| rows | epsilon | procedure | accuracy | of the truth | s |")
    print("| --- | --- | --- | --- | --- | --- |")
    for rows in (sparse_and_dense, normal_features):
        for epsilon in (1.0, 4.0, 8.0):
            for name, fit in procedures.items():
                found, best, taken = 0.0, 0.0, 0.0
                for seed in range(SETS):
                    rng = np.random.default_rng(seed)
                    x, odds, radius = rows(ROWS + NEW, rng)
                    y = rng.random(len(x)) < 1 / (1 + np.exp(-odds))
                    start = time.process_time()
                    value = fit(x[:ROWS], y[:ROWS], epsilon, radius)
                    taken += time.process_time() - start
                    found += float(np.mean((x[ROWS:] @ value[:-1] + value[-1] > 0) == y[ROWS:]))
                    best += float(np.mean((odds[ROWS:] > 0) == y[ROWS:]))
                numbers = f"{found / SETS:.3f} | {best / SETS:.3f} | {taken / SETS:.2f}"
                print(f"| {rows.__name__} | {epsilon:g} | {name} | {numbers} |", flush=True)


def labels() -> None:
    """Print the time of `LabelClassifier` beside the target."""
    print("\n| classes | `LabelClassifier`, s | target |")
    print("| --- | --- | --- |")
    for k, target in TARGETS.items():
        rng = np.random.default_rng(1)
        x = rng.normal(size=(ROWS, FEATURES))
        truth = (x @ rng.normal(0, 0.3, (FEATURES, k)) + rng.gumbel(size=(ROWS, k))).argmax(axis=1)
        mechanism = ldp.RandomizedResponse(k, 1.0)
        reports, start = mechanism.privatize(truth), time.process_time()
        LabelClassifier(mechanism).fit(x, reports)
        print(f"| {k} | {time.process_time() - start:.2f} | {target:g} |", flush=True)


if __name__ == "__main__":
    ldp.set_num_threads(1)
    warnings.simplefilter("ignore", SmallSampleWarning)
    warnings.simplefilter("ignore", DoubtfulWarning)
    warnings.simplefilter("ignore", ldp.ClippedWarning)
    labels()
    accuracies()
