"""Protocols in which each person answers one query: what is refused, what is kept, and where the coins come from."""

from __future__ import annotations

import copy
import math
import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpfast as ldp
from ldpfast import Query
from ldpfast.estimation import GradientDescent, MedianSGD, _descent, _median
from ldpfast.estimation._answers import Answers
from ldpfast.estimation._average import Average
from ldpfast.mechanisms import Gradient

from .support import reference
from .support.examples import assert_same, assert_same_estimate

pytestmark = pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")

SEED = 20261201
SERVERS = {
    "median": lambda: MedianSGD(1.0, 0, 100),
    "quantile": lambda: MedianSGD(0.5, -3, 5, quantile=0.9, n=500),
    "l2": lambda: GradientDescent("logistic", 3, 2.0, covariance="full"),
    "linf": lambda: GradientDescent("linear", 2, 1.0, norm="linf", column=0.5, residual=2.0),
    "laplace": lambda: GradientDescent("poisson", 2, 1.0, noise="laplace", residual=2.0),
}


@pytest.fixture(params=SERVERS.values(), ids=SERVERS)
def make(request):
    return request.param


@pytest.fixture
def server(make):
    """A protocol with some answers."""
    return walk(make(), 11)


def people(server, n, seed=0):
    """Arguments of `run` for n people."""
    rng = np.random.default_rng([seed, n])
    if isinstance(server, MedianSGD):
        return (rng.uniform(server.lower, server.upper, n),)
    question = server._question
    return rng.normal(size=(n, server.dim - (question.column > 0))), rng.integers(0, 2, n)


def record(server, seed=0):
    """One person's record, as the client has it."""
    arrays = people(server, 1, seed)
    return np.column_stack(arrays)[0] if len(arrays) > 1 else arrays[0][0]


def walk(server, n):
    for i in range(n):
        query = server.query()
        server.update(query, query.privatize(record(server, i), rng=i))
    return server


def state_of(thing):
    """All that an object holds, comparable; kernels and sources of randomness apart."""
    if isinstance(thing, np.ndarray):
        return thing.dtype.str, thing.shape, thing.tobytes()
    if isinstance(thing, list | tuple):
        return [state_of(part) for part in thing]
    if type(thing).__module__.startswith("ldpfast.estimation"):
        parts = {name: part for name, part in vars(thing).items() if name not in ("_kernel", "_randomness")}
        return {name: state_of(part) for name, part in parts.items()}
    return thing


# Construction ---------------------------------------------------------------------------------------------------------

WRONG = [
    (MedianSGD, (0.0, 0, 1), {}, "epsilon must be a finite number > 0, got 0.0"),
    (MedianSGD, (1.0, 1, 1), {}, "lower and upper must be finite with lower < upper, got 1 and 1"),
    (MedianSGD, (1.0, 0, math.inf), {}, "upper must be a finite number, got inf"),
    (MedianSGD, (1.0, 0, 1), {"quantile": 0}, "quantile must be in (0, 1), got 0"),
    (MedianSGD, (1.0, 0, 1), {"quantile": 1.0}, "quantile must be in (0, 1), got 1.0"),
    (MedianSGD, (1.0, 0, 1), {"n": 0}, "n must be an integer in [1, 9007199254740992], got 0"),
    (Gradient, ("normal", (0.0,), 1.0), {}, "family must be one of 'logistic', 'linear', 'poisson', got 'normal'"),
    (Gradient, ("logistic", (0.0,), 1.0, "l1"), {}, "norm must be one of 'l2', 'linf', got 'l1'"),
    (Gradient, ("logistic", (0.0,), 1.0), {"noise": ""}, "noise must be one of 'half-space', 'laplace', got ''"),
    (Gradient, ("logistic", 0.0, 1.0), {}, "position must have shape (dim,), got shape ()"),
    (Gradient, ("logistic", ((0.0,),), 1.0), {}, "position must have shape (dim,), got shape (1, 1)"),
    (Gradient, ("logistic", (math.nan,), 1.0), {}, "position must be a finite number, got nan"),
    (Gradient, ("logistic", (), 1.0), {}, "position must hold at least 1 coefficient beside the intercept, got 0"),
    (
        Gradient,
        ("logistic", (0.0,), 1.0),
        {"column": 1.0},
        "position must hold at least 1 coefficient beside the intercept, got 1",
    ),
    (Gradient, ("logistic", (0.0,), 1.0), {"column": -1.0}, "column must be 0 or in [1e-15, 1e15], got -1.0"),
    (Gradient, ("logistic", (0.0,), 1.0), {"radius": 0}, "radius must be a finite number > 0, got 0"),
    (
        Gradient,
        ("linear", (0.0,), 1.0),
        {},
        "residual must be given for the family 'linear', whose residuals have no bound",
    ),
    (Gradient, ("poisson", (0.0,), 1.0), {"residual": -1}, "residual must be a finite number > 0, got -1"),
    (GradientDescent, ("logistic", 0, 1.0), {}, "features must be an integer >= 1, got 0"),
    (GradientDescent, ("logistic", 1, 1.0), {"exponent": 0.5}, "exponent must be in (1/2, 1), got 0.5"),
    (GradientDescent, ("logistic", 1, 1.0), {"exponent": 1}, "exponent must be in (1/2, 1), got 1"),
    (GradientDescent, ("logistic", 1, 1.0), {"eta0": 0}, "eta0 must be a finite number > 0, got 0"),
    (GradientDescent, ("logistic", 1, 1.0), {"projection": 0}, "projection must be a finite number > 0, got 0"),
    (
        GradientDescent,
        ("logistic", 1, 1.0),
        {"covariance": "no"},
        "covariance must be one of 'diagonal', 'full', got 'no'",
    ),
]


@pytest.mark.parametrize("kind, arguments, options, message", WRONG, ids=[case[-1] for case in WRONG])
def test_parameters_that_are_refused(kind, arguments, options, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        kind(*arguments, **options)


# Queries and answers --------------------------------------------------------------------------------------------------


def test_serial_numbers_count_the_answers(make):
    server = make()
    for n in range(4):
        assert (server.query().serial, server.n) == (n, n)
        query = server.query()
        assert server.update(query, query.privatize(record(server))) is server


def test_the_question_is_about_the_position(server):
    mechanism = server.query().mechanism
    if isinstance(server, MedianSGD):
        assert mechanism == ldp.Bins(server.position, server.epsilon)
    else:
        assert isinstance(mechanism, Gradient)
        assert mechanism.position == tuple(server.position)
    assert mechanism.guarantee == server.estimate().guarantee


def test_a_query_that_went_as_bytes_is_the_same(server):
    query = Query.from_bytes(server.query().to_bytes())
    report = query.privatize(record(server), rng=3)
    assert state_of(copy.deepcopy(server).update(query, report)) == state_of(server.update(server.query(), report))


def test_one_report_comes_alone_or_in_an_array(server):
    query, other = server.query(), copy.deepcopy(server)
    report = query.privatize(record(server), rng=3)
    other.update(query, report[np.newaxis])
    server.update(query, report)
    assert state_of(server) == state_of(other)


def refused(server):
    """Queries and reports that do not fit the state of a server, and the words of the refusal."""
    query, x = server.query(), record(server)
    report, serial = query.privatize(x, rng=1), server.n
    current = rf"^query must be the current one, of serial number {serial}, got serial number "
    yield Query(serial - 1, query.mechanism), report, ValueError, rf"{current}{serial - 1}$"
    yield Query(serial + 1, query.mechanism), report, ValueError, rf"{current}{serial + 1}$"
    for other in (ldp.Warner(1.0), ldp.Bins(1e9, 1.0), Gradient("logistic", (7.0, 7.0), 1.0)):
        yield Query(serial, other), report, ValueError, rf"{current}{serial}$"
    for wrong in (query.mechanism, serial, None, query.to_bytes()):
        yield wrong, report, TypeError, rf"^query must be a Query, got {type(wrong).__name__}$"
    one = r"^reports must be exactly one, for each query has one answer, got "
    yield query, np.stack([report, report]), ValueError, rf"{one}2$"
    yield query, report[np.newaxis][:0], ValueError, rf"{one}0$"
    yield query, report.astype(complex), TypeError, r"^reports must have dtype "
    yield query, None, TypeError, r"^reports must have dtype "
    yield query, "1", TypeError, r"^reports must have dtype "
    yield query, np.ones((1, 1, 1), report.dtype), ValueError, r"^reports must have shape "
    if report.dtype == np.uint8 and report.ndim == 0:
        yield query, np.uint8(2), ValueError, r"^reports must be codes in \[0, 2\); index 0 is outside$"
    elif report.dtype == np.uint8:
        yield query, report | 0x80, ValueError, r"^reports must have zeros in the padding after 3 bits; row 0 has not$"
    else:
        for wrong in (report * np.nan, report * np.inf, report * 1.001, report[:-1]):
            yield query, wrong, ValueError, r"^reports must (lie on|have Euclidean norm|have shape)"


def test_what_is_refused_changes_nothing(server):
    """A second answer to a query would be a second release about one person, or somebody's vote twice."""
    before, twin = state_of(server), copy.deepcopy(server)
    for query, reports, error, message in refused(server):
        with pytest.raises(error, match=message):
            server.update(query, reports)
        assert state_of(server) == before
    assert state_of(walk(server, 3)) == state_of(walk(twin, 3))


def test_an_answer_counts_once(server):
    query = server.query()
    report = query.privatize(record(server), rng=1)
    server.update(query, report)
    before = state_of(server)
    with pytest.raises(ValueError, match=r"^query must be the current one"):
        server.update(query, report)
    assert state_of(server) == before


def test_without_answers_there_is_no_estimate(make):
    server = make()
    before = state_of(server)
    with pytest.raises(ValueError, match=r"^an estimate needs at least 1 report, got n = 0$"):
        server.estimate()
    with pytest.raises(ValueError, match=r"^an estimate needs at least 1 report, got n = 0$"):
        server.run(*people(server, 0))
    assert state_of(server) == before


def test_few_answers_are_warned_about(make):
    with pytest.warns(ldp.SmallSampleWarning, match=r"^n = 1 is too small for "):
        walk(make(), 1).estimate()


# run ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_run_that_is_refused_changes_nothing(server, bad, monkeypatch):
    """The bad record is found in a late piece, when many people have been asked already."""
    monkeypatch.setattr(_median, "CHUNK", 50)
    monkeypatch.setattr(_descent, "CHUNK_NUMBERS", 100)
    before = state_of(server)
    for argument in range(len(people(server, 2))):
        arrays = [np.array(array, np.float64) for array in people(server, 300)]
        arrays[argument][250] = bad
        with pytest.raises(ValueError, match=r"^x (and y )?must be .*; index 250 is outside"):
            server.run(*arrays, rng=5)
        assert state_of(server) == before
    server.run(*people(server, 300), rng=5)
    assert server.n == 311


def test_responses_that_do_not_fit_the_family():
    for family, bad in (("logistic", 2), ("logistic", 0.5), ("logistic", -1), ("poisson", -1)):
        server = GradientDescent(family, 2, 1.0, residual=1.0)
        for shuffle in (False, True):
            with pytest.raises(
                ValueError, match=r"^x and y must be rows of 2 finite numbers and a response, .*; index 1 "
            ):
                server.run(np.zeros((3, 2)), [1, bad, 1], shuffle=shuffle)
        assert server.n == 0
    for x, y in ((np.zeros((3, 3)), np.zeros(3)), (np.zeros(3), np.zeros(3)), (np.zeros((3, 2)), np.zeros(2))):
        with pytest.raises(ValueError, match=r"^[xy] must have shape "):
            server.run(x, y)


def test_a_run_takes_records_in_any_form(make):
    """Numbers that single precision holds: the dtype makes no difference, rows are floats in the kernel anyway."""
    arrays = [np.asarray(array, np.float32) for array in people(make(), 60)]
    expected = make().run(*arrays, rng=SEED)
    for form in (
        lambda x: np.repeat(x, 2, axis=0)[::2],
        lambda x: x.astype(">f4"),
        lambda x: x.astype(np.float64),
        np.asfortranarray,
        np.ndarray.tolist,
    ):
        assert_same_estimate(make().run(*map(form, arrays), rng=SEED), expected)


def test_a_run_goes_on_after_answers_one_by_one(server):
    """Queries from before the run are old, whatever happened in it."""
    query = server.query()
    report = query.privatize(record(server))
    server.run(*people(server, 50))
    assert server.n == 61
    with pytest.raises(ValueError, match=r"of serial number 61, got serial number 11$"):
        server.update(query, report)
    assert walk(server, 2).n == 63


@pytest.mark.parametrize("cut", [1, 64, 256])
def test_a_run_in_two_calls_is_one_run_if_they_meet_at_a_power_of_two(make, cut):
    """There a segment of the sums, and with it a piece of the records, ends anyway."""
    arrays, one, two = people(make(), 400), make(), make()
    expected = one.run(*arrays, rng=SEED)
    two.run(*(array[:cut] for array in arrays), rng=SEED)
    assert_same_estimate(two.run(*(array[cut:] for array in arrays), rng=SEED), expected)
    assert_same(two.position, one.position)


def test_no_coin_comes_twice(make):
    """The same people and seed again, on one object: other coins than at the start."""
    server, arrays = make(), people(make(), 64)
    server.run(*arrays, rng=SEED)
    again = copy.deepcopy(server)
    again._randomness = make()._randomness
    assert state_of(again) == state_of(server)
    assert not np.array_equal(again.run(*arrays, rng=SEED).value, server.run(*arrays, rng=SEED).value)


@pytest.mark.parametrize(
    "lower, upper",
    [
        (-1e60, 1e60),
        (0.0, 1e-60),
        (1e6, 1e6 + 1),
    ],
)
def test_an_interval_of_any_size_works(lower, upper):
    """All that the constructor accepts: results are those of the unit interval, moved and scaled."""
    x = np.random.default_rng(1).uniform(0.2, 0.9, 3000)
    unit = MedianSGD(1.0, 0, 1).run(x, rng=SEED)
    result = MedianSGD(1.0, lower, upper).run(lower + (upper - lower) * x, rng=SEED)
    for ours, theirs in zip((result.value, *result.interval()), (unit.value, *unit.interval()), strict=True):
        assert (ours - lower) / (upper - lower) == pytest.approx(theirs, rel=0, abs=1e-3)


@pytest.mark.parametrize(
    "norm, size",
    [
        ("linf", 1e300),
        ("l2", 1e30),
        ("l2", 1e300),
    ],
)
def test_rows_far_out_are_clipped_to_the_ball(norm, size):
    """Their direction stays: under one key the steps are those of the row at the edge."""
    near, far = (GradientDescent("logistic", 3, 8.0, norm=norm) for _ in range(2))
    row, n = np.array([1.0, 0.0, 0.0]), 2000
    near.run(np.tile(row, (n, 1)), np.ones(n), rng=SEED)
    far.run(np.tile(size * row, (n, 1)), np.ones(n), rng=SEED)
    assert_same(far.position, near.position)


def test_one_step_of_descent_has_no_finite_standard_error():
    assert np.isinf(walk(GradientDescent("logistic", 3, 2.0), 1).estimate().stderr).all()


# Randomness -----------------------------------------------------------------------------------------------------------


def kind_name(rng):
    return type(rng).__name__


def same_words(a, b):
    return bytes(memoryview(a)) == bytes(memoryview(b))


def test_without_rng_every_call_has_a_fresh_key(make):
    arrays = people(make(), 64)
    positions = set()
    for _ in range(20):
        server = make()
        server.run(*arrays)
        positions.add(np.asarray(server.position).tobytes())
    assert len(positions) > 1
    server = make()
    assert not same_words(server._randomness.stream(None), server._randomness.stream(None))


@pytest.mark.parametrize(
    "rng", [5, np.random.SeedSequence(5), np.random.default_rng(5), np.random.PCG64(5)], ids=kind_name
)
def test_rng_stays_what_it_was(make, rng):
    server, arrays = make(), people(make(), 9)
    server.run(*arrays)  # None: nothing is tied to it
    server.run(*arrays, rng=rng)
    before = state_of(server)
    for other in (None, 6, np.random.default_rng(5), np.random.SeedSequence(6)):
        with pytest.raises(ValueError, match=r"^rng must stay what it was when it was first given to this object$"):
            server.run(*arrays, rng=other)
        assert state_of(server) == before
    assert server.run(*arrays, rng=rng).n == 27


def copies(server):
    yield copy.deepcopy(server)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        yield pickle.loads(pickle.dumps(server, protocol))


def test_copies_go_on_as_the_original_does(make):
    """Positions, sums and, for a seed, the number of the next block: all but the key itself."""
    for twin in copies(make()):
        assert_same_estimate(twin.run(*people(twin, 40), rng=SEED), make().run(*people(twin, 40), rng=SEED))
    server = walk(make(), 5)
    server.run(*people(server, 40), rng=SEED)
    twins = list(copies(server))
    expected = server.run(*people(server, 70), rng=SEED)
    walk(server, 3)
    for twin in twins:
        assert_same_estimate(twin.run(*people(twin, 70), rng=SEED), expected)
        assert state_of(walk(twin, 3)) == state_of(server)


@pytest.mark.parametrize("rng", [SEED, np.random.SeedSequence(SEED), np.random.default_rng(SEED), None], ids=kind_name)
def test_no_key_is_stored_in_a_pickle(make, rng):
    server = make()
    stream = server._randomness.stream(rng)
    server.run(*people(server, 9), rng=rng)
    key = bytes(memoryview(stream))
    assert key not in pickle.dumps(server)


def test_a_copy_takes_another_key_from_a_generator(make):
    rng = np.random.default_rng(SEED)
    server, arrays = make(), people(make(), 9)
    server.run(*arrays, rng=rng)
    twin = copy.deepcopy(server)
    assert not same_words(twin._randomness.stream(rng), server._randomness.stream(rng))
    assert twin.run(*arrays, rng=rng).n == 18


def test_a_copy_goes_on_with_the_same_seed_sequence(make):
    rng = np.random.SeedSequence(SEED)
    server, arrays = make(), people(make(), 9)
    server.run(*arrays, rng=rng)
    twin = copy.deepcopy(server)
    assert_same_estimate(twin.run(*arrays, rng=rng), server.run(*arrays, rng=rng))


# Sums by segments -----------------------------------------------------------------------------------------------------


def slices(n, draw):
    """Pieces of a run, of any lengths."""
    start = 0
    while start < n:
        stop = min(n, start + draw(st.integers(1, 40)))
        yield start, stop
        start = stop


@given(st.integers(1, 300), st.floats(-1e3, 1e3), st.integers(0, 2**31), st.data())
def test_segments_of_answers_are_one_big_sum(n, place, seed, data):
    """The positions that count, at distances from their mean: powers and answers; and the parabola through them."""
    rng = np.random.default_rng(seed)
    positions, ones = place + np.cumsum(rng.uniform(-1, 1, n)), rng.integers(0, 2, n)
    answers = Answers(float(positions[0]))
    for start, stop in slices(n, data.draw):
        while start < stop:
            now = min(stop - start, answers.room)
            powers = (positions[start : start + now] - answers.origin) ** np.arange(5)[:, np.newaxis]
            answers.moments += powers[1:].sum(axis=1)
            answers.ones += (powers[:3] * ones[start : start + now]).sum(axis=1)
            start += now
            answers.added(now, float(positions[start] if start < n else 0.0))
    assert answers.count == n
    first = reference.counted_from(n)
    kept, bits = positions[first:], ones[first:]
    mean, size, moments, sums = answers._kept()
    spread = np.ptp(positions) + 1  # the origins of the segments are positions too
    assert size == n - first
    assert answers.mean() == mean == pytest.approx(kept.mean(), rel=0, abs=1e-12 * (spread + abs(place)))
    powers = (kept - mean) ** np.arange(1, 5)[:, np.newaxis]
    tolerance = 1e-11 * size * (spread + 1e-3 * abs(place)) ** np.arange(5)
    assert (np.abs(moments - powers.sum(axis=1)) <= tolerance[1:]).all()
    expected = [bits.sum(), *(bits * powers[:2]).sum(axis=1)]
    assert (np.abs(sums - expected) <= tolerance[:3]).all()
    crossing = answers.crossing(-1e6, 1e6, 0.5)
    if crossing is not None:
        v = (kept - crossing.centre) / crossing.scale
        design = v[:, np.newaxis] ** np.arange(3)
        fitted = np.linalg.lstsq(design, bits.astype(float), rcond=None)[0]
        at = np.linspace(-1, 1, 5)
        chance, error = crossing.excess(at)
        rows = at[:, np.newaxis] ** np.arange(3)
        np.testing.assert_allclose(chance + 0.5, rows @ fitted, rtol=0, atol=1e-5)
        variance = np.einsum("ai,ij,aj->a", rows, np.linalg.inv(design.T @ design), rows) / 4
        np.testing.assert_allclose(error, np.sqrt(variance), rtol=1e-4)


@given(st.integers(1, 300), st.booleans(), st.integers(0, 2**31), st.data())
def test_segments_of_positions_are_one_big_sum(n, full, seed, data):
    rng = np.random.default_rng(seed)
    positions = rng.uniform(-3, 3, 3) + np.cumsum(rng.normal(size=(n, 3)), axis=0)
    average = Average((4, 32), 3 if full else None)
    for start, stop in slices(n, data.draw):
        while start < stop:
            now = min(stop - start, average.room)
            totals = average.sums[0, :3] + np.cumsum(positions[start : start + now], axis=0)
            s = np.arange(average.size + 1, average.size + now + 1)[:, np.newaxis]
            average.sums[:, :3] += [
                totals[-1] - average.sums[0, :3],
                totals.sum(0),
                (totals**2).sum(0),
                (s * totals).sum(0),
            ]
            if average.matrix is not None:
                average.matrix += totals.T @ totals
            average.added(now)
            start += now
    assert average.count == n
    mean, covariance = reference.random_scaling(positions[reference.counted_from(n) :])
    size = np.abs(positions).max()
    np.testing.assert_allclose(average.mean()[:3], mean, rtol=0, atol=1e-12 * size)
    if n > 1:
        np.testing.assert_allclose(average.stderr()[:3] ** 2, np.diag(covariance), rtol=1e-9, atol=1e-10 * size**2)
    if full:
        np.testing.assert_allclose(average.covariance(), covariance, rtol=1e-9, atol=1e-10 * size**2)
    assert not average.mean()[3:].any()


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 1000])
def test_the_start_that_is_left_out(n):
    """The largest power of two up to a quarter of all; nothing below 4."""
    left_out = 0 if n < 4 else 2 ** math.floor(math.log2(n / 4))
    assert reference.counted_from(n) == left_out
    answers, average = Answers(0.0), Average((4, 32))
    for _ in range(n):
        for sums in (answers, average):
            assert sums.room == 2 ** math.floor(math.log2(max(sums.count, 1)) + (sums.count > 0)) - sums.count
        answers.added(1, 0.0)
        average.added(1)
    assert answers._kept().size == average._kept().size == n - left_out


def test_a_copy_of_the_sums_stands_alone():
    answers, average = Answers(0.0), Average((4, 32), 2)
    for _ in range(5):
        answers.added(1, 0.0)
        average.added(1)
    for sums in (answers, average):
        twin, before = sums.copy(), state_of(sums)
        assert state_of(twin) == before
        for array in (value for value in vars(twin).values() if isinstance(value, np.ndarray)):
            array += 1
        twin.added(3, 1.0) if sums is answers else twin.added(3)
        assert state_of(sums) == before
        assert sums.count == 5
