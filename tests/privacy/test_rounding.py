"""Parameters of privacy are rounded toward more privacy: never too small, and inverses never promise too much."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ldpfast import privacy

EPSILON, SHARE, DELTA = st.floats(1e-12, 40), st.floats(1e-300, 1 - 2**-53), st.floats(1e-300, 0.9)


@given(EPSILON, st.sampled_from([0.0, 1e-12, 0.01, 0.5]))
def test_parameters_of_pure_and_approximate_privacy_are_not_too_small(epsilon, delta):
    """Against 60 digits. The total variation of (epsilon, delta)-privacy is delta + (1 - delta) tanh(epsilon / 2)."""
    with localcontext() as context:
        context.prec = 60
        e, d = Decimal(epsilon), Decimal(delta)
        tanh = (1 - (-e).exp()) / (1 + (-e).exp())
        close = 1 + Decimal("1e-13")
        for found, exact in (
            (privacy.tv_from_dp(epsilon, delta), d + (1 - d) * tanh),
            (privacy.kl_from_dp(epsilon), e * tanh),
            (privacy.delta_from_dp(0.0, epsilon, delta), d + (1 - d) * (1 - (-e).exp()) / (1 + (-e).exp())),
        ):
            assert exact <= Decimal(found) <= exact * close
        error = Decimal(privacy.least_error(epsilon, delta))
        exact = 2 * (1 - d) * (-e).exp() / (1 + (-e).exp())
        assert exact * (2 - close) <= error <= exact


@given(SHARE, st.sampled_from([0.0, 1e-12, 0.01, 0.5]))
@example(1 - 2**-53, 0.0)
@example(5e-324, 0.0)
def test_the_epsilon_for_a_total_variation_guarantees_it(tv, delta):
    assume(tv >= delta)
    epsilon = privacy.epsilon_for_tv(tv, delta)
    assert privacy.tv_from_dp(epsilon, delta) <= tv
    if delta == 0 and 1e-290 < tv < 0.999:
        assert epsilon == pytest.approx(2 * math.atanh(tv), rel=1e-10)


@given(st.floats(0, 1e6))
@example(5e-324)
def test_the_epsilon_for_a_divergence_guarantees_it(kl):
    epsilon = privacy.epsilon_for_kl(kl)
    assert privacy.kl_from_dp(epsilon) <= kl
    if kl > 1e-290:
        assert privacy.kl_from_dp(epsilon) >= kl * (1 - 1e-12)


@given(st.floats(1e-20, 1 - 2**-53))
def test_the_divergence_for_a_total_variation_is_not_too_large(tv):
    """Against 100 digits."""
    with localcontext() as context:
        context.prec = 100
        exact = Decimal(tv) * ((1 + Decimal(tv)) / (1 - Decimal(tv))).ln()
        assert exact * (1 - Decimal("1e-13")) <= Decimal(privacy.kl_for_tv(tv)) <= exact


@given(st.floats(1e-300, 50))
@example(1e-300)
@example(700.0)
def test_the_total_variation_of_a_divergence_is_not_too_small(kl):
    """Against 700 digits: t log((1 + t) / (1 - t)) is at least kl, and Pinsker's bound is at least sqrt(kl / 2)."""
    tv = privacy.tv_from_kl(kl)
    assert tv == 1 or privacy.kl_for_tv(tv) >= kl
    assert privacy.kl_for_tv(tv * (1 - 1e-9)) < kl
    with localcontext() as context:
        context.prec = 700
        paper = min((Decimal(kl) / 2).sqrt(), (1 - (-Decimal(kl)).exp()).sqrt())
        assert paper <= Decimal(privacy.tv_from_kl(kl, mode="paper")) <= paper * (1 + Decimal("1e-13"))


@given(st.floats(0, 5), st.floats(1e-6, 3), st.floats(1e-6, 1 - 1e-9), st.floats(0, 1))
def test_the_delta_of_a_divergence_is_above_every_pair_of_coins(epsilon, kl, x, share):
    """A pair of coins within the divergence, with 60 digits."""
    y = x * math.exp(-min(share * (kl + math.log(2)) / x, 700))
    with localcontext() as context:
        context.prec = 60
        p, q = Decimal(x), Decimal(y)
        forward = p * (p / q).ln() + (1 - p) * ((1 - p) / (1 - q)).ln()
        backward = q * (q / p).ln() + (1 - q) * ((1 - q) / (1 - p)).ln()
        assume(max(forward, backward) <= Decimal(kl))
        assert Decimal(privacy.delta_from_kl(epsilon, kl)) >= p - Decimal(epsilon).exp() * q
    assert privacy.delta_from_kl(epsilon, kl) <= privacy.delta_from_kl(0.0, kl) <= privacy.tv_from_kl(kl)


@given(EPSILON, st.sampled_from([0.0, 1e-12, 0.01, 0.5]), st.floats(0, 1))
def test_misses_are_not_too_large(epsilon, delta, alarms):
    """Against 60 digits."""
    with localcontext() as context:
        context.prec = 60
        e, d, a = map(Decimal, (epsilon, delta, alarms))
        exact = max(Decimal(0), 1 - d - e.exp() * a, (-e).exp() * (1 - d - a))
        assert exact - Decimal("1e-13") <= Decimal(privacy.misses(alarms, epsilon, delta)) <= exact
    assert privacy.misses(0.0, epsilon) == 1.0


@given(st.floats(1e-6, 20), st.sampled_from([0.0, 1e-6, 0.01]), st.sampled_from([0.0, 1e-3, 0.05, 0.3]))
def test_conditional_testing_is_not_too_small(epsilon, delta, mass):
    """Sets of reports of randomized response with marked true answers, in 60 digits."""
    found = Decimal(privacy.conditional_testing_from_dp(epsilon, delta, mass))
    with localcontext() as context:
        context.prec = 60
        e, d = Decimal(epsilon), Decimal(delta)
        unmarked = (1 - d) / (1 + (-e).exp())
        p = [d, unmarked, (-e).exp() * unmarked, Decimal(0)]
        q = p[::-1]
        for members in range(1, 16):
            kept = [i for i in range(4) if members >> i & 1]
            mass_p, mass_q = sum(p[i] for i in kept), sum(q[i] for i in kept)
            if min(mass_p, mass_q) > 0 and min(mass_p, mass_q) >= Decimal(mass):
                assert sum(max(p[i] / mass_p - q[i] / mass_q, 0) for i in kept) <= found
        if delta == mass == 0:
            assert (1 - (-e).exp()) / (1 + (-e).exp()) <= found
        paper = privacy.conditional_testing_from_dp(epsilon, delta, mass, mode="paper")
        if Decimal(mass) * ((2 * e).exp() - e.exp()) >= d:
            assert Decimal(paper) >= min(Decimal(1), (1 + (-e).exp()) * (1 - (-2 * e).exp()))


@given(st.floats(0, 30), DELTA, st.floats(1e-3, 1e3))
def test_the_noise_for_a_delta_guarantees_it(epsilon, delta, sensitivity):
    sigma = privacy.gaussian_sigma(epsilon, delta, sensitivity)
    assert privacy.gaussian_delta(epsilon, sigma, sensitivity) <= delta
    assert privacy.gaussian_delta(epsilon, sigma * (1 - 1e-9), sensitivity) > delta


@given(st.floats(1e-6, 30), DELTA)
def test_the_concentrated_privacy_for_a_delta_guarantees_it(epsilon, delta):
    assert privacy.concentrated_delta(epsilon, privacy.concentrated_rho(epsilon, delta)) <= delta


@given(st.lists(st.floats(0, 3), min_size=1, max_size=5), DELTA)
def test_the_composition_for_a_delta_guarantees_it(epsilons, delta):
    epsilon = privacy.composition_epsilon(epsilons, delta)
    assert epsilon == 0 or privacy.composition_delta(epsilons, epsilon) <= delta or epsilon >= math.fsum(epsilons)


COUNTS = st.lists(st.integers(1, 1000), min_size=3, max_size=3)


@given(COUNTS, COUNTS, DELTA)
def test_the_epsilon_of_a_channel_guarantees_its_delta(first, second, delta):
    rows = [[Fraction(count, sum(row)) for count in row] for row in (first, second)]
    channel = privacy.Channel(rows)
    assert channel.delta(channel.epsilon(delta)) <= delta
