"""Limits of ratios of estimates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._typing import Floats
from ._anytime import CodeCounts
from ._intervals import StudentT, t_quantile, tails_of_margins
from ._roots import roots

LEAST_TAIL = 1e-300  # whose normal quantile is finite


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
    step : float
        Change of a share when one more report supports its symbol; 0 if it is not known, for normal margins.
    needed : int
        Number of reports that are needed if there are too few for normal margins, else 0.
    start : float
        A number that is added to the ratio.
    codes : CodeCounts or None
        Counts of the codes of reports and what they add to N and D, if they are known.
    freedom : float
        Degrees of freedom of the variances, for t quantiles of margins where `step` is 0; infinite for normal ones.
    """

    numerator: Floats
    denominator: Floats
    vn: Floats
    vd: Floats
    c: Floats
    lowest: Any = 0.0
    highest: Any = 0.0
    step: float = 0.0
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

    has_tails: ClassVar[bool] = True

    def tails(self, value: Floats, stderr: Floats, limit: Floats, side: int) -> Floats:
        own = self._tails(side, limit - self.start)
        return np.maximum(own, self._farthest(side))  # a ratio is excluded with all beyond it

    def _limit(self, sign: int, tail: Any) -> Floats:
        """Return the lower limits (sign -1) or the upper ones (1)."""
        from scipy.special import ndtri

        shape = np.shape(self.numerator)
        tail = np.broadcast_to(tail, shape)
        if not np.any(self.step):
            z = -ndtri(tail) if math.isinf(self.freedom) else t_quantile(self.freedom, tail)
            return self._root(sign, np.asarray(z))
        center, scale = self._center()
        wanted, never = ndtri(tail), self._farthest(sign) >= tail
        infinite = never | (self._tails(sign, np.full(shape, -sign * np.inf)) <= tail)

        def ratio(place: Floats) -> Floats:
            """Return the ratio at a place in (-1, 1), from the innermost to the outermost one."""
            return np.asarray(center + sign * scale * (place / (1 - np.abs(place))))

        def excess(place: Floats) -> Floats:
            """Return by how much a ratio is too far out, as quantiles of a normal distribution."""
            found = wanted - ndtri(np.maximum(self._tails(sign, ratio(place)), LEAST_TAIL))
            return np.where(infinite, place, found)  # no search where the limit is known

        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = roots(excess, -np.ones(shape), np.ones(shape))
            found = ratio((low + high) / 2)
        return np.asarray(np.where(infinite, np.where(never, sign, -sign) * np.inf, found))

    def _center(self) -> tuple[Floats, Floats]:
        """Return finite ratios, and distances from them in the order of the margins."""
        known = self.denominator != 0
        bottom = np.where(known, self.denominator, 1.0)
        center = np.where(known, self.numerator / bottom, 0.0)
        _, stderr, size = self._parts(center)
        return center, np.maximum(np.maximum(stderr, size) / np.abs(bottom), np.finfo(float).tiny)

    def _parts(self, ratio: Floats) -> tuple[Floats, Floats, Floats]:
        """Return D R - N, its standard error, and the largest amount by which a report moves it, for finite ratios."""
        moved = ratio * self.denominator - self.numerator
        variance = self.vn - 2 * ratio * self.c + ratio**2 * self.vd
        size = self.step * np.maximum(np.abs(self.lowest - ratio), np.abs(self.highest - ratio))
        return moved, np.sqrt(np.maximum(variance, np.finfo(float).tiny)), np.asarray(size)

    def _tails(self, side: int, ratio: Floats) -> Floats:
        """Return the tails at which ratios themselves are excluded as lower limits (side -1) or as upper ones (1)."""
        finite = np.isfinite(ratio)
        moved, stderr, size = self._parts(np.where(finite, ratio, 0.0))
        # Those of infinite ratios are relative to their size.
        moved = np.where(finite, moved, self.denominator * np.sign(ratio))
        stderr, size = np.where(finite, stderr, np.sqrt(self.vd)), np.where(finite, size, self.step)
        margin = side * np.sign(self.denominator) * moved
        if not np.any(self.step) and not math.isinf(self.freedom):
            return StudentT(self.freedom).tails(np.zeros(np.shape(margin)), stderr, margin, 1)
        return tails_of_margins(margin, stderr, size)

    def _farthest(self, side: int) -> Floats:
        """Return the tails up to which no ratio is excluded."""
        return self._tails(side, np.full(np.shape(self.numerator), side * np.inf))

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
        return np.where(bounded, (linear + sign * root) / safe, np.where(z < 0, -sign, sign) * np.inf)
