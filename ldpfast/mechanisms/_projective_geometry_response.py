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
from .._finite_field import AnyField, FiniteField
from .._typing import AnyArray
from ._draws import Counts, bincount, each_person, multinomial, uniform
from ._hyperplane_sums import hyperplane_sums
from ._hyperplanes import count_vectors, first_point, point_multiples
from ._set_response import SetResponse

if TYPE_CHECKING:
    from numpy.random import Generator

MAX_CATEGORIES = 1 << 24
MAX_POINTS = 1 << 26  # their counts must fit memory
FREE_POINTS = 1 << 24  # for which no accuracy is given up
MAX_LOSS = 0.01  # of variance, for fewer points
MAX_DRAWN = 1 << 25  # vectors up to which the counts of codes are drawn without drawing each code


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

    def numbers(self, vectors: NDArray[np.int64], field: AnyField) -> NDArray[np.int64]:
        """Return the numbers of the points of vectors, shape (n, length), none of them zero."""
        position = self.length - 1 - (vectors[:, ::-1] != 0).argmax(axis=1)
        factor = field.inverse(np.take_along_axis(vectors, position[:, np.newaxis], axis=1))
        before = np.where(np.arange(self.length) < position[:, np.newaxis], field.multiply(factor, vectors), 0)
        starts = np.array([self.first(r) for r in range(self.length)])
        return np.asarray(starts[position] + before.astype(np.int64) @ self.order ** np.arange(self.length))


def _geometries(k: int) -> list[Geometry]:
    """Return the spaces of smallest length with at least k points, for all fields, as far as their counts fit memory."""
    geometries = []
    for q in _finite_field.orders():
        length = 2
        while first_point(q, length) < k:
            length += 1
        if first_point(q, length) <= MAX_POINTS:
            geometries.append(Geometry(q, length))
    return geometries


def _total_variance(space: Geometry, k: int, epsilon: float) -> float:
    """Return the sum of the variances of the shares of k categories, times (e^epsilon - 1)^2 and the number of people."""
    odds = math.exp(min(epsilon, 300.0))
    size, common, points = space.hyperplane, space.common, space.points
    whole = size * odds + points - size
    q = (common * odds + size - common) / whole
    variance = size * odds * (points - size) / whole**2
    return (variance + (k - 1) * q * (1 - q)) / ((size - common) / whole) ** 2


@lru_cache(maxsize=256)
def best_geometry(k: int, epsilon: float) -> Geometry:
    """Return the space with the smallest total variance, or with fewer points if that has more than 2^24.

    Then it is the one with the fewest points among those whose total variance is at most 1 % above the smallest one.
    """
    variances = {space: _total_variance(space, k, epsilon) for space in _geometries(k)}
    limit = min(variances.values()) * (1 + MAX_LOSS)
    good = (space for space, variance in variances.items() if variance <= limit)
    return min(good, key=lambda space: (max(space.points, FREE_POINTS), variances[space]))


@dataclass(frozen=True)
class ProjectiveGeometryResponse(SetResponse):
    """Projective geometry response: a point of a projective space that is probably orthogonal to that of the category.

    Use it for many categories: its reports have about log2(k) bits, and its total variance is at most 2 % above that of
    `SubsetSelection` for k from 1024 and `epsilon` up to 3. For larger `epsilon` this holds if k is much larger than
    e^epsilon, up to `epsilon` 8; beyond, the field has fewer than e^epsilon elements and the loss grows. `bounds.compare`
    shows it.

    Parameters
    ----------
    k : int
        Number of categories, in [2, 2^24].
    epsilon : float
        Privacy parameter, > 0.

    Attributes
    ----------
    order : int
        Number q of elements of the field: a prime power of at most 64 or a prime of at most 8191.
    length : int
        Number t of elements of a vector. There are K = (q^t - 1) / (q - 1) points, k <= K <= 2^26. The space is the one
        with the smallest total variance; above 2^24 points, the one with the fewest points among those whose total variance
        is at most 1 % above the smallest one.

    Raises
    ------
    TypeError, ValueError
        If `k` is not an integer in the range; if `epsilon` is not a finite number > 0, or too small or large for exact
        coins.

    Notes
    -----
    Records: integers in [0, k), shape (n,). Reports: codes in [0, K), of the smallest unsigned dtype. S(x) is the set of
    the points that are orthogonal to point x. It has (q^(t-1) - 1) / (q - 1) points, and two sets have
    (q^(t-2) - 1) / (q - 1) in common. O(n t) time, 16 random bytes per person. Counts are decoded by sums of integers, in
    O(K q t) time, about 0.1 s for K = 3.3 million and q = 149, and 24 K bytes up to 2^32 reports; a few reports are decoded
    in O(n k / q) time.

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
        k = _check.integer("k", self.k, 2, MAX_CATEGORIES)
        self._set(k=k, epsilon=_check.positive("epsilon", self.epsilon))
        space = best_geometry(k, self.epsilon)
        self._set(order=space.order, length=space.length)
        coin, field = _coins.of_set(self.epsilon, space.hyperplane, space.points), self._field
        tables = (field.sum.tolist(), field.product.tolist()) if isinstance(field, FiniteField) else None
        kernel = privatize.ProjectiveResponse(k, space.order, space.length, coin.heads, tables)
        self.define_sets(k, coin, space.common, kernel)

    @property
    def _space(self) -> Geometry:
        return Geometry(self.order, self.length)

    @property
    def _field(self) -> AnyField:
        return _finite_field.field(self.order)

    def _supports(self, codes: AnyArray, items: AnyArray) -> NDArray[np.bool_]:
        report, category, field = self._space.elements(codes), self._space.elements(items), self._field
        total = np.zeros((len(codes), len(items)), np.int64)
        for i in range(self.length):
            total = field.add(total, field.multiply(report[:, i, np.newaxis], category[:, i]))
        return np.asarray(total == 0)

    def _draw_codes(self, inside: Counts, outside: Counts, generator: Generator) -> Counts:
        """Draw the position r of the last nonzero element, which is 1, and then the r elements before it.

        With a the vector of the category, they are uniform in the hyperplane <a[:r], z[:r]> = -a_r of a code in S(x), and in
        another one, each with the same probability, for a code outside of it. If a[:r] is zero, they are uniform. In spaces
        with very many vectors each code is drawn.
        """
        q, space, field = self.order, self._space, self._field
        if not isinstance(field, FiniteField) or q**self.length > MAX_DRAWN:
            return self._draw_each_code(inside, outside, generator)
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

    def _draw_each_code(self, inside: Counts, outside: Counts, generator: Generator) -> Counts:
        """Draw the vectors that the kernel draws, for one person after another.

        All elements but that at the position of the 1 of the category are drawn, and that one follows from the product.
        """
        space, field, counts = self._space, self._field, np.zeros(self._space.points, np.int64)
        free = np.arange(self.length - 1)
        for product, people in ((0, inside), (1, outside)):
            for categories in each_person(people):
                x = space.elements(categories)
                one = self.length - 1 - (x[:, ::-1] != 0).argmax(axis=1)
                if product:
                    drawn = generator.integers(0, self.order, (len(x), self.length - 1))
                else:
                    shorter = Geometry(self.order, self.length - 1)
                    drawn = shorter.elements(generator.integers(0, shorter.points, len(x)))
                z = np.zeros_like(x)
                np.put_along_axis(z, free + (free >= one[:, np.newaxis]), drawn, axis=1)
                rest = np.zeros(len(x), np.int64)
                for i in range(self.length):
                    rest = field.add(rest, field.multiply(x[:, i], z[:, i]))
                value = field.add(np.array(product), field.negative(rest))
                np.put_along_axis(z, one[:, np.newaxis], value[:, np.newaxis], axis=1)
                counts += np.bincount(space.numbers(z, field), minlength=space.points)
        return counts

    def _hits(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        return hyperplane_sums(self._field, counts, self.k)
