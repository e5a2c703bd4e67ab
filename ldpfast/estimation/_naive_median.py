"""Median of numbers with Laplace noise: the baseline of `MedianSGD`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .._typing import AnyArray
from ..domains import Reals
from ..mechanisms import Laplace
from ..results import Estimate, Normal

if TYPE_CHECKING:
    from .._random import RNGLike


def naive_median(
    x: ArrayLike, epsilon: float, *, lower: float, upper: float, rng: RNGLike = None, clip: bool = False
) -> Estimate[float]:
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
    clip : bool, default False
        Map NaN to the middle of the interval, instead of raising ValueError.

    Returns
    -------
    estimate : Estimate
        Median of the noisy numbers. Its interval is for their median, not for that of the records.

    Raises
    ------
    TypeError, ValueError
        If `x` is empty, or not finite and `clip` is false; if `Laplace` rejects a parameter.

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
    >>> naive_median(x, 1.0, lower=0, upper=10, rng=1).value > 0.8  # biased
    True
    """
    mechanism, domain = Laplace(lower, upper, epsilon), Reals()
    records, _ = domain.records(x)
    if len(records) == 0:
        raise ValueError("x must hold at least 1 record, got none")
    if not domain.check_clip(clip) and domain.first_invalid(domain.convert(records)) >= 0:
        raise domain.invalid_error(records, can_clip=True)
    reports: AnyArray = np.sort(mechanism.privatize(records, rng=rng, clip=True))
    # Order statistics one binomial standard deviation away on each side.
    n, away = len(reports), math.sqrt(len(reports)) / 2
    low, high = reports[max(0, math.floor(n / 2 - away))], reports[min(n - 1, math.ceil(n / 2 + away))]
    return Estimate(float(np.median(reports)), float(high - low) / 2, n, mechanism.guarantee, None, Normal())
