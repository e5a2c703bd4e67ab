"""Coins of the key stream: the kernel against the reference, and exact thresholds."""

from __future__ import annotations

import numpy as np
import pytest

from ..support import reference
from ..support.cases import each
from ..support.internals.kernels import stream
from ..support.keys import FIXED_KEY, KEY

pytestmark = pytest.mark.usefixtures("isa")


def toss(key, m, lanes, direct=False):
    """Return coins with probability m / 2^128 (m / 2^64 if `direct`), one per bit, in whole groups of 512 bits."""
    high, low = (m, 0) if direct else (m >> 64, m & reference.WORD - 1)
    out = np.empty(-(-lanes // 512) * 8, np.uint64)
    stream.coins(key, high, low, lanes, direct, out)
    return np.unpackbits(out.view(np.uint8), bitorder="little")


@each("lanes", [1, 2, 15, 16, 17, 31, 32, 33, 64, 511, 512, 513, 2000, 8192])
@each("m", [1, 1 << 127, (1 << 128) - 1, 0xB504F333F9DE6484597D89B3754ABE9F, 3 << 120, 0x5555 << 100])
def test_coins_by_bit_planes_equal_the_reference(m, lanes):
    heads = toss(KEY, m, lanes)
    assert heads[:lanes].tolist() == reference.coins_fill(reference.Words(KEY, 0, 0), m, lanes)
    assert not heads[lanes:].any()


@each("lanes", [1, 8, 63, 64, 65, 1000])
def test_coins_by_whole_words_equal_the_reference(lanes):
    m = 0x9E3779B97F4A7C15
    heads = toss(KEY, m, lanes, direct=True)
    assert heads[:lanes].tolist() == reference.coins_direct(reference.Words(KEY, 0, 0), m, lanes)
    assert not heads[lanes:].any()


def test_bit_planes_change_at_a_single_threshold():
    """Lane 0 is tails for m up to its digits and heads above them. Bisection over m finds the first 64 digits."""

    def heads(m):
        return bool(toss(FIXED_KEY, m, 40)[0])

    low, high = 0, (1 << 128) - 1
    assert not heads(low)
    assert heads(high)
    for _ in range(64):  # later digits of the lane come from other words
        middle = (low + high) // 2
        low, high = (low, middle) if heads(middle) else (middle, high)
    for m in np.random.default_rng(1).integers(0, 1 << 62, 200):
        assert not heads(int(m) * low >> 62)
        assert heads(high + (int(m) * ((1 << 128) - 1 - high) >> 62))


def test_few_lanes_compare_all_digits():
    """If the first 32 digits are equal, the next words decide: tails at their value, heads one unit above."""
    words = reference.Words(FIXED_KEY, 0, 0).take(8, "<u4")
    later = reference.Words(FIXED_KEY, 0, 0).take(18, "<u8")[16:]  # after the words of the lanes
    digits = int(later[0]) << 32 | int(later[1]) >> 32
    for lane, word in enumerate(words.tolist()):
        for rest, heads in ((0, 0), (digits, 0), (digits + 1, 1), ((1 << 96) - 1, 1)):
            assert toss(FIXED_KEY, word << 96 | rest, 16)[lane] == heads


@pytest.mark.parametrize("lanes", [8, 32])
def test_few_lanes_change_exactly_at_their_first_digits(lanes):
    """Thresholds just below and just above the first 32 digits of a lane; later digits do not matter."""
    words = reference.Words(FIXED_KEY, 0, 0).take(lanes, "<u4")
    assert {0, 1} == set((words & 1).tolist()), "even and odd digits"
    for lane, word in enumerate(words.tolist()):
        for rest in (0, (1 << 96) - 1):
            assert toss(FIXED_KEY, word - 1 << 96 | rest, lanes)[lane] == 0
            assert toss(FIXED_KEY, word + 1 << 96 | rest, lanes)[lane] == 1
