"""The card of `LaplaceVector`."""

from __future__ import annotations

import math

import numpy as np

import ldpfast as ldp

from ..support.examples import Example
from ._card import Card, Keyed, Noise, Sample, always
from ._events import LAPLACE_FLIP
from ._formats import double, per_coordinate
from ._pages import Decision, Precision
from ._samples import CUBE, DISK, few_rows, poles, recorded_rows, row

CARD = Card(
    mechanism=ldp.LaplaceVector,
    examples=(
        *(Example(ldp.LaplaceVector(d, 1.0, radius=2.0, norm=norm)) for d in (1, 3, 50) for norm in ("l2", "linf")),
        Example(ldp.LaplaceVector(3, 1.0), "float32"),
    ),
    kinds=(Example(ldp.LaplaceVector(3, 1.0)),),
    report_dtype=double,
    report_shape=per_coordinate,
    decoded_shape=per_coordinate,
    in_place=always,
    makers={
        "LaplaceVector": lambda e: ldp.LaplaceVector(3, e),
        "LaplaceVector linf": lambda e: ldp.LaplaceVector(3, e, radius=1.0, norm="linf"),
    },
    bad_records=tuple(ldp.LaplaceVector(3, 1.0, radius=2.0, norm=norm) for norm in ("l2", "linf")),
    flips={"LaplaceVector": lambda n: ldp.LaplaceVector(1, 1.0).privatize(np.zeros((n, 1)), rng=9) > 2 * LAPLACE_FLIP},
    power=lambda: (Noise(ldp.LaplaceVector(3, 11.4), -np.eye(3)[0], 11.4 / (2 * math.sqrt(3))),),
    extremes=((ldp.LaplaceVector(3, 0.7, radius=2.0), poles()),),
    covered=(Sample(ldp.LaplaceVector(4, 2.0), few_rows(0.5)),),
    refuses_simulation=lambda mechanism: mechanism.norm == "l2",
    audited=((ldp.LaplaceVector(3, 1.0), 0.5),),
    keyed=(
        Keyed(ldp.LaplaceVector(2, 1.0), DISK, row),
        Keyed(ldp.LaplaceVector(3, 1.0, norm="linf"), CUBE, row),
    ),
    recorded=tuple(
        Sample(ldp.LaplaceVector(d, 1.0, radius=2.0, norm=norm), recorded_rows(9000 // d, d))
        for d in (1, 3, 50, 9000)
        for norm in ("l2", "linf")
    ),
    choosing=(
        Decision(
            "ball",
            40,
            "$\\varepsilon$ above $2.26 \\sqrt{d}$",
            "`LaplaceVector`",
            "plain noise is better there",
            not_chosen="RankedSigns has a smaller variance",
        ),
        Precision(
            "ball",
            40,
            "a vector, ε > 2.26 √d",
            "`LaplaceVector(dim, epsilon, radius, norm)`",
            "d doubles",
            "8 d r² / ε² (l2), 8 d² r² / ε² (linf)",
        ),
    ),
    timing="tables are read at indices that depend on the noise",
)
