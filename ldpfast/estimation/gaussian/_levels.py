"""First question of the protocol: residues modulo 4 for cells of doubling widths, and their decoders.

The question of level j is in which of four neighboring cells of width w_j a record lies, modulo 4 w_j. The cells of the
top level cover all allowed means. Each level below determines which half of a cell is searched next: a binary search
over residues.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..._typing import Floats
from ...mechanisms import Residue
from ...reports import recipe_of
from ._distribution import ReportDistribution, best_of

MODULUS = 4
SURVIVORS, SURVIVORS_PER_SCALE = 24, 12  # candidates kept at each level: for one scale, for each of several
FINE = 0.3  # spacing of the candidates at which the search ends, in standard deviations


class Levels:
    """Questions of the search, one for each level.

    Attributes
    ----------
    questions : tuple of Residue
        The narrowest cells come first.
    """

    def __init__(self, epsilon: float, narrowest: float, reach: float) -> None:
        count = max(3, 1 + math.ceil(math.log2(max(1.0, reach / (1.5 * narrowest)))))
        self.widths = narrowest * 2.0 ** np.arange(count)
        self.questions = tuple(Residue(float(width), 0.0, MODULUS, epsilon) for width in self.widths)
        self.distribution = ReportDistribution(self.questions)
        coin = recipe_of(self.questions[0]).coin
        self.gain = float(coin.p - coin.q)
        self._from_level = [self.distribution.without(level) for level in range(count)]

    def __len__(self) -> int:
        return len(self.questions)

    @property
    def range(self) -> float:
        """Largest mean that is identified; one beyond it is mistaken for another, a multiple of twice the range away."""
        return float(2 * self.widths[-1])

    def kappa(self, people: float) -> float:
        """Return the effective noise-free sample size of a level with this number of answers."""
        return people * self.gain**2

    def people(self, kappa: float) -> int:
        """Return the least number of answers, over all levels, with this kappa."""
        return len(self) * math.ceil(kappa / self.gain**2)

    def shares(self, counts: NDArray[np.int64]) -> Floats:
        """Return debiased shares of the residues, shape (levels, 4), from the counts of all cells."""
        table = counts.reshape(len(self), MODULUS)
        debiasing = self.questions[0].debiasing
        return np.asarray(debiasing(table / table.sum(axis=1, keepdims=True)))

    def by_likelihood(self, counts: NDArray[np.int64], scales: Floats) -> tuple[float, float]:
        """Return the most likely (mu, sigma), on a grid of means for each scale that is refined level by level."""
        data, top = counts.astype(np.float64), len(self) - 1
        keep = SURVIVORS if len(scales) == 1 else SURVIVORS_PER_SCALE
        start = np.arange(-8, 9) * (self.widths[top] / 4)
        points = [start.copy() for _ in scales]
        heights = self._log_likelihoods(data, top, points, scales)
        for level in range(top - 1, -1, -1):
            points = [
                _refined(mu[np.argsort(-height, kind="stable")[:keep]], self.widths[level + 1] / 4, sigma)
                for mu, height, sigma in zip(points, heights, scales, strict=True)
            ]
            heights = self._log_likelihoods(data, level, points, scales)
        scale = int(np.argmax([height.max() for height in heights]))
        return float(points[scale][int(np.argmax(heights[scale]))]), float(scales[scale])

    def _log_likelihoods(self, data: Floats, level: int, points: list[Floats], scales: Floats) -> list[Floats]:
        """Return the log-likelihood of the levels from `level` up, for the points of each scale."""
        distribution, counts = self._from_level[level], data[MODULUS * level :]
        return [
            distribution.log_likelihood(counts, mu, sigma) for mu, sigma in zip(points, scales.tolist(), strict=True)
        ]

    def by_pairs(self, counts: NDArray[np.int64], scales: Floats) -> tuple[float, float]:
        """Return (mu, sigma) decoded from pairs of neighboring cells.

        At each level the pair with the largest share is kept. The result is the most likely (mu, sigma) around the edge
        between the last two cells. Only one likelihood is computed, but more answers are needed.
        """
        shares = self.shares(counts)
        low = -2
        middle = 0
        for level in range(len(self) - 1, -1, -1):
            pairs = [shares[level, (low + i) % MODULUS] + shares[level, (low + i + 1) % MODULUS] for i in range(3)]
            middle = low + int(np.argmax(pairs)) + 1
            low = 2 * (middle - 1)
        edge, data = middle * self.widths[0], counts.astype(np.float64)
        return best_of(
            self.distribution, data, [(edge + scale * np.arange(-8, 9) / 4, scale) for scale in scales.tolist()]
        )


@lru_cache(maxsize=64)
def levels_of(epsilon: float, narrowest: float, reach: float) -> Levels:
    """Return the levels of a search; servers with the same parameters share them."""
    return Levels(epsilon, narrowest, reach)


def _refined(points: Floats, spacing: float, sigma: float) -> Floats:
    """Return each point and both neighbors at half the spacing, unless the spacing is fine enough."""
    if spacing <= FINE * sigma:
        return points
    return np.unique(np.concatenate([points - spacing / 2, points, points + spacing / 2]))
