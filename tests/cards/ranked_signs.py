"""The card of `RankedSigns`."""

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
    faults=(
        Fault(
            "a branch on the rank of a product",
            "ranked signs, f64",
            "privatize/ranked_signs.c",
            "random/sign_patterns_body.h",
            "word |= pattern[i] & -(uint64_t)(rank[j] / 64 == i);",
            'if (rank[j] / 64 == i) { __asm__ volatile(""); word |= pattern[i]; }',
        ),
        Fault(
            "an address that depends on the pattern",
            "ranked signs, f32",
            "privatize/ranked_signs.c",
            "random/sign_patterns_body.h",
            "const uint32_t member = reader_word(coins) <= own;",
            "const uint32_t member = reader_word(coins) <= limit[left];",
        ),
    ),
    kernel_tests={
        "src/kernels/privatize/ranked_signs*": ("tests/mechanisms/test_ranked_signs.py",),
        "src/kernels/random/sign_patterns*": ("tests/mechanisms/test_ranked_signs.py",),
    },
    choosing=(
        Decision("ball", 20, "above", "`RankedSigns`", "smallest variance, 16 to 40 bytes"),
        Precision(
            "ball",
            20,
            "the same, large ε or many dimensions",
            "`RankedSigns(dim, epsilon, radius)`",
            "8 bytes and L bits",
            "1.01 to 1.05 of the best possible up to ε = 16, up to 1.11 at ε = 30, with L = min(d, 256) signs and d ≥ 64",
        ),
    ),
)
