"""Decoded reports: precision, memory of the caller, threads, and signed words."""

from __future__ import annotations

import numpy as np
import pytest

import ldpfast as ldp

from ..cards import KINDS
from ..support.cases import each
from ..support.errors import raises

WORDS = [kind for kind in KINDS if kind.mechanism.report.dtype(np.dtype(np.float64)) == np.uint64]


def reports_of(kind, n=50):
    return kind.mechanism.privatize(kind.records(n), rng=1)


@each("kind", KINDS, ids=str)
@each("dtype", ["float32", "float64"])
def test_precision_and_memory_can_be_chosen(kind, dtype):
    mechanism, reports = kind.mechanism, reports_of(kind)
    expected = mechanism.decode(reports)
    wanted = expected.astype(dtype)
    found = mechanism.decode(reports, dtype=dtype)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_array_equal(found, wanted)
    out = np.full((2, *expected.shape), np.nan, dtype)[1]
    assert mechanism.decode(reports, out=out) is out
    np.testing.assert_array_equal(out, wanted)
    one = mechanism.decode(reports[0], dtype=dtype)
    np.testing.assert_array_equal(one, wanted[0])
    assert one.dtype == wanted.dtype


def test_rows_are_written_where_they_are_not_contiguous():
    mechanism = ldp.RankedSigns(40, 4.0)
    reports = mechanism.privatize(np.zeros((30, 40)), rng=1)
    table = np.zeros((30, 80), np.float32)
    mechanism.decode(reports, out=table[:, ::2])
    np.testing.assert_array_equal(table[:, ::2], mechanism.decode(reports))
    assert not table[:, 1::2].any()


@each(
    "mechanism",
    [ldp.RankedSigns(2000, 4.0), ldp.RankCodebook(200, 2.0, vectors=16), ldp.RotatedSigns(3000, 8.0, rotation=1)],
    ids=repr,
)
def test_neither_rows_nor_states_depend_on_the_number_of_threads(mechanism, threads):
    reports = mechanism.privatize(np.zeros((500, mechanism.dim)), rng=1)
    one_by_one = mechanism.aggregator()
    for report in reports:
        one_by_one.update(report)
    assert mechanism.aggregator().update(reports).to_bytes() == one_by_one.to_bytes()
    np.testing.assert_array_equal(mechanism.decode(reports), [mechanism.decode(report) for report in reports])


@each("kind", WORDS, ids=str)
def test_words_may_be_signed(kind):
    """PyTorch, Java and SQL have no unsigned words."""
    mechanism, reports = kind.mechanism, reports_of(kind)
    signed = reports.view(np.int64)
    np.testing.assert_array_equal(mechanism.decode(signed), mechanism.decode(reports))
    assert mechanism.aggregator().update(signed).to_bytes() == mechanism.aggregator().update(reports).to_bytes()


def test_there_are_mechanisms_with_words():
    assert len(WORDS) >= 3


@each(
    "options, error, message",
    [
        ({"dtype": "float16"}, ValueError, "dtype must be 'float32' or 'float64', got 'float16'"),
        ({"dtype": int}, ValueError, "dtype must be 'float32' or 'float64', got <class 'int'>"),
        ({"dtype": "number"}, ValueError, "dtype must be 'float32' or 'float64', got 'number'"),
        ({"out": [0.0]}, TypeError, "out must be an ndarray, or an array on the CPU with __dlpack__, got list"),
        (
            {"out": np.zeros((2, 3), np.int64)},
            ValueError,
            "out must have shape (2, 3) and dtype float64 or float32, got shape (2, 3) and dtype int64",
        ),
        (
            {"out": np.zeros((3, 3))},
            ValueError,
            "out must have shape (2, 3) and dtype float64 or float32, got shape (3, 3) and dtype float64",
        ),
        (
            {"out": np.zeros((2, 3)), "dtype": "float32"},
            ValueError,
            "out must have shape (2, 3) and dtype float32, got shape (2, 3) and dtype float64",
        ),
    ],
)
def test_wrong_dtypes_and_arrays_are_refused(options, error, message):
    mechanism = ldp.L2Ball(3, 1.0)
    with raises(error, message):
        mechanism.decode(mechanism.privatize(np.zeros((2, 3)), rng=1), **options)


def test_nothing_is_written_for_invalid_reports():
    mechanism, out = ldp.L2Ball(3, 1.0), np.full((2, 3), 7.0)
    with pytest.raises(ValueError, match="reports must have Euclidean norm"):
        mechanism.decode(np.zeros((2, 3)), out=out)
    assert (out == 7).all()


# Gradients with NaN ---------------------------------------------------------------------------------------------------


@each(
    "mechanism",
    [ldp.L2Ball(4, 1.0), ldp.LinfBall(4, 1.0), ldp.RankedSigns(4, 1.0), ldp.RotatedSigns(4, 1.0, rotation=1)],
    ids=repr,
)
@each("rows", [3, 70_000])
def test_vectors_with_nan_warn_once_with_their_number(mechanism, rows):
    x = np.zeros((rows, 4), np.float32)
    x[1, 2], x[-1, 0], x[0, 0] = np.nan, np.nan, np.inf
    message = (
        rf"^2 of {rows} records \(.*\) had NaN, which counts as the center: the reports are for the changed records$"
    )
    with pytest.warns(ldp.ClippedWarning, match=message) as caught:
        mechanism.privatize(x, clip=True, rng=1)
    assert len(caught) == 1
    assert caught[0].filename == __file__


@each("options", [{}, {"rng": 1}])
def test_one_vector_with_nan_warns(options):
    with pytest.warns(ldp.ClippedWarning, match="^1 of 1 records "):
        ldp.RankedSigns(4, 1.0).privatize(np.array([0.0, 0.0, np.nan, 0.0]), clip=True, **options)


def test_infinite_vectors_have_no_warning():
    ldp.L2Ball(2, 1.0).privatize(np.full((2, 2), np.inf), clip=True)


def test_nothing_is_written_if_the_warning_is_an_error():
    out = np.full((1, 2), 7.0)
    with pytest.raises(ldp.ClippedWarning):
        ldp.L2Ball(2, 1.0).privatize(np.full((1, 2), np.nan), clip=True, out=out)
    assert (out == 7).all()
