"""Tests between two inputs: trade-off, disclosure risk and conditional testing, by enumeration and linear programs."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize_scalar

import ldpfast as ldp
from ldpfast import privacy
from ldpfast.privacy import Channel

from ..support.channels import as_doubles, events, integer_rows, ordered_pairs
from ..support.exact import least_double_not_below
from ..support.internals.privacy import least_error, misses

# Trade-off ------------------------------------------------------------------------------------------------------------


@given(integer_rows())
def test_no_event_errs_less_than_the_trade_off(rows):
    """Every event is a test. The vertices of the trade-off are attained."""
    channel = Channel(rows)
    points = []
    for p, q in ordered_pairs(channel):
        tests = events(p)
        alarms, missed = tests @ p, 1 - tests @ q
        assert (missed >= channel.misses(np.clip(alarms, 0, 1)) - 1e-12).all()
        points.append((alarms, missed))
    alarms, missed = np.concatenate([a for a, _ in points]), np.concatenate([m for _, m in points])
    grid = np.unique(np.round(alarms, 12))
    on_the_curve = [missed[np.abs(alarms - a) < 1e-11].min() - channel.misses(min(a, 1.0)) for a in grid]
    assert min(np.abs(on_the_curve)) < 1e-11
    assert float(np.min(alarms + missed)) / 2 == pytest.approx(channel.disclosure_risk(), abs=1e-12)


@given(integer_rows(), st.sampled_from([0.0, 0.01, 0.2]))
def test_privacy_bounds_every_test(rows, delta):
    """Equation 2: (epsilon, delta)-privacy holds if and only if the trade-off lies above two lines."""
    channel = Channel(rows)
    epsilon = channel.epsilon(delta)
    if math.isfinite(epsilon):
        alarms = np.linspace(0, 1, 101)
        assert (channel.misses(alarms) >= misses(alarms, epsilon, delta) - 1e-12).all()
        if epsilon > 1e-6:
            allowed = misses(np.linspace(0, 1, 20_001), epsilon * 0.9, delta)
            assert (channel.misses(np.linspace(0, 1, 20_001)) < allowed).any()


@pytest.mark.parametrize("delta", [5e-324, 1e-310, 1e-300, 1e-270, 1e-200, 1e-160, 1e-151, 1e-120])
def test_conditional_testing_with_a_tiny_delta_is_the_limit(delta):
    """Scaling the weights of a set does not change its value, so every delta below all probabilities is the same."""
    rows = [[2 / 7, 2 / 7, 2 / 7, 1 / 7], [4 / 13, 4 / 13, 1 / 13, 4 / 13]]
    limit = math.tanh(math.log((2 / 7) / (1 / 13) * (4 / 13) / (1 / 7)) / 4)
    assert Channel(rows).conditional_testing(delta) == pytest.approx(limit, rel=1e-12)
    assert Channel([[0.9, 0.1, 0.0], [0.1, 0.4, 0.5]]).conditional_testing(delta) == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("exponent", [160, 200, 260])
def test_conditional_testing_depends_on_quotients_of_delta_and_probabilities(exponent):
    """The differing reports and delta, both times a tiny number: the rest of the probability is a report without loss."""
    ordinary, tiny = 1e-5, 10.0**-exponent
    small = np.array([[0.3, 0.1, 0.05], [0.1, 0.2, 0.15]])
    found = []
    for scale in (ordinary, tiny):
        cells = small * scale
        channel = Channel(np.column_stack([cells, 1 - cells.sum(axis=1)]))
        found.append([channel.conditional_testing(mass * scale) for mass in (0.01, 0.05, 0.2, 0.4)])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-4)
    assert found[0] == sorted(found[0], reverse=True)
    assert found[0][-1] < found[0][0]


def test_disclosure_risk_of_randomized_response_equals_the_formula():
    for epsilon in (0.1, 1.0, 5.0):
        mechanism = ldp.Warner(epsilon)
        risk = mechanism.channel().disclosure_risk()
        assert risk == pytest.approx(privacy.disclosure_risk(mechanism.epsilon_realized), rel=1e-12)
        exact = Fraction(mechanism.channel().integers[0][1], 2**64)
        assert Fraction(risk) <= exact if exact < Fraction(1, 2) else True
    assert Channel([[2, 1], [1, 2]]).disclosure_risk() <= Fraction(1, 3)
    assert Channel([[2, 1], [1, 2]]).disclosure_risk() == -least_double_not_below(Fraction(-1, 3))


def test_plot_shows_the_trade_off():
    channel = Channel([[3, 1], [1, 3]])
    ax = channel.plot()
    lines = {line.get_label(): np.asarray(line.get_data()) for line in ax.get_lines()}
    assert len(lines) == 3
    np.testing.assert_allclose(lines["this channel, best test"][1], channel.misses(np.linspace(0, 1, 501)))
    assert len(Channel([[1, 0], [0, 1]]).plot(ax=ax).get_lines()) == 5
    assert channel.plot(ax=ax) is ax


def test_the_published_error_of_tests_is_refuted():
    """Barber and Duchi, equation (3), at epsilon 0 and delta 0.2.

    The printed (2 - delta) / (1 + e^epsilon) means that no test has a total variation above 0.1. This one has 0.2, as the
    corrected form allows.
    """
    channel = Channel([[0.3, 0.7], [0.1, 0.9]])
    delta = channel.delta(0.0)
    assert delta == pytest.approx(0.2)
    error = 2 * channel.disclosure_risk()
    assert error == pytest.approx(0.8)
    assert error < (2 - delta) / 2 - 0.09
    assert error == pytest.approx(least_error(0.0, delta))


# Conditional testing --------------------------------------------------------------------------------------------------


def total_variation_over_sets(p, q, mass):
    """Return the largest total variation of two rows restricted to a set of reports of at least this probability."""
    best = 0.0
    for size in range(1, len(p) + 1):
        for chosen in itertools.combinations(range(len(p)), size):
            a, b = p[list(chosen)], q[list(chosen)]
            if min(a.sum(), b.sum()) >= max(mass, 1e-300):
                best = max(best, 0.5 * np.abs(a / a.sum() - b / b.sum()).sum())
    return best


@given(integer_rows(zeros=False), st.sampled_from([0.0, 0.021, 0.11, 0.31, 0.77]))
def test_conditional_testing_over_sets_equals_the_enumeration(rows, mass):
    worst = max(total_variation_over_sets(p, q, mass) for p, q in ordered_pairs(Channel(rows)))
    for channel in (Channel(rows), as_doubles(rows)):
        assert channel.conditional_testing(mass, inherited=False) == pytest.approx(worst, abs=1e-12)
        assert channel.conditional_testing(mass, inherited=False) <= channel.conditional_testing(mass) + 1e-9


def test_the_mass_of_a_set_is_compared_exactly():
    """The masses are half of 2^64 words and one word less, which are equal in doubles."""
    half = 2**63
    channel = Channel([[half - 1, half + 1, 0], [half - 1, half, 1]])
    assert channel.conditional_testing(0.5, inherited=False) == least_double_not_below(Fraction(1, half + 1))


def weighted(p, q, s, r):
    """Return the largest gain of weights with masses s and r, by a linear program; None if there are no such weights."""
    gain = np.maximum(p / s - q / r, 0)
    found = linprog(-gain, A_eq=[p, q], b_eq=[s, r], bounds=(0, 1), method="highs")
    return -found.fun if found.success else None


@pytest.mark.long
@given(integer_rows(inputs=2), st.sampled_from([0.03, 0.2, 0.6]), st.floats(0, 1), st.floats(0, 1))
@settings(max_examples=10)
def test_inherited_conditional_testing_equals_linear_programs(rows, mass, u, v):
    """For two given masses, the best weights solve a linear program. The reference searches over one mass."""
    channel = Channel(rows)
    p, q = channel.matrix
    level = channel.conditional_testing(mass)
    assert (weighted(p, q, mass + u * (1 - mass), mass + v * (1 - mass)) or 0) <= level + 1e-6

    best = 0.0
    for a, b in ((p, q), (q, p)):  # which of the two masses is `mass`

        def line(r, a=a, b=b):
            return weighted(a, b, mass, r) or 0.0

        # The range of the other mass.
        ends = [sign * linprog(sign * b, A_eq=[a], b_eq=[mass], bounds=(0, 1)).fun for sign in (1, -1)]
        if ends[1] > mass:
            grid = np.linspace(max(ends[0], mass), ends[1], 9)
            k = int(np.argmax([line(r) for r in grid]))
            around = (grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)])
            fine = minimize_scalar(lambda r, f=line: -f(r), bounds=around, method="bounded", options={"xatol": 1e-4})
            best = max(best, line(grid[k]), -fine.fun)
    assert best == pytest.approx(level, abs=1e-3)
    assert best <= level + 1e-6


@pytest.mark.long
@pytest.mark.parametrize("concentration", [0.02, 0.1, 1.0])
def test_conditional_testing_decreases_in_the_mass(concentration):
    """Rows have entries down to 1e-200, where the fraction of a split report can lose all digits."""
    rng = np.random.default_rng(11)
    for reports in (2, 3, 4, 6) * 10:
        channel = Channel(rng.dirichlet(np.full(reports, concentration), 2))
        masses = [0.0, 1e-12, 0.01, 0.1, 0.5, 0.999]
        levels = [channel.conditional_testing(mass) for mass in masses]
        assert (np.diff(levels) <= 1e-9).all()
        assert all(
            channel.conditional_testing(m, inherited=False) <= v + 1e-9 for m, v in zip(masses, levels, strict=True)
        )
        assert channel.tv() <= levels[-1] + 1e-9


@given(integer_rows(zeros=False))
def test_conditional_testing_without_mass_is_a_function_of_the_ratios(rows):
    worst = 0
    for p, q in itertools.permutations(rows, 2):
        ratios = [Fraction(a, b) for a, b in zip(p, q, strict=True)]
        worst = max(worst, max(ratios) / min(ratios))
    root = math.sqrt(worst)
    assert Channel(rows).conditional_testing() == pytest.approx((root - 1) / (root + 1), abs=1e-15)


@given(integer_rows(), st.sampled_from([0.0, 0.01, 0.1, 0.3]))
def test_theorem_1_in_both_directions(rows, mass):
    """(epsilon, delta)-privacy implies inherited conditional testing privacy, and conversely."""
    channel = Channel(rows)
    level = channel.conditional_testing(mass)
    for delta in (0.0, 0.02, 0.2):
        epsilon = channel.epsilon(delta)
        if math.isfinite(epsilon):
            sharp = privacy.convert("approximate", "conditional-testing", epsilon, delta=delta, mass=mass)
            assert level <= sharp + 1e-9
            assert (
                sharp
                <= privacy.convert(
                    "approximate", "conditional-testing", epsilon, delta=delta, mass=mass, method="paper"
                )
                + 1e-9
            )
    if level < 1:
        epsilon = privacy.convert("conditional-testing", "pure", level)
        delta = privacy.convert("conditional-testing", "approximate", level, mass=mass, at=epsilon)
        assert channel.delta(epsilon) <= delta + 1e-9


def test_post_processing_can_increase_conditional_testing_over_sets():
    """A report that is split at random gives a set of mass 0.3 with a higher level. The inherited level stays the same."""
    whole = Channel([[4, 6], [2, 8]])
    split = whole.then([[1, 0, 0], [0, Fraction(1, 2), Fraction(1, 2)]])
    assert whole.conditional_testing(0.3, inherited=False) == least_double_not_below(Fraction(1, 5))
    assert split.conditional_testing(0.3, inherited=False) == least_double_not_below(Fraction(4, 7) - Fraction(1, 3))
    assert split.conditional_testing(0.3) == pytest.approx(whole.conditional_testing(0.3), abs=1e-12)
