"""The card of `RankCodebook`."""

from __future__ import annotations

import numpy as np

import ldpfast as ldp

from ..support.examples import Example
from ._card import Card, Coin, Keyed, Sample, always
from ._events import is_positive, logistic
from ._fault import Fault
from ._formats import per_coordinate
from ._pages import Decision, Precision
from ._samples import DISK, N, few_rows, in_ball, poles, recorded_rows, row

SIZES = ((1, 16), (2, 16), (100, 64), (300, 1))


def flips(n: int) -> np.ndarray:
    """Return whether decoded reports are above the center of their range, which has two values."""
    mechanism = ldp.RankCodebook(1, 1.0, vectors=1)
    decoded = mechanism.decode(mechanism.privatize(np.full((n, 1), -1.0), rng=9))
    return decoded > (decoded.min() + decoded.max()) / 2


def coins() -> tuple[Coin, ...]:
    codebook = ldp.RankCodebook(5, 7.0, vectors=1)
    return tuple(
        Coin(codebook, np.eye(5)[0], logistic(7.0), lambda reports: is_positive(codebook.decode(reports)), dtype=dtype)
        for dtype in ("float32", "float64")
    )


CARD = Card(
    mechanism=ldp.RankCodebook,
    examples=(
        *(Example(ldp.RankCodebook(d, 2.0, radius=2.0, vectors=vectors)) for d, vectors in SIZES),
        Example(ldp.RankCodebook(5, 4.0, vectors=7), "float32"),
    ),
    kinds=(Example(ldp.RankCodebook(5, 1.0)),),
    report_dtype=lambda mechanism, dtype: np.uint64,
    decoded_shape=per_coordinate,
    makers={"RankCodebook": lambda e: ldp.RankCodebook(3, e)},
    bad_records=(ldp.RankCodebook(3, 1.0, radius=2.0),),
    flips={"RankCodebook": flips},
    power=coins,
    unbiased=(
        Sample(ldp.RankCodebook(3, 2.0, radius=3.0), in_ball(N, 3, 3.0)),
        Sample(ldp.RankCodebook(30, 4.0), in_ball(20_000, 30, 1.0, "float32")),
    ),
    extremes=((ldp.RankCodebook(3, 0.7, radius=2.0), poles()),),
    covered=(Sample(ldp.RankCodebook(4, 2.0), few_rows(0.5)),),
    refuses_simulation=always,
    audited=((ldp.RankCodebook(5, 1.0), 0.85),),
    keyed=(Keyed(ldp.RankCodebook(2, 1.0), DISK, row),),
    recorded=tuple(
        Sample(ldp.RankCodebook(d, 2.0, radius=2.0, vectors=vectors), recorded_rows(300, d)) for d, vectors in SIZES
    ),
    faults=(
        Fault(
            "a branch on the rank of a candidate",
            "rank codebook, f64",
            "privatize/rank_codebook.c",
            "privatize/rank_codebook.c",
            "chosen |= c & -(counts & (uint64_t)(count == r));",
            'if (counts & (uint64_t)(count == r)) { __asm__ volatile(""); chosen |= c; }',
        ),
    ),
    kernel_tests={
        "src/kernels/privatize/rank_codebook*": (
            "tests/mechanisms/test_rank_codebook.py",
            "tests/reports/test_directions.py",
        ),
    },
    choosing=(
        Decision(
            "ball",
            10,
            "up to about $\\varepsilon = 8$ and 500 dimensions",
            "`RankCodebook`",
            "smallest variance, 8 bytes",
        ),
        Precision(
            "ball",
            10,
            "a vector of Euclidean norm ≤ r, in a short report",
            "`RankCodebook(dim, epsilon, radius)`",
            "8 bytes",
            "at ε = 1, 2, 4, 8 about 0.88, 0.62, 0.29, 0.15 of that of `L2Ball`; "
            "0.87, 0.60, 0.26, 0.08 with the number of vectors of `for_ball`, which takes up to 50 us per record",
        ),
    ),
)
