"""Density estimation by orthogonal series (Duchi, Jordan, Wainwright 2018, section 5.1)."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np

from .. import _check
from .._core import privatize, series
from .._typing import Floats
from ..domains import Interval
from ..mechanisms import LinfBall
from ..mechanisms._half_space import half_space_constant
from ..reports import recipe_of
from ..results import Estimate
from ._density_estimate import DensityEstimate
from .protocols import FEW_REPORTS, Problem, warn_few

MAX_TERMS = 1 << 16
BOUND = math.sqrt(2)  # largest absolute value of a term of the series


@dataclass(frozen=True, eq=False, repr=False)
class SeriesEstimate(DensityEstimate):
    """Density estimated by a trigonometric series.

    `value` contains the coefficients on the unit interval, of sqrt 2 times cos and sin of 1, 2, ... periods.

    Attributes
    ----------
    scale : float
        Standard deviation of a coefficient in one report.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import series_density
    >>> density = series_density(np.random.default_rng(1).uniform(0, 1, 10_000), 2.0, rng=1)
    >>> low, high = density.band(np.linspace(0, 1, 5), simultaneous=True)
    >>> bool((low < 1).all() and (high > 1).all())
    True
    """

    scale: float = math.nan

    def _unit(self) -> str:
        return ""

    def _names(self) -> tuple[str, str]:
        return "coefficient", "term"

    def _density(self, x: Floats) -> Floats:
        out = np.empty_like(x)
        series.Series(len(self.value), self.lower, self.upper).values(np.array(self.value), x, out)
        return out / (self.upper - self.lower)

    def _limits(self, tail: float, simultaneous: bool) -> tuple[Any, Any]:
        from scipy.special import ndtri

        z = _simultaneous_quantile(len(self.value), 2 * tail) if simultaneous else -float(ndtri(tail))
        width, size = self.upper - self.lower, len(self.value)

        def limits(x: Floats, sign: float) -> Floats:
            # The band contains the heights f with (estimate - f)^2 n <= z^2 variance(f). The variance is the variance of the
            # noise, scale^2 times the sum of the squares of the terms, minus (f - 1)^2. Solved for f - 1.
            odd = np.cos(2 * np.pi * ((size + 1) // 2) * (x - self.lower) / width) if size % 2 else 0.0
            squares = size + (2 * odd**2 - 1 if size % 2 else 0.0)
            away, weight = self._density(x) * width - 1, z**2 / self.n
            root = np.sqrt(np.maximum(away**2 - (1 + weight) * (away**2 - weight * self.scale**2 * squares), 0))
            return np.asarray((1 + (away + sign * root) / (1 + weight)) / width)

        return lambda x: limits(x, -1.0), lambda x: limits(x, 1.0)


def _simultaneous_quantile(terms: int, alpha: float) -> float:
    """Return the critical value c of a simultaneous band: P(|Z(x)| > c for some x on the circle) = alpha.

    Z is the Gaussian process of the terms, scaled to variance one. The number of crossings of +-c is treated as Poisson
    with mean (length / pi) exp(-c^2 / 2), where length is the length of the curve of the scaled terms (J. Sun, C. R. Loader,
    "Simultaneous confidence bands for linear regression and smoothing", Annals of Statistics 22, 1994). A last cosine
    without its sine is counted as a pair.
    """
    m = (terms + 1) // 2
    length = 2 * math.pi * math.sqrt((m + 1) * (2 * m + 1) / 6)
    return math.sqrt(2 * max(math.log(length / math.pi / -math.log1p(-alpha)), 0.0))


@dataclass(frozen=True)
class SeriesDensity(Problem[SeriesEstimate]):
    """Density of a number in an interval by a trigonometric series, the paper's estimator: all terms at once.

    For the distribution of a number use `Distribution`: it needs no number of terms and no smoothness, its errors are
    smaller, and its limits include the bias.

    Parameters
    ----------
    epsilon : float
        Privacy parameter of the number, > 0.
    n : int, optional
        Number of people who are asked, from which the number of terms is computed. Not needed with `n_terms`.
    smoothness : float, optional
        beta in (1/2, 100], by default 2: the sum of j^(2 beta) coefficient_j^2 is at most radius^2 on the unit interval.
    radius : float, default 1.0
        Radius of this Sobolev ellipsoid, 1e-60 to 1e60.
    n_terms : int, optional
        Number of terms, 1 to 65536. Replaces `n` and `smoothness`.
    lower, upper : float
        Public ends of the interval.

    Attributes
    ----------
    terms : int
        `n_terms`, or the number k that minimizes a bound on the risk, k B_k^2 / n + radius^2 (k + 1)^(-2 beta).

    Raises
    ------
    TypeError, ValueError
        If both or none of `n` and `n_terms` are given, or `smoothness` with `n_terms`; if an argument is out of range.

    Notes
    -----
    Records are floats in [lower, upper]. Reports have one bit per term. The expected integrated squared error on the
    unit interval is exactly (k B^2 - sum of the first k coefficients squared) / n + sum of the later ones squared. It
    is of order (n epsilon^2)^(-2 beta / (2 beta + 2)) for the default number of terms. The terms are periodic
    functions: a density with different heights at the two ends is not smooth in this sense. O(n k) time; memory does
    not depend on n. 100 reports are sufficient for the bands.

    Privacy
    -------
    The guarantee of `LinfBall`, exact for the whole vector of terms. docs/proofs/series.md.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       JASA 113 (2018), eq. 34 to 39 and corollary 7.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import SeriesDensity
    >>> problem = SeriesDensity(2.0, n=10_000, smoothness=2)
    >>> reports = problem.privatize(np.random.default_rng(1).beta(2, 5, 10_000), rng=1)
    >>> density = problem.estimate(reports)
    >>> density(0.25) > density(0.75)
    True
    """

    epsilon: float
    _: KW_ONLY
    n: int | None = None
    smoothness: float | None = None
    radius: float = 1.0
    n_terms: int | None = None
    lower: float = 0.0
    upper: float = 1.0
    terms: int = field(init=False, repr=False, compare=False)
    mechanism: LinfBall = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        lower, upper = _check.interval(self.lower, self.upper)
        radius = _check.magnitude("radius", self.radius, 60)
        if self.n_terms is None:
            if self.n is None:
                raise ValueError("n or n_terms must be given")
            beta = 2.0 if self.smoothness is None else _check.real("smoothness", self.smoothness)
            if not 0.5 < beta <= 100:
                raise ValueError(f"smoothness must be in (1/2, 100], got {self.smoothness!r}")
            terms = _best_terms(_check.people("n", self.n), self.epsilon, beta, radius)
        else:
            for name, given in (("n", self.n), ("smoothness", self.smoothness)):
                if given is not None:
                    raise ValueError(f"{name} must be left out where n_terms is given")
            terms = _check.integer("n_terms", self.n_terms, 1, MAX_TERMS)
        mechanism = LinfBall(terms, self.epsilon, radius=BOUND)
        kernel = privatize.Series(terms, lower, upper, recipe_of(mechanism).coin.heads)
        self._define(mechanism, Interval(lower, upper), kernel=kernel, terms=terms)

    def _convert(self, raw: Estimate[Any]) -> SeriesEstimate:
        warn_few(raw.n, FEW_REPORTS, "the band of a density")
        return SeriesEstimate(
            raw.value,
            raw.stderr,
            raw.n,
            raw.guarantee,
            None,
            raw.rule,
            *self.domain.range,
            self.mechanism.scale,
        )


def _best_terms(n: int, epsilon: float, beta: float, radius: float) -> int:
    """Return the number of terms with the smallest bound on the risk; the bound first falls, then rises."""
    unit = LinfBall(1, epsilon, radius=BOUND).scale  # sqrt 2 coth(epsilon / 2), with the probability of the coin

    def risk(k: int) -> float:
        scale = unit * half_space_constant(k if k % 2 else k + 1)
        return float(k * scale**2 / n + radius**2 * (k + 1.0) ** (-2 * beta))

    k = max(1, min(MAX_TERMS, round((beta * radius**2 * 2 * n / (math.pi * unit**2)) ** (1 / (2 * beta + 2)))))
    around = range(max(1, k // 2), min(MAX_TERMS, 2 * k + 8) + 1)
    return min(around, key=risk)
