"""Cases of the central model: from records to one private answer."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from ... import central
from ..._core import noise
from ..._random import open_stream
from ..._typing import AnyArray
from .._case import EPSILON, Case
from .._checks import bernstein
from .._data import ball, people

TAIL = 23.0  # a Laplace variable is farther than this from zero, in units of its scale, with probability 1e-10
PROPOSAL_BYTES = 16  # random bytes of a proposal of discrete Gaussian noise; 53 % are accepted
MEAN_RADIUS = 3.0
ROWS_RADIUS = 0.95
MEDIAN_RANGE = (0.0, 100.0)
SMOOTH_RANGE = (-10.0, 10.0)
SMOOTH_BETA = EPSILON / (2 * math.log(1e6))
SIGMA = 1000.0


def _check_mean(truth: AnyArray, scale: float, value: AnyArray) -> bool:
    """Check that each coordinate is within the noise; 1e-5 allows for single precision in NumPy's sums."""
    return bool(np.all(np.abs(value - truth) <= TAIL * scale + 1e-5))


def mean(scale: float = 1.0) -> Case:
    """Return the case of a clipped mean of float64 records."""
    radius, x = MEAN_RADIUS, np.random.default_rng(16).normal(0.5, 1.0, people(10_000_000, scale))
    truth = np.clip(x, -radius, radius).mean()
    return Case(
        "central mean, float64", "value", len(x), 0, 8, 0,
        lambda: central.mean(x, epsilon=EPSILON, moment=math.inf, radius=radius).value,
        partial(_check_mean, truth, 2 * radius / EPSILON / len(x)), None, x, 0.6,
    )  # fmt: skip


def mean_rows(scale: float = 1.0) -> Case:
    """Return the case of a clipped mean of float32 rows."""
    dim, radius = 100, ROWS_RADIUS
    x = ball(people(250_000, scale), dim)
    norms = np.sqrt(np.vecdot(x, x, dtype=np.float64))
    truth = np.einsum("i,ij->j", np.minimum(1, radius / norms), x) / len(x)
    return Case(
        f"central mean, float32, dim {dim}", "element", x.size, 0, 4, 0,
        lambda: central.mean(x, epsilon=EPSILON, moment=math.inf, radius=radius).value,
        partial(_check_mean, truth, 2 * radius * math.sqrt(dim) / EPSILON / len(x)), None, x,
    )  # fmt: skip


def _check_median(x: AnyArray, value: float) -> bool:
    """Check the rank of a median.

    With weights exp(-epsilon / 2 per rank) on 2^32 grid points, the rank error exceeds `bound` with probability at most
    1e-10.
    """
    bound = 2 / EPSILON * math.log(2.0**32 * 1e10)
    return abs(int((x <= value).sum()) - len(x) / 2) <= bound + 1


def median(scale: float = 1.0) -> Case:
    """Return the case of the median of float64 records by the exponential mechanism."""
    lower, upper = MEDIAN_RANGE
    x = np.random.default_rng(17).lognormal(0, 1, people(1_000_000, scale))
    return Case(
        "central median, exponential mechanism", "record", len(x), 0, 8, 0,
        lambda: central.median(x, epsilon=EPSILON, lower=lower, upper=upper).value,
        partial(_check_median, x), None, x, 15.0, threads=False,
    )  # fmt: skip


def smooth(scale: float = 1.0) -> Case:
    """Return the case of the smooth sensitivity of the median of sorted float64 records."""
    x = np.sort(np.random.default_rng(18).normal(0, 1, people(1_000_000, scale)))
    truth = smooth_in_numpy(x)
    return Case(
        "smooth sensitivity of the median, sorted", "record", len(x), 0, 8, 0,
        lambda: central.smooth_sensitivity_quantile(x, 0.5, SMOOTH_BETA, *SMOOTH_RANGE),
        partial(_check_equal, truth), None, x, 20.0, threads=False,
    )  # fmt: skip


def smooth_in_numpy(z: AnyArray) -> float:
    """Return the smooth sensitivity of the median of sorted data.

    Compares all pairs around the middle at each distance, until a larger distance cannot increase the result.
    """
    lower, upper = SMOOTH_RANGE
    n = len(z)
    middle = (n + 1) // 2
    ends = np.concatenate([[lower], z, [upper]])
    best, k = 0.0, 0
    while k <= n and math.exp(-SMOOTH_BETA * k) * (upper - lower) > best:
        first = np.arange(max(0, middle - k - 1), min(middle, n - k) + 1)
        best = max(best, math.exp(-SMOOTH_BETA * k) * float((ends[first + k + 1] - ends[first]).max()))
        k += 1
    return best


def _check_equal(truth: float, value: float) -> bool:
    return abs(value / truth - 1) <= 1e-9


def gaussian(scale: float = 1.0) -> Case:
    """Return the case of discrete Gaussian noise."""
    sigma, n = SIGMA, people(100_000, scale)
    out = np.empty(n, np.int64)

    def ours() -> AnyArray:
        stream = open_stream(None)
        noise.gaussian(stream, stream.take(1), round(sigma**2), out)
        return out

    return Case(
        "discrete Gaussian noise, exact", "sample", n, PROPOSAL_BYTES / 0.53, 0, 8, ours,
        partial(_check_gaussian, sigma), None, out, 40.0, threads=False,
    )  # fmt: skip


def _check_gaussian(sigma: float, sample: AnyArray) -> bool:
    """Check the shares of the sample above 0, 1 and 2 standard deviations, up to half a step of the integers."""
    n = len(sample)
    for place in (0.0, 1.0, 2.0):
        share = 0.5 * math.erfc(place / math.sqrt(2))
        if abs(float((sample > place * sigma).mean()) - share) > bernstein(share * (1 - share), 1.0, n) + 0.5 / sigma:
            return False
    return True


CASES: dict[str, Callable[[float], Case]] = {
    "central-mean": mean,
    "central-mean-100": mean_rows,
    "central-median": median,
    "central-smooth": smooth,
    "central-gaussian": gaussian,
}
