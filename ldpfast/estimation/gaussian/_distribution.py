"""Distribution of the answers for normal records, used by all decoders, fits and simulations of the protocol."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._formulas import normal_density
from ..._typing import Floats
from ...mechanisms import Bins, Residue

Question = Residue | Bins

# sigma / period below which the normal distribution is summed over periods, else over harmonics; both are accurate to 1e-14
NARROW = 1 / 8
HARMONICS = 10
FAR = 40.0  # standard deviations beyond which the normal distribution is 0
NEGLIGIBLE = 1e-17  # damping below which harmonics are left out
EMPTY: Floats = np.empty(0)


class Probabilities(NamedTuple):
    """Probabilities of symbols or reports, with cells along the last axis, and optional derivatives by mu and sigma."""

    value: Floats
    by_mu: Floats = EMPTY
    by_sigma: Floats = EMPTY

    def slopes(self, both: bool) -> Floats:
        """Return the derivatives at the first point by mu, or by mu and sigma: one row each."""
        return np.stack([self.by_mu[0], self.by_sigma[0]] if both else [self.by_mu[0]])

    def information(self, sizes: Floats, both: bool) -> Floats:
        """Return the Fisher information at the first point about mu, or about (mu, sigma).

        `sizes` is as returned by `ReportDistribution.sizes`.
        """
        slopes = self.slopes(both)
        return np.asarray((slopes * (sizes / self.value[0])) @ slopes.T)


def _interval(low: Floats, high: Floats, sigma: float, derive: bool) -> Probabilities:
    """Return the probability of low <= X < high for X ~ N(0, sigma^2), with derivatives by the mean and by sigma."""
    from scipy.special import ndtr

    a, b = (np.maximum(np.minimum(end / sigma, FAR), -FAR) for end in (low, high))
    value = ndtr(b) - ndtr(a)
    if not derive:
        return Probabilities(value)
    at_a, at_b = normal_density(a), normal_density(b)
    return Probabilities(value, (at_a - at_b) / sigma, (a * at_a - b * at_b) / sigma)


def _by_periods(low: Floats, high: Floats, period: Floats, sigma: float, derive: bool) -> Probabilities:
    """Return the probability of a cell and its copies, one period apart, for low in (-period, period)."""
    shifts = np.multiply.outer([-1.0, 0.0, 1.0], np.broadcast_to(period, low.shape))
    return Probabilities(*(part.sum(axis=0) for part in _interval(low + shifts, high + shifts, sigma, derive)))


def _by_harmonics(low: Floats, high: Floats, period: Floats, sigma: float, derive: bool) -> Probabilities:
    """Return the probability of `_by_periods`, computed as a Fourier series."""
    turn, share = 2 * np.pi / period, (high - low) / period
    angle, damping = turn * (low + high) / 2, np.exp(-0.5 * (turn * sigma) ** 2)
    value = share.copy()
    by_mu, by_sigma = (np.zeros(angle.shape if derive else 0) for _ in range(2))
    for h in range(1, HARMONICS + 1):
        damped = damping ** (h * h)
        if damped.max() < NEGLIGIBLE:
            break
        size = 2 / (np.pi * h) * np.sin(np.pi * h * share) * damped
        wave = size * np.cos(h * angle)
        value += wave
        if derive:
            by_mu += size * np.sin(h * angle) * (h * turn)
            by_sigma -= wave * (h * turn) ** 2 * sigma
    return Probabilities(value, by_mu, by_sigma)


class ReportDistribution:
    """Distribution of the reports of a list of questions, for records from N(mu, sigma^2).

    The symbols of all questions lie on one axis, the cells, in the order of the questions.

    Attributes
    ----------
    slices : list of slice
        Cells of each question.
    """

    def __init__(self, questions: Sequence[Question]) -> None:
        self.questions = tuple(questions)
        coins = [question._coin for question in self.questions]
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
        self._low, self._high, self._origin, self._period = np.array(columns).T.reshape(4, self.cells)
        self._bins = np.isinf(self._period)

    def without(self, first: int) -> ReportDistribution:
        """Return the distribution without the questions before number `first`."""
        part, start = copy.copy(self), self.slices[first].start
        part.questions, part.cells = self.questions[first:], self.cells - start
        part.slices = [slice(piece.start - start, piece.stop - start) for piece in self.slices[first:]]
        for name in ("_other", "_gain", "_low", "_high", "_origin", "_period", "_bins"):
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
        mean = np.atleast_1d(np.asarray(mu, np.float64))[:, None]
        found = [np.empty((len(mean), self.cells)) for _ in range(3 if derive else 1)]

        def put(cells: NDArray[np.bool_], rule: Callable[..., Probabilities], *period: Floats) -> None:
            origin = mean - self._origin[cells]
            if period:
                origin = np.mod(origin, *period)
            probabilities = rule(self._low[cells] - origin, self._high[cells] - origin, *period, sigma, derive)
            for table, part in zip(
                found, (probabilities.value, probabilities.by_mu, probabilities.by_sigma), strict=False
            ):
                table[:, cells] = part

        wide = sigma >= NARROW * self._period
        put(self._bins, _interval)
        for cells, rule in ((wide, _by_harmonics), (~wide & ~self._bins, _by_periods)):
            if cells.any():
                put(cells, rule, self._period[cells])
        return Probabilities(*found)

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
    height, mu, sigma = max(heights, key=lambda found: found[0].max())
    return float(mu[int(np.argmax(height))]), sigma
