"""Guarantees, their composition and groups: exact, and rounded up."""

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

from ldpfast import privacy
from ldpfast.privacy import Channel, Guarantee, compose, group

from ..support.cases import each
from ..support.exact import least_double_not_below

# Guarantee ------------------------------------------------------------------------------------------------------------


def test_a_guarantee_is_a_frozen_value():
    guarantee = Guarantee("local", 1.0)
    assert guarantee == Guarantee("local", 1.0, 0.0)
    assert guarantee != Guarantee("pure", 1.0)
    assert hash(guarantee) == hash(Guarantee("local", 1.0))
    assert guarantee.to_dict() == {"definition": "local", "epsilon": 1.0, "delta": 0.0, "ideal": False}
    assert eval(repr(guarantee)) == guarantee
    with pytest.raises(AttributeError):
        guarantee.epsilon = 0.5


@each("definition", ["Local", "", None, 1, "renyi"])
def test_unknown_definitions_are_rejected(definition):
    with pytest.raises(
        ValueError, match=r"^definition must be one of 'local', 'pure', 'approximate', 'smooth', 'kl', 'tv', got "
    ):
        Guarantee(definition, 1.0)


def test_epsilon_and_delta_are_checked():
    assert Guarantee("pure", 0.0).epsilon == 0
    with pytest.raises(ValueError, match=r"^epsilon must be a finite number >= 0, got -1$"):
        Guarantee("local", -1)
    assert Guarantee("local", math.inf).epsilon == math.inf  # a design that protects nobody
    for definition in ("pure", "approximate", "smooth", "kl"):
        with pytest.raises(ValueError, match=f"^epsilon must be finite for {definition!r}, got inf$"):
            Guarantee(definition, math.inf)
    with pytest.raises(ValueError, match=r"^epsilon must be a finite number, got nan$"):
        Guarantee("local", math.nan)
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


# Composition ----------------------------------------------------------------------------------------------------------


@pytest.mark.claim("`compose` adds up the losses of several reports, and rounds the sum up.", "Composition and audits")
@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=12))
def test_composition_is_the_exact_sum_rounded_up(epsilons):
    """A sum in doubles can be below the exact loss."""
    total = compose(*(Guarantee("local", e) for e in epsilons))
    assert total.epsilon == least_double_not_below(sum(map(Fraction, epsilons)))
    assert total.definition == "local"


def test_composition_keeps_digits_that_doubles_lose():
    assert compose(Guarantee("pure", 1.0), Guarantee("pure", 2.0**-80)).epsilon == math.nextafter(1.0, 2.0)
    assert functools.reduce(operator.add, [0.1] * 10) < 1.0 < compose(*[Guarantee("local", 0.1)] * 10).epsilon


def test_composition_adds_deltas():
    total = compose(*(Guarantee("approximate", 1.0, d) for d in (1e-6, 2e-6, 0.0)))
    assert total == Guarantee("approximate", 3.0, least_double_not_below(Fraction(1e-6) + Fraction(2e-6)))
    with pytest.raises(ValueError, match=r"^delta must be in "):
        compose(Guarantee("approximate", 1.0, 0.6), Guarantee("approximate", 1.0, 0.6))


@pytest.mark.parametrize("definition", ["pure", "smooth", "kl"])
def test_losses_of_every_definition_add_up(definition):
    assert compose(Guarantee(definition, 0.5), Guarantee(definition, 0.25)) == Guarantee(definition, 0.75)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_composition_of_total_variations(levels):
    """In an erasure channel each round reveals the record with probability t. It stays hidden if all rounds hide it."""
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


def test_composition_of_one_guarantee_and_of_different_definitions():
    assert compose(Guarantee("pure", 0.3)) == Guarantee("pure", 0.3)
    with pytest.raises(ValueError, match=r"^guarantees must be of one definition, got \['kl', 'local'\]$"):
        compose(Guarantee("kl", 0.3), Guarantee("local", 0.3))
    with pytest.raises(ValueError, match=r"^guarantees must be of one definition, got none$"):
        compose()


def test_definitions_that_imply_each_other_add_up():
    parts = Guarantee("pure", 0.5), Guarantee("approximate", 0.25, 1e-6), Guarantee("local", 0.25)
    assert compose(*parts) == Guarantee("approximate", 1.0, 1e-6)
    assert compose(parts[0], parts[2]) == Guarantee("pure", 0.75)
    assert compose(Guarantee("smooth", 0.5), Guarantee("local", 0.5)) == Guarantee("pure", 1.0)
    with pytest.raises(ValueError, match="guarantees must be of one definition"):
        compose(Guarantee("kl", 0.5), Guarantee("pure", 0.5))


@pytest.mark.parametrize("other", [1.0, "local", None, [Guarantee("local", 1.0)]])
def test_composition_of_other_types_is_rejected(other):
    with pytest.raises(TypeError, match=f"got {type(other).__name__}$"):
        compose(Guarantee("local", 1.0), other)


def test_composition_that_overflows_is_rejected():
    with pytest.raises(ValueError, match=r"^epsilon must be a finite number"):
        compose(Guarantee("local", 1.7e308), Guarantee("local", 1.7e308))


# Groups ---------------------------------------------------------------------------------------------------------------


def test_guarantees_of_groups():
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
    with pytest.raises(ValueError, match=r"^size must be smaller for epsilon=1.0 and a delta above 0, got 1000$"):
        group(Guarantee("approximate", 1.0, 1e-300), 1000)
    assert group(Guarantee("approximate", 0.0, 0.125), 3).delta == pytest.approx(0.375)
    with pytest.raises(TypeError, match=r"^guarantee must be Guarantee objects, got float$"):
        group(1.0, 2)
    with pytest.raises(ValueError, match=r"^size must be an integer >= 1, got 0$"):
        group(Guarantee("pure", 1.0), 0)


@pytest.mark.claim("A group of people loses at most what `group` states.", "Composition and audits")
@given(st.floats(0, 1), st.floats(0, 0.01), st.integers(1, 4))
def test_a_group_loses_at_most_its_guarantee(epsilon, delta, size):
    """A chain of datasets whose distributions differ as much as (epsilon, delta)-privacy allows."""
    worst = (
        group(Guarantee("approximate", epsilon, delta), size) if delta > 0 else group(Guarantee("pure", epsilon), size)
    )
    distributions = [np.array([0.5, 0.5])]
    for _ in range(size):
        p = min(
            1.0,
            math.exp(epsilon) * distributions[-1][0] + delta,
            1 - math.exp(-epsilon) * (distributions[-1][1] - delta),
        )
        distributions.append(np.array([p, 1 - p]))
    ends = Channel(np.array([distributions[0], distributions[-1]]))
    assert ends.delta(worst.epsilon) <= worst.delta * (1 + 1e-9) + 1e-15


def test_delta_of_a_group_is_exact_and_rounded_up():
    """This includes large e^(size epsilon)."""
    with localcontext(prec=60):
        for size, epsilon in ((3, 0.5), (300, 0.97), (270, 1.01), (41, 7.3)):
            one = Decimal(epsilon).exp()
            exact = Decimal.from_float(1e-300) * (one**size - 1) / (one - 1)
            found = privacy.group(privacy.Guarantee("approximate", epsilon, 1e-300), size).delta
            assert exact <= Decimal(found) <= exact * (1 + Decimal("1e-15"))
