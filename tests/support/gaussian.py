"""What the tests of `GaussianMean` share: one list of its protocols."""

from __future__ import annotations

import warnings

import numpy as np

from ldpfast.estimation import GaussianMean

from .examples import assert_same_estimate

SEED = 20261124
KNOWN, UNKNOWN = {"sigma": 2.0}, {"sigma_bounds": (0.5, 16.0)}
PROTOCOLS = {
    f"{variant}-{'known' if scale is KNOWN else 'unknown'}-{rounds}": {"variant": variant, "rounds": rounds, **scale}
    for variant in ("robust", "paper", "efficient")
    for scale in (KNOWN, UNKNOWN)
    for rounds in (2, 1)
    if (variant, rounds) != ("efficient", 1)
}


def make(options, epsilon=1.0, mu_bound=100.0, **more):
    return GaussianMean(epsilon, mu_bound=mu_bound, **{**options, **more})


def quiet(call, *arguments, **options):
    """With few people every variant warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*arguments, **options)


def assert_same_gaussian(actual, expected):
    assert_same_estimate(actual, expected)
    assert (actual.sigma is None) == (expected.sigma is None)
    if actual.sigma is not None:
        assert_same_estimate(actual.sigma, expected.sigma)
    assert (actual.center, actual.kappa, actual.goodness, actual.doubts) == (
        expected.center,
        expected.kappa,
        expected.goodness,
        expected.doubts,
    )


def normals(n, mu=3.7, sigma=2.0, seed=0):
    return np.random.default_rng([SEED, seed]).normal(mu, sigma, n)
