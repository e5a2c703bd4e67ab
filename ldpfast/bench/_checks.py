"""Checks of answers: bounds that a correct answer violates with probability at most ALPHA per statistic."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .. import _coins
from .._typing import AnyArray
from ..estimation import GaussianMean, GradientDescent, MedianSGD
from ..mechanisms import L2Ball, Laplace, LinfBall, RandomizedResponse, SignBit, SubsetSelection, UnaryEncoding

ALPHA = 1e-9  # probability that one statistic rejects a correct answer
ROWS = 1 << 16  # packed rows that are counted at a time


def bernstein(variance: float, largest: float, n: int) -> float:
    """Return a bound on the deviation of the mean of n independent numbers, exceeded with probability at most ALPHA.

    Bernstein's inequality: P(|mean - E| > t) <= 2 exp(-n t^2 / (2 variance + 2 largest t / 3)) if no number is farther
    than `largest` from its expectation. The result is at least the t for which the right side is ALPHA.
    """
    weight = math.log(2 / ALPHA) / n
    return math.sqrt(2 * variance * weight) + 2 * largest * weight / 3


def shares_agree(hits: AnyArray, expected: AnyArray, n: int) -> bool:
    """Return whether each share of `hits` in n independent Bernoulli draws agrees with its expectation."""
    margins = [bernstein(float(p * (1 - p)), 1.0, n) for p in expected]
    return bool(np.all(np.abs(hits / n - expected) <= margins))


def count_bits(reports: AnyArray) -> NDArray[np.int64]:
    """Count how many packed rows have each bit, by unpacking them."""
    total = np.zeros(8 * reports.shape[1], np.int64)
    for start in range(0, len(reports), ROWS):
        total += np.unpackbits(reports[start : start + ROWS], axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
    return total


def check_linf(mechanism: LinfBall, x: AnyArray, direction: AnyArray, reports: AnyArray) -> bool:
    """Check the shape of the reports, every coordinate of the mean, and its projection on `direction`."""
    return reports.shape == (len(x), (mechanism.dim + 7) // 8) and check_linf_mean(
        mechanism,
        len(x),
        x.mean(axis=0, dtype=np.float64),
        direction,
        mechanism.scale * (2 * count_bits(reports)[: mechanism.dim] / len(x) - 1),
    )


def check_linf_mean(mechanism: LinfBall, n: int, truth: AnyArray, direction: AnyArray, mean: AnyArray) -> bool:
    """Check every coordinate of a mean, and its projection on the signs `direction`.

    The projection of one report on signs s, divided by dim, has the variance (|s|^2 B^2 - <s, x>^2) / dim^2 <= B^2 / dim
    and is at most B.
    """
    dim, scale = mechanism.dim, mechanism.scale
    margin = bernstein(scale**2, 2 * scale, n) + 1e-4  # NumPy draws vertices with 16 bits
    return bool(np.all(np.abs(mean - truth) <= margin)) and bool(
        abs(float((mean - truth) @ direction) / dim) <= bernstein(scale**2 / dim, 2 * scale, n) + 1e-4
    )


def check_l2(mechanism: L2Ball, x: AnyArray, direction: AnyArray, reports: AnyArray) -> bool:
    """Check the norm of every report, and the projection of the mean on the unit vector `direction` of the records.

    The projection of one report has the variance at most B^2 / dim and is at most B.
    """
    n, scale = len(x), mechanism.scale
    if reports.shape != x.shape or reports.dtype != x.dtype:
        return False
    norms = np.sqrt(np.einsum("ij,ij->i", reports, reports, dtype=np.float64))
    # einsum, not BLAS: idle BLAS threads keep spinning and would disturb the next measurement.
    projection, truth = (float(np.einsum("ij,j->", rows, direction, dtype=np.float64)) / n for rows in (reports, x))
    return bool(np.all(np.abs(norms / scale - 1) <= 1e-4)) and abs(projection - truth) <= bernstein(
        scale**2 / mechanism.dim, 2 * scale, n
    ) + 1e-4 * scale / math.sqrt(mechanism.dim)


def check_unary(mechanism: UnaryEncoding | SubsetSelection, x: AnyArray, reports: AnyArray) -> bool:
    """Check the share of ones at every position, and at the positions of the records."""
    n = len(x)
    if reports.shape != (n, (mechanism.k + 7) // 8):
        return False
    p, q = mechanism.debiasing.probabilities
    hits = reports[np.arange(n), x >> 3] >> (x & 7) & 1
    expected = q + (p - q) * np.bincount(x, minlength=mechanism.k) / n
    return shares_agree(count_bits(reports)[: mechanism.k], expected, n) and shares_agree(
        np.array([int(hits.sum(dtype=np.int64))]), np.array([p]), n
    )


def check_response(coin: _coins.ResponseCoin, symbols: AnyArray, reports: AnyArray) -> bool:
    """Check the share of every code, and of reports that equal the record."""
    n = len(symbols)
    p = float(coin.p)
    q = float(coin.q)
    if reports.shape != symbols.shape or reports.max() >= coin.k:
        return False
    expected = q + (p - q) * np.bincount(symbols, minlength=coin.k) / n
    return shares_agree(np.bincount(reports, minlength=coin.k), expected, n) and shares_agree(
        np.array([np.count_nonzero(reports == symbols)]), np.array([p]), n
    )


def check_sign_bit(mechanism: SignBit, x: AnyArray, reports: AnyArray) -> bool:
    """Check that reports are 0 or 1, and the share of ones in the upper and in the lower half of the interval."""
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
    """Check the mean of the noise, which is 0, and of its absolute value, which is b.

    A Laplace variable satisfies Bernstein's moment condition with variance 2 b^2 and largest b, so that
    t = b w + sqrt(b^2 w^2 + 4 b^2 w), w = log(2 / ALPHA) / n. The grid changes the absolute value by less than a step.
    """
    if reports.shape != x.shape or reports.dtype != np.float64:
        return False
    noise, b = reports - x, (mechanism.upper - mechanism.lower) / mechanism.epsilon
    weight = math.log(2 / ALPHA) / len(x)
    margin = b * (weight + math.sqrt(weight**2 + 4 * weight)) + mechanism.grid
    return bool(abs(noise.mean()) <= margin and abs(np.abs(noise).mean() - b) <= margin)


def check_frequencies(mechanism: RandomizedResponse | UnaryEncoding, x: AnyArray, shares: AnyArray) -> bool:
    """Check the share of reports for every category, computed back from the estimate, which is linear in it."""
    n, k = len(x), mechanism.k
    p, q = mechanism.debiasing.probabilities
    expected = q + (p - q) * np.bincount(x, minlength=k) / n
    return shares.shape == (k,) and shares_agree((q + (p - q) * shares) * n, expected, n)


def left_out(n: int) -> int:
    """Return the burn-in of a descent: the largest power of two up to a quarter of the positions."""
    return 1 << (n // 4).bit_length() - 1 if n >= 4 else 0


# Number of standard deviations that a normal variable exceeds with probability at most ALPHA.
DEVIATIONS = math.sqrt(2 * math.log(2 / ALPHA))


def check_median(model: MedianSGD, median: float, density: float, answer: tuple[float, int]) -> bool:
    """Check a median by its asymptotic standard deviation.

    The mean of m positions is asymptotically normal with standard deviation coth(epsilon / 2) / (2 density sqrt(m)),
    which is the one of an answer over the slope of its expectation (Polyak and Juditsky 1992). A factor of 1.5 allows for
    finite n.
    """
    value, n = answer
    deviation = 1 / math.tanh(model.epsilon / 2) / (2 * density * math.sqrt(n - left_out(n)))
    return abs(value - median) <= 1.5 * DEVIATIONS * deviation


def check_gaussian(model: GaussianMean, n: int, mu: float, mean: float) -> bool:
    """Check a mean of normal records, estimated from the sign bits of at least half of n people.

    At a distance of up to 1.5 sigma, the variance per sign bit is at most (pi / 2) coth(epsilon / 2)^2 e^(1.5^2) sigma^2.
    """
    sigma = model.sigma or 0.0
    deviation = sigma * math.sqrt(math.pi / 2 * math.exp(1.5**2) / (n / 2)) / math.tanh(model.epsilon / 2)
    return abs(mean - mu) <= DEVIATIONS * deviation


def check_logistic(
    model: GradientDescent, direction: AnyArray, length: float, truth: float, answer: tuple[AnyArray, int]
) -> bool:
    """Check the component t of the coefficients along the direction of the rows.

    The rows have the norm a = `length` along `direction`, and the true coefficients have the component `truth`. With s the
    logistic function, the expected step of t is eta a (s(a truth) - s(a t)), minus the effect of the projection. The
    projection removes at most the fraction eta^2 B^2 / (2 R^2) of t, from a position of norm R after a step of length
    eta B. So t converges to a value between `truth` and the point where both terms are equal for the first eta after the
    burn-in. A report has the variance B^2 / dim along the direction, and the mean of m positions this variance over
    m slope^2. A factor of 1.5 allows for finite n.
    """
    value, n = answer
    m = left_out(n)
    removed = model.eta0 * np.array([m, n]) ** -model.exponent * model.variance * model.dim / (2 * model.projection**2)
    places = np.linspace(0, truth, 1001)
    probability = 1 / (1 + np.exp(-length * places))
    low = int(np.argmin(np.abs(length * (probability[-1] - probability) - removed[0] * places)))
    slope, component = length**2 * probability * (1 - probability), float(value @ direction)
    noise = 1.5 * DEVIATIONS * math.sqrt(model.variance / (n - m))
    return bool(
        places[low] - noise / (slope[low] + removed[0]) <= component <= truth + noise / (slope[-1] + removed[1])
    )
