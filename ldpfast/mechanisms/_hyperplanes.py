"""Exact draws of the counts of uniform vectors in hyperplanes over a finite field.

People whose vector z of r elements of the field with q elements is uniform in the hyperplane <a, z> = v are counted by the
point a and the value v. The last element of a vector is drawn first. It is uniform, unless a has no other element: then it
is v. Given it, the rest of z is uniform in a hyperplane of the vectors of r - 1 elements. People with the same elements so
far, the same point and the same value have the same distribution, so they are counted together. There are about q^(r + 1) /
(q - 1) such classes after each element, like a fast Fourier transform, so there are O(r q^(r + 1)) binomial draws.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._finite_field import FiniteField
from .._typing import AnyArray
from ._draws import PeopleCounts, uniform

if TYPE_CHECKING:
    from numpy.random import Generator


def first_point(order: int, position: int) -> int:
    """Return the number of the first point whose last nonzero element is at a position: (q^r - 1) / (q - 1)."""
    return int((order**position - 1) // (order - 1))


def on_digits(table: NDArray[np.int64], digits: int) -> NDArray[np.int64]:
    """Return the numbers that result if a table is applied to each digit of 0, 1, ..., base^digits - 1."""
    base, image = len(table), np.zeros(1, np.int64)
    for j in range(digits):
        image = (table[:, np.newaxis] * base**j + image).ravel()
    return image


def multiples(field: FiniteField, factor: int, length: int) -> NDArray[np.int64]:
    """Return the numbers of the vectors `factor` times p, for all points p of `length` elements."""
    image, q = on_digits(field.product[factor].astype(np.int64), max(0, length - 1)), field.order
    return np.concatenate([np.zeros(0, np.int64), *(factor * q**r + image[: q**r] for r in range(length))])


def draw_vector_counts(
    generator: Generator, field: FiniteField, length: int, planes: PeopleCounts, free: int
) -> PeopleCounts:
    """Return how many people have each vector.

    Parameters
    ----------
    generator : numpy.random.Generator
    field : FiniteField
    length : int
        Number r of elements of a vector.
    planes : ndarray of int64, shape (points, q)
        People whose vector is uniform in the hyperplane of a point and a value.
    free : int
        People whose vector is uniform among all.

    Returns
    -------
    counts : ndarray of int64, shape (q^r,)
        By the number of the vector, whose digits to the base q are the elements.
    """
    q = field.order
    bound, anywhere = planes[np.newaxis], np.array([free], np.int64)
    for position in range(length - 1, -1, -1):  # of the last element
        points = first_point(q, position)
        low, high = bound[:, :points], bound[:, points:]
        anywhere = uniform(generator, anywhere, q) + high[:, 0]
        # Points with a zero at the position: the value stays. Axes: elements so far, point, value, new element.
        drawn = np.moveaxis(uniform(generator, low, q), -1, 1)
        # Points with a one there and `factor` times a point before it: <factor p, z> = value - element.
        rest = uniform(generator, high[:, 1:], q)
        for factor in range(1, q):
            value = field.sum[field.product[factor], np.arange(q)[:, np.newaxis]]  # of the new element and new value
            members = rest[:, multiples(field, factor, position) - 1]
            drawn = drawn + np.moveaxis(members[:, :, value, np.arange(q)[:, np.newaxis]], 2, 1)
        anywhere = anywhere.ravel()
        bound = drawn.reshape(len(anywhere), points, q)
    return anywhere


def point_multiples(field: FiniteField, vectors: AnyArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the factor and the point of nonzero vectors, shape (n, length); the factor is 0 for zero vectors."""
    length = vectors.shape[1]
    numbers = vectors.astype(np.int64) @ field.order ** np.arange(length)
    factors, points = np.zeros(field.order**length, np.int64), np.zeros(field.order**length, np.int64)
    for factor in range(1, field.order):
        products = multiples(field, factor, length)
        factors[products], points[products] = factor, np.arange(len(products))
    return factors[numbers], points[numbers]
