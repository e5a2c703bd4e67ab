"""Clusters of people whose answers are related, such as villages, and people with weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _limits
from .._frames import Groups, whole_column
from .._typing import Floats
from .._warnings import warn
from ..results import Debiasing, SmallSampleWarning, t_quantile

ENOUGH_CLUSTERS = 30  # from which on a sum over clusters is nearly normal
MIDDLE = 1e-6  # distance from a half of a tail whose quantiles are not zero
LEAST_PEOPLE = 1e-9  # that limits are computed for
LEAST_FREEDOM = 1.0


def read_clusters(clusters: Any, n: int, least: int, weights: Floats | None = None) -> NDArray[np.uint32] | None:
    """Return the number of the cluster of each of n people, of at least `least` clusters.

    Clusters whose weights are all zero are not in the sample: they have no number of their own, and their people have the
    number 0.

    Raises
    ------
    TypeError, ValueError
        If there is not one value for each person, one is missing, or there are too few clusters.
    """
    if clusters is None:
        return None
    codes, values = Groups("clusters").codes(whole_column("clusters", clusters))
    is_missing = any(values[code] is None or values[code] != values[code] for code in np.unique(codes).tolist())
    if len(codes) != n or is_missing:
        got = f"{len(codes)} values" if len(codes) != n else "missing ones"
        raise ValueError(f"clusters must have one value for each of {n} rows, got {got}")
    numbers, inside = np.zeros(n, np.uint32), slice(None) if weights is None else weights > 0
    present, numbers[inside] = np.unique(codes[inside], return_inverse=True)
    if len(present) < least:
        where = "" if weights is None else " among the rows with positive weights"
        raise ValueError(f"clusters must have at least {least} different values{where}, got {len(present)}")
    return numbers


def cluster_variance(scores: Floats, clusters: NDArray[np.uint32]) -> float:
    """Return the variance of the sum of the scores of people whose clusters were drawn."""
    sums = np.bincount(clusters, scores)
    return float(np.square(sums).sum()) * len(sums) / (len(sums) - 1)


@dataclass(frozen=True)
class Sample:
    """How much the people or clusters of a sample with weights tell.

    Attributes
    ----------
    n : int
        Number of people with positive weights.
    units : int
        Number of clusters, or of people if there are no clusters.
    effective : float
        Number of clusters or people of equal weights that tell as much (Kish).
    freedom : float
        Degrees of freedom of a variance that is estimated from them: those of a chi-square variable with the same mean and
        variance (Satterthwaite), if the totals of the units have the variances of the squares of their weights. For equal
        weights it is `units` - 1.
    """

    n: int
    units: int
    effective: float
    freedom: float

    @classmethod
    def of(cls, n: int, weights: Floats | None, clusters: NDArray[np.uint32] | None) -> Sample:
        """Return the sample of n rows.

        Warns
        -----
        SmallSampleWarning
            If there are fewer than 30 clusters, or if weights are so unequal that people or clusters count as fewer than that.
        """
        if weights is None and clusters is None:
            return cls(n, n, float(n), n - 1.0)
        people = n if weights is None else int(np.count_nonzero(weights))
        if clusters is not None:
            totals = np.bincount(clusters, weights).astype(np.float64)
        else:
            assert weights is not None
            totals = weights[weights > 0]
        shares = totals / totals.sum()
        squares = np.square(shares)
        found = cls(people, len(shares), float(1 / squares.sum()), _freedom(shares))
        found._warn(clusters is not None)
        return found

    def _warn(self, has_clusters: bool) -> None:
        if has_clusters and self.units < ENOUGH_CLUSTERS:
            warn(
                f"{self.units} clusters are too few for standard errors of clusters to be reliable: at least "
                f"{ENOUGH_CLUSTERS} are needed",
                SmallSampleWarning,
            )
        elif self.effective < min(ENOUGH_CLUSTERS, self.units / 2):
            what = "clusters" if has_clusters else "people"
            warn(
                f"the weights of {self.units} {what} are so unequal that they tell as much as {self.effective:.1f} with equal "
                f"weights: at least {ENOUGH_CLUSTERS} are needed for reliable standard errors",
                SmallSampleWarning,
            )


def _freedom(shares: Floats) -> float:
    """Return Satterthwaite's degrees of freedom of the variance of a mean, for the shares of independent units in it.

    The variance is the sum of the squares of p_i (y_i - sum of p_j y_j). These numbers have the covariance matrix
    G = diag(p^2) - p^2 p' - p p^2' + s p p' with s = sum of p^2, and the result is tr(G)^2 / tr(G G).
    """
    if len(shares) < 2:
        return LEAST_FREEDOM
    squares = np.square(shares)
    total = float(squares.sum())
    cubes = float((squares * shares).sum())
    fourths = float(np.square(squares).sum())
    trace = total - 2 * cubes + total**2
    vectors = np.array([[total, cubes], [cubes, fourths]])  # products of p and p^2
    middle = np.array([[total, -1.0], [-1.0, 0.0]])
    fifths = float((squares**2 * shares).sum())
    diagonal = np.array([[fourths, fifths], [fifths, float((squares**3).sum())]])  # the same, weighted by p^2
    square = fourths + 2 * float(np.sum(middle * diagonal)) + float(np.trace(middle @ vectors @ middle @ vectors))
    return max(LEAST_FREEDOM, min(trace**2 / square, len(shares) - 1.0))


@dataclass(frozen=True, eq=False)
class EffectiveBinomial:
    """Debiased Clopper-Pearson limits of a share in a sample with weights or clusters.

    They are those of a share among as many people as would tell as much without, and this number is reduced by the square of
    the quotient of t quantiles, because the variance is estimated (E. L. Korn, B. I. Graubard, 1998).

    Attributes
    ----------
    share : float
        Share of hits.
    total : float
        Number of people that would tell as much.
    n : int
        Number of people.
    freedom : float
        Degrees of freedom of the variance.
    debiasing : Debiasing
    """

    share: float
    total: float
    n: int
    freedom: float
    debiasing: Debiasing
    by_coordinate: ClassVar[bool] = True

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        side = np.minimum(
            np.minimum(tail, 1 - np.asarray(tail)), 0.5 - MIDDLE
        )  # the quotient is the same on both sides
        ratio = t_quantile(self.n - 1, side) / t_quantile(self.freedom, side)
        total = np.maximum(self.total * np.square(ratio), LEAST_PEOPLE)
        low, high = _limits.clopper_pearson(self.share * total, total, tail)
        return np.asarray(self.debiasing(low)), np.asarray(self.debiasing(high))
