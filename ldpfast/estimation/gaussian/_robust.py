"""Variants by maximum likelihood over all answers; docs/gaussian.md compares them with the published protocol."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from ..._formulas import normal_density
from ..._typing import Floats
from ...mechanisms import Bins, Mechanism, Residue
from ...results import Estimate, Normal
from ._distribution import CodeQuestion, ReportDistribution
from ._fit import maximize
from ._gaussian_estimate import GaussianEstimate
from ._group import AnswerGroups, Group, counts_of
from ._variant import Located, Model, ProtocolVariant

REFINE = 1.0  # largest distance of the center from the end of the search, in standard deviations
REACH = 4.0  # largest distance of the mean from the center, in standard deviations
WAVES = ((math.pi, 2), (1.9, 4))  # periodic questions: width of a symbol over the scale, number of symbols
MAX_BINS = 8
OFF = 0.3  # assumed error of the center, in standard deviations
# Least share of the people in the search, by (sigma known, rounds).
MIN_SHARE = {(True, 2): 0.15, (True, 1): 0.3, (False, 2): 0.4, (False, 1): 0.5}
TARGET_KAPPA = 12.0
MIN_GOODNESS = 1e-6  # p-value below which the model is doubted
POINTS = 16  # means in a period at which the information of periodic questions is computed


class Robust(ProtocolVariant):
    """Likelihood decoding of the search, a refined center, and maximum likelihood over all answers."""

    def __init__(self, model: Model, rounds: int, decoder: str) -> None:
        known = model.sigma is not None
        low, _ = model.bounds
        narrowest = low if known else 2.0 ** math.floor(math.log2(low))
        super().__init__(model, rounds, narrowest)
        self.decoder = decoder
        self.second_groups = 1 if known else 4

    def search_people(self, n: int) -> float:
        enough = TARGET_KAPPA * len(self.levels) / self.levels.gain**2
        return max(enough, MIN_SHARE[self.model.sigma is not None, self.rounds] * n)

    def scales(self) -> Floats:
        """Return the scales of the search: sigma, or sigma_min times powers of two."""
        low, high = self.model.bounds
        return np.asarray(low * 2.0 ** np.arange(1 + math.floor(math.log2(high / low))), np.float64)

    def locate(self, search: AnswerGroups) -> Located:
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

    def conclude(self, located: Located, search: AnswerGroups, second: AnswerGroups) -> GaussianEstimate:
        groups = search + second
        distribution = ReportDistribution([_question(group) for group in groups])
        free, n = self.model.free, sum(group.n for group in groups)
        fit = maximize(distribution, counts_of(groups), located.mu, located.sigma, free, REACH)
        stderr = math.sqrt(fit.covariance[0, 0])
        guarantee = self.guarantee(groups)
        doubts = self.doubts_about(fit.mu, stderr, located.mu, fit.sigma)
        goodness = fit.goodness(distribution.slices)
        if goodness < MIN_GOODNESS:
            doubts += (f"the answers do not fit a normal distribution (p = {goodness:.1g})",)
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
            goodness=goodness,
            doubts=doubts,
        )


class Efficient(Robust):
    """Small search, then the most informative bins around the center (with one cut: Kalinin, Steinberger 2025)."""

    def __init__(self, model: Model, rounds: int, decoder: str) -> None:
        super().__init__(model, rounds, decoder)
        self.second_groups = 1

    def search_people(self, n: int) -> float:
        return max(TARGET_KAPPA * len(self.levels) / self.levels.gain**2, math.pow(n, 0.75))

    def adaptive_questions(self, located: Located, n: int) -> tuple[Mechanism, ...]:
        cuts = best_cuts(self.model.epsilon, self.model.sigma is not None)
        return (Bins(tuple(located.mu + located.sigma * cut for cut in cuts), self.model.epsilon),)


def _question(group: Group) -> CodeQuestion:
    assert isinstance(group.question, Residue | Bins)
    return group.question


@lru_cache(maxsize=64)
def waves(epsilon: float, low: float, high: float, both: bool) -> tuple[Residue, ...]:
    """Return periodic questions in two phases, for scales a factor of two apart.

    Their periods differ from those of the search, so they can contradict a mean that the search mistook for another. Of
    the two kinds of questions, the one with the smaller variance in the worst case is returned.
    """
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


def _worst(questions: tuple[CodeQuestion, ...], low: float, high: float, both: bool) -> float:
    """Return the largest variance of mu over sigma^2, over means and standard deviations.

    The variance is for one answer to each question.
    """
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
    """Return the information about mean and standard deviation of N(mean, 1) in a response to the bins between cuts."""
    from scipy.special import ndtr

    edges = np.concatenate([[-np.inf], cuts - mean, [np.inf]])
    near = np.clip(edges, -40, 40)
    ratio = math.exp(-epsilon)
    kept = 1 / (1 + len(cuts) * ratio)  # probability of the true bin; each other bin has `ratio` times this
    gain, density = kept * (1 - ratio), normal_density(near)
    slopes = -gain * np.stack([np.diff(density), np.diff(near * density)])
    probabilities = kept * ratio + gain * np.diff(ndtr(edges))
    return np.asarray((slopes / probabilities) @ slopes.T, np.float64)


def _worth(cuts: Floats, epsilon: float, known: bool) -> float:
    """Return the information of the cuts about the mean.

    If the standard deviation is unknown, the information is computed a little off the center, where mean and standard
    deviation are confounded.
    """
    if known:
        return float(_information(cuts, epsilon)[0, 0])
    information = _information(cuts, epsilon, OFF)
    return float(information[0, 0] - information[0, 1] ** 2 / information[1, 1])


@lru_cache(maxsize=64)
def best_cuts(epsilon: float, known: bool) -> tuple[float, ...]:
    """Return the cuts, symmetric around the mean, whose k-ary response has the most information about the mean.

    Cuts are in standard deviations. If the standard deviation is unknown there are at least two, because one cut has no
    information about it.
    """
    from scipy.optimize import minimize

    best: tuple[float, tuple[float, ...]] = (-math.inf, ())
    for bins in range(2 if known else 3, MAX_BINS + 1):
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
