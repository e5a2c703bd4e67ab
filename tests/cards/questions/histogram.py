"""The card of `Histogram`."""

from __future__ import annotations

import random

from ldpfast.survey import Histogram

from ._card import QuestionCard, Row


def of_many_bins(source: random.Random, column: str | None) -> Histogram:
    lower, length = -5 + 10 * source.random(), 1 + source.randrange(80)
    return Histogram([lower + j * (1 + j / 3) for j in range(length + 2)], optional=True, column=column)


CARD = QuestionCard(
    question=Histogram,
    questions={"q": Histogram([0, 2, 4, 10])},
    optional={"q": Histogram([0, 2, 4, 10], optional=True)},
    cells={"q": [0.0, 10.0, 2.0, 3.5, 1.0]},
    texts={"q": ["0", "10", "2.0", "3.5", "1e0"]},
    answer=[0.4, 0.4, 0.2],
    bad=((-0.5, r"numbers in .*\[0.0, 10.0\]; row 3 is outside"),),
    encodings=frozenset({"bin"}),
    arguments={"edges": [0.5, 1.5, 2.5]},
    random={5: of_many_bins},
    row=Row(
        "`Histogram(edges, integers=False)`",
        "numbers in [edges[0], edges[-1]]",
        "share of each bin, distribution function, quantiles",
    ),
    place=40,
)
