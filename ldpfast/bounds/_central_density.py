"""Bounds for a density on the unit cube in the central model."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._typing import Floats
from ._bound import Bound, bound, check_epsilon, check_integer, check_n
from ._central_privacy import BARBER, CentralPrivacy
from ._registered_problem import RegisteredProblem, Solution, Solutions, register


def central_density(n: ArrayLike, dim: ArrayLike, epsilon: ArrayLike, *, method: str = "sharp") -> Bound:
    """Bound the integrated squared error of a Lipschitz density on the unit cube, under pure central privacy.

    The density is on [0, 1]^d and has Lipschitz constant 1.

    Parameters
    ----------
    n : array_like
        Number of people, >= 1.
    dim : array_like of int
        Dimension d, 1 to 50.
    epsilon : array_like
        Privacy parameter, > 0.
    method : {"sharp", "packing", "paper"}
        "packing" and "paper" select the published construction of the lower bound, by a code of signs that differ in a
        quarter of the places. With explicit constants it is more than a hundred times weaker.

    Returns
    -------
    bound : Bound
        Upper bound: `central.histogram_density` with the best number of bins per axis, or the uniform density.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range; the message names the theorem and its condition.

    References
    ----------
    .. [1] R. F. Barber, J. C. Duchi, "Privacy and statistical risk: formalisms and minimax bounds", 2014, Proposition 5
       and eq. 19. The constants are derived here: pairs of tents on m^d cubes, one up and one down.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> bound = bounds.central_density(10_000, 1, 1.0)
    >>> 0 < bound.lower < bound.upper
    True
    """
    theorem = f"{BARBER}, Proposition 5,"
    number = check_n(theorem, n)
    a = check_epsilon(theorem, epsilon)
    d = check_integer(theorem, "dim", dim)
    _check.condition(theorem, "dim <= 50", d <= 50, dim=d)
    packed = _check.choice("method", method, ("sharp", "packing", "paper")) != "sharp"
    return bound(
        _code(number, a, d) if packed else _signs(number, a, d),
        _cells(number, a, d),
        np.minimum(1.0, number ** (-2 / (d + 2)) + (number * a) ** (-2 / (d + 1))),
        _cells(number, np.full_like(a, np.inf), d),
        loss="integrated squared error",
        below=f"{theorem} tents, {'a code of signs' if packed else 'pairwise Assouad'}",
        above="central.histogram_density of the best number of bins, or the uniform density",
    )


def _signs(n: Floats, a: Floats, d: Floats) -> Floats:
    """Return the supremum over even m of (1 - TV) / (2 (d + 1) (d + 2) m^2).

    One sign moves the distribution of a record by m^-(d + 1) / (d + 1) in total variation. Half of the squared
    Hellinger distance is at most 0.2541 times 2 m^-(d + 2) / ((d + 1) (d + 2)).
    """
    privacy, volume = CentralPrivacy("", "pure", a, 0.0), (d + 1) * (d + 2)
    lower = np.zeros(np.broadcast_shapes(n.shape, a.shape, d.shape))
    for s in (0.2, 0.4, 0.5, 0.6, 0.75):
        private = (privacy.reach(n, s) * (d + 1)) ** (-1 / (d + 1))
        y = -np.expm1(np.log1p(-(s**2)) / (2 * n))
        plain = (2 * y * volume / (4 * 0.2541)) ** (-1 / (d + 2))
        m = np.maximum(2 * np.ceil(np.minimum(private, plain) / 2), 2.0)
        lower = np.maximum(lower, (1 - s) / (2 * volume * m**2))
    return lower


def _code(n: Floats, a: Floats, d: Floats) -> Floats:
    """Return the lower bound by packing.

    N = m^d / 2 signs have a code of M = e^(N / 8) words that differ in N / 4 places (Gilbert). The density of a word is
    a mixture: the uniform density with weight 1 - 1 / (2 m), and another with weight 1 / (2 m). So ceil(n / (2 m))
    records are replaced with probability 1/2. If M e^(-a (n / (2 m) + 1)) >= 1 and M >= 2, words are confused with
    probability at least 1/6.
    """
    few = 16 * np.log(2)
    m = np.maximum((16 * a * n) ** (1 / (d + 1)), (32 * a) ** (1 / d))
    for _ in range(5):  # m^(d + 1) >= 8 a n + 16 a m: from above
        m = (8 * a * n + 16 * a * m) ** (1 / (d + 1))
    m = np.maximum(2 * np.ceil(np.maximum(m, few ** (1 / d)) / 2), 2.0)
    return np.asarray(1 / (48 * (d + 1) * (d + 2) * m**2))


def _cells(n: Floats, a: Floats, d: Floats) -> Floats:
    """Return the least of (m^d - 1) / n + 8 m^(2 d) / (n a)^2 + d / (12 m^2) over m >= 2, or d / 12 if that is less.

    The expression is convex in log m.
    """
    first, second = 1 / n, 16 / (n * a) ** 2  # the derivative: m^(d + 2) first + m^(2 d + 2) second = 1 / 6
    with np.errstate(divide="ignore"):
        start = np.minimum(np.log(n / 6) / (d + 2), -np.log(6 * second) / (2 * d + 2))
        log_first, log_second = np.log(first), np.log(second)
    log_m = np.maximum(start, np.log(0.5))
    for _ in range(3):
        low, high = (d + 2) * log_m + log_first, (2 * d + 2) * log_m + log_second
        total = np.logaddexp(low, high)
        slope = np.exp(low - total) * (d + 2) + np.exp(high - total) * (2 * d + 2)
        log_m = log_m - (total + np.log(6)) / slope
    m = np.floor(np.exp(np.minimum(log_m, 700 / (2 * d))))
    least = np.broadcast_to(d / 12, np.broadcast_shapes(m.shape, d.shape))
    for bins in (np.maximum(m, 2.0), np.maximum(m + 1, 2.0)):
        with np.errstate(over="ignore"):
            least = np.minimum(least, (bins**d - 1) / n + 8 * (bins**d / (n * a)) ** 2 + d / (12 * bins**2))
    return least


def solutions(n: int, epsilon: float, dim: int) -> Solutions:
    """Return the procedures of the library that solve the problem, with their errors."""
    from ..central._cube_histogram import best_bins, risk_of

    def histogram() -> Solution:
        bins = best_bins(n, epsilon, dim)
        return Solution(f"central.histogram_density(bins={bins})", risk_of(bins, n, epsilon, dim), "bound", 0)

    return [histogram]


register(
    RegisteredProblem(central_density, "a density on the unit cube, with a trusted curator", solutions, central=True)
)
