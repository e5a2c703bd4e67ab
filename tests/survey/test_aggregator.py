"""Messages, tables and saved states of surveys."""

from __future__ import annotations

import copy
import datetime
import hashlib
import itertools
import struct
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpfast as ldp
from ldpfast.estimation import GaussianMean, MedianSGD
from ldpfast.reports import Aggregator
from ldpfast.reports._aggregator import MAGIC
from ldpfast.survey import Survey, YesNo
from ldpfast.survey._messages import messages_of as survey_messages

from ..support.cases import each
from ..support.errors import raises
from ..support.internals.kernels import FAULTS, message_faults, split_messages
from ..support.internals.shared import envelope
from ..support.surveys import SURVEYS, people, questions

SURVEY = Survey(questions(True), 4.0, answers=2)
TABLE = SURVEY.privatize(people(900, missing=0.1), rng=1)
WHOLE = SURVEY.aggregator().update(TABLE)


def messages_of(survey: Survey, table: pa.Table) -> list[bytes]:
    """Return the rows of a table of reports as messages."""
    rows = zip(*(table.column(name).to_pylist() for name in survey.mechanisms), strict=True)
    head = b"\x01" + bytes.fromhex(survey.fingerprint)
    return [
        head + b"".join(q.to_bytes(2, "little") + report for q, report in enumerate(row) if report is not None)
        for row in rows
    ]


MESSAGES = messages_of(SURVEY, TABLE)


def test_messages_and_tables_count_alike():
    assert SURVEY.aggregator().update(MESSAGES) == WHOLE
    assert SURVEY.aggregator().update(pa.array(MESSAGES)) == WHOLE
    assert SURVEY.aggregator().update(pa.array([b"x", *MESSAGES], pa.large_binary()).slice(1)) == WHOLE
    assert SURVEY.aggregator().update(pa.chunked_array([MESSAGES[:3], MESSAGES[3:]])) == WHOLE
    assert SURVEY.aggregator().update([bytearray(m) for m in MESSAGES]) == WHOLE
    one = SURVEY.aggregator().update(MESSAGES[0])
    assert one == SURVEY.aggregator().update(TABLE.slice(0, 1))
    assert WHOLE.n == 900


@each("name", SURVEYS)
def test_tables_become_messages(name):
    survey = SURVEYS[name]
    table = survey.privatize(people(70), rng=3)
    assert survey_messages(survey._recipe, table).to_pylist() == messages_of(survey, table)
    assert survey_messages(survey._recipe, table.slice(9, 20)).to_pylist() == messages_of(survey, table)[9:29]
    assert survey_messages(survey._recipe, table.slice(0, 0)).to_pylist() == []


@pytest.mark.claim(
    "A survey message has as many answers as the design says, and a length that follows from the questions.",
    "Surveys and ledgers",
)
def test_a_message_has_the_documented_size():
    for message in MESSAGES:
        sizes = [m.report.nbytes for m in SURVEY.mechanisms.values()]
        first, second = message[9], message[11 + sizes[message[9]]]
        assert first < second
        assert len(message) == 9 + 2 * 2 + sizes[first] + sizes[second]


@given(st.data())
def test_merge_of_any_split_is_the_whole(data):
    cuts = sorted(data.draw(st.lists(st.integers(0, 900), max_size=4)))
    order = data.draw(st.permutations(range(len(cuts) + 1)))
    parts = [
        SURVEY.aggregator().update(TABLE.slice(start, stop - start))
        for start, stop in itertools.pairwise([0, *cuts, 900])
    ]
    merged = SURVEY.aggregator()
    for i in order:
        merged.merge(Aggregator.from_bytes(parts[i].to_bytes()))
    assert merged == WHOLE


@given(st.permutations(range(40)))
def test_the_order_of_messages_does_not_matter(order):
    assert SURVEY.aggregator().update([MESSAGES[i] for i in order]) == SURVEY.aggregator().update(MESSAGES[:40])


def test_parquet_files_explain_themselves(tmp_path):
    pq.write_table(TABLE, tmp_path / "reports.parquet")
    again = pq.read_table(tmp_path / "reports.parquet")
    assert SURVEY.aggregator().update(again) == WHOLE
    assert SURVEY.aggregator().update(pa.Table.from_batches(TABLE.to_batches(max_chunksize=7))) == WHOLE


def test_every_saved_state_is_opened_by_one_function():
    found = ldp.Aggregator.from_bytes(WHOLE.to_bytes())
    assert isinstance(found, Aggregator)
    assert found == WHOLE
    assert found.question == SURVEY
    assert isinstance(ldp.Aggregator.from_bytes(MedianSGD(1.0, lower=0, upper=100).to_bytes()), MedianSGD)
    assert isinstance(ldp.Aggregator.from_bytes(GaussianMean(1.0, sigma=1.0, mu_bound=10).to_bytes()), GaussianMean)
    mechanism = ldp.Warner(1.0).aggregator()
    assert ldp.Aggregator.from_bytes(mechanism.to_bytes()) == mechanism


def test_copies_do_not_share_counts():
    other = copy.copy(WHOLE)
    other.update(MESSAGES[:2])
    assert WHOLE.n == 900
    assert other.n == 902
    assert other != WHOLE
    assert WHOLE != 3


def test_batches_are_counted_once():
    aggregator = SURVEY.aggregator().update(MESSAGES[:5], batch="a")
    with pytest.raises(ValueError, match="batch must be new, got 'a'"):
        aggregator.update(MESSAGES[5:9], batch="a")
    again = Aggregator.from_bytes(aggregator.to_bytes())
    with pytest.raises(ValueError, match="batch must be new"):
        again.update(MESSAGES[5:9], batch="a")
    with pytest.raises(ValueError, match="no batch that was already counted"):
        aggregator.merge(again)
    with pytest.raises(TypeError, match="batch must be a str"):
        aggregator.update(MESSAGES[5:9], batch=3)
    assert aggregator.n == 5


# Bad input ------------------------------------------------------------------------------------------------------------

OTHER = Survey(questions(True), 4.5, answers=2)
THREE = Survey(questions(True), 4.0, answers=3)


def changed(message: bytes, at: int, value: int) -> bytes:
    return message[:at] + bytes([value]) + message[at + 1 :]


def bad_messages():
    m = MESSAGES[0]
    first = m[9:]
    yield "version", changed(m, 0, 2), "messages of version 1, got 2 at index 3"
    yield "foreign", b"\x01" + bytes.fromhex(OTHER.fingerprint) + m[9:], "must answer the survey with the fingerprint"
    yield "empty", b"", "messages with 2 answers and nothing else; that at index 3 is not"
    yield "cut head", m[:8], "messages with 2 answers and nothing else; that at index 3 is not"
    yield "cut number", m[:10], "messages with 2 answers and nothing else; that at index 3 is not"
    yield "cut", m[:-1], "messages with 2 answers"
    yield "long", m + b"\0", "messages with 2 answers"
    yield "question", changed(m, 9, 99), "numbers of questions below 8"
    yield "high question", changed(m, 10, 1), "numbers of questions below 8"
    size = list(SURVEY.mechanisms.values())[m[9]].report.nbytes
    yield "twice", m[:9] + first[: 2 + size] * 2, "different questions in ascending order"


@each("message, error", [pytest.param(m, e, id=name) for name, m, e in bad_messages()])
def test_bad_messages_are_refused(message, error):
    aggregator = copy.copy(WHOLE)
    for many in ([*MESSAGES[:3], message, MESSAGES[4]], pa.array([*MESSAGES[:3], message])):
        with pytest.raises(ValueError, match=error):
            aggregator.update(many)
    assert aggregator == WHOLE


def test_invalid_reports_in_messages_are_refused():
    survey = SURVEYS["single"]
    message = messages_of(survey, survey.privatize({"smoker": np.ones(1, bool)}, rng=1))[0]
    aggregator = survey.aggregator()
    rule = r"^reports must be those of RandomizedResponse for question 'smoker'; that at index 1 is not$"
    with pytest.raises(ValueError, match=rule):
        aggregator.update([message, message[:-1] + b"\x07"])
    assert aggregator.n == 0


def test_numbers_of_questions_have_two_bytes():
    """A survey of 600 questions. The low byte comes first: 2 and 258, 1 and 256, 2 and 512 differ in one byte."""
    head, sizes, asked = b"\x01" + bytes(range(8)), np.arange(1, 601) % 7, [(2, 258), (1, 256), (255, 599), (258, 512)]
    reports = [[bytes([i + 1, a] * 7)[: sizes[q]] for a, q in enumerate(pair)] for i, pair in enumerate(asked)]
    messages = [
        head + b"".join(q.to_bytes(2, "little") + report for q, report in zip(pair, own, strict=True))
        for pair, own in zip(asked, reports, strict=True)
    ]
    ends = np.cumsum([0, *map(len, messages)])
    questions, packed, fault = split_messages(b"".join(messages), ends, head, sizes, 2)
    assert fault is None
    assert questions.tolist() == [list(pair) for pair in asked]
    for number, part in enumerate(packed):
        own = [
            r for pair, row in zip(asked, reports, strict=True) for q, r in zip(pair, row, strict=True) if q == number
        ]
        assert part.tobytes() == b"".join(own)
    assert message_faults(b"".join(messages), ends, head, sizes, 2).tolist() == [0] * 4
    for number, name in ((600, "question"), (65_535, "question"), (2, "order"), (1, "order")):
        wrong = messages[0][: 11 + sizes[2]] + number.to_bytes(2, "little") + reports[0][1]
        assert message_faults(wrong, np.array([0, len(wrong)]), head, sizes, 2).tolist() == [FAULTS.index(name)]


def test_an_invalid_report_is_named_by_its_question_and_its_place_in_the_whole_input():
    asked = TABLE.column("code").is_valid().to_numpy()
    place, number = int(np.flatnonzero(asked)[7]), SURVEY._recipe.names.index("code")
    cells = TABLE.column("code").to_pylist()
    cells[place] = bytes([cells[place][0] ^ 1]) + cells[place][1:]  # one member more or less
    table = TABLE.set_column(number, TABLE.schema.field(number), pa.array(cells, TABLE.schema.field(number).type))
    for reports, where in (
        (messages_of(SURVEY, table), "that at index"),
        (table, "row"),
        (pa.Table.from_batches(table.to_batches(max_chunksize=10)), "row"),
    ):
        aggregator = copy.copy(WHOLE)
        with raises(
            ValueError, f"reports must be those of SubsetSelection for question 'code'; {where} {place} is not"
        ):
            aggregator.update(reports)
        assert aggregator == WHOLE


@each(
    "reports, error, message",
    [
        (3, TypeError, "Arrow table or a list of messages, got int"),
        (["a"], TypeError, "type bytes, got str at index 0"),
        ([b"abc", 3], TypeError, "type bytes, got int at index 1"),
        (pa.array([b"a", None]), ValueError, "without null"),
        (TABLE.replace_schema_metadata(None), ValueError, "schema of its survey in the metadata"),
        (TABLE.replace_schema_metadata({"ldpfast": b"{"}), ValueError, 'schema under "ldpfast"'),
        (OTHER.privatize(people(9, missing=0.1)), ValueError, "same survey: epsilon is 4, got 4.5"),
        (THREE.privatize(people(9, missing=0.1)), ValueError, "same survey: answers is 2, got 3"),
        (TABLE.drop_columns(["age"]), ValueError, "one column 'age'"),
        (TABLE.drop_columns(["ldpfast"]), ValueError, "one column 'ldpfast'"),
        (
            TABLE.set_column(0, "age", pa.nulls(900, pa.binary(5))),
            TypeError,
            "column 'age' of fixed-size binary with 1 bytes",
        ),
        (TABLE.set_column(0, "age", pa.nulls(900, pa.binary(1))), ValueError, "2 answers in every row"),
        (pa.table({"a": [1]}), ValueError, "schema of its survey"),
    ],
)
def test_bad_tables_are_refused(reports, error, message):
    aggregator = copy.copy(WHOLE)
    with pytest.raises(error, match=message):
        aggregator.update(reports)
    assert aggregator == WHOLE


def test_joined_tables_of_two_surveys_are_refused():
    other = OTHER.privatize(people(9, missing=0.1))
    joined = pa.concat_tables([TABLE, other])
    aggregator = copy.copy(WHOLE)
    with pytest.raises(ValueError, match="got rows of another survey"):
        aggregator.update(joined)
    assert aggregator == WHOLE


def test_aggregators_of_other_surveys_are_not_merged():
    aggregator = copy.copy(WHOLE)
    with pytest.raises(ValueError, match=r"same question: epsilon is 4, got 4\.5"):
        aggregator.merge(OTHER.aggregator())
    for same in (aggregator, ldp.Warner(1.0).aggregator()):
        with pytest.raises(ValueError, match="other must be another aggregator"):
            same.merge(same)
    assert SURVEY.aggregator().update(pa.chunked_array([], pa.binary())).n == 0
    with pytest.raises(ValueError, match='same question: survey is "Survey", got nothing'):
        aggregator.merge(ldp.Warner(1.0).aggregator())
    assert aggregator == WHOLE
    with pytest.raises(ValueError, match="an estimate needs at least 1 report"):
        SURVEY.aggregator().estimate()
    single = SURVEY.aggregator().update(TABLE.slice(0, 1)).estimate()
    assert [answer.n > 0 for answer in single.values()] == [
        not np.isnan(answer.value).any() for answer in single.values()
    ]
    assert 0 < sum(answer.n for answer in single.values()) <= 3


@given(st.integers(0, len(WHOLE.to_bytes()) - 1), st.integers(1, 255))
def test_damaged_states_are_refused(at, change):
    data = bytearray(WHOLE.to_bytes())
    data[at] ^= change
    with pytest.raises(ValueError, match="data must"):
        ldp.Aggregator.from_bytes(bytes(data))


@each(
    "change",
    [
        {"n": -1},
        {"n": 899},
        {"n": "x"},
        {"counts": 3},
        {"batches": [1]},
        {"schema": {}},
        {"schema": {**SURVEY.schema(), "version": 9}},
    ],
)
def test_impossible_states_are_refused(change):
    header, payload = envelope.unseal(MAGIC.plain, "a survey", WHOLE.to_bytes())
    with pytest.raises(ValueError, match="data must"):
        Aggregator.from_bytes(envelope.seal(MAGIC.plain, {**header, **change}, payload))
    with pytest.raises(ValueError, match="must hold a state of"):
        Aggregator.from_bytes(envelope.seal(MAGIC.plain, header, payload[:-8]))
    assert Aggregator.from_bytes(envelope.seal(MAGIC.plain, header, payload)) == WHOLE


@each("number", range(len(SURVEY._recipe.items) + len(SURVEY._recipe.pairs)))
@each("value", [-1, 901])
def test_impossible_counts_are_refused(number, value):
    header, payload = envelope.unseal(MAGIC.plain, "a survey", WHOLE.to_bytes())
    forged = bytearray(payload)
    forged[8 * number : 8 * number + 8] = value.to_bytes(8, "little", signed=True)
    with pytest.raises(ValueError, match="data must hold a state that n = 900"):
        Aggregator.from_bytes(envelope.seal(MAGIC.plain, header, bytes(forged)))


# Clients --------------------------------------------------------------------------------------------------------------


class Hostile:
    """A value whose methods raise."""

    __hash__ = None

    def __eq__(self, other):
        raise RuntimeError

    def __float__(self):
        raise RecursionError


@pytest.mark.claim("A client of a survey never raises an error because of a value.", "Clients")
def test_clients_answer_and_never_raise_because_of_a_value():
    client = SURVEY.client()
    records = [
        {"age": 40, "smoker": True, "region": "north", "income": 3.5, "decade": 1950, "code": 7},
        {"age": "forty", "smoker": "yes", "region": 3, "income": None, "decade": [], "code": object()},
        {"age": 10**400, "smoker": 2, "region": np.nan, "income": -(10**400), "decade": b"", "code": -1, "more": 1},
        {"age": float("inf"), "income": float("nan")},
        {
            "age": Decimal("sNaN"),
            "smoker": Decimal("sNaN"),
            "region": Hostile(),
            "income": Hostile(),
            "code": np.ma.masked,
        },
        {"age": datetime.datetime(2020, 1, 1, 18), "code": True},
    ]
    aggregator = SURVEY.aggregator().update([client.answer(record) for record in records * 50])
    assert aggregator.n == 300


def test_messages_of_clients_have_the_distribution_of_the_survey():
    survey = Survey({"a": YesNo(optional=True), "b": YesNo(optional=True)}, 2.0)
    client, n = survey.client(), 12_000
    aggregator = survey.aggregator().update([client.answer({"a": i % 4 == 0, "b": None}) for i in range(n)])
    result = aggregator.estimate()
    assert abs(result["a"].value - 0.25) < 5 * result["a"].stderr
    assert abs(result["b"].missing.value - 1) < 5 * result["b"].missing.stderr
    assert abs(result["a"].n - n / 2) < 5 * (n / 4) ** 0.5


def test_clients_need_optional_questions():
    with pytest.raises(ValueError, match=r"every question must be optional for a client.*'smoker'"):
        SURVEYS["single"].client()
    with pytest.raises(KeyError, match="at least one of the columns 'age', 'smoker'"):
        SURVEY.client().answer({"Age": 3})
    with pytest.raises(TypeError, match="record must be a mapping"):
        SURVEY.client().answer([1])
    with pytest.raises(ValueError, match="secret and person must be given together"):
        SURVEY.client(secret=bytes(32))


def test_counts_of_pairs_hold_all_who_answered_both():
    """With all questions answered, everybody is in every pair; fewer were possible once."""
    survey = SURVEYS["all"]
    data = survey.collect(people(300), rng=1).to_bytes()
    (length,) = struct.unpack_from("<Q", data, 8)
    place = 16 + length + 8 * len(survey.mechanisms)  # the first pair
    assert struct.unpack_from("<q", data, place) == (300,)
    for both in (299, 301):
        body = data[:place] + struct.pack("<q", both) + data[place + 8 : -16]
        with pytest.raises(ValueError, match="data must hold a state that n = 300 reports can have"):
            ldp.load(body + hashlib.blake2b(body, digest_size=16).digest())


# Reports of a survey as those of other questions ----------------------------------------------------------------------


@each("name", SURVEYS)
def test_a_row_becomes_the_message_of_a_client(name):
    survey = SURVEYS[name]
    table = survey.privatize(people(3), rng=3)
    assert survey.to_arrow(table).equals(table)
    assert [survey.message(table.slice(i, 1)) for i in range(3)] == messages_of(survey, table)
    with pytest.raises(ValueError, match=r"^report must be one report, got 3$"):
        survey.message(table)


def test_reports_of_other_surveys_are_neither_messages_nor_tables():
    for call in (SURVEY.to_arrow, SURVEY.message):
        with pytest.raises(ValueError, match="reports must answer the same survey"):
            call(OTHER.privatize(people(1, missing=0.1)))
        with pytest.raises(TypeError, match="reports must be an Arrow table"):
            call(3)
