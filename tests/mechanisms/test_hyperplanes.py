"""Counts of uniform vectors in hyperplanes over a finite field."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from ..support.internals.mechanisms import hyperplanes, projective_space
from ..support.internals.shared import finite_field
from ..support.statistics import ALPHA, assert_counts, normal_margin

SEED = 20261122


def vectors(order, length):
    """Return all vectors, by their numbers."""
    return np.arange(order**length)[:, np.newaxis] // order ** np.arange(length) % order


def products(space, left, right):
    """Return the inner product of a vector with each row, by the tables of the field."""
    total = np.zeros(len(right), np.int64)
    for a, column in zip(left, right.T, strict=True):
        total = space.sum[total, space.product[a, column]].astype(np.int64)
    return total


@pytest.mark.long
@pytest.mark.parametrize("order, length", [(2, 1), (2, 3), (3, 2), (4, 2)])
def test_two_people_have_uniform_vectors_in_each_hyperplane(order, length):
    """Frequencies of all pairs of vectors, for each point and value: detects an error of a probability of 0.2."""
    space, generator, draws = finite_field.table_field(order), np.random.default_rng(SEED), 400
    points = projective_space.Geometry(order, length).elements(np.arange(hyperplanes.first_point(order, length)))
    for (number, point), value in itertools.product(enumerate(points), range(order)):
        planes = np.zeros((len(points), order), np.int64)
        planes[number, value] = 2
        members = np.flatnonzero(products(space, point, vectors(order, length)) == value)
        assert len(members) == order ** (length - 1)
        found: Counter = Counter()
        for _ in range(draws):
            counts = hyperplanes.draw_vector_counts(generator, space, length, planes, 0)
            assert counts.shape == (order**length,)
            found[tuple(np.repeat(np.arange(len(counts)), counts).tolist())] += 1
        expected = Counter(tuple(sorted(pair)) for pair in itertools.product(members.tolist(), repeat=2))
        assert found.keys() <= expected.keys()
        p = np.array(list(expected.values())) / len(members) ** 2
        assert_counts([found[pair] for pair in expected], draws, p, detects=0.2, alpha=ALPHA / len(points) / order)


@pytest.mark.parametrize("order, length", [(2, 5), (3, 3), (5, 2), (8, 2)])
def test_many_people_are_uniform_in_each_hyperplane(order, length):
    """All counts are within normal limits. With 10^12 people, a wrong probability is off by far more."""
    space, people = finite_field.table_field(order), 10**12
    points = projective_space.Geometry(order, length).elements(np.arange(hyperplanes.first_point(order, length)))
    planes = np.zeros((len(points), order), np.int64)
    planes[:, :] = np.random.default_rng(SEED).integers(people, 2 * people, planes.shape)
    free = 3 * people
    counts = hyperplanes.draw_vector_counts(np.random.default_rng(SEED), space, length, planes, free)
    assert counts.sum() == planes.sum() + free
    expected = np.full(order**length, free / order**length)
    for point, row in zip(points, planes, strict=True):
        expected += row[products(space, point, vectors(order, length))] / order ** (length - 1)
    assert (abs(counts - expected) <= normal_margin(len(counts)) * np.sqrt(expected)).all()


def test_no_elements():
    assert hyperplanes.draw_vector_counts(
        np.random.default_rng(1), finite_field.table_field(3), 0, np.zeros((0, 3), np.int64), 5
    ).tolist() == [5]


@pytest.mark.parametrize("order, length", [(2, 3), (3, 2), (4, 3), (5, 1)])
def test_multiples_of_points(order, length):
    """Each nonzero vector is one multiple of one point."""
    space, every = finite_field.table_field(order), vectors(order, length)
    points = projective_space.Geometry(order, length).elements(np.arange(hyperplanes.first_point(order, length)))
    factors, numbers = hyperplanes.point_multiples(space, every)
    assert factors[0] == 0
    assert (factors[1:] > 0).all()
    for vector, factor, number in zip(every[1:], factors[1:], numbers[1:], strict=True):
        assert space.product[factor, points[number]].tolist() == vector.tolist()
    found = np.concatenate([hyperplanes.multiples(space, factor, length) for factor in range(1, order)])
    assert sorted(found.tolist()) == list(range(1, order**length))
