"""The card of `Mean`."""

from __future__ import annotations

import random
from datetime import date

from ldpfast.survey import Mean

from ._card import QuestionCard, Row

DAYS = (date(1900, 1, 1), date(2030, 1, 1))
RANGES = [(0, 100), (-1, 1), (0.1, 0.3), (-1e99, 1e99), (0, 1e-90), (-3.5, 1e6), DAYS]


def of_range(source: random.Random, column: str | None) -> Mean:
    lower, upper = RANGES[source.randrange(len(RANGES))]
    return Mean(lower, upper, optional=True, column=column)


CARD = QuestionCard(
    question=Mean,
    questions={"q": Mean(0, 10)},
    optional={"q": Mean(0, 10, optional=True)},
    cells={"q": [0.0, 10.0, 2.5, 7.5, 6.0]},
    texts={"q": ["0", "1e1", "2.50", "7.5", "6"]},
    answer=5.2,
    bad=(
        (10.5, r"numbers in .*\[0.0, 10.0\]; row 3 is outside"),
        (float("nan"), "row 3 has no value"),
    ),
    encodings=frozenset({"low-high"}),
    arguments={"lower": 0.5, "upper": 2.5},
    random={4: of_range},
    row=Row(
        "`Mean(lower, upper, resolution=None)`",
        "numbers in [lower, upper]; with a resolution, rounded to steps first",
        "mean",
    ),
    place=30,
)
