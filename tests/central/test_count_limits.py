"""Limits of shares from noisy counts: exact coverage by enumeration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from ldpfast.central import histogram_density
from ldpfast.central._count_limits import NoisyCounts

from ..support.cases import each
from ..support.internals.shared import coin_integers


def noise_of(rate, reach):
    """Return the values of two-sided geometric noise plus 1/2, and their probabilities."""
    values = np.arange(-reach, reach) + 0.5
    p = (1 - math.exp(-rate)) / 2 * np.exp(-rate * (np.abs(values) - 0.5))
    return values, p


@pytest.mark.claim("Intervals of a private histogram cover in cells of few records.", "Trusted curator")
@each("confidence", [0.5, 0.95, 0.999])
@each("n, rate", [(1, 1.0), (20, 0.1), (20, 4.0), (100, 10.0)])
def test_limits_cover_for_every_share_by_enumeration(n, rate, confidence):
    """Each limit fails with at most its probability, summed over all counts and noise; those of 5 and fewer records, too."""
    values, chances = noise_of(rate, min(400, math.ceil(45 / rate) + 1))
    noisy = np.arange(n + 1)[:, np.newaxis] + values
    tail = (1 - confidence) / 2
    low, high = NoisyCounts(noisy, n, rate).bounds(np.array(0.0), np.array(0.0), tail)
    assert (low < noisy / n).all()
    assert (noisy / n < high).all()
    for share in (0.0, 1e-4, 0.01, 0.05, 0.25, 0.5, 0.9, 1.0):
        joint = stats.binom.pmf(np.arange(n + 1), n, share)[:, np.newaxis] * chances
        for failed in (joint[low > share + 1e-14].sum(), joint[high < share - 1e-14].sum()):
            assert failed <= tail * (1 + 1e-9)


@each("n, rate", [(10, 0.05), (100, 0.5), (5000, 0.4), (5000, 4.0), (20_000, 1.0), (20_000, 30.0)])
def test_tails_equal_the_sum_over_all_counts(n, rate):
    x, rule = np.arange(n + 1), NoisyCounts(np.zeros(1), n, rate)
    for share in (1e-6, 0.001, 0.05, 0.3, 0.9999):
        binomial = stats.binom.pmf(x, n, share)
        deviation = math.sqrt(n * share * (1 - share) + 2 / rate**2)
        k = np.floor(n * share + np.array([-5, -1, 0, 1, 3, 5]) * deviation)
        away = k[:, np.newaxis] - x
        tail = np.where(away >= 0, np.exp(-rate * np.abs(away)) / 2, 1 - np.exp(-rate * np.abs(away)) / 2)
        found = rule._at_least(k + 0.5, np.full(k.shape, share))
        np.testing.assert_allclose(found, tail @ binomial, rtol=1e-5, atol=1e-13)


def test_every_number_can_have_its_own_tail():
    rule = NoisyCounts(np.array([2.5, 7.5, 2.5]), 10, 0.7)
    low, high = rule.bounds(np.zeros(3), np.zeros(3), np.array([0.05, 0.01, 0.4]))
    for i, tail in enumerate((0.05, 0.01, 0.4)):
        one = rule.bounds(np.zeros(3), np.zeros(3), tail)
        assert (low[i], high[i]) == (one[0][i], one[1][i])


def test_intervals_of_a_histogram_cover_in_cells_of_five_records():
    """30 histograms of 100 records in 20 cells. Normal limits cover 0.90, and all cells at once in half of the runs."""
    rng, covering, together = np.random.default_rng(1), 0, 0
    for run in range(30):
        found = histogram_density(rng.random(100), epsilon=3.0, bins=20, rng=run)
        (low, high), (least, most) = found.interval(), found.interval(simultaneous=True)
        covering += int(((low <= 0.05) & (high >= 0.05)).sum())
        together += bool(((least <= 0.05) & (most >= 0.05)).all())
    # With coverage 0.95, each is below its limit with probability 1e-5, as if cells were independent.
    assert covering >= stats.binom.ppf(1e-5, 600, 0.95)
    assert together >= stats.binom.ppf(1e-5, 30, 0.95)


def test_projected_shares_have_the_intervals_of_the_released_ones():
    rough = histogram_density(np.full((20, 2), 0.1), epsilon=0.1, bins=4, rng=3)
    projected = rough.project()
    assert np.array_equal(rough.interval(), projected.interval())
    assert (rough._names()[0], projected._names()[0]) == ("share", "projected share, and share")
    assert (
        rough.rule.rate
        == pytest.approx(0.05, rel=1e-12)
        == float(coin_integers.geometric(0.1, 2, 1, 2).rate_and_error[0])
    )


def test_tests_and_differences_use_the_limits():
    rng = np.random.default_rng(5)
    first, second = (histogram_density(rng.random(200), epsilon=4.0, bins=5, rng=i) for i in (1, 2))
    low, _ = first.interval(0.9)
    np.testing.assert_allclose(first.test(low, alternative="greater").pvalue, 0.05, rtol=1e-6)
    low, high = (first - second).interval()
    assert (low < 0).all()
    assert (high > 0).all()
