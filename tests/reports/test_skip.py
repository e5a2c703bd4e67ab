"""Messages that are skipped: one bad message never harms the others, and every refusal is counted by its reason."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

import ldpfast as ldp
from ldpfast.estimation import CountMeanSketch, Frequencies
from ldpfast.reports import Aggregator
from ldpfast.survey import Choice, Mean, Repeated, Survey, YesNo

from ..support.aggregation import counted_of
from ..support.errors import raises

SURVEY = Survey(
    {"a": YesNo(optional=True), "b": Choice(5, optional=True), "c": Mean(0, 1, optional=True)}, 2.0, answers=2
)
QUESTIONS = {
    "codes": (ldp.RandomizedResponse(5, 1.0), np.arange(200) % 5),
    "bits": (ldp.SubsetSelection(13, 1.0), np.arange(200) % 13),
    "floats": (ldp.L2Ball(3, 1.0), np.full((200, 3), 0.1)),
    "strings": (CountMeanSketch(1.0, buckets=30, max_bytes=3), ["a", "bc"] * 100),
}


def messages_of(question, x):
    return [question.message(report) for report in question.privatize(x, rng=1)]


def answers(n=200):
    return [SURVEY.client(bytes(32), i).answer({"a": i % 2 == 0, "b": i % 5, "c": 0.5}) for i in range(n)]


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_reason_is_counted_and_the_rest_is_kept(name):
    question, x = QUESTIONS[name]
    good = messages_of(question, x)
    bad = [
        3, "text", None, b"", b"\1", good[0][:-1], good[0] + b"\0", b"\2" + good[0][1:], good[0][:1] + bytes(8) + good[0][9:],
        good[0][:9] + b"\1" + good[0][10:], good[0][:11] + b"\xff" * (len(good[0]) - 11),
    ]  # fmt: skip
    mixed = [*good[:50], *bad, *good[50:], bytearray(good[0]), memoryview(good[1])]
    server = question.aggregator().update(mixed, errors="skip")
    expected = {"type": 3, "length": 4, "version": 1, "fingerprint": 1, "question": 1, "value": 1}
    assert server.refused == expected
    plain = question.aggregator().update([*good, good[0], good[1]])
    assert server.n == plain.n == 202
    assert all(map(np.array_equal, counted_of(server).states, counted_of(plain).states))
    assert plain.refused == {}


def test_messages_of_a_survey():
    good = answers()
    first = good[0]
    bad = [
        None, b"", first[:-1], first + b"\0", b"\2" + first[1:], first[:1] + bytes(8) + first[9:],
        first[:9] + b"\7\0" + first[11:], first[:9] + first[9:12] + first[9:12], first[:11] + b"\xff" + first[12:],
    ]  # fmt: skip
    server = SURVEY.aggregator().update([*bad, *good, *bad], errors="skip")
    assert server.refused == {
        "type": 2,
        "length": 6,
        "version": 2,
        "fingerprint": 2,
        "question": 2,
        "order": 2,
        "value": 2,
    }
    plain = SURVEY.aggregator().update(good)
    assert server.n == plain.n
    assert all(map(np.array_equal, counted_of(server).states, counted_of(plain).states))
    assert [server.refused[reason] for reason in ("value", "order")] == [2, 2]


def test_the_fault_of_each_damaged_message_is_that_of_the_error():
    """What is skipped is exactly what raises otherwise, for every byte of a message that is changed."""
    first = answers(1)[0]
    for place in range(len(first)):
        for change in (1, 2, 128, 255):
            damaged = first[:place] + bytes([first[place] ^ change]) + first[place + 1 :]
            server = SURVEY.aggregator().update([damaged, first], errors="skip")
            try:
                SURVEY.aggregator().update([damaged])
            except ValueError:
                assert (server.n, sum(server.refused.values())) == (1, 1)
            else:
                assert (server.n, server.refused) == (2, {})


def test_single_and_double_precision_are_both_kept():
    mechanism = ldp.L2Ball(3, 1.0)
    x = np.full((20, 3), 0.1)
    mixed = messages_of(mechanism, x) + messages_of(mechanism, x.astype(np.float32))
    assert mechanism.aggregator().update(mixed, errors="skip").n == 40
    with pytest.raises(ValueError, match="of one length"):
        mechanism.aggregator().update(mixed)


def test_refusals_are_merged_saved_and_restored():
    question = Frequencies(3, 1.0)
    one = question.aggregator().update([b"x", *messages_of(question, [0, 1])], errors="skip")
    two = question.aggregator().update([b"x", None], errors="skip", batch="b")
    assert (two.n, two.refused) == (0, {"type": 1, "length": 1})
    whole = question.aggregator().merge(one).merge(two)
    assert whole.refused == {"type": 1, "length": 2}
    again = Aggregator.from_bytes(whole.to_bytes())
    assert again == whole
    assert again.refused == whole.refused
    assert again != question.aggregator().update(messages_of(question, [0, 1]), batch="b")
    with pytest.raises(ValueError, match="batch"):
        again.update([], errors="skip", batch="b")
    with pytest.raises(AttributeError):
        again.refused = {}
    again.refused["length"] = 9
    assert again.refused == {"type": 1, "length": 2}


def test_a_state_without_refusals_has_the_bytes_of_before():
    question = Frequencies(3, 1.0)
    messages = messages_of(question, [0, 1])
    skipped, plain = (question.aggregator().update(messages, errors=errors) for errors in ("skip", "raise"))
    assert skipped.to_bytes() == plain.to_bytes()
    assert skipped == plain


def test_arrow_arrays_and_rounds():
    good = answers(20)
    column = pa.array([None, b"x", *good])
    server = SURVEY.aggregator().update(column, errors="skip")
    assert (server.n, server.refused) == (20, {"type": 1, "length": 1})
    rounds = Repeated(YesNo(optional=True), permanent=3.0, round=1.0, rounds=2)
    message = rounds.client(bytes(32), 1, question="q").answer(True, 0)
    server = rounds.in_round(1).aggregator().update([message], errors="skip")
    assert (server.n, server.refused) == (0, {"fingerprint": 1})


@pytest.mark.parametrize("reports", [np.array([0, 1], np.uint8), b"message", "text", 3])
def test_only_lists_of_messages_can_be_skipped(reports):
    with pytest.raises(TypeError, match=r'^reports must be a list of messages with errors="skip", got '):
        Frequencies(3, 1.0).aggregator().update(reports, errors="skip")
    with raises(ValueError, "errors must be one of 'raise', 'skip', got 'ignore'"):
        Frequencies(3, 1.0).aggregator().update([], errors="ignore")


@pytest.mark.parametrize("name", ["codes", "bits", "floats"])
def test_all_invalid_values_are_found(name):
    question, x = QUESTIONS[name]
    reports = np.array(question.privatize(x, rng=1))
    bad = np.random.default_rng(1).random(len(reports)) < 0.3
    reports[bad] = math.inf if reports.dtype.kind == "f" else 255
    np.testing.assert_array_equal(question.report.are_valid(reports), ~bad)
    assert question.report.are_valid(reports[:0]).shape == (0,)
