"""The page while answers are computed: it is there at once, and says which state it shows. JSON is always of all reports."""

from __future__ import annotations

import re
import secrets
import threading
import time

import numpy as np
import pytest

from ldpfast import PersonKeys
from ldpfast.reports import recipe_of
from ldpfast.survey import Choice, Report, Survey, Text, YesNo

from ..support.internals.server import page_states, withdrawal
from ..support.server import READER, reports_of
from .test_app import post, served

SURVEY = Survey({"smokes": YesNo(optional=True)}, 2.0)
NOON = 1_800_014_400  # 2027-01-15 12:00 UTC
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
COMPUTED, REFRESH = "Answers are being computed from", re.compile(r'http-equiv="refresh" content="(\d+)"')


class SlowClock:
    """A clock that the computation of answers, which asks for the time first, waits for until `go` is set."""

    def __init__(self):
        self.now, self.go, self.asked, self.error = NOON, threading.Event(), 0, None

    def __call__(self):
        if threading.current_thread().name.startswith("ldpfast-results"):
            self.asked += 1
            now = self.now
            assert self.go.wait(30)
            if self.error is not None:
                raise self.error
            return now
        return self.now


@pytest.fixture
def slow(tmp_path, monkeypatch):
    """A server of groups whose answers are computed when the clock allows it, and its clock."""
    monkeypatch.setattr(page_states, "PATIENCE_SECONDS", 0.02)
    clock = SlowClock()
    with served(tmp_path, SURVEY, groups=["a", "b"], clock=clock) as client:
        yield client, clock
        clock.go.set()


def refresh_of(page):
    found = REFRESH.search(page)
    return found and int(found[1])


def page_of(client, path="/"):
    """Return the page as a browser shows it, after it has asked again for what is being computed."""
    for _ in range(400):
        response = client.get(path, headers=READER)
        if COMPUTED not in response.text:
            return response
        time.sleep(0.02)
    raise AssertionError(f"{path} is still being computed")


def until(client, text, path="/"):
    """Return the page when it has a text."""
    for _ in range(400):
        page = client.get(path, headers=READER).text
        if text in page:
            return page
        time.sleep(0.02)
    raise AssertionError(f"{path} does not show {text!r}")


@pytest.mark.claim("The page is there before its answers are computed, and says which reports it shows.", "Server")
def test_a_page_without_answers_says_so_and_shows_them_when_they_are_ready(slow):
    client, clock = slow
    post(client, reports_of(SURVEY, 60), "a")
    for path in ("/", "/?group=a", "/"):
        page = client.get(path, headers=READER).text
        assert (COMPUTED in page, refresh_of(page)) == (True, 2)
        assert f"{COMPUTED} 60 reports" in page
        assert "<img" not in page
        assert "smokes" not in page
    assert clock.asked == 1  # one computation, however often the page is asked for
    clock.go.set()
    for path in ("/", "/?group=a"):
        page = page_of(client, path).text
        assert "State of 2027-01-15 12:00 UTC: 60 reports.<" in page
        assert ">smokes<" in page
        assert refresh_of(page) is None
    assert clock.asked == 2


def test_the_last_state_is_shown_with_its_time_until_a_newer_one_is_there(slow):
    client, clock = slow
    clock.go.set()
    post(client, reports_of(SURVEY, 60), "a")
    before = page_of(client).text
    clock.go.clear()
    post(client, reports_of(SURVEY, 40), "b")
    for seconds, refresh in ((0, None), (59, None), (1, 10)):
        clock.now += seconds
        page = client.get("/", headers=READER).text
        assert "State of 2027-01-15 12:00 UTC: 60 reports. 40 more have come since then" in page
        assert refresh_of(page) == refresh
        assert re.findall(r"<tbody>.*?</tbody>", page)[0] == re.findall(r"<tbody>.*?</tbody>", before)[0]
    clock.go.set()
    assert client.get("/estimates", headers=READER).json()["n"] == 100
    page = until(client, "State of 2027-01-15 12:00 UTC: 100 reports.<")  # it was begun at noon
    assert refresh_of(page) is None
    post(client, reports_of(SURVEY, 1), "b")
    assert "State of 2027-01-15 12:01 UTC: 101 reports.<" in until(client, "101 reports.<")


def test_a_first_report_is_asked_for_again(slow):
    client, clock = slow
    clock.go.set()
    assert "There are no reports yet" in page_of(client).text
    clock.go.clear()
    post(client, reports_of(SURVEY, 30), "a")
    page = client.get("/", headers=READER).text
    assert refresh_of(page) == 2
    assert "0 reports. 30 more have come since then" in page
    clock.go.set()
    assert ">smokes<" in until(client, ": 30 reports.<")


def test_what_cannot_be_computed_is_an_error_and_not_an_endless_wait(slow):
    client, clock = slow
    post(client, reports_of(SURVEY, 30), "a")
    assert COMPUTED in client.get("/?group=a", headers=READER).text
    assert COMPUTED in client.get("/", headers=READER).text
    clock.error = RuntimeError("no time")
    clock.go.set()
    for path in ("/", "/?group=a"):
        with pytest.raises(RuntimeError, match="no time"):
            page_of(client, path)
    clock.error = None
    assert ">smokes<" in page_of(client, "/?group=a").text
    assert ">smokes<" in page_of(client).text


def test_only_pages_of_groups_that_exist_are_computed(slow):
    """Whoever reads cannot make the server compute, and keep, a page for each text that there is."""
    client, clock = slow
    post(client, reports_of(SURVEY, 30), "a")
    assert COMPUTED in client.get("/?group=a", headers=READER).text
    for i in range(20):
        response = client.get(f"/?group=nobody{i}", headers=READER)
        assert (response.status_code, response.json()) == (404, {"error": "there is no such group"})
    clock.go.set()
    assert ">smokes<" in page_of(client, "/?group=a").text
    assert page_of(client, "/?group=b").status_code == 404  # it is a group of the server, in which nobody is yet
    assert clock.asked == 2


def test_the_page_of_a_group_that_the_server_was_not_started_with_is_shown(tmp_path):
    for groups in (["a", "b"], ["b", "c"]):
        with served(tmp_path, SURVEY, groups=groups) as client:
            if "a" in groups:
                post(client, reports_of(SURVEY, 30), "a")
            assert ">smokes<" in page_of(client, "/?group=a").text


def test_a_state_from_before_a_withdrawal_says_so(slow):
    """Also if another report has come, so that their number is the same."""
    client, clock = slow
    clock.go.set()
    reports = reports_of(SURVEY, 60)
    post(client, reports, "a")
    assert "withdrawn" not in page_of(client).text
    clock.go.clear()
    assert withdrawal.withdraw(client.app.state.store, reports[0].id) is withdrawal.Withdrawal.DELETED
    post(client, reports_of(SURVEY, 1), "b")
    clock.now += 60
    page = client.get("/", headers=READER).text
    text = "State of 2027-01-15 12:00 UTC: 60 reports."
    assert f"{text} 1 were withdrawn since then, here or elsewhere: the answers are computed anew." in page
    assert refresh_of(page) == 10
    clock.go.set()
    assert refresh_of(until(client, "State of 2027-01-15 12:01 UTC: 60 reports.<")) is None


@pytest.mark.long
def test_the_first_page_of_a_large_survey_does_not_wait_for_its_answers(tmp_path):
    """Texts are searched for during seconds. Meanwhile the page, reports and the survey are there at once."""
    countries = [f"country {i}" for i in range(200)]
    questions = {f"from {i}": Choice(countries, optional=True) for i in range(2)}
    survey = Survey({**questions, "app": Text(4, LETTERS, n=5000, optional=True)}, 12.0, waves=4, turns=1)
    n = 24_000  # of which a quarter answers in each wave
    people = {name: [countries[i % 200] for i in range(n)] for name in questions}
    people["app"] = [f"app{i % 9}" for i in range(n)]
    clock = SlowClock()
    with served(tmp_path, survey, groups=["A", "B"], waves=[1, 2], clock=clock) as client:
        for wave in (1, 2):
            keys = PersonKeys(bytes([wave]) * 32, np.arange(n))
            pieces = recipe_of(survey.in_wave(wave)).messages(people, keys, False)
            messages = [message.as_py() for piece in pieces for message in piece]
            reports = [Report(secrets.token_bytes(16), message) for message in messages if message is not None]
            for part, group in ((reports[:2500], "A"), (reports[2500:], "B")):
                assert post(client, part, group).json()["accepted"] == len(part)
        page = client.get("/", headers=READER).text
        assert f"{COMPUTED} {len(reports):,} reports" in page
        assert client.get("/survey").status_code == 200
        clock.go.set()
        until(client, f": {len(reports):,} reports.<")
        assert client.get("/estimates", headers=READER).json()["n"] == len(reports)
