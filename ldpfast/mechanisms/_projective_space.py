"""Projective spaces over finite fields: the points of projective geometry response, and their hyperplanes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import _coins, _finite_field
from .._core import privatize
from .._finite_field import AnyField, FiniteField
from .._typing import AnyArray
from ._draws import PeopleCounts, bincount, each_person, multinomial, uniform
from ._hyperplane_sums import hyperplane_sums
from ._hyperplanes import draw_vector_counts, first_point, point_multiples

if TYPE_CHECKING:
    from numpy.random import Generator

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
    def field(self) -> AnyField:
        """The field of the elements."""
        return _finite_field.field(self.order)

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

    def numbers(self, vectors: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of the points of vectors, shape (n, length), none of them zero."""
        field = self.field
        position = self.length - 1 - (vectors[:, ::-1] != 0).argmax(axis=1)
        factor = field.inverse(np.take_along_axis(vectors, position[:, np.newaxis], axis=1))
        before = np.where(np.arange(self.length) < position[:, np.newaxis], field.multiply(factor, vectors), 0)
        starts = np.array([self.first(r) for r in range(self.length)])
        return np.asarray(starts[position] + before.astype(np.int64) @ self.order ** np.arange(self.length))

    def are_orthogonal(self, codes: AnyArray, points: AnyArray) -> NDArray[np.bool_]:
        """Return whether each code is on the hyperplane of each point, shape (codes, points)."""
        one = self.elements(codes)
        other = self.elements(points)
        field = self.field
        total = np.zeros((len(codes), len(points)), np.int64)
        for i in range(self.length):
            total = field.add(total, field.multiply(one[:, i, np.newaxis], other[:, i]))
        return np.asarray(total == 0)

    def hits(self, counts: NDArray[np.int64], k: int) -> NDArray[np.int64]:
        """Return the number of reports on the hyperplanes of the first k points, from the counts of all points."""
        return hyperplane_sums(self.field, self.length, counts, k)

    def kernel(self, k: int, coin: _coins.SetCoin) -> privatize.ProjectiveResponse:
        """Return the compiled kernel for the first k points."""
        field = self.field
        tables = (field.sum.tolist(), field.product.tolist()) if isinstance(field, FiniteField) else None
        return privatize.ProjectiveResponse(k, self.order, self.length, coin.heads, tables)

    def table_bytes(self) -> bytes:
        """Return the tables of sums, products, negative and inverse elements as bytes; none for integers modulo a prime."""
        if not isinstance(self.field, FiniteField):
            return b""
        elements = np.arange(self.order)
        tables = (self.field.sum, self.field.product, self.field.negative(elements), self.field.inverse(elements))
        return b"".join(np.asarray(table, np.uint8).tobytes() for table in tables)

    def draw_codes(
        self, points: AnyArray, inside: PeopleCounts, outside: PeopleCounts, generator: Generator
    ) -> PeopleCounts:
        """Return the numbers of codes for people with some points, and with codes on and outside of their hyperplanes.

        The position r of the last nonzero element of a code, which is 1, is drawn, and then the r elements before it. With a
        the vector of the point, they are uniform in <a[:r], z[:r]> = -a_r for a code on the hyperplane, and in another such
        set, each with the same probability, for a code outside of it. If a[:r] is zero, they are uniform. In spaces with very
        many vectors each code is drawn.
        """
        q, field = self.order, self.field
        if not isinstance(field, FiniteField) or q**self.length > MAX_DRAWN:
            return self._draw_each_code(points, inside, outside, generator)
        vectors, counts = self.elements(points), np.zeros(self.points, np.int64)
        sizes = q ** np.arange(self.length)
        free = np.column_stack([~vectors[:, :r].any(axis=1) for r in range(self.length)])
        within = np.where(free, sizes * (vectors == 0), sizes // q)  # codes in S(x) with each position
        negative, inverse = field.negative(np.arange(q)), field.inverse(np.arange(q))
        inside, outside = multinomial(generator, inside, within), multinomial(generator, outside, sizes - within)
        for r in range(self.length):
            bound = ~free[:, r]
            factor, point = point_multiples(field, vectors[bound, :r])
            # <a[:r], z[:r]> = -a_r + c, with c = 0 in S(x), divided by the factor
            people = np.column_stack([inside[bound, r], uniform(generator, outside[bound, r], q - 1)])
            right = field.sum[negative[vectors[bound, r]][:, np.newaxis], np.arange(q)]
            value = field.product[inverse[factor][:, np.newaxis], right]
            places = point[:, np.newaxis] * q + value
            planes = bincount(places.ravel(), people.ravel(), self.first(r) * q).reshape(self.first(r), q)
            anywhere = int(inside[~bound, r].sum() + outside[~bound, r].sum())
            counts[self.first(r) : self.first(r + 1)] = draw_vector_counts(generator, field, r, planes, anywhere)
        return counts

    def _draw_each_code(
        self, points: AnyArray, inside: PeopleCounts, outside: PeopleCounts, generator: Generator
    ) -> PeopleCounts:
        """Draw the vectors that the kernel draws, for one person after another.

        All elements but that at the position of the 1 of the point are drawn, and that one follows from the product.
        """
        field = self.field
        counts = np.zeros(self.points, np.int64)
        vectors = self.elements(points)
        free = np.arange(self.length - 1)
        for product, people in ((0, inside), (1, outside)):
            for members in each_person(people):
                x = vectors[members]
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
                np.add.at(counts, self.numbers(z), 1)
        return counts


def geometries(k: int, max_points: int) -> list[Geometry]:
    """Return the spaces of smallest length with at least k points, for all fields, if they have at most `max_points`."""
    spaces = []
    for q in _finite_field.orders():
        length = 2
        while first_point(q, length) < k:
            length += 1
        if first_point(q, length) <= max_points:
            spaces.append(Geometry(q, length))
    return spaces
