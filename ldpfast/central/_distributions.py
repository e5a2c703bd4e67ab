"""Distributions of records, continuous or given by data, with what influence functions require of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._typing import Floats
from ._m_psi import Huber, Logistic

RealFunction: TypeAlias = Callable[[float], float]
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)


class KnownDistribution(ABC):
    """Distribution F, with what the functionals require of it."""

    @abstractmethod
    def mean(self) -> float: ...

    @abstractmethod
    def cdf(self, x: Floats) -> Floats:
        """Return F(x)."""

    @abstractmethod
    def quantile(self, u: float, right: bool = False) -> float:
        """Return the least t with F(t) >= u, or (`right`) the limit of these values from above u."""

    @abstractmethod
    def quantile_integral(self, low: float, high: float) -> float:
        """Return the integral of the quantile function over [low, high]."""

    @abstractmethod
    def density(self, x: float) -> float: ...

    @abstractmethod
    def expectation(self, psi: Huber | Logistic) -> RealFunction:
        """Return the expectation of psi(X, theta) as a function of theta."""

    @abstractmethod
    def slope(self, psi: Huber | Logistic, theta: float) -> float:
        """Return the derivative of the expectation in theta."""


class Quadrature:
    """Gauss quadrature rules for integrals over probabilities.

    The interval (0, 1) is divided into pieces that halve toward 0 and 1. Each piece is divided into `cuts` parts of
    equal width.
    """

    def __init__(self, cuts: int) -> None:
        halves = 2.0 ** -np.arange(1, 61)
        ends = np.unique(np.concatenate([halves, 1 - halves[:52]]))
        self.edges = np.append((ends[:-1, None] + np.diff(ends)[:, None] * np.arange(cuts) / cuts).ravel(), ends[-1])
        half = np.diff(self.edges)[:, None] / 2
        self.u, self.weights = self.edges[:-1, None] + half * (1 + NODES), half * WEIGHTS


class Continuous(KnownDistribution):
    """Frozen continuous distribution of scipy.stats.

    Expectations are integrals over its quantile function, so their accuracy does not depend on its scale.
    """

    def __init__(self, distribution: Any) -> None:
        self.frozen, self.rule = distribution, Quadrature(4)
        parts = (self.frozen.ppf(self.rule.u) * self.rule.weights).sum(1)
        self.cumulative = np.concatenate([[0.0], np.cumsum(parts)])

    def mean(self) -> float:
        mean = float(self.frozen.mean())
        if not math.isfinite(mean):
            raise ValueError(f"distribution must have a finite mean, got {mean}")
        return mean

    def cdf(self, x: Floats) -> Floats:
        return np.asarray(self.frozen.cdf(x), np.float64)

    def quantile(self, u: float, right: bool = False) -> float:
        return float(self.frozen.ppf(min(max(u, 0.0), 1.0)))

    def quantile_integral(self, low: float, high: float) -> float:
        return self._up_to(high) - self._up_to(low) if low < high else 0.0

    def _up_to(self, u: float) -> float:
        edges = self.rule.edges
        k = min(max(int(np.searchsorted(edges, u, "right")) - 1, 0), len(edges) - 2)
        half = (min(max(u, edges[0]), edges[-1]) - edges[k]) / 2
        return float(self.cumulative[k] + half * (WEIGHTS * self.frozen.ppf(edges[k] + half * (1 + NODES))).sum())

    def density(self, x: float) -> float:
        return float(self.frozen.pdf(x))

    def expectation(self, psi: Huber | Logistic) -> RealFunction:
        if isinstance(psi, Logistic):
            x, weights = self._nodes(psi)
            return lambda theta: float((weights * psi(x, theta)).sum())
        c = psi.c

        def huber(theta: float) -> float:
            low, high = float(self.frozen.cdf(theta - c)), float(self.frozen.cdf(theta + c))
            return c * (low + high - 1) + theta * (high - low) - self.quantile_integral(low, high)

        return huber

    def slope(self, psi: Huber | Logistic, theta: float) -> float:
        if isinstance(psi, Huber):
            return float(self.frozen.cdf(theta + psi.c) - self.frozen.cdf(theta - psi.c))
        x, weights = self._nodes(psi)
        return float((weights * (1 - psi(x, theta) ** 2)).sum()) / (2 * psi.scale)

    def _nodes(self, psi: Logistic) -> tuple[Floats, Floats]:
        """Return quadrature nodes and weights, closer together for a psi that is steep relative to the distribution."""
        spread = self.quantile(0.75) - self.quantile(0.25)
        rule = Quadrature(min(256, 4 * math.ceil(max(1.0, spread / psi.scale))))
        return self.frozen.ppf(rule.u), rule.weights


class EmpiricalDistribution(KnownDistribution):
    """Distribution of a record drawn from data."""

    def __init__(self, x: ArrayLike) -> None:
        records = _check.floats("distribution", _check.array("distribution", x)).astype(np.float64)
        if records.ndim != 1 or len(records) == 0:
            raise ValueError(f"distribution must have shape (n,) with n >= 1 if it is data, got shape {records.shape}")
        bad = ~np.isfinite(records)
        if bad.any():
            raise _check.invalid("distribution", "finite numbers", int(bad.argmax()), int(bad.sum()), len(bad))
        self.x = np.sort(records)
        self.sums = np.concatenate([[0.0], np.cumsum(self.x)])

    def mean(self) -> float:
        return float(self.x.mean())

    def cdf(self, x: Floats) -> Floats:
        return np.searchsorted(self.x, x, "right") / len(self.x)

    def quantile(self, u: float, right: bool = False) -> float:
        place = u * len(self.x)
        whole = round(place)
        if abs(place - whole) > 1e-9:  # between two jumps
            right, whole = False, math.ceil(place)
        rank = whole + right
        return float(self.x[min(max(rank, 1), len(self.x)) - 1])

    def quantile_integral(self, low: float, high: float) -> float:
        def up_to(u: float) -> float:
            place = min(max(u, 0.0), 1.0) * len(self.x)
            whole = min(int(place), len(self.x) - 1)
            return float(self.sums[whole] + (place - whole) * self.x[whole]) / len(self.x)

        return up_to(high) - up_to(low) if low < high else 0.0

    def density(self, x: float) -> float:
        raise ValueError("rho must be > 0 for a quantile of data, which have no density")

    def expectation(self, psi: Huber | Logistic) -> RealFunction:
        total = psi.total(self.x)
        return lambda theta: float(total(np.array([theta]))[0]) / len(self.x)

    def slope(self, psi: Huber | Logistic, theta: float) -> float:
        if isinstance(psi, Huber):
            return float((np.abs(self.x - theta) < psi.c).mean())
        return float((1 - psi(self.x, theta) ** 2).mean()) / (2 * psi.scale)


def as_distribution(distribution: Any) -> KnownDistribution:
    """Return the distribution for a frozen distribution of scipy.stats, or for data."""
    if hasattr(distribution, "ppf"):
        if not hasattr(distribution, "dist") or not hasattr(distribution.dist, "pdf"):
            given = type(distribution).__name__
            raise TypeError(
                f"distribution must be a frozen continuous distribution of scipy.stats, or data, got {given}"
            )
        return Continuous(distribution)
    return EmpiricalDistribution(distribution)
