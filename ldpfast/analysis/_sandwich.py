"""The middle of the sandwich estimator of a covariance, for people who are drawn one by one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .._typing import Floats


def squared_scores(scores: Iterable[tuple[slice, Floats]], size: int, weights: Floats | None = None) -> Floats:
    """Return the sum of the squares of the scores of people; divided by their weights if these are given.

    Parameters
    ----------
    scores : iterable of (slice, ndarray of shape (rows, size))
        The scores of some people, weights included, with their places.
    size : int
        Number of coefficients.
    weights : ndarray, shape (n,), optional
    """
    found = np.zeros((size, size))
    for place, part in scores:
        w = 1.0 if weights is None else np.maximum(weights[place], np.finfo(np.float64).tiny)[:, np.newaxis]
        found += (part / w).T @ part
    return found
