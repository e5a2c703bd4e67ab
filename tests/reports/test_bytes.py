"""Aggregators as bytes: saving, reading, and detection of damage."""

from __future__ import annotations

import hashlib
import itertools
import json
import struct
import tracemalloc

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.estimation import Frequencies, MedianSGD, VectorMean
from ldpfast.reports import Aggregator
from ldpfast.survey import YesNo

from ..support.aggregation import aggregate, counted_of, reports_of
from ..support.cases import each, each_example, each_kind
from ..support.errors import raises
from ..support.internals.shared import canonical_json
from ..support.process import run_python

WARNER = ldp.Warner(1.0).schema()


def with_checksum(body: bytes) -> bytes:
    return body + hashlib.blake2b(body, digest_size=16).digest()


def written(header) -> bytes:
    """Return a header as JSON, canonical if it has such a form."""
    try:
        return canonical_json(header)
    except ValueError:
        return json.dumps(header).encode()


def forged(header, state: bytes = bytes(16)) -> bytes:
    """Return bytes with a valid checksum for any header and state."""
    text = header if isinstance(header, bytes) else written(header)
    return with_checksum(struct.pack("<8sQ", b"LDPFAST\x04", len(text)) + text + state)


def short(value) -> str:
    return str(value)[:40]


@each_example
def test_aggregators_survive_bytes(example):
    for n in (0, 7):
        aggregator = aggregate(example.mechanism, reports_of(example, 7)[:n])
        for data in (aggregator.to_bytes(), bytearray(aggregator.to_bytes()), memoryview(aggregator.to_bytes())):
            twin = Aggregator.from_bytes(data)
            assert twin == aggregator
            assert (type(twin), twin.question, twin.n) == (type(aggregator), example.mechanism, n)
            assert twin.to_bytes() == aggregator.to_bytes()


@each_kind
def test_an_aggregator_from_bytes_accepts_more_reports(kind):
    reports = reports_of(kind, 20)
    twin = Aggregator.from_bytes(aggregate(kind.mechanism, reports[:8]).to_bytes())
    assert twin.update(reports[8:]) == aggregate(kind.mechanism, reports)


def test_a_fresh_interpreter_reads_bytes():
    data = ldp.Warner(1.0).aggregator().to_bytes()
    result = run_python(f"import ldpfast; print(ldpfast.Aggregator.from_bytes({data!r}))")
    assert result.stdout.strip() == "<Aggregator of Warner(epsilon=1.0): n = 0>", result.stderr


# Damaged and foreign bytes --------------------------------------------------------------------------------------------


@pytest.mark.claim("A change of any byte of a saved state is detected.", "Saved states")
@each_kind
def test_a_change_of_any_byte_is_detected(kind):
    data = aggregate(kind.mechanism, reports_of(kind, 7)).to_bytes()
    for i, flip in zip(range(len(data)), itertools.cycle((1, 0x80, 0xFF)), strict=False):
        with pytest.raises(ValueError, match=r"^data must "):
            Aggregator.from_bytes(data[:i] + bytes([data[i] ^ flip]) + data[i + 1 :])


@each_kind
def test_missing_and_extra_bytes_are_detected(kind):
    data = aggregate(kind.mechanism, reports_of(kind, 7)).to_bytes()
    for i in range(len(data)):
        with pytest.raises(ValueError, match=r"^data must "):
            Aggregator.from_bytes(data[:i])
        with pytest.raises(ValueError, match=r"^data must "):
            Aggregator.from_bytes(data[i + 1 :])
    with pytest.raises(ValueError, match=r"damaged or cut off$"):
        Aggregator.from_bytes(data + b"\0")


@each("data", [b"", b"PK\x03\x04", b"\x93NUMPY" + b"\0" * 100, b"{}", b"\0" * 64])
def test_foreign_bytes_are_rejected(data):
    with raises(ValueError, "data must be the bytes of an aggregator: the magic number is wrong"):
        Aggregator.from_bytes(data)


@pytest.mark.parametrize("data", ["LDPFAST", None, 3, [1]])
def test_what_is_not_bytes_is_a_type_error(data):
    with raises(TypeError, f"data must be bytes, got {type(data).__name__}"):
        Aggregator.from_bytes(data)


def test_another_layout_version_is_named_in_the_message():
    data = ldp.Warner(1.0).aggregator().to_bytes()
    for version in (1, 2, 3):
        with raises(ValueError, f"data must be of layout version 4 or 5, got {version}"):
            Aggregator.from_bytes(data[:7] + bytes([version]) + data[8:])
    with raises(ValueError, "data must be of layout version 4 or 5, got nothing"):
        Aggregator.from_bytes(data[:7])


# Wrong content with a valid checksum ----------------------------------------------------------------------------------


def test_forged_bytes_of_these_tests_have_the_real_layout():
    assert Aggregator.from_bytes(forged({"n": 0, "schema": WARNER, "batches": []})) == ldp.Warner(1.0).aggregator()


@each(
    "header",
    [
        b"\xff\xfe",
        b"{",
        b"[" * 100_000,
        b'{"n": 1, "schema": ' + b"[" * 100_000,
        b'{"n": 1' + b"0" * 5000 + b', "schema": {}}',
        [],
        3,
        {},
        {"n": 1},
        {"n": 1, "schema": WARNER, "batches": [], "more": 1},
        {"n": True, "schema": WARNER, "batches": []},
        {"n": 1.5, "schema": WARNER, "batches": []},
        {"n": "1", "schema": WARNER, "batches": []},
        {"n": 1, "schema": "Warner", "batches": []},
        {"n": 1, "schema": WARNER, "batches": "a"},
        {"n": 1, "schema": WARNER, "batches": [1]},
    ],
    ids=short,
)
def test_a_malformed_header_is_rejected(header):
    with pytest.raises(ValueError, match=r"^data must be the bytes of an aggregator: "):
        Aggregator.from_bytes(forged(header))


def test_a_header_that_is_longer_than_the_bytes_is_rejected():
    with pytest.raises(ValueError, match=r"^data must be the bytes of an aggregator: "):
        Aggregator.from_bytes(with_checksum(struct.pack("<8sQ", b"LDPFAST\x04", 1 << 63) + b'{"n":0}' + bytes(16)))


@each(
    "source",
    [
        [],
        3,
        {},
        {"mechanism": "Future", "epsilon": 1.0},
        {"mechanism": ["Warner"]},
        {"mechanism": "Warner"},
        {"mechanism": "Warner", "epsilon": -1.0},
        {"mechanism": "Warner", "epsilon": "1"},
        {"mechanism": "Warner", "epsilon": None},
        {"mechanism": "Warner", "epsilon": float("nan")},
        {"mechanism": "Warner", "epsilon": 1.0, "k": 2},
        {"mechanism": "RandomizedResponse", "k": 10**400, "epsilon": 1.0},
    ],
    ids=short,
)
def test_a_schema_that_is_none_of_this_version_is_rejected(source):
    with pytest.raises(ValueError, match=r"^data must describe a question of this version: "):
        Aggregator.from_bytes(forged({"n": 1, "schema": {**WARNER, "asks": source}, "batches": []}))


@pytest.mark.parametrize("source", [YesNo(), MedianSGD(1.0, lower=0.0, upper=1.0)], ids=short)
def test_a_schema_of_what_has_no_reports_is_rejected(source):
    with raises(ValueError, f"data must describe a question of this version: got a {type(source).__name__}"):
        Aggregator.from_bytes(forged({"n": 0, "schema": source.schema(), "batches": []}))


@pytest.mark.parametrize("size", [0, 15, 17, 24])
def test_a_state_of_a_wrong_size_is_rejected(size):
    with raises(ValueError, f"data must hold a state of 16 bytes, got {size}"):
        Aggregator.from_bytes(forged({"n": 1, "schema": WARNER, "batches": []}, bytes(size)))


@pytest.mark.claim(
    "A few forged bytes do not make a reader use memory out of proportion to their length.", "Saved states"
)
def test_a_missing_state_allocates_no_memory():
    """A few bytes must not make a server allocate terabytes."""
    huge = ldp.RandomizedResponse(1 << 40, 30.0).schema()
    with pytest.raises(ValueError, match=r"^data must hold a state of "):
        Aggregator.from_bytes(forged({"n": 1, "schema": huge, "batches": []}, b""))


@pytest.mark.parametrize("n", [-1, 1, 1 << 62, 10**30])
def test_a_number_of_reports_that_the_state_cannot_have_is_rejected(n):
    with raises(ValueError, f"data must hold a state that n = {n} reports can have"):
        Aggregator.from_bytes(forged({"n": n, "schema": WARNER, "batches": []}))


@pytest.mark.claim("A saved state that no reports can have is refused.", "Saved states")
@each(
    "mechanism, position, value",
    [
        (ldp.RandomizedResponse(4, 1.0), 0, 9),  # a count above n
        (ldp.RandomizedResponse(4, 1.0), 1, 0),  # counts whose sum is not n
        (ldp.UnaryEncoding(4, 1.0), 2, -1),
        (ldp.LinfBall(3, 1.0), 0, 6),
        (ldp.SubsetSelection(4, 1.0), 0, 0),  # a total number of ones that is not n times the size
        (ldp.SubsetSelection(4, 1.0), 0, 6),
        (ldp.L2Ball(3, 1.0), 1, 1 << 40),  # the high word of a sum
        (ldp.Laplace(0.0, 1.0, 1.0), 3, 1 << 62),  # the high word of the sum of squares
        (ldp.Laplace(0.0, 1.0, 1.0), 0, 1 << 62),  # a sum that is too large for its sum of squares
    ],
    ids=repr,
)
def test_a_state_that_no_reports_have_is_rejected(mechanism, position, value):
    records = np.zeros((5, 3)) if mechanism.domain.width else np.zeros(5, int)
    good = mechanism.aggregator().update(mechanism.privatize(records, rng=1)).to_bytes()[:-16]
    size = counted_of(mechanism.aggregator()).states[0].nbytes
    state = np.frombuffer(good[-size:], np.int64).copy()
    state[position] = value if value else state[position] + 1
    with raises(ValueError, "data must hold a state that n = 5 reports can have"):
        Aggregator.from_bytes(with_checksum(good[:-size] + state.tobytes()))


def test_a_state_with_a_code_that_no_record_gives_is_rejected():
    aggregator = ldp.FiniteChannel([[3, 0, 1], [1, 0, 3]]).aggregator().update(np.array([0, 2, 2], np.uint8))
    data = aggregator.to_bytes()[:-16]
    for counts, valid in (((3, 0, 0), True), ((1, 1, 1), False)):
        forged_state = with_checksum(data[:-24] + np.array(counts, "<i8").tobytes())
        if valid:
            assert Aggregator.from_bytes(forged_state).counts.tolist() == list(counts)
        else:
            with raises(ValueError, "data must hold a state that n = 3 reports can have"):
                Aggregator.from_bytes(forged_state)


def test_a_mean_outside_the_ball_is_rejected():
    """Each coordinate is possible, but not all at the same time."""
    aggregator = ldp.L2Ball(4, 1.0).aggregator()
    data = aggregator.update(aggregator.question.privatize(np.zeros((5, 4)), rng=1)).to_bytes()[:-16]
    state = np.zeros((4, 2), np.uint64)
    for coordinate, valid in ((int(0.5 * 5 * 2**40), True), (int(0.51 * 5 * 2**40), False)):
        state[:, 0] = coordinate
        forged_state = with_checksum(data[: -state.nbytes] + state.tobytes())
        if valid:
            assert Aggregator.from_bytes(forged_state).n == 5
        else:
            with raises(ValueError, "data must hold a state that n = 5 reports can have"):
                Aggregator.from_bytes(forged_state)


def test_no_reports_have_no_sums():
    aggregator = ldp.Laplace(0.0, 1.0, 1.0).aggregator()
    good = aggregator.to_bytes()[:-16]
    size = counted_of(aggregator).states[0].nbytes
    for position in range(size // 8):
        for value in (1, -1):
            state = np.zeros(size // 8, np.int64)
            state[position] = value
            with raises(ValueError, "data must hold a state that n = 0 reports can have"):
                Aggregator.from_bytes(with_checksum(good[:-size] + state.tobytes()))


def test_counts_whose_sum_wraps_are_rejected():
    """Nine counts of 2^61 add up to 2^64 + 2^61, which is 2^61 in 64 bits."""
    n, mechanism = 1 << 61, ldp.RandomizedResponse(9, 1.0)
    data = forged({"n": n, "schema": mechanism.schema(), "batches": []}, np.full(9, n, np.int64).tobytes())
    with raises(ValueError, f"data must hold a state that n = {n} reports can have"):
        Aggregator.from_bytes(data)


@each("batch", ["", "one", "\ud800", "A" * 32, "0" * 33, "0" * 32 + "\n"])
def test_names_of_batches_that_no_update_stores_are_rejected(batch):
    """A surrogate could be read, but not be written again."""
    with raises(
        ValueError,
        "data must be the bytes of an aggregator: the batches are not a list of 32 hexadecimal digits each",
    ):
        Aggregator.from_bytes(forged({"n": 0, "schema": WARNER, "batches": [batch]}))


@pytest.mark.parametrize(
    "label, error, text",
    [
        ("\ud800", ValueError, r"^k must have no control characters.*lone surrogates.*U\+D800$"),
        (float("inf"), TypeError, r"^parameters and labels must be equal to what is read back to be saved, got "),
        (float("nan"), TypeError, r"^parameters and labels must be equal to what is read back to be saved, got "),
    ],
    ids=ascii,
)
def test_labels_that_json_does_not_have_are_rejected(label, error, text):
    schema = {**Frequencies(["a", "b"], 1.0, mechanism="k-ary").schema()}
    schema["asks"] = {**schema["asks"], "k": ["a", label]}
    with pytest.raises(ValueError, match=r"^data must describe a question of this version: "):
        Aggregator.from_bytes(forged({"n": 0, "schema": schema, "batches": []}))
    with pytest.raises(error, match=text):
        Frequencies(["a", label], 1.0).to_dict()


@pytest.mark.parametrize("norm", ["l2", "linf"])
def test_a_description_of_a_long_vector_allocates_no_memory(norm):
    tracemalloc.start()
    try:
        assert VectorMean(1 << 32, 1.0, norm=norm).dim == 1 << 32
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    with raises(ValueError, "dim must be an integer in [1, 1048576], got 4294967296"):
        VectorMean(1 << 32, 1.0, norm="linf", lower=0, upper=1)
