"""Functions psi(x, theta) of M-estimators: bounded, and nondecreasing in theta."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._typing import Floats

PIECE = 1 << 17  # number of records whose psi is summed together
GRID = 65  # points in x of the check of a custom psi; there are four times as many in theta
SAME = 1e-6  # largest difference of equal values of a custom psi, in units of its width; NumPy rounds by position

Sum = Callable[[Floats], Floats]


class Psi(ABC):
    """Bounded function psi(x, theta), nondecreasing in theta. The estimate is a root of its sum over the records.

    Attributes
    ----------
    bounds : tuple of float
        Infimum (negative) and supremum (positive).
    width : float
        Supremum minus infimum: the largest change of the sum if one record is replaced.
    of_difference : bool
        Whether psi is a function of theta - x.
    """

    of_difference: ClassVar[bool] = False

    @property
    @abstractmethod
    def bounds(self) -> tuple[float, float]: ...

    @property
    def width(self) -> float:
        low, high = self.bounds
        return high - low

    @abstractmethod
    def __call__(self, x: ArrayLike, theta: ArrayLike) -> Floats:
        """Return psi(x, theta), elementwise."""

    def lipschitz(self, peak: float) -> tuple[float, float]:
        """Return Lipschitz constants L1 and L2 of the derivative in theta of the expectation of psi.

        The derivative changes by at most L1 times the Kolmogorov distance of two distributions of the records, and by
        at most L2 times the distance of two values of theta, for densities of at most `peak`.

        Parameters
        ----------
        peak : float
            Bound on the density of the records.

        Returns
        -------
        constants : tuple of float
            L1 and L2; infinite if there is no such constant.
        """
        return math.inf, math.inf

    def total(self, x: Floats) -> Sum:
        """Return the sum of psi over sorted records, as a function of an array of thetas."""

        def at(theta: float) -> float:
            return sum(float(self(x[i : i + PIECE], theta).sum()) for i in range(0, len(x), PIECE))

        return lambda thetas: np.array([at(theta) for theta in thetas.tolist()])


@dataclass(frozen=True)
class Quantile(Psi):
    """Quantile: psi = 1{x <= theta} - q.

    Parameters
    ----------
    q : float, default 0.5
        Probability of the quantile, in (0, 1). The default is the median.

    Raises
    ------
    TypeError, ValueError
        If `q` is not in (0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast import central
    >>> x = np.random.default_rng(1).uniform(0, 10, 10_000)
    >>> estimate = central.m_estimate(x, central.Quantile(0.9), epsilon=1.0, lower=0, upper=10, rng=1)
    >>> bool(abs(estimate.value - 9) < 0.3)
    True
    """

    q: float = 0.5
    of_difference: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "q", _check.probability("q", self.q))

    @property
    def bounds(self) -> tuple[float, float]:
        return -self.q, 1 - self.q

    @property
    def width(self) -> float:
        return 1.0

    def __call__(self, x: ArrayLike, theta: ArrayLike) -> Floats:
        return np.less_equal(x, theta) - self.q

    def total(self, x: Floats) -> Sum:
        return lambda thetas: np.asarray(np.searchsorted(x, thetas, "right") - len(x) * self.q, np.float64)


@dataclass(frozen=True)
class Huber(Psi):
    """Huber's M-estimator of location: psi = theta - x, clipped to [-c, c].

    Parameters
    ----------
    c : float, default 1.345
        Clipping bound in [1e-100, 1e100], in the unit of the records. 1.345 standard deviations of normal records cost
        5 % of the efficiency of the mean.

    Raises
    ------
    TypeError, ValueError
        If `c` is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast import central
    >>> x = np.random.default_rng(1).normal(5, 1, 10_000)
    >>> estimate = central.m_estimate(x, central.Huber(1.5), epsilon=1.0, lower=0, upper=10, rng=1)
    >>> bool(abs(estimate.value - 5) < 0.1)
    True
    """

    c: float = 1.345
    of_difference: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", _check.magnitude("c", self.c, 100))

    @property
    def bounds(self) -> tuple[float, float]:
        return -self.c, self.c

    def __call__(self, x: ArrayLike, theta: ArrayLike) -> Floats:
        return np.clip(np.subtract(theta, x, dtype=np.float64), -self.c, self.c)

    def lipschitz(self, peak: float) -> tuple[float, float]:
        return 2.0, 2 * peak

    def total(self, x: Floats) -> Sum:
        """Return the sum as a function of thetas, in O(log n) for each theta from prefix sums of the records."""
        origin = x[len(x) // 2]
        sums = np.concatenate([[0], np.cumsum(x - origin, dtype=np.longdouble)])

        def at(thetas: Floats) -> Floats:
            i, j = np.searchsorted(x, thetas - self.c, "left"), np.searchsorted(x, thetas + self.c, "right")
            inside = (j - i) * (thetas - origin) - (sums[j] - sums[i]).astype(np.float64)
            return np.asarray(inside + self.c * (i - (len(x) - j)))

        return at


@dataclass(frozen=True)
class Logistic(Psi):
    """Location of a logistic distribution: psi = tanh((theta - x) / (2 scale)).

    Parameters
    ----------
    scale : float, default 1.0
        Scale in [1e-100, 1e100], in the unit of the records.

    Raises
    ------
    TypeError, ValueError
        If `scale` is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast import central
    >>> x = np.random.default_rng(1).normal(5, 1, 10_000)
    >>> estimate = central.m_estimate(x, central.Logistic(0.5), epsilon=1.0, lower=0, upper=10, rng=1)
    >>> bool(abs(estimate.value - 5) < 0.1)
    True
    """

    scale: float = 1.0
    of_difference: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", _check.magnitude("scale", self.scale, 100))

    @property
    def bounds(self) -> tuple[float, float]:
        return -1.0, 1.0

    def __call__(self, x: ArrayLike, theta: ArrayLike) -> Floats:
        return np.asarray(np.tanh(np.subtract(theta, x, dtype=np.float64) / (2 * self.scale)))

    def lipschitz(self, peak: float) -> tuple[float, float]:
        return 1 / self.scale, 0.1925 / self.scale**2  # 1 / sqrt 27, rounded up


@dataclass(frozen=True)
class Custom(Psi):
    """User-defined function psi.

    Parameters
    ----------
    function : callable
        ``function(x, theta)``, for an array `x` and a number `theta`, returns an array of the shape of `x` that is
        nondecreasing in theta. Entry i depends on ``x[i]`` and theta, not on other entries of `x`, their number or their
        order. The array is a copy, which the function may change. Values are clipped to the bounds; NaN is replaced by the
        middle of the bounds.
    low, high : float
        Bounds of the function, low < 0 < high. They are public, like the function.

    Raises
    ------
    TypeError, ValueError
        If `function` is not callable, or zero is not between the bounds.

    Privacy
    -------
    With ``method="grid"``, `m_estimate` calls the function with public points only, so the guarantee holds for every
    function that is itself public. With ``method="continuous"``, the function is called with parts of the sorted records,
    and the guarantee requires that each value depends on one record.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast import central
    >>> psi = central.Custom(lambda x, theta: np.clip(theta - x, -2, 1), -2, 1)  # large records count more
    >>> x = np.random.default_rng(1).normal(5, 1, 10_000)
    >>> bool(5 < central.m_estimate(x, psi, epsilon=1.0, lower=0, upper=10, rng=1).value < 6)
    True
    """

    function: Callable[[Any, Any], Any]
    low: float
    high: float

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"function must be callable, got {type(self.function).__name__}")
        low, high = _check.real("low", self.low), _check.real("high", self.high)
        if not low < 0 < high:
            raise ValueError(f"low and high must have zero between them, got {self.low!r} and {self.high!r}")
        _check.magnitude("high - low", high - low, 100)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def bounds(self) -> tuple[float, float]:
        return float(self.low), float(self.high)

    def __call__(self, x: ArrayLike, theta: ArrayLike) -> Floats:
        values = self._values(x, theta)
        values[np.isnan(values)] = (self.low + self.high) / 2
        return np.clip(values, self.low, self.high, out=values)

    def _values(self, x: ArrayLike, theta: ArrayLike) -> Floats:
        """Return a copy of what the function returns for a copy of `x`, if it has the right shape."""
        given = np.array(x, np.float64)
        shape = np.broadcast(given, theta).shape
        values = np.array(self.function(given, theta), np.float64)
        if values.shape != shape:
            raise ValueError(f"psi must return one number per record, got shape {values.shape} for {shape}")
        return values

    def check(self, x: Floats, thetas: Floats) -> None:
        """Check on a public grid that the function is bounded, nondecreasing in theta, and elementwise in x.

        Parameters
        ----------
        x, thetas : ndarray
            Grid, which does not depend on the records; thetas are ascending.

        Raises
        ------
        ValueError
            If a condition does not hold; the message contains the first such point.
        """
        before, slack = np.full(len(x), -math.inf), 1e-9 * self.width
        for k, theta in enumerate(thetas.tolist()):
            values = self._values(x, theta)
            bad = ~((values >= self.low - slack) & (values <= self.high + slack))
            if bad.any():
                i = int(bad.argmax())
                raise ValueError(
                    f"psi must be in [{self.low:.6g}, {self.high:.6g}]; at x = {x[i]:.6g}, theta = {theta:.6g} it is "
                    f"{values[i]:.6g}"
                )
            bad = values < before - slack
            if bad.any():
                i = int(bad.argmax())
                raise ValueError(
                    f"psi must be nondecreasing in theta; at x = {x[i]:.6g} it falls from {before[i]:.6g} at theta = "
                    f"{thetas[k - 1]:.6g} to {values[i]:.6g} at theta = {theta:.6g}"
                )
            # Two parts of different lengths, one of them reversed, have other medians, sums, ends and neighbors than x.
            first = len(x) // 3
            parts = np.concatenate([self._values(x[:first], theta), self._values(x[: first - 1 : -1], theta)[::-1]])
            bad = ~(np.abs(parts - values) <= SAME * self.width)
            if bad.any():
                i = int(bad.argmax())
                raise ValueError(
                    f"psi must depend on each record by itself; at x = {x[i]:.6g}, theta = {theta:.6g} it is "
                    f"{values[i]:.6g} among {len(x)} points and {parts[i]:.6g} among some of them"
                )
            before = values


DEFAULTS: dict[str, Psi] = {"quantile": Quantile(), "huber": Huber(), "logistic": Logistic()}


def as_psi(psi: Psi | str) -> Psi:
    """Return the psi with the given name, or a psi unchanged."""
    if isinstance(psi, str):
        return DEFAULTS[_check.choice("psi", psi, DEFAULTS)]
    if not isinstance(psi, Psi):
        raise TypeError(f"psi must be a string, Quantile, Huber, Logistic or Custom, got {type(psi).__name__}")
    return psi
