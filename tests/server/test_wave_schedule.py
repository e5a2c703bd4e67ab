"""A server with a calendar: it opens, closes and counts waves by a clock, also after downtime, crashes and wrong clocks."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import cache

import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

import ldpfast as ldp
from ldpfast.cli import main
from ldpfast.server import create_app
from ldpfast.survey import Calendar, Survey, YesNo

from ..support.internals.server import Store, access
from ..support.server import LINES, READ, READER, body_of, postgres, postgres_programs

DAY, HOUR = 86_400, 3600
CALENDAR = Calendar(date(2027, 1, 4), "1 week", grace="12 hours")
FIRST = Survey({"smokes": YesNo(optional=True)}, 4.0, series="weeks", waves=8, calendar=CALENDAR)
SECOND = FIRST.revise(add={"drinks": YesNo(optional=True)})
START, GRACE = FIRST.calendar.opens(1), 12 * HOUR
SECRET, PEOPLE = bytes(range(32)), 160
RECORD = {"smokes": True, "drinks": False}
KINDS = ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)]


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self, now: float = START) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def move(self, client: TestClient, now: float) -> None:
        """Set the clock, and let the server look at it, as its thread does every second."""
        self.now = now
        client.app.state.schedule.advance()


@contextmanager
def database(kind, folder):
    if kind == "postgresql" and postgres_programs() is None:
        pytest.skip("needs PostgreSQL")
    with postgres() if kind == "postgresql" else nullcontext(f"sqlite:///{folder}/reports.db") as url:
        yield url


def served(url, clock, surveys=FIRST):
    tokens = access.Tokens((READ,), ())
    return TestClient(create_app(surveys, url, hosts=["testserver"], tokens=tokens, folds=False, clock=clock))


@cache
def reports_of(revision, wave):
    """Return the reports to a version of those whose turn a wave is, by person."""
    asked = (FIRST, SECOND)[revision - 1].in_wave(wave)
    clients = [asked.client(SECRET, person) for person in range(PEOPLE)]
    return [client.report(RECORD) for client in clients if client.is_turn()]


def send(client, reports):
    """Send reports, and return the numbers of those that were accepted, stored before, and refused, by reason."""
    answer = client.post("/reports", content=body_of(reports), headers=LINES)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    return found["accepted"], found["duplicate"], Counter(one["reason"] for one in found["refused"])


def content(url):
    """Return what a database holds, apart from numbers of rows and its random name."""
    engine = sa.create_engine(url)
    queries = {
        "waves": "SELECT wave, closed FROM occasions ORDER BY wave",
        "states": "SELECT fingerprint, label, n, state FROM states JOIN surveys ON states.survey = surveys.survey "
        "ORDER BY fingerprint",
        "batches": "SELECT count(*) FROM batches",
        "ids": "SELECT count(*) FROM ids",
    }
    if engine.dialect.name == "sqlite":
        queries["log"] = "SELECT count(*) FROM recent_ids"
    with engine.connect() as connection:
        found = {name: [tuple(row) for row in connection.execute(sa.text(query))] for name, query in queries.items()}
    engine.dispose()
    return found


# A whole series -------------------------------------------------------------------------------------------------------


@pytest.mark.claim(
    "With a calendar, a server opens, counts and closes all waves by itself, also after downtime.", "Server"
)
@pytest.mark.parametrize("kind", KINDS)
def test_eight_weeks_with_an_outage_and_a_revision(tmp_path, kind):
    """Each day some people send in the wave that their calendar tells, and once again, and others send too early or late.

    The server is down for three days around the end of wave 3, and receives a second version from wave 5 on.
    """
    clock, sent, days = Clock(START - 2 * DAY), Counter(), range(-2, 60)
    phases = [(days[:22], [FIRST]), (days[25:30], [FIRST]), (days[30:], [FIRST, SECOND])]
    with database(kind, tmp_path) as url:
        for phase, versions in phases:
            with served(url, clock, versions) as server:
                for day in phase:
                    clock.move(server, START + day * DAY + 6 * HOUR)
                    wave, received = FIRST.calendar.wave_at(clock.now), FIRST.calendar.received(clock.now)
                    if wave is not None:
                        reports = reports_of(len(versions), wave)[day % 7 :: 7]
                        assert send(server, reports) == (len(reports), 0, {})
                        assert send(server, reports) == (0, len(reports), {})
                        sent[len(versions), wave] += len(reports)
                    for other in {received.start - 1, received.stop} & {*range(1, 9)}:
                        reason = "early" if other == received.stop else "closed"
                        assert send(server, reports_of(1, other)[:2]) == (0, 0, {reason: 2})
                if versions == [FIRST, SECOND]:
                    for (revision, number), n in sent.items():
                        path = f"/estimates?wave={number}&version={revision}"
                        assert server.get(path, headers=READER).json()["n"] == n
        assert [number for _, number in sent] == [*range(1, 9)]
        assert sent[1, 3] < len(reports_of(1, 3))  # the end of the wave fell into the outage
        assert sum(sent.values()) > PEOPLE * 0.8
        found = content(url)
        assert found["waves"] == [(number, True) for number in range(1, 9)]
        assert (found["batches"], found["ids"]) == ([(0,)], [(0,)])
        assert sum(n for _, _, n, _ in found["states"]) == sum(sent.values())
        with served(url, clock, [FIRST, SECOND]) as server:
            assert server.get("/survey").json()["wave"] == 8
        assert content(url) == found  # another start has nothing to do


# Downtime and crashes -------------------------------------------------------------------------------------------------


class Crash(BaseException):
    """The process ends here."""


def crash_at(monkeypatch, step, committed):
    """Let the process end in the transaction with some number: before or after its commit."""
    count, write = 0, Store.write

    @contextmanager
    def writing(self):
        nonlocal count
        count += 1
        number = count
        with write(self) as connection:
            yield connection
            if number == step and not committed:
                raise Crash
        if number == step:
            raise Crash

    monkeypatch.setattr(Store, "write", writing)


def catch_up(url, clock):
    """Start a server, and let it catch up with the calendar, without any thread."""
    app = create_app(FIRST, url, clock=clock)
    try:
        app.state.schedule.advance()
    finally:
        app.state.store.close()


@pytest.mark.long
@pytest.mark.claim("A server that is killed while it catches up with the calendar ends in the same state.", "Server")
@pytest.mark.parametrize("committed", [False, True])
def test_a_crash_in_any_transaction_of_catching_up_changes_nothing(tmp_path, monkeypatch, caplog, committed):
    """Each transaction in turn is the last one of a process that opens and closes the waves of three weeks of downtime."""
    before, clock = tmp_path / "reports.db", Clock(FIRST.calendar.closes(2) + HOUR)
    with served(f"sqlite:///{before}", clock) as server:
        assert send(server, [*reports_of(1, 2), *reports_of(1, 3)])[1:] == (0, {})
    clock.now = FIRST.calendar.opens(6)
    step, is_done, expected = 0, False, None
    while not is_done:
        after = shutil.copy(before, tmp_path / f"{step}.db")
        with monkeypatch.context() as patch:
            crash_at(patch, step, committed)
            try:
                catch_up(f"sqlite:///{after}", clock)
                is_done = step > 0
            except Crash:
                pass
        if step:
            catch_up(f"sqlite:///{after}", clock)
        expected = expected or content(f"sqlite:///{after}")
        assert content(f"sqlite:///{after}") == expected, step
        step += 1
    assert caplog.messages == []  # no step was tried twice
    assert step > 15
    assert expected["waves"] == [(wave, wave < 5) for wave in range(1, 8)]
    assert {n for *_, n, _ in expected["states"]} == {len(reports_of(1, 2)), len(reports_of(1, 3))}


@pytest.mark.long
@pytest.mark.skipif(postgres_programs() is None, reason="needs PostgreSQL")
def test_two_servers_on_one_postgres_follow_the_calendar_together():
    """Both open and close each wave at the same moment, while one receives what the other receives, too."""
    clock, sent = Clock(START), Counter()
    with (
        postgres() as url,
        served(url, clock) as one,
        served(url, clock) as two,
        ThreadPoolExecutor(2) as pool,
    ):
        for wave in range(1, 9):
            clock.now = FIRST.calendar.opens(wave) + GRACE
            list(pool.map(lambda client: client.app.state.schedule.advance(), (one, two)))
            answers = list(pool.map(lambda client, wave=wave: send(client, reports_of(1, wave)), (one, two)))
            accepted, duplicate = (sum(answer[i] for answer in answers) for i in (0, 1))
            assert accepted == duplicate == len(reports_of(1, wave))
            sent[wave] = accepted
        clock.now = FIRST.calendar.closes(8) + GRACE
        list(pool.map(lambda client: client.app.state.schedule.advance(), (one, two)))
        assert [send(client, reports_of(1, 8)[:1]) for client in (one, two)] == [(0, 0, {"closed": 1})] * 2
        for wave, n in sent.items():
            assert two.get(f"/estimates?wave={wave}", headers=READER).json()["n"] == n
        found = content(url)
    assert found["waves"] == [(wave, True) for wave in range(1, 9)]
    assert (found["batches"], found["ids"]) == ([(0,)], [(0,)])
    assert sum(sent.values()) == PEOPLE


@pytest.mark.claim("A wave that a calendar has closed is never opened again, also when the clock goes back.", "Server")
@pytest.mark.parametrize("restarts", [False, True])
def test_a_clock_that_goes_back_opens_no_closed_wave(tmp_path, restarts):
    url, clock = f"sqlite:///{tmp_path}/reports.db", Clock(FIRST.calendar.opens(2) + DAY)
    one, two = reports_of(1, 2)[:5], reports_of(1, 2)[5:9]
    with served(url, clock) as server:
        assert send(server, one) == (5, 0, {})
        clock.move(server, FIRST.calendar.closes(2) + GRACE)
        assert send(server, two) == (0, 0, {"closed": 4})
        before = content(url)
        if not restarts:
            clock.move(server, FIRST.calendar.opens(2) + DAY)
            assert send(server, [*one, *two]) == (0, 0, {"closed": 9})
    clock.now = FIRST.calendar.opens(2) + DAY
    with served(url, clock) as server:
        assert send(server, [*one, *two]) == (0, 0, {"closed": 9})
        assert server.get("/estimates?wave=2", headers=READER).json()["n"] == 5
        clock.move(server, FIRST.calendar.opens(3) + DAY)
        assert send(server, reports_of(1, 3)[:3]) == (3, 0, {})
    assert [row for row in content(url)["waves"] if row[1]] == [row for row in before["waves"] if row[1]]


def test_what_was_refused_as_closed_stays_refused_although_the_clock_goes_back(tmp_path):
    url, clock = f"sqlite:///{tmp_path}/reports.db", Clock(FIRST.calendar.opens(2) + DAY)
    reports, over = reports_of(1, 2)[:5], FIRST.calendar.closes(2) + GRACE
    with served(url, clock) as server:
        schedule, before = server.app.state.schedule, clock.now
        assert [schedule.refusal(wave, now) for now in (before, over, before) for wave in (2, 3)] == [
            *(None, "early"),
            *("closed", None),
            *("closed", "early"),
        ]
        clock.move(server, before)
        assert send(server, reports) == (0, 0, {"closed": 5})
    with served(url, clock) as server:
        assert send(server, reports) == (0, 0, {"closed": 5})


def test_a_wave_is_closed_for_good_before_its_reports_are_refused(tmp_path, monkeypatch):
    clock = Clock(FIRST.calendar.opens(2) + DAY)
    with served(f"sqlite:///{tmp_path}/reports.db", clock) as server:
        store, closed = server.app.state.store, []
        add = store.add_refusals
        monkeypatch.setattr(store, "add_refusals", lambda *given: (closed.append(len(store.closed)), add(*given)))
        clock.now = FIRST.calendar.closes(2) + GRACE  # the thread has not looked at the clock
        assert send(server, reports_of(1, 2)[:5]) == (0, 0, {"closed": 5})
        assert closed == [2]


def test_closed_waves_are_read_when_the_clock_or_the_calendar_goes_back(tmp_path, caplog):
    """What was counted is not hidden, and the operator is told why reports to the current wave are refused."""
    url, clock = f"sqlite:///{tmp_path}/reports.db", Clock(FIRST.calendar.opens(2))
    postponed = replace(FIRST, calendar=replace(CALENDAR, start=date(2027, 2, 8)))
    with served(url, clock) as server:
        for wave in (2, 4):
            clock.move(server, FIRST.calendar.opens(wave))
            assert send(server, reports_of(1, wave)[:5]) == (5, 0, {})
        clock.move(server, FIRST.calendar.opens(6))
        clock.move(server, FIRST.calendar.opens(3))
        assert_waves_are_read(server)
    assert caplog.messages == []
    clock.now = postponed.calendar.opens(2)
    with served(url, clock, [postponed]) as server:
        assert_waves_are_read(server)
        assert send(server, reports_of(1, 2)[5:9]) == (0, 0, {"closed": 4})
    warning = "wave {} of weeks is open by the calendar, but was closed for good: its reports are refused"
    assert [text for text in caplog.messages if "calendar" in text] == [warning.format(wave) for wave in (1, 2)]


def assert_waves_are_read(server):
    assert server.get("/estimates?wave=4", headers=READER).json()["n"] == 5
    waves = server.get("/estimates?by=wave", headers=READER).json()["waves"]
    assert [(one["wave"], one["n"]) for one in waves] == [(2, 5), (4, 5)]
    assert server.get("/comparison?by=wave", headers=READER).status_code == 200


def test_the_work_of_a_wave_does_not_grow_with_the_waves_before_it(tmp_path, monkeypatch):
    """With a thousand waves, no report is stored for seconds otherwise whenever one opens or closes."""
    made, clock, steps = 0, Clock(START), []
    in_wave = Survey.in_wave

    def counting(survey, wave):
        nonlocal made
        made += 1
        return in_wave(survey, wave)

    with served(f"sqlite:///{tmp_path}/reports.db", clock) as server:
        store = server.app.state.store
        monkeypatch.setattr(Survey, "in_wave", counting)
        for wave in (3, 4, 5, 6):
            made = 0
            clock.move(server, FIRST.calendar.opens(wave) + GRACE)
            steps.append(made)
        assert len({*steps[1:]}) == 1
        with store.write() as connection:
            key = bytes(connection.scalar(sa.text("SELECT key FROM occasions WHERE wave = 1")))
            connection.execute(
                sa.text("INSERT INTO occasions (key, wave, closed) VALUES (:key, :wave, TRUE)"),
                [{"key": key[:-4] + wave.to_bytes(4, "little"), "wave": wave} for wave in range(100, 20_100)],
            )
        start = time.process_time()
        found = store.waves_to_close(20_100)
        assert list(found) == [*range(6, 100), 20_099, 20_100]
        assert [wave for wave, was_closed in found.items() if was_closed] == [20_099]
        assert time.process_time() - start < 2


def test_a_clock_that_jumps_ahead_refuses_nothing_before_waves_are_open(tmp_path):
    clock = Clock(START)
    with served(f"sqlite:///{tmp_path}/reports.db", clock) as server:
        clock.now = FIRST.calendar.opens(6)
        answer = server.post("/reports", content=body_of(reports_of(1, 6)[:3]), headers=LINES)
        if answer.status_code == 503:  # or the thread of the server was faster
            assert answer.json() == {"error": "waves are being opened"}
        clock.move(server, clock.now)
        assert send(server, reports_of(1, 6)[:3])[:2] in ((3, 0), (0, 3))


def test_a_failure_is_logged_once_and_the_next_wave_opens_all_the_same(tmp_path, caplog):
    """A version without a description, as older servers stored it, cannot be counted before the server has its file."""
    url, clock = f"sqlite:///{tmp_path}/reports.db", Clock(START)
    with served(url, clock) as server:
        send(server, reports_of(1, 1)[:4])
        with server.app.state.store.write() as connection:
            connection.execute(sa.text("UPDATE surveys SET description = NULL"))
    clock.now = FIRST.calendar.opens(3)
    with served(url, clock, SECOND) as server:
        for _ in range(3):
            clock.move(server, clock.now)
        reason = "surveys must have all versions that reports were received for, got none with version 1"
        found = [message for message in caplog.messages if "closed" in message]
        assert found == [f"waves of weeks cannot be opened or closed: {reason}"]
        assert send(server, reports_of(2, 3)[:3]) == (3, 0, {})
    assert not any(closed for _, closed in content(url)["waves"])
    with served(url, clock, [FIRST, SECOND]):
        pass
    assert [wave for wave, closed in content(url)["waves"] if closed] == [1]


# What is received when ------------------------------------------------------------------------------------------------


@pytest.mark.claim("A report is accepted from `grace` before its wave to `grace` after it, to the second.", "Server")
def test_reports_are_accepted_to_the_second(tmp_path):
    opens, closes = FIRST.calendar.opens(4), FIRST.calendar.closes(4)
    reports, clock = reports_of(1, 4), Clock(opens - DAY)
    with served(f"sqlite:///{tmp_path}/reports.db", clock) as server:
        for now, expected in (
            (opens - GRACE - 1, (0, 0, {"early": 1})),
            (opens - GRACE, (1, 0, {})),
            (closes + GRACE - 1, (1, 0, {})),
            (closes + GRACE, (0, 0, {"closed": 1})),
        ):
            clock.move(server, now)
            assert send(server, [reports.pop()]) == expected
        assert send(server, [report._replace(message=b"x" * 20) for report in reports[:2]]) == (
            0,
            0,
            {"fingerprint": 2},
        )


def test_clients_get_the_calendar_and_the_tables_of_the_waves_around(tmp_path):
    clock = Clock(START - 90 * DAY)
    with served(f"sqlite:///{tmp_path}/reports.db", clock, [FIRST, SECOND]) as server:
        for now, wave, tables in (
            (START - 90 * DAY, 1, {1}),
            (START, 1, {1, 2}),
            (FIRST.calendar.opens(3) + DAY, 3, {3, 4}),
            (FIRST.calendar.closes(3) - 1, 3, {3, 4, 5}),
            (FIRST.calendar.closes(8) + 900 * DAY, 8, {8}),
        ):
            clock.move(server, now)
            asked = server.get("/survey").json()
            assert (asked["wave"], asked["version"], asked["calendar"]) == (wave, 2, FIRST.calendar.to_dict())
            assert asked["fingerprint"] == SECOND.in_wave(wave).fingerprint
            for number in range(10):
                answer = server.get(f"/survey/1?wave={number}")
                assert (answer.status_code == 200) == (number in tables), (number, tables)
                if number in tables:
                    assert answer.json()["fingerprint"] == FIRST.in_wave(number).fingerprint
            assert server.get("/survey?wave=x").status_code == 404
            page = server.get("/", headers=READER).text
            assert f"weeks, wave {wave}<" in page
            assert f"wave={wave + 1}" not in page
            shown = server.get("/estimates", headers=READER).json()
            assert (shown["wave"], shown["n"]) == (wave, 0)
        page = server.get("/", headers=READER).text
        assert "wave 8, version 2" in page


def test_a_series_that_goes_on_has_no_last_wave(tmp_path):
    endless = replace(FIRST, calendar=None, open_ended=True, waves=2)
    endless = replace(endless, calendar=Calendar(date(2027, 1, 4), "1 day", grace="0 days"))
    clock = Clock(START + 30 * DAY + HOUR)
    with served(f"sqlite:///{tmp_path}/reports.db", clock, endless) as server:
        asked = endless.in_wave(31)
        clients = [asked.client(SECRET, person) for person in range(9)]
        reports = [client.report(RECORD) for client in clients if client.is_turn()]
        assert send(server, reports) == (len(reports), 0, {})
        clock.move(server, START + 31 * DAY)
        assert send(server, reports) == (0, 0, {"closed": len(reports)})
        assert server.get("/survey").json()["calendar"]["waves"] is None


# Configurations -------------------------------------------------------------------------------------------------------


def test_what_does_not_fit_a_calendar_is_refused(tmp_path):
    url, other = f"sqlite:///{tmp_path}/reports.db", replace(CALENDAR, every="2 weeks", waves=8)
    for surveys, waves, text in (
        (FIRST, 2, r"waves must be left out for a survey with a calendar, which opens them, got 2"),
        ([FIRST, replace(SECOND, calendar=other)], None, "surveys must be versions with one calendar"),
        ([replace(FIRST, calendar=None), SECOND], None, "surveys must be versions with one calendar"),
    ):
        with pytest.raises(ValueError, match=text):
            create_app(surveys, url, waves=waves, clock=Clock())
    assert not (tmp_path / "reports.db").exists()


def test_a_calendar_in_the_past_is_refused_unless_there_are_reports(tmp_path):
    """Otherwise a wrong year would close all waves for good, before anybody has answered."""
    url, end = f"sqlite:///{tmp_path}/reports.db", FIRST.calendar.closes(8) + GRACE
    with pytest.raises(
        ValueError, match="not be over before the first report, got a last wave that closed at 2027-03-01"
    ):
        create_app(FIRST, url, clock=Clock(end))
    with served(url, Clock(end - 1)) as server:
        assert send(server, reports_of(1, 8)[:2]) == (2, 0, {})
    with served(url, Clock(end)) as server:
        assert server.get("/estimates?wave=8", headers=READER).json()["n"] == 2


def test_the_command_line_with_a_calendar(tmp_path, capsys):
    """`serve` opens waves itself; other commands take the waves that they are told."""
    url, file = f"sqlite:///{tmp_path}/reports.db", tmp_path / "survey.toml"
    file.write_text(FIRST.to_toml())

    def run(command, *options):
        try:
            status = main([command, str(file), "--database", url, *map(str, options)])
        except SystemExit as error:
            status = error.code
        return status, "".join(capsys.readouterr())

    tokens = ("--token-file", tmp_path / "tokens")
    status, shown = run("serve", "--wave", 2, *tokens)
    assert (status, "waves must be left out for a survey with a calendar" in shown) == (2, True)
    now = replace(FIRST, calendar=Calendar(datetime.now(UTC).date(), "1 week"))
    file.write_text(now.to_toml())
    status, shown = run("serve", "--check", *tokens)
    assert (status, "ready to serve: wave 1 opens at " in shown) == (0, True)
    file.write_text(FIRST.to_toml())
    with served(url, Clock(FIRST.calendar.opens(2) + HOUR)) as server:
        n = len(reports_of(1, 2))
        assert send(server, [*reports_of(1, 1)[:3], *reports_of(1, 2)]) == (n + 3, 0, {})
    assert run("compact", "--wave", 1) == (0, f"{n + 3} messages were folded: {url}\n")
    assert run("export", "--wave", 2, "-o", tmp_path / "two.ldp")[0] == 0
    state = ldp.load((tmp_path / "two.ldp").read_bytes())
    assert (state.question, state.n) == (FIRST.in_wave(2), n)
    for command in (["close"], ["compact"], ["export", "-o", tmp_path / "state.ldp"]):
        assert "error: --wave must be given for a survey with 8 waves" in run(*command)[1]
    assert run("close", "--wave", 2) == (0, f"closed wave 2: 0 messages were folded, {n} ids were forgotten\n")
    with served(url, Clock(FIRST.calendar.opens(2) + HOUR)) as server:
        assert send(server, reports_of(1, 2)[:2]) == (0, 0, {"closed": 2})
        assert send(server, reports_of(1, 1)[3:5]) == (2, 0, {})


@pytest.mark.long
def test_a_process_closes_the_wave_that_ended_while_no_server_ran(start_server, tmp_path):
    now = int(time.time())
    calendar = Calendar(datetime.fromtimestamp(now - 3 * DAY, UTC), "2 days", grace="0 hours")
    survey = replace(FIRST, calendar=calendar)
    url = f"sqlite:///{tmp_path}/reports.db"
    with served(url, Clock(now - 2 * DAY), survey) as server:
        assert send(server, reports_of(1, 1)) == (len(reports_of(1, 1)), 0, {})
    (tmp_path / "survey.toml").write_text(survey.to_toml())
    server = start_server(tmp_path, url)
    asked = server.get("/survey")
    assert (asked["wave"], asked["calendar"]) == (2, survey.calendar.to_dict())
    assert server.get("/estimates?wave=1")["n"] == len(reports_of(1, 1))
    server.kill()
    found = content(url)
    assert found["waves"] == [(1, True), (2, False), (3, False)]
    assert (found["batches"], found["ids"], found["log"]) == ([(0,)], [(0,)], [(0,)])
    assert f"closed wave 1 of weeks: {len(reports_of(1, 1))} messages were folded" in (tmp_path / "log").read_text()
