"""Conversions between definitions of privacy: valid for every channel, and attained by one."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from ldpfast import privacy
from ldpfast.privacy import Channel
from ldpfast.privacy._conversions import least_error, misses
from ldpfast.privacy._conversions._kl import kl_binary

from ..support.cases import each
from ..support.channels import marked_response

EPSILONS = [0.0, 1e-9, 0.1, 0.5, 1.0, 3.0, 20.0]
DELTAS = [0.0, 1e-12, 1e-3, 0.1, 0.5]


def two_random_rows(reports=4):
    """Return random channels with two inputs."""
    weights = st.lists(st.floats(0.01, 1), min_size=reports, max_size=reports).map(lambda w: np.array(w) / sum(w))
    return st.tuples(weights, weights).map(lambda rows: Channel(np.array(rows)))


# Differential privacy -------------------------------------------------------------------------------------------------


@pytest.mark.claim("A channel attains the number of each conversion.", "Composition and audits")
@each("epsilon", EPSILONS)
@each("delta", DELTAS)
def test_marked_randomized_response_attains_the_conversions(epsilon, delta):
    channel = marked_response(epsilon, delta)
    close = {"rel": 1e-9, "abs": 1e-9}
    assert channel.tv() == pytest.approx(privacy.tv_from_dp(epsilon, delta), **close)
    assert 2 * channel.disclosure_risk() == pytest.approx(least_error(epsilon, delta), **close)
    assert privacy.disclosure_risk(epsilon, delta) == pytest.approx(least_error(epsilon, delta) / 2)
    for at in (0.0, epsilon / 3, epsilon, epsilon + 1):
        assert channel.delta(at) == pytest.approx(privacy.delta_from_dp(epsilon, delta, at=at), **close)
    alarms = np.linspace(0, 1, 51)
    np.testing.assert_allclose(channel.misses(alarms), misses(alarms, epsilon, delta), rtol=0, atol=1e-9)
    for mass in (0.01, 0.3):
        level = privacy.conditional_testing_from_dp(epsilon, delta, mass=mass)
        assert channel.conditional_testing(mass) == pytest.approx(level, **close)
    if delta == 0:
        assert channel.kl() == pytest.approx(privacy.kl_from_dp(epsilon), **close)
        assert channel.conditional_testing() == pytest.approx(privacy.conditional_testing_from_dp(epsilon), **close)
    if epsilon <= 3:
        assert privacy.epsilon_for_tv(channel.tv(), delta) == pytest.approx(epsilon, abs=1e-9)


@pytest.mark.claim("The conversions between definitions hold for every channel.", "Composition and audits")
@given(two_random_rows(), st.sampled_from([0.0, 0.01, 0.1]), st.floats(0, 1))
def test_the_conversions_hold_for_random_channels(channel, delta, mass):
    epsilon, slack = channel.epsilon(delta), 1e-12
    assert channel.tv() <= privacy.tv_from_dp(epsilon, delta) + slack
    assert privacy.tv_from_dp(epsilon, delta) <= privacy.tv_from_dp(epsilon, delta, method="paper") + slack
    at = np.linspace(0, 3, 7)
    assert (channel.delta(at) <= privacy.delta_from_dp(epsilon, delta, at=at) + slack).all()
    assert 2 * channel.disclosure_risk() >= least_error(epsilon, delta) - slack
    mass = 0.99 * mass
    assert channel.conditional_testing(mass) <= privacy.conditional_testing_from_dp(epsilon, delta, mass=mass) + 1e-9
    if delta == 0:
        assert channel.kl() <= privacy.kl_from_dp(epsilon) + slack
        assert privacy.kl_from_dp(epsilon) <= privacy.kl_from_dp(epsilon, method="paper")


def test_least_error_is_above_its_tangent():
    epsilon, delta = np.meshgrid(np.linspace(0, 10, 51), np.linspace(0, 0.99, 34))
    assert (least_error(epsilon, delta) >= 1 - epsilon / 2 - delta - 1e-14).all()


@pytest.mark.parametrize("c", [0.0, 0.1, 0.5, 0.9])
def test_the_converse_of_theorem_1_is_attained(c):
    """With ratios R and 1, one of them rare, the inherited parameter tends to (sqrt R - 1) / (sqrt R + 1)."""
    epsilon, delta = privacy.dp_from_conditional_testing(c)
    assert delta == 0
    rare = 1e-7
    channel = Channel(np.array([[rare * math.exp(epsilon), 1 - rare * math.exp(epsilon)], [rare, 1 - rare]]))
    assert channel.conditional_testing() == pytest.approx(c, abs=1e-4)
    assert channel.epsilon() == pytest.approx(epsilon, rel=1e-9)
    assert privacy.dp_from_conditional_testing(c, mass=0.01)[1] == pytest.approx(0.01 * (1 + c) / (1 - c))
    assert privacy.dp_from_conditional_testing(0.99, mass=0.5)[1] == 1


def test_the_published_conditional_testing_level_is_vacuous_at_one_half():
    """The published level is 1.016, limited to 1; the attained value is tanh(1/4)."""
    assert privacy.conditional_testing_from_dp(0.5) == pytest.approx(math.tanh(0.25))
    assert privacy.conditional_testing_from_dp(0.5, method="paper") == 1
    published = (1 + math.exp(-0.4)) * (1 - math.exp(-0.8))
    assert privacy.conditional_testing_from_dp(0.4, method="paper") == pytest.approx(published, rel=1e-12)
    delta = 1e-6
    least = delta / (math.exp(0.2) - math.exp(0.1))
    assert privacy.conditional_testing_from_dp(0.1, delta, mass=1.001 * least, method="paper") < 1
    assert privacy.conditional_testing_from_dp(0.1, delta, mass=0.999 * least, method="paper") == 1


# Kullback-Leibler divergence ------------------------------------------------------------------------------------------


def coin(x, y):
    """Return the channel of two inputs with probabilities x and y of one of two reports."""
    return Channel(np.array([[x, 1 - x], [y, 1 - y]]))


@pytest.mark.long
@given(two_random_rows(), st.floats(0, 3))
def test_kl_bounds_tv_and_delta(channel, epsilon):
    level = channel.kl()
    assert channel.tv() <= privacy.tv_from_kl(level) + 1e-12
    assert channel.delta(epsilon) <= privacy.delta_from_kl(epsilon, kl=level) + 1e-12
    assert privacy.tv_from_kl(level) <= privacy.tv_from_kl(level, method="paper") + 1e-12
    assert level >= privacy.kl_for_tv(channel.tv()) - 1e-12


@pytest.mark.long
@pytest.mark.parametrize("level", [1e-4, 0.01, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_kl_to_delta_is_attained_by_two_coins(level, epsilon):
    """For each x, another root finder gives the y on the boundary; then a search gives the best x."""

    def partner(x):
        return brentq(
            lambda y: coin(x, y).kl() - level, x * math.exp(-min(700.0, (level + 1) / x)) + 1e-300, x, xtol=1e-16
        )

    low, high = 1e-9, 1 - 1e-9
    for _ in range(60):  # ternary search: x - e^epsilon y is concave in x
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if left - math.exp(epsilon) * partner(left) < right - math.exp(epsilon) * partner(right):
            low = left
        else:
            high = right
    witness = coin(low, partner(low))
    assert witness.kl() == pytest.approx(level, rel=1e-6)
    assert witness.delta(epsilon) == pytest.approx(privacy.delta_from_kl(epsilon, kl=level), abs=1e-9)
    if epsilon == 0:
        assert privacy.tv_from_kl(level) == pytest.approx(privacy.delta_from_kl(0.0, kl=level), abs=1e-12)


@each("tv", [1e-9, 0.01, 0.3, 0.7, 0.999])
def test_kl_and_total_variation_of_randomized_response(tv):
    channel = coin((1 + tv) / 2, (1 - tv) / 2)
    assert channel.kl() == pytest.approx(privacy.kl_for_tv(tv), rel=1e-6)
    assert privacy.tv_from_kl(privacy.kl_for_tv(tv)) == pytest.approx(tv, rel=1e-12)
    assert privacy.kl_for_tv(tv) == pytest.approx(privacy.kl_from_dp(privacy.epsilon_for_tv(tv)), rel=1e-12)


def test_kl_in_both_orders_gives_a_smaller_tv():
    """KL(P, Q) <= 1 alone allows a total variation of 0.664; in both orders, as in the definition, it is at most 0.648."""
    y = np.linspace(1e-6, 1, 4001)
    x = np.linspace(1e-6, 1, 4001)[:, None]
    with np.errstate(all="ignore"):
        alone = np.nanmax(np.where(kl_binary(x, y) <= 1, x - y, 0))
    assert alone == pytest.approx(0.664, abs=1e-3)
    assert privacy.tv_from_kl(1.0) == pytest.approx(0.648, abs=1e-3)


@each("level", [0.0, 1e-12, 1e-4, 0.01, 0.3, 1.0, 4.0, 300.0])
def test_epsilon_for_kl_inverts_kl_from_dp(level):
    assert privacy.kl_from_dp(privacy.epsilon_for_kl(level)) == pytest.approx(level, rel=1e-12)
    assert privacy.kl_from_dp(privacy.epsilon_for_kl(level)) <= level * (1 + 1e-15)


def test_conversions_at_the_ends_of_the_ranges():
    assert privacy.tv_from_kl(0.0) == privacy.kl_for_tv(0.0) == 0
    assert privacy.kl_for_tv(1.0) == privacy.epsilon_for_tv(1.0) == math.inf
    assert privacy.tv_from_kl(700.0) == pytest.approx(1)
    assert least_error(800.0) == misses(0.5, 800.0) == 0
    assert misses(0.0, 800.0) == 1
    assert privacy.tv_from_dp(800.0) == privacy.conditional_testing_from_dp(800.0) == 1


def test_total_variation_gives_delta_at_every_epsilon():
    channel = privacy.release_one_at_random(8)
    epsilons = np.array([0.0, 1.0, 30.0])
    assert channel.delta(epsilons).tolist() == privacy.delta_from_tv(epsilons, tv=0.125).tolist() == [0.125] * 3


# All conversions ------------------------------------------------------------------------------------------------------


@each(
    "function, arguments",
    [
        (lambda at, epsilon, delta: privacy.delta_from_dp(epsilon, delta, at=at), (0.5, 1.0, 0.1)),
        (privacy.tv_from_dp, (1.0, 0.1)),
        (privacy.epsilon_for_tv, (0.5, 0.1)),
        (least_error, (1.0, 0.1)),
        (privacy.disclosure_risk, (1.0, 0.1)),
        (misses, (0.1, 1.0, 0.1)),
        (privacy.kl_from_dp, (1.0,)),
        (privacy.epsilon_for_kl, (1.0,)),
        (lambda epsilon, kl: privacy.delta_from_kl(epsilon, kl=kl), (0.5, 1.0)),
        (privacy.tv_from_kl, (1.0,)),
        (privacy.kl_for_tv, (0.5,)),
        (lambda epsilon, tv: privacy.delta_from_tv(epsilon, tv=tv), (0.5, 0.5)),
        (lambda *dp: privacy.conditional_testing_from_dp(*dp[:2], mass=dp[2]), (1.0, 0.1, 0.2)),
        (lambda *of: privacy.gaussian_delta(of[0], sigma=of[1], sensitivity=of[2]), (1.0, 2.0, 0.5)),
        (lambda *of: privacy.gaussian_sigma(*of[:2], sensitivity=of[2]), (1.0, 0.01, 0.5)),
        (lambda sigma, move: privacy.gaussian_kl(sigma, sensitivity=move), (2.0, 0.5)),
        (lambda sigma, move: privacy.gaussian_tv(sigma, sensitivity=move), (2.0, 0.5)),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_arguments_broadcast(function, arguments):
    """A number gives a float. Each entry of an array gives the same value as the number alone."""
    alone = function(*arguments)
    assert type(alone) is float
    for place in range(len(arguments)):
        changed = [np.array([[a], [a * 0.9]]) if i == place else a for i, a in enumerate(arguments)]
        both = function(*changed)
        assert both.shape == (2, 1)
        assert both[0, 0] == pytest.approx(alone, rel=1e-12)
        single = [a * 0.9 if i == place else a for i, a in enumerate(arguments)]
        assert both[1, 0] == pytest.approx(function(*single), rel=1e-12)


def test_pairs_of_conversions_are_consistent():
    """From epsilon to total variation, KL or conditional testing and back never improves the guarantee."""
    for epsilon, delta in itertools.product((0.1, 1.0, 3.0), (0.0, 0.01)):
        tv = privacy.tv_from_dp(epsilon, delta)
        assert privacy.delta_from_tv(epsilon, tv=tv) >= delta
        level = privacy.conditional_testing_from_dp(epsilon, delta, mass=0.2)
        back = privacy.dp_from_conditional_testing(level, mass=0.2)
        assert privacy.delta_from_dp(epsilon, delta, at=back[0]) <= back[1] + 1e-12
        assert privacy.delta_from_kl(epsilon, kl=privacy.kl_from_dp(epsilon)) >= 0


# Bad input ------------------------------------------------------------------------------------------------------------


@each(
    "call, message",
    [
        (lambda: privacy.tv_from_dp(-1), r"^epsilon must be in \[0, inf\), got -1.0$"),
        (lambda: privacy.tv_from_dp(1, 1), r"^delta must be in \[0, 1\), got 1.0$"),
        (lambda: privacy.tv_from_dp([1, math.nan]), r"^epsilon must be in \[0, inf\), got nan$"),
        (lambda: privacy.tv_from_dp(1, method="exact"), r"^method must be one of 'sharp', 'paper', got 'exact'$"),
        (lambda: privacy.kl_from_dp(1, method="exact"), r"^method must be one of "),
        (lambda: privacy.tv_from_kl(1, method="exact"), r"^method must be one of "),
        (lambda: privacy.conditional_testing_from_dp(1, method="exact"), r"^method must be one of "),
        (lambda: privacy.conditional_testing_from_dp(1, 0.1, mass=1.0), r"^mass must be in \[0, 1\), got 1.0$"),
        (lambda: privacy.dp_from_conditional_testing(1.0), r"^level must be in \[0, 1\), got 1.0$"),
        (lambda: privacy.epsilon_for_tv(0.1, 0.2), r"^delta must be at most tv, got 0.2$"),
        (lambda: privacy.kl_for_tv(1.1), r"^tv must be in \[0, 1\], got 1.1$"),
        (lambda: privacy.delta_from_tv(1, tv=1.1), r"^tv must be in \[0, 1\], got 1.1$"),
        (lambda: privacy.epsilon_for_kl(math.inf), r"^kl must be in \[0, inf\), got inf$"),
        (lambda: misses(-0.1, 1), r"^false_alarms must be in \[0, 1\], got -0.1$"),
    ],
)
def test_bad_values(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_bad_types():
    for call in (lambda: privacy.tv_from_dp("1"), lambda: privacy.gaussian_sigma(["1"], 0.1)):
        with pytest.raises(TypeError, match=r"^epsilon must be real numbers"):
            call()
    with pytest.raises(TypeError, match=r"^tv must not be a masked array$"):
        privacy.kl_for_tv(np.ma.masked_array([0.5], [True]))
