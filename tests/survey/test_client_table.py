"""The table of a survey for clients in other languages, read by the page that specifies it."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction

import numpy as np
import pytest

from ldpfast.mechanisms import (
    DistributionResponse,
    ProjectiveGeometryResponse,
    RandomizedResponse,
    SetCube,
    SetSelection,
    SketchResponse,
    SubsetSelection,
    ViewResponse,
    WholeSets,
)
from ldpfast.survey import Choice, Cross, Histogram, Mean, Number, Repeated, Several, Survey, Text, Together, YesNo

from ..support import person_keys
from ..support.cases import each
from ..support.client_tables import read
from ..support.client_vectors import answered, vectors
from ..support.internals.kernels import strings
from ..support.internals.mechanisms import subset_selection
from ..support.internals.shared import finite_field, schemas
from ..support.internals.survey import TwoResponses, column_of
from ..support.table_loss import level_codes


def require_sketch(found: tuple, mechanism: SketchResponse) -> None:
    """Check that the hash functions of a table give the buckets of the mechanism, and its field the reports."""
    (functions, buckets, parts, codes, order, length, *_), tables, hashes = found
    response = mechanism.response
    assert (functions, buckets, parts) == (mechanism.functions, mechanism.buckets, 1 + len(mechanism.prefixes))
    assert codes * parts * functions == mechanism.report.k
    space = (response.order, response.length) if isinstance(response, ProjectiveGeometryResponse) else (0, 0)
    assert (order, length) == space
    rows = np.zeros((9, mechanism.domain.width), np.uint8)
    rows[:, 0] = range(1, 10)
    for part, (key, size, coefficients) in enumerate(hashes):
        expected = strings.Hashes(np.array(key, np.uint64), coefficients.astype(np.uint64), buckets, size).buckets(rows)
        assert np.array_equal(mechanism._hashes[part].buckets(rows), expected)
        assert size == (mechanism.max_bytes, *mechanism.prefixes)[part]
    if tables:
        total, product, negative, inverse = tables
        field = response._space.field
        assert np.array_equal(total, field.sum)
        assert np.array_equal(product, field.product)
        assert (total[np.arange(order), negative] == 0).all()
        assert (product[np.arange(1, order), inverse[1:]] == 1).all()
    assert len(tables) == (4 if order and isinstance(response._space.field, finite_field.FiniteField) else 0)


def require_levels(found, mechanism):
    """Check that levels have the integers of the coins, from which the sets of all nodes follow."""
    for level, own in zip(found, mechanism.levels, strict=True):
        kind, span, heads, size, others, *_, points = level
        nodes = own.symbols
        if kind == 0:
            assert others == nodes - 1
        sets = own.matches(np.array([0, nodes // 2, nodes - 1]))
        for node, row in zip((0, nodes // 2, nodes - 1), sets, strict=True):
            if own.codes <= 400:
                inside, outside = level_codes(level, mechanism.k, node)
                assert sorted(inside.elements()) == np.flatnonzero(row).tolist()
                assert sorted(outside.elements()) == np.flatnonzero(~row).tolist()
            assert (size, others) == (row.sum(), (~row).sum())
        assert (span, -(-mechanism.k // span)) == (own.span, nodes)
        assert own.probabilities == (Fraction(heads, size << 64), Fraction((1 << 64) - heads, others << 64))
        assert list(points) == (own.points.tolist() if kind >= 3 else [])


def test_a_table_says_what_the_survey_asks():
    for survey, _ in vectors():
        table = survey.client_table()
        found = read(table)
        assert found["head"] == (b"LDPCLNT\x07", 1, len(table), schemas.digest(survey.schema()))
        assert found["checksum"] == person_keys.cmac(bytes(32), table[:-16])
        assert found["answers"] == survey.answers
        assert found["series"] == survey._recipe.series.coins
        assert list(found["thresholds"]) == (survey._recipe.thresholds.tolist() if survey.answers == 1 else [])
        declared = list(survey._recipe.declared)
        for (encoding, k, numbers), (name, (question, _)) in zip(found["parts"], answered(survey).items(), strict=True):
            if isinstance(question, Several):
                column = survey._recipe.declared[name]
                assert (encoding, k) == (6 if isinstance(survey.questions[name], Together) else 5, column.k)
                assert numbers == (len(column_of(question).labels), question.most or len(column_of(question).labels))
                continue
            assert k == (question.max_bytes if isinstance(question, Text) else question.k)
            encodings = {"symbol": 0, "low-high": 1, "bin": 2, "string": 4}
            assert encoding == (3 if column_of(question).steps else encodings[column_of(question).encoding])
            if isinstance(question, Text):
                assert "".join(map(chr, numbers)) == (question.alphabet or "")
            elif isinstance(question, Histogram):
                assert numbers == question.edges[1:-1]
            elif isinstance(question, Number):
                assert numbers == tuple(column_of(question).limits())
            elif column_of(question).steps:
                assert numbers == (question.lower, question.upper, column_of(question).steps)
            else:
                assert numbers == ((question.lower, question.upper) if isinstance(question, Mean) else ())
        for text, (name, column) in zip(found["texts"], survey._recipe.declared.items(), strict=True):
            expected = {"column": column.column or name}
            if column.encoding == "symbol":
                labels = [*column.cells]
                expected["labels"] = schemas.pack(labels) if labels != [*range(len(labels))] else len(labels)
            if column.encoding == "positions":
                labels = [*column.options]
                expected["labels"] = schemas.pack(labels) if labels != [*range(len(labels))] else len(labels)
                texts = [] if any(";" in str(label) for label in labels) else [str(label) for label in labels]
                if texts != labels:
                    expected["texts"] = texts
            assert json.loads(text) == expected
        for fields, item in zip(found["questions"], survey._recipe.items, strict=True):
            places, second, kind, bits, shift, name, *integers, tickets, description = fields
            mechanism, q = survey.mechanisms[item.name], survey._recipe.items.index(item)
            assert list(places) == [declared.index(part) for part in item.parts]
            assert name == item.name
            assert tickets == (survey.weights or {}).get(name, 1)
            if isinstance(mechanism, TwoResponses):
                coin = mechanism.second._coin
                direct = coin.keep - coin.words_per_symbol
                numbers = coin.bits, coin.shift, direct, coin.words_per_symbol, coin.reciprocal
                assert second == (*numbers, survey._recipe.descriptions[q])
                plain = Survey(survey.questions, survey.epsilon, answers=survey.answers)._recipe
                assert description == survey._recipe.coins[q].description != plain.descriptions[q]
                assert kind == 5
                kind, mechanism = 1, mechanism.first
            else:
                assert (second is None) == (
                    not isinstance(mechanism, SketchResponse | ViewResponse | DistributionResponse)
                )
                assert description == survey._recipe.descriptions[q]
            coin = mechanism._coin
            if isinstance(mechanism, SketchResponse):
                require_sketch(second, mechanism)
                assert kind == {"RandomizedResponse": 6, "HadamardResponse": 7}.get(
                    type(mechanism.response).__name__, 8
                )
                mechanism, kind = mechanism.response, 1 if kind == 6 else kind
            if isinstance(mechanism, ViewResponse):
                coins = [(k, 0, (keep - words) << (64 - bits)) for k, bits, keep, words in coin.coins]
                assert (coin.flip, coin.share, list(second)) == (0, 256, coins)
                assert (kind, bits, shift, *integers) == (12, 64, coin.plain, len(coins), 0, 0)
            elif isinstance(mechanism, DistributionResponse):
                assert (kind, bits, shift, *integers) == (13, 64, 0, len(mechanism.levels), 0, 0)
                require_levels(second, mechanism)
            elif isinstance(mechanism, WholeSets):
                assert (kind, bits, shift) == (11, coin.bits, coin.shift)
                assert integers == [coin.keep - coin.words_per_symbol, coin.words_per_symbol, coin.reciprocal]
            elif isinstance(mechanism, SetCube):
                assert (kind, bits, shift, *integers) == (10, 64, mechanism.threshold, coin.heads, mechanism.sampled, 0)
            elif isinstance(mechanism, SetSelection):
                others = mechanism.domain.positions - mechanism.most
                density = subset_selection.first_density(others, mechanism.size)
                assert (kind, bits, shift) == (9, 64, mechanism.threshold)
                assert integers == [coin.heads, mechanism.size, density]
            elif isinstance(mechanism, RandomizedResponse):
                assert (kind, bits) == (1, coin.bits)
                assert integers[0] + mechanism.k * integers[1] == 1 << bits
                assert integers[1:] == [coin.words_per_symbol, coin.reciprocal]
                assert shift == coin.shift
            elif kind in (7, 8):
                assert (bits, shift, *integers) == (coin.bits, 0, coin.heads, 0, 0)
            elif isinstance(mechanism, SubsetSelection):
                density = subset_selection.first_density(mechanism.k - 1, mechanism.size)
                assert (kind, bits, shift, *integers) == (4, 64, 0, coin.heads, mechanism.size, density)
            else:
                assert (kind, bits, shift, *integers) == (3, 64, 0, coin.other, 0, 0)


def test_the_schema_is_the_text_that_the_digest_belongs_to():
    for survey, _ in vectors():
        text = survey.client_schema()
        assert hashlib.sha256(text.encode()).digest() == survey.client_table()[16:48]
        assert Survey.from_dict(schemas.read_json(text.encode())["asks"]) == survey


def test_equal_surveys_have_equal_tables():
    questions = {"a": YesNo(optional=True), "b": Mean(0, 1, optional=True)}
    survey = Survey(questions, 2.0)
    assert Survey.from_dict(survey.to_dict()).client_table() == survey.client_table()
    assert Survey(questions, 2.0).client_table() == survey.client_table()
    assert Survey(questions, 2.5).client_table() != survey.client_table()


@pytest.mark.claim("A table for clients is made only if all questions are optional.", "Clients")
def test_every_question_must_be_optional():
    survey = Survey({"a": YesNo(), "b": Mean(0, 1, optional=True), "c": Choice(3)}, 1.0)
    with pytest.raises(ValueError, match=r"^every question must be optional for a client.*; not optional: 'a', 'c'$"):
        survey.client_table()


@each("epsilon", [0.01, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0])
def test_optional_questions_have_no_other_mechanisms(epsilon):
    """Numbers with noise are for means that are always answered, which a client cannot promise."""
    questions = {
        "yes": YesNo(optional=True), "mean": Mean(0, 1, optional=True), "bins": Histogram(np.arange(30.0), optional=True),
        "few": Choice(2, optional=True), "many": Choice(1000, optional=True), "cross": Cross("mean", "bins"),
        "means": Cross("mean", "yes"),
    }  # fmt: skip
    survey = Survey(questions, epsilon)
    assert {type(mechanism) for mechanism in survey.mechanisms.values()} <= {RandomizedResponse, SubsetSelection}
    assert survey.client_table()


def test_the_table_of_a_wave_has_the_turns():
    questions = {"a": YesNo(optional=True), "b": Mean(0, 1, optional=True)}
    for survey in (Survey(questions, 2.0, waves=5, turns=2), Survey(questions, 2.0, waves=5, open_ended=True)):
        for wave in (1, 5, 8) if survey.open_ended else (1, 5):
            found = read(survey.in_wave(wave).client_table())
            assert found["waves"] == 5
            assert found["turns"] == (survey._recipe.series.digest, survey.turns, survey.open_ended, wave)
            assert found["series"] == survey.in_wave(wave)._recipe.series.coins
    assert read(Survey(questions, 2.0).client_table())["waves"] == 0


def test_the_table_of_a_round_has_its_number():
    repeated = Repeated(Survey({"a": YesNo(optional=True)}, 2.0, series="weeks"), round=1.0, rounds=70_000)
    for number in (0, 5, 2**32 - 2):
        asked = repeated.in_round(number)
        found = read(asked.client_table())
        assert found["waves"] == 0xFFFF
        assert found["turns"] == (asked._recipe.series.promise, 70_000, number)
        assert found["series"] == repeated.survey._recipe.series.coins


@pytest.mark.claim(
    "A survey that is made from a schema has its own coins, whatever the schema says about coins.", "Clients"
)
def test_a_client_in_python_makes_its_own_coins():
    """A server could send the epsilon of one survey with the coins of another. Only the epsilon is read."""
    questions = {"a": YesNo(optional=True), "b": Mean(0, 1, optional=True)}
    panel = Survey(questions, 2.0, series="weeks", waves=4, turns=2)
    for honest, large in (
        (Survey(questions, 2.0, answers=2), Survey(questions, 30.0, answers=2)),
        (panel.in_wave(1), Survey(questions, 30.0, series="weeks", waves=4, turns=2).in_wave(1)),
    ):
        forged = schemas.read_json(large.client_schema().encode())
        assert forged["mechanisms"] != honest.schema()["mechanisms"]
        forged["asks"]["epsilon"] = 2.0
        made = Survey.from_dict(forged["asks"])
        assert made == honest
        assert made.epsilon == 2.0
        assert made.guarantee.epsilon * made.turns <= 2.0
