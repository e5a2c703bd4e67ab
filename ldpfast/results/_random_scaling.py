"""Limits for averages of stochastic gradient descent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from .._typing import Floats

SMALLEST = 1e-216  # smaller probabilities of both tails are taken as this one


@lru_cache(maxsize=256)
def random_scaling_quantile(tail: float) -> float:
    """Return t with P(T > t) = tail for T = W(1) / sqrt(integral of (W(r) - r W(1))^2 dr), W a Brownian motion.

    It is computed from P(|T| > t) = (2 / pi) integral of sqrt(u / sinh u) dphi over (0, pi / 2), u = t / sin phi.

    Examples
    --------
    >>> from ldpfast.results import random_scaling_quantile
    >>> round(random_scaling_quantile(0.025), 2)
    6.75
    """
    from scipy.integrate import quad
    from scipy.optimize import brentq

    def both_tails(t: float) -> float:
        def integrand(phi: float) -> float:
            u = t / math.sin(phi) if phi > 0 else math.inf
            return math.sqrt(2 * u / -math.expm1(-2 * u)) * math.exp(-u / 2) if u < 1400 else 0.0

        return 2 / math.pi * float(quad(integrand, 0, math.pi / 2, limit=200)[0])

    both = max(2 * tail, SMALLEST)
    return float(brentq(lambda t: both_tails(t) - both, 1e-9, 1000.0, xtol=1e-10))


def _signed_quantile(tail: float) -> float:
    """Return the quantile of `random_scaling_quantile`, which is negative for tails above a half."""
    if abs(tail - 0.5) < 1e-9:
        return 0.0
    return random_scaling_quantile(tail) if tail < 0.5 else -random_scaling_quantile(1 - tail)


@dataclass(frozen=True)
class RandomScaling:
    """Limits value +- q stderr for averages of stochastic gradient descent.

    q is a quantile of a statistic whose scale is computed from the iterates. So no estimate of the covariance is needed,
    which would cost privacy.

    stderr^2 is 6 V / n: the mean of V is a sixth of the asymptotic variance (S. Lee, Y. Liao, M. H. Seo, Y. Shin, "Fast
    and robust online inference with stochastic gradient descent via random scaling", AAAI 2022).

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.results import RandomScaling
    >>> low, high = RandomScaling().bounds(np.array(3.0), np.array(1.0), tail=0.025)
    >>> round(float(high - 3), 2)  # wider than 1.96 standard errors
    2.75
    """

    by_coordinate: ClassVar[bool] = True

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        margin = np.vectorize(_signed_quantile, otypes=[float])(tail) / math.sqrt(6) * stderr
        return value - margin, value + margin


def random_scaling(n: float, total: Any, squares: Any, cross: Any) -> Floats:
    """Return the standard error, by random scaling, of a mean of n positions.

    S_s is the sum of the first s positions. `total` is S_n; `squares` and `cross` are the sums over s of S_s^2 and of
    s S_s. The square of the standard error is 6 V / n with V = (1 / n^2) sum of s^2 (S_s / s - S_n / n)^2.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.results import random_scaling
    >>> sums, s = np.cumsum([1.0, 3.0, 2.0, 2.0]), np.arange(1, 5)
    >>> round(float(random_scaling(4, sums[-1], (sums**2).sum(), (s * sums).sum())), 3)
    0.306
    """
    mean = np.asarray(total) / n
    spread = squares - 2 * mean * cross + mean**2 * (n * (n + 1) * (2 * n + 1) / 6)
    return np.asarray(np.sqrt(6 * np.maximum(spread, 0) / n**3))
