"""Estimates of small areas, from the table of the results of groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import _check
from .._labels import numbers_by_label, package_of
from .._table import Table
from .._typing import Floats
from ..results import predicted_areas

ERRORS_LEFT = 3  # areas more than coefficients, at least


def area_table(areas: list[Any], columns: Mapping[str, list[Any]], question: str | None, covariates: Any) -> Table:
    """Return direct estimates of areas beside those that borrow strength, as `GroupedResults.small_areas`.

    Parameters
    ----------
    areas : list
    columns : mapping
        The table of the results, with equally many rows for each area, in their order.
    question, covariates
        As for `GroupedResults.small_areas`.
    """
    questions = columns.get("question")
    if (questions is None) != (question is None) or (questions and question not in questions):
        asked = ", ".join(map(repr, dict.fromkeys(questions or []))) or "left out"
        raise ValueError(f"question must be {'one of ' if questions else ''}{asked}, got {question!r}")
    rows = [i for i in range(len(columns["estimate"])) if questions is None or questions[i] == question]
    label = next((name for name in ("answer", "entry") if name in columns), None)
    labels = [columns[label][i] for i in rows] if label else [""] * len(rows)
    kinds = labels[: len(rows) // len(areas)]
    if labels != kinds * len(areas):
        raise ValueError(f"question must have the same answers in all areas, got {question!r}, whose answers differ")
    direct, stderr = (
        np.array(columns[name], np.float64)[rows].reshape(len(areas), -1) for name in ("estimate", "stderr")
    )
    design = _design_of(areas, covariates)
    known = np.isfinite(direct).all(axis=1)
    least = design.shape[1] + ERRORS_LEFT
    if known.sum() < least:
        raise ValueError(
            f"results must have answers of at least {least} areas for {design.shape[1]} coefficients, got {known.sum()}"
        )
    if np.linalg.matrix_rank(design[known]) < design.shape[1]:
        raise ValueError("covariates must not determine each other, nor be the same for all areas")
    # One model for each answer; rows of the table are areas, and answers within them.
    found = [predicted_areas(direct[:, k], stderr[:, k], design) for k in range(len(kinds))]
    table: dict[str, list[Any]] = {"group": [area for area in areas for _ in kinds]}
    if len(kinds) > 1:
        table["answer"] = kinds * len(areas)
    table["direct"], table["direct_stderr"] = direct.ravel().tolist(), stderr.ravel().tolist()
    table["estimate"] = np.stack([one.estimate for one in found], axis=1).ravel().tolist()
    table["stderr"] = np.stack([one.stderr for one in found], axis=1).ravel().tolist()
    return Table(table)


def _design_of(areas: list[Any], covariates: Any) -> Floats:
    """Return a row of numbers for each area, of which the first is 1."""
    ones = np.ones((len(areas), 1))
    if covariates is None:
        return ones
    if package_of(covariates) == "pandas" and hasattr(covariates, "columns"):
        rows = dict(zip(covariates.index.tolist(), covariates.to_numpy().tolist(), strict=True))
        if len(rows) < len(covariates):
            raise ValueError("covariates must have one row for each area, got an area more than once")
    else:
        pairs = numbers_by_label("covariates", covariates)
        if pairs is None:
            raise TypeError(
                f"covariates must be a mapping, or a series or frame of pandas, got {type(covariates).__name__}"
            )
        rows = dict(pairs)
    missing = [area for area in areas if area not in rows]
    if missing:
        raise ValueError(f"covariates must have every area, got none for {missing[0]!r}")
    numbers = _check.numbers("covariates", [np.atleast_1d(rows[area]) for area in areas])
    return np.hstack([ones, numbers.reshape(len(areas), -1)])
