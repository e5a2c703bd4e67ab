"""Quantile and its interval from the positions and answers of `MedianSGD`, in constant memory."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..._core.sgd import QuantileState
from ..._typing import Floats

WINDOW = 3.0  # range in which the fitted parabola is used, in standard deviations of the positions
GRID = 400  # positions on each side at which the fit is compared with the target, before bisection


class FitSums(NamedTuple):
    """Sums over the positions of a segment, at distances u from `origin`.

    Attributes
    ----------
    origin : float
        Origin of the distances.
    size : int
        Number of positions.
    moments : ndarray, shape (4,)
        Sums of u, u^2, u^3, u^4.
    ones : ndarray, shape (3,)
        Sums of 1, u, u^2 over the people who answered 1.
    """

    origin: float
    size: int
    moments: Floats
    ones: Floats

    @classmethod
    def of(cls, state: QuantileState, size: int) -> FitSums:
        """Return the sums of the open segment of a kernel's state."""
        return cls(state.origin, size, np.array(state.moments), np.array(state.ones))

    def is_possible(self, lower: float, upper: float) -> bool:
        """Return whether positions in [lower, upper] can have these sums, up to rounding."""
        largest = self.size * (upper - lower) ** np.arange(5) * (1 + 1e-6)
        moments, ones = np.concatenate([[self.size], self.moments]), self.ones
        least = np.array([0, -1, 0, -1, 0]) * largest
        within = (moments >= least).all() and (np.abs(moments) <= largest).all() and (np.abs(ones) <= largest[:3]).all()
        return bool(within and lower <= self.origin <= upper and ones[0] >= 0 and ones[2] >= 0)

    def shifted_to(self, origin: float) -> FitSums:
        """Return the sums for another origin."""
        d = self.origin - origin
        m = np.concatenate([[self.size], self.moments])
        y = self.ones
        moments = [sum(math.comb(k, j) * d ** (k - j) * m[j] for j in range(k + 1)) for k in range(1, 5)]
        ones = [y[0], y[1] + d * y[0], y[2] + 2 * d * y[1] + d**2 * y[0]]
        return FitSums(origin, self.size, np.array(moments), np.array(ones))


def merged(segments: list[FitSums]) -> FitSums:
    """Combine segments into one, whose origin is the mean of the positions."""
    size = sum(segment.size for segment in segments)
    last = segments[-1].origin
    mean = last + sum(float(s.moments[0]) + s.size * (s.origin - last) for s in segments) / size
    shifted = [segment.shifted_to(mean) for segment in segments]
    moments, ones = sum(s.moments for s in shifted), sum(s.ones for s in shifted)
    return FitSums(mean, size, np.asarray(moments), np.asarray(ones))


def crossing(kept: FitSums, lower: float, upper: float, target: float) -> Crossing | None:
    """Fit the answers to locate the quantile; return None if there are too few.

    Given the positions, the answers are independent. Their variance is target (1 - target) near the quantile.

    Parameters
    ----------
    kept : FitSums
        Sums around the mean of the positions, as returned by `merged`.
    lower, upper : float
        Range that contains the quantile.
    target : float
        Probability of answering 1 at the quantile.

    Returns
    -------
    crossing : Crossing or None
    """
    mean, n, moments, ones = kept
    scale = math.sqrt(max(float(moments[1]), 0.0) / n)
    if n < 8 or not scale > 1e-9 * (upper - lower):
        return None
    powers = np.concatenate([[n], moments]) / scale ** np.arange(5) / n
    design = np.array([[powers[i + j] for j in range(3)] for i in range(3)])
    if np.linalg.cond(design) > 1e9:
        return None
    inverse: Floats = np.linalg.inv(design)
    coefficients = inverse @ (ones / scale ** np.arange(3) / n)
    return Crossing(lower, upper, mean, scale, coefficients, inverse * (target * (1 - target) / n), target)


@dataclass(frozen=True)
class Crossing:
    """Position at which the probability of answering 1 is equal to its known value at the quantile.

    This probability decreases with the position. A parabola is fitted to the answers around the mean of the positions.
    A position is rejected if the fit differs from the target probability by more than its standard error allows.
    Everything beyond a rejected position is rejected as well, because the probability is monotone. If no position on
    one side is rejected, the interval extends to the end of [lower, upper]. The value, a mean of positions with its own
    bias, is always included.

    Attributes
    ----------
    lower, upper : float
        Range that contains the quantile.
    center, scale : float
        Mean and standard deviation of the positions.
    coefficients : ndarray, shape (3,)
        Coefficients of 1, v, v^2 with v = (position - center) / scale.
    covariance : ndarray, shape (3, 3)
        Covariance of the coefficients.
    target : float
        Probability of answering 1 at the quantile.
    """

    lower: float
    upper: float
    center: float
    scale: float
    coefficients: Floats = field(repr=False)
    covariance: Floats = field(repr=False)
    target: float

    def excess(self, v: Any) -> tuple[Any, Any]:
        """Return the fitted minus the target probability, and its standard error."""
        powers = np.stack([np.ones_like(v), v, v**2])
        variance = np.einsum("i...,ij,j...->...", powers, self.covariance, powers)
        return np.tensordot(self.coefficients, powers, 1) - self.target, np.sqrt(np.maximum(variance, 0))

    def root(self) -> tuple[float, float]:
        """Return the crossing and its standard error, which is infinite if the fit does not decrease there."""
        v = np.linspace(-WINDOW, WINDOW, 2 * GRID + 1)
        excess, _ = self.excess(v)
        start = float(v[int(np.argmin(np.abs(excess)))])
        slope = float(self.coefficients[1] + 2 * self.coefficients[2] * start)
        if not slope < 0:
            return self.center + self.scale * start, math.inf
        exact, error = self.excess(np.array(start))
        root = min(max(start - float(exact) / slope, -WINDOW), WINDOW)
        return self.center + self.scale * root, float(error) / -slope * self.scale

    def bounds(self, value: Floats, stderr: Floats, tail: float) -> tuple[Floats, Floats]:
        """Return the limits of the interval; `tail` is the probability beyond each of them."""
        from scipy.special import ndtri

        z = -ndtri(tail)
        root, _ = self.root()
        start = (root - self.center) / self.scale

        def rejected(v: Any) -> Any:
            excess, error = self.excess(v)
            return np.abs(excess) > z * error

        excess, _ = self.excess(np.linspace(-WINDOW, WINDOW, 2 * GRID + 1))
        if (excess > 0).all():  # the fit exceeds the target in the whole window: the quantile is above it
            return np.minimum(root, value), np.maximum(self.upper, value)
        if (excess < 0).all():
            return np.minimum(self.lower, value), np.maximum(root, value)
        ends = []
        for end, limit in ((-WINDOW, self.lower), (WINDOW, self.upper)):
            grid = np.linspace(start, end, GRID)
            mask = rejected(grid)
            if not mask.any():
                ends.append(limit)
                continue
            first = int(np.argmax(mask))
            inside, outside = grid[max(first - 1, 0)], grid[first]
            for _ in range(40):
                middle = (inside + outside) / 2
                inside, outside = (inside, middle) if rejected(middle) else (middle, outside)
            ends.append(min(max(self.center + self.scale * inside, self.lower), self.upper))
        return np.minimum(ends[0], value), np.maximum(ends[1], value)
