"""Replicate weights, from which the variance of any estimate follows without the strata and clusters of the sample."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from .. import _check
from .._typing import Floats

KINDS = ("jackknife", "brr", "bootstrap")
FACTORS = 4.0  # how many times nearer to each other than to the weights means of factors are, as squares
RANK = 1e-5  # smallest singular value that counts, relative to the largest one


@dataclass(frozen=True, eq=False)
class ReplicateWeights:
    """Replicate weights of a survey: columns of weights, each of which gives another estimate.

    They come with data whose strata and clusters are not published. The variance of an estimate is the sum of the squared
    distances of the replicate estimates from their mean, times `rscales` and `scale`.

    Parameters
    ----------
    weights : array_like of float, shape (n, replicates), data frame, or list of str
        Weights >= 0 of each person, which include the sampling weight. For an analysis of a data frame, names of its columns.
    kind : {"jackknife", "brr", "bootstrap"}
        How they were made: a jackknife, which leaves out one cluster each; balanced repeated replication, also Fay's
        method; or a bootstrap.
    scale : float, optional
        Factor of the sum, > 0. By default, for R replicates, (R - 1) / R for a jackknife, or 1 with `rscales`; 1 / R for
        balanced repeated replication, divided by (1 - rho)^2; 1 / (R - 1) for a bootstrap.
    rscales : array_like of float, shape (replicates,), optional
        Factors >= 0 of the replicates; 1 by default. A jackknife of strata needs them: (n - 1) / n for the n clusters of the
        stratum of the cluster that is left out.
    rho : float, default 0.0
        Fay's factor of balanced repeated replication, in [0, 1).
    mse : bool, default False
        Whether distances are from the estimate with the sampling weights, and not from the mean of the replicates.

    Raises
    ------
    TypeError, ValueError
        If the arguments are not as above.

    Notes
    -----
    Arguments and defaults are taken from ``svrepdesign`` in R's package survey, where "jackknife" is JK1, or JKn with
    `rscales`, and JK2 with ``scale=1``. The degrees of freedom of a variance are the rank of the weights less one. A fit is
    repeated for each replicate.

    References
    ----------
    .. [1] T. Lumley, "Analysis of complex survey samples", Journal of Statistical Software, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast import designs
    >>> village, rng = np.arange(400) // 10, np.random.default_rng(1)
    >>> said = rng.random(400) < rng.uniform(0.2, 0.6, 40)[village]
    >>> without = np.where(village[:, np.newaxis] == np.arange(40), 0.0, 40 / 39)  # all villages but one
    >>> replicates = designs.ReplicateWeights(without, "jackknife")
    >>> found = designs.warner(0.8).prevalence(said, weights=np.ones(400), replicate_weights=replicates)
    >>> exact = designs.warner(0.8).prevalence(said, clusters=village)
    >>> round(found.stderr, 3), round(exact.stderr, 3), found.freedom
    (0.047, 0.047, 39.0)
    """

    weights: Any
    kind: str
    scale: float | None = None
    rscales: Any = None
    rho: float = 0.0
    mse: bool = False

    def __post_init__(self) -> None:
        _check.choice("kind", self.kind, KINDS)
        _check.flag("mse", self.mse)
        if self.scale is not None:
            _check.positive("scale", self.scale)
        if not 0 <= float(_check.within("rho", self.rho, 0, 1)) < 1 or (self.rho and self.kind != "brr"):
            raise ValueError(f'rho must be in [0, 1), and 0 unless kind is "brr", got {self.rho!r}')

    def read(self, weights: Floats) -> Self:
        """Return them as an array, if they fit to the sampling weights of people.

        Raises
        ------
        TypeError, ValueError
            If they do not.
        """
        if isinstance(self.weights, list) and any(isinstance(name, str) for name in self.weights):
            raise TypeError("replicate_weights must hold an array: names of columns need a data frame")
        found = np.asarray(
            _check.numbers("replicate_weights", _check.array("replicate_weights", self.weights)), np.float64
        )
        if found.ndim != 2 or len(found) != len(weights) or found.shape[1] < 2:
            raise ValueError(
                f"replicate_weights must have shape ({len(weights)}, replicates) with two or more, got shape {found.shape}"
            )
        if (found < 0).any() or not found.any(axis=0).all():
            raise ValueError("replicate_weights must be >= 0, with a positive one in each column")
        found = found / found.mean(axis=0)  # only ratios of weights count
        means = found.mean(axis=1)
        if np.square(means - weights / weights.mean()).sum() > FACTORS * np.square(means - 1).sum():
            raise ValueError(
                "replicate_weights must include the sampling weights, got factors of these: their means are nearly the same "
                "for all people, but weights are not"
            )
        rscales = np.ones(found.shape[1])
        if self.rscales is not None:
            rscales = np.asarray(_check.numbers("rscales", _check.array("rscales", self.rscales)), np.float64)
        if rscales.shape != (found.shape[1],) or (rscales < 0).any() or not (rscales > 0).any():
            raise ValueError(f"rscales must be >= 0, one for each of {found.shape[1]} replicates, got {self.rscales!r}")
        return replace(self, weights=found, rscales=rscales, scale=self._scale(found.shape[1]))

    def _scale(self, count: int) -> float:
        if self.scale is not None:
            return self.scale
        if self.kind == "jackknife":
            return (count - 1) / count if self.rscales is None else 1.0
        return 1 / (count - 1) if self.kind == "bootstrap" else 1 / (count * (1 - self.rho) ** 2)

    def of_table(self, data: Any) -> Self:
        """Return them with the columns of a table in the place of their names."""
        if not isinstance(self.weights, list) or not all(isinstance(name, str) for name in self.weights):
            return self
        columns = data if isinstance(data, Mapping) else data.columns
        absent = [name for name in self.weights if name not in list(columns)]
        if absent or not self.weights:
            raise ValueError(f"replicate_weights must name columns of data, got {absent[0] if absent else 'none'!r}")
        return replace(self, weights=np.column_stack([np.asarray(data[name], np.float64) for name in self.weights]))

    def of_rows(self, rows: Any) -> Self:
        """Return those of some people."""
        return replace(self, weights=np.asarray(self.weights)[rows])

    @property
    def freedom(self) -> float:
        """Degrees of freedom of a variance, after `read`."""
        x = self.weights
        return max(float(np.linalg.matrix_rank(x.T @ x, tol=RANK**2 * np.square(x).sum())) - 1, 1.0)

    def covariance(self, estimate: Callable[[Floats], Floats], value: Floats) -> Floats:
        """Return the covariance matrix of an estimate, which is a function of the weights, after `read`.

        Parameters
        ----------
        estimate : callable
        value : ndarray, shape (numbers,)
            The estimate with the sampling weights.

        Raises
        ------
        ValueError
            If a replicate has no estimate.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.stack([np.asarray(estimate(column), np.float64) for column in self.weights.T])
        if not np.isfinite(found).all():
            place = int(np.argmin(np.isfinite(found).all(axis=1)))
            raise ValueError(f"replicate_weights must leave people of each subgroup, got none in replicate {place}")
        middle = value if self.mse else found[self.rscales > 0].mean(axis=0)
        distances = (found - middle) * np.sqrt(self.rscales)[:, np.newaxis]
        assert self.scale is not None
        return np.asarray(self.scale * distances.T @ distances)


def table_of(replicate_weights: Any) -> dict[str, Any]:
    """Return the table of an argument `replicate_weights`, whose index must be that of the other columns, by this name."""
    weights = getattr(replicate_weights, "weights", None)
    return {"replicate_weights": None if isinstance(weights, list) else weights}
