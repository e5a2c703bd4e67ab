"""Densities by histograms (Duchi, Jordan, Wainwright 2018, section 5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._typing import AnyArray, Floats
from ..domains import Interval
from ..mechanisms import LaplaceOneHot, Mechanism, UnaryEncoding
from ..results import Estimate
from ._density import DensityEstimate
from .protocols import FEW_REPORTS, Problem, warn_few

if TYPE_CHECKING:
    from .._typing import RNGLike

MOST_BINS = 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class HistogramEstimate(DensityEstimate):
    """A histogram; `value` are the shares of its bins, which are of one width."""

    def _bins(self, x: Floats) -> NDArray[np.intp]:
        return _bin(x, self.lower, self.upper, len(self.value))

    def _density(self, x: Floats) -> Floats:
        return np.asarray((self.value * (len(self.value) / (self.upper - self.lower)))[self._bins(x)])

    def _limits(self, tail: float, simultaneous: bool) -> tuple[Any, Any]:
        bins = len(self.value)
        shares = self.rule.bounds(self.value, self.stderr, tail / bins if simultaneous else tail)
        low, high = (share * (bins / (self.upper - self.lower)) for share in shares)
        return lambda x: low[self._bins(x)], lambda x: high[self._bins(x)]


def _bin(x: AnyArray, lower: float, upper: float, bins: int) -> NDArray[np.intp]:
    """Which of the bins; the upper end belongs to the last."""
    place = (np.asarray(x, np.float64) - lower) * (bins / (upper - lower))
    return np.clip(np.nan_to_num(place, nan=bins // 2), 0, bins - 1).astype(np.intp)


@dataclass(frozen=True)
class HistogramDensity(Problem[HistogramEstimate]):
    """The density of a number in an interval, by a histogram of bins of one width.

    Parameters
    ----------
    epsilon : float
        Privacy parameter of the number, > 0.
    n : int, optional
        How many people are asked: the number of bins depends on it. Not needed with `bins`.
    bins : int, optional
        Number of bins, >= 2. By default about (L^2 n / (12 v))^(1/4), v the variance of a share of one report: the
        smallest bound on the risk, L^2 / (12 bins^2) + bins^2 v / n.
    lower, upper : float
        Ends of the interval, public.
    noise : {"unary", "laplace"}
        `UnaryEncoding` (symmetric), or Laplace noise on the one-hot vector, the baseline of twice the variance.
    lipschitz : float, default 1.0
        L, a bound on the slope of the density on the unit interval.

    Attributes
    ----------
    n_bins : int
        `bins`, or the number chosen.

    Raises
    ------
    TypeError, ValueError
        If neither `n` nor `bins` is given; if an argument is out of range.

    Notes
    -----
    Records: floats in [lower, upper]. No histogram attains the best rate for densities that are smoother than
    Lipschitz: use `SeriesDensity`. Bands are Clopper-Pearson ("unary"), valid for every n, or normal; of what the bins
    resolve.

    Privacy
    -------
    That of the mechanism.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
    JASA
       113 (2018), section 5.
    """

    epsilon: float
    n: int | None = None
    bins: int | None = None
    lower: float = 0.0
    upper: float = 1.0
    noise: str = "unary"
    lipschitz: float = 1.0
    n_bins: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        lower, upper = _check.interval(self.lower, self.upper)
        unary = _check.choice("noise", self.noise, ("unary", "laplace")) == "unary"
        bins, slope = self.bins, _check.positive("lipschitz", self.lipschitz)
        if (bins is None) == (self.n is None):
            raise ValueError(
                "n or bins must be given, not both" if bins is None else "n must be left out where bins is given"
            )
        if bins is None:
            n = _check.integer("n", self.n, 1)
            if unary:
                v = float(UnaryEncoding(2, self.epsilon).debiasing.variance(0.0))
            else:
                v = LaplaceOneHot(2, self.epsilon).report.noise_variance
            bins = max(2, min(MOST_BINS, round((slope**2 * n / (12 * v)) ** 0.25)))
        bins = _check.integer("bins", bins, 2, MOST_BINS)
        mechanism: Mechanism = UnaryEncoding(bins, self.epsilon) if unary else LaplaceOneHot(bins, self.epsilon)
        self._define(mechanism, Interval(lower, upper), n_bins=bins)

    def _encode(self, records: AnyArray) -> AnyArray:
        lower, upper = self.domain.range
        return _bin(records, lower, upper, self.n_bins).astype(np.min_scalar_type(self.n_bins - 1))

    def _conclude(self, raw: Estimate[Any]) -> HistogramEstimate:
        if self.noise == "laplace":
            warn_few(raw.n, FEW_REPORTS, "the band of a density")
        lower, upper = self.domain.range
        return HistogramEstimate(raw.value, raw.stderr, raw.n, raw.guarantee, None, raw.rule, lower, upper)


def histogram_density(
    x: ArrayLike,
    epsilon: float,
    *,
    bins: int | None = None,
    lower: float = 0.0,
    upper: float = 1.0,
    noise: str = "unary",
    lipschitz: float = 1.0,
    clip: bool = False,
    rng: RNGLike = None,
) -> HistogramEstimate:
    """The density of numbers in an interval, each of them privatized by itself: a histogram.

    Parameters
    ----------
    x : array_like of float, shape (n,)
        In [lower, upper].
    epsilon, bins, lower, upper, noise, lipschitz
        As for `HistogramDensity`; n is the length of `x`.
    clip : bool, default False
        Move numbers that are outside to the ends, instead of refusing them.
    rng : None, int, SeedSequence, Generator or BitGenerator

    Returns
    -------
    density : HistogramEstimate
        Callable on points; `band`, `project`, `plot`.

    Raises
    ------
    TypeError, ValueError
        As `HistogramDensity`; if a number is outside and `clip` is false.

    Privacy
    -------
    Each number is epsilon-LDP by itself; everything else is a function of the reports.
    """
    n = max(1, np.size(_check.array("x", x))) if bins is None else None
    return HistogramDensity(epsilon, n, bins, lower, upper, noise, lipschitz).run(x, rng=rng, clip=clip)
