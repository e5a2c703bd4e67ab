"""Queries, answers and rounds of `GaussianMean`."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import Query
from ldpfast.reports import recipe_of

from ...support.cases import each
from ...support.gaussian import (
    KNOWN,
    PROTOCOLS,
    SEED,
    STAGES,
    N,
    answer,
    answer_all,
    answer_round,
    assert_same_gaussian,
    design_of,
    make,
    normals,
    quiet,
    stages,
)
from ...support.internals.mechanisms import LaplaceResidue
from ...support.statistics import normal_margin

pytestmark = pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning", "ignore::ldpfast.DoubtfulWarning")


# Rounds and queries ---------------------------------------------------------------------------------------------------


def test_queries_follow_the_plan(options):
    server, levels = make(options, n=N), design_of(make(options)).levels.questions
    plan = server.plan(N)
    assert (server.round, server.n, server.groups) == (0, 0, len(plan.rounds[0]))
    assert [server.query(group).mechanism for group in range(len(levels))] == list(levels)
    assert [server.query(group).serial for group in range(server.groups)] == list(range(server.groups))
    first = server.groups
    answer_round(server)
    assert server.n == 1500 * first
    assert server.close_round() is server
    assert server.round == 1
    if server.rounds == 2:
        assert server.groups == len(plan.rounds[1])
        assert [server.query(group).serial for group in range(server.groups)] == [
            first + g for g in range(server.groups)
        ]
        server.close_round()
    for call in (lambda: server.groups, server.query, server.close_round):
        with pytest.raises(ValueError, match=r"^the last round is closed"):
            call()


def test_second_questions_are_about_the_center():
    """Thresholds at the center and one standard deviation away, the best bins, or the published window."""
    centers = {}
    for name in (name for name in PROTOCOLS if name.endswith("2")):
        server = answer_round(make(PROTOCOLS[name], n=N), 5000).close_round()
        centers[name] = server._located
        questions = [server.query(group).mechanism for group in range(server.groups)]
        mu, sigma = server._located.mu, server._located.sigma
        if name == "robust-known-2" or name == "paper-known-2":
            assert questions == [ldp.Bins((mu,), 1.0)]
        elif name == "robust-unknown-2":
            assert questions == [ldp.Bins((cut,), 1.0) for cut in (mu - sigma, mu, mu, mu + sigma)]
        elif name == "efficient-known-2":
            assert questions == [ldp.Bins((mu,), 1.0)]
        elif name == "efficient-unknown-2":
            (question,) = questions
            assert len(question.cuts) >= 2
            np.testing.assert_allclose(np.array(question.cuts) + np.array(question.cuts)[::-1], 2 * mu, rtol=1e-12)
        else:
            half = sigma * (2 + math.sqrt(math.log(4 * N)))
            assert questions == [ldp.Laplace(mu - half, mu + half, 1.0)]
    assert len(centers) == 6
    assert all(abs(located.mu - 3.7) < 2 for name, located in centers.items() if "paper" not in name)


def test_order_and_size_of_batches_make_no_difference(options):
    server, shuffled = make(options, n=N), make(options, n=N)
    rng = np.random.default_rng(SEED)
    for _ in range(server.rounds):
        queries = [server.query(group) for group in range(server.groups)]
        reports = [query.privatize(normals(1200, seed=i), rng=i) for i, query in enumerate(queries)]
        for query, report in zip(queries, reports, strict=True):
            server.update(query, report)
        single = [(i, j) for i in range(len(queries)) for j in range(0, 1200, 100)]
        for place in rng.permutation(len(single)):
            i, j = single[place]
            batch = reports[i][j : j + 100]
            shuffled.update(Query.from_bytes(queries[i].to_bytes()), batch[rng.permutation(100)])
        assert shuffled.to_bytes() == server.to_bytes()
        server.close_round()
        shuffled.close_round()
    assert_same_gaussian(quiet(shuffled.estimate), quiet(server.estimate))


def test_single_answers_equal_an_array():
    server, many = make(KNOWN), make(KNOWN)
    query = server.query(2)
    for person in range(5):
        server.update(query, query.privatize(float(person), rng=person))
        many.update(query, np.atleast_1d(query.privatize(float(person), rng=person)))
    assert server.n == 5
    assert server.to_bytes() == many.to_bytes()


def test_estimate_before_the_last_round_is_closed(options):
    server = answer_all(make(options, n=N))
    before = quiet(server.estimate)
    assert_same_gaussian(quiet(server.close_round().estimate), before)


def test_clients_accept_any_value(options):
    """NaN, infinite and huge records get an answer like others, in every round."""
    server = answer_round(make(options, n=N))
    bad = [math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324]
    for _ in range(server.rounds):
        for group in range(server.groups):
            query = server.query(group)
            server.update(query, query.privatize(bad, rng=1))
        if server.round + 1 < server.rounds:
            server.close_round()
        else:
            break
    assert np.isfinite(quiet(server.estimate).value)


def test_answers_by_the_plan_agree_with_a_run():
    """Each person answers the question of `place`. Only the random words differ from those of `run`."""
    for name in ("robust-known-2", "robust-known-1", "efficient-unknown-2"):
        server, x = make(PROTOCOLS[name], 2.0), normals(30_000)
        plan = server.plan(len(x))
        place, group = plan.place(np.arange(len(x)))
        for number, sizes in enumerate(plan.rounds):
            for g in range(len(sizes)):
                query = server.query(g)
                server.update(query, query.privatize(x[(place == number) & (group == g)], rng=g + 100 * number))
            server.close_round()
        estimate, run = quiet(server.estimate), quiet(server.run, x, rng=3)
        assert estimate.n == run.n == len(x)
        assert abs(estimate.value - 3.7) < normal_margin() * estimate.stderr
        assert estimate.kappa == run.kappa == pytest.approx(plan.kappa)
        assert 0.8 < estimate.stderr / run.stderr < 1.25
        assert [sum(g.n for g in groups) for groups in server._asked] == [sum(sizes) for sizes in plan.rounds]


@pytest.mark.parametrize("asked", [False, True])
def test_copies_and_pickles_continue(options, asked):
    server = make(options, n=20_000)
    if asked:
        for group in range(server.groups):
            query = server.query(group)
            server.update(query, query.privatize(normals(900, seed=group), rng=group))
        server.close_round()
    before = server.to_bytes()
    for twin in (copy.copy(server), copy.deepcopy(server), *(pickle.loads(pickle.dumps(server, p)) for p in (2, 5))):
        assert twin.to_bytes() == before
        assert repr(twin) == repr(server)
        if twin.round < twin.rounds:
            query = twin.query(0)
            twin.update(query, query.privatize(normals(5), rng=1))
            assert twin.n == server.n + 5
        assert server.to_bytes() == before


# Invalid answers and rounds -------------------------------------------------------------------------------------------


def invalid_updates(server):
    """Queries and reports that do not fit a server with an open round, with the expected error."""
    query, last = server.query(0), server.query(server.groups - 1).serial
    report = query.privatize(np.zeros(3), rng=1)
    current = (
        rf"^query must be of the open round, {server.round}, with a serial number in \[{query.serial}, {last}\], got "
    )
    if server.round > 0:
        yield Query(0, query.mechanism), report, ValueError, rf"{current}0$"
        yield (
            Query(query.serial - 1, query.mechanism),
            report,
            ValueError,
            rf"{current}{query.serial - 1}$",
        )
    yield Query(last + 1, query.mechanism), report, ValueError, rf"{current}{last + 1}$"
    yield Query(2**62, query.mechanism), report, ValueError, rf"{current}{2**62}$"
    asks = r"^query must have the mechanism "
    for other in (
        ldp.Warner(1.0),
        ldp.Bins(1e9, 1.0),
        ldp.Residue(1e-3, 0.0, 4, 1.0),
        LaplaceResidue(1.0, 0.0, 1.0),
    ):
        yield Query(query.serial, other), report, ValueError, asks
    if server.groups > 1:
        other = next(server.query(g) for g in range(server.groups) if server.query(g).mechanism != query.mechanism)
        yield Query(query.serial, other.mechanism), report, ValueError, asks
    for wrong in (query.mechanism, query.serial, None, query.to_bytes()):
        yield wrong, report, TypeError, rf"^query must be a Query, got {type(wrong).__name__}$"
    for wrong in ("1", None, report.astype(complex)):
        yield query, wrong, TypeError, r"^reports must have dtype "
    yield query, np.zeros((2, 2), report.dtype), ValueError, r"^reports must have shape \(n,\), got shape \(2, 2\)$"
    if report.dtype == np.uint8:
        k = recipe_of(query.mechanism).coin.k
        for code in (k, 255):
            message = rf"^reports must be codes in \[0, {k}\); index 1 is outside$"
            yield query, np.array([0, code, 1], np.uint8), ValueError, message
    else:
        for wrong in (report * math.nan, report * math.inf, report * 1.001):
            yield query, wrong, ValueError, r"^reports must lie on the mechanism's grid; row 0 does not$"


@each("stage", STAGES[:-1])
def test_rejected_update_changes_nothing(options, stage):
    server = dict(stages(options)).get(stage)
    if server is None:
        return  # a protocol of one round has no such stage
    before = server.to_bytes()
    for query, reports, kind, message in invalid_updates(server):
        with pytest.raises(kind, match=message):
            server.update(query, reports)
        assert server.to_bytes() == before


def test_groups_that_do_not_exist_are_errors(options):
    for stage, server in stages(options):
        if stage == "closed":
            continue
        before, groups = server.to_bytes(), server.groups
        for group in (-1, groups, 10**9):
            with pytest.raises(ValueError, match=rf"^group must be an integer in \[0, {groups - 1}\], got {group}$"):
                server.query(group)
        for group in (0.0, "0", None):
            with pytest.raises(TypeError, match=r"^group must be an integer, got "):
                server.query(group)
        assert server.to_bytes() == before


def test_queries_do_not_change_the_server(options):
    """The bytes depend on the answers only."""
    server, twin = make(options, n=N), make(options, n=N)
    before = server.to_bytes()
    server.query(0)
    assert server.to_bytes() == before == twin.to_bytes()
    other = make(options, n=N)
    server.merge(other)
    assert other.to_bytes() == before


def test_closed_server_accepts_nothing(options):
    server = dict(stages(options))["answered"]
    query = server.query(0)
    report = query.privatize(np.zeros(3), rng=1)
    server.close_round()
    before = server.to_bytes()
    for call in (
        lambda: server.update(query, report),
        lambda: server.query(0),
        server.close_round,
        lambda: server.merge(copy.deepcopy(server)),
    ):
        with pytest.raises(ValueError, match=r"^the last round is closed"):
            call()
        assert server.to_bytes() == before


def test_estimate_in_the_first_of_two_rounds_is_an_error(options):
    if options["rounds"] == 1:
        return
    server = answer_round(make(options, n=N))
    with pytest.raises(ValueError, match=r"^an estimate needs the second round: close_round\(\) ends the first$"):
        server.estimate()
    server.close_round()
    before = server.to_bytes()
    with pytest.raises(ValueError, match=r"^an estimate needs at least 1 answer to the second questions, got none$"):
        server.estimate()
    assert server.to_bytes() == before


def test_round_with_too_few_answers_stays_open(options):
    """kappa is below 2 in one group of the search. The message says how many answers are needed."""
    server = make(options, n=N)
    levels = design_of(server).levels
    least = math.ceil(2 / levels.gain**2)
    for group in range(server.groups):
        if group != 1:
            answer(server, group, 2000)
    answer(server, 1, least - 1)
    before = server.to_bytes()
    message = rf"^the search needs at least {least} answers in each group, got {least - 1} in the smallest$"
    for call in (server.close_round, server.estimate) if server.rounds == 1 else (server.close_round,):
        with pytest.raises(ValueError, match=message):
            call()
        assert (server.to_bytes(), server.round) == (before, 0)
    answer(server, 1, 1, seed=9)
    server.close_round()
    assert server.round == 1
    with pytest.raises(ValueError, match=r"^the search needs at least .* got 0 in the smallest$"):
        make(options, n=N).close_round()


def test_published_questions_of_one_round_need_the_number_of_people():
    server = make(PROTOCOLS["paper-known-1"])
    message = r"^n must be given for rounds=1 and method=\"paper\": how many people will be asked$"
    for call in (server.query, server.close_round, lambda: server.groups):
        with pytest.raises(ValueError, match=message):
            call()
    assert make(PROTOCOLS["paper-known-1"], n=N).groups == len(server.plan(N).rounds[0])
