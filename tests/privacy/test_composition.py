"""Optimal composition of many rounds: exact values, and comparison with other libraries."""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldpfast import privacy
from ldpfast.privacy import Channel

from ..support.cases import each
from ..support.channels import marked_response


@pytest.mark.claim(
    "`composition_delta` is the optimal curve: no smaller one holds for all mechanisms.", "Composition and audits"
)
@given(st.lists(st.floats(0, 2), min_size=1, max_size=6), st.floats(0, 4))
def test_composition_equals_the_product_of_randomized_responses(epsilons, epsilon):
    joint = Channel([[1], [1]])
    for e in epsilons:
        joint = joint.product(marked_response(e, 0.0).then([[1, 0], [1, 0], [0, 1], [0, 1]]))
    assert privacy.composition_delta(epsilons, epsilon) == pytest.approx(joint.delta(epsilon), rel=1e-9, abs=1e-12)
    for delta in (1e-6, 0.01, 0.3):
        assert privacy.composition_epsilon(epsilons, delta) == pytest.approx(joint.epsilon(delta), rel=1e-6, abs=1e-9)


@each("k", [1, 2, 7, 30])
@each("epsilon", [0.05, 0.5, 2.0])
def test_composition_of_equal_rounds_equals_the_published_formula(k, epsilon):
    """Kairouz, Oh and Viswanath: delta at (k - 2 i) epsilon is a sum over l < i.

    The terms are binomials times (e^((k - l) epsilon) - e^((k - 2 i + l) epsilon)) / (1 + e^epsilon)^k.
    """
    with localcontext() as context:
        context.prec = 60
        e = Decimal(epsilon).exp()
        for i in range(k // 2 + 1):
            terms = (math.comb(k, j) * (e ** (k - j) - e ** (k - 2 * i + j)) for j in range(i))
            published = float(sum(terms, Decimal(0)) / (1 + e) ** k)
            ours = privacy.composition_delta([epsilon] * k, (k - 2 * i) * epsilon)
            assert ours == pytest.approx(published, rel=1e-9, abs=1e-15)


def test_composition_with_deltas_is_attained_by_marked_responses():
    """The product of marked responses attains the formula."""
    rounds, deltas = [0.5, 1.0, 0.7], [0.01, 0.0, 0.1]
    joint = Channel([[1], [1]])
    for e, d in zip(rounds, deltas, strict=True):
        joint = joint.product(marked_response(e, d))
    for epsilon in (0.0, 0.5, 1.5, 3.0):
        ours = privacy.composition_delta(rounds, epsilon, deltas=deltas)
        assert ours == pytest.approx(joint.delta(epsilon), rel=1e-9)
    for delta in (0.11, 0.2, 0.5):
        ours = privacy.composition_epsilon(rounds, delta, deltas=deltas)
        assert ours == pytest.approx(joint.epsilon(delta), rel=1e-6)


def test_composition_is_never_worse_than_the_sum():
    assert (
        privacy.composition_epsilon([0.1] * 10, 0.0) == privacy.compose(*[privacy.Guarantee("pure", 0.1)] * 10).epsilon
    )
    assert privacy.composition_epsilon([800.0], 1e-3) == pytest.approx(800, rel=1e-5)
    assert privacy.composition_epsilon([0.01] * 2000, 1e-6) < 3
    assert privacy.composition_delta([0.3, 0.4], [0.7, 0.71, 800.0]).tolist() == pytest.approx([0.0] * 3, abs=1e-15)
    assert privacy.composition_delta([0.0, 0.0], 0.0) == 0
    assert privacy.composition_epsilon([0.0], 0.5) == 0


def test_rounds_with_coinciding_sums():
    """30 different epsilons with 466 sums instead of 2^30, against a recursion over the probabilities of the sums."""
    epsilons = np.arange(1, 31) / 64
    probability_of = {0: 1.0}
    for j, e in enumerate(epsilons, 1):
        truth, after = 1 / (1 + math.exp(-e)), {}
        for total, probability in probability_of.items():
            after[total + j] = after.get(total + j, 0.0) + probability * truth
            after[total - j] = after.get(total - j, 0.0) + probability * (1 - truth)
        probability_of = after
    assert len(probability_of) == 466
    for epsilon in (0.0, 1.0, 4.0):
        expected = sum(c * -math.expm1(epsilon - t / 64) for t, c in probability_of.items() if t / 64 > epsilon)
        assert privacy.composition_delta(epsilons, epsilon) == pytest.approx(expected, rel=1e-9)


def test_many_rounds_approach_the_normal_limit():
    """The loss of 10,000 rounds is within 1 % of the normal limit."""
    delta = privacy.composition_delta([0.01] * 10_000, [0.0, 1.0, 5.0])
    sigma = 1 / (0.01 * math.sqrt(10_000))
    np.testing.assert_allclose(delta, privacy.gaussian_delta([0.0, 1.0, 5.0], sigma=sigma), rtol=0.01)


@each(
    "call, message",
    [
        (lambda: privacy.composition_delta(1.0, 1.0), r"^epsilons must have shape \(rounds,\), got shape \(\)$"),
        (lambda: privacy.composition_delta([], 1.0), r"^epsilons must have shape \(rounds,\), got shape \(0,\)$"),
        (lambda: privacy.composition_delta([-1], 1.0), r"^epsilons must be in \[0, 1e\+100\], got -1.0$"),
        (lambda: privacy.composition_delta([1], 1.0, deltas=1), r"^deltas must be in \[0, 1\), got 1.0$"),
        (
            lambda: privacy.composition_delta(np.sqrt(np.arange(1.0, 30.0)), 1.0),
            r"^epsilons must have at most 4194304 sums",
        ),
        (
            lambda: privacy.composition_epsilon([1, 1], 0.1, deltas=0.1),
            r"^delta must be at least 0.19, the composition of deltas, got 0.1$",
        ),
    ],
)
def test_bad_values(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# Rounding -------------------------------------------------------------------------------------------------------------


def precise_delta(rounds: list[float], epsilon: float) -> Decimal:
    """Return the delta of randomized responses with 60 digits, from all outcomes."""
    with localcontext(Context(prec=60)):
        outcomes = [(Decimal(0), Decimal(1))]  # loss and probability
        for e in map(Decimal, rounds):
            true = e.exp() / (1 + e.exp())
            outcomes = [(loss + s * e, p * q) for loss, p in outcomes for s, q in ((1, true), (-1, 1 - true))]
        return sum(
            (p * (1 - (Decimal(epsilon) - loss).exp()) for loss, p in outcomes if loss > Decimal(epsilon)), Decimal(0)
        )


positive = st.floats(1e-6, 20.0)


@given(st.lists(positive, min_size=1, max_size=6), st.floats(0, 1.2), st.sampled_from([1, 3]))
def test_deltas_are_rounded_up(rounds, share, repeats):
    rounds = (rounds * repeats)[:9]
    epsilon = share * sum(rounds)
    found, exact = privacy.composition_delta(rounds, epsilon), precise_delta(rounds, epsilon)
    assert Decimal(found) >= exact
    assert Decimal(found) <= exact * Decimal(1 + 1e-9) + Decimal("1e-13")


@given(st.lists(positive, min_size=1, max_size=6), st.floats(-300, -0.01))
def test_epsilons_are_rounded_up(rounds, exponent):
    """The delta of the result, with 60 digits, is at most the one that was asked for."""
    delta = 10.0**exponent
    epsilon = privacy.composition_epsilon(rounds, delta)
    assert precise_delta(rounds, epsilon) <= Decimal(delta)
    smaller = epsilon * (1 - 1e-6) - 1e-9
    assert smaller <= 0 or epsilon == sum(rounds) or precise_delta(rounds, smaller) > Decimal(delta) * Decimal(1 - 1e-4)


@given(st.lists(positive, min_size=1, max_size=4), st.floats(1e-12, 0.3), st.floats(1e-12, 0.5))
def test_inverses_with_deltas_of_the_rounds(rounds, each, more):
    deltas = [each] * len(rounds)
    spent = 1 - math.prod(1 - d for d in deltas)
    target = min(0.999, spent * (1 + 1e-9) + more * (1 - spent))
    epsilon = privacy.composition_epsilon(rounds, target, deltas=deltas)
    assert privacy.composition_delta(rounds, epsilon, deltas=deltas) <= target or epsilon >= sum(rounds)


def test_one_round_is_returned_unchanged():
    assert privacy.composition_epsilon([0.1], 1e-300) == 0.1
