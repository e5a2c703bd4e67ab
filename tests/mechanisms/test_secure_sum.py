"""Sums of vectors with noise of every client: variance for the guarantee, rounded records, error, modulus, mistakes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ldpfast.mechanisms import SecureSum
from ldpfast.privacy import convert

from ..support.cases import each
from ..support.errors import raises

MILLIONTH = 1e-6


def delta_of(mechanism, variance):
    """Return the delta of the sums of all rounds at the stated epsilon, if each honest client had noise of some variance."""
    distance = 2 * (2**17 + math.sqrt(mechanism.size))
    rho = mechanism.rounds * distance**2 / (2 * mechanism.honest * variance)
    return convert("concentrated", "approximate", rho, at=mechanism.epsilon)


@each("epsilon, expected", [(1.0, 0.823), (4.0, 0.0644), (8.0, 0.0190)])
def test_the_error_for_a_thousand_people_is_that_of_the_table(epsilon, expected):
    mechanism = SecureSum(10_000, epsilon, delta=MILLIONTH, honest=1000, rotation=1)
    assert mechanism.size == 1 << 14
    assert mechanism.total_variance(1000) == pytest.approx(expected, rel=3e-3)


@pytest.mark.claim("The noise of a `SecureSum` is the least that has its guarantee, in integers.", "Privacy of reports")
@each(
    "options",
    [
        {"honest": 10**5, "epsilon": 500.0},
        {"honest": 10**5, "epsilon": 700.0, "rounds": 5},
        {"honest": 130_000, "epsilon": 10_000.0},
    ],
)
def test_a_unit_of_variance_less_would_break_the_guarantee(options):
    mechanism = SecureSum(100, delta=MILLIONTH, rotation=1, **options)
    assert 16 <= mechanism.variance < 5000
    assert delta_of(mechanism, mechanism.variance) <= MILLIONTH < delta_of(mechanism, mechanism.variance - 1)


def test_rounds_add_their_concentrated_losses():
    one, many = (SecureSum(100, 2.0, delta=MILLIONTH, honest=100, rotation=1, rounds=rounds) for rounds in (1, 20))
    assert many.variance == pytest.approx(20 * one.variance, rel=1e-6)
    assert (many.guarantee.epsilon, many.guarantee.delta, many.guarantee.definition) == (2.0, MILLIONTH, "approximate")


class Constant:
    """Words that are all the same."""

    def __init__(self, word):
        self.word = word

    def uint64(self, n):
        return np.full(n, self.word, np.uint64)


def records(dim):
    """Yield records on the sphere: one coordinate, all, a few, and random ones."""
    rng = np.random.default_rng(1)
    for count in {min(count, dim) for count in (1, 2, 3, 10, dim)}:
        yield np.where(np.arange(dim) < count, 1 / math.sqrt(count), 0.0)
    for _ in range(5):
        x = rng.normal(size=dim)
        yield x / np.linalg.norm(x)


@pytest.mark.claim(
    "Rounded records of a `SecureSum` are as near to each other as its noise supposes.", "Privacy of reports"
)
@each("dim, radius", [(1, 1.0), (100, 1e-3), (5000, 7.0)])
def test_rounded_records_are_no_longer_than_the_bound(dim, radius):
    """For the least and the largest words, and for a record beyond the tolerance of the domain."""
    mechanism = SecureSum(dim, 4.0, delta=MILLIONTH, honest=100, rotation=9, radius=radius)
    bound = 2**17 + math.sqrt(mechanism.size)
    for x in records(dim):
        for word in (0, 2**64 - 1):
            steps = mechanism.rounded(x * radius, Constant(word))
            assert math.sqrt(sum(step * step for step in steps.tolist())) <= bound
            assert np.linalg.norm(steps) > 2**17 - math.sqrt(mechanism.size) - 1
        far = mechanism.rounded(1.01 * radius * x, Constant(2**63))
        assert math.isqrt(sum(step * step for step in far.tolist())) <= bound


@each("number", [np.nan, np.inf, -np.inf, 1e300, -1e300, 1.0])
def test_no_record_is_longer_than_the_bound(number):
    """All coordinates are far outside, or NaN: as if they had been written after the check of the records."""
    mechanism = SecureSum(4096, 4.0, delta=MILLIONTH, honest=100, rotation=9)
    for count in (1, 2, 4096):
        x = np.where(np.arange(4096) < count, number, 0.0)
        for word in (0, 2**64 - 1):
            steps = mechanism.rounded(x, Constant(word))
            assert math.sqrt(sum(step * step for step in steps.tolist())) <= 2**17 + 64


def test_the_rounding_is_unbiased_and_the_rotation_inverted():
    """A thousand messages of one record without noise: means within five standard errors of the rounding."""
    mechanism = SecureSum(300, 4.0, delta=MILLIONTH, honest=50, rotation=3)
    rng = np.random.default_rng(2)
    x = rng.normal(size=300)
    x /= 1.1 * np.linalg.norm(x)

    class Random:
        def uint64(self, n):
            return rng.integers(0, 2**64, n, np.uint64)

    total = sum(mechanism.rounded(x, Random()) for _ in range(1000))
    found = mechanism.estimate(total.astype(np.uint32), 1000).value
    np.testing.assert_allclose(found, x, atol=5 * 0.5 / math.sqrt(1000) / 2**17)


@pytest.mark.long
def test_the_squared_error_is_the_stated_variance():
    """Forty sums of 60 people in 500 dimensions: within 4 %; the interval covers."""
    rng = np.random.default_rng(4)
    errors, covered = [], []
    for seed in range(40):
        mechanism = SecureSum(500, 2.0, delta=MILLIONTH, honest=60, rotation=seed)
        x = rng.normal(size=(60, 500))
        x /= np.linalg.norm(x, axis=1)[:, np.newaxis]
        found = mechanism.estimate(mechanism.privatize(x, rng=seed).sum(axis=0, dtype=np.uint32), 60)
        errors.append(np.sum((found.value - x.mean(axis=0)) ** 2))
        low, high = found.interval()
        covered.append(np.mean((low < x.mean(axis=0)) & (x.mean(axis=0) < high)))
    assert np.mean(errors) == pytest.approx(mechanism.total_variance(60), rel=0.04)
    assert np.mean(covered) == pytest.approx(0.95, abs=0.006)


def test_messages_are_added_modulo_the_range_of_their_integers():
    mechanism = SecureSum(50, 4.0, delta=MILLIONTH, honest=3, rotation=5)
    x = np.eye(3, 50)
    messages = mechanism.privatize(x, rng=1)
    assert (messages.dtype, messages.shape) == (np.uint32, (3, 4096))
    np.testing.assert_array_equal(messages, mechanism.privatize(x, rng=1))
    assert not np.array_equal(messages, mechanism.privatize(x))
    whole = messages.astype(object).sum(axis=0) % 2**32
    total = messages.sum(axis=0, dtype=np.uint32)
    np.testing.assert_array_equal(total, whole.astype(np.uint32))
    value = mechanism.estimate(total, 3).value
    for other in (total.astype(np.int64), total.view(np.int32), total.astype(np.uint64)):
        np.testing.assert_array_equal(mechanism.estimate(other, 3).value, value)
    assert mechanism.privatize(x[0].astype(np.float32)).shape == (4096,)


def test_long_records_are_refused_or_cut():
    mechanism = SecureSum(3, 4.0, delta=MILLIONTH, honest=10, rotation=1)
    with pytest.raises(ValueError, match=r"^x must .* norm"):
        mechanism.privatize([3.0, 0.0, 0.0])
    cut = mechanism.privatize([[3.0, 0.0, 0.0], [np.nan, 0.0, 0.0]], clip=True, rng=1)
    np.testing.assert_array_equal(cut, mechanism.privatize([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]], rng=1))


def test_mistakes_are_refused():
    def made(**options):
        return SecureSum(**{"dim": 10, "epsilon": 4.0, "delta": 1e-6, "honest": 10, "rotation": 1} | options)

    with raises(ValueError, "delta must be in (0, 1), got 0.0"):
        made(delta=0)
    with raises(ValueError, "honest must be an integer in [1, 9007199254740992], got 0"):
        made(honest=0)
    with raises(ValueError, "rounds must be an integer in [1, 9007199254740992], got 0"):
        made(rounds=0)
    with pytest.raises(ValueError, match=r"^honest must be so few that each client adds noise with a variance"):
        made(honest=10**13)
    with pytest.raises(
        ValueError, match=r"^honest must be so few, and epsilon so large, that sums are below 2\^31 steps"
    ):
        made(honest=132_000)
    for impossible in ({"epsilon": 1e-300}, {"epsilon": 0.01, "honest": 1}, {"delta": 5e-324}):
        with pytest.raises(ValueError, match=r"^epsilon must be so large that each client adds noise"):
            made(**impossible)
    for name in ("honest", "rounds"):
        with pytest.raises(ValueError, match=f"^{name} must be an integer in"):
            made(**{name: 10**400})
    mechanism = made()
    with raises(ValueError, "n must be an integer in [10, 9007199254740992], got 9"):
        mechanism.estimate(np.zeros(4096, np.uint32), 9)
    with raises(ValueError, "total must have shape (4096,), got (10,)"):
        mechanism.estimate(np.zeros(10, np.uint32), 10)
    with raises(TypeError, "total must be integers of at least 32 bits, got dtype uint16"):
        mechanism.estimate(np.zeros(4096, np.uint16), 10)
    with raises(TypeError, "total must be integers, got dtype float64"):
        mechanism.estimate(np.ones(4096), 10)
    with pytest.raises(ValueError, match=r"^n must be so small that sums are below 2\^31 steps, got 10000000"):
        mechanism.estimate(np.zeros(4096, np.uint32), 10_000_000)
