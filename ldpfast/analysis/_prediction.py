"""Functions of the coefficients of one fit, whose covariance with each other is known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import _plots
from .._typing import AnyArray, Floats
from ..results import Estimate, Fieller, LabeledEstimate, require_alike
from ._summary import RegressionSummary, coefficient_table


@dataclass(frozen=True, eq=False, repr=False)
class Prediction(Estimate[Any]):
    """An estimate that is a function of the coefficients of a regression. It is made by the methods of these.

    Its difference with another one of the same fit, and their ratio, have the standard error of the delta method.

    Attributes
    ----------
    slopes : ndarray, shape (numbers, coefficients)
        Derivatives of the numbers with respect to the coefficients.
    coefficients : ndarray, shape (coefficients, coefficients)
        Covariance matrix of the coefficients.
    """

    slopes: Floats = field(kw_only=True)
    coefficients: Floats = field(kw_only=True)
    _table: Any = field(default=None, kw_only=True, compare=False)

    def __sub__(self, other: object) -> LabeledEstimate:
        """Return the difference of two predictions, of the same fit or of fits of different people."""
        if not self._is_of_the_same_fit(other):
            return super().__sub__(other)
        assert isinstance(other, Prediction)
        require_alike(self, other)
        value, slopes = np.asarray(self.value - other.value), self.slopes - other.slopes
        cov = slopes @ self.coefficients @ slopes.T if self.covariance is not None else None
        stderr = np.sqrt(_variances(slopes, self.coefficients)).reshape(value.shape)
        low, high = self._span
        fields = {**self._fields("difference"), "_unit_text": self._unit(), "_span": (low - high, high - low)}
        return LabeledEstimate(_plain(value), _plain(stderr), covariance=cov, rule=self.rule, **fields)

    def __truediv__(self, other: object) -> LabeledEstimate:
        """Return the ratio of two predictions, of the same fit or of fits of different people, with Fieller's limits."""
        if not self._is_of_the_same_fit(other):
            return super().__truediv__(other)
        assert isinstance(other, Prediction)
        require_alike(self, other)
        top, bottom = np.asarray(self.value, np.float64), np.asarray(other.value, np.float64)
        crossed = np.einsum("ij,jk,ik->i", self.slopes, self.coefficients, other.slopes).reshape(top.shape)
        va, vb = (np.asarray(np.square(part.stderr)) for part in (self, other))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = top / bottom
            errors = np.sqrt(_variances(self.slopes - ratio.reshape(-1, 1) * other.slopes, self.coefficients))
            stderr = errors.reshape(top.shape) / np.abs(bottom)
        freedom = float(getattr(self.rule, "freedom", math.inf))
        rule = Fieller(top, bottom, va, vb, crossed, freedom=freedom)
        return LabeledEstimate(_plain(ratio), _plain(stderr), rule=rule, **self._fields("ratio"))

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

    def _is_of_the_same_fit(self, other: object) -> bool:
        return (
            isinstance(other, Prediction)
            and self._people == other._people
            and np.array_equal(self.coefficients, other.coefficients)
        )

    def _fields(self, kind: str) -> dict[str, Any]:
        """Return the fields of a difference or ratio with the same people."""
        return {
            "n": self.n,
            "guarantee": self.guarantee,
            "labels": tuple(self._entries(range(np.size(self.value)))),
            "quantity": f"{kind} of predictions",
            "_people": self._people,
        }


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


def _variances(slopes: Floats, cov: Floats) -> Floats:
    """Return the variances of linear functions of coefficients."""
    return np.asarray(np.maximum(np.einsum("ij,jk,ik->i", slopes, cov, slopes), 0.0))


def _plain(x: Floats) -> Any:
    return float(x) if np.ndim(x) == 0 else x
