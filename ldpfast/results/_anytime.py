"""Limits that hold for every number of reports at once, so that an experiment can be watched while it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import AnyArray, Floats
from ._debiasing import Debiasing

BISECTIONS = 60
CELLS = 128  # pieces of an interval of candidates
ZOOMS = 4  # each divides the cell of a limit again
STAKES = 0.95 * 2.0 ** (-np.arange(48) / 2)  # of a bet, as parts of the largest possible one


def of_hits(hits: AnyArray, n: Any, debiasing: Debiasing, tail: Any) -> tuple[Floats, Floats]:
    """Return limits of the debiased probability of a hit.

    For a hypothetical probability, the likelihood of the reports under a mixture of all probabilities (beta distribution with
    parameters 1/2), divided by their likelihood under this one, is a nonnegative martingale with the mean 1. It ever exceeds
    1 / a with probability at most a (J. Ville, 1939). Probabilities for which it does are excluded.
    """
    from scipy.special import betaln, xlogy

    hits, n = np.asarray(hits, np.float64), np.asarray(n, np.float64)
    misses = n - hits
    bound = betaln(hits + 0.5, misses + 0.5) - betaln(0.5, 0.5) + np.log(2 * np.asarray(tail))
    center = hits / n
    limits = []
    for end in (0.0, 1.0):
        outside, inside = np.full(center.shape, end), center
        for _ in range(BISECTIONS):
            middle = (outside + inside) / 2
            excluded = bound >= xlogy(hits, middle) + xlogy(misses, 1 - middle)
            outside, inside = np.where(excluded, middle, outside), np.where(excluded, inside, middle)
        limits.append(debiasing(np.asarray(outside)))
    return limits[0], limits[1]


@dataclass(frozen=True, eq=False)
class CodeCounts:
    """Counts of codes, for limits of a ratio of the means of two numbers that every code has.

    Attributes
    ----------
    counts : ndarray, shape (codes,)
        Number of reports with each code.
    numerator, denominator : ndarray, shape (codes,) or (numbers, codes)
        Decoded values. The ratio of their means is estimated; it is a mean if all denominators are 1.
    """

    counts: AnyArray
    numerator: Floats
    denominator: Floats

    def limits(self, lowest: Any, highest: Any, tail: Any) -> tuple[Floats, Floats]:
        """Return limits of the ratios in an interval, of the shape of the numerators without their last axis."""
        tops, bottoms = np.broadcast_arrays(self.numerator, self.denominator)
        shape = tops.shape[:-1]
        ends = [np.broadcast_to(np.asarray(x, np.float64), shape) for x in (lowest, highest, tail)]
        found = [self._single(tops[at], bottoms[at], *(float(part[at]) for part in ends)) for at in np.ndindex(shape)]
        low, high = np.reshape(found, (*shape, 2)).astype(np.float64).T
        return low.T, high.T

    def _single(self, top: Floats, bottom: Floats, lowest: float, highest: float, tail: float) -> tuple[float, float]:
        """Return the limits of one ratio.

        If r is the ratio, the numbers a - r b of the codes have the mean 0, so nobody can expect to win money by betting on
        them. The capital of a gambler who stakes the same part l in every round is the product of 1 + l (a - r b), which does
        not depend on the order of the reports; that of several gamblers with different l, half of them for positive numbers,
        is a martingale as in `of_hits` (I. Waudby-Smith, A. Ramdas, "Estimating means of bounded random variables by
        betting", 2024). The capital of one gambler is log-concave in r, so between two candidates it is at least the smaller
        of both values. A cell between two candidates is excluded if this bound is large enough.
        """
        pairs, place = np.unique(np.stack([top, bottom]), axis=1, return_inverse=True)
        counts = np.bincount(np.ravel(place), weights=self.counts, minlength=pairs.shape[1])
        gains = pairs[0] - np.array([[lowest], [highest]]) * pairs[1]
        largest = np.array([1 / max(-gains.min(), 1e-300), 1 / max(gains.max(), 1e-300)])
        stakes = np.concatenate([STAKES * largest[0], -STAKES * largest[1]])
        threshold = np.log(len(stakes) / (2 * tail))

        def kept(low: float, high: float) -> tuple[Floats, AnyArray]:
            """Return the candidates in an interval, and the cells between them that are not excluded."""
            candidates = np.linspace(low, high, CELLS + 1)
            bets = pairs[0] - candidates[:, np.newaxis] * pairs[1]
            with np.errstate(divide="ignore", invalid="ignore"):
                capital = np.log1p(np.maximum(stakes[:, np.newaxis, np.newaxis] * bets, -1.0)) @ counts
            capital = np.where(np.isnan(capital), -np.inf, capital)
            bound = np.minimum(capital[:, :-1], capital[:, 1:])
            highest_bet = bound.max(axis=0)
            with np.errstate(invalid="ignore"):
                total = highest_bet + np.log(np.exp(bound - highest_bet).sum(axis=0))
            return candidates, np.flatnonzero(~(total >= threshold))

        candidates, cells = kept(lowest, highest)
        if len(cells) == 0:  # no candidate is left: another mechanism made the reports
            return highest, lowest
        limits = [(candidates[cells[0]], candidates[cells[0] + 1]), (candidates[cells[-1]], candidates[cells[-1] + 1])]
        for side in (0, 1):
            for _ in range(ZOOMS):
                candidates, cells = kept(*limits[side])
                if len(cells) == 0:  # bounds are sharper in smaller cells
                    limits[side] = (limits[side][1 - side],) * 2
                    break
                at = cells[-side]
                limits[side] = (candidates[at], candidates[at + 1])
        return limits[0][0], limits[1][1]
