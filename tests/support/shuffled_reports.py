"""Exact divergences of a few shuffled reports, by enumeration of the numbers of reports and of all records of the others."""

from __future__ import annotations

import itertools

import numpy as np


def histograms(rows):
    """Return the probabilities of all numbers of reports of people with these rows."""
    found = {(0,) * len(rows[0]): 1.0}
    for row in rows:
        after: dict[tuple[int, ...], float] = {}
        for counts, probability in found.items():
            for report, p in enumerate(row):
                key = (*counts[:report], counts[report] + 1, *counts[report + 1 :])
                after[key] = after.get(key, 0.0) + probability * p
        found = after
    return np.array([found[key] for key in sorted(found)])


def worst_divergence(channel, n, orders, pairs=None):
    """Return the largest divergences over all pairs of records and all records of the others."""
    worst = np.zeros(len(orders))
    for others in itertools.combinations_with_replacement(range(len(channel)), n - 1):
        laws = [histograms([row, *(channel[x] for x in others)]) for row in channel]
        for i, j in pairs or itertools.permutations(range(len(channel)), 2):
            worst = np.maximum(worst, [np.maximum(laws[i] - e * laws[j], 0).sum() for e in orders])
    return worst
