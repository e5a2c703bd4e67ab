"""Values of groups of people, in types that are the same in memory, on every engine, and in saved states."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import numpy as np

from .._objects import is_missing

UNCHANGED = frozenset([bool, int, str])  # most types of groups
NUMBERS = (bool, int, float, Decimal)  # the one that stands for equal numbers of several types: the first of these


def group_value(value: Any) -> Any:
    """Return the value of a group as a type of Python; None for a missing one.

    Numbers and texts keep their types: 1.0 stays a float. A time is a `datetime.datetime`, in UTC if it has a time zone. Only
    one with nanoseconds stays a Timestamp of pandas, which cannot be saved.
    """
    if type(value) in UNCHANGED:
        return value
    if isinstance(value, tuple):
        return tuple(map(group_value, value))
    if is_missing(value):
        return None
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, datetime):
        if getattr(value, "nanosecond", 0):
            return value
        value = value.to_pydatetime() if hasattr(value, "to_pydatetime") else value
        return value if value.tzinfo is None else value.astimezone(UTC)
    if isinstance(value, float):
        return float(value) + 0.0  # -0.0 is 0.0
    return str(value) if isinstance(value, str) else value


def preferred(one: Any, other: Any) -> Any:
    """Return which of two equal values of groups is kept, whichever was seen first: 1 of 1 and 1.0."""
    if one is other or (type(one) is type(other) and not isinstance(one, tuple | Decimal)):
        return one
    if isinstance(one, tuple) and isinstance(other, tuple):
        return tuple(map(preferred, one, other))
    return min(one, other, key=_rank)


def _rank(value: Any) -> tuple[int, str]:
    kind = type(value)
    return NUMBERS.index(kind) if kind in NUMBERS else len(NUMBERS), repr(value)
