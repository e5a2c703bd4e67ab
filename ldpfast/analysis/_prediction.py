"""Functions of the coefficients of one fit, whose covariance with each other is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import _plots
from .._typing import AnyArray
from ..results import JointEstimate, LabeledEstimate
from ._summary import RegressionSummary, coefficient_table


@dataclass(frozen=True, eq=False, repr=False)
class Prediction(JointEstimate):
    """An estimate that is a function of the coefficients of a regression. It is made by the methods of these.

    Its difference with another one of the same fit, and their ratio, have the standard error of the delta method.
    """

    _table: Any = field(default=None, kw_only=True, compare=False)

    def plot(self, ax: Any = None, *, x: Any = None, confidence: float = 0.95, simultaneous: bool = False) -> Any:
        """Draw the predictions with their intervals, against a covariate.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; those of a new figure by default.
        x : str, or array_like of shape (n,), optional
            Name of a column of what was given to `predict`, or one value for each prediction. Numbers make a curve with a band;
            texts are the labels of points. Without it there is one row for each prediction.
        confidence : float, default 0.95
            Confidence level of the intervals.
        simultaneous : bool, default False
            Whether the intervals hold for all predictions at once.

        Returns
        -------
        ax : matplotlib.axes.Axes

        Raises
        ------
        ImportError
            If matplotlib is not installed (extra "plot").
        TypeError, ValueError
            If `x` is not such a name or such values; if `confidence` is not a number in (0, 1).
        """
        if x is None:
            return super().plot(ax, confidence=confidence, simultaneous=simultaneous)
        name, places = self._places_of(x)
        low, high = self._bounds(self.interval(confidence, simultaneous))
        value = np.asarray(self.value)
        ax = _plots.axes(ax)
        if places.dtype.kind in "biuf":
            order = np.argsort(places, kind="stable")
            band = self._band_text(confidence, simultaneous)
            _plots.draw_band(ax, places[order], value[order], low[order], high[order], label="prediction", band=band)
            _plots.finish(ax, "", name, f"prediction\n{self._source_text()}")
        else:
            _plots.draw_intervals(ax, [str(text) for text in places.tolist()], value, low, high)
            ax.set_xlabel(f"prediction with {self._interval_text(confidence, simultaneous)}\n{self._source_text()}")
            ax.set_ylabel(name)
        return ax

    def _places_of(self, x: Any) -> tuple[str, AnyArray]:
        """Return the name and the values of a covariate for each prediction."""
        if isinstance(x, str):
            columns = getattr(self._table, "columns", self._table if isinstance(self._table, Mapping) else ())
            if x not in columns:
                raise ValueError(f"x must be the name of a column of what was given to predict, got {x!r}")
            name, values = x, np.asarray(self._table[x])
        else:
            name, values = "", np.asarray(x)
        if np.shape(self.value) != values.shape or values.ndim != 1:
            raise ValueError(f"x must have one value for each of {np.size(self.value)} predictions, got {values.shape}")
        return name, values


@dataclass(frozen=True, eq=False, repr=False)
class MarginalEffects(LabeledEstimate):
    """Average marginal effects of the covariates of a regression.

    They are made by `marginal_effects` of a regression, and are an estimate with `labels`, `interval`, `test` and `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast import analysis, designs
    >>> x, reports = np.arange(400) % 2, np.arange(400) % 3 == 0
    >>> effects = analysis.RandomizedLogit(designs.warner(0.8)).fit(x[:, None], reports).marginal_effects()
    >>> effects.labels, effects.summary().table["name"]
    (('x1',), ['x1'])
    """

    def summary(self, confidence: float = 0.95) -> RegressionSummary:
        """Return the effects as a table that can be printed, with a test of 0.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level of the limits, in (0, 1).
        """
        notes = (f"n = {self.n:,}, {100 * confidence:g} % intervals, {self.quantity}s",)
        return RegressionSummary(coefficient_table(self, confidence), notes)

    def to_frame(self, confidence: float = 0.95) -> Any:
        """Return the table of `summary` as a pandas DataFrame.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return self.summary(confidence).to_frame()
