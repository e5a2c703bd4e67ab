"""The card of `RotatedSigns`."""

from __future__ import annotations

import math

import numpy as np

import ldpfast as ldp

from ..support.examples import Example
from ._card import Card, Coin, Keyed, Sample, always
from ._events import of_set
from ._fault import Fault
from ._formats import per_coordinate
from ._pages import Decision, Precision
from ._samples import DISK, few_rows, in_ball, poles, recorded_rows, row


def more_probable(reports: np.ndarray) -> int:
    """Count the pattern that is more probable for the record zero, one of four: the rows have the signs of the pattern."""
    return np.count_nonzero(reports[:, 1] == 2)


def two_signs(epsilon: float) -> ldp.RotatedSigns:
    return ldp.RotatedSigns(2, epsilon, rotation=1, signs=2)


CARD = Card(
    mechanism=ldp.RotatedSigns,
    examples=tuple(
        Example(ldp.RotatedSigns(d, 2.0, rotation=5, signs=signs, radius=2.0)) for d, signs in ((3, 4), (100, 128))
    ),
    kinds=(Example(ldp.RotatedSigns(5, 1.0, rotation=2**64 - 1, signs=16)),),
    report_dtype=lambda mechanism, dtype: np.uint64,
    report_shape=lambda mechanism: (1 + math.ceil(mechanism.signs / 64),),
    decoded_shape=per_coordinate,
    makers={"RotatedSigns": lambda e: ldp.RotatedSigns(3, e, rotation=1, signs=4)},
    bad_records=(ldp.RotatedSigns(3, 1.0, rotation=1, signs=4, radius=2.0),),
    flips={"RotatedSigns": lambda n: two_signs(1 + math.log(3)).privatize(np.zeros((n, 2)), rng=9)[:, 1] != 2},
    power=lambda: (Coin(two_signs(11.0), np.zeros(2), of_set(1, 4, 11.0), more_probable),),
    unbiased=(Sample(ldp.RotatedSigns(3, 2.0, rotation=1, signs=64, radius=3.0), in_ball(5000, 3, 3.0)),),
    extremes=((ldp.RotatedSigns(3, 0.7, rotation=1, signs=8, radius=2.0), poles()),),
    covered=(Sample(ldp.RotatedSigns(4, 2.0, rotation=1, signs=16), few_rows(0.5)),),
    refuses_simulation=always,
    audited=((ldp.RotatedSigns(5, 1.0, rotation=1, signs=16), 0.85),),
    keyed=(Keyed(two_signs(1.0), DISK, row),),
    recorded=tuple(
        Sample(ldp.RotatedSigns(d, 2.0, rotation=7, signs=signs, radius=2.0), recorded_rows(n, d))
        for d, signs, n in ((2, 2, 300), (100, 128, 100), (9000, 16, 20))
    ),
    faults=(
        Fault(
            "a branch on a number of the record",
            "rotated signs, f64",
            "privatize/rotated_signs.c",
            "privatize/rotated_signs_body.h",
            "        memcpy(v + i, &a, 64);",
            '        if (v[i] > 0) { __asm__ volatile(""); v[i] = 0; }\n        memcpy(v + i, &a, 64);',
        ),
        Fault(
            "an address that depends on a product",
            "rotated signs, f32",
            "privatize/rotated_signs.c",
            "privatize/rotated_signs_body.h",
            "product[j] = sum[at.row[j]];",
            "product[j] = sum[at.row[j] ^ (sum[j] > 0)];",
        ),
    ),
    kernel_tests={
        "src/kernels/privatize/rotated_signs*": ("tests/mechanisms/test_rotated_signs.py",),
        "src/kernels/tally/rotated*": ("tests/mechanisms/test_rotated_signs.py",),
        "src/kernels/transform/rotation*": ("tests/mechanisms/test_rotated_signs.py",),
    },
    choosing=(
        Decision(
            "ball",
            30,
            "thousands of dimensions and more, many people (federated learning)",
            "`RotatedSigns`",
            "error of `RankedSigns` at 1 ns per coordinate; the server announces a rotation",
        ),
        Precision(
            "ball",
            30,
            "the same, with a public rotation",
            "`RotatedSigns(dim, epsilon, rotation=)`",
            "8 bytes and L bits",
            "1.01 to 1.06 of the best possible for ε from 2 to 16 with L = 256 signs, and the error that all reports share",
        ),
    ),
)
