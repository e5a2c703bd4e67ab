"""What a planner expects of the answers to each question, and the precision that follows from the mechanism."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .. import _check
from ..mechanisms import Mechanism, Window
from ..mechanisms._best_mechanism import largest_variance
from ..reports import Codes
from ..results import Debiasing
from ._answer_forms import AnswerForm
from ._columns import QuestionColumn
from ._planned_answer import POINTS, Expected, PlannedAnswer, quadratic
from ._shares import Response

SUM_ERROR = 1e-9  # of shares, from rounding


def planned_answer(mechanism: Mechanism, form: AnswerForm, expected: Expected, asked: float) -> PlannedAnswer:
    """Return the precision of the answer to a question that a share of the people is asked."""
    parts = form.columns
    if isinstance(mechanism, Window):
        return replace(planned_number(mechanism), expected=expected, asked=asked * expected.response)
    if not form.has_symbols:
        return form.planned(mechanism, expected, asked)
    line: Any = mechanism.debiasing
    labels = form.k if len(parts) > 1 else 1 if parts[0].scalar else len(parts[0].labels)
    if len(parts) > 1 or not parts[0].optional:
        known = line if labels == 1 else None
        answering = asked * (1.0 if all(part.optional for part in parts) else expected.response)
        return PlannedAnswer(
            quadratic(np.asarray(line.variance(POINTS))), math.inf, expected, answering, labels, 0.0, known
        )
    # A ratio N / D: the variance of N - s D over D^2, where N counts one label and D all of them. With the moments of a
    # report, its weights 1 - s and -s have the sum 1 - s k, and the sum 0 if they are multiplied by the shares.
    k = len(parts[0].labels)
    share = POINTS
    moments = Response.of(parts[0].k, line, mechanism.report).moments
    own = moments.base * ((1 - share) ** 2 + share**2 * (k - 1)) + moments.pair * (1 - share * k) ** 2
    variance = own / expected.response**2 + moments.slope * share * (1 - share) / expected.response
    step = (line.one - line.zero) / expected.response if labels == 1 else 0.0
    return PlannedAnswer(quadratic(variance), math.inf, expected, asked, labels, step, None)


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
        return PlannedAnswer(quadratic(variance), math.inf, anything, 1.0, 1, 0.0, place, groups)
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


# What a planner gives -------------------------------------------------------------------------------------------------


def expectations(names: Sequence[str], forms: Sequence[AnswerForm], shares: Any, response: Any) -> list[Expected]:
    """Return what is expected of every question from the arguments of a plan."""
    given, responses = _by_name("shares", shares, names), _by_name("response", response, names, single=True)
    found = []
    for question, form in zip(names, forms, strict=True):
        rate = responses.get(question, 1.0)
        name = f"response[{question!r}]" if isinstance(response, Mapping) else "response"
        if not 0 < _check.real(name, rate) <= 1:
            raise ValueError(f"{name} must be in (0, 1], got {rate!r}")
        is_given, shares_name = question in given, f"shares[{question!r}]"
        if form.shapes:
            shape = _check.choice(shares_name, given[question], form.shapes) if is_given else ""
            found.append(Expected(form.assumed(), float(rate), shape))
            continue
        ranges = _ranges(shares_name, form.columns, given[question]) if is_given else form.assumed()
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
