"""The card of `Several`."""

from __future__ import annotations

from ldpfast.survey import Several

from ._card import QuestionCard, Row

OPTIONS = ["a", "b", "c", "d", "e", "f"]


CARD = QuestionCard(
    question=Several,
    questions={"q": Several(OPTIONS, most=2)},
    optional={"q": Several(OPTIONS, most=2, optional=True)},
    cells={"q": [["a"], ["a", "b"], [], ["c", "a"], ["b"]]},
    texts={"q": ["a", "a;b", ";", "c;a", "b"]},
    answer=[0.6, 0.4, 0.2, 0.0, 0.0, 0.0],
    bad=((["g"], "row 3 holds another option"), (["a", "b", "c"], "row 3 holds another option, or too many")),
    encodings=frozenset({"positions"}),
    row=Row(
        "`Several(options, most=None)`",
        'lists or sets of options, texts such as "a;b", or an array of zeros and ones',
        "share of people with each option, distribution of the number of ticks, differences of options",
    ),
    place=35,
)
