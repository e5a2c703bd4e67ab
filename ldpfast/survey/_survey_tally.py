"""Counts of the answers to a survey, from messages and from Arrow tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.survey import FAULTS, message_faults, split_messages
from .._extras import optional
from .._typing import AnyArray
from ..mechanisms import Mechanism
from ..reports import check_table_schema
from ..reports._batches import BATCHES_KEY
from ..reports._labeled_reports import COLUMN, binary_buffers, is_binary
from ._layout import SurveyLayout
from ._messages import joined_messages, message_error

LABEL = "ldpfast"  # column with the fingerprint
MESSAGE_FAULTS = (*FAULTS, "value")  # the last: a report that no mechanism gives


def tally(layout: SurveyLayout, reports: Any) -> tuple[list[AnyArray], int]:
    """Return the counts of reports in the order of `SurveyLayout.state_layouts`, and the number of people.

    Raises
    ------
    TypeError, ValueError
        If they do not answer this survey, or are damaged.
    """
    if isinstance(reports, bytes | bytearray | memoryview):
        reports = [reports]
    if isinstance(reports, list | tuple):
        return _tally_messages(layout, *joined_messages(reports))
    if is_binary(reports):
        return _tally_messages(layout, *binary_buffers(reports))
    if hasattr(reports, "__arrow_c_stream__"):
        return _tally_tables(layout, reports)
    raise TypeError(f"reports must be an Arrow table or a list of messages, got {type(reports).__name__}")


def valid_messages(layout: SurveyLayout, messages: Sequence[bytes]) -> tuple[list[list[bytes]], Counter[str]]:
    """Return the messages that answer a survey, in one list, and the numbers of the others by their fault."""
    faults = faults_of(layout, messages)
    numbers = np.bincount(faults, minlength=len(MESSAGE_FAULTS)).tolist()
    refused = Counter({MESSAGE_FAULTS[fault]: count for fault, count in enumerate(numbers) if fault})
    kept = [messages[i] for i in np.flatnonzero(faults == 0).tolist()]
    return [kept] if kept else [], refused


def faults_of(layout: SurveyLayout, messages: Sequence[bytes]) -> NDArray[np.uint8]:
    """Return the number of the fault of each message in `MESSAGE_FAULTS`, 0 for a message that answers a survey."""
    joined = joined_messages(messages)
    sizes = np.array(layout.sizes, np.int64)
    faults: NDArray[np.uint8] = message_faults(*joined, layout.head, sizes, layout.answers)
    kept = np.flatnonzero(faults == 0)
    if len(kept):
        if len(kept) < len(messages):
            joined = joined_messages([messages[i] for i in kept.tolist()])
        questions, packed, _ = split_messages(*joined, layout.head, sizes, layout.answers)
        assert questions is not None
        valid = np.ones(len(kept), np.bool_)
        for q, (mechanism, part) in enumerate(zip(layout.mechanisms, packed, strict=True)):
            reports = mechanism.report.arrange(mechanism.report.unpack(part.reshape(-1, sizes[q])))
            asked = np.flatnonzero((questions == q).any(axis=1))
            valid[asked] &= mechanism.report.are_valid(reports)
        faults[kept[~valid]] = MESSAGE_FAULTS.index("value")
    return faults


def merge(layout: SurveyLayout, states: Sequence[AnyArray], others: Sequence[AnyArray]) -> None:
    """Add counts to others, in place."""
    for number in (0, 1):
        states[number][...] += others[number]
    for mechanism, state, other in zip(layout.mechanisms, states[2:], others[2:], strict=True):
        mechanism.report.merge(state, other)


def is_possible(layout: SurveyLayout, states: Sequence[AnyArray], n: int) -> bool:
    """Return whether n people can have these counts."""
    counts, pairs = states[0].tolist(), states[1].tolist()
    possible = sum(counts) == n * layout.answers and all(0 <= count <= n for count in counts)
    possible &= all(
        max(0, counts[a] + counts[b] - n) <= both <= min(counts[a], counts[b])
        for both, (a, b) in zip(pairs, layout.pairs, strict=True)
    )
    return possible and all(
        mechanism.report.is_possible(state, answers)
        for mechanism, state, answers in zip(layout.mechanisms, states[2:], counts, strict=True)
    )


def tally_rows(
    layout: SurveyLayout, reports: Sequence[NDArray[np.uint8]], asked: NDArray[np.bool_], states: list[AnyArray]
) -> None:
    """Add packed reports to counts.

    Parameters
    ----------
    layout : SurveyLayout
    reports : sequence of ndarray, shape (answers, size)
        One array per question.
    asked : ndarray of bool, shape (n, questions)
        Which of n people answered which question.
    states : list of ndarray
        The counts, changed in place.
    """
    for q, (mechanism, packed) in enumerate(zip(layout.mechanisms, reports, strict=True)):
        mechanism.report.merge(states[2 + q], _tally_packed(mechanism, packed))
        states[0][q] += len(packed)
    for i, (a, b) in enumerate(layout.pairs):
        states[1][i] += int((asked[:, a] & asked[:, b]).sum())


def tally_groups(
    layout: SurveyLayout,
    reports: Sequence[NDArray[np.uint8]],
    asked: NDArray[np.bool_],
    members: NDArray[np.uint32],
    states: list[AnyArray],
) -> None:
    """Add packed reports, which are valid, to the counts of groups of people.

    Parameters
    ----------
    layout, reports, asked
        As for `tally_rows`.
    members : ndarray of uint32, shape (n,)
        Number of the group of each person.
    states : list of ndarray
        The counts, with one row per group, changed in place.
    """
    for q, (mechanism, packed) in enumerate(zip(layout.mechanisms, reports, strict=True)):
        arranged = mechanism.report.arrange(mechanism.report.unpack(packed))
        states[0][:, q] += mechanism.report.tally_groups(arranged, members[asked[:, q]], states[2 + q])
    for i, (a, b) in enumerate(layout.pairs):
        states[1][:, i] += np.bincount(members[asked[:, a] & asked[:, b]], minlength=len(states[1]))


def _tally_packed(mechanism: Mechanism, packed: NDArray[np.uint8]) -> AnyArray:
    """Return the counts of packed reports to one question, after a check."""
    return mechanism.report.tallied(mechanism.report.arrange(mechanism.report.unpack(packed)))


def _no_counts(layout: SurveyLayout) -> list[AnyArray]:
    return [np.zeros(shape, dtype) for shape, dtype in layout.state_layouts]


def _tally_messages(layout: SurveyLayout, data: Any, ends: NDArray[np.int64]) -> tuple[list[AnyArray], int]:
    """Count joined messages: one pass checks them and collects the reports of each question."""
    sizes = np.array(layout.sizes, np.int64)
    questions, packed, fault = split_messages(data, ends, layout.head, sizes, layout.answers)
    if fault is not None:
        raise message_error(layout, data, ends, *fault)
    assert questions is not None
    asked = np.zeros((len(questions), len(sizes)), np.bool_)
    if len(layout.pairs):
        np.put_along_axis(asked, questions.astype(np.intp), True, axis=1)
    states = _no_counts(layout)
    reports = [part.reshape(-1, size) for part, size in zip(packed, sizes, strict=True)]
    with _named(layout, reports, lambda q: (questions == q).any(axis=1), "that at index"):
        tally_rows(layout, reports, asked, states)
    return states, len(asked)


def _tally_tables(layout: SurveyLayout, reports: Any) -> tuple[list[AnyArray], int]:
    """Count Arrow tables of reports, batch by batch."""
    pa = optional("pyarrow", "files")
    try:
        reader = reports.to_reader() if isinstance(reports, pa.Table) else pa.RecordBatchReader.from_stream(reports)
    except (pa.ArrowException, TypeError, ValueError):
        raise TypeError(f"reports must be an Arrow table, got {type(reports).__name__}") from None
    states, n = _no_counts(layout), 0
    if LABEL not in reader.schema.names and COLUMN in reader.schema.names:
        check_table_schema(layout.label.schema, "survey", reader.schema)
        _require_names(reports, reader.schema)
        for batch in reader:
            counted, people = tally(layout, batch.column(COLUMN))
            merge(layout, states, counted)
            n += people
        return states, n
    _check_schema(layout, reader.schema)
    for batch in reader:
        _tally_batch(layout, batch, states, n)
        n += batch.num_rows
    return states, n


def _tally_batch(layout: SurveyLayout, batch: Any, states: list[AnyArray], first: int) -> None:
    """Add a batch of a table, whose first row has the number `first`, to counts."""
    rows = batch.num_rows
    labels = set(batch.column(LABEL).unique().to_pylist())
    if not labels <= {layout.head[1:]}:
        raise ValueError(
            f"reports must answer the survey with the fingerprint {layout.label.fingerprint} in every row, "
            "got rows of another survey"
        )
    asked = np.zeros((rows, len(layout.items)), np.bool_)
    reports = []
    for q, (name, size) in enumerate(zip(layout.names, layout.sizes, strict=True)):
        column = batch.column(name)
        asked[:, q] = ~column.is_null().to_numpy(zero_copy_only=False)
        present = column.drop_null()
        raw = np.frombuffer(present.buffers()[1] or b"", np.uint8)
        reports.append(raw[size * present.offset : size * (present.offset + len(present))].reshape(-1, size))
    answers = asked.sum(axis=1)
    if (answers != layout.answers).any():
        row = int(np.argmax(answers != layout.answers))
        raise ValueError(f"reports must have {layout.answers} answers in every row; row {first + row} does not")
    with _named(layout, reports, lambda q: asked[:, q], "row", first):
        tally_rows(layout, reports, asked, states)


@contextmanager
def _named(
    layout: SurveyLayout,
    reports: Sequence[NDArray[np.uint8]],
    asked: Callable[[int], NDArray[np.bool_]],
    place: str,
    first: int = 0,
) -> Iterator[None]:
    """Name question and place in the error for an invalid report.

    Parameters
    ----------
    layout : SurveyLayout
    reports : sequence of ndarray, shape (answers, size)
        One array per question.
    asked : callable
        Function of the number of a question that returns which people answered it.
    place : str
        What stands before the number of a person in the message.
    first : int
        Number of the first person.
    """
    try:
        yield
    except ValueError:
        for q, (name, mechanism, packed) in enumerate(zip(layout.names, layout.mechanisms, reports, strict=True)):
            if not _are_valid(mechanism, packed):
                person = first + int(np.flatnonzero(asked(q))[_first_invalid(mechanism, packed)])
                kind = type(mechanism).__name__
                raise ValueError(
                    f"reports must be those of {kind} for question {name!r}; {place} {person} is not"
                ) from None
        raise


def _first_invalid(mechanism: Mechanism, packed: NDArray[np.uint8]) -> int:
    """Return the place of the first invalid report, of which there is one at least."""
    low, high = 0, len(packed)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _are_valid(mechanism, packed[low:middle]) else (low, middle)
    return low


def _are_valid(mechanism: Mechanism, packed: NDArray[np.uint8]) -> bool:
    try:
        _tally_packed(mechanism, packed)
    except ValueError:
        return False
    return True


def _require_names(reports: Any, schema: Any) -> None:
    """Raise if names of batches are lost, which `Aggregator.update` reads from tables of pyarrow only."""
    pa = optional("pyarrow", "files")
    if BATCHES_KEY in schema.metadata and not isinstance(reports, pa.Table):
        raise TypeError(f"reports with names of batches must be a whole pyarrow.Table, got {type(reports).__name__}")


def _check_schema(layout: SurveyLayout, schema: Any) -> None:
    """Raise if a table is not one of reports of a survey."""
    pa = optional("pyarrow", "files")
    check_table_schema(layout.label.schema, "survey", schema)
    expected = dict(zip(layout.names, layout.sizes, strict=True)) | {LABEL: 8}
    for name, size in expected.items():
        if schema.names.count(name) != 1:
            raise ValueError(f"reports must be a table with one column {name!r}, got {schema.names}")
        if schema.field(name).type != pa.binary(size):
            raise TypeError(
                f"reports must have a column {name!r} of fixed-size binary with {size} bytes, got {schema.field(name).type}"
            )
