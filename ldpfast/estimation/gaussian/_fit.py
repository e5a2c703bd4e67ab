"""Maximum likelihood for mu, or for mu and sigma, from the counts of all questions."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..._typing import Floats
from ._distribution import Probabilities, ReportDistribution, best_of

STEPS, HALVINGS = 100, 30  # limits of the iteration
FEW_EXPECTED = 5.0  # Pearson's test pools cells with fewer expected answers
TINY = 1e-300  # least number of expected answers
TOLERANCE = 1e-5  # length of the last step, in standard errors
ROUNDING = 1e-13  # relative error of a log-likelihood
SCALES = (0.5, 0.7, 1.0, 1.4, 2.0)  # multiples of sigma in the grid of starting points


@dataclass(frozen=True)
class Fit:
    """Maximum likelihood estimate, with the counts of all cells and their expectations.

    `covariance` is for mu, or for (mu, sigma).
    """

    mu: float
    sigma: float
    covariance: Floats
    counts: Floats
    expected: Floats

    def goodness(self, slices: list[slice]) -> float:
        """Return the p-value of Pearson's test against the fitted distribution; `slices` are the cells of each question."""
        from scipy.special import chdtrc

        if self.expected.min() >= FEW_EXPECTED:
            pooled = [(self.counts, self.expected)]
        else:
            pooled = [_pooled(self.counts[piece], self.expected[piece]) for piece in slices]
        statistic = sum(float((np.square(counts - means) / means).sum()) for counts, means in pooled)
        freedom = sum(len(means) for _, means in pooled) - len(slices) - len(self.covariance)
        return float(chdtrc(freedom, statistic)) if freedom > 0 else 1.0


def maximize(
    distribution: ReportDistribution,
    counts: NDArray[np.int64],
    mu: float,
    sigma: float,
    bounds: tuple[float, float] | None,
    reach: float,
) -> Fit:
    """Maximize the likelihood by Fisher scoring with step halving.

    The iteration starts at the best point of a grid around (mu, sigma). `bounds` are the bounds of sigma, or None if sigma
    is known. mu stays within `reach` sigma of its first value. If a step would take sigma out of its bounds, sigma
    stays at the end and only mu moves.
    """
    data, both = counts.astype(np.float64), bounds is not None
    sizes = distribution.sizes(data)
    steps = np.linspace(-reach, reach, 1 + 2 * math.ceil(4 * reach))  # spacing: a quarter of sigma
    scales = np.unique(np.clip(sigma * np.array(SCALES), *bounds)) if bounds is not None else np.array([sigma])
    low, high = mu - reach * sigma, mu + reach * sigma
    point = np.array(best_of(distribution, data, [(np.clip(mu + s * steps, low, high), s) for s in scales.tolist()]))
    probabilities = distribution.reports(point[0], point[1], derive=True)
    height = _log_likelihood(probabilities, data)
    for _ in range(STEPS):
        slopes = probabilities.slopes(both)
        weighted = slopes / probabilities.value[0]
        score, information = weighted @ data, (weighted * sizes) @ slopes.T
        step = np.zeros(2)
        step[: len(score)] = np.linalg.solve(information, score) if both else score / information[0]
        if bounds is not None and _outward(point[1], step[1], bounds):
            step = np.array([score[0] / information[0, 0], 0.0])
        enough = float(score @ step[: len(score)]) < TOLERANCE**2
        for halving in range(HALVINGS):
            there = point + step * 0.5**halving
            there[0] = np.clip(there[0], low, high)
            if bounds is not None:
                there[1] = np.clip(there[1], *bounds)
            probabilities = distribution.reports(there[0], there[1], derive=True)
            higher = _log_likelihood(probabilities, data)
            if higher >= height - ROUNDING * abs(height):
                break
        point, height = there, higher
        if enough:
            break
    covariance, expected = _covariance(probabilities, sizes, float(point[1]), bounds), sizes * probabilities.value[0]
    return Fit(float(point[0]), float(point[1]), covariance, data, expected)


def _log_likelihood(probabilities: Probabilities, data: Floats) -> float:
    """Return the log-likelihood of the counts."""
    return float(np.log(probabilities.value[0]) @ data)


def _covariance(
    probabilities: Probabilities, sizes: Floats, sigma: float, bounds: tuple[float, float] | None
) -> Floats:
    """Return the inverse of the expected information; of mu alone if sigma is at an end of its bounds."""
    information = probabilities.information(sizes, bounds is not None)
    if bounds is not None and np.isclose(sigma, bounds, rtol=1e-12).any():
        return np.array([[1 / information[0, 0], 0.0], [0.0, np.inf]])
    return np.asarray(np.linalg.inv(information), np.float64)


def _outward(sigma: float, step: float, bounds: tuple[float, float]) -> bool:
    """Return whether a step takes sigma out of its bounds."""
    low, high = bounds
    return (sigma <= low and step < 0) or (sigma >= high and step > 0)


def _pooled(counts: Floats, means: Floats) -> tuple[Floats, Floats]:
    """Return counts and means of a question, with cells of few expected answers pooled: their counts are far from normal."""
    order = np.argsort(-means, kind="stable")
    counts, means = counts[order], means[order]
    for last in range(len(means) - 1, 0, -1):
        if means[last:].sum() >= FEW_EXPECTED and means[last - 1] >= FEW_EXPECTED:
            break
    else:
        last = 0
    together = [np.append(cells[:last], cells[last:].sum()) for cells in (counts, np.maximum(means, TINY))]
    return together[0], together[1]
