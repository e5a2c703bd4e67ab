"""Reports of the examples, and their aggregators."""

from __future__ import annotations

import functools

import numpy as np

from ldpfast.mechanisms import Mechanism
from ldpfast.reports import Aggregator

from .examples import Example


def reports_of(example: Example, n: int, seed: int = 5) -> np.ndarray:
    """Return the reports of n random records."""
    return example.mechanism.privatize(example.records(n), rng=seed)


def aggregate(mechanism: Mechanism, *batches: np.ndarray) -> Aggregator:
    """Return an aggregator after an update with each batch."""
    return functools.reduce(Aggregator.update, batches, mechanism.aggregator())
