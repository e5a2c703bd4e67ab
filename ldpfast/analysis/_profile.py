"""Limits of a coefficient by its profile likelihood."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .._typing import Floats
from .._warnings import warn
from ..results import DoubtfulWarning
from ._maximum import Smooth, Sums, maximum

FARTHEST = 64.0  # limits of the search, in standard errors
TOLERANCE = 1e-6  # of a limit, in standard errors
CERTAIN = 1e-3  # largest error of a root of twice the log-likelihood, and of that itself


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

    Warns
    -----
    DoubtfulWarning
        If a higher likelihood is met.
    """
    from scipy.linalg import null_space
    from scipy.optimize import brentq

    highest, elsewhere = likelihood.sums(params, observed=True).value, False
    basis = null_space(direction[np.newaxis])
    way = cov @ direction
    stderr = math.sqrt(direction @ way)

    def excess(distance: float) -> float:
        """Return the signed root of the fall at a distance in standard errors, less z; inf if there is no maximum."""
        nonlocal elsewhere
        plane = Plane(likelihood, params + (distance / stderr * way).reshape(params.shape), basis)
        found = maximum(plane, np.zeros(basis.shape[1]))
        if found is None:
            return math.inf
        fall = 2 * (highest - found[1].value)
        elsewhere = elsewhere or fall < -CERTAIN
        return math.sqrt(max(0.0, fall)) - z

    limits = []
    for sign in (-1.0, 1.0):
        inner, outer = 0.0, z
        while (value := excess(sign * outer)) < 0 and outer < FARTHEST:
            inner, outer = outer, 1.5 * outer
        if not 0 <= value < math.inf:
            limits.append(sign * math.inf)
            continue
        root = brentq(lambda size, sign=sign: excess(sign * size), inner, outer, xtol=TOLERANCE)
        reached = abs(excess(sign * root)) < CERTAIN  # and not passed by a jump to another maximum for the others
        limits.append(sign * stderr * root if reached else sign * math.inf)
    if elsewhere:
        warn(
            "the likelihood is higher elsewhere than at the coefficients, which are a local maximum: use fewer covariates or "
            "ask more people",
            DoubtfulWarning,
        )
    return limits[0], limits[1]
