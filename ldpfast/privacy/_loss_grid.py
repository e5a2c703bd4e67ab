"""Privacy losses on a grid: a pair of distributions that dominates a channel, and its composition with itself."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from .. import _coins
from ._directed_rounding import UNIT, Floats, raise_until

Curve = Callable[[float], float]

# Bound on the relative error of a discrete Fourier transform in the Euclidean norm, in units of log2(length) (Higham,
# "Accuracy and Stability of Numerical Algorithms", 2nd edition, theorem 24.2: about 7 units of rounding).
FOURIER_ERROR = 32 * UNIT
MAX_LENGTH = 1 << 22
DEVIATIONS = 12  # standard deviations of the sum on either side that a transform has room for
LARGEST_LOG = 300.0  # with a larger weight the bound is 1, because of the error of the transform
AT = 1 - 8 * UNIT  # factor by which rounded exponentials are smaller


@dataclass(frozen=True)
class LossGrid:
    """Distribution of the privacy loss of one release under the first of two distributions.

    The loss is ``(i - m) * step`` with probability ``masses[i]``, for i from 0 to 2 m, and infinite with probability
    `infinite`. Probabilities and losses are rounded up.
    """

    step: float
    masses: Floats
    infinite: float

    @classmethod
    def of_curves(cls, curve: Curve, reversed_curve: Curve, high: float, intervals: int) -> LossGrid:
        """Return a pair of distributions that dominates a channel.

        Parameters
        ----------
        curve, reversed_curve : callable
            Upper bounds on the hockey-stick divergence of one neighbor from the other, and in the other order, for an
            epsilon >= 0.
        high : float
            Largest finite loss. The probability of larger ones is the bound at this epsilon.
        intervals : int
            Number of intervals of the positive losses.

        Notes
        -----
        The divergence is a convex function of its order e^epsilon, for all real epsilon. So it is below the greatest convex
        function that is at most the bound at some points. That function is the divergence of a pair of distributions whose
        ratios are these points. It is computed in fractions.
        """
        step = high / intervals * (1 + 8 * UNIT)
        epsilons = (step * np.arange(intervals + 1)).tolist()
        points = [(Fraction(0), Fraction(1))]
        for epsilon, bound in zip(epsilons[:0:-1], _bounds(reversed_curve, epsilons)[:0:-1], strict=True):
            order = Fraction(math.exp(-epsilon) * AT)
            points.append((order, 1 - order + order * Fraction(bound)))
        bounds = _bounds(curve, epsilons)
        points.append((Fraction(1), Fraction(bounds[0])))
        points += [(Fraction(math.exp(e) * AT), Fraction(b)) for e, b in zip(epsilons[1:], bounds[1:], strict=True)]
        orders, slopes = _convex_minorant(points)
        masses = np.zeros(2 * intervals + 1)
        index = {order: i for i, (order, _) in enumerate(points[1:])}
        for order, before, after in zip(orders[1:], slopes, [*slopes[1:], Fraction(0)], strict=True):
            masses[index[order]] = _coins.round_up(order * (after - before))
        return cls(step, masses, bounds[-1])

    def plus(self, other: LossGrid) -> ComposedLosses:
        """Return the distribution of the sum of two independent losses on grids of the same step."""
        sums = np.convolve(self.masses, other.masses)
        losses = self.step * (np.arange(len(sums)) - len(sums) // 2).astype(np.float64)
        slack = 4 * UNIT * len(sums) + 1e-12
        return ComposedLosses(losses, sums, np.ones_like(sums), 0.0, slack, self.infinite + other.infinite)

    def composed(self, rounds: int, delta: float) -> ComposedLosses:
        """Return the distribution of the sum of independent losses, most precise near the epsilon of `delta`."""
        from scipy.optimize import minimize_scalar

        center = len(self.masses) // 2
        some = self.masses > 0
        losses, logs = (np.arange(len(self.masses)) - center)[some] * self.step, np.log(self.masses[some])

        def moment(tilt: float) -> float:
            return float(np.logaddexp.reduce(logs + tilt * losses))

        # The epsilon of Chernoff's bound is smallest at this tilt. Every tilt is valid.
        reach = center * self.step
        found = minimize_scalar(
            lambda x: (rounds * moment(math.exp(x)) - math.log(delta)) / math.exp(x),
            bounds=(math.log(1e-4 / reach), math.log(1e3 / reach)),
            method="bounded",
        )
        tilt = math.exp(float(found.x))
        log_moment = moment(tilt)
        tilted = np.zeros(len(self.masses))
        tilted[some] = np.exp(logs + tilt * losses - log_moment)
        places = np.arange(len(tilted))
        mean = float(tilted @ places)
        deviation = math.sqrt(float(tilted @ (places - mean) ** 2))
        room = 2 * math.ceil(DEVIATIONS * deviation * math.sqrt(rounds)) + 4 * len(tilted)
        whole = rounds * (len(tilted) - 1) + 1
        length = 1 << (min(room, whole) - 1).bit_length()
        if length > MAX_LENGTH:
            raise ValueError(f"rounds must be smaller, got {rounds}: more than {MAX_LENGTH} losses")
        start = 0 if length >= whole else max(0, min(round(rounds * mean) - length // 2, whole - length))
        folded = np.bincount(places % length, tilted, length)
        sums_of_rounds = power(np.fft.rfft(folded), rounds)
        sums = np.maximum(np.roll(np.fft.irfft(sums_of_rounds, length), -(start % length)), 0.0)
        sums_at = self.step * (np.arange(start, start + length) - rounds * center).astype(np.float64)
        tail = 0.0
        if start + length < whole:  # Chernoff's bound of the sums above
            exponents = [rounds * moment(t) - t * sums_at[-1] for t in tilt * np.array([1.0, 1.5, 2.0, 3.0, 5.0])]
            tail = math.exp(min(0.0, min(exponents)))
        error = 1.1 * (2 * rounds + 1) * FOURIER_ERROR * math.log2(length) * float(np.linalg.norm(tilted))
        slack = 8 * UNIT * rounds * (tilt * reach + abs(log_moment) + len(tilted))
        weights = np.exp(np.minimum(rounds * log_moment - tilt * sums_at, LARGEST_LOG))
        return ComposedLosses(sums_at, sums, weights, error, slack + 1e-12, rounds * self.infinite + tail)


@dataclass(frozen=True)
class ComposedLosses:
    """Sum of the losses of several releases: loss ``losses[i]`` has probability ``sums[i] * weights[i]``."""

    losses: Floats
    sums: Floats
    weights: Floats
    error: float  # bound on the Euclidean norm of the error of `sums`
    slack: float  # bound on the relative error of all else
    infinite: float

    def delta(self, epsilon: float) -> float:
        """Return an upper bound on the delta at an epsilon."""
        above = self.losses > epsilon
        parts = self.weights[above] * -np.expm1(epsilon - self.losses[above])
        finite = float(self.sums[above] @ parts) + self.error * float(np.linalg.norm(parts))
        return min(1.0, (finite * math.exp(self.slack) + self.infinite) * (1 + 1e-10))

    def epsilon(self, delta: float, largest: float) -> float:
        """Return the smallest epsilon at which the bound is at most delta, rounded up; `largest` if there is none below."""
        from scipy.optimize import brentq

        if self.delta(0.0) <= delta:
            return 0.0
        if self.delta(largest) > delta:
            return largest
        root = brentq(lambda e: self.delta(e) - delta, 0.0, largest, xtol=1e-12 * largest)
        return float(raise_until(lambda e: self.delta(float(e)) <= delta, root, largest))


def reach(curve: Curve, largest: float, spare: float) -> float:
    """Return an epsilon from which on a decreasing bound is at most `spare`, or `largest`."""
    low, high = 0.0, largest
    while high - low > 0.02 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if curve(middle) <= spare else (middle, high)
    return high


def _bounds(curve: Curve, epsilons: list[float]) -> list[float]:
    """Return decreasing bounds at epsilons, of which the orders are rounded down."""
    return list(accumulate((min(1.0, curve(epsilon * AT)) for epsilon in epsilons), min))


def _convex_minorant(points: list[tuple[Fraction, Fraction]]) -> tuple[list[Fraction], list[Fraction]]:
    """Return the corners of the greatest convex function below points in ascending order, and the slopes between them."""
    corners: list[tuple[Fraction, Fraction]] = []
    slopes: list[Fraction] = []
    for x, y in points:
        while corners:
            slope = (y - corners[-1][1]) / (x - corners[-1][0])
            if not slopes or slopes[-1] < slope:
                slopes.append(slope)
                break
            corners.pop()
            slopes.pop()
        corners.append((x, y))
    return [x for x, _ in corners], slopes


def power(values: NDArray[np.complex128], exponent: int) -> NDArray[np.complex128]:
    """Return powers by squaring, so that the relative error is at most 3 units for each factor."""
    result = np.ones_like(values)
    while exponent:
        if exponent & 1:
            result = result * values
        exponent >>= 1
        if exponent:
            values = values * values
    return result
