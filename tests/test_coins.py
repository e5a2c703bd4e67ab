"""The integers of the coins are the largest that epsilon allows."""

from __future__ import annotations

import math
import sys
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldpfast._coins import _rounding

from .support.cases import each
from .support.exact import exact_log, least_double_not_below
from .support.geometric import rate_and_error
from .support.internals.shared import coin_integers
from .support.reference import geometric_distribution

EPSILONS = [1e-6, 1e-3, 0.1, 0.5, 1.0, math.log(3), 2.0, 5.0, 10.0, 20.0, 40.0]
PRECISE = Context(prec=150)


def at_most(ratio: Fraction, epsilon: float) -> bool:
    """Return whether ratio <= e^epsilon, for the exact value of the double."""
    with localcontext(PRECISE):
        return Decimal(ratio.numerator) <= Decimal(ratio.denominator) * Decimal(epsilon).exp()


@pytest.mark.claim("Probabilities are integers over a power of two, rounded toward more privacy.", "Privacy of reports")
@each("epsilon", EPSILONS)
def test_binary_coin_is_the_largest_allowed(epsilon):
    coin = coin_integers.binary(epsilon)
    m, whole = coin.heads, 1 << 64
    assert at_most(Fraction(m, whole - m), epsilon)
    assert not at_most(Fraction(m + 1, whole - m - 1), epsilon)
    assert coin.epsilon_realized == least_double_not_below(exact_log(Fraction(m, whole - m)))
    assert coin.epsilon_realized <= epsilon


@each("k", [2, 3, 5, 128, 256, 257, 70_000])
@each("epsilon", EPSILONS)
def test_response_coin_is_the_largest_allowed(k, epsilon):
    coin = coin_integers.response(k, epsilon)
    assert coin.keep + (k - 1) * coin.words_per_symbol == 1 << coin.bits
    assert at_most(Fraction(coin.keep, coin.words_per_symbol), epsilon)
    # The next smaller number of words for every other symbol, with the rest for the true one, would exceed epsilon.
    step = 2 if coin.bits == 32 else 1  # even with 32 bits
    fewer = Fraction(coin.keep + step * (k - 1), coin.words_per_symbol - step) if coin.words_per_symbol > step else None
    assert fewer is None or not at_most(fewer, epsilon)
    assert coin.epsilon_realized == least_double_not_below(exact_log(Fraction(coin.keep, coin.words_per_symbol)))
    assert coin.epsilon_realized <= epsilon
    if coin.bits == 32:
        assert k <= 256
        assert epsilon - coin.epsilon_realized <= 1e-5 * epsilon
        assert coin.words_per_symbol % 2 == 0
    else:
        assert coin.reciprocal == min((1 << 64) // coin.words_per_symbol, (1 << 64) - 1)


@each("epsilon", EPSILONS)
def test_symmetric_unary_coin_is_the_largest_allowed(epsilon):
    coin = coin_integers.unary(epsilon, optimized=False)
    assert coin.own + coin.other == 1 << 64
    assert at_most(Fraction(coin.own, coin.other) ** 2, epsilon)
    assert not at_most(Fraction(coin.own + 1, coin.other - 1) ** 2, epsilon)
    assert coin.epsilon_realized == least_double_not_below(exact_log(Fraction(coin.own, coin.other) ** 2))


@each("epsilon", EPSILONS)
def test_optimized_unary_coin_is_the_smallest_allowed(epsilon):
    coin = coin_integers.unary(epsilon, optimized=True)
    whole = 1 << 64
    assert coin.own == whole // 2
    assert at_most(Fraction(whole - coin.other, coin.other), epsilon)
    assert not at_most(Fraction(whole - coin.other + 1, coin.other - 1), epsilon)
    assert coin.epsilon_realized == least_double_not_below(exact_log(Fraction(whole - coin.other, coin.other)))


SETS = [(1, 2), (2, 4), (1, 5), (4, 5), (17, 64), (512, 1024), (341, 1365), (1, 10**6), (999_999, 10**6)]


@each("short", [False, True])
@each("size, outputs", SETS)
@each("epsilon", EPSILONS)
def test_set_coin_is_the_largest_allowed(size, outputs, epsilon, short):
    if at_most(Fraction(((1 << 64) - 1) * (outputs - size), size), epsilon):
        with pytest.raises(ValueError, match="too large"):  # one word for the other codes is too much
            coin_integers.of_set(epsilon, size, outputs, shorter=(32,) if short else ())
        return
    coin = coin_integers.of_set(epsilon, size, outputs, shorter=(32,) if short else ())
    m, whole = coin.heads, 1 << coin.bits

    def ratio(heads):
        return Fraction(heads * (outputs - size), (whole - heads) * size)

    assert (coin.inside / coin.outside, coin.inside * size + coin.outside * (outputs - size)) == (ratio(m), 1)
    assert at_most(ratio(m), epsilon)
    assert m == whole - 1 or not at_most(ratio(m + 1), epsilon)
    assert coin.epsilon_realized == least_double_not_below(exact_log(ratio(m)))
    assert coin.epsilon_realized <= epsilon
    assert coin.bits == 64 or (short and epsilon - coin.epsilon_realized <= 1e-5 * epsilon)


@each("short", [False, True])
@each("size, outputs", SETS)
def test_the_largest_epsilon_of_a_set_is_that_of_one_word_for_the_other_codes(size, outputs, short):
    """A larger epsilon is refused, not reduced."""
    most = math.log(((1 << 64) - 1) * (outputs - size) / size)
    coin = coin_integers.of_set(most * (1 - 1e-12), size, outputs, shorter=(32,) if short else ())
    assert coin.epsilon_realized <= most * (1 - 1e-12)
    assert (1 << 64) - coin.heads <= 2
    for epsilon in (most * (1 + 1e-12), most + 1, 99.0, 100.0, 1e300):
        with pytest.raises(ValueError, match=r"epsilon must be within what exact coins can certify.*too large"):
            coin_integers.of_set(epsilon, size, outputs, shorter=(32,) if short else ())


@each("size, outputs", SETS)
def test_a_set_coin_without_a_signal_is_refused(size, outputs):
    for epsilon in (5e-324, 1e-30):
        with pytest.raises(ValueError, match=r"epsilon must be within what exact coins can certify.*too small"):
            coin_integers.of_set(epsilon, size, outputs)


@settings(max_examples=200, deadline=None)
@given(st.floats(1e-12, 44.0), st.integers(2, 10**6))
def test_epsilon_realized_never_exceeds_epsilon(epsilon, k):
    for make in (
        lambda: coin_integers.binary(epsilon),
        lambda: coin_integers.response(k, epsilon),
        lambda: coin_integers.unary(epsilon, True),
        lambda: coin_integers.unary(epsilon, False),
    ):
        try:
            coin = make()
        except ValueError:  # the coin cannot certify this epsilon
            continue
        assert 0 < coin.epsilon_realized <= epsilon


@pytest.mark.claim("An epsilon that no integer certifies is refused.", "Privacy of reports")
@pytest.mark.parametrize("epsilon", [1e-20, 44.37, 50.0, 800.0])
def test_an_epsilon_that_no_coin_can_certify_is_refused(epsilon):
    for make in (coin_integers.binary, lambda e: coin_integers.response(3, e), lambda e: coin_integers.unary(e, True)):
        with pytest.raises(ValueError, match="epsilon must be within what exact coins can certify"):
            make(epsilon)


def test_geometric_coins_are_refused_where_the_carry_is_rounded_to_zero():
    """With a span of 1 there is one digit. The carry 2^128 e^(-2 a) is rounded to 1 at the rate a = 44.3, to 0 at 44.8."""
    for epsilon in (44.1, 44.3, 44.6):
        coins = coin_integers.geometric(epsilon, 1, 1, 1)
        assert coins.digits == 1
        assert coins.carry >= 1
        assert 0.97 * epsilon < coins.epsilon_realized <= epsilon
    for epsilon in (44.8, 50.0, 80.0, 81.0, 1e300):
        with pytest.raises(ValueError, match=r"epsilon must be within what exact coins can certify.*too large"):
            coin_integers.geometric(epsilon, 1, 1, 1)


def test_geometric_coins_need_a_span_below_2_to_31():
    largest = (1 << 31) - 1
    coins = coin_integers.geometric(1.0, largest, largest, 1)
    assert coins.epsilon_realized <= 1.0
    assert (1 << coins.digits) >= largest
    for span in (1 << 31, 1 << 32):
        with pytest.raises(ValueError, match="too large for coins of 128 bits and the grid"):
            coin_integers.geometric(1.0, span, span, 1)


def test_mean_and_variance_of_geometric_coins_are_those_of_their_distribution():
    """With carries that are frequent, as no coin in use has them: a sum over 200 periods."""
    found = coin_integers.geometric(2.0, 3, 3, 1)
    coins = coin_integers.GeometricCoins(found.digits, found.groups, coin_integers.WIDE * 2 // 5, 2.0)
    digits = [float(p) for p in geometric_distribution(coins.groups, 0, 128, 1)]
    pmf = [p * 0.6 * 0.4**times for times in range(200) for p in digits]
    mean = math.fsum(g * p for g, p in enumerate(pmf))
    variance = math.fsum((g - mean) ** 2 * p for g, p in enumerate(pmf))
    assert coins.mean_and_variance == pytest.approx((mean, variance), rel=1e-12)


@pytest.mark.parametrize("epsilon, span", [(1.0, 1), (0.01, 300), (6.0, 5000)])
def test_the_rate_of_geometric_coins_is_that_of_their_integers(epsilon, span):
    coins = coin_integers.geometric(epsilon, span, span, 1)
    with localcontext(prec=60):
        for found, expected in zip(coins.rate_and_error, rate_and_error(coins), strict=True):
            assert abs(found - expected) <= expected * Decimal("1e-9")
        assert abs(coins.rate_and_error[0] * span / Decimal(epsilon) - 1) < Decimal("1e-6")


@each("x", [Fraction(0), Fraction(1, 10**30), Fraction(1, 10), Fraction(1, 2), Fraction(1)])
def test_a_bound_of_an_exponential_is_not_below_it(x):
    with localcontext(prec=90):
        exact = (Decimal(x.numerator) / x.denominator).exp()
        found = _rounding.exp_up(x)
        assert exact <= Decimal(found.numerator) / found.denominator <= exact + Decimal(float(x)) ** 2


LARGEST = sys.float_info.max


@each(
    "values, expected",
    [
        ([], 0.0),
        ([0.1] * 3, 0.30000000000000004),  # the exact sum is below this double and above the one before it
        ([1.0, 2.0**-53], 1 + 2.0**-52),
        ([1.0, 2.0**-53, -(2.0**-53)], 1.0),
        ([1.0, Fraction(1, 3)], math.nextafter(4 / 3, 2)),
        ([LARGEST], LARGEST),
        ([LARGEST / 2, LARGEST / 2], LARGEST),
        ([LARGEST, 5e-324], math.inf),
        ([LARGEST, LARGEST], math.inf),
    ],
)
def test_a_sum_is_rounded_up(values, expected):
    assert coin_integers.sum_up(values) == expected
