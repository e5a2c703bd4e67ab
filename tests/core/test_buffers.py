"""Size checks of compiled functions, so that they never access memory outside of their arrays."""

from __future__ import annotations

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.reports import recipe_of

from ..support.cases import each
from ..support.errors import raises
from ..support.internals.kernels import order, person, series, sgd, survey, tally
from ..support.process import run_python

KEY = bytes(32)


@pytest.mark.parametrize("mechanism", [ldp.Warner(1.0), ldp.L2Ball(3, 1.0), ldp.UnaryEncoding(9, 1.0)], ids=repr)
def test_kernels_reject_arrays_of_wrong_sizes(mechanism):
    kernel = recipe_of(mechanism).kernel
    x = np.zeros((4, 3)) if isinstance(mechanism, ldp.L2Ball) else np.zeros(4, np.uint8)
    good = mechanism.privatize(x)
    with raises(ValueError, "records and reports do not fit together"):
        kernel.privatize(KEY, 0, x, good[:3])
    with raises(ValueError, "records and state do not fit together"):
        kernel.run(KEY, 0, x, np.zeros(100, np.uint8))
    with raises(ValueError, "a key has 32 bytes"):
        kernel.privatize(b"", 0, x, good)
    with raises(ValueError, "items must have 1, 2, 4 or 8 bytes, got 16"):
        kernel.privatize(KEY, 0, np.zeros(4, complex), good)
    read_only = good.copy()
    read_only.flags.writeable = False
    with raises(ValueError, "buffer source array is read-only"):
        kernel.privatize(KEY, 0, x, read_only)
    assert not read_only.flags.writeable
    keys, each_good = np.zeros((4, 32), np.uint8), "keys, records and reports do not fit together"
    keys[:, 0], each_report = range(4), good.copy()
    kernel.privatize_each(keys, x, each_report)
    for i in range(4):
        kernel.privatize(keys[i].tobytes(), 0, x[i : i + 1], good[i : i + 1])
    assert np.array_equal(each_report, good)
    for own, to in ((keys[:3], good), (keys, good[:3]), (np.zeros((4, 31), np.uint8), good)):
        with raises(ValueError, each_good):
            kernel.privatize_each(own, x, to.copy())
    with raises(ValueError, each_good):
        kernel.privatize_each(keys[:2], x[::2], good[:2].copy())  # records with gaps


@pytest.mark.parametrize(
    "mechanism, item_bytes",
    [
        (ldp.L2Ball(3, 1.0), 8),  # records are vectors
        (ldp.UnaryEncoding(9, 1.0), 1),  # reports are vectors
        (ldp.SignBit(0, 1, 1.0), 1),  # records are no codes
    ],
)
def test_kernels_reject_a_single_number_where_items_are_others(mechanism, item_bytes):
    with raises(ValueError, "a number does not fit the kernel"):
        recipe_of(mechanism).kernel.privatize_number(KEY, 0, 1, item_bytes, True, True)


@pytest.mark.parametrize(
    "add, reports, state",
    [
        (tally.add_bits, np.zeros((3, 8), np.uint8), np.zeros(64, np.uint8)),
        (tally.add_codes, np.zeros(3, np.uint8), np.zeros(64, np.uint8)),
        (lambda r, s: tally.add_vectors(r, 3, 1.0, s), np.zeros((2, 3)), np.zeros((2, 2), np.uint64)),
        (lambda r, s: tally.add_grid(r, 3, 0.0, 1.0, s), np.full((2, 3), 0.5), np.zeros((3, 2), np.uint64)),
    ],
    ids=["bits", "codes", "vectors", "grid"],
)
def test_tallies_reject_states_of_a_wrong_size(add, reports, state):
    """A tally writes 64-bit counts, so a state of k bytes is too short."""
    with raises(ValueError, "reports and state do not fit together"):
        add(reports, state)
    assert not state.any()


@each(
    "ranks, scratch",
    [
        ((-1, 0, 1, 2, 1), 2),
        ((1, 0, 1, 2, 1), 2),
        ((0, 1, 2, 1, 1), 2),
        ((0, 1, 2, 3, 1), 4),
        ((0, 2, 2, 2, 1), 4),
        ((0, 1, 1, 2, 1), 1),
    ],
)
def test_spreads_reject_ranks_that_do_not_fit(ranks, scratch):
    assert order.spread(np.arange(3.0), 0.0, 0, 1, 1, 2, 1, np.empty(2)) == 2
    with raises(ValueError, "the ranks do not fit the data"):
        order.spread(np.arange(3.0), 0.0, *ranks, np.empty(scratch))


MEDIAN = sgd.MedianSGD(0.0, 1.0, 0.1, -0.1, 1 << 63, 64, False)
BALL = ldp.LinfBall(3, 1.0)
DESCENT = sgd.GradientDescent(3, 1.0, 0.0, 1.0, 1.0, 0, True, recipe_of(BALL).kernel, BALL.scale)
SERIES = series.Series(3, 0.0, 1.0)
X, Y, RATES, PLACES, WRONG = np.zeros((5, 3)), np.zeros(5), np.zeros(5), np.zeros(4), np.zeros(7)
POSITION, SUMS = np.zeros(32), np.zeros((4, 32))
GRADIENTS = np.zeros((5, 3), np.float32)
FIT_TOGETHER, FIT_THE_MODEL = "{} do not fit together", "position, sums and matrix do not fit the model"
GRADIENT_SIZES = FIT_TOGETHER.format("position, rows and gradients")
RUN_SIZES = FIT_TOGETHER.format("rows, responses and rates")


@each(
    "message, call, arguments",
    [
        (GRADIENT_SIZES, DESCENT.gradients, (POSITION[:3], X, Y, GRADIENTS)),
        (GRADIENT_SIZES, DESCENT.gradients, (POSITION, np.zeros((5, 4)), Y, GRADIENTS)),
        (GRADIENT_SIZES, DESCENT.gradients, (POSITION, X, WRONG, GRADIENTS)),
        (GRADIENT_SIZES, DESCENT.gradients, (POSITION, X, Y, np.zeros((5, 4), np.float32))),
        (FIT_THE_MODEL, DESCENT.step, (POSITION, 1.0, 0.0, POSITION[:3], SUMS)),
        (FIT_THE_MODEL, DESCENT.step, (POSITION, 1.0, 0.0, POSITION, np.zeros((3, 32)))),
        (FIT_THE_MODEL, DESCENT.step, (POSITION, 1.0, 0.0, POSITION, SUMS, np.zeros((3, 4)))),
        (FIT_TOGETHER.format("report and position"), DESCENT.step, (POSITION[:3], 1.0, 0.0, POSITION, SUMS)),
        (FIT_THE_MODEL, DESCENT.run, (KEY, 0, X, Y, None, RATES, 0.0, WRONG, SUMS)),
        (RUN_SIZES, DESCENT.run, (KEY, 0, np.zeros((5, 4)), Y, None, RATES, 0.0, POSITION, SUMS)),
        (RUN_SIZES, DESCENT.run, (KEY, 0, X, WRONG, None, RATES, 0.0, POSITION, SUMS)),
        (RUN_SIZES, DESCENT.run, (KEY, 0, X, Y, None, WRONG, 0.0, POSITION, SUMS)),
        (RUN_SIZES, DESCENT.run, (KEY, 0, X, Y, np.arange(4), RATES, 0.0, POSITION, SUMS)),
        ("a key has 32 bytes", DESCENT.run, (b"", 0, X, Y, None, RATES, 0.0, POSITION, SUMS)),
        ("a key has 32 bytes", MEDIAN.run, (b"", 0, Y, sgd.QuantileState(0.5))),
        (FIT_TOGETHER.format("coefficients, numbers and values"), SERIES.values, (WRONG, PLACES, PLACES)),
        (FIT_TOGETHER.format("coefficients, numbers and values"), SERIES.values, (np.zeros(3), PLACES, WRONG)),
    ],
    ids=lambda value: getattr(value, "__qualname__", ""),
)
def test_descent_and_series_reject_arrays_of_wrong_sizes(message, call, arguments):
    assert DESCENT.padded == 32
    with raises(ValueError, message):
        call(*arguments)
    for array in (POSITION, SUMS, GRADIENTS, WRONG):
        assert not array.any()


@pytest.mark.parametrize("state", [np.zeros(10), None])
def test_a_quantile_protocol_takes_only_its_own_state(state):
    message = r"^Argument 'state' has incorrect type \(expected .*QuantileState, got "
    with pytest.raises(TypeError, match=message):
        MEDIAN.run(KEY, 0, Y, state)
    with pytest.raises(TypeError, match=message):
        MEDIAN.answer(True, state)


@pytest.mark.parametrize("sums", ["(0.0,) * 3", "(0.0,) * 4, (0.0,) * 2", "(0.0,) * 5", "(), ()"])
def test_a_quantile_state_needs_four_moments_and_three_sums_of_ones(sums):
    """The call is in a separate process, because an access outside of the arguments would end it."""
    code = f"""
from ldpfast._core.sgd import QuantileState
try:
    QuantileState(0.5, 0, None, {sums})
except ValueError as error:
    print(error)
"""
    assert "to unpack" in run_python(code).stdout


def test_a_descent_needs_a_kernel_of_its_dimension():
    with raises(ValueError, "the kernel must be for as many numbers as there are coefficients"):
        sgd.GradientDescent(4, 1.0, 0.0, 1.0, 1.0, 0, True, recipe_of(BALL).kernel, BALL.scale)
    with pytest.raises(TypeError, match=r"^Argument 'kernel' has incorrect type"):
        sgd.GradientDescent(3, 1.0, 0.0, 1.0, 1.0, 0, True, None, BALL.scale)


PREFIX, KEYS, ENDS = person.Prefix(KEY, b""), np.zeros((2, 32), np.uint8), np.array([0, 1, 3])
DATA, VALUES, SECRETS = np.zeros(3, np.uint8), np.zeros((2, 4), np.uint8), np.zeros((2, 32), np.uint8)
PERSON_SIZES = FIT_TOGETHER.format("persons, values and keys")
ASKED_SIZES, WEIGHTS = FIT_TOGETHER.format("names, weights and answers"), np.ones(2, np.uint32)


@each(
    "message, call, arguments",
    [
        (ASKED_SIZES, PREFIX.assign, (DATA, ENDS, DATA, ENDS, WEIGHTS, 0)),
        (ASKED_SIZES, PREFIX.assign, (DATA, ENDS, DATA, ENDS, WEIGHTS, 3)),
        (ASKED_SIZES, PREFIX.assign, (DATA, ENDS, DATA, ENDS[:2], WEIGHTS, 1)),
        ("names must be in their buffer", PREFIX.assign, (DATA, ENDS, DATA[:2], ENDS, WEIGHTS, 1)),
        ("names must be in their buffer", PREFIX.assign, (DATA, ENDS, DATA, ENDS - 1, WEIGHTS, 1)),
        ("names must be in their buffer", PREFIX.assign, (DATA, ENDS, DATA, ENDS[::-1].copy(), WEIGHTS, 1)),
        ("persons must be in their buffer", PREFIX.assign, (DATA[:2], ENDS, DATA, ENDS, WEIGHTS, 1)),
        ("persons must be in their buffer", PREFIX.assign, (DATA, ENDS - 1, DATA, ENDS, WEIGHTS, 1)),
        ("a key has 32 bytes", person.rounding_words, (KEYS[:, :31].copy(), 0)),
        ("there is no such part", person.rounding_words, (KEYS, 8)),
        (PERSON_SIZES, PREFIX.derive, (DATA, ENDS[:2], VALUES, SECRETS)),
        (PERSON_SIZES, PREFIX.derive, (DATA, ENDS, VALUES[:1], SECRETS)),
        (PERSON_SIZES, PREFIX.derive, (DATA, ENDS, VALUES, SECRETS[:, :31].copy())),
        ("persons must be in their buffer", PREFIX.derive, (DATA, ENDS - 1, VALUES, SECRETS)),
        ("persons must be in their buffer", PREFIX.derive, (DATA, ENDS[::-1].copy(), VALUES, SECRETS)),
        ("persons must be in their buffer", PREFIX.derive, (DATA[:2], ENDS, VALUES, SECRETS)),
    ],
    ids=lambda value: getattr(value, "__qualname__", ""),
)
def test_keys_of_persons_reject_arrays_of_wrong_sizes(message, call, arguments):
    with raises(ValueError, message):
        call(*arguments)
    assert not SECRETS.any()


def test_keys_of_persons_accept_the_largest_sizes():
    assert PREFIX.assign(DATA, ENDS, DATA, ENDS, WEIGHTS, 2).all()
    assert PREFIX.assign(DATA, ENDS, DATA, ENDS[:2], WEIGHTS[:1], 1).tolist() == [[1], [1]]
    assert PREFIX.assign(DATA, ENDS, DATA, ENDS, WEIGHTS, 1).sum(axis=1).tolist() == [1, 1]
    found = np.zeros_like(SECRETS)
    PREFIX.derive(DATA, ENDS, VALUES, found)
    assert found.any(axis=1).all()


@each("offset, n", [(0, 1), (0, 9), (3, 13), (0, 1000)])
@each("kind", ["bits", *(f"{sign}int{8 << i}" for sign in ("", "u") for i in range(4)), "float32", "float64"])
def test_columns_hold_their_rows(kind, offset, n):
    rows = offset + n
    bits = -(-rows // 8)
    size = bits if kind == "bits" else rows * np.dtype(kind).itemsize
    assert survey.Column(kind, bytes(size), bytes(bits), offset, n).n == n
    for values, valid in ((size - 1, None), (size - 1, bits), (size, bits - 1)):
        with raises(ValueError, "a column must hold its rows"):
            survey.Column(kind, bytes(values), None if valid is None else bytes(valid), offset, n)
