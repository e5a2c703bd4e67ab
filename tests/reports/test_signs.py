"""Reports of the signs of sampled coordinates: counts, decoding, validity, and states that no reports have."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.reports import Aggregator, SampledSigns

from ..support.cases import each
from ..support.errors import raises
from ..support.keys import STATISTICS_SEED
from ..support.statistics import assert_coverage

MECHANISM = ldp.SampledCube(7, 4.0, radius=2.0, sampled=3, threshold=2)


def reports_of(n, seed=1):
    x = np.random.default_rng(seed).uniform(-2, 2, (n, 7))
    return MECHANISM.privatize(x, rng=seed)


@each("n", [1, 2, 63, 64, 65, 1000])
def test_counts_are_those_of_the_items(n):
    reports = reports_of(n)
    aggregator = MECHANISM.aggregator().update(reports)
    expected = np.bincount(reports.ravel(), minlength=14).reshape(7, 2)
    np.testing.assert_array_equal(aggregator.counts, expected)
    assert aggregator.n == n
    aggregator.counts[0, 0] += 1  # a copy
    np.testing.assert_array_equal(aggregator.counts, expected)


def test_the_estimate_is_the_mean_of_the_decoded_reports():
    reports = reports_of(500)
    decoded, estimate = MECHANISM.decode(reports), MECHANISM.estimate(reports)
    np.testing.assert_allclose(estimate.value, decoded.mean(axis=0), rtol=1e-12, atol=1e-12)
    second = MECHANISM.scale**2 * 3 / 7
    expected = np.sqrt((second - np.clip(estimate.value, -2, 2) ** 2) / 500)
    np.testing.assert_allclose(estimate.stderr, expected, rtol=1e-12)


def test_decoded_items():
    decoded = MECHANISM.decode(np.array([[0, 3, 12], [13, 5, 6]], np.uint8)) / MECHANISM.scale
    np.testing.assert_array_equal(decoded, [[-1, 1, 0, 0, 0, 0, -1], [0, 0, 1, -1, 0, 0, 1]])
    np.testing.assert_array_equal(
        MECHANISM.decode(np.array([0, 3, 12], np.uint8)) / MECHANISM.scale, [-1, 1, 0, 0, 0, 0, -1]
    )


def test_one_report_has_an_estimate():
    """Most coordinates are not sampled, and no standard error is zero."""
    for dim in (2, 1000, 40_000):
        mechanism = ldp.SampledCube(dim, 1.0)
        estimate = mechanism.run(np.zeros((1, dim)), rng=1)
        assert (np.count_nonzero(estimate.value), estimate.value.shape) == (1, (dim,))
        assert (estimate.stderr > 0).all()
        with pytest.warns(ldp.results.SmallSampleWarning):
            assert np.isfinite(estimate.interval()).all()


def test_merging_is_concatenation_and_bytes_keep_everything():
    reports = reports_of(300)
    whole = MECHANISM.aggregator().update(reports)
    parts = MECHANISM.aggregator().update(reports[200:]).merge(MECHANISM.aggregator().update(reports[:200]))
    assert parts == whole == Aggregator.from_bytes(whole.to_bytes())
    assert parts.to_bytes() == whole.to_bytes()
    strided = np.zeros((300, 6), np.uint8)
    strided[:, ::2] = reports
    assert MECHANISM.aggregator().update(strided[:, ::2]) == whole


@pytest.mark.parametrize("dim, dtype", [(128, np.uint8), (129, np.uint16), (32_768, np.uint16), (32_769, np.uint32)])
def test_the_dtype_is_the_smallest_that_holds_all_items(dim, dtype):
    report = SampledSigns(dim, 2, 1.0)
    assert report.dtype(np.dtype(float)) == dtype
    assert report.bits == 2 * (1 + math.ceil(math.log2(dim)))
    assert ldp.SampledCube(dim, 1.0, sampled=2).privatize(np.zeros(dim), rng=1).dtype == dtype
    last = np.array([[2 * dim - 1, 0]], dtype)
    counts = ldp.SampledCube(dim, 1.0, sampled=2).aggregator().update(last).counts
    assert counts.sum() == 2
    assert counts[dim - 1, 1] == counts[0, 0] == 1


@each(
    "reports, message",
    [
        ([[0, 3, 14]], "reports must hold items in [0, 14); row 0 does not"),
        ([[0, 3, 12], [255, 2, 4]], "reports must hold items in [0, 14); row 1 does not"),
        ([[0, 3, 12], [1, 3, 0]], "reports must hold different coordinates; row 1 does not"),
        ([[4, 4, 12]], "reports must hold different coordinates; row 0 does not"),
        ([[0, 3]], "reports must have shape (n, 3), got shape (1, 2)"),
    ],
)
def test_invalid_reports_are_rejected(reports, message):
    aggregator = MECHANISM.aggregator()
    with raises(ValueError, message):
        aggregator.update(np.array(reports, np.uint8))
    assert aggregator.n == 0
    with pytest.raises(TypeError, match="reports must have dtype uint8"):
        aggregator.update(np.array([[0, 3, 12]], np.int64))


@each(
    "counts, possible",
    [
        ((2, 3, 5, 0, 0, 5), True),  # of minus and plus, coordinate by coordinate; others 0
        ((2, 3, 5, 0, 1, 5), False),  # a sum that is not n k
        ((2, 3, 5, 0, 0, 4), False),
        ((-1, 3, 5, 0, 0, 5, 3), False),
        ((6, 0, 5, 0, 0, 4), False),  # more signs of a coordinate than reports
        ((3, 3, 5, 0, 0, 4), False),
    ],
)
def test_a_state_that_no_reports_have_is_rejected(counts, possible):
    aggregator = MECHANISM.aggregator().update(np.array([[0, 3, 5]] * 5, np.uint8))
    state = np.zeros(14, np.int64)
    state[: len(counts)] = counts
    data = aggregator.to_bytes()[: -16 - state.nbytes] + state.tobytes()
    data += hashlib.blake2b(data, digest_size=16).digest()
    if possible:
        assert Aggregator.from_bytes(data).counts.ravel().tolist() == state.tolist()
    else:
        with raises(ValueError, "data must hold a state that n = 5 reports can have"):
            Aggregator.from_bytes(data)


def test_intervals_cover():
    """95 % intervals, for every coordinate. Detects a coverage of 0.9."""
    x = np.tile(np.linspace(-2, 2, 7), (150, 1))
    generator, covered = np.random.default_rng(STATISTICS_SEED), np.zeros(7, int)
    for _ in range(1500):
        low, high = MECHANISM.run(x, rng=generator).interval()
        covered += (low <= x[0]) & (x[0] <= high)
    assert_coverage(covered, 1500, 0.95, detects=0.9)
