"""The card of `WholeSets`."""

from __future__ import annotations

from functools import partial

import numpy as np

from ldpfast.mechanisms import WholeSets

from ..support.channels import exact_rows
from ..support.examples import Example
from ..support.machine_records import ticks
from ._card import Card, ChannelRow, Coin, Keyed, Sample, Simulated
from ._events import equal_to, response
from ._fault import Fault
from ._formats import per_category, smallest_code
from ._pages import Decision
from .set_selection import positions


def flips(n: int) -> np.ndarray:
    """Return whether the reports of an empty set are others, of three equally probable ones with e^epsilon times their sum."""
    return WholeSets(2, 2, 1 + np.log(3)).privatize(np.zeros((n, 2), np.uint8), rng=9) != 0


def coins() -> tuple[Coin, ...]:
    """Return the coins of 32 and of 64 bits, for the set of the second option."""
    found = []
    for k, most, sets in ((5, 2, 16), (20, 3, 1351)):
        record = (np.arange(k) == 1).astype(np.uint8)
        found.append(Coin(WholeSets(k, most, 9.0), record, response(sets, 9.0), equal_to(2)))
    return tuple(found)


CARD = Card(
    mechanism=WholeSets,
    inner=True,  # returned by for_sets
    examples=(
        Example(WholeSets(3, 2, 1.5)),
        Example(WholeSets(5, 2, 3.0)),
        Example(WholeSets(8, 3, 6.0, optional=True)),
        Example(WholeSets(13, 3, 6.0)),
        Example(WholeSets(400, 1, 6.0, optional=True)),
        Example(WholeSets(16, 16, 11.0)),
    ),
    kinds=(Example(WholeSets(5, 2, 3.0)), Example(WholeSets(13, 3, 6.0))),
    report_dtype=smallest_code,
    decoded_shape=per_category,
    enumerated_up_to=8,
    makers={"WholeSets": lambda e: WholeSets(5, 2, e)},
    largest_epsilons=((lambda e: WholeSets(13, 3, e), 44.3),),
    flips={"WholeSets": flips},
    power=coins,
    frequencies=(ChannelRow(WholeSets(3, 2, 2.0), np.array([1, 0, 1], np.uint8), 5),),
    extremes=((WholeSets(5, 2, 3.0), ticks(50, 5, 2)),),
    simulated=(
        Simulated(WholeSets(3, 2, 2.0), frozenset({0, 2}), lambda m: exact_rows(m)[5]),
        Simulated(WholeSets(2, 2, 1.0, optional=True), frozenset({1}), lambda m: exact_rows(m)[2]),
    ),
    billion={
        "WholeSets, k = 16": (
            partial(WholeSets, 16, 16, 11.0),
            {tuple(row): 0.5 for row in np.eye(16, dtype=bool)[:2].tolist()},
        )
    },
    finite=(lambda e: WholeSets(4, 2, e),),
    channels=(WholeSets(3, 2, 1.0), WholeSets(5, 2, 3.0), WholeSets(4, 3, 4.0, optional=True)),
    audited=((WholeSets(5, 2, 3.0), 0.85),),
    keyed=(Keyed(WholeSets(9, 2, 1.0), ticks(40, 9, 2), positions),),
    recorded=tuple(
        Sample(WholeSets(k, most, e, optional=optional), partial(ticks, 3000, k, most))
        for k, most, e, optional in (
            (2, 2, 1.0, False),
            (5, 2, 3.0, False),
            (8, 3, 6.0, True),
            (13, 3, 6.0, False),
            (300, 1, 6.0, True),
        )
    ),
    faults=(
        Fault(
            "a branch on an option",
            "whole sets, u8",
            "privatize/whole_sets.c",
            "privatize/whole_sets_body.h",
            "code += (uint32_t)(p->smaller[i] + found) & -(uint32_t)(option < k);",
            'if (option < k) { __asm__ volatile(""); code += (uint32_t)(p->smaller[i] + found); }',
        ),
        Fault(
            "an address that depends on an option",
            "whole sets, u16",
            "privatize/whole_sets.c",
            "privatize/whole_sets_body.h",
            "code += (uint32_t)(p->smaller[i] + found) & -(uint32_t)(option < k);",
            "code += (uint32_t)(p->smaller[i] + rank[option % k] + 0 * found) & -(uint32_t)(option < k);",
        ),
    ),
    kernel_tests={"src/kernels/privatize/whole_sets*": ("tests/mechanisms/test_whole_sets.py",)},
    choosing=(
        Decision(
            "category",
            67,
            "several at once, fewer sets than about $e^\\varepsilon$",
            "`for_sets`, a `WholeSets`",
            "randomized response of the whole set",
        ),
    ),
)
