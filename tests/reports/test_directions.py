"""Reports of public directions: expansion, sums, validity, and states that no reports have."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast._core import tally
from ldpfast.reports import Aggregator, Directions

from ..support import reference
from ..support.errors import raises
from ..support.keys import STATISTICS_SEED
from ..support.statistics import assert_coverage

MECHANISM = ldp.RankCodebook(5, 4.0, radius=2.0, vectors=3)


def reports_of(n, seed=1, mechanism=MECHANISM):
    x = np.random.default_rng(seed).normal(size=(n, mechanism.dim))
    return mechanism.privatize(x, rng=seed, clip=True)


@pytest.mark.parametrize("dim, n", [(1, 3), (5, 1), (5, 64), (5, 4000), (100, 165), (5000, 4), (16_384, 3)])
def test_sums_are_those_of_the_decoded_reports_as_vectors(isa, dim, n):
    """Steps of bound 2^-30; pieces of as many rows as 16384 numbers hold."""
    mechanism = ldp.RankCodebook(dim, 4.0, radius=2.0, vectors=3)
    reports = reports_of(n, 1, mechanism)
    decoded, state = mechanism.decode(reports), np.zeros((dim, 2), np.uint64)
    tally.add_directions(reports, dim, mechanism.scale, mechanism.report.index_bits, state)
    steps = np.rint(decoded * (2.0**30 / mechanism.scale)).astype(np.int64).sum(axis=0) << 10
    assert reference.wide(state) == steps.tolist()
    aggregator = mechanism.aggregator().update(reports)
    np.testing.assert_array_equal(aggregator._states[0], state)
    np.testing.assert_allclose(aggregator.estimate().value, decoded.mean(axis=0), rtol=0, atol=2e-9 * mechanism.scale)


def test_the_format():
    assert [Directions(3, 2 * j, 1.0, 1.0).index_bits for j in (1, 2, 3, 4, 5, 128, 256)] == [1, 2, 3, 3, 4, 8, 9]
    assert (MECHANISM.report.bits, MECHANISM.report.shape, MECHANISM.report_bytes) == (64, (), 8)
    assert MECHANISM.report.dtype(np.dtype(np.float32)) == np.uint64


def test_standard_errors_are_those_of_the_worst_population():
    estimate = MECHANISM.run(np.zeros((400, 5)), rng=1)
    np.testing.assert_allclose(estimate.stderr**2 * 400, MECHANISM.worst_variance, rtol=1e-12)
    assert MECHANISM.report.second_moment == MECHANISM.worst_variance


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
        aggregator.update(np.array([5], np.int64))
    assert aggregator.n == 0
    assert aggregator.update(np.array([5, (1 << 64) - 8], np.uint64)).n == 2


def test_a_state_that_no_reports_have_is_rejected():
    """A mean outside of the ball of the reports, although each coordinate is possible."""
    aggregator = MECHANISM.aggregator().update(reports_of(5))
    good = aggregator.to_bytes()[:-16]
    state = np.zeros((5, 2), np.uint64)
    for share, valid in ((0.447, True), (0.45, False), (1.1, False)):
        state[:, 0] = int(share * 5 * 2**40)
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


def test_intervals_cover_the_worst_population():
    """95 % intervals for records +-r e_1. Detects a coverage of 0.9."""
    x = np.zeros((200, 5))
    x[:, 1] = np.resize([2.0, -2.0], 200) * (1 - 1e-12)
    generator, population, covered = np.random.default_rng(STATISTICS_SEED), np.random.default_rng(3), 0
    for _ in range(1500):
        low, high = MECHANISM.run(x[population.integers(0, 200, 200)], rng=generator).interval()
        covered += bool(low[1] <= 0 <= high[1])
    assert_coverage(covered, 1500, 0.95, detects=0.9)
