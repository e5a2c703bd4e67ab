"""Least squares on a tree and variances of ranges, against dense linear algebra and the enumeration of all codes."""

from __future__ import annotations

import numpy as np
import pytest

from ldpfast.mechanisms import TreeResponse

from ..support.cases import each
from ..support.internals.estimation import Haar, Hierarchy, Weights, range_tree
from ..support.internals.mechanisms import tree_sets
from ..support.internals.shared import thread_pool
from ..support.tree_levels import decoded_codes

TREES = [
    TreeResponse(2, 1.0),
    TreeResponse(8, 1.0, branching=2),
    TreeResponse(13, 1.0, branching=2),
    TreeResponse(13, 2.0, branching=3),
    TreeResponse(27, 0.5, branching=3),
    TreeResponse(14, 1.0, branching=4),
    TreeResponse(33, 3.0, branching=8),
    TreeResponse(11, 1.0, branching=16),
    TreeResponse(33, 1.0, branching=2),
    *(
        TreeResponse(k, epsilon, branching=2, method="haar")
        for k, epsilon in ((2, 1.0), (8, 1.0), (13, 2.0), (33, 0.5))
    ),
]
HIERARCHIES = [mechanism for mechanism in TREES if mechanism.method == "hierarchy"]


def designs(mechanism):
    """Matrices from the shares of the bins to the numbers of each level."""
    found = []
    for level in mechanism.levels:
        matrix = np.zeros((level.nodes, mechanism.k))
        for x in range(mechanism.k):
            symbol = x // level.span
            matrix[symbol // 2 if level.signed else symbol, x] = 1 - 2 * (symbol % 2) if level.signed else 1
        found.append(matrix)
    return found


def counts_of(mechanism, seed):
    return np.random.default_rng(seed).integers(50, 200, len(mechanism.levels)).tolist()


def tree_of(mechanism, numbers, counts):
    kind = Haar if mechanism.method == "haar" else Hierarchy
    return kind(mechanism.levels, mechanism.branching, numbers, counts)


def least_squares(mechanism, counts):
    """Constant and matrices of generalized least squares for shares that add up to 1, by dense matrices."""
    k = mechanism.k
    free, constant = np.vstack([np.eye(k - 1), -np.ones(k - 1)]), np.eye(k)[-1]
    weighted = [
        matrix.T * (count / level.variance)
        for matrix, level, count in zip(designs(mechanism), mechanism.levels, counts, strict=True)
    ]
    normal = sum(free.T @ part @ matrix @ free for part, matrix in zip(weighted, designs(mechanism), strict=True))
    maps = [free @ np.linalg.solve(normal, free.T @ part) for part in weighted]
    return constant - sum(m @ (a @ constant) for m, a in zip(maps, designs(mechanism), strict=True)), maps


def linear_maps(mechanism, counts):
    """Constant and matrices of the estimates of the bins as functions of the numbers of each level."""
    zeros = [np.zeros(level.nodes) for level in mechanism.levels]
    constant = tree_of(mechanism, zeros, counts).shares[-1]
    maps = []
    for i, level in enumerate(mechanism.levels):
        columns = [
            tree_of(mechanism, [*zeros[:i], one, *zeros[i + 1 :]], counts).shares[-1] - constant
            for one in np.eye(level.nodes)
        ]
        maps.append(np.array(columns).T)
    return constant, maps


def exact_covariance(mechanism, shares, counts, maps):
    """Covariance of the estimated shares, from the probabilities of all codes."""
    total = np.zeros((mechanism.k, mechanism.k))
    for level, count, linear in zip(mechanism.levels, counts, maps, strict=True):
        hit, miss = map(float, level.probabilities)
        probability = shares @ np.where(level.matches(np.arange(mechanism.k) // level.span), hit, miss)
        decoded = decoded_codes(level) @ linear.T
        mean = probability @ decoded
        total += ((decoded.T * probability) @ decoded - np.outer(mean, mean)) / count
    return total


def range_variances(covariance):
    """Ends of all ranges, and the variances of their shares."""
    k = len(covariance)
    prefix = np.vstack([np.zeros(k), np.tri(k)])
    below = prefix @ covariance @ prefix.T
    low, high = np.triu_indices(k + 1)
    return low, high, below[low, low] + below[high, high] - 2 * below[low, high]


@each("mechanism", HIERARCHIES, ids=repr)
def test_estimates_are_those_of_dense_generalized_least_squares(mechanism):
    rng, counts = np.random.default_rng(1), counts_of(mechanism, 2)
    numbers = [rng.normal(size=level.nodes) for level in mechanism.levels]
    constant, maps = least_squares(mechanism, counts)
    expected = constant + sum(m @ number for m, number in zip(maps, numbers, strict=True))
    np.testing.assert_allclose(tree_of(mechanism, numbers, counts).shares[-1], expected, atol=1e-12)


@each("mechanism", TREES, ids=repr)
def test_estimates_are_unbiased_and_consistent(mechanism):
    """The shares of the nodes add up to those of their parents; exact numbers give exact shares."""
    rng, counts = np.random.default_rng(1), counts_of(mechanism, 3)
    shares = rng.dirichlet(np.full(mechanism.k, 0.3))
    exact = tree_of(mechanism, [matrix @ shares for matrix in designs(mechanism)], counts)
    np.testing.assert_allclose(exact.shares[-1], shares, atol=1e-14)
    noisy = tree_of(mechanism, [rng.normal(size=level.nodes) for level in mechanism.levels], counts)
    for upper, lower in zip(noisy.shares, noisy.shares[1:], strict=False):
        starts = np.arange(0, len(lower), mechanism.branching)
        np.testing.assert_allclose(np.add.reduceat(lower, starts), upper, atol=1e-12)


@each("mechanism", TREES, ids=repr)
def test_variances_are_exact(mechanism):
    """All ranges, prefixes and bins, for populations with few and with many frequent bins.

    With projective geometry response, variances depend on which nodes are on a line: they are right on average.
    """
    is_exact = not any(isinstance(level, tree_sets.ProjectiveLevel) for level in mechanism.levels)
    k, rng, counts = mechanism.k, np.random.default_rng(1), counts_of(mechanism, 4)
    for concentration in (0.05, 0.5, 50.0):
        shares = rng.dirichlet(np.full(k, concentration))
        tree = tree_of(mechanism, [matrix @ shares for matrix in designs(mechanism)], counts)
        covariance = exact_covariance(mechanism, shares, counts, linear_maps(mechanism, counts)[1])
        low, high, expected = range_variances(covariance)
        tolerance = {"rtol": 1e-10 if is_exact else 0.35, "atol": 1e-13 * expected.max()}
        assert tree.variance(Weights.ranges(low, high, k)).sum() == pytest.approx(expected.sum(), rel=0.06)
        np.testing.assert_allclose(tree.variance(Weights.ranges(low, high, k)), expected, **tolerance)
        np.testing.assert_allclose(tree.variance(Weights.single(np.arange(k))), np.diag(covariance), **tolerance)
        prefixes = tree.variance(Weights.prefixes(np.arange(k + 1), k))
        np.testing.assert_allclose(prefixes, expected[low == 0], **tolerance)


@each("mechanism", TREES, ids=repr)
def test_steps_are_at_least_the_largest_coefficients(mechanism):
    """The coefficients of all numbers, by dense matrices; the bound is not far above them."""
    counts, k = counts_of(mechanism, 5), mechanism.k
    rng = np.random.default_rng(6)
    numbers = [rng.normal(size=level.nodes) for level in mechanism.levels]
    tree = tree_of(mechanism, numbers, counts)
    low, high = np.triu_indices(k + 1, 1)
    steps = tree.variance_and_step(Weights.ranges(low, high, k))[1]
    exact = np.zeros(len(low))
    for level, count, linear in zip(mechanism.levels, counts, linear_maps(mechanism, counts)[1], strict=True):
        before = np.vstack([np.zeros(level.nodes), np.cumsum(linear, axis=0)])
        exact = np.maximum(exact, np.abs(before[high] - before[low]).max(axis=1) / (count * float(level.gap)))
    assert (steps >= exact * (1 - 1e-9) - 1e-15).all()
    assert (steps <= exact * 2 + 1e-12).mean() > 0.5


@each("mechanism", HIERARCHIES, ids=repr)
def test_mean_variance_of_all_ranges(mechanism):
    """The covariance of least squares if all numbers of a level have the mean variance of the level."""
    h = len(mechanism.levels)
    _, maps = least_squares(mechanism, [1] * h)
    covariance = sum(h * level.variance * m @ m.T for level, m in zip(mechanism.levels, maps, strict=True))
    low, high, expected = range_variances(covariance)
    mean = expected[high > low].mean()
    assert range_tree.mean_range_variance(mechanism.levels, mechanism.branching) == pytest.approx(mean, rel=1e-12)


def test_mean_variance_is_that_of_uniform_populations_in_complete_trees():
    for k, branching in ((27, 3), (64, 4)):
        mechanism = TreeResponse(k, 1.0, branching=branching)
        counts = [1 / len(mechanism.levels)] * len(mechanism.levels)
        tree = tree_of(mechanism, [matrix @ np.full(k, 1 / k) for matrix in designs(mechanism)], counts)
        low, high = np.triu_indices(k + 1, 1)
        mean = tree.variance(Weights.ranges(low, high, k)).mean()
        assert range_tree.mean_range_variance(mechanism.levels, branching) == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize("mechanism", [TREES[6], TREES[8], TREES[-1]], ids=repr)
def test_chunks_and_threads_change_no_bit(mechanism, monkeypatch):
    rng = np.random.default_rng(1)
    tree = tree_of(mechanism, [rng.normal(size=level.nodes) for level in mechanism.levels], counts_of(mechanism, 5))
    weights = Weights.ranges(*np.triu_indices(mechanism.k + 1), mechanism.k)
    monkeypatch.setattr(range_tree, "CHUNK", 64)
    expected, before = tree.variance(weights), thread_pool.get_num_threads()
    monkeypatch.setattr(thread_pool, "SMALL", 1)
    try:
        thread_pool.set_num_threads(3)
        np.testing.assert_array_equal(tree.variance(weights), expected)
    finally:
        thread_pool.set_num_threads(before)
    monkeypatch.setattr(range_tree, "CHUNK", 1 << 16)
    np.testing.assert_allclose(tree.variance(weights), expected, rtol=1e-12)


@each("mechanism", TREES, ids=repr)
def test_noisy_shares_give_variances_that_are_possible(mechanism):
    """For few reports the squares of estimated means can exceed the moments."""
    rng = np.random.default_rng(1)
    tree = tree_of(
        mechanism, [9 * rng.normal(size=level.nodes) for level in mechanism.levels], [1] * len(mechanism.levels)
    )
    low, high = np.triu_indices(mechanism.k + 1, 1)
    variance = tree.variance(Weights.ranges(low, high, mechanism.k))
    inner = (low > 0) | (high < mechanism.k)
    assert (variance[inner] > 0).all()
    np.testing.assert_allclose(variance[~inner], 0, atol=1e-12)


def test_a_level_without_reports_is_ignored_if_the_others_replace_it():
    mechanism, rng = TreeResponse(27, 1.0, branching=3), np.random.default_rng(1)
    numbers = [rng.normal(size=level.nodes) for level in mechanism.levels]
    without = [numbers[0], np.zeros(9), numbers[2]]
    tree = tree_of(mechanism, without, [100, 0, 100])
    constant, maps = least_squares(mechanism, [100, 1e-9, 100])
    expected = constant + maps[0] @ numbers[0] + maps[2] @ numbers[2]
    np.testing.assert_allclose(tree.shares[-1], expected, atol=1e-7)
    assert (tree.variance(Weights.single(np.arange(27))) < 2).all()
    missing = tree_of(mechanism, [*numbers[:2], np.zeros(27)], [100, 100, 0])
    assert (missing.variance(Weights.single(np.arange(27))) > 1e9).all()
    coarse = missing.variance(Weights.ranges(np.arange(0, 27, 3), np.arange(3, 30, 3), 27))
    assert (coarse < 1).all()
