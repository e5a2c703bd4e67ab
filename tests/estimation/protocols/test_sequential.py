"""Protocols in which each person answers one query: accepted and rejected answers, runs, randomness and copies."""

from __future__ import annotations

import copy
import math
import pickle
import threading

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import Query
from ldpfast.estimation import GradientDescent, MedianSGD, NewtonStep
from ldpfast.mechanisms import Gradient, Hessian

from ...support.cases import each
from ...support.errors import raises
from ...support.examples import assert_same, assert_same_estimate
from ...support.internals.sgd import examples
from ...support.modules import module_of
from ...support.protocol_state import opened, sealed, state_of

SEED = 20261201

pytestmark = pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")

SERVERS = {
    "median": lambda: MedianSGD(1.0, lower=0, upper=100),
    "quantile": lambda: MedianSGD(0.5, lower=-3, upper=5, quantile=0.9, n=500),
    "l2": lambda: GradientDescent("logistic", 3, 2.0, covariance="full"),
    "linf": lambda: GradientDescent("linear", 2, 1.0, norm="linf", column=0.5, residual=2.0),
    "laplace": lambda: GradientDescent("poisson", 2, 1.0, noise="laplace", residual=2.0),
    "newton": lambda: NewtonStep("logistic", 2, 2.0, n=20, column=1.0, covariance="full"),
    "newton laplace": lambda: NewtonStep("logistic", 2, 2.0, n=20, noise="laplace"),
    "newton linf": lambda: NewtonStep("poisson", 2, 2.0, n=12, norm="linf", residual=2.0),
}


@pytest.fixture(params=SERVERS.values(), ids=SERVERS)
def make(request):
    return request.param


@pytest.fixture
def server(make):
    """A protocol with some answers."""
    return answer(make(), 11)


def records_of(server, n, seed=0):
    """Arguments of `run` for n people."""
    rng = np.random.default_rng([seed, n])
    if isinstance(server, MedianSGD):
        return (rng.uniform(server.lower, server.upper, n),)
    return rng.normal(size=(n, server.query().mechanism.features)), rng.integers(0, 2, n)


def record(server, seed=0):
    """The record of one person, as the client holds it."""
    arrays = records_of(server, 1, seed)
    return np.column_stack(arrays)[0] if len(arrays) > 1 else arrays[0][0]


def answer(server, n):
    """A protocol after n more answers."""
    for i in range(n):
        query = server.query()
        server.update(query, query.privatize(record(server, i), rng=i))
    return server


# Queries and answers --------------------------------------------------------------------------------------------------


def test_serial_numbers_count_the_answers(make):
    server = make()
    for n in range(4):
        assert (server.query().serial, server.n) == (n, n)
        query = server.query()
        assert server.update(query, query.privatize(record(server))) is server


def test_query_is_about_the_current_position(server):
    mechanism = server.query().mechanism
    if isinstance(server, MedianSGD):
        assert mechanism == ldp.Bins(server.position, server.epsilon)
    else:
        assert isinstance(mechanism, Gradient | Hessian)
        assert mechanism.position == tuple(server.position)
    assert mechanism.guarantee == server.estimate().guarantee


def test_query_restored_from_bytes_is_the_same(server):
    query = Query.from_bytes(server.query().to_bytes())
    report = query.privatize(record(server), rng=3)
    assert state_of(copy.deepcopy(server).update(query, report)) == state_of(server.update(server.query(), report))


def test_report_may_be_a_scalar_or_an_array_of_one(server):
    query, other = server.query(), copy.deepcopy(server)
    report = query.privatize(record(server), rng=3)
    other.update(query, report[np.newaxis])
    server.update(query, report)
    assert state_of(server) == state_of(other)


def invalid_updates(server):
    """Queries and reports that do not fit the state of a server, with the expected error."""
    query, x = server.query(), record(server)
    report, serial = query.privatize(x, rng=1), server.n
    current = rf"^query must be the current one, of serial number {serial}, got serial number "
    yield Query(serial - 1, query.mechanism), report, ValueError, rf"{current}{serial - 1}$"
    yield Query(serial + 1, query.mechanism), report, ValueError, rf"{current}{serial + 1}$"
    for other in (ldp.Warner(1.0), ldp.Bins(1e9, 1.0), Gradient("logistic", (7.0, 7.0), 1.0)):
        yield Query(serial, other), report, ValueError, rf"{current}{serial}$"
    for wrong in (query.mechanism, serial, None, query.to_bytes()):
        yield wrong, report, TypeError, rf"^query must be a Query, got {type(wrong).__name__}$"
    one = r"^reports must hold exactly one report, got "
    yield query, np.stack([report, report]), ValueError, rf"{one}2$"
    yield query, report[np.newaxis][:0], ValueError, rf"{one}0$"
    yield query, report.astype(complex), TypeError, r"^reports must have dtype "
    yield query, None, TypeError, r"^reports must have dtype "
    yield query, "1", TypeError, r"^reports must have dtype "
    yield query, np.ones((1, 1, 1), report.dtype), ValueError, r"^reports must have shape "
    if report.dtype == np.uint8 and report.ndim == 0:
        yield query, np.uint8(2), ValueError, r"^reports must be codes in \[0, 2\); index 0 is outside$"
    elif report.dtype == np.uint8:
        yield (
            query,
            report | 0x80,
            ValueError,
            r"^reports must have zeros in the padding after \d bits; row 0 does not$",
        )
    elif report.ndim == 0:  # an index of a codebook and the seed of its rotation: every integer of 64 bits is one
        assert report.dtype == np.uint64
        yield query, report.astype(np.float64), TypeError, r"^reports must have dtype "
        yield query, report.astype(np.uint32), TypeError, r"^reports must have dtype "
    else:
        for wrong in (report * np.nan, report * np.inf, report * 1.001, report[:-1]):
            yield query, wrong, ValueError, r"^reports must (lie on|have Euclidean norm|have shape)"


def test_rejected_update_changes_nothing(server):
    """A second answer to a query would be a second release about one person, or count a person twice."""
    before, twin = state_of(server), copy.deepcopy(server)
    for query, reports, error, message in invalid_updates(server):
        with pytest.raises(error, match=message):
            server.update(query, reports)
        assert state_of(server) == before
    assert state_of(answer(server, 3)) == state_of(answer(twin, 3))


def test_each_query_accepts_one_answer(server):
    query = server.query()
    report = query.privatize(record(server), rng=1)
    server.update(query, report)
    before = state_of(server)
    with pytest.raises(ValueError, match=r"^query must be the current one"):
        server.update(query, report)
    assert state_of(server) == before


def test_estimate_without_answers_is_an_error(make):
    server = make()
    before = state_of(server)
    with pytest.raises(ValueError, match=r"^an estimate needs at least 1 report, got n = 0$"):
        server.estimate()
    with pytest.raises(ValueError, match=r"^an estimate needs at least 1 report, got n = 0$"):
        server.run(*records_of(server, 0))
    assert state_of(server) == before


def test_few_answers_are_a_warning(make):
    with pytest.warns(ldp.SmallSampleWarning, match=r"^n = 1 is too small for "):
        answer(make(), 1).estimate()


# Runs -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_rejected_run_changes_nothing(server, bad, monkeypatch):
    """The invalid record is in a late piece, after many people have been asked."""
    monkeypatch.setattr(module_of(MedianSGD), "PIECE_ROWS", 50)
    monkeypatch.setattr(examples, "PIECE_NUMBERS", 100)
    before = state_of(server)
    for argument in range(len(records_of(server, 2))):
        arrays = [np.array(array, np.float64) for array in records_of(server, 300)]
        arrays[argument][250] = bad
        with pytest.raises(ValueError, match=r"^x (and y )?must be .*; index 250 is (outside|NaN) "):
            server.run(*arrays, rng=5)
        assert state_of(server) == before
    server.run(*records_of(server, 300), rng=5)
    assert server.n == 311


def test_run_accepts_records_in_any_layout(make):
    """Numbers that single precision represents exactly: the dtype makes no difference."""
    arrays = [np.asarray(array, np.float32) for array in records_of(make(), 60)]
    expected = make().run(*arrays, rng=SEED)
    for form in (
        lambda x: np.repeat(x, 2, axis=0)[::2],
        lambda x: x.astype(">f4"),
        lambda x: x.astype(np.float64),
        np.asfortranarray,
        np.ndarray.tolist,
    ):
        assert_same_estimate(make().run(*map(form, arrays), rng=SEED), expected)


def test_run_continues_after_single_answers(server):
    """Queries from before the run are invalid after it."""
    query = server.query()
    report = query.privatize(record(server))
    server.run(*records_of(server, 50))
    assert server.n == 61
    with pytest.raises(ValueError, match=r"of serial number 61, got serial number 11$"):
        server.update(query, report)
    assert answer(server, 2).n == 63


@each("make", [SERVERS[name] for name in SERVERS if "newton" not in name])
@each("cut", [1, 64, 256])
def test_two_runs_equal_one_run_if_they_meet_at_a_power_of_two(make, cut):
    """Segments of the sums, and with them pieces of the records, end at powers of two anyway."""
    arrays, one, two = records_of(make(), 400), make(), make()
    expected = one.run(*arrays, rng=SEED)
    two.run(*(array[:cut] for array in arrays), rng=SEED)
    assert_same_estimate(two.run(*(array[cut:] for array in arrays), rng=SEED), expected)
    assert_same(two.position, one.position)


def test_second_run_with_the_same_seed_uses_new_random_words(make):
    server, arrays = make(), records_of(make(), 64)
    server.run(*arrays, rng=SEED)
    again = copy.deepcopy(server)
    again._randomness = make()._randomness
    assert state_of(again) == state_of(server)
    assert not np.array_equal(again.run(*arrays, rng=SEED).value, server.run(*arrays, rng=SEED).value)


# Randomness and copies ------------------------------------------------------------------------------------------------


def type_name(rng):
    return type(rng).__name__


def same_key(a, b):
    return bytes(memoryview(a)) == bytes(memoryview(b))


def test_without_rng_each_call_has_a_fresh_key(make):
    arrays = records_of(make(), 64)
    positions = set()
    for _ in range(20):
        server = make()
        server.run(*arrays)
        positions.add(np.asarray(server.position).tobytes())
    assert len(positions) > 1
    server = make()
    assert not same_key(server._randomness.stream(None), server._randomness.stream(None))


@pytest.mark.parametrize(
    "rng", [5, np.random.SeedSequence(5), np.random.default_rng(5), np.random.PCG64(5)], ids=type_name
)
def test_another_rng_is_an_error(make, rng):
    server, arrays = make(), records_of(make(), 9)
    server.run(*arrays)  # rng=None sets nothing
    server.run(*arrays, rng=rng)
    before = state_of(server)
    for other in (None, 6, np.random.default_rng(5), np.random.SeedSequence(6)):
        with pytest.raises(ValueError, match=r"^rng must stay what it was when it was first given to this object$"):
            server.run(*arrays, rng=other)
        assert state_of(server) == before
    assert server.run(*arrays, rng=rng).n == 27


def copies(server):
    """Copies and pickles."""
    yield copy.copy(server)
    yield copy.deepcopy(server)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        yield pickle.loads(pickle.dumps(server, protocol))


def test_copies_continue_like_the_original(make):
    """Copies keep positions, sums and, for a seed, the number of the next block: everything but the key."""
    for twin in copies(make()):
        assert_same_estimate(twin.run(*records_of(twin, 40), rng=SEED), make().run(*records_of(twin, 40), rng=SEED))
    server = answer(make(), 5)
    server.run(*records_of(server, 40), rng=SEED)
    twins = list(copies(server))
    expected = server.run(*records_of(server, 70), rng=SEED)
    answer(server, 3)
    for twin in twins:
        assert_same_estimate(twin.run(*records_of(twin, 70), rng=SEED), expected)
        assert state_of(answer(twin, 3)) == state_of(server)


@pytest.mark.parametrize("rng", [SEED, np.random.SeedSequence(SEED), np.random.default_rng(SEED), None], ids=type_name)
def test_pickle_holds_no_key(make, rng):
    server = make()
    stream = server._randomness.stream(rng)
    server.run(*records_of(server, 9), rng=rng)
    key = bytes(memoryview(stream))
    assert key not in pickle.dumps(server)


def test_copy_draws_another_key_from_a_generator(make):
    rng = np.random.default_rng(SEED)
    server, arrays = make(), records_of(make(), 9)
    server.run(*arrays, rng=rng)
    twin = copy.deepcopy(server)
    assert not same_key(twin._randomness.stream(rng), server._randomness.stream(rng))
    assert twin.run(*arrays, rng=rng).n == 18


def test_copy_continues_with_the_same_seed_sequence(make):
    rng = np.random.SeedSequence(SEED)
    server, arrays = make(), records_of(make(), 9)
    server.run(*arrays, rng=rng)
    twin = copy.deepcopy(server)
    assert_same_estimate(twin.run(*arrays, rng=rng), server.run(*arrays, rng=rng))


# Saved states ---------------------------------------------------------------------------------------------------------


@each("n", [0, 1, 2, 3, 4, 5, 64, 100])
def test_a_saved_protocol_continues_like_the_original(make, n):
    server = answer(make(), n)
    data = server.to_bytes()
    twin = type(server).from_bytes(data)
    assert twin.to_bytes() == data
    assert state_of(twin) == state_of(server)
    assert twin.query() == server.query()
    assert twin.fingerprint == server.fingerprint
    if n:
        assert_same_estimate(twin.estimate(), server.estimate())
    assert_same_estimate(twin.run(*records_of(twin, 70), rng=SEED), server.run(*records_of(server, 70), rng=SEED))


@pytest.mark.claim("A saved state holds no key.", "Randomness")
def test_a_saved_protocol_holds_no_key(make):
    server = make()
    key = bytes(memoryview(server._randomness.stream(SEED)))
    server.run(*records_of(server, 9), rng=SEED)
    assert key not in server.to_bytes()


def test_damaged_states_of_protocols_are_refused(make):
    server = make()
    server.run(*records_of(server, 9), rng=SEED)
    data = server.to_bytes()
    for i in range(0, len(data), max(1, len(data) // 50)):
        with pytest.raises(ValueError, match=r"^data must be "):
            type(server).from_bytes(data[:i] + bytes([data[i] ^ 1]) + data[i + 1 :])
        with pytest.raises(ValueError, match=r"^data must be "):
            type(server).from_bytes(data[:i])
    with pytest.raises(TypeError, match=r"^data must be bytes, got int$"):
        type(server).from_bytes(3)
    other = GradientDescent if isinstance(server, MedianSGD) else MedianSGD
    with pytest.raises(ValueError, match=rf"^data must be .*data must describe a {other.__name__}, got a "):
        other.from_bytes(data)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1e300, 1e300])
def test_positions_that_a_protocol_cannot_have_are_refused(make, bad):
    """The checksum is that of the changed state."""
    server = make()
    server.run(*records_of(server, 9), rng=SEED)
    header, payload = opened(server)
    numbers = np.frombuffer(payload, "<f8").copy()
    numbers[0] = bad
    for changed in (numbers, numbers[:-1], np.append(numbers, 0.0)):
        with pytest.raises(ValueError, match=r"^data must be the bytes of a sequential protocol: "):
            type(server).from_bytes(sealed(header, changed.tobytes()))
    wrong = [-1, "7", None] if isinstance(server, NewtonStep) else [-1, "7", None, header["n"] + 1000]
    for n in wrong:
        with pytest.raises(ValueError, match=r"^data must be the bytes of a sequential protocol: "):
            type(server).from_bytes(sealed({**header, "n": n}, payload))


def test_a_protocol_holds_only_as_many_answers_as_it_can_save():
    server = NewtonStep("logistic", 2, epsilon=1.0, n=1000)
    server.run(*records_of(server, 1000), rng=SEED)
    header, payload = opened(server)
    server = NewtonStep.from_bytes(sealed({**header, "n": (1 << 62) - 2}, payload))
    answer(server, 1)
    data = server.to_bytes()
    with raises(ValueError, f"a protocol must hold fewer than 2^62 answers, got {1 << 62}"):
        answer(server, 1)
    with raises(ValueError, f"a protocol must hold fewer than 2^62 answers, got {(1 << 62) + 6}"):
        server.run(*records_of(server, 7), rng=SEED)
    assert server.to_bytes() == NewtonStep.from_bytes(data).to_bytes() == data


@pytest.mark.long
@pytest.mark.parametrize("bad", [1e300, -1e300, 1e30])
def test_sums_that_no_positions_have_are_refused(make, bad):
    server = make()
    server.run(*records_of(server, 9), rng=SEED)
    header, payload = opened(server)
    numbers = np.frombuffer(payload, "<f8")
    first = len(server._saved()[0])
    for place in range(first, len(numbers)):
        changed = numbers.copy()
        changed[place] = bad
        with pytest.raises(
            ValueError, match=r": ((sums|products) that (no positions|\d+ reports can)|a position outside)"
        ):
            type(server).from_bytes(sealed(header, changed.tobytes()))


@pytest.mark.parametrize("covariance, most", [("diagonal", 1 << 18), ("full", 1 << 13)])
def test_parameters_cannot_ask_for_gigabytes(covariance, most):
    for features in (most + 1, 1 << 40):
        with raises(ValueError, f"features must be an integer in [1, {most}], got {features}"):
            GradientDescent("logistic", features, 1.0, covariance=covariance)
    for projection in (1e-61, 1e61):
        with raises(ValueError, f"projection must be in [1e-60, 1e60], got {projection!r}"):
            GradientDescent("logistic", 1, 1.0, projection=projection)


@pytest.mark.parametrize("name", ["median", "gradient descent"])
def test_two_threads_at_once_are_refused_or_both_counted(name):
    """Every accepted answer is counted once."""
    server = MedianSGD(1.0, lower=0, upper=100) if name == "median" else GradientDescent("linear", 2, 1.0, residual=1.0)
    accepted, errors = [0] * 4, set()

    def answer(thread: int) -> None:
        for _ in range(300):
            try:
                query = server.query()
                record = 50.0 if name == "median" else np.array([0.5, 0.1, 0.3])
                server.update(query, query.privatize(record))
                accepted[thread] += 1
            except (RuntimeError, ValueError) as error:
                errors.add(str(error).partition(",")[0])

    threads = [threading.Thread(target=answer, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert server.n == sum(accepted) > 0
    assert errors <= {
        f"a {type(server).__name__} must not be changed by two threads at once",
        "query must be the current one",
    }


def test_a_second_thread_is_refused_while_the_first_changes_the_protocol():
    server = MedianSGD(1.0, lower=0, upper=100)
    query = server.query()
    with server._alone(0), pytest.raises(RuntimeError, match="must not be changed by two threads at once"):
        server.update(query, query.privatize(3.0))
    assert server.update(query, query.privatize(3.0)).n == 1
    assert pickle.loads(pickle.dumps(server)).n == 1


@pytest.mark.claim("A client refuses a query with a larger epsilon than `max_epsilon`.", "Bad input")
def test_a_client_can_refuse_a_forged_query():
    query = Query(3, ldp.LinfBall(100, 5.0))
    assert len(query.privatize(np.zeros(100), max_epsilon=5.0)) == 13
    with pytest.raises(ValueError, match=r"a query must have an epsilon of at most 4, got [45]\."):
        query.privatize(np.zeros(100), max_epsilon=4)
    with pytest.raises(ValueError, match="a query must have answers of at most 12 bytes, got 13"):
        query.privatize(np.zeros(100), max_bytes=12)
    huge = Query.from_bytes(Query(0, ldp.UnaryEncoding(1 << 34, 1.0)).to_bytes())
    with pytest.raises(ValueError, match="a query must have answers of at most 1048576 bytes, got 2147483648"):
        huge.privatize(3)


@each(
    "limits, error, message",
    [
        ({"max_epsilon": math.nan}, ValueError, "max_epsilon must be a finite number, got nan"),
        ({"max_epsilon": 0}, ValueError, "max_epsilon must be a finite number > 0, got 0"),
        ({"max_epsilon": "2"}, TypeError, "max_epsilon must be a number, got str"),
        ({"max_bytes": 0}, ValueError, "max_bytes must be an integer >= 1, got 0"),
        ({"max_bytes": 8.0}, TypeError, "max_bytes must be an integer, got float"),
    ],
    ids=str,
)
def test_invalid_limits_of_a_client_are_refused(limits, error, message):
    out = np.full(13, 7, np.uint8)
    with raises(error, message):
        Query(3, ldp.LinfBall(100, 5.0)).privatize(np.zeros(100), out=out, **limits)
    assert (out == 7).all()
