"""Sums of reports: enumeration of small instances, the worst records of other people, and figures."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.mechanisms import RankCodebook, SecureSum
from ldpfast.privacy import shuffled, shuffled_delta, summed, summed_delta
from ldpfast.privacy._summed_reports import Ones

from ..support.cases import each

METHODS = ["symmetric", "optimized"]


@lru_cache(maxsize=4096)
def ones(trials):
    """Return the exact distribution of the number of ones of independent bits with given probabilities."""
    found = [Fraction(1)]
    for p in trials:
        found = [
            (found[i] * (1 - p) if i < len(found) else 0) + (found[i - 1] * p if i else 0)
            for i in range(len(found) + 1)
        ]
    return found


def exact_delta(mechanism, n, epsilon, counts=None):
    """Return the divergence of the numbers of ones of both categories, the largest over the records of the others.

    `counts` are the numbers of others with the first and with the second category.
    """
    p, q = mechanism.bit_probabilities
    p, q = p.limit_denominator(10**6), q.limit_denominator(10**6)  # fast; the error is below that of the bound
    power, worst = Fraction(math.exp(epsilon)), Fraction(0)
    cases = [counts] if counts else [(a, b) for a in range(n) for b in range(n - a)]
    for a, b in cases:
        of = [ones((r,) + (p,) * m + (q,) * (n - 1 - m)) for m, r in ((a, p), (b, q), (a, q), (b, p))]
        mine = np.outer(np.array(of[0], object), np.array(of[1], object))
        theirs = np.outer(np.array(of[2], object), np.array(of[3], object))
        worst = max(worst, sum(d for d in (mine - power * theirs).flat if d > 0))
    return float(worst)


@pytest.mark.claim("`summed` never states less than the loss of the sum of the reports.", "Composition and audits")
@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("epsilon, n", [(1.0, 1), (1.0, 2), (3.0, 4), (0.5, 7), (1.0, 12)])
def test_the_bound_is_not_below_the_exact_divergence_of_sums(method, epsilon, n):
    """And not far above, where it is not for losses that are rare."""
    mechanism = ldp.UnaryEncoding(3, epsilon, method=method)
    shares = (0.0, 0.3, 0.7) if n < 12 else (0.7,)
    for share in shares:
        exact, bound = exact_delta(mechanism, n, share * epsilon), summed_delta(mechanism, n, share * epsilon)
        assert exact <= bound * (1 + 1e-4) + 1e-12
        assert bound <= 1.3 * exact
        assert bound <= shuffled_delta(mechanism, n, share * epsilon) * 1.02


@pytest.mark.parametrize("method, elsewhere, worst", [("symmetric", 6.0e-6, 2.245e-5), ("optimized", 4.0e-6, 1.235e-5)])
def test_it_is_not_enough_that_all_others_are_elsewhere(method, elsewhere, worst):
    mechanism = ldp.UnaryEncoding(3, 1.0, method=method)
    assert exact_delta(mechanism, 14, 0.7, (0, 0)) == pytest.approx(elsewhere, rel=0.02)
    found = max(exact_delta(mechanism, 14, 0.7, (13 - b, b)) for b in range(14))
    assert found == pytest.approx(worst, rel=0.01)
    assert found <= summed_delta(mechanism, 14, 0.7) <= 1.06 * found


@pytest.mark.parametrize("method", METHODS)
def test_groups_are_bounds_for_their_members(method):
    """Of 3,000 people, 64 groups are compared with all single numbers at both ends and in the middle."""
    p, q = ldp.UnaryEncoding(3, 2.0, method=method).bit_probabilities
    groups = Ones.of(p, q, 3000, 1e-20)
    from scipy import stats

    for epsilon in (0.001, 0.01, 0.05, 0.1):
        worst = [0.0, 0.0]
        for m in (0, 1, 20, 1499, 2980, 2999):
            first, second = (stats.binom.pmf(np.arange(3001), k, r) for k, r in ((m, float(p)), (2999 - m, float(q))))
            both = np.convolve(first, second)[:3001]
            mine, theirs = (np.convolve(both, [1 - float(r), float(r)]) for r in (p, q))
            power = math.exp(epsilon)
            worst = [
                max(worst[0], np.maximum(mine - power * theirs, 0).sum()),
                max(worst[1], np.maximum(theirs - power * mine, 0).sum()),
            ]
        for found, exact in zip((groups.own(epsilon), groups.other(epsilon)), worst, strict=True):
            assert exact <= found + 1e-15
            assert found <= exact * 1.3 + 1e-12


def test_sums_of_codes_are_shuffled_codes():
    mechanism = ldp.RandomizedResponse(100, 4.0)
    assert summed(mechanism, 10_000, 1e-8) == shuffled(mechanism, 10_000, 1e-8)
    assert summed_delta(mechanism, 10_000, 0.2) == shuffled_delta(mechanism, 10_000, 0.2)


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
def test_epsilon_and_delta_of_sums_are_inverse(method):
    mechanism = ldp.UnaryEncoding(100, 2.0, method=method)
    for n, delta in ((5, 0.01), (1000, 1e-6), (100_000, 1e-9)):
        found = summed(mechanism, n, delta)
        assert (found.definition, found.delta, found.ideal) == ("approximate", delta, False)
        assert summed_delta(mechanism, n, found.epsilon) == pytest.approx(delta, rel=0.02)
        assert summed_delta(mechanism, n, 2.0) == 0
    assert summed(mechanism, 1000, 0.0).epsilon == mechanism.epsilon_realized
    larger = summed(mechanism, 2000, 1e-6).epsilon
    assert larger < summed(mechanism, 1000, 1e-6).epsilon < shuffled(mechanism, 1000, 1e-6).epsilon


@each("mechanism", [RankCodebook(9, 1.0), ldp.LinfBall(5, 4.0), ldp.RotatedSigns(1000, 4.0, rotation=1)], ids=repr)
def test_sums_of_vectors_have_the_guarantee_of_shuffled_reports(mechanism):
    assert summed(mechanism, 1000, 1e-6) == shuffled(mechanism, 1000, 1e-6)
    assert summed_delta(mechanism, 1000, 0.5) == shuffled_delta(mechanism, 1000, 0.5)


def test_messages_without_a_local_guarantee_are_refused():
    mechanism = SecureSum(10, 4.0, delta=1e-6, honest=10, rotation=1)
    for refused in (lambda: summed(mechanism, 10, 1e-6), lambda: summed_delta(mechanism, 10, 1.0)):
        with pytest.raises(TypeError, match="got SecureSum"):
            refused()
    with pytest.raises(ValueError, match="must be a 'local' guarantee, got 'approximate'"):
        summed(mechanism.guarantee, 10, 1e-6)


def test_the_sum_of_one_hot_reports_with_epsilon_10():
    """128 categories, a hundred thousand people: a published bound is 0.317."""
    assert 0.29 < summed(ldp.UnaryEncoding(128, 10.0), 100_000, 1e-9).epsilon < 0.301


@each(
    "call, kind, message",
    [
        (lambda: summed(ldp.UnaryEncoding(3, 1.0), 0, 1e-6), ValueError, "n must be an integer >= 1, got 0"),
        (lambda: summed(ldp.UnaryEncoding(3, 1.0), 9, 1.0), ValueError, "delta must be in [0, 1), got 1.0"),
        (lambda: summed_delta(ldp.UnaryEncoding(3, 1.0), 9, -1.0), ValueError, "epsilon must be in [0, inf), got -1.0"),
    ],
)
def test_bad_sums(call, kind, message):
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value).startswith(message)
