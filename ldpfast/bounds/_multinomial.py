"""Bounds for the shares of categories."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._typing import Floats
from ..results import line_of
from ._bound import Bound, bound, check_epsilon, check_integer, check_n, is_paper
from ._contraction import tanh_half
from ._registered_problem import RegisteredProblem, Solution, Solutions, register, require_domain
from ._testing_methods import information_factor
from ._tools import (
    DISTANCES,
    SQUARED,
    allow_overflow,
    capacity,
    corners,
    divergence_of,
)

MAX_SUBSET_CATEGORIES = 1 << 16  # limit of `SubsetSelection`


def unary_risk(k: Floats, q: Floats, gain: Floats) -> Floats:
    """Return the squared error of one report, summed over k categories, at equal shares.

    Bits are 1 with probability q + gain share.
    """
    noise = k * q * (1 - q) / gain**2 + (1 - 2 * q) / gain
    return np.asarray(noise - 1 / k)


def category_codes(k: Floats, a: Floats) -> dict[str, tuple[Floats, Floats]]:
    """Return q and gain for each method of `Frequencies`, with both candidates for the size of `SubsetSelection`.

    q is the probability of a 1 for another category, and q + gain that for the true category.
    """
    rest, half = np.exp(-a), np.exp(-a / 2)
    keep = 1 / (1 + (k - 1) * rest)
    below = np.floor(k * rest / (1 + rest))
    return {
        "subset": _subset_code(k, rest, below),
        "subset, next size": _subset_code(k, rest, below + 1),
        "k-ary": (rest * keep, -np.expm1(-a) * keep),
        "symmetric": (half / (1 + half), np.asarray(np.tanh(a / 4))),
        "optimized": (rest / (1 + rest), np.tanh(a / 2) / 2),
    }


def _subset_code(k: Floats, rest: Floats, size: Floats) -> tuple[Floats, Floats]:
    """Return q and gain of `SubsetSelection` with sets of a size, which is moved into [1, k - 1].

    For too many categories, those of a mechanism without signal.
    """
    size = np.clip(size, 1, k - 1)
    p = size / (size + (k - size) * rest)
    q = (size - p) / (k - 1)
    exists = k <= MAX_SUBSET_CATEGORIES
    return np.where(exists, q, 0.5), np.where(exists, p - q, 1e-9)


@allow_overflow
def multinomial(n: ArrayLike, k: ArrayLike, epsilon: ArrayLike, *, method: str = "sharp") -> Bound:
    """Bound the squared Euclidean error of the shares of k categories.

    Parameters
    ----------
    n : array_like
        Number of people, >= 1.
    k : array_like of int
        Number of categories, >= 2.
    epsilon : array_like
        Privacy parameter of a report, > 0.
    method : {"sharp", "paper"}
        "paper": the lower bound with (e^epsilon - 1)^2 / 4 instead of the sharp capacity.

    Returns
    -------
    bound : Bound
        Lower bound: for channels that may depend on earlier reports. Upper bound: the best method of `Frequencies`,
        with or without projection, or equal shares.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range; the message names the theorem and its condition.

    Notes
    -----
    The error of the projected estimate is at most twice the largest error of a share, which is at most sqrt(log(2 k) /
    (2 n)) / gain on average: derived here.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Local privacy and minimax bounds: sharp rates for probability
       estimation", NIPS 2013, Theorem 1.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> bound = bounds.multinomial(10_000, 100, 1.0)
    >>> round(bound.upper / bound.nonprivate)  # times as many people as without privacy
    365
    """
    theorem = "Duchi, Jordan, Wainwright 2013, Theorem 1,"
    number = check_n(theorem, n)
    cells = check_integer(theorem, "k", k, 2)
    a = check_epsilon(theorem, epsilon)
    pairs, paper = np.floor(cells / 2), is_paper(method)
    factor = information_factor(a) if paper else capacity(a)
    # For m pairs of categories, the bound is 1 / (2 m) sup of c^2 (1 - TV), where the divergence is at most
    # c^2 / (1 - c^2) 4 n C / m^2.
    lower = np.zeros_like(number)
    for s in DISTANCES:
        x = divergence_of(s)
        best = np.clip(np.sqrt(4 * number * factor / x), 1.0, pairs)
        for m in (np.floor(best), np.ceil(best)):
            lower = np.maximum(lower, (1 - s) / 2 * x * m / (4 * number * factor + x * m**2))
    if not paper:  # two categories, for large epsilon
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
        above="Frequencies with the best method, or equal shares",
    )


def solutions(n: int, k: int, epsilon: float) -> Solutions:
    """Return the procedures of the library that solve the problem, with their errors."""
    from ..mechanisms import (
        HadamardResponse,
        LaplaceOneHot,
        ProjectiveGeometryResponse,
        RandomizedResponse,
        SubsetSelection,
        UnaryEncoding,
    )

    def solve(name: str, mechanism: Any) -> Solution:
        return Solution(name, error_of(mechanism, n, k=k), "exact", mechanism.report_bits)

    return [
        lambda: solve("RandomizedResponse", RandomizedResponse(k, epsilon)),
        lambda: solve("SubsetSelection", SubsetSelection(k, epsilon)),
        lambda: solve("HadamardResponse", HadamardResponse(k, epsilon)),
        lambda: solve("ProjectiveGeometryResponse", ProjectiveGeometryResponse(k, epsilon)),
        lambda: solve("UnaryEncoding(symmetric)", UnaryEncoding(k, epsilon)),
        lambda: solve("UnaryEncoding(optimized)", UnaryEncoding(k, epsilon, method="optimized")),
        lambda: solve("LaplaceOneHot", LaplaceOneHot(k, epsilon)),
    ]


def share_variance(mechanism: Any, k: int) -> float:
    """Return the variance of one estimated share from the report of a random person, at equal shares."""
    from ..reports import Grid, recipe_of

    line = line_of(mechanism.debiasing)
    if line is not None:
        return float(line.variance(1 / k))
    sampling = (1 - 1 / k) / k
    if isinstance(mechanism.report, Grid):
        return mechanism.report.noise_variance + sampling
    return float(recipe_of(mechanism).variance(np.arange(k)).mean()) + sampling


def error_of(mechanism: Any, n: int, *, k: int) -> float:
    """Return the squared error of the shares from n reports of a mechanism for k categories, at equal shares."""
    from ..domains import Categories

    if not (isinstance(mechanism.domain, Categories) and mechanism.domain.k == k):
        require_domain(mechanism, Categories(k))
    return k * share_variance(mechanism, k) / n


register(RegisteredProblem(multinomial, "the shares of k categories", solutions, error_of))
