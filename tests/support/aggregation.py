"""Reports of the examples, and their aggregators."""

from __future__ import annotations

import functools

import numpy as np

from ldpfast.mechanisms import Mechanism
from ldpfast.reports import Aggregator, Counted

from .examples import Example


def reports_of(example: Example, n: int, seed: int = 5) -> np.ndarray:
    """Return the reports of n random records."""
    return example.mechanism.privatize(example.records(n), rng=seed)


def aggregate(mechanism: Mechanism, *batches: np.ndarray) -> Aggregator:
    """Return an aggregator after an update with each batch."""
    return functools.reduce(Aggregator.update, batches, mechanism.aggregator())


def counted_of(aggregator: Aggregator) -> Counted:
    """Return the arrays of counts and the number of people that an aggregator holds, as views."""
    return aggregator._counts.group()


def batches_of(aggregator: Aggregator) -> set[str]:
    """Return the names of the batches that an aggregator has counted."""
    return aggregator._counts.batches
