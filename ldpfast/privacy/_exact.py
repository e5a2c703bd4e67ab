"""Two rows of integers with the same sum, as one test sees them: no rounding but the last, towards the larger loss."""

from __future__ import annotations

import decimal
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from .. import _coins
from ._numbers import Floats


def power_down(epsilon: float) -> Fraction:
    """A number that is at most e^epsilon and has its first 99 digits."""
    if epsilon == 0:
        return Fraction(1)
    with decimal.localcontext(_coins.CONTEXT) as context:
        return Fraction(Decimal(epsilon).exp().next_minus(context))


@dataclass(frozen=True)
class ExactPair:
    """Row p against row q: reports of one likelihood ratio are one, the largest ratio first."""

    p: tuple[int, ...]
    q: tuple[int, ...]
    total: int

    @classmethod
    def of(cls, columns: Iterable[tuple[tuple[int, int], int]], total: int) -> ExactPair:
        """From entries (p, q) and how often each occurs."""
        merged: Counter[tuple[int, int]] = Counter()
        for (p, q), times in columns:
            common = math.gcd(p, q)
            if common:
                merged[p // common, q // common] += common * times
        order = sorted(merged, key=lambda ratio: Fraction(ratio[0], sum(ratio)), reverse=True)
        return cls(tuple(r[0] * merged[r] for r in order), tuple(r[1] * merged[r] for r in order), total)

    def reversed(self) -> ExactPair:
        return ExactPair(self.q[::-1], self.p[::-1], self.total)

    @property
    def rows(self) -> tuple[Floats, Floats]:
        """As doubles."""
        return np.array([v / self.total for v in self.p]), np.array([v / self.total for v in self.q])

    def hockey_stick(self, epsilon: float) -> Fraction:
        """The sum of (p - e^epsilon q)_+, or more by a part in 1e99."""
        first = 1 if self.q[0] == 0 else 0
        alone = self.p[0] if first else 0
        if first == len(self.p) or self.p[first] == 0 or _loss(self.p[first], self.q[first]) <= epsilon:
            return Fraction(alone, self.total)
        power = power_down(epsilon)
        n, d = power.numerator, power.denominator
        above = sum(max(0, p * d - n * q) for p, q in zip(self.p[first:], self.q[first:], strict=True))
        return Fraction(alone * d + above, self.total * d)

    def largest_loss(self, delta: float) -> float:
        """The least epsilon >= 0 at which the hockey stick is at most delta, rounded up."""
        spare = Fraction(delta) * self.total
        worst, head, tail = Fraction(1), Fraction(0), 0
        for p, q in zip(self.p, self.q, strict=True):
            head, tail = head + p, tail + q
            if tail:
                worst = max(worst, (head - spare) / tail)
            elif head > spare:
                return math.inf
        return _coins.log_up(worst)

    def kullback_leibler(self) -> float:
        """The sum of p log(p / q), rounded up."""
        if self.q[0] == 0:
            return math.inf
        with decimal.localcontext(_coins.CONTEXT):
            terms = (p * (Decimal(p) / Decimal(q)).ln() for p, q in zip(self.p, self.q, strict=True) if p and p != q)
            return _coins.round_up(sum(terms, Decimal(0)) / self.total)

    def conditional(self) -> float:
        """(sqrt R - 1) / (sqrt R + 1) for the quotient R of the largest and the smallest ratio, rounded up."""
        if self.q[0] == 0 or self.p[-1] == 0:
            return 1.0
        with decimal.localcontext(_coins.CONTEXT):
            root = (Decimal(self.p[0] * self.q[-1]) / Decimal(self.q[0] * self.p[-1])).sqrt()
            return _coins.round_up((root - 1) / (root + 1))


def _loss(p: int, q: int) -> float:
    return _coins.log_up(Fraction(p, q))
