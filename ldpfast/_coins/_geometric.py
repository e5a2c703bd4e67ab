"""Coins of geometric variables, whose differences are discrete Laplace noise."""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from ._rounding import CONTEXT, WIDE, epsilon_error, round_up

WeightGroup = tuple[int, ...]

GROUP_DIGITS = 5  # binary digits that are drawn together
MAX_DIGITS = 45  # the clamp of the reports' integers, 2^47, is then far out in the tails


@dataclass(frozen=True)
class GeometricCoins:
    """The coins of a geometric variable G = sum over groups j of 32^j v_j, plus a multiple of 2^digits.

    P(v_j = v) = groups[j][v] / 2^128, and the multiplier is the number of successive heads of a coin carry / 2^128.
    The rate a and the error eta (`geometric_error`) bound the loss. It is at most a t + min(d, t) eta for d coordinates
    whose integers differ by t steps in total, none by more than 2^digits.
    """

    digits: int
    groups: tuple[WeightGroup, ...]
    carry: int
    epsilon_realized: float

    def tables(self) -> list[tuple[list[int], list[int]]]:
        """Return the alias table of each group (`alias_table`)."""
        return [alias_table(weights) for weights in self.groups]

    @property
    def rate_and_error(self) -> tuple[Decimal, Decimal]:
        """The rate a at which the coin of the carry has no error, and the error eta for this rate, in decimals."""
        with decimal.localcontext(CONTEXT):
            rate = -(Decimal(self.carry) / (1 << 128)).ln() / (1 << self.digits)
            return rate, geometric_error(self.groups, self.carry, self.digits, 128, rate)

    @property
    def mean_and_variance(self) -> tuple[float, float]:
        """Mean and variance of the geometric variable G, from the integers."""
        q = self.carry / WIDE
        k = 2.0**self.digits
        mean, variance = k * q / (1 - q), k * k * q / (1 - q) ** 2
        for j, weights in enumerate(self.groups):
            p = [w / WIDE for w in weights]
            first = math.fsum(v * pv for v, pv in enumerate(p))
            second = math.fsum((v - first) ** 2 * pv for v, pv in enumerate(p))
            mean, variance = mean + 32.0**j * first, variance + 1024.0**j * second
        return mean, variance

    @property
    def noise_variance(self) -> float:
        """Variance of the noise N + 1/2, which has mean 0, in squared steps."""
        mean, variance = self.mean_and_variance
        return variance + (mean + 0.5) ** 2


def alias_table(weights: WeightGroup, width: int = 128) -> tuple[list[int], list[int]]:
    """Return thresholds and aliases that draw v with probability weights[v] / 2^width exactly (A. J. Walker, 1977).

    With n values, n a power of two, an index i is drawn uniformly, and v = i if a coin of width + 16 bits is below
    thresholds[i], else aliases[i]. The bits of the coin after the first width - log2(n) do not matter.
    """
    n = len(weights)
    capacity = (1 << width) // n
    left = list(weights)
    threshold = [0] * n
    alias = list(range(n))
    small, large = [v for v in range(n) if left[v] < capacity], [v for v in range(n) if left[v] > capacity]
    while small:
        v, other = small.pop(), large[-1]
        threshold[v], alias[v] = left[v], other
        left[other] -= capacity - left[v]
        if left[other] <= capacity:
            large.pop()
            if left[other] < capacity:
                small.append(other)
    return [t * n << 16 for t in threshold], alias  # a full column has itself as alias


def _log_ratio(ratio: Decimal) -> Decimal:
    """Return ln(ratio); near 1 by the first term, whose error is below the square of the distance from 1."""
    distance = ratio - 1
    return distance if abs(distance) < Decimal("1e-20") else ratio.ln()


def geometric_error(groups: tuple[WeightGroup, ...], carry: int, digits: int, width: int, rate: Decimal) -> Decimal:
    """Return eta, the total error of the logarithms of the weights of the groups and of the carry, against -a g.

    Of each group it counts the range of the errors of its values, of the carry the size of its error.
    """
    whole = Decimal(1 << width)
    total = abs(_log_ratio(Decimal(carry) / whole * (rate * (1 << digits)).exp()))
    for j, weights in enumerate(groups):
        step = (rate * (1 << GROUP_DIGITS * j)).exp()
        power = Decimal(1)
        errors = []
        for w in weights:
            errors.append(_log_ratio(Decimal(w) / Decimal(weights[0]) * power))
            power *= step
        total += max(errors) - min(errors) + Decimal("1e-39")
    return total


def geometric_integers(rate: Decimal, digits: int, width: int) -> tuple[tuple[WeightGroup, ...], int]:
    """Return weights of the groups, nearest to those of e^(-a g), and the integer nearest to 2^width e^(-a 2^digits)."""
    whole, groups = Decimal(1 << width), []
    for first in range(0, digits, GROUP_DIGITS):
        step, ideal = (-rate * (1 << first)).exp(), [Decimal(1)]
        while len(ideal) < 1 << min(GROUP_DIGITS, digits - first):
            ideal.append(ideal[-1] * step)
        factor = whole / sum(ideal)
        weights = [int((factor * p).to_integral_value()) for p in ideal]
        weights[0] += (1 << width) - sum(weights)
        groups.append(tuple(weights))
    return tuple(groups), int((whole * (-rate * (1 << digits)).exp()).to_integral_value())


@lru_cache(maxsize=64)
def geometric(epsilon: float, diameter: int, span: int, dim: int) -> GeometricCoins:
    """Return the coins of discrete Laplace noise for integer vectors with coordinates in [0, span] and l1 diameter D.

    epsilon_realized is a D + min(dim, D) eta, rounded up. The rate a is lowered until this is at most epsilon.
    """
    if span >= 1 << 31 or epsilon / diameter > 80:
        raise epsilon_error(epsilon, "too large for coins of 128 bits and the grid")
    with decimal.localcontext(CONTEXT):
        target, slack = Decimal(epsilon), Decimal(0)
        while True:
            rate = (target - slack) / diameter
            if rate <= 0:
                raise epsilon_error(epsilon, "too small for coins of 128 bits")
            digits = 1
            while rate * (1 << digits) < 24 or (1 << digits) < span:
                digits += 1
                if digits > MAX_DIGITS:
                    raise epsilon_error(epsilon, f"the noise would need more than {MAX_DIGITS} binary digits")
            groups, carry = geometric_integers(rate, digits, 128)
            if carry == 0 or any(0 in weights for weights in groups):
                raise epsilon_error(epsilon, "too large, a weight of 128 bits is rounded to zero")
            loss = rate * diameter + min(dim, diameter) * geometric_error(groups, carry, digits, 128, rate)
            if loss <= target:
                return GeometricCoins(digits, groups, carry, round_up(loss))
            slack += 2 * (loss - target)
