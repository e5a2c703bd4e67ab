"""What the positions and answers of a quantile protocol tell, in constant memory: their mean, and where the quantile may be.

The first positions are on their way from the start and would bias the mean, so they are left out: the largest power of two up
to a quarter of all, so that nobody has to know beforehand when the last person has answered. Sums are kept by segments that
end at powers of two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..results import Floats

WINDOW = 3.0  # standard deviations of the positions: how far the fitted parabola is believed
GRID = 400  # places on each side where it is compared with the level, before bisection


class Segment(NamedTuple):
    """Sums over `size` positions, at distances u from `origin`: of u, ..., u^4, and over the answers 1 of 1, u, u^2."""

    origin: float
    size: int
    moments: Floats
    ones: Floats

    def seen_from(self, origin: float) -> Segment:
        """The same positions at distances from another origin."""
        d, m, y = self.origin - origin, np.concatenate([[self.size], self.moments]), self.ones
        moments = [sum(math.comb(k, j) * d ** (k - j) * m[j] for j in range(k + 1)) for k in range(1, 5)]
        ones = [y[0], y[1] + d * y[0], y[2] + 2 * d * y[1] + d**2 * y[0]]
        return Segment(origin, self.size, np.array(moments), np.array(ones))


@dataclass(frozen=True)
class Crossing:
    """Where the chance to answer 1, a falling function of the position, crosses its known level at the quantile.

    A parabola is fitted to the answers around the mean of the positions; a place is in the interval where the fit does not
    differ from the level by more than its standard error allows. The chance is monotone, so beyond a place that is rejected
    everything is, and where nothing is rejected the interval reaches to the end of [lower, upper]. The value, a mean of
    positions with a bias of its own, is always inside.
    """

    lower: float
    upper: float
    centre: float
    scale: float  # standard deviation of the positions
    coefficients: Floats = field(repr=False)  # of 1, v, v^2 with v = (position - centre) / scale
    inverse: Floats = field(repr=False)  # covariance of the coefficients
    level: float

    def excess(self, v: Any) -> tuple[Any, Any]:
        """Fitted chance minus level, and its standard error."""
        powers = np.stack([np.ones_like(v), v, v**2])
        variance = np.einsum("i...,ij,j...->...", powers, self.inverse, powers)
        return np.tensordot(self.coefficients, powers, 1) - self.level, np.sqrt(np.maximum(variance, 0))

    def root(self) -> tuple[float, float]:
        """The crossing and its standard error; infinite where the fit does not fall."""
        v = np.linspace(-WINDOW, WINDOW, 2 * GRID + 1)
        excess, _ = self.excess(v)
        at = int(np.argmin(np.abs(excess)))
        place = float(v[at])
        slope = float(self.coefficients[1] + 2 * self.coefficients[2] * place)
        if not slope < 0:
            return self.centre + self.scale * place, math.inf
        exact, error = self.excess(np.array(place))
        place = min(max(place - float(exact) / slope, -WINDOW), WINDOW)
        return self.centre + self.scale * place, float(error) / -slope * self.scale

    def bounds(self, value: Floats, stderr: Floats, tail: float) -> tuple[Floats, Floats]:
        from scipy.special import ndtri

        z, (root, _) = -ndtri(tail), self.root()
        start = (root - self.centre) / self.scale

        def rejected(v: Any) -> Any:
            excess, error = self.excess(v)
            return np.abs(excess) > z * error

        excess, _ = self.excess(np.linspace(-WINDOW, WINDOW, 2 * GRID + 1))
        if (excess > 0).all():  # everywhere most people are above: the quantile is not below the positions
            return np.minimum(root, value), np.maximum(self.upper, value)
        if (excess < 0).all():
            return np.minimum(self.lower, value), np.maximum(root, value)
        ends = []
        for end, limit in ((-WINDOW, self.lower), (WINDOW, self.upper)):
            places = np.linspace(start, end, GRID)
            bad = rejected(places)
            if not bad.any():
                ends.append(limit)
                continue
            first = int(np.argmax(bad))
            inside, outside = places[max(first - 1, 0)], places[first]
            for _ in range(40):
                middle = (inside + outside) / 2
                inside, outside = (inside, middle) if rejected(middle) else (middle, outside)
            ends.append(min(max(self.centre + self.scale * inside, self.lower), self.upper))
        return np.minimum(ends[0], value), np.maximum(ends[1], value)


class Answers:
    """The answers so far.

    Attributes
    ----------
    origin, moments, ones
        Of the segment that is open: kernels add to its sums.
    count : int
        Answers in all.
    """

    def __init__(self, origin: float) -> None:
        self._closed: list[Segment] = []
        self.origin = origin
        self.moments, self.ones = np.zeros(4), np.zeros(3)
        self._size = self.count = 0

    def copy(self) -> Answers:
        """Another one with the same sums: what is added to it is not added here."""
        other = Answers(self.origin)
        other._closed, other._size, other.count = list(self._closed), self._size, self.count
        other.moments, other.ones = self.moments.copy(), self.ones.copy()
        return other

    @property
    def room(self) -> int:
        """How many answers the open segment takes until it ends, at a power of two."""
        return (1 << self.count.bit_length()) - self.count if self.count else 1

    def added(self, n: int, position: float) -> None:
        """The kernel has added n answers, at most `room`; `position` is where it is now."""
        self._size += n
        self.count += n
        if self.count & (self.count - 1) == 0:
            self._closed.append(Segment(self.origin, self._size, self.moments, self.ones))
            self.moments, self.ones, self._size, self.origin = np.zeros(4), np.zeros(3), 0, position

    def _kept(self) -> Segment:
        """The positions that count, at distances from their mean."""
        segments = [*self._closed, Segment(self.origin, self._size, self.moments, self.ones)]
        start = 1 << (self.count // 4).bit_length() - 1 if self.count >= 4 else 0
        while start > 0:
            start -= segments.pop(0).size
        size = sum(segment.size for segment in segments)
        last = segments[-1].origin
        mean = last + sum(float(s.moments[0]) + s.size * (s.origin - last) for s in segments) / size
        near = [segment.seen_from(mean) for segment in segments]
        moments, ones = sum(s.moments for s in near), sum(s.ones for s in near)
        return Segment(mean, size, np.asarray(moments), np.asarray(ones))

    def mean(self) -> float:
        """Of the positions that count."""
        return self._kept().origin

    def crossing(self, lower: float, upper: float, level: float) -> Crossing | None:
        """Where the answers put the quantile, if `level` is the chance to answer 1 there; None where they cannot tell.

        The answers given their positions are independent, with a variance that is level (1 - level) near the quantile.
        """
        mean, n, moments, ones = self._kept()
        scale = math.sqrt(max(float(moments[1]), 0.0) / n)
        if n < 8 or not scale > 1e-9 * (upper - lower):
            return None
        powers = np.concatenate([[n], moments]) / scale ** np.arange(5) / n
        design = np.array([[powers[i + j] for j in range(3)] for i in range(3)])
        if np.linalg.cond(design) > 1e9:
            return None
        inverse: NDArray[np.float64] = np.linalg.inv(design)
        coefficients = inverse @ (ones / scale ** np.arange(3) / n)
        return Crossing(lower, upper, mean, scale, coefficients, inverse * (level * (1 - level) / n), level)
