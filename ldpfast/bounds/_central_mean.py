"""Bounds for the mean of vectors in the central model."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._typing import Floats
from ._bound import Bound, bound, check_integer, check_n, check_scale, is_paper
from ._central_privacy import BARBER, CentralPrivacy, noise_factor
from ._registered_problem import RegisteredProblem, Solution, Solutions, register
from ._tools import (
    SQUARED,
    best_clipping,
    without_privacy,
)

PLAIN_DISTANCE = 0.77  # about the maximizer of (1 - s) log(1 / (1 - s^2))


def _spread_out(privacy: CentralPrivacy, n: Floats, dim: Floats, power: Floats) -> Floats:
    """Return the supremum over w and d' of w^power d'^(power - 1) (1 - TV(w)).

    d' <= dim coordinates have a mass of at most 1 together.
    """
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


def _packed(privacy: CentralPrivacy, n: Floats, dim: Floats, power: Floats) -> Floats:
    """Return the lower bound p^power s^2 / 4 times the error of `packing`.

    A record is 0 or, with probability p = m / n, one of M points of a ball at distance s from each other. m is the
    largest integer with e^(-epsilon m) >= x / M, so the error is at least x (1 - 1/M) (1/2 - 1/4) / (1 + x), or without
    the 1/4 if delta is 0. If necessary, epsilon is increased until the term of delta is at most that 1/4. A bound for
    weaker privacy also holds for stronger privacy.
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


def _published_mean(privacy: CentralPrivacy, n: Floats, dim: Floats, power: Floats) -> Floats:
    """Return the published constants, which are not lower bounds if n epsilon is small."""
    if privacy.definition in ("tv", "kl"):
        return np.asarray((1 / (4 * n * privacy.epsilon_tv)) ** power / 4)
    a, d = privacy.epsilon, privacy.delta
    with np.errstate(divide="ignore"):
        least = np.minimum(dim / 2 - a, np.log(-np.expm1(-a)) - np.log(4 * d) - a)
    return np.asarray(np.where(dim >= 2, np.clip(least / (n * a), 0.0, 1.0), 0.0) ** power / 32)


def central_mean(
    n: ArrayLike,
    dim: ArrayLike,
    epsilon: ArrayLike,
    delta: ArrayLike = 0.0,
    *,
    moment: ArrayLike,
    radius: ArrayLike = 1.0,
    privacy: str,
    method: str = "sharp",
) -> Bound:
    """Bound the squared Euclidean error of the mean of vectors with a bounded moment of the norm, in the central model.

    Parameters
    ----------
    n : array_like
        Number of people, >= 1.
    dim : array_like of int
        Dimension d >= 1.
    epsilon : array_like
        Parameter of the definition, > 0: a divergence for "kl", a distance of at most 1 for "tv".
    delta : array_like, default 0.0
        In (0, 1) for "approximate", else 0.
    moment : array_like
        Order k > 1, or infinity, with E|X|^k <= radius^k.
    radius : array_like, default 1.0
        Bound r > 0 on the moment.
    privacy : {"pure", "smooth", "approximate", "kl", "tv"}
        Definition of privacy.
    method : {"sharp", "paper"}
        "paper": the published lower bound. For "tv" and "kl" it is NOT a lower bound if n epsilon is small; for the
        other definitions it is four times too large.

    Returns
    -------
    bound : Bound
        Upper bound: the mean of records projected to the best radius, with Laplace or Gaussian noise (`central.mean`),
        or 0.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range; the message names the theorem and its condition.

    Notes
    -----
    Arguments broadcast; about a microsecond per element. Approximate privacy requires fifty evaluations for each pair
    of epsilon and delta, so broadcast epsilon and delta against n rather than repeat them.

    References
    ----------
    .. [1] R. F. Barber, J. C. Duchi, "Privacy and statistical risk: formalisms and minimax bounds", 2014, Propositions
       2 and 4, table 1. The lower bound that spreads over coordinates, and the constants, are derived here.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> bound = bounds.central_mean(10_000, 5, moment=3, privacy="pure", epsilon=1.0)
    >>> 0 < bound.nonprivate < bound.upper
    True
    """
    theorem = f"{BARBER}, Propositions 2 and 4,"
    number = check_n(theorem, n)
    d = check_integer(theorem, "dim", dim)
    k = _check.numbers("moment", moment, infinite=True)
    _check.condition(theorem, "a moment > 1", k > 1, moment=k)
    _check.condition(theorem, "a moment of at most 1e6, or infinite", (k <= 1e6) | np.isinf(k), moment=k)
    r2 = check_scale(theorem, "radius", radius) ** 2
    definition = CentralPrivacy(theorem, privacy, epsilon, delta)
    power = np.where(np.isinf(k), 2.0, 2 - 2 / k)
    if is_paper(method):
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


def _table_rate(privacy: CentralPrivacy, n: Floats, dim: Floats) -> Floats:
    """Return U of table 1."""
    if privacy.definition in ("pure", "smooth"):
        return np.asarray((dim / (n * privacy.epsilon)) ** 2)
    if privacy.definition == "approximate":
        return np.asarray(dim * -np.log(privacy.delta) / (n * privacy.epsilon) ** 2)
    if privacy.definition == "kl":
        return np.asarray(dim / (n**2 * privacy.epsilon))
    return np.asarray(dim / (n * privacy.epsilon) ** 2)


def solutions(
    n: int, epsilon: float, dim: int, moment: float, radius: float = 1.0, *, privacy: str, delta: float = 0.0
) -> Solutions:
    """Return the procedures of the library that solve the problem, with their errors."""
    from ..central._definitions import definition_of
    from ..central._mean_release import Release

    def mean(noise: str, method: str) -> Solution:
        release = Release.of(definition_of(privacy, epsilon, delta), noise, method, moment, radius, n, dim)
        return Solution(f"central.mean(noise={noise!r}, method={method!r})", release.risk, "bound", 0)

    methods = ("optimal",) if math.isinf(moment) else ("optimal", "paper")
    return [lambda noise=noise, method=method: mean(noise, method) for noise in ("grid", "l2") for method in methods]  # type: ignore[misc]


register(RegisteredProblem(central_mean, "the mean of vectors, with a trusted curator", solutions, central=True))
