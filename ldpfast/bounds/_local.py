"""Minimax bounds of the problems of the local model, with constants that hold for these very n and epsilon.

Lower bounds are suprema over families of two or many laws. The family is chosen by the total variation distance s of the
reports that it is to have: for each s of a short list there is a closed form for the largest separation, which falls in n
and in epsilon, so that the maximum over the list does too, and nothing is searched for. E is e^epsilon - 1.

Upper bounds are those of procedures of the library, or of an answer without data where that is better. They are for ideal
coins; those of the library round towards privacy, which adds less than one part in 10,000 (and refuse epsilon above 44).
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from ._bound import Bound, Floats, bound, is_paper, level, people, scale, size
from ._contraction import (
    deficit,
    deficit_inverse,
    deficit_inverse_line,
    excess,
    from_deficit,
    narrow,
    tanh_half,
)
from ._methods import chi_factor, forward_factor, information_factor, tv_from_kl

DISTANCES = (0.05, 0.12, 0.2, 0.3, 0.4, 0.5, 0.6, 2 / 3, 0.75)  # total variation of the reports of two hypotheses
FEW_DISTANCES = (0.15, 0.35, 0.5, 2 / 3)
SQUARED, INTEGRATED = "squared error", "integrated squared error"
REFERENCE = "Duchi, Jordan, Wainwright 2018"

# What the lower bounds share ------------------------------------------------------------------------------------------


def coth_half(a: Floats) -> Floats:
    return np.asarray(1 / np.tanh(a / 2))


def two_points(n: Floats, a: Floats, power: Floats, *, sparse: bool) -> Floats:
    """The supremum of d^power (1 - TV) over two laws at distance d, in units of the squared or plain half separation.

    ``sparse``: one of two far points has the mass d, zero the rest; otherwise two points have (1 + d) / 2 and (1 - d) / 2.
    """
    t, c = tanh_half(a), float(power) if power.ndim == 0 else power  # a plain number is faster in powers
    # n people cannot tell more than n times one person can: sup of d^c (1 - n t d)
    best = np.minimum(1.0, c / (1 + c) / (n * t))
    value = best**c * (1 - n * t * best)
    value = np.maximum(value, 1 - np.minimum(from_deficit(n, deficit(a, np.ones(()))), 1.0))  # the farthest laws
    straight, bent, square, each = *deficit_inverse_line(a), t**2, 0.5 / n
    for s in DISTANCES:
        y = -np.expm1(math.log1p(-(s**2)) * each)  # where the n reports are s apart: see `from_deficit`
        shrunk = np.minimum(1.0, y / square)  # by the contraction of the Hellinger distance
        squared_spread = shrunk * (2 - shrunk)  # of (1 + d) / 2 and (1 - d) / 2
        far = np.maximum(straight * y + bent * np.sqrt(y), shrunk if sparse else np.sqrt(squared_spread))
        value = np.maximum(value, np.minimum(far, 1.0) ** c * (1 - s))
        if sparse:
            value = np.maximum(value, squared_spread * (1 - s))
    return np.asarray(value)


def capacity(a: Floats) -> Floats:
    """C with: sum of KL(M_v | M_w) over the edges w at a corner v <= n C times the variance of orthogonal scores.

    The published form is E^2 / 4. With u <= q <= e^epsilon u, the variance of q is at most (m - u) (e^epsilon u - m), which
    is at most sinh(epsilon / 2)^2 m^2: derived here.
    """
    return np.asarray(np.minimum(information_factor(a), chi_factor(a) * np.sinh(a / 2) ** 2))


def corners(ratio: Floats) -> Floats:
    """The supremum of d^2 (1 - TV) where the divergence of a pair of corners is at most d^2 / (1 - d^2) / ratio."""
    value = np.zeros_like(ratio)
    for s in DISTANCES:
        far = divergence_of(s) * ratio
        value = np.maximum(value, far / (1 + far) * (1 - s))
    return value


def divergence_of(s: float) -> float:
    """The largest divergence for which `tv_from_kl` is at most s."""
    return float(max(2 * s**2, -np.log1p(-(s**2))))


def number_mean(n: Floats, a: Floats) -> Floats:
    """Lower bound for the mean of a number in [-1, 1]: squared error."""
    return two_points(n, a, np.asarray(2.0), sparse=False)


# One number -----------------------------------------------------------------------------------------------------------


def clipping(moment: Floats) -> Floats:
    """The sharp constant (k-1)^(k-1) / k^k of the bias of clipping; 0 where the moment is infinite."""
    k = np.where(np.isinf(moment), 2.0, moment)
    constant = np.exp((k - 1) * np.log(k - 1) - k * np.log(k))
    return np.asarray(np.where(np.isinf(moment), 0.0, constant))


def best_clipping(noise: Floats, spread: Floats, moment: Floats) -> Floats:
    """The least of noise T^2 + spread T^(2 - k) + constant^2 T^(2 - 2 k) over T > 0; at T = 1 where k is infinite.

    In u = T^k, the derivative vanishes where 2 noise u^2 + (2 - k) spread u = 2 (k - 1) constant^2.
    """
    k = np.where(np.isinf(moment), 2.0, moment)
    target, slope = (k - 1) * clipping(k) ** 2, (2 - k) * spread
    root = 4 * target / (slope + np.sqrt(slope**2 + 16 * noise * target))
    level_ = root ** (1 / k)
    error = noise * level_**2 + spread * level_ ** (2 - k) + clipping(k) ** 2 * level_ ** (2 - 2 * k)
    return np.asarray(np.where(np.isinf(moment), noise + spread, error))


def mean_1d(
    n: ArrayLike, epsilon: ArrayLike, moment: ArrayLike, radius: ArrayLike = 1.0, *, mode: str = "sharp"
) -> Bound:
    """The mean of a number of which a moment is bounded: squared error.

    Parameters
    ----------
    n : array_like
        People, >= 1; each sends one report. The formulas are continuous in n: it need not be whole.
    epsilon : array_like
        Privacy parameter of a report, > 0.
    moment : array_like
        k > 1, or infinity for a number in [-radius, radius].
    radius : array_like, default 1.0
        r > 0 with E|X|^k <= r^k.
    mode : {"sharp", "paper"}
        "paper": lower bound with the published constants, for epsilon up to 22/35.

    Returns
    -------
    bound : Bound
        Lower: for channels that may depend on earlier reports. Upper: `TruncatedMean` at its best level with the better of
        its two noises, or the answer 0.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range; the message names the theorem and its condition.

    Notes
    -----
    Arguments broadcast; about half a microsecond each.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation", JASA
       113 (2018), Corollary 1.
    """
    theorem = f"{REFERENCE}, Corollary 1,"
    number, k = people(theorem, n), _check.numbers("moment", moment, infinite=True)
    _check.condition(theorem, "a moment > 1", k > 1, moment=k)
    _check.condition(theorem, "a moment of at most 1e6, or infinite", (k <= 1e6) | np.isinf(k), moment=k)
    r2 = scale(theorem, "radius", radius) ** 2
    power = np.where(np.isinf(k), 2.0, 2 - 2 / k)
    if is_paper(mode):
        a = narrow(theorem, epsilon)
        cost = np.sqrt(2 * number) * a
        far = np.minimum(1.0, power / (1 + power) / cost)
        lower = far**power / 2 * (1 - cost * far)
    else:
        a = level(theorem, epsilon)
        lower = two_points(number, a, power, sparse=True)
    heavy = k < 2
    laplace = best_clipping(8 / (number * a**2), np.where(heavy, 1 / number, 0.0), k)
    laplace = laplace + np.where(heavy, 0.0, 1 / number)
    one_bit = best_clipping(coth_half(a) ** 2 / number, np.zeros(()), k)
    upper = np.minimum(1.0, np.minimum(laplace, one_bit))
    return bound(
        r2 * lower,
        r2 * upper,
        r2 * np.minimum(1.0, (number * a**2) ** (-power / 2)),
        r2 * np.minimum(1.0, without_privacy(number, k)),
        loss=SQUARED,
        below=f"{theorem} mass at two far points" + ("" if is_paper(mode) else ", sharp contraction"),
        above="TruncatedMean at the best level, or 0",
        vacuous="the published bound is negative",
    )


def without_privacy(n: Floats, k: Floats) -> Floats:
    """The sample mean, or for k < 2 the mean of clipped numbers."""
    clipped = best_clipping(np.full_like(n, 1e-300), 1 / n, np.minimum(k, 1.999999))
    return np.asarray(np.where(k < 2, clipped, 1 / n))


def median(n: ArrayLike, epsilon: ArrayLike, radius: ArrayLike, *, mode: str = "sharp") -> Bound:
    """The median, known to be in [-radius, radius]: excess of E|X - answer| over the least possible.

    Parameters
    ----------
    n, epsilon
        As for `mean_1d`.
    radius : array_like
        r > 0.
    mode : {"sharp", "paper"}
        "paper": lower bound with the published constants, for epsilon up to 22/35.

    Returns
    -------
    bound : Bound
        Lower: for channels that may depend on earlier reports. Upper: `MedianSGD` that knows n, or the answer 0.

    Raises
    ------
    TypeError, ValueError
        As `mean_1d`.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation", JASA
       113 (2018), Corollary 2.
    """
    theorem = f"{REFERENCE}, Corollary 2,"
    number, r = people(theorem, n), scale(theorem, "radius", radius)
    if is_paper(mode):
        a = narrow(theorem, epsilon)
        cost = np.sqrt(2 * number) * a
        far = np.minimum(1.0, 0.5 / cost)
        lower = far / 2 * (1 - cost * far)
    else:
        a = level(theorem, epsilon)
        lower = two_points(number, a, np.asarray(1.0), sparse=False)
    return bound(
        r * lower,
        r * np.minimum(1.0, 4 / 3 * coth_half(a) / np.sqrt(number)),
        r * np.minimum(1.0, 1 / (np.sqrt(number) * a)),
        r / np.sqrt(number),
        loss="excess absolute error",
        below=f"{theorem} two laws on the ends" + ("" if is_paper(mode) else ", sharp contraction"),
        above="MedianSGD with n, or 0",
        vacuous="the published bound is negative",
    )


# Vectors --------------------------------------------------------------------------------------------------------------


def half_space(dim: Floats) -> Floats:
    """`mechanisms.half_space_constant` of an array: exactly for odd, at dim + 1 for even dimension, where ties are kept."""
    return _half_space_table()[np.minimum(dim, 401).astype(np.intp)] if np.all(dim <= 401) else _half_space_large(dim)


@cache
def _half_space_table() -> Floats:
    table = np.empty(403)
    table[1] = 1.0
    for d in range(1, 401, 2):
        table[d + 2] = table[d] * (d + 1) / d
    table[2:402:2] = table[3:403:2]
    table[0] = 0.0
    return table


def _half_space_large(dim: Floats) -> Floats:
    z = 2 / np.maximum(dim + (dim % 2 == 0), 200)
    series = z * (-1 / 8 + z * (1 / 128 + z * (5 / 1024 + z * (-21 / 32768))))
    large = np.sqrt(np.pi / z) * (1 + series)
    return np.asarray(np.where(dim <= 401, _half_space_table()[np.minimum(dim, 401).astype(np.intp)], large))


def ball_constant(dim: Floats) -> Floats:
    """c(d), odd or even."""
    odd = half_space(dim)
    return np.asarray(np.where(dim % 2 == 0, np.pi * dim / 2 / odd, odd))  # c(d) c(d + 1) = pi d / 2


def vectors(n: Floats, a: Floats, dim: Floats) -> Floats:
    """Lower bound for the mean of vectors in the unit ball, or of one of them: independent coordinates of size 1 / sqrt(d)."""
    each = np.minimum(capacity(a), dim * tanh_half(a) ** 2 / 2)
    return np.maximum(corners(dim / (4 * n * each)), number_mean(n, a))


def mean_l2(n: ArrayLike, dim: ArrayLike, epsilon: ArrayLike, radius: ArrayLike = 1.0, *, mode: str = "sharp") -> Bound:
    """The mean of vectors in a Euclidean ball: squared Euclidean error.

    Parameters
    ----------
    n : array_like
        People, >= 1.
    dim : array_like of int
        d >= 1.
    epsilon : array_like
        Privacy parameter of a report, > 0.
    radius : array_like, default 1.0
        r > 0.
    mode : {"sharp", "paper"}
        "paper": the lower bound r^2 max over k <= d of min(1 / (4 k), k / (8 n (e^epsilon - 1)^2)), of the published shape.

    Returns
    -------
    bound : Bound
        Lower: for channels that may depend on earlier reports; it has no branch 1 / sqrt(n epsilon^2), which is not sharp.
        Upper: `VectorMean`, whose error is (B^2 - |mean|^2) / n, or the mean of `LaplaceVector`, or the answer 0.

    Raises
    ------
    TypeError, ValueError
        As `mean_1d`.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation", JASA
       113 (2018), Corollary 4. The construction with independent coordinates is derived here.
    """
    theorem = f"{REFERENCE}, Corollary 4,"
    number, d, a = people(theorem, n), size(theorem, "dim", dim), level(theorem, epsilon)
    r2 = scale(theorem, "radius", radius) ** 2
    if is_paper(mode):
        effective = number * excess(a) ** 2
        k = np.clip(np.sqrt(2 * effective), 1.0, d)
        lower = np.maximum(
            _single_coordinate(np.floor(k), effective), _single_coordinate(np.minimum(np.ceil(k), d), effective)
        )
    else:
        lower = vectors(number, a, d)
    report = np.minimum((ball_constant(d) * coth_half(a)) ** 2, 1 + 8 * (d / a) ** 2)
    return bound(
        r2 * lower,
        r2 * np.minimum(1.0, report / number),
        r2 * np.minimum(1.0, d / (number * a**2)),
        r2 / number,
        loss=SQUARED,
        below=f"{theorem} "
        + ("one coordinate each" if is_paper(mode) else "independent coordinates, pairwise Assouad"),
        above="VectorMean or LaplaceVector, or 0",
    )


def _single_coordinate(k: Floats, effective: Floats) -> Floats:
    return np.asarray(np.minimum(1 / (4 * k), k / (8 * effective)))


def sparse_mean(
    n: ArrayLike, dim: ArrayLike, epsilon: ArrayLike, radius: ArrayLike = 1.0, *, mode: str = "sharp"
) -> Bound:
    """The mean of vectors in a box, of which one coordinate is not zero: squared Euclidean error.

    Parameters
    ----------
    n, dim, epsilon
        As for `mean_l2`.
    radius : array_like, default 1.0
        r > 0: records are in [-r, r]^d.
    mode : {"sharp", "paper"}
        "paper": the lower bound with (e^epsilon - 1)^2 / (4 d) of the published shape.

    Returns
    -------
    bound : Bound
        Lower: for reports that do not depend on each other. Upper: `SparseMean`, or the mean of `LinfBall` reports, or 0.

    Raises
    ------
    TypeError, ValueError
        As `mean_1d`.

    Notes
    -----
    The upper bound (B / sqrt n + penalty)^2 + 2 B^2 / n^2 is derived here: a coordinate that is zero passes a penalty of
    B sqrt(2 log(2 d n) / n) with a mean square of at most 2 B^2 / (d n^2).

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation", JASA
       113 (2018), Corollary 5.
    """
    theorem = f"{REFERENCE}, Corollary 5,"
    number, d, a = people(theorem, n), size(theorem, "dim", dim), level(theorem, epsilon)
    r2 = scale(theorem, "radius", radius) ** 2
    each = information_factor(a) / d
    if not is_paper(mode):
        each = np.minimum(each, forward_factor(a) * np.sinh(a / 2) ** 2 / d)
        each = np.minimum(each, tanh_half(a) ** 2 * np.log(2))
    # sup over t in [0, 1] of (t / 2) (1 - (n each t + log 2) / log(2 d))
    room = np.log(d)
    far = np.minimum(1.0, room / (2 * number * each))
    lower = far / 2 * (room - number * each * far) / np.log(2 * d)
    if not is_paper(mode):
        lower = np.maximum(lower, number_mean(number, a))
    b = half_space(d) * coth_half(a)
    b2, plain = b**2, d * (b - (d % 2 == 0)) ** 2  # without a penalty, ties can be thinned
    logarithm = 2 * np.log(2 * d * number)
    thresholded = b2 / number * (1 + np.sqrt(logarithm)) ** 2 + 2 * b2 / number**2
    return bound(
        r2 * lower,
        r2 * np.minimum(1.0, np.minimum(thresholded, plain / number)),
        r2 * np.minimum(1.0, d * np.log(2 * d) / (number * a**2)),
        r2 * np.minimum(1.0, np.minimum((1 + np.sqrt(logarithm)) ** 2 / number + 2 / number**2, d / number)),
        loss=SQUARED,
        below=f"{theorem} Fano over the coordinates, without interaction",
        above="SparseMean, or LinfBall(ties='thin') without penalty, or 0",
        vacuous="there is one coordinate, which nothing has to find",
    )


# Categories -----------------------------------------------------------------------------------------------------------


def unary_risk(k: Floats, q: Floats, gain: Floats) -> Floats:
    """Squared error of one report, summed over k categories: of bits that are 1 with chance q + gain share, at equal shares."""
    noise = k * q * (1 - q) / gain**2 + (1 - 2 * q) / gain
    return np.asarray(noise - 1 / k)


def category_codes(k: Floats, a: Floats) -> dict[str, tuple[Floats, Floats]]:
    """Of each method of `Frequencies`: the chance of a 1 for another category, and how much more it is for the own one."""
    rest, half = np.exp(-a), np.exp(-a / 2)
    keep = 1 / (1 + (k - 1) * rest)
    return {
        "k-ary": (rest * keep, -np.expm1(-a) * keep),
        "symmetric": (half / (1 + half), np.asarray(np.tanh(a / 4))),
        "optimized": (rest / (1 + rest), np.tanh(a / 2) / 2),
    }


def multinomial(n: ArrayLike, k: ArrayLike, epsilon: ArrayLike, *, mode: str = "sharp") -> Bound:
    """The shares of k categories: squared Euclidean error.

    Parameters
    ----------
    n : array_like
        People, >= 1.
    k : array_like of int
        Categories, >= 2.
    epsilon : array_like
        Privacy parameter of a report, > 0.
    mode : {"sharp", "paper"}
        "paper": the lower bound with (e^epsilon - 1)^2 / 4 in the place of the sharp capacity.

    Returns
    -------
    bound : Bound
        Lower: for channels that may depend on earlier reports. Upper: the best method of `Frequencies`, with or without
        projection, or equal shares.

    Raises
    ------
    TypeError, ValueError
        As `mean_1d`.

    Notes
    -----
    The projected estimate errs by at most twice the largest error of a share, which is at most sqrt(log(2 k) / (2 n)) / gain
    on average: derived here.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Local privacy and minimax bounds: sharp rates for probability
       estimation", NIPS 2013, Theorem 1.
    """
    theorem = "Duchi, Jordan, Wainwright 2013, Theorem 1,"
    number, cells, a = people(theorem, n), size(theorem, "k", k, 2), level(theorem, epsilon)
    pairs, paper = np.floor(cells / 2), is_paper(mode)
    most = information_factor(a) if paper else capacity(a)
    # For m pairs of categories: 1 / (2 m) sup of c^2 (1 - TV), where the divergence is at most c^2 / (1 - c^2) 4 n C / m^2.
    lower = np.zeros_like(number)
    for s in DISTANCES:
        x = divergence_of(s)
        best = np.clip(np.sqrt(4 * number * most / x), 1.0, pairs)
        for m in (np.floor(best), np.ceil(best)):
            lower = np.maximum(lower, (1 - s) / 2 * x * m / (4 * number * most + x * m**2))
    if not paper:  # two categories alone, however large epsilon is
        lower = np.maximum(lower, corners(1 / (2 * number * tanh_half(a) ** 2)) / 2)
    trivial = 1 - 1 / cells
    upper: Floats = trivial
    for q, gain in category_codes(cells, a).values():
        upper = np.minimum(upper, unary_risk(cells, q, gain) / number)
        upper = np.minimum(upper, 2 * np.sqrt(np.log(2 * cells) / (2 * number)) / gain)
    effective = number * a**2
    return bound(
        lower,
        upper,
        np.minimum(1.0, np.minimum(1 / np.sqrt(effective), cells / effective)),
        trivial / number,
        loss=SQUARED,
        below=f"{theorem} pairs of categories, pairwise Assouad",
        above="Frequencies of the best method, or equal shares",
    )


# Regression -----------------------------------------------------------------------------------------------------------

STEP_EXPONENT = 0.99
CURVATURE = 0.75 / (
    4 * np.cosh(0.5) ** 2
)  # of the likelihood, in units of radius^2: least eigenvalue 3/4, log odds up to 1


def logistic(
    n: ArrayLike, dim: ArrayLike, epsilon: ArrayLike, radius: ArrayLike = 1.0, *, mode: str = "sharp"
) -> Bound:
    """The coefficients of a logistic regression: squared Euclidean error.

    Parameters
    ----------
    n, dim, epsilon
        As for `mean_l2`.
    radius : array_like, default 1.0
        r > 0: rows are in [-r, r]^d. The matrix E x x^T has no eigenvalue below 3 r^2 / 4, and the coefficients have a norm of
        at most 1 / (r sqrt d), so that no log odds exceed 1: without conditions of this kind nothing can be said.
    mode : {"sharp", "paper"}
        "paper": the lower bound with (e^epsilon - 1)^2 / 4 in the place of the sharp capacity, without the factor 2.

    Returns
    -------
    bound : Bound
        Lower: for channels that may depend on earlier reports. Upper: `GradientDescent` with norm "linf", projection
        1 / (r sqrt d), exponent 0.99 and eta0 0.99 / (0.1475 r^2), or coefficients of zero.

    Raises
    ------
    TypeError, ValueError
        As `mean_1d`.

    Notes
    -----
    Upper bound, derived here: with steps eta0 i^-b, eta0 = b / l, l the least curvature, a position's squared error is at
    most (b G^2 / l^2) i^-b by induction, G^2 = d B^2; the mean over all but the first eighth has at most 2.4 times the last.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation", JASA
       113 (2018), Corollary 6.
    """
    theorem = f"{REFERENCE}, Corollary 6,"
    number, d, a = people(theorem, n), size(theorem, "dim", dim), level(theorem, epsilon)
    r2, paper = scale(theorem, "radius", radius) ** 2, is_paper(mode)
    # Corners +-t in each coordinate, t <= 1 / d. Scores have the variance 4 sinh(t / 2)^2, divergences are t tanh(t / 2).
    most = information_factor(a) if paper else np.minimum(capacity(a), d * tanh_half(a) ** 2 / 2)
    lower = np.zeros_like(number)
    for s in DISTANCES:
        reach = np.sqrt(d * divergence_of(s) / (4 * number * most))
        lower = np.maximum(lower, d * np.minimum(2 * np.arcsinh(reach), 1 / d) ** 2 * (1 - s))
    kl = number / d * most * 4 * np.sinh(0.5 / d) ** 2  # of the farthest corners
    lower = np.maximum(lower, (1 - tv_from_kl(kl)) / d) / (2 if paper else 1)
    b = STEP_EXPONENT
    later = (1 - 8.0 ** (b - 1)) / (1 - b) * 8 / 7 * b / CURVATURE**2 * number**-b
    return bound(
        lower / r2,
        np.minimum(1 / d, d * (half_space(d) * coth_half(a)) ** 2 * later) / r2,
        np.minimum(1 / d, d**2 / (number * a**2)) / r2,
        np.minimum(1 / d, d * later) / r2,
        loss=SQUARED,
        below=f"{theorem} tilted independent rows, pairwise Assouad",
        above="GradientDescent with steps for the least curvature, or 0",
    )


# Densities ------------------------------------------------------------------------------------------------------------

MOST_TERMS = 65535.0


def density(
    n: ArrayLike,
    epsilon: ArrayLike,
    smoothness: ArrayLike,
    radius: ArrayLike = 1.0,
    *,
    family: str = "sobolev",
    mode: str = "sharp",
) -> Bound:
    """A density on [0, 1]: integrated squared error.

    Parameters
    ----------
    n : array_like
        People, >= 1.
    epsilon : array_like
        Privacy parameter of a report, > 0.
    smoothness : array_like
        beta > 1/2: the sum of j^(2 beta) theta_j^2 over the trigonometric coefficients is at most radius^2. 1 for "lipschitz".
    radius : array_like, default 1.0
        Of the Sobolev ellipsoid, or the Lipschitz constant; > 0.
    family : {"sobolev", "lipschitz"}
    mode : {"sharp", "paper"}
        "paper": the lower bound with (e^epsilon - 1)^2 / 4 in the place of the sharp capacity, without the factor 2.

    Returns
    -------
    bound : Bound
        Lower: for channels that may depend on earlier reports. Upper: `SeriesDensity` with the best odd number of terms, or
        `HistogramDensity` with the best number of bins; or the uniform density.

    Raises
    ------
    TypeError, ValueError
        As `mean_1d`.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation", JASA
       113 (2018), Corollary 7. The family of terms m + 1 to 2 m, and that of tents, are derived here.
    """
    theorem = f"{REFERENCE}, Corollary 7,"
    number, a, beta = people(theorem, n), level(theorem, epsilon), _check.numbers("smoothness", smoothness)
    c, paper = scale(theorem, "radius", radius), is_paper(mode)
    _check.condition(theorem, "smoothness > 1/2", beta > 0.5, smoothness=beta)
    _check.condition(theorem, "smoothness of at most 100", beta <= 100, smoothness=beta)
    # Perturbed densities are at least 1/2, hence the factor 2 beside the capacity.
    most = (
        information_factor(a) if paper else np.minimum(information_factor(a), 2 * chi_factor(a) * np.sinh(a / 2) ** 2)
    )
    tight = None if paper else tanh_half(a) ** 2
    half = 2.0 if paper else 1.0
    if _check.choice("family", family, ("sobolev", "lipschitz")) == "lipschitz":
        _check.condition(theorem, "smoothness 1 for a Lipschitz density", beta == 1, smoothness=beta)
        rate = np.minimum(c**2 / 12, c / np.sqrt(number * a**2))
        lower, upper, plain = _tents(number, c, most, tight), _histogram(number, a, c), _histogram_plain(number, c)
        below, above = "tents", "HistogramDensity of the best number of bins"
    else:
        _check.condition(theorem, "a radius in [1e-6, 1e6]", (c >= 1e-6) & (c <= 1e6), radius=c)
        rate = c**2 * np.minimum(1.0, (c**2 * number * a**2) ** (-beta / (beta + 1)))
        lower, upper = _terms(number, beta, c, most, tight), _series(number, a, beta, c)
        plain = _series_plain(number, beta, c)
        below, above = "one block of terms", "SeriesDensity of the best odd number of terms"
    return bound(
        lower / half,
        upper,
        rate,
        plain,
        loss=INTEGRATED,
        below=f"{theorem} {below}, pairwise Assouad",
        above=f"{above}, or the uniform density",
    )


def _terms(n: Floats, beta: Floats, c: Floats, most: Floats, tight: Floats | None) -> Floats:
    """The supremum over m and g of m g^2 (1 - TV): terms m + 1 to 2 m with signs times g, in the ellipsoid and at least 1/2.

    The divergence of a pair is at most (n / m) 4 g^2 C; for each s, m g^2 is the least of c^2 (2 m)^(-2 beta), 1 / (8 m) and
    s x m^2 / (4 n C): the first fall in m, the last rises, and the best m is beside their crossing.
    """

    def cap(m: Floats) -> Floats:
        return np.asarray(np.minimum(c**2 * (2 * m) ** (-2 * beta), 1 / (8 * m)))

    ellipsoid = c**2 * 2.0 ** (-2 * beta)
    first = cap(np.ones(()))
    value = first * (1 - tv_from_kl(4 * n * first * most))
    exponents = 2 * beta / (beta + 1), 4 * beta / (2 * beta + 1)
    s = exponents[0] / (1 + exponents[0])
    x = np.maximum(2 * s**2, -np.log1p(-(s**2)))
    rise = x / (4 * n * most)
    crossing = np.minimum((ellipsoid / rise) ** (1 / (2 + 2 * beta)), (1 / (8 * rise)) ** (1 / 3))
    for m in (np.maximum(np.floor(crossing), 1.0), np.ceil(np.maximum(crossing, 1.0))):
        value = np.maximum(value, np.minimum(cap(m), rise * m**2) * (1 - s))
    if tight is not None:  # the contraction of each divergence: C is at most 2 m tanh(epsilon / 2)^2
        s = exponents[1] / (1 + exponents[1])
        x = np.maximum(2 * s**2, -np.log1p(-(s**2)))
        rise = x / (8 * n * tight)
        crossing = np.minimum((ellipsoid / rise) ** (1 / (1 + 2 * beta)), (1 / (8 * rise)) ** (1 / 2))
        for m in (np.maximum(np.floor(crossing), 1.0), np.ceil(np.maximum(crossing, 1.0))):
            value = np.maximum(value, np.minimum(cap(m), rise * m) * (1 - s))
        value = np.maximum(value, first * (1 - tv_from_kl(8 * n * first * tight)))
    return np.asarray(value)


def _tents(n: Floats, slope: Floats, most: Floats, tight: Floats | None) -> Floats:
    """The same for m / 2 pairs of tents on cells of width 1 / m, up and down, with slopes g: g^2 / (12 m^2) (1 - TV).

    The divergence of a pair is at most (4 / 3) n g^2 m^-4 C, or (2 / 3) n g^2 m^-3 2 tanh(epsilon / 2)^2; g <= m.
    """

    def even(m: Floats) -> tuple[Floats, Floats]:
        below = np.maximum(2 * np.floor(m / 2), 2.0)
        return np.asarray(below), np.asarray(np.where(m > below, below + 2, below))

    value = np.zeros_like(n)
    routes = [(most, 4.0, 3 / 4)] + ([] if tight is None else [(tight, 3.0, 3 / 4)])
    for s in FEW_DISTANCES:
        for c, power, constant in routes:
            rise = constant * divergence_of(s) / (n * c)  # g^2 <= rise m^power
            crossing = np.minimum((slope**2 / rise) ** (1 / power), rise ** (-1 / (power - 2)))
            for m in even(crossing):
                value = np.maximum(
                    value, np.minimum(np.minimum(slope, m) ** 2, rise * m**power) / (12 * m**2) * (1 - s)
                )
    return np.asarray(value)


def _series(n: Floats, a: Floats, beta: Floats, c: Floats) -> Floats:
    """The least of 2 k h^2 c(k)^2 / n + c^2 (k + 1)^(-2 beta) over odd k: convex, so that a few beside the minimum do."""
    noise = 2 * coth_half(a) ** 2 / n
    start = (2 * beta * c**2 / (np.pi * noise)) ** (1 / (2 * beta + 2))
    odd = np.clip(2 * np.floor(start / 2) + 1, 1.0, MOST_TERMS)
    upper = np.broadcast_to(c**2, np.shape(odd))  # the uniform density: all coefficients are left out
    for shift in (-4.0, -2.0, 0.0, 2.0):
        k = np.clip(odd + shift, 1.0, MOST_TERMS)
        upper = np.minimum(upper, noise * k * half_space(k) ** 2 + c**2 * (k + 1) ** (-2 * beta))
    return upper


def _series_plain(n: Floats, beta: Floats, c: Floats) -> Floats:
    """Without privacy: pairs of terms have variances that sum to 2."""
    start = 2 * np.round((2 * beta * c**2 * n) ** (1 / (2 * beta + 1)) / 2)
    plain = np.broadcast_to(c**2, np.shape(start))
    for shift in (-2.0, 0.0):
        k = np.maximum(start + shift, 2.0)
        plain = np.minimum(plain, k / n + c**2 * (k + 1) ** (-2 * beta))
    return plain


def _histogram(n: Floats, a: Floats, slope: Floats) -> Floats:
    """The least of L^2 / (12 K^2) + (K - 1 + K^2 v) / n over K >= 2, or L^2 / 12 of one bin."""
    v = 1 / (4 * np.sinh(a / 4) ** 2)
    target = slope**2 * n / 6
    # 2 v K^4 + K^3 = target, by Newton steps in log K from above
    k = np.maximum(np.minimum(target ** (1 / 3), (target / (2 * v)) ** (1 / 4)), 1e-3)
    for _ in range(3):
        quartic, cubic = 2 * v * k**4, k**3
        k = k * np.exp(-np.log((quartic + cubic) / target) * (quartic + cubic) / (4 * quartic + 3 * cubic))
    upper = np.broadcast_to(slope**2 / 12, np.shape(k))
    for bins in (np.maximum(np.floor(k), 2.0), np.maximum(np.floor(k) + 1, 2.0)):
        bins = np.minimum(bins, MOST_TERMS)
        upper = np.minimum(upper, slope**2 / (12 * bins**2) + (bins - 1 + bins**2 * v) / n)
    return upper


def _histogram_plain(n: Floats, slope: Floats) -> Floats:
    bins = np.maximum(np.round((slope**2 * n / 6) ** (1 / 3)), 1.0)
    return np.asarray(np.minimum(slope**2 / 12, slope**2 / (12 * bins**2) + (bins - 1) / n))


# Normal records -------------------------------------------------------------------------------------------------------


def gaussian_mean(
    n: ArrayLike,
    epsilon: ArrayLike,
    sigma: ArrayLike,
    beta: ArrayLike = 0.05,
    *,
    mu_bound: ArrayLike | None = None,
    mode: str = "sharp",
) -> Bound:
    """The mean of normal records: the half-width within which the answer is with probability 1 - beta.

    Parameters
    ----------
    n : array_like
        People, >= 1.
    epsilon : array_like
        Privacy parameter of a report, > 0.
    sigma : array_like
        Known standard deviation, > 0.
    beta : array_like, default 0.05
        In (0, 1/2); below 1/4 with "paper".
    mu_bound : array_like, optional
        The mean is within [-mu_bound, mu_bound]; by default 1024 sigma.
    mode : {"sharp", "paper"}
        "paper": sigma / (e^epsilon - 1) sqrt(pi log(1 / (4 beta)) / (4 n)).

    Returns
    -------
    bound : Bound
        Lower: for channels that may depend on earlier reports. Upper: `GaussianMean` with ``variant="paper"`` where n is as
        large as the proof of its search needs, else the answer 0. The other variants do far better than is proved for them.

    Raises
    ------
    TypeError, ValueError
        As `mean_1d`.

    Notes
    -----
    Upper bound: the search has 0.04 k >= psi, k people per level; then it is within 2 sigma but for beta / 2. The share of
    n / 2 sign bits is within coth(epsilon / 2) sqrt(log(4 / beta) / n) but for beta / 2, by Hoeffding's inequality.

    References
    ----------
    .. [1] M. Joseph, J. Kulkarni, J. Mao, Z. S. Wu, "Locally private Gaussian estimation", NeurIPS 2019. The constants are
       derived here.
    """
    from scipy.special import ndtr, ndtri

    theorem = "Joseph, Kulkarni, Mao, Wu 2019, the lower bound,"
    number, a, s = people(theorem, n), level(theorem, epsilon), scale(theorem, "sigma", sigma)
    tail, paper = _check.numbers("beta", beta), is_paper(mode)
    most = 0.25 if paper else 0.5
    _check.condition(theorem, f"beta in (0, {most:g})", (tail > 0) & (tail < most), beta=tail)
    reach = 1024 * s if mu_bound is None else scale(theorem, "mu_bound", mu_bound)
    if paper:
        lower = s / excess(a) * np.sqrt(np.pi * -np.log(4 * tail) / (4 * number))
    else:
        # The two answers tell means 2 w apart from each other: the affinity of the reports is at most 2 sqrt(beta (1 - beta)).
        y = -np.expm1(np.log(4 * tail * (1 - tail)) / (2 * number))
        t = np.minimum(deficit_inverse(a, y), 1.0)
        lower = s * np.where(t < 1, ndtri((1 + t) / 2), np.inf)
        shrunk = np.minimum(y / tanh_half(a) ** 2, 1.0)
        with np.errstate(divide="ignore"):
            lower = np.maximum(lower, s * np.sqrt(-2 * np.log1p(-shrunk)))
    levels = np.maximum(3.0, 1 + np.ceil(np.log2(np.maximum(1.0, reach / (1.5 * s)))))
    each = number / (2 * levels)
    psi = (a + 4) / (a * np.sqrt(2)) * np.sqrt(np.log(8 * levels * 2 / tail) / each)
    slip = coth_half(a) * np.sqrt(np.log(4 / tail) / number)
    edge = ndtr(2.0)
    proved = (psi <= 0.04) & (edge + slip < 1)
    upper = np.where(proved, s * (ndtri(np.minimum(edge + slip, 1.0)) - 2), np.inf)
    return bound(
        np.minimum(lower, reach),
        np.minimum(upper, reach),
        np.minimum(reach, s / (a * np.sqrt(number))),
        np.minimum(reach, -s * ndtri(tail / 2) / np.sqrt(number)),
        loss="half-width",
        below=f"{theorem} two means",
        above="GaussianMean(variant='paper') where its search is proved, else 0",
    )
