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
