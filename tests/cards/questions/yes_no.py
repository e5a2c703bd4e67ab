"""The card of `YesNo`."""

from __future__ import annotations

from ldpfast.survey import YesNo

from ._card import QuestionCard, Row

CARD = QuestionCard(
    question=YesNo,
    questions={"q": YesNo()},
    optional={"q": YesNo(optional=True)},
    cells={"q": [True, False, False, True, False]},
    texts={"q": ["yes", "0", "no", "true", "FALSE"]},
    answer=0.4,
    bad=((2, "booleans, or 0 and 1; row 3 holds another value"),),
    encodings=frozenset({"symbol"}),
    random={0: lambda source, column: YesNo(optional=True, column=column)},
    row=Row("`YesNo()`", "booleans, 0 and 1", "share of yes"),
    place=10,
)
