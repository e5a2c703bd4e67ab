"""The fingerprint of a table: printed by the command line, and compared by the clients in Python, C and JavaScript."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess

import pytest

from ldpfast.cli import main
from ldpfast.survey import Ledger, Mean, RepeatedSurvey, Survey, YesNo

from ..support.cases import each
from ..support.clients import Client, amalgamate, build_package, load_library, open_table
from ..support.command_line import error_line

QUESTIONS = {"smokes": YesNo(optional=True), "walks": YesNo(optional=True)}
SURVEY = Survey(QUESTIONS, 2.0, series="habits")
EXCHANGED = Survey(
    dict(reversed(QUESTIONS.items())), 2.0, series="habits"
)  # as private, but answers mean something else
WEEKS = Survey(QUESTIONS, 2.0, series="weeks", waves=3)
ROUNDS = RepeatedSurvey(Survey(QUESTIONS, 4.0), round=1.0, rounds=2)
SECRET = bytes(range(32))


@pytest.fixture
def printed(tmp_path, monkeypatch, capsys):
    """A function that calls the command in an empty folder with the file study.toml, and returns fingerprints by file."""
    monkeypatch.chdir(tmp_path)

    def run(survey, *options):
        (tmp_path / "study.toml").write_text(survey.to_toml())
        assert main(["table", "study.toml", *options]) == 0
        rows = [line.split("  ") for line in capsys.readouterr().out.splitlines()]
        return {name: fingerprint for fingerprint, name in rows}

    return run


@pytest.mark.parametrize(
    "survey, options, tables",
    [
        (SURVEY, [], {"study": SURVEY}),
        (WEEKS, [], {f"study-wave-{wave}": WEEKS.in_wave(wave) for wave in (1, 2, 3)}),
        (WEEKS, ["--wave", "2"], {"study-wave-2": WEEKS.in_wave(2)}),
        (ROUNDS, [], {f"study-round-{number}": ROUNDS.in_round(number) for number in (0, 1)}),
        (ROUNDS, ["--round", "1"], {"study-round-1": ROUNDS.in_round(1)}),
    ],
)  # fmt: skip
def test_the_command_writes_tables_and_prints_their_fingerprints(printed, tmp_path, survey, options, tables):
    expected = {f"{name}.table": one.client_table() for name, one in tables.items()}
    found = printed(survey, *options)
    assert found == {name: hashlib.sha256(table).hexdigest() for name, table in expected.items()}
    assert [path.name for path in tmp_path.iterdir()] == ["study.toml"]
    assert printed(survey, *options, "-o", ".") == found
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.table")} == expected


@each(
    "survey, options, text",
    [
        (SURVEY, ["--wave", "1"], "--wave must be left out for a survey without waves"),
        (SURVEY, ["--round", "1"], "--round must be left out for a survey without `round` and `rounds`"),
        (ROUNDS, ["--wave", "1"], "--wave must be left out for a repeated survey, which has rounds"),
        (Survey(QUESTIONS, 2.0, series="w", waves=3, open_ended=True), [], "--wave must be given for a series that goes on"),
        (WEEKS, ["--wave", "4"], "wave must be an integer in [1, 3], got 4"),
        (SURVEY, ["-o", "nowhere"], "--output must be an existing folder, got 'nowhere'"),
        (Survey({"smokes": YesNo()}, 1.0), [], "every question must be optional for a client"),
    ],
)  # fmt: skip
def test_what_has_no_table_is_refused(tmp_path, monkeypatch, capsys, survey, options, text):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(survey.to_toml())
    assert text in error_line(capsys, "table", "study.toml", *options)
    assert [path.name for path in tmp_path.iterdir()] == ["study.toml"]


@pytest.mark.claim(
    "A client in Python refuses a survey whose table has another fingerprint than it expects.", "Clients"
)
def test_a_client_in_python_refuses_another_survey(printed, tmp_path):
    """Also in JSON from somebody else, in a later wave, and with a ledger, which is not made then."""
    (known,) = printed(SURVEY).values()
    received = Survey.from_dict(json.loads(json.dumps(SURVEY.to_dict())))
    assert len(received.client(fingerprint=known.upper()).answer({"smokes": True})) > 9
    for other in (
        EXCHANGED,
        Survey(QUESTIONS, 2.1, series="habits"),
        Survey(QUESTIONS, 2.0, series="habits", revision=2),
    ):
        with pytest.raises(ValueError, match=f"survey must have a table with the fingerprint {known}, got "):
            other.client(fingerprint=known)
    first, second, _ = printed(WEEKS).values()
    with pytest.raises(ValueError, match="survey must have a table"):
        EXCHANGED.client(ledger=Ledger(tmp_path / "ledger"), fingerprint=known)
    assert not (tmp_path / "ledger").exists()
    person = next(one for one in range(100) if WEEKS.client(SECRET, one).is_turn(3))
    for allowed in (first, [first, second]):
        client = WEEKS.client(SECRET, person, fingerprint=allowed)
        with pytest.raises(ValueError, match="wave 3 must have a table with the fingerprint "):
            client.report({"smokes": True}, wave=3)
    of_rounds = list(printed(ROUNDS).values())
    assert ROUNDS.in_round(1).client(SECRET, 1, fingerprint=of_rounds[1]).answer({"smokes": True}, wave=None)
    with pytest.raises(ValueError, match="must have a table with the fingerprint"):
        ROUNDS.in_round(1).client(SECRET, 1, fingerprint=of_rounds[0])
    early = next(one for one in range(100) if WEEKS.client(SECRET, one).is_turn(1))
    expected = WEEKS.client(SECRET, early).answer({"smokes": True}, wave=1)
    for asked, allowed in ((WEEKS, [first, second]), (WEEKS.in_wave(1), first)):
        assert asked.client(SECRET, early, fingerprint=allowed).answer({"smokes": True}, wave=1) == expected


@pytest.mark.parametrize("given", ["", "12", "g" * 64, [], ["0" * 64, "1"], [5]])
def test_other_texts_are_no_fingerprints(given):
    with pytest.raises(ValueError, match="fingerprint must have 64 hexadecimal digits"):
        SURVEY.client(fingerprint=given)


OPEN = """
import { readFile } from "node:fs/promises";
import { SurveyClient } from "./index.mjs";
const [name, fingerprint] = process.argv.slice(2);
try {
  await SurveyClient.open({ table: await readFile(name), maxEpsilon: 5, fingerprint });
  console.log("opened");
} catch (error) {
  console.log(error.constructor.name);
}
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
@pytest.mark.long
def test_all_clients_accept_the_fingerprints_of_the_command_and_no_other(printed, tmp_path):
    """Each table is opened by each fingerprint: in C, JavaScript and Python it fits its own alone."""
    pytest.importorskip("ziglang")
    library = load_library(amalgamate(tmp_path / "c"))
    package = build_package(tmp_path / "js")
    (package / "open.mjs").write_text(OPEN)
    surveys = {"a": SURVEY, "b": EXCHANGED, "c": WEEKS.in_wave(2), "d": Survey({"age": Mean(0, 9, optional=True)}, 5.0)}
    fingerprints = {}
    for name, survey in surveys.items():
        options = ["--wave", "2", "-o", "."] if name == "c" else ["-o", "."]
        ((file, fingerprints[name]),) = printed(WEEKS if name == "c" else survey, *options).items()
        (tmp_path / file).rename(tmp_path / f"{name}.table")
    for name, survey in surveys.items():
        path = tmp_path / f"{name}.table"
        for other, fingerprint in fingerprints.items():
            in_c = open_table(library, Client(), path.read_bytes(), 5.0, bytes.fromhex(fingerprint))
            command = ["node", package / "open.mjs", path, fingerprint]
            in_js = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.strip()
            try:
                survey.client(*([SECRET, 1] if name == "c" else []), fingerprint=fingerprint)
                in_python = "opened"
            except ValueError as error:
                in_python = type(error).__name__
            fits = name == other
            assert (in_c == 0, in_js, in_python) == (
                fits,
                *(("opened", "opened") if fits else ("RangeError", "ValueError")),
            )
