"""Base class of the variants: their questions, numbers of people and estimates."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

from ...mechanisms import Mechanism
from ...privacy import Guarantee
from ._gaussian_estimate import GaussianEstimate
from ._group import AnswerGroups
from ._levels import levels_of
from ._plan import Plan, parts

MIN_KAPPA = 2.0  # below this, the search does not work


@dataclass(frozen=True)
class Model:
    """Model of the records: they are normal, the mean is within `mu_bound` of zero, sigma is known or bounded.

    `free` are the bounds of sigma, or None if it is known.
    """

    epsilon: float
    sigma: float | None
    free: tuple[float, float] | None
    mu_bound: float
    beta: float

    @property
    def bounds(self) -> tuple[float, float]:
        """Bounds of sigma; they are equal if it is known."""
        if self.free is not None:
            return self.free
        assert self.sigma is not None
        return self.sigma, self.sigma

    @property
    def reach(self) -> float:
        """Distance from zero that the search must cover."""
        return self.mu_bound if self.free is None else max(self.mu_bound, 4 * self.free[1])


@dataclass(frozen=True)
class Located:
    """Mean and standard deviation that the search found."""

    mu: float
    sigma: float
    doubts: tuple[str, ...] = ()


class ProtocolVariant(ABC):
    """Variant of the protocol: questions of the search, second questions, and the estimate.

    Attributes
    ----------
    levels : Levels
        Questions of the search.
    """

    # Of 45,000 estimates simulated with this kappa, 11 were entirely wrong, 10 of these with a doubt.
    safe_kappa = 8.0
    second_groups = 1  # in the second of two rounds

    def __init__(self, model: Model, rounds: int, narrowest: float) -> None:
        self.model, self.rounds = model, rounds
        self.levels = levels_of(model.epsilon, narrowest, model.reach)

    @abstractmethod
    def search_people(self, n: int) -> float:
        """Return how many of n people answer the search, if there are enough of them."""

    @abstractmethod
    def nonadaptive_questions(self, n: int | None) -> tuple[Mechanism, ...]:
        """Return the second questions for one round with n people; they do not depend on the search."""

    @abstractmethod
    def locate(self, search: AnswerGroups) -> Located:
        """Decode the answers to the search."""

    @abstractmethod
    def adaptive_questions(self, located: Located, n: int) -> tuple[Mechanism, ...]:
        """Return the second questions for two rounds; n is the number of people in both rounds."""

    @abstractmethod
    def conclude(self, located: Located, search: AnswerGroups, second: AnswerGroups) -> GaussianEstimate:
        """Return the estimate from all answers."""

    def guarantee(self, groups: AnswerGroups) -> Guarantee:
        """Return the weakest guarantee of an answer."""
        return max((group.question.guarantee for group in groups), key=lambda guarantee: guarantee.epsilon)

    def least(self) -> int:
        """Return the least number of people with which the protocol works; half of them answer the search."""
        return 2 * self.levels.people(MIN_KAPPA)

    def plan(self, n: int, second_groups: int) -> Plan:
        """Assign n people to questions, with `second_groups` second questions. Raises ValueError if n is too small."""
        levels = self.levels
        if n < self.least():
            raise ValueError(
                f"n must be at least {self.least()} for epsilon = {self.model.epsilon:g} and {len(levels)} levels, got {n}"
            )
        least = levels.people(MIN_KAPPA) // len(levels)
        share = min(max(self.search_people(n) / n, len(levels) * least / n), 0.5)
        search, second = parts(n, share, len(levels), second_groups, least)
        sizes = search.sizes(n, second.stop), second.sizes(n, second.stop)
        rounds = sizes if self.rounds == 2 else (sizes[0] + sizes[1],)
        return Plan(n, rounds, levels.kappa(min(sizes[0])), self.safe_kappa, search, second)

    def kappa(self, search: AnswerGroups) -> float:
        """Return kappa of the level with the fewest answers."""
        return self.levels.kappa(min(group.n for group in search))

    def doubts_about(self, mu: float, stderr: float, center: float, sigma: float) -> tuple[str, ...]:
        """Return the contradictions between the estimate and the model, in words."""
        model, doubts = self.model, []
        if abs(mu) > model.mu_bound + 3 * stderr:
            doubts.append(f"the mean is beyond mu_bound = {model.mu_bound:g}")
        if abs(mu - center) > 2 * sigma:
            doubts.append("the mean is more than two standard deviations from the center that the search found")
        if not math.isfinite(stderr):
            doubts.append("the second answers do not bound the mean")
        return tuple(doubts)
