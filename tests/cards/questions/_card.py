"""The card of a question of surveys: what the shared tests, the clients' vectors and the page need to know about it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ldpfast.survey import SurveyQuestion


class Row(NamedTuple):
    """A row of the table of questions in docs/survey.md."""

    question: str
    column: str
    answer: str


@dataclass(frozen=True, kw_only=True)
class QuestionCard:
    """A question of surveys. The tests ask `questions["q"]`; the others are its parts."""

    question: type[SurveyQuestion]
    questions: dict[str, SurveyQuestion]
    optional: dict[str, SurveyQuestion]  # the same questions with missing answers
    cells: dict[str, list[Any]]  # by column; a few thousand people repeat them
    texts: dict[str, list[str]]  # the same cells in a file
    answer: Any  # the statistic of these cells, with an axis per label
    statistic: Callable[[Any], Any] = lambda answer: answer.value  # what of an answer is compared with it
    bad: tuple[tuple[Any, str], ...]  # cells of the column "q" that are refused, and the end of the message
    encodings: frozenset[str]  # of its parts, in the clients
    arguments: dict[str, Any] = field(default_factory=dict)  # with floats, which may be numbers of every type
    # Makers of random questions from a source and the name of a column, by their numbers in the recorded vectors.
    random: dict[int, Callable[[random.Random, str | None], Any]] = field(default_factory=dict)
    row: Row
    place: int  # of the row; rows are in ascending order

    def people(self, n: int) -> dict[str, np.ndarray]:
        """Return the cells of n people."""
        return {name: np.resize(np.array(cells, _dtype(cells)), n) for name, cells in self.cells.items()}


def _dtype(cells: list[Any]) -> Any:
    return None if all(isinstance(cell, bool | int | float) for cell in cells) else object
