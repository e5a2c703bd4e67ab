"""Saved states with many counts: short, the same for equal counts, read in both layouts, and safe against forged ones."""

from __future__ import annotations

import struct
import tracemalloc
from functools import cache

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.estimation import Frequencies
from ldpfast.reports import Aggregator

from ..support.aggregation import counted_of, plain_bytes
from ..support.errors import raises
from ..support.internals.shared import envelope

PREFIX, ARRAY = struct.Struct("<8sQ"), struct.Struct("<BBQ")
PLAIN, PACKED = b"LDPFAST\x04", b"LDPFAST\x05"
K, N = 20_000, 300
BELOW = f"hold a packed state with values at places below {K}, got"
CODES = ldp.RandomizedResponse(K, 3.0)
MECHANISMS = [
    CODES,
    ldp.UnaryEncoding(K, 1.0),
    ldp.LinfBall(K, 1.0),
    ldp.L2Ball(K // 2, 1.0),
    ldp.SubsetSelection(K, 9.0),
]


@cache
def counted(mechanism, seed: int = 1):
    wide = mechanism.domain.width
    records = np.full((3, wide), -0.9 / wide) if wide else np.arange(N) % 7
    return mechanism.collect(records, rng=seed)


def parts(data: bytes):
    """Return the header and the payload of a saved state."""
    size = PREFIX.unpack_from(data)[1]
    end = PREFIX.size + size
    return envelope.read_json(data[PREFIX.size : end]), data[end:-16]


def forged(payload: bytes, n: int = 1, mechanism=CODES) -> bytes:
    return envelope.seal(PACKED, {"n": n, "schema": mechanism.schema(), "batches": []}, payload)


def array_of(places: bytes, values: bytes, count: int, *, width: int = 0, gap_width: int = 0) -> bytes:
    return ARRAY.pack(width, gap_width, count) + places + values


# Sizes and paths ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda one: type(one).__name__)
def test_large_states_are_packed_and_come_back_through_every_path(mechanism):
    one, other = counted(mechanism), counted(mechanism, 2)
    data = one.to_bytes()
    plain = plain_bytes(one)
    assert (data[:8], len(data) < len(plain)) == (PACKED, True)
    for saved in (data, plain, bytearray(data), memoryview(data)):
        again = ldp.load(saved)
        assert again == one
        assert again.to_bytes() == data
        dtypes = [state.dtype for state in counted_of(again).states]
        assert dtypes == [state.dtype for state in counted_of(one).states]
    merged = [ldp.load(a.to_bytes()).merge(ldp.load(b.to_bytes())) for a, b in ((one, other), (other, one))]
    assert merged[0].to_bytes() == merged[1].to_bytes()
    assert np.array_equal(merged[0].estimate().value, mechanism.aggregator().merge(one).merge(other).estimate().value)


def test_few_reports_of_many_counts_take_bytes_for_each_report_and_not_for_each_count():
    empty, full = (len(one.to_bytes()) for one in (CODES.aggregator(), counted(CODES)))
    assert full - empty <= N * 3  # a gap of two bytes and a count of one
    assert len(plain_bytes(CODES.aggregator())) - empty > 8 * K - 100


def test_groups_are_packed_together():
    people = {"x": np.arange(N) % 7, "by": np.arange(N) % 3}
    grouped = Frequencies(K, 3.0, mechanism="k-ary").collect(people["x"], by=people["by"], rng=1)
    data = grouped.to_bytes()
    states = [counted_of(one).states[0].tobytes() for one in ldp.load(data).values()]
    plain = envelope.seal(b"LDPGRUP\x01", parts(data)[0], b"".join(states))
    assert data[:8] == b"LDPGRUP\x02"
    assert 10 * len(data) < len(plain)
    for saved in (data, plain):
        assert ldp.load(saved) == grouped
        assert ldp.load(saved).to_bytes() == data
    assert ldp.load(data)[2] == ldp.load(plain)[2]


def test_small_states_stay_as_they_were():
    small = ldp.RandomizedResponse(8, 1.0).collect([1, 2, 2], rng=1)
    assert small.to_bytes() == plain_bytes(small)


@pytest.mark.parametrize("largest", [0, 1, 255, 256, 65_535, 65_536, 1 << 32, (1 << 62) - 1])
def test_counts_of_any_size_are_kept(largest):
    """Each width of integers is used, also where all counts are written and where only a few are."""
    for places in (slice(None), slice(7, 8)):
        bits = ldp.UnaryEncoding(K, 1.0).aggregator()
        state = np.zeros(K, np.int64)
        state[places] = largest
        header = {**parts(bits.to_bytes())[0], "n": max(largest, 1)}
        found = Aggregator.from_bytes(envelope.seal(PLAIN, header, state.tobytes()))
        assert ldp.load(found.to_bytes()) == found
        assert np.array_equal(ldp.load(found.to_bytes()).counts, state)


# Forged bytes ---------------------------------------------------------------------------------------------------------


def test_the_forged_bytes_of_these_tests_have_the_real_layout():
    payload = array_of(b"\5\0", b"\1\1", 2)
    assert Aggregator.from_bytes(forged(payload, 2)).counts[[5, 6]].tolist() == [1, 1]
    assert Aggregator.from_bytes(forged(payload, 2)).to_bytes() == forged(payload, 2)


@pytest.mark.claim("A packed state takes at most 64 MiB, or 64 times its length, of memory.", "Saved states")
def test_a_few_bytes_do_not_become_a_large_state():
    huge = ldp.RandomizedResponse(1 << 24, 30.0)  # 128 MiB of counts
    tracemalloc.start()
    try:
        with raises(ValueError, "data must hold a packed state of at most 67108864 bytes, got one of 134217728"):
            Aggregator.from_bytes(forged(array_of(b"", b"", 0), 0, huge))
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_a_large_state_is_written_in_a_form_that_is_read():
    """Without its zeros it would grow more than a reader allows."""
    large = ldp.RandomizedResponse(9_000_000, 30.0).aggregator()
    data = large.to_bytes()
    assert 9_000_000 < len(data) < 9_001_000
    assert Aggregator.from_bytes(data) == large


@pytest.mark.parametrize(
    "payload, end",
    [
        (b"", "hold a packed state, got one that is cut off"),
        (array_of(b"\5", b"", 1), "hold a packed state, got one that is cut off"),
        (array_of(b"\5", b"\1", 1 << 63), "hold a packed state, got one that is cut off"),
        (array_of(b"\5", b"\1\1", 1), "hold a packed state of 12 bytes, got 13"),
        (array_of(b"\x20\x4e", b"\1", 1, gap_width=1), f"{BELOW} 20000"),
        (array_of(b"\xff" * 8, b"\1" * 2, 2, gap_width=2), f"{BELOW} 8589934591"),
        (array_of(b"\5", b"\1" * 8, 1, width=3), "hold a packed state of integers that fit into int64"),
        (array_of(b"\5" * 8, b"\1", 1, gap_width=3), "hold a packed state of integers that fit into uint32"),
        (array_of(b"\5", b"\1", 1, gap_width=4), "hold a packed state of integers that fit into uint32"),
        (array_of(b"\5", b"\1", 1, width=8), "hold a packed state of integers that fit into int64"),
        (array_of(b"", b"\1" * 3, 3, gap_width=255), "hold a packed state with 20000 values of an array, got 3"),
        (array_of(b"\5", b"\2", 1), "hold a state that n = 1 reports can have"),
    ],
    ids=lambda value: value[-20:] if isinstance(value, bytes) else "",
)  # fmt: skip
def test_a_packed_state_that_no_aggregator_has_is_rejected(payload, end):
    with raises(ValueError, f"data must {end}"):
        Aggregator.from_bytes(forged(payload))


def test_a_negative_count_is_rejected():
    with raises(ValueError, "data must hold a state that n = 1 reports can have"):
        Aggregator.from_bytes(forged(array_of(b"\5\0", b"\xff\2", 2, width=4)))
    sums = ldp.L2Ball(K // 2, 1.0)
    with raises(ValueError, "data must hold a packed state of integers that fit into uint64"):
        Aggregator.from_bytes(forged(array_of(b"\5", b"\xff", 1, width=4), 1, sums))
