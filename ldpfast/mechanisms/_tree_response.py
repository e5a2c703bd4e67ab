"""Report of one level of a tree over an ordered domain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import _check, _coins
from .._random import Words
from .._typing import AnyArray, Floats
from ..domains import Categories
from ..reports import Codes
from ..results import Debiasing
from ._base import CHANNEL_ENTRIES, Mechanism
from ._draws import Counts, bincount, heads, uniform
from ._hadamard_response import draw_parities, walsh
from ._response import response_counts

if TYPE_CHECKING:
    from numpy.random import Generator

MAX_BINS = 1 << 20
METHODS = ("hierarchy", "haar")

Coin = _coins.ResponseCoin | _coins.BinaryCoin


@dataclass(frozen=True)
class TreeCoins:
    """The integers of all levels.

    Attributes
    ----------
    heads : int
        Integer of the binary coin of Hadamard response; 0 if no level uses it.
    levels : tuple
        Symbols, `keep` and `words_per_symbol` of each level with k-ary response.
    """

    heads: int
    levels: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class TreeLevel:
    """The channel of the people who report one level of the tree.

    A record belongs to one of `symbols` symbols of `span` neighboring bins each. With k-ary response the code is a symbol.
    With Hadamard response the codes are the 2^j vectors of j bits. The symbol has a node and a sign, and the code is drawn
    from the vectors whose inner product modulo 2 with the mask of the node is 0 (1 for a minus sign), or from the others.
    The highest bit of each mask is 1, so that the sum of two masks is no mask: the decoded numbers of two nodes are then
    uncorrelated for every record.

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
    coin : ResponseCoin or BinaryCoin
        Coin of k-ary response, or of Hadamard response.
    """

    nodes: int
    symbols: int
    span: int
    signed: bool
    coin: Coin

    @property
    def is_hadamard(self) -> bool:
        """Whether the level uses Hadamard response."""
        return isinstance(self.coin, _coins.BinaryCoin)

    @property
    def half(self) -> int:
        """Half of the number of codes of Hadamard response, and the highest bit of its masks."""
        return 1 << (self.nodes - 1).bit_length()

    @property
    def codes(self) -> int:
        """Number of codes."""
        return 2 * self.half if self.is_hadamard else self.symbols

    @property
    def gap(self) -> Fraction:
        """Factor of a number in the expectation of the reports: p - q, or 2 p - 1 for Hadamard response."""
        coin = self.coin
        return 2 * coin.p - 1 if isinstance(coin, _coins.BinaryCoin) else coin.p - coin.q

    @property
    def base(self) -> float:
        """Second moment of the decoded number of a node without the record."""
        coin = self.coin
        return float((1 if isinstance(coin, _coins.BinaryCoin) else (1 + self.signed) * coin.q) / self.gap**2)

    @property
    def slope(self) -> float:
        """Increase of that second moment for the node of the record."""
        return 0.0 if self.is_hadamard else float(1 / self.gap)

    @property
    def variance(self) -> float:
        """Second moment of a decoded number if all nodes are equally frequent."""
        return self.base + self.slope / self.nodes

    def decode(self, counts: NDArray[np.int64]) -> Floats:
        """Return the unbiased shares, or Haar coefficients, of the nodes from counts of codes; zeros without reports."""
        n, coin = max(1, int(counts.sum())), self.coin
        if isinstance(coin, _coins.BinaryCoin):
            signed = walsh(counts[: self.half] - counts[self.half :])
            return np.asarray(signed[: self.nodes] / (n * float(self.gap)))
        shares = (counts / n - float(coin.q)) / float(self.gap) if counts.any() else np.zeros(self.symbols)
        if not self.signed:
            return np.asarray(shares)
        halves = np.zeros(2 * self.nodes)
        halves[: self.symbols] = shares
        return np.asarray(halves[0::2] - halves[1::2])

    def matches(self, symbols: AnyArray) -> NDArray[np.bool_]:
        """Return whether each code is among those that a symbol makes more probable, shape (n, codes)."""
        codes = np.arange(self.codes)
        if not self.is_hadamard:
            return np.asarray(symbols[:, np.newaxis] == codes)
        node, minus = (symbols >> 1, symbols & 1) if self.signed else (symbols, np.zeros_like(symbols))
        odd = np.bitwise_count((node | self.half)[:, np.newaxis] & codes) & 1
        return np.asarray(odd == minus[:, np.newaxis])

    def draw_codes(self, people: Counts, generator: Generator) -> Counts:
        """Return the numbers of codes for the numbers of people of each symbol."""
        coin = self.coin
        if isinstance(coin, _coins.ResponseCoin):
            return response_counts(coin, people, generator)
        right = heads(generator, people, coin.heads, coin.tails)
        symbols = np.arange(self.symbols)
        nodes, minus = (symbols >> 1, symbols & 1 == 1) if self.signed else (symbols, np.zeros(self.symbols, np.bool_))
        masks, size = (nodes | self.half) - 1, 2 * self.half - 1
        even, odd = np.where(minus, people - right, right), np.where(minus, right, people - right)
        bits = self.half.bit_length()
        return draw_parities(bincount(masks, even, size), bincount(masks, odd, size), bits, generator)

    @property
    def probabilities(self) -> tuple[Fraction, Fraction]:
        """Probabilities of a code that matches the symbol and of one that does not."""
        coin = self.coin
        if isinstance(coin, _coins.ResponseCoin):
            return coin.p, coin.q
        return coin.p / self.half, (1 - coin.p) / self.half


def tree_sizes(k: int, branching: int) -> list[int]:
    """Return the numbers of nodes of the levels, from the root to the k bins. Only the last node of a level has fewer bins."""
    sizes = [k]
    while sizes[0] > 1:
        sizes.insert(0, -(-sizes[0] // branching))
    return sizes


def tree_levels(k: int, epsilon: float, branching: int, method: str) -> list[TreeLevel]:
    """Return the levels of the tree, each with the better of k-ary and Hadamard response."""
    sizes, signed, levels = tree_sizes(k, branching), method == "haar", []
    e = math.exp(min(epsilon, 100.0))
    for depth in range(1, len(sizes)):
        symbols = sizes[depth]
        nodes = sizes[depth - 1] if signed else symbols
        # Second moments with equally frequent nodes, of k-ary and of Hadamard response, times the same factor.
        better = (e + symbols - 1) * (1 + signed + (e - 1) / nodes) <= (e + 1) ** 2
        coin: Coin = _coins.response(symbols, epsilon, wide=True) if better else _coins.binary(epsilon)
        levels.append(TreeLevel(nodes, symbols, branching ** (len(sizes) - 1 - depth), signed, coin))
    return levels


@dataclass(frozen=True, eq=False)
class _Columns:
    """Parameters of the levels as arrays. Those of k-ary response are not used for levels with Hadamard response."""

    first: NDArray[np.uint64]
    span: NDArray[np.uint64]
    half: NDArray[np.uint64]  # 0 for k-ary response
    keep: NDArray[np.uint64]
    each: NDArray[np.uint64]

    @classmethod
    def of(cls, levels: Sequence[TreeLevel], firsts: Sequence[int]) -> _Columns:
        return cls(
            np.array(firsts[: len(levels)], np.uint64),
            np.array([level.span for level in levels], np.uint64),
            np.array([level.half if level.is_hadamard else 0 for level in levels], np.uint64),
            np.array([getattr(level.coin, "keep", 0) for level in levels], np.uint64),
            np.array([getattr(level.coin, "words_per_symbol", 1) for level in levels], np.uint64),
        )


@dataclass(frozen=True)
class TreeResponse(Mechanism):
    """Report of the node of a record at a random level of a tree over ordered bins, for range queries.

    `estimation.RangeQueries` estimates shares of ranges and quantiles from the reports.

    Parameters
    ----------
    k : int
        Number of ordered bins, in [2, 2^20].
    epsilon : float
        Privacy parameter, > 0 and at most about 44.
    branching : int, default 4
        Number of children of a node, in [2, 2^20]; from k on the tree is a flat histogram. Must be 2 for "haar".
    method : {"hierarchy", "haar"}
        "hierarchy": a report tells the node of the record. "haar": it tells the node and the half of it in which the record
        is, which is a coefficient of the Haar wavelet.

    Attributes
    ----------
    levels : tuple of TreeLevel
        Levels of the tree, from below the root to the bins.
    first_codes : tuple of int
        First code of each level.

    Raises
    ------
    TypeError, ValueError
        If `k` or `branching` is not an integer in its range; if `method` is not one of the above; if `epsilon` is not a finite
        number > 0, or too small or large for exact coins.

    Notes
    -----
    Records: integers in [0, k), shape (n,). A report is one code: the first code of a level plus a code of that level. The
    level is uniformly random and independent of the record. Each level uses k-ary randomized response over its symbols, or
    Hadamard response, whichever has the smaller variance if all nodes are equally frequent. `decode` and `estimate` count
    codes: their numbers are shares of the codes. About 40 ns per person.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP, the largest loss of the coins of the levels. Codes have exactly the probabilities of the
    integers of the coins. No resistance to timing attacks is claimed. docs/proofs/range_queries.md.

    Examples
    --------
    >>> from ldpfast.mechanisms import TreeResponse
    >>> mechanism = TreeResponse(64, epsilon=1.0)
    >>> [level.nodes for level in mechanism.levels]
    [4, 16, 64]
    >>> mechanism.privatize([0, 17, 63], rng=1).dtype
    dtype('uint8')
    """

    k: int
    epsilon: float
    _: KW_ONLY
    branching: int = 4
    method: str = "hierarchy"
    report: Codes = field(init=False, repr=False, compare=False)
    levels: tuple[TreeLevel, ...] = field(init=False, repr=False, compare=False)
    first_codes: tuple[int, ...] = field(init=False, repr=False, compare=False)
    _columns: _Columns = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        method = _check.choice("method", self.method, METHODS)
        self._set(
            k=_check.integer("k", self.k, 2, MAX_BINS),
            epsilon=_check.positive("epsilon", self.epsilon),
            branching=_check.integer("branching", self.branching, 2, MAX_BINS),
        )
        if method == "haar" and self.branching != 2:
            raise ValueError(f"branching must be 2 for the method 'haar', got {self.branching}")
        levels = tuple(tree_levels(self.k, self.epsilon, self.branching, method))
        firsts = [0]
        for level in levels:
            firsts.append(firsts[-1] + level.codes)
        heads = max((level.coin.heads for level in levels if isinstance(level.coin, _coins.BinaryCoin)), default=0)
        keeps = tuple(
            (level.coin.k, level.coin.keep, level.coin.words_per_symbol)
            for level in levels
            if isinstance(level.coin, _coins.ResponseCoin)
        )
        self.define(
            epsilon_realized=max(level.coin.epsilon_realized for level in levels),
            domain=Categories(self.k),
            report=Codes(firsts[-1]),
            debiasing=Debiasing(0.0, 1.0),
            coin=TreeCoins(heads, keeps),
            levels=levels,
            first_codes=tuple(firsts[:-1]),
            _columns=_Columns.of(levels, firsts),
        )

    def privatize_block(self, records: AnyArray, words: Words) -> AnyArray:
        n, one, table = len(records), np.uint64(1), self._columns
        level = words.below(len(self.levels), n).astype(np.intp)
        coin, place = words.uint64(n), words.uint64(n)
        symbol = np.minimum(records, self.k - 1).astype(np.uint64) // table.span[level]
        # k-ary response: the symbol for `keep` words, each of the others for the same number of words.
        keep, half = table.keep[level], table.half[level]
        other = (coin - keep) // table.each[level]  # not used where the symbol is kept
        other += other >= symbol
        code = np.where(coin < keep, symbol, other)
        # Hadamard response: the low bits are uniform, and the highest bit gives the inner product with the mask its value.
        signed = self.method == "haar"
        node, minus = (symbol >> one, symbol & one) if signed else (symbol, np.zeros_like(symbol))
        low = place & (np.maximum(half, one) - one)
        odd = (np.bitwise_count(low & node) & 1).astype(np.uint64)
        high = odd ^ minus ^ (coin >= np.uint64(self._coin.heads))
        return np.asarray(table.first[level] + np.where(half > 0, low + high * half, code))

    def report_state(self, records: AnyArray, people: Counts, generator: Generator) -> AnyArray:
        assigned, parts = uniform(generator, people, len(self.levels)), []
        for number, level in enumerate(self.levels):
            symbols = bincount(records.astype(np.int64) // level.span, assigned[:, number], level.symbols)
            parts.append(level.draw_codes(symbols, generator))
        return np.concatenate(parts)

    def channel_rows(self) -> list[list[Fraction]] | None:
        if self.k * self.report.k > CHANNEL_ENTRIES:
            return None
        rows: list[list[Fraction]] = [[] for _ in range(self.k)]
        for level in self.levels:
            hit, miss = (p / len(self.levels) for p in level.probabilities)
            for row, matches in zip(rows, level.matches(np.arange(self.k) // level.span), strict=True):
                row += [hit if match else miss for match in matches]
        return rows

    def report_variance(self, records: AnyArray) -> Floats:
        parts = []
        for level in self.levels:
            hit, miss = (float(p) / len(self.levels) for p in level.probabilities)
            parts.append(np.where(level.matches(records.astype(np.int64) // level.span), hit, miss))
        probability = np.hstack(parts)
        return np.asarray(probability * (1 - probability))

    @property
    def value_range(self) -> tuple[float, float]:
        hits, misses = zip(*(level.probabilities for level in self.levels), strict=True)
        return float(min(misses) / len(self.levels)), float(max(hits) / len(self.levels))
