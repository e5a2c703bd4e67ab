"""Quantiles and trimmed means with noise calibrated to the given data without leaking them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._core.stream import Stream, StreamId
from .._random import open_stream
from .._typing import Floats
from ..privacy import Guarantee
from ..results import Estimate
from ._public_grid import SIZE, PublicGrid
from ._rounded_noise import laplace
from ._smooth_calibration import DIGITS, calibrate
from ._smooth_sensitivity import (
    ERROR,
    SortedRecords,
    rank,
    rank_sensitivity,
    trim_share,
    trimmed,
    trimmed_sum_sensitivity,
)

if TYPE_CHECKING:
    from .._random import RNGLike


def _calibrate_rounded(epsilon: float, delta: float) -> tuple[float, float]:
    """Return scale and beta for sensitivities from `_rounded_up`. A beta that is not above their error becomes 0."""
    scale, beta = calibrate(epsilon, delta=delta)
    return scale, beta - 4 * ERROR if beta > 8 * ERROR else 0.0


def _rounded_up(sensitivity: float, beta: float) -> float:
    """Return an upper bound on the larger of 1 and a smooth sensitivity of integers, which is known up to `ERROR`.

    The bounds of neighbors differ by a factor of at most exp(beta + 4 ERROR). For beta = 0 the sensitivity is exact.
    """
    return max(sensitivity, 1.0) * (1 + 2 * ERROR) if beta else sensitivity


def _release(statistic: int, sensitivity: float, scale: float, stream: Stream) -> float:
    """Return statistic + 1/2 + noise, where the noise is Laplace with the scale `scale` times `sensitivity`, rounded down."""
    with localcontext(DIGITS):
        width = Decimal(scale) * Decimal(sensitivity)
    return statistic + laplace(width, stream, StreamId.SMOOTH_SENSITIVITY) + 0.5


def smooth_quantiles(
    x: ArrayLike,
    q: Sequence[float],
    epsilon: float,
    delta: float,
    lower: float,
    upper: float,
    rng: RNGLike = None,
    nan: str = "raise",
) -> list[float]:
    """Return quantiles with noise proportional to their smooth sensitivities, clamped to [lower, upper].

    Parameters
    ----------
    x, lower, upper, nan
        As for `smooth_sensitivity_quantile`.
    q : sequence of float
        Probabilities, in (0, 1).
    epsilon, delta
        As for `calibrate`, for each quantile.
    rng : None, int, SeedSequence, Generator or BitGenerator
        Source of randomness, used after all checks; only ``None`` is private.

    Returns
    -------
    quantiles : list of float
        Private quantiles.

    Raises
    ------
    TypeError, ValueError
        If `smooth_sensitivity_quantile` or `calibrate` rejects an argument.

    Privacy
    -------
    (epsilon, delta) of each for the replacement of one record, exactly: records are rounded to a public grid, and noise is
    added to an integer and rounded down.
    """
    grid = PublicGrid(*_check.interval(lower, upper), "uniform")
    scale, beta = _calibrate_rounded(epsilon, delta)
    data = SortedRecords.on_grid(x, grid, nan)
    ranks = [rank(p, data.n) for p in q]
    sensitivities = [_rounded_up(rank_sensitivity(data, m, beta), beta) for m in ranks]
    stream = open_stream(rng)
    drawn = [
        _release(int(data.records[m - 1]), own, scale, stream) for m, own in zip(ranks, sensitivities, strict=True)
    ]
    return [grid.value(min(max(index, 0.0), SIZE - 1.0)) for index in drawn]


@dataclass(frozen=True)
class BoundedDifferences:
    """Interval from public numbers alone, for every distribution of the records and every n.

    One record changes the statistic of n records by at most `step`: P(T - E T > t) <= exp(-2 t^2 / (n step^2)) (C.
    McDiarmid, "On the method of bounded differences", 1989). The noise is Laplace with a scale of at most `scale`. Each
    gets half of the tail. Rounding to a grid adds at most `rounding`.
    """

    step: float
    n: int
    scale: float
    rounding: float

    def bounds(self, value: Floats, stderr: Floats, tail: float) -> tuple[Floats, Floats]:
        """Return value +- the half-width."""
        sampling = self.step * math.sqrt(self.n * math.log(2 / tail) / 2)
        margin = sampling + self.scale * math.log(1 / tail) + self.rounding
        return value - margin, value + margin


def trimmed_mean(
    x: ArrayLike,
    trim: float,
    *,
    epsilon: float,
    delta: float = 0.0,
    lower: float,
    upper: float,
    nan: str = "raise",
    rng: RNGLike = None,
) -> Estimate[float]:
    """Return a private trimmed mean, with noise proportional to its smooth sensitivity.

    Parameters
    ----------
    x : array_like, shape (n,)
        Records in any order, clipped to [lower, upper].
    trim : float
        Share in [0, 1/2): floor(trim n) records are left out on each side.
    epsilon : float
        Privacy parameter in [1e-12, 1000].
    delta : float, default 0.0
        Privacy parameter in [0, 1). With 0, noise is calibrated to the global sensitivity, (upper - lower) / (n - 2
        floor(trim n)).
    lower, upper : float
        Public bounds.
    nan : {"raise", "center"}
        Treatment of records that are not finite: an error, which is outside the guarantee, or replacement by the center
        of [lower, upper].
    rng : None, int, SeedSequence, Generator or BitGenerator
        Source of randomness; only ``None`` is private.

    Returns
    -------
    estimate : Estimate
        Trimmed mean in [lower, upper]. The standard error and the interval are for the expected trimmed mean of n
        records. They are bounds from public numbers for every distribution, and several times too large for most
        distributions.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range, or `x` is not a one-dimensional array of at least one number.

    Privacy
    -------
    (epsilon, delta) for the replacement of one record, exactly. Records are rounded to a public grid of 2^32 points. The
    noise is added to the sum of their indices and rounded down, so the release is an integer. It is proportional to an
    upper bound on the smooth sensitivity, which is not released. See docs/proofs/central.md.

    Notes
    -----
    O(n log n) time: about 10 ns per record, mostly for the sort.

    References
    ----------
    .. [1] K. Nissim, S. Raskhodnikova, A. Smith, "Smooth sensitivity and sampling in private data analysis", STOC 2007.
    .. [2] K. Chaudhuri, D. Hsu, "Convergence rates for differentially private statistical estimation", ICML 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast import central
    >>> x = np.random.default_rng(1).normal(5, 1, 10_000)
    >>> estimate = central.trimmed_mean(x, 0.1, epsilon=1.0, delta=1e-6, lower=0, upper=10, rng=1)
    >>> bool(abs(estimate.value - 5) < 0.1)
    True
    """
    trim = trim_share(trim)
    low, high = _check.interval(lower, upper)
    grid = PublicGrid(low, high, "uniform")
    scale, beta = _calibrate_rounded(epsilon, delta)
    data = SortedRecords.on_grid(x, grid, nan)
    m = trimmed(trim, data.n)
    kept = data.n - 2 * m
    total = int(data.records[m : data.n - m].sum(dtype=np.uint64))
    sensitivity = _rounded_up(trimmed_sum_sensitivity(data, m, beta), beta)
    index = _release(total, sensitivity, scale, open_stream(rng)) / kept
    value = grid.value(min(max(index, 0.0), SIZE - 1.0))
    step = max((high - low) / kept, math.ulp(max(-low, high)))
    largest = scale * step * (1 + 4 * ERROR)
    return Estimate(
        value,
        math.sqrt(data.n / 4 + 2 * scale**2) * step,
        data.n,
        Guarantee("approximate" if delta else "pure", float(epsilon), float(delta)),
        rule=BoundedDifferences(step, data.n, largest, (high - low) / SIZE),
    )
