"""Client and server in two processes that exchange bytes through pipes."""

from __future__ import annotations

import os
import subprocess
import sys

from .process import SOURCE

# The beginning of each program. A message is its length, followed by its bytes.
FRAMES = """
import json, struct, sys, warnings
import numpy as np
import ldpfast as ldp

warnings.simplefilter("ignore", ldp.SmallSampleWarning)

def send(data):
    sys.stdout.buffer.write(struct.pack("<I", len(data)) + data)
    sys.stdout.buffer.flush()

def receive():
    (size,) = struct.unpack("<I", sys.stdin.buffer.read(4))
    return sys.stdin.buffer.read(size)
"""


def run_client_and_server(client: tuple[str, ...], server: tuple[str, ...]) -> bytes:
    """Run two programs with their arguments, where the standard output of each is the input of the other.

    Return the standard error of the server. The client must not write to its standard error.
    """
    to_client, to_server = os.pipe(), os.pipe()
    environment = dict(os.environ, PYTHONPATH=str(SOURCE))
    ends = ((server, to_server[0], to_client[1]), (client, to_client[0], to_server[1]))
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", *code], stdin=read, stdout=write, stderr=subprocess.PIPE, env=environment
        )
        for code, read, write in ends
    ]
    for end in (*to_client, *to_server):
        os.close(end)
    try:
        (result, complaint) = (process.communicate(timeout=300)[1] for process in processes)
    finally:
        for process in processes:
            process.kill()
    assert [process.returncode for process in processes] == [0, 0], (result + complaint).decode(errors="replace")
    assert complaint == b""
    return result
