"""Rows of the tables of the documentation, which `tools/card_tables.py` writes."""

from __future__ import annotations

from typing import NamedTuple

# What a record may be, in the order of both tables of docs/choosing.md.
KINDS = {
    "answer": "yes or no",
    "category": "one of $k$ categories",
    "number": "a number in $[\\text{lower}, \\text{upper}]$",
    "unbounded": "a number without bounds",
    "box": "a vector in a box",
    "ball": "a vector in a ball",
    "several": "many answers of different kinds",
    "design": "a design of your own",
}


class Decision(NamedTuple):
    """A row of the decision table: what to take for a kind of record."""

    kind: str  # one of KINDS
    place: int  # the rows of a kind are in ascending order
    condition: str
    take: str
    because: str
    not_chosen: str = ""  # why no function of `ldpfast.mechanisms` chooses the mechanism


class Precision(NamedTuple):
    """A row of the table of reports and variances."""

    kind: str
    place: int
    record: str
    call: str
    report: str
    variance: str
