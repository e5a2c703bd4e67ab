"""Bounds for the mean of normal records."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from ._bound import Bound, bound, check_epsilon, check_n, check_scale, is_paper
from ._contraction import deficit_inverse, excess, tanh_half
from ._registered_problem import RegisteredProblem, Solution, Solutions, register
from ._tools import (
    coth_half,
)

# Of `GaussianMean`: kappa that the search gets if possible, and at least, and its least share of the people.
TARGET_KAPPA = 12.0
SAFE_KAPPA = 8.0
MIN_SHARE = 0.15
MIN_BETA = 0.001  # below, failures of the search are a large share of all errors


def gaussian_mean(
    n: ArrayLike,
    epsilon: ArrayLike,
    *,
    sigma: ArrayLike,
    beta: ArrayLike = 0.05,
    mu_bound: ArrayLike | None = None,
    method: str = "sharp",
) -> Bound:
    """Bound the half-width of an interval that contains the mean of normal records with probability 1 - beta.

    Parameters
    ----------
    n : array_like
        Number of people, >= 1.
    epsilon : array_like
        Privacy parameter of a report, > 0.
    sigma : array_like
        Known standard deviation, > 0.
    beta : array_like, default 0.05
        Error probability in (0, 1/2); below 1/4 with "paper".
    mu_bound : array_like, optional
        Bound on the mean, which is in [-mu_bound, mu_bound]; 1024 sigma by default.
    method : {"sharp", "paper"}
        "paper": sigma / (e^epsilon - 1) sqrt(pi log(1 / (4 beta)) / (4 n)).

    Returns
    -------
    bound : Bound
        Lower bound: for channels that may depend on earlier reports. Upper bound: `GaussianMean` in two rounds, for large n
        and `beta` of at least 0.001. For smaller `beta`, ``method="paper"`` if n is large enough for the proof of its search.
        Else the answer 0.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range; the message names the theorem and its condition.

    Notes
    -----
    The upper bound is asymptotic: the half-width of the normal limits from one bit about the mean of each person who does not
    answer the search. The search takes about the people that `GaussianMean.plan` gives it, at most half of them. Of
    45,000 simulated estimates with the fewest people for which there is a bound, 11 were entirely wrong.

    The bound for smaller `beta` is proved. The search requires 0.04 k >= psi, with k people per search level. It is then
    within 2 sigma except with probability beta / 2. By Hoeffding's inequality, the share of n / 2 sign bits is within
    coth(epsilon / 2) sqrt(log(4 / beta) / n) except with probability beta / 2.

    References
    ----------
    .. [1] M. Joseph, J. Kulkarni, J. Mao, Z. S. Wu, "Locally private Gaussian estimation", NeurIPS 2019. The constants
       are derived here.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> bound = bounds.gaussian_mean(100_000, 1.0, sigma=2.0, mu_bound=100)
    >>> 0 < bound.nonprivate < bound.upper
    True
    """
    from scipy.special import ndtr, ndtri

    theorem = "Joseph, Kulkarni, Mao, Wu 2019, the lower bound,"
    number = check_n(theorem, n)
    a = check_epsilon(theorem, epsilon)
    s = check_scale(theorem, "sigma", sigma)
    tail, paper = _check.numbers("beta", beta), is_paper(method)
    largest = 0.25 if paper else 0.5
    _check.condition(theorem, f"beta in (0, {largest:g})", (tail > 0) & (tail < largest), beta=tail)
    reach = 1024 * s if mu_bound is None else check_scale(theorem, "mu_bound", mu_bound)
    if paper:
        lower = s / excess(a) * np.sqrt(np.pi * -np.log(4 * tail) / (4 * number))
    else:
        # The answers distinguish two means at distance 2 w, so the affinity of the reports is at most 2 sqrt(beta (1 -
        # beta)).
        y = -np.expm1(np.log(4 * tail * (1 - tail)) / (2 * number))
        t = np.minimum(deficit_inverse(a, y), 1.0)
        lower = s * np.where(t < 1, ndtri((1 + t) / 2), np.inf)
        shrunk = np.minimum(y / tanh_half(a) ** 2, 1.0)
        with np.errstate(divide="ignore"):
            lower = np.maximum(lower, s * np.sqrt(-2 * np.log1p(-shrunk)))
    levels = np.maximum(3.0, 1 + np.ceil(np.log2(np.maximum(1.0, reach / (1.5 * s)))))
    per_level = number / (2 * levels)
    psi = (a + 4) / (a * np.sqrt(2)) * np.sqrt(np.log(8 * levels * 2 / tail) / per_level)
    share_error = coth_half(a) * np.sqrt(np.log(4 / tail) / number)
    edge = ndtr(2.0)
    proved = (psi <= 0.04) & (edge + share_error < 1)
    upper = np.where(proved, s * (ndtri(np.minimum(edge + share_error, 1.0)) - 2), np.inf)
    gain = tanh_half(a) / (2 - tanh_half(a))  # (e^a - 1) / (e^a + 3)
    search = np.minimum(np.maximum(levels * np.ceil(TARGET_KAPPA / gain**2), MIN_SHARE * number), number / 2)
    limit = -s * ndtri(tail / 2) * math.sqrt(math.pi / 2) * coth_half(a) / np.sqrt(number - search)
    enough = (search >= levels * np.ceil(SAFE_KAPPA / gain**2)) & (tail >= MIN_BETA)
    upper = np.minimum(upper, np.where(enough, limit, np.inf))
    return bound(
        np.minimum(lower, reach),
        np.minimum(upper, reach),
        np.minimum(reach, s / (a * np.sqrt(number))),
        np.minimum(reach, -s * ndtri(tail / 2) / np.sqrt(number)),
        loss="half-width",
        below=f"{theorem} two means",
        above="GaussianMean in two rounds, asymptotic, where its search seldom fails; method='paper' where proved; else 0",
    )


def solutions(n: int, epsilon: float, sigma: float, beta: float = 0.05, mu_bound: float | None = None) -> Solutions:
    """Return the procedures of the library that solve the problem, with their errors."""
    from scipy.special import ndtri

    from ..estimation import GaussianMean

    reach = 1024 * sigma if mu_bound is None else mu_bound

    def two_rounds(method: str) -> Solution:
        protocol = GaussianMean(epsilon, sigma=sigma, mu_bound=reach, method=method)
        plan = protocol.plan(n)
        if plan.kappa < plan.safe_kappa:
            raise ValueError(f"n must be large enough for the search of GaussianMean({method}), got {n}")
        second = sum(plan.rounds[1])
        width = -float(ndtri(beta / 2)) * sigma * math.sqrt(math.pi / 2) / math.tanh(epsilon / 2) / math.sqrt(second)
        return Solution(f"GaussianMean({method})", width, "limit", 2)

    return [lambda: two_rounds("robust"), lambda: two_rounds("paper")]


register(RegisteredProblem(gaussian_mean, "the mean of normal records", solutions))
