"""Reports of the examples, and their aggregators."""

from __future__ import annotations

import functools

import numpy as np

from ldpfast.mechanisms import Mechanism
from ldpfast.reports import Aggregator, Counted

from .examples import Example
from .internals.shared import envelope


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


def plain_bytes(aggregator: Aggregator) -> bytes:
    """Return a saved state with all counts, as versions without packed states have written it."""
    data = aggregator.to_bytes()
    end = 16 + int.from_bytes(data[8:16], "little")
    states = counted_of(aggregator).states
    return envelope.seal(
        b"LDPFAST\x04", envelope.read_json(data[16:end]), b"".join(state.tobytes() for state in states)
    )
