"""Alerts of a server with a calendar: a change is told in its week, once, and hardly ever without one."""

from __future__ import annotations

import json
import logging
import threading
from datetime import date
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest
from starlette.testclient import TestClient

import ldpfast as ldp
from ldpfast.cli import main
from ldpfast.server import create_app
from ldpfast.survey import Calendar, Choice, Survey, Text, YesNo

from ..support.cases import each
from ..support.errors import raises
from ..support.internals.server import access, alerts
from ..support.server import READ, READER
from .test_wave_schedule import Clock, send

CALENDAR = Calendar(date(2027, 1, 4), "1 week", grace="1 hour")
QUESTIONS = {"crash": YesNo(optional=True), "page": Choice(["a", "b", "c"], optional=True)}
SURVEY = Survey(QUESTIONS, 6.0, series="alerts", waves=8, calendar=CALENDAR)
RULES = {"questions": ["crash", "page"], "false_alarms": 0.05}
PEOPLE, CHANGE = 16_000, 5  # the wave with a change of ten points


def counted(survey, wave, share, seed):
    """Return the counts of a wave of people of whom a share has crashes."""
    asked, n = survey.in_wave(wave), PEOPLE
    keys = ldp.PersonKeys(np.random.default_rng(seed).bytes(32), np.arange(n))
    table = {"crash": np.arange(n) % 100 < 100 * share, "page": np.array(["a", "b", "c"])[np.arange(n) % 3]}
    return asked.collect(table, rng=keys)


def rules_of(**entries):
    return alerts.AlertRules.of({**RULES, **entries}, (), SURVEY)


def test_a_change_is_an_alert_in_its_wave_and_becomes_the_new_normal():
    waves = {wave: counted(SURVEY, wave, 0.2 if wave < CHANGE else 0.3, 7 * wave) for wave in range(1, 9)}
    (alert,) = alerts.alerts_of(waves, rules_of(), 8)
    assert (alert.wave, alert.question, alert.answer) == (CHANGE, "crash", "")
    assert 0.05 < alert.low < alert.difference < alert.high
    assert abs(alert.difference - 0.1) < 0.05
    assert alert.text().startswith("wave 5: crash changed by 0.")
    assert alerts.alerts_of(waves, rules_of(questions=["page"]), 8) == []


def test_the_level_is_divided_among_waves_and_questions(monkeypatch):
    """The sum over all comparisons is at most the probability of a false alarm, also in a series that goes on."""
    levels = []
    monkeypatch.setattr(alerts, "_changed", lambda *arguments: levels.append(arguments[-1]) or [])
    waves = {wave: counted(SURVEY, wave, 0.2, wave) for wave in (1, 2, 4, 8)}
    alerts.alerts_of(waves, rules_of(), 8)
    assert levels == pytest.approx([0.05 / 7 / 2] * 6)
    levels.clear()
    alerts.alerts_of(waves, rules_of(), None)
    assert levels == pytest.approx([0.05 / 2 * 6 / (np.pi * k) ** 2 for k in (1, 1, 2, 2, 3, 3)])


@pytest.mark.long
@pytest.mark.claim("Alerts about waves have at most the stated probability of a false alarm over all waves.", "Server")
def test_false_alarms_are_rare(monkeypatch):
    """50 series of eight waves without any change: at most 5 % have an alert, and at most 30 % at a level of 30 %."""
    monkeypatch.setattr(f"{__name__}.PEOPLE", 1600)
    found = {0.05: 0, 0.3: 0}
    for series in range(50):
        waves = {wave: counted(SURVEY, wave, 0.2, 1000 * series + wave) for wave in range(1, 9)}
        for level in found:
            found[level] += bool(alerts.alerts_of(waves, rules_of(false_alarms=level), 8))
    assert found[0.05] <= 8  # a binomial count with 5 % is larger with probability 0.0008
    assert found[0.3] <= 26


class Hook:
    """A receiver of webhooks."""

    def __enter__(self):
        self.received = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                outer.received.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *arguments):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/hook"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


SMALL = Survey({"crash": YesNo(optional=True)}, 8.0, series="small", waves=3, calendar=CALENDAR)


def served(folder, clock, **options):
    tokens = access.Tokens((READ,), ())
    url = f"sqlite:///{folder}/reports.db"
    return TestClient(create_app(SMALL, url, hosts=["testserver"], tokens=tokens, folds=False, clock=clock, **options))


def reports_of(wave, share):
    asked, n = SMALL.in_wave(wave), 1200
    clients = [asked.client(bytes(range(32)), person) for person in range(n)]
    return [one.report({"crash": i % 100 < 100 * share}) for i, one in enumerate(clients) if one.is_turn()]


def test_a_server_tells_an_alert_once(tmp_path, caplog):
    """In the log, on the page, as a metric and to an address; after a restart on the page and as a metric only."""
    clock = Clock(CALENDAR.opens(1))
    options = {"primary": ["crash"], "alerts": {}}
    with Hook() as hook, caplog.at_level(logging.INFO):
        options["alerts"]["webhook"] = hook.address
        with served(tmp_path, clock, **options) as client:
            watch = client.app.state.watch
            for wave, share in ((1, 0.1), (2, 0.7)):
                clock.move(client, CALENDAR.opens(wave))
                reports = reports_of(wave, share)
                assert send(client, reports) == (len(reports), 0, {})
                clock.move(client, CALENDAR.opens(wave + 1) + 3601)
                watch.wait()
                told = [message for message in caplog.messages if message.startswith("alert")]
                assert len(told) == len(hook.received) == (wave == 2)
            (body,) = hook.received
            assert (body["wave"], body["question"]) == (2, "crash")
            assert told == [f"alert: {body['text']}"]
            assert f'<p role="alert">{body["text"]}</p>' in client.get("/", headers=READER).text
            assert "ldpfast_alerts 1.0" in client.get("/metrics", headers=READER).text
        caplog.clear()
        with served(tmp_path, clock, **options) as client:
            client.app.state.watch.wait()
            assert body["text"] in client.get("/", headers=READER).text
            assert len(hook.received) == 1
            assert not [message for message in caplog.messages if message.startswith("alert")]


def test_an_address_that_cannot_be_reached_is_an_error_of_the_log(tmp_path, caplog):
    clock, hook = Clock(CALENDAR.opens(1)), "http://127.0.0.1:9/hook"
    with served(tmp_path, clock, alerts={"questions": ["crash"], "webhook": hook}) as client:
        for wave, share in ((1, 0.1), (2, 0.7)):
            clock.move(client, CALENDAR.opens(wave))
            send(client, reports_of(wave, share))
        clock.move(client, CALENDAR.opens(3) + 3601)
        client.app.state.watch.wait()
    (message,) = [message for message in caplog.messages if "sent" in message]
    assert message.startswith(f"an alert could not be sent to {hook}: ")


PLAIN = Survey(QUESTIONS, 6.0)
TURNS = Survey(QUESTIONS, 6.0, series="turns", waves=8, turns=2, calendar=CALENDAR)
NEEDS = "alerts need a survey with a calendar, in whose waves different people answer"
WORDS = Survey(
    {**QUESTIONS, "word": Text(2, "ab", n=400, buckets=64, functions=4, optional=True)}, 12.0, series="words", waves=3,
    calendar=CALENDAR,
)  # fmt: skip


@each(
    "survey, given, error, message",
    [
        (PLAIN, RULES, ValueError, NEEDS),
        (TURNS, RULES, ValueError, NEEDS),
        (SURVEY, {}, ValueError, "alerts must have questions, unless there are primary ones"),
        (SURVEY, {"level": 1}, TypeError, "alerts takes questions, false_alarms, webhook, got 'level'"),
        (SURVEY, [], TypeError, "alerts must be a mapping, got list"),
        (SURVEY, {"questions": ["x"]}, ValueError,
         "questions of alerts must be questions with declared answers, ['crash', 'page'], got 'x'"),
        (WORDS, {"questions": ["word"]}, ValueError,
         "questions of alerts must be questions with declared answers, ['crash', 'page'], got 'word'"),
        (SURVEY, {**RULES, "false_alarms": 5}, ValueError, "false_alarms must be in (0, 1), got 5"),
        (SURVEY, {**RULES, "webhook": "file:///x"}, ValueError,
         "webhook must be an address that begins with https:// or http://, got 'file:///x'"),
    ],
)  # fmt: skip
def test_wrong_rules_are_refused(survey, given, error, message):
    with raises(error, message):
        alerts.AlertRules.of(given, (), survey)


def test_files_declare_alerts(tmp_path, capsys):
    text = f'primary = ["crash"]\n{SURVEY.to_toml()}\n[alerts]\nfalse_alarms = 0.01\n'
    assert Survey.from_toml(text) == SURVEY
    path = tmp_path / "survey.toml"
    options = ["--check", "--database", f"sqlite:///{tmp_path}/a.db", "--token-file", str(tmp_path / "tokens")]
    path.write_text(text, encoding="utf-8")
    assert main(["serve", str(path), *options]) == 0
    path.write_text(text.replace("false_alarms = 0.01", "false_alarm = 0.01"), encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["serve", str(path), *options])
    assert "alerts takes questions, false_alarms, webhook, got 'false_alarm'" in capsys.readouterr().err
    with raises(ValueError, "alerts must be a table, got 3"):
        Survey.from_toml("alerts = 3\n" + SURVEY.to_toml())
