"""Integers of the ranked signs: signs whose sum over given weights reaches a limit are more probable than the others."""

from __future__ import annotations

import decimal
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

from ._rounding import CONTEXT, WORD, certify, epsilon_error, exp_up

ERROR_BITS = 192  # of the fractions in which errors of rounding are added up, upward


@dataclass(frozen=True)
class SubsetSampler:
    """Integers that draw a uniform subset of `sizes` whose sum is at least a limit, one member after the other, from the last.

    `counts[i][k]` is the number of subsets of the first i sizes whose sum is at least k. `words[i][k]` is the number of words
    of 64 bits for which size i is a member if the sum of the first i + 1 sizes must still reach k. For each limit, `above`
    and `below` bound the logarithm of the ratio of the largest probability of a subset to that of a uniform one, and of the
    latter to the smallest, in units of 2^-192.
    """

    sizes: tuple[int, ...]
    counts: list[list[int]]
    words: list[list[int]]
    above: list[int]
    below: list[int]


@lru_cache(maxsize=64)
def subset_sampler(sizes: tuple[int, ...]) -> SubsetSampler:
    """Return the integers of a sampler of subsets, with the bounds of its errors."""
    counts, words = [[1]], []
    above, below = [0], [0]
    for size, total in zip(sizes, accumulate(sizes), strict=True):
        before = counts[-1]
        counts.append([_at(before, k) + before[max(k - size, 0)] for k in range(total + 1)])
        row = []
        higher = []
        lower = []
        for k, patterns in enumerate(counts[-1]):
            without, member = _at(before, k), before[max(k - size, 0)]
            heads = min(max((member << 64) // patterns, 1), WORD - 1) if without else WORD
            row.append(heads)
            following = max(k - size, 0)
            up, down = _errors(heads * patterns, member << 64)
            largest, smallest = up + above[following], down + below[following]
            if without:
                up, down = _errors((WORD - heads) * patterns, without << 64)
                largest, smallest = max(largest, up + above[k]), max(smallest, down + below[k])
            higher.append(largest)
            lower.append(smallest)
        words.append(row)
        above, below = higher, lower
    return SubsetSampler(sizes, counts, words, above, below)


def _at(counts: list[int], k: int) -> int:
    return counts[k] if k < len(counts) else 0


def _errors(found: int, exact: int) -> tuple[int, int]:
    """Return upper bounds of ln(found / exact) and of ln(exact / found), at least 0."""
    if found >= exact:
        return -(((exact - found) << ERROR_BITS) // exact), 0
    return 0, -(((found - exact) << ERROR_BITS) // found)


@dataclass(frozen=True)
class RankedSignsCoin:
    """The coin of ranked signs.

    A pattern of signs agrees with some of the weights. With probability heads / 2^64, the sizes of these weights
    sum to at least `least`. `ratio` is an upper bound of the ratio of the probabilities of two patterns.
    """

    weights: tuple[int, ...]
    least: int
    heads: int
    ratio: Fraction
    epsilon_realized: float

    @property
    def patterns(self) -> int:
        """Number of all patterns of signs."""
        return 1 << len(self.weights)

    @property
    def inside(self) -> int:
        """Number of subsets with a sum of at least `least`."""
        return sampler_of(self.weights).counts[-1][self.least]


def sampler_of(weights: tuple[int, ...]) -> SubsetSampler:
    """Return the sampler of the absolute weights, the smallest first, which keeps its tables short."""
    return subset_sampler(tuple(sorted(abs(weight) for weight in weights)))


def ranked_signs(epsilon: float, weights: tuple[int, ...], least: int) -> RankedSignsCoin:
    """Return the coin for a limit of the sums.

    The loss adds up the coin and the rounding of two samplers. One draws members with a sum of at least `least`. The
    other draws the sizes that are not members: their sum is at least the total plus 1 minus `least`.
    """
    sampler, patterns = sampler_of(weights), 1 << len(weights)
    inside, other = sampler.counts[-1][least], sum(sampler.sizes) + 1 - least
    above, below = (max(bounds[least], bounds[other]) for bounds in (sampler.above, sampler.below))
    error = Fraction(above + below, 1 << ERROR_BITS)
    rounding = exp_up(error)
    with decimal.localcontext(CONTEXT):
        e = Decimal(epsilon).exp() if epsilon < 10**5 else Decimal("Infinity")
        allowed = e * rounding.denominator / rounding.numerator
        if not allowed * inside <= (WORD - 1) * (patterns - inside):
            raise epsilon_error(epsilon, "too large for a coin of 64 bits")
        heads = int(
            (WORD * allowed * inside / (allowed * inside + patterns - inside)).to_integral_value(decimal.ROUND_FLOOR)
        )
        ratio = Fraction(heads * (patterns - inside), (WORD - heads) * inside)
        if ratio <= 1:
            raise epsilon_error(epsilon, "too small, the rounded coin carries no signal")
        ratio *= rounding
        return RankedSignsCoin(weights, least, heads, ratio, certify(epsilon, ratio, e))
