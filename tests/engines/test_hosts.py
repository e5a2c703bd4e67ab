"""A Dask cluster on two hosts: network namespaces with separate folders, which share nothing but a link."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import ldpfast as ldp

from ..support.surveys import SURVEYS, people
from .conftest import SECRET

SURVEY = SURVEYS["three"]
HOSTS = {"ldpfast-a": "10.213.7.1", "ldpfast-b": "10.213.7.2"}
SCHEDULER = f"tcp://{HOSTS['ldpfast-a']}:8786"

CLIENT = textwrap.dedent(
    """
    import sys
    import dask
    import numpy as np
    from dask.distributed import Client
    from ldpfast.reports import Aggregator
    import ldpfast.dask

    SECRET, folder, scheduler = bytes(range(32)), sys.argv[1], sys.argv[2]
    survey = Aggregator.from_bytes(open(f"{folder}/empty", "rb").read()).survey
    table = dict(np.load(f"{folder}/people.npz"))
    parts = np.array_split(np.arange(len(table["id"])), 6)
    tables = [dask.delayed({name: values[rows] for name, values in table.items()}) for rows in parts]
    with Client(scheduler, timeout=120) as client:
        client.wait_for_workers(2, timeout=120)
        found = ldpfast.dask.aggregate(tables, survey, person="id", key=SECRET)
        addresses = sorted(client.scheduler_info()["workers"])
    open(f"{folder}/found", "wb").write(found.to_bytes())
    print(*addresses)
    """
)


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture
def hosts() -> Iterator[None]:
    """Two network namespaces that are connected by a link. They need root and the package iproute2."""
    first, second = HOSTS
    for name in HOSTS:
        subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
        run("ip", "netns", "add", name)
    try:
        run(
            "ip", "link", "add", "ldpfast0", "netns", first, "type", "veth", "peer", "name", "ldpfast0", "netns", second
        )
        for name, address in HOSTS.items():
            inside = ("ip", "-n", name)
            run(*inside, "addr", "add", f"{address}/24", "dev", "ldpfast0")
            run(*inside, "link", "set", "ldpfast0", "up")
            run(*inside, "link", "set", "lo", "up")
        yield
    finally:
        for name in HOSTS:
            run("ip", "netns", "del", name)


def start(host: str, folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a process of Dask on a host, in a folder of its own, with its own folder for temporary files."""
    folder.mkdir(exist_ok=True)
    environment = {**os.environ, "TMPDIR": str(folder), "DASK_TEMPORARY_DIRECTORY": str(folder)}
    command = ["ip", "netns", "exec", host, sys.executable, *arguments]
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT)


@pytest.mark.claim("With personal keys, workers on two hosts give the bytes of one process.", "Engines")
@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_workers_on_two_hosts_give_the_bytes_of_one_process(hosts, tmp_path):
    n = 20_000
    table = {**people(n), "id": np.arange(n)}
    folders = {name: tmp_path / name for name in ("scheduler", "first", "second", "client")}
    processes = [
        start("ldpfast-a", folders["scheduler"], "-m", "distributed.cli.dask_scheduler", "--host", HOSTS["ldpfast-a"],
              "--port", "8786", "--no-dashboard"),
        *(
            start(host, folders[name], "-m", "distributed.cli.dask_worker", SCHEDULER, "--host", address,
                  "--nthreads", "1", "--no-dashboard", "--no-nanny", "--death-timeout", "120")
            for (host, address), name in zip(HOSTS.items(), ("first", "second"), strict=True)
        ),
    ]  # fmt: skip
    client = folders["client"]
    client.mkdir()
    np.savez(client / "people.npz", **table)
    (client / "empty").write_bytes(SURVEY.aggregator().to_bytes())
    (client / "client.py").write_text(CLIENT)
    try:
        asking = start("ldpfast-a", client, str(client / "client.py"), str(client), SCHEDULER)
        processes.append(asking)
        deadline = time.monotonic() + 300
        while asking.poll() is None and time.monotonic() < deadline:
            time.sleep(0.5)
        log = (client / "log").read_text()
        assert asking.poll() == 0, log
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert all(address in log for address in HOSTS.values())
    expected = SURVEY.collect(table, rng=ldp.PersonKeys(SECRET, "id"))
    assert (client / "found").read_bytes() == expected.to_bytes()
