"""Densities by orthogonal series (Duchi, Jordan, Wainwright 2018, section 5.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._core import series
from .._typing import AnyArray, Floats
from ..domains import Interval
from ..mechanisms import LinfBall, half_space_constant
from ..results import Estimate
from ._density import DensityEstimate
from .protocols import FEW_REPORTS, Problem, warn_few

if TYPE_CHECKING:
    from .._typing import RNGLike

MOST_TERMS = 1 << 16
BOUND = math.sqrt(2)  # of every term of the series


@dataclass(frozen=True, eq=False, repr=False)
class SeriesEstimate(DensityEstimate):
    """A trigonometric series; `value` are its coefficients on the unit interval: cos, sin of 1, 2, ... turns, times sqrt 2.

    Attributes
    ----------
    scale : float
        Standard deviation of a coefficient in one report.
    """

    scale: float = math.nan

    def _density(self, x: Floats) -> Floats:
        out = np.empty_like(x)
        series.Series(len(self.value), self.lower, self.upper).values(np.array(self.value), x, out)
        return out / (self.upper - self.lower)

    def _limits(self, tail: float, simultaneous: bool) -> tuple[Any, Any]:
        from scipy.special import ndtri

        z = _tube(len(self.value), 2 * tail) if simultaneous else -float(ndtri(tail))
        width, size = self.upper - self.lower, len(self.value)

        def limits(x: Floats, sign: float) -> Floats:
            # A height f is inside if (estimate - f)^2 n <= z^2 variance(f): that of the noise, scale^2 times the sum of
            # the terms' squares, minus (f - 1)^2. Solved for f - 1.
            odd = np.cos(2 * np.pi * ((size + 1) // 2) * (x - self.lower) / width) if size % 2 else 0.0
            squares = size + (2 * odd**2 - 1 if size % 2 else 0.0)
            away, weight = self._density(x) * width - 1, z**2 / self.n
            root = np.sqrt(np.maximum(away**2 - (1 + weight) * (away**2 - weight * self.scale**2 * squares), 0))
            return np.asarray((1 + (away + sign * root) / (1 + weight)) / width)

        return lambda x: limits(x, -1.0), lambda x: limits(x, 1.0)


def _tube(terms: int, alpha: float) -> float:
    """c with P(|Z(x)| > c somewhere on the circle) = alpha, Z the Gaussian process of the terms scaled to variance one: by the
    expected number of crossings, (length / pi) exp(-c^2 / 2) for both signs, with the length of the curve of the scaled terms
    (J. Sun, C. R. Loader, "Simultaneous confidence bands for linear regression and smoothing", Annals of Statistics 22, 1994).
    A lonely cosine at the end is taken as a pair."""
    m = (terms + 1) // 2
    length = 2 * math.pi * math.sqrt((m + 1) * (2 * m + 1) / 6)
    return math.sqrt(2 * max(math.log(length / math.pi / -math.log1p(-alpha)), 0.0))


@dataclass(frozen=True)
class SeriesDensity(Problem[SeriesEstimate]):
    """The density of a number in an interval, by a trigonometric series of which everybody privatizes all terms at once.

    Parameters
    ----------
    epsilon : float
        Privacy parameter of the number, > 0.
    n : int, optional
        How many people are asked: the number of terms depends on it. Not needed with `n_terms`.
    smoothness : float, optional
        beta > 1/2: sum of j^(2 beta) coefficient_j^2 at most radius^2, on the unit interval. By default 2.
    radius : float, default 1.0
        Of that Sobolev ellipsoid.
    n_terms : int, optional
        Number of terms, 1 to 65536, instead.
    lower, upper : float
        Ends of the interval, public.

    Attributes
    ----------
    terms : int
        `n_terms`, or the number with the smallest bound on the risk, k B_k^2 / n + radius^2 (k + 1)^(-2 beta).

    Raises
    ------
    TypeError, ValueError
        If both or none of `n` and `n_terms` say how many terms; if an argument is out of range.

    Notes
    -----
    Records: floats in [lower, upper]. Reports: a bit per term. The integrated squared error on the unit interval is
    exactly (k B^2 - sum of the first k coefficients squared) / n + sum of the later ones squared, of order (n
    epsilon^2)^(-2 beta / (2 beta + 2)). The terms are those of a periodic function: a density whose ends differ in
    height is not smooth in this sense. O(n k) time; memory does not depend on n. Sufficient n for the bands: 100.

    Privacy
    -------
    That of `LinfBall`: exact for the whole vector of terms.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
    JASA
       113 (2018), eq. 34 to 39 and corollary 7.
    """

    epsilon: float
    n: int | None = None
    smoothness: float | None = None
    radius: float = 1.0
    n_terms: int | None = None
    lower: float = 0.0
    upper: float = 1.0
    terms: int = field(init=False, repr=False, compare=False)
    mechanism: LinfBall = field(init=False, repr=False, compare=False)
    _series: series.Series = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        lower, upper = _check.interval(self.lower, self.upper)
        if self.n_terms is None:
            if self.n is None:
                raise ValueError("n or n_terms must be given")
            beta = 2.0 if self.smoothness is None else _check.real("smoothness", self.smoothness)
            if not beta > 0.5:
                raise ValueError(f"smoothness must be > 1/2, got {self.smoothness!r}")
            terms = _best_terms(
                _check.integer("n", self.n, 1), self.epsilon, beta, _check.positive("radius", self.radius)
            )
        else:
            for name, given in (("n", self.n), ("smoothness", self.smoothness)):
                if given is not None:
                    raise ValueError(f"{name} must be left out where n_terms is given")
            _check.positive("radius", self.radius)
            terms = _check.integer("n_terms", self.n_terms, 1, MOST_TERMS)
        self._define(
            LinfBall(terms, self.epsilon, BOUND),
            Interval(lower, upper),
            terms=terms,
            _series=series.Series(terms, lower, upper),
        )

    def _encode(self, records: AnyArray) -> NDArray[np.float32]:
        terms = np.empty((len(records), self.terms), np.float32)
        self._series.terms(records, terms)
        return terms

    def _conclude(self, raw: Estimate[Any]) -> SeriesEstimate:
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
    """The number of terms with the smallest bound on the risk; the bound first falls, then rises."""
    unit = LinfBall(1, epsilon, BOUND).scale  # sqrt 2 coth(epsilon / 2), from the coin

    def risk(k: int) -> float:
        scale = unit * half_space_constant(k if k % 2 else k + 1)
        return float(k * scale**2 / n + radius**2 * (k + 1.0) ** (-2 * beta))

    k = max(1, min(MOST_TERMS, round((beta * radius**2 * 2 * n / (math.pi * unit**2)) ** (1 / (2 * beta + 2)))))
    around = range(max(1, k // 2), min(MOST_TERMS, 2 * k + 8) + 1)
    return min(around, key=risk)


def series_density(
    x: ArrayLike,
    epsilon: float,
    *,
    smoothness: float | None = None,
    radius: float = 1.0,
    n_terms: int | None = None,
    lower: float = 0.0,
    upper: float = 1.0,
    clip: bool = False,
    rng: RNGLike = None,
) -> SeriesEstimate:
    """The density of numbers in an interval, each of them privatized by itself: a trigonometric series.

    Parameters
    ----------
    x : array_like of float, shape (n,)
        In [lower, upper].
    epsilon, smoothness, radius, n_terms, lower, upper
        As for `SeriesDensity`; n is the length of `x`.
    clip : bool, default False
        Move numbers that are outside to the ends, instead of refusing them.
    rng : None, int, SeedSequence, Generator or BitGenerator

    Returns
    -------
    density : SeriesEstimate
        Callable on points; `band`, `project`, `plot`.

    Raises
    ------
    TypeError, ValueError
        As `SeriesDensity`; if a number is outside and `clip` is false.

    Warns
    -----
    SmallSampleWarning
        For fewer than 100 people.

    Privacy
    -------
    Each number is epsilon-LDP by itself; everything else is a function of the reports.
    """
    n = max(1, np.size(_check.array("x", x))) if n_terms is None else None
    return SeriesDensity(epsilon, n, smoothness, radius, n_terms, lower, upper).run(x, rng=rng, clip=clip)
