"""The card of `ProjectiveGeometryResponse`."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

import ldpfast as ldp

from ..support.examples import Example
from ._card import Card, ChannelRow, Coin, Keyed, Sample, Simulated
from ._events import in_set, of_set
from ._formats import has_codes_of_records, per_category, smallest_code
from ._pages import Decision, Precision
from ._samples import EPSILONS, few_categories, integer, recorded_labels, shares

SIZES = (2, 13, 256, 300, 65_536, 70_000)


def flips(n: int) -> np.ndarray:
    """Return whether reports are not orthogonal to the category: for three points, with probability 1 / (e + 1)."""
    mechanism = ldp.ProjectiveGeometryResponse(3, 1 + math.log(2))
    return ~mechanism.supported(mechanism.privatize(np.zeros(n, np.uint8), rng=9))[:, 0]


def coins() -> tuple[Coin, ...]:
    space = ldp.ProjectiveGeometryResponse(16, 6.0)
    hyperplane = (space.order ** (space.length - 1) - 1) // (space.order - 1)
    return (Coin(space, 2, of_set(hyperplane, space.report.k, 6.0), in_set(space, 2)),)


CARD = Card(
    mechanism=ldp.ProjectiveGeometryResponse,
    examples=tuple(Example(ldp.ProjectiveGeometryResponse(k, 2.0)) for k in SIZES),
    kinds=(Example(ldp.ProjectiveGeometryResponse(16, 1.0)),),
    report_dtype=smallest_code,
    decoded_shape=per_category,
    in_place=has_codes_of_records,
    enumerated_up_to=13,
    makers={"ProjectiveGeometryResponse": lambda e: ldp.ProjectiveGeometryResponse(10, e)},
    largest_epsilons=((lambda e: ldp.ProjectiveGeometryResponse(8, e), 46.3),),
    bad_records=(ldp.ProjectiveGeometryResponse(16, 1.0),),
    flips={"ProjectiveGeometryResponse": flips},
    power=coins,
    frequencies=(ChannelRow(ldp.ProjectiveGeometryResponse(13, 2.0), 12, 12),),
    extremes=((ldp.ProjectiveGeometryResponse(5, 0.7), np.arange(5)),),
    covered=(Sample(ldp.ProjectiveGeometryResponse(8, 2.0), few_categories(8)),),
    total_variances={"PGR": ldp.ProjectiveGeometryResponse},
    simulated=tuple(Simulated(ldp.ProjectiveGeometryResponse(k, e)) for k, e in ((3, 0.5), (5, 1.2), (8, 0.8))),
    moments=(ldp.ProjectiveGeometryResponse(5, 1.2), ldp.ProjectiveGeometryResponse(8, 0.8)),
    billion={
        "ProjectiveGeometryResponse, k = 65536": (
            partial(ldp.ProjectiveGeometryResponse, 65_536, 1.0),
            shares(65_536),
        )
    },
    finite=(lambda e: ldp.ProjectiveGeometryResponse(5, e),),
    channels=tuple(ldp.ProjectiveGeometryResponse(k, e) for k in (2, 5, 40) for e in EPSILONS),
    audited=((ldp.ProjectiveGeometryResponse(9, 1.0), 0.85),),
    keyed=(Keyed(ldp.ProjectiveGeometryResponse(300, 1.0), np.arange(40) * 7, integer),),
    recorded=tuple(Sample(ldp.ProjectiveGeometryResponse(k, 2.0), recorded_labels(3000, k)) for k in SIZES),
    kernel_tests={
        "src/kernels/privatize/projective*": (
            "tests/mechanisms/test_projective_geometry_response.py",
            "tests/mechanisms/test_tree_response.py",
        ),
    },
    choosing=(
        Decision(
            "category",
            30,
            "many, in a short report",
            "`ProjectiveGeometryResponse`",
            "nearly the same variance in about $\\log_2(k)$ bits",
        ),
        Precision(
            "category",
            30,
            "one of very many categories, in a short report",
            "`ProjectiveGeometryResponse(k, epsilon)`",
            "about log2(k) bits",
            "within 8 % of `SubsetSelection` for ε ≤ 6 and k ≥ 65,536; "
            "up to 28 % above it for ε from 6 to 8 and millions of categories",
        ),
    ),
    timing="tables are read at indices that depend on the record and the report",
)
