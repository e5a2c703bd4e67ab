"""Estimates of a server: groups at once, results that are computed once, clients that have gone, texts of people in tables."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import threading
import time
import warnings
from dataclasses import replace

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.server import _results, create_app
from ldpfast.survey import (
    Choice,
    Cross,
    Histogram,
    Mean,
    Pairs,
    Report,
    Several,
    Survey,
    SurveyQuestion,
    Text,
    Together,
    YesNo,
)

from ..support.server import LINES, READER, body_of
from .test_app import TOKENS, post, served

MIXED = Survey(
    {
        "smokes": YesNo(optional=True),
        "sleep": Mean(0, 12, optional=True),
        "work": Choice(["office", "home", "both"], optional=True),
        "age": Histogram([0, 30, 60, 90], optional=True),
        "both": Cross("smokes", "work"),
    },
    4.0,
)
PAIRED = Survey({**MIXED.questions, "pairs": Pairs("work", "smokes", "age")}, 4.0)
TICKS: dict[str, SurveyQuestion] = {
    "ticks": Several(["fever", "cough", "rash"], most=2, optional=True),
    "together": Together("ticks"),
    "ticks of smokers": Cross("ticks", "smokes"),
}
TICKED = Survey({**PAIRED.questions, **TICKS}, 40.0, answers="all")
WORDS = Survey({"word": Text(2, "=+-@ab", n=400, buckets=64, functions=4, optional=True)}, 12.0)


def reports_of(survey, records):
    return [survey.client().report(record) for record in records]


def numbers(data, place=()):
    """All numbers of nested data by their places, and everything else."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else None
    if items is None:
        return {place: data}
    return {key: value for name, part in items for key, value in numbers(part, (*place, name)).items()}


@pytest.fixture
def counted(monkeypatch):
    """How often results were computed: of one aggregator, and of groups together."""
    seen = []
    for name in ("_estimate", "_answers_of_groups"):
        original = getattr(_results, name)
        monkeypatch.setattr(_results, name, lambda *given, f=original, n=name: seen.append(n) or f(*given))
    return seen


@pytest.mark.parametrize("survey", [MIXED, PAIRED, TICKED], ids=["mixed", "paired", "ticked"])
def test_groups_are_estimated_at_once_as_one_by_one(tmp_path, counted, survey):
    """Also where nobody was asked a question, and where a group has no reports."""
    groups = [f"g{i}" for i in range(12)]
    rng = np.random.default_rng(1)
    once = (
        ["_estimate"] * 11 if survey is TICKED else ["_answers_of_groups"]
    )  # ticks of groups are not estimated at once
    others = {"work": "home", "age": 40, "ticks": ["rash"]}
    with served(tmp_path, survey, groups=groups) as client:
        expected = {}
        for i, label in enumerate(groups[:-1]):
            people = [
                {"smokes": bool(rng.random() < 0.3), "sleep": rng.uniform(4, 9), **others} for _ in range(3 + 20 * i)
            ]
            reports = reports_of(survey, people)
            assert post(client, reports, label).json()["accepted"] == len(reports)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected[label] = survey.aggregator().update([report.message for report in reports]).estimate()
                expected[label].columns = expected[label].table().columns
        found = client.get("/estimates?by=group", headers=READER).json()["groups"]
        assert counted == once
        assert list(found) == sorted(expected)
        for label, part in found.items():
            assert (part["n"], part["warnings"]) == (expected[label].n, [])
            alone = numbers(json.loads(json.dumps(expected[label].to_dict())))
            together = numbers(part["result"])
            assert together.keys() == alone.keys()
            for place, value in alone.items():
                assert together[place] == (pytest.approx(value, rel=1e-9) if isinstance(value, float) else value), place
        text = client.get("/estimates?by=group", headers={**READER, "accept": "text/csv"}).text
        rows = list(csv.DictReader(io.StringIO(text)))
        assert counted == once
        for name in ("question", "answer", "n", "estimate", "low"):
            values = [str(value) for label in found for value in expected[label].columns[name]]
            given = [row[name] for row in rows]
            if name in ("estimate", "low"):
                values, given = np.array(values, float), np.array(given, float)
                assert np.allclose(values, given, rtol=1e-9, equal_nan=True)
            else:
                assert values == given


def test_a_warning_is_that_of_its_group(tmp_path, counted):
    """Groups that are estimated at once: the counts of one are doubtful, as those of messages that were made up."""
    survey = Survey({"smokes": YesNo(optional=True), "town": Choice(["a", "b", "c"], optional=True)}, 1.0)
    honest = [report.message for report in reports_of(survey, [{"smokes": True, "town": "a"}] * 400)]
    messages = {"N": honest, "S": honest[:1] * 400, "W": honest[:3]}
    with served(tmp_path, survey, groups=[*messages]) as client:
        expected = {}
        for label, sent in messages.items():
            reports = [Report(f"{label}{i:015}".encode(), message) for i, message in enumerate(sent)]
            assert post(client, reports, label).json()["accepted"] == len(reports)
            with warnings.catch_warnings(record=True) as noted:
                warnings.simplefilter("always")
                survey.aggregator().update(sent).estimate()
            expected[label] = [str(one.message) for one in noted if one.category is ldp.DoubtfulWarning]
        with warnings.catch_warnings():
            warnings.simplefilter("error", ldp.DoubtfulWarning)
            found = client.get("/estimates?by=group", headers=READER).json()["groups"]
        assert counted == ["_answers_of_groups"]
        assert {label: part["warnings"] for label, part in found.items()} == expected
        assert [*map(len, expected.values())] == [0, 1, 0]
        assert "are probably those of another mechanism" in client.get("/?group=S", headers=READER).text


def test_results_are_computed_once_for_each_state(tmp_path, counted):
    """Folding changes no state. What a page needs is one estimate."""
    with served(tmp_path, groups=["N", "S"]) as client:
        reports = client.app.state.store.plan.versions[0].client()
        survey = [reports.report({"smokes": True}) for _ in range(60)]
        assert post(client, survey[:50], "N").json()["accepted"] == 50

        def read():
            for path in ("/estimates", "/", "/estimates"):
                assert client.get(path, headers=READER).status_code == 200
            return client.get("/estimates", headers=READER).json()["n"]

        assert read() == 50
        assert counted == ["_estimate"]
        client.app.state.store.fold()
        assert read() == 50
        assert counted == ["_estimate"]
        assert post(client, survey[50:], "S").json()["accepted"] == 10
        assert read() == 60
        assert client.get("/plot.svg", headers=READER).status_code == 200
        assert counted == ["_estimate"] * 2
        for _ in range(2):
            assert client.get("/?group=S", headers=READER).status_code == 200
        assert counted == ["_estimate"] * 3
        assert client.get("/estimates?by=group", headers=READER).json()["groups"]["S"]["n"] == 10
        assert post(client, survey, "N").json()["duplicate"] == 50
        assert client.get("/?group=N", headers=READER).status_code == 200


def test_counts_that_change_between_two_reads_are_not_mixed(tmp_path):
    """Reports arrive after the number of reports was read: everything is that of the newer state."""
    with served(tmp_path, groups=["N", "S"]) as client:
        survey, store = client.app.state.store.plan.versions[0], client.app.state.store
        (occasion,) = store.plan.occasions().values()
        reports = [survey.client().report({"smokes": True}) for _ in range(90)]
        post(client, reports[:30], "N")
        results = _results.Results(store, occasion)
        results.result()
        results.release()
        post(client, reports[30:], "S")
        assert results.n == 30
        found = results.to_dict(True, threading.Event())
        assert {label: part["n"] for label, part in found["groups"].items()} == {"N": 30, "S": 60}
        assert found["n"] == results.n == results.result().n == 90


# Clients that have gone -----------------------------------------------------------------------------------------------


async def ask(app, gone):
    """Ask for estimates by group, and go away when an event is set. Returns the statuses of the answers."""
    sent, received = [], []
    headers = [(b"host", b"testserver"), *((k.encode(), v.encode()) for k, v in READER.items())]

    async def receive():
        if not received:
            received.append(True)
            return {"type": "http.request", "body": b"", "more_body": False}
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http", "http_version": "1.1", "method": "GET", "path": "/estimates", "raw_path": b"/estimates",
        "query_string": b"by=group", "headers": headers, "scheme": "http", "server": ("testserver", 80),
    }  # fmt: skip
    await app(scope, receive, send)
    return [message["status"] for message in sent if message["type"] == "http.response.start"]


@pytest.mark.long
@pytest.mark.claim("The server stops computing estimates when the client that waits for them has gone.", "Server")
def test_the_work_for_a_client_that_has_gone_stops(tmp_path, monkeypatch):
    """One request is computed and another one waits for it; both clients go, and a third one is answered."""
    groups = [f"g{i}" for i in range(10)]
    done, estimate = [], _results._estimate
    monkeypatch.setattr(_results, "_estimate", lambda one: time.sleep(0.1) or done.append(one) or estimate(one))
    monkeypatch.setattr("ldpfast.server._requests.WATCH_SECONDS", 0.02)
    app = create_app(WORDS, f"sqlite:///{tmp_path}/reports.db", groups=groups, tokens=TOKENS, hosts=["testserver"])
    with served(tmp_path, WORDS, groups=groups) as client:
        for label in groups:
            assert post(client, reports_of(WORDS, [{"word": "a"}]), label).status_code == 200

    async def run():
        async with app.router.lifespan_context(app):
            gone, stays = asyncio.Event(), asyncio.Event()
            waiting = [asyncio.create_task(ask(app, gone)) for _ in range(3)]
            await asyncio.sleep(0.3)
            gone.set()
            statuses = [await task for task in waiting]
            before = len(done)
            await asyncio.sleep(0.2)
            assert len(done) <= before + 1  # the group that was being computed
            return statuses, before, await ask(app, stays)

    statuses, before, last = asyncio.run(run())
    assert statuses == [[499]] * 3
    assert 1 <= before < 9
    assert last == [200]
    assert len(done) <= 11  # what was computed before was kept


# Texts of people ------------------------------------------------------------------------------------------------------


@pytest.mark.claim("Texts of people are no formulas in the CSV tables of the server.", "Server")
def test_texts_of_people_are_no_formulas_in_tables(tmp_path):
    """Declared labels stay as they are; so do numbers."""
    declared = {"way": Choice(["-", "=1"], optional=True), "ticks": Several(["-", "=1", "@"], optional=True)}
    survey = replace(WORDS, questions={**WORDS.questions, **declared}, epsilon=18.0, answers="all")
    words = ["=a", "+b", "-a", "@b", "ab", "a="]
    with served(tmp_path, survey, groups=["+1"]) as client:
        # With personal keys the search finds the same words in every run.
        people = [survey.client(bytes(32), i) for i in range(600)]
        reports = [person.report({"word": words[i % 6], "way": "-"}) for i, person in enumerate(people)]
        assert post(client, reports, "+1").json()["accepted"] == 600
        text = client.get("/estimates?by=group", headers={**READER, "accept": "text/csv"}).text
        rows = list(csv.DictReader(io.StringIO(text)))
        found = {row["answer"] for row in rows if row["question"] == "word"}
        assert found == {"'=a", "'+b", "'-a", "'@b", "ab", "a=", "no answer"}
        assert {row["answer"] for row in rows if row["question"] == "way"} == {"-", "=1", "no answer"}
        assert {row["answer"] for row in rows if row["question"] == "ticks"} == {"-", "=1", "@", "no answer"}
        assert {row["group"] for row in rows} == {"+1"}
        assert all(float(row["low"]) <= float(row["high"]) for row in rows)
        labels = client.get("/estimates", headers=READER).json()["result"]["answers"]["word"]["labels"]
        assert sorted(labels) == sorted(words)


@pytest.mark.long
@pytest.mark.claim("Reports that are sent again with other ids give a warning on the page of the server.", "Server")
def test_reports_that_are_sent_again_with_other_ids_are_noticed(tmp_path):
    survey = Survey({"word": Text(3, "abcdefghij", optional=True, n=5000, buckets=1 << 14)}, 4.0)
    messages = [one.message for one in reports_of(survey, [{"word": word} for word in ("ab", "cad", "h") * 200])]
    with served(tmp_path, survey) as client:
        for wave in range(12):
            again = [Report(bytes([wave, i % 256, i // 256] + [0] * 13), m) for i, m in enumerate(messages)]
            assert post(client, again).json()["accepted"] == 600
            if not wave:
                assert client.get("/estimates", headers=READER).json()["warnings"] == []
        found = client.get("/estimates", headers=READER).json()
        assert any("impossible for people who send one report each" in text for text in found["warnings"])
        answer = found["result"]["answers"]["word"]
        assert answer["doubts"]
        assert 'role="alert">the counts are impossible' in client.get("/", headers=READER).text


# Requests -------------------------------------------------------------------------------------------------------------


def test_compressed_bodies_are_refused_as_a_whole(tmp_path):
    """They were read as lines, of which none could be read: the reports were lost."""
    with served(tmp_path) as client:
        body = body_of([client.app.state.store.plan.versions[0].client().report({"smokes": True})])
        for encoding in ("gzip", "GZIP", "br", "zstd", "deflate", "identity, gzip", "gzip, identity", "x"):
            answer = client.post("/reports", content=body, headers={**LINES, "content-encoding": encoding})
            assert answer.status_code == 415
            assert "content encoding" in answer.json()["error"]
            assert answer.headers["accept-encoding"] == "identity"
        assert client.post("/login", content=b"token=x", headers={"content-encoding": "gzip"}).status_code == 415
        for encoding in ("identity", " Identity ", ""):
            answer = client.post("/reports", content=body, headers={**LINES, "content-encoding": encoding})
            assert answer.status_code == 200
        assert client.get("/estimates", headers=READER).json()["n"] == 1


def test_the_health_can_be_asked_by_address(tmp_path):
    """As probes of containers do. No other call answers."""
    with served(tmp_path) as client:
        for host in ("10.0.0.7:8000", "[fd00::7]:8000", "survey-0"):
            assert client.get("/health", headers={"host": host}).json() == {"status": "ok"}
            for path in ("/", "/survey", "/estimates", "/metrics", "/health/", "/healthy", "//health"):
                assert client.get(path, headers={"host": host, **READER}).status_code == 400
            assert post(client, [], host=host).status_code == 400
