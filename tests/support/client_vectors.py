"""Random surveys with answers, keys and the messages that the Python client makes of them: the same for all clients."""

from __future__ import annotations

import base64
import json
import math
import random
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

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
    SurveyQuestion,
    SurveyRound,
    Text,
    Together,
    YesNo,
)

from ..cards.questions import QUESTION_CARDS
from ..cards.questions.choice import TEXTS
from .internals.kernels import Stream
from .internals.survey import EPOCH, ColumnQuestion, client, column_of

FIRST, CASES = 50, 20  # surveys of the first version of the vectors
NO_CATEGORY, TICKS = 0xFFFFFFFF, 0xFFFFFFFE
# Makers of random questions, by their numbers.
MAKERS = [make for _, make in sorted((n, make) for card in QUESTION_CARDS.values() for n, make in card.random.items())]
RANDOM, RANDOM_SETS = MAKERS[:6], MAKERS[6:]  # of the first version of the vectors, and of sets of options


@dataclass(frozen=True)
class Case:
    """A record, the 32 bytes of a fresh key or of the secret of a person, and the message."""

    record: Mapping[str, Any]
    key: bytes
    person: int | str | bytes | None
    message: bytes


@cache
def vectors() -> list[tuple[Survey, list[Case]]]:
    """Return the surveys with their cases. Half of the cases have a fresh key, half belong to a person; in rounds all do."""
    source = random.Random(20261122)
    found = []
    for number in range(FIRST + len(LATER)):
        survey = _survey(source, number)
        found.append((survey, [_case(source, survey, bool(i % 2)) for i in range(CASES)]))
    for asked in _rounds():
        found.append((asked, [_case(source, asked, True) for _ in range(CASES)]))
    for asked in _texts():
        found.append((asked, [_case(source, asked, bool(i % 2)) for i in range(2 * CASES)]))
    for asked in _sets(source):
        found.append((asked, [_case(source, asked, bool(i % 2)) for i in range(CASES)]))
    for asked in [*_views(source), *_numbers()]:
        found.append((asked, [_case(source, asked, bool(i % 2)) for i in range(CASES)]))
    return found


def answered(survey: Survey) -> dict[str, tuple[ColumnQuestion, str]]:
    """Return the question whose cells answer each declared question, and the name of their column."""
    found = {}
    for name in survey._recipe.declared:
        asked: Any = survey.questions[name]
        name_of = asked.of if isinstance(asked, Together) else name
        question = survey.column_questions[name_of]
        found[name] = (question, question.column or name_of)
    return found


def id_of(survey: Survey, case: Case) -> bytes:
    """Return the id of the report of a person."""
    assert case.person is not None
    return survey.client(case.key, case.person).report(case.record).id


def message_of(survey: Survey, record: Mapping[str, Any], key: bytes) -> bytes:
    """Return the message for a fresh key. The public client takes its key from the operating system."""
    questions = [(name, survey._recipe.declared[name]) for name in survey._recipe.columns]
    columns = [question.read_cell(record.get(question.column or name)) for name, question in questions]
    return client.message(survey._recipe, client.first_of(Stream(key), survey._recipe, columns))


# Surveys --------------------------------------------------------------------------------------------------------------


def _survey(source: random.Random, number: int) -> Survey:
    if number < len(LARGE):
        questions, epsilon = LARGE[number]
        return Survey(questions, epsilon)
    if number >= FIRST:
        questions, epsilon = LATER[number - FIRST]
        return Survey(questions, epsilon)
    count = 1 + source.randrange(6)
    questions = {f"{TEXTS[source.randrange(10)]} {i}": _question(source, i) for i in range(count)}
    names = list(questions)
    for i in range(source.randrange(3) if count > 1 else 0):
        a = source.randrange(count)
        b = (a + 1 + source.randrange(count - 1)) % count
        questions[f"cross {i}"] = Cross(names[a], names[b])
    pairs = [(question.a, question.b) for question in questions.values() if isinstance(question, Cross)]
    crossed = dict.fromkeys(part for pair in pairs for part in pair)
    weights: dict[str, int] = {name: 0 for name in crossed if source.random() < 0.2}
    asked = [name for name in questions if name not in weights]
    answers = 1 if source.random() < 0.5 else 1 + source.randrange(len(asked))
    if answers == 1:
        weights |= {name: 1 + source.randrange(9) for name in asked if source.random() < 0.3}
    epsilon = answers * EPSILONS[source.randrange(len(EPSILONS))]
    return Survey(questions, epsilon, answers=answers, weights=weights or None)


def _rounds() -> list[SurveyRound]:
    """Return rounds of repeated surveys: with one answer and several, coins and reports of all sizes."""
    questions: dict[str, SurveyQuestion] = {
        "smokes": YesNo(optional=True),
        "code": Choice(300, optional=True),
        "sleep": Mean(0, 12, optional=True, column="hours"),
        "steps": Mean(0, 1, resolution=0.1, optional=True),
        "age": Histogram(list(range(0, 100, 5)), optional=True),
        "both": Cross("smokes", "sleep"),
    }
    first = Repeated(Survey(questions, 6.0, series="weeks"), round=3.0, rounds=8)
    several = Repeated(Survey(questions, 12.0, answers=3), round=11.0, rounds=1)
    large = Repeated(Survey({"word": Choice(70_000, optional=True)}, 14.0), round=10.0, rounds=(1 << 32) - 1)
    return [first.in_round(0), first.in_round(7), several.in_round(1 << 16), large.in_round((1 << 32) - 2)]


def _texts() -> list[Survey]:
    """Return surveys with texts: alphabets with one and more bytes per character, and every mechanism for buckets."""
    few: dict[str, Any] = {"optional": True, "functions": 2, "n": 1000}
    questions: dict[str, SurveyQuestion] = {
        "bytes": Text(5, buckets=4, **few),
        "smokes": YesNo(optional=True),
        "word": Text(4, "abcdnorthus", buckets=300, column="name", **few),
        "letters": Text(7, "aœst西🦉, ", buckets=1000, salt="wave 2", **few),
        "long": Text(200, "xn", buckets=7, **few),
    }
    small = {name: Text(3, "abc", buckets=1 << 14, salt=name, **few) for name in ("a", "b")}
    return [
        Survey(questions, 1.0),
        Survey(questions, 8.0, answers=2, series="words"),
        Survey({name: questions[name] for name in ("word", "letters")}, 40.0, answers="all"),
        Survey(small, 0.1),
    ]


def _sets(source: random.Random) -> list[Survey]:
    """Return surveys with sets of options: by every mechanism, with pairs and tables, small and large."""
    few: dict[str, SurveyQuestion] = {
        "symptoms": Several(
            ["fever", "cough", "rash", "pain", "none; or other"], most=3, optional=True, column="ticks"
        ),
        "smokes": YesNo(optional=True),
        "sleep": Mean(0, 12, optional=True),
        "pairs": Together("symptoms"),
        "by sleep": Cross("sleep", "symptoms"),
        "three": Cross("symptoms", "smokes", "sleep"),
    }
    twice: dict[str, SurveyQuestion] = {
        "a": Several(9, most=2, optional=True),
        "b": Several(7, most=4, optional=True),
        "age": Histogram(list(range(0, 100, 10)), optional=True),
        "both": Cross("a", "b"),
        "ages": Cross("b", "age"),
    }
    found = [Survey(few, epsilon, answers=3) for epsilon in (1.5, 6.0, 24.0)]
    found += [Survey(twice, 2.0, series="sets"), Survey(twice, 40.0, answers="all")]
    for k, most, epsilon in LARGE_SETS:
        found.append(Survey({"a": Several(k, most=most, optional=True)}, epsilon))
    found.append(Survey({"a": Several(120, most=23, optional=True), "p": Together("a")}, 3.0, weights={"a": 0}))
    found.append(Survey({"a": Several(361, most=3, optional=True), "p": Together("a")}, 1.0, weights={"a": 0}))
    for _ in range(12):
        questions: dict[str, SurveyQuestion] = {}
        for i in range(1 + source.randrange(3)):
            column = f"column {i}" if source.random() < 0.3 else None
            questions[f"ticks {i}"] = RANDOM_SETS[source.randrange(len(RANDOM_SETS))](source, column)
            own = questions[f"ticks {i}"]
            assert isinstance(own, Several)
            if column_of(own).k > 6 and own.most is not None and own.most > 1 and source.random() < 0.5:
                questions[f"pairs {i}"] = Together(f"ticks {i}")
        if source.random() < 0.5:
            questions["smokes"] = YesNo(optional=True)
            questions["cross"] = Cross("ticks 0", "smokes")
        answers = 1 + source.randrange(len(questions))
        found.append(Survey(questions, answers * EPSILONS[source.randrange(len(EPSILONS))], answers=answers))
    return found


def _views(source: random.Random) -> list[Survey]:
    """Return surveys with all tables of two questions: views of two and of more questions, and reports of all sizes."""
    few: dict[str, SurveyQuestion] = {
        "smokes": YesNo(optional=True),
        "way": Choice(["foot", "car", "bus"], optional=True, column="commute"),
        "age": Histogram(list(range(0, 100, 10)), optional=True),
        "sleep": Mean(0, 12, optional=True),
        "owns": YesNo(optional=True),
        "all": Pairs("owns", "way", "age", "smokes"),
        "two": Pairs("smokes", "way"),
        "both": Cross("smokes", "sleep"),
    }
    found = [Survey(few, epsilon, answers=3) for epsilon in (2.0, 24.0)]
    found.append(Survey(few, 60.0, answers="all", series="views"))
    for sizes, epsilon in ALL_PAIRS:
        asked: dict[str, SurveyQuestion] = {f"q{i}": Choice(k, optional=True) for i, k in enumerate(sizes)}
        found.append(Survey({**asked, "all": Pairs(*asked)}, epsilon, weights=dict.fromkeys(asked, 0)))
    for _ in range(8):
        count = 2 + source.randrange(9)
        questions: dict[str, SurveyQuestion] = {}
        while len(questions) < count:
            own = _question(source, len(questions))
            if column_of(own).encoding in ("symbol", "bin"):
                questions[f"{TEXTS[source.randrange(10)]} {len(questions)}"] = own
        names = source.sample(list(questions), 2 + source.randrange(count - 1))
        questions["all"] = Pairs(*names)
        answers = 1 + source.randrange(len(questions))
        found.append(Survey(questions, answers * EPSILONS[source.randrange(len(EPSILONS))], answers=answers))
    return found


def _numbers() -> list[Survey]:
    """Return surveys with distributions of numbers: with levels of every kind, and reports of all sizes."""
    few: dict[str, SurveyQuestion] = {
        "minutes": Number(0, 120, optional=True),
        "smokes": YesNo(optional=True),
        "children": Number(0, 12, integers=True, optional=True, column="own"),
        "income": Number(-1e4, 1e5, cells=999, optional=True),
        "day": Number(date(1999, 12, 1), date(2000, 2, 1), integers=True, optional=True),
        "age": Histogram(list(range(0, 100, 10)), optional=True),
    }
    found = [Survey(few, 2.0, answers=2), Survey(few, 40.0, answers="all", series="numbers"), Survey(few, 0.4)]
    for cells, epsilon in CELLS:
        found.append(Survey({"x": Number(0, 10, cells=cells, optional=True)}, epsilon))
    return found


def _question(source: random.Random, i: int) -> ColumnQuestion:
    column = f"column {i}" if source.random() < 0.3 else None
    return RANDOM[source.randrange(len(RANDOM))](source, column)


EPSILONS = (0.3, 0.7, 1.0, 2.0, 3.5, 5.0, 8.0, 13.0, 20.0)
# Wide codes and rows of several pieces: k of two and four bytes, words of 32 and 64 bits.
LARGE: list[tuple[dict[str, SurveyQuestion], float]] = [
    ({"code": Choice(70_000, optional=True)}, 16.0),
    ({"code": Choice(70_000, optional=True)}, 1.0),
    ({"code": Choice(300, optional=True)}, 9.0),
    ({"code": Choice(300, optional=True)}, 2.0),
    ({"smoker": YesNo(optional=True), "age": Mean(0, 100, optional=True)}, 20.0),
    ({"age": Histogram(list(range(200)), optional=True)}, 13.0),
    (
        {"a": Choice(40, optional=True), "b": Mean(0, 1, optional=True), "ab": Cross("a", "b"), "ba": Cross("b", "a")},
        3.0,
    ),
    ({f"q{i}": YesNo(optional=True) for i in range(150)}, 1.0),
]
# Options, largest number of ticks, epsilon: one position as a code and sets with and without a number, short and long;
# sampled cubes with items of one and two bytes and of all signs; whole sets.
LARGE_SETS = [
    (1000, 3, 1.0), (1000, 3, 5.0), (5000, 4, 1.0), (900, 60, 9.0), (100, 10, 0.3), (64, 20, 8.0), (250, 5, 2.0), (2, 1, 1.0),
    (20, None, 0.3), (20, None, 4.0), (20, None, 9.0), (62, None, 20.0), (100, None, 20.0), (200, None, 9.0),
    (5, None, 9.0), (9, 4, 9.0), (16, 2, 14.0),
]  # fmt: skip
# Answers to each of many questions, and epsilon: symbols of one and of two bytes, masks of one to eight, views of two to ten.
ALL_PAIRS = [
    ([2] * 20, 1.0), ([2] * 64, 4.0), ([2] * 10, 14.0), ([3] * 9, 6.0), ([20, 30], 2.0), ([250, 250, 4], 9.0),
    (list(range(2, 40)), 3.0), ([4, 9, 2, 2, 30], 12.0),
]  # fmt: skip
# Cells and epsilon: reports of one, two and four bytes; sets of two to eight members, k-ary and Hadamard response, spaces over
# fields of all kinds, and up to five levels.
CELLS = [
    (2, 1.0), (3, 0.1), (8, 0.5), (16, 0.1), (16, 1.5), (63, 4.0), (255, 0.25), (255, 0.5), (255, 1.0), (256, 2.0), (256, 4.0),
    (1023, 6.0), (1024, 1.0), (4095, 3.5), (17, 30.0),
]  # fmt: skip
# Means with steps, and the largest sets.
LATER: list[tuple[dict[str, SurveyQuestion], float]] = [
    (
        {
            "a": Mean(0, 1, resolution=0.1, optional=True),
            "b": Choice(3, optional=True),
            "c": Mean(-1e9, 1e9, resolution=1, optional=True),
            "ab": Cross("a", "b"),
            "ca": Cross("c", "a"),
        },
        3.0,
    ),
    ({"day": Mean(date(1900, 1, 1), date(2030, 1, 1), resolution=2, optional=True)}, 1.0),
    ({"code": Choice(65_535, optional=True)}, 2.0),
    # Tables of three and of eight questions.
    (
        {
            **{f"m{i}": Mean(-1, 1 + i, optional=True) for i in range(7)},
            "b": YesNo(optional=True),
            "three": Cross("m1", "b", "m2"),
            "eight": Cross("m6", "m5", "m4", "b", "m3", "m2", "m1", "m0"),
        },
        6.0,
    ),
]


# Records --------------------------------------------------------------------------------------------------------------


def _case(source: random.Random, survey: Survey, personal: bool) -> Case:
    record = {}
    for name, question in survey.column_questions.items():
        if source.random() < 0.9:
            record[question.column or name] = _value(source, question)
    record = record if source.random() < 0.97 else {}
    key = source.getrandbits(256).to_bytes(32, "little")
    if not personal:
        return Case(record, key, None, message_of(survey, record, key))
    person = _person(source)
    return Case(record, key, person, survey.client(key, person).answer(record))


def _person(source: random.Random) -> int | str | bytes:
    kind = source.randrange(3)
    if kind == 0:
        return source.getrandbits(64) - (1 << 63)
    size = source.randrange(70)
    return "Ünal"[: size % 5] * (size // 5) if kind == 1 else source.getrandbits(8 * size + 8).to_bytes(size + 1, "big")


def _value(source: random.Random, question: ColumnQuestion) -> Any:
    chance = source.random()
    if chance < 0.15:
        return STRANGE[source.randrange(len(STRANGE))]
    if isinstance(question, Text):
        return WORDS[source.randrange(len(WORDS))]
    column = column_of(question)
    if isinstance(question, Several):
        return _ticks(source, column.labels, question.most or len(column.labels))
    if column.encoding == "symbol":
        return column.cells[source.randrange(len(column.cells))]
    lower, upper = column.valid_range()
    if chance < 0.3:
        return (lower, upper, -0.0, lower - 1, upper + 1)[source.randrange(5)]
    if isinstance(question, Histogram) and chance < 0.5:
        return question.edges[source.randrange(len(question.edges))]
    return lower + (upper - lower) * source.random()


def _ticks(source: random.Random, labels: tuple[Any, ...], most: int) -> Any:
    """Return labels in any order, in all containers, some twice, and sometimes too many or unknown ones."""
    size = min(len(labels), source.randrange(most + 1) if source.random() < 0.9 else most + 1)
    chosen = source.sample(labels, size)
    chosen += chosen[:1] if source.random() < 0.3 else []
    chosen += [source.choice(UNKNOWN)] if source.random() < 0.05 else []
    kind = source.randrange(4)
    if kind == 0:
        return " ;".join(map(str, chosen)) + source.choice(("", ";", " ", ";;\t"))
    return chosen if kind == 1 else tuple(chosen) if kind == 2 else set(chosen)


UNKNOWN = [None, "unknown", -1, 1.25, ""]
STRANGE = [
    None, math.nan, math.inf, -math.inf, -0.0, 0, 1, True, False, "unknown", "", "1", "yes", 1e308, -1e308, 5e-324, 10**30,
    1 << 60, date(1999, 12, 31), date(1969, 12, 31), 2.0, 1.5,
]  # fmt: skip


WORDS = (*TEXTS, "cab", "häuser", "a\0b", "x" * 300, "西🦉西🦉西🦉西🦉", "é", "no 西 a")


# Forms for the clients ------------------------------------------------------------------------------------------------


def c_text(question: ColumnQuestion, value: Any) -> bytes:
    """Return the bytes of a text, or of ticks, as a program in C has to find them."""
    if isinstance(question, Several):
        return _c_ticks(column_of(question).labels, value) or b""
    return value.encode() if isinstance(question, Text) and isinstance(value, str) else b""


def c_value(question: ColumnQuestion, value: Any) -> tuple[float, int]:
    """Return the number and the index of the category of an answer, as a program in C has to find them."""
    column = column_of(question)
    if column.encoding == "symbol":
        same = [i for i, cell in enumerate(column.cells) if value is not None and cell == value]
        return math.nan, same[0] if same else NO_CATEGORY
    if isinstance(question, Several):
        return math.nan, NO_CATEGORY if _c_ticks(column.labels, value) is None else TICKS
    if isinstance(question, Text):
        return math.nan, NO_CATEGORY
    if isinstance(value, date):
        return float((value - EPOCH).days), NO_CATEGORY
    return float(value) if isinstance(value, int | float) else math.nan, NO_CATEGORY


def _c_ticks(labels: tuple[Any, ...], value: Any) -> bytes | None:
    """Return a byte for each option, 2 if another one is ticked; None if there are no ticks."""
    if isinstance(value, str):
        names = [str(label) for label in labels]
        if any(not name or name != name.strip() or ";" in name for name in names) or len({*names}) < len(names):
            return None
        chosen: list[Any] = [part.strip() for part in value.split(";") if part.strip()]
    elif isinstance(value, list | tuple | set):
        names, chosen = list(labels), list(value)
    else:
        return None
    if not all(one in names for one in chosen):
        return b"\2" * len(labels)
    return bytes(name in chosen for name in names)


def c_bytes(found: list[tuple[Survey, list[Case]]]) -> bytes:
    """Return surveys and cases in the form that tests/native/client.c reads."""
    out = [struct.pack("<I", len(found))]
    for survey, cases in found:
        table = survey.client_table()
        out += [struct.pack("<I", len(table)), table, struct.pack("<I", len(cases))]
        for case in cases:
            integer = case.person if isinstance(case.person, int) else 0
            data = case.person.encode() if isinstance(case.person, str) else case.person
            data = data if isinstance(data, bytes) else b""
            kind = {type(None): 0, int: 16, str: 17, bytes: 18}[type(case.person)]
            out += [case.key, struct.pack("<IqI", kind, integer, len(data)), data]
            for question, column in answered(survey).values():
                value = case.record.get(column)
                text = c_text(question, value)
                out.append(struct.pack("<dII", *c_value(question, value), len(text)) + text)
    return b"".join(out)


def js_text(found: list[tuple[Survey, list[Case]]]) -> str:
    """Return surveys and cases as JSON. Values that JSON lacks are objects with one key that starts with $."""
    return json.dumps(
        [
            {
                "epsilon": survey.epsilon,
                "table": base64.b64encode(survey.client_table()).decode(),
                "cases": [
                    {
                        "record": {name: _js_value(value) for name, value in case.record.items()},
                        "key": case.key.hex(),
                        "person": None if case.person is None else _js_value(case.person),
                        "message": base64.b64encode(case.message).decode(),
                        "id": None if case.person is None else id_of(survey, case).hex(),
                    }
                    for case in cases
                ],
            }
            for survey, cases in found
        ],
        allow_nan=False,
    )


def _js_value(value: Any) -> Any:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, date):
        return {"$date": value.isoformat()}
    if isinstance(value, list | tuple):
        return [_js_value(one) for one in value]
    if isinstance(value, set):
        return {"$set": [_js_value(one) for one in value]}
    if isinstance(value, bytes):
        return {"$bytes": value.hex()}
    if isinstance(value, int):
        return value if abs(value) <= 1 << 53 else {"$integer": str(value)}
    if math.isfinite(value):
        return value
    return {"$number": {"inf": "Infinity", "-inf": "-Infinity"}.get(repr(value), "NaN")}


def split_messages(data: bytes) -> list[bytes]:
    """Return the messages that a client wrote one after the other, each behind its length."""
    found, at = [], 0
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at)
        found.append(data[at + 4 : at + 4 + size])
        at += 4 + size
    return found


def write(path: Path, found: list[tuple[Survey, list[Case]]]) -> Path:
    """Write surveys and cases for the client in C."""
    path.write_bytes(c_bytes(found))
    return path
