"""Privacy of reports that are shuffled before the server sees them."""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from .. import _check, _coins
from ._guarantee import Guarantee
from ._numbers import Floats, down, float_or_array, raise_until, up

MAX_EPSILON = 598.0
MAX_ODDS = 10**260  # e^598 is below
MAX_PEOPLE = 10**10  # more people have at least the privacy of this many
ERROR = 1e-8  # more than the relative error of binomial probabilities and incomplete betas for up to MAX_PEOPLE
SKIPPED = 1e-250  # more than the probability of the counts that are left out, and than the errors by underflow
WIDE, NARROW = 40, 9  # standard deviations on either side
INTERVALS = 4096  # of the number of reports in the sets on which two records differ
# The same for channels with reports outside these sets, and intervals of the number of those.
MIN_INTERVALS, FEWER_INTERVALS, HIDING_INTERVALS = 32, 256, 256
CONSISTENT = 1e-9  # tolerance for rates that were computed in doubles

Number = Fraction | float | int


@dataclass(frozen=True)
class TwoLevel:
    """Public parameters of a channel with two levels of probability, from which the effect of shuffling is computed.

    The density of a report of record x, relative to a base distribution that is the same for all records, is E / D on a set
    S(x) and 1 / D outside. E is the odds, e^epsilon. Two records x and x' differ on S(x) without S(x'), and on S(x') without
    S(x). Both sets have the same base probability a.

    Parameters
    ----------
    common_rate : Fraction or float
        Probability 2 a / D, in (0, 1], that the report of another person is drawn from the base distribution within these
        sets, whatever that person's record is.
    affected : Fraction or float
        Probability a (E + 1) / D, in (0, 1], that the person's own report is in these sets. It is then on the side of the
        person's own record with probability E / (E + 1).
    odds : Fraction or float
        The ratio E of both densities, in [1, 1e260].
    hiding_rate : Fraction or float, optional
        Probability that the report of another person is drawn from the distribution of the person's own report outside these
        sets, whatever that person's record is; at most 1 - affected. The default, (1 - affected) / odds, is true for all
        channels. For records with disjoint S(x) it is 1 - affected.

    Raises
    ------
    TypeError, ValueError
        If a parameter is out of its range; if `common_rate` is above ``2 affected / (odds + 1)``, which is possible for no
        channel.

    Notes
    -----
    The largest a over all pairs of records is the worst case. A channel of mixtures of such rows, with the same base
    distribution, has the parameters of the rows. Fractions are kept exactly. See docs/proofs/shuffling.md.

    Examples
    --------
    >>> from ldpfast.privacy._shuffling import TwoLevel
    >>> TwoLevel.of_sets(3, size=1, outputs=10, difference=1).affected  # k-ary randomized response with k = 10
    Fraction(1, 3)
    """

    common_rate: Number
    affected: Number
    odds: Number
    hiding_rate: Number | None = None

    def __post_init__(self) -> None:
        rate, affected = _fraction("common_rate", self.common_rate), _fraction("affected", self.affected)
        odds = _fraction("odds", self.odds)
        for name, value in (("common_rate", rate), ("affected", affected)):
            if not 0 < value <= 1:
                raise ValueError(f"{name} must be in (0, 1], got {getattr(self, name)!r}")
        if not 1 <= odds <= MAX_ODDS:
            raise ValueError(f"odds must be in [1, 1e260], got {self.odds!r}")
        if rate > 2 * affected / (odds + 1) * (1 + Fraction(CONSISTENT)):
            raise ValueError(f"common_rate must be at most 2 affected / (odds + 1), got {self.common_rate!r}")
        hiding = (1 - affected) / odds
        if self.hiding_rate is not None:
            hiding = _fraction("hiding_rate", self.hiding_rate)
            if not 0 <= hiding <= 1 - affected:
                raise ValueError(f"hiding_rate must be in [0, 1 - affected], got {self.hiding_rate!r}")
        for name, value in (("common_rate", rate), ("affected", affected), ("odds", odds), ("hiding_rate", hiding)):
            object.__setattr__(self, name, value)

    @classmethod
    def of_sets(cls, odds: Number, size: Number, outputs: Number, difference: Number) -> TwoLevel:
        """Return the parameters of a channel that raises the probability of a set S(x).

        Parameters
        ----------
        odds : Fraction or float
            The ratio E of the densities in S(x) and outside, >= 1.
        size : Fraction or float
            Size of S(x): the number of outputs, or another measure that is the same for all records.
        outputs : Fraction or float
            Size of the set of all outputs.
        difference : Fraction or float
            Size of S(x) without S(x'), the largest over all pairs of records.

        Returns
        -------
        parameters : TwoLevel

        Raises
        ------
        TypeError, ValueError
            If not 0 < difference <= size < outputs, or size + difference > outputs; if `odds` are not in [1, 1e260].
        """
        e, members = _fraction("odds", odds), _fraction("size", size)
        total, apart = _fraction("outputs", outputs), _fraction("difference", difference)
        if not 0 < members < total:
            raise ValueError(f"size must be in (0, outputs) with outputs={outputs!r}, got {size!r}")
        if not 0 < apart <= min(members, total - members):
            raise ValueError(f"difference must be > 0 and at most size and outputs - size, got {difference!r}")
        if not 1 <= e <= MAX_ODDS:
            raise ValueError(f"odds must be in [1, 1e260], got {odds!r}")
        scale = total + (e - 1) * members
        affected = apart * (e + 1) / scale
        return cls(2 * apart / scale, affected, e, 1 - affected if members == apart else None)

    @classmethod
    def binary(cls, odds: Number) -> TwoLevel:
        """Return the parameters of randomized response with two outputs, (2 / (E + 1), 1).

        They also hold for one random bit about a public direction, if the direction is part of the report: half of the pairs of
        direction and bit are in S(x), and none of them is in S(-x).

        Parameters
        ----------
        odds : Fraction or float
            Probability of the true bit over that of the false bit, >= 1.

        Returns
        -------
        parameters : TwoLevel

        Raises
        ------
        TypeError, ValueError
            If `odds` are not in [1, 1e260].
        """
        return cls.of_sets(odds, 1, 2, 1)

    @classmethod
    def arbitrary(cls, epsilon: float) -> TwoLevel:
        """Return the parameters (e^-epsilon, 1) that hold for all epsilon-private channels, of two levels or not.

        Parameters
        ----------
        epsilon : float
            Epsilon of one report, in [0, 598].

        Returns
        -------
        parameters : TwoLevel

        Raises
        ------
        TypeError, ValueError
            If `epsilon` is out of its range.

        Notes
        -----
        The common rate 2 / (e^epsilon + 1) of [2]_ is larger. It was corrected by the erratum of that paper, because it does
        not hold for all channels. The rate of [1]_, used here, does.

        References
        ----------
        .. [1] V. Feldman, A. McMillan, K. Talwar, "Hiding Among the Clones: A Simple and Nearly Optimal Analysis of Privacy
           Amplification by Shuffling", FOCS 2021.
        .. [2] V. Feldman, A. McMillan, K. Talwar, "Stronger Privacy Amplification by Shuffling for Renyi and Approximate
           Differential Privacy", SODA 2023, and its erratum.
        """
        if not 0 <= _check.real("epsilon", epsilon) <= MAX_EPSILON:
            raise ValueError(f"epsilon must be in [0, {MAX_EPSILON:g}], got {epsilon!r}")
        with decimal.localcontext(_coins.CONTEXT) as context:
            odds = Fraction(Decimal(epsilon).exp().next_plus(context)) if epsilon > 0 else Fraction(1)
        return cls(1 / odds, 1, odds)

    @property
    def epsilon(self) -> float:
        """Epsilon of one report, ln E, rounded up."""
        return _coins.log_up(Fraction(self.odds))


class Randomizer(Protocol):
    """The part of a mechanism that `shuffled` uses."""

    @property
    def epsilon_realized(self) -> float:
        """Epsilon of one report."""
        ...

    @property
    def two_level(self) -> TwoLevel | None:
        """Parameters of the channel, if it has two levels."""
        ...


Shuffleable = Randomizer | Guarantee | TwoLevel | float


def shuffled(mechanism_or_epsilon: Shuffleable, n: int, delta: float) -> Guarantee:
    """Return the guarantee of n reports that are shuffled before the server sees them.

    Parameters
    ----------
    mechanism_or_epsilon : Mechanism, TwoLevel, Guarantee or float
        The channel, the same for all people. For a mechanism without `two_level`, a `Guarantee` with definition "local", or a
        number epsilon, the bound is for all channels with this epsilon.
    n : int
        Number of reports that are shuffled together, at least 1. Reports of people who may collude with the server do not
        count.
    delta : float
        In [0, 1).

    Returns
    -------
    guarantee : Guarantee
        With definition "approximate": the smallest epsilon that is found for `delta`, rounded up, and at most the epsilon
        of one report. It is ideal if that of the mechanism is.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range; if a `Guarantee` is not "local".

    Privacy
    -------
    The shuffler permutes the reports uniformly at random, and removes everything else that could link a report to a person.
    Everything that is needed to decode a report must be in the report: a server that knows the public seed, direction or
    question of each person can tell the reports apart, and there is no amplification. With one person (n = 1) there is none
    either, and the guarantee is the same as for a single report.

    Notes
    -----
    Each of the other n - 1 reports is, with probability `common_rate`, a fair coin toss between the two sets on which the
    records differ. It hides the person's own report if that is in these sets, which has probability `affected`. Other reports,
    with probability `hiding_rate`, hide it if it is not. Suppose that the server is told which reports do neither. The numbers
    of reports of each kind are then all that depends on the record, and the bound is the hockey-stick divergence of their
    distributions. See docs/proofs/shuffling.md. For randomized response it is the bound of [1]_ with a larger common rate.

    The result covers the errors of floating-point arithmetic. Parameters are rounded toward less privacy, every binomial
    probability is taken with a relative error of 1e-8, which is more than it has (tests compare them with exact integers and
    with sums of ratios), and 1e-250 is added to delta for counts beyond 40 standard deviations. For many people, counts are
    merged into intervals, each with the largest divergence of its counts, which increases epsilon by less than 0.3 %.
    O(sqrt(n)) time, a fraction of a second for n = 1e9.

    For several shuffled rounds, use `compose` or `composition_epsilon` with the deltas of the rounds.

    References
    ----------
    .. [1] V. Feldman, A. McMillan, K. Talwar, "Hiding Among the Clones: A Simple and Nearly Optimal Analysis of Privacy
       Amplification by Shuffling", FOCS 2021.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> from ldpfast.privacy import shuffled
    >>> round(shuffled(ldp.RandomizedResponse(100, 4.0), 10_000, 1e-8).epsilon, 4)
    0.2928
    >>> round(shuffled(4.0, 10_000, 1e-8).epsilon, 4)  # any mechanism
    0.7546
    """
    channel, largest, ideal = _channel(mechanism_or_epsilon)
    n = _check.integer("n", n, 1)
    target = float(_check.within("delta", _check.real("delta", delta), 0, 1, "[)"))
    counts = _Counts.of(channel, n)
    return Guarantee("approximate", min(largest, _least_epsilon(counts, target, largest)), target, ideal=ideal)


def shuffled_delta(mechanism_or_epsilon: Shuffleable, n: int, epsilon: ArrayLike) -> Any:
    """Return the delta of n shuffled reports at a given epsilon.

    Parameters
    ----------
    mechanism_or_epsilon : Mechanism, TwoLevel, Guarantee or float
        The channel, as for `shuffled`.
    n : int
        Number of reports that are shuffled together, at least 1.
    epsilon : array_like
        At least 0.

    Returns
    -------
    delta : float or ndarray
        Delta of all reports together, of the shape of `epsilon`, rounded up as for `shuffled`. It is 0 from the epsilon of one
        report on.

    Raises
    ------
    TypeError, ValueError
        As for `shuffled`; if `epsilon` is negative or not finite.

    Privacy
    -------
    As for `shuffled`: public seeds must be part of the shuffled reports.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> bool(shuffled_delta(ldp.Warner(1.0), 10_000, 0.06) < 1e-8)
    True
    """
    channel, largest, _ = _channel(mechanism_or_epsilon)
    n = _check.integer("n", n, 1)
    epsilons = _check.within("epsilon", epsilon, 0, math.inf, "[)")
    counts = _Counts.of(channel, n)
    deltas = [min(1.0, counts.delta(float(e))) if e < largest else 0.0 for e in epsilons.flat]
    return float_or_array(np.array(deltas).reshape(epsilons.shape))


def _fraction(name: str, value: Any) -> Fraction:
    if isinstance(value, Fraction):
        return value
    return Fraction(_check.integer(name, value, 0) if isinstance(value, int) else _check.real(name, value))


def _channel(given: Any) -> tuple[TwoLevel, float, bool]:
    """Return the parameters of a channel, the epsilon of one report, and whether it is ideal."""
    if isinstance(given, TwoLevel):
        return given, given.epsilon, False
    if isinstance(given, Guarantee):
        if given.definition != "local":
            raise ValueError(f"mechanism_or_epsilon must be a 'local' guarantee, got {given.definition!r}")
        return TwoLevel.arbitrary(given.epsilon), given.epsilon, given.ideal
    if hasattr(given, "epsilon_realized"):
        epsilon, parameters = float(given.epsilon_realized), getattr(given, "two_level", None)
        ideal = getattr(getattr(given, "guarantee", None), "ideal", False)
        return TwoLevel.arbitrary(epsilon) if parameters is None else parameters, epsilon, bool(ideal)
    epsilon = _check.positive("mechanism_or_epsilon", given)
    return TwoLevel.arbitrary(epsilon), epsilon, False


def _least_epsilon(counts: _Counts, delta: float, largest: float) -> float:
    """Return the smallest epsilon at which the bound is at most delta, rounded up; `largest` if there is none below."""
    from scipy.optimize import brentq

    if counts.delta(0.0) <= delta:
        return 0.0
    if counts.delta(largest) > delta:
        return largest
    root = brentq(lambda e: math.log(counts.delta(e)) - math.log(delta), 0.0, largest, xtol=1e-300, rtol=1e-12)
    return float(raise_until(lambda e: counts.delta(float(e)) <= delta, root, largest))


@dataclass(frozen=True)
class _Counts:
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
    def of(cls, channel: TwoLevel, n: int) -> _Counts:
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
        of_tosses = np.where(tosses <= others, _binomial(np.minimum(tosses, others), np.float64(others), rate), 0.0)
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
        total, gap, signal = self.first[some], gap[some], self.signal[some]
        c = np.minimum(np.floor(total * gap / signal), np.floor(total / 2))
        above = (1 + power) * gap * _binomial(np.minimum(c, total - 1), total - 1, 0.5)
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


def _binomial(k: Floats, n: Floats | np.float64, p: float) -> Floats:
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
