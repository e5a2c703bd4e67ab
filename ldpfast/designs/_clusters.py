"""Clusters of people whose answers are related, such as villages."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._frames import Groups, whole_column
from .._typing import Floats
from .._warnings import warn
from ..results import SmallSampleWarning

ENOUGH_CLUSTERS = 30  # from which on a sum over clusters is nearly normal


def read_clusters(clusters: Any, n: int, least: int) -> NDArray[np.uint32] | None:
    """Return the number of the cluster of each of n people, of at least `least` clusters.

    Raises
    ------
    TypeError, ValueError
        If there is not one value for each person, one is missing, or there are too few clusters.
    """
    if clusters is None:
        return None
    codes, values = Groups("clusters").codes(whole_column("clusters", clusters))
    present, numbers = np.unique(codes, return_inverse=True)
    is_missing = any(values[code] is None or values[code] != values[code] for code in present.tolist())
    if len(numbers) != n or is_missing:
        got = f"{len(numbers)} values" if len(numbers) != n else "missing ones"
        raise ValueError(f"clusters must have one value for each of {n} rows, got {got}")
    if len(present) < least:
        raise ValueError(f"clusters must have at least {least} different values, got {len(present)}")
    if len(present) < ENOUGH_CLUSTERS:
        warn(
            f"{len(present)} clusters are too few for standard errors of clusters to be reliable: at least "
            f"{ENOUGH_CLUSTERS} are needed",
            SmallSampleWarning,
        )
    return numbers.astype(np.uint32)


def cluster_variance(scores: Floats, clusters: NDArray[np.uint32]) -> float:
    """Return the variance of the sum of the scores of people whose clusters were drawn."""
    sums = np.bincount(clusters, scores)
    return float(np.square(sums).sum()) * len(sums) / (len(sums) - 1)
