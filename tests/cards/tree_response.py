"""The card of `TreeResponse`, of a level of a tree that is drawn. It is written in Python."""

from __future__ import annotations

from ldpfast.mechanisms import TreeResponse

from ..support.examples import Example
from ._card import Card, Simulated
from ._formats import per_code, smallest_code

CARD = Card(
    mechanism=TreeResponse,
    proof="range_queries",
    inner=True,
    examples=(
        Example(TreeResponse(2, 1.0)),
        Example(TreeResponse(13, 3.0, branching=3)),
        Example(TreeResponse(12, 1.0, branching=2)),
        Example(TreeResponse(21, 0.5, branching=2, method="haar")),
        Example(TreeResponse(5000, 1.0, branching=8)),
    ),
    kinds=(Example(TreeResponse(12, 1.0, branching=2)),),
    report_dtype=smallest_code,
    decoded_shape=per_code,
    enumerated_up_to=250,
    makers={"TreeResponse": lambda e: TreeResponse(12, e, branching=2)},
    bad_records=(TreeResponse(12, 1.0, branching=2),),
    simulated=(
        Simulated(TreeResponse(3, 3.0, branching=2)),
        Simulated(TreeResponse(5, 0.5, branching=2)),
        Simulated(TreeResponse(5, 0.5, branching=2, method="haar")),
    ),
    finite=(lambda e: TreeResponse(5, e, branching=2), lambda e: TreeResponse(5, e, branching=2, method="haar")),
    moments=(TreeResponse(9, 1.0, branching=2, method="haar"),),
    timing="it is written in Python",
)
