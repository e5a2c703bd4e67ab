"""Reports of public directions: expansion, sums, validity, and states that no reports have."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.reports import Aggregator, Directions

from ..support import reference
from ..support.aggregation import counted_of
from ..support.cases import each
from ..support.errors import raises
from ..support.internals.kernels import tally
from ..support.keys import STATISTICS_SEED
from ..support.statistics import assert_coverage

MECHANISM = ldp.RankCodebook(5, 4.0, radius=2.0, vectors=3)


def reports_of(n, seed=1, mechanism=MECHANISM):
    x = np.random.default_rng(seed).normal(size=(n, mechanism.dim))
    return mechanism.privatize(x, rng=seed, clip=True)


@each("dim, n", [(1, 3), (5, 1), (5, 64), (5, 4000), (100, 165), (5000, 4), (16_384, 3)])
def test_sums_are_those_of_the_decoded_reports_as_vectors(isa, dim, n):
    """Steps of bound 2^-30; pieces of as many rows as 16384 numbers hold."""
    mechanism = ldp.RankCodebook(dim, 4.0, radius=2.0, vectors=3)
    reports = reports_of(n, 1, mechanism)
    decoded, state = mechanism.decode(reports), np.zeros((2 * dim, 2), np.uint64)
    tally.add_directions(reports, dim, mechanism.scale, mechanism.report.index_bits, state)
    steps = np.rint(decoded * (2.0**30 / mechanism.scale)).astype(np.int64).sum(axis=0) << 10
    shares = (decoded.astype(np.float32) * np.float32(1 / mechanism.scale)) ** 2
    squares = np.rint(shares.astype(np.float64) * 2.0**30).astype(np.int64).sum(axis=0) << 10
    assert reference.wide(state) == [*steps.tolist(), *squares.tolist()]
    aggregator = mechanism.aggregator().update(reports)
    np.testing.assert_array_equal(counted_of(aggregator).states[0], state)
    np.testing.assert_allclose(aggregator.estimate().value, decoded.mean(axis=0), rtol=0, atol=2e-9 * mechanism.scale)


def test_the_format():
    assert [Directions(3, 2 * j, 1.0, 1.0, 0.0, 1.0).index_bits for j in (1, 2, 3, 4, 5, 128, 256)] == [
        1,
        2,
        3,
        3,
        4,
        8,
        9,
    ]
    assert (MECHANISM.report.bits, MECHANISM.report.shape, MECHANISM.report_bytes) == (64, (), 8)
    assert MECHANISM.report.dtype(np.dtype(np.float32)) == np.uint64


def test_standard_errors_are_those_of_the_sample():
    reports = reports_of(400)
    expected = MECHANISM.decode(reports).std(axis=0, ddof=1) / 20
    np.testing.assert_allclose(MECHANISM.estimate(reports).stderr, expected, rtol=1e-6)


def test_standard_errors_of_few_reports_are_at_least_those_of_the_worst_population():
    reports = reports_of(29)
    expected = np.maximum(MECHANISM.decode(reports).var(axis=0, ddof=1), MECHANISM.worst_variance) / 29
    np.testing.assert_allclose(MECHANISM.estimate(reports).stderr ** 2, expected, rtol=1e-6)


def test_standard_errors_are_at_least_what_the_mean_implies():
    """Equal people, of whom about 2 in 2,000 have a report far away, which make 99.6 % of the variance."""
    mechanism = ldp.RankCodebook(4, 16.0, vectors=4096)
    x = np.eye(4)[[0] * 2000]
    reports = mechanism.privatize(x, rng=1)
    near = reports[mechanism.decode(reports)[:, 0] > 0.8]
    assert 1990 < len(near) < 2000
    stderr = mechanism.estimate(near).stderr
    np.testing.assert_allclose(stderr, np.sqrt(mechanism.variance(x[0]) / len(near)), rtol=0.03)


def test_decoding_one_report_and_reports_that_are_not_contiguous():
    reports = reports_of(20)
    decoded = MECHANISM.decode(reports)
    np.testing.assert_array_equal(MECHANISM.decode(reports[3]), decoded[3])
    np.testing.assert_array_equal(MECHANISM.decode(reports[::2]), decoded[::2])
    assert MECHANISM.aggregator().update(reports[::2]) == MECHANISM.aggregator().update(reports[::2].copy())
    assert MECHANISM.decode(reports[:0]).shape == (0, 5)


def test_merging_is_concatenation_and_bytes_keep_everything():
    reports = reports_of(300)
    whole = MECHANISM.aggregator().update(reports)
    parts = MECHANISM.aggregator().update(reports[200:]).merge(MECHANISM.aggregator().update(reports[:200]))
    assert parts == whole == Aggregator.from_bytes(whole.to_bytes())
    assert parts.to_bytes() == whole.to_bytes()
    x = np.random.default_rng(1).normal(size=(300, 5))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    assert MECHANISM.run(x, rng=1).value.tobytes() == MECHANISM.estimate(MECHANISM.privatize(x, rng=1)).value.tobytes()


def test_invalid_reports_are_rejected():
    aggregator = MECHANISM.aggregator()
    for index in (6, 7):
        with raises(ValueError, "reports must hold an index below 6; row 1 does not"):
            aggregator.update(np.array([5, 8 + index], np.uint64))
    with pytest.raises(TypeError, match="reports must have dtype uint64"):
        aggregator.update(np.array([5], np.int32))
    assert aggregator.n == 0
    assert aggregator.update(np.array([5, (1 << 64) - 8], np.uint64)).n == 2


def test_a_state_that_no_reports_have_is_rejected():
    """A coordinate beyond the reports, a sum of squares that is too small for the sum, and one that is too large."""
    aggregator = MECHANISM.aggregator().update(reports_of(5))
    good = aggregator.to_bytes()[:-16]
    state = np.zeros((10, 2), np.uint64)
    for share, square, valid in (
        (0.5, 0.25, True),
        (0.5, 0.24, False),
        (0.5, 1.1, False),
        (1.1, 1.0, False),
        (0.0, 0.0, True),
    ):
        state[:5, 0], state[5:, 0] = int(share * 5 * 2**40), int(square * 5 * 2**40)
        data = good[: -state.nbytes] + state.tobytes()
        data += hashlib.blake2b(data, digest_size=16).digest()
        if valid:
            assert Aggregator.from_bytes(data).n == 5
        else:
            with raises(ValueError, "data must hold a state that n = 5 reports can have"):
                Aggregator.from_bytes(data)


def test_parameters_of_the_expansion_are_checked():
    rows = np.empty((1, 5), np.float32)
    for dim, bits in ((0, 3), (16_385, 3), (5, 0), (5, 64)):
        with pytest.raises(ValueError, match="the directions do not fit the kernel"):
            tally.directions(np.zeros(1, np.uint64), dim, 1.0, bits, rows)
    with pytest.raises(ValueError, match="reports and rows do not fit together"):
        tally.directions(np.zeros(2, np.uint64), 5, 1.0, 3, rows)


@pytest.mark.long
def test_intervals_cover_the_worst_population():
    """95 % intervals for records +-r e_1. Detects a coverage of 0.9."""
    x = np.zeros((200, 5))
    x[:, 1] = np.resize([2.0, -2.0], 200) * (1 - 1e-12)
    generator, population, covered = np.random.default_rng(STATISTICS_SEED), np.random.default_rng(3), 0
    for _ in range(1500):
        low, high = MECHANISM.run(x[population.integers(0, 200, 200)], rng=generator).interval()
        covered += bool(low[1] <= 0 <= high[1])
    assert_coverage(covered, 1500, 0.95, detects=0.9)
