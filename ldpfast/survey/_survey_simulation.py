"""Simulation of the answers of many people to a survey by their counts."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._frames import By, Groups, group_columns, group_value, values_of
from .._labels import numbers_by_label
from .._typing import AnyArray, Floats
from ..mechanisms import Mechanism
from ..mechanisms._draws import PeopleCounts, bincount, multinomial
from ..reports import MAX_REPORTS, recipe_of
from ._answers_per_person import Item
from ._canonical_cells import canonical_cells
from ._layout import SurveyLayout
from ._mechanisms import uses_numbers

if TYPE_CHECKING:
    from numpy.random import Generator


# The value, the counts and the number of people of each group.
Simulated = list[tuple[Any, list[AnyArray], int]]

MAX_CHOICES = 1 << 14  # sets of questions that a person can be asked
WORDS = 1 << 32  # of the choice of one question


@dataclass(frozen=True, eq=False)
class PopulationRows:
    """The rows of a table, from which people are drawn.

    Attributes
    ----------
    cells : dict of str to ndarray
        Canonical values of the rows by the names of the questions.
    members : ndarray of int, shape (rows,)
        Number of the group of each row.
    groups : list
        Values of the groups; None alone if all people are one group.
    """

    cells: dict[str, AnyArray]
    members: NDArray[np.uint32]
    groups: list[Any]

    @classmethod
    def of(cls, layout: SurveyLayout, frame: Any, by: By | None) -> PopulationRows:
        """Return the rows of a table, divided by public columns.

        Raises
        ------
        TypeError, ValueError
            If the table has no rows, lacks a column, or has an invalid cell.
        """
        parts: list[dict[str, AnyArray]] = []
        members: list[NDArray[np.uint32]] = []
        groups = Groups(by)
        for piece, cells in canonical_cells(layout.declared, frame, further=group_columns(by)):
            parts.append(cells)
            column = values_of(by, piece.columns)
            members.append(np.zeros(piece.n, np.uint32) if by is None else groups.numbers(column))
        if not sum(map(len, members)):
            raise ValueError("people must be a table with at least one row, got none")
        found = {name: np.concatenate([part[name] for part in parts]) for name in layout.declared}
        return cls(found, np.concatenate(members), [None] if by is None else groups.values)

    def of_group(self, group: int) -> dict[str, AnyArray]:
        """Return the canonical values of the rows of a group."""
        rows = slice(None) if len(self.groups) == 1 else self.members == group
        return {name: cells[rows] for name, cells in self.cells.items()}

    def sizes(self, n: Any, generator: Generator) -> list[int]:
        """Return the numbers of people of the groups, who are drawn from all rows if there is one number of all.

        Raises
        ------
        TypeError, ValueError
            If the numbers are no integers, or not those of the groups.
        """
        pairs = numbers_by_label("n", n)
        if pairs is None:
            total = _check.integer("n", n, 1, MAX_REPORTS - 1)
            if len(self.groups) == 1:
                return [total]
            rows = np.bincount(self.members, minlength=len(self.groups)).astype(np.float64)
            return multinomial(generator, np.asarray(total, np.int64), rows).tolist()  # type: ignore[no-any-return]
        sizes = {group_value(group): _check.integer(f"n of {group!r}", size, 1) for group, size in pairs}
        if sizes.keys() != set(self.groups) or len(sizes) < len(pairs):
            odd = [group for group in self.groups if group not in sizes] or [g for g in sizes if g not in self.groups]
            raise ValueError(
                f"n must have a number for each group of the table, and no others, got {len(pairs)} for "
                f"{len(self.groups)} groups" + (f"; the first that differs is {odd[0]!r}" if odd else "")
            )
        if sum(sizes.values()) >= MAX_REPORTS:
            raise ValueError(f"n must be fewer than 2^62 people, got {sum(sizes.values())}")
        return [sizes[group] for group in self.groups]


def simulated(layout: SurveyLayout, frame: Any, n: Any, by: By | None, generator: Generator) -> Simulated:
    """Return the counts of the reports of people, who are drawn with replacement from the rows of a table, or of their group.

    Groups of nobody are left out.

    Raises
    ------
    TypeError, ValueError
        If the table has no rows, or a cell is invalid; if `n` does not fit the groups; if people answer questions in too many
        different ways; if a mechanism has no exact form.
    """
    layout.series.require_wave()
    people = PopulationRows.of(layout, frame, by)
    choices = math.comb(len(layout.items), layout.answers)
    if choices > MAX_CHOICES:
        raise ValueError(
            f"mechanism must be a survey with at most {MAX_CHOICES} different sets of questions per person, got {choices}"
        )
    sizes = people.sizes(n, generator)
    return [
        (value, _counts(layout, people.of_group(group), size, generator), size)
        for group, (value, size) in enumerate(zip(people.groups, sizes, strict=True))
        if size
    ]


def _counts(layout: SurveyLayout, cells: dict[str, AnyArray], n: int, generator: Generator) -> list[AnyArray]:
    """Return the counts of the reports of n people, who are drawn with replacement from rows with canonical values."""
    rows = len(next(iter(cells.values())))
    sets = list(itertools.combinations(range(len(layout.items)), layout.answers))
    asked = multinomial(generator, np.asarray(n, np.int64), _set_probabilities(layout, len(sets)))
    states = [np.zeros(shape, dtype) for shape, dtype in layout.state_layouts]
    people = [np.zeros(rows, np.int64) for _ in layout.items]
    for chosen, count in zip(sets, asked.tolist(), strict=True):
        drawn = multinomial(generator, np.asarray(count, np.int64), np.ones(rows))
        for q in chosen:
            states[0][q] += count
            people[q] += drawn
        for place, pair in enumerate(layout.pairs):
            states[1][place] += count * (set(pair) <= set(chosen))
    for q, (item, mechanism) in enumerate(zip(layout.items, layout.mechanisms, strict=True)):
        records, numbers = _records(item, cells, mechanism, people[q], generator)
        if len(records):
            states[2 + q][...] = recipe_of(mechanism).draw(records, numbers, generator)
    return states


def _set_probabilities(layout: SurveyLayout, sets: int) -> Floats:
    """Return the probabilities of the sets of questions, up to a factor."""
    if layout.answers > 1 or sets == 1:
        return np.ones(sets)
    return np.diff([0, *layout.thresholds.tolist(), WORDS]).astype(np.float64)


def _records(
    item: Item, cells: dict[str, AnyArray], mechanism: Mechanism, people: PeopleCounts, generator: Generator
) -> tuple[AnyArray, PeopleCounts]:
    """Return the different records that people have, and how many have each."""
    rows = np.flatnonzero(people)
    people = people[rows]
    if uses_numbers(mechanism):  # the number itself is privatized
        (column,), (name,) = item.form.columns, item.parts
        records: AnyArray = column.numbers_of(cells[name][rows])
    else:
        encoded: list[AnyArray] = []
        for column, name in zip(item.form.columns, item.parts, strict=True):
            low, high, share = column.symbol_shares(cells[name][rows])
            up = generator.binomial(people, share)
            kept = np.flatnonzero(np.concatenate([people - up, up]))
            encoded = [np.concatenate([own, own])[kept] for own in encoded] + [np.concatenate([low, high])[kept]]
            rows = np.concatenate([rows, rows])[kept]
            people = np.concatenate([people - up, up])[kept]
        records = item.form.joined(encoded).astype(mechanism.domain.kernel_dtype(np.zeros(0)), copy=False)
    values, places = np.unique(records, axis=0 if records.ndim > 1 else None, return_inverse=True)
    return values, bincount(places.reshape(-1), people, len(values))
