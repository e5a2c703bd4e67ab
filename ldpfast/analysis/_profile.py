"""Limits of a coefficient by its profile likelihood."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._typing import Floats
from .._warnings import warn
from ..results import DoubtfulWarning
from ._maximum import LikelihoodSums, SmoothLikelihood, maximum

FARTHEST = 64.0  # limits of the search, in standard errors
TOLERANCE = 1e-6  # of a limit, in standard errors
NEAR = 1e-7  # of a root of twice the log-likelihood; a standard error changes it by about 1
CERTAIN = 1e-3  # largest error of twice the log-likelihood
STEEPEST = 100.0  # change of the root in a standard error; where it is larger, it jumps
MAX_STEPS = 100

Point = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Plane:
    """A likelihood at the coefficients of a plane only.

    Attributes
    ----------
    likelihood : SmoothLikelihood
    origin : ndarray of float64
        Coefficients at the origin of the plane.
    basis : ndarray, shape (coefficients, dimensions)
    """

    likelihood: SmoothLikelihood
    origin: Floats
    basis: Floats

    def sums(self, params: Floats, *, observed: bool) -> LikelihoodSums:
        """Return the log-likelihood and its derivatives at coordinates of the plane."""
        found = self.likelihood.sums(self.origin + (self.basis @ params).reshape(self.origin.shape), observed=observed)
        return LikelihoodSums(found.value, self.basis.T @ found.score, self.basis.T @ found.information @ self.basis)


def profile_limits(
    likelihood: SmoothLikelihood, params: Floats, cov: Floats, direction: Floats, z: float
) -> tuple[float, float]:
    """Return how far a combination of coefficients can move until twice the log-likelihood has fallen by z squared.

    The other coefficients maximize the likelihood for each of its values.

    Parameters
    ----------
    likelihood : SmoothLikelihood
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
        inner = 0.0
        below = -z
        outer = z
        while (value := excess(sign * outer)) < 0 and outer < FARTHEST:
            inner = outer
            below = value
            outer = 1.5 * outer
        root = math.inf
        if 0 <= value < math.inf:
            root = _crossing(lambda size: excess(sign * size), (inner, below), (outer, value))  # noqa: B023
        limits.append(sign * stderr * root)
    if elsewhere:
        warn(
            "the likelihood is higher elsewhere than at the coefficients, which are a local maximum: use fewer covariates or "
            "ask more people",
            DoubtfulWarning,
        )
    return limits[0], limits[1]


def _crossing(function: Callable[[float], float], low: Point, high: Point) -> float:
    """Return where a function becomes positive between two points; infinity if it jumps there, or becomes infinite.

    Steps are by the secant, with half the value of an end that stays (the Illinois method), and by bisection where two steps
    have not halved the interval.
    """
    ends = {-1: low, 1: high}  # of the points where the function is negative, and not
    weights = {-1: 1.0, 1: 1.0}
    last = 0
    widths = [math.inf, math.inf]
    for _ in range(MAX_STEPS):
        a, below = ends[-1]
        b, above = ends[1]
        if b - a < TOLERANCE:
            break
        if STEEPEST * max(b - a, TOLERANCE) < (above if above < math.inf else 0.0) - below:
            return math.inf
        down, up = -below * weights[-1], above * weights[1]
        slow = b - a > widths[-2] / 2 or up == math.inf
        widths = [widths[-1], math.inf if slow else b - a]
        x = (a + b) / 2 if slow else a + (b - a) * down / (down + up)
        value = function(x)
        if abs(value) < NEAR:
            return x
        side = 1 if value > 0 else -1
        ends[side] = x, value
        weights = {side: 1.0, -side: weights[-side] / 2 if side == last else 1.0}
        last = side
    return (ends[-1][0] + ends[1][0]) / 2 if ends[1][1] < math.inf else math.inf
