"""The card of `Cross`."""

from __future__ import annotations

from ldpfast.survey import Choice, Cross, SurveyQuestion, YesNo

from ._card import QuestionCard, Row


def asked(optional: bool) -> dict[str, SurveyQuestion]:
    return {
        "a": YesNo(optional=optional, column="q"),
        "b": Choice(["x", "y", "z"], optional=optional),
        "q": Cross("a", "b"),
    }


CARD = QuestionCard(
    question=Cross,
    questions=asked(False),
    optional=asked(True),
    cells={"q": [True, False, False, True, False], "b": ["x", "y", "y", "z", "x"]},
    texts={"q": ["yes", "no", "no", "yes", "no"], "b": ["x", "y", "y", "z", "x"]},
    answer=[[0.2, 0.4, 0.0], [0.2, 0.0, 0.2]],
    bad=((2, "booleans, or 0 and 1; row 3 holds another value"),),
    encodings=frozenset({"symbol"}),
    row=Row(
        "`Cross(a, b, *more)`", "", "table of two to eight other questions, its margins, shares or means in subgroups"
    ),
    place=60,
)
