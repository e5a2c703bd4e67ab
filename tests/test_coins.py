"""The integers of the coins: as large as epsilon allows, not one unit larger, and compared as the proofs say."""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ldpfast as ldp
from ldpfast import _coins
from ldpfast._core import codes, halfspace, stream

from .support import reference

EPSILONS = [1e-6, 1e-3, 0.1, 0.5, 1.0, math.log(3), 2.0, 5.0, 10.0, 20.0, 40.0]
PRECISE = Context(prec=150)
KEY = bytes(range(32))


def at_most(ratio: Fraction, epsilon: float, times: int = 1) -> bool:
    """ratio <= e^(times * epsilon), for the exact value of the double."""
    with localcontext(PRECISE):
        return Decimal(ratio.numerator) <= Decimal(ratio.denominator) * (Decimal(epsilon) * times).exp()


def is_log_rounded_up(value: float, ratio: Fraction) -> bool:
    """value is the least double that is not below ln(ratio)."""
    with localcontext(PRECISE):
        exact = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()
        return Decimal(math.nextafter(value, 0)) < exact <= Decimal(value)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_binary_coin_is_the_largest_allowed(epsilon):
    coin = _coins.binary(epsilon)
    m, whole = coin.heads, 1 << 64
    assert at_most(Fraction(m, whole - m), epsilon)
    assert not at_most(Fraction(m + 1, whole - m - 1), epsilon)
    assert is_log_rounded_up(coin.epsilon_realized, Fraction(m, whole - m))
    assert coin.epsilon_realized <= epsilon


@pytest.mark.parametrize("k", [2, 3, 5, 128, 256, 257, 70_000])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_response_coin_is_the_largest_allowed(k, epsilon):
    coin = _coins.response(k, epsilon)
    assert coin.keep + (k - 1) * coin.share == 1 << coin.bits
    assert at_most(Fraction(coin.keep, coin.share), epsilon)
    # One word less for every other symbol, k - 1 more for the truth, would be too much.
    assert coin.share == 1 or not at_most(Fraction(coin.keep + k - 1, coin.share - 1), epsilon)
    assert is_log_rounded_up(coin.epsilon_realized, Fraction(coin.keep, coin.share))
    assert coin.epsilon_realized <= epsilon
    if coin.bits == 32:
        assert k <= 256
        assert epsilon - coin.epsilon_realized <= 1e-5 * epsilon
    assert coin.reciprocal == min((1 << coin.bits) // coin.share, (1 << coin.bits) - 1)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_symmetric_unary_coin_is_the_largest_allowed(epsilon):
    coin = _coins.unary(epsilon, optimized=False)
    assert coin.own + coin.other == 1 << 64
    assert at_most(Fraction(coin.own, coin.other) ** 2, epsilon)
    assert not at_most(Fraction(coin.own + 1, coin.other - 1) ** 2, epsilon)
    assert is_log_rounded_up(coin.epsilon_realized, Fraction(coin.own, coin.other) ** 2)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_optimized_unary_coin_is_the_smallest_allowed(epsilon):
    coin = _coins.unary(epsilon, optimized=True)
    whole = 1 << 64
    assert coin.own == whole // 2
    assert at_most(Fraction(whole - coin.other, coin.other), epsilon)
    assert not at_most(Fraction(whole - coin.other + 1, coin.other - 1), epsilon)
    assert is_log_rounded_up(coin.epsilon_realized, Fraction(whole - coin.other, coin.other))


@settings(max_examples=200, deadline=None)
@given(st.floats(1e-12, 44.0), st.integers(2, 10**6))
def test_realised_never_exceeds_asked(epsilon, k):
    for make in (
        lambda: _coins.binary(epsilon),
        lambda: _coins.response(k, epsilon),
        lambda: _coins.unary(epsilon, True),
        lambda: _coins.unary(epsilon, False),
    ):
        try:
            coin = make()
        except ValueError:  # refused: cannot be certified
            continue
        assert 0 < coin.epsilon_realized <= epsilon


@pytest.mark.parametrize("epsilon", [1e-20, 44.37, 50.0, 800.0])
def test_coins_that_cannot_certify_are_refused(epsilon):
    for make in (_coins.binary, lambda e: _coins.response(3, e), lambda e: _coins.unary(e, True)):
        with pytest.raises(ValueError, match="epsilon must be within what exact coins can certify"):
            make(epsilon)


@pytest.mark.parametrize("epsilon", [44.3614, 44.0])
def test_largest_coins_work(epsilon):
    """The share of the lie is one or two words: the division by reciprocal still holds."""
    warner = ldp.Warner(epsilon)
    assert warner.privatize(np.ones(5000, np.uint8), rng=1).all()


class FakeCoin:
    """A response coin with any integers: keep is put right at, or above, a word that is known to come."""

    def __init__(self, k, bits, keep):
        self.k, self.bits, self.keep = k, bits, keep
        self.share = ((1 << bits) - keep) // (k - 1)
        self.reciprocal = min((1 << bits) // self.share, (1 << bits) - 1)


def known_words(purpose, dtype, count=16):
    out = np.empty(1024, np.uint8)
    stream.raw(KEY, purpose, 0, out)
    return [int(word) for word in out.view(dtype)[:count]]


@pytest.mark.parametrize(
    "k, bits, dtype", [(2, 64, "u1"), (3, 64, "u1"), (2, 32, "u1"), (3, 32, "u1"), (300, 64, "u2"), (70_000, 64, "u4")]
)
def test_a_response_is_kept_up_to_the_last_unit(isa, k, bits, dtype):
    """keep = word: a lie. keep = word + 1: the truth. A kernel that compares with <=, or a coin off by one, fails."""
    for row, word in enumerate(known_words(2, f"<u{bits // 8}")):
        if not (1 << bits) // 8 < word < (1 << bits) // 8 * 7:
            continue
        for keep, kept in ((word, False), (word + 1, True)):
            out = np.empty(16, dtype)
            codes.Response(FakeCoin(k, bits, keep)).privatize(stream.Stream(KEY), 0, np.ones(16, dtype), out)
            assert (out[row] == 1) == kept


def test_a_sign_bit_is_tossed_up_to_the_last_unit(isa):
    for row, word in enumerate(known_words(5, "<u8")):
        for heads, bit in ((word, 0), (word + 1, 1)):
            out = np.empty(16, np.uint8)
            codes.SignBit(-1.0, 1.0, heads).privatize(stream.Stream(KEY), 0, np.ones(16), out)
            assert out[row] == bit


@pytest.mark.parametrize("dim", [1, 2, 27, 64, 40_000])
def test_the_sign_of_a_half_space_flips_at_the_last_unit(isa, dim):
    """One unit more on the private coin turns exactly the report whose word it passed."""
    n = 3 if dim < 1000 else 1
    x = np.linspace(-1, 1, n * dim).reshape(n, dim)
    for row, word in enumerate(known_words(11, "<u8", n)):
        reports = []
        for heads in (word, word + 1):
            out = np.empty((n, (dim + 7) // 8), np.uint8)
            halfspace.LinfBall(dim, 1.0, heads, 0).privatize(stream.Stream(KEY), 0, x, out)
            reports.append(np.unpackbits(out, axis=1, count=dim, bitorder="little"))
        turned = reports[0] != reports[1]
        assert turned[row].all()
        assert not np.delete(turned, row, axis=0).any()
    words = known_words(14, "<u8", 2 * n)
    for row in range(n):
        reports = []
        for heads in (words[2 * row + 1], words[2 * row + 1] + 1):
            out = np.empty((n, dim))
            halfspace.L2Ball(dim, 1.0, 1.0, heads).privatize(stream.Stream(KEY), 0, x / np.sqrt(dim), out)
            reports.append(out)
        assert (reports[0][row] == -reports[1][row]).all()
        np.testing.assert_array_equal(np.delete(reports[0], row, axis=0), np.delete(reports[1], row, axis=0))


def test_a_single_unary_record_compares_all_digits(isa):
    from ldpfast._core import bits

    for lane, word in enumerate(known_words(6, "<u8", 8)):
        for other, bit in ((word, 0), (word + 1, 1)):
            out = np.empty((1, 2), np.uint8)
            bits.Unary(9, other, True).privatize(stream.Stream(KEY), 0, np.array([8], np.uint8), out)
            assert np.unpackbits(out, bitorder="little")[lane] == bit


def test_bit_planes_decide_by_the_last_digit(isa):
    """The word of lane 0 read as planes, 128 digits: m equal to it is tails, one unit more is heads. By bisection over m the
    planes' coin jumps at one integer only."""
    out = np.empty(8, np.uint64)

    def heads(m):
        stream.coins(KEY, m >> 64, m & (1 << 64) - 1, 40, False, out)
        return bool(int(out[0]) & 1)

    low, high = 0, (1 << 128) - 1
    assert not heads(low)
    assert heads(high)
    for _ in range(64):  # the first 64 digits; below them the lanes' words are too short to tell
        middle = (low + high) // 2
        low, high = (low, middle) if heads(middle) else (middle, high)
    for m in np.random.default_rng(1).integers(0, 1 << 62, 200):
        assert not heads(int(m) * low >> 62)
        assert heads(high + (int(m) * ((1 << 128) - 1 - high) >> 62))


def test_few_lanes_look_at_all_digits(isa):
    """Where the first 32 digits are equal, the next words decide: right at their value tails, one unit above it heads."""
    words = known_words(0, "<u4", 8)
    later = known_words(0, "<u8", 18)[16:]  # the chunk after the lanes' own
    digits = later[0] << 32 | later[1] >> 32
    out = np.empty(8, np.uint64)
    for lane, word in enumerate(words):
        for rest, heads in ((0, 0), (digits, 0), (digits + 1, 1), ((1 << 96) - 1, 1)):
            m = word << 96 | rest
            stream.coins(KEY, m >> 64, m & (1 << 64) - 1, 16, False, out)
            assert int(out[0]) >> lane & 1 == heads


def test_the_keep_coin_of_ties_is_twice_the_tails(monkeypatch):
    """2 (1 - p) from the same integer, not one unit more."""
    from ldpfast.mechanisms import _ball

    given = []
    monkeypatch.setattr(_ball.halfspace, "LinfBall", lambda *arguments: given.append(arguments))
    mechanism = ldp.LinfBall(4, 1.0, ties="thin")
    ldp.LinfBall(4, 1.0)
    ldp.LinfBall(5, 1.0, ties="thin")
    assert [arguments[3] for arguments in given] == [2 * ((1 << 64) - mechanism._heads), 0, 0]


@pytest.mark.parametrize("dim", [2, 4])
def test_a_tie_is_kept_up_to_the_last_unit(isa, dim):
    """The first tie of a block meets the first word: at its value U is drawn again, one unit above it is kept."""
    x = np.zeros((40, dim))
    mechanism = ldp.LinfBall(dim, 1.0, ties="thin")
    (word,) = known_words(12, "<u8", 1)
    seen = []
    for keep in (word, word + 1):
        out = np.empty((40, 1), np.uint8)
        halfspace.LinfBall(dim, 1.0, mechanism._heads, keep).privatize(stream.Stream(KEY), 0, x, out)
        expected = reference.linf_rows(mechanism, KEY, 0, x, keep)
        np.testing.assert_array_equal(np.unpackbits(out, axis=1, count=dim, bitorder="little"), expected)
        seen.append(expected)
    assert (seen[0] != seen[1]).any()
