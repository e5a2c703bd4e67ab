"""Reports of levels: one code of a level that is drawn at random, for trees and for the window above them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from .._typing import AnyArray, Floats
from ..privacy import ReportLaw, TwoLevel
from ..reports import Decoding
from ..results import Kinds
from ._draws import PeopleCounts, bincount, uniform
from ._law import CHANNEL_ENTRIES, Law
from ._tree_level import CodedLevel, HadamardLevel, KernelLevel

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
    def first_codes(self) -> tuple[int, ...]:
        """First code of each level, and the number of all codes."""
        return tuple(accumulate((level.codes for level in self.levels), initial=0))

    @property
    def compiled(self) -> list[KernelLevel]:
        """The levels for the compiled kernel."""
        return [level.compiled for level in self.levels]

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

    def largest_probability(self) -> float:
        return self.value_range[1]

    def kinds_of(self, reports: AnyArray) -> Kinds | None:
        """Return the numbers of reports about each level."""
        if len(self.levels) == 1:
            return None
        levels = np.searchsorted(self.first_codes[1:-1], reports, side="right")
        shares = np.array([float(share) for share in self.shares])
        return Kinds(np.bincount(levels, minlength=len(shares)), shares)

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
