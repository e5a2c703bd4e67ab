"""Bounds of the mean of vectors in a Euclidean ball."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import bounds, estimation

from ..support.cases import each
from ..support.simulation import assert_mean_error_between


def test_the_lower_bound_agrees_with_assouad_on_independent_signs():
    """The closed form is not above the method on the explicit family in three dimensions."""
    signs = 2 * ((np.arange(8)[:, None] >> np.arange(3)) & 1) - 1
    for n, a in ((5, 0.5), (50, 1.0), (500, 0.2)):
        best = 0.0
        for c in np.geomspace(0.01, 0.95, 40):
            family = np.array([np.prod(1 + c * corner * signs, axis=1) / 8 for corner in signs])
            best = max(best, bounds.methods.assouad(n, a, family=family, separation=2 * c / math.sqrt(3)))
        single = bounds.mean_l2(n, 1, a).lower
        assert bounds.mean_l2(n, 3, a).lower <= max(best, single) * 1.6
        assert best <= bounds.mean_l2(n, 3, a).upper


def test_the_vector_mean_errs_between_the_bounds():
    n, d, a, runs, rng = 1000, 8, 1.0, 400, np.random.default_rng(11)
    rows = rng.choice([-1.0, 1.0], (n, d)) / math.sqrt(d)
    errors = [(estimation.vector_mean(rows, a, mechanism="half-space", rng=rng).value ** 2).sum() for _ in range(runs)]
    assert_mean_error_between(bounds.mean_l2(n, d, a), errors, near=0.9)


@each("epsilon", [0.01, 0.3, 1.0, 3.0, 10.0])
def test_the_upper_bound_is_the_error_of_the_better_mechanism(epsilon):
    """Relative difference of at most 1e-4 between ideal coins and the coins in use."""
    n = 10**9
    least = min(*(ball(7, epsilon).scale ** 2 for ball in (ldp.L2Ball, ldp.RankedSigns)), 1 + 8 * (7 / epsilon) ** 2)
    assert bounds.mean_l2(n, 7, epsilon).upper * n == pytest.approx(least, rel=1e-4)


def test_the_upper_bound_is_near_the_best_error_in_arrays_of_arguments():
    """PrivUnit has the smallest error that is known; large epsilon, where coins end, and many dimensions included."""
    dims, epsilons = np.array([[1], [50], [1000]]), np.array([0.1, 4.0, 16.0])
    upper = bounds.mean_l2(10**9, dims, epsilons).upper * 10**9
    for i, d in enumerate((50, 1000), 1):
        best = [ldp.PrivUnit(d, a).scale ** 2 for a in epsilons]
        assert (upper[i] >= 0.9999 * np.array(best)).all()
        assert (upper[i] <= 1.2 * np.array(best)).all()
    assert upper[0] == pytest.approx([ldp.L2Ball(1, a).scale ** 2 for a in epsilons], rel=1e-4)
    one, other = bounds.mean_l2(10**9, 6, [40.0, 300.0]).upper
    assert other <= one
    assert math.isfinite(float(bounds.mean_l2(100, 1 << 25, 1.0).upper))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: bounds.mean_l2(10, 0, 1), r"Corollary 4, needs dim >= 1, got dim=0$"),
        (lambda: bounds.mean_l2(10, 1.5, 1), r"Corollary 4, needs a whole dim, got dim=1.5$"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
