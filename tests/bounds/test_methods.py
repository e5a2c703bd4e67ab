"""The methods of Le Cam, Fano and Assouad and packing, against exact Bayes risks of small problems."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from ldpfast import bounds

from ..support.cases import each
from ..support.internals.bounds import chi_factor, forward_factor, largest_square, methods
from ..support.random_channels import (
    bayes_risk,
    divergences,
    product_distribution,
    random_channel,
    random_distribution,
)

# Le Cam ---------------------------------------------------------------------------------------------------------------


@pytest.mark.long
@each("epsilon", [0.3, 0.6, 2.0, 6.0])
@each("n", [1, 2, 3])
def test_le_cam_is_below_the_bayes_risk(epsilon, n):
    rng = np.random.default_rng(5)
    for _ in range(150):
        rows = np.array([random_distribution(rng, 3), random_distribution(rng, 3)])
        reports = product_distribution(rows @ random_channel(rng, epsilon, 3), n)
        squared = bayes_risk(reports, np.array([[-0.5], [0.5]]))
        absolute = np.minimum(*reports).sum() / 2
        pair: dict[str, Any] = {"p": rows[0], "q": rows[1], "separation": 1.0}
        assert bounds.methods.le_cam(n, epsilon, **pair) <= squared * (1 + 1e-9)
        assert bounds.methods.le_cam(n, epsilon, **pair, loss="absolute") <= absolute * (1 + 1e-9)
        if epsilon <= 22 / 35:
            assert (
                bounds.methods.le_cam(n, epsilon, **pair, method="paper")
                <= bounds.methods.le_cam(n, epsilon, **pair) + 1e-12
            )


@each("epsilon", [0.05, 0.5, 1.0, 2.0, 5.0])
def test_le_cam_is_attained_with_one_person(epsilon):
    """Absolute error, by randomized response on the event that separates the two distributions best."""
    p, q, keep = np.array([0.7, 0.2, 0.1]), np.array([0.1, 0.3, 0.6]), 1 / (1 + math.exp(-epsilon))
    rows = np.where((p > q)[:, None] == [True, False], keep, 1 - keep)
    risk = np.minimum(p @ rows, q @ rows).sum() / 2
    assert bounds.methods.le_cam(1, epsilon, p=p, q=q, separation=1.0, loss="absolute") == pytest.approx(risk, rel=1e-9)


# Fano -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_fano_is_below_the_bayes_risk(epsilon):
    rng, useful = np.random.default_rng(6), 0
    for _ in range(200):
        many, n = int(rng.integers(3, 9)), int(rng.integers(1, 3))
        family = np.array([random_distribution(rng, 3) for _ in range(many)])
        reports = product_distribution(family @ random_channel(rng, epsilon, 3), n)
        risk = bayes_risk(reports, np.eye(many) / math.sqrt(2))  # all 1 apart
        bound = bounds.methods.fano(n, epsilon, family=family, separation=1.0)
        assert bound <= risk * (1 + 1e-9)
        useful += bound > 0
    assert useful > 50


# Assouad --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_assouad_is_below_the_bayes_risk_of_adaptive_channels(epsilon):
    """Two people; the second person's channel depends on the first report."""
    rng, useful = np.random.default_rng(7), 0
    for _ in range(120):
        k = int(rng.integers(1, 4))
        family = np.array([random_distribution(rng, 3) for _ in range(1 << k)]) * 0.5 + 1 / 6
        first = random_channel(rng, epsilon, 3)
        seconds = [random_channel(rng, epsilon, 3) for _ in range(first.shape[1])]
        reports = np.concatenate(
            [(family @ first)[:, [z]] * (family @ second) for z, second in enumerate(seconds)], axis=1
        )
        parameters = ((np.arange(1 << k)[:, None] >> np.arange(k)) & 1) - 0.5
        bound = bounds.methods.assouad(2, epsilon, family=family, separation=1.0)
        assert bound <= bayes_risk(reports, parameters) * (1 + 1e-9)
        useful += bound > 0
    assert useful > 60


def test_published_assouad_with_averaged_distributions_is_wrong_for_two_people():
    """The published inequality of Theorem 3 bounds the divergences of the mixtures by 0, but they are positive.

    P_v(1) is 1/2 - v_2 v_3 / 2 if v_1 = 1, and 1/2 if v_1 = -1.
    """
    v = 2 * ((np.arange(8)[:, None] >> np.arange(3)) & 1) - 1
    one = np.where(v[:, 0] == 1, 0.5 - v[:, 1] * v[:, 2] / 2, 0.5)
    family = np.stack([1 - one, one], axis=1)
    averaged = np.array([family[v[:, j] == 1].mean(axis=0) - family[v[:, j] == -1].mean(axis=0) for j in range(3)])
    np.testing.assert_allclose(averaged, 0, atol=1e-15)
    keep = 1 / (1 + math.exp(-1.0))
    reports = product_distribution(family @ np.array([[keep, 1 - keep], [1 - keep, keep]]), 2)
    total = 0.0
    for j in range(3):
        plus, minus = reports[v[:, j] == 1].mean(axis=0), reports[v[:, j] == -1].mean(axis=0)
        total += divergences(plus, minus)[1] + divergences(minus, plus)[1]
    assert total == pytest.approx(0.046, abs=5e-4)
    assert (
        bounds.methods.assouad(1000, 1.0, family=family, separation=1.0, method="paper") == 3 / 8
    )  # the same for every n
    assert (
        bounds.methods.assouad(1000, 1.0, family=family, separation=1.0)
        < bounds.methods.assouad(2, 1.0, family=family, separation=1.0)
        < 3 / 4
    )


def test_largest_square_is_the_maximum_over_signs():
    """Comparison with all sign vectors; with many symbols, it is at most the eigenvalue bound."""
    rng = np.random.default_rng(8)
    for _ in range(50):
        functionals = rng.normal(size=(rng.integers(1, 5), rng.integers(1, 8)))
        signs = np.array(list(itertools.product([-1, 1], repeat=functionals.shape[1])))
        slow = ((signs @ functionals.T) ** 2).sum(axis=1).max()
        assert largest_square(functionals) == pytest.approx(slow, rel=1e-12)
        inside = rng.uniform(-1, 1, (200, functionals.shape[1]))
        assert ((inside @ functionals.T) ** 2).sum(axis=1).max() <= slow
    many = rng.normal(size=(3, methods.MAX_SYMBOLS + 4))
    signs = rng.choice([-1, 1], (2000, many.shape[1]))
    assert ((signs @ many.T) ** 2).sum(axis=1).max() <= largest_square(many)
    assert largest_square(np.zeros((2, 3))) == 0


def test_divergence_factors_are_continuous_and_increasing():
    """The series for small epsilon agrees with the closed form."""
    a = np.array([1e-9, 9.99e-4, 1.001e-3, 1e-2, 1.0, 50.0])
    for factor in (chi_factor, forward_factor):
        values = factor(a)
        assert values[0] == pytest.approx(0.5, abs=1e-8)
        assert (np.diff(values) > 0).all()
        assert values[2] - values[1] < 2e-6


# Packing --------------------------------------------------------------------------------------------------------------


@each("points", [2, 3, 5])
@each("epsilon", [0.1, 1.0, 3.0])
@each("share", [0.2, 0.7, 1.0])
def test_packing_is_below_the_error_of_the_exponential_mechanism(points, epsilon, share):
    """Records are 0 or v. The release of v with weight exp(epsilon count / 2) satisfies pure privacy."""
    n = 6
    counts = np.arange(n + 1)
    weights = np.exp(epsilon * counts / 2)
    right = (stats.binom.pmf(counts, n, share) * weights / (weights + points - 1)).sum()
    bound = bounds.methods.packing(n, epsilon, points=points, share=share)
    assert 0 < bound <= 1 - right
    assert bounds.methods.packing(n, epsilon, points=points, share=share, method="paper") <= bound + 1e-12
    assert bounds.methods.packing(n, epsilon, 1e-3, points=points, share=share) <= bound


def test_published_packing_bound_is_refuted_by_the_midpoint():
    """The published event is an error of at least the distance rho of two points. The midpoint has a smaller error."""
    parameters, answer = np.array([0.0, 1.0]), 0.5
    published = bounds.methods.packing(10, 0.1, points=2, share=0.1, method="paper")
    assert np.mean(np.abs(answer - parameters) >= 1) == 0 < published
    assert np.mean(np.abs(answer - parameters) >= 1 / 2) == 1 >= bounds.methods.packing(10, 0.1, points=2, share=0.1)


def test_packing_decreases_in_delta():
    """With a large delta the term for the event that no person has a record from P_v remains."""
    shrinking = [bounds.methods.packing(20, 0.5, delta, points=4, share=0.3) for delta in (0, 1e-3, 1e-2, 0.1, 0.5)]
    assert shrinking == sorted(shrinking, reverse=True)
    assert shrinking[0] > shrinking[2] > shrinking[4] > 0


# Input ----------------------------------------------------------------------------------------------------------------


def test_arrays_broadcast():
    epsilon, p, q = np.array([[0.5], [1.0]]), [0.6, 0.4], [0.4, 0.6]
    assert bounds.methods.le_cam([1, 10, 100], epsilon, p=p, q=q, separation=1.0).shape == (2, 3)
    assert bounds.methods.assouad([1, 10, 100], epsilon, family=[p, q], separation=1.0).shape == (2, 3)
    assert bounds.methods.fano([1, 10, 100], epsilon, family=[p, q, p], separation=1.0).shape == (2, 3)


@each(
    "call, message",
    [
        (
            lambda: bounds.methods.le_cam(1, 1, p=[0.5, 0.6], q=[0.5, 0.5], separation=1),
            r"^p must be distributions, which sum to 1$",
        ),
        (
            lambda: bounds.methods.le_cam(1, 1, p=[1.5, -0.5], q=[0.5, 0.5], separation=1),
            r"^p must be distributions, with no negative entry$",
        ),
        (
            lambda: bounds.methods.le_cam(1, 1, p=[1.0], q=[0.5, 0.5], separation=1),
            r"^p and q must have the same shape, got \(1,\) and \(2,\)$",
        ),
        (
            lambda: bounds.methods.le_cam(1, 1, p=[[1.0]], q=[[1.0]], separation=1),
            r"^p must have 1 dimension, none of them empty",
        ),
        (
            lambda: bounds.methods.fano(1, 1, family=[[0.5, 0.5]], separation=1),
            r"^Proposition 2 needs at least 2 hypotheses",
        ),
        (
            lambda: bounds.methods.fano(0, 1, family=[[1, 0], [0, 1]], separation=1),
            r"^Proposition 2 needs n >= 1, got n=0$",
        ),
        (
            lambda: bounds.methods.fano(1, 1, family=[[1, 0], [0, 1]], separation=-1),
            r"^Proposition 2 needs separation > 0, got separation=-1$",
        ),
        (
            lambda: bounds.methods.assouad(1, 1, family=[[1, 0]] * 3, separation=1),
            r"^Proposition 3 needs 2\^k distributions with k >= 1, got 3$",
        ),
        (lambda: bounds.methods.packing(5, 1, points=2, share=1.5), r"^Theorem 3 needs share <= 1, got share=1.5$"),
        (
            lambda: bounds.methods.packing(5, 1, 1, points=2, share=0.5),
            r"^Theorem 3 needs 0 <= delta < 1, got delta=1$",
        ),
        (lambda: bounds.methods.packing(5, 1, points=1, share=0.5), r"^points must be an integer >= 2, got 1$"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
