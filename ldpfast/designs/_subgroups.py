"""The argument `by` of estimates for subgroups: one column, or several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._frames import Groups, whole_column


def columns_of_by(by: Any) -> dict[str, Any]:
    """Return the columns that divide people, by names for error messages; "by" alone is one that is no list of columns."""
    if hasattr(by, "columns"):
        if not len(by.columns):
            raise ValueError("by must have one column or more, got a data frame without columns")
        return {str(name): by[name] for name in by.columns}
    if isinstance(by, list | tuple) and by and all(map(_is_column, by)):
        return {f"by[{place}]": column for place, column in enumerate(by)}
    return {"by": by}


def subgroups(columns: Mapping[str, Any], n: int) -> tuple[NDArray[np.uint32], list[Any]]:
    """Return the number of the group of each of n people, and the values of the groups: tuples for a list of columns.

    Raises
    ------
    TypeError, ValueError
        If a column does not have one value for each person.
    """
    if list(columns) == ["by"]:
        groups = Groups(None)
        members = groups.numbers(_read("by", columns["by"], n))
    else:
        groups = Groups(tuple(columns))
        members = groups.numbers([_read(name, column, n) for name, column in columns.items()])
    return members, groups.values


def _read(name: str, column: Any, n: int) -> Any:
    values = whole_column(name, column)
    if len(values) != n:
        raise ValueError(f"{name} must have one value per person, got {len(values)} for {n} reports")
    return values


def _is_column(values: Any) -> bool:
    """Return whether values are a column, and not one of the values of a column."""
    return not isinstance(values, str | bytes | tuple) and np.ndim(values) == 1
