"""Tables of people as canonical values of questions, in pieces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from .._frames import Piece, pieces
from .._typing import AnyArray
from ._columns import QuestionColumn


def canonical_cells(
    declared: Mapping[str, QuestionColumn], frame: Any, *, clip: bool = False, further: Sequence[str] = ()
) -> Iterator[tuple[Piece, dict[str, AnyArray]]]:
    """Yield the pieces of a table, with the canonical values of their cells by the names of the questions.

    Parameters
    ----------
    declared : mapping of str to QuestionColumn
        Questions that a column answers, by their names.
    frame : mapping of arrays, data frame, or object that exports an Arrow stream or array
    clip : bool, default False
        Whether numbers out of range are moved, and undeclared categories count as "no answer" where the question is optional.
    further : sequence of str
        Names of columns that the pieces have as well.

    Raises
    ------
    TypeError, ValueError
        If the table lacks a column; if a cell is invalid. The message names column and row, never a value.
    """
    sources = [source for name, column in declared.items() for source in column.sources(name)]
    for piece in pieces(frame, list(dict.fromkeys([*sources, *further]))):
        found: dict[str, AnyArray] = {}
        for name, question in declared.items():
            called = question.column or name
            column = question.read(called, question.gathered(name, piece.columns), clip=clip)
            cells = question.canonical(column, np.arange(piece.n), clip=clip)
            if cells is None:
                raise question.first_fault(called, column, 0, piece.n, clip=clip, place=partial(_place, piece))
            found[name] = cells
        yield piece, found


def _place(piece: Piece, row: int) -> str:
    return piece.place(piece.start + row)
