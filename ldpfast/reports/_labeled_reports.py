"""Reports that say which question they answer: messages of one person, and Arrow tables of many."""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._extras import optional
from .._schema import canonical_json, digest, first_difference, read_json
from .._typing import AnyArray

if TYPE_CHECKING:
    from ._format import Format

MESSAGE_VERSION = 1
MESSAGE_HEAD = struct.Struct(
    "<B8sH"
)  # version of the layout, start of the digest of the schema, number of the question
SCHEMA_KEY = b"ldpfast"  # of the metadata of Arrow tables and Parquet files
COLUMN, LABEL = "report", "question"


class Label:
    """What reports say about the question that they answer: its schema, and the start of the digest of this.

    Attributes
    ----------
    schema : dict
    head : bytes
        Start of every message: version, fingerprint, and the number 0 of the only question.
    """

    def __init__(self, make: Callable[[], dict[str, Any]], show: Callable[[], str]) -> None:
        self._make, self._show = make, show

    @property
    def text(self) -> str:
        """The question in messages of errors."""
        return self._show()

    @property
    def schema(self) -> dict[str, Any]:
        """Everything that determines the reports and their meaning."""
        return self._make()

    @cached_property
    def head(self) -> bytes:
        """Start of every message."""
        return MESSAGE_HEAD.pack(MESSAGE_VERSION, digest(self.schema)[:8], 0)

    @property
    def fingerprint(self) -> str:
        """First 8 bytes of the digest of the schema, as hexadecimal digits."""
        return self.head[1:9].hex()


def read(report: Format, label: Label, reports: Any) -> Any:
    """Return the reports of messages or of a table after a check of their labels, and anything else unchanged."""
    if isinstance(reports, bytes | bytearray):
        return read_messages(report, label, [reports])
    if isinstance(reports, list | tuple) and not reports:
        return np.empty((0, *report.shape), report.dtype(np.dtype(np.float64)))
    if isinstance(reports, list | tuple) and isinstance(reports[0], bytes | bytearray | memoryview):
        return read_messages(report, label, reports)
    if is_binary(reports):
        return read(report, label, binary_values(reports))
    if hasattr(reports, "__arrow_c_stream__") and hasattr(reports, "schema"):
        return read_table(report, label, reports)
    return reports


def to_table(report: Format, label: Label, reports: Any) -> Any:
    """Return reports as an Arrow table that explains itself."""
    pa = optional("pyarrow", "files")
    packed = report.pack(report.validate(reports))
    kind = pa.binary(packed.shape[1])
    column = pa.FixedSizeBinaryArray.from_buffers(kind, len(packed), [None, pa.py_buffer(packed)])
    labels = pa.repeat(pa.scalar(label.head[1:9], pa.binary(8)), len(packed))
    metadata = {SCHEMA_KEY: canonical_json(label.schema)}
    schema = pa.schema([pa.field(COLUMN, kind), pa.field(LABEL, pa.binary(8))], metadata=metadata)
    return pa.Table.from_arrays([column, labels], schema=schema)


def read_messages(report: Format, label: Label, messages: Sequence[Any]) -> AnyArray:
    """Return the reports of messages, after a check that all of them answer a question."""
    size = len(label.head)
    for i, message in enumerate(messages):
        if not isinstance(message, bytes | bytearray | memoryview):
            raise TypeError(f"reports must be messages of type bytes, got {type(message).__name__} at index {i}")
        if len(message) != len(messages[0]):
            raise ValueError(
                f"reports must be messages of one length, got {len(message)} bytes at index {i} after {len(messages[0])}"
            )
    if len(messages[0]) <= size:
        raise ValueError(f"reports must be messages of more than {size} bytes, got {len(messages[0])}")
    whole = np.frombuffer(b"".join(messages), np.uint8).reshape(len(messages), -1)
    wrong = (whole[:, :size] != np.frombuffer(label.head, np.uint8)).any(axis=1)
    if wrong.any():
        i = int(np.argmax(wrong))
        version, fingerprint, number = MESSAGE_HEAD.unpack(whole[i, :size].tobytes())
        if version != MESSAGE_VERSION:
            raise ValueError(
                f"reports must be messages of version {MESSAGE_VERSION}, got version {version} at index {i}"
            )
        raise ValueError(
            f"reports must answer question 0 with the fingerprint {label.fingerprint}, "
            f"got question {number} with the fingerprint {fingerprint.hex()} at index {i}"
        )
    return report.unpack(whole[:, size:])


def valid_messages(report: Format, label: Label, messages: Sequence[bytes]) -> tuple[list[list[bytes]], Counter[str]]:
    """Return the messages that answer a question, in lists of one length each, and the numbers of the others by their fault."""
    refused, kept = Counter[str](), []
    size = len(label.head)
    lengths = np.fromiter(map(len, messages), np.int64, len(messages))
    items = math.prod(report.shape)
    expected = {size + items * report.dtype(np.dtype(kind)).itemsize for kind in (np.float32, np.float64)}
    refused["length"] = int((~np.isin(lengths, [*expected])).sum())
    for length in sorted(expected):
        own = [messages[i] for i in np.flatnonzero(lengths == length).tolist()]
        whole = np.frombuffer(b"".join(own), np.uint8).reshape(len(own), length)
        same = whole[:, :size] == np.frombuffer(label.head, np.uint8)
        faults = {
            "version": ~same[:, 0],
            "fingerprint": ~same[:, 1:9].all(axis=1),
            "question": ~same[:, 9:].all(axis=1),
        }
        valid = np.ones(len(own), np.bool_)
        for name, wrong in faults.items():
            refused[name] += int((wrong & valid).sum())
            valid &= ~wrong
        places = np.flatnonzero(valid)
        if len(places):
            reports = report.arrange(report.unpack(np.ascontiguousarray(whole[places, size:])))
            fine = report.are_valid(reports)
            refused["value"] += int((~fine).sum())
            kept.append([own[i] for i in places[fine].tolist()])
    return kept, refused


def messages_of(report: Format, label: Label, reports: AnyArray) -> Any:
    """Return valid reports as messages, in an Arrow array of binary values."""
    pa = optional("pyarrow", "files")
    packed = report.pack(reports)
    head = np.broadcast_to(np.frombuffer(label.head, np.uint8), (len(packed), len(label.head)))
    whole = np.ascontiguousarray(np.concatenate([head, packed], axis=1))
    fixed = pa.FixedSizeBinaryArray.from_buffers(pa.binary(whole.shape[1]), len(whole), [None, pa.py_buffer(whole)])
    return fixed.cast(pa.binary())


def is_binary(reports: Any) -> bool:
    """Return whether reports are an Arrow array of binary values."""
    kind = getattr(reports, "type", None)
    if kind is None or not hasattr(reports, "null_count"):
        return False
    types = optional("pyarrow", "files").types
    return bool(types.is_binary(kind) or types.is_large_binary(kind))


def binary_values(reports: Any) -> list[bytes]:
    """Return the messages of an Arrow array.

    Raises
    ------
    ValueError
        If one is missing.
    """
    _require_no_nulls(reports)
    values: list[bytes] = reports.to_pylist()
    return values


def binary_buffers(reports: Any) -> tuple[Any, NDArray[np.int64]]:
    """Return joined messages of an Arrow array, the start of the first and the ends of all, without a copy."""
    pa = optional("pyarrow", "files")
    _require_no_nulls(reports)
    if not len(reports):
        return b"", np.zeros(1, np.int64)
    array = reports.cast(pa.large_binary())
    array = pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array
    ends = np.frombuffer(array.buffers()[1], np.int64)[array.offset : array.offset + len(array) + 1]
    return np.frombuffer(array.buffers()[2] or b"", np.uint8), np.ascontiguousarray(ends)


def _require_no_nulls(reports: Any) -> None:
    if reports.null_count:
        raise ValueError(f"reports must be messages without null, got {reports.null_count} nulls")


def check_table_schema(asked: dict[str, Any], noun: str, schema: Any) -> None:
    """Raise unless the metadata of an Arrow table hold the schema of a question or a survey, which is called `noun`.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> from ldpfast.reports import check_table_schema
    >>> mechanism = ldp.Warner(1.0)
    >>> table = mechanism.to_arrow(mechanism.privatize([True, False], rng=1))
    >>> check_table_schema(mechanism.schema(), "question", table.schema)  # raises if it is another question
    """
    text = (schema.metadata or {}).get(SCHEMA_KEY)
    if text is None:
        raise ValueError(f'reports must be a table with the schema of its {noun} in the metadata, under "ldpfast"')
    try:
        difference = first_difference(asked, read_json(text))
    except (RecursionError, TypeError, ValueError) as error:
        raise ValueError(f'reports must be a table with a schema under "ldpfast": {error}') from error
    if difference:
        raise ValueError(f"reports must answer the same {noun}: {difference}")


def read_table(report: Format, label: Label, table: Any) -> AnyArray:
    """Return the reports of an Arrow table, after a check that they answer a question."""
    pa = optional("pyarrow", "files")
    if not hasattr(table, "__arrow_c_stream__"):
        raise TypeError(f"reports must be an Arrow table or export an Arrow stream, got {type(table).__name__}")
    whole = table if isinstance(table, pa.Table) else pa.table(table)
    check_table_schema(label.schema, "question", whole.schema)
    for name in (COLUMN, LABEL):
        if whole.column_names.count(name) != 1:
            raise ValueError(f'reports must be a table with one column "{name}", got {whole.column_names}')
    if whole.column(LABEL).type != pa.binary(8):
        raise TypeError(
            f'reports must have a column "{LABEL}" of fixed-size binary of 8 bytes, got type {whole.column(LABEL).type}'
        )
    labels = set(whole.column(LABEL).unique().to_pylist()) - {None}
    if not labels <= {label.head[1:9]}:
        others = ", ".join(sorted(label.hex() for label in labels - {label.head[1:9]}))
        raise ValueError(
            f"reports must answer the question with the fingerprint {label.fingerprint}, got {others} as well"
        )
    # The values of each chunk are a slice of one buffer of bytes, read without a copy until they are joined.
    column = whole.column(COLUMN).drop_null().combine_chunks()
    if not pa.types.is_fixed_size_binary(column.type):
        raise TypeError(f'reports must have a column "{COLUMN}" of fixed-size binary, got type {column.type}')
    parts = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    width = column.type.byte_width
    packed = [
        np.frombuffer(part.buffers()[1], np.uint8)[width * part.offset : width * (part.offset + len(part))]
        for part in parts
        if len(part)
    ]
    joined: NDArray[np.uint8] = np.concatenate([np.zeros(0, np.uint8), *packed])
    return report.unpack(joined.reshape(-1, width))
