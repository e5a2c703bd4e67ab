"""The search: levels of residues, and their decoders."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ...support.cases import each
from ...support.gaussian import difficult_means, level_counts
from ...support.internals.gaussian import gaussian_levels

SEED = 20261123


def test_widths_double_and_cover_all_means():
    for epsilon, narrowest, reach in ((1.0, 1.0, 4096.0), (0.5, 5.0, 1.0), (2.0, 0.3, 0.3), (1.0, 2.0, 3.0001)):
        levels = gaussian_levels.Levels(epsilon, narrowest, reach)
        count = max(3, 1 + math.ceil(math.log2(max(1.0, reach / (1.5 * narrowest)))))
        assert len(levels) == count
        assert [question.width for question in levels.questions] == [narrowest * 2**j for j in range(count)]
        assert {(q.offset, q.modulus, q.epsilon) for q in levels.questions} == {(0.0, 4, epsilon)}
        assert levels.range == 2 * levels.widths[-1] >= 4 / 3 * reach


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_kappa_follows_the_formula(epsilon):
    levels = gaussian_levels.Levels(epsilon, 1.0, 100.0)
    gain = (math.exp(epsilon) - 1) / (math.exp(epsilon) + 3)
    assert levels.kappa(1000) == pytest.approx(1000 * gain**2, rel=1e-5)
    people = levels.people(8.0)
    assert people % len(levels) == 0
    assert levels.kappa(people / len(levels)) >= 8 > levels.kappa(people / len(levels) - 1)


@each("epsilon, reach", [(0.5, 4096.0), (1.0, 1e6), (2.0, 4096.0)])
@each("decoder, kappa", [("by_likelihood", 8.0), ("by_pairs", 60.0)])
def test_search_finds_the_mean(decoder, kappa, epsilon, reach):
    """25 means. The fit refines the result of the search to a fraction of sigma.

    At kappa 8 one search in a thousand fails. Near the mean zero it is one in 400, because zero can be confused with
    the end of the range. None of these may fail.
    """
    sigma, rng = 1.0, np.random.default_rng(SEED)
    levels = gaussian_levels.Levels(epsilon, sigma, reach)
    people = math.ceil(kappa / levels.gain**2)
    for mu in difficult_means(levels, rng, sigma):
        found, scale = getattr(levels, decoder)(level_counts(levels, people, mu, sigma, rng), np.array([sigma]))
        assert abs(found - mu) < 2 * sigma
        assert scale == sigma


@each("decoder, kappa", [("by_likelihood", 12.0), ("by_pairs", 60.0)])
@each("sigma", [0.5, 3.0, 16.0])
def test_search_finds_mean_and_scale(decoder, kappa, sigma):
    """Within a factor of four, where the fit starts."""
    rng, scales = np.random.default_rng(SEED), 0.5 * 2.0 ** np.arange(6)
    levels = gaussian_levels.Levels(1.0, 0.5, 4096.0)
    people = math.ceil(kappa / levels.gain**2)
    for mu in difficult_means(levels, rng, sigma):
        found, scale = getattr(levels, decoder)(level_counts(levels, people, mu, sigma, rng), scales)
        assert abs(found - mu) < 2 * sigma
        assert sigma / 4 <= scale <= 4 * sigma


def test_decoders_find_the_mean_of_exact_counts():
    levels = gaussian_levels.Levels(1.0, 1.0, 300.0)
    for mu in np.linspace(-300, 300, 61):
        for decoder in (levels.by_likelihood, levels.by_pairs):
            assert abs(decoder(level_counts(levels, 10**9, mu, 1.0), np.array([1.0]))[0] - mu) <= 0.26
