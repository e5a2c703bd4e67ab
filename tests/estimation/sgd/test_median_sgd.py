"""Private descent for quantiles: estimates, intervals, and bounds on the loss."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from ldpfast.estimation import MedianSGD

from ...support import reference
from ...support.cases import each
from ...support.internals.kernels import sgd, stream
from ...support.internals.shared import coin_integers
from ...support.keys import FIXED_KEY, KEY
from ...support.keys import SEED as KEY_SEED
from ...support.modules import module_of
from ...support.noise_scales import sign_bit_factor
from ...support.statistics import ALPHA, bernstein_radius

SEED = 20240611

pytestmark = pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")


@pytest.mark.parametrize("mode", [{}, {"n": 300}])
def test_estimate_is_the_mean_of_positions_and_interval_a_parabola_through_the_answers(mode):
    """The burn-in is left out: the largest power of two up to a quarter of all."""
    server, rng, positions, bits = MedianSGD(1.0, lower=-1.0, upper=1.0, **mode), np.random.default_rng(1), [], []
    for _ in range(300):
        query = server.query()
        positions.append(server.position)
        report = query.privatize(rng.normal(), rng=rng)
        bits.append(int(np.ravel(report)[0]))
        server.update(query, report)
    kept, answers = np.array(positions[64:]), np.array(bits[64:])
    estimate = server.estimate()
    assert estimate.value == pytest.approx(kept.mean(), rel=1e-9, abs=1e-12)
    v = (kept - kept.mean()) / kept.std()
    design = np.stack([v**0, v, v**2], axis=1)
    crossing = estimate.rule
    np.testing.assert_allclose(crossing.coefficients, np.linalg.lstsq(design, answers, rcond=None)[0], atol=1e-9)
    np.testing.assert_allclose(crossing.covariance, np.linalg.inv(design.T @ design) / 4, rtol=1e-8, atol=1e-12)
    assert crossing.target == pytest.approx(0.5)
    low, high = estimate.interval()
    for end, limit in ((low, -1.0), (high, 1.0)):
        if end not in (limit, estimate.value):
            excess, error = crossing.excess(np.array((end - crossing.center) / crossing.scale))
            assert abs(excess) == pytest.approx(stats.norm.isf(0.025) * error, rel=1e-6)


def test_too_few_answers_give_infinite_limits():
    few = MedianSGD(1.0, lower=0.0, upper=1.0).run([0.5] * 5, rng=1)
    assert few.stderr == math.inf
    assert few.interval() == (-math.inf, math.inf)


@pytest.mark.long
@pytest.mark.parametrize("mode, factor", [("fixed", 2 / 3), ("any", math.sqrt(2))])
@pytest.mark.parametrize("n", [100, 1600])
def test_quantile_loss_is_within_its_bound(mode, factor, n):
    """factor (upper - lower) G / sqrt n bounds the expected gap of the quantile loss.

    Records are the ends, the upper with probability 0.55. The gap of a position t is (1 - t) / 20, in [0, 0.1]:
    Bernstein's inequality with variance 0.1 bound. The bound at n = 1600 is a quarter of the bound at n = 100.
    """
    rng, runs, epsilon = np.random.default_rng(SEED), 1000, 1.0
    bound = factor * 2 * (sign_bit_factor(epsilon) / 2) / math.sqrt(n)
    gaps = []
    for _ in range(runs):
        server = MedianSGD(epsilon, lower=-1.0, upper=1.0, n=n if mode == "fixed" else None)
        gaps.append((1 - server.run(np.where(rng.random(n) < 0.55, 1.0, -1.0), rng=rng).value) / 20)
    assert np.mean(gaps) <= bound + bernstein_radius(0.1 * bound, 0.1, runs, ALPHA)


@pytest.mark.parametrize(
    "lower, upper",
    [
        (-1e60, 1e60),
        (0.0, 1e-60),
        (1e6, 1e6 + 1),
    ],
)
def test_results_scale_with_the_interval(lower, upper):
    """All intervals that the constructor accepts: results are those of the unit interval, shifted and scaled."""
    x = np.random.default_rng(1).uniform(0.2, 0.9, 3000)
    unit = MedianSGD(1.0, lower=0, upper=1).run(x, rng=SEED)
    result = MedianSGD(1.0, lower=lower, upper=upper).run(lower + (upper - lower) * x, rng=SEED)
    for ours, theirs in zip((result.value, *result.interval()), (unit.value, *unit.interval()), strict=True):
        assert (ours - lower) / (upper - lower) == pytest.approx(theirs, rel=0, abs=1e-3)


# The kernel against the reference -------------------------------------------------------------------------------------

RULES = [  # lower, upper, step up, step down, keep, bits of a word, any_time
    (-1.0, 3.0, 0.07, -0.05, 3 << 62, 64, False),
    (-1.0, 3.0, 1.7, -2.1, 11 << 28, 32, True),
    (0.0, 1.0, 0.9, -1.1, (1 << 63) + 1, 64, False),  # the position is clipped in most steps
]


def state_of(numbers):
    """A state from position, count, origin, four moments and three sums over the bits 1."""
    return sgd.QuantileState(*numbers[:3], numbers[3:7], numbers[7:])


def assert_same_walk(state, numbers):
    """Position, count and origin are equal. The kernel adds in another order, so sums are equal up to rounding."""
    assert [state.position, state.count, state.origin] == numbers[:3]
    np.testing.assert_allclose([*state.moments, *state.ones], numbers[3:], rtol=1e-12, atol=1e-12)


@each("dtype", [np.float32, np.float64])
@each("n", [0, 1, 255, 256, 257, 2047, 2048, 2049, 4100])
@each("rule", RULES)
def test_steps_equal_the_reference(isa, rule, n, dtype):
    x = np.random.default_rng(n).normal(0.5, 2, n).astype(dtype)
    x[: n // 9] = rule[0]  # ties with the position
    start = [rule[0], 41.0, 0.25, *np.random.default_rng(n).uniform(0, 1, 7).tolist()]
    state, words = state_of(start), reference.Words(KEY, "MEDIAN", 3)
    sgd.MedianSGD(*rule).run(stream.Stream(KEY), 3, x, state)
    assert_same_walk(state, reference.median_walk(rule, words, start, x.tolist())[0])


@each("dtype", [np.float32, np.float64])
@each("record", [-1e9, 1e9])
@each("rule", RULES)
def test_positions_at_an_end_with_records_beyond_it_equal_the_reference(isa, rule, record, dtype):
    """The truth there is that records are beyond the position."""
    x, start = np.full(3000, record, dtype), [rule[0], 41.0, 0.25, *[0.5] * 7]
    state, words = state_of(start), reference.Words(KEY, "MEDIAN", 3)
    sgd.MedianSGD(*rule).run(stream.Stream(KEY), 3, x, state)
    assert_same_walk(state, reference.median_walk(rule, words, start, x.tolist())[0])


@pytest.mark.parametrize("rule", RULES)
def test_steps_after_reported_bits_equal_the_reference(isa, rule):
    start = [0.5, 2.0, 0.25, *np.random.default_rng(1).uniform(0, 1, 7).tolist()]
    bits = np.random.default_rng(2).integers(0, 2, 300).tolist()
    state, truth = state_of(start), [math.inf if bit else -math.inf for bit in bits]
    for bit in bits:
        sgd.MedianSGD(*rule).answer(bool(bit), state)
    always = (*rule[:4], 1 << 64, *rule[5:])  # every word keeps the truth
    assert_same_walk(state, reference.median_walk(always, reference.Words(KEY, 0, 0), start, truth)[0])


@pytest.mark.parametrize("horizon", [None, 3200])
@pytest.mark.parametrize("epsilon, quantile", [(1.0, 0.5), (0.3, 0.9)])
def test_a_run_equals_the_reference(isa, epsilon, quantile, horizon, monkeypatch):
    """Steps and coin follow the documentation. Each piece of people has its own record block."""
    monkeypatch.setattr(module_of(MedianSGD), "PIECE_ROWS", 700)
    x = np.random.default_rng(4).exponential(20, 3200)
    server = MedianSGD(epsilon, lower=0, upper=100, quantile=quantile, n=horizon)
    coin = coin_integers.response(2, epsilon)
    c = float(1 / (2 * coin.p - 1))
    size = 100 / math.sqrt(2) if horizon is None else 50 / math.sqrt(horizon)
    unit = size / (c / 2 + abs(quantile - 0.5))
    lean = quantile - 0.5
    rule = (0.0, 100.0, unit * (c / 2 + lean), unit * (-c / 2 + lean), coin.keep, coin.bits, horizon is None)
    state, positions, block = [50.0, *[0.0] * 9], [], 0
    for already, now in ((0, 5), (5, 1500), (1505, 1695)):  # three calls, one key
        result = server.run(x[already : already + now], rng=KEY_SEED)
        for start, stop in reference.pieces(already, now, 700):
            words = reference.Words(KEY, "MEDIAN", block)
            state, seen, _ = reference.median_walk(rule, words, state, x[already + start : already + stop].tolist())
            positions += seen
            block += 1
        assert [server.position, server.n] == state[:2]
        expected = np.mean(positions[reference.counted_from(len(positions)) :])
        assert result.value == pytest.approx(expected, rel=0, abs=1e-11)


@pytest.mark.parametrize("horizon", [None, 200])
def test_a_run_equals_the_protocol_step_by_step(isa, horizon):
    """The bits of a run as reports to another server give the same positions, and the same sums up to rounding."""
    x = np.random.default_rng(4).normal(60, 20, 200)
    server, other = (MedianSGD(1.0, lower=0, upper=100, n=horizon) for _ in range(2))
    result, coin = server.run(x, rng=KEY_SEED), coin_integers.response(2, 1.0)
    for block, (start, stop) in enumerate(reference.pieces(0, 200, 200)):
        words = reference.Words(KEY, "MEDIAN", block)
        for value in x[start:stop]:
            query = other.query()
            truth = int(value >= query.mechanism.cuts[0])
            kept = int(words.take(1, f"<u{coin.bits // 8}")[0]) < coin.keep
            other.update(query, np.uint8(truth if kept else 1 - truth))
    assert other.position == server.position
    assert other.estimate().value == pytest.approx(result.value, rel=1e-12)
    assert other.estimate().interval() == pytest.approx(result.interval(), rel=1e-9)


# Privacy --------------------------------------------------------------------------------------------------------------


@each("epsilon", [1e-6, 0.1, 0.5, 1.0, 3.0, 40.0])
@each("options", [{}, {"n": 10}, {"quantile": 0.9}])
def test_the_bit_has_the_realized_epsilon(epsilon, options, monkeypatch):
    """In the channel of the query, and in the integer that the kernel of `run` compares whole words with."""
    given, make = [], sgd.MedianSGD
    monkeypatch.setattr(sgd, "MedianSGD", lambda *arguments: given.append(arguments) or make(*arguments))
    server = MedianSGD(epsilon, lower=0.0, upper=8.0, **options)
    ((lower, upper, up, down, keep, bits, any_time),) = given
    channel = server.query().mechanism.channel()
    assert channel.epsilon() == server.guarantee.epsilon <= epsilon
    assert (lower, upper, any_time) == (0.0, 8.0, "n" not in options)
    assert down < 0 < up
    assert coin_integers.log_up(Fraction(keep, (1 << bits) - keep)) == server.guarantee.epsilon
    first, second = channel.integers
    assert Fraction(keep, 1 << bits) == Fraction(first[0], sum(first)) == Fraction(second[1], sum(second))


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_bit_is_kept_exactly_below_the_threshold(isa, dtype, bits):
    """keep = word of a person: that bit is changed. keep = word + 1: it is kept. The other bits stay the same.

    All records are above the position, so a kept bit is 1.
    """
    n = 2051
    words = reference.Words(FIXED_KEY, "MEDIAN", 0).take(n, f"<u{bits // 8}")
    for person in (0, 1, 255, 256, 2047, 2048, n - 1):
        for keep in (int(words[person]), int(words[person]) + 1):
            state = sgd.QuantileState(0.0)
            sgd.MedianSGD(-1.0, 1.0, 0.25, -0.25, keep, bits, False).run(
                stream.Stream(FIXED_KEY), 0, np.full(n, np.inf, dtype), state
            )
            assert state.ones[0] == sum(int(word) < keep for word in words)


def probabilities_of_bits(records, **options):
    """P(bits) for all sequences of bits that the people with these records can report, one after the other."""
    probabilities = {}
    for bits in itertools.product((0, 1), repeat=len(records)):
        server, probability = MedianSGD(1.0, lower=0.0, upper=8.0, **options), Fraction(1)
        for x, bit in zip(records, bits, strict=True):
            query = server.query()
            row = query.mechanism.channel().integers[int(x >= query.mechanism.cuts[0])]
            probability *= Fraction(row[bit], sum(row))
            server.update(query, np.uint8(bit))
        probabilities[bits] = probability
    return probabilities


@pytest.mark.claim(
    "A person in `MedianSGD` loses at most its `guarantee`, whatever the others answer.", "Privacy of reports"
)
@pytest.mark.parametrize("options", [{}, {"n": 3}, {"quantile": 0.8}])
def test_the_protocol_has_the_realized_epsilon(options):
    """The largest ratio when one record changes is exactly that of the coin: all answers of three people are enumerated."""
    records = (-1.0, 2.0, 4.0, 9.0)
    distributions = {
        people: probabilities_of_bits(people, **options) for people in itertools.product(records, repeat=3)
    }
    coin = coin_integers.response(2, 1.0)
    worst = Fraction(1)
    for people, probabilities in distributions.items():
        assert sum(probabilities.values()) == 1
        for person, x in itertools.product(range(3), records):
            other = distributions[(*people[:person], x, *people[person + 1 :])]
            worst = max(worst, *(probability / other[bits] for bits, probability in probabilities.items()))
    assert worst == Fraction(coin.keep, coin.words_per_symbol)
    assert coin_integers.log_up(worst) == MedianSGD(1.0, lower=0.0, upper=8.0).guarantee.epsilon <= 1.0
