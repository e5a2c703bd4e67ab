"""`GaussianMean` between people and servers: queries, rounds, shards, bytes, privacy; and all that is refused."""

from __future__ import annotations

import copy
import hashlib
import inspect
import json
import math
import re
import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpfast as ldp
from ldpfast import Query, _coins
from ldpfast.estimation import GaussianMean, MedianSGD
from ldpfast.estimation._gaussian import _design, _fit, _law, _levels, _paper, _robust, _server
from ldpfast.mechanisms import LaplaceResidue

from .support.gaussian import KNOWN, PROTOCOLS, SEED, assert_same_gaussian, make, normals, quiet
from .test_client_server import FRAMES, converse

pytestmark = pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning", "ignore::ldpfast.DoubtfulWarning")

N = 20_000


@pytest.fixture(params=PROTOCOLS.values(), ids=PROTOCOLS)
def options(request):
    return request.param


def answer(server, group, n, seed=0, mu=3.7, sigma=2.0):
    """n people of a group, as clients: from the bytes of the query to reports."""
    query = Query.from_bytes(server.query(group).to_bytes())
    x = np.random.default_rng([SEED, seed, group, server.round]).normal(mu, sigma, n)
    server.update(query, query.privatize(x, rng=[seed, group, server.round][0] + 1000 * group + 77 * server.round))
    return server


def searched(server, people=1500, seed=0):
    """A server whose first questions have been answered."""
    for group in range(server.groups):
        answer(server, group, people, seed)
    return server


def second(server, people=500, seed=0):
    """A server at its last round, with answers to all questions."""
    searched(server, seed=seed)
    if server.rounds == 2:
        server.close_round()
        searched(server, people, seed)
    return server


def stages(options):
    """A protocol from its beginning to its end."""
    server = make(options, n=N)
    yield "new", server
    server = make(options, n=N)
    yield "some", answer(server, 1, 10)
    yield "searched", searched(make(options, n=N))
    if server.rounds == 2:
        yield "open", searched(make(options, n=N)).close_round()
    yield "answered", second(make(options, n=N))
    yield "closed", second(make(options, n=N)).close_round()


STAGES = ("new", "some", "searched", "open", "answered", "closed")


# Rounds and queries ---------------------------------------------------------------------------------------------------


def test_rounds_and_groups(options):
    server, levels = make(options, n=N), make(options)._design.levels.questions
    plan = server.plan(N)
    assert (server.round, server.n, server.groups) == (0, 0, len(plan.rounds[0]))
    assert [server.query(group).mechanism for group in range(len(levels))] == list(levels)
    assert [server.query(group).serial for group in range(server.groups)] == list(range(server.groups))
    first = server.groups
    searched(server)
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


def test_the_second_questions_are_about_the_centre():
    """Of sign bits at the centre and one standard deviation to its sides, of the best bins, of the published window."""
    centres = {}
    for name in (name for name in PROTOCOLS if name.endswith("2")):
        server = searched(make(PROTOCOLS[name], n=N), 5000).close_round()
        centres[name] = server._located
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
    assert len(centres) == 6
    assert all(abs(located.mu - 3.7) < 2 for name, located in centres.items() if "paper" not in name)


def test_answers_come_in_any_order_and_any_portions(options):
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
            portion = reports[i][j : j + 100]
            shuffled.update(Query.from_bytes(queries[i].to_bytes()), portion[rng.permutation(100)])
        assert shuffled.to_bytes() == server.to_bytes()
        server.close_round()
        shuffled.close_round()
    assert_same_gaussian(quiet(shuffled.estimate), quiet(server.estimate))


def test_one_answer_at_a_time():
    server, many = make(KNOWN), make(KNOWN)
    query = server.query(2)
    for person in range(5):
        server.update(query, query.privatize(float(person), rng=person))
        many.update(query, np.atleast_1d(query.privatize(float(person), rng=person)))
    assert server.n == 5
    assert server.to_bytes() == many.to_bytes()


def test_estimates_may_be_taken_before_the_last_round_is_closed(options):
    server = second(make(options, n=N))
    before = quiet(server.estimate)
    assert_same_gaussian(quiet(server.close_round().estimate), before)


def test_clients_are_never_refused_for_their_value(options):
    """NaN, infinite and huge records get an answer like any other, in every round."""
    server = searched(make(options, n=N))
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


# What is refused ------------------------------------------------------------------------------------------------------


def refused(server):
    """Queries and reports that do not fit a server with an open round, and the words of the refusal."""
    query, last = server.query(0), server.query(server.groups - 1).serial
    report = query.privatize(np.zeros(3), rng=1)
    current = rf"^query must be of the open round, {server.round}; serial number "
    if server.round > 0:
        yield Query(0, query.mechanism), report, ValueError, rf"{current}0 is of a closed one$"
        yield (
            Query(query.serial - 1, query.mechanism),
            report,
            ValueError,
            rf"{current}{query.serial - 1} is of a closed one$",
        )
    ending = r" of a later one: close_round\(\) comes before$" if server.round + 1 < server.rounds else " of none$"
    yield Query(last + 1, query.mechanism), report, ValueError, rf"{current}{last + 1} is{ending}"
    yield Query(2**62, query.mechanism), report, ValueError, rf"{current}{2**62} is{ending}"
    asks = r"^query must ask what this server asks: "
    for other in (ldp.Warner(1.0), ldp.Bins(1e9, 1.0), ldp.Residue(1e-3, 0.0, 4, 1.0), LaplaceResidue(1.0, 0.0, 1.0)):
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
        k = query.mechanism._coin.k
        for code in (k, 255):
            message = rf"^reports must be codes in \[0, {k}\); index 1 is outside$"
            yield query, np.array([0, code, 1], np.uint8), ValueError, message
    else:
        for wrong in (report * math.nan, report * math.inf, report * 1.001):
            yield query, wrong, ValueError, r"^reports must lie on the mechanism's grid; row 0 does not$"


@pytest.mark.parametrize("stage", STAGES[:-1])
def test_what_is_refused_changes_nothing(options, stage):
    server = dict(stages(options)).get(stage)
    if server is None:
        return  # one round has no such stage
    before = server.to_bytes()
    for query, reports, kind, message in refused(server):
        with pytest.raises(kind, match=message):
            server.update(query, reports)
        assert server.to_bytes() == before


def test_groups_that_do_not_exist(options):
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


def test_a_new_server_has_the_bytes_of_an_asked_one(options):
    """Asking is no change of state: bytes tell what was answered."""
    server, twin = make(options, n=N), make(options, n=N)
    before = server.to_bytes()
    server.query(0)
    assert server.to_bytes() == before == twin.to_bytes()
    other = make(options, n=N)
    server.merge(other)
    assert other.to_bytes() == before


def test_nothing_is_accepted_after_the_end(options):
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


def test_the_first_of_two_rounds_has_no_estimate(options):
    if options["rounds"] == 1:
        return
    server = searched(make(options, n=N))
    with pytest.raises(ValueError, match=r"^an estimate needs the second round: close_round\(\) ends the first$"):
        server.estimate()
    server.close_round()
    before = server.to_bytes()
    with pytest.raises(ValueError, match=r"^an estimate needs at least 1 answer to the second questions, got none$"):
        server.estimate()
    assert server.to_bytes() == before


def test_a_round_with_too_few_answers_stays_open(options):
    """kappa below 2 in any one group of the search; the message says how many are needed."""
    server = make(options, n=N)
    levels = server._design.levels
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
    message = r"^n must be given for rounds=1 and variant=\"paper\": how many people will be asked$"
    for call in (server.query, server.close_round, lambda: server.groups):
        with pytest.raises(ValueError, match=message):
            call()
    assert make(PROTOCOLS["paper-known-1"], n=N).groups == len(server.plan(N).rounds[0])


# Several servers ------------------------------------------------------------------------------------------------------


def shard(options, seed, parts=3):
    """The answers of one in three people, and of all."""
    whole, shards = make(options, n=N), [make(options, n=N) for _ in range(parts)]
    for group in range(whole.groups):
        query = whole.query(group)
        for i, server in enumerate(shards):
            report = query.privatize(normals(500 + 100 * i, seed=seed + i), rng=100 * group + i)
            server.update(server.query(group), report)
            whole.update(query, report)
    return whole, shards


def test_shards_that_are_merged_are_one_server(options):
    """In any order, through bytes, in both rounds."""
    whole, shards = shard(options, 1)
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
    {"decoder": "pairs"},
    {"n": N + 1},
    {"rounds": 1},
    {"variant": "paper"},
    {"sigma": 2.5},
    {"sigma": None, "sigma_bounds": (1.0, 2.0)},
]


@pytest.mark.parametrize("change", OTHERS, ids=str)
def test_servers_of_other_plans_do_not_merge(change):
    server = answer(make(KNOWN, n=N), 0, 50)
    other = answer(GaussianMean(**{"epsilon": 1.0, "sigma": 2.0, "mu_bound": 100.0, "n": N, **change}), 0, 50)
    before = server.to_bytes(), other.to_bytes()
    message = f"other must be a server of the same plan: {server!r}, got {other!r}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        server.merge(other)
    assert (server.to_bytes(), other.to_bytes()) == before


def test_servers_in_other_states_do_not_merge():
    first, closed = searched(make(KNOWN)), searched(make(KNOWN)).close_round()
    elsewhere = searched(make(KNOWN), seed=5).close_round()
    for server, other, message in (
        (first, closed, r"^other must be in the same round, 0, got 1$"),
        (closed, first, r"^other must be in the same round, 1, got 0$"),
        (closed, elsewhere, r"^other must have closed the same rounds with the same answers$"),
    ):
        before = server.to_bytes(), other.to_bytes()
        with pytest.raises(ValueError, match=message):
            server.merge(other)
        assert (server.to_bytes(), other.to_bytes()) == before
    for other in (first.to_bytes(), None, ldp.Warner(1.0).aggregator(), MedianSGD(1.0, 0, 1)):
        with pytest.raises(TypeError, match=rf"^other must be a GaussianMean, got {type(other).__name__}$"):
            first.merge(other)


def test_a_merge_that_overflows_changes_nothing():
    """A later group is full: the earlier ones are as they were."""
    server, other = answer(make(KNOWN), 0, 10), answer(make(KNOWN), 0, 10)
    for one in (server, other):
        group = one._open()[2]
        group._add([np.array([(1 << 61) + 5, 0, 0, 0])], (1 << 61) + 5)
    before = server.to_bytes(), other.to_bytes()
    with pytest.raises(ValueError, match=r"^an aggregator must hold fewer than 2\^62 reports"):
        server.merge(other)
    assert (server.to_bytes(), other.to_bytes()) == before


# Bytes ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", STAGES)
def test_bytes_come_back_at_every_stage(options, stage):
    """A copy from bytes goes on as the original does, to the same estimate."""
    server = dict(stages(options)).get(stage)
    if server is None:
        return
    data = server.to_bytes()
    for form in (data, bytearray(data), memoryview(data)):
        twin = GaussianMean.from_bytes(form)
        assert twin.to_bytes() == data
        assert (twin.round, twin.n, repr(twin)) == (server.round, server.n, repr(server))
    for one in (server, twin):
        if one.round == 0:
            searched(one)
            if one.rounds == 2:
                one.close_round()
        if one.round < one.rounds:
            searched(one, 300, seed=4)
    assert twin.to_bytes() == server.to_bytes()
    assert_same_gaussian(quiet(twin.estimate), quiet(server.estimate))


def test_bytes_hold_no_record():
    """Neither those of queries nor of servers; the records are numbers that no other part of the protocol has."""
    server, record = make(KNOWN), 12.3456789012345
    for _ in range(2):
        for group in range(server.groups):
            query = server.query(group)
            server.update(query, query.privatize(np.full(2000, record), rng=group))
            for data in (query.to_bytes(), server.to_bytes()):
                for form in (struct.pack("<d", record), struct.pack(">d", record), b"12.3456789", b"12.34567"):
                    assert form not in data
        server.close_round()


def test_damaged_bytes_are_refused():
    data = second(make(KNOWN)).to_bytes()
    for kind in (None, 1, "text", [1, 2]):
        with pytest.raises(TypeError, match=rf"^data must be bytes, got {type(kind).__name__}$"):
            GaussianMean.from_bytes(kind)
    foreign = [
        b"",
        b"LDPNORM",
        data[:20],
        ldp.Warner(1.0).aggregator().to_bytes(),
        b"\0" * 100,
        b"LDPNORM\x02" + data[8:],
    ]
    for wrong in foreign:
        with pytest.raises(ValueError, match=r"^data must be the bytes of a GaussianMean"):
            GaussianMean.from_bytes(wrong)
    for cut in (1, 16, 100):
        for wrong in (data[:-cut], data + b"\0" * cut):
            with pytest.raises(ValueError, match=r"^data must be the bytes of a GaussianMean"):
                GaussianMean.from_bytes(wrong)


@given(st.data())
def test_any_changed_byte_is_noticed(data):
    whole = bytearray(searched(make(KNOWN, epsilon=4.0, mu_bound=4.0), 50).to_bytes())
    whole[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(ValueError, match=r"^data must be the bytes of a GaussianMean"):
        GaussianMean.from_bytes(bytes(whole))


def unpacked(data):
    """The JSON and the groups."""
    (size,) = struct.unpack_from("<Q", data, 8)
    return json.loads(data[16 : 16 + size]), data[16 + size : -16]


def packed(described, groups):
    """With a checksum that agrees, whatever they are."""
    text = described if isinstance(described, bytes) else json.dumps(described).encode()
    body = struct.pack("<8sQ", b"LDPNORM\x01", len(text)) + text + groups
    return body + hashlib.blake2b(body, digest_size=16).digest()


def with_parameter(name, value):
    return lambda described, groups: ({**described, "parameters": {**described["parameters"], name: value}}, groups)


def with_entry(name, value):
    return lambda described, groups: ({**described, name: value}, groups)


def without(name):
    return lambda described, groups: ({key: value for key, value in described.items() if key != name}, groups)


def sized(change):
    return lambda described, groups: ({**described, "sizes": change(described["sizes"])}, groups)


def foreign_group(described, groups):
    """The first group is an aggregator of something else."""
    (first, *sizes), *later = described["sizes"]
    other = ldp.Warner(1.0).aggregator().to_bytes()
    return {**described, "sizes": [[len(other), *sizes], *later]}, other + groups[first:]


def swapped_groups(described, groups):
    (first, other, *sizes), *later = described["sizes"]
    swapped = groups[first : first + other] + groups[:first] + groups[first + other :]
    return {**described, "sizes": [[other, first, *sizes], *later]}, swapped


CRAFTED = {
    "no JSON": lambda described, groups: (b"{", groups),
    "no dict": lambda described, groups: ([1], groups),
    **{f"no {name}": without(name) for name in ("parameters", "round", "located", "sizes")},
    **{f"round {value!r}": with_entry("round", value) for value in (2.5, -1, 7, "0", None)},
    "nothing located": with_entry("located", None),
    "half located": with_entry("located", [0.0]),
    "a word located": with_entry("located", ["a", 1.0, []]),
    "NaN located": with_entry("located", [math.nan, 1.0, []]),
    "no sizes at all": with_entry("sizes", []),
    "sizes no list": with_entry("sizes", 5),
    "sizes below zero": with_entry("sizes", [[-1]]),
    "a round too few": sized(lambda sizes: sizes[:1]),
    "a round too many": sized(lambda sizes: [*sizes, sizes[1]]),
    "a group too few": sized(lambda sizes: [sizes[0][:-1], sizes[1]]),
    "no parameters at all": with_entry("parameters", None),
    "bad epsilon": with_parameter("epsilon", -1),
    "other epsilon": with_parameter("epsilon", 2.0),
    "other sigma": with_parameter("sigma", 1.0),
    "unknown parameter": with_parameter("other", 1),
    "bytes left over": lambda described, groups: (described, groups + b"\0"),
    "bytes missing": lambda described, groups: (described, groups[:-1]),
    "a foreign group": foreign_group,
    "groups in another order": swapped_groups,
}


@pytest.mark.parametrize("change", CRAFTED.values(), ids=CRAFTED)
def test_crafted_bytes_are_refused(change):
    """The checksum agrees: still a ValueError, as for aggregators and queries, and no server in an impossible state."""
    described, groups = unpacked(second(make(KNOWN, epsilon=4.0, mu_bound=4.0)).to_bytes())
    assert GaussianMean.from_bytes(packed(described, groups)).n > 0
    with pytest.raises(ValueError, match=r"^data must be "):
        GaussianMean.from_bytes(packed(*change(described, groups)))


# Privacy --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 1.0, 2.0, 4.0, 8.0])
def test_every_question_is_private_by_its_integers(options, epsilon):
    """Channels of all queries of both rounds, enumerated as exact fractions: e^epsilon bounds every ratio; the questions
    with Laplace noise have the budget of their integers. The guarantee is the worst of all."""
    server, realised = make(options, epsilon, n=10**6), []
    for _ in range(server.rounds):
        for group in range(server.groups):
            mechanism = server.query(group).mechanism
            if isinstance(mechanism, ldp.Laplace | LaplaceResidue):
                span = math.ceil(1024 * epsilon)
                assert mechanism.epsilon_realized == _coins.geometric(epsilon, span, span, 1).epsilon_realized
                realised.append(mechanism.epsilon_realized)
                continue
            rows = mechanism.channel()._exact
            assert len(rows) == (4 if isinstance(mechanism, ldp.Residue) and mechanism.modulus == 4 else len(rows))
            assert len({sum(map(int, row)) for row in rows}) == 1
            worst = max(Fraction(int(max(column)), int(min(column))) for column in np.array(rows, object).T)
            assert worst == Fraction(mechanism._coin.keep, mechanism._coin.share)
            realised.append(_coins.log_up(worst))
            assert realised[-1] == mechanism.epsilon_realized
        expected_counts(server)
        if server.round + 1 < server.rounds:
            server.close_round()
    assert max(realised) <= epsilon
    assert quiet(server.estimate).guarantee == ldp.privacy.Guarantee("local", max(realised))


def expected_counts(server):
    """Answers of 10^12 people to the queries of the open round, by their law: no simulation is that cheap."""
    for group in server._open():
        if isinstance(group.mechanism, ldp.Laplace | LaplaceResidue):
            group.update(group.mechanism.privatize(normals(100), rng=1, clip=True))
        else:
            counts = np.rint(1e12 * _law.Law([group.mechanism]).reports(3.7, 2.0).value[0]).astype(np.int64)
            group._add([counts], int(counts.sum()))


def test_second_questions_are_made_of_counts_alone(options):
    """Two servers with the same counts ask the same, whoever answered; and the server's code is given no record: nothing
    but `run`, the whole in one process, has an argument for any."""
    if options["rounds"] == 2:
        one, other = make(options, n=N), make(options, n=N)
        for group in range(one.groups):
            answer(one, group, 1500)
            for code, count in enumerate(one._open()[group].counts):  # told as codes, in another order
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
    for module in (_design, _fit, _law, _levels, _paper, _robust):
        assert "privatize" not in inspect.getsource(module)
    assert "privatize" not in inspect.getsource(_server.GaussianMean.close_round)


# Processes ------------------------------------------------------------------------------------------------------------

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
facts = [estimate.value, estimate.stderr, estimate.n, estimate.centre, estimate.kappa]
print(json.dumps([facts, server.to_bytes().hex()]), file=sys.stderr)
"""
)


@pytest.mark.parametrize("name", ["robust-known-2", "robust-unknown-1"])
def test_people_and_server_in_processes_of_their_own(name):
    """Bytes only, in any order, and three in ten never answer: the same state as in one process. The server's process is
    given its parameters, queries and reports; the law of the records is known to the clients' alone."""
    people = {"seed": 5, "mu": -7.7, "sigma": 2.0, "n": 12_000}
    arguments = {"epsilon": 2.0, "mu_bound": 100.0, **PROTOCOLS[name]}
    sizes = GaussianMean(**arguments).plan(people["n"]).rounds
    said = converse((CLIENTS, json.dumps(sizes), json.dumps(people)), (SERVER, json.dumps(arguments)))
    (value, stderr, n, centre, kappa), data = json.loads(said)
    assert abs(n - 0.7 * people["n"]) < 6.2 * math.sqrt(0.21 * people["n"])
    assert abs(value + 7.7) < 6.2 * stderr < 3
    there = GaussianMean.from_bytes(bytes.fromhex(data))
    here, rng, coins = GaussianMean(**arguments), np.random.default_rng(9), np.random.default_rng(10)
    records = np.random.default_rng(people["seed"]).normal(people["mu"], people["sigma"], people["n"])
    for groups in sizes:
        queries = [here.query(group) for group in range(here.groups)]
        asked = [(group, records[i]) for i, group in enumerate(np.repeat(np.arange(len(groups)), groups))]
        records = records[len(asked) :]
        for i in rng.permutation(len(asked)):
            group, record = asked[i]
            if rng.random() >= 0.3:
                here.update(queries[group], queries[group].privatize(record, rng=coins))
        here.close_round()
    assert here.to_bytes() == there.to_bytes()
    estimate = quiet(here.estimate)
    assert [estimate.value, estimate.stderr, estimate.n, estimate.centre, estimate.kappa] == [
        value,
        stderr,
        n,
        centre,
        kappa,
    ]


def test_a_deployment_follows_the_plan():
    """`place` for everybody, one message each: as `run` of the same people, up to the coins. Kept at 6.2 standard errors."""
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
        assert abs(estimate.value - 3.7) < 6.2 * estimate.stderr
        assert estimate.kappa == run.kappa == pytest.approx(plan.kappa)
        assert 0.8 < estimate.stderr / run.stderr < 1.25
        assert [sum(g.n for g in groups) for groups in server._asked] == [sum(sizes) for sizes in plan.rounds]


def test_a_server_is_not_merged_with_itself():
    server = answer(make(KNOWN), 0, 10)
    before = server.to_bytes()
    with pytest.raises(ValueError, match=r"^other must be another server: its answers would count twice$"):
        server.merge(server)
    assert server.to_bytes() == before


def test_more_people_than_an_aggregator_holds_are_refused():
    for call in (make(KNOWN).plan, lambda n: make(KNOWN).simulate(n, 0.0, 1.0)):
        with pytest.raises(ValueError, match=r"^n must be an integer in \[1, "):
            call(10**20)
