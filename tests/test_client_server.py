"""People and servers in processes of their own, with nothing between them but bytes in pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.estimation import MedianSGD, VectorMean

from .support.examples import assert_same_estimate

HOME = str(Path(ldp.__file__).parent.parent)
PEOPLE = 300

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

MEDIAN_CLIENT = (
    FRAMES
    + """
rng = np.random.default_rng(1)
for record in json.loads(sys.argv[1]):
    query = ldp.Query.from_bytes(receive())
    send(query.privatize(record, rng=rng).tobytes())
assert not [name for name in sys.modules if name.startswith("ldpfast.estimation")]
"""
)

MEDIAN_SERVER = (
    FRAMES
    + """
server = ldp.estimation.MedianSGD(2.0, 0, 100)
for _ in range(int(sys.argv[1])):
    query = server.query()
    send(query.to_bytes())
    (report,) = np.frombuffer(receive(), np.uint8)
    server.update(query, report)
estimate = server.estimate()
print(json.dumps([server.position, *estimate.interval(), estimate.value, estimate.n]), file=sys.stderr)
"""
)

PROBLEM = """VectorMean(5, 2.0, "linf", lower=0.0, upper=[1, 2, 3, 4, 5])"""

VECTOR_CLIENT = (
    FRAMES
    + f"""
problem = ldp.estimation.{PROBLEM}
rng = np.random.default_rng(2)
for record in json.loads(sys.argv[1]):
    send(problem.privatize(record, rng=rng, clip=True).tobytes())
send(b"")
"""
)

VECTOR_SERVER = (
    FRAMES
    + f"""
aggregator = ldp.estimation.{PROBLEM}.aggregator()
while report := receive():
    aggregator.update(np.frombuffer(report, np.uint8))
sys.stderr.buffer.write(aggregator.to_bytes())
"""
)


def converse(client: tuple[str, str], server: tuple[str, str]) -> bytes:
    """Two processes, each one's standard output the other's input. What the server has to say goes to its error stream."""
    questions, answers = os.pipe(), os.pipe()
    environment = dict(os.environ, PYTHONPATH=HOME)
    ends = ((server, answers[0], questions[1]), (client, questions[0], answers[1]))
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", *code], stdin=read, stdout=write, stderr=subprocess.PIPE, env=environment
        )
        for code, read, write in ends
    ]
    for end in (*questions, *answers):
        os.close(end)
    try:
        (said, complaint) = (process.communicate(timeout=60)[1] for process in processes)
    finally:
        for process in processes:
            process.kill()
    assert [process.returncode for process in processes] == [0, 0], (said + complaint).decode(errors="replace")
    assert complaint == b""
    return said


@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
def test_a_median_between_two_processes():
    """The same positions as in one process, and no record has been anywhere but with the client."""
    records = np.random.default_rng(3).normal(60, 20, PEOPLE).tolist()
    said = json.loads(converse((MEDIAN_CLIENT, json.dumps(records)), (MEDIAN_SERVER, str(PEOPLE))))
    server, rng = MedianSGD(2.0, 0, 100), np.random.default_rng(1)
    for record in records:
        query = server.query()
        server.update(query, query.privatize(record, rng=rng))
    estimate = server.estimate()
    assert said == [server.position, *estimate.interval(), estimate.value, PEOPLE]


def test_a_vector_mean_between_two_processes():
    """Reports go to a process that counts them, its counts come here, where they are put together with others."""
    problem = eval(PROBLEM, {"VectorMean": VectorMean})
    records = np.random.default_rng(4).uniform(-1, 6, (PEOPLE, 5)).tolist()
    data = converse((VECTOR_CLIENT, json.dumps(records)), (VECTOR_SERVER, ""))
    rng = np.random.default_rng(2)
    reports = np.array([problem.privatize(record, rng=rng, clip=True) for record in records])
    here = problem.aggregator().update(reports[:100])
    there = ldp.Aggregator.from_bytes(data)
    assert_same_estimate(problem.estimate(there), problem.estimate(reports))
    assert there.to_bytes() == data
    assert_same_estimate(
        problem.estimate(here.merge(there)), problem.estimate(np.concatenate([reports, reports[:100]]))
    )
