"""The page of the server, as a reader follows it: the commands, the program in Python, and the web page in a browser."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from ldpfast.cli import main

from ..support.clients import build_package
from ..support.process import ROOT

PAGE = (ROOT / "docs" / "server.md").read_text()


def block(language: str, containing: str = "") -> str:
    found = [text for text in re.findall(rf"```{language}\n(.*?)```", PAGE, re.S) if containing in text]
    assert len(found) == 1
    return found[0]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.fixture
def site(tmp_path):
    """A server of web pages for a folder, and its address."""
    folder = tmp_path / "site"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder)) as pages:
        thread = threading.Thread(target=pages.serve_forever)
        thread.start()
        yield folder, f"http://127.0.0.1:{pages.server_address[1]}"
        pages.shutdown()
        thread.join()


def test_the_web_page_has_the_fingerprint_of_the_table(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "survey.toml").write_text(block("toml", "groups"))
    assert main(block("sh", "ldpfast table").split()[1:]) == 0
    (written,) = re.findall('fingerprint = "(.*)"', block("html"))
    assert capsys.readouterr().out == f"{written}  survey.table\n"


@pytest.mark.long
@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_the_commands_of_the_page(start_server, tmp_path):
    assert block("sh", "--port").startswith("ldpfast serve survey.toml --port 8000 ")
    (tmp_path / "survey.toml").write_text(block("toml", "groups"))
    server = start_server(tmp_path, f"sqlite:///{tmp_path}/reports.db")
    (tmp_path / "tokens").rename(tmp_path / "ldpfast-tokens")

    def here(text: str) -> str:
        return text.replace("http://127.0.0.1:8000", server.url)

    run = functools.partial(subprocess.run, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    printed = run([sys.executable, "-c", here(block("python"))]).stdout
    assert printed == block("text")
    rows = run(["bash", "-c", here(block("sh", "curl"))]).stdout.splitlines()
    assert rows[0] == "question,answer,estimate,stderr,low,high,n,group"
    assert {row.rsplit(",", 1)[1] for row in rows[1:]} == {"south"}
    server.stop()


def test_the_commands_of_the_calendar(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = block("toml", "[calendar]")
    plan, check, serve = block("sh", "weekly.toml").splitlines()
    for command, start, shown in (
        (plan, "2027-01-04", "   1  2027-01-04 00:00 UTC  2027-01-11 00:00 UTC  2027-01-12 00:00 UTC"),
        (check, datetime.now(UTC).date().isoformat(), "ready to serve: wave 1 opens at "),
    ):
        (tmp_path / "weekly.toml").write_text(text.replace("2027-01-04", start))
        assert main(command.split()[1:]) == 0
        assert shown in capsys.readouterr().out
    assert f"{serve} --check" == check


@pytest.mark.long
@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Chromium")
def test_the_web_page_sends_a_report_and_the_page_of_the_server_shows_it(start_server, tmp_path, site):
    pytest.importorskip("ziglang")
    folder, address = site
    build_package(folder)
    (tmp_path / "survey.toml").write_text(block("toml", "groups"))
    server = start_server(tmp_path, f"sqlite:///{tmp_path}/reports.db", "--origin", address)
    click = '<script>setTimeout(() => document.querySelector("button").click(), 3000)</script></html>'
    page = block("html").replace("http://127.0.0.1:8000", server.url).replace("</html>", click)
    (folder / "page.html").write_text(page)
    command = [
        "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
        "--disable-dev-shm-usage", f"--user-data-dir={tmp_path / 'profile'}", "--remote-debugging-port=0",
        f"{address}/page.html",
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as browser:
        try:
            for _ in range(300):
                found = server.get("/estimates?by=group")
                if found["n"]:
                    break
                time.sleep(0.2)
        finally:
            browser.terminate()
    assert {label: part["n"] for label, part in found["groups"].items()} == {"north": 1}
    server.stop()
