"""Limits of statistical tests: exact for counts, else from named inequalities.

A test of counts states the smallest fault that it detects, and `assert_counts` and `assert_coverage` compute whether it does.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

ALPHA = 1e-5  # probability that a correct build fails one statistical test
POWER = 0.99  # probability that a test fails if the library has the fault which it claims to detect


def count_limits(n: ArrayLike, p: ArrayLike, alpha: float = ALPHA):
    """Return limits with P(count < low) <= alpha / 2 and P(count > high) <= alpha / 2 for a binomial count."""
    n, p = np.asarray(n), np.asarray(p, np.float64)
    low = np.where(p > 0, np.where(p < 1, stats.binom.ppf(alpha / 2, n, p), n), 0)
    high = np.where(p > 0, np.where(p < 1, stats.binom.isf(alpha / 2, n, p), n), 0)
    return low, high


def rejection(n: ArrayLike, p: ArrayLike, true: ArrayLike, alpha: float = ALPHA):
    """Return the probability that a count is outside of `count_limits` for p if the true probability is `true`."""
    low, high = count_limits(n, p, alpha)
    return stats.binom.cdf(low - 1, n, true) + stats.binom.sf(high, n, true)


def assert_counts(counts: ArrayLike, n: ArrayLike, p: ArrayLike, *, detects: float, alpha: float = ALPHA) -> None:
    """Check that counts agree with binomial distributions, all of them together (union bound).

    If one probability differs from `p` by `detects`, up or down, the check fails with a probability of at least `POWER`.
    """
    counts, n, p = np.broadcast_arrays(counts, n, np.asarray(p, np.float64))
    each = alpha / counts.size
    for true in (p - detects, p + detects):
        possible = (true >= 0) & (true <= 1)
        power = rejection(n[possible], p[possible], true[possible], each)
        assert (power >= POWER).all(), f"detects={detects:g} must be larger, the power is {power.min():.3g}"
    low, high = count_limits(n, p, each)
    wrong = np.flatnonzero((counts < low) | (counts > high))
    if len(wrong):
        i = tuple(map(int, np.unravel_index(wrong[0], counts.shape)))
        raise AssertionError(
            f"count {i} is {counts[i]}, not in [{low[i]:g}, {high[i]:g}] ({len(wrong)} counts are not)"
        )


def least_count(runs: int, p: float, alpha: float = ALPHA) -> int:
    """Return the largest limit with P(count < limit) <= alpha for a binomial count."""
    return int(stats.binom.ppf(alpha, runs, p))


def assert_coverage(
    covering: ArrayLike, runs: int, least: float, *, detects: float, most: float = 1.0, alpha: float = ALPHA
) -> None:
    """Check numbers of intervals that cover, in independent runs, against a coverage in [least, most].

    If the true coverage of one interval is at most `detects`, the check fails with a probability of at least `POWER`.
    """
    each = alpha / np.size(covering) / (1 if most == 1 else 2)
    low = least_count(runs, least, each)
    power = stats.binom.cdf(low - 1, runs, detects)
    assert power >= POWER, f"detects={detects:g} must be smaller, the power is {power:.3g}"
    high = stats.binom.isf(each, runs, most) if most < 1 else runs
    covering = np.asarray(covering)
    assert ((low <= covering) & (covering <= high)).all(), f"{covering} of {runs} not in [{low}, {high:g}]"


def normal_margin(numbers: int = 1, alpha: float = ALPHA) -> float:
    """Return the standard errors that some normal error of so many exceeds with probability alpha at most: 4.42 for one.

    A bias of 2.33 standard errors more (6.75 for one number) is detected with probability `POWER`.
    """
    return float(stats.norm.isf(alpha / 2 / numbers))


def hoeffding_radius(n: int, alpha: float) -> float:
    """Return the radius with P(|mean of n numbers in [0, 1] - expectation| > radius) <= alpha (Hoeffding 1963).

    It is also the radius of Massart's inequality for a distribution function (1990).
    """
    return math.sqrt(math.log(2 / alpha) / (2 * n))


def bernstein_radius(variance, bound: float, n: int, alpha: float):
    """Return the radius with P(|mean - expectation| > radius) <= alpha, by Bernstein's inequality.

    The numbers have the given variance, and |number - expectation| <= bound.
    """
    log = math.log(2 / alpha)
    return np.sqrt(2 * np.asarray(variance) * log / n) + 2 * bound * log / (3 * n)
