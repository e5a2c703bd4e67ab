"""A questionnaire with ticks, pairs and the distribution of a number, from its file to a table: client, server, page."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
import urllib.request
from html import unescape
from pathlib import Path

import pytest

import ldpfast as ldp
from ldpfast.survey import NumberAnswer, OptionsAnswer, PairsAnswer, Survey, SurveyResult

from ..support.clients import build_package
from ..support.server import READER

QUESTIONNAIRE = """
epsilon = 12.0
answers = "all"
series = "health"
waves = 3
turns = 3

[weights]
smokes = 0
way = 0
age = 0

[questions.symptoms]
type = "Several"
options = ["fever", "cough", "rash", "pain", "none of these"]
most = 2
column = "ticks"
optional = true

[questions."symptoms together"]
type = "Together"
of = "symptoms"

[questions.smokes]
type = "YesNo"
optional = true

[questions.way]
type = "Choice"
categories = ["foot", "car", "bus"]
optional = true

[questions.age]
type = "Histogram"
edges = [18, 30, 45, 60, 99]
optional = true

[questions.minutes]
type = "Number"
lower = 0
upper = 120
cells = 60
column = "walked"
optional = true

[questions.habits]
type = "Pairs"
names = ["smokes", "way", "age"]

[questions."symptoms of smokers"]
type = "Cross"
a = "symptoms"
b = "smokes"
"""
CATEGORIES = 'categories = ["foot", "car", "bus"]'
REVISED = "revision = 2\n" + QUESTIONNAIRE.replace(CATEGORIES, 'categories = ["foot", "car", "bus", "bicycle"]')
SECRET = bytes(range(32))
N = 400


def people(wave: int) -> dict[str, dict]:
    """Return answers of people by their names. Some are missing, some ticks are too many, and a bicycle is new in wave 3."""
    source, found = random.Random(wave), {}
    for i in range(N):
        fever = source.random() < 0.3
        ticks = ["fever", *source.sample(["cough", "pain"], source.randrange(2))] if fever else ["none of these"]
        record: dict = {"ticks": ticks, "smokes": source.random() < 0.4, "age": source.uniform(10, 105)}
        if i % 9 == 0:
            record["ticks"] = ["fever", "cough", "rash"] if i % 2 else "cough; fever;cough"
        record["walked"] = source.choice([0.0, 30.0, source.uniform(-5, 125)])
        record["way"] = source.choice(["foot", "car", "bus", "bicycle"])
        for name in [name for name in record if source.random() < 0.05]:
            record[name] = None
        found[f"person {i}"] = record
    return found


def in_python(survey: Survey, answers: dict[str, dict]) -> SurveyResult:
    """Return the result of a table of the same people, as a client reads their answers."""
    table = {
        name: [record[name] for record in answers.values()] for name in ("ticks", "smokes", "way", "age", "walked")
    }
    lists = [ticks.replace(" ", "").split(";") if isinstance(ticks, str) else ticks for ticks in table["ticks"]]
    table["ticks"] = [None if ticks is None or len(set(ticks)) > 2 else ticks for ticks in lists]
    table["age"] = [None if age is None else min(max(age, 18), 99) for age in table["age"]]
    table["walked"] = [None if minutes is None else min(max(minutes, 0), 120) for minutes in table["walked"]]
    if survey.revision == 1:
        table["way"] = [None if way == "bicycle" else way for way in table["way"]]
    return survey.run(table, rng=ldp.PersonKeys(SECRET, list(answers)))


@pytest.mark.claim(
    "Ticks, pairs and numbers by the client in JavaScript and the server give the table of Python.", "Clients"
)
@pytest.mark.long
@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_a_questionnaire_goes_from_its_file_to_a_table(start_server, tmp_path):
    pytest.importorskip("ziglang")
    package, database = build_package(tmp_path / "package"), f"sqlite:///{tmp_path}/reports.db"
    (tmp_path / "survey.toml").write_text(QUESTIONNAIRE)
    (tmp_path / "revised.toml").write_text(REVISED)
    first, second = Survey.from_toml(QUESTIONNAIRE), Survey.from_toml(REVISED)
    assert first.loss([second]).worst <= 12.0
    for wave, files in ((1, ["survey.toml"]), (2, ["survey.toml"]), (3, ["survey.toml", "revised.toml"])):
        survey, answers = (second if len(files) > 1 else first).in_wave(wave), people(wave)
        server = start_server(tmp_path, database, "--wave", str(wave), surveys=files)
        (tmp_path / "people.json").write_text(json.dumps(answers))
        environment = os.environ | {
            "PACKAGE": str(package),
            "SERVER": server.url,
            "PEOPLE": str(tmp_path / "people.json"),
            "FINGERPRINT": hashlib.sha256(survey.client_table()).hexdigest(),
            "SECRET": SECRET.hex(),
        }
        command = ["node", Path(__file__).parent / "questionnaire.mjs"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr
        sent, again = json.loads(done.stdout)
        assert sent == {"accepted": N, "duplicate": 0, "refused": []}
        assert (again["accepted"], again["duplicate"]) == (0, 10)

        expected = in_python(survey, answers)
        assert isinstance(expected["symptoms"], OptionsAnswer)
        assert isinstance(expected["habits"], PairsAnswer)
        assert isinstance(expected["minutes"], NumberAnswer)
        table = expected.table().columns
        assert server.get("/estimates")["n"] == N == expected.n
        assert server.get(f"/estimates?wave={wave}&version={survey.revision}")["result"] == expected.to_dict()
        page = text_of(f"{server.url}/?wave={wave}")
        assert all(f"<td>{answer}</td>" in page for answer in table["answer"])
        if wave == 3:
            assert text_of(f"{server.url}/plot.svg?wave=3").startswith("<?xml")
            trend = text_of(f"{server.url}/trend.svg")
            assert all(f"<!-- {label}" in trend for label in ("symptoms", "fever", "none of these"))
        server.stop()


def text_of(url: str) -> str:
    with urllib.request.urlopen(urllib.request.Request(url, headers=READER), timeout=60) as response:
        return unescape(response.read().decode())
