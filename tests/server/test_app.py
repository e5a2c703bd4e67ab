"""The calls of the server, in one process: what is stored once, what is refused, and who may read."""

from __future__ import annotations

import io
import json
import os
import random
import re
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from dataclasses import replace
from html import unescape
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pytest
import sqlalchemy as sa
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

import ldpfast as ldp
from ldpfast.reports import Aggregator, recipe_of
from ldpfast.server import create_app
from ldpfast.survey import Choice, Mean, Survey, Text, YesNo

from ..support.aggregation import batches_of
from ..support.internals.server import (
    VERSION,
    LoggedIds,
    Receiver,
    Reports,
    ServerPlan,
    Status,
    Store,
    access,
    exports,
    server_store,
)
from ..support.server import (
    LINES,
    PANEL,
    READ,
    READER,
    SURVEY,
    WRITE,
    body_of,
    frame_of,
    line_of,
    postgres,
    postgres_programs,
    reports_of,
)

TOKENS = access.Tokens((READ,), ())


def served(folder, surveys=SURVEY, **options):
    options = {"hosts": ["testserver"], "tokens": TOKENS, "folds": False, **options}
    return TestClient(create_app(surveys, f"sqlite:///{folder}/reports.db", **options))


def post(client, reports, group=None, **headers):
    return client.post("/reports", content=body_of(reports, group), headers={**LINES, **headers})


# Reports --------------------------------------------------------------------------------------------------------------


@pytest.mark.claim("The server counts each report once, also after a restart.", "Server")
def test_each_report_is_counted_once_and_the_estimate_is_that_of_an_aggregator(tmp_path):
    reports = reports_of(SURVEY, 500)
    expected = SURVEY.aggregator().update([report.message for report in reports])
    with served(tmp_path) as client:
        assert post(client, reports[:300]).json() == {"accepted": 300, "duplicate": 0, "refused": []}
        assert post(client, reports[200:]).json() == {"accepted": 200, "duplicate": 100, "refused": []}
        assert post(client, reports[:1] * 3).json() == {"accepted": 0, "duplicate": 3, "refused": []}
        store = client.app.state.store
        for _ in range(3):
            found = client.get("/estimates", headers=READER).json()
            assert found["n"] == 500
            assert found["result"] == json.loads(json.dumps(expected.estimate().to_dict()))
            assert store.counts(recipe_of(SURVEY).head[1:])[""] == expected
            store.fold(170)
        assert post(client, reports).json() == {"accepted": 0, "duplicate": 500, "refused": []}  # after folding, too
    with served(tmp_path) as client:  # and after a restart
        assert post(client, reports).json() == {"accepted": 0, "duplicate": 500, "refused": []}
        assert client.get("/estimates", headers=READER).json()["n"] == 500


@pytest.mark.claim("The server stores no addresses and no times.", "Server")
def test_the_database_has_no_addresses_and_no_times(tmp_path):
    """No header of the request and no date is in its files, and no number of a table is near the time of the request."""
    reports = reports_of(SURVEY, 20)
    sent = {
        "x-forwarded-for": "203.0.113.77",
        "user-agent": "browser 4711",
        "referer": "https://clinic.example/ward",
        "cookie": "session=4711",
    }
    with served(tmp_path, groups=["DE"]) as client:
        damaged = reports[0]._replace(message=b"\1")
        assert post(client, [*reports, damaged], "DE", **sent).json()["accepted"] == len(reports)
        files = b"".join(path.read_bytes() for path in tmp_path.glob("reports.db*"))
        with closing(sqlite3.connect(tmp_path / "reports.db")) as database:
            tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            cells = [cell for name in tables for row in database.execute(f'SELECT * FROM "{name}"') for cell in row]
    stored = [cell for cell in cells if isinstance(cell, bytes)]
    assert all(any(report.message in cell for cell in stored) for report in reports)
    for text in (*sent.values(), "testclient", time.strftime("%Y-%m-%d"), time.strftime("%Y-%m-%d", time.gmtime())):
        assert text.encode() not in files
    numbers = [cell for cell in cells if isinstance(cell, int | float)]
    assert [n for n in numbers for unit in (1, 1e3, 1e6, 1e9) if abs(n / unit - time.time()) < 86_400] == []


@pytest.mark.parametrize("groups", [None, ["DE"]])
def test_labels_that_are_no_group_are_refused(tmp_path, groups):
    """Missing, undeclared, empty, and invalid text, as JSON and as frames; the report beside them is stored."""
    good, *others = reports_of(SURVEY, 6)
    known = b"" if groups is None else b"DE"
    labels = [b"DE" if groups is None else b"", b"FR", b"\xff", "\ud800".encode("utf-8", "surrogatepass"), b"DE\xff"]
    bad = range(1, 6)
    body = b"".join(frame_of(report, label) for report, label in zip([good, *others], [known, *labels], strict=True))
    with served(tmp_path, groups=groups) as client:
        found = client.post("/reports", content=body, headers={"content-type": "application/octet-stream"}).json()
        assert found == {
            "accepted": 1,
            "duplicate": 0,
            "refused": [{"index": index, "reason": "group"} for index in bad],
        }
        texts = ["DE" if groups is None else None, "FR", "", "\ud800", 5]
        lines = [line_of(good, groups and "DE"), *(line_of(one, text) for one, text in zip(others, texts, strict=True))]
        assert client.post("/reports", content="\n".join(lines).encode(), headers=LINES).json() == {
            **found,
            "accepted": 0,
            "duplicate": 1,
        }


@pytest.mark.claim("Of two messages with one id, the first one counts.", "Server")
def test_an_id_with_other_bytes_is_a_conflict_and_the_first_wins(tmp_path):
    first, other = reports_of(SURVEY, 2)
    while first.message == other.message:
        (other,) = reports_of(SURVEY, 1)
    forged = other._replace(id=first.id)
    with served(tmp_path) as client:
        answer = post(client, [first, forged, first]).json()
        assert answer == {"accepted": 1, "duplicate": 1, "refused": [{"index": 1, "reason": "conflict"}]}
        assert post(client, [forged]).json()["refused"] == [{"index": 0, "reason": "conflict"}]
        expected = SURVEY.aggregator().update([first.message])
        assert client.app.state.store.counts(recipe_of(SURVEY).head[1:])[""] == expected


@pytest.mark.claim("One bad report never harms the others of a request.", "Server")
def test_bad_reports_do_not_harm_their_neighbors(tmp_path):
    reports = reports_of(SURVEY, 400)
    lines = [line_of(report) for report in reports]
    other = reports_of(Survey({"smokes": YesNo(optional=True)}, 1.0), 1)[0]
    bad = {
        7: ("{", "line"), 11: (line_of(reports[11]._replace(message=b"\1")), "fingerprint"),
        30: (line_of(other), "fingerprint"),
        50: (line_of(reports[50]._replace(message=reports[50].message[:-1])), "length"),
        51: (line_of(reports[51]._replace(message=reports[51].message[:-1] + b"\xff")), "value"),
        52: (line_of(reports[52]._replace(message=b"\2" + reports[52].message[1:])), "version"),
        53: (line_of(reports[53], "DE"), "group"),
    }  # fmt: skip
    for place, (text, _) in bad.items():
        lines[place] = text
    with served(tmp_path) as client:
        answer = client.post("/reports", content="\n".join(lines), headers=LINES).json()
        assert answer["accepted"] == 400 - len(bad)
        assert answer["refused"] == [{"index": place, "reason": reason} for place, (_, reason) in bad.items()]
        text = client.get("/metrics", headers=READER).text
        assert 'ldpfast_refused_total{reason="fingerprint"} 2.0' in text
        assert 'ldpfast_reports_total{status="accepted"} 393.0' in text
        assert "ldpfast_unfolded_messages 393.0" in text


def test_groups_are_declared_and_counted_apart(tmp_path):
    reports = reports_of(SURVEY, 90)
    with served(tmp_path, groups=["DE", "<b>&"]) as client:
        assert post(client, reports[:30], "DE").json()["accepted"] == 30
        assert post(client, reports[30:], "<b>&").json()["accepted"] == 60
        for label in (None, "FR", ""):
            assert {one["reason"] for one in post(client, reports_of(SURVEY, 2), label).json()["refused"]} == {"group"}
        found = client.get("/estimates?by=group", headers=READER).json()
        assert {label: part["n"] for label, part in found["groups"].items()} == {"DE": 30, "<b>&": 60}
        whole = client.get("/estimates", headers=READER).json()
        assert whole["n"] == whole["result"]["n"] == 90
        text = client.get("/estimates?by=group", headers={**READER, "accept": "text/csv"}).text
        rows = text.splitlines()
        assert rows[0] == "question,answer,estimate,stderr,low,high,n,group"
        assert {row.rsplit(",", 1)[1] for row in rows[1:]} == {"DE", "<b>&"}
        data = client.get("/estimates", headers={**READER, "accept": "application/vnd.apache.arrow.stream"}).content
        table = pa.ipc.open_stream(io.BytesIO(data)).read_all()
        expected = SURVEY.aggregator().update([report.message for report in reports]).estimate()
        assert table.column("estimate").to_pylist() == pytest.approx(expected.table().columns["estimate"])


@pytest.mark.claim("A report counts once in its wave, whatever the version of the survey is.", "Server")
def test_waves_and_versions_do_not_mix(tmp_path):
    later = PANEL.revise(add={"home": Choice(["a", "b"], optional=True)})
    keys = bytes(range(32))

    def of(survey, wave, people):
        return [survey.in_wave(wave).client(keys, i).report({"smokes": True}) for i in people]

    with served(tmp_path, PANEL, waves=[1]) as client:
        assert client.get("/survey").json()["wave"] == 1
        assert post(client, of(PANEL, 1, range(50))).json()["accepted"] == 50
        assert {one["reason"] for one in post(client, of(PANEL, 2, range(3))).json()["refused"]} == {"fingerprint"}
    with served(tmp_path, [later, PANEL], waves=[1, 2]) as client:
        current = client.get("/survey").json()
        assert (current["wave"], current["version"]) == (2, 2)
        assert client.get("/survey/1").json()["fingerprint"] == PANEL.in_wave(2).fingerprint
        assert client.get("/survey/3").status_code == 404
        # A person counts once in a wave, whatever the version is.
        answer = post(
            client, [*of(PANEL, 1, range(40, 60)), *of(later, 2, range(30)), *of(PANEL, 2, range(20, 40))]
        ).json()
        assert (answer["accepted"], answer["duplicate"]) == (10 + 30 + 10, 10)
        assert {one["reason"] for one in answer["refused"]} == {"conflict"}
        numbers = {}
        for wave, version in ((1, 1), (2, 1), (2, 2)):
            found = client.get(f"/estimates?wave={wave}&version={version}", headers=READER).json()
            numbers[wave, version] = found["n"]
        assert numbers == {(1, 1): 60, (2, 1): 10, (2, 2): 30}
        assert client.get("/estimates?wave=3", headers=READER).status_code == 404
        assert client.get("/trend.svg", headers=READER).status_code == 200
    with served(tmp_path, [PANEL, later], waves=[3]) as client:  # which closes waves 1 and 2
        store = client.app.state.store
        assert {one["reason"] for one in post(client, of(PANEL, 1, range(3))).json()["refused"]} == {"fingerprint"}
        store.fold()
        assert client.get("/estimates?wave=1", headers=READER).json()["n"] == 60
    with served(tmp_path, [PANEL, later], waves=[1, 2]) as client:  # and opens them again, where nobody counts twice
        assert post(client, [*of(PANEL, 1, range(60)), *of(later, 2, range(30))]).json()["duplicate"] == 90


def test_the_trend_is_drawn_after_questions_are_revised(tmp_path):
    """Labels of some waves have gaps; a question that was asked in another unit is left out, and the others are drawn."""
    asked = {
        "work": Choice(["office", "home"], optional=True),
        "hours": Mean(0, 10, optional=True),
        "sick": YesNo(optional=True),
    }
    first = Survey(asked, 3.0, series="trend", waves=2)
    second = first.revise(change={"work": Choice(["home", "both"], optional=True), "hours": Mean(0, 20, optional=True)})
    with served(tmp_path, [first, second], waves=[1, 2]) as client:
        for wave, survey in ((1, first), (2, second)):
            answers = {"work": "home", "hours": 4.0, "sick": False}
            people = [survey.in_wave(wave).client(bytes(32), i) for i in range(300)]
            post(client, [person.report(answers) for person in people if person.is_turn()])
        found = client.get("/trend.svg", headers=READER)
        assert found.status_code == 200
        for text in ("office", "home", "both", "work", "sick"):
            assert f"<!-- {text}" in found.text
        assert "<!-- hours" not in found.text


@pytest.mark.claim("A wave that is closed for good keeps its counts, forgets its ids and refuses reports.", "Server")
def test_a_wave_that_is_closed_for_good_keeps_its_counts_and_forgets_its_ids(tmp_path):
    reports = {
        wave: [PANEL.in_wave(wave).client(bytes(32), i).report({"smokes": True}) for i in range(40)] for wave in (1, 2)
    }
    with served(tmp_path, PANEL, waves=[1, 2]) as client:
        assert post(client, reports[1][:30] + reports[2][:30]).json()["accepted"] == 60
        store = Store(ServerPlan.of(PANEL, 1, None), f"sqlite:///{tmp_path}/reports.db")  # of `ldpfast close`
        assert store.close_waves() == (30, 30)
        assert store.close_waves() == (0, 0)
        store.close()
        answer = post(client, reports[1] + reports[2]).json()  # the server that runs notices it
        assert (answer["accepted"], answer["duplicate"]) == (10, 30)
        assert answer["refused"] == [{"index": i, "reason": "closed"} for i in range(40)]
        assert [client.get(f"/estimates?wave={wave}", headers=READER).json()["n"] for wave in (1, 2)] == [30, 40]
        with client.app.state.store.read() as connection:
            assert connection.scalar(sa.text("SELECT sum(length(data)) / 24 FROM recent_ids")) == 40
            closed = "SELECT count(*) FROM ids JOIN occasions USING (occasion) WHERE closed"
            assert connection.scalar(sa.text(closed)) == 0
            assert connection.scalar(sa.text("SELECT count FROM refusals WHERE reason = 'closed'")) == 40
    with pytest.raises(ValueError, match="waves must be open, got 1, which was closed for good"):
        served(tmp_path, PANEL, waves=[1])
    with served(tmp_path, PANEL, waves=[3]) as client:
        assert client.get("/estimates?wave=1", headers=READER).json()["n"] == 30


def test_a_closing_that_was_interrupted_refuses_reports_and_is_completed_later(tmp_path, monkeypatch):
    reports = reports_of(SURVEY, 20)
    with served(tmp_path) as client:
        post(client, reports[:10])
        store = client.app.state.store
        with monkeypatch.context() as patch:
            patch.setattr(Store, "fold", lambda self, **_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                store.close_waves()
        assert [one["reason"] for one in post(client, reports).json()["refused"]] == ["closed"] * 20
        assert store.close_waves() == (10, 10)
        assert client.get("/estimates", headers=READER).json()["n"] == 10
    with pytest.raises(ValueError, match="surveys must be open, got one that was closed for good"):
        served(tmp_path)


def test_a_wave_is_closed_with_all_versions_that_have_reports(tmp_path):
    later = PANEL.revise(add={"drinks": YesNo(optional=True)})
    with served(tmp_path, [PANEL, later], waves=1) as client:
        reports = [later.in_wave(1).client(bytes(32), i).report({"drinks": True}) for i in range(20)]
        post(client, reports)
        url = f"sqlite:///{tmp_path}/reports.db"
        with client.app.state.store.write() as connection:  # as an older server left it
            connection.execute(sa.text("UPDATE surveys SET description = NULL"))
        store = Store(ServerPlan.of(PANEL, 1, None), url, is_new=False)
        with pytest.raises(ValueError, match="got none with version 2"):
            store.close_waves()
        assert post(client, reports).json()["duplicate"] == 20
        assert (store.fold(), store.versions_to_fold()) == (0, [2])
        store.close()
        Store(ServerPlan.of([PANEL, later], 1, None), url, is_new=False).close()  # which stores the descriptions
        store = Store(ServerPlan.of(PANEL, 1, None), url, is_new=False)
        assert store.close_waves() == (20, 20)
        store.close()


def test_commands_do_not_make_what_no_server_had(tmp_path):
    """A typing error in a database, a survey or a wave is an error, and writes nothing."""
    with served(tmp_path, PANEL, waves=1):
        pass
    url, other = f"sqlite:///{tmp_path}/reports.db", Survey({"drinks": YesNo(optional=True)}, 1.0)
    Store(ServerPlan.of(PANEL, 1, None), url, is_new=False).close()
    for plan in (ServerPlan.of(PANEL, 2, None), ServerPlan.of(other, None, None)):
        with pytest.raises(
            ValueError, match="must be one that a server has received in this database, got fingerprint"
        ):
            Store(plan, url, is_new=False)
    with pytest.raises(ValueError, match="must be that of a server, got a file that does not exist"):
        Store(ServerPlan.of(PANEL, 1, None), f"sqlite:///{tmp_path}/report.db", is_new=False)
    assert not (tmp_path / "report.db").exists()
    with closing(sqlite3.connect(tmp_path / "empty.db")) as connection:
        connection.execute("CREATE TABLE other (a)")
    with pytest.raises(ValueError, match="got one without its tables"):
        Store(ServerPlan.of(PANEL, 1, None), f"sqlite:///{tmp_path}/empty.db", is_new=False)


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)])
def test_statuses_and_counts_are_those_of_a_dictionary_of_ids(kind, tmp_path):
    """Ids come again, in the same batch or later, with the same message or another one, for two waves and two groups."""
    if kind == "postgresql" and postgres_programs() is None:
        pytest.skip("needs PostgreSQL")
    questions = {"smokes": YesNo(optional=True), "town": Choice(400, optional=True)}
    panel = Survey(questions, 8.0, series="weeks", waves=3, turns=3)
    groups = ["north\x7f\u202e", "\ufdd0\U0001f600'\"%\\"]  # the oddest that are allowed
    draw, plan = random.Random(7), ServerPlan.of(panel, [1, 2], groups)
    occasions = list(plan.occasions().values())
    answers = [{"smokes": i % 2 == 0, "town": i} for i in range(12)]
    sent = {o.fingerprint: [o.survey.client(bytes(32), i).answer(a) for i, a in enumerate(answers)] for o in occasions}
    assert len({len(message) for messages in sent.values() for message in messages}) == 2
    known: dict[tuple[bytes, bytes], tuple[str, bytes]] = {}
    with postgres() if kind == "postgresql" else nullcontext(f"sqlite:///{tmp_path}/reports.db") as url:
        store = Store(plan, url)
        for batch in range(60):
            size = draw.randrange(40)
            asked = draw.choices(occasions, k=size)
            ids = [bytes([draw.randrange(250)] * 16) for _ in range(size)]
            labels = draw.choices(plan.groups, k=size)
            messages = [draw.choice(sent[one.fingerprint]) for one in asked]
            expected = []
            for one, id_, label, message in zip(asked, ids, labels, messages, strict=True):
                is_new = (one.key, id_) not in known
                same = known.setdefault((one.key, id_), (label, message)) == (label, message)
                expected.append(Status.ACCEPTED if is_new else Status.DUPLICATE if same else Status.CONFLICT)
            with store.write() as connection:
                assert store.add(connection, Reports(asked, ids, labels, messages)) == expected
            if batch % 7 == 0:
                store.fold(5)
        counted = sum(store.fold(draw.randrange(1, 9)) for _ in range(1000))
        assert 0 < counted < len(known)
        for one in occasions:
            own = [value for (key, _), value in known.items() if key == one.key]
            found = store.counts(one.fingerprint)
            for label in plan.groups:
                assert found[label] == one.survey.aggregator().update([m for name, m in own if name == label])
        store.close()


@pytest.mark.claim(
    "The server finds each id again, in memory or on the disk, after failures and beside another process.", "Server"
)
def test_ids_are_found_wherever_they_are(tmp_path, monkeypatch):
    """Two stores write to a file in turn, some transactions fail, and stores are closed and opened. Ids move often."""
    monkeypatch.setattr(LoggedIds, "ROUND_REPORTS", 60)
    monkeypatch.setattr(LoggedIds, "MOVE_REPORTS", 5)
    monkeypatch.setattr(LoggedIds, "PIECE_IDS", 7)
    draw, plan, url = random.Random(3), ServerPlan.of(PANEL, [1, 2], None), f"sqlite:///{tmp_path}/reports.db"
    occasions = list(plan.occasions().values())
    message = {one: one.survey.client(bytes(32), 1).answer({"smokes": True}) for one in occasions}
    stores, stored = [Store(plan, url), Store(plan, url)], set()
    moved = set()
    for _ in range(300):
        number, size = draw.randrange(2), draw.randrange(12)
        asked = draw.choices(occasions, k=size)
        ids = [bytes([draw.randrange(256), draw.randrange(3)] * 8) for _ in range(size)]
        given, known, expected = list(zip(asked, ids, strict=True)), set(stored), []
        for one in given:
            expected.append(Status.DUPLICATE if one in known else Status.ACCEPTED)
            known.add(one)
        fails = draw.random() < 0.2
        with pytest.raises(ZeroDivisionError) if fails else nullcontext(), stores[number].write() as connection:
            found = stores[number].add(connection, Reports(asked, ids, [""] * size, [message[one] for one in asked]))
            assert found == expected
            if fails:
                raise ZeroDivisionError
        stored = stored if fails else known
        if draw.random() < 0.05:
            stores[number].close()
            stores[number] = Store(plan, url)
        with stores[number].read() as connection:
            moved.add(connection.scalar(sa.text("SELECT count(*) FROM ids")))
            assert connection.scalar(sa.text("SELECT coalesce(sum(length(data)), 0) / 24 FROM recent_ids")) <= 5 * 60
    assert len(moved) > 50
    assert max(moved) > len(stored) / 2
    assert stores[0].close_waves()[1] == len(stored)
    for store in stores:
        with store.read() as connection:
            assert (
                connection.scalar(sa.text("SELECT (SELECT count(*) FROM ids) + (SELECT count(*) FROM recent_ids)")) == 0
            )
        store.close()


def test_a_failure_while_the_log_is_read_blocks_nobody(tmp_path, monkeypatch):
    """The query of the log must be closed: an open one would refuse the next transaction, after another process has written."""
    monkeypatch.setattr(LoggedIds, "PIECE_IDS", 1)
    plan, url = ServerPlan.of(SURVEY, None, None), f"sqlite:///{tmp_path}/reports.db"
    (occasion,) = plan.occasions().values()
    stores, reports = [Store(plan, url), Store(plan, url)], reports_of(SURVEY, 30)

    def add(store, part):
        with store.write() as connection:
            ids, messages = [report.id for report in part], [report.message for report in part]
            return store.add(connection, Reports([occasion] * len(part), ids, [""] * len(part), messages))

    inserts = []

    def fails(_, __, statement, *others):
        if "INTO memory.ids" in statement:
            inserts.append(statement)
            if len(inserts) == 3:
                raise ZeroDivisionError

    for start in range(0, 20, 4):
        add(stores[0], reports[start : start + 4])
    sa.event.listen(stores[1].engine, "before_cursor_execute", fails)
    with pytest.raises(ZeroDivisionError):
        add(stores[1], reports[20:])
    assert add(stores[0], reports[20:25]) == [Status.ACCEPTED] * 5
    assert add(stores[1], reports[18:]) == [Status.DUPLICATE] * 7 + [Status.ACCEPTED] * 5
    for store in stores:
        store.close()


def test_the_log_of_ids_is_short_after_any_number_of_restarts(tmp_path, monkeypatch):
    """A new process goes on where the last one has stopped."""
    monkeypatch.setattr(LoggedIds, "ROUND_REPORTS", 100)
    monkeypatch.setattr(LoggedIds, "MOVE_REPORTS", 10)
    plan, url = ServerPlan.of(SURVEY, None, None), f"sqlite:///{tmp_path}/reports.db"
    (occasion,) = plan.occasions().values()
    reports, lengths = reports_of(SURVEY, 1200), []
    for start in range(0, 1200, 30):
        store = Store(plan, url)
        store.load()
        own = reports[max(0, start - 200) : start + 30]
        with store.write() as connection:
            ids, messages = [report.id for report in own], [report.message for report in own]
            statuses = store.add(connection, Reports([occasion] * len(own), ids, [""] * len(own), messages))
            assert statuses.count(Status.ACCEPTED) == 30
            lengths.append(connection.scalar(sa.text("SELECT sum(length(data)) / 24 FROM recent_ids")))
        store.close()
    assert max(lengths) <= 2 * 100 + 60
    assert min(lengths[10:]) < max(lengths)


def test_ids_of_a_wave_that_another_process_has_closed_are_not_stored_again(tmp_path, monkeypatch):
    monkeypatch.setattr(LoggedIds, "ROUND_REPORTS", 100)
    monkeypatch.setattr(LoggedIds, "MOVE_REPORTS", 5)
    reports = {
        wave: [PANEL.in_wave(wave).client(bytes(32), i).report({"smokes": True}) for i in range(200)] for wave in (1, 2)
    }
    with served(tmp_path, PANEL, waves=[1, 2]) as client:
        assert post(client, reports[1][:50]).json()["accepted"] == 50
        store = Store(ServerPlan.of(PANEL, 1, None), f"sqlite:///{tmp_path}/reports.db")  # of `ldpfast close`
        assert store.close_waves() == (50, 50)
        store.close()
        for start in range(0, 200, 20):
            assert post(client, reports[2][start : start + 20]).json()["accepted"] == 20
        with client.app.state.store.read() as connection:
            of_wave = "SELECT wave, count(*) FROM ids JOIN occasions USING (occasion) GROUP BY wave"
            ((wave, count),) = connection.execute(sa.text(of_wave)).all()
    assert wave == 2
    assert count > 100


def test_estimates_hold_few_messages_in_memory(tmp_path, monkeypatch):
    """A batch can hold very many, and a server that does not fold has very many batches."""
    monkeypatch.setattr(server_store, "FOLDED", 300)
    message, plan = reports_of(SURVEY, 1)[0].message, ServerPlan.of(SURVEY, None, None)
    (occasion,) = plan.occasions().values()
    store, held = Store(plan, f"sqlite:///{tmp_path}/reports.db"), []
    for batch in range(20):
        ids = [(200 * batch + i).to_bytes(16, "big") for i in range(200)]
        with store.write() as connection:
            store.add(connection, Reports([occasion] * 200, ids, [""] * 200, [message] * 200))
    update = Aggregator.update
    monkeypatch.setattr(Aggregator, "update", lambda self, part: held.append(len(part)) or update(self, part))
    assert store.counts(occasion.fingerprint)[""].n == 4000
    assert held == [400] * 10
    with store.read() as connection:
        assert [len(part) for *_, part in store.pending(connection)] == held
    store.close()


@pytest.mark.claim("A newer version brings a database of an older one to its own form.", "Server")
@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)])
def test_a_database_of_the_first_version_is_brought_to_this_one(kind, tmp_path):
    reports, plan = reports_of(SURVEY, 10), ServerPlan.of(SURVEY, None, None)
    if kind == "postgresql" and postgres_programs() is None:
        pytest.skip("needs PostgreSQL")
    with postgres() if kind == "postgresql" else nullcontext(f"sqlite:///{tmp_path}/reports.db") as url:
        occasion = next(iter(plan.occasions().values()))
        for version in (1, 2):
            store = Store(plan, url)
            with store.write() as connection:
                given = [report.id for report in reports], [""] * 10, [report.message for report in reports]
                assert {*store.add(connection, Reports([occasion] * 10, *given))} == {
                    Status.ACCEPTED if version == 1 else Status.DUPLICATE
                }
                assert connection.scalar(sa.text("SELECT version FROM ldpfast")) == VERSION
                if version == 1:  # as the first version left it
                    for table, column in (("occasions", "closed"), ("surveys", "description"), ("ldpfast", "identity")):
                        connection.execute(sa.text(f"ALTER TABLE {table} DROP COLUMN {column}"))
                    connection.execute(sa.text("DROP TABLE parts"))
                    binary = "BYTEA" if kind == "postgresql" else "BLOB"
                    columns = f"place INTEGER PRIMARY KEY, survey INTEGER, label TEXT, message {binary}"
                    connection.execute(sa.text(f"CREATE TABLE messages ({columns})"))
                    old = [{"i": i, "message": report.message} for i, report in enumerate(reports)]
                    connection.execute(sa.text("INSERT INTO messages VALUES (:i, 1, '', :message)"), old)
                    connection.execute(sa.text("DELETE FROM batches"))
                    connection.execute(sa.text("UPDATE ldpfast SET version = 1"))
            store.close()
        store = Store(plan, url)
        with store.read() as connection:
            assert len(connection.scalar(sa.text("SELECT identity FROM ldpfast"))) == 32
            assert Survey.from_dict(json.loads(connection.scalar(sa.text("SELECT description FROM surveys")))) == SURVEY
        assert len(batches_of(exports.exported_state(store, occasion, None))) == 3
        store.touch()
        with store.write() as connection:
            connection.execute(sa.text("UPDATE ldpfast SET version = 1"))  # as an older server does that still runs
        store.close()
        store = Store(plan, url)
        assert store.close_waves() == (10, 10)
        with store.write() as connection:
            connection.execute(sa.text("UPDATE ldpfast SET version = 7"))
        store.close()
        with pytest.raises(ValueError, match="must be of version 6 of the server or older, got version 7"):
            Store(plan, url)


@pytest.mark.long
@pytest.mark.skipif(postgres_programs() is None, reason="needs PostgreSQL")
def test_a_newer_version_waits_for_the_reports_that_an_older_one_stores():
    """What the older server has acknowledged is there afterwards, although it was stored while the newer one began."""
    reports, plan = reports_of(SURVEY, 7), ServerPlan.of(SURVEY, None, None)
    with postgres() as url, ThreadPoolExecutor() as pool:
        Store(plan, url).close()
        engine = sa.create_engine(url)
        with engine.begin() as connection:
            connection.execute(sa.text("UPDATE ldpfast SET version = 2"))
            columns = "place SERIAL PRIMARY KEY, survey INTEGER, label TEXT, message BYTEA"
            connection.execute(sa.text(f"CREATE TABLE messages ({columns})"))
        with engine.begin() as connection:
            insert = sa.text("INSERT INTO messages (survey, label, message) VALUES (1, '', :message)")
            connection.execute(insert, [{"message": report.message} for report in reports])
            newer = pool.submit(Store, plan, url)
            with pytest.raises(TimeoutError):
                newer.result(1)
        store = newer.result(30)
        assert store.fold() == 7
        store.close()
        engine.dispose()


@pytest.mark.long
@pytest.mark.skipif(postgres_programs() is None, reason="needs PostgreSQL")
def test_two_servers_that_store_the_same_waves_in_another_order_do_not_block_each_other():
    plan = ServerPlan.of(PANEL, [1, 2], None)
    first, second = plan.occasions().values()
    n = 3000
    ids = [i.to_bytes(16, "big") for i in range(n)]
    message = {one: one.survey.client(bytes(32), 1).answer({"smokes": True}) for one in (first, second)}

    def reports(*order):
        parts = [Reports([one] * n, ids, [""] * n, [message[one]] * n) for one in order]
        return Reports.joined(parts)

    def add(store, given):
        with store.write() as connection:
            return store.add(connection, given)

    with postgres() as url, ThreadPoolExecutor() as pool:
        stores = Store(plan, url), Store(plan, url)
        for _ in range(3):
            orders = reports(first, second), reports(second, first)
            found = [job.result(60) for job in [pool.submit(add, *pair) for pair in zip(stores, orders, strict=True)]]
            assert sum(statuses.count(Status.ACCEPTED) for statuses in found) in (0, 2 * n)
            assert all(Status.CONFLICT not in statuses for statuses in found)
        for store in stores:
            store.close()


def test_a_repeated_survey_can_be_asked_of_a_server_one_round_at_a_time(tmp_path):
    survey = Survey({"smokes": YesNo(optional=True)}, 4.0, series="weeks")
    first = ldp.survey.Repeated(survey, round=2.0, rounds=3).in_round(0)
    with served(tmp_path, first) as client:
        reports = [first.client(bytes(32), i).report({"smokes": True}) for i in range(40)]
        assert post(client, reports).json()["accepted"] == 40
        assert post(client, reports).json()["duplicate"] == 40


@pytest.mark.parametrize(
    "surveys, options, text",
    [
        (Survey({"a": YesNo()}, 1.0), {}, "every question must be optional"),
        ([], {}, "surveys must be a Survey or a list"),
        ([SURVEY, PANEL], {"waves": 1}, "surveys must be versions of one series"),
        ([SURVEY, SURVEY], {}, "surveys must have different revisions"),
        (SURVEY, {"waves": 1}, "waves must be left out"),
        (PANEL, {}, "waves must be the open waves"),
        (PANEL, {"waves": 9}, "wave must be"),
        (PANEL, {"waves": [1, 1]}, "waves must be different"),
        (PANEL.in_wave(1), {"waves": 1}, "surveys must be whole"),
        (SURVEY, {"groups": "DE"}, "groups must be a list"),
        (SURVEY, {"groups": ["DE", "DE"]}, "groups must be different"),
        (SURVEY, {"groups": []}, "number of groups must be"),
        (SURVEY, {"folds": 1}, "folds must be"),
    ],
)
def test_what_cannot_be_served_is_refused(tmp_path, surveys, options, text):
    with pytest.raises((TypeError, ValueError), match=text):
        create_app(surveys, f"sqlite:///{tmp_path}/reports.db", **options)


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "mysql://a/b"])
def test_a_database_that_would_lose_reports_is_refused(url):
    with pytest.raises(ValueError, match="url must"):
        create_app(SURVEY, url)


# Requests -------------------------------------------------------------------------------------------------------------


@pytest.mark.claim("A request has at most 4 MB and 10,000 reports; larger ones are refused.", "Server")
def test_requests_that_are_too_large_or_of_another_kind_are_refused(tmp_path):
    with served(tmp_path) as client:
        assert client.post("/reports", content=b"", headers={"content-type": "text/plain"}).status_code == 415
        assert client.post("/reports", content=b" " * (5 << 20), headers=LINES).status_code == 413
        streamed = (b" " * (1 << 20) for _ in range(6))
        assert client.post("/reports", content=streamed, headers=LINES).status_code == 413
        assert client.post("/reports", content="{}\n" * 10_001, headers=LINES).status_code == 413
        assert client.post("/reports", content=b"\xff", headers=LINES).json()["refused"] == [
            {"index": 0, "reason": "line"}
        ]
        assert (
            client.post("/reports", content=b"\xff", headers={"content-type": "application/octet-stream"}).status_code
            == 400
        )
        for path in (f"/survey/{'7' * 5000}", "/survey/x", "/estimates/", "/survey/"):
            assert client.get(path).status_code == 404
        assert client.post("/reports", content=b"", headers=LINES).json() == {
            "accepted": 0,
            "duplicate": 0,
            "refused": [],
        }
        assert client.get("/reports").status_code == 405
        assert client.get("/nothing").status_code == 404


def test_the_survey_is_the_same_for_everybody_and_can_be_cached(tmp_path):
    with served(tmp_path, groups=["DE"]) as client:
        found = client.get("/survey")
        assert found.headers["cache-control"] == "public, max-age=60"
        assert found.json()["schema"] == SURVEY.client_schema()
        assert found.json()["groups"] == ["DE"]
        again = client.get("/survey", headers={"if-none-match": found.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert "set-cookie" not in found.headers


READINGS = ["/estimates", "/plot.svg", "/trend.svg", "/metrics", "/"]


@pytest.mark.claim("Reading always needs a token.", "Server")
@pytest.mark.parametrize("path", READINGS)
def test_reading_needs_a_token(tmp_path, path):
    with served(tmp_path) as client:
        post(client, reports_of(SURVEY, 20))
        wrong = [
            {},
            {"authorization": "Bearer "},
            {"authorization": f"Basic {READ}"},
            {"authorization": f"Bearer {READ}x"},
        ]
        wrong += [
            {"cookie": f"ldpfast={READ}"},
            {"x-forwarded-for": "127.0.0.1"},
            {"authorization": "Bearer \u00e9\u20ac".encode()},
        ]
        for headers in wrong:
            assert client.get(path, headers=headers).status_code == 401
            assert client.head(path, headers=headers).status_code == 401
        assert client.get(path, headers=READER).status_code == (404 if path == "/trend.svg" else 200)
        assert client.get(path, headers={"cookie": f"ldpfast={access.session_of(READ)}"}).status_code != 401


@pytest.mark.claim("The cookie of the page is not the token.", "Server")
def test_the_page_has_a_login_and_its_cookie_is_not_the_token(tmp_path):
    with served(tmp_path, hosts=["localhost", "testserver"]) as client:
        through_proxy = client.post("/login", data={"token": READ}, follow_redirects=False)
        assert "Secure" in through_proxy.headers["set-cookie"]
        client.base_url = "http://localhost"
        assert "Token for reading" in client.get("/").text
        assert client.post("/login", data={"token": "wrong"}).status_code == 401
        assert client.post("/login", content=b"a=1&b=2&c=3").status_code == 400
        answer = client.post("/login", data={"token": READ}, follow_redirects=False)
        assert answer.status_code == 303
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert READ not in cookie
        assert "Secure" not in cookie
        assert "Path" not in cookie
        assert client.get("/").status_code == 200


def test_a_proxy_may_show_the_page_under_a_path(tmp_path):
    with served(tmp_path) as client:
        post(client, reports_of(SURVEY, 200))
        proxy = TestClient(
            Starlette(routes=[Mount("/sleep", client.app), Mount("/other", client.app)]), base_url="https://testserver"
        )
        page = proxy.post("/sleep/login", data={"token": READ})
        assert page.url.path == "/sleep/"
        assert "Answers with their intervals" in page.text
        for link in re.findall(r'(?:src|href)="([^"]*)', page.text):
            assert proxy.get(str(page.url.join(unescape(link)))).status_code == 200
        assert "Token for reading" in proxy.get("/other/").text


@pytest.mark.claim("Sending reports needs a token if the file of tokens has a line `write`.", "Server")
def test_writing_may_need_a_token_too(tmp_path):
    with served(tmp_path, tokens=access.Tokens((READ,), (WRITE,))) as client:
        reports = reports_of(SURVEY, 2)
        assert post(client, reports).status_code == 401
        assert post(client, reports, authorization=f"Bearer {READ}").status_code == 401
        assert post(client, reports, authorization=f"Bearer {WRITE}").json()["accepted"] == 2
        assert client.get("/estimates", headers={"authorization": f"Bearer {WRITE}"}).status_code == 401


@pytest.mark.claim(
    "Requests for other host names are refused, and other origins get no permission to send reports.", "Server"
)
def test_other_hosts_and_origins_are_refused(tmp_path):
    with served(tmp_path, origins=["https://survey.example.org"]) as client:
        assert client.get("/survey", headers={"host": "evil.example"}).status_code == 400
        ask = {"access-control-request-method": "POST", "access-control-request-headers": "content-type"}
        allowed = client.options("/reports", headers={"origin": "https://survey.example.org", **ask})
        assert allowed.headers["access-control-allow-origin"] == "https://survey.example.org"
        assert (
            "access-control-allow-origin"
            not in client.options("/reports", headers={"origin": "https://evil.example", **ask}).headers
        )


def test_the_page_shows_labels_as_text_and_needs_nothing_from_elsewhere(tmp_path):
    evil = '<script>alert(1)</script>"&'
    survey = Survey({evil: Choice([evil, "b"], optional=True)}, 4.0, series=evil)
    with served(tmp_path, survey, groups=[evil, "b"]) as client:
        reports = [survey.client().report({evil: evil}) for _ in range(60)]
        assert post(client, reports[:30], evil).json()["accepted"] == 30
        assert post(client, reports[30:], "b").json()["accepted"] == 30
        page = client.get("/", headers=READER)
        assert "<script" not in page.text
        assert "default-src 'none'" in page.headers["content-security-policy"]
        for group in re.findall(r'href="(/\?[^"]*group=[^"]*)"', page.text):
            assert client.get(group.replace("&amp;", "&"), headers=READER).status_code == 200
        picture = client.get("/plot.svg", headers=READER)
        assert picture.headers["content-type"] == "image/svg+xml"
        assert not [node for node in ElementTree.fromstring(picture.content).iter() if node.tag.endswith("script")]
        assert set(re.findall(r'(?:src|href|action)="([^"?]*)', page.text)) <= {"", "style.css", "plot.svg"}
        for path in ("/?group=nobody", "/?wave=1", "/?version=9"):
            assert client.get(path, headers=READER).status_code == 404
        for path in ("/?wave=x", "/?version=-1", "/estimates?by=age"):
            assert client.get(path, headers=READER).status_code == 400


def test_texts_are_found_and_shown(tmp_path):
    """Each group has texts of its own; a text is never markup."""
    question = Text(3, "<>bnoyes", optional=True, n=400, buckets=64, functions=4)
    survey = Survey({"word": question, "smokes": YesNo(optional=True)}, 12.0, answers="all")
    with served(tmp_path, survey, groups=["N", "S"]) as client:
        sent = {"N": ["<b>", "no", "<b>"] * 130, "S": ["yes"] * 90}
        counted = survey.aggregator()
        for group, words in sent.items():
            reports = [survey.client().report({"word": word}) for word in words]
            assert post(client, reports, group).json()["accepted"] == len(reports)
            counted.update([report.message for report in reports])
        found = client.get("/estimates", headers=READER).json()
        assert found["result"] == json.loads(json.dumps(counted.estimate().to_dict()))
        assert found["result"]["answers"]["word"]["labels"][0] == "<b>"
        groups = client.get("/estimates?by=group", headers=READER).json()["groups"]
        assert groups["S"]["result"]["answers"]["word"]["labels"] == ["yes"]
        text = client.get("/estimates?by=group", headers={**READER, "accept": "text/csv"}).text
        assert "\nword,yes," in text
        page = client.get("/", headers=READER).text
        assert "&lt;b&gt;" in page
        assert "<b>" not in page
        assert client.get("/plot.svg", headers=READER).status_code == 200


# Storage --------------------------------------------------------------------------------------------------------------


@pytest.mark.claim(
    "A database that cannot be written acknowledges nothing, and the same reports can be sent again.", "Server"
)
def test_a_database_that_cannot_be_written_acknowledges_nothing(tmp_path):
    reports = reports_of(SURVEY, 10)
    with served(tmp_path) as client:
        connection = client.app.state.store.engine.raw_connection()
        size = connection.cursor().execute("PRAGMA page_count").fetchone()[0]
        connection.close()

        def limit(pages):
            client.app.state.store.engine.dispose()
            return pages

        @sa.event.listens_for(client.app.state.store.engine, "connect")
        def full(raw, _):
            raw.execute(f"PRAGMA max_page_count = {full.pages}")

        full.pages = limit(size)
        answer = post(client, reports_of(SURVEY, 5000))
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "2"
        full.pages = limit(1 << 30)
        assert post(client, reports).json()["accepted"] == 10
        assert client.get("/estimates", headers=READER).json()["n"] == 10


def test_a_failure_of_folding_does_not_stop_the_storing_of_reports(tmp_path, monkeypatch):
    monkeypatch.setattr("ldpfast.server._receiver.FOLD_SECONDS", 0.05)
    with served(tmp_path, folds=True) as client:
        post(client, reports_of(SURVEY, 5))
        time.sleep(0.3)
        with client.app.state.store.write() as connection:
            connection.exec_driver_sql("UPDATE states SET state = x'00'")
        for _ in range(3):
            assert post(client, reports_of(SURVEY, 5)).json()["accepted"] == 5
            time.sleep(0.2)
        assert client.get("/health").json() == {"status": "ok"}


def test_messages_that_were_folded_do_not_wait_any_more(tmp_path, monkeypatch):
    """While requests wait, a fold of some messages is not followed by another one after the next transaction."""
    plan = ServerPlan.of(SURVEY, None, None)
    receiver = Receiver(Store(plan, f"sqlite:///{tmp_path}/reports.db"), folds=False)
    receiver.close()
    monkeypatch.setattr(receiver.store, "fold", lambda: 50)
    receiver._unfolded = 120
    receiver._jobs.put(None)  # something waits
    receiver._fold()
    assert receiver._unfolded == 70
    receiver._fold()
    receiver._fold()
    assert receiver._unfolded == 1  # perhaps there are some from before
    receiver.store.close()


def test_the_health_is_that_of_writing(tmp_path, monkeypatch):
    with served(tmp_path) as client:
        assert client.get("/health").status_code == 200

        def full(*_):
            raise sa.exc.OperationalError("", {}, Exception("disk full"))

        monkeypatch.setattr(client.app.state.store, "touch", full)
        assert client.get("/health").status_code == 503


def test_too_many_waiting_reports_are_sent_away(tmp_path, monkeypatch):
    with served(tmp_path) as client:
        monkeypatch.setattr("ldpfast.server._receiver.MAX_WAITING", 5)
        assert post(client, reports_of(SURVEY, 6)).status_code == 503
        assert post(client, reports_of(SURVEY, 5)).json()["accepted"] == 5
        assert client.get("/health").json() == {"status": "ok"}


def test_commits_of_sqlite_wait_for_the_disk(tmp_path):
    with served(tmp_path) as client, client.app.state.store.write() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"


@pytest.mark.claim("A report is committed before it is acknowledged.", "Server")
def test_nothing_is_acknowledged_before_the_commit(tmp_path, monkeypatch):
    """The order of commit and answer, in the thread that does both."""
    seen = []
    with served(tmp_path) as client:
        store = client.app.state.store
        sa.event.listen(store.engine, "commit", lambda _: seen.append("commit"))
        original = Receiver._store

        def watched(self, jobs):
            jobs = [replace(job, done=lambda r, done=job.done: (seen.append("answer"), done(r))) for job in jobs]
            original(self, jobs)

        monkeypatch.setattr(Receiver, "_store", watched)
        post(client, reports_of(SURVEY, 3))
    assert seen[:2] == ["commit", "answer"]


@pytest.mark.claim("The database is made so that nobody else can read it.", "Server")
@pytest.mark.skipif(os.name != "posix", reason="needs modes of files")
def test_nobody_else_reads_a_new_database(tmp_path):
    """Whatever the umask is; its log neither. The mode of a database that is there stays."""
    before = os.umask(0)
    try:
        with served(tmp_path) as client:
            post(client, reports_of(SURVEY, 3))
            modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.glob("reports.db*")}
            assert modes == dict.fromkeys(["reports.db", "reports.db-wal", "reports.db-shm"], 0o600)
        (tmp_path / "reports.db").chmod(0o640)
        with served(tmp_path) as client:
            assert client.get("/estimates", headers=READER).json()["n"] == 3
        assert (tmp_path / "reports.db").stat().st_mode & 0o777 == 0o640
    finally:
        os.umask(before)


def test_tokens_can_be_changed_while_the_server_runs(tmp_path):
    with served(tmp_path) as client:
        assert client.get("/estimates", headers=READER).status_code == 200
        client.app.state.tokens = access.Tokens(("another-token-for-reading",), (WRITE,))
        assert client.get("/estimates", headers=READER).status_code == 401
        assert client.get("/", headers={"cookie": f"ldpfast={access.session_of(READ)}"}).status_code == 401
        assert client.post("/login", data={"token": READ}).status_code == 401
        assert post(client, reports_of(SURVEY, 1)).status_code == 401
        reader = {"authorization": "Bearer another-token-for-reading"}
        assert client.get("/estimates", headers=reader).status_code == 200


@pytest.mark.claim("The file of tokens is made so that nobody else can read it.", "Server")
def test_tokens_come_from_a_file_that_nobody_else_reads(tmp_path):
    path = tmp_path / "tokens"
    made = access.Tokens.from_file(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert access.Tokens.from_file(path) == made
    path.write_text(f"# rotated\nread {READ}\nread {READ}2\n\nwrite {WRITE}\n")
    found = access.Tokens.from_file(path)
    assert found == access.Tokens((READ, f"{READ}2"), (WRITE,))
    assert found.may_read(f"bearer {READ}2", None)
    for text in (
        f"write {WRITE}\n",
        "read short\n",
        "read\n",
        f"admin {READ}\n",
        f"read {READ} # laptop\n",
        "read \u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\n",
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match="must"):
            access.Tokens.from_file(path)


def test_many_requests_at_once_store_each_report_once(tmp_path):
    reports = reports_of(SURVEY, 600)
    rng = np.random.default_rng(3)
    with served(tmp_path, folds=True) as client:
        parts = [[reports[i] for i in rng.integers(0, 600, 50)] for _ in range(60)] + [
            reports[i : i + 50] for i in range(0, 600, 50)
        ]
        with ThreadPoolExecutor(8) as pool:
            answers = [answer.json() for answer in pool.map(lambda part: post(client, part), parts)]
        assert sum(answer["accepted"] for answer in answers) == 600
        assert sum(answer["duplicate"] for answer in answers) == 60 * 50
        expected = SURVEY.aggregator().update([report.message for report in reports])
        assert client.app.state.store.counts(recipe_of(SURVEY).head[1:])[""] == expected
