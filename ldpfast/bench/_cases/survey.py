"""Case of a survey: from a table with twelve columns to all answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..._typing import AnyArray, Floats
from ...survey import Choice, ColumnQuestion, Histogram, Mean, Survey, YesNo
from .._case import Case, CaseAnswer
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


def survey(scale: float = 1.0) -> Case:
    """Return the case of twelve questions, of which each person answers one."""
    n = people(2_000_000, scale, 50_000)
    columns, study = table(n), Survey(QUESTIONS, EPSILON)
    errors = np.concatenate([np.ravel(answer.stderr) for answer in study.run(columns, rng=1).values()])

    def ours() -> CaseAnswer:
        return np.concatenate([np.ravel(answer.value) for answer in study.run(columns).values()])

    return Case(
        "survey of 12 questions, one answer each", "person", n, 4 + 4 + 8 * 3 / 12,
        sum(column.dtype.itemsize for column in columns.values()), 0, ours,
        partial(check, errors, truth(columns)), study, columns["mean 0"], 25.0,
    )  # fmt: skip


CASES: dict[str, Callable[[float], Case]] = {"survey-12": survey}
