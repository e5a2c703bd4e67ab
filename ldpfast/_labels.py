"""Containers that carry labels: numbers by label, and columns of pandas whose rows have an index.

Labels decide which numbers belong together, never positions: what cannot be matched by them is refused.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ._objects import is_missing

COUNTS = ("count", "counts", "len", "proportion")  # names of the column of numbers in a table of counts


def package_of(value: Any) -> str:
    """Return the top-level package of the class of a value."""
    return type(value).__module__.partition(".")[0]


# Numbers by label -----------------------------------------------------------------------------------------------------


def numbers_by_label(name: str, values: Any) -> list[tuple[Any, Any]] | None:
    """Return pairs of a label and a number; None for an array, whose numbers have positions only.

    Parameters
    ----------
    name : str
        Name of the argument, for error messages.
    values : object
        A mapping, a series of pandas, or what ``value_counts`` makes in pandas, Polars and Arrow: a table with a column of
        labels and one of numbers, or an array of pairs.

    Raises
    ------
    TypeError
        If it is a table of another form.
    """
    if isinstance(values, Mapping):
        return list(values.items())
    package = package_of(values)
    if package == "pandas" and hasattr(values, "index") and not hasattr(values, "columns"):
        levels = getattr(values.index, "nlevels", 1)
        labels = values.index.get_level_values(0) if levels == 1 else values.index
        return list(zip(labels.tolist(), values.tolist(), strict=True))
    if package == "pyarrow" and _is_struct(values):
        return _of_columns(
            name, list(values.type.names), [values.field(i) for i in range(2)] if _is_array(values) else []
        )
    if package in ("pandas", "polars", "pyarrow") and hasattr(values, "columns"):
        names = list(values.column_names if package == "pyarrow" else values.columns)
        if package == "pandas":
            return _of_columns(name, names, [values.iloc[:, i] for i in range(len(names))])
        return _of_columns(name, names, list(values.columns) if package == "pyarrow" else values.get_columns())
    return None


def _is_struct(values: Any) -> bool:
    return str(getattr(values, "type", "")).startswith("struct<")


def _is_array(values: Any) -> bool:
    return hasattr(values, "field") and len(values.type) == 2


def _of_columns(name: str, names: list[Any], columns: list[Any]) -> list[tuple[Any, Any]]:
    """Return the pairs of a table of counts."""
    numbers = [place for place, column in enumerate(names) if column in COUNTS or str(column).endswith("_count")]
    if len(names) != 2 or len(columns) != 2 or len(numbers) != 1:
        raise TypeError(
            f"{name} must be numbers by label, an array, or a table of a column of labels and one named "
            f"{' or '.join(map(repr, COUNTS))}, got the columns {', '.join(map(repr, names[:10]))}"
        )
    lists = [column.to_pylist() if hasattr(column, "to_pylist") else column.to_list() for column in columns]
    return list(zip(lists[1 - numbers[0]], lists[numbers[0]], strict=True))


def in_order(name: str, values: Any, labels: Sequence[Iterable[Hashable]], *, missing: float | None = None) -> Any:
    """Return numbers in the order of labels, if they come by label, and an array unchanged.

    Parameters
    ----------
    name : str
        Name of the argument, for error messages.
    values : object
        As for `numbers_by_label`.
    labels : sequence of iterable
        For each place, the labels that it can have, such as 0 and "no".
    missing : float, optional
        Number where a label is not there; it is required otherwise.

    Raises
    ------
    TypeError, ValueError
        If a label is none of these, is there twice, or is required and not there.
    """
    pairs = numbers_by_label(name, values)
    if pairs is None:
        return values
    places = {label: place for place, spellings in enumerate(labels) for label in spellings}
    shown = ", ".join(repr(next(iter(spellings))) for spellings in labels[:20]) + (", ..." if len(labels) > 20 else "")
    found: dict[int, Any] = {}
    for label, number in pairs:
        place = None if is_missing(label) else _place_of(label, places)
        if place is None:
            raise ValueError(f"{name} must have the labels {shown}, or be an array in their order, got {label!r}")
        if place in found:
            raise ValueError(f"{name} must have each label once, got {label!r} more than once")
        found[place] = number
    absent = [place for place in range(len(labels)) if place not in found]
    if absent and missing is None:
        raise ValueError(f"{name} must have the labels {shown}, got none for {next(iter(labels[absent[0]]))!r}")
    return [found.get(place, missing) for place in range(len(labels))]


def _place_of(label: Any, places: Mapping[Any, int]) -> int | None:
    try:
        return places.get(label)
    except TypeError:  # a label that cannot be hashed
        return None


# Rows by index --------------------------------------------------------------------------------------------------------


def require_one_index(columns: Mapping[str, Any], *, are_columns: bool = False) -> None:
    """Raise ValueError if pandas objects whose rows are the same people have different indices.

    Parameters
    ----------
    columns : mapping
        Objects by the names of the arguments, or of the columns. Objects without an index of pandas have the order of the rows
        only, and are not compared.
    are_columns : bool, default False
        Whether the names are those of columns of a table, for error messages.
    """
    indexed = [(name, values.index) for name, values in columns.items() if has_index(values)]
    for (first, one), (name, other) in pairwise(indexed):
        if not one.equals(other):
            subject = f"columns {first!r} and {name!r}" if are_columns else f"{first} and {name}"
            raise ValueError(
                f"{subject} must have the same pandas index, for rows are people; the first difference is in row "
                f"{_first_difference(one, other)}"
            )


def has_index(values: Any) -> bool:
    """Return whether an object has an index of pandas."""
    return package_of(values) == "pandas" and hasattr(values, "index")


def _first_difference(one: Any, other: Any) -> int:
    """Return the position of the first difference of two indices. Their labels are not told, which can be names of people."""
    same, differ = 0, max(len(one), len(other))
    while differ - same > 1:
        middle = (same + differ) // 2
        if one[:middle].equals(other[:middle]):
            same = middle
        else:
            differ = middle
    return same
