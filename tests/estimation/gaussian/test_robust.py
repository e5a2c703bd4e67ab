"""Bins around the center, and periodic questions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import ldpfast as ldp

from ...support.cases import each
from ...support.internals.gaussian import ReportDistribution, robust

SEED = 20261123


# Bins around the center -----------------------------------------------------------------------------------------------


def variance_of(cuts, epsilon):
    """n Var / sigma^2 of maximum likelihood, from the definition of Fisher information, by finite differences."""
    edges = np.array([-np.inf, *cuts, np.inf])
    k, e, h = len(edges) - 1, math.exp(epsilon), 1e-5

    def reports(mean):
        p = np.diff(stats.norm.cdf(edges, mean))
        return (1 + (e - 1) * p) / (e + k - 1)

    slopes = (reports(h) - reports(-h)) / (2 * h)
    return 1 / float(np.sum(slopes**2 / reports(0.0)))


@pytest.mark.parametrize("epsilon, bins, variance", [(3, 3, 1.685), (4, 5, 1.330), (5, 6, 1.169), (8, 8, 1.044)])
def test_best_bins_have_the_known_variance(epsilon, bins, variance):
    cuts = robust.best_cuts(float(epsilon), True)
    assert len(cuts) == bins - 1
    assert variance_of(cuts, epsilon) == pytest.approx(variance, abs=6e-4)
    assert 1 / robust._information(np.array(cuts), epsilon)[0, 0] == pytest.approx(variance_of(cuts, epsilon), rel=1e-6)
    np.testing.assert_allclose(cuts, -np.array(cuts)[::-1], rtol=0, atol=1e-12)


@each("epsilon", [0.1, 0.5, 1.0, 1.5, 2.0])
def test_one_cut_is_best_up_to_epsilon_2(epsilon):
    assert robust.best_cuts(epsilon, True) == (0.0,)
    assert variance_of((0.0,), epsilon) == pytest.approx(math.pi / 2 / math.tanh(epsilon / 2) ** 2, rel=1e-6)


def test_no_cuts_nearby_are_better():
    rng = np.random.default_rng(SEED)
    for epsilon, known in ((2.5, True), (6.0, True), (0.5, False), (1.0, False), (4.0, False)):
        cuts = np.array(robust.best_cuts(epsilon, known))
        assert len(cuts) >= 2
        for _ in range(20):
            other = np.sort(cuts + rng.normal(0, 0.1, len(cuts)))
            other = (other - other[::-1]) / 2
            assert robust._worth(other, epsilon, known) < robust._worth(cuts, epsilon, known) * (1 + 1e-6)


def test_information_of_bins_agrees_with_the_distribution():
    """About mean and standard deviation, off the center."""
    cuts, epsilon, off = np.array([-0.8, 0.1, 0.9]), 1.5, 0.3
    distribution = ReportDistribution([ldp.Bins(tuple(cuts), epsilon)])
    expected = distribution.information(np.ones(4), off, 1.0)
    np.testing.assert_allclose(robust._information(cuts, epsilon, off), expected, rtol=1e-6)


# Periodic questions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon, modulus, width", [(0.5, 2, math.pi), (1.0, 2, math.pi), (4.0, 4, 1.9)])
def test_periodic_questions_of_one_scale(epsilon, modulus, width):
    """Two phases of half a wave, or of four symbols. No period is a power of two times sigma, as in the search."""
    sigma = 3.0
    expected = [ldp.Residue(width * sigma, phase * width * sigma / 2, modulus, epsilon) for phase in (0, 1)]
    waves = list(robust.waves(epsilon, sigma, sigma, False))
    assert waves == expected
    assert math.log2(waves[0].width * modulus / sigma) % 1 not in (0, 1)


def test_periodic_questions_of_many_scales():
    waves = robust.waves(1.0, 0.5, 16.0, True)
    scales = 0.5 * 32 ** ((np.arange(5) + 0.5) / 5)
    width = waves[0].width / scales[0]
    assert [(q.width, q.offset) for q in waves] == [
        (pytest.approx(width * s), pytest.approx(phase * width * s / 2)) for s in scales for phase in (0, 1)
    ]


def test_information_of_periodic_questions_depends_little_on_the_mean():
    """For small epsilon, two phases together have the information 8 / (pi^2 e) (1 - 2q)^2 per person for every mean."""
    epsilon, sigma = 0.5, 2.0
    distribution = ReportDistribution(robust.waves(epsilon, sigma, sigma, False))
    flip = math.tanh(epsilon / 2) ** 2
    for mu in np.linspace(-8, 8, 33):
        information = distribution.information(np.full(4, 0.5), mu, sigma, False)[0, 0]
        assert information * sigma**2 == pytest.approx(8 / (math.pi**2 * math.e) * flip, rel=0.1)
