"""The deletion of reports by their ids: what is deleted, what stays, and what is left of it."""

from __future__ import annotations

import json
import random
from contextlib import nullcontext

import pytest
import sqlalchemy as sa

from ldpfast.cli import main
from ldpfast.survey import Choice, Survey

from ..support.command_line import error_line
from ..support.internals.server import LoggedIds, Reports, ServerPlan, Status, Store, withdrawal
from ..support.server import PANEL, READER, SURVEY, postgres, postgres_programs, reports_of
from .test_app import post, served

Withdrawal = withdrawal.Withdrawal


def add(store, occasion, reports, label=""):
    """Store reports, and return what became of them."""
    with store.write() as connection:
        ids, messages = [one.id for one in reports], [one.message for one in reports]
        return store.add(connection, Reports([occasion] * len(ids), ids, [label] * len(ids), messages))


@pytest.mark.claim("A report that is withdrawn before it is folded is in no count, and all others are.", "Server")
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@pytest.mark.long
def test_withdrawn_reports_are_in_no_count_and_all_others_are(kind, tmp_path, monkeypatch):
    """Of two waves, two groups and two processes, with folding and moves of ids between, as a list of reports has it."""
    if kind == "postgresql" and postgres_programs() is None:
        pytest.skip("needs PostgreSQL")
    for name, value in (("ROUND_REPORTS", 60), ("MOVE_REPORTS", 5), ("PIECE_IDS", 7)):
        monkeypatch.setattr(LoggedIds, name, value)
    draw, plan = random.Random(5), ServerPlan.of(PANEL, [1, 2], ["N", "S"])
    occasions = list(plan.occasions().values())
    kept = {(occasion, label): [] for occasion in occasions for label in plan.groups}
    seen, outcomes = [], []
    with postgres() if kind == "postgresql" else nullcontext(f"sqlite:///{tmp_path}/reports.db") as url:
        stores = [Store(plan, url), Store(plan, url)]
        for step in range(120):
            store, occasion, label = draw.choice(stores), draw.choice(occasions), draw.choice(plan.groups)
            asked = occasion.survey
            people = [draw.randbytes(8) for _ in range(draw.randrange(1, 6))]
            reports = [asked.client(bytes(32), one).report({"smokes": draw.random() < 0.3}) for one in people]
            assert set(add(store, occasion, reports, label)) == {Status.ACCEPTED}
            kept[occasion, label] += reports
            seen += [(occasion, label, report) for report in reports]
            for place, label_, report in draw.sample(seen, min(3, len(seen))):
                own, store = kept[place, label_], draw.choice(stores)
                outcomes.append(withdrawal.withdraw(store, report.id))
                if outcomes[-1] is Withdrawal.DELETED:
                    own.remove(report)
                assert add(draw.choice(stores), place, [report], label_) == [Status.CONFLICT]
                assert withdrawal.withdraw(draw.choice(stores), report.id) is Withdrawal.BEFORE
            if step % 9 == 8:
                draw.choice(stores).fold(draw.choice([1, 30]))
            if step % 40 == 39:
                stores[0].close()
                stores[0] = Store(plan, url)
        for (occasion, label), reports in kept.items():
            expected = occasion.survey.aggregator().update([report.message for report in reports])
            assert stores[1].counts(occasion.fingerprint)[label] == expected
        assert withdrawal.withdraw(stores[0], bytes(16)) is Withdrawal.UNKNOWN
        assert stores[0].summary().refused == {withdrawal.REASON: outcomes.count(Withdrawal.DELETED)}
        assert stores[0].close_waves()[1] == len(seen)  # ids stay until then, also those of reports that were withdrawn
        for store in stores:
            store.close()
    assert {Withdrawal.DELETED, Withdrawal.COUNTED, Withdrawal.BEFORE} == set(outcomes)
    assert outcomes.count(Withdrawal.DELETED) > 20


def test_one_of_several_equal_messages_is_deleted(tmp_path):
    plan = ServerPlan.of(SURVEY, None, None)
    (occasion,) = plan.occasions().values()
    store, first = Store(plan, f"sqlite:///{tmp_path}/reports.db"), reports_of(SURVEY, 1)[0]
    equal = [first._replace(id=bytes([i] * 16)) for i in range(5)]
    add(store, occasion, equal)
    for i in range(5):
        assert withdrawal.withdraw(store, equal[i].id) is Withdrawal.DELETED
        assert store.summary().n.get(occasion.fingerprint, 0) == 4 - i
    store.close()


def test_reports_to_several_waves_under_one_id_are_all_withdrawn(tmp_path):
    """A client of one's own can send all its reports under one id. What is least deleted is told."""
    plan = ServerPlan.of(PANEL, [1, 2], None)
    first, second = plan.occasions().values()
    store = Store(plan, f"sqlite:///{tmp_path}/reports.db")
    for i, fold, expected in ((0, False, Withdrawal.DELETED), (1, True, Withdrawal.COUNTED)):
        id_ = bytes([i] * 16)
        reports = {one: one.survey.client(bytes(32), "Ada").report({"smokes": True}) for one in (first, second)}
        add(store, first, [reports[first]._replace(id=id_)])
        if fold:
            store.fold()
        add(store, second, [reports[second]._replace(id=id_)])
        assert withdrawal.withdraw(store, id_) is expected
        assert store.summary().n == ({first.fingerprint: 1} if fold else {})
        assert withdrawal.withdraw(store, id_) is Withdrawal.BEFORE
    only_first = Store(ServerPlan.of(PANEL, [1], None), f"sqlite:///{tmp_path}/reports.db")
    add(store, first, [reports[first]._replace(id=bytes([2] * 16))])
    assert withdrawal.withdraw(only_first, bytes([2] * 16)) is Withdrawal.DELETED
    add(store, second, [reports[second]._replace(id=bytes([2] * 16))])
    assert withdrawal.withdraw(store, bytes([2] * 16)) is Withdrawal.DELETED  # not only in the first wave
    assert store.summary().n == {first.fingerprint: 1}
    only_first.close()
    store.close()


def test_an_id_at_an_odd_place_of_the_log_is_none(tmp_path):
    """The log has ids and digests one after the other: the end of one and the start of the next can be an id by chance."""
    plan = ServerPlan.of(SURVEY, None, None)
    (occasion,) = plan.occasions().values()
    store, reports = Store(plan, f"sqlite:///{tmp_path}/reports.db"), reports_of(SURVEY, 3)
    add(store, occasion, reports)
    with store.read() as connection:
        (data,) = connection.scalars(sa.text("SELECT data FROM recent_ids")).all()
    assert len(data) == 3 * 24
    for at in set(range(len(data) - 15)) - {0, 24, 48}:
        assert withdrawal.withdraw(store, data[at : at + 16]) is Withdrawal.UNKNOWN
    assert store.summary().n[occasion.fingerprint] == 3
    store.close()


def test_nothing_of_a_deleted_report_is_left_in_the_files(tmp_path):
    """Neither the message nor its digest, which tells the message of a small survey, after the command `ldpfast withdraw`."""
    survey = Survey({"town": Choice(1000, optional=True)}, 4.0)
    reports = [survey.client().report({"town": i}) for i in range(40)]
    (tmp_path / "survey.toml").write_text(survey.to_toml())
    with served(tmp_path, survey) as client:
        post(client, reports)
    target = next(report for report in reports if sum(report.message == other.message for other in reports) == 1)
    (digest,) = withdrawal.digests_of([""], [target.message])
    files = lambda: b"".join(path.read_bytes() for path in sorted(tmp_path.glob("reports.db*")))  # noqa: E731
    before = files()
    assert target.id + digest in before
    assert target.message in before
    options = [str(tmp_path / "survey.toml"), "--database", f"sqlite:///{tmp_path}/reports.db", "--id", target.id.hex()]
    assert main(["withdraw", *options]) == 0
    after = files()
    assert target.id in after
    assert digest not in after
    assert target.message not in after
    with served(tmp_path, survey) as client:
        refused = [{"index": reports.index(target), "reason": "conflict"}]
        assert post(client, reports).json() == {"accepted": 0, "duplicate": 39, "refused": refused}


def test_a_page_that_was_computed_before_is_not_shown_afterwards(tmp_path):
    """Although another report came since then, so that their number is the same."""
    no, yes = (SURVEY.client().report({"smokes": i < 50, "sleep": 3}) for i in (100, 0))
    others = reports_of(SURVEY, 30)
    with served(tmp_path) as client:
        post(client, [*others, no])
        client.get("/estimates", headers=READER)
        before = client.get("/", headers=READER).text
        assert withdrawal.withdraw(client.app.state.store, no.id) is Withdrawal.DELETED
        post(client, [yes])
        found, page = client.get("/estimates", headers=READER).json(), client.get("/", headers=READER).text
        expected = SURVEY.aggregator().update([report.message for report in [*others, yes]])
        assert found["n"] == 31
        assert found["result"] == json.loads(json.dumps(expected.estimate().to_dict()))
        table = "<table"
        assert page[page.index(table) :] != before[before.index(table) :]


@pytest.mark.long
def test_the_command_names_what_became_of_each_report(tmp_path, capsys):
    survey = Survey({"town": Choice(1000, optional=True)}, 20.0, series="towns", waves=3, turns=3)
    reports = [survey.client(bytes(32), i).report({"town": i}, wave=2) for i in range(6)]
    assert len({report.message for report in reports}) == 6
    (tmp_path / "survey.toml").write_text(survey.to_toml())
    with served(tmp_path, survey, waves=2) as client:
        post(client, reports[:3])
        client.app.state.store.fold()
        post(client, reports[3:])
        given = [str(tmp_path / "survey.toml"), "--database", f"sqlite:///{tmp_path}/reports.db", "--wave", "2"]
        ids = [reports[i].id.hex() for i in (0, 3)]
        assert main(["withdraw", *given, "--id", ids[0], "--id", ids[1].upper()]) == 0
        first, second, *_ = capsys.readouterr().out.splitlines()
        assert first == f"{ids[0]}: {Withdrawal.COUNTED.value}"
        assert second == f"{ids[1].upper()}: {Withdrawal.DELETED.value}"
        assert client.get("/estimates", headers=READER).json()["n"] == 5
        assert main(["withdraw", *given, "--id", "0" * 32]) == 1
        assert Withdrawal.UNKNOWN.value in capsys.readouterr().out
        assert "withdrawn" in client.get("/", headers=READER).text
    assert main(["close", *given]) == 0
    capsys.readouterr()
    assert main(["withdraw", *given, "--id", reports[4].id.hex()]) == 1
    capsys.readouterr()
    assert error_line(capsys, "withdraw", *given, "--id", "12") == "--id must have 32 hexadecimal digits, got '12'"
