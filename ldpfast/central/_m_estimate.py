"""M-estimators by the exponential mechanism, for a bounded psi(x, theta) that is nondecreasing in theta."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._core.stream import Stream, StreamId
from .._random import words
from .._typing import Floats

ACCEPTANCE = 0.9  # least share of accepted proposals
SPLITS = 8  # number of cells that are split together
PIECE = 1 << 17  # number of records whose psi is summed together
GRID = 65  # points in x of the check of a custom psi; there are four times as many in theta
SAME = 1e-6  # largest difference of equal values of a custom psi, in units of its width; NumPy rounds by position
PRIORS = ("uniform", "cauchy")

Sum = Callable[[Floats], Floats]


# ---- psi
# ----------------------------------------------------------------------------------------------------------------


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


# ---- prior
# --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Prior:
    """Prior distribution of the estimate, uniform in the coordinate phi.

    Uniform: phi = theta in [lower, upper]. Cauchy: phi = atan((theta - center) / scale), where center and scale are the
    center and the half-width of [lower, upper]; lower and upper are the quartiles.
    """

    name: str
    lower: float
    upper: float

    @property
    def center(self) -> float:
        return self.lower + (self.upper - self.lower) / 2

    @property
    def scale(self) -> float:
        return (self.upper - self.lower) / 2

    @property
    def ends(self) -> tuple[float, float]:
        """Range of phi."""
        return (self.lower, self.upper) if self.name == "uniform" else (-math.pi / 2, math.pi / 2)

    def theta(self, phi: Floats) -> Floats:
        return phi if self.name == "uniform" else self.center + self.scale * np.tan(phi)


# ---- samplers
# -----------------------------------------------------------------------------------------------------------


class Uniforms:
    """Buffered odd multiples of 2^-53, uniform in (0, 1), from a stream."""

    def __init__(self, stream: Stream) -> None:
        self.stream, self.left = stream, np.empty(0)

    def draw(self, count: int) -> list[float]:
        if len(self.left) < count:
            fresh = words(self.stream, StreamId.M_ESTIMATE, 128)
            self.left = ((fresh >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
        drawn, self.left = self.left[:count], self.left[count:]
        return list(drawn.tolist())


def _draw_index(masses: Floats, u: float) -> int:
    """Return index k with probability masses[k] / sum."""
    sums = np.cumsum(masses)
    return min(int(np.searchsorted(sums, u * sums[-1], "right")), int(np.flatnonzero(masses)[-1]))


class MonotoneEM:
    """Sampler of the density exp(-kappa |S(theta)|) with respect to a prior, for a nondecreasing S.

    The density lies between two step functions on cells of phi. On a cell without the root of S, they are its values at
    the ends; on the cell with the root, the upper one is 1. Cells are split until the mass of the lower step function
    is at least 0.9 of that of the upper one. This certifies the acceptance rate of a rejection sampler, which has no
    discretization error.

    Parameters
    ----------
    total : callable
        S as a function of an array of thetas.
    kappa : float
        Factor of the exponent.
    prior : Prior

    Attributes
    ----------
    evaluations : int
        Number of evaluations of S so far.
    """

    def __init__(self, total: Sum, kappa: float, prior: Prior) -> None:
        self.total, self.kappa, self.prior, self.evaluations = total, kappa, prior, 0
        self.phi = np.linspace(*prior.ends, 2 * SPLITS + 1)
        self.exponent = self._exponent(self.phi)
        while not self._is_tight():
            self._split()

    def _exponent(self, phi: Floats) -> Floats:
        """Return kappa S: its sign gives the side of the root, its size is minus the logarithm of the density."""
        self.evaluations += len(phi)
        return self.kappa * self.total(self.prior.theta(phi))

    def _is_tight(self) -> bool:
        """Compute both step functions, and return whether the ratio of their masses is at least `ACCEPTANCE`."""
        left, right = self.exponent[:-1], self.exponent[1:]
        width = np.diff(self.phi)
        middle = self.phi[:-1] + width / 2
        # A cell without a double inside has the smaller of the densities at its ends: where S jumps, its value at the
        # jump may belong to no interval.
        self.splits = (middle > self.phi[:-1]) & (middle < self.phi[1:])
        self.lower = -np.maximum(np.abs(left), np.abs(right))
        self.upper = np.where((left < 0) & (right > 0), 0.0, -np.minimum(np.abs(left), np.abs(right)))
        self.upper = np.where(self.splits, self.upper, self.lower)
        top = self.upper.max()
        self.above, below = width * np.exp(self.upper - top), width * np.exp(self.lower - top)
        self.gap = np.where(self.splits, self.above - below, 0.0)
        return bool(below.sum() >= ACCEPTANCE * self.above.sum())

    def _split(self) -> None:
        """Halve up to `SPLITS` cells with the largest differences of masses, each at least a quarter of the largest."""
        worst = np.argsort(self.gap)[-SPLITS:]
        worst = np.sort(worst[self.gap[worst] >= 0.25 * self.gap[worst[-1]]])
        middle = self.phi[worst] + (self.phi[worst + 1] - self.phi[worst]) / 2
        self.phi = np.insert(self.phi, worst + 1, middle)
        self.exponent = np.insert(self.exponent, worst + 1, self._exponent(middle))

    @property
    def certified_acceptance(self) -> float:
        """Lower bound on the share of the proposals that are accepted."""
        return float(1 - self.gap.sum() / self.above.sum())

    def sample(self, draws: Uniforms) -> float:
        """Draw one theta."""
        while True:
            u, v, w = draws.draw(3)
            k = _draw_index(self.above, u)
            phi = np.array([self.phi[k] + v * (self.phi[k + 1] - self.phi[k])])
            log = math.log(w) + float(self.upper[k])
            if log <= self.lower[k] or log <= -abs(float(self._exponent(phi)[0])):
                return float(self.prior.theta(phi)[0])


def check_epsilon(epsilon: float) -> float:
    """Return epsilon, if it is in (0, 1e6]."""
    number = _check.positive("epsilon", epsilon)
    if number > 1e6:
        raise ValueError(f"epsilon must be at most 1e6, got {epsilon!r}")
    return number


# ---- accuracy under assumptions
# -----------------------------------------------------------------------------------------


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
    psi, epsilon, error = as_psi(psi), check_epsilon(epsilon), _check.positive("error", error)
    _check.choice("prior", prior, PRIORS)
    slope, (low, high) = _check.positive("slope", slope), _check.interval(lower, upper)
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
    n, epsilon, (low, high) = _check.people("n", n), check_epsilon(epsilon), _check.interval(lower, upper)
    eta = (1 - _check.probability("confidence", confidence)) / 2
    least, largest = (_check.positive("density", f) for f in density)
    if least > largest:
        raise ValueError(f"density must be (least, largest), got {density!r}")
    full = (high - low) * largest / (2 * eta)
    e = min(2 / (n * epsilon), full)
    return (2 * math.sqrt(math.log(2 / eta) / (2 * n)) + e + 2 / (n * epsilon) * math.log(full / e)) / least
