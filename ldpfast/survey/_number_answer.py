"""The answer to a question about a number: its whole distribution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._typing import Floats
from ..estimation import DistributionEstimate, DistributionValue
from ..estimation._cell_likelihood import CellLikelihood
from ..estimation._cell_limits import ShareLimits
from ..estimation._distribution_estimate import NumberCells, distribution_of
from ..estimation.protocols import FEW_REPORTS
from ..mechanisms import DistributionResponse
from ..reports import Counted
from ..results import (
    Estimate,
    IntervalRule,
    Normal,
    TestResult,
    forged_reports,
    require_alike,
    require_no_overlap,
    rounding_of,
    rule_with_liars,
    shift_by_liars,
)
from ._answer_forms import Found
from ._answers import Answer
from ._number_tests import band_of_difference, equality

LISTED = (0.05, 0.25, 0.5, 0.75, 0.95)  # quantiles that are listed after the mean
PANEL_ROWS = 12  # height of the distribution in a picture of all answers
LABELS = ("mean", "5 %", "25 %", "median", "75 %", "95 %")


@dataclass(frozen=True, eq=False)
class ListedLimits:
    """Limits of a mean, and of quantiles.

    Attributes
    ----------
    mean, quantiles : Estimate
    needed : int
        Number of reports that are needed if there are too few, else 0.
    """

    mean: Estimate[Any]
    quantiles: Estimate[Any]
    needed: int
    by_coordinate: ClassVar[bool] = True

    @property
    def rounding(self) -> Floats:
        """How much of the margins can be an error that is not random: of the mean, and of the quantiles."""
        return self._listed(rounding_of(self.mean.rule), rounding_of(self.quantiles.rule))

    def with_liars(self, share: float, n: Any) -> ListedLimits:
        """Return the rule where some reports are forged."""
        mean, quantiles = (
            replace(part, rule=rule_with_liars(part.rule, share, n)) for part in (self.mean, self.quantiles)
        )
        return replace(self, mean=mean, quantiles=quantiles)

    def largest_shift(self, share: float, n: Any) -> Floats:
        """Return how far forged reports can move each number."""
        return self._listed(*(shift_by_liars(part.rule, share, n) for part in (self.mean, self.quantiles)))

    @staticmethod
    def _listed(mean: Any, quantiles: Any) -> Floats:
        return np.append(mean, np.broadcast_to(quantiles, (len(LISTED),)))

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        tails = np.broadcast_to(tail, (len(LABELS),))
        first = self.mean.rule.bounds(np.asarray(value[0]), np.asarray(stderr[0]), tails[0])
        more = self.quantiles.rule.bounds(value[1:], stderr[1:], tails[1:])
        low, high = (np.append(one, others) for one, others in zip(first, more, strict=True))
        return low, high


@dataclass(frozen=True, eq=False)
class LimitsOfGroups:
    """Limits of the numbers of several groups, by the rule of each.

    Attributes
    ----------
    rules : tuple of IntervalRule
    """

    rules: tuple[IntervalRule, ...]
    by_coordinate: ClassVar[bool] = True

    @property
    def needed(self) -> int:
        """Number of reports that a group needs if some have too few, else 0."""
        return max(int(getattr(rule, "needed", 0)) for rule in self.rules)

    @property
    def rounding(self) -> Floats:
        """How much of the margins can be an error that is not random."""
        return self._stacked([rounding_of(rule) for rule in self.rules])

    def with_liars(self, share: float, n: Any) -> LimitsOfGroups:
        """Return the rule where some reports of each group are forged."""
        return LimitsOfGroups(
            tuple(rule_with_liars(rule, share, own) for rule, own in zip(self.rules, self._each(n), strict=True))
        )

    def largest_shift(self, share: float, n: Any) -> Floats:
        """Return how far forged reports can move the numbers of each group."""
        return self._stacked(
            [shift_by_liars(rule, share, own) for rule, own in zip(self.rules, self._each(n), strict=True)]
        )

    def _each(self, n: Any) -> list[float]:
        """Return the number of reports of each group."""
        return [float(own) for own in np.broadcast_to(np.ravel(n), (len(self.rules),))]

    @staticmethod
    def _stacked(parts: Sequence[Any]) -> Floats:
        return np.stack(np.broadcast_arrays(*parts)).astype(np.float64)

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        tails = np.broadcast_to(tail, np.shape(value))
        found = [rule.bounds(*parts) for rule, *parts in zip(self.rules, value, stderr, tails, strict=True)]
        low, high = (np.array(limits) for limits in zip(*found, strict=True))
        return low, high


@dataclass(frozen=True, eq=False, repr=False)
class NumberAnswer(Answer):
    """The distribution of a number, among the people who answered if the question is optional.

    `value` has the mean and five quantiles. Everything else follows from the same reports: the numbers of all methods are those
    of one distribution, whose distribution function ascends. Their limits are for the unbiased linear estimate, as those of
    `estimation.DistributionEstimate`, and are valid for smooth, spiky and discrete populations.

    Attributes
    ----------
    value : ndarray, shape (6,)
        Mean, 5 % quantile, 25 % quantile, median, 75 % quantile and 95 % quantile.
    missing : Answer or None
        Share of people without an answer, for optional questions.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.survey import Number, Survey
    >>> ages = np.random.default_rng(1).binomial(99, 0.4, 100_000)
    >>> found = Survey({"age": Number(0, 99, integers=True)}, 2.0).run({"age": ages}, rng=1)["age"]
    >>> found.labels
    ('mean', '5 %', '25 %', 'median', '75 %', '95 %')
    >>> bool(abs(found.mean.value - ages.mean()) < 1), bool(abs(found.quantile(0.5).value - np.median(ages)) < 2)
    (True, True)
    >>> low, high = found.probability(30, 39).interval()
    >>> bool(low < np.mean((ages >= 30) & (ages <= 39)) < high)
    True
    """

    declared: ClassVar[bool] = False  # without limits for all numbers of reports
    _found: DistributionEstimate | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, found: DistributionEstimate, missing: Answer | None, numbers: int) -> NumberAnswer:
        """Return the answer with a distribution, where the whole survey reports a number of numbers."""
        mean, quantiles = found.mean, found.quantile(np.array(LISTED))
        cells = found._cells
        return cls(
            np.append(mean.value, quantiles.value),
            np.append(mean.stderr, quantiles.stderr),
            found.n,
            found.guarantee,
            None,
            ListedLimits(mean, quantiles, FEW_REPORTS if found.n < FEW_REPORTS else 0),
            labels=LABELS,
            missing=missing,
            range=(cells.lower, cells.upper),
            _numbers=numbers,
            _quantity="statistic",
            _found=found,
        )

    @property
    def ends(self) -> Floats:
        """Ends of the cells, ascending, shape (cells + 1,); for whole numbers half a unit before and behind each."""
        return self._distribution.ends

    def cdf(self, points: ArrayLike | None = None) -> DistributionValue:
        """Return the distribution function: the share of people whose number is at most a given one.

        Parameters
        ----------
        points : float or array_like of float, optional
            Numbers. The default are the upper ends of the cells, or all whole numbers.

        Returns
        -------
        cdf : DistributionValue
            In the shape of `points`. Simultaneous limits hold for these points; `band` has narrower ones for all.

        Raises
        ------
        TypeError, ValueError
            If `points` are not real numbers, or some are NaN; if nobody was asked.
        """
        return self._own(self._distribution.cdf(points))

    def probability(self, low: ArrayLike, high: ArrayLike) -> DistributionValue:
        """Return the share of people with a number in (low, high], or with a whole number in [low, high].

        Parameters
        ----------
        low, high : float or array_like of float
            Ends, low <= high. Arrays are broadcast. A low end at or below that of the interval counts all people up to `high`.

        Returns
        -------
        shares : DistributionValue
            In the shape of the ends.

        Raises
        ------
        TypeError, ValueError
            If the ends are not real numbers, or `low` is above `high`; if nobody was asked.
        """
        return self._own(self._distribution.probability(low, high))

    def quantile(self, q: ArrayLike = 0.5) -> DistributionValue:
        """Return quantiles of the numbers; the default is the median.

        Parameters
        ----------
        q : float or array_like of float, default 0.5
            Probabilities, in (0, 1).

        Returns
        -------
        quantile : DistributionValue
            In the shape of `q`. The limits invert tests of the distribution function; the standard error is half the width of a
            68 % interval, for whole numbers at least 0.29.

        Raises
        ------
        TypeError, ValueError
            If `q` are not numbers in (0, 1); if nobody was asked.
        """
        return self._own(self._distribution.quantile(q))

    @property
    def mean(self) -> DistributionValue:
        """Mean of the numbers: the unbiased linear estimate, whose limits include half the width of a cell."""
        return self._own(self._distribution.mean)

    def density(self, points: ArrayLike | None = None) -> Floats:
        """Return the estimated density at some numbers, or the share of whole numbers.

        Parameters
        ----------
        points : float or array_like of float, optional
            Numbers. The default are the middles of the cells, or all whole numbers.

        Returns
        -------
        density : ndarray
            In the shape of `points`; 0 outside of the interval.

        Raises
        ------
        TypeError, ValueError
            If `points` are not real numbers, or some are NaN; if nobody was asked.
        """
        return self._distribution.density(points)

    def band(self, confidence: float = 0.95, *, liars: float = 0.0) -> tuple[Floats, Floats, Floats]:
        """Return limits of the distribution function that hold at all ends of cells at once.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level, in (0, 1).
        liars : float, default 0.0
            Largest share of the reports of the survey that can be forged, in [0, 1), as for `interval`.

        Returns
        -------
        ends, low, high : ndarray, shape (cells + 1,)
            Ends of cells and the limits there, all ascending.

        Raises
        ------
        TypeError, ValueError
            If `confidence` is not a number in (0, 1) or `liars` not one in [0, 1); if nobody was asked.
        """
        return self._distribution._band(confidence, self._forged(liars))

    def difference_band(
        self, other: NumberAnswer, confidence: float = 0.95, *, liars: float = 0.0
    ) -> tuple[Floats, Floats, Floats]:
        """Return limits of the difference of two distribution functions that hold at all ends of cells at once.

        Parameters
        ----------
        other : NumberAnswer
            The answer of other people to a question with the same cells. That nobody is in both is for the caller to know.
        confidence : float, default 0.95
            Confidence level, in (0, 1).
        liars : float, default 0.0
            Largest share of the reports of each survey that can be forged, in [0, 1), as for `interval`.

        Returns
        -------
        ends, low, high : ndarray, shape (cells + 1,)
            Ends of cells, and limits of the share of these people up to there less that of the others. Where `high` is below 0,
            the numbers of these people are larger.

        Raises
        ------
        TypeError, ValueError
            If `other` is no such answer, or is computed from the same reports; if `confidence` is not a number in (0, 1) or
            `liars` not one in [0, 1).

        Examples
        --------
        >>> import numpy as np
        >>> from ldpfast.survey import Number, Survey
        >>> survey, x = Survey({"minutes": Number(0, 60)}, 2.0), np.random.default_rng(1).gamma(4, 5, (2, 50_000)).clip(0, 60)
        >>> a, b = (survey.run({"minutes": own}, rng=i)["minutes"] for i, own in enumerate((x[0], x[1] / 2)))
        >>> ends, low, high = a.difference_band(b)
        >>> bool(high.min() < 0)  # somewhere fewer of the first people are below, certainly
        True
        """
        if not isinstance(other, NumberAnswer):
            raise TypeError(f"other must be the answer to a Number, got {type(other).__name__}")
        confidence = _check.probability("confidence", confidence)
        require_alike(self, other)
        require_no_overlap(self, other)
        forged = (self._forged(liars), other._forged(liars))
        low, high = band_of_difference(self._distribution, other._distribution, confidence, forged)
        return self.ends, np.append(low, 0.0), np.append(high, 0.0)

    def plot(self, ax: Any = None, *, confidence: float = 0.95, simultaneous: bool = True) -> Any:
        """Draw the distribution function with its band, and the density below it.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; those of a new figure by default. The density has an axis of its own at the right.
        confidence : float, default 0.95
            Confidence level of the band.
        simultaneous : bool, default True
            Whether the band holds for all numbers at once.

        Returns
        -------
        ax : matplotlib.axes.Axes

        Raises
        ------
        ImportError
            If matplotlib is not installed (extra "plot").
        TypeError, ValueError
            If `confidence` is not a number in (0, 1); if nobody was asked.
        """
        shown = replace(self._distribution, guarantee=self._whole_guarantee)
        return shown.plot(ax, confidence=confidence, simultaneous=simultaneous)

    @property
    def _panel_rows(self) -> int:
        return PANEL_ROWS

    def _draw_panel(self, ax: Any, title: str, confidence: float) -> bool:
        if self._found is None:
            return False
        self.plot(ax, confidence=confidence)
        ax.set_title(f"{title}: distribution", fontsize=10, loc="left")
        ax.set_xlabel("")
        return True

    @property
    def _distribution(self) -> DistributionEstimate:
        if self._found is None:
            raise ValueError("a distribution must have at least 1 answer, got n = 0")
        return self._found

    def _forged(self, liars: float) -> float:
        """Return the number of reports that can be forged, for a share of those of the survey."""
        return float(forged_reports(self._share_of_liars(liars), self._senders))

    def _own(self, found: DistributionValue) -> DistributionValue:
        """Return a number with the people and the guarantee of the answer."""
        return replace(found, guarantee=self._whole_guarantee, _people=self._people, _all_reports=self._survey_reports)

    def without_answers(self, gaps: NDArray[np.bool_]) -> NumberAnswer:
        return replace(super().without_answers(gaps), _found=None)

    def _equality(self, answers: Sequence[Answer]) -> TestResult | None:
        return equality([answer._distribution for answer in answers if isinstance(answer, NumberAnswer)])


@dataclass(frozen=True, eq=False)
class FoundNumber(Found):
    """What reports say about a number.

    Attributes
    ----------
    cells : NumberCells
    mechanism : DistributionResponse
    counted : Counted
        Counts of codes, of one group of people or of several.
    optional : bool
        Whether the last cell of the mechanism is "no answer".
    """

    cells: NumberCells
    mechanism: DistributionResponse
    counted: Counted
    optional: bool

    @property
    def numbers(self) -> int:
        """How many numbers are listed."""
        return len(LABELS) + self.optional

    def answer(self, numbers: int) -> Answer:
        """Return the answer; `numbers` are reported by the whole survey."""
        counts = self.mechanism.report.counts(self.counted.states[0])
        if counts.ndim == 1:
            return self._of_group(counts, numbers)
        parts = [self._of_group(own, numbers) for own in counts]
        missing = [part.missing for part in parts if part.missing is not None]
        return self._stacked(parts, self._stacked(missing) if missing else None)

    def _stacked(self, parts: Sequence[Answer], missing: Answer | None = None) -> Answer:
        """Return the answers of groups as one, whose first axis is the group."""
        values, stderrs = (np.array([getattr(part, name) for part in parts]) for name in ("value", "stderr"))
        rule = LimitsOfGroups(tuple(part.rule for part in parts))
        found: dict[str, Any] = {
            "value": values,
            "stderr": stderrs,
            "n": self.counted.n,
            "covariance": None,
            "rule": rule,
        }
        first = Answer(
            parts[0].value,
            parts[0].stderr,
            parts[0].n,
            parts[0].guarantee,
            labels=parts[0].labels,
            range=parts[0].range,
            _numbers=parts[0]._numbers,
            _quantity=parts[0]._quantity,
        )
        return replace(first, missing=missing, **found)

    def _of_group(self, counts: NDArray[np.int64], numbers: int) -> Answer:
        """Return the answer of people whose codes are counted."""
        n = int(counts.sum())
        if not n:  # the numbers are removed
            return self._of_nobody(numbers)
        levels = np.split(counts, self.mechanism.first_codes[1:])
        likelihood = CellLikelihood.of(self.mechanism.k, self.mechanism.levels, levels)
        counted = Estimate(0.0, 0.0, n, self.mechanism.guarantee)
        found = distribution_of(likelihood, self.cells, counted, has_missing=self.optional)
        share, missing = found._linear.missing, None
        if share is not None:
            few, single = FEW_REPORTS if n < FEW_REPORTS else 0, share.reshaped(())
            rule = ShareLimits(single.step, single.step, few, found=single)
            value, stderr = float(share.value[0]), float(share.stderr[0])
            missing = Answer(value, stderr, n, self.mechanism.guarantee, None, rule, _numbers=numbers)
        return NumberAnswer.of(found, missing, numbers)

    def _of_nobody(self, numbers: int) -> Answer:
        guarantee, unknown = self.mechanism.guarantee, np.full(len(LABELS), np.nan)
        rule = Normal(change=np.inf)  # of a single forged report
        missing = Answer(np.nan, np.inf, 1, guarantee, None, rule, _numbers=numbers) if self.optional else None
        return NumberAnswer(
            unknown,
            np.full(len(LABELS), np.inf),
            1,
            guarantee,
            None,
            rule,
            labels=LABELS,
            missing=missing,
            range=(self.cells.lower, self.cells.upper),
            _numbers=numbers,
            _quantity="statistic",
        )
