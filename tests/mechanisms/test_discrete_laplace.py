"""Integer noise of the discrete Laplace mechanisms: small instances in exact fractions, and the integers in use."""

from __future__ import annotations

import itertools
import math
import random
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.mechanisms import LaplaceOneHot

from ..support import reference
from ..support.cases import each
from ..support.exact import exact_log
from ..support.geometric import rate_and_error
from ..support.internals.kernels import privatize, stream
from ..support.internals.shared import coin_integers
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


DIGITS = 3


@pytest.fixture(params=[1, 2, 3])
def group_digits(request, monkeypatch):
    """Small instances with three digits in one, two or three groups."""
    monkeypatch.setattr(coin_integers._geometric, "GROUP_DIGITS", request.param)


def small_instance(width, epsilon):
    """Return the rate and weights of a small width for 8 steps. The digits are few, so the carry is not rounded to zero."""
    rate = Decimal(epsilon) / SPAN
    assert 1 << DIGITS >= SPAN
    return rate, *coin_integers.geometric_integers(rate, DIGITS, width)


def error(groups, carry, width, rate):
    return coin_integers.geometric_error(groups, carry, DIGITS, width, rate)


@pytest.mark.usefixtures("group_digits")
@each("width", range(8, 17))
@each("epsilon", [0.25, 1.0, 2.0])
def test_the_budget_bounds_the_exact_loss(width, epsilon):
    """The exact loss is between a s - eta and a s + eta, with eta from the rounded integers."""
    with localcontext(coin_integers.CONTEXT):
        rate, groups, carry = small_instance(width, epsilon)
        assert all(sum(weights) == 1 << width for weights in groups)
        eta = error(groups, carry, width, rate)
        loss = exact_log(worst_ratio(reference.geometric_distribution(groups, carry, width, 4), SPAN))
        assert loss <= rate * SPAN + eta + Decimal("1e-60")
        assert loss >= rate * SPAN - eta


def moved(groups, which, units):
    """Return the groups with `units` moved from value 0 of a group to its last value."""
    wrong = [list(weights) for weights in groups]
    wrong[which][-1] += units
    wrong[which][0] -= units
    return tuple(map(tuple, wrong))


@pytest.mark.usefixtures("group_digits")
@each("width", [8, 10, 12, 16])
@each("which, sign", [(0, -1), (0, 1), (-1, -1), (-1, 1), ("carry", -1)])
def test_a_wrong_coin_exceeds_the_budget_of_the_right_one(width, which, sign):
    """With a weight that is wrong by a few units, the loss exceeds the budget of the right integers, not of those in use.

    So the certificate depends on the integers in use. (A carry that is too probable only flattens the distribution.)
    """
    with localcontext(coin_integers.CONTEXT):
        rate, groups, carry = small_instance(width, 1.0)
        eta = error(groups, carry, width, rate)
        step = sign * max(3, (1 << width) // 20)
        wrong, wrong_carry = (groups, carry + step) if which == "carry" else (moved(groups, which, step), carry)
        loss = exact_log(worst_ratio(reference.geometric_distribution(wrong, wrong_carry, width, 4), SPAN))
        wrong_eta = error(wrong, wrong_carry, width, rate)
        assert wrong_eta > eta
        assert loss <= rate * SPAN + wrong_eta + Decimal("1e-60")
        assert loss > rate * SPAN + eta


def test_the_budget_is_attained(monkeypatch):
    """If digit 0 is too improbable and the others are exact within 2^-100, the loss of one step is a + eta."""
    monkeypatch.setattr(coin_integers._geometric, "GROUP_DIGITS", 1)
    with localcontext(coin_integers.CONTEXT):
        rate = Decimal(1) / SPAN
        groups, carry = coin_integers.geometric_integers(rate, DIGITS, 110)
        wrong = moved(groups, 0, -(groups[0][1] // 10))
        eta = error(wrong, carry, 110, rate)
        distribution = reference.geometric_distribution(wrong, carry, 110)
        assert abs(exact_log(distribution[0] / distribution[1]) - rate - eta) < Decimal("1e-25")


def test_a_random_sign_times_a_geometric_variable_costs_log_2_more():
    """The simpler variant reaches zero with both signs and exceeds the budget. The kernel must not be simplified to it."""
    with localcontext(coin_integers.CONTEXT):
        rate, groups, carry = small_instance(16, 1.0)
        distribution = reference.geometric_distribution(groups, carry, 16)
        zero, one = distribution[0], distribution[1] / 2  # P(0) = P(G = 0), P(1) = P(G = 1) / 2
        assert exact_log(zero / one) > rate + Decimal("0.69")


# Alias tables ---------------------------------------------------------------------------------------------------------


@each("n", [2, 4, 8, 16, 32])
@each("seed", range(5))
def test_an_alias_table_has_exactly_the_given_weights(n, seed):
    generator = random.Random(seed)
    cuts = sorted(generator.sample(range(1, 1 << 20), n - 1))
    weights = tuple(b - a for a, b in itertools.pairwise([0, *cuts, 1 << 20]))
    assert_has_weights(coin_integers.alias_table(weights, 20), weights, 20)


@pytest.mark.parametrize("epsilon", [1e-4, 0.1, 1.0, 8.0])
def test_the_tables_in_use_have_exactly_the_weights(epsilon):
    span = max(1, math.ceil(1024 * epsilon))
    coins = coin_integers.geometric(epsilon, span, span, 1)
    assert sum(int(math.log2(len(weights))) for weights in coins.groups) == coins.digits
    for table, weights in zip(coins.tables(), coins.groups, strict=True):
        assert sum(weights) == 1 << 128
        assert_has_weights(table, weights, 128)


def assert_has_weights(table, weights, width):
    thresholds, aliases = table
    found = [Fraction(0)] * len(weights)
    for index, (threshold, alias) in enumerate(zip(thresholds, aliases, strict=True)):
        below = Fraction(threshold, 1 << width + 16)
        assert 0 <= below < 1
        found[index] += below / len(weights)
        found[alias] += (1 - below) / len(weights)
    assert found == [Fraction(w, 1 << width) for w in weights]


# The integers in use --------------------------------------------------------------------------------------------------


@each("epsilon", [1e-6, 1e-3, 0.1, 0.5, 1.0, 2.0, 8.0, 30.0])
@each("dim", [0, 1, 10, 1000])
def test_the_integers_in_use_keep_the_budget(epsilon, dim):
    """The sum of errors as in the small instances, from the integers, with 120 digits. dim = 0 means a single number."""
    if dim == 0:
        span = diameter = max(1, math.ceil(1024 * epsilon))
    else:
        span = max(1, math.ceil(1024 * epsilon / dim))
        diameter = dim * span
    coins = coin_integers.geometric(epsilon, diameter, span, max(dim, 1))
    with localcontext(prec=120):
        rate, eta = rate_and_error(coins)
        loss = rate * diameter + min(max(dim, 1), diameter) * eta
        # The rate of the carry coin differs from the rate in use by the error of that coin.
        assert abs(loss - Decimal(coins.epsilon_realized)) <= Decimal("1e-15") * Decimal(epsilon)
        assert eta <= Decimal("1e-20")
    assert coins.epsilon_realized <= epsilon
    assert epsilon - coins.epsilon_realized <= 1e-12 * epsilon
    count = coins.digits
    assert 2**count >= span
    assert float(rate) * 2**count >= 24 * (1 - 1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_the_noise_variance_is_that_of_the_ideal_distribution(epsilon):
    """In closed form: 2 q / (1 - q)^2 + 1/4."""
    span = math.ceil(1024 * epsilon)
    coins = coin_integers.geometric(epsilon, span, span, 1)
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


# Ties and carries -----------------------------------------------------------------------------------------------------


def draw(coins, n, key=FIXED_KEY):
    """Return integers of noise: the reports of the record 0 on the grid of integers."""
    out = np.empty(n)
    kernel = privatize.Laplace(1, 0.0, 1.0, 1.0, 1, 0, 0.0, coins, "number")
    kernel.privatize(stream.Stream(key), 0, np.zeros(n), out)
    return (out - 0.5).tolist()


def streams(key=FIXED_KEY):
    return reference.Words(key, "LAPLACE", 0), reference.Words(key, "LAPLACE_TIES", 0, 1024)


@each("n", [1, 20, 512, 600])
@each("carry", [1 << 126, (1 << 127) + 12345, 3 << 126, 0x3A5C96E1 << 96, 0xB7 << 119])
def test_numbers_with_carries_equal_the_reference(isa, n, carry):
    """In normal use a carry has probability 4e-11. Here carries are as probable as digits."""
    weights = (5 << 125, 1 << 125, 1 << 124, 3 << 124, 0, 0, 0, 0)
    coins = coin_integers.GeometricCoins(3, (weights,), carry, 0.0)
    found = draw(coins, n)
    assert found == reference.discrete_laplace(coins, *streams(), n)
    if n > 1:
        assert max(map(abs, found)) > 8  # beyond the digits


def test_numbers_are_clamped_to_the_limit_of_the_reports(isa):
    """The digits are zero, so the numbers are multiples of 2^45. Every second carry is followed by another one."""
    coins = coin_integers.GeometricCoins(45, ((1 << 128, *[0] * 31),) * 9, 1 << 127, 0.0)
    drawn, limit = reference.discrete_laplace(coins, *streams(), 600), 1 << 47
    found = draw(coins, 600)
    assert found == [max(-limit, min(number, limit)) for number in drawn]
    assert {-limit, limit} < set(found)
    assert max(map(abs, drawn)) > 2 * limit


@each("digits", [1, 4, 5, 6, 15, 16, 33, 45])
def test_numbers_of_any_size_equal_the_reference(isa, digits):
    """Sets of three groups are appended, and the top group can have fewer digits."""
    generator, groups = random.Random(digits), []
    for first in range(0, digits, 5):
        weights = [generator.getrandbits(122) for _ in range(1 << min(5, digits - first))]
        weights[0] += (1 << 128) - sum(weights)
        groups.append(tuple(weights))
    coins = coin_integers.GeometricCoins(digits, tuple(groups), 1 << 90, 0.0)
    found = draw(coins, 300)
    assert found == reference.discrete_laplace(coins, *streams(), 300)
    assert max(map(abs, found)) <= 1 << digits


def test_the_digit_changes_exactly_at_its_threshold(isa):
    """A threshold equal to the known coin of 144 bits gives the alias; one unit more does not."""
    words, rest = streams()
    index, drawn = int(words.take(32, "<u2")[0]), int(words.take(32, "<u2")[0])
    last = rest.word() << 64 | rest.word()

    class Coins(coin_integers.GeometricCoins):
        """Value i below the threshold, else 0, for all entries but the first."""

        def tables(self):
            return [([self.threshold] * 4, [0] * 4)]

    found = []
    for unit in (0, 1):
        coins = Coins(2, ((1 << 126,) * 4,), 0, 0.0)
        object.__setattr__(coins, "threshold", (drawn << 128) + last + unit)
        n = draw(coins, 1)[0]
        found.append(n if n >= 0 else -1 - n)
    assert index & 3 != 0
    assert found == [0, index & 3]


def test_the_first_toss_of_a_carry_changes_exactly_at_its_threshold():
    """Its 8 bits and the 120 bits after them are known. A carry coin equal to them is tails; one unit above, it is heads."""
    for seed in range(20):
        key = bytes([seed] * 32)
        words, rest = streams(key)
        words.take(64, "<u2")
        byte, last = int(words.take(1, np.uint8)[0]), rest.word() << 64 | rest.word()
        times = []
        for carry in (byte << 120 | last >> 8, (byte << 120 | last >> 8) + 1):
            n = draw(coin_integers.GeometricCoins(2, ((1 << 128, 0, 0, 0),), carry, 0.0), 1, key)[0]
            times.append((n if n >= 0 else -1 - n) // 4)  # the digits are zero: G = 4 times the carries
        assert times[0] == 0
        assert times[1] >= 1


def test_the_carry_coin_changes_exactly_at_its_threshold():
    """The words of the second toss are known. A carry coin equal to them is tails; one unit above them it is heads."""
    tested = 0
    for seed in range(40):
        key = bytes([seed] * 32)
        words, rest = streams(key)
        words.take(64, "<u2")
        first, second = int(words.take(1, np.uint8)[0]), rest.word() << 64 | rest.word()
        if first >= second >> 120:  # the first toss is tails or a tie, and there is no second one, or another one
            continue
        times = []
        for carry in (second, second + 1):
            n = draw(coin_integers.GeometricCoins(2, ((1 << 128, 0, 0, 0),), carry, 0.0), 1, key)[0]
            times.append((n if n >= 0 else -1 - n) // 4)  # the digits are zero: G = 4 times the carries
        assert times[0] == 1
        assert times[1] >= 2
        tested += 1
    assert tested >= 10
