"""The card of `Several`."""

from __future__ import annotations

import random
from datetime import date

from ldpfast.survey import Several

from ._card import QuestionCard, Row

OPTIONS = ["a", "b", "c", "d", "e", "f"]
LABELS = ["north", "östlich", 2, -7, 1.5, 1 << 60, date(1999, 12, 31), "西", "🦉 y", "2.0", "no"]


def of_labels(source: random.Random, column: str | None) -> Several:
    options = LABELS[: 2 + source.randrange(10)]
    return Several(options, 1 + source.randrange(len(options)), optional=True, column=column)


def of_integers(source: random.Random, column: str | None) -> Several:
    k = 2 + source.randrange(150)
    return Several(k, 1 + source.randrange(min(k, 12)), optional=True, column=column)


CARD = QuestionCard(
    question=Several,
    questions={"q": Several(OPTIONS, most=2)},
    optional={"q": Several(OPTIONS, most=2, optional=True)},
    cells={"q": [["a"], ["a", "b"], [], ["c", "a"], ["b"]]},
    texts={"q": ["a", "a;b", ";", "c;a", "b"]},
    answer=[0.6, 0.4, 0.2, 0.0, 0.0, 0.0],
    bad=((["g"], "row 3 holds another option"), (["a", "b", "c"], "row 3 holds another option, or too many")),
    encodings=frozenset({"positions"}),
    random={6: of_labels, 7: of_integers},
    row=Row(
        "`Several(options, most=None)`",
        'lists or sets of options, texts such as "a;b", an array or columns of zeros and ones',
        "share of people with each option, distribution of the number of ticks, differences of options",
    ),
    place=35,
)
