"""The mean of a number without bounds, from a bound on one of its moments (Duchi, Jordan, Wainwright 2018, eq. 10)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._formulas import clipping_constant
from ..domains import Reals
from ..mechanisms import Laplace, SignBit
from ..results import Estimate, Normal
from .protocols import FEW_REPORTS, Problem, warn_few

if TYPE_CHECKING:
    from .._typing import RNGLike


class MeanSquaredError(NamedTuple):
    """What the mean squared error is made of.

    Attributes
    ----------
    sampling : float
        Variance of the clipped records over n.
    noise : float
        Variance that the mechanism adds, over n.
    squared_bias : float
        Of the clipping.
    """

    sampling: float
    noise: float
    squared_bias: float

    @property
    def total(self) -> float:
        """The mean squared error."""
        return self.sampling + self.noise + self.squared_bias


@dataclass(frozen=True)
class TruncatedMean(Problem[Estimate[float]]):
    """The mean of a number of which only a moment is bounded: E|X|^moment <= radius^moment.

    Everybody clips to [-T, T]. A large T costs noise, a small one bias; the level T balances them.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, > 0.
    moment : float
        k > 1.
    radius : float
        r > 0, a bound on (E|X|^k)^(1/k), public.
    n : int
        How many people are asked: the level depends on it.
    rule : {"paper", "opt"} or float
        "paper": T = r (n epsilon^2)^(1/(2k)). "opt": the T with the smallest bound on the mean squared error. A number:
        T itself.
    noise : {"laplace", "sign-bit"}
        `Laplace` on [-T, T], or one bit (`SignBit`), which has the smaller variance for epsilon below 2.3.
    lower, upper : float, optional
        Where the numbers are known to lie; clips to [max(lower, -T), min(upper, T)].

    Attributes
    ----------
    level : float
        T.
    bias_bound : float
        Of the clipping, for any law with this moment.

    Raises
    ------
    TypeError, ValueError
        If `moment` is not > 1, `radius` or a level not > 0, `n` not an integer >= 1, or nothing is left of [lower,
        upper].

    Notes
    -----
    Records: finite floats of any size. Of `estimate`, the interval is for the mean of the population and allows for the
    bias: it covers for every law with the moment, with exactly the confidence for the worst one. Sufficient n: 100.

    Privacy
    -------
    That of the mechanism; clipping the own record is free.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
    JASA
       113 (2018), eq. 10 and corollary 1. The constant of the bias, (k-1)^(k-1) / k^k, is sharp; theirs is larger.
    """

    epsilon: float
    moment: float
    radius: float
    n: int
    rule: str | float = "paper"
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
        r, n = _check.positive("radius", self.radius), _check.integer("n", self.n, 1)
        if not 1e-60 <= r <= 1e60:
            raise ValueError(f"radius must be in [1e-60, 1e60], got {self.radius!r}")
        kind = {"laplace": Laplace, "sign-bit": SignBit}[_check.choice("noise", self.noise, ("laplace", "sign-bit"))]
        constant = clipping_constant(k)
        # Noise of variance v T^2 / n; the bias is at most constant r^k T^(1 - k).
        unit = kind(-1.0, 1.0, epsilon)
        v = float(unit.variance(0.0))
        if isinstance(self.rule, str):
            _check.choice("rule", self.rule, ("paper", "opt"))
            ratio = n * epsilon**2 if self.rule == "paper" else (k - 1) * constant**2 * n / v
            level = r * ratio ** (1 / (2 * k))
        else:
            level = _check.positive("rule", self.rule)
        lower = -level if self.lower is None else max(_check.real("lower", self.lower), -level)
        upper = level if self.upper is None else min(_check.real("upper", self.upper), level)
        if not lower < upper:
            raise ValueError(
                f"lower and upper must leave an interval within the level {level:.6g}, got {self.lower!r} and {self.upper!r}"
            )
        clips = lower == -level or upper == level
        self._define(
            kind(lower, upper, epsilon),
            Reals(),
            level=level,
            bias_bound=constant * r * (level / r) ** (1 - k) if clips else 0.0,
        )

    def _conclude(self, raw: Estimate[Any]) -> Estimate[float]:
        warn_few(raw.n, FEW_REPORTS, "the interval of a truncated mean")
        return replace(raw, rule=Normal(self.bias_bound))

    def mean_squared_error(self, values: ArrayLike | None = None) -> MeanSquaredError:
        """What the mean squared error of the estimate is made of, to plan with.

        Parameters
        ----------
        values : array_like, optional
            A population, public or imagined. Without it: bounds that hold for every law with the moment.

        Returns
        -------
        error : MeanSquaredError
            Exact for the population, people drawn with replacement.

        Raises
        ------
        TypeError, ValueError
            If `values` are not finite numbers.
        """
        n, mechanism = self.n, self.mechanism
        lower, upper = mechanism.domain.range
        if values is None:
            k, r, width = self.moment, self.radius, upper - lower
            spread = min(r**2 if k >= 2 else r**2 * (self.level / r) ** (2 - k), width**2 / 4)
            worst = float(mechanism.variance((lower + upper) / 2))  # a sign bit: of sampling and noise together
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


def truncated_mean(
    x: ArrayLike,
    epsilon: float,
    *,
    moment: float,
    radius: float,
    rule: str | float = "paper",
    noise: str = "laplace",
    lower: float | None = None,
    upper: float | None = None,
    rng: RNGLike = None,
) -> Estimate[float]:
    """The mean of numbers with a bounded moment, each of them privatized by itself.

    Parameters
    ----------
    x : array_like, shape (n,)
        Finite numbers.
    epsilon, moment, radius, rule, noise, lower, upper
        As for `TruncatedMean`, which says what they mean; n is the length of `x`.
    rng : None, int, SeedSequence, Generator or BitGenerator

    Returns
    -------
    estimate : Estimate
        Of the mean of the population; the interval allows for the bias of the clipping.

    Raises
    ------
    TypeError, ValueError
        As `TruncatedMean`; if a number is not finite.

    Warns
    -----
    SmallSampleWarning
        For fewer than 100 people.

    Privacy
    -------
    Each number is epsilon-LDP by itself; everything else is a function of the reports.
    """
    n = max(1, np.size(_check.array("x", x)))
    problem = TruncatedMean(epsilon, moment, radius, n, rule, noise, lower, upper)
    return problem.run(x, rng=rng)
