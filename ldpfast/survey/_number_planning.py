"""The standard errors of quantiles to expect, for numbers with distributions of a few shapes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from .._typing import Floats
from ..estimation._answered_cells import AnsweredEstimate
from ..estimation._cell_likelihood import CellLikelihood
from ..estimation._cell_limits import CellsEstimate, LinearEstimate, LinearValues, Values
from ..estimation._cell_quantiles import QuantileTests
from ..mechanisms import DistributionResponse
from ..reports import recipe_of
from ._planned_answer import Expected, PlannedAnswer

PEOPLE = 10**12  # so many that shares of people are their expectations
DRAWN = 200  # draws of an interval, for its mean length
PLANNED = (0.5, 0.95)  # quantiles
ANYTHING = Expected(((0.0, 1.0),), 1.0)


def _uniform(x: Floats) -> Floats:
    return np.ones_like(x)


def _normal(x: Floats) -> Floats:
    return np.exp(-(((x - 0.5) * 6) ** 2) / 2)


def _skewed(x: Floats) -> Floats:
    return np.exp(-6 * x)


SHAPES: dict[str, Callable[[Floats], Floats]] = {"uniform": _uniform, "normal": _normal, "skewed": _skewed}


class ExpectedEstimate(CellsEstimate):
    """The estimate of some people, from that of so many that it has no noise.

    Parameters
    ----------
    many : CellsEstimate
        The estimate of `PEOPLE`.
    n : float
        Number of people who are asked.
    """

    def __init__(self, many: CellsEstimate, n: float) -> None:
        self.many, self.k = many, many.k
        self.shares, self.raw = many.shares, many.raw
        self._factor = PEOPLE / n

    def _scaled(self, found: Values) -> LinearValues:
        return LinearValues(found.value, math.sqrt(self._factor) * found.stderr, self._factor * found.step)

    def of(self, rows: Floats) -> LinearValues:
        return self._scaled(self.many.of(rows))

    def of_ends(self, weights: Floats) -> LinearValues:
        return self._scaled(self.many.of_ends(weights))

    @cached_property
    def of_cells(self) -> LinearValues:
        return self._scaled(self.many.of_cells)

    @cached_property
    def of_all_ends(self) -> LinearValues:
        return self._scaled(self.many.of_all_ends)

    def draws(self, seed: int) -> Floats:
        return self.many.noise

    def is_known(self, tail: float, liars: float = 0.0) -> bool:
        return True

    def margin(self, q: float, tail: float) -> float:
        """Return half of the mean length of the interval of a quantile, as a share of that of all cells."""
        tests = QuantileTests.of(self, q)
        critical = tests.critical(tail)
        cells = np.array([tests.cells_for(value, critical) for value in tests.draws(DRAWN).T])
        return float(np.mean(cells[:, 1] + 1 - cells[:, 0])) / self.k / 2


@dataclass(frozen=True)
class PlannedNumber(PlannedAnswer):
    """The precision of the median of a number; its unit is the length of the interval.

    Attributes
    ----------
    nonprivate : float
        Variance without privacy, times the number of people.
    many : CellsEstimate or None
        Estimate from the counts to expect of `PEOPLE`.
    """

    nonprivate: float = 0.0
    many: CellsEstimate | None = None

    @property
    def sampling(self) -> float:
        return self.nonprivate

    def of(self, expected: Expected, asked: float) -> PlannedNumber:
        """Return the same where a share of the people is asked."""
        return replace(self, expected=expected, asked=asked)

    def finds(self, difference: float, n: int, alpha: float, power: float) -> bool:
        """Return whether the interval of the difference of two medians excludes 0 with a probability of at least `power`."""
        from scipy.special import ndtri

        assert self.many is not None
        reports = n // self.groups * self.asked
        margin = math.sqrt(self.groups) * _margin(self.many, reports, alpha / 2)
        stderr = math.sqrt(self.groups * self.variance * self.asked / reports)
        return difference >= margin + float(ndtri(power)) * stderr


@lru_cache(maxsize=256)
def _margin(many: CellsEstimate, reports: float, tail: float) -> float:
    return ExpectedEstimate(many, reports).margin(0.5, tail)


@lru_cache(maxsize=256)
def _expected(mechanism: DistributionResponse, optional: bool, shape: str, response: float) -> CellsEstimate:
    """Return the estimate from the counts to expect of numbers with a distribution of a shape."""
    cells, law = mechanism.k - optional, recipe_of(mechanism).law
    shares = shares_of(shape, cells)
    whole = np.append(response * shares, 1 - response) if optional else shares
    parts = [float(part) for part in law.shares]  # type: ignore[attr-defined]
    linear = LinearEstimate(CellLikelihood.expected(mechanism.levels, parts, whole, PEOPLE), whole)
    return AnsweredEstimate(linear) if optional else linear


def shares_of(shape: str, cells: int) -> Floats:
    """Return the shares of cells of equal width for a distribution of a shape."""
    density = SHAPES[shape]((np.arange(cells) + 0.5) / cells)
    return np.asarray(density / density.sum())


def planned_quantile(
    mechanism: DistributionResponse, optional: bool, shape: str, response: float, q: float
) -> tuple[float, float]:
    """Return the variance of a quantile for one person who is asked, with and without privacy.

    In units of the length of the interval. That of the distribution function is divided by the square of the density there.
    """
    linear = _expected(mechanism, optional, shape, response)
    total = np.append(0.0, np.cumsum(linear.shares))
    cell = int(np.clip(np.searchsorted(total, q) - 1, 0, linear.k - 1))
    inside = (q - total[cell]) / linear.shares[cell]
    weights = np.zeros((1, linear.k + 1))
    weights[0, [cell, cell + 1]] = 1 - inside, inside
    density = linear.shares[cell] * linear.k
    variance = float(linear.of_ends(weights[:, 1:]).stderr[0]) ** 2 * PEOPLE
    if not optional:
        variance /= response
    return variance / density**2, q * (1 - q) / response / density**2


def planned_median(mechanism: DistributionResponse, optional: bool, shape: str, response: float) -> PlannedNumber:
    """Return the precision of the median for numbers with a distribution of a shape."""
    variance, sampling = planned_quantile(mechanism, optional, shape, response, 0.5)
    coefficients, many = np.array([variance, 0.0, 0.0]), _expected(mechanism, optional, shape, response)
    return PlannedNumber(coefficients, math.inf, ANYTHING, 1.0, 1, 0.0, None, nonprivate=sampling, many=many)


def planned_errors(
    mechanism: DistributionResponse, optional: bool, response: float, n: float
) -> dict[str, tuple[float, ...]]:
    """Return the standard error and half of the 95 % interval of the `PLANNED` quantiles for every shape.

    `n` people are asked.
    """
    found = {}
    for shape in SHAPES:
        linear = ExpectedEstimate(_expected(mechanism, optional, shape, response), n if optional else n * response)
        errors = (math.sqrt(planned_quantile(mechanism, optional, shape, response, q)[0] / n) for q in PLANNED)
        margins = (linear.margin(q, (1 - 0.95) / 2) for q in PLANNED)
        found[shape] = tuple(x for pair in zip(errors, margins, strict=True) for x in pair)
    return found
