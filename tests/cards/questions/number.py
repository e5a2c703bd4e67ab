"""The card of `Number`."""

from __future__ import annotations

from ldpfast.survey import Number

from ._card import QuestionCard, Row

CARD = QuestionCard(
    question=Number,
    questions={"q": Number(0, 10, cells=40)},
    optional={"q": Number(0, 10, cells=40, optional=True)},
    cells={"q": [0.0, 10.0, 2.5, 7.5, 6.0]},
    texts={"q": ["0", "1e1", "2.50", "7.5", "6"]},
    answer=[0.2, 0.4, 0.4, 0.6, 0.8, 1.0],
    statistic=lambda answer: answer.cdf([1, 2.5, 5, 7, 9, 10]).value,
    bad=(
        (10.5, r"numbers in .*\[0.0, 10.0\]; row 3 is outside"),
        (float("nan"), "row 3 has no value"),
    ),
    encodings=frozenset({"bin"}),
    arguments={"lower": 0.5, "upper": 2.5},
    row=Row(
        "`Number(lower, upper, integers=False, cells=256)`",
        "numbers in [lower, upper]",
        "distribution function with its band, quantiles, mean, shares, density",
    ),
    place=35,
)
