"""Channels with few inputs and reports, and direct computations from their rows."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from ldpfast.privacy import Channel


@st.composite
def integer_rows(draw, inputs=2, reports=None, zeros=True):
    """Draw rows of integers with equal sums; some entries can be 0."""
    i, m = inputs, reports or draw(st.integers(2, 5))
    total = draw(st.sampled_from([m * 3, 100, 2**64]))
    rows = []
    for _ in range(i):
        weights = draw(st.lists(st.integers(0 if zeros else 1, 9), min_size=m, max_size=m).filter(any))
        row = [w * (total - m) // sum(weights) + (not zeros) for w in weights]
        row[weights.index(max(weights))] += total - sum(row)
        rows.append(row)
    return rows


def as_doubles(rows):
    """Return the channel of integer rows in floating point."""
    return Channel(np.array([[v / sum(row) for v in row] for row in rows]))


def ordered_pairs(channel):
    """Yield the rows of all ordered pairs of inputs."""
    for i, j in itertools.permutations(range(len(channel.matrix)), 2):
        yield channel.matrix[i], channel.matrix[j]


def events(p):
    """Return all sets of reports, as rows of 0 and 1."""
    return (np.arange(1 << len(p))[:, None] >> np.arange(len(p)) & 1).astype(float)


def marked_response(epsilon, delta):
    """Return randomized response with a marked true answer of probability delta: the worst (epsilon, delta) pair."""
    truth = (1 - delta) / (1 + math.exp(-epsilon))
    row = [delta, truth, math.exp(-epsilon) * truth, 0.0]
    return Channel(np.array([row, row[::-1]]))


def binned(cdf, shift, edges):
    """Return the channel of additive noise, in bins."""
    rows = [np.diff([0.0, *cdf(edges - s), 1.0]) for s in (0.0, shift)]
    return Channel(np.maximum(rows, 0) / np.maximum(rows, 0).sum(axis=1, keepdims=True))


def exact_rows(mechanism):
    """Return the rows of the channel of a mechanism as doubles, of integers of any size."""
    rows = [[Fraction(entry) for entry in row] for row in mechanism._recipe.law.rows()]
    totals = [sum(row) for row in rows]
    return np.array([[float(entry / total) for entry in row] for row, total in zip(rows, totals, strict=True)])
