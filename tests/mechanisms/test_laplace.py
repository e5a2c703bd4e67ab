"""Discrete Laplace noise for a number: the kernel against the reference, and the distribution of reports."""

from __future__ import annotations

import numpy as np
import pytest

import ldpfast as ldp

from ..support import reference
from ..support.cases import each
from ..support.internals.shared import coin_integers
from ..support.keys import KEY, SEED, STATISTICS_SEED
from ..support.statistics import ALPHA, hoeffding_radius

# Reports --------------------------------------------------------------------------------------------------------------


def reference_reports(mechanism, x, block=0):
    """Return the reports of a block."""
    coins = coin_integers.geometric(0.5, 512, 512, 1)
    words = [reference.Words(KEY, f"LAPLACE{use}", block, 80) for use in ("", "_TIES", "_ROUNDING")]
    noise, rounding = reference.discrete_laplace(coins, *words[:2], len(x)), words[2].take(len(x), "<u2")
    expected = []
    for value, word, z in zip(x.astype(float), rounding, noise, strict=True):
        index = reference.grid_index(float(value), -1.0, mechanism.grid, 512, int(word))
        expected.append(-1.0 + mechanism.grid * (index + z + 0.5))
    return expected


@each("dtype", [np.float32, np.float64])
@each("n", [1, 2, 16, 17, 512, 513, 700])
def test_reports_equal_the_reference(isa, n, dtype):
    mechanism = ldp.Laplace(-1.0, 3.0, 0.5)
    x = np.random.default_rng(n).uniform(-1, 3, n).astype(dtype)
    x[0] = 3.0
    assert mechanism.privatize(x, rng=SEED).tolist() == reference_reports(mechanism, x)


def test_a_block_has_8192_numbers():
    """The first number of the second block has the first coins of that block. In a block, the streams of digits and of rounding
    take turns, with subkeys of different segments.
    """
    mechanism, x = ldp.Laplace(-1.0, 3.0, 0.5), np.random.default_rng(1).uniform(-1, 3, 8195)
    reports = mechanism.privatize(x, rng=SEED).tolist()
    assert reports[:8192] == reference_reports(mechanism, x[:8192])
    assert reports[8192:] == reference_reports(mechanism, x[8192:], 1)


def test_rounding_to_the_grid_preserves_the_mean():
    """Over all words of the random rounding, the mean index is the position, up to half a word."""
    for x in np.random.default_rng(5).uniform(0, 7, 20):
        mean = np.mean([reference.grid_index(x, 0.0, 1.0, 7, word) for word in range(1 << 16)])
        assert abs(mean - x) <= 2.0**-16


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 4.0])
def test_rounding_to_the_grid_adds_a_millionth_of_the_variance(epsilon):
    laplace = ldp.Laplace(-1.0, 1.0, epsilon)
    x = np.linspace(-1, 1, 1001)
    assert laplace.variance(x).max() <= 8 / epsilon**2 * (1 + 1e-6)


# Distribution ---------------------------------------------------------------------------------------------------------

N = 200_000


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_the_distribution_function_is_that_of_laplace_noise(epsilon):
    """Dvoretzky-Kiefer-Wolfowitz inequality, which has Hoeffding's radius for all points at once."""
    mechanism = ldp.Laplace(0.0, 1.0, epsilon)
    noise = np.sort(mechanism.privatize(np.zeros(N), rng=STATISTICS_SEED))
    points = np.linspace(-5, 5, 101) / epsilon
    ideal = np.where(points < 0, 0.5 * np.exp(points * epsilon), 1 - 0.5 * np.exp(-points * epsilon))
    observed = np.searchsorted(noise, points) / N
    grid = mechanism.grid * epsilon / 2  # one step of the grid changes the distribution function by less than this
    np.testing.assert_allclose(observed, ideal, rtol=0, atol=hoeffding_radius(N, ALPHA) + grid)


def test_neighboring_reports_of_a_block_are_independent():
    """Products of signs at every lag up to 64 have mean zero (Hoeffding's inequality)."""
    mechanism = ldp.Laplace(-1.0, 1.0, 1.0)
    sign = np.sign(mechanism.privatize(np.zeros(N), rng=STATISTICS_SEED))
    for lag in range(1, 65):
        products = (sign[lag:] * sign[:-lag] + 1) / 2
        assert abs(products.mean() - 0.5) <= hoeffding_radius(N - 64, ALPHA / 64) * 2**0.5


@pytest.mark.parametrize("n", [3, 100, 513])
def test_reports_of_small_batches_are_independent(n):
    """Means of products of two positions over many small batches."""
    mechanism = ldp.Laplace(-1.0, 1.0, 1.0)
    generator = np.random.default_rng(STATISTICS_SEED)
    batches = np.array([np.sign(mechanism.privatize(np.zeros(n), rng=generator)) for _ in range(4000)])
    for i, j in [(0, 1), (0, n - 1), (n // 2, n - 1)]:
        products = (batches[:, i] * batches[:, j] + 1) / 2
        assert abs(products.mean() - 0.5) <= hoeffding_radius(4000, ALPHA / 3)


def test_reports_beyond_the_limit_of_the_grid_are_refused():
    mechanism = ldp.Laplace(0, 1, 1.0)
    for steps in (2**47 - 1, -(2**47) + 1):
        mechanism.estimate(np.array([mechanism.grid * (steps + 0.5)]))
    for steps in (2**47 + 1, -(2**47) - 2, 2**48 - 1):
        with pytest.raises(ValueError, match="reports must lie on the mechanism's grid"):
            mechanism.estimate(np.array([mechanism.grid * (steps + 0.5)]))
