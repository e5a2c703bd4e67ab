"""Shares of cells among people who answered: the last cell of the reports is that of the others."""

from __future__ import annotations

import numpy as np
import pytest

from ldpfast.estimation import Distribution, DistributionEstimate
from ldpfast.mechanisms import DistributionResponse, simulate

from ..support.cases import each
from ..support.internals.estimation import cell_shares
from ..support.modules import module_of

CellLikelihood = module_of(Distribution).CellLikelihood
AnsweredEstimate = module_of(DistributionEstimate).AnsweredEstimate
LinearEstimate = module_of(DistributionEstimate).LinearEstimate
K = 40
SHARES = np.append(0.75 * np.linspace(2, 0, K) / K, 0.25)


def likelihood_of(n=20_000, seed=1, epsilon=2.0):
    mechanism = DistributionResponse(K + 1, epsilon)
    counts = simulate(mechanism, SHARES, n, rng=seed).counts
    return CellLikelihood.of(K + 1, mechanism.levels, np.split(counts, mechanism.first_codes[1:]))


def estimate_of(**options):
    likelihood = likelihood_of(**options)
    return AnsweredEstimate(LinearEstimate(likelihood, SHARES / SHARES.sum()))


def test_the_cell_of_missing_answers_has_a_function_of_its_own():
    basis, penalties = cell_shares.basis_with_missing(K + 1)
    inner, rest = cell_shares.smooth_basis(K)
    np.testing.assert_array_equal(basis[:-1, :-1], inner)
    assert (basis[-1, :-1] == 0).all()
    assert basis[:, -1].tolist() == [*[0.0] * K, 1.0]
    assert penalties.tolist() == [*rest, 0.0]
    shares = cell_shares.estimated_shares(likelihood_of(200_000), has_missing=True)
    np.testing.assert_allclose(shares[-1], 0.25, atol=0.02)
    np.testing.assert_allclose(np.cumsum(shares[:-1]), np.cumsum(SHARES[:-1]), atol=0.03)


@each("rows", [np.eye(K)[[0, 7]], np.linspace(-500, 1000, K)[np.newaxis]], ids=["shares", "mean"])
def test_a_ratio_has_the_variance_of_the_delta_method(rows):
    found = estimate_of()
    ratio, whole = found.of(rows), found.whole
    answered = np.append(np.ones(K), 0.0)
    top, bottom = np.pad(rows, ((0, 0), (0, 1))), whole.raw @ answered
    np.testing.assert_allclose(ratio.value, top @ whole.raw / bottom)
    moved = top - ratio.value[:, np.newaxis] * answered
    np.testing.assert_allclose(ratio.stderr, whole.of(moved).stderr / bottom, rtol=1e-6)
    assert (ratio.step >= whole.of(moved).step / bottom * (1 - 1e-9)).all()


def test_limits_are_the_roots_of_the_margins():
    """The limit R is where N - R D is its margin away from 0."""
    found, tail = estimate_of(n=3000, epsilon=1.0), 0.025
    rows = np.cumsum(np.eye(K), axis=0)[[4, 15, 30]]
    ratio, whole = found.of(rows), found.whole
    for side in (-1, 1):
        limit = ratio.limit(side, tail)
        moved = np.pad(rows, ((0, 0), (0, 1))) - limit[:, np.newaxis] * np.append(np.ones(K), 0.0)
        tested = whole.of(moved)
        distance = np.abs(tested.value) / tested.stderr
        assert (distance > 1.95).all()  # 1.96, and more for the steps of single reports
        assert (distance < 2.2).all()
        assert (side * (limit - ratio.value) > 0).all()


def test_ends_and_cells_give_the_same_numbers():
    found = estimate_of()
    ends = found.of_ends(np.eye(K)[[3, 20]])
    cells = found.of(np.tril(np.ones((K, K)))[[3, 20]])
    for name in ("value", "stderr"):
        np.testing.assert_allclose(getattr(ends, name), getattr(cells, name), rtol=1e-6)
    last = found.of_ends(np.eye(K)[[-1]])
    assert last.value == pytest.approx(1.0)  # all who answered
    assert last.stderr == pytest.approx(0.0, abs=1e-6)
    missing = found.missing
    np.testing.assert_allclose(missing.value, 1 - found.whole.raw[:-1].sum(), rtol=1e-9)


def test_noise_has_the_correlations_of_the_ratios():
    found = estimate_of(n=100_000)
    drawn = found.draws(3)
    np.testing.assert_allclose(drawn.std(axis=1), 1, atol=0.1)
    weights = np.eye(K)[:-1]
    first, second = 5, 25
    pair = np.array([weights[first] + weights[second], weights[first] - weights[second]])
    errors = found.of_ends(pair).stderr ** 2
    own = found.of_all_ends.stderr
    expected = (errors[0] - errors[1]) / 4 / own[first] / own[second]
    assert np.corrcoef(drawn[first], drawn[second])[0, 1] == pytest.approx(expected, abs=0.08)
    assert not np.array_equal(drawn, found.draws(4))


def test_nothing_is_known_where_nobody_answers():
    mechanism = DistributionResponse(K + 1, 1.0)
    shares = np.append(np.zeros(K), 1.0)
    counts = simulate(mechanism, shares, 2000, rng=1).counts
    likelihood = CellLikelihood.of(K + 1, mechanism.levels, np.split(counts, mechanism.first_codes[1:]))
    found = AnsweredEstimate(LinearEstimate(likelihood, 0.99 * shares + 0.01 / (K + 1)))
    assert not found.is_known(0.025)
    assert estimate_of().is_known(0.025)
