"""What a channel guarantees, by every definition: against enumeration, linear programs, and in exact arithmetic."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize_scalar

import ldpfast as ldp
from ldpfast import privacy
from ldpfast.privacy import Channel, release_one_at_random
from ldpfast.privacy._divergence import trade_off

from .support.examples import MECHANISMS
from .test_privacy import exact_log, least_double_not_below

EPSILONS = [0.0, 1e-9, 0.3, 1.0, math.log(3), 5.0, 800.0]


@st.composite
def integer_rows(draw, inputs=2, reports=None, zeros=True):
    """Rows of integers with one sum; some entries may be 0."""
    i, m = inputs, reports or draw(st.integers(2, 5))
    total = draw(st.sampled_from([m * 3, 100, 2**64]))
    rows = []
    for _ in range(i):
        weights = draw(st.lists(st.integers(0 if zeros else 1, 9), min_size=m, max_size=m).filter(any))
        row = [w * (total - m) // sum(weights) + (not zeros) for w in weights]
        row[weights.index(max(weights))] += total - sum(row)
        rows.append(row)
    return rows


def as_doubles(rows):
    return Channel(np.array([[v / sum(row) for v in row] for row in rows]))


def ordered_pairs(channel):
    for i, j in itertools.permutations(range(len(channel.matrix)), 2):
        yield channel.matrix[i], channel.matrix[j]


def events(p):
    return (np.arange(1 << len(p))[:, None] >> np.arange(len(p)) & 1).astype(float)


# The definitions ------------------------------------------------------------------------------------------------------


@given(integer_rows(), st.floats(0, 4))
def test_delta_and_total_variation_by_enumeration_of_all_events(rows, epsilon):
    channel = Channel(rows)
    for level in (epsilon, 0.0):
        worst = max(float((events(p) @ (p - math.exp(level) * q)).max()) for p, q in ordered_pairs(channel))
        assert channel.delta(level) == pytest.approx(worst, rel=1e-12, abs=1e-14)
    assert channel.tv() == channel.delta(0.0)
    assert channel.tv() == least_double_not_below(
        max(Fraction(sum(abs(a - b) for a, b in zip(p, q, strict=True)), 2 * sum(p)) for p in rows for q in rows)
    )


@given(integer_rows())
def test_doubles_and_integers_agree(rows):
    exact, real = Channel(rows), as_doubles(rows)
    close = {"rel": 1e-9, "abs": 1e-12}
    assert real.epsilon() == pytest.approx(exact.epsilon(), **close)
    np.testing.assert_allclose(real.delta(EPSILONS), exact.delta(EPSILONS), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        real.epsilon([0.013, 0.107, 0.513]), exact.epsilon([0.013, 0.107, 0.513]), rtol=1e-9, atol=1e-12
    )
    assert real.kl() == pytest.approx(exact.kl(), **close)
    assert real.tv() == pytest.approx(exact.tv(), **close)
    assert real.disclosure_risk() == pytest.approx(exact.disclosure_risk(), **close)
    assert real.smooth(1 - np.eye(len(rows))) == pytest.approx(exact.smooth(1 - np.eye(len(rows))), **close)
    for mass in (0.0, 0.053, 0.307):
        assert real.conditional_testing(mass) == pytest.approx(exact.conditional_testing(mass), **close)
    np.testing.assert_allclose(real.misses([0, 0.1, 0.5, 1]), exact.misses([0, 0.1, 0.5, 1]), rtol=1e-9, atol=1e-12)


@given(integer_rows(zeros=False), st.floats(0, 4))
def test_exact_delta_is_rounded_up_from_the_true_one(rows, epsilon):
    """In decimals of 200 digits."""
    with localcontext() as context:
        context.prec = 200
        power = Decimal(epsilon).exp()
        worst = max(
            sum(max(Decimal(0), p - power * q) for p, q in zip(*pair, strict=True)) / sum(pair[0])
            for pair in itertools.permutations(rows, 2)
        )
        nearest = Channel(rows).delta(epsilon)
        assert Decimal(math.nextafter(nearest, -1)) < worst <= Decimal(nearest)


@given(integer_rows(zeros=False))
def test_exact_kl_is_rounded_up_from_the_true_one(rows):
    with localcontext() as context:
        context.prec = 200
        worst = max(
            sum((p * exact_log(Fraction(p, q)) for p, q in zip(*pair, strict=True)), Decimal(0)) / sum(pair[0])
            for pair in itertools.permutations(rows, 2)
        )
        nearest = Channel(rows).kl()
        assert Decimal(math.nextafter(nearest, -1)) < worst + Decimal("1e-90")
        assert worst <= Decimal(nearest) + Decimal("1e-90")


@given(integer_rows(), st.sampled_from([0.0, 1e-9, 0.01, 0.2, 0.9]))
def test_epsilon_is_the_inverse_of_delta(rows, delta):
    for channel in (Channel(rows), as_doubles(rows)):
        epsilon = channel.epsilon(delta)
        if math.isfinite(epsilon):
            assert channel.delta(epsilon) <= delta * (1 + 1e-9) + 1e-15
            if epsilon > 1e-6:
                assert channel.delta(epsilon * (1 - 1e-6)) > delta
        else:
            assert channel.delta(700.0) > delta


def test_a_curve_has_the_shape_of_its_argument():
    channel = Channel([[3, 1], [1, 3]])
    assert channel.delta(np.zeros((2, 3))).shape == (2, 3)
    assert isinstance(channel.delta(1), float)
    assert isinstance(channel.epsilon(), float)
    assert channel.epsilon([0.0, 0.5]).tolist() == [channel.epsilon(), 0.0]


@given(integer_rows())
def test_f_divergences_that_have_names(rows):
    """A-2: total variation is the divergence of |t - 1| / 2; that of |t - 1| is twice as much."""
    channel = as_doubles(rows)
    assert channel.divergence(lambda t: abs(t - 1) / 2, 0.5) == pytest.approx(channel.tv(), abs=1e-12)
    assert channel.divergence(lambda t: abs(t - 1), 1.0) == pytest.approx(2 * channel.tv(), abs=1e-12)
    hellinger = max(((np.sqrt(p) - np.sqrt(q)) ** 2).sum() for p, q in ordered_pairs(channel))
    assert channel.divergence(lambda t: (np.sqrt(t) - 1) ** 2, 1.0) == pytest.approx(hellinger, abs=1e-12)
    kl = channel.divergence(lambda t: np.where(t > 0, t * np.log(np.maximum(t, 1e-300)), 0))
    assert kl == pytest.approx(channel.kl(), rel=1e-9, abs=1e-12)


@given(integer_rows(inputs=3))
def test_smooth_privacy_is_the_loss_per_distance(rows):
    """Of inputs at 0, 1 and 3 on a line."""
    places = np.array([0.0, 1.0, 3.0])
    metric = np.abs(places[:, None] - places)
    worst = max(Channel([rows[i], rows[j]]).epsilon() / metric[i, j] for i, j in ((0, 1), (0, 2), (1, 2)))
    assert Channel(rows).smooth(metric) == pytest.approx(worst, rel=1e-15)
    assert Channel(rows).smooth(metric) >= worst
    together = Channel([rows[0], rows[0], rows[1]])
    metric[0, 1] = metric[1, 0] = 0
    assert together.smooth(metric) == pytest.approx(Channel(rows[:2]).epsilon() / 2, rel=1e-15)
    different = Channel(rows[:2]).epsilon() > 0
    assert Channel(rows[:2]).smooth(np.zeros((2, 2))) == (math.inf if different else 0.0)


def test_neighbours_limit_every_definition_but_the_smooth_one():
    rows = [[4, 4, 0], [3, 5, 0], [0, 1, 7]]
    all_of_them, chain = Channel(rows), Channel(rows, neighbours=[(0, 1)])
    pair = Channel(rows[:2])
    for real in (False, True):
        if real:
            chain = Channel(chain.matrix, neighbours=[(0, 1)])
        assert chain.epsilon() == pytest.approx(pair.epsilon(), rel=1e-14)
        assert chain.tv() == pytest.approx(pair.tv(), rel=1e-14)
        assert chain.kl() == pytest.approx(pair.kl(), rel=1e-14)
        assert chain.conditional_testing(0.1) == pytest.approx(pair.conditional_testing(0.1), rel=1e-14)
        assert chain.conditional_testing(0.1, inherited=False) == pytest.approx(
            pair.conditional_testing(0.1, inherited=False), rel=1e-14
        )
        assert chain.misses(0.25) == pytest.approx(pair.misses(0.25), rel=1e-14)
        assert chain.smooth(1 - np.eye(3)) == math.inf
    assert all_of_them.epsilon() == math.inf


@pytest.mark.parametrize("rows", [[[1, 2, 3]], [[0.25, 0.75]]])
def test_one_input_tells_nothing(rows):
    channel = Channel(rows)
    assert channel.epsilon(0.1) == channel.delta(0.0) == channel.tv() == channel.kl() == 0
    assert channel.conditional_testing() == channel.conditional_testing(inherited=False) == 0
    assert channel.divergence(lambda t: (t - 1) ** 2) == channel.smooth([[0]]) == 0
    assert channel.disclosure_risk() == 0.5
    assert channel.misses(0.25) == 0.75


# Tests between two inputs ---------------------------------------------------------------------------------------------


@given(integer_rows())
def test_no_event_errs_less_than_the_trade_off(rows):
    """Every event, and every mixture of two events, as a test; the vertices are attained."""
    channel = Channel(rows)
    seen = []
    for p, q in ordered_pairs(channel):
        tests = events(p)
        alarms, missed = tests @ p, 1 - tests @ q
        assert (missed >= channel.misses(np.clip(alarms, 0, 1)) - 1e-12).all()
        seen.append((alarms, missed))
    alarms, missed = np.concatenate([a for a, _ in seen]), np.concatenate([m for _, m in seen])
    grid = np.unique(np.round(alarms, 12))
    on_the_curve = [missed[np.abs(alarms - a) < 1e-11].min() - channel.misses(min(a, 1.0)) for a in grid]
    assert min(np.abs(on_the_curve)) < 1e-11
    assert float(np.min(alarms + missed)) / 2 == pytest.approx(channel.disclosure_risk(), abs=1e-12)


@given(integer_rows(), st.sampled_from([0.0, 0.01, 0.2]))
def test_privacy_is_a_bound_on_every_test(rows, delta):
    """Equation 2: (epsilon, delta)-privacy holds iff the trade-off lies above two lines."""
    channel = Channel(rows)
    epsilon = channel.epsilon(delta)
    if math.isfinite(epsilon):
        alarms = np.linspace(0, 1, 101)
        assert (channel.misses(alarms) >= privacy.misses(alarms, epsilon, delta) - 1e-12).all()
        if epsilon > 1e-6:
            allowed = privacy.misses(np.linspace(0, 1, 20_001), epsilon * 0.9, delta)
            assert (channel.misses(np.linspace(0, 1, 20_001)) < allowed).any()


def test_disclosure_risk_of_randomised_response_is_the_formula():
    for epsilon in (0.1, 1.0, 5.0):
        mechanism = ldp.Warner(epsilon)
        risk = mechanism.channel().disclosure_risk()
        assert risk == pytest.approx(privacy.disclosure_risk(mechanism.epsilon_realized), rel=1e-12)
        exact = Fraction(mechanism.channel()._exact[0][1], 2**64)
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


# Conditional testing --------------------------------------------------------------------------------------------------


def over_sets(p, q, mass):
    best = 0.0
    for size in range(1, len(p) + 1):
        for chosen in itertools.combinations(range(len(p)), size):
            a, b = p[list(chosen)], q[list(chosen)]
            if min(a.sum(), b.sum()) >= max(mass, 1e-300):
                best = max(best, 0.5 * np.abs(a / a.sum() - b / b.sum()).sum())
    return best


@given(integer_rows(zeros=False), st.sampled_from([0.0, 0.021, 0.11, 0.31, 0.77]))
def test_conditional_testing_over_sets_by_enumeration(rows, mass):
    worst = max(over_sets(p, q, mass) for p, q in ordered_pairs(Channel(rows)))
    for channel in (Channel(rows), as_doubles(rows)):
        assert channel.conditional_testing(mass, inherited=False) == pytest.approx(worst, abs=1e-12)
        assert channel.conditional_testing(mass, inherited=False) <= channel.conditional_testing(mass) + 1e-9


def test_the_mass_of_a_set_is_compared_exactly():
    """One half of 2^64 words and one word less: in doubles they are equal."""
    half = 2**63
    channel = Channel([[half - 1, half + 1, 0], [half - 1, half, 1]])
    assert channel.conditional_testing(0.5, inherited=False) == least_double_not_below(Fraction(1, half + 1))


def weighted(p, q, s, r):
    """The best weights with masses s and r, by a linear program; None where there are none."""
    gain = np.maximum(p / s - q / r, 0)
    found = linprog(-gain, A_eq=[p, q], b_eq=[s, r], bounds=(0, 1), method="highs")
    return -found.fun if found.success else None


@given(integer_rows(inputs=2), st.sampled_from([0.03, 0.2, 0.6]), st.floats(0, 1), st.floats(0, 1))
@settings(max_examples=10)
def test_inherited_conditional_testing_by_linear_programs(rows, mass, u, v):
    """Given both masses the best weights are a linear program; what is left is a search over one number."""
    channel = Channel(rows)
    p, q = channel.matrix
    level = channel.conditional_testing(mass)
    assert (weighted(p, q, mass + u * (1 - mass), mass + v * (1 - mass)) or 0) <= level + 1e-6

    best = 0.0
    for a, b in ((p, q), (q, p)):  # which of the two masses is `mass`

        def line(r, a=a, b=b):
            return weighted(a, b, mass, r) or 0.0

        # The other mass cannot be outside of this range.
        ends = [sign * linprog(sign * b, A_eq=[a], b_eq=[mass], bounds=(0, 1)).fun for sign in (1, -1)]
        if ends[1] > mass:
            grid = np.linspace(max(ends[0], mass), ends[1], 9)
            k = int(np.argmax([line(r) for r in grid]))
            around = (grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)])
            fine = minimize_scalar(lambda r, f=line: -f(r), bounds=around, method="bounded", options={"xatol": 1e-4})
            best = max(best, line(grid[k]), -fine.fun)
    assert best == pytest.approx(level, abs=1e-3)
    assert best <= level + 1e-6


@pytest.mark.parametrize("concentration", [0.02, 0.1, 1.0])
def test_conditional_testing_falls_with_the_mass(concentration):
    """Of rows with entries down to 1e-200, where a careless fraction of a cut report loses all its digits."""
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
    """(epsilon, delta)-privacy gives conditional testing privacy, inherited, and the other way round."""
    channel = Channel(rows)
    level = channel.conditional_testing(mass)
    for delta in (0.0, 0.02, 0.2):
        epsilon = channel.epsilon(delta)
        if math.isfinite(epsilon):
            sharp = privacy.conditional_testing_from_dp(epsilon, delta, mass)
            assert level <= sharp + 1e-9
            assert sharp <= privacy.conditional_testing_from_dp(epsilon, delta, mass, mode="paper") + 1e-9
    if level < 1:
        epsilon, delta = privacy.dp_from_conditional_testing(level, mass)
        assert channel.delta(epsilon) <= delta + 1e-9


def test_post_processing_can_increase_conditional_testing_over_sets():
    """A report that is split at random makes a set of the mass 0.3 that tells more. The inherited level stays."""
    whole = Channel([[4, 6], [2, 8]])
    split = whole.then([[1, 0, 0], [0, Fraction(1, 2), Fraction(1, 2)]])
    assert whole.conditional_testing(0.3, inherited=False) == least_double_not_below(Fraction(1, 5))
    assert split.conditional_testing(0.3, inherited=False) == least_double_not_below(Fraction(4, 7) - Fraction(1, 3))
    assert split.conditional_testing(0.3) == pytest.approx(whole.conditional_testing(0.3), abs=1e-12)


# Algebra --------------------------------------------------------------------------------------------------------------


@given(integer_rows(), st.data())
def test_post_processing_never_tells_more(rows, data):
    channel = Channel(rows)
    after = channel.then(data.draw(integer_rows(inputs=len(rows[0]))))
    assert after._exact is not None
    assert after.epsilon() <= channel.epsilon()
    assert (after.delta(EPSILONS) <= channel.delta(EPSILONS)).all()
    assert after.kl() <= channel.kl()
    assert after.disclosure_risk() >= channel.disclosure_risk()
    for mass in (0.0, 0.1, 0.4):
        assert after.conditional_testing(mass) <= channel.conditional_testing(mass) + 1e-9
    alarms = np.linspace(0, 1, 21)
    assert (after.misses(alarms) >= channel.misses(alarms) - 1e-12).all()
    chi2 = [c.divergence(lambda t: (t - 1) ** 2) for c in (after, channel)]
    assert chi2[0] <= chi2[1] * (1 + 1e-9) + 1e-12
    assert after.less_informative_than(channel)


@given(
    integer_rows(reports=3),
    integer_rows(reports=3),
)
def test_independent_reports_add_up(first, second):
    a, b = Channel(first), Channel(second)
    joint = a.product(b)
    assert joint._exact is not None
    assert joint.matrix.shape == (2, len(first[0]) * len(second[0]))
    np.testing.assert_allclose(joint.matrix[1], np.kron(a.matrix[1], b.matrix[1]), rtol=1e-14)
    assert joint.epsilon() <= a.epsilon() + b.epsilon() + 1e-12
    assert max(a.kl(), b.kl()) <= joint.kl() <= a.kl() + b.kl() + 1e-12
    assert joint.tv() <= 1 - (1 - a.tv()) * (1 - b.tv()) + 1e-12
    for delta in (0.0, 0.1):
        both = a.epsilon(delta) + b.epsilon(delta)
        if math.isfinite(both):
            assert joint.delta(both) <= 2 * delta + 1e-12
    assert a.less_informative_than(joint)
    assert b.less_informative_than(joint)


def test_kl_and_epsilon_of_a_pair_add_exactly():
    a = Channel([[3, 1], [1, 3]])
    assert a.product(a).kl() == pytest.approx(2 * a.kl(), rel=1e-15)
    assert a.product(a).epsilon() == least_double_not_below(exact_log(Fraction(9)))


def test_mixed_channels_are_doubles():
    exact, real = Channel([[3, 1], [1, 3]]), Channel([[0.75, 0.25], [0.25, 0.75]])
    for joint in (exact.product(real), real.product(exact), exact.then(real), real.then(exact)):
        assert joint._exact is None
    assert exact.product([[0.75, 0.25], [0.25, 0.75]]).tv() == pytest.approx(exact.product(exact).tv(), rel=1e-14)


def test_the_order_of_channels_is_partial():
    """Better at the first question, worse at the second: neither is made of the other."""
    first = Channel([[9, 1], [5, 5], [5, 5]])
    second = Channel([[5, 5], [5, 5], [9, 1]])
    assert not first.less_informative_than(second)
    assert not second.less_informative_than(first)
    # Equal law of the ratio in every pair, in other words, other order: equivalent.
    assert Channel([[1, 2, 3], [3, 2, 1]]).less_informative_than([[2, 1, 1, 2], [2, 3, 3 - 2, 0]])
    shuffled = Channel([[3, 1, 1, 1], [1, 1, 1, 3]])
    assert shuffled.less_informative_than([[1, 3, 2], [1, 1, 4]]) is False


@given(integer_rows(), integer_rows())
def test_of_two_inputs_the_order_is_that_of_the_trade_offs(first, second):
    """Blackwell: with two inputs, one channel is made of the other iff its best tests are nowhere better. The linear program
    and the sorted ratios know nothing of each other. What is missing bounds what a guess can lose."""
    a, b = Channel(first), Channel(second)
    alarms = np.concatenate([np.linspace(0, 1, 101), *(events(c.matrix[0]) @ c.matrix[0] for c in (a, b))])
    for source, target, missing in ((a, b, a.deficiency(b)), (b, a, b.deficiency(a))):
        curves = [trade_off(*c.matrix, np.minimum(alarms, 1)) for c in (source, target)]
        lost = float(np.max(curves[0] - curves[1]))  # misses that only the source has
        assert source.less_informative_than(target) == (target.deficiency(source) <= 1e-7)
        assert (missing <= 1e-7) == (lost <= 1e-7)
        later = trade_off(*source.matrix, np.minimum(alarms + missing, 1))
        assert (later <= curves[1] + missing + 1e-9).all()
        assert source.disclosure_risk() <= target.disclosure_risk() + missing + 1e-9


@pytest.mark.parametrize("tiny", [1e-12, 1e-30, 1e-300])
def test_deficiency_of_rare_reports(tiny):
    """What is too rare for a linear program does not count, and nothing breaks."""
    channel = Channel(np.array([[1.0, tiny, tiny / 2, 0.0], [1.0, 0.0, tiny, tiny], [tiny, 1.0, 0.0, 0.0]]))
    garbled = channel.then([[0.25, 0.75], [1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    assert garbled.less_informative_than(channel)
    assert channel.deficiency(channel) <= 1e-9


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_deficiency_of_a_coarser_coin(epsilon):
    """From odds a to odds b > a: no post-processing of a binary coin makes it sharper, it misses b by the difference."""
    coin, sharper = ldp.Warner(epsilon).channel(), ldp.Warner(2 * epsilon).channel()
    assert coin.deficiency(sharper) == pytest.approx(sharper.matrix[0, 0] - coin.matrix[0, 0], abs=1e-8)
    assert sharper.deficiency(coin) == pytest.approx(0, abs=1e-8)
    assert coin.less_informative_than(sharper)
    assert not sharper.less_informative_than(coin)


# The cautionary example -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n, k", [(2, 3), (5, 2), (7, 3), (200, 2)])
def test_one_record_at_random_has_the_levels_that_make_it_a_warning(n, k):
    channel = release_one_at_random(n, k)
    assert channel.matrix.shape == (math.comb(n + k - 1, k - 1), k)
    assert channel.tv() == least_double_not_below(Fraction(1, n))
    assert set(channel.delta([0.0, 1.0, 100.0])) == {channel.tv()}
    assert channel.epsilon(channel.tv()) == 0
    assert channel.epsilon(0.5 / n) == channel.epsilon() == channel.kl() == math.inf
    assert channel.conditional_testing() == 1
    assert channel.conditional_testing(1.01 / n) < 1
    assert channel.neighbours is not None
    for i, j in channel.neighbours:
        assert np.abs(channel.matrix[i] - channel.matrix[j]).sum() * n == pytest.approx(2)


def test_neighbours_of_histograms_are_all_moves_of_one_record():
    channel = release_one_at_random(3, 3)
    counts = np.rint(3 * channel.matrix)
    expected = {
        frozenset((i, j))
        for i, j in itertools.combinations(range(len(counts)), 2)
        if np.abs(counts[i] - counts[j]).sum() == 2
    }
    assert {frozenset(pair) for pair in channel.neighbours} == expected


# Corrections to published statements ----------------------------------------------------------------------------------


def test_a_1_the_published_test_error_is_refuted():
    """Barber and Duchi, equation (3): at epsilon 0 and delta 0.2 the printed (2 - delta) / (1 + e^epsilon) says that no
    test has a total variation above 0.1. This one has 0.2, as the corrected form allows."""
    channel = Channel([[0.3, 0.7], [0.1, 0.9]])
    delta = channel.delta(0.0)
    assert delta == pytest.approx(0.2)
    error = 2 * channel.disclosure_risk()
    assert error == pytest.approx(0.8)
    assert error < (2 - delta) / 2 - 0.09
    assert error == pytest.approx(privacy.least_error(0.0, delta))


@pytest.mark.parametrize("n", [1, 2, 4])
def test_a_3_marginals_need_no_factor_two(n):
    """A t-private release of n independent records: the total variation of the released marginals is at most n t times that of
    the records' laws, and one record at random attains it; the published bound is twice as large."""
    p, q = np.array([0.9, 0.1]), np.array([0.4, 0.6])
    channel = release_one_at_random(n)
    heads = np.rint(n * channel.matrix[:, 0]).astype(int)
    chances = [[math.comb(n, h) * law[0] ** h * law[1] ** (n - h) for h in heads] for law in (p, q)]
    marginals = np.array(chances) @ channel.matrix
    marginal, records = 0.5 * np.abs(marginals[0] - marginals[1]).sum(), 0.5 * np.abs(p - q).sum()
    assert marginal == pytest.approx(n * channel.tv() * records, rel=1e-12)


# Mechanisms -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_every_mechanism_is_certified_or_has_too_many_reports(mechanism):
    """By its channel: epsilon to the last bit, and what the conversions say of it."""
    if mechanism._channel() is None:
        with pytest.raises(ValueError, match=r"has too many reports to enumerate$"):
            mechanism.channel()
        assert not isinstance(mechanism, ldp.Warner | ldp.Bins | ldp.Residue | ldp.SignBit)
        return
    channel = mechanism.channel()
    epsilon = mechanism.epsilon_realized
    assert channel._exact is not None
    assert channel.epsilon() == epsilon <= mechanism.epsilon
    assert channel.delta(epsilon) == 0
    assert channel.delta(math.nextafter(math.nextafter(epsilon, 0), 0)) > 0
    assert channel.tv() <= privacy.tv_from_dp(epsilon) * (1 + 1e-15)
    assert channel.kl() <= privacy.kl_from_dp(epsilon) * (1 + 1e-15)
    assert channel.disclosure_risk() >= privacy.disclosure_risk(epsilon) * (1 - 1e-15)
    assert channel.conditional_testing() <= privacy.conditional_testing_from_dp(epsilon) * (1 + 1e-15)


# Bad input ------------------------------------------------------------------------------------------------------------

CHANNEL = Channel([[3, 1], [1, 3]])


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: CHANNEL.delta(-0.1), r"^epsilon must be in \[0, inf\), got -0.1$"),
        (lambda: CHANNEL.delta([0, math.inf]), r"^epsilon must be in \[0, inf\), got inf$"),
        (lambda: CHANNEL.delta(math.nan), r"^epsilon must be in \[0, inf\), got nan$"),
        (lambda: CHANNEL.epsilon(1.0), r"^delta must be in \[0, 1\), got 1.0$"),
        (lambda: CHANNEL.conditional_testing(1), r"^delta must be in \[0, 1\), got 1.0$"),
        (lambda: CHANNEL.misses(1.5), r"^false_alarms must be in \[0, 1\], got 1.5$"),
        (
            lambda: CHANNEL.smooth([[0, 1]]),
            r"^metric must be a symmetric matrix of shape \(2, 2\), got shape \(1, 2\)$",
        ),
        (lambda: CHANNEL.smooth([[0, 1], [2, 0]]), r"^metric must be a symmetric matrix"),
        (lambda: CHANNEL.smooth([[0, -1], [-1, 0]]), r"^metric must be in \[0, inf\), got -1.0$"),
        (lambda: CHANNEL.divergence(lambda t: 1.0), r"^f must give one number for each"),
        (lambda: CHANNEL.then(Channel([[1], [1], [1]])), r"^other must have 2 inputs, one for each report, got 3$"),
        (lambda: CHANNEL.product([[1], [1], [1]]), r"^other must have 2 inputs, got 3$"),
        (lambda: CHANNEL.deficiency([[1], [1], [1]]), r"^other must have 2 inputs, got 3$"),
        (lambda: CHANNEL.product(Channel([[1], [1]], neighbours=[])), r"^other must have the same neighbours$"),
        (lambda: Channel([[1], [1]], neighbours=[(0, 2)]), r"^neighbours must be an integer in \[0, 1\], got 2$"),
        (
            lambda: Channel([[1], [1]], neighbours=[(1, 1)]),
            r"^neighbours must be pairs of different inputs, got \(1, 1\)$",
        ),
        (lambda: Channel([[1], [1]], neighbours=[1]), r"^neighbours must be pairs of inputs, got 1$"),
        (
            lambda: Channel(np.full((2, 15), 1)).conditional_testing(inherited=False),
            r"^inherited must be True for a channel of more than 14 reports, this one has 15$",
        ),
        (lambda: release_one_at_random(0), r"^n must be an integer >= 1, got 0$"),
        (lambda: release_one_at_random(2, 1), r"^k must be an integer >= 2, got 1$"),
        (lambda: release_one_at_random(1000, 4), r"^n and k must give at most 100,000 entries, got n=1000 and k=4$"),
    ],
)
def test_bad_values(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: CHANNEL.delta("1"), r"^epsilon must be real numbers"),
        (lambda: CHANNEL.divergence(3), r"^f must be callable, got int$"),
        (lambda: CHANNEL.conditional_testing(0.0, inherited=1), r"^inherited must be a bool, got int$"),
        (lambda: Channel([[1], [1]], neighbours=[(0, 0.5)]), r"^neighbours must be an integer, got float$"),
    ],
)
def test_bad_kinds(call, message):
    with pytest.raises(TypeError, match=message):
        call()
