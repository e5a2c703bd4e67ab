"""Randomized response to the bin of a number with an offset."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import ldpfast as ldp

from ..support.internals.kernels import StreamId, stream
from ..support.internals.mechanisms import smoothed_bins

KEY = 5


def test_the_channel_is_that_of_bins_exactly():
    smooth, plain = smoothed_bins.SmoothedBins([0.0, 2.0], 1.3, spacing=0.5), ldp.Bins([0.0, 2.0], 1.3)
    assert smooth._recipe.law.rows() == plain._recipe.law.rows()
    assert smooth.epsilon_realized == plain.epsilon_realized
    keep, other = (Fraction(x) for x in sorted(set(smooth._recipe.law.rows()[0]), reverse=True))
    coin = smooth._coin
    assert keep / other == Fraction(
        coin.keep, coin.words_per_symbol
    )  # a coin that is off by one unit has another ratio


def test_reports_follow_from_the_words():
    mechanism, n = smoothed_bins.SmoothedBins([0.0, 2.0], 1.0, spacing=1.0), 300
    x = np.random.default_rng(1).integers(-3, 5, n).astype(float)
    key = np.random.SeedSequence(KEY).generate_state(8, np.uint32).astype("<u4").tobytes()
    words = np.zeros(4 * n, np.uint64)
    stream.raw(key, StreamId.PYTHON, 0, words)
    expected, used = [], n
    total = sum(mechanism._recipe.law.rows()[0])
    for i in range(n):
        smoothed = x[i] + ((int(words[i]) >> 11) * 2.0**-53 - 0.5)
        symbol = int(smoothed >= 0) + int(smoothed >= 2)
        row = mechanism._recipe.law.rows()[symbol]
        drawn = int(words[used + i]) % total if total < 1 << 64 else int(words[used + i])
        expected.append(sum(drawn >= sum(row[: j + 1]) for j in range(2)))
    assert mechanism.privatize(x, rng=KEY).tolist() == expected


def test_shares_are_those_of_the_smoothed_distribution():
    mechanism, n = smoothed_bins.SmoothedBins([3.0], 2.0, spacing=2.0), 60_000
    estimate = mechanism.run(np.full(n, 2.5), rng=1)  # the offset is between -1 and 1
    assert abs(estimate.value[0] - 0.75) < 5 * estimate.stderr[0]
    x = np.array([0.0, 2.5, 9.0])
    variance = mechanism.variance(x)
    many = mechanism.decode(mechanism.privatize(np.repeat(x, n), rng=2)).reshape(3, n, 2)
    np.testing.assert_allclose(many.var(axis=1), variance, rtol=0.05)


def test_a_saved_mechanism_is_equal():
    mechanism = smoothed_bins.SmoothedBins([3.0], 2.0, spacing=2.0)
    assert ldp.Mechanism.from_dict(mechanism.to_dict()) == mechanism
    for spacing in (0, -1, float("nan")):
        with pytest.raises(ValueError, match="spacing must be"):
            smoothed_bins.SmoothedBins([3.0], 2.0, spacing=spacing)
