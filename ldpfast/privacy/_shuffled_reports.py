"""Divergence of shuffled reports and its inverse, by the best bound for the laws of one report."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from operator import attrgetter

from ._blanket import COARSE, FINE, MEDIUM, blanket_delta
from ._dataset_law import DatasetLaw
from ._report_law import ReportLaw
from ._shuffled_counts import MAX_PEOPLE, ShuffledCounts
from ._two_outcomes import GROUPS

CLOSE = 1e-7  # relative distance of log delta from its target at which a search ends
MAX_STEPS = 40
NEAR_LARGEST = 1 - 1e-4  # share of the epsilon of one report, above which that is the result
FEW_PEOPLE = 400  # whose reports outside of both sets are counted, too
LEAST = 1e-300  # below it, logarithms of a delta are not compared

CLOSE_TO_LOWER = 0.98  # share of an epsilon above which lower bounds are not stated
LOWER_STEP = 2e-3  # relative error of lower bounds
LOWER_STEPS = 20

Curve = Callable[[float], float]
_spread_of = attrgetter("spread")


class ShuffledReports:
    """n shuffled reports: an upper bound on the divergence, for all pairs of records with one of several laws.

    The divergence of a law is that of a channel of two reports if it is one; else the smaller one of the blanket of the law
    and, for two levels of probability, of the distribution of two counts.

    Parameters
    ----------
    laws : tuple of ReportLaw
        The laws of one report, of which one is the worst.
    n : int
        Number of reports.
    largest : float
        Epsilon of one report.
    """

    def __init__(self, laws: tuple[ReportLaw, ...], n: int, largest: float) -> None:
        self.laws, self.n = laws, min(n, MAX_PEOPLE)
        self.largest = largest

    def delta(self, epsilon: float) -> float:
        """Return an upper bound on the divergence; 0 from the epsilon of one report on."""
        if epsilon >= self.largest:
            return 0.0
        return min(1.0, max(self._delta_of(law, epsilon, FINE, GROUPS) for law in self.laws))

    def quick_delta(self, epsilon: float) -> float:
        """Return a bound that is up to about 0.1 % larger in epsilon, in less time, for a curve of hundreds of points."""
        if epsilon >= self.largest:
            return 0.0
        return min(1.0, max(self._delta_of(law, epsilon, MEDIUM, GROUPS // 2) for law in self.laws))

    def epsilon(self, delta: float) -> float:
        """Return the smallest epsilon that is found for a delta, rounded up; that of one report if there is none below."""
        found, pending = 0.0, sorted(self.laws, key=_spread_of, reverse=True)
        while pending:  # the widest law first: for most of the others its epsilon is enough
            law = pending[0]
            found = max(found, self._epsilon_of(law, delta))
            pending = [
                law for law in pending[1:] if found < self.largest and self._delta_of(law, found, FINE, GROUPS) > delta
            ]
        return min(found, self.largest)

    def lower(self, delta: float, epsilon: float) -> float | None:
        """Return a lower bound on the smallest epsilon for a delta, from the datasets of the widest law.

        None if no dataset is known or `epsilon`, an upper bound, is less than 2 % above.
        """
        law = max(self.laws, key=_spread_of)
        at = CLOSE_TO_LOWER * epsilon
        if not law.datasets or self.n == MAX_PEOPLE or delta <= LEAST or at == 0:
            return None
        deltas = [dataset.delta(self.n, at) for dataset in law.datasets]
        if max(deltas) > delta:
            return None
        found = 0.0
        for place in sorted(range(len(deltas)), key=deltas.__getitem__, reverse=True):
            dataset, bound = law.datasets[place], deltas[place]
            if found == 0 or dataset.delta(self.n, found) > delta:
                found = max(found, self._lower_of(dataset, delta, found, at, bound))
        return found or None

    def _lower_of(self, dataset: DatasetLaw, delta: float, low: float, high: float, bound: float) -> float:
        """Return an epsilon at which the divergence of a dataset is above delta, near the largest one; `low` if none is found.

        `bound` is the divergence at `high`.
        """
        # log delta is about a multiple of epsilon^2; then secant steps, and halves where they are slow or nothing is certified
        goal, least = math.log(delta), math.log(LEAST)
        at, value = high, math.log(max(bound, LEAST))
        slope = 2 * value / at if value > least else 0.0
        for step in range(LOWER_STEPS):
            if high - low <= LOWER_STEP * high:
                break
            following = at + (goal - value) / slope - LOWER_STEP / 3 * at if slope < 0 and step % 4 < 3 else low
            following = following if low < following < high else (low + high) / 2
            before, old = at, value
            at, value = following, math.log(max(dataset.delta(self.n, following), LEAST))
            slope = (value - old) / (at - before) if min(value, old) > least else 0.0
            low, high = (at, high) if value > goal else (low, at)
        return low

    def _delta_of(self, law: ReportLaw, epsilon: float, fine: float, groups: int) -> float:
        if law.outcomes is not None:
            return law.outcomes.delta(self.n, epsilon, groups)
        blanket = self._blanket(law, epsilon, fine)
        if law is not self.laws[0] or self._counts is None:
            return blanket
        return min(blanket, self._counts.delta(epsilon))

    def _blanket(self, law: ReportLaw, epsilon: float, fine: float) -> float:
        return min(blanket_delta(each, self.n, epsilon, fine) for each in law.at(epsilon))

    def _epsilon_of(self, law: ReportLaw, delta: float) -> float:
        if law.outcomes is not None:
            bit = law.outcomes  # a search with a few records of the others, and a check with all of them
            return self._by_search(lambda e: bit.near(self.n, e), lambda e: bit.delta(self.n, e), delta)
        found = self._by_search(lambda e: self._blanket(law, e, COARSE), lambda e: self._blanket(law, e, FINE), delta)
        if law is self.laws[0] and self._counts is not None:
            found = min(found, self._by_search(self._counts.delta, self._counts.delta, delta))
        return found

    @cached_property
    def _counts(self) -> ShuffledCounts | None:
        levels = self.laws[0].levels
        if levels is None or (
            levels.affected < 1 and self.n > FEW_PEOPLE
        ):  # then the intervals of two numbers cost more
            return None
        return ShuffledCounts.of(levels, self.n)

    def _by_search(self, cheap: Curve, curve: Curve, delta: float) -> float:
        """Return an epsilon at which a curve is at most delta, near the smallest one.

        Parameters
        ----------
        cheap : callable
            Approximation of the curve, for a first guess.
        curve : callable
            Decreasing bound.
        delta : float
            Target.
        """
        from scipy.optimize import brentq

        def excess(of: Curve, epsilon: float) -> float:
            bound = of(epsilon) if epsilon < self.largest else 0.0
            return math.log(max(bound, LEAST)) - math.log(delta)

        if delta <= LEAST:
            return self.largest
        # A root of the cheap curve is the first guess; then ends close in on the exact one, the upper of which is valid.
        low, high = 0.0, self.largest
        at = 0.0
        if excess(cheap, 0.0) > 0:
            at = float(brentq(lambda e: excess(cheap, e), 0.0, self.largest, xtol=1e-9 * self.largest, rtol=1e-4))
        if at > NEAR_LARGEST * self.largest:
            return self.largest
        over = excess(curve, at)
        if over <= 0 and at == 0:
            return 0.0
        low, high = (low, at) if over <= 0 else (at, high)
        slope = 0.0
        for _ in range(MAX_STEPS):  # secant steps in log delta; every epsilon with a nonpositive excess is a result
            if -CLOSE < over <= 0 or high - low < 1e-12 * high:
                break
            if slope == 0:
                step = min(high, at * 1.001)
                slope = (excess(curve, step) - over) / (step - at) if step > at else -10 / at
            following = at - (over + CLOSE / 2) / slope if slope < 0 else low
            following = following if low < following < high else (low + high) / 2
            previous, at = (at, over), following
            over = excess(curve, at)
            slope = (over - previous[1]) / (at - previous[0]) if at != previous[0] else slope
            low, high = (low, at) if over <= 0 else (at, high)
        return high
