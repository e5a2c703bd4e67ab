"""Quantiles by stochastic gradient descent: `MedianSGD` with the records first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from ..results import Estimate
from ._functions import people
from .sgd import MedianSGD

if TYPE_CHECKING:
    from .._random import RNGLike


def quantile(
    x: ArrayLike,
    q: float,
    epsilon: float,
    *,
    lower: float,
    upper: float,
    spacing: float | None = None,
    rng: RNGLike = None,
    clip: bool = False,
    rounded: bool = False,
) -> Estimate[float]:
    """Return a quantile by private stochastic gradient descent, with one bit per person.

    The same as ``MedianSGD(...).run(x)``, with the n of the records; see `MedianSGD`, also for errors and privacy.

    Parameters
    ----------
    x : array_like, shape (n,)
        Finite numbers of any size. People are asked in this order.
    q : float
        Which quantile, in (0, 1).
    epsilon, lower, upper, spacing
        As for `MedianSGD`.
    rng, clip, rounded
        As for `MedianSGD.run`.

    Returns
    -------
    estimate : Estimate

    Warns
    -----
    SmallSampleWarning
        If n is too small for the interval.
    DoubtfulWarning
        Without `spacing`, if many records are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import quantile
    >>> x = np.random.default_rng(1).normal(0, 1, 100_000)
    >>> estimate = quantile(x, 0.25, epsilon=2.0, lower=-5, upper=5, rng=1)
    >>> bool(abs(estimate.value + 0.674) < 0.1)
    True
    """
    problem = MedianSGD(epsilon, lower=lower, upper=upper, quantile=q, n=people(x), spacing=spacing)
    return problem.run(x, rng=rng, clip=clip, rounded=rounded)


def median(
    x: ArrayLike,
    epsilon: float,
    *,
    lower: float,
    upper: float,
    spacing: float | None = None,
    rng: RNGLike = None,
    clip: bool = False,
    rounded: bool = False,
) -> Estimate[float]:
    """Return the median by private stochastic gradient descent: `quantile` with q = 1/2.

    The same as ``MedianSGD(...).run(x)``, with the n of the records; see `MedianSGD`, also for errors and privacy.

    Parameters
    ----------
    x : array_like, shape (n,)
        Finite numbers of any size. People are asked in this order.
    epsilon, lower, upper, spacing
        As for `MedianSGD`.
    rng, clip, rounded
        As for `MedianSGD.run`.

    Returns
    -------
    estimate : Estimate

    Warns
    -----
    SmallSampleWarning
        If n is too small for the interval.
    DoubtfulWarning
        Without `spacing`, if many records are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import median
    >>> salaries = np.random.default_rng(1).lognormal(10.1, 0.8, 60_000)  # the median of the distribution is 24,343
    >>> estimate = median(salaries, epsilon=1.0, lower=0, upper=100_000, rng=1)
    >>> bool(abs(estimate.value - 24_343) < 2_000)
    True
    """
    return quantile(x, 0.5, epsilon, lower=lower, upper=upper, spacing=spacing, rng=rng, clip=clip, rounded=rounded)
