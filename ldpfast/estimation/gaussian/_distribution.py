"""Distribution of the answers for normal records, used by all decoders, fits and simulations of the protocol."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..._core import normal
from ..._typing import Floats
from ...mechanisms import Bins, Residue
from ...reports import recipe_of

CodeQuestion = Residue | Bins

EMPTY: Floats = np.empty(0)


class Probabilities(NamedTuple):
    """Probabilities of symbols or reports, with cells along the last axis, and optional derivatives by mu and sigma."""

    value: Floats
    by_mu: Floats = EMPTY
    by_sigma: Floats = EMPTY

    def slopes(self, both: bool) -> Floats:
        """Return the derivatives at the first point by mu, or by mu and sigma: one row each."""
        return np.stack([self.by_mu[0], self.by_sigma[0]]) if both else self.by_mu[:1]

    def information(self, sizes: Floats, both: bool) -> Floats:
        """Return the Fisher information at the first point about mu, or about (mu, sigma).

        `sizes` is as returned by `ReportDistribution.sizes`.
        """
        slopes = self.slopes(both)
        return np.asarray((slopes * (sizes / self.value[0])) @ slopes.T)


class ReportDistribution:
    """Distribution of the reports of a list of questions, for records from N(mu, sigma^2).

    The symbols of all questions lie on one axis, the cells, in the order of the questions.

    Attributes
    ----------
    slices : list of slice
        Cells of each question.
    """

    def __init__(self, questions: Sequence[CodeQuestion]) -> None:
        self.questions = tuple(questions)
        coins = [recipe_of(question).coin for question in self.questions]
        sizes = [coin.k for coin in coins]
        stops = np.cumsum([0, *sizes])
        self.slices = [slice(a, b) for a, b in pairwise(stops.tolist())]
        self.cells = int(stops[-1])
        self._other = np.repeat([float(coin.q) for coin in coins], sizes)
        self._gain = np.repeat([float(coin.p - coin.q) for coin in coins], sizes)
        # Lower end, upper end, origin and period of a cell; the period of bins is infinite.
        columns: list[list[float]] = []
        for question in self.questions:
            if isinstance(question, Residue):
                w, m = question.width, question.modulus
                columns += [[a * w, (a + 1) * w, question.offset, m * w] for a in range(m)]
            else:
                ends = [-math.inf, *question.cuts, math.inf]
                columns += [[a, b, 0.0, math.inf] for a, b in pairwise(ends)]
        self._low, self._high, self._origin, self._period = np.array(columns).T.reshape(4, self.cells).copy()

    def without(self, first: int) -> ReportDistribution:
        """Return the distribution without the questions before number `first`."""
        part, start = copy.copy(self), self.slices[first].start
        part.questions, part.cells = self.questions[first:], self.cells - start
        part.slices = [slice(piece.start - start, piece.stop - start) for piece in self.slices[first:]]
        for name in ("_other", "_gain", "_low", "_high", "_origin", "_period"):
            setattr(part, name, getattr(self, name)[start:])
        return part

    def sizes(self, counts: Floats) -> Floats:
        """Return, for each cell, the number of answers to its question. `counts` may have leading axes."""
        sizes = np.empty_like(counts)
        for piece in self.slices:
            sizes[..., piece] = counts[..., piece].sum(axis=-1, keepdims=True)
        return sizes

    def symbols(self, mu: Any, sigma: float, derive: bool = False) -> Probabilities:
        """Return the probabilities of the symbols, shape (points, cells), at means mu."""
        mean = np.ascontiguousarray(np.atleast_1d(np.asarray(mu, np.float64)))
        table = (len(mean), self.cells)
        cells = self._low, self._high, self._origin, self._period
        if not derive:
            value = np.empty(table)
            normal.cell_probabilities(*cells, mean, sigma, value)
            return Probabilities(value)
        result = Probabilities(np.empty(table), np.empty(table), np.empty(table))
        normal.cell_probabilities(*cells, mean, sigma, result.value, result.by_mu, result.by_sigma)
        return result

    def reports(self, mu: Any, sigma: float, derive: bool = False) -> Probabilities:
        """Return the probabilities of the reports: those of the symbols after randomized response."""
        symbols = self.symbols(mu, sigma, derive)
        value = self._other + self._gain * symbols.value
        if not derive:
            return Probabilities(value)
        return Probabilities(value, self._gain * symbols.by_mu, self._gain * symbols.by_sigma)

    def log_likelihood(self, counts: Floats, mu: Any, sigma: float) -> Floats:
        """Return the log-likelihood of the counts of all cells at each mean."""
        return np.asarray(np.log(self.reports(mu, sigma).value) @ counts)

    def information(self, sizes: Floats, mu: float, sigma: float, both: bool = True) -> Floats:
        """Return the Fisher information about mu, or about (mu, sigma); `sizes` is as returned by `sizes`."""
        return self.reports(mu, sigma, derive=True).information(sizes, both)


def best_of(
    distribution: ReportDistribution, counts: Floats, points: Iterable[tuple[Floats, float]]
) -> tuple[float, float]:
    """Return the most likely (mu, sigma) among several means for each of several standard deviations."""
    heights = [(distribution.log_likelihood(counts, mu, sigma), mu, sigma) for mu, sigma in points]
    height, mu, sigma = max(heights, key=lambda entry: entry[0].max())
    return float(mu[int(np.argmax(height))]), sigma
