"""The card of `Bins`."""

from __future__ import annotations

import numpy as np

import ldpfast as ldp

from ..support.channels import exact_rows
from ..support.examples import Example
from ._card import Card, ChannelRow, Coin, Keyed, Sample, Simulated
from ._events import equal_to, response
from ._fault import Fault
from ._formats import per_code
from ._pages import Precision
from ._samples import EPSILONS, NUMBERS, number, recorded_numbers

HALVES = ldp.Bins([0.25], 1.0)
EIGHT = ldp.Bins([-3, -2, -1, 0, 1, 2, 3], 2.0)

CARD = Card(
    mechanism=ldp.Bins,
    examples=(Example(HALVES), Example(HALVES, "float32"), Example(EIGHT)),
    kinds=(Example(ldp.Bins([-1, 0, 1], 1.0)),),
    decoded_shape=per_code,
    enumerated_up_to=256,
    makers={"Bins": lambda e: ldp.Bins([0.0], e)},
    bad_records=(ldp.Bins([-1.0, 1.0], 1.0),),
    flips={"Bins": lambda n: ldp.Bins(0.0, 1.0).privatize(np.full(n, -1.0), rng=9)},
    power=lambda: (Coin(ldp.Bins([-1, 0, 1], 1.0), 0.5, response(4, 1.0), equal_to(2)),),
    frequencies=(ChannelRow(ldp.Bins((0.0, 1.0), 1.0), 0.5, 1),),
    extremes=((ldp.Bins((0.0, 1.0), 0.7), np.array([-1.0, 0.5, 2.0])),),
    simulated=(Simulated(ldp.Bins([0.0, 1.0], 1.0), 0.5, lambda m: exact_rows(m)[1]),),
    finite=(lambda e: ldp.Bins([0.0], e),),
    channels=tuple(ldp.Bins(cuts, e) for cuts in ((0.0,), (-1.0, 0.0, 1.0)) for e in EPSILONS),
    audited=((ldp.Bins([0.0], 1.0), 0.95),),
    keyed=(Keyed(ldp.Bins([0.0, 1.0], 1.0), NUMBERS, number),),
    recorded=(Sample(HALVES, recorded_numbers(3000)), Sample(EIGHT, recorded_numbers(3000))),
    faults=(
        Fault(
            "a branch on a comparison of the record with a cut",
            "bins, f32",
            "privatize/bins.c",
            "privatize/bins_body.h",
            "symbol[i] = (uint8_t)(symbol[i] + ((double)value[i] >= cut));",
            'if ((double)value[i] >= cut) { __asm__ volatile(""); symbol[i]++; }',
        ),
    ),
    kernel_tests={
        "src/kernels/privatize/bins*": (
            "tests/mechanisms/test_bins.py",
            "tests/mechanisms/test_smoothed_bins.py",
        ),
    },
    choosing=(
        Precision(
            "number",
            40,
            "a number whose histogram is wanted",
            "`Bins(cuts, epsilon)`",
            "1 byte",
            "as `RandomizedResponse`",
        ),
    ),
)
