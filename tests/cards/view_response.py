"""The card of `ViewResponse`, which only a survey creates."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from ldpfast.mechanisms import ViewResponse

from ..support.channels import exact_rows
from ..support.examples import Example
from ..support.machine_records import category_rows
from ._card import Card, ChannelRow, Coin, Keyed, Sample, Simulated
from ._events import response
from ._fault import Fault


def shape(mechanism: Any) -> tuple[int, ...]:
    most = max(mechanism.design.symbols(mechanism.sizes), 1 << max(0, mechanism.design.flip - 1))
    return (math.ceil(len(mechanism.sizes) / 8) + 2 + (most > 256),)


def decoded(mechanism: Any) -> tuple[int, ...]:
    return (sum(mechanism.sizes),)


def flips(n: int) -> np.ndarray:
    """Return whether the symbol is not that of the record: one of three others, together with probability 3 / (3 e + 3)."""
    mechanism = ViewResponse([2, 2], 1 + math.log(3))
    return mechanism.privatize(np.zeros((n, 2), np.uint8), rng=9)[:, 2] > 0


def coins() -> tuple[Coin, ...]:
    """Return the coins of both kinds of views, by the symbols of a record of zeros."""
    mechanism = ViewResponse([2, 2, 2], 2.0)
    design, several = mechanism.design, ViewResponse([3, 4], 2.0)

    def kept(kind: int) -> Any:
        return lambda reports: np.count_nonzero((reports[:, 1] == kind) & (reports[:, 2] == 0))

    share = design.share / 256
    return (
        Coin(mechanism, np.zeros(3, np.uint8), share * response(1 << design.plain, 2.0), kept(0)),
        Coin(several, np.array([0, 0], np.uint8), response(12, 2.0), kept(0)),
    )


def true_report(answers: np.ndarray) -> tuple[Any]:
    """Return the report of a record of two answers without a coin: the only view, its kind and the number of the answers."""
    return (np.array([0b11, 0, answers[0] + 2 * answers[1]], np.uint8).tobytes(),)


CARD = Card(
    mechanism=ViewResponse,
    inner=True,
    examples=(
        Example(ViewResponse([2, 2], 1.0)),
        Example(ViewResponse([2] * 4, 1.0)),
        Example(ViewResponse([2] * 4, 4.0)),
        Example(ViewResponse([3, 2, 4], 1.0)),
        Example(ViewResponse([2] * 20, 1.0)),
        Example(ViewResponse([20, 30], 2.0)),
    ),
    kinds=(Example(ViewResponse([2] * 4, 1.0)), Example(ViewResponse([3, 2, 4], 1.0))),
    report_shape=shape,
    decoded_shape=decoded,
    enumerated_up_to=9,
    makers={"ViewResponse": lambda e: ViewResponse([2] * 10, e)},
    flips={"ViewResponse": flips},
    power=coins,
    frequencies=(
        ChannelRow(ViewResponse([2] * 4, 1.0), np.array([1, 0, 1, 0], np.uint8), 5),
        ChannelRow(ViewResponse([3, 2], 1.0), np.array([2, 1], np.uint8), 5),
    ),
    simulated=(
        Simulated(ViewResponse([2, 2, 2], 1.0), (1, 0, 1), lambda m: exact_rows(m)[5]),
        Simulated(ViewResponse([2, 3], 1.0), (1, 2), lambda m: exact_rows(m)[5]),
    ),
    finite=(lambda e: ViewResponse([2, 3], e),),
    channels=(ViewResponse([2, 2, 2], 1.0), ViewResponse([2, 3, 2], 3.0)),
    audited=((ViewResponse([2, 3], 1.0), 0.85),),
    keyed=(Keyed(ViewResponse([2, 2], 1.0), category_rows(40, (2, 2)), true_report),),
    recorded=tuple(
        Sample(ViewResponse(sizes, e), partial(category_rows, 3000, sizes))
        for sizes, e in (
            ((2,) * 4, 1.0),
            ((2,) * 20, 1.0),
            ((2,) * 20, 4.0),
            ((2,) * 40, 12.0),
            ((3,) * 6, 4.0),
            ((2, 5, 3, 2), 1.0),
            ((300, 2, 100), 2.0),
        )
    ),
    faults=(
        Fault(
            "a symbol that is replaced by a branch on the coin",
            "view response",
            "privatize/view_response.c",
            "privatize/view_response.c",
            "write_symbol(format, (read_symbol(format, report) & ~replaced) | (other & replaced), report);",
            'if (replaced) { __asm__ volatile(""); write_symbol(format, other, report); }',
        ),
        Fault(
            "a branch on an answer",
            "view response",
            "privatize/view_response.c",
            "privatize/view_response.c",
            "const uint32_t answer = given < last ? given : last;",
            'uint32_t answer = given; if (given > last) { __asm__ volatile(""); answer = last; }',
        ),
    ),
    kernel_tests={
        "src/kernels/privatize/view_*": ("tests/mechanisms/test_view_response.py",),
        "src/kernels/tally/views.*": ("tests/mechanisms/test_view_response.py",),
    },
)
