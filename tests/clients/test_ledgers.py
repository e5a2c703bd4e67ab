"""Ledgers of the clients in C and JavaScript: the messages and refusals of the ledger in Python, and nothing is lost."""

from __future__ import annotations

import base64
import ctypes
import json
import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from ldpfast.survey import Choice, Ledger, Mean, Repeated, RepeatedSurvey, Report, Survey, YesNo

from ..support import person_keys
from ..support.client_vectors import Case, write
from ..support.clients import SANITIZERS, WARNINGS, Client, Value, amalgamate, build_package, load_library, open_table
from ..support.process import NATIVE, compile_c

pytestmark = pytest.mark.long

SECRET = bytes(range(50, 82))
DAMAGED, NO_ROOM, TURN, LEDGER, PROMISE = 1, 3, 6, 7, 8
QUESTIONS = {
    "sleep": Mean(0, 12, optional=True),
    "smokes": YesNo(optional=True),
    "r\u00e9gion": Choice(["N", "S", "W"], optional=True),
}
SERIES: dict[str, Survey | RepeatedSurvey] = {
    "one turn": Survey(QUESTIONS, 2.0, series="weeks", waves=3),
    "two turns, two answers": Survey(QUESTIONS, 8.0, series="weeks", waves=3, turns=2, answers=2),
    "open-ended": Survey(QUESTIONS, 2.0, series="weeks", waves=2, open_ended=True),
    "no waves": Survey(QUESTIONS, 3.0, series="profile"),
    "no waves, all answers": Survey(QUESTIONS, 30.0, answers="all"),
    "rounds": Repeated(Survey(QUESTIONS, 4.0, series="weeks"), round=3.0, rounds=5),
    "rounds, all answers": Repeated(Survey(QUESTIONS, 12.0, answers="all"), round=9.0, rounds=3),
}


def record_of(number: int) -> dict:
    return {"sleep": number % 13, "smokes": number % 2 == 0, "r\u00e9gion": "NSW"[number % 3]}


def values_of(survey: Survey, record: dict) -> ctypes.Array:
    """Return the values of a record for the client in C."""
    found = (Value * len(survey.column_questions))()
    for i, (name, question) in enumerate(survey.column_questions.items()):
        value = record[name]
        found[i].number = float(value) if isinstance(question, Mean) else np.nan
        found[i].category = (
            0 if isinstance(question, Mean) else int("NSW".find(value) if value in ("N", "S", "W") else value)
        )
    return found


def series_of(first: Survey | RepeatedSurvey) -> bytes:
    """Return the digest that a ledger of the series has."""
    return (first if isinstance(first, Survey) else first.in_round(0))._recipe.series.promise


def steps(first: Survey | RepeatedSurvey, seed: int) -> list[tuple[Survey, dict]]:
    """Return surveys and records in a random order: waves or rounds, versions, and answers twice."""
    if isinstance(first, RepeatedSurvey):
        versions = [survey for survey, _ in steps(first.survey, seed)]
        rounds = random.Random(seed).choices(range(7), k=len(versions))
        repeated = [Repeated(survey, round=first.round, rounds=first.rounds) for survey in versions]
        return [(one.in_round(i), {**record_of(i), "walks": True}) for one, i in zip(repeated, rounds, strict=True)]
    versions = [first, first.revise(change={"r\u00e9gion": Choice(["N", "S", "W", "E"], optional=True)})]
    versions.append(versions[1].revise(add={"walks": YesNo(optional=True)}))
    draw, chosen = random.Random(seed), []
    for number in range(14):
        survey = versions[draw.choice([0, 0, 1, 2])]
        if survey.waves is not None:
            survey = survey.in_wave(draw.randint(1, survey.waves + 2 * survey.open_ended))
        chosen.append((survey, {**record_of(number), "walks": True}))
    return chosen


def empty(survey: Survey | RepeatedSurvey) -> bytes:
    """Return a ledger without answers, byte by byte as docs/clients.md has it."""
    size = 8 + 4 + 32 + 32 + 16
    body = b"LDPLEDG\x01" + size.to_bytes(4, "little") + series_of(survey) + SECRET
    return body + person_keys.cmac(bytes(32), body)


def in_python(first: Survey | RepeatedSurvey, seed: int) -> list[Report | None]:
    """Return the reports of the client in Python; None where it refuses."""
    content = {"ldpfast_ledger": 1, "series": series_of(first).hex(), "secret": SECRET.hex(), "answers": []}
    ledger = Ledger({"ldpfast": json.dumps(content)})
    reports: list[Report | None] = []
    for survey, record in steps(first, seed):
        try:
            reports.append(survey.client(ledger=ledger).report(record))
        except ValueError:
            reports.append(None)
    return reports


class InC:
    """The client in C with a ledger in a buffer."""

    def __init__(self, library: ctypes.CDLL, ledger: bytes, capacity: int = 1 << 14) -> None:
        self.library, self.bytes = library, ctypes.c_size_t(len(ledger))
        self.buffer = ctypes.create_string_buffer(ledger, capacity)
        self.id = ctypes.create_string_buffer(16)
        self.message, self.length = ctypes.create_string_buffer(1 << 12), ctypes.c_size_t()

    @property
    def ledger(self) -> bytes:
        return self.buffer.raw[: self.bytes.value]

    def answer(self, survey: Survey, record: dict) -> tuple[int, bytes]:
        """Return status and message."""
        client, table = Client(), survey.client_table()
        assert open_table(self.library, client, table) == 0
        turn = ctypes.c_int(5)
        status = self.library.ldpfast_ledger_is_turn(ctypes.byref(client), self.buffer, self.bytes, ctypes.byref(turn))
        made = self.library.ldpfast_answer_once(
            ctypes.byref(client), values_of(survey, record), self.buffer, ctypes.c_size_t(len(self.buffer)),
            ctypes.byref(self.bytes), self.message, ctypes.c_size_t(len(self.message)), ctypes.byref(self.length),
        )  # fmt: skip
        assert status == (LEDGER if made == LEDGER else 0)
        assert status == self.library.ldpfast_ledger_report_id(ctypes.byref(client), self.buffer, self.bytes, self.id)
        assert (turn.value == 0) == (made in (TURN, LEDGER)) or made in (PROMISE, NO_ROOM)
        return made, self.message.raw[: self.length.value]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return load_library(amalgamate(tmp_path_factory.mktemp("client")))


@pytest.mark.claim("Ledgers of the client in C refuse the same answers as those of Python.", "Clients")
@pytest.mark.parametrize("name", SERIES)
def test_messages_and_refusals_in_c_are_those_of_python(library, name):
    """Twenty persons, who are asked the same wave twice, other versions, and out of turn."""
    statuses = set()
    for seed in range(20):
        device = InC(library, empty(SERIES[name]))
        for (survey, record), expected in zip(steps(SERIES[name], seed), in_python(SERIES[name], seed), strict=True):
            before = device.ledger
            status, message = device.answer(survey, record)
            assert (status == 0) == (expected is not None)
            assert expected is None or (device.id.raw, message) == expected
            assert expected is not None or message == b""
            assert status == 0 or device.ledger == before
            statuses.add(status)
    has_turns = getattr(SERIES[name], "waves", None) is not None
    assert statuses == {0, PROMISE} | ({TURN} if has_turns else set())


def test_a_new_ledger_is_the_documented_one(library):
    survey = SERIES["one turn"]
    client, table, bytes_ = Client(), survey.in_wave(2).client_table(), ctypes.c_size_t(7)
    assert open_table(library, client, table) == 0
    room = ctypes.create_string_buffer(92)
    found = ctypes.byref(bytes_)
    assert library.ldpfast_ledger_new(ctypes.byref(client), SECRET, room, ctypes.c_size_t(91), found) == NO_ROOM
    assert bytes_.value == 0
    assert library.ldpfast_ledger_new(ctypes.byref(client), SECRET, room, ctypes.c_size_t(92), found) == 0
    assert room.raw == empty(survey)
    assert library.ldpfast_ledger_room(ctypes.byref(client)) >= 18 + 41 + 11


def test_damage_another_series_and_little_room_are_refused_and_change_nothing(library):
    survey = SERIES["no waves, all answers"]
    device = InC(library, empty(survey))
    assert device.answer(survey, record_of(1))[0] == 0
    whole = device.ledger
    for place in range(len(whole)):
        damaged = whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :]
        assert InC(library, damaged).answer(survey, record_of(1)) == (LEDGER, b"")
        assert InC(library, whole[:place]).answer(survey, record_of(1)) == (LEDGER, b"")
    assert InC(library, whole).answer(SERIES["no waves"], record_of(1)) == (LEDGER, b"")
    small = InC(library, empty(survey), capacity=120)
    assert small.answer(survey, record_of(1)) == (NO_ROOM, b"")
    assert small.ledger == empty(survey)


@pytest.mark.long
def test_forged_ledgers_stay_in_bounds(tmp_path):
    """Whoever can write a ledger can make its checksum; lengths may then lie."""
    amalgamate(tmp_path)
    program = compile_c(tmp_path / "client", NATIVE / "client.c", flags=(*WARNINGS, *SANITIZERS, f"-I{tmp_path}"))
    surveys = [SERIES["no waves"], SERIES["no waves, all answers"], SERIES["rounds, all answers"].in_round(2)]
    path = write(tmp_path / "cases", [(survey, [Case(record_of(1), SECRET, None, b"")]) for survey in surveys])
    done = subprocess.run([program, "forge", path], capture_output=True, text=True, timeout=300, check=False)
    assert done.stderr == ""
    refused, answered = map(int, re.findall(r"\d+", done.stdout))
    assert refused > 1000
    assert answered > 1000


@pytest.mark.claim("Ledgers of the client in JavaScript refuse the same answers as those of Python.", "Clients")
@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_messages_and_refusals_in_javascript_are_those_of_python(tmp_path):
    pytest.importorskip("ziglang")
    cases = [
        {
            "ledger": empty(first).hex(),
            "steps": [
                {
                    "table": base64.b64encode(survey.client_table()).decode(),
                    "record": record,
                    "message": report and report.message.hex(),
                    "id": report and report.id.hex(),
                }
                for (survey, record), report in zip(steps(first, seed), in_python(first, seed), strict=True)
            ],
        }
        for first in SERIES.values()
        for seed in range(6)
    ]
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    package = build_package(tmp_path / "package")
    environment = os.environ | {"PACKAGE": str(package), "CASES": str(tmp_path / "cases.json")}
    command = ["node", "--test", Path(__file__).parent / "ledgers.mjs"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout
    assert "# fail 0" in done.stdout
