"""M-estimates by the exponential mechanism on public grids. Records, psi, sums and weights are integers, so it is exact.

A record is rounded to a public grid and psi to integers, so that the sum of psi over the records is an integer that changes
by at most `UNITS` if one record is replaced. The line of theta is divided into cells. The distance of a cell is 0 if the sum
changes its sign there, else the absolute sum at the nearer end; it changes by at most `UNITS` as well. The weight of a cell
depends on its distance in steps of UNITS / LEVELS. psi is called with public points only, so its integers are a public table:
nothing depends on how accurate its doubles are, or on whether it treats each point by itself. docs/proofs/central.md.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._core.stream import Stream, StreamId
from .._random import open_stream, words
from .._typing import Floats
from ..privacy import Guarantee
from ..results import Estimate
from . import _curator_records
from ._m_psi import GRID, Custom, Psi, as_psi
from ._m_sampler import PRIORS, MonotoneEM, Prior, Uniforms, check_epsilon
from ._quantile import weights

if TYPE_CHECKING:
    from .._random import RNGLike

UNITS = 1 << 20  # integer steps in the width of psi
LEVELS = 64  # steps of the distance in the width of psi that have different weights
FINER = 16  # cells of theta per step of the records, for a psi of the difference theta - x
METHODS = ("grid", "continuous")
MAX_POINTS = 1 << 16
MAX_RECORDS = 1 << 32  # so that sums of integers are exact in doubles


class PublicGrids:
    """Public grids of the records and of theta, and the integer psi on them.

    Parameters
    ----------
    psi : Psi
    prior : Prior
        The ends of the cells of theta are equally spaced in [lower, upper] for a uniform prior, and quantiles of a Cauchy
        prior.
    size : int
        Number of points of the records, equally spaced in [lower, upper].
    """

    def __init__(self, psi: Psi, prior: Prior, size: int) -> None:
        self.psi = psi
        self.prior = prior
        self.size = size
        self.of_difference = psi.of_difference and prior.name == "uniform"
        cells = (FINER if self.of_difference else 1) * (size - 1)
        start, stop = prior.ends
        margin = 0.0 if prior.name == "uniform" else 0.5  # the ends of a Cauchy prior are infinite
        share = (np.arange(2 * cells + 1) / 2 + margin) / (cells + 2 * margin)
        points = prior.theta(start + (stop - start) * share)
        self.thetas, self.centers = points[::2], points[1::2]

    def counts(self, x: Floats) -> NDArray[np.int64]:
        """Return how many records are next to each point. `x` is in [lower, upper]."""
        lower, upper = self.prior.lower, self.prior.upper
        nearest = np.rint((x - lower) * ((self.size - 1) / (upper - lower)))
        indices = np.clip(nearest, 0, self.size - 1).astype(np.int64)
        return np.bincount(indices, minlength=self.size)

    def integers(self, values: Floats) -> Floats:
        """Return psi in steps of width / UNITS from its lower bound on: integers in [0, UNITS], or NaN."""
        low, _ = self.psi.bounds
        steps = (values - low) * (UNITS / self.psi.width)
        return np.clip(np.rint(steps, out=steps), 0, UNITS, out=steps)

    def sums(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the integer sum of psi over the records, for the ends of all cells."""
        low, _ = self.psi.bounds
        zero = int(np.rint(-low * (UNITS / self.psi.width)))
        n, weight = int(counts.sum()), counts.astype(np.float64)
        sums: Floats
        if self.of_difference:
            step, last = (self.prior.upper - self.prior.lower) / (len(self.thetas) - 1), len(self.thetas) - 1
            table = self.integers(self.psi(0.0, np.arange(-last, last + 1) * step))
            # theta number FINER j + r minus record number i is difference number FINER (j - i) + r.
            sums = np.empty(len(self.thetas))
            for r in range(FINER):
                entries = table[(last + r) % FINER :: FINER]
                parts = np.convolve(weight, entries)
                first = (last + r) // FINER
                sums[r::FINER] = parts[first : first + len(sums[r::FINER])]
        else:
            # psi gets all points, with and without records: what it returns for one of them may depend on the others.
            share = np.arange(self.size) / (self.size - 1)
            points = self.prior.lower + (self.prior.upper - self.prior.lower) * share
            sums = np.array([weight @ self.integers(self.psi(points, theta)) for theta in self.thetas.tolist()])
        if np.isnan(sums).any():  # 0 NaN is NaN, so this does not depend on the records
            raise ValueError("psi must be numbers, got nan")
        return sums.astype(np.int64) - n * zero

    def masses(self, counts: NDArray[np.int64], epsilon: float) -> NDArray[np.uint64]:
        """Return the integer weight of every cell."""
        sums = self.sums(counts)
        distances = np.maximum(np.maximum(sums[:-1], -sums[1:]), 0)
        levels = distances * LEVELS // UNITS
        # Weights of consecutive levels have the ratio exp(-epsilon / (2 LEVELS)), rounded up; `weights` has exp(-e / 4).
        table = weights(epsilon * (2 / LEVELS), max(1, int(counts.sum()) * LEVELS))
        return np.asarray(table[np.minimum(levels, len(table) - 1)])


def draw(masses: NDArray[np.uint64], stream: Stream) -> int:
    """Return an index with probability exactly proportional to its integer mass."""
    sums = np.cumsum(masses.astype(object))
    total = int(sums[-1])
    bits = total.bit_length()
    while True:
        drawn = sum(int(word) << 64 * i for i, word in enumerate(words(stream, StreamId.M_ESTIMATE, 2)))
        value = drawn >> 128 - bits
        if value < total:
            return int(np.searchsorted(sums, value, side="right"))


def m_estimate(
    x: ArrayLike,
    psi: Psi | str,
    *,
    epsilon: float,
    prior: str = "uniform",
    lower: float,
    upper: float,
    nan: str = "raise",
    rng: RNGLike = None,
    method: str = "grid",
    grid: int = 4096,
    allow_ideal: bool = False,
) -> Estimate[float]:
    """Return an M-estimate by the exponential mechanism: a theta for which the sum of psi(x_i, theta) is near zero.

    It is drawn with the density prior times exp(-kappa |sum of psi(x_i, theta)|), with kappa = epsilon / (2 psi.width).

    Parameters
    ----------
    x : array_like, shape (n,)
        Records in any order, clipped to [lower, upper].
    psi : {"quantile", "huber", "logistic"}, Quantile, Huber, Logistic or Custom
        Function that defines the estimator. A string selects the object with its default parameters.
    epsilon : float
        Privacy parameter, > 0 and at most 1e6.
    prior : {"uniform", "cauchy"}
        Prior of the estimate. "uniform" on [lower, upper]; "cauchy" with the center and the half-width of this
        interval, so that the estimate is unbounded and half of the prior mass is inside.
    lower, upper : float
        Public bounds of the records.
    nan : {"raise", "center"}
        Treatment of records that are not finite: an error, which is outside the guarantee, or replacement by the center
        of [lower, upper].
    rng : None, int, SeedSequence, Generator or BitGenerator
        Source of randomness; only ``None`` is private.
    method : {"grid", "continuous"}
        "grid": records are rounded to a public grid, theta is the center of a public cell, and weights are integers;
        exact. "continuous": a density on an interval, which is IDEAL ONLY, because it is computed in doubles.
    grid : int, default 4096
        Number of points in [lower, upper] to which records are rounded, from 2 to 65536. For "quantile", "huber" and
        "logistic" with a uniform prior there are 16 cells of theta per step, otherwise one.
    allow_ideal : bool, default False
        Whether to release a value whose guarantee is ideal only. Required for "continuous".

    Returns
    -------
    estimate : Estimate
        M-estimate. Its standard error is infinite, because public numbers give no bound without an assumption about the
        distribution of the records. See `m_estimate_sample_size` and `quantile_error` for bounds under assumptions.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range, or a custom psi exceeds its bounds, decreases in theta or depends on other records
        on a public grid.

    Privacy
    -------
    epsilon-differential privacy for the replacement of one record. The guarantee is exact: psi is rounded to integers, so a
    replaced record changes their sum by at most 2^20, the width of psi, and each integer weight by a factor of at most
    exp(epsilon / 2), whatever psi is. A custom psi is called with public points only, and must itself be public: it must not
    read the records in another way. The published kappa is at least twice as large and gives 2 epsilon.
    ``method="continuous"`` is private for real numbers, ideal only. A custom psi is then called with parts of the sorted
    records: it has to be nondecreasing in theta and to depend on each record by itself everywhere, not only on the grid of the
    check. The running time depends on the records. docs/proofs/central.md.

    Notes
    -----
    On the grid, O(n + grid^2) time: 0.3 s for the default. The error of the grid is at most one cell of theta and half a
    step of the records. A continuous estimate costs a sort and about 100 evaluations of the sum: for a million records 10 ms
    (quantiles), 25 ms (Huber), 0.2 s (logistic).

    References
    ----------
    .. [1] K. Chaudhuri, D. Hsu, "Convergence rates for differentially private statistical estimation", ICML 2012.
    .. [2] F. McSherry, K. Talwar, "Mechanism design via differential privacy", FOCS 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast import central
    >>> x = np.random.default_rng(1).normal(5, 1, 10_000)
    >>> bool(abs(central.m_estimate(x, "huber", epsilon=1.0, lower=0, upper=10, rng=1).value - 5) < 0.1)
    True
    """
    psi, epsilon = as_psi(psi), check_epsilon(epsilon)
    start = Prior(_check.choice("prior", prior, PRIORS), *_check.interval(lower, upper))
    if isinstance(psi, Custom):
        psi.check(np.linspace(lower, upper, GRID), start.theta(np.linspace(*start.ends, 4 * GRID - 3)))
    _check.choice("method", method, METHODS)
    size = _check.integer("grid", grid, 2, MAX_POINTS)
    if method == "continuous":
        _curator_records.require_ideal(allow_ideal, f"method={method!r}")
    records = _curator_records.numbers(x, start.lower, start.upper, nan)
    if len(records) >= MAX_RECORDS:
        raise ValueError(f"x must hold fewer than 2^32 records, got {len(records)}")
    if method == "continuous":
        records.sort()
        value = MonotoneEM(psi.total(records), epsilon / (2 * psi.width), start).sample(Uniforms(open_stream(rng)))
    else:
        grids = PublicGrids(psi, start, size)
        value = float(grids.centers[draw(grids.masses(grids.counts(records), epsilon), open_stream(rng))])
    return Estimate(value, math.inf, len(records), Guarantee("pure", epsilon, ideal=method == "continuous"))
