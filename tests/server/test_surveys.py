"""What a server knows of the surveys of its database: rounds, versions that it was not started with, and what people lose."""

from __future__ import annotations

import json
import re
import secrets
from contextlib import suppress
from dataclasses import replace
from html import unescape
from xml.etree import ElementTree

import numpy as np
import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

import ldpfast as ldp
from ldpfast.cli import main
from ldpfast.reports import recipe_of
from ldpfast.server import create_app
from ldpfast.survey import Choice, Ledger, Repeated, RepeatedSurvey, Survey, YesNo

from ..support.internals.server import ServerPlan, Store, access, loss
from ..support.server import LINES, READ, READER, body_of

TOKENS = access.Tokens((READ,), ())
FIRST = Survey({"town": Choice(["a", "b"], optional=True)}, 2.0, series="town")
SECOND = FIRST.revise(change={"town": Choice(["a", "b", "c"], optional=True)})
WEEKLY = Repeated(Survey({"smokes": YesNo(optional=True)}, 4.0, series="weeks"), round=2.0, rounds=3)


def served(folder, surveys, **options):
    options = {"hosts": ["testserver"], "tokens": TOKENS, "folds": False, **options}
    return TestClient(create_app(surveys, f"sqlite:///{folder}/reports.db", **options))


def send(client, survey, people, secret=None):
    """Send the answers of people, with keys of their own if there is no secret, and return the answer."""
    clients = [survey.client() if secret is None else survey.client(secret, i) for i in people]
    reports = [one.report({"town": "a", "smokes": True}) for one in clients]
    return client.post("/reports", content=body_of(reports), headers=LINES).json()


def promise_of(client):
    """Return the sentences of the page on what people lose."""
    (text,) = re.findall(r"What a person loses:</p><ul>(.*?)</ul>", client.get("/", headers=READER).text)
    return [unescape(row) for row in re.findall(r"<li>(.*?)</li>", text)]


# The loss of a person -------------------------------------------------------------------------------------------------


@pytest.mark.claim(
    "The page states what a person loses by all surveys of the database, and under which condition.", "Server"
)
def test_the_page_counts_versions_that_the_server_was_not_started_with(tmp_path):
    """The same people report to a version and, after a restart with the next one alone, to that one, too."""
    with served(tmp_path, FIRST) as client:
        assert send(client, FIRST, range(300))["accepted"] == 300
        together, apart = promise_of(client)
        assert together.startswith(
            "at most \u03b5 = 2 by all reports of a person to the survey, if they come from one ledger, or"
        )
        assert apart.startswith(
            "at most \u03b5 = 2 for each report, where nothing holds the reports of a person together"
        )
    with served(tmp_path, SECOND) as client:
        assert send(client, SECOND, range(300))["accepted"] == 300
        report, ledger, secret, total = promise_of(client)
    assert report == "at most \u03b5 = 2 by a report."
    assert ledger.startswith("at most \u03b5 = 2 by all reports of a person to the 2 surveys")
    assert ledger.endswith("if they come from one ledger.")
    assert secret.startswith("at most \u03b5 = 4 if they come from clients with the secret of the person")
    assert total.startswith("at most \u03b5 = 4 in sum for one report to each of them, where nothing holds")


def test_the_sum_is_stated_where_a_question_was_removed(tmp_path):
    questions = {name: YesNo(optional=True) for name in "abc"}
    first = Survey(questions, 2.0, series="s", answers=2)
    with served(tmp_path, [first, first.revise(remove=["c"])]) as client:
        _, ledger, secret, total = promise_of(client)
    assert ledger.startswith("at most \u03b5 = 2 by all reports")
    assert secret.startswith("at most \u03b5 = 3 if they come from clients with the secret")
    assert total.startswith("at most \u03b5 = 4 in sum")


def test_surveys_that_the_database_does_not_describe_are_in_no_number_and_this_is_said(tmp_path):
    with served(tmp_path, FIRST) as client:
        send(client, FIRST, range(30))
        with client.app.state.store.write() as connection:  # as an older server left it
            connection.execute(sa.text("UPDATE surveys SET description = NULL"))
    with served(tmp_path, SECOND) as client:
        assert promise_of(client)[-1] == (
            "30 reports to versions that this server does not know are in none of these numbers."
        )
        assert "which cannot be shown without its file" in client.get("/", headers=READER).text
        assert client.get("/estimates?version=1", headers=READER).status_code == 404
    with served(tmp_path, [FIRST, SECOND]) as client:  # which stores the description
        assert "to the 2 surveys" in promise_of(client)[1]
    with served(tmp_path, SECOND) as client:
        assert client.get("/estimates?version=1", headers=READER).json()["n"] == 30
        assert "in none of these numbers" not in promise_of(client)[-1]


PANEL = Survey({"a": YesNo(optional=True), "b": YesNo(optional=True)}, 2.0, series="p", waves=3)
ENDLESS = replace(PANEL, open_ended=True, waves=2)
PLAIN = Survey({name: YesNo(optional=True) for name in "abc"}, 2.0, series="s", answers=2)


def later(survey):
    return survey.revise(change={"a": Choice(["no", "yes", "never"], optional=True)})


ASKED = {
    "versions": [PLAIN, later(PLAIN), later(PLAIN).revise(remove=["c"])],
    "waves": [PANEL.in_wave(1), later(PANEL).in_wave(1), PANEL.in_wave(2), later(PANEL).in_wave(3)],
    "turns": [replace(PANEL, turns=2).in_wave(wave) for wave in (1, 2, 3)],
    "open-ended": [ENDLESS.in_wave(1), later(ENDLESS).in_wave(1), ENDLESS.in_wave(2), later(ENDLESS).in_wave(3)],
    "several series": [PLAIN, replace(PLAIN, epsilon=1.0), PANEL.in_wave(1)],
}


@pytest.mark.parametrize("surveys", ASKED.values(), ids=ASKED)
def test_the_losses_are_those_of_people_who_answer_everything(surveys):
    """Among 300 people, some lose what is stated with a secret, and nobody loses more; a ledger never exceeds its number."""
    found, worst, most = loss.losses_of(tuple(surveys)), 0.0, 0.0
    for person in range(300):
        ledgers = {recipe_of(survey).series.promise: Ledger({}) for survey in surveys}
        coins, spent = {}, 0.0
        for survey in surveys:
            client, recipe = survey.client(bytes(32), person), recipe_of(survey)
            if not client.is_turn():
                continue
            message, size = client.answer({"a": True}), recipe.sizes[0]
            for at in range(9, len(message), 2 + size):
                q = int.from_bytes(message[at : at + 2], "little")
                key = recipe_of(survey).series.coins, recipe.names[q], recipe.descriptions[q]
                coins[key] = recipe.mechanisms[q].epsilon_realized
        worst = max(worst, sum(coins.values()))
        if person < 40:
            for survey in surveys:
                client = survey.client(ledger=ledgers[recipe_of(survey).series.promise])
                if client.is_turn():
                    with suppress(ValueError):  # what the ledger refuses
                        client.answer({"a": True})
            spent = sum(ledger.loss for ledger in ledgers.values())
        most = max(most, spent)
    assert worst == pytest.approx(found.secret, rel=1e-6)
    assert most <= found.ledger * (1 + 1e-12)
    assert most == pytest.approx(found.ledger, rel=1e-6)
    assert found.total == pytest.approx(sum(survey.guarantee.epsilon for survey in surveys))
    assert found.ledger <= found.secret * (1 + 1e-12) <= found.total * (1 + 1e-9)


def test_the_loss_of_rounds_is_that_of_the_repeated_survey():
    rounds = [WEEKLY.in_round(number) for number in (0, 1)]
    found = loss.losses_of(tuple(rounds))
    assert found.ledger == WEEKLY.loss().epsilon
    assert found.changed == WEEKLY.loss(changes=1).epsilon
    assert found.total == pytest.approx(2 * WEEKLY.guarantee.epsilon)
    revised = RepeatedSurvey(WEEKLY.survey.revise(add={"drinks": YesNo(optional=True)}), round=2.0, rounds=3)
    other = loss.losses_of((*rounds, revised.in_round(2)))
    assert other.ledger == found.ledger  # a ledger refuses the added question
    assert other.secret == pytest.approx(2 * found.secret)
    edited = replace(revised.survey, revision=1)  # by hand, on an older server
    assert loss.losses_of((*rounds, Repeated(edited, round=2.0, rounds=3).in_round(2))).secret == other.secret
    longer = loss.losses_of(tuple(WEEKLY.in_round(number) for number in range(5)))
    assert longer.secret == replace(WEEKLY, rounds=5).loss().epsilon > longer.ledger == found.ledger
    texts = loss.sentences(rounds, 0)
    assert texts[1].startswith("at most \u03b5 = 3.")
    assert texts[1].endswith("and its other rounds, 3 at most, if they come from one ledger, and no value changes.")
    assert "if the value of each question changes once" in texts[3]


def test_other_weights_and_too_many_orders_state_the_sum():
    """A file can be written by hand, with what `revise` does not allow."""
    first = Survey({"a": YesNo(optional=True), "b": YesNo(optional=True)}, 2.0, weights={"a": 3, "b": 1})
    other = replace(first, weights={"a": 1, "b": 1}, revision=2)
    found = loss.losses_of((first, other))
    assert found.secret == found.total == pytest.approx(4.0)
    assert loss.sentences([first, replace(first, epsilon=1.0)], 0)[1].endswith(
        "if they come from 2 ledgers, one for each series."
    )
    assert (
        "so far, and at most \u03b5 = 2 in each further period of 2 waves" in loss.sentences([ENDLESS.in_wave(3)], 0)[1]
    )
    assert "and all other waves of the series, if they" in loss.sentences([PANEL.in_wave(3)], 0)[1]


# Rounds ---------------------------------------------------------------------------------------------------------------


@pytest.mark.claim(
    "A round of a repeated survey is received, counted, shown, exported and closed as a wave is.", "Server"
)
def test_rounds_are_received_counted_shown_exported_and_closed(tmp_path, capsys):
    secret, url, file = secrets.token_bytes(32), f"sqlite:///{tmp_path}/reports.db", tmp_path / "weekly.toml"
    first, second = WEEKLY.in_round(0), WEEKLY.in_round(1)
    file.write_text(WEEKLY.to_toml())
    messages = [first.client(secret, i).answer({"smokes": True}) for i in range(110)]
    expected = first.aggregator().update(messages).estimate()
    with served(tmp_path, first) as client:
        asked = client.get("/survey").json()
        assert (asked["wave"], asked["round"], asked["fingerprint"]) == (None, 0, first.fingerprint)
        assert Survey.from_dict(json.loads(asked["schema"])["asks"]) == first
        assert send(client, first, range(100), secret)["accepted"] == 100
        assert send(client, first, range(110), secret)["duplicate"] == 100
        assert {one["reason"] for one in send(client, second, range(3), secret)["refused"]} == {"fingerprint"}
        found = client.get("/estimates", headers=READER).json()
        assert (found["n"], found["wave"], found["round"]) == (110, None, 0)
        assert found["result"] == json.loads(json.dumps(expected.to_dict()))
        assert client.app.state.store.fold() == 110
        assert client.get("/estimates?round=0&version=1", headers=READER).json()["n"] == 110
        for path, status in (("?round=1", 404), ("?wave=0", 404), ("?wave=1", 404), ("?round=x", 400)):
            assert client.get(f"/estimates{path}", headers=READER).status_code == status
        assert "weeks, round 0" in client.get("/", headers=READER).text
    with served(tmp_path, [first, second]) as client:
        assert client.get("/survey").json()["round"] == 1
        assert send(client, second, range(80), secret)["accepted"] == 80
        page = client.get("/", headers=READER).text
        assert "weeks, round 1" in page
        assert "round=0" in page
    with served(tmp_path, second) as client:  # which knows the round before
        assert [client.get(f"/estimates?round={i}", headers=READER).json()["n"] for i in (0, 1)] == [110, 80]

    def run(command, *options):
        assert main([command, str(file), "--database", url, *map(str, options)]) == 0
        return capsys.readouterr().out

    run("export", "--round", 0, "-o", tmp_path / "zero.ldp")
    state = ldp.load((tmp_path / "zero.ldp").read_bytes())
    assert state.question == first
    assert state.n == 110
    change = WEEKLY.change(state, second.collect({"smokes": [True] * 9}, rng=ldp.PersonKeys(secret, np.arange(9))))
    assert change.table["n"][0] == 119
    assert run("compact", "--round", 1).startswith("80 messages were folded")
    assert run("close", "--round", 0) == "closed round 0: 0 messages were folded, 110 ids were forgotten\n"
    with pytest.raises(ValueError, match="rounds must be open, got 0, which was closed for good"):
        served(tmp_path, first)
    with served(tmp_path, second) as client:
        assert client.get("/estimates?round=0", headers=READER).json()["n"] == 110


@pytest.mark.long
def test_rounds_have_pictures(tmp_path):
    with served(tmp_path, [WEEKLY.in_round(0), WEEKLY.in_round(1)]) as client:
        for survey in (WEEKLY.in_round(0), WEEKLY.in_round(1)):
            send(client, survey, range(40), bytes(32))
        trend = client.get("/trend.svg", headers=READER).text
        assert {"round 0", "round 1"} <= set(re.findall(r"<!-- (.*?) -->", trend))
        ElementTree.fromstring(client.get("/plot.svg?round=0", headers=READER).content)


def test_rounds_of_a_database_of_an_older_server_are_counted(tmp_path):
    """Which stored the number of the round, from 1 on, as that of a wave, and no description."""
    first = WEEKLY.in_round(0)
    with served(tmp_path, first) as client:
        assert send(client, first, range(20), bytes(32))["accepted"] == 20
        with client.app.state.store.write() as connection:
            assert connection.scalar(sa.text("SELECT wave FROM occasions")) == 1
            connection.execute(sa.text("UPDATE surveys SET description = NULL"))
    with served(tmp_path, WEEKLY.in_round(2)) as client:
        assert client.get("/estimates?round=0", headers=READER).json()["n"] == 20
        assert send(client, WEEKLY.in_round(2), range(20), bytes(32))["accepted"] == 20


def test_rounds_on_the_command_line_are_those_of_a_file_with_rounds(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "weekly.toml").write_text(f'groups = ["N", "S"]\n{WEEKLY.to_toml()}')
    (tmp_path / "plain.toml").write_text(FIRST.to_toml())
    (tmp_path / "half.toml").write_text(f"round = 1.0\n{FIRST.to_toml()}")

    def run(*options):
        try:
            status = main(["serve", *map(str, options), "--check"])
        except SystemExit as error:
            status = error.code
        return status, "".join(capsys.readouterr())

    assert run("weekly.toml", "--round", 0, "--round", 1)[0] == 0
    for options, text in (
        (("weekly.toml",), "--round must be given for a repeated survey"),
        (("plain.toml", "--round", 0), "--round must be left out"),
        (("weekly.toml", "--round", 0, "--wave", 1), "waves must be left out"),
        (("weekly.toml", "--round", -1), "number must be"),
        (("weekly.toml", "--round", 0, "--round", 0), "be different rounds of a version, got two of revision 1"),
        (("half.toml", "--round", 0), "must have the entries round and rounds, got none of 'rounds'"),
    ):
        status, shown = run(*options)
        assert (status, text in shown) == (2, True), shown
    assert RepeatedSurvey.from_toml(WEEKLY.to_toml()) == WEEKLY
    assert WEEKLY.in_round(2).repeated == WEEKLY
    with pytest.raises(ValueError, match="got 'round'"):
        Survey.from_toml(WEEKLY.to_toml())
    with pytest.raises(ValueError, match="got none of 'round'"):
        RepeatedSurvey.from_toml(FIRST.to_toml())


@pytest.mark.parametrize(
    "surveys, text",
    [
        ([WEEKLY.in_round(0), WEEKLY.survey], "versions of one series"),
        ([WEEKLY.in_round(0), replace(WEEKLY, rounds=4).in_round(1)], "versions of one series"),
        ([WEEKLY.in_round(1), WEEKLY.in_round(1)], "different rounds of a version"),
        (WEEKLY, "surveys must be a Survey or a list"),
        ([FIRST, replace(SECOND, revision=1)], "different revisions"),
    ],
)
def test_what_does_not_belong_together_is_refused(tmp_path, surveys, text):
    with pytest.raises((TypeError, ValueError), match=text):
        served(tmp_path, surveys)
    assert not (tmp_path / "reports.db").exists()


def test_versions_of_rounds_do_not_mix(tmp_path):
    revised = RepeatedSurvey(WEEKLY.survey.revise(add={"town": YesNo(optional=True)}), round=2.0, rounds=3)
    with served(tmp_path, [WEEKLY.in_round(0), revised.in_round(1)]) as client:
        assert client.get("/survey").json()["version"] == 2
        assert client.get("/survey/1").json()["round"] == 0
        assert send(client, WEEKLY.in_round(0), range(9), bytes(32))["accepted"] == 9
        assert send(client, revised.in_round(1), range(8), bytes(32))["accepted"] == 8
        assert len(send(client, revised.in_round(0), range(7), bytes(32))["refused"]) == 7
    with served(tmp_path, revised.in_round(1)) as client:
        assert client.get("/estimates?round=0", headers=READER).json()["n"] == 9


# Versions that the server was not started with --------------------------------------------------------------------------


@pytest.mark.claim("A survey that was changed without a new revision is refused at the start.", "Server")
@pytest.mark.parametrize("change", [{"epsilon": 1.0}, {"questions": SECOND.questions}, {"series": "other"}])
def test_a_survey_that_was_edited_in_place_is_refused(tmp_path, change):
    edited = replace(FIRST, **change)
    with served(tmp_path, edited):  # nobody has answered yet
        pass
    with served(tmp_path, FIRST) as client:
        assert send(client, FIRST, range(600))["accepted"] == 600
    with pytest.raises(ValueError, match=rf"version 1 \(survey {FIRST.fingerprint}\): 600 reports, got another survey"):
        served(tmp_path, edited)
    with served(tmp_path, FIRST) as client:  # nothing was changed
        assert client.get("/estimates", headers=READER).json()["n"] == 600
    with served(tmp_path, replace(edited, revision=2)) as client:
        assert client.get("/estimates?version=1", headers=READER).json()["n"] == 600


def test_an_edited_panel_is_refused_in_every_wave(tmp_path):
    with served(tmp_path, PANEL, waves=1) as client:
        reports = [PANEL.in_wave(1).client(bytes(32), i) for i in range(30)]
        body = body_of([one.report({"a": True}) for one in reports if one.is_turn()])
        assert client.post("/reports", content=body, headers=LINES).json()["accepted"] > 0
    with pytest.raises(ValueError, match="in wave 1"):
        served(tmp_path, replace(later(PANEL), revision=1), waves=2)
    with served(tmp_path, later(PANEL), waves=2):
        pass


@pytest.mark.claim("Reports to versions that the server was not started with are named, shown and counted.", "Server")
def test_versions_that_the_server_was_not_started_with_are_named_and_counted(tmp_path, caplog):
    with served(tmp_path, FIRST) as client:
        assert send(client, FIRST, range(600))["accepted"] == 600
    assert caplog.messages == []
    with served(tmp_path, SECOND) as client:
        assert caplog.messages == [
            f"the server was not started with version 1 (survey {FIRST.fingerprint}): 600 reports, which are shown, but not "
            "received"
        ]
        assert {one["reason"] for one in send(client, FIRST, range(3))["refused"]} == {"fingerprint"}
        assert send(client, SECOND, range(100))["accepted"] == 100
        page = client.get("/", headers=READER).text
        assert f"<li>version 1 (survey {FIRST.fingerprint}): 600 reports</li>" in page
        assert client.get("/estimates", headers=READER).json()["n"] == 100
        assert client.get("/estimates?version=1", headers=READER).json()["n"] == 600
        assert client.app.state.store.fold() == 700
        assert client.get("/estimates?version=1", headers=READER).json()["n"] == 600


def test_a_description_that_is_not_that_of_the_fingerprint_is_not_believed(tmp_path):
    with served(tmp_path, FIRST) as client:
        send(client, FIRST, range(30))
    for text in (json.dumps(SECOND.to_dict()), json.dumps({"mechanism": "Warner", "epsilon": 1.0}), "[1]", "{", "{}"):
        store = Store(ServerPlan.of(SECOND, None, None), f"sqlite:///{tmp_path}/reports.db")
        with store.write() as connection:
            connection.execute(sa.text("UPDATE surveys SET description = :text WHERE revision = 1"), {"text": text})
        store.close()
        store = Store(ServerPlan.of(SECOND, None, None), f"sqlite:///{tmp_path}/reports.db")
        summary = store.summary()
        store.close()
        assert (summary.unknown, [*summary.others.values()]) == (30, [30])
