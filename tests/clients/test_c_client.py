"""The client in C: the messages of the Python client, within bounds on damaged tables, small, and without secret branches."""

from __future__ import annotations

import bisect
import ctypes
import functools
import hashlib
import math
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

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
    UnaryEncoding,
    ViewResponse,
    WholeSets,
)
from ldpfast.reports import recipe_of
from ldpfast.survey import (
    Choice,
    Cross,
    Histogram,
    Mean,
    Number,
    Pairs,
    Repeated,
    Several,
    Survey,
    Text,
    Together,
    YesNo,
    _cross,
)

from ..support import person_keys, reference
from ..support.calendars import cases as wave_cases
from ..support.cases import each
from ..support.client_tables import closed
from ..support.client_vectors import CELLS, FIRST, TICKS, Case, message_of, split_messages, vectors, write
from ..support.clients import SANITIZERS, WARNINGS, Client, Person, Value, amalgamate, load_library, open_table
from ..support.internals.mechanisms import tree_sets
from ..support.internals.survey import TwoResponses
from ..support.process import NATIVE, compile_c

MAX_BYTES = 50 * 1024
# Surveys of the vectors that ask for sets of options, for pairs of questions, and for distributions of numbers, the last ones.
SETS, VIEWS, NUMBERS = 36, 19, 18
DAMAGED, VERSION, NO_ROOM, PERSON, TURN = 1, 2, 3, 4, 6
KEY, CROSS_ONLY = bytes(range(100, 132)), {"a": 0, "b": 0}
linux = pytest.mark.skipif(sys.platform != "linux", reason="reads object files of Linux")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The client in one file, and its header."""
    return amalgamate(tmp_path_factory.mktemp("client"))


@pytest.fixture(scope="module")
def driver(folder):
    return compile_c(folder / "driver", NATIVE / "client.c", flags=("-O2", *WARNINGS, f"-I{folder}"))


@pytest.fixture(scope="module")
def sanitized(folder):
    return compile_c(folder / "sanitized", NATIVE / "client.c", flags=(*WARNINGS, *SANITIZERS, f"-I{folder}"))


@pytest.fixture(scope="module")
def library(folder):
    return load_library(folder)


def answers(driver: Path, path: Path) -> list[bytes]:
    """Return the messages of the client in C."""
    return split_messages(subprocess.run([driver, "answer", path], capture_output=True, check=True, timeout=300).stdout)


# Messages -------------------------------------------------------------------------------------------------------------


@pytest.mark.claim("The client in C gives the same messages as Python, byte for byte.", "Clients")
def test_messages_equal_those_of_python(driver, tmp_path):
    expected = [case.message for _, cases in vectors() for case in cases]
    assert answers(driver, write(tmp_path / "vectors", vectors())) == expected
    assert len(expected) == 2780


@pytest.mark.claim("The client in C computes the same wave from a calendar as Python.", "Clients")
def test_the_wave_of_a_calendar_is_that_of_python(library):
    library.ldpfast_wave_at.restype = ctypes.c_uint32

    def wave_at(start, every, waves, now):
        first, length, moment = (ctypes.c_int64(value) for value in (start, every, now))
        return library.ldpfast_wave_at(first, length, ctypes.c_uint32(waves), moment)

    for calendar, now, wave in wave_cases():
        numbers = calendar.to_dict()
        assert wave_at(numbers["start"], numbers["every"], calendar.last, now) == (wave or 0)
    least, most = -(1 << 63), (1 << 63) - 1
    assert wave_at(least, most, 3, most) == 3  # of 2^64 - 1 seconds, in waves of 2^63 - 1
    assert wave_at(least, 1, (1 << 32) - 1, most) == 0
    assert wave_at(0, 0, 5, 10) == wave_at(0, -5, 5, 10) == wave_at(0, 5, 0, 10) == 0


@pytest.mark.claim("The messages of a survey that is under way never change.", "Clients")
def test_the_messages_never_change():
    """A change would be a new version of messages or of schemas: old clients are in the field."""
    later = SETS + VIEWS + NUMBERS
    digests = [
        hashlib.sha256(b"".join(case.message for _, cases in part for case in cases)).hexdigest()
        for part in (
            vectors()[:FIRST],
            vectors()[FIRST : FIRST + 2],
            vectors()[FIRST + 2 : FIRST + 4],
            vectors()[FIRST + 4 : -4 - later],
            vectors()[-4 - later : -later],
            vectors()[-later : -VIEWS - NUMBERS],
            vectors()[-VIEWS - NUMBERS : -NUMBERS],
            vectors()[-NUMBERS:],
        )
    ]
    assert digests == [
        "dc55feab36d9a4f8732666f17ceeb3c0a7e4375f10d72dc07fc6ed3de07f6fc7",
        "cc7b90c3868487ef6e5fa46160f9a6c395d0285e510dc8275017e16c2a9925dd",
        "dbca521131599f49d2a5ff48ba5c993bf5f0f21325a1322c5ae9e08a20cd21a2",
        "5d1a8384a38f43e0bee1807fc21e1153d137d9083f320724daa05fb3baa2dacc",
        "582afd4ac76fa64cf6fa5dca70fc091e6ab5885383f098a5bae8577759fb069e",
        "27ae4495077d888e79486eaafa186b64ee233ce25fd6947a72965c115dfe1442",
        "24b7fb7b5d0cbceb05236555cfca1dbbcea3bcd17bbb3758ed6a836d396b80ae",
        "4ec845c3afaaca2830845c9d33a51dcf3ab398575792f176a714ce0884f332ae",
    ]


def test_the_vectors_have_all_mechanisms_encodings_and_kinds_of_persons():
    surveys = [survey for survey, _ in vectors()]
    mechanisms = [mechanism for survey in surveys for mechanism in survey.mechanisms.values()]
    rounds = [mechanism for mechanism in mechanisms if isinstance(mechanism, TwoResponses)]
    assert {(recipe_of(m.first).coin.bits, recipe_of(m.second).coin.bits) for m in rounds} >= {(32, 32), (64, 64)}
    assert {m.report.nbytes for m in rounds} == {1, 2, 4}
    buckets = [mechanism.response for mechanism in mechanisms if isinstance(mechanism, SketchResponse)]
    kinds = {type(response).__name__ for response in buckets}
    assert kinds == {"RandomizedResponse", "HadamardResponse", "BucketResponse"}
    orders = {response.order for response in buckets if isinstance(response, ProjectiveGeometryResponse)}
    assert {order in (4, 8, 9) for order in orders} == {True, False}  # with tables, and modulo a prime
    assert {recipe_of(response).coin.bits for response in buckets} >= {32, 64}
    assert {m.report.nbytes for m in mechanisms if isinstance(m, SketchResponse)} == {1, 2, 4}
    require_sets([m for m in mechanisms if isinstance(m, SET_MECHANISMS)])
    require_views([m for m in mechanisms if isinstance(m, ViewResponse)])
    require_levels([m for m in mechanisms if isinstance(m, DistributionResponse)])
    others = TwoResponses | SketchResponse | SET_MECHANISMS | ViewResponse | DistributionResponse
    mechanisms = [m for m in mechanisms if not isinstance(m, others)]
    coins = {(type(mechanism).__name__, getattr(recipe_of(mechanism).coin, "bits", 64)) for mechanism in mechanisms}
    assert coins == {
        ("RandomizedResponse", 32), ("RandomizedResponse", 64), ("SubsetSelection", 64), ("UnaryEncoding", 64)
    }  # fmt: skip
    assert {m.report.nbytes for m in mechanisms if isinstance(m, RandomizedResponse)} == {1, 2, 4}
    declared = [question for survey in surveys for question in recipe_of(survey).declared.values()]
    assert {question.encoding for question in declared} == {"symbol", "low-high", "bin", "string", "positions"}
    assert {question.steps > 0 for question in declared} == {True, False}
    items = [item for survey in surveys[: -VIEWS - NUMBERS] for item in recipe_of(survey).items]
    assert {len(item.parts) for item in items} == {1, 2, 3, 8}
    assert {survey.answers > 1 for survey in surveys} == {True, False}
    assert any(1 < survey.answers < len(survey.mechanisms) for survey in surveys)
    assert {type(case.person) for _, cases in vectors() for case in cases} == {type(None), int, str, bytes}
    assert any(survey.weights for survey in surveys)


SET_MECHANISMS = SetSelection | SetCube | WholeSets


def require_sets(mechanisms):
    """Check that sets are asked by all mechanisms, with reports of all forms, and thresholds of one and more."""
    selections = [m for m in mechanisms if isinstance(m, SetSelection)]
    numbers = {(m.size == 1, recipe_of(m).law.design.outputs <= 1 << 63, m.threshold > 1) for m in selections}
    assert numbers >= {
        (True, True, False),
        (False, True, False),
        (False, True, True),
        (False, False, False),
    }
    assert {m.report.nbytes for m in selections if m.size == 1} == {1, 2}
    assert {m.most == 1 for m in selections} == {True, False}
    cubes = [m for m in mechanisms if isinstance(m, SetCube)]
    dims = {(m.sampled == m.k + 1, m.sampled > 62) for m in cubes}
    assert dims == {(True, True), (False, False)}
    assert {m.report.nbytes for m in mechanisms if isinstance(m, WholeSets)} == {1, 2}


def require_views(mechanisms):
    """Check that views have one coin and several, and reports with symbols and masks of all sizes."""
    assert {(m.design.plain == 2, len(coin_of(m).coins) > 1) for m in mechanisms} == {
        (True, True), (True, False), (False, False)
    }  # fmt: skip
    masks = {(len(m.sizes) + 7) // 8 for m in mechanisms}
    assert masks >= {1, 2, 3, 8}
    assert {m.report.nbytes - 1 - (len(m.sizes) + 7) // 8 for m in mechanisms} == {1, 2}
    assert {m.design.plain for m in mechanisms} >= {2, 3, 4, 10}
    assert max(len(m.sizes) for m in mechanisms) == 64


KINDS = {"WindowLevel", "ResponseLevel", "HadamardLevel", "SubsetLevel", "ProjectiveLevel"}


def require_levels(mechanisms):
    """Check that distributions of numbers have reports of all sizes, and levels of all kinds with reports about each."""
    assert {m.report.nbytes for m in mechanisms} == {1, 2, 4}
    assert {len(m.levels) for m in mechanisms} == {2, 3, 4, 5, 6}
    levels = [level for m in mechanisms for level in m.levels]
    assert {type(level).__name__ for level in levels} == KINDS
    assert {level.size for level in levels if isinstance(level, tree_sets.SubsetLevel)} >= {2, 3, 8}
    spaces = [level.space for level in levels if isinstance(level, tree_sets.ProjectiveLevel)]
    fields = {space.order: bool(space.table_bytes()) for space in spaces}
    assert {True, False} == {*fields.values()}
    assert {order in (4, 8, 9, 16, 32) for order, has_tables in fields.items() if has_tables} == {True, False}
    drawn = set()
    for survey, cases in vectors()[-len(CELLS) :]:
        (mechanism,) = survey.mechanisms.values()
        for case in cases:
            code = int.from_bytes(case.message[11:], "little")
            number = bisect.bisect_right(mechanism.first_codes, code) - 1
            level = mechanism.levels[number]
            tables = isinstance(level, tree_sets.ProjectiveLevel) and bool(level.space.table_bytes())
            drawn.add((type(level), tables))
    assert len(drawn) == 6


def coin_of(mechanism):
    return recipe_of(mechanism).coin


def flagged(n, *ticks):
    """Return bytes of ticks in C."""
    return bytes(i in ticks for i in range(n))


@pytest.mark.claim("Ticks that are not valid are no answer in C, and never an error.", "Clients")
def test_ticks_that_are_not_valid_are_no_answer(library):
    survey = Survey({"a": Several(5, most=2, optional=True), "p": Together("a")}, 50.0, answers="all")
    client, table = Client(), survey.client_table()
    assert open_table(library, client, table) == 0
    room, length = ctypes.create_string_buffer(64), ctypes.c_size_t(0)

    def message(*values):
        found = ctypes.byref(client), (Value * 2)(*values), KEY, room, ctypes.c_size_t(64), ctypes.byref(length)
        assert library.ldpfast_answer(*found) == 0
        return room.raw[: length.value]

    none = Value(math.nan, 0xFFFFFFFF)
    missing = message(none, none)
    assert missing == message_of(survey, {}, KEY)
    for ticks in (flagged(5, 1, 2, 3), flagged(4, 1), flagged(6, 1), b"\2" * 5, b"\1\0\0\0\xff", b""):
        value = Value(math.nan, TICKS, ticks, len(ticks))
        assert message(value, value) == missing
    for value in (Value(0.0, 0), Value(math.nan, TICKS, None, 5), Value(math.nan, 0xFFFFFFFF, flagged(5), 5)):
        assert message(value, value) == missing
    for ticks in ((), (3,), (4, 1)):
        value = Value(math.nan, TICKS, flagged(5, *ticks), 5)
        assert message(value, value) == message_of(survey, {"a": list(ticks)}, KEY) != missing
        assert message(value, none)[:11] == message(none, none)[:11]


def test_ticks_are_no_text(library):
    survey = Survey({"a": Text(8, "\1\2a", n=1000, optional=True)}, 30.0)
    client, table = Client(), survey.client_table()
    assert open_table(library, client, table) == 0
    room, length = ctypes.create_string_buffer(64), ctypes.c_size_t(0)
    values = (Value * 1)(Value(math.nan, TICKS, b"\1\1\1", 3))
    assert (
        library.ldpfast_answer(ctypes.byref(client), values, KEY, room, ctypes.c_size_t(64), ctypes.byref(length)) == 0
    )
    assert room.raw[: length.value] == message_of(survey, {}, KEY)


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_symmetric_unary_encoding(driver, tmp_path, monkeypatch, epsilon):
    """No survey of today chooses it, because other mechanisms have a smaller variance."""
    monkeypatch.setattr(_cross, "for_symbols", lambda k, epsilon: UnaryEncoding(k, epsilon, method="symmetric"))
    questions = {"a": Choice(500, optional=True), "b": Mean(0, 1, optional=True), "a b": Cross("a", "b")}
    survey = Survey(questions, epsilon)
    cases = []
    for i in range(60):
        record = {"a": i, "b": i / 60}
        key = hashlib.sha256(bytes([i])).digest()
        cases.append(Case(record, key, None, message_of(survey, record, key)))
        cases.append(Case(record, key, i, survey.client(key, i).answer(record)))
    assert answers(driver, write(tmp_path / "cases", [(survey, cases)])) == [case.message for case in cases]


@pytest.mark.parametrize("count", [1, 31, 32, 33, 64, 65, 69, 70])
@pytest.mark.long
def test_any_number_of_answers_is_chosen_by_the_same_tickets(driver, tmp_path, count):
    """The client in C has no memory for all tickets and finds 32 questions at a time."""
    survey = Survey({f"q{i}": YesNo(optional=True) for i in range(70)}, 40.0, answers=count)
    cases = []
    for i, person in enumerate([*range(12), "p\u00e9", b"", "x" * 99]):
        record, secret = {f"q{j}": (i + j) % 3 == 0 for j in range(70)}, hashlib.sha256(bytes([i])).digest()
        cases.append(Case(record, secret, person, survey.client(secret, person).answer(record)))
    assert answers(driver, write(tmp_path / "cases", [(survey, cases)])) == [case.message for case in cases]


@pytest.mark.long
def test_hundreds_of_tickets_give_the_same_question(driver, tmp_path):
    weights = {"a": 300, "\u00fc\U0001f600": 700, "c": 1, "d": 23}
    survey = Survey({name: YesNo(optional=True) for name in weights}, 1.0, weights=weights, series="\u00e9tude")
    record, secret = dict.fromkeys(weights, True), bytes(range(32))
    cases = [Case(record, secret, i, survey.client(secret, i).answer(record)) for i in range(200)]
    assert answers(driver, write(tmp_path / "cases", [(survey, cases)])) == [case.message for case in cases]
    assert len({case.message[9:11] for case in cases}) > 2


def test_a_server_counts_messages_of_both_clients(driver, tmp_path):
    for survey, cases in vectors():
        made = answers(driver, write(tmp_path / "cases", [(survey, cases)]))
        mixed = [case.message if i % 2 else made[i] for i, case in enumerate(cases)]
        theirs = survey.aggregator().update(mixed)
        assert theirs.n == len(cases)
        assert theirs.to_bytes() == survey.aggregator().update([case.message for case in cases]).to_bytes()


# Damage ---------------------------------------------------------------------------------------------------------------

SMALL = [
    Survey({"a": YesNo(optional=True), "b": Mean(0, 1, optional=True), "c": Cross("a", "b")}, 2.0),
    Survey({"a": Histogram(list(range(12)), optional=True), "b": Choice(3, optional=True)}, 1.0, answers=2),
]
# With randomized response, Hadamard response, and projective spaces by tables and modulo a prime.
TEXTS = [
    Survey({"a": Text(4, "abc", buckets=buckets, functions=2, n=100, optional=True)}, epsilon)
    for buckets, epsilon in ((4, 8.0), (1 << 14, 0.1), (7, 1.0), (300, 4.0))
]


@pytest.mark.long
def test_messages_under_sanitizers(sanitized, tmp_path):
    expected = [case.message for _, cases in vectors() for case in cases]
    assert answers(sanitized, write(tmp_path / "vectors", vectors())) == expected


@pytest.mark.claim("A damaged table is refused, or never makes the C client read or write out of bounds.", "Clients")
@pytest.mark.long
def test_damaged_tables_are_refused_or_give_answers_within_bounds(sanitized, tmp_path):
    """Each byte is changed to all others, and the table is cut off. The checksum finds that, and is then ignored."""
    refused, answered = damage(sanitized, tmp_path, SMALL, {})
    hashes = sum(
        255 * 32 * (1 + len(recipe_of(survey).items)) for survey in SMALL
    )  # of series and descriptions, any bytes
    assert refused > answered - hashes > 0


@pytest.mark.parametrize(
    "survey",
    [pytest.param(survey, marks=pytest.mark.slow if i != 2 else pytest.mark.long) for i, survey in enumerate(TEXTS)],
)
def test_damaged_tables_of_texts(sanitized, tmp_path, survey):
    refused, answered = damage(sanitized, tmp_path, [survey], {"a": "cab" * 3})
    assert min(refused, answered) > 0


# By set selection with a code, with and without numbers of sets, pairs, and a table; by cubes of some and of all
# signs; of whole sets.
TICKED: list[tuple[dict, float]] = [
    ({"a": Several(6, most=2, optional=True), "p": Together("a")}, 2.0),
    ({"a": Several(60, most=15, optional=True)}, 0.6),
    ({"a": Several(8, most=2, optional=True), "b": YesNo(optional=True), "c": Cross("a", "b")}, 0.3),
    ({"a": Several(9, optional=True)}, 4.0),
    ({"a": Several(64, optional=True)}, 20.0),
    ({"a": Several(5, most=2, optional=True)}, 6.0),
]


@pytest.mark.claim(
    "A damaged table of sets is refused, or never makes the C client read or write out of bounds.", "Clients"
)
@pytest.mark.parametrize("number", [pytest.param(i, marks=pytest.mark.long) for i in range(len(TICKED))])
def test_damaged_tables_of_sets(sanitized, tmp_path, number):
    questions, epsilon = TICKED[number]
    refused, answered = damage(sanitized, tmp_path, [Survey(questions, epsilon)], {"a": [1, 2], "b": True})
    assert min(refused, answered) > 0


# Views of two questions with three coins, and of all questions with one.
TABLES: list[tuple[dict, float]] = [
    (
        {
            "a": YesNo(optional=True),
            "b": Choice(4, optional=True),
            "c": YesNo(optional=True),
            "p": Pairs("a", "b", "c"),
        },
        1.0,
    ),
    ({"a": YesNo(optional=True), "b": Histogram([0, 1, 2, 3], optional=True), "p": Pairs("b", "a")}, 14.0),
]


@pytest.mark.claim(
    "A damaged table with pairs of questions is refused, or never makes the C client read or write out of bounds.",
    "Clients",
)
@pytest.mark.parametrize("number", [pytest.param(i, marks=pytest.mark.long) for i in range(len(TABLES))])
def test_damaged_tables_of_views(sanitized, tmp_path, number):
    questions, epsilon = TABLES[number]
    survey = Survey(questions, epsilon, weights=dict.fromkeys([*questions][:-1], 0))
    refused, answered = damage(sanitized, tmp_path, [survey], {"a": True, "b": 1})
    assert min(refused, answered) > 0


VIEWED = Survey(TABLES[0][0], TABLES[0][1], weights=dict.fromkeys("abc", 0))
# Place among the numbers of the question, or behind its list of parts if it is negative.
IMPOSSIBLE_VIEWS = {
    "no parts": (0, "<H", 0),
    "one part": (0, "<H", 1),
    "parts": (0, "<H", 65),
    "bits": (5, "<B", 32),
    "no questions": (6, "<H", 0),
    "one question": (6, "<H", 1),
    "all questions": (6, "<H", 3),
    "more questions": (6, "<H", 4),
    "no coins": (16, "<Q", 0),
    "fewer coins": (16, "<Q", 1),
    "more coins": (16, "<Q", 3),
    "most coins": (16, "<Q", 1 << 60),
    "rest": (24, "<Q", 1),
    "more rest": (32, "<Q", 1),
    "randomized": (4, "<B", 1),
    "set selection": (4, "<B", 9),
    "sketch": (4, "<B", 6),
    "unknown part": (-1, "<H", 3),
    "part twice": (-1, "<H", 1),
    "fewer symbols": (-7 - 16, "<I", 14),
    "more symbols": (-7 - 16, "<I", 16),
    "not ascending": (-7, "<I", 15),
    "zeros": (-7 - 4, "<I", 1),
    "no words": (-7 - 8, "<Q", 0),
}


@pytest.mark.claim(
    "A forged table with pairs of questions whose numbers do not fit together is refused in C.", "Clients"
)
@each("what", IMPOSSIBLE_VIEWS)
def test_impossible_views_are_damage(library, what):
    table, (place, form, value) = bytearray(VIEWED.client_table()), IMPOSSIBLE_VIEWS[what]
    assert open_table(library, Client(), bytes(table)) == 0
    at = 88 + 32 * 3
    numbers = struct.unpack_from("<I", table, at + 44)[0]
    struct.pack_into(form, table, numbers - 1 - place if place < 0 else at + place, value)
    table[-16:] = person_keys.cmac(bytes(32), bytes(table[:-16]))
    assert open_table(library, Client(), bytes(table)) == DAMAGED


@pytest.mark.parametrize(
    "question", [Mean(0, 1, optional=True), Several(5, optional=True), Text(8, "ab", n=99, optional=True)]
)
def test_views_of_other_questions_are_damage(library, question):
    """Of numbers, ticks and texts, which have no list of answers."""
    asked = {"a": YesNo(optional=True), "b": YesNo(optional=True), "c": question, "p": Pairs("a", "b")}
    table = bytearray(Survey(asked, 1.0, weights=dict.fromkeys("abc", 0)).client_table())
    assert open_table(library, Client(), bytes(table)) == 0
    numbers = struct.unpack_from("<I", table, 88 + 32 * 3 + 44)[0]
    struct.pack_into("<H", table, numbers, 2)
    table[-16:] = person_keys.cmac(bytes(32), bytes(table[:-16]))
    assert open_table(library, Client(), bytes(table)) == DAMAGED


@pytest.mark.claim("With a personal key, answers that a view does not ask for change nothing in C.", "Clients")
def test_answers_outside_of_the_view_change_nothing(library):
    asked = {f"q{i}": YesNo(optional=True) for i in range(6)}
    survey = Survey({**asked, "p": Pairs(*asked)}, 20.0, weights=dict.fromkeys(asked, 0))
    client, table = Client(), survey.client_table()
    assert open_table(library, client, table) == 0
    room, length = ctypes.create_string_buffer(64), ctypes.c_size_t(0)

    def report(person, answers):
        values = (Value * 6)(*(Value(math.nan, answer) for answer in answers))
        identity = Person(16, person, None, 0)
        made = (
            ctypes.byref(client),
            values,
            KEY,
            ctypes.byref(identity),
            room,
            ctypes.c_size_t(64),
            ctypes.byref(length),
        )
        assert library.ldpfast_answer_person(*made) == 0
        return room.raw[11 : length.value]

    sizes = set()
    for person in range(40):
        first = report(person, [0] * 6)
        view = [i for i in range(6) if first[0] >> i & 1]
        sizes.add(len(view))
        for i in range(6):
            changed = report(person, [int(i == j) for j in range(6)])
            assert changed[:2] == first[:2]
            assert (changed == first) == (i not in view)
    assert sizes == {survey.mechanisms["p"].design.plain}


# Cells and epsilon: windows with a level of sets, with k-ary response, and of a space over a field with tables.
DISTRIBUTIONS = [(6, 0.3), (4, 5.0), (19, 0.1)]


@pytest.mark.claim(
    "A damaged table of a distribution is refused, or never makes the C client read or write out of bounds.", "Clients"
)
@pytest.mark.parametrize("cells, epsilon", [pytest.param(*one, marks=pytest.mark.long) for one in DISTRIBUTIONS])
def test_damaged_tables_of_distributions(sanitized, tmp_path, cells, epsilon):
    survey = Survey({"a": Number(0, 1, cells=cells, optional=True)}, epsilon)
    refused, answered = damage(sanitized, tmp_path, [survey], {"a": 0.4})
    assert min(refused, answered) > 0


# Cells and epsilon: levels of sets, over a field with tables, of Hadamard response, and over the integers modulo a prime.
LEVELLED = {name: Survey({"a": Number(0, 1, cells=cells, optional=True)}, epsilon) for name, cells, epsilon in (
    ("sets", 6, 0.3), ("field", 19, 0.1), ("parities", 255, 0.25), ("prime", 1023, 5.0)
)}  # fmt: skip
# Survey, place among the numbers of the question, or of a level if its number is given, and what is written there.
IMPOSSIBLE_LEVELS = {
    "two parts": ("sets", 0, None, "<H", 2),
    "bits": ("sets", 5, None, "<B", 32),
    "shift": ("sets", 6, None, "<H", 1),
    "no levels": ("sets", 16, None, "<Q", 0),
    "nine levels": ("sets", 16, None, "<Q", 9),
    "most levels": ("sets", 16, None, "<Q", 1 << 60),
    "rest": ("sets", 24, None, "<Q", 1),
    "more rest": ("sets", 32, None, "<Q", 1),
    "as views": ("sets", 4, None, "<B", 12),
    "in a round": ("sets", 4, None, "<B", 5),
    "unknown kind": ("sets", 0, 1, "<I", 5),
    "windows": ("sets", 0, 1, "<I", 0),
    "sets": ("sets", 0, 0, "<I", 1),
    "parities of sets": ("sets", 0, 1, "<I", 2),
    "no span": ("sets", 4, 1, "<I", 0),
    "span": ("sets", 4, 1, "<I", 2),
    "one node": ("sets", 4, 0, "<I", 7),
    "no heads": ("sets", 8, 1, "<Q", 0),
    "no heads of the window": ("sets", 8, 0, "<Q", 0),
    "no codes": ("sets", 16, 0, "<I", 0),
    "many codes": ("sets", 16, 0, "<I", (1 << 24) + 1),
    "codes of sets": ("sets", 16, 1, "<I", 14),
    "other codes": ("sets", 20, 0, "<I", 5),
    "more other codes": ("sets", 20, 0, "<I", 7),
    "other codes of sets": ("sets", 20, 1, "<I", 21),
    "one member": ("sets", 24, 1, "<I", 1),
    "members": ("sets", 24, 1, "<I", 4),
    "most members": ("sets", 24, 1, "<I", 1 << 31),
    "members of a window": ("sets", 24, 0, "<I", 1),
    "zeros": ("sets", 28, 0, "<I", 1),
    "zeros of sets": ("sets", 28, 1, "<I", 1),
    "codes of parities": ("parities", 16, 2, "<I", 65),
    "half of the parities": ("parities", 16, 2, "<Q", 32 * ((1 << 32) + 1)),
    "members of parities": ("parities", 24, 2, "<I", 1),
    "zeros of parities": ("parities", 28, 2, "<I", 1),
    "order 0": ("field", 24, 1, "<I", 0),
    "order": ("field", 24, 1, "<I", 3),
    "tables behind the end": ("field", 24, 1, "<I", 64),
    "large order": ("field", 24, 1, "<I", 65),
    "length": ("field", 28, 1, "<I", 4),
    "length 1": ("field", 28, 1, "<I", 1),
    "largest length": ("field", 28, 1, "<I", 33),
    "codes of a space": ("field", 16, 1, "<I", 14),
    "other codes of a space": ("field", 20, 1, "<I", 17),
    "prime": ("field", 0, 1, "<I", 3),
    "sum": ("field", 32, 1, "<B", 1),
    "inverse": ("field", 43, 1, "<B", 0),
    "point": ("field", 44, 1, "<I", 31),
    "point twice": ("field", 44, 1, "<I", None),
    "field without tables": ("prime", 0, 4, "<I", 4),
    "number that is no prime": ("prime", 24, 4, "<I", 138),
    "point of a prime": ("prime", 32, 4, "<I", 1 << 31),
}


def level_place(table, number):
    """Return where the level of a number begins in the table of a survey with one question."""
    (at,) = struct.unpack_from("<I", table, 88 + 32 + 44)
    at, k = at + 2, struct.unpack_from("<I", table, 88 + 4)[0]
    for _ in range(number):
        kind, span, order = struct.unpack_from("<II16xI", table, at)
        at += 32 + (2 * order * (order + 1) if kind == 4 else 0) + (4 * -(-k // span) if kind >= 3 else 0)
    return at


@pytest.mark.claim("A forged table of a distribution whose numbers do not fit together is refused in C.", "Clients")
@each("what", IMPOSSIBLE_LEVELS)
def test_impossible_levels_are_damage(library, what):
    name, place, number, form, value = IMPOSSIBLE_LEVELS[what]
    table = bytearray(LEVELLED[name].client_table())
    assert open_table(library, Client(), bytes(table)) == 0
    place += 88 + 32 if number is None else level_place(table, number)
    if value is None:
        (value,) = struct.unpack_from(form, table, place + 4)
    assert struct.unpack_from(form, table, place) != (value,)
    struct.pack_into(form, table, place, value)
    assert open_table(library, Client(), closed(table)) == DAMAGED


def test_levels_of_other_questions_are_damage(library):
    """Of numbers that are rounded at random, and of answers without an order."""
    for question in (Mean(0, 1, optional=True), Choice(6, optional=True), Several(5, optional=True)):
        survey = Survey({"a": Number(0, 1, cells=6, optional=True), "b": question}, 0.3)
        table = bytearray(survey.client_table())
        assert open_table(library, Client(), bytes(table)) == 0
        (numbers,) = struct.unpack_from("<I", table, 88 + 2 * 32 + 44)
        struct.pack_into("<H", table, numbers, 1)
        assert open_table(library, Client(), closed(table)) == DAMAGED


@pytest.fixture(scope="module")
def levels(folder):
    """The codes of levels in C, which the client hides."""
    source = folder / "levels.c"
    source.write_text(
        '#include "ldpfast_client.c"\n'
        "void codes_of_node(const uint8_t *at, uint32_t k, uint32_t node, uint32_t tails, uint32_t *codes) {\n"
        "    const level l = read_level(at, k);\n"
        "    for (uint32_t draw = 0; draw < l.codes[tails]; draw++)\n"
        "        codes[draw] = level_code(&l, node, tails, draw);\n"
        "}\n"
    )
    flags = ("-shared", "-fPIC", "-O0", *WARNINGS, f"-I{folder}")
    return ctypes.CDLL(str(compile_c(folder / "levels.so", source, flags=flags)))


@pytest.mark.claim(
    "With a level, the C client draws each code of the set of a node with equally many draws.", "Clients"
)
@pytest.mark.parametrize(
    "cells, epsilon",
    [(2, 1.0), (6, 0.3), (16, 0.5), (16, 2.0), (19, 0.1), (39, 0.5), (8, 5.0), *[
        pytest.param(*one, marks=pytest.mark.long) for one in ((16, 0.1), (63, 0.25), (255, 0.5), (255, 1.0), (255, 4.0))
    ]],
)  # fmt: skip
def test_every_code_of_the_set_of_a_node_has_one_draw(levels, cells, epsilon):
    """All draws of both sides of the coin, which are together all codes. The sets are those of Python."""
    survey = Survey({"a": Number(0, 1, cells=cells, optional=True)}, epsilon)
    table, k = survey.client_table(), cells + 1
    for number, level in enumerate(survey.mechanisms["a"].levels):
        start = table[level_place(table, number) :]
        nodes = np.arange(level.symbols)
        for node, row in zip(nodes, level.matches(nodes), strict=True):
            for tails, expected in enumerate((row, ~row)):
                codes = (ctypes.c_uint32 * int(expected.sum()))()
                levels.codes_of_node(start, k, int(node), tails, codes)
                assert np.array_equal(np.sort(codes), np.flatnonzero(expected))


@pytest.mark.claim("With a person's key, the C client compares the coin of a level with its exact integer.", "Clients")
@each("name", LEVELLED)
def test_the_coin_of_a_level_has_the_probability_of_its_integer(library, name):
    """The coin is the first word of the key: an integer above it gives a code of the set, the integer itself one outside."""
    survey = LEVELLED[name]
    mechanism, honest = survey.mechanisms["a"], survey.client_table()
    client, room, length = Client(), ctypes.create_string_buffer(64), ctypes.c_size_t(0)
    value, person = (Value * 1)(Value(0.37, 0)), Person(16, 5, None, 0)
    record = int(0.37 * (mechanism.k - 1))
    law = recipe_of(survey)
    seen = set()
    for number in range(40):
        secret = bytes([number]) * 32
        key = person_keys.record_key(secret, law.series.coins, "a", law.descriptions[0], 5, record)
        words = reference.Words(key, "DISTRIBUTION", 0)
        coin, slot = words.word(), words.word() % 8
        chosen = max(0, slot - 8 + len(mechanism.levels))
        level = mechanism.levels[chosen]
        matches = level.matches(np.array([record // level.span]))[0]
        for heads, is_inside in ((coin + 1, True), (coin, False)):
            table = bytearray(honest)
            struct.pack_into("<Q", table, level_place(table, chosen) + 8, heads)
            forged = closed(table)
            assert open_table(library, client, forged) == 0
            made = (
                ctypes.byref(client),
                value,
                secret,
                ctypes.byref(person),
                room,
                ctypes.c_size_t(64),
                ctypes.byref(length),
            )
            assert library.ldpfast_answer_person(*made) == 0
            code = int.from_bytes(room.raw[11 : length.value], "little") - mechanism.first_codes[chosen]
            assert matches[code] == is_inside
        seen.add(chosen)
    assert seen == set(range(len(mechanism.levels)))


def test_a_number_in_a_wave(library):
    """Personal keys in waves: the same cell gives the same report, and only the turns of a person are answered."""
    questions = {"a": Number(0, 60, integers=True, optional=True)}
    wave = Survey(questions, 2.0, series="weeks", waves=3, turns=2).in_wave(2)
    client, table, room, length = Client(), wave.client_table(), ctypes.create_string_buffer(64), ctypes.c_size_t(0)
    assert open_table(library, client, table) == 0
    answered = 0
    for i in range(12):
        person, ours = Person(16, i, None, 0), wave.client(KEY, i)
        for number in (12.0, 12.75, math.nan):
            values = (Value * 1)(Value(number, 0))
            made = (
                ctypes.byref(client),
                values,
                KEY,
                ctypes.byref(person),
                room,
                ctypes.c_size_t(64),
                ctypes.byref(length),
            )
            status = library.ldpfast_answer_person(*made)
            assert status == (0 if ours.is_turn() else TURN)
            if status == 0:
                assert room.raw[: length.value] == ours.answer({"a": number if number == number else None})
                answered += 1
    assert 0 < answered < 36


def forged_sets(survey, place, form, value, *, part=False):
    """Return the table with another number in its first declared question, or in the first one that is asked."""
    table = bytearray(survey.client_table())
    at = 88 if part else 88 + 32 * len(recipe_of(survey).declared)
    struct.pack_into(form, table, at + place, value)
    table[-16:] = person_keys.cmac(bytes(32), bytes(table[:-16]))
    return bytes(table)


SELECTED = Survey({"a": Several(20, most=3, optional=True)}, 1.0)
CUBED, WHOLE = Survey({"a": Several(20, optional=True)}, 4.0), Survey({"a": Several(5, most=2, optional=True)}, 4.0)
IMPOSSIBLE_SETS = {
    "positions": (SELECTED, 4, "<I", 25, True),
    "options": (SELECTED, 8, "<I", 21, True),
    "ticks": (SELECTED, 12, "<I", 4, True),
    "no ticks": (SELECTED, 12, "<I", 0, True),
    "more ticks than options": (CUBED, 12, "<I", 21, True),
    "zeros": (SELECTED, 16, "<Q", 1, True),
    "pairs": (SELECTED, 0, "<I", 6, True),
    "symbols": (SELECTED, 0, "<I", 0, True),
    "encoding": (SELECTED, 0, "<I", 7, True),
    "no heads": (SELECTED, 16, "<Q", 0, False),
    "size 0": (SELECTED, 24, "<Q", 0, False),
    "size": (SELECTED, 24, "<Q", 22, False),
    "large size": (SELECTED, 24, "<Q", 2 + (1 << 32), False),
    "threshold 0": (SELECTED, 6, "<H", 0, False),
    "threshold": (SELECTED, 6, "<H", 3, False),
    "density": (SELECTED, 32, "<Q", 64, False),
    "bits": (SELECTED, 5, "<B", 32, False),
    "randomized": (SELECTED, 4, "<B", 1, False),
    "subset selection": (SELECTED, 4, "<B", 4, False),
    "sampled": (CUBED, 24, "<Q", 22, False),
    "none sampled": (CUBED, 24, "<Q", 0, False),
    "half": (CUBED, 6, "<H", 2, False),
    "more than sampled": (CUBED, 6, "<H", 5, False),
    "rest": (CUBED, 32, "<Q", 1, False),
    "whole sets": (CUBED, 4, "<B", 11, False),
    "words": (WHOLE, 24, "<Q", 5, False),
    "as a cube": (WHOLE, 4, "<B", 10, False),
}


@pytest.mark.claim("A forged table of sets whose numbers do not fit together is refused in C.", "Clients")
@each("what", IMPOSSIBLE_SETS)
def test_impossible_sets_are_damage(library, what):
    survey, place, form, value, part = IMPOSSIBLE_SETS[what]
    assert open_table(library, Client(), survey.client_table()) == 0
    assert open_table(library, Client(), forged_sets(survey, place, form, value, part=part)) == DAMAGED


def test_a_side_of_the_coin_that_is_hardly_ever_drawn_is_refused(library):
    """The client would draw sets again and again: at most about 2^14 times are accepted."""
    rare = Survey({"a": Several(900, most=200, optional=True)}, 1.0)
    assert rare.mechanisms["a"].threshold == 1
    assert open_table(library, Client(), forged_sets(rare, 24, "<Q", 80)) == DAMAGED
    signs = Survey({"a": Several(200, optional=True)}, 9.0)
    assert signs.mechanisms["a"].sampled == 201
    assert open_table(library, Client(), forged_sets(signs, 6, "<H", 180)) == DAMAGED


def damage(sanitized, folder, surveys, record):
    """Return how many changes of the tables of surveys were refused, and how many gave answers."""
    cases = [Case(record, KEY, None, b"")]
    path = write(folder / "tables", [(survey, cases) for survey in surveys])
    done = subprocess.run([sanitized, "damage", path], capture_output=True, text=True, timeout=600, check=False)
    assert done.stderr == ""
    refused, answered = map(int, re.findall(r"\d+", done.stdout))
    lengths = [len(survey.client_table()) for survey in surveys]
    assert refused + answered == sum(255 * (length - 16 - 16) + length for length in lengths)
    return refused, answered


# Statuses -------------------------------------------------------------------------------------------------------------


def test_statuses(library):
    table, client, length = SMALL[0].client_table(), Client(), ctypes.c_size_t(7)
    assert open_table(library, client, table) == 0
    assert library.ldpfast_values(ctypes.byref(client)) == 2
    most = library.ldpfast_message_bytes(ctypes.byref(client))
    assert most == 9 + 2 + 1
    values, room = (Value * 2)(), ctypes.create_string_buffer(most)

    def answer(person: Person, capacity: int) -> int:
        size, found = ctypes.c_size_t(capacity), ctypes.byref(length)
        return library.ldpfast_answer_person(ctypes.byref(client), values, KEY, ctypes.byref(person), room, size, found)

    assert answer(Person(16, 1, None, 0), most) == 0
    assert (length.value, room.raw[:9]) == (most, recipe_of(SMALL[0]).head)
    assert (answer(Person(16, 1, None, 0), most - 1), length.value) == (NO_ROOM, 0)
    assert (answer(Person(15, 1, None, 0), most), answer(Person(19, 1, None, 0), most)) == (PERSON, PERSON)
    for place, status in ((0, DAMAGED), (7, VERSION), (8, VERSION), (20, DAMAGED), (len(table) - 1, DAMAGED)):
        changed = bytearray(table)
        changed[place] ^= 2
        assert open_table(library, client, bytes(changed)) == status
        assert (client.values, client.message_bytes) == (0, 0)
        assert (answer(Person(16, 1, None, 0), most), length.value) == (DAMAGED, 0)


@pytest.mark.claim("The client in C refuses an answer out of turn, and answers with fresh coins to a wave.", "Clients")
@pytest.mark.parametrize("waves, turns, open_ended", [(2, 1, False), (12, 3, False), (1000, 400, False), (5, 1, True)])
def test_turns_are_those_of_python(library, waves, turns, open_ended):
    questions = {"a": YesNo(optional=True), "b": Mean(0, 1, optional=True)}
    panel = Survey(questions, 2.0, series="weeks", waves=waves, turns=turns, open_ended=open_ended)
    values, length, found = (Value * 2)((0, 1), (0.5, 0)), ctypes.c_size_t(7), ctypes.c_int(9)
    seen = set()
    for number in (1, waves // 2, waves, *([waves + 2] if open_ended else [])):
        survey, client = panel.in_wave(number), Client()
        table = survey.client_table()
        assert open_table(library, client, table) == 0
        room = ctypes.create_string_buffer(library.ldpfast_message_bytes(ctypes.byref(client)))
        size, written = ctypes.c_size_t(len(room)), ctypes.byref(length)
        assert library.ldpfast_answer(ctypes.byref(client), values, KEY, room, size, written) == TURN
        for i in range(8 if waves < 100 else 2):
            for given, person in (
                (i, Person(16, i, None, 0)),
                (f"p{i}", Person(17, 0, f"p{i}".encode(), len(f"p{i}"))),
            ):
                ours = survey.client(KEY, given)
                assert (
                    library.ldpfast_is_turn(ctypes.byref(client), KEY, ctypes.byref(person), ctypes.byref(found)) == 0
                )
                assert found.value == ours.is_turn()
                seen.add(found.value)
                arguments = (ctypes.byref(client), values, KEY, ctypes.byref(person), room, size, written)
                status = library.ldpfast_answer_person(*arguments)
                if found.value:
                    assert status == 0
                    assert room.raw[: length.value] == ours.answer({"a": True, "b": 0.5})
                else:
                    assert (status, length.value) == (TURN, 0)
    assert seen == {0, 1}
    refused = library.ldpfast_is_turn(
        ctypes.byref(client), KEY, ctypes.byref(Person(15, 1, None, 0)), ctypes.byref(found)
    )
    assert (refused, found.value) == (PERSON, 0)
    plain = SMALL[0].client_table()
    assert open_table(library, client, plain) == 0
    assert (
        library.ldpfast_is_turn(ctypes.byref(client), KEY, ctypes.byref(Person(16, 1, None, 0)), ctypes.byref(found))
        == 0
    )
    assert found.value == 1


@each("place, value", [(54, 1), (54, 2000), (-24, 0), (-24, 9), (-22, 2), (-20, 0), (-20, 6)])
def test_impossible_turns_are_damage(library, place, value):
    table = bytearray(Survey({"a": YesNo(optional=True)}, 2.0, waves=5).in_wave(1).client_table())
    place %= len(table)
    table[place : place + 2] = value.to_bytes(2, "little")
    table[-16:] = person_keys.cmac(bytes(32), bytes(table[:-16]))
    assert open_table(library, Client(), bytes(table)) == DAMAGED


IMPOSSIBLE_ROUNDS = {
    "no rounds": (54, 2, 0), "waves": (54, 2, 5), "of none": (-24, 4, 0), "number": (-20, 4, 2**32 - 1),
    "randomized response": (124, 1, 1), "unary encoding": (124, 1, 2), "bits": (0, 1, 8), "shift": (2, 2, 31),
    "words": (16, 8, 0),
}  # fmt: skip


@pytest.mark.claim("The id of a report does not depend on the record.", "Clients")
def test_ids_of_reports_are_those_of_python_and_of_the_definition(library):
    """One id per person and survey, wave or round; it does not depend on the record."""
    questions = {"a": YesNo(optional=True), "b": Mean(0, 1, optional=True)}
    panel = Survey(questions, 2.0, series="weeks", waves=3, turns=3)
    weekly = Repeated(Survey(questions, 2.0, series="weeks"), round=1.0, rounds=3)
    surveys = [Survey(questions, 2.0), Survey(questions, 1.0), panel.in_wave(1), panel.in_wave(2), weekly.in_round(0)]
    found, room = set(), ctypes.create_string_buffer(16)
    for survey in surveys:
        client, table = Client(), survey.client_table()
        assert open_table(library, client, table) == 0
        entry = recipe_of(survey).series.entry
        occasion = recipe_of(survey).head[1:] if entry is None else entry.to_bytes(8, "little")
        for given, person in ((7, Person(16, 7, None, 0)), ("p\u00e9", Person(17, 0, "p\u00e9".encode(), 3))):
            ids = {survey.client(KEY, given).report({"a": answer}).id for answer in (True, False)}
            assert library.ldpfast_report_id(ctypes.byref(client), KEY, ctypes.byref(person), room) == 0
            assert ids == {room.raw} == {person_keys.report_id(KEY, recipe_of(survey).series.promise, occasion, given)}
            found |= ids
    assert len(found) == 2 * len(surveys)
    assert library.ldpfast_report_id(ctypes.byref(client), KEY, ctypes.byref(Person(5, 0, None, 0)), room) == PERSON
    fresh = [surveys[0].client().report({"a": True}).id for _ in range(3)]
    assert len(set(fresh)) == 3


@each("what", IMPOSSIBLE_ROUNDS)
def test_impossible_rounds_are_damage(library, what):
    asked = Repeated(Survey({"a": YesNo(optional=True)}, 2.0), round=1.0, rounds=3).in_round(1)
    table, (place, size, value) = bytearray(asked.client_table()), IMPOSSIBLE_ROUNDS[what]
    assert open_table(library, Client(), bytes(table)) == 0
    second = struct.unpack_from("<I", table, 88 + 32 + 44)[0] + 2
    place = second + place if what in ("bits", "shift", "words") else place % len(table)
    table[place : place + size] = value.to_bytes(size, "little")
    table[-16:] = person_keys.cmac(bytes(32), bytes(table[:-16]))
    assert open_table(library, Client(), bytes(table)) == DAMAGED


def test_equal_names_in_a_forged_table_are_refused(library):
    """They have equal tickets and, with equal descriptions, equal keys: the reports together could show the answers."""
    survey = Survey({name: YesNo(optional=True) for name in "abc"}, 3.0, answers=2)
    table = bytearray(survey.client_table())
    assert open_table(library, Client(), bytes(table)) == 0
    place = struct.unpack_from("<I", table, 88 + 32 * 3 + 80 * 2 + 8)[0]
    table[place : place + 1] = b"a"
    table[-16:] = person_keys.cmac(bytes(32), bytes(table[:-16]))
    assert open_table(library, Client(), bytes(table)) == DAMAGED


def test_a_round_needs_a_secret(library):
    table = Repeated(Survey({"a": YesNo(optional=True)}, 2.0), round=1.0, rounds=3).in_round(1).client_table()
    client, message, length = Client(), ctypes.create_string_buffer(64), ctypes.c_size_t(9)
    assert open_table(library, client, table) == 0
    made = library.ldpfast_answer(
        ctypes.byref(client), (Value * 1)(), KEY, message, ctypes.c_size_t(64), ctypes.byref(length)
    )
    assert (made, length.value, client.rounds) == (TURN, 0, 3)


def test_keys_of_the_system_are_different(library):
    keys = [ctypes.create_string_buffer(32) for _ in range(3)]
    assert [library.ldpfast_system_key(key) for key in keys] == [0, 0, 0]
    assert len({key.raw for key in keys}) == 3
    assert all(len(set(key.raw)) > 8 for key in keys)


# The compiled code ----------------------------------------------------------------------------------------------------


@linux
@pytest.mark.claim("The C client needs at most 56 KB of stack.", "Clients")
@pytest.mark.parametrize("level", ["-Os", "-O2", "-O3"])
@pytest.mark.long
def test_the_deepest_calls_fit_into_the_documented_stack(folder, tmp_path, level):
    """Frames of the longest chain of calls, as GCC states them. There is no recursion and no call through a pointer."""
    try:
        flags = (level, "-c", "-fcallgraph-info=su", "-dumpdir", f"{tmp_path}/")
        compile_c(tmp_path / "client.o", folder / "ldpfast_client.c", flags=flags)
    except subprocess.CalledProcessError:
        pytest.skip("needs GCC")
    (graph,) = (path.read_text() for path in tmp_path.glob("*.ci"))
    frames = {name: int(size) for name, size in re.findall(r'title: "([^"]+)" label: "[^"]*?(\d+) bytes', graph)}
    calls: dict[str, set[str]] = {}
    for caller, called in re.findall(r'sourcename: "([^"]+)" targetname: "([^"]+)"', graph):
        calls.setdefault(caller, set()).add(called)

    @functools.cache
    def deepest(function: str) -> int:
        return frames.get(function, 0) + max(map(deepest, calls.get(function, ())), default=0)

    assert "__indirect_call" not in graph
    assert 16 * 1024 < max(map(deepest, frames)) <= 56 * 1024


@pytest.mark.claim("The C client needs no C library, allocates nothing and has no state.", "Clients")
@linux
@pytest.mark.parametrize("flags", [(), ("-ffreestanding",)], ids=["hosted", "freestanding"])
@pytest.mark.long
def test_the_code_is_small_and_shows_only_public_functions(folder, flags):
    compiled = compile_c(folder / "client.o", folder / "ldpfast_client.c", flags=("-Os", "-c", *WARNINGS, *flags))
    sections = subprocess.run(["size", "-A", compiled], capture_output=True, text=True, check=True).stdout
    code = sum(int(size) for size in re.findall(r"^\.(?:text|rodata)\S*\s+(\d+)", sections, re.M))
    assert 8 * 1024 < code <= MAX_BYTES
    assert not sum(int(size) for size in re.findall(r"^\.(?:data|bss)\S*\s+(\d+)", sections, re.M))
    symbols = subprocess.run(["nm", "-g", compiled], capture_output=True, text=True, check=True).stdout
    header = (folder / "ldpfast_client.h").read_text()
    public = set(re.findall(r"^\w[\w *]*?\b(ldpfast_\w+)\(", re.sub(r"^static inline.*", "", header, flags=re.M), re.M))
    assert set(re.findall(r" T (\w+)", symbols)) == public - {"ldpfast_system_key"}
    assert set(re.findall(r" U (\w+)", symbols)) <= {"memcpy", "memset", "__stack_chk_fail", "_GLOBAL_OFFSET_TABLE_"}


DRAW = "void stream_draw(stream *s, void *out, size_t blocks)\n{\n"
DECLARED_DRAW = f"""void draw_words(stream *s, void *out, size_t blocks);
{DRAW}    draw_words(s, out, blocks);
    declare_drawn(s->id, out, blocks * AES_BLOCK);
}}
{DRAW.replace("stream_draw", "draw_words")}"""
LEVEL = "    const uint32_t slot = word & (SLOTS - 1), first = SLOTS - levels + 1;\n"
RARE = "    int is_rare = is_inexact(word, SLOT_BITS, codes[0]) | is_inexact(word, SLOT_BITS, codes[1]);\n"
# What is public: draws of some streams, the level, which the report shows, and whether a word is drawn again for either coin.
DECLARED = {
    DRAW: DECLARED_DRAW,
    LEVEL: f"    declare_drawn(STREAM_VIEWS, &word, sizeof word);\n{LEVEL}",
    RARE: f"{RARE}    declare_drawn(STREAM_VIEWS, &is_rare, sizeof is_rare);\n",
}
PLANTED = {
    "a branch on a category": (
        "found.symbol = choose_u32(-(uint32_t)(value->category < last), value->category, last);",
        'found.symbol = last; if (value->category < last) { __asm__ volatile(""); found.symbol = value->category; }',
    ),
    "a branch on a private coin": (
        "const uint64_t replaced = -(uint64_t)(u >= p->direct);",
        'uint64_t replaced = 0; if (u >= p->direct) { __asm__ volatile(""); replaced = ~replaced; }',
    ),
    "a branch on a tick": (
        "const uint32_t missing = -(uint32_t)(option[p->most - 1] == INVALID_POSITION);",
        "uint32_t missing = -(uint32_t)(option[p->most - 1] == INVALID_POSITION); "
        'if (option[0] == 0) { __asm__ volatile(""); missing |= 0; }',
    ),
    "a branch on an answer of a view": (
        "const uint32_t answer = given < last ? given : last;",
        'const uint32_t answer = given < last ? given : last; if (answer == 0) { __asm__ volatile(""); }',
    ),
    "a branch on the private coin of a view": (
        "const uint32_t replaced = -(uint32_t)(reader_word(&coins) >= direct);",
        'uint32_t replaced = 0; if (reader_word(&coins) >= direct) { __asm__ volatile(""); replaced = ~replaced; }',
    ),
    "a branch on a node": (
        "const uint32_t is_node = -(uint32_t)(element == node),",
        'if (element == node) { __asm__ volatile(""); } const uint32_t is_node = -(uint32_t)(element == node),',
    ),
    "a branch on the private coin of a level": (
        "const uint32_t n = choose_u32(-tails, codes[1], codes[0]);",
        'uint32_t n = codes[0]; if (tails) { __asm__ volatile(""); n = codes[1]; }',
    ),
    "a branch on the cell in a window": (
        "return (symbol & (tails - 1)) + draw + (size & -(tails & (uint64_t)(draw >= symbol)));",
        'if (draw >= symbol) { __asm__ volatile(""); } '
        "return (symbol & (tails - 1)) + draw + (size & -(tails & (uint64_t)(draw >= symbol)));",
    ),
    "a branch on the private coin of a set": (
        "const uint64_t report = (bits & low) | (moved & ~low & ~(at & in_word)) | (at & in_word & own);",
        "uint64_t report = (bits & low) | (moved & ~low & ~(at & in_word)); "
        'if (own) { __asm__ volatile(""); report |= at & in_word; }',
    ),
}


@pytest.mark.claim(
    "No branch and no address of the C client depends on a declared answer or on a private coin.", "Clients"
)
@pytest.mark.long
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs Valgrind")
@pytest.mark.parametrize("level", ["-Os", "-O2", "-O3"])
def test_no_branch_and_no_address_depends_on_an_answer_or_a_coin(folder, tmp_path, level):
    surveys = [
        Survey({"a": Choice(5, optional=True)}, 2.0),
        Survey({"a": Choice(5, optional=True)}, 20.0),
        Survey({"a": Choice(300, optional=True)}, 9.0),
        Survey({"a": Choice(9, optional=True)}, 1.0),
        Survey({"a": Choice(300, optional=True)}, 2.0),
        Survey({"a": Choice(65_600, optional=True)}, 2.0),
        Survey({"a": Mean(-1, 1, optional=True)}, 1.0),
        Survey({"a": Mean(-1, 1, resolution=0.125, optional=True)}, 1.0),
        Survey({"a": Histogram(list(range(80)), optional=True)}, 1.0),
        Survey(
            {"a": Mean(0, 9, optional=True), "b": YesNo(optional=True), "c": Cross("a", "b")}, 1.0, weights=CROSS_ONLY
        ),
    ]
    cases = [Case({"a": 0.0, "b": True}, KEY, person, b"") for person in (None, b"person")]
    tables = [(survey, cases) for survey in surveys]
    ticks = [Several(9, most=3, optional=True), Several(70, most=4, optional=True), Several(5, most=2, optional=True)]
    for options, epsilon in ((ticks[0], 2.0), (ticks[0], 0.4), (ticks[1], 0.4), (ticks[2], 6.0)):
        surveys.append(Survey({"a": options}, epsilon))
    pairs = Survey({"a": ticks[0], "p": Together("a")}, 0.5, weights={"a": 0})
    crossed = Survey({"a": ticks[0], "b": YesNo(optional=True), "c": Cross("a", "b")}, 1.0, weights=CROSS_ONLY)
    for survey in (*surveys[-4:], pairs, crossed):
        for chosen in ([0, 2], [4], [0, 1, 2, 3, 4]):
            tables.append((survey, [Case({"a": chosen, "b": True}, KEY, person, b"") for person in (None, b"person")]))
    for sizes, epsilon in (([2] * 9, 1.0), ([2] * 9, 9.0), ([20, 30, 2], 2.0)):
        few = {name: Choice(k, optional=True) for name, k in zip("abcdefghi", sizes, strict=False)}
        survey = Survey({**few, "p": Pairs(*few)}, epsilon, weights=dict.fromkeys(few, 0))
        for record in (dict.fromkeys(few, 1), {}):
            tables.append((survey, [Case(record, KEY, person, b"") for person in (None, b"person")]))
    for cells, epsilon in ((6, 0.3), (16, 2.0), (255, 0.25), (255, 8.0), (15, 0.1)):
        survey = Survey({"a": Number(0, 1, cells=cells, optional=True)}, epsilon)
        for i, record in enumerate(({"a": 0.4}, {"a": 1.0}, {})):
            keys = [hashlib.sha256(bytes([i, j])).digest() for j in range(4)]
            tables.append((survey, [Case(record, key, person, b"") for key in keys for person in (None, b"person")]))
    path = write(tmp_path / "cases", tables)
    asked = {type(mechanism) for survey, _ in tables for mechanism in survey.mechanisms.values()}
    of_levels_and_sets = {SetSelection, WholeSets, ViewResponse, DistributionResponse}
    assert asked == {RandomizedResponse, SubsetSelection, UnaryEncoding} | of_levels_and_sets

    def errors(text: str) -> list[str]:
        """Return the functions with a report. Two draw again in rare cases, without the answer and the coin."""
        source = tmp_path / "source"
        source.mkdir(exist_ok=True)
        for old, new in DECLARED.items():
            assert text.count(old) == 1
            text = text.replace(old, new)
        (source / "ldpfast_client.c").write_text(text)
        shutil.copy(folder / "ldpfast_client.h", source)
        program = compile_c(tmp_path / "taint", NATIVE / "client_taint.c", flags=(level, "-g", f"-I{source}"))
        done = subprocess.run(
            ["valgrind", "-q", "--vgdb=no", "--expensive-definedness-checks=yes", "--error-exitcode=9", program, path],
            capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
        assert done.returncode in (0, 9), done
        found = re.findall(r"(?:Conditional jump|Use of uninitialised).*\n==\d+==\s+at 0x\w+: (\w+)", done.stderr)
        assert len(found) == len(re.findall("Conditional jump|Use of uninitialised", done.stderr))
        return [function for function in found if function not in ("word_below", "draw_digits")]

    text = (folder / "ldpfast_client.c").read_text()
    assert errors(text) == []
    for old, new in PLANTED.values():
        assert text.count(old) == 1 or "\\" in text.split(old)[1].partition("\n")[0]
        assert errors(text.replace(old, new))
