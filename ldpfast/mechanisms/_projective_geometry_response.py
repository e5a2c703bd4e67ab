"""Projective geometry response for many categories."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import _check, _coins, _finite_field
from .._core import privatize
from .._finite_field import FiniteField
from .._typing import AnyArray, Floats
from ._draws import Counts, bincount, multinomial, uniform
from ._hadamard_response import walsh
from ._hyperplanes import count_vectors, first_point, multiples, on_digits, point_multiples
from ._set_response import SetResponse

if TYPE_CHECKING:
    from numpy.random import Generator

MAX_VECTORS = 1 << 25  # vectors over the field: their counts must fit memory
MATRIX_ROWS = 64  # of the matrices of the discrete Fourier transform


@dataclass(frozen=True)
class Geometry:
    """The projective space of the vectors of `length` elements of the field with `order` elements."""

    order: int
    length: int

    def first(self, position: int) -> int:
        """Return the number of the first point whose last nonzero element is at a position: (q^r - 1) / (q - 1)."""
        return first_point(self.order, position)

    @property
    def points(self) -> int:
        return self.first(self.length)

    @property
    def hyperplane(self) -> int:
        """Number of points that are orthogonal to a given one."""
        return self.first(self.length - 1)

    @property
    def common(self) -> int:
        """Number of points that are orthogonal to two given ones."""
        return self.first(self.length - 2)

    def elements(self, points: AnyArray) -> NDArray[np.int64]:
        """Return the vectors of points, shape (n, length)."""
        starts = np.array([self.first(r) for r in range(self.length)])
        position = np.searchsorted(starts, points, side="right") - 1
        rest = points.astype(np.int64) - starts[position]
        columns = np.arange(self.length)
        digits = rest[:, np.newaxis] // self.order**columns % self.order
        return np.asarray(np.where(columns < position[:, np.newaxis], digits, columns == position[:, np.newaxis]))


def _geometries(k: int) -> list[Geometry]:
    """Return the spaces of smallest length with at least k points, for all fields, as far as their vectors fit memory."""
    geometries = []
    for q in _finite_field.orders():
        length = 2
        while Geometry(q, length).points < k:
            length += 1
        if q**length <= MAX_VECTORS:
            geometries.append(Geometry(q, length))
    return geometries


@lru_cache(maxsize=256)
def best_geometry(k: int, epsilon: float) -> Geometry:
    """Return the space with the smallest total variance."""

    def total_variance(space: Geometry) -> float:  # times (e^epsilon - 1)^2
        odds = math.exp(min(epsilon, 300.0))
        size, common, points = space.hyperplane, space.common, space.points
        whole = size * odds + points - size
        q = (common * odds + size - common) / whole
        variance = size * odds * (points - size) / whole**2
        return (variance + (k - 1) * q * (1 - q)) / ((size - common) / whole) ** 2

    return min(_geometries(k), key=total_variance)


@dataclass(frozen=True)
class ProjectiveGeometryResponse(SetResponse):
    """Projective geometry response: a point of a projective space that is probably orthogonal to that of the category.

    Use it for many categories and `epsilon` of at most about 3: its reports have about log2(k) bits, and for k from 1024
    to 2^20 its total variance is at most 2 % above that of `SubsetSelection`. The loss grows quickly if e^epsilon is above
    the largest order of a field, 64, and for k above 2^20, where only small fields are used. `bounds.compare` shows it.

    Parameters
    ----------
    k : int
        Number of categories, in [2, 2^24].
    epsilon : float
        Privacy parameter, > 0.

    Attributes
    ----------
    order : int
        Number q of elements of the field, a prime power of at most 64: that with the smallest total variance.
    length : int
        Number t of elements of a vector. There are K = (q^t - 1) / (q - 1) >= k points.

    Raises
    ------
    TypeError, ValueError
        If `k` is not an integer in the range; if `epsilon` is not a finite number > 0, or too small or large for exact
        coins.

    Notes
    -----
    Records: integers in [0, k), shape (n,). Reports: codes in [0, K), of the smallest unsigned dtype. S(x) is the set of
    the points that are orthogonal to point x. It has (q^(t-1) - 1) / (q - 1) points, and two sets have
    (q^(t-2) - 1) / (q - 1) in common. O(n t) time, 16 random bytes per person. Counts are decoded by a Fourier transform
    over the field, in O(K q log K) time and up to 52 K q bytes; fields with more than 2^25 vectors are not used.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP, by exact uniform integers. The time may depend on the record and the coin.
    docs/proofs/projective_geometry_response.md.

    References
    ----------
    .. [1] V. Feldman, J. Nelson, H. L. Nguyen, K. Talwar, "Private frequency estimation via projective geometry", ICML
       2022.

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> mechanism = ldp.ProjectiveGeometryResponse(1000, epsilon=2.0)
    >>> mechanism.order, mechanism.length, mechanism.report_bits
    (8, 5, 13)
    >>> estimate = mechanism.run(np.full(20_000, 123), rng=1)
    >>> bool(abs(estimate.value[123] - 1) < 0.1)
    True
    """

    k: int
    epsilon: float
    order: int = field(init=False, repr=False, compare=False)
    length: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        k = _check.integer("k", self.k, 2, MAX_VECTORS // 2)
        self._set(k=k, epsilon=_check.positive("epsilon", self.epsilon))
        space = best_geometry(k, self.epsilon)
        self._set(order=space.order, length=space.length)
        coin = _coins.of_set(self.epsilon, space.hyperplane, space.points)
        tables = self._field.sum.tolist(), self._field.product.tolist()
        kernel = privatize.ProjectiveResponse(k, space.length, coin.heads, *tables)
        self.define_sets(k, coin, space.common, kernel)

    @property
    def _space(self) -> Geometry:
        return Geometry(self.order, self.length)

    @property
    def _field(self) -> FiniteField:
        return _finite_field.field(self.order)

    def supported(self, codes: AnyArray) -> NDArray[np.bool_]:
        report, category = self._space.elements(codes), self._space.elements(np.arange(self.k))
        total = np.zeros((len(codes), self.k), np.uint8)
        for i in range(self.length):
            total = self._field.sum[total, self._field.product[report[:, i, np.newaxis], category[:, i]]]
        return np.asarray(total == 0)

    def _draw_codes(self, inside: Counts, outside: Counts, generator: Generator) -> Counts:
        """Draw the position r of the last nonzero element, which is 1, and then the r elements before it.

        With a the vector of the category, they are uniform in the hyperplane <a[:r], z[:r]> = -a_r of a code in S(x), and in
        another one, each with the same probability, for a code outside of it. If a[:r] is zero, they are uniform.
        """
        q, space, field = self.order, self._space, self._field
        vectors = space.elements(np.arange(self.k))
        counts = np.zeros(space.points, np.int64)
        sizes = q ** np.arange(self.length)
        free = np.column_stack([~vectors[:, :r].any(axis=1) for r in range(self.length)])
        within = np.where(free, sizes * (vectors == 0), sizes // q)  # codes in S(x) with each position
        negative, inverse = (field.sum == 0).argmax(axis=1), (field.product == 1).argmax(axis=1)
        inside, outside = multinomial(generator, inside, within), multinomial(generator, outside, sizes - within)
        for r in range(self.length):
            bound = ~free[:, r]
            factor, point = point_multiples(field, vectors[bound, :r])
            # <a[:r], z[:r]> = -a_r + c, with c = 0 in S(x), divided by the factor
            people = np.column_stack([inside[bound, r], uniform(generator, outside[bound, r], q - 1)])
            right = field.sum[negative[vectors[bound, r]][:, np.newaxis], np.arange(q)]
            value = field.product[inverse[factor][:, np.newaxis], right]
            places = point[:, np.newaxis] * q + value
            planes = bincount(places.ravel(), people.ravel(), space.first(r) * q).reshape(space.first(r), q)
            anywhere = int(inside[~bound, r].sum() + outside[~bound, r].sum())
            counts[space.first(r) : space.first(r + 1)] = count_vectors(generator, field, r, planes, anywhere)
        return counts

    def _hits(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return (F(x) + n) / q, where F is the Fourier transform of the counts of all vectors.

        A vector has the count of its point. F(x) is the sum over the reports of q - 1 if they are orthogonal to x, else
        of -1.
        """
        q, tables = self.order, self._field
        vectors = np.zeros(q**self.length, np.int64)
        for factor in range(1, q):
            vectors[multiples(tables, factor, self.length)] = counts
        transformed = _fourier(vectors, tables.characteristic)
        dual = on_digits(tables.dual, self.length - 1)
        indices = np.concatenate([tables.dual[1] * q**r + dual[: q**r] for r in range(self.length)])[: self.k]
        return np.asarray((transformed[indices] + counts.sum()) // q)


def _fourier(values: NDArray[np.int64], p: int) -> NDArray[np.int64]:
    """Return the Fourier transform over the vectors of integers modulo p, which must be real and integer."""
    if p == 2:
        return walsh(values)
    together = int(math.log(MATRIX_ROWS, p))
    root = np.exp(2j * np.pi / p * np.outer(np.arange(p), np.arange(p)))
    transformed: Floats | NDArray[np.complex128] = values.astype(np.float64)
    left = round(math.log(len(values), p))
    while left > 0:
        axes = min(together, left)
        matrix = np.ones((1, 1))
        for _ in range(axes):
            matrix = np.kron(matrix, root)
        transformed = (transformed.reshape(p**axes, -1).T @ matrix).ravel()  # the transformed axes become the last ones
        left -= axes
    return np.rint(transformed.real).astype(np.int64)
