"""The bodies of reports: what can be read, and what is refused report by report."""

from __future__ import annotations

import base64
import json

import pytest

pytest.importorskip("starlette")
pytest.importorskip("sqlalchemy")

from ldpfast.survey import Report

from ..support.cases import each
from ..support.internals.server import reports, wire
from ..support.server import frame_of

ID = bytes(range(16))


def line(**changes):
    return json.dumps({"id": ID.hex(), "message": base64.b64encode(b"abc").decode(), **changes})


def frame(label: bytes = b"") -> bytes:
    return frame_of(Report(ID, b"abc"), label)


def test_lines_and_frames_give_the_same_reports():
    lines = "\n".join([line(), line(group="é"), line(group=None)])
    assert wire.read_json_lines(lines.encode(), 99) == wire.Incoming(
        [ID] * 3, [b"abc"] * 3, [b"", "é".encode(), b""], {}
    )
    assert wire.read_frames(frame() + frame("é".encode()) + frame(), 99) == wire.read_json_lines(lines.encode(), 99)
    assert wire.read_json_lines(line(group="\ud800").encode(), 99).faults == {}  # no group has such a label
    assert wire.read_json_lines(b"\n \n", 99) == wire.read_frames(b"", 99) == wire.Incoming()


@each(
    "text, fault",
    [
        ("{", "line"), ("[]", "line"), ("7", "line"), ("null", "line"), ("{}", "line"), ('{"id": 1}', "line"),
        (line(more=1), "line"), (line(id=7), "line"), (line(id="00"), "id"), (line(id=" " * 32), "id"),
        (line(id="0 " * 16), "line"), (line(id="z" * 32), "line"), (line(message="a"), "line"), (line(message=5), "line"),
        (line(message="YWJj\u00e9"), "line"), (line(group=5), "group"), (line(group=""), "group"), (line(group=["a"]), "group"),
        ("[" * 100_000, "line"), (b"\xff", "line"), ("7" * 5000, "line"), ("NaN", "line"),
    ],
)  # fmt: skip
def test_a_bad_line_does_not_harm_its_neighbors(text, fault):
    given = text if isinstance(text, bytes) else text.encode()
    found = wire.read_json_lines(b"\n".join([line().encode(), given, line().encode()]), 99)
    assert found == wire.Incoming([ID, b"", ID], [b"abc", b"", b"abc"], [b""] * 3, {1: fault})


@pytest.mark.parametrize("bad", [b"", b"\0" * 16, ID + b"\x05abc"])
def test_a_bad_frame_does_not_harm_its_neighbors(bad):
    found = wire.read_frames(frame() + len(bad).to_bytes(4, "little") + bad + frame(), 99)
    assert found == wire.Incoming([ID, b"", ID], [b"abc", b"", b"abc"], [b""] * 3, {1: "line"})


@pytest.mark.parametrize("body", [b"\x01", b"\x05\0\0\0abc", frame()[:-1], frame() + b"\xff\xff\xff\xff"])
def test_a_body_that_ends_within_a_frame_is_refused(body):
    with pytest.raises(wire.BodyError, match=r"must end before the body"):
        wire.read_frames(body, 99)


def test_more_reports_than_are_allowed_are_not_read():
    assert len(wire.read_json_lines(b"7\n" * 5, 5)) == len(wire.read_frames(frame() * 5, 5)) == 5
    for read, body in ((wire.read_json_lines, b"7\n" * 6), (wire.read_frames, frame() * 6)):
        with pytest.raises(wire.TooManyError):
            read(body, 5)


def test_places_are_found_in_one_pass():
    """The fingerprints are what a client sends: 1,000 different ones must not cost 1,000 passes."""
    hashed = []

    class Value(int):
        def __hash__(self):
            hashed.append(self)
            return super().__hash__()

        __eq__ = int.__eq__

    values = [Value(i % 1000) for i in range(3000)]
    found = reports.places_of(values)
    assert len(hashed) <= 4 * len(values)
    assert found == {i: [i, i + 1000, i + 2000] for i in range(1000)}
    assert reports.places_of([Value(7)] * 3) == {7: [0, 1, 2]}
    assert reports.places_of([]) == {}
