"""Calendars of waves: the arithmetic, TOML and descriptions, and that no report depends on them."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from ldpfast.cli import main
from ldpfast.survey import Calendar, Ledger, Repeated, Survey, YesNo

from ..support.calendars import cases

DAY = 86_400
WEEKS = Calendar(date(2027, 1, 4), "1 week", 8)
FIRST = 1_799_020_800  # 2027-01-04 00:00 UTC, as `date -u -d 2027-01-04 +%s` prints it
PANEL = Survey({"smokes": YesNo(optional=True)}, 2.0, series="weeks", waves=8)
DATED = replace(PANEL, calendar=WEEKS)
TOML = """
epsilon = 2.0
series = "weeks"
waves = 8

[calendar]
start = {start}
every = "1 week"

[questions.smokes]
type = "YesNo"
optional = true
"""


def test_the_wave_is_that_of_the_definition():
    """Wave w is open from its opening up to its end, and no other wave is."""
    for calendar, now, wave in cases():
        if wave is not None:
            assert calendar.opens(wave) <= now < calendar.closes(wave)
        else:
            assert now < calendar.opens(1) or now >= calendar.closes(calendar.last)
    assert sum(wave is not None for *_, wave in cases()) > 500
    assert sum(wave is None for *_, wave in cases()) > 20
    assert (WEEKS.opens(1), WEEKS.closes(8)) == (FIRST, FIRST + 56 * DAY)
    assert [WEEKS.wave_at(FIRST + days * DAY - 0.001) for days in (0, 7, 56, 57)] == [None, 1, 8, None]


def test_reports_are_received_while_a_wave_is_open_and_grace_before_and_after():
    for grace in (timedelta(0), timedelta(hours=5), timedelta(days=7)):
        for waves in (8, None):
            calendar = replace(WEEKS, grace=grace, waves=waves)
            seconds = int(grace.total_seconds())
            for now in range(FIRST - 9 * DAY, FIRST + 66 * DAY, 5 * 3600):
                expected = [
                    wave for wave in range(1, 1 + (waves or 20))
                    if calendar.opens(wave) - seconds <= now < calendar.closes(wave) + seconds
                ]  # fmt: skip
                found = calendar.received(now)
                assert [*found] == expected
                over = [wave for wave in range(1, 1 + (waves or 20)) if calendar.closes(wave) + seconds <= now]
                assert found.start - 1 == len(over)


@pytest.mark.parametrize(
    "text, seconds",
    [
        ("1 week", 7 * DAY),
        ("2 weeks", 14 * DAY),
        ("1 day", DAY),
        ("6 hours", 21_600),
        ("90 minutes", 5400),
        ("61 seconds", 61),
    ],
)
def test_lengths_are_texts_or_timedeltas(text, seconds):
    calendar = Calendar(date(2027, 1, 4), text)
    assert calendar == Calendar(datetime(2027, 1, 4, tzinfo=UTC), timedelta(seconds=seconds))
    assert calendar.to_dict() == {"start": FIRST, "every": seconds, "grace": seconds // 10, "waves": None}
    assert Calendar.from_dict(calendar.to_dict()) == calendar


def test_the_start_has_a_time_zone():
    east = timezone(timedelta(hours=5, minutes=30))
    assert Calendar(datetime(2027, 1, 4, 5, 30, tzinfo=east), "1 week", 8) == WEEKS


@pytest.mark.parametrize(
    "arguments, error, text",
    [
        ((datetime(2027, 1, 4), "1 week"), ValueError, r"have a time zone such as \+00:00, got 2027-01-04T00:00:00"),
        ((datetime(2027, 1, 4, 0, 0, 0, 5, UTC), "1 week"), ValueError, "start must be in whole seconds"),
        (("2027-01-04", "1 week"), TypeError, "start must be a date, or a datetime with a time zone, got str"),
        ((date(2027, 1, 4), "1 month"), ValueError, "every must be a number of weeks, days, hours, minutes, seconds"),
        ((date(2027, 1, 4), "week"), ValueError, "every must be a number of weeks"),
        ((date(2027, 1, 4), 7), TypeError, "every must be a timedelta, or a text such as '1 week', got int"),
        ((date(2027, 1, 4), "59 seconds"), ValueError, r"every must be in \[1 minute, 366 days\]"),
        ((date(2027, 1, 4), timedelta(days=1, microseconds=1)), ValueError, "in whole seconds"),
        ((date(2027, 1, 4), "1 week", 0), ValueError, "waves must be an integer"),
        ((date(2027, 1, 4), "1 week", 8, "8 days"), ValueError, r"grace must be in \[0 seconds, 1 week\]"),
        ((date(2027, 1, 4), "99999999 weeks"), ValueError, r"every must be in \[1 minute, 366 days\]"),
        ((date(2027, 1, 4), "999999999 weeks"), ValueError, "every must be a number of weeks"),
        ((datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=5))), "1 week"), ValueError, "years 1 to 9999 in UTC"),
        ((date(9999, 1, 4), "1 week", 60), ValueError, "before the year 10000"),
    ],
)
def test_what_is_no_calendar_is_refused(arguments, error, text):
    with pytest.raises(error, match=text):
        Calendar(*arguments)


@pytest.mark.parametrize("now", [float("nan"), float("inf")])
def test_moments_are_finite(now):
    with pytest.raises(ValueError, match="seconds must be a finite number"):
        WEEKS.wave_at(now)


# Surveys --------------------------------------------------------------------------------------------------------------


@pytest.mark.claim(
    "A calendar changes no report: a wave keeps its fingerprint, table and coins.", "Surveys and ledgers"
)
def test_no_report_depends_on_the_calendar():
    for other in (WEEKS, Calendar(date(2030, 1, 1), "1 day", grace="1 hour")):
        dated = replace(PANEL, calendar=other)
        for wave in (1, 8):
            assert dated.in_wave(wave).fingerprint == PANEL.in_wave(wave).fingerprint
            assert dated.in_wave(wave).client_table() == PANEL.in_wave(wave).client_table()
            assert dated.in_wave(wave) == PANEL.in_wave(wave)
        for person in range(20):
            one, two = (survey.client(bytes(32), person) for survey in (dated, PANEL))
            turns = [wave for wave in range(1, 9) if one.is_turn(wave)]
            assert turns == [wave for wave in range(1, 9) if two.is_turn(wave)]
            assert one.report({"smokes": True}, wave=turns[0]) == two.report({"smokes": True}, wave=turns[0])
    ledger = Ledger({})
    turn = next(wave for wave in range(1, 9) if PANEL.client(ledger=ledger).is_turn(wave))
    message = PANEL.client(ledger=ledger).answer({"smokes": True}, wave=turn)
    assert DATED.client(ledger=ledger).answer({"smokes": False}, wave=turn) == message


@pytest.mark.claim(
    "A calendar is kept by TOML, descriptions, pickles and revisions of a survey.", "Surveys and ledgers"
)
def test_the_calendar_travels_with_the_survey():
    assert DATED.calendar == WEEKS
    assert Survey.from_toml(TOML.format(start="2027-01-04")) == DATED
    assert Survey.from_toml(TOML.format(start="2027-01-04T02:00:00+02:00")) == DATED
    for calendar in (WEEKS, Calendar(datetime(2027, 1, 4, 1, tzinfo=UTC), "6 hours", 8, "61 seconds")):
        survey = replace(PANEL, calendar=calendar)
        copies = [
            Survey.from_toml(survey.to_toml()), Survey.from_dict(json.loads(json.dumps(survey.to_dict()))),
            pickle.loads(pickle.dumps(survey)), survey.revise(add={"drinks": YesNo(optional=True)}),
        ]  # fmt: skip
        assert [copy.calendar for copy in copies] == [calendar] * 4
        assert copies[:3] == [survey] * 3
    assert DATED != PANEL  # another study
    assert "calendar" not in PANEL.to_dict()
    assert PANEL.to_toml() == DATED.to_toml().replace('[calendar]\nstart = 2027-01-04\nevery = "1 week"\n\n', "")


def test_the_waves_of_the_calendar_are_those_of_the_survey():
    endless = replace(PANEL, open_ended=True, calendar=replace(WEEKS, waves=None))
    assert endless.calendar.waves is None
    assert endless.calendar.wave_at(FIRST + 700 * DAY) == 101
    assert replace(PANEL, calendar=replace(WEEKS, waves=None)).calendar == WEEKS
    for survey, calendar, text in (
        (PANEL, replace(WEEKS, waves=7), "calendar must have 8 waves, as the survey, got 7"),
        (replace(PANEL, open_ended=True), WEEKS, "no number of waves, because the series goes on, got 8"),
        (PANEL.in_wave(2), WEEKS, "is left out for wave 2"),
        (Survey({"a": YesNo()}, 1.0), WEEKS, "calendar must be left out without waves"),
    ):
        with pytest.raises(ValueError, match=text):
            replace(survey, calendar=calendar)
    with pytest.raises(TypeError, match="calendar must be a Calendar, got str"):
        replace(PANEL, calendar="1 week")
    with pytest.raises(ValueError, match="survey must have no waves"):
        Repeated(DATED, round=1.0, rounds=3)


@pytest.mark.parametrize(
    "change, text",
    [
        (("start = 2027-01-04", 'start = "2027-01-04"'), "calendar: start must be a date"),
        (("start = 2027-01-04", "start = 2027-01-04T00:00:00"), "calendar: start must be a date, or have a time zone"),
        (("start = 2027-01-04", ""), "calendar must be a table with start, every and, if needed, grace"),
        (('every = "1 week"', 'every = "1 week"\nwaves = 8'), "calendar must be a table with start, every"),
        (("waves = 8", ""), "calendar must be left out without waves"),
    ],
)
def test_what_is_no_calendar_in_toml_is_refused(change, text):
    with pytest.raises(ValueError, match=text):
        Survey.from_toml(TOML.format(start="2027-01-04").replace(*change))


def test_the_plan_shows_the_dates(tmp_path, capsys):
    (tmp_path / "survey.toml").write_text(DATED.to_toml())
    assert main(["plan", str(tmp_path / "survey.toml"), "--n", "8000"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["wave", "opens", "closes", "reports", "until"]
    assert lines[8].split("  ")[-3:] == ["2027-02-22 00:00 UTC", "2027-03-01 00:00 UTC", "2027-03-01 16:48 UTC"]
    assert main(["plan", str(tmp_path / "survey.toml"), "--n", "8000", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["calendar"] == WEEKS.to_dict()
