"""Sums on a public grid, and integer noise for them.

Rows of the l2 ball are added as integers, in steps of radius 2^-40 (the fine grid). The sum is rounded to a coarser
grid with one uniform offset per coordinate, and integer noise is added there. A replaced row moves the sum by a bounded
number of coarse steps, plus one for the rounding. All statements are about integers, so they hold for the released
values. See docs/proofs/central.md.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .. import _coins
from .._core import noise, privatize
from .._core.stream import Stream, StreamId
from .._random import words
from .._typing import Floats
from ..privacy import Guarantee
from ._rounded_noise import ball_laplace

FINE = 1 << 40  # fine steps in a radius
STEPS = 1024  # coarse steps in a diameter, times the root of the dimension; rounding adds 1/1000 of the noise
MAX_NOISE = 1 << 47  # limit to which the kernel clamps the noise


@dataclass(frozen=True)
class SumGrid:
    """Coarse grid of a sum, with the distances by which a replaced row can move the sum.

    Attributes
    ----------
    dim : int
        Number of coordinates.
    step : int
        Number of fine steps in a coarse step.
    """

    dim: int
    step: int

    @classmethod
    def of(cls, dim: int, steps: int) -> SumGrid:
        """Return the grid with `steps` sqrt(dim) coarse steps in a diameter, the root rounded up."""
        return cls(dim, max(1, 2 * FINE // (steps * _root(dim))))

    @property
    def diameter(self) -> int:
        """Largest l2 distance of two rows in fine steps, including the errors of projection and rounding."""
        return 2 * FINE if self.dim == 1 else 2 * FINE + (FINE >> 19) + _root(self.dim)

    @property
    def span(self) -> int:
        """Largest change of one coordinate, in coarse steps."""
        return self.diameter // self.step + 1

    @property
    def l1(self) -> int:
        """Largest l1 distance, in coarse steps."""
        return math.floor(self.diameter * _precise_root(self.dim) / self.step) + self.dim

    @property
    def l2_squared(self) -> Fraction:
        """Square of the largest l2 distance, in coarse steps: that of the rows plus one step in each coordinate."""
        if self.dim == 1:
            return Fraction(self.span**2)
        return (Fraction(self.diameter, self.step) + _precise_root(self.dim)) ** 2

    def limit(self, n: int) -> int:
        """Return the limit to which a noisy sum of n rows is clamped.

        The noise itself is clamped only beyond this limit.
        """
        limit = MAX_NOISE - n * (-(-FINE // self.step) + 1) - 1
        if limit <= 0:
            raise ValueError(f"x must hold fewer records for integers of 48 bits, got {n}")
        return limit

    def round(self, total: NDArray[np.object_], stream: Stream) -> list[int]:
        """Round integers on the fine grid to the coarse grid, up or down at random with the same mean."""
        offsets = words(stream, StreamId.CENTRAL_ROUNDING, self.dim).tolist()
        return [(s + (word * self.step >> 64)) // self.step for s, word in zip(total, offsets, strict=True)]


def _root(dim: int) -> int:
    """Return the square root, rounded up."""
    return math.isqrt(dim - 1) + 1


def _precise_root(dim: int) -> Fraction:
    """Return the square root, rounded up to a multiple of 2^-32."""
    return Fraction(math.isqrt((dim << 64) - 1) + 1, 1 << 32)


@dataclass(frozen=True)
class Noise(ABC):
    """Integer noise on a grid.

    Attributes
    ----------
    grid : SumGrid
    guarantee : privacy.Guarantee
        Guarantee for a sum on the grid.
    variance : float
        Variance of one coordinate, in squared coarse steps.
    """

    grid: SumGrid
    guarantee: Guarantee
    variance: float

    @abstractmethod
    def add(self, total: NDArray[np.object_], n: int, stream: Stream) -> Floats:
        """Return a sum of n rows on the fine grid with noise of mean 0, in coarse steps."""


class ClampedNoise(Noise):
    """Noise for a sum that is rounded to the coarse grid and clamped to its `limit` after the noise."""

    def add(self, total: NDArray[np.object_], n: int, stream: Stream) -> Floats:
        limit = self.grid.limit(n)
        rounded = np.array(self.grid.round(total, stream), np.float64)
        return np.clip(rounded + self.draw(stream), -limit, limit)

    @abstractmethod
    def draw(self, stream: Stream) -> Floats:
        """Draw one number of mean 0 per coordinate."""


@dataclass(frozen=True)
class LaplaceNoise(ClampedNoise):
    """Two-sided geometric noise: integers plus 1/2, with mean 0."""

    coins: _coins.GeometricCoins

    def draw(self, stream: Stream) -> Floats:
        return laplace_numbers(self.coins, self.grid.dim, stream)


@dataclass(frozen=True)
class BallNoise(Noise):
    """Noise with density proportional to exp(-|w| / scale), rounded down, for a sum on the fine grid itself."""

    scale: Decimal

    @classmethod
    def of(cls, dim: int, guarantee: Guarantee) -> BallNoise:
        """Return the noise with the epsilon of a guarantee."""
        grid = SumGrid(dim, 1)
        with localcontext(Context(prec=60, rounding=ROUND_CEILING)):
            scale = Decimal(grid.diameter) / Decimal(guarantee.epsilon)
        return cls(grid, guarantee, (dim + 1) * float(scale) ** 2, scale)

    def add(self, total: NDArray[np.object_], n: int, stream: Stream) -> Floats:
        drawn = ball_laplace(self.grid.dim, self.scale, stream, StreamId.CENTRAL_BALL)
        return np.array([s + w + 0.5 for s, w in zip(total, drawn, strict=True)])


@dataclass(frozen=True)
class GaussianNoise(ClampedNoise):
    """Discrete Gaussian noise with the given variance parameter."""

    parameter: int

    def draw(self, stream: Stream) -> Floats:
        integers = np.empty(self.grid.dim, np.int64)
        noise.gaussian(stream, stream.take(1), self.parameter, integers)
        return integers.astype(np.float64)


def laplace_numbers(coins: _coins.GeometricCoins, count: int, stream: Stream) -> Floats:
    """Draw integers of Laplace noise plus 1/2, with mean 0. They are the reports of the record 0."""
    kernel = privatize.Laplace(1, 0.0, 1.0, 1.0, 1, 0, 0.0, coins, "central")
    numbers = np.empty(count)
    kernel.privatize(stream, stream.take(-(-count // kernel.rows)), np.zeros(count), numbers)
    return numbers
