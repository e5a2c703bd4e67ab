"""The bodies in which clients send reports: lines of JSON, or frames of bytes. docs/server.md has both formats."""

from __future__ import annotations

import base64
import binascii
import json
from typing import NamedTuple

from .._person_keys import ID_BYTES

JSON_LINES, FRAMES = "application/x-ndjson", "application/octet-stream"


class Incoming(NamedTuple):
    """A report as it came in.

    Attributes
    ----------
    id : bytes
    message : bytes
    group : str or None
        Label of the group of the person.
    fault : str
        Why it cannot be read; empty if it can be.
    """

    id: bytes
    message: bytes
    group: str | None
    fault: str = ""


class BodyError(ValueError):
    """A body that cannot be divided into reports."""


class TooManyError(ValueError):
    """A body with too many reports."""


def read_json_lines(body: bytes, most: int) -> list[Incoming]:
    """Return the reports of a body with one JSON object per line.

    Raises
    ------
    TooManyError
        If there are more than `most` lines.
    """
    if body.count(b"\n") > most:
        raise TooManyError
    return [_from_json(line) for line in body.split(b"\n") if line.strip()]


def _from_json(line: bytes) -> Incoming:
    try:
        data = json.loads(line)
        if not isinstance(data, dict) or not {"id", "message"} <= set(data) <= {"id", "message", "group"}:
            return Incoming(b"", b"", None, "line")
        group = data.get("group")
        if group is not None and not isinstance(group, str):
            return Incoming(b"", b"", None, "group")
        if len(data["id"]) != 2 * ID_BYTES:
            return Incoming(b"", b"", None, "id")
        found = bytes.fromhex(data["id"])
        if len(found) != ID_BYTES:
            return Incoming(b"", b"", None, "id")
        return Incoming(found, base64.b64decode(data["message"], validate=True), group)
    except (binascii.Error, TypeError, ValueError, RecursionError):
        return Incoming(b"", b"", None, "line")


def read_frames(body: bytes, most: int) -> list[Incoming]:
    """Return the reports of a body of frames.

    A frame has the number of bytes that follow (4, little-endian), the id (16), the number of bytes of the label of the group
    (1), the label, and the message.

    Raises
    ------
    BodyError
        If a frame is longer than the rest of the body.
    TooManyError
        If there are more than `most` frames.
    """
    found: list[Incoming] = []
    at, end = 0, len(body)
    while at < end:
        if len(found) >= most:
            raise TooManyError
        size = int.from_bytes(body[at : at + 4], "little")
        if end - at < 4 or size > end - at - 4:
            raise BodyError(f"the frame at byte {at} must end before the body")
        found.append(_from_frame(body[at + 4 : at + 4 + size]))
        at += 4 + size
    return found


def _from_frame(frame: bytes) -> Incoming:
    if len(frame) < ID_BYTES + 1 or len(frame) < ID_BYTES + 1 + frame[ID_BYTES]:
        return Incoming(b"", b"", None, "line")
    start = ID_BYTES + 1 + frame[ID_BYTES]
    try:
        group = frame[ID_BYTES + 1 : start].decode() or None
    except UnicodeDecodeError:
        return Incoming(b"", b"", None, "group")
    return Incoming(frame[:ID_BYTES], frame[start:], group)
