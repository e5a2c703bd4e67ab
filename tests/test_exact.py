"""Channels enumerated from the integers of the coins: no sampling, no tolerance for luck."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import _coins
from ldpfast._core import halfspace, sgd, stream
from ldpfast.estimation import GradientDescent, MedianSGD, _median
from ldpfast.mechanisms import Gradient, Query
from ldpfast.privacy import Channel

from .support import reference

KEY = bytes(range(32))

EPSILONS = [0.1, 0.5, 1.0, 3.0]
FINITE = [
    *(ldp.Warner(e) for e in EPSILONS),
    *(ldp.RandomizedResponse(k, e) for k in (2, 3, 7, 128) for e in EPSILONS),
    *(ldp.UnaryEncoding(k, e, v) for k in (2, 3, 5) for e in EPSILONS for v in ("symmetric", "optimized")),
    *(ldp.Residue(1.0, 0.0, m, e) for m in (2, 4, 5) for e in EPSILONS),
    *(ldp.Bins(cuts, e) for cuts in ((0.0,), (-1.0, 0.0, 1.0)) for e in EPSILONS),
    *(ldp.SignBit(-1.0, 3.0, e) for e in EPSILONS),
    *(ldp.LinfBall(d, e, ties=t) for d in range(1, 7) for e in (0.5, 1.0) for t in ("keep", "thin")),
]


@pytest.mark.parametrize("mechanism", FINITE, ids=repr)
def test_realised_epsilon_is_that_of_the_channel(mechanism):
    assert mechanism.channel().epsilon() == mechanism.epsilon_realized <= mechanism.epsilon
    assert mechanism.epsilon - mechanism.epsilon_realized <= 1e-5 * mechanism.epsilon


def all_reports(mechanism):
    """Every possible report, in the channel's order."""
    report = mechanism.report
    if isinstance(report, type(ldp.RandomizedResponse(2, 1.0).report)):
        return np.arange(report.k, dtype=report.code)
    codes = np.arange(1 << report.k)
    return np.packbits(codes[:, None] >> np.arange(report.k) & 1, axis=1, bitorder="little")


def inputs(mechanism):
    """The channel's rows as numbers: what decode should have as expectation."""
    if isinstance(mechanism, ldp.Warner):
        return np.array([0.0, 1.0])
    if isinstance(mechanism, ldp.SignBit):
        return np.array([mechanism.lower, mechanism.upper])
    if isinstance(mechanism, ldp.LinfBall):
        vertices = np.arange(1 << mechanism.dim)
        return mechanism.radius * (2.0 * (vertices[:, None] >> np.arange(mechanism.dim) & 1) - 1)
    return np.eye(mechanism.report.k)


@pytest.mark.parametrize("mechanism", FINITE, ids=repr)
def test_debiasing_is_exact(mechanism):
    """The channel's mean of all decoded reports is the input: the slope, the offset and the constant B come from it."""
    decoded = mechanism.decode(all_reports(mechanism))
    np.testing.assert_allclose(
        mechanism.channel().matrix @ decoded, inputs(mechanism), rtol=0, atol=1e-12 * np.abs(decoded).max()
    )


@pytest.mark.parametrize("mechanism", FINITE, ids=repr)
def test_variance_is_exact(mechanism):
    matrix, decoded, mean = mechanism.channel().matrix, mechanism.decode(all_reports(mechanism)), inputs(mechanism)
    variance = matrix @ decoded**2 - mean**2
    if isinstance(mechanism, ldp.RandomizedResponse | ldp.UnaryEncoding):
        x = np.arange(mechanism.k)
    elif isinstance(mechanism, ldp.Residue):
        x = np.arange(mechanism.modulus) + 0.5
    elif isinstance(mechanism, ldp.Bins):
        x = np.arange(len(mechanism.cuts) + 1) + mechanism.cuts[0] - 0.5
    else:
        x = mean.astype(int) if isinstance(mechanism, ldp.Warner) else mean
    np.testing.assert_allclose(mechanism.variance(x), variance, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dim", range(1, 7))
@pytest.mark.parametrize("ties", ["keep", "thin"])
def test_linf_ball_over_a_grid_of_inputs(dim, ties):
    """The record's rounding to a vertex mixes the rows: no pair of inputs reaches a larger ratio than two vertices do."""
    mechanism = ldp.LinfBall(dim, 1.0, ties=ties)
    rows = np.array(mechanism._channel(), dtype=object)
    levels = (0, 1, 2, 3, 4) if dim <= 4 else (0, 2, 4)  # P(plus) in quarters: 4 is the upper end
    mixtures = []
    for point in itertools.product(levels, repeat=dim):
        weights = np.array([1], dtype=object)
        for plus in point:
            weights = np.kron(weights, np.array([4 - plus, plus], dtype=object))
        mixtures.append(weights)
    channel = np.array(mixtures, dtype=object).dot(rows)
    worst = max(Fraction(max(column), min(column)) for column in channel.T)
    assert worst == Fraction(mechanism._heads, _coins.WORD - mechanism._heads)
    assert _coins.log_up(worst) == mechanism.epsilon_realized


def closed_half_spaces(dim, heads):
    """The paper's literal rule: uniform on the closed half-space of the record, or on the opposite closed one."""
    tails = _coins.WORD - heads
    rows = []
    for v in range(1 << dim):
        agree = [dim - (v ^ z).bit_count() for z in range(1 << dim)]
        size = sum(2 * a >= dim for a in agree)
        rows.append([Fraction(heads * (2 * a >= dim) + tails * (2 * a <= dim), size) for a in agree])
    return rows


@pytest.mark.parametrize("dim", [2, 4, 6])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_published_tie_rule_is_convicted(dim, epsilon):
    """In even dimension its level is log(1 + e^epsilon), never below log 2."""
    heads = _coins.binary(epsilon).heads
    rows = closed_half_spaces(dim, heads)
    total = sum(rows[0])
    literal = Channel([[value / total for value in row] for row in rows])
    assert literal.epsilon() == pytest.approx(math.log1p(math.exp(epsilon)), rel=1e-12)
    assert literal.epsilon() > epsilon + 0.04


@pytest.mark.parametrize("dim", [1, 3, 5])
def test_the_published_rule_is_right_in_odd_dimension(dim):
    heads = _coins.binary(1.0).heads
    rows = closed_half_spaces(dim, heads)
    assert Channel(rows).epsilon() == ldp.LinfBall(dim, 1.0).epsilon_realized


@pytest.mark.parametrize("dim", range(1, 9))
def test_half_space_constant_by_enumeration(dim):
    """B of the hypercube: r h(a) / E|mean sign| over all vertices, ties counted as zero."""
    weight = [math.comb(dim, a) for a in range(dim + 1)]
    mean = Fraction(sum(w * abs(2 * a - dim) for a, w in enumerate(weight)), dim << dim)
    c = ldp.mechanisms.half_space_constant(dim if dim % 2 else dim + 1)
    assert c == pytest.approx(float(1 / mean), rel=1e-14)


def test_half_space_constant_known_values():
    known = [1, 1.5707963267948966, 2, 2.356194490192345, 2.6666666666666665, 2.945243112740431, 3.2]
    np.testing.assert_allclose([ldp.mechanisms.half_space_constant(d) for d in range(1, 8)], known, rtol=1e-15)


@pytest.mark.parametrize("dim", [1, 2, 10, 198, 199, 200, 201, 1000, 123_457, 10**7])
def test_half_space_constant_identity(dim):
    """c(d) c(d + 1) = pi d / 2, at every size and across the change of formula at 200."""
    c = ldp.mechanisms.half_space_constant
    assert c(dim) * c(dim + 1) == pytest.approx(math.pi * dim / 2, rel=1e-13)


# The bit of the quantile protocol -------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [1e-6, *EPSILONS, 40.0])
@pytest.mark.parametrize("options", [{}, {"n": 10}, {"quantile": 0.9}])
def test_the_bit_of_a_quantile_has_the_realised_epsilon(epsilon, options, monkeypatch):
    """In the channel of the query, and in the integer that the kernel of `run` compares whole words with."""
    given, make = [], sgd.MedianSGD
    monkeypatch.setattr(_median.sgd, "MedianSGD", lambda *arguments: given.append(arguments) or make(*arguments))
    server = MedianSGD(epsilon, 0.0, 8.0, **options)
    ((lower, upper, up, down, keep, bits, any_time),) = given
    channel = server._question(3.0).channel()
    assert channel.epsilon() == server.guarantee.epsilon <= epsilon
    assert (lower, upper, any_time) == (0.0, 8.0, "n" not in options)
    assert down < 0 < up
    assert _coins.log_up(Fraction(keep, (1 << bits) - keep)) == server.guarantee.epsilon
    exact = channel._exact
    assert Fraction(keep, 1 << bits) == Fraction(exact[0][0], exact[0].sum()) == Fraction(exact[1][1], exact[1].sum())


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_bit_of_a_quantile_is_kept_up_to_the_last_unit(isa, dtype, bits):
    """The record is above every position: its bit is a one where it is kept. At the value of the own word it is not, one unit
    above it is; nobody else's changes."""
    n = 2051
    words = reference.Words(KEY, "median", 0).take(n, f"<u{bits // 8}")
    for person in (0, 1, 255, 256, 2047, 2048, n - 1):
        for keep in (int(words[person]), int(words[person]) + 1):
            state = np.zeros(10)
            sgd.MedianSGD(-1.0, 1.0, 0.25, -0.25, keep, bits, False).run(
                stream.Stream(KEY), 0, np.full(n, np.inf, dtype), state
            )
            assert state[7] == sum(int(word) < keep for word in words)


def chances_of_bits(records, **options):
    """P(bits) for every string of bits that the people with these records can answer, in turn."""
    chances = {}
    for bits in itertools.product((0, 1), repeat=len(records)):
        server, chance = MedianSGD(1.0, 0.0, 8.0, **options), Fraction(1)
        for x, bit in zip(records, bits, strict=True):
            query = server.query()
            row = query.mechanism.channel()._exact[int(x >= query.mechanism.cuts[0])]
            chance *= Fraction(row[bit], sum(row))
            server.update(query, np.uint8(bit))
        chances[bits] = chance
    return chances


@pytest.mark.parametrize("options", [{}, {"n": 3}, {"quantile": 0.8}])
def test_the_quantile_protocol_by_enumeration(options):
    """Three people, all answers: whatever the others have, one person's record changes no chance by more than the ratio of
    the coin, and somewhere by exactly that."""
    records = (-1.0, 2.0, 4.0, 9.0)
    laws = {people: chances_of_bits(people, **options) for people in itertools.product(records, repeat=3)}
    coin = _coins.response(2, 1.0)
    worst = Fraction(1)
    for people, law in laws.items():
        assert sum(law.values()) == 1
        for person, x in itertools.product(range(3), records):
            other = laws[(*people[:person], x, *people[person + 1 :])]
            worst = max(worst, *(chance / other[bits] for bits, chance in law.items()))
    assert worst == Fraction(coin.keep, coin.share)
    assert _coins.log_up(worst) == MedianSGD(1.0, 0.0, 8.0).guarantee.epsilon <= 1.0


# Private gradients ----------------------------------------------------------------------------------------------------

HARD = [np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 0.0, 0.3, -0.7]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("norm", ["l2", "linf"])
@pytest.mark.parametrize("family", ["logistic", "linear", "poisson"])
def test_all_that_a_record_decides_about_a_gradient_is_one_sign(family, norm, dtype):
    """Under one key the reports of any two people are equal or opposite, whatever their rows and responses are. So the law
    of a report lies between 1 - p and p times that of its direction, p the coin of the ball."""
    residual = None if family == "logistic" else 1.0
    query = Query(0, Gradient(family, (0.5, -2.0, 1e9), 1.0, norm, 1.0, 0.5, residual))
    assert (
        query.mechanism.epsilon_realized == query.mechanism.ball.epsilon_realized == _coins.binary(1.0).epsilon_realized
    )
    assert query.mechanism.ball._heads == _coins.binary(1.0).heads
    signs = set()
    with np.errstate(over="ignore"):
        records = np.array(list(itertools.product(HARD, HARD, HARD))).astype(dtype)
    first = query.mechanism.decode(query.privatize(records[0], rng=5))
    for record in records:
        report = query.mechanism.decode(query.privatize(record, rng=5))
        sign = np.sign(report[0] * first[0])
        np.testing.assert_array_equal(report, sign * first)
        signs.add(sign)
    assert signs == {1.0, -1.0}


@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("norm", ["l2", "linf"])
@pytest.mark.parametrize("family", ["logistic", "linear", "poisson"])
def test_all_that_a_record_decides_about_a_step_is_one_sign(isa, family, norm, dtype):
    """The same for `run`, whose kernels are others: the step from zero is one vector, or its opposite."""
    most = float(np.finfo(dtype).max)
    rows = itertools.product([0.0, 0.3, -0.7, most, -most, 1e-30], repeat=2)
    steps = []
    for row, y in itertools.product(rows, (0, 1)):
        server = GradientDescent(family, 2, 1.0, norm=norm, column=0.5, residual=1.0)
        server.run(np.array([row], dtype), [y], rng=7)
        steps.append(server.position)
    assert {tuple(step) for step in steps} == {tuple(steps[0]), tuple(-steps[0])}


@pytest.mark.parametrize("norm, use", [("l2", "l2 sign"), ("linf", "linf sign")])
def test_the_sign_of_a_step_flips_at_the_last_unit(isa, norm, use):
    """`run` compares the word of each person with the integer of the ball: at its value the step is opposite to that one unit
    above. People before that one are as they were."""
    x, rates = np.linspace(-1, 1, 15).reshape(5, 3), np.full(5, 0.1)
    for person in range(5):
        words = reference.Words(KEY, use, 0 if norm == "l2" else person)
        word = int(words.take(2 * person + 2, "<u8")[-1]) if norm == "l2" else words.word()
        steps = []
        for heads in (word, word + 1):
            ball = halfspace.L2Ball(3, 2.0, 1.0, heads) if norm == "l2" else halfspace.LinfBall(3, 2.0, heads, 0)
            model = sgd.Descent(3, 2.0, 0.0, math.inf, math.inf, 0, norm == "linf", ball, 1.0)
            positions = []
            for n in (person, person + 1):
                position, sums = np.zeros(model.padded), np.zeros((4, model.padded))
                model.run(stream.Stream(KEY), 0, x[:n], np.ones(n), None, rates[:n], 0.0, position, sums)
                positions.append(position[:3])
            steps.append(positions[1] - positions[0])
        np.testing.assert_allclose(steps[0], -steps[1], rtol=0, atol=1e-15)
        assert np.abs(steps[0]).max() > 0.01
