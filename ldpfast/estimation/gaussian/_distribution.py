"""The distribution of the answers when records are normal, for all decoders, fits and simulations of the protocol."""

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

NARROW = (
    1 / 8
)  # sigma / period below which the normal distribution is summed over periods, else over harmonics; both are accurate to 1e-14
HARMONICS = 10
FAR = 40.0  # standard deviations
NEGLIGIBLE = 1e-17
NONE: Floats = np.empty(0)


class Probabilities(NamedTuple):
    """Probabilities of symbols or reports, cells along the last axis, and their derivatives by mu and sigma if asked for."""

    value: Floats
    by_mu: Floats = NONE
    by_sigma: Floats = NONE

    def slopes(self, both: bool) -> Floats:
        """Derivatives at the first point by mu, or by mu and sigma: one row each."""
        return np.stack([self.by_mu[0], self.by_sigma[0]] if both else [self.by_mu[0]])

    def information(self, sizes: Floats, both: bool) -> Floats:
        """Fisher information at the first point about mu, or about (mu, sigma); sizes as `ReportDistribution.sizes` returns them."""
        slopes = self.slopes(both)
        return np.asarray((slopes * (sizes / self.value[0])) @ slopes.T)


def _interval(low: Floats, high: Floats, sigma: float, derive: bool) -> Probabilities:
    """Probability of low <= X < high for X ~ N(0, sigma^2), with derivatives by the mean and by sigma."""
    from scipy.special import ndtr

    a, b = (np.maximum(np.minimum(end / sigma, FAR), -FAR) for end in (low, high))
    value = ndtr(b) - ndtr(a)
    if not derive:
        return Probabilities(value)
    at_a, at_b = normal_density(a), normal_density(b)
    return Probabilities(value, (at_a - at_b) / sigma, (a * at_a - b * at_b) / sigma)


def _by_periods(low: Floats, high: Floats, period: Floats, sigma: float, derive: bool) -> Probabilities:
    """Probability of a cell and its copies, one period apart; low in (-period, period)."""
    shifts = np.multiply.outer([-1.0, 0.0, 1.0], np.broadcast_to(period, low.shape))
    return Probabilities(*(part.sum(axis=0) for part in _interval(low + shifts, high + shifts, sigma, derive)))


def _by_harmonics(low: Floats, high: Floats, period: Floats, sigma: float, derive: bool) -> Probabilities:
    """The probability of `_by_periods` as a Fourier series."""
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
    """Distribution of the reports of a list of questions, when records are N(mu, sigma^2).

    Symbols of all questions lie on one axis, the cells, in the order of the questions.

    Attributes
    ----------
    slices : list of slice
        Which cells belong to which question.
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
        columns: list[list[float]] = []  # low end, high end, origin and period of a cell; no period: infinite
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
        """The distribution without the first questions."""
        part, start = copy.copy(self), self.slices[first].start
        part.questions, part.cells = self.questions[first:], self.cells - start
        part.slices = [slice(piece.start - start, piece.stop - start) for piece in self.slices[first:]]
        for name in ("_other", "_gain", "_low", "_high", "_origin", "_period", "_bins"):
            setattr(part, name, getattr(self, name)[start:])
        return part

    def sizes(self, counts: Floats) -> Floats:
        """Number of answers to its question, for each cell; counts have any leading axes."""
        sizes = np.empty_like(counts)
        for piece in self.slices:
            sizes[..., piece] = counts[..., piece].sum(axis=-1, keepdims=True)
        return sizes

    def symbols(self, mu: Any, sigma: float, derive: bool = False) -> Probabilities:
        """Probabilities of the symbols, shape (points, cells), at means mu."""
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
        """Probabilities of the reports: those of the symbols through the response."""
        symbols = self.symbols(mu, sigma, derive)
        value = self._other + self._gain * symbols.value
        if not derive:
            return Probabilities(value)
        return Probabilities(value, self._gain * symbols.by_mu, self._gain * symbols.by_sigma)

    def log_likelihood(self, counts: Floats, mu: Any, sigma: float) -> Floats:
        """Log-likelihood of the counts of all cells at each mean."""
        return np.asarray(np.log(self.reports(mu, sigma).value) @ counts)

    def information(self, sizes: Floats, mu: float, sigma: float, both: bool = True) -> Floats:
        """Fisher information about mu, or about (mu, sigma); sizes as `sizes` gives them."""
        return self.reports(mu, sigma, derive=True).information(sizes, both)


def best_of(
    distribution: ReportDistribution, counts: Floats, points: Iterable[tuple[Floats, float]]
) -> tuple[float, float]:
    """The likeliest (mu, sigma) of several means for each of several standard deviations."""
    heights = [(distribution.log_likelihood(counts, mu, sigma), mu, sigma) for mu, sigma in points]
    height, mu, sigma = max(heights, key=lambda found: found[0].max())
    return float(mu[int(np.argmax(height))]), sigma
