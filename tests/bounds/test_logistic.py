"""Bounds of the coefficients of a logistic regression."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ldpfast import bounds

from ..support.internals.bounds import tools, tv_from_kl
from ..support.modules import module_of
from ..support.simulation import assert_mean_error_between, run_ignoring_small_samples

inside = module_of(bounds.logistic)


@pytest.mark.parametrize("n, epsilon", [(1e2, 0.5), (1e4, 0.5), (1e6, 2.0)])
def test_tilted_rows_give_the_lower_bound(n, epsilon):
    """Rows are signs with x_j | y proportional to exp(y t x_j / 2), so the coefficients are +-t.

    Scores are orthogonal with variance 4 sinh(t / 2)^2. The divergence across an edge is t tanh(t / 2), at most half of
    the variance. The bound for two coefficients is at most the largest of the bounds for t <= 1/2, and loses at most 15 %.
    """
    best, capacity = 0.0, min(float(tools.capacity(np.array(epsilon))), math.tanh(epsilon / 2) ** 2)
    for t in (0.1, 0.5, 1.0, *np.geomspace(1e-4, 0.5, 300)):
        grid = np.array([(y, x1, x2) for y in (-1, 1) for x1 in (-1, 1) for x2 in (-1, 1)], float)

        def distribution(v, grid=grid, t=t):
            weight = np.exp(grid[:, 0] * t * (grid[:, 1:] * v).sum(axis=1) / 2)
            return weight / weight.sum()

        p = distribution(np.array([1, 1]))
        scores = [distribution(np.array(v)) / p - 1 for v in ([-1, 1], [1, -1])]
        assert p @ scores[0] ** 2 == pytest.approx(4 * math.sinh(t / 2) ** 2)
        assert p @ (scores[0] * scores[1]) == pytest.approx(0, abs=1e-15)
        kl = p @ -np.log1p(scores[0])
        assert kl == pytest.approx(t * math.tanh(t / 2))
        assert kl <= 2 * math.sinh(t / 2) ** 2 + 1e-15
        odds = np.log(p[grid[:, 0] == 1] / p[grid[:, 0] == -1])
        np.testing.assert_allclose(odds, t * grid[grid[:, 0] == 1, 1:].sum(axis=1))
        second = (p[:, None, None] * grid[:, 1:, None] * grid[:, None, 1:]).sum(axis=0)
        assert np.linalg.eigvalsh(second).min() >= 3 / 4  # these rows are among those of the problem
        if t <= 0.5:
            tv = float(tv_from_kl(n / 2 * capacity * (p @ scores[0] ** 2)))
            best = max(best, 2 * t**2 * (1 - tv))
    lower = float(bounds.logistic(n, 2, epsilon).lower)
    assert 0.85 * best <= lower <= best * (1 + 1e-3)
    np.testing.assert_allclose(inside.CURVATURE, 0.75 * math.exp(1) / (1 + math.exp(1)) ** 2)


@pytest.mark.long
def test_gradient_descent_errs_between_the_bounds():
    n, d, a, runs, rng = 20_000, 2, 2.0, 60, np.random.default_rng(11)
    truth = np.array([0.4, -0.4])
    errors = []
    for _ in range(runs):
        rows = rng.choice([-1.0, 1.0], (n, d))
        y = rng.random(n) < 1 / (1 + np.exp(-rows @ truth))
        protocol = inside.least_curvature_descent(d, a)
        errors.append(((run_ignoring_small_samples(protocol, rows, y.astype(float), rng=rng) - truth) ** 2).sum())
    assert_mean_error_between(bounds.logistic(n, d, a), errors, near=0.001)


def test_bad_epsilon():
    with pytest.raises(ValueError, match=r"Corollary 6, needs epsilon <= 700, got epsilon=701$"):
        bounds.logistic(10, 1, 701)
