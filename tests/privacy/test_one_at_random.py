"""Release of one record at random."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from ldpfast.privacy import release_one_at_random

from ..support.exact import least_double_not_below


@pytest.mark.claim(
    "Publishing one record at random has a small total variation and an infinite epsilon.", "Composition and audits"
)
@pytest.mark.parametrize("n, k", [(2, 3), (5, 2), (7, 3), (200, 2)])
def test_one_record_at_random_has_small_tv_and_infinite_epsilon(n, k):
    channel = release_one_at_random(n, k)
    assert channel.matrix.shape == (math.comb(n + k - 1, k - 1), k)
    assert channel.tv() == least_double_not_below(Fraction(1, n))
    assert set(channel.delta([0.0, 1.0, 100.0])) == {channel.tv()}
    assert channel.epsilon(channel.tv()) == 0
    assert channel.epsilon(0.5 / n) == channel.epsilon() == channel.kl() == math.inf
    assert channel.conditional_testing() == 1
    assert channel.conditional_testing(1.01 / n) < 1
    assert channel.neighbors is not None
    for i, j in channel.neighbors:
        assert np.abs(channel.matrix[i] - channel.matrix[j]).sum() * n == pytest.approx(2)


def test_neighbors_of_histograms_are_all_moves_of_one_record():
    channel = release_one_at_random(3, 3)
    counts = np.rint(3 * channel.matrix)
    expected = {
        frozenset((i, j))
        for i, j in itertools.combinations(range(len(counts)), 2)
        if np.abs(counts[i] - counts[j]).sum() == 2
    }
    assert {frozenset(pair) for pair in channel.neighbors} == expected


@pytest.mark.parametrize("n", [1, 2, 4])
def test_total_variation_of_marginals_has_no_factor_two(n):
    """The total variation of released marginals is at most n t times that of the records' distributions.

    For a t-private release of n independent records. One record at random attains it. The published bound is twice as large.
    """
    p, q = np.array([0.9, 0.1]), np.array([0.4, 0.6])
    channel = release_one_at_random(n)
    heads = np.rint(n * channel.matrix[:, 0]).astype(int)
    probabilities = [[math.comb(n, h) * d[0] ** h * d[1] ** (n - h) for h in heads] for d in (p, q)]
    marginals = np.array(probabilities) @ channel.matrix
    marginal, records = 0.5 * np.abs(marginals[0] - marginals[1]).sum(), 0.5 * np.abs(p - q).sum()
    assert marginal == pytest.approx(n * channel.tv() * records, rel=1e-12)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: release_one_at_random(0), r"^n must be an integer >= 1, got 0$"),
        (lambda: release_one_at_random(2, 1), r"^k must be an integer >= 2, got 1$"),
        (lambda: release_one_at_random(1000, 4), r"^n and k must give at most 100,000 entries, got n=1000 and k=4$"),
    ],
)
def test_bad_values(call, message):
    with pytest.raises(ValueError, match=message):
        call()
