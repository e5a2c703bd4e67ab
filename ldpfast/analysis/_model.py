"""What all regressions have: coefficients with their covariance, intervals, tests and a summary."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from .._typing import Floats
from ..privacy import Guarantee
from ..results import LabeledEstimate, Normal
from ._rows import Rows
from ._summary import RegressionSummary, coefficient_table

OBSERVED = "observed information"  # standard errors of a fit without weights and clusters
MAX_STDERR = 20.0  # of a coefficient of a standardized column: more is no information about it


class Regression(ABC):
    """Base class of regressions. `fit` sets the attributes.

    Attributes
    ----------
    names : tuple of str
        Names of the coefficients.
    params : ndarray of float64
        Coefficients.
    cov : ndarray of float64
        Their covariance matrix, in the order of the flattened coefficients.
    n : int
        Number of people.
    guarantee : privacy.Guarantee
        Guarantee of the reports.
    """

    names: tuple[str, ...]
    params: Floats
    cov: Floats
    n: int
    guarantee: Guarantee
    intercept: bool
    _rows: Rows  # standardized
    _standard: tuple[Floats, Floats]  # coefficients of standardized columns, in which large numbers do not cancel
    _errors: str

    def __getattr__(self, name: str) -> Any:
        if name in (
            "names",
            "params",
            "cov",
            "n",
            "llf",
            "sigma",
            "answers",
            "coefficients",
            "_likelihood",
            "_standard",
            "_rows",
            "_errors",
        ):
            raise AttributeError(f"{type(self).__name__} is not fitted yet: call fit first")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def coefficients(self) -> LabeledEstimate:
        """The coefficients as an estimate, with `interval`, `test` and `plot`."""
        stderr = np.sqrt(np.diag(self.cov))
        fields: Any = {"labels": self.names, "quantity": "coefficient"}
        return LabeledEstimate(self.params.ravel(), stderr, self.n, self.guarantee, self.cov, Normal(), **fields)

    def interval(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Return normal limits of the coefficients.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level of each, in (0, 1).

        Returns
        -------
        low, high : ndarray
            In the order of `names`.

        Raises
        ------
        TypeError, ValueError
            If `confidence` is not a number in (0, 1).
        """
        low, high = self.coefficients.interval(confidence)
        return np.asarray(low), np.asarray(high)

    def summary(self, confidence: float = 0.95) -> RegressionSummary:
        """Return the coefficients as a table that can be printed.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level of the limits, in (0, 1).
        """
        table = coefficient_table(self.coefficients, confidence)
        kind = f"{100 * confidence:g} % intervals, standard errors: {self._errors}"
        return RegressionSummary(table, (f"n = {self.n:,}, {kind}", *self._notes()))

    @abstractmethod
    def _notes(self) -> list[str]:
        """Return lines about the model for its summary."""

    def _read(self, X: Any) -> Rows:  # noqa: N803
        """Return covariates with the columns of the fitted ones, standardized as these."""
        rows, fitted = Rows.of(X, self.intercept), self._rows
        if len(rows.names) != len(fitted.names) or (hasattr(X, "columns") and rows.names != fitted.names):
            raise ValueError(f"X must have the columns {', '.join(fitted.names)}, got {', '.join(rows.names)}")
        return rows.like(fitted)
