"""Surveys of several series under the paths of one address."""

from __future__ import annotations

import json
import signal
import time
import urllib.error
import urllib.request
from contextlib import suppress
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa
from starlette.routing import Mount
from starlette.testclient import TestClient

from ldpfast.cli import main
from ldpfast.client import send
from ldpfast.server import create_app
from ldpfast.survey import Calendar, Survey, YesNo

from ..support.internals.server import access, mounted
from ..support.server import LINES, READ, READER, SURVEY, Server, body_of, reports_of

SLEEP = SURVEY
WORK = Survey({"smokes": YesNo(optional=True)}, 2.0, series="work")


@pytest.fixture
def client(tmp_path):
    tokens = access.Tokens((READ,), ())
    apps = {
        name: create_app(survey, f"sqlite:///{tmp_path}/{name}.db", hosts=["testserver"], tokens=tokens)
        for name, survey in (("sleep", SLEEP), ("work", WORK))
    }
    with TestClient(mounted(apps)) as client:
        yield client


@pytest.mark.claim("Surveys under the paths of one address have databases and counts of their own.", "Server")
def test_each_path_has_its_own_survey_and_counts(client):
    for name, survey, other, n in (("sleep", SLEEP, WORK, 7), ("work", WORK, SLEEP, 4)):
        assert client.get(f"/{name}/survey").json()["fingerprint"] == survey.fingerprint
        answer = client.post(f"/{name}/reports", content=body_of(reports_of(survey, n)), headers=LINES).json()
        assert answer == {"accepted": n, "duplicate": 0, "refused": []}
        refused = client.post(f"/{name}/reports", content=body_of(reports_of(other, 2)), headers=LINES).json()[
            "refused"
        ]
        assert [one["reason"] for one in refused] == ["fingerprint"] * 2
        assert client.get(f"/{name}/estimates", headers=READER).json()["n"] == n
        assert client.get(f"/{name}/estimates").status_code == 401
        page = client.get(f"/{name}/", headers=READER)
        assert survey.series in page.text
        assert (
            f'ldpfast_reports_total{{status="accepted"}} {n}.0' in client.get(f"/{name}/metrics", headers=READER).text
        )
    assert [client.get(f"/{name}/estimates", headers=READER).json()["n"] for name in ("sleep", "work")] == [7, 4]


def test_links_and_cookies_of_the_page_stay_under_its_path(client):
    answer = client.post("/sleep/login", data={"token": READ}, follow_redirects=False)
    assert answer.headers["location"] == "./"
    assert "path=" not in answer.headers["set-cookie"].lower()
    page = client.get("/work/", headers=READER).text
    assert 'href="style.css"' in page
    assert client.get("/work/style.css").status_code == 200
    # Behind a proxy, only the browser knows the scheme and the whole path.
    for query in ("", "?wave=2"):
        assert client.get(f"/work{query}", follow_redirects=False).headers["location"] == f"work/{query}"


def test_other_paths_and_hosts_are_refused_and_the_health_is_that_of_all(client, monkeypatch):
    assert client.get("/survey").json() == {"error": "there is no such path; surveys are under /sleep/, /work/"}
    assert client.get("/survey").status_code == 404
    assert client.get("/sleep/survey", headers={"host": "other"}).status_code == 400
    for path in ("/health", "/sleep/health"):
        assert client.get(path, headers={"host": "10.0.0.1"}).json() == {"status": "ok"}
    assert client.get("/sleep/nothing").status_code == 404
    work = next(route.app for route in client.app.routes if route.path == "/work" and isinstance(route, Mount))

    def fail():
        raise sa.exc.OperationalError("", {}, Exception())

    monkeypatch.setattr(work.state.store, "touch", fail)
    assert [client.get(f"{path}/health").status_code for path in ("", "/sleep", "/work")] == [503, 200, 503]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """A function that runs a check of `ldpfast serve` in a folder with files."""
    monkeypatch.chdir(tmp_path)
    for name, survey in (
        ("sleep", SLEEP),
        ("work", WORK),
        ("later", WORK.revise(add={"drinks": YesNo(optional=True)})),
    ):
        (tmp_path / f"{name}.toml").write_text(survey.to_toml())
    (tmp_path / "cheap.toml").write_text(WORK.to_toml().replace("2.0", "1.0"))
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "SLEEP.toml").write_text(WORK.to_toml())
    (tmp_path / "bad name.toml").write_text(WORK.to_toml())
    (tmp_path / "unnamed.toml").write_text(WORK.to_toml().replace('series = "work"\n', ""))
    panel = Survey({"a": YesNo(optional=True)}, 2.0, series="panel", waves=3)
    (tmp_path / "panel.toml").write_text(panel.to_toml())

    def run(*arguments):
        try:
            status = main(["serve", *arguments, "--check"])
        except SystemExit as error:
            status = error.code
        return status, "".join(capsys.readouterr())

    return run


def test_files_of_several_series_are_served_under_their_names(run, tmp_path):
    status, shown = run("sleep.toml", "work.toml", "later.toml")
    assert (status, shown.splitlines()[1:]) == (0, ["ready to serve under /sleep/", "ready to serve under /work/"])
    assert {path.name for path in tmp_path.glob("*.db")} == {"reports-sleep.db", "reports-work.db"}
    assert run("sleep.toml", "work.toml", "--database", f"sqlite:///{tmp_path}/of-{{name}}.db")[0] == 0
    assert (tmp_path / "of-work.db").exists()
    assert run("work.toml", "later.toml") == (0, "ready to serve\n")  # versions of one


@pytest.mark.parametrize(
    "arguments, text",
    [
        (["work.toml", "cheap.toml"], "surveys must be versions of one series, with the same epsilon"),
        (["sleep.toml", "unnamed.toml"], "surveys must be versions of one series"),
        (["sleep.toml", "bad name.toml"], "must have different names of letters, digits, - and _, got 'bad name'"),
        (["sleep.toml", "folder/SLEEP.toml"], "must have different names of letters, digits, - and _, got 'SLEEP'"),
        (
            ["sleep.toml", "work.toml", "--database", "sqlite:///folder/no/{name}.db"],
            "error: sleep: the database sqlite:///folder/no/sleep.db cannot be used",
        ),
        (["sleep.toml", "work.toml", "work.toml"], "SURVEY must be different files, got work.toml twice"),
        (["sleep.toml", "work.toml", "--wave", "1"], "--wave and --round must be left out for several series"),
        (["sleep.toml", "panel.toml"], "error: panel: waves must be the open waves of a survey with 3 waves, got none"),
        (
            ["sleep.toml", "work.toml", "--database", "sqlite:///x.db"],
            "--database must contain {name} for several series",
        ),
    ],
)
def test_files_that_cannot_be_served_together_are_refused(run, tmp_path, arguments, text):
    status, shown = run(*arguments)
    assert (status, text in shown) == (2, True), shown
    assert not (tmp_path / "x.db").exists()


@pytest.mark.long
def test_a_process_serves_two_calendars_and_reads_its_tokens_again(tmp_path):
    today = datetime.now(UTC).date()
    for name in ("first", "second"):
        calendar = Calendar(today, "1 week" if name == "first" else "1 day")
        survey = Survey({"smokes": YesNo(optional=True)}, 2.0, series=name, waves=3, turns=3, calendar=calendar)
        (tmp_path / f"{name}.toml").write_text(survey.to_toml())
    server = Server(tmp_path, f"sqlite:///{tmp_path}/{{name}}.db", surveys=["first.toml", "second.toml"])
    try:
        for name in ("first", "second"):
            asked = server.get(f"/{name}/survey")
            assert (asked["wave"], asked["calendar"]["waves"]) == (1, 3)
            survey = Survey.from_toml((tmp_path / f"{name}.toml").read_text())
            reports = [survey.client(bytes(32), person).report({"smokes": True}, wave=1) for person in range(5)]
            assert send(f"{server.url}/{name}", reports).accepted == 5
            assert server.get(f"/{name}/estimates")["n"] == 5
        (tmp_path / "tokens").write_text("read another-token-for-reading\n")
        server.process.send_signal(signal.SIGHUP)
        changed = {"authorization": "Bearer another-token-for-reading"}
        for name in ("first", "second"):
            for _ in range(1200):
                with suppress(urllib.error.HTTPError):
                    assert server.get(f"/{name}/estimates", **changed)["n"] == 5
                    break
                time.sleep(0.05)
            else:
                pytest.fail("the tokens were not read again")
        server.stop()
        again = Server(tmp_path, f"sqlite:///{tmp_path}/first.db", surveys=["first.toml"])
        assert json.load(urllib.request.urlopen(f"{again.url}/survey"))["wave"] == 1
        again.kill()
    finally:
        server.kill()
