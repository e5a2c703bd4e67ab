"""Levels of a tree over ordered bins: the response of the people who report a level, and the decoding of their codes."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import _coins
from .._core.privatize import ProjectiveResponse
from .._random import Words
from .._typing import AnyArray, Floats
from ._draws import Counts, bincount, heads, uniform
from ._hadamard_response import draw_parities, walsh
from ._projective_space import Geometry, geometries
from ._response import response_counts
from ._subset_selection import best_size

if TYPE_CHECKING:
    from numpy.random import Generator

POINTS_PER_NODE = 8  # at most, of the projective space of a large level
SMALL_SPACE = 1 << 17  # points that every level may have
MAX_SUBSETS = 1 << 16  # codes of a level with subset selection
MIN_GAIN = 0.99  # of variance, for which a level has projective geometry response


@dataclass(frozen=True)
class TreeLevel(ABC):
    """The channel of the people who report one level of the tree.

    A record belongs to one of `symbols` symbols of `span` neighboring bins each.

    Attributes
    ----------
    nodes : int
        Number of decoded numbers: shares of nodes, or Haar coefficients.
    symbols : int
        Number of symbols: nodes, or nodes with a sign (the halves of a node).
    span : int
        Number of bins per symbol.
    signed : bool
        Whether the numbers are Haar coefficients: share of the left half minus share of the right half.
    """

    nodes: int
    symbols: int
    span: int
    signed: bool

    @property
    @abstractmethod
    def codes(self) -> int:
        """Number of codes."""

    @property
    @abstractmethod
    def epsilon_realized(self) -> float:
        """Loss of the coin."""

    @property
    @abstractmethod
    def integers(self) -> tuple[int, ...]:
        """The integers of the coin, which saved states compare."""

    @property
    @abstractmethod
    def gap(self) -> Fraction:
        """Factor of a number in the expectation of the reports."""

    @property
    @abstractmethod
    def base(self) -> float:
        """Second moment of the decoded number of a node without the record."""

    @property
    @abstractmethod
    def slope(self) -> float:
        """Increase of that second moment for the node of the record."""

    @property
    @abstractmethod
    def probabilities(self) -> tuple[Fraction, Fraction]:
        """Probabilities of a code that matches the symbol and of one that does not."""

    @property
    def variance(self) -> float:
        """Second moment of a decoded number if all nodes are equally frequent."""
        return self.base + self.slope / self.nodes

    @property
    def largest_square(self) -> float:
        """Upper bound of the square of the mean of a linear function of the numbers, over its second moment."""
        return float(self.gap)

    @abstractmethod
    def decode(self, counts: NDArray[np.int64]) -> Floats:
        """Return the unbiased shares, or Haar coefficients, of the nodes from counts of codes; zeros without reports."""

    @abstractmethod
    def matches(self, symbols: AnyArray) -> NDArray[np.bool_]:
        """Return whether each code is among those that a symbol makes more probable, shape (n, codes)."""

    @abstractmethod
    def draw_codes(self, people: Counts, generator: Generator) -> Counts:
        """Return the numbers of codes for the numbers of people of each symbol."""

    def _node_and_sign(self, symbols: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Return the nodes of symbols, and 1 for those with a minus sign, else 0."""
        return (symbols >> 1, symbols & 1) if self.signed else (symbols, np.zeros_like(symbols))


@dataclass(frozen=True)
class ResponseLevel(TreeLevel):
    """A level with k-ary response: the code is a symbol."""

    coin: _coins.ResponseCoin

    @property
    def codes(self) -> int:
        return self.symbols

    @property
    def epsilon_realized(self) -> float:
        return self.coin.epsilon_realized

    @property
    def integers(self) -> tuple[int, ...]:
        return self.coin.k, self.coin.keep, self.coin.words_per_symbol

    @property
    def gap(self) -> Fraction:
        return self.coin.p - self.coin.q

    @property
    def base(self) -> float:
        return float((1 + self.signed) * self.coin.q / self.gap**2)

    @property
    def slope(self) -> float:
        return float(1 / self.gap)

    @property
    def probabilities(self) -> tuple[Fraction, Fraction]:
        return self.coin.p, self.coin.q

    def decode(self, counts: NDArray[np.int64]) -> Floats:
        n = max(1, int(counts.sum()))
        shares = (counts / n - float(self.coin.q)) / float(self.gap) if counts.any() else np.zeros(self.symbols)
        if not self.signed:
            return np.asarray(shares)
        halves = np.zeros(2 * self.nodes)
        halves[: self.symbols] = shares
        return np.asarray(halves[0::2] - halves[1::2])

    def matches(self, symbols: AnyArray) -> NDArray[np.bool_]:
        return np.asarray(symbols[:, np.newaxis] == np.arange(self.codes))

    def draw_codes(self, people: Counts, generator: Generator) -> Counts:
        return response_counts(self.coin, people, generator)


@dataclass(frozen=True)
class HadamardLevel(TreeLevel):
    """A level with Hadamard response: the codes are the 2^j vectors of j bits.

    The symbol has a node and a sign, and the code is drawn from the vectors whose inner product modulo 2 with the mask of the
    node is 0 (1 for a minus sign), or from the others. The highest bit of each mask is 1, so that the sum of two masks is no
    mask: the decoded numbers of two nodes are then uncorrelated for every record.
    """

    coin: _coins.BinaryCoin

    @property
    def half(self) -> int:
        """Half of the number of codes, and the highest bit of the masks."""
        return 1 << (self.nodes - 1).bit_length()

    @property
    def codes(self) -> int:
        return 2 * self.half

    @property
    def epsilon_realized(self) -> float:
        return self.coin.epsilon_realized

    @property
    def integers(self) -> tuple[int, ...]:
        return (self.coin.heads,)

    @property
    def gap(self) -> Fraction:
        return 2 * self.coin.p - 1

    @property
    def base(self) -> float:
        return float(1 / self.gap**2)

    @property
    def slope(self) -> float:
        return 0.0

    @property
    def probabilities(self) -> tuple[Fraction, Fraction]:
        return self.coin.p / self.half, (1 - self.coin.p) / self.half

    def decode(self, counts: NDArray[np.int64]) -> Floats:
        signed = walsh(counts[: self.half] - counts[self.half :])
        return np.asarray(signed[: self.nodes] / (max(1, int(counts.sum())) * float(self.gap)))

    def matches(self, symbols: AnyArray) -> NDArray[np.bool_]:
        node, minus = self._node_and_sign(symbols)
        odd = np.bitwise_count((node | self.half)[:, np.newaxis] & np.arange(self.codes)) & 1
        return np.asarray(odd == minus[:, np.newaxis])

    def draw_codes(self, people: Counts, generator: Generator) -> Counts:
        right = heads(generator, people, self.coin.heads, self.coin.tails)
        node, sign = self._node_and_sign(np.arange(self.symbols))
        masks, size, minus = (node | self.half) - 1, 2 * self.half - 1, sign == 1
        even, odd = np.where(minus, people - right, right), np.where(minus, right, people - right)
        bits = self.half.bit_length()
        return draw_parities(bincount(masks, even, size), bincount(masks, odd, size), bits, generator)


@lru_cache(maxsize=64)
def _subsets(nodes: int, size: int) -> tuple[NDArray[np.uint16], NDArray[np.int32], NDArray[np.int32]]:
    """Return the members of all sets of nodes in lexicographic order, and for each node the sets with it and without it."""
    members = np.array(list(combinations(range(nodes), size)), np.uint16)
    is_inside = np.zeros((nodes, len(members)), bool)
    is_inside[members.T, np.arange(len(members))] = True
    inside, outside = (np.nonzero(flags)[1].reshape(nodes, -1).astype(np.int32) for flags in (is_inside, ~is_inside))
    for table in (members, inside, outside):
        table.flags.writeable = False
    return members, inside, outside


@dataclass(frozen=True)
class SubsetLevel(TreeLevel):
    """A level with subset selection: the code is the number of a set of nodes, which probably holds that of the record.

    Sets are in lexicographic order.
    """

    size: int
    coin: _coins.SetCoin

    @property
    def codes(self) -> int:
        return math.comb(self.nodes, self.size)

    @property
    def epsilon_realized(self) -> float:
        return self.coin.epsilon_realized

    @property
    def integers(self) -> tuple[int, ...]:
        return self.nodes, self.size, self.coin.heads, self.coin.size, self.coin.outputs

    @property
    def _support(self) -> Fraction:
        """Probability that a set holds another node than that of the record."""
        p = self.coin.inside * self.coin.size
        return (self.size - p) / (self.nodes - 1)

    @property
    def gap(self) -> Fraction:
        return self.coin.inside * self.coin.size - self._support

    @property
    def _moments(self) -> tuple[Fraction, Fraction]:
        """`base` and `slope`, after the product of the hits of two nodes without the record is subtracted from all products."""
        nodes, size, p, q = self.nodes, self.size, self.coin.inside * self.coin.size, self._support
        # Products of the hits of two nodes: with the record, and without it.
        own = p * (size - 1) / (nodes - 1)
        other = (size * (size - 1) - 2 * (nodes - 1) * own) / Fraction((nodes - 1) * (nodes - 2))
        pair, pair_slope = other - q**2, own - other - q * self.gap
        return (q * (1 - q) - pair) / self.gap**2, (self.gap * (1 - 2 * q) - 2 * pair_slope) / self.gap**2

    @property
    def base(self) -> float:
        return float(self._moments[0])

    @property
    def slope(self) -> float:
        return float(self._moments[1])

    @property
    def largest_square(self) -> float:
        return 1 / (self.base + self.slope)

    @property
    def probabilities(self) -> tuple[Fraction, Fraction]:
        return self.coin.inside, self.coin.outside

    def decode(self, counts: NDArray[np.int64]) -> Floats:
        n = int(counts.sum())
        if not n:
            return np.zeros(self.nodes)
        members, _, _ = _subsets(self.nodes, self.size)
        hits = np.zeros(self.nodes, np.int64)
        for column in members.T:
            np.add.at(hits, column, counts)
        return np.asarray((hits / n - float(self._support)) / float(self.gap))

    def matches(self, symbols: AnyArray) -> NDArray[np.bool_]:
        members, _, _ = _subsets(self.nodes, self.size)
        return np.asarray((members == symbols[:, np.newaxis, np.newaxis]).any(axis=2))

    def draw_codes(self, people: Counts, generator: Generator) -> Counts:
        _, *lists = _subsets(self.nodes, self.size)
        heads_of = heads(generator, people, self.coin.heads, (1 << self.coin.bits) - self.coin.heads)
        counts = np.zeros(self.codes, np.int64)
        for table, number in zip(lists, (heads_of, people - heads_of), strict=True):
            np.add.at(counts, table.ravel(), uniform(generator, number, table.shape[1]).ravel())
        return counts

    def respond(self, symbols: NDArray[np.uint64], coins: NDArray[np.uint64], words: Words) -> NDArray[np.uint64]:
        """Return the codes of people with some symbols, from words for the coins and new words for the codes."""
        n, (_, inside, outside) = len(symbols), _subsets(self.nodes, self.size)
        on, off = words.below(inside.shape[1], n), words.below(outside.shape[1], n)
        place = symbols.astype(np.intp)
        codes = np.where(coins < np.uint64(self.coin.heads), inside[place, on], outside[place, off])
        return codes.astype(np.uint64)


@lru_cache(maxsize=64)
def _scattered(nodes: int, points: int) -> NDArray[np.uint32]:
    """Return different points for the nodes, in an order that looks random and is the same everywhere.

    The points of neighboring nodes would else be on a few lines, which makes the shares of ranges less precise where the
    records are in few nodes. Points are sorted by a mixing function (splitmix64).
    """
    mixed = np.arange(points, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    order = np.argsort(mixed ^ (mixed >> np.uint64(31)), kind="stable")[:nodes].astype(np.uint32)
    order.flags.writeable = False
    return order


Number = TypeVar("Number", float, Fraction)


@dataclass(frozen=True)
class _Moments(Generic[Number]):
    """Probabilities and second moments of the hits of nodes, if the record is on the line of two others by chance.

    Attributes
    ----------
    support : float or Fraction
        Probability that a code is on the hyperplane of another node than that of the record.
    gap : float or Fraction
        Amount by which this probability is larger for the node of the record.
    base, slope : float or Fraction
        As for `TreeLevel`, after a constant of the level is subtracted from the products of the numbers of two nodes.
    """

    support: Number
    gap: Number
    base: Number
    slope: Number

    @classmethod
    def of(cls, space: Geometry, inside: Number, outside: Number) -> _Moments[Number]:
        """Return the moments for the probabilities of a code on and outside of the hyperplane of the record."""
        size, common = space.hyperplane, space.common
        three = space.first(max(0, space.length - 3))  # codes on three hyperplanes whose points are not on a line
        support = inside * common + outside * (size - common)
        gap = inside * size - support
        # Mean of the product of the centered hits of two nodes: without the record, and its increase for either of them.
        on_line = (inside - outside) * (common - three)
        by_chance = on_line * (space.order - 1) / (space.points - 2)
        pair = outside * common + (inside - outside) * three + by_chance - support**2
        pair_slope = on_line - by_chance - support * gap
        base = (support * (1 - support) - pair) / gap**2
        slope = (gap * (1 - 2 * support) - 2 * pair_slope) / gap**2
        return cls(support, gap, base, slope)


@lru_cache(maxsize=64)
def _kernel(space: Geometry, coin: _coins.SetCoin) -> ProjectiveResponse:
    """Return the kernel for all points of a space."""
    return space.kernel(space.points, coin)


@dataclass(frozen=True)
class ProjectiveLevel(TreeLevel):
    """A level with projective geometry response: each node is a point of a projective space.

    The second moments are those for records and nodes whose points are not more often on a line than random points. They are
    exact if all nodes are equally frequent and the points of the space, or if no third node is on the line of two.
    """

    space: Geometry
    coin: _coins.SetCoin

    @property
    def points(self) -> NDArray[np.uint32]:
        """Point of each node."""
        return _scattered(self.nodes, self.space.points)

    @property
    def codes(self) -> int:
        return self.space.points

    @property
    def epsilon_realized(self) -> float:
        return self.coin.epsilon_realized

    @property
    def integers(self) -> tuple[int, ...]:
        return self.space.order, self.space.length, self.coin.heads, self.coin.size, self.coin.outputs

    @cached_property
    def _moments(self) -> _Moments[Fraction]:
        return _Moments.of(self.space, self.coin.inside, self.coin.outside)

    @property
    def gap(self) -> Fraction:
        return self._moments.gap

    @property
    def base(self) -> float:
        return float(self._moments.base)

    @property
    def slope(self) -> float:
        return float(self._moments.slope)

    @property
    def largest_square(self) -> float:
        return 1 / (self.base + self.slope)

    @property
    def probabilities(self) -> tuple[Fraction, Fraction]:
        return self.coin.inside, self.coin.outside

    def decode(self, counts: NDArray[np.int64]) -> Floats:
        n = int(counts.sum())
        if not n:
            return np.zeros(self.nodes)
        hits = self.space.hits(counts, int(self.points.max()) + 1)[self.points]
        return np.asarray((hits / n - float(self._moments.support)) / float(self.gap))

    def matches(self, symbols: AnyArray) -> NDArray[np.bool_]:
        return self.space.are_orthogonal(np.arange(self.codes), self.points[symbols.astype(np.intp)]).T

    def draw_codes(self, people: Counts, generator: Generator) -> Counts:
        inside = heads(generator, people, self.coin.heads, (1 << self.coin.bits) - self.coin.heads)
        return self.space.draw_codes(self.points, inside, people - inside, generator)

    def respond(self, symbols: NDArray[np.uint64], coins: NDArray[np.uint64], words: Words) -> NDArray[np.uint64]:
        """Return the codes of people with some symbols, from words for the coins and new words for the codes."""
        space, n = self.space, len(symbols)
        tails = coins >= np.uint64(self.coin.heads)
        on, off = words.below(space.hyperplane, n), words.below(space.points - space.hyperplane, n)
        out = np.empty(n, np.uint32)
        _kernel(self.space, self.coin).reports(
            self.points[symbols], tails.view(np.uint8), np.where(tails, off, on).astype(np.uint32), out
        )
        return out.astype(np.uint64)


def tree_sizes(k: int, branching: int) -> list[int]:
    """Return the numbers of nodes of the levels, from the root to the k bins. Only the last node of a level has fewer bins."""
    sizes = [k]
    while sizes[0] > 1:
        sizes.insert(0, -(-sizes[0] // branching))
    return sizes


def tree_levels(k: int, epsilon: float, branching: int, method: str) -> list[TreeLevel]:
    """Return the levels of the tree, each with the response of the smallest variance.

    Haar coefficients have k-ary or Hadamard response.
    """
    sizes, signed = tree_sizes(k, branching), method == "haar"
    levels = []
    for depth in range(1, len(sizes)):
        symbols, span = sizes[depth], branching ** (len(sizes) - 1 - depth)
        nodes = sizes[depth - 1] if signed else symbols
        levels.append(_best_level(nodes, symbols, span, signed, epsilon))
    return levels


@lru_cache(maxsize=1024)
def _best_level(nodes: int, symbols: int, span: int, signed: bool, epsilon: float) -> TreeLevel:
    """Return the level with the smallest variance if all nodes are equally frequent."""
    odds = math.exp(min(epsilon, 100.0))
    # Second moments of k-ary and of Hadamard response, times the same factor.
    response, hadamard = (odds + symbols - 1) * (1 + signed + (odds - 1) / nodes), (odds + 1) ** 2
    if not signed and nodes > 2:
        size = best_size(nodes, epsilon)
        if size > 1 and math.comb(nodes, 2) <= MAX_SUBSETS and math.comb(nodes, size) <= MAX_SUBSETS:
            coin = _coins.of_set(epsilon, math.comb(nodes - 1, size - 1), math.comb(nodes, size))
            return SubsetLevel(nodes, symbols, span, signed, size, coin)
        space, variance = _best_space(nodes, odds)
        if space is not None and variance * (odds - 1) ** 2 < MIN_GAIN * min(response, hadamard):
            coin = _coins.of_set(epsilon, space.hyperplane, space.points)
            return ProjectiveLevel(nodes, symbols, span, signed, space, coin)
    if response <= hadamard:
        return ResponseLevel(nodes, symbols, span, signed, _coins.response(symbols, epsilon, wide=True))
    return HadamardLevel(nodes, symbols, span, signed, _coins.binary(epsilon))


def _best_space(nodes: int, odds: float) -> tuple[Geometry | None, float]:
    """Return the space with the smallest variance of a level, and that variance; None if all spaces are too large."""
    best, least = None, math.inf
    for space in geometries(nodes, max(SMALL_SPACE, POINTS_PER_NODE * nodes)):
        if space.length == 2:
            continue  # k-ary response
        inside = odds / (odds * space.hyperplane + space.points - space.hyperplane)
        moments = _Moments.of(space, inside, inside / odds)
        if (variance := moments.base + moments.slope / nodes) < least:
            best, least = space, variance
    return best, least
