"""Exact draws of counts of people, at a cost that does not grow with their number.

They are the building blocks of `Mechanism.report_state`, and simulate reports without making them. Each function returns
counts with the distribution that people who draw independently would give, up to the rounding of probabilities to doubles.
NumPy's binomial generator is their only source of randomness.

People who draw from the same distribution are split in two by one binomial draw, again and again. The probability of the
smaller part is used, so that probabilities close to 1 lose nothing. Above 2^53 people, a count of NumPy's generator has the
resolution of a double, which is at most 2^-21 of its standard deviation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._typing import AnyArray, Floats

if TYPE_CHECKING:
    from numpy.random import Generator

PeopleCounts = NDArray[np.int64]

BATCH_PEOPLE = 1 << 18  # whose draws are made at a time, where each person draws
LIMB_BITS = 21  # of the parts of integers whose products are added exactly


def heads(generator: Generator, people: PeopleCounts, ones: int, zeros: int) -> PeopleCounts:
    """Return how many of some people draw heads, from a coin with `ones` and `zeros` words."""
    if ones <= zeros:
        return generator.binomial(people, ones / (ones + zeros))
    return people - generator.binomial(people, zeros / (ones + zeros))


def multinomial(generator: Generator, people: PeopleCounts, weights: ArrayLike) -> PeopleCounts:
    """Return how many of some people draw each value.

    Parameters
    ----------
    generator : numpy.random.Generator
    people : ndarray of int64, shape (...)
    weights : array_like, shape (..., m)
        Probabilities of the m values up to a common factor. The leading axes are broadcast to those of `people`.

    Returns
    -------
    counts : ndarray of int64, shape (..., m)
        Their sum over the last axis is `people`.
    """
    sums = [np.asarray(weights, np.float64)]
    while sums[-1].shape[-1] > 1:
        finer = _even(sums[-1])
        sums[-1] = finer
        sums.append(finer[..., 0::2] + finer[..., 1::2])
    counts = people[..., np.newaxis]
    for finer in sums[-2::-1]:
        left, right = finer[..., 0::2], finer[..., 1::2]
        whole = left + right
        share = np.divide(np.minimum(left, right), whole, out=np.zeros_like(whole), where=whole > 0)
        counts = counts[..., : whole.shape[-1]]
        drawn = generator.binomial(counts, share)
        both = np.empty((*drawn.shape, 2), np.int64)
        both[..., 0] = np.where(left <= right, drawn, counts - drawn)
        both[..., 1] = counts - both[..., 0]
        counts = both.reshape(*drawn.shape[:-1], 2 * drawn.shape[-1])
    return counts[..., : np.shape(weights)[-1]]


def _even(weights: Floats) -> Floats:
    """Return weights with a zero at the end if their number is odd."""
    odd = weights.shape[-1] % 2
    return np.concatenate([weights, np.zeros((*weights.shape[:-1], odd))], axis=-1) if odd else weights


def shares_of(weights: Sequence[int]) -> Floats:
    """Return integers of any size as shares of their sum."""
    total = sum(weights)
    return np.array([weight / total for weight in weights])


def uniform(generator: Generator, people: PeopleCounts, values: int) -> PeopleCounts:
    """Return how many of some people draw each of equally probable values, shape (..., values)."""
    return multinomial(generator, people, np.ones(values))


def sample(generator: Generator, groups: PeopleCounts, size: int) -> PeopleCounts:
    """Return how many members of each group are in a uniform sample without replacement.

    Each person is drawn with probability size / total. Given their number, all sets of so many people are equally
    probable. If there are too many, a sample of the drawn ones is removed; if there are too few, a sample of the others is
    added. The size of this correction is about the square root of that of the sample. So the result is exact for any
    probability of the first draw, and for populations of any size.
    """
    total = int(groups.sum())
    if 2 * size > total:
        return groups - sample(generator, groups, total - size)
    if size == 0:
        return np.zeros_like(groups)
    drawn = generator.binomial(groups, size / total)
    excess = int(drawn.sum()) - size
    if excess > 0:
        return drawn - sample(generator, drawn, excess)
    return drawn + sample(generator, groups - drawn, -excess)


def ones_by_column(generator: Generator, people: PeopleCounts, columns: int) -> Iterator[PeopleCounts]:
    """Yield the numbers of people with a one in each column, for people with uniform sets of columns.

    Parameters
    ----------
    generator : numpy.random.Generator
    people : ndarray of int64, shape (columns + 1, groups)
        People of each group with a given number of ones. It is changed.
    columns : int

    Yields
    ------
    ones : ndarray of int64, shape (groups,)

    Notes
    -----
    Someone with s ones left has a one in the next of c columns with probability s / c, independently of the columns before.
    """
    for left in range(columns, 0, -1):
        numbers = np.flatnonzero(people.any(axis=1))
        first, stop = (int(numbers[0]), int(numbers[-1]) + 1) if len(numbers) else (0, 1)
        part = people[first:stop]
        drawn = generator.binomial(part, np.minimum(np.arange(first, stop) / left, 1.0)[:, np.newaxis])
        part -= drawn
        skipped = int(first == 0)  # nobody without ones left has one
        people[first + skipped - 1 : stop - 1] += drawn[skipped:]
        yield drawn.sum(axis=0)


def each_person(people: PeopleCounts) -> Iterator[NDArray[np.intp]]:
    """Yield the groups of all people, one entry per person, from the numbers of people of the groups; in pieces."""
    ends = np.cumsum(people)
    for start in range(0, int(ends[-1]), BATCH_PEOPLE):
        yield np.searchsorted(ends, np.arange(start, min(start + BATCH_PEOPLE, int(ends[-1]))), side="right")


def dot(counts: PeopleCounts, values: PeopleCounts) -> int:
    """Return the exact sum of the products of at most 2^20 nonnegative integers, the second ones below 2^42."""
    mask = (1 << LIMB_BITS) - 1
    parts = ((i, j, counts >> LIMB_BITS * i & mask, values >> LIMB_BITS * j & mask) for i in range(3) for j in range(2))
    return sum(int(left @ right) << LIMB_BITS * (i + j) for i, j, left, right in parts)


def bincount(places: AnyArray, people: PeopleCounts, size: int) -> PeopleCounts:
    """Return the numbers of people at each place below `size`."""
    counts = np.zeros(size, np.int64)
    np.add.at(counts, places.astype(np.intp), people)
    return counts
