"""Keys of persons by the definitions: CMAC from single encryptions, and fields byte by byte."""

from __future__ import annotations

import struct

import numpy as np

from .internals.kernels import stream


def cmac(key: bytes, message: bytes) -> bytes:
    """Return the AES-256-CMAC by NIST SP 800-38B."""

    def twice(block: bytes) -> bytes:
        number = int.from_bytes(block, "big") << 1
        return ((number ^ (0x87 if number >> 128 else 0)) & ((1 << 128) - 1)).to_bytes(16, "big")

    whole = twice(stream.encrypt(key, bytes(16), 1))
    blocks = [message[i : i + 16] for i in range(0, len(message), 16)] or [b""]
    last = blocks.pop()
    mask = whole if len(last) == 16 else twice(whole)
    last = last if len(last) == 16 else (last + b"\x80").ljust(16, b"\0")
    state = bytes(16)
    for block in [*blocks, bytes(a ^ b for a, b in zip(last, mask, strict=True))]:
        state = stream.encrypt(key, bytes(a ^ b for a, b in zip(state, block, strict=True)), 1)
    return state


def field(tag: int, payload: bytes) -> bytes:
    return struct.pack("<BI", tag, len(payload)) + payload


def person_field(person: int | str | bytes) -> bytes:
    if isinstance(person, int):
        return field(16, struct.pack("<q", person))
    return field(17, person.encode()) if isinstance(person, str) else field(18, person)


def value_field(value: int | float | tuple[float, ...] | bytes) -> bytes:
    if isinstance(value, bytes):
        return field(34, value)
    if isinstance(value, np.ndarray):  # positions of a set
        return field(35, value.astype("<u2").tobytes())
    if isinstance(value, int):
        return field(32, struct.pack("<I", value))
    numbers = value if isinstance(value, tuple) else (value,)
    return field(33, struct.pack(f"<{len(numbers)}d", *numbers))


def derived_key(secret: bytes, shared: bytes, rest: bytes) -> bytes:
    """Return the key for the fields that a call shares, and those of one record."""
    start = b"\0ldpfast\0" + shared
    zeros = -(len(start) + 5) % 16
    whole = (start + field(5, bytes(zeros)) + rest + b"\x01\x00")[1:]
    return cmac(secret, b"\x01" + whole) + cmac(secret, b"\x02" + whole)


def record_key(
    secret: bytes, series: bytes, question: str, description: bytes, person: int | str | bytes, *values
) -> bytes:
    shared = field(1, series) + field(2, question.encode()) + field(6, description)
    return derived_key(secret, shared, person_field(person) + b"".join(map(value_field, values)))


def round_key(
    secret: bytes, series: bytes, question: str, description: bytes, number: int, person: int | str | bytes, answer: int
) -> bytes:
    shared = (
        field(1, series) + field(2, question.encode()) + field(6, description) + field(4, struct.pack("<Q", number))
    )
    return derived_key(secret, shared, person_field(person) + value_field(answer))


def report_id(secret: bytes, series: bytes, occasion: bytes, person: int | str | bytes) -> bytes:
    return derived_key(secret, field(1, series) + field(9, occasion), person_field(person))[:16]


def assignment_key(secret: bytes, series: bytes, person: int | str | bytes) -> bytes:
    return derived_key(secret, field(1, series) + field(3, b""), person_field(person))


def ticket(secret: bytes, series: bytes, person: int | str | bytes, question: str, number: int) -> bytes:
    rest = person_field(person) + field(2, question.encode()) + field(7, struct.pack("<I", number))
    return derived_key(secret, field(1, series) + field(3, b""), rest)[:16]


def asked(secret: bytes, series: bytes, person: int | str | bytes, weights: dict[str, int], answers: int) -> set[str]:
    """Return the questions with the smallest tickets of a person."""
    tickets = {
        name: min((ticket(secret, series, person, name, t), name.encode(), t) for t in range(weight))
        for name, weight in weights.items()
    }
    return set(sorted(tickets, key=tickets.__getitem__)[:answers])
