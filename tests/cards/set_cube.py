"""The card of `SetCube`."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ldpfast.mechanisms import SetCube
from ldpfast.reports import SampledBits

from ..support.channels import exact_rows
from ..support.examples import Example
from ..support.machine_records import ticks
from ._card import Card, ChannelRow, Coin, Keyed, Sample, Simulated
from ._events import at_least_ones, of_set
from ._formats import per_category
from ._pages import Decision
from .set_selection import positions


def report_dtype(mechanism: Any, dtype: np.dtype) -> DTypeLike:
    """Return bytes of packed signs, or the smallest integers for an option and its sign."""
    report = mechanism.report
    return np.min_scalar_type(2 * report.dim - 1) if isinstance(report, SampledBits) else np.uint8


def report_shape(mechanism: Any) -> tuple[int, ...]:
    report = mechanism.report
    return (mechanism.sampled,) if isinstance(report, SampledBits) else (-(-report.k // 8),)


def flips(n: int) -> np.ndarray:
    """Return the sign of the only sampled option, of which the record is plus."""
    record = np.ones((n, 5), np.uint8)
    return SetCube(5, 5, 1.0).privatize(record, rng=9)[:, 0] & 1 == 0


def coins() -> tuple[Coin, ...]:
    """Return how often enough of the signs are plus, for sampled options and for all of them."""
    found = []
    for k, epsilon, sampled in ((27, 4.0, 4), (9, 6.0, 9)):
        mechanism = SetCube(k, k, epsilon)
        assert mechanism.sampled == sampled
        patterns = sum(math.comb(sampled, a) for a in range(mechanism.threshold, sampled + 1))
        plus = at_least_ones(mechanism.threshold)
        count = plus if sampled == k else lambda items, count=plus: count(items & 1)
        found.append(Coin(mechanism, np.ones(k, np.uint8), of_set(patterns, 1 << sampled, epsilon), count))
    return tuple(found)


CARD = Card(
    mechanism=SetCube,
    inner=True,  # returned by for_sets
    examples=(
        Example(SetCube(3, 2, 4.0)),
        Example(SetCube(4, 3, 1.0)),
        Example(SetCube(13, 6, 1.0, optional=True)),
        Example(SetCube(20, 20, 4.0)),
        Example(SetCube(40, 13, 9.0, optional=True)),
        Example(SetCube(100, 50, 8.0)),
        Example(SetCube(300, 100, 2.0)),
    ),
    kinds=(Example(SetCube(13, 8, 2.0)), Example(SetCube(3, 3, 4.0))),
    report_dtype=report_dtype,
    report_shape=report_shape,
    decoded_shape=per_category,
    enumerated_up_to=5,
    makers={"SetCube": lambda e: SetCube(10, 5, e)},
    flips={"SetCube": flips},
    power=coins,
    frequencies=(ChannelRow(SetCube(3, 2, 4.0), np.array([1, 0, 1], np.uint8), 5),),
    extremes=((SetCube(3, 3, 4.0), ticks(50, 3, 3)),),
    simulated=(
        Simulated(SetCube(3, 2, 4.0), frozenset({0, 2}), lambda m: exact_rows(m)[5]),
        Simulated(SetCube(4, 4, 2.0), frozenset({0, 2}), lambda m: exact_rows(m)[5]),
    ),
    billion={
        "SetCube, k = 1000": (
            partial(SetCube, 1000, 1000, 1.0),
            {tuple(row): 0.5 for row in np.eye(1000, dtype=bool)[:2].tolist()},
        )
    },
    finite=(lambda e: SetCube(4, 2, e),),
    channels=(SetCube(3, 2, 4.0), SetCube(3, 3, 3.0), SetCube(3, 2, 7.0, optional=True)),
    audited=((SetCube(9, 5, 1.0), 0.85),),
    keyed=(Keyed(SetCube(9, 2, 1.0), ticks(40, 9, 2), positions),),
    recorded=tuple(
        Sample(SetCube(k, most, e, optional=optional), partial(ticks, 3000, k, most))
        for k, most, e, optional in (
            (2, 2, 1.0, False),
            (3, 2, 4.0, True),
            (20, 20, 1.0, True),
            (20, 9, 4.0, False),
            (100, 50, 8.0, False),
            (300, 100, 2.0, False),
        )
    ),
    kernel_tests={
        "src/kernels/privatize/set_cube*": ("tests/mechanisms/test_set_cube.py",),
        "src/kernels/privatize/cube_draws*": (
            "tests/mechanisms/test_set_cube.py",
            "tests/mechanisms/test_sampled_cube.py",
        ),
    },
    choosing=(
        Decision(
            "category",
            66,
            "several at once, more than about a third of $k$",
            "`for_sets`, a `SetCube`",
            "answers about a few sampled options; no distribution of the number of options",
        ),
    ),
    timing="the number of draws depends on the coin",
)
