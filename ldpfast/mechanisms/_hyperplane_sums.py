"""Numbers of reports on every hyperplane of a projective space, from the counts of its points.

A point is (x, 1, 0, ..., 0), and those with the same number of elements of x are together (`Geometry`). On the hyperplane of
(w, 1) are the points (x, 1) with <w, x> = -1 and those points (y, 0) that are on the hyperplane of w, in the space with one
element less. On that of (w, 0) are the points (x, 1) with <w, x> = 0, and the same points (y, 0). So the sums of
counts[x] over <w, x> = v are needed, for all points w and all v. They are computed element by element of x: if they are known
for the elements before it, those with one more are sums over its q values. All sums are integers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._core import transform
from .._finite_field import AnyField, FiniteField, is_prime
from ._hyperplanes import first_point, multiples

Sums = NDArray[np.uint32]

SUM_BITS = 32  # of the sums
MIN_ROW = 11
CODE_STEPS = 100  # time to begin with a code of `add_hyperplanes`, in units of its steps
SPARSE_COST = 30  # time of such a step, in units of an addition of all codes


def hyperplane_sums(field: AnyField, length: int, counts: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Return the sums of counts over the hyperplanes of the first k points.

    Parameters
    ----------
    field : FiniteField or PrimeField
    length : int
        Number of elements of a vector, at least 2.
    counts : ndarray of int64, shape (points,)
        Nonnegative counts of all points.
    k : int

    Returns
    -------
    sums : ndarray of int64, shape (k,)

    Notes
    -----
    O(q) additions per point and element of its vector, or O(k / q) for each point with a count, whichever takes less time.
    """
    q, codes = field.order, np.flatnonzero(counts)
    if q == 2:  # points are binary numbers: the sum is over those with an even number of common ones
        values = np.concatenate([np.zeros(1, np.int64), counts])
        transform.walsh(values)
        return np.asarray((values[0] + values[1 : k + 1]) // 2)
    if _is_compiled(q) and len(codes) * (k / q + CODE_STEPS) * SPARSE_COST < len(counts) * q * max(1, length - 2):
        hits = np.zeros(k, np.int64)
        transform.add_hyperplanes(codes, counts[codes], hits, q)
        return hits
    bits = max(1, SUM_BITS - len(counts).bit_length())  # of counts whose sums are below 2^32
    if int(counts.sum()) < 1 << SUM_BITS:
        return _sums(field, counts.astype(np.uint32), length)[:k].astype(np.int64)
    hits, mask = np.zeros(k, np.int64), (1 << bits) - 1
    for low in range(0, int(counts.max()).bit_length(), bits):
        part = (counts >> low & mask).astype(np.uint32)
        hits += _sums(field, part, length)[:k].astype(np.int64) << low
    return hits


def _is_compiled(q: int) -> bool:
    """Return whether sums are made by shifts of rows in C, which are too short in smaller fields."""
    return q >= MIN_ROW and is_prime(q)


def _sums(field: AnyField, counts: Sums, length: int) -> Sums:
    """Return the sums of counts over all hyperplanes modulo 2^32."""
    q, hits = field.order, np.zeros(1, np.uint32)  # the only point of one element is not orthogonal to itself
    for elements in range(1, length):
        points = first_point(q, elements)
        sums = _projections(field, counts[points : points + q**elements], elements)
        total = int(counts[:points].sum(dtype=np.uint32))
        last = np.empty(q**elements, np.uint32)
        if _is_compiled(q):
            transform.hyperplane_sums(sums, hits, total, last, elements)
        else:
            _table_hyperplane_sums(field, sums, hits, total, last, elements)
        hits = np.concatenate([hits + sums[:, 0], last])
    return hits


def _projections(field: AnyField, counts: Sums, length: int) -> Sums:
    """Return the sums of counts[x] over <w, x> = v for all points w (rows) and elements v (columns)."""
    q = field.order
    sums: Sums = counts.reshape(-1, 1, q)  # axes: elements of x that are not summed yet, point, value
    for elements in range(1, length):
        by_element = sums.reshape(-1, q, sums.shape[1], q)
        sums = np.empty((len(by_element), first_point(q, elements + 1), q), np.uint32)
        if _is_compiled(q):
            transform.add_coordinate(np.ascontiguousarray(by_element), sums, elements)
        else:
            _table_add_coordinate(field, by_element, sums, elements)
    return np.asarray(sums[0])


def _table_add_coordinate(field: AnyField, sums: Sums, wider: Sums, length: int) -> None:
    """Do the same as `transform.add_coordinate` in a field with tables."""
    assert isinstance(field, FiniteField)
    q, points = field.order, sums.shape[2]
    negative, inverse = field.negative(np.arange(q)), field.inverse(np.arange(q))
    wider[:, :points] = sums.sum(axis=1, dtype=np.uint32)  # the points (p, 0)
    wider[:, points] = sums[:, :, 0].sum(axis=2, dtype=np.uint32)  # (0, 1)
    by_value = np.ascontiguousarray(sums.transpose(1, 3, 0, 2)).reshape(q, q, -1)
    for factor in range(1, q):  # (factor p, 1): <p, x> = (v - a) / factor for the new element a
        places = points + multiples(field, factor, length)
        for value in range(q):
            before = field.product[inverse[factor], field.sum[value, negative]]
            total = by_value[0, before[0]].copy()
            for element in range(1, q):
                total += by_value[element, before[element]]
            wider[:, places, value] = total.reshape(-1, points)


def _table_hyperplane_sums(field: AnyField, sums: Sums, below: Sums, total: int, hits: Sums, length: int) -> None:
    """Do the same as `transform.hyperplane_sums` in a field with tables."""
    assert isinstance(field, FiniteField)
    hits[0] = total
    values = field.negative(field.inverse(np.arange(field.order)))
    for factor in range(1, field.order):
        hits[multiples(field, factor, length)] = sums[:, values[factor]] + below
