"""Plans: how many people answer which question, and which person is in which group."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from ldpfast.estimation import GaussianMean

from ...support.cases import each
from ...support.gaussian import KNOWN, UNKNOWN, design_of, make, quiet


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_sizes_of_groups_agree_with_places(options, epsilon):
    """Counted for numbers of people that no period divides."""
    server = make(options, epsilon)
    for n in (design_of(server).least() + 150, 7919, 20_001, 123_457):
        plan = server.plan(n)
        assert sum(map(sum, plan.rounds)) == n
        assert len(plan.rounds) == server.rounds
        place, group = plan.place(np.arange(n))
        for number, sizes in enumerate(plan.rounds):
            assert np.bincount(group[place == number], minlength=len(sizes)).tolist() == list(sizes)
        assert plan.kappa == pytest.approx(design_of(server).levels.kappa(min(plan.rounds[0][: plan.search.groups])))
        assert len(plan.rounds[0]) == make(options, epsilon, n=n).groups


def test_place_of_one_person_agrees_with_the_array():
    plan = make(KNOWN).plan(10_000)
    place, group = plan.place(np.arange(100))
    for person in range(100):
        one = plan.place(person)
        assert (int(one[0]), int(one[1])) == (place[person], group[person])
    assert plan.place([])[0].shape == (0,)


def test_persons_outside_of_the_plan_are_errors():
    plan = make(KNOWN).plan(10_000)
    for person in (-1, 10_000, [0, 10_000]):
        with pytest.raises(ValueError, match=r"^person must be in \[0, n\) with n=10000$"):
            plan.place(person)
    for person in (0.5, [1.0], "1"):
        with pytest.raises(TypeError, match=r"^person must be integers"):
            plan.place(person)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_share_of_the_search_follows_the_formula(epsilon):
    """clip(12 L A^2, c n, n / 2) people answer the search, where L is the number of levels and A the noise factor.

    For "paper" it is half of the people, for "efficient" a small share.
    """
    for (known, rounds), least in {(True, 2): 0.15, (True, 1): 0.3, (False, 2): 0.4, (False, 1): 0.5}.items():
        server = make({"rounds": rounds, **(KNOWN if known else UNKNOWN)}, epsilon)
        factor = (math.exp(epsilon) + 3) / (math.exp(epsilon) - 1)
        for n in (20_000, 1_000_000):
            expected = min(max(12 * len(design_of(server).levels) * factor**2, least * n), n / 2) / n
            plan = server.plan(n)
            assert sum(plan.rounds[0][: plan.search.groups]) / n == pytest.approx(expected, abs=0.03)
            half = make({"method": "paper", "rounds": rounds, **(KNOWN if known else UNKNOWN)}, epsilon).plan(n)
            assert sum(half.rounds[0][: half.search.groups]) / n == pytest.approx(0.5, abs=0.03)
    assert sum(make({"method": "efficient", **KNOWN}, 1.0).plan(10**8).rounds[0]) < 0.02 * 10**8


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_message_for_too_few_people_names_the_required_number(options, epsilon):
    server = make(options, epsilon)
    least, levels = design_of(server).least(), len(design_of(server).levels)
    factor = (math.exp(epsilon) + 3) / (math.exp(epsilon) - 1)
    # kappa = 2 with half of the people
    assert 4 * levels * factor**2 <= least <= 4 * levels * factor**2 * 1.001 + 2 * levels
    message = rf"^n must be at least {least} for epsilon = {epsilon:g} and {levels} levels, got {least - 1}$"
    for call in (server.plan, lambda n: server.simulate(n, 0.0, 1.0), lambda n: server.run(np.zeros(n))):
        with pytest.raises(ValueError, match=message):
            call(least - 1)
    for bad in (0, -5):
        with pytest.raises(ValueError, match=r"^n must be an integer "):
            server.plan(bad)
    with pytest.raises(TypeError, match=r"^n must be an integer, got float$"):
        server.plan(1e6)


@pytest.mark.long
@each("epsilon", [0.5, 1.0, 2.0, 4.0, 8.0])
def test_smallest_accepted_number_of_people_is_enough(options, epsilon):
    """Also larger numbers: every group of the search is large enough."""
    server = make(options, epsilon)
    least = design_of(server).least()
    for n in range(least, least + 40):
        plan = server.plan(n)
        assert plan.kappa >= 2
        assert n > sum(plan.rounds[0][: plan.search.groups])
    quiet(server.simulate, least, 3.0, 2.0, rng=1)


def test_plan_prints_its_groups():
    lines = str(make(KNOWN).plan(10_000)).splitlines()
    assert re.fullmatch(r"10000 people, kappa = \d+\.\d", lines[0])
    assert re.fullmatch(r"round 1: \d+ people in 7 groups of \d+ to \d+", lines[1])
    assert re.fullmatch(r"round 2: \d+ people", lines[2])
    (weak, *_) = str(make(KNOWN).plan(1000)).splitlines()
    assert re.fullmatch(r"1000 people, kappa = [2-7]\.\d \(below 8: the search may fail\)", weak)


def test_more_people_than_an_aggregator_holds_are_an_error():
    for call in (make(KNOWN).plan, lambda n: make(KNOWN).simulate(n, 0.0, 1.0)):
        with pytest.raises(ValueError, match=r"^n must be an integer in \[1, "):
            call(10**20)


def test_numbers_of_words_are_uniform_and_stay_as_people_join():
    words = np.arange(1 << 16, dtype=np.uint64) << np.uint64(48)  # every 2^-16 of the range
    for rounds in (1, 2):
        server = GaussianMean(1.0, sigma=1.0, mu_bound=100, rounds=rounds)
        places = []
        for n in (20_000, 20_001):
            plan = server.plan(n)
            places.append(np.array(plan.place(plan.numbers_of(words))))
            for number, sizes in enumerate(plan.rounds):
                found = np.bincount(places[-1][1][places[-1][0] == number], minlength=len(sizes))
                np.testing.assert_allclose(found / len(words), np.array(sizes) / n, atol=2 * plan.second.stop / n)
        np.testing.assert_array_equal(*places)
