"""Minimax bounds of the central model: a curator sees the records of n people, and the release is private.

Definitions of privacy, for the replacement of one record: "pure" (epsilon), "smooth" (epsilon per unit of a metric),
"approximate" (epsilon, delta), "kl" (divergence at most epsilon), "tv" (distance at most epsilon).

Two laws of a record at total variation distance t give releases at a distance of at most A(n t), with A concave: epsilon n t
under "tv", tanh(epsilon n t / 2) under pure privacy, by Jensen's inequality for the binomial number of records that differ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from ..privacy import concentrated_rho, gaussian_sigma, kl_for_tv
from ._bound import Bound, Floats, Number, _plain, bound, is_paper, level, people, scale, size
from ._local import DISTANCES, SQUARED, best_clipping, without_privacy
from ._methods import tv_from_kl

DEFINITIONS = ("pure", "smooth", "approximate", "kl", "tv")
BARBER = "Barber, Duchi 2014"
CHAUDHURI = "Chaudhuri, Hsu 2012"
PLAIN_DISTANCE = 0.77  # where (1 - s) log(1 / (1 - s^2)) is largest, about


class Privacy:
    """A definition with its level, and what it does to two laws of a record."""

    def __init__(self, theorem: str, definition: str, epsilon: ArrayLike, delta: ArrayLike) -> None:
        self.definition = _check.choice("privacy", definition, DEFINITIONS)
        self.epsilon, self.delta = level(theorem, epsilon), _check.numbers("delta", delta)
        if self.definition == "approximate":
            inside = (self.delta > 0) & (self.delta < 1)
            _check.condition(theorem, "0 < delta < 1 for approximate privacy", inside, delta=self.delta)
        else:
            _check.condition(theorem, f"delta = 0 for {definition} privacy", self.delta == 0, delta=self.delta)
        if self.definition == "tv":
            _check.condition(theorem, "epsilon <= 1 for tv privacy", self.epsilon <= 1, epsilon=self.epsilon)
        self.total = self.epsilon  # the level of total variation privacy, for "tv" and "kl"
        if self.definition == "kl":
            self.total = tv_from_kl(self.epsilon)
        self.slack = 1.0 + 2 * self.delta / np.expm1(self.epsilon)

    def tv(self, n: Floats, t: Floats) -> Floats:
        """Of two releases, at most."""
        linear = self.definition in ("tv", "kl")
        private = self.total * n * t if linear else self.slack * np.tanh(self.epsilon * n * t / 2)
        with np.errstate(divide="ignore"):
            plain = -np.expm1(n * np.log1p(-t))
        return np.asarray(np.minimum(private, plain))

    def reach(self, n: Floats, s: float) -> Floats:
        """The largest t in (0, 1] whose releases are at most s apart, or more than 1."""
        if self.definition in ("tv", "kl"):
            private = s / (self.total * n)
        else:
            private = 2 * np.arctanh(s / self.slack) / (self.epsilon * n)
        return np.asarray(np.maximum(private, -np.expm1(np.log1p(-s) / n)))


def tv_of_releases(
    n: ArrayLike, tv: ArrayLike, *, privacy: str = "pure", epsilon: ArrayLike, delta: ArrayLike = 0.0
) -> Number:
    """The total variation distance of two releases is at most this, for records from laws at the distance `tv`.

    Parameters
    ----------
    n : array_like
        People, >= 1.
    tv : array_like
        In [0, 1], of the laws of one record.
    privacy, epsilon, delta
        As for `central_mean`.

    Returns
    -------
    tv : float or ndarray

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    References
    ----------
    .. [1] R. F. Barber, J. C. Duchi, "Privacy and statistical risk: formalisms and minimax bounds", 2014, Theorem 2, without
       its factor 2.
    """
    theorem = f"{BARBER}, Theorem 2,"
    number, t = people(theorem, n), _check.numbers("tv", tv)
    _check.condition(theorem, "tv in [0, 1]", (t >= 0) & (t <= 1), tv=t)
    return _plain(np.minimum(1.0, Privacy(theorem, privacy, epsilon, delta).tv(number, t)))


# The mean -------------------------------------------------------------------------------------------------------------


GRID = 1.005  # what the public grid of `central.mean` costs, generously


def _distinct(function: Callable[[Floats, Floats], Any], epsilon: Floats, delta: Floats) -> Floats:
    """A slow function of (epsilon, delta) on arrays, each pair once."""
    pairs = np.stack(np.broadcast_arrays(epsilon, delta), axis=-1)
    different, where = np.unique(pairs.reshape(-1, 2), axis=0, return_inverse=True)
    return np.asarray(np.asarray(function(different[:, 0], different[:, 1]))[where.ravel()].reshape(pairs.shape[:-1]))


def noise_factor(privacy: Privacy, n: Floats, dim: Floats) -> Floats:
    """E |noise|^2 over T^2 of `central.mean`, T the radius to which records are projected: integer noise on its grid."""
    if privacy.definition in ("pure", "smooth"):
        return np.asarray(GRID * 8 * (dim / (n * privacy.epsilon)) ** 2)
    if privacy.definition == "kl":
        return np.asarray(GRID * 2 * dim / (n**2 * privacy.epsilon))
    if privacy.definition == "approximate":
        one = _distinct(gaussian_sigma, privacy.epsilon, privacy.delta)
        several = np.sqrt(0.5 / _distinct(concentrated_rho, privacy.epsilon, privacy.delta))
        ratio = np.where(dim == 1, one, several)
        return np.asarray(GRID * 4 * dim * (ratio / n) ** 2)
    from scipy.special import ndtri

    with np.errstate(divide="ignore"):
        one = 1 / ndtri((1 + privacy.epsilon) / 2) ** 2
        several = 2 / np.asarray(kl_for_tv(privacy.epsilon))
    return np.asarray(GRID * dim * np.where(dim == 1, one, several) / n**2)


def _spread_out(privacy: Privacy, n: Floats, dim: Floats, power: Floats) -> Floats:
    """The supremum over w and d' of w^power d'^(power - 1) (1 - TV(w)), d' <= dim coordinates share a mass of at most 1."""
    value = np.zeros(np.broadcast_shapes(n.shape, dim.shape, power.shape))
    for s in (0.15, 0.3, 0.5, 2 / 3, 0.8):
        w = np.minimum(privacy.reach(n, s), 1.0)
        log_w = np.log(w)
        value = np.maximum(value, np.exp(power * log_w) * (1 - s))
        room = np.floor(1 / w)
        for d in (np.minimum(room, dim), np.minimum(room + 1, dim)):
            log_d = np.log(d)
            value = np.maximum(value, np.exp(power * np.minimum(log_w, -log_d) + (power - 1) * log_d) * (1 - s))
    plain = -np.expm1(np.log1p(-(PLAIN_DISTANCE**2)) / n) * (1 - PLAIN_DISTANCE)
    return np.asarray(np.maximum(value, plain))


def _packed(privacy: Privacy, n: Floats, dim: Floats, power: Floats) -> Floats:
    """Point masses p = m / n at zero and at M points of a ball, s apart: p^power s^2 / 4 times the error of `packing`.

    m is the largest integer with e^(-epsilon m) >= x / M, so that the error is at least x (1 - 1/M) (1/2 - 1/4) / (1 + x), or
    without the 1/4 where delta is 0. Epsilon is raised, if need be, until the term of delta is at most that quarter: a bound
    for weaker privacy is one for stronger, too.
    """
    if privacy.definition in ("tv", "kl"):
        return np.zeros(())
    value = np.zeros(np.broadcast_shapes(n.shape, dim.shape, power.shape))
    families = [(dim * np.log(2), 0.5), (np.log(2 * dim), np.sqrt(2.0)), (np.full_like(dim, np.log(2)), 2.0)]
    if privacy.definition == "approximate":
        few = np.maximum(-np.log(privacy.delta) / 2, np.log(2))
        families += [(np.minimum(families[0][0], np.log(np.floor(np.exp(few)))), 0.5)]
    for log_points, apart in families:
        for x in (0.25, 0.5, 1.0, 3.0):
            a, half = privacy.epsilon, 0.5
            if privacy.definition == "approximate":
                log_needed = np.log(4 * privacy.delta / x) + log_points
                a, half = np.maximum(a, np.logaddexp(0.0, log_needed)), 0.25
            m = np.minimum(np.floor((log_points - np.log(x)) / a), n)
            with np.errstate(divide="ignore"):
                share = np.exp(power * np.log(np.maximum(m, 0.0) / n))
            others = x * -np.expm1(-log_points)
            value = np.maximum(value, share * apart**2 / 4 * half * others / (1 + others))
    return np.asarray(value)


def _published_mean(privacy: Privacy, n: Floats, dim: Floats, power: Floats) -> Floats:
    """The constants as printed: not lower bounds where n epsilon is small."""
    if privacy.definition in ("tv", "kl"):
        return np.asarray((1 / (4 * n * privacy.total)) ** power / 4)
    a, d = privacy.epsilon, privacy.delta
    with np.errstate(divide="ignore"):
        least = np.minimum(dim / 2 - a, np.log(-np.expm1(-a)) - np.log(4 * d) - a)
    return np.asarray(np.where(dim >= 2, np.clip(least / (n * a), 0.0, 1.0), 0.0) ** power / 32)


def central_mean(
    n: ArrayLike,
    dim: ArrayLike,
    moment: ArrayLike,
    radius: ArrayLike = 1.0,
    *,
    privacy: str,
    epsilon: ArrayLike,
    delta: ArrayLike = 0.0,
    mode: str = "sharp",
) -> Bound:
    """The mean of vectors of which a moment of the norm is bounded, from a private release: squared Euclidean error.

    Parameters
    ----------
    n : array_like
        People, >= 1.
    dim : array_like of int
        d >= 1.
    moment : array_like
        k > 1, or infinity, with E|X|^k <= radius^k.
    radius : array_like, default 1.0
        r > 0.
    privacy : {"pure", "smooth", "approximate", "kl", "tv"}
    epsilon : array_like
        The level of that definition, > 0: of a divergence for "kl", of a distance, at most 1, for "tv".
    delta : array_like, default 0.0
        In (0, 1) for "approximate", else 0.
    mode : {"sharp", "paper"}
        "paper": the lower bound as printed, which is NOT one where n epsilon is small (for "tv" and "kl"), and four times too
        large for the others.

    Returns
    -------
    bound : Bound
        Upper: the mean of records projected to the best radius, with Laplace noise or normal noise (`central.mean`), or 0.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range; the message names the theorem and its condition.

    Notes
    -----
    Arguments broadcast; about a microsecond each. Under approximate privacy fifty evaluations for each pair of epsilon and
    delta: broadcast epsilon and delta against n rather than repeat them.

    References
    ----------
    .. [1] R. F. Barber, J. C. Duchi, "Privacy and statistical risk: formalisms and minimax bounds", 2014, Propositions 2 and 4,
       table 1. The lower bound that spreads over coordinates, and the constants, are derived here.
    """
    theorem = f"{BARBER}, Propositions 2 and 4,"
    number, d, k = people(theorem, n), size(theorem, "dim", dim), _check.numbers("moment", moment, infinite=True)
    _check.condition(theorem, "a moment > 1", k > 1, moment=k)
    _check.condition(theorem, "a moment of at most 1e6, or infinite", (k <= 1e6) | np.isinf(k), moment=k)
    r2 = scale(theorem, "radius", radius) ** 2
    definition = Privacy(theorem, privacy, epsilon, delta)
    power = np.where(np.isinf(k), 2.0, 2 - 2 / k)
    if is_paper(mode):
        lower, below = _published_mean(definition, number, d, power), "as printed"
    else:
        lower = np.maximum(_spread_out(definition, number, d, power), _packed(definition, number, d, power))
        below = "mass at far points, and packing"
    heavy = k < 2
    nu = noise_factor(definition, number, d)
    risk = best_clipping(np.maximum(nu, 1e-300), np.where(heavy, 1 / number, 0.0), k) + np.where(heavy, 0.0, 1 / number)
    return bound(
        r2 * lower,
        r2 * np.minimum(1.0, risk),
        r2 * np.minimum(1.0, _table_rate(definition, number, d) ** (power / 2) + 1 / number),
        r2 * np.minimum(1.0, without_privacy(number, k)),
        loss=SQUARED,
        below=f"{theorem} {below}",
        above="central.mean at the best radius, or 0",
        vacuous="the published bound needs d >= 2 and epsilon < d / 2",
    )


def _table_rate(privacy: Privacy, n: Floats, dim: Floats) -> Floats:
    """U of table 1."""
    if privacy.definition in ("pure", "smooth"):
        return np.asarray((dim / (n * privacy.epsilon)) ** 2)
    if privacy.definition == "approximate":
        return np.asarray(dim * -np.log(privacy.delta) / (n * privacy.epsilon) ** 2)
    if privacy.definition == "kl":
        return np.asarray(dim / (n**2 * privacy.epsilon))
    return np.asarray(dim / (n * privacy.epsilon) ** 2)


def table1(
    n: ArrayLike,
    dim: ArrayLike,
    moment: ArrayLike,
    radius: ArrayLike = 1.0,
    *,
    epsilon: ArrayLike,
    delta: ArrayLike = 1e-6,
    mode: str = "sharp",
) -> dict[str, Bound]:
    """Table 1 of Barber and Duchi as numbers: the mean under all five definitions of privacy at the same level.

    Parameters
    ----------
    n, dim, moment, radius, epsilon, mode
        As for `central_mean`; epsilon at most 1.
    delta : array_like, default 1e-6
        Of approximate privacy.

    Returns
    -------
    table : dict of str to Bound
        By definition.

    Raises
    ------
    TypeError, ValueError
        As `central_mean`.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> row = bounds.table1(10_000, 5, 3, epsilon=0.5)["pure"]
    >>> row.lower < row.upper
    True
    """

    def row(privacy: str) -> Bound:
        d: Any = delta if privacy == "approximate" else 0.0
        return central_mean(n, dim, moment, radius, privacy=privacy, epsilon=epsilon, delta=d, mode=mode)

    return {privacy: row(privacy) for privacy in DEFINITIONS}


# Other problems -------------------------------------------------------------------------------------------------------


def central_support(
    n: ArrayLike,
    epsilon: ArrayLike,
    t: ArrayLike,
    *,
    privacy: str = "tv",
    delta: ArrayLike = 0.0,
    mode: str = "sharp",
) -> Bound:
    """The end theta <= t of the support of a uniform law on [0, theta], from a private release: absolute error.

    Parameters
    ----------
    n : array_like
        People, >= 1.
    epsilon : array_like
        The level of the definition of privacy, > 0.
    t : array_like
        > 0.
    privacy : {"tv", "kl", "pure", "smooth", "approximate"}
    delta : array_like, default 0.0
        For "approximate".
    mode : {"sharp", "paper"}
        "paper": t / (32 n epsilon), for n epsilon >= 1/4, under "tv".

    Returns
    -------
    bound : Bound
        Upper: twice a private mean (`central.mean`), or the answer t / 2; the true rate may be faster.

    Raises
    ------
    TypeError, ValueError
        As `central_mean`; if n epsilon < 1/4 with "paper".

    References
    ----------
    .. [1] R. F. Barber, J. C. Duchi, "Privacy and statistical risk: formalisms and minimax bounds", 2014, Proposition 3.
    """
    theorem = f"{BARBER}, Proposition 3,"
    number, most = people(theorem, n), scale(theorem, "t", t)
    definition = Privacy(theorem, privacy, epsilon, delta)
    effective = number * definition.total
    if is_paper(mode):
        if privacy not in ("tv", "kl"):
            raise ValueError(f"{theorem} needs privacy='tv' or 'kl', got {privacy!r}")
        _check.condition(theorem, "n epsilon >= 1/4", effective >= 0.25, n=number, epsilon=definition.total)
        lower = 1 / (32 * effective)
    else:
        lower = np.zeros_like(effective)
        for s in DISTANCES:
            lower = np.maximum(lower, np.minimum(definition.reach(number, s), 1.0) / 2 * (1 - s))
    risk = np.sqrt(1 / (3 * number) + noise_factor(definition, number, np.ones(())))
    return bound(
        most * lower,
        most * np.minimum(0.5, risk),
        most * np.minimum(1.0, 1 / effective),
        most * np.minimum(0.5, 1 / np.sqrt(number * (number + 2))),
        loss="absolute error",
        below=f"{theorem} two uniform laws",
        above="twice central.mean, or t / 2",
    )


def central_density(n: ArrayLike, epsilon: ArrayLike, dim: ArrayLike, *, mode: str = "sharp") -> Bound:
    """A density on [0, 1]^d with Lipschitz constant 1, from a pure private release: integrated squared error.

    Parameters
    ----------
    n : array_like
        People, >= 1.
    epsilon : array_like
        > 0.
    dim : array_like of int
        d, 1 to 50.
    mode : {"sharp", "packing", "paper"}
        "packing", or "paper": the published way to the lower bound, by a code of signs that differ in a quarter of the places;
        with explicit constants more than a hundred times weaker.

    Returns
    -------
    bound : Bound
        Upper: `central.histogram_density` with the best number of bins per axis, or the uniform density.

    Raises
    ------
    TypeError, ValueError
        As `central_mean`.

    References
    ----------
    .. [1] R. F. Barber, J. C. Duchi, "Privacy and statistical risk: formalisms and minimax bounds", 2014, Proposition 5 and
       eq. 19. The constants are derived here: pairs of tents on m^d cubes, one up and one down.
    """
    theorem = f"{BARBER}, Proposition 5,"
    number, a, d = people(theorem, n), level(theorem, epsilon), size(theorem, "dim", dim)
    _check.condition(theorem, "dim <= 50", d <= 50, dim=d)
    packed = _check.choice("mode", mode, ("sharp", "packing", "paper")) != "sharp"
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
    """The supremum over even m of (1 - TV) / (2 (d + 1) (d + 2) m^2).

    One sign moves the law of a record by m^-(d + 1) / (d + 1), and half of the squared Hellinger distance is at most
    0.2541 times 2 m^-(d + 2) / ((d + 1) (d + 2)).
    """
    privacy, volume = Privacy("", "pure", a, 0.0), (d + 1) * (d + 2)
    lower = np.zeros(np.broadcast_shapes(n.shape, a.shape, d.shape))
    for s in (0.2, 0.4, 0.5, 0.6, 0.75):
        private = (privacy.reach(n, s) * (d + 1)) ** (-1 / (d + 1))
        y = -np.expm1(np.log1p(-(s**2)) / (2 * n))
        plain = (2 * y * volume / (4 * 0.2541)) ** (-1 / (d + 2))
        m = np.maximum(2 * np.ceil(np.minimum(private, plain) / 2), 2.0)
        lower = np.maximum(lower, (1 - s) / (2 * volume * m**2))
    return lower


def _code(n: Floats, a: Floats, d: Floats) -> Floats:
    """By packing: N = m^d / 2 signs have a code of M = e^(N / 8) words that differ in N / 4 places (Gilbert). A word's density
    is 1 - 1 / (2 m) of the uniform one and 1 / (2 m) of another, so that ceil(n / (2 m)) records are replaced with probability
    1/2. If M e^(-a (n / (2 m) + 1)) >= 1 and M >= 2, words are taken for others with probability 1/6 at least.
    """
    few = 16 * np.log(2)
    m = np.maximum((16 * a * n) ** (1 / (d + 1)), (32 * a) ** (1 / d))
    for _ in range(5):  # m^(d + 1) >= 8 a n + 16 a m: from above
        m = (8 * a * n + 16 * a * m) ** (1 / (d + 1))
    m = np.maximum(2 * np.ceil(np.maximum(m, few ** (1 / d)) / 2), 2.0)
    return np.asarray(1 / (48 * (d + 1) * (d + 2) * m**2))


def _cells(n: Floats, a: Floats, d: Floats) -> Floats:
    """The least of (m^d - 1) / n + 8 m^(2 d) / (n a)^2 + d / (12 m^2) over m >= 2, or d / 12: convex in log m."""
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


def central_range(n: ArrayLike, epsilon: ArrayLike, low: ArrayLike, high: ArrayLike, *, mode: str = "sharp") -> Bound:
    """A functional that takes every value in [low, high], from a pure private release: absolute error.

    Parameters
    ----------
    n : array_like
        People, >= 1.
    epsilon : array_like
        > 0.
    low, high : array_like
        low < high.
    mode : {"sharp", "paper"}
        "sharp": (high - low) / (1 + e^(epsilon n)). "paper": (high - low) / (4 (2 + e^(epsilon n))).

    Returns
    -------
    bound : Bound
        Upper: the answer in the middle, the best that is known for every functional.

    Raises
    ------
    TypeError, ValueError
        As `central_mean`; if not low < high.

    References
    ----------
    .. [1] K. Chaudhuri, D. Hsu, "Convergence rates for differentially private statistical estimation", ICML 2012, Theorem 2.
    """
    theorem = f"{CHAUDHURI}, Theorem 2,"
    number, a = people(theorem, n), level(theorem, epsilon)
    bottom, top = _check.numbers("low", low), _check.numbers("high", high)
    _check.condition(theorem, "low < high", bottom < top, low=bottom, high=top)
    small = np.exp(-a * number)
    lower = small / (4 * (1 + 2 * small)) if is_paper(mode) else small / (1 + small)
    width = top - bottom
    return bound(
        width * lower,
        width / 2,
        width * small,
        width * 0.0,
        loss="absolute error",
        below=f"{theorem} two datasets without a common record",
        above="the middle",
        vacuous="e^(-epsilon n) is below the least double",
    )


def central_ges(n: ArrayLike, epsilon: ArrayLike, delta: ArrayLike, ges: ArrayLike, *, mode: str = "sharp") -> Bound:
    """A functional with a gross error sensitivity, from a private release: absolute error near a law.

    Parameters
    ----------
    n : array_like
        People, >= 1.
    epsilon, delta : array_like
        epsilon > 0, 0 <= delta < 1.
    ges : array_like
        The largest influence of a contamination, > 0, for every share of it, as that of a mean.
    mode : {"sharp", "paper"}
        "paper": rho ges / 16 with rho = ceil(log 2 / (2 epsilon)) / n, for epsilon < log(2) / 2, delta <= (1 - e^-epsilon) / 16
        and rho <= 1.

    Returns
    -------
    bound : Bound
        Lower: for the worse of the law and the best contamination of it. Upper: for a mean, with Laplace noise
        (`central.mean`), or the middle.

    Raises
    ------
    TypeError, ValueError
        As `central_mean`; if a condition of the published form does not hold.

    References
    ----------
    .. [1] K. Chaudhuri, D. Hsu, "Convergence rates for differentially private statistical estimation", ICML 2012, Theorem 1.
    """
    theorem = f"{CHAUDHURI}, Theorem 1,"
    number, a, d = people(theorem, n), level(theorem, epsilon), _check.numbers("delta", delta)
    _check.condition(theorem, "0 <= delta < 1", (d >= 0) & (d < 1), delta=d)
    influence = scale(theorem, "ges", ges)
    if is_paper(mode):
        _check.condition(theorem, "epsilon < log(2) / 2", a < np.log(2) / 2, epsilon=a)
        _check.condition(theorem, "delta <= (1 - e^-epsilon) / 16", d <= -np.expm1(-a) / 16, delta=d, epsilon=a)
        rho = np.ceil(np.log(2) / (2 * a)) / number
        _check.condition(theorem, "n >= ceil(log 2 / (2 epsilon))", rho <= 1, n=number, epsilon=a)
        lower = rho / 16
    else:
        definition = Privacy(theorem, "pure", a, 0.0)
        definition.slack = 1.0 + 2 * d / np.expm1(a)
        lower = np.zeros(np.broadcast_shapes(number.shape, a.shape, d.shape))
        for s in DISTANCES:
            lower = np.maximum(lower, np.minimum(definition.reach(number, s), 1.0) / 2 * (1 - s))
    return bound(
        influence * lower,
        influence * np.minimum(1.0, 1 / np.sqrt(number) + 2 / (number * a)),
        influence * np.minimum(1.0, 1 / (number * a)),
        influence * np.minimum(1.0, 1 / np.sqrt(number)),
        loss="absolute error",
        below=f"{theorem} a law and its contamination",
        above="central.mean (for a mean), or the middle",
    )
