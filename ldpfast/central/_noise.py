"""Integer noise for a sum on a public grid: how much each definition of privacy asks for.

Rows of the l2 ball are added up as integers, in steps of radius 2^-40 (the fine grid). The total is rounded to a coarser grid
by one uniform offset per coordinate, and integer noise is added there. A replaced row moves the total by so many coarse steps,
the one of the rounding included; everything below is about integers, so it holds for what is released. docs/proofs/central.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .. import _coins
from .._core import noise
from .._core.stream import Stream
from .._random import ROUNDING, words
from ..privacy import Guarantee, concentrated_rho, gaussian_delta, kl_for_tv

FINE = 1 << 40  # steps in a radius
STEPS = 1024  # coarse steps in a diameter, times the root of the dimension: rounding costs a thousandth of the noise
MOST_VARIANCE = 1 << 48
MOST_NOISE = 1 << 47  # the kernel of the noise stops there
MOST_EPSILON = 64.0  # of Laplace noise: beyond, a coin of 128 bits is rounded to zero


@dataclass(frozen=True)
class Grid:
    """The coarse grid of a sum: `step` fine steps each, and by how many of them a replaced row can move the sum."""

    dim: int
    step: int

    @classmethod
    def of(cls, dim: int, steps: int) -> Grid:
        return cls(dim, max(1, 2 * FINE // (steps * _root(dim))))

    @property
    def _fine(self) -> int:
        """The l2 diameter of rows on the fine grid: projection and rounding of the coordinates included."""
        return 2 * FINE if self.dim == 1 else 2 * FINE + (FINE >> 19) + _root(self.dim)

    @property
    def span(self) -> int:
        """Of one coordinate."""
        return self._fine // self.step + 1

    @property
    def l1(self) -> int:
        return math.floor(self._fine * _precise_root(self.dim) / self.step) + self.dim

    @property
    def l2_squared(self) -> Fraction:
        """Of the l2 diameter: that of the rows, and one step more in each coordinate."""
        if self.dim == 1:
            return Fraction(self.span**2)
        return (Fraction(self._fine, self.step) + _precise_root(self.dim)) ** 2

    def limit(self, n: int) -> int:
        """What a sum of n rows with noise is clamped to: the noise itself is cut off nowhere short of that."""
        limit = MOST_NOISE - n * (-(-FINE // self.step) + 1) - 1
        if limit <= 0:
            raise ValueError(f"x must hold fewer records for integers of 48 bits, got {n}")
        return limit

    def round(self, total: NDArray[np.object_], stream: Stream) -> list[int]:
        """Integers on the coarse grid from integers on the fine one: up or down at random, so that the mean is kept."""
        offsets = words(stream, ROUNDING, self.dim).tolist()
        return [(s + (word * self.step >> 64)) // self.step for s, word in zip(total, offsets, strict=True)]


def _root(dim: int) -> int:
    """The square root, rounded up."""
    return math.isqrt(dim - 1) + 1


def _precise_root(dim: int) -> Fraction:
    """The same, rounded up to a multiple of 2^-32."""
    return Fraction(math.isqrt((dim << 64) - 1) + 1, 1 << 32)


@dataclass(frozen=True)
class Noise:
    """Integer noise on a grid, with what it guarantees."""

    grid: Grid
    guarantee: Guarantee
    variance: float  # of one coordinate, in squared coarse steps
    coins: _coins.GeometricCoins | None  # of Laplace noise; None: Gaussian
    parameter: int = 0  # sigma^2 of discrete Gaussian noise

    def draw(self, stream: Stream) -> NDArray[np.float64]:
        """One number per coordinate, of mean 0: integers, plus 1/2 for Laplace noise."""
        dim = self.grid.dim
        if self.coins is None:
            integers = np.empty(dim, np.int64)
            noise.gaussian(stream, stream.take(1), self.parameter, integers)
            return integers.astype(np.float64)
        return laplace_numbers(self.coins, dim, stream)


def laplace_numbers(coins: _coins.GeometricCoins, count: int, stream: Stream) -> NDArray[np.float64]:
    """Integers of Laplace noise plus 1/2, which have mean 0: reports of the record 0."""
    kernel, numbers = noise.Laplace(1, 0.0, 1.0, 1, 0, 0.0, coins.digits, coins.carry, "central"), np.empty(count)
    kernel.privatize(stream, stream.take(-(-count // kernel.rows)), np.zeros(count), numbers)
    return numbers


def laplace(definition: str, epsilon: float, dim: int) -> Noise:
    """Noise for the l1 diameter of the grid: pure, and smooth for the distance of rows in the l2 ball.

    Smooth: with random rounding, moving a coordinate by a part of a step changes the logarithm of a chance by at most
    exp(rate) - 1 per step, which epsilon / 2 steps more pay for.
    """
    if epsilon > MOST_EPSILON:
        raise ValueError(f"epsilon must be at most {MOST_EPSILON:g} for privacy={definition!r}, got {epsilon!r}")
    steps, more = STEPS * max(1, math.ceil(epsilon)), math.ceil(epsilon / 2) if definition == "smooth" else 0
    while True:
        grid = Grid.of(dim, steps)
        try:
            coins = _coins.geometric(epsilon, grid.l1 + more, grid.span, dim)
        except ValueError:  # more binary digits than there are
            if steps <= STEPS // 64:
                raise
            steps //= 2
            continue
        return Noise(grid, Guarantee(definition, coins.epsilon_realized), coins.noise_variance, coins)


def gaussian(definition: str, epsilon: float, delta: float, dim: int) -> Noise:
    """Noise for the l2 diameter of the grid: approximate, KL or total variation."""
    steps = STEPS
    while True:
        grid = Grid.of(dim, steps)
        parameter = _parameter(definition, epsilon, delta, grid)
        if parameter <= MOST_VARIANCE:
            guarantee = Guarantee(definition, epsilon, delta)
            return Noise(grid, guarantee, float(parameter), None, parameter)
        if steps == 1:
            raise ValueError(f"epsilon must be larger, for {dim} coordinates, got {epsilon!r}")
        steps //= 2


def _parameter(definition: str, epsilon: float, delta: float, grid: Grid) -> int:
    """The least sigma^2 that gives what is asked for."""
    if grid.dim > 1 or definition == "kl":
        divergence = {  # of a shift by integers it is that of the continuous law: exact
            "kl": lambda: epsilon,
            "tv": lambda: float(kl_for_tv(epsilon)) * (1 - 1e-12),
            "approximate": lambda: float(concentrated_rho(epsilon, delta)),
        }[definition]()
        return max(1, math.ceil(grid.l2_squared / (2 * Fraction(divergence))))
    level, allowed = (epsilon, delta) if definition == "approximate" else (0.0, epsilon)
    low, high = 0, 1
    while high <= MOST_VARIANCE and discrete_delta(level, grid.span, math.sqrt(high)) > allowed:
        low, high = high, 2 * high
    while high - low > 1 and high <= MOST_VARIANCE:
        middle = (low + high) // 2
        if discrete_delta(level, grid.span, math.sqrt(middle)) <= allowed:
            high = middle
        else:
            low = middle
    return high


def discrete_delta(epsilon: float, shift: float, sigma: float) -> float:
    """An upper bound of the hockey-stick divergence of the discrete Gaussian law from itself, moved by an integer.

    The sum of a function with one peak is at most its integral plus its peak, and the discrete law has at most the density of
    the continuous one: its normaliser is larger.
    """
    edge = shift / (2 * sigma) - epsilon * sigma / shift  # where the two laws are exp(epsilon) apart
    peak = math.exp(-0.5 * min(edge, 0.0) ** 2) / (math.sqrt(2 * math.pi) * sigma)
    return float(gaussian_delta(epsilon, sigma, shift)) * (1 + 1e-9) + peak
