"""The card of `FiniteChannel`. It has no epsilon to choose, and is written in Python."""

from __future__ import annotations

import ldpfast as ldp

from ..support.examples import Example
from ._card import Card, ChannelRow, Sample, Simulated
from ._pages import Decision, Precision
from ._samples import recorded_labels

BINARY = ldp.FiniteChannel([[3, 1], [1, 3]])
TERNARY = ldp.FiniteChannel([[5, 1, 1, 1], [1, 5, 1, 1], [1, 1, 4, 2]])

CARD = Card(
    mechanism=ldp.FiniteChannel,
    examples=(Example(BINARY), Example(TERNARY)),
    kinds=(Example(TERNARY),),
    decoded_shape=lambda mechanism: (len(mechanism.rows),),
    enumerated_up_to=3,
    bad_records=(TERNARY,),
    frequencies=(ChannelRow(TERNARY, 2, 2),),
    simulated=(Simulated(TERNARY),),
    recorded=(Sample(TERNARY, recorded_labels(3000, 3)),),
    choosing=(
        Decision(
            "design",
            10,
            "",
            "`FiniteChannel`, [your own class](custom_mechanism.md)",
            "exact for any table of integers",
            not_chosen="there is no epsilon to choose it by",
        ),
        Precision(
            "design",
            10,
            "a category, by a design of your own",
            "`FiniteChannel(rows)`",
            "1 to 8 bytes",
            "from the table",
        ),
    ),
    timing="the table is read at an index that is the record",
)
