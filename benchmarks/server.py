"""Load on a real server on this machine: reports per second, one by one and in batches, bytes for each, and the times of
estimates and of a restart.

The clients are asynchronous sockets in processes of their own on the same processors. Each report has a fresh id; its message
is one of a few.

    python benchmarks/server.py                       # SQLite in a temporary folder
    python benchmarks/server.py --database postgresql+psycopg://...
    python benchmarks/server.py --posts 800 --reports 10000000
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from ldpfast.survey import Choice, Mean, Survey, YesNo

SURVEY = Survey(
    {
        "smokes": YesNo(optional=True),
        "sleep": Mean(0, 12, optional=True),
        "work": Choice(["a", "b", "c"], optional=True),
    },
    2.0,
)
GROUPS = [f"group {i}" for i in range(20)]
TOKEN = "token-of-the-benchmark"


def frames(messages: list[bytes], count: int) -> bytes:
    """Return a body of reports with fresh ids."""
    parts = []
    for i in range(count):
        label = GROUPS[i % len(GROUPS)].encode()
        frame = secrets.token_bytes(16) + bytes([len(label)]) + label + messages[i % len(messages)]
        parts.append(len(frame).to_bytes(4, "little") + frame)
    return b"".join(parts)


async def client(port: int, bodies: list[bytes]) -> None:
    """Post bodies over one connection, one after the other."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for body in bodies:
        head = (
            "POST /reports HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/octet-stream\r\n"
            f"content-length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 200"), answer
        length = next(line for line in answer.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        found = json.loads(await reader.readexactly(int(length.split(b":")[1])))
        assert found["refused"] == []
    writer.close()


def load(port: int, connections: int, posts: int, count: int, ready: Any, times: Any) -> None:
    """Post from several connections at once, when all processes are ready, and tell when it began and ended."""
    one = SURVEY.client()
    messages = [one.report({"smokes": i % 2 == 0, "sleep": i % 12, "work": "abc"[i % 3]}).message for i in range(60)]
    bodies = [[frames(messages, count) for _ in range(posts)] for _ in range(connections)]

    async def run() -> None:
        await asyncio.gather(*(client(port, own) for own in bodies))

    ready.wait()
    start = time.time()
    asyncio.run(run())
    times.put((start, time.time()))


def measure(port: int, processes: int, connections: int, posts: int, count: int) -> float:
    """Return the reports per second."""
    context = multiprocessing.get_context("spawn")
    ready, times = context.Barrier(processes), context.Queue()
    arguments = (port, connections, posts, count, ready, times)
    tasks = [context.Process(target=load, args=arguments) for _ in range(processes)]
    for task in tasks:
        task.start()
    for task in tasks:
        task.join()
        assert task.exitcode == 0
    found = [times.get() for _ in tasks]
    return processes * connections * posts * count / (max(end for _, end in found) - min(start for start, _ in found))


def get(port: int, path: str) -> bytes:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(request, timeout=60) as response:
        return bytes(response.read())


def start(command: Sequence[str], port: int) -> tuple[subprocess.Popen[bytes], float]:
    """Start the server, and return it with the seconds until it answers."""
    begin = time.perf_counter()
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while True:
        try:
            get(port, "/health")
            return server, time.perf_counter() - begin
        except OSError:
            if server.poll() is not None:
                raise RuntimeError("the server does not start") from None
            time.sleep(0.02)


def stop(server: subprocess.Popen[bytes]) -> None:
    server.terminate()
    server.wait()


def stored(url: str) -> int:
    """Return the bytes of a database: the file with its log, or all tables and indexes."""
    parsed = sa.make_url(url)
    if parsed.get_backend_name() == "sqlite":
        path = Path(str(parsed.database))
        return sum(part.stat().st_size for part in path.parent.glob(f"{path.name}*"))
    engine = sa.create_engine(parsed)
    with engine.connect() as connection:
        found = connection.scalar(sa.text("SELECT pg_database_size(current_database())"))
    engine.dispose()
    return int(found)


def memory(server: subprocess.Popen[bytes], name: str) -> str:
    """Return an entry of the memory of a process in MB, where the system has it."""
    path = Path(f"/proc/{server.pid}/status")
    if not path.exists():
        return "? MB"
    entry = next(line for line in path.read_text().splitlines() if line.startswith(name))
    return f"{int(entry.split()[1]) / 1024:.0f} MB"


def print_estimates(port: int) -> None:
    begin = time.perf_counter()
    found = json.loads(get(port, "/estimates?by=group"))
    seconds = time.perf_counter() - begin
    print(f"estimates of {found['n']:,} reports by {len(found['groups'])} groups: {seconds:.2f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", help="URL of an empty database")
    parser.add_argument("--posts", type=int, default=60, help="one by one, of each of 128 connections (%(default)s)")
    parser.add_argument("--reports", type=int, default=400_000, help="in batches (%(default)s)")
    parser.add_argument("--connections", type=int, default=64, help="that send batches, an even number (%(default)s)")
    parser.add_argument("--keep-messages", action="store_true", help="do not fold messages into counts")
    arguments = parser.parse_args()
    if arguments.connections < 2 or arguments.connections % 2:
        parser.error(f"--connections must be even and at least 2, got {arguments.connections}")
    if arguments.reports < 1000 * arguments.connections:
        parser.error(f"--reports must be at least 1,000 for each connection, got {arguments.reports}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "survey.toml").write_text(f"groups = {json.dumps(GROUPS)}\n{SURVEY.to_toml()}")
        (folder / "tokens").write_text(f"read {TOKEN}\n")
        url = arguments.database or f"sqlite:///{folder}/reports.db"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [sys.executable, "-m", "ldpfast", "serve", f"{folder}/survey.toml", "--port", str(port)]
        command += ["--token-file", f"{folder}/tokens", "--database", url]
        command += ["--keep-messages"] * arguments.keep_messages
        server, _ = start(command, port)
        try:
            before, n = stored(url), 128 * arguments.posts
            print(
                f"one by one, 128 connections: {measure(port, 1, 128, arguments.posts, 1):,.0f} reports per second",
                flush=True,
            )
            print(f"stored while the server runs: {(stored(url) - before) / n:,.0f} bytes per report", flush=True)
            each = arguments.connections // 2
            rate = measure(port, 2, each, arguments.reports // (2000 * each), 1000)
            print(f"in batches of 1,000, {2 * each} connections: {rate:,.0f} reports per second", flush=True)
            print(f"stored while the server runs: {stored(url) / 1e6:,.1f} MB", flush=True)
            time.sleep(15)  # until everything is folded
            print_estimates(port)
            print(f"peak memory of the server: {memory(server, 'VmHWM')}", flush=True)
            stop(server)
            print(f"stored after a stop: {stored(url) / 1e6:,.1f} MB", flush=True)
            server, seconds = start(command, port)
            print(f"restart: {seconds:.2f} s, then {memory(server, 'VmRSS')}", flush=True)
            print_estimates(port)
        finally:
            stop(server)


if __name__ == "__main__":
    main()
