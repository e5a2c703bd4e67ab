"""The card of `Pairs`."""

from __future__ import annotations

from ldpfast.survey import Choice, Pairs, SurveyQuestion, YesNo

from ._card import QuestionCard, Row


def asked(optional: bool) -> dict[str, SurveyQuestion]:
    return {
        "a": YesNo(optional=optional, column="q"),
        "b": Choice(["x", "y", "z"], optional=optional),
        "c": YesNo(optional=optional),
        "q": Pairs("a", "b", "c"),
    }


CARD = QuestionCard(
    question=Pairs,
    questions=asked(False),
    optional=asked(True),
    cells={
        "q": [True, False, False, True, False],
        "b": ["x", "y", "y", "z", "x"],
        "c": [True, True, False, True, False],
    },
    texts={
        "q": ["yes", "no", "no", "yes", "no"],
        "b": ["x", "y", "y", "z", "x"],
        "c": ["yes", "yes", "no", "yes", "no"],
    },
    answer=[[0.2, 0.4, 0.0], [0.2, 0.0, 0.2]],
    statistic=lambda answer: answer["a", "b"].value,
    bad=((2, "booleans, or 0 and 1; row 3 holds another value"),),
    encodings=frozenset({"symbol"}),
    row=Row(
        "`Pairs(a, b, *more)`", "", "tables of every two of up to 64 other questions, with common margins; correlations"
    ),
    place=65,
)
