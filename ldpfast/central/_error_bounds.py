"""Bounds on the error of central releases, under assumptions on the distribution of the records (Chaudhuri and Hsu)."""

from __future__ import annotations

import math

from .. import _check
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
    n, (low, high) = _check.people("n", n), _check.interval(lower, upper)
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
