"""The card of `LinfBall`."""

from __future__ import annotations

from functools import partial

import numpy as np

import ldpfast as ldp

from ..support.examples import Example
from ._card import Card, ChannelRow, Coin, Keyed, Sample, Simulated
from ._events import at_least_ones, logistic
from ._fault import Fault
from ._formats import packed_coordinates, per_coordinate
from ._pages import Decision, Precision
from ._samples import CUBE, N, ends, few_rows, in_cube, recorded_rows, row, shares_of_vectors
from .l2_ball import TESTS_OF_BALLS

TIES = ("keep", "thin")

CARD = Card(
    mechanism=ldp.LinfBall,
    examples=(
        *(Example(ldp.LinfBall(d, 1.0, radius=2.0, ties=t)) for d in (1, 2, 8, 27, 64, 100, 1000) for t in TIES),
        Example(ldp.LinfBall(27, 1.0), "float32"),
    ),
    kinds=(Example(ldp.LinfBall(27, 1.0)),),
    report_shape=packed_coordinates,
    decoded_shape=per_coordinate,
    enumerated_up_to=8,
    makers={"LinfBall": lambda e: ldp.LinfBall(3, e)},
    bad_records=(ldp.LinfBall(3, 1.0, radius=2.0),),
    flips={"LinfBall": lambda n: ldp.LinfBall(1, 1.0).privatize(np.full((n, 1), -1.0), rng=9)},
    power=lambda: tuple(
        Coin(ldp.LinfBall(27, 6.0), np.ones(27), logistic(6.0), at_least_ones(14), dtype=dtype)
        for dtype in ("float32", "float64")
    ),
    frequencies=(
        ChannelRow(ldp.LinfBall(3, 1.0), [1.0, -1.0, 1.0], 5),
        *(ChannelRow(ldp.LinfBall(4, 1.0, ties=ties), [1.0, -1.0, 1.0, -1.0], 5) for ties in TIES),
    ),
    unbiased=(
        Sample(ldp.LinfBall(1, 1.0), in_cube(N, 1)),
        *(Sample(ldp.LinfBall(8, 1.0, radius=2.0, ties=ties), in_cube(N, 8, 2.0)) for ties in TIES),
        Sample(ldp.LinfBall(27, 3.0), in_cube(N, 27)),
        Sample(ldp.LinfBall(128, 1.0), in_cube(20_000, 128, 1.0, "float32")),
    ),
    extremes=((ldp.LinfBall(3, 0.7, radius=2.0), ends(2.0)),),
    covered=(Sample(ldp.LinfBall(4, 2.0), few_rows(1.0)),),
    simulated=tuple(Simulated(ldp.LinfBall(dim, 1.0, radius=2.0, ties=t)) for dim in (1, 2, 3, 4) for t in TIES),
    billion={"LinfBall, dim 100": (partial(ldp.LinfBall, 100, 1.0), shares_of_vectors(100))},
    finite=(
        lambda e: ldp.LinfBall(3, e),
        lambda e: ldp.LinfBall(4, e),
        lambda e: ldp.LinfBall(4, e, ties="thin"),
    ),
    channels=tuple(ldp.LinfBall(d, e, ties=t) for d in range(1, 7) for e in (0.5, 1.0) for t in TIES),
    audited=((ldp.LinfBall(5, 1.0), 0.9), (ldp.LinfBall(27, 1.0), 0.9)),
    keyed=(Keyed(ldp.LinfBall(3, 1.0), CUBE, row),),
    recorded=tuple(
        Sample(ldp.LinfBall(d, 1.0, radius=2.0, ties=ties), recorded_rows(40_000 // d, d))
        for d in (1, 2, 27, 64, 100, 1000, 40_000)
        for ties in TIES
    ),
    faults=(
        Fault(
            "a row that is changed only if it is flipped",
            "l-infinity ball, f32",
            "privatize/linf_ball.c",
            "privatize/linf_ball.c",
            "flip_bits(row, p->dim, -(uint64_t)(2 * agree < p->dim) ^ -(uint64_t)(coin >= p->heads));",
            "if ((2 * agree < p->dim) != (coin >= p->heads)) flip_bits(row, p->dim, ~(uint64_t)0);",
        ),
    ),
    kernel_tests={
        "src/kernels/privatize/linf_ball*": (
            "tests/mechanisms/test_linf_ball.py",
            *TESTS_OF_BALLS,
        ),
    },
    choosing=(
        Decision("box", 20, "all coordinates of every person, fast", "`LinfBall`", "one sign for each coordinate"),
        Precision(
            "box",
            20,
            "the same, with all signs",
            "`LinfBall(dim, epsilon, radius)`",
            "d bits",
            "(π/2) d r² coth²(ε/2) - x_j², within 6 % for d ≥ 10",
        ),
    ),
    timing='with `ties="thin"` only: the number of draws of a row depends on the record',
)
