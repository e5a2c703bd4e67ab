"""The card of `SignBit`."""

from __future__ import annotations

from functools import partial

import numpy as np

import ldpfast as ldp

from ..support.channels import exact_rows
from ..support.examples import Example
from ._card import Card, ChannelRow, Coin, Keyed, Sample, Simulated
from ._events import logistic
from ._samples import EPSILONS, NUMBERS, SHARES_OF_NUMBERS, few_numbers, in_interval, number, recorded_numbers

CARD = Card(
    mechanism=ldp.SignBit,
    examples=tuple(Example(ldp.SignBit(-1.0, 3.0, 1.0), dtype) for dtype in ("float64", "float32")),
    kinds=(Example(ldp.SignBit(-1.0, 3.0, 1.0)),),
    enumerated_up_to=1,
    makers={"SignBit": lambda e: ldp.SignBit(0.0, 1.0, e)},
    largest_epsilons=((lambda e: ldp.SignBit(0, 1, e), 44.3),),
    bad_records=(ldp.SignBit(-1.0, 3.0, 1.0),),
    flips={"SignBit": lambda n: ldp.SignBit(0.0, 1.0, 1.0).privatize(np.zeros(n), rng=9)},
    power=lambda: (Coin(ldp.SignBit(-1.0, 3.0, 1.0), 3.0, logistic(1.0), np.count_nonzero),),
    frequencies=(ChannelRow(ldp.SignBit(-1.0, 1.0, 1.0), 1.0, 1),),
    unbiased=(Sample(ldp.SignBit(-2.0, 5.0, 0.7), in_interval(-2, 5)),),
    extremes=((ldp.SignBit(-1, 3, 0.7), np.array([-1.0, 3.0])),),
    covered=(Sample(ldp.SignBit(0.0, 1.0, 1.0), few_numbers),),
    simulated=(Simulated(ldp.SignBit(0.0, 4.0, 1.0), 1.0, lambda m: exact_rows(m).T @ [0.75, 0.25]),),
    billion={"SignBit": (partial(ldp.SignBit, 0, 1, 1.0), SHARES_OF_NUMBERS)},
    finite=(lambda e: ldp.SignBit(0.0, 1.0, e),),
    channels=tuple(ldp.SignBit(-1.0, 3.0, e) for e in EPSILONS),
    audited=((ldp.SignBit(-1.0, 3.0, 1.0), 0.95),),
    keyed=(
        Keyed(ldp.SignBit(-1, 3, 1.0), NUMBERS, number),
        Keyed(ldp.SignBit(-1, 3, 1.0), NUMBERS.astype(np.float32), number),
    ),
    recorded=(Sample(ldp.SignBit(-4.0, 5.0, 1.0), recorded_numbers(3000)),),
)
