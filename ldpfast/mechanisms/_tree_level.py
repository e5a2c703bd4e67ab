"""A level of a tree over ordered bins: the response of the people who report it, and the decoding of their codes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import _coins
from .._core.privatize import ProjectiveResponse
from .._typing import AnyArray, Floats
from ._draws import PeopleCounts, bincount, heads
from ._hadamard_response import draw_parities, walsh
from ._response import response_counts

if TYPE_CHECKING:
    from numpy.random import Generator


@dataclass(frozen=True, eq=False)
class KernelLevel:
    """A level for the compiled kernel.

    Attributes
    ----------
    span : int
        Number of bins per symbol.
    heads : int
        Of 2^64 words: a code in the set of the symbol.
    size, others : int
        Number of codes in a set and outside of it.
    parity : bool
        Whether the codes of a set are those of Hadamard response.
    table : ndarray of uint32 or None
        A row of codes for each symbol: those of its set, then the others. With a space, the point of each node. Without a
        table, and without `parity`, the set of symbol i is the codes i to i + size - 1.
    space : ProjectiveResponse or None
        A code is a point of this space, orthogonal to that of the node if it is in its set.
    """

    span: int
    heads: int
    size: int
    others: int
    parity: bool = False
    table: NDArray[np.uint32] | None = None
    space: ProjectiveResponse | None = None


class CodedLevel(ABC):
    """The channel of the people who report one level: codes for the symbol of a record.

    A record belongs to one of `symbols` symbols of `span` neighboring bins each.
    """

    symbols: int
    span: int

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
        """The integers of the coin, which saved states compare. Hadamard levels have none, because they share one coin."""

    @property
    @abstractmethod
    def probabilities(self) -> tuple[Fraction, Fraction]:
        """Probabilities of a code that matches the symbol and of one that does not."""

    @property
    @abstractmethod
    def compiled(self) -> KernelLevel:
        """The level for the compiled kernel."""

    @property
    def common(self) -> int:
        """Least number of codes that two sets have in common, of a family of sets that contains all codes equally often.

        For Hadamard levels, such a family has the sets of both signs, which are disjoint.
        """
        return 0

    @abstractmethod
    def matches(self, symbols: AnyArray) -> NDArray[np.bool_]:
        """Return whether each code is among those that a symbol makes more probable, shape (n, codes)."""

    @abstractmethod
    def draw_codes(self, people: PeopleCounts, generator: Generator) -> PeopleCounts:
        """Return the numbers of codes for the numbers of people of each symbol."""


@dataclass(frozen=True)
class TreeLevel(CodedLevel):
    """A level of a tree, whose codes are decoded as numbers of its nodes.

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
    def decoded_range(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return the smallest and the largest weighted sum of the decoded numbers of one report, over all codes.

        Parameters
        ----------
        weights : ndarray, shape (nodes, functions)
            The weights of several sums, as columns.

        Returns
        -------
        lowest, highest : ndarray, shape (functions,)
        """

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
    def compiled(self) -> KernelLevel:
        # The words of the other symbols are equally many: a uniform one of them is the same response.
        return KernelLevel(self.span, self.coin.keep, 1, self.symbols - 1)

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

    def decoded_range(self, weights: Floats) -> tuple[Floats, Floats]:
        node, minus = self._node_and_sign(np.arange(self.symbols))
        sums = np.where(minus == 1, -weights[node].T, weights[node].T)
        always, gap = float(self.coin.q) * sums.sum(axis=1), float(self.gap)
        return (sums.min(axis=1) - always) / gap, (sums.max(axis=1) - always) / gap

    def matches(self, symbols: AnyArray) -> NDArray[np.bool_]:
        return np.asarray(symbols[:, np.newaxis] == np.arange(self.codes))

    def draw_codes(self, people: PeopleCounts, generator: Generator) -> PeopleCounts:
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
        return ()

    @property
    def compiled(self) -> KernelLevel:
        return KernelLevel(self.span, self.coin.heads, self.half, self.half, parity=True)

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

    def decoded_range(self, weights: Floats) -> tuple[Floats, Floats]:
        sums = np.pad(weights, ((0, self.half - self.nodes), (0, 0)))
        length = 1
        while length < self.half:  # the Walsh-Hadamard transform of each column
            pairs = sums.reshape(-1, 2, length, sums.shape[1])
            sums = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(sums.shape)
            length *= 2
        largest = np.abs(sums).max(axis=0) / float(self.gap)  # the codes of the second half have the other sign
        return -largest, largest

    def matches(self, symbols: AnyArray) -> NDArray[np.bool_]:
        node, minus = self._node_and_sign(symbols)
        odd = np.bitwise_count((node | self.half)[:, np.newaxis] & np.arange(self.codes)) & 1
        return np.asarray(odd == minus[:, np.newaxis])

    def draw_codes(self, people: PeopleCounts, generator: Generator) -> PeopleCounts:
        right = heads(generator, people, self.coin.heads, self.coin.tails)
        node, sign = self._node_and_sign(np.arange(self.symbols))
        masks = (node | self.half) - 1
        size = 2 * self.half - 1
        minus = sign == 1
        even, odd = np.where(minus, people - right, right), np.where(minus, right, people - right)
        bits = self.half.bit_length()
        return draw_parities(bincount(masks, even, size), bincount(masks, odd, size), bits, generator)
