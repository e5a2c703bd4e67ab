"""Real noise rounded down: the integers are those of the real numbers, whatever number of bits decides them."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy import stats

from ldpfast.central import _rounded_noise as rounded
from ldpfast.privacy import Guarantee

from ..support.internals.central import BallNoise
from ..support.internals.kernels import StreamId
from ..support.internals.shared import open_stream
from ..support.statistics import ALPHA, assert_counts, bernstein_radius, hoeffding_radius, normal_margin

USE = StreamId.SMOOTH_SENSITIVITY


@pytest.fixture
def given(monkeypatch):
    """Return a function that replaces the random words by given uniform numbers, with zeros or ones as further bits."""

    def replace(numerators, more=0):
        left = list(numerators)

        def words(stream, use, n):
            found = left.pop(0) if left else more * ((1 << 64 * n) - 1)
            return np.array([found >> 64 * i & ((1 << 64) - 1) for i in range(n)], np.uint64)

        monkeypatch.setattr(rounded, "words", words)

    return replace


@pytest.mark.parametrize("scale", ["0.3", "1", "1000.5", "123456789012345678"])
def test_a_change_of_the_last_bits_of_the_words_moves_the_integer(given, scale):
    """U below exp(-k / scale) gives at least k, and U above it less: the thresholds are exact up to 2 of 2^192 units."""
    unit = 1 << rounded.BITS
    for k in (1, 2, 7, 1000):
        with localcontext() as context:
            context.prec = 200
            threshold = math.floor((-Decimal(k) / Decimal(scale)).exp() * unit)
        if threshold < 1 << rounded.BITS // 2:
            continue
        for numerator, expected in ((threshold - 2, k), (threshold + 2, k - 1)):
            for sign, result in ((1, expected), (0, -1 - expected)):
                given([numerator, sign])
                assert rounded.laplace(Decimal(scale), None, USE) == result
        # The interval of this number contains the threshold, so further bits decide: zeros or ones.
        for more, expected in ((0, -1 - k), (1, k - 1)):
            given([threshold], more)
            assert rounded.laplace(Decimal(scale), None, USE) == expected


def test_numbers_near_zero_are_extended(given):
    """A first word of zeros leaves no bound on the size."""
    given([0, (1 << rounded.BITS) - 1, 1, 1])
    assert rounded.laplace(Decimal(1), None, USE) == math.floor(rounded.BITS * math.log(2))


@pytest.mark.long
@pytest.mark.parametrize("scale", [0.4, 3.0])
def test_laplace_noise_has_its_distribution(scale):
    """Exact binomial limits for the frequencies of eight integers: detects an error of a probability of 0.03."""
    stream, n = open_stream(5), 20_000
    drawn = np.array([rounded.laplace(Decimal(scale), stream, USE) for _ in range(n)])
    k = np.arange(-4, 4)
    p = stats.laplace.cdf((k + 1) / scale) - stats.laplace.cdf(k / scale)
    assert_counts((drawn == k[:, np.newaxis]).sum(axis=1), n, p, detects=0.03)


@pytest.mark.parametrize("dim", [1, 2, 5])
def test_fewer_bits_give_the_same_integers_with_the_stated_error(dim, monkeypatch):
    """Numbers computed from the first 192 bits and from 576 bits of the same uniform numbers differ by less than the error."""
    seen = []
    original = rounded._rounded_down

    def compare(inputs, numbers):
        results = []
        for bits in (rounded.BITS, 3 * rounded.BITS):
            for uniform in inputs:
                uniform.extend(bits)
            known = max(uniform.bits for uniform in inputs)
            with localcontext(rounded._precision(known)):
                results.append(numbers(known))
        (few, error), (many, smaller) = results
        with localcontext(rounded._precision(3 * rounded.BITS)):
            assert smaller < error
            assert all(abs(a - b) <= error for a, b in zip(few, many, strict=True))
            seen.append(max(abs(a - b) / error for a, b in zip(few, many, strict=True)))
        return original(inputs, numbers)

    monkeypatch.setattr(rounded, "_rounded_down", compare)
    stream = open_stream(9)
    for _ in range(200):
        rounded.ball_laplace(dim, Decimal(10**12), stream, USE)
        rounded.laplace(Decimal(10**12), stream, USE)
    assert 0 < max(seen) <= 1


def test_pairs_of_normal_numbers():
    """Kolmogorov-Smirnov; points outside of the unit disk are drawn again."""
    stream, n = open_stream(3), 4000
    with localcontext(rounded._precision(rounded.BITS)):
        pairs = np.array([rounded._NormalPair(stream, USE).numbers() for _ in range(n)], float)
    for values in (pairs[:, 0], pairs[:, 1], (pairs[:, 0] + pairs[:, 1]) / math.sqrt(2)):
        z = np.sort(values)
        assert np.abs(stats.norm.cdf(z) - (np.arange(n) + 0.5) / n).max() <= hoeffding_radius(n, ALPHA) + 0.5 / n


def test_points_near_the_border_are_extended(given):
    """A point at distance 2^-190 from the unit circle, and points near an axis, are decided by further bits."""
    half, one = 1 << rounded.BITS - 1, 1 << rounded.BITS
    for first in ((one - 1, half + (half >> 1)), (half, half + 5)):
        given([*first, *[one // 3] * 6])
        pair = rounded._NormalPair(None, USE)
        assert all(uniform.bits >= rounded.BITS for uniform in pair.uniforms)
        with localcontext(rounded._precision(pair.uniforms[0].bits)):
            point, length, margin = pair._square()
            assert length < 1 - margin
            assert min(map(abs, point)) > margin


@pytest.mark.long
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_the_loss_of_ball_noise_is_at_most_the_distance(dim):
    """Frequencies of the cells around 0 for two totals at distance 1: their ratio is at most exp(1 / scale), in expectation.

    The radius of Bernstein's inequality is about 0.01. Detects noise of half the scale, where the ratio exceeds the limit.
    """
    n, scale, stream = 12_000, Decimal("1.5"), open_stream(2)
    drawn = np.array([rounded.ball_laplace(dim, scale, stream, USE) for _ in range(n)])
    limit = math.exp(1 / 1.5)
    for cell in itertools.product((-1, 0), repeat=dim):
        here = (drawn == cell).all(axis=1).mean()
        moved = (drawn == np.array(cell) + np.eye(dim, dtype=int)[0]).all(axis=1).mean()
        for p, q in ((here, moved), (moved, here)):
            variance = p + limit**2 * q
            assert p - limit * q <= bernstein_radius(variance, 1 + limit, n, ALPHA)


@pytest.mark.parametrize("dim", [1, 2, 7])
def test_the_variance_of_ball_noise_is_that_of_a_gamma_length(dim):
    """The mean square of the length, over the coordinates."""
    noise = BallNoise.of(dim, Guarantee("pure", 0.5))
    assert noise.variance == pytest.approx(stats.gamma(dim).moment(2) / dim * float(noise.scale) ** 2, rel=1e-12)


def test_thousand_coordinates():
    """The length has the gamma distribution with shape 1000: 1000 +- 32. Detects an error of 22 %."""
    length = np.linalg.norm(np.array(rounded.ball_laplace(1000, Decimal(2**41), open_stream(1), USE), float)) / 2**41
    assert abs(length - 1000) < normal_margin() * math.sqrt(1000)
