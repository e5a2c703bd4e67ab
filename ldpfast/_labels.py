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
    if package == "pyarrow" and str(getattr(values, "type", "")).startswith("struct<"):
        fields, rows = [field.name for field in values.type], values.to_pylist()
        return _of_columns(name, fields, [[row[field] for row in rows] for field in fields])
    if package == "pandas" and hasattr(values, "columns"):
        return _of_columns(name, list(values.columns), [column.tolist() for _, column in values.items()])
    if package == "polars" and hasattr(values, "columns"):
        return _of_columns(name, values.columns, [column.to_list() for column in values.get_columns()])
    if package == "pyarrow" and hasattr(values, "columns"):
        return _of_columns(name, values.schema.names, [column.to_pylist() for column in values.columns])
    return None


def _of_columns(name: str, names: list[Any], columns: list[list[Any]]) -> list[tuple[Any, Any]]:
    """Return the pairs of a table of counts."""
    numbers = [place for place, column in enumerate(names) if column in COUNTS or str(column).endswith("_count")]
    if len(names) != 2 or len(numbers) != 1:
        raise TypeError(
            f"{name} must be numbers by label, an array, or a table of a column of labels and one named "
            f"{' or '.join(map(repr, COUNTS))}, got the columns {', '.join(map(repr, names[:10]))}"
        )
    return list(zip(columns[1 - numbers[0]], columns[numbers[0]], strict=True))


def in_order(
    name: str, values: Any, labels: range | Sequence[Iterable[Hashable]], *, missing: float | None = None
) -> Any:
    """Return numbers in the order of labels, if they come by label, and an array unchanged.

    Parameters
    ----------
    name : str
        Name of the argument, for error messages.
    values : object
        As for `numbers_by_label`.
    labels : range, or sequence of iterable
        The label of each place, or all that it can have, such as 0 and "no".
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
    allowed = [(label,) for label in labels] if isinstance(labels, range) else list(map(tuple, labels))
    places = {label: place for place, spellings in enumerate(allowed) for label in spellings}
    shown = ", ".join(repr(spellings[0]) for spellings in allowed[:20]) + (", ..." if len(allowed) > 20 else "")
    found: dict[int, Any] = {}
    for at, (label, number) in enumerate(pairs):
        place = None if is_missing(label) else _place_of(label, places)
        if place is None:
            raise ValueError(
                f"{name} must have the labels {shown}, or be an array in their order; label {at} is another one"
            )
        if place in found:
            raise ValueError(f"{name} must have each label once, got {label!r} more than once")
        found[place] = number
    absent = [spellings for place, spellings in enumerate(allowed) if place not in found]
    if absent and missing is None:
        raise ValueError(f"{name} must have the labels {shown}, got none for {absent[0][0]!r}")
    return [found.get(place, missing) for place in range(len(allowed))]


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
        Whether the names are names of columns of a table, for error messages.
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
