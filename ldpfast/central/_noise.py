"""Sums on a public grid, and integer noise for them.

Rows of the l2 ball are added up as integers, in steps of radius 2^-40 (the fine grid). The sum is rounded to a coarser
grid with one uniform offset per coordinate, and integer noise is added there. A replaced row moves the sum by a number
of coarse steps, with one more for the rounding. All statements are about integers, so they hold for what is released.
docs/proofs/central.md.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .. import _coins
from .._core import noise, privatize
from .._core.stream import Stream
from .._random import ROUNDING, words
from .._typing import Floats
from ..privacy import Guarantee

FINE = 1 << 40  # steps in a radius
STEPS = 1024  # coarse steps in a diameter, times the root of the dimension: rounding adds a thousandth of the noise
MOST_NOISE = 1 << 47  # the kernel of the noise clamps to this


@dataclass(frozen=True)
class Grid:
    """The coarse grid of a sum, with the distances by which a replaced row can move the sum.

    Attributes
    ----------
    dim : int
    step : int
        Fine steps in a coarse step.
    """

    dim: int
    step: int

    @classmethod
    def of(cls, dim: int, steps: int) -> Grid:
        return cls(dim, max(1, 2 * FINE // (steps * _root(dim))))

    @property
    def _fine(self) -> int:
        """The l2 diameter of rows on the fine grid, with projection and rounding of the coordinates."""
        return 2 * FINE if self.dim == 1 else 2 * FINE + (FINE >> 19) + _root(self.dim)

    @property
    def span(self) -> int:
        """Largest change of one coordinate, in coarse steps."""
        return self._fine // self.step + 1

    @property
    def l1(self) -> int:
        """Largest l1 distance, in coarse steps."""
        return math.floor(self._fine * _precise_root(self.dim) / self.step) + self.dim

    @property
    def l2_squared(self) -> Fraction:
        """Square of the largest l2 distance, in coarse steps: that of the rows, and one step in each coordinate."""
        if self.dim == 1:
            return Fraction(self.span**2)
        return (Fraction(self._fine, self.step) + _precise_root(self.dim)) ** 2

    def limit(self, n: int) -> int:
        """What a sum of n rows with noise is clamped to; the noise itself is clamped only beyond that."""
        limit = MOST_NOISE - n * (-(-FINE // self.step) + 1) - 1
        if limit <= 0:
            raise ValueError(f"x must hold fewer records for integers of 48 bits, got {n}")
        return limit

    def round(self, total: NDArray[np.object_], stream: Stream) -> list[int]:
        """Integers on the coarse grid from integers on the fine grid, rounded up or down at random, so that the mean is kept."""
        offsets = words(stream, ROUNDING, self.dim).tolist()
        return [(s + (word * self.step >> 64)) // self.step for s, word in zip(total, offsets, strict=True)]


def _root(dim: int) -> int:
    """The square root, rounded up."""
    return math.isqrt(dim - 1) + 1


def _precise_root(dim: int) -> Fraction:
    """The square root, rounded up to a multiple of 2^-32."""
    return Fraction(math.isqrt((dim << 64) - 1) + 1, 1 << 32)


@dataclass(frozen=True)
class Noise(ABC):
    """Integer noise on a grid.

    Attributes
    ----------
    grid : Grid
    guarantee : privacy.Guarantee
        What it guarantees for a sum on the grid.
    variance : float
        Of one coordinate, in squared coarse steps.
    """

    grid: Grid
    guarantee: Guarantee
    variance: float

    @abstractmethod
    def draw(self, stream: Stream) -> Floats:
        """One number of mean 0 per coordinate."""


@dataclass(frozen=True)
class LaplaceNoise(Noise):
    """Two-sided geometric noise: integers plus 1/2, which have mean 0."""

    coins: _coins.GeometricCoins

    def draw(self, stream: Stream) -> Floats:
        return laplace_numbers(self.coins, self.grid.dim, stream)


@dataclass(frozen=True)
class GaussianNoise(Noise):
    """Discrete Gaussian noise of the given variance parameter."""

    parameter: int

    def draw(self, stream: Stream) -> Floats:
        integers = np.empty(self.grid.dim, np.int64)
        noise.gaussian(stream, stream.take(1), self.parameter, integers)
        return integers.astype(np.float64)


def laplace_numbers(coins: _coins.GeometricCoins, count: int, stream: Stream) -> Floats:
    """Integers of Laplace noise plus 1/2, which have mean 0: the reports of the record 0."""
    kernel = privatize.Laplace(1, 0.0, 1.0, 1, 0, 0.0, coins.digits, coins.carry, "central")
    numbers = np.empty(count)
    kernel.privatize(stream, stream.take(-(-count // kernel.rows)), np.zeros(count), numbers)
    return numbers
