"""Rounding of integers and logarithms, with the check that no coin exceeds its epsilon."""

from __future__ import annotations

import decimal
import math
import sys
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Protocol, TypeVar

CONTEXT = decimal.Context(prec=100, rounding=decimal.ROUND_HALF_EVEN, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
WORD = 1 << 64
WIDE = 1 << 128
NEAR = Fraction(1, 10**20)  # distance from 1 of a ratio whose logarithm and distance agree in 20 digits


def exp_up(x: Fraction) -> Fraction:
    """Return a number that is at least e^x and at most x^2 larger, for x in [0, 1]."""
    return 1 + x * (1 + x)


def round_up(x: Decimal | Fraction) -> float:
    """Return the smallest double that is not below x."""
    nearest = float(x)
    return math.nextafter(nearest, math.inf) if type(x)(nearest) < x else nearest


def sum_up(values: Iterable[float | Fraction]) -> float:
    """Return the smallest double that is not below the exact sum, which can be infinity."""
    exact = sum((Fraction(v) for v in values), Fraction())
    return math.inf if exact > Fraction(sys.float_info.max) else round_up(exact)


def log_up(ratio: Fraction) -> float:
    """Return ln(ratio), rounded up to a double."""
    distance = ratio - 1
    if abs(distance) < NEAR:  # 100 digits of a ratio near 1 are few of its logarithm, which is below the distance
        return round_up(distance)
    with decimal.localcontext(CONTEXT):
        return round_up((Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln())


class _Realized(Protocol):
    @property
    def epsilon_realized(self) -> float: ...


Coin = TypeVar("Coin", bound=_Realized)


def epsilon_error(epsilon: float, reason: str) -> ValueError:
    return ValueError(f"epsilon must be within what exact coins can certify, got {epsilon!r}: {reason}")


def certify(epsilon: float, ratio: Fraction, allowed: Decimal) -> float:
    """Return epsilon_realized = ln ratio, after a check that 1 < ratio <= e^epsilon (`allowed`)."""
    if ratio <= 1:
        raise epsilon_error(epsilon, "too small, the rounded coin carries no signal")
    if Decimal(ratio.numerator) > allowed * Decimal(ratio.denominator):
        raise AssertionError("a coin was rounded the wrong way")  # pragma: no cover
    return log_up(ratio)


def short_if_close(epsilon: float, make: Callable[[int], Coin], shorter: tuple[int, ...] = (32,)) -> Coin:
    """Return the first coin of fewer bits that exists and costs at most 1e-5 of epsilon, else that of 64 bits."""
    for bits in shorter:
        try:
            short = make(bits)
        except ValueError:
            continue
        if epsilon - short.epsilon_realized <= 1e-5 * epsilon:
            return short
    return make(64)


def division(divisor: int) -> tuple[int, int]:
    """Return the factor and the shift that replace the division of 32-bit words by an even number of at least 4, exactly.

    The quotient is floor(floor(v / 2) factor / 2^(32 + shift)).
    """
    shift = (divisor // 2 - 1).bit_length() - 1
    return -((-1 << 32 + shift) // (divisor // 2)), shift
