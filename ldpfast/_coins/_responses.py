"""Coins of responses: one bit, one of k symbols, a set of codes, one bit per category."""

from __future__ import annotations

import decimal
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial

from ._rounding import CONTEXT, WORD, certify, division, epsilon_error, short_if_close


@dataclass(frozen=True)
class BinaryCoin:
    """Heads with probability m / 2^bits > 1/2; the odds m / (2^bits - m) are at most e^epsilon."""

    heads: int
    bits: int
    epsilon_realized: float

    @property
    def tails(self) -> int:
        return (1 << self.bits) - self.heads

    @property
    def p(self) -> Fraction:
        return Fraction(self.heads, 1 << self.bits)


def _binary(epsilon: float, bits: int, e: Decimal) -> BinaryCoin:
    words = 1 << bits
    if not e + 1 <= words:
        raise epsilon_error(epsilon, f"too large for a coin of {bits} bits, at most ln(2^64 - 1) = 44.36")
    heads = int((words * e / (e + 1)).to_integral_value(decimal.ROUND_FLOOR))
    return BinaryCoin(heads, bits, certify(epsilon, Fraction(heads, words - heads), e))


@lru_cache(maxsize=256)
def binary(epsilon: float, *, short: bool = False) -> BinaryCoin:
    """Return the coin of one bit: m = floor(2^64 E / (E + 1)), E = e^epsilon.

    With `short` it has 32 bits if they cost at most 1e-5 of epsilon.
    """
    with decimal.localcontext(CONTEXT):
        e = Decimal(epsilon).exp() if epsilon < 100 else Decimal("Infinity")
        return short_if_close(epsilon, lambda bits: _binary(epsilon, bits, e)) if short else _binary(epsilon, 64, e)


@dataclass(frozen=True)
class ResponseCoin:
    """The coin of k-ary response.

    The true symbol is reported for `keep` of the 2^bits random words, every other symbol for `words_per_symbol`. The
    kernel reports the true symbol for the first keep - words_per_symbol words, and divides the others into k equal parts.
    """

    k: int
    bits: int
    keep: int
    words_per_symbol: int
    epsilon_realized: float

    @property
    def p(self) -> Fraction:
        return Fraction(self.keep, 1 << self.bits)

    @property
    def q(self) -> Fraction:
        return Fraction(self.words_per_symbol, 1 << self.bits)

    @property
    def shift(self) -> int:
        """Shift after the multiplication by `reciprocal`, for 32 bits."""
        return division(self.words_per_symbol)[1] if self.bits == 32 else 0

    @property
    def reciprocal(self) -> int:
        """Factor that replaces the division by `words_per_symbol`: exact for 32 bits, else too small by at most one."""
        if self.bits == 32:
            return division(self.words_per_symbol)[0]
        return min((1 << self.bits) // self.words_per_symbol, (1 << self.bits) - 1)


def _response(k: int, epsilon: float, bits: int, e: Decimal) -> ResponseCoin:
    words = 1 << bits
    ideal = int((words * e / (e + k - 1)).to_integral_value(decimal.ROUND_FLOOR))
    words_per_symbol = -(-(words - ideal) // (k - 1))  # rounded up: k - 1 divides the remaining words, and p decreases
    if bits == 32:
        words_per_symbol = max(4, words_per_symbol + words_per_symbol % 2)  # even, for the exact division of the kernel
    keep = words - words_per_symbol * (k - 1)
    if keep <= 0:
        raise epsilon_error(epsilon, f"too small, a word of {bits} bits cannot be divided among k={k} symbols")
    return ResponseCoin(k, bits, keep, words_per_symbol, certify(epsilon, Fraction(keep, words_per_symbol), e))


@lru_cache(maxsize=256)
def response(k: int, epsilon: float, *, wide: bool = False) -> ResponseCoin:
    """Return the coin of k-ary response.

    It has 32 bits if k <= 256 and they cost at most 1e-5 of epsilon, else 64 bits. `wide` selects 64 bits.
    """
    with decimal.localcontext(CONTEXT):
        e = Decimal(epsilon).exp() if epsilon < 100 else Decimal("Infinity")
        if not e + k - 1 <= WORD:
            raise epsilon_error(epsilon, f"too large for a word of 64 bits and k={k}, at most ln(2^64 - k + 1)")
        if k > 256 or wide:
            return _response(k, epsilon, 64, e)
        return short_if_close(epsilon, lambda bits: _response(k, epsilon, bits, e))


@dataclass(frozen=True)
class SetCoin:
    """The coin of a report that is uniform in a set S of `size` of `outputs` codes, else uniform among the other codes.

    The report is in S with probability heads / 2^bits.
    """

    heads: int
    bits: int
    size: int
    outputs: int
    epsilon_realized: float

    @property
    def inside(self) -> Fraction:
        """Probability of each code in S."""
        return Fraction(self.heads, self.size << self.bits)

    @property
    def outside(self) -> Fraction:
        """Probability of each other code."""
        return Fraction((1 << self.bits) - self.heads, (self.outputs - self.size) << self.bits)


def _set(epsilon: float, size: int, outputs: int, bits: int, e: Decimal) -> SetCoin:
    words = 1 << bits
    if not e * size <= (words - 1) * (outputs - size):
        raise epsilon_error(epsilon, f"too large for a coin of {bits} bits")
    heads = int((words * e * size / (e * size + outputs - size)).to_integral_value(decimal.ROUND_FLOOR))
    ratio = Fraction(heads * (outputs - size), (words - heads) * size)
    return SetCoin(heads, bits, size, outputs, certify(epsilon, ratio, e))


@lru_cache(maxsize=1024)
def of_set(epsilon: float, size: int, outputs: int, *, shorter: tuple[int, ...] = ()) -> SetCoin:
    """Return the coin of a report in a set: m = floor(2^64 E s / (E s + K - s)) with E = e^epsilon, s = size, K = outputs.

    It has the first of the numbers of bits `shorter` that costs at most 1e-5 of epsilon.
    """
    with decimal.localcontext(CONTEXT):
        e = Decimal(epsilon).exp() if epsilon < 10**5 else Decimal("Infinity")
        make = partial(_set, epsilon, size, outputs, e=e)
        return short_if_close(epsilon, lambda bits: make(bits=bits), shorter)


@dataclass(frozen=True)
class UnaryCoins:
    """The coins of unary encoding: P(1 | 1) = own / 2^64 and P(1 | 0) = other / 2^64."""

    own: int
    other: int
    epsilon_realized: float

    @property
    def p(self) -> Fraction:
        return Fraction(self.own, WORD)

    @property
    def q(self) -> Fraction:
        return Fraction(self.other, WORD)


@lru_cache(maxsize=256)
def unary(epsilon: float, optimized: bool) -> UnaryCoins:
    """Return the coins of unary encoding.

    The codes of two categories differ in two bits, so each bit of the symmetric code has epsilon / 2. The optimized code
    keeps a one by a fair coin and flips a zero with probability ceil(2^64 / (E + 1)) / 2^64.
    """
    with decimal.localcontext(CONTEXT):
        e = Decimal(epsilon).exp() if epsilon < 200 else Decimal("Infinity")
        if optimized:
            if not e + 1 <= WORD:
                raise epsilon_error(epsilon, "too large for a coin of 64 bits, at most ln(2^64 - 1) = 44.36")
            other = int((WORD / (e + 1)).to_integral_value(decimal.ROUND_CEILING))
            return UnaryCoins(WORD // 2, other, certify(epsilon, Fraction(WORD - other, other), e))
        root = (Decimal(epsilon) / 2).exp() if epsilon < 200 else e
        if not root + 1 <= WORD:
            raise epsilon_error(epsilon, "too large for two coins of 64 bits, at most 2 ln(2^64 - 1) = 88.72")
        own = int((WORD * root / (root + 1)).to_integral_value(decimal.ROUND_FLOOR))
        return UnaryCoins(own, WORD - own, certify(epsilon, Fraction(own, WORD - own) ** 2, e))
