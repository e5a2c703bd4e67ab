"""The card of `LaplaceResidue`."""

from __future__ import annotations

import numpy as np

from ..support.examples import Example
from ..support.internals.mechanisms import LaplaceResidue
from ._card import Card, Keyed, Noise, Sample
from ._events import LAPLACE_FLIP
from ._formats import double
from ._samples import NUMBERS, number, recorded_numbers

CARD = Card(
    mechanism=LaplaceResidue,
    inner=True,
    examples=(
        Example(LaplaceResidue(2.0, 0.25, 1.0)),
        Example(LaplaceResidue(2.0, 0.25, 1.0), "float32"),
        Example(LaplaceResidue(7.5, -3.0, 0.25)),
    ),
    kinds=(Example(LaplaceResidue(2.0, 0.25, 1.0)),),
    report_dtype=double,
    makers={"LaplaceResidue": lambda e: LaplaceResidue(2.0, 0.25, e)},
    bad_records=(LaplaceResidue(2.0, 0.25, 1.0),),
    flips={"LaplaceResidue": lambda n: LaplaceResidue(2.0, 0.0, 1.0).privatize(np.zeros(n), rng=9) > 2 * LAPLACE_FLIP},
    power=lambda: (Noise(LaplaceResidue(2.0, 0.25, 1.0), -0.75, 1 / 2),),
    extremes=((LaplaceResidue(2.0, 0.0, 0.7), np.array([-0.999, 0.999])),),
    keyed=(Keyed(LaplaceResidue(2.0, 0.25, 1.0), NUMBERS, number),),
    recorded=(Sample(LaplaceResidue(2.0, 0.25, 1.0), recorded_numbers(70_000)),),
    timing="tables are read at indices that depend on the noise",
)
