"""The channel that shows what a definition can miss."""

from __future__ import annotations

import math
from itertools import combinations

from .. import _check
from ._channel import Channel


def release_one_at_random(n: int, k: int = 2) -> Channel:
    """The channel that releases one record of a data set, chosen at random: the cautionary example.

    Parameters
    ----------
    n : int
        Records in a data set.
    k : int, default 2
        Values that a record can have.

    Returns
    -------
    channel : Channel
        Inputs: the histograms of the data sets, in lexicographic order; neighbours differ in one record. Exact.

    Raises
    ------
    TypeError, ValueError
        If `n` < 1 or `k` < 2; if there are more than 100,000 entries.

    Notes
    -----
    Total variation 1/n: by that, and by (epsilon, 1/n)-privacy for every epsilon, it is private, although somebody's record is
    published. KL is infinite, and the level of conditional testing is 1.

    Examples
    --------
    >>> channel = release_one_at_random(100)
    >>> channel.tv(), channel.delta(20.0), channel.kl(), channel.conditional_testing()
    (0.01, 0.01, inf, 1.0)
    """
    n, k = _check.integer("n", n, 1), _check.integer("k", k, 2)
    if math.comb(n + k - 1, k - 1) * k > 100_000:
        raise ValueError(f"n and k must give at most 100,000 entries, got n={n} and k={k}")
    # A histogram is n + k - 1 places, k - 1 of which are walls.
    walls = combinations(range(n + k - 1), k - 1)
    rows = [tuple(b - a - 1 for a, b in zip((-1, *w), (*w, n + k - 1), strict=True)) for w in walls]
    number = {row: i for i, row in enumerate(rows)}
    neighbours = []
    for row, i in number.items():
        for a in range(k):
            for b in range(a + 1, k):
                if row[a]:
                    moved = list(row)
                    moved[a], moved[b] = row[a] - 1, row[b] + 1
                    neighbours.append((i, number[tuple(moved)]))
    return Channel(rows, neighbours=neighbours)
