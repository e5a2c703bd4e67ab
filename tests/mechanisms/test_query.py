"""Queries of protocols: bytes, and answers for every record."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpfast as ldp
from ldpfast import Query
from ldpfast.mechanisms import Gradient, LaplaceOneHot, Mechanism

from ..cards import KINDS, MECHANISMS
from ..support.cases import each
from ..support.errors import raises
from ..support.examples import assert_same, records_of

MOST = (1 << 63) - 1
QUERY = Query(3, ldp.Bins((0.5,), 1.0))
BYTES = b'{"cuts":[0.5],"epsilon":1,"mechanism":"Bins","query":3}'


# Construction ---------------------------------------------------------------------------------------------------------


def test_a_query_is_a_number_and_a_mechanism():
    assert (QUERY.serial, QUERY.mechanism) == (3, ldp.Bins(0.5, 1.0))
    assert Query(np.int64(3), QUERY.mechanism) == QUERY
    assert type(Query(np.int64(3), QUERY.mechanism).serial) is int
    assert len({QUERY, Query(3, ldp.Bins(0.5, 1.0)), Query(4, QUERY.mechanism), Query(3, ldp.Warner(1.0))}) == 3


def test_a_query_is_frozen():
    for name in ("serial", "mechanism", "new"):
        with pytest.raises(AttributeError):
            setattr(QUERY, name, 1)


def test_pickle_and_copy_give_equal_queries():
    for other in (pickle.loads(pickle.dumps(QUERY)), copy.copy(QUERY), copy.deepcopy(QUERY)):
        assert other == QUERY


@pytest.mark.parametrize("serial", [-1, MOST + 1])
def test_serial_numbers_out_of_range_are_rejected(serial):
    with raises(ValueError, f"serial must be an integer in [0, {MOST}], got {serial}"):
        Query(serial, ldp.Warner(1.0))


@each("serial", [1.0, "1", None, True, np.True_])
def test_serial_numbers_are_integers(serial):
    with pytest.raises(TypeError, match=r"^serial must be an integer, got "):
        Query(serial, ldp.Warner(1.0))


@pytest.mark.parametrize("mechanism", [None, 1.0, ldp.Warner, {"mechanism": "Warner", "epsilon": 1.0}])
def test_a_query_needs_a_mechanism(mechanism):
    with raises(TypeError, f"mechanism must be a Mechanism, got {type(mechanism).__name__}"):
        Query(0, mechanism)


# Bytes ----------------------------------------------------------------------------------------------------------------


@each("mechanism", MECHANISMS, ids=repr)
def test_bytes_give_the_same_query(mechanism):
    query = Query(7, mechanism)
    data = query.to_bytes()
    x = records_of(mechanism, 5)
    for other in (Query.from_bytes(data), Query.from_bytes(bytearray(data)), Query.from_bytes(memoryview(data))):
        assert other == query
        assert other.to_bytes() == data
        assert_same(other.privatize(x, rng=5), query.privatize(x, rng=5))


def test_the_bytes_are_plain_json():
    assert QUERY.to_bytes() == BYTES
    assert Query.from_bytes(b' {"mechanism": "Bins", "query": 3, "cuts": 0.5, "epsilon": 1}\n') == QUERY


@given(st.integers(0, MOST), st.floats(1e-6, 40), st.floats(-1e300, 1e300), st.lists(st.floats(-1e9, 1e9), min_size=1))
def test_bytes_keep_every_position_exactly(serial, epsilon, cut, position):
    for mechanism in (ldp.Bins((cut,), epsilon), Gradient("logistic", tuple(position), epsilon)):
        query = Query(serial, mechanism)
        assert Query.from_bytes(query.to_bytes()) == query


@each("data", ["{}", None, 3, [1, 2], np.zeros(3, np.uint8), QUERY])
def test_a_query_is_read_from_bytes_only(data):
    with raises(TypeError, f"data must be bytes, got {type(data).__name__}"):
        Query.from_bytes(data)


DAMAGED = [
    *(BYTES[:length] for length in range(len(BYTES))),
    b"[]",
    b"null",
    b"3",
    b"\xff\xfe\x00",
    b"[" * 100_000,
    b'{"query":' * 100_000,
    b'{"query":0}',
    b'{"epsilon":1.0,"mechanism":"Warner"}',
    b'{"epsilon":1.0,"mechanism":"Warner","query":-1}',
    b'{"epsilon":1.0,"mechanism":"Warner","query":1.0}',
    b'{"epsilon":1.0,"mechanism":"Warner","query":true}',
    b'{"epsilon":1.0,"mechanism":"Warner","query":9223372036854775808}',
    b'{"epsilon":1.0,"mechanism":"Warner","query":0,"k":2}',
    b'{"epsilon":1.0,"mechanism":"Mechanism","query":0}',
    b'{"epsilon":1.0,"mechanism":"Query","query":0}',
    b'{"epsilon":1.0,"mechanism":["Warner"],"query":0}',
    b'{"epsilon":NaN,"mechanism":"Warner","query":0}',
    b'{"epsilon":1e999,"mechanism":"Warner","query":0}',
    b'{"epsilon":%s,"mechanism":"Warner","query":0}' % (b"9" * 400),
    b'{"epsilon":%s,"mechanism":"Warner","query":0}' % (b"9" * 5000),
    b'{"cuts":[[0.5]],"epsilon":1.0,"mechanism":"Bins","query":0}',
    b'{"cuts":{"0":0.5},"epsilon":1.0,"mechanism":"Bins","query":0}',
]


@each("data", DAMAGED, ids=lambda data: repr(data[:60]))
def test_damaged_bytes_are_rejected(data):
    with pytest.raises(ValueError, match=r"^data must be the bytes of a query: "):
        Query.from_bytes(data)


def assert_query_or_value_error(data):
    try:
        query = Query.from_bytes(data)
    except ValueError:
        return
    assert Query.from_bytes(query.to_bytes()) == query


@given(st.binary(max_size=200))
def test_any_bytes_give_a_query_or_a_value_error(data):
    assert_query_or_value_error(data)


@given(st.sampled_from(KINDS), st.integers(0), st.integers(1, 255))
def test_a_changed_byte_gives_another_query_or_a_value_error(kind, at, flip):
    data = bytearray(Query(12, kind.mechanism).to_bytes())
    data[at % len(data)] ^= flip
    assert_query_or_value_error(bytes(data))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 2**70) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(KINDS), st.data())
def test_any_value_of_any_parameter_gives_a_query_or_a_value_error(kind, data):
    described = {"query": 1, **kind.mechanism.to_dict()}
    described[data.draw(st.sampled_from(sorted(described)))] = data.draw(JSON)
    assert_query_or_value_error(json.dumps(described).encode())


# Clients --------------------------------------------------------------------------------------------------------------

NUMBERS = [mechanism for mechanism in MECHANISMS if mechanism.domain.clips]
CATEGORIES: list[Mechanism] = [ldp.Warner(1.0), ldp.RandomizedResponse(4, 1.0), LaplaceOneHot(4, 1.0)]


@each("mechanism", NUMBERS, ids=repr)
def test_an_answer_is_the_clipped_report_of_the_mechanism(mechanism):
    x = records_of(mechanism, 9)
    x = 3 * x if x.dtype.kind == "f" else x
    expected = mechanism.privatize(x, rng=5, clip=True)
    assert_same(Query(0, mechanism).privatize(x, rng=5), expected)
    out = np.empty_like(expected)
    assert Query(0, mechanism).privatize(x, rng=5, out=out) is out
    assert_same(out, expected)
    assert_same(Query(0, mechanism).privatize(x[0], rng=5), mechanism.privatize(x[0], rng=5, clip=True))


ANY = st.floats(width=32) | st.sampled_from([np.nan, np.inf, -np.inf, 3e38, -3e38, 1e-45, -0.0])
ANY_WIDE = st.floats() | st.sampled_from([np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, -0.0])


@pytest.mark.filterwarnings("ignore:.* had NaN:ldpfast.ClippedWarning")
@pytest.mark.claim("Queries raise no error for a number, also not for NaN and infinities.", "Bad input")
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.mechanism.domain.clips], ids=str)
@given(st.data())
def test_every_number_is_accepted_and_every_answer_is_a_report(kind, data):
    """An error that depends on the record would itself be an answer."""
    mechanism = kind.mechanism
    dtype, numbers = data.draw(st.sampled_from([(np.float32, ANY), (np.float64, ANY_WIDE)]))
    shape = np.shape(records_of(mechanism, 3))
    size = int(np.prod(shape))
    x = np.array(data.draw(st.lists(numbers, min_size=size, max_size=size)), dtype).reshape(shape)
    reports = Query(0, mechanism).privatize(x)
    assert len(mechanism.report.validate(reports)) == 3
    assert np.isfinite(mechanism.decode(reports)).all()


@pytest.mark.filterwarnings("ignore:.* had NaN:ldpfast.ClippedWarning")
@each("family, extra", [("logistic", None), ("linear", 0.5), ("poisson", 0.5)])
@each("noise", ["half-space", "laplace"])
@each("norm", ["l2", "linf"])
def test_every_example_is_accepted(family, extra, norm, noise):
    """NaN and infinities in rows and in responses, large positions and an exponential that overflows."""
    position = (1e200, -1e-200, 3.0)
    mechanism = Gradient(family, position, 1.0, norm=norm, radius=1.0, column=0.5, residual=extra, noise=noise)
    hard = [np.nan, np.inf, -np.inf, 1e308, -1e308, 0.0]
    x = np.array([[a, b, y] for a in hard for b in hard for y in hard])
    for records in (x, np.clip(x, -3e38, 3e38).astype(np.float32)):
        reports = Query(0, mechanism).privatize(records, rng=1)
        assert len(mechanism.report.validate(reports)) == len(records)
        assert np.isfinite(mechanism.decode(reports)).all()


@pytest.mark.parametrize("mechanism", CATEGORIES, ids=repr)
def test_invalid_categories_are_rejected(mechanism):
    assert len(Query(0, mechanism).privatize([0, 1, 1])) == 3
    with pytest.raises(ValueError, match=r"^x must be integers in \[0, k\) "):
        Query(0, mechanism).privatize([0, 9])
    with pytest.raises(TypeError, match=r"^x must be integers, got dtype float64$"):
        Query(0, mechanism).privatize([np.nan])
