"""Exact divergences of two rows of integers with the same sum; only the result is rounded, toward the larger loss."""

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
from ._directed_rounding import Floats

ROOT_BITS = 128  # binary digits of the root of an integer behind the point


def power_down(epsilon: float) -> Fraction:
    """Return a number that is at most e^epsilon; both less 1 agree in 99 digits."""
    if epsilon == 0:
        return Fraction(1)
    with decimal.localcontext(_coins.CONTEXT) as context:
        context.prec += max(0, -Decimal(epsilon).adjusted())
        return Fraction(Decimal(epsilon).exp().next_minus(context))


@dataclass(frozen=True)
class ExactPair:
    """Rows p and q, with the reports of equal likelihood ratio merged and in descending order of the ratio."""

    p: tuple[int, ...]
    q: tuple[int, ...]
    total: int

    @classmethod
    def of(cls, columns: Iterable[tuple[tuple[int, int], int]], total: int) -> ExactPair:
        """Make a pair from its columns (p, q) and the number of times that each occurs."""
        merged: Counter[tuple[int, int]] = Counter()
        for (p, q), times in columns:
            common = math.gcd(p, q)
            if common:
                merged[p // common, q // common] += common * times
        order = sorted(merged, key=lambda ratio: Fraction(ratio[0], sum(ratio)), reverse=True)
        return cls(tuple(r[0] * merged[r] for r in order), tuple(r[1] * merged[r] for r in order), total)

    def reversed(self) -> ExactPair:
        """Return the pair in the other order."""
        return ExactPair(self.q[::-1], self.p[::-1], self.total)

    @property
    def rows(self) -> tuple[Floats, Floats]:
        """The probabilities of both rows, as doubles."""
        return np.array([v / self.total for v in self.p]), np.array([v / self.total for v in self.q])

    def hockey_stick(self, epsilon: float) -> Fraction:
        """Return the sum of (p - e^epsilon q)_+, with e^epsilon rounded down to 99 digits."""
        first = 1 if self.q[0] == 0 else 0
        singular = self.p[0] if first else 0
        if first == len(self.p) or self.p[first] == 0 or _loss(self.p[first], self.q[first]) <= epsilon:
            return Fraction(singular, self.total)
        power = power_down(epsilon)
        n, d = power.numerator, power.denominator
        above = sum(max(0, p * d - n * q) for p, q in zip(self.p[first:], self.q[first:], strict=True))
        return Fraction(singular * d + above, self.total * d)

    def largest_loss(self, delta: float) -> float:
        """Return the smallest epsilon >= 0 at which the hockey-stick divergence is at most delta, rounded up."""
        spare = Fraction(delta) * self.total
        worst = Fraction(1)
        head = Fraction(0)
        tail = 0
        for p, q in zip(self.p, self.q, strict=True):
            head, tail = head + p, tail + q
            if tail:
                worst = max(worst, (head - spare) / tail)
            elif head > spare:
                return math.inf
        return _coins.log_up(worst)

    def kullback_leibler(self) -> float:
        """Return the sum of p log(p / q), rounded up.

        If all ratios are near 1, the terms cancel: the sum is at least 2 / total, by Pinsker's inequality.
        """
        if self.q[0] == 0:
            return math.inf
        with decimal.localcontext(_coins.CONTEXT) as context:
            context.prec += 2 * len(str(self.total))
            terms = [p * (Decimal(p) / Decimal(q)).ln() for p, q in zip(self.p, self.q, strict=True) if p and p != q]
            error = sum(map(abs, terms), Decimal(0)).scaleb(20 - context.prec)  # more than that of the decimals
            return _coins.round_up((sum(terms, Decimal(0)) + error) / self.total)

    def conditional(self) -> float:
        """Return (sqrt R - 1) / (sqrt R + 1), rounded up, for the quotient R of the largest and the smallest ratio."""
        if self.q[0] == 0 or self.p[-1] == 0:
            return 1.0
        large, small = self.p[0] * self.q[-1], self.q[0] * self.p[-1]
        square = large * small << 2 * ROOT_BITS  # sqrt(R) = sqrt(large small) / small
        root = math.isqrt(square)
        root += root * root < square
        return _coins.round_up(Fraction(root - (small << ROOT_BITS), root + (small << ROOT_BITS)))


def _loss(p: int, q: int) -> float:
    return _coins.log_up(Fraction(p, q))
