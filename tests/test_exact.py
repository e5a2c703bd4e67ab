"""Channels enumerated from the integers of the coins: no sampling, no tolerance for luck."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import _coins
from ldpfast.privacy import Channel

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
