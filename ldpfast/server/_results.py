"""The estimates of a server as JSON, CSV and Arrow tables, and as plots.

They are computed once for each state of the database: reports are added and never removed, so that a state is known by the
number of reports.
"""

from __future__ import annotations

import csv
import io
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Any

import numpy as np

from .._extras import optional
from .._table import answers_without_formulas
from ..reports import Aggregator, Counted, recipe_of
from ..results import SmallSampleWarning
from ..survey import SurveyResult, compare
from ..survey._answers import Answer
from ..survey._compare import answers_with_trends
from ..survey._conclude import conclude
from ..survey._pool_waves import pooled_counts
from ..survey._survey_recipe import SurveyRecipe
from ._server_plan import SurveyOccasion
from ._store import Store
from ._withdrawal import REASON


@dataclass(frozen=True)
class Primary:
    """The primary questions of a comparison: those that are asked for, or else those of the study that all results have."""

    asked: tuple[str, ...]
    declared: tuple[str, ...]

    def of(self, results: Mapping[str, Mapping[str, Answer]]) -> tuple[str, ...]:
        """Return the primary questions for a comparison of results."""
        common = (name for name in self.declared if all(name in result for result in results.values()))
        return self.asked or tuple(common)


class AbandonedError(Exception):
    """Nobody waits for the result any more."""


@dataclass(frozen=True)
class ShownAnswers:
    """The answers of all people or of one group, as they are shown.

    Attributes
    ----------
    n : int
        Number of people.
    fields : dict
        Result of `SurveyResult.to_dict`.
    columns : dict
        Columns of `SurveyResult.table`.
    warnings : tuple of str
        What the estimation warned about, without the warnings about small numbers of reports, which are shown.
    """

    n: int
    fields: dict[str, Any]
    columns: dict[str, list[Any]]
    warnings: tuple[str, ...] = ()


class Results:
    """The answers to a survey, of all people or by the groups of people, which are computed once.

    Parameters
    ----------
    store : Store
    occasion : SurveyOccasion

    Attributes
    ----------
    n : int
        Number of reports.
    n_by_label : dict
        Numbers of reports by the labels of groups.
    """

    def __init__(self, store: Store, occasion: SurveyOccasion) -> None:
        self.occasion, self._store = occasion, store
        self.n, self.n_by_label = 0, dict[str, int]()
        self._counts: dict[str, Aggregator] | None = None
        self._forget()
        self._loaded()

    def _forget(self) -> None:
        self._whole: SurveyResult | None = None
        self._whole_answers: ShownAnswers | None = None
        self._groups: dict[str, ShownAnswers] = {}
        self._plot: bytes | None = None

    def _loaded(self) -> dict[str, Aggregator]:
        """Return what the store has counted. If there are new reports, nothing that was computed before is kept."""
        if self._counts is None:
            self._counts = self._read()
            numbers = {label: counted.n for label, counted in self._counts.items()}
            if numbers != self.n_by_label:
                self._forget()
                self.n_by_label, self.n = numbers, sum(numbers.values())
        return self._counts

    def _read(self) -> dict[str, Aggregator]:
        """Return the counted reports, by the labels of groups."""
        return self._store.counts(self.occasion.fingerprint)

    def _described(self) -> dict[str, Any]:
        """Return what is estimated as types for JSON."""
        return {"revision": self.occasion.survey.revision, **self.occasion.described()}

    def release(self) -> None:
        """Free the memory of the counts. What was computed is kept."""
        self._counts = None

    def result(self) -> SurveyResult | None:
        """Return the answers of all people; None if there are no reports."""
        if self._whole is None and self.n:
            self._whole, noted = _estimate(self.occasion.counted(self._loaded().values()))
            self._whole_answers = _answers_of(self._whole, noted)
        return self._whole

    def answers(self, label: str | None = None) -> ShownAnswers | None:
        """Return the answers of a group, or of all people; None if there are no reports."""
        if label is None:
            self.result()
            return self._whole_answers
        if label not in self._groups and self.n_by_label[label]:
            self._groups[label] = _answers_of(*_estimate(self._loaded()[label]))
        return self._groups.get(label)

    def by(self, grouped: bool, gone: Event) -> dict[str, ShownAnswers]:
        """Return the answers by the labels of groups, or of all people, without those that have no reports.

        Raises
        ------
        AbandonedError
            If `gone` is set before all groups are computed: the client that waits for them has gone.
        """
        if not grouped:
            whole = self.answers()
            return {} if whole is None else {"": whole}
        if any(n and label not in self._groups for label, n in self.n_by_label.items()):
            counts = {label: one for label, one in self._loaded().items() if one.n}
            if len(counts) > 1 and recipe_of(self.occasion.survey).concludes_groups:
                self._groups |= _answers_of_groups(counts)
        for label, n in self.n_by_label.items():
            if n and label not in self._groups and gone.is_set():  # a search for texts takes seconds
                raise AbandonedError
            self.answers(label)
        return {label: self._groups[label] for label, n in self.n_by_label.items() if n}

    def to_dict(self, grouped: bool, gone: Event) -> dict[str, Any]:
        """Return everything as types for JSON."""
        survey, found = self.occasion.survey, self.by(grouped, gone)
        described: dict[str, Any] = {
            "survey": survey.fingerprint,
            **self._described(),
            "n": self.n,
            "guarantee": survey.guarantee.to_dict(),
        }
        parts = {
            label: {"n": part.n, "result": part.fields, "warnings": list(part.warnings)}
            for label, part in found.items()
        }
        if grouped:
            return {**described, "groups": parts}
        return {**described, **(parts[""] if found else {"result": None, "warnings": []})}

    def columns(self, grouped: bool, gone: Event) -> dict[str, list[Any]]:
        """Return a table of all answers, with a column of groups if they are divided."""
        columns: dict[str, list[Any]] = {}
        for label, part in self.by(grouped, gone).items():
            for name, values in part.columns.items():
                columns.setdefault(name, []).extend(values)
            if grouped:
                columns.setdefault("group", []).extend([label] * len(part.columns["n"]))
        return columns

    def compared(self, reference: str | None, primary: Primary, gone: Event) -> list[dict[str, Any]]:
        """Return the differences of the groups that have reports as types for JSON.

        Raises
        ------
        ValueError
            If they cannot be compared (`survey.compare`).
        AbandonedError
            As for `by`.
        """
        found = {}
        for label, counted in self._loaded().items():
            if gone.is_set():
                raise AbandonedError
            if counted.n:
                found[label] = _estimate(counted)[0]
        return compared(found, reference, primary)

    def plot(self) -> bytes | None:
        """Return the answers of all people as SVG; None if there are no reports."""
        result = self.result()
        if self._plot is None and result is not None:
            self._plot = _svg(result.plot())
        return self._plot


class PooledResults(Results):
    """The answers of different people to several versions of a survey, in one wave or in several, together.

    Parameters
    ----------
    store : Store
    occasions : sequence of SurveyOccasion
        Versions in waves. The questions are those of the newest one, each with the reports of all that asked it unchanged.
    """

    def __init__(self, store: Store, occasions: Sequence[SurveyOccasion]) -> None:
        self.occasions = tuple(occasions)
        super().__init__(store, max(occasions, key=lambda one: (one.survey.revision, one.entry)))

    def _read(self) -> dict[str, Aggregator]:
        found: dict[str, list[Aggregator]] = {}
        for occasion in self.occasions:
            for label, counted in self._store.counts(occasion.fingerprint).items():
                found.setdefault(label, []).append(counted)
        return {label: pooled_counts(parts, self.occasion.survey) for label, parts in sorted(found.items())}

    def _described(self) -> dict[str, Any]:
        waves = sorted({one.number for one in self.occasions if one.number is not None})
        return {
            **super()._described(),
            "wave": waves[0] if len(waves) == 1 else None,
            "waves": waves,
            "versions": sorted({one.survey.revision for one in self.occasions}),
        }


def csv_of(columns: Mapping[str, Sequence[Any]], texts: set[str]) -> str:
    """Return a table of answers as CSV. Answers to the questions `texts` are escaped, so that no spreadsheet computes them."""
    shown = answers_without_formulas(columns, texts)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(shown)
    writer.writerows(zip(*shown.values(), strict=True))
    return out.getvalue()


def json_rows(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return the rows of a table as types for JSON."""
    return [dict(zip(columns, map(_json_cell, row), strict=True)) for row in zip(*columns.values(), strict=True)]


def arrow_of(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Return a table of answers as a stream in the Arrow format."""
    pa = optional("pyarrow", "files")
    table, out = arrow_table(columns), io.BytesIO()
    with pa.ipc.new_stream(out, table.schema) as stream:
        stream.write_table(table)
    return out.getvalue()


def arrow_table(columns: Mapping[str, Sequence[Any]]) -> Any:
    """Return a table of answers as one of pyarrow."""
    pa = optional("pyarrow", "files")
    return pa.table({name: [*map(_arrow_cell, values)] for name, values in columns.items()})


def compared(
    results: Mapping[str, Mapping[str, Answer]], reference: str | None, primary: Primary
) -> list[dict[str, Any]]:
    """Return the rows of a comparison as types for JSON, without warnings about small numbers of reports, which are there.

    Raises
    ------
    ValueError
        If they cannot be compared.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return json_rows(compare(results, reference=reference, primary=primary.of(results)).table.columns)


class ResultCache:
    """The results of a store, which one thread uses. Those of the newest state are kept.

    Parameters
    ----------
    store : Store

    Attributes
    ----------
    withdrawn : int
        Number of reports that had been withdrawn from the newest state.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[tuple[bytes, ...], Results] = {}
        self.withdrawn = 0

    def of(self, *occasions: SurveyOccasion) -> Results:
        """Return the results of all reports that the store has now, to a survey or to several ones together."""
        summary, key = self._store.summary(), tuple(one.fingerprint for one in occasions)
        withdrawn = summary.refused.get(REASON, 0)  # another report can have come since then
        if withdrawn != self.withdrawn:
            self._known, self.withdrawn = {}, withdrawn
        known = self._known.get(key)
        if known is None or known.n != sum(summary.n.get(one, 0) for one in key):
            known = Results(self._store, *occasions) if len(key) == 1 else PooledResults(self._store, occasions)
            self._known[key] = known
        return known

    def release(self) -> None:
        """Free the memory of all counts."""
        for results in self._known.values():
            results.release()


def trend_plot(results: dict[str, SurveyResult]) -> bytes | None:
    """Return the answers of several waves as SVG; None if there are fewer than two, or no question that can be drawn."""
    answers = answers_with_trends(results) if len(results) > 1 else {}
    if not any(answers.values()):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _svg(compare(answers).plot_trends())


def _estimate(aggregator: Aggregator) -> tuple[SurveyResult, tuple[str, ...]]:
    """Return the answers of people, and what the estimation warned about."""
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        found = aggregator.estimate()
    assert isinstance(found, SurveyResult)
    return found, _texts_of(noted)


def _answers_of(result: SurveyResult, noted: tuple[str, ...]) -> ShownAnswers:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallSampleWarning)
        return ShownAnswers(result.n, result.to_dict(), result.table().columns, noted)


def _answers_of_groups(counts: Mapping[str, Aggregator]) -> dict[str, ShownAnswers]:
    """Return the answers of groups, which are computed at once: one by one, hundreds of groups would take half a minute."""
    labels, recipe = list(counts), recipe_of(next(iter(counts.values())).question)
    parts = [one._counts.group() for one in counts.values()]
    states = [np.stack(arrays) for arrays in zip(*(part.states for part in parts), strict=True)]
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        result = conclude(recipe, Counted(states, np.array([part.n for part in parts], np.int64)), False)
        table = result.table_of_groups(labels, 0.95, False).columns
    is_doubtful = bool(_texts_of(noted))  # one of them: a warning names the worst
    size = len(table.pop("group")) // len(labels)
    fields = result.dicts_of_groups(len(labels))
    found = {}
    for i, (label, part) in enumerate(zip(labels, parts, strict=True)):
        columns = {name: values[i * size : (i + 1) * size] for name, values in table.items()}
        found[label] = ShownAnswers(part.n, fields[i], columns, _doubts(recipe, part) if is_doubtful else ())
    return found


def _doubts(recipe: SurveyRecipe, counted: Counted) -> tuple[str, ...]:
    """Return what the estimation of a group warns about, without the rest of its work."""
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        for mechanism, state, n in zip(recipe.mechanisms, counted.states[2:], counted.states[0].tolist(), strict=True):
            if n:
                recipe_of(mechanism).mean(Counted([state], n))
    return _texts_of(noted)


def _texts_of(noted: Iterable[warnings.WarningMessage]) -> tuple[str, ...]:
    """Return what is shown of warnings: not those about small numbers, because these and the intervals are shown."""
    kinds = [one for one in noted if issubclass(one.category, UserWarning)]
    return tuple(dict.fromkeys(str(one.message) for one in kinds if not issubclass(one.category, SmallSampleWarning)))


def _svg(figure: Any) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()


def _json_cell(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _arrow_cell(value: Any) -> Any:
    return value if isinstance(value, str | int | float) or value is None else str(value)
