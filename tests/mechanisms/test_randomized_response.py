"""k-ary randomized response: the kernel against the reference, and exact thresholds."""

from __future__ import annotations

import numpy as np

import ldpfast as ldp

from ..support import reference
from ..support.cases import each
from ..support.internals.kernels import privatize, stream
from ..support.internals.shared import coin_integers
from ..support.keys import FIXED_KEY, KEY, SEED


@each("n", [1, 7, 8, 9, 64, 65, 513, 2049])
@each("k, epsilon", [(2, 1.0), (3, 0.1), (5, 12.0), (128, 1.0), (256, 3.0), (300, 2.0), (70_000, 5.0)])
def test_reports_equal_the_reference(isa, k, epsilon, n):
    mechanism = ldp.RandomizedResponse(k, epsilon)
    x = np.random.default_rng(n).integers(0, k, n)
    reports = mechanism.privatize(x, rng=SEED)
    for block in range(-(-n // 2048)):
        words = reference.Words(KEY, "RANDOMIZED_RESPONSE", block)
        for i in range(2048 * block, min(n, 2048 * block + 2048)):
            assert reports[i] == reference.respond(mechanism._coin, words, x[i])


@each(
    "k, bits, dtype", [(2, 64, "u1"), (3, 64, "u1"), (2, 32, "u1"), (3, 32, "u1"), (300, 64, "u2"), (70_000, 64, "u4")]
)
def test_the_truth_is_kept_exactly_below_the_threshold(isa, k, bits, dtype):
    """A threshold equal to the word reports symbol 0, one unit more reports the true symbol 1.

    The threshold is that of the words that report the truth directly; with two symbols and 64 bits, of all words that do.
    """
    whole = 1 << bits
    for row, word in enumerate(
        reference.Words(FIXED_KEY, "RANDOMIZED_RESPONSE", 0).take(16, f"<u{bits // 8}").tolist()
    ):
        if not whole // 8 < word < whole // 8 * 7:
            continue
        each = 2 if (k, bits) == (2, 64) else (whole - word) // k & -2
        for threshold, kept in ((word, False), (word + 1, True)):
            out = np.empty(16, dtype)
            keep = threshold if (k, bits) == (2, 64) else threshold + each
            coin = coin_integers.ResponseCoin(k, bits, keep, each, 0.0)
            privatize.RandomizedResponse(coin).privatize(stream.Stream(FIXED_KEY), 0, np.ones(16, dtype), out)
            assert (out[row] == 1) == kept


@each("k, epsilon", [(3, 0.1), (4, 1.0), (7, 2.0), (128, 1.0), (256, 1.0), (256, 5.0)])
def test_the_division_is_exact_at_the_ends_of_all_cells(k, epsilon):
    """The multiplication of the 32-bit kernel gives the quotient of the first and of the last word of each symbol."""
    coin = coin_integers.response(k, epsilon)
    assert coin.bits == 32
    assert coin.words_per_symbol % 2 == 0
    assert coin.reciprocal < 1 << 32
    for symbol in range(k):
        for past in (symbol * coin.words_per_symbol, (symbol + 1) * coin.words_per_symbol - 1):
            assert ((past >> 1) * coin.reciprocal >> 32) >> coin.shift == symbol
