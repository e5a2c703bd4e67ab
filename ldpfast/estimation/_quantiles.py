"""Median and other quantiles in one call."""

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
    x: ArrayLike, q: float, epsilon: float, lower: float, upper: float, rng: RNGLike = None
) -> Estimate[float]:
    """A quantile by private stochastic gradient descent, one bit per person.

    Parameters
    ----------
    x : array_like, shape (n,)
        Finite numbers, asked in this order; they may lie anywhere.
    q : float
        Which quantile, in (0, 1).
    epsilon : float
        Privacy parameter of each person's one bit.
    lower, upper : float
        Where the quantile is known to lie.
    rng : None, int, SeedSequence, Generator or BitGenerator

    Returns
    -------
    estimate : Estimate
        With an interval from a local regression of the answers.

    Raises
    ------
    TypeError, ValueError
        As `MedianSGD`, and if `x` is empty or not finite.

    Warns
    -----
    SmallSampleWarning
        Where n is too small for the interval.

    Privacy
    -------
    One bit per person, exactly `epsilon_realized`-LDP; see `MedianSGD`.

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
    return MedianSGD(epsilon, lower, upper, quantile=q, n=n).run(x, rng)


def median(x: ArrayLike, epsilon: float, lower: float, upper: float, rng: RNGLike = None) -> Estimate[float]:
    """The median by private stochastic gradient descent: `quantile` with q = 1/2.

    Parameters
    ----------
    x, epsilon, lower, upper, rng
        As for `quantile`.

    Returns
    -------
    estimate : Estimate

    Privacy
    -------
    One bit per person; see `quantile`.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import median
    >>> salaries = np.random.default_rng(1).lognormal(10.1, 0.8, 60_000)  # the median of the distribution is 24,343
    >>> estimate = median(salaries, epsilon=1.0, lower=0, upper=100_000, rng=1)
    >>> bool(abs(estimate.value - 24_343) < 2_000)
    True
    """
    return quantile(x, 0.5, epsilon, lower, upper, rng)


def naive_median(x: ArrayLike, epsilon: float, lower: float, upper: float, rng: RNGLike = None) -> Estimate[float]:
    """The median of numbers with Laplace noise: a baseline that is biased for every n unless the distribution is symmetric.

    Symmetric noise moves the median of a skewed distribution: salaries with median 24,968 and noise for an interval of
    400,000 and epsilon = 1 have the median 37,800. Use `median`.

    Parameters
    ----------
    x : array_like, shape (n,)
        Finite numbers; clipped to the interval.
    epsilon : float
    lower, upper : float
        The interval of the clipping, which sets the noise.
    rng : None, int, SeedSequence, Generator or BitGenerator

    Returns
    -------
    estimate : Estimate
        The interval is for the median of the noisy numbers, not for the median of the records.

    Raises
    ------
    TypeError, ValueError
        If `x` is empty or not finite; as `Laplace`.

    Privacy
    -------
    That of `Laplace`: exact.

    Notes
    -----
    Stores the n reports.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
    JASA
       113 (2018), eq. 41; the claim before it, that such noise keeps the median, fails for skewed distributions.
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
