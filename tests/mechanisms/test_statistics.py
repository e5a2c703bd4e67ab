"""Distributions of reports, with fixed seeds and bounds from named inequalities.

The probability of a false alarm is at most ALPHA per test. The docstring of a test states what it can detect. Unlike the
exact tests and the reference, these tests detect an error that kernel and reference share, and words that are not uniform.
"""

from __future__ import annotations

import numpy as np
import pytest

import ldpfast as ldp

from ..support.cases import each
from ..support.keys import STATISTICS_SEED
from ..support.statistics import ALPHA, assert_counts, assert_coverage, bernstein_radius

N = 200_000


@pytest.mark.claim("Reports have the probabilities of the channel.", "Privacy of reports")
@each(
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
        (ldp.UnaryEncoding(4, 1.0, method="optimized"), 2, 2),
        (ldp.LinfBall(3, 1.0), [1.0, -1.0, 1.0], 5),
        (ldp.LinfBall(4, 1.0), [1.0, -1.0, 1.0, -1.0], 5),
        (ldp.LinfBall(4, 1.0, ties="thin"), [1.0, -1.0, 1.0, -1.0], 5),
        (ldp.HadamardResponse(5, 1.0), 2, 2),
        (ldp.ProjectiveGeometryResponse(13, 2.0), 12, 12),
        (ldp.SubsetSelection(5, 1.0), 3, 3),
        (ldp.Window(-1.0, 1.0, 1.0), 1.0, 1),
        (ldp.SampledCube(3, 2.0, sampled=3), [1.0, -1.0, 1.0], 5),
    ],
    ids=repr,
)
def test_reports_follow_the_channel(mechanism, record, row):
    """Detects errors of a cell above 0.9 percentage points. test_power.py has the coins, with more records."""
    x = np.repeat(np.asarray(record)[np.newaxis], N, axis=0)
    reports = mechanism.privatize(x, rng=STATISTICS_SEED)
    codes = reports if reports.ndim == 1 else reports[:, 0]
    expected = mechanism.channel().matrix[row]
    assert_counts(np.bincount(codes, minlength=len(expected)), N, expected, detects=0.009)


def ball(n, dim, norm, radius):
    x = np.random.default_rng(dim).uniform(-radius, radius, (n, dim))
    return x if norm == "linf" else x * (radius / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), radius))


UNBIASED = [
    (ldp.SignBit(-2.0, 5.0, 0.7), np.random.default_rng(1).uniform(-2, 5, N)),
    (ldp.LinfBall(1, 1.0), ball(N, 1, "linf", 1.0)),
    (ldp.LinfBall(8, 1.0, radius=2.0), ball(N, 8, "linf", 2.0)),
    (ldp.LinfBall(8, 1.0, radius=2.0, ties="thin"), ball(N, 8, "linf", 2.0)),
    (ldp.LinfBall(27, 3.0), ball(N, 27, "linf", 1.0)),
    (ldp.LinfBall(128, 1.0), ball(20_000, 128, "linf", 1.0).astype(np.float32)),
    (ldp.L2Ball(1, 1.0), ball(N, 1, "l2", 1.0)),
    (ldp.L2Ball(2, 1.0), ball(N, 2, "l2", 1.0)),
    (ldp.L2Ball(10, 2.0, radius=3.0), ball(N, 10, "l2", 3.0).astype(np.float32)),
    (ldp.L2Ball(100, 1.0), ball(20_000, 100, "l2", 1.0).astype(np.float32)),
    (ldp.Window(-2.0, 5.0, 0.7), np.random.default_rng(1).uniform(-2, 5, N)),
    (ldp.Window(-2.0, 5.0, 4.0), np.random.default_rng(1).uniform(-2, 5, N).astype(np.float32)),
    (ldp.SampledCube(8, 2.0, radius=2.0), ball(N, 8, "linf", 2.0)),
    (ldp.SampledCube(8, 3.0, sampled=8), ball(N, 8, "linf", 1.0)),
    (ldp.SampledCube(70, 2.0, sampled=70), ball(20_000, 70, "linf", 1.0).astype(np.float32)),
    (ldp.RankCodebook(3, 2.0, radius=3.0), ball(N, 3, "l2", 3.0)),
    (ldp.RankedSigns(3, 2.0, radius=3.0), ball(N, 3, "l2", 3.0)),
    (ldp.RankCodebook(30, 4.0), ball(20_000, 30, "l2", 1.0).astype(np.float32)),
]


@each("mechanism, x", UNBIASED, ids=lambda v: repr(v) if hasattr(v, "epsilon") else "")
def test_decoded_reports_have_the_record_as_mean_and_the_stated_variance(mechanism, x):
    """Bernstein's inequality with the exact variance and the largest possible error, for the mean and the squared error.

    Detects a bias of seven standard errors, and a variance that is wrong by a few percent.
    """
    largest = (
        mechanism.scale
        if hasattr(mechanism, "scale")
        else np.abs(mechanism.decode(np.arange(mechanism.report.k, dtype=np.uint8))).max()
    )
    bound = float(largest + np.abs(x).max())
    error = (mechanism.decode(mechanism.privatize(x, rng=STATISTICS_SEED)) - x).reshape(len(x), -1)
    variance = mechanism.variance(x).reshape(len(x), -1)
    radius = bernstein_radius(variance.mean(0), bound, len(x), ALPHA / 2 / error.shape[1])
    assert (np.abs(error.mean(0)) <= radius).all()
    # The mean square of a row lies in [0, bound^2], so its variance is at most bound^2 times its expectation.
    radius = bernstein_radius(bound**2 * variance.mean(), bound**2, len(x), ALPHA / 2)
    assert abs((error**2).mean() - variance.mean()) <= radius


@pytest.mark.claim(
    "95 % intervals of every mechanism contain the true value in at least 95 % of the studies.", "Estimates"
)
@pytest.mark.long
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
        (ldp.HadamardResponse(8, 1.0), np.arange(200) % 8),
        (ldp.ProjectiveGeometryResponse(8, 2.0), np.arange(200) % 8),
        (ldp.SubsetSelection(8, 1.0), np.arange(200) % 8),
        (ldp.Window(0.0, 1.0, 2.0), np.linspace(0, 1, 200)),
        (ldp.SampledCube(4, 2.0), np.linspace(-1, 1, 800).reshape(200, 4)),
        (ldp.RankCodebook(4, 2.0), np.linspace(-0.5, 0.5, 800).reshape(200, 4)),
        (ldp.RankedSigns(4, 2.0), np.linspace(-0.5, 0.5, 800).reshape(200, 4)),
    ],
    ids=lambda v: repr(v) if hasattr(v, "epsilon") else "",
)
def test_intervals_have_their_coverage(mechanism, x):
    """95 % intervals of each coordinate in 2000 runs. Detects a coverage of 0.9 of any of them."""
    truth = mechanism.variance(x[:1]).shape[1:]
    target = np.eye(truth[0])[x].mean(0) if truth and x.ndim == 1 else np.asarray(x, float).mean(0)
    generator = np.random.default_rng(STATISTICS_SEED)
    covered = np.zeros(np.shape(target), int)
    for _ in range(2000):
        low, high = mechanism.run(x, rng=generator).interval()
        covered += (low <= target) & (target <= high)
    assert_coverage(covered, 2000, 0.95, detects=0.9)
