"""Divergence of shuffled reports by the law of one report: a certified convolution.

The divergence at e = e^epsilon is at most the mean of (X_1 + ... + X_n)^+ / n, where X is the first ratio minus e times the
second one at a draw from the base measure, and 0 with the rest of the probability (docs/proofs/shuffling.md, theorem 3). The
law of X is tilted by e^(lambda X) so that its mean is about 0, and the values are split to multiples of a step with the same
mean, which increases the result. The law of the sum of about sqrt(n) of them is a power of a Fourier transform, which is split
again to a coarser grid and raised to the remaining power. Everything outside the two grids is bounded by Chernoff's inequality,
and the errors of the transforms by the norms of their powers. All bounds are added.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ._directed_rounding import UNIT, Floats
from ._loss_grid import FOURIER_ERROR, power
from ._report_law import ReportLaw
from ._tilted_sums import LARGEST_EXPONENT, LARGEST_LOG, LEAST, end, tail, tilt_of

FINE = 0.04  # step in standard deviations of a value
MEDIUM = 0.1
COARSE = 0.2
ONE_GRID = 400  # people whose sum is computed without blocks
MAX_STEP = 0.25  # times the tilt
MIN_LENGTH, MAX_LENGTH = 11, 19  # binary logarithms of the lengths of the transforms
LARGEST_VALUE = 1e100  # above, only the divergence of one report is computed
FAR = 1e300
FEW_REPORTS = 1e-4  # mean number of reports from the base measure, below which they do not help


@dataclass(frozen=True)
class Steps:
    """A tilted law of one value, X, on a grid: ``places * step`` with probability ``masses``, and 0 with `rest`."""

    step: float
    places: NDArray[np.int64]
    masses: Floats
    rest: float

    @property
    def values(self) -> Floats:
        return np.asarray(self.places * self.step, np.float64)


def blanket_delta(law: ReportLaw, n: int, epsilon: float, fine: float = FINE) -> float:
    """Return an upper bound on the divergence of n shuffled reports.

    Parameters
    ----------
    law : ReportLaw
        The law of one report.
    n : int
        Number of reports.
    epsilon : float
        Order of the divergence, >= 0.
    fine : float
        Step of the grid in standard deviations of a value. Every step gives a bound.
    """
    order = math.exp(epsilon) * (1 - 8 * UNIT)
    masses, rest = law.masses, law.rest
    second = order * np.minimum(law.second, FAR / order)
    values = law.first - second + 8 * UNIT * (law.first + second)  # a larger value increases the result
    if values.max() <= 0:
        return 0.0
    alone = min(1.0, float(masses @ np.maximum(values, 0.0)) * (1 + 1e-12))
    size = float(np.abs(values).max())
    if n == 1 or size > LARGEST_VALUE or n * math.fsum(masses) < FEW_REPORTS:
        return alone
    block = n if n <= ONE_GRID else math.isqrt(n - 1) + 1
    blocks, left = divmod(n, block)
    tilt = min(tilt_of(masses, values, n), LARGEST_EXPONENT / size)
    while True:  # every tilt is valid, but the step must be small for it
        weights = masses * np.exp(tilt * values)
        total = math.fsum(weights) + rest
        tilted = weights / total
        mean = float(tilted @ values)
        share = min(1.0, math.fsum(tilted))
        deviation = math.sqrt(float(tilted @ (values - mean) ** 2) + (1 - share) * mean**2)
        deviation = max(deviation, 1e-6 * size)
        low, high = -end(tilted, rest / total, -values, block), end(tilted, rest / total, values, block)
        length = _length((high - low) / (fine * deviation / math.sqrt(share)))
        step = (high - low) * 1.02 / (length - 8)
        if tilt * step <= MAX_STEP:
            break
        tilt /= 2
    all_places, weights = split(values, masses, step, 0.0)
    places, inverse = np.unique(all_places, return_inverse=True)
    weights = np.bincount(inverse, weights) * np.exp(tilt * step * places)
    total = math.fsum(weights) + rest
    grid = Steps(step, places, weights / total, rest / total)
    log_total = math.log(total)
    # an integrand x^+ e^(-tilt x) is at most this
    largest = 1 / (tilt * math.e)
    sums, law_of_sum, norm, lost = _sum(grid, block, blocks, left, low, high, length, tilt, deviation, fine)
    log_total = n * log_total + lost[1]
    up = sums > 0
    integrand = sums[up] * np.exp(-tilt * sums[up])
    value = float(law_of_sum[up] @ integrand) + norm * float(np.linalg.norm(integrand)) + largest * lost[0]
    # rounding of each factor of a product of n of them, of their exponents and of sums
    slack = 1e-9 + 16 * UNIT * n * (1 + tilt * size) / min(1.0, total)
    bound = math.exp(min(LARGEST_LOG, log_total)) / n * value * (1 + slack)
    return min(alone, bound + LEAST)


def _sum(
    grid: Steps,
    block: int,
    blocks: int,
    left: int,
    low: float,
    high: float,
    length: int,
    tilt: float,
    deviation: float,
    fine: float,
) -> tuple[Floats, Floats, float, tuple[float, float]]:
    """Return the law of the sum of all values.

    Returns
    -------
    sums, probabilities : ndarray
        Values of the sum, and their probabilities, at least but for errors.
    norm : float
        Bound on the Euclidean norm of the errors of `probabilities`.
    lost : tuple of float
        Bound on the probability that is lost or wrong in other ways, and the logarithm of the factor of the result.
    """
    tilted, values = grid.masses, grid.values
    start = math.floor(low / grid.step) - 3
    base = np.bincount(grid.places % length, tilted, length)
    base[0] += grid.rest
    transform = np.fft.rfft(base)

    def sums_of(count: int) -> tuple[Floats, float]:
        sums = np.roll(np.fft.irfft(power(transform, count), length), -(start % length))
        return np.maximum(sums, 0.0), power_error(transform, count, length)

    def outside(count: int, first: float, last: float, split_by: float = 0.0) -> float:
        above = tail(tilted, grid.rest, values, count, last, tilt, split_by)
        return above + tail(tilted, grid.rest, -values, count, -first, -tilt, split_by)

    inner, error = sums_of(block)
    at: Floats = (start + np.arange(length)) * np.float64(grid.step)
    lost = blocks * outside(block, at[0], at[-1])
    if blocks == 1 and left == 0:
        return at, inner, error, (lost, 0.0)
    n = block * blocks + left
    lost += blocks * math.sqrt(length) * error
    low, high = -end(tilted, grid.rest, -values, n), end(tilted, grid.rest, values, n)
    size = _length((high - low) / (fine * deviation * math.sqrt(block)))
    step = (high - low) * 1.02 / (size - 8)
    first = math.floor(low / step) - 3

    def coarse(probabilities: Floats) -> tuple[Floats, float]:
        """Return the law of a block on the coarse grid, tilted, and the logarithm of its total."""
        places, weights = split(at, probabilities, step, tilt)
        total = math.fsum(weights)
        return np.asarray(np.bincount(places % size, weights / total, size), np.float64), math.log(total)

    folded, log_total = coarse(inner)
    logs = blocks * log_total
    transform_of_blocks = np.fft.rfft(folded)
    norm = power_error(transform_of_blocks, blocks, size)
    product = power(transform_of_blocks, blocks)
    if left:
        rest, error = sums_of(left)
        lost += math.sqrt(length) * error + outside(left, at[0], at[-1])
        folded, log_total = coarse(rest)
        logs += log_total
        product = product * np.fft.rfft(folded)
    probabilities = np.maximum(np.roll(np.fft.irfft(product, size), -(first % size)), 0.0)
    norm = 1.1 * norm + 4 * FOURIER_ERROR * math.log2(size)
    at_all: Floats = (first + np.arange(size)) * np.float64(step)
    # By Hoeffding's lemma a split increases the logarithm of the moment at y of a block by at most (y step)^2 / 8.
    lost += outside(n, at_all[0], at_all[-1], (blocks + 1) * step**2 / 8)
    return at_all, probabilities, norm, (lost, logs)


def split(values: Floats, weights: Floats, step: float, tilt: float) -> tuple[NDArray[np.int64], Floats]:
    """Return the places and weights on a grid with the same means of weights times e^(-tilt value) as the values have."""
    at = values / step
    places = np.floor(at)
    part = at - places
    below = weights * (1 - part) * np.exp(tilt * (places * step - values))
    above = weights * part * np.exp(tilt * ((places + 1) * step - values))
    whole = places.astype(np.int64)
    return np.concatenate([whole, whole + 1]), np.concatenate([below, above])


def power_error(transform: NDArray[np.complex128], count: int, length: int) -> float:
    """Return a bound on the Euclidean norm of the error of the inverse transform of a power of the transform of a law.

    Each value of the transform has an error of at most FOURIER_ERROR times the number of its stages, and each product one of
    three units.
    """
    error = FOURIER_ERROR * math.log2(length)
    sizes = np.minimum(np.abs(transform) + 2 * error, 1.0)
    twice = np.full(len(sizes), 2.0)
    twice[[0, -1]] = 1.0
    norm = math.sqrt(float(twice @ np.exp((2 * count - 2) * np.log(sizes))) / length)
    return 1.1 * norm * (count * (error + 3 * UNIT) + error)


def _length(cells: float) -> int:
    return int(1 << max(MIN_LENGTH, min(MAX_LENGTH, math.ceil(math.log2(max(2.0, 1.05 * cells))))))
