"""The card of `SubsetSelection`."""

from __future__ import annotations

from functools import partial

import numpy as np

import ldpfast as ldp

from ..support.examples import Example
from ._card import Card, ChannelRow, Coin, Keyed, Sample, Simulated
from ._events import of_set, ones
from ._formats import packed_categories, per_category
from ._samples import CATEGORIES, EPSILONS, few_categories, integer, recorded_labels, shares

CARD = Card(
    mechanism=ldp.SubsetSelection,
    examples=(
        *(Example(ldp.SubsetSelection(k, 1.5)) for k in (2, 8, 13, 128, 1000)),
        *(Example(ldp.SubsetSelection(k, 2.0, size=size)) for k, size in ((13, 1), (13, 12), (65, 40))),
    ),
    kinds=(Example(ldp.SubsetSelection(13, 1.0)),),
    report_shape=packed_categories,
    decoded_shape=per_category,
    enumerated_up_to=13,
    makers={"SubsetSelection": lambda e: ldp.SubsetSelection(10, e)},
    largest_epsilons=((lambda e: ldp.SubsetSelection(8, e), 46.3),),
    bad_records=(ldp.SubsetSelection(13, 1.0),),
    flips={"SubsetSelection": lambda n: ldp.SubsetSelection(2, 1.0).privatize(np.ones(n, np.uint8), rng=9) & 1},
    power=lambda: (Coin(ldp.SubsetSelection(13, 6.0, size=4), 2, of_set(4, 13, 6.0), ones([1 << 2, 0])),),
    frequencies=(ChannelRow(ldp.SubsetSelection(5, 1.0), 3, 3),),
    extremes=((ldp.SubsetSelection(5, 0.7), np.arange(5)),),
    covered=(Sample(ldp.SubsetSelection(8, 1.0), few_categories(8)),),
    total_variances={"SS": ldp.SubsetSelection},
    simulated=(
        Simulated(ldp.SubsetSelection(2, 1.0)),
        Simulated(ldp.SubsetSelection(4, 1.0, size=2)),
        Simulated(ldp.SubsetSelection(5, 1.0, size=4)),
    ),
    moments=(ldp.SubsetSelection(12, 1.0),),
    billion={"SubsetSelection, k = 4096": (partial(ldp.SubsetSelection, 4096, 1.0), shares(4096))},
    finite=(lambda e: ldp.SubsetSelection(5, e),),
    channels=tuple(ldp.SubsetSelection(k, e) for k in (2, 5, 8) for e in EPSILONS),
    audited=((ldp.SubsetSelection(9, 1.0), 0.85),),
    keyed=(Keyed(ldp.SubsetSelection(9, 1.0), CATEGORIES, integer),),
    recorded=(
        *(Sample(ldp.SubsetSelection(k, 1.5), recorded_labels(3000, k)) for k in (2, 13, 128, 1000)),
        *(Sample(ldp.SubsetSelection(k, 2.0, size=size), recorded_labels(3000, k)) for k, size in ((13, 12), (65, 40))),
    ),
)
