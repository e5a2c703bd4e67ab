"""Answers of a survey: estimates with labels, tables of two questions, and the result that holds all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .. import _check
from .._plots import axes, caption, draw_intervals, draw_matrix, figure, text_of, unit_of
from .._table import Table, decimals, estimate_columns, html_table
from .._typing import Floats
from ..privacy import Guarantee
from ..results import Estimate
from ._questions import NO_ANSWER, ColumnQuestion, Histogram
from ._shares import Shares

ONE_SIGMA = 0.15865525393145707  # probability that a normal variable is more than one standard deviation above its mean


@dataclass(frozen=True, eq=False, repr=False)
class Answer(Estimate[Any]):
    """The answer to a question of a survey.

    Attributes
    ----------
    value, stderr : float or ndarray
        The share of yes, the mean, or one share per label; among the people who answered, if the question is optional.
    n : int
        Number of people who were asked.
    labels : tuple or None
        Labels of the entries of `value`, or of its rows; None for a single number.
    columns : tuple or None
        Labels of the columns of `value`, if it is a table.
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

    labels: tuple[Any, ...] | None = None
    columns: tuple[Any, ...] | None = None
    missing: Answer | None = None
    range: tuple[float, float] = (0.0, 1.0)
    _numbers: int = 1  # reported by the whole survey

    @classmethod
    def of_number(cls, found: Estimate[Any], range: tuple[float, float], numbers: int) -> Answer:
        """Return the answer of a mean that was sent as a number."""
        return cls(**_estimate_fields(found), range=range, _numbers=numbers)

    def interval(self, confidence: float = 0.95, simultaneous: bool = False) -> tuple[Any, Any]:
        """Return limits that contain the true value with the given probability.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level, in (0, 1).
        simultaneous : bool, default False
            Whether the limits hold simultaneously for everything that the result of the survey reports (Bonferroni),
            instead of for each number separately.

        Returns
        -------
        low, high : float or ndarray
            Limits of the shape of `value`, clipped to its range. Where the reports exclude no value, they are the whole
            range.

        Raises
        ------
        TypeError, ValueError
            If `confidence` is not a number in (0, 1).

        Warns
        -----
        SmallSampleWarning
            If the limits are normal, such as those of pooled answers, or the noise is Laplace noise, and there are fewer
            than 30 reports.
        """
        tail = (1 - _check.probability("confidence", confidence)) / 2
        self._warn_few()
        if _check.flag("simultaneous", simultaneous):
            tail /= self._numbers
        return self._limits_at(tail)

    def _limits_at(self, tail: float = (1 - 0.95) / 2) -> tuple[Any, Any]:
        low, high = self.rule.bounds(np.asarray(self.value), np.asarray(self.stderr), tail)
        low, high = np.clip(low, *self.range), np.clip(high, *self.range)
        return (float(low), float(high)) if np.ndim(self.value) == 0 else (low, high)

    def _names(self) -> tuple[str, str]:
        return "share" if self.range == (0.0, 1.0) else "mean", "answer"

    def _entries(self, places: Sequence[int]) -> list[str]:
        entries = self.entries
        return [entries[at] for at in places]

    def _parts(self) -> list[tuple[str, Estimate[Any]]]:
        parts = super()._parts()
        return parts if self.missing is None else [*parts, (NO_ANSWER, self.missing)]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of `Estimate.to_dict`, with the labels and the share without an answer."""
        described = super().to_dict()
        for name in ("labels", "columns"):
            if getattr(self, name) is not None:
                described[name] = [str(label) for label in getattr(self, name)]
        if self.missing is not None:
            described["missing"] = self.missing.to_dict()
        return described

    @property
    def entries(self) -> list[str]:
        """Label of every number, in the order of the flattened value; an empty text for a single number."""
        rows = [""] if self.labels is None else list(map(str, self.labels))
        return rows if self.columns is None else [f"{row}, {column}" for row in rows for column in self.columns]


@dataclass(frozen=True, eq=False, repr=False)
class HistogramAnswer(Answer):
    """Shares of the bins of a number, with its distribution function and quantiles.

    Attributes
    ----------
    edges : tuple of float
        Ends of the bins.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.survey import Histogram, Survey
    >>> survey = Survey({"age": Histogram([0, 20, 40, 60, 80])}, 4.0)
    >>> age = survey.run({"age": np.arange(8000) % 80}, rng=1)["age"]
    >>> bool(abs(age.quantile(0.5).value - 40) < 3)
    True
    >>> age.cdf().labels
    ('up to 20', 'up to 40', 'up to 60')
    """

    edges: tuple[float, ...] = ()
    _shares: Shares = field(default=None)  # type: ignore[assignment]
    _question: Histogram = field(default=None)  # type: ignore[assignment]

    def cdf(self) -> Answer:
        """Return the distribution function at the upper end of every bin but the last.

        Returns
        -------
        cdf : Answer
            Shape (k - 1,); Fieller's limits for an optional question.
        """
        bins = len(self.edges) - 1
        labels = tuple(f"up to {end}" for _, end in self._question.bin_texts()[:-1])
        found = _among_answers(self._shares, np.tri(bins - 1, bins), self._question.optional)
        return _answer(found, self, labels=labels)

    def quantile(self, q: float = 0.5) -> Answer:
        """Return a quantile of the numbers; the default is the median.

        Parameters
        ----------
        q : float, default 0.5
            Probability, in (0, 1).

        Returns
        -------
        quantile : Answer
            The value interpolates linearly within a bin. If the question is about integers, it is the first whole number at
            which the distribution function reaches `q`, with equal shares of the whole numbers of a bin. The limits are ends
            of bins: those between which the distribution function can reach `q`. They contain the true quantile with at least
            the given probability.

        Raises
        ------
        TypeError, ValueError
            If `q` is not a number in (0, 1).
        """
        q, cdf = _check.probability("q", q), self.cdf()
        heights = np.concatenate([[0.0], np.clip(np.maximum.accumulate(cdf.value), 0, 1), [1.0]])
        last = int(np.flatnonzero(heights < q)[-1])  # heights[0] = 0 is
        rise = (q - heights[last]) / (heights[last + 1] - heights[last])
        starts, ends = np.asarray(self._question.starts), np.asarray(self._question.ends)
        if self._question.integers:
            value = float(starts[last] + np.ceil(rise * (ends[last] - starts[last] + 1)) - 1)
        else:
            value = float(starts[last] + rise * (ends[last] - starts[last]))
        rule = _Crossing(cdf, q, starts, ends)
        low, high = rule.bounds(np.asarray(value), np.asarray(0.0), ONE_SIGMA)
        found = Estimate(value, float(high - low) / 2, self.n, self.guarantee, None, rule)
        return _answer(found, self, range=(self.edges[0], self.edges[-1]))


@dataclass(frozen=True)
class _Crossing:
    """Limits of a quantile: the ends of the bins in which a distribution function can reach a probability.

    The lower limit is too high only if the function is too low at the end of the bin of the quantile, and the upper limit is
    too low only if it is too high at the end of the bin before it. So each limit fails with the probability of one limit of the
    function.
    """

    cdf: Answer
    q: float
    starts: Floats
    ends: Floats

    @property
    def needed(self) -> int:
        """Number of reports that the distribution function needs if there are too few, else 0."""
        return self.cdf._needed

    def bounds(self, value: Floats, stderr: Floats, tail: float) -> tuple[Floats, Floats]:
        low, high = self.cdf.rule.bounds(np.asarray(self.cdf.value), np.asarray(self.cdf.stderr), tail)
        reached, unreached = np.flatnonzero(high >= self.q), np.flatnonzero(low < self.q)
        first = int(reached[0]) if len(reached) else len(low)
        last = int(unreached[-1]) if len(unreached) else -1
        return np.asarray(self.starts[first]), np.asarray(self.ends[last + 1])


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
        return answer_to(self._questions[axis], self._shares.margin(self.value.shape, axis), self._numbers)

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
        groups, answered = len(condition.labels), len(other.labels)
        weights = other.statistic
        rows = np.zeros((groups, *weights.shape[:-1], condition.k, other.k))
        given = np.zeros_like(rows)
        for group in range(groups):
            rows[group, ..., group, :answered] = weights
            given[group, ..., group, :answered] = 1
        if axis == 1:
            rows, given = np.swapaxes(rows, -1, -2), np.swapaxes(given, -1, -2)
        flat = (*rows.shape[:-2], -1)
        found = self._shares.ratio(rows.reshape(flat), given.reshape(flat))
        columns = None if other.scalar else other.labels
        return _answer(found, self, labels=condition.labels, columns=columns, range=other.range)

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


# Construction ---------------------------------------------------------------------------------------------------------


def _answer(found: Estimate[Any], like: Answer, **fields: Any) -> Answer:
    """Return an answer with an estimate and some fields, from the same reports as another answer."""
    return Answer(**_estimate_fields(found), _numbers=like._numbers, **fields)


def _estimate_fields(found: Estimate[Any]) -> dict[str, Any]:
    value, stderr = (float(x) if np.ndim(x) == 0 else x for x in (found.value, found.stderr))
    return {"value": value, "stderr": stderr, "n": found.n, "guarantee": found.guarantee, "rule": found.rule}


def _among_answers(shares: Shares, weights: Floats, optional: bool) -> Estimate[Any]:
    """Return weighted sums of the shares, among the people who answered if the question is optional."""
    if not optional:
        return shares.linear(weights)
    padding = [(0, 0)] * (weights.ndim - 1) + [(0, 1)]
    return shares.ratio(np.pad(weights, padding), np.pad(np.ones_like(weights), padding))


def answer_to(question: ColumnQuestion, shares: Shares, numbers: int) -> Answer:
    """Return the answer to a question from the shares of its symbols.

    Parameters
    ----------
    question : ColumnQuestion
    shares : Shares
        Shares of its k symbols.
    numbers : int
        How many numbers the whole survey reports.
    """
    missing = None
    if question.optional:
        last = np.zeros(question.k)
        last[-1] = 1
        missing = Answer(**_estimate_fields(shares.linear(last)), _numbers=numbers)
    found = _estimate_fields(_among_answers(shares, question.statistic, question.optional))
    fields: dict[str, Any] = {
        "labels": None if question.scalar else question.labels,
        "missing": missing,
        "range": question.range,
        "_numbers": numbers,
    }
    if isinstance(question, Histogram):
        return HistogramAnswer(**found, **fields, edges=question.edges, _shares=shares, _question=question)
    return Answer(**found, **fields)


def cross_answer(
    names: tuple[str, str], questions: tuple[ColumnQuestion, ColumnQuestion], shares: Shares, numbers: int
) -> CrossAnswer:
    """Return the table of two questions from the shares of all pairs of their symbols."""
    shape = (questions[0].k, questions[1].k)
    found = shares.linear(np.eye(len(shares.value)).reshape(*shape, -1))
    labels, columns = (
        (*question.labels, NO_ANSWER) if question.optional else question.labels for question in questions
    )
    return CrossAnswer(
        **_estimate_fields(found),
        labels=labels,
        columns=columns,
        _numbers=numbers,
        names=names,
        _questions=questions,
        _shares=shares,
    )


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

    def __init__(self, answers: Mapping[str, Answer], n: int, guarantee: Guarantee) -> None:
        self._answers = dict(answers)
        self.n, self.guarantee = n, guarantee

    def __getitem__(self, name: str) -> Answer:
        if name not in self._answers:
            raise KeyError(f"{name!r} is not a question of the survey, which has {', '.join(map(repr, self._answers))}")
        return self._answers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._answers)

    def __len__(self) -> int:
        return len(self._answers)

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
                yield name, [label] if label else answer.entries, part

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
        """Draw all answers with their intervals, one panel per question.

        Limits are cut at the range of the answer. An estimate outside of it is a hollow point at the nearer limit.

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
        heights = [len(answer.entries) + 1.6 for answer in self.values()]
        page = figure(8, 0.26 * sum(heights) + 0.5)
        panels = page.subplots(len(self), 1, squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0]
        is_hollow = False
        for (name, answer), ax in zip(self.items(), panels, strict=True):
            numbers = map(np.ravel, (answer.value, *answer.interval(confidence)))
            is_hollow |= draw_intervals(ax, answer.entries, *numbers)
            quantity = answer._names()[0]
            ax.set_title(f"{text_of(name)}: {quantity}{unit_of(quantity)}", fontsize=10, loc="left")
        kind = f"{100 * confidence:g} % interval"
        panels[-1].set_xlabel(f"estimate with {kind}, n = {self.n:,}, {self._total()}{caption(is_hollow)}")
        if path is not None:
            page.savefig(path, dpi=120)
        return page

    def _total(self) -> str:
        return f"total epsilon = {self.guarantee.epsilon:.6g} per person"

    def __repr__(self) -> str:
        table = self._table(lambda part: part._bounds())
        return f"{table!r}\nn = {self.n:,}, {self._total()}, 95 % intervals"

    def _repr_html_(self) -> str:
        columns: dict[str, list[str]] = {"question": [], "answer": []}
        for name, labels, part in self._labeled_parts():
            numbers = estimate_columns(part.value, part.stderr, *part._bounds())
            numbers |= {"question": [name] * len(labels), "answer": labels, "n": [f"{part.n:,}"] * len(labels)}
            for column, texts in numbers.items():
                columns.setdefault(column, []).extend(texts)
        note = f"n = {self.n:,}, {self._total()}, 95 % intervals"
        return html_table(columns, {"question", "answer"}, note)
