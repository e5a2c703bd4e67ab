"""Results of an estimation: a value, its uncertainty, and its privacy guarantee."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _check, _limits, _plots
from ._table import Table, estimate_columns, html_table, shown_places
from ._typing import Floats
from ._warnings import warn
from .privacy import Guarantee

__all__ = [
    "BoundedSum",
    "ClippedWarning",
    "Debiasing",
    "DoubtfulWarning",
    "Estimate",
    "MatrixDebiasing",
    "SmallSampleWarning",
]

Value = TypeVar("Value", bound=float | Floats, covariant=True)


class IntervalRule(Protocol):
    """A rule for limits: `tail` is the probability that one coordinate is beyond one of its limits."""

    def bounds(self, value: Floats, stderr: Floats, tail: float) -> tuple[Floats, Floats]: ...


NORMAL_FROM = (
    30  # reports; below this number, a mean of reports is not nearly normal, and a sample variance not reliable
)
SHARES = (0.0, 1.0)  # range of a share
FALSE_ALARM = 1e-12  # probability of a warning without reason that reports contradict their mechanism


class SmallSampleWarning(UserWarning):
    """Warning that there are too few reports for the interval, or for the step sizes, to be reliable."""


class DoubtfulWarning(UserWarning):
    """Warning that the reports contradict an assumption of the estimate."""


class ClippedWarning(UserWarning):
    """Warning that records were moved to the nearest valid one, or had NaN and count as the center."""


@dataclass(frozen=True)
class Normal:
    """Normal limits, value +- z stderr, for sums of many reports. A known bound on the bias widens the interval.

    With bias b the margin is c stderr where P(|Z + b / stderr| <= c) is the confidence. The coverage is exact if the
    bias is as large as its bound, on either side (T. B. Armstrong, M. Kolesar, "Optimal inference in a class of
    regression models", 2018).

    Attributes
    ----------
    bias : float
        Bound on the bias.
    needed : int
        Number of reports that are needed if there are too few for a nearly normal sum, else 0.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.results import Normal
    >>> low, high = Normal().bounds(np.array(3.0), np.array(1.0), tail=0.025)
    >>> round(float(low), 2), round(float(high), 2)
    (1.04, 4.96)
    """

    bias: float = 0.0
    needed: int = 0

    @classmethod
    def of_sum(cls, n: int, share: float = 1.0) -> Normal:
        """Return the limits for a mean of n reports, a random share of which is about the same coordinate."""
        needed = math.ceil(NORMAL_FROM / share)
        return cls(needed=needed if n < needed else 0)

    def bounds(self, value: Floats, stderr: Floats, tail: float) -> tuple[Floats, Floats]:
        from scipy.special import ndtri

        z = -ndtri(tail)
        margin = z * stderr if self.bias == 0 else self._biased(z, stderr, tail)
        return value - margin, value + margin

    def _biased(self, z: float, stderr: Floats, tail: float) -> Floats:
        """Return the margin c stderr, by bisection of c between z and z + b."""
        from scipy.special import ndtr

        bias = self.bias / stderr
        low, high = np.full(np.shape(stderr), z), z + bias
        for _ in range(60):
            middle = (low + high) / 2
            outside = ndtr(-middle - bias) + ndtr(bias - middle)
            low, high = np.where(outside > 2 * tail, middle, low), np.where(outside > 2 * tail, high, middle)
        return np.asarray(high * stderr)


MAX_HITS = 1e8  # from here on, two terms of the expansion of a Poisson limit are exact in double precision


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

    @classmethod
    def of_mean(cls, mean: Any, lowest: Any, highest: Any, n: int, needed: int = 0) -> BoundedSum:
        """Return the rule for a mean of n decoded reports in [lowest, highest]."""
        return cls((highest - mean) / n, (mean - lowest) / n, needed)

    def bounds(self, value: Floats, stderr: Floats, tail: float) -> tuple[Floats, Floats]:
        return value - self._margin(stderr, self.down, tail), value + self._margin(stderr, self.up, tail)

    def _margin(self, stderr: Floats, size: Any, tail: float) -> Floats:
        from scipy.special import gammainccinv, ndtri

        z, size = -ndtri(tail), np.asarray(size, np.float64)
        hits = np.divide(stderr, size, out=np.full(np.shape(stderr), np.inf), where=size > 0) ** 2
        few = np.minimum(hits, MAX_HITS)
        poisson = size * (gammainccinv(few + 1, tail) - few)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(hits < MAX_HITS, poisson, z * stderr + size * (z * z + 2) / 3))


@lru_cache(maxsize=256)
def random_scaling_quantile(tail: float) -> float:
    """Return t with P(T > t) = tail for T = W(1) / sqrt(integral of (W(r) - r W(1))^2 dr), W a Brownian motion.

    It is computed from P(|T| > t) = (2 / pi) integral of sqrt(u / sinh u) dphi over (0, pi / 2), u = t / sin phi.

    Examples
    --------
    >>> from ldpfast.results import random_scaling_quantile
    >>> round(random_scaling_quantile(0.025), 2)
    6.75
    """
    from scipy.integrate import quad
    from scipy.optimize import brentq

    def both_tails(t: float) -> float:
        def integrand(phi: float) -> float:
            u = t / math.sin(phi) if phi > 0 else math.inf
            return math.sqrt(2 * u / -math.expm1(-2 * u)) * math.exp(-u / 2) if u < 1400 else 0.0

        return 2 / math.pi * float(quad(integrand, 0, math.pi / 2, limit=200)[0])

    return float(brentq(lambda t: both_tails(t) - 2 * tail, 1e-9, 1000.0, xtol=1e-10))


@dataclass(frozen=True)
class RandomScaling:
    """Limits value +- q stderr for averages of stochastic gradient descent.

    q is a quantile of a statistic whose scale is computed from the iterates. So no estimate of the covariance is needed,
    which would cost privacy.

    stderr^2 is 6 V / n: the mean of V is a sixth of the asymptotic variance (S. Lee, Y. Liao, M. H. Seo, Y. Shin, "Fast
    and robust online inference with stochastic gradient descent via random scaling", AAAI 2022).

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.results import RandomScaling
    >>> low, high = RandomScaling().bounds(np.array(3.0), np.array(1.0), tail=0.025)
    >>> round(float(high - 3), 2)  # wider than 1.96 standard errors
    2.75
    """

    def bounds(self, value: Floats, stderr: Floats, tail: float) -> tuple[Floats, Floats]:
        margin = random_scaling_quantile(tail) / math.sqrt(6) * stderr
        return value - margin, value + margin


def random_scaling(n: float, total: Any, squares: Any, cross: Any) -> Floats:
    """Return the standard error, by random scaling, of a mean of n positions.

    S_s is the sum of the first s positions. `total` is S_n; `squares` and `cross` are the sums over s of S_s^2 and of
    s S_s. The square of the standard error is 6 V / n with V = (1 / n^2) sum of s^2 (S_s / s - S_n / n)^2.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.results import random_scaling
    >>> sums, s = np.cumsum([1.0, 3.0, 2.0, 2.0]), np.arange(1, 5)
    >>> round(float(random_scaling(4, sums[-1], (sums**2).sum(), (s * sums).sum())), 3)
    0.306
    """
    mean = np.asarray(total) / n
    spread = squares - 2 * mean * cross + mean**2 * (n * (n + 1) * (2 * n + 1) / 6)
    return np.asarray(np.sqrt(6 * np.maximum(spread, 0) / n**3))


@dataclass(frozen=True)
class Debiasing:
    """The affine map from a reported bit to an unbiased number: 0 is decoded as `zero`, 1 as `one`.

    Examples
    --------
    >>> from ldpfast.results import Debiasing
    >>> debiasing = Debiasing(zero=-0.5, one=1.5)
    >>> round(debiasing(0.4), 9), debiasing.probabilities
    (0.3, (0.75, 0.25))
    """

    zero: float
    one: float

    @classmethod
    def of(cls, p: Fraction, q: Fraction) -> Debiasing:
        """Return the debiasing of a bit that is 1 with probability p for 1 and with probability q for 0."""
        return cls(float(-q / (p - q)), float((1 - q) / (p - q)))

    @property
    def probabilities(self) -> tuple[float, float]:
        """Probabilities p and q of a 1, for 1 and for 0."""
        gain = self.one - self.zero
        return (1 - self.zero) / gain, -self.zero / gain

    def __call__(self, share: Any) -> Any:
        return self.zero + (self.one - self.zero) * share

    def variance(self, mean: Any) -> Any:
        """Return the variance of a decoded bit with the given mean."""
        return (mean - self.zero) * (self.one - mean)


@dataclass(frozen=True, eq=False)
class MatrixDebiasing:
    """The linear map from shares of codes to unbiased estimates: code z is decoded as row z of a matrix.

    Attributes
    ----------
    matrix : ndarray, shape (outputs, inputs)
        A right inverse of the channel: ``channel @ matrix`` is the identity.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.results import MatrixDebiasing
    >>> channel = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> MatrixDebiasing(np.linalg.inv(channel))([0.5, 0.5]).round(9).tolist()
    [0.5, 0.5]
    """

    matrix: Floats

    def __call__(self, share: Any) -> Any:
        return np.asarray(share) @ self.matrix

    def covariance(self, share: Floats) -> Floats:
        """Return the covariance of one decoded report, for the given probabilities of the codes."""
        decoded = share @ self.matrix
        return np.asarray((self.matrix.T * share) @ self.matrix - np.outer(decoded, decoded))


@dataclass(frozen=True, eq=False)
class NumberDebiasing:
    """The map from codes to unbiased numbers: code z is decoded as ``values[z]``.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> ldp.Window(0, 1, 1.0).debiasing.values.shape
    (14,)
    """

    values: Floats


@dataclass(frozen=True, eq=False)
class SupportDebiasing:
    """The map from reports that each support a set of categories to unbiased shares.

    Attributes
    ----------
    supported : callable
        ``supported(codes)`` returns which categories the codes support, booleans of shape (n, k).
    hits : callable
        ``hits(counts)`` returns the number of reports that support each category, from the int64 counts of the codes.
    line : Debiasing
        Debiasing of the share of reports that support a category.

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> debiasing = ldp.ProjectiveGeometryResponse(10, 1.0).debiasing
    >>> debiasing.supported(np.array([0, 1])).shape
    (2, 10)
    """

    supported: Callable[[NDArray[Any]], NDArray[np.bool_]]
    hits: Callable[[NDArray[np.int64]], NDArray[np.int64]]
    line: Debiasing


AnyDebiasing = Debiasing | MatrixDebiasing | NumberDebiasing | SupportDebiasing


def line_of(debiasing: AnyDebiasing | None) -> Debiasing | None:
    """Return the debiasing of the bits or of the shares of supporting reports; None for other maps.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> from ldpfast.results import line_of
    >>> line_of(ldp.ProjectiveGeometryResponse(10, 1.0).debiasing).zero < 0
    True
    """
    line = debiasing.line if isinstance(debiasing, SupportDebiasing) else debiasing
    return line if isinstance(line, Debiasing) else None


@dataclass(frozen=True)
class Binomial:
    """Debiased Clopper-Pearson limits of a share of hits among n.

    They are valid for every n, and also for records that are fixed rather than random (Hoeffding 1956).

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
    n: int
    debiasing: Debiasing

    def bounds(self, value: Floats, stderr: Floats, tail: float) -> tuple[Floats, Floats]:
        low, high = _limits.clopper_pearson(self.hits, self.n, tail)
        return self.debiasing(low), self.debiasing(high)


def warn_outside(estimate: Estimate[Any], span: tuple[float, float]) -> None:
    """Warn if a number is farther outside its range than noise explains, with a probability of at most 1e-12.

    Parameters
    ----------
    estimate : Estimate
        Unbiased numbers.
    span : tuple of float
        Smallest and largest possible value of what each of them estimates.
    """
    value, stderr = np.asarray(estimate.value), np.asarray(estimate.stderr)
    tail = FALSE_ALARM / (2 * max(1, value.size))
    # No count is as few standard deviations from its mean with this probability: limits are needed for the others only.
    excess = np.maximum(value - span[1], span[0] - value)
    if not (excess > math.sqrt(-math.log(tail)) * stderr).any() or estimate._needed:
        return
    low, high = estimate.rule.bounds(value, stderr, tail)
    outside = np.flatnonzero((low > span[1]) | (high < span[0]))
    if len(outside):
        i = int(outside[np.argmax(np.ravel(excess)[outside])])
        number = "the estimate" if value.ndim == 0 else f"entry {', '.join(map(str, np.unravel_index(i, value.shape)))}"
        others = f", and {len(outside) - 1} more of {value.size} are outside as well" * (len(outside) > 1)
        warn(
            f"{number} is {value.flat[i]:.3g}, outside of [{span[0]:g}, {span[1]:g}] by more than noise explains{others}: the "
            "reports are probably those of another mechanism or another epsilon",
            DoubtfulWarning,
        )


def _json_numbers(value: Any) -> Any:
    """Return a float or nested lists of floats for JSON, with None for numbers that are not finite."""
    if np.ndim(value) == 0:
        return float(value) if math.isfinite(value) else None
    return [_json_numbers(part) for part in value]


@dataclass(frozen=True, eq=False)
class Estimate(Generic[Value]):
    """An estimate with its standard error, number of reports and privacy guarantee.

    Attributes
    ----------
    value : float or ndarray of float64
        The unbiased estimate.
    stderr : float or ndarray
        Standard error, of the shape of `value`, for the mean of the population that the records were drawn from. For the
        mean of the given records it is conservative.
    n : int
        Number of reports.
    guarantee : privacy.Guarantee
        Privacy guarantee of each person, from the integers of the coins.
    covariance : ndarray or None
        Covariance matrix of a vector value, if it is known and small enough. It is a plug-in estimate: for few reports,
        its diagonal may be smaller than the square of the conservative `stderr`.

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> estimate = ldp.Warner(1.0).run(np.arange(10_000) % 4 == 0, rng=1)
    >>> bool(abs(estimate.value - 0.25) < 5 * estimate.stderr)
    True
    >>> low, high = estimate.interval(confidence=0.99)
    >>> low < estimate.value < high
    True
    >>> estimate.n, estimate.epsilon <= 1.0
    (10000, True)
    """

    value: Value
    stderr: Value
    n: int
    guarantee: Guarantee
    covariance: Floats | None = field(default=None, repr=False, compare=False)
    rule: IntervalRule = field(default=Normal(), repr=False, compare=False)
    _span: tuple[float, float] = field(default=(-math.inf, math.inf), repr=False, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        for array in (self.value, self.stderr, self.covariance):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    def __eq__(self, other: object) -> bool:
        """Return whether the numbers and the guarantees are equal; interval rules are not compared."""
        if not isinstance(other, Estimate):
            return NotImplemented
        return (
            (self.n, self.guarantee) == (other.n, other.guarantee)
            and np.array_equal(self.value, other.value)
            and np.array_equal(self.stderr, other.stderr)
        )

    def __hash__(self) -> int:
        return hash((self.n, self.guarantee, np.asarray(self.value).tobytes()))

    @property
    def epsilon(self) -> float:
        """The realized epsilon of the guarantee."""
        return self.guarantee.epsilon

    def interval(self, confidence: float = 0.95, simultaneous: bool = False) -> tuple[Value, Value]:
        """Return limits that contain the true value with the given probability.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level, in (0, 1).
        simultaneous : bool, default False
            Whether the limits hold for all coordinates simultaneously (Bonferroni), instead of for each separately.

        Returns
        -------
        low, high : float or ndarray
            Limits of the shape of `value`. For binomial counts they are Clopper-Pearson limits, which are valid for
            every n. For means of codes of bounded size they follow `results.BoundedSum`, which cover for few reports,
            too. Otherwise they follow the rule that the estimator documents: normal limits (possibly widened for a bias),
            random scaling, or the inversion of a test. They are not clipped to the range of the parameter, for
            differences need them as they are; texts, tables and plots show limits of shares cut at 0 and 1.

        Raises
        ------
        TypeError, ValueError
            If `confidence` is not a number in (0, 1).

        Warns
        -----
        SmallSampleWarning
            If the limits are normal and there are fewer than 30 reports, or 30 dim / k reports of k sampled coordinates.
            With one or two, 95 % limits cover 90 %.
        """
        tail = (1 - _check.probability("confidence", confidence)) / 2
        self._warn_few()
        return self._limits_at(tail / np.size(self.value) if simultaneous else tail)

    @property
    def _needed(self) -> int:
        """Number of reports that are needed if there are too few for the limits, else 0."""
        return int(getattr(self.rule, "needed", 0))

    def _warn_few(self) -> None:
        """Warn if there are too few reports for the limits."""
        if self._needed:
            warn(
                f"n = {self.n} is too small for normal limits to be reliable: at least {self._needed} reports are needed",
                SmallSampleWarning,
            )

    def _limits_at(self, tail: float = (1 - 0.95) / 2) -> tuple[Value, Value]:
        """Return limits with a probability `tail` on each side."""
        low, high = self.rule.bounds(np.asarray(self.value), np.asarray(self.stderr), tail)
        limits: Any = (float(low), float(high)) if np.ndim(self.value) == 0 else (low, high)
        return limits  # type: ignore[no-any-return]

    def _bounds(self, limits: tuple[Any, Any] | None = None) -> tuple[Any, Any]:
        """Return limits as texts, tables and plots show them: cut at the range of the parameter. By default those of 95 %."""
        low, high = (np.clip(limit, *self._span) for limit in limits or self._limits_at())
        return low, high

    def to_dict(self) -> dict[str, Any]:
        """Return value, standard error, 95 % interval, n and guarantee as types for JSON; None for non-finite numbers."""
        low, high = self._limits_at()
        return {
            "value": _json_numbers(self.value),
            "stderr": _json_numbers(self.stderr),
            "interval": [_json_numbers(low), _json_numbers(high)],
            "confidence": 0.95,
            "n": self.n,
            "guarantee": self.guarantee.to_dict(),
        }

    def plot(self, ax: Any = None, *, confidence: float = 0.95, simultaneous: bool = False) -> Any:
        """Draw the value with its interval, one row per number.

        Limits of shares are cut at 0 and 1. An estimate outside of its interval, such as a negative share, is a hollow point at
        the nearer limit.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; those of a new figure by default.
        confidence : float, default 0.95
            Confidence level of the intervals.
        simultaneous : bool, default False
            Whether the intervals hold for all numbers at once.

        Returns
        -------
        ax : matplotlib.axes.Axes

        Raises
        ------
        ImportError
            If matplotlib is not installed (extra "plot").
        TypeError, ValueError
            If `confidence` is not a number in (0, 1).
        """
        low, high = self._bounds(self.interval(confidence, simultaneous))
        labels = self._entries(range(np.size(self.value)))
        ax = _plots.axes(ax, _plots.height_of_rows(len(labels)))
        is_hollow = _plots.draw_intervals(ax, labels, *map(np.ravel, (self.value, low, high)))
        quantity, entry = self._names()
        known = np.isfinite(low).any() and np.isfinite(high).any()
        kind = f" with {self._interval_text(confidence, simultaneous)}" if known else ", no interval"
        ax.set_xlabel(f"{quantity}{kind}{self._unit()}\n{self._source_text()}{_plots.caption(is_hollow)}")
        ax.set_ylabel(entry if len(labels) > 1 else "")
        return ax

    def _entry_table(self, confidence: float, simultaneous: bool) -> Table:
        """Return all numbers as a table with one row per number, after a column of labels if there are several numbers."""
        rows: dict[str, list[Any]] = {name: [] for name in ("entry", "estimate", "stderr", "low", "high", "n")}
        for label, part in self._parts():
            low, high = part.interval(confidence, simultaneous)
            size = np.size(part.value)
            numbers = (np.ravel(x).tolist() for x in (part.value, part.stderr, low, high))
            entries = [label] if label else part._entries(range(size))
            for column, values in zip(rows.values(), (entries, *numbers, [part.n] * size), strict=True):
                column += values
        entries = rows.pop("entry")
        return Table({self._names()[1]: entries, **rows} if any(entries) else rows)

    def _names(self) -> tuple[str, str]:
        """Return what the numbers are, and what each of several numbers is about.

        If the intervals are for something else, this follows after a comma, such as "projected share, and share".
        """
        return "estimate", "entry"

    def _unit(self) -> str:
        """Return the unit of the numbers as the end of a label, or no text if they have none, as shares."""
        return " (unit of the parameter)"

    def _entries(self, places: Sequence[int]) -> list[str]:
        """Return the labels of the numbers at places of the flattened value; an empty text for a single number."""
        shape = np.shape(self.value)
        return [", ".join(map(str, np.unravel_index(index, shape))) for index in places]

    def _parts(self) -> list[tuple[str, Estimate[Any]]]:
        """Return this estimate, with an empty name, and further ones of single numbers that its tables have."""
        return [("", self)]

    def _interval_text(self, confidence: float = 0.95, simultaneous: bool = False) -> str:
        return f"{100 * confidence:g} % interval{', simultaneous' * simultaneous}"

    def _band_text(self, confidence: float, simultaneous: bool) -> str:
        return f"{100 * confidence:g} %, {'simultaneous' if simultaneous else 'pointwise'}"

    def _source_text(self) -> str:
        return f"n = {self.n:,}, {self._short_guarantee()}"

    def _repr_html_(self) -> str:
        (names, entry), parts = self._names(), self._parts()
        quantity = names.partition(",")[0] if len(parts) == 1 else "estimate"
        columns: dict[str, list[str]] = {entry: []}
        for label, part in parts:
            places = shown_places(np.size(part.value))
            columns[entry] += [label] if label else part._entries(places)
            for name, texts in estimate_columns(part.value, part.stderr, *part._bounds(), places).items():
                columns.setdefault(quantity if name == "estimate" else name, []).extend(texts)
        if not any(columns[entry]):
            del columns[entry]
        total = sum(np.size(part.value) for _, part in parts)
        return html_table(columns, {entry}, f"{self._source_text()}, {self._interval_text()}", total)

    def _short_guarantee(self) -> str:
        """Return a short text of the guarantee, with the name of its parameter."""
        guarantee = self.guarantee
        name = {"kl": "kl", "tv": "tv", "smooth": "smooth epsilon"}.get(guarantee.definition, "epsilon")
        delta = f", delta = {guarantee.delta:.3g}" if guarantee.delta else ""
        return f"{name} = {guarantee.epsilon:.6g}{delta}{', ideal only' if guarantee.ideal else ''}"

    def __repr__(self) -> str:
        ending = f"n = {self.n}, {self._short_guarantee()})"
        low, high = map(np.asarray, self._limits_at())
        if np.ndim(self.value) == 0:
            margin = (high - low) / 2
            low, high = self._bounds((low, high))
            digits = max(0, 1 - int(np.floor(np.log10(margin)))) if 0 < margin < np.inf else 3
            return (
                f"{self.value:.{digits}f} +- {margin:.{digits}f} (95 %: {low:.{digits}f} to {high:.{digits}f}, {ending}"
            )
        with np.printoptions(precision=4, threshold=8, suppress=True):
            return f"{self.value} +- {(high - low) / 2} (95 %, {ending}"
