"""Messages and Arrow tables: reports that say which question they answer."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldpfast as ldp
from ldpfast.estimation import Frequencies, VectorMean
from ldpfast.reports import recipe_of
from ldpfast.reports._labeled_reports import messages_of

from ..cards import KINDS
from ..support.aggregation import reports_of
from ..support.cases import each
from ..support.errors import raises
from ..support.examples import assert_same
from ..support.internals.shared import schemas
from ..support.one_shot import PROBLEMS

VECTORS = Path(__file__).parent.parent / "support" / "labels.json"


def questions():
    """Yield a name, a question and its reports, of records in both precisions where reports have both."""
    for kind in KINDS:
        yield str(kind), kind.mechanism, reports_of(kind, 20)
    for name, (problem, draw) in PROBLEMS.items():
        yield name, problem, problem.privatize(draw(np.random.default_rng(1), 20), rng=1)
    for dtype in (np.float32, np.float64):
        mechanism = ldp.L2Ball(3, 1.0)
        yield f"l2 {dtype.__name__}", mechanism, mechanism.privatize(np.zeros((20, 3), dtype), rng=1)


ASKED = {name: (question, reports) for name, question, reports in questions()}


each_asked = each("asked", ASKED.values(), ids=ASKED)


@each_asked
def test_messages_are_counted_like_plain_reports(asked):
    question, reports = asked
    messages = [question.message(report) for report in reports]
    plain = question.aggregator().update(reports)
    assert question.aggregator().update(messages) == plain
    one_by_one = question.aggregator()
    for message in reversed(messages):
        one_by_one.update([memoryview(message)])
    assert one_by_one == plain


@each_asked
def test_messages_in_arrow_arrays(asked):
    question, reports = asked
    found = messages_of(recipe_of(question).report, recipe_of(question).label, reports)
    assert found.to_pylist() == [question.message(report) for report in reports]
    plain = question.aggregator().update(reports)
    for messages in (found, found.slice(5), pa.chunked_array([found.slice(0, 5), found.slice(5)])):
        whole = len(messages) == len(found)
        assert question.aggregator().update(messages) == (plain if whole else question.aggregator().update(reports[5:]))
    assert question.aggregator().update(found.slice(0, 0)) == question.aggregator()
    with raises(ValueError, "reports must be messages without null, got 1 nulls"):
        question.aggregator().update(pa.array([*found.to_pylist(), None]))


@each_asked
def test_tables_are_counted_like_plain_reports(asked, tmp_path):
    """Also from a Parquet file, in several chunks, in slices, and with people who were not asked."""
    question, reports = asked
    table, plain = question.to_arrow(reports), question.aggregator().update(reports)
    assert_same(question.from_arrow(table), np.asarray(reports))
    assert question.aggregator().update(table) == plain
    pq.write_table(table, tmp_path / "reports.parquet", row_group_size=7)
    assert question.aggregator().update(pq.read_table(tmp_path / "reports.parquet")) == plain
    parts = pa.concat_tables([table.slice(0, 3), table.slice(3, 0), table.slice(3)])
    assert question.aggregator().update(parts) == plain
    columns = [parts.column(name).to_pylist() for name in parts.column_names]
    missing = []
    for column, field in zip(columns, table.schema, strict=True):
        missing.append(pa.array([None, *column[:5], None, *column[5:]], field.type))
    assert question.aggregator().update(pa.table(missing, schema=table.schema)) == plain
    assert question.aggregator().update(table.slice(0, 0)) == question.aggregator()
    assert question.aggregator().update(question.to_arrow(reports[:0])) == question.aggregator()


@each_asked
def test_a_table_explains_itself(asked):
    question, reports = asked
    metadata = question.to_arrow(reports).schema.metadata
    assert schemas.read_json(metadata[b"ldpfast"])["asks"] == json.loads(schemas.canonical_json(question.to_dict()))
    assert metadata[b"ldpfast"] == schemas.canonical_json(question.schema())


# Wrong labels ---------------------------------------------------------------------------------------------------------


@pytest.mark.claim("Messages that answer another question are refused.", "Saved states")
def test_messages_of_another_question_are_refused():
    ours, theirs = Frequencies(["a", "b"], 1.0), Frequencies(["b", "a"], 1.0)
    messages = [question.message(question.privatize("a", rng=1)) for question in (ours, ours, theirs)]
    aggregator = ours.aggregator()
    with raises(
        ValueError,
        f"reports must answer question 0 with the fingerprint {ours.fingerprint}, "
        f"got question 0 with the fingerprint {theirs.fingerprint} at index 2",
    ):
        aggregator.update(messages, batch="a")
    assert aggregator == ours.aggregator()


def test_damaged_messages_are_refused():
    question = ldp.Warner(1.0)
    good = question.message(question.privatize(1, rng=1))
    assert len(good) == 12
    for messages, kind, message in (
        ([good[:-1]], ValueError, "reports must be messages of more than 11 bytes, got 11"),
        ([b""], ValueError, "reports must be messages of more than 11 bytes, got 0"),
        ([good, good + b"\0"], ValueError, "reports must be messages of one length, got 13 bytes at index 1 after 12"),
        ([good + b"\0"], ValueError, "reports must have 1 bytes each, got 2"),
        ([good, "text"], TypeError, "reports must be messages of type bytes, got str at index 1"),
        ([good, b"\2" + good[1:]], ValueError, "reports must be messages of version 1, got version 2 at index 1"),
        ([good[:-1] + b"\7"], ValueError, "reports must be codes in [0, 2); index 0 is outside"),
    ):
        aggregator = question.aggregator().update([good])
        with raises(kind, message):
            aggregator.update(messages)
        assert aggregator == question.aggregator().update([good])
    with raises(ValueError, "report must be one report, got 2"):
        question.message(np.zeros(2, np.uint8))


@each("label", ["message", "to_arrow"])
@each(
    "report, kind",
    [
        (np.array(2, np.uint8), ValueError),  # no code of two
        (np.array(np.nan), TypeError),
        (np.array(1, np.int64), TypeError),
        (np.zeros((1, 1), np.uint8), ValueError),
        ("1", TypeError),
        (None, TypeError),
    ],
    ids=str,
)
def test_what_is_not_a_report_gets_no_label(label, report, kind):
    with pytest.raises(kind, match=r"^reports must "):
        getattr(ldp.Warner(1.0), label)(report)


def test_tables_of_another_question_are_refused():
    ours = VectorMean(2, 1.0, norm="linf", lower=[0, 0], upper=[1, 1])
    theirs = VectorMean(2, 1.0, norm="linf", lower=[0, 0], upper=[1, 2])
    reports = ours.privatize([[0.5, 0.5]], rng=1)
    plain = ours.to_arrow(reports)
    for table, kind, message in (
        (theirs.to_arrow(reports), ValueError, "reports must answer the same question: upper[1] is 1, got 2"),
        (
            plain.replace_schema_metadata(None),
            ValueError,
            'reports must be a table with the schema of its question in the metadata, under "ldpfast"',
        ),
        (
            plain.rename_columns(["other", "question"]).replace_schema_metadata(plain.schema.metadata),
            ValueError,
            "reports must be a table with one column \"report\", got ['other', 'question']",
        ),
        (
            plain.drop_columns("question"),
            ValueError,
            "reports must be a table with one column \"question\", got ['report']",
        ),
        (
            plain.append_column("report", plain.column(0)),
            ValueError,
            "reports must be a table with one column \"report\", got ['report', 'question', 'report']",
        ),
        (
            plain.set_column(0, "report", [["x"]]).replace_schema_metadata(plain.schema.metadata),
            TypeError,
            'reports must have a column "report" of fixed-size binary, got type string',
        ),
        (
            plain.set_column(0, "report", pa.array([b"xyz"], pa.binary(3))).replace_schema_metadata(
                plain.schema.metadata
            ),
            ValueError,
            "reports must have 1 bytes each, got 3",
        ),
    ):
        aggregator = ours.aggregator()
        with raises(kind, message):
            aggregator.update(table)
        assert aggregator.n == 0
    for text in (b"", b"{", b"\xff", b"[1]"):
        with pytest.raises(ValueError, match=r"^reports must "):
            ours.aggregator().update(plain.replace_schema_metadata({b"ldpfast": text}))


@each("kind", [pa.int8(), pa.date32(), pa.list_(pa.int8()), pa.string(), pa.binary(7)], ids=str)
def test_tables_with_fingerprints_of_another_type_are_refused(kind):
    question = Frequencies(["car", "foot"], 1.0)
    table = question.to_arrow(question.privatize(["car"] * 3))
    changed = table.set_column(1, "question", pa.nulls(3, kind))
    with raises(TypeError, f'reports must have a column "question" of fixed-size binary of 8 bytes, got type {kind}'):
        question.aggregator().update(changed)


@pytest.mark.parametrize("join", ["folder", "concat"])
def test_tables_of_two_questions_that_were_joined_are_refused(join, tmp_path):
    """pyarrow keeps only the metadata of the first table."""
    ours, theirs = Frequencies(["car", "foot"], 1.0), Frequencies(["foot", "car"], 1.0)
    tables = [question.to_arrow(question.privatize(["car"] * 10)) for question in (ours, theirs)]
    if join == "folder":
        for i, table in enumerate(tables):
            pq.write_table(table, tmp_path / f"{i}.parquet")
        joined = pq.read_table(tmp_path)
    else:
        joined = pa.concat_tables([table.replace_schema_metadata(tables[0].schema.metadata) for table in tables])
    message = (
        f"reports must answer the question with the fingerprint {ours.fingerprint}, got {theirs.fingerprint} as well"
    )
    with raises(ValueError, message):
        ours.aggregator().update(joined)


@each_asked
def test_no_reports_and_one_message(asked):
    question, reports = asked
    assert question.aggregator().update([]) == question.aggregator()
    assert question.aggregator().update(question.message(reports[0])) == question.aggregator().update(reports[:1])


@pytest.mark.parametrize("what", ["a.parquet", None, [1]])
def test_what_is_not_a_table_is_refused(what):
    with raises(TypeError, f"reports must be an Arrow table or export an Arrow stream, got {type(what).__name__}"):
        ldp.Warner(1.0).from_arrow(what)


# Test vectors for other languages -------------------------------------------------------------------------------------


def labels() -> list[dict]:
    """Return schemas, fingerprints and messages, for clients in other languages."""
    found = []
    for question, record in (
        (ldp.Warner(1.0), 1),
        (ldp.UnaryEncoding(10, 2.0, method="optimized"), 3),
        (ldp.SignBit(0.0, 20.0, 0.5), 7.0),
        (Frequencies(["no", "yes", "não"], 1.0), "não"),
    ):
        report = question.privatize(record, rng=1)
        message = question.message(report)
        found.append(
            {
                "schema": schemas.canonical_json(question.schema()).decode(),
                "fingerprint": question.fingerprint,
                "report": question.report.pack(question.report.validate(report)).tobytes().hex(),
                "message": message.hex(),
            }
        )
    return found


@pytest.mark.claim("Messages have the documented bytes.", "Saved states")
def test_labels_are_those_of_the_shared_vectors():
    """`python -m tests.reports.test_labels` writes them; a change is a new version of the format."""
    assert labels() == json.loads(VECTORS.read_text())
    for vector in labels():
        message = bytes.fromhex(vector["message"])
        assert struct.unpack_from("<B8sH", message) == (1, bytes.fromhex(vector["fingerprint"]), 0)
        assert message[11:].hex() == vector["report"]


if __name__ == "__main__":
    VECTORS.write_text(json.dumps(labels(), indent=1, ensure_ascii=False) + "\n")
