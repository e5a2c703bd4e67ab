"""An estimate, as tables, plots and texts show it. One class; most lines are the documentation of its methods."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Self, TypeVar

import numpy as np

from .. import _check, _plots
from .._labels import in_order
from .._limits import along
from .._table import Table, estimate_columns, html_table, shown_places
from .._typing import Floats
from .._warnings import warn
from ..privacy import Guarantee
from ._differences import difference, ratio, require_alike, require_disjoint
from ._intervals import IntervalRule, Normal, rule_with_liars, shift_by_liars
from ._people import People
from ._report_warnings import SmallSampleWarning
from ._test_result import ALTERNATIVES, TestResult, p_values

Value = TypeVar("Value", bound=float | Floats, covariant=True)
MAX_COVARIANCES = 512  # numbers with a covariance matrix
SHARES = (0.0, 1.0)  # range of a share
ROUNDING = 1e-9  # of a null value, relative to the ends of its range


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
    _people: People | None = field(default=None, repr=False, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        for array in (self.value, self.stderr, self.covariance):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    def __eq__(self, other: object) -> bool:
        """Return whether the numbers, also NaN, and the guarantees are equal; interval rules are not compared."""
        if not isinstance(other, Estimate):
            return NotImplemented
        return (
            (self.n, self.guarantee) == (other.n, other.guarantee)
            and np.array_equal(self.value, other.value, equal_nan=True)
            and np.array_equal(self.stderr, other.stderr)
        )

    def __hash__(self) -> int:
        return hash((self.n, self.guarantee, np.asarray(self.value).tobytes()))

    @property
    def epsilon(self) -> float:
        """The realized epsilon of the guarantee."""
        return self.guarantee.epsilon

    def interval(
        self, confidence: float = 0.95, simultaneous: bool = False, *, liars: float = 0.0
    ) -> tuple[Value, Value]:
        """Return limits that contain the true value with the given probability.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level, in (0, 1).
        simultaneous : bool, default False
            Whether the limits hold for all coordinates simultaneously (Bonferroni), instead of for each separately.
        liars : float, default 0.0
            Largest share of the reports that can be forged, in [0, 1), whoever sends them and whatever they know; of a
            difference or ratio, in each of the two. The true value is the value of all people, as if liars had reported
            honestly, or that of the people who do not lie.

        Returns
        -------
        low, high : float or ndarray
            Limits of the shape of `value`. For binomial counts they are Clopper-Pearson limits, which are valid for
            every n. For means of codes of bounded size they follow `results.BoundedSum`, which cover for few reports,
            too. Otherwise they follow the rule that the estimator documents: normal limits (possibly widened for a bias),
            random scaling, or the inversion of a test. They are not clipped to the range of the parameter, for
            differences need them as they are; texts, tables and plots show limits of shares cut at 0 and 1, unless
            both are far outside. With liars, they are infinite for reports without bounds, such as Laplace noise.

        Raises
        ------
        TypeError, ValueError
            If `confidence` is not a number in (0, 1) or `liars` not one in [0, 1); with liars, if the limits follow a rule for
            which it is not known what a report can change. Shares, means of bounded reports, their ratios and differences
            have limits with liars.

        Warns
        -----
        SmallSampleWarning
            If the limits are normal and there are fewer than 30 reports, or 30 dim / k reports of k sampled coordinates.
            With one or two, 95 % limits cover 90 %.
        """
        tail, found = self._tail(confidence, simultaneous), self._with_liars(liars)
        self._warn_few()
        return found._limits_at(tail)

    def largest_shift(self, liars: float) -> Any:
        """Return the largest amount by which people who lie can have moved the value.

        Parameters
        ----------
        liars : float
            Share of the reports that are forged, in [0, 1). The number of reports is rounded up.

        Returns
        -------
        shift : float or ndarray
            Of the shape of `value`. A liar replaces a report by any other one of the format. For shares and means it depends
            neither on the records nor on the other reports; for ratios it is for these reports, and it is infinite where
            the forged reports can decide the denominator. It is infinite for reports without bounds, such as Laplace noise.
            For vectors, rotated signs, distributions of numbers, ratios about sets of options, all pairs of questions and
            strings that were found it is an upper bound.

        Raises
        ------
        TypeError, ValueError
            As for `interval` with liars.

        Examples
        --------
        >>> import numpy as np, ldpfast as ldp
        >>> estimate = ldp.Warner(1.0).run(np.arange(10_000) % 4 == 0, rng=1)
        >>> round(estimate.largest_shift(0.01), 4)  # a report is decoded as -0.58 or 1.58
        0.0216
        >>> low, high = estimate.interval(liars=0.01)
        >>> bool(low < 0.25 < high), bool(high - low > 2 * estimate.largest_shift(0.01))
        (True, True)
        """
        shift = shift_by_liars(self.rule, self._share_of_liars(liars), self._people_along())
        whole = np.broadcast_to(np.asarray(shift, np.float64), np.shape(self.value))
        return whole.copy() if whole.ndim else float(whole)

    def _with_liars(self, share: float) -> Self:
        """Return the estimate with limits that hold if at most a share of the reports is forged."""
        share = self._share_of_liars(share)
        return replace(self, rule=rule_with_liars(self.rule, share, self._people_along())) if share else self

    @staticmethod
    def _share_of_liars(share: float) -> float:
        number = _check.real("liars", share)
        if not 0 <= number < 1:
            raise ValueError(f"liars must be in [0, 1), got {share!r}")
        return number

    def _people_along(self) -> Any:
        """Return the number of people who can have sent a report for each number, in a shape that broadcasts with them."""
        people = self._senders
        return along(people, np.ndim(self.value) - np.ndim(people))

    @property
    def _senders(self) -> Any:
        """Number of people any of whom can have sent a report for the estimate."""
        return self.n

    def anytime_interval(self, confidence: float = 0.95, simultaneous: bool = False) -> tuple[Value, Value]:
        """Return limits that contain the true value for all numbers of reports at once, with the given probability.

        So an experiment can be watched while reports arrive, and stopped at any time: the interval is valid then, and a test
        that rejects where a value is excluded keeps its level.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level, in (0, 1).
        simultaneous : bool, default False
            As for `interval`.

        Returns
        -------
        low, high : float or ndarray
            Limits of the shape of `value`. They are about 1.5 to 2 times as far apart as those of `interval`.

        Raises
        ------
        TypeError, ValueError
            If `confidence` is not a number in (0, 1); if the estimate is not a share of binomial counts, a mean of codes (such
            as `Window`), a share or mean among the people who answered by k-ary response, or a difference of two such
            estimates.

        Notes
        -----
        People are drawn independently from a population that does not change. The limits invert a mixture of likelihoods or
        of bets, which nobody can expect to win, whatever the time to stop [1]_ [2]_. Those of a difference combine the limits
        of both parts, each with half of the error probability.

        References
        ----------
        .. [1] S. Howard, A. Ramdas, J. McAuliffe, J. Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences",
           Annals of Statistics, 2021.
        .. [2] I. Waudby-Smith, A. Ramdas, "Estimating means of bounded random variables by betting", JRSS B, 2024.

        Examples
        --------
        >>> import numpy as np, ldpfast as ldp
        >>> mechanism, aggregator = ldp.Warner(2.0), ldp.Warner(2.0).aggregator()
        >>> for day in range(1, 50):
        ...     _ = aggregator.update(mechanism.privatize(np.arange(400) % 4 == 0, rng=day))
        ...     low, high = aggregator.estimate().anytime_interval()
        ...     if high < 0.3:
        ...         break
        >>> 0.2 < low < 0.25, day < 49
        (True, True)
        """
        found = self._unbiased()
        limits = getattr(found.rule, "anytime", None)
        if limits is None:
            raise ValueError(
                "anytime limits exist for shares of binomial counts, for means of codes and for differences of these, got "
                f"limits by {type(found.rule).__name__}"
            )
        return self._limits_of(limits(self._tail(confidence, simultaneous)))

    def _tail(self, confidence: float, simultaneous: bool) -> float:
        """Return the probability that one number is beyond one of its limits."""
        tail = (1 - _check.probability("confidence", confidence)) / 2
        return tail / self._numbers_at_once() if _check.flag("simultaneous", simultaneous) else tail

    def _numbers_at_once(self) -> int:
        """Return for how many numbers simultaneous limits hold."""
        return np.size(self.value)

    def test(self, null: Any = 0.0, *, alternative: str = "two-sided") -> TestResult:
        """Test whether the true value differs from a given one.

        Parameters
        ----------
        null : float or array_like, default 0.0
            Value under the hypothesis, of the shape of `value` or a single number. If the range of the value is known, it
            must be inside: [0, 1] for a share, [-1, 1] for a difference of shares, [lower, upper] for a mean.
        alternative : {"two-sided", "less", "greater"}, default "two-sided"
            Whether the true value differs, is less, or is greater under the alternative.

        Returns
        -------
        result : TestResult
            Of the shape of `value`: every number has a test of its own. The p-value is the smallest level at which `interval`
            excludes the null value, so tests and intervals agree. It is valid for every n where the limits are; a
            share of binomial counts has the exact test. The statistic is the distance in standard errors.

        Raises
        ------
        TypeError, ValueError
            If `null` is not finite numbers of this shape, or is outside of the range of the value; if `alternative` is not
            one of the three.

        Warns
        -----
        SmallSampleWarning
            As for `interval`.

        Examples
        --------
        >>> import numpy as np, ldpfast as ldp
        >>> result = ldp.SignBit(0, 10, 1.0).run(np.full(10_000, 6.0), rng=1).test(5.0, alternative="greater")
        >>> bool(result.pvalue < 0.01)
        True
        """
        alternative = _check.choice("alternative", alternative, ALTERNATIVES)
        labels = getattr(self, "labels", None) or getattr(self, "categories", None)
        ordered = in_order("null", null, [[x] for x in labels] if labels else range(np.size(self.value)))
        tested = np.asarray(_check.numbers("null", _check.array("null", ordered)), np.float64)
        if tested.ndim and tested.shape != np.shape(self.value):
            raise ValueError(f"null must be a number or have shape {np.shape(self.value)}, got shape {tested.shape}")
        if not np.isfinite(tested).all():
            raise ValueError("null must be finite numbers")
        found = self._unbiased()
        lowest, highest = self._possible_range
        excess = np.maximum(lowest - tested, tested - highest)
        if (excess > ROUNDING * max(1.0, abs(lowest), abs(highest))).any():
            raise ValueError(
                f"null must be in [{lowest:g}, {highest:g}], the range of the value, got {tested.flat[excess.argmax()]:g}"
            )
        self._warn_few()
        value, stderr = np.asarray(found.value), np.asarray(found.stderr)
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = np.where(value == tested, 0.0, (value - tested) / stderr)
        pvalue = p_values(found.rule, value, stderr, tested, alternative)
        plain = [float(x) if np.ndim(x) == 0 else x for x in (statistic, pvalue, tested)]
        return TestResult(plain[0], plain[1], alternative, plain[2], self.n)

    def __sub__(self, other: object) -> LabeledEstimate:
        """Return the difference of two estimates of different people, with its standard error and limits.

        Raises
        ------
        ValueError
            If they differ in shape, labels or unit, or can have people in common.
        """
        if not isinstance(other, Estimate):
            return NotImplemented
        require_alike(self, other)
        require_disjoint(self, other)
        return self._minus(other)

    def _minus(self, other: Estimate[Any]) -> LabeledEstimate:
        """Return the difference of two estimates of the same quantity, where the people are known to be different."""
        return LabeledEstimate(**difference(self, other))

    def __truediv__(self, other: object) -> LabeledEstimate:
        """Return the ratio of two estimates of different people, with Fieller's limits.

        Raises
        ------
        ValueError
            As for differences.
        """
        if not isinstance(other, Estimate):
            return NotImplemented
        require_alike(self, other)
        require_disjoint(self, other)
        return LabeledEstimate(**ratio(self, other))

    def _unbiased(self) -> Estimate[Any]:
        """Return the estimate to which the limits refer, where another value is shown."""
        return self

    def _meaning(self) -> tuple[Any, ...]:
        """Return what must be equal in two estimates whose difference has a meaning, apart from their shapes."""
        return self._names()[0], tuple(self._entries(range(np.size(self.value))))

    def _of_people(self, people: People) -> Self:
        """Return the estimate with the people whose reports it is made of."""
        return replace(self, _people=people)

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

    @property
    def _possible_range(self) -> tuple[float, float]:
        """Smallest and largest value that each number can have, infinite if they are not known."""
        return self._span

    def _limits_at(self, tail: float = (1 - 0.95) / 2) -> tuple[Value, Value]:
        """Return limits with a probability `tail` on each side."""
        return self._limits_of(self.rule.bounds(np.asarray(self.value), np.asarray(self.stderr), tail))

    def _limits_of(self, limits: tuple[Any, Any]) -> tuple[Any, Any]:
        """Return limits of a rule as they are reported: floats for a single number."""
        low, high = limits
        return (float(low), float(high)) if np.ndim(self.value) == 0 else (low, high)

    def _bounds(self, limits: tuple[Any, Any] | None = None) -> tuple[Any, Any]:
        """Return limits as texts, tables and plots show them: cut at the range of the parameter. By default those of 95 %.

        Limits that are farther outside of the range than they are apart are not cut: the reports contradict the mechanism,
        and equal limits would look like certainty.
        """
        low, high = map(np.asarray, limits or self._limits_at())
        lowest, highest = self._span
        with np.errstate(invalid="ignore"):
            is_far = np.maximum(low - highest, lowest - high) > high - low
        low, high = (np.where(is_far, limit, np.clip(limit, lowest, highest))[()] for limit in (low, high))
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
        names, entry = self._names()
        parts = self._parts()
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

    @property
    def _whole_guarantee(self) -> Guarantee:
        """The guarantee of a person for all reports, also those to other questions of the same survey."""
        return self.guarantee

    def _short_guarantee(self) -> str:
        """Return a short text of the guarantee, with the name of its parameter."""
        return guarantee_text(self.guarantee)

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


def guarantee_text(guarantee: Guarantee) -> str:
    """Return a short text of a guarantee, with the name of its parameter."""
    name = {"kl": "kl", "tv": "tv", "smooth": "smooth epsilon"}.get(guarantee.definition, "epsilon")
    delta = f", delta = {guarantee.delta:.3g}" if guarantee.delta else ""
    return f"{name} = {guarantee.epsilon:.6g}{delta}{', ideal only' if guarantee.ideal else ''}"


@dataclass(frozen=True, eq=False, repr=False)
class LabeledEstimate(Estimate[Any]):
    """A difference or a ratio of two estimates.

    Attributes
    ----------
    labels : tuple of str
        Label of every number, in the order of the flattened value; an empty text for a single number.
    quantity : str
        What the numbers are.

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> mechanism = ldp.Warner(1.0)
    >>> north, south = (mechanism.run(np.arange(20_000) % m == 0, rng=m) for m in (2, 4))
    >>> difference = north - south
    >>> low, high = difference.interval()
    >>> bool(low < 0.25 < high), bool(difference.test().pvalue < 0.001)
    (True, True)
    >>> (north / south).quantity
    'ratio of estimates'
    """

    labels: tuple[str, ...] = ()
    quantity: str = "difference"
    _unit_text: str = ""

    def _names(self) -> tuple[str, str]:
        return self.quantity, "entry"

    def _unit(self) -> str:
        return self._unit_text

    def _entries(self, places: Sequence[int]) -> list[str]:
        return [self.labels[at] for at in places]

    def _meaning(self) -> tuple[Any, ...]:
        return self.quantity, self.labels
