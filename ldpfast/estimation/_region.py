"""Confidence regions for mean vectors."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._typing import Floats

NODES = 64  # of the quadrature; the error of a probability is below 1e-9
FAR_OUT = 1e-14  # probability of either tail that the quadrature leaves out


@dataclass(frozen=True)
class Spread:
    """Second moments of decoded reports, with `scale`, the root of the mean square of a coordinate, as the unit.

    For a record of length `radius` they are `along` in its direction and `across` in each other direction. They are both 1 for
    half-spaces. A shorter record is a mixture of two opposite ones of length `radius`.
    """

    along: float
    across: float
    radius: float

    def weights(self, square: Floats, dim: int) -> tuple[Floats, Floats]:
        """Return the largest possible variance in one direction, and the mean variance in all others.

        `square` is the squared length of the mean of the records. Some of them have the direction of the mean, and the
        others may all have one direction.
        """
        share = square / self.radius**2
        excess = self.along - self.across
        largest = self.across + np.maximum(excess / self.radius**2 - 1, 0) * square + excess * np.maximum(1 - share, 0)
        total = dim - square
        largest = np.clip(largest, 0, total)
        return largest, (total - largest) / max(1, dim - 1)


HALF_SPACES = Spread(1.0, 1.0, math.inf)


def mixture_probability(limit: Floats, first: Floats, rest: Floats, dim: int, directions: int = 1) -> Floats:
    """Return the probability that first a + rest b is at most `limit`.

    a and b have chi-square distributions with `directions` and dim - directions degrees of freedom.
    """
    from scipy.special import chdtr, chdtri, ndtr

    limit, first, rest = np.broadcast_arrays(limit, first, rest)
    first, rest = np.maximum(first, 1e-300), np.maximum(rest, 1e-300)
    if dim == 1:
        return np.asarray(2 * ndtr(np.sqrt(limit / first)) - 1)
    if directions == dim:
        return np.asarray(chdtr(dim, limit / first))
    # The integral is over the number that spreads less: the probability of the other one varies slowly.
    exchange = first**2 * directions > rest**2 * (dim - directions)
    outer, inner = np.where(exchange, rest, first), np.where(exchange, first, rest)
    freedom = np.where(exchange, dim - directions, directions)
    end = limit / outer
    smallest, largest = chdtri(freedom, 1 - FAR_OUT), chdtri(freedom, FAR_OUT)
    start, stop = (np.arcsin(np.sqrt(np.minimum(1, x / np.maximum(end, 1e-300)))) for x in (smallest, largest))
    nodes, weights = _quadrature()
    half = (stop - start) / 2
    angle = start[..., np.newaxis] + half[..., np.newaxis] * (nodes + 1)
    end, freedom = end[..., np.newaxis], freedom[..., np.newaxis]
    number = end * np.sin(angle) ** 2
    left = (limit / inner)[..., np.newaxis] * np.cos(angle) ** 2
    values = chdtr(dim - freedom, left) * _chi_density(np.sqrt(number), freedom) * np.sqrt(end) * np.cos(angle)
    return np.asarray(np.minimum(values @ weights * half, 1.0))


@cache
def _quadrature() -> tuple[Floats, Floats]:
    """Return the nodes and the weights of the quadrature, whose computation takes longer than what they are used for."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return nodes, weights


def _chi_density(length: Floats, freedom: Floats) -> Floats:
    """Return the density of the length of a vector of independent standard normal numbers."""
    from scipy.special import gammaln, xlogy

    return np.asarray(
        np.exp(xlogy(freedom - 1, length) - length**2 / 2 - (freedom / 2 - 1) * math.log(2) - gammaln(freedom / 2))
    )


def least_probability(limit: Floats, first: Floats, rest: Floats, dim: int) -> Floats:
    """Return the least probability that the squared length of the noise is at most `limit`.

    `first` is the variance in one direction and `rest` in each other, if all records that are free have one direction. They
    may also have several directions, which then share the excess of `first`. For large limits one direction is the worst, for
    small ones many are.
    """
    first, rest = np.asarray(first), np.asarray(rest)
    counts = [1 << k for k in range(dim.bit_length()) if 1 << k < dim] + [dim]
    found = [mixture_probability(limit, rest + (first - rest) / m, rest, dim, m) for m in counts]
    return np.asarray(np.min(found, axis=0))


def largest_quantile(probability: float, first: float, rest: float, dim: int) -> float:
    """Return the limit that has the given `least_probability`."""
    from scipy.optimize import brentq
    from scipy.special import chdtri

    if first == rest:
        return first * float(chdtri(dim, 1 - probability))

    def excess(limit: float) -> float:
        return float(least_probability(np.array(limit), np.array(first), np.array(rest), dim)) - probability

    most = max(first, rest) * float(chdtri(dim, (1 - probability) / 2))
    return float(brentq(excess, 0.0, most, xtol=1e-12 * most, rtol=1e-12))


@dataclass(frozen=True, eq=False)
class Region:
    """Confidence region for a mean vector, which is nearly an ellipsoid.

    It contains all m for which value - m is not too long. The covariance of the value depends on m. For half-spaces it is
    C(m), the diagonal covariance of the noise minus the outer product of m - center with itself over n, and the limit of
    (value - m)^T C(m)^-1 (value - m) is a quantile of the chi-square distribution. For other mechanisms the covariance
    depends on the directions of the records too, but the sum of the variances does not. The length of value - m is compared
    with the largest quantile over all directions that the records of a mean of m may have.

    Attributes
    ----------
    value : ndarray
        Estimated mean.
    stderr : ndarray
        Standard deviation of each coordinate of the noise, for records in all directions.
    center : ndarray
        Center of the ball or box that contains the records.
    n : int
        Number of reports.
    confidence : float
        Probability that the region contains the mean vector.
    limit : float
        Quantile of the squared length in units of `stderr`, for the noise alone: where the mean is at the center.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import vector_mean
    >>> region = vector_mean(np.full((10_000, 3), 0.5), 1.0, rng=1).region()
    >>> bool(region.contains([0.5, 0.5, 0.5])), bool(region.contains([0.0, 0.0, 0.0]))
    (True, False)
    """

    value: Floats
    stderr: Floats
    center: Floats
    n: int
    confidence: float
    limit: float = field(init=False)
    _spread: Spread = field(default=HALF_SPACES, repr=False)

    def __post_init__(self) -> None:
        dim = len(self.value)
        first, rest = (float(weight) for weight in self._spread.weights(np.array(0.0), dim))
        object.__setattr__(self, "limit", largest_quantile(self.confidence, first, rest, dim))

    @property
    def radii(self) -> Floats:
        """Half-axes of the ellipsoid for the noise alone, which contains this region and is parallel to the axes."""
        return math.sqrt(self.limit) * self.stderr

    def contains(self, points: ArrayLike) -> Any:
        """Return whether points are in the region.

        Parameters
        ----------
        points : array_like, shape (dim,) or (m, dim)

        Returns
        -------
        inside : bool or ndarray of bool

        Raises
        ------
        TypeError, ValueError
            If `points` are not real numbers, or have another shape.
        """
        tested = _check.floats("points", _check.array("points", points)).astype(np.float64)
        _check.dimensions("points", tested, len(self.value))
        away = (tested - self.value) / self.stderr
        mean = (tested - self.center) / self.stderr / math.sqrt(self.n)
        distance, square = (away**2).sum(axis=-1), (mean**2).sum(axis=-1)
        if self._spread == HALF_SPACES:
            norm = np.minimum(square, 1 - 1e-9)  # below 1 for every possible mean
            return distance + (away * mean).sum(axis=-1) ** 2 / (1 - norm) <= self.limit
        first, rest = self._spread.weights(np.minimum(square, self._spread.radius**2), len(self.value))
        return least_probability(distance, first, rest, len(self.value)) <= self.confidence
