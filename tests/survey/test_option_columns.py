"""Sets of options whose ticks are in columns of zeros and ones, one for each option."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ldpfast as ldp
from ldpfast.files import FileTable
from ldpfast.reports import recipe_of
from ldpfast.results import ClippedWarning
from ldpfast.survey import Cross, Several, Survey, SurveyQuestion, Together, YesNo

from ..support.cases import each
from ..support.client_tables import read

OPTIONS = ["fever", "cough", "rash"]
COLUMNS = ["q1_fever", "q1_cough", "q1_rash"]
ROWS = [[1, 1, 0], [0, 0, 0], [None, None, None], [0, 1, 0], [1, 0, 1]] * 4
SETS = [["cough", "fever"], [], None, ["cough"], ["fever", "rash"]] * 4
BOXES = {name: [row[place] for row in ROWS] for place, name in enumerate(COLUMNS)}
SMOKES = [True, False, False, True, False] * 4


def asked(column: list[str] | None) -> Survey:
    questions: dict[str, SurveyQuestion] = {
        "together": Together("symptoms"),
        "symptoms": Several(OPTIONS, most=2, optional=True, column=column),
        "smokes": YesNo(optional=True),
        "both": Cross("symptoms", "smokes"),
    }
    return Survey(questions, 12.0, answers="all")


SURVEY, LISTS = asked(COLUMNS), asked(None)


def reports(survey: Survey, people, **options) -> dict:
    table = survey.privatize(people, **options)
    return {name: table[name].to_pylist() for name in survey.questions}


def frames() -> dict:
    people = {**BOXES, "smokes": SMOKES}
    return {
        "mapping": people,
        "booleans": {name: [None if one is None else bool(one) for one in cells] for name, cells in people.items()},
        "floats of pandas": pd.DataFrame(people),
        "nullable of pandas": pd.DataFrame(people).astype(dict.fromkeys(COLUMNS, "boolean")),
        "categories of pandas": pd.DataFrame(people).astype(dict.fromkeys(COLUMNS, "category")),
        "polars": pl.DataFrame(people),
        "arrow": pa.table(people),
        "batches": pa.Table.from_batches([*pa.table(people).to_batches(7)]),
    }


@pytest.mark.claim("Columns of zeros and ones give the same reports as lists of options.", "Surveys and ledgers")
@each("form", frames())
def test_columns_give_the_reports_of_lists(form):
    people, lists = frames()[form], {"symptoms": SETS, "smokes": SMOKES}
    assert reports(SURVEY, people, rng=1) == reports(LISTS, lists, rng=1)
    keys = ldp.PersonKeys(bytes(32), np.arange(len(ROWS)))
    assert reports(SURVEY, people, rng=keys) == reports(LISTS, lists, rng=keys)
    assert SURVEY.collect(people, rng=1).n == len(ROWS)


def test_columns_of_files(tmp_path):
    lines = [",".join([*COLUMNS, "smokes"])]
    for row, smokes in zip(ROWS, SMOKES, strict=True):
        lines.append(",".join("" if one is None else ("no", "1")[one] for one in row) + f",{smokes:d}")
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    table = FileTable([tmp_path / "people.csv"], SURVEY.column_questions)
    expected = reports(LISTS, {"symptoms": SETS, "smokes": SMOKES}, rng=1)
    assert reports(SURVEY, table, rng=1) == expected
    (tmp_path / "people.csv").write_text("\n".join(lines[:3]).replace("no,no,no", "no,some,no") + "\n")
    with pytest.raises(
        ValueError, match=r"^columns 'q1_fever', .* must hold zeros and ones.*line 3.* has another value"
    ):
        SURVEY.privatize(FileTable([tmp_path / "people.csv"], SURVEY.column_questions), rng=1)


def test_a_survey_with_columns_is_described():
    assert 'column = ["q1_fever", "q1_cough", "q1_rash"]' in SURVEY.to_toml()
    assert Survey.from_toml(SURVEY.to_toml()) == Survey.from_dict(SURVEY.to_dict()) == SURVEY
    assert SURVEY.fingerprint != LISTS.fingerprint
    assert [coins.description for coins in recipe_of(SURVEY).coins] == [
        coins.description for coins in recipe_of(LISTS).coins
    ]
    assert recipe_of(SURVEY).sources == [*COLUMNS, "smokes"]


def test_clients_find_the_ticks_by_the_name_of_the_question():
    people = {**BOXES, "smokes": SMOKES}
    keys = ldp.PersonKeys(bytes(32), np.arange(len(ROWS)))
    records = [{"symptoms": ticks, "smokes": smokes} for ticks, smokes in zip(SETS, SMOKES, strict=True)]
    messages = [SURVEY.client(bytes(32), i).answer(record) for i, record in enumerate(records)]
    assert SURVEY.aggregator().update(messages) == SURVEY.collect(people, rng=keys)
    assert {json.loads(text)["column"] for text in read(SURVEY.client_table())["texts"]} == {"symptoms", "smokes"}


def test_simulation_and_groups_read_the_columns():
    people = {**BOXES, "smokes": SMOKES, "land": ["a", "b"] * (len(ROWS) // 2)}
    assert ldp.simulate(SURVEY, people, n=1000, rng=1).n == 1000
    assert SURVEY.collect(people, by="land", rng=1).n == len(ROWS)
    with pytest.warns(UserWarning, match="got 'q1_cough': question '(together|symptoms)' asks for it"):
        SURVEY.collect({name: cells[:2] for name, cells in people.items()}, by="q1_cough", rng=1)


ROW = r"must hold zeros and ones, at most 2 ones in a row; row 3 has another value, more ones, or a value in some of them only$"


@each(
    "cells, kind, message",
    [
        ([1, 1, 1], ValueError, f"^columns 'q1_fever', 'q1_cough', 'q1_rash' {ROW}"),
        ([2, 0, 0], ValueError, ROW),
        ([-1, 0, 0], ValueError, ROW),
        ([0.5, 0, 0], ValueError, ROW),
        ([None, 0, 0], ValueError, ROW),
        ([1, None, None], ValueError, ROW),
    ],
)
def test_rows_that_are_no_sets_are_refused_and_named(cells, kind, message):
    boxes = {name: [*BOXES[name][:3], cell, *BOXES[name][4:]] for name, cell in zip(COLUMNS, cells, strict=True)}
    people = {**boxes, "smokes": SMOKES}
    with pytest.raises(kind, match=message):
        SURVEY.privatize(people, rng=1)
    keys = ldp.PersonKeys(bytes(32), np.arange(len(ROWS)))
    with pytest.raises(kind, match=message):
        SURVEY.privatize(people, rng=keys)
    with pytest.raises(kind, match=message):
        ldp.simulate(SURVEY, people, n=10, rng=1)
    none = [*SETS[:3], None, *SETS[4:]]
    with pytest.warns(ClippedWarning, match="1 of 20 .* in columns 'q1_fever', 'q1_cough', 'q1_rash'"):
        SURVEY.collect(people, rng=1, clip=True)
    assert reports(SURVEY, people, rng=1, clip=True) == reports(LISTS, {"symptoms": none, "smokes": SMOKES}, rng=1)


def test_a_row_without_values_needs_an_optional_question():
    survey = Survey({"symptoms": Several(OPTIONS, column=COLUMNS)}, 2.0)
    with pytest.raises(ValueError, match=r"row 2 has no value in any of them, which needs optional=True$"):
        survey.privatize(BOXES, rng=1)
    with pytest.raises(ValueError, match="row 2 has no value"):
        survey.privatize(BOXES, rng=1, clip=True)


@each(
    "change, kind, message",
    [
        ({"q1_cough": ["yes"] * 20}, ValueError, ROW.replace("3", "0")),
        ({"q1_cough": [[1]] * 20}, TypeError, "^column 'q1_cough' must hold booleans, or 0 and 1, got type list"),
        ({"q1_cough": [1] * 19}, ValueError, "^frame must have columns of one length"),
        ({"q1_cough": np.zeros((20, 2))}, ValueError, r"^column 'q1_cough' must have shape \(n,\)"),
    ],
)
def test_columns_of_other_types_are_refused(change, kind, message):
    with pytest.raises(kind, match=message):
        SURVEY.privatize({**BOXES, "smokes": SMOKES, **change}, rng=1)


def test_every_column_must_be_there():
    with pytest.raises(ValueError, match=r"^frame must have one column 'q1_rash': it lacks it"):
        SURVEY.privatize({name: cells for name, cells in BOXES.items() if name != "q1_rash"}, rng=1)


@each(
    "column, kind, message",
    [
        (["a"], ValueError, "^column must have one name for each of the 3 options, got 1 names$"),
        (["a", "b", "a"], ValueError, "^column must have different names, got 'a' twice$"),
        (["a", 3, "b"], TypeError, "^column must be the name of a column, or a list of names, got one that is 3$"),
        (["a", "b", ""], TypeError, "got one that is ''$"),
        (["a", "b", "\0"], ValueError, "^column must have no control characters"),
        (3, TypeError, "^column must be the name of a column, got 3$"),
        ("", TypeError, "^column must be the name of a column, got ''$"),
    ],
)
def test_names_that_are_no_columns_of_options(column, kind, message):
    with pytest.raises(kind, match=message):
        Several(OPTIONS, column=column)
    assert Several(OPTIONS, column=tuple(COLUMNS)) == Several(OPTIONS, column=COLUMNS)
