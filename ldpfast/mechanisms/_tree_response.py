"""Report of one level of a tree over an ordered domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._random import Words
from .._typing import AnyArray, Floats
from ..domains import Categories
from ..privacy import TwoLevel
from ..reports import Codes, Decoding
from ..results import Debiasing
from ._draws import PeopleCounts, bincount, uniform
from ._law import CHANNEL_ENTRIES, Law
from ._mechanism import Mechanism
from ._tree_level import HadamardLevel, ResponseLevel, TreeLevel
from ._tree_levels import tree_levels
from ._tree_sets import SetLevel

if TYPE_CHECKING:
    from numpy.random import Generator

MAX_BINS = 1 << 20
METHODS = ("hierarchy", "haar")


@dataclass(frozen=True)
class TreeCoins:
    """The integers of all levels.

    Attributes
    ----------
    heads : int
        Integer of the binary coin of Hadamard response; 0 if no level uses it.
    levels : tuple
        Symbols, `keep` and `words_per_symbol` of each level with k-ary response; nodes and members of a set with subset
        selection, or order and length with projective geometry response, and `heads`, `size` and `outputs` of the coin.
    """

    heads: int
    levels: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class _Columns:
    """Parameters of the levels as arrays, with arbitrary ones where a level has another response."""

    first: NDArray[np.uint64]
    span: NDArray[np.uint64]
    half: NDArray[np.uint64]  # 0 without Hadamard response
    keep: NDArray[np.uint64]
    each: NDArray[np.uint64]

    @classmethod
    def of(cls, levels: Sequence[TreeLevel], firsts: Sequence[int]) -> _Columns:
        return cls(
            np.array(firsts[: len(levels)], np.uint64),
            np.array([level.span for level in levels], np.uint64),
            np.array([level.half if isinstance(level, HadamardLevel) else 0 for level in levels], np.uint64),
            np.array([level.coin.keep if isinstance(level, ResponseLevel) else 0 for level in levels], np.uint64),
            np.array(
                [level.coin.words_per_symbol if isinstance(level, ResponseLevel) else 1 for level in levels], np.uint64
            ),
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
    level is uniformly random and independent of the record. Each level uses k-ary randomized response over its symbols,
    Hadamard response, or (for "hierarchy") subset selection or projective geometry response, whichever has the smallest
    variance if all nodes are equally frequent. `decode` and `estimate` count codes: their numbers are shares of the codes. 40
    to 100 ns per person.

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
    dtype('uint16')
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
        heads = max((level.coin.heads for level in levels if isinstance(level, HadamardLevel)), default=0)
        hits, misses = zip(*(level.probabilities for level in levels), strict=True)
        integers = tuple(level.integers for level in levels if level.integers)
        self.define(
            epsilon_realized=max(level.epsilon_realized for level in levels),
            domain=Categories(self.k),
            report=Codes(firsts[-1]),
            debiasing=Debiasing(0.0, 1.0),
            value_range=(float(min(misses) / len(levels)), float(max(hits) / len(levels))),
            law=TreeLaw(self.k, levels),
            coin=TreeCoins(heads, integers),
            levels=levels,
            first_codes=tuple(firsts[:-1]),
            _columns=_Columns.of(levels, firsts),
        )

    def privatize_block(self, records: AnyArray, words: Words) -> AnyArray:
        n = len(records)
        one = np.uint64(1)
        table = self._columns
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
        code = np.where(half > 0, low + high * half, code)
        for number, part in enumerate(self.levels):
            if isinstance(part, SetLevel):
                rows = np.flatnonzero(level == number)
                code[rows] = part.respond(symbol[rows], coin[rows], words)
        return np.asarray(table.first[level] + code)


@dataclass(frozen=True)
class TreeLaw(Law):
    """The distribution of the code of a level that is drawn uniformly."""

    k: int
    levels: tuple[TreeLevel, ...]

    def draw(self, records: AnyArray, people: PeopleCounts, generator: Generator) -> AnyArray:
        assigned, parts = uniform(generator, people, len(self.levels)), []
        for number, level in enumerate(self.levels):
            symbols = bincount(records.astype(np.int64) // level.span, assigned[:, number], level.symbols)
            parts.append(level.draw_codes(symbols, generator))
        return np.concatenate(parts)

    def two_level(self) -> TwoLevel:
        kinds = []  # S(x) are the codes of all levels that match the record
        for level in self.levels:
            hit, miss = level.probabilities
            size = (1 - level.codes * miss) / (hit - miss)
            kinds.append((Fraction(1, len(self.levels)), hit / miss, size, level.codes, size - level.common))
        return TwoLevel.of_kinds(kinds)

    def rows(self) -> list[list[Fraction]] | None:
        if self.k * sum(level.codes for level in self.levels) > CHANNEL_ENTRIES:
            return None
        rows: list[list[Fraction]] = [[] for _ in range(self.k)]
        for level in self.levels:
            hit, miss = (p / len(self.levels) for p in level.probabilities)
            for row, matches in zip(rows, level.matches(np.arange(self.k) // level.span), strict=True):
                row += [hit if match else miss for match in matches]
        return rows

    def variance(self, decoding: Decoding, records: AnyArray) -> Floats:
        parts = []
        for level in self.levels:
            hit, miss = (float(p) / len(self.levels) for p in level.probabilities)
            parts.append(np.where(level.matches(records.astype(np.int64) // level.span), hit, miss))
        probability = np.hstack(parts)
        return np.asarray(probability * (1 - probability))
