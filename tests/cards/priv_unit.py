"""The card of `PrivUnit`. It is written in Python, and its guarantee is ideal."""

from __future__ import annotations

import ldpfast as ldp

from ..support.examples import Example
from ._card import Card, always
from ._formats import dtype_of_record, per_coordinate

CARD = Card(
    mechanism=ldp.PrivUnit,
    examples=(
        *(Example(ldp.PrivUnit(d, e, radius=2.0)) for d, e in ((1, 1.0), (2, 1.0), (3, 4.0), (100, 1.0), (300, 4.0))),
        Example(ldp.PrivUnit(5, 4.0), "float32"),
    ),
    kinds=tuple(Example(ldp.PrivUnit(5, 1.0), dtype) for dtype in ("float64", "float32")),
    report_dtype=dtype_of_record,
    report_shape=per_coordinate,
    decoded_shape=per_coordinate,
    in_place=always,
    makers={"PrivUnit": lambda e: ldp.PrivUnit(3, e)},
    bad_records=(ldp.PrivUnit(3, 1.0, radius=2.0),),
    refuses_simulation=always,
    timing="the number of draws depends on the record and the coin",
)
