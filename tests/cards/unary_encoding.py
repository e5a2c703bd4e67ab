"""The card of `UnaryEncoding`."""

from __future__ import annotations

from functools import partial

import numpy as np

import ldpfast as ldp

from ..support.examples import Example
from ._card import Card, ChannelRow, Coin, Keyed, Sample, Simulated
from ._events import logistic, ones
from ._fault import Fault
from ._formats import packed_categories, per_category
from ._pages import Decision, Precision
from ._samples import CATEGORIES, EPSILONS, few_categories, integer, recorded_labels, shares

SYMMETRIC, OPTIMIZED = METHODS = "symmetric", "optimized"


def coins(k: int, epsilon: float, method: str, x: int) -> list[Coin]:
    """Return the coin of the person's category and that of the others."""
    mechanism = ldp.UnaryEncoding(k, epsilon, method=method)
    own, other = (logistic(epsilon / 2), logistic(-epsilon / 2)) if method == SYMMETRIC else (0.5, logistic(-epsilon))
    mine = [1 << (x - 8 * byte) if 0 <= x - 8 * byte < 8 else 0 for byte in range(-(-k // 8))]
    rest = [~mask & 255 for mask in mine]
    return [Coin(mechanism, x, own, ones(mine)), Coin(mechanism, x, other, ones(rest), k - 1)]


CARD = Card(
    mechanism=ldp.UnaryEncoding,
    examples=tuple(
        Example(ldp.UnaryEncoding(k, 2.0, method=method)) for k in (2, 8, 13, 128, 1000) for method in METHODS
    ),
    kinds=(Example(ldp.UnaryEncoding(13, 2.0)),),
    report_shape=packed_categories,
    decoded_shape=per_category,
    enumerated_up_to=13,
    makers={
        "UnaryEncoding": lambda e: ldp.UnaryEncoding(3, e),
        "optimized": lambda e: ldp.UnaryEncoding(3, e, method=OPTIMIZED),
    },
    largest_epsilons=(
        (lambda e: ldp.UnaryEncoding(3, e), 88.7),
        (lambda e: ldp.UnaryEncoding(3, e, method=OPTIMIZED), 44.3),
    ),
    bad_records=(ldp.UnaryEncoding(13, 1.0),),
    flips={"UnaryEncoding": lambda n: ldp.UnaryEncoding(2, 2.0).privatize(np.ones(n, np.uint8), rng=9) & 1},
    power=lambda: (
        *coins(13, 2.0, SYMMETRIC, 5),
        coins(13, 2.0, OPTIMIZED, 5)[1],  # the coin of the category is fair
    ),
    frequencies=tuple(ChannelRow(ldp.UnaryEncoding(4, 1.0, method=method), 2, 2) for method in METHODS),
    extremes=((ldp.UnaryEncoding(5, 0.7, method=OPTIMIZED), np.arange(5)),),
    covered=(Sample(ldp.UnaryEncoding(8, 2.0), few_categories(8)),),
    total_variances={
        "SUE": partial(ldp.UnaryEncoding, method=SYMMETRIC),
        "OUE": partial(ldp.UnaryEncoding, method=OPTIMIZED),
    },
    simulated=tuple(Simulated(ldp.UnaryEncoding(3, 1.0, method=method)) for method in METHODS),
    moments=(ldp.UnaryEncoding(9, 1.0),),
    billion={"UnaryEncoding, k = 65536": (partial(ldp.UnaryEncoding, 65_536, 1.0), shares(65_536))},
    finite=(lambda e: ldp.UnaryEncoding(4, e), lambda e: ldp.UnaryEncoding(4, e, method=OPTIMIZED)),
    channels=tuple(ldp.UnaryEncoding(k, e, method=method) for k in (2, 3, 5) for e in EPSILONS for method in METHODS),
    audited=((ldp.UnaryEncoding(8, 2.0), 0.85),),
    keyed=(Keyed(ldp.UnaryEncoding(9, 1.0), CATEGORIES, integer),),
    recorded=tuple(
        Sample(ldp.UnaryEncoding(k, 2.0, method=method), recorded_labels(3000, k))
        for k in (2, 13, 128, 1000)
        for method in METHODS
    ),
    faults=(
        Fault(
            "a branch on the place of the person's own bit",
            "unary encoding, one row, u32",
            "privatize/unary_encoding.c",
            "privatize/unary_row.h",
            "const uint64_t own = bit & -(uint64_t)(first / 64 + w == at);",
            'uint64_t own = 0; if (first / 64 + w == at) { __asm__ volatile(""); own = bit; }',
        ),
        Fault(
            "a table at an index that is the record",
            "unary encoding, one row, u8",
            "privatize/unary_encoding.c",
            "privatize/unary_row.h",
            "const uint64_t bit = (uint64_t)1 << truth % 64, at",
            "static const uint64_t table[64] = {1, 2, 4, 8}; const uint64_t bit = table[truth % 64], at",
        ),
    ),
    kernel_tests={
        "src/kernels/privatize/unary*": ("tests/mechanisms/test_unary_encoding.py",),
    },
    choosing=(
        Decision(
            "category",
            50,
            "some categories are frequent",
            "`UnaryEncoding`",
            "the variance does not depend on the share",
        ),
        Precision(
            "category",
            50,
            "one of many categories, some of them frequent",
            "`UnaryEncoding(k, epsilon)`",
            "k bits",
            "e^(ε/2) / (e^(ε/2) - 1)², whatever the share",
        ),
    ),
    timing="for arrays of records only: the work depends on the bits",
)
