"""The variance to expect of one answer, for the shares that a planner expects or the worst ones, and the power of its tests."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .. import _check
from .._limits import clopper_pearson
from .._typing import Floats
from ..results import BoundedSum, Debiasing, detectable_distance

# Standard errors and half of the 95 % intervals of the median and of the 95 % quantile, by the shape of a distribution.
PlannedQuantiles = dict[str, tuple[float, ...]]
POINTS = np.array([0.0, 0.5, 1.0])
BISECTIONS = 60


@dataclass(frozen=True)
class Expected:
    """What a planner expects of the answers to one question.

    Attributes
    ----------
    ranges : tuple of tuple of float
        Intervals of the shares of its labels; of the share of one of them for a single number, and for a mean its place in the
        range, from 0 to 1.
    response : float
        Share of the people who are asked and answer.
    shape : str
        Name of the shape of the distribution of a number; empty if none is given.
    """

    ranges: tuple[tuple[float, float], ...]
    response: float
    shape: str = ""

    def largest(self, coefficients: Floats, spread: float) -> float:
        """Return the largest value of c0 + c1 s + c2 s^2 for shares that differ from the expected ones by at most `spread`."""
        return max(
            _value(coefficients, at)
            for low, high in self.ranges
            for at in _candidates(coefficients, max(0.0, low - spread), min(1.0, high + spread))
        )

    def middle(self, coefficients: Floats, difference: float) -> float:
        """Return the mean of two shares with a difference, one of which is expected, where the variance is largest."""
        found = [
            at
            for low, high in self.ranges
            for at in _candidates(
                coefficients,
                min(max(low - difference / 2, difference / 2), 1 - difference / 2),
                max(min(high + difference / 2, 1 - difference / 2), difference / 2),
            )
        ]
        return max(found, key=lambda at: _value(coefficients, at))


def _value(coefficients: Floats, share: float) -> float:
    return float(coefficients @ [1.0, share, share * share])


def _candidates(coefficients: Floats, low: float, high: float) -> list[float]:
    """Return where a quadratic function can be largest in an interval."""
    _, slope, curvature = coefficients.tolist()
    top = -slope / (2 * curvature) if curvature < 0 else low
    return [low, high, min(max(top, low), high)]


@dataclass(frozen=True)
class PlannedAnswer:
    """The precision of the answer to one question; its unit is the length of the range.

    Attributes
    ----------
    coefficients : ndarray, shape (3,)
        The variance of one decoded report is c0 + c1 s + c2 s^2 where the share is s.
    cap : float
        The variance is never larger.
    expected : Expected
    asked : float
        Share of the people whose reports count.
    labels : int
        Number of labels that a test compares at once; 1 for a single number.
    step : float
        Amount by which one report moves the estimate, times the number of reports; 0 where limits are normal.
    line : Debiasing or None
        Debiasing of the share of one symbol, if the answer is a function of a binomial count.
    groups : int
        Number of groups of a test: 2, or 1 for a test of all people against a given number.
    """

    coefficients: Floats
    cap: float
    expected: Expected
    asked: float
    labels: int
    step: float
    line: Debiasing | None
    groups: int = 2

    @classmethod
    def of_shares(cls, variances: Floats, expected: Expected, asked: float) -> PlannedAnswer:
        """Return the precision of a share with normal limits, from the variances of a decoded report for the `POINTS`."""
        return cls(quadratic(variances), math.inf, expected, asked, 1, 0.0, None)

    @property
    def variance(self) -> float:
        """Largest variance of the answer, times the number of people."""
        return min(self.cap, self.expected.largest(self.coefficients, 0.0)) / self.asked

    @property
    def sampling(self) -> float:
        """Largest variance of the answer without privacy, times the number of people, if all of them are asked."""
        return self.expected.largest(np.array([0.0, 1.0, -1.0]), 0.0) / self.expected.response

    def finds(self, difference: float, n: int, alpha: float, power: float) -> bool:
        """Return whether a test of n people, one half in each group, finds a difference with a probability of at least `power`.

        Several labels have the test of `two_sample`: one share differs, and the others differ by equal parts of it. Then the
        squared distance is that of the one share, since the shares add up to 1. A single number has the test of its limits
        (`Recovered`), whose margins are those at the expected counts.
        """
        from scipy.special import ndtri

        reports = n // self.groups * self.asked
        if self.labels > 1 or not (self.step or self.line):
            largest = min(self.cap, self.expected.largest(self.coefficients, difference))
            distance = detectable_distance(max(1, self.labels - 1), alpha, power)
            return difference >= distance * math.sqrt(self.groups * largest / reports)
        middle = self.expected.middle(self.coefficients, difference)
        ends = middle + difference / 2, middle - difference / 2
        variances = [min(self.cap, _value(self.coefficients, end)) / reports for end in ends[: self.groups]]
        below = self._margins(ends[0], variances[0], reports, alpha / 2)[0]
        above = self._margins(ends[1], variances[1], reports, alpha / 2)[1] if self.groups == 2 else 0.0
        margin = math.hypot(below, above)
        # The test is discrete: half of the step by which one report moves the estimate is added.
        step = (self.step if self.line is None else self.line.one - self.line.zero) / reports
        return difference >= margin + step / 2 + float(ndtri(power)) * math.sqrt(sum(variances))

    def _margins(self, share: float, variance: float, reports: float, tail: float) -> tuple[float, float]:
        """Return the distances from the estimate to the lower and the upper limit, for the expected counts."""
        if self.line is None:
            size = self.step / reports
            margin = float(BoundedSum(size, size).bounds(np.array(0.0), np.array(math.sqrt(variance)), tail)[1])
            return margin, margin
        hits = reports * (share - self.line.zero) / (self.line.one - self.line.zero)
        low, high = (float(self.line(limit)) for limit in clopper_pearson(hits, reports, tail))
        return share - low, high - share

    def people_needed(self, difference: float, alpha: float, power: float) -> int:
        """Return the smallest number of people with which a difference is found."""
        high = 4
        while not self.finds(difference, high, alpha, power):
            high = _check.people("people needed", 2 * high)
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.finds(difference, middle, alpha, power) else (middle, high)
        return high

    def smallest_difference(self, n: int, alpha: float, power: float) -> float:
        """Return the smallest difference that n people find; infinite where they find none that is possible."""
        low, high = 0.0, self.largest_difference
        if not self.finds(high, n, alpha, power):
            return math.inf
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            low, high = (low, middle) if self.finds(middle, n, alpha, power) else (middle, high)
        return high

    @property
    def largest_difference(self) -> float:
        """Largest difference of two groups that is possible, if one of them has an expected share."""
        return max(max(high, 1 - low) for low, high in self.expected.ranges)


def quadratic(values: Floats) -> Floats:
    """Return the coefficients of the quadratic function with some values at 0, 1/2 and 1."""
    start, middle, end = values.tolist()
    return np.array([start, 4 * middle - 3 * start - end, 2 * (start + end) - 4 * middle])
