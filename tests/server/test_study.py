"""A whole study from one file: eight weeks without anybody, whose page, calls and exported table have the same numbers."""

from __future__ import annotations

import csv
import io
import json
import logging
import re
import tomllib
from collections import Counter
from html import unescape

import numpy as np
import pytest
from starlette.testclient import TestClient

from ldpfast.cli import main
from ldpfast.server import create_app
from ldpfast.survey import Survey, YesNo

from ..support.internals.server import access
from ..support.server import LINES, READ, READER, body_of
from .test_wave_schedule import DAY, HOUR, KINDS, Clock, content, database

FIRST = """
epsilon = 6.0
series = "devices"
waves = 8
groups = ["A", "B"]
primary = ["crash"]

[calendar]
start = 2027-01-04
every = "1 week"
grace = "12 hours"

[alerts]
false_alarms = 0.05

[questions.crash]
type = "YesNo"
optional = true

[questions.page]
type = "Choice"
categories = ["start", "search", "cart"]
optional = true
"""
PEOPLE, SECRET = 9600, bytes(range(32))
REVISION, CHANGE = 5, 6  # the waves with a second version, and with ten points more crashes
NUMBERS = ("estimate", "stderr", "low", "high", "n")


def record(person, wave):
    share = 20 if wave < CHANGE else 30
    return {
        "crash": person * 37 % 100 < share,
        "page": ["start", "search", "cart"][person % 3],
        "hangs": person % 5 == 0,
    }


def reports_of(versions, wave):
    """Return the reports of those whose turn a wave is, by group. From the revision on, half of the devices have it."""
    found = {"A": [], "B": []}
    asked = [version.in_wave(wave) for version in versions]
    for person in range(PEOPLE):
        one = asked[person % len(asked)].client(SECRET, person)
        if one.is_turn():
            found["AB"[person // 2 % 2]].append((asked[person % len(asked)].revision, one.report(record(person, wave))))
    return found


def send(client, reports, group):
    """Send reports, and return the numbers of those that were accepted, and stored before."""
    body = body_of([report for _, report in reports], group)
    answer = client.post("/reports", content=body, headers=LINES).json()
    assert answer["refused"] == []
    return answer["accepted"], answer["duplicate"]


def of_json(result):
    """Return the numbers of a result, by question and answer."""
    found = {}
    for question, answer in result["answers"].items():
        labels = answer.get("labels", [""])
        columns = (answer["value"], answer["stderr"], *answer["interval"])
        for label, *numbers in zip(labels, *map(np.atleast_1d, columns), strict=True):
            found[question, label] = (*numbers, answer["n"])
        missing = answer["missing"]
        found[question, "no answer"] = (missing["value"], missing["stderr"], *missing["interval"], missing["n"])
    return found


def of_page(text):
    """Return the numbers of the answers on a page as they are shown, by question and answer."""
    table = text.partition("<h2>Answers")[2].partition("</table>")[0]
    names = re.findall(r"<th [^>]*>(.*?)</th>", table)
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(<td.*?)</tr>", table)]
    cells = [dict(zip(names, map(unescape, row), strict=True)) for row in rows]
    return {(row["question"], row["answer"]): tuple(row[name] for name in NUMBERS) for row in cells}


def as_shown(numbers):
    return {key: (*(f"{x:.4g}" for x in row[:-1]), f"{row[-1]:,}") for key, row in numbers.items()}


@pytest.mark.claim(
    "The page, the calls and the exported table of a study have the same numbers, with all versions and groups.",
    "Server",
)
@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_eight_weeks_from_one_file(tmp_path, kind, caplog):
    """Devices send twice each day, the server is down for three days, and half of the devices get a second version in week 5.

    In week 6 there are ten points more crashes, which is an alert when the week is over, and the only one.
    """
    entries = tomllib.loads(FIRST)
    options = {name: entries[name] for name in ("groups", "primary", "alerts")}
    first = Survey.from_toml(FIRST)
    second = first.revise(add={"hangs": YesNo(optional=True)})
    heads = FIRST.partition("[calendar]")[0].partition("groups")
    files = [tmp_path / "first.toml", tmp_path / "second.toml"]
    files[0].write_text(FIRST, encoding="utf-8")
    files[1].write_text(f"groups{heads[2]}{second.to_toml()}", encoding="utf-8")
    assert [Survey.from_toml(file.read_text(encoding="utf-8")) for file in files] == [first, second]
    calendar, sent, told = first.calendar, Counter(), []
    clock, days = Clock(calendar.opens(1) - 2 * DAY), range(-2, 60)
    phases = [(days[:22], [first]), (days[25:30], [first]), (days[30:], [first, second])]
    states, reports = {}, {}
    with database(kind, tmp_path) as url, caplog.at_level(logging.WARNING):
        for phase, versions in phases:
            tokens = access.Tokens((READ,), ())
            app = create_app(versions, url, hosts=["testserver"], tokens=tokens, folds=False, clock=clock, **options)
            with TestClient(app) as server:
                for day in phase:
                    clock.move(server, calendar.opens(1) + day * DAY + 6 * HOUR)
                    server.app.state.watch.wait()
                    told += [(day, text) for text in caplog.messages if text.startswith("alert")]
                    caplog.clear()
                    wave = calendar.wave_at(clock.now)
                    for group in "AB" if wave else "":
                        if wave not in reports:
                            reports[wave] = reports_of(versions, wave)
                        own = reports[wave][group][day % 7 :: 7]
                        assert send(server, own, group) == (len(own), 0)
                        assert send(server, own, group) == (0, len(own))
                        for revision, report in own:
                            key = wave, revision, group
                            sent[key] += 1
                            states.setdefault(key, []).append(report.message)
                if versions == [first, second]:
                    assert_everything_agrees(server, url, files, sent, tmp_path)
                    page = server.get("/", headers=READER).text
                    trend = server.get("/estimates?by=wave&pool=versions", headers=READER).json()["waves"]
                    rows = server.get("/comparison?by=wave", headers=READER).json()["rows"]
        found = content(url)
    assert {wave for wave, _, _ in sent} == {*range(1, 9)}
    assert {revision for wave, revision, _ in sent if wave >= REVISION} == {1, 2}
    assert sum(n for (wave, *_), n in sent.items() if wave == 3) < sum(map(len, reports[3].values()))  # the outage
    assert (found["batches"], found["ids"]) == ([(0,)], [(0,)])
    assert sum(n for _, _, n, _ in found["states"]) == sum(sent.values())
    # The alert: once, in the week after the change, and gone from the page two weeks later.
    ((day, text),) = told
    assert text.startswith(f"alert: wave {CHANGE}: crash changed by ")
    assert calendar.wave_at(calendar.opens(1) + day * DAY + 6 * HOUR) == CHANGE + 1
    assert 'role="alert"' not in page
    # What devices sent is what is shown.
    shares = {one["wave"]: one["result"]["answers"]["crash"]["value"] for one in trend}
    for wave in range(1, REVISION):
        messages = [message for group in "AB" for message in states[wave, 1, group]]
        assert shares[wave] == first.in_wave(wave).aggregator().update(messages).estimate()["crash"].value
    steps = {row["group"]: row["difference"] for row in rows if (row["question"], row["answer"]) == ("crash", "")}
    assert {int(wave): step for wave, step in steps.items()} == {
        wave: pytest.approx(shares[wave] - shares[wave - 1]) for wave in range(2, 9)
    }
    assert max(steps, key=steps.get) == str(CHANGE)


def assert_everything_agrees(server, url, files, sent, folder):
    """Compare the numbers of the page, of JSON and of the exported table, of all waves, versions and groups."""
    output = folder / "all.json"
    assert main(["export", *map(str, files), "--database", url, "-o", str(output)]) == 0
    rows = {}
    for row in json.loads(output.read_text(encoding="utf-8")):
        part = rows.setdefault((row["wave"], row["version"], row["group"]), {})
        part[row["question"], row["answer"]] = tuple(row[name] for name in NUMBERS)
    seen = set()
    for wave, version in dict.fromkeys(key[:2] for key in rows):
        query = (
            "pool=waves" if wave is None else f"wave={wave}&" + (f"version={version}" if version else "pool=versions")
        )
        whole = server.get(f"/estimates?{query}", headers=READER).json()
        by_group = server.get(f"/estimates?{query}&by=group", headers=READER).json()["groups"]
        assert [*by_group] == ["A", "B"]
        for group, part in {None: whole, **by_group}.items():
            expected = rows[wave, version, group]
            assert of_json(part["result"]) == expected
            chosen = [
                n
                for (number, revision, label), n in sent.items()
                if wave in (None, number) and version in (None, revision) and group in (None, label)
            ]
            assert part["n"] == sum(chosen)
            if version:
                page = server.get(f"/?{query}{f'&group={group}' if group else ''}", headers=READER).text
                assert of_page(page) == as_shown(expected)
            seen.add((wave, version, group))
    assert seen == {*rows}
    assert len(seen) == 3 * (
        8 + 4 + 4 + 1
    )  # eight waves, four of them with two versions, which are also pooled; and all waves
    text = server.get("/estimates?by=wave&by=group", headers={**READER, "accept": "text/csv"}).text
    for row in csv.DictReader(io.StringIO(text)):
        expected = rows[int(row["wave"]), int(row["version"]), row["group"]][row["question"], row["answer"]]
        assert tuple(float(row[name]) for name in NUMBERS) == expected
