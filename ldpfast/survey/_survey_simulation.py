"""Simulation of the answers of many people to a survey by their counts."""

from __future__ import annotations

import itertools
import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .._frames import Piece, pieces
from .._typing import AnyArray, Floats
from ..mechanisms import Mechanism
from ..mechanisms._draws import PeopleCounts, bincount, multinomial
from ..reports import recipe_of
from ._columns import QuestionColumn
from ._layout import SurveyLayout

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
    if not rows:
        raise ValueError("people must be a table with at least one row, got none")
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
        parts = [(layout.declared[name], cells[name]) for name in item.parts]
        records, numbers = _records(parts, mechanism, people[q], generator)
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
    names = {name: question.column or name for name, question in layout.declared.items()}
    found: dict[str, list[AnyArray]] = {name: [] for name in names}
    for piece in pieces(frame, list(dict.fromkeys(names.values()))):
        for name, question in layout.declared.items():
            column = question.read(names[name], piece.columns[names[name]])
            cells = question.canonical(column, np.arange(piece.n))
            if cells is None:
                raise question.first_fault(names[name], column, 0, piece.n, place=partial(_place, piece))
            found[name].append(cells)
    return {name: np.concatenate(parts) if parts else np.zeros(0) for name, parts in found.items()}


def _place(piece: Piece, row: int) -> str:
    return piece.place(piece.start + row)


def _records(
    parts: list[tuple[QuestionColumn, AnyArray]], mechanism: Mechanism, people: PeopleCounts, generator: Generator
) -> tuple[AnyArray, PeopleCounts]:
    """Return the different records that people have, and how many have each."""
    rows = np.flatnonzero(people)
    people = people[rows]
    if parts[0][0].row_bytes:
        values, places = np.unique(parts[0][1][rows], axis=0, return_inverse=True)
        return values, bincount(places.reshape(-1), people, len(values))
    if mechanism.domain.width is None and mechanism.domain.clips:  # the number itself is privatized
        ((question, cells),) = parts
        values, places = np.unique(question.numbers_of(cells[rows]), return_inverse=True)
    else:
        symbols = np.zeros(len(rows), np.int64)
        for question, cells in parts:
            low, high, share = question.symbol_shares(cells[rows])
            up = generator.binomial(people, share)
            rows, people = np.concatenate([rows, rows]), np.concatenate([people - up, up])
            symbols = np.concatenate([symbols * question.k + low, symbols * question.k + high])
            kept = people > 0
            rows = rows[kept]
            people = people[kept]
            symbols = symbols[kept]
        values, places = np.unique(symbols, return_inverse=True)
        values = values.astype(mechanism.domain.kernel_dtype(np.zeros(0)))
    return values, bincount(places, people, len(values))
