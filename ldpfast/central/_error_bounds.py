"""Errors and sample sizes of central releases, under assumptions on the distribution of the records (Chaudhuri and Hsu)."""

from __future__ import annotations

import math

from .. import _check
from ._m_psi import Psi, as_psi
from ._m_sampler import PRIORS, check_epsilon
from ._smooth_calibration import calibrate


def smooth_sensitivity_error(
    n: int,
    *,
    epsilon: float,
    delta: float,
    sensitivity: float,
    lower: float,
    upper: float,
    confidence: float = 0.95,
) -> float:
    """Return a bound on the noise of a release by smooth sensitivity, for records from a distribution.

    It bounds the distance of ``quantile(method="smooth-sensitivity")`` or `trimmed_mean` from the statistic of the records.

    Parameters
    ----------
    n : int
        Number of records, >= 1.
    epsilon, delta : float
        As for `calibrate`; delta > 0.
    sensitivity : float
        Gross error sensitivity of the statistic for a share 1 / n, >= 0: the largest one over all distributions whose
        distribution functions are within sqrt(2 log(2 / eta) / n) of that of the population. It may be much larger than that
        of the population itself. For a median it increases with sqrt(n).
    lower, upper : float
        Bounds of the records.
    confidence : float, default 0.95
        Probability 1 - 2 eta of the error bound.

    Returns
    -------
    error : float
        scale log(1 / eta) max(2 sensitivity / n, (upper - lower) exp(-beta (sqrt(n log(2 / eta) / 2) - 1))), with scale and
        beta of `calibrate`. The error of rounding to 2^32 points is not included.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    References
    ----------
    .. [1] K. Chaudhuri, D. Hsu, "Convergence rates for differentially private statistical estimation", ICML 2012, theorem 3,
       with the exponent of its proof and the calibrated scale.

    Examples
    --------
    >>> from ldpfast import central
    >>> error = central.smooth_sensitivity_error(100_000, epsilon=1.0, delta=1e-6, sensitivity=5.0, lower=0, upper=10)
    >>> 0 < error < 0.1
    True
    """
    n = _check.people("n", n)
    low, high = _check.interval(lower, upper)
    scale, beta = calibrate(epsilon, delta=_check.probability("delta", delta))
    eta = (1 - _check.probability("confidence", confidence)) / 2
    change = _check.real("sensitivity", sensitivity)
    if change < 0:
        raise ValueError(f"sensitivity must be a finite number >= 0, got {sensitivity!r}")
    far = (high - low) * math.exp(-beta * max(0.0, math.sqrt(n * math.log(2 / eta) / 2) - 1))
    return scale * math.log(1 / eta) * max(2 * change / n, far)


def mean_error(n: int, *, epsilon: float, deviation: float, sensitivity: float, confidence: float = 0.95) -> float:
    """Return a bound on the distance of a private mean from that of the population, by Bernstein's inequality.

    The mean has Laplace noise for its global sensitivity, as ``trimmed_mean(x, 0, ...)`` with delta = 0.

    Parameters
    ----------
    n : int
        Number of records, >= 1.
    epsilon : float
        Privacy parameter, > 0.
    deviation : float
        Standard deviation of the records, >= 0.
    sensitivity : float
        Gross error sensitivity, > 0: the largest distance of a record from the mean of the population. It is at least half of
        the length of the interval of the records.
    confidence : float, default 0.95
        Probability 1 - 2 eta of the error bound.

    Returns
    -------
    error : float
        deviation sqrt(2 log(2 / eta) / n) + (2 / 3 + 2 / epsilon) sensitivity log(2 / eta) / n.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    References
    ----------
    .. [1] K. Chaudhuri, D. Hsu, "Convergence rates for differentially private statistical estimation", ICML 2012, theorem 5,
       with half of the noise: 1 / epsilon times the sensitivity is sufficient.

    Examples
    --------
    >>> from ldpfast import central
    >>> round(central.mean_error(10_000, epsilon=1.0, deviation=2.0, sensitivity=5.0), 3)
    0.065
    """
    n, epsilon = _check.people("n", n), _check.positive("epsilon", epsilon)
    spread, change = _check.real("deviation", deviation), _check.positive("sensitivity", sensitivity)
    if spread < 0:
        raise ValueError(f"deviation must be a finite number >= 0, got {deviation!r}")
    log = math.log(4 / (1 - _check.probability("confidence", confidence)))  # log(2 / eta)
    return spread * math.sqrt(2 * log / n) + (2 / 3 + 2 / epsilon) * change * log / n


def m_estimate_sample_size(
    psi: Psi | str,
    error: float,
    *,
    epsilon: float,
    slope: float,
    peak: float = math.inf,
    prior: str = "uniform",
    lower: float,
    upper: float,
    confidence: float = 0.95,
) -> int:
    """Return a number of records that suffices for the privacy of an M-estimate to cost at most `error`.

    Parameters
    ----------
    psi : {"huber", "logistic"}, Huber, Logistic, or a `Psi` with finite `lipschitz` constants
        Function that defines the estimator.
    error : float
        Largest distance of the private estimate from the root of the sum of psi over the records, > 0.
    epsilon : float
        Privacy parameter, > 0 and at most 1e6.
    slope : float
        Derivative P > 0 of the expectation of psi at its root T, for the distribution of the records.
    peak : float, optional
        Bound on the density of the records; required for Huber.
    prior : {"uniform", "cauchy"}
        Prior, as for `m_estimate`.
    lower, upper : float
        Bounds of the records, which contain the root.
    confidence : float, default 0.95
        Probability 1 - 3 eta of the error bound.

    Returns
    -------
    n : int
        Number of records.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range, or `psi` has no such constants, like a quantile (see `quantile_error`).

    Notes
    -----
    Let e2 = P / (6 L2), e = min(error, e2), and w the width of psi. Two conditions are sufficient:

    - n >= log(2 / eta) / 2 max(6 L1 / P, 3 w / (2 P e2))^2. Then the sum over the records has nearly the slope n P, and
      a root within e2 of T.
    - n >= (8 w / (P epsilon e)) log(6 (upper - lower) / (e eta)). Then the estimate is within e of this root. For the
      Cauchy prior, with lengths in units of its scale, the argument of the logarithm is
      (pi / eta) ((2 (1 + e2)^2 + 1) / (e / 3) + e / 6).

    The published factor 8 K instead of 8 w = 16 K (w = 2 K) belongs to the mechanism that is 2 epsilon-private.

    References
    ----------
    .. [1] K. Chaudhuri, D. Hsu, "Convergence rates for differentially private statistical estimation", ICML 2012,
       theorem 4.

    Examples
    --------
    >>> from ldpfast import central
    >>> central.m_estimate_sample_size("logistic", 0.1, epsilon=1.0, slope=0.4, lower=0, upper=10) < 100_000
    True
    """
    psi = as_psi(psi)
    epsilon = check_epsilon(epsilon)
    error = _check.positive("error", error)
    _check.choice("prior", prior, PRIORS)
    slope = _check.positive("slope", slope)
    low, high = _check.interval(lower, upper)
    eta = (1 - _check.probability("confidence", confidence)) / 3
    peak = _check.plain(peak)
    if not peak > 0:
        raise ValueError(f"peak must be > 0, got {peak!r}")
    l1, l2 = psi.lipschitz(peak)
    if not (math.isfinite(l1) and math.isfinite(l2)):
        raise ValueError(f"psi must have finite Lipschitz constants for this peak, got {psi!r} and peak={peak!r}")
    e2 = slope / (6 * l2)
    e = min(error, e2)
    if prior == "uniform":
        log = math.log(max(6 * (high - low) / (e * eta), 1.0))
    else:
        unit = (high - low) / 2
        log = math.log(math.pi / eta * ((2 * (1 + e2 / unit) ** 2 + 1) / (e / unit / 3) + e / unit / 6))
    sampling = math.log(2 / eta) / 2 * max(6 * l1 / slope, 1.5 * psi.width / (slope * e2)) ** 2
    return max(1, math.ceil(max(sampling, 8 * psi.width / (slope * epsilon * e) * log)))


def quantile_error(
    n: int,
    *,
    epsilon: float,
    density: tuple[float, float],
    lower: float,
    upper: float,
    confidence: float = 0.95,
) -> float:
    """Return a bound on the distance of a private quantile from that of the population.

    The quantile is drawn by the exponential mechanism with a uniform prior.

    Parameters
    ----------
    n : int
        Number of records, >= 1.
    epsilon : float
        Privacy parameter, > 0 and at most 1e6.
    density : tuple of float
        Bounds 0 < f0 <= f1 of the density of the records, within the returned distance of the quantile.
    lower, upper : float
        Bounds of the records.
    confidence : float, default 0.95
        Probability 1 - 2 eta of the error bound.

    Returns
    -------
    error : float
        (2 r + e + (2 / (n epsilon)) log((upper - lower) f1 / (2 e eta))) / f0, with r = sqrt(log(2 / eta) / (2 n)), for
        the best e: 2 / (n epsilon), or the value at which the logarithm is zero.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    References
    ----------
    .. [1] K. Chaudhuri, D. Hsu, "Convergence rates for differentially private statistical estimation", ICML 2012. Their
       theorem 4 does not cover quantiles, whose psi has no derivative.

    Examples
    --------
    >>> from ldpfast import central
    >>> round(central.quantile_error(10_000, epsilon=1.0, density=(0.1, 0.4), lower=0, upper=10), 3)
    0.324
    """
    n = _check.people("n", n)
    epsilon = check_epsilon(epsilon)
    low, high = _check.interval(lower, upper)
    eta = (1 - _check.probability("confidence", confidence)) / 2
    least, largest = (_check.positive("density", f) for f in density)
    if least > largest:
        raise ValueError(f"density must be (least, largest), got {density!r}")
    full = (high - low) * largest / (2 * eta)
    e = min(2 / (n * epsilon), full)
    return (2 * math.sqrt(math.log(2 / eta) / (2 * n)) + e + 2 / (n * epsilon) * math.log(full / e)) / least
