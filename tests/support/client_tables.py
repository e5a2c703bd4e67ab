"""Tables of surveys for clients, read by the page that specifies them, and forged ones."""

from __future__ import annotations

import math
import struct

import numpy as np

from ldpfast.survey import Survey, YesNo

from .internals.kernels import person


def read(table: bytes) -> dict:
    """Return the fields of a table, as docs/clients.md describes them."""
    magic, message, size, digest, values, questions, answers, waves, series = struct.unpack_from(
        "<8sB3xI32sHHHH32s", table
    )
    parts, texts = [], []
    for i in range(values):
        encoding, k = struct.unpack_from("<II", table, 88 + 32 * i)
        if encoding == 1:
            numbers = struct.unpack_from("<2d", table, 96 + 32 * i)
        elif encoding == 2:
            numbers = struct.unpack_from(f"<{k - 2}d", table, struct.unpack_from("<I12x", table, 96 + 32 * i)[0])
        elif encoding == 3:
            at, steps, zeros = struct.unpack_from("<IIQ", table, 96 + 32 * i)
            assert zeros == 0
            numbers = (*struct.unpack_from("<2d", table, at), steps)
        elif encoding == 4:
            at, characters, zeros = struct.unpack_from("<IIQ", table, 96 + 32 * i)
            assert zeros == 0
            numbers = struct.unpack_from(f"<{characters}I", table, at)
        elif encoding in (5, 6):
            *numbers, zeros = struct.unpack_from("<IIQ", table, 96 + 32 * i)
            assert zeros == 0
            numbers = tuple(numbers)
        else:
            assert table[96 + 32 * i : 112 + 32 * i] == bytes(16)
            numbers = ()
        parts.append((encoding, k, numbers))
        at, length = struct.unpack_from("<II", table, 112 + 32 * i)
        texts.append(table[at : at + length])
    start, asked = 88 + 32 * values, []
    for i in range(questions):
        fields = struct.unpack_from("<H2xBBHII3QII32s", table, start + 80 * i)
        count, *coin, at, length, a, b, c, tickets, numbers, more = fields
        places = struct.unpack_from(f"<{count}H", table, numbers)
        second = struct.unpack_from("<BxH4x3Q32s", table, numbers + 2 * count) if coin[0] == 5 else None
        if coin[0] in (6, 7, 8):
            second = read_sketch(table, numbers + 2 * count)
        if coin[0] == 13:
            second = read_levels(table, numbers + 2 * count, a, parts[places[0]][1])
        if coin[0] == 12:
            second = tuple(struct.iter_unpack("<IIQ", table[numbers + 2 * count : numbers + 2 * count + 16 * a]))
        asked.append(
            (places, second, *coin, table[at : at + length].decode(errors="surrogateescape"), a, b, c, tickets, more)
        )
    count = questions - 1 if answers == 1 else 0
    thresholds = struct.unpack_from(f"<{count}I", table, start + 80 * questions)
    last = "<32sII" if waves == 0xFFFF else "<32sHHI"
    return {
        "head": (magic, message, size, digest), "answers": answers, "parts": parts, "texts": texts, "questions": asked,
        "thresholds": thresholds, "checksum": table[-16:], "series": series, "waves": waves,
        "turns": struct.unpack(last, table[-56:-16]) if waves else None,
    }  # fmt: skip


def read_sketch(table: bytes, at: int) -> tuple:
    """Return the numbers of a sketch, the tables of the field, and for each part the key, the bytes and the coefficients."""
    functions, _, parts, _, order, _, has_tables, zero = numbers = struct.unpack_from("<8I", table, at)
    assert zero == 0
    tables, at = read_field(table, at + 32, order) if has_tables else ([], at + 32)
    hashes = []
    for _ in range(parts):
        key, size = struct.unpack_from("<2Q", table, at), struct.unpack_from("<Q", table, at + 16)[0]
        coefficients = np.frombuffer(table, "<u8", 3 * functions, at + 24).reshape(functions, 3)
        hashes.append((key, size, coefficients))
        at += 24 + 24 * functions
    return numbers, tables, hashes


def read_levels(table: bytes, at: int, count: int, k: int) -> list[tuple]:
    """Return kind, span, heads, codes in a set and outside of it, two numbers, tables of a field, and points of each level."""
    levels = []
    for _ in range(count):
        kind, span, heads, size, others, *numbers = struct.unpack_from("<2IQ4I", table, at)
        at, field, points = at + 32, (), ()
        if kind == 4:
            field, at = read_field(table, at, numbers[0])
        if kind >= 3:
            points = struct.unpack_from(f"<{-(-k // span)}I", table, at)
            at += 4 * len(points)
        levels.append((kind, span, heads, size, others, *numbers, field, points))
    return levels


def read_field(table: bytes, at: int, order: int) -> tuple[list, int]:
    """Return the sums, products, negative and inverse elements of a field, and where they end."""
    tables = []
    for shape in ((order, order), (order, order), (order,), (order,)):
        tables.append(np.frombuffer(table, np.uint8, math.prod(shape), at).reshape(shape))
        at += math.prod(shape)
    return tables, at


def closed(table: bytes | bytearray) -> bytes:
    """Return a table with the checksum that everybody can compute."""
    body = bytes(table[:-16])
    return body + person.cmac(bytes(32), body)


def forged_table() -> tuple[bytes, bytes]:
    """Return the table of a survey with epsilon 2, and one with epsilon 30 that says that it is the same survey."""
    questions = {"smokes": YesNo(optional=True)}
    honest, table = Survey(questions, 2.0).client_table(), bytearray(Survey(questions, 30.0).client_table())
    table[16:48] = honest[16:48]
    return honest, closed(table)
