"""Definitions of privacy in the central model, and integer noise that satisfies them for a sum on a public grid."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import ClassVar

from .. import _check, _coins
from ..privacy import Guarantee, convert, gaussian_delta, gaussian_sigma
from ._noise import STEPS, BallNoise, GaussianNoise, LaplaceNoise, Noise, SumGrid

LEAST, MOST = 1e-18, 1e18  # range of epsilon and of truncation radii: their squares are normal numbers
MAX_EPSILON = 64.0  # for Laplace noise; beyond, a coin of 128 bits is rounded to zero
MAX_VARIANCE = 1 << 48
SMOOTHING = 8  # squared steps: rounded normal noise of a variance v - 8 is discrete noise of variance v, up to 1e-68
MARGIN = 1e-12  # relative, for this difference in all coordinates and for the rounding of doubles


@dataclass(frozen=True)
class Definition(ABC):
    """Definition of privacy with its parameters.

    Attributes
    ----------
    epsilon, delta : float
        Privacy parameters.
    name : str
        Value of the argument `privacy` that selects the definition.
    """

    epsilon: float
    delta: float
    name: ClassVar[str]

    def __post_init__(self) -> None:
        self._check_delta()
        if not LEAST <= self.epsilon <= MOST:
            raise ValueError(f"epsilon must be in [{LEAST:g}, {MOST:g}], got {self.epsilon!r}")

    def _check_delta(self) -> None:
        """Raise an error if delta is not allowed by the definition."""
        if self.delta != 0:
            raise ValueError(f"delta must be 0 for privacy={self.name!r}, got {self.delta!r}")

    @property
    def guarantee(self) -> Guarantee:
        """Requested guarantee."""
        return Guarantee(self.name, self.epsilon, self.delta)

    @abstractmethod
    def noise(self, dim: int) -> Noise:
        """Return noise for sums of rows of `dim` numbers in a ball."""

    @abstractmethod
    def published_rate(self, n: int, dim: int) -> float:
        """Return the rate r of the published truncation radius r^(1 / moment), in units of the bound on the moment."""


class Pure(Definition):
    """Differential privacy."""

    name = "pure"

    def noise(self, dim: int) -> Noise:
        """Return discrete Laplace noise for the l1 diameter of the grid."""
        if self.epsilon > MAX_EPSILON:
            raise ValueError(f"epsilon must be at most {MAX_EPSILON:g} for privacy={self.name!r}, got {self.epsilon!r}")
        steps = STEPS * max(1, math.ceil(self.epsilon))
        while True:
            grid = SumGrid.of(dim, steps)
            try:
                coins = _coins.geometric(self.epsilon, grid.l1 + self._extra_steps(), grid.span, dim)
                loss = self._loss(grid, coins)
            except ValueError:  # the coins need more binary digits than are available, or are inaccurate
                if steps <= STEPS // 64:
                    raise
                steps //= 2
                continue
            return LaplaceNoise(grid, Guarantee(self.name, loss), coins.noise_variance, coins)

    def ball_noise(self, dim: int) -> Noise:
        """Return noise whose density depends on its Euclidean norm, for the l2 diameter of the fine grid."""
        return BallNoise.of(dim, self.guarantee)

    def _extra_steps(self) -> int:
        """Return the number of steps added to the l1 diameter."""
        return 0

    def _loss(self, grid: SumGrid, coins: _coins.GeometricCoins) -> float:
        """Return the epsilon that sums with this noise satisfy. Raise an error if it is above that of the definition."""
        return coins.epsilon_realized

    def published_rate(self, n: int, dim: int) -> float:
        return n * self.epsilon / dim


class Smooth(Pure):
    """Differential privacy with a loss proportional to the distance that a row moves in the l2 ball.

    With random rounding, a move of one coordinate by a fraction f of a step changes the logarithm of a probability by
    at most f (exp(a + eta) - 1), where a is the rate of the coins and eta their error. The epsilon / 2 additional steps
    compensate for the excess of exp(a) - 1 over a.
    """

    name = "smooth"

    def _extra_steps(self) -> int:
        return math.ceil(self.epsilon / 2)

    def _loss(self, grid: SumGrid, coins: _coins.GeometricCoins) -> float:
        """Return the loss of a row that moves by a diameter in fine steps, each of which may have the whole error eta."""
        with localcontext(_coins.CONTEXT):
            rate, error = coins.rate_and_error
            diameter = Decimal(grid.diameter) * Decimal(grid.dim).sqrt() / grid.step
            # An offset has a probability of at most 1 / step + 2^-64. The last factor covers the rounding of decimals.
            factor = (1 + Decimal(grid.step) / (1 << 64)) * (1 + Decimal("1e-80"))
            loss = _coins.round_up(((rate + error).exp() - 1) * diameter * factor)
        if loss > self.epsilon:
            raise ValueError(
                f"epsilon must be smaller for privacy={self.name!r} and {grid.dim} coordinates, got {self.epsilon!r}: the "
                "errors of the coins exceed it"
            )
        return max(loss, coins.epsilon_realized)


class GaussianDefinition(Definition):
    """Definition of privacy that discrete Gaussian noise satisfies, calibrated to the l2 diameter of the grid."""

    def noise(self, dim: int) -> Noise:
        steps = STEPS
        while True:
            grid = SumGrid.of(dim, steps)
            variance = self._least_variance(grid)
            if variance <= MAX_VARIANCE:
                return GaussianNoise(grid, self.guarantee, float(variance), variance)
            if steps == 1:
                raise ValueError(f"epsilon must be larger, for {dim} coordinates, got {self.epsilon!r}")
            steps //= 2

    def _least_variance(self, grid: SumGrid) -> int:
        """Return the least variance parameter that satisfies the definition on a grid."""
        if grid.dim > 1:
            return min(self._by_divergence(grid), self._by_curve(grid))
        epsilon, allowed = self._hockey_stick()
        low, high = 0, 1
        while high <= MAX_VARIANCE and discrete_delta(epsilon, grid.span, math.sqrt(high)) > allowed:
            low, high = high, 2 * high
        while high - low > 1 and high <= MAX_VARIANCE:
            middle = (low + high) // 2
            if discrete_delta(epsilon, grid.span, math.sqrt(middle)) <= allowed:
                high = middle
            else:
                low = middle
        return high

    def _by_divergence(self, grid: SumGrid) -> int:
        """Return the least variance parameter for the bound on the Kullback-Leibler divergence.

        The divergence of a shift by integers equals that of the continuous distribution, so the calibration is exact.
        """
        return max(1, math.ceil(grid.l2_squared / (2 * Fraction(self._divergence()))))

    def _by_curve(self, grid: SumGrid) -> int:
        """Return a variance parameter for which the exact curve of continuous noise satisfies the definition.

        Discrete noise follows from continuous noise with a variance that is smaller by `SMOOTHING`, by a random rounding that
        commutes with shifts by integers. So it has at most the hockey-stick divergence of that one.
        """
        epsilon, delta = self._hockey_stick()
        square = grid.l2_squared
        shift = math.nextafter(math.sqrt(square), math.inf)  # the square is rounded to a double, and so is the root
        sigma = float(gaussian_sigma(epsilon * (1 - MARGIN), delta * (1 - MARGIN), sensitivity=shift))
        if math.isinf(sigma):
            return MAX_VARIANCE + 1
        return math.ceil(Fraction(sigma) ** 2) + SMOOTHING

    @abstractmethod
    def _divergence(self) -> float:
        """Return a bound on the Kullback-Leibler divergence that implies the definition."""

    @abstractmethod
    def _hockey_stick(self) -> tuple[float, float]:
        """Return epsilon and delta of the approximate privacy equivalent to the definition."""


class Approximate(GaussianDefinition):
    """(epsilon, delta)-differential privacy."""

    name = "approximate"

    def _check_delta(self) -> None:
        _check.probability("delta", self.delta)

    def _divergence(self) -> float:
        return float(convert("concentrated", "approximate", self.delta, at=self.epsilon, inverse=True))

    def _hockey_stick(self) -> tuple[float, float]:
        return self.epsilon, self.delta

    def published_rate(self, n: int, dim: int) -> float:
        return math.sqrt((n * self.epsilon) ** 2 / (dim * math.log(1 / self.delta)))


class KullbackLeibler(GaussianDefinition):
    """Kullback-Leibler divergence of at most epsilon."""

    name = "kl"

    def _least_variance(self, grid: SumGrid) -> int:
        return self._by_divergence(grid)

    def _divergence(self) -> float:
        return self.epsilon

    def _hockey_stick(self) -> tuple[float, float]:
        raise NotImplementedError

    def published_rate(self, n: int, dim: int) -> float:
        return math.sqrt(n * n * self.epsilon / dim)


class TotalVariation(GaussianDefinition):
    """Total variation distance of at most epsilon."""

    name = "tv"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon >= 1:
            raise ValueError(f'epsilon must be in (0, 1) for privacy="tv", got {self.epsilon!r}')

    def _divergence(self) -> float:
        return float(convert("kl", "tv", self.epsilon, inverse=True)) * (1 - 1e-12)

    def _hockey_stick(self) -> tuple[float, float]:
        return 0.0, self.epsilon

    def published_rate(self, n: int, dim: int) -> float:
        return n * self.epsilon / math.sqrt(dim)


DEFINITIONS: dict[str, type[Definition]] = {
    definition.name: definition for definition in (Pure, Smooth, Approximate, KullbackLeibler, TotalVariation)
}


def definition_of(privacy: str, epsilon: float, delta: float) -> Definition:
    """Return the definition with the given name and parameters.

    Parameters
    ----------
    privacy : {"pure", "smooth", "approximate", "kl", "tv"}
        Name of the definition.
    epsilon, delta : float
        Privacy parameters.

    Returns
    -------
    definition : Definition

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.
    """
    name = _check.choice("privacy", privacy, DEFINITIONS)
    return DEFINITIONS[name](_check.positive("epsilon", epsilon), _check.real("delta", delta))


def discrete_delta(epsilon: float, shift: float, sigma: float) -> float:
    """Return a bound on the hockey-stick divergence of a discrete Gaussian from its shift by an integer.

    The sum of a function with one peak is at most its integral plus its peak. The discrete distribution has at most the
    density of the continuous one, because its normalizing constant is larger.
    """
    edge = shift / (2 * sigma) - epsilon * sigma / shift  # where the ratio of the densities is exp(epsilon)
    peak = math.exp(-0.5 * min(edge, 0.0) ** 2) / (math.sqrt(2 * math.pi) * sigma)
    return float(gaussian_delta(epsilon, sigma=sigma, sensitivity=shift)) * (1 + 1e-9) + peak
