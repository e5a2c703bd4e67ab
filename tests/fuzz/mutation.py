"""Changes of inputs that keep most of their structure, so that they pass magic numbers, checksums and parsers.

A mutator is a function of the data, a `random.Random`, and a function that changes some bytes: that of libFuzzer under
Atheris, `change_bytes` without it. Every mutator returns plainly changed bytes now and then, and where it cannot parse the
data.
"""

from __future__ import annotations

import copy
import gzip
import hashlib
import io
import json
import math
import struct
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import feather as arrow_feather
from pyarrow import parquet as arrow_parquet

from ..support.internals.shared import described, schemas

ChangeBytes = Callable[[bytes], bytes]
Mutator = Callable[[bytes, Random, ChangeBytes], bytes]

NUMBERS: list[Any] = [0, 1, 2, 3, 7, 8, 64, 255, 256, 65535, 65536, 65537, 1 << 20, 1 << 31, 1 << 32, 1 << 53]
NUMBERS += [1 << 62, 1 << 63, 1 << 64, 10**30, -1, -2, -(1 << 31), -(1 << 63), 0.5, -0.0]
NUMBERS += [1e-9, 1e-100, 1e-308, 5e-324]
NUMBERS += [0.1, 1.0, 2.5, 30.0, 100.0, 709.0, 1e9, 1e18, 1e100, 1e200, 1e308, math.inf, -math.inf, math.nan]
VALUES: list[Any] = [*NUMBERS, None, True, False, "", "0", "0x10", "0xZ", "-0x1", "\0", "\ud800", "é", "nan", "x" * 300]
VALUES += [
    [],
    [0],
    [0, 1],
    [1, 0],
    [0.0, 0.5, 1.0],
    [None],
    [[]],
    ["a", "b"],
    ["a", "a"],
    {},
    {"": 0},
    {"integer": "0x1"},
]
VALUES += [
    10**400,
    {"integer": "z"},
    {"tuple": [1, "a"]},
    {"bytes": "00ff"},
    {"date": "2020-02-30"},
    {"date": "2020-02-29"},
]
VALUES += [{"datetime": "2020-01-01T00:00:00"}, {"decimal": "1e5"}, {"decimal": "sNaN"}, {"decimal": "1e999999999"}]


def change_bytes(data: bytes, random: Random) -> bytes:
    """Return data with some bytes changed, inserted, removed or repeated."""
    found = bytearray(data)
    for _ in range(random.randint(1, 3)):
        at, size = random.randint(0, len(found)), random.choice((1, 1, 2, 4, 8, 16))
        what = random.randrange(5)
        if what == 0:
            found[at:at] = random.randbytes(size)
        elif what == 1:
            del found[at : at + size]
        elif what == 2 and at < len(found):
            found[at] ^= 1 << random.randrange(8)
        elif what == 3:
            found[at : at + size] = random.choice((b"\0", b"\xff", b"\x7f", b"\x80")) * size
        else:
            found[at:at] = found[max(0, at - size) : at]
    return bytes(found)


def plain(data: bytes, random: Random, change: ChangeBytes) -> bytes:
    """Change bytes."""
    return change(data)


def _text_of(value: Any) -> bytes:
    try:
        return schemas.canonical_json(value)
    except (TypeError, ValueError):  # numbers that are not finite, surrogates
        return json.dumps(value).encode()


# JSON -----------------------------------------------------------------------------------------------------------------


def change_json(value: Any, random: Random) -> Any:
    """Return a JSON value with one to three places changed."""
    found = copy.deepcopy(value)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        found = _changed(found, random)
    return found


def places(value: Any) -> list[tuple[Any, Any]]:
    """Return containers and keys of all parts of a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = []
    for key, part in items:
        found += [(value, key), *places(part)]
    return found


def _changed(value: Any, random: Random) -> Any:
    found = places(value)
    if not found:
        return random.choice(VALUES)
    container, key = random.choice(found)
    part, what = container[key], random.randrange(10)
    if what < 3 and isinstance(part, int | float) and not isinstance(part, bool):
        near = [part + 1, part - 1, -part, part * 2, part / 2 if abs(part) < 1e300 else 0.5]
        container[key] = random.choice([*near, *NUMBERS])
    elif what < 5:
        container[key] = copy.deepcopy(random.choice(VALUES))
    elif what < 7:  # a part of another place
        other, where = random.choice(found)
        container[key] = copy.deepcopy(other[where])
    elif what == 7:
        del container[key]
    elif what == 8 and isinstance(container, list):
        container.insert(key, copy.deepcopy(part))
    elif what == 8:
        container[random.choice(["", "k", "dim", "epsilon", "mechanism", "problem", "survey", "name"])] = part
    else:
        container[key] = [part] if random.random() < 0.5 else {str(key): part}
    return value


def json_text(data: bytes, random: Random, change: ChangeBytes) -> bytes:
    """Change JSON."""
    try:
        value = json.loads(data)
    except (RecursionError, ValueError):
        return change(data)
    return change(data) if random.random() < 0.2 else _text_of(change_json(value, random))


# Saved states ---------------------------------------------------------------------------------------------------------

_PREFIX = struct.Struct("<8sQ")
_DIGEST_BYTES = 16


def _unsealed(data: bytes) -> tuple[bytes, bytes, bytes]:
    """Return the magic number, the header and the payload of a saved state, whatever its checksum is."""
    magic, size = _PREFIX.unpack_from(data)
    end = len(data) - _DIGEST_BYTES
    return magic, data[_PREFIX.size : min(end, _PREFIX.size + size)], data[min(end, _PREFIX.size + size) : end]


def _sealed(magic: bytes, header: bytes, payload: bytes) -> bytes:
    body = _PREFIX.pack(magic, len(header)) + header + payload
    return body + hashlib.blake2b(body, digest_size=_DIGEST_BYTES).digest()


def sealed(data: bytes, random: Random, change: ChangeBytes) -> bytes:
    """Change the header or the payload of a saved state, and write the length and the checksum again.

    Half of the changed headers get the schema that belongs to the changed parameters, and their payload its size.
    """
    if len(data) < _PREFIX.size + _DIGEST_BYTES or random.random() < 0.05:
        return change(data)
    magic, text, payload = _unsealed(data)
    try:
        header = json.loads(text)
    except (RecursionError, ValueError):
        header = None
    what = random.randrange(10)
    if header is None or what == 0:
        return _sealed(magic, change(text), payload)
    if what < 4 and isinstance(header, dict) and "sizes" in header:  # states in a state
        header, payload = _change_parts(header, payload, random, change)
    elif what < 4:
        payload = _change_words(payload, random, change)
    else:
        header = change_json(header, random)
        if random.random() < 0.5:
            header, payload = _fitted(header, payload)
    return _sealed(magic, _text_of(header), payload)


def _change_words(payload: bytes, random: Random, change: ChangeBytes) -> bytes:
    """Change bytes, or 64-bit words: to the numbers of another word, to special numbers, or by one."""
    words = np.frombuffer(payload[: len(payload) // 8 * 8], "<i8").copy()
    if not len(words) or random.random() < 0.3:
        return change(payload)
    for _ in range(random.randint(1, 3)):
        at, kind = random.randrange(len(words)), random.randrange(5)
        if kind == 0:
            words[at] = words[random.randrange(len(words))]
        elif kind == 1:
            words[at] = random.choice((0, 1, -1, 1 << 32, 1 << 53, 1 << 61, (1 << 63) - 1, -(1 << 63)))
        elif kind == 2:
            words[at : at + 1] = np.array([random.choice(NUMBERS)], np.float64).view(np.int64)
        elif kind == 3:
            words[at] ^= 1 << random.randrange(63)
        else:  # the sum stays
            other, step = random.randrange(len(words)), random.choice((1, 1 << 20))
            with np.errstate(over="ignore"):
                words[at] += step
                words[other] -= step
    return words.tobytes() + payload[len(words) * 8 :]


def _change_parts(header: Any, payload: bytes, random: Random, change: ChangeBytes) -> tuple[Any, bytes]:
    """Change one of the states in a payload, and its size in the header."""
    try:
        sizes = [int(size) for group in header["sizes"] for size in group]
    except (OverflowError, TypeError, ValueError):
        return header, change(payload)
    if not sizes:
        return header, change(payload)
    at = random.randrange(len(sizes))
    start = sum(sizes[:at])
    part = sealed(payload[start : start + sizes[at]], random, change)
    flat = iter([*sizes[:at], len(part), *sizes[at + 1 :]])
    header["sizes"] = [[next(flat) for _ in group] for group in header["sizes"]]
    return header, payload[:start] + part + payload[start + sizes[at] :]


def _fitted(header: Any, payload: bytes) -> tuple[Any, bytes]:
    """Return a header with the schema of its parameters, and a payload of the size that belongs to it."""
    try:
        asked = described.from_dict(header["schema"]["asks"])
        header["schema"] = asked.schema()
        if hasattr(asked, "mechanisms"):
            counters = [mechanism.report.state_layout for mechanism in asked.mechanisms.values()]
            header["counts"] = (list(header["counts"]) + [0] * len(counters))[: len(counters)]
            header["pairs"] = (list(header["pairs"]) + [0] * len(asked._pairs))[: len(asked._pairs)]
        else:
            counters = [asked.report.state_layout]
        size = sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in counters)
    except Exception:  # it is not a valid schema
        return header, payload
    return header, payload[:size].ljust(size, b"\0") if size < 1 << 16 else payload


# TOML and texts of tables ---------------------------------------------------------------------------------------------

_TOML = [
    "epsilon = 2",
    "answers = 1",
    'answers = "all"',
    "[weights]",
    'type = "Mean"',
    'type = "Choice"',
    'type = "Cross"',
]
_TOML += [
    'type = "Histogram"',
    "edges = [0, 1, 2]",
    "categories = 3",
    'categories = ["a", "b"]',
    "lower = 0",
    "upper = 1",
]
_TOML += [
    "optional = true",
    'column = "x"',
    "2020-01-01",
    "2020-01-01T00:00:00Z",
    "07:32:00",
    "nan",
    "inf",
    "-inf",
    "1e308",
]
_TOML += [
    "0x10",
    "1_000",
    "true",
    "[]",
    "{}",
    '"\\u0000"',
    "[[questions]]",
    "[questions.a]",
    'a = "x"\nb = "y"',
    "1e400",
]
_CELLS = [
    "",
    "NA",
    "nan",
    "yes",
    "no",
    " yes ",
    '"',
    '""',
    '"a\nb"',
    "1",
    "-1",
    "+1",
    "1e5",
    "1e999",
    "-inf",
    "0x1",
    "1_0",
]
_CELLS += ["1,5", "\ufeff", "\r\n", "\n", ",", "x", "c", "x,c", "true", "TRUE", "٣", "\0", "9" * 400, "null", "None"]
_JSON_LINES = ['{"x": 1}', '{"x": null, "c": "yes"}', "{}", "[]", "null", '{"x": NaN}', '{"x": 1e999}', '{"x": "7"}']
_JSON_LINES += [
    '{"x": [1]}',
    '{"x": {"x": 1}}',
    '{"x": true}',
    '{"c": 1}',
    '{"c": "\\ud800"}',
    '{"x": ' + "9" * 5000 + "}",
]


def _with_tokens(tokens: list[str], separator: bytes, data: bytes, random: Random, change: ChangeBytes) -> bytes:
    """Change bytes, or replace, insert, remove or repeat the parts between separators."""
    if random.random() < 0.3:
        return change(data)
    parts = data.split(separator)
    at, what, token = random.randrange(len(parts)), random.randrange(5), random.choice(tokens).encode()
    if what == 0:
        parts[at] = token
    elif what == 1:
        parts.insert(at, token)
    elif what == 2:
        del parts[at]
    elif what == 3:
        parts.insert(random.randrange(len(parts)), parts[at])
    else:
        inner = parts[at].split(b"=" if b"=" in parts[at] else b",")
        inner[random.randrange(len(inner))] = token
        parts[at] = (b"=" if b"=" in parts[at] else b",").join(inner)
    return separator.join(parts)


def toml(data: bytes, random: Random, change: ChangeBytes) -> bytes:
    """Change lines of TOML, or one side of an assignment."""
    return _with_tokens(_TOML, b"\n", data, random, change)


def csv(data: bytes, random: Random, change: ChangeBytes) -> bytes:
    """Change lines or cells of CSV."""
    return _with_tokens(_CELLS, b"\n", data, random, change)


def csv_gz(data: bytes, random: Random, change: ChangeBytes) -> bytes:
    """Change compressed CSV before the compression, or after it."""
    try:
        text = gzip.decompress(data)
    except (EOFError, OSError, ValueError, gzip.zlib.error):  # type: ignore[attr-defined]
        return change(data)
    return change(data) if random.random() < 0.3 else gzip.compress(csv(text, random, change), mtime=0)


def json_lines(data: bytes, random: Random, change: ChangeBytes) -> bytes:
    """Change lines of JSON, or the values in one."""
    lines = data.split(b"\n")
    at = random.randrange(len(lines))
    if random.random() < 0.5:
        lines[at] = json_text(lines[at], random, change)
        return b"\n".join(lines)
    return _with_tokens(_JSON_LINES, b"\n", data, random, change)


# Tables ---------------------------------------------------------------------------------------------------------------

_TYPES = [pa.int8(), pa.int64(), pa.uint64(), pa.float16(), pa.float32(), pa.float64(), pa.string(), pa.large_string()]
_TYPES += [
    pa.binary(),
    pa.binary(1),
    pa.binary(8),
    pa.bool_(),
    pa.null(),
    pa.date32(),
    pa.timestamp("ns"),
    pa.decimal128(5, 2),
]
_TYPES += [pa.dictionary(pa.int8(), pa.string()), pa.list_(pa.int8()), pa.struct([("a", pa.int8())]), pa.string_view()]


def change_table(table: Any, random: Random, change: ChangeBytes) -> Any:
    """Return an Arrow table with one property changed: metadata, a column, a type, or rows."""
    what = random.randrange(9)
    at = random.randrange(table.num_columns) if table.num_columns else None
    if what == 0 or at is None:
        metadata = dict(table.schema.metadata or {})
        if metadata:
            key = random.choice(sorted(metadata))
            metadata[key] = json_text(metadata[key], random, change)
        return table.replace_schema_metadata(metadata)
    name, column = table.column_names[at], table.column(at)
    if what == 1:
        return table.remove_column(at)
    if what == 2:
        return table.append_column(random.choice(["x", "c", "report", "question", "ldpfast", "", "\n", name]), column)
    if what == 3:
        return table.rename_columns(
            [*table.column_names[:at], random.choice(["x", "c", "", "\n"]), *table.column_names[at + 1 :]]
        )
    if what == 4:
        return table.slice(random.randrange(3), random.randrange(table.num_rows + 1))
    if what == 5:
        return pa.concat_tables([table, table.slice(random.randrange(table.num_rows + 1))])
    if what == 6:
        return table.set_column(at, name, _cast(column, random.choice(_TYPES)))
    if what == 7:
        mask = pa.array([random.random() < 0.3 for _ in range(table.num_rows)], pa.bool_())
        return table.set_column(at, name, pa.compute.if_else(mask, None, column))
    return table.set_column(at, name, _change_column(column, random, change))


def _cast(column: Any, kind: Any) -> Any:
    try:
        return column.cast(kind, safe=False)
    except pa.ArrowException:
        return pa.nulls(len(column), kind)


def _change_column(column: Any, random: Random, change: ChangeBytes) -> Any:
    """Return a column of the same type with one value changed, if the type allows it."""
    values = column.to_pylist()
    if not values:
        return column
    at, kind = random.randrange(len(values)), column.type
    if isinstance(values[at], bytes):
        changed = change(values[at])
        fixed = pa.types.is_fixed_size_binary(kind)
        values[at] = changed[: kind.byte_width].ljust(kind.byte_width, b"\0") if fixed else changed
    elif isinstance(values[at], str):
        values[at] = random.choice([*_CELLS, change(values[at].encode()).decode(errors="replace")])
    else:
        values[at] = random.choice([*NUMBERS, None])
    try:
        return pa.chunked_array([pa.array(values, kind)])
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return column


def _table_mutator(read: Callable[[bytes], Any], write: Callable[[Any], bytes]) -> Mutator:
    """Return the mutator of a format of tables."""

    def mutate(data: bytes, random: Random, change: ChangeBytes) -> bytes:
        if random.random() < 0.2:
            return change(data)
        try:
            table = read(data)
            for _ in range(random.choice((1, 1, 2, 3))):
                table = change_table(table, random, change)
            return write(table)
        except (
            pa.ArrowException,
            KeyError,
            OSError,
            TypeError,
            ValueError,
        ):  # damaged, or a type that cannot be written
            return change(data)

    return mutate


def stream_of(table: Any) -> bytes:
    """Return a table as an Arrow IPC stream."""
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def parquet_of(table: Any) -> bytes:
    """Return a table as a Parquet file."""
    sink = io.BytesIO()
    arrow_parquet.write_table(table, sink)
    return sink.getvalue()


def feather_of(table: Any) -> bytes:
    """Return a table as a Feather file."""
    sink = io.BytesIO()
    arrow_feather.write_feather(table, sink, compression="uncompressed")
    return sink.getvalue()


def _validated(table: Any) -> Any:
    table.validate(full=True)
    return table


arrow_stream = _table_mutator(lambda data: _validated(pa.ipc.open_stream(data).read_all()), stream_of)
parquet = _table_mutator(lambda data: arrow_parquet.read_table(pa.BufferReader(data), use_threads=False), parquet_of)
feather = _table_mutator(lambda data: _validated(pa.ipc.open_file(pa.BufferReader(data)).read_all()), feather_of)

_DTYPES = ["f2", "f4", "f8", ">f8", "i1", "u8", ">i4", "?", "U3", "S3", "M8[s]", "c16", "V4", "g"]


def npy(data: bytes, random: Random, change: ChangeBytes) -> bytes:
    """Change the header, the dtype, the shape or the values of a .npy array."""
    if random.random() < 0.3:
        return change(data)
    try:
        array = np.load(io.BytesIO(data), allow_pickle=False)
        what = random.randrange(4)
        if what == 0:
            array = array.view(random.choice(_DTYPES))
        elif what == 1:
            with np.errstate(all="ignore"):
                array = array.astype(random.choice(_DTYPES))
        elif what == 2:
            array = array.reshape(random.choice([(-1,), (-1, 1), (-1, 2), (1, -1), (2, -1), ()]))
        else:
            array = np.frombuffer(change(array.tobytes()).ljust(array.nbytes, b"\0")[: array.nbytes], array.dtype)
        sink = io.BytesIO()
        np.save(sink, array, allow_pickle=False)
    except Exception:  # dtypes and shapes that do not fit
        return change(data)
    return sink.getvalue()
