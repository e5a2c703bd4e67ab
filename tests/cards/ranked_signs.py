"""The card of `RankedSigns`."""

from __future__ import annotations

import math

import numpy as np

import ldpfast as ldp

from ..support.examples import Example
from ._card import Card, Coin, Keyed, Sample, always
from ._events import of_set
from ._formats import per_coordinate
from ._samples import DISK, N, few_rows, in_ball, poles, recorded_rows, row


def more_probable(reports: np.ndarray) -> int:
    """Count the pattern that is more probable for the record zero, one of four: the vectors have the signs of the pattern."""
    return np.count_nonzero(reports[:, 1] == 2)


CARD = Card(
    mechanism=ldp.RankedSigns,
    examples=tuple(Example(ldp.RankedSigns(d, 2.0, radius=2.0, signs=signs)) for d, signs in ((3, 3), (100, 70))),
    kinds=(Example(ldp.RankedSigns(5, 1.0)),),
    report_dtype=lambda mechanism, dtype: np.uint64,
    report_shape=lambda mechanism: (1 + math.ceil(mechanism.signs / 64),),
    decoded_shape=per_coordinate,
    makers={"RankedSigns": lambda e: ldp.RankedSigns(3, e)},
    bad_records=(ldp.RankedSigns(3, 1.0, radius=2.0),),
    flips={"RankedSigns": lambda n: ldp.RankedSigns(2, 1 + math.log(3)).privatize(np.zeros((n, 2)), rng=9)[:, 1] != 2},
    power=lambda: (Coin(ldp.RankedSigns(2, 7.0), np.zeros(2), of_set(1, 4, 7.0), more_probable),),
    unbiased=(Sample(ldp.RankedSigns(3, 2.0, radius=3.0), in_ball(N, 3, 3.0)),),
    extremes=((ldp.RankedSigns(3, 0.7, radius=2.0), poles()),),
    covered=(Sample(ldp.RankedSigns(4, 2.0), few_rows(0.5)),),
    refuses_simulation=always,
    audited=((ldp.RankedSigns(5, 1.0), 0.7),),
    keyed=(Keyed(ldp.RankedSigns(2, 1.0), DISK, row),),
    recorded=tuple(
        Sample(ldp.RankedSigns(d, 2.0, radius=2.0, signs=signs), recorded_rows(300, d))
        for d, signs in ((2, 2), (100, 70), (300, 20))
    ),
)
