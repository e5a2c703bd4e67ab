"""The answer to many questions: all tables of two of them, and what follows from them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._plots import axes, draw_matrix
from .._table import Table
from .._typing import Floats
from ..privacy import Guarantee
from ..results import Normal, WithGaps
from ._answers import NO_ANSWER, Answer
from ._columns import QuestionColumn
from ._cross import CrossAnswer
from ._pair_shifts import PairShifts, TableLimits
from ._pair_tables import PairTables, as_covariance
from ._pair_tests import independence_of_pairs
from ._shares import Shares


class PairMoment(NamedTuple):
    """A linear function of the shares of one question, or of the table of two questions, with its estimate.

    The estimates of different moments have nearly independent errors, as programs that fit a distribution to them assume.

    Attributes
    ----------
    names : tuple of str
        One or two questions.
    query : ndarray, shape (numbers, cells)
        ``query @ cells`` are the numbers, for the cells of the table in C order. For yes-or-no questions it is the difference
        of no and yes, and that of equal and different answers.
    value : ndarray, shape (numbers,)
    stderr : float
        Standard error of each of the numbers if people answer as by fair coins, for which it is the largest.

    Examples
    --------
    >>> from ldpfast.survey import Pairs, Survey, YesNo
    >>> survey = Survey({"a": YesNo(), "b": YesNo(), "both": Pairs("a", "b")}, 4.0, weights={"a": 0, "b": 0})
    >>> found = survey.run({"a": [True, False] * 500, "b": [True, False] * 500}, rng=1)["both"]
    >>> [(moment.names, moment.query.tolist()) for moment in found.moments()]
    [(('a',), [[1.0, -1.0]]), (('b',), [[1.0, -1.0]]), (('a', 'b'), [[1.0, -1.0, -1.0, 1.0]])]
    """

    names: tuple[str, ...]
    query: Floats
    value: Floats
    stderr: float


@dataclass(frozen=True, eq=False, repr=False)
class PairsAnswer(Answer):
    """Joint shares of the answers to every two of many questions.

    Attributes
    ----------
    value : ndarray, shape (cells,)
        Shares of the cells of all tables, one table after the other, in the order of `labels`: the first question with the
        second, with the third, ..., then the second with the third. ``answer["a", "b"]`` is one table. NaN for a table that
        nobody was asked.
    names : tuple of str
        Names of the questions.

    Examples
    --------
    >>> from ldpfast.survey import Choice, Pairs, Survey, YesNo
    >>> asked = {"way": Choice(["foot", "car"]), "smoker": YesNo(), "owner": YesNo()}
    >>> survey = Survey({**asked, "all": Pairs(*asked)}, 6.0, weights=dict.fromkeys(asked, 0))
    >>> people = {"way": ["foot", "car"] * 5000, "smoker": [True, False] * 5000, "owner": [True, True, False, False] * 2500}
    >>> found = survey.run(people, rng=1)["all"]
    >>> found["smoker", "way"].value.shape, found.value.shape
    ((2, 2), (12,))
    >>> bool(found["smoker", "way"].given("way").value[0] > 0.9)  # share of smokers among people on foot
    True
    >>> bool(abs(found.shares["owner"].value - 0.5) < 0.05)
    True
    >>> bool(found.phi.value[0, 1] < -0.9), bool(abs(found.phi.value[0, 2]) < 0.1)
    (True, True)
    """

    names: tuple[str, ...] = ()
    _columns: tuple[QuestionColumn, ...] = ()
    _tables: PairTables = field(default=None)  # type: ignore[assignment]
    declared: ClassVar[bool] = False

    @classmethod
    def of(
        cls,
        names: tuple[str, ...],
        columns: tuple[QuestionColumn, ...],
        tables: PairTables,
        n: Any,
        guarantee: Guarantee,
        numbers: int,
    ) -> PairsAnswer:
        """Return the answer from the tables of some questions, of which `n` people were asked some."""
        pairs = list(itertools.combinations(range(len(columns)), 2))
        lead = np.shape(n)
        # The cells of all tables, one after the other. Tables that nobody was asked have no finite numbers, and become gaps.
        values, variances = [], []
        labels = []
        for i, j in pairs:
            with np.errstate(invalid="ignore", divide="ignore"):
                values.append(tables.table(i, j).reshape(*lead, -1))
                variances.append(tables.variance(i, j).reshape(*lead, -1))
            cells = itertools.product(_labels_of(columns[i]), _labels_of(columns[j]))
            labels += [f"{names[i]} = {a}, {names[j]} = {b}" for a, b in cells]
        value, variance = np.concatenate(values, axis=-1), np.concatenate(variances, axis=-1)
        gaps = ~np.isfinite(value) | ~np.isfinite(variance)
        asked = np.concatenate(
            [np.repeat(tables.asked(i, j)[..., np.newaxis], columns[i].k * columns[j].k, -1) for i, j in pairs],
            -1,
        )
        fewest = int(asked[asked > 0].min()) if (asked > 0).any() else 0
        with np.errstate(divide="ignore", invalid="ignore"):
            shifts = PairShifts.joined([PairShifts.of(tables, i, j) for i, j in pairs])
        rule = TableLimits(needed=Normal.of_sum(n, _share(fewest, n)).needed, shifts=shifts)
        return cls(
            np.where(gaps, np.nan, value),
            np.where(gaps, np.inf, np.sqrt(np.maximum(variance, 0.0))),
            n,
            guarantee,
            None,
            WithGaps(rule, gaps) if gaps.any() else rule,
            labels=tuple(labels),
            _numbers=numbers,
            names=names,
            _columns=columns,
            _tables=tables,
        )

    def __getitem__(self, names: tuple[str, str]) -> CrossAnswer:
        """Return the table of two questions, in the form of the answer to a `Cross`.

        Parameters
        ----------
        names : tuple of str
            Two different questions.

        Returns
        -------
        table : CrossAnswer
            `n` is the number of people who were asked both. The margins are estimated from all people who were asked one of the
            questions.

        Raises
        ------
        KeyError
            If these are not two different questions of the answer.
        """
        if not isinstance(names, tuple) or len(names) != 2 or len(set(names)) != 2 or not set(names) <= set(self.names):
            raise KeyError(f"names must be two different ones of {', '.join(map(repr, self.names))}, got {names!r}")
        i, j = (self.names.index(name) for name in names)
        columns = [self._columns[i], self._columns[j]]
        known = self._is_known(i, j)
        cells = self._tables.table(i, j) if known else np.full([column.k for column in columns], np.nan)
        covariance = self._tables.covariance(i, j) if known else np.eye(cells.size)
        shares = self._shares_of(cells, covariance, int(self._tables.asked(i, j)))
        answer: CrossAnswer = self._as_part(CrossAnswer.of(names, columns, shares, self._numbers), known)
        return answer

    def _shares_of(self, value: Floats, covariance: Floats, n: int) -> Shares:
        return Shares(np.ravel(value), max(n, 1), as_covariance(covariance), self.guarantee)

    def _as_part(self, answer: Any, known: bool) -> Any:
        """Return an answer from the same reports, with the people and the guarantee of this one; without numbers if unknown."""
        answer = answer if self._people is None else answer._of_people(self._people)
        answer = answer._of_survey(self._total, self._survey_reports)
        return answer if known else answer.without_answers(np.array(True))

    @property
    def shares(self) -> dict[str, Answer]:
        """The answer to each question, by its name, in the form of an answer to the question alone.

        `n` is the number of people who were asked it so that the report says something about it alone.
        """
        found = {}
        for i, (name, column) in enumerate(zip(self.names, self._columns, strict=True)):
            n = int(self._tables.answered(i))
            value = self._tables.shares(i) if n else np.full(column.k, np.nan)
            shares = self._shares_of(value, self._tables.share_covariance(i) if n else np.eye(column.k), n)
            found[name] = self._as_part(column.answer(shares, self._numbers), n > 0)
        return found

    @property
    def phi(self) -> Answer:
        """Correlation of every two questions with two answers each, shape (questions, questions).

        Among the people who answered both. NaN on the diagonal, for questions with more answers, and where a margin cannot be
        told from 0. The limits are normal (delta method).
        """
        size = len(self.names)
        value, stderr = np.full((size, size), np.nan), np.full((size, size), np.inf)
        for i, j in self._binary_pairs():
            table = self._tables.table(i, j)[:2, :2].ravel()
            keep = np.ravel_multi_index(
                np.meshgrid([0, 1], [0, 1], indexing="ij"), (self._columns[i].k, self._columns[j].k)
            )
            covariance = self._tables.covariance(i, j)[np.ix_(keep.ravel(), keep.ravel())]
            value[i, j], stderr[i, j] = value[j, i], stderr[j, i] = _phi(table, covariance)
        gaps = ~np.isfinite(value)
        return Answer(
            value,
            stderr,
            self.n,
            self.guarantee,
            None,
            WithGaps(Normal(needed=self._needed), gaps),
            labels=self.names,
            columns=self.names,
            range=(-1.0, 1.0),
            _numbers=self._numbers,
            _quantity="correlation",
            _people=self._people,
            _total=self._total,
        )

    def _binary_pairs(self) -> Iterator[tuple[int, int]]:
        """Yield the places of every two questions with two answers each that somebody was asked."""
        for i, j in itertools.combinations(range(len(self.names)), 2):
            if len(self._columns[i].labels) == len(self._columns[j].labels) == 2 and self._is_known(i, j):
                yield i, j

    def _is_known(self, i: int, j: int) -> bool:
        """Return whether somebody was asked two questions, and each of them in a view that says something about it alone."""
        tables = self._tables
        return bool(tables.weight(i, j) > 0 and tables.informative(i) > 0 and tables.informative(j) > 0)

    def independence(self) -> Table:
        """Test for every two questions whether the answers are independent.

        Returns
        -------
        table : Table
            Columns "first", "second", "statistic", "df", "pvalue" and "adjusted", one row per pair: `CrossAnswer.independence`,
            and the p-values after Holm's adjustment. Whoever rejects where "adjusted" is below a level rejects any independent
            pair with at most this probability. NaN where nobody was asked.

        Raises
        ------
        ValueError
            If too few people answered optional questions to tell their share from 0.

        Warns
        -----
        SmallSampleWarning
            If few people were asked some of the pairs.
        """
        pairs = itertools.combinations(range(len(self.names)), 2)
        known = [(self.names[i], self.names[j]) if self._is_known(i, j) else None for i, j in pairs]
        return independence_of_pairs(self.names, [pair and self[pair] for pair in known])

    def moments(self) -> list[PairMoment]:
        """Return what the reports say, as few numbers with nearly independent errors, from which all tables follow.

        Programs for synthetic data fit a distribution to them; one measurement per table would count the margins several times.

        Returns
        -------
        moments : list of PairMoment
            One for each question, and one for each pair. Those that nobody was asked are left out.
        """
        found = []
        contrasts = [_contrasts(column.k) for column in self._columns]
        for i, name in enumerate(self.names):
            weight = float(self._tables.informative(i))
            if weight:
                value = contrasts[i] @ self._tables.shares(i)
                found.append(PairMoment((name,), contrasts[i], value, weight**-0.5))
        for i, j in itertools.combinations(range(len(self.names)), 2):
            weight = float(self._tables.weight(i, j))
            if weight:
                query = np.asarray(np.kron(contrasts[i], contrasts[j]), np.float64)
                value = query @ self._tables.interaction(i, j).ravel()
                found.append(PairMoment((self.names[i], self.names[j]), query, value, weight**-0.5))
        return found

    def table(self, confidence: float = 0.95, simultaneous: bool = False) -> Table:
        """Return all cells as a table, one row per cell.

        Parameters
        ----------
        confidence, simultaneous
            As for `interval`.

        Returns
        -------
        table : Table
            Columns "first", "answer", "second", "its answer", "share", "stderr", "low" and "high".
        """
        low, high = self.interval(confidence, simultaneous)
        rows: dict[str, list[Any]] = {name: [] for name in ("first", "answer", "second", "its answer")}
        for i, j in itertools.combinations(range(len(self.names)), 2):
            for a, b in itertools.product(_labels_of(self._columns[i]), _labels_of(self._columns[j])):
                for column, entry in zip(rows.values(), (self.names[i], str(a), self.names[j], str(b)), strict=True):
                    column.append(entry)
        numbers = {"share": self.value, "stderr": self.stderr, "low": low, "high": high}
        return Table({**rows, **{name: np.asarray(column).tolist() for name, column in numbers.items()}})

    def to_frame(self, confidence: float = 0.95, simultaneous: bool = False) -> Any:
        """Return `table` as a pandas DataFrame.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return self.table(confidence, simultaneous).to_frame()

    def plot(self, ax: Any = None, *, confidence: float = 0.95, simultaneous: bool = False) -> Any:
        """Draw the correlations `phi` as a heat map.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; those of a new figure by default.
        confidence : float, default 0.95
            Confidence level. Correlations whose interval has 0 in it are in parentheses.
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
            If `confidence` is not a number in (0, 1); if no two questions have two answers each.
        """
        phi = self.phi
        if not np.isfinite(phi.value).any():
            raise ValueError(
                "a heat map needs two questions with two answers each; answer[a, b].plot() draws one table"
            )
        low, high = phi.interval(confidence, simultaneous)
        clear = (low > 0) | (high < 0)
        texts = [
            "" if math.isnan(x) else f"{x:.2f}" if is_clear else f"({x:.2f})"
            for x, is_clear in zip(phi.value.flat, clear.flat, strict=True)
        ]
        ax = axes(ax)
        kind = self._interval_text(confidence, simultaneous)
        draw_matrix(ax, np.nan_to_num(phi.value), self.names, self.names, "correlation", texts)
        ax.set_xlabel(f"in parentheses: 0 is in the {kind}\n{self._source_text()}")
        return ax


def _labels_of(column: QuestionColumn) -> tuple[Any, ...]:
    return (*column.labels, NO_ANSWER) if column.optional else column.labels


def _share(fewest: int, n: Any) -> float:
    """Return the share of the people who were asked the pair that the fewest were asked."""
    return min(1.0, max(fewest, 1) / max(1, int(np.min(n))))


def _contrasts(answers: int) -> Floats:
    """Return orthogonal differences of the shares of answers, shape (answers - 1, answers), with the squared norm `answers`.

    For fair answers, they have the variance 1 and are not correlated. For two answers: the first less the second.
    """
    rows = []
    for place in range(1, answers):
        row = np.zeros(answers)
        row[:place], row[place] = 1.0, -float(place)
        rows.append(row * math.sqrt(answers / (row @ row)))
    return np.array(rows)


def _phi(table: Floats, covariance: Floats) -> tuple[float, float]:
    """Return the correlation of two answers and its standard error, from the shares of the cells; NaN for empty margins."""
    no_no, no_yes, yes_no, yes_yes = table.tolist()
    sums = np.array([no_no + no_yes, yes_no + yes_yes, no_no + yes_no, no_yes + yes_yes])
    of_cells = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]], np.float64)
    errors = np.sqrt(np.maximum(np.diagonal(of_cells @ covariance @ of_cells.T), 0.0))
    if (sums <= 2 * errors).any():
        return math.nan, math.inf
    product = math.sqrt(float(np.prod(sums)))
    phi = (no_no * yes_yes - no_yes * yes_no) / product
    slope = np.array([yes_yes, -yes_no, -no_yes, no_no]) / product - phi / 2 * (of_cells / sums[:, np.newaxis]).sum(
        axis=0
    )
    return phi, math.sqrt(max(0.0, float(slope @ covariance @ slope)))
