"""The card of `DistributionResponse`, of a window or a level of a tree that is drawn."""

from __future__ import annotations

import numpy as np

from ldpfast.mechanisms import DistributionResponse

from ..support.examples import Example
from ._card import Card, ChannelRow, Coin, Keyed, Sample, Simulated
from ._events import of_set
from ._formats import per_code, smallest_code
from ._samples import integer, recorded_labels


def coins() -> tuple[Coin, ...]:
    """Return the coin of the window, of 4 of 19 codes, which seven of eight people report."""
    mechanism = DistributionResponse(16, 1.0)
    inside = lambda reports: np.count_nonzero((reports >= 7) & (reports < 11))  # noqa: E731
    return (Coin(mechanism, 7, 7 / 8 * of_set(4, 19, 1.0), inside),)


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
    flips={"DistributionResponse": lambda n: DistributionResponse(2, 1.0).privatize(np.zeros(n, np.uint8), rng=9) & 1},
    power=coins,
    frequencies=(ChannelRow(DistributionResponse(5, 1.0), 2, 2),),
    keyed=(Keyed(DistributionResponse(300, 1.0), np.arange(40) * 7, integer),),
    recorded=(
        Sample(DistributionResponse(20, 2.0), recorded_labels(3000, 20)),
        Sample(DistributionResponse(256, 1.0), recorded_labels(3000, 256)),
        Sample(DistributionResponse(4096, 4.0), recorded_labels(3000, 4096)),
    ),
    simulated=(Simulated(DistributionResponse(3, 3.0)), Simulated(DistributionResponse(4, 0.5))),
    finite=(lambda e: DistributionResponse(6, e),),
    moments=(DistributionResponse(9, 1.0),),
    kernel_tests={
        "src/kernels/privatize/coded_levels*": (
            "tests/mechanisms/test_tree_response.py",
            "tests/mechanisms/test_distribution_response.py",
        ),
    },
    timing="tables are read at indices that depend on the record and the report",
)
