"""The bodies of reports: what can be read, and what is refused report by report."""

from __future__ import annotations

import base64
import json

import pytest

pytest.importorskip("starlette")
pytest.importorskip("sqlalchemy")

from ldpfast.server._wire import BodyError, Incoming, read_frames, read_json_lines

ID = bytes(range(16))


def line(**changes):
    return json.dumps({"id": ID.hex(), "message": base64.b64encode(b"abc").decode(), **changes})


def frame(label: bytes = b"", message: bytes = b"abc", id_: bytes = ID) -> bytes:
    whole = id_ + bytes([len(label)]) + label + message
    return len(whole).to_bytes(4, "little") + whole


def test_lines_and_frames_give_the_same_reports():
    lines = "\n".join([line(), line(group="é"), line(group=None)])
    assert read_json_lines(lines.encode()) == [
        Incoming(ID, b"abc", None),
        Incoming(ID, b"abc", "é"),
        Incoming(ID, b"abc", None),
    ]
    assert read_frames(frame() + frame("é".encode()) + frame()) == read_json_lines(lines.encode())
    assert read_json_lines(b"\n \n") == read_frames(b"") == []


@pytest.mark.parametrize(
    "text, fault",
    [
        ("{", "line"), ("[]", "line"), ("7", "line"), ("null", "line"), ("{}", "line"), ('{"id": 1}', "line"),
        (line(more=1), "line"), (line(id=7), "line"), (line(id="00"), "id"), (line(id=" " * 32), "id"),
        (line(id="0 " * 16), "line"), (line(id="z" * 32), "line"), (line(message="a"), "line"), (line(message=5), "line"),
        (line(message="YWJj\u00e9"), "line"), (line(group=5), "group"), (line(group=["a"]), "group"),
        ("[" * 100_000, "line"),
    ],
)  # fmt: skip
def test_a_bad_line_does_not_harm_its_neighbors(text, fault):
    found = read_json_lines("\n".join([line(), text, line()]).encode())
    assert [one.fault for one in found] == ["", fault, ""]


@pytest.mark.parametrize("bad", [b"", b"\0" * 16, ID + b"\x05abc", ID + b"\x01\xff"])
def test_a_bad_frame_does_not_harm_its_neighbors(bad):
    found = read_frames(frame() + len(bad).to_bytes(4, "little") + bad + frame())
    assert [bool(one.fault) for one in found] == [False, True, False]


@pytest.mark.parametrize("body", [b"\x01", b"\x05\0\0\0abc", frame()[:-1], frame() + b"\xff\xff\xff\xff"])
def test_a_body_that_ends_within_a_frame_is_refused(body):
    with pytest.raises(BodyError, match=r"must end before the body"):
        read_frames(body)
    with pytest.raises(BodyError, match="UTF-8"):
        read_json_lines(b"\xff")
