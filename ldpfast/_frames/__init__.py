"""Frames of people: any container of columns, read in pieces, and divided into groups of people."""

from .._labels import package_of, require_one_index
from ._group_values import group_value, preferred
from ._groups import MAX_GROUPS, By, Groups, group_columns, read_by, values_of
from ._pieces import (
    Coded,
    Piece,
    Source,
    arrow_array,
    arrow_buffers,
    pieces,
    python_values,
    require_columns,
    whole_column,
)

__all__ = [
    "MAX_GROUPS",
    "By",
    "Coded",
    "Groups",
    "Piece",
    "Source",
    "arrow_array",
    "arrow_buffers",
    "group_columns",
    "group_value",
    "package_of",
    "pieces",
    "preferred",
    "python_values",
    "read_by",
    "require_columns",
    "require_one_index",
    "values_of",
    "whole_column",
]
