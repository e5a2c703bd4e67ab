"""Limits of a share in a sample whose people do not tell as much as people who are drawn one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .. import _limits
from .._typing import Floats
from ..results import Debiasing, t_quantile

MIDDLE = 1e-6  # distance from a half of a tail whose quantiles are not zero
LEAST_PEOPLE = 1e-9  # that limits are computed for


@dataclass(frozen=True, eq=False)
class EffectiveBinomial:
    """Debiased Clopper-Pearson limits of a share in a sample with weights or clusters.

    They are the limits for a plain sample with the same variance. Its number of people is reduced by the square of the
    quotient of t quantiles, because the variance is estimated (E. L. Korn, B. I. Graubard, 1998).

    Attributes
    ----------
    share : float
        Share of hits.
    total : float
        Number of people that would tell as much.
    n : int
        Number of people.
    freedom : float
        Degrees of freedom of the variance.
    debiasing : Debiasing
    """

    share: float
    total: float
    n: int
    freedom: float
    debiasing: Debiasing
    by_coordinate: ClassVar[bool] = True

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        side = np.minimum(
            np.minimum(tail, 1 - np.asarray(tail)), 0.5 - MIDDLE
        )  # the quotient is the same on both sides
        ratio = t_quantile(max(self.n - 1, 1), side) / t_quantile(self.freedom, side)
        total = np.maximum(self.total * np.square(ratio), LEAST_PEOPLE)
        low, high = _limits.clopper_pearson(self.share * total, total, tail)
        return np.asarray(self.debiasing(low)), np.asarray(self.debiasing(high))
