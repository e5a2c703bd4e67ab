"""What a survey is made of: its columns, its asked questions, and the order of everything that is counted."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .. import _schema
from .._core.survey import SurveyKernel
from ..mechanisms import Mechanism, SketchResponse
from ..privacy import Guarantee
from ..reports import Label, StateLayout, recipe_of
from . import _answers_per_person
from ._answer_coins import AnswerCoins, Round
from ._answers_per_person import Item
from ._columns import QuestionColumn
from ._mechanisms import uses_numbers
from ._panel import Series
from ._two_responses import TwoResponses


@dataclass(frozen=True, eq=False)
class SurveyLayout:
    """The columns of a survey, its asked questions, the order of everything that is counted, and its time in a series.

    Attributes
    ----------
    declared : dict
        Questions that a column answers, by name.
    items : list of Item
        Asked questions; the number of a question in messages is its place here.
    mechanisms : list of Mechanism
        Mechanism of each asked question.
    answers : int
        Number of answers per person.
    series : Series
        The series that the survey belongs to, with its wave or round.
    guarantee : Guarantee
        Of each person, for all answers.
    label : Label
    descriptions : list of bytes
        Digest of each asked question with the integers of its mechanism, which personal keys depend on.
    columns : list of str
        Names of the questions that the columns of the kernel answer. A mean that is also sent as a number is there twice.
    places : list of tuple of int
        Columns of each asked question.
    thresholds : ndarray of uint32
        Limits of the random words that choose one question.
    pairs : list of tuple of int
        Pairs of asked questions that share a declared one and that the same person can answer.
    kernel : SurveyKernel
    coins : list of AnswerCoins
        What the personal coins of the answers to each asked question depend on.
    """

    declared: dict[str, QuestionColumn]
    items: list[Item]
    mechanisms: list[Mechanism]
    answers: int
    series: Series
    guarantee: Guarantee
    label: Label
    descriptions: list[bytes]
    columns: list[str]
    places: list[tuple[int, ...]]
    thresholds: NDArray[np.uint32]
    pairs: list[tuple[int, int]]
    kernel: SurveyKernel
    coins: list[AnswerCoins]

    @classmethod
    def of(
        cls,
        declared: dict[str, QuestionColumn],
        items: list[Item],
        mechanisms: Sequence[Mechanism],
        answers: int,
        series: Series,
        guarantee: Guarantee,
        label: Label,
    ) -> Self:
        """Return the layout of the asked questions."""
        # The kernel reads columns by number: those of the declared questions in their order, then one more for each question
        # whose mechanism takes numbers where tables have symbols.
        columns = list(declared)
        parts = [question.kernel_part() for question in declared.values()]
        asked: list[tuple[tuple[int, ...], Any, int, str]] = []
        for item, mechanism in zip(items, mechanisms, strict=True):
            places = tuple(columns.index(part) for part in item.parts)
            if uses_numbers(mechanism):  # such a mean has another encoding in tables
                places = (len(parts),)
                columns.append(item.name)
                parts.append(("number", *declared[item.name].kernel_part()[1:]))
            domain = mechanism.domain
            record_bytes = (domain.width or 1) * domain.kernel_dtype(np.zeros(0)).itemsize
            asked.append((places, _kernel_of(mechanism), record_bytes, item.form.join))
        thresholds = _answers_per_person.thresholds([item.weight for item in items])
        descriptions = [description(declared, *pair) for pair in zip(items, mechanisms, strict=True)]
        return cls(
            declared,
            items,
            list(mechanisms),
            answers,
            series,
            guarantee,
            label,
            descriptions,
            columns,
            [places for places, *_ in asked],
            thresholds,
            _common_pairs(items) if answers > 1 else [],
            SurveyKernel(parts, asked, answers, thresholds),
            [_coins_of(declared, *asked, series) for asked in zip(items, mechanisms, descriptions, strict=True)],
        )

    @property
    def head(self) -> bytes:
        """Start of every message: its version and the fingerprint."""
        return self.label.head[:9]

    @property
    def names(self) -> list[str]:
        """Names of the asked questions."""
        return [item.name for item in self.items]

    @property
    def weights(self) -> list[int]:
        """Number of tickets of each asked question in the choice of questions by personal keys."""
        return [item.tickets if self.answers == 1 else 1 for item in self.items]

    @property
    def sources(self) -> list[str]:
        """Names of the columns of a table that answer the questions."""
        return list(dict.fromkeys(source for name, column in self.declared.items() for source in column.sources(name)))

    @property
    def concludes_groups(self) -> bool:
        """Whether the answers of groups are computed at once: those to texts and sets of options are not."""
        return not any(column.row_bytes for column in self.declared.values())

    @cached_property
    def sizes(self) -> list[int]:
        """Bytes of a report to each asked question."""
        return [mechanism.report.nbytes for mechanism in self.mechanisms]

    @property
    def state_layouts(self) -> list[StateLayout]:
        """Shapes and dtypes of the counts: answers to each question, people per pair, and the reports to each question."""
        formats = [mechanism.report.state_layout for mechanism in self.mechanisms]
        return [((len(self.items),), np.int64), ((len(self.pairs),), np.int64), *formats]

    def is_rounded(self, q: int) -> bool:
        """Return whether different records can have the same symbol in the answer to an asked question."""
        return self.items[q].form.is_rounded

    def loss_of_report(self, q: int) -> float:
        """Return what a report to an asked question adds to the loss of a ledger."""
        mechanism = self.mechanisms[q]
        return (mechanism.second if isinstance(mechanism, TwoResponses) else mechanism).epsilon_realized


def _kernel_of(mechanism: Mechanism) -> Any:
    """Return the compiled kernel of the fresh reports; of a round, which has only reports with personal keys, the first one."""
    return recipe_of(mechanism.first if isinstance(mechanism, TwoResponses) else mechanism).kernel


def _coins_of(
    declared: dict[str, QuestionColumn], item: Item, mechanism: Mechanism, digest: bytes, series: Series
) -> AnswerCoins:
    """Return what the personal coins of the answers to an asked question depend on, whose description has a digest."""
    if series.rounds is None or not isinstance(mechanism, TwoResponses):
        return AnswerCoins(mechanism, series.coins, digest)
    once = description(declared, item, mechanism.first)
    return AnswerCoins.permanent(mechanism, series.coins, once, Round(series.rounds.number, digest))


def description(declared: dict[str, QuestionColumn], item: Item, mechanism: Mechanism) -> bytes:
    """Return the digest of everything that fixes the distribution and the meaning of the reports to an asked question.

    The name, the weight and the place of the question are not part of it: the survey can change around it. The names of the
    questions that a `Cross` combines are.
    """
    coins = {"mechanism": type(mechanism).__name__, "epsilon": mechanism.epsilon_realized, **mechanism._pinned()}
    if isinstance(mechanism, SketchResponse):
        coins["prefixes"] = list(mechanism.prefixes)  # which are hashed
    asked: dict[str, Any] = {"asks": [declared[part].describe_question() for part in item.parts]}
    if len(item.parts) > 1:
        asked["of"] = list(item.parts)
    return _schema.digest({"version": _schema.VERSION, **asked, **coins})


def _common_pairs(items: list[Item]) -> list[tuple[int, int]]:
    pairs = itertools.combinations(enumerate(items), 2)
    return [(i, j) for (i, a), (j, b) in pairs if set(a.parts) & set(b.parts)]
