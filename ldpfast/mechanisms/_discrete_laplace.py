"""What the discrete Laplace mechanisms have in common: records are rounded to a grid and get integer noise."""

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
    """Grid steps of one coordinate: so many that the rounding of records adds a negligible variance."""
    steps = STEPS_PER_EPSILON * min(epsilon, 2.0**40) / dim  # coins are refused far below 2^40
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
        """Set what follows from the grid and the coins.

        Parameters
        ----------
        domain : Domain
        use : str
            Which streams the noise comes from.
        dim : int
            Numbers of a report; `scalar`: a report is one number.
        lower, upper : float
            Ends of the grid of one number, `span` steps apart.
        diameter : int
            Largest l1 distance of two records, in steps, after rounding.
        changes : int
            In how many numbers two records can differ.
        l1_limit, radius
            For rows of the l2 ball: the limit of the l1 norm of a rounded row, and the radius.
        """
        grid = (upper - lower) / span
        coins = _coins.geometric(self.epsilon, diameter, span, changes)
        kernel = privatize.Laplace(dim, lower, grid, span, l1_limit, radius, coins.digits, coins.carry, use)
        self.define(
            epsilon_realized=coins.epsilon_realized,
            domain=domain,
            report=Grid(dim, scalar, lower, grid, grid**2 * coins.noise_variance),
            kernel=kernel,
            grid=grid,
        )
        if grid < 2.0**-48 * max(abs(lower), abs(upper)):
            raise ValueError(
                f"lower and upper must be closer to zero for doubles to hold the grid, got {lower!r} and {upper!r}"
            )

    def numbers(self, records: AnyArray) -> AnyArray:
        """The numbers that are rounded to the grid."""
        return records

    def report_variance(self, records: AnyArray) -> Floats:
        steps = (self.numbers(records).astype(np.float64) - self.report.lower) / self.grid
        part = steps - np.floor(steps)
        return np.asarray(self.report.noise_variance + self.grid**2 * part * (1 - part))

    @property
    def worst_variance(self) -> float:
        low, high = self._span()
        return self.report.noise_variance + self.grid**2 / 4 + ((high - low) / 2) ** 2

    def _span(self) -> tuple[float, float]:
        """Ends of the interval of one number."""
        return self.domain.range
