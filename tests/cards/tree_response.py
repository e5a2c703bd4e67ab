"""The card of `TreeResponse`, of a level of a tree that is drawn."""

from __future__ import annotations

import numpy as np

from ldpfast.mechanisms import TreeResponse

from ..support.examples import Example
from ._card import Card, ChannelRow, Coin, Keyed, Sample, Simulated
from ._events import equal_to, logistic
from ._formats import per_code, smallest_code
from ._samples import integer, recorded_labels


def coins() -> tuple[Coin, ...]:
    return (Coin(TreeResponse(2, 1.0), 0, logistic(1.0), equal_to(0)),)


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
    flips={"TreeResponse": lambda n: TreeResponse(2, 1.0).privatize(np.zeros(n, np.uint8), rng=9)},
    power=coins,
    frequencies=(ChannelRow(TreeResponse(5, 1.0, branching=2), 2, 2),),
    keyed=(Keyed(TreeResponse(300, 1.0), np.arange(40) * 7, integer),),
    recorded=(
        Sample(TreeResponse(64, 1.0), recorded_labels(3000, 64)),
        Sample(TreeResponse(5000, 2.0, branching=8), recorded_labels(3000, 5000)),
        Sample(TreeResponse(100, 1.0, branching=2, method="haar"), recorded_labels(3000, 100)),
    ),
    simulated=(
        Simulated(TreeResponse(3, 3.0, branching=2)),
        Simulated(TreeResponse(5, 0.5, branching=2)),
        Simulated(TreeResponse(5, 0.5, branching=2, method="haar")),
    ),
    finite=(lambda e: TreeResponse(5, e, branching=2), lambda e: TreeResponse(5, e, branching=2, method="haar")),
    moments=(TreeResponse(9, 1.0, branching=2, method="haar"),),
    kernel_tests={
        "src/kernels/privatize/coded_levels*": (
            "tests/mechanisms/test_tree_response.py",
            "tests/mechanisms/test_distribution_response.py",
        ),
    },
    timing="tables are read at indices that depend on the record and the report",
)
