"""The card of `L2Ball`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import ldpfast as ldp

from ..support.examples import Example
from ._card import Card, Coin, Keyed, Sample, always
from ._events import is_positive, logistic
from ._fault import Fault
from ._formats import dtype_of_record, per_coordinate
from ._pages import Decision, Precision
from ._samples import DISK, N, few_rows, in_ball, poles, recorded_rows, row

TESTS_OF_BALLS = (  # of what uses the kernel of either ball
    "tests/mechanisms/test_half_space.py",
    "tests/mechanisms/test_gradient.py",
    "tests/mechanisms/test_hessian.py",
    "tests/mechanisms/test_hyperplanes.py",
    "tests/estimation/sgd/test_gradient_descent.py",
)


def flip(dtype: str, radius: float) -> Callable[[int], np.ndarray]:
    """Return a function for the signs of reports in one dimension. Both precisions have the same stream of signs."""
    mechanism = ldp.L2Ball(1, 1.0, radius=radius)
    return lambda n: mechanism.privatize(np.full((n, 1), -radius, dtype), rng=9) > 0


CARD = Card(
    mechanism=ldp.L2Ball,
    examples=tuple(
        Example(ldp.L2Ball(d, 1.0, radius=2.0), dtype)
        for dtype in ("float64", "float32")
        for d in (1, 2, 3, 32, 100, 5000)
    ),
    kinds=tuple(Example(ldp.L2Ball(5, 1.0), dtype) for dtype in ("float64", "float32")),
    report_dtype=dtype_of_record,
    report_shape=per_coordinate,
    decoded_shape=per_coordinate,
    in_place=always,
    makers={"L2Ball": lambda e: ldp.L2Ball(3, e)},
    largest_epsilons=((lambda e: ldp.L2Ball(3, e), 44.3),),
    bad_records=(ldp.L2Ball(3, 1.0, radius=2.0),),
    flips={"L2Ball": flip("float64", 1.0), "L2Ball float32": flip("float32", 2.0)},
    power=lambda: tuple(
        Coin(ldp.L2Ball(5, 6.0), np.eye(5)[0], logistic(6.0), is_positive, dtype=dtype)
        for dtype in ("float32", "float64")
    ),
    unbiased=(
        Sample(ldp.L2Ball(1, 1.0), in_ball(N, 1)),
        Sample(ldp.L2Ball(2, 1.0), in_ball(N, 2)),
        Sample(ldp.L2Ball(10, 2.0, radius=3.0), in_ball(N, 10, 3.0, "float32")),
        Sample(ldp.L2Ball(100, 1.0), in_ball(20_000, 100, 1.0, "float32")),
    ),
    extremes=((ldp.L2Ball(3, 0.7, radius=2.0), poles()),),
    covered=(Sample(ldp.L2Ball(4, 2.0), few_rows(0.5)),),
    refuses_simulation=always,
    audited=((ldp.L2Ball(5, 1.0), 0.9), (ldp.L2Ball(32, 1.0), 0.85)),
    keyed=(Keyed(ldp.L2Ball(2, 1.0), DISK, row),),
    recorded=tuple(
        Sample(ldp.L2Ball(d, 1.0, radius=2.0), recorded_rows(12_000 // d, d)) for d in (1, 2, 3, 32, 100, 6000)
    ),
    faults=(
        Fault(
            "a branch on the side of the half-space, in floating point",
            "l2 ball, f32",
            "privatize/l2_ball.c",
            "privatize/l2_ball_body.h",
            "const uint64_t minus =\n            (uint64_t)(sum[i][1] < 0)",
            'uint64_t side = 0; if (sum[i][1] < 0) { __asm__ volatile(""); side = 1; }\nconst uint64_t minus = side',
        ),
        Fault(
            "a branch on a record that is NaN",
            "l2 ball, f64",
            "privatize/l2_ball.c",
            "privatize/l2_ball_body.h",
            "const double norm = clamp_unit(__builtin_sqrt(sum[i][2]), 0);",
            "double norm = clamp_unit(__builtin_sqrt(sum[i][2]), 0); "
            'if (sum[i][2] != sum[i][2]) { __asm__ volatile(""); norm = 0; }',
        ),
    ),
    kernel_tests={
        "src/kernels/privatize/l2_ball*": (
            "tests/mechanisms/test_l2_ball.py",
            *TESTS_OF_BALLS,
        ),
    },
    choosing=(
        Decision(
            "ball",
            30,
            "fastest client, $\\varepsilon$ below $2.26 \\sqrt{d}$",
            "`L2Ball`",
            "one sign of a random direction",
        ),
        Precision(
            "ball",
            30,
            "the same with the fastest client, ε < 2.26 √d",
            "`L2Ball(dim, epsilon, radius)`",
            "d floats",
            "(π/2) r² coth²(ε/2) - x_j², within 6 % for d ≥ 10",
        ),
    ),
)
