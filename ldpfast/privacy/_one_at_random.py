"""The release of one record at random, which shows what a definition can miss."""

from __future__ import annotations

import math
from itertools import combinations

from .. import _check
from ._channel import Channel


def release_one_at_random(n: int, k: int = 2) -> Channel:
    """Return the channel that releases one record of a dataset, chosen uniformly at random.

    It is a cautionary example: see Notes.

    Parameters
    ----------
    n : int
        Number of records of a dataset.
    k : int, default 2
        Number of values that a record can have.

    Returns
    -------
    channel : Channel
        An exact channel. Its inputs are the histograms of the datasets, in lexicographic order; neighbors differ in one
        record.

    Raises
    ------
    TypeError, ValueError
        If `n` < 1 or `k` < 2; if there are more than 100,000 entries.

    Notes
    -----
    The total variation is 1/n. So the channel satisfies total variation privacy, and (epsilon, 1/n)-privacy for every epsilon,
    with small parameters, although it publishes a record. Its Kullback-Leibler divergence is infinite, and its parameter of
    conditional testing is 1.

    Examples
    --------
    >>> channel = release_one_at_random(100)
    >>> channel.tv(), channel.delta(20.0), channel.kl(), channel.conditional_testing()
    (0.01, 0.01, inf, 1.0)
    """
    n, k = _check.integer("n", n, 1), _check.integer("k", k, 2)
    if math.comb(n + k - 1, k - 1) * k > 100_000:
        raise ValueError(f"n and k must give at most 100,000 entries, got n={n} and k={k}")
    # Stars and bars: a histogram is a choice of k - 1 bars among n + k - 1 places.
    bars = combinations(range(n + k - 1), k - 1)
    rows = [tuple(b - a - 1 for a, b in zip((-1, *chosen), (*chosen, n + k - 1), strict=True)) for chosen in bars]
    index = {row: i for i, row in enumerate(rows)}
    neighbors = []
    for row, i in index.items():
        for a in range(k):
            for b in range(a + 1, k):
                if row[a]:
                    moved = list(row)
                    moved[a], moved[b] = row[a] - 1, row[b] + 1
                    neighbors.append((i, index[tuple(moved)]))
    return Channel(rows, neighbors=neighbors)
