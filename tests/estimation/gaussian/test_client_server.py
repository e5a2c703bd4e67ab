"""Clients and server in processes of their own, which exchange only bytes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from ldpfast.estimation import GaussianMean

from ...support.gaussian import PROTOCOLS, quiet
from ...support.pipes import FRAMES, run_client_and_server
from ...support.statistics import assert_counts, normal_margin

pytestmark = pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning", "ignore::ldpfast.DoubtfulWarning")

CLIENTS = (
    FRAMES
    + """
plan, people = json.loads(sys.argv[1]), json.loads(sys.argv[2])
records = np.random.default_rng(people["seed"]).normal(people["mu"], people["sigma"], people["n"])
rng, coins = np.random.default_rng(9), np.random.default_rng(10)
for sizes in plan:
    queries = [ldp.Query.from_bytes(receive()) for _ in sizes]
    asked = [(group, records[i]) for i, group in enumerate(np.repeat(np.arange(len(sizes)), sizes))]
    records = records[len(asked):]
    for i in rng.permutation(len(asked)):
        group, record = asked[i]
        if rng.random() < 0.3:
            continue
        report = queries[group].privatize(record, rng=coins)
        send(struct.pack("<qB", queries[group].serial, int(report)))
    send(b"")
assert len(records) == 0
assert not [name for name in sys.modules if name.startswith("ldpfast.estimation")]
"""
)
SERVER = (
    FRAMES
    + """
warnings.simplefilter("ignore", ldp.DoubtfulWarning)
server = ldp.estimation.GaussianMean(**json.loads(sys.argv[1]))
for _ in range(server.rounds):
    queries = {q.serial: q for q in map(server.query, range(server.groups))}
    for query in queries.values():
        send(query.to_bytes())
    answers = {serial: [] for serial in queries}
    while message := receive():
        serial, report = struct.unpack("<qB", message)
        answers[serial].append(report)
    for serial, reports in answers.items():
        server.update(queries[serial], np.array(reports, np.uint8))
    server = ldp.estimation.GaussianMean.from_bytes(server.to_bytes())
    server.close_round()
estimate = server.estimate()
facts = [estimate.value, estimate.stderr, estimate.n, estimate.center, estimate.kappa]
print(json.dumps([facts, server.to_bytes().hex()]), file=sys.stderr)
"""
)


@pytest.mark.long
@pytest.mark.parametrize("name", ["robust-known-2", "robust-unknown-1"])
def test_processes_give_the_state_of_one_process(name):
    """Answers are in random order, and 30 percent are missing.

    The server process has its parameters, the queries and the reports. Only the process of the clients has the
    distribution of the records.
    """
    people = {"seed": 5, "mu": -7.7, "sigma": 2.0, "n": 12_000}
    arguments = {"epsilon": 2.0, "mu_bound": 100.0, **PROTOCOLS[name]}
    sizes = GaussianMean(**arguments).plan(people["n"]).rounds
    result = run_client_and_server((CLIENTS, json.dumps(sizes), json.dumps(people)), (SERVER, json.dumps(arguments)))
    (value, stderr, n, center, kappa), data = json.loads(result)
    assert_counts(n, people["n"], 0.7, detects=0.03)
    assert abs(value + 7.7) < normal_margin() * stderr < 3
    remote = GaussianMean.from_bytes(bytes.fromhex(data))
    local, rng, coins = GaussianMean(**arguments), np.random.default_rng(9), np.random.default_rng(10)
    records = np.random.default_rng(people["seed"]).normal(people["mu"], people["sigma"], people["n"])
    for groups in sizes:
        queries = [local.query(group) for group in range(local.groups)]
        asked = [(group, records[i]) for i, group in enumerate(np.repeat(np.arange(len(groups)), groups))]
        records = records[len(asked) :]
        for i in rng.permutation(len(asked)):
            group, record = asked[i]
            if rng.random() >= 0.3:
                local.update(queries[group], queries[group].privatize(record, rng=coins))
        local.close_round()
    assert local.to_bytes() == remote.to_bytes()
    estimate = quiet(local.estimate)
    assert [estimate.value, estimate.stderr, estimate.n, estimate.center, estimate.kappa] == [
        value,
        stderr,
        n,
        center,
        kappa,
    ]
