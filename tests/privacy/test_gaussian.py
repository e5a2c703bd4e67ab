"""Gaussian noise and concentrated privacy: exact delta, least sigma, and comparison with other libraries."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from ldpfast import privacy
from ldpfast.privacy import convert, gaussian_delta

from ..support import discrete_gaussian
from ..support.cases import each
from ..support.channels import binned

# Gaussian noise -------------------------------------------------------------------------------------------------------


@each(
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
def test_sigma_equals_known_values(epsilon, delta, sigma):
    assert privacy.gaussian_sigma(epsilon, delta) == pytest.approx(sigma, abs=5.1e-7)
    assert privacy.gaussian_sigma(epsilon, delta, sensitivity=3.0) == pytest.approx(3 * sigma, abs=1.6e-6)


def normal_tail(x):
    """Return P(Z > x) by the series of the normal integral, in the current decimal context."""
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


@pytest.mark.claim("`gaussian_delta` is the exact hockey-stick divergence, rounded up.", "Composition and audits")
@each("epsilon", [0.0, 0.01, 1.0, 5.0])
@each("sigma", [0.3, 1.0, 4.0, 20.0])
def test_delta_equals_decimal_arithmetic(epsilon, sigma):
    """Decimals have 100 digits. The result is rounded up, by at most 2e-11 of it."""
    with localcontext() as context:
        context.prec = 100
        s, e = Decimal(sigma), Decimal(epsilon)
        exact = normal_tail(e * s - 1 / (2 * s)) - e.exp() * normal_tail(e * s + 1 / (2 * s))
        if exact > Decimal("1e-60"):
            assert exact <= Decimal(privacy.gaussian_delta(epsilon, sigma=sigma)) <= exact * (1 + Decimal("2e-11"))
        else:
            assert privacy.gaussian_delta(epsilon, sigma=sigma) <= 1e-60


@pytest.mark.claim("`gaussian_sigma` is the smallest noise that suffices.", "Composition and audits")
@given(st.floats(0, 20), st.floats(1e-15, 0.9), st.floats(1e-3, 1e3))
def test_sigma_is_the_least_that_suffices(epsilon, delta, sensitivity):
    sigma = privacy.gaussian_sigma(epsilon, delta, sensitivity=sensitivity)
    assert privacy.gaussian_delta(epsilon, sigma=sigma, sensitivity=sensitivity) <= delta * (1 + 1e-9)
    assert privacy.gaussian_delta(epsilon, sigma=sigma * (1 - 1e-6), sensitivity=sensitivity) > delta
    if epsilon > 0.01:
        log = math.log(1 / delta)
        assert sigma / sensitivity <= (math.sqrt(log + epsilon) + math.sqrt(log)) / (math.sqrt(2) * epsilon)


@pytest.mark.parametrize("tv", [1e-6, 0.1, 0.5, 0.99])
def test_total_variation_and_kl(tv):
    sigma = privacy.gaussian_sigma(0.0, tv)
    assert privacy.convert("gaussian", "tv", sigma) == pytest.approx(tv, rel=1e-9)
    assert privacy.convert("gaussian", "tv", sigma) == pytest.approx(privacy.gaussian_delta(0.0, sigma=sigma), rel=1e-9)
    assert (
        privacy.convert("gaussian", "tv", sigma)
        <= privacy.convert("kl", "tv", privacy.convert("gaussian", "kl", sigma)) + 1e-12
    )


def test_binned_noise_nearly_attains_delta():
    from scipy.special import ndtr

    channel = binned(ndtr, 1.0, np.linspace(-6, 7, 2601))
    for epsilon in (0.0, 0.5, 1.0, 2.0):
        assert channel.delta(epsilon) == pytest.approx(privacy.gaussian_delta(epsilon, sigma=1.0), abs=1e-5)
        assert channel.delta(epsilon) <= privacy.gaussian_delta(epsilon, sigma=1.0) + 1e-12
    assert channel.kl() == pytest.approx(privacy.convert("gaussian", "kl", 1.0), rel=1e-4)


@pytest.mark.parametrize("delta, true", [(1e-3, 0.0106), (1e-6, 8.3e-4), (1e-9, 8.8e-5)])
def test_the_published_gaussian_noise_is_too_small(delta, true):
    """Variance 2 T^2 log(1/delta) / (n epsilon)^2 at sensitivity 2 T / n, so sigma is sqrt(log(1/delta) / 2) / epsilon."""
    published = math.sqrt(math.log(1 / delta) / 2)
    assert privacy.gaussian_delta(1.0, sigma=published) == pytest.approx(true, rel=0.01)
    assert privacy.gaussian_delta(1.0, sigma=published) > 10 * delta
    assert privacy.gaussian_sigma(1.0, delta) > published


def test_the_published_variance_for_kl_has_twice_the_level():
    """At sensitivity 2 T / n, variance T^2 / (n^2 b) has divergence 2 b, and 2 T^2 / (n^2 b) has b."""
    n, t, b = 1000, 2.0, 0.05
    assert privacy.convert("gaussian", "kl", math.sqrt(t**2 / (n**2 * b)), sensitivity=2 * t / n) == pytest.approx(
        2 * b
    )
    assert privacy.convert("gaussian", "kl", math.sqrt(2 * t**2 / (n**2 * b)), sensitivity=2 * t / n) == pytest.approx(
        b
    )


@pytest.mark.parametrize("rate, level", [(1.0, 2.0), (0.5, 1.0)])
def test_the_published_laplace_rate_has_twice_the_level(rate, level):
    """In one dimension with epsilon = T = n = 1 and sensitivity 2, rate 1 is 2-private and rate 1/2 is 1-private."""

    def cdf(w):
        return np.where(w < 0, np.exp(rate * np.minimum(w, 0)) / 2, 1 - np.exp(-rate * np.maximum(w, 0)) / 2)

    channel = binned(cdf, 2.0, np.linspace(-8, 10, 181))
    assert channel.epsilon() == pytest.approx(level, rel=1e-6)


# Concentrated privacy -------------------------------------------------------------------------------------------------


@each("shift", [(1, 0), (1, 1), (2, 1), (5, 3)])
@each("sigma2", [1, 4, 30])
def test_concentrated_delta_bounds_the_exact_sum_in_two_dimensions(sigma2, shift):
    y, p = discrete_gaussian.weights(sigma2, 60 + 12 * math.isqrt(sigma2))
    weight = np.multiply.outer(p, p) / p.sum() ** 2
    square = shift[0] ** 2 + shift[1] ** 2
    log_ratio = (square - 2 * np.add.outer(shift[0] * y, shift[1] * y)) / (2 * sigma2)
    for epsilon in (0.1, 1.0, 3.0, 10.0):
        where = log_ratio > epsilon
        exact = np.sum(weight[where] * -np.expm1(epsilon - log_ratio[where]))
        assert exact <= convert("concentrated", "approximate", square / (2 * sigma2), at=epsilon) * (1 + 1e-12)


@each("rho", [1e-6, 1e-3, 0.1, 1.0, 20.0])
@each("epsilon", [0.01, 0.5, 1.0, 4.0, 30.0])
def test_concentrated_delta_is_the_least_over_all_orders(rho, epsilon):
    """It is above the exact delta of the continuous distribution with this rho, and near the minimum of another search."""

    def log_delta(log_order):
        a = 1 + math.exp(log_order)
        return (a - 1) * (a * rho - epsilon) + a * math.log1p(-1 / a) - math.log(a - 1)

    starts = np.linspace(math.log(1e-6), math.log(1e8), 400)
    best = min(starts, key=log_delta)
    found = optimize.minimize_scalar(log_delta, bounds=(best - 0.2, best + 0.2), method="bounded").fun
    value = convert("concentrated", "approximate", rho, at=epsilon)
    assert value >= gaussian_delta(epsilon, sigma=1 / math.sqrt(2 * rho))
    if found > -600:
        assert math.log(value) == pytest.approx(found, abs=0.02)


@each("epsilon", [1e-6, 1e-3, 0.1, 1.0, 10.0, 100.0])
@each("delta", [1e-300, 1e-12, 1e-6, 1e-2, 0.5])
def test_concentrated_rho_is_the_largest_that_gives_delta(epsilon, delta):
    """A slightly larger rho exceeds delta. Gaussian noise with this rho has at most this delta, exactly."""
    rho = privacy.convert("concentrated", "approximate", delta, at=epsilon, inverse=True)
    assert delta * (1 - 1e-6) <= privacy.convert("concentrated", "approximate", rho, at=epsilon) <= delta
    assert privacy.convert("concentrated", "approximate", rho * (1 + 1e-6), at=epsilon) > delta
    assert privacy.gaussian_delta(epsilon, sigma=1.0, sensitivity=math.sqrt(2 * rho)) <= delta


def test_concentrated_privacy_broadcasts_and_delta_is_at_most_one():
    assert privacy.convert("concentrated", "approximate", [0.1, 0.2, 1e6], at=[[0.5], [1.0]]).shape == (2, 3)
    assert privacy.convert("concentrated", "approximate", 1e6, at=0.5) == 1.0
    assert privacy.convert("concentrated", "approximate", 1e-6, at=[0.5, 1.0], inverse=True).shape == (2,)
    for arguments in ((0.0, 1e-6), (1.0, 0.0), (1.0, 1.0), (-1.0, 0.5)):
        with pytest.raises(ValueError, match=r"^(level|at) must be "):
            convert("concentrated", "approximate", arguments[1], at=arguments[0], inverse=True)


# Bad input ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: privacy.gaussian_sigma(1, 0), r"^delta must be in \(0, 1\), got 0.0$"),
        (lambda: privacy.gaussian_sigma(1, 1), r"^delta must be in \(0, 1\), got 1.0$"),
        (lambda: privacy.gaussian_sigma(1, 0.1, sensitivity=0), r"^sensitivity must be in \(0, inf\), got 0.0$"),
        (lambda: privacy.gaussian_delta(1, sigma=0), r"^sigma must be in \(0, inf\), got 0.0$"),
    ],
)
def test_bad_values(call, message):
    with pytest.raises(ValueError, match=message):
        call()
