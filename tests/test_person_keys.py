"""Keys of persons: the derivation, and one report per person, question and value."""

from __future__ import annotations

import copy
import datetime
import json
import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.stats import chisquare

import ldpfast as ldp
from ldpfast.estimation import Frequencies, VectorMean
from ldpfast.survey import Choice, Cross, Histogram, Mean, Survey, YesNo

from .cards import CARDS, KINDS
from .support import person_keys as twin
from .support.cases import each
from .support.internals import kernels
from .support.internals.kernels import person
from .support.internals.shared import person_keys, schemas
from .support.internals.survey import column_of
from .support.one_shot import PROBLEMS
from .support.surveys import people, questions, symbol, words

SECRET = bytes(range(100, 132))

# NIST SP 800-38B, AES-256 examples.
NIST_KEY = bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
NIST_TEXT = bytes.fromhex(
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52ef"
    "f69f2445df4f9b17ad2b417be66c3710"
)
NIST_CODES = {
    0: "028962f61b7bf89efc6b551f4667d983",
    16: "28a7023f452e8f82bd4bf28d8c37c35c",
    40: "aaf3d8f1de5640c232f5b169b9c911e6",
    64: "e1992190549f6ed5696a2c056c315410",
}


@pytest.mark.parametrize("length", NIST_CODES)
def test_cmac_has_the_values_of_the_standard(length):
    assert twin.cmac(NIST_KEY, NIST_TEXT[:length]).hex() == NIST_CODES[length]
    before = kernels.aes_form()
    for form in kernels.aes_forms() if length else []:
        kernels.set_aes_form(form)
        try:
            assert person.cmac(NIST_KEY, NIST_TEXT[:length]).hex() == NIST_CODES[length]
        finally:
            kernels.set_aes_form(before)


@each("length", [*range(1, 50), 100])
def test_cmac_equals_its_twin(length):
    message = bytes((7 * i + length) % 256 for i in range(length))
    assert person.cmac(SECRET, message) == twin.cmac(SECRET, message)


def report_of(mechanism: ldp.Mechanism, key: bytes, record) -> np.ndarray:
    out = np.zeros((1, *mechanism.report.shape), mechanism.report.dtype(record.dtype))
    mechanism._recipe.kernel.privatize(key, 0, record, out)
    return out[0]


KEYED = [case for card in CARDS.values() for case in card.keyed]
PERSONS = {
    "int": list(range(-3, 37)),
    "text": [f"person \N{SNOWMAN} {i}" for i in range(40)],
    "bytes": [b"x" * i for i in range(40)],
}


@each("persons", PERSONS)
@each("mechanism, x, values", KEYED, ids=lambda value: type(value).__name__)
def test_reports_are_those_of_the_derived_keys(mechanism, x, values, persons):
    keys = ldp.PersonKeys(SECRET, PERSONS[persons], question="q")
    reports = mechanism.privatize(x, rng=keys)
    digest = schemas.digest(mechanism.schema())
    records = mechanism.domain.convert(mechanism.domain.records(x)[0])
    records = mechanism.encode(records) if hasattr(mechanism, "encode") else records
    for i, who in enumerate(PERSONS[persons]):
        key = twin.record_key(SECRET, person_keys.NO_SERIES, "q", digest, who, *values(x[i]))
        assert np.array_equal(reports[i], report_of(mechanism, key, records[i : i + 1]))


@pytest.mark.parametrize(
    "persons",
    [
        np.array([-(2**63), 5, 2**63 - 1], object),
        np.array([np.int64(-(2**63)), np.int8(5), np.uint64(2**63 - 1)], object),
        pd.Series([-(2**63), 5, 2**63 - 1], dtype=object),
    ],
)
def test_objects_that_are_integers_are_those_integers(persons):
    mechanism, x = ldp.RandomizedResponse(1000, 1.0), [1, 2, 3]
    expected = mechanism.privatize(x, rng=ldp.PersonKeys(SECRET, [-(2**63), 5, 2**63 - 1], question="q"))
    assert np.array_equal(mechanism.privatize(x, rng=ldp.PersonKeys(SECRET, persons, question="q")), expected)


@each("other", [2**63, -(2**63) - 1, True, None, 1.0, "1", np.uint64(2**63)])
def test_objects_that_are_not_all_integers_are_refused(other):
    with pytest.raises(TypeError, match=r"persons must be integers in \[-2\^63, 2\^63\), all str, or all bytes, got "):
        ldp.PersonKeys(SECRET, np.array([1, other], object), question="q")
    with pytest.raises(ValueError, match="persons must be different, got 3 of which 2 are"):
        ldp.PersonKeys(SECRET, np.array([1, 2, 1], object), question="q")


def test_integers_beyond_63_bits_are_refused_whatever_the_others_are():
    keys = ldp.PersonKeys(SECRET, np.array([5, 2**63 - 1], np.uint64), question="q")
    expected = ldp.PersonKeys(SECRET, [5, 2**63 - 1], question="q")
    mechanism = ldp.RandomizedResponse(1000, 1.0)
    assert (mechanism.privatize([1, 2], rng=keys) == mechanism.privatize([1, 2], rng=expected)).all()
    for persons in ([5, 2**63], [2**63, 5], [2**64 - 1, 2**63]):
        with pytest.raises(
            TypeError, match=r"persons must be integers in \[-2\^63, 2\^63\), all str, or all bytes, got "
        ):
            ldp.PersonKeys(SECRET, np.array(persons, np.uint64), question="q")


@pytest.mark.claim(
    "With `PersonKeys`, the same person, question and value give the same report again.", "Surveys and ledgers"
)
@each("mechanism, x, values", KEYED, ids=lambda value: type(value).__name__)
def test_a_retry_gives_the_same_report_in_any_order_and_on_any_number_of_threads(mechanism, x, values):
    n = 20_000
    many, order = np.resize(x, (n, *x.shape[1:])), np.random.default_rng(1).permutation(n)
    first = mechanism.privatize(many, rng=ldp.PersonKeys(SECRET, np.arange(n), question="q"))
    before = ldp.get_num_threads()
    ldp.set_num_threads(3)
    try:
        again = mechanism.privatize(many[order], rng=ldp.PersonKeys(SECRET, order, question="q"))
    finally:
        ldp.set_num_threads(before)
    assert np.array_equal(again, first[order])
    one = mechanism.privatize(many[7], rng=ldp.PersonKeys(SECRET, [7], question="q"))
    assert np.array_equal(one, first[7])
    out = np.empty_like(first)
    assert mechanism.privatize(many, rng=ldp.PersonKeys(SECRET, np.arange(n), question="q"), out=out) is out
    assert np.array_equal(out, first)
    keys = ldp.PersonKeys(SECRET, np.arange(n), question="q")
    assert mechanism.run(many, rng=keys) == mechanism.estimate(first)


def forms(x):
    """The same values in other dtypes and containers. Numbers are multiples of 1/64, which half precision holds."""
    if x.dtype.kind in "iu":
        yield from (x.astype(dtype) for dtype in ("i1", "u2", ">i4", "i8") if x.max() <= np.iinfo(dtype).max)
        yield x.tolist()
        if x.ndim == 1:
            yield pa.array(x)
        return
    yield from (x.astype(dtype) for dtype in ("f4", ">f4", ">f8", "f2"))
    yield np.asfortranarray(x)
    yield x.tolist()
    if x.ndim == 1:
        yield pa.array(x.astype(np.float16))
        yield pa.array(x.astype(np.float32))
    if (np.rint(x) == x).all():
        yield x.astype(np.int16)


def coarse(x):
    """Round numbers toward zero to multiples of 1/64, so that rows stay in a ball."""
    return np.trunc(x * 64) / 64 if x.dtype.kind == "f" else x


ASKED = [
    *(
        (str(example), example.mechanism, coarse(example.records(60)))
        for example in KINDS
        if example.dtype == "float64" and example.records(1).dtype.kind != "S"
    ),
    *(
        (name, problem, coarse(draw(np.random.default_rng(5), 60)))
        for name, (problem, draw) in PROBLEMS.items()
        if name != "labels"
    ),
]


@each("question, x", [case[1:] for case in ASKED], ids=[case[0] for case in ASKED])
def test_equal_values_have_equal_reports_in_every_dtype(question, x):
    """A retry in another width must not draw other directions for the same private coin."""
    keys = ldp.PersonKeys(SECRET, np.arange(60), question="q")
    clips = question.domain.clips
    for records in (x, np.trunc(x) if x.dtype.kind == "f" else x):  # the second are integers
        expected = question.privatize(records, rng=keys)
        assert expected.dtype == question.report.dtype(np.dtype(np.float64))
        state = question.collect(records, rng=keys)
        for form in forms(records):
            found = question.privatize(form, rng=keys)
            assert found.dtype == expected.dtype
            assert found.tobytes() == expected.tobytes()
            assert question.collect(form, rng=keys) == state
        if clips:
            assert question.privatize(records, rng=keys, clip=True).tobytes() == expected.tobytes()
        one = question.privatize(records[3], rng=ldp.PersonKeys(SECRET, [3], question="q"))
        assert np.asarray(one).tobytes() == expected[3].tobytes()


FAR_AWAY = np.array([np.nan, np.inf, -np.inf, 1e300, -1e300, 7.0, -7.0, -0.0])


@pytest.mark.filterwarnings("ignore:.* had NaN:ldpfast.ClippedWarning")
@each("question, x", [case[1:] for case in ASKED], ids=[case[0] for case in ASKED])
def test_clipped_records_share_the_report_of_the_nearest_valid_record(question, x):
    """What identifies the coins is the record after clipping, so that values outside cost no further loss."""
    if not question.domain.clips:
        return
    outside = x[:8].copy()
    if x.ndim == 2:
        outside[:, 0] = FAR_AWAY
    else:
        outside[:] = FAR_AWAY
    inner = question._recipe.inner if question._recipe.translate is None else None
    nearest = (inner or question.domain).clip(outside)
    keys = ldp.PersonKeys(SECRET, np.arange(8), question="q")
    reports = question.privatize(outside, rng=keys, clip=True)
    assert reports.tobytes() == question.privatize(nearest, rng=keys, clip=True).tobytes()
    assert reports.tobytes() == question.privatize(nearest, rng=keys).tobytes()


@pytest.mark.claim(
    "With `PersonKeys`, another secret, person, question or value has other coins.", "Surveys and ledgers"
)
def test_another_secret_question_person_or_value_gives_other_coins():
    mechanism, n = ldp.RandomizedResponse(256, 0.1), 2000
    x = np.full(n, 3)

    def reports(secret=SECRET, question="q", persons=None, x=x, mechanism=mechanism):
        return mechanism.privatize(
            x, rng=ldp.PersonKeys(secret, np.arange(n) if persons is None else persons, question=question)
        )

    base = reports()
    assert np.array_equal(base, reports())
    for other in (
        reports(secret=bytes(32)),
        reports(question="r"),
        reports(persons=np.arange(n) + n),
        reports(persons=[str(i) for i in range(n)]),
        reports(persons=[str(i).encode() for i in range(n)]),
        reports(mechanism=ldp.RandomizedResponse(256, 0.11)),
        reports(x=np.full(n, 4)),
    ):
        assert (base == other).mean() < 0.05


def test_no_two_inputs_share_an_encoding():
    for a, b in [(("ab", "c"), ("a", "bc")), ((b"1", "1"), ("1", b"1")), ((1, 2), (2, 1))]:
        assert twin.person_field(a[0]) + twin.person_field(a[1]) != twin.person_field(b[0]) + twin.person_field(b[1])
    assert twin.value_field(0) != twin.value_field(0.0)


def test_negative_zero_is_zero_and_clipped_values_are_their_ends():
    mechanism, n = ldp.SignBit(-1, 1, 1.0), 300
    keys = ldp.PersonKeys(SECRET, np.arange(n), question="q")
    assert np.array_equal(
        mechanism.privatize(np.full(n, -0.0), rng=keys), mechanism.privatize(np.full(n, 0.0), rng=keys)
    )
    clipped = mechanism.privatize(np.full(n, 7.0), rng=keys, clip=True)
    assert np.array_equal(clipped, mechanism.privatize(np.full(n, 1.0), rng=keys))
    center = mechanism.privatize(np.full(n, np.nan), rng=keys, clip=True)
    assert np.array_equal(center, mechanism.privatize(np.zeros(n), rng=keys))


def test_precision_does_not_change_the_keys_of_equal_numbers():
    mechanism = ldp.SignBit(0, 1, 1.0)
    x = np.arange(64) / 64
    keys = ldp.PersonKeys(SECRET, np.arange(64), question="q")
    assert np.array_equal(mechanism.privatize(x, rng=keys), mechanism.privatize(x.astype(np.float32), rng=keys))


def test_problems_and_python_mechanisms_accept_keys():
    words_ = Frequencies(["a", "b", "c"], 1.0)
    keys = ldp.PersonKeys(SECRET, [1, 2, 3, 4], question="word")
    reports = words_.privatize(["a", "c", "b", "a"], rng=keys)
    assert np.array_equal(reports, words_.privatize(["a", "c", "b", "a"], rng=keys))
    assert words_.run(["a", "c", "b", "a"], rng=keys) == words_.estimate(reports)
    box = VectorMean(2, 1.0, norm="linf", lower=[-1, -2], upper=[1, 3])
    rows = np.zeros((4, 2))
    assert np.array_equal(box.privatize(rows, rng=keys), box.privatize(rows, rng=keys))
    with pytest.raises(ValueError, match="x must be"):
        box.privatize(rows + 9, rng=keys)


# Surveys --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answers", [1, 3])
def test_reports_of_surveys_are_those_of_the_derived_keys(answers):
    survey, n = Survey(questions(True), 4.0, answers=answers), 400
    frame = people(n, missing=0.2)
    who = [f"p{i}" for i in range(n)]
    table = survey.privatize({**frame, "who": who}, rng=ldp.PersonKeys(SECRET, "who"))
    series = schemas.digest({"series": "", "epsilon": 4.0, "answers": answers, "waves": None, "turns": 1})
    for i in range(n):
        asked = twin.asked(SECRET, series, who[i], dict.fromkeys(survey.mechanisms, 1), answers)
        for name in survey.mechanisms:
            report = table.column(name)[i].as_py()
            assert (report is not None) == (name in asked)
            if report is not None:
                question = survey.questions[name]
                parts = [question.a, question.b] if isinstance(question, Cross) else [name]
                cells = [(survey.questions[part], frame[part][i]) for part in parts]
                values_ = [canonical(*cell) for cell in cells]
                own = twin.record_key(SECRET, series, name, description(survey, name), who[i], *values_)
                code = 0
                for place, (part, cell) in enumerate(cells):
                    code = code * part.k + symbol(part, cell, int(words(own, 42 + place, 0, 1, np.uint64)[0]))
                mechanism = survey.mechanisms[name]
                record = np.array([code], mechanism.domain.dtype)
                assert report == mechanism.report.pack(report_of(mechanism, own, record)[np.newaxis]).tobytes()


def description(survey, name):
    """Return the digest of what fixes the reports to a question: its parts without columns, and the mechanism's integers."""
    question, mechanism = survey.questions[name], survey.mechanisms[name]
    names = [question.a, question.b] if isinstance(question, Cross) else [name]
    parts = [survey.questions[part] for part in names]
    asks = [{key: value for key, value in part.to_dict().items() if key != "column"} for part in parts]
    coins = {"epsilon": mechanism.epsilon_realized, "coins": schemas.integers(mechanism._coin)}
    of = {"of": names} if len(names) > 1 else {}
    return schemas.digest({"version": 1, "asks": asks, **of, "mechanism": type(mechanism).__name__, **coins})


@pytest.mark.parametrize("answers, weights", [(1, {"code": 5, "age": 0}), (1, None), (2, None)])
def test_a_changed_survey_moves_only_the_people_who_draw_the_change(answers, weights):
    """Questions that stay keep their people and their reports, unless a person draws the question that was added."""
    asked = {"color": Choice(3, optional=True), "age": Mean(0, 100), "smoker": YesNo(), "code": Choice(9)}
    n, who = 3000, np.arange(3000)
    frame = {"color": who % 3, "age": who % 100, "smoker": who % 2, "code": who % 9, "new": who % 4}
    before = Survey(asked, 2.0, answers=answers, weights=weights, series="health")
    after = Survey({"new": Choice(4), **asked}, 2.0, answers=answers, weights=weights, series="health")
    first, second = (survey.privatize(frame, rng=ldp.PersonKeys(SECRET, who)) for survey in (before, after))
    moved = second.column("new").is_valid().to_numpy()
    share = answers * 1 / (len(before.mechanisms) + 1) if weights is None else 1 / 8
    assert abs(moved.mean() - share) < 5 * (share * (1 - share) / n) ** 0.5
    for name in before.mechanisms:
        one, other = first.column(name).to_pylist(), second.column(name).to_pylist()
        assert [a for a, changed in zip(one, moved, strict=True) if not changed] == [
            b for b, changed in zip(other, moved, strict=True) if not changed
        ]
        assert all(b is None or a == b for a, b in zip(one, other, strict=True))
    for changed in (
        Survey(asked, 2.5, answers=answers, weights=weights, series="health"),
        Survey(asked, 2.0, answers=answers, weights=weights, series="habits"),
    ):
        table = changed.privatize(frame, rng=ldp.PersonKeys(SECRET, who))
        same = [a == b for a, b in zip(first.column("code").to_pylist(), table.column("code").to_pylist(), strict=True)]
        assert np.mean(same) < 0.9
    alone = {**asked, "code": Choice([*range(9), 9])}
    table = Survey(alone, 2.0, answers=answers, weights=weights, series="health").privatize(
        frame, rng=ldp.PersonKeys(SECRET, who)
    )
    assert table.column("smoker") == first.column("smoker")
    assert table.column("code").is_valid() == first.column("code").is_valid()
    assert table.column("code") != first.column("code")


@pytest.mark.parametrize("weights, n", [({"a": 1, "b": 2, "c": 5}, 40_000), ({"a": 1000, "b": 24}, 4_000)])
def test_questions_are_drawn_with_their_weights(weights, n):
    survey = Survey({name: YesNo() for name in weights}, 1.0, weights=weights)
    table = survey.privatize({name: np.zeros(n, bool) for name in weights}, rng=ldp.PersonKeys(SECRET, np.arange(n)))
    counts = [int(table.column(name).is_valid().to_numpy().sum()) for name in weights]
    expected = np.array(list(weights.values())) * n / sum(weights.values())
    assert chisquare(counts, expected).pvalue > 1e-5


def canonical(question, cell):
    if isinstance(question, Mean):
        return float("nan") if cell is None else float(cell)
    return symbol(question, cell, 0)


def test_numbers_are_rounded_up_exactly_above_the_random_number():
    """A number equal to the uniform number of its key becomes the lower end, the next larger one the upper end."""
    keys = np.random.default_rng(1).integers(0, 256, (40, 32), dtype=np.uint8)
    for part in (0, 1, 3):
        uniform = (person.rounding_words(keys, part) >> np.uint64(11)).astype(float) * 2.0**-53
        mean, cells = column_of(Mean(-1, 1)), 2 * uniform - 1
        assert not mean.encoded(cells, keys, part).any()
        assert mean.encoded(cells + 2.0**-51, keys, part).all()
        steps = column_of(Mean(0, 1, optional=True, resolution=0.125))
        expected = [int(u < 0.375) for u in uniform.tolist()]
        assert steps.encoded(np.full(40, 3, np.uint32), keys, part).tolist() == expected
        for cell, code in ((0, 0), (8, 1), (9, 2)):  # the ends, and no value
            assert (steps.encoded(np.full(40, cell, np.uint32), keys, part) == code).all()


def test_surveys_give_the_same_reports_at_every_attempt():
    survey, n = Survey(questions(True), 4.0, answers=2), 30_000
    frame = {**people(n, missing=0.1), "id": np.arange(n)}
    keys = ldp.PersonKeys(SECRET, "id")
    first = survey.privatize(frame, rng=keys)
    order = np.random.default_rng(1).permutation(n)
    table = pa.table({name: pa.array(values, from_pandas=True) for name, values in frame.items()}).take(pa.array(order))
    shuffled = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=777))
    assert survey.privatize(shuffled, rng=keys).equals(first.take(pa.array(order)))
    arrays = ldp.PersonKeys(SECRET, np.arange(n))
    assert survey.privatize(frame, rng=arrays).equals(first)
    assert survey.run(frame, rng=keys).to_dict() == survey.estimate(first).to_dict()
    records = [{name: values[i] for name, values in frame.items()} for i in range(60)]
    messages = [survey.client(SECRET, i).answer(record) for i, record in enumerate(records)]
    assert survey.aggregator().update(messages) == survey.aggregator().update(first.slice(0, 60))
    groups = (
        survey.run(frame, by="id", rng=keys)
        if n < 10
        else survey.run({**frame, "g": np.arange(n) % 2}, by="g", rng=keys)
    )
    assert groups[0].n == n / 2


@pytest.mark.claim("A person who occurs twice is refused where one call sees both rows.", "Surveys and ledgers")
def test_rows_of_a_stream_have_their_own_persons():
    survey, n = Survey({"q": YesNo()}, 1.0), 64 * 8192
    table = pa.table({"q": pa.chunked_array([np.ones(n, bool), np.ones(n, bool)])})
    with pytest.raises(ValueError, match=f"one per record, got {n} for at least {n + 1}|got {n} for at least {2 * n}"):
        survey.privatize(table, rng=ldp.PersonKeys(SECRET, np.arange(n)))
    for persons in (n - 1, n + 1):
        with pytest.raises(ValueError, match=f"one per record, got {persons} for"):
            survey.run(table.slice(0, n), rng=ldp.PersonKeys(SECRET, np.arange(persons)))
    keys = ldp.PersonKeys(SECRET, np.arange(n // 8))
    part = table.slice(0, n // 8)
    parts = pa.RecordBatchReader.from_batches(part.schema, part.to_batches(max_chunksize=9000))
    assert survey.privatize(parts, rng=keys).equals(survey.privatize(part, rng=keys))
    with pytest.raises(ValueError, match="persons must be different"):
        survey.run({"q": np.ones(9, bool), "id": np.arange(9) % 3}, rng=ldp.PersonKeys(SECRET, "id"))


@pytest.mark.claim("Which questions a person is asked does not depend on the answers.", "Surveys and ledgers")
def test_a_changed_cell_does_not_change_the_questions():
    survey, n = Survey(questions(True), 4.0, answers=2), 2000
    frame = {**people(n), "id": np.arange(n)}
    other = {**people(n, seed=2), "id": np.arange(n)}
    keys = ldp.PersonKeys(SECRET, "id")
    for name in survey.mechanisms:
        one, two = (survey.privatize(f, rng=keys).column(name).is_null() for f in (frame, other))
        assert one.equals(two)


# Vectors for clients in other languages -------------------------------------------------------------------------------

VECTORS = Path(__file__).parent / "support" / "survey_vectors.json"


def survey_vectors() -> dict:
    survey = Survey(
        {
            "smoker": YesNo(optional=True),
            "age": Mean(0, 100, optional=True, column="years"),
            "region": Choice(["north", "south", "östlich"], optional=True),
            "born": Choice([datetime.date(1950, 1, 1), datetime.date(2000, 1, 1)], optional=True),
            "income": Histogram([0, 10, 20.5, 40], optional=True),
            "age and smoking": Cross("age", "smoker"),
        },
        3.0,
        answers=2,
    )
    records = [
        {"smoker": True, "years": 33.25, "region": "östlich", "income": 12.0},
        {"smoker": False, "years": -7.0, "region": "west"},
        {},
    ]
    persons: list = [7, "Ada", "\N{SNOWMAN}", -1]
    return {
        "schema": schemas.canonical_json(survey.schema()).decode(),
        "fingerprint": survey.fingerprint,
        "secret": SECRET.hex(),
        "messages": [
            {"person": who, "record": record, "message": survey.client(SECRET, who).answer(record).hex()}
            for who in persons
            for record in records
        ],
        "keys": [
            {
                "person": who,
                "question": question,
                "series": "00" * 32,
                "description": "ff" * 32,
                "values": list(values),
                "key": twin.record_key(SECRET, bytes(32), question, b"\xff" * 32, who, *values).hex(),
            }
            for who in persons
            for question, values in (("q", (3,)), ("long question \N{SNOWMAN}", (2.5,)), ("pair", (1, 0)))
        ],
    }


def test_shared_vectors():
    """Record again with ``python -m tests.test_person_keys`` after a change of the format, which needs a new version."""
    assert survey_vectors() == json.loads(VECTORS.read_text())


# Bad input ------------------------------------------------------------------------------------------------------------


@each(
    "arguments, error, message",
    [
        ((b"short", [1]), ValueError, "secret must be 32 bytes, got 5"),
        (("x" * 32, [1]), TypeError, "secret must be 32 bytes, got str"),
        ((SECRET, [1, 2, 1]), ValueError, "persons must be different, got 3 of which 2 are"),
        ((SECRET, ["a", "b", "a"]), ValueError, "persons must be different, got one 2 times"),
        (
            (SECRET, ["a", b"b"]),
            TypeError,
            r"persons must be integers in \[-2\^63, 2\^63\), all str, or all bytes, got bytes, str",
        ),
        ((SECRET, [1.5]), TypeError, "persons must be integers"),
        ((SECRET, [1 << 63]), TypeError, "got int: write larger integers as text"),
        ((SECRET, np.array([b"a\0"])), TypeError, "which loses zero bytes"),
        ((SECRET, {1: 2}), TypeError, "in the order of the records, got dict"),
        ((SECRET, ["\udc80"]), ValueError, "valid Unicode text"),
        ((SECRET, [[1]]), ValueError, r"persons must have shape \(n,\)"),
        ((SECRET, [None]), TypeError, "persons must be integers"),
    ],
)
def test_bad_arguments_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        ldp.PersonKeys(*arguments, question="q")


def test_bad_use_is_refused():
    mechanism = ldp.Warner(1.0)
    with pytest.raises(ValueError, match="question must be a non-empty text"):
        ldp.PersonKeys(SECRET, [1], question="")
    with pytest.raises(TypeError, match="question must be a str"):
        ldp.PersonKeys(SECRET, [1], question=3)
    with pytest.raises(ValueError, match="question must be the name of the question"):
        mechanism.privatize([1], rng=ldp.PersonKeys(SECRET, [1]))
    with pytest.raises(ValueError, match="persons must be one per record, got 1 for 2 records"):
        mechanism.privatize([1, 0], rng=ldp.PersonKeys(SECRET, [1], question="q"))
    with pytest.raises(ValueError, match="the name of a column, 'id'"):
        mechanism.privatize([1], rng=ldp.PersonKeys(SECRET, "id", question="q"))
    with pytest.raises(ValueError, match="question must be None in PersonKeys for a survey"):
        Survey({"a": YesNo()}, 1.0).privatize({"a": [True]}, rng=ldp.PersonKeys(SECRET, [1], question="q"))
    with pytest.raises(ValueError, match="one column 'id'"):
        Survey({"a": YesNo()}, 1.0).privatize({"a": [True]}, rng=ldp.PersonKeys(SECRET, "id"))
    with pytest.raises(ValueError, match="row 1 is outside"):
        Survey({"a": Mean(0, 1)}, 1.0).run({"a": [0.0, 2.0]}, rng=ldp.PersonKeys(SECRET, [1, 2]))
    with pytest.raises(ValueError, match=r"within 2\^53 of zero"):
        ldp.Bins([0.0], 1.0).privatize([1 << 60], rng=ldp.PersonKeys(SECRET, [1], question="q"))
    with pytest.raises(ValueError, match=r"index 1 is outside"):
        mechanism.privatize([1, 5], rng=ldp.PersonKeys(SECRET, [1, 2], question="q"))
    with pytest.raises(TypeError, match="rng must be"):
        ldp.estimation.MedianSGD(1.0, lower=0, upper=1).run(
            np.zeros(3), rng=ldp.PersonKeys(SECRET, [1, 2, 3], question="q")
        )


@pytest.mark.claim("The secret of `PersonKeys` is neither shown nor saved.", "Randomness")
def test_the_secret_is_neither_shown_nor_saved():
    keys = ldp.PersonKeys(SECRET, [1, 2], question="q")
    assert repr(keys) == "PersonKeys(<secret>, <2 persons>, question='q')"
    for save in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="hold a secret"):
            save(keys)


@each(
    "column",
    [
        pa.array([2**30, 1], pa.date32()),
        pa.array([2**62, 1], pa.timestamp("s")),
        pa.array([b"a", b"\xff"]).view(pa.string()),
        pa.DictionaryArray.from_arrays(pa.array([0, 5], pa.int8()), pa.array(["a", "b"]), safe=False),
    ],
    ids=lambda column: str(column.type),
)
def test_persons_that_python_does_not_have_are_refused_without_their_values(column):
    rule = re.escape("persons must be integers in [-2^63, 2^63), all str, or all bytes, got invalid values of type ")
    with pytest.raises(TypeError, match=f"^{rule}{re.escape(str(column.type))}$"):
        ldp.PersonKeys(SECRET, column, question="q")


def test_persons_in_every_kind_of_column():
    mechanism, who = ldp.Warner(0.1), [f"p{i}" for i in range(200)]
    x = np.ones(200, int)
    first = mechanism.privatize(x, rng=ldp.PersonKeys(SECRET, who, question="q"))
    for persons in (np.array(who), np.array(who, object), pd.Series(who), pa.array(who), tuple(who)):
        assert np.array_equal(first, mechanism.privatize(x, rng=ldp.PersonKeys(SECRET, persons, question="q")))
    numbers = mechanism.privatize(x, rng=ldp.PersonKeys(SECRET, range(200), question="q"))
    for dtype in ("int8", "uint8", "int64", "uint64"):
        persons = np.arange(200).astype(dtype) if dtype != "int8" else np.arange(200).astype(np.int16)
        assert np.array_equal(numbers, mechanism.privatize(x, rng=ldp.PersonKeys(SECRET, persons, question="q")))
        nobody = ldp.PersonKeys(SECRET, persons[:0], question="q")
        assert mechanism.privatize(x[:0], rng=nobody).shape == (0,)


if __name__ == "__main__":
    VECTORS.write_text(json.dumps(survey_vectors(), indent=1, ensure_ascii=False) + "\n")


@pytest.mark.parametrize("outside, inside", [(-np.inf, 1e15), (1e300, 1e15 + 0.125)])
def test_clipped_records_have_the_reports_of_the_ends_of_a_box(outside, inside):
    """The center of this box is rounded to its lower end, which is encoded as 0 and not as -1."""
    problem, people = VectorMean(1, 1.0, norm="linf", lower=1e15, upper=1e15 + 0.125), np.arange(200)
    reports = [
        problem.privatize(np.full((200, 1), x), rng=ldp.PersonKeys(SECRET, people, question="q"), clip=True)
        for x in (outside, inside)
    ]
    assert np.array_equal(*reports)


def test_numbers_at_the_ends_of_a_survey_question_are_inside():
    survey = Survey({"hours": Mean(0, 10), "age": Histogram([0, 5, 10])}, epsilon=1.0)
    people = {"hours": [0.0, 10.0, 5.0], "age": [0.0, 5.0, 9.9]}
    keys = ldp.PersonKeys(bytes(32), ["a", "b", "c"])
    assert len(survey.privatize(people, rng=keys)) == 3
    for column, rows in (("hours", [0.0, 10.001, 5.0]), ("hours", [-0.001, 1.0, 5.0])):
        with pytest.raises(ValueError, match="hours"):
            survey.privatize({**people, column: rows}, rng=keys)


def test_categories_of_64_bits_are_accepted_below_2_to_the_32():
    mechanism, keys = (
        ldp.RandomizedResponse((1 << 32) + 1, 30.0),
        ldp.PersonKeys(bytes(32), ["a", "b"], question="town"),
    )
    assert mechanism.domain.dtype == np.uint64
    codes = np.array([3, (1 << 32) - 1], np.uint64)
    assert (mechanism.privatize(codes, rng=keys) == codes).all()
    with pytest.raises(ValueError, match=r"^x must be categories below 2\^32 with PersonKeys$"):
        mechanism.privatize(np.array([3, 1 << 32], np.uint64), rng=keys)
