"""The card of `Warner`."""

from __future__ import annotations

from functools import partial

import numpy as np

import ldpfast as ldp

from ..support.examples import Example
from ._card import Card, ChannelRow, Coin, Keyed, Sample, Simulated, always
from ._events import logistic
from ._pages import Decision, Precision
from ._samples import EPSILONS, integer, recorded_labels

CARD = Card(
    mechanism=ldp.Warner,
    examples=(Example(ldp.Warner(1.0)),),
    kinds=(Example(ldp.Warner(1.0)),),
    in_place=always,
    enumerated_up_to=1,
    makers={"Warner": ldp.Warner},
    largest_epsilons=((ldp.Warner, 44.3),),
    bad_records=(ldp.Warner(1.0),),
    flips={"Warner": lambda n: ldp.Warner(1.0).privatize(np.zeros(n, np.uint8), rng=9)},
    power=lambda: (Coin(ldp.Warner(1.0), 1, logistic(1.0), np.count_nonzero),),
    frequencies=(ChannelRow(ldp.Warner(1.0), 1, 1),),
    extremes=((ldp.Warner(0.7), np.array([0, 1])),),
    covered=(Sample(ldp.Warner(0.5), lambda: np.arange(200) < 60),),
    simulated=(Simulated(ldp.Warner(1.0)),),
    billion={"Warner": (partial(ldp.Warner, 1.0), [0.3, 0.7])},
    finite=(ldp.Warner,),
    channels=tuple(ldp.Warner(e) for e in EPSILONS),
    audited=((ldp.Warner(1.0), 0.95), (ldp.Warner(4.0), 0.9)),
    keyed=(Keyed(ldp.Warner(1.0), np.arange(40) % 2 == 1, integer),),
    recorded=(Sample(ldp.Warner(1.0), recorded_labels(3000, 2)),),
    choosing=(
        Decision(
            "answer",
            10,
            "",
            "`Warner`",
            "no mechanism has a smaller variance",
            not_chosen="RandomizedResponse for two categories has the same variance",
        ),
        Precision("answer", 10, "yes or no", "`Warner(epsilon)`", "1 byte", "e^ε / (e^ε - 1)²"),
    ),
)
