"""The card of `SubsetSelection`."""

from __future__ import annotations

from functools import partial

import numpy as np

import ldpfast as ldp

from ..support.examples import Example
from ._card import Card, ChannelRow, Coin, Keyed, Sample, Simulated
from ._events import of_set, ones
from ._fault import Fault
from ._formats import packed_categories, per_category
from ._pages import Decision, Precision
from ._samples import CATEGORIES, EPSILONS, few_categories, integer, recorded_labels, shares

CARD = Card(
    mechanism=ldp.SubsetSelection,
    examples=(
        *(Example(ldp.SubsetSelection(k, 1.5)) for k in (2, 8, 13, 128, 1000)),
        *(Example(ldp.SubsetSelection(k, 2.0, size=size)) for k, size in ((13, 1), (13, 12), (65, 40))),
    ),
    kinds=(Example(ldp.SubsetSelection(13, 1.0)),),
    report_shape=packed_categories,
    decoded_shape=per_category,
    enumerated_up_to=13,
    makers={"SubsetSelection": lambda e: ldp.SubsetSelection(10, e)},
    largest_epsilons=((lambda e: ldp.SubsetSelection(8, e), 46.3),),
    bad_records=(ldp.SubsetSelection(13, 1.0),),
    flips={"SubsetSelection": lambda n: ldp.SubsetSelection(2, 1.0).privatize(np.ones(n, np.uint8), rng=9) & 1},
    power=lambda: (Coin(ldp.SubsetSelection(13, 6.0, size=4), 2, of_set(4, 13, 6.0), ones([1 << 2, 0])),),
    frequencies=(ChannelRow(ldp.SubsetSelection(5, 1.0), 3, 3),),
    extremes=((ldp.SubsetSelection(5, 0.7), np.arange(5)),),
    covered=(Sample(ldp.SubsetSelection(8, 1.0), few_categories(8)),),
    total_variances={"SS": ldp.SubsetSelection},
    simulated=(
        Simulated(ldp.SubsetSelection(2, 1.0)),
        Simulated(ldp.SubsetSelection(4, 1.0, size=2)),
        Simulated(ldp.SubsetSelection(5, 1.0, size=4)),
    ),
    moments=(ldp.SubsetSelection(12, 1.0),),
    billion={"SubsetSelection, k = 4096": (partial(ldp.SubsetSelection, 4096, 1.0), shares(4096))},
    finite=(lambda e: ldp.SubsetSelection(5, e),),
    channels=tuple(ldp.SubsetSelection(k, e) for k in (2, 5, 8) for e in EPSILONS),
    audited=((ldp.SubsetSelection(9, 1.0), 0.85),),
    keyed=(Keyed(ldp.SubsetSelection(9, 1.0), CATEGORIES, integer),),
    recorded=(
        *(Sample(ldp.SubsetSelection(k, 1.5), recorded_labels(3000, k)) for k in (2, 13, 128, 1000)),
        *(Sample(ldp.SubsetSelection(k, 2.0, size=size), recorded_labels(3000, k)) for k, size in ((13, 12), (65, 40))),
    ),
    faults=(
        Fault(
            "a member that is looked for only if it is removed",
            "subset selection, u8",
            "privatize/subset_selection.c",
            "privatize/subset_selection_body.h",
            "bits &= ~(PER_ISA(deposit)((uint64_t)1 << (rank & 63), bits) & here & own);",
            'if (own) { __asm__ volatile(""); bits &= ~(PER_ISA(deposit)((uint64_t)1 << (rank & 63), bits) & here); }',
        ),
        Fault(
            "a branch on whether a word holds the record",
            "subset selection, u16",
            "privatize/subset_selection.c",
            "privatize/subset_selection_body.h",
            "const uint64_t low = earlier | (in_word & (at - 1)), moved = bits << 1 | carry;",
            "uint64_t low = earlier | (in_word & (at - 1)); const uint64_t moved = bits << 1 | carry; "
            'if (before / 64 == truth / 64) { __asm__ volatile(""); low = at - 1; }',
        ),
        Fault(
            "a branch on the private coin of a set",
            "subset selection, u8",
            "privatize/subset_selection.c",
            "privatize/subset_selection_body.h",
            "const uint64_t report = (bits & low) | (moved & ~low & ~(at & in_word)) | (at & in_word & own);",
            "uint64_t report = (bits & low) | (moved & ~low & ~(at & in_word)); "
            'if (own) { __asm__ volatile(""); report |= at & in_word; }',
        ),
        Fault(
            "a bit at an address that depends on the record",
            "subset selection, u16",
            "privatize/subset_selection.c",
            "privatize/subset_selection_body.h",
            "most = record > most ? record : most;",
            "{ static volatile uint8_t seen[1 << 16]; seen[truth] = 1; } most = record > most ? record : most;",
        ),
    ),
    kernel_tests={
        "src/kernels/privatize/subset*": ("tests/mechanisms/test_subset_selection.py",),
    },
    choosing=(
        Decision(
            "category",
            20,
            "more, $k$ up to 4096",
            "`SubsetSelection`",
            "smallest total variance for many; a report has $k$ bits",
        ),
        Precision(
            "category",
            20,
            "one of many categories, k ≤ 4096",
            "`SubsetSelection(k, epsilon)`",
            "k bits",
            "a little below 4 e^ε / (e^ε - 1)² for a rare category",
        ),
    ),
)
