"""Conversions, normal noise and composition: true of every channel, and attained by one."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from ldpfast import privacy
from ldpfast.privacy import Channel

EPSILONS = [0.0, 1e-9, 0.1, 0.5, 1.0, 3.0, 20.0]
DELTAS = [0.0, 1e-12, 1e-3, 0.1, 0.5]


def marked_response(epsilon, delta):
    """Randomised response that tells the truth, marked as such, with probability delta: no private pair is worse."""
    truth = (1 - delta) / (1 + math.exp(-epsilon))
    row = [delta, truth, math.exp(-epsilon) * truth, 0.0]
    return Channel(np.array([row, row[::-1]]))


def channels(reports=4):
    """Random pairs of rows."""
    weights = st.lists(st.floats(0.01, 1), min_size=reports, max_size=reports).map(lambda w: np.array(w) / sum(w))
    return st.tuples(weights, weights).map(lambda rows: Channel(np.array(rows)))


# Differential privacy -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", DELTAS)
def test_marked_randomised_response_attains(epsilon, delta):
    channel = marked_response(epsilon, delta)
    close = {"rel": 1e-9, "abs": 1e-9}
    assert channel.tv() == pytest.approx(privacy.tv_from_dp(epsilon, delta), **close)
    assert 2 * channel.disclosure_risk() == pytest.approx(privacy.least_error(epsilon, delta), **close)
    assert privacy.disclosure_risk(epsilon, delta) == pytest.approx(privacy.least_error(epsilon, delta) / 2)
    for at in (0.0, epsilon / 3, epsilon, epsilon + 1):
        assert channel.delta(at) == pytest.approx(privacy.delta_from_dp(at, epsilon, delta), **close)
    alarms = np.linspace(0, 1, 51)
    np.testing.assert_allclose(channel.misses(alarms), privacy.misses(alarms, epsilon, delta), rtol=0, atol=1e-9)
    for mass in (0.01, 0.3):
        level = privacy.conditional_testing_from_dp(epsilon, delta, mass)
        assert channel.conditional_testing(mass) == pytest.approx(level, **close)
    if delta == 0:
        assert channel.kl() == pytest.approx(privacy.kl_from_dp(epsilon), **close)
        assert channel.conditional_testing() == pytest.approx(privacy.conditional_testing_from_dp(epsilon), **close)
    if epsilon <= 3:
        assert privacy.epsilon_for_tv(channel.tv(), delta) == pytest.approx(epsilon, abs=1e-9)


@given(channels(), st.sampled_from([0.0, 0.01, 0.1]), st.floats(0, 1))
def test_every_channel_keeps_what_its_epsilon_promises(channel, delta, mass):
    epsilon, slack = channel.epsilon(delta), 1e-12
    assert channel.tv() <= privacy.tv_from_dp(epsilon, delta) + slack
    assert privacy.tv_from_dp(epsilon, delta) <= privacy.tv_from_dp(epsilon, delta, mode="paper") + slack
    at = np.linspace(0, 3, 7)
    assert (channel.delta(at) <= privacy.delta_from_dp(at, epsilon, delta) + slack).all()
    assert 2 * channel.disclosure_risk() >= privacy.least_error(epsilon, delta) - slack
    mass = 0.99 * mass
    assert channel.conditional_testing(mass) <= privacy.conditional_testing_from_dp(epsilon, delta, mass) + 1e-9
    if delta == 0:
        assert channel.kl() <= privacy.kl_from_dp(epsilon) + slack
        assert privacy.kl_from_dp(epsilon) <= privacy.kl_from_dp(epsilon, mode="paper")


def test_least_error_is_above_the_line():
    epsilon, delta = np.meshgrid(np.linspace(0, 10, 51), np.linspace(0, 0.99, 34))
    assert (privacy.least_error(epsilon, delta) >= 1 - epsilon / 2 - delta - 1e-15).all()


@pytest.mark.parametrize("c", [0.0, 0.1, 0.5, 0.9])
def test_the_converse_of_theorem_1_is_attained(c):
    """Ratios R and 1, one rare: epsilon is log R in the limit, the inherited level (sqrt R - 1) / (sqrt R + 1)."""
    epsilon, delta = privacy.dp_from_conditional_testing(c)
    assert delta == 0
    rare = 1e-7
    channel = Channel(np.array([[rare * math.exp(epsilon), 1 - rare * math.exp(epsilon)], [rare, 1 - rare]]))
    assert channel.conditional_testing() == pytest.approx(c, abs=1e-4)
    assert channel.epsilon() == pytest.approx(epsilon, rel=1e-9)
    assert privacy.dp_from_conditional_testing(c, 0.01)[1] == pytest.approx(0.01 * (1 + c) / (1 - c))
    assert privacy.dp_from_conditional_testing(0.99, 0.5)[1] == 1


def test_published_conditional_testing_level_says_nothing_at_one_half():
    """1.016, cut to 1, where tanh(1/4) is true."""
    assert privacy.conditional_testing_from_dp(0.5) == pytest.approx(math.tanh(0.25))
    assert privacy.conditional_testing_from_dp(0.5, mode="paper") == 1
    assert (1 + math.exp(-0.5)) * (1 - math.exp(-1)) == pytest.approx(1.016, abs=1e-3)
    delta = 1e-6
    least = delta / (math.exp(0.2) - math.exp(0.1))
    assert privacy.conditional_testing_from_dp(0.1, delta, 1.001 * least, mode="paper") < 1
    assert privacy.conditional_testing_from_dp(0.1, delta, 0.999 * least, mode="paper") == 1


# Kullback-Leibler divergence ------------------------------------------------------------------------------------------


def coins(x, y):
    return Channel(np.array([[x, 1 - x], [y, 1 - y]]))


@given(channels(), st.floats(0, 3))
def test_kl_bounds_what_it_should(channel, epsilon):
    level = channel.kl()
    assert channel.tv() <= privacy.tv_from_kl(level) + 1e-12
    assert channel.delta(epsilon) <= privacy.delta_from_kl(epsilon, level) + 1e-12
    assert privacy.tv_from_kl(level) <= privacy.tv_from_kl(level, mode="paper") + 1e-12
    assert level >= privacy.kl_for_tv(channel.tv()) - 1e-12


@pytest.mark.parametrize("level", [1e-4, 0.01, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_kl_to_delta_is_attained_by_two_coins(level, epsilon):
    """For each x the y on the border, by another root finder; then the best x. The channel of the two coins is the witness."""

    def partner(x):
        return brentq(
            lambda y: coins(x, y).kl() - level, x * math.exp(-min(700.0, (level + 1) / x)) + 1e-300, x, xtol=1e-16
        )

    low, high = 1e-9, 1 - 1e-9
    for _ in range(60):  # by thirds: x - e^epsilon y is concave in x
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if left - math.exp(epsilon) * partner(left) < right - math.exp(epsilon) * partner(right):
            low = left
        else:
            high = right
    witness = coins(low, partner(low))
    assert witness.kl() == pytest.approx(level, rel=1e-6)
    assert witness.delta(epsilon) == pytest.approx(privacy.delta_from_kl(epsilon, level), abs=1e-9)
    if epsilon == 0:
        assert privacy.tv_from_kl(level) == pytest.approx(privacy.delta_from_kl(0.0, level), abs=1e-12)


@pytest.mark.parametrize("tv", [1e-9, 0.01, 0.3, 0.7, 0.999])
def test_kl_and_total_variation_of_randomised_response(tv):
    channel = coins((1 + tv) / 2, (1 - tv) / 2)
    assert channel.kl() == pytest.approx(privacy.kl_for_tv(tv), rel=1e-6)
    assert privacy.tv_from_kl(privacy.kl_for_tv(tv)) == pytest.approx(tv, rel=1e-12)
    assert privacy.kl_for_tv(tv) == pytest.approx(privacy.kl_from_dp(privacy.epsilon_for_tv(tv)), rel=1e-12)


def test_both_orders_of_kl_say_more_than_one():
    """KL(P, Q) <= 1 alone allows a total variation of 0.664; in both orders, as the definition says, it is at most 0.648."""
    y = np.linspace(1e-6, 1, 4001)
    x = np.linspace(1e-6, 1, 4001)[:, None]
    with np.errstate(all="ignore"):
        alone = np.nanmax(np.where(privacy._conversions.kl_binary(x, y) <= 1, x - y, 0))
    assert alone == pytest.approx(0.664, abs=1e-3)
    assert privacy.tv_from_kl(1.0) == pytest.approx(0.648, abs=1e-3)


@pytest.mark.parametrize("level", [0.0, 1e-12, 1e-4, 0.01, 0.3, 1.0, 4.0, 300.0])
def test_epsilon_for_kl_is_the_inverse(level):
    assert privacy.kl_from_dp(privacy.epsilon_for_kl(level)) == pytest.approx(level, rel=1e-12)
    assert privacy.kl_from_dp(privacy.epsilon_for_kl(level)) <= level * (1 + 1e-15)


def test_ends_of_the_scales():
    assert privacy.tv_from_kl(0.0) == privacy.kl_for_tv(0.0) == 0
    assert privacy.kl_for_tv(1.0) == privacy.epsilon_for_tv(1.0) == math.inf
    assert privacy.tv_from_kl(700.0) == pytest.approx(1)
    assert privacy.least_error(800.0) == privacy.misses(0.5, 800.0) == 0
    assert privacy.misses(0.0, 800.0) == 1
    assert privacy.tv_from_dp(800.0) == privacy.conditional_testing_from_dp(800.0) == 1


def test_total_variation_gives_delta_at_every_epsilon():
    channel = privacy.release_one_at_random(8)
    epsilons = np.array([0.0, 1.0, 30.0])
    assert channel.delta(epsilons).tolist() == privacy.delta_from_tv(epsilons, 0.125).tolist() == [0.125] * 3


@pytest.mark.parametrize(
    "function, arguments",
    [
        (privacy.delta_from_dp, (0.5, 1.0, 0.1)),
        (privacy.tv_from_dp, (1.0, 0.1)),
        (privacy.epsilon_for_tv, (0.5, 0.1)),
        (privacy.least_error, (1.0, 0.1)),
        (privacy.disclosure_risk, (1.0, 0.1)),
        (privacy.misses, (0.1, 1.0, 0.1)),
        (privacy.kl_from_dp, (1.0,)),
        (privacy.epsilon_for_kl, (1.0,)),
        (privacy.delta_from_kl, (0.5, 1.0)),
        (privacy.tv_from_kl, (1.0,)),
        (privacy.kl_for_tv, (0.5,)),
        (privacy.delta_from_tv, (0.5, 0.5)),
        (privacy.conditional_testing_from_dp, (1.0, 0.1, 0.2)),
        (privacy.gaussian_delta, (1.0, 2.0, 0.5)),
        (privacy.gaussian_sigma, (1.0, 0.01, 0.5)),
        (privacy.gaussian_kl, (2.0, 0.5)),
        (privacy.gaussian_tv, (2.0, 0.5)),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_arguments_broadcast(function, arguments):
    """A number gives a float; in an array of arguments every entry gives what it gives alone."""
    alone = function(*arguments)
    assert type(alone) is float
    for place in range(len(arguments)):
        changed = [np.array([[a], [a * 0.9]]) if i == place else a for i, a in enumerate(arguments)]
        both = function(*changed)
        assert both.shape == (2, 1)
        assert both[0, 0] == pytest.approx(alone, rel=1e-12)
        single = [a * 0.9 if i == place else a for i, a in enumerate(arguments)]
        assert both[1, 0] == pytest.approx(function(*single), rel=1e-12)


# Normal noise ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "epsilon, delta, sigma",
    [
        (1.0, 1e-5, 3.730632),
        (0.1, 1e-5, 30.749566),
        (0.5, 1e-5, 7.031827),
        (1.0, 1e-6, 4.224679),
        (2.0, 1e-5, 1.993812),
        (10.0, 1e-6, 0.541087),
    ],
)
def test_calibration_of_normal_noise_to_known_values(epsilon, delta, sigma):
    assert privacy.gaussian_sigma(epsilon, delta) == pytest.approx(sigma, abs=5.1e-7)
    assert privacy.gaussian_sigma(epsilon, delta, 3.0) == pytest.approx(3 * sigma, abs=1.6e-6)


def normal_tail(x):
    """P(Z > x) by the series of the normal integral, in decimals of the context."""
    pi = Decimal(
        "3.1415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253421170680"
    )
    term = total = x
    k = 0
    while abs(term) > Decimal(10) ** -95 or k < 5:
        k += 1
        term *= x * x / (2 * k + 1)
        total += term
    return Decimal("0.5") - (-x * x / 2).exp() * total / (2 * pi).sqrt()


@pytest.mark.parametrize("epsilon", [0.0, 0.01, 1.0, 5.0])
@pytest.mark.parametrize("sigma", [0.3, 1.0, 4.0, 20.0])
def test_delta_of_normal_noise_in_decimals(epsilon, sigma):
    """In 100 digits, at deltas down to 1e-40: relative error 1e-11."""
    with localcontext() as context:
        context.prec = 100
        s, e = Decimal(sigma), Decimal(epsilon)
        exact = normal_tail(e * s - 1 / (2 * s)) - e.exp() * normal_tail(e * s + 1 / (2 * s))
        if exact > Decimal("1e-60"):
            assert privacy.gaussian_delta(epsilon, sigma) == pytest.approx(float(exact), rel=1e-11)
        else:
            assert privacy.gaussian_delta(epsilon, sigma) <= 1e-60


@given(st.floats(0, 20), st.floats(1e-15, 0.9), st.floats(1e-3, 1e3))
def test_the_least_sigma_is_enough_and_hardly_less_is_not(epsilon, delta, sensitivity):
    sigma = privacy.gaussian_sigma(epsilon, delta, sensitivity)
    assert privacy.gaussian_delta(epsilon, sigma, sensitivity) <= delta * (1 + 1e-9)
    assert privacy.gaussian_delta(epsilon, sigma * (1 - 1e-6), sensitivity) > delta
    if epsilon > 0.01:
        log = math.log(1 / delta)
        assert sigma / sensitivity <= (math.sqrt(log + epsilon) + math.sqrt(log)) / (math.sqrt(2) * epsilon)


@pytest.mark.parametrize("tv", [1e-6, 0.1, 0.5, 0.99])
def test_total_variation_and_kl_of_normal_noise(tv):
    sigma = privacy.gaussian_sigma(0.0, tv)
    assert privacy.gaussian_tv(sigma) == pytest.approx(tv, rel=1e-9)
    assert privacy.gaussian_tv(sigma) == pytest.approx(privacy.gaussian_delta(0.0, sigma), rel=1e-9)
    assert privacy.gaussian_tv(sigma) <= privacy.tv_from_kl(privacy.gaussian_kl(sigma)) + 1e-12


def binned(cdf, shift, edges):
    """A channel of noise, in bins."""
    rows = [np.diff([0.0, *cdf(edges - s), 1.0]) for s in (0.0, shift)]
    return Channel(np.maximum(rows, 0) / np.maximum(rows, 0).sum(axis=1, keepdims=True))


def test_binned_normal_noise_never_exceeds_and_nearly_attains():
    from scipy.special import ndtr

    channel = binned(ndtr, 1.0, np.linspace(-6, 7, 2601))
    for epsilon in (0.0, 0.5, 1.0, 2.0):
        assert channel.delta(epsilon) == pytest.approx(privacy.gaussian_delta(epsilon, 1.0), abs=1e-5)
        assert channel.delta(epsilon) <= privacy.gaussian_delta(epsilon, 1.0) + 1e-12
    assert channel.kl() == pytest.approx(privacy.gaussian_kl(1.0), rel=1e-4)


@pytest.mark.parametrize("asked, true", [(1e-3, 0.0106), (1e-6, 8.3e-4), (1e-9, 8.8e-5)])
def test_a_8_the_published_normal_noise_is_too_small(asked, true):
    """Variance 2 T^2 log(1/delta) / (n epsilon)^2 at sensitivity 2 T / n: sigma is sqrt(log(1/delta) / 2) / epsilon such."""
    published = math.sqrt(math.log(1 / asked) / 2)
    assert privacy.gaussian_delta(1.0, published) == pytest.approx(true, rel=0.01)
    assert privacy.gaussian_delta(1.0, published) > 10 * asked
    assert privacy.gaussian_sigma(1.0, asked) > published


def test_a_9_the_variance_of_the_appendix_has_twice_the_level():
    """T^2 / (n^2 b), at sensitivity 2 T / n, has the divergence 2 b; 2 T^2 / (n^2 b) has b."""
    n, t, b = 1000, 2.0, 0.05
    assert privacy.gaussian_kl(math.sqrt(t**2 / (n**2 * b)), 2 * t / n) == pytest.approx(2 * b)
    assert privacy.gaussian_kl(math.sqrt(2 * t**2 / (n**2 * b)), 2 * t / n) == pytest.approx(b)


@pytest.mark.parametrize("rate, level", [(1.0, 2.0), (0.5, 1.0)])
def test_a_10_the_laplace_rate_of_the_appendix_has_twice_the_level(rate, level):
    """In one dimension with epsilon, T and n all 1: rate 1, at sensitivity 2, is 2-private; rate 1/2 is 1-private."""

    def cdf(w):
        return np.where(w < 0, np.exp(rate * np.minimum(w, 0)) / 2, 1 - np.exp(-rate * np.maximum(w, 0)) / 2)

    channel = binned(cdf, 2.0, np.linspace(-8, 10, 181))
    assert channel.epsilon() == pytest.approx(level, rel=1e-6)


def test_normal_noise_against_dp_accounting():
    """Its own analytic calibration and its own delta, where it is installed."""
    losses = pytest.importorskip("dp_accounting.pld.privacy_loss_mechanism")
    common = pytest.importorskip("dp_accounting.pld.common")
    for epsilon, delta in ((0.1, 1e-5), (0.5, 1e-5), (1.0, 1e-6), (2.0, 1e-3), (10.0, 1e-6)):
        theirs = losses.GaussianPrivacyLoss.from_privacy_guarantee(
            common.DifferentialPrivacyParameters(epsilon, delta), sensitivity=2.0
        )
        assert privacy.gaussian_sigma(epsilon, delta, 2.0) == pytest.approx(theirs.standard_deviation, rel=1e-5)
        assert theirs.get_delta_for_epsilon(epsilon / 2) == pytest.approx(
            privacy.gaussian_delta(epsilon / 2, theirs.standard_deviation, 2.0), rel=1e-9
        )


def test_composition_against_dp_accounting():
    """Rounds of randomised response by its discretised loss distributions, rounded up."""
    distribution = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    common = pytest.importorskip("dp_accounting.pld.common")
    one = distribution.from_privacy_parameters(
        common.DifferentialPrivacyParameters(0.1, 0.0), value_discretization_interval=1e-4
    )
    theirs = one.self_compose(50)
    for epsilon in (0.5, 1.0, 2.0):
        ours = privacy.composition_delta([0.1] * 50, epsilon)
        assert ours == pytest.approx(theirs.get_delta_for_epsilon(epsilon), rel=1e-2)
        assert ours <= theirs.get_delta_for_epsilon(epsilon) * (1 + 1e-9)


def test_normal_noise_against_opendp():
    """What its privacy map says of the same noise, where it is installed."""
    opendp = pytest.importorskip("opendp.prelude")
    opendp.enable_features("contrib")
    space = opendp.vector_domain(opendp.atom_domain(T=float, nan=False)), opendp.l2_distance(T=float)
    for epsilon, delta in ((0.5, 1e-5), (1.0, 1e-6), (2.0, 1e-3)):
        sigma = privacy.gaussian_sigma(epsilon, delta)
        measurement = opendp.m.make_gaussian(*space, scale=sigma)
        theirs = opendp.c.make_zCDP_to_approxDP(measurement).map(1.0)
        assert theirs.epsilon(delta) >= epsilon  # by way of concentrated privacy: never better than exact
        assert theirs.epsilon(delta) <= 1.5 * epsilon


# Composition ----------------------------------------------------------------------------------------------------------


@given(st.lists(st.floats(0, 2), min_size=1, max_size=6), st.floats(0, 4))
def test_composition_is_that_of_the_product_of_randomised_responses(epsilons, epsilon):
    joint = Channel([[1], [1]])
    for e in epsilons:
        joint = joint.product(marked_response(e, 0.0).then([[1, 0], [1, 0], [0, 1], [0, 1]]))
    assert privacy.composition_delta(epsilons, epsilon) == pytest.approx(joint.delta(epsilon), rel=1e-9, abs=1e-12)
    for delta in (1e-6, 0.01, 0.3):
        assert privacy.composition_epsilon(epsilons, delta) == pytest.approx(joint.epsilon(delta), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("k", [1, 2, 7, 30])
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 2.0])
def test_composition_of_equal_rounds_is_the_published_formula(k, epsilon):
    """Kairouz, Oh and Viswanath: at (k - 2 i) epsilon, delta is a sum over l < i of binomials times
    (e^((k - l) epsilon) - e^((k - 2 i + l) epsilon)) / (1 + e^epsilon)^k."""
    with localcontext() as context:
        context.prec = 60
        e = Decimal(epsilon).exp()
        for i in range(k // 2 + 1):
            terms = (math.comb(k, j) * (e ** (k - j) - e ** (k - 2 * i + j)) for j in range(i))
            published = float(sum(terms, Decimal(0)) / (1 + e) ** k)
            ours = privacy.composition_delta([epsilon] * k, (k - 2 * i) * epsilon)
            assert ours == pytest.approx(published, rel=1e-9, abs=1e-15)


def test_composition_with_deltas():
    """Marked truths: the product of the channels is exactly as bad as the formula says."""
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
    assert privacy.composition_delta([0.3, 0.4], [0.7, 0.71, 800.0]).tolist() == pytest.approx([0.0] * 3, abs=1e-16)
    assert privacy.composition_delta([0.0, 0.0], 0.0) == 0
    assert privacy.composition_epsilon([0.0], 0.5) == 0


def test_rounds_whose_sums_coincide():
    """30 different epsilons, 466 sums instead of 2^30; one by one by the recursion over the probabilities of the sums."""
    epsilons = np.arange(1, 31) / 64
    law = {0: 1.0}
    for j, e in enumerate(epsilons, 1):
        truth, after = 1 / (1 + math.exp(-e)), {}
        for total, chance in law.items():
            after[total + j] = after.get(total + j, 0.0) + chance * truth
            after[total - j] = after.get(total - j, 0.0) + chance * (1 - truth)
        law = after
    assert len(law) == 466
    for epsilon in (0.0, 1.0, 4.0):
        expected = sum(c * -math.expm1(epsilon - t / 64) for t, c in law.items() if t / 64 > epsilon)
        assert privacy.composition_delta(epsilons, epsilon) == pytest.approx(expected, rel=1e-9)


def test_many_rounds_keep_their_digits():
    """10,000 rounds: Markov's inequality and the normal limit say where delta is."""
    delta = privacy.composition_delta([0.01] * 10_000, [0.0, 1.0, 5.0])
    sigma = 1 / (0.01 * math.sqrt(10_000))
    np.testing.assert_allclose(delta, privacy.gaussian_delta([0.0, 1.0, 5.0], sigma), rtol=0.01)


# Bad input ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: privacy.tv_from_dp(-1), r"^epsilon must be in \[0, inf\), got -1.0$"),
        (lambda: privacy.tv_from_dp(1, 1), r"^delta must be in \[0, 1\), got 1.0$"),
        (lambda: privacy.tv_from_dp([1, math.nan]), r"^epsilon must be in \[0, inf\), got nan$"),
        (lambda: privacy.tv_from_dp(1, mode="exact"), r"^mode must be one of 'sharp', 'paper', got 'exact'$"),
        (lambda: privacy.kl_from_dp(1, mode="exact"), r"^mode must be one of "),
        (lambda: privacy.tv_from_kl(1, mode="exact"), r"^mode must be one of "),
        (lambda: privacy.conditional_testing_from_dp(1, mode="exact"), r"^mode must be one of "),
        (lambda: privacy.conditional_testing_from_dp(1, 0.1, 1.0), r"^mass must be in \[0, 1\), got 1.0$"),
        (lambda: privacy.dp_from_conditional_testing(1.0), r"^level must be in \[0, 1\), got 1.0$"),
        (lambda: privacy.epsilon_for_tv(0.1, 0.2), r"^delta must be at most tv, got 0.2$"),
        (lambda: privacy.kl_for_tv(1.1), r"^tv must be in \[0, 1\], got 1.1$"),
        (lambda: privacy.delta_from_tv(1, 1.1), r"^tv must be in \[0, 1\], got 1.1$"),
        (lambda: privacy.epsilon_for_kl(math.inf), r"^kl must be in \[0, inf\), got inf$"),
        (lambda: privacy.misses(-0.1, 1), r"^false_alarms must be in \[0, 1\], got -0.1$"),
        (lambda: privacy.gaussian_sigma(1, 0), r"^delta must be in \(0, 1\), got 0.0$"),
        (lambda: privacy.gaussian_sigma(1, 1), r"^delta must be in \(0, 1\), got 1.0$"),
        (lambda: privacy.gaussian_sigma(1, 0.1, 0), r"^sensitivity must be in \(0, inf\), got 0.0$"),
        (lambda: privacy.gaussian_delta(1, 0), r"^sigma must be in \(0, inf\), got 0.0$"),
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
            r"^delta must be at least 0.19, what the rounds have together, got 0.1$",
        ),
    ],
)
def test_bad_values(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_bad_kinds():
    for call in (lambda: privacy.tv_from_dp("1"), lambda: privacy.gaussian_sigma([None], 0.1)):
        with pytest.raises(TypeError, match=r"^epsilon must be real numbers"):
            call()
    with pytest.raises(TypeError, match=r"^tv must not be a masked array$"):
        privacy.kl_for_tv(np.ma.masked_array([0.5], [True]))


def test_pairs_of_conversions_are_consistent():
    """Going round never gains: from epsilon by total variation, or by KL, or by conditional testing, and back."""
    for epsilon, delta in itertools.product((0.1, 1.0, 3.0), (0.0, 0.01)):
        tv = privacy.tv_from_dp(epsilon, delta)
        assert privacy.delta_from_tv(epsilon, tv) >= delta
        level = privacy.conditional_testing_from_dp(epsilon, delta, 0.2)
        back = privacy.dp_from_conditional_testing(level, 0.2)
        assert privacy.delta_from_dp(back[0], epsilon, delta) <= back[1] + 1e-12
        assert privacy.delta_from_kl(epsilon, privacy.kl_from_dp(epsilon)) >= 0


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.1, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("delta", [1e-300, 1e-12, 1e-6, 1e-2, 0.5])
def test_the_rho_that_is_allowed_gives_the_delta(epsilon, delta):
    """Just: a little more does not. And normal noise with it has at most this delta, exactly."""
    rho = privacy.concentrated_rho(epsilon, delta)
    assert delta * (1 - 1e-6) <= privacy.concentrated_delta(epsilon, rho) <= delta
    assert privacy.concentrated_delta(epsilon, rho * (1 + 1e-6)) > delta
    assert privacy.gaussian_delta(epsilon, 1.0, math.sqrt(2 * rho)) <= delta


def test_concentrated_privacy_broadcasts_and_is_at_most_one():
    assert privacy.concentrated_delta([[0.5], [1.0]], [0.1, 0.2, 1e6]).shape == (2, 3)
    assert privacy.concentrated_delta(0.5, 1e6) == 1.0
    assert privacy.concentrated_rho([0.5, 1.0], 1e-6).shape == (2,)
    for arguments in ((0.0, 1e-6), (1.0, 0.0), (1.0, 1.0), (-1.0, 0.5)):
        with pytest.raises(ValueError, match=r"^(epsilon|delta) must be "):
            privacy.concentrated_rho(*arguments)


def test_a_group_keeps_the_exact_delta():
    """Rounded up, where e^(size epsilon) is large too."""
    with localcontext(prec=60):
        for size, epsilon in ((3, 0.5), (300, 0.97), (270, 1.01), (41, 7.3)):
            one = Decimal(epsilon).exp()
            exact = Decimal.from_float(1e-300) * (one**size - 1) / (one - 1)
            found = privacy.group(privacy.Guarantee("approximate", epsilon, 1e-300), size).delta
            assert exact <= Decimal(found) <= exact * (1 + Decimal("1e-15"))
