"""One card per mechanism: what every card must have."""

from __future__ import annotations

import numpy as np

from .cards import CARDS
from .support.cases import each

each_card_example = each(
    "card, example",
    [(card, example) for card in CARDS.values() for example in card.examples],
    ids=lambda v: str(v)[:60],
)


@each_card_example
def test_reports_have_the_shape_and_dtype_of_the_card(card, example):
    reports = example.mechanism.privatize(example.records(11))
    assert reports.dtype == card.report_dtype(example.mechanism, np.dtype(example.dtype))
    assert reports.shape == (11, *card.report_shape(example.mechanism))
