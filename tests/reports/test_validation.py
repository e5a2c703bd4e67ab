"""Rejection of reports that a mechanism cannot have made."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

import ldpfast as ldp

from ..support.aggregation import aggregate
from ..support.cases import each
from ..support.errors import raises


def assert_rejected(mechanism, bad, kind, message):
    """Check that `update`, `decode` and `estimate` raise the error, and that the aggregator does not change."""
    good = mechanism.privatize(
        np.zeros((4, mechanism.dim)) if hasattr(mechanism, "dim") else np.zeros(4, np.uint8), rng=1
    )
    aggregator = aggregate(mechanism, good)
    before = aggregator.to_bytes()
    for call in (aggregator.update, mechanism.decode, mechanism.estimate):
        with raises(kind, message):
            call(bad)
    assert aggregator.to_bytes() == before


# Shapes and dtypes ----------------------------------------------------------------------------------------------------


@each("mechanism", [ldp.UnaryEncoding(13, 1.0), ldp.LinfBall(13, 1.0)], ids=repr)
@each("shape", [(4, 1), (4, 3), (3,), (2, 2, 2), (0, 3), ()])
def test_packed_bits_of_a_wrong_shape(mechanism, shape):
    message = f"reports must have shape (n, 2), got shape {shape}"
    assert_rejected(mechanism, np.zeros(shape, np.uint8), ValueError, message)


@pytest.mark.parametrize(
    "mechanism, shape, expected",
    [
        (ldp.Warner(1.0), (2, 1), "(n,)"),
        (ldp.L2Ball(3, 1.0), (2, 4), "(n, 3)"),
        (ldp.Laplace(0, 1, 1.0), (2, 1), "(n,)"),
    ],
    ids=repr,
)
def test_codes_and_real_reports_of_a_wrong_shape(mechanism, shape, expected):
    reports = np.zeros(shape, mechanism.report.dtype(np.dtype(np.float64)))
    assert_rejected(mechanism, reports, ValueError, f"reports must have shape {expected}, got shape {shape}")


@each("dtype", ["int8", "int64", "uint16", "bool", "float64", "U1"])
def test_codes_and_bits_of_a_wrong_dtype(dtype):
    message = f"reports must have dtype uint8, got dtype {np.dtype(dtype)}"
    for mechanism, shape in ((ldp.Warner(1.0), 3), (ldp.UnaryEncoding(8, 1.0), (3, 1)), (ldp.LinfBall(8, 1.0), (3, 1))):
        assert_rejected(mechanism, np.zeros(shape, dtype), TypeError, message)


@pytest.mark.parametrize(
    "mechanism, shape, dtype",
    [
        (ldp.Laplace(0, 1, 1.0), (3,), "float32"),
        (ldp.L2Ball(3, 1.0), (1, 3), "float16"),
        (ldp.L2Ball(3, 1.0), (1, 3), "int64"),
    ],
    ids=str,
)
def test_real_reports_of_a_wrong_dtype(mechanism, shape, dtype):
    message = f"reports must have dtype float64, got dtype {dtype}"
    assert_rejected(mechanism, np.zeros(shape, dtype), TypeError, message)


# Impossible values ----------------------------------------------------------------------------------------------------


@each("bad", [4, 5, 255])
@each("mechanism", [ldp.RandomizedResponse(4, 1.0), ldp.Bins([0, 1, 2], 1.0), ldp.Residue(1, 0, 4, 1.0)], ids=repr)
def test_codes_out_of_range(mechanism, bad):
    reports = np.array([0, 3, bad, 1, bad], np.uint8)
    assert_rejected(mechanism, reports, ValueError, "reports must be codes in [0, 4); index 2 is outside")


@pytest.mark.parametrize(
    "mechanism, reports, message",
    [
        (ldp.RandomizedResponse(300, 1.0), np.array([299, 300], np.uint16), "[0, 300); index 1 is outside"),
        (ldp.Warner(1.0), np.array([0, 1, 2], np.uint8), "[0, 2); index 2 is outside"),
        (ldp.SignBit(0, 1, 1.0), np.array([0, 1, 2], np.uint8), "[0, 2); index 2 is outside"),
    ],
    ids=repr,
)
def test_wide_codes_and_flags_out_of_range(mechanism, reports, message):
    assert_rejected(mechanism, reports, ValueError, f"reports must be codes in {message}")


def test_codes_that_no_record_gives():
    mechanism = ldp.FiniteChannel([[3, 0, 1, 0], [1, 0, 3, 0]])
    reports = np.array([0, 2, 3, 1], np.uint8)
    assert_rejected(mechanism, reports, ValueError, "reports must be codes of positive probability; index 2 is not")


@each("bit", [5, 6, 7])
@each("mechanism", [ldp.UnaryEncoding(13, 1.0), ldp.LinfBall(13, 1.0)], ids=repr)
def test_padding_bits_that_are_set(mechanism, bit):
    reports = np.full((6, 2), 0b00011111, np.uint8)
    reports[3, 1] |= 1 << bit
    message = "reports must have zeros in the padding after 13 bits; row 3 does not"
    assert_rejected(mechanism, reports, ValueError, message)


@each("k", [5, 8, 13, 64, 100, 128, 1000])
@each("change", ["all", "none", "more", "fewer", "exchanged"])
def test_sets_of_another_size(k, change):
    """Also where the total number of ones is right, by any reader."""
    mechanism = ldp.SubsetSelection(k, 1.0)
    size = mechanism.size
    good = mechanism.privatize(np.arange(40) % k, rng=1)
    bits = np.unpackbits(good, axis=1, count=k, bitorder="little")
    if change in ("all", "none"):
        bits[3] = change == "all"
    if change in ("more", "exchanged"):
        bits[3, np.flatnonzero(bits[3] == 0)[0]] = 1
    if change in ("fewer", "exchanged"):
        row = 3 if change == "fewer" else 30
        bits[row, np.flatnonzero(bits[row])[0]] = 0
    bad = np.packbits(bits, axis=1, bitorder="little")
    message = f"reports must have {size} ones each; row 3 does not"
    assert_rejected(mechanism, bad, ValueError, message)
    assert_rejected(mechanism, np.asfortranarray(bad), ValueError, message)
    aggregator = mechanism.aggregator().update(good)
    before = aggregator.to_bytes()
    messages = [mechanism.message(row) for row in good]
    messages[3] = messages[3][: -bad.shape[1]] + bad[3].tobytes()
    with raises(ValueError, message):
        aggregator.update(messages)
    with raises(ValueError, f"reports must have {size} ones each; row 0 does not"):
        mechanism.message(bad[3])
    with raises(ValueError, message):
        mechanism.to_arrow(bad)
    table = mechanism.to_arrow(good)
    column = pa.array([row.tobytes() for row in bad], table.schema.field("report").type)
    with raises(ValueError, message):
        aggregator.update(table.set_column(0, table.schema.field("report"), column))
    assert aggregator.to_bytes() == before


@pytest.mark.usefixtures("threads")
def test_the_first_wrong_set_of_many_is_named():
    mechanism = ldp.SubsetSelection(64, 1.0)
    reports = mechanism.privatize(np.zeros(10_000, np.uint8), rng=1)
    reports[[7_777, 9_999]] = 255
    aggregator = mechanism.aggregator()
    with raises(ValueError, f"reports must have {mechanism.size} ones each; row 7777 does not"):
        aggregator.update(reports)
    assert aggregator.n == 0
    assert not aggregator.counts.any()


@each("what", ["next", "halfway", "point", "nan", "inf", "far"])
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
    assert_rejected(mechanism, reports, ValueError, "reports must lie on the mechanism's grid; row 2 does not")
    vector = ldp.LaplaceVector(2, 1.0)
    rows = vector.privatize(np.zeros((3, 2)))
    rows[1, 1] += bad if math.isnan(bad) else vector.grid / 3
    assert_rejected(vector, rows, ValueError, "reports must lie on the mechanism's grid; row 1 does not")


@each("dtype", ["float32", "float64"])
@each("factor", [0.0, 0.999, 1.001, 1e30, math.nan, math.inf])
def test_vectors_of_a_wrong_norm(dtype, factor):
    mechanism = ldp.L2Ball(3, 1.0)
    rows = mechanism.privatize(np.zeros((5, 3), dtype))
    rows[2, 1:] = 0
    rows[2, 0] = mechanism.scale * factor
    message = f"reports must have Euclidean norm {mechanism.scale!r}; row 2 does not"
    assert_rejected(mechanism, rows, ValueError, message)


# Reports of the mechanism itself --------------------------------------------------------------------------------------


@each("dim", [1, 2, 100, 5000, 100_000])
@each("dtype", ["float32", "float64"])
def test_vectors_of_the_mechanism_are_accepted(dim, dtype):
    """The tolerance of the check covers the rounding of the kernel in every dimension."""
    mechanism = ldp.L2Ball(dim, 0.1, radius=1e-3)
    reports = mechanism.privatize(np.zeros((max(2, 20_000 // dim), dim), dtype), rng=1)
    assert mechanism.aggregator().update(reports).n == len(reports)


@pytest.mark.claim("Reports with Laplace noise are integers on a grid.", "Privacy of reports")
def test_numbers_of_the_mechanism_are_on_its_grid():
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
