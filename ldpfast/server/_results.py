"""The estimates of a server as JSON, CSV and Arrow tables, and as plots."""

from __future__ import annotations

import csv
import io
import warnings
from typing import Any

from .._extras import optional
from ..reports import Aggregator
from ..results import DoubtfulWarning, SmallSampleWarning
from ..survey import SurveyResult, compare
from ._plan import Occasion
from ._store import Store


class Results:
    """The answers to a survey, of all people or by the groups of people.

    Parameters
    ----------
    occasion : Occasion
    by_label : dict
        Aggregators of the groups.
    """

    def __init__(self, occasion: Occasion, by_label: dict[str, Aggregator]) -> None:
        self.occasion, self.by_label = occasion, by_label

    @classmethod
    def of(cls, store: Store, occasion: Occasion) -> Results:
        """Return what a store has counted."""
        return cls(occasion, store.counts(occasion.fingerprint))

    @property
    def n(self) -> int:
        """Number of reports."""
        return sum(aggregator.n for aggregator in self.by_label.values())

    def result(self, label: str | None = None) -> SurveyResult | None:
        """Return the answers of a group, or of all people; None if there are no reports."""
        if label is not None:
            return _estimate(self.by_label[label])
        whole = self.occasion.survey.aggregator()
        for aggregator in self.by_label.values():
            whole.merge(aggregator)
        return _estimate(whole)

    def by(self, grouped: bool) -> dict[str, SurveyResult]:
        """Return the answers by the labels of groups, or of all people, without those that have no reports."""
        labels = list(self.by_label) if grouped else [None]
        found = {label or "": self.result(label) for label in labels}
        return {label: result for label, result in found.items() if result is not None}

    def to_dict(self, grouped: bool) -> dict[str, Any]:
        """Return everything as types for JSON."""
        survey, found = self.occasion.survey, self.by(grouped)
        described: dict[str, Any] = {
            "survey": survey.fingerprint,
            "revision": survey.revision,
            **self.occasion.described(),
            "n": self.n,
            "guarantee": survey.guarantee.to_dict(),
        }
        if grouped:
            groups = {label: {"n": result.n, "result": result.to_dict()} for label, result in found.items()}
            return {**described, "groups": groups}
        return {**described, "result": found[""].to_dict() if found else None}

    def columns(self, grouped: bool) -> dict[str, list[Any]]:
        """Return a table of all answers, with a column of groups if they are divided."""
        columns: dict[str, list[Any]] = {}
        for label, result in self.by(grouped).items():
            table = result.table()
            for name, values in table.columns.items():
                columns.setdefault(name, []).extend(values)
            if grouped:
                columns.setdefault("group", []).extend([label] * len(table["n"]))
        return columns

    def to_csv(self, grouped: bool) -> str:
        """Return the table of all answers as CSV."""
        columns = self.columns(grouped)
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        return out.getvalue()

    def to_arrow(self, grouped: bool) -> bytes:
        """Return the table of all answers as a stream in the Arrow format."""
        pa = optional("pyarrow", "files")
        columns = {name: [*map(_arrow_cell, values)] for name, values in self.columns(grouped).items()}
        table, out = pa.table(columns), io.BytesIO()
        with pa.ipc.new_stream(out, table.schema) as stream:
            stream.write_table(table)
        return out.getvalue()

    def plot(self) -> bytes | None:
        """Return the answers of all people as SVG; None if there are no reports."""
        result = self.result()
        return None if result is None else _svg(result.plot())


def trend_plot(results: dict[str, SurveyResult]) -> bytes | None:
    """Return the answers of several waves as SVG; None if there are fewer than two, or no question that all of them have."""
    if len(results) < 2:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _svg(compare(results).plot_trends())
    except ValueError:
        return None


def _estimate(aggregator: Aggregator) -> SurveyResult | None:
    if not aggregator.n:
        return None
    with warnings.catch_warnings():  # the numbers of reports and the intervals are shown
        warnings.simplefilter("ignore", SmallSampleWarning)
        warnings.simplefilter("ignore", DoubtfulWarning)
        found = aggregator.estimate()
    assert isinstance(found, SurveyResult)
    return found


def _svg(figure: Any) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()


def _arrow_cell(value: Any) -> Any:
    return value if isinstance(value, str | int | float) or value is None else str(value)
