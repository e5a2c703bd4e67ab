"""The table of a survey for clients in other languages: what they need to make messages. docs/clients.md has every byte."""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Sequence
from typing import Any

from .. import _schema
from .._core.person import cmac
from ..mechanisms import (
    DistributionResponse,
    HadamardResponse,
    Mechanism,
    ProjectiveGeometryResponse,
    RandomizedResponse,
    SetSelection,
    SketchResponse,
    SubsetSelection,
    UnaryEncoding,
    ViewResponse,
)
from ..mechanisms._set_cube import SetCube
from ..mechanisms._set_selection import SetSelectionLaw
from ..mechanisms._subset_selection import first_density
from ..mechanisms._tree_level import CodedLevel, HadamardLevel
from ..mechanisms._tree_sets import ProjectiveLevel, SubsetLevel
from ..mechanisms._view_response import ViewLaw, direct_words
from ..mechanisms._whole_sets import WholeSets
from ..reports import MESSAGE_VERSION, recipe_of
from ._columns import QuestionColumn
from ._layout import SurveyLayout
from ._several import SetColumn
from ._two_responses import TwoResponses

MAGIC = b"LDPCLNT\x07"  # whose last byte is the version of the table
RANDOMIZED_RESPONSE = 1
SYMMETRIC_UNARY = 2
OPTIMIZED_UNARY = 3
SUBSET_SELECTION = 4
TWO_RESPONSES = 5
# Reports of the buckets of texts, by randomized response, Hadamard response and projective geometry response.
SKETCH_RANDOMIZED = 6
SKETCH_HADAMARD = 7
SKETCH_PROJECTIVE = 8
SET_SELECTION = 9
SET_CUBE = 10
WHOLE_SETS = 11
VIEWS = 12
LEVELS = 13
# How the codes of a level are numbered: windows, which are k-ary response if they have one code; ranks of sets; bits with an
# even or odd number of ones; points of a space over the integers modulo a prime, or over a field with tables.
WINDOW_LEVEL, SUBSET_LEVEL, PARITY_LEVEL, PRIME_LEVEL, FIELD_LEVEL = range(5)
IN_ROUNDS = 0xFFFF  # in the place of the number of waves
CHECKSUM_BYTES = 16
_HEADER = struct.Struct("<8sB3xI32sHHHH32s")
_PANEL, _ROUND = struct.Struct("<32sHHI"), struct.Struct("<32sII")
_SECOND = struct.Struct("<BxH4x3Q32s")
_VIEW_COIN = struct.Struct("<I4xQ")
_LEVEL = struct.Struct("<2IQ4I")
_SKETCH, _HASHES = struct.Struct("<7I4x"), struct.Struct("<2QQ")
_PART, _QUESTION = struct.Struct("<II16sII"), struct.Struct("<H2xBBHII3QII32s")


def required_questions(questions: dict[str, QuestionColumn]) -> list[str]:
    """Return the names of the questions that must have an answer."""
    return [name for name, question in questions.items() if not question.optional]


def check_optional(questions: dict[str, QuestionColumn]) -> None:
    """Raise unless every question may be without an answer.

    Raises
    ------
    ValueError
        With the names of the others.
    """
    required = required_questions(questions)
    if required:
        raise ValueError(
            "every question must be optional for a client, which cannot refuse a missing value; "
            f"not optional: {', '.join(map(repr, required))}"
        )


def fingerprint_of(table: bytes) -> str:
    """Return the fingerprint of a table, by which the clients of all languages recognize it."""
    return hashlib.sha256(table).hexdigest()


def checked_fingerprints(given: str | Sequence[str]) -> frozenset[str]:
    """Return the fingerprints that are allowed."""
    found = [given] if isinstance(given, str) else list(given)
    if not found or not all(isinstance(one, str) and re.fullmatch("[0-9a-fA-F]{64}", one) for one in found):
        raise ValueError(
            f"fingerprint must have 64 hexadecimal digits, the SHA-256 of a table, or be a list of such texts, got {given!r}"
        )
    return frozenset(map(str.lower, found))


def client_table(layout: SurveyLayout) -> bytes:
    """Return the table of a survey whose questions are all optional."""
    declared = list(layout.declared.values())
    thresholds = layout.thresholds.astype("<u4").tobytes() if layout.answers == 1 else b""
    start = _HEADER.size + len(declared) * _PART.size + len(layout.items) * _QUESTION.size + len(thresholds)
    # Fixed-size entries of columns and questions come first; they hold offsets into `rest`, which has everything of variable
    # size.
    parts = []
    questions = []
    rest = bytearray()
    for label, column in layout.declared.items():
        encoding, numbers, more = column.client_part(start + len(rest))
        rest += more
        text = _text_of(label, column)
        parts.append(_PART.pack(encoding, column.client_size, numbers, start + len(rest), len(text)))
        rest += text
    asked = zip(layout.items, layout.places, layout.weights, layout.descriptions, strict=True)
    for q, (item, places, weight, description) in enumerate(asked):
        name = item.name.encode()
        kind, bits, shift, *integers = _coin_of(layout.mechanisms[q])
        numbers, at = struct.pack(f"<{len(places)}H", *places), start + len(rest)
        mechanism = layout.mechanisms[q]
        if isinstance(mechanism, TwoResponses):
            numbers += _SECOND.pack(*_coin_of(mechanism.second)[1:], description)
        if isinstance(mechanism, SketchResponse):
            numbers += _sketch_bytes(mechanism)
        if isinstance(mechanism, ViewResponse):
            numbers += b"".join(_VIEW_COIN.pack(coin.k, direct_words(coin)) for coin in _law_of_views(mechanism).coins)
        if isinstance(mechanism, DistributionResponse):
            numbers += b"".join(map(_level_bytes, mechanism.levels))
        sizes = (len(places), kind, bits, shift, at + len(numbers), len(name))
        questions.append(_QUESTION.pack(*sizes, *integers, weight, at, layout.coins[q].description))
        rest += numbers + name
    series, turns = layout.series, b""
    panel, rounds = series.panel, series.rounds
    if panel is not None and series.wave is not None:
        turns = _PANEL.pack(series.promise, panel.turns, panel.open_ended, series.wave)
    elif rounds is not None:
        turns = _ROUND.pack(series.promise, rounds.rounds, rounds.number)
    size = start + len(rest) + len(turns) + CHECKSUM_BYTES
    digest = _schema.digest(layout.label.schema)
    waves = 0 if panel is None else panel.waves
    waves = waves if rounds is None else IN_ROUNDS
    numbers_of = (len(declared), len(layout.items), layout.answers, waves)
    header = _HEADER.pack(MAGIC, MESSAGE_VERSION, size, digest, *numbers_of, layout.series.coins)
    body = b"".join([header, *parts, *questions, thresholds, rest, turns])
    return body + cmac(bytes(32), body)


def _text_of(name: str, column: QuestionColumn) -> bytes:
    """Return the column and the labels of a question, by which clients with names find an answer, as canonical JSON."""
    found: dict[str, Any] = {"column": column.column or name}
    if column.encoding == "symbol":
        count = len(column.cells)
        found["labels"] = count if column.cells == tuple(range(count)) else _schema.pack(column.cells)
    if isinstance(column, SetColumn):
        options, count = column.options, len(column.options)
        found["labels"] = count if options == tuple(range(count)) else _schema.pack(options)
        spelled = column.spelled or {}
        if list(spelled) != list(options):
            found["texts"] = list(spelled)
    return _schema.canonical_json(found)


def _law_of_views(mechanism: ViewResponse) -> ViewLaw:
    """Return the law of a mechanism, which has plain views only because the questions of clients have three answers or more."""
    law = recipe_of(mechanism).law
    assert isinstance(law, ViewLaw)
    assert law.of_flip is None
    return law


def _level_bytes(level: CodedLevel) -> bytes:
    """Return the integers of a level. Of a projective space, the tables of its field follow, and the points of the nodes."""
    kind, numbers = WINDOW_LEVEL, (0, 0)
    more = b""
    if isinstance(level, SubsetLevel):
        kind, numbers = SUBSET_LEVEL, (level.size, 0)
    elif isinstance(level, HadamardLevel):
        kind = PARITY_LEVEL
    elif isinstance(level, ProjectiveLevel):
        tables = level.space.table_bytes()
        kind, numbers = FIELD_LEVEL if tables else PRIME_LEVEL, (level.space.order, level.space.length)
        more = tables + level.points.astype("<u4").tobytes()
    coin = level.compiled
    return _LEVEL.pack(kind, coin.span, coin.heads, coin.size, coin.others, *numbers) + more


def _sketch_bytes(mechanism: SketchResponse) -> bytes:
    """Return the hash functions of a mechanism, and the projective space of the reports about buckets, if there is one."""
    order = 0
    length = 0
    tables = b""
    if isinstance(mechanism.response, ProjectiveGeometryResponse):
        space = mechanism.response._space
        order = space.order
        length = space.length
        tables = space.table_bytes()
    codes = mechanism.response.report.k
    sizes = (mechanism.functions, mechanism.buckets, len(mechanism._hashes), codes, order, length, len(tables) > 0)
    hashes = [
        _HASHES.pack(*part.key, part.bytes) + part.coefficients.astype("<u8").tobytes() for part in mechanism._hashes
    ]
    return _SKETCH.pack(*sizes) + tables + b"".join(hashes)


def _coin_of(mechanism: Mechanism) -> tuple[int, ...]:
    """Return number, bits, shift and three integers of a mechanism: of two responses those of the first, of a sketch its own.

    Optional questions have no other mechanisms.
    """
    if isinstance(mechanism, TwoResponses):
        return TWO_RESPONSES, *_coin_of(mechanism.first)[1:]
    coin: Any = recipe_of(mechanism).coin
    if isinstance(mechanism, SketchResponse):
        response = mechanism.response
        if isinstance(response, RandomizedResponse):
            return SKETCH_RANDOMIZED, *_coin_of(response)[1:]
        kind = SKETCH_HADAMARD if isinstance(response, HadamardResponse) else SKETCH_PROJECTIVE
        return kind, coin.bits, 0, coin.heads, 0, 0
    if isinstance(mechanism, RandomizedResponse | WholeSets):
        kind = WHOLE_SETS if isinstance(mechanism, WholeSets) else RANDOMIZED_RESPONSE
        direct = coin.keep - coin.words_per_symbol
        return kind, coin.bits, coin.shift, direct, coin.words_per_symbol, coin.reciprocal
    if isinstance(mechanism, UnaryEncoding):
        kind = OPTIMIZED_UNARY if mechanism.method == "optimized" else SYMMETRIC_UNARY
        return kind, 64, 0, coin.other, 0, 0
    if isinstance(mechanism, SubsetSelection):
        return SUBSET_SELECTION, 64, 0, coin.heads, coin.size, first_density(mechanism.k - 1, coin.size)
    if isinstance(mechanism, SetSelection):
        law = recipe_of(mechanism).law
        assert isinstance(law, SetSelectionLaw)
        design = law.design
        density = first_density(design.positions - design.own, design.size)
        return SET_SELECTION, 64, design.threshold, coin.heads, design.size, density
    if isinstance(mechanism, SetCube):
        return SET_CUBE, 64, mechanism.threshold, coin.heads, mechanism.sampled, 0
    if isinstance(mechanism, ViewResponse):  # whose coins are behind the numbers of the questions
        return VIEWS, 64, mechanism.design.plain, len(_law_of_views(mechanism).coins), 0, 0
    if isinstance(mechanism, DistributionResponse):  # whose levels are there, too
        return LEVELS, 64, 0, len(mechanism.levels), 0, 0
    raise TypeError(
        "a client must answer by randomized response, subset selection, unary encoding, view response, distribution response "
        f"or a mechanism for sets, got {type(mechanism).__name__}"
    )
