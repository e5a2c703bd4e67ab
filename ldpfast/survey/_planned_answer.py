"""The variance to expect of one answer, for the shares that a planner expects or the worst ones, and the power of its tests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import _check
from .._limits import clopper_pearson
from .._typing import Floats
from ..mechanisms import Mechanism, SketchResponse, Window
from ..mechanisms._best_mechanism import largest_variance
from ..reports import Codes
from ..results import BoundedSum, Debiasing, detectable_distance
from ._columns import QuestionColumn
from ._mechanisms import RARE, of_string
from ._shares import Response

SUM_ERROR = 1e-9  # of shares, from rounding
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
    """

    ranges: tuple[tuple[float, float], ...]
    response: float

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


def planned_answer(
    mechanism: Mechanism, parts: Sequence[QuestionColumn], expected: Expected, asked: float
) -> PlannedAnswer:
    """Return the precision of the answer to a question that a share of the people is asked."""
    if isinstance(mechanism, Window):
        return replace(planned_number(mechanism), expected=expected, asked=asked * expected.response)
    if isinstance(mechanism, SketchResponse):
        variance = of_string(mechanism, POINTS)
        return PlannedAnswer(_quadratic(variance), math.inf, expected, asked * expected.response, 1, 0.0, None)
    line: Any = mechanism.debiasing
    labels = math.prod(part.k for part in parts) if len(parts) > 1 else 1 if parts[0].scalar else len(parts[0].labels)
    if len(parts) > 1 or not parts[0].optional:
        known = line if labels == 1 else None
        answering = asked * (1.0 if all(part.optional for part in parts) else expected.response)
        return PlannedAnswer(
            _quadratic(np.asarray(line.variance(POINTS))), math.inf, expected, answering, labels, 0.0, known
        )
    # A ratio N / D: the variance of N - s D over D^2, where N counts one label and D all of them. With the moments of a
    # report, its weights 1 - s and -s have the sum 1 - s k, and the sum 0 if they are multiplied by the shares.
    k = len(parts[0].labels)
    share = POINTS
    moments = Response.of(parts[0].k, line, mechanism.report).moments
    own = moments.base * ((1 - share) ** 2 + share**2 * (k - 1)) + moments.pair * (1 - share * k) ** 2
    variance = own / expected.response**2 + moments.slope * share * (1 - share) / expected.response
    step = (line.one - line.zero) / expected.response if labels == 1 else 0.0
    return PlannedAnswer(_quadratic(variance), math.inf, expected, asked, labels, step, None)


def planned_number(mechanism: Mechanism, groups: int = 2) -> PlannedAnswer:
    """Return the precision of a mean of numbers in an interval, for the worst population."""
    low, high = mechanism.domain.range
    length = high - low
    line = mechanism.debiasing
    worst = mechanism.worst_variance
    step = 0.0
    anything = Expected(((0.0, 1.0),), 1.0)
    if isinstance(line, Debiasing):
        place = Debiasing((line.zero - low) / length, (line.one - low) / length)
        variance = np.asarray(place.variance(POINTS))
        return PlannedAnswer(_quadratic(variance), math.inf, anything, 1.0, 1, 0.0, place, groups)
    noise = np.array([worst / length**2, 0.0, 0.0])
    if isinstance(mechanism, Window):
        report = mechanism.report
        assert isinstance(report, Codes)
        decoded = mechanism.decode(np.arange(report.k).astype(report.dtype(np.dtype(np.float64))))
        noise, step = (
            np.array([largest_variance(mechanism) / length**2, 1.0, -1.0]),
            float(decoded.max() - low) / length,
        )
    return PlannedAnswer(noise, worst / length**2, anything, 1.0, 1, step, None, groups)


def _quadratic(values: Floats) -> Floats:
    """Return the coefficients of the quadratic function with some values at 0, 1/2 and 1."""
    start, middle, end = values.tolist()
    return np.array([start, 4 * middle - 3 * start - end, 2 * (start + end) - 4 * middle])


# What a planner gives -------------------------------------------------------------------------------------------------


def expectations(
    names: Sequence[str], parts: Sequence[Sequence[QuestionColumn]], shares: Any, response: Any
) -> list[Expected]:
    """Return what is expected of every question, which combines some columns, from the arguments of a plan."""
    given, responses = _by_name("shares", shares, names), _by_name("response", response, names, single=True)
    found = []
    for question, columns in zip(names, parts, strict=True):
        rate = responses.get(question, 1.0)
        name = f"response[{question!r}]" if isinstance(response, Mapping) else "response"
        if not 0 < _check.real(name, rate) <= 1:
            raise ValueError(f"{name} must be in (0, 1], got {rate!r}")
        if question in given:
            ranges = _ranges(f"shares[{question!r}]", columns, given[question])
        else:
            ranges = ((0.0, 1.0),) if columns[0].has_symbols else ((RARE, RARE),)
        found.append(Expected(ranges, float(rate)))
    return found


def _by_name(name: str, given: Any, names: Sequence[str], *, single: bool = False) -> dict[str, Any]:
    """Return what is given for some of the questions; for all of them, if a single number is allowed."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        if single:
            return dict.fromkeys(names, given)
        raise TypeError(f"{name} must be a mapping from questions to shares, got {type(given).__name__}")
    for question in given:
        if question not in names:
            raise ValueError(f"{name} must be of the questions {', '.join(map(repr, names))}, got {question!r}")
    return dict(given)


def _ranges(name: str, parts: Sequence[QuestionColumn], given: Any) -> tuple[tuple[float, float], ...]:
    """Return the intervals of shares that a planner gives for one question."""
    labels = [str(label) for label in parts[0].labels] if len(parts) == 1 else []
    if isinstance(given, Mapping):
        given = {str(label): share for label, share in given.items()}
        if sorted(given) != sorted(labels):
            raise ValueError(f"{name} must have the labels {', '.join(labels)}, got {', '.join(given)}")
        given = [given[label] for label in labels]
    numbers = np.asarray(_check.numbers(name, _check.array(name, given)), np.float64)
    low, high = parts[0].range if len(parts) == 1 and parts[0].quantity == "mean" else (0.0, 1.0)
    single = len(parts) == 1 and (parts[0].scalar or not parts[0].has_symbols)
    if numbers.ndim == 0:
        if not low <= numbers <= high:
            raise ValueError(f"{name} must be in [{low:g}, {high:g}], got {float(numbers)!r}")
        place = (float(numbers) - low) / (high - low)
        return ((place if single else 0.0, place),)
    size = math.prod(len(part.labels) if len(parts) == 1 else part.k for part in parts)
    if (len(parts) == 1 and parts[0].scalar and parts[0].quantity == "mean") or not parts[0].has_symbols:
        raise ValueError(f"{name} must be one number, got shape {numbers.shape}")
    if numbers.size != size:
        raise ValueError(f"{name} must be one number or {size} shares, got shape {numbers.shape}")
    if not (numbers >= 0).all() or abs(numbers.sum() - 1) > SUM_ERROR:
        raise ValueError(f"{name} must be shares >= 0 with the sum 1, got the sum {float(numbers.sum())!r}")
    known = numbers.ravel().tolist()
    return tuple((share, share) for share in (known[-1:] if single else known))
