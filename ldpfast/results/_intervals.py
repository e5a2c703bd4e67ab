"""Rules for limits of estimates, apart from random scaling."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import _limits
from .._typing import Floats
from ._anytime import CodeCounts, of_hits
from ._debiasing import Debiasing

ONE_SIGMA = 0.15865525393145707  # probability that a normal variable is more than one standard deviation above its mean
NORMAL_FROM = 30  # reports; fewer have no nearly normal mean, and no reliable sample variance
LEAST_TAIL = 1e-100  # of a t distribution
MAX_HITS = 1e8  # from here on, two terms of the expansion of a Poisson limit are exact in double precision
ROUNDING = 1e-12  # relative error of a product of a share and a number of reports, at most


class IntervalRule(Protocol):
    """A rule for limits: `tail` is the probability that one coordinate is beyond one of its limits.

    With an attribute `by_coordinate`, which is True, `tail` can be an array with one probability in (0, 1) for every
    coordinate, and limits are monotone in it up to 1. Other rules have one number for all, at most a half.

    With an attribute `rounding`, a number or one for every coordinate, so much of a margin can be an error that is not random,
    such as the place of a number within a cell.

    With methods ``with_liars(share, n)`` and ``largest_shift(share, n)``, at most a share of n reports can be forged; n is a
    number or an array that broadcasts with the coordinates. The first returns the rule for limits that hold then, the second
    how far the forged reports can move each coordinate.

    With an attribute `has_tails`, which is True, a method ``tails(value, stderr, limit, side)`` returns the tails of given
    limits, the lower ones (side -1) or the upper ones (1): the smallest `tail` whose limits are not beyond them.
    """

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]: ...


def forged_reports(share: float, n: Any) -> Any:
    """Return the number of forged reports: a share of n, rounded up."""
    return np.ceil(share * np.asarray(n, np.float64) * (1 - ROUNDING))


def known_shift(share: float, n: Any, change: Any, rule: object) -> Any:
    """Return how far forged reports move a number that one of them changes by at most `change`.

    Raises
    ------
    ValueError
        If the change is not known.
    """
    if change is None:
        raise no_liars(rule)
    liars = forged_reports(share, n)
    with np.errstate(invalid="ignore"):
        return np.where(liars == 0, 0.0, liars * change)


def no_liars(rule: object) -> ValueError:
    """Return the error for a rule without limits that allow for forged reports."""
    return ValueError(
        "limits with liars exist for shares and means from counts or from reports of bounded size, and for their ratios and "
        "differences; in surveys for all questions without weights, and for all tables of a Pairs together, not for a part of "
        f"them, got limits by {type(rule).__name__}"
    )


@dataclass(frozen=True, eq=False)
class WithLiars:
    """Limits by another rule, where some reports are forged.

    Without them, the value is at most `shift` away. The square of a report less the mean is at most the square of the range of
    a report, so the square of the standard error is larger by at most `variance`.

    Attributes
    ----------
    rule : IntervalRule
    shift, variance : float or ndarray
        Largest differences of the value, and of the square of its standard error.
    """

    rule: IntervalRule
    shift: Any
    variance: Any

    @property
    def by_coordinate(self) -> bool:
        """Whether the other rule has limits for every coordinate by itself."""
        return bool(getattr(self.rule, "by_coordinate", False))

    @property
    def needed(self) -> int:
        """Number of reports that the other rule needs if there are too few, else 0."""
        return int(getattr(self.rule, "needed", 0))

    @property
    def rounding(self) -> Any:
        """How much of a margin can be an error that is not random."""
        return self.shift + rounding_of(self.rule)

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        infinite = np.isinf(self.shift)
        shift, variance = (np.where(infinite, 0.0, part) for part in (self.shift, self.variance))
        low, high = self.rule.bounds(value, np.sqrt(np.square(stderr) + variance), tail)
        return np.where(infinite, -np.inf, low - shift), np.where(infinite, np.inf, high + shift)


@dataclass(frozen=True, eq=False)
class WithGaps:
    """Limits by another rule, and infinite ones where there are no reports.

    Attributes
    ----------
    rule : IntervalRule
    gaps : ndarray of bool
        Where there are no reports.
    """

    rule: IntervalRule
    gaps: NDArray[np.bool_]

    @property
    def by_coordinate(self) -> bool:
        """Whether the other rule has limits for every coordinate by itself."""
        return bool(getattr(self.rule, "by_coordinate", False))

    @property
    def needed(self) -> int:
        """Number of reports that the other rule needs if there are too few, else 0."""
        return 0 if self.gaps.all() else int(getattr(self.rule, "needed", 0))

    @property
    def rounding(self) -> Any:
        """How much of a margin of the other rule can be an error that is not random."""
        return rounding_of(self.rule)

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        low, high = self.rule.bounds(value, stderr, tail)
        return np.where(self.gaps, -np.inf, low), np.where(self.gaps, np.inf, high)

    def with_liars(self, share: float, n: Any) -> WithGaps:
        """Return the rule where some reports are forged."""
        return WithGaps(rule_with_liars(self.rule, share, n), self.gaps)

    def largest_shift(self, share: float, n: Any) -> Floats:
        """Return how far forged reports can move each number."""
        return np.where(self.gaps, np.inf, shift_by_liars(self.rule, share, n))

    @property
    def has_tails(self) -> bool:
        """Whether the other rule has tails of limits."""
        return has_tails(self.rule)

    def tails(self, value: Floats, stderr: Floats, limit: Floats, side: int) -> Floats:
        rule: Any = self.rule
        return np.where(self.gaps, 1.0, rule.tails(value, stderr, limit, side))

    def anytime(self, tail: Any) -> tuple[Floats, Floats]:
        """Return the whole line: there are no reports anywhere."""
        return np.where(self.gaps, -np.inf, np.nan), np.where(self.gaps, np.inf, np.nan)


@dataclass(frozen=True)
class Normal:
    """Normal limits, value +- z stderr, for sums of many reports. A known bound on the bias widens the interval.

    With bias b the margin is c stderr where P(|Z + b / stderr| <= c) is the confidence. The coverage is exact if the
    bias is as large as its bound, on either side (T. B. Armstrong, M. Kolesar, "Optimal inference in a class of
    regression models", 2018).

    Attributes
    ----------
    bias : float or ndarray
        Bound on the bias, for all numbers or for each.
    needed : int
        Number of reports that are needed if there are too few for a nearly normal sum, else 0.
    change : float, ndarray or None
        Largest change of the estimate if a report is replaced by another one; None if it is not known.
    hidden : float or ndarray
        By how much forged reports can make the square of the standard error too small.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.results import Normal
    >>> low, high = Normal().bounds(np.array(3.0), np.array(1.0), tail=0.025)
    >>> round(float(low), 2), round(float(high), 2)
    (1.04, 4.96)
    """

    bias: Any = 0.0
    needed: int = 0
    change: Any = None
    hidden: Any = 0.0
    by_coordinate: ClassVar[bool] = True

    @classmethod
    def of_sum(cls, n: Any, share: float = 1.0, change: Any = None, hidden: Any = 0.0) -> Normal:
        """Return the limits for a mean of n reports, a random share of which is about the same coordinate."""
        needed = math.ceil(NORMAL_FROM / share)
        return cls(needed=needed if np.any(n < needed) else 0, change=change, hidden=hidden)

    def with_liars(self, share: float, n: Any) -> WithLiars:
        """Return the rule where some reports are forged."""
        return WithLiars(self, self.largest_shift(share, n), self.hidden)

    def largest_shift(self, share: float, n: Any) -> Any:
        """Return how far forged reports can move each number."""
        return known_shift(share, n, self.change, self)

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        from scipy.special import ndtri

        z = -ndtri(tail)
        margin = self._biased(z, stderr, tail) if np.any(self.bias) else z * stderr
        return value - margin, value + margin

    @property
    def has_tails(self) -> bool:
        """Whether there is no bias."""
        return not np.any(self.bias)

    def tails(self, value: Floats, stderr: Floats, limit: Floats, side: int) -> Floats:
        from scipy.special import ndtr

        with np.errstate(divide="ignore", invalid="ignore"):
            z = side * (limit - value) / stderr
        return np.asarray(np.where(limit == value, 0.5, ndtr(-z)))

    def _biased(self, z: Any, stderr: Floats, tail: Any) -> Floats:
        """Return the margin c stderr, by bisection of c between z and z + b."""
        from scipy.special import ndtr

        bias = self.bias / stderr
        low, high = np.broadcast_to(z, np.shape(stderr)), z + bias
        for _ in range(60):
            middle = (low + high) / 2
            outside = ndtr(-middle - bias) + ndtr(bias - middle)
            low, high = np.where(outside > 2 * tail, middle, low), np.where(outside > 2 * tail, high, middle)
        return np.asarray(high * stderr)


def t_quantile(freedom: Any, tail: Any) -> Floats:
    """Return the number that a variable with a t distribution exceeds with a given probability.

    It is the one for 1e-100 for smaller probabilities, for which SciPy has wrong signs, and negative for those above a half.
    """
    from scipy.special import stdtrit

    tail = np.asarray(tail, np.float64)
    size = -stdtrit(freedom, np.maximum(np.minimum(tail, 1 - tail), LEAST_TAIL))
    return np.asarray(np.where(tail > 0.5, -size, size))


@dataclass(frozen=True, eq=False)
class StudentT:
    """Limits value +- t stderr, for normal estimates whose standard errors are estimated from few or unequal people.

    Attributes
    ----------
    freedom : float or ndarray
        Degrees of freedom of the t quantile t: a number, or one for each coordinate.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.results import StudentT
    >>> low, high = StudentT(5.0).bounds(np.array(3.0), np.array(1.0), tail=0.025)
    >>> round(float(low), 2), round(float(high), 2)
    (0.43, 5.57)
    """

    freedom: Any
    by_coordinate: ClassVar[bool] = True

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        margin = t_quantile(self.freedom, tail) * stderr
        return value - margin, value + margin

    has_tails: ClassVar[bool] = True

    def tails(self, value: Floats, stderr: Floats, limit: Floats, side: int) -> Floats:
        from scipy.special import stdtr

        with np.errstate(divide="ignore", invalid="ignore"):
            distance = side * (limit - value) / stderr
        return np.asarray(np.where(limit == value, 0.5, stdtr(self.freedom, -distance)))


@dataclass(frozen=True, eq=False)
class BoundedSum:
    """Limits for a mean of reports of bounded size, also where few of them decide it, such as rare values.

    A standard error s belongs to h = (s / a)^2 independent hits, each of which moves the estimate by a. The upper margin is
    a (q - h): q is the upper confidence limit of the mean of a Poisson variable that was observed as h (Garwood 1936), and
    a is the largest amount by which one report raises the estimate. So hits that did not occur by chance are in the
    interval. For the lower margin, a is the largest amount by which one report lowers the estimate.

    For many hits the margins approach normal limits: they are 2 % larger for 2500 hits. For few, hits of the largest
    possible size are the worst case (G. Bennett, "Probability inequalities for the sum of independent random variables",
    1962), so the limits are conservative for smaller ones. The standard error is an estimate; docs/coverage.md has the
    coverage by enumeration.

    Attributes
    ----------
    up, down : float or ndarray
        Largest amounts by which one report raises and lowers the estimate. Where one is 0, its margin is normal.
    needed : int
        Number of reports that are needed if there are too few for a nearly normal sum, else 0.
    change : float, ndarray or None
        Largest change of the estimate if a report is replaced by another one; infinite for reports without bounds, None if it
        is not known.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.results import BoundedSum
    >>> rule = BoundedSum.of_mean(0.0, 0.0, 1.0, n=100)  # 100 reports in [0, 1], all of which are 0
    >>> low, high = rule.bounds(np.array(0.0), np.array(0.0), tail=0.025)
    >>> float(low), round(float(high), 4)
    (0.0, 0.0369)
    """

    up: Any
    down: Any
    needed: int = 0
    change: Any = None
    by_coordinate: ClassVar[bool] = True

    @classmethod
    def of_mean(cls, mean: Any, lowest: Any, highest: Any, n: Any, needed: int = 0) -> BoundedSum:
        """Return the rule for a mean of n decoded reports in [lowest, highest]."""
        return cls((highest - mean) / n, (mean - lowest) / n, needed, (highest - lowest) / n)

    @classmethod
    def of_codes(cls, mean: Any, n: Any, codes: CodeCounts) -> BoundedSumOfCodes:
        """Return the rule for means of n codes, shape (...) where the decoded values have shape (..., codes)."""
        lowest, highest = codes.numerator.min(axis=-1), codes.numerator.max(axis=-1)
        change = (highest - lowest) / n
        return BoundedSumOfCodes((highest - mean) / n, (mean - lowest) / n, change=change, codes=codes)

    def with_liars(self, share: float, n: Any) -> WithLiars:
        """Return the rule where some reports are forged."""
        shift = self.largest_shift(share, n)
        with np.errstate(invalid="ignore"):
            return WithLiars(self, shift, np.where(shift == 0, 0.0, shift * self.change))

    def largest_shift(self, share: float, n: Any) -> Any:
        """Return how far forged reports can move each number."""
        return known_shift(share, n, self.change, self)

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        return value - self._margin(stderr, self.down, tail), value + self._margin(stderr, self.up, tail)

    has_tails: ClassVar[bool] = True

    def tails(self, value: Floats, stderr: Floats, limit: Floats, side: int) -> Floats:
        return tails_of_margins(side * (limit - value), stderr, self.up if side > 0 else self.down)

    def _margin(self, stderr: Floats, size: Any, tail: Any) -> Floats:
        from scipy.special import gammainccinv, ndtri

        z, size = -ndtri(tail), np.asarray(size, np.float64)
        hits = np.divide(stderr, size, out=np.full(np.shape(stderr), np.inf), where=size > 0) ** 2
        few = np.minimum(hits, MAX_HITS)
        poisson = size * (gammainccinv(few + 1, tail) - few)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(hits < MAX_HITS, poisson, z * stderr + size * (z * z + 2) / 3))


def tails_of_margins(margin: Floats, stderr: Floats, size: Any) -> Floats:
    """Return the tails of margins of `BoundedSum`, where one report moves the estimate by at most `size`."""
    from scipy.special import gammaincc, ndtr

    size = np.asarray(size, np.float64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        hits = np.where(size > 0, (stderr / size) ** 2, np.inf)
        few = np.minimum(hits, MAX_HITS)
        poisson = gammaincc(few + 1, np.maximum(few + margin / size, 0.0))
        rest = margin - 2 * size / 3  # z stderr + z^2 size / 3
        z = 2 * rest / (stderr + np.sqrt(np.maximum(stderr**2 + 4 / 3 * size * rest, 0.0)))
    return np.asarray(np.where(hits < MAX_HITS, poisson, np.where((rest == 0) & (stderr == 0), 0.5, ndtr(-z))))


@dataclass(frozen=True, eq=False)
class BoundedSumOfCodes(BoundedSum):
    """`BoundedSum` for reports whose codes are counted.

    Attributes
    ----------
    codes : CodeCounts
        Counts of the codes and their decoded values.
    """

    codes: CodeCounts = field(kw_only=True)

    def anytime(self, tail: Any) -> tuple[Floats, Floats]:
        """Return limits that hold for every number of reports at once."""
        decoded = self.codes.numerator
        return self.codes.limits(decoded.min(axis=-1), decoded.max(axis=-1), tail)


@dataclass(frozen=True)
class Binomial:
    """Debiased Clopper-Pearson limits of a share of hits among n.

    They are valid for every n, and also for records that are fixed rather than random (Hoeffding 1956). With liars, all
    forged reports are hits for the lower limit, which is computed from the other hits; for the upper limit none is. The
    limits are monotone in the hits, so they are valid for every n, too.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.results import Binomial, Debiasing
    >>> rule = Binomial(np.array(3), 10, Debiasing(0.0, 1.0))
    >>> low, high = rule.bounds(np.array(0.3), np.array(0.145), tail=0.025)
    >>> round(float(low), 3), round(float(high), 3)
    (0.067, 0.652)
    """

    hits: NDArray[np.int64]
    n: Any  # one number, or one for each share
    debiasing: Debiasing
    liars: Any = 0  # largest number of forged reports
    by_coordinate: ClassVar[bool] = True

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        if not np.any(self.liars):
            low, high = _limits.clopper_pearson(self.hits, self.n, tail)
        else:
            low, high = (_limits.clopper_pearson(self._shifted(side), self.n, tail)[side > 0] for side in (-1, 1))
        return self.debiasing(low), self.debiasing(high)

    def _shifted(self, side: int) -> Any:
        """Return the smallest number of hits without the forged reports (side -1), or the largest one (1)."""
        return np.clip(self.hits + side * self.liars, 0, self.n)

    def with_liars(self, share: float, n: Any) -> Binomial:
        """Return the rule where some reports are forged."""
        return replace(self, liars=forged_reports(share, n))

    def largest_shift(self, share: float, n: Any) -> Any:
        """Return how far forged reports can move each number."""
        line = self.debiasing
        return np.minimum(forged_reports(share, n), self.n) * ((line.one - line.zero) / self.n)

    @property
    def rounding(self) -> Any:
        """How much of a margin is not random: the change by the forged reports."""
        return 0.0 if not np.any(self.liars) else self.liars * ((self.debiasing.one - self.debiasing.zero) / self.n)

    has_tails: ClassVar[bool] = True

    def tails(self, value: Floats, stderr: Floats, limit: Floats, side: int) -> Floats:
        line = self.debiasing
        hits = self._shifted(side) if np.any(self.liars) else self.hits
        return _limits.clopper_pearson_tail(hits, self.n, (limit - line.zero) / (line.one - line.zero), side)

    def anytime(self, tail: Any) -> tuple[Floats, Floats]:
        """Return limits that hold for every number of reports at once."""
        return of_hits(self.hits, self.n, self.debiasing, tail)


def rounding_of(rule: Any) -> Any:
    """Return how much of a margin can be an error that is not random."""
    return getattr(rule, "rounding", 0.0)


def has_tails(rule: IntervalRule) -> bool:
    """Return whether a rule has tails of limits."""
    return bool(getattr(rule, "has_tails", False))


def rule_with_liars(rule: Any, share: float, n: Any) -> IntervalRule:
    """Return the rule for limits that hold if at most a share of n reports is forged.

    Raises
    ------
    ValueError
        If there is none.
    """
    if not hasattr(rule, "with_liars"):
        raise no_liars(rule)
    found: IntervalRule = rule.with_liars(share, n)
    return found


def shift_by_liars(rule: Any, share: float, n: Any) -> Any:
    """Return how far forged reports, at most a share of n, can move each number; errors as for `rule_with_liars`."""
    if not hasattr(rule, "largest_shift"):
        raise no_liars(rule)
    return rule.largest_shift(share, n)
