"""Discrete Gaussian noise, against the reference and the exact distribution."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special, stats

from ldpfast._core import noise
from ldpfast._core.stream import Stream

from ..support import reference
from ..support.keys import FIXED_KEY
from ..support.statistics import ALPHA, hoeffding_radius


def gaussian(variance, n, block=0, key=FIXED_KEY):
    out = np.empty(n, np.int64)
    noise.gaussian(Stream(key), block, variance, out)
    return out


@pytest.mark.parametrize("variance", [1, 2, 4, 100, 1025**2, 10**9 + 7, 1 << 40, (1 << 48) - 1, 1 << 48])
def test_gaussian_noise_equals_the_reference(isa, variance):
    """The reference draws every coin from the same words with exact fractions.

    Digits beyond the first word, which a coin needs with probability 2^-43, are not tested.
    """
    for block in (0, 5):
        words = reference.Words(FIXED_KEY, "discrete Gaussian", block)
        assert gaussian(variance, 60, block).tolist() == reference.discrete_gaussian(words, variance, 60)


def test_gaussian_noise_of_fewer_numbers_is_a_prefix(isa):
    whole = gaussian(9, 500)
    for n in (0, 1, 2, 63, 64, 65, 499):
        assert gaussian(9, n).tolist() == whole[:n].tolist()


@pytest.mark.parametrize("variance", [1, 4, 100])
def test_gaussian_noise_follows_the_distribution_by_value(variance):
    """Chi-square over all values with expectation at least 25. Detects a relative error of 2 % in a central probability."""
    n, reach = 400_000, 20 * math.isqrt(variance)
    x = gaussian(variance, n)
    values = np.arange(-reach, reach + 1)
    probabilities = np.exp(-(values**2) / (2 * variance))
    expected = n * probabilities / probabilities.sum()
    seen = np.bincount(x + reach, minlength=len(values))
    common = expected >= 25
    statistic = np.sum((seen - expected)[common] ** 2 / expected[common])
    rest, room = seen[~common].sum(), expected[~common].sum()
    statistic += (rest - room) ** 2 / room if room > 5 else 0.0
    assert stats.chi2.sf(statistic, common.sum()) > ALPHA


@pytest.mark.parametrize("variance", [1025**2, 1 << 40, 1 << 48])
def test_gaussian_noise_follows_the_distribution_function(variance):
    """The empirical distribution function (Dvoretzky, Kiefer, Wolfowitz, Massart), and the last six bits.

    Detects a deviation of 0.7 percentage points. The exact function is that of the normal distribution at half integers
    within 1e-7.
    """
    n = 250_000
    x = np.sort(gaussian(variance, n))
    exact = special.ndtr((x + 0.5) / math.sqrt(variance))
    up_to = np.searchsorted(x, x, side="right") / n
    assert np.abs(up_to - exact).max() <= hoeffding_radius(n, ALPHA) + 1e-6
    low = np.bincount(x & 63, minlength=64)
    assert stats.chi2.sf(np.sum((low - n / 64) ** 2) / (n / 64), 63) > ALPHA
    assert np.var(x) == pytest.approx(variance, rel=8 * math.sqrt(2 / n))


@pytest.mark.parametrize("variance", [0, (1 << 48) + 1, (1 << 64) - 1])
def test_variance_out_of_range_is_rejected(variance):
    with pytest.raises(ValueError, match=r"variance must be in \[1, 2\^48\]"):
        gaussian(variance, 1)
