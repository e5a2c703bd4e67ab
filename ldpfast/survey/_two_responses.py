"""Two k-ary responses, one applied to the result of the other."""

from __future__ import annotations

import decimal
from decimal import Decimal
from fractions import Fraction

from .. import _coins
from ..mechanisms import RandomizedResponse


def product(first: RandomizedResponse, second: RandomizedResponse) -> tuple[Fraction, Fraction]:
    """Return the probabilities of the true symbol and of each other one after both responses."""
    k, a, b = first.k, first._coin, second._coin
    keep = a.p * b.p + (k - 1) * a.q * b.q
    return keep, (1 - keep) / (k - 1)


def second_response(first: RandomizedResponse, epsilon: float) -> RandomizedResponse:
    """Return the response with the largest epsilon, up to rounding, for which both together have a loss of at most epsilon."""
    with decimal.localcontext(_coins.CONTEXT):
        most = Decimal(epsilon).exp()

    def fits(candidate: float) -> bool:
        keep, other = product(first, RandomizedResponse(first.k, candidate))
        ratio = keep / other
        with decimal.localcontext(_coins.CONTEXT):
            return Decimal(ratio.numerator) <= most * Decimal(ratio.denominator)

    low, high = epsilon, epsilon  # the second response alone has a loss of at most epsilon
    while high < 40 and fits(high):
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return RandomizedResponse(first.k, low)
