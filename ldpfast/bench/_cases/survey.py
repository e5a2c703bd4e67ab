"""Case of a survey: from a table with twelve columns to all answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..._typing import AnyArray, Floats
from ...mechanisms import RandomizedResponse
from ...reports import recipe_of
from ...survey import Choice, ColumnQuestion, Histogram, Mean, Survey, YesNo
from .._case import Case, CaseAnswer, Task
from .._data import people

EPSILON = 2.0
EDGES = np.linspace(0, 100, 17)
QUESTIONS: dict[str, ColumnQuestion] = {
    **{f"mean {i}": Mean(0, 100) for i in range(3)},
    **{f"histogram {i}": Histogram(EDGES.tolist()) for i in range(2)},
    **{f"yes {i}": YesNo() for i in range(3)},
    **{f"choice {k}": Choice(k) for k in (4, 8, 16, 32)},
}


def table(n: int) -> dict[str, AnyArray]:
    """Return the columns: float64 for means and histograms, bool, and int32 for categories."""
    rng = np.random.default_rng(12)
    columns: dict[str, AnyArray] = {}
    for name, question in QUESTIONS.items():
        if isinstance(question, YesNo):
            columns[name] = rng.random(n) < 0.3
        elif isinstance(question, Choice):
            columns[name] = rng.integers(0, question.k, n, dtype=np.int32)
        else:
            columns[name] = rng.uniform(0, 100, n)
    return columns


def truth(columns: dict[str, AnyArray]) -> Floats:
    """Return the mean or the shares of every column, one after another."""
    values: list[Any] = []
    for name, question in QUESTIONS.items():
        x = columns[name]
        if isinstance(question, YesNo | Mean):
            values.append([x.mean()])
        else:
            codes = np.searchsorted(EDGES[1:-1], x, side="right") if isinstance(question, Histogram) else x
            values.append(np.bincount(codes, minlength=question.k) / len(x))
    return np.concatenate(values)


def check(errors: Floats, expected: Floats, answer: CaseAnswer) -> bool:
    """Return whether all answers are within 6.5 standard errors; false with probability below 1e-9 per answer."""
    return bool((np.abs(answer - expected) <= 6.5 * errors).all())


def numpy_survey(survey: Survey, columns: dict[str, AnyArray]) -> Task:
    """Return the survey in NumPy, one question at a time, with 32-bit coins of SFC64."""
    rng = np.random.Generator(np.random.SFC64(1))
    n, names = len(next(iter(columns.values()))), list(QUESTIONS)

    def run() -> CaseAnswer:
        assigned, answers = rng.integers(0, len(names), n, dtype=np.uint8), []
        for q, name in enumerate(names):
            question = QUESTIONS[name]
            mechanism = survey.mechanisms[name]
            x = columns[name]
            lower, upper = (0.0, 100.0) if isinstance(question, Mean | Histogram) else (0, question.k - 1)
            if x.dtype != np.bool_ and not (x.min() >= lower and x.max() <= upper):
                raise ValueError(name)
            answer = x[assigned == q]
            if isinstance(question, Mean):
                answer = rng.random(len(answer)) * 100 < answer
            elif isinstance(question, Histogram):
                answer = np.searchsorted(EDGES[1:-1], answer, side="right")
            counts = (_response if isinstance(mechanism, RandomizedResponse) else _sets)(rng, mechanism, answer)
            shares = mechanism.debiasing(counts / len(answer))  # type: ignore[misc, operator]
            if isinstance(question, YesNo | Mean):
                shares = [shares[1] * (100 if isinstance(question, Mean) else 1)]
            answers.append(shares)
        return np.concatenate(answers)

    return run


def _response(rng: np.random.Generator, mechanism: Any, x: AnyArray) -> AnyArray:
    """Return the counts of codes of k-ary response."""
    codes, other = x.astype(np.uint8), rng.integers(0, mechanism.k - 1, len(x), dtype=np.uint8)
    codes = np.where(rng.random(len(x)) < float(recipe_of(mechanism).coin.p), codes, other + (other >= codes))
    return np.bincount(codes, minlength=mechanism.k)


def _sets(rng: np.random.Generator, mechanism: Any, x: AnyArray) -> AnyArray:
    """Return the counts of the members of the sets of subset selection."""
    order, size = rng.random((len(x), mechanism.k), np.float32), mechanism.size
    is_member = rng.random(len(x)) < size * float(recipe_of(mechanism).coin.inside)
    order[np.arange(len(x)), x] = np.where(is_member, -1, 2)
    members = np.argpartition(order, size - 1, axis=1)[:, :size]
    return np.bincount(members.ravel(), minlength=mechanism.k)


def survey(scale: float = 1.0) -> Case:
    """Return the case of twelve questions, of which each person answers one."""
    n = people(2_000_000, scale, 50_000)
    columns, study = table(n), Survey(QUESTIONS, EPSILON)
    errors = np.concatenate([np.ravel(answer.stderr) for answer in study.run(columns, rng=1).values()])

    def ours() -> CaseAnswer:
        return np.concatenate([np.ravel(answer.value) for answer in study.run(columns).values()])

    return Case(
        "survey of 12 questions, one answer each", "person", n, 4 + 4 + 8 * 3 / 12,
        sum(column.dtype.itemsize for column in columns.values()), 0, ours, numpy_survey(study, columns),
        partial(check, errors, truth(columns)), study, columns["mean 0"], 25.0,
        note="NumPy: one question at a time, 64-bit numbers for coins",
    )  # fmt: skip


CASES: dict[str, Callable[[float], Case]] = {"survey-12": survey}
