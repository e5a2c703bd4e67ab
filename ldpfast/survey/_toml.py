"""Surveys as TOML files, which people write and read."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from .. import _check
from .._described import classes_of
from .._schema import unpack
from ._calendar import Calendar
from ._questions import SurveyQuestion

ROUNDS = ("round", "rounds")  # of a repeated survey
# What is no part of the survey: labels that a server receives with reports, questions that a study is about, and a table of
# what a server watches.
DECLARED, ALERTS = ("groups", "primary"), "alerts"
CALENDAR = ("start", "every", "grace")
OPTIONS = (
    "epsilon", "answers", "weights", "series", "waves", "turns", "open_ended", "revision", "wave", "calendar", "questions"
)  # fmt: skip


def parse(text: str, epsilon: float | None = None, *, repeated: bool = False) -> dict[str, Any]:
    """Return the arguments of a survey from TOML, with those of a repeated survey if it is one.

    Parameters
    ----------
    text : str
        "epsilon", optionally other options of a survey and tables "weights" and "calendar", and a table "questions" with a
        table per question: its "type" and the arguments of that class.
    epsilon : float, optional
        Privacy parameter in the place of that of the text.
    repeated : bool
        Whether it must describe a repeated survey, with the entries "round" and "rounds".

    Returns
    -------
    arguments : dict

    Raises
    ------
    ValueError
        If the text is not TOML, or does not describe a survey.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        if text.endswith(".toml") and "\n" not in text:
            raise ValueError("text must be the content of a TOML file, got the name of a file") from None
        raise ValueError(f"a survey must be valid TOML: {error}") from None
    except RecursionError:
        raise ValueError("a survey must be TOML that is nested less deeply") from None
    data |= {} if epsilon is None else {"epsilon": epsilon}
    declared = {name: _checked_texts(name, data.pop(name, None)) for name in DECLARED}
    _checked_alerts(data.pop(ALERTS, None))
    known = (*OPTIONS, *ROUNDS) if repeated else OPTIONS
    unknown, missing = sorted(set(data) - set(known)), sorted(set(ROUNDS) - set(data))
    if unknown:
        raise ValueError(f"a survey must have the entries {', '.join(known)} only, got {unknown[0]!r}")
    if repeated and missing:
        raise ValueError(f"a repeated survey must have the entries {' and '.join(ROUNDS)}, got none of {missing[0]!r}")
    for name, kind in (("epsilon", (int, float)), ("questions", dict)):
        if not isinstance(data.get(name), kind):
            raise ValueError(
                f"a survey must have an entry {name!r}: a {'number' if name == 'epsilon' else 'table of questions'}"
            )
    questions = {name: _question(name, entries) for name, entries in data["questions"].items()}
    unasked = [name for name in declared["primary"] or () if name not in questions]
    if unasked:
        raise ValueError(f"primary must be names of questions of the survey, got {unasked[0]!r}")
    calendar = {"calendar": _calendar(data["calendar"])} if "calendar" in data else {}
    return {**data, "questions": questions, **calendar}


def has_rounds(text: str) -> bool:
    """Return whether TOML describes a repeated survey; whether it is valid is for `parse` to say."""
    try:
        return not {*ROUNDS}.isdisjoint(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, RecursionError):
        return False


def declared_of(text: str) -> dict[str, Any]:
    """Return the groups, primary questions and alerts that TOML declares for a server; None for what it does not."""
    data = tomllib.loads(text)
    declared = {name: _checked_texts(name, data.get(name)) for name in DECLARED}
    return {**declared, ALERTS: _checked_alerts(data.get(ALERTS))}


def _checked_alerts(alerts: Any) -> dict[str, Any] | None:
    if alerts is not None and not isinstance(alerts, dict):
        raise ValueError(f"alerts must be a table, got {alerts!r}")
    return alerts


def _checked_texts(name: str, values: Any) -> list[str] | None:
    if values is None:
        return None
    if not isinstance(values, list) or not values or not all(isinstance(value, str) and value for value in values):
        raise ValueError(f"{name} must be a list of non-empty texts, got {values!r}")
    _check.labels(name, values)
    return values


def _calendar(entries: Any) -> Calendar:
    """Return the calendar of a table, without the number of waves, which the survey has."""
    if not isinstance(entries, dict) or not {"start", "every"} <= set(entries) <= set(CALENDAR):
        raise ValueError(f"calendar must be a table with start, every and, if needed, grace, got {entries!r}")
    try:
        return Calendar(**entries)
    except (TypeError, ValueError) as error:
        raise ValueError(f"calendar: {error}") from None


def _question(name: str, entries: Any) -> SurveyQuestion:
    kinds = classes_of("question")
    if not isinstance(entries, dict) or str(entries.get("type")) not in kinds:
        got = entries.get("type") if isinstance(entries, dict) else entries
        raise ValueError(f"question {name!r} must have a type, one of {', '.join(sorted(kinds))}, got {got!r}")
    arguments = {key: value for key, value in entries.items() if key != "type"}
    try:
        question: SurveyQuestion = kinds[entries["type"]]._from_arguments(arguments)
    except TypeError as error:
        raise ValueError(f"question {name!r}: {str(error).partition('() ')[2] or error}") from None
    except ValueError as error:
        raise ValueError(f"question {name!r}: {error}") from None
    return question


def dump(
    questions: Mapping[str, SurveyQuestion],
    tables: Mapping[str, Mapping[str, Any] | None],
    options: Mapping[str, Any],
) -> str:
    """Return TOML that `parse` reads, from the questions, the tables that are not None, and all other options.

    Raises
    ------
    TypeError
        If TOML has no form of a label.
    """
    lines = [f"{name} = {_text(value)}" for name, value in options.items() if value is not None]
    for table, entries in tables.items():
        if entries is not None:
            lines += ["", f"[{table}]", *(f"{_key(name)} = {_text(value)}" for name, value in entries.items())]
    for name, question in questions.items():
        lines += ["", f"[questions.{_text(name)}]", f'type = "{type(question).__name__}"']
        for key, value in question.to_dict().items():
            if key != "question" and value is not None and value is not False and value != []:
                lines.append(f"{key} = {_text(value)}")
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if name in CALENDAR else _text(name)


def _text(value: Any) -> str:
    if isinstance(value, dict):
        value = unpack(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, date | datetime):
        return value.isoformat()
    raise TypeError(
        f"labels must be text, numbers, booleans or dates to be written as TOML, got {type(value).__name__}"
    )
