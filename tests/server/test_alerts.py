"""Alerts of a server with a calendar: a change is told in its week, once, and hardly ever without one."""

from __future__ import annotations

import json
import logging
import threading
from dataclasses import replace
from datetime import date
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest
from starlette.testclient import TestClient

import ldpfast as ldp
from ldpfast.cli import main
from ldpfast.server import create_app
from ldpfast.survey import Calendar, Choice, Mean, Number, Survey, Text, YesNo, compare

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
    (alert,) = alerts.alerts_of(waves, rules_of())
    assert (alert.wave, alert.question, alert.answer) == (CHANGE, "crash", "")
    assert 0.05 < alert.low < alert.difference < alert.high
    assert abs(alert.difference - 0.1) < 0.05
    assert alert.text().startswith("wave 5: crash changed by 0.")
    assert alerts.alerts_of(waves, rules_of(questions=["page"])) == []


def test_the_level_is_divided_among_waves_and_questions(monkeypatch):
    """The sum over all comparisons is at most the probability of a false alarm, also in a series that goes on.

    There, wave 9 asks the people of wave 1 again, which it is not compared with.
    """
    levels = []
    monkeypatch.setattr(alerts, "_changed", lambda *arguments: levels.append(arguments[-1]) or [])
    waves = {wave: counted(SURVEY, wave, 0.2, wave) for wave in (1, 2, 4, 8)}
    alerts.alerts_of(waves, rules_of())
    assert levels == pytest.approx([0.05 / 7 / 2] * 6)
    endless = replace(SURVEY, open_ended=True, calendar=CALENDAR)
    compared = []
    monkeypatch.setattr(alerts, "_changed", lambda *given: compared.append((given[0], given[2].n, given[4])) or [])
    waves = {wave: counted(endless, wave, 0.2, wave) for wave in (1, 2, 4, 9, 10, 20)}
    alerts.alerts_of(waves, alerts.AlertRules.of({**RULES, "questions": ["crash"]}, (), endless))
    n = {wave: one.n for wave, one in waves.items()}
    before = {2: n[1], 4: n[1] + n[2], 9: n[2] + n[4], 10: n[4] + n[9]}  # and nothing before wave 20
    levels = [0.05 * 6 / (np.pi * k) ** 2 for k in range(1, 5)]
    expected = zip(before.items(), levels, strict=True)
    assert compared == [(wave, people, pytest.approx(level)) for (wave, people), level in expected]


@pytest.mark.long
def test_a_question_that_a_version_changes_begins_anew():
    """It is compared with waves that asked it unchanged only, and other questions with all waves, whatever the new range."""
    keys = ldp.PersonKeys(bytes(32), np.arange(2000))
    first = Survey(
        {"crash": YesNo(optional=True), "hours": Mean(0, 12, optional=True)}, 6.0, series="range", waves=5,
        calendar=CALENDAR,
    )  # fmt: skip
    later = first.revise(change={"hours": Mean(0, 24, optional=True)})
    waves = {}
    for wave, hours in enumerate([2, 2, 12, 12, 24], 1):
        asked = (first if wave < 3 else later).in_wave(wave)
        table = {"crash": np.arange(2000) % 10 < (1 if wave < 5 else 7), "hours": [hours] * 2000}
        waves[wave] = asked.collect(table, rng=keys)
    rules = alerts.AlertRules.of({"questions": ["crash", "hours"]}, (), later)
    found = alerts.alerts_of(waves, rules)
    assert [(alert.wave, alert.question) for alert in found] == [(5, "crash"), (5, "hours")]
    before = alerts.counts_of_versions([waves[number] for number in (1, 2, 3, 4)]).estimate()["crash"]
    assert found[0].difference == waves[5].estimate()["crash"].value - before.value


@pytest.mark.long
@pytest.mark.claim("Alerts about waves have at most the stated probability of a false alarm over all waves.", "Server")
def test_false_alarms_are_rare(monkeypatch):
    """50 series of eight waves without any change: at most 5 % have an alert, and at most 30 % at a level of 30 %."""
    monkeypatch.setattr(f"{__name__}.PEOPLE", 1600)
    found = {0.05: 0, 0.3: 0}
    for series in range(50):
        waves = {wave: counted(SURVEY, wave, 0.2, 1000 * series + wave) for wave in range(1, 9)}
        for level in found:
            found[level] += bool(alerts.alerts_of(waves, rules_of(false_alarms=level)))
    assert found[0.05] <= 8  # a binomial count with 5 % is larger with probability 0.0008
    assert found[0.3] <= 26


# The same people in several waves ------------------------------------------------------------------------------------

PANEL = Survey(
    {"crash": YesNo(optional=True), "minutes": Number(0, 20, integers=True, optional=True)}, 8.0, series="same", waves=4,
    turns=4, calendar=CALENDAR,
)  # fmt: skip
BOTH = {"questions": ["crash", "minutes"]}


def answered(survey, wave, crash, minutes, secret):
    """Return the counts of a wave of people whose answers are given."""
    keys = ldp.PersonKeys(secret, np.arange(len(crash)))
    return survey.in_wave(wave).collect({"crash": crash, "minutes": minutes}, rng=keys)


@each("turns, overlap", [(1, 0.0), (2, 1 / 3), (4, 1.0)])
def test_the_margins_of_the_same_people_are_wider(turns, overlap):
    """By the root of 1 + r, where a share r of the people of a wave have a turn in another one."""
    survey = replace(PANEL, turns=turns)
    rules, rng = alerts.AlertRules.of(BOTH, (), survey), np.random.default_rng(1)
    assert rules.overlap == pytest.approx(overlap)
    crash, minutes = rng.random(4000) < 0.1, rng.integers(0, 21, 4000)
    waves = {1: answered(survey, 1, crash, minutes, bytes(32)), 2: answered(survey, 2, ~crash, minutes // 9, bytes(32))}
    found = alerts.alerts_of(waves, rules)
    assert {alert.question for alert in found} == {"crash", "minutes"}
    same = {(alert.question, alert.answer): alert for alert in found}
    assert same.keys() >= {("crash", ""), ("minutes", "median")}
    crashed = compare(
        {wave: {"crash": one.estimate()["crash"]} for wave, one in waves.items()}, confidence=1 - 0.05 / 6
    )
    (low,), (high,) = crashed.table["low"], crashed.table["high"]
    alert = same["crash", ""]
    widths = np.array([alert.difference - alert.low, alert.high - alert.difference])
    expected = np.sqrt(1 + overlap) * np.array([alert.difference - low, high - alert.difference])
    assert widths == pytest.approx(np.minimum(expected, [np.inf, 1 - alert.difference]))  # at most 1


@pytest.mark.claim(
    "Alerts about the same people in several waves hold for shares and quantiles, however their answers depend.",
    "Server",
)
@pytest.mark.long
def test_false_alarms_about_the_same_people_are_rare():
    """50 panels whose people all answer the contrary in each next wave, the dependence with the largest variance.

    Half of them crash, and the median is 10 in every wave. There is an alert in at most 5 % of the panels, or 30 %.
    """
    found = {0.05: 0, 0.3: 0}
    for series in range(50):
        rng = np.random.default_rng(series)
        crash, minutes, secret = rng.random(600) < 0.5, rng.integers(0, 21, 600), rng.bytes(32)
        waves = {
            wave: answered(PANEL, wave, crash ^ (wave % 2), abs(20 * (wave % 2) - minutes), secret)
            for wave in range(1, 5)
        }
        for level in found:
            rules = alerts.AlertRules.of({**BOTH, "false_alarms": level}, (), PANEL)
            found[level] += bool(alerts.alerts_of(waves, rules))
    assert found[0.05] <= 8  # a binomial count with 5 % is larger with probability 0.0008
    assert found[0.3] <= 26


def test_a_change_of_the_same_people_is_an_alert_in_its_wave():
    """Each wave is compared with the one before it that has most answers, so that a small first wave does not hide it."""
    rng, n = np.random.default_rng(3), 20_000
    crash, minutes = rng.random(n) < 0.2, rng.integers(2, 10, n)
    waves = {}
    for wave in range(1, 5):
        now = crash | ((rng.random(n) < 0.125) & (wave > 2))  # ten points more
        people = 50 if wave == 1 else n
        waves[wave] = answered(PANEL, wave, now[:people], minutes[:people] + 9 * (wave > 3), bytes(range(32)))
    found = alerts.alerts_of(waves, alerts.AlertRules.of(BOTH, (), PANEL))
    assert {(alert.wave, alert.question) for alert in found} == {(3, "crash"), (4, "minutes")}
    assert abs(found[0].difference - 0.1) < 0.03
    (median,) = (alert for alert in found if alert.answer == "median")
    assert median.low <= 9 <= median.high


def test_too_few_numbers_are_no_alert():
    """Limits of a `Number` need 100 reports. These three panels, of 14, had alerts without that, for 5 % that are stated."""
    few, found = [3, 5, 99], []
    for panel in (1, 5, 6):
        rng = np.random.default_rng(panel)
        waves = {
            wave: answered(PANEL, wave, np.zeros(n, bool), np.full(n, 5), rng.bytes(32))
            for wave, n in enumerate(few, 1)
        }
        found += alerts.alerts_of(waves, alerts.AlertRules.of({"questions": ["minutes"]}, (), PANEL))
    assert found == []


# What is looked at ----------------------------------------------------------------------------------------------------


def test_only_the_watched_questions_are_estimated(monkeypatch):
    """Not the texts, whose search takes seconds."""
    made, conclude = [], alerts.conclude_some
    monkeypatch.setattr(alerts, "conclude_some", lambda *given: made.append(conclude(*given)) or made[-1])
    waves = {}
    for wave in (1, 2):
        keys = ldp.PersonKeys(bytes(32), np.arange(900))
        table = {"crash": [True] * 900, "page": ["a"] * 900, "word": ["ab"] * 900}
        waves[wave] = WORDS.in_wave(wave).collect(table, rng=keys)
    rules = alerts.AlertRules.of({"questions": ["crash"]}, (), WORDS)
    assert alerts.alerts_of(waves, rules) == []
    assert [list(result) for result in made] == [["crash"], ["crash"]]
    whole = waves[2].estimate()["crash"]
    assert (made[1]["crash"].value, made[1]["crash"].stderr, made[1]["crash"].n) == (whole.value, whole.stderr, whole.n)


def test_both_versions_of_a_wave_are_watched(tmp_path, caplog):
    """A change among people who still have the first version is found, and the numbers are those of all people."""
    later = SMALL.revise(add={"hangs": YesNo(optional=True)})
    clock, versions = Clock(CALENDAR.opens(1)), [SMALL, later]
    states = []
    with served(tmp_path, clock, versions, alerts={"questions": ["crash"]}) as client:
        for wave, share in ((1, 0.1), (2, 0.7)):
            clock.move(client, CALENDAR.opens(wave))
            parts = [reports_of(wave, share, SMALL)[20:], reports_of(wave, share, later)[:20]]
            for version, reports in zip(versions, parts, strict=True):
                assert send(client, reports) == (len(reports), 0, {})
                messages = [one.message for one in reports]
                states.append((wave, version.in_wave(wave).aggregator().update(messages)))
        clock.move(client, CALENDAR.opens(3) + 3601)
        client.app.state.watch.wait()
        (alert,) = client.app.state.watch.current
    parts = [alerts.counts_of_versions([one for wave, one in states if wave == number]) for number in (1, 2)]
    assert parts[1].n == sum(one.n for wave, one in states if wave == 2) > 350
    before, now = (part.estimate()["crash"].value for part in parts)
    assert alert.difference == now - before


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


def served(folder, clock, surveys=SMALL, **options):
    tokens = access.Tokens((READ,), ())
    url = f"sqlite:///{folder}/reports.db"
    return TestClient(
        create_app(surveys, url, hosts=["testserver"], tokens=tokens, folds=False, clock=clock, **options)
    )


def reports_of(wave, share, survey=SMALL):
    asked, n = survey.in_wave(wave), 1200
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
    clock, hook = Clock(CALENDAR.opens(1)), "http://127.0.0.1:9/secret-hook"
    with served(tmp_path, clock, alerts={"questions": ["crash"], "webhook": hook}) as client:
        for wave, share in ((1, 0.1), (2, 0.7)):
            clock.move(client, CALENDAR.opens(wave))
            send(client, reports_of(wave, share))
        clock.move(client, CALENDAR.opens(3) + 3601)
        client.app.state.watch.wait()
    (message,) = [message for message in caplog.messages if "sent" in message]
    assert message == "an alert could not be sent to 127.0.0.1: URLError"  # the path of a webhook is often its password


PLAIN = Survey(QUESTIONS, 6.0)
NO_QUESTION = "questions of alerts must be at least one, or primary ones in their place, got none"
NEEDS = "alerts need a survey with a calendar"
WORDS = Survey(
    {**QUESTIONS, "word": Text(2, "ab", n=400, buckets=64, functions=4, optional=True)}, 12.0, series="words", waves=3,
    calendar=CALENDAR,
)  # fmt: skip


@each(
    "survey, given, error, message",
    [
        (PLAIN, RULES, ValueError, NEEDS),
        (SURVEY, {}, ValueError, NO_QUESTION),
        (SURVEY, {"questions": []}, ValueError, NO_QUESTION),
        (SURVEY, {"questions": ["crash", "crash"]}, ValueError,
         "questions of alerts must be different, got ['crash', 'crash']"),
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
