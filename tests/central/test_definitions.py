"""Noise of each definition of privacy: exact guarantees for sums on the public grid."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.privacy import gaussian_delta

from ..support import reference
from ..support.cases import each
from ..support.discrete_gaussian import hockey_stick, weights
from ..support.geometric import rate_and_error
from ..support.internals.central import FINE, SMOOTHING, SumGrid, definition_of, discrete_delta
from ..support.internals.shared import coin_integers

# Laplace noise --------------------------------------------------------------------------------------------------------


@each("epsilon", [1e-6, 1e-3, 0.1, 1.0, 2.5, 30.0])
@each("dim", [1, 2, 100, 5000])
@each("definition", ["pure", "smooth"])
def test_laplace_noise_keeps_the_budget(definition, dim, epsilon):
    """The loss of the integers in use at the l1 diameter, recomputed with 120 digits. The digits cover the span."""
    found = definition_of(definition, epsilon, 0.0).noise(dim)
    coins, grid = found.coins, found.grid
    with localcontext(prec=120):
        rate, eta = rate_and_error(coins)
        assert rate * grid.l1 + min(dim, grid.l1) * eta <= Decimal(epsilon) * (1 + Decimal("1e-15"))
    assert 1 << coins.digits >= grid.span
    assert found.guarantee.definition == definition
    assert epsilon * (1 - 1e-2) <= found.guarantee.epsilon <= epsilon
    ideal = 2 * (2 * math.sqrt(dim) / epsilon) ** 2  # in units of the radius
    assert found.variance * (grid.step / FINE) ** 2 <= ideal * (1.05 if epsilon >= 0.1 else 1.5)


@each("dim", [2, 3, 5, 7, 50])
def test_variance_of_laplace_noise(dim):
    """The variance over all coordinates is 8 d^2 / (n epsilon)^2, and a little more for the grid."""
    found = definition_of("pure", 1.0, 0.0).noise(dim)
    assert found.variance * (found.grid.step / FINE) ** 2 == pytest.approx(8 * dim, rel=5e-3)


@pytest.mark.claim("A released number with Laplace noise loses at most epsilon.", "Trusted curator")
@each("epsilon", [0.5, 2.0, 6.0])
@each("steps", [2, 3, 5])
def test_the_release_of_a_number_keeps_its_loss_by_enumeration(steps, epsilon):
    """Exact loss of all pairs of sums at most a diameter apart, for all offsets of a coarse grid with narrow coins."""
    grid, width = SumGrid(1, 2 * FINE // steps), 16
    with localcontext(coin_integers.CONTEXT):
        rate, count = Decimal(epsilon) / grid.span, 1
        while 1 << count < grid.span:
            count += 1
        groups, carry = coin_integers.geometric_integers(rate, count, width)
        eta = coin_integers.geometric_error(groups, carry, count, width, rate)
        pmf = reference.geometric_distribution(groups, carry, width, 4)
        limit = (rate * grid.span + eta).exp() * (1 + Decimal("1e-60"))
        reach = len(pmf) - 2 * grid.span

        def probability(y, s):  # probability of the report y, for a sum of s sixteenths of a step, rounded at random
            whole, rest = divmod(s, 16)
            up = Fraction(rest, 16)
            of = lambda n: pmf[n if n >= 0 else -1 - n] / 2  # noqa: E731
            return (1 - up) * of(y - whole) + up * of(y - whole - 1)

        for s in range(16):
            for t in range(16 * steps + 1):
                for y in range(-reach + 2 * grid.span, reach, 3):
                    ratio = probability(y, s) / probability(y, s + t)
                    ratio = max(ratio, 1 / ratio)
                    assert Decimal(ratio.numerator) <= limit * Decimal(ratio.denominator)


def largest_step(coins):
    """Return the largest quotient of the probabilities of two neighboring integers, over all values of all groups."""
    largest, carried = Fraction(0), Fraction(1)  # carried: all lower groups go from their last value to 0
    for group in coins.groups:
        largest = max(largest, carried * max(Fraction(*pair) for pair in itertools.pairwise(group)))
        carried *= Fraction(group[-1], group[0])
    return max(largest, carried * Fraction(1 << 128, coins.carry))


@each("epsilon", [1e-9, 1e-3, 0.1, 1.0, 2.0, 2.5, 8.0, 60.0, 64.0])
@each("dim", [1, 2, 3, 16])
def test_smooth_privacy_per_step_of_the_fine_grid(dim, epsilon):
    """The loss is at most epsilon |x - x'| / F, for one step of the fine grid in each coordinate in the worst case.

    In the worst case the sum is a multiple of a coarse step. P(report) changes from P(N = g + 1) to a mixture with P(N = g),
    whose weight is the fraction of offset words that now round up. For a large epsilon the smallest weights of the coins have
    few digits.
    """
    found = definition_of("smooth", epsilon, 0.0).noise(dim)
    step = found.grid.step
    words = (1 << 64) - -(-((step - 1) << 64) // step)  # words with the largest offset: only they round up
    assert ((1 << 64) - words) * step >> 64 == step - 1 > ((1 << 64) - words - 1) * step >> 64
    ratio = largest_step(found.coins)
    with localcontext(prec=80):
        quotient = Decimal(ratio.numerator) / Decimal(ratio.denominator)
        loss = dim * (1 + (quotient - 1) * Decimal(words) / (1 << 64)).ln()
        assert loss <= Decimal(found.guarantee.epsilon) * Decimal(dim).sqrt() / found.grid.diameter


@pytest.mark.long
@each("epsilon", [1e-9, 1e-6, 0.1, 2.0, 2.0001, 30.0, 60.0, 63.0, 64.0])
@each("dim", [1, 2, 3, 5, 16])
def test_the_smooth_loss_of_theorem_2_is_at_most_epsilon(dim, epsilon):
    """With 120 digits, including the error of the coins in each step and that of the words of the offsets."""
    found = definition_of("smooth", epsilon, 0.0).noise(dim)
    with localcontext(prec=120):
        rate, eta = rate_and_error(found.coins)
        diameter = Decimal(found.grid.diameter) * Decimal(dim).sqrt() / found.grid.step
        loss = ((rate + eta).exp() - 1) * diameter * (1 + Decimal(found.grid.step) / (1 << 64))
        assert loss <= Decimal(found.guarantee.epsilon) <= Decimal(epsilon)


def test_coins_with_large_errors_are_refused_for_smooth_privacy():
    definition, grid = definition_of("smooth", 1.0, 0.0), SumGrid.of(2, 16)
    coins = coin_integers.geometric(1.5, grid.l1, grid.span, 2)
    with pytest.raises(ValueError, match=r"epsilon must be smaller for privacy='smooth' and 2 coordinates, got 1\.0"):
        definition._loss(grid, coins)


# Gaussian noise -------------------------------------------------------------------------------------------------------

PAIRS = [(e, d) for e in (0.05, 0.3, 1.0, 4.0, 10.0, 30.0) for d in (1e-2, 1e-5, 1e-9, 1e-14)]


@each("epsilon, delta", PAIRS)
def test_gaussian_noise_of_a_number_has_at_most_delta_by_an_exact_sum(epsilon, delta):
    """At the sensitivity and at smaller shifts, with at most 2 % more variance than the continuous distribution."""
    found = definition_of("approximate", epsilon, delta).noise(1)
    span, sigma2 = found.grid.span, found.parameter
    exact = hockey_stick(epsilon, span, sigma2)
    assert 0.9 * delta <= exact <= delta * (1 + 1e-12)
    for shift in (1, span // 2, span - 1):
        assert hockey_stick(epsilon, shift, sigma2) <= delta
    ideal = (ldp.privacy.gaussian_sigma(epsilon, delta) * 2 * FINE / found.grid.step) ** 2
    assert ideal < sigma2 <= 1.02 * ideal


@each("epsilon, delta", PAIRS)
@each("shift", [1, 2, 10, 1025])
def test_discrete_delta_is_an_upper_bound(shift, epsilon, delta):
    for factor in (0.7, 1.0, 1.3):
        sigma2 = max(1, math.ceil((factor * shift * ldp.privacy.gaussian_sigma(epsilon, delta)) ** 2))
        exact, bound = hockey_stick(epsilon, shift, sigma2), discrete_delta(epsilon, shift, math.sqrt(sigma2))
        assert exact <= bound
        if shift == 1025 and epsilon <= 10:
            assert bound <= 1.25 * exact


@pytest.mark.claim("Published calibrations of Gaussian noise are too small for integer noise.", "Trusted curator")
def test_published_and_continuous_calibrations_are_too_small():
    """The continuous sigma exceeds delta at a sensitivity of few steps; the published sigma exceeds it by far."""
    for epsilon, delta, steps, times in ((10.0, 1e-6, 2, 1.93), (1.0, 1e-5, 1, 1.035)):
        sigma = steps * ldp.privacy.gaussian_sigma(epsilon, delta)
        assert hockey_stick(epsilon, steps, sigma**2) / delta == pytest.approx(times, rel=3e-3)
        assert discrete_delta(epsilon, steps, sigma) > delta
    published = lambda a, d: math.sqrt(math.log(1 / d) / 2) / a  # noqa: E731
    for a, d, true in ((1, 1e-3, 0.0106), (1, 1e-6, 8.3e-4), (1, 1e-9, 8.8e-5), (0.1, 1e-6, 5.4e-5)):
        assert gaussian_delta(a, sigma=published(a, d)) == pytest.approx(true, rel=0.01)
        assert published(a, d) < ldp.privacy.gaussian_sigma(a, d)
    assert gaussian_delta(1, sigma=math.sqrt(math.log(1e6)) / 2) == pytest.approx(0.0106, rel=0.01)  # appendix C
    # The published variance T^2 / (n^2 b) for a divergence of b, and rate a n / (T sqrt d), have twice the claimed parameter.
    b, d = 0.3, 4
    kl = definition_of("kl", b, 0.0).noise(1)
    assert kl.variance * (kl.grid.step / FINE) ** 2 == pytest.approx(2 * (1 / b), rel=3e-3)
    pure = definition_of("pure", 1.0, 0.0).noise(d)
    assert pure.variance * (pure.grid.step / FINE) ** 2 == pytest.approx(2**2 * (2 * d), rel=5e-3)


@each("dim", [1, 2, 30])
@each("epsilon", [1e-4, 0.3, 5.0])
def test_divergence_of_integer_shifts_is_exact(dim, epsilon):
    found = definition_of("kl", epsilon, 0.0).noise(dim)
    square, sigma2 = found.grid.l2_squared, found.parameter
    assert square / (2 * sigma2) <= Fraction(epsilon) < square / (2 * max(1, sigma2 - 1)) or sigma2 == 1
    assert found.guarantee == ldp.privacy.Guarantee("kl", epsilon)
    for s2, shift in ((4, 3), (1, 1), (50, 7)):
        y, p = weights(s2, 400)
        inside = np.abs(y) < 25 * math.sqrt(s2)
        p, log_ratio = p[inside] / p.sum(), (shift**2 - 2 * shift * y[inside]) / (2 * s2)
        assert np.sum(p * log_ratio) == pytest.approx(shift**2 / (2 * s2), rel=1e-12)


@each("epsilon", [0.01, 0.05, 0.3, 0.9, 0.999])
def test_total_variation_of_a_number_is_at_most_epsilon_by_an_exact_sum(epsilon):
    found = definition_of("tv", epsilon, 0.0).noise(1)
    exact = hockey_stick(0.0, found.grid.span, found.parameter)
    assert 0.98 * epsilon <= exact <= epsilon
    assert hockey_stick(0.0, found.grid.span // 2, found.parameter) < epsilon


@each("epsilon, delta", PAIRS)
@each("dim", [2, 50])
def test_gaussian_noise_of_rows_has_at_most_delta(dim, epsilon, delta):
    """At these steps the discrete distribution is as private as the continuous one, whose delta is known."""
    found = definition_of("approximate", epsilon, delta).noise(dim)
    assert found.parameter > 100
    exact = gaussian_delta(epsilon, sigma=math.sqrt(found.parameter), sensitivity=math.sqrt(found.grid.l2_squared))
    assert exact <= delta
    ideal = (ldp.privacy.gaussian_sigma(epsilon, delta) * 2 * FINE / found.grid.step) ** 2
    assert found.parameter <= 1.01 * ideal


@each("epsilon", [1e-3, 0.01, 0.1, 0.46, 0.9, 0.999])
@each("dim", [2, 50, 1000])
def test_gaussian_noise_of_rows_has_the_variance_that_the_total_variation_needs(dim, epsilon):
    """At most 1 % more than continuous noise for the sensitivity without the steps of the grid."""
    found = definition_of("tv", epsilon, 0.0).noise(dim)
    shift = math.sqrt(found.grid.l2_squared)
    assert ldp.privacy.convert("gaussian", "tv", math.sqrt(found.parameter), sensitivity=shift) <= epsilon
    ideal = (ldp.privacy.gaussian_sigma(0.0, epsilon) * 2 * FINE / found.grid.step) ** 2
    assert found.parameter <= 1.01 * ideal


@each("shift", [(1, 0), (1, 1), (3, 4), (7, 2)])
@each("sigma2", [9, 12, 50])
def test_discrete_noise_of_rows_is_as_private_as_continuous_noise_with_a_smaller_variance(sigma2, shift):
    """Theorem 5 at steps as large as the noise, by a sum over all pairs of integers."""
    y, p = weights(sigma2, 100)
    p /= p.sum()
    (a, b), square = shift, shift[0] ** 2 + shift[1] ** 2
    log_ratio = (square - 2 * (a * y[:, np.newaxis] + b * y)) / (2 * sigma2)
    for epsilon in (0.0, 0.3, 1.0, 3.0):
        excess = np.where(log_ratio > epsilon, -np.expm1(epsilon - log_ratio), 0.0)
        exact = float(p @ excess @ p)
        assert exact <= gaussian_delta(epsilon, sigma=math.sqrt(sigma2 - SMOOTHING), sensitivity=math.sqrt(square))


def test_the_normalizing_constant_of_the_rounding_does_not_depend_on_the_point():
    """The random rounding of theorem 5: the constant is 1 up to 1e-68, by its Fourier series, and in doubles up to 1e-14."""
    y, _ = weights(SMOOTHING, 60)
    for point in np.linspace(0, 1, 7):
        total = np.exp(-((y - point) ** 2) / (2 * SMOOTHING)).sum() / math.sqrt(2 * math.pi * SMOOTHING)
        assert abs(total - 1) < 1e-14
    assert 2 * sum(math.exp(-2 * math.pi**2 * SMOOTHING * k * k) for k in (1, 2)) < 1e-68


def test_epsilon_that_no_noise_satisfies_is_rejected():
    for definition in ("kl", "tv"):
        with pytest.raises(ValueError, match="epsilon must be larger, for 3 coordinates, got 1e-18"):
            definition_of(definition, 1e-18, 0.0).noise(3)
    with pytest.raises(ValueError, match="epsilon must be within what exact coins can certify"):
        definition_of("pure", 1e-18, 0.0).noise(3)
    for definition in ("kl", "tv", "pure"):
        with pytest.raises(ValueError, match=r"^epsilon must be in \[1e-18, 1e\+18\], got 1e-30$"):
            definition_of(definition, 1e-30, 0.0)
