"""Limits of a coefficient by its profile likelihood."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .._typing import Floats
from ._maximum import Smooth, Sums, maximum

FARTHEST = 64.0  # limits of the search, in standard errors
TOLERANCE = 1e-6  # of a limit, in standard errors


@dataclass(frozen=True, eq=False)
class Plane:
    """A likelihood at the coefficients of a plane only.

    Attributes
    ----------
    likelihood : Smooth
    origin : ndarray of float64
        Coefficients at the origin of the plane.
    basis : ndarray, shape (coefficients, dimensions)
    """

    likelihood: Smooth
    origin: Floats
    basis: Floats

    def sums(self, params: Floats, *, observed: bool) -> Sums:
        """Return the log-likelihood and its derivatives at coordinates of the plane."""
        found = self.likelihood.sums(self.origin + (self.basis @ params).reshape(self.origin.shape), observed=observed)
        return Sums(found.value, self.basis.T @ found.score, self.basis.T @ found.information @ self.basis)


def profile_limits(likelihood: Smooth, params: Floats, cov: Floats, direction: Floats, z: float) -> tuple[float, float]:
    """Return how far a combination of coefficients can move until twice the log-likelihood has fallen by z squared.

    The other coefficients maximize the likelihood for each of its values.

    Parameters
    ----------
    likelihood : Smooth
    params, cov : ndarray
        Coefficients at the maximum, and the inverse of the information there.
    direction : ndarray, shape (coefficients,)
        Weights of the combination.
    z : float
        Normal quantile of the confidence level.

    Returns
    -------
    below, above : float
        Distances from the maximum, -inf and inf where the likelihood does not fall as much or has no maximum.
    """
    from scipy.linalg import null_space
    from scipy.optimize import brentq

    highest = likelihood.sums(params, observed=True).value
    basis = null_space(direction[np.newaxis])
    way = cov @ direction
    stderr = math.sqrt(direction @ way)

    def excess(distance: float) -> float:
        """Return the signed root of the fall at a distance in standard errors, less z; inf if there is no maximum."""
        plane = Plane(likelihood, params + (distance / stderr * way).reshape(params.shape), basis)
        found = maximum(plane, np.zeros(basis.shape[1]))
        return math.inf if found is None else math.sqrt(max(0.0, 2 * (highest - found[1].value))) - z

    limits = []
    for sign in (-1.0, 1.0):
        inner, outer = 0.0, z
        while (value := excess(sign * outer)) < 0 and outer < FARTHEST:
            inner, outer = outer, 1.5 * outer
        if not 0 <= value < math.inf:
            limits.append(sign * math.inf)
            continue
        limits.append(sign * stderr * brentq(lambda size, sign=sign: excess(sign * size), inner, outer, xtol=TOLERANCE))
    return limits[0], limits[1]
