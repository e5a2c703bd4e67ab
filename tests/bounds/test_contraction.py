"""Contraction of divergences by private channels, against random channels and randomized response."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldpfast import bounds
from ldpfast.privacy import Channel

from ..support.cases import each
from ..support.modules import module_of
from ..support.random_channels import divergences, product_distribution, random_channel, random_distribution

inside = module_of(bounds.methods.tv_contraction)

EPSILONS = [0.05, 0.5, 1.0, 2.0, 5.0]


@pytest.mark.long
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_contraction_bounds_hold_for_random_channels(epsilon):
    rng, closest = np.random.default_rng(1), np.zeros(4)
    for _ in range(1500):
        size = int(rng.integers(2, 6))
        channel = random_channel(rng, epsilon, size)
        assert Channel(channel).epsilon() <= epsilon + 1e-9
        p, q = random_distribution(rng, size), random_distribution(rng, size)
        tv = np.abs(p - q).sum() / 2
        found = np.array(divergences(p @ channel, q @ channel))
        limits = np.array(
            [
                bounds.methods.tv_contraction(epsilon, tv=tv),
                bounds.methods.kl_contraction(epsilon, tv=tv),
                bounds.methods.chi_square_contraction(epsilon, tv=tv),
                bounds.methods.hellinger_contraction(epsilon, tv=tv),
            ]
        )
        assert (found <= limits * (1 + 1e-9) + 1e-15).all()
        closest = np.maximum(closest, found / limits)
        reverse = (q @ channel) @ np.log((q @ channel) / (p @ channel))
        assert found[1] + reverse <= bounds.methods.kl_contraction(epsilon, tv=tv, method="paper") * (1 + 1e-9)
        assert found[0] <= bounds.methods.tv_contraction(epsilon, tv=tv, method="paper") * (1 + 1e-9)
        with np.errstate(divide="ignore", invalid="ignore"):
            records = [
                np.where(p > 0, p * np.log(p / q), 0).sum(),
                ((p - q) ** 2 / q).sum(),
                ((p**0.5 - q**0.5) ** 2).sum(),
            ]
        assert (
            found[1:]
            <= np.array(bounds.methods.divergence_contraction(epsilon, divergence=records)) * (1 + 1e-9) + 1e-15
        ).all()
    assert closest[0] > 1 - 1e-9
    assert (closest > 0.5).all()


@each("epsilon", [1e-3, *EPSILONS, 20.0])
def test_randomized_response_attains_the_sharp_forms(epsilon):
    """They are attained at T = 1, and for total variation at every T."""
    keep, flip = 1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(epsilon))
    rows = np.array([[keep, flip], [flip, keep]])
    tv, kl, chi_square, hellinger = divergences(*rows)
    assert bounds.methods.tv_contraction(epsilon, tv=1) == pytest.approx(tv, rel=1e-9)
    assert bounds.methods.kl_contraction(epsilon, tv=1) == pytest.approx(kl, rel=1e-9)
    assert bounds.methods.chi_square_contraction(epsilon, tv=1) == pytest.approx(chi_square, rel=1e-9)
    assert bounds.methods.hellinger_contraction(epsilon, tv=1) == pytest.approx(hellinger, rel=1e-9)
    for t in (0.1, 0.6):
        p, q = np.array([(1 + t) / 2, (1 - t) / 2]), np.array([(1 - t) / 2, (1 + t) / 2])
        assert bounds.methods.tv_contraction(epsilon, tv=t) == pytest.approx(np.abs((p - q) @ rows).sum() / 2, rel=1e-9)


def test_divergence_contraction_is_attained_by_close_distributions():
    """tanh(epsilon / 2)^2 is the limit for distributions that differ little."""
    p, q = np.array([0.5, 0.5]), np.array([0.5 + 1e-6, 0.5 - 1e-6])
    keep = 1 / (1 + math.exp(-1.0))
    rows = np.array([[keep, 1 - keep], [1 - keep, keep]])
    for at in (1, 2, 3):
        before, after = divergences(q, p)[at], divergences(q @ rows, p @ rows)[at]
        assert bounds.methods.divergence_contraction(1.0, divergence=before) == pytest.approx(after, rel=1e-3)
    assert bounds.effective_sample_size(1, 1.0) == pytest.approx(math.tanh(0.5) ** 2, rel=1e-12)
    assert bounds.effective_sample_size(10, 1.0, method="paper") == pytest.approx(10 * (math.e - 1) ** 2)


@given(st.floats(1e-6, 50), st.floats(0, 1))
def test_sharp_forms_are_at_most_the_published_ones(epsilon, tv):
    sharp = bounds.methods.kl_contraction(epsilon, tv=tv)
    assert 2 * sharp <= bounds.methods.kl_contraction(epsilon, tv=tv, method="paper") * (1 + 1e-9)
    assert bounds.methods.tv_contraction(epsilon, tv=tv) <= bounds.methods.tv_contraction(
        epsilon, tv=tv, method="paper"
    ) * (1 + 1e-9)
    assert sharp <= bounds.methods.chi_square_contraction(epsilon, tv=tv) * (1 + 1e-9)
    assert bounds.methods.hellinger_contraction(epsilon, tv=tv) <= sharp * (1 + 1e-9) + 1e-300
    at = inside.deficit_inverse(np.array(epsilon), inside.deficit(np.array(epsilon), np.array(tv)))
    assert at == pytest.approx(tv, rel=1e-6, abs=1e-12)


@pytest.mark.long
@each("epsilon", EPSILONS)
def test_tensorized_bounds_hold_for_two_adaptive_channels(epsilon):
    """The second person's channel depends on the first report."""
    rng = np.random.default_rng(2)
    for _ in range(300):
        size = int(rng.integers(2, 5))
        first = random_channel(rng, epsilon, size)
        hypotheses = np.array([[random_distribution(rng, size) for _ in range(2)] for _ in range(2)])  # one per person
        seconds = [random_channel(rng, epsilon, size) for _ in range(first.shape[1])]
        both = [
            np.concatenate([(h[0] @ first)[z] * (h[1] @ seconds[z]) for z in range(len(seconds))]) for h in hypotheses
        ]
        tv, kl, _, _ = divergences(*both)
        distances = np.abs(hypotheses[0] - hypotheses[1]).sum(axis=1) / 2
        assert kl <= bounds.methods.tensorized_kl(epsilon, tv=distances) * (1 + 1e-9)
        assert kl <= bounds.methods.tensorized_kl(epsilon, tv=distances, method="paper") * (1 + 1e-9)
        assert tv <= bounds.methods.tensorized_tv(2, epsilon, tv=distances.max()) * (1 + 1e-9)


def test_published_tensorized_tv_is_valid_in_its_range():
    rng, epsilon = np.random.default_rng(3), 0.6
    for n in (1, 2, 3):
        for _ in range(100):
            rows = np.array([random_distribution(rng, 3), random_distribution(rng, 3)])
            reports = product_distribution(rows @ random_channel(rng, epsilon, 3), n)
            tv, t = np.abs(reports[0] - reports[1]).sum() / 2, np.abs(rows[0] - rows[1]).sum() / 2
            assert (
                tv
                <= bounds.methods.tensorized_tv(n, epsilon, tv=t)
                <= bounds.methods.tensorized_tv(n, epsilon, tv=t, method="paper") + 1e-12
            )


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_mutual_information_bounds_hold_for_random_channels(epsilon):
    rng = np.random.default_rng(4)
    for _ in range(200):
        many, size, n = int(rng.integers(2, 5)), int(rng.integers(2, 4)), int(rng.integers(1, 3))
        family = np.array([random_distribution(rng, size) for _ in range(many)])
        reports = product_distribution(family @ random_channel(rng, epsilon, size), n)
        information = (reports * np.log(reports / reports.mean(axis=0))).sum() / many
        tv = np.abs(family[:, None] - family).sum(axis=-1) / 2
        sharp = bounds.methods.mutual_information(n, epsilon, tv=tv)
        paper = bounds.methods.mutual_information(n, epsilon, tv=tv, method="paper")
        assert information <= sharp * (1 + 1e-9) <= paper * (1 + 2e-9)


def test_arrays_broadcast():
    epsilon, tv = np.array([[0.5], [1.0]]), np.array([0.1, 0.2, 1.0])
    for function in (
        bounds.methods.kl_contraction,
        bounds.methods.tv_contraction,
        bounds.methods.chi_square_contraction,
    ):
        table = function(epsilon, tv=tv)
        assert table.shape == (2, 3)
        assert table[1, 2] == function(1.0, tv=1.0)
    assert bounds.methods.tensorized_tv(np.array([1, 10])[:, None, None], epsilon, tv=tv).shape == (2, 2, 3)


# Bad input ------------------------------------------------------------------------------------------------------------


@each(
    "call, message",
    [
        (lambda: bounds.methods.kl_contraction(1, tv=1.5), r"^Theorem 1 needs tv in \[0, 1\], got tv=1.5$"),
        (lambda: bounds.methods.kl_contraction(0, tv=0.5), r"^Theorem 1 needs epsilon > 0, got epsilon=0$"),
        (lambda: bounds.methods.kl_contraction([1, -2], tv=0.5), r"^Theorem 1 needs epsilon > 0, got epsilon=-2$"),
        (lambda: bounds.methods.kl_contraction(701, tv=0.5), r"^Theorem 1 needs epsilon <= 700"),
        (
            lambda: bounds.methods.kl_contraction(1, tv=0.5, method="exact"),
            r"^method must be one of 'sharp', 'paper', got 'exact'$",
        ),
        (
            lambda: bounds.methods.tensorized_tv(5, 0.7, tv=0.1, method="paper"),
            r"^Proposition 1 needs epsilon <= 0.628571",
        ),
        (
            lambda: bounds.methods.mutual_information(1, 1, tv=[0.5, 0.5]),
            r"^tv must have shape \(V, V\), got shape \(2,\)$",
        ),
        (
            lambda: bounds.methods.divergence_contraction(1, divergence=-1),
            r"^Asoodeh and Zhang needs divergence >= 0, got divergence=-1$",
        ),
        (lambda: bounds.methods.kl_contraction(1, tv=math.nan), r"^tv must be finite numbers, got nan$"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@each("value", ["1", True, None, 1j, [[1], [1, 2]], np.ma.masked_array([1.0])])
def test_values_that_are_not_numbers_are_rejected(value):
    with pytest.raises(TypeError, match=r"^tv must"):
        bounds.methods.kl_contraction(1.0, tv=value)
