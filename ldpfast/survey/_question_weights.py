"""Weights of groups of people for each question: the groups without answers to a question stop no other one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._warnings import warn
from ..results import DoubtfulWarning
from ._answers_per_person import Item
from ._group_weights import GroupWeights


def weights_of_questions(
    items: Sequence[Item], weights: GroupWeights, n: list[Any]
) -> tuple[list[GroupWeights | None], list[str]]:
    """Return the weights of the groups with answers to each question, and the questions that are left out, with a warning.

    Groups without answers to a question stop no other one.
    """
    unweighted = [item.name for item in items if not item.form.has_weights]
    if unweighted:
        _warn_unweighted(unweighted, len(items))
    answered = [np.ravel(asked) > 0 for asked in n]
    found = [weights.on(rows) for rows in answered]
    names = [item.name for item in items]
    fewer = [
        name for name, rows in zip(names, answered, strict=True) if weights.leaves_out(rows) and name not in unweighted
    ]
    impossible = [name for name, own in zip(names, found, strict=True) if own is None and name not in unweighted]
    left_out = [*unweighted, *impossible]
    if len(left_out) == len(names):
        raise ValueError(
            "results must have a question to which the groups have answers that agree with the population, got none: join "
            "small groups before the survey is counted"
        )
    if fewer:
        listed = ", ".join(f"{name!r} (left out)" if name in impossible else repr(name) for name in fewer)
        warn(
            "some groups have no answers to questions, so that other groups stand for them, or the question is left out: "
            f"{listed}",
            DoubtfulWarning,
        )
    return found, left_out


def _warn_unweighted(texts: list[str], questions: int) -> None:
    """Warn that questions without weighted estimates are left out of weighted results; raise if there is nothing else."""
    if len(texts) == questions:
        raise ValueError(
            "results must have a question whose answers are declared: texts, distributions of numbers, tables of sets and "
            "pairs have no weighted estimates"
        )
    listed = ", ".join(map(repr, texts))
    warn(
        "texts, distributions of numbers, tables of sets and pairs have no weighted estimates, so that questions are left "
        f"out: {listed}",
        UserWarning,
    )
