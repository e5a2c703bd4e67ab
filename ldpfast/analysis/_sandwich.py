"""The middle of the sandwich estimator of a covariance."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .._typing import AnyArray, Floats


def squared_scores(
    scores: Iterable[tuple[slice, Floats]], size: int, clusters: AnyArray | None, people: int | None = None
) -> Floats:
    """Return the sum of the squares of the scores of people, or of clusters of people.

    Parameters
    ----------
    scores : iterable of (slice, ndarray of shape (rows, size))
        The scores of some people, with their places.
    size : int
        Number of coefficients.
    clusters : ndarray of int, shape (n,), or None
        Number of the cluster of each person. The sum has the factor G / (G - 1) for G clusters then, also for clusters of one
        person each (`people`).
    people : int, optional
        Number of people with positive weights, who count as clusters if there are none.
    """
    if clusters is None:
        plain = np.asarray(sum((part.T @ part for _, part in scores), np.zeros((size, size))))
        return plain if people is None else plain * (people / (people - 1))
    count = int(clusters.max()) + 1
    grouped = np.zeros((count, size))
    for place, part in scores:
        np.add.at(grouped, clusters[place], part)
    return np.asarray(grouped.T @ grouped * (count / (count - 1)))
