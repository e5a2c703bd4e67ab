"""Shares and conditional means from the reports of another system."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.estimation import conditional_means, from_reports
from ldpfast.results import DoubtfulWarning

from ..support.cases import each
from ..support.statistics import assert_coverage

ROWS = [[5, 1, 1, 1], [1, 5, 1, 1], [1, 1, 4, 2]]


def test_counts_give_the_estimate_of_the_reports():
    channel = ldp.FiniteChannel(ROWS)
    reports = channel.privatize(np.random.default_rng(1).integers(0, 3, 1000), rng=1)
    counts = np.bincount(reports, minlength=4)
    found, expected = from_reports(counts, channel), channel.estimate(reports)
    assert found == expected == from_reports(counts.tolist(), ROWS)
    np.testing.assert_array_equal(found.covariance, expected.covariance)


def test_shares_and_covariance_by_enumeration():
    """All outcomes of four reports of two persons of category 0 and two of category 1."""
    rows = [[3, 1], [1, 3]]
    mean, square, total = np.zeros(2), np.zeros((2, 2)), 0.0
    for outcome in range(16):
        codes = [outcome >> i & 1 for i in range(4)]
        weight = math.prod(rows[i // 2][code] / 4 for i, code in enumerate(codes))
        value = np.array(from_reports([codes.count(0), codes.count(1)], rows).value)
        mean += weight * value
        square += weight * np.outer(value, value)
        total += weight
    assert total == pytest.approx(1)
    np.testing.assert_allclose(mean, [0.5, 0.5], atol=1e-12)
    spread = square - np.outer(mean, mean)
    # Given the records, a report has the variance (3/4)(1/4) 2^2 of a decoded bit.
    np.testing.assert_allclose(spread, 0.75 / 4 * np.array([[1, -1], [-1, 1]]), atol=1e-12)


def test_conditional_means_follow_the_formula():
    rng = np.random.default_rng(2)
    channel, x, y = ldp.FiniteChannel(ROWS), rng.integers(0, 3, 500), rng.normal(size=500)
    reports = channel.privatize(x, rng=3)
    found, weights = conditional_means(y, reports, channel), channel.decode(reports)
    for j in range(3):
        mean = (y * weights[:, j]).sum() / weights[:, j].sum()
        assert found.value[j] == pytest.approx(mean, rel=1e-10)
        error = (y - mean) * weights[:, j] / weights[:, j].mean()
        assert found.stderr[j] == pytest.approx(math.sqrt((error**2).sum()) / 500, rel=1e-10)
    np.testing.assert_allclose(np.sqrt(np.diag(found.covariance)), found.stderr, rtol=1e-12)
    assert found.guarantee == channel.guarantee


def test_conditional_means_without_privacy_noise_are_those_of_the_groups():
    """A channel that is almost the identity."""
    rng, big = np.random.default_rng(3), 1 << 40
    channel = ldp.FiniteChannel([[big, 1, 1], [1, big, 1], [1, 1, big]])
    x, y = rng.integers(0, 3, 3000), rng.normal(size=3000)
    found = conditional_means(y, channel.privatize(x, rng=1), channel)
    for j in range(3):
        assert found.value[j] == pytest.approx(y[x == j].mean(), rel=1e-9)
        assert found.stderr[j] == pytest.approx(y[x == j].std() / math.sqrt((x == j).sum()), rel=1e-6)


@pytest.mark.long
def test_intervals_of_conditional_means_cover():
    """Three intervals of 95 % in 1200 runs. Subgroup shares are means of 0 and 1. Detects a coverage of 0.89."""
    channel, rng, hits, runs = ldp.FiniteChannel(ROWS), np.random.default_rng(4), np.zeros(3, int), 1200
    share = np.array([0.7, 0.2, 0.4])
    for i in range(runs):
        x = rng.choice(3, 4000, p=[0.5, 0.3, 0.2])
        y = (rng.random(4000) < share[x]).astype(int)
        low, high = conditional_means(y, channel.privatize(x, rng=i), channel).interval()
        hits += (low <= share) & (share <= high)
    assert_coverage(hits, runs, 0.95, detects=0.89)


def test_a_rare_category_is_doubtful():
    channel, rng = ldp.FiniteChannel([[3, 2], [2, 3]]), np.random.default_rng(5)
    with pytest.warns(DoubtfulWarning, match="share of category 1 is not clearly above 0"):
        conditional_means(rng.normal(size=300), channel.privatize(np.zeros(300, int), rng=1), channel)


@each(
    "call, error, message",
    [
        (
            lambda: from_reports([1, 2, 3], [[3, 1], [1, 3]]),
            ValueError,
            r"counts must have shape \(2,\), one for each code",
        ),
        (lambda: from_reports([1, -2], [[3, 1], [1, 3]]), ValueError, "counts must be >= 0, got -2"),
        (lambda: from_reports([0, 0], [[3, 1], [1, 3]]), ValueError, "at least 1 report"),
        (lambda: from_reports([0.5, 1], [[3, 1], [1, 3]]), TypeError, "counts must"),
        (lambda: from_reports([1, 2], [[0.7, 0.3], [0.3, 0.6]]), ValueError, "row 1 sums to 0.9"),
        (lambda: from_reports([1, 2], [["a", "b"], ["b", "a"]]), TypeError, "rows must hold integers or fractions"),
        (lambda: conditional_means([1.0], [0, 1], ROWS), ValueError, r"reports must have shape \(1,\), like values"),
        (lambda: conditional_means([], [], ROWS), ValueError, r"values must have shape \(n,\) with n >= 1"),
        (lambda: conditional_means([math.nan, 1], [0, 1], ROWS), ValueError, "values must"),
        (lambda: conditional_means([1.0, 1], [0, 9], ROWS), ValueError, "reports must be codes"),
        (lambda: conditional_means(["a", "b"], [0, 1], ROWS), TypeError, "values must"),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
