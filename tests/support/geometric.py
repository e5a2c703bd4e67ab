"""Error of the coins of geometric noise, in the current decimal context."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from .exact import exact_log


def rate_and_error(digits: Sequence[int], carry: int) -> tuple[Decimal, Decimal]:
    """Return the rate a of the carry coin, and the total error of the log-odds of the digit coins against a 2^j."""
    rate = -exact_log(Fraction(carry, 1 << 128)) / (1 << len(digits))
    errors = (abs(exact_log(Fraction(m, (1 << 128) - m)) + rate * (1 << j)) for j, m in enumerate(digits))
    return rate, sum(errors, Decimal(0))
