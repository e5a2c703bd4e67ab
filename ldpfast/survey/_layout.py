"""What the people and the server of a survey use: its columns, its asked questions, and the compiled loop over people."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _schema
from .._core.survey import SurveyKernel
from ..mechanisms import Mechanism, SketchResponse
from ..reports._question import StateLayout
from . import _design
from ._design import Item
from ._mechanisms import uses_numbers
from ._questions import ColumnQuestion
from ._two_responses import TwoResponses


@dataclass(frozen=True, eq=False)
class SurveyLayout:
    """The columns of a survey, its asked questions, and the order of everything that is counted.

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
    series : bytes
        Digest of the series that the survey belongs to, which personal keys depend on.
    descriptions : list of bytes
        Digest of each asked question with the integers of its mechanism, which personal keys depend on.
    head : bytes
        Start of every message: its version and the fingerprint.
    columns : list of str
        Names of the questions that the columns of the kernel answer. A mean that is also sent as a number is there twice.
    places : list of tuple of int
        Columns of each asked question.
    thresholds : ndarray of uint32
        Limits of the random words that choose one question.
    pairs : list of tuple of int
        Pairs of asked questions that share a declared one and that the same person can answer.
    kernel : SurveyKernel
    """

    declared: dict[str, ColumnQuestion]
    items: list[Item]
    mechanisms: list[Mechanism]
    answers: int
    series: bytes
    descriptions: list[bytes]
    head: bytes
    columns: list[str]
    places: list[tuple[int, ...]]
    thresholds: NDArray[np.uint32]
    pairs: list[tuple[int, int]]
    kernel: SurveyKernel

    @classmethod
    def of(
        cls,
        declared: dict[str, ColumnQuestion],
        items: list[Item],
        mechanisms: Sequence[Mechanism],
        answers: int,
        series: bytes,
        head: bytes,
    ) -> SurveyLayout:
        """Return the layout of the asked questions."""
        columns = list(declared)
        parts = [question.kernel_part() for question in declared.values()]
        asked: list[tuple[tuple[int, ...], Any, int]] = []
        for item, mechanism in zip(items, mechanisms, strict=True):
            places = tuple(columns.index(part) for part in item.parts)
            if uses_numbers(mechanism):  # such a mean has another encoding in tables
                places = (len(parts),)
                columns.append(item.name)
                parts.append(("number", *declared[item.name].kernel_part()[1:]))
            width = declared[item.parts[0]].row_bytes or mechanism.domain.kernel_dtype(np.zeros(0)).itemsize
            asked.append((places, _kernel_of(mechanism), width))
        thresholds = _design.thresholds([item.weight for item in items])
        return cls(
            declared,
            items,
            list(mechanisms),
            answers,
            series,
            [description(declared, item, mechanism) for item, mechanism in zip(items, mechanisms, strict=True)],
            head,
            columns,
            [places for places, *_ in asked],
            thresholds,
            _common_pairs(items) if answers > 1 else [],
            SurveyKernel(parts, asked, answers, thresholds),
        )

    @property
    def names(self) -> list[str]:
        """Names of the asked questions."""
        return [item.name for item in self.items]

    @property
    def weights(self) -> list[int]:
        """Number of tickets of each asked question in the choice of questions by personal keys."""
        return [item.tickets if self.answers == 1 else 1 for item in self.items]

    @property
    def sizes(self) -> list[int]:
        """Bytes of a report to each asked question."""
        return [mechanism.report.nbytes for mechanism in self.mechanisms]

    @property
    def state_layouts(self) -> list[StateLayout]:
        """Shapes and dtypes of the counts: answers to each question, people per pair, and the reports to each question."""
        formats = [mechanism.report.state_layout for mechanism in self.mechanisms]
        return [((len(self.items),), np.int64), ((len(self.pairs),), np.int64), *formats]


def _kernel_of(mechanism: Mechanism) -> Any:
    """Return the compiled kernel of the fresh reports; of a round, which has only reports with personal keys, the first one."""
    return (mechanism.first if isinstance(mechanism, TwoResponses) else mechanism)._pipeline.kernel


def description(declared: dict[str, ColumnQuestion], item: Item, mechanism: Mechanism) -> bytes:
    """Return the digest of everything that fixes the distribution and the meaning of the reports to an asked question.

    The name, the weight and the place of the question are not part of it: the survey can change around it. The names of the
    questions that a `Cross` combines are.
    """
    coins = {"mechanism": type(mechanism).__name__, "epsilon": mechanism.epsilon_realized, **mechanism._pinned()}
    if isinstance(mechanism, SketchResponse):
        coins["prefixes"] = list(mechanism.prefixes)  # which are hashed
    asked: dict[str, Any] = {"asks": [declared[part].description() for part in item.parts]}
    if len(item.parts) > 1:
        asked["of"] = list(item.parts)
    return _schema.digest({"version": _schema.VERSION, **asked, **coins})


def _common_pairs(items: list[Item]) -> list[tuple[int, int]]:
    pairs = itertools.combinations(enumerate(items), 2)
    return [(i, j) for (i, a), (j, b) in pairs if set(a.parts) & set(b.parts)]
