"""Reports of levels: one code of a level that is drawn at random, for trees and for the window above them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._random import Words
from .._typing import AnyArray, Floats
from ..privacy import ReportLaw, TwoLevel
from ..reports import Decoding
from ._draws import PeopleCounts, bincount, uniform
from ._law import CHANNEL_ENTRIES, Law
from ._tree_level import CodedLevel, HadamardLevel, ResponseLevel
from ._tree_sets import SetCodes

if TYPE_CHECKING:
    from numpy.random import Generator


@dataclass(frozen=True)
class LevelCoins:
    """The integers of all levels.

    Attributes
    ----------
    heads : int
        Integer of the binary coin of Hadamard response; 0 if no level uses it.
    levels : tuple
        Symbols, `keep` and `words_per_symbol` of each level with k-ary response; nodes and members of a set with subset
        selection, order and length with projective geometry response, or symbols of a window, and `heads`, `size` and
        `outputs` of the coin.
    """

    heads: int
    levels: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, levels: Sequence[CodedLevel]) -> LevelCoins:
        """Return the integers of levels."""
        heads = max((level.coin.heads for level in levels if isinstance(level, HadamardLevel)), default=0)
        return cls(heads, tuple(level.integers for level in levels if level.integers))


@dataclass(frozen=True, eq=False)
class LevelTables:
    """Parameters of the levels as arrays, with arbitrary ones where a level has another response.

    Attributes
    ----------
    levels : tuple of CodedLevel
    first_codes : tuple of int
        First code of each level, and the number of all codes.
    signed : bool
        Whether symbols are the halves of nodes, for Haar coefficients.
    """

    levels: tuple[CodedLevel, ...]
    first_codes: tuple[int, ...]
    signed: bool
    heads: int
    first: NDArray[np.uint64]
    span: NDArray[np.uint64]
    half: NDArray[np.uint64]  # 0 without Hadamard response
    keep: NDArray[np.uint64]
    each: NDArray[np.uint64]

    @classmethod
    def of(cls, levels: Sequence[CodedLevel], signed: bool = False) -> LevelTables:
        """Return the tables of levels."""
        firsts = tuple(accumulate((level.codes for level in levels), initial=0))
        responses = [level.coin if isinstance(level, ResponseLevel) else None for level in levels]
        return cls(
            tuple(levels),
            firsts,
            signed,
            LevelCoins.of(levels).heads,
            np.array(firsts[:-1], np.uint64),
            np.array([level.span for level in levels], np.uint64),
            np.array([level.half if isinstance(level, HadamardLevel) else 0 for level in levels], np.uint64),
            np.array([coin.keep if coin else 0 for coin in responses], np.uint64),
            np.array([coin.words_per_symbol if coin else 1 for coin in responses], np.uint64),
        )

    def codes(self, records: AnyArray, level: NDArray[np.intp], words: Words) -> AnyArray:
        """Return the codes of records for the levels that were drawn for them."""
        n, one = len(records), np.uint64(1)
        coin, place = words.uint64(n), words.uint64(n)
        symbol = records.astype(np.uint64) // self.span[level]
        # k-ary response: the symbol for `keep` words, each of the others for the same number of words.
        keep, half = self.keep[level], self.half[level]
        other = (coin - keep) // self.each[level]  # not used where the symbol is kept
        other += other >= symbol
        code = np.where(coin < keep, symbol, other)
        # Hadamard response: the low bits are uniform, and the highest bit gives the inner product with the mask its value.
        node, minus = (symbol >> one, symbol & one) if self.signed else (symbol, np.zeros_like(symbol))
        low = place & (np.maximum(half, one) - one)
        odd = (np.bitwise_count(low & node) & 1).astype(np.uint64)
        high = odd ^ minus ^ (coin >= np.uint64(self.heads))
        code = np.where(half > 0, low + high * half, code)
        for number, part in enumerate(self.levels):
            if isinstance(part, SetCodes):
                rows = np.flatnonzero(level == number)
                code[rows] = part.respond(symbol[rows], coin[rows], words)
        return np.asarray(self.first[level] + code)


@dataclass(frozen=True)
class LevelLaw(Law):
    """The distribution of the code of a level that is drawn.

    Attributes
    ----------
    k : int
        Number of bins.
    levels : tuple of CodedLevel
    slots : tuple of int
        The level that each of several equally probable values draws.
    """

    k: int
    levels: tuple[CodedLevel, ...]
    slots: tuple[int, ...]

    @cached_property
    def shares(self) -> list[Fraction]:
        """Probability of each level."""
        return [Fraction(self.slots.count(number), len(self.slots)) for number in range(len(self.levels))]

    @property
    def value_range(self) -> tuple[float, float]:
        """Smallest and largest probability of a code."""
        hits, misses = zip(*(level.probabilities for level in self.levels), strict=True)
        low = min(share * miss for share, miss in zip(self.shares, misses, strict=True))
        return float(low), float(max(share * hit for share, hit in zip(self.shares, hits, strict=True)))

    def draw(self, records: AnyArray, people: PeopleCounts, generator: Generator) -> AnyArray:
        drawn, parts = uniform(generator, people, len(self.slots)), []
        for number, level in enumerate(self.levels):
            assigned = drawn[:, np.array(self.slots) == number].sum(axis=1)
            symbols = bincount(records.astype(np.int64) // level.span, assigned, level.symbols)
            parts.append(level.draw_codes(symbols, generator))
        return np.concatenate(parts)

    def two_level(self) -> TwoLevel:
        return TwoLevel.of_kinds(self._kinds())

    def report_laws(self) -> Sequence[ReportLaw]:
        return [ReportLaw.of_kinds(self._kinds())]

    def _kinds(self) -> list[tuple[Fraction, ...]]:
        kinds: list[tuple[Fraction, ...]] = []  # S(x) are the codes of all levels that match the record
        for share, level in zip(self.shares, self.levels, strict=True):
            hit, miss = level.probabilities
            size = (1 - level.codes * miss) / (hit - miss)
            kinds.append((share, hit / miss, size, Fraction(level.codes), size - level.common))
        return kinds

    def rows(self) -> list[list[Fraction]] | None:
        if self.k * sum(level.codes for level in self.levels) > CHANNEL_ENTRIES:
            return None
        rows: list[list[Fraction]] = [[] for _ in range(self.k)]
        for share, level in zip(self.shares, self.levels, strict=True):
            hit, miss = (p * share for p in level.probabilities)
            for row, matches in zip(rows, level.matches(np.arange(self.k) // level.span), strict=True):
                row += [hit if match else miss for match in matches]
        return rows

    def variance(self, decoding: Decoding, records: AnyArray) -> Floats:
        parts = []
        for share, level in zip(self.shares, self.levels, strict=True):
            hit, miss = (float(p * share) for p in level.probabilities)
            parts.append(np.where(level.matches(records.astype(np.int64) // level.span), hit, miss))
        probability = np.hstack(parts)
        return np.asarray(probability * (1 - probability))
