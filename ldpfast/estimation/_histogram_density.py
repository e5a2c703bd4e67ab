"""Density estimation by histograms (Duchi, Jordan, Wainwright 2018, section 5)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._typing import AnyArray, Floats
from ..domains import Interval
from ..mechanisms import LaplaceOneHot, Mechanism, UnaryEncoding
from ..results import SHARES, Estimate
from ._density_estimate import DensityEstimate
from .protocols import FEW_REPORTS, Problem, warn_few

MAX_BINS = 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class HistogramEstimate(DensityEstimate):
    """Density estimated by a histogram with bins of equal width; `value` contains the shares of the bins.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import histogram_density
    >>> density = histogram_density(np.random.default_rng(1).uniform(0, 1, 10_000), 2.0, bins=5, rng=1)
    >>> low, high = density.band(0.5)
    >>> low < 1 < high
    True
    """

    def _unit(self) -> str:
        return ""

    def _names(self) -> tuple[str, str]:
        return "share", "bin"

    def _entries(self, places: Sequence[int]) -> list[str]:
        edges = np.linspace(self.lower, self.upper, len(self.value) + 1)
        return [f"{edges[place]:.6g} to {edges[place + 1]:.6g}" for place in places]

    def _bins(self, x: Floats) -> NDArray[np.intp]:
        return _bin_index(x, self.lower, self.upper, len(self.value))

    def _density(self, x: Floats) -> Floats:
        return np.asarray((self.value * (len(self.value) / (self.upper - self.lower)))[self._bins(x)])

    def _limits(self, tail: float, simultaneous: bool) -> tuple[Any, Any]:
        bins = len(self.value)
        shares = self.rule.bounds(self.value, self.stderr, tail / bins if simultaneous else tail)
        low, high = (share * (bins / (self.upper - self.lower)) for share in shares)
        return lambda x: low[self._bins(x)], lambda x: high[self._bins(x)]


def _bin_index(x: AnyArray, lower: float, upper: float, bins: int) -> NDArray[np.intp]:
    """Return the index of the bin of each number. The upper end belongs to the last bin."""
    with np.errstate(over="ignore", invalid="ignore"):  # numbers outside, and signaling NaN
        place = (np.asarray(x, np.float64) - lower) * (bins / (upper - lower))
    return np.clip(np.nan_to_num(place, nan=bins // 2), 0, bins - 1).astype(np.intp)


@dataclass(frozen=True)
class HistogramDensity(Problem[HistogramEstimate]):
    """Density of a number in an interval by a histogram with bins of equal width, the paper's estimator.

    For the distribution of a number use `Distribution`: it needs no number of bins and no bound on the slope.

    Parameters
    ----------
    epsilon : float
        Privacy parameter of the number, > 0.
    n : int, optional
        Number of people who are asked, from which the number of bins is computed. Not needed with `bins`.
    bins : int, optional
        Number of bins, >= 2. The default is about (L^2 n / (12 v))^(1/4), where v is the variance of a share in one
        report. It minimizes a bound on the risk, L^2 / (12 bins^2) + bins^2 v / n.
    lower, upper : float
        Public ends of the interval.
    noise : {"unary", "laplace"}
        Mechanism: the symmetric `UnaryEncoding`, or `LaplaceOneHot`, a baseline with twice the variance.
    lipschitz : float, default 1.0
        L, a bound on the slope of the density on the unit interval.

    Attributes
    ----------
    n_bins : int
        `bins`, or the number computed from `n`.

    Raises
    ------
    TypeError, ValueError
        If both or none of `n` and `bins` are given; if an argument is out of range.

    Notes
    -----
    Records are floats in [lower, upper]. Histograms do not attain the optimal rate for densities smoother than
    Lipschitz; use `SeriesDensity` for these. Bands are for the shares of the bins: Clopper-Pearson ("unary"), valid for
    every n, or normal ("laplace").

    Privacy
    -------
    The guarantee of the mechanism.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       JASA 113 (2018), section 5.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import HistogramDensity
    >>> problem = HistogramDensity(2.0, bins=5)
    >>> reports = problem.privatize(np.random.default_rng(1).beta(2, 5, 10_000), rng=1)
    >>> density = problem.estimate(reports)
    >>> density(0.25) > density(0.75)
    True
    """

    epsilon: float
    _: KW_ONLY
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
            n = _check.people("n", self.n)
            if unary:
                v = float(UnaryEncoding(2, self.epsilon).debiasing.variance(0.0))
            else:
                v = LaplaceOneHot(2, self.epsilon).report.noise_variance
            bins = max(2, min(MAX_BINS, round(math.sqrt(slope) * (n / (12 * v)) ** 0.25)))
        bins = _check.integer("bins", bins, 2, MAX_BINS)
        mechanism: Mechanism = UnaryEncoding(bins, self.epsilon) if unary else LaplaceOneHot(bins, self.epsilon)
        self._define(mechanism, Interval(lower, upper), n_bins=bins)

    def _encode(self, records: AnyArray) -> AnyArray:
        lower, upper = self.domain.range
        return _bin_index(records, lower, upper, self.n_bins).astype(np.min_scalar_type(self.n_bins - 1))

    def _convert(self, raw: Estimate[Any]) -> HistogramEstimate:
        if self.noise == "laplace":
            warn_few(raw.n, FEW_REPORTS, "the band of a density")
        lower, upper = self.domain.range
        return HistogramEstimate(
            raw.value, raw.stderr, raw.n, raw.guarantee, None, raw.rule, lower, upper, _span=SHARES
        )
