"""What the discrete Laplace mechanisms share: records are rounded to a grid, and integer noise is added."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _coins
from .._core import privatize
from .._typing import AnyArray, Floats
from ..privacy import DatasetLaw, ReportLaw
from ..reports import Decoding, Grid
from ._draws import PeopleCounts, dot, multinomial, shares_of
from ._law import Law, NoExactFormError

if TYPE_CHECKING:
    from numpy.random import Generator

STEPS_PER_EPSILON = 1024  # grid steps in one unit of noise: rounding adds less than 1e-6 of the variance


def grid_steps(epsilon: float, dim: int = 1) -> int:
    """Return the number of grid steps of one coordinate, so that rounding adds a negligible variance."""
    steps = STEPS_PER_EPSILON * min(epsilon, 2.0**40) / dim  # _coins.geometric rejects epsilons far below 2^40
    return max(1, math.ceil(steps))


MAX_DIGITS = 20  # binary digits of noise that is drawn by the counts of all its values
ROUNDING_BITS = 16  # random bits that round a number to the grid
LAW_CELLS = {
    1: 512,
    2: 60,
    3: 11,
}  # of the law of a coordinate, by the number of coordinates: their product is computed


def numbers_of(records: AnyArray) -> AnyArray:
    """Return records, where they are the numbers that are rounded to the grid."""
    return records


def grid_noise(
    epsilon: float,
    use: str,
    *,
    dim: int,
    scalar: bool,
    lower: float,
    upper: float,
    span: int,
    diameter: int,
    changes: int,
    l1_limit: int = 0,
    radius: float = 0.0,
    numbers: Callable[[AnyArray], AnyArray] = numbers_of,
    dependence: str = "",
    law: type[GridNoiseLaw] | None = None,
) -> dict[str, Any]:
    """Return what follows from the grid and the coins, as arguments of `Mechanism.define`.

    Parameters
    ----------
    epsilon : float
    use : str
        Name of the random streams of the noise.
    dim : int
        Numbers per report.
    scalar : bool
        Whether a report is a single number, not a row of length 1.
    lower, upper : float
        Ends of the grid of one number.
    span : int
        Steps from `lower` to `upper`.
    diameter : int
        Largest l1 distance of two records after rounding, in steps.
    changes : int
        Largest number of coordinates in which two records can differ.
    l1_limit : int
        Limit of the l1 norm of a rounded row of the l2 ball, in steps; 0 for none.
    radius : float
        Radius of the l2 ball.
    numbers : callable
        Function from records to the numbers that are rounded to the grid.
    dependence : str
        Why the coordinates of a report are not independent, for an error; empty if they are.
    law : type, optional
        Class of the distribution, `GridNoiseLaw` by default.
    """
    grid = (upper - lower) / span
    coins = _coins.geometric(epsilon, diameter, span, changes)
    kernel = privatize.Laplace(dim, lower, upper, grid, span, l1_limit, radius, coins, use)
    if grid < 2.0**-48 * max(abs(lower), abs(upper)):
        raise ValueError(
            f"lower and upper must be closer to zero for doubles to hold the grid, got {lower!r} and {upper!r}"
        )
    noise = grid**2 * coins.noise_variance
    box = dim if not dependence and diameter == dim * span else None
    return {
        "epsilon_realized": coins.epsilon_realized,
        "report": Grid(dim, scalar, lower, grid, noise),
        "kernel": kernel,
        "law": (law or GridNoiseLaw)(lower, grid, noise, coins, numbers, dependence, box, span),
        "coin": coins,
        "grid": grid,
    }


@dataclass(frozen=True)
class GridNoiseLaw(Law):
    """The distribution of a number on a grid with two-sided geometric noise.

    Attributes
    ----------
    lower, grid : float
        Lower end of the grid, and its step.
    noise_variance : float
    coin : GeometricCoins
    numbers : callable
        Function from records to the numbers that are rounded to the grid.
    dependence : str
        Why the coordinates of a report are not independent; empty if they are.
    box : int or None
        Number of coordinates, if all of them can change from one end of the grid to the other.
    span : int
        Number of steps of the grid from one end to the other.
    """

    lower: float
    grid: float
    noise_variance: float
    coin: _coins.GeometricCoins
    numbers: Callable[[AnyArray], AnyArray]
    dependence: str
    box: int | None
    span: int

    def variance(self, decoding: Decoding, records: AnyArray) -> Floats:
        steps = (self.numbers(records).astype(np.float64) - self.lower) / self.grid
        part = steps - np.floor(steps)
        return np.asarray(self.noise_variance + self.grid**2 * part * (1 - part))

    def report_laws(self) -> list[ReportLaw] | None:
        # The grid is an image of the line, whose worst pair of records are the ends. Others are mixtures of two integers.
        if self.box is None or self.box not in LAW_CELLS:
            return None
        one = ReportLaw.of_laplace(
            _coins.round_up(Fraction(self.coin.epsilon_realized) / self.box), LAW_CELLS[self.box]
        )
        if self.box == 1:
            return [one.with_datasets(DatasetLaw.of_laplace(self.coin.epsilon_realized, self.span))]
        law = one
        for _ in range(self.box - 1):
            law = law.product(one)
        return [law]

    def draw(self, records: AnyArray, people: PeopleCounts, generator: Generator) -> AnyArray:
        """Return the sums of the integers of the reports and of their squares, as words of 64 bits.

        People whose numbers are rounded to the same index are counted by the sign and the digits of their noise.
        """
        if self.dependence:
            raise NoExactFormError(self.dependence)
        if self.coin.digits > MAX_DIGITS:
            raise NoExactFormError(f"its noise has more than 2^{MAX_DIGITS} values")
        numbers = self.numbers(records).reshape(len(records), -1)
        sums = [self._grid_sums(column, people, generator) for column in numbers.T]
        words = [
            (number >> shift) % _coins.WORD for part in zip(*sums, strict=True) for number in part for shift in (0, 64)
        ]
        return np.array(words, np.uint64).reshape(-1, 2)

    def _grid_sums(self, numbers: AnyArray, people: PeopleCounts, generator: Generator) -> tuple[int, int]:
        """Return the sums of the integers of one coordinate and of their squares."""
        steps = (numbers.astype(np.float64) - self.lower) * (1 / self.grid)
        parts = np.floor(steps * 2**ROUNDING_BITS + 0.5).astype(np.int64)  # as the kernel rounds them
        up = generator.binomial(people, (parts & (1 << ROUNDING_BITS) - 1) * 2.0**-ROUNDING_BITS)
        below = parts >> ROUNDING_BITS
        indices = np.concatenate([below, below + 1])
        points, place = np.unique(indices, return_inverse=True)
        here = np.zeros(len(points), np.int64)
        np.add.at(here, place, np.concatenate([people - up, up]))
        positive = generator.binomial(here, 0.5)
        total = square = 0
        for index, signed in zip(points.tolist(), np.column_stack([positive, here - positive]), strict=True):
            # A report is index + G or index - 1 - G, with G the geometric variable.
            for base, sign, count in ((index, 1, int(signed[0])), (index - 1, -1, int(signed[1]))):
                first, second = self._noise_sums(count, generator)
                total += count * base + sign * first
                square += count * base**2 + 2 * sign * base * first + second
        return total, square

    def _noise_sums(self, people: int, generator: Generator) -> tuple[int, int]:
        """Return the sums of the geometric variables of some people and of their squares."""
        coin = self.coin
        total = 0
        square = 0
        offset = 0
        values = np.arange(1 << coin.digits)
        while people:
            more = int(generator.binomial(people, coin.carry / _coins.WIDE))
            counts = np.array([people - more])
            for weights in reversed(coin.groups):
                counts = multinomial(generator, counts, shares_of(weights)).ravel()
            first, second = dot(counts, values), dot(counts, values**2)
            total += offset * (people - more) + first
            square += offset**2 * (people - more) + 2 * offset * first + second
            people, offset = more, offset + (1 << coin.digits)
        return total, square

    def worst_variance(self, decoding: Decoding) -> float:
        low, high = decoding.value_range
        return self.noise_variance + self.grid**2 / 4 + ((high - low) / 2) ** 2
