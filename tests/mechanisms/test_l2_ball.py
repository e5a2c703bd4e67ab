"""The half-space mechanism for the Euclidean ball: the kernel against the reference, and the distribution of reports."""

from __future__ import annotations

import numpy as np
import pytest

import ldpfast as ldp

from ..support import reference
from ..support.cases import each
from ..support.internals.kernels import privatize, stream
from ..support.keys import KEY, SEED, STATISTICS_SEED
from ..support.statistics import ALPHA, assert_counts, hoeffding_radius

# Reports --------------------------------------------------------------------------------------------------------------


@each("dtype", [np.float32, np.float64])
@each("dim, n", [(1, 1), (1, 64), (2, 9), (3, 65), (8, 8), (31, 7), (32, 9), (33, 5), (100, 9), (513, 3), (5000, 1)])
def test_reports_equal_the_reference(isa, dim, n, dtype):
    mechanism = ldp.L2Ball(dim, 1.0, radius=2.0)
    x = np.random.default_rng(n).normal(size=(n, dim))
    x *= np.random.default_rng(dim).uniform(0, 1.99, (n, 1)) / np.linalg.norm(x, axis=1, keepdims=True)
    x[1:2] = 0  # the product with any direction is zero, which counts as positive
    x = x.astype(dtype)
    got = mechanism.privatize(x, rng=SEED)
    expected = reference.l2_rows(mechanism, KEY, 0, x)
    scale = mechanism.scale / np.sqrt(dim)
    tolerance = (1e-4 if dtype == np.float32 else 1e-12) * scale * 10
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance)


@each("dim", [1, 5000])
def test_the_opposite_direction_is_taken_exactly_from_the_threshold_on(isa, dim):
    """The norm decides whether the record is replaced by its opposite: it is if (1 + norm) / 2 is equal to the coin."""
    tested = 0
    for seed in range(20):
        key = bytes([seed] * 32)
        coin = (reference.Words(key, "L2_SIGN", 0).word() >> 11) / 2**53
        if coin < 0.5:  # no norm has this threshold
            continue
        x, out = np.zeros((2, dim)), np.empty((2, dim))
        x[:, 0] = 2 * coin - 1, 2 * coin - 1 + 2.0**-52
        kernel = privatize.L2Ball(dim, 1.0, 1.0, 1 << 63)
        for i in range(2):
            kernel.privatize(stream.Stream(key), 0, x[i : i + 1], out[i : i + 1])
        np.testing.assert_array_equal(out[0], -out[1])
        tested += 1
    assert tested >= 5


# Distribution ---------------------------------------------------------------------------------------------------------

N = 200_000


@each("dim", [2, 3, 16])
@each("dtype", [np.float32, np.float64])
def test_the_second_moments_are_isotropic(dim, dtype):
    """E Z Z^T = (B^2 / d) I for every record. Entries of Z Z^T are at most B^2: Hoeffding's inequality for all of them.

    Detects errors of 2 B^2 radius, about 3 percent of B^2 / 2.
    """
    mechanism = ldp.L2Ball(dim, 2.0)
    x = np.zeros((N, dim), dtype)
    x[:, 0] = 1
    z = mechanism.privatize(x, rng=STATISTICS_SEED).astype(np.float64) / mechanism.scale
    second = z.T @ z / N
    np.testing.assert_allclose(second, np.eye(dim) / dim, rtol=0, atol=2 * hoeffding_radius(N, ALPHA / dim**2))
    np.testing.assert_allclose((z**2).sum(1), 1, rtol=0, atol=2e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_directions_are_uniform_on_the_circle(dtype):
    """Angles of reports of the center in 64 sectors. Detects 0.3 percentage points in a sector."""
    z = ldp.L2Ball(2, 1.0).privatize(np.zeros((N, 2), dtype), rng=STATISTICS_SEED)
    sector = ((np.arctan2(z[:, 1], z[:, 0]) / np.pi + 1) * 32).astype(int) % 64
    assert_counts(np.bincount(sector, minlength=64), N, 1 / 64, detects=0.003)
