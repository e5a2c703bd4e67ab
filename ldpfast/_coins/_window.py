"""Coins of the window mechanism."""

from __future__ import annotations

import decimal
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from ._rounding import CONTEXT, WORD, certify, division, epsilon_error


@dataclass(frozen=True)
class WindowCoin:
    """The integers of the window mechanism for inputs 0, ..., steps, mixed with one bit.

    Of the 2^32 words, `heads` + `tails` give one of two codes for the bit, and the others one of steps + width codes: each of
    these has `each` words, and each of the `width` codes of the window of the input has `per` more.
    """

    steps: int
    width: int
    each: int
    per: int
    heads: int
    tails: int
    epsilon_realized: float
    values: tuple[int, ...] | None = (
        None  # integers in proportion to the decoded codes, if these are not equally spaced
    )

    @property
    def outputs(self) -> int:
        return self.steps + self.width

    @property
    def fraction_bits(self) -> int:
        """Number of the low bits of a position, an integer of 32 bits, that are a fraction."""
        return 32 - self.steps.bit_length()

    @property
    def bit_words(self) -> int:
        return self.heads + self.tails

    @property
    def each_division(self) -> tuple[int, int]:
        """Factor and shift that replace the division by `each`."""
        return division(self.each)

    @property
    def per_division(self) -> tuple[int, int]:
        """Factor and shift that replace the division by `per`."""
        return division(self.per)


@lru_cache(maxsize=256)
def window(
    epsilon: float, steps: int, width: int, mixed: Fraction, values: tuple[int, ...] | None = None
) -> WindowCoin:
    """Return the coin of the window mechanism, where the bit has about the share `mixed` of all words.

    If `mixed` is 0, there is no bit, and the words are divided exactly. That needs a greatest common divisor of steps and
    width that is a power of two.
    """
    words, outputs = 1 << 32, steps + width
    with decimal.localcontext(CONTEXT):
        e = Decimal(epsilon).exp() if epsilon < 100 else Decimal(WORD)
        share = 1 - Decimal(mixed.numerator) / Decimal(mixed.denominator)
        each = int((words * share / (outputs + (e - 1) * width)).to_integral_value(decimal.ROUND_FLOOR))
        each = max(4, each - each % 2)  # even, for the exact division of the kernel
        if mixed == 0:
            for _ in range(2 * width + 1):  # more words for each code: less epsilon
                per, rest = divmod(words - outputs * each, width)
                if rest == 0 and per % 2 == 0 and each + per <= each * e:
                    break
                each += 2
            else:
                raise epsilon_error(epsilon, f"a word of 32 bits cannot be divided into windows of {width} codes")
        else:
            per = int((each * (e - 1)).to_integral_value(decimal.ROUND_FLOOR))
            per -= per % 2
        if per < 4:
            raise epsilon_error(epsilon, "too small for words of 32 bits")
        bit_words = words - outputs * each - width * per
        heads = int((bit_words * e / (e + 1)).to_integral_value(decimal.ROUND_FLOOR))
        tails = bit_words - heads
        if mixed and tails < 1:
            raise epsilon_error(epsilon, "too large for words of 32 bits")
        ratio = max(Fraction(each + per, each), Fraction(heads, tails) if mixed else Fraction(0))
        return WindowCoin(steps, width, each, per, heads, tails, certify(epsilon, ratio, e), values)
