"""Likelihood of the shares of ordered cells, from the reports of windows and of levels of a tree.

People who report one level see a linear function of the shares. Where the code is drawn from a window of neighboring nodes,
or is the node itself (k-ary response), their codes are multinomial: `CodeReports`. Other levels have decoded shares of their
nodes, which are nearly normal: `ShareReports`. Both add their parts to the value, the gradient and the information matrix of
the likelihood, and to the variance of a linear function of its gradient.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ..mechanisms._tree_level import CodedLevel, ResponseLevel, TreeLevel
from ..mechanisms._window_level import WindowLevel

LEAST = 1e-300  # probability of a code
FUNCTIONS_AT_ONCE = 256  # whose terms are in memory


@dataclass(eq=False)
class LevelReports(ABC):
    """Reports of one level, whose nodes are `span` neighboring cells each; the last one can have fewer."""

    k: int
    span: int
    n: int

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return -(-self.k // self.span)

    def sums(self, x: Floats) -> Floats:
        """Return the sums over the cells of each node, along the first axis."""
        if self.span == 1:
            return x
        return np.asarray(np.add.reduceat(x, np.arange(0, self.k, self.span), axis=0))

    def spread(self, x: Floats) -> Floats:
        """Return the numbers of the nodes of all cells."""
        return x if self.span == 1 else np.repeat(x, self.span, axis=0)[: self.k]

    def add_blocks(self, matrix: Floats, weights: Floats) -> None:
        """Add the weight of each node to all pairs of its cells."""
        k, span = self.k, self.span
        whole = k // span
        row, column = matrix.strides
        shape, strides = (whole, span, span), (span * (row + column), row, column)
        blocks = np.lib.stride_tricks.as_strided(matrix, shape, strides)
        blocks += weights[:whole, np.newaxis, np.newaxis]
        if whole < len(weights):
            matrix[whole * span : k, whole * span : k] += weights[whole]

    @abstractmethod
    def expect(self, p: Floats, n: int) -> None:
        """Put the reports to expect of n people with some shares of the cells in the place of those that were counted."""

    @abstractmethod
    def weigh(self, p: Floats) -> None:
        """Compute the weights of the numbers for some shares of the cells."""

    @abstractmethod
    def value(self, p: Floats) -> float:
        """Return the logarithm of the likelihood, up to a constant."""

    @abstractmethod
    def gradient(self, p: Floats) -> Floats:
        """Return the derivatives with respect to the shares of the cells, up to a constant."""

    @abstractmethod
    def add_information(self, matrix: Floats, p: Floats, observed: bool) -> None:
        """Add the expected or the observed information to a matrix.

        Up to terms that vanish for functions whose coefficients have the sum 0.
        """

    @abstractmethod
    def projected(self, directions: Floats, p: Floats) -> Floats:
        """Return the expected information about directions with the sum 0, the columns of a matrix."""

    @abstractmethod
    def variance_and_step(self, rows: Floats, p: Floats, shares: Floats) -> tuple[Floats, Floats]:
        """Return variances of linear functions of the gradient at p, and the largest step of one report.

        Parameters
        ----------
        rows : ndarray, shape (functions, k)
        p, shares : ndarray, shape (k,)
            Shares at which the gradient is taken, and estimates of the true ones.
        """

    @abstractmethod
    def terms_of_reports(self, rows: Floats, p: Floats) -> tuple[Floats, Floats, Floats]:
        """Return what one report adds to linear functions of the gradient at p, up to a constant.

        Returns
        -------
        lowest, highest : ndarray, shape (functions,)
            Smallest and largest term, over all codes.
        expected : ndarray, shape (k, functions)
            Mean term of honest reports about a record in each cell.
        """


@dataclass(eq=False)
class CodeReports(LevelReports):
    """Reports that are codes: those of a window of `width` codes which begins at the node of the record are more probable."""

    width: int
    inside: float
    outside: float
    counts: NDArray[np.int64]

    @property
    def gap(self) -> float:
        """Difference of the probabilities of a code in the window and outside of it."""
        return self.inside - self.outside

    def expect(self, p: Floats, n: int) -> None:
        self.n, self.counts = n, np.rint(n * self.probabilities(p)).astype(np.int64)

    def weigh(self, p: Floats) -> None:
        """Multinomial counts need no weights."""

    def part(self, x: Floats) -> Floats:
        """Return the sums of x over the nodes whose window has a code, for all codes."""
        x = self.sums(x)
        if self.width == 1:
            return x
        total = np.concatenate([np.zeros((1, *x.shape[1:])), np.cumsum(x, axis=0)])
        code = np.arange(1, len(self.counts) + 1)
        return np.asarray(total[np.minimum(code, self.nodes)] - total[np.maximum(code - self.width, 0)])

    def probabilities(self, p: Floats) -> Floats:
        """Return the probabilities of the codes."""
        return np.asarray(np.maximum(self.outside * p.sum() + self.gap * self.part(p), LEAST))

    def back(self, y: Floats) -> Floats:
        """Return the sums of numbers of the codes over the window of each node."""
        if self.width == 1:
            return y
        total = np.concatenate([np.zeros((1, *y.shape[1:])), np.cumsum(y, axis=0)])
        return np.asarray(total[self.width :] - total[: -self.width])

    def value(self, p: Floats) -> float:
        return float(self.counts @ np.log(self.probabilities(p)))

    def gradient(self, p: Floats) -> Floats:
        return self.spread(self.gap * self.back(self.counts / self.probabilities(p)))

    def add_information(self, matrix: Floats, p: Floats, observed: bool) -> None:
        expected = self.probabilities(p)
        weights = self.gap**2 * (self.counts / expected if observed else self.n) / expected
        if self.width == 1:
            self.add_blocks(matrix, weights)
            return
        # The codes in the windows of both of two cells are those from the start of the later one to the end of the earlier.
        total = np.append(0.0, np.cumsum(weights))
        end, start = total[self.width :], total[: self.k]
        both = np.minimum.outer(end, end)
        both -= np.maximum.outer(start, start)
        matrix += np.maximum(both, 0.0, out=both)

    def projected(self, directions: Floats, p: Floats) -> Floats:
        seen = self.part(directions)
        return np.asarray(seen.T @ (seen * (self.n * self.gap**2 / self.probabilities(p))[:, np.newaxis]))

    def variance_and_step(self, rows: Floats, p: Floats, shares: Floats) -> tuple[Floats, Floats]:
        if not self.n:
            return np.zeros((2, len(rows)))[0], np.zeros(len(rows))
        coefficients = self.gap * self.part(rows.T) / self.probabilities(p)[:, np.newaxis]
        mean = self.counts @ coefficients
        variance = self.counts @ coefficients**2 - mean**2 / self.n
        return np.maximum(variance, 0.0), np.abs(coefficients).max(axis=0)

    def terms_of_reports(self, rows: Floats, p: Floats) -> tuple[Floats, Floats, Floats]:
        terms = self.gap * self.part(rows.T) / self.probabilities(p)[:, np.newaxis]
        expected = self.outside * terms.sum(axis=0) + self.gap * self.spread(self.back(terms))
        return terms.min(axis=0), terms.max(axis=0), expected


@dataclass(eq=False)
class ShareReports(LevelReports):
    """Reports that are decoded as numbers of nodes: their shares, or Haar coefficients.

    The number of a node with the share f has the second moment (base + slope f) / n. `signs` are those of the cells in the
    numbers: minus in the right half of a node for Haar coefficients.
    """

    level: TreeLevel
    numbers: Floats
    signs: Floats = field(init=False)
    weights: Floats = field(init=False)

    def __post_init__(self) -> None:
        half = np.arange(self.k) // self.level.span % 2 if self.level.signed else np.zeros(self.k)
        self.signs = np.asarray(1.0 - 2.0 * half, np.float64)
        self.weigh(np.full(self.k, 1 / self.k))

    def seen(self, x: Floats) -> Floats:
        """Return what the numbers estimate for shares of the cells, or for several vectors, the columns of a matrix."""
        return self.sums((x.T * self.signs).T) if self.level.signed else self.sums(x)

    def expect(self, p: Floats, n: int) -> None:
        self.n, self.numbers = n, self.seen(p)
        self.weigh(p)

    def weigh(self, p: Floats) -> None:
        self.weights = self.n / (self.level.base + self.level.slope * self.sums(p))

    def value(self, p: Floats) -> float:
        return -0.5 * float(self.weights @ (self.numbers - self.seen(p)) ** 2)

    def gradient(self, p: Floats) -> Floats:
        return self.signs * self.spread(self.weights * (self.numbers - self.seen(p)))

    def add_information(self, matrix: Floats, p: Floats, observed: bool) -> None:
        if not self.level.signed:
            self.add_blocks(matrix, self.weights)
            return
        own = np.zeros_like(matrix)
        self.add_blocks(own, self.weights)
        matrix += self.signs[:, np.newaxis] * own * self.signs

    def projected(self, directions: Floats, p: Floats) -> Floats:
        seen = self.seen(directions)
        return np.asarray(seen.T @ (seen * self.weights[:, np.newaxis]))

    def variance_and_step(self, rows: Floats, p: Floats, shares: Floats) -> tuple[Floats, Floats]:
        if not self.n:
            return np.zeros(len(rows)), np.zeros(len(rows))
        coefficients = self.seen(rows.T) * self.weights[:, np.newaxis]
        moments = self.level.base + self.level.slope * self.sums(shares)
        variance = moments @ coefficients**2 - (self.seen(shares) @ coefficients) ** 2
        return np.maximum(variance, 0.0) / self.n, np.abs(coefficients).max(axis=0) / (float(self.level.gap) * self.n)

    def terms_of_reports(self, rows: Floats, p: Floats) -> tuple[Floats, Floats, Floats]:
        moments = self.level.base + self.level.slope * self.sums(p)
        coefficients = self.seen(rows.T) / moments[:, np.newaxis]
        lowest, highest = self.level.decoded_range(coefficients)
        return lowest, highest, self.signs[:, np.newaxis] * self.spread(coefficients)


class CellLikelihood:
    """Likelihood of the shares of k cells from the reports of several levels."""

    def __init__(self, parts: Sequence[LevelReports]) -> None:
        self.parts = tuple(parts)
        self.k = self.parts[0].k
        self.n = sum(part.n for part in self.parts)

    @classmethod
    def of(cls, k: int, levels: Sequence[CodedLevel], counts: Sequence[NDArray[np.int64]]) -> CellLikelihood:
        """Return the likelihood from the counts of the codes of each level."""
        return cls([_reports_of(k, level, codes) for level, codes in zip(levels, counts, strict=True)])

    @classmethod
    def expected(cls, levels: Sequence[CodedLevel], parts: Sequence[float], shares: Floats, n: int) -> CellLikelihood:
        """Return the likelihood whose counts are those to expect of n people, a part of whom report each level.

        Parameters
        ----------
        levels : sequence of CodedLevel
        parts : sequence of float
            Probability of each level.
        shares : ndarray, shape (k,)
            True shares of the cells.
        n : int
        """
        found = []
        for level, part in zip(levels, parts, strict=True):
            people = round(part * n)
            reports = _reports_of(len(shares), level, np.zeros(level.codes, np.int64))
            reports.expect(shares, people)
            found.append(reports)
        return cls(found)

    @classmethod
    def of_tree(cls, levels: Sequence[TreeLevel], counts: Sequence[int], numbers: Sequence[Floats]) -> CellLikelihood:
        """Return the likelihood from the numbers of reports and the decoded numbers of the levels of a tree, down to cells."""
        parts, k = [], levels[-1].symbols
        for level, n, decoded in zip(levels, counts, numbers, strict=True):
            if isinstance(level, ResponseLevel) and not level.signed:
                codes = np.rint(n * (float(level.coin.q) + float(level.gap) * decoded)).astype(np.int64)
                parts.append(_reports_of(k, level, codes))
            else:
                parts.append(_shares_of(k, level, n, decoded))
        return cls(parts)

    @property
    def has_weights(self) -> bool:
        """Whether some reports are decoded as shares, whose weights depend on the true ones."""
        return any(isinstance(part, ShareReports) for part in self.parts)

    def weigh(self, p: Floats) -> None:
        """Compute the weights of decoded shares for some shares of the cells."""
        for part in self.parts:
            part.weigh(p)

    def value(self, p: Floats) -> float:
        """Return the logarithm of the likelihood, up to a constant."""
        return sum(part.value(p) for part in self.parts)

    def gradient(self, p: Floats) -> Floats:
        """Return the derivatives with respect to the shares, up to a constant."""
        return np.asarray(sum(part.gradient(p) for part in self.parts))

    def information(self, p: Floats, observed: bool = False) -> Floats:
        """Return the information, for functions of the shares whose coefficients have the sum 0."""
        matrix = np.zeros((self.k, self.k))
        for part in self.parts:
            part.add_information(matrix, p, observed)
        return matrix

    def projected(self, directions: Floats, p: Floats) -> Floats:
        """Return the expected information about directions with the sum 0, the columns of a matrix."""
        return np.asarray(sum(part.projected(directions, p) for part in self.parts))

    def variance_and_step(self, rows: Floats, p: Floats, shares: Floats) -> tuple[Floats, Floats]:
        """Return variances of linear functions of the gradient at p, and the largest step of one report."""
        found = [part.variance_and_step(rows, p, shares) for part in self.parts]
        return np.asarray(sum(variance for variance, _ in found)), np.max([step for _, step in found], axis=0)

    def largest_change(self, rows: Floats, p: Floats) -> Floats:
        """Return the largest changes of linear functions of the gradient at p if a report is replaced by another one.

        What counts is the term of a report less its mean among honest ones at the same level, because a report can move to
        another level, where this mean is a different one. The sum of the largest difference above and of that below is convex
        in the shares of the population, so it is largest where all records are in the same cell. Nothing is assumed about the
        shares.
        """
        found = []
        for first in range(0, len(rows), FUNCTIONS_AT_ONCE):
            terms = [part.terms_of_reports(rows[first : first + FUNCTIONS_AT_ONCE], p) for part in self.parts]
            above = np.max([highest - expected for _, highest, expected in terms], axis=0)
            below = np.max([expected - lowest for lowest, _, expected in terms], axis=0)
            found.append((above + below).max(axis=0))
        return np.concatenate([np.zeros(0), *found])


def _reports_of(k: int, level: CodedLevel, codes: NDArray[np.int64]) -> LevelReports:
    """Return the reports of a level from the counts of its codes."""
    n = int(codes.sum())
    is_signed = isinstance(level, TreeLevel) and level.signed
    if isinstance(level, WindowLevel | ResponseLevel) and not is_signed:
        inside, outside = map(float, level.probabilities)
        width = level.width if isinstance(level, WindowLevel) else 1
        return CodeReports(k, level.span, n, width, inside, outside, codes)
    assert isinstance(level, TreeLevel)
    return _shares_of(k, level, n, level.decode(codes))


def _shares_of(k: int, level: TreeLevel, n: int, numbers: Floats) -> ShareReports:
    """Return the reports of a level from its decoded numbers."""
    return ShareReports(k, (1 + level.signed) * level.span, n, level, numbers)
