"""Exact draws of the counts of signs of people whose signs agree with those of their record in a random number of places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._typing import Floats
from ._draws import PeopleCounts, multinomial, ones_by_column, shares_of

if TYPE_CHECKING:
    from numpy.random import Generator

MAX_COLUMNS = 1 << 20  # columns that are drawn one after another
MAX_GROUPED = 1 << 20  # probabilities of groups of people and coordinates


def draw_sign_counts(generator: Generator, people: PeopleCounts, plus: Floats, weights: Sequence[int]) -> PeopleCounts:
    """Return the number of plus signs of each coordinate.

    The set of the coordinates where the reported signs agree with those of the rounded record is uniform among the sets of
    its size, and independent of these signs, which are independent. So the agreements are drawn column by column, and then
    the signs.

    Parameters
    ----------
    generator : numpy.random.Generator
    people : ndarray of int64, shape (groups,)
        People with the same record.
    plus : ndarray of float64, shape (groups, dim)
        Probability that a coordinate is rounded to plus.
    weights : sequence of int
        Probabilities of 0, ..., dim agreements, up to a common factor.

    Returns
    -------
    counts : ndarray of int64, shape (dim,)
    """
    agreements = np.ascontiguousarray(multinomial(generator, people, shares_of(weights)).T)
    columns = ones_by_column(generator, agreements, plus.shape[1])
    agree = np.array(list(columns)).T
    return np.asarray(_plus(generator, agree, people[:, np.newaxis] - agree, plus).sum(axis=0))


def draw_sampled_sign_counts(
    generator: Generator, people: PeopleCounts, plus: Floats, weights: Sequence[int]
) -> PeopleCounts:
    """Return the numbers of minus and plus signs of each coordinate, where each person reports a uniform set of coordinates.

    Someone with a agreements and b disagreements left has an agreement in the next of c columns with probability a / c, and a
    disagreement with probability b / c.

    Parameters
    ----------
    generator, people, plus
        As for `draw_sign_counts`.
    weights : sequence of int
        Probabilities of 0, ..., k agreements among the k reported signs, up to a common factor.

    Returns
    -------
    counts : ndarray of int64, shape (2 dim,)
        Entry 2 j is for minus and entry 2 j + 1 for plus in coordinate j.
    """
    k, dim = len(weights) - 1, plus.shape[1]
    number = np.arange(k + 1)
    left = np.zeros((k + 1, k + 1, len(people)), np.int64)  # by agreements and disagreements that are left
    left[number, k - number] = multinomial(generator, people, shares_of(weights)).T
    both = number[:, np.newaxis] + number
    share = (number[:, np.newaxis] / np.maximum(both, 1))[..., np.newaxis]
    agree, disagree = np.zeros((2, len(people), dim), np.int64)
    for column in range(dim):
        probability = np.minimum(both / (dim - column), 1.0)[..., np.newaxis]
        sampled = generator.binomial(left, probability)
        same = generator.binomial(sampled, share)
        other = sampled - same
        left -= sampled
        left[:-1] += same[1:]
        left[:, :-1] += other[:, 1:]
        agree[:, column], disagree[:, column] = same.sum(axis=(0, 1)), other.sum(axis=(0, 1))
    pluses = _plus(generator, agree, disagree, plus).sum(axis=0)
    return np.column_stack([(agree + disagree).sum(axis=0) - pluses, pluses]).ravel()


def _plus(generator: Generator, agree: PeopleCounts, disagree: PeopleCounts, plus: Floats) -> PeopleCounts:
    """Return the numbers of reported plus signs, from those of signs that agree and disagree with rounded records."""
    return generator.binomial(agree, plus) + generator.binomial(disagree, 1 - plus)
