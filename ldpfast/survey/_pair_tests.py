"""Tests of independence of every two of many questions."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._table import Table
from .._typing import Floats
from .._warnings import warn
from ..results import SmallSampleWarning
from ._cross import CrossAnswer


def independence_of_pairs(names: Sequence[str], tables: Sequence[CrossAnswer | None]) -> Table:
    """Return the tests of independence of all pairs in lexicographic order, whose tables are given; None for unknown ones."""
    columns: dict[str, list[Any]] = {name: [] for name in ("first", "second", "statistic", "df", "pvalue")}
    few = 0
    for (first, second), table in zip(itertools.combinations(names, 2), tables, strict=True):
        row: tuple[Any, ...] = (first, second, math.nan, 0, math.nan)
        if table is not None:
            with warnings.catch_warnings(record=True) as issued:
                warnings.simplefilter("always")
                test = table.independence()
            few += any(issubclass(each.category, SmallSampleWarning) for each in issued)
            row = (first, second, float(test.statistic), test.df, float(test.pvalue))
        for column, entry in zip(columns.values(), row, strict=True):
            column.append(entry)
    if few:
        warn(
            f"{few} of {len(tables)} tables are not known well enough for a reliable test of independence. Ask more people, or "
            "fewer questions",
            SmallSampleWarning,
        )
    return Table({**columns, "adjusted": holm(np.array(columns["pvalue"])).tolist()})


def holm(pvalues: Floats) -> Floats:
    """Return p-values after the adjustment of S. Holm (1979) for their number; NaN stays, and does not count."""
    known = np.flatnonzero(np.isfinite(pvalues))
    order = known[np.argsort(pvalues[known], kind="stable")]
    adjusted = np.full(len(pvalues), np.nan)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(pvalues[order] * np.arange(len(order), 0, -1)))
    return adjusted
