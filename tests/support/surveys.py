"""Surveys with people to answer them, and a slow twin of `Survey.privatize`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import ldpfast as ldp
from ldpfast.mechanisms import SetSelection
from ldpfast.survey import (
    Choice,
    Cross,
    Histogram,
    Mean,
    Number,
    Pairs,
    Several,
    Survey,
    SurveyQuestion,
    Text,
    Together,
    YesNo,
)

from .internals.kernels import ROWS, StreamId, stream
from .internals.survey import column_of, shares

REGIONS = ("north", "south", "east")


def questions(optional: bool = False) -> dict[str, SurveyQuestion]:
    return {
        "age": Mean(0, 100, optional=optional),
        "smoker": YesNo(optional=optional),
        "region": Choice(REGIONS, optional=optional),
        "income": Histogram([0, 10, 20, 40, 80, 160], optional=optional),
        "decade": Choice(list(range(1920, 2020, 10)), optional=optional),
        "code": Choice(200, optional=optional),
        "age and smoking": Cross("age", "smoker"),
        "region and income": Cross("region", "income"),
    }


def crosses(optional: bool = False) -> dict[str, SurveyQuestion]:
    """Return questions with tables of three and of eight of them."""
    means = {f"mean {i}": Mean(-i, 100, optional=optional, column="age") for i in range(4)}
    bits = {f"bit {i}": YesNo(optional=optional, column="smoker") for i in range(3)}
    names = [name for pair in zip(means, bits, strict=False) for name in pair]
    asked = {"region": Choice(REGIONS, optional=optional), **means, **bits}
    return {
        **asked,
        "eight": Cross(*names, "mean 3", "region"),
        "three": Cross("mean 1", "region", "mean 2"),
        "region and mean": Cross("region", "mean 0"),
    }


def texts(optional: bool = False) -> dict[str, SurveyQuestion]:
    """Return texts with and without an alphabet, of small counts, and other questions."""
    small: dict[str, Any] = {"optional": optional, "buckets": 64, "functions": 6, "n": 10_000}
    return {
        "word": Text(4, "abc", **small),
        "age": Mean(0, 100, optional=optional),
        "bytes": Text(2, column="word", **small),
        "smoker": YesNo(optional=optional),
        "age and smoking": Cross("age", "smoker"),
    }


def pairs(optional: bool = False) -> dict[str, SurveyQuestion]:
    """Return questions with the tables of every two of some of them: with two answers each, and with any number."""
    bits = {f"bit {i}": YesNo(column="smoker") for i in range(5)}
    asked = {name: question for name, question in questions(optional).items() if name in ("region", "income", "smoker")}
    return {**bits, **asked, "bits": Pairs(*bits), "all": Pairs("bit 0", *asked), "age": Mean(0, 100)}


def numbers(optional: bool = False) -> dict[str, SurveyQuestion]:
    """Return numbers with cells of equal width, and whole ones."""
    return {
        "income": Number(0, 160, cells=50, optional=optional),
        "age": Number(0, 100, integers=True, optional=optional),
        "smoker": YesNo(optional=optional),
        "narrow": Number(-3, 161, optional=optional, column="income"),
        "age and smoking": Cross("mean age", "smoker"),
        "mean age": Mean(0, 100, optional=optional, column="age"),
    }


SYMPTOMS = ("fever", "cough", "rash", "ache", "chills", "nausea", "fatigue", "dizziness", "cramps", "itch")


def sets(optional: bool = False) -> dict[str, SurveyQuestion]:
    """Return sets of options, their pairs, and their tables with symbols, means, and other sets."""
    return {
        "symptoms": Several(SYMPTOMS, most=2, optional=optional),
        "region": Choice(REGIONS, optional=optional),
        "all symptoms": Several(SYMPTOMS, most=3, optional=optional, column="symptoms"),
        "pairs": Together("all symptoms"),
        "age": Mean(0, 100, optional=optional),
        "symptoms and age": Cross("symptoms", "age"),
        "region and symptoms": Cross("region", "all symptoms"),
        "two sets": Cross("symptoms", "all symptoms"),
        "three": Cross("region", "symptoms", "age"),
    }


WORDS = ("a", "b", "ca", "", "ac")


def people(n: int, seed: int = 1, missing: float = 0.0) -> dict[str, np.ndarray]:
    """Return random people; with `missing`, this share of the cells of every column is None."""
    rng = np.random.default_rng(seed)
    found: dict[str, np.ndarray] = {
        "age": rng.integers(0, 101, n) / 1.0,
        "smoker": rng.random(n) < 0.3,
        "region": np.array(REGIONS)[rng.choice(3, n, p=[0.5, 0.3, 0.2])],
        "income": rng.integers(0, 161, n),
        "decade": rng.integers(192, 202, n) * 10,
        "code": rng.integers(0, 200, n),
    }
    gone = {name: rng.random(n) < missing for name in found} if missing else {}
    rng = np.random.default_rng([seed, 1])
    found["word"] = np.array(WORDS, object)[rng.choice(5, n, p=[0.5, 0.2, 0.15, 0.1, 0.05])]
    rng = np.random.default_rng([seed, 2])
    ticks = [rng.choice(SYMPTOMS, rng.integers(3), replace=False) for _ in range(n)]
    found["symptoms"] = np.array([";".join(own) for own in ticks], object)
    if not missing:
        return found
    gone["symptoms"] = rng.random(n) < missing
    gone["word"] = rng.random(n) < missing
    return {name: np.where(gone[name], None, values.astype(object)) for name, values in found.items()}


SURVEYS = {
    "one": Survey(questions(), 2.0),
    "optional": Survey(questions(True), 3.0),
    "weights": Survey(questions(), 1.5, weights={"age": 0, "smoker": 1, "code": 30}),
    "three": Survey(questions(True), 4.0, answers=3),
    "all": Survey(questions(), 8.0, answers="all"),
    "large epsilon": Survey({"age": Mean(0, 100), "smoker": YesNo(), "both": Cross("age", "smoker")}, 9.0),
    "single": Survey({"smoker": YesNo()}, 1.0),
    "tables": Survey(crosses(), 5.0),
    "optional tables": Survey(crosses(True), 9.0, answers=2),
    "steps": Survey({**questions(), "age": Mean(0, 100, resolution=4)}, 2.0),
    "optional steps": Survey({**questions(True), "age": Mean(0, 100, resolution=12.5, optional=True)}, 9.0, answers=2),
    "texts": Survey(texts(), 4.0),
    "optional texts": Survey(texts(True), 9.0, answers=3),
    "pairs": Survey(pairs(), 2.0, weights={"bit 1": 0, "bit 2": 0, "bits": 2, "all": 3}),
    "optional pairs": Survey(pairs(True), 9.0, answers=3),
    "sets": Survey(sets(), 1.0),
    "optional sets": Survey(
        {**sets(True), "all symptoms": Several(SYMPTOMS, 3, optional=True, column="symptoms")}, 9.0, answers=2
    ),
    "numbers": Survey(numbers(), 2.0),
    "optional numbers": Survey(numbers(True), 5.0, answers=2),
    "steps at a large epsilon": Survey({"age": Mean(0, 100, resolution=4), "smoker": YesNo()}, 9.0),
}


def rounding_stream(part: int, block: int) -> tuple[int, int]:
    """Return the stream of the random rounding of a part of a question, and its record block."""
    if part < 2:
        return (StreamId.SURVEY_ROUNDING, StreamId.SURVEY_ROUNDING_SECOND)[part], block
    return StreamId.SURVEY_ROUNDING_MORE, 6 * block + part - 2


def words(key: bytes, stream_id: int, block: int, n: int, dtype: type, counter: int = 0) -> np.ndarray:
    """Return the first n words of a stream, or those from an AES block on."""
    size = np.dtype(dtype).itemsize
    found = np.zeros(-(-n * size // 16) * 16 // size, dtype)
    stream.raw(key, stream_id, block, found, counter)
    return found[:n]


class Twin:
    """The reports of a survey, person by person, and the coins that were used for them.

    Attributes
    ----------
    used : list of tuple
        Key, kind of the coins, and record block of every call of a kernel.
    """

    def __init__(self, survey: Survey, key: bytes) -> None:
        self.survey, self.key = survey, key
        self.used: list[tuple[bytes, str, int]] = []

    def reports(self, people: dict[str, Any]) -> list[list[bytes | None]]:
        """Return the report of every person to every asked question, or None."""
        n = len(next(iter(people.values())))
        found: list[list[bytes | None]] = []
        for start in range(0, n, ROWS):
            rows = [{name: values[i] for name, values in people.items()} for i in range(start, min(n, start + ROWS))]
            found += self._block(rows, start // ROWS)
        return found

    def _block(self, rows: list[dict[str, Any]], block: int) -> list[list[bytes | None]]:
        survey = self.survey
        found: list[list[bytes | None]] = [[None] * len(survey.mechanisms) for _ in rows]
        for q, (name, asked) in enumerate(zip(survey.mechanisms, self._asked(len(rows), block), strict=True)):
            if not len(asked):
                continue
            key = words(self.key, StreamId.SURVEY_KEYS, q, 32, np.uint8).tobytes()
            mechanism, question = survey.mechanisms[name], survey.questions[name]
            parts = question.parts if isinstance(question, Cross | Pairs) else [name]
            records: Any = None
            for place, part in enumerate(parts):
                declared: Any = survey.questions[part]
                options: Any = survey.questions[declared.of] if isinstance(declared, Together) else declared
                column = options.column or (declared.of if isinstance(declared, Together) else part)
                rounding = words(key, *rounding_stream(place, block), len(asked), np.uint64)
                if isinstance(declared, Mean) and not isinstance(mechanism, ldp.Laplace | ldp.Window):
                    self.used.append((key, f"rounding {place}", block))
                cells = [rows[i][column] for i in asked]
                if isinstance(declared, Text):
                    records = np.array([row_of(declared, cell) for cell in cells], np.uint8)
                    continue
                if isinstance(mechanism, ldp.Laplace | ldp.Window):
                    records = np.array([value(declared, cell) for cell in cells], np.float64)
                    continue
                if isinstance(options, Several):
                    own, k = zip(*(positions(options, cell, declared is not options) for cell in cells), strict=True)
                    records = joined(records, own, k[0])
                    continue
                symbols = [[symbol(declared, cell, int(u))] for cell, u in zip(cells, rounding, strict=True)]
                if isinstance(question, Pairs):
                    records = symbols if records is None else [a + b for a, b in zip(records, symbols, strict=True)]
                    continue
                records = joined(records, symbols, declared.k)
            if isinstance(records, list):
                is_row = isinstance(mechanism, SetSelection) or isinstance(question, Pairs)
                records = np.array(records, np.uint16 if is_row else np.int64)
                records = records if is_row else records[:, 0]
            if records.ndim == 1 and not isinstance(mechanism, ldp.Laplace | ldp.Window):
                records = records.astype(mechanism.domain.dtype)
            kernel = mechanism._recipe.kernel
            made = np.zeros((len(records), *mechanism.report.shape), mechanism.report.dtype(np.dtype(np.float64)))
            first = block * -(-ROWS // kernel.rows)
            kernel.privatize(key, first, records, made)
            self.used += [(key, "mechanism", first + b) for b in range(-(-len(records) // kernel.rows))]
            for i, report in zip(asked, mechanism.report.pack(made), strict=True):
                found[i][q] = report.tobytes()
        return found

    def _asked(self, n: int, block: int) -> list[list[int]]:
        """Return the rows that are asked each question."""
        survey, d = self.survey, len(self.survey.mechanisms)
        self.used.append((self.key, "assignment", block))
        if survey.answers == 1:
            drawn = words(self.key, StreamId.SURVEY_ASSIGNMENT, block, n, np.uint32)
            chosen = [sum(int(u) >= int(t) for t in survey._recipe.thresholds) for u in drawn]
            return [[i for i in range(n) if chosen[i] == q] for q in range(d)]
        left, found = [survey.answers] * n, []
        for q in range(d):
            drawn = words(self.key, StreamId.SURVEY_ASSIGNMENT, block, n, np.uint32, q * (ROWS * 4 // 16))
            rows = [i for i in range(n) if int(drawn[i]) * (d - q) >> 32 < left[i]]
            for i in rows:
                left[i] -= 1
            found.append(rows)
        return found


def joined(before: list[list[int]] | None, own: Sequence[list[int]], k: int) -> list[list[int]]:
    """Return positions in the table of some questions and of one more, whose positions are below k."""
    if before is None:
        return list(own)
    return [[a * k + b for a in first for b in more] for first, more in zip(before, own, strict=True)]


def positions(question: Several, cell: str | None, are_pairs: bool) -> tuple[list[int], int]:
    """Return the positions of the options in a text or of their pairs, with fillers, and the number of all positions."""
    labels = list(range(question.options)) if isinstance(question.options, int) else list(question.options)
    ticked = sorted(list(map(str, labels)).index(label) for label in (cell or "").split(";") if label)
    numbers, most, places = ticked, question.most or len(labels), list(range(len(labels)))
    if are_pairs:
        places = [*itertools.combinations(range(len(labels)), 2)]
        numbers = [places.index(pair) for pair in itertools.combinations(ticked, 2)]
        most = most * (most - 1) // 2
    k = len(places)
    fillers = list(range(k, k + most))
    if cell is None:
        return [*fillers[:-1], k + most], k + most + 1
    return [*numbers, *fillers][:most], k + most + question.optional


def row_of(question: Text, cell: str | None) -> list[int]:
    """Return the row of a text of ASCII characters, padded with zeros."""
    if question.alphabet is None:
        symbols = list((cell or "").encode())
    else:
        symbols = [question.alphabet.index(character) + 1 for character in cell or ""]
    return symbols + [0] * (question.max_bytes + 1 - len(symbols))


def step(question: Any, cell: float) -> int:
    """Return the number of the nearest step of a mean with a resolution, halves upward."""
    share = (cell - question.lower) / (question.upper - question.lower)
    return math.floor(min(max(share, 0.0), 1.0) * column_of(question).steps + 0.5)


def value(question: Any, cell: float) -> float:
    """Return the number of a mean that is privatized."""
    if question.resolution is None:
        return cell
    return question.lower + step(question, cell) * ((question.upper - question.lower) * (1 / column_of(question).steps))


def symbol(question: Any, cell: Any, word: int) -> int:
    """Return the symbol of a cell; a mean is rounded by a random word."""
    if cell is None:
        return int(question.k - 1)
    if isinstance(question, YesNo):
        return int(cell)
    if isinstance(question, Choice):
        return int(question.labels.index(cell))
    if isinstance(question, Number) and question.integers:
        return math.floor(cell - question.lower)
    if isinstance(question, Number):  # a cell contains its upper end
        place = (cell - question.lower) * question.cells / (question.upper - question.lower)
        return min(max(math.ceil(place - 1e-6) - 1, 0), question.cells - 1)
    if isinstance(question, Histogram):
        return int(sum(cell >= edge for edge in question.edges[1:-1]))
    if question.resolution is not None:
        return int((word >> 11) * 2.0**-53 < step(question, cell) * (1 / column_of(question).steps))
    return int((word >> 11) * 2.0**-53 < (cell - question.lower) * (1 / (question.upper - question.lower)))


def shares_of(aggregator: ldp.Aggregator) -> shares.Shares:
    """Return the shares of the symbols of a mechanism that a survey uses."""
    return shares.Shares.of(aggregator.question, aggregator._counts.group())
