"""Conversions between definitions of privacy: valid for every channel, and attained by one."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special
from scipy.optimize import brentq

from ldpfast import privacy
from ldpfast.privacy import Channel
from ldpfast.privacy._conversions._convert import FORWARD, INVERSE

from ..support.cases import each
from ..support.channels import marked_response
from ..support.internals.privacy import least_error, misses

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
    assert channel.tv() == pytest.approx(privacy.convert("approximate", "tv", epsilon, delta=delta), **close)
    assert 2 * channel.disclosure_risk() == pytest.approx(least_error(epsilon, delta), **close)
    assert privacy.disclosure_risk(epsilon, delta) == pytest.approx(least_error(epsilon, delta) / 2)
    for at in (0.0, epsilon / 3, epsilon, epsilon + 1):
        assert channel.delta(at) == pytest.approx(
            privacy.convert("approximate", "approximate", epsilon, delta=delta, at=at), **close
        )
    alarms = np.linspace(0, 1, 51)
    np.testing.assert_allclose(channel.misses(alarms), misses(alarms, epsilon, delta), rtol=0, atol=1e-9)
    for mass in (0.01, 0.3):
        level = privacy.convert("approximate", "conditional-testing", epsilon, delta=delta, mass=mass)
        assert channel.conditional_testing(mass) == pytest.approx(level, **close)
    if delta == 0:
        assert channel.kl() == pytest.approx(privacy.convert("pure", "kl", epsilon), **close)
        assert channel.conditional_testing() == pytest.approx(
            privacy.convert("pure", "conditional-testing", epsilon), **close
        )
    if epsilon <= 3:
        assert privacy.convert("approximate", "tv", channel.tv(), delta=delta, inverse=True) == pytest.approx(
            epsilon, abs=1e-9
        )


@pytest.mark.claim("The conversions between definitions hold for every channel.", "Composition and audits")
@given(two_random_rows(), st.sampled_from([0.0, 0.01, 0.1]), st.floats(0, 1))
def test_the_conversions_hold_for_random_channels(channel, delta, mass):
    epsilon, slack = channel.epsilon(delta), 1e-12
    assert channel.tv() <= privacy.convert("approximate", "tv", epsilon, delta=delta) + slack
    assert (
        privacy.convert("approximate", "tv", epsilon, delta=delta)
        <= privacy.convert("approximate", "tv", epsilon, delta=delta, method="paper") + slack
    )
    at = np.linspace(0, 3, 7)
    assert (
        channel.delta(at) <= privacy.convert("approximate", "approximate", epsilon, delta=delta, at=at) + slack
    ).all()
    assert 2 * channel.disclosure_risk() >= least_error(epsilon, delta) - slack
    mass = 0.99 * mass
    assert (
        channel.conditional_testing(mass)
        <= privacy.convert("approximate", "conditional-testing", epsilon, delta=delta, mass=mass) + 1e-9
    )
    if delta == 0:
        assert channel.kl() <= privacy.convert("pure", "kl", epsilon) + slack
        assert privacy.convert("pure", "kl", epsilon) <= privacy.convert("pure", "kl", epsilon, method="paper")


def test_least_error_is_above_its_tangent():
    epsilon, delta = np.meshgrid(np.linspace(0, 10, 51), np.linspace(0, 0.99, 34))
    assert (least_error(epsilon, delta) >= 1 - epsilon / 2 - delta - 1e-14).all()


@pytest.mark.parametrize("c", [0.0, 0.1, 0.5, 0.9])
def test_the_converse_of_theorem_1_is_attained(c):
    """With ratios R and 1, one of them rare, the inherited parameter tends to (sqrt R - 1) / (sqrt R + 1)."""
    epsilon = privacy.convert("conditional-testing", "pure", c)
    assert privacy.convert("conditional-testing", "approximate", c, at=epsilon) == 0
    rare = 1e-7
    channel = Channel(np.array([[rare * math.exp(epsilon), 1 - rare * math.exp(epsilon)], [rare, 1 - rare]]))
    assert channel.conditional_testing() == pytest.approx(c, abs=1e-4)
    assert channel.epsilon() == pytest.approx(epsilon, rel=1e-9)
    delta = 0.01 * (1 + c) / (1 - c)
    for at in (epsilon, epsilon + 1):
        assert privacy.convert("conditional-testing", "approximate", c, mass=0.01, at=at) == pytest.approx(delta)
    below = privacy.convert("approximate", "approximate", epsilon, delta=delta, at=epsilon / 2)
    assert privacy.convert("conditional-testing", "approximate", c, mass=0.01, at=epsilon / 2) == pytest.approx(below)
    assert privacy.convert("conditional-testing", "approximate", 0.99, mass=0.5, at=[0.0, 99.0]).tolist() == [1, 1]


def test_the_published_conditional_testing_level_is_vacuous_at_one_half():
    """The published level is 1.016, limited to 1; the attained value is tanh(1/4)."""
    assert privacy.convert("pure", "conditional-testing", 0.5) == pytest.approx(math.tanh(0.25))
    assert privacy.convert("pure", "conditional-testing", 0.5, method="paper") == 1
    published = (1 + math.exp(-0.4)) * (1 - math.exp(-0.8))
    assert privacy.convert("pure", "conditional-testing", 0.4, method="paper") == pytest.approx(published, rel=1e-12)
    delta = 1e-6
    least = delta / (math.exp(0.2) - math.exp(0.1))
    assert (
        privacy.convert("approximate", "conditional-testing", 0.1, delta=delta, mass=1.001 * least, method="paper") < 1
    )
    assert (
        privacy.convert("approximate", "conditional-testing", 0.1, delta=delta, mass=0.999 * least, method="paper") == 1
    )


# Kullback-Leibler divergence ------------------------------------------------------------------------------------------


def coin(x, y):
    """Return the channel of two inputs with probabilities x and y of one of two reports."""
    return Channel(np.array([[x, 1 - x], [y, 1 - y]]))


@pytest.mark.long
@given(two_random_rows(), st.floats(0, 3))
def test_kl_bounds_tv_and_delta(channel, epsilon):
    level = channel.kl()
    assert channel.tv() <= privacy.convert("kl", "tv", level) + 1e-12
    assert channel.delta(epsilon) <= privacy.convert("kl", "approximate", level, at=epsilon) + 1e-12
    assert privacy.convert("kl", "tv", level) <= privacy.convert("kl", "tv", level, method="paper") + 1e-12
    assert level >= privacy.convert("kl", "tv", channel.tv(), inverse=True) - 1e-12


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
    assert witness.delta(epsilon) == pytest.approx(privacy.convert("kl", "approximate", level, at=epsilon), abs=1e-9)
    if epsilon == 0:
        assert privacy.convert("kl", "tv", level) == pytest.approx(
            privacy.convert("kl", "approximate", level, at=0.0), abs=1e-12
        )


@each("tv", [1e-9, 0.01, 0.3, 0.7, 0.999])
def test_kl_and_total_variation_of_randomized_response(tv):
    channel = coin((1 + tv) / 2, (1 - tv) / 2)
    assert channel.kl() == pytest.approx(privacy.convert("kl", "tv", tv, inverse=True), rel=1e-6)
    assert privacy.convert("kl", "tv", privacy.convert("kl", "tv", tv, inverse=True)) == pytest.approx(tv, rel=1e-12)
    assert privacy.convert("kl", "tv", tv, inverse=True) == pytest.approx(
        privacy.convert("pure", "kl", privacy.convert("pure", "tv", tv, inverse=True)), rel=1e-12
    )


def test_kl_in_both_orders_gives_a_smaller_tv():
    """KL(P, Q) <= 1 alone allows a total variation of 0.664; in both orders, as in the definition, it is at most 0.648."""
    y = np.linspace(1e-6, 1, 4001)
    x = np.linspace(1e-6, 1, 4001)[:, None]
    kl = special.rel_entr(x, y) + special.rel_entr(1 - x, 1 - y)
    alone = np.max(np.where(kl <= 1, x - y, 0))
    assert alone == pytest.approx(0.664, abs=1e-3)
    assert privacy.convert("kl", "tv", 1.0) == pytest.approx(0.648, abs=1e-3)


@each("level", [0.0, 1e-12, 1e-4, 0.01, 0.3, 1.0, 4.0, 300.0])
def test_epsilon_for_kl_inverts_kl_from_dp(level):
    assert privacy.convert("pure", "kl", privacy.convert("pure", "kl", level, inverse=True)) == pytest.approx(
        level, rel=1e-12
    )
    assert privacy.convert("pure", "kl", privacy.convert("pure", "kl", level, inverse=True)) <= level * (1 + 1e-15)


def test_conversions_at_the_ends_of_the_ranges():
    assert privacy.convert("kl", "tv", 0.0) == privacy.convert("kl", "tv", 0.0, inverse=True) == 0
    assert (
        privacy.convert("kl", "tv", 1.0, inverse=True) == privacy.convert("pure", "tv", 1.0, inverse=True) == math.inf
    )
    assert privacy.convert("kl", "tv", 700.0) == pytest.approx(1)
    assert least_error(800.0) == misses(0.5, 800.0) == 0
    assert misses(0.0, 800.0) == 1
    assert privacy.convert("pure", "tv", 800.0) == privacy.convert("pure", "conditional-testing", 800.0) == 1


def test_total_variation_gives_delta_at_every_epsilon():
    channel = privacy.release_one_at_random(8)
    epsilons = np.array([0.0, 1.0, 30.0])
    assert (
        channel.delta(epsilons).tolist()
        == privacy.convert("tv", "approximate", 0.125, at=epsilons).tolist()
        == [0.125] * 3
    )


# All conversions ------------------------------------------------------------------------------------------------------


@each(
    "function, arguments",
    [
        (
            lambda at, epsilon, delta: privacy.convert("approximate", "approximate", epsilon, delta=delta, at=at),
            (0.5, 1.0, 0.1),
        ),
        (lambda epsilon, delta: privacy.convert("approximate", "tv", epsilon, delta=delta), (1.0, 0.1)),
        (lambda tv, delta: privacy.convert("approximate", "tv", tv, delta=delta, inverse=True), (0.5, 0.1)),
        (least_error, (1.0, 0.1)),
        (privacy.disclosure_risk, (1.0, 0.1)),
        (misses, (0.1, 1.0, 0.1)),
        (lambda epsilon: privacy.convert("pure", "kl", epsilon), (1.0,)),
        (lambda kl: privacy.convert("pure", "kl", kl, inverse=True), (1.0,)),
        (lambda epsilon, kl: privacy.convert("kl", "approximate", kl, at=epsilon), (0.5, 1.0)),
        (lambda kl: privacy.convert("kl", "tv", kl), (1.0,)),
        (lambda tv: privacy.convert("kl", "tv", tv, inverse=True), (0.5,)),
        (lambda epsilon, tv: privacy.convert("tv", "approximate", tv, at=epsilon), (0.5, 0.5)),
        (
            lambda *dp: privacy.convert("approximate", "conditional-testing", dp[0], delta=dp[1], mass=dp[2]),
            (1.0, 0.1, 0.2),
        ),
        (lambda level: privacy.convert("conditional-testing", "pure", level), (0.5,)),
        (
            lambda level, mass, at: privacy.convert("conditional-testing", "approximate", level, mass=mass, at=at),
            (0.5, 0.1, 2.0),
        ),
        (lambda rho, at: privacy.convert("concentrated", "approximate", rho, at=at), (0.1, 1.0)),
        (lambda delta, at: privacy.convert("concentrated", "approximate", delta, at=at, inverse=True), (0.1, 1.0)),
        (lambda *of: privacy.gaussian_delta(of[0], sigma=of[1], sensitivity=of[2]), (1.0, 2.0, 0.5)),
        (lambda *of: privacy.gaussian_sigma(*of[:2], sensitivity=of[2]), (1.0, 0.01, 0.5)),
        (lambda sigma, move: privacy.convert("gaussian", "kl", sigma, sensitivity=move), (2.0, 0.5)),
        (lambda sigma, move: privacy.convert("gaussian", "tv", sigma, sensitivity=move), (2.0, 0.5)),
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
        tv = privacy.convert("approximate", "tv", epsilon, delta=delta)
        assert privacy.convert("tv", "approximate", tv, at=epsilon) >= delta
        level = privacy.convert("approximate", "conditional-testing", epsilon, delta=delta, mass=0.2)
        at = privacy.convert("conditional-testing", "pure", level)
        back = privacy.convert("conditional-testing", "approximate", level, mass=0.2, at=at)
        assert privacy.convert("approximate", "approximate", epsilon, delta=delta, at=at) <= back + 1e-12
        assert privacy.convert("kl", "approximate", privacy.convert("pure", "kl", epsilon), at=epsilon) >= 0


def test_the_table_of_the_page_has_all_pairs():
    """The first two columns name source and target; the fourth is empty where there is no inverse."""
    page = (Path(__file__).parents[2] / "docs" / "privacy.md").read_text().partition("## Conversions")[2]
    rows = [line.strip("|").split("|") for line in page.splitlines() if line.startswith('| "')]
    pairs = {
        (source, target): bool(row[3].strip())
        for row in rows
        for source in re.findall(r'"([\w-]+)"', row[0])
        for target in re.findall(r'"([\w-]+)"', row[1])
    }
    assert pairs == {pair: pair in INVERSE for pair in FORWARD}


# Bad input ------------------------------------------------------------------------------------------------------------


@each(
    "call, message",
    [
        (lambda: privacy.convert("pure", "tv", -1), r"^level must be in \[0, inf\), got -1.0$"),
        (lambda: privacy.convert("approximate", "tv", 1, delta=1), r"^delta must be in \[0, 1\), got 1.0$"),
        (lambda: privacy.convert("pure", "tv", [1, math.nan]), r"^level must be in \[0, inf\), got nan$"),
        (
            lambda: privacy.convert("pure", "tv", 1, method="exact"),
            r"^method must be one of 'sharp', 'paper', got 'exact'$",
        ),
        (lambda: privacy.convert("pure", "kl", 1, method="exact"), r"^method must be one of "),
        (lambda: privacy.convert("kl", "tv", 1, method="exact"), r"^method must be one of "),
        (lambda: privacy.convert("pure", "conditional-testing", 1, method="exact"), r"^method must be one of "),
        (
            lambda: privacy.convert("approximate", "conditional-testing", 1, delta=0.1, mass=1.0),
            r"^mass must be in \[0, 1\), got 1.0$",
        ),
        (lambda: privacy.convert("conditional-testing", "pure", 1.0), r"^level must be in \[0, 1\), got 1.0$"),
        (
            lambda: privacy.convert("approximate", "tv", 0.1, delta=0.2, inverse=True),
            r"^delta must be at most level, got 0.2$",
        ),
        (lambda: privacy.convert("kl", "tv", 1.1, inverse=True), r"^level must be in \[0, 1\], got 1.1$"),
        (lambda: privacy.convert("tv", "approximate", 1.1, at=1), r"^level must be in \[0, 1\], got 1.1$"),
        (lambda: privacy.convert("pure", "kl", math.inf, inverse=True), r"^level must be in \[0, inf\), got inf$"),
        (
            lambda: privacy.convert("tv", "pure", 0.1),
            r"^source and target must be one of 'pure' to 'approximate', .*'gaussian' to 'kl', got 'tv' to 'pure'$",
        ),
        (
            lambda: privacy.convert("tv", "kl", 0.1, inverse=True),
            r"^source and target must be one of 'pure' to 'tv', .* with inverse=True, got 'tv' to 'kl'$",
        ),
        (lambda: privacy.convert("tv", "approximate", 0.1), r"^at must be given from 'tv' to 'approximate'$"),
        (lambda: privacy.convert("pure", "tv", 0.1, at=1.0), r"^at must not be given from 'pure' to 'tv'$"),
        (lambda: privacy.convert("pure", "tv", 1, delta=[0, 0.1]), r"^delta must be 0 from 'pure' to 'tv', got 0.1$"),
        (lambda: privacy.convert("kl", "tv", 1, sensitivity=2), r"^sensitivity must be 1 from 'kl' to 'tv', got 2.0$"),
        (
            lambda: privacy.convert("tv", "approximate", 0.1, at=1, method="paper"),
            r"^method must be one of 'sharp', got 'paper'$",
        ),
        (lambda: privacy.convert("concentrated", "approximate", 0.1, at=0), r"^at must be in \(0, inf\), got 0.0$"),
        (lambda: misses(-0.1, 1), r"^false_alarms must be in \[0, 1\], got -0.1$"),
    ],
)
def test_bad_values(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_bad_types():
    for call in (lambda: privacy.disclosure_risk("1"), lambda: privacy.gaussian_sigma(["1"], 0.1)):
        with pytest.raises(TypeError, match=r"^epsilon must be real numbers"):
            call()
    with pytest.raises(TypeError, match=r"^level must be real numbers"):
        privacy.convert("pure", "tv", "1")
    with pytest.raises(TypeError, match=r"^level must not be a masked array$"):
        privacy.convert("kl", "tv", np.ma.masked_array([0.5], [True]), inverse=True)
    with pytest.raises(TypeError, match=r"^inverse must be a bool, got int$"):
        privacy.convert("kl", "tv", 0.5, inverse=1)
