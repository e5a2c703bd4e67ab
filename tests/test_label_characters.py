"""Names and labels: what a database, XML and CSV cannot hold is refused before anybody reports."""

from __future__ import annotations

import io
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import ldpfast as ldp
from ldpfast.survey import Choice, Survey, YesNo

from .support.cases import each
from .support.internals.server import ServerPlan
from .support.internals.shared import plots

WRONG = [*map(chr, range(32)), "\ud800", "\udfff", "\ufffe", "\uffff"]
FINE = ["\x7f", "\x85", "\xa0", "\u200b", "\u202e", "\ue000", "\ufdd0", "\U0001f600", "=1", "$x$", "_", "<&>\"'"]
MAKERS = [
    lambda text: Survey({text: YesNo()}, 1.0),
    lambda text: Survey({"a": YesNo()}, 1.0, series=text),
    lambda text: YesNo(column=text),
    lambda text: Choice(["b", text]),
    lambda text: ldp.estimation.Frequencies(["b", text], 1.0),
    lambda text: ServerPlan.of(Survey({"a": YesNo(optional=True)}, 1.0), None, ["b", text]),
]


@each("make", MAKERS)
def test_labels_are_refused_that_databases_xml_or_csv_cannot_hold(make):
    for wrong in WRONG:
        for text in (wrong, f"a{wrong}", f"{wrong}a"):
            with pytest.raises(ValueError, match=rf"must have no control characters.*U\+{ord(wrong):04X}$"):
                make(text)
    for fine in FINE:
        make(fine)


def test_values_that_divide_people_are_labels_too():
    mechanism = ldp.RandomizedResponse(2, 1.0)
    for text in ("\0a", "a\n", "\ufffe"):
        for by in (["b", text], np.array(["b", text]), pd.Series(["b", text], dtype="category")):
            with pytest.raises(ValueError, match=r"column 'by' must have no control characters.*U\+"):
                mechanism.collect([0, 1], by=by, rng=1)
    with pytest.raises(TypeError, match="column 'by' must hold values of one type"):
        mechanism.collect([0, 1], by=["b", "\ud800"], rng=1)


def test_groups_of_a_file_are_checked():
    text = 'epsilon = 1.0\ngroups = ["a\\u0000"]\n[questions.a]\ntype = "YesNo"\n'
    with pytest.raises(ValueError, match=r"groups must have no control characters.*U\+0000"):
        Survey.from_toml(text)


def test_pictures_are_well_formed_whatever_is_compared():
    """Names of results that are compared are texts of the user, which no check has seen."""
    survey = Survey({"a": YesNo()}, 2.0)
    results = [survey.run({"a": [True, False] * 100}, rng=seed) for seed in range(2)]
    names = [f"{wrong}{i}" for i, wrong in enumerate(WRONG)]
    figure = ldp.survey.compare({name: results[i % 2] for i, name in enumerate(names)}).plot_trends()
    out = io.BytesIO()
    figure.savefig(out, format="svg")
    ElementTree.fromstring(out.getvalue())
    assert plots.text_of("a\x00\r\n\tb\ud800") == "aU+0000U+000D\n\tbU+D800"
