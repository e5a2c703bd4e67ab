"""Median and other quantiles of arrays in memory."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._typing import AnyArray
from ..domains import Reals
from ..mechanisms import Laplace
from ..results import Estimate, Normal
from .sgd import MedianSGD

if TYPE_CHECKING:
    from .._typing import RNGLike


def quantile(
    x: ArrayLike,
    q: float,
    epsilon: float,
    lower: float,
    upper: float,
    rng: RNGLike = None,
    *,
    spacing: float | None = None,
    rounded: bool = False,
) -> Estimate[float]:
    """Return a quantile by private stochastic gradient descent, with one bit per person.

    See `MedianSGD` for the interval, its assumptions and the privacy guarantee. Its n is the length of `x`.

    Parameters
    ----------
    x : array_like, shape (n,)
        Finite numbers of any size. People are asked in this order.
    q : float
        Which quantile, in (0, 1).
    epsilon : float
        Privacy parameter of each person's bit.
    lower, upper : float
        Public range that contains the quantile.
    rng : None, int, SeedSequence, Generator or BitGenerator
        Source of randomness; only ``None`` is private.
    spacing : float, optional
        Distance between neighboring values, for counts, ages in years, or other numbers with few different values. The
        estimate is then that of the distribution smoothed by a uniform offset of this width.
    rounded : bool, default False
        Whether the estimate is rounded to a multiple of `spacing`.

    Returns
    -------
    estimate : Estimate
        Quantile, with an interval from a local regression of the answers.

    Raises
    ------
    TypeError, ValueError
        If `MedianSGD` rejects a parameter, or `x` is empty or not finite.

    Warns
    -----
    SmallSampleWarning
        If n is too small for the interval.
    DoubtfulWarning
        Without `spacing`, if many records are equal.

    Privacy
    -------
    One bit per person, which is epsilon-LDP.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import quantile
    >>> x = np.random.default_rng(1).normal(0, 1, 100_000)
    >>> estimate = quantile(x, 0.25, epsilon=2.0, lower=-5, upper=5, rng=1)
    >>> bool(abs(estimate.value + 0.674) < 0.1)
    True
    """
    n = np.size(_check.array("x", x))
    if n == 0:
        raise ValueError("x must hold at least 1 record, got none")
    server = MedianSGD(epsilon, lower, upper, quantile=q, n=n, spacing=spacing)
    if _check.flag("rounded", rounded) and spacing is None:
        raise ValueError("rounded must be False without spacing, got True")
    smooth = server.run(x, rng)
    return server.estimate(rounded=True) if rounded else smooth


def median(
    x: ArrayLike,
    epsilon: float,
    lower: float,
    upper: float,
    rng: RNGLike = None,
    *,
    spacing: float | None = None,
    rounded: bool = False,
) -> Estimate[float]:
    """Return the median by private stochastic gradient descent: `quantile` with q = 1/2.

    Parameters
    ----------
    x : array_like, shape (n,)
        Finite numbers of any size. People are asked in this order.
    epsilon : float
        Privacy parameter of each person's bit.
    lower, upper : float
        Public range that contains the median.
    rng : None, int, SeedSequence, Generator or BitGenerator
        Source of randomness; only ``None`` is private.
    spacing : float, optional
        Distance between neighboring values, for counts, ages in years, or other numbers with few different values. The
        estimate is then that of the distribution smoothed by a uniform offset of this width.
    rounded : bool, default False
        Whether the estimate is rounded to a multiple of `spacing`.

    Returns
    -------
    estimate : Estimate
        Median, with an interval from a local regression of the answers.

    Raises
    ------
    TypeError, ValueError
        If `MedianSGD` rejects a parameter, or `x` is empty or not finite.

    Warns
    -----
    SmallSampleWarning
        If n is too small for the interval.
    DoubtfulWarning
        Without `spacing`, if many records are equal.

    Privacy
    -------
    One bit per person, which is epsilon-LDP.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import median
    >>> salaries = np.random.default_rng(1).lognormal(10.1, 0.8, 60_000)  # the median of the distribution is 24,343
    >>> estimate = median(salaries, epsilon=1.0, lower=0, upper=100_000, rng=1)
    >>> bool(abs(estimate.value - 24_343) < 2_000)
    True
    """
    return quantile(x, 0.5, epsilon, lower, upper, rng, spacing=spacing, rounded=rounded)


def naive_median(x: ArrayLike, epsilon: float, lower: float, upper: float, rng: RNGLike = None) -> Estimate[float]:
    """Return the median of numbers with Laplace noise, a baseline with a bias for skewed distributions.

    Symmetric noise moves the median of a skewed distribution, for every n: salaries with median 24,968 and noise for an
    interval of 400,000 and epsilon = 1 have the median 37,800. Use `median` instead.

    Parameters
    ----------
    x : array_like, shape (n,)
        Finite numbers, which are clipped to the interval.
    epsilon : float
        Privacy parameter of a number.
    lower, upper : float
        Public interval to which numbers are clipped; its length determines the noise.
    rng : None, int, SeedSequence, Generator or BitGenerator
        Source of randomness; only ``None`` is private.

    Returns
    -------
    estimate : Estimate
        Median of the noisy numbers. Its interval is for their median, not for that of the records.

    Raises
    ------
    TypeError, ValueError
        If `x` is empty or not finite, or `Laplace` rejects a parameter.

    Privacy
    -------
    The exact guarantee of `Laplace`.

    Notes
    -----
    The n reports are stored.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       JASA 113 (2018), eq. 41. The claim before it, that such noise keeps the median, fails for skewed distributions.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import naive_median
    >>> x = np.random.default_rng(1).exponential(1, 100_000)  # median 0.69
    >>> naive_median(x, 1.0, 0, 10, rng=1).value > 0.8  # biased
    True
    """
    mechanism, domain = Laplace(lower, upper, epsilon), Reals()
    records, _ = domain.records(x)
    if len(records) == 0:
        raise ValueError("x must hold at least 1 record, got none")
    if domain.first_invalid(domain.convert(records)) >= 0:
        raise domain.invalid_error(records)
    reports: AnyArray = np.sort(mechanism.privatize(records, rng=rng, clip=True))
    # Order statistics one binomial standard deviation away on each side.
    n, away = len(reports), math.sqrt(len(reports)) / 2
    low, high = reports[max(0, math.floor(n / 2 - away))], reports[min(n - 1, math.ceil(n / 2 + away))]
    return Estimate(float(np.median(reports)), float(high - low) / 2, n, mechanism.guarantee, None, Normal())
