"""What the commands for surveys and columns show: tables, types for JSON, and a progress bar."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from .._extras import optional
from .._table import Table, answers_without_formulas
from ..estimation import HeavyHittersEstimate
from ..reports import GroupedResults
from ..results import Estimate
from ..survey import SurveyResult, TextAnswer
from ..survey._result import NO_ANSWERS
from ._process import one_line

COLUMNS = ("question", "answer", "estimate", "stderr", "low", "high", "n")  # of a table of a result


def described(result: Any, confidence: float, simultaneous: bool) -> dict[str, Any]:
    """Return the result as types for JSON, with intervals of the given confidence."""
    if isinstance(result, GroupedResults):
        groups = [{"group": group, **described(part, confidence, simultaneous)} for group, part in result.items()]
        return {"groups": groups}
    if not isinstance(result, SurveyResult):
        return {**result.to_dict(), **_interval(result, confidence, simultaneous)}
    answers = {
        name: {**answer.to_dict(), **_interval(answer, confidence, simultaneous)} for name, answer in result.items()
    }
    return {**result.to_dict(), "answers": answers}


def print_csv(result: Any, confidence: float, simultaneous: bool) -> None:
    """Print the numbers of a result as CSV, with empty cells where nobody answered, and texts of people without formulas."""
    if not isinstance(result, SurveyResult | GroupedResults):
        table = result._entry_table(confidence, simultaneous)
        print(table._csv([*table.columns][:1] if isinstance(result, HeavyHittersEstimate) else ()), end="")
        return
    columns = result.table(confidence, simultaneous).columns
    parts = [result] if isinstance(result, SurveyResult) else [*result.values()]
    texts = {name for part in parts for name, answer in part.items() if isinstance(answer, TextAnswer)}
    print(Table(dict(answers_without_formulas(columns, texts)))._csv(), end="")


def _interval(estimate: Estimate[Any], confidence: float, simultaneous: bool) -> dict[str, Any]:
    low, high = estimate.interval(confidence, simultaneous)
    return {"interval": [np.asarray(low).tolist(), np.asarray(high).tolist()], "confidence": confidence}


def table_of(result: SurveyResult | GroupedResults, confidence: float, simultaneous: bool) -> Any:
    """Return a table (rich) with one row per number, and two digits of the standard errors."""
    table = optional("rich.table", "files").Table(box=optional("rich.box", "files").SIMPLE_HEAD)
    rows = result.table(confidence, simultaneous)
    places = [name for name in rows.columns if name not in COLUMNS]  # that divide people
    for name in places:
        table.add_column(name)
    table.add_column("question")
    table.add_column("answer")
    for name in ("estimate", "standard error", f"{100 * confidence:g} % interval"):
        table.add_column(name, justify="right", no_wrap=True)
    before = None
    for row in zip(*(rows[name] for name in (*places, *COLUMNS[:-1])), strict=True):
        *first, answer, value, stderr, low, high = row
        table.add_row(
            *(map(str, first) if first != before else [""] * len(first)), answer, *shown(value, stderr, low, high)
        )
        before = first
    return table


def shown(value: float, stderr: float, low: float, high: float) -> tuple[str, str, str]:
    """Return an estimate, its standard error with two digits, and its interval as texts."""
    if np.isnan(value):
        return NO_ANSWERS, "", f"{low:g} to {high:g}"
    digits = 1 - int(np.floor(np.log10(stderr))) if 0 < stderr < np.inf else 3
    decimals = max(0, digits)
    return f"{value:.{decimals}f}", f"{stderr:.{decimals}f}", f"{low:.{decimals}f} to {high:.{decimals}f}"


def progress_bar(files: list[str], quiet: bool) -> AbstractContextManager[Callable[[float], None] | None]:
    """Return a context manager that shows a progress bar on stderr.

    It yields the function to call with the completed fraction. It yields None if stderr is not a terminal, or if `quiet`.
    """
    return nullcontext() if quiet or not sys.stderr.isatty() else _Bar(", ".join(Path(path).name for path in files))


class _Bar:
    def __init__(self, label: str) -> None:
        console = optional("rich.console", "files").Console(stderr=True)
        self._bar = optional("rich.progress", "files").Progress(console=console, transient=True)
        self._task = self._bar.add_task(optional("rich.markup", "files").escape(one_line(label)), total=1.0)

    def __enter__(self) -> Callable[[float], None]:
        self._bar.start()
        return lambda share: self._bar.update(self._task, completed=share)

    def __exit__(self, *exception: object) -> None:
        self._bar.stop()
