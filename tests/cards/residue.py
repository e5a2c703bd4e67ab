"""The card of `Residue`."""

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

CARD = Card(
    mechanism=ldp.Residue,
    examples=tuple(Example(ldp.Residue(0.7, -0.1, 4, 1.0), dtype) for dtype in ("float64", "float32")),
    kinds=(Example(ldp.Residue(0.7, -0.1, 4, 1.0)),),
    decoded_shape=per_code,
    enumerated_up_to=256,
    makers={"Residue": lambda e: ldp.Residue(1.0, 0.0, 4, e)},
    bad_records=(ldp.Residue(1.0, 0.0, 4, 1.0),),
    flips={"Residue": lambda n: ldp.Residue(1.0, 0.0, 2, 1.0).privatize(np.full(n, 0.5), rng=9)},
    power=lambda: (Coin(ldp.Residue(0.7, -0.1, 4, 1.0), 0.3, response(4, 1.0), equal_to(0)),),
    frequencies=(ChannelRow(ldp.Residue(1.0, 0.0, 4, 1.0), -0.1, 3),),
    extremes=((ldp.Residue(1.0, 0.0, 4, 0.7), np.arange(4.0)),),
    simulated=(Simulated(ldp.Residue(1.0, 0.0, 4, 1.0), 6.5, lambda m: exact_rows(m)[2]),),
    finite=(lambda e: ldp.Residue(1.0, 0.0, 3, e),),
    channels=tuple(ldp.Residue(1.0, 0.0, m, e) for m in (2, 4, 5) for e in EPSILONS),
    audited=((ldp.Residue(0.7, -0.1, 4, 1.0), 0.9),),
    keyed=(Keyed(ldp.Residue(0.7, -0.1, 4, 1.0), NUMBERS, number),),
    recorded=tuple(
        Sample(ldp.Residue(0.7, -0.1, modulus, e), recorded_numbers(3000)) for modulus, e in ((4, 1.0), (9, 20.0))
    ),
    faults=(
        Fault(
            "a table at an index that depends on the record",
            "residue, f64",
            "privatize/residue.c",
            "privatize/residue_body.h",
            "symbol[i] = (uint8_t)found[i];",
            "{ static const uint8_t table[256] = {0, 1, 2, 3, 4}; symbol[i] = table[found[i] & 255]; }",
        ),
    ),
    kernel_tests={
        "src/kernels/privatize/residue*": ("tests/mechanisms/test_residue.py",),
    },
    choosing=(
        Precision(
            "number",
            50,
            "a number, in the rounds of a protocol",
            "`Residue(width, offset, modulus, epsilon)`",
            "1 byte",
            "as `RandomizedResponse`",
        ),
    ),
)
