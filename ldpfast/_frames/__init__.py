"""Frames of people: any container of columns, read in pieces, and divided into groups of people."""

from ._groups import MAX_GROUPS, Groups
from ._pieces import (
    Coded,
    Piece,
    Source,
    arrow_array,
    arrow_buffers,
    package_of,
    pieces,
    require_columns,
    require_one_index,
    whole_column,
)

__all__ = [
    "MAX_GROUPS",
    "Coded",
    "Groups",
    "Piece",
    "Source",
    "arrow_array",
    "arrow_buffers",
    "package_of",
    "pieces",
    "require_columns",
    "require_one_index",
    "whole_column",
]
