"""The card of `Text`."""

from __future__ import annotations

from ldpfast.survey import Text

from ._card import QuestionCard, Row


def asked(optional: bool) -> Text:
    return Text(2, "abc", optional=optional, n=4000, buckets=1 << 10)


CARD = QuestionCard(
    question=Text,
    questions={"q": asked(False)},
    optional={"q": asked(True)},
    cells={"q": ["a", "bc", "a", "bc", "a"]},
    texts={"q": ["a", "bc", "a", "bc", "a"]},
    answer=[0.6, 0.4],
    statistic=lambda answer: answer.shares(["a", "bc"]).value,
    bad=(("abc", "row 3"), ("d", "row 3")),
    encodings=frozenset({"string"}),
    row=Row(
        "`Text(max_bytes, alphabet=None)`", "strings", "the frequent strings and their shares; [strings](strings.md)"
    ),
    place=50,
)
