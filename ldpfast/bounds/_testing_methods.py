"""Methods of Le Cam, Fano and Assouad under local privacy, and the packing method under central privacy.

Families are finite distributions as arrays, with a row for each hypothesis. The supremum over functions with values in
[-1, 1] is the maximum of a convex quadratic form, so it is attained by signs. All signs are evaluated for up to `MAX_SYMBOLS`
symbols; for more, the supremum is bounded by an eigenvalue.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._typing import Floats
from ._bound import Numeric, _plain, check_epsilon, check_n, check_scale, is_paper
from ._contraction import (
    check_small_epsilon,
    excess,
    from_deficit,
    kl_contraction,
    tanh_half,
    tensorized_tv,
)

LOSSES = ("squared", "absolute")
MAX_SYMBOLS = 20
BLOCK = 1 << 12


def half_risk(separation: Floats, loss: str) -> Floats:
    """Return the risk of two hypotheses that cannot be distinguished."""
    if _check.choice("loss", loss, LOSSES) == "squared":
        return np.asarray(separation**2 / 4)
    return np.asarray(separation / 2)


def divergences(p: Floats, q: Floats) -> tuple[Floats, Floats, Floats]:
    """Return total variation, half of the squared Hellinger distance, and Kullback-Leibler divergence of rows."""
    tv = np.abs(p - q).sum(axis=-1) / 2
    hellinger = ((np.sqrt(p) - np.sqrt(q)) ** 2).sum(axis=-1) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        kl = np.where(p > 0, p * (np.log(p) - np.log(q)), 0.0).sum(axis=-1)
    return np.minimum(tv, 1.0), np.minimum(hellinger, 1.0), kl


def tv_of_reports(n: Floats, a: Floats, p: Floats, q: Floats) -> Floats:
    """Return the best bound on the total variation of n reports for distributions p and q of a record."""
    tv, hellinger, _ = divergences(p, q)
    known = np.asarray(tensorized_tv(n, a, tv=tv))
    return np.asarray(np.minimum(known, from_deficit(n, tanh_half(a) ** 2 * hellinger)))


def le_cam(
    n: ArrayLike,
    epsilon: ArrayLike,
    *,
    p: ArrayLike,
    q: ArrayLike,
    separation: ArrayLike,
    loss: str = "squared",
    method: str = "sharp",
) -> Numeric:
    """Return a lower bound on the worst-case risk for two distributions of a record.

    Parameters
    ----------
    n : array_like
        Number of people, >= 1, with one report each.
    epsilon : array_like
        Privacy parameter of a report, > 0.
    p, q : array_like, shape (m,)
        Distributions of a record.
    separation : array_like
        Distance of the two values of the parameter, > 0.
    loss : {"squared", "absolute"}
        Loss of the risk.
    method : {"sharp", "paper"}
        "sharp": separation^2 (1 - TV) / 4, or separation (1 - TV) / 2, with TV from `tensorized_tv` and from the
        contraction of the Hellinger distance of p and q. "paper": half of that, with TV <= sqrt(2 n epsilon^2) T, for
        epsilon up to 22/35.

    Returns
    -------
    risk : float or ndarray
        Lower bound on the risk.

    Raises
    ------
    TypeError, ValueError
        If `p` and `q` are not distributions on the same symbols, or an argument is out of range.

    Notes
    -----
    Channels may depend on earlier reports.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       JASA 113 (2018), Proposition 1.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> round(bounds.methods.le_cam(100, 1.0, p=[0.6, 0.4], q=[0.4, 0.6], separation=0.2), 4)
    0.0024
    """
    first, second = _check.families("p", p, 1), _check.families("q", q, 1)
    if first.shape != second.shape:
        raise ValueError(f"p and q must have the same shape, got {first.shape} and {second.shape}")
    number, apart = check_n("Proposition 1", n), check_scale("Proposition 1", "separation", separation)
    if is_paper(method):
        t, _, _ = divergences(first, second)
        bound = (
            half_risk(apart, loss) / 2 * (1 - np.sqrt(2 * number) * check_small_epsilon("Proposition 1", epsilon) * t)
        )
        return _plain(np.maximum(bound, 0.0))
    a = check_epsilon("Proposition 1", epsilon)
    return _plain(half_risk(apart, loss) * (1 - tv_of_reports(number, a, first, second)))


def largest_square(functionals: Floats) -> float:
    """Return the supremum of |A g|^2 over g with values in [-1, 1].

    It is attained by signs, all of which are evaluated up to a common sign. Zero columns are dropped. For more than
    `MAX_SYMBOLS` columns the result is an upper bound, the largest eigenvalue times the number of columns.
    """
    columns = functionals.T[np.abs(functionals).max(axis=0) > 0]
    m = len(columns)
    if m == 0:
        return 0.0
    if m > MAX_SYMBOLS:
        return float(np.linalg.norm(columns, 2) ** 2 * m)
    best, half = 0.0, 1 << (m - 1)
    for start in range(0, half, BLOCK):
        signs = (np.arange(start, min(half, start + BLOCK))[:, np.newaxis] >> np.arange(m)) & 1
        best = max(best, float((((2.0 * signs - 1) @ columns) ** 2).sum(axis=1).max()))
    return best


def chi_factor(a: Floats) -> Floats:
    """Return c with KL(M | M') <= c times the chi-square of M' from M, for every epsilon-LDP channel.

    It tends to 1/2 for small epsilon.
    """
    difference = -np.expm1(-a)
    small = a < 1e-3  # series, because of cancellation
    exact = (a - difference) / np.where(small, 1.0, difference) ** 2
    return np.asarray(np.where(small, 0.5 + a / 3 + a**2 / 12, exact))


def forward_factor(a: Floats) -> Floats:
    """Return c with KL(M' | M) <= c times the chi-square of M' from M."""
    difference = -np.expm1(-a)
    small = a < 1e-3
    exact = (difference - a * np.exp(-a)) / np.where(small, 1.0, difference) ** 2
    return np.asarray(np.where(small, 0.5 + a / 6, exact))


def information_factor(a: Floats) -> Floats:
    """Return (e^epsilon - 1)^2 / 4. It has the published form, which is useless for large epsilon."""
    return np.asarray((excess(a) / 2) ** 2)


def fano(
    n: ArrayLike,
    epsilon: ArrayLike,
    *,
    family: ArrayLike,
    separation: ArrayLike,
    neighbors: int = 1,
    loss: str = "squared",
) -> Numeric:
    """Return a lower bound on the worst-case risk for a family, if reports do not depend on each other.

    Parameters
    ----------
    n, epsilon
        As for `le_cam`.
    family : array_like, shape (V, m)
        Distributions of a record.
    separation : array_like
        Least distance of the values of the parameter for two hypotheses that are not neighbors, > 0.
    neighbors : int, default 1
        Largest number of hypotheses that are nearer than `separation` to one of them, which is itself counted.
    loss : {"squared", "absolute"}
        Loss of the risk.

    Returns
    -------
    risk : float or ndarray
        (separation / 2)^2, or separation / 2, times 1 - (I + log 2) / log(V / neighbors); 0 if that is negative.

    Raises
    ------
    TypeError, ValueError
        If the rows of `family` are not at least 2 distributions, or an argument is out of range.

    Notes
    -----
    The information I is the least of three bounds:

    - n (e^epsilon - 1)^2 / 4 times the supremum over g of the mean square of integral g (dP_v - dP), where P is the
      mean distribution;
    - n tanh(epsilon / 2)^2 times the mean Kullback-Leibler divergence from P;
    - n times the mean of `kl_contraction` for the total variation distances from P.

    O(2^m) for m up to 20 symbols. Derived here with the constant 1/4; the published constant is larger.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       JASA 113 (2018), Theorem 2 and Proposition 2.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast import bounds
    >>> family = 0.2 + 0.02 * (5 * np.eye(5) - 1)  # symbol v is more probable in hypothesis v
    >>> round(bounds.methods.fano(100, 1.0, family=family, separation=0.1), 5)
    0.00081
    """
    rows = _check.families("family", family, 2)
    near = _check.integer("neighbors", neighbors, 1)
    _check.condition("Proposition 2", "at least 2 hypotheses, not all of them neighbors", len(rows) > near, V=len(rows))
    number, apart = check_n("Proposition 2", n), check_scale("Proposition 2", "separation", separation)
    a, mean = check_epsilon("Proposition 2", epsilon), rows.mean(axis=0)
    tv, _, kl = divergences(rows, mean)
    information = np.minimum(
        information_factor(a) * largest_square(rows - mean) / len(rows),
        tanh_half(a) ** 2 * kl.mean(),
    )
    information = np.minimum(information, np.asarray(kl_contraction(a[..., np.newaxis], tv=tv)).mean(axis=-1))
    error = 1 - (number * information + math.log(2)) / math.log(len(rows) / near)
    return _plain(half_risk(apart, loss) * np.maximum(error, 0.0))


def assouad(
    n: ArrayLike,
    epsilon: ArrayLike,
    *,
    family: ArrayLike,
    separation: ArrayLike,
    loss: str = "squared",
    method: str = "sharp",
) -> Numeric:
    """Return a lower bound on the worst-case risk for a family indexed by the corners of a cube.

    Parameters
    ----------
    n, epsilon
        As for `le_cam`.
    family : array_like, shape (2**k, m)
        Distributions of a record. Bit j of the row number selects one of two values of the j-th part of the parameter.
    separation : array_like
        Distance of the two values of a part, > 0. The loss is the sum over the k parts.
    loss : {"squared", "absolute"}
        Loss of a part.
    method : {"sharp", "paper"}
        "sharp": neighboring corners are compared in pairs. "paper": the published form, with distributions averaged
        over the other parts, and half the risk. It is NOT a lower bound for more than one person.

    Returns
    -------
    risk : float or ndarray
        Lower bound on the risk.

    Raises
    ------
    TypeError, ValueError
        If `family` does not have 2^k distributions with k >= 1, or an argument is out of range.

    Notes
    -----
    Channels may depend on earlier reports. Let S_v be the supremum over g of the sum over j of the squares of integral
    g (dP_v - dP_w), where w is the corner across the j-th edge at v. The divergences KL(M_v | M_w) of the n reports sum
    to at most n (e^epsilon - 1)^2 S_v / 4. Each of them is at most n tanh(epsilon / 2)^2 KL(P_v | P_w), and at most n
    times `kl_contraction`. O(2^(k + m)). Derived here.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       JASA 113 (2018), Theorem 3 and Proposition 3. Its proof assumes that a record is independent of earlier reports,
       which does not hold under a mixture of products.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> corners = [[0.4, 0.1, 0.4, 0.1], [0.1, 0.4, 0.4, 0.1], [0.4, 0.1, 0.1, 0.4], [0.1, 0.4, 0.1, 0.4]]
    >>> round(bounds.methods.assouad(100, 1.0, family=corners, separation=0.1), 5)
    0.00014
    """
    rows = _check.families("family", family, 2)
    k = len(rows).bit_length() - 1
    if k < 1 or len(rows) != 1 << k:
        raise ValueError(f"Proposition 3 needs 2^k distributions with k >= 1, got {len(rows)}")
    number, apart = check_n("Proposition 3", n), check_scale("Proposition 3", "separation", separation)
    a, corners = check_epsilon("Proposition 3", epsilon), np.arange(1 << k)
    if is_paper(method):
        heads = [(corners >> j) & 1 == 1 for j in range(k)]
        averaged = np.array([rows[head].mean(axis=0) - rows[~head].mean(axis=0) for head in heads])
        root = np.sqrt(number * excess(a) ** 2 / (2 * k) * largest_square(averaged))
        return _plain(k * half_risk(apart, loss) / 2 * np.maximum(1 - root, 0.0))
    across = corners[:, np.newaxis] ^ (1 << np.arange(k))  # (2^k, k)
    squares = np.mean([largest_square(rows[v] - rows[across[v]]) for v in corners])
    tv, _, kl = divergences(rows[:, np.newaxis], rows[across])
    pairs = np.minimum(
        np.asarray(kl_contraction(a[..., np.newaxis, np.newaxis], tv=tv)),
        tanh_half(a)[..., np.newaxis, np.newaxis] ** 2 * kl,
    ).mean(axis=(-2, -1))
    joint = tv_from_kl(number * np.minimum(information_factor(a) * squares / k, pairs))
    single = tv_of_reports(
        number[..., np.newaxis, np.newaxis], a[..., np.newaxis, np.newaxis], rows[:, np.newaxis], rows[across]
    )
    return _plain(k * half_risk(apart, loss) * (1 - np.minimum(joint, single.mean(axis=(-2, -1)))))


def tv_from_kl(kl: Floats) -> Floats:
    """Return a bound on the total variation: the smaller of Pinsker's and that of Bretagnolle and Huber.

    It is concave, so the mean of several divergences can be used.
    """
    return np.asarray(np.minimum(np.sqrt(kl / 2), np.sqrt(-np.expm1(-kl))))


def packing(n: int, epsilon: float, delta: float = 0.0, *, points: int, share: float, method: str = "sharp") -> float:
    """Return a lower bound on the probability that a centrally private procedure confuses hypotheses.

    Parameters
    ----------
    n : int
        Number of people, >= 1.
    epsilon, delta : float
        Privacy parameters, epsilon > 0 and 0 <= delta < 1.
    points : int
        Number of hypotheses P_v, >= 2, whose parameters are at least some rho apart.
    share : float
        Share p in (0, 1]: the distribution of a record is (1 - p) P_0 + p P_v.
    method : {"sharp", "paper"}
        "sharp": the best number m of replaced records, with the exact tail of the binomial distribution. "paper": m =
        ceil(n p), tail 1/2, and the published term of delta.

    Returns
    -------
    probability : float
        Lower bound on the mean over v of the probability that the estimate is at least rho / 2 away; 0 if the bound is
        negative. The published statement has rho instead of rho / 2, which the midpoint of two points refutes.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Notes
    -----
    O(n share) time and memory, for the tails of all m.

    References
    ----------
    .. [1] R. F. Barber, J. C. Duchi, "Privacy and statistical risk: formalisms and minimax bounds", 2014, Theorem 3.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> round(bounds.methods.packing(1000, 1.0, points=100, share=0.001), 3)
    0.856
    """
    many, number = _check.integer("points", points, 2), _check.people("n", n)
    p, a = _check.positive("share", share), float(check_epsilon("Theorem 3", _check.real("epsilon", epsilon)))
    _check.condition("Theorem 3", "share <= 1", p <= 1, share=p)
    d = _check.real("delta", delta)
    _check.condition("Theorem 3", "0 <= delta < 1", 0 <= d < 1, delta=d)
    if is_paper(method):
        replaced, tail = np.array([math.ceil(number * p)], np.float64), np.array([0.5])
        unit = -math.expm1(-a)
    else:
        from scipy.special import bdtrc

        middle = math.ceil(number * p)
        replaced = np.arange(min(number, middle + 60 + 12 * math.isqrt(middle)) + 1, dtype=np.float64)
        tail = bdtrc(replaced, number, p)
        unit = math.expm1(a)
    # (M - 1) ((1 - tail) x - D) / (1 + (M - 1) x) with x = e^(-a m), without the exponential of a large number
    with np.errstate(over="ignore"):
        lost = d * np.expm1(a * replaced) / unit if d > 0 else 0.0
        odds = np.exp(a * replaced - math.log(many - 1))
    error = (1 - tail - lost) / (1 + odds)
    return max(0.0, float(np.nanmax(error)))
