"""Estimated densities on an interval: functions with a band."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._plots import BLUE, SKY, axes
from .._typing import Floats
from ..results import Estimate
from ._frequencies import project_simplex

POINTS = 4096  # of the grid on which the projection is found


@dataclass(frozen=True, eq=False, repr=False)
class DensityEstimate(Estimate[Floats]):
    """An estimated density: call it on points.

    Attributes
    ----------
    lower, upper : float
        The interval; the density is zero elsewhere.
    """

    lower: float = 0.0
    upper: float = 1.0

    def __call__(self, points: ArrayLike) -> Any:
        """The estimated density, unbiased up to what the series or the bins cannot resolve; it may be negative.

        Parameters
        ----------
        points : array_like of float
            Of any shape.

        Returns
        -------
        density : float or ndarray
            Of the shape of `points`; zero outside of [lower, upper].

        Raises
        ------
        TypeError
            If they are not real numbers.
        """
        return self._on(points, self._density)

    def band(self, points: ArrayLike, confidence: float = 0.95, simultaneous: bool = False) -> tuple[Any, Any]:
        """Limits of the density, as far as the series or the bins resolve it: bias is not included.

        Parameters
        ----------
        points : array_like of float
        confidence : float, default 0.95
        simultaneous : bool, default False
            Whether they hold on the whole interval together.

        Returns
        -------
        low, high : float or ndarray
            Of the shape of `points`; zero outside of [lower, upper].

        Raises
        ------
        TypeError, ValueError
            If `points` are not real numbers, or `confidence` not in (0, 1).
        """
        tail = (1 - _check.probability("confidence", confidence)) / 2
        limits = self._limits(tail, simultaneous)
        return self._on(points, limits[0]), self._on(points, limits[1])

    def project(self) -> ProjectedDensity:
        """The nearest density: max(f - tau, 0), with tau such that it integrates to one. Never farther from the truth in
        integrated squared error, up to the grid of 4096 places on which tau is found."""
        step = (self.upper - self.lower) / POINTS
        places = self.lower + step * (np.arange(POINTS) + 0.5)
        heights = np.asarray(self(places))
        projected = project_simplex(heights * step) / step
        kept = projected > 0
        return ProjectedDensity(self, float((heights[kept] - projected[kept]).mean()))

    def plot(self, ax: Any = None, *, confidence: float = 0.95, simultaneous: bool = True) -> Any:
        """Draw the density and its band.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            By default a new one.
        confidence, simultaneous
            Of the band.

        Returns
        -------
        ax : matplotlib.axes.Axes

        Raises
        ------
        ImportError
            If matplotlib is not installed (extra "plot").
        """
        ax = axes(ax)
        step = (self.upper - self.lower) / 1000
        places = self.lower + step * (np.arange(1000) + 0.5)
        low, high = self.band(places, confidence, simultaneous)
        kind = "simultaneous" if simultaneous else "pointwise"
        ax.fill_between(places, low, high, color=SKY, alpha=0.35, linewidth=0, label=f"{100 * confidence:g} %, {kind}")
        ax.plot(places, self(places), color=BLUE, label=f"private estimate, n = {self.n:,}")
        ax.set_xlim(self.lower, self.upper)
        ax.set_ylabel("density")
        ax.legend()
        return ax

    def _on(self, points: ArrayLike, function: Any) -> Any:
        x = np.asarray(_check.floats("points", _check.array("points", points)), np.float64)
        flat = np.ascontiguousarray(x).reshape(-1)
        with np.errstate(invalid="ignore"):
            inside = (flat >= self.lower) & (flat <= self.upper)
        values = np.where(inside, function(np.where(inside, flat, self.lower)), 0.0)
        return float(values[0]) if x.ndim == 0 else values.reshape(x.shape)

    @abstractmethod
    def _density(self, x: Floats) -> Floats:
        """At places inside."""

    @abstractmethod
    def _limits(self, tail: float, simultaneous: bool) -> tuple[Any, Any]:
        """Two functions of places inside."""


@dataclass(frozen=True)
class ProjectedDensity:
    """A density: never negative, integral one. Call it on points."""

    estimate: DensityEstimate
    tau: float

    def __call__(self, points: ArrayLike) -> Any:
        """As `DensityEstimate.__call__`."""
        return self.estimate._on(points, lambda x: np.maximum(self.estimate._density(x) - self.tau, 0))
