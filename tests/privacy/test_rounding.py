"""Parameters of privacy are rounded toward more privacy: never too small, and inverses never promise too much."""

from __future__ import annotations

import functools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ldpfast import privacy

from ..support.cases import each
from ..support.internals.privacy import least_error, misses

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
            (privacy.convert("approximate", "tv", epsilon, delta=delta), d + (1 - d) * tanh),
            (privacy.convert("pure", "kl", epsilon), e * tanh),
            (
                privacy.convert("approximate", "approximate", epsilon, delta=delta, at=0.0),
                d + (1 - d) * (1 - (-e).exp()) / (1 + (-e).exp()),
            ),
        ):
            assert exact <= Decimal(found) <= exact * close
        error = Decimal(least_error(epsilon, delta))
        exact = 2 * (1 - d) * (-e).exp() / (1 + (-e).exp())
        assert exact * (2 - close) <= error <= exact


@given(SHARE, st.sampled_from([0.0, 1e-12, 0.01, 0.5]))
@example(1 - 2**-53, 0.0)
@example(5e-324, 0.0)
def test_the_epsilon_for_a_total_variation_guarantees_it(tv, delta):
    assume(tv >= delta)
    epsilon = privacy.convert("approximate", "tv", tv, delta=delta, inverse=True)
    assert privacy.convert("approximate", "tv", epsilon, delta=delta) <= tv
    if delta == 0 and 1e-290 < tv < 0.999:
        assert epsilon == pytest.approx(2 * math.atanh(tv), rel=1e-10)


@given(st.floats(0, 1e6))
@example(5e-324)
def test_the_epsilon_for_a_divergence_guarantees_it(kl):
    epsilon = privacy.convert("pure", "kl", kl, inverse=True)
    assert privacy.convert("pure", "kl", epsilon) <= kl
    if kl > 1e-290:
        assert privacy.convert("pure", "kl", epsilon) >= kl * (1 - 1e-12)


@given(st.floats(1e-20, 1 - 2**-53))
def test_the_divergence_for_a_total_variation_is_not_too_large(tv):
    """Against 100 digits."""
    with localcontext() as context:
        context.prec = 100
        exact = Decimal(tv) * ((1 + Decimal(tv)) / (1 - Decimal(tv))).ln()
        assert exact * (1 - Decimal("1e-13")) <= Decimal(privacy.convert("kl", "tv", tv, inverse=True)) <= exact


@given(st.floats(1e-300, 50))
@example(1e-300)
@example(700.0)
def test_the_total_variation_of_a_divergence_is_not_too_small(kl):
    """Against 700 digits: t log((1 + t) / (1 - t)) is at least kl, and Pinsker's bound is at least sqrt(kl / 2)."""
    tv = privacy.convert("kl", "tv", kl)
    assert tv == 1 or privacy.convert("kl", "tv", tv, inverse=True) >= kl
    assert privacy.convert("kl", "tv", tv * (1 - 1e-9), inverse=True) < kl
    with localcontext() as context:
        context.prec = 700
        paper = min((Decimal(kl) / 2).sqrt(), (1 - (-Decimal(kl)).exp()).sqrt())
        assert paper <= Decimal(privacy.convert("kl", "tv", kl, method="paper")) <= paper * (1 + Decimal("1e-13"))


@pytest.mark.long
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
        assert Decimal(privacy.convert("kl", "approximate", kl, at=epsilon)) >= p - Decimal(epsilon).exp() * q
    assert (
        privacy.convert("kl", "approximate", kl, at=epsilon)
        <= privacy.convert("kl", "approximate", kl, at=0.0)
        <= privacy.convert("kl", "tv", kl)
    )


@given(EPSILON, st.sampled_from([0.0, 1e-12, 0.01, 0.5]), st.floats(0, 1))
def test_misses_are_not_too_large(epsilon, delta, alarms):
    """Against 60 digits."""
    with localcontext() as context:
        context.prec = 60
        e, d, a = map(Decimal, (epsilon, delta, alarms))
        exact = max(Decimal(0), 1 - d - e.exp() * a, (-e).exp() * (1 - d - a))
        assert exact - Decimal("1e-13") <= Decimal(misses(alarms, epsilon, delta)) <= exact
    assert misses(0.0, epsilon) == 1.0


@given(st.floats(1e-6, 20), st.sampled_from([0.0, 1e-6, 0.01]), st.sampled_from([0.0, 1e-3, 0.05, 0.3]))
def test_conditional_testing_is_not_too_small(epsilon, delta, mass):
    """Sets of reports of randomized response with marked true answers, in 60 digits."""
    found = Decimal(privacy.convert("approximate", "conditional-testing", epsilon, delta=delta, mass=mass))
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
        paper = privacy.convert("approximate", "conditional-testing", epsilon, delta=delta, mass=mass, method="paper")
        if Decimal(mass) * ((2 * e).exp() - e.exp()) >= d:
            assert Decimal(paper) >= min(Decimal(1), (1 + (-e).exp()) * (1 - (-2 * e).exp()))


@given(st.floats(0, 30), DELTA, st.floats(1e-3, 1e3))
def test_the_noise_for_a_delta_guarantees_it(epsilon, delta, sensitivity):
    sigma = privacy.gaussian_sigma(epsilon, delta, sensitivity=sensitivity)
    assert privacy.gaussian_delta(epsilon, sigma=sigma, sensitivity=sensitivity) <= delta
    assert privacy.gaussian_delta(epsilon, sigma=sigma * (1 - 1e-9), sensitivity=sensitivity) > delta


@given(st.floats(1e-6, 30), DELTA)
def test_the_concentrated_privacy_for_a_delta_guarantees_it(epsilon, delta):
    assert (
        privacy.convert(
            "concentrated",
            "approximate",
            privacy.convert("concentrated", "approximate", delta, at=epsilon, inverse=True),
            at=epsilon,
        )
        <= delta
    )


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


# Extreme arguments ----------------------------------------------------------------------------------------------------

SMALL = [0.0, 5e-324, 1e-323, 1e-320, 1e-310, 1e-200, 2e-162, 1e-154, 1e-100, 1e-20, 1e-9]
EXTREMES = [*SMALL, 0.5, 1.0, 40.0, 700.0, 746.0, 1e5]
DELTAS = [0.0, 5e-324, 1e-310, 1e-16, 0.5, 1 - 2**-53]
DIGITS = 800  # a difference from 1 of the smallest double keeps 470 of them


@functools.cache
def exp(x):
    """Return e**x with so many digits. Few exponents are needed, many times."""
    with localcontext(prec=DIGITS):
        return x.exp()


def expm1(x):
    return exp(x) - 1


def tanh(x):
    return expm1(2 * x) / (expm1(2 * x) + 2)


def bounded(found, exact):
    """Assert that an upper bound is not below the exact number, and is positive if that is."""
    assert Decimal(found) >= exact
    assert found > 0 or exact == 0


@pytest.mark.long
@pytest.mark.parametrize("epsilon", EXTREMES)
def test_upper_bounds_at_extreme_arguments(epsilon):
    """A number that underflows is the smallest positive double, not 0."""
    with localcontext(prec=DIGITS):
        e, one = Decimal(epsilon), Decimal(1)
        bounded(privacy.convert("pure", "kl", epsilon), e * tanh(e / 2))
        bounded(privacy.convert("pure", "kl", epsilon, method="paper"), min(e * expm1(e), Decimal("inf")))
        bounded(privacy.convert("kl", "tv", epsilon, method="paper"), min((e / 2).sqrt(), (-expm1(-e)).sqrt()))
        for delta in DELTAS:
            d = Decimal(delta)
            bounded(privacy.convert("approximate", "tv", epsilon, delta=delta), d + (1 - d) * tanh(e / 2))
            bounded(privacy.convert("approximate", "tv", epsilon, delta=delta, method="paper"), min(one, e / 2 + d))
            bounded(privacy.convert("pure", "conditional-testing", epsilon), tanh(e / 2))
            for at in EXTREMES:
                more = -expm1(min(Decimal(at) - e, Decimal(0))) / (1 + exp(-e))
                bounded(privacy.convert("approximate", "approximate", epsilon, delta=delta, at=at), d + (1 - d) * more)
            for mass in DELTAS:
                enough = Decimal(mass) * expm1(e) * exp(e) >= d
                paper = (1 + exp(-e)) * -expm1(-2 * e) if enough else one
                bounded(
                    privacy.convert(
                        "approximate", "conditional-testing", epsilon, delta=delta, mass=mass, method="paper"
                    ),
                    min(one, paper),
                )
                unmarked = (1 - d) / (1 + exp(-e))
                p = [d, unmarked, exp(-e) * unmarked, Decimal(0)]
                for kept in ([0, 1], [1, 2], [0, 1, 2], [0, 1, 2, 3]):  # sets of reports
                    mass_p, mass_q = sum(p[i] for i in kept), sum(p[3 - i] for i in kept)
                    if min(mass_p, mass_q) >= Decimal(mass) and min(mass_p, mass_q) > 0:
                        exact = sum(max(p[i] / mass_p - p[3 - i] / mass_q, Decimal(0)) for i in kept)
                        assert (
                            Decimal(
                                privacy.convert("approximate", "conditional-testing", epsilon, delta=delta, mass=mass)
                            )
                            >= exact
                        )
        if epsilon < 1:
            for mass in DELTAS:
                at = privacy.convert("conditional-testing", "pure", epsilon)
                bounded(at, 2 * ((1 + e) / (1 - e)).ln())
                delta = privacy.convert("conditional-testing", "approximate", epsilon, mass=mass, at=at)
                bounded(delta, min(one, Decimal(mass) * (1 + e) / (1 - e)))


@pytest.mark.long
@pytest.mark.parametrize("epsilon", EXTREMES)
def test_lower_bounds_at_extreme_arguments(epsilon):
    with localcontext(prec=DIGITS):
        e = Decimal(epsilon)
        for delta in DELTAS:
            d = Decimal(delta)
            exact = 2 * (1 - d) / (1 + exp(e))
            assert Decimal(least_error(epsilon, delta)) <= exact
            assert Decimal(privacy.disclosure_risk(epsilon, delta)) <= exact / 2
            for alarms in (*DELTAS, 1.0):
                least = max(Decimal(0), 1 - d - exp(e) * Decimal(alarms), (1 - d - Decimal(alarms)) / exp(e))
                assert Decimal(misses(alarms, epsilon, delta)) <= least
            if d <= e <= 1:
                allowed = privacy.convert("approximate", "tv", epsilon, delta=delta, inverse=True)
                assert Decimal(allowed) <= ((1 + e - 2 * d) / (1 - e)).ln() if epsilon < 1 else math.isinf(allowed)
        allowed = Decimal(privacy.convert("pure", "kl", epsilon, inverse=True))
        assert allowed * tanh(allowed / 2) <= e
        if epsilon < 1:
            assert Decimal(privacy.convert("kl", "tv", epsilon, inverse=True)) <= e * ((1 + e) / (1 - e)).ln()
        tv = Decimal(privacy.convert("kl", "tv", epsilon))
        assert tv == 1 or tv * ((1 + tv) / (1 - tv)).ln() >= e


SCALES = [5e-324, 1e-310, 1e-200, 1e-20, 0.1, 1.0, 9.0, 1e20, 1e200, 1e308]


@each("sigma", SCALES)
def test_gaussian_noise_at_extreme_arguments(sigma):
    """For a quotient r of sensitivity and sigma, the total variation is erf(r / sqrt 8) >= r (1 - r^2 / 24) / sqrt(2 pi)."""
    with localcontext(prec=60):
        for sensitivity in SCALES:
            r = Decimal(sensitivity) / Decimal(sigma)
            bounded(privacy.convert("gaussian", "kl", sigma, sensitivity=sensitivity), r * r / 2)
            tv = r * (1 - r * r / 24) / Decimal("2.50662827463100050241576528481")
            for found in (
                privacy.convert("gaussian", "tv", sigma, sensitivity=sensitivity),
                privacy.gaussian_delta(0.0, sigma=sigma, sensitivity=sensitivity),
            ):
                assert 0 < found <= 1
                assert Decimal(found) >= (tv if r < 1 else Decimal("0.382"))
            for epsilon in (5e-324, 1e-9, 5.0, 40.0, 1e5):
                assert 0 < privacy.gaussian_delta(epsilon, sigma=sigma, sensitivity=sensitivity) <= 1
    assert privacy.gaussian_delta(5, sigma=9) == 5e-324


@pytest.mark.parametrize("delta", [5e-324, 1e-320, 1e-310, 1e-300, 1e-16, 0.5, 1 - 2**-53])
@pytest.mark.long
def test_noise_for_extreme_deltas_guarantees_them(delta):
    for epsilon in (1e-300, 1e-20, 1e-5, 0.5, 40.0, 1e3):
        for sensitivity in (5e-324, 1e-200, 1.0, 1e100):
            sigma = privacy.gaussian_sigma(epsilon, delta, sensitivity=sensitivity)
            assert math.isinf(sigma) or privacy.gaussian_delta(epsilon, sigma=sigma, sensitivity=sensitivity) <= delta
        rho = privacy.convert("concentrated", "approximate", delta, at=epsilon, inverse=True)
        assert rho >= 0 if delta < 1e-318 or epsilon < 1e-147 else rho > 0
        if rho > 0:
            assert 0 < privacy.convert("concentrated", "approximate", rho, at=epsilon) <= delta
    assert privacy.convert("concentrated", "approximate", 1e-5, at=40.0) == 5e-324


@each("rounds", [[5e-324], [5e-324] * 500, [1e-310] * 3, [0.1] * 50, [1e5], [1e100]])
def test_compositions_at_extreme_arguments(rounds):
    """Against the sum over the numbers of true answers, in decimals."""
    k, e = len(rounds), Decimal(rounds[0])
    for epsilon in (0.0, 5e-324, 1e-310, 1e-300, 0.5, 9e4):
        found = privacy.composition_delta(rounds, epsilon)
        with localcontext(prec=DIGITS):
            wrong = (-e).exp() if e < 10**6 else Decimal(0)
            exact = Decimal(0)
            for j in range(k + 1):
                loss = (2 * j - k) * e
                if loss > Decimal(epsilon):
                    share = math.comb(k, j) * wrong ** (k - j) / (1 + wrong) ** k if wrong or j < k else Decimal(1)
                    exact += share * -expm1(max(Decimal(epsilon) - loss, Decimal(-(10**6))))
            bounded(found, exact)


NEAR_ONE = [10**k for k in (3, 19, 25, 60, 120, 200, 330)]


@each("size", NEAR_ONE)
def test_exact_channels_with_ratios_near_one(size):
    """Rows (n + 1, n) and (n, n + 1): all parameters are positive, and above those in many digits."""
    channel = privacy.Channel([[size + 1, size], [size, size + 1]])
    with localcontext(prec=3 * len(str(size)) + 60):
        loss, total = ((Decimal(size) + 1) / size).ln(), 2 * Decimal(size) + 1
        for found, exact in (
            (channel.epsilon(), loss),
            (channel.tv(), 1 / total),
            (channel.kl(), loss / total),
            (channel.conditional_testing(), tanh(loss / 2)),
            (channel.delta(float(loss) / 3), ((size + 1) - (Decimal(float(loss) / 3)).exp() * size) / total),
            (channel.smooth([[0, 1], [1, 0]]), loss),
        ):
            bounded(found, exact)
            assert Decimal(found) <= exact * (1 + Decimal("3e-16")) or found == 5e-324
        assert Decimal(channel.disclosure_risk()) <= (1 - 1 / total) / 2


@each("epsilon", [0.0, 5e-324, 1e-200, 1e-95, 1e-60, 1e-9, 0.5])
@each("delta", [5e-324, 1e-20, 0.0078125])
def test_groups_are_rounded_up(epsilon, delta):
    for size in (1, 2, 3, 7):
        found = privacy.group(privacy.Guarantee("approximate", epsilon, delta), size)
        with localcontext(prec=DIGITS):
            exact = sum((j * Decimal(epsilon)).exp() for j in range(size)) * Decimal(delta)
            assert exact <= Decimal(found.delta) <= exact * (1 + Decimal("3e-16")) or size * delta < 1e-300


def test_tiny_total_variations_add_up_to_more_than_zero():
    tiny = privacy.Guarantee("tv", 5e-324)
    assert privacy.compose(tiny, tiny).epsilon == 1e-323
    assert privacy.compose(privacy.Guarantee("tv", 0.5), tiny).epsilon == math.nextafter(0.5, 1)
