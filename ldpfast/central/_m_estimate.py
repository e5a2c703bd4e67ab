"""M-estimators by the exponential mechanism: sum of psi(x_i, theta) near zero, psi bounded and nondecreasing in theta."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._random import M_ESTIMATE, open_stream
from .._typing import Floats
from ..privacy import Guarantee
from ..results import Estimate
from . import _records
from ._smooth import uniforms

if TYPE_CHECKING:
    from .._core.stream import Stream
    from .._typing import RNGLike

ACCEPTANCE = 0.9  # at least this share of the proposals is kept
SPLITS = 8  # cells that are split together
PIECE = 1 << 17  # records whose psi is summed together
PLACES = 65  # of the check of a given psi, in records; four times as many in theta
PRIORS = ("uniform", "cauchy")

Sum = Callable[[Floats], Floats]


# ---- psi
# ----------------------------------------------------------------------------------------------------------------


class Psi(ABC):
    """A bounded function psi(x, theta), nondecreasing in theta; the estimate is where its sum over the records is zero.

    Attributes
    ----------
    bounds : tuple of float
        (infimum, supremum), negative and positive.
    width : float
        Supremum - infimum: how much the sum changes, at most, by one replaced record.
    """

    @property
    @abstractmethod
    def bounds(self) -> tuple[float, float]: ...

    @property
    def width(self) -> float:
        low, high = self.bounds
        return high - low

    @abstractmethod
    def __call__(self, x: ArrayLike, theta: ArrayLike) -> Floats:
        """psi(x, theta), by elements."""

    def lipschitz(self, peak: float) -> tuple[float, float]:
        """L1, L2: the derivative in theta of the expectation of psi moves by at most L1 times the Kolmogorov distance when the
        law changes, and by L2 times the distance when theta does, for densities of at most `peak`.

        Parameters
        ----------
        peak : float

        Returns
        -------
        constants : tuple of float
            Infinite where there is no such number.
        """
        return math.inf, math.inf

    def total(self, x: Floats) -> Sum:
        """The sum over sorted records, as a function of an array of thetas."""

        def at(theta: float) -> float:
            return sum(float(self(x[i : i + PIECE], theta).sum()) for i in range(0, len(x), PIECE))

        return lambda thetas: np.array([at(theta) for theta in thetas.tolist()])


def _size(name: str, value: float) -> float:
    number = _check.positive(name, value)
    if not 1e-100 <= number <= 1e100:
        raise ValueError(f"{name} must be in [1e-100, 1e100], got {value!r}")
    return number


@dataclass(frozen=True)
class Quantile(Psi):
    """psi = 1{x <= theta} - q: the q-quantile, by default the median.

    Parameters
    ----------
    q : float, default 0.5
        In (0, 1).

    Raises
    ------
    TypeError, ValueError
        If `q` is not in (0, 1).
    """

    q: float = 0.5

    def __post_init__(self) -> None:
        _check.probability("q", self.q)

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
    """psi = theta - x, clipped to [-c, c]: the mean of what is near; each of what is far counts as much as c.

    Parameters
    ----------
    c : float, default 1.345
        In [1e-100, 1e100], in the unit of the records: 1.345 standard deviations of normal records cost 5 % of the
        efficiency of the mean.

    Raises
    ------
    TypeError, ValueError
        If `c` is out of range.
    """

    c: float = 1.345

    def __post_init__(self) -> None:
        _size("c", self.c)

    @property
    def bounds(self) -> tuple[float, float]:
        return -self.c, self.c

    def __call__(self, x: ArrayLike, theta: ArrayLike) -> Floats:
        return np.clip(np.subtract(theta, x, dtype=np.float64), -self.c, self.c)

    def lipschitz(self, peak: float) -> tuple[float, float]:
        return 2.0, 2 * peak

    def total(self, x: Floats) -> Sum:
        """Two searches in the records and a difference of sums of them: O(log n) for each theta."""
        origin = x[len(x) // 2]
        sums = np.concatenate([[0], np.cumsum(x - origin, dtype=np.longdouble)])

        def at(thetas: Floats) -> Floats:
            i, j = np.searchsorted(x, thetas - self.c, "left"), np.searchsorted(x, thetas + self.c, "right")
            inside = (j - i) * (thetas - origin) - (sums[j] - sums[i]).astype(np.float64)
            return np.asarray(inside + self.c * (i - (len(x) - j)))

        return at


@dataclass(frozen=True)
class Logistic(Psi):
    """psi = tanh((theta - x) / (2 scale)): the location of a logistic law.

    Parameters
    ----------
    scale : float, default 1.0
        In [1e-100, 1e100], in the unit of the records.

    Raises
    ------
    TypeError, ValueError
        If `scale` is out of range.
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        _size("scale", self.scale)

    @property
    def bounds(self) -> tuple[float, float]:
        return -1.0, 1.0

    def __call__(self, x: ArrayLike, theta: ArrayLike) -> Floats:
        return np.asarray(np.tanh(np.subtract(theta, x, dtype=np.float64) / (2 * self.scale)))

    def lipschitz(self, peak: float) -> tuple[float, float]:
        return 1 / self.scale, 0.1925 / self.scale**2  # 1 / sqrt 27, rounded up


@dataclass(frozen=True)
class Custom(Psi):
    """A function of your own.

    Parameters
    ----------
    function : callable
        ``function(x, theta)`` for an array of records and a number: an array of the shape of the records, nondecreasing
        in theta. Values beyond the bounds are moved to them, NaN to their middle.
    low, high : float
        Its bounds, low < 0 < high; public, like the function.

    Raises
    ------
    TypeError, ValueError
        If `function` is not callable, or zero is not between the bounds.
    """

    function: Callable[[Any, Any], Any]
    low: float
    high: float

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"function must be callable, got {type(self.function).__name__}")
        if not _check.real("low", self.low) < 0 < _check.real("high", self.high):
            raise ValueError(f"low and high must have zero between them, got {self.low!r} and {self.high!r}")
        _size("high - low", self.high - self.low)

    @property
    def bounds(self) -> tuple[float, float]:
        return float(self.low), float(self.high)

    def __call__(self, x: ArrayLike, theta: ArrayLike) -> Floats:
        values = np.array(self.function(x, theta), np.float64)
        values[np.isnan(values)] = (self.low + self.high) / 2
        return np.clip(values, self.low, self.high, out=values)

    def check(self, x: Floats, thetas: Floats) -> None:
        """Refuse what is not bounded or falls in theta, on a grid of both that no record has a part in.

        Parameters
        ----------
        x, thetas : ndarray
            The grid; ascending thetas.

        Raises
        ------
        ValueError
            With the first place at which it is so.
        """
        before, slack = np.full(len(x), -math.inf), 1e-9 * self.width
        for k, theta in enumerate(thetas.tolist()):
            values = np.asarray(self.function(x, theta), np.float64)
            if values.shape != x.shape:
                raise ValueError(f"psi must return one number per record, got shape {values.shape} for {x.shape}")
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
                    f"psi must not fall in theta; at x = {x[i]:.6g} it falls from {before[i]:.6g} at theta = "
                    f"{thetas[k - 1]:.6g} to {values[i]:.6g} at theta = {theta:.6g}"
                )
            before = values


DEFAULTS: dict[str, Psi] = {"quantile": Quantile(), "huber": Huber(), "logistic": Logistic()}


def as_psi(psi: Psi | str) -> Psi:
    """The object that a word stands for."""
    if isinstance(psi, str):
        return DEFAULTS[_check.choice("psi", psi, DEFAULTS)]
    if not isinstance(psi, Psi):
        raise TypeError(f"psi must be a word, Quantile, Huber, Logistic or Custom, got {type(psi).__name__}")
    return psi


# ---- prior
# --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Prior:
    """Where the estimate may be, before the records speak: a law that is uniform in the coordinate phi.

    Uniform: phi = theta in [lower, upper]. Cauchy: phi = atan((theta - centre) / scale), with the centre and the
    half-width of [lower, upper], which are its quartiles.
    """

    name: str
    lower: float
    upper: float

    @property
    def centre(self) -> float:
        return self.lower + (self.upper - self.lower) / 2

    @property
    def scale(self) -> float:
        return (self.upper - self.lower) / 2

    @property
    def ends(self) -> tuple[float, float]:
        """Of phi."""
        return (self.lower, self.upper) if self.name == "uniform" else (-math.pi / 2, math.pi / 2)

    def theta(self, phi: Floats) -> Floats:
        return phi if self.name == "uniform" else self.centre + self.scale * np.tan(phi)


# ---- samplers
# -----------------------------------------------------------------------------------------------------------


class Uniforms:
    """Numbers in (0, 1) from the stream, some at a time."""

    def __init__(self, stream: Stream) -> None:
        self.stream, self.left = stream, np.empty(0)

    def draw(self, count: int) -> list[float]:
        if len(self.left) < count:
            self.left = uniforms(self.stream, M_ESTIMATE)
        drawn, self.left = self.left[:count], self.left[count:]
        return list(drawn.tolist())


def _pick(masses: Floats, u: float) -> int:
    """Index k with chance masses[k] / sum."""
    sums = np.cumsum(masses)
    return min(int(np.searchsorted(sums, u * sums[-1], "right")), int(np.flatnonzero(masses)[-1]))


class MonotoneEM:
    """The law with density exp(-kappa |S(theta)|) with respect to the prior, S nondecreasing, between two step functions.

    On a cell of phi that does not hold the root of S the density lies between its values at the ends; on the one that
    does, below 1. Cells are split until the mass below is at least 0.9 of the mass above, which certifies the
    acceptance of a rejection sampler: no discretisation error.

    Parameters
    ----------
    total : callable
        S of an array of thetas.
    kappa : float
    prior : Prior

    Attributes
    ----------
    evaluations : int
        Of S, so far.
    """

    def __init__(self, total: Sum, kappa: float, prior: Prior) -> None:
        self.total, self.kappa, self.prior, self.evaluations = total, kappa, prior, 0
        self.phi = np.linspace(*prior.ends, 2 * SPLITS + 1)
        self.exponent = self._exponent(self.phi)
        while not self._is_tight():
            self._split()

    def _exponent(self, phi: Floats) -> Floats:
        """kappa S: its sign says on which side of the root, its size is minus the logarithm of the density."""
        self.evaluations += len(phi)
        return self.kappa * self.total(self.prior.theta(phi))

    def _is_tight(self) -> bool:
        left, right = self.exponent[:-1], self.exponent[1:]
        width = np.diff(self.phi)
        middle = self.phi[:-1] + width / 2
        # A cell without a double inside counts with the smaller of the densities at its ends: where S jumps, its value
        # at the place of the jump may stand for no interval.
        self.splits = (middle > self.phi[:-1]) & (middle < self.phi[1:])
        self.lower = -np.maximum(np.abs(left), np.abs(right))
        self.upper = np.where((left < 0) & (right > 0), 0.0, -np.minimum(np.abs(left), np.abs(right)))
        self.upper = np.where(self.splits, self.upper, self.lower)
        top = self.upper.max()
        self.above, below = width * np.exp(self.upper - top), width * np.exp(self.lower - top)
        self.gap = np.where(self.splits, self.above - below, 0.0)
        return bool(below.sum() >= ACCEPTANCE * self.above.sum())

    def _split(self) -> None:
        """In two: the cells with the largest differences of the masses, those that are not much smaller than the largest."""
        worst = np.argsort(self.gap)[-SPLITS:]
        worst = np.sort(worst[self.gap[worst] >= 0.25 * self.gap[worst[-1]]])
        middle = self.phi[worst] + (self.phi[worst + 1] - self.phi[worst]) / 2
        self.phi = np.insert(self.phi, worst + 1, middle)
        self.exponent = np.insert(self.exponent, worst + 1, self._exponent(middle))

    @property
    def certified_acceptance(self) -> float:
        """A lower bound on the share of the proposals that is kept."""
        return float(1 - self.gap.sum() / self.above.sum())

    def sample(self, draws: Uniforms) -> float:
        """One theta."""
        while True:
            u, v, w = draws.draw(3)
            k = _pick(self.above, u)
            phi = np.array([self.phi[k] + v * (self.phi[k + 1] - self.phi[k])])
            log = math.log(w) + float(self.upper[k])
            if log <= self.lower[k] or log <= -abs(float(self._exponent(phi)[0])):
                return float(self.prior.theta(phi)[0])


def m_estimate(
    x: ArrayLike,
    psi: Psi | str,
    *,
    epsilon: float,
    prior: str = "uniform",
    lower: float,
    upper: float,
    nan: str = "raise",
    rng: RNGLike = None,
) -> Estimate[float]:
    """An M-estimate of numbers that a curator holds, by the exponential mechanism: a theta with sum psi(x_i, theta) near zero.

    Its density is that of the prior times exp(-kappa |sum of psi(x_i, theta)|), kappa = epsilon / (2 width of psi).

    Parameters
    ----------
    x : array_like, shape (n,)
        Records, in any order; clipped to [lower, upper].
    psi : {"quantile", "huber", "logistic"}, Quantile, Huber, Logistic or Custom
        A word stands for the object with its defaults.
    epsilon : float
        > 0.
    prior : {"uniform", "cauchy"}
        "uniform" on [lower, upper]. "cauchy" with the centre and the half-width of it: the estimate may lie anywhere,
        half of the prior mass inside.
    lower, upper : float
        Public bounds of the records.
    nan : {"raise", "centre"}
        What becomes of records that are not finite: refused, which is outside of the guarantee, or the centre of
        [lower, upper].
    rng : None, int, SeedSequence, Generator or BitGenerator
        ``None`` draws a fresh key from the operating system, the only choice that is private.

    Returns
    -------
    estimate : Estimate
        Its standard error is infinite: no bound follows from public numbers without an assumption about the law of the
        records. `m_estimate_sample_size` and `quantile_error` say what holds with one.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range; if a psi of your own is beyond its bounds or falls in theta somewhere on a
        public grid, with the place.

    Privacy
    -------
    epsilon, pure, for the replacement of one record, ideal only: for real numbers; `central.quantile` is exact on a
    grid. Replacing a record moves the sum by at most the width of psi, hence the density by a factor of at most
    exp(epsilon / 2), and its integral too. The published kappa is twice as large, or more, and gives 2 epsilon. A psi
    of your own has to be monotone everywhere, not only where it is checked. Running time depends on the records, the
    law does not.

    Notes
    -----
    A sort, then about 100 evaluations of the sum: O(log n) each for quantiles and Huber, after O(n), and O(n) for
    others. A million records: 10 ms, 25 ms; 0.2 s for logistic.

    References
    ----------
    .. [1] K. Chaudhuri, D. Hsu, "Convergence rates for differentially private statistical estimation", ICML 2012.
    .. [2] F. McSherry, K. Talwar, "Mechanism design via differential privacy", FOCS 2007.
    """
    psi, epsilon = as_psi(psi), _level(epsilon)
    law = Prior(_check.choice("prior", prior, PRIORS), *_check.interval(lower, upper))
    if isinstance(psi, Custom):
        psi.check(np.linspace(law.lower, law.upper, PLACES), law.theta(np.linspace(*law.ends, 4 * PLACES - 3)))
    records = _records.numbers(x, law.lower, law.upper, nan)
    records.sort()
    value = MonotoneEM(psi.total(records), epsilon / (2 * psi.width), law).sample(Uniforms(open_stream(rng)))
    return Estimate(value, math.inf, len(records), Guarantee("pure", epsilon))


def _level(epsilon: float) -> float:
    number = _check.positive("epsilon", epsilon)
    if number > 1e6:
        raise ValueError(f"epsilon must be at most 1e6, got {epsilon!r}")
    return number


# ---- what holds under assumptions
# ---------------------------------------------------------------------------------------


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
    """How many records suffice for the privacy of an M-estimate to cost at most `error`.

    Parameters
    ----------
    psi : {"huber", "logistic"}, Huber, Logistic, or a `Psi` with finite `lipschitz` constants
    error : float
        > 0: |private estimate - root of the sum of psi over the records| is to be at most this.
    epsilon : float
        > 0.
    slope : float
        P > 0, the derivative of the expectation of psi at its root T, for the law of the records.
    peak : float, optional
        A bound on the density of the records; needed for Huber.
    prior : {"uniform", "cauchy"}
    lower, upper : float
        Bounds of the records, which contain the root.
    confidence : float, default 0.95
        1 - 3 eta.

    Returns
    -------
    n : int

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range, or `psi` has no such constants: those of a quantile have jumps, see
        `quantile_error`.

    Notes
    -----
    With e2 = P / (6 L2), e = min(error, e2), w the width of psi: n >= log(2 / eta) / 2 max(6 L1 / P, 3 w / (2 P e2))^2,
    so that the sum over the records has nearly the slope n P, and a root within e2 of T; n >= (8 w / (P epsilon e))
    log(6 (upper - lower) / (e eta)), so that the mechanism is within e of this root. Cauchy prior, lengths in units of
    its scale: the logarithm of (pi / eta) ((2 (1 + e2)^2 + 1) / (e / 3) + e / 6). The published 8 in the place of 16 K
    / w (w = 2 K) belongs to the mechanism that is 2 epsilon-private.

    References
    ----------
    .. [1] K. Chaudhuri, D. Hsu, "Convergence rates for differentially private statistical estimation", ICML 2012,
    theorem 4.
    """
    psi, epsilon, error = as_psi(psi), _level(epsilon), _check.positive("error", error)
    _check.choice("prior", prior, PRIORS)
    slope, (low, high) = _check.positive("slope", slope), _check.interval(lower, upper)
    eta = (1 - _check.probability("confidence", confidence)) / 3
    if not peak > 0:
        raise ValueError(f"peak must be > 0, got {peak!r}")
    l1, l2 = psi.lipschitz(peak)
    if not (math.isfinite(l1) and math.isfinite(l2)):
        raise ValueError(f"psi must have a bounded slope for this peak, got {psi!r} and peak={peak!r}")
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
    """How far from the quantile of the population a private one may be: exponential mechanism, uniform prior.

    Parameters
    ----------
    n : int
        Number of records, >= 1.
    epsilon : float
        > 0.
    density : tuple of float
        Bounds 0 < f0 <= f1 of the density of the records, as far around the quantile as the answer says.
    lower, upper : float
        Bounds of the records.
    confidence : float, default 0.95
        1 - 2 eta.

    Returns
    -------
    error : float
        (2 r + e + (2 / (n epsilon)) log((upper - lower) f1 / (2 e eta))) / f0, r = sqrt(log(2 / eta) / (2 n)), for the
        best e: 2 / (n epsilon), or where the logarithm is zero.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    References
    ----------
    .. [1] K. Chaudhuri, D. Hsu, "Convergence rates for differentially private statistical estimation", ICML 2012. Their
       theorem 4 does not cover quantiles, whose psi has no derivative.
    """
    n, epsilon, (low, high) = _check.integer("n", n, 1), _level(epsilon), _check.interval(lower, upper)
    eta = (1 - _check.probability("confidence", confidence)) / 2
    least, most = (_check.positive("density", f) for f in density)
    if least > most:
        raise ValueError(f"density must be (least, largest), got {density!r}")
    full = (high - low) * most / (2 * eta)
    e = min(2 / (n * epsilon), full)
    return (2 * math.sqrt(math.log(2 / eta) / (2 * n)) + e + 2 / (n * epsilon) * math.log(full / e)) / least
