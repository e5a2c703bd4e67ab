"""Answers to the questions of a survey: estimates with labels."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._limits import along
from .._plots import axes, draw_matrix, text_of
from .._table import decimals
from ..privacy import Guarantee
from ..results import Estimate, People, TestResult, WithGaps, guarantee_text
from ._hypotheses import goodness_of_fit

if TYPE_CHECKING:
    from .._random import RNGLike
    from ._columns import QuestionColumn
    from ._shares import Shares

NO_ANSWER = "no answer"  # label of a missing answer in tables


@dataclass(frozen=True, eq=False, repr=False)
class Answer(Estimate[Any]):
    """The answer to a question of a survey.

    Attributes
    ----------
    value, stderr : float or ndarray
        The share of yes, the mean, or one share per label; among the people who answered, if the question is optional.
    n : int
        Number of people who were asked. If it is 0, `value` is NaN, and an interval is the whole range.
    labels : tuple or None
        Labels of the entries of `value`, or of its rows; None for a single number.
    columns : tuple or None
        Labels of the columns of `value`, if it is a table.
    axes : tuple of tuple
        Labels of each axis of `value`.
    missing : Answer or None
        Share of people without an answer, for optional questions.
    range : tuple of float
        Smallest and largest possible value.

    Examples
    --------
    >>> from ldpfast.survey import Choice, Survey
    >>> survey = Survey({"way": Choice(["foot", "car"])}, 2.0)
    >>> answer = survey.run({"way": ["foot", "car", "car", "car"] * 1000}, rng=1)["way"]
    >>> low, high = answer.interval()
    >>> answer.labels, bool(low[1] < 0.75 < high[1])
    (('foot', 'car'), True)
    """

    declared: ClassVar[bool] = True  # whether the numbers are shares of declared answers to one question, or a mean
    labels: tuple[Any, ...] | None = None
    columns: tuple[Any, ...] | None = None
    missing: Answer | None = None
    range: tuple[float, float] = (0.0, 1.0)
    _numbers: int = 1  # reported by the whole survey
    _quantity: str = "share"
    _shares: Shares | None = None  # of the symbols, for shares of labels and for means that are sent as one bit
    _column: QuestionColumn | None = None
    _total: Guarantee | None = None  # of a person, for all answers together
    _axes: tuple[tuple[Any, ...], ...] | None = None  # for more than two axes
    _survey_reports: Any = None  # of the whole survey, any of which can be about this question

    @classmethod
    def of_number(cls, found: Estimate[Any], range: tuple[float, float], numbers: int) -> Answer:
        """Return the answer of a mean that was sent as a number."""
        return cls(**estimate_fields(found), range=range, _numbers=numbers, _quantity="mean")

    def interval(self, confidence: float = 0.95, simultaneous: bool = False, *, liars: float = 0.0) -> tuple[Any, Any]:
        """Return limits that contain the true value with the given probability.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level, in (0, 1).
        simultaneous : bool, default False
            Whether the limits hold simultaneously for everything that the result of the survey reports (Bonferroni),
            instead of for each number separately.
        liars : float, default 0.0
            Largest share of the reports of the survey that can be forged, in [0, 1), whoever sends them and whatever they know.
            All of them can be about this question, also where people answer some of the questions only. In the result of one
            group, it is the share of the reports of this group.

        Returns
        -------
        low, high : float or ndarray
            Limits of the shape of `value`, clipped to its range. Where the reports exclude no value, they are the whole
            range.

        Raises
        ------
        TypeError, ValueError
            If `confidence` is not a number in (0, 1) or `liars` not one in [0, 1); with liars, if the answer is weighted, or
            comes from several questions, or is a single table of all pairs of questions.

        Warns
        -----
        SmallSampleWarning
            If the limits are normal, such as those of pooled answers, and there are fewer than 30 reports.
        """
        found = self._with_liars(liars)
        self._warn_few()
        return found._interval_at(confidence, simultaneous)

    def _interval_at(self, confidence: float, simultaneous: bool) -> tuple[Any, Any]:
        """Return the limits of `interval` without a warning about few reports."""
        return self._limits_at(self._tail(confidence, simultaneous))

    def _numbers_at_once(self) -> int:
        return self._numbers

    def _limits_of(self, limits: tuple[Any, Any]) -> tuple[Any, Any]:
        return super()._limits_of((np.clip(limits[0], *self.range), np.clip(limits[1], *self.range)))

    def goodness_of_fit(self, shares: ArrayLike, *, rng: RNGLike = None) -> TestResult:
        """Test whether the labels have given shares.

        Parameters
        ----------
        shares : array_like, shape (labels,), or numbers by label
            Shares under the hypothesis, >= 0 with the sum 1, in the order of the labels; row by row for a table. A `YesNo` has
            the labels no and yes. A mapping or a series of pandas is read by its labels, which are tuples for a table.
        rng : None, int, SeedSequence, Generator or BitGenerator
            Source of randomness, for small samples.

        Returns
        -------
        result : TestResult
            The statistic is the squared distance of the estimated shares from the given ones, with the covariance under the
            hypothesis; labels - 1 degrees of freedom. Among the people who answered, if the question is optional.

        Raises
        ------
        TypeError, ValueError
            If `shares` are not such numbers; if the answer has no shares of labels.

        Notes
        -----
        The p-value comes from a chi-square distribution if at least 5 reports of every symbol are expected and there are at
        least 5 reports per symbol. Otherwise reports are drawn under the hypothesis, 9,999 times for k-ary response and 999
        times for other mechanisms: (1 + larger statistics) / (draws + 1), which is exact for compulsory questions. O(k) time.

        Examples
        --------
        >>> from ldpfast.survey import Choice, Survey
        >>> survey = Survey({"way": Choice(["foot", "car"])}, 2.0)
        >>> answer = survey.run({"way": ["foot", "car", "car", "car"] * 1000}, rng=1)["way"]
        >>> bool(answer.goodness_of_fit([0.5, 0.5]).pvalue < 0.001)
        True
        """
        return goodness_of_fit(self, shares, rng)

    @property
    def _possible_range(self) -> tuple[float, float]:
        return self.range

    def _equality(self, answers: Sequence[Answer]) -> TestResult | None:
        """Return a test whether several answers to the question are equal; None if it is that of the shares of labels."""
        return None

    def without_answers(self, gaps: NDArray[np.bool_]) -> Self:
        """Return the answer with no numbers where nobody was asked: everywhere, or in some of the groups of the first axis."""
        places = along(gaps, np.ndim(self.value) - gaps.ndim)
        value, stderr = np.where(places, np.nan, self.value), np.where(places, np.inf, self.stderr)
        n: Any = np.where(gaps, 0, self.n) if gaps.ndim else 0
        return replace(
            self,
            value=value if value.ndim else float(value),
            stderr=stderr if stderr.ndim else float(stderr),
            n=n,
            covariance=None,
            rule=WithGaps(self.rule, places),
            missing=None if self.missing is None else self.missing.without_answers(gaps),
        )

    def _symbols(self) -> NDArray[np.intp]:
        """Return the symbols of the labels, without those of no answer."""
        assert self._column is not None
        return np.arange(len(self._column.labels))

    def _spellings(self) -> list[tuple[Any, ...]]:
        """Return the labels of the symbols without those of no answer, each with the cells that it stands for."""
        assert self._column is not None
        return list(zip(self._column.labels, self._column.cells, strict=True))

    def _of_people(self, people: People) -> Self:
        missing = None if self.missing is None else self.missing._of_people(people)
        return replace(self, _people=people, missing=missing)

    def _of_survey(self, total: Guarantee | None, reports: Any) -> Self:
        """Return the answer with the guarantee of a person for the whole survey, and with the number of its reports."""
        missing = None if self.missing is None else self.missing._of_survey(total, reports)
        return replace(self, _total=total, _survey_reports=reports, missing=missing)

    @property
    def _senders(self) -> Any:
        return self.n if self._survey_reports is None else self._survey_reports

    @property
    def _whole_guarantee(self) -> Guarantee:
        return self._total or self.guarantee

    def _short_guarantee(self) -> str:
        if self._total is None:
            return super()._short_guarantee()
        return f"total {guarantee_text(self._total)} per person"

    def __repr__(self) -> str:
        return super().__repr__() if self.n else f"no answers ({self._short_guarantee()})"

    def _names(self) -> tuple[str, str]:
        return self._quantity, "answer"

    def _meaning(self) -> tuple[Any, ...]:
        return self._quantity, self.axes, self.range

    def _unit(self) -> str:
        return "" if self._quantity == "share" else " (unit of the records)"

    def _entries(self, places: Sequence[int]) -> list[str]:
        entries = self.entries
        return [entries[at] for at in places]

    def plot(self, ax: Any = None, *, confidence: float = 0.95, simultaneous: bool = False) -> Any:
        """Draw the answer with its interval: one row per number, or a heat map of a table of two questions or sets of options.

        Up to 64 shares of a heat map are written in their cells, with half of the interval.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; those of a new figure by default.
        confidence : float, default 0.95
            Confidence level of the intervals.
        simultaneous : bool, default False
            Whether the intervals hold simultaneously for everything that the result of the survey reports.

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
        names = self._names_of_axes()
        if len(names) != 2:
            return super().plot(ax, confidence=confidence, simultaneous=simultaneous)
        low, high = self.interval(confidence, simultaneous)
        halves, known = np.ravel(high - low) / 2, np.ravel(np.isfinite(self.value))
        digits = decimals(float(halves[known].max(initial=0.0))) or 2
        texts = [
            f"{x:.{digits}f}\n+- {half:.{digits}f}" if x == x else ""
            for x, half in zip(np.ravel(self.value), halves, strict=True)
        ]
        ax = axes(ax)
        kind = self._interval_text(confidence, simultaneous)
        rows, columns = self.axes
        draw_matrix(ax, self.value, rows, columns, f"share of people, +- half the {kind}", texts)
        ax.set_xlabel(f"{text_of(names[1])}\n{self._source_text()}")
        ax.set_ylabel(text_of(names[0]))
        return ax

    def _names_of_axes(self) -> tuple[str, ...]:
        """Return the names of the axes of a table of shares; none for other answers."""
        return ()

    @property
    def _panel_rows(self) -> int:
        """Number of rows that the answer needs in a picture of the whole result."""
        return len(self.entries)

    def _draw_panel(self, ax: Any, title: str, confidence: float) -> bool:
        """Draw the answer in a picture of the whole result, and return whether it has a picture of its own."""
        return False

    def _listed(self) -> Answer:
        """Return the answer with every number once, for comparisons."""
        return self

    def _parts(self) -> list[tuple[str, Estimate[Any]]]:
        parts = super()._parts()
        return parts if self.missing is None else [*parts, (NO_ANSWER, self.missing)]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of `Estimate.to_dict`, with the labels and the share without an answer."""
        described = super().to_dict()
        for name in ("labels", "columns"):
            if getattr(self, name) is not None:
                described[name] = [str(label) for label in getattr(self, name)]
        if self._axes is not None:
            described["axes"] = [list(map(str, labels)) for labels in self._axes]
        if self.missing is not None:
            described["missing"] = self.missing.to_dict()
        return described

    @property
    def note(self) -> str:
        """What has to be known about the answer, as a sentence; empty for declared answers."""
        return ""

    @property
    def axes(self) -> tuple[tuple[Any, ...], ...]:
        """Labels of each axis of the value; empty for a single number."""
        if self._axes is not None:
            return self._axes
        return tuple(labels for labels in (self.labels, self.columns) if labels is not None)

    @property
    def entries(self) -> list[str]:
        """Label of every number, in the order of the flattened value; an empty text for a single number."""
        return [", ".join(map(str, place)) for place in itertools.product(*self.axes)]


def answer_like(found: Estimate[Any], like: Answer, **fields: Any) -> Answer:
    """Return an answer with an estimate and some fields, from the same reports as another answer."""
    answer = Answer(
        **estimate_fields(found),
        _numbers=like._numbers,
        _people=like._people,
        _total=like._total,
        _survey_reports=like._survey_reports,
        **fields,
    )
    return answer if like.n else answer.without_answers(np.array(True))


def axes_of(names: Sequence[str], asked: Sequence[str]) -> list[int]:
    """Return the axes of some of the questions that were asked together, fewer than all."""
    for name in names:
        if name not in asked:
            raise ValueError(f"names must be some of {', '.join(map(repr, asked))}, got {name!r}")
    if not 0 < len(names) < len(asked) or len(set(names)) < len(names):
        raise ValueError(
            f"names must be different and fewer than all of {', '.join(map(repr, asked))}, "
            f"got {', '.join(map(repr, names)) or 'none'}"
        )
    return [asked.index(name) for name in names]


def divided_by(names: Sequence[str], asked: Sequence[str]) -> tuple[list[int], int]:
    """Return the axes of all but one of the questions that were asked together, and that of the other one."""
    places = axes_of(names, asked)
    if len(places) != len(asked) - 1:
        raise ValueError(
            f"names must be {len(asked) - 1} of {', '.join(map(repr, asked))}, got {len(names)}; "
            "margin has tables of fewer questions"
        )
    (other,) = (place for place in range(len(asked)) if place not in places)
    return places, other


def estimate_fields(found: Estimate[Any]) -> dict[str, Any]:
    value, stderr = (float(x) if np.ndim(x) == 0 else x for x in (found.value, found.stderr))
    return {
        "value": value,
        "stderr": stderr,
        "n": found.n,
        "guarantee": found.guarantee,
        "covariance": found.covariance,
        "rule": found.rule,
    }
