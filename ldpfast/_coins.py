"""The integers of the coins, which turn a real epsilon into an exact guarantee.

A coin is a Bernoulli draw with probability m / 2^b, defined by the integer threshold m. m is computed from the exact
value of the double epsilon with decimals of 100 digits, rounded toward more privacy, and checked again in the same
arithmetic. `epsilon_realized` is the logarithm of the ratio of the integers, rounded up to a double. `ValueError` is
raised if the coin cannot certify epsilon, or if rounding would remove the signal.
"""

from __future__ import annotations

import decimal
import math
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial
from typing import Protocol, TypeVar

CONTEXT = decimal.Context(prec=100, rounding=decimal.ROUND_HALF_EVEN, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
WORD = 1 << 64
WIDE = 1 << 128
NEAR = Fraction(1, 10**20)  # distance from 1 of a ratio whose logarithm and distance agree in 20 digits


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


def _epsilon_error(epsilon: float, reason: str) -> ValueError:
    return ValueError(f"epsilon must be within what exact coins can certify, got {epsilon!r}: {reason}")


def _certify(epsilon: float, ratio: Fraction, allowed: Decimal) -> float:
    """Return epsilon_realized = ln ratio, after a check that 1 < ratio <= e^epsilon (`allowed`)."""
    if ratio <= 1:
        raise _epsilon_error(epsilon, "too small, the rounded coin carries no signal")
    if Decimal(ratio.numerator) > allowed * Decimal(ratio.denominator):
        raise AssertionError("a coin was rounded the wrong way")  # pragma: no cover
    return log_up(ratio)


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
        raise _epsilon_error(epsilon, f"too large for a coin of {bits} bits, at most ln(2^64 - 1) = 44.36")
    heads = int((words * e / (e + 1)).to_integral_value(decimal.ROUND_FLOOR))
    return BinaryCoin(heads, bits, _certify(epsilon, Fraction(heads, words - heads), e))


def _short_if_close(epsilon: float, make: Callable[[int], Coin], shorter: tuple[int, ...] = (32,)) -> Coin:
    """Return the first coin of fewer bits that exists and costs at most 1e-5 of epsilon, else that of 64 bits."""
    for bits in shorter:
        try:
            short = make(bits)
        except ValueError:
            continue
        if epsilon - short.epsilon_realized <= 1e-5 * epsilon:
            return short
    return make(64)


@lru_cache(maxsize=256)
def binary(epsilon: float, *, short: bool = False) -> BinaryCoin:
    """Return the coin of one bit: m = floor(2^64 E / (E + 1)), E = e^epsilon.

    With `short` it has 32 bits if they cost at most 1e-5 of epsilon.
    """
    with decimal.localcontext(CONTEXT):
        e = Decimal(epsilon).exp() if epsilon < 100 else Decimal("Infinity")
        return _short_if_close(epsilon, lambda bits: _binary(epsilon, bits, e)) if short else _binary(epsilon, 64, e)


def _division(divisor: int) -> tuple[int, int]:
    """Return the factor and the shift that replace the division of 32-bit words by an even number of at least 4, exactly.

    The quotient is floor(floor(v / 2) factor / 2^(32 + shift)).
    """
    shift = (divisor // 2 - 1).bit_length() - 1
    return -((-1 << 32 + shift) // (divisor // 2)), shift


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
        return _division(self.words_per_symbol)[1] if self.bits == 32 else 0

    @property
    def reciprocal(self) -> int:
        """Factor that replaces the division by `words_per_symbol`: exact for 32 bits, else too small by at most one."""
        if self.bits == 32:
            return _division(self.words_per_symbol)[0]
        return min((1 << self.bits) // self.words_per_symbol, (1 << self.bits) - 1)


def _response(k: int, epsilon: float, bits: int, e: Decimal) -> ResponseCoin:
    words = 1 << bits
    ideal = int((words * e / (e + k - 1)).to_integral_value(decimal.ROUND_FLOOR))
    words_per_symbol = -(-(words - ideal) // (k - 1))  # rounded up: k - 1 divides the remaining words, and p decreases
    if bits == 32:
        words_per_symbol = max(4, words_per_symbol + words_per_symbol % 2)  # even, for the exact division of the kernel
    keep = words - words_per_symbol * (k - 1)
    if keep <= 0:
        raise _epsilon_error(epsilon, f"too small, a word of {bits} bits cannot be divided among k={k} symbols")
    return ResponseCoin(k, bits, keep, words_per_symbol, _certify(epsilon, Fraction(keep, words_per_symbol), e))


@lru_cache(maxsize=256)
def response(k: int, epsilon: float, *, wide: bool = False) -> ResponseCoin:
    """Return the coin of k-ary response.

    It has 32 bits if k <= 256 and they cost at most 1e-5 of epsilon, else 64 bits. `wide` selects 64 bits.
    """
    with decimal.localcontext(CONTEXT):
        e = Decimal(epsilon).exp() if epsilon < 100 else Decimal("Infinity")
        if not e + k - 1 <= WORD:
            raise _epsilon_error(epsilon, f"too large for a word of 64 bits and k={k}, at most ln(2^64 - k + 1)")
        if k > 256 or wide:
            return _response(k, epsilon, 64, e)
        return _short_if_close(epsilon, lambda bits: _response(k, epsilon, bits, e))


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
        raise _epsilon_error(epsilon, f"too large for a coin of {bits} bits")
    heads = int((words * e * size / (e * size + outputs - size)).to_integral_value(decimal.ROUND_FLOOR))
    ratio = Fraction(heads * (outputs - size), (words - heads) * size)
    return SetCoin(heads, bits, size, outputs, _certify(epsilon, ratio, e))


@lru_cache(maxsize=1024)
def of_set(epsilon: float, size: int, outputs: int, *, shorter: tuple[int, ...] = ()) -> SetCoin:
    """Return the coin of a report in a set: m = floor(2^64 E s / (E s + K - s)) with E = e^epsilon, s = size, K = outputs.

    It has the first of the numbers of bits `shorter` that costs at most 1e-5 of epsilon.
    """
    with decimal.localcontext(CONTEXT):
        e = Decimal(epsilon).exp() if epsilon < 10**5 else Decimal("Infinity")
        make = partial(_set, epsilon, size, outputs, e=e)
        return _short_if_close(epsilon, lambda bits: make(bits=bits), shorter)


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

    @property
    def outputs(self) -> int:
        return self.steps + self.width

    @property
    def bit_words(self) -> int:
        return self.heads + self.tails

    @property
    def each_division(self) -> tuple[int, int]:
        """Factor and shift that replace the division by `each`."""
        return _division(self.each)

    @property
    def per_division(self) -> tuple[int, int]:
        """Factor and shift that replace the division by `per`."""
        return _division(self.per)


@lru_cache(maxsize=256)
def window(epsilon: float, steps: int, width: int, mixed: Fraction) -> WindowCoin:
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
                raise _epsilon_error(epsilon, f"a word of 32 bits cannot be divided into windows of {width} codes")
        else:
            per = int((each * (e - 1)).to_integral_value(decimal.ROUND_FLOOR))
            per -= per % 2
        if per < 4:
            raise _epsilon_error(epsilon, "too small for words of 32 bits")
        bit_words = words - outputs * each - width * per
        heads = int((bit_words * e / (e + 1)).to_integral_value(decimal.ROUND_FLOOR))
        tails = bit_words - heads
        if mixed and tails < 1:
            raise _epsilon_error(epsilon, "too large for words of 32 bits")
        ratio = max(Fraction(each + per, each), Fraction(heads, tails) if mixed else Fraction(0))
        return WindowCoin(steps, width, each, per, heads, tails, _certify(epsilon, ratio, e))


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
                raise _epsilon_error(epsilon, "too large for a coin of 64 bits, at most ln(2^64 - 1) = 44.36")
            other = int((WORD / (e + 1)).to_integral_value(decimal.ROUND_CEILING))
            return UnaryCoins(WORD // 2, other, _certify(epsilon, Fraction(WORD - other, other), e))
        root = (Decimal(epsilon) / 2).exp() if epsilon < 200 else e
        if not root + 1 <= WORD:
            raise _epsilon_error(epsilon, "too large for two coins of 64 bits, at most 2 ln(2^64 - 1) = 88.72")
        own = int((WORD * root / (root + 1)).to_integral_value(decimal.ROUND_FLOOR))
        return UnaryCoins(own, WORD - own, _certify(epsilon, Fraction(own, WORD - own) ** 2, e))


Group = tuple[int, ...]

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
    groups: tuple[Group, ...]
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


def alias_table(weights: Group, width: int = 128) -> tuple[list[int], list[int]]:
    """Return thresholds and aliases that draw v with probability weights[v] / 2^width exactly (A. J. Walker, 1977).

    With n values, n a power of two, an index i is drawn uniformly, and v = i if a coin of width + 16 bits is below
    thresholds[i], else aliases[i]. The bits of the coin after the first width - log2(n) do not matter.
    """
    n = len(weights)
    capacity = (1 << width) // n
    left, threshold, alias = list(weights), [0] * n, list(range(n))
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


def geometric_error(groups: tuple[Group, ...], carry: int, digits: int, width: int, rate: Decimal) -> Decimal:
    """Return eta, the total error of the logarithms of the weights of the groups and of the carry, against -a g.

    Of each group it counts the range of the errors of its values, of the carry the size of its error.
    """
    whole = Decimal(1 << width)
    total = abs(_log_ratio(Decimal(carry) / whole * (rate * (1 << digits)).exp()))
    for j, weights in enumerate(groups):
        step, power, errors = (rate * (1 << GROUP_DIGITS * j)).exp(), Decimal(1), []
        for w in weights:
            errors.append(_log_ratio(Decimal(w) / Decimal(weights[0]) * power))
            power *= step
        total += max(errors) - min(errors) + Decimal("1e-39")
    return total


def geometric_integers(rate: Decimal, digits: int, width: int) -> tuple[tuple[Group, ...], int]:
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
        raise _epsilon_error(epsilon, "too large for coins of 128 bits and the grid")
    with decimal.localcontext(CONTEXT):
        target, slack = Decimal(epsilon), Decimal(0)
        while True:
            rate = (target - slack) / diameter
            if rate <= 0:
                raise _epsilon_error(epsilon, "too small for coins of 128 bits")
            digits = 1
            while rate * (1 << digits) < 24 or (1 << digits) < span:
                digits += 1
                if digits > MAX_DIGITS:
                    raise _epsilon_error(epsilon, f"the noise would need more than {MAX_DIGITS} binary digits")
            groups, carry = geometric_integers(rate, digits, 128)
            if carry == 0 or any(0 in weights for weights in groups):
                raise _epsilon_error(epsilon, "too large, a weight of 128 bits is rounded to zero")
            loss = rate * diameter + min(dim, diameter) * geometric_error(groups, carry, digits, 128, rate)
            if loss <= target:
                return GeometricCoins(digits, groups, carry, round_up(loss))
            slack += 2 * (loss - target)
