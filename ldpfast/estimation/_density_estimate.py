"""Estimated densities on an interval, with confidence bands."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._plots import BLUE, axes, draw_band
from .._typing import Floats
from ..results import Estimate
from ._frequencies import project_simplex

POINTS = 4096  # of the grid on which the projection is computed


@dataclass(frozen=True, eq=False, repr=False)
class DensityEstimate(Estimate[Floats]):
    """Estimated density on an interval; call it with points to evaluate it.

    Attributes
    ----------
    lower, upper : float
        Ends of the interval. The density is zero elsewhere.
    """

    lower: float = 0.0
    upper: float = 1.0

    def __call__(self, points: ArrayLike) -> Any:
        """Return the estimated density at the given points.

        The estimate is unbiased up to the resolution of the series or the bins. It may be negative.

        Parameters
        ----------
        points : array_like of float
            Points, in an array of any shape.

        Returns
        -------
        density : float or ndarray
            Density in the shape of `points`; zero outside [lower, upper].

        Raises
        ------
        TypeError
            If `points` are not real numbers.
        """
        return self._evaluate(points, self._density)

    def band(self, points: ArrayLike, confidence: float = 0.95, simultaneous: bool = False) -> tuple[Any, Any]:
        """Return confidence limits of the density at the given points.

        The limits are for the density at the resolution of the series or the bins. They do not include its bias.

        Parameters
        ----------
        points : array_like of float
            Points, in an array of any shape.
        confidence : float, default 0.95
            Confidence level.
        simultaneous : bool, default False
            Whether the limits hold for the whole interval at once.

        Returns
        -------
        low, high : float or ndarray
            Limits in the shape of `points`; zero outside [lower, upper].

        Raises
        ------
        TypeError, ValueError
            If `points` are not real numbers, or `confidence` is not in (0, 1).
        """
        tail = (1 - _check.probability("confidence", confidence)) / 2
        limits = self._limits(tail, simultaneous)
        return self._evaluate(points, limits[0]), self._evaluate(points, limits[1])

    def project(self) -> ProjectedDensity:
        """Return the nearest density: max(f - tau, 0), with tau such that the integral is one.

        Its integrated squared error is never larger than that of the estimate f, up to the grid of 4096 points on which
        tau is computed.

        Returns
        -------
        density : ProjectedDensity
        """
        step = (self.upper - self.lower) / POINTS
        grid = self.lower + step * (np.arange(POINTS) + 0.5)
        heights = np.asarray(self(grid))
        projected = project_simplex(heights * step) / step
        kept = projected > 0
        return ProjectedDensity(self, float((heights[kept] - projected[kept]).mean()))

    def plot(self, ax: Any = None, *, confidence: float = 0.95, simultaneous: bool = True) -> Any:
        """Draw the density and its band.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; those of a new figure by default.
        confidence : float, default 0.95
            Confidence level of the band.
        simultaneous : bool, default True
            Whether the band holds for the whole interval at once.

        Returns
        -------
        ax : matplotlib.axes.Axes

        Raises
        ------
        ImportError
            If matplotlib is not installed (extra "plot").
        TypeError, ValueError
            If `confidence` is not a number in (0, 1).
        """
        grid = self._grid()
        low, high = self.band(grid, confidence, simultaneous)
        ax = axes(ax)
        label, band = f"private estimate, n = {self.n:,}", self._band_text(confidence, simultaneous)
        draw_band(ax, grid, self(grid), low, high, label=label, band=band)
        return self._finish(ax)

    def _grid(self) -> Floats:
        """Return the points at which the density is drawn."""
        return np.asarray(self.lower + (self.upper - self.lower) / 1000 * (np.arange(1000) + 0.5))

    def _finish(self, ax: Any) -> Any:
        ax.set_xlim(self.lower, self.upper)
        ax.set_xlabel("value of the record (unit of the records)")
        ax.set_ylabel("density (per unit of the records)")
        return ax

    def _evaluate(self, points: ArrayLike, function: Any) -> Any:
        """Return a function of the points that are inside [lower, upper], and zero for the others."""
        x = np.asarray(_check.floats("points", _check.array("points", points)), np.float64)
        flat = np.ascontiguousarray(x).reshape(-1)
        with np.errstate(invalid="ignore"):
            inside = (flat >= self.lower) & (flat <= self.upper)
        values = np.where(inside, function(np.where(inside, flat, self.lower)), 0.0)
        return float(values[0]) if x.ndim == 0 else values.reshape(x.shape)

    @abstractmethod
    def _density(self, x: Floats) -> Floats:
        """Return the density at points inside [lower, upper]."""

    @abstractmethod
    def _limits(self, tail: float, simultaneous: bool) -> tuple[Any, Any]:
        """Return the lower and the upper limit, as functions of points inside [lower, upper]."""


@dataclass(frozen=True)
class ProjectedDensity:
    """Density that is nowhere negative and has integral one; call it with points to evaluate it.

    Attributes
    ----------
    estimate : DensityEstimate
        The density f before projection.
    tau : float
        Number such that max(f - tau, 0) has integral one.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import series_density
    >>> density = series_density(np.random.default_rng(1).beta(2, 5, 10_000), 2.0, rng=1).project()
    >>> bool((density(np.linspace(0, 1, 101)) >= 0).all())
    True
    """

    estimate: DensityEstimate
    tau: float

    def __call__(self, points: ArrayLike) -> Any:
        """Return the density at the given points, like `DensityEstimate.__call__`."""
        return self.estimate._evaluate(points, lambda x: np.maximum(self.estimate._density(x) - self.tau, 0))

    def plot(self, ax: Any = None) -> Any:
        """Draw the density, without a band.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; those of a new figure by default.

        Returns
        -------
        ax : matplotlib.axes.Axes

        Raises
        ------
        ImportError
            If matplotlib is not installed (extra "plot").
        """
        ax, grid = axes(ax), self.estimate._grid()
        ax.plot(grid, self(grid), color=BLUE, label=f"projected estimate, n = {self.estimate.n:,}")
        ax.legend()
        return self.estimate._finish(ax)
