"""Base classes of the questions of a survey. Each is a variable with finitely many values, and a statistic of their shares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self, TypeVar

from .. import _check, _schema
from .._described import Described
from ._answer_forms import AnswerForm
from ._columns import QuestionColumn

HeldColumn = TypeVar("HeldColumn", bound=QuestionColumn)


class SurveyQuestion(Described, ABC):
    """Base class of the questions of a survey. Subclasses are frozen dataclasses."""

    _kind: ClassVar[str] = "question"

    @classmethod
    def _from_arguments(cls, arguments: dict[str, Any]) -> Self:
        """Return the question with arguments by name, as a file has them."""
        return cls(**arguments)

    @classmethod
    def _from_packed(cls, arguments: dict[str, Any]) -> Self:
        return cls._from_arguments({name: _schema.unpack(value) for name, value in arguments.items()})

    def _parts_of(self, name: str) -> tuple[str, ...]:
        """Return the names of the declared questions that the question with a name combines."""
        return (name,)

    def _column_of(self, own: str, columns: Mapping[str, QuestionColumn]) -> QuestionColumn | None:
        """Return the column of the question with a name, from those of questions that have one; None if it has none."""
        return columns.get(own)

    @abstractmethod
    def _form(self, columns: Sequence[QuestionColumn]) -> AnswerForm:
        """Return how the columns of these questions make a record and an answer."""


class ColumnQuestion(SurveyQuestion):
    """Base class of the questions that are answered by one column of a table. Subclasses are frozen dataclasses.

    A question is its parameters. It holds a column, which turns cells into symbols and shares of symbols into the answer; the
    survey works on the column. A subclass calls `_hold` in ``__post_init__``.

    Attributes
    ----------
    optional : bool
        Whether an answer may be missing.
    column : str, tuple of str or None
        Name of the column; None for the name of the question. A `Several` can have a column for each option.
    """

    optional: bool
    column: str | tuple[str, ...] | None
    _column: QuestionColumn
    _not_asked: ClassVar[frozenset[str]] = frozenset(
        {"column"}
    )  # parameters that do not change the meaning of an answer

    def _hold(self, kind: type[HeldColumn], **values: Any) -> HeldColumn:
        """Check the common parameters, and hold a new column of a kind with further values, which may have a `column`."""
        optional, name = _check.flag("optional", self.optional), values.pop("column", self.column)
        if name is not None and (not isinstance(name, str) or not name):
            raise TypeError(f"column must be the name of a column, got {name!r}")
        _check.labels("column", [name])
        column = kind(optional=optional, column=name, describe_question=self._meaning, **values)
        self._set(_column=column)
        return column

    def _form(self, columns: Sequence[QuestionColumn]) -> AnswerForm:
        return self._column

    def _meaning(self) -> dict[str, Any]:
        """Return what fixes the meaning of an answer: everything but the name of the column."""
        return {name: value for name, value in self.to_dict().items() if name not in self._not_asked}

    @property
    def labels(self) -> tuple[Any, ...]:
        """Labels of the answers, without "no answer"."""
        return self._column.labels

    @property
    def k(self) -> int:
        """Number of symbols, with "no answer" if the question is optional."""
        return self._column.k


def column_of(question: ColumnQuestion) -> QuestionColumn:
    """Return the column that a question holds: the one door from what users see to what the survey uses."""
    return question._column


def declared(questions: Mapping[str, SurveyQuestion]) -> dict[str, QuestionColumn]:
    """Return the columns of the questions that one column answers, in the order of the questions."""
    own = {name: column_of(question) for name, question in questions.items() if isinstance(question, ColumnQuestion)}
    found = {name: question._column_of(name, own) for name, question in questions.items()}
    return {name: column for name, column in found.items() if column is not None}
