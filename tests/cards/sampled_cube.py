"""The card of `SampledCube`."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

import ldpfast as ldp

from ..support.examples import Example
from ._card import Card, ChannelRow, Coin, Keyed, Sample, Simulated
from ._events import at_least_ones, of_set
from ._formats import packed_coordinates, per_coordinate
from ._pages import Decision, Precision
from ._samples import CUBE, N, ends, few_rows, in_cube, recorded_rows, row, shares_of_vectors


def report_dtype(mechanism: Any, dtype: np.dtype) -> DTypeLike:
    """Return bytes of packed signs, or the smallest integers for a coordinate and its sign."""
    return np.uint8 if mechanism.sampled == mechanism.dim else np.min_scalar_type(2 * mechanism.dim - 1)


def report_shape(mechanism: Any) -> tuple[int, ...]:
    return packed_coordinates(mechanism) if mechanism.sampled == mechanism.dim else (mechanism.sampled,)


def coins() -> tuple[Coin, ...]:
    """Return how often enough of the sampled signs are plus, for packed signs and for coordinates."""
    found = []
    for dtype in ("float32", "float64"):
        for dim, sampled, epsilon in ((27, 3, 8.0), (9, 9, 10.0)):
            cube = ldp.SampledCube(dim, epsilon, sampled=sampled)
            patterns = sum(math.comb(sampled, a) for a in range(cube.threshold, sampled + 1))
            plus = at_least_ones(cube.threshold)
            count = plus if sampled == dim else lambda items, count=plus: count(items & 1)
            found.append(Coin(cube, np.ones(dim), of_set(patterns, 1 << sampled, epsilon), count, dtype=dtype))
    return tuple(found)


CARD = Card(
    mechanism=ldp.SampledCube,
    examples=(
        *(Example(ldp.SampledCube(d, 2.0, radius=2.0)) for d in (1, 2, 8, 27, 100, 200)),
        Example(ldp.SampledCube(9, 4.0, radius=2.0, sampled=9)),
        Example(ldp.SampledCube(64, 1.0, radius=2.0, sampled=64)),
        Example(ldp.SampledCube(200, 1.0, radius=2.0, sampled=62)),
        *(Example(ldp.SampledCube(d, 2.0), "float32") for d in (1, 27, 200)),
    ),
    kinds=tuple(Example(ldp.SampledCube(27, 2.0), dtype) for dtype in ("float64", "float32")),
    report_dtype=report_dtype,
    report_shape=report_shape,
    decoded_shape=per_coordinate,
    enumerated_up_to=8,
    makers={"SampledCube": lambda e: ldp.SampledCube(3, e)},
    largest_epsilons=((lambda e: ldp.SampledCube(3, e, sampled=1), 44.3),),
    bad_records=(ldp.SampledCube(3, 1.0, radius=2.0, sampled=3),),
    flips={"SampledCube": lambda n: ldp.SampledCube(1, 1.0).privatize(np.full((n, 1), -1.0), rng=9)},
    power=coins,
    frequencies=(ChannelRow(ldp.SampledCube(3, 2.0, sampled=3), [1.0, -1.0, 1.0], 5),),
    unbiased=(
        Sample(ldp.SampledCube(8, 2.0, radius=2.0), in_cube(N, 8, 2.0)),
        Sample(ldp.SampledCube(8, 3.0, sampled=8), in_cube(N, 8)),
        Sample(ldp.SampledCube(70, 2.0, sampled=70), in_cube(20_000, 70, 1.0, "float32")),
    ),
    extremes=(
        (ldp.SampledCube(3, 0.7, radius=2.0), ends(2.0)),
        (ldp.SampledCube(5, 3.0, radius=2.0, sampled=5), ends(2.0, 5)),
    ),
    covered=(Sample(ldp.SampledCube(4, 2.0), few_rows(1.0)),),
    simulated=(
        Simulated(ldp.SampledCube(3, 2.0, radius=2.0, sampled=3, threshold=2)),
        Simulated(ldp.SampledCube(4, 2.0, radius=2.0, sampled=4, threshold=4)),
        Simulated(ldp.SampledCube(3, 2.0, radius=2.0, sampled=1)),
        Simulated(ldp.SampledCube(3, 2.0, radius=2.0, sampled=2, threshold=2)),
    ),
    billion={"SampledCube, dim 1000": (partial(ldp.SampledCube, 1000, 1.0), shares_of_vectors(1000))},
    finite=(lambda e: ldp.SampledCube(3, e), lambda e: ldp.SampledCube(4, e, sampled=4)),
    audited=((ldp.SampledCube(5, 2.0), 0.85), (ldp.SampledCube(200, 2.0), 0.85)),
    keyed=(Keyed(ldp.SampledCube(3, 1.0), CUBE, row),),
    recorded=(
        *(Sample(ldp.SampledCube(d, 2.0, radius=2.0), recorded_rows(40_000 // d, d)) for d in (1, 2, 27, 200, 40_000)),
        *(
            Sample(ldp.SampledCube(d, 1.0, radius=2.0, sampled=sampled), recorded_rows(400, d))
            for d, sampled in ((9, 9), (64, 64), (200, 62))
        ),
    ),
    kernel_tests={
        "src/kernels/privatize/sampled_cube*": (
            "tests/mechanisms/test_sampled_cube.py",
            "tests/reports/test_signs.py",
        ),
    },
    choosing=(
        Decision("box", 10, "", "`SampledCube`", "smallest variance, a few signs"),
        Precision(
            "box",
            10,
            "a vector in a box [-r, r]^d",
            "`SampledCube(dim, epsilon, radius)`",
            "a few signs",
            "at ε = 4 about 0.25 of that of `LinfBall`",
        ),
    ),
    timing="the number of draws depends on the coin",
)
