"""What the server logs: that it starts, stops and works, and nothing about reports and who sends them."""

from __future__ import annotations

import base64
import json
import re
import socket
import urllib.error
import urllib.request

import pytest
import sqlalchemy as sa
import uvicorn

from ldpfast.cli import main

from ..support.server import LINES, READ, SURVEY, WRITE, body_of, frame_of, reports_of
from .test_app import served

LEVEL = r"(INFO|WARNING): +"
LINE = re.compile(
    rf"a token for reading was written to .*|{LEVEL}(Started server process \[\d+\]|Waiting for application startup\."
    r"|Application startup complete\.|Uvicorn running on http://127\.0\.0\.1:\d+ \(Press CTRL\+C to quit\)"
    r"|Invalid HTTP request received\.|Unsupported upgrade request\.|No supported WebSocket library detected\. Please use "
    r"\"pip install 'uvicorn\[standard\]'\", or install 'websockets' or 'wsproto' manually\.|Shutting down"
    r"|Waiting for application shutdown\."
    r"|Application shutdown complete\.|Finished server process \[\d+\])|ldpfast: stopped by SIGTERM"
)
UPGRADE = (
    "GET /reports?from=patient-4711 HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nX-Forwarded-For: 203.0.113.77\r\n\r\n"
)


def answer_to(port, request):
    """Send bytes to a server, and return the address that they come from."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(4096):
            pass
        return connection.getsockname()


@pytest.mark.claim("The log of the server has no address, request, id, report or token.", "Server")
@pytest.mark.long
def test_a_log_has_neither_reports_nor_addresses(start_server, tmp_path):
    """Each line is one of a few, after valid, repeated, damaged and forged reports, and requests that are none."""
    (tmp_path / "survey.toml").write_text(SURVEY.to_toml())
    server = start_server(tmp_path, f"sqlite:///{tmp_path}/reports.db")
    reports = reports_of(SURVEY, 20)
    conflict, damaged = reports[1]._replace(message=reports[2].message), reports[3]._replace(message=b"\1damaged")
    frames = b"".join(map(frame_of, reports))
    for body, kind in (
        (body_of([*reports, *reports, conflict, damaged]), LINES),
        (frames, {"content-type": "application/octet-stream"}),
        (b'{"id": "patient-4711"}', LINES),
        (b"\0" * 100, {"content-type": "application/octet-stream"}),
        (b"patient-4711", {"content-type": "text/patient-4711"}),
    ):
        request = urllib.request.Request(f"{server.url}/reports", body, kind)
        try:
            urllib.request.urlopen(request, timeout=10).close()
        except urllib.error.HTTPError as error:
            error.close()
    for path in ("/estimates", "/patient-4711", "/survey/4711"):
        for token in (READ, WRITE):
            try:
                assert server.get(path, authorization=f"Bearer {token}")["n"] == len(reports)
            except urllib.error.HTTPError as error:
                error.close()
    for sent in (UPGRADE.encode(), b"patient-4711 from 203.0.113.77\r\n\r\n"):
        answer_to(server.port, sent)
    server.stop()
    text = (tmp_path / "log").read_text()
    assert [line for line in text.splitlines() if not LINE.fullmatch(line)] == []
    assert "Invalid HTTP request received." in text  # the requests came so far


def test_the_server_is_started_without_a_log_of_requests(tmp_path, monkeypatch, capsys):
    """A request for a web socket, which nobody needs, would be logged with its address and path."""
    started = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets=None: started.append(self.config))
    monkeypatch.setattr(uvicorn.Config, "configure_logging", lambda self: None)  # it would stay for other tests
    monkeypatch.chdir(tmp_path)
    (tmp_path / "survey.toml").write_text(SURVEY.to_toml())
    assert main(["serve", "survey.toml"]) == 0
    (config,) = started
    config.load()
    assert config.ws_protocol_class is None
    assert not config.access_log
    assert not config.proxy_headers


def test_an_error_of_the_database_does_not_show_what_was_written(tmp_path):
    """They are logged with a traceback, and those of SQLAlchemy have the parameters unless told otherwise."""
    (report,) = reports_of(SURVEY, 1)
    with served(tmp_path) as client:
        store = client.app.state.store
        for begin in (store.write, store.read):
            with pytest.raises(sa.exc.OperationalError, match="no such table") as failure, begin() as connection:
                connection.execute(sa.text("INSERT INTO nowhere VALUES (:id)"), {"id": report.id.hex()})
            assert report.id.hex() not in str(failure.value)


def test_the_lines_that_are_allowed_have_no_room_for_a_report():
    report = reports_of(SURVEY, 1)[0]
    texts = (
        report.id.hex(),
        base64.b64encode(report.message).decode(),
        json.dumps(list(report.message)),
        "203.0.113.77:9",
    )
    for line in ("Shutting down", 'GET /reports HTTP/1.1" 200', "connection rejected (403 Forbidden)"):
        for text in texts:
            assert not LINE.fullmatch(f"INFO:     {line} {text}")
            assert not LINE.fullmatch(f"INFO:     {text} {line}")
