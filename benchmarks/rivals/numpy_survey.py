"""A survey in NumPy, one question at a time, with 64-bit numbers for coins."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldpfast._typing import AnyArray
from ldpfast.bench._case import CaseAnswer, Task
from ldpfast.bench._cases.survey import EDGES, QUESTIONS
from ldpfast.mechanisms import RandomizedResponse
from ldpfast.reports import recipe_of
from ldpfast.survey import Histogram, Mean, Survey, YesNo


def numpy_survey(survey: Survey, columns: dict[str, AnyArray]) -> Task:
    """Return the survey in NumPy, one question at a time, with 32-bit coins of SFC64."""
    rng = np.random.Generator(np.random.SFC64(1))
    n, names = len(next(iter(columns.values()))), list(QUESTIONS)

    def run() -> CaseAnswer:
        assigned, answers = rng.integers(0, len(names), n, dtype=np.uint8), []
        for q, name in enumerate(names):
            question, mechanism, x = QUESTIONS[name], survey.mechanisms[name], columns[name]
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
