"""Quantiles by the exponential mechanism on a public grid. Points, ranks and weights are integers, so it is exact."""

from __future__ import annotations

import decimal
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._coins import CONTEXT, sum_up
from .._core import order
from .._core.stream import Stream
from .._random import open_stream
from ..privacy import Guarantee
from ..results import Estimate, Normal
from ._curator_records import array
from ._public_grid import SIZE, PublicGrid
from ._smooth_release import smooth_quantiles

if TYPE_CHECKING:
    from .._random import RNGLike

TOP = 1 << 62  # largest weight
PRIORS, METHODS = ("uniform", "cauchy"), ("exponential", "smooth-sensitivity")


@dataclass(frozen=True, eq=False)
class QuantileEstimate(Estimate[Any]):
    """Private quantile, or several. `rank_error` bounds the error of a rank.

    The standard error is infinite, because no bound follows without a bound on the density.

    Attributes
    ----------
    q : float or ndarray, shape (m,)
        Probability of the quantile, or of each.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast import central
    >>> estimate = central.quantile(np.arange(10_000), 0.9, epsilon=1.0, lower=0, upper=10_000, rng=1)
    >>> estimate.rank_error() < 0.01  # the rank of the value is at most 1 % away
    True
    """

    q: Any = field(default=0.5, kw_only=True)
    table: NDArray[np.uint64] | None = field(default=None, kw_only=True, repr=False)

    def rank_error(self, confidence: float = 0.95) -> float:
        """Return a bound on the error of the rank of the value, as a share of the records.

        Parameters
        ----------
        confidence : float, default 0.95
            Probability of the bound, in (0, 1).

        Returns
        -------
        error : float
            With probability `confidence`, ``share(x < value) - error <= q <= share(x <= value) + error``. The shares
            count these records as they are on the grid: clipped and rounded to it. For several quantiles it holds for all
            of them at once. 1 if there is no such bound (``method="smooth-sensitivity"``, or few records).

        Notes
        -----
        Some grid point is at distance 0 from the rank, and there are 2^32 grid points, so the probability of a distance
        of at least h half ranks is at most 2^32 W_h / W_0. If it holds for the quantiles as they are drawn, it holds after
        sorting, too: of two that are drawn in the wrong order, each is between its own bounds in the place of the other.
        """
        miss = (1 - _check.probability("confidence", confidence)) / np.size(self.q)
        if self.table is None:
            return 1.0
        unlikely = np.flatnonzero(self.table.astype(np.float64) * (SIZE / TOP) <= miss)
        return min(1.0, (float(unlikely[0]) / 2 + 0.5) / self.n) if len(unlikely) else 1.0

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of `Estimate.to_dict`, with the probabilities."""
        return {**super().to_dict(), "q": np.asarray(self.q).tolist()}

    def _unit(self) -> str:
        return " (unit of the records)"

    def _names(self) -> tuple[str, str]:
        return ("quantile", "probability") if np.ndim(self.q) else (f"quantile {self.q:g}", "entry")

    def _entries(self, places: Sequence[int]) -> list[str]:
        return [f"{self.q[at]:g}" for at in places] if np.ndim(self.q) else super()._entries(places)

    __repr__ = Estimate.__repr__


@lru_cache(maxsize=16)
def _ratio(epsilon: float) -> int:
    """Return exp(-epsilon / 4) in units of 2^-64, rounded up: the ratio of the weights of consecutive half ranks.

    One record changes a rank by at most two half ranks, and the sum of the weights changes with it.
    """
    with decimal.localcontext(CONTEXT):
        ratio = max(1, int(((-Decimal(epsilon) / 4).exp() * (1 << 64)).to_integral_value(decimal.ROUND_CEILING)))
    if ratio >= 1 << 64:
        raise ValueError(f"epsilon must be larger for weights of 64 bits, got {epsilon!r}")
    return ratio


def weights(epsilon: float, n: int) -> NDArray[np.uint64]:
    """Return the weights W_h of distances of h half ranks, from W_0 = 2^62, as long as they decrease."""
    table = np.empty(2 * n + 2, np.uint64) if n < 1 << 16 else np.empty(1 << 16, np.uint64)
    while True:
        used = order.weights(_ratio(epsilon), table)
        if used < len(table) or len(table) >= 2 * n + 2:
            return table[:used].copy()
        table = np.empty(min(16 * len(table), 2 * n + 2), np.uint64)


def choose(points: NDArray[np.uint32], twice_target: int, table: NDArray[np.uint64], stream: Stream) -> int:
    """Draw the index of a grid point with probability proportional to the weight of its rank."""
    n, away = len(points), len(table)
    low, high = max(0, (twice_target - away) // 2), min(n, (twice_target + away) // 2 + 1)
    near = np.sort(np.partition(points, (low, high - 1))[low:high]).astype(np.uint64)
    return order.choose(stream, stream.take(1), near, low, SIZE, twice_target, table)


def quantile(
    x: ArrayLike,
    q: ArrayLike,
    *,
    epsilon: float,
    lower: float,
    upper: float,
    method: str = "exponential",
    delta: float = 0.0,
    prior: str = "uniform",
    nan: str = "raise",
    rng: RNGLike = None,
) -> QuantileEstimate:
    """Return a private quantile, or several.

    Parameters
    ----------
    x : array_like, shape (n,)
        Records; n is public.
    q : float or array_like of float, shape (m,)
        Probability of the quantile, in (0, 1), or of each of several.
    epsilon : float
        Privacy parameter of all quantiles together, > 0. Each has an equal part of it, and of `delta`.
    lower, upper : float
        Public bounds, to which records are clipped. With a Cauchy prior they are the quartiles of the prior: nothing is
        clipped, and the value may be outside.
    method : {"exponential", "smooth-sensitivity"}
        "exponential": the exponential mechanism on a public grid of 2^32 points. "smooth-sensitivity": Laplace noise
        proportional to the smooth sensitivity, which requires `delta` > 0.
    delta : float
        In (0, 1) for "smooth-sensitivity", else 0.
    prior : {"uniform", "cauchy"}
        Prior of the exponential mechanism.
    nan : {"raise", "center"}
        Treatment of records that are not finite: an error, which is outside the guarantee, or replacement by the center
        of [lower, upper].
    rng : None, int, SeedSequence, Generator or BitGenerator
        Source of randomness; only ``None`` is private.

    Returns
    -------
    estimate : QuantileEstimate
        Quantile. `rank_error` bounds its error; the standard error is infinite, because the density is not known. Several
        quantiles ascend with their probabilities.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range, or `x` is empty, has a wrong shape or (if `nan` is "raise") is not finite.

    Privacy
    -------
    epsilon-differential privacy for the replacement of one record. The guarantee is exact: a grid point is chosen with
    probability proportional to an integer weight that decreases with the distance of the target from its ranks, and a
    replaced record changes that distance by at most one rank. See docs/proofs/central.md. (Gumbel noise in doubles, and
    uniform draws between two records, would leak the records.) ``method="smooth-sensitivity"`` is (epsilon,
    delta)-private, also exactly: the noise is added to an integer and rounded down.

    Notes
    -----
    The target is the rank round(2 n q) / 2. O(n) time for each quantile, about 8 ns per record: only the records near the
    target rank are sorted, about 180 / epsilon of them. The grid points take 8 bytes per record, also where `x` is a memory
    map. The error of a rank is proportional to the number of quantiles.

    References
    ----------
    .. [1] F. McSherry, K. Talwar, "Mechanism design via differential privacy", FOCS 2007.
    .. [2] K. Chaudhuri, D. Hsu, "Convergence rates for differentially private statistical estimation", ICML 2012.

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> x = np.random.default_rng(1).lognormal(0, 1, 100_000)
    >>> estimate = ldp.central.quantile(x, 0.5, epsilon=1.0, lower=0, upper=100, rng=1)
    >>> bool(abs(estimate.value - 1) < 0.03)
    True
    >>> quartiles = ldp.central.quantile(x, [0.25, 0.5, 0.75], epsilon=1.0, lower=0, upper=100, rng=1)
    >>> bool(np.allclose(quartiles.value, np.quantile(x, quartiles.q), rtol=0.03))
    True
    """
    probabilities, epsilon = _check.within("q", q, 0, 1, "()"), _check.positive("epsilon", epsilon)
    if probabilities.ndim > 1 or not probabilities.size:
        raise ValueError(f"q must be a number or have shape (m,) with m >= 1, got shape {probabilities.shape}")
    lower, upper = _check.interval(lower, upper)
    _check.choice("method", method, METHODS)
    _check.choice("prior", prior, PRIORS)
    records, ascending = array(x, nan), np.sort(probabilities, axis=None).tolist()
    m, n = len(ascending), len(records)
    own = _part(epsilon, m)
    table = None
    if method == "smooth-sensitivity":
        if prior != "uniform":
            raise ValueError(f'prior must be "uniform" for method={method!r}, got {prior!r}')
        own_delta = _part(_check.probability("delta", delta), m)
        drawn = smooth_quantiles(records, ascending, own, own_delta, lower, upper, rng, nan)
        guarantee = Guarantee("approximate", sum_up([own] * m), sum_up([own_delta] * m))
    else:
        if _check.real("delta", delta) != 0:
            raise ValueError(f"delta must be 0 for method={method!r}, got {delta!r}")
        grid, table = PublicGrid(lower, upper, prior), weights(own, n)
        points = grid.indices(records, nan)
        stream = open_stream(rng)
        drawn = [grid.value(choose(points, round(2 * n * p), table, stream)) for p in ascending]
        guarantee = Guarantee("pure", sum_up([own] * m))
    value: Any = drawn[0]
    stderr: Any = math.inf
    if probabilities.ndim:
        # Quantiles ascend: sorting uses what was released only. Each goes to the rank of its probability.
        value, stderr = np.sort(drawn)[np.argsort(np.argsort(probabilities, kind="stable"))], np.full(m, math.inf)
    asked: Any = probabilities if probabilities.ndim else float(probabilities)
    return QuantileEstimate(value, stderr, n, guarantee, None, Normal(), q=asked, table=table)


def _part(total: float, parts: int) -> float:
    """Return the largest double of which so many add up to at most a total."""
    part = total / parts
    return part if Fraction(part) * parts <= Fraction(total) else math.nextafter(part, 0.0)


def median(
    x: ArrayLike,
    *,
    epsilon: float,
    lower: float,
    upper: float,
    method: str = "exponential",
    delta: float = 0.0,
    prior: str = "uniform",
    nan: str = "raise",
    rng: RNGLike = None,
) -> QuantileEstimate:
    """Return a private median: `quantile` with q = 1/2.

    Parameters
    ----------
    x, epsilon, lower, upper, method, delta, prior, nan, rng
        As for `quantile`.

    Returns
    -------
    estimate : QuantileEstimate
        Median.

    Raises
    ------
    TypeError, ValueError
        If `quantile` rejects an argument.

    Privacy
    -------
    The guarantee of `quantile`.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast import central
    >>> x = np.random.default_rng(1).normal(5, 1, 10_000)
    >>> bool(abs(central.median(x, epsilon=1.0, lower=0, upper=10, rng=1).value - 5) < 0.1)
    True
    """
    return quantile(
        x,
        0.5,
        epsilon=epsilon,
        lower=lower,
        upper=upper,
        method=method,
        delta=delta,
        prior=prior,
        nan=nan,
        rng=rng,
    )
