"""The bodies in which clients send reports: lines of JSON, or frames of bytes. docs/server.md has both formats."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

from .._person_keys import ID_BYTES

SIZE_BYTES = 4  # at the start of a frame
JSON_LINES, FRAMES = "application/x-ndjson", "application/octet-stream"


@dataclass(frozen=True)
class Incoming:
    """The reports of a body, in order. What cannot be read is empty.

    Attributes
    ----------
    ids, messages : list of bytes
    labels : list of bytes
        Label of the group of each person in UTF-8; empty without a group.
    faults : dict of int to str
        Why reports cannot be read, by their places.
    """

    ids: list[bytes] = field(default_factory=list)
    messages: list[bytes] = field(default_factory=list)
    labels: list[bytes] = field(default_factory=list)
    faults: dict[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return the reports of several bodies, one body after the other."""
        found = cls()
        for part in parts:
            found.faults.update({len(found) + place: fault for place, fault in part.faults.items()})
            found.ids.extend(part.ids)
            found.messages.extend(part.messages)
            found.labels.extend(part.labels)
        return found

    def add(self, id_: bytes, message: bytes, label: bytes) -> None:
        """Add a report."""
        self.ids.append(id_)
        self.messages.append(message)
        self.labels.append(label)

    def add_fault(self, fault: str) -> None:
        """Add a report that cannot be read."""
        self.faults[len(self)] = fault
        self.add(b"", b"", b"")


class BodyError(ValueError):
    """A body that cannot be divided into reports."""


class TooManyError(ValueError):
    """A body with too many reports."""


def read_json_lines(body: bytes, most: int) -> Incoming:
    """Return the reports of a body with one JSON object per line.

    Raises
    ------
    TooManyError
        If there are more than `most` lines.
    """
    if body.count(b"\n") > most:
        raise TooManyError
    found = Incoming()
    for line in body.split(b"\n"):
        if line.strip():
            _add_json(found, line)
    return found


def _add_json(found: Incoming, line: bytes) -> None:
    try:
        data = json.loads(line)
        if not isinstance(data, dict) or not {"id", "message"} <= set(data) <= {"id", "message", "group"}:
            return found.add_fault("line")
        group = data.get("group")
        if group is not None and (not isinstance(group, str) or not group):
            return found.add_fault("group")
        if len(data["id"]) != 2 * ID_BYTES:
            return found.add_fault("id")
        id_ = bytes.fromhex(data["id"])
        if len(id_) != ID_BYTES:
            return found.add_fault("id")
        return found.add(
            id_, base64.b64decode(data["message"], validate=True), (group or "").encode("utf-8", "surrogatepass")
        )
    except (binascii.Error, TypeError, ValueError, RecursionError):
        return found.add_fault("line")


def read_frames(body: bytes, most: int) -> Incoming:
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
    found = Incoming()
    ids = found.ids
    messages = found.messages
    labels = found.labels
    at, end = 0, len(body)
    while at < end:
        if len(ids) >= most:
            raise TooManyError
        start = at + SIZE_BYTES
        stop = start + int.from_bytes(body[at:start], "little")
        if stop > end:
            raise BodyError(f"the frame at byte {at} must end before the body")
        label = start + ID_BYTES + 1
        if label > stop or (message := label + body[label - 1]) > stop:
            found.add_fault("line")
        else:
            ids.append(body[start : label - 1])
            messages.append(body[message:stop])
            labels.append(body[label:message])
        at = stop
    return found
