"""One card per question of surveys: what every question must do, and where it must be tested."""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ldpfast as ldp
from ldpfast.files import FileTable
from ldpfast.survey import Survey

from ..cards.questions import QUESTION_CARDS
from ..support import surveys
from ..support.cases import each
from ..support.client_vectors import vectors
from ..support.internals.shared import described
from ..test_recorded_outputs import NUMBER_QUESTIONS, PAIR_QUESTIONS, SET_QUESTIONS, SURVEY_QUESTIONS

ROOT = Path(__file__).parents[2]
EPSILON, N = 12.0, 4000

each_card = each("stem, card", list(QUESTION_CARDS.items()), ids=list(QUESTION_CARDS))


def classes(questions):
    return {type(question) for question in questions.values()}


def test_every_question_of_the_package_has_a_card():
    found = {kind for kind in described.classes_of("question").values() if kind.__module__.startswith("ldpfast.")}
    assert found == {card.question for card in QUESTION_CARDS.values()}
    assert all(
        type(card.questions["q"]) is card.question is type(card.optional["q"]) for card in QUESTION_CARDS.values()
    )


@each_card
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_answer_is_that_of_the_cells(stem, card):
    answer = Survey(card.questions, EPSILON, weights={"q": 1}).run(card.people(N), rng=1)["q"]
    np.testing.assert_allclose(card.statistic(answer), card.answer, atol=0.06 * np.max(card.answer))


@each_card
def test_cells_of_every_container_give_the_same_reports(stem, card):
    survey, people = Survey(card.questions, EPSILON), card.people(20)
    expected = survey.privatize(people, rng=1)
    lists = {name: cells.tolist() for name, cells in people.items()}
    for frame in (lists, pd.DataFrame(lists), pl.DataFrame(lists), pa.table(lists)):
        assert survey.privatize(frame, rng=1).equals(expected)


@each_card
def test_cells_of_files_are_those_of_arrays(stem, card, tmp_path):
    lines = [",".join(card.texts), *(",".join(cells) for cells in zip(*card.texts.values(), strict=True))]
    (tmp_path / f"{stem}.csv").write_text("\n".join(lines) + "\n")
    survey = Survey(card.questions, EPSILON)
    table = FileTable([tmp_path / f"{stem}.csv"], survey.column_questions)
    assert survey.privatize(table, rng=1).equals(survey.privatize(card.cells, rng=1))


@each_card
def test_missing_cells_need_an_optional_question(stem, card):
    cells = {name: [*values[:3], None, *values[4:]] for name, values in card.cells.items()}
    with pytest.raises(ValueError, match="row 3 has no value"):
        Survey(card.questions, EPSILON).privatize(cells, rng=1)
    assert Survey(card.optional, EPSILON).privatize(cells, rng=1).num_rows == 5


@each_card
def test_bad_cells_are_refused_with_their_row(stem, card):
    for bad, message in card.bad:
        cells = {**card.cells, "q": [int(cell) if isinstance(cell, bool) else cell for cell in card.cells["q"]]}
        cells["q"][3] = bad
        for questions in (card.questions, card.optional):
            if bad == bad or questions is card.questions:  # NaN is a missing answer
                with pytest.raises(ValueError, match=f"column 'q' .*{message}"):
                    Survey(questions, EPSILON).privatize(cells, rng=1)


@each_card
def test_a_person_reports_the_same_in_tables_and_in_messages(stem, card):
    survey, people = Survey(card.optional, EPSILON), card.people(20)
    keys = ldp.PersonKeys(bytes(32), np.arange(20))
    expected = survey.privatize(people, rng=keys)
    order = np.arange(20)[::-1]
    reversed_people = {name: cells[order] for name, cells in people.items()}
    assert survey.privatize(reversed_people, rng=ldp.PersonKeys(bytes(32), order)).take(order).equals(expected)
    rows = [{name: cells[i] for name, cells in people.items()} for i in range(20)]
    answers = [survey.client(bytes(32), i).answer(row) for i, row in enumerate(rows)]
    assert survey.aggregator().update(answers) == survey.aggregator().update(expected)


@each_card
def test_a_survey_with_it_is_described_and_saved(stem, card):
    survey = Survey(card.optional, EPSILON)
    assert Survey.from_dict(survey.to_dict()) == survey
    assert Survey.from_toml(survey.to_toml()).fingerprint == survey.fingerprint
    counted = survey.collect(card.people(20), rng=1)
    assert ldp.load(counted.to_bytes()) == counted
    assert f'type = "{card.question.__name__}"' in survey.to_toml()


# Where it must be tested ----------------------------------------------------------------------------------------------


@each_card
def test_its_encoding_is_that_of_the_clients(stem, card):
    declared = Survey(card.optional, EPSILON)._recipe.declared.values()
    assert {column.encoding for column in declared} == card.encodings


def test_random_questions_of_the_vectors_are_numbered_without_gaps():
    numbers = sorted(number for card in QUESTION_CARDS.values() for number in card.random)
    assert numbers == list(range(len(numbers)))
    for card in QUESTION_CARDS.values():
        assert all(type(make(random.Random(1), "c")) is card.question for make in card.random.values())


@pytest.mark.long
def test_the_vectors_of_the_clients_have_every_question():
    assert set().union(*(classes(survey.questions) for survey, _ in vectors())) == {
        card.question for card in QUESTION_CARDS.values()
    }


@each_card
def test_it_is_in_the_surveys_that_a_slow_twin_answers(stem, card):
    assert card.question in set().union(*(classes(survey.questions) for survey in surveys.SURVEYS.values()))


@each_card
def test_it_is_in_the_survey_whose_outputs_are_recorded(stem, card):
    """Texts have a recorded sketch."""
    recorded = map(classes, (SURVEY_QUESTIONS, PAIR_QUESTIONS, NUMBER_QUESTIONS, SET_QUESTIONS))
    assert card.question in set().union(*recorded) or stem == "text"


def test_every_encoding_is_on_the_page_of_the_proof():
    header = (ROOT / "src" / "kernels" / "survey" / "encode.h").read_text()
    page = (ROOT / "docs" / "proofs" / "survey.md").read_text()
    assert [name for name in re.findall(r"\bencode_\w+(?=\()", header) if f"`{name}`" not in page] == []


@each_card
def test_it_is_in_the_changelog(stem, card):
    assert f"`{card.question.__name__}" in (ROOT / "CHANGELOG.md").read_text()
