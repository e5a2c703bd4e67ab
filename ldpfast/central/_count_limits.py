"""Limits of shares, and of the counts of given records, from counts with two-sided geometric noise, by exact inversion."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._typing import Floats

BISECTIONS = 55
TINY = 1e-280  # smaller probabilities of the binomial distribution are replaced by the sum of a geometric series


@dataclass(frozen=True, eq=False)
class NoisyCounts:
    """Limits of shares, from counts of n records with two-sided geometric noise plus 1/2.

    A limit is the share at which a noisy count as extreme as the observed one has the probability `tail`. The count is binomial
    and the noise has its own distribution, so each limit fails with at most this probability for every n and every share, in
    the center of the range and at its ends. Below a share of 0 and above 1 the limits continue as those of a shifted noise.

    Attributes
    ----------
    counts : ndarray of float
        Noisy counts: integers plus 1/2.
    n : int
        Number of records.
    rate : float
        Logarithm of the ratio of the probabilities of neighboring values of the noise.
    """

    counts: Floats
    n: int
    rate: float
    by_coordinate: ClassVar[bool] = True

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        counts, tails = np.broadcast_arrays(self.counts, np.asarray(tail, np.float64))
        pairs = np.stack([counts.ravel(), tails.ravel()], axis=1)
        different, where = np.unique(pairs, axis=0, return_inverse=True)
        # The mirror image of the counts, those of the other records, has the same noise.
        sides = np.concatenate([different[:, 0], self.n - different[:, 0]])
        low, rest = np.split(self._lower(sides, np.tile(different[:, 1], 2)), 2)
        return low[where.ravel()].reshape(counts.shape), (1 - rest)[where.ravel()].reshape(counts.shape)

    def _lower(self, counts: Floats, tail: Floats) -> Floats:
        """Return the share at which a noisy count of at least this size has the probability `tail`, by bisection."""
        reach = self._reach(tail)
        below, above = counts <= reach, counts >= self.n + reach  # the limit is at most 0, at least 1
        low, high = np.zeros(counts.shape), np.ones(counts.shape)
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            excluded = self._at_least(counts, middle) <= tail
            low, high = np.where(excluded, middle, low), np.where(excluded, high, middle)
        return np.where(below, (counts - reach) / self.n, np.where(above, (counts - reach) / self.n, low))

    def _reach(self, tail: Floats) -> Floats:
        """Return the number that noise, plus a continuous shift, exceeds with the probability `tail`."""
        with np.errstate(divide="ignore"):
            size = -np.log(2 * np.minimum(tail, 1 - tail)) / self.rate
        return np.asarray(np.where(tail <= 0.5, 0.5 + size, 0.5 - size))

    def _at_least(self, counts: Floats, share: Floats) -> Floats:
        """Return the probability that a noisy count is at least as large as the given one.

        With k the count minus 1/2, it is 1/2 q^(k - X) for X <= k records and 1 - 1/2 q^(X - k) for more, in the mean over the
        binomial distribution of X.
        """
        from scipy.special import betainc

        k = np.floor(counts)
        inside = (k >= 0) & (k < self.n)
        at = np.clip(k, 0, self.n - 1)
        more = np.where(inside, betainc(at + 1, self.n - at, share), np.where(k < 0, 1.0, 0.0))
        # The number of records that are not in the cell is binomial, too.
        fewer = self._discounted(k, share)
        others = self._discounted(self.n - k - 1, 1 - share) * math.exp(-self.rate)
        return np.asarray(np.clip(more + (fewer - others) / 2, 0.0, 1.0))

    def _discounted(self, k: Floats, share: Floats) -> Floats:
        """Return the mean of q^(k - X) over X <= k, for a binomial X.

        It is a probability of the binomial distribution with odds that are larger by 1/q, times a power. Where that is too
        small for doubles, the terms fall at least like a geometric series from that of X = k on.
        """
        from scipy.special import betainc, gammaln, xlog1py, xlogy

        n, growth = self.n, math.expm1(self.rate)
        inside, at = k < n, np.clip(k, 0, n - 1)
        tilted = share * (1 + growth) / (1 + share * growth)
        below = np.where(inside, betainc(n - at, at + 1, (1 - share) / (1 + share * growth)), 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            total = np.exp(n * np.log1p(share * growth) - np.maximum(k, 0) * self.rate + np.log(below))
            last = gammaln(n + 1) - gammaln(at + 1) - gammaln(n - at + 1) + xlogy(at, share) + xlog1py(n - at, -share)
            ratio = math.exp(-self.rate) * at * (1 - share) / ((n - at + 1) * share)
            series = np.exp(last) / (1 - ratio)
        return np.where(k < 0, 0.0, np.where(inside & (below < TINY) & (tilted * n > at), series, total))


@dataclass(frozen=True)
class NoisyCountsOfRecords:
    """Limits of the counts of given records, from counts with two-sided geometric noise plus 1/2.

    The noise N without the half is at least k with probability q^k / 2 for k >= 0, and N and -1 - N have one distribution. So a
    count is below the noisy one plus 1/2 less k with that probability. Limits are whole numbers.

    Attributes
    ----------
    rate : float
        Logarithm of the ratio 1 / q of the probabilities of neighboring values of the noise.
    """

    rate: float
    by_coordinate: ClassVar[bool] = True

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        tails = np.asarray(tail, np.float64)
        with np.errstate(divide="ignore"):
            size = -np.log(2 * np.minimum(tails, 1 - tails)) / self.rate
        margin = np.where(tails <= 0.5, np.ceil(size), -np.floor(size)) - 0.5
        return value - margin, value + margin
