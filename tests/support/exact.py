"""Exact arithmetic."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache


def least_double_not_below(exact):
    """Return the smallest double that is not below a Fraction or a Decimal."""
    nearest = float(exact)
    return math.nextafter(nearest, math.inf) if Fraction(nearest) < Fraction(exact) else nearest


@cache
def exact_log(ratio):
    """Return the logarithm of a Fraction, with 200 digits."""
    with localcontext() as context:
        context.prec = 200
        return (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()
