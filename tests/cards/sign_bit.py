"""The card of `SignBit`."""

from __future__ import annotations

from functools import partial

import numpy as np

import ldpfast as ldp

from ..support.channels import exact_rows
from ..support.examples import Example
from ._card import Card, ChannelRow, Coin, Keyed, Sample, Simulated
from ._events import logistic
from ._fault import Fault
from ._pages import Decision, Precision
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
    faults=(
        Fault(
            "a branch on the report",
            "sign bit, 64 bits, f64",
            "privatize/sign_bit.c",
            "privatize/sign_bit_body.h",
            "out[i] = word[i] < low + NAME(scaled)(span, bits_f64(1 + u) - bits_f64(1));",
            "out[i] = 0; if (word[i] < low + NAME(scaled)(span, bits_f64(1 + u) - bits_f64(1))) "
            '{ __asm__ volatile(""); out[i] = 1; }',
        ),
        Fault(
            "a loop over the ones of the reports",
            "sign bit, 32 bits, f32",
            "privatize/sign_bit.c",
            "privatize/sign_bit_body.h",
            "PER_ISA(store_bits)(out + i, bits);",
            "memset(out + i, 0, 64); for (; bits; bits &= bits - 1) out[i + (size_t)__builtin_ctzll(bits)] = 1;",
        ),
    ),
    kernel_tests={
        "src/kernels/privatize/sign_bit*": (
            "tests/mechanisms/test_sign_bit.py",
            "tests/mechanisms/test_half_space.py",
        ),
    },
    choosing=(
        Decision("number", 10, "$\\varepsilon$ below 0.25", "`SignBit`", "one bit, at most 1 % more variance"),
        Precision(
            "number",
            10,
            "a number in [lower, upper], ε < 0.53",
            "`SignBit(lower, upper, epsilon)`",
            "1 byte",
            "r² coth²(ε/2) - (x - c)²",
        ),
    ),
)
