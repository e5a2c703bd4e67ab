"""The card of `SmoothedBins`, the bins of a median of few different values. It is written in Python."""

from __future__ import annotations

from ..support.channels import exact_rows
from ..support.examples import Example
from ..support.internals.mechanisms import smoothed_bins
from ._card import Card, Simulated
from ._formats import per_code

CARD = Card(
    mechanism=smoothed_bins.SmoothedBins,
    proof="bins",
    inner=True,
    examples=(Example(smoothed_bins.SmoothedBins([0.5, 2.5], 1.0, spacing=1.0)),),
    kinds=(Example(smoothed_bins.SmoothedBins([0.5, 2.5], 1.0, spacing=1.0)),),
    decoded_shape=per_code,
    enumerated_up_to=256,
    makers={"SmoothedBins": lambda e: smoothed_bins.SmoothedBins([0.5, 2.5], e, spacing=1.0)},
    bad_records=(smoothed_bins.SmoothedBins([0.5, 2.5], 1.0, spacing=1.0),),
    finite=(lambda e: smoothed_bins.SmoothedBins([0.0, 1.0], e, spacing=2.0),),
    simulated=(
        Simulated(
            smoothed_bins.SmoothedBins([0.0, 1.0], 1.0, spacing=2.0), 0.5, lambda m: exact_rows(m).T @ [0.25, 0.5, 0.25]
        ),
    ),
    timing="it is written in Python",
)
