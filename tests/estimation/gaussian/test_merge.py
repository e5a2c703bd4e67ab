"""Merging of several servers."""

from __future__ import annotations

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.estimation import GaussianMean, MedianSGD
from ldpfast.reports import aggregator_with

from ...support.cases import each
from ...support.errors import raises
from ...support.gaussian import KNOWN, N, answer, answer_round, assert_same_gaussian, make, normals, quiet

pytestmark = pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning", "ignore::ldpfast.DoubtfulWarning")


def shards_of(options, seed, parts=3):
    """A server with the answers of all people, and servers with the answers of a part each."""
    whole, shards = make(options, n=N), [make(options, n=N) for _ in range(parts)]
    for group in range(whole.groups):
        query = whole.query(group)
        for i, server in enumerate(shards):
            report = query.privatize(normals(500 + 100 * i, seed=seed + i), rng=100 * group + i)
            server.update(server.query(group), report)
            whole.update(query, report)
    return whole, shards


def test_merged_shards_equal_one_server(options):
    """In any order, through bytes, in both rounds."""
    whole, shards = shards_of(options, 1)
    merged = (
        GaussianMean.from_bytes(shards[2].to_bytes())
        .merge(shards[0])
        .merge(GaussianMean.from_bytes(shards[1].to_bytes()))
    )
    assert merged.to_bytes() == whole.to_bytes()
    if whole.rounds == 2:
        data = whole.close_round().to_bytes()
        assert merged.close_round().to_bytes() == data
        servers = [GaussianMean.from_bytes(data) for _ in range(3)]
        for group in range(whole.groups):
            for i, server in enumerate(servers):
                query = server.query(group)
                report = query.privatize(normals(700, seed=50 + i), rng=10 * group + i)
                server.update(query, report)
                whole.update(whole.query(group), report)
        merged = servers[1].merge(servers[2]).merge(servers[0])
        assert merged.to_bytes() == whole.to_bytes()
        assert merged.n == whole.n
    assert_same_gaussian(quiet(merged.estimate), quiet(whole.estimate))


OTHERS = [
    {"epsilon": 1.5},
    {"mu_bound": 101.0},
    {"beta": 0.01},
    {"method": "robust-pairs"},
    {"n": N + 1},
    {"rounds": 1},
    {"method": "paper"},
    {"sigma": 2.5},
    {"sigma": None, "sigma_bounds": (1.0, 2.0)},
]


@each("change", OTHERS, ids=str)
def test_servers_with_other_parameters_do_not_merge(change):
    server = answer(make(KNOWN, n=N), 0, 50)
    other = answer(GaussianMean(**{"epsilon": 1.0, "sigma": 2.0, "mu_bound": 100.0, "n": N, **change}), 0, 50)
    before = server.to_bytes(), other.to_bytes()
    message = f"other must have the same parameters: {server!r}, got {other!r}"
    with raises(ValueError, message):
        server.merge(other)
    assert (server.to_bytes(), other.to_bytes()) == before


def test_servers_in_other_states_do_not_merge():
    first, closed = answer_round(make(KNOWN)), answer_round(make(KNOWN)).close_round()
    elsewhere = answer_round(make(KNOWN), seed=5).close_round()
    for server, other, message in (
        (first, closed, r"^other must be in the same round, 0, got 1$"),
        (closed, first, r"^other must be in the same round, 1, got 0$"),
        (closed, elsewhere, r"^other must have closed the same rounds with the same answers$"),
    ):
        before = server.to_bytes(), other.to_bytes()
        with pytest.raises(ValueError, match=message):
            server.merge(other)
        assert (server.to_bytes(), other.to_bytes()) == before
    for other in (first.to_bytes(), None, ldp.Warner(1.0).aggregator(), MedianSGD(1.0, lower=0, upper=1)):
        with pytest.raises(TypeError, match=rf"^other must be a GaussianMean, got {type(other).__name__}$"):
            first.merge(other)


def test_merge_that_overflows_changes_nothing():
    """The overflow is in a later group."""
    server, other = answer(make(KNOWN), 0, 10), answer(make(KNOWN), 0, 10)
    for one in (server, other):
        group = one._open()[2]
        group.answers.merge(aggregator_with(group.question, [np.array([(1 << 61) + 5, 0, 0, 0])], (1 << 61) + 5))
    before = server.to_bytes(), other.to_bytes()
    with pytest.raises(ValueError, match=r"^an aggregator must hold fewer than 2\^62 reports"):
        server.merge(other)
    assert (server.to_bytes(), other.to_bytes()) == before


def test_server_does_not_merge_with_itself():
    server = answer(make(KNOWN), 0, 10)
    before = server.to_bytes()
    with pytest.raises(ValueError, match=r"^other must be another server: its answers would count twice$"):
        server.merge(server)
    assert server.to_bytes() == before
