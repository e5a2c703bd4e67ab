"""Messages that are kept for a stated time: deleted in time, and counted exactly once."""

from __future__ import annotations

import secrets
from contextlib import nullcontext
from random import Random

import pytest
import sqlalchemy as sa

from ldpfast.cli import main
from ldpfast.reports import recipe_of
from ldpfast.survey import Survey, YesNo

from ..support.errors import raises
from ..support.internals.server import MessageAges, Reports, ServerPlan, Status, Store
from ..support.server import READER, postgres, postgres_programs, reports_of
from .test_app import post, served

DAY = 86_400
KEPT = 30 * DAY
NOON = 1_800_014_400
SURVEY = Survey({"smokes": YesNo(optional=True)}, 2.0, series="habits", answers=1)
KEY = recipe_of(SURVEY).head[1:]
DATABASES = ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)]


class Clock:
    def __init__(self):
        self.now = NOON

    def __call__(self):
        return self.now


@pytest.fixture(params=DATABASES)
def database(request, tmp_path):
    if request.param == "postgresql" and postgres_programs() is None:
        pytest.skip("needs PostgreSQL")
    with postgres() if request.param == "postgresql" else nullcontext(f"sqlite:///{tmp_path}/reports.db") as url:
        yield url


def opened(url, survey=SURVEY):
    return Store(ServerPlan.of(survey, None, None), url)


def add(store, reports):
    """Store reports, and return what became of them."""
    (occasion,) = store.plan.occasions().values()
    given = [report.id for report in reports], [""] * len(reports), [report.message for report in reports]
    with store.write() as connection:
        return store.add(connection, Reports([occasion] * len(reports), *given))


@pytest.mark.claim("Messages are deleted after the stated time, and counted once before that.", "Server")
def test_messages_are_folded_in_time_and_counted_once(database):
    """They come over three stated times, with restarts and two outages."""
    rng, clock, sent = Random(1), Clock(), []
    store = opened(database)
    ages = MessageAges(store, KEPT, clock)
    reports = reports_of(SURVEY, 240)
    for step in range(120):
        clock.now += rng.randrange(1, DAY)
        is_outage = step in (40, 85)
        if is_outage:
            clock.now += rng.randrange(KEPT)
        if is_outage or step % 50 == 7:
            store.close()
            store = opened(database)
            ages = MessageAges(store, KEPT, clock)
        ages.advance()
        count = rng.randrange(3)
        new = reports[len(sent) : len(sent) + count]
        assert new == [] or add(store, new) == [Status.ACCEPTED] * len(new)
        sent += [clock.now] * len(new)
        left = store.summary().pending
        young = sum(clock.now - time < 0.9 * KEPT for time in sent)
        assert young <= left <= sum(clock.now - time <= KEPT for time in sent)
    assert store.summary().n == {KEY: len(sent)}
    assert store.counts(KEY)[""] == SURVEY.aggregator().update([report.message for report in reports[: len(sent)]])
    assert set(add(store, reports[: len(sent)])) == {Status.DUPLICATE}
    with store.read() as connection:
        assert 2 < connection.scalar(sa.text("SELECT count(*) FROM marks")) < 60
    store.close()


def test_the_time_of_messages_from_before_begins_with_the_first_start(database):
    store, clock = opened(database), Clock()
    add(store, reports_of(SURVEY, 20))
    ages = MessageAges(store, KEPT, clock)
    for now, left in ((0, 20), (0.9 * KEPT, 20), (KEPT, 0)):
        clock.now = NOON + int(now)
        ages.advance()
        assert store.summary().pending == left
    store.close()


@pytest.mark.parametrize("jump", [-400 * DAY, -DAY, 400 * DAY])
def test_a_clock_that_jumps_loses_nothing(tmp_path, jump):
    """Backwards, what is there is kept for the whole time once more; forwards, it is counted early."""
    store, clock = opened(f"sqlite:///{tmp_path}/reports.db"), Clock()
    reports, ages = reports_of(SURVEY, 60), MessageAges(store, KEPT, clock)
    for part in (reports[:30], reports[30:]):
        ages.advance()
        add(store, part)
        clock.now += 2 * DAY
    clock.now += jump
    for _ in range(12):
        ages.advance()
        assert store.counts(KEY)[""].n == 60
        clock.now += 3 * DAY
    assert store.summary().pending == 0
    assert set(add(store, reports)) == {Status.DUPLICATE}
    store.close()


def test_messages_that_cannot_be_counted_are_kept_and_named(tmp_path, caplog):
    """A database from before descriptions were stored, and a server without the file of the version."""
    url, clock = f"sqlite:///{tmp_path}/reports.db", Clock()
    store = opened(url)
    MessageAges(store, KEPT, clock).advance()
    add(store, reports_of(SURVEY, 20))
    with store.write() as connection:
        connection.execute(sa.text("UPDATE surveys SET description = NULL"))
    store.close()
    clock.now += 2 * KEPT
    later = opened(url, SURVEY.revise(add={"drinks": YesNo(optional=True)}))
    ages = MessageAges(later, KEPT, clock)
    for _ in range(3):
        ages.advance()
        clock.now += DAY
    text = "messages to version 1 are kept, although they are old: they cannot be counted without its file"
    assert [record.message for record in caplog.records] == [text]
    assert later.summary().pending == 20
    later.close()
    store = opened(url)
    MessageAges(store, KEPT, clock).advance()
    assert (store.summary().pending, store.counts(KEY)[""].n) == (0, 20)
    store.close()


def test_a_failure_is_logged_once_and_what_is_old_is_folded_later(tmp_path, caplog, monkeypatch):
    store, clock = opened(f"sqlite:///{tmp_path}/reports.db"), Clock()
    ages = MessageAges(store, KEPT, clock)
    ages.advance()
    add(store, reports_of(SURVEY, 20))
    clock.now += KEPT
    with monkeypatch.context() as patched:
        patched.setattr(store, "fold", lambda last: secrets.token_bytes(-1))
        ages.advance()
        ages.advance()
        assert store.summary().pending == 20
    assert [record.message for record in caplog.records] == ["old messages cannot be folded into counts: ValueError"]
    ages.advance()
    assert (store.summary().pending, store.counts(KEY)[""].n) == (0, 20)
    store.close()


def test_reports_that_wait_are_stored_while_many_old_messages_are_folded(tmp_path, monkeypatch):
    """After a long stop, one call folds as much as one transaction, and the next calls the rest."""
    monkeypatch.setattr(f"{MessageAges.__module__}.FOLDED", 10)
    store, clock = opened(f"sqlite:///{tmp_path}/reports.db"), Clock()
    reports = reports_of(SURVEY, 35)
    fold = store.fold
    monkeypatch.setattr(store, "fold", lambda last: fold(10, last=last))
    ages = MessageAges(store, KEPT, clock)
    ages.advance()
    for report in reports:
        add(store, [report])
    clock.now += KEPT
    for left in (25, 15, 5, 0):
        ages.advance()
        assert store.summary().pending == left
    assert store.counts(KEY)[""].n == 35
    store.close()


def test_a_server_keeps_messages_also_over_a_stop(tmp_path):
    clock, reports = Clock(), reports_of(SURVEY, 40)
    options = {"folds": True, "fold_after": "30 days", "clock": clock}
    for start, left in ((0, 20), (20, 40)):
        with served(tmp_path, SURVEY, **options) as client:
            assert post(client, reports[start : start + 20]).json()["accepted"] == 20
            assert client.app.state.store.summary().pending == left
        clock.now += 2 * DAY
    clock.now += KEPT
    with served(tmp_path, SURVEY, **options) as client:
        assert post(client, reports).json() == {"accepted": 0, "duplicate": 40, "refused": []}
    with served(tmp_path, SURVEY, **options) as client:  # the thread has ended: what was old is folded
        assert client.app.state.store.summary().pending == 0
        assert client.get("/estimates", headers=READER).json()["n"] == 40


def test_a_stated_time_must_be_a_duration(tmp_path, capsys):
    for wrong, error, message in (
        ("soon", ValueError, "fold_after must be a number of weeks, days, hours, minutes, seconds, got 'soon'"),
        ("1 second", ValueError, "fold_after must be in [1 minute, 3660 days], in whole seconds, got '1 second'"),
        (30, TypeError, "fold_after must be a timedelta, or a text such as '1 week', got int"),
    ):
        with raises(error, message):
            served(tmp_path, SURVEY, folds=True, fold_after=wrong)
    with raises(ValueError, "folds must be True with fold_after, got fold_after='1 week'"):
        served(tmp_path, SURVEY, folds=False, fold_after="1 week")
    path = tmp_path / "survey.toml"
    path.write_text(SURVEY.to_toml(), encoding="utf-8")
    given = [
        "serve",
        str(path),
        "--check",
        "--database",
        f"sqlite:///{tmp_path}/a.db",
        "--token-file",
        str(tmp_path / "t"),
    ]
    assert main([*given, "--fold-after", "30 days"]) == 0
    with pytest.raises(SystemExit):
        main([*given, "--fold-after", "30 days", "--keep-messages"])
    assert "--keep-messages must be left out with --fold-after" in capsys.readouterr().err
