"""Bounds for a density on an interval."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._typing import Floats
from ._bound import Bound, bound, check_epsilon, check_n, check_scale, is_paper
from ._contraction import tanh_half
from ._multinomial import share_variance
from ._registered_problem import RegisteredProblem, Solution, Solutions, register
from ._testing_methods import chi_factor, information_factor, tv_from_kl
from ._tools import (
    DJW,
    INTEGRATED,
    allow_overflow,
    coth_half,
    divergence_of,
    half_space,
)

MAX_CELLS = 1e60  # a lower bound holds for any number of cells or terms; the best number overflows at large epsilon
MAX_TERMS = 65535.0


FEW_DISTANCES = (0.15, 0.35, 0.5, 2 / 3)


@allow_overflow
def density(
    n: ArrayLike,
    epsilon: ArrayLike,
    *,
    smoothness: ArrayLike,
    radius: ArrayLike = 1.0,
    family: str = "sobolev",
    method: str = "sharp",
) -> Bound:
    """Bound the integrated squared error of a density on [0, 1].

    Parameters
    ----------
    n : array_like
        Number of people, >= 1.
    epsilon : array_like
        Privacy parameter of a report, > 0.
    smoothness : array_like
        Smoothness beta > 1/2: the sum of j^(2 beta) theta_j^2 over the trigonometric coefficients is at most radius^2.
        1 for "lipschitz".
    radius : array_like, default 1.0
        Radius of the Sobolev ellipsoid, or Lipschitz constant; > 0.
    family : {"sobolev", "lipschitz"}
        Class of densities.
    method : {"sharp", "paper"}
        "paper": the lower bound with (e^epsilon - 1)^2 / 4 instead of the sharp capacity, without the factor 2.

    Returns
    -------
    bound : Bound
        Lower bound: for channels that may depend on earlier reports. Upper bound: `SeriesDensity` with the best odd
        number of terms, or `HistogramDensity` with the best number of bins, or the uniform density.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range; the message names the theorem and its condition.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       JASA 113 (2018), Corollary 7. The family of terms m + 1 to 2 m, and that of tents, are derived here.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> bound = bounds.density(10_000, 1.0, smoothness=2)
    >>> 0 < bound.lower < bound.upper
    True
    """
    theorem = f"{DJW}, Corollary 7,"
    number = check_n(theorem, n)
    a = check_epsilon(theorem, epsilon)
    beta = _check.numbers("smoothness", smoothness)
    c, paper = check_scale(theorem, "radius", radius), is_paper(method)
    _check.condition(theorem, "smoothness > 1/2", beta > 0.5, smoothness=beta)
    _check.condition(theorem, "smoothness of at most 100", beta <= 100, smoothness=beta)
    # All densities of the family are at least 1/2, hence the factor 2 of the capacity.
    capacity = (
        information_factor(a) if paper else np.minimum(information_factor(a), 2 * chi_factor(a) * np.sinh(a / 2) ** 2)
    )
    tight = None if paper else tanh_half(a) ** 2
    half = 2.0 if paper else 1.0
    if _check.choice("family", family, ("sobolev", "lipschitz")) == "lipschitz":
        _check.condition(theorem, "smoothness 1 for a Lipschitz density", beta == 1, smoothness=beta)
        rate = np.minimum(c**2 / 12, c / np.sqrt(number * a**2))
        lower = _lower_by_tents(number, c, capacity, tight)
        upper = _histogram_risk(number, a, c)
        plain = _histogram_risk_without_privacy(number, c)
        below, above = "tents", "HistogramDensity with the best number of bins"
    else:
        _check.condition(theorem, "a radius in [1e-6, 1e6]", (c >= 1e-6) & (c <= 1e6), radius=c)
        rate = c**2 * np.minimum(1.0, (c**2 * number * a**2) ** (-beta / (beta + 1)))
        lower, upper = _lower_by_terms(number, beta, c, capacity, tight), _series_risk(number, a, beta, c)
        plain = _series_risk_without_privacy(number, beta, c)
        below, above = "one block of terms", "SeriesDensity with the best odd number of terms"
    return bound(
        lower / half,
        upper,
        rate,
        plain,
        loss=INTEGRATED,
        below=f"{theorem} {below}, pairwise Assouad",
        above=f"{above}, or the uniform density",
    )


def _lower_by_terms(n: Floats, beta: Floats, c: Floats, capacity: Floats, tight: Floats | None) -> Floats:
    """Return the supremum over m and g of m g^2 (1 - TV).

    The densities have terms m + 1 to 2 m with signs times g, are in the ellipsoid and at least 1/2. The divergence of a
    pair is at most (n / m) 4 g^2 C. For each s, m g^2 is the least of c^2 (2 m)^(-2 beta), 1 / (8 m) and s x m^2 / (4 n
    C). The first two decrease in m and the last increases, so the best m is next to their crossing.
    """

    def cap(m: Floats) -> Floats:
        return np.asarray(np.minimum(c**2 * (2 * m) ** (-2 * beta), 1 / (8 * m)))

    ellipsoid = c**2 * 2.0 ** (-2 * beta)
    first = cap(np.ones(()))
    value = first * (1 - tv_from_kl(4 * n * first * capacity))
    exponents = 2 * beta / (beta + 1), 4 * beta / (2 * beta + 1)
    s = exponents[0] / (1 + exponents[0])
    x = np.maximum(2 * s**2, -np.log1p(-(s**2)))
    rise = x / (4 * n * capacity)
    crossing = np.minimum((ellipsoid / rise) ** (1 / (2 + 2 * beta)), (1 / (8 * rise)) ** (1 / 3))
    crossing = np.minimum(crossing, MAX_CELLS)
    for m in (np.maximum(np.floor(crossing), 1.0), np.ceil(np.maximum(crossing, 1.0))):
        value = np.maximum(value, np.minimum(cap(m), rise * m**2) * (1 - s))
    if tight is not None:  # by the contraction of each divergence, C is at most 2 m tanh(epsilon / 2)^2
        s = exponents[1] / (1 + exponents[1])
        x = np.maximum(2 * s**2, -np.log1p(-(s**2)))
        rise = x / (8 * n * tight)
        crossing = np.minimum((ellipsoid / rise) ** (1 / (1 + 2 * beta)), (1 / (8 * rise)) ** (1 / 2))
        for m in (np.maximum(np.floor(crossing), 1.0), np.ceil(np.maximum(crossing, 1.0))):
            value = np.maximum(value, np.minimum(cap(m), rise * m) * (1 - s))
        value = np.maximum(value, first * (1 - tv_from_kl(8 * n * first * tight)))
    return np.asarray(value)


def _lower_by_tents(n: Floats, slope: Floats, capacity: Floats, tight: Floats | None) -> Floats:
    """Return the supremum over m and g of g^2 / (12 m^2) (1 - TV), for m / 2 pairs of tents.

    The cells have width 1 / m; a pair has one tent up and one down, with slopes g <= m. The divergence of a pair is at
    most (4 / 3) n g^2 m^-4 C, or (2 / 3) n g^2 m^-3 2 tanh(epsilon / 2)^2.
    """

    def even(m: Floats) -> tuple[Floats, Floats]:
        below = np.maximum(2 * np.floor(m / 2), 2.0)
        return np.asarray(below), np.asarray(np.where(m > below, below + 2, below))

    value = np.zeros_like(n)
    routes = [(capacity, 4.0, 3 / 4)] + ([] if tight is None else [(tight, 3.0, 3 / 4)])
    for s in FEW_DISTANCES:
        for c, power, constant in routes:
            rise = constant * divergence_of(s) / (n * c)  # g^2 <= rise m^power
            crossing = np.minimum((slope**2 / rise) ** (1 / power), rise ** (-1 / (power - 2)))
            crossing = np.minimum(crossing, MAX_CELLS)
            for m in even(crossing):
                value = np.maximum(
                    value, np.minimum(np.minimum(slope, m) ** 2, rise * m**power) / (12 * m**2) * (1 - s)
                )
    return np.asarray(value)


def _series_risk(n: Floats, a: Floats, beta: Floats, c: Floats) -> Floats:
    """Return the least of 2 k h^2 c(k)^2 / n + c^2 (k + 1)^(-2 beta) over odd k.

    The expression is convex, so a few k next to the minimum are sufficient.
    """
    noise = 2 * coth_half(a) ** 2 / n
    start = (2 * beta * c**2 / (np.pi * noise)) ** (1 / (2 * beta + 2))
    odd = np.clip(2 * np.floor(start / 2) + 1, 1.0, MAX_TERMS)
    upper = np.broadcast_to(c**2, np.shape(odd))  # the uniform density, without coefficients
    for shift in (-4.0, -2.0, 0.0, 2.0):
        k = np.clip(odd + shift, 1.0, MAX_TERMS)
        upper = np.minimum(upper, noise * k * half_space(k) ** 2 + c**2 * (k + 1) ** (-2 * beta))
    return upper


def _series_risk_without_privacy(n: Floats, beta: Floats, c: Floats) -> Floats:
    """Return the risk of a series without privacy. Pairs of terms have variances that sum to 2."""
    start = 2 * np.round((2 * beta * c**2 * n) ** (1 / (2 * beta + 1)) / 2)
    plain = np.broadcast_to(c**2, np.shape(start))
    for shift in (-2.0, 0.0):
        k = np.maximum(start + shift, 2.0)
        plain = np.minimum(plain, k / n + c**2 * (k + 1) ** (-2 * beta))
    return plain


def _histogram_risk(n: Floats, a: Floats, slope: Floats) -> Floats:
    """Return the least of L^2 / (12 K^2) + (K - 1 + K^2 v) / n over K >= 2, or L^2 / 12 for one bin."""
    v = 1 / (4 * np.sinh(a / 4) ** 2)
    target = slope**2 * n / 6
    # 2 v K^4 + K^3 = target, by Newton steps in log K from above
    k = np.maximum(np.minimum(target ** (1 / 3), (target / (2 * v)) ** (1 / 4)), 1e-3)
    for _ in range(3):
        quartic, cubic = 2 * v * k**4, k**3
        k = k * np.exp(-np.log((quartic + cubic) / target) * (quartic + cubic) / (4 * quartic + 3 * cubic))
    upper = np.broadcast_to(slope**2 / 12, np.shape(k))
    for bins in (np.maximum(np.floor(k), 2.0), np.maximum(np.floor(k) + 1, 2.0)):
        bins = np.minimum(bins, MAX_TERMS)
        upper = np.minimum(upper, slope**2 / (12 * bins**2) + (bins - 1 + bins**2 * v) / n)
    return upper


def _histogram_risk_without_privacy(n: Floats, slope: Floats) -> Floats:
    """Return the risk of a histogram without privacy."""
    below = np.maximum(np.floor((slope**2 * n / 6) ** (1 / 3)), 1.0)
    risks = [slope**2 / (12 * bins**2) + (bins - 1) / n for bins in (below, below + 1)]
    return np.asarray(np.minimum(*risks))


def solutions(n: int, epsilon: float, smoothness: float, radius: float = 1.0, family: str = "sobolev") -> Solutions:
    """Return the procedures of the library that solve the problem, with their errors."""
    from ..estimation import HistogramDensity, SeriesDensity

    def terms() -> Solution:
        problem = SeriesDensity(epsilon, n=n, smoothness=smoothness, radius=radius)
        k = problem.terms
        risk = k * problem.mechanism.scale**2 / n + radius**2 * (k + 1.0) ** (-2 * smoothness)
        return Solution(f"SeriesDensity, {k} terms", risk, "exact", k)

    def bins(noise: str) -> Solution:
        problem = HistogramDensity(epsilon, n=n, lipschitz=radius, noise=noise)
        many: int = problem.n_bins
        mechanism: Any = problem.mechanism
        risk = radius**2 / (12 * many**2) + many**2 * share_variance(mechanism, many) / n
        return Solution(f"HistogramDensity({noise}), {many} bins", risk, "exact", mechanism.report_bits)

    if family == "lipschitz":
        return [lambda: bins("unary"), lambda: bins("laplace")]
    return [terms]


register(RegisteredProblem(density, "a density on [0, 1]", solutions))
