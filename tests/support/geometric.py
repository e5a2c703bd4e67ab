"""Error of the coins of geometric noise, in the current decimal context."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from .exact import exact_log
from .internals.shared import GeometricCoins


def rate_and_error(coins: GeometricCoins) -> tuple[Decimal, Decimal]:
    """Return the rate a of the carry coin, and the total range of the errors of the logarithms of weights against -a v 32^j."""
    rate, total = -exact_log(Fraction(coins.carry, 1 << 128)) / (1 << coins.digits), Decimal(0)
    for j, weights in enumerate(coins.groups):
        errors = [exact_log(Fraction(w, 1 << 128)) + rate * v * 32**j for v, w in enumerate(weights)]
        total += max(errors) - min(errors)
    return rate, total
