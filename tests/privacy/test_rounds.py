"""Rounds of shuffled reports: enumeration, pairs that are known exactly, the table of figures, and other accountants."""

from __future__ import annotations

import functools
import itertools
import math
import warnings

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.mechanisms import RankCodebook
from ldpfast.privacy import Channel, Guarantee, compose, compose_rounds, composition_epsilon, shuffled, shuffled_delta

from ..support.errors import raises
from ..support.internals.privacy import loss_grid
from .test_shuffling import rows_of, shuffled_channel


@pytest.mark.claim(
    "`compose_rounds` never states less than the loss of several shuffled rounds.", "Composition and audits"
)
@pytest.mark.long
@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("mechanism", [ldp.Warner(1.0), ldp.RandomizedResponse(3, 1.5)], ids=repr)
def test_the_bound_is_not_below_the_exact_divergence_of_rounds(mechanism, n):
    """Of three rounds, with all records of the person, and all of the others that are equal in a round."""
    rows = rows_of(mechanism)
    one = [
        shuffled_channel(rows[a], rows[b], [rows[x]] * (n - 1))
        for a, b in itertools.permutations(range(len(rows)), 2)
        for x in range(len(rows))
    ][:6]
    products = [a.product(b) for a, b in itertools.combinations_with_replacement(one, 2)]
    deltas = np.array([1e-3, 0.01, 0.1])
    found = [compose_rounds(mechanism, 3, n=n, delta=delta).epsilon for delta in deltas]
    for first in products:
        if first.matrix.shape[1] > 400:
            continue
        for last in one[:2]:
            pair = first.product(last)
            losses = Channel(pair.matrix)
            assert (losses.delta(np.array(found)) <= deltas * (1 + 1e-9)).all()
            assert (np.array(found) <= 3 * mechanism.epsilon_realized).all()


@pytest.mark.long
@pytest.mark.parametrize("rounds", [2, 30, 1000])
@pytest.mark.parametrize("epsilon", [0.05, 0.3, 2.0])
def test_one_person_has_the_composition_of_randomized_responses(rounds, epsilon):
    mechanism = ldp.Warner(epsilon)
    expected = composition_epsilon([mechanism.epsilon_realized] * rounds, 1e-6)
    found = compose_rounds(mechanism, rounds, n=1, delta=1e-6).epsilon
    assert expected * (1 - 1e-9) <= found <= expected * (1 + 1e-6)


@pytest.mark.long
@pytest.mark.parametrize(
    "mechanism, n, expected",
    [
        (1.0, 1_000, 1.76),
        (4.0, 1_000, 20.31),
        (4.0, 10_000, 4.99),
        (8.0, 1_000_000, 3.65),
        (ldp.Laplace(0, 1, 1.0), 1_000, 1.54),
        (ldp.Laplace(0, 1, 4.0), 1_000, 15.54),
        (RankCodebook(100, 1.0), 1_000, 1.56),
    ],
    ids=repr,
)
def test_hundred_rounds_equal_the_table(mechanism, n, expected):
    assert round(compose_rounds(mechanism, 100, n=n, delta=1e-6).epsilon, 2) == expected


@pytest.mark.long
@pytest.mark.parametrize(
    "epsilon, n, expected", [(4.0, 10_000, (4.42, 0.375, 0.0319)), (8.0, 1_000, (322.6, 36.1, 3.66))]
)
def test_secretly_sampled_rounds_equal_the_table(epsilon, n, expected):
    mechanism = ldp.RotatedSigns(10_000, epsilon, rotation=3)
    for share, wanted in zip((1.0, 0.1, 0.01), expected, strict=True):
        found = compose_rounds(mechanism, 100, n=n, delta=1e-6, sampling=share).epsilon
        assert found == pytest.approx(wanted, rel=2e-3)


def sampled_counts(ones, people, drawn, p):
    """Return the distribution of the number of ones of the reports of people who are drawn, if some of all have a one."""
    found = np.zeros(drawn + 1)
    for own in range(max(0, drawn - people + ones), min(ones, drawn) + 1):
        share = math.comb(ones, own) * math.comb(people - ones, drawn - own) / math.comb(people, drawn)
        bits = [p] * own + [1 - p] * (drawn - own)
        found += share * functools.reduce(lambda a, b: np.convolve(a, [1 - b, b]), bits, np.ones(1))
    return found


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 5.0])
def test_the_bound_is_not_below_the_divergence_of_sampled_rounds(epsilon, rounds):
    """Six people, three of whom are drawn in secret in each round: all numbers of ones, in both orders."""
    mechanism = ldp.Warner(epsilon)
    p = math.exp(mechanism.epsilon_realized) / (1 + math.exp(mechanism.epsilon_realized))
    for delta in (1e-3, 0.02, 0.1):
        bound = compose_rounds(mechanism, rounds, n=3, delta=delta, sampling=0.5).epsilon
        assert bound <= rounds * math.log1p(math.expm1(mechanism.epsilon_realized) / 2) * (1 + 1e-9)
        for ones in range(6):
            pair = [sampled_counts(m, 6, 3, p) for m in (ones, ones + 1)]
            first, second = (functools.reduce(np.multiply.outer, [part] * rounds).ravel() for part in pair)
            for a, b in ((first, second), (second, first)):
                assert np.maximum(a - math.exp(bound) * b, 0).sum() <= delta * (1 + 1e-9)


def test_everybody_is_sampled_by_default():
    plain = [compose_rounds(ldp.Warner(1.0), rounds, n=50, delta=1e-3) for rounds in (1, 3)]
    assert plain == [compose_rounds(ldp.Warner(1.0), rounds, n=50, delta=1e-3, sampling=1.0) for rounds in (1, 3)]
    one = compose_rounds(ldp.Warner(1.0), 1, n=50, delta=1e-3, sampling=0.999).epsilon
    assert one == pytest.approx(plain[0].epsilon, rel=0.02)
    nearly = compose_rounds(ldp.Warner(1.0), 3, n=50, delta=0, sampling=1 - 2**-53)
    assert nearly.epsilon <= compose_rounds(ldp.Warner(1.0), 3, n=50, delta=0).epsilon


def test_the_composition_equals_a_convolution_of_the_same_grid():
    """Without transforms and tilting, for a few rounds."""
    mechanism = ldp.Warner(2.0)
    bound = lambda e: float(shuffled_delta(mechanism, 500, e))  # noqa: E731
    grid = loss_grid.LossGrid.of_curves(bound, bound, 1.0, 64)
    sums = grid.masses
    for _ in range(6):
        sums = np.convolve(sums, grid.masses)
    losses = (np.arange(len(sums)) - len(sums) // 2) * grid.step
    composed = grid.composed(7, 1e-6)
    for epsilon in (0.1, 0.5, 1.0, 1.5):
        above = losses > epsilon
        plain = sums[above] @ -np.expm1(epsilon - losses[above]) + 7 * grid.infinite
        found = composed.delta(epsilon)
        assert plain * (1 - 1e-9) <= found
        assert found <= plain * (1 + 1e-6) + 1e-13
    assert grid.masses.sum() + grid.infinite == pytest.approx(1.0, abs=1e-12)


def test_a_grid_dominates_its_curve():
    """At and between its points, in both orders of a pair that is not symmetric."""
    pair = Channel([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])
    skewed = Channel([[0.9, 0.1], [0.6, 0.4]], neighbors=[(0, 1)])
    p, q = skewed.matrix
    one = lambda e: float(np.maximum(p - math.exp(e) * q, 0).sum())  # noqa: E731
    other = lambda e: float(np.maximum(q - math.exp(e) * p, 0).sum())  # noqa: E731
    for curve, back in ((lambda e: pair.delta(e), lambda e: pair.delta(e)), (one, other), (other, one)):
        grid = loss_grid.LossGrid.of_curves(curve, back, 1.5, 50)
        losses = (np.arange(101) - 50) * grid.step
        for epsilon in np.linspace(-1.4, 1.6, 37):
            above = losses > epsilon
            found = grid.masses[above] @ -np.expm1(epsilon - losses[above]) + grid.infinite
            exact = curve(epsilon) if epsilon >= 0 else 1 - math.exp(epsilon) * (1 - back(-epsilon))
            assert exact <= found + 1e-13
            assert found <= exact + 0.02


@pytest.mark.long
def test_rounds_and_other_releases_compose():
    rounds = compose_rounds(ldp.Warner(1.0), 10, n=100, delta=1e-8)
    total = compose(rounds, Guarantee("pure", 0.5), Guarantee("local", 0.25))
    assert (total.definition, total.delta) == ("approximate", 1e-8)
    assert total.epsilon == pytest.approx(rounds.epsilon + 0.75)
    assert compose_rounds(ldp.Warner(1.0), 1, n=10_000, delta=1e-8) == shuffled(ldp.Warner(1.0), 10_000, 1e-8)
    assert compose_rounds(ldp.Warner(1.0), 10, n=100, delta=0.0).epsilon == pytest.approx(10.0)
    assert compose_rounds(ldp.Laplace(0, 1, 1.0), 3, n=100, delta=0.5).epsilon == 0
    ideal = compose_rounds(Guarantee("local", 1.0, ideal=True), 3, n=100, delta=1e-6)
    assert ideal.ideal


@pytest.mark.long
def test_many_rounds_and_tiny_deltas():
    """More rounds cost more, and the bound never exceeds basic composition."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [compose_rounds(ldp.Warner(1.0), r, n=10**6, delta=1e-8).epsilon for r in (1, 10, 100_000)]
        assert (np.diff(found) > 0).all()
        for delta in (1e-30, 1e-12, 0.1):
            assert 0 < compose_rounds(ldp.Warner(3.0), 50, n=100, delta=delta).epsilon <= 150


@pytest.mark.parametrize(
    "call, kind, message",
    [
        (lambda: compose_rounds(1.0, 0, n=10, delta=1e-6), ValueError, "rounds must be an integer >= 1, got 0"),
        (lambda: compose_rounds(1.0, 2.0, n=10, delta=1e-6), TypeError, "rounds must be an integer, got float"),
        (lambda: compose_rounds(1.0, 2, n=0, delta=1e-6), ValueError, "n must be an integer >= 1, got 0"),
        (lambda: compose_rounds(1.0, 2, n=9, delta=0.1, sampling=0), ValueError, "sampling must be in (0, 1], got 0.0"),
        (lambda: compose_rounds(1.0, 2, n=10, delta=1.0), ValueError, "delta must be in [0, 1), got 1.0"),
    ],
)
def test_bad_rounds(call, kind, message):
    with raises(kind, message):
        call()


def loss_of_one_dataset(p, n, rounds, delta, step):
    """Return an epsilon below that of rounds of bits in which all others have no: losses are rounded down to a grid."""
    from scipy import stats

    q, length = 1 - p, 1 << 21
    reach = 14 * math.sqrt(n * p * q) + 80
    ones = np.arange(max(0, math.floor(n * q - reach)), min(n, math.ceil(n * q + reach)) + 1)
    before, same = stats.binom.pmf(ones - 1, n - 1, q), stats.binom.pmf(ones, n - 1, q)
    mine, theirs = q * before + p * same, p * before + q * same  # the person has no, or yes
    places = np.floor(np.log(mine / theirs) / step).astype(int)
    sums = np.maximum(np.fft.irfft(np.fft.rfft(np.bincount(places % length, mine, length)) ** rounds, length), 0)
    center = round(rounds * float(mine @ places))
    losses = ((np.arange(length) - center + length // 2) % length - length // 2 + center) * step
    low, high = 0.0, 20.0
    for _ in range(50):
        middle = (low + high) / 2
        some = losses > middle
        above = float(sums[some] @ -np.expm1(middle - losses[some])) > delta
        low, high = (middle, high) if above else (low, middle)
    return low


@pytest.mark.long
def test_a_hundred_rounds_of_bits_are_near_those_of_one_dataset():
    """The worked example of docs/rounds.md is between 3.45 and 3.49, and a line of the table there."""
    warner = ldp.Warner(4.0)
    lower = loss_of_one_dataset(float(warner.channel().matrix.max()), 10_000, 100, 1e-6, 1e-5)
    assert 3.451 < lower < 3.453
    found = compose_rounds(warner, 100, n=10_000, delta=1e-6).epsilon
    assert found > lower
    assert round(found, 2) == 3.49
