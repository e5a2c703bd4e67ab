"""The card of `SetSelection`."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import ldpfast as ldp

from ..support.channels import exact_rows
from ..support.examples import Example
from ..support.machine_records import ticks
from ._card import Card, ChannelRow, Coin, Keyed, Sample, Simulated
from ._events import of_set
from ._fault import Fault
from ._formats import per_category, smallest_code
from ._pages import Decision, Precision
from ._samples import N

ONE_OF_THREE = ldp.SetSelection(2, 1, 1 - np.log(2), size=2)  # a report lacks one of three positions


def dtype(mechanism: Any, records: np.dtype) -> Any:
    return smallest_code(mechanism, records) if mechanism.size == 1 else np.uint8


def shape(mechanism: Any) -> tuple[int, ...]:
    positions = mechanism.domain.positions
    return () if mechanism.size == 1 else (-(-positions // 8),)


def flips(n: int) -> np.ndarray:
    """Return whether reports lack the only option of the record."""
    record = np.array([1, 0], np.uint8)
    return ONE_OF_THREE.privatize(np.tile(record, (n, 1)), rng=9)[:, 0] & 1 == 0


def in_codes(reports: np.ndarray) -> int:
    """Count the codes of the options 0, 5 and 19."""
    return int(np.isin(reports, [0, 5, 19]).sum())


def coins() -> tuple[Coin, ...]:
    """Return the coin of codes and that of bits, by the reports that have a position of the record."""
    record = np.zeros(20, np.uint8)
    record[[0, 5, 19]] = 1
    codes, bits = ldp.SetSelection(20, 3, 6.0, size=1), ldp.SetSelection(20, 3, 6.0, size=2, threshold=1)
    masks = np.packbits(record, bitorder="little").tolist()
    return (
        Coin(codes, record, of_set(3, 23, 6.0), in_codes),
        Coin(
            bits,
            record,
            of_set(253 - 190, 253, 6.0),
            lambda r: np.count_nonzero((r & np.array(masks, np.uint8)).any(1)),
        ),
    )


def positions(ticks_of_person: np.ndarray) -> tuple[np.ndarray]:
    """Return the ascending positions of the ticks of one of nine options, and of the fillers of at most two ticks."""
    options = np.flatnonzero(ticks_of_person)
    return (np.append(options, np.arange(9, 11 - len(options))),)


CARD = Card(
    mechanism=ldp.SetSelection,
    examples=(
        Example(ldp.SetSelection(3, 1, 1.0)),
        Example(ldp.SetSelection(3, 3, 3.0)),
        Example(ldp.SetSelection(13, 3, 1.0, optional=True)),
        Example(ldp.SetSelection(20, 3, 2.0)),
        Example(ldp.SetSelection(21, 5, 6.0, size=6, threshold=3)),
        Example(ldp.SetSelection(64, 4, 0.5)),
        Example(ldp.SetSelection(300, 3, 1.0)),
        Example(ldp.SetSelection(300, 6, 2.0, size=1)),
    ),
    kinds=(Example(ldp.SetSelection(13, 3, 1.0)), Example(ldp.SetSelection(13, 3, 2.0))),
    report_dtype=dtype,
    report_shape=shape,
    decoded_shape=per_category,
    enumerated_up_to=20,
    makers={"SetSelection": lambda e: ldp.SetSelection(10, 2, e)},
    largest_epsilons=((lambda e: ldp.SetSelection(8, 1, e, size=1), 46.4),),
    flips={"SetSelection": flips},
    power=coins,
    frequencies=(
        ChannelRow(ldp.SetSelection(4, 2, 1.0, size=2), np.array([1, 0, 1, 0], np.uint8), 5),
        ChannelRow(ldp.SetSelection(4, 2, 1.0, size=1), np.array([0, 1, 0, 0], np.uint8), 2),
    ),
    unbiased=(Sample(ldp.SetSelection(20, 3, 2.0), lambda: ticks(N, 20, 3)),),
    extremes=((ldp.SetSelection(5, 2, 0.7), ticks(50, 5, 2)),),
    covered=(Sample(ldp.SetSelection(4, 2, 1.0), lambda: ticks(200, 4, 2)),),
    simulated=tuple(
        Simulated(mechanism, frozenset({0, 2}), lambda m: exact_rows(m)[5])
        for mechanism in (ldp.SetSelection(3, 2, 1.0, size=1), ldp.SetSelection(3, 2, 1.0, size=2))
    ),
    billion={
        "SetSelection, k = 1000": (
            partial(ldp.SetSelection, 1000, 3, 1.0),
            {tuple(row): 0.5 for row in np.eye(1000, dtype=bool)[:2].tolist()},
        )
    },
    finite=(lambda e: ldp.SetSelection(4, 2, e),),
    channels=(ldp.SetSelection(3, 2, 1.0), ldp.SetSelection(3, 1, 3.0, size=2)),
    audited=((ldp.SetSelection(9, 2, 1.0), 0.85),),
    keyed=(Keyed(ldp.SetSelection(9, 2, 1.0), ticks(40, 9, 2), positions),),
    recorded=tuple(
        Sample(ldp.SetSelection(k, most, e, optional=optional), partial(ticks, 3000, k, most))
        for k, most, e, optional in (
            (2, 1, 1.0, False),
            (20, 3, 0.25, False),
            (20, 3, 1.0, True),
            (20, 3, 4.0, False),
            (100, 3, 1.0, False),
            (300, 6, 1.0, False),
            (1000, 3, 1.0, False),
        )
    ),
    faults=(
        Fault(
            "a member that leaves only if it has to",
            "set selection",
            "privatize/set_selection.c",
            "privatize/set_selection_body.h",
            "row[member[j] / 64] &= ~((uint64_t)(j < count) << member[j] % 64);",
            'if (j < count) { __asm__ volatile(""); row[member[j] / 64] &= ~((uint64_t)1 << member[j] % 64); }',
        ),
        Fault(
            "a branch on the word of the person's position",
            "set selection",
            "privatize/set_selection.c",
            "privatize/set_selection_body.h",
            "carry = row[w] >> 63;",
            'carry = row[w] >> 63; if (w < at / 64) { __asm__ volatile(""); continue; }',
        ),
        Fault(
            "a branch on the private coin of a position",
            "set selection, position u8",
            "privatize/set_selection.c",
            "privatize/set_selection.c",
            "code[i] = (code_type)((mine & heads) | (other & ~heads));",
            'code[i] = (code_type)other; if (heads) { __asm__ volatile(""); code[i] = (code_type)mine; }',
        ),
    ),
    kernel_tests={
        "src/kernels/privatize/set_*": ("tests/mechanisms/test_set_selection.py",),
        "src/kernels/random/digits.h": ("tests/mechanisms/test_set_selection.py",),
    },
    choosing=(
        Decision(
            "category",
            65,
            "several at once: all that apply, $m$ at most",
            "`SetSelection`",
            "one report for the whole set; the variance grows with $m$, not with $k$; `for_sets` chooses it",
        ),
        Precision(
            "category",
            65,
            "at most m of k categories",
            "`SetSelection(k, m, epsilon)`",
            "k + m bits, or log2(k + m)",
            "about 5.4 m / ε² for ε up to 1 and a rare category",
        ),
    ),
)
