"""The card of `SmoothedBins`, the bins of a median of few different values. It is written in Python."""

from __future__ import annotations

from ldpfast.mechanisms._smoothed_bins import SmoothedBins

from ..support.channels import exact_rows
from ..support.examples import Example
from ._card import Card, Simulated
from ._formats import per_code

CARD = Card(
    mechanism=SmoothedBins,
    proof="bins",
    inner=True,
    examples=(Example(SmoothedBins([0.5, 2.5], 1.0, spacing=1.0)),),
    kinds=(Example(SmoothedBins([0.5, 2.5], 1.0, spacing=1.0)),),
    decoded_shape=per_code,
    enumerated_up_to=256,
    makers={"SmoothedBins": lambda e: SmoothedBins([0.5, 2.5], e, spacing=1.0)},
    bad_records=(SmoothedBins([0.5, 2.5], 1.0, spacing=1.0),),
    finite=(lambda e: SmoothedBins([0.0, 1.0], e, spacing=2.0),),
    simulated=(
        Simulated(SmoothedBins([0.0, 1.0], 1.0, spacing=2.0), 0.5, lambda m: exact_rows(m).T @ [0.25, 0.5, 0.25]),
    ),
    timing="it is written in Python",
)
