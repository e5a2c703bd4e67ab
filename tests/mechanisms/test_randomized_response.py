"""k-ary randomized response: the kernel against the reference, and exact thresholds."""

from __future__ import annotations

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import _coins
from ldpfast._core import privatize, stream

from ..support import reference
from ..support.keys import FIXED_KEY, KEY, SEED


@pytest.mark.parametrize("n", [1, 7, 8, 9, 64, 65, 513, 2049])
@pytest.mark.parametrize(
    "k, epsilon", [(2, 1.0), (3, 0.1), (5, 12.0), (128, 1.0), (256, 3.0), (300, 2.0), (70_000, 5.0)]
)
def test_reports_equal_the_reference(isa, k, epsilon, n):
    mechanism = ldp.RandomizedResponse(k, epsilon)
    x = np.random.default_rng(n).integers(0, k, n)
    reports = mechanism.privatize(x, rng=SEED)
    for block in range(-(-n // 2048)):
        words = reference.Words(KEY, "RandomizedResponse", block)
        for i in range(2048 * block, min(n, 2048 * block + 2048)):
            assert reports[i] == reference.respond(mechanism._coin, words, x[i])


@pytest.mark.parametrize(
    "k, bits, dtype", [(2, 64, "u1"), (3, 64, "u1"), (2, 32, "u1"), (3, 32, "u1"), (300, 64, "u2"), (70_000, 64, "u4")]
)
def test_the_truth_is_kept_exactly_below_the_threshold(isa, k, bits, dtype):
    """keep = word reports another category; keep = word + 1 reports the true one. A comparison with <= fails."""
    whole = 1 << bits
    for row, word in enumerate(reference.Words(FIXED_KEY, "RandomizedResponse", 0).take(16, f"<u{bits // 8}").tolist()):
        if not whole // 8 < word < whole // 8 * 7:
            continue
        for keep, kept in ((word, False), (word + 1, True)):
            out = np.empty(16, dtype)
            coin = _coins.ResponseCoin(k, bits, keep, (whole - keep) // (k - 1), 0.0)
            privatize.RandomizedResponse(coin).privatize(stream.Stream(FIXED_KEY), 0, np.ones(16, dtype), out)
            assert (out[row] == 1) == kept
