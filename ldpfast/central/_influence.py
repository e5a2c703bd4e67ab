"""Influence functions and gross error sensitivity of estimators, for distributions and for data."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._plots import CURVES, LINES, axes
from .._typing import Floats
from ._distributions import KnownDistribution, RealFunction, as_distribution
from ._m_psi import Huber, Logistic, Quantile
from ._smooth_sensitivity import trim_share


@dataclass(frozen=True)
class ArithmeticMean:
    """Mean of a distribution.

    Examples
    --------
    >>> from ldpfast import central
    >>> central.influence(central.ArithmeticMean(), [1.0, 2.0, 3.0], 5.0)
    3.0
    """


@dataclass(frozen=True)
class TrimmedMean:
    """Mean of the values between the quantiles of `trim` and 1 - `trim`.

    Parameters
    ----------
    trim : float, default 0.1
        Share that is left out on each side, in [0, 1/2).

    Raises
    ------
    TypeError, ValueError
        If `trim` is out of range.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> from ldpfast import central
    >>> round(central.gross_error_sensitivity(central.TrimmedMean(0.1), norm()), 3)
    1.602
    """

    trim: float = 0.1

    def __post_init__(self) -> None:
        object.__setattr__(self, "trim", trim_share(self.trim))


Functional: TypeAlias = ArithmeticMean | TrimmedMean | Quantile | Huber | Logistic
FUNCTIONALS: dict[str, Functional] = {
    "mean": ArithmeticMean(),
    "median": Quantile(),
    "trimmed-mean": TrimmedMean(),
    "huber": Huber(),
    "logistic": Logistic(),
}


def as_functional(functional: Functional | str) -> Functional:
    """Return the functional with the given name, or a functional unchanged."""
    if isinstance(functional, str):
        return FUNCTIONALS[_check.choice("functional", functional, FUNCTIONALS)]
    if not isinstance(functional, Functional):
        raise TypeError(
            "functional must be a string, ArithmeticMean, TrimmedMean, Quantile, Huber or Logistic, got "
            + type(functional).__name__
        )
    return functional


def _unit(psi: Huber | Logistic) -> float:
    """Return the parameter of psi that has the unit of the records."""
    return psi.c if isinstance(psi, Huber) else psi.scale


def _limit_influence(functional: Functional, distribution: KnownDistribution) -> Callable[[Floats], Floats]:
    """Return the influence function: the limit for rho = 0, in closed form up to quantities of the distribution."""
    if isinstance(functional, ArithmeticMean):
        mean = distribution.mean()
        return lambda x: x - mean
    if isinstance(functional, Quantile):
        quantile, q = distribution.quantile(functional.q), functional.q
        density = distribution.density(quantile)
        if not density > 0:
            raise ValueError(f"distribution must have a density > 0 at the quantile, got {density:.6g}")
        return lambda x: np.where(x < quantile, q - 1, np.where(x > quantile, q, 0.0)) / density
    if isinstance(functional, TrimmedMean):
        a = functional.trim
        if a == 0:
            return _limit_influence(ArithmeticMean(), distribution)
        whole = distribution.quantile_integral(a, 1 - a)
        ends = [distribution.quantile(u, right) for u in (a, 1 - a) for right in (False, True)]

        def trimmed(x: Floats) -> Floats:
            low, high = np.clip(x, ends[0], ends[1]), np.clip(x, ends[2], ends[3])
            return np.asarray((np.clip(x, low, high) - whole - a * (low + high)) / (1 - 2 * a))

        return trimmed
    root = _root(functional, distribution.expectation(functional), distribution)
    slope = distribution.slope(functional, root)
    if not slope > 0:
        raise ValueError(f"distribution must give the expectation of psi a slope > 0 at its root, got {slope:.6g}")
    return lambda x: -functional(x, root) / slope


def _finite_influence(
    functional: Functional, distribution: KnownDistribution, rho: float
) -> Callable[[Floats], Floats]:
    """Return the influence for rho > 0: (T((1 - rho) F + rho delta_x) - T(F)) / rho."""
    if isinstance(functional, ArithmeticMean):
        return _limit_influence(functional, distribution)
    if isinstance(functional, Quantile):
        u = functional.q
        # The quantile of the mixture is x, clipped to its quantiles with the added mass far below and far above.
        low, high = distribution.quantile((u - rho) / (1 - rho)), distribution.quantile(u / (1 - rho))
        low = low if u > rho else -math.inf
        high = high if u <= 1 - rho else math.inf
        quantile = distribution.quantile(u)
        return lambda x: (np.clip(x, low, high) - quantile) / rho
    if isinstance(functional, TrimmedMean):
        a = functional.trim
        if a == 0:
            return _limit_influence(ArithmeticMean(), distribution)
        before, left = distribution.quantile_integral(a, 1 - a) / (1 - 2 * a), 1 - rho

        def mixture(x: float) -> float:
            """Return the influence at x.

            The quantile function of the mixture follows F below and above x, and is constant on an interval of length
            rho.
            """
            edge = float(distribution.cdf(np.array(x)))
            first, last = min(max(a, left * edge), 1 - a), min(max(a, left * edge + rho), 1 - a)
            middle = (last - first) * x if last > first else 0.0
            outer = distribution.quantile_integral(a / left, first / left) + distribution.quantile_integral(
                (last - rho) / left, (1 - a - rho) / left
            )
            return ((middle + left * outer) / (1 - 2 * a) - before) / rho

        return lambda x: np.array([mixture(value) for value in x.ravel().tolist()]).reshape(x.shape)

    expectation = distribution.expectation(functional)
    start = _root(functional, expectation, distribution)

    def moved(x: float) -> float:
        if math.isinf(x) and rho >= 0.5:  # the breakdown point of psi
            return x
        root = _root(
            functional, lambda theta: (1 - rho) * expectation(theta) + rho * float(functional(x, theta)), distribution
        )
        return (root - start) / rho

    return lambda x: np.array([moved(value) for value in x.ravel().tolist()]).reshape(x.shape)


def _root(psi: Huber | Logistic, expectation: RealFunction, distribution: KnownDistribution) -> float:
    """Return the root of the expectation of psi; of several roots, the middle.

    The root is bracketed around the median with steps that double.
    """
    from scipy.optimize import brentq

    center, step = distribution.quantile(0.5), _unit(psi)
    small = 1e-13 * psi.bounds[1]
    step = max(step, math.ulp(center))
    while math.isfinite(2 * step):
        low, high = center - step, center + step
        if expectation(low) < -small and expectation(high) > small:
            least = 1e-14 * (step + abs(center))
            edges = [
                brentq(lambda t, by=by: expectation(t) + by, low, high, xtol=least, rtol=1e-14)
                for by in (small, -small)
            ]
            return float(edges[0] + edges[1]) / 2
        step *= 2
    raise ValueError("distribution must give the expectation of psi a root")


def influence(functional: Functional | str, distribution: Any, x: ArrayLike, rho: float = 0.0) -> Any:
    """Return the influence function of an estimator. For data, it is NOT PRIVATE and must not be released.

    It is (T((1 - rho) F + rho delta_x) - T(F)) / rho, and its limit for rho = 0.

    Parameters
    ----------
    functional : {"mean", "median", "trimmed-mean", "huber", "logistic"} or a functional
        Estimator T: an ArithmeticMean, Quantile, TrimmedMean, Huber or Logistic. A string selects the one with default
        parameters.
    distribution : frozen continuous distribution of scipy.stats, or array_like of shape (n,)
        Distribution F. An array stands for the distribution of a record drawn from it.
    x : array_like
        Values of the added record, of any shape; may be infinite.
    rho : float, default 0.0
        Share of the added mass, in [0, 1).

    Returns
    -------
    influence : float or ndarray
        Influence of each value, of the shape of `x`.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range, or the influence function does not exist: for the mean of a distribution without
        one, or a quantile of data at rho = 0.

    Privacy
    -------
    None if `distribution` is data.

    Notes
    -----
    For rho = 0, for the mean and for quantiles there are closed forms, up to quantities of the distribution that are
    computed by quadrature. Otherwise a trimmed mean requires two integrals for each x, and an M-estimator a root. The
    influence of a quantile at its jump is set to zero. If an M-estimator has several roots, the middle is used.

    References
    ----------
    .. [1] F. R. Hampel, "The influence curve and its role in robust estimation", JASA 69 (1974).
    .. [2] K. Chaudhuri, D. Hsu, "Convergence rates for differentially private statistical estimation", ICML 2012.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> from ldpfast import central
    >>> central.influence("mean", norm(), [-3.0, 0.0, 3.0]).tolist()
    [-3.0, 0.0, 3.0]
    >>> central.influence("median", norm(), [-3.0, 3.0]).round(3).tolist()
    [-1.253, 1.253]
    """
    points = np.asarray(_check.floats("x", _check.reals("x", x)), np.float64)
    if np.isnan(points).any():
        raise ValueError("x must be numbers, got nan")
    values = _function(functional, distribution, rho)(points)
    return float(values) if points.ndim == 0 else values


def _function(functional: Functional | str, distribution: Any, rho: float) -> Callable[[Floats], Floats]:
    """Return the influence as a function of x, after checks of the arguments."""
    rho = _check.real("rho", rho)
    if not 0 <= rho < 1:
        raise ValueError(f"rho must be in [0, 1), got {rho!r}")
    chosen, known = as_functional(functional), as_distribution(distribution)
    return _finite_influence(chosen, known, rho) if rho else _limit_influence(chosen, known)


def gross_error_sensitivity(
    functional: Functional | str,
    distribution: Any,
    rho: float = 0.0,
    *,
    lower: float = -math.inf,
    upper: float = math.inf,
) -> float:
    """Return the largest influence of an added record. For data, it is NOT PRIVATE and must not be released.

    Parameters
    ----------
    functional, distribution, rho
        As for `influence`.
    lower, upper : float
        Range of the added record; infinite by default.

    Returns
    -------
    sensitivity : float
        Supremum over x of \\|influence\\|; infinite for the mean without bounds.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range, or the influence function does not exist.

    Privacy
    -------
    None if `distribution` is data.

    Notes
    -----
    All these functionals are monotone in x, so the supremum is at one of the ends.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> from ldpfast import central
    >>> round(central.gross_error_sensitivity("median", norm()), 3)
    1.253
    >>> central.gross_error_sensitivity("mean", norm())
    inf
    """
    low, high = (float(end) if math.isinf(end) else _check.real("lower and upper", end) for end in (lower, upper))
    if not low < high:
        raise ValueError(f"lower and upper must satisfy lower < upper, got {lower!r} and {upper!r}")
    return float(np.abs(_function(functional, distribution, rho)(np.array([low, high]))).max())


def plot_influence(
    functionals: Sequence[Functional | str],
    distribution: Any,
    *,
    lower: float,
    upper: float,
    rho: float = 0.0,
    ax: Any = None,
) -> Any:
    """Plot influence functions. For data, the plot is NOT PRIVATE and must not be released.

    Parameters
    ----------
    functionals : sequence
        Estimators, as for `influence`.
    distribution, rho
        As for `influence`.
    lower, upper : float
        Ends of the horizontal axis.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; new ones by default.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range, or an influence function does not exist.
    ImportError
        If matplotlib is not installed (extra "plot").

    Privacy
    -------
    None if `distribution` is data.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> from ldpfast import central
    >>> ax = central.plot_influence(["median", "huber"], norm(), lower=-4, upper=4)
    >>> ax.get_xlabel()
    'value of the added record (unit of the records)'
    """
    low, high = _check.interval(lower, upper)
    curves = [(as_functional(functional), _function(functional, distribution, rho)) for functional in functionals]
    ax = axes(ax)
    points = np.linspace(low, high, 401)
    ax.axhline(0, color="0.7", linewidth=0.8)
    for k, (functional, function) in enumerate(curves):
        style = {"color": CURVES[k % len(CURVES)], "linestyle": LINES[k % len(LINES)]}
        ax.plot(points, function(points), label=repr(functional), **style)
    ax.set_xlim(low, high)
    ax.set_xlabel("value of the added record (unit of the records)")
    name = "influence" if rho == 0 else f"influence of a share of {rho:g}"
    ax.set_ylabel(f"{name} (unit of the estimate)")
    ax.legend()
    return ax
