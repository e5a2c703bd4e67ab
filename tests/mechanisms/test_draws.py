"""Draws of counts of people: exact distributions of few people, and moments of many."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from ..support.cases import each
from ..support.internals.mechanisms import dot, heads, multinomial, ones_by_column, sample, shares_of, uniform
from ..support.statistics import assert_counts, normal_margin

SEED = 20261122
DRAWS = 20_000


def assert_frequencies(found, expected):
    """Compare the frequency of each outcome with its probability. Detects an error of 4 / sqrt(draws) of a probability."""
    draws = sum(found.values())
    assert found.keys() <= expected.keys()
    counts, p = [found[outcome] for outcome in expected], [float(p) for p in expected.values()]
    assert_counts(counts, draws, p, detects=4 / math.sqrt(draws))


def rows_of(drawn):
    return Counter(map(tuple, drawn.tolist()))


@each("weights", [(1,), (3, 1), (1, 0, 2), (5, 1, 1, 2, 3), (1, 2, 3, 4, 5, 6, 0, 0, 7)])
def test_multinomial_counts_of_three_people(weights):
    people = np.full(DRAWS, 3)
    drawn = multinomial(np.random.default_rng(SEED), people, weights)
    assert drawn.shape == (DRAWS, len(weights))
    assert (drawn.sum(axis=1) == 3).all()
    expected: Counter = Counter()
    for values in itertools.product(range(len(weights)), repeat=3):
        p = math.prod(weights[value] / sum(weights) for value in values)
        if p:
            expected[tuple(np.bincount(values, minlength=len(weights)).tolist())] += p
    assert_frequencies(rows_of(drawn), expected)


def test_multinomial_weights_may_differ_by_group():
    weights = np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]])
    drawn = multinomial(np.random.default_rng(SEED), np.array([[5, 0, 7], [1, 1 << 60, 2]]), weights)
    assert drawn.sum(axis=2).tolist() == [[5, 0, 7], [1, 1 << 60, 2]]
    assert drawn[:, 0, 0].tolist() == [5, 1]
    assert drawn[:, 2, 2].tolist() == [7, 2]
    assert abs(drawn[1, 1, 1] - (1 << 59)) < normal_margin() * (1 << 29)


@each("groups, size", [((2, 3, 1), 2), ((2, 3, 1), 4), ((1, 1, 1, 1), 1), ((4, 0, 3), 3), ((5,), 2)])
def test_samples_without_replacement(groups, size):
    """All sets of so many people are equally probable."""
    generator = np.random.default_rng(SEED)
    found = Counter(tuple(sample(generator, np.array(groups), size).tolist()) for _ in range(DRAWS // 4))
    sets = math.comb(sum(groups), size)
    expected = {
        taken: math.prod(map(math.comb, groups, taken)) / sets
        for taken in itertools.product(*(range(group + 1) for group in groups))
        if sum(taken) == size
    }
    assert_frequencies(found, {taken: p for taken, p in expected.items() if p})


@pytest.mark.parametrize("total", [10**9, 10**15, 1 << 61])
def test_samples_of_large_populations(total):
    """Mean and variance of the hypergeometric distribution, by 2000 draws. Detects an error of the variance of 21 %."""
    generator, draws = np.random.default_rng(SEED), 2000
    groups = np.array([total // 4, total - total // 4])
    size = total // 3
    taken = np.array([sample(generator, groups, size) for _ in range(draws)])
    assert (taken.sum(axis=1) == size).all()
    variance = size * 0.25 * 0.75 * (1 - size / total)
    away = (taken[:, 0] - size // 4).astype(np.float64)
    assert abs(away.mean()) <= normal_margin(2) * math.sqrt(variance / draws) + 1
    assert abs(away.var() / variance - 1) <= normal_margin(2) * math.sqrt(2 / draws)


def test_ones_in_columns_are_those_of_uniform_sets():
    """Two people have two ones each in four columns."""
    generator = np.random.default_rng(SEED)
    people = np.zeros((5, 1), np.int64)
    people[2] = 2
    found = Counter(
        tuple(int(ones[0]) for ones in ones_by_column(generator, people.copy(), 4)) for _ in range(DRAWS // 4)
    )
    expected: Counter = Counter()
    sets = list(itertools.combinations(range(4), 2))
    for first, second in itertools.product(sets, repeat=2):
        expected[tuple((j in first) + (j in second) for j in range(4))] += len(sets) ** -2
    assert_frequencies(found, expected)


def test_nobody_has_no_ones():
    assert [ones.tolist() for ones in ones_by_column(np.random.default_rng(1), np.zeros((3, 2), np.int64), 2)] == [
        [0, 0]
    ] * 2


def test_the_rarer_side_of_a_coin_is_not_rounded_away():
    """With 2^-62 tails, 2^61 people have half a tail on average. One minus this probability is 1 as a double."""
    drawn = heads(np.random.default_rng(SEED), np.full(DRAWS, 1 << 61), (1 << 62) - 1, 1)
    tails = ((1 << 61) - drawn).mean()
    assert abs(tails - 0.5) <= normal_margin() * math.sqrt(0.5 / DRAWS)
    assert (heads(np.random.default_rng(SEED), np.full(DRAWS, 1 << 61), 1, (1 << 62) - 1) == (1 << 61) - drawn).all()


def test_shares_of_large_integers():
    assert shares_of([1 << 4000, 3 << 4000]).tolist() == [0.25, 0.75]


def test_uniform_values():
    assert_frequencies(
        rows_of(uniform(np.random.default_rng(SEED), np.ones(DRAWS, np.int64), 3)),
        {(1, 0, 0): 1 / 3, (0, 1, 0): 1 / 3, (0, 0, 1): 1 / 3},
    )


def test_dot_products_are_exact():
    rng = np.random.default_rng(SEED)
    counts, values = rng.integers(0, 1 << 62, 1 << 12), rng.integers(0, 1 << 42, 1 << 12)
    assert dot(counts, values) == sum(map(int.__mul__, counts.tolist(), values.tolist()))
    largest = np.full(1 << 20, (1 << 42) - 1), np.full(1 << 20, (1 << 42) - 1)
    assert dot(*largest) == ((1 << 42) - 1) ** 2 << 20
