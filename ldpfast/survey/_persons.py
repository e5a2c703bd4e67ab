"""Answers whose coins belong to the person and the value, so that a retry gives the same report."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.survey import Column
from .._person_keys import PIECE_ROWS, PersonKeys, Persons, number_fields, value_fields
from .._typing import AnyArray
from ._layout import SurveyLayout
from ._mechanisms import uses_numbers


def person_answers(
    recipe: SurveyLayout,
    keys: PersonKeys,
    persons: Persons,
    columns: list[Column],
    chosen: NDArray[np.intp] | None = None,
) -> tuple[list[AnyArray], NDArray[np.bool_]]:
    """Return the packed reports of each asked question, and which person is asked which question.

    Parameters
    ----------
    recipe : SurveyLayout
    keys : PersonKeys
        The secret.
    persons : Persons
        One per row.
    columns : list of Column
        Valid columns for the kernel of the survey.
    chosen : ndarray of int, shape (m,), optional
        Rows of the persons who answer. The default is all.

    Returns
    -------
    reports : list of ndarray of uint8, shape (asked, size)
        Reports of the persons who are asked the question, in the order of the rows.
    asked : ndarray of bool, shape (m, questions)
    """
    persons = persons if chosen is None else persons.take(chosen)
    # For each question, the people who are asked it: their cells in canonical form are a part of the input of their keys, so
    # that equal values give equal reports in every dtype and container.
    asked = keys.assignment(recipe.series.coins, persons).assign(recipe.names, recipe.weights, recipe.answers)
    reports = []
    for q, item in enumerate(recipe.items):
        mechanism = recipe.mechanisms[q]
        rows = np.flatnonzero(asked[:, q])
        if not len(rows):  # most questions, for one person
            reports.append(np.zeros((0, mechanism.report.nbytes), np.uint8))
            continue
        responder = recipe.coins[q].responder(keys, item.name, persons.take(rows))
        places = recipe.places[q]
        made = np.zeros((len(rows), *mechanism.report.shape), mechanism.report.dtype(np.dtype(np.float64)))
        for start in range(0, len(rows), PIECE_ROWS):
            these = rows[start : start + PIECE_ROWS] if chosen is None else chosen[rows[start : start + PIECE_ROWS]]
            asked_columns = [recipe.declared[recipe.columns[place]] for place in places]
            cells = [
                column.canonical(columns[place], these, clip=True)
                for place, column in zip(places, asked_columns, strict=True)
            ]
            fields = [fields_of(cell) for cell in cells]
            own = responder.own.derive(start, np.concatenate(fields, axis=1))
            if uses_numbers(mechanism):  # the number itself is privatized
                records: AnyArray = asked_columns[0].numbers_of(cells[0])
            else:
                encoded = [
                    column.encoded(cell, own, part)
                    for part, (cell, column) in enumerate(zip(cells, asked_columns, strict=True))
                ]
                records = item.form.joined(encoded).astype(mechanism.domain.kernel_dtype(np.zeros(0)), copy=False)
            responder.respond(start, own, records, made[start : start + len(these)])
        reports.append(mechanism.report.pack(made))
    return reports, asked


def fields_of(cell: Any) -> NDArray[np.uint8]:
    """Return the fields of canonical values. A missing number is the NaN with the bits 0x7ff8000000000000."""
    if cell.dtype.kind != "f":
        return value_fields(cell)
    return number_fields(np.where(np.isnan(cell), np.uint64(0x7FF8000000000000).view(np.float64), cell))
