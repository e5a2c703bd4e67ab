"""The result of a survey: the answers to all questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .._plots import caption, draw_intervals, largest, left_out, panels_of_rows, rows_shown, text_of
from .._table import Table, estimate_columns, html_table
from .._warnings import warn
from ..privacy import Guarantee
from ..reports import Counts
from ..results import Estimate, People, SmallSampleWarning
from ._answers import Answer
from ._group_weights import GroupWeights
from ._publication import Publication
from ._published_tables import PublishOptions, counts_of_tables, publish_all

NO_ANSWERS = "no answers"  # instead of an estimate, where nobody was asked


class SurveyResult(Mapping[str, Answer]):
    """The answers to all questions of a survey, by their names.

    Attributes
    ----------
    n : int
        Number of people who took part.
    guarantee : privacy.Guarantee
        Privacy guarantee of each person, for all answers together.

    Examples
    --------
    >>> from ldpfast.survey import Survey, YesNo
    >>> survey = Survey({"smoker": YesNo(), "drinks": YesNo()}, 2.0)
    >>> result = survey.run({"smoker": [True] * 99, "drinks": [False] * 99}, rng=1)
    >>> list(result), result.n
    (['smoker', 'drinks'], 99)
    >>> result.table()["question"]
    ['smoker', 'drinks']
    """

    def __init__(
        self,
        answers: Mapping[str, Answer],
        n: int,
        guarantee: Guarantee,
        asked: Mapping[str, frozenset[str]] | None = None,
        counts: tuple[Counts, GroupWeights | None] | None = None,
    ) -> None:
        self._answers = {name: answer._of_survey(guarantee, n) for name, answer in answers.items()}
        self.n, self.guarantee = n, guarantee
        self._asked = dict(asked or {})
        self._counts = counts

    def __getitem__(self, name: str) -> Answer:
        if name not in self._answers:
            raise KeyError(f"{name!r} is not a question of the survey, which has {', '.join(map(repr, self._answers))}")
        return self._answers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._answers)

    def __len__(self) -> int:
        return len(self._answers)

    def _of_people(self, people: People) -> SurveyResult:
        """Return the result with the people whose reports it is made of; `Aggregator.estimate` calls it."""
        answers = {
            name: answer._of_people(replace(people, asked=self._asked.get(name))) for name, answer in self.items()
        }
        return SurveyResult(answers, self.n, self.guarantee, self._asked, self._counts)

    def _of_counts(self, counts: Counts, weights: GroupWeights | None = None) -> SurveyResult:
        """Return the result with the counts that it is made of, and the weights of their groups."""
        return SurveyResult(self._answers, self.n, self.guarantee, self._asked, (counts_of_tables(counts), weights))

    def publish(
        self,
        *,
        round: int = 1,
        suppress: float | None = 0.5,
        population: int | None = None,
        invited: int | None = None,
        period: str | int | None = None,
        confidence: float = 0.95,
        title: str = "Results of the survey",
    ) -> Publication:
        """Return tables that can be published: no number is negative, and all tables add up.

        Parameters
        ----------
        round : int, default 1
            Base of the numbers of people, which are its multiples, such as 10.
        suppress : float or None, default 0.5
            Numbers whose standard error is larger than `suppress` times the number are suppressed; None for none. Their quality
            is the reason: the reports are private, so that nobody is protected by suppression, and no other numbers are
            suppressed to hide them.
        population : int, optional
            Number of people of the population, which the shares are multiplied by; by default those who took part.
        invited : int, optional
            Number of people who were asked to take part, for the rate of response.
        period : str or int, optional
            Year, or other time, for the column "TIME_PERIOD".
        confidence : float, default 0.95
            Confidence level of the intervals, in (0, 1).
        title : str, optional
            Title of pages and files.

        Returns
        -------
        publication : Publication
            With "no answer" as one more label of optional questions, so that all tables are of the same people; those in which
            only a `Cross` has a question; and means, of a `Cross` for each cell of its other questions. Its `quality` has for
            each table the number of people, the rate of response, the number of answers, the share without an answer, how many
            records were clipped where that is known, how many of its numbers are suppressed, the coverage of the limits in
            simulated surveys, and the design effect: the variance, divided by the variance for as many people without privacy;
            both for shares.

        Raises
        ------
        TypeError, ValueError
            If an argument is out of range; if the result is not that of one survey or wave, its groups or their calibration; if
            a group is called "all" or "_T", or a label "_T".

        Warns
        -----
        DoubtfulWarning
            If questions are left out: `Pairs`, tables of several means or of more than 2,048 cells, and what has no weights.

        Notes
        -----
        The tables are the nearest ones to the unbiased estimates among those without negative cells that agree with each
        other, by weighted least squares with the covariance of the errors, which is known (a quadratic program). Estimates
        that agree and are not negative do not change. Otherwise the numbers are biased, but nearer to the truth: those near 0
        are too large in the mean, and large ones of the same table too small. Standard errors are the roots of the mean squared
        error in 50 to 400 simulated surveys of a population with the published numbers, which are projected as well. The limits
        belong to the estimates that agree with each other but can be negative, which have no bias; they are cut at 0 and 1,
        and contain the published number. For numbers near 0 they cover up to (1 + `confidence`) / 2.

        Texts, distributions of numbers, options of `Several` and means that are sent as numbers have no such tables: they are
        as in `table`, moved to the nearer end where they are out of range.

        Numbers of people are rounded so that they still add up: the largest remainders of the cells of the finest table are
        rounded up, and other tables are their sums; an integer program where a margin would move by the base or more, and for
        several tables with common margins. What a group loses by rounding, the next one gets. Standard errors have what
        rounding has moved. O(c^3) time for c cells of tables with common questions.

        References
        ----------
        .. [1] L. H. Cox, "A constructive procedure for unbiased controlled rounding", JASA, 1987.

        Examples
        --------
        >>> from ldpfast.survey import Survey, YesNo
        >>> result = Survey({"smokes": YesNo()}, 4.0).run({"smokes": [True, False, False, False] * 500}, rng=1)
        >>> table = result.publish(population=80_000, round=100).tables["smokes"]
        >>> table["smokes"], sum(table["people"])
        (['no', 'yes'], 80000)
        """
        if self._counts is None:
            raise ValueError(
                "the result must be that of one survey or wave, its groups or their calibration, to be published"
            )
        options = PublishOptions.of(
            round=round, suppress=suppress, invited=invited, period=period, confidence=confidence, title=title
        )
        counts, weights = self._counts
        return publish_all(counts, weights, self, population, options)

    def table(self, confidence: float = 0.95, simultaneous: bool = False) -> Table:
        """Return all numbers as a table with one row per number.

        Parameters
        ----------
        confidence, simultaneous
            As for `Answer.interval`.

        Returns
        -------
        table : Table
            Columns "question", "answer", "estimate", "stderr", "low", "high" and "n". The share of people without an
            answer follows the answers of an optional question.

        Raises
        ------
        TypeError, ValueError
            As for `Answer.interval`.

        Warns
        -----
        SmallSampleWarning
            As for `Answer.interval`.
        """
        return self._table(lambda part: part.interval(confidence, simultaneous))

    _entry_table = table

    def table_of_groups(self, values: Sequence[Any], confidence: float, simultaneous: bool) -> Table:
        """Return the tables of groups one after the other, where the first axis of every answer is the group."""
        names = []
        labels = []
        few = 0
        columns: dict[str, list[Any]] = {name: [] for name in ("estimate", "stderr", "low", "high", "n")}
        for name, entries, part in self._labeled_parts():
            assert isinstance(part, Answer)
            few = max(few, int(np.sum((np.asarray(part.n) < part._needed) & (np.asarray(part.n) > 0))))
            names += [name] * len(entries)
            labels += entries
            shape, limits = (len(values), len(entries)), part._interval_at(confidence, simultaneous)
            for column, numbers in zip(columns.values(), (part.value, part.stderr, *limits), strict=False):
                column.append(np.reshape(numbers, shape))
            columns["n"].append(np.broadcast_to(np.reshape(part.n, (-1, 1)), shape))
        if few:
            warn(f"{few} groups have too few reports for normal limits to be reliable", SmallSampleWarning)
        rows = {name: np.concatenate(column, axis=1).ravel().tolist() for name, column in columns.items()}
        groups = [value for value in values for _ in labels]
        return Table({"group": groups, "question": names * len(values), "answer": labels * len(values), **rows})

    def dicts_of_groups(self, size: int) -> list[dict[str, Any]]:
        """Return what `to_dict` would return for each group, where the first axis of every answer is the group."""
        numbers: list[int] = np.broadcast_to(self.n, size).tolist()
        answers = {name: _split(answer.to_dict(), size) for name, answer in self.items()}
        guarantee = self.guarantee.to_dict()
        return [
            {"n": n, "guarantee": guarantee, "answers": {name: parts[i] for name, parts in answers.items()}}
            for i, n in enumerate(numbers)
        ]

    def _table(self, limits: Callable[[Estimate[Any]], tuple[Any, Any]]) -> Table:
        """Return all numbers as a table, with limits by a function of an answer."""
        rows: dict[str, list[Any]] = {
            name: [] for name in ("question", "answer", "estimate", "stderr", "low", "high", "n")
        }
        for name, labels, part in self._labeled_parts():
            low, high = limits(part)
            numbers = (np.ravel(x).tolist() for x in (part.value, part.stderr, low, high))
            columns = ([name] * len(labels), labels, *numbers, [part.n] * len(labels))
            for column, values in zip(rows.values(), columns, strict=True):
                column += values
        return Table(rows)

    def _labeled_parts(self) -> Iterator[tuple[str, list[str], Estimate[Any]]]:
        """Yield the estimates of all questions, each with the name of the question and the labels of its numbers."""
        for name, answer in self.items():
            for label, part in answer._parts():
                yield name, [label] if label else part.entries, part  # type: ignore[attr-defined]

    def anytime_interval(self, confidence: float = 0.95) -> dict[str, tuple[Any, Any]]:
        """Return limits of all answers that hold for all numbers of reports at once.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level of the limits of one number, in (0, 1).

        Returns
        -------
        limits : dict
            `Answer.anytime_interval` by the names of the questions. Texts that were found, `Pairs` and `Number` have none,
            and are left out.

        Raises
        ------
        TypeError, ValueError
            As for `Answer.anytime_interval`.
        """
        declared = {name: answer for name, answer in self.items() if answer.declared}
        return {name: answer.anytime_interval(confidence) for name, answer in declared.items()}

    def to_frame(self, confidence: float = 0.95, simultaneous: bool = False) -> Any:
        """Return `table` as a pandas DataFrame.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return self.table(confidence, simultaneous).to_frame()

    def to_arrow(self, confidence: float = 0.95, simultaneous: bool = False) -> Any:
        """Return `table` as a pyarrow Table.

        Raises
        ------
        ImportError
            If pyarrow is not installed.
        """
        return self.table(confidence, simultaneous).to_arrow()

    def to_dict(self) -> dict[str, Any]:
        """Return the answers, the number of people and the guarantee as types for JSON."""
        answers = {name: answer.to_dict() for name, answer in self.items()}
        return {"n": self.n, "guarantee": self.guarantee.to_dict(), "answers": answers}

    def plot(self, path: str | Path | None = None, confidence: float = 0.95) -> Any:
        """Draw all answers with their intervals, one panel per question: of a `Number` the distribution function with its band.

        Limits are cut at the range of the answer. An estimate outside of it is a hollow point at the nearer limit. A figure has
        room for about 150 rows: of more, the largest numbers of each panel are shown, and its title says so; `table` has all.

        Parameters
        ----------
        path : str or Path, optional
            File to write; the suffix determines the format.
        confidence : float, default 0.95
            Confidence level of the intervals.

        Returns
        -------
        figure : matplotlib.figure.Figure

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        answers = {name: answer._listed() for name, answer in self.items()}
        counts = dict(zip(self, rows_shown([answer._panel_rows for answer in answers.values()]), strict=True))
        shown = [name for name, answer in answers.items() if counts[name] or not answer.entries]
        page, panels = panels_of_rows([counts[name] for name in shown])
        is_hollow = False
        for name, ax in zip(shown, panels, strict=True):
            answer, total = answers[name], len(answers[name].entries)
            if answer._draw_panel(ax, text_of(name), confidence):
                continue
            numbers = [np.ravel(x) for x in (answer.value, *answer.interval(confidence))]
            places = largest(numbers[0], counts[name])
            is_hollow |= draw_intervals(
                ax, [answer.entries[i] for i in places], *(column[places] for column in numbers)
            )
            cut = f", the {len(places)} largest of {total}" if len(places) < total else ""
            ax.set_title(f"{text_of(name)}: {answer._names()[0]}{answer._unit()}{cut}", fontsize=10, loc="left")
        kind = f"{100 * confidence:g} % interval"
        rest = caption(is_hollow) + left_out([name for name in self if name not in shown])
        panels[-1].set_xlabel(f"estimate with {kind}, n = {self.n:,}, {self._total()}{rest}")
        if path is not None:
            page.savefig(path, dpi=120)
        return page

    def _total(self) -> str:
        return f"total epsilon = {self.guarantee.epsilon:.6g} per person"

    def _source(self) -> str:
        return f"n = {self.n:,}, {self._total()}, 95 % intervals"

    def notes(self) -> list[str]:
        """Return what has to be known about answers, a text for each question that has something."""
        return [f"{name}: {answer.note}" for name, answer in self.items() if answer.note]

    def __repr__(self) -> str:
        columns = self._table(lambda part: part._bounds()).columns
        columns["estimate"] = [x if n else NO_ANSWERS for x, n in zip(columns["estimate"], columns["n"], strict=True)]
        table = Table(columns)
        return "\n".join([repr(table), self._source(), *self.notes()])

    def _repr_html_(self) -> str:
        columns: dict[str, list[str]] = {"question": [], "answer": []}
        for name, labels, part in self._labeled_parts():
            numbers = estimate_columns(part.value, part.stderr, *part._bounds())
            if not part.n:
                numbers["estimate"] = [NO_ANSWERS] * len(labels)
            numbers |= {"question": [name] * len(labels), "answer": labels, "n": [f"{part.n:,}"] * len(labels)}
            for column, texts in numbers.items():
                columns.setdefault(column, []).extend(texts)
        return html_table(columns, {"question", "answer"}, "; ".join([self._source(), *self.notes()]))


def _split(described: dict[str, Any], size: int) -> list[dict[str, Any]]:
    """Return the fields of the answers of groups, from those of an answer whose first axis is the group."""
    numbers: list[int] = np.broadcast_to(described["n"], size).tolist()
    low, high = described["interval"]
    missing = _split(described["missing"], size) if "missing" in described else []
    parts: list[dict[str, Any]] = []
    for i, n in enumerate(numbers):
        own = {"value": described["value"][i], "stderr": described["stderr"][i], "interval": [low[i], high[i]], "n": n}
        parts.append({**described, **own, **({"missing": missing[i]} if missing else {})})
    return parts
