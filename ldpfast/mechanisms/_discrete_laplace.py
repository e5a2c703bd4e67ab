"""Base class of the discrete Laplace mechanisms, which round records to a grid and add integer noise."""

from __future__ import annotations

import math

import numpy as np

from .. import _coins
from .._core import privatize
from .._typing import AnyArray, Floats
from ..domains import Domain
from ..reports import Grid
from ._base import Mechanism

STEPS_PER_EPSILON = 1024  # grid steps in one unit of noise: rounding adds less than 1e-6 of the variance


def grid_steps(epsilon: float, dim: int = 1) -> int:
    """Return the number of grid steps of one coordinate, so that rounding adds a negligible variance."""
    steps = STEPS_PER_EPSILON * min(epsilon, 2.0**40) / dim  # _coins.geometric rejects epsilons far below 2^40
    return max(1, math.ceil(steps))


class DiscreteLaplace(Mechanism):
    """A mechanism that adds two-sided geometric noise to numbers on a grid.

    Attributes
    ----------
    grid : float
        Step of the grid.
    """

    report: Grid
    grid: float

    def define_noise(
        self,
        domain: Domain,
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
    ) -> None:
        """Set the attributes that follow from the grid and the coins.

        Parameters
        ----------
        domain : Domain
            Domain of records.
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
        """
        grid = (upper - lower) / span
        coins = _coins.geometric(self.epsilon, diameter, span, changes)
        kernel = privatize.Laplace(dim, lower, upper, grid, span, l1_limit, radius, coins, use)
        self.define(
            epsilon_realized=coins.epsilon_realized,
            domain=domain,
            report=Grid(dim, scalar, lower, grid, grid**2 * coins.noise_variance),
            kernel=kernel,
            coin=coins,
            grid=grid,
        )
        if grid < 2.0**-48 * max(abs(lower), abs(upper)):
            raise ValueError(
                f"lower and upper must be closer to zero for doubles to hold the grid, got {lower!r} and {upper!r}"
            )

    def numbers(self, records: AnyArray) -> AnyArray:
        """Return the numbers that are rounded to the grid."""
        return records

    def report_variance(self, records: AnyArray) -> Floats:
        steps = (self.numbers(records).astype(np.float64) - self.report.lower) / self.grid
        part = steps - np.floor(steps)
        return np.asarray(self.report.noise_variance + self.grid**2 * part * (1 - part))

    @property
    def worst_variance(self) -> float:
        low, high = self.value_range
        return self.report.noise_variance + self.grid**2 / 4 + ((high - low) / 2) ** 2
