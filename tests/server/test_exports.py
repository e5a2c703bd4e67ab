"""What a server exports is added once: states, and messages, by the names of what they hold."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import random
import zipfile
from collections import Counter
from contextlib import nullcontext

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa

import ldpfast as ldp
from ldpfast.cli import main
from ldpfast.reports import Aggregator, GroupedAggregator, recipe_of
from ldpfast.survey import Survey, YesNo
from ldpfast.survey._messages import message_table

from ..support.aggregation import batches_of, counted_of
from ..support.internals.server import (
    Reports,
    ServerPlan,
    Store,
    SurveyOccasion,
    alerts,
    exported_messages,
    exported_state,
)
from ..support.server import SURVEY, postgres, postgres_programs, reports_of

OTHER = Survey({"smokes": YesNo(optional=True)}, 1.0)
GROUPS = ["N", "S"]
MARK = hashlib.sha256(b"ldpfast serve").hexdigest()[:32]  # of all exports, which are from clients of a server
BATCHES = b"ldpfast_batches"  # metadata of tables of messages: the names of batches, by group


@pytest.fixture
def commands(tmp_path, capsys):
    """A store of a survey file, and a function that runs a command of `ldpfast` for it."""
    (tmp_path / "survey.toml").write_text(f'groups = ["N", "S"]\n{SURVEY.to_toml()}')
    url = f"sqlite:///{tmp_path}/reports.db"
    store = Store(ServerPlan.of(SURVEY, None, GROUPS), url)

    def run(command, *options):
        place = [] if command == "merge" else [tmp_path / "survey.toml", "--database", url]
        try:
            status = main([command, *map(str, [*place, *options])])
        except SystemExit as error:
            status = error.code
        return status, "".join(capsys.readouterr())

    yield store, run
    store.close()


def add(store, n, label="", survey=SURVEY):
    """Store reports of n people."""
    reports = reports_of(survey, n)
    occasion = SurveyOccasion.of(survey)
    with store.write() as connection:
        ids, messages = [one.id for one in reports], [one.message for one in reports]
        store.add(connection, Reports([occasion] * n, ids, [label] * n, messages))


def opened(path):
    return pa.ipc.open_file(path).read_all() if path.suffix == ".arrow" else ldp.load(path.read_bytes())


@pytest.mark.claim("States and messages that a server exports are not added twice.", "Server")
def test_the_exports_of_two_days_are_not_added(commands, tmp_path):
    store, run = commands
    monday, tuesday, both = (tmp_path / f"{name}.ldp" for name in ("monday", "tuesday", "both"))
    add(store, 300, "N")
    assert run("export", "-o", monday)[0] == 0
    add(store, 200, "S")
    assert run("export", "-o", tuesday)[0] == 0
    assert [opened(path).n for path in (monday, tuesday)] == [300, 500]
    status, shown = run("merge", monday, tuesday, "-o", both)
    assert status == 2
    assert "other must hold no batch that was already counted" in shown
    assert not both.exists()
    store.fold()
    assert run("export", "-o", monday)[0] == 0
    with pytest.raises(ValueError, match="batch that was already counted"):
        opened(monday).merge(opened(tuesday))


@pytest.mark.parametrize("is_folded", [False, True])
def test_a_state_and_the_messages_that_it_holds_are_not_added(commands, tmp_path, is_folded):
    """A server with --keep-messages has all of them in both."""
    store, run = commands
    state, table = tmp_path / "state.ldp", tmp_path / "messages.arrow"
    add(store, 100, "N")
    add(store, 50, "S")
    status, shown = run("export", "-o", table)
    assert (status, "give the whole table to `update`" in shown) == (0, True)
    if is_folded:
        store.fold()
    assert run("export", "-o", state)[0] == 0
    counted, messages = opened(state), opened(table)
    with pytest.raises(ValueError, match="reports must hold no batch that was already counted, got 2 of them"):
        counted.update(messages)
    assert counted.n == 150
    again = SURVEY.aggregator().update(messages)
    assert again.n == 150
    for path in (state, table):
        with pytest.raises(ValueError, match="batch that was already counted"):
            again.update(opened(path)) if path == table else again.merge(opened(path))
    assert counted_of(again).states[0].tolist() == counted_of(counted).states[0].tolist()
    assert batches_of(ldp.load(again.to_bytes())) == batches_of(again)


def is_known(x):
    return not isinstance(x, float) or math.isfinite(x)


SERIES = Survey({"smokes": YesNo(optional=True)}, 4.0, series="weeks", waves=3)
LATER = SERIES.revise(add={"drinks": YesNo(optional=True)})


@pytest.fixture
def two_versions(tmp_path, capsys):
    """A database with two versions in two waves, by groups, and a function that exports it."""
    for name, survey in (("first", SERIES), ("second", LATER)):
        (tmp_path / f"{name}.toml").write_text(f'groups = ["N", "S"]\n{survey.to_toml()}')
    url, counted = f"sqlite:///{tmp_path}/reports.db", {}
    for waves, versions in (([1, 2], [SERIES]), ([2], [SERIES, LATER])):
        store = Store(ServerPlan.of(versions, waves, GROUPS), url)
        for occasion in store.plan.occasions().values():
            for label in GROUPS:
                asked, people = occasion.survey, range(150 * (label == "S"), 150 + 300 * (label == "S"))
                secret = bytes([len(counted) + asked.revision] * 32)
                clients = [asked.client(secret, person) for person in people]
                answers = [{"smokes": i % 3 == 0, "drinks": True} for i in people]
                reports = [one.report(answer) for one, answer in zip(clients, answers, strict=True) if one.is_turn()]
                n = len(reports)
                with store.write() as connection:
                    ids, messages = [one.id for one in reports], [one.message for one in reports]
                    store.add(connection, Reports([occasion] * n, ids, [label] * n, messages))
                key = (asked.wave, asked.revision, label)
                counted.setdefault(key, asked.aggregator()).update(messages)
        store.close()

    def export(name, *options):
        files = [str(tmp_path / f"{one}.toml") for one in ("first", "second")]
        try:
            status = main(["export", *files, "--database", url, "-o", str(tmp_path / name), *options])
        except SystemExit as error:
            status = error.code
        return status, "".join(capsys.readouterr())

    yield export, counted
    assert counted


@pytest.mark.claim(
    "One file has the estimates of all waves, versions and groups; another one has all states.", "Server"
)
def test_everything_is_exported_at_once(two_versions, tmp_path):
    export, counted = two_versions
    for name in ("all.csv", "all.json", "all.parquet"):
        status, shown = export(name)
        assert (status, f" rows: {tmp_path / name}\n" in shown) == (0, True), shown
    rows = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))
    table = pq.read_table(tmp_path / "all.parquet").to_pylist()
    assert [*rows[0]][:5] == ["wave", "version", "group", "question", "answer"]
    assert [{name: x if is_known(x) else None for name, x in row.items()} for row in table] == rows
    text = list(csv.DictReader(io.StringIO((tmp_path / "all.csv").read_text(encoding="utf-8"))))
    assert text == [{name: "" if x is None else str(x) for name, x in row.items()} for row in table]
    parts = {}
    for row in rows:
        key = row["wave"], row["version"], row["group"]
        parts.setdefault(key, []).append((row["question"], row["answer"], row["estimate"], row["stderr"], row["n"]))
    whens = [(1, 1), (2, 1), (2, 2), (2, None), (None, None)]
    assert [*parts] == [(*when, group) for when in whens for group in (None, *GROUPS)]
    for (wave, version, group), found in parts.items():
        own = [
            one
            for (number, revision, label), one in counted.items()
            if wave in (None, number) and version in (None, revision) and group in (None, label)
        ]
        newest = max((one.question for one in own), key=lambda survey: (survey.revision, survey.wave))
        table = alerts.pooled_counts(own, newest).estimate().table()
        names = ("question", "answer", "estimate", "stderr", "n")
        for row, expected in zip(found, zip(*(table[name] for name in names), strict=True), strict=True):
            assert row[:2] == expected[:2]
            assert row[2:] == pytest.approx(
                expected[2:], rel=1e-9
            )  # groups are estimated at once, which rounds otherwise


def test_all_states_are_exported_at_once(two_versions, tmp_path):
    export, counted = two_versions
    assert export("all.zip") == (0, f"{len(counted)} states: {tmp_path / 'all.zip'}\n")
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        listed = json.loads(archive.read("states.json"))
        assert {*archive.namelist()} == {"states.json", *(one["file"] for one in listed)}
        for one in listed:
            state, expected = ldp.load(archive.read(one["file"])), counted[one["wave"], one["version"], one["group"]]
            assert one["n"] == state.n == expected.n
            assert [*map(np.ndarray.tolist, counted_of(state).states)] == [
                *map(np.ndarray.tolist, counted_of(expected).states)
            ]
    assert len(listed) == len(counted)


def test_a_survey_without_waves_or_groups_is_exported(tmp_path, capsys):
    (tmp_path / "survey.toml").write_text(OTHER.to_toml())
    url = f"sqlite:///{tmp_path}/reports.db"
    place = ["export", str(tmp_path / "survey.toml"), "--database", url, "-o", str(tmp_path / "all.csv")]
    with pytest.raises(SystemExit):
        main(place)
    assert "a file that does not exist" in capsys.readouterr().err
    assert not (tmp_path / "reports.db").exists()
    store, reports = Store(ServerPlan.of(OTHER, None, None), url), reports_of(OTHER, 50)
    with pytest.raises(SystemExit):
        main(place)
    assert "the database must have reports, got none" in capsys.readouterr().err
    with store.write() as connection:
        ids, messages = [one.id for one in reports], [one.message for one in reports]
        store.add(connection, Reports([SurveyOccasion.of(OTHER)] * 50, ids, [""] * 50, messages))
    store.close()
    assert main(place) == 0
    (row, missing) = csv.DictReader(io.StringIO((tmp_path / "all.csv").read_text(encoding="utf-8")))
    table = OTHER.aggregator().update(messages).estimate().table()
    assert [*row] == ["version", *table.columns]
    assert [float(one["estimate"]) for one in (row, missing)] == table["estimate"]


@pytest.mark.parametrize("option", [["--wave", "1"], ["--group", "N"]])
def test_everything_is_not_divided_by_options(two_versions, option):
    status, shown = two_versions[0]("all.csv", *option)
    assert status == 2
    assert "--wave and --group must be left out for .csv, which gets all of them" in shown


def test_groups_are_exported_and_added_one_by_one(commands, tmp_path):
    store, run = commands
    add(store, 100, "N")
    add(store, 50, "S")
    for group in GROUPS:
        assert run("export", "-o", tmp_path / f"{group}.ldp", "--group", group)[0] == 0
    assert run("export", "-o", tmp_path / "all.ldp")[0] == 0
    assert run("export", "-o", tmp_path / "all.arrow")[0] == 0
    states = {group: opened(tmp_path / f"{group}.ldp") for group in GROUPS}
    grouped = GroupedAggregator.of(states, by="region")
    assert grouped.n == 150
    with pytest.raises(ValueError, match="batch"):
        GroupedAggregator.of({"N": states["N"], "all": opened(tmp_path / "all.ldp")})
    with pytest.raises(ValueError, match="batch"):
        grouped.merge(GroupedAggregator.of(states))
    table = opened(tmp_path / "all.arrow")
    of_table = {group: SURVEY.aggregator().update(table.filter(pc.equal(table["group"], group))) for group in GROUPS}
    assert GroupedAggregator.of(of_table).n == 150
    with pytest.raises(ValueError, match="batch"):
        of_table["N"].merge(states["N"])
    assert of_table["N"].merge(states["S"]).n == 150
    status, shown = run("export", "-o", tmp_path / "x.ldp", "--group", "W")
    assert (status, "--group must be one of 'N', 'S', got 'W'" in shown) == (2, True)


def test_two_databases_are_added(tmp_path):
    occasion, found = SurveyOccasion.of(SURVEY), SURVEY.aggregator()
    for name in ("one", "two"):
        store = Store(ServerPlan.of(SURVEY, None, None), f"sqlite:///{tmp_path}/{name}.db")
        assert batches_of(exported_state(store, occasion, None)) == set()  # of nobody
        add(store, 40)
        found.merge(exported_state(store, occasion, None))
        store.close()
    assert found.n == 80


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)])
def test_exports_are_added_if_and_only_if_they_hold_different_reports(kind, tmp_path):
    """Random exports, between new reports and folding of some or all, with each other: messages in both must be refused."""
    if kind == "postgresql" and postgres_programs() is None:
        pytest.skip("needs PostgreSQL")
    draw, occasion, verdicts = random.Random(4), SurveyOccasion.of(SURVEY), Counter()
    with postgres() if kind == "postgresql" else nullcontext(f"sqlite:///{tmp_path}/reports.db") as url:
        store, serial = Store(ServerPlan.of(SURVEY, None, GROUPS), url), 0
        folded: dict[str, set[int]] = {label: set() for label in GROUPS}
        waiting: list[tuple[str, set[int]]] = []
        exports: list[tuple[str, set[int], set[str]]] = []
        for _ in range(120):
            step = draw.choice(["add", "add", "fold", "fold all", "state", "messages"])
            label = draw.choice(GROUPS)
            group = draw.choice([None, label])
            chosen = GROUPS if group is None else [group]
            if step == "add":
                add(store, 1, label)
                waiting.append((label, {serial}))
                serial += 1
            elif step.startswith("fold"):
                count = store.fold(1 if step == "fold" else 10**6)
                for name, own in waiting[:count]:
                    folded[name] |= own
                del waiting[:count]
            elif step == "state":
                if group is None or group in store.counts(occasion.fingerprint):
                    held = set().union(
                        *(folded[one] for one in chosen), *(own for one, own in waiting if one in chosen)
                    )
                    state = exported_state(store, occasion, group)
                    assert state.n == len(held)
                    exports.append((step, held, batches_of(state)))
            else:
                listed, names = exported_messages(store, occasion, group)
                held = set().union(*(own for one, own in waiting if one in chosen))
                assert len(listed) == len(held)
                exports.append((step, held, set().union(*names.values())))
        for i, (step, held, names) in enumerate(exports):
            for other, theirs, others in exports[:i]:
                is_refused = bool((names & others) - {MARK})
                assert is_refused == bool(held & theirs), (step, other)
                verdicts[step, other, is_refused] += 1
        assert len(verdicts) >= 6
        with store.read() as connection:  # as many as exports of messages
            assert connection.scalar(sa.text("SELECT count(*) FROM parts")) <= 2 + sum(
                one == "messages" for one, *_ in exports
            )
        store.close()


def test_only_a_whole_table_of_the_survey_with_its_names_is_counted():
    messages = [report.message for report in reports_of(SURVEY, 20)]
    name = "0" * 32
    table = message_table(recipe_of(SURVEY), messages, None, {"": [name]})
    assert SURVEY.aggregator().update(table) == SURVEY.aggregator().update(table.slice(0, 20))
    assert batches_of(SURVEY.aggregator().update(table)) == {name}
    assert SURVEY.estimate(table).n == 20
    named = table.schema.metadata
    for given, error, text in (
        (table.to_reader(), TypeError, "must be a whole pyarrow.Table, got RecordBatchReader"),
        (table.replace_schema_metadata(None), ValueError, "schema of its survey in the metadata"),
        (
            message_table(recipe_of(OTHER), messages, None, {"": [name]}),
            ValueError,
            "reports must answer the same survey",
        ),
        (table.replace_schema_metadata({**named, BATCHES: b"{}"}), ValueError, "names of batches for all"),
        (table.replace_schema_metadata({**named, BATCHES: b"[]"}), ValueError, "names of batches for all"),
        (
            table.replace_schema_metadata({**named, BATCHES: json.dumps({"": ["x"]})}),
            ValueError,
            "names of batches",
        ),
        (message_table(recipe_of(SURVEY), messages, ["N"] * 20, {"S": [name]}), ValueError, "names of batches for all"),
        (table.set_column(0, "report", pa.array([None] * 20, pa.binary())), ValueError, "without null"),
        (table.set_column(0, "report", pa.array([b"\1"] * 20)), ValueError, "reports must"),
        (table.set_column(0, "report", pa.array(["a"] * 20)), TypeError, "reports must"),
    ):
        counted = SURVEY.aggregator()
        with pytest.raises(error, match=text):
            counted.update(given)
        assert counted == SURVEY.aggregator()
    with pytest.raises(TypeError, match="must be a list of messages"):
        SURVEY.aggregator().update(table, errors="skip")
    assert isinstance(SURVEY.aggregator().update(table.slice(0, 0)), Aggregator)
