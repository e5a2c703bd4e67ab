"""Total variation distance of private releases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from ldpfast import bounds

from ..support.cases import each


@each("epsilon", [1e-3, 0.1, 1.0, 4.0])
@each("n, t", [(1, 0.3), (7, 0.05), (60, 0.02), (500, 1e-4)])
def test_tv_of_releases_is_above_the_exact_expectation(n, t, epsilon):
    """The closed form is slightly above the expectation of g(B) for a binomial B, by Jensen's inequality."""
    j = np.arange(min(n, 150) + 1)
    mass = stats.binom.pmf(j, n, t)
    pure = mass @ np.tanh(j * epsilon / 2)
    assert pure <= bounds.methods.tv_of_releases(n, tv=t, epsilon=epsilon) * (1 + 1e-12) <= 1.3 * pure
    delta = 1e-3
    groups = delta * np.expm1(j * epsilon) / math.expm1(epsilon)
    approximate = mass @ np.minimum(1, np.tanh(j * epsilon / 2) + 2 * groups / (1 + np.exp(j * epsilon)))
    assert approximate <= bounds.methods.tv_of_releases(
        n, tv=t, privacy="approximate", epsilon=epsilon, delta=delta
    ) * (1 + 1e-12)
    if epsilon <= 1:
        tv = mass @ np.minimum(1, j * epsilon)
        assert tv <= bounds.methods.tv_of_releases(n, tv=t, privacy="tv", epsilon=epsilon) * (1 + 1e-12)


def test_bad_tv():
    with pytest.raises(ValueError, match=r"Theorem 2, needs tv in \[0, 1\], got tv=1.1$"):
        bounds.methods.tv_of_releases(2, tv=1.1, epsilon=1)
