"""Promises and channels: exact, and rounded towards the larger loss."""

from __future__ import annotations

import functools
import math
import operator
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpfast as ldp
from ldpfast.privacy import Channel, Guarantee, compose, group

LARGE = 2**64


def least_double_not_below(exact):
    """Of a Fraction or a Decimal of many digits."""
    nearest = float(exact)
    return math.nextafter(nearest, math.inf) if Fraction(nearest) < Fraction(exact) else nearest


def exact_log(ratio):
    with localcontext() as context:
        context.prec = 200
        return (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()


# Guarantee ------------------------------------------------------------------------------------------------------------


def test_a_guarantee_is_a_frozen_value():
    guarantee = Guarantee("local", 1.0)
    assert guarantee == Guarantee("local", 1.0, 0.0)
    assert guarantee != Guarantee("pure", 1.0)
    assert hash(guarantee) == hash(Guarantee("local", 1.0))
    assert guarantee.to_dict() == {"definition": "local", "epsilon": 1.0, "delta": 0.0}
    assert eval(repr(guarantee)) == guarantee
    with pytest.raises(AttributeError):
        guarantee.epsilon = 0.5


@pytest.mark.parametrize("definition", ["Local", "", None, 1, "renyi"])
def test_definitions_are_known_words(definition):
    with pytest.raises(
        ValueError, match=r"^definition must be one of 'local', 'pure', 'approximate', 'smooth', 'kl', 'tv', got "
    ):
        Guarantee(definition, 1.0)


def test_numbers_of_a_guarantee():
    assert Guarantee("pure", 0.0).epsilon == 0
    with pytest.raises(ValueError, match=r"^epsilon must be a finite number >= 0, got -1$"):
        Guarantee("local", -1)
    with pytest.raises(ValueError, match=r"^epsilon must be a finite number, got inf$"):
        Guarantee("local", math.inf)
    with pytest.raises(TypeError, match=r"^epsilon must be a number, got str$"):
        Guarantee("local", "1")
    for delta in (-0.1, 1.0, 2):
        with pytest.raises(ValueError, match=rf"^delta must be in \[0, 1\), got {delta}$"):
            Guarantee("approximate", 1.0, delta)
    assert Guarantee("tv", 1.0).epsilon == 1
    with pytest.raises(ValueError, match=r"^epsilon must be at most 1 for 'tv', got 1.5$"):
        Guarantee("tv", 1.5)
    for definition in ("local", "pure", "smooth", "kl", "tv"):
        with pytest.raises(ValueError, match=rf"^delta must be 0 for '{definition}', got 1e-06$"):
            Guarantee(definition, 0.5, 1e-6)


# compose --------------------------------------------------------------------------------------------------------------


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=12))
def test_composition_is_the_exact_sum_rounded_up(epsilons):
    """A sum in doubles can be below the loss that it stands for."""
    total = compose(*(Guarantee("local", e) for e in epsilons))
    assert total.epsilon == least_double_not_below(sum(map(Fraction, epsilons)))
    assert total.definition == "local"


def test_composition_sees_what_doubles_lose():
    assert compose(Guarantee("pure", 1.0), Guarantee("pure", 2.0**-80)).epsilon == math.nextafter(1.0, 2.0)
    assert functools.reduce(operator.add, [0.1] * 10) < 1.0 < compose(*[Guarantee("local", 0.1)] * 10).epsilon


def test_composition_adds_deltas():
    total = compose(*(Guarantee("approximate", 1.0, d) for d in (1e-6, 2e-6, 0.0)))
    assert total == Guarantee("approximate", 3.0, least_double_not_below(Fraction(1e-6) + Fraction(2e-6)))
    with pytest.raises(ValueError, match=r"^delta must be in "):
        compose(Guarantee("approximate", 1.0, 0.6), Guarantee("approximate", 1.0, 0.6))


@pytest.mark.parametrize("definition", ["pure", "smooth", "kl"])
def test_losses_add_whatever_they_are(definition):
    assert compose(Guarantee(definition, 0.5), Guarantee(definition, 0.25)) == Guarantee(definition, 0.75)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_composition_of_total_variations(levels):
    """Erasure: each round shows the record with probability t. Somebody sees it unless all rounds hide it."""
    total = compose(*(Guarantee("tv", t) for t in levels))
    assert total.epsilon == least_double_not_below(1 - math.prod(1 - Fraction(t) for t in levels))
    assert total.epsilon <= math.fsum(levels) * (1 + 1e-15)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=3))
def test_composition_of_total_variations_is_attained(levels):
    channel = Channel([[1], [1]])
    for t in levels:
        show, hide = Fraction(t), 1 - Fraction(t)
        channel = channel.product(Channel([[show, 0, hide], [0, show, hide]]))
    assert channel.tv() == compose(*(Guarantee("tv", t) for t in levels)).epsilon


# group ----------------------------------------------------------------------------------------------------------------


def test_groups():
    assert group(Guarantee("pure", 0.1), 3) == Guarantee("pure", least_double_not_below(Fraction(0.1) * 3))
    assert group(Guarantee("tv", 0.4), 2) == Guarantee("tv", 0.8)
    assert group(Guarantee("tv", 0.4), 3) == Guarantee("tv", 1.0)
    assert group(Guarantee("kl", 0.4), 1) == Guarantee("kl", 0.4)
    three = group(Guarantee("approximate", 1.0, 1e-6), 3)
    assert three.epsilon == 3.0
    assert three.delta == pytest.approx(1e-6 * (1 + math.e + math.e**2), rel=1e-14)
    assert three.delta >= 1e-6 * (1 + math.e + math.e**2)
    with pytest.raises(ValueError, match=r"^guarantee must not be of the definition 'kl'"):
        group(Guarantee("kl", 0.4), 2)
    with pytest.raises(ValueError, match=r"^delta must be in "):
        group(Guarantee("approximate", 1.0, 1e-6), 20)
    with pytest.raises(ValueError, match=r"^size must be less for epsilon=1.0 and a delta above 0, got 1000$"):
        group(Guarantee("approximate", 1.0, 1e-300), 1000)
    assert group(Guarantee("approximate", 0.0, 0.125), 3).delta == pytest.approx(0.375)
    with pytest.raises(TypeError, match=r"^guarantee must be Guarantee objects, got float$"):
        group(1.0, 2)
    with pytest.raises(ValueError, match=r"^size must be an integer >= 1, got 0$"):
        group(Guarantee("pure", 1.0), 0)


@given(st.floats(0, 1), st.floats(0, 0.01), st.integers(1, 4))
def test_a_group_has_at_most_what_its_guarantee_says(epsilon, delta, size):
    """A chain of data sets, the law of each as far from the next as an (epsilon, delta)-private one can be."""
    worst = (
        group(Guarantee("approximate", epsilon, delta), size) if delta > 0 else group(Guarantee("pure", epsilon), size)
    )
    laws = [np.array([0.5, 0.5])]
    for _ in range(size):
        p = min(1.0, math.exp(epsilon) * laws[-1][0] + delta, 1 - math.exp(-epsilon) * (laws[-1][1] - delta))
        laws.append(np.array([p, 1 - p]))
    ends = Channel(np.array([laws[0], laws[-1]]))
    assert ends.delta(worst.epsilon) <= worst.delta * (1 + 1e-9) + 1e-15


def test_composition_of_one_and_of_unlike_definitions():
    assert compose(Guarantee("pure", 0.3)) == Guarantee("pure", 0.3)
    with pytest.raises(ValueError, match=r"^guarantees must be of one definition, got \['kl', 'local'\]$"):
        compose(Guarantee("kl", 0.3), Guarantee("local", 0.3))
    with pytest.raises(ValueError, match=r"^guarantees must be of one definition, got none$"):
        compose()


@pytest.mark.parametrize("other", [1.0, "local", None, [Guarantee("local", 1.0)]])
def test_composition_of_something_else(other):
    with pytest.raises(TypeError, match=f"got {type(other).__name__}$"):
        compose(Guarantee("local", 1.0), other)


def test_composition_past_the_doubles():
    with pytest.raises(ValueError, match=r"^epsilon must be a finite number"):
        compose(Guarantee("local", 1.7e308), Guarantee("local", 1.7e308))


# Channel --------------------------------------------------------------------------------------------------------------


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
    """One unit more or less must be seen: doubles and 64-bit arrays cannot tell."""
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
def test_a_report_that_only_one_input_can_make_tells_everything(half):
    assert Channel([[2 * half, 0 * half], [0 * half, 2 * half]]).epsilon() == math.inf
    assert Channel([[half, half, 0 * half], [half, 0 * half, half], [half, half, 0 * half]]).epsilon() == math.inf


@pytest.mark.parametrize("half", [1, Fraction(1, 2), 0.5])
def test_a_report_that_no_input_makes_tells_nothing(half):
    assert Channel([[half, 0 * half, half], [half, 0 * half, half]]).epsilon() == 0.0


def test_one_input_and_equal_inputs_tell_nothing():
    assert Channel([[1, 2, 3]]).epsilon() == 0.0
    assert Channel([[0.2, 0.8]] * 3).epsilon() == 0.0


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


@pytest.mark.parametrize("matrix", [3, [1, 2], [[[1]]], [], [[]], np.zeros((0, 3))])
def test_shapes_of_a_matrix(matrix):
    with pytest.raises(ValueError, match=r"^matrix must have shape \(inputs, reports\), got shape "):
        Channel(matrix)


@pytest.mark.parametrize(
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
def test_rows_that_are_no_probabilities(matrix):
    with pytest.raises(ValueError, match=r"^matrix must "):
        Channel(matrix)


@pytest.mark.parametrize("matrix", [[["a", "b"]], [[1j, 0]], [[None, 1]], np.zeros((1, 1), "M8[s]")], ids=str)
def test_entries_that_are_no_numbers(matrix):
    with pytest.raises(TypeError, match=r"^matrix must hold "):
        Channel(matrix)


# Channels of mechanisms -----------------------------------------------------------------------------------------------

FINITE = [
    ldp.Warner,
    lambda e: ldp.RandomizedResponse(5, e),
    lambda e: ldp.UnaryEncoding(4, e),
    lambda e: ldp.UnaryEncoding(4, e, "optimized"),
    lambda e: ldp.Residue(1.0, 0.0, 3, e),
    lambda e: ldp.Bins([0.0], e),
    lambda e: ldp.SignBit(0.0, 1.0, e),
    lambda e: ldp.LinfBall(3, e),
    lambda e: ldp.LinfBall(4, e),
    lambda e: ldp.LinfBall(4, e, ties="thin"),
]


@pytest.mark.parametrize("make", FINITE, ids=lambda make: repr(make(1.0)))
@given(epsilon=st.floats(1e-6, 40))
def test_the_realised_epsilon_is_that_of_the_channel_and_at_most_the_asked(make, epsilon):
    mechanism = make(epsilon)
    assert mechanism.channel().epsilon() == mechanism.epsilon_realized <= epsilon
    np.testing.assert_allclose(mechanism.channel().matrix.sum(axis=1), 1, rtol=1e-14)


def test_definitions_that_imply_each_other_add_up():
    parts = Guarantee("pure", 0.5), Guarantee("approximate", 0.25, 1e-6), Guarantee("local", 0.25)
    assert compose(*parts) == Guarantee("approximate", 1.0, 1e-6)
    assert compose(parts[0], parts[2]) == Guarantee("pure", 0.75)
    assert compose(Guarantee("smooth", 0.5), Guarantee("local", 0.5)) == Guarantee("pure", 1.0)
    with pytest.raises(ValueError, match="guarantees must be of one definition"):
        compose(Guarantee("kl", 0.5), Guarantee("pure", 0.5))
