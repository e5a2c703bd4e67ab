"""Coins of the mechanisms: a bias of 2^-12 of a coin is detected, from the frequency of one event.

In each case an event of the report has exactly the probability of the coin, which is computed here from `epsilon` alone. The
number of records is the smallest for which `assert_counts` detects a shift of the probability by 2^-12 with a probability of at
least 0.99, either way. It is 10^8 or more for a coin of 1/2 to 3/4, and fewer for coins near 1, so that slow mechanisms have a
larger `epsilon` here than in `cards.KINDS`.

A bias of one unit of an integer is detected by exact tests: of the integers by ../test_coins.py and the exact channels of each
mechanism, and of the comparison in a kernel by the tests whose names have "exactly": in test_warner.py
`test_the_truth_is_kept_exactly_below_the_threshold`, and its counterparts in the file of each mechanism. The first reports from
a key are also compared with those of the reference twins (`test_reports_equal_the_reference`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import ldpfast as ldp

from ..cards import CARDS, Coin, Noise
from ..cards._events import at_least_ones, is_positive, logistic, of_set, ones
from ..support.internals.kernels import Kernel, privatize
from ..support.keys import STATISTICS_SEED
from ..support.statistics import ALPHA, POWER, assert_counts, rejection

SHIFT = 2.0**-12
PIECE_BYTES = 1 << 20  # bytes of records that are privatized together
POWER_CASES = [case for card in CARDS.values() for case in card.power()]
COINS = [case for case in POWER_CASES if isinstance(case, Coin)]
NOISE = [case for case in POWER_CASES if isinstance(case, Noise)]


def least_records(p: float, alpha: float = ALPHA) -> int:
    """Return a number of records for which `assert_counts` detects `SHIFT`, a few percent above the smallest at most."""
    errors = stats.norm.isf(alpha / 2) + stats.norm.isf(1 - POWER)
    n = math.ceil(0.96 * errors**2 * p * (1 - p) / SHIFT**2)
    while min(rejection(n, p, true, alpha) for true in (p - SHIFT, p + SHIFT) if 0 <= true <= 1) < POWER:
        n = math.ceil(1.02 * n)
    return n


def pieces(mechanism: ldp.Mechanism, record: np.ndarray, n: int) -> Iterator[np.ndarray]:
    """Yield the reports on n copies of a record, piece by piece, so that they stay in the cache."""
    rows = max(1, PIECE_BYTES // max(4, record.nbytes))
    x = np.broadcast_to(record, (rows, *record.shape)).copy()
    rng = np.random.default_rng(STATISTICS_SEED)
    for start in range(0, n, rows):
        yield mechanism.privatize(x[: n - start], rng=rng)


def reports_of(coin: Coin) -> int:
    """Return the number of reports in which a bias of the coin is detected."""
    return -(-least_records(coin.p) // coin.trials)


def hits(coin: Coin, reports: int) -> int:
    """Return how often the event of the coin happens in so many reports."""
    record = np.asarray(coin.record, coin.dtype)
    return sum(coin.count(piece) for piece in pieces(coin.mechanism, record, reports))


SLOW = ("SetCube", "ViewResponse")  # whose reports take long


@pytest.mark.claim("The compiled code draws its coins with the stated probabilities.", "Privacy of reports")
@pytest.mark.parametrize(
    "coin",
    [pytest.param(c, marks=[pytest.mark.long] * (type(c.mechanism).__name__ in SLOW)) for c in COINS],
    ids=str,
)
def test_coins_have_their_probability(coin):
    """Detects a bias of a coin by 2^-12."""
    reports = reports_of(coin)
    assert_counts(hits(coin, reports), reports * coin.trials, coin.p, detects=SHIFT)


def with_kernel(mechanism: ldp.Mechanism, kernel: Kernel) -> ldp.Mechanism:
    """Return the mechanism with another kernel; everything else claims the probabilities of the original one."""
    object.__setattr__(mechanism, "_recipe", replace(mechanism._recipe, kernel=kernel))
    return mechanism


def shifted() -> Iterator[Coin]:
    """Yield cases whose kernel has a coin that is larger by 2^-12."""
    unit = 1 << 52
    warner = ldp.Warner(1.0)
    coin = warner._coin
    coin = replace(coin, keep=coin.keep + unit, words_per_symbol=coin.words_per_symbol - unit)
    yield Coin(with_kernel(warner, privatize.Warner(coin)), 1, logistic(1.0), np.count_nonzero)
    bit = ldp.SignBit(-1.0, 3.0, 1.0)
    coin = bit._coin
    kernel = privatize.SignBit(-1.0, 3.0, coin.heads + (1 << coin.bits - 12), coin.bits)
    yield Coin(with_kernel(bit, kernel), 3.0, logistic(1.0), np.count_nonzero)
    sets = ldp.SubsetSelection(13, 6.0, size=4)
    kernel = privatize.SubsetSelection(13, 4, sets._coin.heads + unit, 10)
    yield Coin(with_kernel(sets, kernel), 2, of_set(4, 13, 6.0), ones([1 << 2, 0]))
    cube = ldp.LinfBall(27, 6.0)
    kernel = privatize.LinfBall(27, 1.0, cube._recipe.coin.heads + unit, 0)
    yield Coin(with_kernel(cube, kernel), np.ones(27), logistic(6.0), at_least_ones(14))
    ball = ldp.L2Ball(5, 6.0)
    kernel = privatize.L2Ball(5, 1.0, ball.scale, ball._recipe.coin.heads + unit)
    yield Coin(with_kernel(ball, kernel), np.eye(5)[0], logistic(6.0), is_positive)


@pytest.mark.parametrize("coin", list(shifted()), ids=str)
def test_a_shifted_coin_is_detected(coin):
    """The exact probability that the test above rejects the shifted coin is at least 0.99.

    With twice as many records it is so close to 1 that this run must reject it.
    """
    reports = reports_of(coin)
    n = reports * coin.trials
    assert rejection(n, coin.p, coin.p + SHIFT) >= POWER
    assert rejection(2 * n, coin.p, coin.p + SHIFT) >= 1 - ALPHA
    with pytest.raises(AssertionError, match=r"^count \(\) is "):
        assert_counts(hits(coin, 2 * reports), 2 * n, coin.p, detects=SHIFT)


# Noise ----------------------------------------------------------------------------------------------------------------

GROUP = 32  # values of a group of binary digits


def digit_counts(sizes: np.ndarray, digits: int) -> np.ndarray:
    """Return how often each group of five digits has each value, one row per group."""
    rows = []
    for first in range(0, digits, 15):  # three groups at once
        joint = np.bincount(sizes >> first & (1 << 15) - 1, minlength=1 << 15).reshape(GROUP, GROUP, GROUP)
        rows += [joint.sum(axis=(0, 1)), joint.sum(axis=(0, 2)), joint.sum(axis=(1, 2))]
    return np.array(rows[: -(-digits // 5)])


@pytest.mark.parametrize(
    "mechanism, record, rate",
    [
        pytest.param(*noise, marks=() if isinstance(noise.mechanism, ldp.Laplace) else pytest.mark.long)
        for noise in NOISE
    ],
    ids=lambda v: repr(v) if hasattr(v, "epsilon") else "",
)
def test_noise_has_the_probabilities_of_its_digits(mechanism, record, rate):
    """Detects an error of 2^-12 of the probability of a value of a group of digits or of a carry, and of 2^-11 of a sign.

    The integer noise is G or -1 - G with a fair sign, where G is geometric with the given rate per unit of the report. So its
    groups of five binary digits are independent.
    """
    digits, record = mechanism._coin.digits, np.asarray(record)
    firsts, values = np.arange(0, digits, 5)[:, np.newaxis], np.arange(GROUP)
    ideal = np.where(firsts + np.log2(values + 1) <= digits, np.exp(-rate * mechanism.grid * 2.0**firsts * values), 0)
    p = np.append(ideal / ideal.sum(axis=1, keepdims=True), math.exp(-rate * mechanism.grid * 2.0**digits))
    n = max(least_records(q, ALPHA / len(p)) for q in (p.max(), p[np.abs(p - 0.5).argmin()]))
    index = np.ravel(mechanism._recipe.law.numbers(record[np.newaxis]) - mechanism.report.lower) / mechanism.grid
    reports = -(-n // len(index))
    counts, negative = np.zeros(len(p), np.int64), 0
    for piece in pieces(mechanism, record, reports):
        noise = (piece.reshape(-1, len(index)) - mechanism.report.lower) * (1 / mechanism.grid) - (index + 0.5)
        noise = np.rint(noise).astype(np.int64).ravel()
        signs = noise >> 63
        noise ^= signs
        counts += np.append(digit_counts(noise, digits), np.count_nonzero(noise >> digits))
        negative -= int(signs.sum())
    assert_counts(counts, reports * len(index), p, detects=SHIFT)
    assert_counts(negative, reports * len(index), 0.5, detects=2 * SHIFT)


@pytest.mark.parametrize("stem", ["gradient", "hessian"])
def test_gradients_have_the_coins_of_their_balls(stem):
    """The ball privatizes them with its own kernel, which the tests above cover."""
    for mechanism in (example.mechanism for example in CARDS[stem].examples):
        assert mechanism._recipe.kernel is mechanism.ball._recipe.kernel
