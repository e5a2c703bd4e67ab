"""The checks of the arguments of a survey."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from .. import _check
from ..mechanisms import Mechanism
from . import _answers_per_person
from ._answers_per_person import Item, MechanismMaker
from ._calendar import Calendar
from ._columns import QuestionColumn
from ._panel import Panel
from ._questions import SurveyQuestion, declared
from ._survey_tally import LABEL

MAX_QUESTIONS = 1 << 12
MAX_WEIGHTS = 1024  # sum of the weights, each of which is a number of tickets
MAX_CELLS = 1 << 24  # different answers to a question


def checked_calendar(calendar: Any, panel: Panel | None, wave: int | None) -> Calendar | None:
    """Return the calendar of a survey, with the number of its waves."""
    if calendar is None:
        return None
    if not isinstance(calendar, Calendar):
        raise TypeError(f"calendar must be a Calendar, got {type(calendar).__name__}")
    if panel is None:
        raise ValueError("calendar must be left out without waves")
    if wave is not None:
        raise ValueError(f"calendar must be that of the whole survey, and is left out for wave {wave}")
    waves = None if panel.open_ended else panel.waves
    if calendar.waves not in (None, waves):
        expected = (
            "no number of waves, because the series goes on" if waves is None else f"{waves} waves, as the survey"
        )
        raise ValueError(f"calendar must have {expected}, got {calendar.waves}")
    return replace(calendar, waves=waves)


def checked_questions(questions: Any) -> dict[str, Any]:
    """Return the questions by their names."""
    if not isinstance(questions, Mapping):
        raise TypeError(f"questions must be a mapping from names to questions, got {type(questions).__name__}")
    if not 1 <= len(questions) <= MAX_QUESTIONS:
        raise ValueError(f"questions must be between 1 and {MAX_QUESTIONS}, got {len(questions)}")
    _check.labels("names of questions", questions)
    for name, question in questions.items():
        if not isinstance(name, str) or not name or name == LABEL:
            raise ValueError(f"questions must have non-empty names other than {LABEL!r}, got {name!r}")
        if not isinstance(question, SurveyQuestion):
            raise TypeError(f"question {name!r} must be a question such as YesNo, Choice or Mean, got {question!r}")
    plain = declared(questions)
    for name, question in questions.items():
        parts = question._parts_of(name)
        if parts != (name,):
            for part in parts:
                if part not in plain:
                    listed = ", ".join(map(repr, plain))
                    raise ValueError(f"question {name!r} must combine questions out of {listed}, got {part!r}")
                if not plain[part].can_be_combined:
                    kind = type(questions[part]).__name__
                    raise ValueError(
                        f"question {name!r} must combine questions with declared answers, got the {kind} {part!r}"
                    )
    return dict(questions)


def checked_weights(weights: Any, questions: dict[str, Any]) -> dict[str, int]:
    """Return the weight of every question."""
    if weights is not None and not isinstance(weights, Mapping):
        raise TypeError(f"weights must be a mapping from names of questions, got {type(weights).__name__}")
    given = weights or {}
    unknown = [name for name in given if name not in questions]
    if unknown:
        raise ValueError(f"weights must be of the questions {', '.join(map(repr, questions))}, got {unknown[0]!r}")
    numbers = {name: _check.real(f"weights[{name!r}]", given.get(name, 1)) for name in questions}
    found = {name: int(number) for name, number in numbers.items()}
    is_valid = found == numbers and min(found.values()) >= 0 and any(found.values())
    if not is_valid or (given and sum(found.values()) > MAX_WEIGHTS):
        raise ValueError(
            f"weights must be integers >= 0, not all 0, with a sum of at most {MAX_WEIGHTS}, got {weights!r}"
        )
    return found


def checked_answers(answers: Any, items: list[Item], epsilon: float) -> int:
    """Return the number of answers per person."""
    if answers == "all":
        return len(items)
    if answers == "auto":
        if len({item.weight for item in items}) > 1:
            return 1  # other numbers of answers have no weights
        return _answers_per_person.best_answers(items, epsilon)
    if isinstance(answers, str):
        raise ValueError(f"answers must be an integer, 'all' or 'auto', got {answers!r}")
    return _check.integer("answers", answers, 1, len(items))


def item_of(
    name: str, question: SurveyQuestion, columns: Mapping[str, QuestionColumn], tickets: int, total: int
) -> Item:
    """Return a question as people are asked it, with its number of all tickets."""
    parts = question._parts_of(name)
    return Item(name, parts, question._form([columns[part] for part in parts]), tickets, Fraction(tickets, total))


def mechanisms_of(items: list[Item], make: MechanismMaker) -> dict[str, Mechanism]:
    """Return the mechanism of each item."""
    found = {}
    for item in items:
        if item.form.k > MAX_CELLS:
            raise ValueError(
                f"question {item.name!r} must have at most {MAX_CELLS} different answers, got {item.form.k}"
            )
        try:
            found[item.name] = make(item.form)
        except ValueError as error:
            raise ValueError(f"question {item.name!r} cannot be asked with epsilon / answers: {error}") from error
    return found
