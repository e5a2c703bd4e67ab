"""The numbers of a publication, one by one, and the tables that they make."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .._table import Table

PEOPLE = "PS"  # code of the unit of people in SDMX; other units are spelled out
TOTAL = "_T"  # code for all together in SDMX
ALL = "all"  # the same in tables
NUMBERS = ("people", "share", "value", "stderr", "low", "high", "n")  # columns of a table
ATTRIBUTES = (
    "STRUCTURE",
    "STRUCTURE_ID",
    "ACTION",
    "TABLE",
    "UNIT_MEASURE",
    "TIME_PERIOD",
    "OBS_VALUE",
    "STDERR",
    "LOWER",
    "UPPER",
    "SHARE",
    "ANSWERS",
    "OBS_STATUS",
    "CONF_STATUS",
)


@dataclass(frozen=True)
class Figure:
    """One published number.

    Attributes
    ----------
    table : str
    group : tuple
        Values of the columns that divide people; empty for all together.
    labels : dict
        Labels by the questions of the table.
    unit : str
        `PEOPLE`, or what a statistic is.
    value : float
        The share of the group, or the statistic.
    stderr, low, high : float
        In the unit of `value`.
    people : int or None
        Number of people, for shares.
    scale : float
        Number of people of the group, which shares are multiplied by.
    n : int
        Number of answers.
    is_suppressed : bool
    """

    table: str
    group: tuple[Any, ...]
    labels: dict[str, Any]
    unit: str
    value: float
    stderr: float
    low: float
    high: float
    people: int | None
    scale: float
    n: int
    is_suppressed: bool = False

    def numbers(self) -> dict[str, Any]:
        """Return the columns of a table."""
        gap = math.nan
        shown = [gap] * 4 if self.is_suppressed else [self.value, self.stderr, self.low, self.high]
        errors = dict(zip(("stderr", "low", "high"), shown[1:], strict=True))
        if self.people is None:
            return {"value": shown[0], **errors, "n": self.n}
        return {"people": gap if self.is_suppressed else self.people, "share": shown[0], **errors, "n": self.n}

    def attributes(self, structure: str, period: str) -> dict[str, Any]:
        """Return the columns of SDMX-CSV without the dimensions."""
        scale = 1.0 if self.people is None else self.scale
        gap = math.nan
        value = self.value if self.people is None else float(self.people)
        # The size of a group is no multiple of the base.
        errors = [scale * self.stderr, min(scale * self.low, value), max(scale * self.high, value)]
        if self.is_suppressed:
            value, errors = gap, [gap] * 3
        return {
            "STRUCTURE": "dataflow",
            "STRUCTURE_ID": structure,
            "ACTION": "I",
            "TABLE": self.table,
            "UNIT_MEASURE": self.unit,
            "TIME_PERIOD": period,
            "OBS_VALUE": value,
            **dict(zip(("STDERR", "LOWER", "UPPER"), errors, strict=True)),
            "SHARE": gap if self.people is None or self.is_suppressed else self.value,
            "ANSWERS": self.n,
            "OBS_STATUS": "Q" if self.is_suppressed else "A",
            "CONF_STATUS": "F",
        }


def check_labels(figures: Iterable[Figure]) -> None:
    """Raise if groups or labels have the names of all together.

    Raises
    ------
    ValueError
        If a group is "all" or "_T", or a label is "_T".
    """
    for figure in figures:
        for value in figure.group:
            if str(value) in (ALL, TOTAL):
                raise ValueError(
                    f"groups must not be {ALL!r} or {TOTAL!r}, which stand for all together, got {value!r}"
                )
        if TOTAL in figure.labels.values():
            raise ValueError(
                f"labels must not be {TOTAL!r}, which stands for all together, got a label of {figure.table!r}"
            )


def tables_of(figures: Sequence[Figure], by: Sequence[str]) -> dict[str, Table]:
    """Return the tables of numbers, each with the columns that divide people and the labels of its questions."""
    found: dict[str, list[Figure]] = {}
    for figure in figures:
        found.setdefault(figure.table, []).append(figure)
    tables = {}
    for name, own in found.items():
        groups, labels = _names(by, [*own[0].labels], NUMBERS)
        columns: dict[str, list[Any]] = {}
        for column, part in zip(groups, range(len(by)), strict=True):
            columns[column] = [figure.group[part] if figure.group else ALL for figure in own]
        for column, question in zip(labels, own[0].labels, strict=True):
            columns[column] = [figure.labels[question] for figure in own]
        numbers = [figure.numbers() for figure in own]
        used = [
            key for key in NUMBERS if any(key in one for one in numbers)
        ]  # people, a share and a mean can be in one table
        tables[name] = Table({**columns, **{key: [one.get(key, math.nan) for one in numbers] for key in used}})
    return tables


def frame_of(figures: Sequence[Figure], by: Sequence[str], structure: str, period: str) -> Table:
    """Return all numbers with the columns of SDMX-CSV."""
    questions = list(dict.fromkeys(question for figure in figures for question in figure.labels))
    groups, names = _names(by, questions, ATTRIBUTES)
    rows = [figure.attributes(structure, period) for figure in figures]
    dimensions: dict[str, list[Any]] = {}
    for part, column in enumerate(groups):
        dimensions[column] = [str(figure.group[part]) if figure.group else TOTAL for figure in figures]
    for column, question in zip(names, questions, strict=True):
        dimensions[column] = [str(figure.labels.get(question, TOTAL)) for figure in figures]
    columns = {key: [row[key] for row in rows] for key in ATTRIBUTES}
    first = {key: columns.pop(key) for key in ATTRIBUTES[:4]}
    return Table({**first, **dimensions, **columns})


def _names(by: Iterable[str], questions: Iterable[str], taken: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the names of the columns of groups and of the columns of questions, all different and not taken."""
    used = set(taken)
    found: tuple[list[str], list[str]] = ([], [])
    for names, kind, own in zip((by, questions), ("group", "question"), found, strict=True):
        for name in names:
            unique = name
            while unique in used:
                unique = f"{kind} {unique}"
            used.add(unique)
            own.append(unique)
    return found
