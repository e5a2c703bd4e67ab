"""Mechanisms for a number in an interval: one bit, or integer noise on a grid."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .. import _check, _coins
from .._core import codes, noise
from ..results import Debiasing
from ._base import AnyArray, Mechanism
from ._domains import Interval
from ._reports import Codes, Grid

STEPS_PER_EPSILON = 1024  # grid steps in one unit of noise: rounding adds less than 1e-6 of the variance


@dataclass(frozen=True)
class SignBit(Mechanism):
    """One bit per number: toward upper with a probability that grows with the number.

    Parameters
    ----------
    lower, upper : float
        Ends of the interval, finite, lower < upper.
    epsilon : float
        Privacy parameter, > 0 and at most about 44.3.

    Raises
    ------
    TypeError, ValueError
        If `lower` and `upper` are not finite with lower < upper; if `epsilon` is not a finite number > 0 that a coin of 64
        bits can certify.

    Notes
    -----
    Records: floats in [lower, upper], shape (n,). Reports: uint8, 1 is toward upper. With r the half width, c the centre and
    h = coth(epsilon / 2), a report decodes to c + r h or c - r h, with variance r^2 h^2 - (x - c)^2: smaller than that of
    `Laplace` for epsilon below 2.3. O(n) time, 8 random bytes per number.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP: the threshold of the one coin is an integer between 2^64 - m and m whatever the record
    and the rounding; compared without a branch. docs/proofs/sign_bit.md.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation", JASA
       113 (2018): the case d = 1 of the mechanism for the ball.
    """

    lower: float
    upper: float
    epsilon: float
    _heads: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        lower, upper = _check.interval(self.lower, self.upper)
        self._set(lower=lower, upper=upper, epsilon=_check.positive("epsilon", self.epsilon))
        coin = _coins.binary(self.epsilon)
        centre, reach = (lower + upper) / 2, (upper - lower) / 2 / float(2 * coin.p - 1)
        self._set(
            _heads=coin.heads,
            epsilon_realized=coin.epsilon_realized,
            domain=Interval(lower, upper),
            report=Codes(2, onehot=False),
            debiasing=Debiasing(centre - reach, centre + reach),
            _kernel=codes.SignBit(lower, upper, coin.heads),
        )

    def _variance(self, records: AnyArray) -> NDArray[np.float64]:
        return np.asarray(self.debiasing.variance(records.astype(np.float64)))

    def _channel(self) -> list[list[int]]:
        heads, tails = self._heads, _coins.WORD - self._heads
        return [[heads, tails], [tails, heads]]


@dataclass(frozen=True)
class Laplace(Mechanism):
    """Discrete Laplace noise, exact on a grid: the classical noise without its floating-point leak.

    Parameters
    ----------
    lower, upper : float
        Ends of the interval, finite, lower < upper.
    epsilon : float
        Privacy parameter, > 0 and at most 64.

    Attributes
    ----------
    grid : float
        Step of the grid, (upper - lower) / max(1, ceil(1024 epsilon)).

    Raises
    ------
    TypeError, ValueError
        If `lower` and `upper` are not finite with lower < upper, or so far from zero that doubles cannot hold the grid; if
        `epsilon` is not a finite number > 0 that the coins can certify.

    Notes
    -----
    Records: floats in [lower, upper], shape (n,). Reports: float64, lower + grid (j + 1/2) with j an integer. Variance
    about 2 (upper - lower)^2 / epsilon^2. O(n) time, about 11 random bytes per number. The time of the noise is not
    constant and nothing is claimed about it; it does not depend on the record.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP: a record is rounded at random to an integer, and gets integer noise whose binary digits
    are exact coins of 128 bits; their rounding is in the budget. docs/proofs/laplace.md.

    References
    ----------
    .. [1] C. Dwork, F. McSherry, K. Nissim, A. Smith, "Calibrating noise to sensitivity in private data analysis", TCC 2006.
    .. [2] I. Mironov, "On significance of the least significant bits for differential privacy", CCS 2012: why not doubles.
    """

    lower: float
    upper: float
    epsilon: float
    grid: float = field(init=False, repr=False, compare=False)
    report: Grid = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        lower, upper = _check.interval(self.lower, self.upper)
        self._set(lower=lower, upper=upper, epsilon=_check.positive("epsilon", self.epsilon))
        span = grid_steps(self.epsilon, 1)
        grid = (upper - lower) / span
        coins = _coins.geometric(self.epsilon, span, span, 1)
        self._set(
            grid=grid,
            epsilon_realized=coins.epsilon_realized,
            domain=Interval(lower, upper),
            report=Grid(1, True, lower, grid, grid**2 * coins.noise_variance),
            _kernel=noise.Laplace(1, lower, grid, span, 0, 0.0, coins.digits, coins.carry, "number"),
        )
        check_grid(grid, lower, upper)

    def _variance(self, records: AnyArray) -> NDArray[np.float64]:
        return grid_variance(records, self.lower, self.grid, self.report.noise_variance)


def grid_steps(epsilon: float, dim: int) -> int:
    """Steps of one coordinate: so many that the rounding of records is nothing beside the noise."""
    steps = STEPS_PER_EPSILON * min(epsilon, 2.0**40) / dim  # the coins refuse far below 2^40
    return max(1, math.ceil(steps))


def check_grid(grid: float, lower: float, upper: float) -> None:
    """Refuse a grid so fine, so far from zero, that a double does not tell its points apart."""
    if grid < 2.0**-48 * max(abs(lower), abs(upper)):
        raise ValueError(
            f"lower and upper must be closer to zero for doubles to hold the grid, got {lower!r} and {upper!r}"
        )


def grid_variance(records: AnyArray, lower: float, grid: float, noise_variance: float) -> NDArray[np.float64]:
    """Of a report: the noise, and the random rounding of the record to the grid."""
    steps = (records.astype(np.float64) - lower) / grid
    part = steps - np.floor(steps)
    return np.asarray(noise_variance + grid**2 * part * (1 - part))
