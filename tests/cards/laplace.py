"""The card of `Laplace`."""

from __future__ import annotations

from functools import partial

import numpy as np

import ldpfast as ldp

from ..support.examples import Example
from ._card import Card, Keyed, Noise, Sample, always
from ._events import LAPLACE_FLIP
from ._formats import double
from ._pages import Decision, Precision
from ._samples import NUMBERS, SHARES_OF_NUMBERS, few_numbers, number, recorded_numbers

CARD = Card(
    mechanism=ldp.Laplace,
    examples=(
        Example(ldp.Laplace(-1.0, 3.0, 1.0)),
        Example(ldp.Laplace(-1.0, 3.0, 1.0), "float32"),
        Example(ldp.Laplace(10.0, 20.0, 0.25)),
    ),
    kinds=(Example(ldp.Laplace(-1.0, 3.0, 1.0)),),
    report_dtype=double,
    in_place=always,
    makers={"Laplace": lambda e: ldp.Laplace(0.0, 1.0, e)},
    bad_records=(ldp.Laplace(-1.0, 3.0, 1.0),),
    flips={"Laplace": lambda n: ldp.Laplace(0.0, 1.0, 1.0).privatize(np.zeros(n), rng=9) > LAPLACE_FLIP},
    power=lambda: (Noise(ldp.Laplace(-1.0, 3.0, 1.0), -1.0, 1 / 4),),
    extremes=((ldp.Laplace(-1, 3, 0.7), np.array([-1.0, 3.0])),),
    covered=(Sample(ldp.Laplace(0.0, 1.0, 1.0), few_numbers),),
    billion={"Laplace": (partial(ldp.Laplace, 0, 1, 1.0), SHARES_OF_NUMBERS)},
    audited=((ldp.Laplace(-1.0, 3.0, 1.0), 0.85),),
    keyed=(Keyed(ldp.Laplace(-1, 3, 3.0), NUMBERS, number),),
    recorded=(
        Sample(ldp.Laplace(-4.0, 5.0, 1.0), recorded_numbers(20_000)),
        Sample(ldp.Laplace(-40.0, 50.0, 0.01), recorded_numbers(3000)),
    ),
    kernel_tests={
        "src/kernels/privatize/laplace*": (
            "tests/mechanisms/test_laplace.py",
            "tests/mechanisms/test_laplace_vector.py",
            "tests/mechanisms/test_laplace_one_hot.py",
            "tests/mechanisms/test_laplace_residue.py",
            "tests/mechanisms/test_discrete_laplace.py",
            "tests/central/test_noise.py",
        ),
    },
    choosing=(
        Decision(
            "number",
            40,
            "exact sums are wanted",
            "`Laplace`",
            "reports are numbers that add up",
            not_chosen="for exact sums; Window has a smaller variance",
        ),
        Precision(
            "number",
            30,
            "a number of which exact sums are wanted",
            "`Laplace(lower, upper, epsilon)`",
            "8 bytes",
            "8 r² / ε²",
        ),
    ),
    timing="tables are read at indices that depend on the noise",
)
