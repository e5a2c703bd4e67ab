"""Servers and databases for tests: real processes in a temporary folder."""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ldpfast.survey import Mean, Report, Survey, YesNo

SURVEY = Survey({"smokes": YesNo(optional=True), "sleep": Mean(0, 12, optional=True)}, 4.0, series="health")
PANEL = Survey({"smokes": YesNo(optional=True)}, 4.0, series="weeks", waves=3, turns=3)
READ, WRITE = "a-token-for-reading", "a-token-for-writing"
LINES = {"content-type": "application/x-ndjson"}
READER = {"authorization": f"Bearer {READ}"}


def reports_of(survey: Survey, n: int) -> list[Report]:
    """Return reports of n people."""
    client = survey.client()
    return [client.report({"smokes": i % 3 == 0, "sleep": i % 12}) for i in range(n)]


def line_of(report: Report, group: str | None = None) -> str:
    """Return a report as a line of JSON."""
    data = {"id": report.id.hex(), "message": base64.b64encode(report.message).decode()}
    return json.dumps(data if group is None else {**data, "group": group})


def body_of(reports: list[Report], group: str | None = None) -> bytes:
    return "\n".join(line_of(report, group) for report in reports).encode()


def frame_of(report: Report, label: bytes = b"") -> bytes:
    """Return a report as a frame."""
    whole = report.id + bytes([len(label)]) + label + report.message
    return len(whole).to_bytes(4, "little") + whole


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Server:
    """A server in a process of its own, for a folder with survey.toml, or with files of several versions."""

    def __init__(
        self,
        folder: Path,
        database: str,
        *options: str,
        surveys: Sequence[str] = ("survey.toml",),
        **environment: str,
    ) -> None:
        self.folder, self.port, self._environment = folder, free_port(), os.environ | environment
        (folder / "tokens").write_text(f"read {READ}\n")
        command = [sys.executable, "-m", "ldpfast", "serve", *(folder / name for name in surveys), "--port", self.port]
        command += ["--database", database, "--token-file", folder / "tokens", *options]
        self._command = list(map(str, command))
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                self._command, stdout=log, stderr=log, cwd=self.folder, env=self._environment
            )
        for _ in range(1200):  # a minute and more, for a busy machine
            try:
                with urllib.request.urlopen(f"{self.url}/health", timeout=5):
                    return
            except OSError:
                assert self.process.poll() is None, (self.folder / "log").read_text()
                time.sleep(0.05)
        self.kill()
        raise AssertionError((self.folder / "log").read_text())

    def kill(self) -> None:
        """End the process at once, as a power cut does for what it has in memory."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=300)

    def get(self, path: str, **headers: str) -> Any:
        request = urllib.request.Request(f"{self.url}{path}", headers={**READER, **headers})
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)


def postgres_programs() -> Path | None:
    """Return the folder of the programs of PostgreSQL; None if it is not installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    initdb = shutil.which("initdb")
    return None if initdb is None else Path(initdb).parent


@contextmanager
def postgres() -> Iterator[str]:
    """Run PostgreSQL in a folder of its own and yield the URL of an empty database."""
    programs, port, prefix = postgres_programs(), free_port(), []
    assert programs is not None
    with tempfile.TemporaryDirectory(
        prefix="ldpfast-postgres-"
    ) as folder:  # not below a folder that only root can enter
        if os.geteuid() == 0:  # PostgreSQL does not run as root
            prefix = ["runuser", "-u", "postgres", "--"]
            shutil.chown(folder, "postgres")

        def run(*command: Any) -> None:
            given = [*prefix, *map(str, command)]
            subprocess.run(given, check=True, stdout=subprocess.DEVNULL, cwd=folder, timeout=120)

        data = Path(folder) / "data"
        run(programs / "initdb", "-D", data, "-U", "ldpfast", "-A", "trust")
        options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1"
        run(programs / "pg_ctl", "-D", data, "-o", options, "-l", Path(folder) / "log", "-w", "start")
        try:
            yield f"postgresql+psycopg://ldpfast@127.0.0.1:{port}/postgres"
        finally:
            run(programs / "pg_ctl", "-D", data, "-m", "immediate", "stop")
