"""Published protocols (Joseph, Kulkarni, Mao, Wu 2019): thresholds, groups and failure rules.

Their real-valued messages are clamped and sent with integer noise. Means are decoded from debiased shares and true
group sizes, as the published guarantees require.
"""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from ..._formulas import normal_density
from ...mechanisms import Bins, Laplace, Mechanism, Residue
from ...mechanisms._laplace_residue import LaplaceResidue
from ...reports import recipe_of
from ...results import Estimate, Normal
from ._gaussian_estimate import GaussianEstimate
from ._group import AnswerGroups, Group, counts_of
from ._levels import MODULUS
from ._variant import Located, Model, ProtocolVariant

MASS, CONCENTRATED = 0.52, 0.03  # shares in the published rules
STEP = 0.2  # distance between the nodes of the published second question, in sigma


class Paper(ProtocolVariant):
    """Published protocol, with as many levels as `mu_bound` requires and half of the people in each step."""

    safe_kappa = 130.0

    def __init__(self, model: Model, rounds: int) -> None:
        low, _ = model.bounds
        self.known = model.sigma is not None
        super().__init__(model, rounds, 2.0 ** math.floor(math.log2(low)))

    def search_people(self, n: int) -> float:
        return n / 2

    # The search -----------------------------------------------------------------------------------------------------

    def _slack(self, people: int) -> float:
        """Return psi, the allowed error of a debiased count."""
        epsilon, levels = self.model.epsilon, len(self.levels)
        return (epsilon + 4) / (epsilon * math.sqrt(2)) * math.sqrt(people * math.log(8 * levels / self.model.beta))

    def _pair_slack(self, people: int) -> float:
        """Return tau, the allowed error of a debiased count of two neighboring cells."""
        epsilon = self.model.epsilon
        levels = len(self.levels)
        beta = self.model.beta
        return math.sqrt(2 * people * math.log(2 * levels / beta)) + (1 + 4 / epsilon) * math.sqrt(
            2 * people * math.log(8 * levels / beta)
        )

    def locate(self, search: AnswerGroups) -> Located:
        mu, doubts = self._mean(search)
        people = min(group.n for group in search)
        if self._slack(people) > 0.25 * people:
            doubts += ("the published thresholds need more answers to the search",)
        if self.known:
            return Located(mu, self.model.bounds[0], doubts)
        if self._pair_slack(people) > 0.2 * people:
            doubts += ("the published estimate of sigma needs more answers to the search",)
        return Located(mu, self._scale(search), doubts)

    def _mean(self, search: AnswerGroups) -> tuple[float, tuple[str, ...]]:
        """Return the mean and its doubts by EstMean1: descend while one cell holds most of the answers.

        Cells are integers, in units of the width of their level.
        """
        shares = self.levels.shares(counts_of(search))
        frequent = np.argsort(-shares, axis=1, kind="stable")[:, :2]
        level = len(self.levels) - 1
        low = -2
        high = 1
        lost = False
        while level >= 0 and shares[level, frequent[level, 0]] >= MASS + self._slack(search[level].n) / search[level].n:
            cells = [c for c in range(low, high + 1) if c % MODULUS == frequent[level, 0]]
            if not cells:
                lost = True
                break
            cell, level = cells[0], level - 1
            low, high = (2 * cell, 2 * cell + 2) if level >= 0 else (cell, cell + 1)
        level = max(level, 0)
        cells = [c for c in range(low, high + 1) if c % MODULUS in frequent[level]]
        lost = lost or not cells
        place = max(cells) if cells else (low + high) / 2
        doubts = ("the published search reached an impossible cell",) if lost else ()
        return float(place * self.levels.widths[level]), doubts

    def _scale(self, search: AnswerGroups) -> float:
        """Return sigma by EstVar: the width above which all levels are concentrated on neighboring cells."""
        shares = self.levels.shares(counts_of(search))
        least = (shares + np.roll(shares, -1, axis=1)).min(axis=1)
        concentrated = [
            share <= CONCENTRATED + self._pair_slack(group.n) / group.n
            for share, group in zip(least, search, strict=True)
        ]
        scattered = [level for level, yes in enumerate(concentrated) if not yes]
        return float(self.levels.widths[max(scattered, default=0)])

    # The second questions -------------------------------------------------------------------------------------------

    def nonadaptive_questions(self, n: int | None) -> tuple[Mechanism, ...]:
        if n is None:
            raise ValueError('n must be given for rounds=1 and method="paper": how many people will be asked')
        epsilon = self.model.epsilon
        low, high = self.model.bounds
        root = math.sqrt(math.log(4 * n))
        if self.known:
            rho = math.ceil(2 * root)
            return tuple(Residue(rho * low / 2, STEP * low * i, 2, epsilon) for i in range(1, 5 * rho + 1))
        rho = math.ceil(root + 6)
        scales = 2.0 ** np.arange(math.floor(math.log2(low)), math.ceil(math.log2(high)) + 1)
        return tuple(LaplaceResidue(rho * s, i * s, epsilon) for s in scales.tolist() for i in range(1, rho + 1))

    def adaptive_questions(self, located: Located, n: int) -> tuple[Mechanism, ...]:
        if self.known:
            return (Bins((located.mu,), self.model.epsilon),)
        half = located.sigma * (2 + math.sqrt(math.log(4 * n)))
        return (Laplace(located.mu - half, located.mu + half, self.model.epsilon),)

    # The estimate ---------------------------------------------------------------------------------------------------

    def conclude(self, located: Located, search: AnswerGroups, second: AnswerGroups) -> GaussianEstimate:
        group, node = self._nearest_group(located, second)
        if self.known:
            mu, stderr = self._from_share(group, node)
        else:
            mean = group.answers.estimate()
            mu, stderr = node + mean.value, mean.stderr
        n, guarantee = sum(g.n for g in search + second), self.guarantee(search + second)
        sigma = None if self.known else Estimate(located.sigma, math.inf, n, guarantee, None, Normal())
        return GaussianEstimate(
            mu,
            stderr,
            n,
            guarantee,
            None,
            Normal(),
            sigma=sigma,
            center=located.mu,
            kappa=self.kappa(search),
            doubts=located.doubts + self.doubts_about(mu, stderr, located.mu, located.sigma),
        )

    def _nearest_group(self, located: Located, second: AnswerGroups) -> tuple[Group, float]:
        """Return the group whose node is nearest the located mean, and that node. Other groups are not used."""
        if self.rounds == 2:
            question = second[0].question
            return second[0], question.cuts[0] if isinstance(question, Bins) else 0.0
        candidates: list[tuple[float, int, float]] = []
        widths = sorted({_width(group) for group in second})
        rho = len(second) / len(widths)  # nodes of a scale, for unknown sigma
        width = widths[0] if self.known else min(widths, key=lambda w: abs(w - rho * located.sigma))
        for number, group in enumerate(second):
            if _width(group) == width and group.n > 0:
                period, node = width * (2 if self.known else 1), cast(Residue, group.question).offset
                node += period * round((located.mu - node) / period)
                candidates.append((abs(node - located.mu), number, node))
        if not candidates:
            raise ValueError("an estimate needs answers of the group whose node is nearest the mean, got none")
        _, number, node = min(candidates)
        return second[number], node

    def _from_share(self, group: Group, node: float) -> tuple[float, float]:
        """Return mean and standard error from one bit per person: whether the record is beyond the node."""
        from scipy.special import ndtri

        sigma, n = self.model.bounds[0], group.n
        coin = recipe_of(group.question).coin
        p, q = float(coin.p), float(coin.q)
        right = 1 if isinstance(group.question, Bins) else 0
        # Away from 0 and 1, whose quantiles are infinite.
        share = min(max((float(group.counts[right]) / n - q) / (p - q), 1 / (2 * n)), 1 - 1 / (2 * n))
        distance = float(ndtri(share))
        reported = q + (p - q) * share
        density = float(normal_density(distance))
        return node + sigma * distance, sigma * math.sqrt(reported * (1 - reported) / n) / ((p - q) * density)


def _width(group: Group) -> float:
    """Return the width of a cell in the question of a group."""
    return cast("Residue | LaplaceResidue", group.question).width
