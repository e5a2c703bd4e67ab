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
from ..results import Estimate, People, SmallSampleWarning
from ._answers import Answer

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
    ) -> None:
        self._answers = {name: answer._of_survey(guarantee) for name, answer in answers.items()}
        self.n, self.guarantee = n, guarantee
        self._asked = dict(asked or {})

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
        return SurveyResult(answers, self.n, self.guarantee, self._asked)

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
