"""Answers whose coins belong to the person and the value, so that a retry gives the same report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._core.survey import Column
from .._person_keys import PersonKeys, Persons, number_fields, value_fields
from .._typing import AnyArray

if TYPE_CHECKING:
    from ._survey import Survey

PIECE_ROWS = 1 << 12  # rows whose keys are in memory together


def person_answers(
    survey: Survey, keys: PersonKeys, persons: Persons, columns: list[Column], chosen: NDArray[np.intp] | None = None
) -> tuple[list[AnyArray], NDArray[np.bool_]]:
    """Return the packed reports of each asked question, and which person is asked which question.

    Parameters
    ----------
    survey : Survey
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
    layout = survey._layout
    persons = persons if chosen is None else persons.take(chosen)
    asked = keys.assignment(layout.series, persons).assign(layout.names, layout.weights, layout.answers)
    reports = []
    for q, item in enumerate(layout.items):
        mechanism = survey.mechanisms[item.name]
        rows = np.flatnonzero(asked[:, q])
        answering = persons.take(rows)
        personal = keys.named(layout.series, item.name, survey._permanent(q), answering)
        places = layout.places[q]
        made = np.zeros((len(rows), *mechanism.report.shape), mechanism.report.dtype(np.dtype(np.float64)))
        for start in range(0, len(rows), PIECE_ROWS):
            these = rows[start : start + PIECE_ROWS] if chosen is None else chosen[rows[start : start + PIECE_ROWS]]
            questions = [layout.declared[layout.columns[place]] for place in places]
            cells = [
                question.canonical(columns[place], these, clip=True)
                for place, question in zip(places, questions, strict=True)
            ]
            fields = [fields_of(cell) for cell in cells]
            own = personal.derive(start, np.concatenate(fields, axis=1))
            if questions[0].row_bytes:
                records: AnyArray = cells[0]
            elif mechanism.domain.width is None and mechanism.domain.clips:  # the number itself is privatized
                records = questions[0].numbers_of(cells[0])
            else:
                symbols = np.zeros(len(these), np.int64)
                for part, (cell, question) in enumerate(zip(cells, questions, strict=True)):
                    symbols = symbols * question.k + question.encoded(cell, own, part)
                records = symbols.astype(mechanism.domain.kernel_dtype(np.zeros(0)))
            survey._respond(q, keys, answering, start, own, records, made[start : start + len(these)])
        reports.append(mechanism.report.pack(made))
    return reports, asked


def fields_of(cell: Any) -> NDArray[np.uint8]:
    """Return the fields of canonical values. A missing number is the NaN with the bits 0x7ff8000000000000."""
    if cell.dtype.kind != "f":
        return value_fields(cell)
    return number_fields(np.where(np.isnan(cell), np.uint64(0x7FF8000000000000).view(np.float64), cell))
