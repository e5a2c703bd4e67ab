"""Limits of ratios of estimates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._typing import Floats
from ._anytime import CodeCounts
from ._intervals import BoundedSum, t_quantile

ITERATIONS = 20  # of the limits of a ratio, whose margins depend on the limits


@dataclass(frozen=True)
class Fieller:
    """Limits of a ratio N / D of two estimates: Fieller's confidence set, with the margins of `BoundedSum`.

    The set is {R : |N - R D| <= m(R)}, where m(R) is the margin of N - R D. For many reports it is z times its standard error.
    Where D cannot be distinguished from 0, no ratio is excluded, and the limits are infinite.

    Attributes
    ----------
    numerator, denominator : ndarray
        The estimates N and D.
    vn, vd, c : ndarray
        Their variances and their covariance.
    lowest, highest : ndarray
        Smallest and largest weights in the numerators of what the denominators count.
    hit : float
        Amount by which one report moves a share; 0 if it is not known, for normal margins.
    needed : int
        Number of reports that are needed if there are too few for normal margins, else 0.
    start : float
        A number that is added to the ratio.
    codes : CodeCounts or None
        Counts of the codes of reports and what they add to N and D, if they are known.
    freedom : float
        Degrees of freedom of the variances, for t quantiles; infinite for normal ones.
    """

    numerator: Floats
    denominator: Floats
    vn: Floats
    vd: Floats
    c: Floats
    lowest: Any = 0.0
    highest: Any = 0.0
    hit: float = 0.0
    needed: int = 0
    start: float = 0.0
    codes: CodeCounts | None = None
    freedom: float = math.inf
    by_coordinate: ClassVar[bool] = True

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        return self.start + self._limit(-1, tail), self.start + self._limit(1, tail)

    def anytime(self, tail: Any) -> tuple[Floats, Floats]:
        """Return limits that hold for every number of reports at once.

        Raises
        ------
        ValueError
            If the codes of the reports are not known.
        """
        if self.codes is None:
            raise ValueError("anytime limits of a ratio exist for the codes of one k-ary response, got other reports")
        low, high = self.codes.limits(self.lowest, self.highest, tail)
        return self.start + low, self.start + high

    def _limit(self, sign: int, tail: Any) -> Floats:
        """Return the lower limits (sign -1) or the upper ones (1), by iteration of the margin at the limit."""
        from scipy.special import ndtri

        quantile = -ndtri(tail) if math.isinf(self.freedom) else t_quantile(self.freedom, tail)
        z = np.full(np.shape(self.numerator), quantile)
        limit = self._root(sign, z)
        for _ in range(ITERATIONS if np.any(self.hit) else 0):
            finite = np.where(np.isfinite(limit), limit, 0.0)
            step = self.hit * np.maximum(np.abs(self.lowest - finite), np.abs(self.highest - finite))
            stderr = np.sqrt(np.maximum(self.vn - 2 * finite * self.c + finite**2 * self.vd, np.finfo(float).tiny))
            margin = BoundedSum(step, step).bounds(np.zeros(np.shape(stderr)), stderr, tail)[1]
            limit = np.where(np.isfinite(limit), self._root(sign, margin / stderr), limit)
        return limit

    def _root(self, sign: int, z: Floats) -> Floats:
        """Return one end of the set {R : (N - R D)^2 <= z^2 Var(N - R D)}."""
        with np.errstate(over="ignore", invalid="ignore"):  # of tails near 0, which no interval has but a test tries
            return self._root_of(sign, z)

    def _root_of(self, sign: int, z: Floats) -> Floats:
        square = self.denominator**2 - z * z * self.vd
        linear = self.numerator * self.denominator - z * z * self.c
        constant = self.numerator**2 - z * z * self.vn
        bounded = square > 0
        safe = np.where(bounded, square, 1.0)
        root = np.sign(z) * np.sqrt(np.maximum(linear**2 - safe * constant, 0))  # z < 0 for tails above a half
        return np.where(bounded, (linear + sign * root) / safe, sign * np.inf)
