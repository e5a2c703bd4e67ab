"""Simulation of the answers of many people to a survey by their counts."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import AnyArray, Floats
from ..mechanisms import Mechanism
from ..mechanisms._draws import PeopleCounts, bincount, multinomial
from ..reports import recipe_of
from ._answers_per_person import Item
from ._canonical_cells import canonical_cells
from ._layout import SurveyLayout
from ._mechanisms import uses_numbers

if TYPE_CHECKING:
    from numpy.random import Generator


MAX_CHOICES = 1 << 14  # sets of questions that a person can be asked
WORDS = 1 << 32  # of the choice of one question


def simulated(layout: SurveyLayout, frame: Any, n: int, generator: Generator) -> list[AnyArray]:
    """Return the counts of the reports of n people, who are drawn with replacement from the rows of a table.

    Raises
    ------
    TypeError, ValueError
        If the table has no rows, or a cell is invalid; if people answer questions in too many different ways; if a mechanism
        has no exact form.
    """
    layout.series.require_wave()
    cells = _cells(layout, frame)
    rows = len(next(iter(cells.values())))
    choices = math.comb(len(layout.items), layout.answers)
    if choices > MAX_CHOICES:
        raise ValueError(
            f"mechanism must be a survey with at most {MAX_CHOICES} different sets of questions per person, got {choices}"
        )
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


def _cells(layout: SurveyLayout, frame: Any) -> dict[str, AnyArray]:
    """Return the canonical values of all rows, by the names of the questions."""
    parts = [found for _, found in canonical_cells(layout.declared, frame)]
    if not sum(len(next(iter(part.values()))) for part in parts):
        raise ValueError("people must be a table with at least one row, got none")
    return {name: np.concatenate([part[name] for part in parts]) for name in layout.declared}


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
