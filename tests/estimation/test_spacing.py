"""Quantiles of records with few different values."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
from scipy import stats

import ldpfast as ldp
from ldpfast.estimation import MedianSGD, median, quantile

from ..support.internals.mechanisms import smoothed_bins
from ..support.statistics import assert_coverage


def smoothed_median(values: np.ndarray, probability: np.ndarray, spacing: float) -> float:
    """Return the median of values with uniform offsets."""
    reached = np.cumsum(probability)
    i = int(np.argmax(reached >= 0.5))
    return float(values[i] - spacing / 2 + spacing * (0.5 - (reached[i] - probability[i])) / probability[i])


def rounded(distribution, spacing: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the multiples of a number, and the probability that a draw is rounded to each."""
    values = np.arange(-200, 4000) * spacing
    return values, distribution.cdf(values + spacing / 2) - distribution.cdf(values - spacing / 2)


COUNTS = np.arange(60.0)
CASES = {
    "counts": (COUNTS, stats.poisson(3).pmf(COUNTS), 1.0, (0, 20)),
    "ages": (*rounded(stats.norm(45, 15), 1.0), 1.0, (0, 120)),
    "salaries": (*rounded(stats.lognorm(0.6, scale=3000), 100.0), 100.0, (0, 20_000)),
}


def coverage(case: str, n: int, runs: int) -> tuple[int, int]:
    """Return how many intervals hold the smoothed median, and the rounded ones the median of the records."""
    values, probability, spacing, ends = CASES[case]
    truth = smoothed_median(values, probability, spacing)
    exact = values[int(np.argmax(np.cumsum(probability) >= 0.5))]
    rng, found = np.random.default_rng(1), np.zeros(2, int)
    for _ in range(runs):
        server = MedianSGD(1.0, lower=ends[0], upper=ends[1], n=n, spacing=spacing)
        low, high = server.run(rng.choice(values, n, p=probability / probability.sum()), rng=rng).interval()
        least, most = server.estimate(rounded=True).interval()
        found += low <= truth <= high, least - 1e-9 <= exact <= most + 1e-9
    return int(found[0]), int(found[1])


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_intervals_cover(case):
    """100 intervals of each kind. Detects a coverage of 0.65."""
    assert_coverage(coverage(case, 5000, 100), 100, 0.93, detects=0.65)


@pytest.mark.slow
@pytest.mark.parametrize("n", [4000, 40_000])
@pytest.mark.parametrize("case", CASES)
def test_coverage_is_at_least_93_percent(case, n):
    """1000 intervals, with a standard deviation of 0.8 percentage points."""
    smooth, exact = coverage(case, n, 1000)
    assert smooth >= 915
    assert exact >= 915


def test_the_step_by_step_protocol_asks_the_same_question():
    server = MedianSGD(2.0, lower=0, upper=20, n=4000, spacing=1.0)
    query = server.query()
    assert query.mechanism == smoothed_bins.SmoothedBins((server.position,), 2.0, spacing=1.0)
    rng = np.random.default_rng(1)
    for x in rng.poisson(3, 4000):
        query = server.query()
        server.update(query, query.privatize(float(x)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ldp.SmallSampleWarning)
        low, high = server.estimate().interval(0.9999)
    assert low < 2.8 < high
    again = MedianSGD.from_bytes(server.to_bytes())
    assert again.spacing == 1.0
    assert repr(again) == "MedianSGD(2.0, lower=0.0, upper=20.0, quantile=0.5, n=4000, spacing=1.0)"


def test_records_that_are_equal_are_warned_about():
    x = np.random.default_rng(1).poisson(3, 5000)
    with pytest.warns(
        ldp.DoubtfulWarning,
        match="of the first 5000 records are equal and near the positions: the interval of a quantile does not cover",
    ):
        median(x, 1.0, lower=0, upper=20, rng=1)
    found = median(x, 1.0, lower=0, upper=20, rng=1, spacing=1.0)
    assert abs(found.value - 2.8) < 5 * found.stderr
    exact = quantile(x, 0.5, 1.0, lower=0, upper=20, rng=1, spacing=1.0, rounded=True)
    assert exact.value == 3.0
    assert exact.interval() == tuple(np.round(found.interval()))


def mixed_records(rng, n, share, value):
    """Normal records, with a share that has one value."""
    return np.where(rng.random(n) < share, value, rng.normal(5, 1.5, n))


@pytest.mark.claim(
    "A run says that the interval of a quantile does not cover where many records are equal.", "Estimates"
)
def test_heaps_near_the_positions_are_warned_about_where_no_record_next_to_the_estimate_is_in_one():
    """Zeros and exponential numbers, and heaps beside continuous numbers: intervals covered 0.00 to 0.07 without a warning."""
    rng = np.random.default_rng(3)
    cases = [np.where(rng.random(20_000) < 0.55, 0.0, rng.exponential(size=20_000))]
    cases += [mixed_records(rng, 20_000, share, at) for share, at in ((0.3, 5.5), (0.3, 6.0), (0.6, 5.0), (0.6, 8.0))]
    cases.append(
        mixed_records(rng, 1_000_000, 0.02, 5.05)
    )  # a smaller heap matters where the standard error is smaller
    for x in cases:
        with pytest.warns(ldp.DoubtfulWarning, match="equal and near the positions"):
            MedianSGD(1.0, lower=0, upper=10, n=len(x)).run(x, rng=1)


def test_rounded_records_and_far_heaps_are_not_warned_about():
    """Intervals of these cover: the spread of the positions smooths many small steps, and a far heap is outside of it."""
    rng = np.random.default_rng(4)
    for n, decimals in ((3000, 9), (20_000, 2), (1_000_000, 2)):
        with warnings.catch_warnings():
            warnings.simplefilter("error", ldp.DoubtfulWarning)
            x = np.round(rng.normal(5, 1.5, n), decimals)
            MedianSGD(1.0, lower=0, upper=10, n=n).run(x, rng=1)
            MedianSGD(1.0, lower=0, upper=10, n=n).run(np.where(rng.random(n) < 0.05, 9.0, x), rng=1)


def test_offsets_are_used_once():
    server, other = (MedianSGD(1.0, lower=0, upper=20, n=6000, spacing=1.0) for _ in range(2))
    x = np.random.default_rng(1).poisson(3, 3000).astype(float)
    server.run(x, rng=1)
    first = copy.copy(server)
    server.run(x, rng=1)
    other.run(np.concatenate([x, x]), rng=1)
    assert server.position != first.position
    assert abs(other.position - server.position) < 2


def test_bad_input_is_named():
    for spacing in (0, -1, float("inf")):
        with pytest.raises(ValueError, match="spacing must be"):
            MedianSGD(1.0, lower=0, upper=1, spacing=spacing)
    server = MedianSGD(1.0, lower=0, upper=1)
    query = server.query()
    server.update(query, query.privatize(0.5))
    with pytest.raises(ValueError, match="rounded must be False without spacing"):
        server.estimate(rounded=True)
    with pytest.raises(ValueError, match="rounded must be False without spacing"):
        median(np.zeros(3), 1.0, lower=0, upper=1, rounded=True)
