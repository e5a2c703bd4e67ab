"""The variants of our own: maximum likelihood over all answers (docs/gaussian.md says what differs from the publication)."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from ..._formulas import normal_density
from ..._typing import Floats
from ...mechanisms import Bins, Mechanism, Residue
from ...results import Estimate, Normal
from ._design import Design, Located, Model
from ._distribution import Question, ReportDistribution
from ._fit import maximize
from ._group import Group, Groups, counts_of
from ._result import GaussianEstimate

REFINE = 1.0  # standard deviations that the center may be from where the search ended,
REACH = 4.0  # and the mean from the center
WAVES = ((math.pi, 2), (1.9, 4))  # width of a symbol, over the scale, and number of symbols
MOST_BINS = 8
OFF = 0.3  # standard deviations that the center may be off
LEAST_SHARE = {(True, 2): 0.15, (True, 1): 0.3, (False, 2): 0.4, (False, 1): 0.5}  # of (sigma known, rounds)
ENOUGH = 12.0  # kappa
UNLIKELY = 1e-6  # p-value
POINTS = 16  # of a period, where the information of periodic questions is looked at


class Robust(Design):
    """Likelihood decoding, a refined center, and one maximum of the likelihood of all answers."""

    def __init__(self, model: Model, rounds: int, decoder: str) -> None:
        known = model.sigma is not None
        low, _ = model.bounds
        narrowest = low if known else 2.0 ** math.floor(math.log2(low))
        super().__init__(model, rounds, narrowest)
        self.decoder = decoder
        self.second_groups = 1 if known else 4

    def searchers(self, n: int) -> float:
        enough = ENOUGH * len(self.levels) / self.levels.gain**2
        return max(enough, LEAST_SHARE[self.model.sigma is not None, self.rounds] * n)

    def scales(self) -> Floats:
        """Of the search: sigma, or sigma_min and its doubles."""
        low, high = self.model.bounds
        return np.asarray(low * 2.0 ** np.arange(1 + math.floor(math.log2(high / low))), np.float64)

    def locate(self, search: Groups) -> Located:
        counts = counts_of(search)
        decode = self.levels.by_pairs if self.decoder == "pairs" else self.levels.by_likelihood
        mu, sigma = decode(counts, self.scales())
        fit = maximize(self.levels.distribution, counts, mu, sigma, self.model.free, REFINE)
        return Located(fit.mu, fit.sigma)

    def nonadaptive_questions(self, n: int | None) -> tuple[Mechanism, ...]:
        return waves(self.model.epsilon, *self.model.bounds, self.model.sigma is None)

    def adaptive_questions(self, located: Located, n: int) -> tuple[Mechanism, ...]:
        t, s = located.mu, located.sigma
        cuts = [t] if self.model.sigma is not None else [t - s, t, t, t + s]
        return tuple(Bins((cut,), self.model.epsilon) for cut in cuts)

    def conclude(self, located: Located, search: Groups, second: Groups) -> GaussianEstimate:
        groups = search + second
        distribution = ReportDistribution([_question(group) for group in groups])
        free, n = self.model.free, sum(group.n for group in groups)
        fit = maximize(distribution, counts_of(groups), located.mu, located.sigma, free, REACH)
        stderr = math.sqrt(fit.covariance[0, 0])
        guarantee = self.guarantee(groups)
        doubts = self.doubts_about(fit.mu, stderr, located.mu, fit.sigma)
        if fit.goodness < UNLIKELY:
            doubts += (f"the answers do not fit a normal distribution (p = {fit.goodness:.1g})",)
        if free and free[0] < free[1] and math.isinf(fit.covariance[1, 1]):
            doubts += ("sigma is at an end of sigma_bounds",)
        return GaussianEstimate(
            fit.mu,
            stderr,
            n,
            guarantee,
            None,
            Normal(),
            sigma=Estimate(fit.sigma, math.sqrt(fit.covariance[1, 1]), n, guarantee, None, Normal()) if free else None,
            center=located.mu,
            kappa=self.kappa(search),
            goodness=fit.goodness,
            doubts=doubts,
        )


class Efficient(Robust):
    """A small search, then the bins around the center that tell most (Kalinin, Steinberger 2025; more than two: own)."""

    def __init__(self, model: Model, rounds: int, decoder: str) -> None:
        super().__init__(model, rounds, decoder)
        self.second_groups = 1

    def searchers(self, n: int) -> float:
        return max(ENOUGH * len(self.levels) / self.levels.gain**2, math.pow(n, 0.75))

    def adaptive_questions(self, located: Located, n: int) -> tuple[Mechanism, ...]:
        cuts = best_cuts(self.model.epsilon, self.model.sigma is not None)
        return (Bins(tuple(located.mu + located.sigma * cut for cut in cuts), self.model.epsilon),)


def _question(group: Group) -> Question:
    assert isinstance(group.question, Residue | Bins)
    return group.question


@lru_cache(maxsize=64)
def waves(epsilon: float, low: float, high: float, both: bool) -> tuple[Residue, ...]:
    """Periodic questions in two phases, for scales a factor of two apart, whose period is none of the search's: so they can
    contradict a mean that the search took for another. Of the two kinds the one with the smaller variance in the worst case."""
    count = max(1, math.ceil(math.log2(high / low)))
    scales = low * (high / low) ** ((np.arange(count) + 0.5) / count)
    plans = [
        tuple(
            Residue(width * scale, phase * width * scale / 2, modulus, epsilon)
            for scale in scales.tolist()
            for phase in (0, 1)
        )
        for width, modulus in WAVES
    ]
    return min(plans, key=lambda questions: _worst(questions, low, high, both))


def _worst(questions: tuple[Question, ...], low: float, high: float, both: bool) -> float:
    """The largest variance of mu over sigma^2 for one answer to each question, over means and standard deviations."""
    distribution = ReportDistribution(questions)
    sizes = np.ones(distribution.cells)
    sigmas = np.geomspace(low, high, 9).tolist() if both else [low]
    variances: list[float] = [
        float(np.linalg.inv(distribution.information(sizes, mu, sigma, both))[0, 0]) / sigma**2
        for sigma in sigmas
        for mu in (8 * sigma * np.arange(POINTS) / POINTS).tolist()
    ]
    return max(variances)


def _information(cuts: Floats, epsilon: float, mean: float = 0.0) -> Floats:
    """About the mean and the standard deviation of N(mean, 1), of the response to the bins between the cuts."""
    from scipy.special import ndtr

    edges = np.concatenate([[-np.inf], cuts - mean, [np.inf]])
    near = np.clip(edges, -40, 40)
    ratio = math.exp(-epsilon)
    kept = 1 / (1 + len(cuts) * ratio)  # the chance of it; each of the others has `ratio` times that
    gain, density = kept * (1 - ratio), normal_density(near)
    slopes = -gain * np.stack([np.diff(density), np.diff(near * density)])
    probabilities = kept * ratio + gain * np.diff(ndtr(edges))
    return np.asarray((slopes / probabilities) @ slopes.T, np.float64)


def _worth(cuts: Floats, epsilon: float, known: bool) -> float:
    """What the cuts tell about the mean: at the center; where the standard deviation has to be found too, a little off it,
    where the two get mixed up."""
    if known:
        return float(_information(cuts, epsilon)[0, 0])
    information = _information(cuts, epsilon, OFF)
    return float(information[0, 0] - information[0, 1] ** 2 / information[1, 1])


@lru_cache(maxsize=64)
def best_cuts(epsilon: float, known: bool) -> tuple[float, ...]:
    """Symmetric cuts, in standard deviations around the mean, whose k-ary response tells most about the mean. One cut tells
    nothing of a standard deviation that is not known."""
    from scipy.optimize import minimize

    best: tuple[float, tuple[float, ...]] = (-math.inf, ())
    for bins in range(2 if known else 3, MOST_BINS + 1):
        middle = [0.0] if bins % 2 == 0 else []

        def cuts(gaps: Floats, middle: list[float] = middle) -> Floats:
            right = np.cumsum(np.exp(gaps))
            return np.concatenate([-right[::-1], middle, right])

        def loss(gaps: Floats, cuts: Callable[[Floats], Floats] = cuts) -> float:
            return -_worth(cuts(gaps), epsilon, known)

        gaps = np.log(np.full((bins - 1) // 2, 2.0 / bins))
        if len(gaps):
            gaps = np.asarray(minimize(loss, gaps, method="Nelder-Mead", tol=1e-6).x)
        best = max(best, (-loss(gaps), tuple(cuts(gaps).tolist())))
    return best[1]
