"""The card of `LaplaceOneHot`."""

from __future__ import annotations

from functools import partial

import numpy as np

from ldpfast.mechanisms import LaplaceOneHot

from ..support.examples import Example
from ._card import Card, Keyed, Noise, Sample
from ._events import LAPLACE_FLIP
from ._formats import double, per_category
from ._samples import CATEGORIES, integer, recorded_labels, shares

CARD = Card(
    mechanism=LaplaceOneHot,
    inner=True,
    examples=tuple(Example(LaplaceOneHot(k, 2.0)) for k in (2, 13, 300)),
    kinds=(Example(LaplaceOneHot(9, 1.0)),),
    report_dtype=double,
    report_shape=per_category,
    decoded_shape=per_category,
    makers={"LaplaceOneHot": lambda e: LaplaceOneHot(3, e)},
    bad_records=(LaplaceOneHot(9, 1.0),),
    flips={
        "LaplaceOneHot": lambda n: (
            LaplaceOneHot(2, 1.0).privatize(np.zeros(n, np.uint8), rng=9)[:, 1] > 2 * LAPLACE_FLIP
        )
    },
    power=lambda: (Noise(LaplaceOneHot(9, 1.0), 0, 1 / 2),),
    extremes=((LaplaceOneHot(3, 0.7), np.arange(3)),),
    billion={"LaplaceOneHot, k = 10": (partial(LaplaceOneHot, 10, 1.0), shares(10))},
    keyed=(Keyed(LaplaceOneHot(9, 1.0), CATEGORIES, integer),),
    recorded=tuple(Sample(LaplaceOneHot(k, 2.0), recorded_labels(300, k)) for k in (2, 13, 300)),
    timing="tables are read at indices that depend on the noise",
)
