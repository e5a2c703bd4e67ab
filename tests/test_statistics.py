"""Reports follow their law: fixed seeds, bounds from named inequalities, false alarm at most ALPHA per test.

What a test can see is in its docstring. Exact and twin tests come first; these would catch an error that both the kernel
and its twin share, or a key stream that is not uniform.
"""

from __future__ import annotations

import numpy as np
import pytest

import ldpfast as ldp

from .support.statistics import ALPHA, bernstein_radius, hoeffding_radius

SEED = 20240611
N = 200_000


@pytest.mark.parametrize(
    "mechanism, record, row",
    [
        (ldp.Warner(1.0), 1, 1),
        (ldp.RandomizedResponse(2, 0.1), 0, 0),
        (ldp.RandomizedResponse(5, 1.0), 3, 3),
        (ldp.RandomizedResponse(64, 4.0), 63, 63),
        (ldp.RandomizedResponse(300, 6.0), 17, 17),
        (ldp.Residue(1.0, 0.0, 4, 1.0), -0.1, 3),
        (ldp.Bins((0.0, 1.0), 1.0), 0.5, 1),
        (ldp.SignBit(-1.0, 1.0, 1.0), 1.0, 1),
        (ldp.UnaryEncoding(4, 1.0), 2, 2),
        (ldp.UnaryEncoding(4, 1.0, "optimized"), 2, 2),
        (ldp.LinfBall(3, 1.0), [1.0, -1.0, 1.0], 5),
        (ldp.LinfBall(4, 1.0), [1.0, -1.0, 1.0, -1.0], 5),
        (ldp.LinfBall(4, 1.0, ties="thin"), [1.0, -1.0, 1.0, -1.0], 5),
    ],
    ids=repr,
)
def test_reports_follow_the_channel(mechanism, record, row):
    """Sees errors of a cell above 0.8 percentage points."""
    x = np.repeat(np.asarray(record)[np.newaxis], N, axis=0)
    reports = mechanism.privatize(x, rng=SEED)
    codes = reports if reports.ndim == 1 else reports[:, 0]
    expected = mechanism.channel().matrix[row]
    observed = np.bincount(codes, minlength=len(expected)) / N
    np.testing.assert_allclose(observed, expected, rtol=0, atol=hoeffding_radius(N, ALPHA / len(expected)))


def ball(n, dim, norm, radius):
    x = np.random.default_rng(dim).uniform(-radius, radius, (n, dim))
    return x if norm == "linf" else x * (radius / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), radius))


UNBIASED = [
    (ldp.SignBit(-2.0, 5.0, 0.7), np.random.default_rng(1).uniform(-2, 5, N)),
    (ldp.LinfBall(1, 1.0), ball(N, 1, "linf", 1.0)),
    (ldp.LinfBall(8, 1.0, 2.0), ball(N, 8, "linf", 2.0)),
    (ldp.LinfBall(8, 1.0, 2.0, "thin"), ball(N, 8, "linf", 2.0)),
    (ldp.LinfBall(27, 3.0), ball(N, 27, "linf", 1.0)),
    (ldp.LinfBall(128, 1.0), ball(20_000, 128, "linf", 1.0).astype(np.float32)),
    (ldp.L2Ball(1, 1.0), ball(N, 1, "l2", 1.0)),
    (ldp.L2Ball(2, 1.0), ball(N, 2, "l2", 1.0)),
    (ldp.L2Ball(10, 2.0, 3.0), ball(N, 10, "l2", 3.0).astype(np.float32)),
    (ldp.L2Ball(100, 1.0), ball(20_000, 100, "l2", 1.0).astype(np.float32)),
]


@pytest.mark.parametrize("mechanism, x", UNBIASED, ids=lambda v: repr(v) if hasattr(v, "epsilon") else "")
def test_unbiased_and_of_the_stated_variance(mechanism, x):
    """Mean error and mean squared error of decoded reports, by Bernstein's inequality with the exact variance and the
    largest possible error. Sees a bias of seven standard errors and a variance wrong by a few percent."""
    largest = (
        mechanism.scale if hasattr(mechanism, "scale") else np.abs(mechanism.decode(np.array([0, 1], np.uint8))).max()
    )
    bound = float(largest + np.abs(x).max())
    error = (mechanism.decode(mechanism.privatize(x, rng=SEED)) - x).reshape(len(x), -1)
    variance = mechanism.variance(x).reshape(len(x), -1)
    radius = bernstein_radius(variance.mean(0), bound, len(x), ALPHA / 2 / error.shape[1])
    assert (np.abs(error.mean(0)) <= radius).all()
    # The mean square of a row lies in [0, bound^2], so its variance is at most bound^2 times its expectation.
    radius = bernstein_radius(bound**2 * variance.mean(), bound**2, len(x), ALPHA / 2)
    assert abs((error**2).mean() - variance.mean()) <= radius


@pytest.mark.parametrize("dim", [2, 3, 16])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_l2_covariance_is_isotropic(dim, dtype):
    """E Z Z^T = (B^2 / d) I for every record. Entries of Z Z^T are at most B^2; Hoeffding over all of them.

    Sees errors of 2 B^2 radius, about 3 percent of B^2 / 2."""
    mechanism = ldp.L2Ball(dim, 2.0)
    x = np.zeros((N, dim), dtype)
    x[:, 0] = 1
    z = mechanism.privatize(x, rng=SEED).astype(np.float64) / mechanism.scale
    second = z.T @ z / N
    np.testing.assert_allclose(second, np.eye(dim) / dim, rtol=0, atol=2 * hoeffding_radius(N, ALPHA / dim**2))
    np.testing.assert_allclose((z**2).sum(1), 1, rtol=0, atol=2e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_directions_are_uniform_on_the_circle(dtype):
    """Angles of reports at the centre, folded to 64 sectors: Hoeffding. Sees a sector off by 0.8 percentage points."""
    z = ldp.L2Ball(2, 1.0).privatize(np.zeros((N, 2), dtype), rng=SEED)
    sector = ((np.arctan2(z[:, 1], z[:, 0]) / np.pi + 1) * 32).astype(int) % 64
    observed = np.bincount(sector, minlength=64) / N
    np.testing.assert_allclose(observed, 1 / 64, rtol=0, atol=hoeffding_radius(N, ALPHA / 64))


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_laplace_quantiles(epsilon):
    """The distribution function of the noise at its quantiles, by the Dvoretzky-Kiefer-Wolfowitz inequality (the same
    radius as Hoeffding's, for all points at once)."""
    mechanism = ldp.Laplace(0.0, 1.0, epsilon)
    noise = np.sort(mechanism.privatize(np.zeros(N), rng=SEED))
    points = np.linspace(-5, 5, 101) / epsilon
    ideal = np.where(points < 0, 0.5 * np.exp(points * epsilon), 1 - 0.5 * np.exp(-points * epsilon))
    observed = np.searchsorted(noise, points) / N
    grid = mechanism.grid * epsilon / 2  # one step of the grid moves the distribution function by less than this
    np.testing.assert_allclose(observed, ideal, rtol=0, atol=hoeffding_radius(N, ALPHA) + grid)


def test_neighbours_in_a_block_are_independent():
    """Laplace numbers share bit planes: products of neighbours at every lag up to 64 average to zero (sign products, so
    Hoeffding applies)."""
    mechanism = ldp.Laplace(-1.0, 1.0, 1.0)
    sign = np.sign(mechanism.privatize(np.zeros(N), rng=SEED))
    for lag in range(1, 65):
        products = (sign[lag:] * sign[:-lag] + 1) / 2
        assert abs(products.mean() - 0.5) <= hoeffding_radius(N - 64, ALPHA / 64) * 2**0.5


@pytest.mark.parametrize("n", [3, 100, 513])
def test_small_batches_are_independent_too(n):
    """Many short batches, whose lanes are laid out differently: mean of products of two positions."""
    mechanism = ldp.Laplace(-1.0, 1.0, 1.0)
    generator = np.random.default_rng(SEED)
    batches = np.array([np.sign(mechanism.privatize(np.zeros(n), rng=generator)) for _ in range(4000)])
    for i, j in [(0, 1), (0, n - 1), (n // 2, n - 1)]:
        products = (batches[:, i] * batches[:, j] + 1) / 2
        assert abs(products.mean() - 0.5) <= hoeffding_radius(4000, ALPHA / 3)


@pytest.mark.parametrize(
    "mechanism, x",
    [
        (ldp.Warner(0.5), np.arange(200) < 60),
        (ldp.RandomizedResponse(4, 1.0), np.arange(200) % 4),
        (ldp.SignBit(0.0, 1.0, 1.0), np.linspace(0, 1, 200)),
        (ldp.LinfBall(4, 2.0), np.linspace(-1, 1, 800).reshape(200, 4)),
        (ldp.UnaryEncoding(8, 2.0), np.arange(200) % 8),
        (ldp.L2Ball(4, 2.0), np.linspace(-0.5, 0.5, 800).reshape(200, 4)),
        (ldp.Laplace(0.0, 1.0, 1.0), np.linspace(0, 1, 200)),
    ],
    ids=lambda v: repr(v) if hasattr(v, "epsilon") else "",
)
def test_intervals_cover(mechanism, x):
    """95 % intervals of 2000 runs cover the records' mean in at least 95 % minus Hoeffding's radius (7.3 points)."""
    truth = mechanism.variance(x[:1]).shape[1:]
    target = np.eye(mechanism.report.k)[x].mean(0) if truth and x.ndim == 1 else np.asarray(x, float).mean(0)
    generator = np.random.default_rng(SEED)
    covered = 0.0
    for _ in range(2000):
        low, high = mechanism.run(x, rng=generator).interval()
        covered += float(np.mean((low <= target) & (target <= high)))
    assert covered / 2000 >= 0.95 - hoeffding_radius(2000, ALPHA)
