"""Discrete Gaussian noise, against the reference and the exact distribution."""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext

import numpy as np
import pytest
from scipy import special, stats

from ..support import reference
from ..support.cases import each
from ..support.internals.kernels import StreamId, noise, stream
from ..support.keys import FIXED_KEY
from ..support.statistics import ALPHA, hoeffding_radius


def gaussian(variance, n, block=0, margin=noise.MARGIN):
    out = np.empty(n, np.int64)
    noise.gaussian(stream.Stream(FIXED_KEY), block, variance, out, margin)
    return out


VARIANCES = [1, 2, 3, 4, 100, 1025**2, 10**9 + 7, 1 << 40, (1 << 48) - 1, 1 << 48]


@each("variance", VARIANCES)
def test_gaussian_noise_equals_the_reference(isa, variance):
    """The reference compares the same words with probabilities of 60 digits."""
    for block in (0, 5):
        words = reference.Words(FIXED_KEY, "DISCRETE_GAUSSIAN", block)
        assert gaussian(variance, 600, block).tolist() == reference.discrete_gaussian(words, variance, 600)


@each("margin", [2.0**-20, 0.01, 0.5, 1.0])
@each("variance", [1, 100, 1 << 48])
def test_the_result_does_not_depend_on_how_many_proposals_are_compared_with_more_digits(isa, variance, margin):
    """So proposals that doubles decide and those that decimals decide have the same probabilities."""
    assert gaussian(variance, 2000, margin=margin).tolist() == gaussian(variance, 2000).tolist()


def wrong_decisions(variance: int, margin: float) -> int:
    """How many of 3,840 proposals that are within 3 * 2^-52 of their probability are decided wrongly."""
    rng, wrong = np.random.default_rng(8), 0
    words = rng.integers(0, 1 << 64, (60, 128), np.uint64)
    with localcontext(Context(prec=60)):
        for row in words:
            row[:64] = row[:64] & np.uint64(0x80000000FFFFFFFF) | np.uint64(1) << rng.integers(58, 63, 64, np.uint64)
            row[64:] = 0  # accepted, unless the proposal is redrawn
            edges = {
                i: 2**52 * 2**step * (-(Decimal(value) ** 2) / (2 * variance)).exp()
                for i, (value, step, _, decision) in enumerate(noise.decisions(row, variance, margin))
                if decision == 1
            }
            for i, edge in edges.items():
                row[64 + i] = max(0, min(int(edge) + int(rng.integers(-3, 4)), 2**52 - 1)) << 12
            found = noise.decisions(row, variance, margin)
            for i, edge in edges.items():
                _, _, digits, decision = found[i]
                wrong += (decision == 1 and digits + 1 > edge) or (decision == 0 and digits < edge)
    return wrong


def test_more_digits_are_those_of_the_stream():
    """Few first digits, so that a probability lies within them: three words are needed for the decision."""
    words = np.zeros(4, np.uint64)
    for block in range(40):
        stream.raw(FIXED_KEY, StreamId.GAUSSIAN_DIGITS, block, words)
        digits, count, square, twice = 0, 0, 1 + block, 64
        number = sum(int(word) << 64 * (3 - i) for i, word in enumerate(words))
        with localcontext(Context(prec=250)):
            probability = int((-Decimal(square) / Decimal(twice)).exp() * 2**256)
        assert noise.below(FIXED_KEY, block, digits, count, 0, square, twice) == (number < probability)
        # Digits that are equal to those of the probability are decided by the words after them.
        first, second = divmod(probability, 1 << 128)
        expected = (int(words[0]) << 64 | int(words[1])) < second
        assert noise.below(FIXED_KEY, block, first, 128, 0, square, twice) == expected


@pytest.mark.parametrize("variance", [2, 100, 10**9 + 7, 1 << 48])
def test_doubles_decide_only_what_is_certain(isa, variance):
    """The relative error of a probability is below 2^-45, and the margin is 32 times as large."""
    assert noise.MARGIN == 32 * 2.0**-45
    assert wrong_decisions(variance, 2.0**-45) == 0
    assert wrong_decisions(variance, 2.0**-70) > 0, "otherwise this test could not fail"


@pytest.mark.parametrize(
    "step, square, twice_variance", [(0, 1, 2), (1, 50, 7), (3, 2001, 200), (0, 10**12, 10**12 + 1)]
)
def test_more_digits_decide_where_the_first_are_equal(step, square, twice_variance):
    """Just below and just above a probability, to 52 + 64 binary digits; the next word of the stream decides between."""
    with localcontext(Context(prec=80)):
        edge = 2**step * (-Decimal(square) / twice_variance).exp()
        digits = int(edge * 2**52)
        rest = int((edge * 2**52 - digits) * 2**64)

    class Chosen(noise.Digits):
        def next(self):
            return self.words.pop(0)

    for words, below in (([rest - 1], True), ([rest + 1], False), ([rest, 0], True), ([rest, 2**64 - 1], False)):
        more = Chosen()
        more.words = [*words]
        assert noise.is_below(digits, 52, step, square, twice_variance, more) is below
        assert not more.words
    assert noise.is_below(digits - 1, 52, step, square, twice_variance, noise.Digits())
    assert not noise.is_below(digits + 1, 52, step, square, twice_variance, noise.Digits())


@each("variance", [*VARIANCES, 5, 6, 7, 10, 1000])
def test_steps_cover_the_distribution(variance):
    """No probability is above 1: width^2 >= 2 log(2) variance, exactly, and the width is the least or one more."""
    with localcontext(Context(prec=60)):
        least = 2 * Decimal(2).ln() * variance
        width = math.isqrt(math.floor(least)) + 1
        assert width**2 >= least > (width - 1) ** 2
    values = np.abs(gaussian(variance, 3000))
    assert (values < 31 * width).all()


@pytest.mark.parametrize("variance", [3, 1025**2, 10**9 + 7, 1 << 48])
def test_positions_in_a_step_are_exactly_uniform(isa, variance):
    """Half words u are redrawn if u width mod 2^32 < 2^32 mod width, so that each position has as many of the others.

    The widths are odd, so there is one u for each remainder.
    """
    width = math.isqrt(math.floor(2 * Decimal(2).ln() * variance)) + 1
    limit, inverse = 2**32 % width, pow(width, -1, 2**32)
    remainders = [0, limit - 1, limit, limit + 1, 2 * limit, 2**33 % width, 2**31, 2**32 - 1] * 8
    halves = [remainder * inverse % 2**32 for remainder in remainders]
    first_step, accepted = 1 << 62, 0
    words = np.array([first_step | half for half in halves] + [accepted] * 64, np.uint64)
    found = noise.decisions(words, variance, noise.MARGIN)
    assert [value for value, _, _, _ in found] == [half * width >> 32 for half in halves]
    assert [decision for _, _, _, decision in found] == [int(remainder >= limit) for remainder in remainders]


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


@pytest.mark.parametrize("margin", [0.0, 2.0**-41, 1.5, math.nan])
def test_margin_out_of_range_is_rejected(margin):
    with pytest.raises(ValueError, match=r"margin must be in \[2\^-40, 1\]"):
        gaussian(1, 1, margin=margin)
