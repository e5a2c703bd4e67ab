"""Client and server in processes of their own, which exchange only bytes."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.estimation import MedianSGD, VectorMean

from ...support.examples import assert_same_estimate
from ...support.pipes import FRAMES, run_client_and_server

N = 300

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
server = ldp.estimation.MedianSGD(2.0, lower=0, upper=100)
for _ in range(int(sys.argv[1])):
    query = server.query()
    send(query.to_bytes())
    (report,) = np.frombuffer(receive(), np.uint8)
    server.update(query, report)
estimate = server.estimate()
print(json.dumps([server.position, *estimate.interval(), estimate.value, estimate.n]), file=sys.stderr)
"""
)

PROBLEM = """VectorMean(5, 2.0, norm="linf", lower=0.0, upper=[1, 2, 3, 4, 5])"""
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


@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
def test_median_between_two_processes():
    """The positions equal those of one process. Records stay in the process of the client."""
    records = np.random.default_rng(3).normal(60, 20, N).tolist()
    result = json.loads(run_client_and_server((MEDIAN_CLIENT, json.dumps(records)), (MEDIAN_SERVER, str(N))))
    server, rng = MedianSGD(2.0, lower=0, upper=100), np.random.default_rng(1)
    for record in records:
        query = server.query()
        server.update(query, query.privatize(record, rng=rng))
    estimate = server.estimate()
    assert result == [server.position, *estimate.interval(), estimate.value, N]


@pytest.mark.long
def test_vector_mean_between_two_processes():
    """Counts of the server process are restored from bytes and merged with other counts."""
    problem = eval(PROBLEM, {"VectorMean": VectorMean})
    records = np.random.default_rng(4).uniform(-1, 6, (N, 5)).tolist()
    data = run_client_and_server((VECTOR_CLIENT, json.dumps(records)), (VECTOR_SERVER, ""))
    rng = np.random.default_rng(2)
    reports = np.array([problem.privatize(record, rng=rng, clip=True) for record in records])
    local = problem.aggregator().update(reports[:100])
    remote = ldp.Aggregator.from_bytes(data)
    assert_same_estimate(problem.estimate(remote), problem.estimate(reports))
    assert remote.to_bytes() == data
    assert_same_estimate(
        problem.estimate(local.merge(remote)), problem.estimate(np.concatenate([reports, reports[:100]]))
    )
