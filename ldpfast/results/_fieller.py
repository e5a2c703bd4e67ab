"""Limits of ratios of estimates."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np

from .._typing import Floats
from ._anytime import CodeCounts
from ._intervals import StudentT, forged_reports, no_liars, t_quantile, tails_of_margins
from ._roots import roots

TAILS = (1e-300, 1 - 2**-53)  # smallest and largest ones whose normal quantiles are finite


class RatioChange(Protocol):
    """Largest change of N a - D b if a report is replaced by another one, for ratios a : b."""

    def __call__(self, a: Floats, b: Floats) -> Floats: ...


@dataclass(frozen=True, eq=False)
class SeparateChange:
    """Largest change of N a - D b, where a report changes N and D by at most two amounts in any combination.

    Attributes
    ----------
    numerator, denominator : float or ndarray
        Largest changes of N and of D.
    """

    numerator: Any
    denominator: Any

    def __call__(self, a: Floats, b: Floats) -> Floats:
        return np.asarray(np.abs(a) * self.numerator + np.abs(b) * self.denominator)


@dataclass(frozen=True)
class Fieller:
    """Limits of a ratio N / D of two estimates: Fieller's confidence set, with the margins of `BoundedSum`.

    The set is {R : |N - R D| <= m(R)}, where m(R) is the margin of N - R D. For many reports it is z times its standard error.
    Where D cannot be distinguished from 0, no ratio is excluded, and the limits are infinite. With liars, m(R) is larger by
    what the forged reports change N - R D.

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
    change : RatioChange or None
        Largest change of N a - D b if a report is replaced by another one; None if it is not known.
    liars : ndarray or float
        Largest number of forged reports.
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
    change: RatioChange | None = None
    liars: Any = 0.0
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

    def with_liars(self, share: float, n: Any) -> Fieller:
        """Return the rule where some reports are forged."""
        if self.change is None:
            raise no_liars(self)
        return replace(self, liars=forged_reports(share, n))

    def largest_shift(self, share: float, n: Any) -> Floats:
        """Return how far forged reports can move each ratio: to the farthest one for which they can explain N - R D."""
        rule = self.with_liars(share, n)
        center, _ = rule._center()
        known = self.denominator != 0

        def distance(sign: int) -> Floats:
            return sign * (rule._search(sign, lambda ratio: -rule._margin(sign, ratio)) - center)

        return np.asarray(np.where(known, np.maximum(distance(-1), distance(1)), np.inf))

    @property
    def rounding(self) -> Any:
        """How much of a margin is not random: the change by the forged reports."""
        if not np.any(self.liars):
            return 0.0
        return self.largest_shift(1.0, self.liars)

    def _limit(self, sign: int, tail: Any) -> Floats:
        """Return the lower limits (sign -1) or the upper ones (1)."""
        from scipy.special import ndtri

        shape = np.shape(self.numerator)
        tail = np.broadcast_to(tail, shape)
        if not np.any(self.step) and not np.any(self.liars):
            z = -ndtri(tail) if math.isinf(self.freedom) else t_quantile(self.freedom, tail)
            return self._root(sign, np.asarray(z))

        def quantile(tails: Floats) -> Floats:
            return np.asarray(ndtri(np.clip(tails, *TAILS)))

        wanted = quantile(tail)
        return self._search(sign, lambda ratio: quantile(self._tails(sign, ratio)) - wanted)

    def _search(self, sign: int, distance: Callable[[Floats], Floats]) -> Floats:
        """Return the lower (sign -1) or upper limits (1): beyond a limit, the distance is negative, and positive before it."""
        shape = np.shape(self.numerator)
        center, scale = self._center()
        never = distance(np.full(shape, sign * np.inf)) >= 0
        infinite = never | (distance(np.full(shape, -sign * np.inf)) <= 0)

        def ratio(place: Floats) -> Floats:
            """Return the ratio at a place in (-1, 1), from the innermost to the outermost one."""
            return np.asarray(center + sign * scale * (place / (1 - np.abs(place))))

        def excess(place: Floats) -> Floats:
            """Return by how much a ratio is too far out."""
            return np.where(infinite, place, -distance(ratio(place)))  # no search where the limit is known

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
        shift = self._shift(np.ones(np.shape(center)), center)
        return center, np.maximum(np.maximum(np.maximum(stderr, size), shift) / np.abs(bottom), np.finfo(float).tiny)

    def _parts(self, ratio: Floats) -> tuple[Floats, Floats, Floats]:
        """Return D R - N, its standard error, and the largest amount by which a report moves it, for finite ratios."""
        moved = ratio * self.denominator - self.numerator
        variance = self.vn - 2 * ratio * self.c + ratio**2 * self.vd
        size = self.step * np.maximum(np.abs(self.lowest - ratio), np.abs(self.highest - ratio))
        return moved, np.sqrt(np.maximum(variance, np.finfo(float).tiny)), np.asarray(size)

    def _tails(self, side: int, ratio: Floats) -> Floats:
        """Return the tails at which ratios themselves are excluded as lower limits (side -1) or as upper ones (1)."""
        finite = np.isfinite(ratio)
        _, stderr, size = self._parts(np.where(finite, ratio, 0.0))
        # Those of infinite ratios are relative to their size.
        stderr, size = np.where(finite, stderr, np.sqrt(self.vd)), np.where(finite, size, self.step)
        margin = self._margin(side, ratio)
        if np.any(self.liars):
            stderr = np.sqrt(stderr**2 + self._variance_of_liars(ratio))
        if not np.any(self.step) and not math.isinf(self.freedom):
            return StudentT(self.freedom).tails(np.zeros(np.shape(margin)), stderr, margin, 1)
        return tails_of_margins(margin, stderr, size)

    def _margin(self, side: int, ratio: Floats) -> Floats:
        """Return how far D R - N is from what forged reports can explain, outside on a side; D sign(R) for infinite ratios."""
        finite = np.isfinite(ratio)
        moved = np.where(
            finite,
            np.where(finite, ratio, 0.0) * self.denominator - self.numerator,
            self.denominator * np.sign(ratio),
        )
        return np.asarray(side * np.sign(self.denominator) * moved - self._shift(*_homogeneous(ratio)))

    def _shift(self, a: Floats, b: Floats) -> Any:
        """Return the largest change of N a - D b by the forged reports."""
        if not np.any(self.liars):
            return 0.0
        assert self.change is not None
        return self.liars * self.change(a, b)

    def _variance_of_liars(self, ratio: Floats) -> Floats:
        """Return by how much the variance of N - R D can be larger without the forged reports, as for `WithLiars`."""
        assert self.change is not None
        return np.asarray(self.liars * self.change(*_homogeneous(ratio)) ** 2)

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


def _homogeneous(ratio: Floats) -> tuple[Floats, Floats]:
    """Return a and b with a ratio b / a: 1 and the ratio, or 0 and its sign if it is infinite."""
    finite = np.isfinite(ratio)
    return np.where(finite, 1.0, 0.0), np.where(finite, ratio, np.sign(ratio))
