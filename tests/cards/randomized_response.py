"""The card of `RandomizedResponse`."""

from __future__ import annotations

from functools import partial

import numpy as np

import ldpfast as ldp

from ..support.examples import Example
from ._card import Card, ChannelRow, Coin, Keyed, Sample, Simulated, always
from ._events import equal_to, response
from ._fault import Fault
from ._formats import per_category, smallest_code
from ._pages import Decision, Precision
from ._samples import EPSILONS, few_categories, integer, recorded_labels, shares

CARD = Card(
    mechanism=ldp.RandomizedResponse,
    examples=tuple(Example(ldp.RandomizedResponse(k, 1.5)) for k in (2, 3, 8, 9, 128, 300, 70_000)),
    kinds=(Example(ldp.RandomizedResponse(9, 1.5)),),
    report_dtype=smallest_code,
    decoded_shape=per_category,
    in_place=always,
    enumerated_up_to=300,
    makers={"RandomizedResponse": lambda e: ldp.RandomizedResponse(3, e)},
    largest_epsilons=((lambda e: ldp.RandomizedResponse(1000, e), 44.3),),
    bad_records=tuple(ldp.RandomizedResponse(k, 1.0) for k in (4, 300)),
    flips={"RandomizedResponse": lambda n: ldp.RandomizedResponse(2, 1.0).privatize(np.zeros(n, np.uint8), rng=9)},
    power=lambda: (Coin(ldp.RandomizedResponse(9, 1.5), 4, response(9, 1.5), equal_to(4)),),
    frequencies=(
        ChannelRow(ldp.RandomizedResponse(2, 0.1), 0, 0),
        ChannelRow(ldp.RandomizedResponse(5, 1.0), 3, 3),
        ChannelRow(ldp.RandomizedResponse(64, 4.0), 63, 63),
        ChannelRow(ldp.RandomizedResponse(300, 6.0), 17, 17),
    ),
    extremes=((ldp.RandomizedResponse(5, 0.7), np.arange(5)),),
    covered=(Sample(ldp.RandomizedResponse(4, 1.0), few_categories(4)),),
    total_variances={"k-RR": ldp.RandomizedResponse},
    simulated=(Simulated(ldp.RandomizedResponse(4, 1.0)),),
    moments=(ldp.RandomizedResponse(9, 1.0),),
    billion={"RandomizedResponse, k = 65536": (partial(ldp.RandomizedResponse, 65_536, 1.0), shares(65_536))},
    finite=(lambda e: ldp.RandomizedResponse(5, e),),
    channels=tuple(ldp.RandomizedResponse(k, e) for k in (2, 3, 7, 128) for e in EPSILONS),
    audited=((ldp.RandomizedResponse(2, 1.0), 0.95), (ldp.RandomizedResponse(9, 1.5), 0.9)),
    keyed=(
        Keyed(ldp.RandomizedResponse(5, 1.0), np.arange(40) % 5, integer),
        Keyed(ldp.RandomizedResponse(500, 1.0), np.arange(40) * 12, integer),
    ),
    recorded=tuple(Sample(ldp.RandomizedResponse(k, 1.5), recorded_labels(3000, k)) for k in (2, 9, 128, 300, 70_000)),
    faults=(
        Fault(
            "a branch on the private coin",
            "randomized response, 32 bits",
            "privatize/randomized_response.c",
            "privatize/randomized_response_body.h",
            "out[i] = (uint8_t)((truth & ~replaced) | (other[i] & replaced));",
            'out[i] = truth; if (replaced) { __asm__ volatile(""); out[i] = (uint8_t)other[i]; }',
        ),
        Fault(
            "a branch on the private coin, in integers",
            "randomized response, u16",
            "privatize/randomized_response.c",
            "privatize/randomized_response.c",
            "const uint64_t replaced = -(uint64_t)(u >= p->direct);",
            'uint64_t replaced = 0; if (u >= p->direct) { __asm__ volatile(""); replaced = ~replaced; }',
        ),
    ),
    kernel_tests={
        "src/kernels/privatize/randomized*": (
            "tests/mechanisms/test_randomized_response.py",
            "tests/mechanisms/test_warner.py",
            "tests/mechanisms/test_residue.py",
            "tests/mechanisms/test_bins.py",
            "tests/mechanisms/test_tree_response.py",
        ),
    },
    choosing=(
        Decision(
            "category",
            10,
            "$k$ up to about $1.4 e^\\varepsilon + 1.5$",
            "`RandomizedResponse`",
            "smallest total variance for few categories",
        ),
        Precision(
            "category",
            10,
            "one of few categories, k ≤ 1.4 e^ε + 1.5",
            "`RandomizedResponse(k, epsilon)`",
            "1 to 8 bytes",
            "(e^ε + k - 2) / (e^ε - 1)² for a rare category",
        ),
    ),
)
