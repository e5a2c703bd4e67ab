"""All waves of a series at once as JSON, CSV and Arrow, and comparisons of waves and of groups."""

from __future__ import annotations

import csv
import io
import math

import numpy as np
import pyarrow as pa
import pytest

from ldpfast.cli import main
from ldpfast.survey import Choice, Mean, Repeated, Survey, Text, YesNo, compare

from ..support.cases import each
from ..support.errors import raises
from ..support.internals.server import alerts
from ..support.server import READER
from .test_app import post, served

ASKED = {"smokes": YesNo(optional=True), "work": Choice(["office", "home", "both"], optional=True)}
SERIES = Survey(ASKED, 4.0, series="habits", waves=3)
PEOPLE = 240


def answered(wave, i):
    return {"smokes": (i + wave) % 4 == 0, "work": ["office", "home", "both"][i % min(wave + 1, 3)]}


def sent(client, survey, wave, people=range(PEOPLE), group=None):
    one = survey.in_wave(wave)
    clients = {i: one.client(bytes(32), i) for i in people}
    reports = [asked.report(answered(wave, i)) for i, asked in clients.items() if asked.is_turn()]
    assert post(client, reports, group).json()["accepted"] == len(reports)
    return one.aggregator().update([report.message for report in reports])


@pytest.fixture
def three_waves(tmp_path):
    with served(tmp_path, SERIES, waves=[1, 2, 3]) as client:
        yield client, {wave: sent(client, SERIES, wave) for wave in (1, 2)}


def test_all_waves_with_reports_are_read_at_once(three_waves):
    client, counted = three_waves
    found = client.get("/estimates?by=wave", headers=READER).json()["waves"]
    assert [(one["wave"], one["revision"], one["n"]) for one in found] == [(w, 1, counted[w].n) for w in (1, 2)]
    assert found == [client.get(f"/estimates?wave={w}", headers=READER).json() for w in (1, 2)]


def test_tables_of_all_waves_have_a_column_of_waves(three_waves):
    client, counted = three_waves
    text = client.get("/estimates?by=wave", headers={**READER, "accept": "text/csv"}).text
    rows = list(csv.DictReader(io.StringIO(text)))
    kind = "application/vnd.apache.arrow.stream"
    data = client.get("/estimates?by=wave", headers={**READER, "accept": kind}).content
    assert [
        {name: str(value) for name, value in row.items()} for row in pa.ipc.open_stream(data).read_all().to_pylist()
    ] == rows
    for wave in (1, 2):
        table = counted[wave].estimate().table()
        own = [row for row in rows if row["wave"] == str(wave)]
        assert [row["answer"] for row in own] == list(map(str, table["answer"]))
        assert [float(row["estimate"]) for row in own] == table["estimate"]
        assert {row["version"] for row in own} == {"1"}


def test_versions_of_a_wave_are_entries_of_their_own(tmp_path):
    later = SERIES.revise(add={"drinks": YesNo(optional=True)})
    with served(tmp_path, [SERIES, later], waves=[1]) as client:
        sent(client, SERIES, 1, range(120))
        sent(client, later, 1, range(120, 240))
        found = client.get("/estimates?by=wave", headers=READER).json()["waves"]
    assert [(one["wave"], one["revision"]) for one in found] == [(1, 1), (1, 2)]


@pytest.fixture
def two_versions(tmp_path):
    """Wave 1 to the first version, wave 2 to both, and wave 3 to the second one; two groups."""
    later = SERIES.revise(add={"drinks": YesNo(optional=True)})
    plan = [(1, SERIES, 0), (2, SERIES, 0), (2, later, 300), (3, later, 0)]
    with served(tmp_path, [SERIES, later], waves=[1, 2, 3], groups=["A", "B"]) as client:
        counted = [
            (wave, one, label, sent(client, one, wave, range(start + first, start + first + 300), label))
            for wave, one, start in plan
            for first, label in ((0, "A"), (600, "B"))
        ]
        yield client, counted


def same_result(found, expected):
    """Groups are estimated at once, which rounds otherwise."""
    assert found["n"] == expected.n
    for question, answer in expected.to_dict()["answers"].items():
        for name in ("value", "stderr", "interval", "n"):
            own, other = (np.ravel(one[name]).tolist() for one in (found["answers"][question], answer))
            assert own == pytest.approx(other, rel=1e-9)


def estimated(counted, survey):
    return alerts.pooled_counts(counted, survey).estimate()


@each("query, wave", [("pool=versions&wave=2", 2), ("pool=waves", None)])
def test_versions_and_waves_are_pooled(two_versions, query, wave):
    """Of each question of the newest version the reports of all that asked it, in JSON, tables and comparisons of groups."""
    client, counted = two_versions
    chosen = [part for part in counted if wave in (None, part[0])]
    newest = max((survey.in_wave(number) for number, survey, *_ in chosen), key=lambda one: (one.revision, one.wave))
    whole = estimated([part for *_, part in chosen], newest)
    found = client.get(f"/estimates?{query}", headers=READER).json()
    assert (found["result"], found["n"], found["versions"]) == (whole.to_dict(), whole.n, [1, 2])
    assert (found["wave"], found["waves"]) == (wave, [wave] if wave else [1, 2, 3])
    asked = {name: sum(part.estimate()[name].n for _, survey, _, part in chosen if name in survey.questions)
             for name in ("smokes", "drinks")}  # fmt: skip
    assert {name: whole[name].n for name in asked} == asked
    groups = {label: estimated([part for *_, own, part in chosen if own == label], newest) for label in "AB"}
    by_group = client.get(f"/estimates?{query}&by=group", headers=READER).json()["groups"]
    assert [*by_group] == [*groups]
    for label, part in groups.items():
        same_result(by_group[label]["result"], part)
    rows = client.get(f"/comparison?{query}&by=group", headers=READER).json()["rows"]
    same_rows(rows, compare(groups))


def test_waves_are_compared_with_all_of_their_versions(two_versions):
    client, counted = two_versions
    waves = {
        str(wave): estimated([part for number, *_, part in counted if number == wave], survey.in_wave(wave))
        for wave, survey, *_ in counted
    }
    same_rows(client.get("/comparison?by=wave", headers=READER).json()["rows"], compare(waves))
    trend = client.get("/estimates?by=wave&pool=versions", headers=READER).json()["waves"]
    assert [(one["wave"], one["result"]) for one in trend] == [
        (int(wave), one.to_dict()) for wave, one in waves.items()
    ]
    assert client.get("/trend.svg", headers=READER).status_code == 200
    kind = {**READER, "accept": "application/vnd.apache.arrow.stream"}
    data = client.get("/estimates?by=wave&pool=versions", headers=kind).content
    rows = pa.ipc.open_stream(data).read_all().to_pylist()
    assert [*dict.fromkeys((row["wave"], row["version"]) for row in rows)] == [(1, "1"), (2, "1, 2"), (3, "2")]
    assert [row["estimate"] for row in rows] == [x for one in waves.values() for x in one.table()["estimate"]]


def test_waves_are_compared_although_a_version_changes_a_question(tmp_path):
    """The changed one is left out of the comparison, as of the trend, and others are in it."""
    first = Survey({"sleep": Mean(0, 12, optional=True), **ASKED}, 6.0, series="sleep", waves=2)
    later = first.revise(change={"sleep": Mean(0, 24, optional=True)})
    with served(tmp_path, [first, later], waves=[1, 2], primary=["sleep", "work"]) as client:
        results = {}
        for wave, survey in ((1, first), (2, later)):
            people = [survey.in_wave(wave).client(bytes(32), i) for i in range(PEOPLE)]
            reports = [one.report({**answered(wave, i), "sleep": 7}) for i, one in enumerate(people) if one.is_turn()]
            assert post(client, reports).json()["accepted"] == len(reports)
            counted = survey.in_wave(wave).aggregator().update([report.message for report in reports])
            results[str(wave)] = {name: counted.estimate()[name] for name in ASKED}
        rows = client.get("/comparison?by=wave", headers=READER).json()["rows"]
        same_rows(rows, compare(results, primary=["work"]))
        asked = client.get("/comparison?by=wave&primary=sleep", headers=READER)
        assert "primary must be of the questions that are compared, ['smokes', 'work']" in asked.json()["error"]


def test_all_waves_are_divided_by_groups(two_versions):
    client, counted = two_versions
    found = client.get("/estimates?by=wave&by=group", headers=READER).json()["waves"]
    assert [(one["wave"], one["revision"], *one["groups"]) for one in found] == [
        (1, 1, "A", "B"), (2, 1, "A", "B"), (2, 2, "A", "B"), (3, 2, "A", "B")
    ]  # fmt: skip
    flat = [part["result"] for one in found for part in one["groups"].values()]
    for result, (*_, part) in zip(flat, counted, strict=True):
        same_result(result, part.estimate())
    text = client.get("/estimates?by=group&by=wave", headers={**READER, "accept": "text/csv"}).text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [*rows[0]][:2] == ["wave", "version"]
    table = [x for *_, part in counted for x in part.estimate().table()["estimate"]]
    assert [float(row["estimate"]) for row in rows] == pytest.approx(table, rel=1e-12)


@each(
    "call, error",
    [
        ("estimates?by=wave&by=round", "by must be one of group, wave, round"),
        ("estimates?by=wave&by=wave", "by must be one of group, wave, round"),
        ("estimates?pool=all", "pool must be one of versions, waves"),
        ("estimates?by=wave&pool=waves", "pool must be versions with by=wave"),
        ("estimates?by=round&pool=versions", "pool must be left out with by=round"),
        ("estimates?wave=1&version=1&pool=versions", "pool must be left out with version, and without waves"),
        ("comparison?by=wave&by=group", "by must be one of group, wave"),
        ("comparison?by=wave&pool=waves", "pool must be versions with by=wave"),
    ],
)
def test_what_cannot_be_pooled_is_refused(three_waves, call, error):
    response = three_waves[0].get(f"/{call}", headers=READER)
    assert (response.status_code, response.json()["error"]) == (400, error)


@each(
    "call, error",
    [
        ("estimates?group=A", "parameters must be of by, pool, wave, round, version, got 'group'"),
        ("estimates?by=wave&versions=1", "parameters must be of by, pool, wave, round, version, got 'versions'"),
        ("estimates?wave=1&wave=2", "wave must be given once"),
        ("estimates?by=wave&version=1", "version must be left out with by=wave"),
        ("estimates?by=round&round=0", "round must be left out with by=round"),
        ("estimates?pool=waves&wave=2", "wave must be left out with pool=waves"),
        ("comparison?by=wave&wave=2", "wave must be left out with by=wave"),
        ("comparison?by=group&pool=waves&version=1", "version must be left out with pool=waves"),
        (
            "comparison?by=group&group=A",
            "parameters must be of by, pool, reference, primary, wave, round, version, got 'group'",
        ),
    ],
)
def test_a_parameter_without_effect_is_refused(three_waves, call, error):
    """Otherwise the answer would be about other people than those that were asked for."""
    response = three_waves[0].get(f"/{call}", headers=READER)
    assert (response.status_code, response.json()["error"]) == (400, error)


@each("options, reference", [({"turns": 2}, 1), ({"open_ended": True}, 1)])
def test_waves_of_the_same_people_are_not_pooled(tmp_path, options, reference):
    """Wave 3 of an open-ended series with two waves asks the people of wave 1 again; waves 1 and 2 can be compared."""
    again = Survey(ASKED, 4.0, series="again", waves=2, **options)
    waves = [1, 2, 3][: 2 + again.open_ended]
    (folder := tmp_path / f"{again.turns}").mkdir()
    with served(folder, again, waves=waves) as client:
        for wave in waves:
            sent(client, again, wave)
        pooled = client.get("/estimates?pool=waves", headers=READER)
        assert pooled.json()["error"] == "the same people answer in several of them, so that they are not pooled"
        assert client.get(f"/comparison?by=wave&reference={reference}", headers=READER).status_code == 400
        assert client.get("/comparison?by=wave", headers=READER).status_code == (200 if again.open_ended else 400)


def test_texts_of_a_question_that_is_no_longer_asked_are_no_formulas(tmp_path):
    """Texts of people in a table of all waves, which the newest version does not ask for."""
    word = Text(2, "=ab", optional=True, n=400, buckets=64, functions=4)
    first = Survey({"smokes": YesNo(optional=True), "word": word}, 12.0, series="words", waves=2)
    with served(tmp_path, [first, first.revise(remove=["word"])], waves=[1]) as client:
        people = [first.in_wave(1).client(bytes(32), i) for i in range(800)]
        reports = [one.report({"word": ["=a", "ab"][i % 2]}) for i, one in enumerate(people) if one.is_turn()]
        assert post(client, reports).json()["accepted"] == len(reports)
        text = client.get("/estimates?by=wave", headers={**READER, "accept": "text/csv"}).text
    found = {row["answer"] for row in csv.DictReader(io.StringIO(text)) if row["question"] == "word"}
    assert found >= {"'=a", "ab"}
    assert "=a" not in found


def test_rounds_are_read_at_once(tmp_path):
    repeated = Repeated(Survey(ASKED, 3.0), round=1.0, rounds=3)
    rounds = [repeated.in_round(number) for number in (0, 1)]
    with served(tmp_path, rounds) as client:
        for one in rounds:
            reports = [one.client(bytes(32), i).report({"smokes": True, "work": "home"}) for i in range(50)]
            assert post(client, reports).json()["accepted"] == 50
        found = client.get("/estimates?by=round", headers=READER).json()["rounds"]
        assert [(one["round"], one["n"]) for one in found] == [(0, 50), (1, 50)]
        assert client.get("/estimates?by=wave", headers=READER).status_code == 404
        assert client.get("/comparison?by=wave", headers=READER).status_code == 404


def same_rows(rows, comparison):
    table = comparison.table
    expected = [
        dict(zip(table.columns, map(shown, row), strict=True)) for row in zip(*table.columns.values(), strict=True)
    ]
    assert rows == expected


def shown(value):
    return None if isinstance(value, float) and not math.isfinite(value) else value


@each("query, options", [("", {}), ("&reference=1&primary=work", {"reference": "1", "primary": ["work"]})])
def test_waves_are_compared(three_waves, query, options):
    client, counted = three_waves
    found = client.get(f"/comparison?by=wave{query}", headers=READER).json()
    assert (found["by"], found["confidence"]) == ("wave", 0.95)
    same_rows(found["rows"], compare({str(wave): one.estimate() for wave, one in counted.items()}, **options))


def test_groups_are_compared(tmp_path):
    with served(tmp_path, SERIES, waves=[1], groups=["A", "B", "empty"]) as client:
        counted = {
            label: sent(client, SERIES, 1, range(start, start + 300), label) for label, start in (("A", 0), ("B", 300))
        }
        found = client.get("/comparison?by=group&reference=A", headers=READER).json()
    same_rows(found["rows"], compare({label: one.estimate() for label, one in counted.items()}, reference="A"))


@each(
    "query, status, error",
    [
        ("", 400, "by must be one of group, wave"),
        ("?by=round", 400, "by must be one of group, wave"),
        ("?by=wave&reference=9", 400, "reference must be one of '1', '2', got '9'"),
        ("?by=wave&primary=x", 400, "primary must be of the questions that are compared, ['smokes', 'work'], got 'x'"),
        ("?by=group", 400, "results must be at least 2, got 0"),
        ("?by=group&wave=7", 404, "there is no such wave, round or version"),
    ],
)
def test_what_cannot_be_compared_is_refused(three_waves, query, status, error):
    response = three_waves[0].get(f"/comparison{query}", headers=READER)
    assert (response.status_code, response.json()["error"]) == (status, error)


def test_waves_of_the_same_people_are_not_compared(tmp_path):
    panel = Survey(ASKED, 4.0, series="panel", waves=4, turns=2)
    with served(tmp_path, panel, waves=[1, 2]) as client:
        for wave in (1, 2):
            sent(client, panel, wave)
        response = client.get("/comparison?by=wave", headers=READER)
    assert response.status_code == 400
    assert response.json()["error"].startswith("the same people answer in several of them")


def test_reading_needs_a_token(three_waves):
    assert three_waves[0].get("/comparison?by=wave").status_code == 401
    assert (
        three_waves[0].get("/estimates?by=week", headers=READER).json()["error"]
        == "by must be one of group, wave, round"
    )


# Primary questions ----------------------------------------------------------------------------------------------------


def test_the_primary_questions_of_a_study_are_corrected_for_among_themselves(tmp_path):
    """Those that a request names come before them, and a version that lacks one has the others."""
    with served(tmp_path, SERIES, waves=[1, 2], primary=["work"]) as client:
        counted = {str(wave): sent(client, SERIES, wave).estimate() for wave in (1, 2)}
        same_rows(client.get("/comparison?by=wave", headers=READER).json()["rows"], compare(counted, primary=["work"]))
        named = client.get("/comparison?by=wave&primary=smokes", headers=READER).json()["rows"]
        same_rows(named, compare(counted, primary=["smokes"]))
    later = SERIES.revise(add={"drinks": YesNo(optional=True)})
    with served(tmp_path, [SERIES, later], waves=[2, 3], primary=["drinks", "work"]) as client:
        counted["3"] = sent(client, later, 3).estimate()
        same_rows(client.get("/comparison?by=wave", headers=READER).json()["rows"], compare(counted, primary=["work"]))


def test_the_page_has_primary_questions_first_and_collapses_large_ones(tmp_path):
    countries = [f"country {i}" for i in range(60)]
    survey = Survey({**ASKED, "from": Choice(countries, optional=True)}, 4.0)
    with served(tmp_path, survey, primary=["work"]) as client:
        reports = [survey.client().report({"work": "home", "smokes": True, "from": "country 7"}) for _ in range(60)]
        post(client, reports)
        page = client.get("/", headers=READER).text
    assert page.index(">work<") < page.index(">smokes<") < page.index("<details><summary>from: 61 numbers</summary>")
    inside = page.partition("<details>")[2].partition("</details>")[0]
    assert all(f">{country}<" in inside for country in countries)
    assert ">smokes<" not in inside


@each(
    "primary, error, message",
    [
        ("work", TypeError, "primary must be a list of names of questions, got str"),
        (["x"], ValueError, "primary must be questions with declared answers, ['smokes', 'work'], got 'x'"),
        (["word"], ValueError, "primary must be questions with declared answers, ['smokes', 'work'], got 'word'"),
    ],
)
def test_primary_questions_are_those_of_the_survey(tmp_path, primary, error, message):
    survey = Survey({**ASKED, "word": Text(2, "ab", n=400, buckets=64, functions=4, optional=True)}, 12.0)
    with raises(error, message):
        served(tmp_path, survey, primary=primary)


def test_files_declare_primary_questions(tmp_path):
    text = 'primary = ["work"]\ngroups = ["a", "b"]\n' + SERIES.to_toml()
    assert Survey.from_toml(text) == SERIES
    path = tmp_path / "survey.toml"
    path.write_text(text, encoding="utf-8")
    assert main(["serve", str(path), "--wave", "1", "--check", "--database", f"sqlite:///{tmp_path}/a.db",
                 "--token-file", str(tmp_path / "tokens")]) == 0  # fmt: skip
    for wrong, message in (
        ('primary = ["x"]\n', "primary must be names of questions of the survey, got 'x'"),
        ("primary = []\n", "primary must be a list of non-empty texts, got []"),
    ):
        with raises(ValueError, message):
            Survey.from_toml(wrong + SERIES.to_toml())
