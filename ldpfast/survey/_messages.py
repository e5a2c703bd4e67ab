"""Messages: the answers of one person as bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.survey import FAULTS
from .._extras import optional
from .._schema import canonical_json
from ..reports._batches import BATCHES_KEY, GROUP
from ..reports._labeled_reports import COLUMN, SCHEMA_KEY
from ._layout import SurveyLayout


def messages_of(layout: SurveyLayout, table: Any) -> Any:
    """Return the rows of a table of reports as messages, in an Arrow array of binary values.

    Parameters
    ----------
    layout : SurveyLayout
        The survey that the reports answer.
    table : pyarrow.Table
        Result of `Survey.privatize`.

    Returns
    -------
    messages : pyarrow.BinaryArray
        The message of row i is what `SurveyClient.answer` would return for the same reports.
    """
    pa = optional("pyarrow", "files")
    columns = [table.column(name).combine_chunks() for name in layout.names]
    sizes = layout.sizes
    asked = [column.is_valid().to_numpy(zero_copy_only=False) for column in columns]
    head = np.frombuffer(layout.head, np.uint8)
    lengths = len(head) + sum((2 + size) * valid for size, valid in zip(sizes, asked, strict=True))
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    data = np.empty(ends[-1], np.uint8)
    place = ends[:-1].copy()  # where the next part of each message belongs
    data[place[:, np.newaxis] + np.arange(len(head))] = head
    place += len(head)
    for q, (column, size, valid) in enumerate(zip(columns, sizes, asked, strict=True)):
        present = column.drop_null()
        packed = np.frombuffer(present.buffers()[1] or b"", np.uint8)
        part = np.empty((len(present), 2 + size), np.uint8)
        part[:, :2] = np.frombuffer(q.to_bytes(2, "little"), np.uint8)
        part[:, 2:] = packed[size * present.offset : size * (present.offset + len(present))].reshape(-1, size)
        data[place[valid][:, np.newaxis] + np.arange(2 + size)] = part
        place[valid] += 2 + size
    large = pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(asked[0]), [None, pa.py_buffer(ends), pa.py_buffer(data)]
    )
    return large.cast(pa.binary())


def message_table(
    layout: SurveyLayout, messages: Sequence[bytes], groups: Sequence[str] | None, names: Mapping[str, Sequence[str]]
) -> Any:
    """Return messages as an Arrow table that explains itself, which `Aggregator.update` counts once.

    Parameters
    ----------
    layout : SurveyLayout
        The survey that the messages answer.
    messages : sequence of bytes
    groups : sequence of str, optional
        Group of each person.
    names : mapping
        What is stored of the names of batches, by group; the group "" without groups.
    """
    pa = optional("pyarrow", "files")
    columns = {COLUMN: pa.array(messages, pa.binary())}
    if groups is not None:
        columns[GROUP] = pa.array(groups, pa.string())
    metadata = {SCHEMA_KEY: canonical_json(layout.label.schema), BATCHES_KEY: json.dumps(dict(names))}
    return pa.table(columns, metadata=metadata)


def joined_messages(messages: Sequence[Any]) -> tuple[bytes, NDArray[np.int64]]:
    """Return messages as one text, and the start of the first and the ends of all."""
    try:
        lengths = np.fromiter(map(len, messages), np.int64, len(messages))
        data = b"".join(messages)
    except TypeError:
        wrong = next(i for i, m in enumerate(messages) if not isinstance(m, bytes | bytearray | memoryview))
        raise TypeError(
            f"reports must be messages of type bytes, got {type(messages[wrong]).__name__} at index {wrong}"
        ) from None
    return data, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def message_error(layout: SurveyLayout, data: Any, ends: NDArray[np.int64], index: int, fault: int) -> ValueError:
    """Return the error for a message with a fault."""
    what = FAULTS[fault]
    message = bytes(memoryview(data)[ends[index] : ends[index + 1]])
    if what == "version":
        return ValueError(f"reports must be messages of version {layout.head[0]}, got {message[0]} at index {index}")
    if what == "fingerprint":
        return ValueError(
            f"reports must answer the survey with the fingerprint {layout.label.fingerprint}, "
            f"got {message[1:9].hex()} at index {index}"
        )
    rule = {
        "length": f"messages with {layout.answers} answer{'s' * (layout.answers > 1)} and nothing else",
        "question": f"messages with numbers of questions below {len(layout.items)}",
        "order": "messages with different questions in ascending order",
    }[what]
    return ValueError(f"reports must be {rule}; that at index {index} is not")
