"""Discrete Laplace noise for one-hot vectors: the kernel against the reference, and the budget of two columns."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from ldpfast.mechanisms import LaplaceOneHot

from ..support import reference
from ..support.cases import each
from ..support.exact import exact_log
from ..support.examples import assert_same, assert_same_estimate
from ..support.geometric import rate_and_error
from ..support.internals.kernels import privatize
from ..support.internals.mechanisms import record_recipe
from ..support.internals.shared import coin_integers, thread_pool
from ..support.keys import KEY, SEED

# Reports --------------------------------------------------------------------------------------------------------------


@each("k, n", [(2, 1), (2, 9), (13, 40), (300, 2)])
def test_reports_equal_the_reference(isa, k, n):
    """Zeros and ones are on the grid, so a report is the noise, plus the span in the column of the record."""
    mechanism = LaplaceOneHot(k, 0.5)
    x = np.random.default_rng(n).integers(0, k, n)
    coins = coin_integers.geometric(0.5, 1024, 512, 2)
    words, carries = (reference.Words(KEY, f"LAPLACE_ONE_HOT{use}", 0, 256) for use in ("", "_TIES"))
    z = np.array(reference.discrete_laplace(coins, words, carries, n * k)).reshape(n, k)
    expected = mechanism.grid * (512 * (x[:, np.newaxis] == np.arange(k)) + z + 0.5)
    np.testing.assert_array_equal(mechanism.privatize(x, rng=SEED), expected)


@each("k, n", [(2, 10_000), (300, 100)])
def test_pieces_continue_with_the_record_blocks(isa, k, n, monkeypatch):
    mechanism, x = LaplaceOneHot(k, 1.0), np.random.default_rng(n).integers(0, k, n)
    reports, estimate = mechanism.privatize(x, rng=SEED), mechanism.run(x, rng=SEED)
    monkeypatch.setattr(record_recipe, "PIECE_BYTES", 1)
    monkeypatch.setattr(thread_pool, "SMALL", 1)
    monkeypatch.setattr(thread_pool, "_threads", 1)
    assert n > 2 * mechanism._recipe.piece_rows(x)
    assert_same(mechanism.privatize(x, rng=SEED), reports)
    assert_same_estimate(mechanism.run(x, rng=SEED), estimate)


# Privacy --------------------------------------------------------------------------------------------------------------

SPAN = 8


@pytest.mark.parametrize("width", [10, 12, 16])
def test_the_budget_bounds_the_exact_loss(width):
    """The budget is a D + 2 eta with D = 2 span, because two categories differ by a whole span in two columns.

    The other columns cancel. All pairs of reports within the range of the digits are enumerated.
    """
    with localcontext(coin_integers.CONTEXT):
        rate = Decimal(1) / (2 * SPAN)
        groups, carry = coin_integers.geometric_integers(rate, 3, width)
        eta = coin_integers.geometric_error(groups, carry, 3, width, rate)
        distribution = reference.geometric_distribution(groups, carry, width, 4)

        def probability(y, i):  # probability of the report y = i + N
            return distribution[y - i if y >= i else i - 1 - y] / 2

        reports = range(-SPAN, 2 * SPAN)
        worst = max(
            probability(a, SPAN) * probability(b, 0) / (probability(a, 0) * probability(b, SPAN))
            for a in reports
            for b in reports
        )
        assert rate * 2 * SPAN - 2 * eta <= exact_log(worst) <= rate * 2 * SPAN + 2 * eta + Decimal("1e-60")


@each("epsilon", [1e-4, 0.1, 1.0, 8.0, 30.0])
@each("k", [2, 3, 1000])
def test_the_integers_in_use_keep_the_budget(k, epsilon, monkeypatch):
    """For every k, the kernel gets the coins for two columns that each differ by a span. The ends of its grid are 0 and 1."""
    given, make = [], privatize.Laplace
    monkeypatch.setattr(privatize, "Laplace", lambda *arguments: given.append(arguments) or make(*arguments))
    mechanism = LaplaceOneHot(k, epsilon)
    ((dim, lower, upper, grid, span, l1_limit, _, coins, use),) = given
    assert (dim, lower, upper, l1_limit, use) == (k, 0.0, 1.0, 0, "one-hot")
    assert span == max(1, math.ceil(1024 * epsilon))
    assert grid == mechanism.grid == 1 / span
    with localcontext(prec=120):
        rate, eta = rate_and_error(coins)
        loss = 2 * span * rate + 2 * eta
        assert abs(loss - Decimal(mechanism.epsilon_realized)) <= Decimal("1e-15") * Decimal(epsilon)
    assert epsilon * (1 - 1e-12) <= mechanism.epsilon_realized <= epsilon
    assert 1 << coins.digits >= span
    assert mechanism.variance(0) == pytest.approx(np.full(k, 2 * (2 / epsilon) ** 2), rel=1e-5)
