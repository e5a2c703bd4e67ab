"""Two questions that are answered together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._plots import axes, draw_matrix, text_of
from .._table import Table, decimals
from ..results import TestResult
from ._answers import NO_ANSWER, Answer, answer_like, estimate_fields
from ._hypotheses import independence
from ._questions import ColumnQuestion, SurveyQuestion
from ._shares import Shares
from ._sums import Cells

if TYPE_CHECKING:
    from .._typing import RNGLike


@dataclass(frozen=True)
class Cross(SurveyQuestion):
    """Two declared questions, answered together. The answer is the table of their joint shares.

    Parameters
    ----------
    a, b : str
        Names of two different questions of the survey. A `Mean` has the categories low and high.

    Raises
    ------
    TypeError, ValueError
        If `a` and `b` are not the names of different questions.

    Examples
    --------
    >>> from ldpfast.survey import Choice, Cross, Survey, YesNo
    >>> survey = Survey({"way": Choice(["foot", "car"]), "smoker": YesNo(), "both": Cross("way", "smoker")}, 3.0)
    >>> survey.run({"way": ["foot", "car"] * 500, "smoker": [True, False] * 500}, rng=1)["both"].value.shape
    (2, 2)
    """

    a: str
    b: str

    def __post_init__(self) -> None:
        if not isinstance(self.a, str) or not isinstance(self.b, str):
            raise TypeError(f"a and b must be names of questions, got {self.a!r} and {self.b!r}")
        if self.a == self.b:
            raise ValueError(f"a and b must be different questions, got {self.a!r} twice")

    def parts_of(self, name: str) -> tuple[str, ...]:
        return self.a, self.b

    def answer(
        self, names: tuple[str, str], questions: tuple[ColumnQuestion, ColumnQuestion], shares: Shares, numbers: int
    ) -> CrossAnswer:
        """Return the table of two questions from the shares of all pairs of their symbols."""
        shape = (questions[0].k, questions[1].k)
        found = shares.linear(Cells.of_table(shape, 0, *shape).each())
        labels, columns = (
            (*question.labels, NO_ANSWER) if question.optional else question.labels for question in questions
        )
        return CrossAnswer(
            **estimate_fields(found),
            labels=labels,
            columns=columns,
            _numbers=numbers,
            names=names,
            _questions=questions,
            _shares=shares,
        )


@dataclass(frozen=True, eq=False, repr=False)
class CrossAnswer(Answer):
    """Joint shares of the answers to two questions.

    Attributes
    ----------
    value : ndarray, shape (ka, kb)
        Share of the people with each pair of answers. "No answer" is the last row or column of an optional question. No
        is before yes, and low before high.
    names : tuple of str
        Names of the two questions.

    Examples
    --------
    >>> from ldpfast.survey import Choice, Cross, Survey, YesNo
    >>> survey = Survey({"way": Choice(["foot", "car"]), "smoker": YesNo(), "both": Cross("way", "smoker")}, 6.0)
    >>> both = survey.run({"way": ["foot", "car"] * 5000, "smoker": [True, False] * 5000}, rng=1)["both"]
    >>> both.labels, both.columns
    (('foot', 'car'), ('no', 'yes'))
    >>> bool(both.given("way").value[0] > 0.9)  # share of smokers among people on foot
    True
    """

    names: tuple[str, str] = ("", "")
    _questions: tuple[ColumnQuestion, ...] = ()
    _shares: Shares = field(default=None)  # type: ignore[assignment]

    @property
    def table(self) -> Table:
        """The joint shares with their labels, one row per answer to the first question."""
        assert self.labels is not None
        assert self.columns is not None
        names = [self.names[0], *map(str, self.columns)]
        if len(set(names)) < len(names):  # such as the labels 1 and "1"
            names = [f"{self.names[0]} \\ {self.names[1]}", *(f"{self.names[1]} = {label!r}" for label in self.columns)]
        return Table(dict(zip(names, [list(map(str, self.labels)), *map(list, self.value.T)], strict=True)))

    def independence(self, *, rng: RNGLike = None) -> TestResult:
        """Test whether the answers to the two questions are independent, among the people who answered both.

        Parameters
        ----------
        rng : None, int, SeedSequence, Generator or BitGenerator
            Source of randomness, for small samples.

        Returns
        -------
        result : TestResult
            The statistic is the squared distance from the table without dependence that fits best, with the covariances under
            this hypothesis, and has (rows - 1) (columns - 1) degrees of freedom. If one question is a `Mean`, it tests whether
            the mean is the same for all answers to the other one.

        Raises
        ------
        ValueError
            If the table has more than 10,000 cells; if too few people answered to tell their share from 0.

        Notes
        -----
        The p-value comes from a chi-square distribution if at least 5 reports of every cell are expected and there are at
        least 5 reports per cell, else from 999 tables that are drawn from the fitted one (bootstrap), which is
        approximate. The usual test of independence of a table of estimated shares times n rejects far too often, because it
        takes the noise of the reports for dependence.

        Examples
        --------
        >>> from ldpfast.survey import Choice, Cross, Survey, YesNo
        >>> survey = Survey({"way": Choice(["foot", "car"]), "smoker": YesNo(), "both": Cross("way", "smoker")}, 6.0)
        >>> both = survey.run({"way": ["foot", "car"] * 5000, "smoker": [True, False] * 5000}, rng=1)["both"]
        >>> bool(both.independence().pvalue < 0.001)
        True
        """
        return independence(self, rng)

    def _symbols(self) -> NDArray[np.intp]:
        rows, columns = (question.k for question in self._questions)
        answered = (range(len(question.labels)) for question in self._questions)
        return np.ravel_multi_index(np.meshgrid(*answered, indexing="ij"), (rows, columns)).ravel()

    def margin(self, name: str) -> Answer:
        """Return the answer to one of the two questions alone, from the people who were asked both.

        Parameters
        ----------
        name : str
            Name of one of the two questions.

        Returns
        -------
        margin : Answer
            In the form of an answer to that question; Fieller's limits for an optional one.

        Raises
        ------
        ValueError
            If `name` is neither of the two questions.
        """
        axis = self._axis(name)
        margin = self._questions[axis].answer(self._shares.margin(self.value.shape, axis), self._numbers)
        margin = margin if self._people is None else margin._of_people(self._people)
        margin = margin if self._total is None else margin._of_survey(self._total)
        return margin if self.n else margin.without_answers(np.array(True))

    def given(self, name: str) -> Answer:
        """Return the answer to the other question, in each subgroup with the same answer to one question.

        Parameters
        ----------
        name : str
            Name of the question that divides the people into subgroups.

        Returns
        -------
        conditional : Answer
            If the other question is a `YesNo` or a `Mean`, one share of yes or one mean per label of the question
            `name`, else one row of shares. The limits are Fieller's. They are the whole range where a subgroup cannot be
            distinguished from an empty one.

        Raises
        ------
        ValueError
            If `name` is neither of the two questions.
        """
        axis = self._axis(name)
        condition, other = self._questions[axis], self._questions[1 - axis]
        shape = (self._questions[0].k, self._questions[1].k)
        cells = Cells.of_table(shape, axis, len(condition.labels), len(other.labels))
        found = self._shares.ratio(other.sums(cells), cells.total(keep=not other.scalar))
        columns = None if other.scalar else other.labels
        return answer_like(
            found, self, labels=condition.labels, columns=columns, range=other.range, _quantity=other.quantity
        )

    def plot(self, ax: Any = None, *, confidence: float = 0.95, simultaneous: bool = False) -> Any:
        """Draw the joint shares as a heat map; up to 64 of them are written in their cells, with half of the interval.

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
        low, high = self.interval(confidence, simultaneous)
        assert self.labels is not None
        assert self.columns is not None
        halves = np.ravel(high - low) / 2
        digits = decimals(float(halves.max())) or 2
        texts = [f"{x:.{digits}f}\n+- {half:.{digits}f}" for x, half in zip(self.value.flat, halves, strict=True)]
        ax = axes(ax)
        kind = self._interval_text(confidence, simultaneous)
        draw_matrix(ax, self.value, self.labels, self.columns, f"share of people, +- half the {kind}", texts)
        ax.set_xlabel(f"{text_of(self.names[1])}\n{self._source_text()}")
        ax.set_ylabel(text_of(self.names[0]))
        return ax

    def _axis(self, name: str) -> int:
        if name not in self.names:
            raise ValueError(f"name must be one of {', '.join(map(repr, self.names))}, got {name!r}")
        return self.names.index(name)
