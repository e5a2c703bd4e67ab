"""The card of `DistributionResponse`, of a window or a level of a tree that is drawn. It is written in Python."""

from __future__ import annotations

from ldpfast.mechanisms import DistributionResponse

from ..support.examples import Example
from ._card import Card, Simulated
from ._formats import per_code, smallest_code

CARD = Card(
    mechanism=DistributionResponse,
    proof="distribution",
    inner=True,
    examples=(
        Example(DistributionResponse(2, 1.0)),
        Example(DistributionResponse(13, 3.0)),
        Example(DistributionResponse(20, 2.0)),
        Example(DistributionResponse(256, 0.5)),
    ),
    kinds=(Example(DistributionResponse(13, 1.0)),),
    report_dtype=smallest_code,
    decoded_shape=per_code,
    enumerated_up_to=250,
    makers={"DistributionResponse": lambda e: DistributionResponse(13, e)},
    bad_records=(DistributionResponse(12, 1.0),),
    simulated=(Simulated(DistributionResponse(3, 3.0)), Simulated(DistributionResponse(4, 0.5))),
    finite=(lambda e: DistributionResponse(6, e),),
    moments=(DistributionResponse(9, 1.0),),
    timing="it is written in Python",
)
