"""The recipe of the integer noise, checked with exact fractions on small instances, and the budget of the real ones."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import _coins
from ldpfast._core import noise, stream
from ldpfast.mechanisms import LaplaceOneHot

from .support import reference

SPAN = 8


def law(digits, carry, width, periods=4):
    """P(G = g) for g < periods * 2^J, from the coins alone."""
    whole, count = 1 << width, len(digits)
    below = [Fraction(1)]
    for m in digits:  # digit j doubles the table: first those without, then those with it
        heads = Fraction(m, whole)
        below = [p * (1 - heads) for p in below] + [p * heads for p in below]
    assert len(below) == 1 << count
    q = Fraction(carry, whole)
    return [p * q**times * (1 - q) for times in range(periods) for p in below]


def worst_ratio(pmf, span):
    """Largest P(y | i) / P(y | i') over all reports y in the table's reach and all inputs 0 <= i, i' <= span."""

    def of(n):  # P(N = n), N = G or -1 - G by a fair sign
        return pmf[n if n >= 0 else -1 - n] / 2

    reach = len(pmf) - span - 1
    worst = Fraction(1)
    for y in range(-reach + span, reach):
        column = [of(y - i) for i in range(span + 1)]
        worst = max(worst, max(column) / min(column))
    return worst


def log(ratio: Fraction) -> Decimal:
    return (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()


def small_instance(width, epsilon):
    """Digits for 8 steps; the carry must not round to zero at such widths, so the table of digits is short."""
    rate = Decimal(epsilon) / SPAN
    count = 3
    assert 1 << count >= SPAN
    return rate, *_coins.geometric_integers(rate, count, width)


@pytest.mark.parametrize("width", range(8, 17))
@pytest.mark.parametrize("epsilon", [0.25, 1.0, 2.0])
def test_the_budget_bounds_the_exact_loss(width, epsilon):
    """a s + eta, with eta from the rounded integers, is never below the exact loss; and it is not idle."""
    with localcontext(_coins.CONTEXT):
        rate, digits, carry = small_instance(width, epsilon)
        eta = _coins.geometric_error(digits, carry, width, rate)
        loss = log(worst_ratio(law(digits, carry, width), SPAN))
        assert loss <= rate * SPAN + eta + Decimal("1e-60")
        assert loss >= rate * SPAN - eta


@pytest.mark.parametrize("width", [8, 10, 12, 16])
@pytest.mark.parametrize("which, sign", [(0, -1), (0, 1), (1, -1), (1, 1), (2, -1), (2, 1), ("carry", -1)])
def test_a_wrong_coin_breaks_the_budget_of_the_right_one(width, which, sign):
    """A coin that is wrong by a few units costs more than the right coins' budget, and the budget of the wrong integers
    notices: the certificate depends on the integers in use. (A carry that is too likely only flattens the law.)"""
    with localcontext(_coins.CONTEXT):
        rate, digits, carry = small_instance(width, 1.0)
        eta = _coins.geometric_error(digits, carry, width, rate)
        step = sign * max(3, (1 << width) // 20)
        wrong, wrong_carry = list(digits), carry
        if which == "carry":
            wrong_carry += step
        else:
            wrong[which] += step
        loss = log(worst_ratio(law(wrong, wrong_carry, width), SPAN))
        wrong_eta = _coins.geometric_error(tuple(wrong), wrong_carry, width, rate)
        assert wrong_eta > eta
        assert loss <= rate * SPAN + wrong_eta + Decimal("1e-60")
        assert loss > rate * SPAN + eta


def test_the_bound_is_attained():
    """Digit 0 too unlikely, the rest exact within 2^-100: the loss of one step is a + |d_0|."""
    with localcontext(_coins.CONTEXT):
        rate = Decimal(1) / SPAN
        digits, carry = _coins.geometric_integers(rate, 3, 110)
        wrong = (digits[0] * 9 // 10, *digits[1:])
        eta = _coins.geometric_error(wrong, carry, 110, rate)
        pmf = law(wrong, carry, 110)
        assert abs(log(pmf[0] / pmf[1]) - rate - eta) < Decimal("1e-25")


def test_a_sign_times_a_geometric_variable_costs_log_2_more():
    """The obvious variant draws zero twice: shown wrong here so that nobody simplifies the kernel to it."""
    with localcontext(_coins.CONTEXT):
        rate, digits, carry = small_instance(16, 1.0)
        pmf = law(digits, carry, 16)
        zero, one = pmf[0], pmf[1] / 2  # P(0) = P(G = 0), P(1) = P(G = 1) / 2
        assert log(zero / one) > rate + Decimal("0.69")


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.1, 0.5, 1.0, 2.0, 8.0, 30.0])
@pytest.mark.parametrize("dim", [0, 1, 10, 1000])
def test_the_integers_in_use_keep_the_budget(epsilon, dim):
    """The same sum of errors as in the small instances, recomputed here from the integers with 120 digits."""
    if dim == 0:
        span = diameter = max(1, math.ceil(1024 * epsilon))
    else:
        span = max(1, math.ceil(1024 * epsilon / dim))
        diameter = dim * span
    coins = _coins.geometric(epsilon, diameter, span, max(dim, 1))
    with localcontext(prec=120):
        rate = -(Decimal(coins.carry) / (1 << 128)).ln() / (1 << len(coins.digits))
        eta = sum(
            (abs((Decimal(m) / ((1 << 128) - m)).ln() + rate * (1 << j)) for j, m in enumerate(coins.digits)),
            Decimal(0),
        )
        loss = rate * diameter + min(max(dim, 1), diameter) * eta
        # rate is read off the carry coin here: it may differ from the rate in use by the carry's own error.
        assert abs(loss - Decimal(coins.epsilon_realized)) <= Decimal("1e-15") * Decimal(epsilon)
        assert eta <= Decimal("1e-20")
    assert coins.epsilon_realized <= epsilon
    assert epsilon - coins.epsilon_realized <= 1e-12 * epsilon
    count = len(coins.digits)
    assert 2**count >= span
    assert float(rate) * 2**count >= 24 * (1 - 1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_noise_variance_from_the_integers(epsilon):
    """Against the closed form of the ideal law, 2 q / (1 - q)^2 + 1/4 (no zero is drawn twice)."""
    span = math.ceil(1024 * epsilon)
    coins = _coins.geometric(epsilon, span, span, 1)
    q = math.exp(-epsilon / span)
    assert coins.noise_variance == pytest.approx(2 * q / (1 - q) ** 2 + 0.25, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 4.0])
def test_rounding_to_the_grid_adds_a_millionth(epsilon):
    laplace = ldp.Laplace(-1.0, 1.0, epsilon)
    x = np.linspace(-1, 1, 1001)
    assert laplace.variance(x).max() <= 8 / epsilon**2 * (1 + 1e-6)


@pytest.mark.parametrize("dim", [1, 2, 100, 10_000])
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 20.0])
def test_l2_rows_keep_to_the_diameter(dim, epsilon):
    """The limit of the l1 norm in steps is at least that of the ball itself, and costs less than 1e-5 of the variance."""
    from ldpfast.mechanisms._ball import _ball_steps

    span, diameter, limit = _ball_steps(dim, epsilon)
    assert diameter == 2 * limit
    assert limit >= span / 2 * math.sqrt(dim)
    assert (limit / (span / 2 * math.sqrt(dim))) ** 2 <= 1 + (2e-5 if epsilon > 0.1 else 5e-2)
    laplace = ldp.LaplaceVector(dim, epsilon)
    ideal = 2 * (2 * math.sqrt(dim) / epsilon) ** 2
    assert laplace.variance(np.zeros(dim)).max() == pytest.approx(ideal, rel=3e-5 if epsilon > 0.1 else 5e-2)


@pytest.mark.parametrize("n", [1, 20, 512, 600])
@pytest.mark.parametrize("carry", [1 << 126, (1 << 127) + 12345, 3 << 126])
def test_carries(isa, n, carry):
    """Carries have a chance of 4e-11 in use: here they are as likely as digits, and every number must agree with the twin."""
    key, digits = bytes(range(32)), (1 << 127, 5 << 124, 3 << 125)
    kernel = noise.Laplace(1, 0.0, 1.0, 1, 0, 0.0, digits, carry, "number")
    out = np.empty(n)
    kernel.privatize(stream.Stream(key), 0, np.zeros(n), out)
    words, carries = reference.Words(key, 15, 0), reference.Words(key, 16, 0, 1024)
    assert (out - 0.5).tolist() == reference.discrete_laplace(digits, carry, words, carries, n)
    if n > 1:
        assert np.abs(out).max() > 8  # past the digits


def test_the_carry_coin_is_tossed_up_to_the_last_unit():
    """The words of the second toss are known: a carry coin equal to them is tails, one unit above heads."""
    tested = 0
    for seed in range(40):
        key = bytes([seed] * 32)
        raw = np.empty(1024, np.uint8)
        stream.raw(key, 16, 0, raw)
        first, second = int(raw[:4].view("<u4")[0]), raw[128:144].view("<u8")
        carry = int(second[0]) << 64 | int(second[1])
        if first >= carry >> 96:  # the first toss is tails: no second one
            continue
        times = []
        for coin in (carry, carry + 1):
            out = np.empty(1)
            noise.Laplace(1, 0.0, 1.0, 1, 0, 0.0, (1, 1), coin, "number").privatize(
                stream.Stream(key), 0, np.zeros(1), out
            )
            times.append(abs(out[0]) // 4)  # digits that never fall heads: G = 4 times the carries
        assert times[0] == 1
        assert times[1] >= 2
        tested += 1
    assert tested >= 10


@pytest.mark.parametrize("width", [10, 12, 16])
def test_one_hot_vectors_by_enumeration(width):
    """Two categories are a whole span apart in two columns: all pairs of reports near the digits' reach, and the others'
    columns cancel. The budget is a D + 2 eta with D = 2 span."""
    with localcontext(_coins.CONTEXT):
        rate = Decimal(1) / (2 * SPAN)
        digits, carry = _coins.geometric_integers(rate, 3, width)
        eta = _coins.geometric_error(digits, carry, width, rate)
        pmf = law(digits, carry, width)

        def chance(y, i):  # of the report y = i + N
            return pmf[y - i if y >= i else i - 1 - y] / 2

        reports = range(-SPAN, 2 * SPAN)
        worst = max(chance(a, SPAN) * chance(b, 0) / (chance(a, 0) * chance(b, SPAN)) for a in reports for b in reports)
        assert rate * 2 * SPAN - 2 * eta <= log(worst) <= rate * 2 * SPAN + 2 * eta + Decimal("1e-60")


@pytest.mark.parametrize("epsilon", [1e-4, 0.1, 1.0, 8.0, 30.0])
@pytest.mark.parametrize("k", [2, 3, 1000])
def test_one_hot_vectors_keep_the_budget(k, epsilon, monkeypatch):
    """The kernel gets the coins of two columns that differ by a span each, whatever k is, and zeros and ones are its ends."""
    given, make = [], noise.Laplace
    monkeypatch.setattr(noise, "Laplace", lambda *arguments: given.append(arguments) or make(*arguments))
    mechanism = LaplaceOneHot(k, epsilon)
    ((dim, lower, grid, span, l1_limit, _, digits, carry, use),) = given
    assert (dim, lower, l1_limit, use) == (k, 0.0, 0, "one-hot")
    assert span == max(1, math.ceil(1024 * epsilon))
    assert grid == mechanism.grid == 1 / span
    with localcontext(prec=120):
        rate = -(Decimal(carry) / (1 << 128)).ln() / (1 << len(digits))
        eta = sum(
            (abs((Decimal(m) / ((1 << 128) - m)).ln() + rate * (1 << j)) for j, m in enumerate(digits)), Decimal(0)
        )
        loss = 2 * span * rate + 2 * eta
        assert abs(loss - Decimal(mechanism.epsilon_realized)) <= Decimal("1e-15") * Decimal(epsilon)
    assert epsilon * (1 - 1e-12) <= mechanism.epsilon_realized <= epsilon
    assert 1 << len(digits) >= span
    assert mechanism.variance(0) == pytest.approx(np.full(k, 2 * (2 / epsilon) ** 2), rel=1e-5)


def test_huge_epsilon_is_a_clear_error_everywhere():
    for make in (
        lambda: LaplaceOneHot(3, 1e308),
        lambda: ldp.Laplace(0, 1, 1e308),
        lambda: ldp.LaplaceVector(3, 1e308, norm="linf"),
        lambda: ldp.Laplace(0, 1, 65),
    ):
        with pytest.raises(ValueError, match="epsilon must be within what exact coins can certify"):
            make()
