"""What every variant of the protocol decides: which questions are asked, of how many people, and what the counts say."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...aggregation import Aggregator
from ...mechanisms import Mechanism
from ...privacy import Guarantee
from ._levels import Levels
from ._plan import Plan, parts
from ._result import GaussianEstimate

LEAST_KAPPA = 2.0  # below, the search finds nothing


@dataclass(frozen=True)
class Model:
    """What is known of the records: normal, the mean within `mu_bound` of zero, sigma exactly or within bounds."""

    epsilon: float
    sigma: float | None
    free: tuple[float, float] | None  # the bounds of sigma; None where it is known
    mu_bound: float
    beta: float

    @property
    def bounds(self) -> tuple[float, float]:
        """Of sigma, both ends equal where it is known."""
        if self.free is not None:
            return self.free
        assert self.sigma is not None
        return self.sigma, self.sigma

    @property
    def reach(self) -> float:
        """How far the search has to see."""
        return self.mu_bound if self.free is None else max(self.mu_bound, 4 * self.free[1])


@dataclass(frozen=True)
class Located:
    """What the search found: mean and standard deviation."""

    mu: float
    sigma: float
    doubts: tuple[str, ...] = ()


def counts_of(groups: tuple[Aggregator, ...]) -> NDArray[np.int64]:
    """The counts of all cells of several groups, one after the other."""
    return np.concatenate([group._state for group in groups])


class Design(ABC):
    """One variant: the questions of the search, those of the second step, and the conclusions.

    Attributes
    ----------
    levels : Levels
        The search.
    """

    safe_kappa = 8.0  # from here on, the search seldom fails: one to two in a thousand, at 12 one in three thousand
    second_groups = 1  # of the second of two rounds

    def __init__(self, model: Model, rounds: int, narrowest: float) -> None:
        self.model, self.rounds = model, rounds
        self.levels = Levels(model.epsilon, narrowest, model.reach)

    @abstractmethod
    def searchers(self, n: int) -> float:
        """How many of n people answer the search, if there are enough of them."""

    @abstractmethod
    def blind(self, n: int | None) -> tuple[Mechanism, ...]:
        """The second questions when nothing is known of the mean: for the protocol of one round with n people."""

    @abstractmethod
    def locate(self, search: tuple[Aggregator, ...]) -> Located:
        """The answers of the search, decoded."""

    @abstractmethod
    def aimed(self, located: Located, n: int) -> tuple[Mechanism, ...]:
        """The second questions of the protocol of two rounds; n is the number of people in both."""

    @abstractmethod
    def conclude(
        self, located: Located, search: tuple[Aggregator, ...], second: tuple[Aggregator, ...]
    ) -> GaussianEstimate:
        """The estimate."""

    def guarantee(self, groups: tuple[Aggregator, ...]) -> Guarantee:
        """Of one answer, whichever it is."""
        return max((group.mechanism.guarantee for group in groups), key=lambda guarantee: guarantee.epsilon)

    def least(self) -> int:
        """How few people the protocol can do with: half of them search."""
        return 2 * self.levels.people(LEAST_KAPPA)

    def plan(self, n: int, others: int) -> Plan:
        """Who answers what, with so many second questions; raises if n are too few."""
        levels = self.levels
        if n < self.least():
            raise ValueError(
                f"n must be at least {self.least()} for epsilon = {self.model.epsilon:g} and {len(levels)} levels, got {n}"
            )
        least = levels.people(LEAST_KAPPA) // len(levels)
        share = min(max(self.searchers(n) / n, len(levels) * least / n), 0.5)
        search, second = parts(n, share, len(levels), others, least)
        sizes = search.sizes(n, second.stop), second.sizes(n, second.stop)
        rounds = sizes if self.rounds == 2 else (sizes[0] + sizes[1],)
        return Plan(n, rounds, levels.kappa(min(sizes[0])), self.safe_kappa, search, second)

    def kappa(self, search: tuple[Aggregator, ...]) -> float:
        """Of the level that has the fewest answers."""
        return self.levels.kappa(min(group.n for group in search))

    def doubts_about(self, mu: float, stderr: float, centre: float, sigma: float) -> tuple[str, ...]:
        """What the estimate itself says against the model."""
        model, doubts = self.model, []
        if abs(mu) > model.mu_bound + 3 * stderr:
            doubts.append(f"the mean is beyond mu_bound = {model.mu_bound:g}")
        if abs(mu - centre) > 2 * sigma:
            doubts.append("the mean is more than two standard deviations from where the first answers put it")
        if not math.isfinite(stderr):
            doubts.append("the second answers do not bound the mean")
        return tuple(doubts)
