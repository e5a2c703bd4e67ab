"""The card of `Window`."""

from __future__ import annotations

from functools import partial

import numpy as np

import ldpfast as ldp

from ..support.channels import exact_rows
from ..support.examples import Example
from ..support.internals.mechanisms import MIXTURES, best_design, window
from ._card import Card, ChannelRow, Coin, Keyed, Sample, Simulated
from ._events import equal_to, logistic, of_set
from ._fault import Fault
from ._pages import Decision, Precision
from ._samples import NUMBERS, SHARES_OF_NUMBERS, few_numbers, in_interval, number, recorded_numbers

SIX = ldp.Window(0.0, 1.0, 2.0, outputs=6)


def flips(n: int) -> np.ndarray:
    """Return whether decoded reports are above the center of their range, which has two values."""
    mechanism = ldp.Window(0.0, 1.0, 1.0, outputs=2)
    decoded = mechanism.decode(mechanism.privatize(np.zeros(n), rng=9))
    return decoded > (decoded.min() + decoded.max()) / 2


def coins() -> tuple[Coin, ...]:
    """Return the coin of the window, and that of the code which mixes windows of two widths."""
    window, design = ldp.Window(-1.0, 3.0, 1.0), best_design(1.0, 16)
    mixed, codes = design.mixed / MIXTURES, design.steps + design.width
    inside = (1 - mixed) * of_set(design.width, codes, 1.0)
    return (
        Coin(window, -1.0, inside, lambda found: np.count_nonzero(found < design.width)),
        Coin(window, -1.0, mixed * logistic(1.0), equal_to(codes)),
    )


def rounded_row(mechanism: ldp.Window) -> np.ndarray:
    """Return the row of a number at 0.3 of the first step."""
    return np.array(window._rows(mechanism._coin)[:2]).T / 2**32 @ [0.7, 0.3]


CARD = Card(
    mechanism=ldp.Window,
    examples=(
        Example(ldp.Window(-1.0, 3.0, 1.0)),
        Example(ldp.Window(-1.0, 3.0, 1.0), "float32"),
        Example(ldp.Window(10.0, 20.0, 0.25, outputs=2)),
        Example(ldp.Window(-1.0, 3.0, 6.0, outputs=64)),
        Example(ldp.Window(-1.0, 3.0, 6.0, outputs=64), "float32"),
        Example(ldp.Window(-1.0, 3.0, 4.0, outputs=256)),
    ),
    kinds=(Example(ldp.Window(-1.0, 3.0, 1.0)),),
    enumerated_up_to=1,
    makers={"Window": lambda e: ldp.Window(0.0, 1.0, e)},
    bad_records=(ldp.Window(-1.0, 3.0, 1.0),),
    flips={"Window": flips},
    power=coins,
    frequencies=(ChannelRow(ldp.Window(-1.0, 1.0, 1.0), 1.0, 1),),
    unbiased=(
        Sample(ldp.Window(-2.0, 5.0, 0.7), in_interval(-2, 5)),
        Sample(ldp.Window(-2.0, 5.0, 4.0), in_interval(-2, 5, "float32")),
    ),
    extremes=tuple((ldp.Window(-1, 3, e), np.linspace(-1, 3, 9)) for e in (0.7, 4.0)),
    covered=(Sample(ldp.Window(0.0, 1.0, 2.0), few_numbers),),
    simulated=(
        Simulated(SIX, 0.0, lambda m: exact_rows(m)[0]),
        Simulated(SIX, 1.0, lambda m: exact_rows(m)[1]),
        Simulated(SIX, 0.3 / SIX._coin.steps, rounded_row),
    ),
    billion={"Window": (partial(ldp.Window, 0, 1, 1.0), SHARES_OF_NUMBERS)},
    finite=(lambda e: ldp.Window(0.0, 1.0, e),),
    audited=((ldp.Window(-1.0, 3.0, 1.0), 0.9),),
    keyed=(Keyed(ldp.Window(-1, 3, 1.0), NUMBERS, number),),
    recorded=tuple(
        Sample(ldp.Window(-4.0, 5.0, e, outputs=outputs), recorded_numbers(3000))
        for e, outputs in ((0.25, 2), (1.0, 16), (6.0, 64), (8.0, 256))
    ),
    faults=(
        Fault(
            "a branch on the window of the number",
            "window with a bit, f32",
            "privatize/window.c",
            "privatize/window_body.h",
            "memcpy(out + i, &code, sizeof code);",
            "for (size_t l = 0; l < LANES; l++) "
            '{ out[i + l] = 0; if (code[l] < p->first_bit) { __asm__ volatile(""); out[i + l] = code[l]; } }',
        ),
    ),
    kernel_tests={
        "src/kernels/privatize/window*": ("tests/mechanisms/test_window.py",),
    },
    choosing=(
        Decision(
            "number",
            20,
            "$\\varepsilon$ above 0.25",
            "`Window` with `outputs=256`",
            "one byte, within 2 % of the best known",
        ),
        Decision(
            "number",
            30,
            "the same, fastest client",
            "`Window`",
            "up to sixteen codes; 1 to 7 % more variance up to $\\varepsilon = 1$, a quarter at 4",
        ),
        Precision(
            "number",
            20,
            "the same, ε > 0.25; [Numbers](#numbers) compares both for the mean of a population",
            "`Window(lower, upper, epsilon, outputs=256)`",
            "1 byte",
            "at most 0.88, 0.129, 0.0066 r² at ε = 2, 4, 8",
        ),
    ),
)
