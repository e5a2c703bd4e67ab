"""Questions that are answered together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from .._core.survey import PARTS
from .._table import Table
from ..mechanisms import Mechanism
from ..results import TestResult
from ._answer_forms import AnswerForm
from ._answers import NO_ANSWER, Answer, answer_like, axes_of, divided_by, estimate_fields
from ._columns import QuestionColumn
from ._hypotheses import independence
from ._mechanisms import for_symbols
from ._questions import SurveyQuestion
from ._set_tables import SetTableForm
from ._shares import Shares
from ._weighted_sums import Cells

if TYPE_CHECKING:
    from .._random import RNGLike


@dataclass(frozen=True, init=False, repr=False)
class Cross(SurveyQuestion):
    """Two or more declared questions, answered together. The answer is the table of their joint shares.

    Parameters
    ----------
    a, b : str
        Names of two different questions of the survey. A `Mean` has the categories low and high.
    *more : str
        Names of up to six further ones. The table has at most 2^24 cells, and the standard error of a share grows with their
        number.

    Raises
    ------
    TypeError, ValueError
        If these are not the names of different questions.

    Examples
    --------
    >>> from ldpfast.survey import Choice, Cross, Survey, YesNo
    >>> survey = Survey({"way": Choice(["foot", "car"]), "smoker": YesNo(), "both": Cross("way", "smoker")}, 3.0)
    >>> survey.run({"way": ["foot", "car"] * 500, "smoker": [True, False] * 500}, rng=1)["both"].value.shape
    (2, 2)
    """

    a: str
    b: str
    more: tuple[str, ...]

    def __init__(self, a: str, b: str, *more: str) -> None:
        for name in (a, b, *more):
            if not isinstance(name, str):
                raise TypeError(f"a, b and more must be names of questions, got {name!r}")
        if len({a, b, *more}) < 2 + len(more):
            raise ValueError(f"a, b and more must be different questions, got {', '.join(map(repr, (a, b, *more)))}")
        if 2 + len(more) > PARTS:
            raise ValueError(f"a Cross must combine at most {PARTS} questions, got {2 + len(more)}")
        self._set(a=a, b=b, more=more)

    @classmethod
    def _from_arguments(cls, arguments: dict[str, Any]) -> Self:
        rest = dict(arguments)
        more = rest.pop("more", ())
        if not isinstance(more, list | tuple):
            raise TypeError(f"more must be names of questions, got {more!r}")
        unknown = sorted(set(rest) - {"a", "b"})
        if unknown or len(rest) < 2:
            raise TypeError(f"a Cross must have the entries a, b and more, got {', '.join(sorted(arguments))}")
        return cls(rest["a"], rest["b"], *more)

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of all questions that are combined."""
        return (self.a, self.b, *self.more)

    def _parts_of(self, name: str) -> tuple[str, ...]:
        return self.parts

    def _form(self, columns: Sequence[QuestionColumn]) -> AnswerForm:
        form = CrossForm if all(column.has_symbols for column in columns) else SetTableForm
        return form(self.parts, tuple(columns))

    def __repr__(self) -> str:
        return f"Cross({', '.join(map(repr, self.parts))})"


@dataclass(frozen=True, eq=False)
class CrossForm(AnswerForm):
    """An answer to several questions at once: the symbols are the cells of their table, in C order."""

    names: tuple[str, ...]
    parts: tuple[QuestionColumn, ...]

    @property
    def columns(self) -> tuple[QuestionColumn, ...]:
        return self.parts

    @property
    def k(self) -> int:
        return math.prod(part.k for part in self.parts)

    @property
    def numbers(self) -> int:
        """How many numbers are reported, with all margins and conditional shares."""
        sizes = [part.k for part in self.parts]
        tables = (table for count in range(2, len(sizes) + 1) for table in itertools.combinations(sizes, count))
        shares = sum((1 + len(table)) * math.prod(table) for table in tables)
        return shares + sum(sizes) + sum(part.functions for part in self.parts)

    def mechanism(self, epsilon: float) -> Mechanism:
        return for_symbols(self.k, epsilon)

    def answer(self, shares: Shares, numbers: int) -> CrossAnswer:
        return CrossAnswer.of(self.names, self.parts, shares, numbers)


@dataclass(frozen=True, eq=False, repr=False)
class CrossAnswer(Answer):
    """Joint shares of the answers to several questions.

    Attributes
    ----------
    value : ndarray, shape (ka, kb, ...)
        Share of the people with each combination of answers. "No answer" is the last place along the axis of an optional
        question. No is before yes, and low before high.
    names : tuple of str
        Names of the questions, one per axis.
    axes : tuple of tuple
        Labels of each axis. For two questions they are also `labels` and `columns`.

    Examples
    --------
    >>> from ldpfast.survey import Choice, Cross, Survey, YesNo
    >>> asked = {"way": Choice(["foot", "car"]), "smoker": YesNo(), "owner": YesNo()}
    >>> survey = Survey({**asked, "all": Cross("way", "smoker", "owner")}, 6.0)
    >>> people = {"way": ["foot", "car"] * 5000, "smoker": [True, False] * 5000, "owner": [True] * 10_000}
    >>> table = survey.run(people, rng=1)["all"]
    >>> table.value.shape, table.margin("way", "smoker").columns
    ((2, 2, 2), ('no', 'yes'))
    >>> bool(table.margin("way", "smoker").given("way").value[0] > 0.9)  # share of smokers among people on foot
    True
    >>> table.given("way", "owner").value.shape  # share of smokers in four subgroups
    (2, 2)
    """

    names: tuple[str, ...] = ()
    _columns: tuple[QuestionColumn, ...] = ()
    _shares: Shares = field(default=None)  # type: ignore[assignment]

    @classmethod
    def of(cls, names: Sequence[str], columns: Sequence[QuestionColumn], shares: Shares, numbers: int) -> CrossAnswer:
        """Return the table of several questions from the shares of all combinations of their symbols.

        Parameters
        ----------
        names : sequence of str
            Names of the questions.
        columns : sequence of QuestionColumn
        shares : Shares
            Shares of the cells of the table, in C order.
        numbers : int
            How many numbers the whole survey reports.
        """
        sizes = [column.k for column in columns]
        found = shares.linear(Cells.of_table(sizes, range(len(sizes) - 1), sizes).each())
        labels = tuple((*column.labels, NO_ANSWER) if column.optional else column.labels for column in columns)
        return cls(
            **estimate_fields(found),
            labels=labels[0],
            columns=labels[1] if len(labels) == 2 else None,
            _axes=labels if len(labels) > 2 else None,
            _numbers=numbers,
            names=tuple(names),
            _columns=tuple(columns),
            _shares=shares,
        )

    @property
    def table(self) -> Table:
        """The joint shares with their labels.

        For two questions there is one row per answer to the first and one column per answer to the second. For more there is
        one row per cell, with the columns of the questions and "share".
        """
        if len(self.names) > 2:
            places = zip(*itertools.product(*(map(str, labels) for labels in self.axes)), strict=True)
            share = "share" if "share" not in self.names else "share of people"
            return Table({**dict(zip(self.names, map(list, places), strict=True)), share: self.value.ravel().tolist()})
        labels, columns = self.axes
        names = [self.names[0], *map(str, columns)]
        if len(set(names)) < len(names):  # such as the labels 1 and "1"
            names = [f"{self.names[0]} \\ {self.names[1]}", *(f"{self.names[1]} = {label!r}" for label in columns)]
        return Table(dict(zip(names, [list(map(str, labels)), *map(list, self.value.T)], strict=True)))

    def independence(self, *, rng: RNGLike = None) -> TestResult:
        """Test whether the answers to two questions are independent, among the people who answered both.

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
            If the table is not one of two questions; see `margin`. If it has more than 10,000 cells; if too few people
            answered to tell their share from 0.

        Notes
        -----
        The p-value comes from a chi-square distribution if at least 5 reports of every cell are expected and there are at
        least 5 reports per cell, else from 999 tables that are drawn from the fitted one (bootstrap), which is
        approximate. The usual test of independence of a table of estimated shares times n rejects far too often, because it
        takes the noise of the reports for dependence. Where the noise is so large that not even the margins are known, a
        `SmallSampleWarning` says so.

        Examples
        --------
        >>> from ldpfast.survey import Choice, Cross, Survey, YesNo
        >>> survey = Survey({"way": Choice(["foot", "car"]), "smoker": YesNo(), "both": Cross("way", "smoker")}, 6.0)
        >>> both = survey.run({"way": ["foot", "car"] * 5000, "smoker": [True, False] * 5000}, rng=1)["both"]
        >>> bool(both.independence().pvalue < 0.001)
        True
        """
        if len(self.names) != 2:
            raise ValueError(f"the table must be one of two questions, such as margin(a, b), got {len(self.names)}")
        return independence(self, rng)

    def _symbols(self) -> NDArray[np.intp]:
        answered = (range(len(column.labels)) for column in self._columns)
        return np.ravel_multi_index(np.meshgrid(*answered, indexing="ij"), self.value.shape).ravel()

    def _spellings(self) -> list[tuple[Any, ...]]:
        return [(labels,) for labels in itertools.product(*(column.labels for column in self._columns))]

    def margin(self, *names: str) -> Answer:
        """Return the answer to one of the questions alone, or the table of some of them, from the people who were asked all.

        Parameters
        ----------
        *names : str
            Names of questions of the table, fewer than all.

        Returns
        -------
        margin : Answer
            For one name, in the form of an answer to that question; Fieller's limits for an optional one. For several a
            `CrossAnswer`.

        Raises
        ------
        ValueError
            If `names` are not different questions of the table, or are all of them.
        """
        places = axes_of(names, self.names)
        columns = [self._columns[place] for place in places]
        shares = self._shares.margin(self.value.shape, places)
        margin = (
            columns[0].answer(shares, self._numbers)
            if len(places) == 1
            else CrossAnswer.of(names, columns, shares, self._numbers)
        )
        margin = margin if self._people is None else margin._of_people(self._people)
        margin = margin._of_survey(self._total, self._survey_reports)
        return margin if self.n else margin.without_answers(np.array(True))

    def given(self, *names: str) -> Answer:
        """Return the answer to one question, in each subgroup with the same answers to all others.

        Parameters
        ----------
        *names : str
            Names of the questions that divide the people into subgroups: all but one.

        Returns
        -------
        conditional : Answer
            If the other question is a `YesNo` or a `Mean`, one share of yes or one mean per subgroup, else one row of shares.
            The limits are Fieller's. They are the whole range where a subgroup cannot be distinguished from an empty one.

        Raises
        ------
        ValueError
            If `names` are not all but one of the questions of the table. For fewer questions use `margin` first.
        """
        places, place = divided_by(names, self.names)
        other = self._columns[place]
        counts = [len(column.labels) for column in self._columns]
        cells = Cells.of_table([column.k for column in self._columns], places, counts)
        found = self._shares.ratio(other.sums(cells), cells.total(keep=not other.scalar))
        labels = [self._columns[place].labels for place in places] + [other.labels] * (not other.scalar)
        return answer_like(
            found,
            self,
            labels=labels[0],
            columns=labels[1] if len(labels) == 2 else None,
            _axes=tuple(labels) if len(labels) > 2 else None,
            range=other.range,
            _quantity=other.quantity,
        )

    def _names_of_axes(self) -> tuple[str, ...]:
        return self.names
