"""Whether an answer is correct: bounds that a correct one misses with a chance of at most ALPHA per statistic."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .. import _coins
from ..estimation import GaussianMean, GradientDescent, MedianSGD
from ..mechanisms import L2Ball, Laplace, LinfBall, RandomizedResponse, SignBit, UnaryEncoding
from ._case import AnyArray
from ._numpy import CHUNK

ALPHA = 1e-9  # chance that one check fails a correct answer


def bernstein(variance: float, largest: float, n: int) -> float:
    """How far the mean of n independent numbers is from its expectation, but for a chance of ALPHA.

    Bernstein: P(|mean - E| > t) <= 2 exp(-n t^2 / (2 variance + 2 largest t / 3)) where no number is further than
    `largest` from its expectation; solved for t, rounded up.
    """
    weight = math.log(2 / ALPHA) / n
    return math.sqrt(2 * variance * weight) + 2 * largest * weight / 3


def shares_agree(hits: AnyArray, expected: AnyArray, n: int) -> bool:
    """Each of several means of n independent zeros and ones is where it should be."""
    margins = [bernstein(float(p * (1 - p)), 1.0, n) for p in expected]
    return bool(np.all(np.abs(hits / n - expected) <= margins))


def count_bits(reports: AnyArray) -> NDArray[np.int64]:
    """How many packed rows have each bit: the obvious way."""
    total = np.zeros(8 * reports.shape[1], np.int64)
    for at in range(0, len(reports), CHUNK):
        total += np.unpackbits(reports[at : at + CHUNK], axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
    return total


def check_linf(mechanism: LinfBall, x: AnyArray, towards: AnyArray, reports: AnyArray) -> bool:
    """Width of the reports, every coordinate by itself, and the projection on the direction of all records."""
    return reports.shape == (len(x), (mechanism.dim + 7) // 8) and check_linf_mean(
        mechanism,
        len(x),
        x.mean(axis=0, dtype=np.float64),
        towards,
        mechanism.scale * (2 * count_bits(reports)[: mechanism.dim] / len(x) - 1),
    )


def check_linf_mean(mechanism: LinfBall, n: int, truth: AnyArray, towards: AnyArray, mean: AnyArray) -> bool:
    """A projection on signs s has the variance (|s|^2 B^2 - <s, x>^2) / dim^2 <= B^2 / dim and is at most B."""
    dim, scale = mechanism.dim, mechanism.scale
    each = bernstein(scale**2, 2 * scale, n) + 1e-4  # NumPy's vertices have 16 bits
    return bool(np.all(np.abs(mean - truth) <= each)) and bool(
        abs(float((mean - truth) @ towards) / dim) <= bernstein(scale**2 / dim, 2 * scale, n) + 1e-4
    )


def check_l2(mechanism: L2Ball, x: AnyArray, towards: AnyArray, reports: AnyArray) -> bool:
    """Every norm, and the projection on the direction of all records: variance at most B^2 / dim, at most B."""
    n, scale = len(x), mechanism.scale
    if reports.shape != x.shape or reports.dtype != x.dtype:
        return False
    norms = np.sqrt(np.einsum("ij,ij->i", reports, reports, dtype=np.float64))
    # Not by BLAS: its threads go on spinning, and their time would be counted with what is measured next.
    found, truth = (float(np.einsum("ij,j->", rows, towards, dtype=np.float64)) / n for rows in (reports, x))
    return bool(np.all(np.abs(norms / scale - 1) <= 1e-4)) and abs(found - truth) <= bernstein(
        scale**2 / mechanism.dim, 2 * scale, n
    ) + 1e-4 * scale / math.sqrt(mechanism.dim)


def check_unary(mechanism: UnaryEncoding, x: AnyArray, reports: AnyArray) -> bool:
    """The share of ones in every place, and of own ones."""
    coin, n = _coins.unary(mechanism.epsilon, False), len(x)
    if reports.shape != (n, (mechanism.k + 7) // 8):
        return False
    p, q = float(coin.p), float(coin.q)
    own = reports[np.arange(n), x >> 3] >> (x & 7) & 1
    expected = q + (p - q) * np.bincount(x, minlength=mechanism.k) / n
    return shares_agree(count_bits(reports)[: mechanism.k], expected, n) and shares_agree(
        np.array([int(own.sum(dtype=np.int64))]), np.array([p]), n
    )


def check_response(coin: _coins.ResponseCoin, symbols: AnyArray, reports: AnyArray) -> bool:
    """The share of every code, and of truths."""
    n, p, q = len(symbols), float(coin.p), float(coin.q)
    if reports.shape != symbols.shape or reports.max() >= coin.k:
        return False
    expected = q + (p - q) * np.bincount(symbols, minlength=coin.k) / n
    return shares_agree(np.bincount(reports, minlength=coin.k), expected, n) and shares_agree(
        np.array([np.count_nonzero(reports == symbols)]), np.array([p]), n
    )


def check_sign_bit(mechanism: SignBit, x: AnyArray, reports: AnyArray) -> bool:
    """Zeros and ones; their share among the upper and among the lower half of the records."""
    if reports.shape != x.shape or reports.max() > 1:
        return False
    lowest, highest = (value / (mechanism.debiasing.one - mechanism.debiasing.zero) for value in (0.0, 1.0))
    for half in (x > (mechanism.lower + mechanism.upper) / 2, x <= (mechanism.lower + mechanism.upper) / 2):
        n = int(np.count_nonzero(half))
        mean = float(x[half].mean()) - mechanism.debiasing.zero
        expected = mean * (highest - lowest)
        if not shares_agree(np.array([int(reports[half].sum(dtype=np.int64))]), np.array([expected]), n):
            return False
    return True


def check_laplace(mechanism: Laplace, x: AnyArray, reports: AnyArray) -> bool:
    """Mean of the noise (0) and of its size (b).

    A Laplace variable meets Bernstein's moment condition with variance 2 b^2 and largest b, so that
    t = b w + sqrt(b^2 w^2 + 4 b^2 w), w = log(2 / ALPHA) / n. The grid moves the size by less than a step.
    """
    if reports.shape != x.shape or reports.dtype != np.float64:
        return False
    noise, b = reports - x, (mechanism.upper - mechanism.lower) / mechanism.epsilon
    weight = math.log(2 / ALPHA) / len(x)
    margin = b * (weight + math.sqrt(weight**2 + 4 * weight)) + mechanism.grid
    return bool(abs(noise.mean()) <= margin and abs(np.abs(noise).mean() - b) <= margin)


def check_frequencies(mechanism: RandomizedResponse | UnaryEncoding, x: AnyArray, shares: AnyArray) -> bool:
    """The share of reports for every category, which the estimate is linear in."""
    n, k = len(x), mechanism.k
    coins: _coins.UnaryCoins | _coins.ResponseCoin
    if isinstance(mechanism, UnaryEncoding):
        coins = _coins.unary(mechanism.epsilon, mechanism.variant == "optimized")
    else:
        coins = _coins.response(k, mechanism.epsilon)
    p, q = float(coins.p), float(coins.q)
    expected = q + (p - q) * np.bincount(x, minlength=k) / n
    return shares.shape == (k,) and shares_agree((q + (p - q) * shares) * n, expected, n)


def left_out(n: int) -> int:
    """How many of the first positions the mean of a descent leaves out: the largest power of two up to a quarter."""
    return 1 << (n // 4).bit_length() - 1 if n >= 4 else 0


DEVIATIONS = math.sqrt(2 * math.log(2 / ALPHA))  # that a normal variable stays within, but for a chance of ALPHA


def check_median(model: MedianSGD, median: float, density: float, answer: tuple[float, int]) -> bool:
    """The mean of m positions is asymptotically normal with standard deviation coth(epsilon / 2) / (2 density sqrt(m)), that
    of one answer over the slope of its expectation (Polyak and Juditsky 1992); half as much again for what is not
    asymptotic."""
    value, n = answer
    deviation = 1 / math.tanh(model.epsilon / 2) / (2 * density * math.sqrt(n - left_out(n)))
    return abs(value - median) <= 1.5 * DEVIATIONS * deviation


def check_gaussian(model: GaussianMean, n: int, mu: float, mean: float) -> bool:
    """The mean from at least half of n people, whose sign bits at a distance of up to 1.5 sigma have a variance of at most
    (pi / 2) coth(epsilon / 2)^2 e^(1.5^2) sigma^2."""
    sigma = model.sigma or 0.0
    deviation = sigma * math.sqrt(math.pi / 2 * math.exp(1.5**2) / (n / 2)) / math.tanh(model.epsilon / 2)
    return abs(mean - mu) <= DEVIATIONS * deviation


def check_logistic(
    model: GradientDescent, towards: AnyArray, length: float, truth: float, answer: tuple[AnyArray, int]
) -> bool:
    """Rows of one length a along one direction, coefficients `truth` along it; the position's part t along it is judged.

    Its mean step is eta a (s(a truth) - s(a t)), s the logistic function, minus what the projection takes away: at most the
    part eta^2 B^2 / (2 R^2) of t, from a position of norm R after a step of length eta B. So t settles between the place
    where both are equal for the first eta that counts, and the truth. A report has the variance B^2 / dim along the
    direction, the mean of m positions that over m slope^2; half as much again for what is not asymptotic.
    """
    value, n = answer
    m = left_out(n)
    taken = model.eta0 * np.array([m, n]) ** -model.exponent * model.variance * model.dim / (2 * model.projection**2)
    places = np.linspace(0, truth, 1001)
    chance = 1 / (1 + np.exp(-length * places))
    low = int(np.argmin(np.abs(length * (chance[-1] - chance) - taken[0] * places)))
    slope, found = length**2 * chance * (1 - chance), float(value @ towards)
    noise = 1.5 * DEVIATIONS * math.sqrt(model.variance / (n - m))
    return bool(places[low] - noise / (slope[low] + taken[0]) <= found <= truth + noise / (slope[-1] + taken[1]))
