"""How little an epsilon-LDP channel lets through: what two laws of a record become in the law of its report.

P and P' are laws of a record, M and M' those of its report, T the total variation distance of P and P'. Everything
holds for any channel, whatever its reports are, and is computed without the exponential of a large number.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._typing import Floats
from ._bound import Number, _plain, is_paper, level, people


def _distance(theorem: str, tv: ArrayLike) -> Floats:
    number = _check.numbers("tv", tv)
    _check.condition(theorem, "tv in [0, 1]", (number >= 0) & (number <= 1), tv=number)
    return number


def tanh_half(a: Floats) -> Floats:
    return np.asarray(np.tanh(a / 2))


def excess(a: Floats) -> Floats:
    """E = e^a - 1."""
    return np.asarray(np.expm1(a))


def tv_contraction(epsilon: ArrayLike, tv: ArrayLike, *, mode: str = "sharp") -> Number:
    """The total variation distance of the reports is at most this.

    Parameters
    ----------
    epsilon : array_like
        Of the channel, > 0.
    tv : array_like
        T, in [0, 1].
    mode : {"sharp", "paper"}
        "sharp": tanh(epsilon / 2) T, attained by randomised response on an event that attains T. "paper": Pinsker's
        inequality after the published `kl_contraction`, sqrt(min(4, e^(2 epsilon))) (e^epsilon - 1) T / 2.

    Returns
    -------
    tv : float or ndarray

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    References
    ----------
    .. [1] R. L. Dobrushin, "Central limit theorem for nonstationary Markov chains", 1956: the coefficient; its value
    for a
       private channel is derived here.
    """
    a, t = level("Theorem 1", epsilon), _distance("Theorem 1", tv)
    if is_paper(mode):
        return _plain(np.minimum(2.0, np.exp(np.minimum(a, 1.0))) / 2 * excess(a) * t)
    return _plain(tanh_half(a) * t)


def kl_contraction(epsilon: ArrayLike, tv: ArrayLike, *, mode: str = "sharp") -> Number:
    """The Kullback-Leibler divergence of the reports is at most this.

    Parameters
    ----------
    epsilon : array_like
        Of the channel, > 0.
    tv : array_like
        T, in [0, 1].
    mode : {"sharp", "paper"}
        "sharp": T tanh(epsilon / 2) log(1 + (e^epsilon - 1) T), for one direction; attained at T = 1 by randomised
        response. "paper": min(4, e^(2 epsilon)) (e^epsilon - 1)^2 T^2, for the sum of both directions.

    Returns
    -------
    kl : float or ndarray
        In nats.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Notes
    -----
    With u the infimum of the channel over records, abs(m - m') is at most E u T and both are at least u, E = e^epsilon
    - 1; the log ratio is at most log(1 + E T), and positive and negative parts have the mass of `tv_contraction`.
    Derived here.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
    JASA
       113 (2018), Theorem 1: the published form, whose factor min(4, e^(2 epsilon)) can be left out.
    """
    a, t = level("Theorem 1", epsilon), _distance("Theorem 1", tv)
    if is_paper(mode):
        return _plain(np.minimum(4.0, np.exp(np.minimum(2 * a, 2.0))) * (excess(a) * t) ** 2)
    return _plain(t * tanh_half(a) * np.log1p(excess(a) * t))


def chi_square_contraction(epsilon: ArrayLike, tv: ArrayLike) -> Number:
    """The chi-square divergence of the reports is at most 4 sinh(epsilon / 2)^2 T^2, attained at T = 1.

    Parameters
    ----------
    epsilon, tv : array_like
        As for `kl_contraction`.

    Returns
    -------
    chi_square : float or ndarray

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    References
    ----------
    .. [1] S. Asoodeh, H. Zhang, "Contraction of locally differentially private mechanisms", 2022.
    """
    a, t = level("Asoodeh and Zhang", epsilon), _distance("Asoodeh and Zhang", tv)
    return _plain((2 * np.sinh(a / 2) * t) ** 2)


def hellinger_contraction(epsilon: ArrayLike, tv: ArrayLike) -> Number:
    """The squared Hellinger distance, sum (sqrt m - sqrt m')^2, of the reports is at most this.

    Parameters
    ----------
    epsilon, tv : array_like
        As for `kl_contraction`.

    Returns
    -------
    hellinger : float or ndarray
        2 (sqrt(1 + (e^epsilon - 1) T) - 1)^2 / (e^epsilon + 1), in [0, 2]; attained at T = 1 by randomised response.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Notes
    -----
    Derived here, as the sharp form of `kl_contraction`: with s = abs(m - m') / min(m, m'), at most E T, the summand is
    abs(m - m') (sqrt(1 + s) - 1) / (sqrt(1 + s) + 1), and abs(m - m') sums to at most 2 tanh(epsilon / 2) T.
    """
    a, t = level("the Hellinger contraction", epsilon), _distance("the Hellinger contraction", tv)
    return _plain(2 * deficit(a, t))


def deficit(a: Floats, t: Floats) -> Floats:
    """Half of the squared Hellinger distance at most: one minus the affinity of two reports."""
    # (sqrt(1 + E t) - 1)^2 / (e^a + 1) = (E t / (sqrt(1 + E t) + 1))^2 / (e^a + 1)
    e = excess(a)
    return np.asarray((e * t / (np.sqrt(1 + e * t) + 1)) ** 2 / (e + 2))


def deficit_inverse(a: Floats, y: Floats) -> Floats:
    """The T at which `deficit` is y; larger than 1 where no T is."""
    straight, bent = deficit_inverse_line(a)
    return np.asarray(straight * y + bent * np.sqrt(y))


def deficit_inverse_line(a: Floats) -> tuple[Floats, Floats]:
    """Its factors of y and of sqrt(y): coth(a/2) and 2 sqrt(e^a + 1) / (e^a - 1), without e^a."""
    half, lie = np.exp(-a / 2), -np.expm1(-a)
    one = 1 + half**2
    return np.asarray(one / lie), np.asarray(2 * half * np.sqrt(one) / lie)


def divergence_contraction(epsilon: ArrayLike, divergence: ArrayLike) -> Number:
    """A Kullback-Leibler, chi-square or squared Hellinger divergence of records becomes at most tanh(epsilon / 2)^2 of it.

    Parameters
    ----------
    epsilon : array_like
        Of the channel, > 0.
    divergence : array_like
        Of the laws of the record, >= 0 or infinite.

    Returns
    -------
    divergence : float or ndarray
        Of the reports, at most.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    References
    ----------
    .. [1] S. Asoodeh, H. Zhang, "Contraction of locally differentially private mechanisms", 2022.
    """
    a, value = level("Asoodeh and Zhang", epsilon), _check.numbers("divergence", divergence, infinite=True)
    _check.condition("Asoodeh and Zhang", "divergence >= 0", value >= 0, divergence=value)
    return _plain(tanh_half(a) ** 2 * value)


def tensorized_kl(epsilon: ArrayLike, tv: ArrayLike, *, mode: str = "sharp") -> Number:
    """The Kullback-Leibler divergence of all reports together, one per person, is at most this.

    Parameters
    ----------
    epsilon : float
        Of each person's channel, > 0.
    tv : array_like, shape (..., n)
        T of each person's record.
    mode : {"sharp", "paper"}
        "sharp": the sum of `kl_contraction`, for one direction. "paper": 4 (e^epsilon - 1)^2 times the sum of T^2.

    Returns
    -------
    kl : float or ndarray, shape (...)

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Notes
    -----
    Also where the channel of a person depends on the reports of earlier ones: the chain rule holds for any of them.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
    JASA
       113 (2018), Corollary 3 (eq. 14).
    """
    t = np.atleast_1d(_distance("Corollary 3", tv))
    if is_paper(mode):
        a = level("Corollary 3", epsilon)
        return _plain(np.sum((2 * excess(a) * t) ** 2, axis=-1))
    return _plain(np.sum(kl_contraction(epsilon, t), axis=-1))


def tensorized_tv(n: ArrayLike, epsilon: ArrayLike, tv: ArrayLike, *, mode: str = "sharp") -> Number:
    """The total variation distance of n reports together is at most this: how well two hypotheses can be told apart.

    Parameters
    ----------
    n : array_like
        People, >= 1.
    epsilon : array_like
        Of each person's channel, > 0.
    tv : array_like
        T of a record, the same for all people.
    mode : {"sharp", "paper"}
        "sharp": the least of sqrt(1 - (1 - H)^(2 n)), H half of `hellinger_contraction`; of n times `tv_contraction`;
        and of 1 - (1 - T)^n. "paper": sqrt(2 n epsilon^2) T, for epsilon up to 22/35.

    Returns
    -------
    tv : float or ndarray
        In [0, 1].

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Notes
    -----
    Channels may depend on earlier reports. The affinity of all reports is at least the product of the least affinities
    of each, given what came before: derived here.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
    JASA
       113 (2018), Proposition 1.
    """
    number, t = people("Proposition 1", n), _distance("Proposition 1", tv)
    if is_paper(mode):
        return _plain(np.minimum(1.0, np.sqrt(2 * number) * narrow("Proposition 1", epsilon) * t))
    a = level("Proposition 1", epsilon)
    joint = from_deficit(number, deficit(a, t))
    with np.errstate(divide="ignore"):
        plain = -np.expm1(number * np.log1p(-t))
    return _plain(np.minimum(np.minimum(joint, plain), number * tanh_half(a) * t))


def narrow(theorem: str, epsilon: ArrayLike) -> Floats:
    """epsilon in the range of the published two-point bound, where (e^epsilon - 1)^2 <= 2 epsilon^2."""
    return level(theorem, epsilon, most=22 / 35)


def from_deficit(n: Floats, y: Floats) -> Floats:
    """Total variation of n reports of which each pair has an affinity of at least 1 - y."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.sqrt(-np.expm1(2 * n * np.log1p(-np.minimum(y, 1.0)))))


def mutual_information(epsilon: ArrayLike, tv: ArrayLike, n: ArrayLike = 1, *, mode: str = "sharp") -> Number:
    """What n reports tell of a hypothesis drawn uniformly: at most this many nats.

    Parameters
    ----------
    epsilon : array_like
        Of each person's channel, > 0.
    tv : array_like, shape (V, V)
        Total variation distances of the laws of a record under all pairs of hypotheses.
    n : array_like, default 1
        People.
    mode : {"sharp", "paper"}
        n times the mean of `kl_contraction` over all pairs; "paper": of 4 (e^epsilon - 1)^2 T^2.

    Returns
    -------
    information : float or ndarray
        At most log V.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Notes
    -----
    Channels may depend on earlier reports. `fano` has a smaller bound for those that do not.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
    JASA
       113 (2018), Corollary 3 (eq. 15).
    """
    t = _distance("Corollary 3", tv)
    if t.ndim != 2 or t.shape[0] != t.shape[1]:
        raise ValueError(f"tv must have shape (V, V), got shape {t.shape}")
    a = level("Corollary 3", epsilon)[..., np.newaxis, np.newaxis]
    each = (2 * excess(a) * t) ** 2 if is_paper(mode) else np.asarray(kl_contraction(a, t))
    total = people("Corollary 3", n) * each.mean(axis=(-2, -1))
    return _plain(np.minimum(total, np.log(len(t))))


def effective_sample_size(n: ArrayLike, epsilon: ArrayLike, *, mode: str = "sharp") -> Number:
    """How many people without privacy would tell as much.

    Parameters
    ----------
    n : array_like
        People who report, >= 1.
    epsilon : array_like
        Of each person's channel, > 0.
    mode : {"sharp", "paper"}
        "sharp": n tanh(epsilon / 2)^2, the share of any Kullback-Leibler or chi-square divergence that is left;
        attained for yes-or-no questions with two answers about equally frequent. "paper": n (e^epsilon - 1)^2, which
        exceeds n for epsilon > log 2. For a vector of `dim` numbers, divide by `dim`.

    Returns
    -------
    n : float or ndarray

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> round(bounds.effective_sample_size(10_000, 1.0))
    2136
    """
    number, a = people("the effective sample size", n), level("the effective sample size", epsilon)
    return _plain(number * (excess(a) if is_paper(mode) else tanh_half(a)) ** 2)
