"""Mean of an unbounded number with a bounded moment (Duchi, Jordan, Wainwright 2018, eq. 10)."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._formulas import clipping_constant
from .._typing import Floats
from ..domains import Reals
from ..mechanisms import Laplace, SignBit
from ..results import BoundedSum, Estimate, IntervalRule, Normal
from ..results._differences import hypotenuse
from .protocols import FEW_REPORTS, Problem, warn_few


class MeanSquaredError(NamedTuple):
    """Components of the mean squared error of an estimate.

    Attributes
    ----------
    sampling : float
        Variance of the clipped records, divided by n.
    noise : float
        Variance that the mechanism adds, divided by n.
    squared_bias : float
        Square of the bias caused by clipping.

    Examples
    --------
    >>> from ldpfast.estimation import TruncatedMean
    >>> error = TruncatedMean(1.0, moment=3, radius=2, n=10_000).mean_squared_error()
    >>> error.total == error.sampling + error.noise + error.squared_bias
    True
    """

    sampling: float
    noise: float
    squared_bias: float

    @property
    def total(self) -> float:
        """Sum of the components."""
        return self.sampling + self.noise + self.squared_bias


LEAST_TAIL = 1e-15  # so that margins are finite


@dataclass(frozen=True)
class RareRecords:
    """Limits of a mean of truncated records, of which a few large ones may decide it, with a bound on the bias.

    With Laplace noise, the margin of the noise is normal and that of the records follows `results.BoundedSum`, with the ends of
    the range as the largest records: a sample may have none of them. Both are added in squares. One bit has its own limits.

    Attributes
    ----------
    raw : IntervalRule
        Limits of the mean of the reports.
    noise : float
        Standard error by the noise of the mechanism; 0 for bits.
    span : tuple of float
        Range of the truncated records.
    n : int
        Number of reports.
    bias : float
        Bound on the bias of the truncation.
    """

    raw: IntervalRule
    noise: float
    span: tuple[float, float]
    n: int
    bias: float
    by_coordinate: ClassVar[bool] = True

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        tail = np.clip(tail, LEAST_TAIL, 1 - LEAST_TAIL)
        for_bias = Normal(self.bias).bounds(value, stderr, tail)[1] - Normal().bounds(value, stderr, tail)[1]
        if self.noise:
            records = np.sqrt(np.maximum(np.square(stderr) - self.noise**2, 0.0))
            rule = BoundedSum.of_mean(np.clip(value, *self.span), *self.span, self.n)
            down, up = rule.bounds(np.zeros_like(value), records, tail)
            margin = Normal().bounds(np.array(0.0), np.array(self.noise), tail)[1]
            below, above = hypotenuse(margin, -down), hypotenuse(margin, up)
        else:
            limits = self.raw.bounds(value, stderr, tail)
            below, above = value - limits[0], limits[1] - value
        return value - below - for_bias, value + above + for_bias


@dataclass(frozen=True)
class TruncatedMean(Problem[Estimate[float]]):
    """Mean of an unbounded number with a bounded moment: E|X|^moment <= radius^moment.

    Each person clips their number to [-T, T] and privatizes it. A larger threshold T adds noise, a smaller one adds
    bias.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, > 0.
    moment : float
        Order k of the moment, > 1.
    radius : float
        Public bound r > 0 on (E|X|^k)^(1/k).
    n : int
        Number of people who are asked; the threshold depends on it.
    method : {"optimal", "paper"} or float
        Threshold T. "paper": r (n epsilon^2)^(1/(2k)). "optimal": the minimizer of a bound on the mean squared error for
        clipping to [-T, T]. A number: T itself.
    noise : {"laplace", "sign-bit"}
        Mechanism: `Laplace`, or `SignBit`, which sends one bit and has the smaller variance for epsilon below 2.3.
    lower, upper : float, optional
        Known range of the numbers. They are then clipped to [max(lower, -T), min(upper, T)].

    Attributes
    ----------
    level : float
        Threshold T.
    bias_bound : float
        Bound on the bias of clipping, for any distribution with this moment.

    Raises
    ------
    TypeError, ValueError
        If `moment` is not in (1, 1e6], `radius` not in [1e-60, 1e60], `n` not an integer in [1, 2^53], or a threshold is not
        > 0 or so small that the bias has no finite bound; if [lower, upper] and [-T, T] leave no interval.

    Notes
    -----
    Records are finite floats of any size. The interval of `estimate` is for the mean of the population and allows for
    the bias of clipping and for large records that are so rare that the sample has none (`results.BoundedSum`). It covers for
    every distribution with the moment, and its coverage is about the confidence for the worst one, or more for a large epsilon.
    100 reports are sufficient.

    Privacy
    -------
    The guarantee of the mechanism. The client clips before it randomizes, which costs no privacy.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       JASA 113 (2018), eq. 10 and corollary 1. The constant of the bias used here, (k-1)^(k-1) / k^k, is sharp; the
       published one is larger.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import TruncatedMean
    >>> x = np.random.default_rng(1).exponential(2, 20_000)
    >>> problem = TruncatedMean(1.0, moment=3, radius=4, n=len(x), method="optimal")
    >>> low, high = problem.estimate(problem.privatize(x, rng=1)).interval()
    >>> low < 2 < high
    True
    """

    epsilon: float
    _: KW_ONLY
    moment: float
    radius: float
    n: int
    method: str | float = "optimal"
    noise: str = "laplace"
    lower: float | None = None
    upper: float | None = None
    level: float = field(init=False, repr=False, compare=False)
    bias_bound: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        epsilon, k = _check.positive("epsilon", self.epsilon), _check.real("moment", self.moment)
        if not k > 1:
            raise ValueError(f"moment must be > 1, got {self.moment!r}")
        if k > 1e6:
            raise ValueError(f"moment must be at most 1e6, got {self.moment!r}")
        r, n = _check.magnitude("radius", self.radius, 60), _check.people("n", self.n)
        kind = {"laplace": Laplace, "sign-bit": SignBit}[_check.choice("noise", self.noise, ("laplace", "sign-bit"))]
        constant = clipping_constant(k)
        # The noise has variance v T^2 / n. The bias is at most constant r^k T^(1 - k).
        unit = kind(-1.0, 1.0, epsilon)
        v = float(unit.variance(0.0))
        if isinstance(self.method, str):
            _check.choice("method", self.method, ("optimal", "paper"))
            ratio = n * epsilon**2 if self.method == "paper" else (k - 1) * constant**2 * n / v
            threshold = r * ratio ** (1 / (2 * k))
        else:
            threshold, least = _check.positive("method", self.method), r * max(1e-200, math.exp(-500 / (k - 1)))
            if threshold < least:  # the bound on the bias would overflow
                raise ValueError(
                    f"method must be at least {least:.6g} for moment={k:g}, radius={r:g}, got {self.method!r}"
                )
        lower = -threshold if self.lower is None else max(_check.real("lower", self.lower), -threshold)
        upper = threshold if self.upper is None else min(_check.real("upper", self.upper), threshold)
        if not lower < upper:
            raise ValueError(
                f"lower and upper must leave an interval within [{-threshold:.6g}, {threshold:.6g}], "
                f"got {self.lower!r} and {self.upper!r}"
            )
        clips = lower == -threshold or upper == threshold
        self._define(
            kind(lower, upper, epsilon),
            Reals(),
            truncates=True,
            level=threshold,
            bias_bound=constant * r * (threshold / r) ** (1 - k) if clips else 0.0,
        )

    def _convert(self, raw: Estimate[Any]) -> Estimate[float]:
        warn_few(raw.n, FEW_REPORTS, "the interval of a truncated mean")
        noise = 0.0 if self.noise == "sign-bit" else math.sqrt(float(self.mechanism.variance(0.0)) / raw.n)
        rule = RareRecords(raw.rule, noise, self.mechanism.domain.range, raw.n, self.bias_bound)
        return replace(raw, rule=rule, _span=Estimate._span)  # the mean can be beyond the truncation

    def mean_squared_error(self, values: ArrayLike | None = None) -> MeanSquaredError:
        """Return the components of the mean squared error of the estimate, for planning.

        Parameters
        ----------
        values : array_like, optional
            A public or hypothetical population. If omitted, the result is a bound for every distribution with the
            moment.

        Returns
        -------
        error : MeanSquaredError
            Exact for the population, from which people are drawn with replacement.

        Raises
        ------
        TypeError, ValueError
            If `values` are not finite numbers.
        """
        n, mechanism = self.n, self.mechanism
        lower, upper = mechanism.domain.range
        if values is None:
            k = self.moment
            r = self.radius
            width = upper - lower
            spread = min(r**2 if k >= 2 else r**2 * (self.level / r) ** (2 - k), width**2 / 4)
            worst = float(mechanism.variance((lower + upper) / 2))  # for a sign bit: sampling and noise together
            noise = worst - spread if self.noise == "sign-bit" else worst
            return MeanSquaredError(spread / n, noise / n, self.bias_bound**2)
        x = np.asarray(_check.floats("values", _check.array("values", values)), np.float64)
        if x.size == 0 or not np.isfinite(x).all():
            raise ValueError("values must be finite numbers, at least one")
        clipped = np.clip(x, lower, upper)
        return MeanSquaredError(
            float(clipped.var()) / n,
            float(mechanism.variance(clipped).mean()) / n,
            float(x.mean() - clipped.mean()) ** 2,
        )
