"""Answers whose coins belong to the person and the value, so that a retry gives the same report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._core.person import words_each
from .._core.stream import StreamId
from .._core.survey import Column
from .._person_keys import PersonKeys, Persons, category_fields, number_fields
from .._typing import AnyArray, Floats
from ._questions import ColumnQuestion

if TYPE_CHECKING:
    from ._survey import Survey

PIECE_ROWS = 1 << 12  # rows whose keys are in memory together
ROUNDING = (StreamId.SURVEY_ROUNDING, StreamId.SURVEY_ROUNDING_SECOND)  # of the parts of a question


def person_answers(
    survey: Survey, keys: PersonKeys, persons: Persons, columns: list[Column]
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

    Returns
    -------
    reports : list of ndarray of uint8, shape (asked, size)
        Reports of the persons who are asked the question, in the order of the rows.
    asked : ndarray of bool, shape (n, questions)
    """
    layout = survey._layout
    asked = keys.assignment(layout.series, persons).assign(layout.names, layout.weights, layout.answers)
    reports = []
    for q, item in enumerate(layout.items):
        mechanism = survey.mechanisms[item.name]
        rows = np.flatnonzero(asked[:, q])
        personal = keys.named(layout.series, item.name, layout.descriptions[q], persons.take(rows))
        first, second = layout.places[q]
        places = [first] if second < 0 else [first, second]
        made = np.zeros((len(rows), *mechanism.report.shape), mechanism.report.dtype(np.dtype(np.float64)))
        for start in range(0, len(rows), PIECE_ROWS):
            these = rows[start : start + PIECE_ROWS]
            cells = [cells_of(columns[place], layout.declared[layout.columns[place]], these) for place in places]
            fields = [fields_of(cell) for cell in cells]
            own = personal.derive(start, np.concatenate(fields, axis=1))
            if mechanism.domain.width is None and mechanism.domain.clips:  # the number itself is privatized
                records: AnyArray = _values_of(cells[0], layout.declared[item.name])
            else:
                symbols = np.zeros(len(these), np.int64)
                for i, (cell, place) in enumerate(zip(cells, places, strict=True)):
                    question = layout.declared[layout.columns[place]]
                    symbols = symbols * question.k + encoded(cell, question, own, ROUNDING[i])
                records = symbols.astype(mechanism.domain.kernel_dtype(np.zeros(0)))
            mechanism._pipeline.kernel.privatize_each(own, records, made[start : start + len(these)])
        reports.append(mechanism.report.pack(made))
    return reports, asked


def cells_of(column: Column, question: ColumnQuestion, rows: NDArray[np.intp], clip: bool = True) -> Any:
    """Return the canonical values of some rows in ascending order: symbols, numbers of steps, or numbers in the declared range.

    A missing number is NaN, or the number after that of the last step. With `clip`, numbers out of range are moved to the
    nearest end. Returns None if a cell is invalid.
    """
    first, stop = (int(rows[0]), int(rows[-1]) + 1) if len(rows) else (0, 0)
    if question.encoding == "symbol":
        symbols = column.symbols(first, stop - first)[rows - first]
        return None if len(symbols) and symbols.max() >= question.k else symbols
    numbers, (lower, upper) = column.numbers(first, stop - first)[rows - first], question.valid_range()
    outside = (numbers < lower) | (numbers > upper)
    if (not question.optional and np.isnan(numbers).any()) or (not clip and outside.any()):
        return None
    if question.steps:
        nearest = np.floor(
            np.clip((numbers - lower) / (upper - lower), 0, 1) * question.steps + 0.5
        )  # as `encode_steps`
        return np.where(np.isnan(nearest), question.steps + 1, nearest).astype(np.uint32)
    numbers = np.clip(numbers, lower, upper)
    return _bins(numbers, question).astype(np.uint32) if question.encoding == "bin" else numbers


def _values_of(cell: Any, question: ColumnQuestion) -> Floats:
    """Return the numbers that canonical values stand for."""
    if not question.steps:
        return np.asarray(cell)
    lower, upper = question.valid_range()
    return np.asarray(lower + cell * ((upper - lower) * (1 / question.steps)))


def _bins(numbers: Floats, question: ColumnQuestion) -> NDArray[np.intp]:
    bins = np.searchsorted(np.asarray(question.limits()), numbers, side="right")
    return np.where(np.isnan(numbers), question.k - 1, bins)


def fields_of(cell: Any) -> NDArray[np.uint8]:
    """Return the fields of canonical values. A missing number is the NaN with the bits 0x7ff8000000000000."""
    if cell.dtype.kind != "f":
        return category_fields(cell)
    return number_fields(np.where(np.isnan(cell), np.uint64(0x7FF8000000000000).view(np.float64), cell))


def encoded(cell: Any, question: ColumnQuestion, keys: AnyArray, stream_id: StreamId) -> NDArray[np.int64]:
    """Return the symbols of canonical values, as `encode_low_high` rounds numbers."""
    if question.encoding != "low-high":
        return np.asarray(cell, np.int64)
    uniform = (words_each(keys, stream_id) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    if question.steps:
        missing, high = cell > question.steps, uniform < cell * (1 / question.steps)
    else:
        lower, upper = question.valid_range()
        missing, high = np.isnan(cell), uniform < (cell - lower) * (1 / (upper - lower))
    return np.where(missing, question.k - 1, high).astype(np.int64)
