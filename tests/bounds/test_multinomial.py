"""Bounds of the shares of categories."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ldpfast import bounds, estimation

from ..support.cases import each
from ..support.simulation import assert_mean_error_between


@pytest.mark.long
def test_the_lower_bound_of_two_categories_agrees_with_assouad():
    for n in (1, 10, 1000):
        for a in (0.1, 1.0, 5.0):
            lower = bounds.multinomial(n, 2, a).lower
            values = [
                bounds.methods.assouad(
                    n, a, family=[[(1 + c) / 2, (1 - c) / 2], [(1 - c) / 2, (1 + c) / 2]], separation=math.sqrt(2) * c
                )
                for c in np.geomspace(1e-4, 0.999, 400)
            ]
            assert lower <= max(values) * (1 + 1e-3)


def test_assouad_on_pairs_of_categories_is_below_the_upper_bound():
    """The explicit family of three pairs of categories."""
    v = 2 * ((np.arange(8)[:, None] >> np.arange(3)) & 1) - 1
    for n, a in ((5, 0.5), (50, 1.0), (500, 0.2)):
        best = 0.0
        for c in np.geomspace(0.01, 0.95, 40):
            family = np.concatenate([1 + c * v, 1 - c * v], axis=1) / 6
            best = max(best, bounds.methods.assouad(n, a, family=family, separation=c / 3 * math.sqrt(2)))
        assert best <= bounds.multinomial(n, 6, a).upper


def test_frequencies_err_between_the_bounds():
    n, k, a, runs, rng = 3000, 9, 1.0, 400, np.random.default_rng(11)
    errors = []
    for _ in range(runs):
        x = rng.integers(0, k, n)
        errors.append(((estimation.frequencies(x, k, a, rng=rng).value - 1 / k) ** 2).sum())
    assert_mean_error_between(bounds.multinomial(n, k, a), errors, near=0.9)


@each("epsilon", [0.01, 0.3, 1.0, 3.0, 10.0])
def test_the_upper_bound_is_the_error_of_the_best_mechanism(epsilon):
    """Relative difference of at most 1e-3 between ideal coins and the coins in use."""
    n = 10**9
    methods = [
        estimation.Frequencies(6, epsilon, mechanism=method).mechanism
        for method in ("k-ary", "subset", "symmetric", "optimized")
    ]
    least = min(6 * float(m.debiasing.variance(1 / 6)) for m in methods)
    assert bounds.multinomial(n, 6, epsilon).upper * n == pytest.approx(least, rel=1e-3)


def test_bad_k():
    with pytest.raises(ValueError, match=r"Theorem 1, needs k >= 2, got k=1$"):
        bounds.multinomial(10, 1, 1)
