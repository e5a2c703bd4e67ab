"""Finite channels: exact losses, algebra, and the channels of mechanisms."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpfast as ldp
from ldpfast import privacy
from ldpfast.privacy import Channel

from ..cards import CARDS, MECHANISMS
from ..support.cases import each
from ..support.channels import as_doubles, events, integer_rows, ordered_pairs
from ..support.exact import exact_log, least_double_not_below

LARGE = 2**64
EPSILONS = [0.0, 1e-9, 0.3, 1.0, math.log(3), 5.0, 800.0]


# Construction ---------------------------------------------------------------------------------------------------------


@pytest.mark.claim(
    "For integers and fractions, only the last step is rounded, toward the larger loss.", "Composition and audits"
)
@given(st.integers(2, 5), st.integers(2, 5), st.data())
def test_epsilon_of_integers_is_the_exact_logarithm_rounded_up(inputs, reports, data):
    total = data.draw(st.sampled_from([100, 2**32, LARGE, 2**128]))
    rows = []
    for _ in range(inputs):
        cuts = sorted(data.draw(st.sets(st.integers(1, total - 1), min_size=reports - 1, max_size=reports - 1)))
        rows.append([b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True)])
    channel = Channel(rows)
    worst = max(Fraction(max(column), min(column)) for column in zip(*rows, strict=True))
    assert channel.epsilon() == least_double_not_below(exact_log(worst))
    np.testing.assert_allclose(channel.matrix, [[v / total for v in row] for row in rows], rtol=1e-15)


@pytest.mark.parametrize("m", [LARGE // 2 + 1, LARGE // 2 + 2**20, 13485650502877570762, LARGE - 1])
def test_integers_of_64_bit_coins_are_exact(m):
    """A difference of one unit changes the loss; doubles and arrays of 64 bits would lose it."""
    channel = Channel([[m, LARGE - m], [LARGE - m, m]])
    ratio = Fraction(m, LARGE - m)
    assert channel.epsilon() == least_double_not_below(exact_log(ratio))
    assert Fraction(channel.epsilon()) >= Fraction(exact_log(ratio))


def test_fractions_are_exact():
    p = Fraction(2, 3)
    channel = Channel([[p, 1 - p], [1 - p, p]])
    assert channel.epsilon() == least_double_not_below(exact_log(Fraction(2)))
    assert Channel(
        [[Fraction(1, 3), Fraction(2, 3)], [Fraction(1, 2), Fraction(1, 2)]]
    ).epsilon() == least_double_not_below(exact_log(Fraction(3, 2)))
    np.testing.assert_allclose(channel.matrix, [[2 / 3, 1 / 3], [1 / 3, 2 / 3]], rtol=1e-15)


def test_floats_are_taken_as_they_are():
    for dtype in (np.float64, np.float32):
        channel = Channel(np.array([[0.75, 0.25], [0.5, 0.5]], dtype))
        assert channel.epsilon() == pytest.approx(math.log(2), rel=1e-15)
        assert channel.matrix.dtype == np.float64
        assert Channel(list(np.array([[0.75, 0.25], [0.5, 0.5]], dtype))).epsilon() == channel.epsilon()


def test_floats_of_very_different_size_have_a_finite_ratio():
    tiny = Channel([[1e-320, 1.0], [1.0, 1e-320]])
    assert tiny.epsilon() == pytest.approx(-math.log(1e-320), rel=1e-12)


@pytest.mark.parametrize("half", [1, Fraction(1, 2), 0.5])
def test_a_report_of_only_one_input_has_infinite_loss(half):
    assert Channel([[2 * half, 0 * half], [0 * half, 2 * half]]).epsilon() == math.inf
    assert Channel([[half, half, 0 * half], [half, 0 * half, half], [half, half, 0 * half]]).epsilon() == math.inf


@pytest.mark.parametrize("half", [1, Fraction(1, 2), 0.5])
def test_a_report_of_no_input_has_no_loss(half):
    assert Channel([[half, 0 * half, half], [half, 0 * half, half]]).epsilon() == 0.0


def test_one_input_and_equal_inputs_have_no_loss():
    assert Channel([[1, 2, 3]]).epsilon() == 0.0
    assert Channel([[0.2, 0.8]] * 3).epsilon() == 0.0


@pytest.mark.parametrize("rows", [[[1, 2, 3]], [[0.25, 0.75]]])
def test_one_input_has_no_loss_of_any_definition(rows):
    channel = Channel(rows)
    assert channel.epsilon(0.1) == channel.delta(0.0) == channel.tv() == channel.kl() == 0
    assert channel.conditional_testing() == channel.conditional_testing(inherited=False) == 0
    assert channel.divergence(lambda t: (t - 1) ** 2) == channel.smooth([[0]]) == 0
    assert channel.disclosure_risk() == 0.5
    assert channel.misses(0.25) == 0.75


def test_the_matrix_is_read_only():
    channel = Channel([[3, 1], [1, 3]])
    with pytest.raises(ValueError, match=r"read-only"):
        channel.matrix[0, 0] = 0
    source = np.array([[0.75, 0.25], [0.25, 0.75]])
    channel = Channel(source)
    source[0] = 0.5
    assert channel.matrix[0, 0] == 0.75
    assert source.flags.writeable


def test_the_repr_names_size_and_epsilon():
    assert repr(Channel([[3, 1], [1, 3]])) == "<Channel: 2 inputs, 2 reports, epsilon = 1.09861>"


@each("matrix", [3, [1, 2], [[[1]]], [], [[]], np.zeros((0, 3))])
def test_matrices_of_other_shapes_are_rejected(matrix):
    with pytest.raises(ValueError, match=r"^matrix must have shape \(inputs, reports\), got shape "):
        Channel(matrix)


@each(
    "matrix",
    [
        [[1, -1], [1, 1]],
        [[Fraction(-1, 2), Fraction(3, 2)]],
        [[-0.5, 1.5]],
        [[math.nan, 1.0]],
        [[math.inf, 0.0]],
        [[0.5, 0.6]],
        [[0.5, 0.5], [0.5, 0.4]],
        [[1, 2], [1, 3]],
        [[0, 0]],
        [[Fraction(1, 2), Fraction(1, 3)], [Fraction(1, 2), Fraction(1, 2)]],
        [[1, 2], [1]],
        np.array([[math.inf, Fraction(1)]], object),
    ],
    ids=str,
)
def test_rows_that_are_not_probabilities_are_rejected(matrix):
    with pytest.raises(ValueError, match=r"^matrix must "):
        Channel(matrix)


@pytest.mark.parametrize("matrix", [[["a", "b"]], [[1j, 0]], [[None, 1]], np.zeros((1, 1), "M8[s]")], ids=str)
def test_entries_that_are_not_numbers_are_rejected(matrix):
    with pytest.raises(TypeError, match=r"^matrix must hold "):
        Channel(matrix)


# Definitions of privacy -----------------------------------------------------------------------------------------------


@given(integer_rows(), st.floats(0, 4))
def test_delta_and_total_variation_equal_the_maximum_over_events(rows, epsilon):
    channel = Channel(rows)
    for at in (epsilon, 0.0):
        worst = max(float((events(p) @ (p - math.exp(at) * q)).max()) for p, q in ordered_pairs(channel))
        assert channel.delta(at) == pytest.approx(worst, rel=1e-12, abs=1e-14)
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
def test_exact_delta_is_rounded_up(rows, epsilon):
    """Comparison with decimals of 200 digits."""
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
def test_exact_kl_is_rounded_up(rows):
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


def test_results_have_the_shape_of_the_argument():
    channel = Channel([[3, 1], [1, 3]])
    assert channel.delta(np.zeros((2, 3))).shape == (2, 3)
    assert isinstance(channel.delta(1), float)
    assert isinstance(channel.epsilon(), float)
    assert channel.epsilon([0.0, 0.5]).tolist() == [channel.epsilon(), 0.0]


@given(integer_rows(inputs=3))
def test_smooth_privacy_is_the_loss_per_distance(rows):
    """The inputs are at 0, 1 and 3 on a line."""
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


def test_neighbors_limit_every_definition_except_the_smooth_one():
    rows = [[4, 4, 0], [3, 5, 0], [0, 1, 7]]
    all_pairs, chain = Channel(rows), Channel(rows, neighbors=[(0, 1)])
    pair = Channel(rows[:2])
    for real in (False, True):
        if real:
            chain = Channel(chain.matrix, neighbors=[(0, 1)])
        assert chain.epsilon() == pytest.approx(pair.epsilon(), rel=1e-14)
        assert chain.tv() == pytest.approx(pair.tv(), rel=1e-14)
        assert chain.kl() == pytest.approx(pair.kl(), rel=1e-14)
        assert chain.conditional_testing(0.1) == pytest.approx(pair.conditional_testing(0.1), rel=1e-14)
        assert chain.conditional_testing(0.1, inherited=False) == pytest.approx(
            pair.conditional_testing(0.1, inherited=False), rel=1e-14
        )
        assert chain.misses(0.25) == pytest.approx(pair.misses(0.25), rel=1e-14)
        assert chain.smooth(1 - np.eye(3)) == math.inf
    assert all_pairs.epsilon() == math.inf


# Algebra --------------------------------------------------------------------------------------------------------------


@pytest.mark.claim("Post-processing does not increase the loss.", "Composition and audits")
@given(integer_rows(), st.data())
def test_post_processing_never_increases_the_loss(rows, data):
    channel = Channel(rows)
    after = channel.then(data.draw(integer_rows(inputs=len(rows[0]))))
    assert after._rows.exact is not None
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
def test_losses_of_independent_reports_add_up(first, second):
    a, b = Channel(first), Channel(second)
    joint = a.product(b)
    assert joint._rows.exact is not None
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


def test_kl_and_epsilon_of_a_product_add_exactly():
    a = Channel([[3, 1], [1, 3]])
    assert a.product(a).kl() == pytest.approx(2 * a.kl(), rel=1e-15)
    assert a.product(a).epsilon() == least_double_not_below(exact_log(Fraction(9)))


def test_mixed_products_are_in_doubles():
    exact, real = Channel([[3, 1], [1, 3]]), Channel([[0.75, 0.25], [0.25, 0.75]])
    for joint in (exact.product(real), real.product(exact), exact.then(real), real.then(exact)):
        assert joint._rows.exact is None
    assert exact.product([[0.75, 0.25], [0.25, 0.75]]).tv() == pytest.approx(exact.product(exact).tv(), rel=1e-14)


# Mechanisms -----------------------------------------------------------------------------------------------------------


FINITE = [make for card in CARDS.values() for make in card.finite]


@pytest.mark.claim("For every epsilon, the loss of the enumerated channel is at most `epsilon`.", "Privacy of reports")
@pytest.mark.parametrize("make", FINITE, ids=lambda make: repr(make(1.0)))
@given(epsilon=st.floats(1e-6, 40))
def test_the_realized_epsilon_is_that_of_the_channel_and_at_most_epsilon(make, epsilon):
    mechanism = make(epsilon)
    assert mechanism.channel().epsilon() == mechanism.epsilon_realized <= epsilon
    np.testing.assert_allclose(mechanism.channel().matrix.sum(axis=1), 1, rtol=1e-14)


@pytest.mark.claim(
    "`channel().epsilon()` equals `epsilon_realized` to the last bit for all finite mechanisms.", "Privacy of reports"
)
@pytest.mark.long
@each("mechanism", MECHANISMS, ids=repr)
def test_the_channel_of_every_mechanism_has_its_realized_epsilon(mechanism):
    """Epsilon is exact, and the conversions bound the other definitions. Channels with too many reports raise ValueError."""
    if mechanism._recipe.law.rows() is None:
        with pytest.raises(ValueError, match=r"has too many reports to enumerate$"):
            mechanism.channel()
        assert not isinstance(mechanism, ldp.Warner | ldp.Bins | ldp.Residue | ldp.SignBit)
        return
    channel = mechanism.channel()
    epsilon = mechanism.epsilon_realized
    assert channel._rows.exact is not None
    assert channel.epsilon() == epsilon <= mechanism.epsilon
    assert channel.delta(epsilon) == 0
    assert channel.delta(math.nextafter(math.nextafter(epsilon, 0), 0)) > 0
    assert channel.tv() <= privacy.convert("pure", "tv", epsilon) * (1 + 1e-15)
    assert channel.kl() <= privacy.convert("pure", "kl", epsilon) * (1 + 1e-15)
    assert channel.disclosure_risk() >= privacy.disclosure_risk(epsilon) * (1 - 1e-15)
    assert channel.conditional_testing() <= privacy.convert("pure", "conditional-testing", epsilon) * (1 + 1e-15)


# Bad input ------------------------------------------------------------------------------------------------------------


CHANNEL = Channel([[3, 1], [1, 3]])


@each(
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
        (lambda: CHANNEL.divergence(lambda t: 1.0), r"^f must return one number for each"),
        (lambda: CHANNEL.then(Channel([[1], [1], [1]])), r"^other must have 2 inputs, one for each report, got 3$"),
        (lambda: CHANNEL.product([[1], [1], [1]]), r"^other must have 2 inputs, got 3$"),
        (lambda: CHANNEL.deficiency([[1], [1], [1]]), r"^other must have 2 inputs, got 3$"),
        (lambda: CHANNEL.product(Channel([[1], [1]], neighbors=[])), r"^other must have the same neighbors$"),
        (lambda: Channel([[1], [1]], neighbors=[(0, 2)]), r"^neighbors must be an integer in \[0, 1\], got 2$"),
        (
            lambda: Channel([[1], [1]], neighbors=[(1, 1)]),
            r"^neighbors must be pairs of different inputs, got \(1, 1\)$",
        ),
        (lambda: Channel([[1], [1]], neighbors=[1]), r"^neighbors must be pairs of inputs, got 1$"),
        (
            lambda: Channel(np.full((2, 15), 1)).conditional_testing(inherited=False),
            r"^inherited must be True for a channel of more than 14 reports, this one has 15$",
        ),
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
        (lambda: Channel([[1], [1]], neighbors=[(0, 0.5)]), r"^neighbors must be an integer, got float$"),
    ],
)
def test_bad_types(call, message):
    with pytest.raises(TypeError, match=message):
        call()
