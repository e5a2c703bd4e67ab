"""Levels of a tree whose code is in a set that depends on the node: subset selection and projective geometry response."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import _coins
from .._core.privatize import ProjectiveResponse
from .._typing import AnyArray, Floats
from ._draws import PeopleCounts, heads, uniform
from ._moments import Moments, Scalar
from ._projective_space import Geometry
from ._tree_level import CodedLevel, KernelLevel, TreeLevel

LARGE_ORDER = 32  # of a field from which on a table of all nodes and codes is faster than sums over hyperplanes
MAX_ENTRIES = 1 << 20  # of such a table
MAX_TABLE = 1 << 18  # entries of a table of codes, which is faster than arithmetic in a field while it fits a cache

if TYPE_CHECKING:
    from numpy.random import Generator


class SetCodes(CodedLevel):
    """A level whose code is uniform in a set of codes that depends on the symbol, or uniform outside of it."""

    coin: _coins.SetCoin

    @property
    def codes(self) -> int:
        return self.coin.outputs

    @property
    def epsilon_realized(self) -> float:
        return self.coin.epsilon_realized

    @property
    def probabilities(self) -> tuple[Fraction, Fraction]:
        return self.coin.inside, self.coin.outside

    def draw_codes(self, people: PeopleCounts, generator: Generator) -> PeopleCounts:
        inside = heads(generator, people, self.coin.heads, (1 << self.coin.bits) - self.coin.heads)
        return self._draw_sets(inside, people - inside, generator)

    @abstractmethod
    def _draw_sets(self, inside: PeopleCounts, outside: PeopleCounts, generator: Generator) -> PeopleCounts:
        """Return the numbers of codes for the numbers of people of each symbol with codes in and outside of its set."""

    @property
    def compiled(self) -> KernelLevel:
        return KernelLevel(self.span, self.coin.heads, self.coin.size, self.coin.outputs - self.coin.size)


@dataclass(frozen=True)
class SetLevel(SetCodes, TreeLevel):
    """A level of a tree with a set of codes for each node."""

    coin: _coins.SetCoin

    @property
    @abstractmethod
    def moments(self) -> Moments[Fraction]:
        """Probabilities and second moments of the numbers of nodes."""

    @property
    def gap(self) -> Fraction:
        return self.moments.gap

    @property
    def base(self) -> float:
        return float(self.moments.base)

    @property
    def slope(self) -> float:
        return float(self.moments.slope)

    @property
    def largest_square(self) -> float:
        return 1 / (self.base + self.slope)

    @abstractmethod
    def hits(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of reports that support each node, from counts of codes."""

    def decode(self, counts: NDArray[np.int64]) -> Floats:
        n = int(counts.sum())
        if not n:
            return np.zeros(self.nodes)
        return np.asarray((self.hits(counts) / n - float(self.moments.support)) / float(self.gap))

    @abstractmethod
    def sums_in_sets(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return the smallest and the largest sum of the weights of the nodes that a code supports, for each column."""

    def decoded_range(self, weights: Floats) -> tuple[Floats, Floats]:
        always, gap = float(self.moments.support) * weights.sum(axis=0), float(self.gap)
        lowest, highest = self.sums_in_sets(weights)
        return (lowest - always) / gap, (highest - always) / gap


@lru_cache(maxsize=8)
def _subsets(nodes: int, size: int) -> tuple[NDArray[np.uint16], NDArray[np.int32], NDArray[np.int32]]:
    """Return the members of all sets of nodes in lexicographic order, and for each node the sets with it and without it."""
    members = np.array(list(combinations(range(nodes), size)), np.uint16)
    is_inside = np.zeros((nodes, len(members)), bool)
    is_inside[members.T, np.arange(len(members))] = True
    inside = np.array([np.flatnonzero(row) for row in is_inside], np.int32)
    outside = np.array([np.flatnonzero(~row) for row in is_inside], np.int32)
    for table in (members, inside, outside):
        table.flags.writeable = False
    return members, inside, outside


@dataclass(frozen=True)
class SubsetLevel(SetLevel):
    """A level with subset selection: the code is the number of a set of nodes, which probably holds that of the record.

    Sets are in lexicographic order.
    """

    size: int

    @property
    def common(self) -> int:
        return math.comb(self.nodes - 2, self.size - 2)

    @property
    def integers(self) -> tuple[int, ...]:
        return self.nodes, self.size, self.coin.heads, self.coin.size, self.coin.outputs

    @cached_property
    def moments(self) -> Moments[Fraction]:
        return Moments.of_sets(self.nodes, self.size, self.coin.inside * self.coin.size)

    def hits(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        members, _, _ = _subsets(self.nodes, self.size)
        hits = np.zeros(self.nodes, np.int64)
        for column in members.T:
            np.add.at(hits, column, counts)
        return hits

    def matches(self, symbols: AnyArray) -> NDArray[np.bool_]:
        members, _, _ = _subsets(self.nodes, self.size)
        return np.asarray((members == symbols[:, np.newaxis, np.newaxis]).any(axis=2))

    def sums_in_sets(self, weights: Floats) -> tuple[Floats, Floats]:
        ordered = np.sort(weights, axis=0)  # all sets of this size are codes
        return ordered[: self.size].sum(axis=0), ordered[-self.size :].sum(axis=0)

    def _draw_sets(self, inside: PeopleCounts, outside: PeopleCounts, generator: Generator) -> PeopleCounts:
        counts = np.zeros(self.codes, np.int64)
        for table, people in zip(_subsets(self.nodes, self.size)[1:], (inside, outside), strict=True):
            np.add.at(counts, table.ravel(), uniform(generator, people, table.shape[1]).ravel())
        return counts

    @property
    def compiled(self) -> KernelLevel:
        _, inside, outside = _subsets(self.nodes, self.size)
        return replace(super().compiled, table=np.concatenate([inside, outside], axis=1).astype(np.uint32))


@lru_cache(maxsize=64)
def _scattered(nodes: int, points: int) -> NDArray[np.uint32]:
    """Return different points for the nodes, in an order that looks random and is the same everywhere.

    Otherwise, the points of neighboring nodes are on a few lines, and shares of ranges are less precise where the records are
    in few nodes. Points are sorted by a mixing function (splitmix64).
    """
    mixed = np.arange(points, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    order = np.argsort(mixed ^ (mixed >> np.uint64(31)), kind="stable")[:nodes].astype(np.uint32)
    order.flags.writeable = False
    return order


def line_moments(space: Geometry, inside: Scalar, outside: Scalar) -> Moments[Scalar]:
    """Return the moments of codes with given probabilities on and outside of the hyperplane of the record.

    The record is on the line of two others by chance.
    """
    size, common = space.hyperplane, space.common
    three = space.first(max(0, space.length - 3))  # codes on three hyperplanes whose points are not on a line
    support = inside * common + outside * (size - common)
    on_line = (inside - outside) * (common - three)
    others_on_line = on_line * (space.order - 1) / (space.points - 2)
    other = outside * common + (inside - outside) * three + others_on_line
    return Moments.of(support, inside * size - support, other + on_line - others_on_line, other)


@lru_cache(maxsize=64)
def _kernel(space: Geometry, coin: _coins.SetCoin) -> ProjectiveResponse:
    """Return the kernel for all points of a space."""
    return space.kernel(space.points, coin)


@lru_cache(maxsize=8)
def _memberships(level: ProjectiveLevel) -> NDArray[np.bool_]:
    """Return which codes are on the hyperplane of each node, shape (nodes, codes)."""
    found = level.matches(np.arange(level.nodes))
    found.flags.writeable = False
    return found


@lru_cache(maxsize=64)
def _table(level: ProjectiveLevel) -> NDArray[np.uint32]:
    """Return what the kernel computes for all draws, shape (nodes, codes)."""
    table = np.empty((level.nodes, level.codes), np.uint32)
    _kernel(level.space, level.coin).fill_table(level.points, table)
    table.flags.writeable = False
    return table


@dataclass(frozen=True)
class ProjectiveLevel(SetLevel):
    """A level with projective geometry response: each node is a point of a projective space.

    The second moments are those for records and nodes whose points are not more often on a line than random points. They are
    exact if all nodes are equally frequent and the points of the space, or if no third node is on the line of two.
    """

    space: Geometry

    @property
    def common(self) -> int:
        return self.space.common

    @property
    def points(self) -> NDArray[np.uint32]:
        """Point of each node."""
        return _scattered(self.nodes, self.space.points)

    @property
    def integers(self) -> tuple[int, ...]:
        return self.space.order, self.space.length, self.coin.heads, self.coin.size, self.coin.outputs

    @cached_property
    def moments(self) -> Moments[Fraction]:
        return line_moments(self.space, self.coin.inside, self.coin.outside)

    def hits(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        if self.space.order >= LARGE_ORDER and self.nodes * self.codes <= MAX_ENTRIES:
            return np.asarray(_memberships(self) @ counts)
        return self.space.hits(counts, int(self.points.max()) + 1)[self.points]

    def matches(self, symbols: AnyArray) -> NDArray[np.bool_]:
        return self.space.are_orthogonal(np.arange(self.codes), self.points[symbols.astype(np.intp)]).T

    def sums_in_sets(self, weights: Floats) -> tuple[Floats, Floats]:
        lowest, highest = np.full(weights.shape[1], np.inf), np.full(weights.shape[1], -np.inf)
        part = max(1, MAX_ENTRIES // self.nodes)  # codes at once
        for first in range(0, self.codes, part):
            codes = np.arange(first, min(first + part, self.codes))
            sums = self.space.are_orthogonal(codes, self.points).astype(np.float64) @ weights
            lowest, highest = np.minimum(lowest, sums.min(axis=0)), np.maximum(highest, sums.max(axis=0))
        return lowest, highest

    def _draw_sets(self, inside: PeopleCounts, outside: PeopleCounts, generator: Generator) -> PeopleCounts:
        return self.space.draw_codes(self.points, inside, outside, generator)

    @property
    def compiled(self) -> KernelLevel:
        if self.nodes * self.codes <= MAX_TABLE:
            return replace(super().compiled, table=_table(self))
        return replace(super().compiled, table=self.points, space=_kernel(self.space, self.coin))
