"""Numbers of shuffled reports by kind: their distribution, and an upper bound on the divergence between two records."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .. import _coins
from ._directed_rounding import Floats, down, up
from ._two_level import TwoLevel

MAX_PEOPLE = 10**10  # more people have at least the privacy of this many
ERROR = 1e-8  # more than the relative error of binomial probabilities and incomplete betas for up to MAX_PEOPLE
SKIPPED = 1e-250  # more than the probability of the counts that are left out, and than the errors by underflow
WIDE, NARROW = 40, 9  # standard deviations on either side
INTERVALS = 4096  # of the number of reports in the sets on which two records differ
# The same for channels with reports outside these sets, and intervals of the number of those.
MIN_INTERVALS = 32
FEWER_INTERVALS = 256
HIDING_INTERVALS = 256


@dataclass(frozen=True)
class ShuffledCounts:
    """Joint distribution of two numbers of reports, in cells that are products of intervals.

    T is the number of reports in the sets on which two records differ, and R that of reports like the person's own one outside
    these sets. Given both, T - 1 reports are fair coin tosses between the two sets. One is the person's own report or one more
    coin toss, and has the side of the person's record with probability 1 - wrong.
    """

    first: Floats  # smallest T of a cell
    mass: Floats
    wrong: Floats  # for the largest T and the smallest R of a cell, where it is smallest; rounded down
    signal: Floats  # 1 - 2 wrong, rounded up

    @classmethod
    def of(cls, channel: TwoLevel, n: int) -> ShuffledCounts:
        """Return the distribution for n people. Parameters are rounded toward less privacy."""
        odds, others = Fraction(channel.odds), min(n, MAX_PEOPLE) - 1
        if odds == 1:  # a report tells nothing
            return cls(*(np.empty(0) for _ in range(4)))
        rate = -_coins.round_up(-Fraction(channel.common_rate))
        affected, outside = _coins.round_up(Fraction(channel.affected)), _coins.round_up(1 - Fraction(channel.affected))
        miss, signal = -_coins.round_up(-1 / (odds + 1)), _coins.round_up((odds - 1) / (odds + 1))
        mean, deviation = others * rate, math.sqrt(others * rate * (1 - rate))
        # By Bernstein's inequality, T is outside [low, high] with probability below 2 e^-590.
        reach = math.ceil(WIDE * deviation + 400)
        low, high = max(1, math.floor(mean) - reach), min(others + 1, math.ceil(mean) + reach)
        tosses = np.arange(low - 1.0, high + 1)
        of_tosses = np.where(tosses <= others, binomial(np.minimum(tosses, others), np.float64(others), rate), 0.0)
        count = INTERVALS if outside == 0 else _enough(mean, deviation, FEWER_INTERVALS)
        first, last = _intervals(low, high, mean, deviation, count)
        starts = (first - low).astype(np.intp)
        inside = affected * np.add.reduceat(of_tosses[:-1], starts)  # T counts the person's own report
        toss = np.zeros(1)  # odds of one more coin toss against the person's own report, given T and R
        if outside == 0:
            mass = inside
        else:
            hiding = -_coins.round_up(-Fraction(channel.hiding_rate or 0))
            share = min(1.0, hiding / (1 - rate))
            least, with_own, without = _hidden(others + 1 - last, share)
            mass = inside[:, np.newaxis] * without
            mass += outside * np.add.reduceat(of_tosses[1:], starts)[:, np.newaxis] * with_own
            if hiding > 0:
                free = -_coins.round_up(1 - 1 / Fraction(channel.affected)) * (rate / hiding)
                toss = down(free * least / last[:, np.newaxis])
            first = np.broadcast_to(first[:, np.newaxis], mass.shape)
        wrong, right = down((miss + toss / 2) / (1 + toss)), up(signal / (1 + toss), 1.0)
        some = mass > 1e-290
        return cls(first[some], mass[some], *(np.broadcast_to(part, mass.shape)[some] for part in (wrong, right)))

    def without_rare(self, spare: float) -> tuple[ShuffledCounts, float]:
        """Return the distribution without rare cells, and a bound on their probability, at most about `spare`."""
        order = np.argsort(self.mass)
        rare = int(np.searchsorted(np.cumsum(self.mass[order]), spare))
        kept = np.sort(order[rare:])
        parts = (part[kept] for part in (self.first, self.mass, self.wrong, self.signal))
        return ShuffledCounts(*parts), float(self.mass[order[:rare]].sum()) * (1 + 2 * ERROR)

    def delta(self, epsilon: float) -> float:
        """Return an upper bound on the hockey-stick divergence.

        In a cell, the best event is that at most c of the T reports are on the wrong side. With b and B the probability and the
        distribution function of a binomial of T - 1 fair coin tosses, its divergence is ``(1 + e^epsilon) gap b(c) -
        (e^epsilon - 1) B(c - 1)`` with gap = 1 / (1 + e^epsilon) - wrong and c = floor(T gap / signal). The difference of the
        terms is seldom less than 1/1000 of them, so it keeps most of their digits.
        """
        from scipy.special import betainc

        power = math.exp(epsilon)
        direct, centered = 1 / (1 + power) - self.wrong, (self.signal - math.tanh(epsilon / 2)) / 2
        gap = np.where(self.wrong < 0.25, direct, centered)  # equal, but for rounding
        some = gap > 0
        total = self.first[some]
        gap = gap[some]
        signal = self.signal[some]
        c = np.minimum(np.floor(total * gap / signal), np.floor(total / 2))
        above = (1 + power) * gap * binomial(np.minimum(c, total - 1), total - 1, 0.5)
        below = math.expm1(epsilon) * np.where(c < 1, 0.0, betainc(total - c, np.maximum(c, 1.0), 0.5))
        divergence = np.maximum(above * (1 + ERROR) - below * (1 - ERROR), 0.0)
        return float(self.mass[some] @ divergence) * (1 + 2 * ERROR) + SKIPPED


def _hidden(people: Floats, share: float) -> tuple[Floats, Floats, Floats]:
    """Return intervals of the number R of reports outside, and their probabilities, for the numbers of people not in T.

    Each of these people, but for the person, is like the person's own report with probability `share`. Row i is for
    ``people[i]``. The results are the smallest R of the intervals, their probabilities if R counts the person's own report,
    and if it does not because that is in T.
    """
    mean, deviation = people * share, np.sqrt(people * share * (1 - share))
    widest = float(deviation.max())
    width = max(1, math.ceil(2 * NARROW * widest / _enough(float(mean.min()), widest, HIDING_INTERVALS)))
    near = math.ceil(NARROW * widest) + 10
    start = np.maximum(1.0, np.floor(mean) - near)[:, np.newaxis]
    inner = start + np.arange(0.0, 2 * near + 2 * width, width)
    least = np.concatenate(
        [np.zeros_like(start), inner], axis=1
    )  # the first interval has all smaller R, the last all larger
    people, mean = people[:, np.newaxis], mean[:, np.newaxis]
    with_own = _between(np.maximum(least - 1, 0.0), np.maximum(people - 1, 0.0), share, mean)
    return least, with_own, _between(least, people, share, mean)


def _between(least: Floats, n: Floats, p: float, mean: Floats) -> Floats:
    """Return the probabilities of the intervals that start at `least`, for binomials of n trials; the last is not bounded."""
    from scipy.special import betainc

    edges = np.concatenate([least, np.broadcast_to(n + 1, (len(least), 1))], axis=1)
    n = np.broadcast_to(n, edges.shape)
    inside = (edges > 0) & (edges <= n)
    k = np.where(inside, edges, 1.0)
    rest = np.where(inside, n - k + 1, 1.0)
    below = np.where(inside, betainc(rest, k, 1 - p), np.where(edges > 0, 1.0, 0.0))
    above = np.where(inside, betainc(k, rest, p), np.where(edges > 0, 0.0, 1.0))
    # each difference in the tail where the probabilities are small
    return np.maximum(np.where(edges[:, 1:] <= mean, np.diff(below, axis=1), -np.diff(above, axis=1)), 0.0)


def _enough(mean: float, deviation: float, largest: int) -> int:
    """Return a number of intervals for which they increase a delta above 1e-12 by about 1 %, within limits."""
    return min(largest, max(MIN_INTERVALS, math.ceil(3e4 * deviation / max(mean, 1.0))))


def _intervals(low: int, high: int, mean: float, deviation: float, count: int) -> tuple[Floats, Floats]:
    """Return the first and the last integers of consecutive intervals of [low, high], which are short near the mean.

    They are single integers unless there are many.
    """
    fine = max(1, math.ceil(2 * NARROW * deviation / count))
    coarse = max(fine, math.ceil(deviation / 2)) if high - low > count else 1
    near = math.ceil(NARROW * deviation)
    start, end = max(low, math.floor(mean) - near), min(high, math.ceil(mean) + near)
    first = np.unique(np.concatenate([np.arange(low, high + 1, coarse), np.arange(start, end + 1, fine)]))
    return first.astype(np.float64), np.append(first[1:] - 1.0, high)


def binomial(k: Floats, n: Floats | np.float64, p: float) -> Floats:
    """Return the probability of k successes in n trials, by Stirling's formula with its exact remainder.

    The exponent is a sum of deviances of successes and failures (C. Loader, "Fast and Accurate Computation of Binomial
    Probabilities", 2000). Their rounding errors are about 2^-52 |k - n p| in total, below 3e-10 for all n in use.
    """
    remainder = _remainder(n) - _remainder(k) - _remainder(n - k)
    return np.asarray(np.exp(remainder - _deviance(k, n * p) - _deviance(n - k, n * (1 - p))))


def _deviance(k: Floats, mean: Floats | np.float64) -> Floats:
    """Return k log(k / mean) + mean - k."""
    from scipy.special import xlog1py

    mean = np.maximum(mean, 1e-300)  # no trials
    return np.asarray(xlog1py(k, (k - mean) / mean) - (k - mean))


SMALL = 16
TABLE = np.array([math.lgamma(k + 1) - (k * math.log(k) - k if k else 0.0) for k in range(SMALL)])


def _remainder(k: Floats | np.float64) -> Floats:
    """Return log(k!) - k log(k) + k: from a table, or by Stirling's series up to k^-9."""
    large = np.maximum(k, SMALL)
    square = 1 / (large * large)
    series = (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)))) / large
    table = TABLE[np.minimum(k, SMALL - 1).astype(np.intp)]
    return np.where(k < SMALL, table, series + np.log(2 * np.pi * large) / 2)
