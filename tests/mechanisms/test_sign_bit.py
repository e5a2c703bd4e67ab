"""One bit of a number: the kernel against the reference, and exact thresholds."""

from __future__ import annotations

import numpy as np

import ldpfast as ldp

from ..support import reference
from ..support.cases import each
from ..support.internals.kernels import privatize, stream
from ..support.keys import FIXED_KEY, KEY, SEED
from ..support.sizes import SIZES


@each("dtype", [np.float32, np.float64])
@each("n", SIZES)
@each("epsilon", [1.0, 1e-6])  # coins of 32 and of 64 bits
def test_reports_equal_the_reference(isa, epsilon, n, dtype):
    mechanism = ldp.SignBit(-1.5, 4.0, epsilon)
    x = np.concatenate([np.random.default_rng(n).uniform(-1.5, 4.0, n), [-1.5, 4.0]]).astype(dtype)
    words = reference.Words(KEY, "SIGN_BIT", 0)
    expected = [reference.sign_bit(mechanism._coin, -1.5, 4.0, words, value) for value in x.astype(float)]
    assert mechanism.privatize(x, rng=SEED).tolist() == expected


@each("bits", [32, 64])
def test_the_bit_is_one_exactly_below_the_threshold(isa, bits):
    """At the upper end the threshold is `heads`: heads = word gives 0, heads = word + 1 gives 1."""
    whole = 1 << bits
    for row, word in enumerate(reference.Words(FIXED_KEY, "SIGN_BIT", 0).take(16, f"<u{bits // 8}").tolist()):
        # 32-bit words are compared as signed integers: both sides are smaller by half of all words.
        unsigned = word if bits == 64 else (word + whole // 2) % whole
        if unsigned < whole // 2:
            continue
        for heads, bit in ((unsigned, 0), (unsigned + 1, 1)):
            out = np.empty(16, np.uint8)
            privatize.SignBit(-1.0, 1.0, heads, bits).privatize(stream.Stream(FIXED_KEY), 0, np.ones(16), out)
            assert out[row] == bit


def test_few_words_of_the_coin_are_used_only_if_they_suffice():
    """32 bits cost at most 1e-5 of epsilon, else the coin has 64."""
    assert ldp.SignBit(0, 1, 1.0)._coin.bits == 32
    assert ldp.SignBit(0, 1, 1e-6)._coin.bits == ldp.SignBit(0, 1, 30.0)._coin.bits == 64
    for epsilon in (1e-6, 1e-4, 0.1, 1.0, 8.0, 30.0):
        mechanism = ldp.SignBit(0, 1, epsilon)
        assert (1 - 1e-5) * epsilon <= mechanism.epsilon_realized <= epsilon


@each("place", [(1 << 50) + 12345, (3 << 50) + 987654321, 0x5A5A5A5A5A5A5])
def test_the_threshold_of_64_bits_is_exact_within_the_interval(isa, place):
    """low + floor(span u / 2^52): the bit is 0 if this is the word, and 1 if it is one more."""
    word = int(np.frombuffer(reference.Words(FIXED_KEY, "SIGN_BIT", 0).take(1, "<u8"), np.uint64)[0])

    def threshold(heads):
        low = (1 << 64) - heads
        return low + ((heads - low) * place >> 52)

    for wanted, bit in ((word, 0), (word + 1, 1)):
        low, high = 1 << 63, (1 << 64) - 1  # the threshold is monotone between them
        is_rising = threshold(high) > threshold(low)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if (threshold(middle) <= wanted) == is_rising else (low, middle)
        found = next((h for h in range(low - 3, low + 4) if h >> 63 == 1 and threshold(h) == wanted), None)
        if found is None:  # no coin has this threshold
            continue
        out = np.empty(1, np.uint8)
        kernel = privatize.SignBit(0.0, 1.0, found, 64)
        kernel.privatize(stream.Stream(FIXED_KEY), 0, np.array([place / 2**52]), out)
        assert out[0] == bit


@each("dtype", [np.float32, np.float64])
@each("bits", [32, 64])
def test_the_kernel_reads_what_is_outside_as_the_nearest_end(bits, dtype):
    """Numbers out of range give the report of the nearest end, even if the caller ignores the returned value."""
    kernel, n = privatize.SignBit(0.0, 1.0, (3 << 62) + 12345, bits), 4096
    out, other = np.empty((2, n), np.uint8)
    for bad, end in ((1.5, 1.0), (2.0, 1.0), (1e30, 1.0), (np.inf, 1.0), (-0.5, 0.0), (-1e30, 0.0), (-np.inf, 0.0)):
        assert not kernel.privatize(stream.Stream(FIXED_KEY), 0, np.full(n, bad, dtype), out)
        kernel.privatize(stream.Stream(FIXED_KEY), 0, np.full(n, end, dtype), other)
        assert (out == other).all()
    ends = np.empty((2, n), np.uint8)
    for end, reports in zip((0.0, 1.0), ends, strict=True):
        kernel.privatize(stream.Stream(FIXED_KEY), 0, np.full(n, end, dtype), reports)
    kernel.privatize(stream.Stream(FIXED_KEY), 0, np.full(n, np.nan, dtype), out)
    assert ((ends[0] <= out) & (out <= ends[1])).all()
