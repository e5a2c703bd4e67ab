"""The card of `Choice`."""

from __future__ import annotations

import random
from datetime import date

from ldpfast.survey import Choice

from ._card import QuestionCard, Row

TEXTS = ("north", "south", "östlich", "西", "", "no", "a,b", "N/A", "🦉", "x" * 40)
VALUES = [2, 0, -7, 1.5, 1 << 60, date(1999, 12, 31), date(2026, 1, 1), "2"]
COLORS = ("red", "green", "blue")


def texts(source: random.Random, column: str | None) -> Choice:
    return Choice(TEXTS[: 2 + source.randrange(9)], optional=True, column=column)


def values(source: random.Random, column: str | None) -> Choice:
    return Choice(VALUES[: 2 + source.randrange(7)], optional=True, column=column)


def integers(source: random.Random, column: str | None) -> Choice:
    return Choice(2 + source.randrange(60), optional=True, column=column)


CARD = QuestionCard(
    question=Choice,
    questions={"q": Choice(COLORS)},
    optional={"q": Choice(COLORS, optional=True)},
    cells={"q": ["red", "blue", "red", "green", "red"]},
    texts={"q": ["red", "blue", "red", "green", "red"]},
    answer=[0.6, 0.2, 0.2],
    bad=(("pink", "the declared categories 'red', 'green', 'blue'; row 3 holds another value"),),
    encodings=frozenset({"symbol"}),
    random={1: texts, 2: values, 3: integers},
    row=Row("`Choice(categories)`", "declared labels", "share of each label"),
    place=20,
)
