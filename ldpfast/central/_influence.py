"""What one record can do to a statistic: influence functions and gross error sensitivity, of laws and of data."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._plots import BLUE, GREEN, ORANGE, PURPLE, VERMILION, axes
from .._typing import Floats
from ._m_estimate import Huber, Logistic, Quantile
from ._smooth import trim_share

COLORS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE)


@dataclass(frozen=True)
class Mean:
    """The mean."""


@dataclass(frozen=True)
class TrimmedMean:
    """The mean of what lies between the quantiles of `trim` and 1 - `trim`.

    Parameters
    ----------
    trim : float, default 0.1
        In [0, 1/2).

    Raises
    ------
    TypeError, ValueError
        If `trim` is out of range.
    """

    trim: float = 0.1

    def __post_init__(self) -> None:
        trim_share(self.trim)


Curve: TypeAlias = Callable[[float], float]
Functional: TypeAlias = Mean | TrimmedMean | Quantile | Huber | Logistic
FUNCTIONALS: dict[str, Functional] = {
    "mean": Mean(),
    "median": Quantile(),
    "trimmed-mean": TrimmedMean(),
    "huber": Huber(),
    "logistic": Logistic(),
}


def as_functional(functional: Functional | str) -> Functional:
    """The object that a word stands for."""
    if isinstance(functional, str):
        return FUNCTIONALS[_check.choice("functional", functional, FUNCTIONALS)]
    if not isinstance(functional, Functional):
        raise TypeError(
            "functional must be a word, Mean, TrimmedMean, Quantile, Huber or Logistic, got "
            + type(functional).__name__
        )
    return functional


# ---- laws
# ---------------------------------------------------------------------------------------------------------------


class Law(ABC):
    """What the functionals have to know about F."""

    @abstractmethod
    def mean(self) -> float: ...

    @abstractmethod
    def below(self, x: Floats) -> Floats:
        """F(x)."""

    @abstractmethod
    def quantile(self, u: float, right: bool = False) -> float:
        """The least t with F(t) >= u, or (`right`) the limit of that from above u."""

    @abstractmethod
    def part(self, low: float, high: float) -> float:
        """The integral of the quantile function over [low, high]."""

    @abstractmethod
    def density(self, x: float) -> float: ...

    @abstractmethod
    def expectation(self, psi: Huber | Logistic) -> Curve:
        """Of psi(x, theta), as a function of theta."""

    @abstractmethod
    def slope(self, psi: Huber | Logistic, theta: float) -> float:
        """The derivative of that in theta."""


NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)


class Places:
    """Gauss rules for integrals over probabilities: pieces that halve toward 0 and 1, each cut into `cuts` of one width."""

    def __init__(self, cuts: int) -> None:
        halves = 2.0 ** -np.arange(1, 61)
        ends = np.unique(np.concatenate([halves, 1 - halves[:52]]))
        self.edges = np.append((ends[:-1, None] + np.diff(ends)[:, None] * np.arange(cuts) / cuts).ravel(), ends[-1])
        half = np.diff(self.edges)[:, None] / 2
        self.u, self.weights = self.edges[:-1, None] + half * (1 + NODES), half * WEIGHTS


class Continuous(Law):
    """A frozen continuous distribution of scipy.stats. Expectations are integrals over its quantile function, so that its own
    scale does not matter."""

    def __init__(self, law: Any) -> None:
        self.law, self.places = law, Places(4)
        parts = (self.law.ppf(self.places.u) * self.places.weights).sum(1)
        self.cumulated = np.concatenate([[0.0], np.cumsum(parts)])

    def mean(self) -> float:
        mean = float(self.law.mean())
        if not math.isfinite(mean):
            raise ValueError("law must have a finite mean")
        return mean

    def below(self, x: Floats) -> Floats:
        return np.asarray(self.law.cdf(x), np.float64)

    def quantile(self, u: float, right: bool = False) -> float:
        return float(self.law.ppf(min(max(u, 0.0), 1.0)))

    def part(self, low: float, high: float) -> float:
        return self._up_to(high) - self._up_to(low) if low < high else 0.0

    def _up_to(self, u: float) -> float:
        edges = self.places.edges
        k = min(max(int(np.searchsorted(edges, u, "right")) - 1, 0), len(edges) - 2)
        half = (min(max(u, edges[0]), edges[-1]) - edges[k]) / 2
        return float(self.cumulated[k] + half * (WEIGHTS * self.law.ppf(edges[k] + half * (1 + NODES))).sum())

    def density(self, x: float) -> float:
        return float(self.law.pdf(x))

    def expectation(self, psi: Huber | Logistic) -> Curve:
        if isinstance(psi, Logistic):
            x, weights = self._nodes(psi)
            return lambda theta: float((weights * psi(x, theta)).sum())
        c = psi.c

        def huber(theta: float) -> float:
            low, high = float(self.law.cdf(theta - c)), float(self.law.cdf(theta + c))
            return c * (low + high - 1) + theta * (high - low) - self.part(low, high)

        return huber

    def slope(self, psi: Huber | Logistic, theta: float) -> float:
        if isinstance(psi, Huber):
            return float(self.law.cdf(theta + psi.c) - self.law.cdf(theta - psi.c))
        x, weights = self._nodes(psi)
        return float((weights * (1 - psi(x, theta) ** 2)).sum()) / (2 * psi.scale)

    def _nodes(self, psi: Logistic) -> tuple[Floats, Floats]:
        """Closer to each other where psi is steep against the law."""
        spread = self.quantile(0.75) - self.quantile(0.25)
        places = Places(min(256, 4 * math.ceil(max(1.0, spread / psi.scale))))
        return self.law.ppf(places.u), places.weights


class Sample(Law):
    """The law of a record drawn from data."""

    def __init__(self, x: ArrayLike) -> None:
        records = _check.floats("law", _check.array("law", x)).astype(np.float64)
        if records.ndim != 1 or len(records) == 0:
            raise ValueError(f"law must have shape (n,), n at least 1, where it is data, got shape {records.shape}")
        bad = ~np.isfinite(records)
        if bad.any():
            raise _check.invalid("law", "finite numbers", int(bad.argmax()), int(bad.sum()), len(bad))
        self.x = np.sort(records)
        self.sums = np.concatenate([[0.0], np.cumsum(self.x)])

    def mean(self) -> float:
        return float(self.x.mean())

    def below(self, x: Floats) -> Floats:
        return np.searchsorted(self.x, x, "right") / len(self.x)

    def quantile(self, u: float, right: bool = False) -> float:
        place = u * len(self.x)
        whole = round(place)
        if abs(place - whole) > 1e-9:  # between two jumps
            right, whole = False, math.ceil(place)
        rank = whole + right
        return float(self.x[min(max(rank, 1), len(self.x)) - 1])

    def part(self, low: float, high: float) -> float:
        def up_to(u: float) -> float:
            place = min(max(u, 0.0), 1.0) * len(self.x)
            whole = min(int(place), len(self.x) - 1)
            return float(self.sums[whole] + (place - whole) * self.x[whole]) / len(self.x)

        return up_to(high) - up_to(low) if low < high else 0.0

    def density(self, x: float) -> float:
        raise ValueError("rho must be > 0 for a quantile of data, whose law has no density")

    def expectation(self, psi: Huber | Logistic) -> Curve:
        total = psi.total(self.x)
        return lambda theta: float(total(np.array([theta]))[0]) / len(self.x)

    def slope(self, psi: Huber | Logistic, theta: float) -> float:
        if isinstance(psi, Huber):
            return float((np.abs(self.x - theta) < psi.c).mean())
        return float((1 - psi(self.x, theta) ** 2).mean()) / (2 * psi.scale)


def _unit(psi: Huber | Logistic) -> float:
    return psi.c if isinstance(psi, Huber) else psi.scale


def as_law(law: Any) -> Law:
    """A frozen distribution, or data."""
    if hasattr(law, "ppf"):
        if not hasattr(law, "dist") or not hasattr(law.dist, "pdf"):
            raise TypeError("law must be a frozen continuous distribution of scipy.stats, or data")
        return Continuous(law)
    return Sample(law)


# ---- functionals
# --------------------------------------------------------------------------------------------------------


def _at_zero(functional: Functional, law: Law) -> Callable[[Floats], Floats]:
    """The influence function, in closed form up to what has to be known about the law."""
    if isinstance(functional, Mean):
        mean = law.mean()
        return lambda x: x - mean
    if isinstance(functional, Quantile):
        at, q = law.quantile(functional.q), functional.q
        density = law.density(at)
        if not density > 0:
            raise ValueError("law must have a density > 0 at the quantile")
        return lambda x: np.where(x < at, q - 1, np.where(x > at, q, 0.0)) / density
    if isinstance(functional, TrimmedMean):
        a = functional.trim
        if a == 0:
            return _at_zero(Mean(), law)
        whole = law.part(a, 1 - a)
        ends = [law.quantile(u, right) for u in (a, 1 - a) for right in (False, True)]

        def trimmed(x: Floats) -> Floats:
            low, high = np.clip(x, ends[0], ends[1]), np.clip(x, ends[2], ends[3])
            return np.asarray((np.clip(x, low, high) - whole - a * (low + high)) / (1 - 2 * a))

        return trimmed
    root = _root(functional, law.expectation(functional), law)
    slope = law.slope(functional, root)
    if not slope > 0:
        raise ValueError("law must leave the expectation of psi a slope > 0 at its root")
    return lambda x: -functional(x, root) / slope


def _at_scale(functional: Functional, law: Law, rho: float) -> Callable[[Floats], Floats]:
    """(T((1 - rho) F + rho delta_x) - T(F)) / rho."""
    if isinstance(functional, Mean):
        return _at_zero(functional, law)
    if isinstance(functional, Quantile):
        u = functional.q
        # The quantile of the mixture is x, moved into what is between those without x below and with all of rho below.
        low, high = law.quantile((u - rho) / (1 - rho)), law.quantile(u / (1 - rho))
        low = low if u > rho else -math.inf
        high = high if u <= 1 - rho else math.inf
        at = law.quantile(u)
        return lambda x: (np.clip(x, low, high) - at) / rho
    if isinstance(functional, TrimmedMean):
        a = functional.trim
        if a == 0:
            return _at_zero(Mean(), law)
        before, left = law.part(a, 1 - a) / (1 - 2 * a), 1 - rho

        def mixture(x: float) -> float:
            """Of the mixture quantile function: F's below x, x on a piece of length rho, F's above."""
            edge = float(law.below(np.array(x)))
            first, last = min(max(a, left * edge), 1 - a), min(max(a, left * edge + rho), 1 - a)
            middle = (last - first) * x if last > first else 0.0
            outer = law.part(a / left, first / left) + law.part((last - rho) / left, (1 - a - rho) / left)
            return ((middle + left * outer) / (1 - 2 * a) - before) / rho

        return lambda x: np.array([mixture(value) for value in x.ravel().tolist()]).reshape(x.shape)

    expectation = law.expectation(functional)
    start = _root(functional, expectation, law)

    def moved(x: float) -> float:
        if math.isinf(x) and rho >= 0.5:  # psi has no more weight on the side of F
            return x
        root = _root(functional, lambda theta: (1 - rho) * expectation(theta) + rho * float(functional(x, theta)), law)
        return (root - start) / rho

    return lambda x: np.array([moved(value) for value in x.ravel().tolist()]).reshape(x.shape)


def _root(psi: Huber | Logistic, expectation: Curve, law: Law) -> float:
    """Where it is zero, the middle of such places: from the median on, in steps that double, then between two of them."""
    from scipy.optimize import brentq

    centre, step = law.quantile(0.5), _unit(psi)
    small = 1e-13 * psi.bounds[1]
    step = max(step, math.ulp(centre))
    while math.isfinite(2 * step):
        low, high = centre - step, centre + step
        if expectation(low) < -small and expectation(high) > small:
            least = 1e-14 * (step + abs(centre))
            edges = [
                brentq(lambda t, by=by: expectation(t) + by, low, high, xtol=least, rtol=1e-14)
                for by in (small, -small)
            ]
            return float(edges[0] + edges[1]) / 2
        step *= 2
    raise ValueError("law must have a root of the expectation of psi")


def influence(functional: Functional | str, law: Any, x: ArrayLike, rho: float = 0.0) -> Any:
    """The influence function; of data, NOT PRIVATE: numbers about these very records, never to be released.

    (T((1 - rho) F + rho delta_x) - T(F)) / rho, and its limit for rho = 0.

    Parameters
    ----------
    functional : {"mean", "median", "trimmed-mean", "huber", "logistic"}, Mean, Quantile, TrimmedMean, Huber or Logistic
        T; a word stands for the object with its defaults.
    law : frozen continuous distribution of scipy.stats, or array_like of shape (n,)
        F; data stand for the law of a record drawn from them.
    x : array_like
        Places of the added mass, of any shape; may be infinite.
    rho : float, default 0.0
        Share of the added mass, in [0, 1).

    Returns
    -------
    influence : float or ndarray
        Of the shape of `x`.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range; if the functional has no influence function there: the mean of a law without
        one, a quantile of data at rho = 0.

    Privacy
    -------
    None, where `law` is data.

    Notes
    -----
    Closed forms for rho = 0, the mean and quantiles, up to what has to be known of the law, by quadrature. Otherwise
    trimmed means take two integrals for each x, and M-estimators a root. At its jump the influence of a quantile is
    taken as zero; of several roots of an M-estimator, the middle.

    References
    ----------
    .. [1] F. R. Hampel, "The influence curve and its role in robust estimation", JASA 69 (1974).
    .. [2] K. Chaudhuri, D. Hsu, "Convergence rates for differentially private statistical estimation", ICML 2012.
    """
    places = np.asarray(_check.floats("x", _check.array("x", x)), np.float64)
    if np.isnan(places).any():
        raise ValueError("x must be numbers, got nan")
    values = _function(functional, law, rho)(places)
    return float(values) if places.ndim == 0 else values


def _function(functional: Functional | str, law: Any, rho: float) -> Callable[[Floats], Floats]:
    rho = _check.real("rho", rho)
    if not 0 <= rho < 1:
        raise ValueError(f"rho must be in [0, 1), got {rho!r}")
    chosen, known = as_functional(functional), as_law(law)
    return _at_scale(chosen, known, rho) if rho else _at_zero(chosen, known)


def gross_error_sensitivity(
    functional: Functional | str,
    law: Any,
    rho: float = 0.0,
    *,
    lower: float = -math.inf,
    upper: float = math.inf,
) -> float:
    """The largest influence of an added record; of data, NOT PRIVATE: a number about these very records, never to be released.

    Parameters
    ----------
    functional, law, rho
        As for `influence`.
    lower, upper : float
        Between which the record lies; by default anywhere.

    Returns
    -------
    sensitivity : float
        sup over x of \\|influence\\|; infinite for the mean without bounds.

    Raises
    ------
    TypeError, ValueError
        As `influence`; if not lower < upper.

    Privacy
    -------
    None, where `law` is data.

    Notes
    -----
    All these functionals are monotone in x: the supremum is at one of the ends.
    """
    low, high = (float(end) if math.isinf(end) else _check.real("lower and upper", end) for end in (lower, upper))
    if not low < high:
        raise ValueError(f"lower and upper must have lower < upper, got {lower!r} and {upper!r}")
    return float(np.abs(_function(functional, law, rho)(np.array([low, high]))).max())


def plot_influence(
    functionals: Sequence[Functional | str],
    law: Any,
    *,
    lower: float,
    upper: float,
    rho: float = 0.0,
    ax: Any = None,
) -> Any:
    """Draw influence functions; of data, NOT PRIVATE: a picture of these very records, never to be released.

    Parameters
    ----------
    functionals : sequence
        As for `influence`.
    law, rho
        As for `influence`.
    lower, upper : float
        Ends of the axis.
    ax : matplotlib.axes.Axes, optional
        By default a new one.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError
        As `influence`.
    ImportError
        If matplotlib is not installed (extra "plot").

    Privacy
    -------
    None, where `law` is data.
    """
    low, high = _check.interval(lower, upper)
    curves = [(as_functional(functional), _function(functional, law, rho)) for functional in functionals]
    ax = axes(ax)
    places = np.linspace(low, high, 401)
    ax.axhline(0, color="0.7", linewidth=0.8)
    for k, (functional, function) in enumerate(curves):
        ax.plot(places, function(places), color=COLORS[k % len(COLORS)], label=repr(functional))
    ax.set_xlim(low, high)
    ax.set_xlabel("place of the added record")
    ax.set_ylabel("influence" if rho == 0 else f"influence of a share of {rho:g}")
    ax.legend()
    return ax
