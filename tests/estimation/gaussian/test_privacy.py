"""Privacy of every question, and what the second questions depend on."""

from __future__ import annotations

import inspect
import math
import struct
from fractions import Fraction

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.estimation import GaussianMean, gaussian
from ldpfast.reports import aggregator_with, recipe_of

from ...support.cases import each
from ...support.gaussian import KNOWN, N, answer, make, normals, quiet
from ...support.internals.gaussian import distribution
from ...support.internals.mechanisms import LaplaceResidue
from ...support.internals.shared import coin_integers

pytestmark = pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning", "ignore::ldpfast.DoubtfulWarning")


@pytest.mark.claim("Every question about normal records is private, in both rounds.", "Privacy of reports")
@each("epsilon", [1e-3, 0.5, 1.0, 2.0, 4.0, 8.0])
def test_every_question_is_private(options, epsilon):
    """Channels of all queries of both rounds, enumerated as exact fractions: e^epsilon bounds every ratio.

    Questions with Laplace noise have the guarantee of their integers. The guarantee of the estimate is the weakest.
    """
    server, realized = make(options, epsilon, n=10**6), []
    for _ in range(server.rounds):
        for group in range(server.groups):
            mechanism = server.query(group).mechanism
            if isinstance(mechanism, ldp.Laplace | LaplaceResidue):
                span = math.ceil(1024 * epsilon)
                assert mechanism.epsilon_realized == coin_integers.geometric(epsilon, span, span, 1).epsilon_realized
                realized.append(mechanism.epsilon_realized)
                continue
            rows = mechanism.channel().integers
            assert len(rows) == (4 if isinstance(mechanism, ldp.Residue) and mechanism.modulus == 4 else len(rows))
            assert len({sum(map(int, row)) for row in rows}) == 1
            worst = max(Fraction(int(max(column)), int(min(column))) for column in np.array(rows, object).T)
            assert worst == Fraction(recipe_of(mechanism).coin.keep, recipe_of(mechanism).coin.words_per_symbol)
            realized.append(coin_integers.log_up(worst))
            assert realized[-1] == mechanism.epsilon_realized
        add_expected_counts(server)
        if server.round + 1 < server.rounds:
            server.close_round()
    assert max(realized) <= epsilon
    assert quiet(server.estimate).guarantee == ldp.privacy.Guarantee("local", max(realized))


def add_expected_counts(server):
    """Add the expected answers of 10^12 people to every query of the open round."""
    for group in server._open():
        if isinstance(group.question, ldp.Laplace | LaplaceResidue):
            group.answers.update(group.question.privatize(normals(100), rng=1, clip=True))
        else:
            counts = np.rint(
                1e12 * distribution.ReportDistribution([group.question]).reports(3.7, 2.0).value[0]
            ).astype(np.int64)
            group.answers.merge(aggregator_with(group.question, [counts], int(counts.sum())))


def test_second_questions_depend_on_counts_only(options):
    """Servers with equal counts ask the same questions.

    No method except `run`, which is the whole protocol in one process, takes records.
    """
    if options["rounds"] == 2:
        one, other = make(options, n=N), make(options, n=N)
        for group in range(one.groups):
            answer(one, group, 1500)
            for code, count in enumerate(one._open()[group].counts):  # the same codes in another order
                other.update(other.query(group), np.full(int(count), code, np.uint8))
        one.close_round()
        other.close_round()
        assert other.to_bytes() == one.to_bytes()
        assert [other.query(g).to_bytes() for g in range(other.groups)] == [
            one.query(g).to_bytes() for g in range(one.groups)
        ]
    for name, method in inspect.getmembers(GaussianMean, inspect.isfunction):
        if name != "run":
            assert not {"x", "records", "data"} & set(inspect.signature(method).parameters), name
    with_people = {"_gaussian_mean", "_simulation"}  # whose `run` is the whole protocol
    modules = {name for name, _ in inspect.getmembers(gaussian, inspect.ismodule)} - with_people
    assert len(modules) >= 8
    for name in modules:
        assert "privatize" not in inspect.getsource(getattr(gaussian, name))
    assert "privatize" not in inspect.getsource(GaussianMean.close_round)


def test_bytes_contain_no_record():
    """Bytes of queries and servers. The record is a number that no other part of the protocol contains."""
    server, record = make(KNOWN), 12.3456789012345
    for _ in range(2):
        for group in range(server.groups):
            query = server.query(group)
            server.update(query, query.privatize(np.full(2000, record), rng=group))
            for data in (query.to_bytes(), server.to_bytes()):
                for form in (struct.pack("<d", record), struct.pack(">d", record), b"12.3456789", b"12.34567"):
                    assert form not in data
        server.close_round()
