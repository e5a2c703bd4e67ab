"""The card of `HadamardResponse`."""

from __future__ import annotations

from functools import partial

import numpy as np

import ldpfast as ldp

from ..support.examples import Example
from ._card import Card, ChannelRow, Coin, Keyed, Sample, Simulated
from ._events import in_set, logistic
from ._fault import Fault
from ._formats import has_codes_of_records, per_category, smallest_code
from ._pages import Decision, Precision
from ._samples import EPSILONS, few_categories, integer, recorded_labels, shares

SIZES = (2, 13, 256, 300, 65_536, 70_000)


def coins() -> tuple[Coin, ...]:
    mechanism = ldp.HadamardResponse(9, 1.0)
    return (Coin(mechanism, 2, logistic(1.0), in_set(mechanism, 2)),)


CARD = Card(
    mechanism=ldp.HadamardResponse,
    examples=(
        *(Example(ldp.HadamardResponse(k, 1.5)) for k in SIZES),
        Example(ldp.HadamardResponse(9, 20.0)),
    ),
    kinds=(Example(ldp.HadamardResponse(9, 1.0)),),
    report_dtype=smallest_code,
    decoded_shape=per_category,
    in_place=has_codes_of_records,
    enumerated_up_to=256,
    makers={"HadamardResponse": lambda e: ldp.HadamardResponse(3, e)},
    largest_epsilons=((lambda e: ldp.HadamardResponse(9, e), 44.3), (lambda e: ldp.HadamardResponse(3, e), 44.3)),
    bad_records=(ldp.HadamardResponse(9, 1.0),),
    flips={"HadamardResponse": lambda n: ldp.HadamardResponse(2, 1.0).privatize(np.zeros(n, np.uint8), rng=9) & 1},
    power=coins,
    frequencies=(ChannelRow(ldp.HadamardResponse(5, 1.0), 2, 2),),
    extremes=((ldp.HadamardResponse(5, 0.7), np.arange(5)),),
    covered=(Sample(ldp.HadamardResponse(8, 1.0), few_categories(8)),),
    total_variances={"HR": ldp.HadamardResponse},
    simulated=(Simulated(ldp.HadamardResponse(2, 1.0)), Simulated(ldp.HadamardResponse(5, 2.0))),
    moments=(ldp.HadamardResponse(9, 1.0),),
    billion={"HadamardResponse, k = 65536": (partial(ldp.HadamardResponse, 65_536, 1.0), shares(65_536))},
    finite=(lambda e: ldp.HadamardResponse(5, e),),
    channels=tuple(ldp.HadamardResponse(k, e) for k in (2, 5, 40) for e in EPSILONS),
    audited=((ldp.HadamardResponse(9, 1.0), 0.9),),
    keyed=(Keyed(ldp.HadamardResponse(300, 1.0), np.arange(40) * 7, integer),),
    recorded=(
        *(Sample(ldp.HadamardResponse(k, 1.5), recorded_labels(3000, k)) for k in SIZES),
        Sample(ldp.HadamardResponse(9, 20.0), recorded_labels(3000, 9)),
        Sample(ldp.HadamardResponse(1000, 0.01), recorded_labels(3000, 1000)),
    ),
    faults=(
        Fault(
            "a branch on the parity of the code and the record",
            "Hadamard response, u16 u16",
            "privatize/hadamard_response.c",
            "privatize/hadamard_response_body.h",
            "return code ^ (row & -row & -((parity ^ tails) & 1));",
            'if ((parity ^ tails) & 1) { __asm__ volatile(""); code ^= row & -row; } return code;',
        ),
    ),
    kernel_tests={
        "src/kernels/privatize/hadamard*": (
            "tests/mechanisms/test_hadamard_response.py",
            "tests/mechanisms/test_tree_response.py",
        ),
    },
    choosing=(
        Decision(
            "category",
            40,
            "many, $\\varepsilon$ up to 1, fastest client and server",
            "`HadamardResponse`",
            "one random word, one byte or two",
        ),
        Precision(
            "category",
            40,
            "the same with the fastest client and server, ε ≤ 1",
            "`HadamardResponse(k, epsilon)`",
            "about log2(k) bits",
            "coth²(ε/2) for a rare category",
        ),
    ),
)
