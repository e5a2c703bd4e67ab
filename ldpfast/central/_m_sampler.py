"""Continuous exponential mechanism for M-estimates: priors, and a rejection sampler without discretization error."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .. import _check
from .._core.stream import Stream, StreamId
from .._random import words
from .._typing import Floats
from ._m_psi import Sum

ACCEPTANCE = 0.9  # least share of accepted proposals
SPLITS = 8  # number of cells that are split together
PRIORS = ("uniform", "cauchy")


@dataclass(frozen=True)
class Prior:
    """Prior distribution of the estimate, uniform in the coordinate phi.

    Uniform: phi = theta in [lower, upper]. Cauchy: phi = atan((theta - center) / scale), where center and scale are the
    center and the half-width of [lower, upper]; lower and upper are the quartiles.
    """

    name: str
    lower: float
    upper: float

    @property
    def center(self) -> float:
        return self.lower + (self.upper - self.lower) / 2

    @property
    def scale(self) -> float:
        return (self.upper - self.lower) / 2

    @property
    def ends(self) -> tuple[float, float]:
        """Range of phi."""
        return (self.lower, self.upper) if self.name == "uniform" else (-math.pi / 2, math.pi / 2)

    def theta(self, phi: Floats) -> Floats:
        return phi if self.name == "uniform" else self.center + self.scale * np.tan(phi)


class Uniforms:
    """Buffered odd multiples of 2^-53, uniform in (0, 1), from a stream."""

    def __init__(self, stream: Stream) -> None:
        self.stream, self.left = stream, np.empty(0)

    def draw(self, count: int) -> list[float]:
        if len(self.left) < count:
            fresh = words(self.stream, StreamId.M_ESTIMATE, 128)
            self.left = ((fresh >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
        drawn, self.left = self.left[:count], self.left[count:]
        return list(drawn.tolist())


def _draw_index(masses: Floats, u: float) -> int:
    """Return index k with probability masses[k] / sum."""
    sums = np.cumsum(masses)
    return min(int(np.searchsorted(sums, u * sums[-1], "right")), int(np.flatnonzero(masses)[-1]))


class MonotoneEM:
    """Sampler of the density exp(-kappa |S(theta)|) with respect to a prior, for a nondecreasing S.

    The density lies between two step functions on cells of phi. On a cell without the root of S, they are its values at
    the ends; on the cell with the root, the upper one is 1. Cells are split until the mass of the lower step function
    is at least 0.9 of that of the upper one. This certifies the acceptance rate of a rejection sampler, which has no
    discretization error.

    Parameters
    ----------
    total : callable
        S as a function of an array of thetas.
    kappa : float
        Factor of the exponent.
    prior : Prior

    Attributes
    ----------
    evaluations : int
        Number of evaluations of S so far.
    """

    def __init__(self, total: Sum, kappa: float, prior: Prior) -> None:
        self.total = total
        self.kappa = kappa
        self.prior = prior
        self.evaluations = 0
        self.phi = np.linspace(*prior.ends, 2 * SPLITS + 1)
        self.exponent = self._exponent(self.phi)
        while not self._is_tight():
            self._split()

    def _exponent(self, phi: Floats) -> Floats:
        """Return kappa S: its sign gives the side of the root, its size is minus the logarithm of the density."""
        self.evaluations += len(phi)
        return self.kappa * self.total(self.prior.theta(phi))

    def _is_tight(self) -> bool:
        """Compute both step functions, and return whether the ratio of their masses is at least `ACCEPTANCE`."""
        left, right = self.exponent[:-1], self.exponent[1:]
        width = np.diff(self.phi)
        middle = self.phi[:-1] + width / 2
        # A cell without a double inside has the smaller of the densities at its ends: where S jumps, its value at the
        # jump may belong to no interval.
        self.splits = (middle > self.phi[:-1]) & (middle < self.phi[1:])
        self.lower = -np.maximum(np.abs(left), np.abs(right))
        self.upper = np.where((left < 0) & (right > 0), 0.0, -np.minimum(np.abs(left), np.abs(right)))
        self.upper = np.where(self.splits, self.upper, self.lower)
        top = self.upper.max()
        self.above, below = width * np.exp(self.upper - top), width * np.exp(self.lower - top)
        self.gap = np.where(self.splits, self.above - below, 0.0)
        return bool(below.sum() >= ACCEPTANCE * self.above.sum())

    def _split(self) -> None:
        """Halve up to `SPLITS` cells with the largest differences of masses, each at least a quarter of the largest."""
        worst = np.argsort(self.gap)[-SPLITS:]
        worst = np.sort(worst[self.gap[worst] >= 0.25 * self.gap[worst[-1]]])
        middle = self.phi[worst] + (self.phi[worst + 1] - self.phi[worst]) / 2
        self.phi = np.insert(self.phi, worst + 1, middle)
        self.exponent = np.insert(self.exponent, worst + 1, self._exponent(middle))

    def sample(self, draws: Uniforms) -> float:
        """Draw one theta."""
        while True:
            u, v, w = draws.draw(3)
            k = _draw_index(self.above, u)
            phi = np.array([self.phi[k] + v * (self.phi[k + 1] - self.phi[k])])
            log = math.log(w) + float(self.upper[k])
            if log <= self.lower[k] or log <= -abs(float(self._exponent(phi)[0])):
                return float(self.prior.theta(phi)[0])


def check_epsilon(epsilon: float) -> float:
    """Return epsilon, if it is in (0, 1e6]."""
    number = _check.positive("epsilon", epsilon)
    if number > 1e6:
        raise ValueError(f"epsilon must be at most 1e6, got {epsilon!r}")
    return number
