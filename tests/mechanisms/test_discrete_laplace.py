"""Integer noise of the discrete Laplace mechanisms: small instances in exact fractions, and the integers in use."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import _coins
from ldpfast._core import privatize, stream
from ldpfast.mechanisms import LaplaceOneHot

from ..support import reference
from ..support.exact import exact_log
from ..support.geometric import rate_and_error
from ..support.keys import FIXED_KEY

SPAN = 8

# Small instances ------------------------------------------------------------------------------------------------------


def worst_ratio(distribution, span):
    """Return the largest P(y | i) / P(y | i') over all reports y within the table and all inputs 0 <= i, i' <= span."""

    def probability(n):  # P(N = n), N = G or -1 - G with a fair sign
        return distribution[n if n >= 0 else -1 - n] / 2

    reach = len(distribution) - span - 1
    worst = Fraction(1)
    for y in range(-reach + span, reach):
        column = [probability(y - i) for i in range(span + 1)]
        worst = max(worst, max(column) / min(column))
    return worst


def small_instance(width, epsilon):
    """Return the rate and coins of a small width for 8 steps. The digits are few, so the carry is not rounded to zero."""
    rate = Decimal(epsilon) / SPAN
    count = 3
    assert 1 << count >= SPAN
    return rate, *_coins.geometric_integers(rate, count, width)


@pytest.mark.parametrize("width", range(8, 17))
@pytest.mark.parametrize("epsilon", [0.25, 1.0, 2.0])
def test_the_budget_bounds_the_exact_loss(width, epsilon):
    """The exact loss is between a s - eta and a s + eta, with eta from the rounded integers."""
    with localcontext(_coins.CONTEXT):
        rate, digits, carry = small_instance(width, epsilon)
        eta = _coins.geometric_error(digits, carry, width, rate)
        loss = exact_log(worst_ratio(reference.geometric_distribution(digits, carry, width, 4), SPAN))
        assert loss <= rate * SPAN + eta + Decimal("1e-60")
        assert loss >= rate * SPAN - eta


@pytest.mark.parametrize("width", [8, 10, 12, 16])
@pytest.mark.parametrize("which, sign", [(0, -1), (0, 1), (1, -1), (1, 1), (2, -1), (2, 1), ("carry", -1)])
def test_a_wrong_coin_exceeds_the_budget_of_the_right_one(width, which, sign):
    """With a coin that is wrong by a few units, the loss exceeds the budget of the right integers, not of those in use.

    So the certificate depends on the integers in use. (A carry that is too probable only flattens the distribution.)
    """
    with localcontext(_coins.CONTEXT):
        rate, digits, carry = small_instance(width, 1.0)
        eta = _coins.geometric_error(digits, carry, width, rate)
        step = sign * max(3, (1 << width) // 20)
        wrong, wrong_carry = list(digits), carry
        if which == "carry":
            wrong_carry += step
        else:
            wrong[which] += step
        loss = exact_log(worst_ratio(reference.geometric_distribution(wrong, wrong_carry, width, 4), SPAN))
        wrong_eta = _coins.geometric_error(tuple(wrong), wrong_carry, width, rate)
        assert wrong_eta > eta
        assert loss <= rate * SPAN + wrong_eta + Decimal("1e-60")
        assert loss > rate * SPAN + eta


def test_the_budget_is_attained():
    """If digit 0 is too improbable and the others are exact within 2^-100, the loss of one step is a + |d_0|."""
    with localcontext(_coins.CONTEXT):
        rate = Decimal(1) / SPAN
        digits, carry = _coins.geometric_integers(rate, 3, 110)
        wrong = (digits[0] * 9 // 10, *digits[1:])
        eta = _coins.geometric_error(wrong, carry, 110, rate)
        distribution = reference.geometric_distribution(wrong, carry, 110)
        assert abs(exact_log(distribution[0] / distribution[1]) - rate - eta) < Decimal("1e-25")


def test_a_random_sign_times_a_geometric_variable_costs_log_2_more():
    """The simpler variant reaches zero with both signs and exceeds the budget. The kernel must not be simplified to it."""
    with localcontext(_coins.CONTEXT):
        rate, digits, carry = small_instance(16, 1.0)
        distribution = reference.geometric_distribution(digits, carry, 16)
        zero, one = distribution[0], distribution[1] / 2  # P(0) = P(G = 0), P(1) = P(G = 1) / 2
        assert exact_log(zero / one) > rate + Decimal("0.69")


# The integers in use --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.1, 0.5, 1.0, 2.0, 8.0, 30.0])
@pytest.mark.parametrize("dim", [0, 1, 10, 1000])
def test_the_integers_in_use_keep_the_budget(epsilon, dim):
    """The sum of errors as in the small instances, from the integers, with 120 digits. dim = 0 means a single number."""
    if dim == 0:
        span = diameter = max(1, math.ceil(1024 * epsilon))
    else:
        span = max(1, math.ceil(1024 * epsilon / dim))
        diameter = dim * span
    coins = _coins.geometric(epsilon, diameter, span, max(dim, 1))
    with localcontext(prec=120):
        rate, eta = rate_and_error(coins.digits, coins.carry)
        loss = rate * diameter + min(max(dim, 1), diameter) * eta
        # The rate of the carry coin differs from the rate in use by the error of that coin.
        assert abs(loss - Decimal(coins.epsilon_realized)) <= Decimal("1e-15") * Decimal(epsilon)
        assert eta <= Decimal("1e-20")
    assert coins.epsilon_realized <= epsilon
    assert epsilon - coins.epsilon_realized <= 1e-12 * epsilon
    count = len(coins.digits)
    assert 2**count >= span
    assert float(rate) * 2**count >= 24 * (1 - 1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_the_noise_variance_is_that_of_the_ideal_distribution(epsilon):
    """In closed form: 2 q / (1 - q)^2 + 1/4."""
    span = math.ceil(1024 * epsilon)
    coins = _coins.geometric(epsilon, span, span, 1)
    q = math.exp(-epsilon / span)
    assert coins.noise_variance == pytest.approx(2 * q / (1 - q) ** 2 + 0.25, rel=1e-9)


def test_a_huge_epsilon_is_rejected():
    for make in (
        lambda: LaplaceOneHot(3, 1e308),
        lambda: ldp.Laplace(0, 1, 1e308),
        lambda: ldp.LaplaceVector(3, 1e308, norm="linf"),
        lambda: ldp.Laplace(0, 1, 65),
    ):
        with pytest.raises(ValueError, match="epsilon must be within what exact coins can certify"):
            make()


# Carries --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 20, 512, 600])
@pytest.mark.parametrize("carry", [1 << 126, (1 << 127) + 12345, 3 << 126])
def test_numbers_with_carries_equal_the_reference(isa, n, carry):
    """In normal use a carry has probability 4e-11. Here carries are as probable as digits."""
    digits = (1 << 127, 5 << 124, 3 << 125)
    kernel = privatize.Laplace(1, 0.0, 1.0, 1.0, 1, 0, 0.0, digits, carry, "number")
    out = np.empty(n)
    kernel.privatize(stream.Stream(FIXED_KEY), 0, np.zeros(n), out)
    words, carries = reference.Words(FIXED_KEY, 15, 0), reference.Words(FIXED_KEY, 16, 0, 1024)
    assert (out - 0.5).tolist() == reference.discrete_laplace(digits, carry, words, carries, n)
    if n > 1:
        assert np.abs(out).max() > 8  # beyond the digits


def test_the_carry_coin_changes_exactly_at_its_threshold():
    """The words of the second toss are known. A carry coin equal to them is tails; one unit above them it is heads."""
    tested = 0
    for seed in range(40):
        key = bytes([seed] * 32)
        raw = np.empty(1024, np.uint8)
        stream.raw(key, 16, 0, raw)
        first, second = int(raw[:4].view("<u4")[0]), raw[128:144].view("<u8")
        carry = int(second[0]) << 64 | int(second[1])
        if first >= carry >> 96:  # the first toss is tails, and there is no second one
            continue
        times = []
        for coin in (carry, carry + 1):
            out = np.empty(1)
            privatize.Laplace(1, 0.0, 1.0, 1.0, 1, 0, 0.0, (1, 1), coin, "number").privatize(
                stream.Stream(key), 0, np.zeros(1), out
            )
            times.append(abs(out[0]) // 4)  # the digits are zero: G = 4 times the carries
        assert times[0] == 1
        assert times[1] >= 2
        tested += 1
    assert tested >= 10
