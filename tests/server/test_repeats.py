"""One message under many ids: found by its equality where messages have much entropy, and counted where they have not."""

from __future__ import annotations

import logging
import os

import pytest
from starlette.testclient import TestClient

from ldpfast.server import create_app
from ldpfast.survey import Choice, Mean, Survey, YesNo

from ..support.internals.server import access, withdrawal
from ..support.server import LINES, READ, READER, body_of, postgres, postgres_programs

LONG = Survey({"way": Choice([f"way {i}" for i in range(200)], optional=True)}, 1.0)
SHORT = Survey({"smokes": YesNo(optional=True)}, 1.0)


def served(url: str, survey: Survey, **options) -> TestClient:
    tokens = access.Tokens((READ,), ())
    return TestClient(create_app(survey, url, hosts=["testserver"], tokens=tokens, **options))


def reports_of(survey: Survey, n: int) -> list:
    """Return the reports of n people with the same answers."""
    client = survey.client()
    return [client.report({"way": "way 3", "smokes": True}) for _ in range(n)]


def copies_of(report, n: int) -> list:
    return [report._replace(id=os.urandom(len(report.id))) for _ in range(n)]


def post(client, reports, group=None) -> dict:
    return client.post("/reports", content=body_of(reports, group), headers=LINES).json()


def repeats_of(client) -> dict:
    (found,) = client.get("/repeats", headers=READER).json()["repeats"]
    return found


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.long)])
def url(request, tmp_path):
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/reports.db"
    elif postgres_programs() is None:
        pytest.skip("PostgreSQL is not installed")
    else:
        with postgres() as found:
            yield found


@pytest.mark.claim("One message under many ids is found where messages have enough entropy.", "Server")
def test_copies_of_a_message_are_counted_before_and_after_they_are_folded(url):
    reports = reports_of(LONG, 200)
    with served(url, LONG) as client:
        assert post(client, reports)["accepted"] == 200
        found = repeats_of(client)
        assert (found["n"], found["repeated"], found["most"], found["wave"]) == (200, 0, 1, None)
        assert found["pvalue"] == 1
        assert 62 < found["entropy"] <= 64
        assert post(client, [*copies_of(reports[3], 10), reports[0]])["duplicate"] == 1
        post(client, copies_of(reports[4], 1))
        found = repeats_of(client)
        assert (found["n"], found["repeated"], found["most"]) == (211, 11, 11)
        assert found["pvalue"] < 1e-100
        assert "ldpfast_repeated_reports 11.0" in client.get("/metrics", headers=READER).text
    with served(url, LONG) as client:  # folded when the first one was closed
        assert repeats_of(client) == found


def test_reports_that_were_withdrawn_are_no_copies_of_each_other(tmp_path):
    reports = reports_of(LONG, 30)
    with served(f"sqlite:///{tmp_path}/reports.db", LONG) as client:
        post(client, reports)
        for report in reports[:20]:
            assert withdrawal.withdraw(client.app.state.store, report.id) is withdrawal.Withdrawal.DELETED
        found = repeats_of(client)
    assert (found["n"], found["repeated"], found["pvalue"]) == (10, 0, 1)


def test_equal_short_messages_say_nothing(tmp_path):
    with served(f"sqlite:///{tmp_path}/reports.db", SHORT) as client:
        post(client, reports_of(SHORT, 100))
        found = repeats_of(client)
    assert found["n"] == 100
    assert found["repeated"] > 90
    assert found["pvalue"] == 1
    assert found["entropy"] < 1.5


def test_copies_are_logged_when_a_survey_is_closed(tmp_path, caplog):
    reports = reports_of(LONG, 50)
    with served(f"sqlite:///{tmp_path}/reports.db", LONG) as client:
        post(client, [*reports, *copies_of(reports[3], 2)])
        with caplog.at_level(logging.WARNING, "uvicorn.error"):
            client.app.state.store.close_waves()
            assert (
                "2 of 52 reports to the survey are equal to earlier ones under other ids, one of them 3 times"
                in caplog.text
            )
            caplog.clear()
            client.app.state.store.close_waves()  # once more: the ids are forgotten
        assert "equal to earlier" not in caplog.text
        assert repeats_of(client)["n"] == 0


def test_reports_without_copies_are_not_logged(tmp_path, caplog):
    with served(f"sqlite:///{tmp_path}/reports.db", LONG) as client:
        post(client, reports_of(LONG, 50))
        client.app.state.store.close_waves()
    assert "equal to earlier" not in caplog.text


def test_repeats_need_a_token_for_reading(tmp_path):
    with served(f"sqlite:///{tmp_path}/reports.db", SHORT) as client:
        assert client.get("/repeats").status_code == 401


def test_messages_that_are_nearly_certain_have_no_entropy(tmp_path):
    """The digests have 64 bits, which is no reason to expect different messages."""
    survey = Survey({"income": Mean(0, 1, optional=True)}, 44.0)
    client = survey.client()
    with served(f"sqlite:///{tmp_path}/reports.db", survey) as served_:
        post(served_, [client.report({"income": 1.0}) for _ in range(30)])
        found = repeats_of(served_)
    assert (found["n"], found["pvalue"]) == (30, 1)
    assert str(found["entropy"]) == "0.0"
