"""The card of `Together`."""

from __future__ import annotations

from ldpfast.survey import Several, SurveyQuestion, Together

from ._card import QuestionCard, Row

OPTIONS = ["a", "b", "c", "d", "e", "f"]


def asked(optional: bool) -> dict[str, SurveyQuestion]:
    return {"ticks": Several(OPTIONS, most=2, optional=optional, column="q"), "q": Together("ticks")}


CARD = QuestionCard(
    question=Together,
    questions=asked(False),
    optional=asked(True),
    cells={"q": [["a"], ["a", "b"], [], ["c", "a"], ["a", "b"]]},
    texts={"q": ["a", "a;b", ";", "c;a", "b;a"]},
    answer=[0.4, 0.2, *[0.0] * 13],
    statistic=lambda answer: answer.pairs.value,
    bad=((["g"], "row 3 holds another option"), (["a", "b", "c"], "row 3 holds another option, or too many")),
    encodings=frozenset({"positions"}),
    row=Row("`Together(several)`", "", "share of people with each pair of options of a `Several`"),
    place=65,
)
