"""Shares from sums with noise of aggregators: values, variances and limits, and what they need."""

from __future__ import annotations

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import designs
from ldpfast.designs import BitChannel
from ldpfast.estimation import from_sums

from ..support.cases import each
from ..support.errors import raises
from ..support.statistics import assert_coverage

SHARES = np.array([0.5, 0.3, 0.15, 0.05])
DESIGNS = [
    BitChannel(4, 0.75, 0.25),
    BitChannel(4, 0.2, 0.7),
    ldp.UnaryEncoding(4, 2.0),
    ldp.RandomizedResponse(4, 1.0),
    ldp.SubsetSelection(4, 1.0),
    ldp.HadamardResponse(4, 1.0),
    [[4, 1, 1, 1], [1, 4, 1, 1], [1, 1, 4, 1], [1, 1, 1, 4]],
]


def sums_of(design, n, rng):
    """Sums of the reports of n people drawn from the shares."""
    people = rng.choice(4, n, p=SHARES)
    if isinstance(design, BitChannel):
        probability = np.where(people[:, np.newaxis] == np.arange(4), float(design.own), float(design.other))
        return (rng.random((n, 4)) < probability).sum(axis=0)
    mechanism = ldp.mechanisms.FiniteChannel(design) if isinstance(design, list) else design
    return mechanism.aggregator().update(mechanism.privatize(people, rng=rng)).counts


@each("design", DESIGNS, ids=repr)
def test_noise_of_hardly_any_variance_changes_nothing(design):
    sums = sums_of(design, 3000, np.random.default_rng(1))
    exact, noisy = from_sums(sums, 3000, design), from_sums(sums, 3000, design, noise_variance=1e-12)
    np.testing.assert_allclose(noisy.value, exact.value, rtol=0, atol=1e-12)
    np.testing.assert_allclose(noisy.stderr, exact.stderr, rtol=2e-2)
    assert noisy.guarantee == exact.guarantee
    if exact.covariance is not None:
        np.testing.assert_allclose(noisy.covariance, exact.covariance, rtol=0.1, atol=2e-5)


@pytest.mark.long
@each("design", DESIGNS, ids=repr)
def test_limits_cover_with_noise_of_two_aggregators(design):
    """Noise is as large as the randomness of the reports, and some sums are negative."""
    rng, n, sigma = np.random.default_rng(2), 400, 12.0
    estimates = []
    for _ in range(1000):
        noise = rng.normal(0, sigma, (2, np.size(sums_of(design, 1, rng)))).sum(axis=0)
        estimates.append(from_sums(sums_of(design, n, rng) + noise, n, design, noise_variance=2 * sigma**2))
    values, stderrs = (np.array([getattr(one, name) for one in estimates]) for name in ("value", "stderr"))
    means = np.abs(values.mean(axis=0) - SHARES) / (values.std(axis=0) / 1000**0.5)
    assert means.max() < 4.5
    np.testing.assert_allclose(values.std(axis=0) / stderrs.mean(axis=0), 1, atol=0.1)
    low, high = np.moveaxis(np.array([one.interval() for one in estimates]), 1, 0)
    for category in range(4):
        covered = int(((low[:, category] <= SHARES[category]) & (SHARES[category] <= high[:, category])).sum())
        assert_coverage(covered, 1000, 0.95, detects=0.89)


def test_the_variance_of_noise_is_that_of_the_formula():
    """Of a bit: (noise / (n (p - q)))^2 in addition to the binomial variance."""
    design, sums = BitChannel(4, 0.75, 0.25), [2000, 1500, 1200, 1000]
    few, many = (from_sums(sums, 4000, design, noise_variance=variance) for variance in (100, 900))
    np.testing.assert_allclose(many.stderr**2 - few.stderr**2, 800 / (4000 * 0.5) ** 2, rtol=1e-9)


def test_the_known_total_of_codes_is_used():
    """The same noise in all sums changes nothing, and the sum of all shares has no variance."""
    design, sums = ldp.RandomizedResponse(4, 1.0), np.array([300, 250, 240, 210])
    one, other = (from_sums(sums + shift, 1000, design, noise_variance=50) for shift in (0, 17.5))
    np.testing.assert_allclose(other.value, one.value, rtol=0, atol=1e-12)
    assert one.value.sum() == pytest.approx(1)
    assert np.abs(one.covariance.sum(axis=0)).max() < 1e-15


def test_sums_outside_of_the_possible_ones_are_accepted():
    estimate = from_sums([-6, 20, 3, 30], 20, designs.BitChannel(4, 0.9, 0.1), noise_variance=200)
    assert estimate.value[0] < 0
    assert estimate.value[3] > 1


def test_sums_modulo_a_prime_warn():
    with pytest.warns(ldp.DoubtfulWarning, match=r"outside of \[0, 1\]"):
        from_sums([2**64 - 6, 520, 503, 530], 1000, designs.BitChannel(4, 0.75, 0.25), noise_variance=200)


BITS = BitChannel(3, 0.7, 0.2)


@each(
    "arguments, variance, error, message",
    [
        (([1, 2, 3], 9, BITS), -1, ValueError, "noise_variance must be >= 0, got -1"),
        (([1, 2, 3], 9, BITS), np.inf, ValueError, "noise_variance must be a finite number, got inf"),
        (([1, 2, 3], 9, BITS), "1", TypeError, "noise_variance must be a number, got str"),
        (([1, 2], 9, BITS), 4, ValueError, "sums must have shape (3,), one for each code or bit, got shape (2,)"),
        (([1, 2, np.nan], 9, BITS), 4, ValueError, "sums must be finite numbers, got nan"),
        (({0: 1, 1: 2}, 9, BITS), 4, ValueError, "sums must have the labels 0, 1, 2, got none for 2"),
        (([1, 2, 3], 0, BITS), 4, ValueError, "n must be an integer in [1, 9007199254740992], got 0"),
        (([6000, 4000], 9000, ldp.RandomizedResponse(2, 1.0)), 100, ValueError,
         "sums of codes must add up to about n = 9000, got 10000, beyond what noise of variance 100 explains"),
        (([1, 2], 9, ldp.SignBit(0, 1, 1.0)), 4, TypeError,
         "design must be a mechanism from categories to codes, got a SignBit"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused(arguments, variance, error, message):
    with raises(error, message):
        from_sums(*arguments, noise_variance=variance)
