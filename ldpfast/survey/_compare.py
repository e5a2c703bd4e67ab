"""Comparisons of groups, waves or surveys: differences of all answers, with simultaneous intervals."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _check
from .._plots import draw_intervals, draw_trends, largest, left_out, panels_of_rows, rows_shown, text_of
from .._table import Table
from .._typing import Floats
from .._warnings import warn
from ..results import Estimate, Joined, LabeledEstimate, require_alike, require_no_overlap, selected
from ._answers import Answer
from ._text import TextAnswer

if TYPE_CHECKING:
    from ._result import SurveyResult

MAX_CURVES = 12  # numbers of an answer whose trend can be told from others


@dataclass(frozen=True, eq=False)
class SurveyComparison:
    """Differences of the answers of groups of people, waves or surveys; the result of `compare`.

    Attributes
    ----------
    confidence : float
        Confidence level of the intervals, which hold for all numbers at once (Bonferroni): those of primary questions for
        all of their numbers.
    names : tuple
        Names of what is compared.
    differences : dict
        `LabeledEstimate` objects by the names of the question, of a group and of the group that it is compared with.
    answers : dict
        The answers that are compared, by the names of the group and of the question.
    apart : dict
        Labels that are not compared everywhere because some results do not have them, by the names of questions.
    primary : tuple of str
        Questions that were named as primary.

    Examples
    --------
    >>> from ldpfast.survey import Survey, YesNo, compare
    >>> survey = Survey({"smokes": YesNo(), "drinks": YesNo()}, 2.0)
    >>> frame = {"smokes": [True, False] * 5000, "drinks": [True] * 10_000, "region": ["N", "S"] * 5000}
    >>> comparison = compare(survey.run(frame, by="region", rng=1))
    >>> comparison.table["question"]
    ['smokes', 'drinks']
    >>> bool(comparison.table["adjusted"][0] < 0.001)
    True
    """

    confidence: float
    names: tuple[Hashable, ...]
    differences: dict[tuple[str, Hashable, Hashable], LabeledEstimate]
    answers: dict[tuple[Hashable, str], Estimate[Any]]
    apart: dict[str, tuple[str, ...]] = field(default_factory=dict)
    primary: tuple[str, ...] = ()

    @property
    def table(self) -> Table:
        """The differences, one row per number.

        Columns "question", "answer", "group", "reference", "difference", "stderr", "low", "high", "pvalue", "adjusted" (by
        Holm's method, over all rows; over those of primary questions, for their rows) and "n", the number of reports of both
        groups. With primary questions, "primary" tells which rows are theirs; they come first.
        """
        columns: dict[str, list[Any]] = {name: [] for name in ("question", "answer", "group", "reference")}
        numbers: dict[str, list[Any]] = {name: [] for name in ("difference", "stderr", "low", "high", "pvalue")}
        people: list[int] = []
        for (question, group, reference), found in self.differences.items():
            size = np.size(found.value)
            texts: tuple[list[Any], ...] = ([question] * size, [*found.labels], [group] * size, [reference] * size)
            for column, values in zip(columns.values(), texts, strict=True):
                column += values
            found._warn_few()
            key = question, group, reference
            parts = (found.value, found.stderr, *self._limits[key], self._pvalues[key])
            for column, part in zip(numbers.values(), parts, strict=True):
                column += np.ravel(part).tolist()
            people += [found.n] * size
        pvalues, are_primary = np.array(numbers["pvalue"]), np.isin(columns["question"], self.primary)
        adjusted = holm(pvalues)
        adjusted[are_primary] = holm(pvalues[are_primary])
        table = {**columns, **numbers, "adjusted": adjusted.tolist(), "n": people}
        return Table({**table, "primary": are_primary.tolist()} if self.primary else table)

    @cached_property
    def _joined(self) -> Joined:
        return Joined(list(self.differences.values()))

    @cached_property
    def _limits(self) -> dict[tuple[str, Hashable, Hashable], tuple[Any, Any]]:
        """The limits of all differences, cut at the ends of their ranges."""
        limits = self._limits_of(self.differences, self._joined)
        first = {key: found for key, found in self.differences.items() if key[0] in self.primary}
        return limits | self._limits_of(first, Joined(list(first.values()))) if first else limits

    def _limits_of(
        self, family: Mapping[tuple[str, Hashable, Hashable], LabeledEstimate], joined: Joined
    ) -> dict[tuple[str, Hashable, Hashable], tuple[Any, Any]]:
        """Return the limits of some differences, which hold for all of their numbers at once."""
        tail = (1 - self.confidence) / 2 / sum(np.size(found.value) for found in family.values())
        ends = zip(family.items(), joined.limits(tail), strict=True)
        return {key: found._bounds(limits) for (key, found), limits in ends}

    @cached_property
    def _pvalues(self) -> dict[tuple[str, Hashable, Hashable], Floats]:
        """The p-values of all differences."""
        return dict(zip(self.differences, self._joined.two_sided(), strict=True))

    def to_frame(self) -> Any:
        """Return `table` as a pandas DataFrame.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return self.table.to_frame()

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw the differences with their intervals, one panel per question, and a line at 0.

        A figure has room for about 150 rows. If there are more, panels have the differences that are largest in standard
        errors, and their titles say so; `table` has all.

        Parameters
        ----------
        path : str or Path, optional
            File to write; the suffix determines the format.

        Returns
        -------
        figure : matplotlib.figure.Figure

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        names = list(dict.fromkeys(question for question, _, _ in self.differences))
        rows = {question: self._rows(question) for question in names}
        counts = dict(zip(names, rows_shown([len(labels) for labels, *_ in rows.values()]), strict=True))
        questions = [name for name in names if counts[name]]
        page, panels = panels_of_rows([counts[name] for name in questions])
        for question, ax in zip(questions, panels, strict=True):
            labels, numbers, distances = rows[question]
            places, total = largest(distances, counts[question]), len(labels)
            draw_intervals(ax, [labels[i] for i in places], *(column[places] for column in numbers))
            ax.axvline(0, color="0.4", linewidth=0.8)
            first = next(part for key, part in self.differences.items() if key[0] == question)
            cut = f", the {len(places)} largest of {total}, in standard errors" if len(places) < total else ""
            ax.set_title(f"{text_of(question)}: {first.quantity}{first._unit()}{cut}", fontsize=10, loc="left")
        rest = left_out([name for name in names if not counts[name]])
        panels[-1].set_xlabel(f"difference with {self._interval_text()}{rest}")
        if path is not None:
            page.savefig(path, dpi=120)
        return page

    def plot_trends(self, path: str | Path | None = None, *, questions: Sequence[str] | None = None) -> Any:
        """Draw the answers of all results in their order, one panel per question, for instance over time.

        Parameters
        ----------
        path : str or Path, optional
            File to write; the suffix determines the format.
        questions : sequence of str, optional
            Names of questions. By default those with at most 12 numbers.

        Returns
        -------
        figure : matplotlib.figure.Figure
            Each answer has its own interval; to compare two of them see `plot`. A curve has gaps where results do not have its
            label.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        TypeError, ValueError
            If `questions` is a text; if they are not compared, or there are none with at most 12 numbers.
        """
        labels = {name: self._labels_of(name) for name in dict.fromkeys(name for _, name in self.answers)}
        sizes = {name: len(found) for name, found in labels.items()}
        if isinstance(questions, str):
            raise TypeError(f"questions must be a list of names, got {questions!r}")
        questions = None if questions is None else list(dict.fromkeys(questions))
        if questions is None:
            questions = [name for name, size in sizes.items() if size <= MAX_CURVES]
        for name in questions:
            if sizes.get(name, math.inf) > MAX_CURVES:
                raise ValueError(f"questions must be compared and have at most {MAX_CURVES} numbers, got {name!r}")
        if not questions:
            raise ValueError(f"questions must have at most {MAX_CURVES} numbers, got none that do")
        # One panel per question; a label that a result lacks is NaN in its arrays, which leaves a gap in the curve.
        counts = rows_shown([max(6, sizes[name]) for name in questions])
        rest = left_out([name for name, count in zip(questions, counts, strict=True) if not count])
        questions = [name for name, count in zip(questions, counts, strict=True) if count]
        page, panels = panels_of_rows([max(6, sizes[name]) for name in questions])
        for question, ax in zip(questions, panels, strict=True):
            found = [self.answers[name, question] for name in self.names]
            value, low, high = np.full((3, len(found), len(labels[question])), np.nan)
            for i, answer in enumerate(found):
                places = [labels[question].index(label) for label in _labels(answer)]
                parts = (answer.value, *answer._bounds(answer._limits_at((1 - self.confidence) / 2)))
                value[i, places], low[i, places], high[i, places] = map(np.ravel, parts)
            draw_trends(ax, self.names, labels[question], value, low, high)
            ax.set_title(f"{text_of(question)}: {found[0]._names()[0]}{found[0]._unit()}", fontsize=10, loc="left")
        panels[-1].set_xlabel(f"answers with {100 * self.confidence:g} % intervals{rest}")
        if path is not None:
            page.savefig(path, dpi=120)
        return page

    def _labels_of(self, question: str) -> list[str]:
        """Return the labels of a question in any of the results, in the order of the first that has them."""
        return list(dict.fromkeys(label for name in self.names for label in _labels(self.answers[name, question])))

    def _notes(self) -> list[str]:
        """Return what is not compared, a text for each question."""
        return [
            f"{question}: not in all results, so not compared everywhere: {', '.join(map(repr, labels))}"
            for question, labels in self.apart.items()
        ]

    def _rows(self, question: str) -> tuple[list[str], list[Floats], Floats]:
        """Return the labels of the rows of a question, values and limits, and distances from 0 in standard errors."""
        labels: list[str] = []
        stderrs: list[Floats] = []
        numbers: list[list[Floats]] = [[], [], []]
        for (asked, group, reference), found in self.differences.items():
            if asked == question:
                found._warn_few()
                labels += [f"{label + ': ' * bool(label)}{group} - {reference}" for label in found.labels]
                for column, part in zip(numbers, (found.value, *self._limits[asked, group, reference]), strict=True):
                    column.append(np.ravel(part))
                stderrs.append(np.ravel(found.stderr))
        columns = [np.concatenate(column) for column in numbers]
        with np.errstate(divide="ignore", invalid="ignore"):
            return labels, columns, np.abs(columns[0]) / np.concatenate(stderrs)

    def _interval_text(self) -> str:
        return f"{100 * self.confidence:g} % simultaneous interval"

    def __repr__(self) -> str:
        rows = "all rows, or over those of primary questions" if self.primary else "all rows"
        text = f"{self._interval_text()}s; adjusted: p-values by Holm's method over {rows}"
        return "\n".join([repr(self.table), text, *self._notes()])

    def _repr_html_(self) -> str:
        return self.table._html("; ".join([f"{self._interval_text()}s", *self._notes()]))


def compare(
    results: Mapping[Any, Any],
    *,
    reference: Hashable | None = None,
    confidence: float = 0.95,
    primary: Sequence[str] = (),
) -> SurveyComparison:
    """Compare groups of people, waves or surveys: differences of all answers, with intervals and p-values.

    Parameters
    ----------
    results : mapping
        At least two results or answers by their names: the result of ``run(by=)``, or a dict of `SurveyResult` objects, or of
        answers to one question. That nobody takes part in two of them is for the caller to know.
    reference : hashable, optional
        Name of the result that all others are compared with. The default compares each one with the one before it.
    confidence : float, default 0.95
        Confidence level of the intervals for all numbers of the comparison at once (Bonferroni), in (0, 1). That of a single
        difference is ``(a - b).interval()``.
    primary : sequence of str, optional
        The few questions that the study is about, which must be chosen before anybody looks at the results. Their intervals and
        p-values are corrected for the numbers of these questions only, those of the others for all numbers.

    Returns
    -------
    comparison : SurveyComparison
        For the questions that all results have, in the order of the first. Of answers with different labels, such as those to
        a question that was revised, the labels that both have are compared; `SurveyComparison.apart` has the others.

    Raises
    ------
    TypeError, ValueError
        If there are fewer than two results, or no question is common to all; if a question has other axes or another range in
        one of them, or no label in common; if two are computed from the same reports; if `reference` is none of the names, or
        a primary question is not compared.

    Warns
    -----
    SmallSampleWarning
        If limits are normal and there are too few reports.
    UserWarning
        If a question is left out because its answers are texts.

    Notes
    -----
    A comparison costs no privacy. The limits of a difference combine the limits of both answers (method of variance estimates
    recovery). A p-value of a single number belongs to its interval; `k_sample` tests all labels of a question, and all
    groups, at once. With many rows, look at the column "adjusted".

    Examples
    --------
    >>> from ldpfast.survey import Mean, Survey, compare
    >>> survey = Survey({"hours": Mean(0, 10)}, 2.0)
    >>> weeks = {f"week {m}": survey.run({"hours": [1.0 * m] * 9000}, rng=m) for m in (1, 2, 3)}
    >>> compare(weeks).table["group"]
    ['week 2', 'week 3']
    >>> compare(weeks, reference="week 1").table["reference"]
    ['week 1', 'week 1']
    """
    if not isinstance(results, Mapping):
        raise TypeError(f"results must be a mapping, got {type(results).__name__}")
    confidence = _check.probability("confidence", confidence)
    names = tuple(results)
    if len(names) < 2:
        raise ValueError(f"results must be at least 2, got {len(names)}")
    if reference is not None and reference not in names:
        raise ValueError(f"reference must be one of {', '.join(map(repr, names))}, got {reference!r}")
    answers = {
        name: {
            question: answer._listed() if isinstance(answer, Answer) else answer
            for question, answer in _answers_of(name, result).items()
        }
        for name, result in results.items()
    }
    questions = [question for question in answers[names[0]] if all(question in found for found in answers.values())]
    texts = [
        question for question in questions if any(isinstance(found[question], TextAnswer) for found in answers.values())
    ]
    questions = [question for question in questions if question not in texts]
    if not questions:
        raise ValueError("results must have a question in common whose answers are declared, got none")
    if texts:
        listed = ", ".join(map(repr, texts))
        warn(
            f"texts that were found cannot be compared without bias, so that questions are left out: {listed}; compare "
            "TextAnswer.shares of texts that you name",
            UserWarning,
        )
    first = _primary(primary, questions)
    questions = [*first, *(question for question in questions if question not in first)]
    if reference is None:
        pairs = list(zip(names[1:], names, strict=False))
    else:
        pairs = [(name, reference) for name in names if name != reference]
    for question in questions:
        for group, other in pairs:
            a, b = answers[group][question], answers[other][question]
            try:
                _common_labels(a, b)
                require_no_overlap(a, b)
            except ValueError as error:
                raise ValueError(f"results {group!r} and {other!r}, question {question!r}: {error}") from None
    return _comparison(answers, questions, pairs, confidence, first)


def _primary(names: Sequence[str], questions: Sequence[str]) -> tuple[str, ...]:
    """Return the names of primary questions, which must be compared."""
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise TypeError(f"primary must be a sequence of names of questions, got {type(names).__name__}")
    for name in names:
        if name not in questions:
            raise ValueError(f"primary must be of the questions that are compared, {list(questions)}, got {name!r}")
    return tuple(dict.fromkeys(names))


def answers_alike(results: Mapping[Any, Mapping[str, Answer]]) -> dict[Any, dict[str, Answer]]:
    """Return the answers of results to the questions that all of them have, each with answers alike to those before it.

    Left out are questions that were asked in another range or unit, or with other labels only.
    """
    kept = []
    for question in next(iter(results.values()), {}):
        answers = [found[question]._listed() for found in results.values() if question in found]
        if len(answers) < len(results):
            continue
        try:
            for before, after in itertools.pairwise(answers):
                _common_labels(after, before)
        except ValueError:
            continue
        kept.append(question)
    return {name: {question: result[question] for question in kept} for name, result in results.items()}


def answers_with_trends(results: Mapping[Any, SurveyResult]) -> dict[Any, dict[str, Answer]]:
    """Return the answers of results in their order to the questions that `compare` and `plot_trends` take.

    Left out are texts, questions whose answers are not alike, and those with many labels.
    """
    alike = answers_alike(results)
    kept = []
    for question in next(iter(alike.values()), {}):
        answers = [found[question] for found in alike.values()]
        labels = dict.fromkeys(label for answer in answers for label in _labels(answer))
        if not any(isinstance(answer, TextAnswer) for answer in answers) and len(labels) <= MAX_CURVES:
            kept.append(question)
    return {name: {question: found[question] for question in kept} for name, found in alike.items()}


def compare_rounds(results: Mapping[str, SurveyResult], confidence: float) -> SurveyComparison:
    """Return the differences of two rounds of a survey, whose answers have half of the variance of a difference each."""
    before, after = results
    checked = _check.probability("confidence", confidence)
    return _comparison(dict(results), list(results[before]), [(after, before)], checked)


def _comparison(
    answers: Mapping[Any, Mapping[str, Any]],
    questions: Sequence[str],
    pairs: Sequence[tuple[Any, Any]],
    confidence: float,
    primary: tuple[str, ...] = (),
) -> SurveyComparison:
    """Return the differences of answers to some questions between pairs of results."""
    differences = {}
    apart: dict[str, tuple[str, ...]] = {}
    for question in questions:
        for group, other in pairs:
            a, b = answers[group][question], answers[other][question]
            common = _common_labels(a, b)
            if common is not None:
                own, others = _labels(a), _labels(b)
                lacking = [label for label in (*own, *others) if label not in common]
                if lacking:
                    apart[question] = tuple(dict.fromkeys([*apart.get(question, ()), *lacking]))
                a, b = (selected(part, [_labels(part).index(label) for label in common]) for part in (a, b))
            differences[question, group, other] = a._minus(b)
    found = {(name, question): answers[name][question] for name in answers for question in questions}
    return SurveyComparison(confidence, tuple(answers), differences, found, apart, primary)


def _labels(answer: Estimate[Any]) -> list[str]:
    """Return the labels of all numbers of an answer."""
    return answer._entries(range(np.size(answer.value)))


def holm(pvalues: Floats) -> Floats:
    """Return p-values that are adjusted by Holm's method: one below a has a family-wise error of at most a."""
    order = np.argsort(pvalues, kind="stable")
    stepped = np.maximum.accumulate(pvalues[order] * np.arange(len(pvalues), 0, -1))
    adjusted = np.empty(len(pvalues))
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def _answers_of(name: Hashable, result: Any) -> Mapping[str, Estimate[Any]]:
    """Return the answers of a result by the names of their questions."""
    if isinstance(result, Estimate):
        return {"answer": result}
    if isinstance(result, Mapping) and all(isinstance(answer, Answer) for answer in result.values()):
        return result
    raise TypeError(f"results must be results of surveys, or answers, got {type(result).__name__} for {name!r}")


def _common_labels(a: Estimate[Any], b: Estimate[Any]) -> list[str] | None:
    """Return the labels that two answers have, in the order of the first; None if they have the same in the same order.

    Raises
    ------
    ValueError
        If they do not answer the same question, or have no label in common.
    """
    if isinstance(a, Answer) and isinstance(b, Answer):
        own, others = _labels(a), _labels(b)
        alike = (a._quantity, len(a.axes), a.range) == (b._quantity, len(b.axes), b.range)
        common = [label for label in own if label in others]
        if alike and own != others and common:
            return common
    require_alike(a, b)
    return None
