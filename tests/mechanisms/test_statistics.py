"""Distributions of reports, with fixed seeds and bounds from named inequalities.

The probability of a false alarm is at most ALPHA per test. The docstring of a test states what it can detect. Unlike the
exact tests and the reference, these tests detect an error that kernel and reference share, and words that are not uniform.
"""

from __future__ import annotations

import numpy as np
import pytest

from ..cards import CARDS
from ..support.cases import each
from ..support.keys import STATISTICS_SEED
from ..support.statistics import ALPHA, assert_counts, assert_coverage, bernstein_radius

N = 200_000


@pytest.mark.claim("Reports have the probabilities of the channel.", "Privacy of reports")
@each("mechanism, record, row", [case for card in CARDS.values() for case in card.frequencies], ids=repr)
def test_reports_follow_the_channel(mechanism, record, row):
    """Detects errors of a cell above 0.9 percentage points. test_power.py has the coins, with more records."""
    x = np.repeat(np.asarray(record)[np.newaxis], N, axis=0)
    reports = mechanism.privatize(x, rng=STATISTICS_SEED)
    if reports.ndim == 1 or reports.shape[1] == 1:
        codes = reports.ravel()
    else:  # the places of all possible reports, in the order of their bytes, little-endian
        codes = np.unique(reports @ 256 ** np.arange(reports.shape[1]), return_inverse=True)[1]
    expected = mechanism.channel().matrix[row]
    assert_counts(np.bincount(codes, minlength=len(expected)), N, expected, detects=0.009)


@each("mechanism, records", [sample for card in CARDS.values() for sample in card.unbiased], ids=repr)
def test_decoded_reports_have_the_record_as_mean_and_the_stated_variance(mechanism, records):
    """Bernstein's inequality with the exact variance and the largest possible error, for the mean and the squared error.

    Detects a bias of seven standard errors, and a variance that is wrong by a few percent.
    """
    x = records()
    largest = (
        mechanism.scale
        if hasattr(mechanism, "scale")
        else np.abs(mechanism.decode(np.arange(mechanism.report.k, dtype=np.uint8))).max()
    )
    bound = float(largest + np.abs(x).max())
    error = (mechanism.decode(mechanism.privatize(x, rng=STATISTICS_SEED)) - x).reshape(len(x), -1)
    variance = mechanism.variance(x).reshape(len(x), -1)
    radius = bernstein_radius(variance.mean(0), bound, len(x), ALPHA / 2 / error.shape[1])
    assert (np.abs(error.mean(0)) <= radius).all()
    # The mean square of a row lies in [0, bound^2], so its variance is at most bound^2 times its expectation.
    radius = bernstein_radius(bound**2 * variance.mean(), bound**2, len(x), ALPHA / 2)
    assert abs((error**2).mean() - variance.mean()) <= radius


@pytest.mark.claim(
    "95 % intervals of every mechanism contain the true value in at least 95 % of the studies.", "Estimates"
)
@pytest.mark.long
@pytest.mark.parametrize(
    "mechanism, records",
    [sample for card in CARDS.values() for sample in card.covered],
    ids=lambda value: "" if callable(value) else repr(value),
)
def test_intervals_have_their_coverage(mechanism, records):
    """95 % intervals of each coordinate in 2000 runs. Detects a coverage of 0.9 of any of them."""
    x = records()
    truth = mechanism.variance(x[:1]).shape[1:]
    target = np.eye(truth[0])[x].mean(0) if truth and x.ndim == 1 else np.asarray(x, float).mean(0)
    generator = np.random.default_rng(STATISTICS_SEED)
    covered = np.zeros(np.shape(target), int)
    for _ in range(2000):
        low, high = mechanism.run(x, rng=generator).interval()
        covered += (low <= target) & (target <= high)
    assert_coverage(covered, 2000, 0.95, detects=0.9)
