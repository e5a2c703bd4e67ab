"""Real servers in processes of their own: killed in the middle, with retries of clients, on SQLite and PostgreSQL."""

from __future__ import annotations

import base64
import json
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import sqlalchemy as sa

import ldpfast as ldp
from ldpfast.cli import main
from ldpfast.client import SendError, Sent, send
from ldpfast.survey import Survey

from ..support.aggregation import batches_of
from ..support.cases import each
from ..support.clients import build_package
from ..support.internals.server import VERSION, ServerPlan, Store, metadata
from ..support.process import NATIVE, compile_c
from ..support.server import PANEL, READ, READER, SURVEY, body_of, free_port, postgres, postgres_programs, reports_of

CLIENTS, EACH = 4, 3000
KILLS = [pytest.param(10, marks=pytest.mark.long), pytest.param(100, marks=pytest.mark.slow)]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "survey.toml").write_text(SURVEY.to_toml())
    return tmp_path


@pytest.fixture(params=["sqlite", "postgres"])
def database(request, folder):
    if request.param == "sqlite":
        yield f"sqlite:///{folder}/reports.db"
        return
    if postgres_programs() is None:
        pytest.skip("needs PostgreSQL")
    with postgres() as url:
        yield url


@pytest.mark.claim("No report is lost or counted twice if the server is killed.", "Server")
@pytest.mark.parametrize("most_kills", KILLS)
def test_reports_are_counted_once_although_the_server_is_killed_again_and_again(
    start_server, folder, database, most_kills
):
    """Clients send again until a report is acknowledged. Each report is then counted once: none is lost, none twice."""
    server, reports = start_server(folder, database), [reports_of(SURVEY, EACH) for _ in range(CLIENTS)]
    source, unconfirmed = random.Random(1), []

    def client(mine):
        at = 0
        while at < EACH:
            part = mine[at : at + random.Random(at).randint(1, 40)]
            try:
                answer = send(server.url, part, attempts=1, timeout=10)
            except SendError:
                time.sleep(0.02)
                continue
            if answer.refused or answer.accepted + answer.duplicate != len(part):
                unconfirmed.append(answer)
            at += len(part)

    threads = [threading.Thread(target=client, args=(mine,)) for mine in reports]
    for thread in threads:
        thread.start()
    kills = 0
    while kills < most_kills:
        time.sleep(source.uniform(0.0, 0.3))
        server.kill()
        kills += 1
        server.start()
        if not any(thread.is_alive() for thread in threads):
            part = reports_of(SURVEY, 40)
            reports.append(part)
            threads = [threading.Thread(target=lambda part=part: _send_all(server, part))]
            threads[0].start()
    for thread in threads:
        thread.join()
    everything = [report for mine in reports for report in mine]
    again = send(server.url, everything)
    assert (again.accepted, again.duplicate, again.refused) == (0, len(everything), {})
    found = server.get("/estimates")
    server.stop()
    assert not unconfirmed
    expected = SURVEY.aggregator().update([report.message for report in everything])
    assert found["n"] == len(everything)
    assert found["result"] == json.loads(json.dumps(expected.estimate().to_dict()))


@pytest.mark.claim("A report is on the disk before the answer is sent.", "Server")
@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_report_is_on_the_disk_before_the_answer_is_sent(start_server, folder):
    """As the C library sees it: the write-ahead log is forced to the disk, then the answer is written to the socket."""
    library = compile_c(folder / "order.so", NATIVE / "write_order.c", flags=("-shared", "-fPIC"))
    order = folder / "order"
    server = start_server(folder, f"sqlite:///{folder}/reports.db", LD_PRELOAD=str(library), LDPFAST_ORDER=str(order))
    for report in reports_of(SURVEY, 3):
        order.unlink()
        assert send(server.url, report).accepted == 1
        lines = order.read_text().splitlines()
        assert lines.count("answer ") == 1
        assert f"disk {folder}/reports.db-wal" in lines[: lines.index("answer ")]
    server.stop()


def _send_all(server, part):
    for report in part:
        while True:
            try:
                send(server.url, report, attempts=1, timeout=10)
                break
            except SendError:
                time.sleep(0.02)


@pytest.mark.claim("Several servers can share one database of PostgreSQL.", "Server")
@pytest.mark.long
def test_two_servers_on_one_postgres_count_each_report_once(start_server, folder):
    if postgres_programs() is None:
        pytest.skip("needs PostgreSQL")
    with postgres() as url:
        servers = [start_server(folder, url), start_server(folder, url)]
        reports, answers = reports_of(SURVEY, 4000), []

        def client(server, seed):
            order = random.Random(seed).sample(reports, len(reports))
            answers.append(send(server.url, order))

        threads = [threading.Thread(target=client, args=(servers[i % 2], i)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(answer.accepted for answer in answers) == 4000
        assert sum(answer.duplicate for answer in answers) == 12_000
        time.sleep(11)  # both fold
        assert servers[0].get("/estimates") == servers[1].get("/estimates")
        assert servers[0].get("/estimates")["n"] == 4000
        for server in servers:
            server.stop()


@pytest.mark.claim("The server does not log addresses, and an export has no ids and another order.", "Server")
@pytest.mark.long
def test_a_stopped_server_answers_what_it_has_received_and_the_commands_read_its_database(start_server, folder):
    url = f"sqlite:///{folder}/reports.db"
    server, reports = start_server(folder, url, "--keep-messages"), reports_of(SURVEY, 1500)
    assert send(server.url, reports).accepted == 1500
    with pytest.raises(ValueError, match="status 413"):
        send(server.url, [reports[0]._replace(message=bytes(5 << 20))])
    server.stop()
    log = (folder / "log").read_text()
    assert "127.0.0.1" not in log.replace(f"http://127.0.0.1:{server.port}", "")
    with pytest.raises(SendError, match="after 1 attempts"):
        send(server.url, reports[0], attempts=1)

    def run(*command):
        done = subprocess.run(
            [sys.executable, "-m", "ldpfast", *map(str, command), folder / "survey.toml", "--database", url],
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    assert run("export", "-o", folder / "reports.arrow").startswith("n = 1500")
    import pyarrow as pa

    table = pa.ipc.open_file(folder / "reports.arrow").read_all()
    assert table.column_names == ["report"]
    exported = table.column("report").to_pylist()
    assert sorted(exported) == sorted(report.message for report in reports)
    assert exported != [report.message for report in reports]
    assert run("compact").startswith("1500 messages were folded")
    assert run("export", "-o", folder / "state.ldp").startswith("n = 1500")
    expected = SURVEY.aggregator().update([report.message for report in reports])
    state = ldp.load((folder / "state.ldp").read_bytes())
    assert batches_of(state)
    expected._counts.batches = batches_of(state)
    assert state == expected
    with pytest.raises(ValueError, match="batch that was already counted"):
        state.update(table)  # which has the messages that were folded meanwhile
    assert run("compact").startswith("0 messages")
    assert run("close") == "closed the survey: 0 messages were folded, 1500 ids were forgotten\n"
    assert run("export", "-o", folder / "state.ldp").startswith("n = 1500")


def test_arguments_are_checked_before_the_server_starts(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)

    def run(*options):
        try:
            status = main(["serve", *map(str, options)])
        except SystemExit as error:
            status = error.code
        return status, "".join(capsys.readouterr())

    assert run("survey.toml", "--check") == (0, "a token for reading was written to ldpfast-tokens\nready to serve\n")
    assert (folder / "ldpfast-tokens").stat().st_mode & 0o77 == 0
    assert run("survey.toml", "--check") == (0, "ready to serve\n")
    for options, text in (
        ((), "SURVEY must be given"), (("survey.toml", "--demo"), "SURVEY must be left out"),
        (("survey.toml", "--wave", 2, "--check"), "waves must be left out"), (("none.toml",), "none.toml"),
        (("survey.toml", "--database", "mysql://x"), "url must be of SQLite or PostgreSQL"),
        (("survey.toml", "--database", "reports.db"), "--database must be a URL"),
        (("survey.toml", "--database", "sqlite:////no/folder/r.db"), "cannot be used: unable to open database file"),
        (("survey.toml", "--database", "postgresql+psycopg://a:hidden@127.0.0.1:1/x"), "postgresql+psycopg://a:***@"),
    ):  # fmt: skip
        status, shown = run(*options)
        assert status == 2
        assert text in shown
        assert "hidden" not in shown
    (folder / "grouped.toml").write_text(f'groups = ["DE", "DE"]\n{SURVEY.to_toml()}')
    assert "groups must be different" in run("grouped.toml", "--check")[1]
    (folder / "grouped.toml").write_text(f"groups = 5\n{SURVEY.to_toml()}")
    assert "groups must be a list" in run("grouped.toml", "--check")[1]
    assert Survey.from_toml(f'groups = ["DE"]\n{SURVEY.to_toml()}') == SURVEY


@pytest.mark.claim("`send` raises an error if the server has not confirmed the reports.", "Server")
def test_a_client_trusts_no_redirect_and_no_other_answer():
    """The token stays with the server that it was meant for, and reports that were not stored are not confirmed."""
    (report,), seen = reports_of(SURVEY, 1), []
    answers = {
        "/redirect/reports": (302, b""), "/empty/reports": (200, b'{"accepted": 0, "duplicate": 0, "refused": []}'),
        "/odd/reports": (200, b'{"accepted": 0, "duplicate": 0, "refused": 5}'), "/busy/reports": (503, b""),
    }  # fmt: skip

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            status, body = answers[self.path]
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(status)
            self.send_header("location", "/empty/reports")
            self.send_header("retry-after", "999999")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            seen.append(self.path)

        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            address = f"http://127.0.0.1:{server.server_address[1]}"
            with pytest.raises(ValueError, match="status 302"):
                send(f"{address}/redirect", report, token="a-token", attempts=1)
            for path in ("empty", "odd", "busy"):
                with pytest.raises(SendError):
                    send(f"{address}/{path}", report, attempts=1)
        finally:
            server.shutdown()
            thread.join()
    assert seen == []


@pytest.mark.claim("With `--socket`, only the user of the process can open the socket.", "Server")
@pytest.mark.long
def test_a_unix_socket_belongs_to_its_user(folder):
    place, log = folder / "socket", (folder / "log").open("wb")
    command = [sys.executable, "-m", "ldpfast", "serve", "survey.toml", "--socket", str(place)]
    with log, subprocess.Popen(command, cwd=folder, stdout=log, stderr=log) as server:
        for _ in range(1200):
            if place.exists():
                break
            time.sleep(0.05)
        assert place.stat().st_mode & 0o777 == 0o600
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            for _ in range(1200):
                if connection.connect_ex(str(place)) == 0:
                    break
                time.sleep(0.05)
            connection.sendall(b"GET /estimates HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
            assert connection.recv(100).startswith(b"HTTP/1.1 200")
        server.terminate()
    assert not place.exists()


@pytest.mark.claim("A server that is told to stop answers what it has received first.", "Server")
@pytest.mark.long
def test_a_request_in_progress_is_answered_after_the_server_was_told_to_stop(start_server, folder):
    """SIGTERM comes after half of the body; the reports are stored, and are there after the next start."""
    server, reports = start_server(folder, f"sqlite:///{folder}/reports.db"), reports_of(SURVEY, 200)
    body = body_of(reports)
    head = f"POST /reports HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/x-ndjson\r\ncontent-length: {len(body)}"
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(f"{head}\r\n\r\n".encode() + body[: len(body) // 2])
        time.sleep(0.5)
        server.process.terminate()
        time.sleep(0.5)
        assert server.process.poll() is None
        connection.sendall(body[len(body) // 2 :])
        answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    assert answer.startswith(b"HTTP/1.1 200")
    assert json.loads(answer.partition(b"\r\n\r\n")[2]) == {"accepted": 200, "duplicate": 0, "refused": []}
    server.process.wait(timeout=60)
    server.start()
    assert server.get("/estimates")["n"] == 200
    server.stop()


@pytest.mark.claim("SIGHUP makes the server read its tokens again, and the server goes on.", "Server")
@pytest.mark.long
def test_a_hangup_makes_the_server_read_its_tokens_again(start_server, folder):
    server, other = (
        start_server(folder, f"sqlite:///{folder}/reports.db"),
        {"authorization": "Bearer another-token-to-read"},
    )

    def hang_up(tokens, text):
        """Write the file of tokens, send the signal, and wait for a line of the log."""
        (folder / "tokens").write_text(tokens)
        before = (folder / "log").read_text().count(text)
        server.process.send_signal(signal.SIGHUP)
        for _ in range(1200):
            if (folder / "log").read_text().count(text) > before:
                return
            time.sleep(0.05)
        raise AssertionError((folder / "log").read_text())

    for _ in range(3):
        hang_up("read another-token-to-read\n", "the tokens were read again")
        assert server.get("/estimates", **other)["n"] == 0
        with pytest.raises(urllib.error.HTTPError, match="401"):
            server.get("/estimates")
    hang_up("nonsense\n", "the tokens stay as they were: ")
    assert server.get("/estimates", **other)["n"] == 0
    hang_up(f"read {READ}\n", "the tokens were read again")
    assert server.get("/estimates")["n"] == 0
    time.sleep(3.5)  # in which a signal that ends other commands would come again
    assert "Traceback" not in (folder / "log").read_text()
    server.stop()


@pytest.mark.claim("Slow and many connections do not stop others.", "Server")
@pytest.mark.long
def test_slow_and_many_connections_do_not_stop_others(start_server, folder):
    server = start_server(folder, f"sqlite:///{folder}/reports.db")
    slow = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(1000)]
    for connection in slow[:500]:
        connection.sendall(
            b"POST /reports HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/x-ndjson\r\n"
            b"content-length: 900\r\n\r\n{"
        )
    start = time.monotonic()
    assert send(server.url, reports_of(SURVEY, 100)).accepted == 100
    assert time.monotonic() - start < 20
    for connection in slow:
        connection.close()
    server.stop()


@pytest.mark.claim("The server answers 503 beyond 2,000 connections.", "Server")
@pytest.mark.long
def test_more_connections_than_the_limit_are_told_to_come_back(start_server, folder):
    """Also where processes may have 1,024 open files unless they ask for more."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, limits[1]))  # which the server inherits
    try:
        server = start_server(folder, f"sqlite:///{folder}/reports.db")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    report = reports_of(SURVEY, 1)
    silent = []
    try:
        for _ in range(1990):
            silent.append(socket.create_connection(("127.0.0.1", server.port)))
        assert send(server.url, report).accepted == 1
        for _ in range(20):
            silent.append(socket.create_connection(("127.0.0.1", server.port)))
        request = urllib.request.Request(
            f"{server.url}/reports", body_of(report), {"content-type": "application/x-ndjson"}
        )
        with pytest.raises(urllib.error.HTTPError, match="503"):
            urllib.request.urlopen(request, timeout=30)
    finally:
        for connection in silent:
            connection.close()
    assert send(server.url, report).duplicate == 1
    server.stop()


@pytest.mark.long
@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_the_client_in_javascript_sends_until_the_server_has_confirmed(start_server, folder):
    pytest.importorskip("ziglang")
    package = build_package(folder / "package")
    server = start_server(folder, f"sqlite:///{folder}/reports.db")
    waves = [PANEL.in_wave(wave) for wave in (1, 2)]
    tables = [{"schema": one.client_schema(), "table": base64.b64encode(one.client_table()).decode()} for one in waves]
    environment = os.environ | {
        "WAVES": json.dumps(tables),
        "PACKAGE": str(package),
        "SERVER": server.url,
        "NOWHERE": f"http://127.0.0.1:{free_port()}",
    }
    command = ["node", "--test", Path(__file__).parent / "send.mjs"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout
    assert server.get("/estimates")["n"] == 3
    assert server.get("/health", **READER) == {"status": "ok"}
    server.stop()


@each(
    "change, text",
    [
        ({"url": "ftp://a"}, "url must begin with"), ({"url": "localhost:8000"}, "url must begin with"),
        ({"reports": [b"message"]}, "reports must be results"), ({"attempts": 0}, "attempts must be"),
        ({"attempts": 1.5}, "attempts must be"), ({"timeout": 0.0}, "timeout must be"),
        ({"timeout": float("nan")}, "timeout must be"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused_before_anything_is_sent(change, text):
    arguments = {"url": f"http://127.0.0.1:{free_port()}", "reports": reports_of(SURVEY, 1), **change}
    with pytest.raises((TypeError, ValueError), match=text):
        send(arguments.pop("url"), arguments.pop("reports"), **arguments)


def test_no_reports_need_no_server():
    assert send(f"http://127.0.0.1:{free_port()}", []) == Sent(0, 0, {})


@pytest.mark.long
def test_servers_may_start_at_once_on_a_new_database(folder, database):
    """Each finds a complete database of one version, and the same new token."""
    command = [sys.executable, "-m", "ldpfast", "serve", "survey.toml", "--database", database, "--check"]
    for _ in range(3):
        starting = [
            subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for _ in range(6)
        ]
        outputs = [process.communicate(timeout=60)[0].decode() for process in starting]
        assert [process.returncode for process in starting] == [0] * 6, outputs
        assert all("ready to serve" in output for output in outputs)
        assert len((folder / "ldpfast-tokens").read_text().split()) == 2
        assert [path.name for path in folder.glob(".ldpfast-tokens*")] == []
        (folder / "ldpfast-tokens").unlink()
        store = Store(ServerPlan.of(SURVEY, None, None), database, is_new=False)
        with store.write() as connection:
            assert connection.scalars(sa.text("SELECT version FROM ldpfast")).all() == [VERSION]
            metadata.drop_all(connection)
        store.close()
