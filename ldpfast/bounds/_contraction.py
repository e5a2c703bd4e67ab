"""Contraction of divergences by epsilon-LDP channels: from two distributions of a record to those of its report.

P and P' are distributions of a record, M and M' those of its report, and T is the total variation distance of P and P'.
The bounds hold for any channel and any reports. They are computed without the exponential of a large number.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._typing import Floats
from ._bound import Numeric, _plain, check_epsilon, check_n, is_paper


def _check_tv(theorem: str, tv: ArrayLike) -> Floats:
    """Return a total variation distance, if it is in [0, 1]."""
    number = _check.numbers("tv", tv)
    _check.condition(theorem, "tv in [0, 1]", (number >= 0) & (number <= 1), tv=number)
    return number


def tanh_half(a: Floats) -> Floats:
    """Return tanh(epsilon / 2)."""
    return np.asarray(np.tanh(a / 2))


def excess(a: Floats) -> Floats:
    """Return E = e^epsilon - 1."""
    return np.asarray(np.expm1(a))


def tv_contraction(epsilon: ArrayLike, *, tv: ArrayLike, method: str = "sharp") -> Numeric:
    """Return an upper bound on the total variation distance of the reports.

    Parameters
    ----------
    epsilon : array_like
        Privacy parameter of the channel, > 0.
    tv : array_like
        Total variation distance T of the records, in [0, 1].
    method : {"sharp", "paper"}
        "sharp": tanh(epsilon / 2) T, attained by randomized response on an event that attains T. "paper": Pinsker's
        inequality for the published `kl_contraction`, sqrt(min(4, e^(2 epsilon))) (e^epsilon - 1) T / 2.

    Returns
    -------
    tv : float or ndarray
        Upper bound on the distance.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    References
    ----------
    .. [1] R. L. Dobrushin, "Central limit theorem for nonstationary Markov chains", 1956: the coefficient. Its value
       for a private channel is derived here.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> round(bounds.methods.tv_contraction(1.0, tv=0.1), 4)
    0.0462
    """
    a, t = check_epsilon("Theorem 1", epsilon), _check_tv("Theorem 1", tv)
    if is_paper(method):
        return _plain(np.minimum(2.0, np.exp(np.minimum(a, 1.0))) / 2 * excess(a) * t)
    return _plain(tanh_half(a) * t)


def kl_contraction(epsilon: ArrayLike, *, tv: ArrayLike, method: str = "sharp") -> Numeric:
    """Return an upper bound on the Kullback-Leibler divergence of the reports.

    Parameters
    ----------
    epsilon : array_like
        Privacy parameter of the channel, > 0.
    tv : array_like
        Total variation distance T of the records, in [0, 1].
    method : {"sharp", "paper"}
        "sharp": T tanh(epsilon / 2) log(1 + (e^epsilon - 1) T), for one direction; attained at T = 1 by randomized
        response. "paper": min(4, e^(2 epsilon)) (e^epsilon - 1)^2 T^2, for the sum of both directions.

    Returns
    -------
    kl : float or ndarray
        Upper bound on the divergence, in nats.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Notes
    -----
    Let u be the infimum of the channel over records and E = e^epsilon - 1. Then abs(m - m') is at most E u T, and both
    are at least u. The log ratio is at most log(1 + E T), and positive and negative parts have the mass of
    `tv_contraction`. Derived here.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       JASA 113 (2018), Theorem 1: the published form, whose factor min(4, e^(2 epsilon)) can be omitted.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> round(bounds.methods.kl_contraction(1.0, tv=0.1), 5)
    0.00733
    """
    a, t = check_epsilon("Theorem 1", epsilon), _check_tv("Theorem 1", tv)
    if is_paper(method):
        return _plain(np.minimum(4.0, np.exp(np.minimum(2 * a, 2.0))) * (excess(a) * t) ** 2)
    return _plain(t * tanh_half(a) * np.log1p(excess(a) * t))


def chi_square_contraction(epsilon: ArrayLike, *, tv: ArrayLike) -> Numeric:
    """Return an upper bound on the chi-square divergence of the reports: 4 sinh(epsilon / 2)^2 T^2, attained at T = 1.

    Parameters
    ----------
    epsilon, tv : array_like
        As for `kl_contraction`.

    Returns
    -------
    chi_square : float or ndarray
        Upper bound on the divergence.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    References
    ----------
    .. [1] S. Asoodeh, H. Zhang, "Contraction of locally differentially private mechanisms", 2022.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> round(bounds.methods.chi_square_contraction(1.0, tv=0.1), 5)
    0.01086
    """
    a, t = check_epsilon("Asoodeh and Zhang", epsilon), _check_tv("Asoodeh and Zhang", tv)
    return _plain((2 * np.sinh(a / 2) * t) ** 2)


def hellinger_contraction(epsilon: ArrayLike, *, tv: ArrayLike) -> Numeric:
    """Return an upper bound on the squared Hellinger distance, sum (sqrt m - sqrt m')^2, of the reports.

    Parameters
    ----------
    epsilon, tv : array_like
        As for `kl_contraction`.

    Returns
    -------
    hellinger : float or ndarray
        2 (sqrt(1 + (e^epsilon - 1) T) - 1)^2 / (e^epsilon + 1), in [0, 2]; attained at T = 1 by randomized response.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Notes
    -----
    Derived here, like the sharp form of `kl_contraction`. Let s = abs(m - m') / min(m, m'), which is at most E T. The
    summand is abs(m - m') (sqrt(1 + s) - 1) / (sqrt(1 + s) + 1), and abs(m - m') sums to at most 2 tanh(epsilon / 2) T.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> round(bounds.methods.hellinger_contraction(1.0, tv=0.1), 5)
    0.00366
    """
    a, t = check_epsilon("the Hellinger contraction", epsilon), _check_tv("the Hellinger contraction", tv)
    return _plain(2 * deficit(a, t))


def deficit(a: Floats, t: Floats) -> Floats:
    """Return a bound on half of the squared Hellinger distance: one minus the affinity of two reports."""
    # (sqrt(1 + E t) - 1)^2 / (e^a + 1) = (E t / (sqrt(1 + E t) + 1))^2 / (e^a + 1)
    e = excess(a)
    return np.asarray((e * t / (np.sqrt(1 + e * t) + 1)) ** 2 / (e + 2))


def deficit_inverse(a: Floats, y: Floats) -> Floats:
    """Return the T for which `deficit` is y, or a number above 1 if there is none."""
    linear, root = deficit_inverse_coefficients(a)
    return np.asarray(linear * y + root * np.sqrt(y))


def deficit_inverse_coefficients(a: Floats) -> tuple[Floats, Floats]:
    """Return the coefficients of y and sqrt(y) in `deficit_inverse`, computed without e^a.

    They are coth(a/2) and 2 sqrt(e^a + 1) / (e^a - 1).
    """
    root, difference = np.exp(-a / 2), -np.expm1(-a)
    total = 1 + root**2
    return np.asarray(total / difference), np.asarray(2 * root * np.sqrt(total) / difference)


def divergence_contraction(epsilon: ArrayLike, *, divergence: ArrayLike) -> Numeric:
    """Return an upper bound on a divergence of reports, tanh(epsilon / 2)^2 times that of the records.

    The divergence is the Kullback-Leibler, chi-square or squared Hellinger divergence.

    Parameters
    ----------
    epsilon : array_like
        Privacy parameter of the channel, > 0.
    divergence : array_like
        Divergence of the distributions of the record, >= 0 or infinite.

    Returns
    -------
    divergence : float or ndarray
        Upper bound on the divergence of the reports.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    References
    ----------
    .. [1] S. Asoodeh, H. Zhang, "Contraction of locally differentially private mechanisms", 2022.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> round(bounds.methods.divergence_contraction(1.0, divergence=0.1), 5)  # of a Kullback-Leibler divergence of 0.1
    0.02136
    """
    a, value = check_epsilon("Asoodeh and Zhang", epsilon), _check.numbers("divergence", divergence, infinite=True)
    _check.condition("Asoodeh and Zhang", "divergence >= 0", value >= 0, divergence=value)
    return _plain(tanh_half(a) ** 2 * value)


def tensorized_kl(epsilon: ArrayLike, *, tv: ArrayLike, method: str = "sharp") -> Numeric:
    """Return an upper bound on the Kullback-Leibler divergence of all reports together, one per person.

    Parameters
    ----------
    epsilon : float
        Privacy parameter of each person's channel, > 0.
    tv : array_like, shape (..., n)
        Total variation distance T of each person's record.
    method : {"sharp", "paper"}
        "sharp": the sum of `kl_contraction`, for one direction. "paper": 4 (e^epsilon - 1)^2 times the sum of T^2.

    Returns
    -------
    kl : float or ndarray, shape (...)
        Upper bound on the divergence, in nats.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Notes
    -----
    The channel of a person may depend on earlier reports, because the chain rule holds for any value of them.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       JASA 113 (2018), Corollary 3 (eq. 14).

    Examples
    --------
    >>> from ldpfast import bounds
    >>> round(bounds.methods.tensorized_kl(1.0, tv=[0.1] * 100), 3)  # of the reports of 100 people
    0.733
    """
    t = np.atleast_1d(_check_tv("Corollary 3", tv))
    if is_paper(method):
        a = check_epsilon("Corollary 3", epsilon)
        return _plain(np.sum((2 * excess(a) * t) ** 2, axis=-1))
    return _plain(np.sum(kl_contraction(epsilon, tv=t), axis=-1))


def tensorized_tv(n: ArrayLike, epsilon: ArrayLike, *, tv: ArrayLike, method: str = "sharp") -> Numeric:
    """Return an upper bound on the total variation distance of n reports together.

    It measures how well two hypotheses can be distinguished.

    Parameters
    ----------
    n : array_like
        Number of people, >= 1.
    epsilon : array_like
        Privacy parameter of each person's channel, > 0.
    tv : array_like
        Total variation distance T of a record, the same for all people.
    method : {"sharp", "paper"}
        "sharp": the least of sqrt(1 - (1 - H)^(2 n)), where H is half of `hellinger_contraction`; n times
        `tv_contraction`; and 1 - (1 - T)^n. "paper": sqrt(2 n epsilon^2) T, for epsilon up to 22/35.

    Returns
    -------
    tv : float or ndarray
        Upper bound on the distance, in [0, 1].

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Notes
    -----
    Channels may depend on earlier reports. The affinity of all reports is at least the product of the least affinities
    of each report, given the earlier ones: derived here.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       JASA 113 (2018), Proposition 1.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> round(bounds.methods.tensorized_tv(100, 1.0, tv=0.1), 3)
    0.554
    """
    number, t = check_n("Proposition 1", n), _check_tv("Proposition 1", tv)
    if is_paper(method):
        return _plain(np.minimum(1.0, np.sqrt(2 * number) * check_small_epsilon("Proposition 1", epsilon) * t))
    a = check_epsilon("Proposition 1", epsilon)
    joint = from_deficit(number, deficit(a, t))
    with np.errstate(divide="ignore"):
        plain = -np.expm1(number * np.log1p(-t))
    return _plain(np.minimum(np.minimum(joint, plain), number * tanh_half(a) * t))


def check_small_epsilon(theorem: str, epsilon: ArrayLike) -> Floats:
    """Return epsilon, if it is at most 22/35, the range of the published two-point bound.

    There (e^epsilon - 1)^2 <= 2 epsilon^2.
    """
    return check_epsilon(theorem, epsilon, largest=22 / 35)


def from_deficit(n: Floats, y: Floats) -> Floats:
    """Return a bound on the total variation of n reports, each pair of which has an affinity of at least 1 - y."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.sqrt(-np.expm1(2 * n * np.log1p(-np.minimum(y, 1.0)))))


def mutual_information(n: ArrayLike, epsilon: ArrayLike, *, tv: ArrayLike, method: str = "sharp") -> Numeric:
    """Return an upper bound on the mutual information of n reports and a uniformly drawn hypothesis, in nats.

    Parameters
    ----------
    n : array_like
        Number of people.
    epsilon : array_like
        Privacy parameter of each person's channel, > 0.
    tv : array_like, shape (V, V)
        Total variation distances of the distributions of a record under all pairs of hypotheses.
    method : {"sharp", "paper"}
        "sharp": n times the mean of `kl_contraction` over all pairs. "paper": n times the mean of 4 (e^epsilon - 1)^2
        T^2.

    Returns
    -------
    information : float or ndarray
        Upper bound on the information, at most log V.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Notes
    -----
    Channels may depend on earlier reports. `fano` uses a smaller bound for channels that do not.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       JASA 113 (2018), Corollary 3 (eq. 15).

    Examples
    --------
    >>> from ldpfast import bounds
    >>> round(bounds.methods.mutual_information(100, 1.0, tv=[[0.0, 0.1], [0.1, 0.0]]), 3)
    0.366
    """
    t = _check_tv("Corollary 3", tv)
    if t.ndim != 2 or t.shape[0] != t.shape[1]:
        raise ValueError(f"tv must have shape (V, V), got shape {t.shape}")
    a = check_epsilon("Corollary 3", epsilon)[..., np.newaxis, np.newaxis]
    information = (2 * excess(a) * t) ** 2 if is_paper(method) else np.asarray(kl_contraction(a, tv=t))
    total = check_n("Corollary 3", n) * information.mean(axis=(-2, -1))
    return _plain(np.minimum(total, np.log(len(t))))


def effective_sample_size(n: ArrayLike, epsilon: ArrayLike, *, method: str = "sharp") -> Numeric:
    """Return the effective sample size: the number of people without privacy who give the same information.

    Parameters
    ----------
    n : array_like
        Number of people who report, >= 1.
    epsilon : array_like
        Privacy parameter of each person's channel, > 0.
    method : {"sharp", "paper"}
        "sharp": n tanh(epsilon / 2)^2. The factor bounds the remaining share of any Kullback-Leibler or chi-square
        divergence; it is attained for yes-or-no questions with about equally frequent answers. "paper":
        n (e^epsilon - 1)^2, which exceeds n for epsilon > log 2. For a vector of `dim` numbers, divide by `dim`.

    Returns
    -------
    n : float or ndarray
        Effective sample size.

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
    number, a = check_n("the effective sample size", n), check_epsilon("the effective sample size", epsilon)
    return _plain(number * (excess(a) if is_paper(method) else tanh_half(a)) ** 2)
