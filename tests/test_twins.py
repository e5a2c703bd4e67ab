"""Every kernel against its slow twin, on each instruction set, at sizes around the widths of words and vectors."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import _coins, _core
from ldpfast._core import bits, codes, domains, noise, series, sgd, stream, sums
from ldpfast.estimation import GradientDescent, MedianSGD, _descent, _median
from ldpfast.mechanisms import Gradient, LaplaceOneHot, _onehot

from .support import reference
from .support.examples import assert_same, assert_same_estimate

SEED = 20261121
KEY = np.random.SeedSequence(SEED).generate_state(8, np.uint32).astype("<u4").tobytes()
SIZES = (1, 7, 8, 9, 63, 64, 65, 511, 512, 513)


pytestmark = pytest.mark.usefixtures("isa")


def random(n):
    return np.random.default_rng(n)


@pytest.mark.parametrize("n", [1, 7, 8, 9, 64, 65, 513, 2049])
@pytest.mark.parametrize(
    "k, epsilon", [(2, 1.0), (3, 0.1), (5, 12.0), (128, 1.0), (256, 3.0), (300, 2.0), (70_000, 5.0)]
)
def test_response(k, epsilon, n):
    mechanism = ldp.RandomizedResponse(k, epsilon)
    x = random(n).integers(0, k, n)
    reports = mechanism.privatize(x, rng=SEED)
    for block in range(-(-n // 2048)):
        words = reference.Words(KEY, "RandomizedResponse", block)
        for i in range(2048 * block, min(n, 2048 * block + 2048)):
            assert reports[i] == reference.respond(mechanism._coin, words, x[i])


@pytest.mark.parametrize("n", SIZES)
def test_warner(n):
    mechanism = ldp.Warner(0.7)
    x = random(n).integers(0, 2, n)
    words = reference.Words(KEY, "Warner", 0)
    assert mechanism.privatize(x, rng=SEED).tolist() == [reference.respond(mechanism._coin, words, t) for t in x]


HARD = [0.0, -0.0, -5e-324, -0.1, -4.1, 1e300, -1e300, 5e-324, 2.0**52, -(2.0**52) - 1, 0.75, -0.75]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("offset", [0.0, 0.25])
def test_residue(offset, n, dtype):
    mechanism = ldp.Residue(0.75, offset, 5, 1.5)
    with np.errstate(over="ignore"):
        x = np.nan_to_num(np.concatenate([random(n).normal(0, 50, n), HARD]).astype(dtype))
    words = reference.Words(KEY, "Residue", 0)
    expected = []
    for value in x.astype(float):
        cell = min(max(np.floor((value - offset) / 0.75), -(2.0**52)), 2.0**52)
        expected.append(reference.respond(mechanism._coin, words, int(cell) % 5))
    assert mechanism.privatize(x, rng=SEED).tolist() == expected


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("cuts", [(0.0,), (-1.0, 0.5, 2.0)])
def test_bins(cuts, n, dtype):
    mechanism = ldp.Bins(cuts, 0.5)
    x = np.concatenate([random(n).normal(0, 2, n), cuts]).astype(dtype)
    words = reference.Words(KEY, "Bins", 0)
    expected = [
        reference.respond(mechanism._coin, words, sum(cut <= value for cut in cuts)) for value in x.astype(float)
    ]
    assert mechanism.privatize(x, rng=SEED).tolist() == expected


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", SIZES)
def test_sign_bit(n, dtype):
    mechanism = ldp.SignBit(-1.5, 4.0, 1.0)
    x = np.concatenate([random(n).uniform(-1.5, 4.0, n), [-1.5, 4.0]]).astype(dtype)
    words = reference.Words(KEY, "SignBit", 0)
    expected = [reference.sign_bit(mechanism._heads, -1.5, 4.0, words, value) for value in x.astype(float)]
    assert mechanism.privatize(x, rng=SEED).tolist() == expected


@pytest.mark.parametrize("lanes", [1, 2, 15, 16, 17, 31, 32, 33, 64, 511, 512, 513, 2000, 8192])
@pytest.mark.parametrize(
    "m", [1, 1 << 127, (1 << 128) - 1, 0xB504F333F9DE6484597D89B3754ABE9F, 3 << 120, 0x5555 << 100]
)
def test_coins_by_bit_planes(m, lanes):
    out = np.empty(-(-lanes // 512) * 8, np.uint64)
    stream.coins(KEY, m >> 64, m & reference.WORD - 1, lanes, False, out)
    heads = np.unpackbits(out.view(np.uint8), bitorder="little")
    assert heads[:lanes].tolist() == reference.coins_fill(reference.Words(KEY, 0, 0), m, lanes)
    assert not heads[lanes:].any()


@pytest.mark.parametrize("lanes", [1, 8, 63, 64, 65, 1000])
def test_coins_one_at_a_time(lanes):
    heads = 0x9E3779B97F4A7C15
    out = np.empty(-(-lanes // 512) * 8, np.uint64)
    stream.coins(KEY, heads, 0, lanes, True, out)
    got = np.unpackbits(out.view(np.uint8), bitorder="little")
    assert got[:lanes].tolist() == reference.coins_direct(reference.Words(KEY, 0, 0), heads, lanes)
    assert not got[lanes:].any()


def unary_twin(mechanism, x):
    """One block: flat lanes over padded rows, then the own bit, then the padding."""
    k, n = mechanism.k, len(x)
    width = 8 * mechanism.report_bytes
    words, own = reference.Words(KEY, "unary bits", 0), reference.Words(KEY, "unary own", 0)
    fair = np.unpackbits(own.take(1024, np.uint8), bitorder="little")
    if n == 1:
        lanes = np.array(reference.coins_direct(words, mechanism._other, width))
    else:
        lanes = np.array(reference.coins_fill(words, mechanism._other << 64, n * width))
    rows = lanes.reshape(n, width)[:, :k]
    for i, category in enumerate(x):
        rows[i, category] = fair[i] if mechanism.variant == "optimized" else 1 - rows[i, category]
    return rows


@pytest.mark.parametrize("variant", ["symmetric", "optimized"])
@pytest.mark.parametrize(
    "k, n", [(2, 1), (2, 65), (8, 9), (9, 64), (13, 1), (64, 3), (65, 8), (128, 1), (128, 63), (1000, 7)]
)
def test_unary(k, n, variant):
    mechanism = ldp.UnaryEncoding(k, 1.0, variant)
    x = random(n).integers(0, k, n)
    reports = mechanism.privatize(x, rng=SEED)
    np.testing.assert_array_equal(np.unpackbits(reports, axis=1, count=k, bitorder="little"), unary_twin(mechanism, x))
    assert mechanism.report.accepts(reports) is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "dim, n", [(1, 1), (1, 65), (2, 9), (7, 8), (8, 64), (27, 65), (64, 9), (65, 7), (128, 8), (513, 3)]
)
def test_linf(dim, n, dtype):
    mechanism = ldp.LinfBall(dim, 1.0, radius=1.7)
    x = np.clip(random(n).uniform(-2, 2, (n, dim)), -1.7, 1.7).astype(dtype)
    got = mechanism.privatize(x, rng=SEED, clip=True)
    expected = reference.linf_rows(mechanism, KEY, 0, x)
    np.testing.assert_array_equal(np.unpackbits(got, axis=1, count=dim, bitorder="little"), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dim, n", [(2, 64), (4, 65), (8, 100), (64, 9)])
def test_linf_with_thin_ties(dim, n, dtype):
    mechanism = ldp.LinfBall(dim, 1.0, ties="thin")
    x = random(n).uniform(-1, 1, (n, dim)).astype(dtype)
    got = np.unpackbits(mechanism.privatize(x, rng=SEED), axis=1, count=dim, bitorder="little")
    expected = reference.linf_rows(mechanism, KEY, 0, x, 2 * (reference.WORD - mechanism._heads))
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [4, 512, 1024, 1025, 5000])
def test_normals(n, dtype):
    out = np.empty(n, dtype)
    stream.normals(KEY, out)
    expected = reference.normals(reference.Words(KEY, 0, 0), n, dtype)
    np.testing.assert_allclose(out, expected, rtol=0, atol=4e-6 if dtype == np.float32 else 1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "dim, n", [(1, 1), (1, 64), (2, 9), (3, 65), (8, 8), (31, 7), (32, 9), (33, 5), (100, 9), (513, 3), (5000, 1)]
)
def test_l2(dim, n, dtype):
    mechanism = ldp.L2Ball(dim, 1.0, radius=2.0)
    x = random(n).normal(size=(n, dim))
    x *= random(dim).uniform(0, 1.99, (n, 1)) / np.linalg.norm(x, axis=1, keepdims=True)
    x = x.astype(dtype)
    got = mechanism.privatize(x, rng=SEED)
    expected = reference.l2_rows(mechanism, KEY, 0, x)
    scale = mechanism.scale / np.sqrt(dim)
    tolerance = (1e-4 if dtype == np.float32 else 1e-12) * scale * 10
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 2, 16, 17, 512, 513, 700])
def test_laplace(n, dtype):
    mechanism = ldp.Laplace(-1.0, 3.0, 0.5)
    x = random(n).uniform(-1, 3, n).astype(dtype)
    x[0] = 3.0
    coins = _coins.geometric(0.5, 512, 512, 1)
    noise = reference.discrete_laplace(
        coins.digits, coins.carry, reference.Words(KEY, 15, 0, 256), reference.Words(KEY, 16, 0, 256), n
    )
    rounding = reference.Words(KEY, 17, 0).take(n, "<u4")
    expected = []
    for value, word, z in zip(x.astype(float), rounding, noise, strict=True):
        steps = (value + 1.0) * (1 / mechanism.grid)
        index = int(steps) + int((int(word) >> 1) < (steps - int(steps)) * 2.0**31)
        expected.append(-1.0 + mechanism.grid * (index + z + 0.5))
    assert mechanism.privatize(x, rng=SEED).tolist() == expected


@pytest.mark.parametrize("dim", [1, 9, 300, 9000])
def test_l1_norm_of_rounded_rows_is_limited_in_integers(dim):
    """With digit coins that never fall heads the noise is 0 or -1: the reports show the integers. A kernel that is given
    a radius far too large for its limit, hence rows that the projection leaves alone, still keeps to the limit."""
    limit = 1000
    kernel = noise.Laplace(dim, -1.0, 2.0**-10, 1 << 11, limit, 1e9, (0, 0), 0, "vector")
    for row in (np.ones(dim), -np.ones(dim), np.linspace(-1, 1, dim), np.full(dim, np.inf)):
        out = np.empty((1, dim))
        kernel.privatize(stream.Stream(KEY), 0, row[np.newaxis], out)
        steps = (out[0] + 1) * 2.0**10 - 0.5 - 2**10  # distance from the centre, plus 0 or -1
        assert np.abs(steps).sum() <= limit + dim
        assert np.abs(steps).sum() >= min(limit, np.abs(np.clip(row, -1, 1)).sum() * 2**10) - 2 * dim


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dim", [1, 2, 27, 64, 5000, 40_000])
def test_half_space_reports_of_two_records_are_equal_or_opposite(dim, dtype):
    """All that a record decides is one sign: under one key the reports of any two records differ by it alone, NaN,
    infinite, huge and subnormal records included."""
    tiny, huge = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max
    rows = [0.0, 1.0, -1.0, tiny, -tiny, huge, -huge, np.nan, np.inf, -np.inf]
    plain = [random(i).uniform(-1, 1, dim) for i in range(3)]
    records = np.array([*(np.full(dim, value) for value in rows), *plain]).astype(dtype)
    linf, l2 = ldp.LinfBall(dim, 1.0), ldp.L2Ball(dim, 1.0)
    first = linf.privatize(records[0], rng=SEED), l2.privatize(records[0], rng=SEED)
    signs = set()
    for record in records:
        packed = np.unpackbits(linf.privatize(record, rng=SEED, clip=True) ^ first[0], count=dim, bitorder="little")
        assert packed.min() == packed.max()
        vector = l2.privatize(record, rng=SEED, clip=True)
        sign = np.sign(vector[0]) * np.sign(first[1][0])
        np.testing.assert_array_equal(vector, sign * first[1])
        signs.add(sign)
    assert signs <= {1.0, -1.0}


@pytest.mark.parametrize("n", [0, *SIZES, 4095, 4097, 70_000])
@pytest.mark.parametrize("k", [1, 2, 8, 13, 64, 100, 128, 511, 512, 513, 1024, 1031])
def test_positional_population_count(k, n):
    if n * k > 10_000_000:
        n //= 16
    rows = random(k).integers(0, 256, (n, (k + 7) // 8), dtype=np.uint8)
    counts = np.full(k, 5, np.int64)
    bits.tally(rows, counts)
    np.testing.assert_array_equal(counts - 5, np.unpackbits(rows, axis=1, count=k, bitorder="little").sum(0))


@pytest.mark.parametrize("n", [0, *SIZES, 64 * 255, 64 * 256 + 3, 100_000])
@pytest.mark.parametrize("k, dtype", [(2, "u1"), (16, "u1"), (17, "u1"), (256, "u1"), (300, "u2"), (70_000, "u4")])
def test_histogram(k, dtype, n):
    codes_ = random(n + k).integers(0, k, n).astype(dtype)
    counts = np.zeros(k, np.int64)
    codes.tally(codes_, counts)
    np.testing.assert_array_equal(counts, np.bincount(codes_, minlength=k))


def to_int(words):
    value = int(words[1]) << 64 | int(words[0])
    return value - (1 << 128) if value >> 127 else value


@pytest.mark.parametrize("dtype, steps, weight", [(np.float32, 2.0**30, 1 << 10), (np.float64, 2.0**40, 1)])
@pytest.mark.parametrize("dim, n", [(1, 1), (3, 5000), (8, 9), (65, 64), (100, 9), (300, 10)])
def test_sums_of_vectors(dim, n, dtype, steps, weight):
    bound = 3.7
    y = random(n).uniform(-bound, bound, (n, dim)).astype(dtype)
    state = np.zeros((dim, 2), np.uint64)
    sums.add_vectors(y, dim, bound, state)
    expected = [sum(int(np.rint(float(v) * (steps / bound))) for v in y[:, j]) * weight for j in range(dim)]
    assert [to_int(row) for row in state] == expected


@pytest.mark.parametrize("dim, n", [(1, 1), (1, 1000), (3, 64), (10, 9)])
def test_sums_on_a_grid(dim, n):
    lower, grid = -2.5, 0.001
    j = random(n).integers(-(2**47), 2**47, (n, dim))
    j[0, 0] = 0
    state = np.zeros((2 * dim, 2), np.uint64)
    y = lower + grid * (j + 0.5)
    assert sums.off_grid(y, lower, grid) == -1
    sums.add_grid(y, dim, lower, grid, state)
    expected = [sum(map(int, j[:, c])) for c in range(dim)] + [sum(int(v) ** 2 for v in j[:, c]) for c in range(dim)]
    assert [to_int(row) for row in state] == expected


def test_off_grid_is_found():
    y = -2.5 + 0.001 * (np.arange(100) + 0.5)
    y[77] = np.nextafter(y[77], 1)
    assert sums.off_grid(y, -2.5, 0.001) == 77
    y[5] = np.nan
    assert sums.off_grid(y, -2.5, 0.001) == 5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [*SIZES, 4096, 9000])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1.5, -1.5])
def test_offenders(n, bad, dtype):
    x = random(n).uniform(-1, 1, n).astype(dtype)
    assert domains.outside(x, -1.0, 1.0) == -1
    for position in {0, n // 2, n - 1}:
        y = x.copy()
        y[position:] = bad
        assert domains.outside(y, -1.0, 1.0) == position
        assert domains.norm_outside(y.reshape(n, 1), 1, 0.0, 1.0) == position


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
@pytest.mark.parametrize("n", [1, 64, 5000])
def test_code_offenders(n, dtype):
    x = random(n).integers(0, 100, n).astype(dtype)
    signed = dtype[0] == "i"
    assert domains.codes_outside(x, signed, 100) == -1
    for bad in [100, -1] if signed else [100, 255]:
        y = x.copy()
        y[n // 2 :] = bad
        assert domains.codes_outside(y, signed, 100) == n // 2


@pytest.mark.parametrize("k, n", [(2, 1), (2, 9), (13, 40), (300, 2)])
def test_laplace_of_one_hot_vectors(k, n):
    """Zeros and ones are on the grid: a report is the noise, and the span in the record's column."""
    mechanism = LaplaceOneHot(k, 0.5)
    x = random(n).integers(0, k, n)
    coins = _coins.geometric(0.5, 1024, 512, 2)
    words, carries = (reference.Words(KEY, use, 0, 256) for use in (22, 23))
    z = np.array(reference.discrete_laplace(coins.digits, coins.carry, words, carries, n * k)).reshape(n, k)
    expected = mechanism.grid * (512 * (x[:, np.newaxis] == np.arange(k)) + z + 0.5)
    np.testing.assert_array_equal(mechanism.privatize(x, rng=SEED), expected)


@pytest.mark.parametrize("k, n", [(2, 10_000), (300, 100)])
def test_pieces_of_one_hot_vectors_go_on_with_the_blocks(k, n, monkeypatch):
    mechanism, x = LaplaceOneHot(k, 1.0), random(n).integers(0, k, n)
    reports, estimate = mechanism.privatize(x, rng=SEED), mechanism.run(x, rng=SEED)
    monkeypatch.setattr(_onehot, "PIECE", 1)
    assert_same(mechanism.privatize(x, rng=SEED), reports)
    assert_same_estimate(mechanism.run(x, rng=SEED), estimate)


# Gradient descent on the quantile loss --------------------------------------------------------------------------------

RULES = [  # lower, upper, step up, step down, keep, bits of a word, any_time
    (-1.0, 3.0, 0.07, -0.05, 3 << 62, 64, False),
    (-1.0, 3.0, 1.7, -2.1, 11 << 28, 32, True),
    (0.0, 1.0, 0.9, -1.1, (1 << 63) + 1, 64, False),  # clamped all the time
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1, 255, 256, 257, 2047, 2048, 2049, 4100])
@pytest.mark.parametrize("rule", RULES)
def test_median_steps(rule, n, dtype):
    x = random(n).normal(0.5, 2, n).astype(dtype)
    x[: n // 9] = rule[0]  # ties with the position
    start = [rule[0], 41.0, 0.25, *random(n).uniform(0, 1, 7).tolist()]
    state = np.array(start)
    sgd.MedianSGD(*rule).run(stream.Stream(KEY), 3, x, state)
    assert state.tolist() == reference.median_walk(rule, reference.Words(KEY, "median", 3), start, x.tolist())[0]


@pytest.mark.parametrize("rule", RULES)
def test_median_steps_after_reported_bits(rule):
    start = [0.5, 2.0, 0.25, *random(1).uniform(0, 1, 7).tolist()]
    bits_ = random(2).integers(0, 2, 300).tolist()
    state, truth = np.array(start), [math.inf if bit else -math.inf for bit in bits_]
    for bit in bits_:
        sgd.MedianSGD(*rule).answer(bool(bit), state)
    always = (*rule[:4], 1 << 64, *rule[5:])  # every word keeps the truth
    assert state.tolist() == reference.median_walk(always, reference.Words(KEY, 0, 0), start, truth)[0]


@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
@pytest.mark.parametrize("horizon", [None, 3200])
@pytest.mark.parametrize("epsilon, quantile", [(1.0, 0.5), (0.3, 0.9)])
def test_median_protocol(epsilon, quantile, horizon, monkeypatch):
    """Steps and coin as the documentation has them; every piece of people has a block of its own."""
    monkeypatch.setattr(_median, "CHUNK", 700)
    x, server = random(4).exponential(20, 3200), MedianSGD(epsilon, 0, 100, quantile=quantile, n=horizon)
    coin = _coins.response(2, epsilon)
    c = float(1 / (2 * coin.p - 1))
    size = 100 / math.sqrt(2) if horizon is None else 50 / math.sqrt(horizon)
    unit = size / (c / 2 + abs(quantile - 0.5))
    lean = quantile - 0.5
    rule = (0.0, 100.0, unit * (c / 2 + lean), unit * (-c / 2 + lean), coin.keep, coin.bits, horizon is None)
    state, positions, block = [50.0, *[0.0] * 9], [], 0
    for already, now in ((0, 5), (5, 1500), (1505, 1695)):  # three calls, one key
        result = server.run(x[already : already + now], rng=SEED)
        for start, stop in reference.pieces(already, now, 700):
            words = reference.Words(KEY, "median", block)
            state, seen, _ = reference.median_walk(rule, words, state, x[already + start : already + stop].tolist())
            positions += seen
            block += 1
        assert [server.position, server.n] == state[:2]
        expected = np.mean(positions[reference.counted_from(len(positions)) :])
        assert result.value == pytest.approx(expected, rel=0, abs=1e-11)


@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
@pytest.mark.parametrize("horizon", [None, 200])
def test_the_median_protocol_is_the_walk_step_by_step(horizon):
    """The bits of a run, handed to another server as reports: the same positions and sums, bit for bit."""
    x, server, other = random(4).normal(60, 20, 200), *(MedianSGD(1.0, 0, 100, n=horizon) for _ in range(2))
    result, coin = server.run(x, rng=SEED), _coins.response(2, 1.0)
    for block, (start, stop) in enumerate(reference.pieces(0, 200, 200)):
        words = reference.Words(KEY, "median", block)
        for value in x[start:stop]:
            query = other.query()
            truth = int(value >= query.mechanism.cuts[0])
            other.update(query, np.uint8(reference.respond(coin, words, truth)))
    assert other.position == server.position
    assert_same_estimate(other.estimate(), result)


# Gradient descent for generalised linear models -----------------------------------------------------------------------


def glm(family, n, features, dtype=np.float32):
    """Rows of which some are outside of the unit ball and cube; responses that single precision holds."""
    generator = random(n + features)
    x = generator.normal(0, 1.2 / math.sqrt(features), (n, features)).astype(dtype)
    y = {
        "logistic": generator.integers(0, 2, n),
        "linear": generator.normal(size=n),
        "poisson": generator.poisson(1, n),
    }
    return x, y[family].astype(np.float32).astype(np.float64)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("norm", ["l2", "linf"])
@pytest.mark.parametrize("features, column", [(1, 0.0), (3, 0.7), (31, 1.0), (32, 1.0), (33, 0.0), (100, 0.5)])
@pytest.mark.parametrize("family", ["logistic", "linear", "poisson"])
def test_gradients(family, features, column, norm, dtype):
    """Sums of up to 101 products of doubles; each number of a gradient is rounded to single precision twice."""
    x, y = glm(family, 20, features, dtype)
    position = random(features).normal(size=features + (column > 0))
    question = Gradient(family, tuple(position.tolist()), 1.0, norm, 0.9, column, None if family == "logistic" else 1.5)
    records = np.column_stack([x, y]).astype(dtype)
    expected = [reference.glm_gradient(question, position, *row) for row in zip(x, y, strict=True)]
    got = question._kernel.gradients(records)
    assert got.dtype == dtype
    np.testing.assert_allclose(got, expected, rtol=2.0**-22, atol=1e-12)
    bound = question.ball.radius * (1 + 2.0**-20)
    assert np.linalg.norm(got.astype(float), np.inf if norm == "linf" else 2, axis=1).max() <= bound


MODELS = [
    ("logistic", 1, {}),
    ("logistic", 3, {"column": 0.5}),
    ("linear", 32, {"residual": 2.0, "radius": 0.8}),
    ("poisson", 100, {"residual": 3.0, "exponent": 0.7}),
    ("linear", 2, {"residual": 2.0, "projection": 0.02}),  # at the edge all the time
    ("logistic", 4100, {"column": 1.0}),  # one person fills a block
]


@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("family, features, options", MODELS)
def test_descent_with_the_l2_mechanism(family, features, options, dtype, monkeypatch):
    """The twin's normals differ by 4e-6 and norms are summed in single precision: 1e-4 of every step is generous, and one wrong
    sign moves the last position by more than twenty times the sum of that."""
    n = 240 if features < 1000 else 9
    monkeypatch.setattr(_descent, "CHUNK_NUMBERS", 70 * features)  # the last piece starts within a block and fills more
    x, y = glm(family, n, features, dtype)
    full = "full" if features < 1000 else "diagonal"
    server = GradientDescent(family, features, 3.0, eta0=0.01, covariance=full, **options)
    result = server.run(x, y, rng=SEED)
    positions = reference.descent_l2(server, KEY, x, y, 70)
    tolerance = 1e-4 * 0.01 * server._question.ball.scale / math.sqrt(server.dim) * 2.5 * n**0.4
    np.testing.assert_allclose(server.position, positions[-1], rtol=0, atol=tolerance)
    mean, covariance = reference.random_scaling(positions[reference.counted_from(n) :])
    unit = server._unit()
    np.testing.assert_allclose(result.value, mean * unit, rtol=0, atol=tolerance)
    np.testing.assert_allclose(result.stderr, np.sqrt(np.diag(covariance)) * unit, rtol=0, atol=tolerance)
    if full == "full":
        covariance *= np.outer(unit, unit)
        np.testing.assert_allclose(result.covariance, covariance, rtol=0, atol=0.01 * np.abs(covariance).max())


ONE_BY_ONE = [("linf", "half-space"), ("l2", "laplace"), ("linf", "laplace")]


@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
@pytest.mark.parametrize("norm, noise", ONE_BY_ONE)
@pytest.mark.parametrize("family, features, options", MODELS[:5])
def test_descent_is_the_protocol_step_by_step(family, features, options, norm, noise, monkeypatch):
    """These mechanisms have a block for every person, so one key gives both the same reports, bit for bit. The estimate is
    that of the positions, in the formulas of the paper on random scaling."""
    monkeypatch.setattr(_descent, "CHUNK_NUMBERS", 50 * features)
    n, options = 100, options | {"norm": norm, "noise": noise, "covariance": "full"}
    x, y = glm(family, n, features)
    server, other = (GradientDescent(family, features, 2.0, **options) for _ in range(2))
    key, positions = stream.Stream(KEY), []
    for record in np.column_stack([x, y.astype(np.float32)]):
        query = other.query()
        other.update(query, query.privatize(record, rng=key))
        positions.append(other.position)
    result = server.run(x, y, rng=stream.Stream(KEY))
    assert_same(server.position, other.position)
    assert_same_estimate(result, other.estimate())
    mean, spread = reference.random_scaling(np.array(positions)[reference.counted_from(n) :])
    unit = server._unit()
    size = np.abs(positions).max()
    np.testing.assert_allclose(result.value, mean * unit, rtol=0, atol=1e-12 * size)
    np.testing.assert_allclose(result.stderr**2, np.diag(spread) * unit**2, rtol=1e-8, atol=1e-14 * size**2)
    spread *= np.outer(unit, unit)
    np.testing.assert_allclose(result.covariance, spread, rtol=1e-8, atol=1e-10 * np.abs(spread).max())
    assert np.linalg.norm(positions, axis=1).max() <= server.projection * (1 + 1e-12)


@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("norm, noise", [("l2", "half-space"), *ONE_BY_ONE])
@pytest.mark.parametrize("shuffle", [False, True])
def test_descent_has_the_same_bits_on_every_instruction_set(norm, noise, shuffle, dtype):
    for features in (1, 17, 32, 70):
        x, y = glm("logistic", 200, features, dtype)
        options = {"norm": norm, "noise": noise, "column": 1.0, "covariance": "full"}
        first, second = (GradientDescent("logistic", features, 2.0, **options) for _ in range(2))
        before = _core.isa()
        ours = first.run(x, y, rng=SEED, shuffle=shuffle)
        _core.set_isa("plain")
        assert_same_estimate(second.run(x, y, rng=SEED, shuffle=shuffle), ours)
        assert_same(second.position, first.position)
        _core.set_isa(before)


@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
@pytest.mark.parametrize("norm, noise", [("l2", "half-space"), *ONE_BY_ONE])
def test_a_shuffled_run_is_a_run_over_the_rows_in_another_order(norm, noise, monkeypatch):
    """The order is from the first block of the key; rows are read where they lie, each once."""
    monkeypatch.setattr(_descent, "CHUNK_NUMBERS", 100)
    x, y = glm("logistic", 333, 5)
    seed = np.empty(256, np.uint32)
    stream.raw(KEY, 0, 0, seed)
    order = np.random.default_rng(seed.tolist()).permutation(333)
    server, other = (GradientDescent("logistic", 5, 2.0, norm=norm, noise=noise) for _ in range(2))
    key = stream.Stream(KEY)
    key.take(1)
    expected = other.run(x[order], y[order], rng=key)
    assert_same_estimate(server.run(x, y, rng=SEED, shuffle=True), expected)


@pytest.mark.parametrize("dim", [1, 5, 33])
def test_a_step_of_descent_is_projected_and_added(dim):
    """Far out the position is on the sphere; the sums are those of positions, after the step."""
    model = Gradient("linear", (0.0,) * dim, 1.0, residual=1.0).descent(2.0)
    position, sums_, matrix = np.zeros(model.padded), np.zeros((4, model.padded)), np.zeros((dim, dim))
    expected, total, totals = np.zeros(dim), np.zeros(dim), []
    for s in range(1, 40):
        report = np.zeros(model.padded)
        report[:dim] = random(s).normal(size=dim)
        model.step(report, 0.9, s - 1, position, sums_, matrix)
        expected = expected - 0.9 * report[:dim]
        expected *= min(1, 2 / np.linalg.norm(expected))
        total = total + expected
        totals.append(total)
        np.testing.assert_allclose(position[:dim], expected, rtol=0, atol=1e-12)
        assert not position[dim:].any()
    rows = np.array(totals)
    numbers = np.arange(1, 40)[:, np.newaxis]
    wanted = [rows[-1], rows.sum(axis=0), (rows**2).sum(axis=0), (numbers * rows).sum(axis=0)]
    np.testing.assert_allclose(sums_[:, :dim], wanted, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(matrix, rows.T @ rows, rtol=1e-10, atol=1e-10)
    assert not sums_[:, dim:].any()


# Trigonometric series -------------------------------------------------------------------------------------------------

COSINE = 2e-14  # the fit's error 1e-14, its roundings and those of the twin


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1, 7, 64, 257])
@pytest.mark.parametrize("terms", [1, 2, 3, 16, 33, 1000])
def test_series_terms(terms, n, dtype):
    """Half a unit of the last place of a float below 2, and the cosine's error."""
    compiled, x = series.Series(terms, -3.0, 4.5), random(n).uniform(-3, 4.5, n).astype(dtype)
    if n > 5:
        x[:6] = -3, 4.5, -1e30, np.inf, np.nan, 0.75
    inside = np.where(np.isnan(x), 0.75, np.clip(x, -3, 4.5))
    out, plain = np.empty((2, n, terms), np.float32)
    compiled.terms(x, out)
    expected = reference.series_terms(terms, -3.0, 4.5, inside)
    np.testing.assert_allclose(out, expected, rtol=0, atol=2.0**-24 + math.sqrt(2) * COSINE)
    _core.set_isa("plain")
    compiled.terms(x, plain)
    assert_same(out, plain)


@pytest.mark.parametrize("n", [0, 1, 255, 256, 257, 600])
@pytest.mark.parametrize("terms", [1, 2, 3, 16, 33, 200])
def test_series_values(terms, n):
    """Horner's rule multiplies by exp(2 pi i u) m times: the error of term j grows with its frequency m."""
    compiled, x = series.Series(terms, -3.0, 4.5), random(n).uniform(-3, 4.5, n)
    coefficients = random(terms).normal(size=terms) / np.arange(1, terms + 1)
    out, plain = np.empty((2, n))
    compiled.values(coefficients, x, out)
    expected = 1 + reference.series_terms(terms, -3.0, 4.5, x) @ coefficients
    frequency = np.arange(terms) // 2 + 1
    tolerance = 4 * COSINE * (1 + math.sqrt(2) * np.abs(coefficients) @ frequency)
    np.testing.assert_allclose(out, expected, rtol=0, atol=tolerance)
    _core.set_isa("plain")
    compiled.values(coefficients, x, plain)
    assert_same(out, plain)
