"""Aggregators: exact, order-free sums of reports that travel as bytes."""

from __future__ import annotations

import functools
import hashlib
import json
import math
import re
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpfast as ldp
from ldpfast.aggregation import Aggregator

from .support.examples import KINDS, assert_same, assert_same_estimate

MASK = (1 << 64) - 1


def reports_of(kind, n, seed=5):
    return kind.mechanism.privatize(kind.records(n), rng=seed)


def aggregate(mechanism, *batches):
    return functools.reduce(Aggregator.update, batches, mechanism.aggregator())


def integers_of(aggregator):
    """The 128-bit integers of an exact sum, as Python integers."""
    rows = ((int(low), int(high)) for low, high in aggregator._state)
    return [low + (high << 64) - ((high >> 63) << 128) for low, high in rows]


def raises(kind, message):
    return pytest.raises(kind, match=f"^{re.escape(message)}$")


# Any order, any split -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS, ids=str)
@given(st.lists(st.integers(0, 200), max_size=6), st.randoms(use_true_random=False))
def test_merging_is_concatenation_in_any_order(kind, cuts, random):
    """Hundreds of machines that merge in the order in which they answer must get one result."""
    mechanism, reports = kind.mechanism, reports_of(kind, 200)
    whole = aggregate(mechanism, reports)
    parts = [aggregate(mechanism, part) for part in np.split(reports, sorted(cuts))]
    random.shuffle(parts)
    merged = functools.reduce(Aggregator.merge, parts)
    assert merged.n == 200
    assert merged.to_bytes() == whole.to_bytes()
    assert_same_estimate(merged.estimate(), whole.estimate())


def test_updating_is_concatenation(kind):
    mechanism, reports = kind.mechanism, reports_of(kind, 100)
    whole = aggregate(mechanism, reports)
    assert aggregate(mechanism, reports[:37], reports[37:]) == whole
    assert aggregate(mechanism, *reports[::-1]).to_bytes() == whole.to_bytes()  # one by one, backwards
    assert aggregate(mechanism, reports[:0], reports) == whole


def test_update_and_merge_return_the_aggregator_and_leave_the_other(kind):
    a, b = kind.mechanism.aggregator(), aggregate(kind.mechanism, reports_of(kind, 9))
    before = b.to_bytes()
    assert a.merge(b) is a
    assert a.update(reports_of(kind, 3)) is a
    assert (a.n, b.n) == (12, 9)
    assert b.to_bytes() == before


def test_merging_with_itself_doubles(kind):
    reports = reports_of(kind, 50)
    a = aggregate(kind.mechanism, reports)
    assert a.merge(a).to_bytes() == aggregate(kind.mechanism, reports, reports).to_bytes()


def test_reports_come_in_any_layout(kind):
    reports = reports_of(kind, 30)
    whole = aggregate(kind.mechanism, reports)
    spaced = np.repeat(reports, 2, axis=0)[::2]
    for form in (spaced, reports[::-1], np.asfortranarray(reports), reports.astype(reports.dtype.newbyteorder(">"))):
        assert aggregate(kind.mechanism, form) == whole


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("n", [1, 7, 63, 64, 65, 255, 256, 4095, 4097, 9000])
def test_sums_of_any_number_of_reports_follow_the_definition(kind, n):
    """Vector loops, and what is left behind them."""
    mechanism, reports = kind.mechanism, reports_of(kind, n)
    aggregator = aggregate(mechanism, reports)
    if hasattr(aggregator, "counts"):
        onehot = (
            mechanism.report.hits(reports) if reports.ndim == 2 else reports[:, None] == np.arange(mechanism.report.k)
        )
        assert_same(aggregator.counts, onehot.sum(axis=0).astype(np.int64))
    elif isinstance(mechanism, ldp.L2Ball):
        shift = 10 if reports.dtype == np.float32 else 0
        steps = np.rint(reports.astype(np.float64) * (2.0 ** (40 - shift) / mechanism.scale))
        assert integers_of(aggregator) == [sum(map(int, column)) << shift for column in steps.T]
    else:
        lower = mechanism.report.lower
        j = np.rint((reports.reshape(n, -1) - lower) / mechanism.grid - 0.5).astype(np.int64)
        np.testing.assert_array_equal(lower + mechanism.grid * (j + 0.5), reports.reshape(n, -1))
        columns = [[int(v) for v in column] for column in j.T]
        assert integers_of(aggregator) == [sum(c) for c in columns] + [sum(v * v for v in c) for c in columns]


@pytest.mark.parametrize("dim", [1, 9, 64, 257, 600])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_vector_sums_of_any_width(dim, dtype, isa):
    mechanism = ldp.L2Ball(dim, 1.0)
    x = np.full((40, dim), 0.5 / math.sqrt(dim), dtype)
    reports, shift = mechanism.privatize(x, rng=1), 10 if dtype == "float32" else 0
    steps = np.rint(reports.astype(np.float64) * (2.0 ** (40 - shift) / mechanism.scale))
    assert integers_of(aggregate(mechanism, reports)) == [sum(map(int, c)) << shift for c in steps.T]


def test_precisions_of_one_mechanism_merge():
    mechanism = ldp.L2Ball(5, 1.0)
    single, double = (mechanism.privatize(np.zeros((20, 5), dtype), rng=1) for dtype in ("float32", "float64"))
    merged = aggregate(mechanism, single).merge(aggregate(mechanism, double))
    assert merged.to_bytes() == aggregate(mechanism, double, single).to_bytes()
    total = single.astype(np.float64).sum(axis=0) + double.sum(axis=0)
    np.testing.assert_allclose(merged.estimate().value, total / 40, atol=mechanism.scale * 2**-30)


# 128 bits -------------------------------------------------------------------------------------------------------------

FAR = 1 << 47  # the largest integer that a report holds


@given(
    st.lists(st.integers(-FAR, FAR) | st.sampled_from([FAR, -FAR, -1, 0]), min_size=1, max_size=60), st.integers(0, 60)
)
def test_grid_sums_are_those_of_python_integers(js, cut):
    """Sums near -60 2^50, sums of squares near 60 2^100: past 64 bits, of either sign."""
    mechanism = ldp.Laplace(0.0, 1.0, 1.0)
    reports = mechanism.grid * (np.array(js, np.float64) + 0.5)
    aggregator = aggregate(mechanism, reports[:cut]).merge(aggregate(mechanism, reports[cut:]))
    assert integers_of(aggregator) == [sum(js), sum(j * j for j in js)]
    assert aggregator.estimate().value == pytest.approx(
        mechanism.grid * (sum(js) / len(js) + 0.5), rel=1e-14, abs=1e-12
    )


@given(st.lists(st.integers(-(1 << 126), (1 << 126)), min_size=1, max_size=8))
def test_merging_carries_between_the_words(values):
    mechanism = ldp.Laplace(0.0, 1.0, 1.0)
    total = mechanism.aggregator()
    for value in values:
        part = mechanism.aggregator()
        part._state[...] = value & MASK, value >> 64 & MASK
        total.merge(part)
    wrapped = (sum(values) + (1 << 127)) % (1 << 128) - (1 << 127)
    assert integers_of(total) == [wrapped, wrapped]


@given(
    st.integers(-(1 << 120), 1 << 120) | st.integers(-(1 << 66), 1 << 66) | st.sampled_from([-1, 0, -1 << 64, -3 << 64])
)
def test_sums_become_the_doubles_next_to_them(value):
    """A small negative number has a large low word."""
    aggregator = ldp.Laplace(0.0, 1.0, 1.0).aggregator()
    aggregator._state[...] = value & MASK, value >> 64 & MASK
    floats = aggregator._floats(slice(None))
    assert floats.tolist() == pytest.approx([float(value)] * 2, rel=2**-51, abs=0)


def test_sums_of_two_million_records_are_exact():
    mechanism = ldp.Laplace(0.0, 1.0, 1.0)
    reports = np.full(2_000_000, mechanism.grid * (-FAR + 0.5))
    assert integers_of(aggregate(mechanism, reports)) == [-FAR * 2_000_000, FAR * FAR * 2_000_000]


# Counts ---------------------------------------------------------------------------------------------------------------


def test_counts_are_a_copy():
    aggregator = aggregate(ldp.RandomizedResponse(3, 1.0), np.array([0, 2, 2], np.uint8))
    assert_same(aggregator.counts, np.array([1, 0, 2]))
    aggregator.counts[...] = 7
    assert_same(aggregator.counts, np.array([1, 0, 2]))


def test_counts_of_bits_are_in_little_bit_order():
    reports = np.array([[0b00000001, 0b10], [0b10000001, 0b00]], np.uint8)
    assert aggregate(ldp.UnaryEncoding(10, 1.0), reports).counts.tolist() == [2, 0, 0, 0, 0, 0, 0, 1, 0, 1]
    assert aggregate(ldp.LinfBall(10, 1.0), reports).counts.tolist() == [2, 0, 0, 0, 0, 0, 0, 1, 0, 1]


def test_counts_of_flags_are_zeros_and_ones():
    assert aggregate(ldp.Warner(1.0), np.array([0, 1, 1], np.uint8)).counts.tolist() == [1, 2]
    assert aggregate(ldp.SignBit(0, 1, 1.0), np.array([0, 1, 1], np.uint8)).counts.tolist() == [1, 2]


# Refused reports ------------------------------------------------------------------------------------------------------


def assert_refused(mechanism, bad, kind, message):
    """By every way in, and with the aggregator as it was."""
    good = mechanism.privatize(
        np.zeros((4, mechanism.dim)) if hasattr(mechanism, "dim") else np.zeros(4, np.uint8), rng=1
    )
    aggregator = aggregate(mechanism, good)
    before = aggregator.to_bytes()
    for call in (aggregator.update, mechanism.decode, mechanism.estimate):
        with raises(kind, message):
            call(bad)
    assert aggregator.to_bytes() == before


@pytest.mark.parametrize("bad", [4, 5, 255])
@pytest.mark.parametrize(
    "mechanism", [ldp.RandomizedResponse(4, 1.0), ldp.Bins([0, 1, 2], 1.0), ldp.Residue(1, 0, 4, 1.0)], ids=repr
)
def test_codes_that_no_report_has(mechanism, bad):
    reports = np.array([0, 3, bad, 1, bad], np.uint8)
    assert_refused(mechanism, reports, ValueError, "reports must be codes in [0, 4); index 2 is outside")


def test_wide_codes_and_flags_that_no_report_has():
    reports = np.array([299, 300], np.uint16)
    assert_refused(
        ldp.RandomizedResponse(300, 1.0), reports, ValueError, "reports must be codes in [0, 300); index 1 is outside"
    )
    for mechanism in (ldp.Warner(1.0), ldp.SignBit(0, 1, 1.0)):
        assert_refused(
            mechanism, np.array([0, 1, 2], np.uint8), ValueError, "reports must be codes in [0, 2); index 2 is outside"
        )


@pytest.mark.parametrize("bit", [5, 6, 7])
@pytest.mark.parametrize("mechanism", [ldp.UnaryEncoding(13, 1.0), ldp.LinfBall(13, 1.0)], ids=repr)
def test_padding_bits(mechanism, bit):
    reports = np.full((6, 2), 0b00011111, np.uint8)
    reports[3, 1] |= 1 << bit
    message = "reports must have zeros in the padding after 13 bits; row 3 has not"
    assert_refused(mechanism, reports, ValueError, message)


@pytest.mark.parametrize("mechanism", [ldp.UnaryEncoding(13, 1.0), ldp.LinfBall(13, 1.0)], ids=repr)
@pytest.mark.parametrize("shape", [(4, 1), (4, 3), (3,), (2, 2, 2), (0, 3), ()])
def test_reports_of_another_width(mechanism, shape):
    message = f"reports must have shape (n, 2), got shape {shape}"
    assert_refused(mechanism, np.zeros(shape, np.uint8), ValueError, message)


def test_reports_of_another_shape():
    assert_refused(
        ldp.Warner(1.0), np.zeros((2, 1), np.uint8), ValueError, "reports must have shape (n,), got shape (2, 1)"
    )
    assert_refused(ldp.L2Ball(3, 1.0), np.zeros((2, 4)), ValueError, "reports must have shape (n, 3), got shape (2, 4)")
    assert_refused(
        ldp.Laplace(0, 1, 1.0), np.zeros((2, 1)), ValueError, "reports must have shape (n,), got shape (2, 1)"
    )


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint16", "bool", "float64", "object"])
def test_reports_of_another_dtype(dtype):
    message = f"reports must have dtype uint8, got dtype {dtype}"
    for mechanism, shape in ((ldp.Warner(1.0), 3), (ldp.UnaryEncoding(8, 1.0), (3, 1)), (ldp.LinfBall(8, 1.0), (3, 1))):
        assert_refused(mechanism, np.zeros(shape, dtype), TypeError, message)


def test_real_reports_of_another_dtype():
    assert_refused(
        ldp.Laplace(0, 1, 1.0), np.zeros(3, np.float32), TypeError, "reports must have dtype float64, got dtype float32"
    )
    assert_refused(
        ldp.L2Ball(3, 1.0),
        np.zeros((1, 3), np.float16),
        TypeError,
        "reports must have dtype float64, got dtype float16",
    )
    assert_refused(
        ldp.L2Ball(3, 1.0), np.zeros((1, 3), int), TypeError, "reports must have dtype float64, got dtype int64"
    )


@pytest.mark.parametrize("what", ["next", "halfway", "point", "nan", "inf", "far"])
def test_reports_off_the_grid(what):
    mechanism = ldp.Laplace(0.0, 1.0, 1.0)
    grid = mechanism.grid
    bad = {
        "next": np.nextafter(0.5 * grid, 1),
        "halfway": 0.75 * grid,
        "point": 3 * grid,
        "nan": math.nan,
        "inf": math.inf,
        "far": grid * (2.0**47 + 1.5),
    }[what]
    reports = np.array([0.5 * grid, -2.5 * grid, bad, bad])
    assert_refused(mechanism, reports, ValueError, "reports must lie on the mechanism's grid; row 2 does not")
    vector = ldp.LaplaceVector(2, 1.0)
    rows = vector.privatize(np.zeros((3, 2)))
    rows[1, 1] += bad if math.isnan(bad) else vector.grid / 3
    assert_refused(vector, rows, ValueError, "reports must lie on the mechanism's grid; row 1 does not")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("factor", [0.0, 0.999, 1.001, 1e30, math.nan, math.inf])
def test_vectors_of_another_norm(dtype, factor):
    mechanism = ldp.L2Ball(3, 1.0)
    rows = mechanism.privatize(np.zeros((5, 3), dtype))
    rows[2, 1:] = 0
    rows[2, 0] = mechanism.scale * factor
    message = f"reports must have Euclidean norm {mechanism.scale!r}; row 2 has not"
    assert_refused(mechanism, rows, ValueError, message)


@pytest.mark.parametrize("dim", [1, 2, 100, 5000, 100_000])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_own_vectors_are_of_the_right_norm(dim, dtype):
    """The tolerance of the check must cover the rounding of the kernel for every dim."""
    mechanism = ldp.L2Ball(dim, 0.1, 1e-3)
    reports = mechanism.privatize(np.zeros((max(2, 20_000 // dim), dim), dtype), rng=1)
    assert mechanism.aggregator().update(reports).n == len(reports)


def test_all_own_grid_reports_are_on_the_grid():
    for lower, upper, epsilon in (
        (-1, 3, 1.0),
        (10, 20, 0.01),
        (-1e6, -1e6 + 1, 3.0),
        (0.1, 0.7, 1e-4),
        (1e-9, 1e-8, 20.0),
    ):
        mechanism = ldp.Laplace(lower, upper, epsilon)
        reports = mechanism.privatize(np.linspace(lower, upper, 5000), rng=1, clip=True)
        assert mechanism.aggregator().update(reports).n == 5000


def test_no_reports_no_estimate(kind):
    for aggregator in (kind.mechanism.aggregator(), aggregate(kind.mechanism, reports_of(kind, 3)[:0])):
        with raises(ValueError, "an estimate needs at least 1 report, got n = 0"):
            aggregator.estimate()


# Merging unlike aggregators -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "a, b",
    [
        (ldp.Warner(1.0), ldp.Warner(2.0)),
        (ldp.Warner(1.0), ldp.SignBit(0, 1, 1.0)),
        (ldp.UnaryEncoding(8, 1.0), ldp.UnaryEncoding(8, 1.0, "optimized")),
        (ldp.LinfBall(8, 1.0), ldp.LinfBall(8, 1.0, ties="thin")),
        (ldp.LinfBall(8, 1.0), ldp.LinfBall(9, 1.0)),
        (ldp.Laplace(0, 1, 1.0), ldp.Laplace(0, 2, 1.0)),
    ],
)
def test_merging_unlike_aggregators_names_the_difference(a, b):
    ours, theirs = a.aggregator(), b.aggregator()
    before = ours.to_bytes(), theirs.to_bytes()
    with pytest.raises(ValueError, match=r"^other must ") as caught:
        ours.merge(theirs)
    assert repr(a) in str(caught.value)
    assert repr(b) in str(caught.value)
    assert before == (ours.to_bytes(), theirs.to_bytes())
    assert ours != theirs


@pytest.mark.parametrize("other", [None, 3, b"", ldp.Warner(1.0)])
def test_merging_with_something_else(other):
    with raises(TypeError, f"other must be an Aggregator, got {type(other).__name__}"):
        ldp.Warner(1.0).aggregator().merge(other)


def test_aggregators_say_what_they_hold():
    aggregator = aggregate(ldp.Warner(1.0), np.array([0, 1], np.uint8))
    assert repr(aggregator) == "<CodeCounts of Warner(epsilon=1.0): n = 2>"
    assert aggregator != 3
    with pytest.raises(TypeError):
        hash(aggregator)


# Bytes ----------------------------------------------------------------------------------------------------------------


def test_bytes_travel(example):
    for n in (0, 7):
        aggregator = aggregate(example.mechanism, reports_of(example, 7)[:n])
        for data in (aggregator.to_bytes(), bytearray(aggregator.to_bytes()), memoryview(aggregator.to_bytes())):
            twin = Aggregator.from_bytes(data)
            assert twin == aggregator
            assert (type(twin), twin.mechanism, twin.n) == (type(aggregator), example.mechanism, n)
            assert twin.to_bytes() == aggregator.to_bytes()


def test_an_aggregator_from_bytes_goes_on(kind):
    reports = reports_of(kind, 20)
    twin = Aggregator.from_bytes(aggregate(kind.mechanism, reports[:8]).to_bytes())
    assert twin.update(reports[8:]) == aggregate(kind.mechanism, reports)


def test_every_damaged_byte_is_noticed(kind):
    data = aggregate(kind.mechanism, reports_of(kind, 7)).to_bytes()
    for i in range(len(data)):
        for flip in (1, 0x80, 0xFF):
            with pytest.raises(ValueError, match=r"^data must "):
                Aggregator.from_bytes(data[:i] + bytes([data[i] ^ flip]) + data[i + 1 :])


def test_every_truncation_is_noticed(kind):
    data = aggregate(kind.mechanism, reports_of(kind, 7)).to_bytes()
    for i in range(len(data)):
        with pytest.raises(ValueError, match=r"^data must "):
            Aggregator.from_bytes(data[:i])
        with pytest.raises(ValueError, match=r"^data must "):
            Aggregator.from_bytes(data[i + 1 :])
    with pytest.raises(ValueError, match=r"damaged or cut off$"):
        Aggregator.from_bytes(data + b"\0")


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"\x93NUMPY" + b"\0" * 100, b"{}", b"\0" * 64])
def test_foreign_bytes(data):
    with raises(ValueError, "data must be the bytes of an aggregator: they do not start like one"):
        Aggregator.from_bytes(data)


@pytest.mark.parametrize("data", ["LDPFAST", None, 3, [1]])
def test_no_bytes_at_all(data):
    with raises(TypeError, f"data must be bytes, got {type(data).__name__}"):
        Aggregator.from_bytes(data)


def test_another_version_is_named():
    data = ldp.Warner(1.0).aggregator().to_bytes()
    with raises(ValueError, "data must be of layout version 1, got 2"):
        Aggregator.from_bytes(data[:7] + b"\x02" + data[8:])
    with raises(ValueError, "data must be of layout version 1, got nothing"):
        Aggregator.from_bytes(data[:7])


def forged(mechanism, state, n=1):
    """Bytes with a right checksum and a wrong content."""
    text = mechanism if isinstance(mechanism, bytes) else json.dumps(mechanism).encode()
    body = struct.pack("<8sQQ", b"LDPFAST\x01", len(text), n) + text + state
    return body + hashlib.blake2b(body, digest_size=16).digest()


WARNER_DICT = {"mechanism": "Warner", "epsilon": 1.0}


def test_the_forgery_of_these_tests_is_like_the_real_one():
    assert Aggregator.from_bytes(forged(WARNER_DICT, b"\0" * 16, 0)) == ldp.Warner(1.0).aggregator()


NO_MECHANISMS = [
    b"\xff\xfe",
    b"{",
    b'{"mechanism": "Warner", "epsilon": NaN}',
    b"[" * 100_000,
    [],
    3,
    {},
    {"mechanism": "Future", "epsilon": 1.0},
    {"mechanism": ["Warner"]},
    {"mechanism": "Warner"},
    {"mechanism": "Warner", "epsilon": -1.0},
    {"mechanism": "Warner", "epsilon": "1"},
    {"mechanism": "Warner", "epsilon": None},
]


@pytest.mark.parametrize("mechanism", NO_MECHANISMS, ids=lambda m: str(m)[:40])
def test_bytes_of_no_mechanism_of_this_version(mechanism):
    with pytest.raises(ValueError, match=r"^data must name a mechanism of this version: "):
        Aggregator.from_bytes(forged(mechanism, b"\0" * 16))


@pytest.mark.parametrize("size", [0, 15, 17, 24])
def test_a_state_of_another_size(size):
    with raises(ValueError, f"data must hold a state of 16 bytes, got {size}"):
        Aggregator.from_bytes(forged(WARNER_DICT, b"\0" * size))


def test_a_state_that_is_not_there_takes_no_memory():
    """A few bytes must not make the server ask for terabytes."""
    huge = {"mechanism": "RandomizedResponse", "k": 1 << 40, "epsilon": 30.0}
    with pytest.raises(ValueError, match=r"^data must hold a state of "):
        Aggregator.from_bytes(forged(huge, b""))


@pytest.mark.parametrize(
    "mechanism, position, value",
    [
        (ldp.RandomizedResponse(4, 1.0), 0, 9),  # more than there are reports
        (ldp.RandomizedResponse(4, 1.0), 1, 0),  # counts that do not add up to n
        (ldp.UnaryEncoding(4, 1.0), 2, -1),
        (ldp.LinfBall(3, 1.0), 0, 6),
        (ldp.L2Ball(3, 1.0), 1, 1 << 40),  # the high word of a sum
        (ldp.Laplace(0.0, 1.0, 1.0), 3, 1 << 62),  # of the sum of squares: negative
        (ldp.Laplace(0.0, 1.0, 1.0), 0, 1 << 62),  # a sum that its squares do not allow
    ],
    ids=repr,
)
def test_states_that_no_reports_have_are_refused(mechanism, position, value):
    """Bytes with a right checksum, made by hand."""
    import hashlib

    records = np.zeros((5, 3)) if mechanism.domain.width else np.zeros(5, int)
    good = mechanism.aggregator().update(mechanism.privatize(records, rng=1)).to_bytes()[:-16]
    size = mechanism.aggregator()._state.nbytes
    state = np.frombuffer(good[-size:], np.int64).copy()
    state[position] = value if value else state[position] + 1
    body = good[:-size] + state.tobytes()
    with pytest.raises(ValueError, match="data must hold a state that n = 5 reports can have"):
        ldp.Aggregator.from_bytes(body + hashlib.blake2b(body, digest_size=16).digest())
